//! Batches of any strings, numbers and lists, written with any options, come back.
#![no_main]

use std::sync::Arc;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use marquetry::arrow::array::builder::{Int32Builder, ListBuilder};
use marquetry::arrow::array::{ArrayRef, BinaryArray, Float64Array, RecordBatch, StringArray};
use marquetry::arrow::schema::{DataType, Field};
use marquetry::metadata::{Compression, Encoding};
use marquetry::{ColumnOptions, PageVersion, ParquetFile, ParquetWriter, WriteOptions};

#[derive(Arbitrary, Debug)]
struct Row<'a> {
    text: Option<&'a str>,
    bytes: &'a [u8],
    number: Option<f64>,
    list: Option<Vec<Option<i32>>>,
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    rows: Vec<Row<'a>>,
    v2: bool,
    dictionary: bool,
    encoding: u8,
    codec: u8,
    page_rows: u8,
    page_bytes: u8,
    row_group_rows: u8,
    batch_size: u8,
}

fn batch(rows: &[Row<'_>]) -> RecordBatch {
    // The name that the format gives to elements, and files give back.
    let element = Field::new("element", DataType::Int32, true);
    let mut lists = ListBuilder::new(Int32Builder::new()).with_field(element);
    rows.iter().for_each(|row| lists.append_option(row.list.clone()));
    let columns: [(&str, ArrayRef, bool); 4] = [
        ("text", Arc::new(rows.iter().map(|row| row.text).collect::<StringArray>()), true),
        ("bytes", Arc::new(BinaryArray::from_iter_values(rows.iter().map(|row| row.bytes))), false),
        ("number", Arc::new(rows.iter().map(|row| row.number).collect::<Float64Array>()), true),
        ("list", Arc::new(lists.finish()), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).expect("columns of one length")
}

fuzz_target!(|input: Input<'_>| {
    let batch = batch(&input.rows);
    let codecs = [Compression::Uncompressed, Compression::Snappy, Compression::Lz4Raw, Compression::Zstd];
    let encodings = [Encoding::Plain, Encoding::DeltaByteArray, Encoding::DeltaLengthByteArray];
    let column = ColumnOptions::new().encoding(encodings[usize::from(input.encoding) % 3]);
    let options = WriteOptions::new()
        .compression(codecs[usize::from(input.codec) % 4])
        .page_version(if input.v2 { PageVersion::V2 } else { PageVersion::V1 })
        .dictionary(input.dictionary)
        .page_rows(usize::from(input.page_rows) + 1)
        .page_bytes(usize::from(input.page_bytes) + 1)
        .row_group_rows(usize::from(input.row_group_rows) + 1)
        .column("text", column.clone())
        .column("bytes", column);
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, batch.schema(), options).expect("a writer");
    writer.write(&batch).expect("a batch of the schema");
    writer.close().expect("a footer");
    let file = ParquetFile::from_buffer(bytes.into()).expect("a file");
    let mut rows = 0;
    for read in file.scan().batch_size(usize::from(input.batch_size) + 1).build().expect("a scan") {
        let read = read.expect("a batch");
        let expected = batch.slice(rows, read.num_rows());
        rows += read.num_rows();
        for (a, b) in expected.columns().iter().zip(read.columns()) {
            assert_eq!(a.to_data(), b.to_data());
        }
    }
    assert_eq!(rows, batch.num_rows());
});
