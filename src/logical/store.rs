//! Writes the Arrow schema that a file's footer keeps: base64 of an Arrow IPC message (Arrow columnar format,
//! Encapsulated message format; `Message.fbs`, `Schema.fbs`). `stored` reads it.

use super::flatbuffer_writer::{Pending, Value, Writer};
use crate::arrow::schema::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit};

/// The value of `ARROW:schema` for these fields. Metadata of the schema itself is not in it: the footer has a place for
/// that.
pub(crate) fn stored_schema(fields: &Fields) -> String {
    // `MetadataVersion` V5, and `MessageHeader` Schema.
    const V5: i16 = 4;
    const SCHEMA: u8 = 1;
    let (mut writer, root) = Writer::new();
    let [header] = writer.table(root, &[Value::I16(V5), Value::U8(SCHEMA), Value::Offset]);
    let [vector] = writer.table(header, &[Value::Absent, Value::Offset]);
    let mut dictionaries = 0;
    Schema { writer: &mut writer, dictionaries: &mut dictionaries }.fields(vector, fields.iter());
    let message = writer.finish();
    let len = u32::try_from(message.len()).unwrap_or(u32::MAX);
    base64(&[&[0xff; 4], &len.to_le_bytes()[..], &message].concat())
}

struct Schema<'a> {
    writer: &'a mut Writer,
    /// How many there are so far: each has a number of its own.
    dictionaries: &'a mut i64,
}

/// A type: its number in `Type`, and the fields of its table.
struct TypeTable(u8, Vec<Value>);

impl Schema<'_> {
    fn fields<'f>(&mut self, from: Pending, fields: impl ExactSizeIterator<Item = &'f FieldRef>) {
        let offsets = self.writer.vector(from, fields.len());
        offsets.into_iter().zip(fields).for_each(|(offset, field)| self.field(offset, field));
    }

    fn field(&mut self, from: Pending, field: &Field) {
        let (plain, key) = match field.data_type() {
            DataType::Dictionary(key, value) => (value.as_ref(), Some(key.as_ref())),
            other => (other, None),
        };
        let TypeTable(kind, parameters) = type_table(plain);
        let optional = |there: bool| if there { Value::Offset } else { Value::Absent };
        let offsets: [Pending; 5] = self.writer.table(
            from,
            &[
                Value::Offset,
                Value::U8(field.is_nullable().into()),
                Value::U8(kind),
                Value::Offset,
                optional(key.is_some()),
                Value::Offset,
                optional(!field.metadata().is_empty()),
            ],
        );
        let mut offsets = offsets.into_iter();
        let mut next = || offsets.next().unwrap_or(from);
        self.writer.string(next(), field.name());
        self.data_type(next(), plain, &parameters);
        if let Some(key) = key {
            self.dictionary(next(), key, field.dict_is_ordered().unwrap_or(false));
        }
        self.fields(next(), children(plain).into_iter());
        if !field.metadata().is_empty() {
            let pairs = field.metadata().iter().map(|(key, value)| (key.as_str(), value.as_str()));
            self.metadata(next(), pairs.collect());
        }
    }

    fn data_type(&mut self, from: Pending, data_type: &DataType, parameters: &[Value]) {
        let [zone] = self.writer.table(from, parameters);
        if let DataType::Timestamp(_, Some(name)) = data_type {
            self.writer.string(zone, name);
        }
    }

    fn dictionary(&mut self, from: Pending, key: &DataType, ordered: bool) {
        let id = *self.dictionaries;
        *self.dictionaries += 1;
        let [index] = self.writer.table(from, &[Value::I64(id), Value::Offset, Value::U8(ordered.into())]);
        let _: [Pending; 0] = self.writer.table(index, &type_table(key).1);
    }

    /// In the order of the keys, so that equal schemas give equal bytes.
    fn metadata(&mut self, from: Pending, mut pairs: Vec<(&str, &str)>) {
        pairs.sort_unstable();
        let offsets = self.writer.vector(from, pairs.len());
        for (offset, (key, value)) in offsets.into_iter().zip(pairs) {
            let [key_at, value_at] = self.writer.table(offset, &[Value::Offset, Value::Offset]);
            self.writer.string(key_at, key);
            self.writer.string(value_at, value);
        }
    }
}

fn children(data_type: &DataType) -> Vec<&FieldRef> {
    match data_type {
        DataType::Struct(fields) => fields.iter().collect(),
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _)
        | DataType::Map(item, _) => vec![item],
        DataType::RunEndEncoded(ends, values) => vec![ends, values],
        _ => Vec::new(),
    }
}

