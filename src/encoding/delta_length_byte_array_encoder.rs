//! DELTA_LENGTH_BYTE_ARRAY, written: all lengths, then all bytes (Encodings.md, "Delta-length byte array").

use crate::encoding::DeltaBinaryPackedEncoder;
use crate::encoding::byte_strings::{ByteStrings, append_bytes, lengths};

/// Encodes `BYTE_ARRAY`.
#[derive(Debug, Clone, Default)]
pub struct DeltaLengthByteArrayEncoder {
    lengths: DeltaBinaryPackedEncoder<i32>,
    data: Vec<u8>,
}

impl DeltaLengthByteArrayEncoder {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends values, each shorter than 2 GiB.
    pub fn put(&mut self, values: impl ByteStrings) {
        lengths(values, |some| self.lengths.put(some));
        append_bytes(values, &mut self.data);
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.lengths.num_values()
    }

    /// Bytes that a flush would append at most.
    pub fn estimated_size(&self) -> usize {
        self.lengths.estimated_size() + self.data.len()
    }

    /// Appends the page to `out` and begins another.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        self.lengths.flush(out);
        out.extend_from_slice(&self.data);
        self.data.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::{BinaryArray, BinaryViewArray};
    use crate::encoding::DeltaLengthByteArrayDecoder;
    use crate::encoding::byte_strings::{OffsetBytes, ViewBytes};
    use crate::encoding::testing::byte_samples;
    use crate::sink::BytesSink;

    #[test]
    fn values_are_read_back() {
        let mut encoder = DeltaLengthByteArrayEncoder::new();
        for values in byte_samples() {
            let array = BinaryArray::from_iter_values(&values);
            let views = BinaryViewArray::from_iter_values(&values);
            encoder.put(OffsetBytes::of(&array));
            encoder.put(ViewBytes::of(&views));
            let n = 2 * values.len();
            assert_eq!(encoder.num_values(), n);
            let (size, mut page) = (encoder.estimated_size(), vec![]);
            encoder.flush(&mut page);
            assert!(page.len() <= size);
            let mut sink = BytesSink::<i32>::new();
            DeltaLengthByteArrayDecoder::new(page.as_slice(), n).unwrap().read(n, &mut sink).unwrap();
            let read = sink.finish_binary(None).unwrap();
            let expected: Vec<&Vec<u8>> = values.iter().chain(&values).collect();
            assert_eq!(read.iter().flatten().collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn writes_the_example_of_the_format() {
        let words: [&[u8]; 4] = [b"Hello", b"World", b"Foobar", b"ABCDEF"];
        let (mut encoder, mut page) = (DeltaLengthByteArrayEncoder::new(), vec![]);
        encoder.put(&words[..]);
        encoder.flush(&mut page);
        let lengths = [0x80, 1, 4, 4, 10, 0, 1, 0, 0, 0, 0b010, 0, 0, 0];
        assert_eq!(page, [&lengths, &b"HelloWorldFoobarABCDEF"[..]].concat());
    }
}
