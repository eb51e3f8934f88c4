//! Random arrays of any Arrow type that Parquet can hold.
//!
//! Takes a generator, a field and how values and nulls shall lie; gives an array. Knows nothing of files.

use std::sync::Arc;

use fastrand::Rng;
use half::f16;

use crate::arrow::array::types::*;
use crate::arrow::array::*;
use crate::arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer, i256};
use crate::arrow::schema::{DataType, Field, IntervalUnit, TimeUnit};

/// Where the nulls of a nullable column lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    None,
    All,
    /// So many of a hundred, each at random.
    Percent(u8),
    /// Runs of nulls and of values, each of random length up to this.
    Runs(usize),
    Alternating,
}

/// How the values of a column lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Any bits of the type; strings and bytes of 0 to 40, now and then of hundreds.
    Wide,
    /// A few hundred values close together; short strings.
    Narrow,
    /// So many distinct values.
    Distinct(u64),
    /// Each a little above the one before; strings that share prefixes.
    Rising,
    /// One value all along with rare others.
    Constant,
}

/// How one column is filled.
#[derive(Debug, Clone, Copy)]
pub struct Filling {
    pub nulls: Nulls,
    pub spread: Spread,
}

impl Nulls {
    pub const ALL: [Nulls; 8] = [
        Nulls::None,
        Nulls::All,
        Nulls::Percent(10),
        Nulls::Percent(50),
        Nulls::Percent(90),
        Nulls::Runs(10),
        Nulls::Runs(300),
        Nulls::Alternating,
    ];

    /// The validity of `len` rows; `None` where no row is null.
    pub fn validity(self, rng: &mut Rng, len: usize) -> Option<NullBuffer> {
        let valid: Vec<bool> = match self {
            Nulls::None => return None,
            Nulls::All => vec![false; len],
            Nulls::Percent(share) => (0..len).map(|_| rng.u8(..100) >= share).collect(),
            Nulls::Alternating => (0..len).map(|row| row % 2 == 0).collect(),
            Nulls::Runs(longest) => {
                let mut rows = Vec::with_capacity(len);
                let mut valid = rng.bool();
                while rows.len() < len {
                    let run = rng.usize(1..=longest).min(len - rows.len());
                    rows.resize(rows.len() + run, valid);
                    valid = !valid;
                }
                rows
            }
        };
        Some(NullBuffer::from(valid))
    }
}

impl Spread {
    pub const ALL: [Spread; 5] =
        [Spread::Wide, Spread::Narrow, Spread::Distinct(5), Spread::Rising, Spread::Constant];
}

impl Filling {
    pub fn random(rng: &mut Rng) -> Self {
        Self { nulls: Nulls::ALL[rng.usize(..8)], spread: Spread::ALL[rng.usize(..5)] }
    }
}

