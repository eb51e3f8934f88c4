//! Dense values to slots: each set bit of a validity takes the next value, each other slot the default.

use crate::arrow::array::OffsetSizeTrait;
use crate::bitmap::{Bitmap, Bits};
use crate::error::{Error, Result};
use crate::raw::fixed::FixedWidth;
use crate::raw::simd::{Kernels, generic};

/// Spreads `values[start..]` to `validity.len()` slots, in place.
///
/// # Errors
/// When `validity` does not count as many set bits as there are values from `start` on; nothing is moved then.
pub(crate) fn spread<T: FixedWidth>(values: &mut Vec<T>, start: usize, validity: Bits<'_>) -> Result<()> {
    spread_with(Kernels::best(), values, start, validity)
}

fn spread_with<T: FixedWidth>(
    kernels: &Kernels,
    values: &mut Vec<T>,
    start: usize,
    validity: Bits<'_>,
) -> Result<()> {
    let from = check_count(values.len(), start, validity)?;
    values.resize(start + validity.len(), T::default());
    let slots = values.get_mut(start..).unwrap_or_default().as_mut_ptr();
    // SAFETY: there is a slot a bit, and `from` values in the first of them. Zero bytes are a `T`, and any bits are,
    // so that those of 4, 8 and 16 bytes move as integers.
    unsafe {
        match size_of::<T>() {
            4 if align_of::<T>() == 4 => blocks(slots.cast::<u32>(), from, validity, kernels.spread_4, zero),
            8 if align_of::<T>() == 8 => blocks(slots.cast::<u64>(), from, validity, kernels.spread_8, zero),
            16 => blocks(slots.cast::<[u8; 16]>(), from, validity, kernels.spread_16, zero),
            _ => blocks(slots, from, validity, generic::spread, zero),
        }
    }
    Ok(())
}

/// As [`spread`], for values of 16 bytes each that lie end to end from byte `start` of `values` on.
///
/// # Errors
/// As [`spread`].
pub(crate) fn spread_bytes_16(values: &mut Vec<u8>, start: usize, validity: Bits<'_>) -> Result<()> {
    let from = check_count(values.len() / 16, start / 16, validity)?;
    values.resize(start + 16 * validity.len(), 0);
    let slots = values.get_mut(start..).unwrap_or_default().as_mut_ptr();
    // SAFETY: there are 16 bytes a bit, and `from` values in the first of them; bytes have no alignment.
    unsafe { blocks(slots.cast::<[u8; 16]>(), from, validity, Kernels::best().spread_16, zero) };
    Ok(())
}

/// Spreads the ends of byte strings: of `ends[start + 1..]` each set bit takes the next, each other slot repeats the
/// one before it. `ends[start]` is where the first value begins.
///
/// # Errors
/// When `validity` does not count as many set bits as there are ends; nothing is moved then.
pub(crate) fn spread_ends<O: OffsetSizeTrait>(
    ends: &mut Vec<O>,
    start: usize,
    validity: Bits<'_>,
) -> Result<()> {
    spread_ends_with(Kernels::best(), ends, start, validity)
}

fn spread_ends_with<O: OffsetSizeTrait>(
    kernels: &Kernels,
    ends: &mut Vec<O>,
    start: usize,
    validity: Bits<'_>,
) -> Result<()> {
    let from = check_count(ends.len().saturating_sub(1), start, validity)?;
    let last = ends.last().copied().unwrap_or_default();
    ends.resize(start + validity.len() + 1, last);
    let slots = ends.get_mut(start..).unwrap_or_default().as_mut_ptr();
    // SAFETY: there is a slot a bit and one before them, and `from` ends after that one. `O` is `i32` or `i64`, which
    // move as unsigned integers of as many bytes.
    unsafe {
        match size_of::<O>() {
            4 => ends_blocks(slots.cast::<u32>(), from, validity, kernels.ends_4),
            _ => ends_blocks(slots.cast::<u64>(), from, validity, kernels.ends_8),
        }
    }
    Ok(())
}

type Kernel<T> = unsafe fn(*mut T, usize, usize, u64);

/// Calls `kernel` for the slots of one word after the other, from the last on.
///
/// # Safety
/// `values` has a slot a bit of `validity`; the first `from` of them are the dense values, one a set bit.
#[inline(always)]
unsafe fn blocks<T: Copy + Default>(
    values: *mut T,
    mut from: usize,
    validity: Bits<'_>,
    kernel: Kernel<T>,
    zero: unsafe fn(*mut T, usize),
) {
    for (index, word) in validity.words().enumerate().rev() {
        let base = index * 64;
        let n = (validity.len() - base).min(64);
        if from == base + n {
            return; // All set from here down: each value is in its slot already.
        }
        let ones = word.count_ones() as usize;
        // SAFETY: the word's slots are among the values; `from` counts the bits set in it and before it.
        unsafe {
            match (ones, n) {
                (0, _) => zero(values.add(base), n),
                (64, _) => std::ptr::copy(values.add(from - 64), values.add(base), 64),
                (_, 64) => kernel(values, from, base, word),
                _ => singly(values, from, base, n, word),
            }
        }
        from -= ones;
    }
}

/// As [`blocks`], for ends: `values` begins with one more, which stays.
///
/// # Safety
/// See [`blocks`].
#[inline(always)]
unsafe fn ends_blocks<T: Copy>(values: *mut T, mut from: usize, validity: Bits<'_>, kernel: Kernel<T>) {
    for (index, word) in validity.words().enumerate().rev() {
        let base = index * 64;
        let n = (validity.len() - base).min(64);
        if from == base + n {
            return;
        }
        let ones = word.count_ones() as usize;
        // SAFETY: as in `blocks`.
        unsafe {
            match (ones, n) {
                (64, _) => std::ptr::copy(values.add(from - 63), values.add(base + 1), 64),
                (_, 64) => kernel(values, from, base, word),
                _ => {
                    let mut dense = from;
                    for bit in (0..n).rev() {
                        values.add(base + bit + 1).write(values.add(dense).read());
                        dense -= (word >> bit & 1) as usize;
                    }
                }
            }
        }
        from -= ones;
    }
}

