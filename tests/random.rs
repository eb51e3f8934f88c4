//! Files put together at random: types, encodings, codecs, pages, nulls, indexes, rows, batches, output types.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::single_range_in_vec_init,
    clippy::type_complexity
)]

mod support;

use std::ops::Range;
use std::sync::Arc;

use marquetry::arrow::array::RecordBatchReader;
use marquetry::arrow::schema::{DataType, Field};
use marquetry::metadata::{Compression, Encoding, LogicalType, PhysicalType, Repetition, TimeUnit};
use marquetry::{ParquetFile, Scan};
use support::encode::*;
use support::random::Random;
use support::raw::{Chunk, File, Page};
use support::read::{TempFile, columns, memory};
use support::shred::{Leaf, Node, Value, word_with};

/// A kind of column: its type, how a value is made, as bytes and as a word, and what it may be read as.
struct Kind {
    physical: PhysicalType,
    width: u16,
    logical: Option<LogicalType>,
    value: fn(&mut Random) -> (Vec<u8>, String),
    encodings: &'static [Encoding],
    types: fn() -> Vec<DataType>,
}

const INTEGERS: &[Encoding] = &[Encoding::Plain, Encoding::DeltaBinaryPacked, Encoding::ByteStreamSplit];
const FLOATS: &[Encoding] = &[Encoding::Plain, Encoding::ByteStreamSplit];
const BYTES: &[Encoding] = &[Encoding::Plain, Encoding::DeltaLengthByteArray, Encoding::DeltaByteArray];
const FIXED: &[Encoding] = &[Encoding::Plain, Encoding::ByteStreamSplit, Encoding::DeltaByteArray];

fn keyed(value: DataType) -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(value))
}

fn kinds() -> Vec<Kind> {
    let int = |bit_width, signed| Some(LogicalType::Integer { bit_width, signed });
    vec![
        Kind {
            physical: PhysicalType::Boolean,
            width: 0,
            logical: None,
            value: |random| {
                let value = random.below(2) == 1;
                (vec![u8::from(value)], value.to_string())
            },
            encodings: &[Encoding::Plain, Encoding::Rle],
            types: Vec::new,
        },
        Kind {
            physical: PhysicalType::Int32,
            width: 0,
            logical: None,
            value: |random| {
                let value = random.next() as i32 >> random.below(32);
                (value.to_le_bytes().into(), value.to_string())
            },
            encodings: INTEGERS,
            types: || vec![DataType::Int64, keyed(DataType::Int32)],
        },
        Kind {
            physical: PhysicalType::Int32,
            width: 0,
            logical: int(16, false),
            value: |random| {
                let value = random.below(1 << 16) as u16;
                (i32::from(value).to_le_bytes().into(), value.to_string())
            },
            encodings: INTEGERS,
            types: || vec![DataType::UInt32],
        },
        Kind {
            physical: PhysicalType::Int64,
            width: 0,
            logical: Some(LogicalType::Timestamp { unit: TimeUnit::Micros, utc: false }),
            value: |random| {
                let value = random.next() as i64 >> random.below(64);
                (value.to_le_bytes().into(), value.to_string())
            },
            encodings: INTEGERS,
            types: Vec::new,
        },
        Kind {
            physical: PhysicalType::Int64,
            width: 0,
            logical: int(64, false),
            value: |random| {
                let value = random.next() >> random.below(64);
                (value.to_le_bytes().into(), value.to_string())
            },
            encodings: INTEGERS,
            types: || vec![keyed(DataType::UInt64)],
        },
        Kind {
            physical: PhysicalType::Float,
            width: 0,
            logical: None,
            value: |random| {
                let value = random.below(2000) as f32 / 8.0 - 100.0;
                (value.to_le_bytes().into(), format!("{value:?}"))
            },
            encodings: FLOATS,
            types: || vec![DataType::Float64],
        },
        Kind {
            physical: PhysicalType::Double,
            width: 0,
            logical: None,
            value: |random| {
                let value = random.below(1 << 40) as f64 / 1024.0;
                (value.to_le_bytes().into(), format!("{value:?}"))
            },
            encodings: FLOATS,
            types: Vec::new,
        },
        Kind {
            physical: PhysicalType::ByteArray,
            width: 0,
            logical: Some(LogicalType::String),
            value: |random| {
                let longest = if random.below(3) == 0 { 60 } else { 9 };
                let len = random.below(longest);
                let value: String =
                    (0..len).map(|_| ['a', 'b', 'ü', '€'][random.below(4) as usize]).collect();
                (value.as_bytes().into(), format!("{value:?}"))
            },
            encodings: BYTES,
            types: || {
                let keyed = [keyed(DataType::Utf8), keyed(DataType::Utf8View)];
                [DataType::Utf8View, DataType::LargeUtf8].into_iter().chain(keyed).collect()
            },
        },
        Kind {
            physical: PhysicalType::ByteArray,
            width: 0,
            logical: None,
            value: |random| {
                let value: Vec<u8> = (0..random.below(20)).map(|_| random.below(256) as u8).collect();
                let word = value.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                (value, format!("x{word}"))
            },
            encodings: BYTES,
            types: || vec![DataType::BinaryView, DataType::LargeBinary, keyed(DataType::Binary)],
        },
        Kind {
            physical: PhysicalType::FixedLenByteArray,
            width: 5,
            logical: None,
            value: |random| {
                let value = random.next().to_le_bytes()[..5].to_vec();
                let word = value.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
                (value, format!("x{word}"))
            },
            encodings: FIXED,
            types: || vec![keyed(DataType::FixedSizeBinary(5))],
        },
        Kind {
            physical: PhysicalType::FixedLenByteArray,
            width: 7,
            logical: Some(LogicalType::Decimal { precision: 16, scale: 0 }),
            value: |random| {
                let value = random.below(2_000_000_000_000_000) as i64 - 1_000_000_000_000_000;
                (value.to_be_bytes()[1..].into(), value.to_string())
            },
            encodings: FIXED,
            types: Vec::new,
        },
    ]
}

