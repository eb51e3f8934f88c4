//! Record batches to a file: row groups, page indexes, footer.

use std::io::Write;
use std::sync::Arc;

use super::column::{Chunk, ColumnWriter};
use super::levels::shred;
use super::options::WriteOptions;
use super::page::Workspace;
use super::page_index::PageIndex;
use super::resolve::LeafOptions;
use super::schema::{Node, file_schema, nodes};
use super::sink::Sink;
use crate::arrow::array::RecordBatch;
use crate::arrow::buffer::Buffer;
use crate::arrow::schema::SchemaRef;
use crate::error::{Context, Error, Result};
use crate::file::ParquetFile;
use crate::logical::{ARROW_SCHEMA_KEY, stored_schema};
use crate::metadata::{
    ColumnChunkMetadata, FOOTER_TAIL_LEN, FileMetadata, FooterWriter, KeyValue, MAGIC, Schema, SortingColumn,
};

/// Writes record batches to a Parquet file.
///
/// A row group is kept, encoded, until it is complete, and written then: memory is bounded by one row group's encoded
/// size ([`ParquetWriter::memory_size`]). The footer is written by [`ParquetWriter::close`] alone. A writer that is
/// dropped before, or fails, leaves something that no reader takes for a file; after a failure every further call fails.
///
/// The same batches and options give the same bytes.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use std::sync::Arc;
/// use marquetry::arrow::array::{Int64Array, RecordBatch};
/// use marquetry::{ParquetFile, ParquetWriter, WriteOptions};
///
/// let ids = Int64Array::from(vec![1, 2, 3]);
/// let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as _)])?;
///
/// let mut bytes = Vec::new(); // any `std::io::Write`: it gets whole pages, and needs no buffer
/// let mut writer = ParquetWriter::new(&mut bytes, batch.schema(), WriteOptions::new())?;
/// writer.write(&batch)?;
/// let metadata = writer.close()?;
/// assert_eq!(metadata.num_rows(), 3);
///
/// let file = ParquetFile::from_buffer(bytes.into())?;
/// assert_eq!(file.scan().build()?.next().unwrap()?, batch);
/// # Ok(()) }
/// ```
pub struct ParquetWriter<W: Write> {
    sink: Sink<W>,
    schema: SchemaRef,
    file_schema: Schema,
    options: WriteOptions,
    leaf_options: Vec<LeafOptions>,
    nodes: Vec<Node>,
    columns: Vec<ColumnWriter>,
    workspace: Workspace,
    row_groups: Vec<RowGroup>,
    /// Key-value metadata of another file that this one is made like; else that of the schema and the options.
    key_values: Option<Vec<KeyValue>>,
    /// Rows of the row group that is being filled.
    num_rows: usize,
    has_failed: bool,
}

/// A row group that is written, but for its page index.
pub(super) struct RowGroup {
    pub(super) num_rows: u64,
    pub(super) columns: Vec<ColumnChunkMetadata>,
    pub(super) page_indexes: Vec<PageIndex>,
    pub(super) sorting_columns: Vec<SortingColumn>,
}

/// Rows that are written before a limit of bytes is looked at.
const ROWS_AT_ONCE: usize = 1 << 16;

impl<W: Write> ParquetWriter<W> {
    /// Begins a file of batches with that schema.
    ///
    /// # Errors
    /// When the schema has a type that Parquet has no place for, the options do not fit it, or `write` fails.
    pub fn new(write: W, schema: SchemaRef, options: WriteOptions) -> Result<Self> {
        let nodes = nodes(schema.fields())?;
        let file_schema = file_schema(&nodes)?;
        let leaf_options = options.leaves(&file_schema)?;
        Self::begin(write, schema, options, nodes, file_schema, leaf_options)
    }

