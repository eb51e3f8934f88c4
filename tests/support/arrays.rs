//! Arrow arrays of any type that a file can hold, filled at random; the same seed gives the same.

use std::sync::Arc;

use marquetry::arrow::array::types::{Int16Type, Int32Type, UInt8Type, UInt32Type};
use marquetry::arrow::array::*;
use marquetry::arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use marquetry::arrow::data::ArrayData;
use marquetry::arrow::schema::{DataType, Field, Fields, IntervalUnit, TimeUnit};

use super::random::Random;

/// The types of leaves.
pub fn leaf_types() -> Vec<DataType> {
    use DataType::*;
    let units = [TimeUnit::Second, TimeUnit::Millisecond, TimeUnit::Microsecond, TimeUnit::Nanosecond];
    let mut types = vec![
        Null,
        Boolean,
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Utf8,
        LargeUtf8,
        Utf8View,
        Binary,
        LargeBinary,
        BinaryView,
        FixedSizeBinary(5),
        FixedSizeBinary(16),
        Date32,
        Date64,
        Time32(TimeUnit::Second),
        Time32(TimeUnit::Millisecond),
        Time64(TimeUnit::Microsecond),
        Time64(TimeUnit::Nanosecond),
        Interval(IntervalUnit::YearMonth),
        Interval(IntervalUnit::DayTime),
        Interval(IntervalUnit::MonthDayNano),
        Decimal32(9, 2),
        Decimal32(4, 0),
        Decimal64(9, 2),
        Decimal64(18, 3),
        Decimal128(9, 9),
        Decimal128(18, 0),
        Decimal128(19, 4),
        Decimal128(38, 18),
        Decimal256(5, 1),
        Decimal256(18, 1),
        Decimal256(38, 2),
        Decimal256(76, 30),
    ];
    types.extend(units.map(Duration));
    types.extend(units.map(|unit| Timestamp(unit, None)));
    types.extend(units.map(|unit| Timestamp(unit, Some("Asia/Tokyo".into()))));
    for values in [Utf8, LargeBinary, Int64, Decimal128(30, 2), Utf8View, FixedSizeBinary(3), Date32] {
        types.push(Dictionary(Box::new(Int32), Box::new(values.clone())));
        types.push(Dictionary(Box::new(Int16), Box::new(values)));
    }
    types
}

/// A field, nullable where asked for and where it cannot but be.
pub fn field(name: &str, data_type: DataType, nullable: bool) -> Field {
    let nullable = nullable || data_type == DataType::Null;
    Field::new(name, data_type, nullable)
}

/// A type of some depth.
pub fn any_type(random: &mut Random, depth: usize) -> DataType {
    let leaves = leaf_types();
    let leaf = |random: &mut Random| leaves[random.below(leaves.len() as u64) as usize].clone();
    if depth == 0 {
        return leaf(random);
    }
    let nullable = random.below(2) == 0;
    let element = |random: &mut Random| Arc::new(field("element", any_type(random, depth - 1), nullable));
    match random.below(9) {
        0 | 1 => leaf(random),
        2 => DataType::List(element(random)),
        3 => DataType::LargeList(element(random)),
        4 => DataType::ListView(element(random)),
        5 => DataType::FixedSizeList(element(random), 1 + random.below(3) as i32),
        6 => {
            let keys = [DataType::Int32, DataType::Utf8, DataType::Date32][random.below(3) as usize].clone();
            let value = field("value", any_type(random, depth - 1), nullable);
            let fields = Fields::from(vec![Field::new("key", keys, false), value]);
            DataType::Map(Arc::new(Field::new("key_value", DataType::Struct(fields), false)), false)
        }
        _ => {
            let n = 1 + random.below(3);
            let fields: Vec<Field> = (0..n)
                .map(|i| field(&format!("f{i}"), any_type(random, depth - 1), random.below(2) == 0))
                .collect();
            DataType::Struct(fields.into())
        }
    }
}

/// `len` values of the field's type.
pub fn array(random: &mut Random, field: &Field, len: usize) -> ArrayRef {
    let nulls = if field.is_nullable() { nulls(random, len) } else { None };
    // Now and then a slice of more.
    if random.below(4) == 0 {
        let (before, after) = (random.below(9) as usize, random.below(9) as usize);
        let nulls = nulls.map(|nulls| {
            let padded: Vec<bool> = (0..before + len + after)
                .map(|i| i < before || i >= before + len || nulls.is_valid(i - before))
                .collect();
            NullBuffer::from(padded)
        });
        return of_type(random, field.data_type(), before + len + after, nulls).slice(before, len);
    }
    of_type(random, field.data_type(), len, nulls)
}

