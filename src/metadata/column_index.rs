//! The column index of a column chunk: bounds and counts for each data page (PageIndex.md). Takes its Thrift bytes.
//!
//! It checks the index against itself and against the number of pages. What it says may still be wrong of a page.

use std::ops::Range;

use super::bounds::{BoundType, Pair, is_float};
use super::column_chunk::read_i64s;
use super::{ColumnOrder, SchemaNode, Statistics};
use crate::arrow::buffer::Buffer;
use crate::error::{Context, Error, Result};
use crate::thrift::{Field, Reader, Wire, required};

/// `ColumnIndex` of `parquet.thrift`. Bounds become values when they are asked for.
#[derive(Debug, Clone)]
pub struct ColumnIndex {
    bytes: Buffer,
    bound_type: Option<BoundType>,
    is_float: bool,
    null_pages: Vec<bool>,
    /// Where each bound lies within `bytes`.
    min_values: Vec<Range<u32>>,
    max_values: Vec<Range<u32>>,
    /// Negative is unknown: parquet-mr writes -1.
    null_counts: Option<Vec<i64>>,
    nan_counts: Option<Vec<i64>>,
    boundary_order: BoundaryOrder,
}

/// `BoundaryOrder` of `parquet.thrift`: what the file claims of the order of the pages' bounds. Nothing checks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoundaryOrder {
    /// No claim; also where the file has a number that this crate does not know.
    Unordered,
    /// Lower bounds do not fall from page to page, nor do upper bounds.
    Ascending,
    /// Lower bounds do not rise from page to page, nor do upper bounds.
    Descending,
}

impl ColumnIndex {
    /// Parses the Thrift bytes, which lie at
    /// [`column_index_range`](super::ColumnChunkMetadata::column_index_range), and keeps them. `node` is the column's
    /// leaf of the schema, `order` the order of its bounds, `num_pages` how many data pages there are by the
    /// [`OffsetIndex`](super::OffsetIndex).
    ///
    /// # Errors
    /// When they are not a column index; one of its lists has not an entry for each page; or a page that it calls
    /// all null has a bound, or (unless the column is repeated) no null. Then read the chunk without it.
    pub fn parse(bytes: Buffer, node: &SchemaNode, order: ColumnOrder, num_pages: usize) -> Result<Self> {
        let mut reader = Reader::new(&bytes);
        let is_repeated = node.repetition_level > 0;
        let raw = RawIndex::read(&mut reader).and_then(|raw| raw.check(num_pages, is_repeated));
        let mut index = raw.at_offset(reader.position() as u64)?;
        index.bound_type = BoundType::of(node, order);
        index.is_float = is_float(node);
        index.bytes = bytes;
        Ok(index)
    }

    /// How many data pages there are.
    pub fn num_pages(&self) -> usize {
        self.null_pages.len()
    }

    /// Whether page `page` holds nothing but nulls (and empty lists); `false` for a page that there is not.
    pub fn is_null_page(&self, page: usize) -> bool {
        self.null_pages.get(page).copied().unwrap_or(false)
    }

    /// What the index says of page `page`, as far as it can be trusted; everything is unknown of a page that there
    /// is not. Never exact: bounds may be cut. A page of nulls has no bounds.
    pub fn page(&self, page: usize) -> Statistics {
        let count = |counts: &Option<Vec<i64>>| u64::try_from(*counts.as_ref()?.get(page)?).ok();
        let nan_count = count(&self.nan_counts);
        let pair = self.bounds(page);
        Statistics {
            min: pair.min,
            max: pair.max,
            null_count: count(&self.null_counts),
            nan_count,
            may_have_nan: self.is_float && nan_count != Some(0),
            ..Statistics::default()
        }
    }

    /// What the file claims of the order of the pages' bounds. Nothing checks it: only a hint.
    pub fn boundary_order(&self) -> BoundaryOrder {
        self.boundary_order
    }

    fn bounds(&self, page: usize) -> Pair {
        let Some(bound_type) = self.bound_type.filter(|_| !self.is_null_page(page)) else {
            return Pair::default();
        };
        let bytes = |ranges: &[Range<u32>]| {
            let range = ranges.get(page)?;
            self.bytes.get(range.start as usize..range.end as usize)
        };
        bound_type.read(bytes(&self.min_values), bytes(&self.max_values))
    }
}

/// `ColumnIndex` as it comes. The histograms of levels (fields 6 and 7) are not read.
#[derive(Default)]
struct RawIndex {
    null_pages: Option<Vec<bool>>,
    min_values: Option<Vec<Range<u32>>>,
    max_values: Option<Vec<Range<u32>>>,
    boundary_order: Option<i32>,
    null_counts: Option<Vec<i64>>,
    nan_counts: Option<Vec<i64>>,
}

