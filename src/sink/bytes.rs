//! Byte strings end to end, with offsets of 32 or 64 bits.

use crate::arrow::array::builder::GenericByteBuilder;
use crate::arrow::array::types::{GenericBinaryType, GenericStringType};
use crate::arrow::array::{GenericBinaryArray, GenericStringArray, OffsetSizeTrait};
use crate::arrow::buffer::{Buffer, NullBuffer};
use crate::bitmap::{Bitmap, Bits};
use crate::error::Result;
use crate::raw::byte_store::ByteStore;
use crate::raw::front_coding::FrontCoded;
use crate::sink::{ByteDictionary, ByteSink, Sink, check_width};

/// Byte strings end to end: `Binary` and `Utf8` with `O = i32`, their large kin with `i64`.
///
/// With 32-bit offsets it holds `i32::MAX` bytes at most; see [`ByteSink`] for what happens then.
#[derive(Debug, Clone)]
pub struct BytesSink<O: OffsetSizeTrait> {
    store: ByteStore<O>,
}

impl<O: OffsetSizeTrait> BytesSink<O> {
    /// No values.
    pub fn new() -> Self {
        BytesSink { store: ByteStore::new() }
    }

    /// `len() + 1` offsets into [`BytesSink::values`], from 0.
    pub fn offsets(&self) -> &[O] {
        self.store.offsets()
    }

    /// Bytes of values in memory of its own: none where a page lends them.
    pub(crate) fn owned_len(&self) -> usize {
        self.store.owned_len()
    }

    /// All values end to end.
    pub fn values(&self) -> &[u8] {
        self.store.values()
    }

    /// Checks that what was appended since the last check is UTF-8. [`BytesSink::finish_utf8`] checks what is still
    /// owed; checking after each batch finds the bytes in the cache.
    ///
    /// # Errors
    /// [`ErrorKind::NotUtf8`](crate::ErrorKind::NotUtf8) names the first value that is not.
    pub fn check_utf8(&mut self) -> Result<()> {
        self.store.check_utf8()
    }

    /// The same memory as an array of bytes.
    ///
    /// # Errors
    /// When `nulls` has not one bit a value.
    pub fn finish_binary(self, nulls: Option<NullBuffer>) -> Result<GenericBinaryArray<O>> {
        self.store.into_binary(nulls)
    }

    /// The same memory as an array of strings.
    ///
    /// # Errors
    /// When a value is not UTF-8, or `nulls` has not one bit a value.
    pub fn finish_utf8(self, nulls: Option<NullBuffer>) -> Result<GenericStringArray<O>> {
        self.store.into_utf8(nulls)
    }

    /// arrow-array's builder over the same memory. Without `validity` no value is null.
    ///
    /// # Errors
    /// When `validity` has not one bit a value.
    pub fn into_binary_builder(
        self,
        validity: Option<Bitmap>,
    ) -> Result<GenericByteBuilder<GenericBinaryType<O>>> {
        self.store.into_binary_builder(validity)
    }

    /// arrow-array's builder over the same memory. Without `validity` no value is null.
    ///
    /// # Errors
    /// When a value is not UTF-8, or `validity` has not one bit a value.
    pub fn into_utf8_builder(
        self,
        validity: Option<Bitmap>,
    ) -> Result<GenericByteBuilder<GenericStringType<O>>> {
        self.store.into_utf8_builder(validity)
    }
}

impl<O: OffsetSizeTrait> Default for BytesSink<O> {
    fn default() -> Self {
        Self::new()
    }
}

impl<O: OffsetSizeTrait> Sink for BytesSink<O> {
    fn len(&self) -> usize {
        self.store.len()
    }

    fn reserve(&mut self, n: usize) {
        self.store.reserve(n);
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        self.store.spread(start, validity)
    }

    fn push_nulls(&mut self, n: usize) {
        self.store.push_nulls(n);
    }

    fn split_off(&mut self, at: usize) -> Self {
        BytesSink { store: self.store.split_off(at) }
    }
}

impl<O: OffsetSizeTrait> ByteSink for BytesSink<O> {
    #[inline]
    fn push(&mut self, value: &[u8]) -> Result<bool> {
        Ok(self.store.push(value))
    }

