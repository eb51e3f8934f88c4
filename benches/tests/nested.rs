//! Structs, lists and maps, to five levels.

use fastrand::Rng;
use std::sync::Arc;

use marquetry_versus::arrays::{Filling, Nulls, Spread, array};
use marquetry_versus::arrow::schema::{DataType, Field, Fields};
use marquetry_versus::compare::same_answers;
use marquetry_versus::layout::{Layout, table_of};
use marquetry_versus::seeds::{Report, rounds};
use marquetry_versus::types::random_schema;

use crate::random::same_in_any_layout;

#[test]
fn random_nested_files() {
    rounds("nested files", 400, |rng| {
        let depth = rng.usize(1..=5);
        let schema = random_schema(rng, depth);
        same_in_any_layout(rng, &schema)
    });
}

#[test]
fn each_kind_of_nesting_with_and_without_nulls() {
    let mut report = Report::new("kinds");
    for outer in 0..KINDS {
        for inner in 0..=KINDS {
            for nullable in [false, true] {
                for layout in layouts() {
                    let leaf = DataType::Int32;
                    let inner_type = if inner == KINDS { leaf } else { wrapped(inner, leaf, nullable) };
                    let data_type = wrapped(outer, inner_type, nullable);
                    report.check(format_args!("{data_type}, {layout}"), || {
                        let field = Field::new("column", data_type.clone(), nullable);
                        let filling = Filling { nulls: Nulls::Percent(30), spread: Spread::Narrow };
                        let column = array(&mut Rng::with_seed(4), &field, filling, 300);
                        same_answers(&layout.write(&table_of(column, nullable))?)
                    });
                }
            }
        }
    }
    report.finish();
}

const KINDS: usize = 5;

fn layouts() -> [Layout; 3] {
    let small = Layout { page_rows: 1, row_group_rows: 70, ..Layout::default() };
    [Layout::default(), small, Layout { v2: true, arrow_schema: false, page_rows: 20, ..Layout::default() }]
}

fn wrapped(kind: usize, inner: DataType, nullable: bool) -> DataType {
    let item = Arc::new(Field::new("item", inner.clone(), nullable));
    match kind {
        0 => DataType::Struct(Fields::from(vec![
            Field::new("a", inner, nullable),
            Field::new("b", DataType::Utf8, true),
        ])),
        1 => DataType::List(item),
        2 => DataType::LargeList(item),
        3 => DataType::FixedSizeList(item, 2),
        _ => {
            let key = Field::new("key", DataType::Utf8, false);
            let entries = Fields::from(vec![key, Field::new("value", inner, nullable)]);
            let entries = Field::new("key_value", DataType::Struct(entries), false);
            DataType::Map(Arc::new(entries), false)
        }
    }
}
