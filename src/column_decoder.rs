//! Pages to arrays with no file around them: for callers that keep encoded pages.

use crate::arrow::array::ArrayRef;
use crate::arrow::schema::Field;
use crate::column::{LeafDecoder, Mode, Step};
use crate::error::{Context, Error, Result};
use crate::file::ParquetFile;
use crate::logical::{Column, arrow_columns, project, with_output_type};
use crate::metadata::Schema;
use crate::nested;
use crate::page::{ChunkPlace, Page, PageOptions, PageReader, Pages};
use crate::scan::decoders;
use crate::source::Source;

/// What must be known of a column to decode its pages: the leaf's type and levels, and the lists and groups around it.
///
/// Take it from a file ([`ColumnChunk::descriptor`](crate::ColumnChunk::descriptor)), or from a schema.
#[derive(Debug, Clone)]
pub struct ColumnDescriptor {
    schema: std::sync::Arc<Schema>,
    column: Column,
    leaf: usize,
}

impl ColumnDescriptor {
    /// The descriptor of leaf `leaf` of `schema`.
    ///
    /// # Errors
    /// When there is no such leaf, or this crate cannot read it.
    pub fn new(schema: &Schema, leaf: usize) -> Result<Self> {
        Self::find(schema, &arrow_columns(schema, [], &|other| other == leaf), leaf)
    }

    pub(crate) fn of_leaf(file: &ParquetFile, leaf: usize) -> Result<Self> {
        Self::find(file.metadata().schema(), &file.columns_of(&|other| other == leaf), leaf)
    }

    fn find(schema: &Schema, columns: &[Column], leaf: usize) -> Result<Self> {
        let found = columns.iter().find(|column| column.leaves().contains(&leaf));
        let column = found.ok_or_else(|| Error::invalid(format!("no leaf {leaf}")))?;
        // A map cannot do without its keys; a leaf of one is decoded with its lists and groups alone.
        let column = project(column, &|other| other == leaf).unwrap_or_else(|| column.clone());
        column.check_supported(schema)?;
        Ok(ColumnDescriptor { schema: std::sync::Arc::new(schema.clone()), column, leaf })
    }

    /// The Arrow field that the column becomes by default.
    pub fn field(&self) -> &Field {
        &self.column.field
    }

    /// Maximum definition level of the leaf.
    pub fn max_definition_level(&self) -> u8 {
        self.schema.leaf(self.leaf).map_or(0, |node| node.definition_level)
    }

    /// Maximum repetition level of the leaf.
    pub fn max_repetition_level(&self) -> u8 {
        self.schema.leaf(self.leaf).map_or(0, |node| node.repetition_level)
    }

    /// The pages in `bytes`, which hold a column chunk's pages one after another and nothing else: `num_values` levels
    /// in all, `None` where nobody knows.
    ///
    /// # Errors
    /// None today; what is wrong with the bytes, the pages find.
    pub fn pages(
        &self,
        bytes: crate::arrow::buffer::Buffer,
        compression: crate::metadata::Compression,
        num_values: Option<u64>,
    ) -> Result<Pages> {
        let place = ChunkPlace {
            range: 0..bytes.len() as u64,
            slack: 0,
            codec: compression,
            num_values: num_values.unwrap_or(0),
            max_def: self.max_definition_level(),
            max_rep: self.max_repetition_level(),
        };
        let options = PageOptions { statistics: true, ..PageOptions::default() };
        let mut reader = PageReader::new(Source::Memory(bytes), place, options);
        if num_values.is_none() {
            reader.jump(0, 0);
        }
        Ok(Pages::new(reader))
    }
}

