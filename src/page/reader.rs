//! Walks the pages of a column chunk.

use super::{ChunkBytes, ChunkPlace, CrcState, DataPage, DictionaryPage, Page, PageStorage, Workspace};
use crate::arrow::buffer::Buffer;
use crate::cursor::Cursor;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::metadata::PageKind;
use crate::metadata::{
    Compression, DataPageHeader, DataPageHeaderV2, DictionaryPageHeader, Encoding, PageHeader,
};
use crate::source::Source;

/// Reads the pages of a column chunk one after another.
pub(crate) struct PageReader {
    bytes: ChunkBytes,
    place: ChunkPlace,
    options: PageOptions,
    position: u64,
    /// Values that the pages still to come must hold; `None` once pages were jumped over.
    values_left: Option<u64>,
    index: usize,
    peeked: Option<(PageHeader, usize)>,
}

/// How pages are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PageOptions {
    /// Whether checksums are checked where pages have them.
    pub(crate) verify_crc: bool,
    /// The largest page, decompressed.
    pub(crate) max_page_size: usize,
    /// Whether the statistics of page headers are kept.
    pub(crate) statistics: bool,
}

impl Default for PageOptions {
    fn default() -> Self {
        PageOptions { verify_crc: true, max_page_size: i32::MAX as usize, statistics: false }
    }
}

impl PageReader {
    pub(crate) fn new(source: Source, place: ChunkPlace, options: PageOptions) -> Self {
        PageReader {
            bytes: ChunkBytes::new(source, &place),
            position: place.range.start,
            values_left: Some(place.num_values),
            index: 0,
            peeked: None,
            place,
            options,
        }
    }

    /// The header of the next data or dictionary page; `None` at the end of the chunk. Index pages, pages of unknown
    /// types and data pages without a value are passed over.
    ///
    /// # Errors
    /// When the bytes end early or are no page header, or a page holds more values than are left.
    pub(crate) fn peek(&mut self) -> Result<Option<&PageHeader>> {
        while self.peeked.is_none() {
            match self.values_left {
                Some(0) => return Ok(None),
                None if self.position >= self.place.range.end => return Ok(None),
                _ => {}
            }
            let (header, len) = self.parse_header().in_page(self.index).at_offset(self.position)?;
            let nothing = match header.kind {
                PageKind::Other(_) => true,
                PageKind::Dictionary(_) => false,
                _ => header.num_values() == 0,
            };
            if !nothing {
                self.peeked = Some((header, len));
                break;
            }
            self.pass(&header, len);
        }
        Ok(self.peeked.as_ref().map(|(header, _)| header))
    }

    /// Where the next page's header stands; at the end of the chunk, where its last page ends.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Passes over the next page without reading its body.
    pub(crate) fn skip(&mut self) -> Result<()> {
        if self.peek()?.is_some()
            && let Some((header, len)) = self.peeked.take()
        {
            self.count(&header)?;
            self.pass(&header, len);
        }
        Ok(())
    }

    /// Jumps to the page that starts at `offset`, over `passed` pages. From here on the chunk's count of values is not
    /// checked any more.
    pub(crate) fn jump(&mut self, offset: u64, passed: usize) {
        self.position = offset;
        self.index += passed;
        self.peeked = None;
        self.values_left = None;
    }

    /// The next page, decompressed; `None` at the end of the chunk.
    ///
    /// # Errors
    /// As [`PageReader::peek`], and when the body is cut, its checksum is wrong, or it cannot be decompressed.
    pub(crate) fn next(&mut self, workspace: &mut Workspace) -> Result<Option<Page>> {
        self.peek()?;
        let Some((header, len)) = self.peeked.take() else { return Ok(None) };
        let page = self.open(&header, len, workspace).in_page(self.index).at_offset(self.position)?;
        self.count(&header).in_page(self.index).at_offset(self.position)?;
        self.pass(&header, len);
        Ok(Some(page))
    }

    fn pass(&mut self, header: &PageHeader, header_len: usize) {
        self.position =
            self.position.saturating_add((header_len as u64).saturating_add(header.compressed_size as u64));
        self.index += 1;
    }

    fn count(&mut self, header: &PageHeader) -> Result<()> {
        if matches!(header.kind, PageKind::Dictionary(_)) {
            return Ok(());
        }
        if let Some(left) = &mut self.values_left {
            let n = header.num_values() as u64;
            *left = left.checked_sub(n).ok_or_else(|| {
                Error::malformed(format!("a page of {n} values where the column chunk has {left} left"))
            })?;
        }
        Ok(())
    }

