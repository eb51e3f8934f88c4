//! The offset index of a column chunk: where each data page lies (PageIndex.md). Takes its Thrift bytes.
//!
//! It checks the index against itself. Against the chunk and its pages, whoever uses it must: an index may lie.

use super::column_chunk::read_i64s;
use crate::error::{Context, Error, Result};
use crate::thrift::{Reader, Wire, required, write_struct};

/// `OffsetIndex` of `parquet.thrift`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OffsetIndex {
    pages: Vec<PageLocation>,
    unencoded_byte_array_data_bytes: Option<Vec<i64>>,
}

/// `PageLocation` of `parquet.thrift`: a data page. A dictionary page has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct PageLocation {
    /// Offset in the file of its header.
    pub offset: u64,
    /// Bytes of the page, its header included. (Some writers leave the header out.)
    pub compressed_size: u32,
    /// The row within the row group that it begins with.
    pub first_row: u64,
}

impl OffsetIndex {
    /// The index of these pages, for a writer.
    pub fn new(pages: Vec<PageLocation>) -> Self {
        OffsetIndex { pages, unencoded_byte_array_data_bytes: None }
    }

    /// It, with the bytes of each page's BYTE_ARRAY values, without their lengths.
    pub(crate) fn with_unencoded_byte_array_data_bytes(mut self, bytes: Vec<i64>) -> Self {
        self.unencoded_byte_array_data_bytes = Some(bytes);
        self
    }

    /// It, of pages that lie `distance` bytes further on.
    pub(crate) fn moved(mut self, distance: impl Fn(u64) -> u64) -> Self {
        self.pages.iter_mut().for_each(|page| page.offset = distance(page.offset));
        self
    }

    /// Parses the Thrift bytes, which lie at
    /// [`offset_index_range`](super::ColumnChunkMetadata::offset_index_range).
    ///
    /// # Errors
    /// When they are not an offset index; the first page does not begin with row 0, rows fall from a page to the
    /// next, or pages overlap. (Rows may stand still: there are empty pages.) Then read the chunk without it.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(bytes);
        match read(&mut reader).and_then(OffsetIndex::check) {
            Ok(index) => Ok(index),
            Err(error) => Err(error.at_offset(reader.position() as u64)),
        }
    }

    /// The data pages, in file order.
    pub fn pages(&self) -> &[PageLocation] {
        &self.pages
    }

    /// Bytes of the values of each page of a BYTE_ARRAY column, without their lengths; as the file says.
    pub fn unencoded_byte_array_data_bytes(&self) -> Option<&[i64]> {
        self.unencoded_byte_array_data_bytes.as_deref()
    }

    /// Appends the Thrift bytes to `out`.
    pub fn write(&self, out: &mut Vec<u8>) {
        write_struct(out, |s| {
            s.structs(1, self.pages.iter(), |s, page| {
                s.i64(1, page.offset.cast_signed());
                s.i32(2, page.compressed_size.cast_signed());
                s.i64(3, page.first_row.cast_signed());
            });
            if let Some(bytes) = &self.unencoded_byte_array_data_bytes {
                s.i64s(2, bytes.iter().copied());
            }
        });
    }

    fn check(self) -> Result<Self> {
        if let Some(first) = self.pages.first().filter(|first| first.first_row != 0) {
            return Err(Error::malformed(format!("the first page begins with row {}", first.first_row)));
        }
        for (index, (page, next)) in self.pages.iter().zip(self.pages.iter().skip(1)).enumerate() {
            // Both are below 2^63, and the size below 2^31.
            let end = page.offset + u64::from(page.compressed_size).max(1);
            if next.first_row < page.first_row || next.offset < end {
                let next = index + 1;
                return Err(Error::malformed(format!("page {next} begins before page {index} ends")));
            }
        }
        Ok(self)
    }
}

fn read(reader: &mut Reader<'_>) -> Result<OffsetIndex> {
    let (mut pages, mut unencoded) = (None, None);
    reader.structure(|r, field| {
        match field.id {
            1 => {
                let Some(len) = r.list(field, Wire::Struct)? else { return Ok(()) };
                pages = Some((0..len).map(|_| read_location(r)).collect::<Result<Vec<_>>>()?);
            }
            2 => unencoded = read_i64s(r, field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    let pages = required(pages, "OffsetIndex.page_locations")?;
    let unencoded_byte_array_data_bytes = unencoded.filter(|bytes| bytes.len() == pages.len());
    Ok(OffsetIndex { pages, unencoded_byte_array_data_bytes })
}

fn read_location(reader: &mut Reader<'_>) -> Result<PageLocation> {
    let (mut offset, mut size, mut row) = (None, None, None);
    reader.structure(|r, field| {
        match field.id {
            1 => offset = r.i64(field)?,
            2 => size = r.i32(field)?,
            3 => row = r.i64(field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    let offset = required(offset, "PageLocation.offset")?;
    let size = required(size, "PageLocation.compressed_page_size")?;
    let row = required(row, "PageLocation.first_row_index")?;
    match (u64::try_from(offset), u32::try_from(size), u64::try_from(row)) {
        (Ok(offset), Ok(compressed_size), Ok(first_row)) => {
            Ok(PageLocation { offset, compressed_size, first_row })
        }
        _ => Err(Error::malformed(format!("a page of {size} bytes at {offset} that begins with row {row}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(pages: &[(u64, u32, u64)]) -> OffsetIndex {
        let locations = pages.iter();
        OffsetIndex::new(
            locations
                .map(|&(offset, compressed_size, first_row)| PageLocation {
                    offset,
                    compressed_size,
                    first_row,
                })
                .collect(),
        )
    }

    fn parse(index: &OffsetIndex) -> Result<OffsetIndex> {
        let mut out = Vec::new();
        index.write(&mut out);
        OffsetIndex::parse(&out)
    }

    #[test]
    fn reads_what_it_writes() {
        let mut pages = index(&[(4, 10, 0), (14, 20, 5), (40, 1, 5), (41, 3, 9)]);
        pages.unencoded_byte_array_data_bytes = Some(vec![1, 2, 3, 4]);
        assert_eq!(parse(&pages).unwrap(), pages);
        assert_eq!(parse(&index(&[])).unwrap().pages(), []);
    }

    #[test]
    fn refuses_pages_out_of_order() {
        for pages in [
            &[(4, 10, 1)][..],
            &[(4, 10, 0), (13, 1, 5)],
            &[(4, 0, 0), (4, 0, 5)],
            &[(4, 1, 0), (5, 1, 5), (6, 1, 4)],
            &[(1 << 63, 1, 0)],
            &[(4, 1 << 31, 0)],
            &[(4, 1, 1 << 63)],
        ] {
            assert!(parse(&index(pages)).is_err(), "{pages:?}");
        }
    }

    #[test]
    fn every_truncation_is_an_error() {
        let mut out = Vec::new();
        index(&[(4, 10, 0), (14, 20, 5)]).write(&mut out);
        for len in 0..out.len() {
            assert!(OffsetIndex::parse(&out[..len]).is_err());
        }
    }

    #[test]
    fn sizes_of_values_of_another_number_of_pages_are_left_out() {
        let mut pages = index(&[(4, 10, 0)]);
        pages.unencoded_byte_array_data_bytes = Some(vec![1, 2]);
        assert_eq!(parse(&pages).unwrap().unencoded_byte_array_data_bytes(), None);
    }
}
