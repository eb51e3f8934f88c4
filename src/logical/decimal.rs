//! Decimals of BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY: big-endian two's complement of any width (LogicalTypes.md,
//! DECIMAL) to Arrow's natives.
//!
//! ```text
//! width 3, native of 8 bytes:   aa bb cc | dd ee ff 00 11      eight bytes from where the value starts
//!                               -> aabbccddeeff0011 >> 40      an arithmetic shift: the value, its sign extended
//! ```

use super::convert::each;
use super::recipe::BytesKernel;
use crate::arrow::buffer::i256;
use crate::error::{Error, Result};

/// The natives that fit a register, each with the loop of the picture above.
macro_rules! kernel {
    ($name:ident, $native:ty, $data_type:literal) => {
        pub(super) fn $name() -> BytesKernel<$native> {
            const SIZE: usize = size_of::<$native>();

            fn one(bytes: &[u8]) -> Result<$native> {
                match short(bytes) {
                    Some(value) => <$native>::try_from(value).map_err(|_| too_wide(bytes, $data_type)),
                    None => sign_extend(bytes, $data_type).map(<$native>::from_be_bytes),
                }
            }

            fn bulk(data: &[u8], width: usize, out: &mut Vec<$native>) -> Result<()> {
                if !(1..=SIZE).contains(&width) {
                    return each(data, width, out, one);
                }
                if width == SIZE {
                    out.extend(data.as_chunks().0.iter().map(|bytes| <$native>::from_be_bytes(*bytes)));
                    return Ok(());
                }
                let shift = 8 * (SIZE - width);
                let before = out.len();
                out.extend(data.windows(SIZE).step_by(width).map(|window| {
                    window.first_chunk().map_or(0, |bytes| <$native>::from_be_bytes(*bytes)) >> shift
                }));
                // The last values have no SIZE bytes behind their start.
                let done = width * (out.len() - before);
                each(data.get(done..).unwrap_or_default(), width, out, one)
            }

            BytesKernel { one, bulk }
        }
    };
}

kernel!(to_32, i32, "Decimal32");
kernel!(to_64, i64, "Decimal64");
kernel!(to_128, i128, "Decimal128");

pub(super) fn to_256() -> BytesKernel<i256> {
    fn one(bytes: &[u8]) -> Result<i256> {
        match short(bytes) {
            Some(value) => Ok(i256::from_i128(value)),
            None => sign_extend(bytes, "Decimal256").map(i256::from_be_bytes),
        }
    }

    fn bulk(data: &[u8], width: usize, out: &mut Vec<i256>) -> Result<()> {
        if !(16..=32).contains(&width) {
            return each(data, width, out, one);
        }
        let shift = 8 * (32 - width);
        out.extend(data.chunks_exact(width).map(|value| {
            // Both are there: `value` has 16 bytes or more. Its first 16 hold the high half, and more than that.
            let high = value.first_chunk().map_or(0, |bytes| i128::from_be_bytes(*bytes));
            let low = value.last_chunk().map_or(0, |bytes| u128::from_be_bytes(*bytes));
            let high = if shift == 128 { high >> 127 } else { high >> shift };
            i256::from_parts(low, high)
        }));
        Ok(())
    }

    BytesKernel { one, bulk }
}

/// A number of up to 16 bytes; no bytes at all are zero, as other readers have it.
///
/// Its first and its last bytes are one load each. Where the two overlap they hold the same bits.
fn short(bytes: &[u8]) -> Option<i128> {
    let len = bytes.len();
    let magnitude = match (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        (Some(first), Some(last)) if len <= 16 => {
            u128::from(u64::from_be_bytes(*first)) << (8 * (len - 8)) | u128::from(u64::from_be_bytes(*last))
        }
        (Some(_), _) => return None,
        _ => match (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
            (Some(first), Some(last)) => {
                let first = u64::from(u32::from_be_bytes(*first)) << (8 * (len - 4));
                u128::from(first | u64::from(u32::from_be_bytes(*last)))
            }
            _ if len == 0 => return Some(0),
            _ => bytes.iter().fold(0, |value, &byte| value << 8 | u128::from(byte)),
        },
    };
    let unused = 128 - 8 * len;
    Some((magnitude << unused).cast_signed() >> unused)
}

/// More than 16 `bytes` as a big-endian number of `N` bytes.
///
/// # Errors
/// When there are more bytes than that, and they are not all copies of the sign.
fn sign_extend<const N: usize>(bytes: &[u8], data_type: &str) -> Result<[u8; N]> {
    let negative = bytes.first().is_some_and(|&byte| byte >= 0x80);
    let sign = if negative { 0xff } else { 0 };
    let Some((excess, low)) = bytes.split_last_chunk::<N>() else {
        let mut native = [sign; N];
        let (_, low) = native.split_at_mut(N - bytes.len());
        low.copy_from_slice(bytes);
        return Ok(native);
    };
    let same_sign = low.first().is_some_and(|&byte| (byte >= 0x80) == negative);
    if !same_sign || excess.iter().any(|&byte| byte != sign) {
        return Err(too_wide(bytes, data_type));
    }
    Ok(*low)
}

