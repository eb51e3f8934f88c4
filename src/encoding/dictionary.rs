//! RLE_DICTIONARY (and PLAIN_DICTIONARY): ids into a dictionary page (Encodings.md, "Dictionary Encoding").
//!
//! A data page is one byte of bit width, then ids in the RLE / bit-packing hybrid. A dictionary page is PLAIN; the
//! functions at the end decode one. Ids are unpacked about a thousand at a time into the first-level cache, checked
//! once, and then looked up; long runs of one id are fills.

use crate::encoding::PageBytes;
use crate::encoding::plain::values_of;
use crate::encoding::rle::RleDecoder;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::byte_dictionary::PADDING;
use crate::raw::byte_store::ByteStore;
use crate::raw::fixed::extend_from_bytes;
use crate::raw::gather::{check_keys, gather};
use crate::sink::{ByteDictionary, ByteSink, FixedWidth, PrimitiveSink};

/// Decodes the ids of a data page, as they are or looked up in a dictionary.
#[derive(Debug, Clone)]
pub struct DictionaryDecoder<B> {
    ids: RleDecoder<B>,
}

impl<B: PageBytes> DictionaryDecoder<B> {
    /// For the `num_values` ids of a data page. `bytes` may be empty where there are none.
    ///
    /// # Errors
    /// When the bit width is missing or more than 32.
    pub fn new(bytes: B, num_values: usize) -> Result<Self> {
        let bit_width = match bytes.first() {
            Some(&width) => width,
            None if num_values == 0 => 0,
            None => return Err(Error::end_of_data("bit width of dictionary ids", 1, 0)),
        };
        let bit_width = if num_values == 0 { 0 } else { bit_width };
        Ok(DictionaryDecoder { ids: RleDecoder::at(bytes, 1, num_values, bit_width)? })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.ids.position()
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.ids.remaining()
    }

    /// Appends the next `n` ids, each less than `dictionary_len`; gives `n`.
    ///
    /// # Errors
    /// When there are fewer, an id is not less, or `dictionary_len` is over `i32::MAX`.
    pub fn read_keys(
        &mut self,
        n: usize,
        dictionary_len: usize,
        keys: &mut PrimitiveSink<i32>,
    ) -> Result<usize> {
        self.ids.check_count(n)?;
        let mut left = n;
        while left > 0 {
            let start = keys.as_slice().len();
            let len = left.min(KEYS_AT_ONCE);
            self.ids.read(len, keys)?;
            check_keys(keys.as_slice().get(start..).unwrap_or_default(), dictionary_len)?;
            left -= len;
        }
        Ok(n)
    }

    /// Appends the next `n` values of `dictionary`; gives `n`.
    ///
    /// # Errors
    /// When there are fewer, or an id is past the end of `dictionary`.
    pub fn read_fixed<T: FixedWidth>(
        &mut self,
        n: usize,
        dictionary: &[T],
        sink: &mut PrimitiveSink<T>,
    ) -> Result<usize> {
        self.ids.check_count(n)?;
        let values = sink.as_mut_vec();
        let mut scratch = [0; IDS_AT_ONCE];
        let mut left = n;
        while left > 0 {
            let ids = self.fill(&mut scratch, left)?;
            if ids.is_empty() {
                let (id, len) = self.long_run(left)?;
                let value = *dictionary.get(id as usize).ok_or_else(|| not_in(id, dictionary.len()))?;
                values.resize(values.len() + len, value);
                self.ids.advance_constant(len);
                left -= len;
                continue;
            }
            gather(dictionary, ids, values)?;
            left -= ids.len();
        }
        Ok(n)
    }

