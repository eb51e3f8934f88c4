//! The vector kernels of DELTA_BINARY_PACKED. In each, a lane's value starts `starts` bits into the step's bytes: byte
//! `starts / 8` and the ones after it go to the lane, `starts % 8` is the shift.

use std::arch::x86_64::*;

use super::{Blocks, DeltaInt, GROUP, Kernel, Place, Portable, decode_blocks};

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

/// The bytes that follow one another in a lane of 8 and of 4 bytes.
const ASCENDING_8: i64 = 0x0706_0504_0302_0100;
const ASCENDING_4: i32 = 0x0302_0100;

/// Eight values of up to 64 bits a step.
struct Unpack512 {
    bytes: __m512i,
    shifts: __m512i,
    mask: __m512i,
    /// Which bytes to load: 8 values of `width` bits are `width` bytes.
    load: u64,
}

impl Unpack512 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn new(width: u32) -> Self {
        let lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let starts = _mm512_mul_epu32(lanes, _mm512_set1_epi64(i64::from(width)));
        let lowest = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8));
        let first = _mm512_shuffle_epi8(_mm512_srli_epi64::<3>(starts), lowest);
        let mask = u64::MAX >> (64 - width);
        Unpack512 {
            bytes: _mm512_add_epi8(first, _mm512_set1_epi64(ASCENDING_8)),
            shifts: _mm512_and_si512(starts, _mm512_set1_epi64(7)),
            mask: _mm512_set1_epi64(mask.cast_signed()),
            load: mask,
        }
    }

    /// # Safety
    /// `from` has `width` bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    unsafe fn step(&self, from: *const u8, wide: bool) -> __m512i {
        // SAFETY: the caller's; bytes that the mask leaves out are not loaded.
        let data = unsafe { _mm512_maskz_loadu_epi8(self.load, from.cast()) };
        let mut values = _mm512_srlv_epi64(_mm512_permutexvar_epi8(self.bytes, data), self.shifts);
        if wide {
            // More than 57 bits may reach into a ninth byte. A shift by 64 gives 0.
            let ninth = _mm512_permutexvar_epi8(_mm512_add_epi8(self.bytes, _mm512_set1_epi8(8)), data);
            let left = _mm512_sub_epi64(_mm512_set1_epi64(64), self.shifts);
            values = _mm512_or_si512(values, _mm512_sllv_epi64(ninth, left));
        }
        _mm512_and_si512(values, self.mask)
    }
}

/// # Safety
/// See [`Kernel::run`].
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn i64_avx512<const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: i64,
    last: i64,
    out: *mut i64,
) -> i64 {
    let unpack = Unpack512::new(width);
    let min = _mm512_set1_epi64(min_delta);
    let zero = _mm512_setzero_si512();
    let mut carry = _mm512_set1_epi64(last);
    let mut sums = zero;
    for step in 0..groups * 4 {
        // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
        let deltas = unsafe { unpack.step(packed.add(step * width as usize), width > 57) };
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
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn i32_avx512<const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: i32,
    last: i32,
    out: *mut i32,
) -> i32 {
    let halves = Unpack512::new(width);
    let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    let starts = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(width.cast_signed()));
    let lowest = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
    let first = _mm512_shuffle_epi8(_mm512_srli_epi32::<3>(starts), lowest);
    let bytes = _mm512_add_epi8(first, _mm512_set1_epi32(ASCENDING_4));
    let shifts = _mm512_and_si512(starts, _mm512_set1_epi32(7));
    let mask = _mm512_set1_epi32((u32::MAX >> (32 - width)).cast_signed());
    let load = u64::MAX >> (64 - 2 * width);

    let min = _mm512_set1_epi32(min_delta);
    let zero = _mm512_setzero_si512();
    let mut carry = _mm512_set1_epi32(last);
    let mut sums = zero;
    for step in 0..groups * 2 {
        // SAFETY: a step is `2 * width` bytes and 16 values of what the caller guarantees.
        let deltas = unsafe {
            let from = packed.add(step * 2 * width as usize);
            if width <= 25 {
                let data = _mm512_maskz_loadu_epi8(load, from.cast());
                _mm512_and_si512(_mm512_srlv_epi32(_mm512_permutexvar_epi8(bytes, data), shifts), mask)
            } else {
                let low = _mm512_cvtepi64_epi32(halves.step(from, false));
                let high = _mm512_cvtepi64_epi32(halves.step(from.add(width as usize), false));
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
            }
        };
        if !WRITE {
            sums = _mm512_add_epi32(sums, deltas);
            continue;
        }
        let mut v = _mm512_add_epi32(deltas, min);
        v = _mm512_add_epi32(v, _mm512_alignr_epi32::<15>(v, zero));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32::<14>(v, zero));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32::<12>(v, zero));
        v = _mm512_add_epi32(v, _mm512_alignr_epi32::<8>(v, zero));
        // SAFETY: as above.
        unsafe { _mm512_storeu_si512(out.add(step * 16).cast(), _mm512_add_epi32(v, carry)) };
        carry = _mm512_add_epi32(carry, _mm512_permutexvar_epi32(_mm512_set1_epi32(15), v));
    }
    if WRITE {
        return _mm_cvtsi128_si32(_mm512_castsi512_si128(carry));
    }
    last.plus(_mm512_reduce_add_epi32(sums)).plus(min_delta.times(groups * GROUP))
}

