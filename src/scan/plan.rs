//! Which rows of which row groups are read, and where their bytes lie.

use std::ops::Range;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::file::{ColumnChunk, ParquetFile};
use crate::metadata::{FileMetadata, OffsetIndex};

/// The rows that the caller wishes for.
pub(crate) struct Rows<'a> {
    pub(crate) row_groups: Option<&'a [usize]>,
    pub(crate) ranges: Option<&'a [Range<u64>]>,
    pub(crate) offset: u64,
    pub(crate) limit: Option<u64>,
}

/// Row groups in the order they are read.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) groups: Arc<[GroupPlan]>,
}

/// What to read of one row group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupPlan {
    pub(crate) row_group: usize,
    pub(crate) num_rows: u64,
    /// Rows to read, counted from the row group's first: sorted, apart from one another, none empty.
    pub(crate) ranges: Vec<Range<u64>>,
}

impl GroupPlan {
    /// Whether every row is read.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.ranges.as_slice(), [range] if *range == (0..self.num_rows))
    }
}

impl Plan {
    /// # Errors
    /// When a row group or a row does not exist.
    pub(crate) fn new(metadata: &FileMetadata, wish: &Rows<'_>) -> Result<Self> {
        let ranges = wish.ranges.map(|ranges| sorted(ranges, metadata.num_rows())).transpose()?;
        let mut starts = Vec::with_capacity(metadata.num_row_groups());
        let mut next = 0u64;
        for row_group in metadata.row_groups() {
            starts.push((next, row_group.num_rows()));
            next = next.saturating_add(row_group.num_rows());
        }
        let mut skip = wish.offset;
        let mut left = wish.limit.unwrap_or(u64::MAX);
        let mut groups = Vec::new();
        let chosen: Box<dyn Iterator<Item = usize>> = match wish.row_groups {
            Some(chosen) => Box::new(chosen.iter().copied()),
            None => Box::new(0..starts.len()),
        };
        for row_group in chosen {
            let Some(&(start, num_rows)) = starts.get(row_group) else {
                return Err(Error::invalid(format!("row group {row_group} of a file of {}", starts.len())));
            };
            let within = match &ranges {
                None => std::iter::once(0..num_rows).collect(),
                Some(ranges) => within(ranges, start, num_rows),
            };
            let ranges = limited(within, &mut skip, &mut left);
            if !ranges.is_empty() || num_rows == 0 && left > 0 {
                groups.push(GroupPlan { row_group, num_rows, ranges });
            }
        }
        Ok(Plan { groups: groups.into() })
    }

    /// Rows that the scan gives.
    pub(crate) fn num_rows(&self) -> u64 {
        self.groups.iter().flat_map(|group| &group.ranges).map(|range| range.end - range.start).sum()
    }
}

/// The ranges in order, joined where they touch.
fn sorted(ranges: &[Range<u64>], num_rows: u64) -> Result<Vec<Range<u64>>> {
    if let Some(range) = ranges.iter().find(|range| range.end > num_rows || range.start > range.end) {
        return Err(Error::invalid(format!("rows {range:?} of a file of {num_rows} rows")));
    }
    Ok(merged(ranges.to_vec()))
}

