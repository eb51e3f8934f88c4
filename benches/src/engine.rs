//! The two readers behind one face: bytes of a file and a question in, schema and batches out.

use std::env;
use std::fmt;
use std::fs;
use std::hint::black_box;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::arrow::array::{RecordBatch, RecordBatchReader};
use crate::arrow::schema::{ArrowError, DataType, SchemaRef};
use crate::arrow::select::concat::concat_batches;
use crate::rival::arrow::ProjectionMask;
use crate::rival::arrow::arrow_reader::{
    ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder, RowSelection,
};
use crate::rival::errors::ParquetError;
use crate::seeds::{Failure, caught};

/// Who reads, and from where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// The `parquet` crate, from memory.
    Rival,
    /// Marquetry from memory, by positional reads of a file, or from a mapped one.
    Buffer,
    Open,
    Map,
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
    /// Marquetry's three ways in.
    pub const OURS: [Engine; 3] = [Engine::Buffer, Engine::Open, Engine::Map];

    /// # Errors
    /// What the reader says, as text.
    pub fn read(self, bytes: &Bytes, ask: &Ask) -> Result<Answer, Failure> {
        match self {
            Engine::Rival => caught(|| read_rival(bytes, ask))
                .and_then(|outcome| outcome.map_err(|e| e.to_string()))
                .map_err(Failure::Rival),
            ours => read_ours(ours, bytes, ask).map_err(Failure::Wrong),
        }
    }

    /// Reads all and keeps nothing, as a query that only passes over a file does: the thing to time.
    ///
    /// # Errors
    /// What the reader says, as text.
    pub fn count_rows(self, bytes: &Bytes, ask: &Ask) -> Result<usize, Failure> {
        // Until the crate has a reader, the rival stands in for it.
        rival_reader(bytes, ask).and_then(count).map_err(|e| Failure::Rival(e.to_string()))
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
        let table = caught(|| concat_batches(&self.schema, &self.batches).map_err(|e| e.to_string()));
        table.and_then(|table| table).map_err(|e| format!("batches do not concatenate: {e}"))
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

/// Until the crate has a reader, the rival stands in for it.
fn read_ours(engine: Engine, bytes: &Bytes, ask: &Ask) -> Result<Answer, String> {
    let _file = (engine != Engine::Buffer).then(|| TemporaryFile::new(bytes));
    read_rival(bytes, ask).map_err(|e| e.to_string())
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
