//! DELTA_BINARY_PACKED, written: blocks of 128 deltas in 4 miniblocks (Encodings.md, "Delta Encoding").
//!
//! ```text
//! header   block size, miniblocks in a block, number of values, first value
//! block    least delta, a bit width each miniblock, each delta less the least one in so many bits
//! ```

use crate::encoding::varint::{write_uleb128, write_zigzag};
use crate::raw::delta::{BLOCK, DeltaInt, MINIBLOCK, encode_blocks, encode_last_block};

/// Encodes `INT32` and `INT64`. Differences wrap at the width of `T`.
#[derive(Debug, Clone, Default)]
pub struct DeltaBinaryPackedEncoder<T> {
    blocks: Vec<u8>,
    /// Values of the block that is not whole, and the one before them.
    open: Vec<T>,
    last: T,
    first: T,
    num_values: usize,
}

impl<T: DeltaInt> DeltaBinaryPackedEncoder<T> {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends values.
    pub fn put(&mut self, values: &[T]) {
        let Some((&first, others)) = values.split_first() else { return };
        let mut rest = values;
        if self.num_values == 0 {
            (self.first, self.last) = (first, first);
            rest = others;
        }
        self.num_values += values.len();
        if !self.open.is_empty() {
            let (filler, after) = rest.split_at(rest.len().min(BLOCK - self.open.len()));
            self.open.extend_from_slice(filler);
            rest = after;
            if self.open.len() < BLOCK {
                return;
            }
            encode_blocks(self.last, &self.open, &mut self.blocks);
            self.last = self.open.last().copied().unwrap_or(self.last);
            self.open.clear();
        }
        let open = encode_blocks(self.last, rest, &mut self.blocks);
        let whole = rest.len() - open.len();
        self.last = rest.get(whole.wrapping_sub(1)).copied().unwrap_or(self.last);
        self.open.extend_from_slice(open);
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Bytes that a flush would append at most.
    pub fn estimated_size(&self) -> usize {
        HEADER + self.blocks.len() + if self.open.is_empty() { 0 } else { 14 + BLOCK * size_of::<T>() }
    }

    /// Appends the page to `out` and begins another.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        for value in &mut self.open {
            (*value, self.last) = (value.minus(self.last), *value);
        }
        encode_last_block(&self.open, &mut self.blocks);
        self.open.clear();
        write_uleb128(out, BLOCK as u64);
        write_uleb128(out, (BLOCK / MINIBLOCK) as u64);
        write_uleb128(out, self.num_values as u64);
        write_zigzag(out, if self.num_values == 0 { 0 } else { self.first.to_i64() });
        out.extend_from_slice(&self.blocks);
        self.blocks.clear();
        self.num_values = 0;
    }
}

/// Bytes of a header at most.
const HEADER: usize = 2 + 1 + 10 + 10;

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::encoding::DeltaBinaryPackedDecoder;
    use crate::encoding::testing::{COUNTS, random};

    fn check<T: DeltaInt>(values: &[T]) {
        let mut encoder = DeltaBinaryPackedEncoder::new();
        let mut pages = vec![];
        for step in [values.len().max(1), 1, 31, 128, 200] {
            values.chunks(step).for_each(|some| encoder.put(some));
            assert_eq!(encoder.num_values(), values.len());
            let (size, mut page) = (encoder.estimated_size(), b"before".to_vec());
            encoder.flush(&mut page);
            let page = page.split_off(6);
            assert!(page.len() <= size);
            let mut decoder = DeltaBinaryPackedDecoder::<_, T>::new(page.as_slice(), values.len()).unwrap();
            let mut out = vec![];
            decoder.read_into(values.len(), &mut out).unwrap();
            assert_eq!(out, values);
            assert!(values.is_empty() || decoder.end_of_bytes().unwrap() == page.len());
            pages.push(page);
        }
        assert!(pages.iter().all(|page| *page == pages[0]));
    }

    #[test]
    fn every_width_is_read_back() {
        for n in COUNTS {
            for width in 0..=64u32 {
                let mut next = random(u64::from(width));
                let cut = |value: u64| value.checked_shr(64 - width).unwrap_or(0);
                let values: Vec<i64> = (0..n).map(|_| cut(next()).cast_signed()).collect();
                check(&values);
                check(&values.iter().map(|&value| value as i32).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn differences_wrap() {
        let edges = [i64::MAX, i64::MIN, 0, -1, i64::MIN, i64::MAX, 1];
        check(&edges.repeat(50));
        check(&[i32::MAX, i32::MIN, 0, -1, i32::MIN, i32::MAX].repeat(50));
        check(&(0..5000).map(|i| i * 1_000_003).collect::<Vec<i64>>());
    }

    #[test]
    fn writes_the_examples_of_the_format() {
        let page = |values: &[i32]| {
            let (mut encoder, mut page) = (DeltaBinaryPackedEncoder::new(), vec![]);
            encoder.put(values);
            encoder.flush(&mut page);
            page
        };
        // The block of example 1 has the least delta 1 and width 0.
        assert_eq!(page(&[1, 2, 3, 4, 5]), [0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        // Example 2: deltas -2 -2 -2 1 1 1 1 from 7 on; the least is -2, the others are packed in 2 bits.
        let mut expected = vec![0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0b1100_0000, 0b0011_1111];
        expected.resize(10 + 8, 0);
        assert_eq!(page(&[7, 5, 3, 1, 2, 3, 4, 5]), expected);
        assert_eq!(page(&[]), [0x80, 1, 4, 0, 0]);
    }
}