    /// Appends the next `n` values of `dictionary`; gives how many fitted (see [`ByteSink`]).
    ///
    /// # Errors
    /// As [`DictionaryDecoder::read_fixed`].
    pub fn read_bytes<S: ByteSink>(
        &mut self,
        n: usize,
        dictionary: &ByteDictionary,
        sink: &mut S,
    ) -> Result<usize> {
        self.ids.check_count(n)?;
        let mut scratch = [0; IDS_AT_ONCE];
        let mut left = n;
        while left > 0 {
            let before = self.ids.mark();
            let ids = self.fill(&mut scratch, left)?;
            let asked = if ids.is_empty() {
                let (id, len) = self.long_run(left)?;
                let taken = sink.append_dictionary_run(id, len, dictionary)?;
                self.ids.advance_constant(taken);
                left -= taken;
                len - taken
            } else {
                let taken = sink.append_dictionary(ids, dictionary)?;
                left -= taken;
                let untaken = ids.len() - taken;
                if untaken > 0 {
                    self.ids.back_to(before);
                    self.ids.skip(taken)?;
                }
                untaken
            };
            if asked > 0 {
                break;
            }
        }
        Ok(n - left)
    }

    /// Passes over `n` values. A run costs the same whatever its length.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.ids.skip(n)
    }

    /// Up to `max` ids. None where a long run is next.
    fn fill<'a>(&mut self, scratch: &'a mut [u32; IDS_AT_ONCE], max: usize) -> Result<&'a [u32]> {
        let ids = scratch.get_mut(..max.min(IDS_AT_ONCE)).unwrap_or_default();
        let filled = self.ids.fill(ids)?;
        Ok(ids.get(..filled).unwrap_or_default())
    }

    fn long_run(&mut self, max: usize) -> Result<(u32, usize)> {
        let run = self.ids.constant(max)?;
        run.ok_or_else(|| Error::end_of_data("dictionary ids", max, 0))
    }
}

/// The values of a dictionary page of a fixed-width type.
///
/// # Errors
/// When `bytes` does not hold `num_values` of them.
pub fn plain_dictionary<T: FixedWidth>(bytes: &[u8], num_values: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    extend_from_bytes(&mut values, values_of(bytes, 0, num_values, size_of::<T>())?);
    Ok(values)
}

/// The values of a dictionary page of `BYTE_ARRAY`.
///
/// # Errors
/// When `bytes` does not hold `num_values` of them, or they take 2 GiB or more.
pub fn plain_byte_dictionary(bytes: &[u8], num_values: usize) -> Result<ByteDictionary> {
    if num_values > bytes.len() / 4 {
        return Err(Error::end_of_data("lengths of byte arrays", num_values.saturating_mul(4), bytes.len()));
    }
    let mut store = ByteStore::new();
    store.reserve(num_values);
    store.reserve_bytes((bytes.len() - 4 * num_values).saturating_add(PADDING));
    match store.append_plain(bytes, num_values)? {
        (taken, _) if taken < num_values => Err(Error::unsupported("a dictionary of more than 2 GiB")),
        _ => Ok(ByteDictionary::from_store(store)),
    }
}

/// The values of a dictionary page of `FIXED_LEN_BYTE_ARRAY`, `width` bytes each.
///
/// # Errors
/// As [`plain_byte_dictionary`], and when `width` is 0 and `num_values` is more than one.
pub fn plain_fixed_byte_dictionary(bytes: &[u8], num_values: usize, width: usize) -> Result<ByteDictionary> {
    let values = values_of(bytes, 0, num_values, width)?;
    if width == 0 && num_values > 1 {
        return Err(Error::malformed(format!("a dictionary of {num_values} equal values of no bytes")));
    }
    let value = |index| values_of(values, index, 1, width);
    ByteDictionary::from_pieces((0..num_values).map(value), values.len())
}

fn not_in(index: u32, len: usize) -> Error {
    ErrorKind::DictionaryIndex { index, len }.into()
}