fn nulls(random: &mut Random, len: usize) -> Option<NullBuffer> {
    match random.below(6) {
        0 => None,
        1 => Some(NullBuffer::new_null(len)),
        2 => {
            let run = 1 + random.below(100);
            let mut valid = Vec::with_capacity(len);
            while valid.len() < len {
                let n = random.below(run) as usize + 1;
                valid.resize(valid.len() + n, random.below(2) == 0);
            }
            valid.truncate(len);
            Some(NullBuffer::from(valid))
        }
        n => Some((0..len).map(|_| random.below(n) > 0).collect()),
    }
}

fn of_type(random: &mut Random, data_type: &DataType, len: usize, nulls: Option<NullBuffer>) -> ArrayRef {
    match data_type {
        DataType::Null => Arc::new(NullArray::new(len)),
        DataType::Boolean => {
            let values = (0..len).map(|_| random.below(3) == 0).collect();
            Arc::new(BooleanArray::new(values, nulls))
        }
        DataType::Utf8 => Arc::new(StringArray::new(offsets(random, len), text(random, len), nulls)),
        DataType::Binary => {
            let offsets = offsets(random, len);
            Arc::new(BinaryArray::new(offsets, bytes(random, len * 20), nulls))
        }
        DataType::LargeUtf8 | DataType::LargeBinary => {
            let offsets = OffsetBuffer::new(offsets(random, len).iter().map(|&o| i64::from(o)).collect());
            match data_type {
                DataType::LargeUtf8 => Arc::new(LargeStringArray::new(offsets, text(random, len), nulls)),
                _ => Arc::new(LargeBinaryArray::new(offsets, bytes(random, len * 20), nulls)),
            }
        }
        DataType::Utf8View => {
            let plain = StringArray::new(offsets(random, len), text(random, len), nulls);
            Arc::new(plain.iter().collect::<StringViewArray>())
        }
        DataType::BinaryView => {
            let plain = BinaryArray::new(offsets(random, len), bytes(random, len * 20), nulls);
            Arc::new(plain.iter().collect::<BinaryViewArray>())
        }
        &DataType::FixedSizeBinary(width) => {
            let values = few(random, len, width as usize);
            Arc::new(FixedSizeBinaryArray::new(width, values.into(), nulls))
        }
        DataType::Dictionary(key, values) => dictionary(random, key, values, len, nulls),
        DataType::Struct(fields) => {
            let children = fields.iter().map(|field| array(random, field, len)).collect();
            Arc::new(StructArray::new(fields.clone(), children, nulls))
        }
        DataType::List(item) => {
            let (offsets, total) = lengths(random, len);
            Arc::new(ListArray::new(item.clone(), offsets, array(random, item, total), nulls))
        }
        DataType::LargeList(item) => {
            let (offsets, total) = lengths(random, len);
            let offsets = OffsetBuffer::new(offsets.iter().map(|&o| i64::from(o)).collect());
            Arc::new(LargeListArray::new(item.clone(), offsets, array(random, item, total), nulls))
        }
        DataType::ListView(item) => {
            // In any order, some of them the same elements.
            let total = len + 5;
            let offsets: Vec<i32> = (0..len).map(|_| random.below(total as u64 - 3) as i32).collect();
            let sizes: Vec<i32> = (0..len).map(|_| random.below(4) as i32).collect();
            let values = array(random, item, total);
            Arc::new(ListViewArray::new(item.clone(), offsets.into(), sizes.into(), values, nulls))
        }
        &DataType::FixedSizeList(ref item, n) => {
            let values = array(random, item, len * n as usize);
            Arc::new(FixedSizeListArray::new(item.clone(), n, values, nulls))
        }
        &DataType::Map(ref entries, sorted) => {
            let (offsets, total) = lengths(random, len);
            let DataType::Struct(fields) = entries.data_type() else { panic!() };
            let columns = fields.iter().map(|field| array(random, field, total)).collect();
            let pairs = StructArray::new(fields.clone(), columns, None);
            Arc::new(MapArray::new(entries.clone(), offsets, pairs, nulls, sorted))
        }
        _ => numbers(random, data_type, len, nulls),
    }
}

/// Bit by bit where any bits will do.
fn numbers(random: &mut Random, data_type: &DataType, len: usize, nulls: Option<NullBuffer>) -> ArrayRef {
    let values: Vec<u8> = match data_type {
        DataType::Interval(IntervalUnit::MonthDayNano) => (0..len)
            .flat_map(|_| {
                let (months, days, millis) =
                    (random.below(1 << 31), random.below(1 << 31), random.below(1 << 32));
                let value =
                    i128::from(months) | i128::from(days) << 32 | i128::from(millis * 1_000_000) << 64;
                value.to_le_bytes()
            })
            .collect(),
        &DataType::Decimal32(p, _) => decimals(random, p, len, 4),
        &DataType::Decimal64(p, _) => decimals(random, p, len, 8),
        &DataType::Decimal128(p, _) => decimals(random, p, len, 16),
        &DataType::Decimal256(p, _) => decimals(random, p, len, 32),
        DataType::Float32 if random.below(2) == 0 => {
            floats(random, len, |v| (v as f32).to_le_bytes().to_vec())
        }
        DataType::Float64 if random.below(2) == 0 => floats(random, len, |v| v.to_le_bytes().to_vec()),
        _ => few(random, len, data_type.primitive_width().unwrap()),
    };
    let data = ArrayData::builder(data_type.clone()).len(len).add_buffer(values.into()).nulls(nulls);
    make_array(data.align_buffers(true).build().unwrap())
}