const CODECS: [Compression; 8] = [
    Compression::Uncompressed,
    Compression::Uncompressed,
    Compression::Snappy,
    Compression::Gzip,
    Compression::Brotli,
    Compression::Lz4,
    Compression::Zstd,
    Compression::Lz4Raw,
];

/// A column of the file: what it holds in each row group.
struct Column {
    kind: Kind,
    optional: bool,
    /// Values and words; `None` is a null.
    groups: Vec<Vec<Option<(Vec<u8>, String)>>>,
}

impl Column {
    fn random(random: &mut Random, groups: &[usize]) -> Column {
        let mut kinds = kinds();
        let kind = kinds.swap_remove(random.below(kinds.len() as u64) as usize);
        let optional = random.below(3) > 0;
        // Few distinct values, so that there are runs and dictionaries.
        let pool: Vec<_> = (0..1 + random.below(40)).map(|_| (kind.value)(random)).collect();
        let nulls = [0, 1, 50, 99, 100][random.below(5) as usize];
        let mut last = 0;
        let mut value = |random: &mut Random| {
            if random.below(3) > 0 {
                last = random.below(pool.len() as u64) as usize;
            }
            (!optional || random.below(100) >= nulls).then(|| pool[last].clone())
        };
        let groups = groups.iter().map(|&rows| (0..rows).map(|_| value(random)).collect()).collect();
        Column { kind, optional, groups }
    }

    fn words(&self) -> Vec<String> {
        let word = |value: &Option<(Vec<u8>, String)>| {
            value.as_ref().map_or("null".into(), |(_, word)| word.clone())
        };
        self.groups.iter().flatten().map(word).collect()
    }

    /// The chunk of a row group: a dictionary, perhaps, and pages of any encoding.
    fn chunk(&self, random: &mut Random, group: usize) -> Chunk {
        let rows = &self.groups[group];
        let mut dictionary: Vec<&[u8]> = rows.iter().flatten().map(|(value, _)| value.as_slice()).collect();
        dictionary.sort_unstable();
        dictionary.dedup();
        let has_dictionary = self.kind.physical != PhysicalType::Boolean && random.below(2) == 0;
        let mut pages = Vec::new();
        if has_dictionary {
            pages.push(Page::dictionary(dictionary.len(), self.encode(Encoding::Plain, &dictionary)));
        }
        let longest = 1 + random.below(80);
        let mut from = 0;
        while from < rows.len() {
            let to = (from + 1 + random.below(longest) as usize).min(rows.len());
            let values: Vec<&[u8]> =
                rows[from..to].iter().flatten().map(|(value, _)| value.as_slice()).collect();
            let (encoding, bytes) = if has_dictionary && random.below(4) > 0 {
                let id = |value: &&[u8]| dictionary.binary_search(value).unwrap() as u32;
                let width = (usize::BITS - dictionary.len().leading_zeros()) + random.below(2) as u32;
                (Encoding::RleDictionary, indices(&values.iter().map(id).collect::<Vec<_>>(), width))
            } else {
                let encoding = self.kind.encodings[random.below(self.kind.encodings.len() as u64) as usize];
                (encoding, self.encode(encoding, &values))
            };
            let mut page = Page::data(1 + random.below(2) as u8, to - from, encoding, bytes);
            if self.optional {
                let levels: Vec<u8> = rows[from..to].iter().map(|value| u8::from(value.is_some())).collect();
                page = page.def(&levels, 1);
            }
            pages.push(if random.below(2) == 0 { page.crc(true) } else { page });
            from = to;
        }
        let chunk = Chunk::new(pages).codec(CODECS[random.below(8) as usize]).align(8);
        if random.below(2) == 0 { chunk.indexed() } else { chunk }
    }

