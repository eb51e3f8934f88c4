//! A file, its row groups and its column chunks, as handles that keep it open. (`ParquetFile::map` stands in
//! `raw/mmap.rs`, with all that is `unsafe`.)

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::arrow::buffer::Buffer;
use crate::arrow::schema::SchemaRef;
use crate::column_decoder::ColumnDescriptor;
use crate::compression;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::logical::{ArrowSchema, Column, arrow_columns, arrow_schema, project};
use crate::metadata::{
    BloomFilter, ColumnChunkMetadata, ColumnIndex, FOOTER_TAIL_LEN, FileMetadata, NodeKind, OffsetIndex,
    RowGroupMetadata, SchemaNode, Statistics,
};
use crate::options::ReadOptions;
use crate::page::{ChunkPlace, PageOptions, PageReader, Pages};
use crate::scan::Scan;
use crate::source::Source;

/// An open Parquet file: its metadata, and a way to its bytes. Cheap to clone, `Send` and `Sync`.
///
/// ```no_run
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use marquetry::ParquetFile;
///
/// let file = ParquetFile::open("trips.parquet")?;
/// println!("{} rows of {}", file.num_rows(), file.schema());
/// for batch in file.scan().columns(["city", "fare.amount"]).build()? {
///     println!("{} rows", batch?.num_rows());
/// }
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ParquetFile {
    shared: Arc<Shared>,
}

struct Shared {
    source: Source,
    metadata: Arc<FileMetadata>,
    options: ReadOptions,
}

impl ParquetFile {
    /// Opens a file that is read by position, as pages are needed. Safe whatever happens to the file.
    ///
    /// # Errors
    /// When it cannot be opened or read, or does not end with a Parquet footer.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        ReadOptions::new().open(path)
    }

    /// A file that is in memory already.
    ///
    /// # Errors
    /// When it does not end with a Parquet footer.
    pub fn from_buffer(bytes: Buffer) -> Result<Self> {
        ReadOptions::new().from_buffer(bytes)
    }

    /// A file of which the caller reads what is needed: metadata, and any ranges of bytes by their offset. Reading
    /// what was not handed in is an error. [`Scan::byte_ranges`] tells what a scan will need.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # use std::sync::Arc;
    /// # use marquetry::{ParquetFile, metadata::FileMetadata, arrow::buffer::Buffer};
    /// # fn fetch(range: std::ops::Range<u64>) -> Buffer { unimplemented!() }
    /// # let footer: Buffer = unimplemented!();
    /// let metadata = Arc::new(FileMetadata::parse(footer)?);
    /// let ranges = ParquetFile::from_ranges(metadata.clone(), [])?.scan().columns(["city"]).byte_ranges()?;
    /// let fetched = ranges.into_iter().map(|range| (range.start, fetch(range)));
    /// let file = ParquetFile::from_ranges(metadata, fetched)?;
    /// let reader = file.scan().columns(["city"]).build()?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// None today; a range that contradicts the metadata is found when it is read.
    pub fn from_ranges(
        metadata: Arc<FileMetadata>,
        ranges: impl IntoIterator<Item = (u64, Buffer)>,
    ) -> Result<Self> {
        let source = Source::from_ranges(ranges.into_iter().collect(), u64::MAX);
        ParquetFile::new(source, ReadOptions::new().metadata(metadata))
    }

    pub(crate) fn open_with(path: &Path, options: ReadOptions) -> Result<Self> {
        ParquetFile::new(Source::open(path)?, options)
    }

    pub(crate) fn from_buffer_with(bytes: Buffer, options: ReadOptions) -> Result<Self> {
        ParquetFile::new(Source::Memory(bytes), options)
    }

    fn new(source: Source, options: ReadOptions) -> Result<Self> {
        let metadata = match &options.metadata {
            Some(metadata) => metadata.clone(),
            None => Arc::new(read_metadata(&source, &options)?),
        };
        Ok(ParquetFile { shared: Arc::new(Shared { source, metadata, options }) })
    }

    /// The Arrow schema of the whole file. A column that cannot be read is in it, with type Null; see
    /// [`ParquetFile::capabilities`].
    pub fn schema(&self) -> &SchemaRef {
        &self.arrow().schema
    }

    /// What the file says of itself. Keep it to open the same file again without parsing.
    pub fn metadata(&self) -> &Arc<FileMetadata> {
        &self.shared.metadata
    }

    /// Rows of all row groups together.
    pub fn num_rows(&self) -> u64 {
        self.shared.metadata.num_rows()
    }

    /// How many row groups there are.
    pub fn num_row_groups(&self) -> usize {
        self.shared.metadata.num_row_groups()
    }

    /// Row group `index`, counted from 0.
    ///
    /// # Errors
    /// When there is none.
    pub fn row_group(&self, index: usize) -> Result<RowGroup> {
        self.shared.metadata.row_group(index)?;
        Ok(RowGroup { file: self.clone(), index })
    }

    /// Begins a scan: choose columns, row groups, rows and types, then [`Scan::build`].
    pub fn scan(&self) -> Scan {
        Scan::new(self.clone())
    }

    /// Which columns can be read, without reading any.
    pub fn capabilities(&self) -> Vec<Capability> {
        let columns = self.columns().iter();
        columns
            .map(|column| Capability {
                column: column.field.name().clone(),
                readable: self.check_column(column),
            })
            .collect()
    }

    fn check_column(&self, column: &Column) -> Result<()> {
        column.check_supported(self.metadata().schema())?;
        for index in 0..self.num_row_groups() {
            let row_group = self.row_group(index)?;
            for leaf in column.leaves() {
                row_group.column(leaf)?.check().in_row_group(index).in_column(|| self.leaf_name(leaf))?;
            }
        }
        Ok(())
    }

    pub(crate) fn source(&self) -> &Source {
        &self.shared.source
    }

    /// The Arrow schema, made when it is first asked for, and once for all who share the metadata.
    fn arrow(&self) -> &ArrowSchema {
        let metadata = &self.shared.metadata;
        metadata.arrow_schema.get_or_init(|| Arc::new(arrow_schema(metadata.schema(), key_values(metadata))))
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.arrow().columns
    }

    /// [`ParquetFile::columns`] with only the leaves that `keep` asks for; of a wide file, at the price of those.
    pub(crate) fn columns_of(&self, keep: &dyn Fn(usize) -> bool) -> Vec<Column> {
        let metadata = &self.shared.metadata;
        match metadata.arrow_schema.get() {
            Some(arrow) => arrow.columns.iter().filter_map(|column| project(column, keep)).collect(),
            None => arrow_columns(metadata.schema(), key_values(metadata), keep),
        }
    }

    pub(crate) fn leaf_name(&self, leaf: usize) -> String {
        self.metadata().schema().leaf_name(leaf)
    }
}

