//! Other Arrow types than the file's own: what a cast of the plain answer gives.

use fastrand::Rng;
use std::sync::Arc;

use marquetry_versus::arrays::{Filling, Nulls, Spread, array};
use marquetry_versus::arrow::array::RecordBatch;
use marquetry_versus::arrow::cast::cast;
use marquetry_versus::arrow::schema::{DataType, Field, Schema};
use marquetry_versus::compare::{known, same_as};
use marquetry_versus::engine::{Ask, Engine};
use marquetry_versus::layout::{Layout, table_of};
use marquetry_versus::seeds::{Failure, Report};

#[test]
fn output_types_are_casts_of_the_plain_answer() {
    let mut report = Report::new("output types");
    for (own, others) in types() {
        for other in others {
            for nullable in [false, true] {
                for layout in layouts() {
                    report.check(format_args!("{own} as {other}, nullable {nullable}, {layout}"), || {
                        same_as_cast(&own, &other, nullable, &layout)
                    });
                }
            }
        }
    }
    report.finish();
}

fn same_as_cast(own: &DataType, other: &DataType, nullable: bool, layout: &Layout) -> Result<(), Failure> {
    let field = Field::new("column", own.clone(), nullable);
    // Few values, so that keys of a byte suffice.
    let filling = Filling { nulls: Nulls::Percent(20), spread: Spread::Distinct(90) };
    let column = array(&mut Rng::with_seed(5), &field, filling, 600);
    let bytes = layout.write(&table_of(column, nullable))?;
    let plain = known(&bytes, &Ask::default())?;
    let column = cast(plain.column(0), other).map_err(|e| format!("cast: {e}"))?;
    let field = plain.schema().field(0).clone().with_data_type(other.clone());
    let schema = Schema::new_with_metadata(vec![field], plain.schema().metadata().clone());
    let expected = RecordBatch::try_new(Arc::new(schema), vec![column]).map_err(|e| e.to_string())?;
    for (engine, batch_size) in Engine::OURS.into_iter().zip([7, 100, 1000, 300]) {
        let output_types = vec![("column".to_owned(), other.clone())];
        same_as(&expected, engine, &bytes, &Ask { output_types, batch_size, ..Ask::default() })?;
    }
    Ok(())
}

fn types() -> Vec<(DataType, Vec<DataType>)> {
    use DataType as T;
    let keyed = |key: T, value: T| T::Dictionary(Box::new(key), Box::new(value));
    vec![
        (T::Utf8, vec![T::LargeUtf8, T::Utf8View, keyed(T::Int32, T::Utf8), T::Binary, T::BinaryView]),
        (T::LargeUtf8, vec![T::Utf8, T::Utf8View]),
        (T::Utf8View, vec![T::Utf8, T::LargeUtf8]),
        (T::Binary, vec![T::LargeBinary, T::BinaryView, keyed(T::Int32, T::Binary)]),
        (T::BinaryView, vec![T::Binary, T::LargeBinary]),
        (keyed(T::Int32, T::Utf8), vec![T::Utf8, T::Utf8View]),
    ]
}

fn layouts() -> [Layout; 4] {
    let several = Layout { page_rows: 50, row_group_rows: 250, ..Layout::default() };
    let plain = Layout { dictionary: None, ..several.clone() };
    let fallen = Layout { dictionary: Some(300), ..several.clone() };
    let delta = Layout { v2: true, dictionary: None, ..several.clone() };
    [several, plain, fallen, delta]
}
