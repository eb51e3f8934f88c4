//! How a leaf's physical values become Arrow values, decided once a column.
//!
//! Takes a leaf and an Arrow type; gives the conversion, or an error where that type cannot be had. Conversions run
//! over dense values (nulls have none), append to a vector, and leave it as it was where a value does not fit.
//!
//! | values | Arrow types (the first is the default) |
//! | --- | --- |
//! | integers | their own; any integer type, checked; Float64 from up to 32 bits |
//! | INT32 without annotation | also Date32, Time32 |
//! | INT64 without annotation | also Timestamp, Time64, Duration, Date64 |
//! | DATE | Date32, Date64, Int32 |
//! | TIME | Time32 or Time64 of its unit, of other units, the integer |
//! | TIMESTAMP | Timestamp of its unit, of other units, with any time zone, Int64 |
//! | INT96 | Timestamp(Nanosecond), of other units, with any time zone |
//! | DECIMAL | Decimal128 or Decimal256; any width with its scale and no less precision |
//! | FLOAT | Float32, Float64 |
//! | INTERVAL | MonthDayNano; DayTime and YearMonth where the other parts are zero |
//! | BYTE_ARRAY | Utf8 or Binary; any of the string and binary types |
//! | FIXED_LEN_BYTE_ARRAY | FixedSizeBinary; of 2 bytes also Float16 |
//! | BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY of any annotation | Binary types and FixedSizeBinary: the bytes |
//!
//! A finer unit is a checked multiplication. A coarser one rounds down: what a column of that unit would hold.

use super::convert::{float32, int32, int64};
use super::leaf::{Meaning, arrow_unit};
use super::{decimal, time};
use crate::arrow::buffer::i256;
use crate::arrow::schema::{DataType, IntervalUnit, TimeUnit};
use crate::error::{Error, Result};
use crate::metadata::{PhysicalType, SchemaNode};

/// How a leaf's physical values become Arrow values.
#[derive(Debug, Clone)]
pub(crate) enum Recipe {
    Boolean,
    /// No values at all; levels count.
    Null,
    Int32(Conversion<i32>),
    Int64(Conversion<i64>),
    Float(Conversion<f32>),
    Double(Conversion<f64>),
    Int96(Conversion<crate::sink::Int96>),
    /// Bytes stay bytes. Strings still want their UTF-8 checked.
    Bytes(BytesTarget),
    /// Each value of a BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY becomes a number.
    BytesTo(BytesConversion),
    Dictionary {
        /// An integer type.
        key: DataType,
        value: Box<Recipe>,
        value_type: DataType,
    },
}

/// From numbers of type `P` to Arrow's native values, by their width: the buffer is that of an Arrow array, whichever
/// type of that width it has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Conversion<P> {
    /// The bits are Arrow's.
    Same,
    To8(Kernel<P, i8>),
    To16(Kernel<P, i16>),
    To32(Kernel<P, i32>),
    To64(Kernel<P, i64>),
    To128(Kernel<P, i128>),
    To256(Kernel<P, i256>),
}

/// Appends one native value for each physical value; appends none where one does not fit.
pub(crate) type Kernel<P, N> = fn(&[P], &mut Vec<N>) -> Result<()>;

/// What bytes become that stay bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BytesTarget {
    Binary,
    LargeBinary,
    BinaryView,
    Utf8,
    LargeUtf8,
    Utf8View,
    /// Bytes a value, from 1 up.
    FixedSizeBinary(i32),
}

/// From bytes to Arrow's native values, by their width.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BytesConversion {
    To16(BytesKernel<i16>),
    To32(BytesKernel<i32>),
    To64(BytesKernel<i64>),
    To128(BytesKernel<i128>),
    To256(BytesKernel<i256>),
}

/// One conversion of bytes, for a value and for many of one width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BytesKernel<N> {
    /// One value of any width.
    pub one: fn(&[u8]) -> Result<N>,
    /// Values back to back, of `width` bytes each; appends one for each, or none where one does not fit.
    pub bulk: fn(&[u8], usize, &mut Vec<N>) -> Result<()>,
}