impl std::fmt::Debug for ParquetFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ParquetFile").field("metadata", self.metadata()).finish_non_exhaustive()
    }
}

fn key_values(metadata: &FileMetadata) -> impl Iterator<Item = (&str, Option<&str>)> + Clone {
    metadata.key_value_metadata().iter().map(|pair| (pair.key.as_str(), pair.value.as_deref()))
}

fn read_metadata(source: &Source, options: &ReadOptions) -> Result<FileMetadata> {
    let len = source.len();
    let Some(tail_at) = len.checked_sub(FOOTER_TAIL_LEN as u64) else {
        return Err(ErrorKind::NotParquet(format!("{len} bytes are too few")).into());
    };
    // One read brings tail and footer of most files.
    let guess = if source.lends() { tail_at } else { len.saturating_sub(FOOTER_GUESS) };
    let end = source.read(guess..len)?;
    let Some(tail) = end.last_chunk::<FOOTER_TAIL_LEN>() else {
        return Err(Error::end_of_data("the end of the file", FOOTER_TAIL_LEN, end.len()));
    };
    let range = FileMetadata::footer_range(len, *tail)?;
    let footer = if range.start >= guess {
        let start = usize::try_from(range.start - guess).unwrap_or(usize::MAX);
        end.slice_with_length(start, end.len() - FOOTER_TAIL_LEN - start)
    } else {
        source.read(range.clone())?
    };
    FileMetadata::parse_with(footer, &options.metadata_limits).offset_from(range.start)
}

/// Bytes read at once from the end of a file.
const FOOTER_GUESS: u64 = 64 << 10;

/// Whether a column can be read.
#[derive(Debug)]
#[non_exhaustive]
pub struct Capability {
    /// Name of the top-level column.
    pub column: String,
    /// The error that reading it would give, as far as the metadata tells.
    pub readable: Result<()>,
}

/// A row group of an open file.
#[derive(Debug, Clone)]
pub struct RowGroup {
    file: ParquetFile,
    index: usize,
}

