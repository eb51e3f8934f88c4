//! Statistics and page indexes tell the truth: a reader that prunes with them loses no row.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss
)]

mod support;

use std::sync::Arc;

use marquetry::arrow::array::{
    Array, ArrayRef, BinaryArray, Float64Array, Int32Array, RecordBatch, StringArray,
};
use marquetry::arrow::schema::{DataType, Field, Schema};
use marquetry::metadata::{Bound, BoundaryOrder, ColumnOrder, LogicalType, PhysicalType, Repetition};
use marquetry::{ColumnChunk, PageVersion, ParquetFile, ParquetWriter, StatisticsLevel, WriteOptions};
use support::arrays::{array, field, leaf_types};
use support::bounds::{Slot, check, may_hold, of_rows, slots};
use support::random::Random;

fn file_of(columns: Vec<(&str, ArrayRef)>, options: WriteOptions) -> ParquetFile {
    let fields: Vec<Field> =
        columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(schema.clone(), columns.into_iter().map(|(_, array)| array).collect());
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, schema, options).unwrap();
    writer.write(&batch.unwrap()).unwrap();
    writer.close().unwrap();
    ParquetFile::from_buffer(bytes.into()).unwrap()
}

fn read(file: &ParquetFile, row_group: usize) -> ArrayRef {
    let mut batches = file.scan().row_groups([row_group]).batch_size(1 << 20).build().unwrap();
    let batch = batches.next().unwrap().unwrap();
    assert!(batches.next().is_none());
    batch.column(0).clone()
}

fn chunk(file: &ParquetFile, row_group: usize) -> ColumnChunk {
    file.row_group(row_group).unwrap().column(0).unwrap()
}

