//! DELTA_LENGTH_BYTE_ARRAY: all lengths as DELTA_BINARY_PACKED, then all bytes end to end (Encodings.md, "Delta-length
//! byte array").
//!
//! Lengths are decoded a thousand at a time as they are needed, so that a header that claims many costs nothing.

use crate::encoding::PageBytes;
use crate::encoding::delta_binary_packed::DeltaBinaryPackedDecoder;
use crate::encoding::rle::check_count;
use crate::error::{Error, Result};
use crate::sink::{ByteSink, negative_length};

/// Decodes `BYTE_ARRAY`.
#[derive(Debug, Clone)]
pub struct DeltaLengthByteArrayDecoder<B> {
    bytes: B,
    lengths: Lengths<B>,
    /// Where the next value begins.
    offset: usize,
}

impl<B: PageBytes> DeltaLengthByteArrayDecoder<B> {
    /// For `num_values` values; `bytes` begins with the header of their lengths.
    ///
    /// # Errors
    /// When the lengths are cut or break the format. With 0 values, nothing is looked at.
    pub fn new(bytes: B, num_values: usize) -> Result<Self> {
        let (lengths, offset) = Lengths::new(bytes.clone(), 0, num_values)?;
        Ok(DeltaLengthByteArrayDecoder { bytes, lengths, offset })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.lengths.position()
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.lengths.remaining()
    }

    /// Appends the next `n` values; gives how many fitted (see [`ByteSink`]).
    ///
    /// # Errors
    /// When there are fewer, by either count or by bytes, or a length is negative.
    pub fn read<S: ByteSink>(&mut self, n: usize, sink: &mut S) -> Result<usize> {
        check_count(n, self.remaining())?;
        // As if the values were about as long as each other; never more than the page holds.
        let rest = self.bytes.len().saturating_sub(self.offset);
        sink.reserve_bytes((rest as u128 * n as u128 / self.remaining().max(1) as u128) as usize);
        let mut done = 0;
        while done < n {
            let lengths = self.lengths.next(n - done)?;
            let byte_len = sum(lengths)?;
            let data = self.bytes.get(self.offset..).unwrap_or_default();
            if byte_len > data.len() {
                return Err(Error::end_of_data("byte arrays", byte_len, data.len()));
            }
            sink.reserve(lengths.len());
            sink.reserve_bytes(byte_len);
            let taken = sink.append_lengths(lengths, data, self.bytes.buffer())?;
            let all = taken == lengths.len();
            self.offset += if all { byte_len } else { sum(lengths.get(..taken).unwrap_or_default())? };
            self.lengths.advance(taken);
            done += taken;
            if !all {
                break;
            }
        }
        Ok(done)
    }

    /// Passes over `n` values. Passing over all that are left costs nothing.
    ///
    /// # Errors
    /// As [`DeltaLengthByteArrayDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        check_count(n, self.remaining())?;
        if n == self.remaining() {
            return self.lengths.skip_rest();
        }
        let mut wanted = n;
        while wanted > 0 {
            let lengths = self.lengths.next(wanted)?;
            self.offset = self.offset.saturating_add(sum(lengths)?);
            let taken = lengths.len();
            self.lengths.advance(taken);
            wanted -= taken;
        }
        Ok(())
    }
}

/// Lengths in DELTA_BINARY_PACKED. They may be negative.
#[derive(Debug, Clone)]
pub(crate) struct Lengths<B> {
    decoder: DeltaBinaryPackedDecoder<B, i32>,
    /// Decoded and not yet used: those from `used` on. A full sink leaves some.
    ahead: Vec<i32>,
    used: usize,
}

impl<B: PageBytes> Lengths<B> {
    /// For a header at byte `start`; with the byte behind the lengths.
    pub(crate) fn new(bytes: B, start: usize, num_values: usize) -> Result<(Self, usize)> {
        let decoder = DeltaBinaryPackedDecoder::starting_at(bytes, start, num_values)?;
        let end = decoder.end_of_bytes()?;
        Ok((Lengths { decoder, ahead: Vec::new(), used: 0 }, end))
    }

