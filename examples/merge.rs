//! Merges Parquet files of one schema into one.
//!
//! ```text
//! cargo run --release --example merge -- all.parquet part-*.parquet
//! cargo run --release --example merge -- --sort id --encode all.parquet part-*.parquet
//! ```
//!
//! Row groups are appended as they are, unless values must be looked at: to encode them anew, or to put rows in order.
//! However many and large the files are, one batch of each and one row group of the new file are in memory.

mod common;

use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use common::cli::{About, Failure, Program, missing, unexpected};
use common::human;
use common::k_way::KWay;
use common::progress::Progress;
use common::replace::replace;
use common::write_options::{self, Change};
use lexopt::prelude::*;
use marquetry::arrow::array::RecordBatch;
use marquetry::metadata::{Encoding, PhysicalType, SortingColumn};
use marquetry::{ColumnOptions, PageVersion, ParquetFile, ParquetWriter, WriteOptions};

fn main() -> ExitCode {
    PROGRAM.main()
}

pub(crate) const PROGRAM: Program = Program {
    name: "merge",
    help: "\
Merges Parquet files of one schema into one.

usage: merge [--encode] [--sort COLUMN] [options] OUT FILE...

  OUT                   the file to make; one that is there already is replaced when the new one is complete
  FILE...               the files to merge, in that order

  --encode              decodes and encodes all values, instead of copying row groups: columns of strings and
                        binaries as DELTA_BYTE_ARRAY, in pages of version 2
  --sort COLUMN         merges by this column, by which each FILE must be sorted upwards, nulls first: rows of one
                        key come in the order of the files. Encodes all values, as --encode does
  -h, --help            this text

and, where values are encoded:

  --codec NAME          uncompressed, snappy, gzip, zstd, lz4_raw or brotli (default: zstd)
  --level N             how hard the codec tries, on its own scale
  --v1, --v2            data pages of that version
  --page-rows N         rows of a page at most (default: 20000)
  --row-group-rows N    rows of a row group at most (default: 1048576)
  --no-dictionary       no column has a dictionary
  --encoding COLUMN=E   a column's encoding, as DELTA_BYTE_ARRAY, instead of a dictionary
  --bloom COLUMN        a Bloom filter for a column
  --total-order         bounds of floating-point columns are in the total order of IEEE 754
  --crc                 pages have checksums
",
    run: |mut args, out| {
        let mut changes = Vec::new();
        let (mut encode, mut sort, mut paths) = (false, None, Vec::new());
        while let Some(arg) = args.next()? {
            match arg {
                Long("encode") => encode = true,
                Long("sort") => sort = Some(args.value()?.string()?),
                Value(path) => paths.push(PathBuf::from(path)),
                Long(name) => {
                    let name = name.to_owned();
                    match write_options::option(&name, || args.value())? {
                        Some(change) => changes.push(change),
                        None => return Err(unexpected(Long(&name))),
                    }
                }
                other => return Err(unexpected(other)),
            }
        }
        let Some((to, paths)) = paths.split_first() else { return Err(missing("OUT")) };
        if paths.is_empty() {
            return Err(missing("FILE"));
        }
        let started = Instant::now();
        let files = open(paths)?;
        let job = Job { files: &files, paths, changes, sort, encode };
        let size = replace(to, |file| job.run(file)).about(to.display())?;
        let rows = files.iter().map(ParquetFile::num_rows).sum();
        summary(out, paths, rows, size, started)
    },
};

/// # Errors
/// When one cannot be read, or has another schema than the first.
fn open(paths: &[PathBuf]) -> Result<Vec<ParquetFile>, Failure> {
    let mut files: Vec<ParquetFile> = Vec::new();
    for path in paths {
        let file = ParquetFile::open(path).about(path.display())?;
        if let Some(first) = files.first()
            && first.schema().fields() != file.schema().fields()
        {
            let first = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
            return Err(format!("its schema is not that of {first}")).about(path.display());
        }
        files.push(file);
    }
    Ok(files)
}

struct Job<'a> {
    files: &'a [ParquetFile],
    paths: &'a [PathBuf],
    changes: Vec<Change>,
    sort: Option<String>,
    encode: bool,
}

