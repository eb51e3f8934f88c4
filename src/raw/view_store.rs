//! Arrow views with the buffers they point into: what [`ViewSink`](crate::sink::ViewSink) is made of.
//!
//! It lives here because the arrays it ends in are made without a second look. Its fields are private so that
//! these hold, always:
//! - a view of more than 12 bytes points into `buffers` (or into `open`, which becomes `buffers[open_index]`), begins
//!   with the four bytes it points at, and every buffer is shorter than 2 GiB;
//! - the first `checked` views are UTF-8.
// A view is four numbers of 32 bits in one of 128: taking it apart cuts, on purpose.
#![allow(clippy::cast_possible_truncation)]

use std::sync::Arc;

use crate::arrow::array::GenericByteViewArray;
use crate::arrow::array::types::{BinaryViewType, ByteViewType, StringViewType};
use crate::arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use crate::bitmap::Bits;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::byte_dictionary::ByteDictionary;
use crate::raw::byte_store::check_nulls;
use crate::raw::front_coding::FrontCoded;
use crate::raw::spread::spread;

/// Longest value that a view holds itself.
pub(crate) const INLINE: usize = 12;
/// Own buffers grow up to this; a longer value gets one of its own.
const BLOCK: usize = 1 << 20;

#[derive(Debug, Clone, Default)]
pub(crate) struct ViewStore {
    views: Vec<u128>,
    buffers: Vec<Buffer>,
    open: Vec<u8>,
    open_index: Option<usize>,
    checked: usize,
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
        let lent =
            if lens.clone().all(|(_, len)| len <= INLINE) { None } else { self.lent(&source, &source) };
        self.views.reserve(ends.len());
        for (start, len) in lens {
            match &lent {
                Some(lent) => self.lend(lent, start, len)?,
                None => self.push(source.get(start..start + len).unwrap_or_default())?,
            }
        }
        Ok((taken, used))
    }

    /// Appends one value that lies `offset` bytes into what was lent, pointing at it when it is long.
    ///
    /// # Errors
    /// When it does not lie there.
    pub(crate) fn lend(&mut self, lent: &Lent, offset: usize, len: usize) -> Result<()> {
        let start = lent.offset.saturating_add(offset);
        let value = lent.source.as_slice().get(start..start.saturating_add(len));
        let value = value
            .ok_or_else(|| Error::end_of_data("byte array", len, lent.source.len().saturating_sub(start)))?;
        // Unless the caller mixed up two stores, the buffer is where it was put.
        let known = self.buffers.get(lent.index as usize).is_some_and(|buffer| buffer.ptr_eq(&lent.source));
        if !known {
            return self.push(value);
        }
        self.views.push(make_view(value, lent.index, number(start)?));
        Ok(())
    }

    /// Makes `source`, or as much of it as `bytes` takes, a buffer that views can point into. `None` when `bytes` do
    /// not lie there, or are 2 GiB or more.
    pub(crate) fn lent(&mut self, bytes: &[u8], source: &Buffer) -> Option<Lent> {
        let offset = (bytes.as_ptr() as usize).checked_sub(source.as_ptr() as usize)?;
        let within = offset.checked_add(bytes.len()).is_some_and(|end| end <= source.len());
        if !within || i32::try_from(bytes.len()).is_err() {
            return None;
        }
        let (source, offset) = match i32::try_from(source.len()) {
            Ok(_) => (source.clone(), offset),
            Err(_) => (source.slice_with_length(offset, bytes.len()), 0),
        };
        let index = self.index_of(&source).ok()?;
        Some(Lent { index, source, offset })
    }

    /// Appends the values that `ids` names.
    ///
    /// # Errors
    /// When an id is not within the dictionary.
    pub(crate) fn append_ids(&mut self, ids: &[u32], dictionary: &ByteDictionary) -> Result<()> {
        let owed = self.checked < self.views.len() || !dictionary.is_utf8();
        let base = self.index_of(&dictionary.bytes())?;
        let views = dictionary.views();
        self.views.reserve(ids.len());
        for &id in ids {
            let view = *views
                .get(id as usize)
                .ok_or(ErrorKind::DictionaryIndex { index: id, len: dictionary.len() })?;
            let long = view as u32 as usize > INLINE;
            self.views.push(view + if long { u128::from(base) << 64 } else { 0 });
        }
        if !owed {
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
        ViewStore { views, buffers, open: Vec::new(), open_index: None, checked }
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
        let len = view as u32 as usize;
        if len <= INLINE {
            return Some(ViewValue::Inline(view.to_le_bytes(), len));
        }
        let (index, offset) = ((view >> 64) as u32 as usize, (view >> 96) as u32 as usize);
        let buffer = match self.open_index {
            Some(open) if open == index => &self.open,
            _ => self.buffers.get(index)?.as_slice(),
        };
        buffer.get(offset..offset + len).map(ViewValue::Long)
    }

    /// Checks that every value not checked before is UTF-8.
    ///
    /// # Errors
    /// Names the first value that is not.
    pub(crate) fn check_utf8(&mut self) -> Result<()> {
        for value in self.checked..self.views.len() {
            let good = self.value(value).is_some_and(|v| simdutf8::basic::from_utf8(v.bytes()).is_ok());
            if !good {
                return Err(ErrorKind::NotUtf8 { value }.into());
            }
        }
        self.checked = self.views.len();
        Ok(())
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

/// A buffer that views of one store may point into.
#[derive(Debug)]
pub(crate) struct Lent {
    index: u32,
    source: Buffer,
    /// Where in `source` the bytes begin.
    offset: usize,
}

/// The bytes of a view.
pub(crate) enum ViewValue<'a> {
    Inline([u8; 16], usize),
    Long(&'a [u8]),
}

impl ViewValue<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match self {
            ViewValue::Inline(view, len) => view.get(4..4 + len).unwrap_or_default(),
            ViewValue::Long(bytes) => bytes,
        }
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
        _ => {
            let mut bytes = [0u8; 16];
            bytes.iter_mut().skip(4).zip(value).for_each(|(to, from)| *to = *from);
            u128::from_le_bytes(bytes) | u128::from(len)
        }
    }
}

fn number(n: usize) -> Result<u32> {
    u32::try_from(n).map_err(|_| Error::unsupported("more than 2^32 buffers or bytes behind views"))
}
