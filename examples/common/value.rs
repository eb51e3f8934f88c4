//! One value of an Arrow array as short text.

use std::fmt::{self, Write};

use marquetry::arrow::array::cast::AsArray;
use marquetry::arrow::array::types::*;
use marquetry::arrow::array::{Array, ArrowPrimitiveType, PrimitiveArray};
use marquetry::arrow::schema::{DataType, IntervalUnit, TimeUnit};

/// Value `row` of `array` in at most `limit` characters. What is longer ends in `…`; null is `null`.
pub(crate) fn cell(array: &dyn Array, row: usize, limit: usize) -> String {
    let mut short = Short { text: String::new(), left: limit.max(1), is_cut: false };
    // The only error there is says that the text is full.
    let _ = value(array, row, false, &mut short);
    short.finish()
}

/// Text cut to so many characters.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    let mut short = Short { text: String::new(), left: limit.max(1), is_cut: false };
    let _ = string(text, false, &mut short);
    short.finish()
}

/// Takes characters until it is full, and is an error from then on: whoever writes can stop.
struct Short {
    text: String,
    left: usize,
    is_cut: bool,
}

impl Short {
    fn finish(mut self) -> String {
        if self.is_cut {
            self.text.pop();
            self.text.push('…');
        }
        self.text
    }
}

impl Write for Short {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if self.left == 0 {
                self.is_cut = true;
                return Err(fmt::Error);
            }
            self.left -= 1;
            self.text.push(c);
        }
        Ok(())
    }
}

/// `inside`: whether it stands in a list, struct or map, where strings need their quotes.
fn value(array: &dyn Array, row: usize, inside: bool, out: &mut Short) -> fmt::Result {
    if array.is_null(row) {
        return out.write_str("null");
    }
    match array.data_type() {
        DataType::Boolean => write!(out, "{}", array.as_boolean().value(row)),
        DataType::Utf8 => string(array.as_string::<i32>().value(row), inside, out),
        DataType::LargeUtf8 => string(array.as_string::<i64>().value(row), inside, out),
        DataType::Utf8View => string(array.as_string_view().value(row), inside, out),
        DataType::Binary => binary(array.as_binary::<i32>().value(row), out),
        DataType::LargeBinary => binary(array.as_binary::<i64>().value(row), out),
        DataType::BinaryView => binary(array.as_binary_view().value(row), out),
        DataType::FixedSizeBinary(_) => binary(array.as_fixed_size_binary().value(row), out),
        DataType::List(_) => list(array.as_list::<i32>().value(row).as_ref(), out),
        DataType::LargeList(_) => list(array.as_list::<i64>().value(row).as_ref(), out),
        DataType::ListView(_) => list(array.as_list_view::<i32>().value(row).as_ref(), out),
        DataType::LargeListView(_) => list(array.as_list_view::<i64>().value(row).as_ref(), out),
        DataType::FixedSizeList(..) => list(array.as_fixed_size_list().value(row).as_ref(), out),
        DataType::Struct(_) => structure(array, row, out),
        DataType::Map(..) => map(array, row, out),
        DataType::Dictionary(key, _) => dictionary(array, key, row, inside, out),
        _ => number(array, row, out),
    }
}

fn number(array: &dyn Array, row: usize, out: &mut Short) -> fmt::Result {
    macro_rules! plain {
        ($type:ty, $format:literal) => {
            write!(out, $format, array.as_primitive::<$type>().value(row))
        };
    }
    macro_rules! decimal {
        ($type:ty) => {
            out.write_str(&array.as_primitive::<$type>().value_as_string(row))
        };
    }
    match array.data_type() {
        DataType::Int8 => plain!(Int8Type, "{}"),
        DataType::Int16 => plain!(Int16Type, "{}"),
        DataType::Int32 => plain!(Int32Type, "{}"),
        DataType::Int64 => plain!(Int64Type, "{}"),
        DataType::UInt8 => plain!(UInt8Type, "{}"),
        DataType::UInt16 => plain!(UInt16Type, "{}"),
        DataType::UInt32 => plain!(UInt32Type, "{}"),
        DataType::UInt64 => plain!(UInt64Type, "{}"),
        // Their Debug writes 1e300 where Display writes 300 zeros.
        DataType::Float16 => plain!(Float16Type, "{:?}"),
        DataType::Float32 => plain!(Float32Type, "{:?}"),
        DataType::Float64 => plain!(Float64Type, "{:?}"),
        DataType::Decimal32(..) => decimal!(Decimal32Type),
        DataType::Decimal64(..) => decimal!(Decimal64Type),
        DataType::Decimal128(..) => decimal!(Decimal128Type),
        DataType::Decimal256(..) => decimal!(Decimal256Type),
        _ => time(array, row, out),
    }
}

