//! Scans: which columns, row groups and rows; as what; out of which bytes.
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

use marquetry::arrow::array::cast::AsArray;
use marquetry::arrow::array::types::Int32Type;
use marquetry::arrow::array::{Array, RecordBatch};
use marquetry::arrow::buffer::Buffer;
use marquetry::arrow::schema::{DataType, TimeUnit};
use marquetry::metadata::{self, Compression, Encoding, LogicalType, PhysicalType, Repetition};
use marquetry::{Error, ErrorKind, ParquetFile, ReadOptions, Scan};
use support::encode::*;
use support::raw::{Built, Chunk, File, Location, Page};
use support::read::{buffer, check, column, columns, drain, open, read};
use support::show::words;
use support::shred::{Node, Value};

/// Row groups of these many rows.
const GROUPS: [usize; 3] = [4, 3, 5];
const IDS: &str = "0 10 20 30 40 50 60 70 80 90 100 110";
const CITIES: &str = r#""Oslo" null "Rome, the eternal one" "Oslo" "Bern" "Bern" null null "Wien" "Wien" "Rome, the eternal one" "Oslo""#;
const FARES: &str = "{amount:0.5,tip:0} null {amount:null,tip:2} {amount:3.5,tip:3} {amount:4.5,tip:4} null \
    {amount:null,tip:6} {amount:7.5,tip:7} {amount:8.5,tip:8} null {amount:null,tip:10} {amount:11.5,tip:11}";
const TAGS: &str = "null [] [2] [3,null] [4,5,6] null [] [7] [8,null] [9,10,11] null []";
const DOTTED: &str = "0 -1 -2 -3 -4 -5 -6 -7 -8 -9 -10 -11";

