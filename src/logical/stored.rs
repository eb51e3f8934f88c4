//! The Arrow schema that a writer left in the footer: base64 of an Arrow IPC message (Arrow columnar format,
//! Encapsulated message format; `Message.fbs`, `Schema.fbs`).
//!
//! Takes text, gives fields and metadata. Types that no Parquet column becomes (unions, run-end encoding) and types that
//! make no sense come as Null, with their name and metadata. Whether a field agrees with the file is not asked here.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::flatbuffer::{FlatBuffer, Table, Vector};
use crate::arrow::schema::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit};
use crate::error::{Error, Result};

/// A writer's schema, decoded field by field as it is asked for: of a file of 10,000 columns few are.
pub(super) struct Stored {
    message: FlatBuffer,
    /// Where the message begins.
    start: usize,
    /// The top-level fields.
    fields: Vector,
    /// Their indices by name; `None` for a name that comes twice.
    by_name: OnceCell<HashMap<String, Option<usize>>>,
}

/// Types nested deeper than this are not read.
const MAX_DEPTH: usize = 128;

impl Stored {
    /// Takes the value of `ARROW:schema`.
    ///
    /// # Errors
    /// When it is not what the key promises.
    pub(super) fn new(text: &str) -> Result<Stored> {
        Stored::from_bytes(base64(text)?)
    }

    fn from_bytes(bytes: Vec<u8>) -> Result<Stored> {
        let message = FlatBuffer::new(bytes);
        // Framed as in a stream, by a marker and a length; or (older) the bare message; or behind a length alone.
        let (start, schema) = match message.bytes() {
            [0xff, 0xff, 0xff, 0xff, ..] => (8, schema(&message, 8)?),
            _ => match schema(&message, 0) {
                Ok(schema) => (0, schema),
                Err(_) => (4, schema(&message, 4)?),
            },
        };
        let fields = schema.vector(1)?;
        Ok(Stored { message, start, fields, by_name: OnceCell::new() })
    }

    /// The field for top-level field `index` of the file, which is called `name`: the one in its place, if that has its
    /// name; else the one of that name (other tools drop and move columns, and keep the hint). `None` where there is
    /// none, or it cannot be read.
    pub(super) fn field(&self, index: usize, name: &str) -> Option<Field> {
        let in_place = self.message.element(self.fields, index).and_then(Result::ok);
        let table = match in_place {
            Some(table) if table.string(0).ok()?.as_deref() == Some(name) => table,
            _ => {
                let index = (*self.by_name.get_or_init(|| self.names()).get(name)?)?;
                self.message.element(self.fields, index)?.ok()?
            }
        };
        field(table, 0).ok()
    }

    fn names(&self) -> HashMap<String, Option<usize>> {
        let mut names = HashMap::new();
        let tables = (0..).map_while(|index| self.message.element(self.fields, index));
        for (index, table) in tables.enumerate() {
            let Ok(name) = table.and_then(|table| table.string(0)) else { break };
            names.entry(name.unwrap_or_default()).and_modify(|seen| *seen = None).or_insert(Some(index));
        }
        names
    }

    /// The metadata of the schema itself.
    pub(super) fn metadata(&self) -> HashMap<String, String> {
        schema(&self.message, self.start).and_then(|schema| metadata(schema, 2)).unwrap_or_default()
    }
}

/// The schema within a message that begins at byte `start`.
fn schema(message: &FlatBuffer, start: usize) -> Result<Table<'_>> {
    const SCHEMA: u8 = 1;
    let message = message.table(start)?;
    let schema = match message.u8(1)? {
        SCHEMA => message.table(2)?,
        other => return Err(Error::malformed(format!("Arrow message of kind {other}, not a schema"))),
    };
    schema.ok_or_else(|| Error::malformed("Arrow message without a header"))
}

fn fields(parent: Table<'_>, slot: u16, depth: usize) -> Result<Fields> {
    if depth > MAX_DEPTH {
        return Err(Error::malformed("Arrow types nested too deep"));
    }
    parent.tables(slot)?.map(|table| field(table?, depth).map(Arc::new)).collect()
}

fn field(table: Table<'_>, depth: usize) -> Result<Field> {
    let children = fields(table, 5, depth + 1)?;
    let plain = match table.table(3)? {
        Some(parameters) => data_type(table.u8(2)?, parameters, &children)?.unwrap_or(DataType::Null),
        None => DataType::Null,
    };
    let name = table.string(0)?.unwrap_or_default();
    let nullable = table.bool(1)?;
    let field = match table.table(4)? {
        Some(dictionary) => {
            let key = match dictionary.table(1)? {
                Some(parameters) => integer(parameters)?,
                None => Some(DataType::Int32),
            };
            let data_type = match key {
                Some(key) => DataType::Dictionary(Box::new(key), Box::new(plain)),
                None => plain,
            };
            Field::new(name, data_type, nullable).with_dict_is_ordered(dictionary.bool(2)?)
        }
        None => Field::new(name, plain, nullable),
    };
    Ok(field.with_metadata(metadata(table, 6)?))
}

