//! The two readers behind one face: bytes of a file and a question in, schema and batches out.

use std::env;
use std::fmt;
use std::fs;
use std::hint::black_box;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::arrow::array::{RecordBatch, RecordBatchReader};
use crate::arrow::buffer::Buffer;
use crate::arrow::cast::cast;
use crate::arrow::schema::{ArrowError, DataType, FieldRef, SchemaRef};
use crate::arrow::select::concat::{concat, concat_batches};
use crate::rival::arrow::ProjectionMask;
use crate::rival::arrow::arrow_reader::{
    ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use crate::rival::errors::ParquetError;
use crate::seeds::{Failure, caught};
use marquetry::{ParquetFile, Scan};

/// Who reads, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The `parquet` crate, from memory.
    Rival,
    /// Marquetry: from memory, by positional reads of a file, or from a mapped one.
    Buffer,
    Open,
    Map,
    /// Marquetry with the metadata and just the ranges of bytes that it says it needs.
    Ranges,
}

/// What is asked of a file.
#[derive(Debug, Clone)]
pub struct Ask {
    pub batch_size: usize,
    /// Paths with dots; `None` for all columns.
    pub columns: Option<Vec<String>>,
    pub row_groups: Option<Vec<usize>>,
    /// Rows of the file, ascending and apart.
    pub rows: Option<Vec<Range<u64>>>,
    pub offset: Option<usize>,
    pub limit: Option<usize>,
    /// Other types than the file's own; the rival does not take these.
    pub output_types: Vec<(String, DataType)>,
}

/// What a reader gave.
#[derive(Debug, Clone)]
pub struct Answer {
    pub schema: SchemaRef,
    pub batches: Vec<RecordBatch>,
}

impl Engine {
    /// Marquetry's ways in.
    pub const OURS: [Engine; 4] = [Engine::Buffer, Engine::Open, Engine::Map, Engine::Ranges];

    /// # Errors
    /// What the reader says, as text.
    pub fn read(self, bytes: &Bytes, ask: &Ask) -> Result<Answer, Failure> {
        match self {
            Engine::Rival => caught(|| read_rival(bytes, ask))
                .and_then(|outcome| outcome.map_err(|e| e.to_string()))
                .map_err(Failure::Rival),
            ours => ours.read_ours(bytes, ask).map_err(|e| Failure::Wrong(e.to_string())),
        }
    }

    /// Reads all and keeps nothing, as a query that only passes over a file does: the thing to time.
    ///
    /// # Errors
    /// What the reader says, as text.
    pub fn count_rows(self, bytes: &Bytes, ask: &Ask) -> Result<usize, Failure> {
        match self {
            Engine::Rival => {
                rival_reader(bytes, ask).and_then(count).map_err(|e| Failure::Rival(e.to_string()))
            }
            Engine::Buffer => {
                let count =
                    || count(scan(&ParquetFile::from_buffer(Buffer::from(bytes.clone()))?, ask).build()?);
                count().map_err(|e: ArrowError| Failure::Wrong(e.to_string()))
            }
            other => panic!("{other:?} is not timed"),
        }
    }

    fn read_ours(self, bytes: &Bytes, ask: &Ask) -> Result<Answer, ArrowError> {
        let buffer = Buffer::from(bytes.clone());
        let path = matches!(self, Engine::Open | Engine::Map).then(|| TemporaryFile::new(bytes));
        let path = path.as_ref().map(TemporaryFile::path).unwrap_or(Path::new(""));
        let file = match self {
            Engine::Open => ParquetFile::open(path)?,
            // SAFETY: the file is this call's own, and nothing changes it; on removal its bytes stay until unmapped.
            Engine::Map => unsafe { ParquetFile::map(path)? },
            Engine::Ranges => {
                let metadata = Arc::clone(ParquetFile::from_buffer(buffer.clone())?.metadata());
                let needs = scan(&ParquetFile::from_ranges(metadata.clone(), [])?, ask).byte_ranges()?;
                let slices = needs.into_iter().map(|range| {
                    let len = (range.end - range.start) as usize;
                    (range.start, buffer.slice_with_length(range.start as usize, len))
                });
                ParquetFile::from_ranges(metadata, slices)?
            }
            _ => ParquetFile::from_buffer(buffer)?,
        };
        collect(scan(&file, ask).build()?)
    }
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            batch_size: 8192,
            columns: None,
            row_groups: None,
            rows: None,
            offset: None,
            limit: None,
            output_types: Vec::new(),
        }
    }
}

impl Ask {
    pub fn batches_of(batch_size: usize) -> Self {
        Self { batch_size, ..Self::default() }
    }
}

/// What is not asked for by default.
impl fmt::Display for Ask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list = f.debug_struct("Ask");
        list.field("batch_size", &self.batch_size);
        macro_rules! show {
            ($($name:ident)*) => {
                $(if let Some($name) = &self.$name { list.field(stringify!($name), $name); })*
            };
        }
        show!(columns row_groups rows offset limit);
        if !self.output_types.is_empty() {
            list.field("output_types", &self.output_types);
        }
        list.finish()
    }
}