fn time(array: &dyn Array, row: usize, out: &mut Short) -> fmt::Result {
    match array.data_type() {
        DataType::Date32 => date(array.as_primitive::<Date32Type>(), row, out),
        DataType::Date64 => date(array.as_primitive::<Date64Type>(), row, out),
        DataType::Time32(TimeUnit::Second) => time_of_day::<Time32SecondType>(array, row, 1, out),
        DataType::Time32(_) => time_of_day::<Time32MillisecondType>(array, row, 1_000, out),
        DataType::Time64(TimeUnit::Microsecond) => {
            time_of_day::<Time64MicrosecondType>(array, row, 1_000_000, out)
        }
        DataType::Time64(_) => time_of_day::<Time64NanosecondType>(array, row, 1_000_000_000, out),
        DataType::Timestamp(unit, zone) => {
            let utc = zone.is_some();
            match unit {
                TimeUnit::Second => timestamp::<TimestampSecondType>(array, row, utc, out),
                TimeUnit::Millisecond => timestamp::<TimestampMillisecondType>(array, row, utc, out),
                TimeUnit::Microsecond => timestamp::<TimestampMicrosecondType>(array, row, utc, out),
                TimeUnit::Nanosecond => timestamp::<TimestampNanosecondType>(array, row, utc, out),
            }
        }
        DataType::Duration(unit) => match unit {
            TimeUnit::Second => counted::<DurationSecondType>(array, row, "s", out),
            TimeUnit::Millisecond => counted::<DurationMillisecondType>(array, row, "ms", out),
            TimeUnit::Microsecond => counted::<DurationMicrosecondType>(array, row, "µs", out),
            TimeUnit::Nanosecond => counted::<DurationNanosecondType>(array, row, "ns", out),
        },
        DataType::Interval(unit) => interval(array, *unit, row, out),
        other => write!(out, "({other})"),
    }
}

fn date<T: ArrowTemporalType>(array: &PrimitiveArray<T>, row: usize, out: &mut Short) -> fmt::Result
where
    i64: From<T::Native>,
{
    match array.value_as_date(row) {
        Some(date) => write!(out, "{date}"),
        None => write!(out, "{:?} (no date)", array.value(row)),
    }
}

/// `second`: how many units a second has. Arrow's conversion takes what is more than a day modulo 2^32 seconds.
fn time_of_day<T: ArrowTemporalType>(
    array: &dyn Array,
    row: usize,
    second: i64,
    out: &mut Short,
) -> fmt::Result
where
    i64: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    let within_day = (0..86_400 * second).contains(&i64::from(array.value(row)));
    match array.value_as_time(row).filter(|_| within_day) {
        Some(time) => write!(out, "{time}"),
        None => write!(out, "{:?} (no time)", array.value(row)),
    }
}

/// An instant is shown in UTC, whatever zone the type names.
fn timestamp<T: ArrowTemporalType>(array: &dyn Array, row: usize, utc: bool, out: &mut Short) -> fmt::Result
where
    i64: From<T::Native>,
{
    let array = array.as_primitive::<T>();
    match array.value_as_datetime(row) {
        Some(time) => write!(out, "{time}{}", if utc { "Z" } else { "" }),
        None => write!(out, "{:?} (no time)", array.value(row)),
    }
}

