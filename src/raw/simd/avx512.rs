//! Kernels for AVX-512 with byte permutes.

use std::arch::x86_64::*;

use super::Kernels;
use super::avx2::{compile, ends_4, ends_8};
use super::generic::{self, BytesOut, Page, ViewsOut};

pub(super) static KERNELS: Kernels = Kernels {
    unpack_u32,
    unpack_u8,
    at_least,
    max,
    gather_4: generic::gather,
    gather_8: generic::gather,
    spread_4,
    spread_8,
    spread_16,
    ends_4,
    ends_8,
    plain_bytes_4,
    plain_bytes_8,
    dictionary_bytes_4,
    dictionary_bytes_8,
    plain_views,
    dictionary_views,
};

compile! { "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi":
    max = max(numbers: *const u32, n: usize) -> u32;
    plain_bytes_4 = plain_bytes::<u32>(page: &mut Page, out: &mut BytesOut);
    plain_bytes_8 = plain_bytes::<u64>(page: &mut Page, out: &mut BytesOut);
    dictionary_bytes_4 = dictionary_bytes::<u32>(ids: *const u32, n: usize, offsets: *const u32, bytes: *const u8, narrow: bool, out: &mut BytesOut);
    dictionary_bytes_8 = dictionary_bytes::<u64>(ids: *const u32, n: usize, offsets: *const u32, bytes: *const u8, narrow: bool, out: &mut BytesOut);
    plain_views = plain_views(page: &mut Page, out: &mut ViewsOut);
    dictionary_views = dictionary_views(views: *const u128, ids: *const u32, out: *mut u128, n: usize, buffer: u32);
}

/// Sixty-four levels a register, whose comparison is their word.
///
/// # Safety
/// The instruction set is there; see [`generic::at_least`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn at_least(levels: *const u8, words: usize, threshold: u8, out: *mut u64) {
    let threshold = _mm512_set1_epi8(threshold.cast_signed());
    for word in 0..words {
        // SAFETY: 64 levels a word can be read, and the word written.
        unsafe {
            let levels = _mm512_loadu_si512(levels.add(64 * word).cast());
            out.add(word).write(_mm512_cmpge_epu8_mask(levels, threshold));
        }
    }
}

/// Sixteen values a step, which are `2 * width` bytes of one register.
///
/// ```text
/// up to 29 bits   a permute puts the bytes of two values into a lane of 64 bits, a multishift takes from it eight
///                 times eight bits: four bytes from the first bit of each
/// 30 and 31 bits  two permutes put the first four bytes and the fifth of a value into a lane of 32 bits each
/// ```
///
/// # Safety
/// The instruction set is there; see [`super::Unpack`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn unpack_u32(packed: *const u8, byte_len: usize, width: usize, out: *mut u32, n: usize) {
    // SAFETY: the caller's, in each arm.
    unsafe {
        match width {
            1 => single_bits(packed, byte_len, out, n),
            32 => std::ptr::copy_nonoverlapping(packed, out.cast(), 4 * n),
            30..=31 => {
                let lanes = WideLanes::new(width);
                steps(packed, byte_len, width, out, n, |data| lanes.unpack(data));
            }
            _ => {
                let lanes = Lanes::new(width);
                steps(packed, byte_len, width, out, n, |data| lanes.unpack(data));
            }
        }
    }
}

