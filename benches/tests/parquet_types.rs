//! Parquet types that no Arrow schema leads to: annotations of both kinds, INT96, all carriers of decimals, old lists.

use std::sync::Arc;

use fastrand::Rng;

use marquetry_versus::compare::{same_answer, same_answers};
use marquetry_versus::engine::{Ask, Engine};
use marquetry_versus::layout::Layout;
use marquetry_versus::records::{random_file, random_message};
use marquetry_versus::rival::basic::{ConvertedType, Repetition, Type as Physical};
use marquetry_versus::rival::schema::parser::parse_message_type;
use marquetry_versus::rival::schema::types::{Type, TypePtr};
use marquetry_versus::seeds::{Report, rounds};

#[test]
fn annotations_of_today() {
    let leaves = [
        "INT96 x",
        "BYTE_ARRAY x",
        "BYTE_ARRAY x (STRING)",
        "BYTE_ARRAY x (UTF8)",
        "BYTE_ARRAY x (ENUM)",
        "BYTE_ARRAY x (JSON)",
        "BYTE_ARRAY x (BSON)",
        "INT32 x (INTEGER(8,true))",
        "INT32 x (INTEGER(8,false))",
        "INT32 x (INTEGER(16,true))",
        "INT32 x (INTEGER(16,false))",
        "INT32 x (INTEGER(32,true))",
        "INT32 x (INTEGER(32,false))",
        "INT64 x (INTEGER(64,true))",
        "INT64 x (INTEGER(64,false))",
        "INT32 x (DATE)",
        "INT32 x (TIME(MILLIS,true))",
        "INT32 x (TIME(MILLIS,false))",
        "INT64 x (TIME(MICROS,true))",
        "INT64 x (TIME(NANOS,false))",
        "INT64 x (TIMESTAMP(MILLIS,true))",
        "INT64 x (TIMESTAMP(MILLIS,false))",
        "INT64 x (TIMESTAMP(MICROS,true))",
        "INT64 x (TIMESTAMP(MICROS,false))",
        "INT64 x (TIMESTAMP(NANOS,true))",
        "INT64 x (TIMESTAMP(NANOS,false))",
        "FIXED_LEN_BYTE_ARRAY(16) x (UUID)",
        "FIXED_LEN_BYTE_ARRAY(2) x (FLOAT16)",
        "FIXED_LEN_BYTE_ARRAY(12) x (INTERVAL)",
        "FIXED_LEN_BYTE_ARRAY(1) x",
        "FIXED_LEN_BYTE_ARRAY(33) x",
    ];
    let mut report = Report::new("annotations");
    for leaf in leaves {
        for repetition in ["REQUIRED", "OPTIONAL"] {
            let message = format!("message schema {{ {repetition} {leaf}; }}");
            each_layout(&mut report, &message, &Arc::new(parse_message_type(&message).unwrap()));
        }
    }
    report.finish();
}

#[test]
fn annotations_of_old_alone() {
    use ConvertedType as C;
    let leaves = [
        (Physical::BYTE_ARRAY, C::UTF8),
        (Physical::BYTE_ARRAY, C::ENUM),
        (Physical::BYTE_ARRAY, C::JSON),
        (Physical::BYTE_ARRAY, C::BSON),
        (Physical::INT32, C::INT_8),
        (Physical::INT32, C::INT_16),
        (Physical::INT32, C::INT_32),
        (Physical::INT64, C::INT_64),
        (Physical::INT32, C::UINT_8),
        (Physical::INT32, C::UINT_16),
        (Physical::INT32, C::UINT_32),
        (Physical::INT64, C::UINT_64),
        (Physical::INT32, C::DATE),
        (Physical::INT32, C::TIME_MILLIS),
        (Physical::INT64, C::TIME_MICROS),
        (Physical::INT64, C::TIMESTAMP_MILLIS),
        (Physical::INT64, C::TIMESTAMP_MICROS),
        (Physical::FIXED_LEN_BYTE_ARRAY, C::INTERVAL),
    ];
    let mut report = Report::new("converted types");
    for (physical_type, converted_type) in leaves {
        for repetition in [Repetition::REQUIRED, Repetition::OPTIONAL] {
            let leaf = Type::primitive_type_builder("x", physical_type)
                .with_repetition(repetition)
                .with_converted_type(converted_type)
                .with_length(12);
            let schema = message(leaf.build().unwrap());
            each_layout(&mut report, &format!("{repetition} {physical_type} {converted_type}"), &schema);
        }
    }
    report.finish();
}

