//! Dense values to slots: each set bit of a validity takes the next value, each other slot the default.

use crate::bitmap::{Bitmap, Bits};
use crate::error::{Error, Result};
use crate::raw::fixed::FixedWidth;

/// Spreads `values[start..]` to `validity.len()` slots, in place.
///
/// # Errors
/// When `validity` does not count as many set bits as there are values from `start` on; nothing is moved then.
pub(crate) fn spread<T: FixedWidth>(values: &mut Vec<T>, start: usize, validity: Bits<'_>) -> Result<()> {
    let mut from = check_count(values.len(), start, validity)?;
    let end = start + validity.len();
    values.resize(end, T::default());
    let slots = values.get_mut(start..).unwrap_or_default();
    for (index, word) in validity.words().enumerate().rev() {
        let base = index * 64;
        let n = (validity.len() - base).min(64);
        if from == base + n {
            break; // All set from here down: each value is in its slot already.
        }
        for bit in (0..n).rev() {
            let valid = word >> bit & 1 == 1;
            from -= usize::from(valid);
            let value = slots.get(from).copied().filter(|_| valid).unwrap_or_default();
            if let Some(slot) = slots.get_mut(base + bit) {
                *slot = value;
            }
        }
    }
    Ok(())
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

    #[test]
    fn spreads_in_place_from_any_start() {
        for (start, n) in [(0, 0), (0, 1), (3, 64), (5, 65), (1, 130), (2, 1000)] {
            for step in [1, 2, 3, 7, 64, 100] {
                let valid: Vec<bool> = (0..n).map(|i| i % step == 0 || (i / 70) % 3 == 1).collect();
                let bitmap: Bitmap = valid.iter().copied().collect();
                let mut values: Vec<i64> = (-1000i64..).take(start).collect();
                let mut expected = values.clone();
                for (i, &valid) in (0i64..).zip(&valid) {
                    expected.push(if valid { i + 1 } else { 0 });
                    if valid {
                        values.push(i + 1);
                    }
                }
                spread(&mut values, start, bitmap.bits(0..n)).unwrap();
                assert_eq!(values, expected);
            }
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
