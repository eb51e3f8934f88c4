//! PLAIN: values end to end (Encodings.md, "PLAIN = 0"). One decoder a shape: fixed width, bits, byte arrays, byte
//! arrays of one length.
//!
//! Bytes after the last value are not looked at. Bytes that end early are an error of the read that needs them, and
//! not of the constructor.

use std::marker::PhantomData;

use crate::arrow::buffer::{ArrowNativeType, ScalarBuffer};
use crate::bitmap::Bits;
use crate::cursor::Cursor;
use crate::encoding::PageBytes;
use crate::encoding::rle::check_count;
use crate::error::{Error, Result};
use crate::raw::fixed::extend_from_bytes;
use crate::sink::{BooleanSink, ByteSink, FixedWidth, PrimitiveSink};

/// Decodes `INT32`, `INT64`, `INT96`, `FLOAT` and `DOUBLE`.
#[derive(Debug, Clone)]
pub struct PlainDecoder<B, T> {
    bytes: B,
    num_values: usize,
    position: usize,
    value: PhantomData<T>,
}

impl<B: PageBytes, T: FixedWidth> PlainDecoder<B, T> {
    /// For `num_values` values at the start of `bytes`.
    ///
    /// # Errors
    /// None so far.
    pub fn new(bytes: B, num_values: usize) -> Result<Self> {
        Ok(PlainDecoder { bytes, num_values, position: 0, value: PhantomData })
    }

    /// Values read, lent or skipped so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.num_values - self.position
    }

    /// Appends the next `n` values; gives `n`.
    ///
    /// # Errors
    /// When there are fewer, by count or by bytes.
    pub fn read(&mut self, n: usize, sink: &mut PrimitiveSink<T>) -> Result<usize> {
        check_count(n, self.remaining())?;
        let bytes = values_of(&self.bytes, self.position, n, size_of::<T>())?;
        extend_from_bytes(sink.as_mut_vec(), bytes);
        self.position += n;
        Ok(n)
    }

    /// Passes over `n` values.
    ///
    /// # Errors
    /// As [`PlainDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        check_count(n, self.remaining())?;
        values_of(&self.bytes, self.position, n, size_of::<T>())?;
        self.position += n;
        Ok(())
    }
}

impl<B: PageBytes, T: ArrowNativeType> PlainDecoder<B, T> {
    /// The next `n` values as a part of the page's buffer, without a copy. `None`, and no move, where the page is no
    /// buffer or its values are not aligned for `T`.
    ///
    /// # Errors
    /// As [`PlainDecoder::read`].
    pub fn lend(&mut self, n: usize) -> Result<Option<ScalarBuffer<T>>> {
        check_count(n, self.remaining())?;
        let byte_len = values_of(&self.bytes, self.position, n, size_of::<T>())?.len();
        let start = self.position * size_of::<T>();
        let Some(buffer) = self.bytes.buffer().filter(|buffer| buffer.len() >= start + byte_len) else {
            return Ok(None);
        };
        let values = buffer.slice_with_length(start, byte_len);
        if !(values.as_ptr() as usize).is_multiple_of(align_of::<T>()) {
            return Ok(None);
        }
        self.position += n;
        Ok(Some(ScalarBuffer::new(values, 0, n)))
    }
}

/// Decodes `BOOLEAN`: one bit each, least significant first.
#[derive(Debug, Clone)]
pub struct PlainBooleanDecoder<B> {
    bytes: B,
    num_values: usize,
    position: usize,
}

impl<B: PageBytes> PlainBooleanDecoder<B> {
    /// For `num_values` bits at the start of `bytes`.
    ///
    /// # Errors
    /// None so far.
    pub fn new(bytes: B, num_values: usize) -> Result<Self> {
        Ok(PlainBooleanDecoder { bytes, num_values, position: 0 })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.num_values - self.position
    }

