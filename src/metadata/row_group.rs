//! Row groups: what is decoded of each with the footer, and the way to its column chunks.
//!
//! Of a column chunk only the position within the footer is noted; [`RowGroupMetadata::column`] decodes it.

use std::fmt;
use std::ops::Range;

use super::{ColumnChunkMetadata, FileMetadata};
use crate::error::{Context, Error, Result};
use crate::thrift::{Field, Reader, Wire, required};

/// What is decoded of a row group.
#[derive(Default)]
pub(super) struct RowGroup {
    /// Its part of `chunk_positions`.
    pub(super) chunks: Range<usize>,
    pub(super) num_rows: u64,
    total_byte_size: u64,
    file_offset: Option<i64>,
    total_compressed_size: Option<i64>,
    ordinal: Option<i16>,
    sorting_columns: Box<[SortingColumn]>,
}

/// One row group of a file.
#[derive(Clone, Copy)]
pub struct RowGroupMetadata<'m> {
    pub(super) file: &'m FileMetadata,
    pub(super) row_group: &'m RowGroup,
    pub(super) index: usize,
}

/// `SortingColumn` of `parquet.thrift`, as it is in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct SortingColumn {
    /// Which leaf, counted from 0.
    pub column_index: i32,
    /// Whether values fall.
    pub descending: bool,
    /// Whether nulls come first.
    pub nulls_first: bool,
}

impl<'m> RowGroupMetadata<'m> {
    /// Which row group of the file it is, counted from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Rows in it.
    pub fn num_rows(&self) -> u64 {
        self.row_group.num_rows
    }

    /// Bytes of all its values once decompressed. As the file says (0 where it says less).
    pub fn total_byte_size(&self) -> u64 {
        self.row_group.total_byte_size
    }

    /// Bytes of all its pages, where the file says so.
    pub fn total_compressed_size(&self) -> Option<i64> {
        self.row_group.total_compressed_size
    }

    /// Offset in the file of its first page, where the file says so.
    pub fn file_offset(&self) -> Option<i64> {
        self.row_group.file_offset
    }

    /// Its ordinal, where the file says one.
    pub fn ordinal(&self) -> Option<i16> {
        self.row_group.ordinal
    }

    /// How its rows are sorted: by the first of these, ties by the next. Empty where the file does not say.
    pub fn sorting_columns(&self) -> &'m [SortingColumn] {
        &self.row_group.sorting_columns
    }

    /// How many column chunks it has. A good file has one for each leaf of the schema.
    pub fn num_columns(&self) -> usize {
        self.row_group.chunks.len()
    }

    /// Decodes the column chunk of leaf `leaf`.
    ///
    /// # Errors
    /// When there is no such leaf, the row group has not one chunk for each leaf, its metadata is encrypted, lacks a
    /// required field, has a negative count, or another physical type than the schema.
    pub fn column(&self, leaf: usize) -> Result<ColumnChunkMetadata> {
        self.decode(leaf).in_row_group(self.index).in_column(|| self.file.schema().leaf_name(leaf))
    }

    fn decode(&self, leaf: usize) -> Result<ColumnChunkMetadata> {
        let file = self.file;
        let (chunks, leaves) = (self.num_columns(), file.schema().num_leaves());
        let Some(node) = file.schema().leaf(leaf) else {
            return Err(Error::invalid(format!("there is no leaf {leaf}: the schema has {leaves}")));
        };
        if chunks != leaves {
            return Err(Error::malformed(format!(
                "{chunks} column chunks, where the schema has {leaves} leaves"
            )));
        }
        let position = file.chunk_position(self.row_group.chunks.start + leaf);
        let position = position.ok_or_else(|| Error::malformed("a column chunk that is not there"))?;
        let chunk = ColumnChunkMetadata::decode(file.footer(), position, file.column_order(leaf))?;
        match node.physical_type() {
            Some(physical) if physical != chunk.physical => Err(Error::malformed(format!(
                "a column chunk of {}, where the schema says {physical}",
                chunk.physical
            ))),
            _ => Ok(chunk),
        }
    }
}

pub(super) fn read_row_group(reader: &mut Reader<'_>, positions: &mut Vec<u32>) -> Result<RowGroup> {
    let mut group = RowGroup::default();
    let (mut has_columns, mut num_rows) = (false, None);
    reader.structure(|r, field| {
        match field.id {
            1 => {
                let Some(len) = r.list(field, Wire::Struct)? else { return Ok(()) };
                has_columns = true;
                group.chunks = read_chunk_positions(r, len, positions)?;
            }
            2 => group.total_byte_size = r.i64(field)?.unwrap_or(0).max(0).unsigned_abs(),
            3 => num_rows = r.i64(field)?,
            4 => group.sorting_columns = read_sorting_columns(r, field)?,
            5 => group.file_offset = r.i64(field)?,
            6 => group.total_compressed_size = r.i64(field)?,
            7 => group.ordinal = r.i16(field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    required(has_columns.then_some(()), "RowGroup.columns")?;
    let num_rows = required(num_rows, "RowGroup.num_rows")?;
    group.num_rows =
        u64::try_from(num_rows).map_err(|_| Error::malformed(format!("RowGroup.num_rows is {num_rows}")))?;
    Ok(group)
}

fn read_chunk_positions(r: &mut Reader<'_>, len: usize, positions: &mut Vec<u32>) -> Result<Range<usize>> {
    let start = positions.len();
    positions.reserve(len);
    // `max_footer_len` is a u32, so positions fit. Each begins where the one before ends.
    let mut next = u32::try_from(r.position()).unwrap_or(u32::MAX);
    r.skip_structs(len, |end| {
        positions.push(next);
        next = u32::try_from(end).unwrap_or(u32::MAX);
    })?;
    Ok(start..positions.len())
}

/// An entry that lacks a field is not one; the others after it would then mean something else, so none are kept.
fn read_sorting_columns(r: &mut Reader<'_>, field: Field) -> Result<Box<[SortingColumn]>> {
    let len = r.list(field, Wire::Struct)?.unwrap_or(0);
    let mut all = Some(Vec::new());
    for _ in 0..len {
        let (mut column_index, mut descending, mut nulls_first) = (None, None, None);
        r.structure(|r, field| {
            match field.id {
                1 => column_index = r.i32(field)?,
                2 => descending = r.bool(field)?,
                3 => nulls_first = r.bool(field)?,
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        let column =
            column_index.zip(descending).zip(nulls_first).map(|((column_index, descending), nulls_first)| {
                SortingColumn { column_index, descending, nulls_first }
            });
        all = all.zip(column).map(|(mut all, column)| {
            all.push(column);
            all
        });
    }
    Ok(all.unwrap_or_default().into())
}

impl fmt::Debug for RowGroupMetadata<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowGroupMetadata")
            .field("index", &self.index)
            .field("num_rows", &self.num_rows())
            .field("num_columns", &self.num_columns())
            .finish_non_exhaustive()
    }
}
