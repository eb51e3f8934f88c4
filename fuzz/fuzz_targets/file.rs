//! Whole files, read in several ways; what is read twice is the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marquetry_fuzz::{open, read};

fuzz_target!(|bytes: &[u8]| {
    let Some(file) = open(bytes) else { return };
    let _ = file.capabilities();
    read(file.scan(), 20);
    read(file.scan().batch_size(3).rows([1..2, 5..100]), 20);
    read(file.scan().offset(2).limit(5), 20);
    for index in 0..file.metadata().num_row_groups().min(4) {
        let Ok(row_group) = file.row_group(index) else { continue };
        for column in 0..file.metadata().schema().num_leaves().min(8) {
            let Ok(chunk) = row_group.column(column) else { continue };
            let _ = (chunk.column_index(), chunk.offset_index(), chunk.bloom_filter());
        }
    }
});