/// Twelve rows in three row groups, pages of two rows.
///
/// ```text
/// int32 id; optional string city; optional group fare { optional double amount; int32 tip; }
/// optional list<optional int32> tags; int32 "a.b"
/// ```
fn trips(version: u8, indexed: bool) -> Built {
    let mut file = File::new(|schema| {
        schema.leaf("id", Repetition::Required, PhysicalType::Int32);
        schema.leaf("city", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
        schema.group("fare", Repetition::Optional, |fare| {
            fare.leaf("amount", Repetition::Optional, PhysicalType::Double);
            fare.leaf("tip", Repetition::Required, PhysicalType::Int32);
        });
        Node::list(true, Node::int(true)).add("tags", schema);
        schema.leaf("a.b", Repetition::Required, PhysicalType::Int32);
    });
    let mut row = 0;
    for rows in GROUPS {
        let mut chunks: Vec<Vec<Page>> = vec![vec![], vec![cities()], vec![], vec![], vec![], vec![]];
        let end = row + rows as i32;
        while row < end {
            let page = (row..end).take(2).collect::<Vec<_>>();
            row += page.len() as i32;
            for (chunk, page) in chunks.iter_mut().zip(pages(version, &page)) {
                chunk.push(page);
            }
        }
        let chunks = chunks.into_iter().map(Chunk::new);
        let chunks = chunks.map(|chunk| if indexed { chunk.indexed() } else { chunk });
        file = file.group(rows as u64, chunks.collect::<Vec<_>>());
    }
    file.key_value("writer", "test").build()
}

fn cities() -> Page {
    Page::dictionary(4, byte_arrays(&["Oslo", "Bern", "Wien", "Rome, the eternal one"]))
}

/// A page of each leaf for these rows.
fn pages(version: u8, rows: &[i32]) -> [Page; 6] {
    let n = rows.len();
    let page = |encoding, values| Page::data(version, n, encoding, values).crc(true);
    let ids: Vec<i32> = rows.iter().map(|row| row * 10).collect();
    let city =
        [Some(0), None, Some(3), Some(0), Some(1), Some(1), None, None, Some(2), Some(2), Some(3), Some(0)];
    let city: Vec<Option<u32>> = rows.iter().map(|&row| city[row as usize]).collect();
    let amount: Vec<Option<Option<f64>>> = rows
        .iter()
        .map(|&row| (row % 4 != 1).then_some((row % 4 != 2).then_some(f64::from(row) + 0.5)))
        .collect();
    let amount_levels: Vec<u8> = amount.iter().map(|v| v.map_or(0, |v| 1 + u8::from(v.is_some()))).collect();
    let amounts: Vec<f64> = amount.iter().filter_map(|v| v.flatten()).collect();
    let tips: Vec<i32> = rows.iter().copied().filter(|row| row % 4 != 1).collect();
    let dotted: Vec<i32> = rows.iter().map(|row| -row).collect();
    let tags = Node::list(true, Node::int(true)).shred(&rows.iter().map(|&row| tag(row)).collect::<Vec<_>>());
    let presence = |v: &[Option<u32>]| v.iter().map(|v| u8::from(v.is_some())).collect::<Vec<_>>();
    [
        page(Encoding::Plain, i32s(&ids)),
        page(Encoding::RleDictionary, indices(&city.iter().copied().flatten().collect::<Vec<_>>(), 2))
            .def(&presence(&city), 1),
        page(Encoding::Plain, f64s(&amounts)).def(&amount_levels, 2),
        page(Encoding::Plain, i32s(&tips))
            .def(&amount_levels.iter().map(|&v| v.min(1)).collect::<Vec<_>>(), 1),
        Page::leaf(version, &tags[0]).crc(true),
        page(Encoding::Plain, i32s(&dotted)),
    ]
}

fn tag(row: i32) -> Value {
    let int = Value::Int;
    match row {
        0 | 5 | 10 => Value::Null,
        1 | 6 | 11 => Value::List(vec![]),
        2 | 7 => Value::List(vec![int(row)]),
        3 | 8 => Value::List(vec![int(row), Value::Null]),
        _ => Value::List(vec![int(row), int(row + 1), int(row + 2)]),
    }
}

/// All columns of `trips`, as words.
fn all() -> Vec<(String, Vec<String>)> {
    let cities = CITIES.replace(", the eternal one", "");
    let list = [("id", IDS), ("city", &cities), ("fare", FARES), ("tags", TAGS), ("a.b", DOTTED)];
    let mut all: Vec<(String, Vec<String>)> = list
        .map(|(name, text)| (name.to_string(), text.split_whitespace().map(String::from).collect()))
        .into();
    for word in &mut all[1].1 {
        if word == "\"Rome\"" {
            *word = "\"Rome, the eternal one\"".into();
        }
    }
    all
}

/// The words of these rows, column by column.
fn part(rows: impl IntoIterator<Item = u64>) -> Vec<(String, Vec<String>)> {
    let rows: Vec<u64> = rows.into_iter().collect();
    let pick = |words: Vec<String>| rows.iter().map(|&row| words[row as usize].clone()).collect();
    all().into_iter().map(|(name, words)| (name, pick(words))).collect()
}

fn layouts() -> impl Iterator<Item = Built> {
    [(1, false), (1, true), (2, false), (2, true)]
        .into_iter()
        .map(|(version, indexed)| trips(version, indexed))
}

fn names(scan: Scan) -> Vec<String> {
    columns(scan).into_iter().map(|(name, _)| name).collect()
}

fn text(scan: Scan) -> Vec<String> {
    columns(scan).into_iter().map(|(_, words)| words.join(" ")).collect()
}

fn build_error(scan: Scan) -> Error {
    scan.build().unwrap_err()
}

#[test]
fn a_whole_file_is_read_by_default() {
    for file in layouts() {
        assert_eq!(columns(open(&file).scan()), all());
        assert_eq!(read(open(&file).scan()).len(), 1);
        let schema = open(&file).schema().clone();
        assert_eq!(schema.metadata().get("writer").map(String::as_str), Some("test"));
    }
}

#[test]
fn columns_are_chosen_by_name_and_come_in_the_order_of_the_file() {
    let file = open(&trips(1, false));
    assert_eq!(names(file.scan().columns(["city", "id"])), ["id", "city"]);
    assert_eq!(names(file.scan().columns(["id"]).columns(["a.b"]).columns(["id"])), ["id", "a.b"]);
    assert_eq!(text(file.scan().columns(["fare"])), [FARES]);
    assert_eq!(column(file.scan().columns(["tags"])), TAGS);
}

#[test]
fn a_dotted_path_chooses_within_groups() {
    let file = open(&trips(1, false));
    let tips = "{tip:0} null {tip:2} {tip:3} {tip:4} null {tip:6} {tip:7} {tip:8} null {tip:10} {tip:11}";
    assert_eq!(column(file.scan().columns(["fare.tip"])), tips);
    assert_eq!(column(file.scan().columns(["fare.tip", "fare.amount"])), FARES);
    for path in ["tags.list.element", "tags.element", "tags.list", "tags"] {
        assert_eq!(column(file.scan().columns([path])), TAGS, "{path}");
    }
    assert_eq!(names(file.scan().columns(["id", "fare.tip"])), ["id", "fare"]);
}

#[test]
fn a_top_level_name_with_dots_wins_over_a_path() {
    let chunk = |value: i32| Chunk::new([Page::v1(1, Encoding::Plain, i32s(&[value]))]);
    let file = File::new(|schema| {
        schema.group("a", Repetition::Required, |a| {
            a.leaf("b", Repetition::Required, PhysicalType::Int32);
            a.leaf("c.d", Repetition::Required, PhysicalType::Int32);
        });
        schema.leaf("a.b", Repetition::Required, PhysicalType::Int32);
    })
    .group(1, [1, 2, 3].map(chunk));
    let file = open(&file.build());
    assert_eq!(column(file.scan().columns(["a.b"])), "3");
    assert_eq!(column(file.scan().columns(["a.c.d"])), "{c.d:2}");
    assert_eq!(column(file.scan().paths([["a", "b"]])), "{b:1}");
    assert_eq!(column(file.scan().paths([["a", "c.d"]])), "{c.d:2}");
    assert_eq!(column(file.scan().paths([vec!["a.b"]])), "3");
    assert_eq!(column(file.scan().paths([vec!["a"]])), "{b:1,c.d:2}");
    assert!(matches!(build_error(file.scan().paths([["a.b", "c"]])).kind(), ErrorKind::UnknownColumn(_)));
}

#[test]
fn leaves_are_chosen_by_index() {
    let file = open(&trips(2, false));
    assert_eq!(text(file.scan().leaves([5, 0])), [IDS, DOTTED]);
    assert_eq!(column(file.scan().leaves([2])).split(' ').next(), Some("{amount:0.5}"));
    assert_eq!(text(file.scan().leaves([4]).columns(["id"])), [IDS, TAGS]);
    let error = build_error(file.scan().leaves([6]));
    assert!(error.to_string().contains('6'), "{error}");
}

#[test]
fn unknown_columns_are_an_error_that_names_them() {
    let file = open(&trips(1, false));
    for name in ["ID", "fare.fee", "fare.tip.x", "", "tags.item", ".id", "id."] {
        let error = build_error(file.scan().columns(["id", name]));
        assert!(matches!(error.kind(), ErrorKind::UnknownColumn(found) if found == name), "{name}: {error}");
    }
    let error = build_error(file.scan().output_type("nobody", DataType::Utf8));
    assert!(matches!(error.kind(), ErrorKind::UnknownColumn(_)), "{error}");
}

#[test]
fn without_columns_rows_are_counted() {
    // Nothing of the file is needed but its footer.
    let file = (0..GROUPS.len()).fold(trips(1, true), |file, group| {
        (0..6).fold(file, |file, leaf| {
            let pages = file.num_pages(group, leaf);
            (0..pages).fold(file, |file, page| file.ruin(group, leaf, page))
        })
    });
    let file = open(&file);
    let counts = |scan: Scan| {
        let batches = read(scan.columns([] as [&str; 0]));
        assert!(batches.iter().all(|batch| batch.num_columns() == 0));
        batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>()
    };
    assert_eq!(counts(file.scan()), [12]);
    assert_eq!(counts(file.scan().batch_size(5)), [5, 5, 2]);
    assert_eq!(counts(file.scan().rows([2..4, 11..12])), [3]);
    assert_eq!(counts(file.scan().row_groups([1]).limit(2)), [2]);
}

#[test]
fn row_groups_are_read_in_the_order_asked_for() {
    for file in layouts() {
        let file = open(&file);
        assert_eq!(columns(file.scan().row_groups([2, 0])), part((7..12).chain(0..4)));
        assert_eq!(columns(file.scan().row_groups([1])), part(4..7));
        assert_eq!(columns(file.scan().row_groups([1, 2]).rows([0..5, 10..12])), part([4, 10, 11]));
        assert_eq!(
            columns(file.scan().row_groups([2, 1]).offset(3).limit(3).batch_size(2)),
            part([10, 11, 4])
        );
        assert_eq!(columns(file.scan().row_groups([])), part([]));
        let error = build_error(file.scan().row_groups([0, 3]));
        assert!(error.to_string().contains("row group 3"), "{error}");
    }
}

#[test]
fn rows_are_chosen_by_ranges() {
    for file in layouts() {
        let file = open(&file);
        for from in 0..=12u64 {
            for to in from..=12 {
                for size in [2, 100] {
                    let scan = file.scan().rows([from..to]).batch_size(size);
                    assert_eq!(columns(scan), part(from..to), "{from}..{to}");
                }
            }
        }
        let ranges = [8..9, 0..1, 3..5, 4..6, 2..2];
        assert_eq!(columns(file.scan().rows(ranges)), part([0, 3, 4, 5, 8]));
        assert_eq!(columns(file.scan().rows([])), part([]));
        for range in [0..13, 12..13, u64::MAX - 1..u64::MAX] {
            let error = build_error(file.scan().rows([range]));
            assert!(error.to_string().contains("12 rows"), "{error}");
        }
    }
}

#[test]
fn offset_and_limit_count_rows_that_are_chosen() {
    for file in layouts() {
        let file = open(&file);
        for offset in 0..14u64 {
            for limit in [0, 1, 5, 12, u64::MAX] {
                let scan = file.scan().offset(offset).limit(limit).batch_size(3);
                assert_eq!(
                    columns(scan),
                    part((offset..12).take(limit.min(12) as usize)),
                    "{offset} {limit}"
                );
            }
        }
        assert_eq!(columns(file.scan().rows([1..3, 6..12]).offset(1).limit(3)), part([2, 6, 7]));
        assert_eq!(columns(file.scan().offset(u64::MAX)), part([]));
    }
}

#[test]
fn batches_hold_as_many_rows_as_asked_for() {
    let sizes = |size: usize| {
        let batches = read(open(&trips(1, false)).scan().batch_size(size));
        batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>()
    };
    assert_eq!(sizes(5), [5, 5, 2]);
    assert_eq!(sizes(4), [4, 4, 4]);
    assert_eq!(sizes(12), [12]);
    assert_eq!(sizes(usize::MAX), [12]);
    assert!(matches!(
        build_error(open(&trips(1, false)).scan().batch_size(0)).kind(),
        ErrorKind::InvalidArgument(_)
    ));
}

#[test]
fn columns_come_as_the_types_asked_for() {
    for file in layouts() {
        let file = open(&file);
        let utf8 = DataType::Utf8;
        let keyed = |key: DataType, value: DataType| DataType::Dictionary(Box::new(key), Box::new(value));
        let city = &all()[1].1;
        for data_type in [
            DataType::Utf8View,
            DataType::LargeUtf8,
            keyed(DataType::Int32, utf8.clone()),
            keyed(DataType::Int8, DataType::LargeUtf8),
            keyed(DataType::UInt16, DataType::Utf8View),
        ] {
            for size in [1, 2, 3, 5, 12] {
                let scan =
                    file.scan().columns(["city"]).output_type("city", data_type.clone()).batch_size(size);
                let batches = read(scan);
                assert!(batches.iter().all(|batch| *batch.column(0).data_type() == data_type));
                let words: Vec<_> = batches.iter().flat_map(|batch| words(batch.column(0))).collect();
                assert_eq!(words, *city, "{data_type} in batches of {size}");
            }
        }
        for data_type in [DataType::Binary, DataType::BinaryView, DataType::LargeBinary] {
            let batches = read(file.scan().columns(["city"]).output_type("city", data_type.clone()));
            assert_eq!(*batches[0].column(0).data_type(), data_type);
            assert_eq!(words(batches[0].column(0))[3], "x4f736c6f");
        }
        let scan = file.scan().columns(["fare.tip"]).output_type("fare.tip", DataType::Int64);
        let batch = &read(scan)[0];
        assert_eq!(*batch.column(0).as_struct().column(0).data_type(), DataType::Int64);
        let scan = file.scan().columns(["id"]).output_type("id", DataType::Int8);
        assert_eq!(column(scan), IDS);
        for (name, data_type) in [("id", utf8), ("city", DataType::Int32), ("fare", DataType::Int32)] {
            build_error(file.scan().output_type(name, data_type));
        }
    }
}

#[test]
fn values_that_do_not_fit_the_type_asked_for_are_an_error() {
    let file = File::flat("x", Repetition::Required, PhysicalType::Int32)
        .group(3, [Chunk::new([Page::v1(3, Encoding::Plain, i32s(&[1, 127, 128]))])]);
    let file = open(&file.build());
    assert_eq!(column(file.scan().output_type("x", DataType::Int8).limit(2)), "1 127");
    let (_, error) = drain(file.scan().output_type("x", DataType::Int8).build().unwrap());
    let error = error.unwrap();
    assert!(matches!(error.kind(), ErrorKind::OutOfRange { .. }), "{error}");
    assert_eq!(error.place().column.as_deref(), Some("x"));
}

#[test]
fn a_dictionary_too_large_for_its_keys_is_an_error() {
    let values: Vec<String> = (0..200).map(|i| i.to_string()).collect();
    let ids: Vec<u32> = (0..200).collect();
    let file = File::flat("x", Repetition::Required, PhysicalType::ByteArray).group(
        200,
        [Chunk::new([
            Page::dictionary(200, byte_arrays(&values)),
            Page::v1(200, Encoding::RleDictionary, indices(&ids, 8)),
        ])],
    );
    let file = open(&file.build());
    let as_keys = |key: DataType| {
        let data_type = DataType::Dictionary(Box::new(key), Box::new(DataType::Binary));
        drain(file.scan().output_type("x", data_type).build().unwrap())
    };
    assert!(as_keys(DataType::Int8).1.is_some());
    assert!(as_keys(DataType::UInt8).1.is_none());
}

#[test]
fn timestamps_come_in_other_units() {
    let unit = metadata::TimeUnit::Millis;
    let file = File::new(|schema| {
        let leaf = schema.leaf("t", Repetition::Required, PhysicalType::Int64);
        leaf.logical(LogicalType::Timestamp { unit, utc: true });
    })
    .group(2, [Chunk::new([Page::v1(2, Encoding::Plain, i64s(&[1_700_000_000_123, -1]))])]);
    let file = open(&file.build());
    let as_unit = |unit| {
        let data_type = DataType::Timestamp(unit, Some("UTC".into()));
        read(file.scan().output_type("t", data_type))[0].column(0).to_data().buffers()[0]
            .typed_data::<i64>()
            .to_vec()
    };
    assert_eq!(as_unit(TimeUnit::Millisecond), [1_700_000_000_123, -1]);
    assert_eq!(as_unit(TimeUnit::Microsecond), [1_700_000_000_123_000, -1000]);
    assert_eq!(as_unit(TimeUnit::Nanosecond), [1_700_000_000_123_000_000, -1_000_000]);
}

/// A file of which only these ranges are known.
fn only(bytes: &[u8], metadata: &Arc<metadata::FileMetadata>, ranges: &[Range<u64>]) -> ParquetFile {
    let part = |range: &Range<u64>| (range.start, buffer(&bytes[range.start as usize..range.end as usize]));
    ParquetFile::from_ranges(metadata.clone(), ranges.iter().map(part)).unwrap()
}

#[test]
fn the_byte_ranges_of_a_scan_are_enough_for_it() {
    for built in layouts() {
        let metadata = open(&built).metadata().clone();
        let mut indexes = Vec::new();
        for group in 0..3 {
            for leaf in 0..6 {
                indexes.extend(
                    metadata.row_group(group).unwrap().column(leaf).unwrap().offset_index_range().unwrap(),
                );
            }
        }
        // Whoever does not fetch the offset indexes first is told to fetch whole chunks.
        for first in [&[][..], &indexes] {
            let planner = only(&built.bytes, &metadata, first);
            for from in 0..12 {
                for to in from + 1..=12 {
                    let wish = |file: &ParquetFile| file.scan().rows([from..to]).batch_size(3);
                    let ranges = wish(&planner).byte_ranges().unwrap();
                    assert!(ranges.windows(2).all(|pair| pair[0].end < pair[1].start), "{ranges:?}");
                    let file = only(&built.bytes, &metadata, &ranges);
                    let (batches, error) = drain(wish(&file).build().unwrap());
                    assert!(error.is_none(), "rows {from}..{to}: {}", error.unwrap());
                    let ids: Vec<_> = batches.iter().flat_map(|batch| words(batch.column(0))).collect();
                    assert_eq!(ids, part(from..to)[0].1);
                }
            }
        }
    }
}

#[test]
fn byte_ranges_leave_out_what_is_not_wanted() {
    let built = trips(1, true);
    let file = open(&built);
    let at = |group, leaf, page| built.page(group, leaf, page);
    assert_eq!(file.scan().row_groups([]).byte_ranges().unwrap(), []);
    assert_eq!(file.scan().columns([] as [&str; 0]).byte_ranges().unwrap(), []);
    let chunk = |group: usize, leaf: usize| {
        let last = built.num_pages(group, leaf) - 1;
        at(group, leaf, 0).header as u64..at(group, leaf, last).end as u64
    };
    let ids = file.scan().columns(["id"]);
    assert_eq!(ids.clone().byte_ranges().unwrap(), [chunk(0, 0), chunk(1, 0), chunk(2, 0)]);
    assert_eq!(ids.clone().row_groups([1]).byte_ranges().unwrap(), [chunk(1, 0)]);
    let index = |leaf| built.offset_index(2, leaf).start as u64..built.offset_index(2, leaf).end as u64;
    let page = at(2, 0, 1).header as u64..at(2, 0, 1).end as u64;
    assert_eq!(ids.rows([9..10]).byte_ranges().unwrap(), [page, index(0)]);
    let dictionary_and_page = [
        at(2, 1, 0).header as u64..at(2, 1, 0).end as u64,
        at(2, 1, 2).header as u64..at(2, 1, 2).end as u64,
        index(1),
    ];
    assert_eq!(file.scan().columns(["city"]).rows([10..11]).byte_ranges().unwrap(), dictionary_and_page);
}

#[test]
fn bytes_that_were_not_handed_in_are_an_error() {
    let built = trips(1, false);
    let metadata = open(&built).metadata().clone();
    let file = only(&built.bytes, &metadata, &[]);
    let (batches, error) = drain(file.scan().build().unwrap());
    assert!(batches.is_empty());
    let error = error.unwrap();
    assert!(matches!(error.kind(), ErrorKind::InvalidArgument(_)), "{error}");
    assert_eq!((error.place().row_group, error.place().column.as_deref()), (Some(0), Some("id")));
}

#[test]
fn pages_that_hold_no_wanted_row_are_not_read() {
    for version in [1, 2] {
        for indexed in [false, true] {
            for leaf in 0..6 {
                // V1 pages of lists say nothing of rows: without an index they have to be read.
                if leaf == 4 && version == 1 && !indexed {
                    continue;
                }
                let whole = trips(version, indexed);
                let data = usize::from(leaf == 1);
                // Group 2 has pages of rows 7-8, 9-10 and 11.
                let mut ruined = whole.clone().ruin_body(2, leaf, data);
                // Without an index a list's last row ends where the next page is seen to begin with another.
                if leaf != 4 || indexed {
                    ruined = ruined.ruin_body(2, leaf, data + 2);
                }
                let file = open(&ruined);
                assert_eq!(
                    columns(file.scan().rows([9..11])),
                    part(9..11),
                    "V{version}, index: {indexed}, leaf {leaf}"
                );
                assert_eq!(columns(file.scan().rows([2..7, 9..11])), part((2..7).chain(9..11)));
                let (_, error) = drain(file.scan().build().unwrap());
                assert!(error.is_some());
                // With an index not even their headers are looked at.
                if indexed {
                    let file = open(&whole.ruin(2, leaf, data).ruin(2, leaf, data + 2));
                    assert_eq!(columns(file.scan().rows([9..11])), part(9..11), "V{version}, leaf {leaf}");
                }
            }
        }
    }
}

#[test]
fn row_groups_and_columns_that_are_not_wanted_are_not_read() {
    let file = open(&trips(1, false).ruin(1, 0, 0).ruin(0, 3, 0));
    assert_eq!(columns(file.scan().row_groups([2])), part(7..12));
    assert_eq!(column(file.scan().columns(["city"])), all()[1].1.join(" "));
    assert_eq!(text(file.scan().columns(["id"]).limit(4)), ["0 10 20 30"]);
}

#[test]
fn a_lying_offset_index_gives_the_right_rows_or_an_error() {
    type Lie = fn(&mut Vec<Location>);
    let lies: [(&str, Lie); 14] = [
        ("one row late", |pages| pages[1].first_row_index += 1),
        ("one row early", |pages| pages[1].first_row_index -= 1),
        ("all rows late", |pages| pages.iter_mut().for_each(|page| page.first_row_index += 1)),
        ("the last page early", |pages| pages.last_mut().unwrap().first_row_index -= 1),
        ("rows that fall", |pages| pages.last_mut().unwrap().first_row_index = 0),
        ("a negative row", |pages| pages[1].first_row_index = -1),
        ("rows past the end", |pages| pages.last_mut().unwrap().first_row_index = 1000),
        ("pages exchanged", |pages| {
            let offset = pages[0].offset;
            pages[0].offset = pages[1].offset;
            pages[1].offset = offset;
        }),
        ("twice the same page", |pages| pages[1].offset = pages[0].offset),
        ("the next page's offset", |pages| {
            let last = pages.len() - 1;
            pages[last - 1].offset = pages[last].offset;
        }),
        ("within a page", |pages| pages[1].offset += 3),
        ("outside the file", |pages| pages[1].offset = i64::MAX),
        ("a page missing", |pages| {
            pages.remove(1);
        }),
        ("no page", Vec::clear),
    ];
    for (name, lie) in lies {
        for version in [1, 2] {
            let file = lying(version, lie);
            let file = open(&file);
            let whole: Vec<String> =
                columns(file.scan()).into_iter().map(|(_, words)| words.join(" ")).collect();
            assert_eq!(whole, ["0 1 2 3 4 5 6 7", "[0] [1,1] [2] [3,3] [4] [5,5] [6] [7,7]"]);
            for from in 0..8u64 {
                for to in from + 1..=8 {
                    for (column, expected) in whole.iter().enumerate() {
                        let rows = file.scan().leaves([column]).rows([from..to]).build().unwrap();
                        let (batches, error) = drain(rows);
                        let expected: Vec<&str> =
                            expected.split(' ').skip(from as usize).take((to - from) as usize).collect();
                        let found: Vec<_> = batches.iter().flat_map(|batch| words(batch.column(0))).collect();
                        assert!(
                            if error.is_some() {
                                expected.starts_with(&found.iter().map(String::as_str).collect::<Vec<_>>())
                            } else {
                                found == expected
                            },
                            "{name}, V{version}, column {column}, rows {from}..{to}: {found:?}, {error:?}"
                        );
                    }
                }
            }
        }
    }
}

/// Eight rows of a number and a list, in pages of two rows, with an offset index that lies.
fn lying(version: u8, lie: fn(&mut Vec<Location>)) -> Built {
    let list = Node::list(false, Node::int(false));
    let file = File::new(|schema| {
        schema.leaf("x", Repetition::Required, PhysicalType::Int32);
        list.add("l", schema);
    });
    let rows: Vec<i32> = (0..8).collect();
    let numbers = rows.chunks(2).map(|rows| Page::data(version, 2, Encoding::Plain, i32s(rows)));
    let value = |row: &i32| Value::List(vec![Value::Int(*row); 1 + *row as usize % 2]);
    let lists = rows.chunks(2).map(|rows| {
        let values: Vec<Value> = rows.iter().map(value).collect();
        Page::leaf(version, &list.shred(&values)[0])
    });
    let (numbers, lists): (Vec<Page>, Vec<Page>) = (numbers.collect(), lists.collect());
    file.group(8, [numbers, lists].map(|pages| Chunk::new(pages).offset_index(lie))).build()
}

#[test]
fn an_offset_index_that_cannot_be_read_is_done_without() {
    let mut built = trips(1, true);
    for group in 0..3 {
        for leaf in 0..6 {
            let at = built.offset_index(group, leaf);
            built.bytes[at].fill(0xff);
        }
    }
    let file = open(&built);
    for row in 0..12 {
        assert_eq!(columns(file.scan().rows([row..row + 1])), part([row]));
    }
}

#[test]
fn page_sizes_of_an_offset_index_may_leave_out_the_header() {
    let lie = |pages: &mut Vec<Location>| pages.iter_mut().for_each(|page| page.compressed_page_size -= 10);
    let file = lying(2, lie);
    check(&file, &[("x", "0 1 2 3 4 5 6 7"), ("l", "[0] [1,1] [2] [3,3] [4] [5,5] [6] [7,7]")]);
    let (full, file) = (open(&file), file);
    let metadata = full.metadata().clone();
    for row in 0..8 {
        let ranges = full.scan().rows([row..row + 1]).byte_ranges().unwrap();
        let part = only(&file.bytes, &metadata, &ranges);
        let (_, error) = drain(part.scan().rows([row..row + 1]).build().unwrap());
        assert!(error.is_none(), "row {row}: {}", error.unwrap());
    }
}

#[test]
fn metadata_is_not_parsed_again() {
    let mut built = trips(1, true);
    let first = open(&built);
    let len = built.bytes.len();
    built.bytes[len - 400..].fill(0);
    let again =
        ReadOptions::new().metadata(first.metadata().clone()).from_buffer(buffer(&built.bytes)).unwrap();
    assert!(Arc::ptr_eq(first.metadata(), again.metadata()));
    assert!(Arc::ptr_eq(first.schema(), again.schema()));
    assert_eq!(columns(again.scan()), all());
    assert!(support::read::memory(&built.bytes).is_err());
}

/// Whether `part` lies within `whole`.
fn lies_in(part: &Buffer, whole: &Buffer) -> bool {
    let range = whole.as_ptr_range();
    range.contains(&part.as_ptr()) && part.as_ptr() as usize + part.len() <= range.end as usize
}

#[test]
fn plain_pages_that_need_no_change_are_lent() {
    let values: Vec<i64> = (0..100).collect();
    let file = |codec, align: usize, repetition| {
        let page = Page::v2(100, Encoding::Plain, i64s(&values));
        let page = if repetition == Repetition::Optional { page.def(&[1; 100], 1) } else { page };
        let chunk = Chunk::new([page]).codec(codec).align(align);
        buffer(&File::flat("x", repetition, PhysicalType::Int64).group(100, [chunk]).build().bytes)
    };
    let required = Repetition::Required;
    let lent = |bytes: &Buffer, batch_size: usize, rows: Range<u64>| {
        let file = ParquetFile::from_buffer(bytes.clone()).unwrap();
        let batches = read(file.scan().batch_size(batch_size).rows([rows]));
        batches.iter().filter(|batch| lies_in(&batch.column(0).to_data().buffers()[0], bytes)).count()
    };
    let aligned = file(Compression::Uncompressed, 8, required);
    assert_eq!(lent(&aligned, 100, 0..100), 1);
    assert_eq!(lent(&aligned, 1000, 0..100), 1);
    assert_eq!(lent(&aligned, 25, 0..100), 4);
    assert_eq!(lent(&aligned, 10, 50..60), 1);
    assert_eq!(lent(&file(Compression::Snappy, 8, required), 100, 0..100), 0);
    assert_eq!(lent(&file(Compression::Uncompressed, 8, Repetition::Optional), 100, 0..100), 0);
    // Not aligned: copied, and right.
    let odd = Page::v1(100, Encoding::Plain, i64s(&values));
    let at = [0u8; 8];
    let shifted: Vec<usize> = (0..8)
        .filter(|&shift| {
            let bytes = File::flat(&"x".repeat(1 + shift), required, PhysicalType::Int64).group(
                100,
                [Chunk::new([Page::other(metadata::PageType::IndexPage, at[..shift].to_vec()), odd.clone()])],
            );
            let bytes = buffer(&bytes.build().bytes);
            lent(&bytes, 100, 0..100) == 0
        })
        .collect();
    assert_eq!(shifted.len(), 7, "{shifted:?}");
}

#[test]
fn views_point_into_the_pages() {
    let strings: Vec<String> =
        (0..20).map(|i| format!("{i} and a good deal more than twelve bytes")).collect();
    let expected = strings.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>();
    let plain = || Page::v1(20, Encoding::Plain, byte_arrays(&strings));
    let ids: Vec<u32> = (0..20).collect();
    let with_dictionary = vec![
        Page::dictionary(20, byte_arrays(&strings)),
        Page::v1(20, Encoding::RleDictionary, indices(&ids, 5)),
    ];
    for pages in [vec![plain()], with_dictionary] {
        for data_type in [DataType::Utf8View, DataType::BinaryView] {
            let file = File::new(|schema| {
                schema.leaf("s", Repetition::Required, PhysicalType::ByteArray).logical(LogicalType::String);
            })
            .group(20, [Chunk::new(pages.clone())]);
            let bytes = buffer(&file.build().bytes);
            let file = ParquetFile::from_buffer(bytes.clone()).unwrap();
            let batches = read(file.scan().output_type("s", data_type.clone()).batch_size(7));
            let data: Vec<Buffer> =
                batches.iter().flat_map(|batch| batch.column(0).to_data().buffers()[1..].to_vec()).collect();
            // A dictionary is copied once, and all views point into it.
            let is_dictionary = pages.len() > 1;
            let shared = |buffer: &Buffer| {
                if is_dictionary { buffer.data_ptr() == data[0].data_ptr() } else { lies_in(buffer, &bytes) }
            };
            assert!(!data.is_empty() && data.iter().all(shared), "{data_type}");
            if data_type == DataType::Utf8View {
                assert_eq!(
                    batches.iter().flat_map(|batch| words(batch.column(0))).collect::<Vec<_>>(),
                    expected
                );
            }
        }
    }
}

fn dictionary_file(dictionaries: &[&[&str]], fall_back: bool) -> ParquetFile {
    let mut file = File::new(|schema| {
        schema.leaf("s", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
    });
    for values in dictionaries {
        let ids: Vec<u32> = (0..6).map(|i| i % values.len() as u32).collect();
        let mut pages = vec![
            Page::dictionary(values.len(), byte_arrays(values)),
            Page::v1(4, Encoding::RleDictionary, indices(&ids[..3], 3)).def(&[1, 0, 1, 1], 1),
            Page::v1(3, Encoding::RleDictionary, indices(&ids[3..], 3)).def(&[1, 1, 1], 1),
        ];
        if fall_back {
            pages.push(Page::v1(2, Encoding::Plain, byte_arrays(&["plain", "again"])).def(&[1, 1], 1));
        }
        file = file.group(if fall_back { 9 } else { 7 }, [Chunk::new(pages)]);
    }
    open(&file.build())
}

fn as_dictionary(file: &ParquetFile, batch_size: usize) -> Vec<RecordBatch> {
    let data_type = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    read(file.scan().output_type("s", data_type).batch_size(batch_size))
}

#[test]
fn batches_of_a_chunk_share_its_dictionary() {
    let file = dictionary_file(&[&["a", "b", "c"]], false);
    let batches = as_dictionary(&file, 2);
    assert_eq!(batches.len(), 4);
    let values = |batch: &RecordBatch| batch.column(0).as_dictionary::<Int32Type>().values().clone();
    for batch in &batches {
        assert_eq!(words(&values(batch)), ["\"a\"", "\"b\"", "\"c\""]);
        assert!(values(batch).to_data().ptr_eq(&values(&batches[0]).to_data()));
    }
    let all: Vec<_> = batches.iter().flat_map(|batch| words(batch.column(0))).collect();
    assert_eq!(all.join(" "), r#""a" null "b" "c" "a" "b" "c""#);
}

#[test]
fn batches_are_cut_where_the_dictionary_changes() {
    let file = dictionary_file(&[&["a", "b", "c"], &["d"], &["e", "f"]], false);
    let batches = as_dictionary(&file, 1000);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [7, 7, 7]);
    let batches = as_dictionary(&file, 5);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [5, 2, 5, 2, 5, 2]);
    let expected =
        r#""a" null "b" "c" "a" "b" "c" "d" null "d" "d" "d" "d" "d" "e" null "f" "e" "f" "e" "f""#;
    for size in [1, 2, 3, 5, 7, 8, 1000] {
        let all: Vec<_> =
            as_dictionary(&file, size).iter().flat_map(|batch| words(batch.column(0))).collect();
        assert_eq!(all.join(" "), expected);
    }
    // As plain strings nothing is cut.
    assert_eq!(read(file.scan()).len(), 1);
}

#[test]
fn a_cut_of_one_column_cuts_the_others() {
    let mut file = File::new(|schema| {
        schema.leaf("s", Repetition::Required, PhysicalType::ByteArray).logical(LogicalType::String);
        schema.leaf("x", Repetition::Required, PhysicalType::Int32);
    });
    for (i, value) in ["a", "b"].into_iter().enumerate() {
        let strings = [
            Page::dictionary(1, byte_arrays(&[value])),
            Page::v1(3, Encoding::RleDictionary, indices(&[0; 3], 1)),
        ];
        let numbers = [Page::v1(3, Encoding::Plain, i32s(&[0, 1, 2].map(|v| v + 3 * i as i32)))];
        file = file.group(3, [Chunk::new(strings), Chunk::new(numbers)]);
    }
    let file = open(&file.build());
    let batches = as_dictionary(&file, 4);
    assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [3, 3]);
    assert_eq!(
        batches.iter().flat_map(|batch| words(batch.column(1))).collect::<Vec<_>>().join(" "),
        "0 1 2 3 4 5"
    );
}

