//! Conversions of dates, times, timestamps and intervals.
//!
//! A finer unit is a checked multiplication. A coarser one rounds down, towards the past.

// Casts in here keep the bits on purpose; the natives of intervals are fields packed into an integer.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_possible_wrap)]

use super::convert::{checked, each};
use super::recipe::{BytesKernel, Conversion};
use crate::arrow::schema::TimeUnit;
use crate::error::{Error, Result};
use crate::sink::Int96;

/// Days to Date64.
pub(super) fn days_to_millis() -> Conversion<i32> {
    Conversion::To64(|values, out| {
        out.extend(values.iter().map(|&days| i64::from(days) * (SECONDS_A_DAY * 1_000)));
        Ok(())
    })
}

/// Time32 of milliseconds to seconds.
pub(super) fn millis_to_seconds() -> Conversion<i32> {
    Conversion::To32(|values, out| {
        out.extend(values.iter().map(|&millis| millis.div_euclid(1_000)));
        Ok(())
    })
}

/// Time32 of milliseconds to Time64, which has two units.
pub(super) fn millis_to_time64(unit: TimeUnit) -> Option<Conversion<i32>> {
    fn multiply<const FACTOR: i64>(values: &[i32], out: &mut Vec<i64>) -> Result<()> {
        out.extend(values.iter().map(|&millis| i64::from(millis) * FACTOR));
        Ok(())
    }
    match unit {
        TimeUnit::Microsecond => Some(Conversion::To64(multiply::<1_000>)),
        TimeUnit::Nanosecond => Some(Conversion::To64(multiply::<1_000_000>)),
        _ => None,
    }
}

/// Times or timestamps of 64 bits to another unit.
pub(super) fn change_unit(from: TimeUnit, to: TimeUnit) -> Conversion<i64> {
    let (from, to) = (per_second(from), per_second(to));
    match (to / from, from / to) {
        (1, _) => Conversion::Same,
        (1_000, _) => Conversion::To64(multiply::<1_000>),
        (1_000_000, _) => Conversion::To64(multiply::<1_000_000>),
        (1_000_000_000, _) => Conversion::To64(multiply::<1_000_000_000>),
        (_, 1_000) => Conversion::To64(divide::<1_000>),
        (_, 1_000_000) => Conversion::To64(divide::<1_000_000>),
        _ => Conversion::To64(divide::<1_000_000_000>),
    }
}

fn multiply<const FACTOR: i64>(values: &[i64], out: &mut Vec<i64>) -> Result<()> {
    checked(
        values,
        out,
        |value| (i64::MIN / FACTOR <= value) & (value <= i64::MAX / FACTOR),
        |value| value.wrapping_mul(FACTOR),
        |value| format!("{value} × {FACTOR}"),
        "64 bits",
    )
}

fn divide<const DIVISOR: i64>(values: &[i64], out: &mut Vec<i64>) -> Result<()> {
    out.extend(values.iter().map(|&value| value.div_euclid(DIVISOR)));
    Ok(())
}

fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

const SECONDS_A_DAY: i64 = 86_400;
/// The Julian day that 1970-01-01 is.
const JULIAN_EPOCH: i64 = 2_440_588;

/// INT96 (8 bytes of nanoseconds within the day, 4 bytes of Julian day, both little-endian) to a timestamp.
pub(super) fn from_int96(unit: TimeUnit) -> Conversion<Int96> {
    Conversion::To64(match unit {
        TimeUnit::Second => int96::<1>,
        TimeUnit::Millisecond => int96::<1_000>,
        TimeUnit::Microsecond => int96::<1_000_000>,
        TimeUnit::Nanosecond => int96::<1_000_000_000>,
    })
}

fn int96<const PER_SECOND: i64>(values: &[Int96], out: &mut Vec<i64>) -> Result<()> {
    let parts = |Int96(value): &Int96| {
        let [n0, n1, n2, n3, n4, n5, n6, n7, d0, d1, d2, d3] = *value;
        let nanos =
            i64::from_le_bytes([n0, n1, n2, n3, n4, n5, n6, n7]).div_euclid(1_000_000_000 / PER_SECOND);
        let days = i64::from(i32::from_le_bytes([d0, d1, d2, d3])) - JULIAN_EPOCH;
        (days, nanos)
    };
    let before = out.len();
    let per_day = SECONDS_A_DAY * PER_SECOND;
    // Wrapping sums are right wherever the true sum fits. Whether one might not is looked at more closely below.
    let mut suspect = false;
    out.extend(values.iter().map(|value| {
        let (days, within) = parts(value);
        let (start, over_product) = days.overflowing_mul(per_day);
        let (sum, over_sum) = start.overflowing_add(within);
        suspect |= over_product | over_sum;
        sum
    }));
    if suspect {
        for value in values {
            let (days, within) = parts(value);
            let sum = i128::from(days) * i128::from(per_day) + i128::from(within);
            if i64::try_from(sum).is_err() {
                out.truncate(before);
                let per_second = match PER_SECOND {
                    1 => "Timestamp(s)",
                    1_000 => "Timestamp(ms)",
                    1_000_000 => "Timestamp(µs)",
                    _ => "Timestamp(ns); one of microseconds as its output type does",
                };
                return Err(Error::out_of_range(
                    format!("an INT96 of {days} days since 1970 and {within} within the day"),
                    per_second,
                ));
            }
        }
    }
    Ok(())
}

