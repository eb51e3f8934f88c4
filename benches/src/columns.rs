//! Columns to write, each with the encoding that it is there for.

use std::sync::Arc;

use crate::arrow::array::types::{Decimal128Type, Int64Type};
use crate::arrow::array::{
    ArrayRef, BinaryArray, Float32Array, Float64Array, Int32Array, Int64Array, PrimitiveArray, StringArray,
};
use marquetry::metadata::Encoding;

/// One column without nulls.
pub struct Column {
    pub name: String,
    pub array: ArrayRef,
    /// What values are encoded with; a dictionary for `None`.
    pub encoding: Option<Encoding>,
}

/// All columns whose names `wanted` wants, `rows` long. They are made as they are asked for.
pub fn columns(rows: usize, wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = Column> {
    shapes().into_iter().filter_map(move |(name, encoding, make)| {
        wanted(&name).then(|| Column { array: make(rows, &mut fastrand::Rng::with_seed(7)), name, encoding })
    })
}

type Make = Box<dyn Fn(usize, &mut fastrand::Rng) -> ArrayRef>;
type Shape = (String, Option<Encoding>, Make);

fn shapes() -> Vec<Shape> {
    let mut shapes: Vec<Shape> = vec![];
    let mut add = |name: &str, encoding, make: Make| shapes.push((name.to_owned(), encoding, make));
    for (prefix, encoding) in [
        ("delta_byte_array", Encoding::DeltaByteArray),
        ("delta_length_byte_array", Encoding::DeltaLengthByteArray),
        ("plain", Encoding::Plain),
    ] {
        add(&format!("{prefix}/urls"), Some(encoding), Box::new(urls));
        add(&format!("{prefix}/random-8-40"), Some(encoding), Box::new(random_bytes));
        add(&format!("{prefix}/binary-16"), Some(encoding), Box::new(sixteen));
    }
    let packed = Some(Encoding::DeltaBinaryPacked);
    add("delta_binary_packed/i64-sequence", packed, Box::new(|n, _| int64((0..n as i64).collect())));
    add("delta_binary_packed/i64-timestamps", packed, Box::new(timestamps));
    add("delta_binary_packed/i64-40-bit", packed, Box::new(|n, rng| int64(times(n, || rng.i64(0..1 << 40)))));
    for bits in [20, 7] {
        let make = move |n, rng: &mut fastrand::Rng| -> ArrayRef {
            Arc::new(Int32Array::from(times(n, || rng.i32(0..1 << bits))))
        };
        add(&format!("delta_binary_packed/i32-{bits}-bit"), packed, Box::new(make));
    }
    let split = Some(Encoding::ByteStreamSplit);
    add("byte_stream_split/f64", split, Box::new(doubles));
    add(
        "byte_stream_split/f32",
        split,
        Box::new(|n, rng| Arc::new(Float32Array::from(times(n, || rng.f32())))),
    );
    add("plain/f64", Some(Encoding::Plain), Box::new(doubles));
    for distinct in [16, 1000, 65_536] {
        let numbers = move |n, rng: &mut fastrand::Rng| int64(times(n, || rng.i64(0..distinct) * 1_000_003));
        add(&format!("dictionary/i64-{distinct}"), None, Box::new(numbers));
        let words = move |n, rng: &mut fastrand::Rng| words(n, distinct, rng);
        add(&format!("dictionary/strings-{distinct}"), None, Box::new(words));
    }
    for (prefix, encoding) in [("dictionary", None), ("plain", Some(Encoding::Plain))] {
        add(&format!("sequence/{prefix}/long"), encoding, Box::new(|n, _| int64((0..n as i64).collect())));
        add(&format!("sequence/{prefix}/string"), encoding, Box::new(numbers_as_text));
        add(&format!("sequence/{prefix}/decimal-18-0"), encoding, Box::new(|n, _| decimals(n, 18, 0)));
        add(&format!("sequence/{prefix}/decimal-38-18"), encoding, Box::new(|n, _| decimals(n, 38, 18)));
    }
    shapes
}

fn times<T>(n: usize, mut value: impl FnMut() -> T) -> Vec<T> {
    (0..n).map(|_| value()).collect()
}

fn int64(values: Vec<i64>) -> ArrayRef {
    Arc::new(PrimitiveArray::<Int64Type>::from(values) as Int64Array)
}

fn doubles(n: usize, rng: &mut fastrand::Rng) -> ArrayRef {
    Arc::new(Float64Array::from(times(n, || rng.f64() * 1000.0)))
}

fn timestamps(n: usize, rng: &mut fastrand::Rng) -> ArrayRef {
    let mut time = 1_700_000_000_000;
    int64(times(n, || {
        time += rng.i64(0..2000);
        time
    }))
}

/// Sorted, of 58 or 59 bytes.
fn urls(n: usize, rng: &mut fastrand::Rng) -> ArrayRef {
    let sections = ["news", "sport", "culture", "economy"];
    let mut urls = times(n, || {
        let (section, a, b) = (sections[rng.usize(0..4)], rng.u32(0..200_000), rng.u32(0..100_000_000));
        format!("https://www.example.com/{section}/{a:06}/article-{b:08}.html")
    });
    urls.sort();
    Arc::new(BinaryArray::from_iter_values(urls))
}

fn random_bytes(n: usize, rng: &mut fastrand::Rng) -> ArrayRef {
    Arc::new(BinaryArray::from_iter_values(times(n, || {
        let len = rng.usize(8..=40);
        times(len, || rng.u8(..))
    })))
}

fn sixteen(n: usize, rng: &mut fastrand::Rng) -> ArrayRef {
    Arc::new(BinaryArray::from_iter_values(times(n, || rng.u128(..).to_le_bytes())))
}

/// Strings of 7 to 24 bytes.
fn words(n: usize, distinct: i64, rng: &mut fastrand::Rng) -> ArrayRef {
    let word = |i: i64| format!("word-{}-{}", i * 7919, "x".repeat((i % 13) as usize));
    let words: Vec<String> = (0..distinct).map(word).collect();
    Arc::new(StringArray::from_iter_values(times(n, || &words[rng.usize(0..words.len())])))
}

fn numbers_as_text(n: usize, _rng: &mut fastrand::Rng) -> ArrayRef {
    Arc::new(StringArray::from_iter_values((0..n).map(|i| i.to_string())))
}

fn decimals(n: usize, precision: u8, scale: i8) -> ArrayRef {
    let unit = 10i128.pow(u32::from(scale.unsigned_abs()));
    let values: Vec<i128> = (0..n as i128).map(|i| i * unit).collect();
    let array = PrimitiveArray::<Decimal128Type>::from(values);
    Arc::new(array.with_precision_and_scale(precision, scale).expect("a valid precision"))
}