fn too_wide(bytes: &[u8], data_type: &str) -> Error {
    Error::out_of_range(hex(bytes), data_type)
}

/// The first bytes of a number, for an error.
fn hex(bytes: &[u8]) -> String {
    const SHOWN: usize = 40;
    let mut text = String::from("0x");
    text.extend(bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")));
    if bytes.len() > SHOWN {
        text.push_str(&format!("… ({} bytes)", bytes.len()));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `value` as `width` big-endian bytes, however wide.
    fn bytes(value: i128, width: usize) -> Vec<u8> {
        let sign = if value < 0 { 0xff } else { 0 };
        let mut bytes = vec![sign; width.max(16)];
        let start = bytes.len() - 16;
        bytes[start..].copy_from_slice(&value.to_be_bytes());
        bytes.split_off(bytes.len() - width)
    }

    /// Values that fit `width` bytes and `native` bits: extremes, and some between.
    fn values(width: usize, native: u32) -> Vec<i128> {
        let bits = native.min(8 * u32::try_from(width).unwrap());
        let (min, max) = (i128::MIN >> (128 - bits), i128::MAX >> (128 - bits));
        let mut values = vec![min, max, 0, -1, 1, min + 1, max - 1];
        values.extend((0..40).map(|i| (0x0123_4567_89ab_cdef_1122_3344_5566_7788_i128 << i) >> (128 - bits)));
        values
    }

    macro_rules! reads_any_width {
        ($kernel:expr, $native:expr, $from:expr) => {
            for width in 1..=40 {
                let values = values(width, $native);
                for count in 0..values.len() {
                    let data: Vec<u8> = values[..count].iter().flat_map(|&v| bytes(v, width)).collect();
                    let expected: Vec<_> = values[..count].iter().map(|&v| $from(v)).collect();
                    let mut out = Vec::new();
                    ($kernel.bulk)(&data, width, &mut out).unwrap();
                    assert_eq!(out, expected, "{width} bytes a value");
                    let one: Vec<_> = data.chunks(width).map(|v| ($kernel.one)(v).unwrap()).collect();
                    assert_eq!(one, expected, "{width} bytes a value");
                }
            }
        };
    }

    #[test]
    fn reads_any_width_into_any_native() {
        reads_any_width!(to_32(), 32, |v| i32::try_from(v).unwrap());
        reads_any_width!(to_64(), 64, |v| i64::try_from(v).unwrap());
        reads_any_width!(to_128(), 128, |v| v);
        reads_any_width!(to_256(), 128, i256::from_i128);
    }

    #[test]
    fn reads_256_bits() {
        let mut low = [0xff; 32];
        low[0] = 0x80;
        let expected = i256::from_be_bytes(low);
        assert_eq!((to_256().one)(&low).unwrap(), expected);
        for width in 32..40 {
            let mut data = vec![0xff; width];
            data[width - 32] = 0x80;
            let mut out = Vec::new();
            (to_256().bulk)(&data, width, &mut out).unwrap();
            assert_eq!(out, [expected]);
        }
        let mut out = Vec::new();
        (to_256().bulk)(&[0x7f; 20], 20, &mut out).unwrap();
        assert_eq!(out, [(to_256().one)(&[0x7f; 20]).unwrap()]);
        assert_eq!(out[0].to_string(), "727885129180488904360266563744972327436484050815");
    }

    #[test]
    fn refuses_what_is_wider_than_the_native() {
        let mut wide = vec![0; 17];
        wide[0] = 1;
        let error = (to_128().one)(&wide).unwrap_err();
        assert_eq!(error.to_string(), "0x0100000000000000000000000000000000 does not fit Decimal128");
        // A positive number whose low half looks negative, and the other way round.
        assert!((to_32().one)(&[0, 0x80, 0, 0, 0]).is_err());
        assert!((to_32().one)(&[0xff, 0x7f, 0, 0, 0]).is_err());
        let mut out = vec![9];
        let data = [bytes(1, 5), bytes(1 << 32, 5)].concat();
        assert!((to_32().bulk)(&data, 5, &mut out).is_err());
        assert_eq!(out, [9]);
    }

    #[test]
    fn no_bytes_are_zero() {
        assert_eq!((to_64().one)(&[]).unwrap(), 0);
        let mut out = Vec::new();
        (to_128().bulk)(&[], 0, &mut out).unwrap();
        assert!(out.is_empty());
    }
}
