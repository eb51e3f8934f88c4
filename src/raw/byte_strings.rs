//! Byte strings to encode, wherever Arrow keeps them.
//!
//! They live here because a value is found without a second look: the fields are private so that what each type says
//! of them holds, always. Arrow promises it of its arrays; what comes otherwise is checked once.
#![allow(clippy::indexing_slicing)] // of slices of a known length

use crate::arrow::array::types::{ByteArrayType, ByteViewType};
use crate::arrow::array::{
    Array, FixedSizeBinaryArray, GenericByteArray, GenericByteViewArray, OffsetSizeTrait,
};
use crate::arrow::buffer::Buffer;
use crate::error::{Error, Result};
use crate::raw::fixed::as_bytes;
use crate::raw::isa::Isa;

/// Dense byte strings, without nulls, that an encoder takes. Sealed: kernels rely on lengths that stay the same.
pub trait ByteStrings: Copy + sealed::Sealed {
    /// Number of values.
    fn len(&self) -> usize;

    /// Whether there is no value.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The value at `index`; empty past the end.
    fn value(&self, index: usize) -> &[u8];

    /// `len` values from `start` on, cut at the end.
    #[must_use]
    fn slice(&self, start: usize, len: usize) -> Self;

    /// All values end to end, where they lie so.
    fn contiguous(&self) -> Option<&[u8]> {
        None
    }

    /// Fills `lengths` with those of the values from `start` on, each shorter than 2 GiB; 0 past the end.
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // as the caller says
    fn lengths(&self, start: usize, lengths: &mut [i32]) {
        lengths.iter_mut().zip(start..).for_each(|(length, index)| *length = self.value(index).len() as i32);
    }

    /// Fills `keys` with 8 bytes of each value from `start` on, those from byte `depth` on, as big-endian numbers; zeros
    /// stand for what is shorter.
    #[doc(hidden)]
    fn keys(&self, start: usize, depth: usize, keys: &mut [u64]) {
        keys.iter_mut().zip(start..).for_each(|(key, index)| *key = key_at(self.value(index), depth));
    }

    /// Bytes of all values together.
    fn byte_len(&self) -> usize {
        match self.contiguous() {
            Some(bytes) => bytes.len(),
            None => (0..self.len()).map(|index| self.value(index).len()).sum(),
        }
    }
}

mod sealed {
    /// Only the types of this file are byte strings.
    pub trait Sealed {}
}

/// Values end to end with their offsets: `Binary`, `Utf8` and their large kinds.
///
/// There is one offset at least, they never fall, and the last is within the values.
#[derive(Debug, Clone, Copy)]
pub struct OffsetBytes<'a, O> {
    offsets: &'a [O],
    values: &'a [u8],
}

impl<'a, O: OffsetSizeTrait> OffsetBytes<'a, O> {
    /// All slots of `array`, null ones too.
    pub fn of<T: ByteArrayType<Offset = O>>(array: &'a GenericByteArray<T>) -> Self {
        OffsetBytes { offsets: array.value_offsets(), values: array.value_data() }
    }

    /// One value fewer than there are `offsets`.
    ///
    /// # Errors
    /// Where there is no offset, one falls or is negative, or the last is past the end of `values`.
    pub fn new(offsets: &'a [O], values: &'a [u8]) -> Result<Self> {
        let falls = offsets.windows(2).any(|pair| matches!(pair, [a, b] if b < a));
        let inside = match (offsets.first(), offsets.last()) {
            (Some(&first), Some(&last)) => first >= O::default() && last.as_usize() <= values.len(),
            _ => false,
        };
        if falls || !inside {
            return Err(Error::invalid(format!("offsets that do not lie within {} bytes", values.len())));
        }
        Ok(OffsetBytes { offsets, values })
    }

    /// What the offsets point into.
    pub fn values(&self) -> &'a [u8] {
        self.values
    }

    /// One offset more than there are values.
    pub fn offsets(&self) -> &'a [O] {
        self.offsets
    }

    /// The first keys, those that a kernel gives; how many.
    fn keys_with(&self, isa: Isa, start: usize, depth: usize, keys: &mut [u64]) -> usize {
        match isa {
            // SAFETY: the machine runs `isa`.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { x86::keys(self, start, depth, keys) },
            _ => 0,
        }
    }

    fn ends(&self) -> (usize, usize) {
        let at = |offset: Option<&O>| offset.map_or(0, |offset| offset.as_usize());
        (at(self.offsets.first()), at(self.offsets.last()))
    }
}