fn floats(random: &mut Random, len: usize, bytes: impl Fn(f64) -> Vec<u8>) -> Vec<u8> {
    let special = [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, 1.5, -2.25];
    let share = random.below(3) * 4;
    (0..len)
        .flat_map(|_| match random.below(8) < share {
            true => bytes(special[random.below(8) as usize]),
            false => bytes(random.below(1000) as f64 / 10.0 - 20.0),
        })
        .collect()
}

fn decimals(random: &mut Random, precision: u8, len: usize, width: usize) -> Vec<u8> {
    let limit = i256::from_i128(10).wrapping_pow(precision.into());
    (0..len)
        .flat_map(|_| {
            let mut wide = [0; 32];
            wide.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&random.next().to_le_bytes()));
            let value = i256::from_le_bytes(wide).wrapping_rem(limit);
            value.to_le_bytes()[..width].to_vec()
        })
        .collect()
}

/// Values of `width` bytes each; few distinct ones, or many, or rising ones.
fn few(random: &mut Random, len: usize, width: usize) -> Vec<u8> {
    let kind = random.below(4);
    let distinct = [3, 200, u64::MAX, 1][kind as usize];
    let seed = random.next();
    let mut rising = random.next();
    (0..len)
        .flat_map(|_| {
            rising = rising.wrapping_add(random.below(5));
            let first = if kind == 3 { rising } else { random.below(distinct).wrapping_mul(seed | 1) };
            let mut value = Random::new(first);
            (0..width.div_ceil(8))
                .flat_map(|i| if i == 0 { first } else { value.next() }.to_le_bytes())
                .take(width)
                .collect::<Vec<_>>()
        })
        .collect()
}

fn offsets(random: &mut Random, len: usize) -> OffsetBuffer<i32> {
    let most = [1, 4, 20][random.below(3) as usize];
    OffsetBuffer::from_lengths((0..len).map(|_| random.below(most) as usize))
}

/// Enough for [`offsets`]; ASCII, so that it may be cut anywhere.
fn text(random: &mut Random, len: usize) -> Buffer {
    let letters = 1 + random.below(26);
    Buffer::from_vec((0..len * 20).map(|_| b'a' + random.below(letters) as u8).collect::<Vec<_>>())
}

fn bytes(random: &mut Random, len: usize) -> Buffer {
    Buffer::from_vec((0..len).map(|_| random.next() as u8 | 0xf0).collect::<Vec<_>>())
}

fn lengths(random: &mut Random, len: usize) -> (OffsetBuffer<i32>, usize) {
    let most = [1, 3, 12][random.below(3) as usize];
    let start = random.below(3) as i32;
    let mut offsets = vec![start];
    (0..len).for_each(|_| offsets.push(offsets[offsets.len() - 1] + random.below(most) as i32));
    // Some elements lie before the first list and behind the last.
    let total = offsets[len] as usize + random.below(3) as usize;
    (OffsetBuffer::new(ScalarBuffer::from(offsets)), total)
}

fn dictionary(
    random: &mut Random,
    key: &DataType,
    values: &DataType,
    len: usize,
    nulls: Option<NullBuffer>,
) -> ArrayRef {
    let n = 1 + random.below(60);
    let values = array(random, &Field::new("", values.clone(), false), n as usize);
    let keys: Vec<u32> = (0..len).map(|_| random.below(n) as u32).collect();
    match key {
        DataType::UInt8 => {
            let keys = keys.iter().map(|&key| key as u8).collect::<Vec<_>>();
            Arc::new(DictionaryArray::<UInt8Type>::new(PrimitiveArray::new(keys.into(), nulls), values))
        }
        DataType::Int16 => {
            let keys = keys.iter().map(|&key| key as i16).collect::<Vec<_>>();
            Arc::new(DictionaryArray::<Int16Type>::new(PrimitiveArray::new(keys.into(), nulls), values))
        }
        DataType::UInt32 => {
            Arc::new(DictionaryArray::<UInt32Type>::new(PrimitiveArray::new(keys.into(), nulls), values))
        }
        _ => {
            let keys = keys.iter().map(|&key| key as i32).collect::<Vec<_>>();
            Arc::new(DictionaryArray::<Int32Type>::new(PrimitiveArray::new(keys.into(), nulls), values))
        }
    }
}
