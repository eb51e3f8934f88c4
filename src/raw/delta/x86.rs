//! The vector kernels of DELTA_BINARY_PACKED.

use std::arch::x86_64::*;

use super::{Blocks, DeltaInt, GROUP, Kernel, Place, Portable, decode_blocks};
use crate::raw::lanes::{Narrow256, Narrow512, Wide256, Wide512};

/// AVX2.
pub(super) struct Avx2;
/// AVX-512 with byte permutes.
pub(super) struct Avx512;

macro_rules! kernel {
    ($isa:ident, $type:ty, $run:ident) => {
        impl Kernel<$type> for $isa {
            #[inline(always)]
            unsafe fn run<const WRITE: bool>(
                packed: *const u8,
                width: u32,
                groups: usize,
                min_delta: $type,
                last: $type,
                out: *mut $type,
            ) -> $type {
                // SAFETY: the caller's.
                unsafe { $run::<WRITE>(packed, width, groups, min_delta, last, out) }
            }
        }
    };
}
kernel!(Avx2, i32, i32_avx2);
kernel!(Avx2, i64, i64_avx2);
kernel!(Avx512, i32, i32_avx512);
kernel!(Avx512, i64, i64_avx512);

/// # Safety
/// See [`Kernel::run`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn run_avx2<T: DeltaInt, const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: T,
    last: T,
    out: *mut T,
) -> T
where
    Avx2: Kernel<T>,
{
    // SAFETY: the caller's.
    unsafe { Avx2::run::<WRITE>(packed, width, groups, min_delta, last, out) }
}

/// # Safety
/// See [`Kernel::run`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) unsafe fn run_avx512<T: DeltaInt, const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: T,
    last: T,
    out: *mut T,
) -> T
where
    Avx512: Kernel<T>,
{
    // SAFETY: the caller's.
    unsafe { Avx512::run::<WRITE>(packed, width, groups, min_delta, last, out) }
}

/// # Safety
/// See [`decode_blocks`].
#[target_feature(enable = "avx2")]
pub(super) unsafe fn blocks_avx2<T: DeltaInt, const WRITE: bool>(
    blocks: &Blocks<'_>,
    place: &mut Place<T>,
    out: *mut T,
) -> usize
where
    Avx2: Kernel<T>,
{
    // SAFETY: the caller's.
    unsafe { decode_blocks::<T, Avx2, WRITE>(blocks, place, out) }
}

/// # Safety
/// See [`decode_blocks`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
pub(super) unsafe fn blocks_avx512<T: DeltaInt, const WRITE: bool>(
    blocks: &Blocks<'_>,
    place: &mut Place<T>,
    out: *mut T,
) -> usize
where
    Avx512: Kernel<T>,
{
    // SAFETY: the caller's.
    unsafe { decode_blocks::<T, Avx512, WRITE>(blocks, place, out) }
}

/// # Safety
/// See [`Kernel::run`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn i64_avx512<const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: i64,
    last: i64,
    out: *mut i64,
) -> i64 {
    let min = _mm512_set1_epi64(min_delta);
    let zero = _mm512_setzero_si512();
    let mut carry = _mm512_set1_epi64(last);
    if width == 0 {
        if WRITE {
            let ramp = _mm512_mullo_epi64(min, _mm512_setr_epi64(1, 2, 3, 4, 5, 6, 7, 8));
            for step in 0..groups * 4 {
                // SAFETY: the caller has room.
                unsafe { _mm512_storeu_si512(out.add(step * 8).cast(), _mm512_add_epi64(carry, ramp)) };
                carry = _mm512_add_epi64(carry, _mm512_slli_epi64::<3>(min));
            }
        }
        return last.plus(min_delta.times(groups.wrapping_mul(GROUP)));
    }
    let unpack = Wide512::new(width);
    let mut sums = zero;
    for step in 0..groups * 4 {
        // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
        let deltas = unsafe { unpack.step(packed.add(step * width as usize)) };
        if !WRITE {
            sums = _mm512_add_epi64(sums, deltas);
            continue;
        }
        let mut v = _mm512_add_epi64(deltas, min);
        v = _mm512_add_epi64(v, _mm512_alignr_epi64::<7>(v, zero));
        v = _mm512_add_epi64(v, _mm512_alignr_epi64::<6>(v, zero));
        v = _mm512_add_epi64(v, _mm512_alignr_epi64::<4>(v, zero));
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(out.add(step * 8).cast(), _mm512_add_epi64(v, carry)) };
        carry = _mm512_add_epi64(carry, _mm512_permutexvar_epi64(_mm512_set1_epi64(7), v));
    }
    if WRITE {
        return _mm_cvtsi128_si64(_mm512_castsi512_si128(carry));
    }
    last.plus(_mm512_reduce_add_epi64(sums)).plus(min_delta.times(groups * GROUP))
}

