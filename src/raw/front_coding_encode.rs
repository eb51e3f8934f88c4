//! What DELTA_BYTE_ARRAY keeps of each value: how many bytes it shares with the one before it, and the others.
//!
//! ```text
//! before     h t t p : / / a . b / 1
//! value      h t t p : / / a . c / 2 2       64 bytes of both at once: the first that differ end what is shared
//! added                        c / 2 2       stored 64 bytes wide; the next value overwrites what is too much
//! ```
//!
//! The value before is borrowed, and copied only at the end of a call. With AVX-512 its first 64 bytes stay in a
//! register.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // values are shorter than 2 GiB
#![allow(clippy::indexing_slicing)] // of lengths, by numbers below their count

use super::append::{WIDE, copy_short};
use super::isa::Isa;
use crate::raw::byte_strings::ByteStrings;

/// The bytes that values do not share, end to end, and the last value of the call before.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrontCoder {
    data: Vec<u8>,
    last: Vec<u8>,
}

/// Lengths of some values: of what they share and of what they add.
struct Lengths {
    shared: [i32; AT_ONCE],
    added: [i32; AT_ONCE],
}

/// Values whose lengths are in the first-level cache.
const AT_ONCE: usize = 512;

impl FrontCoder {
    /// Appends values; gives the lengths of what they share and of what they add, some at a time.
    pub(crate) fn put<S: ByteStrings>(&mut self, values: S, give: impl FnMut(&[i32], &[i32])) {
        self.put_with(Isa::best(), values, give);
    }

    fn put_with<S: ByteStrings>(&mut self, isa: Isa, values: S, mut give: impl FnMut(&[i32], &[i32])) {
        let Some(last) = values.len().checked_sub(1) else { return };
        let mut lengths = Lengths { shared: [0; AT_ONCE], added: [0; AT_ONCE] };
        for start in (0..values.len()).step_by(AT_ONCE) {
            let part = values.slice(start, AT_ONCE);
            let previous = match start.checked_sub(1) {
                Some(before) => values.value(before),
                None => &self.last,
            };
            self.data.reserve(part.byte_len() + WIDE);
            // SAFETY: the machine runs `isa`; there is room for all bytes and a wide store behind the last, and what is
            // then counted as appended has been written.
            unsafe {
                let to = self.data.as_mut_ptr().add(self.data.len());
                let written = match isa {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => x86::encode(&part, previous, &mut lengths, to),
                    _ => encode(&part, previous, &mut lengths, to),
                };
                self.data.set_len(self.data.len() + written);
            }
            give(&lengths.shared[..part.len()], &lengths.added[..part.len()]);
        }
        self.last.clear();
        self.last.extend_from_slice(values.value(last));
    }

    /// All bytes added.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.last.clear();
    }
}

/// Gives the bytes written.
///
/// # Safety
/// There are `AT_ONCE` values at most; `to` has room for them and for [`WIDE`] bytes more.
unsafe fn encode<'a, S: ByteStrings>(
    values: &'a S,
    mut previous: &'a [u8],
    lengths: &mut Lengths,
    to: *mut u8,
) -> usize {
    let mut at = 0;
    for index in 0..values.len() {
        let value = values.value(index);
        let shared = shared_len(previous, value);
        let added = value.get(shared..).unwrap_or_default();
        // SAFETY: the caller's.
        unsafe { copy_short(added, to.add(at)) };
        at += added.len();
        lengths.shared[index] = shared as i32;
        lengths.added[index] = added.len() as i32;
        previous = value;
    }
    at
}

/// How many first bytes are the same: 16 bytes at a time, then 8, then one by one.
#[inline]
fn shared_len(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let (a, b) = (&a[..len], &b[..len]);
    let mut at = 0;
    while let (Some(x), Some(y)) = (a[at..].first_chunk::<16>(), b[at..].first_chunk::<16>()) {
        let differ = u128::from_le_bytes(*x) ^ u128::from_le_bytes(*y);
        if differ != 0 {
            return at + differ.trailing_zeros() as usize / 8;
        }
        at += 16;
    }
    if let (Some(x), Some(y)) = (a[at..].first_chunk::<8>(), b[at..].first_chunk::<8>()) {
        let differ = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if differ != 0 {
            return at + differ.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    at + a[at..].iter().zip(&b[at..]).take_while(|(x, y)| x == y).count()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{ByteStrings, Lengths, shared_len};
    use crate::raw::append::x86::{copy_wide, low_bits};

    /// # Safety
    /// See [`super::encode`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn encode<'a, S: ByteStrings>(
        values: &'a S,
        mut previous: &'a [u8],
        lengths: &mut Lengths,
        to: *mut u8,
    ) -> usize {
        let mut at = 0;
        let mut before = head(previous);
        for index in 0..values.len() {
            let value = values.value(index);
            let beginning = head(value);
            // Bytes past either end are zero, and so may be the same.
            let differ = _mm512_cmpneq_epi8_mask(before, beginning);
            let same = differ.trailing_zeros() as usize;
            let mut shared = same.min(previous.len()).min(value.len());
            if shared == 64 {
                shared += shared_len(&previous[64..], &value[64..]);
            }
            let added = value.get(shared..).unwrap_or_default();
            // SAFETY: the caller's.
            unsafe { copy_wide(added, to.add(at)) };
            at += added.len();
            lengths.shared[index] = shared as i32;
            lengths.added[index] = added.len() as i32;
            (previous, before) = (value, beginning);
        }
        at
    }

    /// The first 64 bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn head(value: &[u8]) -> __m512i {
        // SAFETY: what the mask leaves out is not loaded.
        unsafe { _mm512_maskz_loadu_epi8(low_bits(value.len()), value.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::BinaryArray;
    use crate::encoding::testing::byte_samples;
    use crate::raw::byte_strings::OffsetBytes;

    #[test]
    fn every_instruction_set_equals_the_slices() {
        for values in byte_samples() {
            let array = BinaryArray::from_iter_values(&values);
            let (mut shared, mut added, mut data) = (vec![], vec![], vec![]);
            for (i, value) in values.iter().enumerate() {
                let before = i.checked_sub(1).map_or(&[][..], |i| &values[i]);
                let n = before.iter().zip(value).take_while(|(a, b)| a == b).count();
                shared.push(n as i32);
                added.push((value.len() - n) as i32);
                data.extend_from_slice(&value[n..]);
            }
            for isa in Isa::available() {
                for step in [values.len().max(1), 7] {
                    let (mut coder, mut lengths) = (FrontCoder::default(), (vec![], vec![]));
                    for start in (0..values.len()).step_by(step) {
                        coder.put_with(isa, OffsetBytes::of(&array).slice(start, step), |shared, added| {
                            lengths.0.extend_from_slice(shared);
                            lengths.1.extend_from_slice(added);
                        });
                    }
                    assert_eq!((&lengths.0, &lengths.1), (&shared, &added), "{isa:?}");
                    assert!(coder.data() == data, "{isa:?}");
                }
            }
        }
    }
}
