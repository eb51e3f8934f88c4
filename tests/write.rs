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
        (None, rounds) => 0..rounds.unwrap_or(60),
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
