//! Random records of any Parquet schema, written below Arrow: levels and values of each leaf.
//!
//! For what no Arrow schema leads to: INT96, annotations of old, carriers of decimals, lists of two levels,
//! repeated fields anywhere.

use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;

use crate::layout::{Layout, written};
use crate::rival::basic::{ConvertedType, Repetition};
use crate::rival::column::writer::ColumnWriter;
use crate::rival::data_type::{ByteArray, FixedLenByteArray, Int96};
use crate::rival::errors::ParquetError;
use crate::rival::file::writer::SerializedFileWriter;
use crate::rival::schema::types::{ColumnDescriptor, SchemaDescriptor, Type, TypePtr};
use crate::seeds::Failure;

/// A file of `num_rows` random records in row groups of `layout.row_group_rows`.
///
/// # Errors
/// What the rival's writer refuses.
pub fn random_file(
    rng: &mut Rng,
    schema: TypePtr,
    layout: &Layout,
    num_rows: usize,
) -> Result<Bytes, Failure> {
    written(|| {
        let descriptor = SchemaDescriptor::new(schema.clone());
        let properties = Arc::new(layout.properties(&descriptor));
        let mut writer = SerializedFileWriter::new(Vec::new(), schema.clone(), properties)?;
        let mut left = num_rows;
        while left > 0 {
            let rows = left.min(layout.row_group_rows);
            left -= rows;
            let leaves = shred(rng, &schema, descriptor.num_columns(), rows);
            let mut row_group = writer.next_row_group()?;
            let mut index = 0;
            while let Some(mut column) = row_group.next_column()? {
                let (leaf, leaf_type) = (&leaves[index], descriptor.column(index));
                write_leaf(rng, column.untyped(), &leaf_type, leaf)?;
                column.close()?;
                index += 1;
            }
            row_group.close()?;
        }
        writer.into_inner().map(Bytes::from)
    })
}

/// A schema of random groups: lists and maps as the specification has them, those of old, and repeated fields bare.
///
/// Text that the rival's parser takes.
pub fn random_message(rng: &mut Rng, depth: usize) -> String {
    let mut text = "message schema {\n".to_owned();
    for column in 0..rng.usize(1..=4) {
        random_node(rng, &format!("c{column}"), depth, &mut text);
    }
    text + "}"
}

fn random_node(rng: &mut Rng, name: &str, depth: usize, text: &mut String) {
    let optional = ["REQUIRED", "OPTIONAL"][rng.usize(..2)];
    if depth == 0 || rng.u8(..4) == 0 {
        let repetition = if rng.u8(..6) == 0 { "REPEATED" } else { optional };
        text.push_str(&format!(
            "{repetition} {};\n",
            LEAVES[rng.usize(..LEAVES.len())].replace("NAME", name)
        ));
        return;
    }
    let mut group = |rng: &mut Rng, head: String, children: &[&str]| {
        text.push_str(&format!("{head} {{\n"));
        for child in children {
            random_node(rng, child, depth - 1, text);
        }
        text.push_str("}\n");
    };
    match rng.u8(..8) {
        0 => group(rng, format!("{optional} GROUP {name}"), &["a"]),
        1 => group(rng, format!("{optional} GROUP {name}"), &["a", "b"]),
        2 => group(rng, format!("REPEATED GROUP {name}"), &["a", "b"]),
        // The list of three levels, then four forms of two.
        3 | 4 => {
            text.push_str(&format!("{optional} GROUP {name} (LIST) {{\nREPEATED GROUP list {{\n"));
            random_node_not_repeated(rng, "element", depth - 1, text);
            text.push_str("}\n}\n");
        }
        5 => {
            let repeated = [("array", 1), ("list_tuple", 1), ("element", 2)][rng.usize(..3)];
            let inner = if repeated.0 == "list_tuple" { format!("{name}_tuple") } else { repeated.0.into() };
            text.push_str(&format!("{optional} GROUP {name} (LIST) {{\nREPEATED GROUP {inner} {{\n"));
            for child in &["x", "y"][..repeated.1] {
                random_node_not_repeated(rng, child, depth - 1, text);
            }
            text.push_str("}\n}\n");
        }
        6 => {
            text.push_str(&format!("{optional} GROUP {name} (LIST) {{\nREPEATED INT32 element;\n}}\n"));
        }
        _ => {
            let annotation = ["MAP", "MAP_KEY_VALUE"][usize::from(rng.u8(..4) == 0)];
            let head = format!("{optional} GROUP {name} ({annotation}) {{\nREPEATED GROUP key_value");
            text.push_str(&format!("{head} {{\nREQUIRED BYTE_ARRAY key (UTF8);\n"));
            random_node_not_repeated(rng, "value", depth - 1, text);
            text.push_str("}\n}\n");
        }
    }
}

