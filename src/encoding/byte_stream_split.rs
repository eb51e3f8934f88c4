//! BYTE_STREAM_SPLIT: byte `k` of every value in stream `k`, the streams end to end (Encodings.md, "Byte Stream Split").
//!
//! The length of the bytes says how many values there are, and so where each stream begins. It has to be a whole number
//! of values. The page may count more, for it may count nulls too: reading past the bytes is the error.

use std::marker::PhantomData;

use crate::encoding::PageBytes;
use crate::encoding::rle::check_count;
use crate::error::{Error, Result};
use crate::raw::transpose::Streams;
use crate::sink::{ByteSink, FixedWidth, PrimitiveSink};

/// Decodes `FLOAT`, `DOUBLE`, `INT32` and `INT64`.
#[derive(Debug, Clone)]
pub struct ByteStreamSplitDecoder<B, T> {
    page: Page<B>,
    value: PhantomData<T>,
}

impl<B: PageBytes, T: FixedWidth> ByteStreamSplitDecoder<B, T> {
    /// For `num_values` values in `bytes`.
    ///
    /// # Errors
    /// When `bytes` is not a whole number of values. With 0 values, nothing is looked at.
    pub fn new(bytes: B, num_values: usize) -> Result<Self> {
        Ok(ByteStreamSplitDecoder { page: Page::new(bytes, num_values, size_of::<T>())?, value: PhantomData })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.page.position
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.page.remaining()
    }

    /// Appends the next `n` values; gives `n`.
    ///
    /// # Errors
    /// When there are fewer, by count or by bytes.
    pub fn read(&mut self, n: usize, sink: &mut PrimitiveSink<T>) -> Result<usize> {
        self.page.check(n)?;
        if let Some(streams) = self.page.streams() {
            streams.append(self.page.position, n, sink.as_mut_vec());
        }
        self.page.position += n;
        Ok(n)
    }

    /// Passes over `n` values.
    ///
    /// # Errors
    /// As [`ByteStreamSplitDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.page.skip(n)
    }
}

/// Decodes `FIXED_LEN_BYTE_ARRAY`.
#[derive(Debug, Clone)]
pub struct ByteStreamSplitBytesDecoder<B> {
    page: Page<B>,
    /// Some values, on their way to the sink.
    scratch: Vec<u8>,
}

impl<B: PageBytes> ByteStreamSplitBytesDecoder<B> {
    /// For `num_values` values of `width` bytes in `bytes`.
    ///
    /// # Errors
    /// When `width` is 0, or `bytes` is not a whole number of values. With 0 values, nothing is looked at.
    pub fn new(bytes: B, num_values: usize, width: usize) -> Result<Self> {
        Ok(ByteStreamSplitBytesDecoder { page: Page::new(bytes, num_values, width)?, scratch: Vec::new() })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.page.position
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.page.remaining()
    }

    /// Appends the next `n` values; gives how many fitted (see [`ByteSink`]).
    ///
    /// # Errors
    /// When there are fewer, by count or by bytes, or the sink refuses one.
    pub fn read<S: ByteSink>(&mut self, n: usize, sink: &mut S) -> Result<usize> {
        self.page.check(n)?;
        let Some(streams) = self.page.streams() else { return Ok(n) };
        sink.reserve(n);
        sink.reserve_bytes(n * self.page.width);
        let at_once = (SCRATCH / self.page.width).max(1);
        let mut done = 0;
        while done < n {
            let some = at_once.min(n - done);
            self.scratch.clear();
            streams.append_bytes(self.page.position + done, some, &mut self.scratch);
            let taken = sink.append_fixed(&self.scratch, self.page.width, None)?;
            done += taken;
            if taken < some {
                break;
            }
        }
        self.page.position += done;
        Ok(done)
    }

    /// Passes over `n` values.
    ///
    /// # Errors
    /// As [`ByteStreamSplitBytesDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.page.skip(n)
    }
}

/// Bytes of scratch: within the first-level cache.
const SCRATCH: usize = 16 * 1024;

#[derive(Debug, Clone)]
struct Page<B> {
    bytes: B,
    width: usize,
    num_values: usize,
    position: usize,
}

impl<B: PageBytes> Page<B> {
    fn new(bytes: B, num_values: usize, width: usize) -> Result<Self> {
        let page = Page { bytes, width, num_values, position: 0 };
        if num_values > 0 && page.streams().is_none() {
            let len = page.bytes.len();
            return Err(Error::malformed(format!(
                "{len} bytes of BYTE_STREAM_SPLIT, in values of {width} bytes"
            )));
        }
        Ok(page)
    }

    /// Refuses to go past what the page counts or holds.
    fn check(&self, n: usize) -> Result<()> {
        let held = self.streams().map_or(0, |streams| streams.len());
        check_count(n, self.num_values.min(held).saturating_sub(self.position))
    }

