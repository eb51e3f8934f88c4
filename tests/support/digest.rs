//! Digests of values: SHA-256 of a canonical text that no reader's choice of types or batches changes.
//!
//! A line a value, a digest a column, and over the columns a digest of `<name as JSON>\t<column digest>\n`. In the
//! text a null is `null`, whatever has digits or bytes is a string of them with a letter in front for its kind, lists
//! and structs are `[v,v]`, maps `[[k,v],[k,v]]`, dictionaries the values that they stand for.

use std::fmt::Write;

use marquetry::arrow::array::cast::AsArray;
use marquetry::arrow::array::types::*;
use marquetry::arrow::array::{Array, OffsetSizeTrait, RecordBatch, downcast_dictionary_array};
use marquetry::arrow::schema::{DataType, IntervalUnit, Schema, TimeUnit};
use sha2::{Digest, Sha256};

/// Digests batches of one schema, however rows are cut into them.
pub struct Digester {
    columns: Vec<(String, Sha256)>,
    pub num_rows: u64,
}

impl Digester {
    pub fn new(schema: &Schema) -> Self {
        let columns = schema.fields().iter().map(|field| (field.name().clone(), Sha256::new()));
        Digester { columns: columns.collect(), num_rows: 0 }
    }

    pub fn update(&mut self, batch: &RecordBatch) {
        let mut text = String::new();
        for ((_, digest), array) in self.columns.iter_mut().zip(batch.columns()) {
            for row in 0..array.len() {
                write(&mut text, array.as_ref(), row);
                text.push('\n');
                if text.len() > 1 << 16 || row + 1 == array.len() {
                    digest.update(text.as_bytes());
                    text.clear();
                }
            }
        }
        self.num_rows += batch.num_rows() as u64;
    }

    pub fn finish(self) -> String {
        let mut all = Sha256::new();
        for (name, digest) in self.columns {
            let mut line = String::new();
            json(&mut line, &name);
            line.push('\t');
            hex(&mut line, &digest.finalize());
            line.push('\n');
            all.update(line.as_bytes());
        }
        let mut text = String::new();
        hex(&mut text, &all.finalize());
        text
    }
}