/// A node below a list: a repeated one there is read differently on purpose, where it is the only one.
fn random_node_not_repeated(rng: &mut Rng, name: &str, depth: usize, text: &mut String) {
    let mut node = String::new();
    random_node(rng, name, depth, &mut node);
    text.push_str(&node.replacen("REPEATED", "OPTIONAL", usize::from(node.starts_with("REPEATED"))));
}

/// Leaves of [`random_message`], `NAME` to be replaced.
const LEAVES: [&str; 10] = [
    "BOOLEAN NAME",
    "INT32 NAME",
    "INT64 NAME",
    "INT96 NAME",
    "DOUBLE NAME",
    "BYTE_ARRAY NAME",
    "BYTE_ARRAY NAME (UTF8)",
    "FIXED_LEN_BYTE_ARRAY(5) NAME",
    "INT32 NAME (DECIMAL(9,2))",
    "INT64 NAME (TIMESTAMP(MICROS,true))",
];

/// The levels of one leaf, and how many values go with them.
#[derive(Default)]
struct Leaf {
    definition: Vec<i16>,
    repetition: Vec<i16>,
    num_values: usize,
}

/// Levels of random records, leaf by leaf.
fn shred(rng: &mut Rng, schema: &Type, num_leaves: usize, num_rows: usize) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = (0..num_leaves).map(|_| Leaf::default()).collect();
    let absent = [0, 10, 50, 90][rng.usize(..4)];
    for _ in 0..num_rows {
        let mut rest = leaves.as_mut_slice();
        for field in schema.get_fields() {
            let levels = Levels { definition: 0, repetition: 0, depth: 0 };
            rest = node(rng, field, levels, true, absent, rest);
        }
    }
    leaves
}

#[derive(Clone, Copy)]
struct Levels {
    definition: i16,
    /// Of the next level written.
    repetition: i16,
    /// Repeated fields on the way here.
    depth: i16,
}

/// Adds one occurrence of a field to its leaves, the first of `leaves`, and gives back the others.
fn node<'a>(
    rng: &mut Rng,
    field: &Type,
    levels: Levels,
    present: bool,
    absent: u8,
    leaves: &'a mut [Leaf],
) -> &'a mut [Leaf] {
    let repetition = field.get_basic_info().repetition();
    if !present || repetition == Repetition::REQUIRED {
        return content(rng, field, levels, present, absent, leaves);
    }
    let missing = rng.u8(..100) < absent;
    if missing {
        return content(rng, field, levels, false, absent, leaves);
    }
    let mut levels = Levels { definition: levels.definition + 1, ..levels };
    if repetition == Repetition::OPTIONAL {
        return content(rng, field, levels, true, absent, leaves);
    }
    levels.depth += 1;
    let num_leaves = num_leaves(field);
    for item in 0..rng.usize(1..=4) {
        let repetition = if item == 0 { levels.repetition } else { levels.depth };
        content(rng, field, Levels { repetition, ..levels }, true, absent, &mut leaves[..num_leaves]);
    }
    &mut leaves[num_leaves..]
}

fn content<'a>(
    rng: &mut Rng,
    field: &Type,
    levels: Levels,
    present: bool,
    absent: u8,
    mut leaves: &'a mut [Leaf],
) -> &'a mut [Leaf] {
    if field.is_group() {
        for child in field.get_fields() {
            leaves = node(rng, child, levels, present, absent, leaves);
        }
        return leaves;
    }
    let (leaf, rest) = leaves.split_first_mut().expect("a leaf for each primitive field");
    leaf.definition.push(levels.definition);
    leaf.repetition.push(levels.repetition);
    leaf.num_values += usize::from(present);
    rest
}

fn num_leaves(field: &Type) -> usize {
    if field.is_group() { field.get_fields().iter().map(|child| num_leaves(child)).sum() } else { 1 }
}

