//! Byte strings end to end with their offsets: what [`BytesSink`](crate::sink::BytesSink) is made of.
//!
//! It lives here because the arrays it ends in are made without a second look at the offsets and at what has
//! been found to be UTF-8. Its fields are private so that these hold, always:
//! - `offsets` begins with 0, never falls, and ends with `values().len()`, which `O` can hold;
//! - `values()[..checked]` is UTF-8, `checked` is an offset, and so each offset up to it is on a character boundary;
//! - where values are lent, none are owned.

use crate::arrow::array::builder::GenericByteBuilder;
use crate::arrow::array::types::{ByteArrayType, GenericBinaryType, GenericStringType};
use crate::arrow::array::{GenericByteArray, OffsetSizeTrait};
use crate::arrow::buffer::{Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use crate::bitmap::{Bitmap, Bits};
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::byte_dictionary::ByteDictionary;
use crate::raw::front_coding::FrontCoded;
use crate::raw::gather::check_ids;
use crate::raw::simd::Kernels;
use crate::raw::simd::generic::{BytesOut, Page};
use crate::raw::spread::spread_ends;

#[derive(Debug, Clone)]
pub(crate) struct ByteStore<O> {
    offsets: Vec<O>,
    owned: Vec<u8>,
    /// All values as a page has them end to end, until others follow.
    lent: Option<Buffer>,
    /// Bytes to make room for when the first one is copied.
    wanted: usize,
    checked: usize,
}

impl<O: OffsetSizeTrait> ByteStore<O> {
    pub(crate) fn new() -> Self {
        ByteStore { offsets: vec![O::default()], owned: Vec::new(), lent: None, wanted: 0, checked: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn offsets(&self) -> &[O] {
        &self.offsets
    }

    pub(crate) fn values(&self) -> &[u8] {
        self.lent.as_deref().unwrap_or(&self.owned)
    }

    /// Bytes in memory of its own.
    pub(crate) fn owned_len(&self) -> usize {
        self.owned.len()
    }

    /// Its offsets and values.
    pub(crate) fn into_parts(mut self) -> (Vec<O>, Vec<u8>) {
        self.own();
        (self.offsets, self.owned)
    }

    pub(crate) fn reserve(&mut self, n: usize) {
        self.offsets.reserve(n);
    }

    pub(crate) fn reserve_bytes(&mut self, n: usize) {
        self.wanted = self.wanted.max(n);
    }

    /// Copies what is lent, since more is to follow it, and makes the room that was asked for.
    #[inline]
    fn own(&mut self) {
        if self.wanted > 0 || self.lent.is_some() {
            self.copy_lent();
        }
    }

    fn copy_lent(&mut self) {
        let lent = self.lent.take().unwrap_or_default();
        let len = self.owned.len() + lent.len();
        let wanted = std::mem::take(&mut self.wanted).min(O::MAX_OFFSET - len);
        self.owned.reserve(lent.len() + wanted);
        self.owned.extend_from_slice(&lent);
    }

    /// Takes `data`, which lies in `source`, as it is, when there are no values yet, or those that lie just before it.
    fn lend(&mut self, data: &[u8], source: &Buffer) -> bool {
        let lent_len = self.lent.as_ref().map_or(0, |lent| lent.len());
        let start = (data.as_ptr() as usize).checked_sub(source.as_ptr() as usize);
        let Some(start) = start.and_then(|start| start.checked_sub(lent_len)) else { return false };
        let len = lent_len + data.len();
        let follows = match &self.lent {
            Some(lent) => lent.as_ptr() as usize == source.as_ptr() as usize + start,
            None => self.owned.is_empty(),
        };
        if !follows || start.checked_add(len).is_none_or(|end| end > source.len()) {
            return false;
        }
        self.lent = Some(source.slice_with_length(start, len));
        true
    }

    /// Appends one value, unless the offsets cannot hold its end.
    #[inline]
    pub(crate) fn push(&mut self, value: &[u8]) -> bool {
        self.own();
        let end = self.owned.len() + value.len();
        if end > O::MAX_OFFSET {
            return false;
        }
        self.owned.extend_from_slice(value);
        self.offsets.push(O::usize_as(end));
        true
    }

    /// Appends front-coded values, until one does not fit. See [`FrontCoded::append`].
    pub(crate) fn append_front_coded(
        &mut self,
        coded: &FrontCoded<'_>,
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        self.own();
        coded.append(&mut self.owned, &mut self.offsets, previous)
    }

    /// As [`ByteSink::append_plain`](crate::sink::ByteSink::append_plain).
    pub(crate) fn append_plain(&mut self, bytes: &[u8], n: usize) -> Result<(usize, usize)> {
        self.append_plain_with(Kernels::best(), bytes, n)
    }

    fn append_plain_with(&mut self, kernels: &Kernels, bytes: &[u8], n: usize) -> Result<(usize, usize)> {
        if n > bytes.len() / LENGTH {
            return Err(Error::end_of_data("byte arrays", n, bytes.len() / LENGTH));
        }
        self.own();
        self.offsets.reserve(n);
        let kernel = if O::IS_LARGE { kernels.plain_bytes_8 } else { kernels.plain_bytes_4 };
        let mut page = Page { bytes: bytes.as_ptr(), byte_len: bytes.len(), at: 0, wanted: n };
        loop {
            // SAFETY: the page is `bytes`, of which `at` are read; `n` ends were reserved, of which `wanted` are left.
            unsafe { self.write(|out| kernel(&mut page, out)) };
            if page.wanted == 0 {
                break;
            }
            // The value that is next does not fit, or lies near the page's end, or outside of it.
            let mut cursor = Cursor::at(bytes, page.at);
            let len = cursor.u32_le("length of a byte array")?;
            if !self.push_and_grow(cursor.take(len as usize, "byte array")?) {
                break;
            }
            page.at = cursor.position();
            page.wanted -= 1;
        }
        Ok((n - page.wanted, page.at))
    }

    /// As [`ByteSink::append_lengths`](crate::sink::ByteSink::append_lengths).
    pub(crate) fn append_lengths(
        &mut self,
        lengths: &[i32],
        data: &[u8],
        source: Option<&Buffer>,
    ) -> Result<usize> {
        if let Some(&negative) = lengths.iter().find(|len| **len < 0) {
            return Err(Error::malformed(format!("a byte array of {negative} bytes")));
        }
        let total =
            lengths.iter().fold(0usize, |total, len| total.saturating_add(len.cast_unsigned() as usize));
        let all = data.get(..total).ok_or_else(|| Error::end_of_data("byte arrays", total, data.len()))?;
        let before = self.values().len();
        let mut end = before;
        let fitting = match end + all.len() <= O::MAX_OFFSET {
            true => lengths,
            false => fitting(lengths, O::MAX_OFFSET - end),
        };
        self.offsets.extend(fitting.iter().map(|len| {
            end += len.cast_unsigned() as usize;
            O::usize_as(end)
        }));
        let fitting_bytes = all.get(..end - before).unwrap_or_default();
        if !source.is_some_and(|source| self.lend(fitting_bytes, source)) {
            self.own();
            self.owned.extend_from_slice(fitting_bytes);
        }
        Ok(fitting.len())
    }

    /// As [`ByteSink::append_fixed`](crate::sink::ByteSink::append_fixed); `width` is not 0 and divides the bytes.
    pub(crate) fn append_fixed(&mut self, data: &[u8], width: usize) -> usize {
        self.own();
        let start = self.owned.len();
        let n = (data.len() / width).min((O::MAX_OFFSET - start) / width);
        self.owned.extend_from_slice(data.get(..n * width).unwrap_or_default());
        self.offsets.extend((1..=n).map(|i| O::usize_as(start + i * width)));
        n
    }

    /// Appends the values that `ids` names, until one does not fit; gives how many.
    ///
    /// # Errors
    /// When an id is not within the dictionary; nothing is appended then.
    pub(crate) fn append_ids(&mut self, ids: &[u32], dictionary: &ByteDictionary) -> Result<usize> {
        self.append_ids_with(Kernels::best(), ids, dictionary)
    }

    fn append_ids_with(
        &mut self,
        kernels: &Kernels,
        ids: &[u32],
        dictionary: &ByteDictionary,
    ) -> Result<usize> {
        check_ids(ids, dictionary.len())?;
        self.own();
        let proven = self.checked == self.owned.len() && dictionary.is_utf8();
        self.offsets.reserve(ids.len());
        let kernel = if O::IS_LARGE { kernels.dictionary_bytes_8 } else { kernels.dictionary_bytes_4 };
        let (offsets, bytes) = (dictionary.offsets().as_ptr(), dictionary.padded().as_ptr());
        let (mut left, narrow) = (ids, dictionary.is_narrow());
        loop {
            // SAFETY: every id has an offset and the one after it, which never fall; the dictionary is padded for wide
            // copies; an end an id was reserved.
            let taken =
                unsafe { self.write(|out| kernel(left.as_ptr(), left.len(), offsets, bytes, narrow, out)) };
            left = left.get(taken..).unwrap_or_default();
            let Some((&id, rest)) = left.split_first() else { break };
            if !self.push_and_grow(dictionary.value(id)?) {
                break;
            }
            left = rest;
        }
        if proven {
            self.checked = self.owned.len();
        }
        Ok(ids.len() - left.len())
    }

    /// Gives the room there is to `kernel`, and takes what it wrote; gives how many values.
    ///
    /// # Safety
    /// `kernel` writes up to `taken` ends, for which there is room, and the bytes up to the last of them; the ends
    /// never fall and start from `position`.
    unsafe fn write(&mut self, kernel: impl FnOnce(&mut BytesOut)) -> usize {
        let ends = self.offsets.spare_capacity_mut().as_mut_ptr();
        let mut out = BytesOut {
            values: self.owned.as_mut_ptr(),
            position: self.owned.len(),
            room: self.owned.capacity().min(O::MAX_OFFSET),
            ends: ends.cast(),
            taken: 0,
        };
        kernel(&mut out);
        // SAFETY: the kernel has written so many bytes and ends, within the room.
        unsafe {
            self.owned.set_len(out.position);
            self.offsets.set_len(self.offsets.len() + out.taken);
        }
        out.taken
    }

    /// As [`ByteStore::push`], leaving room for wide copies after it.
    #[cold]
    fn push_and_grow(&mut self, value: &[u8]) -> bool {
        let wanted = value.len() + GROWTH;
        self.owned.reserve(wanted.min(O::MAX_OFFSET - self.owned.len()));
        self.push(value)
    }

    /// Spreads the values from `start` on; null slots are empty. Only offsets move.
    pub(crate) fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        spread_ends(&mut self.offsets, start, validity)
    }

    pub(crate) fn push_nulls(&mut self, n: usize) {
        let last = self.offsets.last().copied().unwrap_or_default();
        self.offsets.resize(self.offsets.len() + n, last);
    }

    /// Keeps the values before `at` and gives those at and after it.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let at = at.min(self.len());
        let bytes = self.offsets.get(at).map_or(0, |offset| offset.as_usize());
        let (owned, lent) = match &mut self.lent {
            None => (self.owned.split_off(bytes), None),
            Some(head) => {
                let tail = head.slice(bytes);
                *head = head.slice_with_length(0, bytes);
                (Vec::new(), Some(tail))
            }
        };
        let offsets = self.offsets.iter().skip(at).map(|&end| end - O::usize_as(bytes)).collect();
        self.offsets.truncate(at + 1);
        let checked = self.checked.saturating_sub(bytes);
        self.checked = self.checked.min(bytes);
        ByteStore { offsets, owned, lent, wanted: 0, checked }
    }

    /// Checks that every value not checked before is UTF-8.
    ///
    /// # Errors
    /// Names the first value that is not.
    pub(crate) fn check_utf8(&mut self) -> Result<()> {
        let values = self.values();
        let owed = values.get(self.checked..).unwrap_or_default();
        if owed.is_ascii() {
            self.checked = values.len();
            return Ok(());
        }
        if let Err(error) = simdutf8::compat::from_utf8(owed) {
            return Err(self.not_utf8_at(self.checked + error.valid_up_to()));
        }
        let first = self.offsets.partition_point(|offset| offset.as_usize() <= self.checked);
        let within = self.offsets.get(first..).unwrap_or_default();
        let split = within
            .iter()
            .find(|offset| values.get(offset.as_usize()).is_some_and(|byte| byte & 0xc0 == 0x80));
        if let Some(offset) = split {
            return Err(self.not_utf8_at(offset.as_usize() - 1));
        }
        self.checked = values.len();
        Ok(())
    }

    /// The error for the value that holds byte `byte`.
    fn not_utf8_at(&self, byte: usize) -> Error {
        let value = self.offsets.partition_point(|offset| offset.as_usize() <= byte).saturating_sub(1);
        ErrorKind::NotUtf8 { value }.into()
    }

    pub(crate) fn into_binary(
        self,
        nulls: Option<NullBuffer>,
    ) -> Result<GenericByteArray<GenericBinaryType<O>>> {
        self.into_array(nulls)
    }

    pub(crate) fn into_utf8(
        mut self,
        nulls: Option<NullBuffer>,
    ) -> Result<GenericByteArray<GenericStringType<O>>> {
        self.check_utf8()?;
        self.into_array(nulls)
    }

    /// For a type of strings, only once all of `values` is checked.
    fn into_array<T: ByteArrayType<Offset = O>>(
        self,
        nulls: Option<NullBuffer>,
    ) -> Result<GenericByteArray<T>> {
        check_nulls(self.len(), nulls.as_ref())?;
        // SAFETY: the offsets begin with 0 and never fall, by the invariant of this type.
        let offsets = unsafe { OffsetBuffer::new_unchecked(ScalarBuffer::from(self.offsets)) };
        let values = self.lent.unwrap_or_else(|| Buffer::from_vec(self.owned));
        // SAFETY: the offsets end with the number of bytes, and the null buffer has one bit a value. The callers
        // have seen that strings are UTF-8, with each offset on a character boundary.
        Ok(unsafe { GenericByteArray::new_unchecked(offsets, values, nulls) })
    }

    pub(crate) fn into_binary_builder(
        self,
        validity: Option<Bitmap>,
    ) -> Result<GenericByteBuilder<GenericBinaryType<O>>> {
        self.into_builder(validity)
    }

    pub(crate) fn into_utf8_builder(
        mut self,
        validity: Option<Bitmap>,
    ) -> Result<GenericByteBuilder<GenericStringType<O>>> {
        self.check_utf8()?;
        self.into_builder(validity)
    }

    fn into_builder<T: ByteArrayType<Offset = O>>(
        mut self,
        validity: Option<Bitmap>,
    ) -> Result<GenericByteBuilder<T>> {
        let validity = validity_buffer(self.len(), validity)?;
        self.own();
        let (offsets, values) = (MutableBuffer::from(self.offsets), MutableBuffer::from(self.owned));
        // SAFETY: as for the array: offsets from 0, never falling, ending with the number of bytes; strings checked.
        Ok(unsafe { GenericByteBuilder::new_from_buffer(offsets, values, validity) })
    }
}

/// As many of `lengths`, none negative, as take no more than `room` bytes.
fn fitting(lengths: &[i32], room: usize) -> &[i32] {
    let mut end = 0;
    let fits = |len: &&i32| {
        end += len.cast_unsigned() as usize;
        end <= room
    };
    let n = lengths.iter().take_while(fits).count();
    lengths.get(..n).unwrap_or_default()
}

/// Bytes of a length in a `PLAIN` page.
const LENGTH: usize = 4;
/// Room that is made at least when there is too little: for many short values, each copied wide.
const GROWTH: usize = 4096;

/// Refuses a null buffer that has not one bit a value.
pub(crate) fn check_nulls(len: usize, nulls: Option<&NullBuffer>) -> Result<()> {
    match nulls {
        Some(nulls) if nulls.len() != len => {
            Err(Error::invalid(format!("a null buffer of {} bits for {len} values", nulls.len())))
        }
        _ => Ok(()),
    }
}

/// A validity of one bit a value as the bytes that Arrow's builders take.
pub(crate) fn validity_buffer(len: usize, validity: Option<Bitmap>) -> Result<Option<MutableBuffer>> {
    match validity {
        Some(bitmap) if bitmap.len() != len => {
            Err(Error::invalid(format!("a validity of {} bits for {len} values", bitmap.len())))
        }
        Some(bitmap) => {
            let mut buffer = MutableBuffer::from(bitmap.into_words());
            buffer.truncate(len.div_ceil(8));
            Ok(Some(buffer))
        }
        None => Ok(None),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::encoding::plain_byte_dictionary;
    use crate::raw::isa::Isa;

    /// Values of many lengths: equal, equal for a while, mixed, about the wide copy's 64 bytes and multiples, long.
    pub(crate) fn shapes() -> Vec<Vec<Vec<u8>>> {
        let mut state = 1u32;
        let mut below = |n: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 8) % n
        };
        let mut shapes: Vec<Vec<u32>> =
            [0, 1, 12, 13, 16, 63, 64, 65, 128, 129, 256, 257, 1000].map(|len| vec![len; 50]).into();
        shapes.push((0..400).map(|_| below(33) + 8).collect());
        shapes.push((0..400).map(|_| below(4)).collect());
        shapes.push((0..400).map(|_| below(300)).collect());
        shapes.push((0..200).map(|i| if i % 20 == 19 { 7 } else { 8 }).collect());
        shapes.push((0..60).map(|i| if i % 9 == 8 { 70_000 } else { i }).collect());
        shapes.push(vec![]);
        let fill = |(i, len): (usize, u32)| vec![i.to_le_bytes()[0]; len as usize];
        shapes.into_iter().map(|lens| lens.into_iter().enumerate().map(fill).collect()).collect()
    }

    pub(crate) fn plain(values: &[Vec<u8>]) -> Vec<u8> {
        let one = |value: &Vec<u8>| [&u32::try_from(value.len()).unwrap().to_le_bytes()[..], value].concat();
        values.iter().flat_map(one).collect()
    }

    fn check<O: OffsetSizeTrait>(store: &ByteStore<O>, expected: &[Vec<u8>]) {
        let array = store.clone().into_binary(None).unwrap();
        crate::arrow::array::Array::to_data(&array).validate_full().unwrap();
        assert_eq!(array.iter().flatten().collect::<Vec<_>>(), expected);
    }

    fn check_plain<O: OffsetSizeTrait>(isa: Isa, values: &[Vec<u8>], behind: usize, reserved: usize) {
        let mut page = plain(values);
        let len = page.len();
        page.resize(len + behind, 0x55);
        for first in [0, 1, values.len() / 2, values.len()] {
            let first = first.min(values.len());
            let mut store = ByteStore::<O>::new();
            store.reserve_bytes(reserved);
            let kernels = Kernels::of(isa);
            let (taken, used) = store.append_plain_with(kernels, &page, first).unwrap();
            assert_eq!(taken, first);
            let rest = values.len() - first;
            assert_eq!(store.append_plain_with(kernels, &page[used..], rest).unwrap(), (rest, len - used));
            check(&store, values);
        }
    }

    #[test]
    fn plain_pages_of_any_lengths_by_every_instruction_set() {
        for isa in Isa::available() {
            for values in shapes() {
                for (behind, reserved) in [(0, 0), (3, 100), (67, 5000), (500, 1 << 20)] {
                    check_plain::<i32>(isa, &values, behind, reserved);
                    check_plain::<i64>(isa, &values, behind, reserved);
                }
            }
        }
    }

    #[test]
    fn a_plain_page_cut_anywhere_is_refused() {
        let values: Vec<Vec<u8>> = (0..40).map(|i| vec![i; usize::from(i % 7) * 9]).collect();
        let page = plain(&values);
        for isa in Isa::available() {
            for len in 0..page.len() {
                let page = page[..len].to_vec();
                let mut store = ByteStore::<i32>::new();
                assert!(store.append_plain_with(Kernels::of(isa), &page, 40).is_err());
                assert!(store.len() < 40);
            }
            for long in [0x7fff_ffffu32, 0x8000_0000, u32::MAX, u32::try_from(page.len() - 3).unwrap()] {
                let mut page = page.clone();
                page[..4].copy_from_slice(&long.to_le_bytes());
                assert!(ByteStore::<i32>::new().append_plain_with(Kernels::of(isa), &page, 1).is_err());
            }
        }
    }

    #[test]
    fn dictionaries_of_any_lengths_by_every_instruction_set() {
        for isa in Isa::available() {
            for values in shapes().iter().filter(|values| !values.is_empty()) {
                let dictionary = plain_byte_dictionary(&plain(values), values.len()).unwrap();
                let n = u32::try_from(values.len()).unwrap();
                let ids: Vec<u32> = (0..100).map(|i| i * 7 % n).collect();
                let expected: Vec<Vec<u8>> = ids.iter().map(|&id| values[id as usize].clone()).collect();
                let (mut small, mut large) = (ByteStore::<i32>::new(), ByteStore::<i64>::new());
                assert_eq!(small.append_ids_with(Kernels::of(isa), &ids, &dictionary).unwrap(), 100);
                assert_eq!(large.append_ids_with(Kernels::of(isa), &ids, &dictionary).unwrap(), 100);
                check(&small, &expected);
                check(&large, &expected);
                assert!(small.append_ids_with(Kernels::of(isa), &[0, n], &dictionary).is_err());
                check(&small, &expected);
            }
        }
    }

    #[test]
    fn lengths_are_cut_where_they_fill_the_room() {
        assert_eq!(fitting(&[1, 2, 3], 6), [1, 2, 3]);
        assert_eq!(fitting(&[1, 2, 3], 5), [1, 2]);
        assert_eq!(fitting(&[i32::MAX, i32::MAX, i32::MAX], i32::MAX as usize), [i32::MAX]);
        assert_eq!(fitting(&[1], 0), []);
    }

    #[test]
    fn full_offsets_of_32_bits_take_no_more() {
        let mut store = ByteStore::<i32>::new();
        // Zeroed memory that is never touched.
        store.owned = vec![0; i32::MAX as usize - 10];
        store.owned.reserve_exact(10);
        store.offsets = vec![0, i32::MAX - 10];
        let page = plain(&[vec![1; 4], vec![2; 4], vec![3; 4]]);
        assert_eq!(store.append_plain(&page, 3).unwrap(), (2, 16));
        assert_eq!(store.append_lengths(&[1, 1, 1], &[7; 3], None).unwrap(), 2);
        assert_eq!(store.append_fixed(&[7; 4], 2), 0);
        let dictionary = plain_byte_dictionary(&page, 3).unwrap();
        assert_eq!(store.append_ids(&[1, 1], &dictionary).unwrap(), 0);
        assert!(!store.push(&[1]));
        assert!(store.push(&[]));
        assert_eq!(store.owned.len(), i32::MAX as usize);
    }
}