impl<O> sealed::Sealed for OffsetBytes<'_, O> {}

impl<O: OffsetSizeTrait> ByteStrings for OffsetBytes<'_, O> {
    fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    #[inline(always)]
    fn value(&self, index: usize) -> &[u8] {
        if index >= self.offsets.len() - 1 {
            return &[];
        }
        // SAFETY: there is an offset at `index` and one after it; they do not fall, and none is past the values.
        unsafe {
            let start = self.offsets.get_unchecked(index).as_usize();
            let end = self.offsets.get_unchecked(index + 1).as_usize();
            self.values.get_unchecked(start..end)
        }
    }

    fn slice(&self, start: usize, len: usize) -> Self {
        let start = start.min(self.len());
        let end = start.saturating_add(len).min(self.len());
        OffsetBytes { offsets: self.offsets.get(start..=end).unwrap_or(self.offsets), values: self.values }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // as the trait says
    fn lengths(&self, start: usize, lengths: &mut [i32]) {
        let ends = self.offsets.get(start..).unwrap_or_default();
        let pairs = ends.iter().zip(ends.get(1..).unwrap_or_default());
        lengths.fill(0);
        lengths.iter_mut().zip(pairs).for_each(|(length, (start, end))| {
            *length = (end.as_usize() - start.as_usize()) as i32;
        });
    }

    fn keys(&self, start: usize, depth: usize, keys: &mut [u64]) {
        let done = self.keys_with(Isa::best(), start, depth, keys);
        let rest = keys.get_mut(done..).unwrap_or_default();
        rest.iter_mut().zip(start + done..).for_each(|(key, index)| *key = key_at(self.value(index), depth));
    }

    fn contiguous(&self) -> Option<&[u8]> {
        let (start, end) = self.ends();
        self.values.get(start..end)
    }
}

/// The first 8 bytes as a big-endian number, filled up with zeros.
#[inline(always)]
pub(crate) fn key_of(value: &[u8]) -> u64 {
    if let Some(bytes) = value.first_chunk::<8>() {
        return u64::from_be_bytes(*bytes);
    }
    // Two parts that may overlap, the second moved to where it ends.
    let missing = 8 * (8 - value.len());
    match (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            u64::from(u32::from_be_bytes(*first)) << 32 | u64::from(u32::from_be_bytes(*last)) << missing
        }
        _ => value.iter().zip([56, 48, 40]).fold(0, |key, (&byte, shift)| key | u64::from(byte) << shift),
    }
}

#[inline(always)]
fn key_at(value: &[u8], depth: usize) -> u64 {
    key_of(value.get(depth..).unwrap_or_default())
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::OffsetBytes;
    use crate::arrow::array::OffsetSizeTrait;

    /// The keys of 8 values at a time, as long as 8 bytes can be read from each; gives how many.
    ///
    /// # Safety
    /// The machine has the features.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn keys<O: OffsetSizeTrait>(
        strings: &OffsetBytes<'_, O>,
        start: usize,
        depth: usize,
        keys: &mut [u64],
    ) -> usize {
        let (offsets, values) = (strings.offsets, strings.values);
        let turned = _mm512_set4_epi32(0x0809_0a0b, 0x0c0d_0e0f, 0x0001_0203, 0x0405_0607);
        let mut done = 0;
        while done + 8 <= keys.len() {
            // The offsets of 8 values and of the one after them. None but the last values lie near the end of the bytes.
            let Some(ends) = offsets.get(start + done..start + done + 9) else { break };
            if ends[7].as_usize() + depth + 8 > values.len() {
                break;
            }
            // SAFETY: there are 9 offsets, which never fall, and 8 bytes `depth` behind the last start; there is room for 8 keys.
            unsafe {
                let from =
                    _mm512_add_epi64(load(ends.as_ptr()), _mm512_set1_epi64(depth.cast_signed() as i64));
                let to = load(ends.as_ptr().add(1));
                let bytes = _mm512_i64gather_epi64::<1>(from, values.as_ptr().cast());
                // What is not the value's is shifted out, and zeros in; a shift of 64 or more leaves nothing.
                let missing = _mm512_sub_epi64(_mm512_set1_epi64(8), _mm512_sub_epi64(to, from));
                let shift = _mm512_slli_epi64::<3>(_mm512_max_epi64(missing, _mm512_setzero_si512()));
                let key = _mm512_shuffle_epi8(bytes, turned);
                let key = _mm512_sllv_epi64(_mm512_srlv_epi64(key, shift), shift);
                _mm512_storeu_si512(keys.as_mut_ptr().add(done).cast(), key);
            }
            done += 8;
        }
        done
    }

    /// # Safety
    /// There are 8 offsets from `from` on.
    #[inline]
    #[target_feature(enable = "avx512f")]
    unsafe fn load<O: OffsetSizeTrait>(from: *const O) -> __m512i {
        // SAFETY: the caller's; an offset is of 8 bytes where it is large, else of 4.
        unsafe {
            if O::IS_LARGE {
                _mm512_loadu_si512(from.cast())
            } else {
                _mm512_cvtepi32_epi64(_mm256_loadu_si256(from.cast()))
            }
        }
    }
}

