//! Kernels of BYTE_STREAM_SPLIT, the other way: values in, streams of bytes out.
//!
//! Widths 4, 8 and 16 go 64 values at a time. With AVX-512, a register of values first has its bytes put together by
//! their number; what is together then moves to the register of its stream:
//!
//! ```text
//! a0 a1 .. a7 b0 b1 .. b7 c0 ..       a0 b0 .. h0 a1 b1 .. h1 .. a7 .. h7        a0 b0 .. h0 i0 j0 ..  (of 8 registers)
//! i0 i1 .. i7 j0 ..              ->   i0 j0 .. p0 i1 ..                      ->  a1 b1 .. h1 i1 j1 ..
//! ```
//!
//! SSE2 takes 16 values, and deals out even and odd bytes log2(width) times.
#![allow(clippy::indexing_slicing)] // registers, by numbers that are known when compiled

use super::isa::Isa;

/// Appends byte 0 of every value, then byte 1 of every value, and so on. Bytes that make no whole value are left out.
///
/// # Panics
/// Where `width` is 0.
pub(crate) fn split(values: &[u8], width: usize, out: &mut Vec<u8>) {
    split_with(Isa::best(), values, width, out);
}

fn split_with(isa: Isa, values: &[u8], width: usize, out: &mut Vec<u8>) {
    let n = values.len() / width;
    let len = n * width;
    out.reserve(len);
    // SAFETY: there are `len` bytes to read and room for as many, which are all written: those of the first `done` values
    // by a kernel that the machine runs, the others here.
    unsafe {
        let (from, to) = (values.as_ptr(), out.as_mut_ptr().add(out.len()));
        let done = match (isa, width) {
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 4) => x86::split_4(from, n, to),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 8) => x86::split_8(from, n, to),
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, 16) => x86::split_16(from, n, to),
            #[cfg(target_arch = "x86_64")]
            (_, 4) => x86::deal::<4>(from, n, to),
            #[cfg(target_arch = "x86_64")]
            (_, 8) => x86::deal::<8>(from, n, to),
            #[cfg(target_arch = "x86_64")]
            (_, 16) => x86::deal::<16>(from, n, to),
            _ => 0,
        };
        for start in (done..n).step_by(TILE) {
            let end = n.min(start + TILE);
            for k in 0..width {
                for i in start..end {
                    to.add(k * n + i).write(from.add(i * width + k).read());
                }
            }
        }
        out.set_len(out.len() + len);
    }
}