/// Three little-endian integers of 32 bits: months, days, milliseconds (LogicalTypes.md, INTERVAL).
fn interval(bytes: &[u8]) -> Result<[u32; 3]> {
    let &[a, b, c, d, e, f, g, h, i, j, k, l] = bytes else {
        return Err(Error::malformed(format!("INTERVAL of {} bytes", bytes.len())));
    };
    Ok([[a, b, c, d], [e, f, g, h], [i, j, k, l]].map(u32::from_le_bytes))
}

/// IntervalMonthDayNano: months in the low 32 bits, then days, then 64 bits of nanoseconds. The parts are unsigned, as
/// the specification has them.
pub(super) fn month_day_nano() -> BytesKernel<i128> {
    fn one(bytes: &[u8]) -> Result<i128> {
        let [months, days, millis] = interval(bytes)?;
        if months.max(days) > i32::MAX as u32 {
            let text = format!("an interval of {months} months and {days} days");
            return Err(Error::out_of_range(text, "Interval(MonthDayNano)"));
        }
        let nanos = u128::from(millis) * 1_000_000;
        Ok((u128::from(months) | u128::from(days) << 32 | nanos << 64) as i128)
    }
    BytesKernel { one, bulk: |data, width, out| each(data, width, out, one) }
}

/// IntervalDayTime: days in the low 32 bits, then milliseconds. The parts are signed: writers that have this type write
/// it bit by bit.
pub(super) fn day_time() -> BytesKernel<i64> {
    fn one(bytes: &[u8]) -> Result<i64> {
        let [months, days, millis] = interval(bytes)?;
        if months != 0 {
            return Err(Error::out_of_range(format!("an interval of {months} months"), "Interval(DayTime)"));
        }
        Ok((u64::from(days) | u64::from(millis) << 32) as i64)
    }
    BytesKernel { one, bulk: |data, width, out| each(data, width, out, one) }
}

