//! Byte strings as Arrow views: up to 12 bytes lie in the view, more are pointed at.

use crate::arrow::array::{BinaryViewArray, StringViewArray};
use crate::arrow::buffer::{Buffer, NullBuffer};
use crate::bitmap::Bits;
use crate::error::Result;
use crate::raw::front_coding::FrontCoded;
use crate::raw::view_store::ViewStore;
use crate::sink::{ByteDictionary, ByteSink, Sink, check_width, negative_length};

/// Byte strings as Arrow views. Long values of a page that is an Arrow buffer, and those of a dictionary, stay where
/// they are; others are copied to buffers of the sink's own.
#[derive(Debug, Clone, Default)]
pub struct ViewSink {
    store: ViewStore,
}

impl ViewSink {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// One view a value.
    pub fn views(&self) -> &[u128] {
        self.store.views()
    }

    /// Checks that what was appended since the last check is UTF-8. [`ViewSink::finish_utf8`] checks what is still
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
    pub fn finish_binary(self, nulls: Option<NullBuffer>) -> Result<BinaryViewArray> {
        self.store.into_binary(nulls)
    }

    /// The same memory as an array of strings.
    ///
    /// # Errors
    /// When a value is not UTF-8, or `nulls` has not one bit a value.
    pub fn finish_utf8(self, nulls: Option<NullBuffer>) -> Result<StringViewArray> {
        self.store.into_utf8(nulls)
    }
}

impl Sink for ViewSink {
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
        ViewSink { store: self.store.split_off(at) }
    }
}

impl ByteSink for ViewSink {
    fn push(&mut self, value: &[u8]) -> Result<bool> {
        self.store.push(value).map(|()| true)
    }

    fn push_n(&mut self, value: &[u8], n: usize) -> Result<usize> {
        self.store.push_n(value, n).map(|()| n)
    }

    fn append_plain(&mut self, bytes: &[u8], n: usize, source: Option<&Buffer>) -> Result<(usize, usize)> {
        self.store.append_plain(bytes, n, source)
    }

    fn append_lengths(&mut self, lengths: &[i32], data: &[u8], source: Option<&Buffer>) -> Result<usize> {
        let lens = lengths.iter().map(|&len| usize::try_from(len).map_err(|_| negative_length(len)));
        self.store.append_lengths(lens, data, source)?;
        Ok(lengths.len())
    }

    fn append_front_coded(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        data: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        let n = prefixes.len().min(suffixes.len());
        let (mut done, mut at) = (0, 0);
        while done < n {
            // Fewer than asked for: the values take more than one buffer.
            let (prefixes, suffixes) = (prefixes.get(done..), suffixes.get(done..));
            let data = data.get(at..).unwrap_or_default();
            let coded = FrontCoded {
                prefixes: prefixes.unwrap_or_default(),
                suffixes: suffixes.unwrap_or_default(),
                data,
            };
            let (taken, used) = self.store.append_front_coded(&coded, previous)?;
            done += taken;
            at += used;
        }
        Ok((done, at))
    }

    fn append_fixed(&mut self, data: &[u8], width: usize, source: Option<&Buffer>) -> Result<usize> {
        check_width(data, width)?;
        let n = data.len() / width;
        self.store.append_lengths(std::iter::repeat_n(width, n).map(Ok), data, source)?;
        Ok(n)
    }

    fn append_dictionary(&mut self, ids: &[u32], dictionary: &ByteDictionary) -> Result<usize> {
        self.store.append_ids(ids, dictionary)?;
        Ok(ids.len())
    }