    /// Appends the next `n` values; gives `n`.
    ///
    /// # Errors
    /// When there are fewer, by count or by bytes.
    pub fn read(&mut self, n: usize, sink: &mut BooleanSink) -> Result<usize> {
        check_count(n, self.remaining())?;
        sink.bitmap_mut().extend(Bits::new(&self.bytes, self.position, n)?);
        self.position += n;
        Ok(n)
    }

    /// Passes over `n` values.
    ///
    /// # Errors
    /// As [`PlainBooleanDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        check_count(n, self.remaining())?;
        Bits::new(&self.bytes, self.position, n)?;
        self.position += n;
        Ok(())
    }
}

/// Decodes `BYTE_ARRAY`: a length of 4 bytes, little endian, then as many bytes.
#[derive(Debug, Clone)]
pub struct PlainBytesDecoder<B> {
    bytes: B,
    num_values: usize,
    position: usize,
    /// Where the next length begins.
    offset: usize,
}

impl<B: PageBytes> PlainBytesDecoder<B> {
    /// For `num_values` byte arrays at the start of `bytes`.
    ///
    /// # Errors
    /// None so far.
    pub fn new(bytes: B, num_values: usize) -> Result<Self> {
        Ok(PlainBytesDecoder { bytes, num_values, position: 0, offset: 0 })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.num_values - self.position
    }

    /// Appends the next `n` values; gives how many fitted (see [`ByteSink`]).
    ///
    /// # Errors
    /// When there are fewer, by count or by bytes.
    pub fn read<S: ByteSink>(&mut self, n: usize, sink: &mut S) -> Result<usize> {
        check_count(n, self.remaining())?;
        let rest = self.bytes.get(self.offset..).unwrap_or_default();
        let possible = n.min(rest.len() / 4);
        sink.reserve(possible);
        sink.reserve_bytes(self.expected_bytes(possible, rest.len()));
        let (taken, used) = sink.append_plain(rest, n, self.bytes.buffer())?;
        self.position += taken;
        self.offset += used;
        Ok(taken)
    }

    /// Bytes of the next `n` values without their lengths, if they are about as long as the others left.
    fn expected_bytes(&self, n: usize, rest: usize) -> usize {
        let left = self.remaining().min(rest / 4).max(1);
        let share = (rest as u128 * n as u128 / left as u128) as usize;
        share.saturating_sub(4 * n)
    }

    /// Passes over `n` values.
    ///
    /// # Errors
    /// As [`PlainBytesDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        check_count(n, self.remaining())?;
        let mut cursor = Cursor::at(&self.bytes, self.offset);
        for _ in 0..n {
            let len = cursor.u32_le("length of a byte array")?;
            cursor.skip(len as usize, "byte array")?;
        }
        self.offset = cursor.position();
        self.position += n;
        Ok(())
    }
}

/// Decodes `FIXED_LEN_BYTE_ARRAY`.
#[derive(Debug, Clone)]
pub struct PlainFixedBytesDecoder<B> {
    bytes: B,
    num_values: usize,
    position: usize,
    width: usize,
}

impl<B: PageBytes> PlainFixedBytesDecoder<B> {
    /// For `num_values` byte arrays of `width` bytes at the start of `bytes`.
    ///
    /// # Errors
    /// None so far.
    pub fn new(bytes: B, num_values: usize, width: usize) -> Result<Self> {
        Ok(PlainFixedBytesDecoder { bytes, num_values, position: 0, width })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.num_values - self.position
    }

    /// Appends the next `n` values; gives how many fitted (see [`ByteSink`]).
    ///
    /// # Errors
    /// When there are fewer, by count or by bytes.
    pub fn read<S: ByteSink>(&mut self, n: usize, sink: &mut S) -> Result<usize> {
        check_count(n, self.remaining())?;
        let values = values_of(&self.bytes, self.position, n, self.width)?;
        let taken = match self.width {
            0 => sink.push_n(&[], n)?,
            _ => {
                sink.reserve(n);
                sink.reserve_bytes(values.len());
                sink.append_fixed(values, self.width, self.bytes.buffer())?
            }
        };
        self.position += taken;
        Ok(taken)
    }

