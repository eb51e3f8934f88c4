//! Files to time: one a combination of encoding, type and shape, named `encoding/type/shape`.
//!
//! Values are drawn with fixed seeds, so every run times the same bytes.

use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;

use crate::arrays::Nulls;
use crate::arrow::array::types::*;
use crate::arrow::array::*;
use crate::arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use crate::arrow::schema::{DataType, Field, Fields, Schema, TimeUnit};
use crate::layout::{Encodings, Layout, legal_encodings};
use crate::rival::basic::{Compression, Encoding, Type, ZstdLevel};

/// A file to time.
pub struct Case {
    /// `encoding/type/shape`.
    pub name: String,
    layout: Layout,
    columns: Columns,
}

type Columns = Box<dyn Fn(&mut Rng, usize) -> Vec<(Field, ArrayRef)>>;

impl Case {
    /// The file, with so many rows (so many values in all where it is wide).
    pub fn bytes(&self, num_rows: usize) -> Bytes {
        let (fields, arrays): (Vec<_>, Vec<_>) =
            (self.columns)(&mut Rng::with_seed(7), num_rows).into_iter().unzip();
        let table =
            RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).expect("arrays of their types");
        self.layout.write(&table).expect("a layout that the rival can write")
    }
}

/// Every case, in the order of the table.
pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    flat_cases(&mut cases);
    codec_cases(&mut cases);
    arrow_type_cases(&mut cases);
    nested_cases(&mut cases);
    wide_cases(&mut cases);
    cases
}

fn flat_cases(cases: &mut Vec<Case>) {
    let plain = Layout { dictionary: None, ..Layout::default() };
    let dictionary = Layout { dictionary: Some(1 << 26), ..Layout::default() };
    let encoded = |encoding| Layout { encoding: Encodings::One(encoding), ..plain.clone() };
    let mut add = |name: &str, layout: &Layout, kinds: &[Kind]| {
        for kind in kinds {
            for (shape, nulls) in SHAPES {
                let kind = *kind;
                cases.push(Case {
                    name: format!("{name}/{}/{shape}", kind.name()),
                    layout: layout.clone(),
                    columns: Box::new(move |rng, len| one(kind.column(rng, nulls, len))),
                });
            }
        }
    };
    use Kind::*;
    add("plain", &plain, &[I32, I64, F64, Bool, Utf8, ShortUtf8, Binary16, Fixed16, Decimal]);
    let few = [Distinct("i32", 1000), Distinct("i64", 1000), Distinct("f64", 1000), Distinct("utf8", 16)];
    add("dictionary", &dictionary, &few);
    add(
        "dictionary",
        &dictionary,
        &[Distinct("utf8", 1000), Distinct("binary", 50_000), Distinct("decimal", 1000)],
    );
    add("delta_binary_packed", &encoded(Encoding::DELTA_BINARY_PACKED), &[Timestamps, SmallI32, I64]);
    add("byte_stream_split", &encoded(Encoding::BYTE_STREAM_SPLIT), &[F32, F64, Fixed16]);
    add("delta_byte_array", &encoded(Encoding::DELTA_BYTE_ARRAY), &[Urls, Utf8, Decimal]);
    add("delta_length_byte_array", &encoded(Encoding::DELTA_LENGTH_BYTE_ARRAY), &[Urls, Utf8]);
    add("rle", &encoded(Encoding::RLE), &[Bool]);
    if let Some(alp) =
        legal_encodings(Type::DOUBLE).into_iter().find(|encoding| encoding.to_string() == "ALP")
    {
        add("alp", &encoded(alp), &[Prices]);
    }
}

fn codec_cases(cases: &mut Vec<Case>) {
    let codecs = [
        ("snappy", Compression::SNAPPY),
        ("zstd", Compression::ZSTD(ZstdLevel::default())),
        ("lz4", Compression::LZ4_RAW),
    ];
    let plain = Layout { dictionary: None, ..Layout::default() };
    for (codec, compression) in codecs {
        for (encoding, dictionary, kind) in [
            ("plain", None, Kind::Prices),
            ("plain", None, Kind::Utf8),
            ("dictionary", Some(1 << 26), Kind::Distinct("utf8", 1000)),
        ] {
            cases.push(Case {
                name: format!("{encoding}/{}/nulls10-{codec}", kind.name()),
                layout: Layout { dictionary, compression, ..plain.clone() },
                columns: Box::new(move |rng, len| one(kind.column(rng, Nulls::Percent(10), len))),
            });
        }
    }
}

