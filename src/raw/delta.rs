//! Kernels of DELTA_BINARY_PACKED: packed deltas in, values out. Nothing here knows of headers, blocks or pages.
//!
//! Values come in groups of 32, because a miniblock holds a multiple of 32 and 32 values of any width fill whole
//! bytes. Within a group, bits counted from the least significant:
//!
//! ```text
//! delta[i] = (packed >> (i * width)) & (2^width - 1) + min_delta
//! value[i] = last + delta[0] + ... + delta[i]                      wrapping at the width of the type
//! ```
//!
//! The vector kernels take 4 to 16 deltas a step: bytes to their lanes, a shift a lane, a mask, then the running
//! sum by shifted additions. `last` comes in at the end: a step waits for the one before it by a single addition.
#![allow(clippy::indexing_slicing)] // ranges that the line above each checks

use std::fmt::Debug;

use super::fixed::FixedWidth;
use super::isa::Isa;

/// Values in a group.
pub(crate) const GROUP: usize = 32;

/// Bytes past the packed ones that a kernel may load and throw away.
const SLACK: usize = 16;

/// The physical types of DELTA_BINARY_PACKED: `i32` and `i64`. Sealed by the kernels that it names.
pub trait DeltaInt: FixedWidth + Debug + Eq {
    /// Bits of the physical type: the widest that a miniblock may pack.
    const BITS: u8;
    /// `None` where `value` does not fit.
    fn from_i64(value: i64) -> Option<Self>;
    /// The sum, wrapping.
    fn plus(self, other: Self) -> Self;
    /// `n` times the value, wrapping.
    fn times(self, n: usize) -> Self;
    #[doc(hidden)]
    fn from_bits(bits: u64) -> Self;
    #[doc(hidden)]
    fn kernels(isa: Isa) -> Kernels<Self>;
}

/// The kernels of one instruction set for one type.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Kernels<T> {
    decode: Run<T>,
    skip: Run<T>,
}

/// `(packed, width, groups, min_delta, last, out) -> last value`.
///
/// # Safety
/// The instruction set is there, `width` is 1 to `T::BITS`, `packed` has `groups * 4 * width` bytes and [`SLACK`],
/// and `out` has room for `groups * 32` values (a `skip` does not write).
type Run<T> = unsafe fn(*const u8, u32, usize, T, T, *mut T) -> T;

impl<T: DeltaInt> Kernels<T> {
    /// The best that this machine runs.
    pub(crate) fn best() -> Self {
        T::kernels(Isa::best())
    }

    /// Appends `groups` groups of `width`-bit deltas from the start of `packed`; gives the last value.
    ///
    /// # Panics
    /// Where `width` is over the type's, or `packed` is shorter than the groups.
    pub(crate) fn decode(
        &self,
        packed: &[u8],
        width: u8,
        groups: usize,
        min_delta: T,
        last: T,
        out: &mut Vec<T>,
    ) -> T {
        if width == 0 {
            return ramp(groups, min_delta, last, out);
        }
        runs(packed, width, T::BITS, groups, last, |packed, groups, last| {
            out.reserve(groups * GROUP);
            // SAFETY: `runs` gives the width and bytes that a `Run` asks for, the spare capacity is reserved and
            // then filled, and `kernels` names only what the machine runs.
            unsafe {
                let to = out.as_mut_ptr().add(out.len());
                let last = (self.decode)(packed.as_ptr(), u32::from(width), groups, min_delta, last, to);
                out.set_len(out.len() + groups * GROUP);
                last
            }
        })
    }

    /// The last value that [`Kernels::decode`] would give.
    ///
    /// # Panics
    /// Where `width` is over the type's, or `packed` is shorter than the groups.
    pub(crate) fn skip(&self, packed: &[u8], width: u8, groups: usize, min_delta: T, last: T) -> T {
        if width == 0 {
            return last.plus(min_delta.times(groups.wrapping_mul(GROUP)));
        }
        runs(packed, width, T::BITS, groups, last, |packed, groups, last| {
            // SAFETY: as in `decode`; nothing is written.
            unsafe {
                (self.skip)(packed.as_ptr(), u32::from(width), groups, min_delta, last, std::ptr::null_mut())
            }
        })
    }
}

