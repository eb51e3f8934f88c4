//! Kernel of DELTA_BYTE_ARRAY: each value is the first bytes of the one before it, then bytes of its own.
//!
//! Values go end to end to where they stay. The vector kernels keep the beginning of the previous value in registers,
//! because reading back what was just written in other pieces stalls:
//!
//! ```text
//! window     p p p p p p p p p ...        the bytes below `prefix` stay
//! data             s s s s x x ...        loaded from `prefix` bytes before the suffix, so that it falls in place
//! value      p p p s s s s ? ? ...        written whole; the next value overwrites what is too much
//! ```
//!
//! A value longer than the window is copied in the usual way.
#![allow(clippy::indexing_slicing)] // of values that have been counted against the output
#![allow(clippy::cast_possible_truncation)] // of what is at most 128

use super::isa::Isa;
use crate::arrow::array::OffsetSizeTrait;
use crate::error::{Error, ErrorKind, Result};
use crate::sink::{impossible_prefix, negative_length};

/// Values by their lengths: what each shares with the one before it, and what it adds. The latter lie end to end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FrontCoded<'a> {
    pub(crate) prefixes: &'a [i32],
    pub(crate) suffixes: &'a [i32],
    pub(crate) data: &'a [u8],
}

/// Room made at once, whatever the lengths claim; more comes as it is needed.
const RESERVE: usize = 1 << 20;
/// The longest window.
const WIDEST: usize = 128;

impl FrontCoded<'_> {
    /// Appends the values to `values` and their ends to `ends`, until one would end past `O::MAX_OFFSET`. `previous` is
    /// the value before the first, and becomes the last one appended. Gives the number of values appended and of the
    /// bytes of `data` that they took.
    ///
    /// # Errors
    /// When a prefix is negative or longer than the value before it, a suffix is negative or longer than the data, or
    /// memory is short. What came before stays appended.
    pub(crate) fn append<O: OffsetSizeTrait>(
        &self,
        values: &mut Vec<u8>,
        ends: &mut Vec<O>,
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        self.append_with(Isa::best(), O::MAX_OFFSET, values, ends, previous)
    }

    fn append_with<O: OffsetSizeTrait>(
        &self,
        isa: Isa,
        max_offset: usize,
        values: &mut Vec<u8>,
        ends: &mut Vec<O>,
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        let (total, longest) = self.lengths();
        make_room(values, total.min(RESERVE) + WIDEST)?;
        ends.reserve(self.len());
        let mut run =
            Run { coded: *self, max_offset, values, ends, index: 0, used: 0, start: 0, len: previous.len() };
        // The first value takes its prefix from elsewhere, and the others from the one before.
        if !run.first(previous)? {
            return Ok((0, 0));
        }
        // SAFETY: the machine runs `isa`.
        unsafe {
            match isa {
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 if longest <= 64 => x86::avx512::<O, 1>(&mut run)?,
                #[cfg(target_arch = "x86_64")]
                Isa::Avx512 => x86::avx512::<O, 2>(&mut run)?,
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 if longest <= 64 => x86::avx2::<O, 2>(&mut run)?,
                #[cfg(target_arch = "x86_64")]
                Isa::Avx2 => x86::avx2::<O, 4>(&mut run)?,
                Isa::Portable => run.rest::<NoWindow>()?,
            }
        }
        let (taken, used, start, len) = (run.index, run.used, run.start, run.len);
        previous.clear();
        make_room(previous, len)?;
        previous.extend_from_slice(&values[start..start + len]);
        Ok((taken, used))
    }

    fn len(&self) -> usize {
        self.prefixes.len().min(self.suffixes.len())
    }

    /// The sum of all lengths and the longest value; lengths that are not in order count somehow.
    fn lengths(&self) -> (usize, i32) {
        let lengths = self.prefixes.iter().zip(self.suffixes).map(|(&p, &s)| p.saturating_add(s).max(0));
        let (total, longest) = lengths.fold((0u64, 0), |(total, longest), len| {
            (total + u64::from(len.cast_unsigned()), longest.max(len))
        });
        (usize::try_from(total).unwrap_or(usize::MAX), longest)
    }
}

