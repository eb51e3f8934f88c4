//! Byte strings to the end of a page: their bytes alone, or each behind its length.
//!
//! Most are short and of lengths that nobody can foretell. So nothing is decided by the length: up to 64 bytes are loaded
//! and stored at once, and the next value overwrites what was too much. With AVX-512 the load leaves out what is not
//! the value's; elsewhere the steps are of the length's power of two.

use super::isa::Isa;
use crate::raw::byte_strings::ByteStrings;

/// Appends the bytes of each value; with `LENGTHS`, 4 bytes of its length before them (all are shorter than 4 GiB).
pub(crate) fn append_values<const LENGTHS: bool, S: ByteStrings>(values: S, out: &mut Vec<u8>) {
    append_with::<LENGTHS, S>(Isa::best(), values, out);
}

fn append_with<const LENGTHS: bool, S: ByteStrings>(isa: Isa, values: S, out: &mut Vec<u8>) {
    // A part at a time: values that are not contiguous have to be looked at to know how long they are.
    let mut start = 0;
    while start < values.len() {
        let part = values.slice(start, AT_ONCE);
        let len = part.byte_len() + if LENGTHS { LENGTH * part.len() } else { 0 };
        out.reserve(len + WIDE);
        // SAFETY: the machine runs `isa`; there is room for all bytes and a wide store behind the last.
        let written = unsafe {
            let to = out.as_mut_ptr().add(out.len());
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => x86::append::<LENGTHS, S>(part, to),
                _ => append::<LENGTHS, S>(part, to),
            }
        };
        debug_assert!(written <= len);
        // SAFETY: so many bytes have been written, and there was room for them.
        unsafe { out.set_len(out.len() + written) };
        start += AT_ONCE;
    }
}

/// Values looked at once before they are copied: their places are in the first-level cache.
const AT_ONCE: usize = 1024;
/// Bytes of a length.
const LENGTH: usize = 4;
/// Bytes past the end of a value that a copy may write.
pub(crate) const WIDE: usize = 64;

/// Gives the bytes written.
///
/// # Safety
/// `to` has room for all values, for a length each with `LENGTHS`, and for [`WIDE`] bytes more.
unsafe fn append<const LENGTHS: bool, S: ByteStrings>(values: S, to: *mut u8) -> usize {
    let mut at = 0;
    for index in 0..values.len() {
        let value = values.value(index);
        // SAFETY: the caller's.
        unsafe {
            if LENGTHS {
                write_length(value.len(), to.add(at));
                at += LENGTH;
            }
            copy_short(value, to.add(at));
        }
        at += value.len();
    }
    at
}

/// # Safety
/// `to` has 4 bytes.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // shorter than 4 GiB, as the caller says
pub(crate) unsafe fn write_length(len: usize, to: *mut u8) {
    // SAFETY: the caller's.
    unsafe { to.cast::<u32>().write_unaligned((len as u32).to_le()) };
}

/// Copies `value`: up to 32 bytes by two copies of a power of two that may overlap.
///
/// # Safety
/// `to` has room for it, and does not overlap it.
#[inline(always)]
pub(crate) unsafe fn copy_short(value: &[u8], to: *mut u8) {
    let (from, len) = (value.as_ptr(), value.len());
    // SAFETY: each pair of copies begins with the value's first byte and ends with its last.
    unsafe {
        match len {
            0 => {}
            1..=3 => {
                to.write(from.read());
                to.add(len / 2).write(from.add(len / 2).read());
                to.add(len - 1).write(from.add(len - 1).read());
            }
            4..=7 => both_ends::<4>(from, to, len),
            8..=15 => both_ends::<8>(from, to, len),
            16..=32 => both_ends::<16>(from, to, len),
            _ => std::ptr::copy_nonoverlapping(from, to, len),
        }
    }
}

/// # Safety
/// `len >= N`; `from` and `to` have `len` bytes and do not overlap.
#[inline(always)]
unsafe fn both_ends<const N: usize>(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's.
    unsafe {
        let first = from.cast::<[u8; N]>().read();
        let last = from.add(len - N).cast::<[u8; N]>().read();
        to.cast::<[u8; N]>().write(first);
        to.add(len - N).cast::<[u8; N]>().write(last);
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use std::arch::x86_64::*;

    use super::{ByteStrings, LENGTH, write_length};

    /// # Safety
    /// See [`super::append`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn append<const LENGTHS: bool, S: ByteStrings>(values: S, to: *mut u8) -> usize {
        let mut at = 0;
        for index in 0..values.len() {
            let value = values.value(index);
            // SAFETY: the caller's.
            unsafe {
                if LENGTHS {
                    write_length(value.len(), to.add(at));
                    at += LENGTH;
                }
                copy_wide(value, to.add(at));
            }
            at += value.len();
        }
        at
    }

    /// The lowest `n` bits, or all of 64.
    #[inline]
    #[target_feature(enable = "bmi2")]
    #[allow(clippy::cast_possible_truncation)] // 64 at most
    pub(crate) fn low_bits(n: usize) -> u64 {
        _bzhi_u64(u64::MAX, n.min(64) as u32)
    }

    /// Copies `value`, and writes up to 64 bytes in any case.
    ///
    /// # Safety
    /// `to` has room for the value and for [`super::WIDE`] bytes, and does not overlap it.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    pub(crate) unsafe fn copy_wide(value: &[u8], to: *mut u8) {
        // SAFETY: what the mask leaves out is not loaded; the caller's.
        unsafe {
            let bytes = _mm512_maskz_loadu_epi8(low_bits(value.len()), value.as_ptr().cast());
            _mm512_storeu_si512(to.cast(), bytes);
            if value.len() > 64 {
                std::ptr::copy_nonoverlapping(value.as_ptr().add(64), to.add(64), value.len() - 64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::{BinaryArray, BinaryViewArray};
    use crate::encoding::testing::byte_samples;
    use crate::raw::byte_strings::{OffsetBytes, ViewBytes};

    #[test]
    fn every_instruction_set_equals_the_slices() {
        for values in byte_samples() {
            let (array, views) =
                (BinaryArray::from_iter_values(&values), BinaryViewArray::from_iter_values(&values));
            let with_lengths: Vec<u8> = values
                .iter()
                .flat_map(|value| [&u32::try_from(value.len()).unwrap().to_le_bytes(), &value[..]].concat())
                .collect();
            for isa in Isa::available() {
                let (mut plain, mut bare) = (b"before".to_vec(), vec![]);
                append_with::<true, _>(isa, OffsetBytes::of(&array), &mut plain);
                append_with::<false, _>(isa, ViewBytes::of(&views), &mut bare);
                assert_eq!(plain[6..], with_lengths, "{isa:?}");
                assert_eq!(bare, values.concat(), "{isa:?}");
            }
        }
    }
}
