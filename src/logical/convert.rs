//! Conversions of integers and floats.
//!
//! Each is two simple loops that vectorise: whether all values fit (a fold, no branch a value), then the change of
//! width. Natives are signed by width; a UInt8 lies in its i8 as the same bits.

// Casts in here follow a check that the value fits, or keep the bits on purpose.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

use std::fmt::Display;

use super::recipe::BytesKernel;
use crate::error::{Error, Result};

/// Appends `convert` of each value, if each `fits`; else the error names the first (as `shown`) that does not.
#[inline(always)]
pub(super) fn checked<P: Copy, N, D: Display>(
    values: &[P],
    out: &mut Vec<N>,
    fits: impl Fn(P) -> bool,
    convert: impl Fn(P) -> N,
    shown: impl Fn(P) -> D,
    data_type: &str,
) -> Result<()> {
    if !values.iter().fold(true, |all, &value| all & fits(value)) {
        let first = values.iter().find(|&&value| !fits(value));
        return Err(Error::out_of_range(first.map_or(String::new(), |&v| shown(v).to_string()), data_type));
    }
    out.extend(values.iter().map(|&value| convert(value)));
    Ok(())
}

/// A conversion of every value, none of which can fail.
macro_rules! always {
    ($variant:ident, $convert:expr) => {
        Conversion::$variant(|values, out| {
            out.extend(values.iter().map(|&value| $convert(value)));
            Ok(())
        })
    };
}

/// A conversion to the integer type `$target`, held as `$carrier`, of values that are read as `$source`.
macro_rules! integer {
    ($variant:ident, $source:ty => $target:ty as $carrier:ty, $name:literal) => {
        Conversion::$variant(|values, out| {
            checked(
                values,
                out,
                |value| <$target>::try_from(value as $source).is_ok(),
                |value| value as $source as $target as $carrier,
                |value| value as $source,
                $name,
            )
        })
    };
}

/// The integer types that values of `$source` become; `$same` needs no conversion.
macro_rules! integers {
    ($source:ty, $data_type:expr, $same:ident) => {
        match $data_type {
            same if *same == DataType::$same => Some(Conversion::Same),
            DataType::Int8 => Some(integer!(To8, $source => i8 as i8, "Int8")),
            DataType::Int16 => Some(integer!(To16, $source => i16 as i16, "Int16")),
            DataType::Int32 => Some(integer!(To32, $source => i32 as i32, "Int32")),
            DataType::Int64 => Some(integer!(To64, $source => i64 as i64, "Int64")),
            DataType::UInt8 => Some(integer!(To8, $source => u8 as i8, "UInt8")),
            DataType::UInt16 => Some(integer!(To16, $source => u16 as i16, "UInt16")),
            DataType::UInt32 => Some(integer!(To32, $source => u32 as i32, "UInt32")),
            DataType::UInt64 => Some(integer!(To64, $source => u64 as i64, "UInt64")),
            _ => None,
        }
    };
}

pub(super) mod int32 {
    use super::super::recipe::Conversion;
    use super::checked;
    use crate::arrow::buffer::i256;
    use crate::arrow::schema::DataType;

    pub(in super::super) fn signed(data_type: &DataType) -> Option<Conversion<i32>> {
        match data_type {
            DataType::Float64 => Some(always!(To64, |value: i32| f64::from(value).to_bits() as i64)),
            other => integers!(i32, other, Int32),
        }
    }

    pub(in super::super) fn unsigned(data_type: &DataType) -> Option<Conversion<i32>> {
        match data_type {
            DataType::Float64 => Some(always!(To64, |value: i32| f64::from(value as u32).to_bits() as i64)),
            other => integers!(u32, other, UInt32),
        }
    }

    pub(in super::super) fn widen_64() -> Conversion<i32> {
        always!(To64, i64::from)
    }

    pub(in super::super) fn widen_128() -> Conversion<i32> {
        always!(To128, i128::from)
    }

    pub(in super::super) fn widen_256() -> Conversion<i32> {
        always!(To256, |value| i256::from_i128(i128::from(value)))
    }
}

pub(super) mod int64 {
    use super::super::recipe::Conversion;
    use super::checked;
    use crate::arrow::buffer::i256;
    use crate::arrow::schema::DataType;

    pub(in super::super) fn signed(data_type: &DataType) -> Option<Conversion<i64>> {
        integers!(i64, data_type, Int64)
    }

    pub(in super::super) fn unsigned(data_type: &DataType) -> Option<Conversion<i64>> {
        integers!(u64, data_type, UInt64)
    }

    pub(in super::super) fn narrow_decimal() -> Conversion<i64> {
        integer!(To32, i64 => i32 as i32, "Decimal32")
    }

    pub(in super::super) fn widen_128() -> Conversion<i64> {
        always!(To128, i128::from)
    }

    pub(in super::super) fn widen_256() -> Conversion<i64> {
        always!(To256, |value| i256::from_i128(i128::from(value)))
    }
}

pub(super) mod float32 {
    use super::super::recipe::Conversion;

    pub(in super::super) fn to_float64() -> Conversion<f32> {
        always!(To64, |value| f64::from(value).to_bits() as i64)
    }
}

/// Two bytes, little-endian: an IEEE half as it is (LogicalTypes.md, FLOAT16).
pub(super) fn float16() -> BytesKernel<i16> {
    BytesKernel {
        one: |bytes| match bytes {
            &[low, high] => Ok(i16::from_le_bytes([low, high])),
            _ => Err(Error::malformed(format!("FLOAT16 of {} bytes", bytes.len()))),
        },
        bulk: |data, width, out| match data.as_chunks() {
            (values, []) if width == 2 => {
                out.extend(values.iter().map(|&value| i16::from_le_bytes(value)));
                Ok(())
            }
            _ => Err(Error::malformed(format!("FLOAT16 of {width} bytes"))),
        },
    }
}

