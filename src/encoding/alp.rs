//! ALP: floats as decimals, scaled to integers and bit-packed, with exceptions as they are (AlpEncoding.md).
//!
//! ```text
//! header     mode, integer encoding, log2 of the vector size, number of values         7 bytes
//! offsets    of each vector from here                                                   4 bytes a vector
//! vector     exponent, factor, number of exceptions, frame, bit width; packed integers; positions and values of
//!            exceptions
//! ```
//!
//! Any vector is found by its offset, so that skipping costs nothing.

use crate::cursor::Cursor;
use crate::encoding::PageBytes;
use crate::encoding::rle::check_count;
use crate::error::{Error, Result};
pub use crate::raw::alp::AlpFloat;
use crate::raw::alp::Packed;
use crate::sink::PrimitiveSink;

/// Decodes `FLOAT` and `DOUBLE`.
#[derive(Debug, Clone)]
pub struct AlpDecoder<B, T> {
    bytes: B,
    num_values: usize,
    position: usize,
    /// Values in all but the last vector: a power of two.
    vector_size: usize,
    /// Values in all vectors.
    total: usize,
    /// A vector of which only a part was read, and its number.
    open: Vec<T>,
    open_number: Option<usize>,
}

impl<B: PageBytes, T: AlpFloat> AlpDecoder<B, T> {
    /// Starts at the header. `num_values` is the page's count; the header's may be another.
    ///
    /// # Errors
    /// When the header or the offsets are cut, break the format, or name an encoding that is not known. With 0 values,
    /// nothing is looked at.
    pub fn new(bytes: B, num_values: usize) -> Result<Self> {
        let (vector_size, total) = if num_values == 0 { (1, 0) } else { read_header(&bytes)? };
        Ok(AlpDecoder {
            bytes,
            num_values,
            position: 0,
            vector_size,
            total,
            open: Vec::new(),
            open_number: None,
        })
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
    /// When there are fewer, by either count, or a vector is cut or breaks the format.
    pub fn read(&mut self, n: usize, sink: &mut PrimitiveSink<T>) -> Result<usize> {
        self.check(n)?;
        let out = sink.as_mut_vec();
        let mut wanted = n;
        while wanted > 0 {
            let (number, within) = (self.position / self.vector_size, self.position % self.vector_size);
            let len = self.vector_len(number);
            if within == 0 && wanted >= len {
                decode_vector(self.vector(number)?, len, out)?;
                self.position += len;
                wanted -= len;
                continue;
            }
            if self.open_number != Some(number) {
                self.open_number = None;
                let mut open = std::mem::take(&mut self.open);
                open.clear();
                decode_vector(self.vector(number)?, len, &mut open)?;
                (self.open, self.open_number) = (open, Some(number));
            }
            let some = wanted.min(len - within);
            out.extend_from_slice(self.open.get(within..within + some).unwrap_or_default());
            self.position += some;
            wanted -= some;
        }
        Ok(n)
    }

    /// Passes over `n` values, whatever they are.
    ///
    /// # Errors
    /// When there are fewer, by either count.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.check(n)?;
        self.position += n;
        Ok(())
    }

    fn check(&self, n: usize) -> Result<()> {
        check_count(n, self.num_values.min(self.total).saturating_sub(self.position))
    }

    /// Values in a vector.
    fn vector_len(&self, number: usize) -> usize {
        self.vector_size.min(self.total - number * self.vector_size)
    }

    /// The bytes from a vector's header to the next vector.
    fn vector(&self, number: usize) -> Result<&[u8]> {
        let offset_at = |number: usize| {
            let offset = Cursor::at(&self.bytes, HEADER + 4 * number).u32_le("offset of an ALP vector")?;
            Ok::<_, Error>(HEADER + offset as usize)
        };
        let last = number + 1 == self.total.div_ceil(self.vector_size);
        let (start, end) = (offset_at(number)?, if last { self.bytes.len() } else { offset_at(number + 1)? });
        self.bytes.get(start..end).ok_or_else(|| {
            Error::malformed(format!("an ALP vector from byte {start} to {end}, of {}", self.bytes.len()))
        })
    }
}

/// Bytes of the page's header.
const HEADER: usize = 7;

/// The vector size and the number of values. The offsets are found to be there.
fn read_header(bytes: &[u8]) -> Result<(usize, usize)> {
    let mut cursor = Cursor::new(bytes);
    let mode = cursor.u8("compression mode of ALP")?;
    let integer_encoding = cursor.u8("integer encoding of ALP")?;
    if (mode, integer_encoding) != (0, 0) {
        return Err(Error::unsupported(format!(
            "ALP of mode {mode} with integer encoding {integer_encoding}"
        )));
    }
    let log_size = cursor.u8("vector size of ALP")?;
    if !(3..=15).contains(&log_size) {
        return Err(Error::malformed(format!("ALP vectors of 2^{log_size} values")));
    }
    let total = cursor.i32_le("number of values in ALP")?;
    let total = usize::try_from(total).map_err(|_| Error::malformed(format!("{total} values in ALP")))?;
    let vector_size = 1 << log_size;
    cursor.skip(4 * total.div_ceil(vector_size), "offsets of ALP vectors")?;
    Ok((vector_size, total))
}

