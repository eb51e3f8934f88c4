//! What to read of a file, and how.
//!
//! Takes the metadata and the caller's wishes (columns, row groups, rows, types), gives a plan, and from the plan a
//! reader. Nothing is read here but offset indexes, where rows are chosen.

mod leaf_reader;
mod plan;
mod projection;
mod reader;

use std::ops::Range;

pub use reader::ScanReader;
pub(crate) use reader::decoders;

use crate::arrow::schema::DataType;
use crate::error::Result;
use crate::file::ParquetFile;
use projection::{ColumnWish, Projection};

/// Which columns and rows of a file to read, as what. Everything has a default: all of it, as the file says.
#[derive(Debug, Clone)]
pub struct Scan {
    file: ParquetFile,
    /// `None`: all columns.
    columns: Option<Vec<ColumnWish>>,
    types: Vec<(String, DataType)>,
    row_groups: Option<Vec<usize>>,
    rows: Option<Vec<Range<u64>>>,
    offset: u64,
    limit: Option<u64>,
    batch_size: usize,
}

impl Scan {
    pub(crate) fn new(file: ParquetFile) -> Self {
        Scan {
            file,
            columns: None,
            types: Vec::new(),
            row_groups: None,
            rows: None,
            offset: 0,
            limit: None,
            batch_size: DEFAULT_BATCH_SIZE,
        }
    }

    /// Reads these columns only. A name is that of a top-level column if there is one (of each, if there are several);
    /// else the dotted path of a column or group within others. The groups that lists and maps put between
    /// (`list`, `key_value`) may be left out. Columns come in the file's order. No names at all: batches without
    /// columns, that count rows. Called again, it adds to what was chosen.
    ///
    /// ```no_run
    /// # fn main() -> marquetry::Result<()> {
    /// # let file = marquetry::ParquetFile::open("trips.parquet")?;
    /// let reader = file.scan().columns(["city", "fare.amount", "stops.element.zone"]).build()?;
    /// # Ok(()) }
    /// ```
    pub fn columns<S: Into<String>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.columns
            .get_or_insert_default()
            .extend(names.into_iter().map(|name| ColumnWish::Name(name.into())));
        self
    }

    /// Reads these columns, each given as the names from the top-level field down: for names with dots in them.
    pub fn paths<P: AsRef<[S]>, S: AsRef<str>>(mut self, paths: impl IntoIterator<Item = P>) -> Self {
        let owned =
            |path: P| ColumnWish::Path(path.as_ref().iter().map(|name| name.as_ref().to_owned()).collect());
        self.columns.get_or_insert_default().extend(paths.into_iter().map(owned));
        self
    }

    /// Reads these leaves, counted from 0 as the columns of a row group are.
    pub fn leaves(mut self, leaves: impl IntoIterator<Item = usize>) -> Self {
        self.columns.get_or_insert_default().extend(leaves.into_iter().map(ColumnWish::Leaf));
        self
    }

    /// Gives a column (a top-level name, or the dotted path of a leaf) as `data_type`: views, large types,
    /// dictionaries, other units and widths.
    pub fn output_type(mut self, column: impl Into<String>, data_type: DataType) -> Self {
        self.types.push((column.into(), data_type));
        self
    }

    /// Reads these row groups only, in this order.
    pub fn row_groups(mut self, row_groups: impl IntoIterator<Item = usize>) -> Self {
        self.row_groups = Some(row_groups.into_iter().collect());
        self
    }

    /// Reads these rows only, counted from 0 over the whole file; ranges may touch or overlap and come in any order.
    /// What lies in row groups that are not read is left out.
    pub fn rows(mut self, ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        self.rows = Some(ranges.into_iter().collect());
        self
    }

    /// Passes over this many of the chosen rows first. Default: 0.
    pub fn offset(mut self, rows: u64) -> Self {
        self.offset = rows;
        self
    }

    /// Reads at most this many of the chosen rows. Default: no limit.
    pub fn limit(mut self, rows: u64) -> Self {
        self.limit = Some(rows);
        self
    }

    /// Rows of a batch, at most. Default: 8192.
    pub fn batch_size(mut self, rows: usize) -> Self {
        self.batch_size = rows;
        self
    }

    /// The ranges of bytes that the scan will read, sorted and merged where they touch. The footer is not among them.
    ///
    /// # Errors
    /// As [`Scan::build`].
    pub fn byte_ranges(&self) -> Result<Vec<Range<u64>>> {
        let projection = self.projection()?;
        plan::byte_ranges(&self.file, &projection.leaves(), &self.plan()?)
    }

    /// Makes the reader.
    ///
    /// # Errors
    /// When a column is unknown or cannot be read, a type cannot be had, a row group or row does not exist, or the
    /// batch size is 0.
    pub fn build(self) -> Result<ScanReader> {
        if self.batch_size == 0 {
            return Err(crate::Error::invalid("a batch size of 0 rows"));
        }
        let projection = self.projection()?;
        ScanReader::new(&self.file, projection, self.plan()?, self.batch_size)
    }

    fn projection(&self) -> Result<Projection> {
        Projection::new(&self.file, self.columns.as_deref(), &self.types)
    }

    fn plan(&self) -> Result<plan::Plan> {
        let rows = plan::Rows {
            row_groups: self.row_groups.as_deref(),
            ranges: self.rows.as_deref(),
            offset: self.offset,
            limit: self.limit,
        };
        plan::Plan::new(self.file.metadata(), &rows)
    }
}

/// Rows of a batch where nobody says otherwise.
const DEFAULT_BATCH_SIZE: usize = 8192;