impl Recipe {
    /// How the values of leaf `node` become `data_type`.
    ///
    /// # Errors
    /// When they cannot.
    pub(crate) fn new(node: &SchemaNode, data_type: &DataType) -> Result<Recipe> {
        let refused = || Error::invalid(format!("{} cannot be read as {data_type}", describe(node)));
        let physical = node.physical_type().ok_or_else(refused)?;
        if let DataType::Dictionary(key, value_type) = data_type {
            let value = Recipe::new(node, value_type)?;
            return match value {
                Recipe::Boolean | Recipe::Null | Recipe::Dictionary { .. } => Err(refused()),
                _ if !key.is_dictionary_key_type() => Err(refused()),
                _ => {
                    let (key, value_type) = (key.as_ref().clone(), value_type.as_ref().clone());
                    Ok(Recipe::Dictionary { key, value: Box::new(value), value_type })
                }
            };
        }
        // The bytes themselves can be had whatever they mean, and even where that cannot be read.
        if let Some(target) = bytes(physical, node.byte_width(), data_type) {
            return Ok(Recipe::Bytes(target));
        }
        let meaning = Meaning::of(node)?;
        let recipe = match (physical, meaning) {
            (_, Meaning::Null) => (*data_type == DataType::Null).then_some(Recipe::Null),
            (PhysicalType::Boolean, _) => (*data_type == DataType::Boolean).then_some(Recipe::Boolean),
            (PhysicalType::Int32, _) => from_int32(meaning, data_type).map(Recipe::Int32),
            (PhysicalType::Int64, _) => from_int64(meaning, data_type).map(Recipe::Int64),
            (PhysicalType::Int96, _) => match data_type {
                DataType::Timestamp(unit, _) => Some(Recipe::Int96(time::from_int96(*unit))),
                _ => None,
            },
            (PhysicalType::Float, _) => match data_type {
                DataType::Float32 => Some(Recipe::Float(Conversion::Same)),
                DataType::Float64 => Some(Recipe::Float(float32::to_float64())),
                _ => None,
            },
            (PhysicalType::Double, _) => {
                (*data_type == DataType::Float64).then_some(Recipe::Double(Conversion::Same))
            }
            (PhysicalType::ByteArray | PhysicalType::FixedLenByteArray, _) => {
                from_bytes(meaning, data_type).map(Recipe::BytesTo)
            }
            (PhysicalType::Unknown(_), _) => None,
        };
        recipe.ok_or_else(refused)
    }
}

fn from_int32(meaning: Meaning, data_type: &DataType) -> Option<Conversion<i32>> {
    use DataType::{Date32, Date64, Int32, Time32, Time64};
    match (meaning, data_type) {
        (Meaning::Integer { plain: true, .. }, Date32 | Time32(TimeUnit::Second | TimeUnit::Millisecond)) => {
            Some(Conversion::Same)
        }
        (Meaning::Integer { signed: true, .. }, _) => int32::signed(data_type),
        (Meaning::Integer { signed: false, .. }, _) => int32::unsigned(data_type),
        (Meaning::Date, Date32 | Int32) => Some(Conversion::Same),
        (Meaning::Date, Date64) => Some(time::days_to_millis()),
        (Meaning::Time(_), Time32(TimeUnit::Millisecond) | Int32) => Some(Conversion::Same),
        (Meaning::Time(_), Time32(TimeUnit::Second)) => Some(time::millis_to_seconds()),
        (Meaning::Time(_), Time64(unit)) => time::millis_to_time64(*unit),
        (Meaning::Decimal { precision, scale }, _) => {
            Some(match decimal_width(precision, scale, data_type)? {
                32 => Conversion::Same,
                64 => int32::widen_64(),
                128 => int32::widen_128(),
                _ => int32::widen_256(),
            })
        }
        _ => None,
    }
}

fn from_int64(meaning: Meaning, data_type: &DataType) -> Option<Conversion<i64>> {
    use DataType::{Date64, Duration, Int64, Time64, Timestamp};
    match (meaning, data_type) {
        (
            Meaning::Integer { plain: true, .. },
            Timestamp(..) | Duration(_) | Date64 | Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond),
        ) => Some(Conversion::Same),
        (Meaning::Integer { signed: true, .. }, _) => int64::signed(data_type),
        (Meaning::Integer { signed: false, .. }, _) => int64::unsigned(data_type),
        (Meaning::Time(_) | Meaning::Timestamp { .. }, Int64) => Some(Conversion::Same),
        (Meaning::Time(unit), Time64(to @ (TimeUnit::Microsecond | TimeUnit::Nanosecond)))
        | (Meaning::Timestamp { unit, .. }, Timestamp(to, _)) => {
            Some(time::change_unit(arrow_unit(unit), *to))
        }
        (Meaning::Decimal { precision, scale }, _) => {
            Some(match decimal_width(precision, scale, data_type)? {
                32 => int64::narrow_decimal(),
                64 => Conversion::Same,
                128 => int64::widen_128(),
                _ => int64::widen_256(),
            })
        }
        _ => None,
    }
}