#[test]
fn decimals_in_every_carrier() {
    let mut report = Report::new("decimals");
    let mut carriers = vec![
        (Physical::INT32, 0, vec![1, 5, 9]),
        (Physical::INT64, 0, vec![1, 9, 10, 18]),
        (Physical::BYTE_ARRAY, 0, vec![1, 9, 10, 18, 19, 38, 39, 76]),
    ];
    for width in 1..=32 {
        // The most digits that fit: of 8 * width - 1 bits, 0.30103 each.
        let most = ((8 * width - 1) * 30_103 / 100_000).max(1);
        carriers.push((Physical::FIXED_LEN_BYTE_ARRAY, width, vec![1.max(most / 2), most]));
    }
    for (physical_type, width, precisions) in carriers {
        for precision in precisions {
            for scale in [0, precision / 2, precision] {
                for of_old in [false, true] {
                    let schema = decimal(physical_type, width, precision, scale, of_old);
                    let name =
                        format!("{physical_type}({width}) DECIMAL({precision}, {scale}) of old {of_old}");
                    each_layout(&mut report, &name, &schema);
                }
            }
        }
    }
    report.finish();
}

#[test]
fn random_schemas_with_lists_and_maps_of_all_times() {
    rounds("messages", 300, |rng| {
        let depth = rng.usize(..=4);
        let text = random_message(rng, depth);
        let schema = Arc::new(parse_message_type(&text).map_err(|e| format!("{e}\n{text}"))?);
        let num_rows = [1, rng.usize(1..30), rng.usize(1..400)][rng.usize(..3)];
        let layout = Layout::random(rng, num_rows);
        let bytes = random_file(rng, schema, &layout, num_rows)?;
        let engine = Engine::OURS[rng.usize(..4)];
        let batch_size = [1, 7, 1000][rng.usize(..3)];
        same_answer(engine, &bytes, &Ask::batches_of(batch_size))
            .map_err(|e| e.at(format_args!("{layout}, {text}")))
    });
}

fn each_layout(report: &mut Report, name: &str, schema: &TypePtr) {
    let small = Layout { page_rows: 50, row_group_rows: 200, v2: true, ..Layout::default() };
    for layout in [Layout::default(), Layout { dictionary: None, ..Layout::default() }, small] {
        report.check(format_args!("{name}, {layout}"), || {
            same_answers(&random_file(&mut Rng::with_seed(6), schema.clone(), &layout, 500)?)
        });
    }
}

fn decimal(physical_type: Physical, width: i32, precision: i32, scale: i32, of_old: bool) -> TypePtr {
    if !of_old {
        let physical_type = match physical_type {
            Physical::FIXED_LEN_BYTE_ARRAY => format!("{physical_type}({width})"),
            other => other.to_string(),
        };
        let text = format!("message schema {{ OPTIONAL {physical_type} x (DECIMAL({precision},{scale})); }}");
        return Arc::new(parse_message_type(&text).unwrap());
    }
    let leaf = Type::primitive_type_builder("x", physical_type)
        .with_repetition(Repetition::OPTIONAL)
        .with_converted_type(ConvertedType::DECIMAL)
        .with_length(width)
        .with_precision(precision)
        .with_scale(scale);
    message(leaf.build().unwrap())
}

fn message(leaf: Type) -> TypePtr {
    Arc::new(Type::group_type_builder("schema").with_fields(vec![Arc::new(leaf)]).build().unwrap())
}