    /// Parses the header at the current position, from as few bytes as it takes.
    fn parse_header(&mut self) -> Result<(PageHeader, usize)> {
        let left = self.bytes.end().saturating_sub(self.position);
        if left == 0 {
            let missing = self.values_left.unwrap_or_default();
            return Err(Error::malformed(format!(
                "the column chunk ends, and {missing} values are still to come"
            )));
        }
        // Where only ranges of the file are known, a guess does not reach past this one; the need for more does.
        let available = self.bytes.available(self.position);
        let mut len = HEADER_GUESS.min(left).min(available.max(1));
        loop {
            let bytes = self.bytes.read(self.position, usize::try_from(len).unwrap_or(usize::MAX))?;
            let parsed = if self.options.statistics {
                PageHeader::parse_with_statistics(&bytes)
            } else {
                PageHeader::parse(&bytes)
            };
            match parsed {
                Err(e) if matches!(e.kind(), ErrorKind::EndOfData { .. }) && len < left => {
                    let more = len.saturating_mul(8).min(left);
                    len = if len < available { more.min(available) } else { more };
                }
                other => return other.offset_from(self.position),
            }
        }
    }

    fn open(&mut self, header: &PageHeader, header_len: usize, workspace: &mut Workspace) -> Result<Page> {
        if header.uncompressed_size > self.options.max_page_size {
            return Err(ErrorKind::Limit {
                what: "page size",
                limit: self.options.max_page_size as u64,
                wanted: header.uncompressed_size as u64,
            }
            .into());
        }
        let body = self.bytes.read(self.position + header_len as u64, header.compressed_size)?;
        let storage = PageStorage {
            header_size: header_len,
            compressed_size: header.compressed_size,
            uncompressed_size: header.uncompressed_size,
            crc: self.check_crc(header.crc, &body)?,
            lent: false,
        };
        let parts = Parts { body, storage, codec: self.place.codec, lends: self.bytes.lends() };
        match &header.kind {
            PageKind::Data(data) => self.open_v1(data, parts, workspace),
            PageKind::DataV2(data) => self.open_v2(data, parts, workspace),
            PageKind::Dictionary(dictionary) => self.open_dictionary(dictionary, parts, workspace),
            PageKind::Other(kind) => Err(Error::unsupported(format!("page type {kind}"))),
        }
    }

    fn check_crc(&self, stored: Option<u32>, body: &[u8]) -> Result<CrcState> {
        let Some(stored) = stored else { return Ok(CrcState::Absent) };
        if !self.options.verify_crc {
            return Ok(CrcState::Unchecked(stored));
        }
        let computed = crc32fast::hash(body);
        if computed != stored {
            return Err(ErrorKind::Checksum { stored, computed }.into());
        }
        Ok(CrcState::Verified(stored))
    }

    /// V1: `[repetition levels][definition levels][values]`, compressed as one.
    fn open_v1(&self, header: &DataPageHeader, parts: Parts, workspace: &mut Workspace) -> Result<Page> {
        let whole = parts.storage.uncompressed_size;
        let (body, storage) = parts.decompress(0, whole, workspace)?;
        let mut cursor = Cursor::new(&body);
        let n = header.num_values;
        let rep = v1_levels(&mut cursor, header.repetition_level_encoding, n, self.place.max_rep)?;
        let def = v1_levels(&mut cursor, header.definition_level_encoding, n, self.place.max_def)?;
        Ok(Page::Data(DataPage {
            index: self.index,
            offset: self.position,
            version: 1,
            num_values: n,
            num_nulls: None,
            num_rows: None,
            encoding: header.encoding,
            definition_encoding: header.definition_level_encoding,
            repetition_encoding: header.repetition_level_encoding,
            definition_levels: slice(&body, def),
            repetition_levels: slice(&body, rep),
            values: body.slice(cursor.position()),
            storage,
            statistics: header.statistics.clone(),
        }))
    }

