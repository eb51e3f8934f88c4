//! Arrow views with the buffers they point into: what [`ViewSink`](crate::sink::ViewSink) is made of.
//!
//! It lives here because the arrays it ends in are made without a second look. Its fields are private so that
//! these hold, always:
//! - a view of more than 12 bytes points into `buffers` (or into `open`, which becomes `buffers[open_index]`), begins
//!   with the four bytes it points at, and every buffer is shorter than 2 GiB;
//! - the first `checked` views are UTF-8;
//! - the views of `plain` are of all values in its bytes, in that order.
// A view is four numbers of 32 bits in one of 128: taking it apart cuts, on purpose.
#![allow(clippy::cast_possible_truncation)]

use std::ops::Range;
use std::sync::Arc;

use crate::arrow::array::GenericByteViewArray;
use crate::arrow::array::types::{BinaryViewType, ByteViewType, StringViewType};
use crate::arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use crate::bitmap::Bits;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::byte_dictionary::ByteDictionary;
use crate::raw::byte_store::check_nulls;
use crate::raw::fixed::as_bytes;
use crate::raw::front_coding::FrontCoded;
use crate::raw::gather::check_ids;
use crate::raw::simd::Kernels;
use crate::raw::simd::generic::{Page, ViewsOut};
use crate::raw::spread::spread;

/// Longest value that a view holds itself.
pub(crate) const INLINE: usize = 12;
/// Own buffers grow up to this; a longer value gets one of its own.
const BLOCK: usize = 1 << 20;
/// Views that are checked together.
const TOGETHER: usize = 512;
/// Bytes between two long values that are checked with them: lengths, and inline values.
const LARGEST_GAP: usize = 256;

#[derive(Debug, Clone, Default)]
pub(crate) struct ViewStore {
    views: Vec<u128>,
    buffers: Vec<Buffer>,
    open: Vec<u8>,
    open_index: Option<usize>,
    checked: usize,
    /// The last values that were taken from a `PLAIN` page, all of them.
    plain: Option<PlainRun>,
}

/// Views of values that lie one after the other in a page, each behind its length.
#[derive(Debug, Clone)]
struct PlainRun {
    views: Range<usize>,
    buffer: usize,
    /// Where in the buffer the lengths and values are.
    bytes: Range<usize>,
}

impl ViewStore {
    pub(crate) fn len(&self) -> usize {
        self.views.len()
    }

    pub(crate) fn views(&self) -> &[u128] {
        &self.views
    }

    pub(crate) fn reserve(&mut self, n: usize) {
        self.views.reserve(n);
    }

    /// Appends one value, copying it when it is long.
    pub(crate) fn push(&mut self, value: &[u8]) -> Result<()> {
        let view = self.copied(value)?;
        self.views.push(view);
        Ok(())
    }

    /// Appends one value `n` times, copying it once when it is long.
    pub(crate) fn push_n(&mut self, value: &[u8], n: usize) -> Result<()> {
        let view = self.copied(value)?;
        self.views.resize(self.views.len() + n, view);
        Ok(())
    }

    fn copied(&mut self, value: &[u8]) -> Result<u128> {
        if value.len() <= INLINE {
            return Ok(make_view(value, 0, 0));
        }
        if i32::try_from(value.len()).is_err() {
            return Err(ErrorKind::OffsetOverflow { use_instead: "LargeBinary or LargeUtf8" }.into());
        }
        if self.open.len() + value.len() > BLOCK {
            self.close();
        }
        let index = match self.open_index {
            Some(index) => index,
            None => {
                self.buffers.push(Buffer::from_vec(Vec::<u8>::new()));
                *self.open_index.insert(self.buffers.len() - 1)
            }
        };
        let (index, offset) = (number(index)?, number(self.open.len())?);
        self.open.extend_from_slice(value);
        Ok(make_view(value, index, offset))
    }

