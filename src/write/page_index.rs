//! What is known of each page, made into a page index and into the statistics of the chunk.

use std::cmp::Ordering;

use super::bounds::Bounds;
use super::options::StatisticsLevel;
use super::resolve::LeafOptions;
use crate::metadata::{
    BoundaryOrder, ColumnIndexEntries, ColumnOrder, EncodedStatistics, LogicalType, OffsetIndex,
    PageLocation, SchemaNode, SizeStatistics,
};
use crate::statistics::{lower_bound, upper_bound};

/// What is known of a page.
#[derive(Debug)]
pub(super) struct PageSummary {
    /// `offset` counts from the first data page of the chunk.
    pub(super) location: PageLocation,
    pub(super) num_values: u64,
    pub(super) num_nulls: u64,
    pub(super) num_nans: Option<u64>,
    /// The smallest and the largest value, uncut; of nothing but nulls there is none, nor where values have no order.
    pub(super) bounds: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) repetition_histogram: Vec<u64>,
    pub(super) definition_histogram: Vec<u64>,
    /// Bytes of its BYTE_ARRAY values alone.
    pub(super) byte_len: Option<u64>,
}

/// The page index of a chunk, as far as there is one.
#[derive(Debug, Default)]
pub(super) struct PageIndex {
    pub(super) column_index: Option<Vec<u8>>,
    /// Its offsets count from the first data page of the chunk.
    pub(super) offset_index: Option<OffsetIndex>,
}

/// The page index of a chunk whose leaf is `node`; `order` compares its bounds.
pub(super) fn page_index(
    pages: &[PageSummary],
    node: &SchemaNode,
    order: &Bounds,
    options: &LeafOptions,
) -> PageIndex {
    if options.statistics < StatisticsLevel::Page {
        return PageIndex::default();
    }
    let mut offset_index = OffsetIndex::new(pages.iter().map(|page| page.location).collect());
    let byte_lens: Option<Vec<i64>> = pages.iter().map(|page| page.byte_len.map(signed)).collect();
    if let Some(byte_lens) = byte_lens.filter(|_| !pages.is_empty()) {
        offset_index = offset_index.with_unencoded_byte_array_data_bytes(byte_lens);
    }
    let column_index = column_index(pages, node, order, options).map(|entries| {
        let mut bytes = Vec::new();
        entries.write(&mut bytes);
        bytes
    });
    PageIndex { column_index, offset_index: Some(offset_index) }
}

/// `None` where a page has values and no bounds: of a type without an order, or of NaNs alone, for which the order of
/// the type has no word.
fn column_index(
    pages: &[PageSummary],
    node: &SchemaNode,
    order: &Bounds,
    options: &LeafOptions,
) -> Option<ColumnIndexEntries> {
    let is_null_page = |page: &PageSummary| page.num_nulls == page.num_values;
    if !pages.iter().all(|page| is_null_page(page) || page.bounds.is_some()) {
        return None;
    }
    let (mut min_values, mut max_values) = (Vec::new(), Vec::new());
    for page in pages {
        let (min, max) = match &page.bounds {
            Some(bounds) => {
                let bounds = cut(bounds, node, order, options);
                (bounds.min, bounds.max)
            }
            None => (Vec::new(), Vec::new()),
        };
        min_values.push(min);
        max_values.push(max);
    }
    let null_pages: Vec<bool> = pages.iter().map(is_null_page).collect();
    Some(ColumnIndexEntries {
        boundary_order: boundary_order(&null_pages, &min_values, &max_values, order),
        null_pages,
        min_values,
        max_values,
        null_counts: pages.iter().map(|page| signed(page.num_nulls)).collect(),
        repetition_level_histograms: all(pages, |page| &page.repetition_histogram, 2),
        definition_level_histograms: all(pages, |page| &page.definition_histogram, 3),
        nan_counts: pages.iter().map(|page| page.num_nans.map(signed)).collect(),
    })
}

/// The histograms of all pages; none of levels so few that counts say as much.
fn all(pages: &[PageSummary], of: fn(&PageSummary) -> &Vec<u64>, worth: usize) -> Vec<i64> {
    let histograms = pages.iter().map(of).filter(|histogram| histogram.len() >= worth);
    histograms.flatten().map(|&count| signed(count)).collect()
}