/// Columns that the footer says are views or dictionaries.
fn arrow_type_cases(cases: &mut Vec<Case>) {
    for (name, dictionary, kind) in
        [("plain", None, Kind::Utf8), ("dictionary", Some(1 << 26), Kind::Distinct("utf8", 1000))]
    {
        let keyed = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
        for (shape, nulls) in SHAPES {
            for (as_name, as_type) in [("view", DataType::Utf8View), ("dict", keyed.clone())] {
                if dictionary.is_none() && as_name == "dict" {
                    continue;
                }
                cases.push(Case {
                    name: format!("{name}/{}-as-{as_name}/{shape}", kind.name()),
                    layout: Layout { dictionary, ..Layout::default() },
                    columns: Box::new(move |rng, len| {
                        let (field, column) = kind.column(rng, nulls, len);
                        let column = crate::arrow::cast::cast(&column, &as_type).expect("strings cast");
                        one((field.with_data_type(as_type.clone()), column))
                    }),
                });
            }
        }
    }
}

fn nested_cases(cases: &mut Vec<Case>) {
    type Make = fn(&mut Rng, usize) -> (Field, ArrayRef);
    let makes: [(&str, Make); 6] = [
        ("list-i64", list_of_ints),
        ("list-utf8", list_of_strings),
        ("list-struct", list_of_structs),
        ("map", map),
        ("struct-struct", struct_of_structs),
        ("deep-optional", deep_optional),
    ];
    for (name, make) in makes {
        for (codec, compression) in [("none", Compression::UNCOMPRESSED), ("snappy", Compression::SNAPPY)] {
            cases.push(Case {
                name: format!("nested/{name}/{codec}"),
                layout: Layout { compression, ..Layout::default() },
                columns: Box::new(move |rng, len| one(make(rng, len / 4))),
            });
        }
    }
}

/// Many columns of few rows, where what a column costs before its first value counts.
fn wide_cases(cases: &mut Vec<Case>) {
    for (shape, nulls) in SHAPES {
        cases.push(Case {
            name: format!("plain/wide-f32/{shape}"),
            layout: Layout { dictionary: None, compression: Compression::SNAPPY, ..Layout::default() },
            columns: Box::new(move |rng, len| {
                let rows = (len / 1000).max(1);
                let columns = (0..len / rows).map(|index| {
                    let (field, column) = Kind::F32.column(rng, nulls, rows);
                    (field.with_name(format!("column{index}")), column)
                });
                columns.collect()
            }),
        });
    }
}

const SHAPES: [(&str, Nulls); 3] =
    [("required", Nulls::None), ("nulls10", Nulls::Percent(10)), ("nulls50", Nulls::Percent(50))];

/// What a flat column holds.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    I32,
    /// Numbers of twenty bits.
    SmallI32,
    I64,
    F32,
    F64,
    Bool,
    /// 8 to 40 letters.
    Utf8,
    /// 1 to 12 letters.
    ShortUtf8,
    /// Sorted, so that neighbours share a prefix.
    Urls,
    /// So many letters each.
    #[cfg_attr(not(all(feature = "arrow-60", feature = "encoders")), allow(dead_code))]
    Text(usize),
    Binary16,
    Fixed16,
    /// Of 38 digits: 16 bytes big-endian in the file.
    Decimal,
    /// Microseconds that rise unevenly.
    Timestamps,
    /// Doubles of two decimal places.
    Prices,
    /// So many distinct values of the type.
    Distinct(&'static str, usize),
}

impl Kind {
    fn name(self) -> String {
        match self {
            Kind::I32 => "i32".into(),
            Kind::SmallI32 => "i32-20bit".into(),
            Kind::I64 => "i64".into(),
            Kind::F32 => "f32".into(),
            Kind::F64 => "f64".into(),
            Kind::Bool => "bool".into(),
            Kind::Utf8 => "utf8".into(),
            Kind::ShortUtf8 => "utf8-short".into(),
            Kind::Urls => "utf8-urls".into(),
            Kind::Text(len) => format!("utf8x{len}"),
            Kind::Binary16 => "binary16".into(),
            Kind::Fixed16 => "fixed16".into(),
            Kind::Decimal => "decimal38".into(),
            Kind::Timestamps => "timestamp".into(),
            Kind::Prices => "f64-prices".into(),
            Kind::Distinct(of, distinct) => format!("{of}-{distinct}"),
        }
    }