/// Values of one length, end to end.
///
/// There are `len * width` bytes.
#[derive(Debug, Clone, Copy)]
pub struct FixedBytes<'a> {
    values: &'a [u8],
    width: usize,
    len: usize,
}

impl<'a> FixedBytes<'a> {
    /// All slots of `array`, null ones too.
    ///
    /// # Errors
    /// None with an array that Arrow has checked.
    pub fn of(array: &'a FixedSizeBinaryArray) -> Result<Self> {
        let width = usize::try_from(array.value_length()).unwrap_or(0);
        Self::new(array.value_data(), width, array.len())
    }

    /// The first `len` values of `width` bytes.
    ///
    /// # Errors
    /// Where `values` is shorter.
    pub fn new(values: &'a [u8], width: usize, len: usize) -> Result<Self> {
        let values = values.get(..width.saturating_mul(len)).ok_or_else(|| {
            Error::invalid(format!("{len} values of {width} bytes in {} bytes", values.len()))
        })?;
        Ok(FixedBytes { values, width, len })
    }

    /// Bytes of each value.
    pub fn width(&self) -> usize {
        self.width
    }
}

impl sealed::Sealed for FixedBytes<'_> {}

impl ByteStrings for FixedBytes<'_> {
    fn len(&self) -> usize {
        self.len
    }

    #[inline(always)]
    fn value(&self, index: usize) -> &[u8] {
        if index >= self.len {
            return &[];
        }
        // SAFETY: there are `len * width` bytes.
        unsafe { self.values.get_unchecked(index * self.width..(index + 1) * self.width) }
    }

    fn slice(&self, start: usize, len: usize) -> Self {
        let start = start.min(self.len);
        let len = len.min(self.len - start);
        let values = self.values.get(start * self.width..(start + len) * self.width).unwrap_or_default();
        FixedBytes { values, len, ..*self }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // as the trait says
    fn lengths(&self, start: usize, lengths: &mut [i32]) {
        lengths.fill(0);
        lengths
            .iter_mut()
            .take(self.len.saturating_sub(start))
            .for_each(|length| *length = self.width as i32);
    }

    fn keys(&self, start: usize, depth: usize, keys: &mut [u64]) {
        let values = self.values.get(start * self.width..).unwrap_or_default();
        if depth + 8 > self.width {
            keys.iter_mut().zip(start..).for_each(|(key, index)| *key = key_at(self.value(index), depth));
            return;
        }
        for (key, value) in keys.iter_mut().zip(values.chunks_exact(self.width)) {
            *key = value[depth..].first_chunk().map_or(0, |bytes| u64::from_be_bytes(*bytes));
        }
    }

    fn contiguous(&self) -> Option<&[u8]> {
        Some(self.values)
    }
}

