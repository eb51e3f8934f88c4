//! What the values of a leaf mean, and the Arrow type that says so.
//!
//! Takes a leaf's physical type and annotation (LogicalTypes.md). An annotation counts only on a physical type where
//! the specification allows it; anywhere else the values are what they physically are. It knows nothing of hints.

use crate::arrow::schema::{DataType, IntervalUnit, TimeUnit as ArrowUnit};
use crate::error::{Error, Result};
use crate::metadata::{LogicalType, NodeKind, PhysicalType, SchemaNode, TimeUnit};

/// What the values of a leaf mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Always null, whatever the physical type.
    Null,
    Boolean,
    /// An integer of at most `bits` bits in INT32 or INT64. `plain` ones carry no annotation.
    Integer {
        bits: u8,
        signed: bool,
        plain: bool,
    },
    Float16,
    Float32,
    Float64,
    Date,
    Time(TimeUnit),
    Timestamp {
        unit: TimeUnit,
        utc: bool,
    },
    /// INT96: nanoseconds of a day, then the day.
    Int96,
    Decimal {
        precision: u8,
        scale: i8,
    },
    Interval,
    Utf8,
    /// BYTE_ARRAY that is no text. `plain` ones carry no annotation.
    Binary {
        plain: bool,
    },
    FixedSizeBinary {
        width: i32,
    },
}

/// The most digits of an Arrow decimal.
const MAX_PRECISION: i32 = 76;

impl Meaning {
    /// What the values of leaf `node` mean.
    ///
    /// # Errors
    /// When they cannot be read: an unknown physical type, values of no width, a decimal that no Arrow type holds.
    pub(super) fn of(node: &SchemaNode) -> Result<Meaning> {
        let NodeKind::Leaf { physical, byte_width, .. } = node.kind else {
            return Err(Error::invalid(format!("{:?} is a group, not a leaf", node.name)));
        };
        if node.logical == Some(LogicalType::Unknown) {
            return Ok(Meaning::Null);
        }
        if physical == PhysicalType::FixedLenByteArray && byte_width == 0 {
            return Err(Error::unsupported("FIXED_LEN_BYTE_ARRAY of 0 bytes"));
        }
        let annotated = match &node.logical {
            Some(logical) => annotated(logical, physical, byte_width)?,
            None => None,
        };
        annotated.map_or_else(|| unannotated(node.logical.is_none(), physical, byte_width), Ok)
    }

    /// The Arrow type that says it best.
    pub(super) fn data_type(self) -> DataType {
        match self {
            Meaning::Null => DataType::Null,
            Meaning::Boolean => DataType::Boolean,
            Meaning::Integer { bits: 8, signed: true, .. } => DataType::Int8,
            Meaning::Integer { bits: 16, signed: true, .. } => DataType::Int16,
            Meaning::Integer { bits: 32, signed: true, .. } => DataType::Int32,
            Meaning::Integer { signed: true, .. } => DataType::Int64,
            Meaning::Integer { bits: 8, signed: false, .. } => DataType::UInt8,
            Meaning::Integer { bits: 16, signed: false, .. } => DataType::UInt16,
            Meaning::Integer { bits: 32, signed: false, .. } => DataType::UInt32,
            Meaning::Integer { signed: false, .. } => DataType::UInt64,
            Meaning::Float16 => DataType::Float16,
            Meaning::Float32 => DataType::Float32,
            Meaning::Float64 => DataType::Float64,
            Meaning::Date => DataType::Date32,
            Meaning::Time(TimeUnit::Millis) => DataType::Time32(ArrowUnit::Millisecond),
            Meaning::Time(unit) => DataType::Time64(arrow_unit(unit)),
            Meaning::Timestamp { unit, utc } => {
                DataType::Timestamp(arrow_unit(unit), utc.then(|| "UTC".into()))
            }
            Meaning::Int96 => DataType::Timestamp(ArrowUnit::Nanosecond, None),
            Meaning::Decimal { precision, scale } if precision <= 38 => {
                DataType::Decimal128(precision, scale)
            }
            Meaning::Decimal { precision, scale } => DataType::Decimal256(precision, scale),
            Meaning::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
            Meaning::Utf8 => DataType::Utf8,
            Meaning::Binary { .. } => DataType::Binary,
            Meaning::FixedSizeBinary { width } => DataType::FixedSizeBinary(width),
        }
    }
}