    fn append_dictionary_run(&mut self, id: u32, n: usize, dictionary: &ByteDictionary) -> Result<usize> {
        let ids = [id; 64];
        for start in (0..n).step_by(ids.len()) {
            self.store.append_ids(ids.get(..n - start).unwrap_or(&ids), dictionary)?;
        }
        Ok(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;
    use crate::arrow::array::Array;
    use crate::bitmap::Bitmap;

    const LONG: &[u8] = b"longer than a view can hold";

    fn plain(values: &[&[u8]]) -> Vec<u8> {
        values.iter().flat_map(|v| [&u32::try_from(v.len()).unwrap().to_le_bytes()[..], v].concat()).collect()
    }

    fn values(array: &BinaryViewArray) -> Vec<Vec<u8>> {
        array.to_data().validate_full().unwrap();
        array.iter().map(|value| value.unwrap().to_vec()).collect()
    }

    #[test]
    fn points_into_a_page_that_is_a_buffer() {
        let all: Vec<&[u8]> = vec![b"", b"twelve bytes", LONG, b"thirteen byte"];
        let page = Buffer::from([b"head".to_vec(), plain(&all), b"tail".to_vec()].concat());
        let bytes = &page.as_slice()[4..];
        let mut sink = ViewSink::new();
        let (taken, used) = sink.append_plain(bytes, 2, Some(&page)).unwrap();
        assert_eq!((taken, used), (2, 20));
        assert_eq!(sink.append_plain(&bytes[used..], 2, Some(&page)).unwrap(), (2, 48));
        let array = sink.clone().finish_binary(None).unwrap();
        assert_eq!(values(&array), all);
        assert_eq!(array.data_buffers().len(), 1);
        assert!(array.data_buffers()[0].ptr_eq(&page));
        assert_eq!(sink.append_lengths(&[1, 13], &bytes[20..34], Some(&page)).unwrap(), 2);
        assert_eq!(sink.append_fixed(&page.as_slice()[..26], 13, Some(&page)).unwrap(), 2);
        let array = sink.finish_binary(None).unwrap();
        assert_eq!(array.data_buffers().len(), 1);
        assert_eq!(values(&array)[4..], [&bytes[20..21], &bytes[21..34], &page[..13], &page[13..26]]);
    }

    #[test]
    fn copies_what_no_buffer_holds() {
        let elsewhere = Buffer::from(vec![0u8; 64]);
        let page = plain(&[LONG, b"short", LONG]);
        for source in [None, Some(&elsewhere)] {
            let mut sink = ViewSink::new();
            sink.append_plain(&page, 3, source).unwrap();
            sink.push_n(LONG, 2).unwrap();
            assert_eq!(sink.append_lengths(&[27], LONG, source).unwrap(), 1);
            let big = vec![b'x'; 1 << 20];
            sink.push(&big).unwrap();
            sink.push(LONG).unwrap();
            let array = sink.finish_binary(None).unwrap();
            let expected: Vec<&[u8]> = vec![LONG, b"short", LONG, LONG, LONG, LONG, &big, LONG];
            assert_eq!(values(&array), expected);
        }
    }

    #[test]
    fn spreads_and_cuts_with_the_buffers_that_are_needed() {
        let page = Buffer::from(plain(&[LONG, b"b", LONG]));
        let mut sink = ViewSink::new();
        sink.push(b"own and also long enough").unwrap();
        sink.append_plain(&page, 3, Some(&page)).unwrap();
        let validity: Bitmap = [true, false, true, false, true].into_iter().collect();
        sink.spread(1, validity.bits(0..5)).unwrap();
        sink.push_nulls(1);
        let mut tail = sink.split_off(4);
        tail.push(b"after the cut, long as well").unwrap();
        let head = values(&sink.finish_binary(None).unwrap());
        assert_eq!(head, [b"own and also long enough".as_slice(), LONG, b"", b"b"]);
        let tail = tail.finish_binary(None).unwrap();
        assert_eq!(values(&tail), [b"".as_slice(), LONG, b"", b"after the cut, long as well"]);
        assert_eq!(tail.data_buffers().len(), 2);
    }

    #[test]
    fn checks_text_once_and_names_the_bad_value() {
        let mut sink = ViewSink::new();
        sink.push("gr\u{fc}n".as_bytes()).unwrap();
        sink.push("a long text with \u{20ac} in it".as_bytes()).unwrap();
        sink.check_utf8().unwrap();
        assert_eq!(sink.clone().finish_utf8(None).unwrap().value(0), "gr\u{fc}n");
        sink.push(b"thirteen byt\xc3").unwrap();
        let error = sink.clone().finish_utf8(None).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotUtf8 { value: 2 }));
        assert_eq!(sink.split_off(2).len(), 1);
        sink.push(b"\xa9").unwrap();
        assert!(sink.check_utf8().is_err());
    }

    #[test]
    fn a_character_does_not_reach_into_the_next_length() {
        // 128 is a length whose first byte goes on with a character of two bytes.
        let long = "x".repeat(128);
        for (values, bad) in
            [([b"a\xc2".as_slice(), long.as_bytes()], Some(0)), ([b"ab", long.as_bytes()], None)]
        {
            let mut page = Vec::new();
            for value in values {
                page.extend(u32::try_from(value.len()).unwrap().to_le_bytes());
                page.extend(value);
            }
            let page = Buffer::from(page);
            let mut sink = ViewSink::new();
            sink.append_plain(&page, 2, Some(&page)).unwrap();
            let found = sink.check_utf8().err().map(|error| match error.kind() {
                ErrorKind::NotUtf8 { value } => *value,
                other => panic!("{other:?}"),
            });
            assert_eq!(found, bad);
        }
    }

    #[test]
    fn text_of_a_page_is_checked_together() {
        let long = "\u{20ac} and more than that ".repeat(6); // a length that is no ASCII
        let euro = "\u{20ac}".repeat(9);
        let good =
            ["short", "a value of some length", &euro, "\u{20ac}", "", &long, "one more long value", &euro];
        let good: Vec<&[u8]> = good.iter().map(|text| text.as_bytes()).collect();
        let check = |values: &[&[u8]]| {
            let page = Buffer::from(plain(values));
            let mut sink = ViewSink::new();
            sink.append_plain(&page, values.len(), Some(&page)).unwrap();
            sink.finish_utf8(None)
        };
        let array = check(&good).unwrap();
        array.to_data().validate_full().unwrap();
        for bad in 0..good.len() {
            for place in [0, good[bad].len() / 2, good[bad].len()] {
                let mut value = good[bad].to_vec();
                value.insert(place, 0xbf);
                let mut values = good.clone();
                values[bad] = &value;
                let error = check(&values).unwrap_err();
                assert!(
                    matches!(error.kind(), ErrorKind::NotUtf8 { value } if *value == bad),
                    "{bad} {error}"
                );
            }
        }
        // Cut within a character: together they are UTF-8, each alone is not.
        let page = Buffer::from(euro.into_bytes());
        let mut sink = ViewSink::new();
        sink.append_lengths(&[13, 14], &page, Some(&page)).unwrap();
        assert!(sink.finish_utf8(None).is_err());
    }

    #[test]
    fn refuses_a_page_that_ends_early() {
        let page = Buffer::from(b"\x20\0\0\0abc".to_vec());
        for source in [None, Some(&page)] {
            assert!(ViewSink::new().append_plain(&page, 1, source).is_err());
            assert!(ViewSink::new().append_lengths(&[8], &page, source).is_err());
            assert!(ViewSink::new().append_lengths(&[-8], &page, source).is_err());
            assert!(ViewSink::new().append_fixed(&page, 4, source).is_err());
        }
    }
}