impl RawIndex {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        let mut raw = RawIndex::default();
        reader.structure(|r, field| {
            match field.id {
                1 => {
                    let Some(len) = r.list(field, Wire::True)? else { return Ok(()) };
                    raw.null_pages = Some((0..len).map(|_| r.bool_value()).collect::<Result<_>>()?);
                }
                2 => raw.min_values = read_ranges(r, field)?,
                3 => raw.max_values = read_ranges(r, field)?,
                4 => raw.boundary_order = r.i32(field)?,
                5 => raw.null_counts = read_i64s(r, field)?,
                8 => raw.nan_counts = read_i64s(r, field)?,
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        Ok(raw)
    }

    fn check(self, num_pages: usize, is_repeated: bool) -> Result<ColumnIndex> {
        let null_pages = required(self.null_pages, "ColumnIndex.null_pages")?;
        let min_values = required(self.min_values, "ColumnIndex.min_values")?;
        let max_values = required(self.max_values, "ColumnIndex.max_values")?;
        check_len("null_pages", null_pages.len(), num_pages)?;
        check_len("min_values", min_values.len(), num_pages)?;
        check_len("max_values", max_values.len(), num_pages)?;
        let counts = [("null_counts", &self.null_counts), ("nan_counts", &self.nan_counts)];
        for (name, counts) in counts {
            counts.as_ref().map_or(Ok(()), |counts| check_len(name, counts.len(), num_pages))?;
        }
        let bounds = min_values.iter().zip(&max_values);
        for (page, (is_null, (min, max))) in null_pages.iter().zip(bounds).enumerate() {
            let nulls = self.null_counts.as_ref().and_then(|counts| counts.get(page));
            // A page of empty lists has no values, and for some writers no nulls either.
            let lacks_nulls = nulls == Some(&0) && !is_repeated;
            if *is_null && (lacks_nulls || !min.is_empty() || !max.is_empty()) {
                return Err(Error::malformed(format!("page {page} is called all null, and has values")));
            }
        }
        Ok(ColumnIndex {
            bytes: Buffer::default(),
            bound_type: None,
            is_float: false,
            null_pages,
            min_values,
            max_values,
            null_counts: self.null_counts,
            nan_counts: self.nan_counts,
            boundary_order: match required(self.boundary_order, "ColumnIndex.boundary_order")? {
                1 => BoundaryOrder::Ascending,
                2 => BoundaryOrder::Descending,
                _ => BoundaryOrder::Unordered,
            },
        })
    }
}

/// Where the binaries of a list lie.
fn read_ranges(r: &mut Reader<'_>, field: Field) -> Result<Option<Vec<Range<u32>>>> {
    let Some(len) = r.list(field, Wire::Binary)? else { return Ok(None) };
    let mut ranges = Vec::with_capacity(len);
    for _ in 0..len {
        let value_len = r.binary_value()?.len();
        let position = |at: usize| {
            u32::try_from(at).map_err(|_| Error::malformed("a column index of more than 2^32-1 bytes"))
        };
        ranges.push(position(r.position() - value_len)?..position(r.position())?);
    }
    Ok(Some(ranges))
}

fn check_len(name: &str, len: usize, num_pages: usize) -> Result<()> {
    if len == num_pages {
        return Ok(());
    }
    Err(Error::malformed(format!("{len} {name} in the column index of {num_pages} pages")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{Bound, PhysicalType, Repetition, Schema, SchemaBuilder};
    use crate::thrift::write_struct;

    struct Lists {
        null_pages: Vec<bool>,
        min_values: Vec<Vec<u8>>,
        max_values: Vec<Vec<u8>>,
        null_counts: Option<Vec<i64>>,
        nan_counts: Option<Vec<i64>>,
    }

    /// Pages of 1 to 2, of nulls, and of 50 to 51.
    fn good() -> Lists {
        let values = |values: [Option<i32>; 3]| {
            values.map(|value| value.map_or(vec![], |value| value.to_le_bytes().to_vec())).to_vec()
        };
        Lists {
            null_pages: vec![false, true, false],
            min_values: values([Some(1), None, Some(50)]),
            max_values: values([Some(2), None, Some(51)]),
            null_counts: Some(vec![0, 2, 1]),
            nan_counts: None,
        }
    }

    fn schema(physical: PhysicalType) -> Schema {
        let mut builder = SchemaBuilder::new("root");
        builder.leaf("x", Repetition::Optional, physical);
        builder.finish().unwrap()
    }

    fn bytes(lists: &Lists) -> Vec<u8> {
        let mut out = Vec::new();
        write_struct(&mut out, |s| {
            s.bools(1, lists.null_pages.iter().copied());
            s.binaries(2, lists.min_values.iter().map(Vec::as_slice));
            s.binaries(3, lists.max_values.iter().map(Vec::as_slice));
            s.i32(4, 1);
            lists.null_counts.iter().for_each(|counts| s.i64s(5, counts.iter().copied()));
            s.i64s(6, [1, 2].into_iter());
            lists.nan_counts.iter().for_each(|counts| s.i64s(8, counts.iter().copied()));
        });
        out
    }

    fn parse(lists: &Lists, physical: PhysicalType) -> Result<ColumnIndex> {
        parse_for(&schema(physical), lists)
    }

    fn parse_for(schema: &Schema, lists: &Lists) -> Result<ColumnIndex> {
        let bytes = Buffer::from(bytes(lists));
        ColumnIndex::parse(bytes, schema.leaf(0).unwrap(), ColumnOrder::TypeDefined, 3)
    }

    fn refused(change: impl FnOnce(&mut Lists)) -> String {
        let mut lists = good();
        change(&mut lists);
        parse(&lists, PhysicalType::Int32).unwrap_err().to_string()
    }

    #[test]
    fn gives_bounds_and_counts_page_by_page() {
        let index = parse(&good(), PhysicalType::Int32).unwrap();
        assert_eq!((index.num_pages(), index.boundary_order()), (3, BoundaryOrder::Ascending));
        let page = index.page(2);
        assert_eq!((page.min, page.max), (Some(Bound::Int32(50)), Some(Bound::Int32(51))));
        assert_eq!((page.null_count, page.may_have_nan), (Some(1), false));
        assert!(index.is_null_page(1) && !index.is_null_page(0));
        assert_eq!((index.page(1).min, index.page(1).null_count), (None, Some(2)));
        assert_eq!((index.page(3), index.is_null_page(3)), (Statistics::default(), false));
    }

    #[test]
    fn lists_of_another_length_are_refused() {
        assert!(refused(|lists| lists.null_pages.truncate(2)).contains("2 null_pages"));
        assert!(refused(|lists| lists.min_values.truncate(2)).contains("2 min_values"));
        assert!(refused(|lists| lists.max_values.push(vec![0; 4])).contains("4 max_values"));
        assert!(refused(|lists| lists.null_counts = Some(vec![])).contains("0 null_counts"));
        assert!(refused(|lists| lists.nan_counts = Some(vec![0; 4])).contains("4 nan_counts"));
    }

    #[test]
    fn contradictions_are_refused() {
        assert!(refused(|lists| lists.null_counts = Some(vec![0, 0, 1])).contains("page 1"));
        assert!(refused(|lists| lists.null_pages[2] = true).contains("page 2"));
    }

    #[test]
    fn a_page_of_empty_lists_may_have_no_nulls() {
        let mut builder = SchemaBuilder::new("root");
        builder.leaf("x", Repetition::Repeated, PhysicalType::Int32);
        let lists = Lists { null_counts: Some(vec![0, 0, 1]), ..good() };
        let index = parse_for(&builder.finish().unwrap(), &lists).unwrap();
        assert!(index.is_null_page(1));
        assert_eq!(index.page(1).null_count, Some(0));
    }

    #[test]
    fn unknown_counts_stay_unknown() {
        let lists = Lists { null_counts: None, ..good() };
        assert_eq!(parse(&lists, PhysicalType::Int32).unwrap().page(0).null_count, None);
        let lists = Lists { null_counts: Some(vec![-1, -1, 3]), ..good() };
        let index = parse(&lists, PhysicalType::Int32).unwrap();
        assert_eq!([0, 1, 2].map(|page| index.page(page).null_count), [None, None, Some(3)]);
    }

    #[test]
    fn bounds_that_do_not_fit_the_column_are_none() {
        let index = parse(&good(), PhysicalType::Int64).unwrap();
        assert_eq!((index.page(0).min, index.page(0).null_count), (None, Some(0)));
        let index = parse(&good(), PhysicalType::Float).unwrap();
        assert!(index.page(0).may_have_nan);
        let counted = Lists { nan_counts: Some(vec![0, 0, 3]), ..good() };
        let index = parse(&counted, PhysicalType::Float).unwrap();
        assert!(!index.page(0).may_have_nan && index.page(2).may_have_nan);
    }

    #[test]
    fn every_truncation_is_an_error() {
        let (schema, bytes) = (schema(PhysicalType::Int32), bytes(&good()));
        for len in 0..bytes.len() {
            let node = schema.leaf(0).unwrap();
            let cut = Buffer::from(&bytes[..len]);
            assert!(ColumnIndex::parse(cut, node, ColumnOrder::TypeDefined, 3).is_err());
        }
    }
}
