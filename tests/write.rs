//! What is written is read back, whatever the types, options and batches.
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

use marquetry::arrow::array::{Array, RecordBatch, RecordBatchOptions};
use marquetry::arrow::schema::{DataType, Field, Schema, SchemaRef};
use marquetry::metadata::{ColumnOrder, Compression, Encoding};
use marquetry::{ColumnOptions, PageVersion, ParquetFile, ParquetWriter, StatisticsLevel, WriteOptions};
use support::arrays::{any_type, array, field, leaf_types};
use support::random::Random;

fn write(schema: &SchemaRef, batches: &[RecordBatch], options: WriteOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, schema.clone(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    let rows = writer.num_rows();
    let metadata = writer.close().unwrap();
    assert_eq!(metadata.num_rows(), rows);
    bytes
}

/// Reads all, and compares with what was written, wherever either was cut.
fn check(batches: &[RecordBatch], bytes: Vec<u8>, seed: u64) {
    let file = ParquetFile::from_buffer(bytes.into()).unwrap();
    let mut expected = batches.iter().filter(|batch| batch.num_rows() > 0).cloned();
    let mut left: Option<RecordBatch> = expected.next();
    for read in file.scan().build().unwrap() {
        let mut read = read.unwrap_or_else(|error| panic!("{seed}: {error} {}", file.schema()));
        while read.num_rows() > 0 {
            let batch = left.take().unwrap_or_else(|| panic!("{seed}: more rows than written"));
            let rows = batch.num_rows().min(read.num_rows());
            for (column, (a, b)) in batch.columns().iter().zip(read.columns()).enumerate() {
                let (a, b) = (a.slice(0, rows), b.slice(0, rows));
                assert_eq!(a.data_type(), b.data_type(), "{seed}: column {column}");
                assert!(
                    a.to_data() == b.to_data(),
                    "{seed}: column {column} of {}\n{a:?}\n{b:?}",
                    a.data_type()
                );
            }
            left = match batch.num_rows() > rows {
                true => Some(batch.slice(rows, batch.num_rows() - rows)),
                false => expected.next(),
            };
            read = read.slice(rows, read.num_rows() - rows);
        }
    }
    assert!(left.is_none(), "{seed}: rows are missing");
}

fn batch(random: &mut Random, schema: &SchemaRef, rows: usize) -> RecordBatch {
    let columns = schema.fields().iter().map(|field| array(random, field, rows)).collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema.clone(), columns, &options).unwrap()
}

fn options(random: &mut Random) -> WriteOptions {
    let codecs = [
        Compression::Uncompressed,
        Compression::Snappy,
        Compression::Zstd,
        Compression::Lz4Raw,
        Compression::Gzip,
        Compression::Brotli,
        Compression::Lz4,
    ];
    let levels = [StatisticsLevel::None, StatisticsLevel::Chunk, StatisticsLevel::Page];
    let mut pick = |n: u64| random.below(n) as usize;
    let mut options = WriteOptions::new()
        .compression(codecs[pick(7)])
        .page_version([PageVersion::V1, PageVersion::V2][pick(2)])
        .crc(pick(2) == 0)
        .statistics(levels[pick(3)])
        .page_rows([1, 7, 64, 1000, 20_000][pick(5)])
        .page_bytes([1, 100, 4096, 1 << 20][pick(4)])
        .dictionary(pick(3) > 0)
        .dictionary_bytes([1, 50, 1000, 1 << 20][pick(4)])
        .row_group_rows([3, 50, 1000, 1 << 20][pick(4)])
        .float_order([ColumnOrder::TypeDefined, ColumnOrder::Ieee754Total][pick(2)]);
    if pick(3) == 0 {
        options = options.bloom_filter(0.05);
    }
    if pick(4) == 0 {
        options = options.row_group_bytes(1000);
    }
    options
}

fn seeds() -> std::ops::Range<u64> {
    let number = |name| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    match (number("MARQUETRY_SEED"), number("MARQUETRY_ROUNDS")) {
        (Some(seed), rounds) => seed..seed + rounds.unwrap_or(1),
        (None, rounds) => 0..rounds.unwrap_or(40),
    }
}

#[test]
fn every_leaf_type_comes_back() {
    for (index, data_type) in leaf_types().into_iter().enumerate() {
        for nullable in [false, true] {
            let mut random = Random::new(index as u64);
            let schema = Arc::new(Schema::new(vec![field("x", data_type.clone(), nullable)]));
            let batches: Vec<RecordBatch> =
                [100, 0, 1, 600].map(|rows| batch(&mut random, &schema, rows)).into();
            for _ in 0..2 {
                check(&batches, write(&schema, &batches, options(&mut random)), index as u64);
            }
        }
    }
}

