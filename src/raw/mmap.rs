//! A memory map as an Arrow [`Buffer`], and the two public functions that make one.

use std::fs::File;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::arrow::buffer::Buffer;
use crate::error::Result;
use crate::file::ParquetFile;
use crate::options::ReadOptions;

impl ParquetFile {
    /// Maps a file into memory: pages that are not compressed are lent, not copied.
    ///
    /// # Safety
    /// Nobody may change or shorten the file while this value, a clone of it, or any array read from it lives: arrays
    /// and their strings lie in the map. [`ParquetFile::open`] has no such contract.
    ///
    /// # Errors
    /// When it cannot be opened or mapped, or does not end with a Parquet footer.
    pub unsafe fn map(path: impl AsRef<Path>) -> Result<Self> {
        // SAFETY: the caller's contract is the same.
        unsafe { ReadOptions::new().map(path) }
    }
}

impl ReadOptions {
    /// As [`ParquetFile::map`].
    ///
    /// # Safety
    /// As [`ParquetFile::map`].
    ///
    /// # Errors
    /// As [`ParquetFile::map`].
    pub unsafe fn map(self, path: impl AsRef<Path>) -> Result<ParquetFile> {
        let file = File::open(path)?;
        // SAFETY: the caller guarantees that the file stays as it is.
        let bytes = unsafe { map(&file)? };
        self.from_buffer(bytes)
    }
}

/// Maps the whole of `file`. The map lives as long as any slice of the buffer does.
///
/// # Safety
/// Nobody may change or shorten the file while the buffer, or anything made from it, lives: its bytes are handed out
/// as shared slices.
///
/// # Errors
/// When the system refuses the map.
unsafe fn map(file: &File) -> std::io::Result<Buffer> {
    if file.metadata()?.len() == 0 {
        return Ok(Buffer::default());
    }
    // SAFETY: the caller guarantees that the file stays as it is.
    let map = unsafe { memmap2::Mmap::map(file)? };
    let start = NonNull::from(&*map).cast::<u8>();
    let len = map.len();
    // SAFETY: `start` is valid for `len` bytes while the map lives, and the buffer keeps the map.
    Ok(unsafe { Buffer::from_custom_allocation(start, len, Arc::new(map)) })
}