    fn encode(&self, encoding: Encoding, values: &[&[u8]]) -> Vec<u8> {
        let plain = values.concat();
        let width = match self.kind.physical {
            PhysicalType::Int32 | PhysicalType::Float => 4,
            PhysicalType::Int64 | PhysicalType::Double => 8,
            _ => usize::from(self.kind.width),
        };
        let integers = || {
            values.iter().map(|value| match **value {
                [a, b, c, d] => i64::from(i32::from_le_bytes([a, b, c, d])),
                _ => i64::from_le_bytes((*value).try_into().unwrap()),
            })
        };
        match (encoding, self.kind.physical) {
            (Encoding::Plain, PhysicalType::Boolean) => {
                bools(&plain.iter().map(|&b| b == 1).collect::<Vec<_>>())
            }
            (Encoding::Rle, _) => sized(&hybrid(&plain.iter().map(|&b| u64::from(b)).collect::<Vec<_>>(), 1)),
            (Encoding::Plain, PhysicalType::ByteArray) => byte_arrays(values),
            (Encoding::Plain, _) => plain,
            (Encoding::ByteStreamSplit, _) => byte_stream_split(&plain, width),
            (Encoding::DeltaBinaryPacked, _) => delta(&integers().collect::<Vec<_>>(), 8 * width as u32),
            (Encoding::DeltaLengthByteArray, _) => delta_length(values),
            (Encoding::DeltaByteArray, _) => delta_byte_array(values),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn any_mix_is_read_as_it_was_written() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let groups: Vec<usize> = (0..1 + random.below(3)).map(|_| random.below(200) as usize).collect();
        let num_rows = groups.iter().sum::<usize>() as u64;
        let all: Vec<Column> =
            (0..1 + random.below(4)).map(|_| Column::random(&mut random, &groups)).collect();
        let name = |i: usize| format!("c{i}");
        let mut file = File::new(|schema| {
            for (i, column) in all.iter().enumerate() {
                let repetition = if column.optional { Repetition::Optional } else { Repetition::Required };
                let leaf =
                    schema.leaf(&name(i), repetition, column.kind.physical).byte_width(column.kind.width);
                column.kind.logical.clone().into_iter().fold(leaf, |leaf, logical| leaf.logical(logical));
            }
        });
        for (group, &rows) in groups.iter().enumerate() {
            let chunks: Vec<Chunk> = all.iter().map(|column| column.chunk(&mut random, group)).collect();
            file = file.group(rows as u64, chunks);
        }
        let built = file.build();
        let temp = TempFile::new(&built.bytes);
        let words: Vec<Vec<String>> = all.iter().map(Column::words).collect();
        let files = [memory(&built.bytes).unwrap(), ParquetFile::open(temp.path()).unwrap()];
        for round in 0..12 {
            let ranges = ranges(&mut random, num_rows);
            let mut scan: Scan = files[round % 2].scan().batch_size(1 + random.below(90) as usize);
            let mut rows = 0..num_rows;
            if round > 1 {
                scan = scan.rows(ranges.clone());
            }
            let chosen: Vec<u64> =
                if round > 1 { ranges.iter().cloned().flatten().collect() } else { rows.by_ref().collect() };
            for (i, column) in all.iter().enumerate() {
                let types = (column.kind.types)();
                if let Some(data_type) = types.get(random.below(2 * types.len() as u64 + 1) as usize) {
                    scan = scan.output_type(name(i), data_type.clone());
                }
            }
            let text = format!("seed {seed}, round {round}, {scan:?}");
            for ((found_name, found), (i, expected)) in
                columns(scan).into_iter().zip(words.iter().enumerate())
            {
                let expected: Vec<&str> = chosen.iter().map(|&row| expected[row as usize].as_str()).collect();
                assert_eq!(found_name, name(i));
                assert_eq!(found, expected, "column {i}, {text}");
            }
        }
    }
}

/// A string leaf for an integer; some are longer than what fits into a view.
fn string(value: i32) -> String {
    format!("{}{value}", "long ".repeat(value.unsigned_abs() as usize % 7 / 4 * 5))
}

/// The pages of a leaf whose values are strings: a dictionary, perhaps, and pages that do without.
fn string_chunk(leaf: &Leaf, random: &mut Random) -> Chunk {
    let mut dictionary: Vec<i32> = leaf.values.clone();
    dictionary.sort_unstable();
    dictionary.dedup();
    let strings = |values: &[i32]| values.iter().map(|&value| string(value)).collect::<Vec<_>>();
    let has_dictionary = random.below(3) > 0;
    let (version, longest) = (1 + random.below(2) as u8, 1 + random.below(40));
    let starts_row = |at: &usize| version == 1 || leaf.rep[*at] == 0;
    let cuts: Vec<usize> =
        (1..leaf.def.len()).filter(starts_row).filter(|_| random.below(longest) == 0).collect();
    let mut pages = Vec::new();
    if has_dictionary {
        pages.push(Page::dictionary(dictionary.len(), byte_arrays(&strings(&dictionary))));
    }
    for part in leaf.cut(&cuts) {
        let (encoding, values) = if has_dictionary && random.below(4) > 0 {
            let id = |value: &i32| dictionary.binary_search(value).unwrap() as u32;
            (Encoding::RleDictionary, indices(&part.values.iter().map(id).collect::<Vec<_>>(), 10))
        } else if random.below(2) == 0 {
            (Encoding::Plain, byte_arrays(&strings(&part.values)))
        } else {
            (Encoding::DeltaByteArray, delta_byte_array(&strings(&part.values)))
        };
        let mut page = Page::data(version, part.def.len(), encoding, values);
        if leaf.max_def > 0 {
            page = page.def(&part.def, leaf.max_def);
        }
        pages.push(if leaf.max_rep > 0 { page.rep(&part.rep, leaf.max_rep) } else { page });
    }
    let chunk = Chunk::new(pages).codec(CODECS[random.below(8) as usize]);
    if version == 2 && random.below(2) == 0 { chunk.indexed() } else { chunk }
}

/// `data_type` with strings of another type, and lists of another kind.
fn replaced(data_type: &DataType, leaf: &DataType, list: fn(Arc<Field>) -> DataType) -> DataType {
    let field =
        |field: &Field| Arc::new(field.clone().with_data_type(replaced(field.data_type(), leaf, list)));
    match data_type {
        DataType::Utf8 => leaf.clone(),
        DataType::List(item) => list(field(item)),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|f| field(f)).collect()),
        // Its entries are a struct.
        DataType::Map(entries, sorted) => DataType::Map(field(entries), *sorted),
        other => other.clone(),
    }
}