/// Calls `unpack` with the bytes of sixteen values at a time. Bytes that are not there are not loaded.
///
/// # Safety
/// See [`super::Unpack`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn steps(
    packed: *const u8,
    byte_len: usize,
    width: usize,
    out: *mut u32,
    n: usize,
    unpack: impl Fn(__m512i) -> __m512i,
) {
    let step_len = 2 * width;
    let whole = if byte_len < 64 { 0 } else { (n / 16).min((byte_len - 64) / step_len + 1) };
    for step in 0..whole {
        // SAFETY: the 64 bytes end within `byte_len`, the sixteen values within `n`.
        unsafe {
            let data = _mm512_loadu_si512(packed.add(step * step_len).cast());
            _mm512_storeu_si512(out.add(step * 16).cast(), unpack(data));
        }
    }
    for first in (whole * 16..n).step_by(16) {
        let left = (n - first).min(16);
        let start = first / 16 * step_len;
        let load = u64::MAX >> (64 - (byte_len - start).min(step_len));
        // SAFETY: the masks leave out bytes past `byte_len` and values past `n`.
        unsafe {
            let data = _mm512_maskz_loadu_epi8(load, packed.add(start).cast());
            _mm512_mask_storeu_epi32(out.add(first).cast(), (0xffff_u32 >> (16 - left)) as u16, unpack(data));
        }
    }
}

/// By width: which byte goes to each, and where its eight bits begin in the 64 around it. Runs may be short.
static LANES: [([u8; 64], [u8; 64]); 30] = {
    let mut lanes = [([0; 64], [0; 64]); 30];
    let mut width = 0;
    while width < 30 {
        let mut i = 0;
        while i < 64 {
            let (lane, byte) = (i / 8, i % 8);
            let bit = 2 * lane * width;
            lanes[width].0[i] = (bit / 8 + byte) as u8;
            lanes[width].1[i] = (bit % 8 + byte / 4 * width + byte % 4 * 8) as u8;
            i += 1;
        }
        width += 1;
    }
    lanes
};

struct Lanes {
    bytes: __m512i,
    shifts: __m512i,
    mask: __m512i,
}