    /// Appends front-coded values. Long ones go to a buffer of their own. See [`FrontCoded::append`].
    ///
    /// # Errors
    /// When a value is 2 GiB or more, or the lengths are impossible.
    pub(crate) fn append_front_coded(
        &mut self,
        coded: &FrontCoded<'_>,
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        let (mut values, mut ends) = (Vec::new(), Vec::<i32>::new());
        let (taken, used) = coded.append(&mut values, &mut ends, previous)?;
        if taken == 0 && !coded.prefixes.is_empty() {
            return Err(ErrorKind::OffsetOverflow { use_instead: "LargeBinary or LargeUtf8" }.into());
        }
        let source = Buffer::from_vec(values);
        let starts = std::iter::once(&0).chain(&ends).map(|&end| end.cast_unsigned() as usize);
        let lens = starts.clone().zip(starts.skip(1)).map(|(start, end)| (start, end - start));
        let long = lens.clone().any(|(_, len)| len > INLINE);
        let index = if long { self.index_of(&source)? } else { 0 };
        self.views.reserve(ends.len());
        for (start, len) in lens {
            self.views.push(make_view(
                source.get(start..start + len).unwrap_or_default(),
                index,
                number(start)?,
            ));
        }
        Ok((taken, used))
    }

    /// As [`ByteSink::append_plain`](crate::sink::ByteSink::append_plain).
    pub(crate) fn append_plain(
        &mut self,
        bytes: &[u8],
        n: usize,
        source: Option<&Buffer>,
    ) -> Result<(usize, usize)> {
        self.append_plain_with(Kernels::best(), bytes, n, source)
    }

    fn append_plain_with(
        &mut self,
        kernels: &Kernels,
        bytes: &[u8],
        n: usize,
        source: Option<&Buffer>,
    ) -> Result<(usize, usize)> {
        if n > bytes.len() / 4 {
            return Err(Error::end_of_data("byte arrays", n, bytes.len() / 4));
        }
        let lent = source.and_then(|source| self.lent(bytes, source));
        let first = self.views.len();
        self.views.reserve(n);
        let mut page = Page { bytes: bytes.as_ptr(), byte_len: bytes.len(), at: 0, wanted: n };
        loop {
            let views = self.views.spare_capacity_mut().as_mut_ptr().cast();
            let mut out = ViewsOut { views, taken: 0, place: lent.map(Lent::place) };
            // SAFETY: the page is `bytes`, of which `at` are read; `n` views were reserved, of which `wanted` are left.
            // What is lent is shorter than 2 GiB. The kernel has written as many views as it says, each of a value
            // within `bytes`, which lie in the buffer at `place`.
            unsafe {
                (kernels.plain_views)(&mut page, &mut out);
                self.views.set_len(self.views.len() + out.taken);
            }
            if page.wanted == 0 {
                break;
            }
            // The value that is next must be copied, or lies near the page's end, or outside of it.
            let mut cursor = Cursor::at(bytes, page.at);
            let len = cursor.u32_le("length of a byte array")? as usize;
            let start = cursor.position();
            self.put(cursor.take(len, "byte array")?, start, lent)?;
            page.at = cursor.position();
            page.wanted -= 1;
        }
        self.plain = lent.map(|Lent { index, offset }| PlainRun {
            views: first..self.views.len(),
            buffer: index as usize,
            bytes: offset..offset + page.at,
        });
        Ok((n, page.at))
    }

    /// Appends values that lie end to end in `data`, each as long as `lengths` says.
    pub(crate) fn append_lengths(
        &mut self,
        lengths: impl Iterator<Item = Result<usize>>,
        data: &[u8],
        source: Option<&Buffer>,
    ) -> Result<()> {
        let lent = source.and_then(|source| self.lent(data, source));
        let mut cursor = Cursor::new(data);
        for len in lengths {
            let start = cursor.position();
            self.put(cursor.take(len?, "byte array")?, start, lent)?;
        }
        Ok(())
    }

