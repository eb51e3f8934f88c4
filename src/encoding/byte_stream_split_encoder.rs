//! BYTE_STREAM_SPLIT, written: byte `k` of every value in stream `k` (Encodings.md, "Byte Stream Split").
//!
//! Where a stream begins is known only when the page ends. So values are kept as they are, and split then.

use crate::encoding::byte_strings::{ByteStrings, append_bytes};
use crate::raw::fixed::{FixedWidth, as_bytes};
use crate::raw::split::split;

/// Encodes `FLOAT`, `DOUBLE`, `INT32`, `INT64` and `FIXED_LEN_BYTE_ARRAY`.
#[derive(Debug, Clone)]
pub struct ByteStreamSplitEncoder {
    values: Vec<u8>,
    width: usize,
}

impl ByteStreamSplitEncoder {
    /// For values of `width` bytes, 1 at least.
    pub fn new(width: usize) -> Self {
        ByteStreamSplitEncoder { values: Vec::new(), width: width.max(1) }
    }

    /// Appends values of the width.
    pub fn put<T: FixedWidth>(&mut self, values: &[T]) {
        debug_assert_eq!(size_of::<T>(), self.width);
        self.values.extend_from_slice(as_bytes(values));
    }

    /// Appends byte arrays, all of the width.
    pub fn put_bytes(&mut self, values: impl ByteStrings) {
        append_bytes(values, &mut self.values);
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.values.len() / self.width
    }

    /// Bytes that a flush would append.
    pub fn estimated_size(&self) -> usize {
        self.values.len()
    }

    /// Appends the page to `out` and begins another.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        split(&self.values, self.width, out);
        self.values.clear();
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::encoding::byte_strings::{FixedBytes, SelectedBytes};
    use crate::encoding::testing::{COUNTS, random};
    use crate::encoding::{ByteStreamSplitBytesDecoder, ByteStreamSplitDecoder};
    use crate::sink::{FixedBytesSink, PrimitiveSink};

    #[test]
    fn every_width_is_read_back() {
        for n in COUNTS {
            for width in [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 32, 33] {
                let mut next = random(width as u64);
                let bytes: Vec<u8> = (0..n * width).map(|_| next() as u8).collect();
                let (mut encoder, mut page) = (ByteStreamSplitEncoder::new(width), vec![]);
                let (first, second) = (n / 3, n - n / 3);
                let values = FixedBytes::new(&bytes, width, n).unwrap();
                let rest: Vec<u32> = (first as u32..n as u32).collect();
                encoder.put_bytes(values.slice(0, first));
                encoder.put_bytes(SelectedBytes::new(values, &rest).unwrap());
                assert_eq!((encoder.num_values(), rest.len()), (n, second));
                encoder.flush(&mut page);
                let mut sink = FixedBytesSink::new(width);
                let mut decoder = ByteStreamSplitBytesDecoder::new(page.as_slice(), n, width).unwrap();
                decoder.read(n, &mut sink).unwrap();
                assert_eq!(sink.as_bytes(), bytes, "{n} of {width}");
            }
        }
    }

    #[test]
    fn writes_the_example_of_the_format() {
        let values = [[0xaa, 0xbb, 0xcc, 0xdd], [0x00, 0x11, 0x22, 0x33], [0xa3, 0xb4, 0xc5, 0xd6]];
        let (mut encoder, mut page) = (ByteStreamSplitEncoder::new(4), vec![]);
        encoder.put(&values.map(f32::from_le_bytes));
        encoder.flush(&mut page);
        assert_eq!(page, [0xaa, 0x00, 0xa3, 0xbb, 0x11, 0xb4, 0xcc, 0x22, 0xc5, 0xdd, 0x33, 0xd6]);
        let mut sink = PrimitiveSink::<f32>::new();
        ByteStreamSplitDecoder::new(page.as_slice(), 3).unwrap().read(3, &mut sink).unwrap();
        assert_eq!(sink.as_slice(), values.map(f32::from_le_bytes));
    }
}