/// Calls `run(packed, groups, last)` at once for the groups that have SLACK bytes behind them, then for each of the
/// rest on a padded copy.
#[inline(always)]
fn runs<T>(
    packed: &[u8],
    width: u8,
    max_width: u8,
    groups: usize,
    mut last: T,
    mut run: impl FnMut(&[u8], usize, T) -> T,
) -> T {
    assert!((1..=max_width).contains(&width) && max_width <= 64);
    let group_len = GROUP / 8 * usize::from(width);
    assert!(packed.len() / group_len >= groups);
    let direct = groups.min(packed.len().saturating_sub(SLACK) / group_len);
    if direct > 0 {
        last = run(packed, direct, last);
    }
    for group in direct..groups {
        let mut padded = [0u8; GROUP / 8 * 64 + SLACK];
        padded[..group_len].copy_from_slice(&packed[group * group_len..][..group_len]);
        last = run(&padded, 1, last);
    }
    last
}

/// Width 0: every delta is the minimum.
fn ramp<T: DeltaInt>(groups: usize, min_delta: T, last: T, out: &mut Vec<T>) -> T {
    let start = out.len();
    out.resize(start + groups * GROUP, last);
    let steps: [T; GROUP] = std::array::from_fn(|i| min_delta.times(i + 1));
    let mut base = last;
    for group in out[start..].chunks_exact_mut(GROUP) {
        for (value, step) in group.iter_mut().zip(steps) {
            *value = base.plus(step);
        }
        base = base.plus(min_delta.times(GROUP));
    }
    base
}

impl DeltaInt for i32 {
    const BITS: u8 = 32;

    fn from_i64(value: i64) -> Option<Self> {
        Self::try_from(value).ok()
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // modulo 2^32
    fn times(self, n: usize) -> Self {
        self.wrapping_mul(n as i32)
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // modulo 2^32
    fn from_bits(bits: u64) -> Self {
        bits as i32
    }

    fn kernels(isa: Isa) -> Kernels<Self> {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Kernels { decode: x86::i32_avx512::<true>, skip: x86::i32_avx512::<false> },
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Kernels { decode: x86::i32_avx2::<true>, skip: x86::i32_avx2::<false> },
            Isa::Portable => Kernels { decode: portable::<i32, true>, skip: portable::<i32, false> },
        }
    }
}

impl DeltaInt for i64 {
    const BITS: u8 = 64;

    fn from_i64(value: i64) -> Option<Self> {
        Some(value)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_wrap)] // modulo 2^64
    fn times(self, n: usize) -> Self {
        self.wrapping_mul(n as i64)
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits.cast_signed()
    }

    fn kernels(isa: Isa) -> Kernels<Self> {
        match isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Kernels { decode: x86::i64_avx512::<true>, skip: x86::i64_avx512::<false> },
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Kernels { decode: x86::i64_avx2::<true>, skip: x86::i64_avx2::<false> },
            Isa::Portable => Kernels { decode: portable::<i64, true>, skip: portable::<i64, false> },
        }
    }
}

/// One unaligned load a value.
///
/// # Safety
/// See [`Run`].
unsafe fn portable<T: DeltaInt, const WRITE: bool>(
    packed: *const u8,
    width: u32,
    groups: usize,
    min_delta: T,
    mut last: T,
    out: *mut T,
) -> T {
    let mask = u64::MAX >> (64 - width);
    let group_len = GROUP / 8 * width as usize;
    for group in 0..groups {
        for i in 0..GROUP {
            let bit = i * width as usize;
            // SAFETY: value `i` starts within its group's bytes; the load's 8 or 16 bytes end within SLACK. `out`
            // has room for every value of the groups.
            unsafe {
                let from = packed.add(group * group_len + bit / 8);
                let mut bits = from.cast::<u64>().read_unaligned() >> (bit % 8);
                if width > 57 {
                    bits |= from.add(8).cast::<u64>().read_unaligned() << 1 << (63 - bit % 8);
                }
                last = last.plus(T::from_bits(bits & mask)).plus(min_delta);
                if WRITE {
                    out.add(group * GROUP + i).write(last);
                }
            }
        }
    }
    last
}

