//! Kernels for AVX2 with BMI2.

use std::arch::x86_64::*;

use super::Kernels;
use super::generic::{self, BytesOut, Page, ViewsOut};
use super::unpack::rest;

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

/// Compiles bodies of [`generic`] with this file's features.
macro_rules! compile {
    ($features:literal: $($name:ident = $body:ident$(::<$end:ty>)?($($argument:ident: $type:ty),*) $(-> $result:ty)?;)*) => {
        $(
            /// # Safety
            /// The instruction set is there; see the generic one.
            #[target_feature(enable = $features)]
            unsafe fn $name($($argument: $type),*) $(-> $result)? {
                // SAFETY: the caller's.
                unsafe { generic::$body$(::<$end>)?($($argument),*) }
            }
        )*
    };
}
pub(super) use compile;

compile! { "avx2,bmi1,bmi2,popcnt":
    max = max(numbers: *const u32, n: usize) -> u32;
    plain_bytes_4 = plain_bytes::<u32>(page: &mut Page, out: &mut BytesOut);
    plain_bytes_8 = plain_bytes::<u64>(page: &mut Page, out: &mut BytesOut);
    dictionary_bytes_4 = dictionary_bytes::<u32>(ids: *const u32, n: usize, offsets: *const u32, bytes: *const u8, narrow: bool, out: &mut BytesOut);
    dictionary_bytes_8 = dictionary_bytes::<u64>(ids: *const u32, n: usize, offsets: *const u32, bytes: *const u8, narrow: bool, out: &mut BytesOut);
    plain_views = plain_views(page: &mut Page, out: &mut ViewsOut);
    spread_16 = spread_16(values: *mut [u8; 16], from: usize, base: usize, word: u64);
    dictionary_views = dictionary_views(views: *const u128, ids: *const u32, out: *mut u128, n: usize, buffer: u32);
}

/// Thirty-two levels a register.
///
/// # Safety
/// The instruction set is there; see [`generic::at_least`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn at_least(levels: *const u8, words: usize, threshold: u8, out: *mut u64) {
    let threshold = _mm256_set1_epi8(threshold.cast_signed());
    for word in 0..words {
        // SAFETY: 64 levels a word can be read, and the word written.
        unsafe {
            let halves = [0, 32].map(|half| {
                let levels = _mm256_loadu_si256(levels.add(64 * word + half).cast());
                let larger = _mm256_max_epu8(levels, threshold);
                u64::from(_mm256_movemask_epi8(_mm256_cmpeq_epi8(larger, levels)).cast_unsigned())
            });
            out.add(word).write(halves[0] | halves[1] << 32);
        }
    }
}

/// Eight values a step, which are `width` bytes: four to each half of a register, each half loaded from the byte where
/// its first value starts.
///
/// ```text
/// bytes of value i     from (i * width) / 8 on, to lane i
/// shift of lane i      (i * width) % 8
/// ```
///
/// That holds for widths up to 25, where a value and its shift fit 32 bits. Wider ones go to lanes of 64 bits, four a
/// register, and are narrowed.
///
/// # Safety
/// The instruction set is there; see [`super::Unpack`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn unpack_u32(packed: *const u8, byte_len: usize, width: usize, out: *mut u32, n: usize) {
    // The load of the last quarter reaches furthest: 16 bytes from its first byte on.
    let reach = 6 * width / 8 + 16;
    let steps = if byte_len < reach { 0 } else { (n / 8).min((byte_len - reach) / width + 1) };
    if width == 32 {
        // SAFETY: `n` values of 32 bits are `4 * n` bytes.
        unsafe { std::ptr::copy_nonoverlapping(packed, out.cast(), 4 * n) };
        return;
    }
    if width <= 25 {
        let lanes = Lanes::new(width);
        for step in 0..steps {
            // SAFETY: `steps` is bounded so that the loads end within `byte_len`, and the stores within `n`.
            unsafe {
                let values = lanes.unpack(packed.add(step * width));
                _mm256_storeu_si256(out.add(step * 8).cast(), values);
            }
        }
    } else {
        let quarters = [WideLanes::new(width, 0), WideLanes::new(width, 4)];
        for step in 0..steps {
            // SAFETY: as above.
            unsafe {
                let [low, high] = [
                    quarters[0].unpack(packed.add(step * width)),
                    quarters[1].unpack(packed.add(step * width)),
                ];
                _mm256_storeu_si256(out.add(step * 8).cast(), narrow(low, high));
            }
        }
    }
    // SAFETY: the caller's.
    unsafe { rest(packed, byte_len, width, out, steps * 8, n, |value| value as u32) };
}

