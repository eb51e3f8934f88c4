//! What a schema element says of its meaning: `LogicalType`, or the older `ConvertedType`, folded into one.

use super::{EdgeInterpolation, LogicalType, TimeUnit};
use crate::error::Result;
use crate::thrift::{Field, Reader, StructWriter, Wire};

/// Reads the union `LogicalType`. `None` where it is a member that this crate does not know, or one that lacks what
/// it needs: the converted type then decides (LogicalTypes.md, "Backward compatibility").
pub(super) fn read_logical(reader: &mut Reader<'_>, field: Field) -> Result<Option<LogicalType>> {
    let mut logical = None;
    reader.struct_field(field, |r, member| {
        let found = read_member(r, member)?;
        logical = logical.take().or(found);
        Ok(())
    })?;
    Ok(logical)
}

fn read_member(r: &mut Reader<'_>, member: Field) -> Result<Option<LogicalType>> {
    let plain = match member.id {
        1 => LogicalType::String,
        2 => LogicalType::Map,
        3 => LogicalType::List,
        4 => LogicalType::Enum,
        6 => LogicalType::Date,
        11 => LogicalType::Unknown,
        12 => LogicalType::Json,
        13 => LogicalType::Bson,
        14 => LogicalType::Uuid,
        15 => LogicalType::Float16,
        5 => return read_decimal(r, member),
        7 | 8 => return read_time(r, member),
        10 => return read_integer(r, member),
        16 => return read_variant(r, member),
        17 => return read_geometry(r, member),
        18 => return read_geography(r, member),
        _ => return r.skip(member).map(|()| None),
    };
    r.skip(member)?;
    Ok((member.wire == Wire::Struct).then_some(plain))
}

