//! Decimals as signed big-endian bytes of one length: `FIXED_LEN_BYTE_ARRAY`.

use crate::encoding::byte_strings::ByteStrings;
use crate::raw::byte_extremes::{compare_decimals, decimal_extremes};

/// The smallest and the largest value seen. It keeps its own copies, and their memory.
#[derive(Debug, Clone, Default)]
pub struct DecimalBytesRange {
    min: Vec<u8>,
    max: Vec<u8>,
    is_some: bool,
}

impl DecimalBytesRange {
    /// Of no values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more values in, all of one length from update to update.
    pub fn update(&mut self, values: impl ByteStrings) {
        if let Some((min, max)) = decimal_extremes(values) {
            self.widen(values.value(min), values.value(max));
        }
    }

    /// Takes all that another has seen in.
    pub fn merge(&mut self, other: &Self) {
        if other.is_some {
            self.widen(&other.min, &other.max);
        }
    }

    /// The smallest and the largest; `None` of none.
    pub fn bounds(&self) -> Option<(&[u8], &[u8])> {
        self.is_some.then_some((self.min.as_slice(), self.max.as_slice()))
    }

    /// Forgets all values, and keeps the memory.
    pub fn clear(&mut self) {
        self.is_some = false;
    }

    fn widen(&mut self, min: &[u8], max: &[u8]) {
        if !self.is_some || compare_decimals(min, &self.min).is_lt() {
            self.min.clear();
            self.min.extend_from_slice(min);
        }
        if !self.is_some || compare_decimals(max, &self.max).is_gt() {
            self.max.clear();
            self.max.extend_from_slice(max);
        }
        self.is_some = true;
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::encoding::byte_strings::FixedBytes;
    use crate::encoding::testing::random;

    #[test]
    fn equals_the_integers() {
        for width in 1..=16usize {
            for n in [0, 1, 5, 1000] {
                let mut next = random(width as u64);
                let cut = 128 - 8 * width as u32;
                let values: Vec<i128> = (0..n)
                    .map(|_| i128::from(next().cast_signed()) * i128::from(next() >> (next() % 60)))
                    .map(|value| value << cut >> cut)
                    .collect();
                let bytes: Vec<u8> =
                    values.iter().flat_map(|value| value.to_be_bytes()[16 - width..].to_vec()).collect();
                let strings = FixedBytes::new(&bytes, width, n).unwrap();
                let (mut range, mut merged) = (DecimalBytesRange::new(), DecimalBytesRange::new());
                for start in (0..n).step_by(300) {
                    range.update(strings.slice(start, 300));
                }
                merged.merge(&range);
                let expected = values.iter().min().zip(values.iter().max());
                let expected = expected.map(|(min, max)| {
                    (min.to_be_bytes()[16 - width..].to_vec(), max.to_be_bytes()[16 - width..].to_vec())
                });
                for range in [range, merged] {
                    assert_eq!(range.bounds().map(|(a, b)| (a.to_vec(), b.to_vec())), expected);
                }
            }
        }
    }
}