    /// Appends `value`, which lies `start` bytes into what was lent to this store.
    fn put(&mut self, value: &[u8], start: usize, lent: Option<Lent>) -> Result<()> {
        match lent {
            Some(Lent { index, offset }) => self.views.push(make_view(value, index, number(offset + start)?)),
            None => self.push(value)?,
        }
        Ok(())
    }

    /// Makes `source`, or as much of it as `bytes` takes, a buffer that views can point into. `None` when `bytes` do
    /// not lie there, or are 2 GiB or more.
    fn lent(&mut self, bytes: &[u8], source: &Buffer) -> Option<Lent> {
        let offset = (bytes.as_ptr() as usize).checked_sub(source.as_ptr() as usize)?;
        let within = offset.checked_add(bytes.len()).is_some_and(|end| end <= source.len());
        if !within || i32::try_from(bytes.len()).is_err() {
            return None;
        }
        let (source, offset) = match i32::try_from(source.len()) {
            Ok(_) => (source.clone(), offset),
            Err(_) => (source.slice_with_length(offset, bytes.len()), 0),
        };
        Some(Lent { index: self.index_of(&source).ok()?, offset })
    }

    /// Appends the values that `ids` names.
    ///
    /// # Errors
    /// When an id is not within the dictionary; nothing is appended then.
    pub(crate) fn append_ids(&mut self, ids: &[u32], dictionary: &ByteDictionary) -> Result<()> {
        self.append_ids_with(Kernels::best(), ids, dictionary)
    }

    fn append_ids_with(&mut self, kernels: &Kernels, ids: &[u32], dictionary: &ByteDictionary) -> Result<()> {
        check_ids(ids, dictionary.len())?;
        let proven = self.checked == self.views.len() && dictionary.is_utf8();
        let index = self.index_of(&dictionary.bytes())?;
        self.views.reserve(ids.len());
        // SAFETY: the dictionary has a view an id; there is room for one an id, which are written before the length
        // covers them.
        unsafe {
            let to = self.views.as_mut_ptr().add(self.views.len());
            (kernels.dictionary_views)(dictionary.views().as_ptr(), ids.as_ptr(), to, ids.len(), index);
            self.views.set_len(self.views.len() + ids.len());
        }
        if proven {
            self.checked = self.views.len();
        }
        Ok(())
    }

    /// Which of the buffers is `buffer`; it is added where none is.
    fn index_of(&mut self, buffer: &Buffer) -> Result<u32> {
        if let Some(index) = self.buffers.iter().rposition(|known| known.ptr_eq(buffer)) {
            return number(index);
        }
        self.buffers.push(buffer.clone());
        number(self.buffers.len() - 1)
    }

