//! Every encoding that a physical type may have, under every codec and pattern of nulls.

use fastrand::Rng;

use marquetry_versus::arrays::{Filling, Nulls, Spread, array};
use marquetry_versus::arrow::array::RecordBatch;
use marquetry_versus::arrow::schema::{DataType, Field};
use marquetry_versus::compare::{same_answer, same_answers};
use marquetry_versus::engine::{Ask, Engine};
use marquetry_versus::layout::{Encodings, Layout, codecs, legal_encodings, table_of};
use marquetry_versus::rival::basic::{Encoding, Type};
use marquetry_versus::seeds::Report;

/// A type of each physical type, and of those that one decoder serves in several ways.
fn types() -> Vec<(Type, DataType)> {
    vec![
        (Type::BOOLEAN, DataType::Boolean),
        (Type::INT32, DataType::Int32),
        (Type::INT32, DataType::Int8),
        (Type::INT32, DataType::UInt16),
        (Type::INT32, DataType::Decimal128(9, 2)),
        (Type::INT64, DataType::Int64),
        (Type::INT64, DataType::UInt64),
        (Type::INT64, DataType::Decimal128(18, 2)),
        (Type::FLOAT, DataType::Float32),
        (Type::DOUBLE, DataType::Float64),
        (Type::BYTE_ARRAY, DataType::Utf8),
        (Type::BYTE_ARRAY, DataType::LargeBinary),
        (Type::BYTE_ARRAY, DataType::Utf8View),
        (Type::BYTE_ARRAY, DataType::BinaryView),
        (Type::FIXED_LEN_BYTE_ARRAY, DataType::FixedSizeBinary(1)),
        (Type::FIXED_LEN_BYTE_ARRAY, DataType::FixedSizeBinary(12)),
        (Type::FIXED_LEN_BYTE_ARRAY, DataType::FixedSizeBinary(16)),
        (Type::FIXED_LEN_BYTE_ARRAY, DataType::Float16),
        (Type::FIXED_LEN_BYTE_ARRAY, DataType::Decimal128(30, 5)),
        (Type::FIXED_LEN_BYTE_ARRAY, DataType::Decimal256(50, 5)),
    ]
}

/// Each encoding for each type, `None` standing for a dictionary.
fn pairs() -> impl Iterator<Item = (DataType, Option<Encoding>)> {
    types().into_iter().flat_map(|(physical_type, data_type)| {
        let encodings = legal_encodings(physical_type).into_iter().map(Some).chain([None]);
        encodings.map(move |encoding| (data_type.clone(), encoding))
    })
}

#[test]
fn every_encoding_of_every_spread_of_values() {
    let mut report = Report::new("encodings");
    for (data_type, encoding) in pairs() {
        for spread in Spread::ALL {
            for v2 in [false, true] {
                report.check(format_args!("{data_type} {encoding:?} {spread:?} v2 {v2}"), || {
                    let table = table(&data_type, false, Filling { nulls: Nulls::None, spread }, 2100);
                    let bytes = layout(encoding, v2).write(&table)?;
                    same_answers(&bytes)
                });
            }
        }
    }
    report.finish();
}

#[test]
fn every_encoding_of_every_pattern_of_nulls() {
    let mut report = Report::new("nulls");
    for (data_type, encoding) in pairs() {
        for nulls in Nulls::ALL {
            for v2 in [false, true] {
                report.check(format_args!("{data_type} {encoding:?} {nulls:?} v2 {v2}"), || {
                    let table = table(&data_type, true, Filling { nulls, spread: Spread::Wide }, 1300);
                    let layout = Layout { page_rows: 500, ..layout(encoding, v2) };
                    let bytes = layout.write(&table)?;
                    for batch_size in [7, 1000, 1300] {
                        same_answer(Engine::Buffer, &bytes, &Ask::batches_of(batch_size))?;
                    }
                    Ok(())
                });
            }
        }
    }
    report.finish();
}

#[test]
fn every_encoding_under_every_codec() {
    let mut report = Report::new("codecs");
    for (data_type, encoding) in pairs() {
        for compression in codecs() {
            for v2 in [false, true] {
                report.check(format_args!("{data_type} {encoding:?} {compression} v2 {v2}"), || {
                    let filling = Filling { nulls: Nulls::Percent(10), spread: Spread::Narrow };
                    let table = table(&data_type, true, filling, 1000);
                    let layout = Layout { compression, page_rows: 300, ..layout(encoding, v2) };
                    let bytes = layout.write(&table)?;
                    for engine in Engine::OURS {
                        same_answer(engine, &bytes, &Ask::batches_of(301))?;
                    }
                    Ok(())
                });
            }
        }
    }
    report.finish();
}

#[test]
fn every_encoding_of_pages_of_any_length() {
    let mut report = Report::new("page lengths");
    for (data_type, encoding) in pairs() {
        // Around the block, miniblock, group of eight and vector sizes of the encodings.
        for num_rows in [1, 2, 3, 7, 8, 9, 31, 32, 33, 63, 64, 65, 127, 128, 129, 130, 255, 257, 1023, 1025] {
            report.check(format_args!("{data_type} {encoding:?} {num_rows} rows"), || {
                let mut rng = Rng::with_seed(num_rows as u64);
                let spread = Spread::ALL[rng.usize(..Spread::ALL.len())];
                let table = table(&data_type, false, Filling { nulls: Nulls::None, spread }, num_rows);
                let bytes = layout(encoding, false).write(&table)?;
                same_answer(Engine::Buffer, &bytes, &Ask::batches_of(50))?;
                same_answer(Engine::Buffer, &bytes, &Ask::batches_of(5000))
            });
        }
    }
    report.finish();
}

fn layout(encoding: Option<Encoding>, v2: bool) -> Layout {
    match encoding {
        Some(encoding) => {
            Layout { v2, dictionary: None, encoding: Encodings::One(encoding), ..Layout::default() }
        }
        None => Layout { v2, ..Layout::default() },
    }
}

fn table(data_type: &DataType, nullable: bool, filling: Filling, num_rows: usize) -> RecordBatch {
    let field = Field::new("column", data_type.clone(), nullable);
    table_of(array(&mut Rng::with_seed(2), &field, filling, num_rows), nullable)
}