    /// Lengths used so far.
    pub(crate) fn position(&self) -> usize {
        self.decoder.position() - (self.ahead.len() - self.used)
    }

    pub(crate) fn remaining(&self) -> usize {
        self.decoder.remaining() + (self.ahead.len() - self.used)
    }

    /// Some of the next lengths: at least one, at most `max`. The same ones until [`Lengths::advance`].
    pub(crate) fn next(&mut self, max: usize) -> Result<&[i32]> {
        if self.used == self.ahead.len() {
            self.used = 0;
            self.ahead.clear();
            // No more than asked for: a fault further on is not ours yet.
            self.decoder.read_into(max.min(AT_ONCE), &mut self.ahead)?;
        }
        let end = self.ahead.len().min(self.used.saturating_add(max));
        Ok(self.ahead.get(self.used..end).unwrap_or_default())
    }

    /// Steps over `n` of what [`Lengths::next`] gave.
    pub(crate) fn advance(&mut self, n: usize) {
        self.used = self.ahead.len().min(self.used + n);
    }

    pub(crate) fn skip_rest(&mut self) -> Result<()> {
        self.used = self.ahead.len();
        self.decoder.skip(self.decoder.remaining())
    }
}

/// Lengths decoded at once: within the first-level cache.
const AT_ONCE: usize = 1024;

/// The sum of at most [`AT_ONCE`] lengths.
pub(crate) fn sum(lengths: &[i32]) -> Result<usize> {
    let total: i64 = lengths.iter().map(|&len| i64::from(len)).sum();
    let signs = lengths.iter().fold(0, |signs, len| signs | len);
    if signs < 0 {
        return Err(negative_length(lengths.iter().copied().find(|&len| len < 0).unwrap_or(signs)));
    }
    usize::try_from(total).map_err(|_| Error::malformed("the sum of lengths is negative"))
}

#[cfg(test)]
#[allow(clippy::cast_possible_wrap)]
mod tests {
    use super::*;
    use crate::arrow::buffer::Buffer;
    use crate::encoding::delta_binary_packed::tests::{encode as encode_integers, random};
    use crate::sink::{BytesSink, Sink, ViewSink};

    fn encode(values: &[Vec<u8>]) -> Vec<u8> {
        let lengths: Vec<i64> = values.iter().map(|value| value.len() as i64).collect();
        let mut out = encode_integers(&lengths, 32, 128, 4);
        out.extend(values.concat());
        out
    }

    fn samples(n: usize) -> Vec<Vec<u8>> {
        let mut next = random(11);
        (0..n).map(|_| (0..next() % 40).map(|_| next().to_le_bytes()[0]).collect()).collect()
    }

    #[test]
    fn reads_and_skips_in_steps_to_any_sink() {
        let values = samples(5000);
        let page = Buffer::from(encode(&values));
        let mut decoder = DeltaLengthByteArrayDecoder::new(page, 5000).unwrap();
        for step in [1, 100, 0, 2500, 31, 1200] {
            let at = decoder.position();
            let (mut bytes, mut views) = (BytesSink::<i32>::new(), ViewSink::new());
            assert_eq!(decoder.clone().read(step, &mut views).unwrap(), step);
            assert_eq!(decoder.read(step, &mut bytes).unwrap(), step);
            let (bytes, views) = (bytes.finish_binary(None).unwrap(), views.finish_binary(None).unwrap());
            for (i, value) in values[at..at + step].iter().enumerate() {
                assert_eq!((bytes.value(i), views.value(i)), (&value[..], &value[..]));
            }
            decoder.skip(77).unwrap();
            assert_eq!(decoder.position(), at + step + 77);
        }
        let left = decoder.remaining();
        assert!(decoder.read(left + 1, &mut ViewSink::new()).is_err());
        decoder.skip(left).unwrap();
        assert_eq!(decoder.remaining(), 0);
        assert!(decoder.skip(1).is_err());
    }