/// `len` values of `field`'s type, with nulls only where the field allows them.
///
/// The children of a nested type are filled each its own random way.
///
/// # Panics
/// On types that Parquet has no counterpart for.
pub fn array(rng: &mut Rng, field: &Field, filling: Filling, len: usize) -> ArrayRef {
    let nulls = if field.is_nullable() { filling.nulls.validity(rng, len) } else { None };
    let spread = filling.spread;
    match field.data_type() {
        DataType::Null => Arc::new(NullArray::new(len)),
        DataType::Struct(fields) => {
            let children = fields.iter().map(|child| child_array(rng, child, len)).collect();
            Arc::new(StructArray::new(fields.clone(), children, nulls))
        }
        DataType::List(child) => {
            let offsets = OffsetBuffer::<i32>::from_lengths(lengths(rng, len));
            let values = child_array(rng, child, last(&offsets));
            Arc::new(ListArray::new(child.clone(), offsets, values, nulls))
        }
        DataType::LargeList(child) => {
            let offsets = OffsetBuffer::<i64>::from_lengths(lengths(rng, len));
            let values = child_array(rng, child, last(&offsets));
            Arc::new(LargeListArray::new(child.clone(), offsets, values, nulls))
        }
        DataType::FixedSizeList(child, size) => {
            let values = child_array(rng, child, len * *size as usize);
            Arc::new(FixedSizeListArray::new(child.clone(), *size, values, nulls))
        }
        DataType::Map(entries, ordered) => {
            let DataType::Struct(fields) = entries.data_type() else { panic!("entries are a struct") };
            let offsets = OffsetBuffer::<i32>::from_lengths(lengths(rng, len));
            let children =
                fields.iter().map(|child| child_array(rng, child, last(&offsets))).collect::<Vec<_>>();
            let values = StructArray::new(fields.clone(), children, None);
            Arc::new(MapArray::new(entries.clone(), offsets, values, nulls, *ordered))
        }
        DataType::Dictionary(key, value) => dictionary(rng, key, value, spread, nulls, len),
        DataType::Boolean => {
            let words = words(rng, spread, len);
            Arc::new(BooleanArray::new(BooleanBuffer::from_iter(words.iter().map(|w| w & 1 == 1)), nulls))
        }
        DataType::FixedSizeBinary(width) => {
            let bytes = fixed_bytes(rng, spread, *width as usize, len);
            Arc::new(FixedSizeBinaryArray::new(*width, Buffer::from(bytes), nulls))
        }
        DataType::Utf8 => Arc::new(StringArray::from_iter(strings(rng, spread, nulls, len))),
        DataType::LargeUtf8 => Arc::new(LargeStringArray::from_iter(strings(rng, spread, nulls, len))),
        DataType::Utf8View => Arc::new(StringViewArray::from_iter(strings(rng, spread, nulls, len))),
        DataType::Binary => Arc::new(BinaryArray::from_iter(byte_strings(rng, spread, nulls, len))),
        DataType::LargeBinary => Arc::new(LargeBinaryArray::from_iter(byte_strings(rng, spread, nulls, len))),
        DataType::BinaryView => Arc::new(BinaryViewArray::from_iter(byte_strings(rng, spread, nulls, len))),
        fixed => primitive(rng, fixed, spread, nulls, len),
    }
}

/// A child of a nested array, filled in a way of its own.
fn child_array(rng: &mut Rng, field: &Field, len: usize) -> ArrayRef {
    let filling = Filling::random(rng);
    array(rng, field, filling, len)
}

/// Lengths of `len` lists: short, and shorter where there are many, so that nesting does not explode.
fn lengths(rng: &mut Rng, len: usize) -> Vec<usize> {
    let longest = if len > 4000 { 1 } else { rng.usize(1..=5) };
    (0..len)
        .map(|_| match rng.u8(..100) {
            0 if len < 500 => rng.usize(..60),
            _ => rng.usize(..=longest),
        })
        .collect()
}

fn last<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> usize {
    offsets[offsets.len() - 1].as_usize()
}