impl Lanes {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn new(width: usize) -> Self {
        let (bytes, shifts) = &LANES[width];
        let mask = _mm512_set1_epi32(((1u64 << width) - 1) as i32);
        Lanes { bytes: from_bytes(*bytes), shifts: from_bytes(*shifts), mask }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn unpack(&self, data: __m512i) -> __m512i {
        let pairs = _mm512_permutexvar_epi8(self.bytes, data);
        _mm512_and_si512(_mm512_multishift_epi64_epi8(self.shifts, pairs), self.mask)
    }
}

struct WideLanes {
    bytes: __m512i,
    fifth: __m512i,
    right: __m512i,
    left: __m512i,
    mask: __m512i,
}

impl WideLanes {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn new(width: usize) -> Self {
        let mut bytes = [0u8; 64];
        for (i, byte) in bytes.iter_mut().enumerate() {
            *byte = (i / 4 * width / 8 + i % 4) as u8;
        }
        let lanes = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        let bits = _mm512_mullo_epi32(lanes, _mm512_set1_epi32(width as i32));
        let right = _mm512_and_si512(bits, _mm512_set1_epi32(7));
        let bytes = from_bytes(bytes);
        WideLanes {
            bytes,
            fifth: _mm512_add_epi8(bytes, _mm512_set1_epi8(4)),
            right,
            left: _mm512_sub_epi32(_mm512_set1_epi32(32), right), // a shift by 32 gives 0
            mask: _mm512_set1_epi32(((1u64 << width) - 1) as i32),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    fn unpack(&self, data: __m512i) -> __m512i {
        let low = _mm512_srlv_epi32(_mm512_permutexvar_epi8(self.bytes, data), self.right);
        let high = _mm512_sllv_epi32(_mm512_permutexvar_epi8(self.fifth, data), self.left);
        _mm512_and_si512(_mm512_or_si512(low, high), self.mask)
    }
}

/// Sixteen bits are a mask of sixteen lanes.
///
/// # Safety
/// See [`super::Unpack`].
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn single_bits(packed: *const u8, byte_len: usize, out: *mut u32, n: usize) {
    let whole = n / 16;
    for step in 0..whole {
        // SAFETY: the two bytes are the bits of sixteen values of the `n`.
        unsafe {
            let bits = packed.cast::<u16>().add(step).read_unaligned();
            _mm512_storeu_si512(out.add(step * 16).cast(), _mm512_maskz_set1_epi32(bits, 1));
        }
    }
    // SAFETY: the caller's.
    unsafe { super::unpack::rest(packed, byte_len, 1, out, whole * 16, n, |value| value as u32) };
}

/// Sixty-four values a step, which are `8 * width` bytes: a permute puts the bytes of eight values into a lane of 64
/// bits, a multishift takes eight bits from the first bit of each.
///
/// # Safety
/// The instruction set is there; see [`super::Unpack`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn unpack_u8(packed: *const u8, byte_len: usize, width: usize, out: *mut u8, n: usize) {
    let mut bytes = [0u8; 64];
    let mut shifts = [0u8; 64];
    for i in 0..64 {
        bytes[i] = (i / 8 * width + i % 8) as u8;
        shifts[i] = (i % 8 * width) as u8;
    }
    let (bytes, shifts) = (from_bytes(bytes), from_bytes(shifts));
    let mask = _mm512_set1_epi8(((1u16 << width) - 1) as i8);
    for first in (0..n).step_by(64) {
        let left = (n - first).min(64);
        let start = first / 8 * width;
        let load = u64::MAX >> (64 - (byte_len - start).min(8 * width));
        // SAFETY: the masks leave out bytes past `byte_len` and values past `n`.
        unsafe {
            let data = _mm512_maskz_loadu_epi8(load, packed.add(start).cast());
            let values = _mm512_multishift_epi64_epi8(shifts, _mm512_permutexvar_epi8(bytes, data));
            let values = _mm512_and_si512(values, mask);
            _mm512_mask_storeu_epi8(out.add(first).cast(), u64::MAX >> (64 - left), values);
        }
    }
}

/// Sixteen slots a step, the last ones first.
///
/// # Safety
/// The instruction set is there; see [`super::Spread`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn spread_4(values: *mut u32, mut from: usize, base: usize, word: u64) {
    for step in (0..4).rev() {
        let valid = (word >> (16 * step)) as u16;
        from -= valid.count_ones() as usize;
        // SAFETY: `from` is at most the step's first slot, so that sixteen values from there on end within the slots;
        // what is stored lies past every dense value that is needed later.
        unsafe {
            let dense = _mm512_loadu_si512(values.add(from).cast());
            _mm512_storeu_si512(values.add(base + 16 * step).cast(), _mm512_maskz_expand_epi32(valid, dense));
        }
    }
}

/// As [`spread_4`], eight slots a step.
///
/// # Safety
/// The instruction set is there; see [`super::Spread`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn spread_8(values: *mut u64, mut from: usize, base: usize, word: u64) {
    for step in (0..8).rev() {
        let valid = (word >> (8 * step)) as u8;
        from -= valid.count_ones() as usize;
        // SAFETY: as in `spread_4`, with eight values.
        unsafe {
            let dense = _mm512_loadu_si512(values.add(from).cast());
            _mm512_storeu_si512(values.add(base + 8 * step).cast(), _mm512_maskz_expand_epi64(valid, dense));
        }
    }
}

/// As [`spread_8`], four slots a step: each bit stands for two halves.
///
/// # Safety
/// The instruction set is there; see [`super::Spread`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
unsafe fn spread_16(values: *mut [u8; 16], mut from: usize, base: usize, word: u64) {
    for step in (0..16).rev() {
        let valid = (word >> (4 * step)) as u32 & 0xf;
        from -= valid.count_ones() as usize;
        let halves = (3 * _pdep_u32(valid, 0x55)) as u8;
        // SAFETY: as in `spread_4`, with four values.
        unsafe {
            let dense = _mm512_loadu_si512(values.add(from).cast());
            _mm512_storeu_si512(values.add(base + 4 * step).cast(), _mm512_maskz_expand_epi64(halves, dense));
        }
    }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
fn from_bytes(bytes: [u8; 64]) -> __m512i {
    // SAFETY: the array is a register wide.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}