    pub(crate) fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        let all = self.checked == self.views.len();
        self.plain = None;
        spread(&mut self.views, start, validity)?;
        self.checked = if all { self.views.len() } else { self.checked.min(start) };
        Ok(())
    }

    pub(crate) fn push_nulls(&mut self, n: usize) {
        let all = self.checked == self.views.len();
        self.views.resize(self.views.len() + n, 0);
        if all {
            self.checked = self.views.len();
        }
    }

    /// Keeps the views before `at` and gives those at and after it, with the buffers that they need.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        self.close();
        self.plain = None;
        let mut views = self.views.split_off(at.min(self.views.len()));
        let mut moved: Vec<Option<u32>> = vec![None; self.buffers.len()];
        let mut buffers = Vec::new();
        for view in views.iter_mut().filter(|view| **view as u32 as usize > INLINE) {
            let index = (*view >> 64) as u32;
            let Some((slot, buffer)) = moved.get_mut(index as usize).zip(self.buffers.get(index as usize))
            else {
                continue;
            };
            let index = *slot.get_or_insert_with(|| {
                buffers.push(buffer.clone());
                buffers.len() as u32 - 1
            });
            *view = *view & !(u128::from(u32::MAX) << 64) | u128::from(index) << 64;
        }
        let checked = self.checked.saturating_sub(self.views.len());
        self.checked = self.checked.min(self.views.len());
        ViewStore { views, buffers, open: Vec::new(), open_index: None, checked, plain: None }
    }

    /// Makes the open buffer one of the others.
    fn close(&mut self) {
        let open = std::mem::take(&mut self.open);
        if let Some(slot) = self.open_index.take().and_then(|index| self.buffers.get_mut(index)) {
            *slot = Buffer::from_vec(open);
        }
    }

    /// The value of a view.
    pub(crate) fn value(&self, index: usize) -> Option<ViewValue<'_>> {
        let view = *self.views.get(index)?;
        let len = view_len(view);
        if len <= INLINE {
            return Some(ViewValue::Inline(view.to_le_bytes(), len));
        }
        let (buffer, offset) = self.buffer(view)?;
        buffer.get(offset..offset + len).map(ViewValue::Long)
    }

    /// Checks that every value not checked before is UTF-8.
    ///
    /// # Errors
    /// Names the first value that is not.
    pub(crate) fn check_utf8(&mut self) -> Result<()> {
        if let Some(run) = self.plain.take().filter(|run| self.plain_utf8(run)) {
            self.checked = run.views.end;
        }
        while self.checked < self.views.len() {
            let run = self.checked..self.views.len().min(self.checked + TOGETHER);
            let views = self.views.get(run.clone()).unwrap_or_default();
            if !(inline_utf8(views) && self.long_utf8(views)) {
                // One by one: to name the value that is bad, or because what lies between two is not UTF-8.
                let bad = run.clone().find(|&value| self.value(value).is_none_or(|v| !v.is_utf8()));
                if let Some(value) = bad {
                    return Err(ErrorKind::NotUtf8 { value }.into());
                }
            }
            self.checked = run.end;
        }
        Ok(())
    }

    /// Whether all of `run`, which nothing unchecked stands before, is UTF-8, as far as one look at its part of the page
    /// shows. A length below 128 is ASCII, so that no character reaches from one value into the next.
    fn plain_utf8(&self, run: &PlainRun) -> bool {
        let views = self.views.get(run.views.clone()).unwrap_or_default();
        let bytes = self.buffers.get(run.buffer).and_then(|buffer| buffer.get(run.bytes.clone()));
        run.views.start == self.checked
            && views.iter().fold(0, |all, view| all | *view as u32) < 128
            && bytes.is_some_and(is_utf8)
    }

    /// Whether the long ones of `views` are UTF-8, as far as that shows when those that lie near one another are checked
    /// together, with what is between them: then none may begin or end within a character.
    fn long_utf8(&self, views: &[u128]) -> bool {
        let boundary = |buffer: &[u8], at: usize| buffer.get(at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let mut near: (usize, Range<usize>) = (usize::MAX, 0..0);
        let mut bytes: &[u8] = &[];
        for &view in views.iter().filter(|view| view_len(**view) > INLINE) {
            let (index, start) = place(view);
            let end = start + view_len(view);
            if index == near.0 && (near.1.end..=near.1.end + LARGEST_GAP).contains(&start) {
                near.1.end = end;
            } else {
                if !bytes.get(near.1).is_some_and(is_utf8) {
                    return false;
                }
                let Some((buffer, _)) = self.buffer(view) else { return false };
                (bytes, near) = (buffer, (index, start..end));
            }
            if !boundary(bytes, start) || !boundary(bytes, end) {
                return false;
            }
        }
        bytes.get(near.1).is_some_and(is_utf8)
    }

    /// The buffer of a long view, and where in it the value begins.
    fn buffer(&self, view: u128) -> Option<(&[u8], usize)> {
        let (index, offset) = place(view);
        match self.open_index {
            Some(open) if open == index => Some((&self.open, offset)),
            _ => self.buffers.get(index).map(|buffer| (buffer.as_slice(), offset)),
        }
    }

    pub(crate) fn into_binary(
        self,
        nulls: Option<NullBuffer>,
    ) -> Result<GenericByteViewArray<BinaryViewType>> {
        self.into_array(nulls)
    }

    pub(crate) fn into_utf8(
        mut self,
        nulls: Option<NullBuffer>,
    ) -> Result<GenericByteViewArray<StringViewType>> {
        self.check_utf8()?;
        self.into_array(nulls)
    }

    /// For a type of strings, only once all views are checked.
    fn into_array<T: ByteViewType>(mut self, nulls: Option<NullBuffer>) -> Result<GenericByteViewArray<T>> {
        check_nulls(self.views.len(), nulls.as_ref())?;
        self.close();
        let buffers: Arc<[Buffer]> = self.buffers.into();
        // SAFETY: each long view points into its buffer and begins with the bytes there, short ones are padded with
        // zeros, and the null buffer has one bit a view; the caller has seen that strings are UTF-8.
        Ok(unsafe { GenericByteViewArray::new_unchecked(ScalarBuffer::from(self.views), buffers, nulls) })
    }
}