/// Appends the `len` values of a vector that begins `bytes`.
fn decode_vector<T: AlpFloat>(bytes: &[u8], len: usize, out: &mut Vec<T>) -> Result<()> {
    let mut cursor = Cursor::new(bytes);
    let exponent = cursor.u8("exponent of an ALP vector")?;
    let factor = cursor.u8("factor of an ALP vector")?;
    let Some(scale) = T::scale(exponent, factor) else {
        return Err(Error::malformed(format!("an ALP vector of exponent {exponent} and factor {factor}")));
    };
    let num_exceptions = usize::from(u16::from_le_bytes(cursor.array("exceptions of an ALP vector")?));
    let frame = match T::BITS {
        32 => u64::from(cursor.u32_le("frame of an ALP vector")?),
        _ => u64::from_le_bytes(cursor.array("frame of an ALP vector")?),
    };
    let width = cursor.u8("bit width of an ALP vector")?;
    if width > T::BITS || num_exceptions > len {
        return Err(Error::malformed(format!(
            "an ALP vector of {len} values with {num_exceptions} exceptions and {width} bits a value"
        )));
    }
    let packed = Packed { bytes: cursor.rest(), width, frame };
    cursor.skip((len * usize::from(width)).div_ceil(8), "packed integers of an ALP vector")?;
    let positions = cursor.take(2 * num_exceptions, "exceptions of an ALP vector")?;
    let exceptions = cursor.take(size_of::<T>() * num_exceptions, "exceptions of an ALP vector")?;

    let start = out.len();
    packed.decode(len, scale, out);
    let values = out.get_mut(start..).unwrap_or_default();
    for (position, exception) in positions.chunks_exact(2).zip(exceptions.chunks_exact(size_of::<T>())) {
        let position = position.iter().rev().fold(0, |position, &byte| position << 8 | usize::from(byte));
        match (values.get_mut(position), T::from_le(exception)) {
            (Some(value), Some(exception)) => *value = exception,
            _ => {
                return Err(Error::malformed(format!(
                    "exception {position} in an ALP vector of {len} values"
                )));
            }
        }
    }
    Ok(())
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
mod tests {
    use super::*;
    use crate::encoding::delta_binary_packed::tests::random;

    /// One vector of doubles by given integers and exceptions.
    fn vector(exponent: u8, factor: u8, integers: &[i64], exceptions: &[(u16, f64)]) -> Vec<u8> {
        let frame = integers.iter().copied().min().unwrap();
        let deltas: Vec<u64> = integers.iter().map(|&i| i.wrapping_sub(frame) as u64).collect();
        let width = deltas.iter().map(|d| 64 - d.leading_zeros()).max().unwrap() as usize;
        let mut packed = vec![0u8; (deltas.len() * width).div_ceil(8)];
        for (i, delta) in deltas.iter().enumerate() {
            for b in (0..width).filter(|b| delta >> b & 1 == 1) {
                packed[(i * width + b) / 8] |= 1 << ((i * width + b) % 8);
            }
        }
        let mut out = vec![exponent, factor];
        out.extend((exceptions.len() as u16).to_le_bytes());
        out.extend(frame.to_le_bytes());
        out.push(width as u8);
        out.extend(packed);
        out.extend(exceptions.iter().flat_map(|(position, _)| position.to_le_bytes()));
        out.extend(exceptions.iter().flat_map(|(_, value)| value.to_le_bytes()));
        out
    }

    fn page(log_size: u8, total: usize, vectors: &[Vec<u8>]) -> Vec<u8> {
        let mut out = vec![0, 0, log_size];
        out.extend((total as u32).to_le_bytes());
        let mut offset = vectors.len() * 4;
        for vector in vectors {
            out.extend((offset as u32).to_le_bytes());
            offset += vector.len();
        }
        out.extend(vectors.concat());
        out
    }

    /// Vectors of 64 values: two decimals, with an exception now and then.
    fn sample(total: usize) -> (Vec<f64>, Vec<u8>) {
        let mut next = random(3);
        let mut values = vec![];
        let mut vectors = vec![];
        for start in (0..total).step_by(64) {
            let len = 64.min(total - start);
            let integers: Vec<i64> = (0..len).map(|_| (next() % 100_000) as i64 - 5000).collect();
            let mut decoded: Vec<f64> = integers.iter().map(|&i| i as f64 * 1e1 * 1e-3).collect();
            let exceptions = [(next() % len as u64, f64::INFINITY), (next() % len as u64, -0.0)];
            exceptions.iter().for_each(|&(position, value)| decoded[position as usize] = value);
            let exceptions = exceptions.map(|(position, value)| (position as u16, value));
            vectors.push(vector(3, 1, &integers, if len > 1 { &exceptions } else { &[] }));
            if len == 1 {
                decoded = vec![integers[0] as f64 * 1e1 * 1e-3];
            }
            values.extend(decoded);
        }
        let page = page(6, total, &vectors);
        (values, page)
    }

    fn bits(values: &[f64]) -> Vec<u64> {
        values.iter().map(|v| v.to_bits()).collect()
    }

    #[test]
    fn reads_the_example_of_the_format() {
        let nan = f64::from_bits(0x7ff8_dead_beef_0001);
        let bytes = page(10, 4, &[vector(4, 3, &[15000, 15000, 25000, 3335], &[(1, nan)])]);
        assert_eq!(bytes.len(), 7 + 4 + 31);
        let mut sink = PrimitiveSink::new();
        AlpDecoder::<_, f64>::new(&bytes[..], 4).unwrap().read(4, &mut sink).unwrap();
        assert_eq!(bits(sink.as_slice()), bits(&[1500.0, nan, 2500.0, 333.5]));
    }

    #[test]
    fn reads_floats() {
        let mut vector = vec![2, 0, 1, 0];
        vector.extend((-100i32).to_le_bytes());
        vector.extend([8, 0, 50, 255, 1, 0]);
        vector.extend(f32::NAN.to_le_bytes());
        let bytes = page(3, 3, &[vector]);
        let mut sink = PrimitiveSink::<f32>::new();
        AlpDecoder::new(&bytes[..], 3).unwrap().read(3, &mut sink).unwrap();
        assert_eq!((sink.as_slice()[0], sink.as_slice()[2]), (-1.0, 1.55));
        assert!(sink.as_slice()[1].is_nan());
    }

    #[test]
    fn reads_and_skips_in_steps() {
        for total in [1, 8, 63, 64, 65, 1000] {
            let (values, page) = sample(total);
            let mut next = random(total as u64);
            for _ in 0..20 {
                let mut decoder = AlpDecoder::<_, f64>::new(&page[..], total).unwrap();
                while decoder.remaining() > 0 {
                    let at = decoder.position();
                    let n = (next() as usize % 200).min(decoder.remaining());
                    let mut sink = PrimitiveSink::new();
                    decoder.read(n, &mut sink).unwrap();
                    assert_eq!(bits(sink.as_slice()), bits(&values[at..at + n]));
                    decoder.skip((next() as usize % 100).min(decoder.remaining())).unwrap();
                }
                assert!(decoder.read(1, &mut PrimitiveSink::new()).is_err());
                assert!(decoder.skip(1).is_err());
            }
        }
    }

    #[test]
    fn no_values_need_no_bytes_and_any_count_may_be_the_smaller() {
        assert_eq!(
            AlpDecoder::<_, f32>::new(&[][..], 0).unwrap().read(0, &mut PrimitiveSink::new()).unwrap(),
            0
        );
        assert!(AlpDecoder::<_, f32>::new(&[][..], 1).is_err());
        let (values, page) = sample(100);
        let mut decoder = AlpDecoder::<_, f64>::new(&page[..], 200).unwrap();
        let mut sink = PrimitiveSink::new();
        decoder.read(100, &mut sink).unwrap();
        assert_eq!(bits(sink.as_slice()), bits(&values));
        assert!(decoder.read(1, &mut sink).is_err());
        let mut decoder = AlpDecoder::<_, f64>::new(&page[..], 3).unwrap();
        decoder.read(3, &mut sink).unwrap();
        assert!(decoder.read(1, &mut sink).is_err());
    }

    #[test]
    fn refuses_what_breaks_the_format() {
        let read = |bytes: &[u8], n| {
            AlpDecoder::<_, f64>::new(bytes, n).and_then(|mut d| d.read(n, &mut PrimitiveSink::new()))
        };
        let (_, page) = sample(100);
        assert!(read(&page, 100).is_ok());
        for len in 0..page.len() {
            assert!(read(&page[..len], 100).is_err(), "{len}");
        }
        // Header: mode, integer encoding, vector size, count. The first vector is at byte 15.
        let faults: [(usize, &[u8]); 13] = [
            (0, &[1]),
            (1, &[1]),
            (2, &[2]),
            (2, &[16]),
            (3, &[0, 0, 0, 0x80]),
            (3, &[0xff, 0xff, 0xff, 0x7f]),
            (7, &[0xff, 0xff, 0xff, 0xff]),
            (11, &[0, 0, 0, 0]),
            (15, &[19]),
            (16, &[4]),
            (17, &[65, 0]),
            (27, &[65]),
            (27, &[64]),
        ];
        for (at, with) in faults {
            let mut page = page.clone();
            page[at..at + with.len()].copy_from_slice(with);
            assert!(read(&page, 100).is_err(), "{at} {with:?}");
        }
        let outside = self::page(6, 3, &[vector(0, 0, &[1, 2, 3], &[(3, 0.0)])]);
        assert!(read(&outside, 3).is_err());
    }

    #[test]
    fn random_bytes_never_panic() {
        let (_, page) = sample(200);
        let mut next = random(9);
        for _ in 0..20_000 {
            let mut page = page.clone();
            for _ in 0..1 + next() % 3 {
                let at = next() as usize % page.len();
                page[at] = next() as u8;
            }
            if let Ok(mut decoder) = AlpDecoder::<_, f64>::new(&page[..], 200) {
                let _ = decoder.read(200, &mut PrimitiveSink::new());
            }
        }
    }
}