    fn reserve_bytes(&mut self, n: usize) {
        self.store.reserve_bytes(n);
    }

    fn append_front_coded(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        data: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        self.store.append_front_coded(&FrontCoded { prefixes, suffixes, data }, previous)
    }

    fn append_plain(&mut self, bytes: &[u8], n: usize, _source: Option<&Buffer>) -> Result<(usize, usize)> {
        self.store.append_plain(bytes, n)
    }

    fn append_lengths(&mut self, lengths: &[i32], data: &[u8], source: Option<&Buffer>) -> Result<usize> {
        self.store.append_lengths(lengths, data, source)
    }

    fn append_fixed(&mut self, data: &[u8], width: usize, _source: Option<&Buffer>) -> Result<usize> {
        check_width(data, width)?;
        Ok(self.store.append_fixed(data, width))
    }

    fn append_dictionary(&mut self, ids: &[u32], dictionary: &ByteDictionary) -> Result<usize> {
        self.store.append_ids(ids, dictionary)
    }

    fn append_dictionary_run(&mut self, id: u32, n: usize, dictionary: &ByteDictionary) -> Result<usize> {
        let ids = [id; 256];
        let mut left = n;
        while left > 0 {
            let run = ids.get(..left.min(ids.len())).unwrap_or_default();
            let taken = self.store.append_ids(run, dictionary)?;
            left -= taken;
            if taken < run.len() {
                break;
            }
        }
        Ok(n - left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::arrow::array::{BinaryArray, LargeStringArray, StringArray};

    fn sink(values: &[&[u8]]) -> BytesSink<i32> {
        let mut sink = BytesSink::new();
        values.iter().for_each(|value| assert!(sink.push(value).unwrap()));
        sink
    }

    #[test]
    fn spreads_offsets_and_keeps_values() {
        let valid: Vec<bool> = (0..200).map(|i| i % 3 == 0 || i / 64 == 1).collect();
        let validity: Bitmap = valid.iter().copied().collect();
        let mut sink = sink(&[b"before", b""]);
        let mut expected = vec!["before".to_string(), String::new()];
        for (i, &valid) in valid.iter().enumerate() {
            expected.push(if valid { i.to_string() } else { String::new() });
            if valid {
                assert!(sink.push(i.to_string().as_bytes()).unwrap());
            }
        }
        let bytes = sink.values().to_vec();
        sink.spread(2, validity.bits(0..200)).unwrap();
        assert_eq!(sink.values(), bytes);
        sink.push_nulls(1);
        expected.push(String::new());
        let array = sink.finish_utf8(None).unwrap();
        array.to_data_checked();
        assert_eq!(array, StringArray::from(expected));
    }

    /// Arrow's own full check of what was made without one.
    trait Checked {
        fn to_data_checked(&self);
    }
    impl<T: crate::arrow::array::Array> Checked for T {
        fn to_data_checked(&self) {
            self.to_data().validate_full().unwrap();
        }
    }

    #[test]
    fn a_page_lends_its_bytes_until_others_follow() {
        let page = Buffer::from(b"--onetwothree--four".to_vec());
        let mut sink = BytesSink::<i32>::new();
        sink.reserve_bytes(100);
        assert_eq!(sink.append_lengths(&[3, 3], &page[2..], Some(&page)).unwrap(), 2);
        assert_eq!(sink.append_lengths(&[5], &page[8..], Some(&page)).unwrap(), 1);
        assert_eq!(sink.values().as_ptr(), page[2..].as_ptr());
        let mut copied = sink.clone();
        // Not where the last one ended, of no buffer, and of another.
        assert_eq!(copied.append_lengths(&[4], &page[15..], Some(&page)).unwrap(), 1);
        assert_eq!(copied.append_lengths(&[4], b"five", None).unwrap(), 1);
        let other = Buffer::from(b"six".to_vec());
        assert_eq!(copied.append_lengths(&[3], &other, Some(&other)).unwrap(), 1);
        let expected = StringArray::from(vec!["one", "two", "three", "four", "five", "six"]);
        assert_eq!(copied.finish_utf8(None).unwrap(), expected);

        let tail = sink.split_off(1);
        assert_eq!(tail.values().as_ptr(), page[5..].as_ptr());
        let one = sink.finish_utf8(None).unwrap();
        one.to_data_checked();
        assert_eq!((one.value(0), one.value_data().as_ptr()), ("one", page[2..].as_ptr()));
        let mut builder = tail.into_utf8_builder(None).unwrap();
        builder.append_value("!");
        assert_eq!(builder.finish(), StringArray::from(vec!["two", "three", "!"]));
    }

    #[test]
    fn cuts_in_two_and_remembers_what_is_checked() {
        let mut head = sink(&[b"ab", "\u{e9}".as_bytes(), b"c"]);
        head.check_utf8().unwrap();
        assert!(head.push(&[0xff]).unwrap());
        let tail = head.split_off(1);
        assert_eq!(tail.offsets(), [0, 2, 3, 4]);
        assert_eq!(head.clone().finish_utf8(None).unwrap(), StringArray::from(vec!["ab"]));
        let error = tail.clone().finish_utf8(None).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotUtf8 { value: 2 }));
        let expected: Vec<&[u8]> = vec![b"\xc3\xa9", b"c", b"\xff"];
        assert_eq!(tail.finish_binary(None).unwrap(), BinaryArray::from(expected));
        assert_eq!(head.split_off(9).len(), 0);
    }