#[test]
fn any_nesting_of_strings_is_read_as_any_type_of_strings() {
    let lists: [fn(Arc<Field>) -> DataType; 3] = [DataType::List, DataType::LargeList, DataType::ListView];
    let leaves = [
        DataType::Utf8,
        DataType::Utf8View,
        DataType::LargeUtf8,
        keyed(DataType::Utf8),
        keyed(DataType::Utf8View),
    ];
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let node = Node::random(&mut random, seed as u32 % 4);
        let values: Vec<Value> = (0..40).map(|_| node.value(&mut random, 3)).collect();
        let mut file = File::new(|schema| node.add_with("x", schema, PhysicalType::ByteArray));
        for group in [&values[..17], &values[17..18], &values[18..]] {
            let chunks: Vec<Chunk> =
                node.shred(group).iter().map(|leaf| string_chunk(leaf, &mut random)).collect();
            file = file.group(group.len() as u64, chunks);
        }
        let file = memory(&file.build().bytes).unwrap();
        let words: Vec<String> =
            values.iter().map(|value| word_with(value, &|int| format!("{:?}", string(int)))).collect();
        for round in 0..8 {
            let leaf = &leaves[random.below(5) as usize];
            let list = lists[random.below(3) as usize];
            let data_type = replaced(file.schema().field(0).data_type(), leaf, list);
            let ranges = if round == 0 { vec![0..40] } else { ranges(&mut random, 40) };
            let scan = file.scan().output_type("x", data_type.clone()).rows(ranges.clone());
            let scan = scan.batch_size(1 + random.below(50) as usize);
            let text = format!("seed {seed}, round {round}, {scan:?}");
            let reader = scan.clone().build().unwrap();
            assert_eq!(*reader.schema().field(0).data_type(), data_type, "{text}");
            let expected: Vec<&str> =
                ranges.into_iter().flatten().map(|row| words[row as usize].as_str()).collect();
            assert_eq!(columns(scan)[0].1, expected, "{text}");
        }
    }
}

/// Up to three ranges of rows that do not touch.
fn ranges(random: &mut Random, num_rows: u64) -> Vec<Range<u64>> {
    let mut ends: Vec<u64> = (0..2 * (1 + random.below(3))).map(|_| random.below(num_rows + 1)).collect();
    ends.sort_unstable();
    ends.dedup();
    ends.chunks_exact(2).map(|pair| pair[0]..pair[1]).collect()
}