#[test]
fn random_schemas_come_back() {
    for seed in seeds() {
        let mut random = Random::new(seed);
        let fields: Vec<Field> = (0..1 + random.below(4))
            .map(|i| field(&format!("c{i}"), any_type(&mut random, 3), random.below(3) > 0))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        let batches: Vec<RecordBatch> = (0..1 + random.below(4))
            .map(|_| {
                let rows = [0, 1, 10, 500][random.below(4) as usize];
                batch(&mut random, &schema, rows)
            })
            .collect();
        let options = options(&mut random);
        let bytes = write(&schema, &batches, options.clone());
        assert!(bytes == write(&schema, &batches, options), "{seed}: other bytes the second time");
        check(&batches, bytes, seed);
    }
}

#[test]
fn every_encoding_comes_back() {
    use DataType::*;
    let cases = [
        (Encoding::DeltaBinaryPacked, vec![Int8, Int32, Int64, UInt64, Decimal128(12, 2), Date32]),
        (Encoding::DeltaLengthByteArray, vec![Utf8, LargeBinary, Utf8View]),
        (Encoding::DeltaByteArray, vec![Utf8, Binary, BinaryView, FixedSizeBinary(7), Decimal256(50, 2)]),
        (Encoding::ByteStreamSplit, vec![Int32, Int64, Float32, Float64, Float16, FixedSizeBinary(3)]),
        (Encoding::Alp, vec![Float32, Float64]),
        (Encoding::Rle, vec![Boolean]),
        (Encoding::Plain, vec![Boolean, Int32, Utf8, FixedSizeBinary(3), Float64]),
    ];
    for (seed, (encoding, types)) in cases.into_iter().enumerate() {
        for data_type in types {
            let mut random = Random::new(seed as u64);
            let schema = Arc::new(Schema::new(vec![Field::new("x", data_type.clone(), true)]));
            for _ in 0..3 {
                let batches = vec![batch(&mut random, &schema, 700), batch(&mut random, &schema, 40)];
                let options = options(&mut random)
                    .column("x", ColumnOptions::new().encoding(encoding).dictionary(random.below(2) == 0));
                let bytes = write(&schema, &batches, options);
                check(&batches, bytes, seed as u64);
            }
            let batches = [batch(&mut random, &schema, 300)];
            let bytes = write(&schema, &batches, WriteOptions::new().encoding(encoding));
            let file = ParquetFile::from_buffer(bytes.into()).unwrap();
            let encodings = file.row_group(0).unwrap().column(0).unwrap().metadata().encodings.clone();
            assert!(encodings.contains(&encoding), "{data_type} {encodings:?}");
        }
    }
}

#[test]
fn deltas_that_wrap_come_back() {
    use marquetry::arrow::array::{Int32Array, Int64Array};
    let x = Int32Array::from(vec![863_490_391, -816_295_192, i32::MIN, i32::MAX, 0, i32::MIN]);
    let y = Int64Array::from(vec![i64::MAX, i64::MIN, 0, -1, i64::MAX, i64::MIN]);
    let batch = RecordBatch::try_from_iter([("x", Arc::new(x) as _), ("y", Arc::new(y) as _)]).unwrap();
    for dictionary in [false, true] {
        let options = WriteOptions::new().encoding(Encoding::DeltaBinaryPacked).dictionary(dictionary);
        check(std::slice::from_ref(&batch), write(&batch.schema(), std::slice::from_ref(&batch), options), 0);
    }
}

#[test]
fn a_dictionary_that_was_given_up_is_back_in_the_next_row_group() {
    use marquetry::arrow::array::StringArray;
    let few = (0..3000).map(|i| format!("low{}", i % 3));
    let many = (0..4000).map(|i| format!("high-{i}-{}", i * 7919 % 10_007));
    let text = StringArray::from_iter_values(few.clone().chain(many).chain(few));
    let batch = RecordBatch::try_from_iter([("s", Arc::new(text) as _)]).unwrap();
    let options = WriteOptions::new().dictionary_bytes(5000).page_rows(500).row_group_rows(7000);
    let bytes = write(&batch.schema(), std::slice::from_ref(&batch), options);
    check(&[batch], bytes.clone(), 0);
    let file = ParquetFile::from_buffer(bytes.into()).unwrap();
    let encodings = |index| file.row_group(index).unwrap().column(0).unwrap().metadata().encodings.clone();
    assert_eq!(encodings(0), [Encoding::Plain, Encoding::RleDictionary]);
    assert_eq!(encodings(1), [Encoding::Plain, Encoding::RleDictionary]);
    let stats = file.row_group(0).unwrap().column(0).unwrap().metadata().encoding_stats.clone().unwrap();
    assert!(stats.iter().any(|stats| stats.encoding == Encoding::Plain && stats.page_type.number() == 0));
}

