//! Row groups of other files, appended as they are.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::single_range_in_vec_init)]

mod support;

use std::sync::Arc;

use marquetry::arrow::array::RecordBatch;
use marquetry::arrow::schema::{DataType, Field, Fields, Schema, SchemaRef};
use marquetry::metadata::{ColumnOrder, Compression, Encoding, LogicalType, PhysicalType, Repetition};
use marquetry::{ColumnChunk, PageVersion, ParquetFile, ParquetWriter, WriteOptions};
use support::arrays::{array, field};
use support::random::Random;
use support::raw::{Chunk, File, Page};

fn schema() -> SchemaRef {
    let item = Arc::new(field("element", DataType::Utf8, true));
    let pair = Fields::from(vec![field("x", DataType::Float64, true), field("y", DataType::Int32, false)]);
    Arc::new(Schema::new(vec![
        field("id", DataType::Int64, false),
        field("tags", DataType::List(item), true),
        field("pair", DataType::Struct(pair), true),
    ]))
}

fn batch(seed: u64, rows: usize) -> RecordBatch {
    let mut random = Random::new(seed);
    let schema = schema();
    let columns = schema.fields().iter().map(|field| array(&mut random, field, rows)).collect();
    RecordBatch::try_new(schema, columns).unwrap()
}

fn file(batch: &RecordBatch, options: WriteOptions) -> ParquetFile {
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
    ParquetFile::from_buffer(bytes.into()).unwrap()
}

fn read_all(file: &ParquetFile) -> Vec<RecordBatch> {
    file.scan().batch_size(1 << 20).build().unwrap().map(Result::unwrap).collect()
}

/// The same values, however they are cut.
fn assert_rows(file: &ParquetFile, expected: &[RecordBatch]) {
    for (index, expected) in expected.iter().enumerate() {
        let scan = file.scan().row_groups([index]).batch_size(1 << 20);
        let read: Vec<RecordBatch> = scan.build().unwrap().map(Result::unwrap).collect();
        assert_eq!(&read[..], std::slice::from_ref(expected), "row group {index}");
    }
}

#[test]
fn appended_row_groups_are_read_with_all_that_belongs_to_them() {
    let (first, second, own) = (batch(1, 900), batch(2, 40), batch(3, 70));
    let a =
        file(&first, WriteOptions::new().compression(Compression::Zstd).page_rows(100).bloom_filter(0.01));
    let b = file(&second, WriteOptions::new().page_version(PageVersion::V2).dictionary(false).page_rows(9));
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, schema(), WriteOptions::new()).unwrap();
    writer.write(&own).unwrap();
    writer.append_row_group(&a, 0).unwrap();
    writer.append_row_group(&b, 0).unwrap();
    writer.write(&own).unwrap();
    let metadata = writer.close().unwrap();
    assert_eq!(metadata.num_rows(), 900 + 40 + 2 * 70);
    let merged = ParquetFile::from_buffer(bytes.into()).unwrap();
    assert_rows(&merged, &[own.clone(), first, second, own]);
    for (index, source) in [(1, &a), (2, &b)] {
        for leaf in 0..4 {
            let chunk = |file: &ParquetFile, index| file.row_group(index).unwrap().column(leaf).unwrap();
            let (copy, source): (ColumnChunk, ColumnChunk) = (chunk(&merged, index), chunk(source, 0));
            assert_eq!(copy.bytes().unwrap().as_slice(), source.bytes().unwrap().as_slice());
            assert_eq!(copy.statistics().unwrap(), source.statistics().unwrap());
            let pages = |chunk: &ColumnChunk| {
                let index = chunk.column_index().unwrap().unwrap();
                (0..index.num_pages()).map(|page| index.page(page)).collect::<Vec<_>>()
            };
            assert_eq!(pages(&copy), pages(&source));
            let filter =
                |chunk: &ColumnChunk| chunk.bloom_filter().unwrap().map(|filter| filter.bitset().to_vec());
            assert_eq!(filter(&copy), filter(&source));
        }
    }
    // The offset index leads to the right pages.
    let rows = merged.scan().rows([1000..1007]).build().unwrap().next().unwrap().unwrap();
    assert_eq!(rows, read_all(&merged)[0].slice(1000, 7));
}