impl RowGroup {
    /// What the footer says of it.
    ///
    /// # Errors
    /// None for a row group that came from its file.
    pub fn metadata(&self) -> Result<RowGroupMetadata<'_>> {
        self.file.metadata().row_group(self.index)
    }

    /// Its place in the file, counted from 0.
    pub fn index(&self) -> usize {
        self.index
    }

    /// Its rows.
    pub fn num_rows(&self) -> u64 {
        self.metadata().map_or(0, |metadata| metadata.num_rows())
    }

    /// The column chunk of leaf `leaf`, counted from 0.
    ///
    /// # Errors
    /// When there is no such leaf, or the footer's entry for the chunk is broken.
    pub fn column(&self, leaf: usize) -> Result<ColumnChunk> {
        let schema = self.file.metadata().schema();
        if leaf >= schema.num_leaves() {
            return Err(Error::invalid(format!("column {leaf} of {}", schema.num_leaves())));
        }
        let metadata = self.metadata()?.column(leaf);
        let metadata = metadata.in_row_group(self.index).in_column(|| self.file.leaf_name(leaf))?;
        Ok(ColumnChunk { file: self.file.clone(), row_group: self.index, leaf, metadata })
    }
}

/// A column chunk of an open file.
#[derive(Debug, Clone)]
pub struct ColumnChunk {
    file: ParquetFile,
    row_group: usize,
    leaf: usize,
    metadata: ColumnChunkMetadata,
}

impl ColumnChunk {
    /// What the footer says of it.
    pub fn metadata(&self) -> &ColumnChunkMetadata {
        &self.metadata
    }

    /// Which leaf it belongs to.
    pub fn leaf(&self) -> usize {
        self.leaf
    }

    /// Rows of its row group.
    ///
    /// # Errors
    /// None for a chunk that came from its file.
    pub fn num_rows(&self) -> Result<u64> {
        Ok(self.file.metadata().row_group(self.row_group)?.num_rows())
    }

    /// The leaf's node of the schema.
    ///
    /// # Errors
    /// None for a chunk that came from its file.
    pub fn node(&self) -> Result<&SchemaNode> {
        let schema = self.file.metadata().schema();
        schema.leaf(self.leaf).ok_or_else(|| Error::invalid(format!("column {}", self.leaf)))
    }