/// Makes room for `n` more bytes, or says that there is none.
fn make_room(values: &mut Vec<u8>, n: usize) -> Result<()> {
    let limit = values.capacity() as u64;
    values.try_reserve(n).map_err(|_| {
        ErrorKind::Limit { what: "memory for values", limit, wanted: limit.saturating_add(n as u64) }.into()
    })
}

/// The state between two values.
struct Run<'a, O> {
    coded: FrontCoded<'a>,
    /// Where values may end, at most what `O` holds.
    max_offset: usize,
    values: &'a mut Vec<u8>,
    ends: &'a mut Vec<O>,
    /// Values appended, and bytes of suffixes that they took.
    index: usize,
    used: usize,
    /// The previous value within `values`.
    start: usize,
    len: usize,
}

/// One value, its lengths found to be possible.
struct Next {
    prefix: usize,
    len: usize,
    end: usize,
}

impl<O: OffsetSizeTrait> Run<'_, O> {
    /// The next value; `None` when there is none or it does not fit the offsets.
    #[inline(always)]
    fn next(&self) -> Result<Option<Next>> {
        let (Some(&prefix), Some(&suffix)) =
            (self.coded.prefixes.get(self.index), self.coded.suffixes.get(self.index))
        else {
            return Ok(None);
        };
        let left = self.coded.data.len() - self.used;
        let (p, s) = (prefix.cast_unsigned() as usize, suffix.cast_unsigned() as usize);
        if prefix | suffix < 0 || p > self.len || s > left {
            return Err(impossible(prefix, suffix, self.len, left));
        }
        let end = self.values.len() + p + s;
        Ok((end <= self.max_offset).then_some(Next { prefix: p, len: p + s, end }))
    }

    #[inline(always)]
    fn appended(&mut self, next: &Next) {
        self.start = next.end - next.len;
        self.len = next.len;
        self.used += next.len - next.prefix;
        self.index += 1;
        self.ends.push(O::usize_as(next.end));
    }

    /// Appends the first value, of which the prefix is in `previous`; `false` when it does not fit.
    fn first(&mut self, previous: &[u8]) -> Result<bool> {
        let Some(next) = self.next()? else { return Ok(false) };
        make_room(self.values, next.len)?;
        self.values.extend_from_slice(&previous[..next.prefix]);
        self.values.extend_from_slice(&self.coded.data[self.used..][..next.len - next.prefix]);
        self.appended(&next);
        Ok(true)
    }

    /// Appends one value by two copies.
    fn copied(&mut self, next: &Next) -> Result<()> {
        make_room(self.values, next.len)?;
        self.values.extend_from_within(self.start..self.start + next.prefix);
        self.values.extend_from_slice(&self.coded.data[self.used..][..next.len - next.prefix]);
        self.appended(next);
        Ok(())
    }

    /// Appends all that is left and fits.
    ///
    /// # Safety
    /// The machine runs what `W` needs.
    #[inline(always)]
    unsafe fn rest<W: Window>(&mut self) -> Result<()> {
        loop {
            // SAFETY: the caller's.
            unsafe { self.by_window::<W>() };
            let Some(next) = self.next()? else { return Ok(()) };
            self.copied(&next)?;
        }
    }

    /// Appends values as long as these are short, in order, and far from the end of the data and of the room.
    ///
    /// # Safety
    /// The machine runs what `W` needs.
    #[inline(always)]
    unsafe fn by_window<W: Window>(&mut self) {
        let room = self.values.capacity().min(self.max_offset);
        let (Some(last_out), Some(last_used)) =
            (room.checked_sub(W::LEN), self.coded.data.len().checked_sub(W::LEN))
        else {
            return;
        };
        let n = self.coded.len().min(self.index + self.ends.capacity() - self.ends.len());
        let lengths = self.coded.prefixes[..n].iter().zip(&self.coded.suffixes[..n]).skip(self.index);
        let (mut out, mut used, mut len) = (self.values.len(), self.used, self.len);
        let mut taken = 0;
        // SAFETY: a value is taken when it is no longer than LEN, with LEN bytes of data from `used` on, and of room from
        // `out` on; there is room for the ends of `n` values. What is then counted as appended has been written.
        unsafe {
            let mut window = W::load(&self.values[self.start..][..len]);
            let (values, ends) = (self.values.as_mut_ptr(), self.ends.as_mut_ptr().add(self.ends.len()));
            for (&prefix, &suffix) in lengths {
                // What is negative is too long.
                let (prefix, suffix) = (prefix.cast_unsigned() as usize, suffix.cast_unsigned() as usize);
                let odd = prefix > len || prefix + suffix > W::LEN || W::LOADS_WHOLE && used < prefix;
                if odd || used > last_used || out > last_out {
                    break;
                }
                len = prefix + suffix;
                window = window.merge(self.coded.data.as_ptr().add(used), prefix, len);
                window.store(values.add(out));
                out += len;
                used += suffix;
                ends.add(taken).write(O::usize_as(out));
                taken += 1;
            }
            self.values.set_len(out);
            self.ends.set_len(self.ends.len() + taken);
        }
        (self.start, self.len, self.used) = (out - len, len, used);
        self.index += taken;
    }
}

