//! DELTA_BYTE_ARRAY: how many bytes each value shares with the one before it as DELTA_BINARY_PACKED, then what it adds
//! as DELTA_LENGTH_BYTE_ARRAY (Encodings.md, "Delta Strings").
//!
//! A value needs all before it: the last one is kept between calls. A page of few bytes may hold values of many, so
//! output grows only as values are asked for.

use crate::encoding::PageBytes;
use crate::encoding::delta_length_byte_array::{Lengths, sum};
use crate::encoding::rle::check_count;
use crate::error::{Error, Result};
use crate::sink::{ByteSink, impossible_prefix};

/// Decodes `BYTE_ARRAY` and `FIXED_LEN_BYTE_ARRAY`.
#[derive(Debug, Clone)]
pub struct DeltaByteArrayDecoder<B> {
    bytes: B,
    prefixes: Lengths<B>,
    suffixes: Lengths<B>,
    /// Where the next suffix begins.
    offset: usize,
    previous: Vec<u8>,
    /// Bytes that every value has to have.
    width: Option<usize>,
}

impl<B: PageBytes> DeltaByteArrayDecoder<B> {
    /// For `num_values` values; `bytes` begins with the header of the shared lengths. `width` is the number of bytes of
    /// a `FIXED_LEN_BYTE_ARRAY`.
    ///
    /// # Errors
    /// When the lengths are cut or break the format. With 0 values, nothing is looked at.
    pub fn new(bytes: B, num_values: usize, width: Option<usize>) -> Result<Self> {
        let (prefixes, suffixes_at) = Lengths::new(bytes.clone(), 0, num_values)?;
        let (suffixes, offset) = Lengths::new(bytes.clone(), suffixes_at, num_values)?;
        Ok(DeltaByteArrayDecoder { bytes, prefixes, suffixes, offset, previous: Vec::new(), width })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.prefixes.position()
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.prefixes.remaining()
    }

