//! Integers by value: signed or unsigned, as their type is. Booleans, too: false is before true.

use crate::arrow::buffer::i256;
use crate::raw::extremes::extremes;

/// A type whose order is that of its values.
pub trait IntegerValue: Copy + Ord {
    /// The smallest and the largest; `None` of none.
    #[doc(hidden)]
    fn extremes(values: &[Self]) -> Option<(Self, Self)>;
}

/// The smallest and the largest value seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IntegerRange<T> {
    range: Option<(T, T)>,
}

impl<T: IntegerValue> Default for IntegerRange<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: IntegerValue> IntegerRange<T> {
    /// Of no values.
    pub fn new() -> Self {
        IntegerRange { range: None }
    }

    /// Takes more values in.
    pub fn update(&mut self, values: &[T]) {
        self.merge(&IntegerRange { range: T::extremes(values) });
    }

    /// Takes all that another has seen in.
    pub fn merge(&mut self, other: &Self) {
        self.range = match (self.range, other.range) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (range, None) | (None, range) => range,
        };
    }

    /// The smallest and the largest; `None` of none.
    pub fn bounds(&self) -> Option<(T, T)> {
        self.range
    }
}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl IntegerValue for $type {
            fn extremes(values: &[Self]) -> Option<(Self, Self)> {
                extremes::<$type>(values)
            }
        }
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! wide_integers {
    ($($type:ty),*) => {$(
        impl IntegerValue for $type {
            fn extremes(values: &[Self]) -> Option<(Self, Self)> {
                let (&first, others) = values.split_first()?;
                Some(others.iter().fold((first, first), |(min, max), &value| (min.min(value), max.max(value))))
            }
        }
    )*};
}

wide_integers!(bool, i128, i256);

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::encoding::testing::{COUNTS, random};

    fn check<T: IntegerValue + std::fmt::Debug>(values: &[T]) {
        let expected = values.iter().min().copied().zip(values.iter().max().copied());
        for step in [values.len().max(1), 1, 100] {
            let (mut range, mut merged) = (IntegerRange::new(), IntegerRange::new());
            for some in values.chunks(step) {
                range.update(some);
                let mut other = IntegerRange::new();
                other.update(some);
                merged.merge(&other);
            }
            assert_eq!((range.bounds(), merged.bounds()), (expected, expected));
        }
    }

    #[test]
    fn equals_brute_force() {
        for n in COUNTS {
            for shift in [0, 3, 31, 60] {
                let mut next = random(shift + 1);
                let values: Vec<u64> = (0..n).map(|_| next() >> shift).collect();
                check(&values);
                check(&values.iter().map(|v| v.cast_signed()).collect::<Vec<_>>());
                check(&values.iter().map(|v| *v as u32).collect::<Vec<_>>());
                check(&values.iter().map(|v| *v as i32).collect::<Vec<_>>());
                check(&values.iter().map(|v| *v as i16).collect::<Vec<_>>());
                check(&values.iter().map(|v| *v as u8).collect::<Vec<_>>());
                check(
                    &values.iter().map(|v| i128::from(*v) * i128::from(v.cast_signed())).collect::<Vec<_>>(),
                );
                check(&values.iter().map(|v| v % 3 == 0).collect::<Vec<_>>());
                check(&values.iter().map(|v| i256::from(v.cast_signed())).collect::<Vec<_>>());
            }
        }
        check(&[i64::MIN, i64::MAX, 0]);
    }
}