/// `BinaryView` and `Utf8View`: up to 12 bytes in the view, or a place in one of the buffers.
///
/// Each view is as Arrow has it, and its place is within its buffer.
#[derive(Debug, Clone, Copy)]
pub struct ViewBytes<'a> {
    views: &'a [u128],
    buffers: &'a [Buffer],
}

impl<'a> ViewBytes<'a> {
    /// All slots of `array`, null ones too.
    pub fn of<T: ByteViewType + ?Sized>(array: &'a GenericByteViewArray<T>) -> Self {
        ViewBytes { views: array.views(), buffers: array.data_buffers() }
    }
}

impl sealed::Sealed for ViewBytes<'_> {}

impl ByteStrings for ViewBytes<'_> {
    fn len(&self) -> usize {
        self.views.len()
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // the fields of a view
    fn value(&self, index: usize) -> &[u8] {
        let Some(view) = self.views.get(index) else { return &[] };
        let len = *view as u32 as usize;
        if len <= INLINE {
            return as_bytes(std::slice::from_ref(view)).get(4..4 + len).unwrap_or_default();
        }
        let (buffer, start) = ((view >> 64) as u32 as usize, (view >> 96) as u32 as usize);
        // SAFETY: Arrow's arrays have been checked to point within their buffers.
        unsafe { self.buffers.get_unchecked(buffer).as_slice().get_unchecked(start..start + len) }
    }

    fn slice(&self, start: usize, len: usize) -> Self {
        let views = self.views.get(start..).unwrap_or_default();
        ViewBytes { views: views.get(..len).unwrap_or(views), ..*self }
    }
}

/// Bytes that a view holds itself.
const INLINE: usize = 12;

/// Some slots of other byte strings: those that are not null, or those that a dictionary's keys name.
///
/// No index is past the end.
#[derive(Debug, Clone, Copy)]
pub struct SelectedBytes<'a, S> {
    inner: S,
    indices: &'a [u32],
}

impl<'a, S: ByteStrings> SelectedBytes<'a, S> {
    /// The values at `indices`, in their order.
    ///
    /// # Errors
    /// Where an index is past the end.
    pub fn new(inner: S, indices: &'a [u32]) -> Result<Self> {
        let past = indices.iter().fold(0, |past, &index| past.max(u64::from(index) + 1));
        if past > inner.len() as u64 {
            return Err(Error::invalid(format!("index {} of {} byte strings", past - 1, inner.len())));
        }
        Ok(SelectedBytes { inner, indices })
    }
}

impl<S> sealed::Sealed for SelectedBytes<'_, S> {}

impl<S: ByteStrings> ByteStrings for SelectedBytes<'_, S> {
    fn len(&self) -> usize {
        self.indices.len()
    }

    #[inline(always)]
    fn value(&self, index: usize) -> &[u8] {
        self.indices.get(index).map_or(&[], |&index| self.inner.value(index as usize))
    }

    fn slice(&self, start: usize, len: usize) -> Self {
        let indices = self.indices.get(start..).unwrap_or_default();
        SelectedBytes { inner: self.inner, indices: indices.get(..len).unwrap_or(indices) }
    }
}

impl sealed::Sealed for &[&[u8]] {}

/// Slices of bytes, wherever they lie.
impl ByteStrings for &[&[u8]] {
    fn len(&self) -> usize {
        <[_]>::len(self)
    }

    #[inline(always)]
    fn value(&self, index: usize) -> &[u8] {
        self.get(index).copied().unwrap_or_default()
    }