/// A type that no column of a file has comes as Null.
fn type_table(data_type: &DataType) -> TypeTable {
    use Value::{Absent, I16, I32, Offset, U8};
    let integer = |bits, signed: bool| TypeTable(2, vec![I32(bits), U8(signed.into())]);
    let decimal = |p: u8, s: i8, bits| TypeTable(7, vec![I32(p.into()), I32(s.into()), I32(bits)]);
    let bare = |kind| TypeTable(kind, Vec::new());
    match data_type {
        DataType::Int8 => integer(8, true),
        DataType::Int16 => integer(16, true),
        DataType::Int32 => integer(32, true),
        DataType::Int64 => integer(64, true),
        DataType::UInt8 => integer(8, false),
        DataType::UInt16 => integer(16, false),
        DataType::UInt32 => integer(32, false),
        DataType::UInt64 => integer(64, false),
        DataType::Float16 => TypeTable(3, vec![I16(0)]),
        DataType::Float32 => TypeTable(3, vec![I16(1)]),
        DataType::Float64 => TypeTable(3, vec![I16(2)]),
        DataType::Binary => bare(4),
        DataType::Utf8 => bare(5),
        DataType::Boolean => bare(6),
        &DataType::Decimal32(precision, scale) => decimal(precision, scale, 32),
        &DataType::Decimal64(precision, scale) => decimal(precision, scale, 64),
        &DataType::Decimal128(precision, scale) => decimal(precision, scale, 128),
        &DataType::Decimal256(precision, scale) => decimal(precision, scale, 256),
        DataType::Date32 => TypeTable(8, vec![I16(0)]),
        DataType::Date64 => TypeTable(8, vec![I16(1)]),
        DataType::Time32(unit) => TypeTable(9, vec![I16(number(unit)), I32(32)]),
        DataType::Time64(unit) => TypeTable(9, vec![I16(number(unit)), I32(64)]),
        DataType::Timestamp(unit, zone) => {
            TypeTable(10, vec![I16(number(unit)), if zone.is_some() { Offset } else { Absent }])
        }
        DataType::Interval(IntervalUnit::YearMonth) => TypeTable(11, vec![I16(0)]),
        DataType::Interval(IntervalUnit::DayTime) => TypeTable(11, vec![I16(1)]),
        DataType::Interval(IntervalUnit::MonthDayNano) => TypeTable(11, vec![I16(2)]),
        DataType::List(_) => bare(12),
        DataType::Struct(_) => bare(13),
        &DataType::FixedSizeBinary(width) => TypeTable(15, vec![I32(width)]),
        &DataType::FixedSizeList(_, len) => TypeTable(16, vec![I32(len)]),
        &DataType::Map(_, sorted) => TypeTable(17, vec![U8(sorted.into())]),
        DataType::Duration(unit) => TypeTable(18, vec![I16(number(unit))]),
        DataType::LargeBinary => bare(19),
        DataType::LargeUtf8 => bare(20),
        DataType::LargeList(_) => bare(21),
        DataType::RunEndEncoded(..) => bare(22),
        DataType::BinaryView => bare(23),
        DataType::Utf8View => bare(24),
        DataType::ListView(_) => bare(25),
        DataType::LargeListView(_) => bare(26),
        _ => bare(1),
    }
}

fn number(unit: &TimeUnit) -> i16 {
    match unit {
        TimeUnit::Second => 0,
        TimeUnit::Millisecond => 1,
        TimeUnit::Microsecond => 2,
        TimeUnit::Nanosecond => 3,
    }
}

/// Standard base64, padded (RFC 4648, section 4).
pub(super) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let bits = (0..3).fold(0u32, |bits, i| bits << 8 | u32::from(*group.get(i).unwrap_or(&0)));
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            let there = digit <= group.len();
            text.push(if there { DIGITS.get(index).map_or('=', |&digit| char::from(digit)) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::super::stored::Stored;
    use super::super::stored::testing::{all_types, expected};
    use super::*;
    use std::collections::HashMap;
    use std::sync::Arc;

    fn read_back(fields: Vec<Field>) -> Vec<Option<Field>> {
        let names: Vec<String> = fields.iter().map(|field| field.name().clone()).collect();
        let stored = Stored::new(&stored_schema(&fields.into())).unwrap();
        names.iter().enumerate().map(|(i, name)| stored.field(i, name)).collect()
    }

    #[test]
    fn every_type_is_read_back() {
        let types = expected().into_iter().enumerate();
        let fields: Vec<Field> = types.map(|(i, t)| Field::new(format!("c{i}"), t, i % 2 == 0)).collect();
        let expected: Vec<Option<Field>> = fields.iter().cloned().map(Some).collect();
        assert_eq!(read_back(fields.clone()), expected);
        // Not longer than what Arrow's own writer makes of nearly the same.
        assert!(stored_schema(&fields.into()).len() <= all_types().len());
    }

    #[test]
    fn names_and_metadata_are_read_back() {
        let pairs = |n: usize| (0..n).map(|i| (format!("k{i}"), "é".repeat(i))).collect::<HashMap<_, _>>();
        let item = Field::new("élément", DataType::Int8, false).with_metadata(pairs(3));
        let fields = vec![
            Field::new("", DataType::List(Arc::new(item)), true).with_metadata(pairs(2)),
            Field::new("a", DataType::Null, true),
        ];
        let expected: Vec<Option<Field>> = fields.iter().cloned().map(Some).collect();
        assert_eq!(read_back(fields.clone()), expected);
        assert_eq!(stored_schema(&fields.clone().into()), stored_schema(&fields.into()));
    }
}