#[cold]
fn impossible(prefix: i32, suffix: i32, previous: usize, left: usize) -> Error {
    match usize::try_from(prefix) {
        Ok(n) if n <= previous => match usize::try_from(suffix) {
            Ok(n) => Error::end_of_data("suffix of a byte array", n, left),
            Err(_) => negative_length(suffix),
        },
        _ => impossible_prefix(prefix, previous),
    }
}

/// The first bytes of a value in registers. Bytes past the value's end are anything.
///
/// # Safety
/// All functions need the instruction set of the type.
trait Window: Copy {
    /// Bytes held, and written by a store.
    const LEN: usize;
    /// Whether a merge loads LEN bytes from `prefix` bytes before the suffix on; otherwise it loads the suffix alone.
    const LOADS_WHOLE: bool;
    unsafe fn load(value: &[u8]) -> Self;
    /// The next value, of `len` bytes, at most LEN. `suffix` has LEN bytes.
    unsafe fn merge(self, suffix: *const u8, prefix: usize, len: usize) -> Self;
    /// Writes LEN bytes.
    unsafe fn store(self, to: *mut u8);
}

/// For machines without kernels: only empty values are not copied.
#[derive(Clone, Copy)]
struct NoWindow;

impl Window for NoWindow {
    const LEN: usize = 0;
    const LOADS_WHOLE: bool = false;

    unsafe fn load(_value: &[u8]) -> Self {
        NoWindow
    }

    unsafe fn merge(self, _suffix: *const u8, _prefix: usize, _len: usize) -> Self {
        self
    }

    unsafe fn store(self, _to: *mut u8) {}
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{OffsetSizeTrait, Result, Run, Window};

    /// # Safety
    /// The machine has AVX-512 with the subsets named.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2")]
    pub(super) unsafe fn avx512<O: OffsetSizeTrait, const N: usize>(run: &mut Run<'_, O>) -> Result<()> {
        // SAFETY: the caller's.
        unsafe { run.rest::<[__m512i; N]>() }
    }