    /// Begins a file that is made like another: of its schema to the letter, its key-value metadata, and its orders of
    /// bounds, so that all its row groups can be appended. Batches can be written where their columns become that same
    /// schema, which is not so of schemas that other writers make otherwise.
    ///
    /// # Errors
    /// When the options do not fit the schema, or `write` fails.
    pub fn like(write: W, file: &ParquetFile, options: WriteOptions) -> Result<Self> {
        let metadata = file.metadata();
        let file_schema = metadata.schema().clone();
        let mut leaf_options = options.leaves(&file_schema)?;
        for (leaf, options) in leaf_options.iter_mut().enumerate() {
            options.column_order = metadata.column_order(leaf);
        }
        let same = |nodes: &Vec<Node>| {
            self::file_schema(nodes).is_ok_and(|schema| is_same_schema(&schema, &file_schema))
        };
        let nodes = nodes(file.schema().fields()).ok().filter(same).unwrap_or_default();
        let mut writer =
            Self::begin(write, file.schema().clone(), options, nodes, file_schema, leaf_options)?;
        writer.key_values = Some(metadata.key_value_metadata().to_vec());
        Ok(writer)
    }

    fn begin(
        write: W,
        schema: SchemaRef,
        options: WriteOptions,
        nodes: Vec<Node>,
        file_schema: Schema,
        leaf_options: Vec<LeafOptions>,
    ) -> Result<Self> {
        let num_leaves = leaf_options.len();
        let is_leaf = |index: i32| usize::try_from(index).is_ok_and(|index| index < num_leaves);
        if let Some(wrong) = options.sorting_columns.iter().find(|column| !is_leaf(column.column_index)) {
            let index = wrong.column_index;
            return Err(Error::invalid(format!("sorted by leaf {index} of {num_leaves}")));
        }
        let mut workspace = Workspace::default();
        for (leaf, options) in leaf_options.iter().enumerate() {
            workspace.prepare(options).in_column(|| file_schema.leaf_name(leaf))?;
        }
        let mut leaves = Vec::new();
        nodes.iter().for_each(|node| node.leaves(&mut leaves));
        let columns = leaves.iter().zip(&leaf_options).enumerate().filter_map(|(index, (leaf, options))| {
            let node = file_schema.leaf(index)?;
            Some(ColumnWriter::new(node, &leaf.data_type, options.clone()))
        });
        let columns = columns.collect();
        let mut sink = Sink::new(write);
        sink.write(&MAGIC)?;
        Ok(ParquetWriter {
            sink,
            schema,
            file_schema,
            options,
            leaf_options,
            nodes,
            columns,
            workspace,
            row_groups: Vec::new(),
            key_values: None,
            num_rows: 0,
            has_failed: false,
        })
    }

