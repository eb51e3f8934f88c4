//! Are two answers the same, and where do they part.

use std::sync::Arc;

use bytes::Bytes;

use crate::arrow::array::{Array, ArrayRef, RecordBatch, make_array};
use crate::arrow::buffer::Buffer;
use crate::arrow::cast::cast;
use crate::arrow::cast::display::{ArrayFormatter, FormatOptions};
use crate::arrow::data::ArrayData;
use crate::arrow::schema::{DataType, Field, FieldRef, IntervalUnit, Schema, SchemaRef};
use crate::engine::{Answer, Ask, Engine};
use crate::seeds::Failure;

/// Asks all of marquetry's ways in, in batches of 1, 7, 1000 and of all rows, and compares with the rival.
///
/// # Errors
/// The first difference, or an error of one reader alone.
pub fn same_answers(bytes: &Bytes) -> Result<(), Failure> {
    let expected = known(bytes, &Ask::batches_of(1 << 20))?;
    for engine in Engine::OURS {
        for batch_size in [1, 7, 1000, expected.num_rows().max(1)] {
            same_as(&expected, engine, bytes, &Ask::batches_of(batch_size))?;
        }
    }
    Ok(())
}

/// One question to both.
///
/// # Errors
/// The first difference, or an error of one reader alone.
pub fn same_answer(engine: Engine, bytes: &Bytes, ask: &Ask) -> Result<(), Failure> {
    same_as(&known(bytes, ask)?, engine, bytes, ask)
}

/// One question to marquetry, whose answer is known.
///
/// # Errors
/// The first difference, or what marquetry says.
pub fn same_as(expected: &RecordBatch, engine: Engine, bytes: &Bytes, ask: &Ask) -> Result<(), Failure> {
    let check = || -> Result<(), Failure> {
        let answer = engine.read(bytes, ask)?;
        sound(&answer, ask)?;
        Ok(same_tables(&answer.table()?, expected)?)
    };
    check().map_err(|failure| failure.at(format_args!("{engine:?}, {ask}")))
}

/// The rival's answer as one batch.
///
/// # Errors
/// What the rival cannot read, or reads as arrays that are not valid.
pub fn known(bytes: &Bytes, ask: &Ask) -> Result<RecordBatch, Failure> {
    let answer = Engine::Rival.read(bytes, ask)?;
    sound(&answer, ask).and_then(|()| answer.table()).map_err(Failure::Rival)
}

/// Whether batches are as they say: of the reader's schema, of the size asked, and valid arrays throughout.
fn sound(answer: &Answer, ask: &Ask) -> Result<(), String> {
    for (number, batch) in answer.batches.iter().enumerate() {
        let num_rows = batch.num_rows();
        if num_rows == 0 || num_rows > ask.batch_size {
            return Err(format!("batch {number} has {num_rows} rows"));
        }
        same_schemas(&batch.schema(), &answer.schema).map_err(|e| format!("batch {number}: {e}"))?;
        for (column, field) in batch.columns().iter().zip(answer.schema.fields()) {
            let valid = column.to_data().validate_full();
            valid.map_err(|e| format!("batch {number}, column {}: {e}", field.name()))?;
            if !field.is_nullable() && column.null_count() > 0 {
                return Err(format!("batch {number}: required column {} has nulls", field.name()));
            }
        }
    }
    Ok(())
}

/// # Errors
/// The first difference in schema, length or values.
pub fn same_tables(ours: &RecordBatch, expected: &RecordBatch) -> Result<(), String> {
    same_schemas(&ours.schema(), &expected.schema())?;
    if ours.num_rows() != expected.num_rows() {
        return Err(format!("{} rows instead of {}", ours.num_rows(), expected.num_rows()));
    }
    for (index, field) in expected.schema().fields().iter().enumerate() {
        let (ours, theirs) = (ours.column(index), expected.column(index));
        let differ = ours.data_type() != theirs.data_type();
        let [ours, theirs] = [ours, theirs].map(|a| if differ { without_intervals(a) } else { a.clone() });
        let theirs = cast(&theirs, ours.data_type()).map_err(|e| e.to_string())?;
        same_arrays(&ours, &theirs).map_err(|e| format!("column {field}: {e}"))?;
    }
    Ok(())
}

fn same_schemas(ours: &SchemaRef, expected: &SchemaRef) -> Result<(), String> {
    if ours == expected {
        return Ok(());
    }
    if ours.fields().len() != expected.fields().len() {
        return Err(format!("schema has columns {} instead of {}", names(ours), names(expected)));
    }
    for (ours, expected) in ours.fields().iter().zip(expected.fields()) {
        if !same_field(ours, expected) {
            return Err(format!("schema has field {ours:?} instead of {expected:?}"));
        }
    }
    if ours.metadata() == expected.metadata() {
        return Ok(());
    }
    Err(format!("schema has metadata {:?} instead of {:?}", ours.metadata(), expected.metadata()))
}

