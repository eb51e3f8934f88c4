//! The pages of a column chunk: levels and values in, headers and bodies out.
//!
//! Takes what is encoded already; compresses it, and keeps the pages until the chunk is written: a chunk's dictionary is
//! known at its end and stands at its beginning.

use super::options::PageVersion;
use super::resolve::LeafOptions;
use crate::compression::Compressor;
use crate::error::Result;
use crate::metadata::{
    Compression, DataPageHeader, DataPageHeaderV2, DictionaryPageHeader, Encoding, PageHeader, PageKind,
};

/// What the columns of a file share, for it is needed for a moment alone.
#[derive(Default)]
pub(super) struct Workspace {
    compressors: Vec<(Compression, Option<i32>, Compressor)>,
    compressed: Vec<u8>,
    pub(super) levels: Vec<u8>,
}

/// Pages one after another.
#[derive(Debug, Default)]
pub(super) struct Pages {
    pub(super) segments: Vec<Vec<u8>>,
    pub(super) byte_len: u64,
    /// As `byte_len`, had nothing been compressed.
    pub(super) uncompressed_len: u64,
}

/// A data page to be.
#[derive(Debug)]
pub(super) struct DataPage<'a> {
    pub(super) num_values: usize,
    pub(super) num_nulls: usize,
    pub(super) num_rows: usize,
    pub(super) encoding: Encoding,
    /// Repetition levels, of so many bytes, then definition levels; for a V1 page each behind its length.
    pub(super) levels: &'a [u8],
    pub(super) repetition_len: usize,
    pub(super) values: Vec<u8>,
}

impl Workspace {
    /// Checks that the leaf's codec can be had.
    ///
    /// # Errors
    /// When it cannot, or has not that level.
    pub(super) fn prepare(&mut self, options: &LeafOptions) -> Result<()> {
        self.compressor(options).map(drop)
    }

    fn compressor(&mut self, options: &LeafOptions) -> Result<(&mut Compressor, &mut Vec<u8>)> {
        let wanted = (options.compression, options.compression_level);
        let known = self.compressors.iter().position(|(codec, level, _)| (*codec, *level) == wanted);
        let index = match known {
            Some(index) => index,
            None => {
                self.compressors.push((wanted.0, wanted.1, Compressor::new(wanted.0, wanted.1)?));
                self.compressors.len() - 1
            }
        };
        #[allow(clippy::indexing_slicing)] // found or pushed just now
        Ok((&mut self.compressors[index].2, &mut self.compressed))
    }
}

impl Pages {
    /// Adds a data page; gives its bytes, header included.
    ///
    /// # Errors
    /// When it is larger than the format allows, or the codec refuses it.
    pub(super) fn data_page(
        &mut self,
        page: DataPage<'_>,
        options: &LeafOptions,
        workspace: &mut Workspace,
    ) -> Result<u64> {
        match options.page_version {
            PageVersion::V1 => self.data_page_v1(page, options, workspace),
            PageVersion::V2 => self.data_page_v2(page, options, workspace),
        }
    }

    fn data_page_v1(
        &mut self,
        mut page: DataPage<'_>,
        options: &LeafOptions,
        workspace: &mut Workspace,
    ) -> Result<u64> {
        let kind = PageKind::Data(DataPageHeader::new(page.num_values, page.encoding));
        if options.compression == Compression::Uncompressed {
            let len = page.levels.len() + page.values.len();
            return self.push(PageHeader::new(kind, len, len), page.levels, page.values, options);
        }
        if !page.levels.is_empty() {
            page.values.splice(0..0, page.levels.iter().copied());
        }
        let (compressor, compressed) = workspace.compressor(options)?;
        compressor.compress(&page.values, compressed)?;
        let header = PageHeader::new(kind, page.values.len(), compressed.len());
        self.push(header, &[], compressed.clone(), options)
    }

    fn data_page_v2(
        &mut self,
        page: DataPage<'_>,
        options: &LeafOptions,
        workspace: &mut Workspace,
    ) -> Result<u64> {
        let mut header = DataPageHeaderV2::new(page.num_values, page.num_nulls, page.num_rows, page.encoding);
        header.repetition_levels_byte_length = page.repetition_len;
        header.definition_levels_byte_length = page.levels.len() - page.repetition_len;
        let uncompressed_len = page.levels.len() + page.values.len();
        let (compressor, compressed) = workspace.compressor(options)?;
        header.is_compressed = options.compression != Compression::Uncompressed && !page.values.is_empty();
        let mut values = page.values;
        if header.is_compressed {
            compressor.compress(&values, compressed)?;
            header.is_compressed = compressed.len() < values.len();
            if header.is_compressed {
                values.clone_from(compressed);
            }
        }
        let len = page.levels.len() + values.len();
        self.push(
            PageHeader::new(PageKind::DataV2(header), uncompressed_len, len),
            page.levels,
            values,
            options,
        )
    }

    /// Adds a dictionary page.
    ///
    /// # Errors
    /// As [`Pages::data_page`].
    pub(super) fn dictionary_page(
        &mut self,
        num_values: usize,
        values: Vec<u8>,
        options: &LeafOptions,
        workspace: &mut Workspace,
    ) -> Result<u64> {
        let kind = PageKind::Dictionary(DictionaryPageHeader::new(num_values));
        let len = values.len();
        if options.compression == Compression::Uncompressed {
            return self.push(PageHeader::new(kind, len, len), &[], values, options);
        }
        let (compressor, compressed) = workspace.compressor(options)?;
        compressor.compress(&values, compressed)?;
        self.push(PageHeader::new(kind, len, compressed.len()), &[], compressed.clone(), options)
    }

    fn push(
        &mut self,
        mut header: PageHeader,
        levels: &[u8],
        values: Vec<u8>,
        options: &LeafOptions,
    ) -> Result<u64> {
        if options.crc {
            let mut crc = crc32fast::Hasher::new();
            crc.update(levels);
            crc.update(&values);
            header.crc = Some(crc.finalize());
        }
        let mut head = Vec::new();
        header.write(&mut head)?;
        let (header_len, body_len) = (head.len(), header.uncompressed_size);
        head.extend_from_slice(levels);
        let byte_len = (head.len() + values.len()) as u64;
        self.byte_len += byte_len;
        self.uncompressed_len += (header_len + body_len) as u64;
        self.segments.push(head);
        self.segments.push(values);
        Ok(byte_len)
    }
}
