//! Floats: NaN is counted and left out, zeros have a sign.
//!
//! Values are compared by the total order of IEEE 754 (section 5.10), which is that of their bits once those of negative
//! ones, but for the sign, are turned over. Both orders of the format come from that: `TYPE_ORDER` asks that a bound of
//! zero be moved outwards, and `IEEE_754_TOTAL_ORDER` that NaNs are the bounds where there is nothing else.

use crate::metadata::ColumnOrder;
use crate::raw::extremes::{Numbers, number_extremes};

/// `f32`, `f64`, or the bits of a `FLOAT16` as `u16`.
pub trait FloatValue: Copy {
    /// The bits of a value as an integer, in the total order.
    #[doc(hidden)]
    type Key: IntegerKey;
    #[doc(hidden)]
    fn key(self) -> Self::Key;
    #[doc(hidden)]
    fn from_key(key: Self::Key) -> Self;
}

/// A key of the total order: what is outside of `MINUS_INFINITY..=INFINITY` is NaN.
#[doc(hidden)]
pub trait IntegerKey: Copy + Ord + 'static {
    const MINUS_INFINITY: Self;
    const INFINITY: Self;
    const MINUS_ZERO: Self;
    const ZERO: Self;
    const MIN: Self;
    const MAX: Self;
}

/// The smallest and the largest number seen, and how many NaNs.
#[derive(Debug, Clone, Copy)]
pub struct FloatRange<F: FloatValue> {
    numbers: Option<(F::Key, F::Key)>,
    /// Of NaNs, kept only as long as there is no number.
    nans: Option<(F::Key, F::Key)>,
    nan_count: u64,
}

impl<F: FloatValue> Default for FloatRange<F> {
    fn default() -> Self {
        Self::new()
    }
}

impl<F: FloatValue> FloatRange<F> {
    /// Of no values.
    pub fn new() -> Self {
        FloatRange { numbers: None, nans: None, nan_count: 0 }
    }

    /// Takes more values in.
    pub fn update(&mut self, values: &[F]) {
        let Numbers { min, max, count } = number_extremes(values);
        let numbers = (count > 0).then_some((min, max));
        let mut other = FloatRange { numbers, nans: None, nan_count: (values.len() - count) as u64 };
        if numbers.is_none() {
            let keys = values.iter().map(|value| value.key());
            other.nans = keys.clone().min().zip(keys.max());
        }
        self.merge(&other);
    }

    /// Takes all that another has seen in.
    pub fn merge(&mut self, other: &Self) {
        self.numbers = wider(self.numbers, other.numbers);
        self.nans = if self.numbers.is_none() { wider(self.nans, other.nans) } else { None };
        self.nan_count += other.nan_count;
    }

    /// NaNs among the values.
    pub fn nan_count(&self) -> u64 {
        self.nan_count
    }

    /// The smallest and the largest value as `order` wants them written; `None` where it wants none, which is so of no
    /// values, and, but for the total order, of NaNs alone.
    pub fn bounds(&self, order: ColumnOrder) -> Option<(F, F)> {
        let (min, max) = match (order, self.numbers) {
            (ColumnOrder::Ieee754Total, numbers) => numbers.or(self.nans)?,
            (_, numbers) => {
                let (min, max) = numbers?;
                let min = if min == F::Key::ZERO { F::Key::MINUS_ZERO } else { min };
                (min, if max == F::Key::MINUS_ZERO { F::Key::ZERO } else { max })
            }
        };
        Some((F::from_key(min), F::from_key(max)))
    }
}