fn primitive(
    rng: &mut Rng,
    data_type: &DataType,
    spread: Spread,
    nulls: Option<NullBuffer>,
    len: usize,
) -> ArrayRef {
    const DAY: i64 = 86_400;
    let words = words(rng, spread, len);
    macro_rules! fixed {
        ($type:ty, $of:expr) => {{
            let values = ScalarBuffer::from(words.into_iter().map($of).collect::<Vec<_>>());
            Arc::new(PrimitiveArray::<$type>::new(values, nulls).with_data_type(data_type.clone()))
        }};
    }
    match data_type {
        DataType::Int8 => fixed!(Int8Type, |w| w as i8),
        DataType::Int16 => fixed!(Int16Type, |w| w as i16),
        DataType::Int32 => fixed!(Int32Type, |w| w as i32),
        DataType::Int64 => fixed!(Int64Type, |w| w as i64),
        DataType::UInt8 => fixed!(UInt8Type, |w| w as u8),
        DataType::UInt16 => fixed!(UInt16Type, |w| w as u16),
        DataType::UInt32 => fixed!(UInt32Type, |w| w as u32),
        DataType::UInt64 => fixed!(UInt64Type, |w| w),
        DataType::Float16 if spread == Spread::Wide => fixed!(Float16Type, |w| f16::from_bits(w as u16)),
        DataType::Float16 => fixed!(Float16Type, |w| f16::from_f32(cents(w) as f32)),
        DataType::Float32 if spread == Spread::Wide => fixed!(Float32Type, |w| f32::from_bits(w as u32)),
        DataType::Float32 => fixed!(Float32Type, |w| cents(w) as f32),
        DataType::Float64 if spread == Spread::Wide => fixed!(Float64Type, f64::from_bits),
        DataType::Float64 => fixed!(Float64Type, cents),
        DataType::Date32 => fixed!(Date32Type, |w| w as i32),
        // Whole days, as the type asks; the writer may store them as such.
        DataType::Date64 => fixed!(Date64Type, |w| i64::from(w as i32) * DAY * 1000),
        DataType::Time32(TimeUnit::Second) => fixed!(Time32SecondType, |w| within(w, DAY) as i32),
        DataType::Time32(_) => fixed!(Time32MillisecondType, |w| within(w, DAY * 1000) as i32),
        DataType::Time64(TimeUnit::Microsecond) => {
            fixed!(Time64MicrosecondType, |w| within(w, DAY * 1_000_000))
        }
        DataType::Time64(_) => fixed!(Time64NanosecondType, |w| within(w, DAY * 1_000_000_000)),
        // Seconds that still fit when the writer makes milliseconds of them.
        DataType::Timestamp(TimeUnit::Second, _) => {
            fixed!(TimestampSecondType, |w| (w as i64) >> 16)
        }
        DataType::Timestamp(TimeUnit::Millisecond, _) => fixed!(TimestampMillisecondType, |w| w as i64),
        DataType::Timestamp(TimeUnit::Microsecond, _) => fixed!(TimestampMicrosecondType, |w| w as i64),
        DataType::Timestamp(TimeUnit::Nanosecond, _) => fixed!(TimestampNanosecondType, |w| w as i64),
        DataType::Duration(TimeUnit::Second) => fixed!(DurationSecondType, |w| w as i64),
        DataType::Duration(TimeUnit::Millisecond) => fixed!(DurationMillisecondType, |w| w as i64),
        DataType::Duration(TimeUnit::Microsecond) => fixed!(DurationMicrosecondType, |w| w as i64),
        DataType::Duration(TimeUnit::Nanosecond) => fixed!(DurationNanosecondType, |w| w as i64),
        // Not negative: the file has unsigned parts, and the rival wraps those of 2^31 and more.
        DataType::Interval(IntervalUnit::YearMonth) => fixed!(IntervalYearMonthType, |w| w as i32 & i32::MAX),
        DataType::Interval(IntervalUnit::DayTime) => fixed!(IntervalDayTimeType, |w| {
            IntervalDayTimeType::make_value(w as i32 & i32::MAX, (w >> 32) as i32 & i32::MAX)
        }),
        DataType::Decimal32(precision, _) => {
            let bound = 10_i64.pow(u32::from(*precision));
            fixed!(Decimal32Type, move |w| (w as i64 % bound) as i32)
        }
        DataType::Decimal64(precision, _) => {
            let bound = 10_i64.pow(u32::from(*precision));
            fixed!(Decimal64Type, move |w| w as i64 % bound)
        }
        DataType::Decimal128(precision, _) => {
            let bound = 10_i128.pow(u32::from(*precision));
            fixed!(Decimal128Type, move |w| widen(w, spread) % bound)
        }
        DataType::Decimal256(precision, _) => {
            let bound = i256::from_i128(10).wrapping_pow(u32::from(*precision));
            fixed!(Decimal256Type, move |w| {
                let value = i256::from_i128(widen(w, spread));
                let value = if spread == Spread::Wide { value.wrapping_mul(value) } else { value };
                value.wrapping_rem(bound)
            })
        }
        other => panic!("no random values of {other}"),
    }
}

/// A small decimal fraction, as prices are: what ALP is for.
fn cents(word: u64) -> f64 {
    (word as i64 >> 20) as f64 / 100.0
}

fn within(word: u64, bound: i64) -> i64 {
    (word as i64).rem_euclid(bound)
}

/// Many digits of a word where wide values are asked for; its own else.
fn widen(word: u64, spread: Spread) -> i128 {
    let word = i128::from(word as i64);
    if spread == Spread::Wide { word.wrapping_mul(word).wrapping_mul(0x1_0000_0001) } else { word }
}

