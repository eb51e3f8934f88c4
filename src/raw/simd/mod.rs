//! One table of kernels an instruction set, chosen once. A kernel takes a whole run a call.
//!
//! The functions here are bare: pointers in, pointers out, their conditions in words. The modules of `raw` that call
//! them check first. Most are bodies of [`generic`] compiled again under each instruction set; intrinsics stand where
//! they were measured to win.
// Kernels index by what their callers checked, and cut numbers to what a lane holds.
#![allow(
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
pub(crate) mod generic;
mod unpack;

use crate::raw::isa::Isa;
use crate::raw::simd::generic::{BytesOut, Page, ViewsOut};

/// `(packed, byte_len, width, out, n)`: `n` values of `width` bits, the first at the first bit of `packed`.
///
/// # Safety
/// `width` is 1 to 32 (8 where `T` is a byte), `byte_len` bytes can be read and hold `n` values, `out` has room for `n`.
type Unpack<T> = unsafe fn(*const u8, usize, usize, *mut T, usize);

/// `(table, ids, out, n)`: `out[i] = table[ids[i]]`.
///
/// # Safety
/// `n` ids can be read, each within `table`; `out` has room for `n`.
type Gather<T> = unsafe fn(*const T, *const u32, *mut T, usize);

/// `(values, from, base, word)`: of the dense `values[..from]` the last go to the slots `values[base..base + 64]`
/// whose bits are set in `word`. [`Kernels::spread_4`] puts zero into the other slots; [`Kernels::ends_4`] treats the
/// values as ends of byte strings: it fills `values[base + 1..=base + 64]`, an unset slot repeating the end before it.
///
/// # Safety
/// `from` counts all bits set in `word` and before it, so `from <= base + 64`; all values up to the last slot named
/// can be read and written.
type Spread<T> = unsafe fn(*mut T, usize, usize, u64);

/// The kernels of one instruction set. Each asks that the machine has it, beside what its type asks.
#[derive(Debug)]
pub(crate) struct Kernels {
    pub(crate) unpack_u32: Unpack<u32>,
    pub(crate) unpack_u8: Unpack<u8>,
    /// See [`generic::at_least`].
    pub(crate) at_least: unsafe fn(*const u8, usize, u8, *mut u64),
    /// The largest of so many numbers, or 0.
    pub(crate) max: unsafe fn(*const u32, usize) -> u32,
    pub(crate) gather_4: Gather<u32>,
    pub(crate) gather_8: Gather<u64>,
    pub(crate) spread_4: Spread<u32>,
    pub(crate) spread_8: Spread<u64>,
    pub(crate) spread_16: Spread<[u8; 16]>,
    pub(crate) ends_4: Spread<u32>,
    pub(crate) ends_8: Spread<u64>,
    /// See [`generic::plain_bytes`].
    pub(crate) plain_bytes_4: unsafe fn(&mut Page, &mut BytesOut),
    pub(crate) plain_bytes_8: unsafe fn(&mut Page, &mut BytesOut),
    /// See [`generic::dictionary_bytes`].
    pub(crate) dictionary_bytes_4: unsafe fn(*const u32, usize, *const u32, *const u8, bool, &mut BytesOut),
    pub(crate) dictionary_bytes_8: unsafe fn(*const u32, usize, *const u32, *const u8, bool, &mut BytesOut),
    /// See [`generic::plain_views`].
    pub(crate) plain_views: unsafe fn(&mut Page, &mut ViewsOut),
    /// See [`generic::dictionary_views`].
    pub(crate) dictionary_views: unsafe fn(*const u128, *const u32, *mut u128, usize, u32),
}

impl Kernels {
    /// The best that this machine runs.
    #[inline]
    pub(crate) fn best() -> &'static Kernels {
        Self::of(Isa::best())
    }

    /// Those of `isa`, which this machine runs.
    pub(crate) fn of(isa: Isa) -> &'static Kernels {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => &avx512::KERNELS,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => &avx2::KERNELS,
            Isa::Portable => &PORTABLE,
        }
    }
}

static PORTABLE: Kernels = Kernels {
    unpack_u32: unpack::unpack_u32,
    unpack_u8: unpack::unpack_u8,
    at_least: generic::at_least,
    max: generic::max,
    gather_4: generic::gather,
    gather_8: generic::gather,
    spread_4: generic::spread,
    spread_8: generic::spread,
    spread_16: generic::spread_16,
    ends_4: generic::ends,
    ends_8: generic::ends,
    plain_bytes_4: generic::plain_bytes::<u32>,
    plain_bytes_8: generic::plain_bytes::<u64>,
    dictionary_bytes_4: generic::dictionary_bytes::<u32>,
    dictionary_bytes_8: generic::dictionary_bytes::<u64>,
    plain_views: generic::plain_views,
    dictionary_views: generic::dictionary_views,
};