struct Lanes {
    /// Where the upper half's first value starts.
    upper: usize,
    bytes: __m256i,
    shifts: __m256i,
    mask: __m256i,
}

impl Lanes {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn new(width: usize) -> Self {
        let upper = 4 * width / 8;
        let mut bytes = [0u8; 32];
        let mut shifts = [0u32; 8];
        for lane in 0..8 {
            let base = if lane < 4 { 0 } else { upper };
            for byte in 0..4 {
                bytes[4 * lane + byte] = (lane * width / 8 - base + byte) as u8;
            }
            shifts[lane] = (lane * width % 8) as u32;
        }
        Lanes {
            upper,
            bytes: from_bytes(bytes),
            shifts: from_words(shifts),
            mask: _mm256_set1_epi32(((1u64 << width) - 1) as i32),
        }
    }

    /// # Safety
    /// 16 bytes can be read from `from` and from `upper` bytes later on.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn unpack(&self, from: *const u8) -> __m256i {
        // SAFETY: the caller's.
        let data = unsafe { _mm256_loadu2_m128i(from.add(self.upper).cast(), from.cast()) };
        _mm256_and_si256(_mm256_srlv_epi32(_mm256_shuffle_epi8(data, self.bytes), self.shifts), self.mask)
    }
}

/// Four values of a step, from number `first` on, in lanes of 64 bits.
struct WideLanes {
    halves: [usize; 2],
    bytes: __m256i,
    shifts: __m256i,
    mask: __m256i,
}

impl WideLanes {
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn new(width: usize, first: usize) -> Self {
        let halves = [first * width / 8, (first + 2) * width / 8];
        let mut bytes = [0u8; 32];
        let mut shifts = [0u64; 4];
        for lane in 0..4 {
            let bit = (first + lane) * width;
            for byte in 0..8 {
                bytes[8 * lane + byte] = (bit / 8 - halves[lane / 2] + byte) as u8;
            }
            shifts[lane] = (bit % 8) as u64;
        }
        WideLanes {
            halves,
            bytes: from_bytes(bytes),
            shifts: from_quads(shifts),
            mask: _mm256_set1_epi64x((1i64 << width) - 1),
        }
    }

    /// # Safety
    /// 16 bytes can be read from each of `halves` after `from`.
    #[inline]
    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    unsafe fn unpack(&self, from: *const u8) -> __m256i {
        let [low, high] = self.halves;
        // SAFETY: the caller's.
        let data = unsafe { _mm256_loadu2_m128i(from.add(high).cast(), from.add(low).cast()) };
        _mm256_and_si256(_mm256_srlv_epi64(_mm256_shuffle_epi8(data, self.bytes), self.shifts), self.mask)
    }
}

/// The low halves of 4 and 4 lanes.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn narrow(low: __m256i, high: __m256i) -> __m256i {
    let mixed = _mm256_shuffle_ps::<0b10_00_10_00>(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_castps_si256(mixed))
}

/// Eight values a step: their bits deposited a byte each.
///
/// # Safety
/// The instruction set is there; see [`super::Unpack`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn unpack_u8(packed: *const u8, byte_len: usize, width: usize, out: *mut u8, n: usize) {
    let places = u64::from_ne_bytes([((1u16 << width) - 1) as u8; 8]);
    let steps = (n / 8).min(byte_len.saturating_sub(8 - width) / width);
    for step in 0..steps {
        // SAFETY: the eight bytes loaded end within `byte_len`, the eight values within `n`.
        unsafe {
            let bits = packed.add(step * width).cast::<u64>().read_unaligned();
            out.add(step * 8).cast::<u64>().write_unaligned(_pdep_u64(bits, places));
        }
    }
    // SAFETY: the caller's.
    unsafe { rest(packed, byte_len, width, out, steps * 8, n, |value| value as u8) };
}

/// Eight slots a step, the last ones first: each set bit's lane takes the dense value of its rank.
///
/// # Safety
/// The instruction set is there; see [`super::Spread`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn spread_4(values: *mut u32, mut from: usize, base: usize, word: u64) {
    let bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    for step in (0..8).rev() {
        let valid = word >> (8 * step) & 0xff;
        from -= valid.count_ones() as usize;
        // SAFETY: `from` is at most the step's first slot, so that eight values from there on end within the slots;
        // what is stored lies past every dense value that is needed later.
        unsafe {
            let dense = _mm256_loadu_si256(values.add(from).cast());
            let ranks = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(RANKS[valid as usize].cast_signed()));
            let lanes = _mm256_and_si256(_mm256_set1_epi32(valid as i32), bits);
            let spread = _mm256_permutevar8x32_epi32(dense, ranks);
            let kept = _mm256_and_si256(spread, _mm256_cmpeq_epi32(lanes, bits));
            _mm256_storeu_si256(values.add(base + 8 * step).cast(), kept);
        }
    }
}

