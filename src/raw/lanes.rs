//! Bit-packed integers to the lanes of a vector register: what the kernels of DELTA_BINARY_PACKED and ALP begin with.
//!
//! A step takes 8 or 16 values, and so begins and ends on a byte. The value of a lane starts `starts` bits into the step:
//! byte `starts / 8` and the ones after it go to the lane, `starts % 8` is the shift, a mask cuts off the rest. All
//! of that is the same for every step of one width. AVX2 may load SLACK, 16 bytes, too many; AVX-512 loads none.

use std::arch::x86_64::*;

/// The numbers of the bytes that follow one another in a lane of 8 and of 4 bytes.
const ASCENDING_8: i64 = 0x0706_0504_0302_0100;
const ASCENDING_4: i32 = 0x0302_0100;

/// Eight values of 1 to 64 bits, to lanes of 64 bits.
pub(super) struct Wide512 {
    bytes: __m512i,
    shifts: __m512i,
    mask: __m512i,
    /// Which bytes to load: 8 values of `width` bits are `width` bytes.
    load: u64,
    nine: bool,
}

impl Wide512 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) fn new(width: u32) -> Self {
        let lanes = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        let starts = _mm512_mul_epu32(lanes, _mm512_set1_epi64(i64::from(width)));
        let lowest = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 0, 0, 0, 0, 8, 8, 8, 8, 8, 8, 8, 8));
        let first = _mm512_shuffle_epi8(_mm512_srli_epi64::<3>(starts), lowest);
        let mask = u64::MAX >> (64 - width);
        Wide512 {
            bytes: _mm512_add_epi8(first, _mm512_set1_epi64(ASCENDING_8)),
            shifts: _mm512_and_si512(starts, _mm512_set1_epi64(7)),
            mask: _mm512_set1_epi64(mask.cast_signed()),
            load: mask,
            nine: width > 57,
        }
    }

    /// # Safety
    /// `from` has `width` bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn step(&self, from: *const u8) -> __m512i {
        // SAFETY: the caller's; bytes that the mask leaves out are not loaded.
        let data = unsafe { _mm512_maskz_loadu_epi8(self.load, from.cast()) };
        let mut values = _mm512_srlv_epi64(_mm512_permutexvar_epi8(self.bytes, data), self.shifts);
        if self.nine {
            // More than 57 bits may reach into a ninth byte. A shift by 64 gives 0.
            let ninth = _mm512_permutexvar_epi8(_mm512_add_epi8(self.bytes, _mm512_set1_epi8(8)), data);
            let left = _mm512_sub_epi64(_mm512_set1_epi64(64), self.shifts);
            values = _mm512_or_si512(values, _mm512_sllv_epi64(ninth, left));
        }
        _mm512_and_si512(values, self.mask)
    }
}

/// Sixteen values of 1 to 32 bits, to lanes of 32 bits.
pub(super) struct Narrow512 {
    width: u32,
    bytes: __m512i,
    shifts: __m512i,
    mask: __m512i,
    /// Which bytes to load: 16 values of `width` bits are `2 * width` bytes.
    load: u64,
    halves: Wide512,
}

impl Narrow512 {
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) fn new(width: u32) -> Self {
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let starts = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(width.cast_signed()));
        let lowest =
            _mm512_broadcast_i32x4(_mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12));
        let first = _mm512_shuffle_epi8(_mm512_srli_epi32::<3>(starts), lowest);
        Narrow512 {
            width,
            bytes: _mm512_add_epi8(first, _mm512_set1_epi32(ASCENDING_4)),
            shifts: _mm512_and_si512(starts, _mm512_set1_epi32(7)),
            mask: _mm512_set1_epi32((u32::MAX >> (32 - width)).cast_signed()),
            load: u64::MAX >> (64 - 2 * width),
            halves: Wide512::new(width),
        }
    }

    /// # Safety
    /// `from` has `2 * width` bytes.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn step(&self, from: *const u8) -> __m512i {
        // SAFETY: the caller's; bytes that a mask leaves out are not loaded.
        unsafe {
            if self.width <= 25 {
                let data = _mm512_maskz_loadu_epi8(self.load, from.cast());
                let values = _mm512_srlv_epi32(_mm512_permutexvar_epi8(self.bytes, data), self.shifts);
                _mm512_and_si512(values, self.mask)
            } else {
                // More than 25 bits may reach into a fifth byte.
                let low = _mm512_cvtepi64_epi32(self.halves.step(from));
                let high = _mm512_cvtepi64_epi32(self.halves.step(from.add(self.width as usize)));
                _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high)
            }
        }
    }
}

