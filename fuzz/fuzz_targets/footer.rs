//! The bytes of a footer, and all that is asked of it.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marquetry::metadata::{BloomFilter, FileMetadata};

fuzz_target!(|bytes: &[u8]| {
    let _ = BloomFilter::parse(bytes.to_vec().into());
    let Ok(metadata) = FileMetadata::parse(bytes.to_vec().into()) else { return };
    let _ = (metadata.num_rows(), metadata.schema().num_leaves(), metadata.key_value_metadata());
    for index in 0..metadata.num_row_groups().min(100) {
        let Ok(row_group) = metadata.row_group(index) else { continue };
        for column in 0..row_group.num_columns().min(100) {
            let Ok(chunk) = row_group.column(column) else { continue };
            let node = metadata.schema().leaf(column).expect("a leaf for each column");
            let _ = chunk.typed_statistics(node);
        }
    }
});