/// Values of BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY that become numbers.
fn from_bytes(meaning: Meaning, data_type: &DataType) -> Option<BytesConversion> {
    match (meaning, data_type) {
        (Meaning::Float16 | Meaning::FixedSizeBinary { width: 2 }, DataType::Float16) => {
            Some(BytesConversion::To16(super::convert::float16()))
        }
        (Meaning::Interval, DataType::Interval(unit)) => Some(match unit {
            IntervalUnit::MonthDayNano => BytesConversion::To128(time::month_day_nano()),
            IntervalUnit::DayTime => BytesConversion::To64(time::day_time()),
            IntervalUnit::YearMonth => BytesConversion::To32(time::year_month()),
        }),
        (Meaning::Decimal { precision, scale }, _) => {
            Some(match decimal_width(precision, scale, data_type)? {
                32 => BytesConversion::To32(decimal::to_32()),
                64 => BytesConversion::To64(decimal::to_64()),
                128 => BytesConversion::To128(decimal::to_128()),
                _ => BytesConversion::To256(decimal::to_256()),
            })
        }
        _ => None,
    }
}

/// Bits of a decimal type that holds `precision` digits at `scale`; `None` for any other type.
fn decimal_width(precision: u8, scale: i8, data_type: &DataType) -> Option<u16> {
    let (width, most, to_precision, to_scale) = match *data_type {
        DataType::Decimal32(p, s) => (32, 9, p, s),
        DataType::Decimal64(p, s) => (64, 18, p, s),
        DataType::Decimal128(p, s) => (128, 38, p, s),
        DataType::Decimal256(p, s) => (256, 76, p, s),
        _ => return None,
    };
    (to_scale == scale && (precision..=most).contains(&to_precision)).then_some(width)
}

/// Bytes that stay bytes: any BYTE_ARRAY as strings or binary, any FIXED_LEN_BYTE_ARRAY as what it is.
fn bytes(physical: PhysicalType, byte_width: usize, data_type: &DataType) -> Option<BytesTarget> {
    match (physical, data_type) {
        (PhysicalType::ByteArray, DataType::Binary) => Some(BytesTarget::Binary),
        (PhysicalType::ByteArray, DataType::LargeBinary) => Some(BytesTarget::LargeBinary),
        (PhysicalType::ByteArray, DataType::BinaryView) => Some(BytesTarget::BinaryView),
        (PhysicalType::ByteArray, DataType::Utf8) => Some(BytesTarget::Utf8),
        (PhysicalType::ByteArray, DataType::LargeUtf8) => Some(BytesTarget::LargeUtf8),
        (PhysicalType::ByteArray, DataType::Utf8View) => Some(BytesTarget::Utf8View),
        (PhysicalType::FixedLenByteArray, &DataType::FixedSizeBinary(width)) => {
            let same = width > 0 && usize::try_from(width) == Ok(byte_width);
            same.then_some(BytesTarget::FixedSizeBinary(width))
        }
        _ => None,
    }
}

