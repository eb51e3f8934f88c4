//! Several sorted streams of batches merged into one, a batch of each in memory.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::error::Error;
use std::ops::Range;
use std::sync::Arc;

use marquetry::ScanReader;
use marquetry::arrow::array::cast::AsArray;
use marquetry::arrow::array::types::*;
use marquetry::arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchReader, make_array};
use marquetry::arrow::data::transform::MutableArrayData;
use marquetry::arrow::schema::{DataType, SchemaRef};

/// A key in the order that Parquet sorts by; null comes first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Null,
    Number(i128),
    Bytes(Vec<u8>),
}

/// Merges streams by one column.
pub(crate) struct KWay {
    schema: SchemaRef,
    key: usize,
    batch_rows: usize,
    sources: Vec<Source>,
    /// The next key of each source, and which.
    heads: BinaryHeap<Reverse<(Key, usize)>>,
}

struct Source {
    reader: ScanReader,
    batch: RecordBatch,
    row: usize,
    last: Key,
}

/// Rows of a batch of a source.
struct Run {
    batch: RecordBatch,
    rows: Range<usize>,
}

impl KWay {
    pub(crate) fn new(
        readers: Vec<ScanReader>,
        key: usize,
        batch_rows: usize,
    ) -> Result<Self, Box<dyn Error>> {
        let schema = readers.first().ok_or("nothing to merge")?.schema();
        check_type(schema.field(key).data_type())?;
        let sources = readers.into_iter().map(|reader| {
            let batch = RecordBatch::new_empty(reader.schema());
            Source { reader, batch, row: 0, last: Key::Null }
        });
        let mut merge =
            KWay { schema, key, batch_rows, sources: sources.collect(), heads: BinaryHeap::new() };
        for index in 0..merge.sources.len() {
            merge.enter(index)?;
        }
        Ok(merge)
    }

    /// The next rows; `None` behind the last.
    ///
    /// # Errors
    /// When a source cannot be read, or is not sorted.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, Box<dyn Error>> {
        let mut runs: Vec<Run> = Vec::new();
        let mut rows = 0;
        while rows < self.batch_rows {
            let Some(Reverse((_, index))) = self.heads.pop() else { break };
            let run = self.run(index, self.batch_rows - rows)?;
            rows += run.rows.len();
            runs.push(run);
            self.enter(index)?;
        }
        if runs.is_empty() { Ok(None) } else { self.gather(&runs, rows).map(Some) }
    }

    /// Puts the next key of a source in its place among the others; reads its next batch where it needs one.
    fn enter(&mut self, index: usize) -> Result<(), Box<dyn Error>> {
        let Some(source) = self.sources.get_mut(index) else { return Ok(()) };
        while source.row >= source.batch.num_rows() {
            match source.reader.next() {
                Some(batch) => (source.batch, source.row) = (batch?, 0),
                None => return Ok(()),
            }
        }
        let key = key_at(source.batch.column(self.key), source.row);
        self.heads.push(Reverse((key, index)));
        Ok(())
    }

    /// Takes the rows of a source that come before those of all others.
    fn run(&mut self, index: usize, at_most: usize) -> Result<Run, Box<dyn Error>> {
        let (key, heads) = (self.key, &self.heads);
        let Some(source) = self.sources.get_mut(index) else { return Err("no such source".into()) };
        let column = source.batch.column(key);
        let start = source.row;
        let end = source.batch.num_rows().min(start + at_most);
        let mut at = start;
        while at < end {
            let next = key_at(column, at);
            if next < source.last {
                return Err(format!(
                    "file {} is not sorted by column {}",
                    index + 1,
                    self.schema.field(key).name()
                )
                .into());
            }
            let is_turn = heads.peek().is_none_or(|Reverse((other, from))| (&next, index) < (other, *from));
            if at > start && !is_turn {
                break;
            }
            source.last = next;
            at += 1;
        }
        source.row = at;
        Ok(Run { batch: source.batch.clone(), rows: start..at })
    }

    fn gather(&self, runs: &[Run], rows: usize) -> Result<RecordBatch, Box<dyn Error>> {
        if let [run] = runs {
            return Ok(run.batch.slice(run.rows.start, run.rows.len()));
        }
        // Each batch once, however often it takes turns.
        let mut batches: Vec<&RecordBatch> = Vec::new();
        let mut from: Vec<usize> = Vec::new();
        for run in runs {
            let same = |batch: &&RecordBatch| Arc::ptr_eq(batch.column(self.key), run.batch.column(self.key));
            let known = batches.iter().position(same);
            from.push(known.unwrap_or(batches.len()));
            if known.is_none() {
                batches.push(&run.batch);
            }
        }
        let columns = (0..self.schema.fields().len()).map(|column| {
            let data: Vec<_> = batches.iter().map(|batch| batch.column(column).to_data()).collect();
            let mut gathered = MutableArrayData::new(data.iter().collect(), false, rows);
            for (run, &from) in runs.iter().zip(&from) {
                gathered.try_extend(from, run.rows.start, run.rows.end)?;
            }
            Ok(make_array(gathered.freeze()))
        });
        let columns = columns.collect::<Result<Vec<ArrayRef>, Box<dyn Error>>>()?;
        Ok(RecordBatch::try_new(self.schema.clone(), columns)?)
    }
}

fn check_type(data_type: &DataType) -> Result<(), Box<dyn Error>> {
    use DataType::*;
    match data_type {
        Int8 | Int16 | Int32 | Int64 | UInt8 | UInt16 | UInt32 | UInt64 | Date32 | Date64 | Timestamp(..)
        | Decimal32(..) | Decimal64(..) | Decimal128(..) | Utf8 | LargeUtf8 | Utf8View | Binary
        | LargeBinary | BinaryView | FixedSizeBinary(_) => Ok(()),
        other => Err(format!("rows cannot be merged by a column of {other}").into()),
    }
}

fn key_at(column: &ArrayRef, row: usize) -> Key {
    if column.is_null(row) {
        return Key::Null;
    }
    macro_rules! number {
        ($type:ty) => {
            Key::Number(column.as_primitive::<$type>().value(row).into())
        };
    }
    use marquetry::arrow::schema::TimeUnit;
    match column.data_type() {
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Date32 => number!(Date32Type),
        DataType::Date64 => number!(Date64Type),
        DataType::Timestamp(TimeUnit::Second, _) => number!(TimestampSecondType),
        DataType::Timestamp(TimeUnit::Millisecond, _) => number!(TimestampMillisecondType),
        DataType::Timestamp(TimeUnit::Microsecond, _) => number!(TimestampMicrosecondType),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => number!(TimestampNanosecondType),
        DataType::Decimal32(..) => number!(Decimal32Type),
        DataType::Decimal64(..) => number!(Decimal64Type),
        DataType::Decimal128(..) => number!(Decimal128Type),
        DataType::Utf8 => Key::Bytes(column.as_string::<i32>().value(row).into()),
        DataType::LargeUtf8 => Key::Bytes(column.as_string::<i64>().value(row).into()),
        DataType::Utf8View => Key::Bytes(column.as_string_view().value(row).into()),
        DataType::Binary => Key::Bytes(column.as_binary::<i32>().value(row).into()),
        DataType::LargeBinary => Key::Bytes(column.as_binary::<i64>().value(row).into()),
        DataType::BinaryView => Key::Bytes(column.as_binary_view().value(row).into()),
        DataType::FixedSizeBinary(_) => Key::Bytes(column.as_fixed_size_binary().value(row).into()),
        // `check_type` has refused all others.
        _ => Key::Null,
    }
}