    /// Passes over `n` values.
    ///
    /// # Errors
    /// As [`PlainFixedBytesDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        check_count(n, self.remaining())?;
        values_of(&self.bytes, self.position, n, self.width)?;
        self.position += n;
        Ok(())
    }
}

/// The bytes of `n` values from value `first` on, `width` bytes each.
pub(crate) fn values_of(bytes: &[u8], first: usize, n: usize, width: usize) -> Result<&[u8]> {
    let start = first.saturating_mul(width);
    let byte_len = n.saturating_mul(width);
    bytes
        .get(start..start.saturating_add(byte_len))
        .ok_or_else(|| Error::end_of_data("values", byte_len, bytes.len().saturating_sub(start)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::buffer::Buffer;
    use crate::raw::fixed::as_bytes;
    use crate::sink::{BytesSink, FixedBytesSink, Int96, Sink, ViewSink};

    #[test]
    fn fixed_widths_are_read_skipped_and_lent() {
        let values: Vec<i64> = (0..20).map(|i| i * i - 50).collect();
        let bytes = [as_bytes(&values), b"after"].concat();
        let mut decoder = PlainDecoder::<_, i64>::new(bytes.as_slice(), 20).unwrap();
        let mut sink = PrimitiveSink::new();
        assert_eq!(decoder.read(7, &mut sink).unwrap(), 7);
        decoder.skip(3).unwrap();
        assert!(decoder.lend(2).unwrap().is_none());
        assert_eq!(decoder.clone().read(10, &mut sink).unwrap(), 10);
        assert_eq!(decoder.position(), 10);
        assert_eq!(sink.as_slice(), [&values[..7], &values[10..]].concat());
        assert!(decoder.read(11, &mut sink).is_err());
        assert!(decoder.skip(usize::MAX).is_err());

        let page = Buffer::from_vec(values.clone());
        let mut decoder = PlainDecoder::<_, i64>::new(page.clone(), 20).unwrap();
        decoder.skip(2).unwrap();
        let lent = decoder.lend(5).unwrap().unwrap();
        assert_eq!(&lent[..], &values[2..7]);
        assert_eq!(lent.inner().as_ptr(), page.as_slice()[16..].as_ptr());
        assert_eq!(decoder.position(), 7);
        assert!(decoder.lend(14).is_err());
        let mut odd = PlainDecoder::<_, i64>::new(page.slice(1), 19).unwrap();
        assert!(odd.lend(3).unwrap().is_none());
        assert_eq!(odd.position(), 0);
    }

    #[test]
    fn int96_is_twelve_bytes() {
        let bytes: Vec<u8> = (0..36).collect();
        let mut sink = PrimitiveSink::<Int96>::new();
        PlainDecoder::new(bytes.as_slice(), 3).unwrap().read(3, &mut sink).unwrap();
        assert_eq!(sink.as_slice()[1].0, bytes[12..24]);
    }

    #[test]
    fn bytes_that_end_early_fail_the_read_that_needs_them() {
        let bytes = [0u8; 17];
        let mut decoder = PlainDecoder::<_, f64>::new(bytes.as_slice(), 3).unwrap();
        let mut sink = PrimitiveSink::new();
        decoder.read(2, &mut sink).unwrap();
        assert!(decoder.read(1, &mut sink).is_err());
        assert!(decoder.skip(1).is_err());
        let mut bits = PlainBooleanDecoder::new([0xff].as_slice(), 100).unwrap();
        bits.read(8, &mut BooleanSink::new()).unwrap();
        assert!(bits.read(1, &mut BooleanSink::new()).is_err());
        assert!(bits.skip(1).is_err());
        let mut huge = PlainDecoder::<_, i32>::new(bytes.as_slice(), usize::MAX).unwrap();
        assert!(huge.read(usize::MAX, &mut PrimitiveSink::new()).is_err());
    }

    #[test]
    fn booleans_are_bits() {
        let bytes = [0b1010_0110, 0b0000_1111, 0b0101_0101];
        let mut decoder = PlainBooleanDecoder::new(bytes.as_slice(), 22).unwrap();
        let mut sink = BooleanSink::new();
        decoder.read(3, &mut sink).unwrap();
        decoder.skip(7).unwrap();
        decoder.read(12, &mut sink).unwrap();
        let bit = |i: usize| bytes[i / 8] >> (i % 8) & 1 == 1;
        let expected: Vec<bool> = (0..3).chain(10..22).map(bit).collect();
        assert_eq!(sink.finish(None).unwrap().values().iter().collect::<Vec<_>>(), expected);
        assert!(decoder.skip(1).is_err());
    }

    #[test]
    fn byte_arrays_go_to_every_sink() {
        let values: Vec<Vec<u8>> = (0..50).map(|i| vec![i; usize::from(i) % 20]).collect();
        let mut page: Vec<u8> = vec![];
        for value in &values {
            page.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
            page.extend(value);
        }
        page.extend(b"after");
        let page = Buffer::from(page);
        let mut decoder = PlainBytesDecoder::new(page, 50).unwrap();
        let (mut bytes, mut views) = (BytesSink::<i32>::new(), ViewSink::new());
        decoder.skip(3).unwrap();
        assert_eq!(decoder.clone().read(40, &mut views).unwrap(), 40);
        assert_eq!(decoder.read(40, &mut bytes).unwrap(), 40);
        assert_eq!(decoder.position(), 43);
        let (bytes, views) = (bytes.finish_binary(None).unwrap(), views.finish_binary(None).unwrap());
        assert_eq!(bytes.iter().flatten().collect::<Vec<_>>(), values[3..43]);
        assert_eq!(views.iter().flatten().collect::<Vec<_>>(), values[3..43]);
        assert!(decoder.skip(8).is_err());
        decoder.skip(7).unwrap();
        assert_eq!(decoder.remaining(), 0);
    }

    #[test]
    fn refuses_byte_arrays_that_end_early() {
        for page in [b"\x05\0\0\0abcd".as_slice(), b"\x05\0\0", b"\xff\xff\xff\xff", b""] {
            let decoder = PlainBytesDecoder::new(page, 1 << 40).unwrap();
            assert!(decoder.clone().read(1, &mut BytesSink::<i32>::new()).is_err());
            assert!(decoder.clone().read(1 << 40, &mut ViewSink::new()).is_err());
            assert!(decoder.clone().skip(1).is_err());
        }
    }

    #[test]
    fn fixed_length_byte_arrays() {
        let page: Vec<u8> = (0..35).collect();
        let mut decoder = PlainFixedBytesDecoder::new(page.as_slice(), 5, 7).unwrap();
        let (mut fixed, mut bytes) = (FixedBytesSink::new(7), BytesSink::<i64>::new());
        decoder.skip(1).unwrap();
        assert_eq!(decoder.clone().read(3, &mut fixed).unwrap(), 3);
        assert_eq!(decoder.read(3, &mut bytes).unwrap(), 3);
        assert_eq!(fixed.as_bytes(), &page[7..28]);
        assert_eq!(bytes.offsets(), [0, 7, 14, 21]);
        assert!(decoder.read(2, &mut fixed).is_err());
        assert!(PlainFixedBytesDecoder::new(page.as_slice(), 6, 7).unwrap().read(6, &mut fixed).is_err());
        let mut empty = PlainFixedBytesDecoder::new([].as_slice(), 3, 0).unwrap();
        assert_eq!(empty.read(3, &mut bytes).unwrap(), 3);
        assert_eq!(bytes.len(), 6);
    }
}