    /// Writes the rows of `batch`, whose columns must have the names and types of the schema, in its order.
    ///
    /// # Errors
    /// When they have others, a value does not fit its Parquet type, or writing fails.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<()> {
        self.check_schema(batch)?;
        self.guarded(|writer| writer.write_rows(batch))
    }

    /// Ends the row group that is being filled, if it has rows.
    ///
    /// # Errors
    /// When writing fails.
    pub fn flush_row_group(&mut self) -> Result<()> {
        self.guarded(Self::end_row_group)
    }

    /// Ends the file; gives what its footer says.
    ///
    /// # Errors
    /// When writing fails; then there is no file.
    pub fn close(mut self) -> Result<Arc<FileMetadata>> {
        self.guarded(|writer| {
            writer.end_row_group()?;
            writer.write_page_indexes()?;
            writer.write_footer()
        })
    }

    /// The schema of the file.
    pub fn schema(&self) -> &Schema {
        &self.file_schema
    }

    /// Rows written, those of the row group that is being filled included.
    pub fn num_rows(&self) -> u64 {
        self.row_groups.iter().map(|row_group| row_group.num_rows).sum::<u64>() + self.num_rows as u64
    }

    /// Bytes that the sink has got.
    pub fn bytes_written(&self) -> u64 {
        self.sink.position()
    }

    /// Bytes of the row group that is being filled: what [`ParquetWriter::flush_row_group`] would write, at about most.
    /// Buffers that each column needs beside come to a page or two.
    pub fn memory_size(&self) -> usize {
        self.columns.iter().map(ColumnWriter::byte_len).fold(0, usize::saturating_add)
    }

    fn check_schema(&self, batch: &RecordBatch) -> Result<()> {
        if self.nodes.len() < self.schema.fields().len() {
            return Err(Error::unsupported(
                "batches in a file whose schema is made otherwise than theirs would be",
            ));
        }
        let schema = batch.schema();
        let (fields, expected) = (schema.fields(), self.schema.fields());
        if fields.len() != expected.len() {
            let (n, expected) = (fields.len(), expected.len());
            return Err(Error::invalid(format!("a batch of {n} columns for a file of {expected}")));
        }
        for (field, expected) in fields.iter().zip(expected) {
            if field.name() != expected.name() {
                let (found, wanted) = (field.name(), expected.name());
                return Err(Error::invalid(format!("a column {found:?} where the file has {wanted:?}")));
            }
            let (found, wanted) = (field.data_type(), expected.data_type());
            if !found.equals_datatype(wanted) {
                return Err(Error::invalid(format!("a column of {found} where the file has {wanted}")))
                    .in_column(|| expected.name().clone());
            }
        }
        Ok(())
    }

    /// Runs what may fail; after a failure nothing runs any more.
    fn guarded<T>(&mut self, run: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.has_failed {
            return Err(Error::invalid("writing has failed before: what there is, is no file"));
        }
        let result = run(self);
        self.has_failed = result.is_err();
        result
    }

    fn write_rows(&mut self, batch: &RecordBatch) -> Result<()> {
        let at_once = if self.options.row_group_bytes < usize::MAX { ROWS_AT_ONCE } else { usize::MAX };
        let mut start = 0;
        while start < batch.num_rows() {
            let left = self.options.row_group_rows - self.num_rows;
            let len = (batch.num_rows() - start).min(left).min(at_once);
            self.write_slice(&batch.slice(start, len)).in_row_group(self.row_groups.len())?;
            start += len;
            let is_full = self.num_rows >= self.options.row_group_rows
                || self.memory_size() >= self.options.row_group_bytes;
            if is_full {
                self.end_row_group()?;
            }
        }
        Ok(())
    }

    fn write_slice(&mut self, batch: &RecordBatch) -> Result<()> {
        let mut leaf = 0;
        let mut slots = Vec::new();
        for (node, array) in self.nodes.iter().zip(batch.columns()) {
            shred(node, array, &mut slots)?;
            for slots in slots.drain(..) {
                if let Some(column) = self.columns.get_mut(leaf) {
                    let written = column.write(&slots, &mut self.workspace);
                    written.in_column(|| self.file_schema.leaf_name(leaf))?;
                }
                leaf += 1;
            }
        }
        self.num_rows += batch.num_rows();
        Ok(())
    }

    fn end_row_group(&mut self) -> Result<()> {
        if self.num_rows == 0 {
            return Ok(());
        }
        let index = self.row_groups.len();
        let mut row_group = RowGroup {
            num_rows: self.num_rows as u64,
            columns: Vec::new(),
            page_indexes: Vec::new(),
            sorting_columns: self.options.sorting_columns.clone(),
        };
        let mut bloom_filters = Vec::new();
        for (leaf, column) in self.columns.iter_mut().enumerate() {
            let name = || self.file_schema.leaf_name(leaf);
            let chunk = column.finish(&mut self.workspace).in_row_group(index).in_column(name)?;
            bloom_filters.push(chunk.bloom_filter.clone());
            write_chunk(&mut self.sink, chunk, &mut row_group)?;
        }
        for (chunk, bloom_filter) in row_group.columns.iter_mut().zip(bloom_filters) {
            if let Some(bytes) = bloom_filter {
                chunk.set_bloom_filter(self.sink.write(&bytes)?)?;
            }
        }
        self.row_groups.push(row_group);
        self.num_rows = 0;
        Ok(())
    }

    /// All column indexes, then all offset indexes, as other writers have them: who reads the footer from the end of the
    /// file gets them with it.
    fn write_page_indexes(&mut self) -> Result<()> {
        for row_group in &mut self.row_groups {
            for (chunk, index) in row_group.columns.iter_mut().zip(&row_group.page_indexes) {
                if let Some(bytes) = &index.column_index {
                    chunk.set_column_index(self.sink.write(bytes)?)?;
                }
            }
        }
        let mut bytes = Vec::new();
        for row_group in &mut self.row_groups {
            for (chunk, index) in row_group.columns.iter_mut().zip(&row_group.page_indexes) {
                if let Some(index) = &index.offset_index {
                    bytes.clear();
                    index.write(&mut bytes);
                    chunk.set_offset_index(self.sink.write(&bytes)?)?;
                }
            }
        }
        Ok(())
    }

    fn write_footer(&mut self) -> Result<Arc<FileMetadata>> {
        let mut footer = FooterWriter::new(self.file_schema.clone());
        footer.key_value_metadata = self.key_values();
        footer.column_orders = self.leaf_options.iter().map(|options| options.column_order).collect();
        if let Some(created_by) = &self.options.created_by {
            footer.created_by.clone_from(created_by);
        }
        for row_group in self.row_groups.drain(..) {
            footer.row_group(row_group.num_rows, row_group.columns)?;
            footer.sort_last(row_group.sorting_columns);
        }
        let mut bytes = Vec::new();
        footer.finish(&mut bytes)?;
        // Parsed first: what this crate would not read is not written.
        let len = bytes.len() - FOOTER_TAIL_LEN;
        let metadata = FileMetadata::parse(Buffer::from(bytes.get(..len).unwrap_or_default()))?;
        self.sink.write(&bytes)?;
        self.sink.flush()?;
        Ok(Arc::new(metadata))
    }

    /// The metadata of the Arrow schema in the order of its keys, then what the options say, then the schema itself.
    fn key_values(&self) -> Vec<KeyValue> {
        if let Some(copied) = &self.key_values {
            return copied.iter().chain(&self.options.key_values).cloned().collect();
        }
        let mut entries: Vec<KeyValue> = Vec::new();
        for (key, value) in self.schema.metadata().iter().filter(|(key, _)| *key != ARROW_SCHEMA_KEY) {
            entries.push(KeyValue { key: key.clone(), value: Some(value.clone()) });
        }
        entries.sort_by(|a, b| a.key.cmp(&b.key));
        entries.extend(self.options.key_values.iter().cloned());
        if self.options.arrow_schema {
            let value = Some(stored_schema(self.schema.fields()));
            entries.push(KeyValue { key: ARROW_SCHEMA_KEY.to_owned(), value });
        }
        entries
    }
}