#[test]
fn columns_of_several_files_make_a_row_group() {
    let (first, second) = (batch(1, 50), batch(2, 50));
    let (a, b) = (file(&first, WriteOptions::new()), file(&second, WriteOptions::new()));
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, schema(), WriteOptions::new()).unwrap();
    let column = |file: &ParquetFile, leaf| file.row_group(0).unwrap().column(leaf).unwrap();
    let chunks = [column(&a, 0), column(&b, 1), column(&a, 2), column(&a, 3)];
    writer.append_columns(&chunks).unwrap();
    assert!(writer.append_columns(&chunks[..3]).is_err());
    let mixed_up = [column(&a, 1), column(&b, 0), column(&a, 2), column(&a, 3)];
    assert!(writer.append_columns(&mixed_up).unwrap_err().to_string().contains("column id"));
    let other = file(&batch(9, 51), WriteOptions::new());
    let uneven = [column(&a, 0), column(&other, 1), column(&a, 2), column(&a, 3)];
    assert!(writer.append_columns(&uneven).unwrap_err().to_string().contains("51 rows beside one of 50"));
    writer.close().unwrap();
    let columns = vec![first.column(0).clone(), second.column(1).clone(), first.column(2).clone()];
    let expected = RecordBatch::try_new(schema(), columns).unwrap();
    assert_rows(&ParquetFile::from_buffer(bytes.into()).unwrap(), &[expected]);
}

#[test]
fn another_schema_is_refused_and_nothing_lost() {
    let own = batch(1, 10);
    let fields: Vec<Field> = schema().fields().iter().skip(1).map(|field| field.as_ref().clone()).collect();
    let other = own.project(&[1, 2]).unwrap().with_schema(Arc::new(Schema::new(fields))).unwrap();
    let other = file(&other, WriteOptions::new());
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, schema(), WriteOptions::new()).unwrap();
    writer.write(&own).unwrap();
    assert!(writer.append_row_group(&other, 0).unwrap_err().to_string().contains("another schema"));
    writer.close().unwrap();
    assert_rows(&ParquetFile::from_buffer(bytes.into()).unwrap(), &[own]);
}

#[test]
fn bounds_in_another_order_are_left_behind() {
    let source = file(&batch(1, 300), WriteOptions::new().float_order(ColumnOrder::Ieee754Total));
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, schema(), WriteOptions::new()).unwrap();
    writer.append_row_group(&source, 0).unwrap();
    writer.close().unwrap();
    let copy = ParquetFile::from_buffer(bytes.into()).unwrap();
    let chunk = |file: &ParquetFile, leaf| file.row_group(0).unwrap().column(leaf).unwrap();
    let statistics = chunk(&copy, 2).statistics().unwrap();
    assert_eq!((&statistics.min, &statistics.max), (&None, &None));
    assert_eq!(statistics.null_count, chunk(&source, 2).statistics().unwrap().null_count);
    assert!(chunk(&copy, 2).column_index().unwrap().is_none());
    assert!(chunk(&copy, 0).statistics().unwrap().min.is_some());
}

#[test]
fn a_file_like_another_takes_its_row_groups_whatever_its_schema() {
    // A list of two levels, as no Arrow writer makes it, in a file without an Arrow schema.
    let other = File::new(|schema| {
        schema.leaf("n", Repetition::Required, PhysicalType::Int32);
        schema
            .group("l", Repetition::Optional, |list| {
                list.leaf("array", Repetition::Repeated, PhysicalType::Int32);
            })
            .logical(LogicalType::List);
    });
    let numbers = Page::v1(2, Encoding::Plain, [7i32, 8].iter().flat_map(|v| v.to_le_bytes()).collect());
    let lists = Page::v1(2, Encoding::Plain, vec![]).rep(&[0, 0], 1).def(&[1, 0], 2);
    let built = other.group(2, [Chunk::new([numbers]), Chunk::new([lists])]).build();
    let source = ParquetFile::from_buffer(built.bytes.into()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::like(&mut bytes, &source, WriteOptions::new()).unwrap();
    writer.append_row_group(&source, 0).unwrap();
    writer.append_row_group(&source, 0).unwrap();
    let rows = read_all(&source);
    assert!(writer.write(&rows[0]).unwrap_err().to_string().contains("not supported"));
    writer.close().unwrap();
    let copy = ParquetFile::from_buffer(bytes.into()).unwrap();
    assert_eq!(copy.metadata().schema(), source.metadata().schema());
    assert_rows(&copy, &[rows[0].clone(), rows[0].clone()]);
}