    /// # Safety
    /// The machine has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn avx2<O: OffsetSizeTrait, const N: usize>(run: &mut Run<'_, O>) -> Result<()> {
        // SAFETY: the caller's.
        unsafe { run.rest::<[__m256i; N]>() }
    }

    /// Bits below `n`, of the 64 from `first` on.
    #[inline(always)]
    unsafe fn below(n: usize, first: usize) -> u64 {
        // SAFETY: the caller has BMI2. 64 and more keep all.
        unsafe { _bzhi_u64(u64::MAX, n.saturating_sub(first).min(64) as u32) }
    }

    impl<const N: usize> Window for [__m512i; N] {
        const LEN: usize = 64 * N;
        const LOADS_WHOLE: bool = false;

        #[inline(always)]
        unsafe fn load(value: &[u8]) -> Self {
            // SAFETY: the mask keeps to the value.
            unsafe {
                let mut window = [_mm512_setzero_si512(); N];
                for (i, register) in window.iter_mut().enumerate() {
                    let from = value.as_ptr().wrapping_add(64 * i).cast();
                    *register = _mm512_maskz_loadu_epi8(below(value.len(), 64 * i), from);
                }
                window
            }
        }

        #[inline(always)]
        unsafe fn merge(mut self, suffix: *const u8, prefix: usize, len: usize) -> Self {
            for (i, register) in self.iter_mut().enumerate() {
                let from = suffix.wrapping_sub(prefix).wrapping_add(64 * i);
                // SAFETY: the mask keeps to the suffix.
                unsafe {
                    let own = below(len, 64 * i) & !below(prefix, 64 * i);
                    *register = _mm512_mask_loadu_epi8(*register, own, from.cast());
                }
            }
            self
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            for (i, &register) in self.iter().enumerate() {
                // SAFETY: the caller has room for LEN bytes.
                unsafe { _mm512_storeu_si512(to.add(64 * i).cast(), register) }
            }
        }
    }

    impl<const N: usize> Window for [__m256i; N] {
        const LEN: usize = 32 * N;
        const LOADS_WHOLE: bool = true;

        #[inline(always)]
        unsafe fn load(value: &[u8]) -> Self {
            let mut bytes = [[0; 32]; N];
            let len = value.len().min(32 * N);
            bytes.as_flattened_mut()[..len].copy_from_slice(&value[..len]);
            // SAFETY: each load is of an array of its size.
            unsafe {
                let mut window = [_mm256_setzero_si256(); N];
                for (register, bytes) in window.iter_mut().zip(&bytes) {
                    *register = _mm256_loadu_si256(bytes.as_ptr().cast());
                }
                window
            }
        }

        #[inline(always)]
        unsafe fn merge(mut self, suffix: *const u8, prefix: usize, _len: usize) -> Self {
            // SAFETY: there are LEN bytes, by LOADS_WHOLE. The prefix is at most LEN, 128.
            unsafe {
                let from = suffix.sub(prefix);
                // Numbers less 128, so that 128 can be compared as a signed byte.
                let prefix = _mm256_set1_epi8((prefix as u8).wrapping_sub(128).cast_signed());
                for (i, register) in self.iter_mut().enumerate() {
                    let own = _mm256_loadu_si256(from.add(32 * i).cast());
                    let number = _mm256_loadu_si256(NUMBERS.as_ptr().add(32 * i).cast());
                    *register = _mm256_blendv_epi8(own, *register, _mm256_cmpgt_epi8(prefix, number));
                }
            }
            self
        }

        #[inline(always)]
        unsafe fn store(self, to: *mut u8) {
            for (i, &register) in self.iter().enumerate() {
                // SAFETY: the caller has room for LEN bytes.
                unsafe { _mm256_storeu_si256(to.add(32 * i).cast(), register) }
            }
        }
    }

    /// -128 to -1.
    static NUMBERS: [i8; 128] = {
        let mut numbers = [0; 128];
        let mut i = 0;
        while i < 128 {
            numbers[i] = i as i8 - 127 - 1;
            i += 1;
        }
        numbers
    };
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
mod tests {
    use super::*;