impl Job<'_> {
    /// Writes the new file; gives its size.
    fn run(self, out: &mut File) -> Result<u64, Box<dyn Error>> {
        let Some(first) = self.files.first() else { return Err("no file to merge".into()) };
        let same = |file: &ParquetFile| file.metadata().schema() == first.metadata().schema();
        match self.sort.clone() {
            Some(column) => self.sort(out, first, &column),
            None if self.encode || !self.files.iter().all(same) => self.encode(out, first),
            None => self.append(out, first),
        }
    }

    /// Row groups as they are.
    fn append(self, out: &mut File, first: &ParquetFile) -> Result<u64, Box<dyn Error>> {
        let options = write_options::apply(WriteOptions::new(), self.changes);
        let mut writer = ParquetWriter::like(&mut *out, first, options)?;
        let mut progress = Progress::new("rows", self.files.iter().map(ParquetFile::num_rows).sum());
        for (file, path) in self.files.iter().zip(self.paths) {
            for index in 0..file.num_row_groups() {
                writer.append_row_group(file, index).map_err(|error| of(path, error))?;
                progress.add(file.row_group(index)?.num_rows());
            }
        }
        writer.close()?;
        Ok(out.metadata()?.len())
    }

    /// One file after another, decoded and encoded.
    fn encode(self, out: &mut File, first: &ParquetFile) -> Result<u64, Box<dyn Error>> {
        let options = write_options::apply(delta(first), self.changes);
        let mut writer = ParquetWriter::new(&mut *out, first.schema().clone(), options)?;
        let mut progress = Progress::new("rows", self.files.iter().map(ParquetFile::num_rows).sum());
        for (file, path) in self.files.iter().zip(self.paths) {
            for batch in file.scan().batch_size(BATCH_ROWS).build()? {
                let batch = batch.map_err(|error| of(path, error))?;
                writer.write(&batch)?;
                progress.add(batch.num_rows() as u64);
            }
        }
        writer.close()?;
        Ok(out.metadata()?.len())
    }

    /// All files at once, by a key.
    fn sort(self, out: &mut File, first: &ParquetFile, column: &str) -> Result<u64, Box<dyn Error>> {
        let schema = first.schema();
        let key = schema.index_of(column).map_err(|_| format!("no column is named {column:?}"))?;
        let leaf = common::leaf::find(first.metadata().schema(), column)?;
        let sorted =
            SortingColumn { column_index: i32::try_from(leaf)?, descending: false, nulls_first: true };
        let options = write_options::apply(delta(first), self.changes).sorting_columns([sorted]);
        let mut writer = ParquetWriter::new(&mut *out, schema.clone(), options)?;
        let mut progress = Progress::new("rows", self.files.iter().map(ParquetFile::num_rows).sum());
        let sources = self.files.iter().map(|file| file.scan().batch_size(BATCH_ROWS).build());
        let mut merge = KWay::new(sources.collect::<Result<Vec<_>, _>>()?, key, BATCH_ROWS)?;
        while let Some(batch) = merge.next_batch()? {
            let batch: RecordBatch = batch;
            writer.write(&batch)?;
            progress.add(batch.num_rows() as u64);
        }
        writer.close()?;
        Ok(out.metadata()?.len())
    }
}

const BATCH_ROWS: usize = 8192;

/// DELTA_BYTE_ARRAY for byte strings, and V2.
fn delta(file: &ParquetFile) -> WriteOptions {
    let schema = file.metadata().schema();
    let is_bytes = |leaf: &usize| {
        schema.leaf(*leaf).is_some_and(|node| node.physical_type() == Some(PhysicalType::ByteArray))
    };
    let encoding = ColumnOptions::new().encoding(Encoding::DeltaByteArray);
    (0..schema.num_leaves())
        .filter(is_bytes)
        .fold(WriteOptions::new().page_version(PageVersion::V2), |options, leaf| {
            options.column(schema.leaf_name(leaf), encoding.clone())
        })
}

fn of(path: &Path, error: impl Error) -> Box<dyn Error> {
    format!("{}: {}", path.display(), common::cli::chain(&error)).into()
}

fn summary(
    out: &mut dyn Write,
    paths: &[PathBuf],
    rows: u64,
    size: u64,
    started: Instant,
) -> Result<(), Failure> {
    let before: u64 = paths.iter().filter_map(|path| path.metadata().ok()).map(|found| found.len()).sum();
    writeln!(
        out,
        "{} of {}: {} became {} ({}) in {}",
        human::plural(rows, "row"),
        human::plural(paths.len() as u64, "file"),
        human::bytes(before),
        human::bytes(size),
        human::ratio(before, size),
        human::duration(started.elapsed())
    )?;
    Ok(())
}