/// The type of number `kind`; `None` for one that is unknown, or of parameters that make no sense.
fn data_type(kind: u8, parameters: Table<'_>, children: &[FieldRef]) -> Result<Option<DataType>> {
    let only_child = || match children {
        [child] => Some(child.clone()),
        _ => None,
    };
    Ok(match kind {
        2 => integer(parameters)?,
        3 => match parameters.i16(0, 0)? {
            0 => Some(DataType::Float16),
            1 => Some(DataType::Float32),
            2 => Some(DataType::Float64),
            _ => None,
        },
        4 => Some(DataType::Binary),
        5 => Some(DataType::Utf8),
        6 => Some(DataType::Boolean),
        7 => decimal(parameters)?,
        8 => match parameters.i16(0, 1)? {
            0 => Some(DataType::Date32),
            1 => Some(DataType::Date64),
            _ => None,
        },
        9 => match (time_unit(parameters, 1)?, parameters.i32(1, 32)?) {
            (Some(unit @ (TimeUnit::Second | TimeUnit::Millisecond)), 32) => Some(DataType::Time32(unit)),
            (Some(unit @ (TimeUnit::Microsecond | TimeUnit::Nanosecond)), 64) => Some(DataType::Time64(unit)),
            _ => None,
        },
        10 => {
            let zone = parameters.string(1)?.filter(|zone| !zone.is_empty());
            time_unit(parameters, 0)?.map(|unit| DataType::Timestamp(unit, zone.map(Arc::from)))
        }
        11 => match parameters.i16(0, 0)? {
            0 => Some(DataType::Interval(IntervalUnit::YearMonth)),
            1 => Some(DataType::Interval(IntervalUnit::DayTime)),
            2 => Some(DataType::Interval(IntervalUnit::MonthDayNano)),
            _ => None,
        },
        12 => only_child().map(DataType::List),
        13 => Some(DataType::Struct(children.into())),
        15 => Some(parameters.i32(0, 0)?).filter(|&width| width >= 0).map(DataType::FixedSizeBinary),
        16 => match (only_child(), parameters.i32(0, 0)?) {
            (Some(child), len @ 0..) => Some(DataType::FixedSizeList(child, len)),
            _ => None,
        },
        17 => match only_child() {
            Some(entries) => Some(DataType::Map(entries, parameters.bool(0)?)),
            None => None,
        },
        18 => time_unit(parameters, 1)?.map(DataType::Duration),
        19 => Some(DataType::LargeBinary),
        20 => Some(DataType::LargeUtf8),
        21 => only_child().map(DataType::LargeList),
        23 => Some(DataType::BinaryView),
        24 => Some(DataType::Utf8View),
        25 => only_child().map(DataType::ListView),
        26 => only_child().map(DataType::LargeListView),
        _ => None,
    })
}

fn integer(parameters: Table<'_>) -> Result<Option<DataType>> {
    Ok(match (parameters.i32(0, 0)?, parameters.bool(1)?) {
        (8, true) => Some(DataType::Int8),
        (16, true) => Some(DataType::Int16),
        (32, true) => Some(DataType::Int32),
        (64, true) => Some(DataType::Int64),
        (8, false) => Some(DataType::UInt8),
        (16, false) => Some(DataType::UInt16),
        (32, false) => Some(DataType::UInt32),
        (64, false) => Some(DataType::UInt64),
        _ => None,
    })
}

fn decimal(parameters: Table<'_>) -> Result<Option<DataType>> {
    let (Ok(precision), Ok(scale)) =
        (u8::try_from(parameters.i32(0, 0)?), i8::try_from(parameters.i32(1, 0)?))
    else {
        return Ok(None);
    };
    Ok(match parameters.i32(2, 128)? {
        32 => Some(DataType::Decimal32(precision, scale)),
        64 => Some(DataType::Decimal64(precision, scale)),
        128 => Some(DataType::Decimal128(precision, scale)),
        256 => Some(DataType::Decimal256(precision, scale)),
        _ => None,
    })
}

