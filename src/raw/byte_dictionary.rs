//! The values of a dictionary page of byte strings.
//!
//! It lives here because kernels copy from it without a second look: its fields are private so that `offsets`
//! begins with 0, never falls, and ends [`PADDING`] bytes before the end of `values`, and `narrow` says
//! what the offsets say, always.

use std::sync::OnceLock;

use crate::arrow::buffer::Buffer;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::byte_store::ByteStore;
use crate::raw::simd::generic::{NARROW, WIDE};
use crate::raw::view_store::make_view;

/// Bytes after the last value, so that a wide copy from any value stays within the buffer.
pub(crate) const PADDING: usize = WIDE;

/// Byte strings of a dictionary, in the order of their ids.
#[derive(Debug, Clone)]
pub struct ByteDictionary {
    offsets: Vec<u32>,
    values: Buffer,
    utf8: bool,
    narrow: bool,
    views: OnceLock<Vec<u128>>,
}

impl ByteDictionary {
    /// From values one after the other in `data`, each as long as `lengths` says.
    ///
    /// # Errors
    /// When `data` ends early, or the values take more than `i32::MAX` bytes.
    pub(crate) fn from_pieces<'a>(
        pieces: impl Iterator<Item = Result<&'a [u8]>>,
        byte_len: usize,
    ) -> Result<Self> {
        let mut offsets = vec![0u32];
        let mut values = Vec::with_capacity(byte_len + PADDING);
        for piece in pieces {
            values.extend_from_slice(piece?);
            let end = i32::try_from(values.len())
                .map_err(|_| Error::unsupported("a dictionary of more than 2 GiB"))?;
            offsets.push(end.cast_unsigned());
        }
        values.resize(values.len() + PADDING, 0);
        Ok(Self::from_parts(offsets, values))
    }

    /// All values of `store`, in its memory.
    pub(crate) fn from_store(store: ByteStore<i32>) -> Self {
        let (offsets, mut values) = store.into_parts();
        values.resize(values.len() + PADDING, 0);
        Self::from_parts(offsets.into_iter().map(i32::cast_unsigned).collect(), values)
    }

    fn from_parts(offsets: Vec<u32>, values: Vec<u8>) -> Self {
        let ends = offsets.iter().skip(1);
        let narrow = offsets.iter().zip(ends).all(|(start, end)| (end - start) as usize <= NARROW);
        let values = Buffer::from_vec(values);
        ByteDictionary { offsets, values, utf8: false, narrow, views: OnceLock::new() }
    }

    /// Whether no value is longer than [`NARROW`] bytes.
    pub(crate) fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there is no value.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value of `id`.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryIndex`] when there is none.
    #[inline]
    pub fn value(&self, id: u32) -> Result<&[u8]> {
        let at = id as usize;
        match (self.offsets.get(at), self.offsets.get(at + 1)) {
            (Some(&start), Some(&end)) => {
                Ok(self.values.as_slice().get(start as usize..end as usize).unwrap_or_default())
            }
            _ => Err(ErrorKind::DictionaryIndex { index: id, len: self.len() }.into()),
        }
    }

    /// Bytes of the longest value.
    pub(crate) fn max_len(&self) -> usize {
        let lens = self.offsets.windows(2).map(|ends| if let [start, end] = ends { end - start } else { 0 });
        lens.max().unwrap_or(0) as usize
    }

    /// `len() + 1` ends within [`ByteDictionary::bytes`], from 0.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// All values end to end, without the padding, as a slice of the one buffer.
    pub fn bytes(&self) -> Buffer {
        let len = self.offsets.last().map_or(0, |&end| end as usize);
        self.values.slice_with_length(0, len)
    }

    /// All values end to end, then [`PADDING`] bytes.
    pub(crate) fn padded(&self) -> &[u8] {
        &self.values
    }

    /// Checks that every value is UTF-8 and remembers that it is. What sinks take from a dictionary that is
    /// checked is not checked again.
    ///
    /// # Errors
    /// [`ErrorKind::NotUtf8`] names the first value that is not.
    pub fn check_utf8(&mut self) -> Result<()> {
        self.utf8 |= self.values.is_ascii();
        for (value, pair) in self.offsets.windows(2).enumerate().filter(|_| !self.utf8) {
            let [start, end] = *pair else { continue };
            let bytes = self.values.as_slice().get(start as usize..end as usize).unwrap_or_default();
            if simdutf8::basic::from_utf8(bytes).is_err() {
                return Err(ErrorKind::NotUtf8 { value }.into());
            }
        }
        self.utf8 = true;
        Ok(())
    }

    /// Whether [`ByteDictionary::check_utf8`] has found every value to be UTF-8.
    pub fn is_utf8(&self) -> bool {
        self.utf8
    }

    /// One Arrow view a value, with buffer 0 for [`ByteDictionary::bytes`]; made once.
    pub(crate) fn views(&self) -> &[u128] {
        self.views.get_or_init(|| {
            let pair = |pair: &[u32]| match *pair {
                [start, end] => {
                    let value = self.values.as_slice().get(start as usize..end as usize).unwrap_or_default();
                    make_view(value, 0, start)
                }
                _ => 0,
            };
            self.offsets.windows(2).map(pair).collect()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::Array;
    use crate::sink::{ByteSink, BytesSink, FixedBytesSink, ViewSink};

    fn dictionary(values: &[&[u8]]) -> ByteDictionary {
        ByteDictionary::from_pieces(values.iter().map(|v| Ok(*v)), 9).unwrap()
    }

    #[test]
    fn gives_values_by_id_to_every_sink() {
        let values: [&[u8]; 4] = [b"a", b"", b"a value that is long", b"bb"];
        let dictionary = dictionary(&values);
        let ids = [2, 0, 3, 1, 2];
        let mut bytes = BytesSink::<i32>::new();
        let mut views = ViewSink::new();
        views.push(b"a buffer before the dictionary's").unwrap();
        let mut fixed = FixedBytesSink::new(1);
        assert_eq!(bytes.append_dictionary(&ids, &dictionary).unwrap(), 5);
        assert_eq!(views.append_dictionary(&ids, &dictionary).unwrap(), 5);
        assert_eq!(bytes.append_dictionary_run(3, 2, &dictionary).unwrap(), 2);
        assert_eq!(views.append_dictionary_run(2, 2, &dictionary).unwrap(), 2);
        assert_eq!(fixed.append_dictionary(&[0, 0], &dictionary).unwrap(), 2);
        assert_eq!(fixed.as_bytes(), b"aa");
        let bytes = bytes.finish_binary(None).unwrap();
        let expected: Vec<&[u8]> = [2, 0, 3, 1, 2, 3, 3].map(|id| values[id]).to_vec();
        assert_eq!(bytes.iter().flatten().collect::<Vec<_>>(), expected);
        let views = views.finish_binary(None).unwrap();
        views.to_data().validate_full().unwrap();
        let expected: Vec<&[u8]> = [2, 0, 3, 1, 2, 2, 2].map(|id| values[id]).to_vec();
        assert_eq!(views.iter().flatten().skip(1).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn refuses_an_id_past_the_end() {
        let dictionary = dictionary(&[b"a", b"b"]);
        for id in [2, u32::MAX] {
            let is_index = |error: Error| matches!(error.kind(), ErrorKind::DictionaryIndex { len: 2, .. });
            assert!(is_index(BytesSink::<i64>::new().append_dictionary(&[0, id], &dictionary).unwrap_err()));
            assert!(is_index(ViewSink::new().append_dictionary(&[0, id], &dictionary).unwrap_err()));
            assert!(is_index(FixedBytesSink::new(1).append_dictionary(&[0, id], &dictionary).unwrap_err()));
            assert!(is_index(ViewSink::new().append_dictionary_run(id, 1, &dictionary).unwrap_err()));
        }
        assert_eq!(BytesSink::<i32>::new().append_dictionary(&[], &dictionary).unwrap(), 0);
    }

    #[test]
    fn text_is_checked_a_dictionary_and_owed_without() {
        let mut good = dictionary(&[b"plain", "\u{fc}ber".as_bytes()]);
        good.check_utf8().unwrap();
        let mut bad = dictionary(&[b"plain", b"\xc3"]);
        assert!(matches!(bad.check_utf8().unwrap_err().kind(), ErrorKind::NotUtf8 { value: 1 }));
        assert!(!bad.is_utf8());
        for owed in [false, true] {
            let (mut bytes, mut views) = (BytesSink::<i32>::new(), ViewSink::new());
            if owed {
                bytes.push(&[0xff]).unwrap();
                views.push(&[0xff]).unwrap();
            }
            bytes.append_dictionary(&[1, 0], &good).unwrap();
            views.append_dictionary(&[1, 0], &good).unwrap();
            assert_eq!(bytes.clone().finish_utf8(None).is_err(), owed);
            assert_eq!(views.clone().finish_utf8(None).is_err(), owed);
            bytes.append_dictionary(&[1], &bad).unwrap();
            views.append_dictionary(&[1], &bad).unwrap();
            assert!(bytes.finish_utf8(None).is_err());
            assert!(views.finish_utf8(None).is_err());
        }
    }

    #[test]
    fn keeps_room_for_wide_copies_after_the_last_value() {
        let dictionary = dictionary(&[b"abc"]);
        assert_eq!(dictionary.values.len(), 3 + PADDING);
        assert_eq!(dictionary.bytes().as_slice(), b"abc");
        assert_eq!((dictionary.len(), dictionary.is_empty()), (1, false));
        assert_eq!(dictionary.offsets(), [0, 3]);
    }
}