/// Equal, but for what the two read differently on purpose (ARCHITECTURE.md, "Where the spec is silent"): extension
/// names, ENUM as text, decimals as narrow as their precision, intervals with all their parts.
fn same_field(ours: &Field, expected: &Field) -> bool {
    let plain = |field: &Field| {
        let mut metadata = field.metadata().clone();
        metadata.retain(|key, _| !key.starts_with("ARROW:extension:"));
        metadata
    };
    ours.name() == expected.name()
        && ours.is_nullable() == expected.is_nullable()
        && plain(ours) == plain(expected)
        && same_type(ours.data_type(), expected.data_type())
}

fn same_type(ours: &DataType, expected: &DataType) -> bool {
    use DataType::{Binary, Decimal128, Decimal256, FixedSizeList, LargeList, List, Map, Struct, Utf8};
    match (ours, expected) {
        (Utf8, Binary) => true,
        (Decimal128(p, s), Decimal256(q, t)) => (p, s) == (q, t),
        (List(a), List(b)) | (LargeList(a), LargeList(b)) => same_field(a, b),
        (FixedSizeList(a, n), FixedSizeList(b, m)) => n == m && same_field(a, b),
        (Map(a, sorted), Map(b, other)) => sorted == other && same_field(a, b),
        (Struct(a), Struct(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_field(a, b)),
        (a, b) => a == b || is_interval(a) && is_interval(b),
    }
}

/// The array with 0 for each interval in it: the rival drops the months of those it does not read as we do.
fn without_intervals(array: &ArrayRef) -> ArrayRef {
    fn zeroed(data: ArrayData) -> ArrayData {
        let (len, nulls) = (data.len(), data.nulls().cloned());
        if is_interval(data.data_type()) {
            let zeros = Buffer::from_vec(vec![0i32; len]);
            let data = ArrayData::builder(DataType::Interval(IntervalUnit::YearMonth)).len(len).nulls(nulls);
            return data.add_buffer(zeros).build().expect("four bytes a value");
        }
        let children = data.child_data().iter().cloned().map(zeroed).collect::<Vec<_>>();
        let data_type = of_these(data.data_type(), &children);
        data.into_builder().data_type(data_type).child_data(children).build().expect("children as before")
    }
    fn of_these(data_type: &DataType, children: &[ArrayData]) -> DataType {
        let child = |field: &FieldRef, data: &ArrayData| {
            Arc::new(field.as_ref().clone().with_data_type(data.data_type().clone()))
        };
        match (data_type, children) {
            (DataType::Struct(fields), _) => DataType::Struct(
                fields.iter().zip(children).map(|(field, data)| child(field, data)).collect(),
            ),
            (DataType::List(item), [data]) => DataType::List(child(item, data)),
            (DataType::LargeList(item), [data]) => DataType::LargeList(child(item, data)),
            (DataType::FixedSizeList(item, len), [data]) => DataType::FixedSizeList(child(item, data), *len),
            (DataType::Map(entries, sorted), [data]) => DataType::Map(child(entries, data), *sorted),
            _ => data_type.clone(),
        }
    }
    make_array(zeroed(array.to_data()))
}

fn is_interval(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Interval(_))
}

/// # Errors
/// The first row that differs.
pub fn same_arrays(ours: &ArrayRef, expected: &ArrayRef) -> Result<(), String> {
    // Equality of Arrow arrays looks at the bits of floats and never under a null.
    if ours == expected {
        return Ok(());
    }
    let row = (0..expected.len()).find(|row| ours.slice(*row, 1) != expected.slice(*row, 1));
    let Some(row) = row else { return Err("differs as a whole, in no row".to_owned()) };
    let count = (row..expected.len()).filter(|row| ours.slice(*row, 1) != expected.slice(*row, 1)).count();
    let (ours, expected) = (shown(ours, row), shown(expected, row));
    Err(format!("row {row} is {ours} instead of {expected} ({count} rows differ)"))
}

fn shown(array: &ArrayRef, row: usize) -> String {
    if array.is_null(row) {
        return "null".to_owned();
    }
    let options = FormatOptions::new().with_null("null");
    match ArrayFormatter::try_new(array.as_ref(), &options) {
        Ok(formatter) => formatter.value(row).try_to_string().unwrap_or_else(|e| e.to_string()),
        Err(e) => e.to_string(),
    }
}

fn names(schema: &Schema) -> String {
    schema.fields().iter().map(|field| field.name().as_str()).collect::<Vec<_>>().join(", ")
}