fn time_unit(parameters: Table<'_>, default: i16) -> Result<Option<TimeUnit>> {
    Ok(match parameters.i16(0, default)? {
        0 => Some(TimeUnit::Second),
        1 => Some(TimeUnit::Millisecond),
        2 => Some(TimeUnit::Microsecond),
        3 => Some(TimeUnit::Nanosecond),
        _ => None,
    })
}

fn metadata(parent: Table<'_>, slot: u16) -> Result<HashMap<String, String>> {
    let mut map = HashMap::new();
    for pair in parent.tables(slot)? {
        let pair = pair?;
        if let (Some(key), Some(value)) = (pair.string(0)?, pair.string(1)?) {
            map.insert(key, value);
        }
    }
    Ok(map)
}

/// The bytes of standard base64 (RFC 4648, section 4), its padding optional.
fn base64(text: &str) -> Result<Vec<u8>> {
    let digits = text.trim_ascii().trim_end_matches('=').as_bytes();
    let (groups, rest) = digits.as_chunks::<4>();
    let mut bytes = Vec::with_capacity(3 * groups.len() + 2);
    let mut all = 0;
    for group in groups {
        let [a, b, c, d] = group.map(digit_value);
        all |= a | b | c | d;
        let [_, three @ ..] = (a << 18 | b << 12 | c << 6 | d).to_be_bytes();
        bytes.extend(three);
    }
    // Each digit is 6 bits: 2 make 1 byte, 3 make 2.
    let bits = rest.iter().zip([18, 12, 6]).fold(0, |bits, (&digit, shift)| {
        all |= digit_value(digit);
        bits | digit_value(digit) << shift
    });
    let [_, last @ ..] = bits.to_be_bytes();
    bytes.extend(last.iter().take(rest.len().saturating_sub(1)));
    if all > 63 { Err(Error::malformed("text that is not base64")) } else { Ok(bytes) }
}

/// The value of a base64 digit; more than 63 for what is none.
#[inline]
#[allow(clippy::indexing_slicing)] // 256 entries, and an index of 8 bits; 64 digits, and an index below 64
fn digit_value(digit: u8) -> u32 {
    const VALUES: [u8; 256] = {
        let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut values = [0x80; 256];
        let mut i = 0;
        while i < 64 {
            values[digits[i as usize] as usize] = i;
            i += 1;
        }
        values
    };
    u32::from(VALUES[usize::from(digit)])
}

#[cfg(test)]
pub(super) mod testing {
    use super::*;

    /// A message as Arrow's own IPC writer makes it, of the fields below.
    pub(in crate::logical) fn all_types() -> String {
        include_str!("stored_all_types.b64").replace('\n', "")
    }

