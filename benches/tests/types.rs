//! Every Arrow type of a leaf.

use fastrand::Rng;

use marquetry_versus::arrays::{Filling, Nulls, Spread, array};
use marquetry_versus::arrow::schema::{DataType, Field};
use marquetry_versus::compare::same_answers;
use marquetry_versus::layout::{Layout, table_of};
use marquetry_versus::seeds::{Failure, Report};
use marquetry_versus::types::{dictionary_types, leaf_types};

const NUM_ROWS: usize = 1500;

#[test]
fn every_leaf_type_required_and_nullable() {
    each_type("leaf types", leaf_types(), &Layout::default());
}

#[test]
fn every_leaf_type_in_v2_pages_without_dictionary() {
    each_type("leaf types", leaf_types(), &Layout { v2: true, dictionary: None, ..Layout::default() });
}

#[test]
fn every_leaf_type_without_the_arrow_schema() {
    each_type("leaf types", leaf_types(), &Layout { arrow_schema: false, ..Layout::default() });
}

#[test]
fn every_leaf_type_coerced_to_what_parquet_has() {
    each_type("leaf types", leaf_types(), &Layout { coerce_types: true, ..Layout::default() });
    let layout = Layout { coerce_types: true, arrow_schema: false, ..Layout::default() };
    each_type("leaf types", leaf_types(), &layout);
}

#[test]
fn every_dictionary_type() {
    each_type("dictionary types", dictionary_types(), &Layout::default());
}

#[test]
fn every_dictionary_type_without_dictionary_pages() {
    each_type("dictionary types", dictionary_types(), &Layout { dictionary: None, ..Layout::default() });
}

#[test]
fn every_dictionary_type_without_the_arrow_schema() {
    each_type("dictionary types", dictionary_types(), &Layout { arrow_schema: false, ..Layout::default() });
}

#[test]
fn every_dictionary_type_over_several_row_groups() {
    let layout = Layout { row_group_rows: 400, page_rows: 90, ..Layout::default() };
    each_type("dictionary types", dictionary_types(), &layout);
}

#[test]
fn files_of_no_rows_and_of_one() {
    let mut report = Report::new("short files");
    for data_type in leaf_types().into_iter().chain(dictionary_types()) {
        for num_rows in [0, 1] {
            report.check(format_args!("{data_type}, {num_rows} rows"), || {
                let filling = Filling { nulls: Nulls::None, spread: Spread::Narrow };
                same(&data_type, true, filling, num_rows, &Layout::default())
            });
        }
    }
    report.finish();
}

fn each_type(name: &str, types: Vec<DataType>, layout: &Layout) {
    let mut report = Report::new(name);
    for data_type in types {
        for (nullable, nulls, spread) in [
            (false, Nulls::None, Spread::Wide),
            (true, Nulls::None, Spread::Narrow),
            (true, Nulls::Percent(50), Spread::Wide),
            (true, Nulls::All, Spread::Wide),
        ] {
            // A required column of type null has no value to hold.
            let nullable = nullable || data_type == DataType::Null;
            report.check(format_args!("{data_type}, nullable {nullable}, {nulls:?}, {spread:?}"), || {
                same(&data_type, nullable, Filling { nulls, spread }, NUM_ROWS, layout)
            });
        }
    }
    report.finish();
}

fn same(
    data_type: &DataType,
    nullable: bool,
    filling: Filling,
    num_rows: usize,
    layout: &Layout,
) -> Result<(), Failure> {
    let field = Field::new("column", data_type.clone(), nullable);
    let column = array(&mut Rng::with_seed(1), &field, filling, num_rows);
    same_answers(&layout.write(&table_of(column, nullable))?)
}