fn counted<T: ArrowPrimitiveType>(array: &dyn Array, row: usize, unit: &str, out: &mut Short) -> fmt::Result {
    write!(out, "{:?} {unit}", array.as_primitive::<T>().value(row))
}

fn interval(array: &dyn Array, unit: IntervalUnit, row: usize, out: &mut Short) -> fmt::Result {
    match unit {
        IntervalUnit::YearMonth => counted::<IntervalYearMonthType>(array, row, "months", out),
        IntervalUnit::DayTime => {
            let value = array.as_primitive::<IntervalDayTimeType>().value(row);
            write!(out, "{} days {} ms", value.days, value.milliseconds)
        }
        IntervalUnit::MonthDayNano => {
            let value = array.as_primitive::<IntervalMonthDayNanoType>().value(row);
            write!(out, "{} months {} days {} ns", value.months, value.days, value.nanoseconds)
        }
    }
}

fn list(values: &dyn Array, out: &mut Short) -> fmt::Result {
    out.write_char('[')?;
    for i in 0..values.len() {
        if i > 0 {
            out.write_str(", ")?;
        }
        value(values, i, true, out)?;
    }
    out.write_char(']')
}

fn structure(array: &dyn Array, row: usize, out: &mut Short) -> fmt::Result {
    let array = array.as_struct();
    out.write_char('{')?;
    for (i, (field, column)) in array.fields().iter().zip(array.columns()).enumerate() {
        write!(out, "{}{}: ", if i > 0 { ", " } else { "" }, field.name())?;
        value(column.as_ref(), row, true, out)?;
    }
    out.write_char('}')
}

fn map(array: &dyn Array, row: usize, out: &mut Short) -> fmt::Result {
    let entries = array.as_map().value(row);
    let [keys, values] = entries.columns() else { return out.write_str("(map)") };
    out.write_char('{')?;
    for i in 0..entries.len() {
        if i > 0 {
            out.write_str(", ")?;
        }
        value(keys.as_ref(), i, true, out)?;
        out.write_str(": ")?;
        value(values.as_ref(), i, true, out)?;
    }
    out.write_char('}')
}

fn dictionary(array: &dyn Array, key: &DataType, row: usize, inside: bool, out: &mut Short) -> fmt::Result {
    macro_rules! key {
        ($type:ty) => {
            array.as_dictionary::<$type>().key(row)
        };
    }
    let index = match key {
        DataType::Int8 => key!(Int8Type),
        DataType::Int16 => key!(Int16Type),
        DataType::Int32 => key!(Int32Type),
        DataType::Int64 => key!(Int64Type),
        DataType::UInt8 => key!(UInt8Type),
        DataType::UInt16 => key!(UInt16Type),
        DataType::UInt32 => key!(UInt32Type),
        _ => key!(UInt64Type),
    };
    match index {
        Some(index) => value(array.as_any_dictionary().values().as_ref(), index, inside, out),
        None => out.write_str("null"),
    }
}

/// As it is where nobody can mistake it; quoted inside of other values, and where it looks empty or like a null.
fn string(text: &str, inside: bool, out: &mut Short) -> fmt::Result {
    let quoted = inside || text.is_empty() || text == "null" || text.starts_with(' ') || text.ends_with(' ');
    if quoted {
        out.write_char('"')?;
    }
    for c in text.chars() {
        match c {
            '"' | '\\' if quoted => write!(out, "\\{c}")?,
            c if c.is_control() => write!(out, "{}", c.escape_default())?,
            c => out.write_char(c)?,
        }
    }
    if quoted { out.write_char('"') } else { Ok(()) }
}

/// Text where it is text, as the strings of many older files are; else hexadecimal.
fn binary(bytes: &[u8], out: &mut Short) -> fmt::Result {
    if !bytes.is_empty() && bytes.iter().all(|byte| matches!(byte, b' '..=b'~')) {
        return write!(out, "b\"{}\"", bytes.escape_ascii());
    }
    out.write_str("0x")?;
    bytes.iter().try_for_each(|byte| write!(out, "{byte:02x}"))
}