    /// What a [`ColumnDecoder`](crate::ColumnDecoder) must know of it.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub fn descriptor(&self) -> Result<ColumnDescriptor> {
        ColumnDescriptor::of_leaf(&self.file, self.leaf)
    }
    /// Its pages, one after another.
    ///
    /// # Errors
    /// When the chunk is encrypted, lies in another file, or has no sensible place in this one.
    pub fn pages(&self) -> Result<Pages> {
        Ok(Pages::new(self.page_reader(true)?))
    }

    /// All its bytes, pages with their headers, as they are in the file.
    ///
    /// # Errors
    /// As [`ColumnChunk::pages`], and when they cannot be read.
    pub fn bytes(&self) -> Result<Buffer> {
        let range = self.place(self.metadata.byte_range())?;
        let slack = slack(self.file.metadata().created_by());
        let end = if slack == 0 { range.end } else { self.pages_end(&range) };
        self.read(range.start..end)
    }

    /// Where the last page ends, for writers that added up wrongly; not before the end that they tell.
    fn pages_end(&self, range: &Range<u64>) -> u64 {
        let walk = || {
            let mut pages = self.page_reader(false)?;
            while pages.peek()?.is_some() {
                pages.skip()?;
            }
            Ok::<u64, Error>(pages.position())
        };
        // Broken pages are for whoever decodes them to find.
        walk().unwrap_or(range.end).min(self.file.source().len()).max(range.end)
    }

    /// Its bounds and counts, as far as they can be trusted; what is unknown is `None`.
    ///
    /// # Errors
    /// None for a chunk that came from its file.
    pub fn statistics(&self) -> Result<Statistics> {
        Ok(self.metadata.typed_statistics(self.node()?))
    }

    /// Its column index: bounds of each page. Read when asked for, with the offset index, which says how many pages
    /// there are.
    ///
    /// # Errors
    /// When it cannot be read or contradicts itself. Data pages can be read without it.
    pub fn column_index(&self) -> Result<Option<ColumnIndex>> {
        let Some(range) = self.place(self.metadata.column_index_range())? else { return Ok(None) };
        let Some(offsets) = self.offset_index()? else { return Ok(None) };
        let (bytes, node) = (self.read(range.clone())?, self.node()?);
        let index = ColumnIndex::parse(bytes, node, self.metadata.column_order, offsets.pages().len());
        self.place(index.at_offset(range.start)).map(Some)
    }

    /// The bytes of its column index.
    pub(crate) fn column_index_bytes(&self) -> Result<Option<Buffer>> {
        self.place(self.metadata.column_index_range())?.map(|range| self.read(range)).transpose()
    }

    /// Its Bloom filter. Read when asked for.
    ///
    /// # Errors
    /// When it cannot be read, or is of a kind that this crate does not know.
    pub fn bloom_filter(&self) -> Result<Option<BloomFilter>> {
        let Some((offset, bytes)) = self.bloom_filter_bytes()? else { return Ok(None) };
        self.place(BloomFilter::parse(bytes).at_offset(offset)).map(Some)
    }

    /// Where its Bloom filter lies, and its bytes, header and bitset.
    pub(crate) fn bloom_filter_bytes(&self) -> Result<Option<(u64, Buffer)>> {
        let Some((offset, len)) = self.place(self.metadata.bloom_filter_position())? else { return Ok(None) };
        let len = match len {
            Some(len) => len,
            None => {
                let end = offset.saturating_add(BLOOM_HEADER).min(self.file.source().len());
                let header = self.read(offset..end)?;
                self.place(BloomFilter::byte_len(&header).at_offset(offset))?
            }
        };
        Ok(Some((offset, self.read(offset..offset.saturating_add(len))?)))
    }

    /// Its offset index: where each page lies and which row it begins with. Read when asked for.
    ///
    /// # Errors
    /// When it cannot be read or contradicts itself. Data pages can be read without it.
    pub fn offset_index(&self) -> Result<Option<OffsetIndex>> {
        let Some(range) = self.place(self.metadata.offset_index_range())? else { return Ok(None) };
        let bytes = self.read(range.clone())?;
        self.place(OffsetIndex::parse(&bytes).offset_from(range.start)).map(Some)
    }
    /// Whether it can be read, as far as the metadata tells.
    pub(crate) fn check(&self) -> Result<()> {
        self.metadata.check_readable()?;
        compression::is_available(self.metadata.compression)?;
        match self.metadata.encodings.iter().find(|e| matches!(e, crate::metadata::Encoding::Unknown(_))) {
            Some(encoding) => Err(Error::unsupported(format!("encoding {encoding}"))),
            None => Ok(()),
        }
    }

    pub(crate) fn page_reader(&self, statistics: bool) -> Result<PageReader> {
        let options = &self.file.shared.options;
        let options =
            PageOptions { verify_crc: options.verify_crc, max_page_size: options.max_page_size, statistics };
        Ok(PageReader::new(self.file.source().clone(), self.chunk_place()?, options))
    }

    /// Where the chunk's bytes may lie, what its pages share.
    pub(crate) fn chunk_place(&self) -> Result<ChunkPlace> {
        let node = self.node()?;
        if let NodeKind::Leaf { physical, .. } = node.kind
            && physical != self.metadata.physical
        {
            return self.place(Err(Error::malformed(format!(
                "the column chunk is of type {}, its schema says {physical}",
                self.metadata.physical
            ))));
        }
        Ok(ChunkPlace {
            range: self.place(self.metadata.byte_range())?,
            slack: slack(self.file.metadata().created_by()),
            codec: self.metadata.compression,
            num_values: self.metadata.num_values,
            max_def: node.definition_level,
            max_rep: node.repetition_level,
        })
    }

    fn read(&self, range: Range<u64>) -> Result<Buffer> {
        self.place(self.file.source().read(range))
    }

    /// Adds where this chunk is to an error.
    pub(crate) fn place<T>(&self, result: Result<T>) -> Result<T> {
        result.in_row_group(self.row_group).in_column(|| self.file.leaf_name(self.leaf))
    }
}

/// Bytes that every Bloom filter header fits in.
const BLOOM_HEADER: u64 = 256;

/// How many bytes a chunk may be longer than it says. parquet-mr up to 1.2.8, and Impala of that time, left the
/// dictionary page's header out of the sum (PARQUET-816); parquet-java and Arrow C++ allow the same 100 bytes.
fn slack(created_by: Option<&str>) -> u64 {
    let Some(created_by) = created_by else { return 0 };
    let mut words = created_by.split_whitespace();
    let application = words.next().unwrap_or_default();
    let version = words.find(|word| word.starts_with(|c: char| c.is_ascii_digit())).unwrap_or_default();
    let mut numbers = version.split('.').map(|part| {
        part.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default().parse::<u32>().unwrap_or(0)
    });
    let version = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
    match application {
        "parquet-mr" if version <= [1, 2, 8] => 100,
        "impala" if version <= [1, 2, 8] => 100,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_old_writers_get_slack() {
        assert_eq!(slack(Some("parquet-mr version 1.2.8 (build abc)")), 100);
        assert_eq!(slack(Some("parquet-mr version 1.2.9")), 0);
        assert_eq!(slack(Some("impala version 1.2.0-SNAPSHOT (build 1)")), 100);
        assert_eq!(slack(Some("parquet-cpp version 1.0.0")), 0);
        assert_eq!(slack(Some("")), 0);
        assert_eq!(slack(None), 0);
    }

    #[test]
    fn a_file_is_shared_between_threads() {
        fn check<T: Send + Sync + Clone>() {}
        check::<ParquetFile>();
        check::<ColumnChunk>();
    }
}