/// The meaning that an annotation gives; `None` where it does not belong on that physical type.
fn annotated(logical: &LogicalType, physical: PhysicalType, byte_width: usize) -> Result<Option<Meaning>> {
    use PhysicalType::{ByteArray, FixedLenByteArray, Int32, Int64};
    Ok(Some(match (logical, physical, byte_width) {
        (LogicalType::String | LogicalType::Enum | LogicalType::Json, ByteArray, _) => Meaning::Utf8,
        (LogicalType::Float16, FixedLenByteArray, 2) => Meaning::Float16,
        (LogicalType::Interval, FixedLenByteArray, 12) => Meaning::Interval,
        (LogicalType::Date, Int32, _) => Meaning::Date,
        (&LogicalType::Integer { bit_width: bits @ (8 | 16 | 32), signed }, Int32, _)
        | (&LogicalType::Integer { bit_width: bits @ 64, signed }, Int64, _) => {
            Meaning::Integer { bits, signed, plain: false }
        }
        (&LogicalType::Time { unit: unit @ TimeUnit::Millis, .. }, Int32, _)
        | (&LogicalType::Time { unit: unit @ (TimeUnit::Micros | TimeUnit::Nanos), .. }, Int64, _) => {
            Meaning::Time(unit)
        }
        (&LogicalType::Timestamp { unit, utc }, Int64, _) => Meaning::Timestamp { unit, utc },
        (&LogicalType::Decimal { precision, scale }, Int32 | Int64 | ByteArray | FixedLenByteArray, _) => {
            decimal(precision, scale)?
        }
        _ => return Ok(None),
    }))
}

/// A decimal of any precision that Arrow holds. That its values fit is checked value by value, so a precision too
/// large for the width of the values does no harm.
fn decimal(precision: i32, scale: i32) -> Result<Meaning> {
    if precision < 1 || scale < 0 || scale > precision {
        return Err(Error::malformed(format!("DECIMAL of precision {precision} and scale {scale}")));
    }
    if precision > MAX_PRECISION {
        return Err(Error::unsupported(format!(
            "DECIMAL of precision {precision} (Arrow ends at {MAX_PRECISION}; Binary or FixedSizeBinary as its output \
             type reads the bytes)"
        )));
    }
    let (Ok(precision), Ok(scale)) = (u8::try_from(precision), i8::try_from(scale)) else {
        return Err(Error::malformed(format!("DECIMAL of precision {precision} and scale {scale}")));
    };
    Ok(Meaning::Decimal { precision, scale })
}

/// What the values physically are.
fn unannotated(plain: bool, physical: PhysicalType, byte_width: usize) -> Result<Meaning> {
    Ok(match physical {
        PhysicalType::Boolean => Meaning::Boolean,
        PhysicalType::Int32 => Meaning::Integer { bits: 32, signed: true, plain },
        PhysicalType::Int64 => Meaning::Integer { bits: 64, signed: true, plain },
        PhysicalType::Int96 => Meaning::Int96,
        PhysicalType::Float => Meaning::Float32,
        PhysicalType::Double => Meaning::Float64,
        PhysicalType::ByteArray => Meaning::Binary { plain },
        PhysicalType::FixedLenByteArray => match i32::try_from(byte_width) {
            Ok(width) => Meaning::FixedSizeBinary { width },
            Err(_) => return Err(Error::unsupported(format!("FIXED_LEN_BYTE_ARRAY of {byte_width} bytes"))),
        },
        PhysicalType::Unknown(number) => {
            return Err(Error::unsupported(format!("physical type {number}")));
        }
    })
}

