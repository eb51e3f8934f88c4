//! How pages and row groups cut a column, and what the footer tells of them.

use std::sync::Arc;

use fastrand::Rng;

use marquetry_versus::arrays::{Filling, Nulls, Spread, array};
use marquetry_versus::arrow::array::RecordBatch;
use marquetry_versus::arrow::schema::{DataType, Field, Schema};
use marquetry_versus::compare::{same_answer, same_answers};
use marquetry_versus::engine::{Ask, Engine};
use marquetry_versus::layout::{Encodings, Layout};
use marquetry_versus::rival::basic::Compression;
use marquetry_versus::rival::file::properties::EnabledStatistics;
use marquetry_versus::seeds::{Failure, Report};

const NUM_ROWS: usize = 700;

#[test]
fn pages_of_every_size() {
    let mut report = Report::new("page sizes");
    for page_rows in [1, 2, 7, 8, 64, 100, 699, 700] {
        for v2 in [false, true] {
            for dictionary in [None, Some(1 << 20)] {
                let layout = Layout { page_rows, v2, dictionary, ..Layout::default() };
                report.check(format_args!("{layout}"), || same(&layout));
            }
        }
    }
    report.finish();
}

#[test]
fn row_groups_of_every_size() {
    let mut report = Report::new("row groups");
    for row_group_rows in [1, 2, 99, 350, 699] {
        for dictionary in [None, Some(1 << 20)] {
            let layout = Layout { row_group_rows, dictionary, ..Layout::default() };
            report.check(format_args!("{layout}"), || same(&layout));
        }
    }
    report.finish();
}

#[test]
fn dictionaries_that_are_given_up_in_the_middle() {
    let mut report = Report::new("fall back");
    for limit in [1, 64, 300, 1000] {
        for v2 in [false, true] {
            for encoding in [Encodings::Chosen, Encodings::Drawn(1), Encodings::Drawn(2), Encodings::Drawn(3)]
            {
                let layout = Layout {
                    dictionary: Some(limit),
                    page_rows: 50,
                    row_group_rows: 300,
                    v2,
                    encoding,
                    ..Layout::default()
                };
                report.check(format_args!("{layout}"), || same(&layout));
            }
        }
    }
    report.finish();
}

#[test]
fn footers_with_and_without_statistics_and_page_index() {
    let mut report = Report::new("statistics");
    for statistics in [EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page] {
        for offset_index in [false, true] {
            for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
                let layout = Layout {
                    statistics,
                    offset_index,
                    compression,
                    page_rows: 60,
                    row_group_rows: 250,
                    ..Layout::default()
                };
                report.check(format_args!("{layout}"), || {
                    same(&layout)?;
                    let rows = Some(vec![3..5, 61..62, 119..260, 600..699]);
                    let bytes = layout.write(&table())?;
                    same_answer(Engine::Open, &bytes, &Ask { rows, ..Ask::default() })
                });
            }
        }
    }
    report.finish();
}

fn same(layout: &Layout) -> Result<(), Failure> {
    same_answers(&layout.write(&table())?)
}

/// Columns of every kind of decoder, some required, some with nulls.
pub fn table() -> RecordBatch {
    let mut rng = Rng::with_seed(3);
    let columns = [
        ("required_int", DataType::Int32, Nulls::None, Spread::Wide),
        ("int", DataType::Int64, Nulls::Percent(30), Spread::Rising),
        ("small", DataType::UInt8, Nulls::Runs(100), Spread::Narrow),
        ("boolean", DataType::Boolean, Nulls::Percent(50), Spread::Wide),
        ("required_boolean", DataType::Boolean, Nulls::None, Spread::Constant),
        ("float", DataType::Float32, Nulls::Alternating, Spread::Wide),
        ("required_double", DataType::Float64, Nulls::None, Spread::Narrow),
        ("string", DataType::Utf8, Nulls::Percent(10), Spread::Wide),
        ("required_string", DataType::Utf8, Nulls::None, Spread::Distinct(5)),
        ("view", DataType::Utf8View, Nulls::Percent(10), Spread::Wide),
        ("bytes", DataType::Binary, Nulls::Runs(20), Spread::Rising),
        ("fixed", DataType::FixedSizeBinary(7), Nulls::Percent(50), Spread::Narrow),
        ("required_decimal", DataType::Decimal128(25, 2), Nulls::None, Spread::Wide),
        ("nothing", DataType::Int32, Nulls::All, Spread::Wide),
        (
            "dictionary",
            DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
            Nulls::Percent(20),
            Spread::Distinct(9),
        ),
    ];
    let mut fields = Vec::new();
    let mut arrays = Vec::new();
    for (name, data_type, nulls, spread) in columns {
        let field = Field::new(name, data_type, !name.starts_with("required"));
        arrays.push(array(&mut rng, &field, Filling { nulls, spread }, NUM_ROWS));
        fields.push(field);
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("arrays of their fields' types")
}
