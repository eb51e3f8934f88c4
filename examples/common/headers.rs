//! Walks the page headers of a column chunk without looking into the pages: what `marquetry`'s own `Pages` refuses
//! (an unknown codec, a broken body) has a header all the same.

use marquetry::metadata::{PageHeader, PageKind};
use marquetry::{Error, ErrorKind, Result};

/// A page as its header has it.
#[derive(Debug)]
pub(crate) struct Found<'b> {
    /// Where the header stands, in bytes from the start of the chunk.
    pub(crate) position: usize,
    pub(crate) header_len: usize,
    pub(crate) header: PageHeader,
    /// The page as it is stored, its header left out. Shorter than the header says where the bytes end before.
    pub(crate) body: &'b [u8],
}

/// The headers one after another; after an error comes nothing more.
#[derive(Debug)]
pub(crate) struct Headers<'b> {
    bytes: &'b [u8],
    position: usize,
    /// `None` where nobody knows how many values there should be.
    values_left: Option<u64>,
}

impl<'b> Headers<'b> {
    /// Of a chunk whose pages should hold `num_values` levels. What comes after them is not taken for a page.
    pub(crate) fn new(bytes: &'b [u8], num_values: Option<u64>) -> Self {
        Headers { bytes, position: 0, values_left: num_values }
    }

    /// Where the page ends that came last, in bytes from the start of the chunk. May be past its end.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    fn parse(&mut self) -> Result<Option<Found<'b>>> {
        let left = self.bytes.get(self.position..).unwrap_or_default();
        match self.values_left {
            Some(0) => return Ok(self.empty_page(left)),
            None if left.is_empty() => return Ok(None),
            Some(values) if left.is_empty() => {
                let what = format!("the chunk ends and {values} values are still to come");
                return Err(Error::from(ErrorKind::Malformed(what.into())));
            }
            _ => {}
        }
        let found = self.found(left)?;
        if let Some(left) = &mut self.values_left
            && !found.is_dictionary()
        {
            *left = left.saturating_sub(found.header.num_values() as u64);
        }
        self.position += found.len();
        Ok(Some(found))
    }

    /// With all values there, more pages can only be empty ones. Anything else is no page, but what some writers put
    /// behind the pages.
    fn empty_page(&mut self, left: &'b [u8]) -> Option<Found<'b>> {
        let found = self.found(left).ok().filter(|found| {
            let is_known = !matches!(found.header.kind, PageKind::Other(_));
            is_known && found.header.num_values() == 0 && !found.is_cut()
        })?;
        self.position += found.len();
        Some(found)
    }

    fn found(&self, left: &'b [u8]) -> Result<Found<'b>> {
        let (header, header_len) = PageHeader::parse_with_statistics(left)?;
        let body = left.get(header_len..).unwrap_or_default();
        let body = body.get(..header.compressed_size).unwrap_or(body);
        Ok(Found { position: self.position, header_len, body, header })
    }
}

impl<'b> Iterator for Headers<'b> {
    type Item = Result<Found<'b>>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.parse();
        if found.is_err() {
            self.bytes = &[];
            self.values_left = None;
        }
        found.transpose()
    }
}

impl Found<'_> {
    /// Bytes of the header and, as the header says, of the page.
    fn len(&self) -> usize {
        self.header_len.saturating_add(self.header.compressed_size)
    }

    /// What becomes of its checksum, in a word; capitals where the page is broken.
    pub(crate) fn crc(&self, check: bool) -> &'static str {
        match self.header.crc {
            _ if self.is_cut() => "CUT",
            None => "none",
            Some(_) if !check => "not checked",
            Some(stored) if crc32fast::hash(self.body) == stored => "right",
            Some(_) => "WRONG",
        }
    }

    /// Whether the bytes end before the page does.
    pub(crate) fn is_cut(&self) -> bool {
        self.body.len() < self.header.compressed_size
    }

    /// What kind of page it is, in a word.
    pub(crate) fn kind(&self) -> String {
        match &self.header.kind {
            PageKind::Data(_) => "data v1".into(),
            PageKind::DataV2(_) => "data v2".into(),
            PageKind::Dictionary(_) => "dictionary".into(),
            PageKind::Other(other) => other.to_string(),
            _ => "?".into(),
        }
    }

    pub(crate) fn encoding(&self) -> String {
        match &self.header.kind {
            PageKind::Data(header) => header.encoding.to_string(),
            PageKind::DataV2(header) => header.encoding.to_string(),
            PageKind::Dictionary(header) => header.encoding.to_string(),
            _ => String::new(),
        }
    }

    /// Nulls, where the header says.
    pub(crate) fn num_nulls(&self) -> Option<u64> {
        let counted = self.header.statistics().and_then(|statistics| statistics.null_count);
        match &self.header.kind {
            PageKind::DataV2(header) => Some(header.num_nulls as u64),
            _ => counted.and_then(|nulls| u64::try_from(nulls).ok()),
        }
    }

    /// Rows, where the header says.
    pub(crate) fn num_rows(&self) -> Option<u64> {
        match &self.header.kind {
            PageKind::DataV2(header) => Some(header.num_rows as u64),
            _ => None,
        }
    }

    pub(crate) fn is_dictionary(&self) -> bool {
        matches!(self.header.kind, PageKind::Dictionary(_))
    }
}