    /// `None` only where there are no values.
    fn streams(&self) -> Option<Streams<'_>> {
        Streams::new(&self.bytes, self.width)
    }

    fn remaining(&self) -> usize {
        self.num_values - self.position
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.check(n)?;
        self.position += n;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::sink::{BytesSink, FixedBytesSink};

    fn encode<const N: usize>(values: &[[u8; N]]) -> Vec<u8> {
        (0..N).flat_map(|k| values.iter().map(move |value| value[k])).collect()
    }

    #[test]
    fn reads_the_example_of_the_format() {
        let bytes = [0xaa, 0x00, 0xa3, 0xbb, 0x11, 0xb4, 0xcc, 0x22, 0xc5, 0xdd, 0x33, 0xd6];
        let mut sink = PrimitiveSink::<i32>::new();
        let mut decoder = ByteStreamSplitDecoder::<_, i32>::new(&bytes[..], 3).unwrap();
        assert_eq!(decoder.read(3, &mut sink).unwrap(), 3);
        let expected = [[0xaa, 0xbb, 0xcc, 0xdd], [0x00, 0x11, 0x22, 0x33], [0xa3, 0xb4, 0xc5, 0xd6]];
        assert_eq!(sink.as_slice(), expected.map(i32::from_le_bytes));
    }

    #[test]
    fn reads_and_skips_in_steps() {
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i) * 0.1).collect();
        let bytes = encode(&values.iter().map(|v| v.to_le_bytes()).collect::<Vec<_>>());
        let mut decoder = ByteStreamSplitDecoder::<_, f64>::new(&bytes[..], 1000).unwrap();
        for step in [1, 100, 0, 399, 7, 250] {
            let at = decoder.position();
            let mut sink = PrimitiveSink::new();
            decoder.read(step, &mut sink).unwrap();
            assert_eq!(sink.as_slice(), &values[at..at + step]);
            decoder.skip(5).unwrap();
            assert_eq!(decoder.position(), at + step + 5);
        }
        let left = decoder.remaining();
        assert!(decoder.read(left + 1, &mut PrimitiveSink::new()).is_err());
        assert!(decoder.skip(left + 1).is_err());
        assert_eq!(decoder.position(), 787);
    }

    #[test]
    fn reads_byte_arrays_of_any_width_to_any_sink() {
        let values: Vec<[u8; 7]> = (0..5000u32).map(|i| std::array::from_fn(|k| (i >> k) as u8)).collect();
        let bytes = encode(&values);
        let mut decoder = ByteStreamSplitBytesDecoder::new(&bytes[..], 5000, 7).unwrap();
        decoder.skip(13).unwrap();
        let mut fixed = FixedBytesSink::new(7);
        assert_eq!(decoder.clone().read(4987, &mut fixed).unwrap(), 4987);
        assert_eq!(fixed.as_bytes(), values[13..].as_flattened());
        let mut sink = BytesSink::<i32>::new();
        assert_eq!(decoder.read(4987, &mut sink).unwrap(), 4987);
        assert_eq!(sink.values(), values[13..].as_flattened());
        assert_eq!(decoder.remaining(), 0);
        let mut narrow = FixedBytesSink::new(6);
        assert!(ByteStreamSplitBytesDecoder::new(&bytes[..], 1, 7).unwrap().read(1, &mut narrow).is_err());
    }

    #[test]
    fn the_length_has_to_agree_with_the_count() {
        assert!(ByteStreamSplitDecoder::<_, f32>::new(&[0; 11][..], 2).is_err());
        assert!(ByteStreamSplitBytesDecoder::new(&[0; 12][..], 4, 0).is_err());
        // Fewer values than the page counts: those are read, and no more.
        let mut decoder = ByteStreamSplitDecoder::<_, f32>::new(&[0; 12][..], 5).unwrap();
        assert_eq!(decoder.read(3, &mut PrimitiveSink::new()).unwrap(), 3);
        assert!(decoder.read(1, &mut PrimitiveSink::new()).is_err());
        assert!(decoder.skip(1).is_err());
        // More values than the page counts: the streams are as long as the bytes make them.
        let bytes = encode(&[[1u8, 2], [3, 4], [5, 6]]);
        let mut sink = FixedBytesSink::new(2);
        ByteStreamSplitBytesDecoder::new(&bytes[..], 2, 2).unwrap().read(2, &mut sink).unwrap();
        assert_eq!(sink.as_bytes(), [1, 2, 3, 4]);
        for bytes in [&[][..], &[1, 2, 3]] {
            let mut decoder = ByteStreamSplitDecoder::<_, f32>::new(bytes, 0).unwrap();
            assert_eq!(decoder.read(0, &mut PrimitiveSink::new()).unwrap(), 0);
        }
    }
}