fn dictionary(
    rng: &mut Rng,
    key: &DataType,
    value: &DataType,
    spread: Spread,
    nulls: Option<NullBuffer>,
    len: usize,
) -> ArrayRef {
    let filling = Filling { nulls: Nulls::None, spread };
    let size = rng.usize(1..=100);
    let values = array(rng, &Field::new("values", value.clone(), false), filling, size);
    let ids: Vec<u8> = (0..len).map(|_| rng.u8(..size as u8)).collect();
    macro_rules! keyed {
        ($type:ty) => {{
            let keys = ids.iter().map(|id| *id as _).collect::<Vec<_>>();
            let keys = PrimitiveArray::<$type>::new(ScalarBuffer::from(keys), nulls);
            Arc::new(DictionaryArray::new(keys, values))
        }};
    }
    match key {
        DataType::Int8 => keyed!(Int8Type),
        DataType::Int16 => keyed!(Int16Type),
        DataType::Int32 => keyed!(Int32Type),
        DataType::Int64 => keyed!(Int64Type),
        DataType::UInt8 => keyed!(UInt8Type),
        DataType::UInt16 => keyed!(UInt16Type),
        DataType::UInt32 => keyed!(UInt32Type),
        DataType::UInt64 => keyed!(UInt64Type),
        other => panic!("no dictionary keys of {other}"),
    }
}

/// Sixty-four bits a value, spread as asked; types take what they need of them.
fn words(rng: &mut Rng, spread: Spread, len: usize) -> Vec<u64> {
    let base = rng.u64(..1 << 40);
    let mut at = base;
    (0..len)
        .map(|_| match spread {
            Spread::Wide => match rng.u8(..50) {
                0 => [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1][rng.usize(..5)],
                _ => rng.u64(..),
            },
            Spread::Narrow => base.wrapping_add(rng.u64(..300)),
            Spread::Distinct(distinct) => rng.u64(..distinct).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            Spread::Rising => {
                at = at.wrapping_add(rng.u64(..1000));
                at
            }
            Spread::Constant => {
                if rng.u8(..100) == 0 {
                    at = rng.u64(..);
                }
                at
            }
        })
        .collect()
}

fn fixed_bytes(rng: &mut Rng, spread: Spread, width: usize, len: usize) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(width * len);
    for word in words(rng, spread, len) {
        // The word's own bytes lie last, as numbers in big-endian order do: neighbours share a prefix.
        let filler = if spread == Spread::Wide { Rng::with_seed(word).u8(..) } else { 7 };
        let mut value = vec![filler; width];
        for (to, from) in value.iter_mut().rev().zip(word.to_le_bytes()) {
            *to = from;
        }
        bytes.extend(value);
    }
    bytes
}

fn strings(rng: &mut Rng, spread: Spread, nulls: Option<NullBuffer>, len: usize) -> Vec<Option<String>> {
    const LETTERS: [char; 12] = ['a', 'b', 'c', 'z', '0', '-', ' ', '/', 'é', 'ß', '語', '🦀'];
    let values = words(rng, spread, len).into_iter().map(|word| {
        let mut own = Rng::with_seed(word);
        match spread {
            Spread::Rising => format!("https://example.com/category/item-{word:014}"),
            Spread::Narrow => format!("{}", word % 300),
            Spread::Distinct(_) | Spread::Constant => {
                let mut text = format!("value-{:x}", word % 1_000_003);
                text.extend((0..own.usize(..12)).map(|_| LETTERS[own.usize(..LETTERS.len())]));
                text
            }
            Spread::Wide => {
                let len = if own.u8(..50) == 0 { own.usize(..700) } else { own.usize(..=40) };
                (0..len).map(|_| LETTERS[own.usize(..LETTERS.len())]).collect()
            }
        }
    });
    values.enumerate().map(|(row, value)| is_valid(&nulls, row).then_some(value)).collect()
}

fn byte_strings(
    rng: &mut Rng,
    spread: Spread,
    nulls: Option<NullBuffer>,
    len: usize,
) -> Vec<Option<Vec<u8>>> {
    let values = words(rng, spread, len).into_iter().map(|word| {
        let mut own = Rng::with_seed(word);
        match spread {
            Spread::Rising => format!("tenant-{}/user-{word}", word >> 14).into_bytes(),
            Spread::Narrow => word.to_be_bytes()[6..].to_vec(),
            Spread::Distinct(_) | Spread::Constant => vec![word as u8; own.usize(..20)],
            Spread::Wide => {
                let len = if own.u8(..50) == 0 { own.usize(..700) } else { own.usize(..=40) };
                (0..len).map(|_| own.u8(..)).collect()
            }
        }
    });
    values.enumerate().map(|(row, value)| is_valid(&nulls, row).then_some(value)).collect()
}

fn is_valid(nulls: &Option<NullBuffer>, row: usize) -> bool {
    nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row))
}