/// Appends `one` of each `width` bytes of `data`, or nothing where one fails.
pub(super) fn each<N>(
    data: &[u8],
    width: usize,
    out: &mut Vec<N>,
    one: impl Fn(&[u8]) -> Result<N>,
) -> Result<()> {
    let before = out.len();
    let count = data.len().checked_div(width).unwrap_or(0);
    out.reserve(count);
    for value in data.chunks_exact(width.max(1)) {
        match one(value) {
            Ok(value) => out.push(value),
            Err(error) => {
                out.truncate(before);
                return Err(error);
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::recipe::Conversion;
    use super::*;
    use crate::arrow::schema::DataType;

    /// Every integer type that `conversion` knows, as 64-bit values or the error's text.
    macro_rules! run {
        ($conversion:expr, $values:expr) => {{
            fn widen<N: Into<i64>>(result: Result<()>, out: Vec<N>) -> Result<Vec<i64>, String> {
                result.map(|()| out.into_iter().map(Into::into).collect()).map_err(|e| e.to_string())
            }
            match $conversion.unwrap() {
                Conversion::Same => Ok($values.iter().map(|&v| i64::from(v)).collect()),
                Conversion::To8(f) => {
                    let mut out = Vec::new();
                    widen(f($values, &mut out), out)
                }
                Conversion::To16(f) => {
                    let mut out = Vec::new();
                    widen(f($values, &mut out), out)
                }
                Conversion::To32(f) => {
                    let mut out = Vec::new();
                    widen(f($values, &mut out), out)
                }
                Conversion::To64(f) => {
                    let mut out = Vec::new();
                    widen(f($values, &mut out), out)
                }
                _ => panic!("wider than an integer"),
            }
        }};
    }

    #[test]
    fn narrows_what_fits_and_names_what_does_not() {
        let fits = [-128, 0, 127];
        assert_eq!(run!(int32::signed(&DataType::Int8), &fits), Ok(vec![-128, 0, 127]));
        for (data_type, value) in [(DataType::Int8, 128), (DataType::Int8, -129), (DataType::UInt8, -1)] {
            let error = run!(int32::signed(&data_type), &[1, value, 2]).unwrap_err();
            assert_eq!(error, format!("{value} does not fit {data_type}"));
        }
        assert_eq!(
            run!(int64::signed(&DataType::Int32), &[i64::from(i32::MIN)]),
            Ok(vec![i64::from(i32::MIN)])
        );
        assert!(run!(int64::signed(&DataType::Int32), &[1 << 31]).is_err());
    }

    #[test]
    fn reads_unsigned_values_from_signed_bits() {
        // Native carriers are signed: 255 in an i8 is -1.
        assert_eq!(run!(int32::unsigned(&DataType::UInt8), &[255]), Ok(vec![-1]));
        assert_eq!(run!(int32::unsigned(&DataType::UInt32), &[-1]), Ok(vec![-1]));
        assert_eq!(run!(int32::unsigned(&DataType::UInt64), &[-1]), Ok(vec![0xffff_ffff]));
        assert_eq!(run!(int32::unsigned(&DataType::Int64), &[-1]), Ok(vec![0xffff_ffff]));
        let error = run!(int32::unsigned(&DataType::Int32), &[-1]).unwrap_err();
        assert_eq!(error, "4294967295 does not fit Int32");
        let error = run!(int64::unsigned(&DataType::Int64), &[-1]).unwrap_err();
        assert_eq!(error, "18446744073709551615 does not fit Int64");
    }

    #[test]
    fn appends_nothing_where_a_value_does_not_fit() {
        let Some(Conversion::To8(f)) = int32::signed(&DataType::Int8) else { panic!() };
        let mut out = vec![7];
        assert!(f(&[1, 2, 300], &mut out).is_err());
        assert_eq!(out, [7]);
        f(&[1, 2], &mut out).unwrap();
        assert_eq!(out, [7, 1, 2]);
    }

    #[test]
    fn widens_floats_and_integers_to_doubles() {
        let Conversion::To64(f) = float32::to_float64() else { panic!() };
        let mut out = Vec::new();
        f(&[1.5, f32::NEG_INFINITY, -0.0], &mut out).unwrap();
        assert_eq!(
            out.iter().map(|&bits| f64::from_bits(bits as u64)).collect::<Vec<_>>(),
            [1.5, f64::NEG_INFINITY, -0.0]
        );
        let Some(Conversion::To64(f)) = int32::unsigned(&DataType::Float64) else { panic!() };
        let mut out = Vec::new();
        f(&[-1], &mut out).unwrap();
        assert_eq!(f64::from_bits(out[0] as u64), 4_294_967_295.0);
    }

    #[test]
    fn halves_are_two_bytes() {
        let half = float16();
        assert_eq!((half.one)(&[0x01, 0x3c]).unwrap(), 0x3c01);
        assert!((half.one)(&[0]).is_err());
        let mut out = Vec::new();
        (half.bulk)(&[0x01, 0x3c, 0x00, 0x80], 2, &mut out).unwrap();
        assert_eq!(out, [0x3c01, i16::MIN]);
        assert!((half.bulk)(&[0; 3], 2, &mut out).is_err());
        assert!((half.bulk)(&[0; 4], 1, &mut out).is_err());
    }
}