/// The leaf as the format names it: its physical type and annotation.
fn describe(node: &SchemaNode) -> String {
    let physical = match node.physical_type() {
        Some(PhysicalType::FixedLenByteArray) => format!("FIXED_LEN_BYTE_ARRAY({})", node.byte_width()),
        Some(physical) => physical.to_string(),
        None => "a group".to_owned(),
    };
    match &node.logical {
        Some(logical) => format!("{physical} with the annotation {logical:?}"),
        None => physical,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Element, fixed, leaf, schema};
    use super::*;
    use crate::metadata::LogicalType as L;
    use crate::metadata::Repetition::Required;
    use crate::metadata::TimeUnit as Unit;
    use DataType as D;
    use PhysicalType::*;

    fn plain(physical: PhysicalType) -> Element {
        leaf(Required, "x", physical)
    }

    fn recipe(element: &Element, data_type: &DataType) -> Result<Recipe> {
        Recipe::new(schema(vec![element.clone()]).leaf(0).unwrap(), data_type)
    }

    /// The name of a recipe's variants, as `Int32(To64)`.
    fn name(recipe: &Recipe) -> String {
        let text = format!("{recipe:?}");
        match recipe {
            Recipe::Bytes(_) | Recipe::Dictionary { .. } | Recipe::Boolean | Recipe::Null => text,
            _ => {
                let mut words = text.split(['(', ')', ' ']);
                format!("{}({})", words.next().unwrap(), words.next().unwrap())
            }
        }
    }

    #[test]
    fn every_column_becomes_what_the_table_says() {
        let decimal = L::Decimal { precision: 9, scale: 2 };
        let timestamp = |unit, utc| plain(Int64).logical(L::Timestamp { unit, utc });
        let table = [
            (plain(Boolean), D::Boolean, "Boolean"),
            (plain(Boolean).logical(L::Unknown), D::Null, "Null"),
            (plain(Int32), D::Int32, "Int32(Same)"),
            (plain(Int32), D::Int64, "Int32(To64)"),
            (plain(Int32), D::UInt16, "Int32(To16)"),
            (plain(Int32), D::Float64, "Int32(To64)"),
            (plain(Int32), D::Date32, "Int32(Same)"),
            (plain(Int32), D::Time32(TimeUnit::Second), "Int32(Same)"),
            (plain(Int32).logical(L::Integer { bit_width: 8, signed: true }), D::Int8, "Int32(To8)"),
            (plain(Int32).logical(L::Integer { bit_width: 32, signed: false }), D::UInt32, "Int32(Same)"),
            (plain(Int32).logical(L::Date), D::Date32, "Int32(Same)"),
            (plain(Int32).logical(L::Date), D::Date64, "Int32(To64)"),
            (
                plain(Int32).logical(L::Time { unit: Unit::Millis, utc: true }),
                D::Time64(TimeUnit::Nanosecond),
                "Int32(To64)",
            ),
            (plain(Int32).logical(decimal.clone()), D::Decimal32(9, 2), "Int32(Same)"),
            (plain(Int32).logical(decimal.clone()), D::Decimal128(38, 2), "Int32(To128)"),
            (plain(Int32).logical(decimal.clone()), D::Decimal256(9, 2), "Int32(To256)"),
            (plain(Int64), D::Int64, "Int64(Same)"),
            (plain(Int64), D::Duration(TimeUnit::Second), "Int64(Same)"),
            (plain(Int64), D::Timestamp(TimeUnit::Second, Some("+01:00".into())), "Int64(Same)"),
            (plain(Int64).logical(L::Integer { bit_width: 64, signed: false }), D::UInt64, "Int64(Same)"),
            (plain(Int64).logical(L::Integer { bit_width: 64, signed: false }), D::UInt8, "Int64(To8)"),
            (timestamp(Unit::Micros, true), D::Timestamp(TimeUnit::Microsecond, None), "Int64(Same)"),
            (timestamp(Unit::Micros, true), D::Timestamp(TimeUnit::Nanosecond, None), "Int64(To64)"),
            (timestamp(Unit::Nanos, false), D::Timestamp(TimeUnit::Second, None), "Int64(To64)"),
            (timestamp(Unit::Nanos, false), D::Int64, "Int64(Same)"),
            (plain(Int64).logical(decimal.clone()), D::Decimal32(9, 2), "Int64(To32)"),
            (plain(Int64).logical(decimal.clone()), D::Decimal64(18, 2), "Int64(Same)"),
            (plain(Int96), D::Timestamp(TimeUnit::Microsecond, None), "Int96(To64)"),
            (plain(Float), D::Float32, "Float(Same)"),
            (plain(Float), D::Float64, "Float(To64)"),
            (plain(Double), D::Float64, "Double(Same)"),
            (plain(ByteArray), D::Utf8View, "Bytes(Utf8View)"),
            (plain(ByteArray).logical(L::String), D::LargeUtf8, "Bytes(LargeUtf8)"),
            (plain(ByteArray).logical(L::String), D::BinaryView, "Bytes(BinaryView)"),
            (plain(ByteArray).logical(decimal.clone()), D::Decimal128(9, 2), "BytesTo(To128)"),
            (plain(ByteArray).logical(decimal.clone()), D::LargeBinary, "Bytes(LargeBinary)"),
            (fixed(Required, "x", 16), D::FixedSizeBinary(16), "Bytes(FixedSizeBinary(16))"),
            (fixed(Required, "x", 3).logical(decimal.clone()), D::Decimal64(9, 2), "BytesTo(To64)"),
            (fixed(Required, "x", 33).logical(decimal), D::Decimal256(76, 2), "BytesTo(To256)"),
            (fixed(Required, "x", 2).logical(L::Float16), D::Float16, "BytesTo(To16)"),
            (
                fixed(Required, "x", 12).logical(L::Interval),
                D::Interval(IntervalUnit::MonthDayNano),
                "BytesTo(To128)",
            ),
            (
                fixed(Required, "x", 12).logical(L::Interval),
                D::FixedSizeBinary(12),
                "Bytes(FixedSizeBinary(12))",
            ),
        ];
        for (element, data_type, expected) in table {
            let recipe = recipe(&element, &data_type).unwrap();
            assert_eq!(name(&recipe), expected, "{:?} as {data_type}", element.logical);
        }
    }

    #[test]
    fn refuses_types_that_change_the_meaning() {
        let decimal = L::Decimal { precision: 9, scale: 2 };
        let table = [
            (plain(Boolean), D::Int8),
            (plain(Int32), D::Utf8),
            (plain(Int32), D::Float32),
            (plain(Int32), D::Decimal128(9, 2)),
            (plain(Int32).logical(L::Unknown), D::Int32),
            (plain(Int32).logical(L::Date), D::Time32(TimeUnit::Second)),
            (plain(Int32).logical(decimal.clone()), D::Int32),
            (plain(Int32).logical(decimal.clone()), D::Decimal128(8, 2)),
            (plain(Int32).logical(decimal.clone()), D::Decimal128(9, 3)),
            (plain(Int32).logical(decimal), D::Decimal32(10, 2)),
            (plain(Int64), D::Float64),
            (plain(Int64).logical(L::Time { unit: Unit::Micros, utc: true }), D::Time64(TimeUnit::Second)),
            (plain(Double), D::Float32),
            (plain(ByteArray), D::FixedSizeBinary(3)),
            (
                plain(ByteArray),
                D::List(std::sync::Arc::new(crate::arrow::schema::Field::new("x", D::Binary, true))),
            ),
            (fixed(Required, "x", 3), D::FixedSizeBinary(4)),
            (fixed(Required, "x", 3), D::FixedSizeBinary(-1)),
            (fixed(Required, "x", 3), D::Float16),
        ];
        for (element, data_type) in table {
            let error = recipe(&element, &data_type).unwrap_err().to_string();
            assert!(error.ends_with(&format!("cannot be read as {data_type}")), "{error}");
        }
        let error = recipe(&fixed(Required, "x", 2), &D::Utf8).unwrap_err();
        assert_eq!(error.to_string(), "FIXED_LEN_BYTE_ARRAY(2) cannot be read as Utf8");
    }

    #[test]
    fn dictionaries_have_integer_keys_and_one_level() {
        let dictionary = |key: DataType, value: DataType| D::Dictionary(Box::new(key), Box::new(value));
        match recipe(&plain(ByteArray), &dictionary(D::UInt8, D::LargeUtf8)).unwrap() {
            Recipe::Dictionary { key: D::UInt8, value, value_type: D::LargeUtf8 } => {
                assert!(matches!(*value, Recipe::Bytes(BytesTarget::LargeUtf8)));
            }
            other => panic!("{other:?}"),
        }
        assert!(recipe(&plain(Int32), &dictionary(D::Int32, D::Date32)).is_ok());
        assert!(recipe(&plain(Boolean), &dictionary(D::Int32, D::Boolean)).is_err());
        assert!(recipe(&plain(Int32), &dictionary(D::Utf8, D::Int32)).is_err());
        let nested = dictionary(D::Int32, dictionary(D::Int32, D::Utf8));
        assert!(recipe(&plain(ByteArray), &nested).is_err());
    }

    #[test]
    fn bytes_can_be_had_where_their_meaning_cannot() {
        let element = plain(ByteArray).logical(L::Decimal { precision: 77, scale: 0 });
        assert!(recipe(&element, &D::Binary).is_ok());
        assert!(recipe(&element, &D::Decimal256(76, 0)).is_err());
    }
}
