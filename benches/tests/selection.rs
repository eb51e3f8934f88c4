//! Columns, row groups and rows of a file: what the whole table has there.

use marquetry_versus::arrow::array::RecordBatch;
use marquetry_versus::arrow::select::concat::concat_batches;
use marquetry_versus::compare::{known, same_answer, same_as};
use marquetry_versus::engine::{Ask, Engine};
use marquetry_versus::layout::Layout;
use marquetry_versus::rival::basic::Compression;
use marquetry_versus::seeds::{Report, rounds};

use crate::pages::table;
use crate::random::{random_ranges, random_table};

/// Rows a row group of [`layouts`].
const GROUP: usize = 230;

#[test]
fn columns_in_the_order_of_the_file() {
    let mut report = Report::new("columns");
    let names: Vec<_> = table().schema().fields().iter().map(|field| field.name().clone()).collect();
    let each = names.iter().map(|name| vec![name.clone()]);
    let pairs = names.windows(2).map(<[String]>::to_vec);
    let asked: Vec<_> = each.chain(pairs).chain([names.clone()]).collect();
    for layout in layouts() {
        let bytes = layout.write(&table()).unwrap();
        for columns in &asked {
            let ask = Ask { columns: Some(columns.clone()), batch_size: 100, ..Ask::default() };
            for engine in Engine::OURS {
                report.check(format_args!("{layout}"), || same_answer(engine, &bytes, &ask));
            }
        }
    }
    report.finish();
}

#[test]
fn row_groups_in_any_order() {
    let mut report = Report::new("row groups");
    for layout in layouts() {
        let bytes = layout.write(&table()).unwrap();
        for row_groups in [vec![], vec![0], vec![3], vec![1, 2], vec![0, 3], vec![2, 0]] {
            let ask = Ask { row_groups: Some(row_groups), batch_size: 100, ..Ask::default() };
            for engine in Engine::OURS {
                report.check(format_args!("{layout}"), || same_answer(engine, &bytes, &ask));
            }
        }
    }
    report.finish();
}

#[test]
fn rows_are_slices_of_the_whole() {
    rounds("rows", 300, |rng| {
        let layouts = layouts();
        let layout = &layouts[rng.usize(..layouts.len())];
        let table = table();
        let bytes = layout.write(&table)?;
        let rows = random_ranges(rng, table.num_rows() as u64);
        let expected = slices(&table, &rows);
        let batch_size = [1, 7, 100, 10_000][rng.usize(..4)];
        let ask = Ask { rows: Some(rows), batch_size, ..Ask::default() };
        same_as(&expected, Engine::OURS[rng.usize(..4)], &bytes, &ask)
            .map_err(|e| e.at(format_args!("{layout}")))
    });
}

#[test]
fn windows_are_slices_of_the_whole() {
    let mut report = Report::new("windows");
    let table = table();
    let num_rows = table.num_rows();
    let edges = [0, 1, 7, GROUP - 1, GROUP, GROUP + 1, 500, num_rows - 1, num_rows, num_rows + 5];
    for layout in layouts() {
        let bytes = layout.write(&table).unwrap();
        for offset in edges {
            for limit in edges {
                let start = offset.min(num_rows);
                let expected = table.slice(start, limit.min(num_rows - start));
                let ask = Ask { offset: Some(offset), limit: Some(limit), batch_size: 300, ..Ask::default() };
                report.check("", || same_as(&expected, Engine::Buffer, &bytes, &ask));
            }
        }
    }
    report.finish();
}

#[test]
fn a_window_counts_the_rows_that_are_asked_for() {
    rounds("window of rows", 100, |rng| {
        let layouts = layouts();
        let layout = &layouts[rng.usize(..layouts.len())];
        let table = table();
        let bytes = layout.write(&table)?;
        let rows = random_ranges(rng, table.num_rows() as u64);
        let all = slices(&table, &rows);
        let (offset, limit) = (rng.usize(..=all.num_rows()), rng.usize(..=all.num_rows()));
        let expected = all.slice(offset, limit.min(all.num_rows() - offset));
        let ask = Ask { rows: Some(rows), offset: Some(offset), limit: Some(limit), ..Ask::default() };
        same_as(&expected, Engine::Buffer, &bytes, &ask).map_err(|e| e.at(format_args!("{layout}")))
    });
}

#[test]
fn rows_of_nested_columns() {
    rounds("nested rows", 200, |rng| {
        let schema = marquetry_versus::types::random_schema(rng, 3);
        let num_rows = rng.usize(1..500);
        let table = random_table(rng, &schema, num_rows);
        let layout = Layout::random(rng, num_rows);
        let bytes = layout.write(&table)?;
        // What the rival reads of the whole, not what was written: the footer may tell less than the types had.
        let whole = known(&bytes, &Ask::default())?;
        let rows = random_ranges(rng, num_rows as u64);
        let expected = slices(&whole, &rows);
        let ask = Ask { rows: Some(rows), batch_size: rng.usize(1..=num_rows), ..Ask::default() };
        same_as(&expected, Engine::OURS[rng.usize(..4)], &bytes, &ask)
            .map_err(|e| e.at(format_args!("{layout}, {:?}", schema.fields())))
    });
}

fn slices(table: &RecordBatch, rows: &[std::ops::Range<u64>]) -> RecordBatch {
    let slices: Vec<_> = rows
        .iter()
        .map(|range| table.slice(range.start as usize, (range.end - range.start) as usize))
        .collect();
    concat_batches(&table.schema(), &slices).expect("slices of one table")
}

/// Several row groups of several pages: with and without the page index, dictionaries and compression.
fn layouts() -> Vec<Layout> {
    let indexed = Layout { page_rows: 40, row_group_rows: GROUP, ..Layout::default() };
    let bare = Layout {
        statistics: marquetry_versus::rival::file::properties::EnabledStatistics::None,
        offset_index: false,
        ..indexed.clone()
    };
    let plain = Layout { dictionary: None, v2: true, compression: Compression::SNAPPY, ..indexed.clone() };
    let fallen = Layout { dictionary: Some(200), compression: Compression::LZ4_RAW, ..bare.clone() };
    vec![indexed, bare, plain, fallen]
}