/// Where bytes lie that views of one store may point at: `offset` bytes into buffer `index`.
#[derive(Debug, Clone, Copy)]
struct Lent {
    index: u32,
    offset: usize,
}

impl Lent {
    /// The upper half of a view of the bytes' first.
    fn place(self) -> u64 {
        u64::from(self.index) | (self.offset as u64) << 32
    }
}

/// The bytes of a view.
pub(crate) enum ViewValue<'a> {
    Inline([u8; 16], usize),
    Long(&'a [u8]),
}

/// Whether the inline ones of `views` are UTF-8. The length in front of each gives way to zeros, so that no character
/// reaches from one value into the next.
fn inline_utf8(views: &[u128]) -> bool {
    let mut bodies = [0i128; TOGETHER];
    for (body, view) in bodies.iter_mut().zip(views) {
        let keep = u128::from(view_len(*view) <= INLINE).wrapping_neg();
        *body = (view & keep & !u128::from(u32::MAX)).cast_signed();
    }
    is_utf8(as_bytes(bodies.get(..views.len()).unwrap_or(&bodies)))
}

fn is_utf8(bytes: &[u8]) -> bool {
    bytes.is_ascii() || simdutf8::basic::from_utf8(bytes).is_ok()
}

impl ViewValue<'_> {
    fn is_utf8(&self) -> bool {
        let bytes = match self {
            ViewValue::Inline(view, len) => view.get(4..4 + len).unwrap_or_default(),
            ViewValue::Long(bytes) => bytes,
        };
        is_utf8(bytes)
    }
}

/// A view of `value` (shorter than 4 GiB), which lies `offset` bytes into buffer `index`.
#[inline]
pub(crate) fn make_view(value: &[u8], index: u32, offset: u32) -> u128 {
    let len = value.len() as u32;
    match value.first_chunk::<4>() {
        Some(prefix) if value.len() > INLINE => {
            let prefix = u32::from_le_bytes(*prefix);
            u128::from(len) | u128::from(prefix) << 32 | u128::from(index) << 64 | u128::from(offset) << 96
        }
        _ => u128::from(len) | padded(value) << 32,
    }
}

/// Up to 12 bytes as a number, by two loads that may overlap where there are more than three.
#[inline]
fn padded(value: &[u8]) -> u128 {
    let len = value.len();
    if let (Some(low), Some(high)) = (value.first_chunk::<8>(), value.last_chunk::<8>()) {
        return u128::from(u64::from_le_bytes(*low))
            | u128::from(u64::from_le_bytes(*high)) << (8 * (len - 8));
    }
    if let (Some(low), Some(high)) = (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        let (low, high) = (u32::from_le_bytes(*low), u32::from_le_bytes(*high));
        return u128::from(low) | u128::from(high) << (8 * (len - 4));
    }
    value.iter().rev().fold(0, |number, &byte| number << 8 | u128::from(byte))
}