/// The last word's slots, fewer than 64.
///
/// # Safety
/// See [`blocks`].
unsafe fn singly<T: Copy + Default>(values: *mut T, mut from: usize, base: usize, n: usize, word: u64) {
    for bit in (0..n).rev() {
        let valid = word >> bit & 1 == 1;
        from -= usize::from(valid);
        // SAFETY: the caller's; `from` is at most the slot's own index.
        unsafe {
            let value = if valid { values.add(from).read() } else { T::default() };
            values.add(base + bit).write(value);
        }
    }
}

/// # Safety
/// `n` values can be written, and zero bytes are one.
unsafe fn zero<T>(values: *mut T, n: usize) {
    // SAFETY: the caller's.
    unsafe { values.write_bytes(0, n) };
}

/// Appends one bit a bit of `validity`: the next of `dense` where it is set, zero elsewhere.
pub(crate) fn spread_bits(to: &mut Bitmap, dense: Bits<'_>, validity: Bits<'_>) {
    let mut from = 0;
    to.reserve(validity.len());
    for (index, word) in validity.words().enumerate() {
        let ones = word.count_ones() as usize;
        let spread = deposit(dense.slice(from..from + ones).word(0), word);
        from += ones;
        to.push_word(spread, (validity.len() - index * 64).min(64));
    }
}

/// The low bits of `source`, in order, at the places of the set bits of `mask`.
#[inline]
fn deposit(mut source: u64, mut mask: u64) -> u64 {
    if mask == u64::MAX {
        return source;
    }
    let mut out = 0;
    while mask != 0 {
        let lowest = mask & mask.wrapping_neg();
        if source & 1 == 1 {
            out |= lowest;
        }
        source >>= 1;
        mask ^= lowest;
    }
    out
}

/// Gives how many values there are from `start` on, when `validity` counts as many.
pub(crate) fn check_count(len: usize, start: usize, validity: Bits<'_>) -> Result<usize> {
    let dense = len.saturating_sub(start);
    let ones = validity.count_ones();
    if ones != dense || start > len {
        return Err(Error::invalid(format!("a validity of {ones} set bits for {dense} values")));
    }
    Ok(dense)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::isa::Isa;
    use crate::sink::Int96;

    /// Validities of many lengths and densities.
    fn validities() -> impl Iterator<Item = (usize, Vec<bool>)> {
        let starts = [(0, 0), (0, 1), (3, 64), (5, 65), (1, 130), (2, 1000), (9, 640)];
        starts.into_iter().flat_map(|(start, n)| {
            let steps = [1, 2, 3, 7, 64, 100].into_iter();
            let striped = steps.map(move |step| (0..n).map(|i| i % step == 0 || (i / 70) % 3 == 1).collect());
            let ends =
                [vec![false; n], (0..n).map(|i| i >= n / 2).collect(), (0..n).map(|i| i < n / 2).collect()];
            striped.chain(ends).map(move |valid| (start, valid))
        })
    }

    fn check<T: FixedWidth + PartialEq + std::fmt::Debug>(isa: Isa, value: impl Fn(u8) -> T) {
        for (start, valid) in validities() {
            let bitmap: Bitmap = valid.iter().copied().collect();
            let mut values = vec![value(99); start];
            let mut expected = values.clone();
            for (i, &valid) in (1..=200).cycle().zip(&valid) {
                expected.push(if valid { value(i) } else { T::default() });
                if valid {
                    values.push(value(i));
                }
            }
            spread_with(Kernels::of(isa), &mut values, start, bitmap.bits(0..valid.len())).unwrap();
            assert_eq!(values, expected, "{isa:?}");
        }
    }

    #[test]
    fn spreads_in_place_from_any_start() {
        for isa in Isa::available() {
            check(isa, |i| i);
            check(isa, |i| i32::from(i) << 20);
            check(isa, f64::from);
            check(isa, |i| u128::from(i) << 100);
            check(isa, |i| Int96([i; 12]));
        }
    }

    fn check_ends<O: OffsetSizeTrait>(isa: Isa) {
        for (start, valid) in validities() {
            let bitmap: Bitmap = valid.iter().copied().collect();
            let mut ends: Vec<O> = (0..=start).map(|i| O::usize_as(10 * i)).collect();
            let mut expected = ends.clone();
            for (i, &valid) in valid.iter().enumerate() {
                let last = expected[expected.len() - 1];
                expected.push(if valid { O::usize_as(1000 + i) } else { last });
                if valid {
                    ends.push(O::usize_as(1000 + i));
                }
            }
            spread_ends_with(Kernels::of(isa), &mut ends, start, bitmap.bits(0..valid.len())).unwrap();
            assert_eq!(ends, expected, "{isa:?}");
        }
    }

    #[test]
    fn null_strings_repeat_the_end_before_them() {
        for isa in Isa::available() {
            check_ends::<i32>(isa);
            check_ends::<i64>(isa);
        }
    }

    #[test]
    fn refuses_a_count_that_differs() {
        let bitmap: Bitmap = [true, false].into_iter().collect();
        assert!(spread(&mut vec![1i32, 2], 0, bitmap.bits(0..2)).is_err());
        assert!(spread(&mut vec![1i32], 2, bitmap.bits(1..2)).is_err());
        assert!(spread(&mut vec![1i32, 2], 1, bitmap.bits(0..2)).is_ok());
    }
}
