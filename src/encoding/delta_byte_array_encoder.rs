//! DELTA_BYTE_ARRAY, written: how many bytes each value shares with the one before it, then the others as
//! DELTA_LENGTH_BYTE_ARRAY (Encodings.md, "Delta Strings").

use crate::encoding::DeltaBinaryPackedEncoder;
use crate::encoding::byte_strings::ByteStrings;
use crate::raw::front_coding_encode::FrontCoder;

/// Encodes `BYTE_ARRAY` and `FIXED_LEN_BYTE_ARRAY`.
#[derive(Debug, Clone, Default)]
pub struct DeltaByteArrayEncoder {
    prefixes: DeltaBinaryPackedEncoder<i32>,
    suffixes: DeltaBinaryPackedEncoder<i32>,
    coder: FrontCoder,
}

impl DeltaByteArrayEncoder {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends values, each shorter than 2 GiB.
    pub fn put(&mut self, values: impl ByteStrings) {
        let (prefixes, suffixes) = (&mut self.prefixes, &mut self.suffixes);
        self.coder.put(values, |shared, added| {
            prefixes.put(shared);
            suffixes.put(added);
        });
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.prefixes.num_values()
    }

    /// Bytes that a flush would append at most.
    pub fn estimated_size(&self) -> usize {
        self.prefixes.estimated_size() + self.suffixes.estimated_size() + self.coder.data().len()
    }

    /// Appends the page to `out` and begins another, whose first value shares nothing.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        self.prefixes.flush(out);
        self.suffixes.flush(out);
        out.extend_from_slice(self.coder.data());
        self.coder.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::{BinaryArray, BinaryViewArray};
    use crate::encoding::DeltaByteArrayDecoder;
    use crate::encoding::byte_strings::{FixedBytes, OffsetBytes, ViewBytes};
    use crate::encoding::testing::byte_samples;
    use crate::sink::{BytesSink, FixedBytesSink};

    #[test]
    fn values_are_read_back() {
        let mut encoder = DeltaByteArrayEncoder::new();
        for values in byte_samples() {
            let array = BinaryArray::from_iter_values(&values);
            let views = BinaryViewArray::from_iter_values(&values);
            let n = values.len();
            let mut pages = vec![];
            for step in [n.max(1), 1, 100] {
                for start in (0..n).step_by(step) {
                    match start % 3 {
                        0 => encoder.put(OffsetBytes::of(&array).slice(start, step)),
                        _ => encoder.put(ViewBytes::of(&views).slice(start, step)),
                    }
                }
                assert_eq!(encoder.num_values(), n);
                let (size, mut page) = (encoder.estimated_size(), vec![]);
                encoder.flush(&mut page);
                assert!(page.len() <= size);
                let mut sink = BytesSink::<i32>::new();
                let mut decoder = DeltaByteArrayDecoder::new(page.as_slice(), n, None).unwrap();
                decoder.read(n, &mut sink).unwrap();
                let read = sink.finish_binary(None).unwrap();
                assert_eq!(read.iter().flatten().collect::<Vec<_>>(), values);
                pages.push(page);
            }
            assert!(pages.iter().all(|page| *page == pages[0]));
        }
    }

    #[test]
    fn fixed_length_byte_arrays_share_beginnings_too() {
        let bytes: Vec<u8> = (0..3000u16).flat_map(|i| (i / 7).to_be_bytes()).collect();
        let (mut encoder, mut page) = (DeltaByteArrayEncoder::new(), vec![]);
        encoder.put(FixedBytes::new(&bytes, 6, 1000).unwrap());
        encoder.flush(&mut page);
        let mut sink = FixedBytesSink::new(6);
        let mut decoder = DeltaByteArrayDecoder::new(page.as_slice(), 1000, Some(6)).unwrap();
        decoder.read(1000, &mut sink).unwrap();
        assert_eq!(sink.as_bytes(), bytes);
    }

    #[test]
    fn writes_the_example_of_the_format() {
        let words: [&[u8]; 4] = [b"axis", b"axle", b"babble", b"babyhood"];
        let (mut encoder, mut page) = (DeltaByteArrayEncoder::new(), vec![]);
        encoder.put(&words[..]);
        encoder.flush(&mut page);
        // Shared: 0 2 0 3, added: 4 2 6 5.
        let shared = [0x80, 1, 4, 4, 0, 3, 3, 0, 0, 0, 0b0100_0100, 0b1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let added = [0x80, 1, 4, 4, 8, 3, 3, 0, 0, 0, 0b0111_0000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(page, [&shared[..], &added, b"axislebabbleyhood"].concat());
    }
}
