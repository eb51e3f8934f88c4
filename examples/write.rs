//! Writes a Parquet file from CSV, or from rows that it makes up.
//!
//! ```text
//! cargo run --release --example write -- trips.csv trips.parquet
//! cargo run --release --example write -- --rows 1000000 made-up.parquet --encoding url=DELTA_BYTE_ARRAY
//! ```
//!
//! The first thousand records of a CSV file decide the type of each column: whole numbers, numbers, true and false, or
//! text. An empty field is null.

mod common;

use std::error::Error;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use common::cli::{About, Failure, Program, missing, unexpected};
use common::human;
use common::progress::Progress;
use common::replace::replace;
use common::write_options::{self, Change};
use lexopt::prelude::*;
use marquetry::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use marquetry::arrow::schema::{DataType, Field, Schema, SchemaRef};
use marquetry::{ParquetWriter, WriteOptions};

fn main() -> ExitCode {
    PROGRAM.main()
}

pub(crate) const PROGRAM: Program = Program {
    name: "write",
    help: "\
Writes a Parquet file from CSV, or from rows that it makes up.

usage: write [options] CSV OUT
       write [options] --rows N OUT

  CSV                   a file of records with a line of names before them; the first thousand records decide the
                        types
  OUT                   the file to make; one that is there already is replaced when the new one is complete

  --rows N              makes up so many rows: id, name, url, city, price, sold, sold_at
  --delimiter C         what stands between two fields of CSV (default: a comma)
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
  -h, --help            this text
",
    run: |mut args, out| {
        let (mut rows, mut delimiter) = (None, b',');
        let (mut changes, mut paths) = (Vec::new(), Vec::new());
        while let Some(arg) = args.next()? {
            match arg {
                Long("rows") => rows = Some(args.value()?.parse::<u64>()?),
                Long("delimiter") => delimiter = one_byte(&args.value()?.string()?)?,
                Value(path) if paths.len() < 2 => paths.push(PathBuf::from(path)),
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
        let started = Instant::now();
        let (subject, to, written) = match (rows, &paths[..]) {
            (Some(rows), [to]) => (to, to, replace(to, |file| write_made_up(file, rows, changes))),
            (None, [csv, to]) => (csv, to, replace(to, |file| write_csv(csv, delimiter, file, changes))),
            (Some(_), [_, other, ..]) => {
                return Err(Failure::Usage(format!("{} besides --rows", other.display())));
            }
            _ => return Err(missing(if rows.is_some() || paths.len() == 1 { "OUT" } else { "CSV" })),
        };
        let (rows, size) = written.about(subject.display())?;
        let took = human::duration(started.elapsed());
        writeln!(out, "{}: {}, {} in {took}", to.display(), human::plural(rows, "row"), human::bytes(size))?;
        Ok(())
    },
};

fn one_byte(text: &str) -> Result<u8, Failure> {
    match text.as_bytes() {
        [byte] => Ok(*byte),
        _ => Err(Failure::Usage(format!("{text:?} is not one byte"))),
    }
}

/// Rows and bytes written.
type Written = Result<(u64, u64), Box<dyn Error>>;

/// Records that are looked at before the first is written.
const SAMPLE: usize = 1000;
/// Records of a batch.
const BATCH: usize = 8192;

fn write_csv(path: &Path, delimiter: u8, out: &mut File, changes: Vec<Change>) -> Written {
    let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_path(path)?;
    let names = reader.headers()?.clone();
    let mut progress = Progress::new("bytes", path.metadata()?.len());
    let mut position = 0;
    let mut records = Vec::with_capacity(BATCH);
    let mut record = csv::StringRecord::new();
    while records.len() < SAMPLE && reader.read_record(&mut record)? {
        records.push(record.clone());
    }
    let types = (0..names.len()).map(|column| guess(&records, column));
    let fields: Vec<Field> = names.iter().zip(types).map(|(name, t)| Field::new(name, t, true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let options = write_options::apply(WriteOptions::new(), changes);
    let mut writer = ParquetWriter::new(&mut *out, schema.clone(), options)?;
    loop {
        let more = reader.read_record(&mut record)?;
        if !more || records.len() >= BATCH {
            writer.write(&batch(&schema, &records)?)?;
            progress.add(reader.position().byte() - position);
            position = reader.position().byte();
            records.clear();
        }
        if !more {
            break;
        }
        records.push(record.clone());
    }
    let metadata = writer.close()?;
    Ok((metadata.num_rows(), out.metadata()?.len()))
}

/// The narrowest type that all fields of a column have.
fn guess(records: &[csv::StringRecord], column: usize) -> DataType {
    let fields = || records.iter().filter_map(|record| record.get(column)).filter(|field| !field.is_empty());
    if fields().next().is_none() {
        DataType::Utf8
    } else if fields().all(|field| field.parse::<i64>().is_ok()) {
        DataType::Int64
    } else if fields().all(|field| field.parse::<f64>().is_ok()) {
        DataType::Float64
    } else if fields().all(|field| field.parse::<bool>().is_ok()) {
        DataType::Boolean
    } else {
        DataType::Utf8
    }
}

fn batch(schema: &SchemaRef, records: &[csv::StringRecord]) -> Result<RecordBatch, Box<dyn Error>> {
    let columns =
        schema.fields().iter().enumerate().map(|(column, field)| -> Result<ArrayRef, Box<dyn Error>> {
            let fields = || records.iter().map(|record| record.get(column).filter(|field| !field.is_empty()));
            let parse_error = |text: &str| {
                format!(
                    "{text:?} in column {} is not {}: the first {SAMPLE} records were",
                    field.name(),
                    field.data_type()
                )
            };
            macro_rules! parsed {
                ($array:ty, $native:ty) => {{
                    let parse = |field: Option<&str>| {
                        field.map(|text| text.parse::<$native>().map_err(|_| parse_error(text))).transpose()
                    };
                    let values: Vec<Option<$native>> = fields().map(parse).collect::<Result<_, _>>()?;
                    Arc::new(<$array>::from(values))
                }};
            }
            Ok(match field.data_type() {
                DataType::Int64 => parsed!(Int64Array, i64),
                DataType::Float64 => parsed!(Float64Array, f64),
                DataType::Boolean => parsed!(BooleanArray, bool),
                _ => Arc::new(StringArray::from_iter(fields())),
            })
        });
    Ok(RecordBatch::try_new(schema.clone(), columns.collect::<Result<_, _>>()?)?)
}

fn write_made_up(out: &mut File, rows: u64, changes: Vec<Change>) -> Written {
    let mut progress = Progress::new("rows", rows);
    let schema = made_up(0..0)?.schema();
    let options = write_options::apply(WriteOptions::new(), changes);
    let mut writer = ParquetWriter::new(&mut *out, schema, options)?;
    let mut row = 0;
    while row < rows {
        let end = rows.min(row + BATCH as u64);
        writer.write(&made_up(row..end)?)?;
        progress.add(end - row);
        row = end;
    }
    writer.close()?;
    Ok((rows, out.metadata()?.len()))
}

/// Sales that never were; the same ones each time.
fn made_up(rows: std::ops::Range<u64>) -> Result<RecordBatch, Box<dyn Error>> {
    const CITIES: [&str; 5] = ["Lisbon", "Osaka", "Nairobi", "Quito", "Tromsø"];
    let mixed = |row: u64| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
    let pick = |row: u64| CITIES.get(usize::try_from(mixed(row) % 5).unwrap_or(0)).copied();
    let price = |row: u64| (mixed(row) % 7 > 0).then(|| (mixed(row) % 100_000) as f64 / 100.0);
    let ids = Int64Array::from_iter_values(rows.clone().map(u64::cast_signed));
    let names = StringArray::from_iter_values(rows.clone().map(|row| format!("item {}", mixed(row))));
    let urls = rows.clone().map(|row| format!("https://shop.example/{}/items/{row:08}", row / 1000));
    let sold_at = rows.clone().map(|row| 1_700_000_000_000_000 + 61_000_001 * row.cast_signed());
    let columns: [(&str, ArrayRef); 7] = [
        ("id", Arc::new(ids)),
        ("name", Arc::new(names)),
        ("url", Arc::new(StringArray::from_iter_values(urls))),
        ("city", Arc::new(StringArray::from_iter(rows.clone().map(pick)))),
        ("price", Arc::new(Float64Array::from_iter(rows.clone().map(price)))),
        ("sold", Arc::new(BooleanArray::from_iter(rows.map(|row| Some(mixed(row) % 3 == 0))))),
        ("sold_at", Arc::new(TimestampMicrosecondArray::from_iter_values(sold_at).with_timezone("UTC"))),
    ];
    Ok(RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, matches!(name, "city" | "price" | "sold"))),
    )?)
}
