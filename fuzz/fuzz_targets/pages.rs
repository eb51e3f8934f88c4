//! The pages of a column chunk with no file around them, of any type and codec.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use marquetry::arrow::array::Array;
use marquetry::metadata::{Compression, LogicalType, PhysicalType, Repetition, SchemaBuilder};
use marquetry::{ColumnDecoder, ColumnDescriptor};

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    physical: u8,
    repetition: u8,
    codec: u8,
    utf8: bool,
    num_values: Option<u16>,
    step: u8,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    use PhysicalType::*;
    let physical = [Boolean, Int32, Int64, Int96, Float, Double, ByteArray, FixedLenByteArray];
    let physical = physical[usize::from(input.physical) % physical.len()];
    let repetition = [Repetition::Required, Repetition::Optional, Repetition::Repeated];
    let codec = [Compression::Uncompressed, Compression::Snappy, Compression::Lz4Raw, Compression::Zstd];
    let mut schema = SchemaBuilder::new("schema");
    let leaf = schema.leaf("x", repetition[usize::from(input.repetition) % 3], physical).byte_width(7);
    if input.utf8 && physical == ByteArray {
        leaf.logical(LogicalType::String);
    }
    let schema = schema.finish().expect("a schema");
    let descriptor = ColumnDescriptor::new(&schema, 0).expect("a column");
    let codec = codec[usize::from(input.codec) % codec.len()];
    let bytes = input.bytes.to_vec().into();
    let mut pages = descriptor.pages(bytes, codec, input.num_values.map(u64::from)).expect("pages");
    let mut column = ColumnDecoder::new(&descriptor, descriptor.field()).expect("a decoder");
    let mut left = 50;
    while let Ok(Some(page)) = pages.next() {
        column.push(page);
        left -= 1;
        if left == 0 {
            return;
        }
    }
    column.finish_chunk();
    while let Ok(ready) = column.ready_rows() {
        let rows = ready.min(usize::from(input.step) + 1);
        if rows == 0 {
            return;
        }
        let Ok(array) = column.take(rows) else { return };
        array.to_data().validate_full().expect("a valid array");
    }
});
