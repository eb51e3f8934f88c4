//! Pages to arrays with no scan around them: several chunks, in any steps, also where dictionaries change.
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

use marquetry::arrow::array::{Array, ArrayRef};
use marquetry::arrow::schema::{DataType, Field};
use marquetry::metadata::{Compression, Encoding, LogicalType, PhysicalType, Repetition, SchemaBuilder};
use marquetry::{ColumnDecoder, ColumnDescriptor, ParquetFile};
use support::encode::*;
use support::random::Random;
use support::raw::{Built, Chunk, File, Page};
use support::read::{buffer, open};
use support::show::words;
use support::shred::{Node, Value, word};

/// A decoder of leaf `leaf` as the file has it.
fn decoder(file: &ParquetFile, leaf: usize) -> ColumnDecoder {
    let descriptor = file.row_group(0).unwrap().column(leaf).unwrap().descriptor().unwrap();
    ColumnDecoder::new(&descriptor, descriptor.field()).unwrap()
}

/// Pushes all pages of a chunk.
fn push(column: &mut ColumnDecoder, file: &ParquetFile, row_group: usize, leaf: usize) {
    let mut pages = file.row_group(row_group).unwrap().column(leaf).unwrap().pages().unwrap();
    while let Some(page) = pages.next().unwrap() {
        column.push(page);
    }
    column.finish_chunk();
}

fn valid(array: ArrayRef) -> Vec<String> {
    array.to_data().validate_full().unwrap();
    words(array.as_ref())
}

/// Takes all rows that are ready.
fn take_all(column: &mut ColumnDecoder) -> Vec<String> {
    let mut all = Vec::new();
    while column.ready_rows().unwrap() > 0 {
        let array = column.take(usize::MAX).unwrap();
        assert!(!array.is_empty());
        all.extend(valid(array));
    }
    all
}