    pub(in crate::logical) fn expected() -> Vec<DataType> {
        use DataType::*;
        let item = |name, data_type| Arc::new(Field::new(name, data_type, true));
        let entries = Fields::from(vec![Field::new("key", Utf8, false), Field::new("value", Int64, true)]);
        vec![
            Null,
            Boolean,
            Int8,
            Int16,
            Int32,
            Int64,
            UInt8,
            UInt16,
            UInt32,
            UInt64,
            Float16,
            Float32,
            Float64,
            Timestamp(TimeUnit::Second, None),
            Timestamp(TimeUnit::Millisecond, Some("UTC".into())),
            Timestamp(TimeUnit::Microsecond, Some("Europe/Paris".into())),
            Timestamp(TimeUnit::Nanosecond, None),
            Date32,
            Date64,
            Time32(TimeUnit::Second),
            Time32(TimeUnit::Millisecond),
            Time64(TimeUnit::Microsecond),
            Time64(TimeUnit::Nanosecond),
            Duration(TimeUnit::Second),
            Duration(TimeUnit::Nanosecond),
            Interval(IntervalUnit::YearMonth),
            Interval(IntervalUnit::DayTime),
            Interval(IntervalUnit::MonthDayNano),
            Binary,
            FixedSizeBinary(5),
            LargeBinary,
            BinaryView,
            Utf8,
            LargeUtf8,
            Utf8View,
            List(item("item", Int32)),
            ListView(item("item", Utf8)),
            LargeList(item("element", List(item("x", Boolean)))),
            LargeListView(item("item", Int8)),
            FixedSizeList(item("item", Float32), 3),
            Struct(Fields::from(vec![Field::new("p", Int32, true), Field::new("q", LargeUtf8, true)])),
            Dictionary(Box::new(UInt8), Box::new(LargeUtf8)),
            Decimal32(9, 2),
            Decimal64(18, 3),
            Decimal128(38, 10),
            Decimal256(76, 5),
            Map(Arc::new(Field::new("entries", Struct(entries), false)), true),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::super::store::base64 as base64_of;
    use super::testing::{all_types, expected};
    use super::*;
    use crate::arrow::schema::extension::EXTENSION_TYPE_NAME_KEY;

    #[test]
    fn reads_every_type_that_arrow_writes() {
        let stored = Stored::new(&all_types()).unwrap();
        let expected = expected();
        for (i, data_type) in expected.into_iter().enumerate() {
            let name = format!("c{i}");
            assert_eq!(stored.field(i, &name), Some(Field::new(&name, data_type, i % 2 == 0)));
        }
        // Not in their places: found by name.
        let (extension, run_ends) = (stored.field(0, "ext").unwrap(), stored.field(99, "ree").unwrap());
        assert_eq!(stored.field(0, "other"), None);
        assert_eq!(extension.data_type(), &DataType::Binary);
        assert_eq!(extension.metadata().get(EXTENSION_TYPE_NAME_KEY).map(String::as_str), Some("my.type"));
        assert_eq!((run_ends.name().as_str(), run_ends.data_type()), ("ree", &DataType::Null));
        assert_eq!(stored.metadata(), HashMap::from([("who".to_owned(), "a test".to_owned())]));
    }

    #[test]
    fn reads_messages_of_older_writers() {
        let framed = base64(&all_types()).unwrap();
        for older in [&framed[8..], &framed[4..]] {
            let stored = Stored::new(&base64_of(older)).unwrap();
            assert_eq!(stored.field(1, "c1"), Some(Field::new("c1", DataType::Boolean, false)));
            assert_eq!(stored.metadata().len(), 1);
        }
    }

    #[test]
    fn damaged_messages_are_an_error_or_another_schema_but_never_a_panic() {
        // Everything that is asked of a hint.
        let read = |bytes: &[u8]| {
            if let Ok(stored) = Stored::from_bytes(bytes.to_vec()) {
                (0..60).for_each(|i| drop(stored.field(i, &format!("c{i}"))));
                drop(stored.metadata());
            }
        };
        let bytes = base64(&all_types()).unwrap();
        (0..bytes.len()).for_each(|len| read(&bytes[..len]));
        let mut damaged = bytes.clone();
        for i in 0..damaged.len() {
            for value in [bytes[i] ^ 1, bytes[i] ^ 0x80, !bytes[i], 0] {
                damaged[i] = value;
                read(&damaged);
            }
            damaged[i] = bytes[i];
        }
    }

    #[test]
    fn tables_that_are_shared_again_and_again_are_refused() {
        // A vtable of 16 bytes with field 5 at 4, then tables, each with a vector of two offsets to the next one.
        let mut bytes = vec![20, 0, 0, 0, 16, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
        for _ in 0..100 {
            let at = i32::try_from(bytes.len()).unwrap();
            for word in [at - 4, 4, 2, 8, 4] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        let at = i32::try_from(bytes.len()).unwrap();
        for word in [at - 4, 4, 0] {
            bytes.extend_from_slice(&word.to_le_bytes());
        }
        let buffer = FlatBuffer::new(bytes);
        let error = fields(buffer.table(0).unwrap(), 5, 0).unwrap_err();
        assert!(error.to_string().contains("share"), "{error}");
    }

    #[test]
    fn types_nested_without_end_are_refused() {
        let mut bytes = vec![20, 0, 0, 0, 16, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0];
        for _ in 0..1_000 {
            let at = i32::try_from(bytes.len()).unwrap();
            for word in [at - 4, 4, 1, 4] {
                bytes.extend_from_slice(&word.to_le_bytes());
            }
        }
        let buffer = FlatBuffer::new(bytes);
        let error = fields(buffer.table(0).unwrap(), 5, 0).unwrap_err();
        assert!(error.to_string().contains("nested too deep"), "{error}");
    }

    #[test]
    fn base64_with_and_without_padding() {
        for (text, bytes) in
            [("", &b""[..]), ("Zg==", b"f"), ("Zm8=", b"fo"), ("Zm8", b"fo"), ("Zm9vYg", b"foob")]
        {
            assert_eq!(base64(text).unwrap(), bytes);
        }
        assert_eq!(base64("+/9A\n").unwrap(), [0xfb, 0xff, 0x40]);
        for text in ["Zm9-", "Zm 9", "é", "=a"] {
            assert!(base64(text).is_err(), "{text}");
        }
        for len in 0..40 {
            let bytes: Vec<u8> = (0..len).map(|i: u8| i.wrapping_mul(37)).collect();
            assert_eq!(base64(&base64_of(&bytes)).unwrap(), bytes);
        }
    }
}
