//! Row groups of other files, copied as they are: pages are not decoded, what says where they lie is moved.
//!
//! Bounds come along only where they mean the same here as there.

use std::io::Write;

use super::file::{ParquetWriter, RowGroup, is_same_schema};
use super::page_index::PageIndex;
use super::resolve::LeafOptions;
use super::sink::Sink;
use crate::error::{Context, Error, Result};
use crate::file::{ColumnChunk, ParquetFile};
use crate::metadata::{ColumnChunkMetadata, PhysicalType, SortingColumn};

impl<W: Write> ParquetWriter<W> {
    /// Appends a row group of another file, whose schema must be this file's: its pages, byte for byte, its statistics,
    /// page index and Bloom filters. What was written before becomes a row group of its own.
    ///
    /// Options that say how pages look do not count for it. A page index or Bloom filter that cannot be read is left out.
    ///
    /// # Errors
    /// When the schemas differ, the other file has no such row group or it cannot be read, or writing fails.
    pub fn append_row_group(&mut self, file: &ParquetFile, index: usize) -> Result<()> {
        self.check_same_schema(file)?;
        let row_group = file.row_group(index)?;
        let chunks = (0..file.metadata().schema().num_leaves()).map(|leaf| row_group.column(leaf));
        let chunks: Vec<ColumnChunk> = chunks.collect::<Result<_>>()?;
        let sorting_columns = row_group.metadata()?.sorting_columns().to_vec();
        self.append_chunks(row_group.num_rows(), &chunks, sorting_columns)
    }

    /// Appends a row group of column chunks that may come from several files: one for each leaf, in order, all of row
    /// groups of as many rows.
    ///
    /// # Errors
    /// As [`ParquetWriter::append_row_group`], and when the chunks are not such.
    pub fn append_columns(&mut self, chunks: &[ColumnChunk]) -> Result<()> {
        let leaves = self.schema().num_leaves();
        if chunks.len() != leaves {
            let n = chunks.len();
            return Err(Error::invalid(format!("{n} column chunks for a schema of {leaves} leaves")));
        }
        let num_rows = chunks.first().map_or(Ok(0), ColumnChunk::num_rows)?;
        for (leaf, chunk) in chunks.iter().enumerate() {
            let name = || self.schema().leaf_name(leaf);
            if self.schema().leaf(leaf) != Some(chunk.node()?) {
                return Err(Error::invalid("a column chunk of another type, place or annotation"))
                    .in_column(name);
            }
            let rows = chunk.num_rows()?;
            if rows != num_rows {
                return Err(Error::invalid(format!(
                    "a column chunk of {rows} rows beside one of {num_rows}"
                )))
                .in_column(name);
            }
        }
        self.append_chunks(num_rows, chunks, Vec::new())
    }

    fn check_same_schema(&self, file: &ParquetFile) -> Result<()> {
        match is_same_schema(self.schema(), file.metadata().schema()) {
            true => Ok(()),
            false => Err(Error::invalid("a row group of a file with another schema")),
        }
    }

    fn append_chunks(
        &mut self,
        num_rows: u64,
        chunks: &[ColumnChunk],
        sorting_columns: Vec<SortingColumn>,
    ) -> Result<()> {
        chunks.iter().try_for_each(|chunk| chunk.metadata().check_readable())?;
        self.append(|sink, options| {
            let mut row_group =
                RowGroup { num_rows, columns: Vec::new(), page_indexes: Vec::new(), sorting_columns };
            for (chunk, options) in chunks.iter().zip(options) {
                let (metadata, page_index) = copy_chunk(sink, chunk, options)?;
                row_group.columns.push(metadata);
                row_group.page_indexes.push(page_index);
            }
            for (metadata, chunk) in row_group.columns.iter_mut().zip(chunks) {
                if let Ok(Some((_, bytes))) = chunk.bloom_filter_bytes() {
                    metadata.set_bloom_filter(sink.write(&bytes)?)?;
                }
            }
            Ok(row_group)
        })
    }
}

/// Writes the pages of `chunk`; gives its metadata and page index as they are from here on.
fn copy_chunk<W: Write>(
    sink: &mut Sink<W>,
    chunk: &ColumnChunk,
    options: &LeafOptions,
) -> Result<(ColumnChunkMetadata, PageIndex)> {
    let source = chunk.metadata();
    let bytes = chunk.bytes()?;
    let here = sink.write(&bytes)?;
    let there = source.byte_range()?.start;
    // Offsets of a chunk are never before its start.
    let moved = |offset: u64| here.start + offset.saturating_sub(there);
    let mut metadata = ColumnChunkMetadata::new(source.physical, source.compression);
    let data = u64::try_from(source.data_page_offset()).unwrap_or(there);
    let dictionary = source.dictionary_page_offset().map(moved);
    metadata.set_pages(dictionary, moved(data).min(here.end), here.end)?;
    metadata.encodings.clone_from(&source.encodings);
    metadata.num_values = source.num_values;
    metadata.total_uncompressed_size = source.total_uncompressed_size;
    metadata.key_value_metadata.clone_from(&source.key_value_metadata);
    metadata.statistics.clone_from(&source.statistics);
    metadata.encoding_stats.clone_from(&source.encoding_stats);
    metadata.size_statistics.clone_from(&source.size_statistics);
    metadata.geospatial_statistics.clone_from(&source.geospatial_statistics);
    metadata.column_order = options.column_order;
    let same_order = source.column_order == options.column_order;
    drop_untrusted(&mut metadata, same_order);
    let mut page_index = PageIndex::default();
    if let Ok(Some(offsets)) = chunk.offset_index() {
        page_index.offset_index = Some(offsets.moved(moved));
        if same_order && matches!(chunk.column_index(), Ok(Some(_))) {
            page_index.column_index = chunk.column_index_bytes()?.map(|bytes| bytes.to_vec());
        }
    }
    Ok((metadata, page_index))
}

/// Bounds whose order is another here, and those of strings that readers distrust by the name of who wrote them: that
/// name is another now (PARQUET-251).
fn drop_untrusted(metadata: &mut ColumnChunkMetadata, same_order: bool) {
    let is_bytes = matches!(metadata.physical, PhysicalType::ByteArray | PhysicalType::FixedLenByteArray);
    let Some(statistics) = &mut metadata.statistics else { return };
    if is_bytes {
        (statistics.min, statistics.max) = (None, None);
    }
    if !same_order {
        (statistics.min_value, statistics.max_value) = (None, None);
        (statistics.is_min_value_exact, statistics.is_max_value_exact) = (None, None);
    }
}