/// The rows of each page.
fn pages(chunk: &ColumnChunk) -> Vec<std::ops::Range<u64>> {
    let index = chunk.offset_index().unwrap().unwrap();
    let starts: Vec<u64> = index.pages().iter().map(|page| page.first_row).collect();
    let ends = starts.iter().skip(1).copied().chain([chunk.num_rows().unwrap()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

#[test]
fn bounds_and_counts_are_those_of_the_values() {
    for (seed, data_type) in leaf_types().into_iter().enumerate() {
        for round in 0..4 {
            let mut random = Random::new((seed * 4 + round) as u64);
            let column = array(&mut random, &field("x", data_type.clone(), true), 700);
            let order = [ColumnOrder::TypeDefined, ColumnOrder::Ieee754Total][round % 2];
            let options = WriteOptions::new()
                .page_rows(1 + random.below(90) as usize)
                .row_group_rows(250)
                .dictionary(random.below(2) == 0)
                .page_version([PageVersion::V1, PageVersion::V2][random.below(2) as usize])
                .bound_bytes([1, 3, 64][random.below(3) as usize])
                .bloom_filter(0.01)
                .float_order(order);
            let file = file_of(vec![("x", column)], options);
            (0..file.num_row_groups()).for_each(|index| check_row_group(&file, index, &data_type));
        }
    }
}

fn check_row_group(file: &ParquetFile, index: usize, data_type: &DataType) {
    let place = format!("{data_type}, row group {index}");
    let (chunk, array) = (chunk(file, index), read(file, index));
    let statistics = chunk.statistics().unwrap();
    assert_eq!(statistics.null_count, Some(array.logical_null_count() as u64), "{place}");
    let Some(slots) = slots(&array) else { return };
    check(&statistics, &slots, &place);
    let has_values = slots.iter().any(|slot| matches!(slot, Slot::Value(_)));
    assert_eq!(statistics.min.is_some() && statistics.max.is_some(), has_values, "{place}");
    let pages = pages(&chunk);
    let Some(column_index) = chunk.column_index().unwrap() else {
        // NaNs alone in a page, for which the order of the type has no bounds.
        let lacks_bounds = |rows: &std::ops::Range<u64>| {
            let slots = of_rows(&slots, rows.clone());
            slots.contains(&Slot::NaN) && !slots.iter().any(|slot| matches!(slot, Slot::Value(_)))
        };
        assert!(pages.iter().any(lacks_bounds), "{place}: no column index");
        return;
    };
    for (page, rows) in pages.iter().enumerate() {
        let slots = of_rows(&slots, rows.clone());
        check(&column_index.page(page), slots, &format!("{place}, page {page}"));
        let only_nulls = slots.iter().all(|slot| *slot == Slot::Null);
        assert_eq!(column_index.is_null_page(page), only_nulls, "{place}, page {page}");
    }
    check_boundary_order(&column_index, pages.len(), &place);
}

fn check_boundary_order(index: &marquetry::metadata::ColumnIndex, num_pages: usize, place: &str) {
    let bounds: Vec<(Bound, Bound)> =
        (0..num_pages).filter_map(|page| index.page(page).min.zip(index.page(page).max)).collect();
    for pair in bounds.windows(2) {
        let [(min, max), (next_min, next_max)] = pair else { panic!() };
        let holds = match index.boundary_order() {
            BoundaryOrder::Ascending => min <= next_min && max <= next_max,
            BoundaryOrder::Descending => min >= next_min && max >= next_max,
            _ => true,
        };
        assert!(holds, "{place}: {:?} is not so of {pair:?}", index.boundary_order());
    }
}

#[test]
fn bloom_filters_know_all_values() {
    let mut random = Random::new(5);
    for dictionary in [false, true] {
        for data_type in [DataType::Utf8, DataType::Utf8View, DataType::Int32, DataType::Decimal128(30, 2)] {
            let column = array(&mut random, &field("x", data_type.clone(), true), 2000);
            let options = WriteOptions::new().dictionary(dictionary).dictionary_bytes(500).bloom_filter(0.01);
            let file = file_of(vec![("x", column)], options);
            let filter = chunk(&file, 0).bloom_filter().unwrap().unwrap();
            for slot in slots(&read(&file, 0)).unwrap() {
                let known = match slot {
                    Slot::Value(Bound::Int32(value)) => filter.might_contain(&value.to_le_bytes()),
                    Slot::Value(Bound::Bytes(value)) => filter.might_contain(&value),
                    Slot::Value(Bound::Decimal(value)) => {
                        // 30 digits take 13 bytes.
                        filter.might_contain(&value.to_be_bytes()[32 - 13..])
                    }
                    _ => true,
                };
                assert!(known, "{data_type}");
            }
            assert!(
                (0..1000u64).filter(|i| filter.might_contain(format!("no {i}").as_bytes())).count() < 100
            );
        }
    }
}

#[test]
fn strings_are_bounded_in_the_order_of_unsigned_bytes() {
    let file = file_of(vec![("s", Arc::new(StringArray::from(vec!["aé", "az", "b"])))], WriteOptions::new());
    let statistics = chunk(&file, 0).statistics().unwrap();
    let bytes = |text: &str| Some(Bound::Bytes(text.as_bytes().to_vec()));
    assert_eq!((statistics.min, statistics.max), (bytes("az"), bytes("b")));
}

#[test]
fn a_cut_maximum_is_not_below_the_value() {
    let long = format!("{}z", "k".repeat(80));
    let text = StringArray::from(vec![long.as_str(), "a"]);
    let highest = BinaryArray::from_vec(vec![&[0xff; 80][..], b"a"]);
    for (column, exact) in [(Arc::new(text) as ArrayRef, false), (Arc::new(highest), true)] {
        let file = file_of(vec![("x", column.clone())], WriteOptions::new());
        let statistics = chunk(&file, 0).statistics().unwrap();
        assert_eq!(statistics.is_max_exact, exact);
        check(&statistics, &slots(&column).unwrap(), "chunk");
        check(&chunk(&file, 0).column_index().unwrap().unwrap().page(0), &slots(&column).unwrap(), "page");
    }
}

#[test]
fn nans_are_counted_and_never_lost() {
    let nan = f64::NAN;
    for (values, bounds, has_index) in [
        (vec![3.0, nan, 3.0], Some((3.0, 3.0)), true),
        (vec![nan, -nan], None, false),
        (vec![0.0, 0.0], Some((-0.0, 0.0)), true),
        (vec![-0.0, nan], Some((-0.0, 0.0)), true),
    ] {
        let nans = values.iter().filter(|v| v.is_nan()).count() as u64;
        let column = Arc::new(Float64Array::from(values)) as ArrayRef;
        for order in [ColumnOrder::TypeDefined, ColumnOrder::Ieee754Total] {
            let file = file_of(vec![("d", column.clone())], WriteOptions::new().float_order(order));
            let chunk = chunk(&file, 0);
            let statistics = chunk.statistics().unwrap();
            assert_eq!(statistics.nan_count, Some(nans));
            check(&statistics, &slots(&column).unwrap(), "chunk");
            let index = chunk.column_index().unwrap();
            assert_eq!(index.is_some(), has_index || order == ColumnOrder::Ieee754Total);
            if order == ColumnOrder::TypeDefined {
                let double = |v: f64| Some(Bound::Double(v));
                let expected = bounds.map_or((None, None), |(min, max)| (double(min), double(max)));
                assert_eq!((statistics.min, statistics.max), expected);
            }
        }
    }
}

#[test]
fn a_page_of_nulls_has_no_bounds() {
    let values = (0..3000).map(|i| (!(1000..2000).contains(&i)).then_some(1));
    let text = StringArray::from_iter((0..3000).map(|i| (i >= 1000).then_some("a")));
    let columns = vec![("x", Arc::new(Int32Array::from_iter(values)) as ArrayRef), ("s", Arc::new(text))];
    let file = file_of(columns, WriteOptions::new().page_rows(1000));
    for (leaf, null_page) in [(0, 1), (1, 0)] {
        let index = file.row_group(0).unwrap().column(leaf).unwrap().column_index().unwrap().unwrap();
        for page in 0..3 {
            let statistics = index.page(page);
            assert_eq!(index.is_null_page(page), page == null_page);
            assert_eq!(statistics.min.is_none() && statistics.max.is_none(), page == null_page);
            assert_eq!(statistics.null_count, Some(if page == null_page { 1000 } else { 0 }));
        }
    }
}

#[test]
fn what_is_not_asked_for_is_not_written() {
    let column = || Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef;
    let file = file_of(vec![("x", column())], WriteOptions::new().statistics(StatisticsLevel::None));
    let without = chunk(&file, 0);
    assert!(without.metadata().statistics.is_none() && without.offset_index().unwrap().is_none());
    let file = file_of(vec![("x", column())], WriteOptions::new().statistics(StatisticsLevel::Chunk));
    let without_pages = chunk(&file, 0);
    assert!(without_pages.metadata().statistics.is_some() && without_pages.column_index().unwrap().is_none());
}

/// What a reader that prunes must not lose, of files with statistics that others wrote, good and bad.
///
/// Each file of the folders of `MARQUETRY_TEST_DATA` that can be read: every value of every flat column is looked for
/// with statistics, and with the page index where there is one.
#[test]
fn files_of_others_lose_no_row() {
    let Ok(folders) = std::env::var("MARQUETRY_TEST_DATA") else {
        println!("skipped: MARQUETRY_TEST_DATA names no folder of files");
        return;
    };
    let mut looked_at = (0, 0);
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        let Ok(table) = std::fs::read_to_string(format!("{folder}/expect.tsv")) else { continue };
        for row in table.lines().skip(1).filter(|row| row.split('\t').nth(1) == Some("read")) {
            let (path, reason) =
                (row.split('\t').next().unwrap(), row.split('\t').nth(9).unwrap_or_default());
            // Its maximum lies below a value: a reader cannot know.
            if reason.contains("a reader cannot know") {
                continue;
            }
            let path = format!("{folder}/{path}");
            // Every value is looked for: that takes its time.
            if !std::fs::metadata(&path).is_ok_and(|found| found.len() < 100_000) {
                continue;
            }
            let Ok(file) = ParquetFile::open(&path) else { continue };
            looked_at.0 += 1;
            looked_at.1 += prune_everything(&file, &path);
        }
    }
    println!("{} files, {} bounded columns", looked_at.0, looked_at.1);
    assert!(looked_at.1 > 0);
}

/// Gives how many column chunks had a bound.
fn prune_everything(file: &ParquetFile, path: &str) -> usize {
    let mut bounded = 0;
    let schema = file.metadata().schema();
    for leaf in (0..schema.num_leaves()).filter(|&leaf| is_flat(schema, leaf)) {
        for index in 0..file.num_row_groups() {
            let Ok(chunk) = file.row_group(index).and_then(|group| group.column(leaf)) else { continue };
            let Ok(statistics) = chunk.statistics() else { continue };
            let scan = file.scan().leaves([leaf]).row_groups([index]).batch_size(1 << 20);
            let Ok(batches) = scan.build().and_then(|reader| Ok(reader.collect::<Result<Vec<_>, _>>()?))
            else {
                continue;
            };
            let Some(all) = batches
                .iter()
                .map(|batch| slots(batch.column(0)))
                .collect::<Option<Vec<_>>>()
                .map(|parts| parts.concat())
            else {
                continue;
            };
            bounded += usize::from(statistics.min.is_some() || statistics.max.is_some());
            for slot in all.iter().filter(|slot| comparable(slot, &statistics.min)) {
                let kept = may_hold(&statistics, slot, all.len() as u64);
                assert!(kept, "{path}, leaf {leaf}, row group {index}: {slot:?} is lost by {statistics:?}");
            }
            check_pages(&chunk, &all, &format!("{path}, leaf {leaf}, row group {index}"));
        }
    }
    bounded
}

fn check_pages(chunk: &ColumnChunk, all: &[Slot], place: &str) {
    let (Ok(Some(index)), Ok(Some(_))) = (chunk.column_index(), chunk.offset_index()) else { return };
    for (page, rows) in pages(chunk).into_iter().enumerate() {
        if rows.start > rows.end || rows.end > all.len() as u64 {
            return;
        }
        let statistics = index.page(page);
        for slot in of_rows(all, rows.clone()).iter().filter(|slot| comparable(slot, &statistics.min)) {
            let kept = may_hold(&statistics, slot, rows.end - rows.start);
            assert!(kept, "{place}, page {page}: {slot:?} is lost by {statistics:?}");
        }
    }
}

/// Whether the file's bounds are of the kind that this test makes of Arrow's values.
fn comparable(slot: &Slot, bound: &Option<Bound>) -> bool {
    match (slot, bound) {
        (Slot::Value(value), Some(bound)) => value.partial_cmp(bound).is_some(),
        _ => true,
    }
}

fn is_flat(schema: &marquetry::metadata::Schema, leaf: usize) -> bool {
    schema.leaf(leaf).is_some_and(|node| {
        node.parent == 0
            && node.repetition != Repetition::Repeated
            && node.physical_type() != Some(PhysicalType::Int96)
            && !matches!(node.logical, Some(LogicalType::Interval | LogicalType::Unknown))
    })
}