    pub(crate) fn column(self, rng: &mut Rng, nulls: Nulls, len: usize) -> (Field, ArrayRef) {
        let nullable = nulls != Nulls::None;
        let nulls = nulls.validity(rng, len);
        let column = match self {
            Kind::Distinct(of, distinct) => {
                let kind = match of {
                    "i32" => Kind::I32,
                    "i64" => Kind::I64,
                    "f64" => Kind::F64,
                    "utf8" => Kind::Utf8,
                    "text16" => Kind::Text(16),
                    "binary" => Kind::Binary16,
                    _ => Kind::Decimal,
                };
                let values = kind.values(rng, None, distinct);
                let ids = (0..len).map(|row| {
                    let id = rng.usize(..distinct) as u32;
                    nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)).then_some(id)
                });
                let ids = UInt32Array::from_iter(ids);
                crate::arrow::select::take::take(&values, &ids, None).expect("ids below the length")
            }
            kind => kind.values(rng, nulls, len),
        };
        (Field::new("column", column.data_type().clone(), nullable), column)
    }

    fn values(self, rng: &mut Rng, nulls: Option<NullBuffer>, len: usize) -> ArrayRef {
        fn numbers<T: ArrowPrimitiveType>(
            nulls: Option<NullBuffer>,
            len: usize,
            next: impl FnMut() -> T::Native,
        ) -> PrimitiveArray<T> {
            let values: Vec<_> = std::iter::repeat_with(next).take(len).collect();
            PrimitiveArray::new(ScalarBuffer::from(values), nulls)
        }
        match self {
            Kind::I32 => Arc::new(numbers::<Int32Type>(nulls, len, || rng.i32(..))),
            Kind::SmallI32 => Arc::new(numbers::<Int32Type>(nulls, len, || rng.i32(..1 << 20))),
            Kind::I64 => Arc::new(numbers::<Int64Type>(nulls, len, || rng.i64(..1 << 40))),
            Kind::F32 => Arc::new(numbers::<Float32Type>(nulls, len, || rng.f32())),
            Kind::F64 => Arc::new(numbers::<Float64Type>(nulls, len, || rng.f64())),
            Kind::Prices => {
                Arc::new(numbers::<Float64Type>(nulls, len, || f64::from(rng.u32(..100_000)) / 100.0))
            }
            Kind::Timestamps => {
                let mut at = 1_700_000_000_000_000;
                let next = || {
                    at += rng.i64(..500_000);
                    at
                };
                Arc::new(numbers::<TimestampMicrosecondType>(nulls, len, next))
            }
            Kind::Decimal => {
                let array = numbers::<Decimal128Type>(nulls, len, || rng.i128(..10_i128.pow(37)));
                Arc::new(array.with_data_type(DataType::Decimal128(38, 10)))
            }
            Kind::Bool => {
                Arc::new(BooleanArray::new(BooleanBuffer::collect_bool(len, |_| rng.bool()), nulls))
            }
            Kind::Fixed16 => {
                let bytes: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(16 * len).collect();
                Arc::new(FixedSizeBinaryArray::new(16, Buffer::from(bytes), nulls))
            }
            Kind::Utf8 => Arc::new(texts(rng, nulls, len, |rng, text| letters(rng, text, 8, 40))),
            Kind::ShortUtf8 => Arc::new(texts(rng, nulls, len, |rng, text| letters(rng, text, 1, 12))),
            Kind::Urls => {
                let mut at = 0;
                Arc::new(texts(rng, nulls, len, |rng, text| {
                    at += rng.u64(..1 << 21);
                    let (category, r) = (at >> 30, rng.u32(..10_000));
                    text.push_str(&format!("https://www.example.com/cat-{category}/item-{at}?ref={r}"));
                }))
            }
            Kind::Text(n) => Arc::new(texts(rng, nulls, len, |rng, text| letters(rng, text, n, n))),
            Kind::Binary16 => {
                let values = texts(rng, nulls, len, |rng, text| letters(rng, text, 16, 16));
                crate::arrow::cast::cast(&values, &DataType::Binary).expect("text is bytes")
            }
            Kind::Distinct(..) => unreachable!("drawn from another kind"),
        }
    }
}

fn texts(
    rng: &mut Rng,
    nulls: Option<NullBuffer>,
    len: usize,
    mut write: impl FnMut(&mut Rng, &mut String),
) -> StringArray {
    let mut text = String::new();
    let mut lengths = Vec::with_capacity(len);
    for row in 0..len {
        let before = text.len();
        if nulls.as_ref().is_none_or(|nulls| nulls.is_valid(row)) {
            write(rng, &mut text);
        }
        lengths.push(text.len() - before);
    }
    StringArray::new(OffsetBuffer::from_lengths(lengths), Buffer::from(text.into_bytes()), nulls)
}