/// What appending row groups needs; in a file of its own.
impl<W: Write> ParquetWriter<W> {
    /// Ends the row group that is being filled, writes what `run` writes, and adds the row group that it gives.
    pub(super) fn append(
        &mut self,
        run: impl FnOnce(&mut Sink<W>, &[LeafOptions]) -> Result<RowGroup>,
    ) -> Result<()> {
        self.guarded(|writer| {
            writer.end_row_group()?;
            let row_group = run(&mut writer.sink, &writer.leaf_options)?;
            writer.row_groups.push(row_group);
            Ok(())
        })
    }
}

/// Whether two schemas are the same but for the name of the root, which means nothing.
pub(super) fn is_same_schema(a: &Schema, b: &Schema) -> bool {
    a.nodes().len() == b.nodes().len() && a.nodes().iter().zip(b.nodes()).skip(1).all(|(a, b)| a == b)
}

/// Writes the pages of a chunk, and adds it to its row group.
fn write_chunk<W: Write>(sink: &mut Sink<W>, chunk: Chunk, row_group: &mut RowGroup) -> Result<()> {
    let start = sink.position();
    for segment in chunk.segments {
        sink.write(&segment)?;
    }
    let data = start + chunk.dictionary_len;
    let mut metadata = chunk.metadata;
    let dictionary = (chunk.dictionary_len > 0).then_some(start);
    metadata.set_pages(dictionary, data, start + chunk.byte_len)?;
    let mut page_index = chunk.page_index;
    page_index.offset_index = page_index.offset_index.map(|index| index.moved(|offset| data + offset));
    row_group.columns.push(metadata);
    row_group.page_indexes.push(page_index);
    Ok(())
}

impl<W: Write> std::fmt::Debug for ParquetWriter<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetWriter")
            .field("num_rows", &self.num_rows())
            .field("num_row_groups", &self.row_groups.len())
            .field("bytes_written", &self.bytes_written())
            .finish_non_exhaustive()
    }
}