    /// Values, their lengths and suffixes.
    fn sample(seed: u64, n: usize, longest: usize) -> (Vec<Vec<u8>>, Vec<i32>, Vec<i32>, Vec<u8>) {
        let mut state = seed;
        let mut next = move || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) as usize
        };
        let (mut prefixes, mut suffixes, mut data) = (vec![], vec![], vec![]);
        let mut values: Vec<Vec<u8>> = vec![];
        let mut previous: Vec<u8> = b"the value before".to_vec();
        for _ in 0..n {
            let len = next() % (longest + 1);
            let prefix =
                if next() % 4 == 0 { previous.len() } else { next() % (previous.len() + 1) }.min(len);
            let suffix: Vec<u8> = (prefix..len).map(|_| next() as u8).collect();
            let value = [&previous[..prefix], &suffix].concat();
            prefixes.push(prefix as i32);
            suffixes.push(suffix.len() as i32);
            data.extend(suffix);
            previous = value.clone();
            values.push(value);
        }
        (values, prefixes, suffixes, data)
    }

    #[test]
    fn equals_the_plain_way_for_every_length_and_instruction_set() {
        for isa in Isa::available() {
            for (seed, longest) in
                [0, 1, 16, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200, 1000].into_iter().enumerate()
            {
                let (values, prefixes, suffixes, data) = sample(seed as u64, 700, longest);
                for cut in [1, 350, 700] {
                    // In two calls, to see what is carried over; between them, something else goes to the output.
                    let (mut out, mut ends) = (b"abc".to_vec(), vec![3i64]);
                    let mut previous = b"the value before".to_vec();
                    let coded =
                        FrontCoded { prefixes: &prefixes[..cut], suffixes: &suffixes[..cut], data: &data };
                    let (taken, used) = coded
                        .append_with(isa, i32::MAX as usize, &mut out, &mut ends, &mut previous)
                        .unwrap();
                    assert_eq!(taken, cut);
                    assert_eq!(out[3..], values[..cut].concat(), "{isa:?} {longest}");
                    assert_eq!(previous, values[cut - 1]);
                    out.extend(b"xyz");
                    let (prefixes, suffixes) = (&prefixes[cut..], &suffixes[cut..]);
                    let coded = FrontCoded { prefixes, suffixes, data: &data[used..] };
                    let rest = coded
                        .append_with(isa, i32::MAX as usize, &mut out, &mut ends, &mut previous)
                        .unwrap();
                    assert_eq!(rest, (700 - cut, data.len() - used));
                    let expected =
                        [b"abc", &values[..cut].concat()[..], b"xyz", &values[cut..].concat()].concat();
                    assert_eq!(out, expected, "{isa:?} {longest}");
                    assert_eq!(ends.len(), 701);
                    for (i, value) in values.iter().enumerate() {
                        let end = ends[i + 1] as usize;
                        assert_eq!(&out[end - value.len()..end], value);
                    }
                }
            }
        }
    }

    #[test]
    fn refuses_impossible_lengths() {
        for isa in Isa::available() {
            for (prefixes, suffixes) in [
                ([0, 4], [3, 0]),
                ([6, 0], [0, 0]),
                ([0, 0], [3, 8]),
                ([0, 0], [11, 0]),
                ([-1, 0], [1, 1]),
                ([0, -1], [1, 1]),
                ([0, 0], [-1, 1]),
                ([0, 0], [1, i32::MIN]),
                ([0, 0], [1, i32::MAX]),
            ] {
                let coded = FrontCoded { prefixes: &prefixes, suffixes: &suffixes, data: &[7; 10] };
                let (mut out, mut ends, mut previous) = (vec![], vec![0i32], b"12345".to_vec());
                let result = coded.append_with(isa, i32::MAX as usize, &mut out, &mut ends, &mut previous);
                assert!(result.is_err(), "{prefixes:?} {suffixes:?}");
                assert!(out.len() < 100 && out.capacity() < 2 * RESERVE);
            }
        }
    }

    #[test]
    fn stops_before_the_value_that_the_offsets_cannot_hold() {
        let (values, prefixes, suffixes, data) = sample(3, 100, 90);
        let coded = FrontCoded { prefixes: &prefixes, suffixes: &suffixes, data: &data };
        for isa in Isa::available() {
            for fitting in [0, 1, 2, 50, 99] {
                let max_offset =
                    10 + values[..fitting].concat().len() + values[fitting].len().saturating_sub(1);
                let (mut out, mut ends, mut previous) =
                    (vec![1; 10], vec![10i32], b"the value before".to_vec());
                let (taken, used) =
                    coded.append_with(isa, max_offset, &mut out, &mut ends, &mut previous).unwrap();
                let fitting = fitting + usize::from(values[fitting].is_empty());
                assert_eq!(taken, fitting);
                assert_eq!(used as i32, suffixes[..fitting].iter().sum());
                assert_eq!((ends.len(), out[10..].to_vec()), (fitting + 1, values[..fitting].concat()));
                assert_eq!(previous, *values[..fitting].last().map_or(&b"the value before"[..], |v| v));
            }
        }
    }
}