/// The vector kernels. In each, a lane's value starts `starts` bits into the step's bytes: byte `starts / 8` and the
/// ones after it go to the lane, `starts % 8` is the shift.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{DeltaInt, portable};

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
            let lowest =
                _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8));
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
    /// See [`super::Run`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn i64_avx512<const WRITE: bool>(
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
        last.plus(_mm512_reduce_add_epi64(sums)).plus(min_delta.times(groups * super::GROUP))
    }

    /// # Safety
    /// See [`super::Run`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn i32_avx512<const WRITE: bool>(
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
        let lowest =
            _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
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
        last.plus(_mm512_reduce_add_epi32(sums)).plus(min_delta.times(groups * super::GROUP))
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
            let lanes =
                _mm256_add_epi64(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(i64::from(first)));
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
    /// See [`super::Run`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn i64_avx2<const WRITE: bool>(
        packed: *const u8,
        width: u32,
        groups: usize,
        min_delta: i64,
        last: i64,
        out: *mut i64,
    ) -> i64 {
        if width > 57 {
            // SAFETY: the caller's.
            return unsafe { portable::<i64, WRITE>(packed, width, groups, min_delta, last, out) };
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
        lanes.into_iter().fold(last, i64::plus).plus(min_delta.times(groups * super::GROUP))
    }

    /// # Safety
    /// See [`super::Run`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn i32_avx2<const WRITE: bool>(
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
        let lowest = _mm256_setr_epi32(
            0,
            0x0404_0404,
            0x0808_0808,
            0x0c0c_0c0c,
            0,
            0x0404_0404,
            0x0808_0808,
            0x0c0c_0c0c,
        );
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
        lanes.into_iter().fold(last, i32::plus).plus(min_delta.times(groups * super::GROUP))
    }

    /// The low halves of 4 and 4 lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn narrow(low: __m256i, high: __m256i) -> __m256i {
        let mixed = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(mixed))
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;

    /// Bit by bit.
    fn oracle<T: DeltaInt>(packed: &[u8], width: u8, groups: usize, min_delta: T, mut last: T) -> Vec<T> {
        let bit = |i: usize| u64::from(packed[i / 8] >> (i % 8) & 1);
        let width = usize::from(width);
        (0..groups * GROUP)
            .map(|i| {
                let bits = (0..width).fold(0, |bits, b| bits | bit(i * width + b) << b);
                last = last.plus(T::from_bits(bits)).plus(min_delta);
                last
            })
            .collect()
    }

    fn check<T: DeltaInt>(min_deltas: [T; 4]) {
        for isa in Isa::available() {
            let kernels = T::kernels(isa);
            for width in 0..=T::BITS {
                for seed in 0..4u64 {
                    let groups = [1, 2, 3, 9][seed as usize];
                    let mut state = seed * 1000 + u64::from(width) + 1;
                    // With and without bytes behind the groups.
                    let len = groups * 4 * usize::from(width) + [0, 1, 15, 100][seed as usize];
                    let packed: Vec<u8> = std::iter::repeat_with(|| {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                        (state >> 56) as u8
                    })
                    .take(len)
                    .collect();
                    let (min, last) = (min_deltas[seed as usize], T::from_bits(state));
                    let mut expected = vec![T::default()];
                    expected.extend(oracle(&packed, width, groups, min, last));
                    let mut out = vec![T::default()];
                    let end = kernels.decode(&packed, width, groups, min, last, &mut out);
                    assert_eq!(out, expected, "{isa:?} width {width} seed {seed}");
                    assert_eq!(Some(&end), expected.last());
                    let skipped = kernels.skip(&packed, width, groups, min, last);
                    assert_eq!(skipped, end, "{isa:?} width {width} seed {seed}");
                }
            }
        }
    }

    #[test]
    fn equals_the_oracle_for_every_width_and_instruction_set() {
        check([0i32, -1, i32::MIN, 123_456]);
        check([0i64, -1, i64::MIN, 123_456_789_012]);
    }
}