#[test]
fn a_dictionary_that_saves_nothing_is_not_written() {
    use marquetry::arrow::array::{Int64Array, StringArray};
    let ids = Int64Array::from_iter_values(0..50_000);
    let names = StringArray::from_iter_values((0..50_000).map(|i| format!("name {i}")));
    let batch =
        RecordBatch::try_from_iter([("id", Arc::new(ids) as _), ("name", Arc::new(names) as _)]).unwrap();
    let bytes = write(&batch.schema(), std::slice::from_ref(&batch), WriteOptions::new());
    check(&[batch], bytes.clone(), 0);
    let file = ParquetFile::from_buffer(bytes.into()).unwrap();
    for leaf in 0..2 {
        let chunk = file.row_group(0).unwrap().column(leaf).unwrap();
        assert_eq!(chunk.metadata().encodings[0], Encoding::Plain);
        assert_eq!(chunk.metadata().dictionary_page_offset(), None);
    }
}

#[test]
fn nulls_among_a_dictionarys_values_are_nulls() {
    use marquetry::arrow::array::cast::AsArray;
    use marquetry::arrow::array::types::Int32Type;
    use marquetry::arrow::array::{DictionaryArray, Int32Array, StringArray};
    let values = StringArray::from(vec![Some("a"), None, Some("b")]);
    let keys = Int32Array::from(vec![Some(2), Some(1), None, Some(0)]);
    let column = DictionaryArray::<Int32Type>::new(keys, Arc::new(values));
    let schema = Arc::new(Schema::new(vec![Field::new("s", column.data_type().clone(), true)]));
    let batch = RecordBatch::try_new(schema.clone(), vec![Arc::new(column)]).unwrap();
    let file = ParquetFile::from_buffer(write(&schema, &[batch], WriteOptions::new()).into()).unwrap();
    let scan = file.scan().output_type("s", DataType::Utf8);
    let read = scan.build().unwrap().next().unwrap().unwrap();
    let read: Vec<Option<&str>> = read.column(0).as_string::<i32>().iter().collect();
    assert_eq!(read, [Some("b"), None, None, Some("a")]);
}

#[test]
fn nulls_of_a_required_column_are_an_error() {
    use marquetry::arrow::array::{ArrayRef, Int32Array, StructArray};
    use marquetry::arrow::buffer::NullBuffer;
    let required = Field::new("x", DataType::Int32, false);
    let outer = |nulls| {
        let inner = Int32Array::from(vec![Some(1), None, Some(3)]);
        // Arrow lets a required child have nulls where its parent is null.
        StructArray::try_new(vec![required.clone()].into(), vec![Arc::new(inner) as ArrayRef], nulls)
    };
    let good = outer(Some(NullBuffer::from(vec![true, false, true]))).unwrap();
    let batch = RecordBatch::try_from_iter_with_nullable([("s", Arc::new(good) as ArrayRef, true)]).unwrap();
    check(
        std::slice::from_ref(&batch),
        write(&batch.schema(), std::slice::from_ref(&batch), WriteOptions::new()),
        0,
    );
    assert!(outer(None).is_err());
}

/// Fails at the `n`-th call.
struct Failing {
    bytes: Vec<u8>,
    calls_left: usize,
}

impl std::io::Write for Failing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.calls_left = self.calls_left.checked_sub(1).ok_or_else(|| std::io::Error::other("full"))?;
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.calls_left = self.calls_left.checked_sub(1).ok_or_else(|| std::io::Error::other("full"))?;
        Ok(())
    }
}

#[test]
fn a_failed_write_leaves_no_file_and_no_writer() {
    let mut random = Random::new(3);
    let schema =
        Arc::new(Schema::new(vec![field("a", DataType::Int32, true), field("b", DataType::Utf8, true)]));
    let batch = batch(&mut random, &schema, 300);
    for calls_left in 0.. {
        let mut sink = Failing { bytes: Vec::new(), calls_left };
        let options = WriteOptions::new().row_group_rows(100).bloom_filter(0.1);
        let mut failed = false;
        if let Ok(mut writer) = ParquetWriter::new(&mut sink, schema.clone(), options) {
            failed |= writer.write(&batch).is_err();
            let again = writer.write(&batch);
            assert!(!failed || again.unwrap_err().to_string().contains("failed before"));
            failed |= writer.close().is_err();
            if !failed {
                ParquetFile::from_buffer(sink.bytes.into()).unwrap();
                assert!(calls_left > 10);
                return;
            }
        }
        // All is there where only the last flush failed; else there is no footer.
        if sink.bytes.ends_with(b"PAR1") && sink.bytes.len() > 4 {
            continue;
        }
        assert!(ParquetFile::from_buffer(sink.bytes.into()).is_err());
    }
}

