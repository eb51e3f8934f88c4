//! Arrow values that become FIXED_LEN_BYTE_ARRAY: decimals, intervals and FLOAT16 (LogicalTypes.md).
//!
//! Takes native values, gives their bytes end to end.

use std::fmt::Display;

use super::gather::{Pick, past_end};
use super::schema::stored;
use crate::arrow::buffer::{ArrowNativeType, i256};
use crate::arrow::data::ArrayData;
use crate::arrow::schema::{DataType, IntervalUnit};
use crate::error::{Error, Result};

/// Appends the bytes of the values at `pick`, `width` each.
///
/// # Errors
/// When one does not fit that width, or its type's format.
pub(super) type Bytes = fn(data: &ArrayData, pick: Pick<'_>, width: usize, out: &mut Vec<u8>) -> Result<()>;

/// How values of that Arrow type become bytes; `None` for types whose values are bytes already.
pub(super) fn conversion(data_type: &DataType) -> Option<Bytes> {
    Some(match stored(data_type) {
        DataType::Float16 => |data, pick, _, out| each(data, pick, out, |half: u16| Ok(half.to_le_bytes())),
        DataType::Decimal32(..) => {
            |data, pick, width, out| decimal::<i32, 4>(data, pick, width, out, i32::to_be_bytes)
        }
        DataType::Decimal64(..) => {
            |data, pick, width, out| decimal::<i64, 8>(data, pick, width, out, i64::to_be_bytes)
        }
        DataType::Decimal128(..) => {
            |data, pick, width, out| decimal::<i128, 16>(data, pick, width, out, i128::to_be_bytes)
        }
        DataType::Decimal256(..) => {
            |data, pick, width, out| decimal::<i256, 32>(data, pick, width, out, i256::to_be_bytes)
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            |data, pick, _, out| each(data, pick, out, |months: u32| Ok(interval([months, 0, 0])))
        }
        DataType::Interval(IntervalUnit::DayTime) => |data, pick, _, out| {
            each(data, pick, out, |value: u64| Ok(interval([0, low(value), high(value)])))
        },
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            |data, pick, _, out| each(data, pick, out, |value: i128| month_day_nano(value).map(interval))
        }
        _ => return None,
    })
}

/// The bytes of each value that `convert` gives.
fn each<N: ArrowNativeType, const W: usize>(
    data: &ArrayData,
    pick: Pick<'_>,
    out: &mut Vec<u8>,
    convert: impl Fn(N) -> Result<[u8; W]>,
) -> Result<()> {
    let values = data.buffer::<N>(0);
    out.reserve(pick.len() * W);
    match pick {
        Pick::Runs(runs) => {
            for run in runs {
                for &value in values.get(run.clone()).ok_or_else(|| past_end(data))? {
                    out.extend_from_slice(&convert(value)?);
                }
            }
        }
        Pick::Keys(keys) => {
            for &key in keys {
                let value = values.get(key as usize).ok_or_else(|| past_end(data))?;
                out.extend_from_slice(&convert(*value)?);
            }
        }
    }
    Ok(())
}

/// The low `width` of `N` big-endian bytes, those before them checked to be the sign; wider ones are filled up with it.
fn decimal<T: ArrowNativeType + Display, const N: usize>(
    data: &ArrayData,
    pick: Pick<'_>,
    width: usize,
    out: &mut Vec<u8>,
    to_be_bytes: fn(T) -> [u8; N],
) -> Result<()> {
    if width == N {
        return each(data, pick, out, |value| Ok(to_be_bytes(value)));
    }
    let mut whole = Vec::new();
    each(data, pick, &mut whole, |value| Ok(to_be_bytes(value)))?;
    out.reserve(pick.len() * width);
    for bytes in whole.as_chunks::<N>().0 {
        let sign = |byte: u8| if byte & 0x80 == 0 { 0 } else { 0xff };
        match N.checked_sub(width) {
            Some(excess) => {
                let (above, low) = bytes.split_at(excess);
                let sign = low.first().map_or(0, |&first| sign(first));
                if above.iter().any(|&byte| byte != sign) {
                    return Err(too_wide(bytes, width, data.data_type()));
                }
                out.extend_from_slice(low);
            }
            None => {
                out.resize(out.len() + width - N, bytes.first().map_or(0, |&first| sign(first)));
                out.extend_from_slice(bytes);
            }
        }
    }
    Ok(())
}

fn too_wide(bytes: &[u8], width: usize, data_type: &DataType) -> Error {
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Error::out_of_range(format!("the decimal 0x{hex}"), format!("the {width} bytes of {data_type}"))
}

fn interval(parts: [u32; 3]) -> [u8; 12] {
    let [[a, b, c, d], [e, f, g, h], [i, j, k, l]] = parts.map(u32::to_le_bytes);
    [a, b, c, d, e, f, g, h, i, j, k, l]
}

#[allow(clippy::cast_possible_truncation)] // the low half
fn low(value: u64) -> u32 {
    value as u32
}

#[allow(clippy::cast_possible_truncation)] // the high half
fn high(value: u64) -> u32 {
    (value >> 32) as u32
}

/// Months, days and milliseconds, all unsigned, of months in the low 32 bits, then days, then 64 bits of nanoseconds.
#[allow(clippy::cast_possible_truncation)] // the parts
fn month_day_nano(value: i128) -> Result<[u32; 3]> {
    let (months, days, nanos) = (value as i32, (value >> 32) as i32, (value >> 64) as i64);
    let millis = u32::try_from(nanos / 1_000_000).ok().filter(|_| nanos % 1_000_000 == 0);
    match (u32::try_from(months), u32::try_from(days), millis) {
        (Ok(months), Ok(days), Some(millis)) => Ok([months, days, millis]),
        _ => {
            let text = format!("an interval of {months} months, {days} days and {nanos} nanoseconds");
            Err(Error::out_of_range(text, "INTERVAL, which has no sign and whole milliseconds"))
        }
    }
}
