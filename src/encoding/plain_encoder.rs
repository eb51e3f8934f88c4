//! PLAIN, written: values end to end (Encodings.md, "PLAIN = 0").

use crate::bitmap::{Bitmap, Bits};
use crate::encoding::byte_strings::{ByteStrings, append_bytes};
use crate::encoding::take_page;
use crate::raw::append::append_values;
use crate::raw::fixed::{FixedWidth, as_bytes};

/// Encodes `INT32`, `INT64`, `INT96`, `FLOAT` and `DOUBLE`.
#[derive(Debug, Clone, Default)]
pub struct PlainEncoder {
    page: Vec<u8>,
    num_values: usize,
}

impl PlainEncoder {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends values, all of one type from page to page.
    pub fn put<T: FixedWidth>(&mut self, values: &[T]) {
        self.page.extend_from_slice(as_bytes(values));
        self.num_values += values.len();
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Bytes that a flush would append.
    pub fn estimated_size(&self) -> usize {
        self.page.len()
    }

    /// Appends the page to `out` and begins another. An empty `out` changes memory with the encoder: nothing is copied.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        take_page(&mut self.page, out);
        self.num_values = 0;
    }
}

/// Encodes `BOOLEAN`: one bit each, least significant first.
#[derive(Debug, Clone, Default)]
pub struct PlainBooleanEncoder {
    page: Bitmap,
}

impl PlainBooleanEncoder {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends bits.
    pub fn put(&mut self, values: Bits<'_>) {
        self.page.extend(values);
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.page.len()
    }

    /// Bytes that a flush would append.
    pub fn estimated_size(&self) -> usize {
        self.page.len().div_ceil(8)
    }

    /// Appends the page to `out` and begins another.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.page.as_bytes());
        self.page.clear();
    }
}

/// Encodes `BYTE_ARRAY`: a length of 4 bytes, little endian, then as many bytes.
#[derive(Debug, Clone, Default)]
pub struct PlainBytesEncoder {
    page: Vec<u8>,
    num_values: usize,
}

impl PlainBytesEncoder {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends values, each shorter than 4 GiB.
    pub fn put(&mut self, values: impl ByteStrings) {
        append_values::<true, _>(values, &mut self.page);
        self.num_values += values.len();
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Bytes that a flush would append.
    pub fn estimated_size(&self) -> usize {
        self.page.len()
    }

    /// As [`PlainEncoder::flush`].
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        take_page(&mut self.page, out);
        self.num_values = 0;
    }
}

/// Encodes `FIXED_LEN_BYTE_ARRAY`.
#[derive(Debug, Clone, Default)]
pub struct PlainFixedBytesEncoder {
    page: Vec<u8>,
    num_values: usize,
}

impl PlainFixedBytesEncoder {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends values, all of the column's length.
    pub fn put(&mut self, values: impl ByteStrings) {
        append_bytes(values, &mut self.page);
        self.num_values += values.len();
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Bytes that a flush would append.
    pub fn estimated_size(&self) -> usize {
        self.page.len()
    }

    /// As [`PlainEncoder::flush`].
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        take_page(&mut self.page, out);
        self.num_values = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::BinaryArray;
    use crate::encoding::byte_strings::{FixedBytes, OffsetBytes, SelectedBytes};
    use crate::encoding::testing::byte_samples;
    use crate::encoding::{PlainBooleanDecoder, PlainBytesDecoder, PlainDecoder, PlainFixedBytesDecoder};
    use crate::sink::{BooleanSink, BytesSink, FixedBytesSink, Int96, PrimitiveSink};

    #[test]
    fn fixed_widths_are_read_back() {
        let values = [i64::MIN, -1, 0, 1, i64::MAX];
        let (mut encoder, mut page) = (PlainEncoder::new(), vec![]);
        for _ in 0..2 {
            encoder.put(&values[..2]);
            encoder.put(&values[2..]);
            assert_eq!((encoder.num_values(), encoder.estimated_size()), (5, 40));
            page.clear();
            encoder.flush(&mut page);
            let mut sink = PrimitiveSink::new();
            PlainDecoder::<_, i64>::new(page.as_slice(), 5).unwrap().read(5, &mut sink).unwrap();
            assert_eq!(sink.as_slice(), values);
        }
        assert_eq!((encoder.num_values(), encoder.estimated_size()), (0, 0));
        encoder.put(&[Int96([7; 12])]);
        encoder.flush(&mut page);
        assert_eq!((page.len(), &page[40..]), (52, &[7; 12][..]));
    }

    #[test]
    fn booleans_are_packed_across_calls() {
        let bits: Vec<bool> = (0..300).map(|i| i % 3 == 0 || i % 7 == 2).collect();
        let bitmap: Bitmap = bits.iter().copied().collect();
        for cuts in [[0, 1, 300], [9, 77, 128], [64, 64, 65]] {
            let (mut encoder, mut page, mut from) = (PlainBooleanEncoder::new(), vec![], 0);
            for to in cuts.into_iter().chain([300]) {
                encoder.put(bitmap.bits(from..to));
                from = to;
            }
            assert_eq!(encoder.num_values(), 300);
            encoder.flush(&mut page);
            assert_eq!(page.len(), 38);
            let mut sink = BooleanSink::new();
            PlainBooleanDecoder::new(page.as_slice(), 300).unwrap().read(300, &mut sink).unwrap();
            assert_eq!(sink.finish(None).unwrap().values().iter().collect::<Vec<_>>(), bits);
        }
    }

    #[test]
    fn byte_arrays_are_read_back() {
        for values in byte_samples() {
            let array = BinaryArray::from_iter_values(&values);
            let all: Vec<u32> = (0..).take(values.len()).collect();
            let (mut encoder, mut page) = (PlainBytesEncoder::new(), vec![]);
            encoder.put(OffsetBytes::of(&array));
            encoder.put(SelectedBytes::new(OffsetBytes::of(&array), &all).unwrap());
            assert_eq!(encoder.num_values(), 2 * values.len());
            let size = encoder.estimated_size();
            encoder.flush(&mut page);
            assert_eq!(page.len(), size);
            let n = 2 * values.len();
            let mut sink = BytesSink::<i32>::new();
            PlainBytesDecoder::new(page.as_slice(), n).unwrap().read(n, &mut sink).unwrap();
            let read = sink.finish_binary(None).unwrap();
            let expected: Vec<&Vec<u8>> = values.iter().chain(&values).collect();
            assert_eq!(read.iter().flatten().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn fixed_length_byte_arrays_are_read_back() {
        let bytes: Vec<u8> = (0..210).collect();
        let values = FixedBytes::new(&bytes, 7, 30).unwrap();
        let (mut encoder, mut page) = (PlainFixedBytesEncoder::new(), vec![]);
        encoder.put(values);
        encoder.put(SelectedBytes::new(values, &[29, 0]).unwrap());
        encoder.flush(&mut page);
        let mut sink = FixedBytesSink::new(7);
        PlainFixedBytesDecoder::new(page.as_slice(), 32, 7).unwrap().read(32, &mut sink).unwrap();
        assert_eq!(sink.as_bytes(), [&bytes, &bytes[203..], &bytes[..7]].concat());
    }
}