fn letters(rng: &mut Rng, text: &mut String, shortest: usize, longest: usize) {
    text.extend((0..rng.usize(shortest..=longest)).map(|_| char::from(b'a' + rng.u8(..26))));
}

fn one(column: (Field, ArrayRef)) -> Vec<(Field, ArrayRef)> {
    vec![column]
}

fn offsets(rng: &mut Rng, len: usize, longest: usize) -> (OffsetBuffer<i32>, usize) {
    let offsets = OffsetBuffer::from_lengths((0..len).map(|_| rng.usize(..=longest)));
    let num_items = offsets[len] as usize;
    (offsets, num_items)
}

fn list_of(rng: &mut Rng, len: usize, items: impl FnOnce(&mut Rng, usize) -> ArrayRef) -> (Field, ArrayRef) {
    let (offsets, num_items) = offsets(rng, len, 10);
    let items = items(rng, num_items);
    let item = Arc::new(Field::new("item", items.data_type().clone(), true));
    let nulls = Nulls::Percent(5).validity(rng, len);
    let list = ListArray::new(item, offsets, items, nulls);
    (Field::new("column", list.data_type().clone(), true), Arc::new(list))
}

fn list_of_ints(rng: &mut Rng, len: usize) -> (Field, ArrayRef) {
    list_of(rng, len, |rng, len| Kind::I64.column(rng, Nulls::Percent(5), len).1)
}

fn list_of_strings(rng: &mut Rng, len: usize) -> (Field, ArrayRef) {
    list_of(rng, len, |rng, len| Kind::ShortUtf8.column(rng, Nulls::Percent(5), len).1)
}

fn list_of_structs(rng: &mut Rng, len: usize) -> (Field, ArrayRef) {
    list_of(rng, len, |rng, len| {
        let name = Kind::ShortUtf8.column(rng, Nulls::None, len).1;
        let quantity = Kind::SmallI32.column(rng, Nulls::Percent(10), len).1;
        struct_of(vec![("name", name, false), ("quantity", quantity, true)], None)
    })
}

fn struct_of(children: Vec<(&str, ArrayRef, bool)>, nulls: Option<NullBuffer>) -> ArrayRef {
    let (fields, arrays): (Vec<_>, Vec<_>) = children
        .into_iter()
        .map(|(name, array, nullable)| (Field::new(name, array.data_type().clone(), nullable), array))
        .unzip();
    Arc::new(StructArray::new(Fields::from(fields), arrays, nulls))
}

fn map(rng: &mut Rng, len: usize) -> (Field, ArrayRef) {
    let (offsets, num_entries) = offsets(rng, len, 6);
    let keys = Kind::Distinct("utf8", 500).column(rng, Nulls::None, num_entries).1;
    let values = Kind::I64.column(rng, Nulls::Percent(10), num_entries).1;
    let entries = struct_of(vec![("key", keys, false), ("value", values, true)], None);
    let field = Arc::new(Field::new("key_value", entries.data_type().clone(), false));
    let map = MapArray::new(field, offsets, cast::AsArray::as_struct(&entries).clone(), None, false);
    (Field::new("column", map.data_type().clone(), false), Arc::new(map))
}

fn struct_of_structs(rng: &mut Rng, len: usize) -> (Field, ArrayRef) {
    let times = Kind::Timestamps.column(rng, Nulls::None, len).1;
    let times = crate::arrow::cast::cast(&times, &DataType::Timestamp(TimeUnit::Microsecond, None));
    let inner = struct_of(
        vec![
            ("number", Kind::I64.column(rng, Nulls::Percent(10), len).1, true),
            ("text", Kind::ShortUtf8.column(rng, Nulls::Percent(10), len).1, true),
        ],
        Nulls::Percent(20).validity(rng, len),
    );
    let outer = struct_of(
        vec![("time", times.expect("the same type"), false), ("inner", inner, true)],
        Nulls::Percent(20).validity(rng, len),
    );
    (Field::new("column", outer.data_type().clone(), true), outer)
}

fn deep_optional(rng: &mut Rng, len: usize) -> (Field, ArrayRef) {
    let mut column = Kind::F64.column(rng, Nulls::Percent(10), len).1;
    for _ in 0..5 {
        column = struct_of(vec![("child", column, true)], Nulls::Percent(5).validity(rng, len));
    }
    (Field::new("column", column.data_type().clone(), true), column)
}