    #[test]
    fn no_values_need_no_bytes() {
        for bytes in [&[][..], &[0, 0, 0, 0]] {
            let mut decoder = DeltaLengthByteArrayDecoder::new(bytes, 0).unwrap();
            assert_eq!(decoder.read(0, &mut ViewSink::new()).unwrap(), 0);
        }
        assert!(DeltaLengthByteArrayDecoder::new(&[][..], 1).is_err());
    }

    #[test]
    fn refuses_negative_lengths_and_bytes_that_end_early() {
        for lengths in [[3, -1], [-1, 3], [5, 6], [i64::from(i32::MAX); 2]] {
            let mut page = encode_integers(&lengths, 32, 128, 4);
            page.extend([7; 10]);
            let mut decoder = DeltaLengthByteArrayDecoder::new(&page[..], 2).unwrap();
            assert!(decoder.read(2, &mut BytesSink::<i32>::new()).is_err(), "{lengths:?}");
            let first = DeltaLengthByteArrayDecoder::new(&page[..], 2).unwrap().read(1, &mut ViewSink::new());
            assert_eq!(first.is_ok(), (0..10).contains(&lengths[0]));
        }
        let values = samples(300);
        let page = encode(&values);
        for cut in 0..page.len() {
            let read = DeltaLengthByteArrayDecoder::new(&page[..cut], 300)
                .and_then(|mut decoder| decoder.read(300, &mut BytesSink::<i32>::new()));
            assert!(read.is_err(), "{cut}");
        }
    }

    #[test]
    fn a_count_larger_than_the_bytes_hold_costs_nothing() {
        // 2^31 empty values.
        let page = [0x80, 0x80, 0x80, 0x80, 0x08, 1, 0x80, 0x80, 0x80, 0x80, 0x08, 0, 0, 0];
        let mut decoder = DeltaLengthByteArrayDecoder::new(&page[..], 1 << 31).unwrap();
        let mut sink = BytesSink::<i32>::new();
        assert_eq!(decoder.read(3000, &mut sink).unwrap(), 3000);
        assert_eq!((sink.len(), decoder.position()), (3000, 3000));
        decoder.skip((1 << 31) - 3000).unwrap();
        // The lengths count fewer than the page.
        let page = encode(&samples(3));
        let mut decoder = DeltaLengthByteArrayDecoder::new(&page[..], 4).unwrap();
        assert!(decoder.read(4, &mut sink).is_err());
    }

    #[test]
    fn a_full_sink_takes_what_fits() {
        /// Takes seven values.
        #[derive(Default)]
        struct Small(Vec<Vec<u8>>);
        impl Sink for Small {
            fn len(&self) -> usize {
                self.0.len()
            }
            fn reserve(&mut self, _n: usize) {}
            fn spread(&mut self, _start: usize, _validity: crate::sink::Bits<'_>) -> Result<()> {
                Ok(())
            }
            fn push_nulls(&mut self, _n: usize) {}
            fn split_off(&mut self, at: usize) -> Self {
                Small(self.0.split_off(at))
            }
        }
        impl ByteSink for Small {
            fn push(&mut self, value: &[u8]) -> Result<bool> {
                let fits = self.0.len() < 7;
                if fits {
                    self.0.push(value.to_vec());
                }
                Ok(fits)
            }
        }
        let values = samples(40);
        let page = encode(&values);
        let mut decoder = DeltaLengthByteArrayDecoder::new(&page[..], 40).unwrap();
        let mut all = vec![];
        while decoder.remaining() > 0 {
            let mut sink = Small::default();
            let taken = decoder.read(decoder.remaining(), &mut sink).unwrap();
            assert_eq!(taken, sink.0.len());
            assert!(taken == 7 || decoder.remaining() == 0);
            all.extend(sink.0);
        }
        assert_eq!(all, values);
    }
}