/// # Safety
/// See [`Kernel::run`].
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn i32_avx512<const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: i32,
    last: i32,
    out: *mut i32,
) -> i32 {
    let last_of_4 = _mm512_setr_epi32(3, 3, 3, 3, 3, 3, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11);
    let min = _mm512_set1_epi32(min_delta);
    let zero = _mm512_setzero_si512();
    let mut carry = _mm512_set1_epi32(last);
    if width == 0 {
        if WRITE {
            let numbers = _mm512_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
            let ramp = _mm512_mullo_epi32(min, numbers);
            for step in 0..groups * 2 {
                // SAFETY: the caller has room.
                unsafe { _mm512_storeu_si512(out.add(step * 16).cast(), _mm512_add_epi32(carry, ramp)) };
                carry = _mm512_add_epi32(carry, _mm512_slli_epi32::<4>(min));
            }
        }
        return last.plus(min_delta.times(groups.wrapping_mul(GROUP)));
    }
    let unpack = Narrow512::new(width);
    let mut sums = zero;
    for step in 0..groups * 2 {
        // SAFETY: a step is `2 * width` bytes and 16 values of what the caller guarantees.
        let deltas = unsafe { unpack.step(packed.add(step * 2 * width as usize)) };
        if !WRITE {
            sums = _mm512_add_epi32(sums, deltas);
            continue;
        }
        let mut v = _mm512_add_epi32(deltas, min);
        // Sums of 2, 4, 8 and 16: the high half of each takes the low half's last. A shift is cheaper than a permute.
        v = _mm512_add_epi32(v, _mm512_slli_epi64::<32>(v));
        v = _mm512_add_epi32(v, _mm512_maskz_shuffle_epi32::<0b01_01_01_01>(0xcccc, v));
        v = _mm512_add_epi32(v, _mm512_maskz_permutexvar_epi32(0xf0f0, last_of_4, v));
        v = _mm512_add_epi32(v, _mm512_maskz_permutexvar_epi32(0xff00, _mm512_set1_epi32(7), v));
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(out.add(step * 16).cast(), _mm512_add_epi32(v, carry)) };
        carry = _mm512_add_epi32(carry, _mm512_permutexvar_epi32(_mm512_set1_epi32(15), v));
    }
    if WRITE {
        return _mm_cvtsi128_si32(_mm512_castsi512_si128(carry));
    }
    last.plus(_mm512_reduce_add_epi32(sums)).plus(min_delta.times(groups * GROUP))
}