/// The length in a view.
fn view_len(view: u128) -> usize {
    view as u32 as usize
}

/// The buffer's index and the offset in a long view.
fn place(view: u128) -> (usize, usize) {
    ((view >> 64) as u32 as usize, (view >> 96) as usize)
}

fn number(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::unsupported("more than 2^32 buffers or bytes behind views"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::plain_byte_dictionary;
    use crate::raw::byte_store::tests::{plain, shapes};
    use crate::raw::isa::Isa;

    fn check(store: &ViewStore, expected: &[Vec<u8>]) {
        let array = store.clone().into_binary(None).unwrap();
        crate::arrow::array::Array::to_data(&array).validate_full().unwrap();
        assert_eq!(array.iter().flatten().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn plain_pages_of_any_lengths_by_every_instruction_set() {
        for isa in Isa::available() {
            for values in shapes() {
                for behind in [0, 3, 67] {
                    let bytes = [vec![0xaa; 5], plain(&values), vec![0x55; behind]].concat();
                    let page = Buffer::from(bytes.clone());
                    let half = values.len() / 2;
                    for source in [None, Some(&page)] {
                        let mut store = ViewStore::default();
                        store.push(b"something of the store's own").unwrap();
                        let rest = &page.as_slice()[5..];
                        let kernels = Kernels::of(isa);
                        let (_, used) = store.append_plain_with(kernels, rest, half, source).unwrap();
                        let rest = &rest[used..];
                        store.append_plain_with(kernels, rest, values.len() - half, source).unwrap();
                        let mut store = store.split_off(1);
                        check(&store, &values);
                        store.push(b"and this one, to go on with").unwrap();
                    }
                }
            }
        }
    }

    #[test]
    fn a_plain_page_cut_anywhere_is_refused() {
        let values: Vec<Vec<u8>> = (0..40).map(|i| vec![i; usize::from(i % 7) * 9]).collect();
        let whole = plain(&values);
        for isa in Isa::available() {
            for len in 0..whole.len() {
                let page = Buffer::from(whole[..len].to_vec());
                for source in [None, Some(&page)] {
                    let mut store = ViewStore::default();
                    assert!(store.append_plain_with(Kernels::of(isa), &page, 40, source).is_err());
                }
            }
        }
    }

    #[test]
    fn dictionaries_by_every_instruction_set() {
        for isa in Isa::available() {
            for values in shapes().iter().filter(|values| !values.is_empty()) {
                let dictionary = plain_byte_dictionary(&plain(values), values.len()).unwrap();
                let n = u32::try_from(values.len()).unwrap();
                let ids: Vec<u32> = (0..100).map(|i| i * 7 % n).collect();
                let expected: Vec<Vec<u8>> = ids.iter().map(|&id| values[id as usize].clone()).collect();
                for before in [0, 3] {
                    let buffers = vec![Buffer::from(b"others"); before];
                    let mut store = ViewStore { buffers, ..ViewStore::default() };
                    store.append_ids_with(Kernels::of(isa), &ids, &dictionary).unwrap();
                    check(&store, &expected);
                    assert!(store.append_ids_with(Kernels::of(isa), &[n], &dictionary).is_err());
                    assert_eq!(store.len(), 100);
                }
            }
        }
    }

    #[test]
    fn inline_views_hold_every_byte_and_nothing_after() {
        let bytes: Vec<u8> = (1..=12).collect();
        for len in 0..=12 {
            let mut expected = [0u8; 16];
            expected[0] = u8::try_from(len).unwrap();
            expected[4..4 + len].copy_from_slice(&bytes[..len]);
            assert_eq!(make_view(&bytes[..len], 7, 9).to_le_bytes(), expected);
        }
    }
}
