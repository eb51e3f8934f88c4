//! Byte strings in the order of unsigned bytes: strings, binaries, UUIDs, JSON, enums.

use crate::encoding::byte_strings::ByteStrings;
use crate::raw::byte_extremes::byte_extremes;

/// The smallest and the largest value seen. It keeps its own copies, and their memory.
#[derive(Debug, Clone, Default)]
pub struct ByteRange {
    min: Vec<u8>,
    max: Vec<u8>,
    is_some: bool,
}

impl ByteRange {
    /// Of no values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes more values in.
    pub fn update(&mut self, values: impl ByteStrings) {
        if let Some((min, max)) = byte_extremes(values) {
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
        if !self.is_some || min < self.min.as_slice() {
            self.min.clear();
            self.min.extend_from_slice(min);
        }
        if !self.is_some || max > self.max.as_slice() {
            self.max.clear();
            self.max.extend_from_slice(max);
        }
        self.is_some = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::{BinaryArray, BinaryViewArray};
    use crate::encoding::byte_strings::{OffsetBytes, ViewBytes};
    use crate::encoding::testing::byte_samples;

    #[test]
    fn equals_brute_force() {
        let mut range = ByteRange::new();
        for values in byte_samples() {
            for values in [values.clone(), values.into_iter().rev().collect()] {
                let array = BinaryArray::from_iter_values(&values);
                let views = BinaryViewArray::from_iter_values(&values);
                let (min, max) = (values.iter().min(), values.iter().max());
                let expected = min.map(Vec::as_slice).zip(max.map(Vec::as_slice));
                for step in [values.len().max(1), 1, 37] {
                    range.clear();
                    let mut merged = ByteRange::new();
                    for start in (0..values.len()).step_by(step) {
                        range.update(OffsetBytes::of(&array).slice(start, step));
                        let mut other = ByteRange::new();
                        other.update(ViewBytes::of(&views).slice(start, step));
                        merged.merge(&other);
                    }
                    assert_eq!((range.bounds(), merged.bounds()), (expected, expected));
                }
            }
        }
    }

    #[test]
    fn zeros_at_the_end_count() {
        let words: [&[u8]; 5] = [b"ab\0", b"ab", b"ab\0\0\0\0\0\0\0", b"ab\0\0\0\0\0\0", b"ab\0\0"];
        let mut range = ByteRange::new();
        range.update(&words[..]);
        assert_eq!(range.bounds(), Some((&b"ab"[..], &b"ab\0\0\0\0\0\0\0"[..])));
    }
}
