//! How a file is opened: limits, checksums, and metadata that is known already.

use std::path::Path;
use std::sync::Arc;

use crate::arrow::buffer::Buffer;
use crate::error::Result;
use crate::file::ParquetFile;
use crate::metadata::{FileMetadata, MetadataLimits};

/// How to open a file.
///
/// ```no_run
/// # fn main() -> marquetry::Result<()> {
/// use marquetry::ReadOptions;
///
/// let first = ReadOptions::new().verify_crc(false).open("trips.parquet")?;
/// // The same file again, its footer not parsed a second time:
/// let again = ReadOptions::new().metadata(first.metadata().clone()).open("trips.parquet")?;
/// # Ok(()) }
/// ```
#[derive(Debug, Clone)]
pub struct ReadOptions {
    pub(crate) verify_crc: bool,
    pub(crate) max_page_size: usize,
    pub(crate) metadata_limits: MetadataLimits,
    pub(crate) metadata: Option<Arc<FileMetadata>>,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            verify_crc: true,
            max_page_size: i32::MAX as usize,
            metadata_limits: MetadataLimits::default(),
            metadata: None,
        }
    }
}

impl ReadOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether page checksums are checked where there are some. Default: yes.
    pub fn verify_crc(mut self, yes: bool) -> Self {
        self.verify_crc = yes;
        self
    }

    /// The largest page, in bytes once decompressed. Default: 2^31-1, the most that the format allows.
    pub fn max_page_size(mut self, bytes: usize) -> Self {
        self.max_page_size = bytes;
        self
    }

    /// Limits on what a footer may hold. The defaults are such that no real file meets them.
    pub fn metadata_limits(mut self, limits: MetadataLimits) -> Self {
        self.metadata_limits = limits;
        self
    }

    /// Metadata of the same file, from an earlier opening: the footer is neither read nor parsed again.
    pub fn metadata(mut self, metadata: Arc<FileMetadata>) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// As [`ParquetFile::open`].
    ///
    /// # Errors
    /// As [`ParquetFile::open`].
    pub fn open(self, path: impl AsRef<Path>) -> Result<ParquetFile> {
        ParquetFile::open_with(path.as_ref(), self)
    }

    /// As [`ParquetFile::from_buffer`].
    ///
    /// # Errors
    /// As [`ParquetFile::from_buffer`].
    pub fn from_buffer(self, bytes: Buffer) -> Result<ParquetFile> {
        ParquetFile::from_buffer_with(bytes, self)
    }
}
