//! Where a file's bytes go, and how many went.

use std::io::Write;
use std::ops::Range;

use crate::error::Result;

/// A writer that counts.
#[derive(Debug)]
pub(super) struct Sink<W> {
    write: W,
    position: u64,
}

impl<W: Write> Sink<W> {
    pub(super) fn new(write: W) -> Self {
        Sink { write, position: 0 }
    }

    /// Writes all of `bytes`; gives where they lie.
    ///
    /// # Errors
    /// When not all can be written.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<Range<u64>> {
        self.write.write_all(bytes)?;
        let start = self.position;
        self.position += bytes.len() as u64;
        Ok(start..self.position)
    }

    /// # Errors
    /// When the writer cannot flush.
    pub(super) fn flush(&mut self) -> Result<()> {
        Ok(self.write.flush()?)
    }

    pub(super) fn position(&self) -> u64 {
        self.position
    }
}