/// Four of the eight values of a step, each up to 57 bits: two to a half of the register, each half loaded from
/// the byte where its first value starts.
struct Unpack256 {
    halves: [usize; 2],
    bytes: __m256i,
    shifts: __m256i,
    mask: __m256i,
}

impl Unpack256 {
    /// For the values from number `first` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(width: u32, first: u32) -> Self {
        let lanes = _mm256_add_epi64(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(i64::from(first)));
        let starts = _mm256_mul_epu32(lanes, _mm256_set1_epi64x(i64::from(width)));
        let at = _mm256_srli_epi64::<3>(starts);
        let own = _mm256_shuffle_epi8(at, _mm256_setr_epi64x(0, LANE_8, 0, LANE_8));
        let base = _mm256_shuffle_epi8(at, _mm256_setzero_si256());
        Unpack256 {
            halves: [first, first + 2].map(|i| (i * width / 8) as usize),
            bytes: _mm256_add_epi8(_mm256_sub_epi8(own, base), _mm256_set1_epi64x(ASCENDING_8)),
            shifts: _mm256_and_si256(starts, _mm256_set1_epi64x(7)),
            mask: _mm256_set1_epi64x((u64::MAX >> (64 - width)).cast_signed()),
        }
    }

    /// # Safety
    /// `from` has `width` bytes and SLACK.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn step(&self, from: *const u8) -> __m256i {
        // SAFETY: both halves start within the step's bytes.
        let data = unsafe { load_halves(from, self.halves) };
        let values = _mm256_srlv_epi64(_mm256_shuffle_epi8(data, self.bytes), self.shifts);
        _mm256_and_si256(values, self.mask)
    }
}

/// Byte 8 in all bytes of a lane.
const LANE_8: i64 = 0x0808_0808_0808_0808;

/// # Safety
/// `from` has 16 bytes at each of `halves`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_halves(from: *const u8, halves: [usize; 2]) -> __m256i {
    let [low, high] = halves;
    // SAFETY: the caller's.
    unsafe { _mm256_loadu2_m128i(from.add(high).cast(), from.add(low).cast()) }
}

/// # Safety
/// See [`Kernel::run`].
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
    let unpack = [Unpack256::new(width, 0), Unpack256::new(width, 4)];
    let min = _mm256_set1_epi64x(min_delta);
    let zero = _mm256_setzero_si256();
    let mut carry = _mm256_set1_epi64x(last);
    let mut sums = zero;
    for step in 0..groups * 4 {
        for (half, unpack) in unpack.iter().enumerate() {
            // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
            let deltas = unsafe { unpack.step(packed.add(step * width as usize)) };
            if !WRITE {
                sums = _mm256_add_epi64(sums, deltas);
                continue;
            }
            let mut v = _mm256_add_epi64(deltas, min);
            v = _mm256_add_epi64(v, _mm256_slli_si256::<8>(v));
            let low_sum = _mm256_permute4x64_epi64::<0b01_01_01_01>(v);
            v = _mm256_add_epi64(v, _mm256_blend_epi32::<0b1111_0000>(zero, low_sum));
            let to = out.wrapping_add(step * 8 + half * 4);
            // SAFETY: as above.
            unsafe { _mm256_storeu_si256(to.cast(), _mm256_add_epi64(v, carry)) };
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
#[target_feature(enable = "avx2")]
unsafe fn i32_avx2<const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: i32,
    last: i32,
    out: *mut i32,
) -> i32 {
    let wide = [Unpack256::new(width, 0), Unpack256::new(width, 4)];
    let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    let starts = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(width.cast_signed()));
    let at = _mm256_srli_epi32::<3>(starts);
    let lowest =
        _mm256_setr_epi32(0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c, 0, 0x0404_0404, 0x0808_0808, 0x0c0c_0c0c);
    let own = _mm256_shuffle_epi8(at, lowest);
    let base = _mm256_shuffle_epi8(at, _mm256_setzero_si256());
    let bytes = _mm256_add_epi8(_mm256_sub_epi8(own, base), _mm256_set1_epi32(ASCENDING_4));
    let shifts = _mm256_and_si256(starts, _mm256_set1_epi32(7));
    let mask = _mm256_set1_epi32((u32::MAX >> (32 - width)).cast_signed());
    let halves = [0, (4 * width / 8) as usize];

    let min = _mm256_set1_epi32(min_delta);
    let zero = _mm256_setzero_si256();
    let mut carry = _mm256_set1_epi32(last);
    let mut sums = zero;
    for step in 0..groups * 4 {
        // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
        let deltas = unsafe {
            let from = packed.add(step * width as usize);
            if width <= 25 {
                let data = load_halves(from, halves);
                _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(data, bytes), shifts), mask)
            } else {
                narrow(wide[0].step(from), wide[1].step(from))
            }
        };
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

/// The low halves of 4 and 4 lanes.
#[inline]
#[target_feature(enable = "avx2")]
fn narrow(low: __m256i, high: __m256i) -> __m256i {
    let mixed = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(mixed))
}
