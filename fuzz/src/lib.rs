//! What the fuzz targets share.

use marquetry::arrow::array::{Array, RecordBatch};
use marquetry::{ParquetFile, ReadOptions, Scan};

/// No page may take more than this, nor a batch many times as much.
pub const MAX_PAGE_SIZE: usize = 1 << 20;

/// Opens a file held in memory, if it can be.
pub fn open(bytes: &[u8]) -> Option<ParquetFile> {
    ReadOptions::new().max_page_size(MAX_PAGE_SIZE).from_buffer(bytes.to_vec().into()).ok()
}

/// Reads up to `batches` batches; each must be valid. Whether the end was reached without an error.
pub fn read(scan: Scan, batches: usize) -> bool {
    let Ok(mut reader) = scan.build() else { return false };
    for _ in 0..batches {
        match reader.next_batch() {
            Ok(Some(batch)) => validate(&batch),
            Ok(None) => return true,
            Err(_) => {
                assert!(matches!(reader.next_batch(), Ok(None)), "after an error comes nothing");
                return false;
            }
        }
    }
    false
}

fn validate(batch: &RecordBatch) {
    assert!(batch.num_rows() > 0);
    for column in batch.columns() {
        column.to_data().validate_full().expect("a valid array");
    }
}