impl Answer {
    /// All batches as one.
    ///
    /// # Errors
    /// Batches that do not have the reader's schema.
    pub fn table(&self) -> Result<RecordBatch, String> {
        let table = caught(|| match concat_batches(&self.schema, &self.batches) {
            Ok(table) => Ok(table),
            // Keys of 8 bits cannot number the dictionaries of all batches, if they can the values in them.
            Err(_) => self.table_of_distinct(),
        });
        table
            .and_then(|table| table.map_err(|e| e.to_string()))
            .map_err(|e| format!("batches do not concatenate: {e}"))
    }

    fn table_of_distinct(&self) -> Result<RecordBatch, ArrowError> {
        let columns = self.schema.fields().iter().enumerate().map(|(column, field)| {
            let unpacked = without_dictionaries(field.data_type());
            let parts = self.batches.iter().map(|batch| cast(batch.column(column), &unpacked));
            let parts = parts.collect::<Result<Vec<_>, _>>()?;
            let all = concat(&parts.iter().map(AsRef::as_ref).collect::<Vec<_>>())?;
            cast(&all, field.data_type())
        });
        RecordBatch::try_new(self.schema.clone(), columns.collect::<Result<_, _>>()?)
    }
}

fn without_dictionaries(data_type: &DataType) -> DataType {
    let child = |field: &FieldRef| {
        let data_type = without_dictionaries(field.data_type());
        Arc::new(field.as_ref().clone().with_data_type(data_type))
    };
    match data_type {
        DataType::Dictionary(_, value) => value.as_ref().clone(),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(child).collect()),
        DataType::List(item) => DataType::List(child(item)),
        DataType::LargeList(item) => DataType::LargeList(child(item)),
        DataType::FixedSizeList(item, len) => DataType::FixedSizeList(child(item), *len),
        DataType::Map(entries, sorted) => DataType::Map(child(entries), *sorted),
        other => other.clone(),
    }
}

fn read_rival(bytes: &Bytes, ask: &Ask) -> Result<Answer, ParquetError> {
    collect(rival_reader(bytes, ask)?)
}

fn rival_reader(bytes: &Bytes, ask: &Ask) -> Result<ParquetRecordBatchReader, ParquetError> {
    let mut builder =
        ParquetRecordBatchReaderBuilder::try_new(bytes.clone())?.with_batch_size(ask.batch_size);
    if let Some(columns) = &ask.columns {
        let mask = ProjectionMask::columns(builder.parquet_schema(), columns.iter().map(String::as_str));
        builder = builder.with_projection(mask);
    }
    if let Some(row_groups) = &ask.row_groups {
        builder = builder.with_row_groups(row_groups.clone());
    }
    if let Some(rows) = &ask.rows {
        let num_rows = builder.metadata().file_metadata().num_rows() as usize;
        let ranges = rows.iter().map(|range| range.start as usize..range.end as usize);
        builder = builder.with_row_selection(RowSelection::from_consecutive_ranges(ranges, num_rows));
    }
    if let Some(offset) = ask.offset {
        builder = builder.with_offset(offset);
    }
    if let Some(limit) = ask.limit {
        builder = builder.with_limit(limit);
    }
    builder.build()
}

fn collect<E: From<ArrowError>>(reader: impl RecordBatchReader) -> Result<Answer, E> {
    let schema = reader.schema();
    let batches = reader.collect::<Result<Vec<_>, _>>()?;
    Ok(Answer { schema, batches })
}

fn count<E: From<ArrowError>>(reader: impl RecordBatchReader) -> Result<usize, E> {
    let mut num_rows = 0;
    for batch in reader {
        num_rows += black_box(batch?).num_rows();
    }
    Ok(num_rows)
}

fn scan(file: &ParquetFile, ask: &Ask) -> Scan {
    let mut scan = file.scan().batch_size(ask.batch_size);
    if let Some(columns) = &ask.columns {
        scan = scan.columns(columns.iter().cloned());
    }
    if let Some(row_groups) = &ask.row_groups {
        scan = scan.row_groups(row_groups.iter().copied());
    }
    if let Some(rows) = &ask.rows {
        scan = scan.rows(rows.iter().cloned());
    }
    if let Some(offset) = ask.offset {
        scan = scan.offset(offset as u64);
    }
    if let Some(limit) = ask.limit {
        scan = scan.limit(limit as u64);
    }
    for (column, data_type) in &ask.output_types {
        scan = scan.output_type(column, data_type.clone());
    }
    scan
}

/// A file that goes when this does.
pub struct TemporaryFile(PathBuf);

impl TemporaryFile {
    /// # Panics
    /// Where the folder of temporary files cannot be written.
    pub fn new(bytes: &[u8]) -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("marquetry-versus-{}-{count}.parquet", process::id()));
        fs::write(&path, bytes).unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