/// # Safety
/// See [`Kernel::run`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn i64_avx2<const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: i64,
    last: i64,
    out: *mut i64,
) -> i64 {
    if width > 57 {
        // SAFETY: the caller's.
        return unsafe { Portable::run::<WRITE>(packed, width, groups, min_delta, last, out) };
    }
    let min = _mm256_set1_epi64x(min_delta);
    let zero = _mm256_setzero_si256();
    let mut carry = _mm256_set1_epi64x(last);
    if width == 0 {
        if WRITE {
            let [one, two, three, four] = [1, 2, 3, 4].map(|n| min_delta.times(n));
            let ramp = _mm256_setr_epi64x(one, two, three, four);
            for step in 0..groups * 8 {
                // SAFETY: the caller has room.
                unsafe { _mm256_storeu_si256(out.add(step * 4).cast(), _mm256_add_epi64(carry, ramp)) };
                carry = _mm256_add_epi64(carry, _mm256_slli_epi64::<2>(min));
            }
        }
        return last.plus(min_delta.times(groups.wrapping_mul(GROUP)));
    }
    let unpack = Wide256::new(width);
    let mut sums = zero;
    for step in 0..groups * 4 {
        // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
        let fours = unsafe { unpack.step(packed.add(step * width as usize)) };
        for (four, deltas) in fours.into_iter().enumerate() {
            if !WRITE {
                sums = _mm256_add_epi64(sums, deltas);
                continue;
            }
            let mut v = _mm256_add_epi64(deltas, min);
            v = _mm256_add_epi64(v, _mm256_slli_si256::<8>(v));
            let low_sum = _mm256_permute4x64_epi64::<0b01_01_01_01>(v);
            v = _mm256_add_epi64(v, _mm256_blend_epi32::<0b1111_0000>(zero, low_sum));
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(out.add(step * 8 + four * 4).cast(), _mm256_add_epi64(v, carry)) };
            carry = _mm256_add_epi64(carry, _mm256_permute4x64_epi64::<0b11_11_11_11>(v));
        }
    }
    if WRITE {
        return _mm256_extract_epi64::<0>(carry);
    }
    let mut lanes = [0i64; 4];
    // SAFETY: the array is a register wide.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sums) };
    lanes.into_iter().fold(last, i64::plus).plus(min_delta.times(groups * GROUP))
}

/// # Safety
/// See [`Kernel::run`].
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn i32_avx2<const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: i32,
    last: i32,
    out: *mut i32,
) -> i32 {
    let min = _mm256_set1_epi32(min_delta);
    let zero = _mm256_setzero_si256();
    let mut carry = _mm256_set1_epi32(last);
    if width == 0 {
        if WRITE {
            let ramp = _mm256_mullo_epi32(min, _mm256_setr_epi32(1, 2, 3, 4, 5, 6, 7, 8));
            for step in 0..groups * 4 {
                // SAFETY: the caller has room.
                unsafe { _mm256_storeu_si256(out.add(step * 8).cast(), _mm256_add_epi32(carry, ramp)) };
                carry = _mm256_add_epi32(carry, _mm256_slli_epi32::<3>(min));
            }
        }
        return last.plus(min_delta.times(groups.wrapping_mul(GROUP)));
    }
    let unpack = Narrow256::new(width);
    let mut sums = zero;
    for step in 0..groups * 4 {
        // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
        let deltas = unsafe { unpack.step(packed.add(step * width as usize)) };
        if !WRITE {
            sums = _mm256_add_epi32(sums, deltas);
            continue;
        }
        let mut v = _mm256_add_epi32(deltas, min);
        v = _mm256_add_epi32(v, _mm256_slli_si256::<4>(v));
        v = _mm256_add_epi32(v, _mm256_slli_si256::<8>(v));
        let low_sum = _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(3));
        v = _mm256_add_epi32(v, _mm256_blend_epi32::<0b1111_0000>(zero, low_sum));
        // SAFETY: as above.
        unsafe { _mm256_storeu_si256(out.add(step * 8).cast(), _mm256_add_epi32(v, carry)) };
        carry = _mm256_add_epi32(carry, _mm256_permutevar8x32_epi32(v, _mm256_set1_epi32(7)));
    }
    if WRITE {
        return _mm256_extract_epi32::<0>(carry);
    }
    let mut lanes = [0i32; 8];
    // SAFETY: the array is a register wide.
    unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sums) };
    lanes.into_iter().fold(last, i32::plus).plus(min_delta.times(groups * GROUP))
}
