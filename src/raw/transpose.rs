//! Kernels of BYTE_STREAM_SPLIT: streams of bytes in, values out.
//!
//! Stream `k` holds byte `k` of every value. A tile takes one register from each of P streams (P is 2, 4, 8 or 16) and
//! interleaves neighbours log2(P) times: bytes, then pairs, then fours, then eights. With P = 4 and 16-byte registers:
//!
//! ```text
//! a0 a1 .. aF                 a0 b0 .. a7 b7  (low halves)          a0 b0 c0 d0 .. a3 b3 c3 d3
//! b0 b1 .. bF   interleave    c0 d0 .. c7 d7           interleave   a4 b4 c4 d4 ..
//! c0 c1 .. cF   ---bytes-->   a8 b8 .. aF bF  (high)   ---pairs-->  a8 b8 c8 d8 ..
//! d0 d1 .. dF                 c8 d8 .. cF dF                        aC bC cC dC .. aF bF cF dF
//! ```
//!
//! Wider registers interleave within each 16 bytes only. So their bytes are put in order first: what the 16 bytes
//! number `l` of the results need moves to the 16 bytes number `l` of the streams.
#![allow(clippy::indexing_slicing)] // tables and registers, by numbers that are known when compiled
#![allow(clippy::cast_possible_truncation)] // in tables of bytes

use super::fixed::FixedWidth;
use super::isa::Isa;

/// Streams of one page: `width` of them, each `stride` bytes, end to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Streams<'a> {
    bytes: &'a [u8],
    width: usize,
    stride: usize,
}

impl<'a> Streams<'a> {
    /// `None` unless `bytes` is a whole number of values of `width` bytes.
    pub(crate) fn new(bytes: &'a [u8], width: usize) -> Option<Self> {
        (bytes.len().checked_rem(width)? == 0).then(|| Streams { bytes, width, stride: bytes.len() / width })
    }

    /// Number of values.
    pub(crate) fn len(&self) -> usize {
        self.stride
    }

    /// Appends the values from number `first` on to `first + n`.
    ///
    /// # Panics
    /// Where there are fewer values, or `T` has another width.
    pub(crate) fn append<T: FixedWidth>(&self, first: usize, n: usize, out: &mut Vec<T>) {
        self.append_with(Isa::best(), first, n, out);
    }

    fn append_with<T: FixedWidth>(&self, isa: Isa, first: usize, n: usize, out: &mut Vec<T>) {
        assert_eq!(size_of::<T>(), self.width);
        out.reserve(n);
        // SAFETY: the spare capacity holds `n` values of the width, any bits are a `T`, and `transpose` writes them
        // all.
        unsafe {
            self.transpose(isa, first, n, out.as_mut_ptr().add(out.len()).cast());
            out.set_len(out.len() + n);
        }
    }

    /// Appends the bytes of the values from number `first` on to `first + n`.
    ///
    /// # Panics
    /// Where there are fewer values.
    pub(crate) fn append_bytes(&self, first: usize, n: usize, out: &mut Vec<u8>) {
        self.append_bytes_with(Isa::best(), first, n, out);
    }

    fn append_bytes_with(&self, isa: Isa, first: usize, n: usize, out: &mut Vec<u8>) {
        assert!(n <= self.stride);
        out.reserve(n * self.width);
        // SAFETY: as in `append_with`.
        unsafe {
            self.transpose(isa, first, n, out.as_mut_ptr().add(out.len()));
            out.set_len(out.len() + n * self.width);
        }
    }

    /// Writes `n * width` bytes to `out`.
    ///
    /// # Safety
    /// `out` has room for them and does not overlap the streams; the machine runs `isa`.
    unsafe fn transpose(&self, isa: Isa, first: usize, n: usize, out: *mut u8) {
        assert!(first.checked_add(n).is_some_and(|end| end <= self.stride));
        let job = Job {
            from: self.bytes.as_ptr().wrapping_add(first),
            stride: self.stride,
            width: self.width,
            n,
            out,
        };
        // SAFETY: the streams hold `n` bytes each from `first` on; the rest is the caller's.
        let done = unsafe {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => x86::avx512(&job),
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => x86::avx2(&job),
                #[cfg(target_arch = "x86_64")]
                Isa::Portable => x86::sse2(&job, 0),
                #[cfg(not(target_arch = "x86_64"))]
                Isa::Portable => 0,
            }
        };
        // SAFETY: as above.
        unsafe { job.plain(done) };
    }
}