/// Decodes the pages of one column, of any number of column chunks one after another, into arrays.
///
/// ```no_run
/// # fn main() -> marquetry::Result<()> {
/// use marquetry::{ColumnDecoder, ParquetFile};
///
/// let chunk = ParquetFile::open("trips.parquet")?.row_group(0)?.column(3)?;
/// let descriptor = chunk.descriptor()?;
/// let mut column = ColumnDecoder::new(&descriptor, descriptor.field())?;
/// let mut pages = chunk.pages()?;
/// while let Some(page) = pages.next()? {
///     column.push(page);
/// }
/// column.finish_chunk();
/// column.skip(1000)?;
/// let ready = column.ready_rows()?;
/// let array = column.take(ready)?;
/// # Ok(()) }
/// ```
pub struct ColumnDecoder {
    column: Column,
    leaf: LeafDecoder,
}

impl ColumnDecoder {
    /// A decoder that gives arrays of `field`'s type.
    ///
    /// # Errors
    /// When the type cannot be had from the column.
    pub fn new(descriptor: &ColumnDescriptor, field: &Field) -> Result<Self> {
        let column = with_output_type(&descriptor.column, &descriptor.schema, field.data_type())?;
        let mut leaves = decoders(&descriptor.schema, &column)?;
        match (leaves.pop(), leaves.pop()) {
            (Some((_, leaf)), None) => Ok(ColumnDecoder { column, leaf }),
            _ => Err(Error::unsupported("a map, decoded from the pages of its values alone"))
                .in_column(|| descriptor.schema.leaf_name(descriptor.leaf)),
        }
    }

    /// Appends a page. Pages of a chunk come in their order, the dictionary page first.
    pub fn push(&mut self, page: Page) {
        self.leaf.push(page);
    }

    /// Says that the pages of a column chunk are complete. The last row of a list column is ready only then.
    pub fn finish_chunk(&mut self) {
        self.leaf.finish_chunk(None);
    }

    /// Rows that can be taken or skipped out of the pages pushed so far.
    ///
    /// # Errors
    /// When a page of a list column is broken: its rows are counted by decoding it.
    pub fn ready_rows(&mut self) -> Result<usize> {
        if self.leaf.is_flat() {
            return Ok(self.leaf.ready_rows() + self.leaf.queued_rows());
        }
        self.read(u64::MAX)?;
        Ok(self.leaf.ready_rows())
    }

    /// The next rows as an array: `rows` of them, or as many as are ready. Fewer come, too, where 32-bit offsets cannot
    /// hold more or another dictionary begins; the rest comes next.
    ///
    /// # Errors
    /// When a page is broken, or a single row is too large for the type.
    pub fn take(&mut self, rows: usize) -> Result<ArrayRef> {
        let missing = rows.saturating_sub(self.leaf.ready_rows());
        let full = self.read(missing as u64)? == Step::Full;
        let ready = self.leaf.ready_rows().min(rows);
        if ready == 0 && full {
            return Err(crate::ErrorKind::OffsetOverflow { use_instead: "LargeUtf8 or LargeBinary" }.into());
        }
        let taken = self.leaf.take(ready)?;
        nested::assemble(&self.column, &mut std::iter::once(taken))
    }

    /// Passes over the next rows: `rows` of them, or as many as are ready. Gives how many. Pages that no row is taken
    /// from are not decoded.
    ///
    /// # Errors
    /// When a page is broken.
    pub fn skip(&mut self, rows: usize) -> Result<usize> {
        let decoded = self.leaf.ready_rows().min(rows);
        self.leaf.discard(decoded)?;
        let wanted = (rows - decoded) as u64;
        let mut left = wanted;
        while left > 0 && self.leaf.advance(&mut left, Mode::Skip)? == Step::Done {
            if left == wanted {
                break;
            }
        }
        Ok(rows - usize::try_from(left).unwrap_or(0))
    }

    fn read(&mut self, rows: u64) -> Result<Step> {
        let mut left = rows;
        loop {
            let before = left;
            let step = self.leaf.advance(&mut left, Mode::Read)?;
            // The end of a chunk is `Done` too, and the next chunk's pages may be there.
            if step != Step::Done || left == 0 || left == before {
                return Ok(step);
            }
        }
    }
}

impl std::fmt::Debug for ColumnDecoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ColumnDecoder").field("field", &self.column.field).finish_non_exhaustive()
    }
}