/// Ids unpacked at once: 4 KiB, a part of the first-level cache.
const IDS_AT_ONCE: usize = 1024;
/// Keys written before they are checked: they are in the first-level cache still.
const KEYS_AT_ONCE: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::Bits;
    use crate::encoding::rle::tests::{constant_run, mixed, packed_run};
    use crate::sink::{BytesSink, FixedBytesSink, Sink, ViewSink};

    /// A data page of every kind of run, and its ids.
    fn page(width: u8) -> (Vec<u8>, Vec<u32>) {
        let (mut bytes, mut ids) = (vec![width], vec![]);
        for seed in 1..6 {
            let (run, values) = mixed(width, seed);
            bytes.extend(run);
            ids.extend(values);
        }
        (bytes, ids)
    }

    fn words(n: usize) -> Vec<Vec<u8>> {
        (0..n).map(|i| format!("{i:0width$}", width = i % 40).into_bytes()).collect()
    }

    fn byte_dictionary(words: &[Vec<u8>]) -> ByteDictionary {
        let mut page = vec![];
        for word in words {
            page.extend(u32::try_from(word.len()).unwrap().to_le_bytes());
            page.extend(word);
        }
        plain_byte_dictionary(&page, words.len()).unwrap()
    }

    #[test]
    fn looks_up_numbers_and_keys_in_any_steps() {
        for width in [0, 1, 4, 9] {
            let (bytes, ids) = page(width);
            let len = 1usize << width;
            let table: Vec<i64> = (0..1i64 << width).map(|i| i * 3 - 1).collect();
            let expected: Vec<i64> = ids.iter().map(|&id| table[id as usize]).collect();
            for step in [1, 100, 1024, 10_000] {
                let mut decoder = DictionaryDecoder::new(bytes.as_slice(), ids.len()).unwrap();
                let mut keys = decoder.clone();
                let (mut values, mut sink) = (PrimitiveSink::new(), PrimitiveSink::new());
                while decoder.remaining() > 0 {
                    let n = step.min(decoder.remaining());
                    decoder.read_fixed(n, &table, &mut values).unwrap();
                    keys.read_keys(n, len, &mut sink).unwrap();
                }
                assert_eq!(values.as_slice(), expected);
                assert!(sink.as_slice().iter().zip(&ids).all(|(key, id)| key.cast_unsigned() == *id));
                assert!(decoder.read_fixed(1, &table, &mut values).is_err());
                assert!(keys.read_keys(1, len, &mut sink).is_err());
            }
        }
    }

    #[test]
    fn looks_up_byte_strings() {
        let words = words(1 << 6);
        let dictionary = byte_dictionary(&words);
        let (bytes, ids) = page(6);
        let mut decoder = DictionaryDecoder::new(bytes.as_slice(), ids.len()).unwrap();
        let (mut strings, mut views) = (BytesSink::<i32>::new(), ViewSink::new());
        decoder.skip(70).unwrap();
        let n = decoder.remaining();
        assert_eq!(decoder.clone().read_bytes(n, &dictionary, &mut views).unwrap(), n);
        assert_eq!(decoder.read_bytes(n, &dictionary, &mut strings).unwrap(), n);
        assert_eq!(decoder.position(), ids.len());
        let expected: Vec<&[u8]> = ids[70..].iter().map(|&id| words[id as usize].as_slice()).collect();
        assert_eq!(strings.finish_binary(None).unwrap().iter().flatten().collect::<Vec<_>>(), expected);
        assert_eq!(views.finish_binary(None).unwrap().iter().flatten().collect::<Vec<_>>(), expected);
    }

    /// Takes so many values and no more.
    struct Bounded(usize, Vec<Vec<u8>>);

    impl Sink for Bounded {
        fn len(&self) -> usize {
            self.1.len()
        }
        fn reserve(&mut self, _n: usize) {}
        fn spread(&mut self, _start: usize, _validity: Bits<'_>) -> Result<()> {
            Ok(())
        }
        fn push_nulls(&mut self, _n: usize) {}
        fn split_off(&mut self, at: usize) -> Self {
            Bounded(self.0, self.1.split_off(at))
        }
    }

    impl ByteSink for Bounded {
        fn push(&mut self, value: &[u8]) -> Result<bool> {
            let fits = self.1.len() < self.0;
            if fits {
                self.1.push(value.to_vec());
            }
            Ok(fits)
        }
    }

    #[test]
    fn stays_before_the_first_value_that_does_not_fit() {
        let words = words(1 << 4);
        let dictionary = byte_dictionary(&words);
        let (bytes, ids) = page(4);
        let mut decoder = DictionaryDecoder::new(bytes.as_slice(), ids.len()).unwrap();
        let mut read = vec![];
        while decoder.remaining() > 0 {
            let mut sink = Bounded(37, vec![]);
            let n = decoder.remaining();
            let taken = decoder.read_bytes(n, &dictionary, &mut sink).unwrap();
            assert_eq!(taken, n.min(37));
            read.append(&mut sink.1);
            assert_eq!(decoder.position(), read.len());
        }
        let expected: Vec<Vec<u8>> = ids.iter().map(|&id| words[id as usize].clone()).collect();
        assert_eq!(read, expected);
    }

    #[test]
    fn refuses_ids_past_the_dictionary() {
        let index = |error: Error| matches!(error.kind(), ErrorKind::DictionaryIndex { .. });
        for id in [3, 0x8000_0001, u32::MAX] {
            for run in [constant_run(id, 5, 32), constant_run(id, 500, 32), packed_run(&[0, 1, id], 32)] {
                let bytes = [vec![32], run].concat();
                let decoder = DictionaryDecoder::new(bytes.as_slice(), 5).unwrap();
                let fixed = decoder.clone().read_fixed(5, &[1i32, 2, 3], &mut PrimitiveSink::new());
                assert!(index(fixed.unwrap_err()));
                assert!(index(decoder.clone().read_keys(5, 3, &mut PrimitiveSink::new()).unwrap_err()));
                let dictionary = byte_dictionary(&words(3));
                let strings = decoder.clone().read_bytes(5, &dictionary, &mut BytesSink::<i64>::new());
                assert!(index(strings.unwrap_err()));
                let unbounded = decoder.clone().read_keys(5, usize::MAX, &mut PrimitiveSink::new());
                assert_eq!(unbounded.is_ok(), id == 3, "keys are of 31 bits");
            }
        }
    }

    #[test]
    fn only_a_page_without_values_may_lack_its_width() {
        assert_eq!(DictionaryDecoder::new([].as_slice(), 0).unwrap().remaining(), 0);
        assert!(DictionaryDecoder::new([].as_slice(), 1).is_err());
        assert!(DictionaryDecoder::new([33].as_slice(), 1).is_err());
        assert!(DictionaryDecoder::new([255].as_slice(), 0).is_ok());
        let mut none = DictionaryDecoder::new([2].as_slice(), 0).unwrap();
        assert_eq!(none.read_fixed::<i32>(0, &[], &mut PrimitiveSink::new()).unwrap(), 0);
        assert!(none.skip(1).is_err());
    }

    #[test]
    fn dictionary_pages_hold_what_they_claim() {
        assert_eq!(plain_dictionary::<i32>(&[1, 0, 0, 0, 2, 0, 0, 0, 9], 2).unwrap(), [1, 2]);
        assert!(plain_dictionary::<i32>(&[1, 0, 0, 0], 2).is_err());
        assert!(plain_dictionary::<i64>(&[], usize::MAX).is_err());
        assert!(plain_byte_dictionary(b"\x01\0\0\0a", 2).is_err());
        assert!(plain_byte_dictionary(b"\x01\0\0\0a", usize::MAX).is_err());
        assert!(plain_byte_dictionary(b"\x02\0\0\0a", 1).is_err());
        assert!(plain_byte_dictionary(b"", 0).unwrap().is_empty());
        let fixed = plain_fixed_byte_dictionary(b"abcdef", 3, 2).unwrap();
        assert_eq!(fixed.value(2).unwrap(), b"ef");
        assert!(plain_fixed_byte_dictionary(b"abcdef", 4, 2).is_err());
        assert!(plain_fixed_byte_dictionary(b"", 1 << 40, 0).is_err());
        let mut sink = FixedBytesSink::new(2);
        let bytes = [vec![2], packed_run(&[2, 0, 1, 2], 2)].concat();
        DictionaryDecoder::new(bytes.as_slice(), 4).unwrap().read_bytes(4, &fixed, &mut sink).unwrap();
        assert_eq!(sink.as_bytes(), b"efabcdef");
    }
}