pub(super) fn arrow_unit(unit: TimeUnit) -> ArrowUnit {
    match unit {
        TimeUnit::Millis => ArrowUnit::Millisecond,
        TimeUnit::Micros => ArrowUnit::Microsecond,
        TimeUnit::Nanos => ArrowUnit::Nanosecond,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{fixed, leaf, schema};
    use super::*;
    use crate::metadata::Repetition::Required;
    use LogicalType::*;

    fn meaning(physical: PhysicalType, byte_width: usize, logical: Option<LogicalType>) -> Result<Meaning> {
        let mut element = match physical {
            PhysicalType::FixedLenByteArray => fixed(Required, "x", byte_width),
            _ => leaf(Required, "x", physical),
        };
        element.logical = logical;
        Meaning::of(schema(vec![element]).leaf(0).unwrap())
    }

    #[test]
    fn every_annotation_has_an_arrow_type_where_it_belongs() {
        use PhysicalType::*;
        let utc = Some("UTC".into());
        let table = [
            (Boolean, 0, None, DataType::Boolean),
            (Int32, 0, None, DataType::Int32),
            (Int64, 0, None, DataType::Int64),
            (Int96, 0, None, DataType::Timestamp(ArrowUnit::Nanosecond, None)),
            (Float, 0, None, DataType::Float32),
            (Double, 0, None, DataType::Float64),
            (ByteArray, 0, None, DataType::Binary),
            (FixedLenByteArray, 7, None, DataType::FixedSizeBinary(7)),
            (ByteArray, 0, Some(String), DataType::Utf8),
            (ByteArray, 0, Some(Enum), DataType::Utf8),
            (ByteArray, 0, Some(Json), DataType::Utf8),
            (ByteArray, 0, Some(Bson), DataType::Binary),
            (ByteArray, 0, Some(Geometry { crs: None }), DataType::Binary),
            (ByteArray, 0, Some(Geography { crs: None, algorithm: None }), DataType::Binary),
            (FixedLenByteArray, 16, Some(Uuid), DataType::FixedSizeBinary(16)),
            (FixedLenByteArray, 2, Some(Float16), DataType::Float16),
            (FixedLenByteArray, 12, Some(Interval), DataType::Interval(IntervalUnit::MonthDayNano)),
            (Int32, 0, Some(Date), DataType::Date32),
            (Int32, 0, Some(Integer { bit_width: 8, signed: true }), DataType::Int8),
            (Int32, 0, Some(Integer { bit_width: 16, signed: true }), DataType::Int16),
            (Int32, 0, Some(Integer { bit_width: 32, signed: true }), DataType::Int32),
            (Int64, 0, Some(Integer { bit_width: 64, signed: true }), DataType::Int64),
            (Int32, 0, Some(Integer { bit_width: 8, signed: false }), DataType::UInt8),
            (Int32, 0, Some(Integer { bit_width: 16, signed: false }), DataType::UInt16),
            (Int32, 0, Some(Integer { bit_width: 32, signed: false }), DataType::UInt32),
            (Int64, 0, Some(Integer { bit_width: 64, signed: false }), DataType::UInt64),
            (
                Int32,
                0,
                Some(Time { unit: TimeUnit::Millis, utc: true }),
                DataType::Time32(ArrowUnit::Millisecond),
            ),
            (
                Int64,
                0,
                Some(Time { unit: TimeUnit::Micros, utc: true }),
                DataType::Time64(ArrowUnit::Microsecond),
            ),
            (
                Int64,
                0,
                Some(Time { unit: TimeUnit::Nanos, utc: false }),
                DataType::Time64(ArrowUnit::Nanosecond),
            ),
            (
                Int64,
                0,
                Some(Timestamp { unit: TimeUnit::Millis, utc: false }),
                DataType::Timestamp(ArrowUnit::Millisecond, None),
            ),
            (
                Int64,
                0,
                Some(Timestamp { unit: TimeUnit::Micros, utc: true }),
                DataType::Timestamp(ArrowUnit::Microsecond, utc),
            ),
            (Int32, 0, Some(Decimal { precision: 9, scale: 2 }), DataType::Decimal128(9, 2)),
            (Int64, 0, Some(Decimal { precision: 18, scale: 0 }), DataType::Decimal128(18, 0)),
            (ByteArray, 0, Some(Decimal { precision: 38, scale: 38 }), DataType::Decimal128(38, 38)),
            (FixedLenByteArray, 17, Some(Decimal { precision: 39, scale: 1 }), DataType::Decimal256(39, 1)),
            (ByteArray, 0, Some(Decimal { precision: 76, scale: 1 }), DataType::Decimal256(76, 1)),
            (Int32, 0, Some(LogicalType::Unknown), DataType::Null),
            (Boolean, 0, Some(LogicalType::Unknown), DataType::Null),
            (FixedLenByteArray, 0, Some(LogicalType::Unknown), DataType::Null),
        ];
        for (physical, width, logical, expected) in table {
            let data_type = meaning(physical, width, logical.clone()).unwrap().data_type();
            assert_eq!(data_type, expected, "{physical} {logical:?}");
        }
    }

    #[test]
    fn an_annotation_out_of_place_is_ignored() {
        use PhysicalType::*;
        let table = [
            (FixedLenByteArray, 5, String, DataType::FixedSizeBinary(5)),
            (FixedLenByteArray, 4, Uuid, DataType::FixedSizeBinary(4)),
            (FixedLenByteArray, 3, Float16, DataType::FixedSizeBinary(3)),
            (FixedLenByteArray, 11, Interval, DataType::FixedSizeBinary(11)),
            (FixedLenByteArray, 16, Integer { bit_width: 128, signed: true }, DataType::FixedSizeBinary(16)),
            (ByteArray, 0, Uuid, DataType::Binary),
            (ByteArray, 0, List, DataType::Binary),
            (Int32, 0, String, DataType::Int32),
            (Int32, 0, Integer { bit_width: 64, signed: false }, DataType::Int32),
            (Int64, 0, Integer { bit_width: 32, signed: false }, DataType::Int64),
            (Int64, 0, Date, DataType::Int64),
            (Int64, 0, Time { unit: TimeUnit::Millis, utc: true }, DataType::Int64),
            (Int32, 0, Timestamp { unit: TimeUnit::Millis, utc: true }, DataType::Int32),
            (Double, 0, Decimal { precision: 9, scale: 2 }, DataType::Float64),
            (Double, 0, Float16, DataType::Float64),
        ];
        for (physical, width, logical, expected) in table {
            let data_type = meaning(physical, width, Some(logical.clone())).unwrap().data_type();
            assert_eq!(data_type, expected, "{physical} {logical:?}");
        }
    }

    #[test]
    fn says_what_it_cannot_read() {
        use PhysicalType::*;
        let text = |physical, width, logical| meaning(physical, width, logical).unwrap_err().to_string();
        assert_eq!(text(PhysicalType::Unknown(9), 0, None), "not supported: physical type 9");
        assert_eq!(text(FixedLenByteArray, 0, None), "not supported: FIXED_LEN_BYTE_ARRAY of 0 bytes");
        assert!(text(FixedLenByteArray, 0, Some(Decimal { precision: 5, scale: 2 })).contains("of 0 bytes"));
        assert!(text(ByteArray, 0, Some(Decimal { precision: 77, scale: 2 })).contains("precision 77"));
        for (precision, scale) in [(0, 0), (-1, 0), (5, -1), (5, 6), (i32::MIN, i32::MIN)] {
            let text = text(Int32, 0, Some(Decimal { precision, scale }));
            assert_eq!(text, format!("malformed: DECIMAL of precision {precision} and scale {scale}"));
        }
    }
}