/// Sorts ranges, drops empty ones, and joins those that touch.
fn merged(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

/// The parts of `ranges` that lie in the row group of `num_rows` rows from `start` on, counted from its first row.
fn within(ranges: &[Range<u64>], start: u64, num_rows: u64) -> Vec<Range<u64>> {
    let end = start + num_rows;
    let first = ranges.partition_point(|range| range.end <= start);
    let ranges = ranges.get(first..).unwrap_or_default().iter().take_while(|range| range.start < end);
    ranges.map(|range| range.start.max(start) - start..range.end.min(end) - start).collect()
}

/// Takes `skip` rows off the front, and no more than `left` rows.
fn limited(ranges: Vec<Range<u64>>, skip: &mut u64, left: &mut u64) -> Vec<Range<u64>> {
    let mut kept = Vec::with_capacity(ranges.len());
    for range in ranges {
        let skipped = (*skip).min(range.end - range.start);
        *skip -= skipped;
        let start = range.start + skipped;
        let len = (range.end - start).min(*left);
        *left -= len;
        if len > 0 {
            kept.push(start..start + len);
        }
    }
    kept
}

/// The ranges of bytes that `plan` needs of `leaves`.
pub(crate) fn byte_ranges(file: &ParquetFile, leaves: &[usize], plan: &Plan) -> Result<Vec<Range<u64>>> {
    let mut all = Vec::new();
    for group in plan.groups.iter().filter(|group| !group.ranges.is_empty()) {
        let row_group = file.row_group(group.row_group)?;
        for &leaf in leaves {
            let chunk = row_group.column(leaf)?;
            chunk_ranges(&chunk, group, &mut all)?;
        }
    }
    Ok(merged(all))
}

fn chunk_ranges(chunk: &ColumnChunk, group: &GroupPlan, all: &mut Vec<Range<u64>>) -> Result<()> {
    let place = chunk.chunk_place()?;
    let range = place.range.start..place.range.end.saturating_add(place.slack);
    let Some(index) = page_index(chunk, group) else {
        all.push(range);
        return Ok(());
    };
    if let Some(at) = chunk.metadata().offset_index_range()? {
        all.push(at);
    }
    let pages = index.pages();
    if let Some(first) = pages.first() {
        all.push(range.start..first.offset); // the dictionary page
    }
    for (i, page) in pages.iter().enumerate() {
        let next = pages.get(i + 1);
        let rows = page.first_row..next.map_or(group.num_rows, |next| next.first_row);
        if group.ranges.iter().any(|range| range.start < rows.end && rows.start < range.end) {
            all.push(page.offset..next.map_or(range.end, |next| next.offset));
        }
    }
    Ok(())
}

/// The offset index of a chunk, where it helps: some rows are not wanted, the index can be read, and it fits the chunk.
/// An index that does not is as good as none.
pub(crate) fn page_index(chunk: &ColumnChunk, group: &GroupPlan) -> Option<OffsetIndex> {
    if group.is_whole() {
        return None;
    }
    let index = chunk.offset_index().ok().flatten()?;
    let range = chunk.metadata().byte_range().ok()?;
    let pages = index.pages();
    let begins = pages.first().is_some_and(|page| page.first_row == 0);
    let rises = pages.is_sorted_by(|a, b| a.offset < b.offset && a.first_row <= b.first_row);
    let ends = pages.iter().all(|page| range.contains(&page.offset) && page.first_row <= group.num_rows);
    (begins && rises && ends).then_some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::reversed_empty_ranges, clippy::single_range_in_vec_init)]
    fn ranges_are_sorted_joined_and_checked() {
        assert_eq!(sorted(&[5..9, 0..2, 2..3, 7..8, 4..4], 9).unwrap(), [0..3, 5..9]);
        assert!(sorted(&[0..10], 9).is_err());
        assert!(sorted(&[3..2], 9).is_err());
    }

    #[test]
    #[allow(clippy::single_range_in_vec_init)]
    fn ranges_are_cut_to_a_row_group() {
        let ranges = [0..3, 5..9, 12..20];
        assert_eq!(within(&ranges, 2, 5), [0..1, 3..5]);
        assert_eq!(within(&ranges, 9, 3), []);
        assert_eq!(within(&ranges, 14, 2), [0..2]);
    }

    #[test]
    #[allow(clippy::single_range_in_vec_init)]
    fn offset_and_limit_count_chosen_rows() {
        let (mut skip, mut left) = (4, 5);
        assert_eq!(limited(vec![0..3, 10..14], &mut skip, &mut left), [11..14]);
        assert_eq!((skip, left), (0, 2));
        assert_eq!(limited(vec![0..3], &mut skip, &mut left), [0..2]);
        assert_eq!(limited(vec![0..3], &mut skip, &mut left), []);
    }
}
