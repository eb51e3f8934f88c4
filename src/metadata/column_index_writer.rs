//! Writes a column index (PageIndex.md): what `column_index` reads.

use super::BoundaryOrder;
use crate::thrift::write_struct;

/// `ColumnIndex` of `parquet.thrift`: lists of an entry for each page.
#[derive(Debug)]
pub(crate) struct ColumnIndexEntries {
    pub(crate) null_pages: Vec<bool>,
    /// Empty for a null page.
    pub(crate) min_values: Vec<Vec<u8>>,
    pub(crate) max_values: Vec<Vec<u8>>,
    pub(crate) boundary_order: BoundaryOrder,
    pub(crate) null_counts: Vec<i64>,
    /// The histograms of all pages, one after another; empty where they say nothing.
    pub(crate) repetition_level_histograms: Vec<i64>,
    pub(crate) definition_level_histograms: Vec<i64>,
    /// For floating-point columns.
    pub(crate) nan_counts: Option<Vec<i64>>,
}

impl ColumnIndexEntries {
    /// Appends the Thrift bytes to `out`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        write_struct(out, |s| {
            s.bools(1, self.null_pages.iter().copied());
            s.binaries(2, self.min_values.iter().map(Vec::as_slice));
            s.binaries(3, self.max_values.iter().map(Vec::as_slice));
            s.i32(
                4,
                match self.boundary_order {
                    BoundaryOrder::Unordered => 0,
                    BoundaryOrder::Ascending => 1,
                    BoundaryOrder::Descending => 2,
                },
            );
            s.i64s(5, self.null_counts.iter().copied());
            let histograms = [(6, &self.repetition_level_histograms), (7, &self.definition_level_histograms)];
            for (id, histogram) in histograms.into_iter().filter(|(_, histogram)| !histogram.is_empty()) {
                s.i64s(id, histogram.iter().copied());
            }
            self.nan_counts.iter().for_each(|counts| s.i64s(8, counts.iter().copied()));
        });
    }
}