/// Three chunks of an optional string, each with a dictionary of its own, and plain pages behind.
fn strings() -> (Built, Vec<String>) {
    let mut file = File::new(|schema| {
        schema.leaf("s", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
    });
    let mut expected = Vec::new();
    for dictionary in [["a", "b"], ["c", "d"], ["d", "a"]] {
        let pages = [
            Page::dictionary(2, byte_arrays(&dictionary)),
            Page::v1(5, Encoding::RleDictionary, indices(&[0, 1, 1], 1)).def(&[1, 0, 1, 1, 0], 1),
            Page::v2(3, Encoding::RleDictionary, indices(&[1, 0, 0], 1)).def(&[1, 1, 1], 1),
            Page::v1(2, Encoding::Plain, byte_arrays(&["plain, and longer than a short view"]))
                .def(&[0, 1], 1),
        ];
        let [a, b] = dictionary.map(|v| format!("{v:?}"));
        let null = || "null".to_string();
        expected.extend([a.clone(), null(), b.clone(), b.clone(), null(), b, a.clone(), a, null()]);
        expected.push("\"plain, and longer than a short view\"".into());
        file = file.group(10, [Chunk::new(pages).codec(Compression::Snappy)]);
    }
    (file.build(), expected)
}

/// Chunks of lists whose rows span V1 pages.
fn lists() -> (Built, Vec<String>) {
    let node = Node::list(true, Node::list(true, Node::int(true)));
    let mut random = Random::new(5);
    let mut file = File::new(|schema| node.add("x", schema));
    let mut expected = Vec::new();
    for _ in 0..3 {
        let values: Vec<Value> = (0..10).map(|_| node.value(&mut random, 3)).collect();
        expected.extend(values.iter().map(word));
        let leaf = &node.shred(&values)[0];
        let cuts: Vec<usize> = (1..leaf.def.len()).filter(|_| random.below(4) == 0).collect();
        let pages = leaf.cut(&cuts).into_iter().map(|part| Page::leaf(1, &part));
        file = file.group(10, [Chunk::new(pages.collect::<Vec<_>>())]);
    }
    (file.build(), expected)
}

#[test]
fn chunks_are_decoded_one_after_another() {
    for (built, expected) in [strings(), lists()] {
        let file = open(&built);
        let mut column = decoder(&file, 0);
        for row_group in 0..3 {
            push(&mut column, &file, row_group, 0);
            assert_eq!(column.ready_rows().unwrap(), 10);
            assert_eq!(take_all(&mut column), expected[row_group * 10..][..10]);
            assert_eq!(column.ready_rows().unwrap(), 0);
        }
    }
}

#[test]
fn all_chunks_may_be_pushed_before_any_row_is_taken() {
    for (built, expected) in [strings(), lists()] {
        let file = open(&built);
        let mut column = decoder(&file, 0);
        (0..3).for_each(|row_group| push(&mut column, &file, row_group, 0));
        assert_eq!(column.ready_rows().unwrap(), 30);
        assert_eq!(take_all(&mut column), expected);
    }
}

#[test]
fn rows_are_taken_and_skipped_in_steps_of_any_size() {
    for (built, expected) in [strings(), lists()] {
        let file = open(&built);
        for seed in 0..200 {
            let mut random = Random::new(seed);
            let mut column = decoder(&file, 0);
            let (mut pushed, mut row) = (0, 0);
            while row < 30 {
                if pushed < 3 && (random.below(2) == 0 || column.ready_rows().unwrap() == 0) {
                    push(&mut column, &file, pushed, 0);
                    pushed += 1;
                }
                let rows = random.below(8) as usize;
                let left = pushed * 10 - row;
                if random.below(2) == 0 {
                    let skipped = column.skip(rows).unwrap();
                    assert!(skipped <= rows, "seed {seed}");
                    assert!(
                        skipped == rows.min(left),
                        "seed {seed}: skips {skipped} of {rows}, {left} are left"
                    );
                    row += skipped;
                } else {
                    let taken = valid(column.take(rows).unwrap());
                    assert!(
                        taken.len() <= rows && (!taken.is_empty() || rows == 0 || left == 0),
                        "seed {seed}"
                    );
                    assert_eq!(taken, expected[row..row + taken.len()], "seed {seed}, row {row}");
                    row += taken.len();
                }
            }
            assert_eq!(column.ready_rows().unwrap(), 0);
            assert_eq!(column.take(5).unwrap().len(), 0);
            assert_eq!(column.skip(5).unwrap(), 0);
        }
    }
}

#[test]
fn the_last_row_of_a_list_is_ready_when_the_chunk_ends() {
    let node = Node::list(false, Node::int(false));
    let row = |values: &[i32]| Value::List(values.iter().copied().map(Value::Int).collect());
    let leaf = &node.shred(&[row(&[1, 2]), row(&[3, 4, 5])])[0];
    let pages: Vec<Page> = leaf.cut(&[3]).into_iter().map(|part| Page::leaf(1, &part)).collect();
    let file = open(&File::new(|schema| node.add("x", schema)).group(2, [Chunk::new(pages)]).build());
    let mut column = decoder(&file, 0);
    let mut pages = file.row_group(0).unwrap().column(0).unwrap().pages().unwrap();
    column.push(pages.next().unwrap().unwrap());
    assert_eq!(column.ready_rows().unwrap(), 1);
    column.push(pages.next().unwrap().unwrap());
    assert_eq!(column.ready_rows().unwrap(), 1);
    assert_eq!(valid(column.take(10).unwrap()), ["[1,2]"]);
    column.finish_chunk();
    assert_eq!(column.ready_rows().unwrap(), 1);
    assert_eq!(valid(column.take(10).unwrap()), ["[3,4,5]"]);
}

#[test]
fn flat_rows_are_ready_page_by_page() {
    let (built, expected) = strings();
    let file = open(&built);
    let mut column = decoder(&file, 0);
    let mut pages = file.row_group(0).unwrap().column(0).unwrap().pages().unwrap();
    let mut ready = Vec::new();
    while let Some(page) = pages.next().unwrap() {
        column.push(page);
        ready.push(column.ready_rows().unwrap());
    }
    assert_eq!(ready, [0, 5, 8, 10]);
    assert_eq!(take_all(&mut column), expected[..10]);
}

fn keyed() -> Field {
    Field::new("s", DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)), true)
}

#[test]
fn arrays_are_cut_where_the_dictionary_changes() {
    let (built, expected) = strings();
    let file = open(&built);
    let descriptor = file.row_group(0).unwrap().column(0).unwrap().descriptor().unwrap();
    let mut column = ColumnDecoder::new(&descriptor, &keyed()).unwrap();
    (0..3).for_each(|row_group| push(&mut column, &file, row_group, 0));
    let mut row = 0;
    while column.ready_rows().unwrap() > 0 {
        let array = column.take(17).unwrap();
        assert_eq!(array.data_type(), keyed().data_type());
        assert!(array.len() <= 10 && !array.is_empty());
        assert_eq!(valid(array.clone()), expected[row..row + array.len()]);
        row += array.len();
    }
    assert_eq!(row, 30);
}