/// Ascending wins where all bounds are equal; null pages have no say.
fn boundary_order(nulls: &[bool], min: &[Vec<u8>], max: &[Vec<u8>], order: &Bounds) -> BoundaryOrder {
    let bounds: Vec<(&Vec<u8>, &Vec<u8>)> =
        min.iter().zip(max).zip(nulls).filter(|(_, is_null)| !**is_null).map(|(bounds, _)| bounds).collect();
    let never = |wrong: Ordering| {
        bounds.windows(2).all(|pair| match pair {
            [(min, max), (next_min, next_max)] => {
                order.compare(min, next_min) != wrong && order.compare(max, next_max) != wrong
            }
            _ => true,
        })
    };
    match (never(Ordering::Greater), never(Ordering::Less)) {
        (true, _) => BoundaryOrder::Ascending,
        (_, true) => BoundaryOrder::Descending,
        _ => BoundaryOrder::Unordered,
    }
}

/// Bounds as they are written, and whether they are values.
struct CutBounds {
    min: Vec<u8>,
    max: Vec<u8>,
    is_min_exact: bool,
    is_max_exact: bool,
}

fn cut(
    (min, max): &(Vec<u8>, Vec<u8>),
    node: &SchemaNode,
    order: &Bounds,
    options: &LeafOptions,
) -> CutBounds {
    if !order.can_be_cut() {
        return CutBounds { min: min.clone(), max: max.clone(), is_min_exact: true, is_max_exact: true };
    }
    // A cut bound must still be a value of the type: text stays text.
    let is_text = matches!(node.logical, Some(LogicalType::String | LogicalType::Enum | LogicalType::Json));
    let (min, max) =
        (lower_bound(min, options.bound_bytes, is_text), upper_bound(max, options.bound_bytes, is_text));
    CutBounds {
        is_min_exact: min.is_exact,
        is_max_exact: max.is_exact,
        min: min.bytes.into_owned(),
        max: max.bytes.into_owned(),
    }
}

/// The statistics of a chunk of these pages, whose bounds are `bounds`.
pub(super) fn chunk_statistics(
    pages: &[PageSummary],
    node: &SchemaNode,
    bounds: &Bounds,
    options: &LeafOptions,
) -> EncodedStatistics {
    let mut statistics = EncodedStatistics {
        null_count: Some(signed(pages.iter().map(|page| page.num_nulls).sum())),
        nan_count: bounds.nan_count().map(signed),
        ..EncodedStatistics::default()
    };
    if let Some(encoded) = bounds.encoded(options.column_order) {
        // The order of the type has zeros moved outwards; the total order leaves every value as it is.
        let values = bounds.encoded(ColumnOrder::Ieee754Total);
        let (is_min, is_max) =
            values.map_or((false, false), |(min, max)| (min == encoded.0, max == encoded.1));
        let cut = cut(&encoded, node, bounds, options);
        statistics.is_min_value_exact = Some(cut.is_min_exact && is_min);
        statistics.is_max_value_exact = Some(cut.is_max_exact && is_max);
        statistics.min_value = Some(cut.min);
        statistics.max_value = Some(cut.max);
    }
    statistics
}

/// The size statistics of a chunk of these pages; `None` where they would say nothing.
pub(super) fn size_statistics(pages: &[PageSummary]) -> Option<SizeStatistics> {
    let sum = |of: fn(&PageSummary) -> &Vec<u64>, worth: usize| {
        let mut histograms = pages.iter().map(of).filter(|histogram| histogram.len() >= worth);
        let first: Vec<u64> = histograms.next()?.clone();
        let add = |sum: Vec<u64>, next: &Vec<u64>| sum.iter().zip(next).map(|(a, b)| a + b).collect();
        Some(histograms.fold(first, add).into_iter().map(signed).collect())
    };
    let sizes = SizeStatistics {
        unencoded_byte_array_data_bytes: pages
            .iter()
            .map(|page| page.byte_len)
            .sum::<Option<u64>>()
            .map(signed),
        repetition_level_histogram: sum(|page| &page.repetition_histogram, 2),
        definition_level_histogram: sum(|page| &page.definition_histogram, 3),
    };
    (!pages.is_empty() && sizes != SizeStatistics::default()).then_some(sizes)
}

/// A count of things in memory.
fn signed(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