    fn slice(&self, start: usize, len: usize) -> Self {
        let rest = self.get(start..).unwrap_or_default();
        rest.get(..len).unwrap_or(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::{
        BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, StringArray,
    };
    use crate::encoding::testing::byte_samples;

    const WORDS: [&str; 6] =
        ["", "a", "twelve bytes", "thirteen byte", "a value of more bytes than that", ""];

    fn check(values: impl ByteStrings, expected: &[&str]) {
        assert_eq!((values.len(), values.is_empty()), (expected.len(), expected.is_empty()));
        assert_eq!(values.byte_len(), expected.concat().len());
        assert!(values.contiguous().is_none_or(|bytes| bytes == expected.concat().as_bytes()));
        let mut lengths = vec![7; expected.len() + 1];
        values.lengths(0, &mut lengths);
        assert!(lengths.iter().zip(expected).all(|(len, word)| usize::try_from(*len).unwrap() == word.len()));
        assert_eq!(lengths.last(), Some(&0));
        for depth in [0, 3, 8, 40] {
            let mut keys = vec![7; expected.len()];
            values.keys(0, depth, &mut keys);
            for (key, word) in keys.iter().zip(expected) {
                let mut first = [0; 8];
                first.iter_mut().zip(word.bytes().skip(depth)).for_each(|(to, from)| *to = from);
                assert_eq!(*key, u64::from_be_bytes(first));
            }
        }
        for (i, word) in expected.iter().enumerate() {
            assert_eq!(values.value(i), word.as_bytes());
        }
        assert!(values.value(expected.len()).is_empty() && values.value(usize::MAX).is_empty());
        if !expected.is_empty() {
            check(values.slice(1, usize::MAX), &expected[1..]);
            check(values.slice(0, expected.len() - 1), &expected[..expected.len() - 1]);
            check(values.slice(usize::MAX, 3), &[]);
        }
    }

    #[test]
    fn every_kind_of_array_gives_its_values() {
        let (small, large) = (StringArray::from(WORDS.to_vec()), LargeStringArray::from(WORDS.to_vec()));
        check(OffsetBytes::of(&small), &WORDS);
        check(OffsetBytes::of(&small.slice(2, 3)), &WORDS[2..5]);
        check(OffsetBytes::of(&large), &WORDS);
        let views = BinaryViewArray::from_iter_values(WORDS);
        check(ViewBytes::of(&views), &WORDS);
        check(ViewBytes::of(&views.slice(3, 2)), &WORDS[3..5]);
        let indices = [4, 4, 0, 2];
        let selected = SelectedBytes::new(ViewBytes::of(&views), &indices).unwrap();
        check(selected, &[WORDS[4], WORDS[4], WORDS[0], WORDS[2]]);
        check(FixedBytes::new(b"abcdefg", 2, 3).unwrap(), &["ab", "cd", "ef"]);
        check(FixedBytes::new(b"", 0, 3).unwrap(), &["", "", ""]);
        check(&[&b"x"[..], b"yz"][..], &["x", "yz"]);
    }

    #[test]
    fn every_instruction_set_gives_the_same_keys() {
        for values in byte_samples() {
            let (small, large) =
                (BinaryArray::from_iter_values(&values), LargeBinaryArray::from_iter_values(&values));
            for (isa, depth) in Isa::available().flat_map(|isa| [(isa, 0), (isa, 8), (isa, 64)]) {
                let expected: Vec<u64> = values.iter().map(|value| key_at(value, depth)).collect();
                let mut keys = vec![0; values.len()];
                let done = OffsetBytes::of(&small).keys_with(isa, 0, depth, &mut keys);
                assert_eq!(keys[..done], expected[..done], "{isa:?}");
                let done = OffsetBytes::of(&large).keys_with(isa, 0, depth, &mut keys);
                assert_eq!(keys[..done], expected[..done], "{isa:?}");
                if let Some(rest) = values.len().checked_sub(3) {
                    let done = OffsetBytes::of(&small).keys_with(isa, 3, depth, &mut keys[..rest]);
                    assert_eq!(keys[..done], expected[3..3 + done], "{isa:?}");
                }
            }
        }
    }

    #[test]
    fn refuses_what_does_not_lie_within() {
        assert!(OffsetBytes::<i32>::new(&[], b"abc").is_err());
        for offsets in [[0, 2, 1], [-1, 0, 1], [0, 1, 4], [i32::MIN, -5, -1]] {
            assert!(OffsetBytes::new(&offsets, b"abc").is_err(), "{offsets:?}");
        }
        assert!(OffsetBytes::new(&[1i64, 1, 3], b"abc").is_ok());
        assert!(FixedBytes::new(b"abc", 2, 2).is_err() && FixedBytes::new(b"abc", 2, usize::MAX).is_err());
        let values = FixedBytes::new(b"abc", 1, 3).unwrap();
        assert!(SelectedBytes::new(values, &[0, 3]).is_err());
        assert!(SelectedBytes::new(values, &[u32::MAX]).is_err());
    }
}
