//! Looking values up by id, checked once a call.
#![allow(clippy::indexing_slicing)] // ids that are checked against the table before

use crate::error::{ErrorKind, Result};
use crate::raw::fixed::FixedWidth;

/// Appends `table[id]` for each of `ids`.
///
/// # Errors
/// When an id is past the end of `table`; nothing is appended then.
pub(crate) fn gather<T: FixedWidth>(table: &[T], ids: &[u32], out: &mut Vec<T>) -> Result<()> {
    check_ids(ids, table.len())?;
    out.extend(ids.iter().map(|&id| table[id as usize]));
    Ok(())
}

/// Refuses ids that are not all less than `len`, naming the largest.
#[inline]
pub(crate) fn check_ids(ids: &[u32], len: usize) -> Result<()> {
    let max = ids.iter().copied().max().unwrap_or(0);
    if max as usize >= len && !ids.is_empty() {
        return Err(ErrorKind::DictionaryIndex { index: max, len }.into());
    }
    Ok(())
}

/// The largest of `keys` as unsigned numbers, or 0.
pub(crate) fn max_i32(keys: &[i32]) -> u32 {
    keys.iter().map(|key| key.cast_unsigned()).max().unwrap_or(0)
}