    /// Appends the next `n` values; gives how many fitted (see [`ByteSink`]).
    ///
    /// # Errors
    /// When there are fewer, by any count or by bytes; when a value would begin with more bytes than the one before it
    /// has; when it has not the width.
    pub fn read<S: ByteSink>(&mut self, n: usize, sink: &mut S) -> Result<usize> {
        check_count(n, self.remaining())?;
        let mut done = 0;
        while done < n {
            let (prefixes, suffixes) = next(&mut self.prefixes, &mut self.suffixes, n - done, self.width)?;
            sink.reserve(prefixes.len());
            let data = self.bytes.get(self.offset..).unwrap_or_default();
            let (taken, used) = sink.append_front_coded(prefixes, suffixes, data, &mut self.previous)?;
            let all = taken == prefixes.len();
            if done == 0 && all {
                // The others will be about as long.
                let byte_len = sum(prefixes)?.saturating_add(used);
                sink.reserve_bytes(share(byte_len, n - taken, taken).min(MAX_RESERVE));
            }
            self.advance(taken, used);
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
    /// As [`DeltaByteArrayDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        check_count(n, self.remaining())?;
        if n == self.remaining() {
            self.prefixes.skip_rest()?;
            return self.suffixes.skip_rest();
        }
        let mut wanted = n;
        while wanted > 0 {
            let (prefixes, suffixes) = next(&mut self.prefixes, &mut self.suffixes, wanted, self.width)?;
            let byte_len = sum(suffixes)?;
            let data = self.bytes.get(self.offset..).unwrap_or_default();
            let Some(mut data) = data.get(..byte_len) else {
                return Err(Error::end_of_data("suffixes of byte arrays", byte_len, data.len()));
            };
            for (&prefix, &suffix) in prefixes.iter().zip(suffixes) {
                let kept = usize::try_from(prefix).ok().filter(|&kept| kept <= self.previous.len());
                self.previous.truncate(kept.ok_or_else(|| impossible_prefix(prefix, self.previous.len()))?);
                let (suffix, rest) =
                    data.split_at_checked(suffix.unsigned_abs() as usize).unwrap_or_default();
                self.previous.extend_from_slice(suffix);
                data = rest;
            }
            let taken = prefixes.len();
            self.advance(taken, byte_len);
            wanted -= taken;
        }
        Ok(())
    }

    fn advance(&mut self, values: usize, bytes: usize) {
        self.prefixes.advance(values);
        self.suffixes.advance(values);
        self.offset += bytes;
    }
}

/// Bytes that room is made for before they are known to come.
const MAX_RESERVE: usize = 64 << 20;

/// What `n` values take, and an eighth more, if `of` take `byte_len`.
fn share(byte_len: usize, n: usize, of: usize) -> usize {
    let each = byte_len.saturating_add(byte_len / 8) / of.max(1) + 1;
    each.saturating_mul(n)
}

/// The lengths of some of the next values, as many of the one kind as of the other: at most `max`.
fn next<'a, B: PageBytes>(
    prefixes: &'a mut Lengths<B>,
    suffixes: &'a mut Lengths<B>,
    max: usize,
    width: Option<usize>,
) -> Result<(&'a [i32], &'a [i32])> {
    let prefixes = prefixes.next(max)?;
    let suffixes = suffixes.next(prefixes.len())?;
    if let Some(width) = width {
        let mut lens = prefixes.iter().zip(suffixes).map(|(&p, &s)| i64::from(p) + i64::from(s));
        if let Some(len) = lens.find(|&len| usize::try_from(len) != Ok(width)) {
            return Err(Error::malformed(format!("a value of {len} bytes, not {width}")));
        }
    }
    Ok((prefixes, suffixes))
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
mod tests {
    use super::*;
    use crate::encoding::delta_binary_packed::tests::{encode as encode_integers, random};
    use crate::sink::{Bits, BytesSink, FixedBytesSink, Sink, ViewSink};

    fn encode<V: AsRef<[u8]>>(values: &[V]) -> Vec<u8> {
        let (mut prefixes, mut suffixes, mut data) = (vec![], vec![], vec![]);
        let mut previous: &[u8] = &[];
        for value in values.iter().map(AsRef::as_ref) {
            let prefix = value.iter().zip(previous).take_while(|(a, b)| a == b).count();
            prefixes.push(prefix as i64);
            suffixes.push((value.len() - prefix) as i64);
            data.extend(&value[prefix..]);
            previous = value;
        }
        lay_out(&prefixes, &suffixes, &data)
    }

    fn lay_out(prefixes: &[i64], suffixes: &[i64], data: &[u8]) -> Vec<u8> {
        [encode_integers(prefixes, 32, 128, 4), encode_integers(suffixes, 32, 256, 4), data.to_vec()].concat()
    }

    fn samples(n: usize) -> Vec<Vec<u8>> {
        let mut next = random(5);
        let urls = (0..n / 2).map(|i| format!("https://example.org/{}/{i:07}", i / 100).into_bytes());
        let others = (n / 2..n).map(|_| (0..next() % 150).map(|_| b'a' + (next() % 2) as u8).collect());
        urls.chain(others.collect::<Vec<_>>()).collect()
    }

    /// The default bodies alone; takes `.1` values.
    struct Plain(Vec<Vec<u8>>, usize);

    impl Sink for Plain {
        fn len(&self) -> usize {
            self.0.len()
        }
        fn reserve(&mut self, _n: usize) {}
        fn spread(&mut self, _start: usize, _validity: Bits<'_>) -> Result<()> {
            Ok(())
        }
        fn push_nulls(&mut self, _n: usize) {}
        fn split_off(&mut self, at: usize) -> Self {
            Plain(self.0.split_off(at), self.1)
        }
    }

    impl ByteSink for Plain {
        fn push(&mut self, value: &[u8]) -> Result<bool> {
            let fits = self.0.len() < self.1;
            if fits {
                self.0.push(value.to_vec());
            }
            Ok(fits)
        }
    }

    #[test]
    fn reads_and_skips_in_steps_to_any_sink() {
        let values = samples(6000);
        let page = encode(&values);
        let mut decoder = DeltaByteArrayDecoder::new(&page[..], 6000, None).unwrap();
        for step in [1, 100, 0, 2500, 31, 1200] {
            let at = decoder.position();
            let (mut bytes, mut views) = (BytesSink::<i32>::new(), ViewSink::new());
            let mut plain = Plain(vec![], usize::MAX);
            assert_eq!(decoder.clone().read(step, &mut views).unwrap(), step);
            assert_eq!(decoder.clone().read(step, &mut plain).unwrap(), step);
            assert_eq!(decoder.read(step, &mut bytes).unwrap(), step);
            assert_eq!(plain.0, values[at..at + step]);
            let (bytes, views) = (bytes.finish_binary(None).unwrap(), views.finish_binary(None).unwrap());
            for (i, value) in values[at..at + step].iter().enumerate() {
                assert_eq!((bytes.value(i), views.value(i)), (&value[..], &value[..]));
            }
            decoder.skip(277).unwrap();
            assert_eq!(decoder.position(), at + step + 277);
        }
        let left = decoder.remaining();
        assert!(decoder.read(left + 1, &mut ViewSink::new()).is_err());
        decoder.skip(left).unwrap();
        assert_eq!(decoder.remaining(), 0);
    }

    #[test]
    fn values_of_a_fixed_width_have_that_width() {
        let values: Vec<[u8; 5]> =
            (0..3000u32).map(|i| (u64::from(i) << 7).to_be_bytes()[3..].try_into().unwrap()).collect();
        let page = encode(&values);
        let mut decoder = DeltaByteArrayDecoder::new(&page[..], 3000, Some(5)).unwrap();
        let mut sink = FixedBytesSink::new(5);
        decoder.skip(10).unwrap();
        decoder.read(2990, &mut sink).unwrap();
        assert_eq!(sink.as_bytes(), values[10..].as_flattened());
        for width in [4, 6] {
            let mut decoder = DeltaByteArrayDecoder::new(&page[..], 3000, Some(width)).unwrap();
            assert!(decoder.read(3, &mut BytesSink::<i32>::new()).is_err());
            assert!(decoder.skip(3).is_err());
            let mut decoder = DeltaByteArrayDecoder::new(&page[..], 3000, None).unwrap();
            assert!(decoder.read(3, &mut FixedBytesSink::new(width)).is_err());
        }
    }

    #[test]
    fn no_values_need_no_bytes() {
        for bytes in [&[][..], &[0, 0, 0, 0]] {
            let mut decoder = DeltaByteArrayDecoder::new(bytes, 0, None).unwrap();
            assert_eq!(decoder.read(0, &mut ViewSink::new()).unwrap(), 0);
        }
        assert!(DeltaByteArrayDecoder::new(&[][..], 1, None).is_err());
    }

    #[test]
    fn refuses_impossible_lengths_and_bytes_that_end_early() {
        for (prefixes, suffixes) in [
            ([0, 4], [3, 1]),
            ([1, 0], [3, 1]),
            ([0, -1], [3, 1]),
            ([0, 3], [3, -1]),
            ([0, 3], [3, 9]),
            ([0, 3], [3, i64::from(i32::MAX)]),
        ] {
            let page = lay_out(&prefixes, &suffixes, b"0123456789");
            let new = || DeltaByteArrayDecoder::new(&page[..], 2, None).unwrap();
            assert!(new().read(2, &mut BytesSink::<i32>::new()).is_err(), "{prefixes:?} {suffixes:?}");
            assert!(new().read(2, &mut ViewSink::new()).is_err());
            assert!(new().read(2, &mut Plain(vec![], 2)).is_err());
            let longer =
                lay_out(&[&prefixes[..], &[0]].concat(), &[&suffixes[..], &[0]].concat(), b"0123456789");
            assert!(DeltaByteArrayDecoder::new(&longer[..], 3, None).unwrap().skip(2).is_err());
        }
        let values = samples(70);
        let page = encode(&values);
        for cut in 0..page.len() {
            let read = DeltaByteArrayDecoder::new(&page[..cut], 70, None)
                .and_then(|mut decoder| decoder.read(70, &mut BytesSink::<i32>::new()));
            assert!(read.is_err(), "{cut}");
        }
    }

    #[test]
    fn a_full_sink_takes_what_fits() {
        let values = samples(100);
        let page = encode(&values);
        let mut decoder = DeltaByteArrayDecoder::new(&page[..], 100, None).unwrap();
        let mut all = vec![];
        while decoder.remaining() > 0 {
            let mut sink = Plain(vec![], 7);
            let taken = decoder.read(decoder.remaining(), &mut sink).unwrap();
            assert_eq!(taken, sink.0.len());
            all.extend(sink.0);
        }
        assert_eq!(all, values);
    }

    #[test]
    fn a_page_that_repeats_a_long_value_grows_only_as_it_is_read() {
        // A megabyte, and then a million times the same.
        let n = 1 << 20;
        let prefixes: Vec<i64> = (0..n).map(|i| if i == 0 { 0 } else { n }).collect();
        let suffixes: Vec<i64> = (0..n).map(|i| if i == 0 { n } else { 0 }).collect();
        let page = lay_out(&prefixes, &suffixes, &vec![b'x'; n as usize]);
        let mut decoder = DeltaByteArrayDecoder::new(&page[..], n as usize, None).unwrap();
        decoder.skip(n as usize - 3).unwrap();
        let mut sink = BytesSink::<i32>::new();
        assert_eq!(decoder.read(3, &mut sink).unwrap(), 3);
        assert_eq!(sink.values().len(), 3 << 20);
    }
}