#[test]
fn a_writer_that_is_not_closed_leaves_no_file() {
    let mut random = Random::new(3);
    let schema = Arc::new(Schema::new(vec![field("a", DataType::Int32, true)]));
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, schema.clone(), WriteOptions::new()).unwrap();
    writer.write(&batch(&mut random, &schema, 300)).unwrap();
    writer.flush_row_group().unwrap();
    drop(writer);
    assert!(bytes.len() > 100);
    assert!(ParquetFile::from_buffer(bytes.into()).is_err());
}

#[test]
fn row_groups_end_by_rows_and_by_bytes() {
    let mut random = Random::new(8);
    let schema = Arc::new(Schema::new(vec![field("a", DataType::Binary, false)]));
    let batch = batch(&mut random, &schema, 300_000);
    let open = |options| {
        ParquetFile::from_buffer(write(&schema, std::slice::from_ref(&batch), options).into()).unwrap()
    };
    let file = open(WriteOptions::new().row_group_rows(70_000));
    let rows: Vec<u64> = file.metadata().row_groups().map(|row_group| row_group.num_rows()).collect();
    assert_eq!(rows, [70_000, 70_000, 70_000, 70_000, 20_000]);
    let file = open(WriteOptions::new().row_group_bytes(100_000));
    assert!(file.num_row_groups() > 1);

    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, schema.clone(), WriteOptions::new()).unwrap();
    assert_eq!((writer.memory_size(), writer.num_rows(), writer.bytes_written()), (0, 0, 4));
    writer.write(&batch).unwrap();
    let held = writer.memory_size();
    assert_eq!((writer.num_rows(), writer.bytes_written()), (300_000, 4));
    writer.flush_row_group().unwrap();
    let written = writer.bytes_written() as usize;
    assert!(written <= held + 1000 && held <= written + written / 10, "{held} {written}");
    assert_eq!(writer.memory_size(), 0);
}

#[test]
fn pages_end_by_rows_and_by_bytes() {
    use marquetry::arrow::array::BinaryArray;
    let values: Vec<Vec<u8>> = (0..3000).map(|i| vec![i as u8; 1 + i * 7919 % 2000]).collect();
    let column = BinaryArray::from_iter_values(&values);
    let batch = RecordBatch::try_from_iter([("x", Arc::new(column) as _)]).unwrap();
    let options = WriteOptions::new().dictionary(false).page_bytes(100_000).page_rows(400);
    let file = ParquetFile::from_buffer(write(&batch.schema(), &[batch], options).into()).unwrap();
    let mut pages = file.row_group(0).unwrap().column(0).unwrap().pages().unwrap();
    let mut sizes = Vec::new();
    while let Some(page) = pages.next().unwrap() {
        sizes.push((page.num_values(), page.storage().uncompressed_size));
    }
    assert!(sizes.iter().all(|&(rows, bytes)| rows <= 400 && bytes <= 100_000), "{sizes:?}");
    let full = sizes.iter().filter(|(_, bytes)| *bytes > 80_000).count();
    assert!(full >= sizes.len() - 2, "{sizes:?}");
}

#[test]
fn files_of_no_rows_and_of_no_columns_come_back() {
    let schema = Arc::new(Schema::new(vec![field("a", DataType::Int32, true)]));
    let file = ParquetFile::from_buffer(write(&schema, &[], WriteOptions::new()).into()).unwrap();
    assert_eq!((file.num_rows(), file.num_row_groups(), file.schema()), (0, 0, &schema));
    let nothing = Arc::new(Schema::empty());
    let mut random = Random::new(0);
    let batches = [batch(&mut random, &nothing, 5)];
    let file = ParquetFile::from_buffer(write(&nothing, &batches, WriteOptions::new()).into()).unwrap();
    assert_eq!(file.num_rows(), 5);
}

