//! Whole files, mapped, on one thread; and files of many columns of which one is read.

use std::fs::File;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::{Race, Row, Work};
use crate::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use crate::arrow::buffer::Buffer;
use crate::arrow::schema::{DataType, Field, FieldRef, Fields, Schema, SchemaRef};
use crate::compare::same_tables;
use crate::layout::Layout;
use crate::rival::arrow::ProjectionMask;
use crate::rival::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use marquetry::{ParquetFile, ScanReader};

/// The files that `make_files.py` writes, and how many times faster they are to be read.
const FILES: [(&str, f64); 7] = [
    ("taxi_plain", 2.2),
    ("taxi_snappy", 1.8),
    ("strings_plain", 1.6),
    ("strings_zstd", 1.2),
    ("merge_v2", 2.0),
    ("nested", 1.8),
    ("wide", 2.0),
];

/// Rows for the files that are in `folder`, and for the footer of a file with many columns.
pub(super) fn rows(folder: Option<PathBuf>) -> Vec<Row> {
    let mut rows = vec![Row::new("memory/footer/10000-columns-x-10", 3.0, footer)];
    let Some(folder) = folder else { return rows };
    for (name, goal) in FILES {
        let path = folder.join(format!("{name}.parquet"));
        for batch_size in [8192, 65_536] {
            for views in [false, true] {
                let path = path.clone();
                let output = if views { "views" } else { "strings" };
                rows.push(Row::new(format!("file/{name}/{batch_size}/{output}"), goal, move || {
                    mapped(&path, batch_size, views)
                }));
            }
        }
    }
    rows
}

fn mapped(path: &Path, batch_size: usize, views: bool) -> Result<Race, String> {
    let asked = Asked { path: path.to_owned(), batch_size, schema: None };
    let schema = asked.rival()?.1;
    let schema = views.then(|| viewed(&schema));
    let asked = Arc::new(Asked { schema, ..asked });
    let (ours, rival) = (asked.ours()?, asked.rival()?.0);
    let mut num_rows = 0;
    for (ours, rival) in ours.zip(rival) {
        let (ours, rival) = (ours.map_err(|e| e.to_string())?, rival.map_err(|e| e.to_string())?);
        same_tables(&ours, &rival).map_err(|e| format!("rows from {num_rows} on: {e}"))?;
        num_rows += rival.num_rows();
    }
    let of_rival = asked.clone();
    Ok(Race {
        ours: Box::new(move || count(asked.ours().expect("read before"), num_rows)),
        rival: Box::new(move || count(of_rival.rival().expect("read before").0, num_rows)),
        per_run: Work::Whole,
    })
}

/// How a file is read.
struct Asked {
    path: PathBuf,
    batch_size: usize,
    /// The types wanted, where they are not the file's own.
    schema: Option<SchemaRef>,
}

impl Asked {
    fn ours(&self) -> Result<ScanReader, String> {
        // SAFETY: nobody writes the files of a benchmark while it runs.
        let file = unsafe { ParquetFile::map(&self.path) }.map_err(|e| e.to_string())?;
        let mut scan = file.scan().batch_size(self.batch_size);
        for field in self.schema.iter().flat_map(|schema| schema.fields()) {
            scan = scan.output_type(field.name(), field.data_type().clone());
        }
        scan.build().map_err(|e| e.to_string())
    }

    fn rival(&self) -> Result<(ParquetRecordBatchReader, SchemaRef), String> {
        let file = File::open(&self.path).map_err(|e| format!("{}: {e}", self.path.display()))?;
        // SAFETY: nobody writes the files of a benchmark while it runs.
        let map = unsafe { memmap2::Mmap::map(&file) }.map_err(|e| e.to_string())?;
        let mut options = ArrowReaderOptions::new();
        if let Some(schema) = &self.schema {
            options = options.with_schema(schema.clone());
        }
        let bytes = Bytes::from_owner(map);
        let builder = ParquetRecordBatchReaderBuilder::try_new_with_options(bytes, options)
            .map_err(|e| e.to_string())?;
        let schema = builder.schema().clone();
        let reader = builder.with_batch_size(self.batch_size).build().map_err(|e| e.to_string())?;
        Ok((reader, schema))
    }
}

fn count<E: std::fmt::Debug>(reader: impl Iterator<Item = Result<RecordBatch, E>>, expected: usize) {
    let num_rows: usize = reader.map(|batch| black_box(batch.expect("read before")).num_rows()).sum();
    assert_eq!(num_rows, expected);
}

/// The schema with views for byte strings, however deep.
fn viewed(schema: &Schema) -> SchemaRef {
    let fields: Fields = schema.fields().iter().map(viewed_field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

fn viewed_field(field: &FieldRef) -> FieldRef {
    let data_type = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        DataType::List(item) => DataType::List(viewed_field(item)),
        DataType::Map(entries, sorted) => DataType::Map(viewed_field(entries), *sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(viewed_field).collect()),
        other => other.clone(),
    };
    Arc::new(field.as_ref().clone().with_data_type(data_type))
}

/// Opens a file of 10,000 columns and 10 row groups, and reads one column.
fn footer() -> Result<Race, String> {
    const COLUMNS: usize = 10_000;
    const ROW_GROUPS: usize = 10;
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROW_GROUPS as i64));
    let fields: Vec<_> =
        (0..COLUMNS).map(|i| Field::new(format!("column{i:05}"), DataType::Int64, false)).collect();
    let table = RecordBatch::try_new(Arc::new(Schema::new(fields)), vec![values; COLUMNS]);
    let layout = Layout { row_group_rows: 1, arrow_schema: false, ..Layout::default() };
    let bytes = layout.write(&table.map_err(|e| e.to_string())?).map_err(|failure| failure.to_string())?;
    let name = format!("column{:05}", COLUMNS / 2);
    let of_rival = (bytes.clone(), name.clone());
    let ours = move || {
        let file = ParquetFile::from_buffer(Buffer::from(bytes.clone())).expect("a file");
        let reader = file.scan().columns([name.as_str()]).build().expect("a column");
        reader.collect::<Result<Vec<_>, _>>().expect("sound pages")
    };
    let rival = move || {
        let (bytes, name) = &of_rival;
        let builder = ParquetRecordBatchReaderBuilder::try_new(bytes.clone()).expect("a file");
        let mask = ProjectionMask::columns(builder.parquet_schema(), [name.as_str()]);
        let reader = builder.with_projection(mask).build().expect("a column");
        reader.collect::<Result<Vec<_>, _>>().expect("sound pages")
    };
    let [ours_read, rival_read] = [ours(), rival()].map(|batches: Vec<RecordBatch>| {
        crate::arrow::select::concat::concat_batches(&batches[0].schema(), &batches).expect("one schema")
    });
    same_tables(&ours_read, &rival_read)?;
    Ok(Race {
        ours: Box::new(move || drop(black_box(ours()))),
        rival: Box::new(move || drop(black_box(rival()))),
        per_run: Work::Whole,
    })
}