    #[test]
    fn refuses_a_character_cut_between_values() {
        for (values, bad) in [
            (vec![b"a".as_slice(), b"\xc3", b"\xa9"], 1),
            (vec![b"\xc3\xa9", b"", b"\xe2\x82", b"", b"\xac", b"z"], 2),
            (vec![b"ok", b"\xe2"], 1),
        ] {
            let error = sink(&values).finish_utf8(None).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::NotUtf8 { value } if *value == bad), "{error}");
            assert!(sink(&values).into_utf8_builder(None).is_err());
        }
    }

    #[test]
    fn goes_on_as_a_builder_over_the_same_memory() {
        let mut sink = sink(&[b"a", b"bc"]);
        let validity: Bitmap = [true, false, true].into_iter().collect();
        sink.spread(0, validity.bits(0..3)).unwrap();
        assert!(sink.clone().into_binary_builder(Some(Bitmap::new())).is_err());
        let memory = sink.values().as_ptr();
        let mut builder = sink.into_utf8_builder(Some(validity)).unwrap();
        builder.append_value("d");
        assert_eq!(builder.values_slice().as_ptr(), memory);
        assert_eq!(builder.finish(), StringArray::from(vec![Some("a"), None, Some("bc"), Some("d")]));
    }

    #[test]
    fn takes_plain_lengths_and_fixed_bytes() {
        let page = b"\x02\0\0\0ab\0\0\0\0\x01\0\0\0crest";
        let mut sink = BytesSink::<i64>::new();
        assert_eq!(sink.append_plain(page, 3, None).unwrap(), (3, 15));
        assert_eq!(sink.append_lengths(&[1, 0, 2], b"xyz!", None).unwrap(), 3);
        assert_eq!(sink.append_fixed(b"0123", 2, None).unwrap(), 2);
        assert_eq!(sink.push_n(b"w", 2).unwrap(), 2);
        let expected = vec!["ab", "", "c", "x", "", "yz", "01", "23", "w", "w"];
        assert_eq!(sink.clone().finish_utf8(None).unwrap(), LargeStringArray::from(expected));
        assert!(sink.append_plain(b"\x02\0\0\0a", 1, None).is_err());
        assert!(sink.append_plain(b"\xff\xff\xff\xffa", 1, None).is_err());
        assert!(sink.append_plain(b"\0\0\0", 1, None).is_err());
        assert!(sink.append_lengths(&[-1], b"abc", None).is_err());
        assert!(sink.append_lengths(&[2, 2], b"abc", None).is_err());
        assert!(sink.append_fixed(b"abc", 2, None).is_err());
        assert!(sink.append_fixed(b"", 0, None).is_err());
    }
}
