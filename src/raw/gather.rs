//! Looking values up by id, checked once a call.

use crate::error::{ErrorKind, Result};
use crate::raw::fixed::FixedWidth;
use crate::raw::simd::{Kernels, generic};

/// Appends `table[id]` for each of `ids`.
///
/// # Errors
/// When an id is past the end of `table`; nothing is appended then.
pub(crate) fn gather<T: FixedWidth>(table: &[T], ids: &[u32], out: &mut Vec<T>) -> Result<()> {
    gather_with(Kernels::best(), table, ids, out)
}

fn gather_with<T: FixedWidth>(kernels: &Kernels, table: &[T], ids: &[u32], out: &mut Vec<T>) -> Result<()> {
    check_ids_with(kernels, ids, table.len())?;
    out.reserve(ids.len());
    let (from, n) = (table.as_ptr(), ids.len());
    // SAFETY: every id is within `table`, there is room for `n` values, which are written before the length covers
    // them, and any bits are a `T`: those of 4 or 8 bytes move as integers of as many.
    unsafe {
        let to = out.as_mut_ptr().add(out.len());
        match size_of::<T>() {
            4 if align_of::<T>() == 4 => (kernels.gather_4)(from.cast(), ids.as_ptr(), to.cast(), n),
            8 if align_of::<T>() == 8 => (kernels.gather_8)(from.cast(), ids.as_ptr(), to.cast(), n),
            _ => generic::gather(from, ids.as_ptr(), to, n),
        }
        out.set_len(out.len() + n);
    }
    Ok(())
}

/// Refuses ids that are not all less than `len`, naming the largest.
#[inline]
pub(crate) fn check_ids(ids: &[u32], len: usize) -> Result<()> {
    check_ids_with(Kernels::best(), ids, len)
}

fn check_ids_with(kernels: &Kernels, ids: &[u32], len: usize) -> Result<()> {
    // SAFETY: a slice can be read.
    let max = unsafe { (kernels.max)(ids.as_ptr(), ids.len()) };
    if max as usize >= len && !ids.is_empty() {
        return Err(ErrorKind::DictionaryIndex { index: max, len }.into());
    }
    Ok(())
}

/// [`check_ids`] for keys of an Arrow dictionary: ids from 2^31 on come as negative keys.
pub(crate) fn check_keys(keys: &[i32], len: usize) -> Result<()> {
    // SAFETY: an `i32` is as wide and as aligned as a `u32`, and any bits are one.
    let ids = unsafe { std::slice::from_raw_parts(keys.as_ptr().cast::<u32>(), keys.len()) };
    check_ids(ids, len.min(i32::MAX as usize + 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::isa::Isa;
    use crate::sink::Int96;

    #[test]
    fn every_instruction_set_looks_up_every_width() {
        let ids: Vec<u32> = (0..1000u32).map(|i| i.wrapping_mul(2_654_435_761) >> 23).collect();
        for isa in Isa::available() {
            for n in [0, 1, 7, 16, 33, 1000] {
                check(isa, &ids[..n], |i| i);
                check(isa, &ids[..n], |i| f64::from(i) / 3.0);
                check(isa, &ids[..n], |i| i64::from(i) << 33);
                check(isa, &ids[..n], |i| Int96([i.to_le_bytes()[0]; 12]));
                check(isa, &ids[..n], |i| u128::from(i) << 77);
            }
        }
    }

    fn check<T: FixedWidth + PartialEq + std::fmt::Debug>(isa: Isa, ids: &[u32], value: impl Fn(u32) -> T) {
        let table: Vec<T> = (0..512).map(&value).collect();
        let mut out = vec![value(7)];
        gather_with(Kernels::of(isa), &table, ids, &mut out).unwrap();
        let expected: Vec<T> = std::iter::once(7).chain(ids.iter().copied()).map(value).collect();
        assert_eq!(out, expected, "{isa:?}");
    }

    #[test]
    fn names_the_largest_id_and_appends_nothing() {
        for isa in Isa::available() {
            for at in [0, 5, 40] {
                let mut ids = vec![2; 41];
                ids[at] = 0x8000_0003;
                let mut out = vec![];
                let error = gather_with(Kernels::of(isa), &[0i64; 3], &ids, &mut out).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::DictionaryIndex { index: 0x8000_0003, len: 3 }));
                assert!(out.is_empty());
            }
            gather_with(Kernels::of(isa), &[] as &[i32], &[], &mut vec![]).unwrap();
        }
        assert!(check_keys(&[0, -1], usize::MAX).is_err());
        assert!(check_keys(&[0, i32::MAX], usize::MAX).is_ok());
    }
}