/// As [`spread_4`], four slots a step.
///
/// # Safety
/// The instruction set is there; see [`super::Spread`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
unsafe fn spread_8(values: *mut u64, mut from: usize, base: usize, word: u64) {
    let bits = _mm256_setr_epi64x(1, 2, 4, 8);
    for step in (0..16).rev() {
        let valid = word >> (4 * step) & 0xf;
        from -= valid.count_ones() as usize;
        // SAFETY: as in `spread_4`, with four values.
        unsafe {
            let dense = _mm256_loadu_si256(values.add(from).cast());
            let lanes = _mm256_and_si256(_mm256_set1_epi64x(valid.cast_signed()), bits);
            let spread = permute_quads(dense, RANKS[valid as usize]);
            let kept = _mm256_and_si256(spread, _mm256_cmpeq_epi64(lanes, bits));
            _mm256_storeu_si256(values.add(base + 4 * step).cast(), kept);
        }
    }
}

/// Lane `i` takes lane `ranks[i]`, a byte each.
#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn permute_quads(quads: __m256i, ranks: u64) -> __m256i {
    // Lane r of 64 bits is lanes 2 r and 2 r + 1 of 32.
    let ranks = _mm256_cvtepu8_epi64(_mm_cvtsi64_si128(ranks.cast_signed()));
    let low = _mm256_add_epi32(ranks, ranks);
    let pairs = _mm256_or_si256(low, _mm256_slli_epi64::<32>(_mm256_add_epi32(low, _mm256_set1_epi32(1))));
    _mm256_permutevar8x32_epi32(quads, pairs)
}

/// Eight ends a step, the last ones first: each slot takes the end that its count of set bits, itself included, names.
///
/// # Safety
/// The instruction set is there; see [`super::Spread`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn ends_4(values: *mut u32, mut from: usize, base: usize, word: u64) {
    for step in (0..8).rev() {
        let valid = word >> (8 * step) & 0xff;
        from -= valid.count_ones() as usize;
        // Eight set bits name the ends 1 to 8, others those from 0 to 7.
        let first = from + usize::from(valid == 0xff);
        let counts = if valid == 0xff { RANKS[0xff] } else { COUNTS[valid as usize] };
        // SAFETY: `from` is at most the step's first slot, so that eight ends from `first` on are within the slots and
        // the one after them; what is stored lies past every dense end that is needed later.
        unsafe {
            let dense = _mm256_loadu_si256(values.add(first).cast());
            let counts = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(counts.cast_signed()));
            let spread = _mm256_permutevar8x32_epi32(dense, counts);
            _mm256_storeu_si256(values.add(base + 8 * step + 1).cast(), spread);
        }
    }
}

/// As [`ends_4`], four ends a step.
///
/// # Safety
/// The instruction set is there; see [`super::Spread`].
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn ends_8(values: *mut u64, mut from: usize, base: usize, word: u64) {
    for step in (0..16).rev() {
        let valid = word >> (4 * step) & 0xf;
        from -= valid.count_ones() as usize;
        let first = from + usize::from(valid == 0xf);
        let counts = if valid == 0xf { RANKS[0xf] } else { COUNTS[valid as usize] };
        // SAFETY: as in `ends_4`, with four ends.
        unsafe {
            let dense = _mm256_loadu_si256(values.add(first).cast());
            _mm256_storeu_si256(values.add(base + 4 * step + 1).cast(), permute_quads(dense, counts));
        }
    }
}

/// For eight bits, a byte each: how many are set below it.
static RANKS: [u64; 256] = ranks(false);
/// For eight bits, a byte each: how many are set up to it, itself included.
static COUNTS: [u64; 256] = ranks(true);

const fn ranks(inclusive: bool) -> [u64; 256] {
    let mut table = [0; 256];
    let mut bits = 0;
    while bits < 256 {
        let (mut lane, mut count) = (0, 0u64);
        while lane < 8 {
            let set = (bits >> lane & 1) as u64;
            table[bits] |= (if inclusive { count + set } else { count }) << (8 * lane);
            count += set;
            lane += 1;
        }
        bits += 1;
    }
    table
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn from_bytes(bytes: [u8; 32]) -> __m256i {
    // SAFETY: the array is a register wide.
    unsafe { _mm256_loadu_si256(bytes.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn from_words(words: [u32; 8]) -> __m256i {
    // SAFETY: the array is a register wide.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn from_quads(quads: [u64; 4]) -> __m256i {
    // SAFETY: the array is a register wide.
    unsafe { _mm256_loadu_si256(quads.as_ptr().cast()) }
}
