//! Byte strings end to end with their offsets: what [`BytesSink`](crate::sink::BytesSink) is made of.
//!
//! It lives here because the arrays it ends in are made without a second look at the offsets and at what has
//! been found to be UTF-8. Its fields are private so that these hold, always:
//! - `offsets` begins with 0, never falls, and ends with `values.len()`, which `O` can hold;
//! - `values[..checked]` is UTF-8, `checked` is an offset, and so each offset up to it is on a character boundary.

use crate::arrow::array::builder::GenericByteBuilder;
use crate::arrow::array::types::{ByteArrayType, GenericBinaryType, GenericStringType};
use crate::arrow::array::{GenericByteArray, OffsetSizeTrait};
use crate::arrow::buffer::{Buffer, MutableBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use crate::bitmap::{Bitmap, Bits};
use crate::error::{Error, ErrorKind, Result};
use crate::raw::byte_dictionary::ByteDictionary;
use crate::raw::front_coding::FrontCoded;
use crate::raw::spread::check_count;

#[derive(Debug, Clone)]
pub(crate) struct ByteStore<O> {
    offsets: Vec<O>,
    values: Vec<u8>,
    checked: usize,
}

impl<O: OffsetSizeTrait> ByteStore<O> {
    pub(crate) fn new() -> Self {
        ByteStore { offsets: vec![O::default()], values: Vec::new(), checked: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    pub(crate) fn offsets(&self) -> &[O] {
        &self.offsets
    }

    pub(crate) fn values(&self) -> &[u8] {
        &self.values
    }

    pub(crate) fn reserve(&mut self, n: usize) {
        self.offsets.reserve(n);
    }

    pub(crate) fn reserve_bytes(&mut self, n: usize) {
        self.values.reserve(n.min(O::MAX_OFFSET - self.values.len()));
    }

    /// Appends one value, unless the offsets cannot hold its end.
    #[inline]
    pub(crate) fn push(&mut self, value: &[u8]) -> bool {
        let end = self.values.len() + value.len();
        if end > O::MAX_OFFSET {
            return false;
        }
        self.values.extend_from_slice(value);
        self.offsets.push(O::usize_as(end));
        true
    }

    /// Appends front-coded values, until one does not fit. See [`FrontCoded::append`].
    pub(crate) fn append_front_coded(
        &mut self,
        coded: &FrontCoded<'_>,
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        coded.append(&mut self.values, &mut self.offsets, previous)
    }

    /// Appends the values that `ids` names, until one does not fit; gives how many.
    ///
    /// # Errors
    /// When an id is not within the dictionary.
    pub(crate) fn append_ids(&mut self, ids: &[u32], dictionary: &ByteDictionary) -> Result<usize> {
        let owed = self.checked < self.values.len() || !dictionary.is_utf8();
        let mut taken = 0;
        for &id in ids {
            if !self.push(dictionary.value(id)?) {
                break;
            }
            taken += 1;
        }
        if !owed {
            self.checked = self.values.len();
        }
        Ok(taken)
    }

    /// Spreads the values from `start` on; null slots are empty. Only offsets move.
    pub(crate) fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        let mut from = check_count(self.len(), start, validity)?;
        let last = self.offsets.last().copied().unwrap_or_default();
        self.offsets.resize(start + validity.len() + 1, last);
        let ends = self.offsets.get_mut(start..).unwrap_or_default();
        for (index, word) in validity.words().enumerate().rev() {
            let base = index * 64;
            let n = (validity.len() - base).min(64);
            if from == base + n {
                break;
            }
            for bit in (0..n).rev() {
                let end = ends.get(from).copied().unwrap_or_default();
                if let Some(slot) = ends.get_mut(base + bit + 1) {
                    *slot = end;
                }
                from -= usize::from(word >> bit & 1 == 1);
            }
        }
        Ok(())
    }

    pub(crate) fn push_nulls(&mut self, n: usize) {
        let last = self.offsets.last().copied().unwrap_or_default();
        self.offsets.resize(self.offsets.len() + n, last);
    }

    /// Keeps the values before `at` and gives those at and after it.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let at = at.min(self.len());
        let bytes = self.offsets.get(at).map_or(0, |offset| offset.as_usize());
        let values = self.values.split_off(bytes);
        let offsets = self.offsets.iter().skip(at).map(|&end| end - O::usize_as(bytes)).collect();
        self.offsets.truncate(at + 1);
        let checked = self.checked.saturating_sub(bytes);
        self.checked = self.checked.min(bytes);
        ByteStore { offsets, values, checked }
    }

    /// Checks that every value not checked before is UTF-8.
    ///
    /// # Errors
    /// Names the first value that is not.
    pub(crate) fn check_utf8(&mut self) -> Result<()> {
        let owed = self.values.get(self.checked..).unwrap_or_default();
        if owed.is_ascii() {
            self.checked = self.values.len();
            return Ok(());
        }
        if let Err(error) = simdutf8::compat::from_utf8(owed) {
            return Err(self.not_utf8_at(self.checked + error.valid_up_to()));
        }
        let first = self.offsets.partition_point(|offset| offset.as_usize() <= self.checked);
        let within = self.offsets.get(first..).unwrap_or_default();
        let split = within
            .iter()
            .find(|offset| self.values.get(offset.as_usize()).is_some_and(|byte| byte & 0xc0 == 0x80));
        if let Some(offset) = split {
            return Err(self.not_utf8_at(offset.as_usize() - 1));
        }
        self.checked = self.values.len();
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
        // SAFETY: the offsets end with the number of bytes, and the null buffer has one bit a value. The callers
        // have seen that strings are UTF-8, with each offset on a character boundary.
        Ok(unsafe { GenericByteArray::new_unchecked(offsets, Buffer::from_vec(self.values), nulls) })
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
        self,
        validity: Option<Bitmap>,
    ) -> Result<GenericByteBuilder<T>> {
        let validity = validity_buffer(self.len(), validity)?;
        let (offsets, values) = (MutableBuffer::from(self.offsets), MutableBuffer::from(self.values));
        // SAFETY: as for the array: offsets from 0, never falling, ending with the number of bytes; strings checked.
        Ok(unsafe { GenericByteBuilder::new_from_buffer(offsets, values, validity) })
    }
}

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