fn wider<K: Ord + Copy>(a: Option<(K, K)>, b: Option<(K, K)>) -> Option<(K, K)> {
    match (a, b) {
        (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
        (range, None) | (None, range) => range,
    }
}

macro_rules! float {
    ($float:ty, $key:ty, $infinity:expr, $shift:literal, $to_bits:expr, $from_bits:expr) => {
        impl IntegerKey for $key {
            const MINUS_INFINITY: Self = -1 - $infinity;
            const INFINITY: Self = $infinity;
            const MINUS_ZERO: Self = -1;
            const ZERO: Self = 0;
            const MIN: Self = <$key>::MIN;
            const MAX: Self = <$key>::MAX;
        }

        impl FloatValue for $float {
            type Key = $key;

            #[inline(always)]
            fn key(self) -> $key {
                let bits = $to_bits(self).cast_signed();
                bits ^ (bits >> $shift) & <$key>::MAX
            }

            #[inline(always)]
            fn from_key(key: $key) -> Self {
                $from_bits((key ^ (key >> $shift) & <$key>::MAX).cast_unsigned())
            }
        }
    };
}

float!(u16, i16, 0x7c00, 15, std::convert::identity::<u16>, std::convert::identity::<u16>);
float!(f32, i32, 0x7f80_0000, 31, f32::to_bits, f32::from_bits);
float!(f64, i64, 0x7ff0_0000_0000_0000, 63, f64::to_bits, f64::from_bits);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::types::{ArrowPrimitiveType, Float16Type};
    use crate::encoding::testing::{COUNTS, random};

    type F16 = <Float16Type as ArrowPrimitiveType>::Native;

    const BOTH: [ColumnOrder; 2] = [ColumnOrder::TypeDefined, ColumnOrder::Ieee754Total];

    fn bounds(values: &[f64], order: ColumnOrder) -> Option<(u64, u64)> {
        let mut range = FloatRange::new();
        range.update(values);
        range.bounds(order).map(|(min, max)| (min.to_bits(), max.to_bits()))
    }

    #[test]
    fn equals_brute_force() {
        let special = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 5e-324, -5e-324];
        for n in COUNTS {
            for one_in in [1, 2, 50] {
                let mut next = random(one_in);
                let values: Vec<f64> = (0..n)
                    .map(|_| match next() % one_in {
                        0 => special[(next() % 8) as usize],
                        _ => f64::from_bits(next()),
                    })
                    .collect();
                let mut numbers: Vec<f64> = values.iter().copied().filter(|v| !v.is_nan()).collect();
                numbers.sort_by(f64::total_cmp);
                let (mut range, mut nans) = (FloatRange::new(), 0);
                for some in values.chunks(100) {
                    range.update(some);
                    nans += some.iter().filter(|value| value.is_nan()).count() as u64;
                }
                assert_eq!(range.nan_count(), nans);
                if let (Some(min), Some(max)) = (numbers.first(), numbers.last()) {
                    for order in BOTH {
                        let (a, b) = range.bounds(order).unwrap();
                        assert_eq!((a, b), (*min, *max));
                    }
                }
                let narrow: Vec<F16> = values.iter().map(|value| F16::from_f64(*value)).collect();
                let mut range = FloatRange::new();
                range.update(&narrow.iter().map(|value| value.to_bits()).collect::<Vec<_>>());
                let least = narrow.iter().copied().filter(|v| !v.is_nan()).min_by(F16::total_cmp);
                if let Some(least) = least {
                    assert_eq!(range.bounds(ColumnOrder::Ieee754Total).unwrap().0, least.to_bits());
                }
            }
        }
    }

    #[test]
    fn zeros_are_moved_outwards_or_told_apart() {
        let (plus, minus) = (0.0f64.to_bits(), (-0.0f64).to_bits());
        for values in [[0.0, -0.0], [0.0, 0.0], [-0.0, -0.0]] {
            assert_eq!(bounds(&values, ColumnOrder::TypeDefined), Some((minus, plus)));
        }
        assert_eq!(bounds(&[0.0, 0.0], ColumnOrder::Ieee754Total), Some((plus, plus)));
        assert_eq!(bounds(&[0.0, -0.0], ColumnOrder::Ieee754Total), Some((minus, plus)));
    }

    #[test]
    fn nans_are_bounds_only_of_the_total_order_and_alone() {
        let quiet = f64::NAN;
        let other = f64::from_bits(0xfff8_0000_0000_0001);
        assert_eq!(bounds(&[quiet, other], ColumnOrder::TypeDefined), None);
        let expected = Some((other.to_bits(), quiet.to_bits()));
        assert_eq!(bounds(&[quiet, other], ColumnOrder::Ieee754Total), expected);
        for order in BOTH {
            assert_eq!(bounds(&[quiet, 1.0, other], order), Some((1f64.to_bits(), 1f64.to_bits())));
            assert_eq!(bounds(&[], order), None);
        }
        let (mut first, mut second) = (FloatRange::new(), FloatRange::new());
        first.update(&[f32::NAN]);
        second.update(&[2.0]);
        first.merge(&second);
        assert_eq!((first.bounds(ColumnOrder::Ieee754Total), first.nan_count()), (Some((2.0, 2.0)), 1));
    }
}