/// `width` streams `stride` bytes apart, `n` values of `width` bytes to write.
struct Job {
    from: *const u8,
    stride: usize,
    width: usize,
    n: usize,
    out: *mut u8,
}

impl Job {
    /// A byte at a time, from value `start` on.
    ///
    /// # Safety
    /// Every stream has `n` bytes and `out` has `n * width`.
    unsafe fn plain(&self, start: usize) {
        for value in start..self.n {
            for k in 0..self.width {
                // SAFETY: the caller's.
                unsafe {
                    self.out.add(value * self.width + k).write(self.from.add(k * self.stride + value).read());
                }
            }
        }
    }
}

/// SSE2 is part of every x86-64 and does for `Portable`.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Job;

    /// A register of one or more lanes of 16 bytes.
    ///
    /// All functions are unsafe for one reason: the machine has to run the instruction set.
    trait Register: Copy {
        const LANES: usize;
        const LEN: usize = 16 * Self::LANES;
        unsafe fn load(from: *const u8) -> Self;
        unsafe fn store(self, to: *mut u8);
        /// Units of `16 / P` bytes: puts those that lane `l` of the results needs into lane `l`.
        unsafe fn arrange<const P: usize>(self) -> Self;
        /// Interleaves the low (or high) 8 bytes of each lane, in units of `1 << size` bytes.
        unsafe fn interleave<const HIGH: bool>(self, other: Self, size: usize) -> Self;
    }

    /// As many values as full registers make, from value `start` on, where P is the width; gives the first not done.
    ///
    /// # Safety
    /// See [`Job::plain`]; the machine runs the instruction set.
    #[inline(always)]
    unsafe fn tiles<R: Register, const P: usize>(job: &Job, start: usize) -> usize {
        let mut at = start;
        while at + R::LEN <= job.n {
            // SAFETY: each stream has a register's bytes from `at` on, and as many values are written.
            unsafe {
                let tile = tile::<R, P>(job.from.add(at), job.stride, P);
                for (j, part) in tile.iter().enumerate() {
                    part.store(job.out.add(at * P + j * R::LEN));
                }
            }
            at += R::LEN;
        }
        at
    }

    /// Reads and interleaves `streams <= P` streams; those that are missing count as the first. Result `j` holds the
    /// values from `j * R::LEN / P` on.
    ///
    /// # Safety
    /// The streams have a register's bytes; the machine runs the instruction set.
    #[inline(always)]
    unsafe fn tile<R: Register, const P: usize>(from: *const u8, stride: usize, streams: usize) -> [R; P] {
        // SAFETY: the caller's.
        unsafe {
            let mut tile = [R::load(from).arrange::<P>(); P];
            for (k, register) in tile.iter_mut().enumerate().take(streams).skip(1) {
                *register = R::load(from.add(k * stride)).arrange::<P>();
            }
            if P >= 2 {
                tile = interleave::<R, P, 0>(tile);
            }
            if P >= 4 {
                tile = interleave::<R, P, 1>(tile);
            }
            if P >= 8 {
                tile = interleave::<R, P, 2>(tile);
            }
            if P >= 16 {
                tile = interleave::<R, P, 3>(tile);
            }
            tile
        }
    }

    /// One step. Before step `S`, register `part * (P >> S) + group` holds, of every lane, part `part` of `1 << S` parts,
    /// interleaved from the streams `group << S` and after.
    ///
    /// # Safety
    /// The machine runs the instruction set.
    #[inline(always)]
    unsafe fn interleave<R: Register, const P: usize, const S: usize>(tile: [R; P]) -> [R; P] {
        let half = (P >> S) / 2;
        let mut next = tile;
        for part in 0..1 << S {
            for group in 0..half {
                let (a, b) = (tile[part * 2 * half + 2 * group], tile[part * 2 * half + 2 * group + 1]);
                // SAFETY: the caller's.
                unsafe {
                    next[part * 2 * half + group] = a.interleave::<false>(b, S);
                    next[part * 2 * half + half + group] = a.interleave::<true>(b, S);
                }
            }
        }
        next
    }

    /// Widths that are not P: 16 bytes of each value at a time, or all of it and a bit more.
    ///
    /// # Safety
    /// See [`Job::plain`].
    #[inline(always)]
    unsafe fn ragged<const P: usize>(job: &Job, start: usize) -> usize {
        let mut at = start;
        // A narrow value is written with bytes of no value behind it: the next value overwrites them.
        let spare = if job.width < P { P } else { 0 };
        while at + 16 + spare <= job.n {
            let mut column = 0;
            while column < job.width {
                // The last columns of a wide value are taken again rather than in a smaller tile.
                column = column.min(job.width.saturating_sub(P));
                // SAFETY: each stream has 16 bytes from `at` on. P bytes from `column` on are within the value, or, in
                // a narrow one, within the P values that `spare` keeps.
                unsafe {
                    let from = job.from.add(column * job.stride + at);
                    let tile = tile::<__m128i, P>(from, job.stride, job.width);
                    let bytes: [[u8; 16]; P] = tile.map(|part| std::mem::transmute(part));
                    for (i, value) in bytes.as_flattened().chunks_exact(P).enumerate() {
                        let to = job.out.add((at + i) * job.width + column);
                        std::ptr::copy_nonoverlapping(value.as_ptr(), to, P);
                    }
                }
                column += P;
            }
            at += 16;
        }
        at
    }

    /// # Safety
    /// See [`Job::plain`].
    pub(super) unsafe fn sse2(job: &Job, start: usize) -> usize {
        // SAFETY: the caller's.
        unsafe {
            match job.width {
                0 | 1 => start,
                2 => tiles::<__m128i, 2>(job, start),
                4 => tiles::<__m128i, 4>(job, start),
                8 => tiles::<__m128i, 8>(job, start),
                16 => tiles::<__m128i, 16>(job, start),
                3 => ragged::<4>(job, start),
                5..8 => ragged::<8>(job, start),
                _ => ragged::<16>(job, start),
            }
        }
    }

    /// # Safety
    /// See [`Job::plain`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2(job: &Job) -> usize {
        // SAFETY: the caller's.
        unsafe {
            let start = match job.width {
                2 => tiles::<__m256i, 2>(job, 0),
                4 => tiles::<__m256i, 4>(job, 0),
                8 => tiles::<__m256i, 8>(job, 0),
                16 => tiles::<__m256i, 16>(job, 0),
                _ => 0,
            };
            sse2(job, start)
        }
    }

    /// # Safety
    /// See [`Job::plain`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn avx512(job: &Job) -> usize {
        // SAFETY: the caller's.
        unsafe {
            let start = match job.width {
                2 => tiles::<__m512i, 2>(job, 0),
                4 => tiles::<__m512i, 4>(job, 0),
                8 => tiles::<__m512i, 8>(job, 0),
                16 => tiles::<__m512i, 16>(job, 0),
                _ => 0,
            };
            sse2(job, start)
        }
    }

    impl Register for __m128i {
        const LANES: usize = 1;

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: the caller's.
            unsafe { _mm_loadu_si128(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm_storeu_si128(to.cast(), self) }
        }

        #[inline(always)]
        unsafe fn arrange<const P: usize>(self) -> Self {
            self
        }

        #[inline(always)]
        unsafe fn interleave<const HIGH: bool>(self, other: Self, size: usize) -> Self {
            // SAFETY: SSE2 is always there.
            unsafe {
                match (size, HIGH) {
                    (0, false) => _mm_unpacklo_epi8(self, other),
                    (0, true) => _mm_unpackhi_epi8(self, other),
                    (1, false) => _mm_unpacklo_epi16(self, other),
                    (1, true) => _mm_unpackhi_epi16(self, other),
                    (2, false) => _mm_unpacklo_epi32(self, other),
                    (2, true) => _mm_unpackhi_epi32(self, other),
                    (_, false) => _mm_unpacklo_epi64(self, other),
                    (_, true) => _mm_unpackhi_epi64(self, other),
                }
            }
        }
    }

    impl Register for __m256i {
        const LANES: usize = 2;

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: the caller's.
            unsafe { _mm256_loadu_si256(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm256_storeu_si256(to.cast(), self) }
        }

        #[inline(always)]
        unsafe fn arrange<const P: usize>(self) -> Self {
            // Lane 0 takes the even units. Within each lane those come first, then the halves of lanes change place.
            const { assert!(P.is_power_of_two() && P <= 16) };
            // SAFETY: the caller's.
            unsafe {
                let even_first = _mm256_loadu_si256(const { &even_units_first(16 / P) }.as_ptr().cast());
                _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_shuffle_epi8(self, even_first))
            }
        }

        #[inline(always)]
        unsafe fn interleave<const HIGH: bool>(self, other: Self, size: usize) -> Self {
            // SAFETY: the caller's.
            unsafe {
                match (size, HIGH) {
                    (0, false) => _mm256_unpacklo_epi8(self, other),
                    (0, true) => _mm256_unpackhi_epi8(self, other),
                    (1, false) => _mm256_unpacklo_epi16(self, other),
                    (1, true) => _mm256_unpackhi_epi16(self, other),
                    (2, false) => _mm256_unpacklo_epi32(self, other),
                    (2, true) => _mm256_unpackhi_epi32(self, other),
                    (_, false) => _mm256_unpacklo_epi64(self, other),
                    (_, true) => _mm256_unpackhi_epi64(self, other),
                }
            }
        }
    }

    impl Register for __m512i {
        const LANES: usize = 4;

        #[inline(always)]
        unsafe fn load(from: *const u8) -> Self {
            // SAFETY: the caller's.
            unsafe { _mm512_loadu_si512(from.cast()) }
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            // SAFETY: the caller's.
            unsafe { _mm512_storeu_si512(to.cast(), self) }
        }

        #[inline(always)]
        unsafe fn arrange<const P: usize>(self) -> Self {
            // SAFETY: the caller's.
            unsafe {
                let order = _mm512_loadu_si512(const { &units_to_lanes(16 / P) }.as_ptr().cast());
                _mm512_permutexvar_epi8(order, self)
            }
        }

        #[inline(always)]
        unsafe fn interleave<const HIGH: bool>(self, other: Self, size: usize) -> Self {
            // SAFETY: the caller's.
            unsafe {
                match (size, HIGH) {
                    (0, false) => _mm512_unpacklo_epi8(self, other),
                    (0, true) => _mm512_unpackhi_epi8(self, other),
                    (1, false) => _mm512_unpacklo_epi16(self, other),
                    (1, true) => _mm512_unpackhi_epi16(self, other),
                    (2, false) => _mm512_unpacklo_epi32(self, other),
                    (2, true) => _mm512_unpackhi_epi32(self, other),
                    (_, false) => _mm512_unpacklo_epi64(self, other),
                    (_, true) => _mm512_unpackhi_epi64(self, other),
                }
            }
        }
    }

    /// Byte numbers within a lane, twice: units 0, 2, 4 ..., then 1, 3, 5 ...
    const fn even_units_first(unit: usize) -> [u8; 32] {
        let mut order = [0; 32];
        let mut i = 0;
        while i < 32 {
            let (place, within) = (i % 16 / unit, i % unit);
            let half = 8 / unit;
            // A unit of 8 bytes is a half already.
            let from = if place < half { 2 * place } else { 2 * (place - half) + 1 };
            order[i] = (from * unit + within) as u8;
            i += 1;
        }
        order
    }

    /// Byte numbers: unit `j` of lane `l` is unit `4 * j + l` of the whole.
    const fn units_to_lanes(unit: usize) -> [u8; 64] {
        let mut order = [0; 64];
        let mut i = 0;
        while i < 64 {
            let (lane, place, within) = (i / 16, i % 16 / unit, i % unit);
            order[i] = ((4 * place + lane) * unit + within) as u8;
            i += 1;
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_the_plain_way_for_every_width_and_instruction_set() {
        for isa in Isa::available() {
            for width in 1..=40 {
                for stride in [0, 1, 15, 16, 17, 63, 64, 65, 200, 333] {
                    let bytes: Vec<u8> = (0..stride * width).map(|i| (i * 31 + i / 251) as u8).collect();
                    let streams = Streams::new(&bytes, width).unwrap();
                    assert_eq!(streams.len(), stride);
                    for (first, n) in [(0, stride), (stride / 3, stride / 2), (stride, 0)] {
                        let mut expected = vec![1, 2, 3];
                        for value in first..first + n {
                            expected.extend((0..width).map(|k| bytes[k * stride + value]));
                        }
                        let mut out = vec![1, 2, 3];
                        streams.append_bytes_with(isa, first, n, &mut out);
                        assert_eq!(out, expected, "{isa:?} width {width} stride {stride} first {first}");
                    }
                }
            }
        }
    }

    #[test]
    fn gives_values_of_a_type() {
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        let bytes: Vec<u8> = (0..8).flat_map(|k| values.iter().map(move |v| v.to_le_bytes()[k])).collect();
        for isa in Isa::available() {
            let mut out = vec![7.0];
            Streams::new(&bytes, 8).unwrap().append_with(isa, 3, 90, &mut out);
            assert_eq!(out[1..], values[3..93]);
        }
        assert!(Streams::new(&bytes, 7).is_none());
        assert!(Streams::new(&bytes, 0).is_none());
    }
}