/// Eight values of 1 to 57 bits, to lanes of 64 bits: four and four.
pub(super) struct Wide256 {
    fours: [Four256; 2],
    mask: __m256i,
}

/// Two values to a half of the register, each half loaded from the byte where its first value starts.
struct Four256 {
    halves: [usize; 2],
    bytes: __m256i,
    shifts: __m256i,
}

impl Wide256 {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new(width: u32) -> Self {
        let mask = _mm256_set1_epi64x((u64::MAX >> (64 - width)).cast_signed());
        Wide256 { fours: [Four256::new(width, 0), Four256::new(width, 4)], mask }
    }

    /// # Safety
    /// `from` has `width` bytes and SLACK.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn step(&self, from: *const u8) -> [__m256i; 2] {
        let [low, high] = &self.fours;
        // SAFETY: the caller's.
        let (low, high) = unsafe { (low.step(from), high.step(from)) };
        [_mm256_and_si256(low, self.mask), _mm256_and_si256(high, self.mask)]
    }
}

impl Four256 {
    /// For the values from number `first` on.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(width: u32, first: u32) -> Self {
        let lanes = _mm256_add_epi64(_mm256_setr_epi64x(0, 1, 2, 3), _mm256_set1_epi64x(i64::from(first)));
        let starts = _mm256_mul_epu32(lanes, _mm256_set1_epi64x(i64::from(width)));
        let at = _mm256_srli_epi64::<3>(starts);
        let eighths = 0x0808_0808_0808_0808;
        let own = _mm256_shuffle_epi8(at, _mm256_setr_epi64x(0, eighths, 0, eighths));
        let base = _mm256_shuffle_epi8(at, _mm256_setzero_si256());
        Four256 {
            halves: [first, first + 2].map(|i| (i * width / 8) as usize),
            bytes: _mm256_add_epi8(_mm256_sub_epi8(own, base), _mm256_set1_epi64x(ASCENDING_8)),
            shifts: _mm256_and_si256(starts, _mm256_set1_epi64x(7)),
        }
    }

    /// The bits above the width are not cut off.
    ///
    /// # Safety
    /// `from` has the bytes of the step and SLACK.
    #[inline]
    #[target_feature(enable = "avx2")]
    unsafe fn step(&self, from: *const u8) -> __m256i {
        // SAFETY: both halves start within the step's bytes.
        let data = unsafe { load_halves(from, self.halves) };
        _mm256_srlv_epi64(_mm256_shuffle_epi8(data, self.bytes), self.shifts)
    }
}

/// Eight values of 1 to 32 bits, to lanes of 32 bits.
pub(super) struct Narrow256 {
    width: u32,
    halves: [usize; 2],
    bytes: __m256i,
    shifts: __m256i,
    mask: __m256i,
    wide: Wide256,
}

impl Narrow256 {
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) fn new(width: u32) -> Self {
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let starts = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(width.cast_signed()));
        let at = _mm256_srli_epi32::<3>(starts);
        let lowest = _mm_setr_epi8(0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12);
        let own = _mm256_shuffle_epi8(at, _mm256_broadcastsi128_si256(lowest));
        let base = _mm256_shuffle_epi8(at, _mm256_setzero_si256());
        Narrow256 {
            width,
            halves: [0, (4 * width / 8) as usize],
            bytes: _mm256_add_epi8(_mm256_sub_epi8(own, base), _mm256_set1_epi32(ASCENDING_4)),
            shifts: _mm256_and_si256(starts, _mm256_set1_epi32(7)),
            mask: _mm256_set1_epi32((u32::MAX >> (32 - width)).cast_signed()),
            wide: Wide256::new(width),
        }
    }

    /// # Safety
    /// `from` has `width` bytes and SLACK.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn step(&self, from: *const u8) -> __m256i {
        // SAFETY: the caller's.
        unsafe {
            if self.width <= 25 {
                let data = load_halves(from, self.halves);
                let values = _mm256_srlv_epi32(_mm256_shuffle_epi8(data, self.bytes), self.shifts);
                _mm256_and_si256(values, self.mask)
            } else {
                // More than 25 bits may reach into a fifth byte: the low halves of wider lanes.
                let [low, high] = self.wide.step(from);
                let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
                let mixed = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(low, high));
                _mm256_permute4x64_epi64::<0b11_01_10_00>(mixed)
            }
        }
    }
}

/// # Safety
/// `from` has 16 bytes at each of `halves`.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load_halves(from: *const u8, halves: [usize; 2]) -> __m256i {
    let [low, high] = halves;
    // SAFETY: the caller's.
    unsafe { _mm256_loadu2_m128i(from.add(high).cast(), from.add(low).cast()) }
}