/// Values that are in the first-level cache while their bytes are picked, for widths without a kernel.
const TILE: usize = 64;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Gives how many values are done: all but the last 0 to 63.
    ///
    /// # Safety
    /// `from` has `n` values of 4 bytes, and `to` room for them.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn split_4(from: *const u8, n: usize, to: *mut u8) -> usize {
        let together = together(4);
        let mut at = 0;
        while at + 64 <= n {
            // SAFETY: 64 values from `at` on are within `n`.
            unsafe {
                let load = |i: usize| {
                    let values = _mm512_loadu_si512(from.add((at + i * 16) * 4).cast());
                    _mm512_permutexvar_epi8(together, values)
                };
                let (a, b, c, d) = (load(0), load(1), load(2), load(3));
                // Each is four quarters, one a stream: first those of streams 0 and 1, then of 2 and 3.
                let (ab_01, cd_01) = (
                    _mm512_shuffle_i32x4::<0b01_00_01_00>(a, b),
                    _mm512_shuffle_i32x4::<0b01_00_01_00>(c, d),
                );
                let (ab_23, cd_23) = (
                    _mm512_shuffle_i32x4::<0b11_10_11_10>(a, b),
                    _mm512_shuffle_i32x4::<0b11_10_11_10>(c, d),
                );
                let streams = [
                    _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_01, cd_01),
                    _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_01, cd_01),
                    _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_23, cd_23),
                    _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_23, cd_23),
                ];
                for (k, stream) in streams.into_iter().enumerate() {
                    _mm512_storeu_si512(to.add(k * n + at).cast(), stream);
                }
            }
            at += 64;
        }
        at
    }

    /// As [`split_4`], for 8 bytes.
    ///
    /// # Safety
    /// `from` has `n` values of 8 bytes, and `to` room for them.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn split_8(from: *const u8, n: usize, to: *mut u8) -> usize {
        let mut at = 0;
        while at + 64 <= n {
            // SAFETY: 64 values from `at` on are within `n`.
            unsafe {
                let values = std::array::from_fn(|i| _mm512_loadu_si512(from.add((at + i * 8) * 8).cast()));
                store_8(values, n, to.add(at));
            }
            at += 64;
        }
        at
    }

    /// As [`split_4`], for 16 bytes: their halves are two columns of 8.
    ///
    /// # Safety
    /// `from` has `n` values of 16 bytes, and `to` room for them.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn split_16(from: *const u8, n: usize, to: *mut u8) -> usize {
        let low = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
        let high = _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15);
        let mut at = 0;
        while at + 64 <= n {
            for (half, column) in [low, high].into_iter().enumerate() {
                // SAFETY: 64 values from `at` on are within `n`.
                unsafe {
                    let values = std::array::from_fn(|i| {
                        let pair = from.add((at + i * 8) * 16);
                        let (a, b) =
                            (_mm512_loadu_si512(pair.cast()), _mm512_loadu_si512(pair.add(64).cast()));
                        _mm512_permutex2var_epi64(a, column, b)
                    });
                    store_8(values, n, to.add(half * 8 * n + at));
                }
            }
            at += 64;
        }
        at
    }

    /// Writes 64 values of 8 bytes to 8 streams, `stride` bytes apart.
    ///
    /// # Safety
    /// `to` has room for 64 bytes of each stream.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    unsafe fn store_8(values: [__m512i; 8], stride: usize, to: *mut u8) {
        let together = together(8);
        let rows = values.map(|row| _mm512_permutexvar_epi8(together, row));
        // Eights of rows 2i and 2i + 1 side by side, by streams: 0 2 4 6, then 1 3 5 7.
        let pairs: [[__m512i; 2]; 4] = std::array::from_fn(|i| {
            let (a, b) = (rows[2 * i], rows[2 * i + 1]);
            [_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b)]
        });
        for odd in 0..2 {
            let [a, b, c, d] = pairs.map(|pair| pair[odd]);
            let ab_low = _mm512_shuffle_i32x4::<0b01_00_01_00>(a, b);
            let cd_low = _mm512_shuffle_i32x4::<0b01_00_01_00>(c, d);
            let ab_high = _mm512_shuffle_i32x4::<0b11_10_11_10>(a, b);
            let cd_high = _mm512_shuffle_i32x4::<0b11_10_11_10>(c, d);
            let streams = [
                _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_low, cd_low),
                _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_low, cd_low),
                _mm512_shuffle_i32x4::<0b10_00_10_00>(ab_high, cd_high),
                _mm512_shuffle_i32x4::<0b11_01_11_01>(ab_high, cd_high),
            ];
            for (k, stream) in streams.into_iter().enumerate() {
                // SAFETY: the caller's.
                unsafe { _mm512_storeu_si512(to.add((2 * k + odd) * stride).cast(), stream) };
            }
        }
    }

    /// The numbers of the bytes of 64 that are to lie together: byte 0 of each value of `width`, then byte 1, and so on.
    #[inline]
    #[target_feature(enable = "avx512f")]
    #[allow(clippy::cast_possible_truncation)] // below 64
    fn together(width: usize) -> __m512i {
        let n = 64 / width;
        let numbers: [u8; 64] = std::array::from_fn(|i| (i % n * width + i / n) as u8);
        // SAFETY: 64 bytes are read.
        unsafe { _mm512_loadu_si512(numbers.as_ptr().cast()) }
    }

    /// Sixteen values of `W` bytes at a time, `W` a power of two. Gives how many are done: all but the last 0 to 15.
    ///
    /// # Safety
    /// `from` has `n` values of `W` bytes, and `to` room for them.
    pub(super) unsafe fn deal<const W: usize>(from: *const u8, n: usize, to: *mut u8) -> usize {
        let mut at = 0;
        while at + 16 <= n {
            // SAFETY: 16 values from `at` on are within `n`; SSE2 is a part of x86-64.
            unsafe {
                let mut registers: [__m128i; W] =
                    std::array::from_fn(|i| _mm_loadu_si128(from.add(at * W + i * 16).cast()));
                let mut rounds = W;
                while rounds > 1 {
                    registers = deal_once(registers);
                    rounds /= 2;
                }
                for (k, stream) in registers.into_iter().enumerate() {
                    _mm_storeu_si128(to.add(k * n + at).cast(), stream);
                }
            }
            at += 16;
        }
        at
    }

    /// Even bytes of all registers to the first half of them, odd ones to the second.
    ///
    /// The number of a byte is `value * W + k`. A round turns the bits of that number right by one, so that log2(W) rounds
    /// make it `k * 16 + value`.
    #[inline(always)]
    fn deal_once<const W: usize>(registers: [__m128i; W]) -> [__m128i; W] {
        // SAFETY: SSE2 is a part of x86-64.
        unsafe {
            let low = _mm_set1_epi16(0xff);
            std::array::from_fn(|i| {
                let (a, b) = (registers[2 * i % W], registers[(2 * i + 1) % W]);
                if i < W / 2 {
                    _mm_packus_epi16(_mm_and_si128(a, low), _mm_and_si128(b, low))
                } else {
                    _mm_packus_epi16(_mm_srli_epi16::<8>(a), _mm_srli_epi16::<8>(b))
                }
            })
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::encoding::testing::random;

    #[test]
    fn every_width_and_instruction_set_equals_the_oracle() {
        for width in [1, 2, 3, 4, 5, 8, 12, 16, 17, 32] {
            for n in [0, 1, 15, 16, 17, 63, 64, 65, 128, 300] {
                let mut next = random(width as u64);
                let values: Vec<u8> = (0..n * width).map(|_| next() as u8).collect();
                let expected: Vec<u8> =
                    (0..width).flat_map(|k| values.iter().skip(k).step_by(width).copied()).collect();
                for isa in Isa::available() {
                    let mut out = b"before".to_vec();
                    split_with(isa, &values, width, &mut out);
                    assert_eq!(out[6..], expected, "{isa:?} {n} of {width}");
                }
            }
        }
    }
}
