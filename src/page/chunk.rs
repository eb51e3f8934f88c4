//! The bytes of one column chunk, lent or read piece by piece.

use std::ops::Range;

use crate::arrow::buffer::Buffer;
use crate::error::{Context, Error, Result};
use crate::metadata::Compression;
use crate::source::Source;

/// What the page reader must know of a column chunk, whatever file it lies in.
#[derive(Debug, Clone)]
pub(crate) struct ChunkPlace {
    /// Where its pages lie in the file.
    pub(crate) range: Range<u64>,
    /// How many bytes its last page may stand past `range`: some writers left the dictionary page's header out
    /// when they added up (PARQUET-816).
    pub(crate) slack: u64,
    pub(crate) codec: Compression,
    /// Levels in all its pages.
    pub(crate) num_values: u64,
    pub(crate) max_def: u8,
    pub(crate) max_rep: u8,
}

/// Gives bytes of a chunk. Files are read by a window that moves along.
#[derive(Debug)]
pub(crate) struct ChunkBytes {
    source: Source,
    end: u64,
    window: Buffer,
    window_offset: u64,
}

impl ChunkBytes {
    pub(crate) fn new(source: Source, place: &ChunkPlace) -> Self {
        let end = place.range.end.saturating_add(place.slack).min(source.len());
        ChunkBytes { source, end, window: Buffer::default(), window_offset: 0 }
    }

    /// Where the last byte may lie that belongs to the chunk, slack included.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Bytes of the chunk from `offset` on that can be read at once: not all of them, where only ranges are known.
    pub(crate) fn available(&self, offset: u64) -> u64 {
        self.source.available(offset).min(self.end.saturating_sub(offset))
    }

    /// Whether the bytes are slices of memory that is there anyway.
    pub(crate) fn lends(&self) -> bool {
        self.source.lends()
    }

    /// Exactly `len` bytes from `offset` on.
    ///
    /// # Errors
    /// When they do not lie within the chunk, or cannot be read.
    pub(crate) fn read(&mut self, offset: u64, len: usize) -> Result<Buffer> {
        let left = self.end.saturating_sub(offset);
        if len as u64 > left {
            let available = usize::try_from(left).unwrap_or(usize::MAX);
            return Err(
                Error::end_of_data("column chunk ends within a page", len, available).at_offset(offset)
            );
        }
        if self.source.lends() {
            return self.source.read(offset..offset + len as u64);
        }
        if let Some(buffer) = self.within_window(offset, len) {
            return Ok(buffer);
        }
        let read = (len as u64).max(WINDOW).min(left);
        self.window = self.source.read(offset..offset + read)?;
        self.window_offset = offset;
        Ok(self.window.slice_with_length(0, len))
    }

    fn within_window(&self, offset: u64, len: usize) -> Option<Buffer> {
        let start = usize::try_from(offset.checked_sub(self.window_offset)?).ok()?;
        let end = start.checked_add(len)?;
        (end <= self.window.len()).then(|| self.window.slice_with_length(start, len))
    }
}

/// How much of a file is read at once: enough to make calls rare, little enough for thousands of columns.
const WINDOW: u64 = 256 << 10;