/// Neither list may be null, nor may their elements, yet where a struct is null there is no list in the file.
#[test]
fn fixed_size_lists_within_null_structs_come_back() {
    use marquetry::arrow::array::{ArrayRef, FixedSizeListArray, Int32Array, StructArray};
    use marquetry::arrow::buffer::NullBuffer;
    let element = Arc::new(Field::new("element", DataType::Int32, false));
    let numbers = Arc::new(Int32Array::from(vec![1, 2, 0, 0, 5, 6]));
    let lists: ArrayRef = Arc::new(FixedSizeListArray::new(element, 2, numbers, None));
    let inner = vec![(Arc::new(Field::new("list", lists.data_type().clone(), false)), lists)];
    let inner: ArrayRef = Arc::new(StructArray::from(inner));
    let fields = vec![Field::new("inner", inner.data_type().clone(), false)].into();
    let nulls = NullBuffer::from(vec![true, false, true]);
    let outer: ArrayRef = Arc::new(StructArray::new(fields, vec![inner], Some(nulls)));
    let batch = RecordBatch::try_from_iter_with_nullable([("outer", outer, true)]).unwrap();
    for batch in [batch.clone(), batch.slice(1, 1)] {
        let batches = [batch];
        check(&batches, write(&batches[0].schema(), &batches, WriteOptions::new()), 0);
    }
}

#[test]
fn what_the_footer_says_comes_back() {
    use marquetry::metadata::SortingColumn;
    let pairs = [("z", "1"), ("b", "2")].map(|(key, value)| (key.to_owned(), value.to_owned()));
    let pairs = std::collections::HashMap::from(pairs);
    let schema = Arc::new(Schema::new(vec![field("a", DataType::Int32, true)]).with_metadata(pairs));
    let sorting = SortingColumn { column_index: 0, descending: true, nulls_first: false };
    let options = WriteOptions::new().key_value("k", "v").created_by("a test").sorting_columns([sorting]);
    let mut random = Random::new(0);
    let bytes = write(&schema, &[batch(&mut random, &schema, 5)], options);
    let file = ParquetFile::from_buffer(bytes.into()).unwrap();
    let metadata = file.metadata();
    assert_eq!(metadata.created_by(), Some("a test"));
    let keys: Vec<&str> = metadata.key_value_metadata().iter().map(|pair| pair.key.as_str()).collect();
    assert_eq!(keys, ["b", "z", "k", "ARROW:schema"]);
    assert_eq!(metadata.row_group(0).unwrap().sorting_columns(), [sorting]);
    assert_eq!(file.schema().metadata().get("b").map(String::as_str), Some("2"));
}

#[test]
fn what_does_not_fit_is_an_error() {
    use marquetry::arrow::array::types::IntervalMonthDayNano;
    use marquetry::arrow::array::{ArrayRef, Decimal128Array, Int32Array, IntervalMonthDayNanoArray};
    let error = |column: ArrayRef| {
        let batch = RecordBatch::try_from_iter([("x", column)]).unwrap();
        let mut writer = ParquetWriter::new(Vec::new(), batch.schema(), WriteOptions::new()).unwrap();
        writer.write(&batch).unwrap_err().to_string()
    };
    let sorting =
        marquetry::metadata::SortingColumn { column_index: 1, descending: false, nulls_first: false };
    let schema = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]));
    let sorted = WriteOptions::new().sorting_columns([sorting]);
    let refused = ParquetWriter::new(Vec::new(), schema, sorted).map(drop).unwrap_err();
    assert!(refused.to_string().contains("leaf 1 of 1"), "{refused}");
    let decimal = |value, precision| {
        Arc::new(Decimal128Array::from(vec![value]).with_precision_and_scale(precision, 0).unwrap())
            as ArrayRef
    };
    assert!(error(decimal(i128::from(i32::MAX) + 1, 9)).contains("does not fit"));
    assert!(error(decimal(i128::from(i64::MIN) - 1, 18)).contains("column x"));
    assert!(error(decimal(i128::MAX, 20)).contains("does not fit"));
    for value in [(-1, 0, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1_000_000)] {
        let value = IntervalMonthDayNano::new(value.0, value.1, value.2);
        assert!(error(Arc::new(IntervalMonthDayNanoArray::from(vec![value]))).contains("INTERVAL"));
    }
    let batch = RecordBatch::try_from_iter([("x", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap();
    let other = Arc::new(Schema::new(vec![Field::new("x", DataType::Int64, true)]));
    let mut writer = ParquetWriter::new(Vec::new(), other, WriteOptions::new()).unwrap();
    assert!(writer.write(&batch).unwrap_err().to_string().contains("Int32 where the file has Int64"));
    let named = RecordBatch::try_from_iter([("y", Arc::new(Int32Array::from(vec![1])) as ArrayRef)]).unwrap();
    assert!(writer.write(&named).unwrap_err().to_string().contains(r#""y" where the file has "x""#));
    // Nothing was written, and nothing is lost.
    writer.close().unwrap();
}