#[test]
fn skipping_passes_over_changes_of_the_dictionary() {
    let (built, expected) = strings();
    let file = open(&built);
    let descriptor = file.row_group(0).unwrap().column(0).unwrap().descriptor().unwrap();
    for from in 0..30 {
        let mut column = ColumnDecoder::new(&descriptor, &keyed()).unwrap();
        (0..3).for_each(|row_group| push(&mut column, &file, row_group, 0));
        assert_eq!(column.skip(from).unwrap(), from);
        assert_eq!(take_all(&mut column), expected[from..], "from row {from}");
        let mut column = ColumnDecoder::new(&descriptor, &keyed()).unwrap();
        (0..3).for_each(|row_group| push(&mut column, &file, row_group, 0));
        let first = column.take(3).unwrap();
        assert_eq!(valid(first), expected[..3]);
        let skipped = column.skip(from).unwrap();
        assert_eq!(skipped, from.min(27));
        assert_eq!(take_all(&mut column), expected[3 + skipped..], "3 rows and {from}");
    }
}

#[test]
fn columns_come_as_other_types() {
    let (built, expected) = strings();
    let file = open(&built);
    let descriptor = file.row_group(0).unwrap().column(0).unwrap().descriptor().unwrap();
    for data_type in [DataType::Utf8View, DataType::LargeUtf8] {
        let mut column = ColumnDecoder::new(&descriptor, &Field::new("s", data_type.clone(), true)).unwrap();
        (0..3).for_each(|row_group| push(&mut column, &file, row_group, 0));
        let array = column.take(30).unwrap();
        assert_eq!(*array.data_type(), data_type);
        assert_eq!(valid(array), expected);
    }
    assert!(ColumnDecoder::new(&descriptor, &Field::new("s", DataType::Int32, true)).is_err());
}

#[test]
fn pages_are_read_from_a_dump_without_a_file() {
    let mut schema = SchemaBuilder::new("schema");
    schema.leaf("s", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
    let descriptor = ColumnDescriptor::new(&schema.finish().unwrap(), 0).unwrap();
    assert_eq!((descriptor.max_definition_level(), descriptor.max_repetition_level()), (1, 0));
    assert_eq!(*descriptor.field(), Field::new("s", DataType::Utf8, true));
    let (built, expected) = strings();
    for num_values in [Some(10), None] {
        let mut column = ColumnDecoder::new(&descriptor, descriptor.field()).unwrap();
        for row_group in 0..3 {
            let dump = buffer(built.chunk(row_group, 0));
            let mut pages = descriptor.pages(dump, Compression::Snappy, num_values).unwrap();
            while let Some(page) = pages.next().unwrap() {
                column.push(page);
            }
            column.finish_chunk();
        }
        assert_eq!(take_all(&mut column), expected);
    }
}

#[test]
fn a_leaf_of_a_struct_in_a_list_is_decoded_with_what_is_around_it() {
    let node = Node {
        optional: true,
        kind: support::shred::Kind::List(Box::new(Node {
            optional: true,
            kind: support::shred::Kind::Struct(vec![Node::int(true), Node::int(false)]),
        })),
    };
    let mut random = Random::new(11);
    let values: Vec<Value> = (0..20).map(|_| node.value(&mut random, 3)).collect();
    let chunks =
        node.shred(&values).into_iter().map(|leaf| Chunk::new([Page::leaf(2, &leaf)])).collect::<Vec<_>>();
    let file = open(&File::new(|schema| node.add("x", schema)).group(20, chunks).build());
    for (leaf, field) in ["a", "b"].into_iter().enumerate() {
        let mut column = decoder(&file, leaf);
        push(&mut column, &file, 0, leaf);
        let whole = support::read::column(file.scan().columns([format!("x.element.{field}")]));
        assert_eq!(take_all(&mut column).join(" "), whole);
    }
}

/// A file whose third page is broken.
fn broken(pages: Range<usize>) -> Built {
    let pages = pages.map(|i| match i {
        2 => Page::v1(3, Encoding::Plain, i32s(&[1])).header(|_| {}),
        _ => Page::v1(3, Encoding::Plain, i32s(&[i as i32; 3])),
    });
    File::flat("x", Repetition::Required, PhysicalType::Int32)
        .group(12, [Chunk::new(pages.collect::<Vec<_>>())])
        .build()
}

#[test]
fn a_broken_page_is_an_error_with_its_place_once_its_rows_are_wanted() {
    let built = broken(0..4);
    let file = open(&built);
    let mut column = decoder(&file, 0);
    push(&mut column, &file, 0, 0);
    assert_eq!(valid(column.take(6).unwrap()).join(" "), "0 0 0 1 1 1");
    let error = column.take(3).unwrap_err();
    assert_eq!(error.place().page, Some(2));
    assert_eq!(error.place().offset, Some(built.page(0, 0, 2).header as u64));

    let mut column = decoder(&file, 0);
    push(&mut column, &file, 0, 0);
    assert_eq!(column.skip(9).unwrap(), 9);
    assert_eq!(valid(column.take(9).unwrap()).join(" "), "3 3 3");
}
