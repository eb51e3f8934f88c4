//! Column chunk bytes to pages: header checked, CRC checked, body decompressed, levels told from values.
//!
//! A page here is trusted in this much: its parts lie where its header says and have the sizes it says. What the
//! parts mean is for the encodings to find out.

mod chunk;
mod reader;
mod workspace;

use crate::arrow::buffer::Buffer;
use crate::metadata::{EncodedStatistics, Encoding};

pub(crate) use chunk::{ChunkBytes, ChunkPlace};
pub use reader::Pages;
pub(crate) use reader::{PageOptions, PageReader};
pub(crate) use workspace::Workspace;

/// A page of a column chunk, ready to be decoded.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant)] // pages are moved a few times each, and hold megabytes elsewhere
pub enum Page {
    /// Values, with their levels.
    Data(DataPage),
    /// The dictionary that data pages of the chunk refer to.
    Dictionary(DictionaryPage),
}

/// A data page, version 1 or 2.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DataPage {
    /// Its place in the chunk, counted from 0; a dictionary page counts.
    pub index: usize,
    /// Where its header stands, in bytes from the start of the file.
    pub offset: u64,
    /// 1 or 2.
    pub version: u8,
    /// Levels in the page: its values, nulls and empty lists included.
    pub num_values: usize,
    /// Nulls among them; only V2 pages say.
    pub num_nulls: Option<usize>,
    /// Rows that begin in it; only V2 pages say.
    pub num_rows: Option<usize>,
    /// Encoding of the values.
    pub encoding: Encoding,
    /// Encoding of the definition levels.
    pub definition_encoding: Encoding,
    /// Encoding of the repetition levels.
    pub repetition_encoding: Encoding,
    /// The definition levels, without a length before them; empty for a column that has none.
    pub definition_levels: Buffer,
    /// The repetition levels, without a length before them; empty for a column that has none.
    pub repetition_levels: Buffer,
    /// The encoded values, decompressed.
    pub values: Buffer,
    /// Sizes, checksum, and whether its bytes are lent.
    pub storage: PageStorage,
    /// As the header has them, where the reader was asked to keep them.
    pub statistics: Option<Box<EncodedStatistics>>,
}

/// A dictionary page.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct DictionaryPage {
    /// Its place in the chunk, counted from 0.
    pub index: usize,
    /// Where its header stands, in bytes from the start of the file.
    pub offset: u64,
    /// How many values the dictionary holds.
    pub num_values: usize,
    /// Always PLAIN, under one of its two names.
    pub encoding: Encoding,
    /// Whether the file claims that the values rise.
    pub is_sorted: bool,
    /// The values, PLAIN, decompressed.
    pub values: Buffer,
    /// Sizes, checksum, and whether its bytes are lent.
    pub storage: PageStorage,
}

/// How a page is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageStorage {
    /// Bytes of the header.
    pub header_size: usize,
    /// Bytes in the file, without the header.
    pub compressed_size: usize,
    /// Bytes once decompressed, without the header.
    pub uncompressed_size: usize,
    /// What became of its checksum.
    pub crc: CrcState,
    /// Whether the values are a slice of the source itself: of the map, or of the memory handed in.
    pub lent: bool,
}

/// What became of a page's checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CrcState {
    /// The header has none.
    Absent,
    /// It was right.
    Verified(u32),
    /// Checking was switched off.
    Unchecked(u32),
}

impl Page {
    /// Its place in the chunk, counted from 0.
    pub fn index(&self) -> usize {
        match self {
            Page::Data(page) => page.index,
            Page::Dictionary(page) => page.index,
        }
    }

    /// Where its header stands, in bytes from the start of the file.
    pub fn offset(&self) -> u64 {
        match self {
            Page::Data(page) => page.offset,
            Page::Dictionary(page) => page.offset,
        }
    }

    /// Encoding of the values.
    pub fn encoding(&self) -> Encoding {
        match self {
            Page::Data(page) => page.encoding,
            Page::Dictionary(page) => page.encoding,
        }
    }

    /// Values in the page; nulls count.
    pub fn num_values(&self) -> usize {
        match self {
            Page::Data(page) => page.num_values,
            Page::Dictionary(page) => page.num_values,
        }
    }

    /// The encoded values, decompressed. The memory is used again for a later page once nobody holds it.
    pub fn values(&self) -> &Buffer {
        match self {
            Page::Data(page) => &page.values,
            Page::Dictionary(page) => &page.values,
        }
    }

    /// Sizes, checksum, and whether its bytes are lent.
    pub fn storage(&self) -> PageStorage {
        match self {
            Page::Data(page) => page.storage,
            Page::Dictionary(page) => page.storage,
        }
    }
}