/// IntervalYearMonth: months, signed as above.
pub(super) fn year_month() -> BytesKernel<i32> {
    fn one(bytes: &[u8]) -> Result<i32> {
        let [months, days, millis] = interval(bytes)?;
        if (days, millis) != (0, 0) {
            let text = format!("an interval of {days} days and {millis} milliseconds");
            return Err(Error::out_of_range(text, "Interval(YearMonth)"));
        }
        Ok(months as i32)
    }
    BytesKernel { one, bulk: |data, width, out| each(data, width, out, one) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::types::{IntervalDayTimeType, IntervalMonthDayNanoType};

    fn convert<P>(conversion: Conversion<P>, values: &[P]) -> Result<Vec<i64>, String> {
        let Conversion::To64(f) = conversion else { panic!("not 64 bits") };
        let mut out = vec![7];
        let result = f(values, &mut out);
        assert_eq!(out.len(), if result.is_ok() { values.len() + 1 } else { 1 });
        result.map(|()| out.split_off(1)).map_err(|e| e.to_string())
    }

    fn int96_of(days: i32, nanos: i64) -> Int96 {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&nanos.to_le_bytes());
        bytes[8..].copy_from_slice(&days.to_le_bytes());
        Int96(bytes)
    }

    #[test]
    fn multiplies_where_the_product_fits() {
        let to_nanos = change_unit(TimeUnit::Second, TimeUnit::Nanosecond);
        assert_eq!(
            convert(to_nanos, &[9_223_372_036, -9_223_372_036]),
            Ok(vec![9_223_372_036_000_000_000, -9_223_372_036_000_000_000])
        );
        let error = convert(to_nanos, &[0, 9_223_372_037]).unwrap_err();
        assert_eq!(error, "9223372037 × 1000000000 does not fit 64 bits");
        let to_micros = change_unit(TimeUnit::Millisecond, TimeUnit::Microsecond);
        assert!(convert(to_micros, &[i64::MIN]).is_err());
        assert!(matches!(change_unit(TimeUnit::Second, TimeUnit::Second), Conversion::Same));
    }

    #[test]
    fn rounds_down_to_coarser_units() {
        let to_millis = change_unit(TimeUnit::Microsecond, TimeUnit::Millisecond);
        assert_eq!(
            convert(to_millis, &[1_999, -1, -1_000, i64::MIN]),
            Ok(vec![1, -1, -1, -9_223_372_036_854_776])
        );
        let to_seconds = change_unit(TimeUnit::Nanosecond, TimeUnit::Second);
        assert_eq!(convert(to_seconds, &[1_000_000_000, -1]), Ok(vec![1, -1]));
    }

    #[test]
    fn reads_int96_to_its_last_nanosecond() {
        let epoch = 2_440_588;
        let nanos = from_int96(TimeUnit::Nanosecond);
        assert_eq!(
            convert(nanos, &[int96_of(epoch, 0), int96_of(epoch - 1, 5)]),
            Ok(vec![0, 5 - 86_400_000_000_000])
        );
        // The first and the last instant that 64 bits of nanoseconds hold: the day's start does not fit, its end does.
        let day = 86_400_000_000_000_i128;
        for instant in [i64::MIN, i64::MAX] {
            let days = i32::try_from(i128::from(instant).div_euclid(day)).unwrap();
            let within = i64::try_from(i128::from(instant).rem_euclid(day)).unwrap();
            assert_eq!(convert(nanos, &[int96_of(epoch + days, within)]), Ok(vec![instant]));
            let beyond = if instant < 0 { within - 1 } else { within + 1 };
            let error = convert(nanos, &[int96_of(epoch, 0), int96_of(epoch + days, beyond)]).unwrap_err();
            assert!(error.starts_with("an INT96 of "), "{error}");
        }
    }

    #[test]
    fn reads_int96_in_every_unit() {
        let value = [int96_of(2_440_588 + 200_000, 1_999_999_999), int96_of(2_440_587, 86_399_999_999_999)];
        let days = 200_000 * 86_400_i64;
        assert_eq!(convert(from_int96(TimeUnit::Second), &value), Ok(vec![days + 1, -1]));
        assert_eq!(convert(from_int96(TimeUnit::Millisecond), &value), Ok(vec![days * 1_000 + 1_999, -1]));
        assert_eq!(
            convert(from_int96(TimeUnit::Microsecond), &value),
            Ok(vec![days * 1_000_000 + 1_999_999, -1])
        );
        assert!(convert(from_int96(TimeUnit::Nanosecond), &value).is_err());
        for days in [i32::MIN, i32::MAX] {
            assert!(convert(from_int96(TimeUnit::Microsecond), &[int96_of(days, i64::MAX)]).is_err());
            assert!(convert(from_int96(TimeUnit::Second), &[int96_of(days, i64::MIN)]).is_ok());
        }
    }

    #[test]
    fn packs_intervals_as_arrow_does() {
        let bytes = |parts: [u32; 3]| parts.map(u32::to_le_bytes).concat();
        let native = (month_day_nano().one)(&bytes([3, 4, u32::MAX])).unwrap();
        let expected = IntervalMonthDayNanoType::make_value(3, 4, 4_294_967_295_000_000);
        assert_eq!(native.to_ne_bytes(), crate::arrow::buffer::ToByteSlice::to_byte_slice(&expected));
        assert!((month_day_nano().one)(&bytes([1 << 31, 0, 0])).is_err());
        assert!((month_day_nano().one)(&bytes([0, 1 << 31, 0])).is_err());
        assert!((month_day_nano().one)(&[0; 11]).is_err());

        let native = (day_time().one)(&bytes([0, (-4_i32) as u32, (-5_i32) as u32])).unwrap();
        let expected = IntervalDayTimeType::make_value(-4, -5);
        assert_eq!(native.to_ne_bytes(), crate::arrow::buffer::ToByteSlice::to_byte_slice(&expected));
        assert!((day_time().one)(&bytes([1, 4, 5])).is_err());

        assert_eq!((year_month().one)(&bytes([(-3_i32) as u32, 0, 0])).unwrap(), -3);
        assert!((year_month().one)(&bytes([3, 0, 1])).is_err());
        let mut out = Vec::new();
        (year_month().bulk)(&[bytes([3, 0, 0]), bytes([4, 0, 0])].concat(), 12, &mut out).unwrap();
        assert_eq!(out, [3, 4]);
    }

    #[test]
    fn days_and_times_widen() {
        assert_eq!(
            convert(days_to_millis(), &[i32::MIN, 1]),
            Ok(vec![i64::from(i32::MIN) * 86_400_000, 86_400_000])
        );
        assert_eq!(convert(millis_to_time64(TimeUnit::Nanosecond).unwrap(), &[-1]), Ok(vec![-1_000_000]));
        assert!(millis_to_time64(TimeUnit::Second).is_none());
        let Conversion::To32(f) = millis_to_seconds() else { panic!() };
        let mut out = Vec::new();
        f(&[86_399_999, -1], &mut out).unwrap();
        assert_eq!(out, [86_399, -1]);
    }
}