fn write_leaf(
    rng: &mut Rng,
    writer: &mut ColumnWriter<'_>,
    leaf_type: &ColumnDescriptor,
    leaf: &Leaf,
) -> Result<(), ParquetError> {
    let definition = (leaf_type.max_def_level() > 0).then_some(leaf.definition.as_slice());
    let repetition = (leaf_type.max_rep_level() > 0).then_some(leaf.repetition.as_slice());
    let numbers: Vec<i128> = (0..leaf.num_values).map(|_| number(rng, leaf_type)).collect();
    macro_rules! write {
        ($writer:expr, $value:expr) => {{
            let values: Vec<_> = numbers.into_iter().map($value).collect();
            $writer.write_batch(&values, definition, repetition)?;
        }};
    }
    match writer {
        ColumnWriter::BoolColumnWriter(writer) => write!(writer, |n| n & 1 == 1),
        ColumnWriter::Int32ColumnWriter(writer) => write!(writer, |n| n as i32),
        ColumnWriter::Int64ColumnWriter(writer) => write!(writer, |n| n as i64),
        ColumnWriter::Int96ColumnWriter(writer) => write!(writer, |n| int96(n as u64)),
        ColumnWriter::FloatColumnWriter(writer) => write!(writer, |n| f32::from_bits(n as u32)),
        ColumnWriter::DoubleColumnWriter(writer) => write!(writer, |n| f64::from_bits(n as u64)),
        ColumnWriter::ByteArrayColumnWriter(writer) => {
            write!(writer, |n| ByteArray::from(bytes_of(n, leaf_type)))
        }
        ColumnWriter::FixedLenByteArrayColumnWriter(writer) => {
            let width = leaf_type.type_length() as usize;
            write!(writer, |n| FixedLenByteArray::from(ByteArray::from(big_endian(n, width))))
        }
    }
    Ok(())
}

/// A number that the annotation of the leaf allows.
fn number(rng: &mut Rng, leaf_type: &ColumnDescriptor) -> i128 {
    let wide = match rng.u8(..3) {
        0 => i128::from(rng.i64(-300..300)),
        1 => i128::from(rng.i64(..)),
        _ => rng.i128(..),
    };
    // The rival gives an annotation of either kind a converted type, save those that only one kind can say.
    match leaf_type.converted_type() {
        ConvertedType::DECIMAL => wide % 10_i128.pow(leaf_type.type_precision().clamp(1, 38) as u32),
        ConvertedType::UINT_8 => i128::from(wide as u8),
        ConvertedType::UINT_16 => i128::from(wide as u16),
        ConvertedType::INT_8 => i128::from(wide as i8),
        ConvertedType::INT_16 => i128::from(wide as i16),
        // Parts below 2^31, beyond which the rival wraps: no top bit in bytes 3, 7 and 11, counted from the last.
        ConvertedType::INTERVAL => wide & !(0x80 | 0x80 << 32 | 0x80 << 64),
        ConvertedType::TIME_MILLIS => wide.rem_euclid(86_400_000),
        ConvertedType::TIME_MICROS => wide.rem_euclid(86_400_000_000),
        _ => wide,
    }
}

fn int96(word: u64) -> Int96 {
    let (day, nanos) = (2_440_588 - 30_000 + word as u32 % 60_000, word % 86_400_000_000_000);
    let mut value = Int96::new();
    value.set_data(nanos as u32, (nanos >> 32) as u32, day);
    value
}

/// The shortest big-endian form for decimals, digits for strings, random bytes else.
fn bytes_of(number: i128, leaf_type: &ColumnDescriptor) -> Vec<u8> {
    match leaf_type.converted_type() {
        ConvertedType::DECIMAL => {
            let bits = 129 - (number ^ (number >> 127)).leading_zeros() as usize;
            big_endian(number, bits.div_ceil(8) + (number as usize & 1).min(usize::from(bits < 100)))
        }
        ConvertedType::NONE | ConvertedType::BSON => {
            let mut own = Rng::with_seed(number as u64);
            (0..own.usize(..30)).map(|_| own.u8(..)).collect()
        }
        _ => format!("{}·{}", number % 1000, "é".repeat(number as usize % 15)).into_bytes(),
    }
}

fn big_endian(number: i128, width: usize) -> Vec<u8> {
    let sign = if number < 0 { 0xff } else { 0 };
    let mut bytes = vec![sign; width];
    for (to, from) in bytes.iter_mut().rev().zip(number.to_le_bytes()) {
        *to = from;
    }
    bytes
}