#[test]
fn dictionary_columns_take_in_pages_that_fell_back() {
    let file = dictionary_file(&[&["a", "b", "c"], &["d"]], true);
    for size in [1, 2, 3, 8, 9, 1000] {
        let all: Vec<_> =
            as_dictionary(&file, size).iter().flat_map(|batch| words(batch.column(0))).collect();
        let expected =
            r#""a" null "b" "c" "a" "b" "c" "plain" "again" "d" null "d" "d" "d" "d" "d" "plain" "again""#;
        assert_eq!(all.join(" "), expected, "batches of {size}");
    }
}

#[test]
fn dictionary_columns_of_plain_pages_keep_values_behind_batches_of_nulls() {
    let page = Page::v1(6, Encoding::Plain, byte_arrays(&["a", "b", "c"])).def(&[0, 0, 1, 1, 0, 1], 1);
    let file = File::new(|schema| {
        schema.leaf("s", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
    })
    .group(6, [Chunk::new([page])]);
    let file = open(&file.build());
    for key in [DataType::Int32, DataType::UInt8] {
        let data_type = DataType::Dictionary(Box::new(key), Box::new(DataType::Utf8));
        for size in 1..=6 {
            let scan = file.scan().output_type("s", data_type.clone()).batch_size(size);
            assert_eq!(column(scan), r#"null null "a" "b" null "c""#, "batches of {size}");
        }
    }
}

#[test]
fn required_values_of_null_groups_may_be_dictionaries() {
    let page = Page::v1(6, Encoding::Plain, byte_arrays(&["a", "b"])).def(&[0, 0, 1, 0, 1, 0], 1);
    let file = File::new(|schema| {
        schema.group("x", Repetition::Optional, |x| {
            x.group("y", Repetition::Required, |y| {
                y.leaf("s", Repetition::Required, PhysicalType::ByteArray).logical(LogicalType::String);
            });
        });
    })
    .group(6, [Chunk::new([page])]);
    let file = open(&file.build());
    let data_type = DataType::Dictionary(Box::new(DataType::UInt8), Box::new(DataType::Utf8));
    for size in 1..=6 {
        let scan = file.scan().output_type("x.y.s", data_type.clone()).batch_size(size);
        assert_eq!(column(scan), r#"null null {y:{s:"a"}} null {y:{s:"b"}} null"#, "batches of {size}");
    }
}

#[test]
fn arrays_outlive_their_file_and_reader() {
    let batches = {
        let built = trips(1, false);
        let scan = open(&built).scan().output_type("city", DataType::Utf8View);
        let mut reader = scan.build().unwrap();
        let first = reader.next_batch().unwrap().unwrap();
        drop(reader);
        first
    };
    assert_eq!(words(batches.column(1)), all()[1].1);
}

#[test]
fn a_reader_goes_to_another_thread() {
    let reader = open(&trips(1, false)).scan().build().unwrap();
    let batches = std::thread::spawn(move || drain(reader).0).join().unwrap();
    assert_eq!(words(batches[0].column(0)).join(" "), IDS);
}