/// Appends the canonical text of one value.
fn write(out: &mut String, array: &dyn Array, row: usize) {
    if let DataType::Dictionary(..) = array.data_type() {
        return downcast_dictionary_array!(
            array => match array.key(row) {
                Some(key) => write(out, array.values(), key),
                None => out.push_str("null"),
            },
            other => panic!("{other}")
        );
    }
    if array.is_null(row) || *array.data_type() == DataType::Null {
        return out.push_str("null");
    }
    macro_rules! value {
        ($type:ty) => {
            array.as_primitive::<$type>().value(row)
        };
    }
    macro_rules! quoted {
        ($($text:tt)*) => {
            write!(out, "\"{}\"", format_args!($($text)*)).unwrap()
        };
    }
    match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(row)).unwrap(),
        DataType::Int8 => quoted!("{}", value!(Int8Type)),
        DataType::Int16 => quoted!("{}", value!(Int16Type)),
        DataType::Int32 => quoted!("{}", value!(Int32Type)),
        DataType::Int64 => quoted!("{}", value!(Int64Type)),
        DataType::UInt8 => quoted!("{}", value!(UInt8Type)),
        DataType::UInt16 => quoted!("{}", value!(UInt16Type)),
        DataType::UInt32 => quoted!("{}", value!(UInt32Type)),
        DataType::UInt64 => quoted!("{}", value!(UInt64Type)),
        DataType::Float16 => quoted!("h{:04x}", value!(Float16Type).to_bits()),
        DataType::Float32 => quoted!("f{:08x}", value!(Float32Type).to_bits()),
        DataType::Float64 => quoted!("d{:016x}", value!(Float64Type).to_bits()),
        DataType::Decimal32(_, scale) => quoted!("m{}s{scale}", value!(Decimal32Type)),
        DataType::Decimal64(_, scale) => quoted!("m{}s{scale}", value!(Decimal64Type)),
        DataType::Decimal128(_, scale) => quoted!("m{}s{scale}", value!(Decimal128Type)),
        DataType::Decimal256(_, scale) => quoted!("m{}s{scale}", value!(Decimal256Type)),
        DataType::Date32 => quoted!("D{}", value!(Date32Type)),
        DataType::Date64 => quoted!("E{}", value!(Date64Type)),
        DataType::Time32(TimeUnit::Second) => quoted!("T{}s", value!(Time32SecondType)),
        DataType::Time32(_) => quoted!("T{}ms", value!(Time32MillisecondType)),
        DataType::Time64(TimeUnit::Microsecond) => quoted!("T{}us", value!(Time64MicrosecondType)),
        DataType::Time64(_) => quoted!("T{}ns", value!(Time64NanosecondType)),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => quoted!("t{}s", value!(TimestampSecondType)),
            TimeUnit::Millisecond => quoted!("t{}ms", value!(TimestampMillisecondType)),
            TimeUnit::Microsecond => quoted!("t{}us", value!(TimestampMicrosecondType)),
            TimeUnit::Nanosecond => quoted!("t{}ns", value!(TimestampNanosecondType)),
        },
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => quoted!("u{}s", value!(DurationSecondType)),
            TimeUnit::Millisecond => quoted!("u{}ms", value!(DurationMillisecondType)),
            TimeUnit::Microsecond => quoted!("u{}us", value!(DurationMicrosecondType)),
            TimeUnit::Nanosecond => quoted!("u{}ns", value!(DurationNanosecondType)),
        },
        DataType::Interval(IntervalUnit::YearMonth) => quoted!("i{}", value!(IntervalYearMonthType)),
        DataType::Interval(IntervalUnit::DayTime) => {
            let value = value!(IntervalDayTimeType);
            quoted!("j{}:{}", value.days, value.milliseconds);
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let value = value!(IntervalMonthDayNanoType);
            quoted!("k{}:{}:{}", value.months, value.days, value.nanoseconds);
        }
        DataType::Utf8 => json(out, array.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => json(out, array.as_string::<i64>().value(row)),
        DataType::Utf8View => json(out, array.as_string_view().value(row)),
        DataType::Binary => bytes(out, array.as_binary::<i32>().value(row)),
        DataType::LargeBinary => bytes(out, array.as_binary::<i64>().value(row)),
        DataType::BinaryView => bytes(out, array.as_binary_view().value(row)),
        DataType::FixedSizeBinary(_) => bytes(out, array.as_fixed_size_binary().value(row)),
        DataType::List(_) => list::<i32>(out, array, row),
        DataType::LargeList(_) => list::<i64>(out, array, row),
        DataType::ListView(_) => items(out, array.as_list_view::<i32>().value(row).as_ref()),
        DataType::LargeListView(_) => items(out, array.as_list_view::<i64>().value(row).as_ref()),
        DataType::FixedSizeList(..) => items(out, array.as_fixed_size_list().value(row).as_ref()),
        DataType::Struct(_) => {
            joined(out, array.as_struct().columns(), |out, column| write(out, column, row));
        }
        DataType::Map(..) => {
            let map = array.as_map();
            let (from, to) = (map.value_offsets()[row], map.value_offsets()[row + 1]);
            joined(out, from as usize..to as usize, |out, entry| {
                joined(out, [map.keys(), map.values()], |out, side| write(out, side, entry));
            });
        }
        other => panic!("no canonical text for {other}"),
    }
}

fn list<O: OffsetSizeTrait>(out: &mut String, array: &dyn Array, row: usize) {
    let list = array.as_list::<O>();
    let (from, to) = (list.value_offsets()[row], list.value_offsets()[row + 1]);
    joined(out, from.as_usize()..to.as_usize(), |out, item| write(out, list.values(), item));
}

fn items(out: &mut String, items: &dyn Array) {
    joined(out, 0..items.len(), |out, item| write(out, items, item));
}

fn joined<I>(out: &mut String, items: impl IntoIterator<Item = I>, mut one: impl FnMut(&mut String, I)) {
    out.push('[');
    for (i, item) in items.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        one(out, item);
    }
    out.push(']');
}

/// A JSON string; only quotes, backslashes and control characters are escaped.
fn json(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => write!(out, "\\u{:04x}", c as u32).unwrap(),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn bytes(out: &mut String, bytes: &[u8]) {
    out.push_str("\"x");
    hex(out, bytes);
    out.push('"');
}

fn hex(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        out.extend([byte >> 4, byte & 15].map(|digit| char::from_digit(digit.into(), 16).unwrap()));
    }
}
