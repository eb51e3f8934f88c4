//! Reads files in every way there is and holds the answers against each other.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use marquetry::arrow::array::{RecordBatch, RecordBatchReader};
use marquetry::arrow::buffer::Buffer;
use marquetry::{Error, ParquetFile, Result, Scan, ScanReader};

use super::raw::Built;
use super::show::words;

/// A file in the temporary folder, for as long as this lives.
pub struct TempFile(PathBuf);

impl TempFile {
    pub fn new(bytes: &[u8]) -> TempFile {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name =
            format!("marquetry-{}-{}.parquet", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, bytes).unwrap();
        TempFile(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

pub fn buffer(bytes: &[u8]) -> Buffer {
    Buffer::from_slice_ref(bytes)
}

pub fn memory(bytes: &[u8]) -> Result<ParquetFile> {
    ParquetFile::from_buffer(buffer(bytes))
}

/// A file that must open.
pub fn open(file: &Built) -> ParquetFile {
    memory(&file.bytes).unwrap()
}

#[allow(unsafe_code)]
pub fn map(path: &Path) -> Result<ParquetFile> {
    // SAFETY: nobody but the test knows of the file.
    unsafe { ParquetFile::map(path) }
}

/// The batches up to the end or the first error. After either comes nothing more.
pub fn drain(mut reader: ScanReader) -> (Vec<RecordBatch>, Option<Error>) {
    let (mut batches, mut error) = (Vec::new(), None);
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => {
                assert_eq!(batch.schema(), reader.schema());
                for column in batch.columns() {
                    column.to_data().validate_full().unwrap();
                }
                batches.push(batch);
            }
            Ok(None) => break,
            Err(e) => {
                error = Some(e);
                break;
            }
        }
    }
    for _ in 0..3 {
        assert!(reader.next_batch().unwrap().is_none(), "something after the end");
    }
    (batches, error)
}

/// All batches of a scan that must succeed.
pub fn read(scan: Scan) -> Vec<RecordBatch> {
    let (batches, error) = drain(scan.build().unwrap());
    assert!(error.is_none(), "{}", error.unwrap());
    batches
}

/// The words of each column of a scan that must succeed, by position.
pub fn columns(scan: Scan) -> Vec<(String, Vec<String>)> {
    let reader = scan.build().unwrap();
    let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let (batches, error) = drain(reader);
    assert!(error.is_none(), "{}", error.unwrap());
    let column =
        |i: usize| batches.iter().flat_map(|batch| words(batch.column(i).as_ref())).collect::<Vec<_>>();
    names.into_iter().enumerate().map(|(i, name)| (name, column(i))).collect()
}

/// The words of the only column of a scan.
pub fn column(scan: Scan) -> String {
    let columns = columns(scan);
    let [(_, words)] = columns.as_slice() else { panic!("{} columns", columns.len()) };
    words.join(" ")
}

/// Reads the file from memory, by position and mapped, in batches of several sizes, row by row and from every row on:
/// the columns must be these, a word a row.
pub fn check(file: &Built, expected: &[(&str, &str)]) {
    check_bytes(&file.bytes, expected);
}

/// [`check`] for bytes.
pub fn check_bytes(bytes: &[u8], expected: &[(&str, &str)]) {
    let expected: Vec<(String, Vec<String>)> = expected
        .iter()
        .map(|(name, words)| (name.to_string(), words.split_whitespace().map(String::from).collect()))
        .collect();
    let num_rows = expected[0].1.len();
    let temp = TempFile::new(bytes);
    let files = [memory(bytes), ParquetFile::open(temp.path()), map(temp.path())].map(Result::unwrap);
    for file in &files {
        assert_eq!(file.num_rows(), num_rows as u64);
        for batch_size in [1, 2, 3, 7, 1000] {
            assert_eq!(columns(file.scan().batch_size(batch_size)), expected, "batches of {batch_size}");
        }
    }
    let part = |range: std::ops::Range<usize>| -> Vec<_> {
        expected.iter().map(|(name, words)| (name.clone(), words[range.clone()].to_vec())).collect()
    };
    for row in 0..num_rows.min(64) {
        for file in &files[..2] {
            for range in [row..row + 1, row..num_rows, 0..row] {
                let rows = file.scan().rows([range.start as u64..range.end as u64]);
                assert_eq!(columns(rows.batch_size(5)), part(range.clone()), "rows {range:?}");
            }
        }
    }
}

/// Reads a file that is broken somewhere, in several ways: each must find an error, and nothing comes after it. Gives
/// the error found in memory with one batch.
pub fn fault(file: &Built) -> Error {
    fault_bytes(&file.bytes)
}

/// [`fault`] for bytes.
pub fn fault_bytes(bytes: &[u8]) -> Error {
    let temp = TempFile::new(bytes);
    let mut found = None;
    for batch_size in [1, 3, 100_000] {
        for opened in [ParquetFile::open(temp.path()), memory(bytes)] {
            let error = match opened.and_then(|file| file.scan().batch_size(batch_size).build()) {
                Err(error) => error,
                Ok(reader) => drain(reader).1.expect("an error"),
            };
            found = Some(error);
        }
    }
    found.unwrap()
}