fn read_decimal(r: &mut Reader<'_>, member: Field) -> Result<Option<LogicalType>> {
    let (mut scale, mut precision) = (None, None);
    r.struct_field(member, |r, field| {
        match field.id {
            1 => scale = r.i32(field)?,
            2 => precision = r.i32(field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(scale.zip(precision).map(|(scale, precision)| LogicalType::Decimal { precision, scale }))
}

fn read_time(r: &mut Reader<'_>, member: Field) -> Result<Option<LogicalType>> {
    let (mut utc, mut unit) = (None, None);
    r.struct_field(member, |r, field| {
        match field.id {
            1 => utc = r.bool(field)?,
            2 => unit = read_unit(r, field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(unit.zip(utc).map(|(unit, utc)| match member.id {
        7 => LogicalType::Time { unit, utc },
        _ => LogicalType::Timestamp { unit, utc },
    }))
}

fn read_unit(r: &mut Reader<'_>, field: Field) -> Result<Option<TimeUnit>> {
    let mut unit = None;
    r.struct_field(field, |r, member| {
        unit = match member.id {
            1 => Some(TimeUnit::Millis),
            2 => Some(TimeUnit::Micros),
            3 => Some(TimeUnit::Nanos),
            _ => unit,
        };
        r.skip(member)
    })?;
    Ok(unit)
}

fn read_integer(r: &mut Reader<'_>, member: Field) -> Result<Option<LogicalType>> {
    let (mut bit_width, mut signed) = (None, None);
    r.struct_field(member, |r, field| {
        match field.id {
            1 => bit_width = r.i8(field)?,
            2 => signed = r.bool(field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    let bit_width = bit_width.map(i8::cast_unsigned).filter(|width| matches!(width, 8 | 16 | 32 | 64));
    Ok(bit_width.zip(signed).map(|(bit_width, signed)| LogicalType::Integer { bit_width, signed }))
}

fn read_variant(r: &mut Reader<'_>, member: Field) -> Result<Option<LogicalType>> {
    let mut specification_version = None;
    let found = r.struct_field(member, |r, field| {
        match field.id {
            1 => specification_version = r.i8(field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(found.then_some(LogicalType::Variant { specification_version }))
}

fn read_geometry(r: &mut Reader<'_>, member: Field) -> Result<Option<LogicalType>> {
    let mut crs = None;
    let found = r.struct_field(member, |r, field| {
        match field.id {
            1 => crs = r.string(field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(found.then_some(LogicalType::Geometry { crs }))
}

/// An algorithm that this crate does not know makes the whole annotation unknown: it is not the default one.
fn read_geography(r: &mut Reader<'_>, member: Field) -> Result<Option<LogicalType>> {
    let (mut crs, mut algorithm) = (None, None);
    let found = r.struct_field(member, |r, field| {
        match field.id {
            1 => crs = r.string(field)?,
            2 => algorithm = r.i32(field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    let algorithm = match algorithm {
        None => None,
        Some(0) => Some(EdgeInterpolation::Spherical),
        Some(1) => Some(EdgeInterpolation::Vincenty),
        Some(2) => Some(EdgeInterpolation::Thomas),
        Some(3) => Some(EdgeInterpolation::Andoyer),
        Some(4) => Some(EdgeInterpolation::Karney),
        Some(_) => return Ok(None),
    };
    Ok(found.then_some(LogicalType::Geography { crs, algorithm }))
}

/// The logical type that `ConvertedType` number `converted` stands for. MAP_KEY_VALUE is the exception: it is a
/// [`LogicalType::Map`] only where no MAP encloses it (`in_map`), else it says nothing.
pub(super) fn from_converted(
    converted: i32,
    precision: Option<i32>,
    scale: Option<i32>,
    in_map: bool,
) -> Option<LogicalType> {
    let integer = |bit_width, signed| LogicalType::Integer { bit_width, signed };
    Some(match converted {
        0 => LogicalType::String,
        1 => LogicalType::Map,
        2 if !in_map => LogicalType::Map,
        3 => LogicalType::List,
        4 => LogicalType::Enum,
        // A precision of 0 is not legal; whoever makes an Arrow type of it says so.
        5 => LogicalType::Decimal { precision: precision.unwrap_or(0), scale: scale.unwrap_or(0) },
        6 => LogicalType::Date,
        7 => LogicalType::Time { unit: TimeUnit::Millis, utc: true },
        8 => LogicalType::Time { unit: TimeUnit::Micros, utc: true },
        9 => LogicalType::Timestamp { unit: TimeUnit::Millis, utc: true },
        10 => LogicalType::Timestamp { unit: TimeUnit::Micros, utc: true },
        11 => integer(8, false),
        12 => integer(16, false),
        13 => integer(32, false),
        14 => integer(64, false),
        15 => integer(8, true),
        16 => integer(16, true),
        17 => integer(32, true),
        18 => integer(64, true),
        19 => LogicalType::Json,
        20 => LogicalType::Bson,
        21 => LogicalType::Interval,
        _ => return None,
    })
}

/// The `ConvertedType` to write beside `logical` for older readers, where there is one. Local times get it too, as
/// LogicalTypes.md asks.
pub(super) fn to_converted(logical: &LogicalType) -> Option<i32> {
    use TimeUnit::{Micros, Millis};
    Some(match logical {
        LogicalType::String => 0,
        LogicalType::Map => 1,
        LogicalType::List => 3,
        LogicalType::Enum => 4,
        LogicalType::Decimal { .. } => 5,
        LogicalType::Date => 6,
        LogicalType::Time { unit: Millis, .. } => 7,
        LogicalType::Time { unit: Micros, .. } => 8,
        LogicalType::Timestamp { unit: Millis, .. } => 9,
        LogicalType::Timestamp { unit: Micros, .. } => 10,
        LogicalType::Integer { bit_width: 8, signed } => 11 + 4 * i32::from(*signed),
        LogicalType::Integer { bit_width: 16, signed } => 12 + 4 * i32::from(*signed),
        LogicalType::Integer { bit_width: 32, signed } => 13 + 4 * i32::from(*signed),
        LogicalType::Integer { bit_width: 64, signed } => 14 + 4 * i32::from(*signed),
        LogicalType::Json => 19,
        LogicalType::Bson => 20,
        LogicalType::Interval => 21,
        _ => return None,
    })
}

/// Writes the union `LogicalType` as field `id`; INTERVAL has none, its converted type says it all.
pub(super) fn write_logical(s: &mut StructWriter<'_>, id: i16, logical: &LogicalType) {
    let member = match logical {
        LogicalType::Interval => return,
        LogicalType::String => 1,
        LogicalType::Map => 2,
        LogicalType::List => 3,
        LogicalType::Enum => 4,
        LogicalType::Decimal { .. } => 5,
        LogicalType::Date => 6,
        LogicalType::Time { .. } => 7,
        LogicalType::Timestamp { .. } => 8,
        LogicalType::Integer { .. } => 10,
        LogicalType::Unknown => 11,
        LogicalType::Json => 12,
        LogicalType::Bson => 13,
        LogicalType::Uuid => 14,
        LogicalType::Float16 => 15,
        LogicalType::Variant { .. } => 16,
        LogicalType::Geometry { .. } => 17,
        LogicalType::Geography { .. } => 18,
    };
    s.structure(id, |s| s.structure(member, |s| write_parameters(s, logical)));
}

fn write_parameters(s: &mut StructWriter<'_>, logical: &LogicalType) {
    match logical {
        LogicalType::Decimal { precision, scale } => {
            s.i32(1, *scale);
            s.i32(2, *precision);
        }
        LogicalType::Time { unit, utc } | LogicalType::Timestamp { unit, utc } => {
            let member = match unit {
                TimeUnit::Millis => 1,
                TimeUnit::Micros => 2,
                TimeUnit::Nanos => 3,
            };
            s.bool(1, *utc);
            s.structure(2, |s| s.structure(member, |_| {}));
        }
        LogicalType::Integer { bit_width, signed } => {
            s.i8(1, bit_width.cast_signed());
            s.bool(2, *signed);
        }
        LogicalType::Variant { specification_version: Some(version) } => s.i8(1, *version),
        LogicalType::Geometry { crs } => write_crs(s, crs.as_deref()),
        LogicalType::Geography { crs, algorithm } => {
            write_crs(s, crs.as_deref());
            if let Some(algorithm) = algorithm {
                s.i32(2, *algorithm as i32);
            }
        }
        _ => {}
    }
}

fn write_crs(s: &mut StructWriter<'_>, crs: Option<&str>) {
    if let Some(crs) = crs {
        s.binary(1, crs.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thrift::write_struct;

    fn read(bytes: &[u8]) -> Option<LogicalType> {
        let mut logical = None;
        let mut reader = Reader::new(bytes);
        reader.structure(|r, field| read_logical(r, field).map(|found| logical = found)).unwrap();
        assert_eq!(reader.position(), bytes.len());
        logical
    }

    fn union(id: i16, parameters: impl FnOnce(&mut StructWriter<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        write_struct(&mut out, |s| s.structure(10, |s| s.structure(id, parameters)));
        out
    }

    #[test]
    fn reads_what_it_writes() {
        let (unit, utc) = (TimeUnit::Nanos, false);
        let all = [
            LogicalType::String,
            LogicalType::Map,
            LogicalType::List,
            LogicalType::Enum,
            LogicalType::Decimal { precision: 9, scale: 2 },
            LogicalType::Date,
            LogicalType::Time { unit, utc },
            LogicalType::Timestamp { unit: TimeUnit::Millis, utc: true },
            LogicalType::Integer { bit_width: 8, signed: false },
            LogicalType::Unknown,
            LogicalType::Json,
            LogicalType::Bson,
            LogicalType::Uuid,
            LogicalType::Float16,
            LogicalType::Variant { specification_version: Some(1) },
            LogicalType::Geometry { crs: Some("OGC:CRS84".into()) },
            LogicalType::Geography { crs: None, algorithm: Some(EdgeInterpolation::Karney) },
        ];
        for logical in all {
            let mut out = Vec::new();
            write_struct(&mut out, |s| write_logical(s, 10, &logical));
            assert_eq!(read(&out), Some(logical));
        }
    }

    #[test]
    fn converted_types_go_there_and_back() {
        for number in 0..=21 {
            let logical = from_converted(number, Some(9), Some(2), false).unwrap();
            let back = if number == 2 { 1 } else { number };
            assert_eq!(to_converted(&logical), Some(back));
        }
        assert_eq!(from_converted(2, None, None, true), None);
        assert_eq!(from_converted(22, None, None, false), None);
        assert_eq!(from_converted(-1, None, None, false), None);
    }

    #[test]
    fn what_is_unknown_or_lacks_a_part_is_nothing() {
        assert_eq!(read(&union(19, |_| {})), None);
        assert_eq!(read(&union(9, |_| {})), None);
        assert_eq!(read(&union(5, |s| s.i32(1, 2))), None);
        assert_eq!(read(&union(8, |s| s.bool(1, true))), None);
        assert_eq!(read(&union(18, |s| s.i32(2, 5))), None);
        let unknown_unit = union(8, |s| {
            s.bool(1, true);
            s.structure(2, |s| s.structure(4, |_| {}));
        });
        assert_eq!(read(&unknown_unit), None);
        for bit_width in [0, 1, 65, -128] {
            let integer = union(10, |s| {
                s.i8(1, bit_width);
                s.bool(2, true);
            });
            assert_eq!(read(&integer), None);
        }
        let mut not_a_struct = Vec::new();
        write_struct(&mut not_a_struct, |s| s.structure(10, |s| s.i32(1, 5)));
        assert_eq!(read(&not_a_struct), None);
    }
}
