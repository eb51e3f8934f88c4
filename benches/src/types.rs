//! The Arrow types that Parquet can hold, and random schemas of them.

use std::sync::Arc;

use fastrand::Rng;

use crate::arrow::schema::{DataType, Field, Fields, IntervalUnit, Schema, SchemaRef, TimeUnit};

/// Every type of a leaf.
pub fn leaf_types() -> Vec<DataType> {
    use DataType as T;
    use TimeUnit::*;
    let mut types = vec![
        T::Null,
        T::Boolean,
        T::Int8,
        T::Int16,
        T::Int32,
        T::Int64,
        T::UInt8,
        T::UInt16,
        T::UInt32,
        T::UInt64,
        T::Float16,
        T::Float32,
        T::Float64,
        T::Utf8,
        T::LargeUtf8,
        T::Utf8View,
        T::Binary,
        T::LargeBinary,
        T::BinaryView,
        T::Date32,
        T::Date64,
        T::Time32(Second),
        T::Time32(Millisecond),
        T::Time64(Microsecond),
        T::Time64(Nanosecond),
        T::Interval(IntervalUnit::YearMonth),
        T::Interval(IntervalUnit::DayTime),
    ];
    for unit in [Second, Millisecond, Microsecond, Nanosecond] {
        types.push(T::Duration(unit));
        for zone in [None, Some("UTC"), Some("+02:00"), Some("America/New_York")] {
            types.push(T::Timestamp(unit, zone.map(Into::into)));
        }
    }
    types.extend([1, 2, 3, 5, 8, 12, 16, 20].map(T::FixedSizeBinary));
    types.extend([(2, 0), (4, 2), (9, 9)].map(|(p, s)| T::Decimal32(p, s)));
    types.extend([(1, 1), (9, 3), (10, 0), (18, 4)].map(|(p, s)| T::Decimal64(p, s)));
    types.extend([(4, 2), (9, 0), (10, 2), (18, 18), (19, 2), (38, 10)].map(|(p, s)| T::Decimal128(p, s)));
    types.extend([(5, 1), (18, 2), (38, 0), (39, 5), (76, 20)].map(|(p, s)| T::Decimal256(p, s)));
    types
}

/// Dictionaries: every key with strings, one key with every value that may be.
///
/// Not FixedSizeBinary: the rival writes such dictionaries with a length before each value, which Encodings.md has
/// for BYTE_ARRAY alone.
pub fn dictionary_types() -> Vec<DataType> {
    use DataType as T;
    let keyed = |key: T, value: T| T::Dictionary(Box::new(key), Box::new(value));
    let keys = [T::Int8, T::Int16, T::Int32, T::Int64, T::UInt8, T::UInt16, T::UInt32, T::UInt64];
    let values = [
        T::Binary,
        T::LargeUtf8,
        T::LargeBinary,
        T::Int32,
        T::Int64,
        T::UInt8,
        T::UInt32,
        T::UInt64,
        T::Float32,
        T::Float64,
        T::Date32,
        T::Decimal128(20, 3),
        T::Timestamp(TimeUnit::Microsecond, None),
    ];
    let strings = keys.into_iter().map(|key| keyed(key, T::Utf8));
    strings.chain(values.into_iter().map(|value| keyed(T::Int32, value))).collect()
}

/// A schema of one to six columns; nested ones up to `depth` levels, `0` for leaves alone.
pub fn random_schema(rng: &mut Rng, depth: usize) -> SchemaRef {
    let num_columns = rng.usize(1..=6);
    let fields = (0..num_columns).map(|column| {
        let data_type = random_type(rng, depth);
        let nullable = rng.bool() || data_type == DataType::Null;
        Field::new(format!("c{column}"), data_type, nullable)
    });
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// A random type of at most `depth` levels of nesting.
pub fn random_type(rng: &mut Rng, depth: usize) -> DataType {
    if depth == 0 || rng.u8(..6) == 0 {
        return random_leaf(rng);
    }
    match rng.u8(..6) {
        0 | 1 => {
            let num_fields = rng.usize(1..=3);
            let fields = (0..num_fields).map(|i| random_field(rng, &format!("f{i}"), depth));
            DataType::Struct(fields.collect())
        }
        2 => DataType::List(Arc::new(random_item(rng, depth))),
        3 => DataType::LargeList(Arc::new(random_item(rng, depth))),
        4 => {
            let size = rng.i32(1..=3);
            DataType::FixedSizeList(Arc::new(random_item(rng, depth)), size)
        }
        _ => {
            let (entries, key, value) = match rng.bool() {
                true => ("entries", "keys", "values"),
                false => ("key_value", "key", "value"),
            };
            let key = Field::new(key, random_key(rng), false);
            let value = random_field(rng, value, depth);
            let entries = Field::new(entries, DataType::Struct(Fields::from(vec![key, value])), false);
            DataType::Map(Arc::new(entries), false)
        }
    }
}

fn random_field(rng: &mut Rng, name: &str, depth: usize) -> Field {
    let data_type = random_type(rng, depth - 1);
    let nullable = rng.bool() || data_type == DataType::Null;
    Field::new(name, data_type, nullable)
}

fn random_item(rng: &mut Rng, depth: usize) -> Field {
    let name = ["item", "element"][rng.usize(..2)];
    random_field(rng, name, depth)
}

fn random_key(rng: &mut Rng) -> DataType {
    [DataType::Utf8, DataType::Int32, DataType::Int64, DataType::FixedSizeBinary(4)][rng.usize(..4)].clone()
}

fn random_leaf(rng: &mut Rng) -> DataType {
    let mut types = match rng.u8(..10) {
        0 => dictionary_types(),
        _ => leaf_types(),
    };
    types.swap_remove(rng.usize(..types.len()))
}