    /// V2: levels as they are, then the values, compressed or not.
    fn open_v2(&self, header: &DataPageHeaderV2, parts: Parts, workspace: &mut Workspace) -> Result<Page> {
        let rep_len = header.repetition_levels_byte_length;
        let levels_len = rep_len.saturating_add(header.definition_levels_byte_length);
        let Some(values_len) = parts.storage.uncompressed_size.checked_sub(levels_len) else {
            return Err(Error::malformed(format!(
                "{levels_len} bytes of levels in a page of {} bytes",
                parts.storage.uncompressed_size
            )));
        };
        let levels = slice(&parts.body, 0..levels_len);
        let codec = if header.is_compressed { parts.codec } else { Compression::Uncompressed };
        let (values, storage) = Parts { codec, ..parts }.decompress(levels_len, values_len, workspace)?;
        let levels_of =
            |range, max_level| if max_level > 0 { slice(&levels, range) } else { Buffer::default() };
        Ok(Page::Data(DataPage {
            index: self.index,
            offset: self.position,
            version: 2,
            num_values: header.num_values,
            num_nulls: Some(header.num_nulls),
            num_rows: Some(header.num_rows),
            encoding: header.encoding,
            definition_encoding: Encoding::Rle,
            repetition_encoding: Encoding::Rle,
            definition_levels: levels_of(rep_len..levels_len, self.place.max_def),
            repetition_levels: levels_of(0..rep_len, self.place.max_rep),
            values,
            storage,
            statistics: header.statistics.clone(),
        }))
    }

    fn open_dictionary(
        &self,
        header: &DictionaryPageHeader,
        parts: Parts,
        workspace: &mut Workspace,
    ) -> Result<Page> {
        if !matches!(header.encoding, Encoding::Plain | Encoding::PlainDictionary) {
            return Err(Error::malformed(format!("a dictionary page in encoding {}", header.encoding)));
        }
        let whole = parts.storage.uncompressed_size;
        let (values, storage) = parts.decompress(0, whole, workspace)?;
        Ok(Page::Dictionary(DictionaryPage {
            index: self.index,
            offset: self.position,
            num_values: header.num_values,
            encoding: header.encoding,
            is_sorted: header.is_sorted,
            values,
            storage,
        }))
    }
}

/// A page's body as it is in the file, on its way.
struct Parts {
    body: Buffer,
    storage: PageStorage,
    codec: Compression,
    lends: bool,
}

impl Parts {
    /// What stands in the body from `from` on, decompressed to `len` bytes.
    fn decompress(self, from: usize, len: usize, workspace: &mut Workspace) -> Result<(Buffer, PageStorage)> {
        let input = slice(&self.body, from..self.body.len());
        if self.codec != Compression::Uncompressed {
            return Ok((workspace.decompress(self.codec, &input, len)?, self.storage));
        }
        if input.len() != len {
            return Err(Error::malformed(format!(
                "an uncompressed page of {} bytes that should be {len}",
                input.len()
            )));
        }
        Ok((input, PageStorage { lent: self.lends, ..self.storage }))
    }
}

/// Where a V1 page's levels of one kind lie: behind a 4-byte length, or, bit-packed, as many bytes as they take.
fn v1_levels(
    cursor: &mut Cursor<'_>,
    encoding: Encoding,
    n: usize,
    max_level: u8,
) -> Result<std::ops::Range<usize>> {
    if max_level == 0 {
        return Ok(0..0);
    }
    let len = match encoding {
        Encoding::BitPacked => {
            let bits = n.saturating_mul(usize::from(crate::column::bit_width(max_level)));
            bits.div_ceil(8)
        }
        _ => cursor.u32_le("length of a page's levels")? as usize,
    };
    let start = cursor.position();
    cursor.skip(len, "levels of a page")?;
    Ok(start..start + len)
}

/// `range` of `buffer`, cut to what there is.
fn slice(buffer: &Buffer, range: std::ops::Range<usize>) -> Buffer {
    let end = range.end.min(buffer.len());
    let start = range.start.min(end);
    buffer.slice_with_length(start, end - start)
}

/// Bytes that nearly every page header fits in.
const HEADER_GUESS: u64 = 1024;

/// The pages of a column chunk, one after another, dictionary page first.
///
/// ```no_run
/// # fn main() -> marquetry::Result<()> {
/// let file = marquetry::ParquetFile::open("trips.parquet")?;
/// let mut pages = file.row_group(0)?.column(3)?.pages()?;
/// while let Some(page) = pages.next()? {
///     println!("{} values, {}", page.num_values(), page.encoding());
/// }
/// # Ok(()) }
/// ```
pub struct Pages {
    reader: PageReader,
    workspace: Workspace,
}

impl Pages {
    pub(crate) fn new(reader: PageReader) -> Self {
        Pages { reader, workspace: Workspace::default() }
    }

    /// The next page; `None` at the end of the chunk. Index pages and pages of unknown types are passed over.
    ///
    /// # Errors
    /// When a header or body is broken, a checksum is wrong, a codec is missing, or the chunk ends early.
    #[allow(clippy::should_implement_trait)] // a `Result` around the `Option` lets `?` end the loop
    pub fn next(&mut self) -> Result<Option<Page>> {
        self.reader.next(&mut self.workspace)
    }
}
