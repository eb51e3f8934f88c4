//! Page headers: Thrift bytes in, a header whose counts and sizes are usable out.
//!
//! It checks what a header says against itself. What it says against the bytes that follow, the page reader checks.

use super::statistics::EncodedStatistics;
use super::{Encoding, PageType};
use crate::error::{Context, Error, Result};
use crate::thrift::{Field, Reader, StructWriter, required, write_struct};

/// `PageHeader` of `parquet.thrift`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct PageHeader {
    /// Bytes of the page once decompressed, without this header (V2: with the levels, which are not compressed).
    pub uncompressed_size: usize,
    /// Bytes of the page in the file, without this header.
    pub compressed_size: usize,
    /// CRC-32 of the page's bytes as they are in the file, without this header.
    pub crc: Option<u32>,
    /// What kind of page it is.
    pub kind: PageKind,
}

/// What kind of page it is, and what its header says of that.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PageKind {
    /// `DATA_PAGE`.
    Data(DataPageHeader),
    /// `DATA_PAGE_V2`.
    DataV2(DataPageHeaderV2),
    /// `DICTIONARY_PAGE`.
    Dictionary(DictionaryPageHeader),
    /// `INDEX_PAGE`, or a type that this crate does not know: to be skipped.
    Other(PageType),
}

/// `DataPageHeader` of `parquet.thrift`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DataPageHeader {
    /// Values in the page, nulls included.
    pub num_values: usize,
    /// Encoding of the values.
    pub encoding: Encoding,
    /// Encoding of the definition levels.
    pub definition_level_encoding: Encoding,
    /// Encoding of the repetition levels.
    pub repetition_level_encoding: Encoding,
    /// As [`PageHeader::parse_with_statistics`] finds them; [`PageHeader::parse`] leaves them out.
    pub statistics: Option<Box<EncodedStatistics>>,
}

/// `DataPageHeaderV2` of `parquet.thrift`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DataPageHeaderV2 {
    /// Values in the page, nulls included.
    pub num_values: usize,
    /// Nulls among them; never more than `num_values`.
    pub num_nulls: usize,
    /// Rows in the page. As the file says; nothing checks it.
    pub num_rows: usize,
    /// Encoding of the values.
    pub encoding: Encoding,
    /// Bytes of the definition levels. With the repetition levels, never more than the compressed size.
    pub definition_levels_byte_length: usize,
    /// Bytes of the repetition levels, which come first.
    pub repetition_levels_byte_length: usize,
    /// Whether the values (never the levels) are compressed by the chunk's codec.
    pub is_compressed: bool,
    /// As [`PageHeader::parse_with_statistics`] finds them; [`PageHeader::parse`] leaves them out.
    pub statistics: Option<Box<EncodedStatistics>>,
}

/// `DictionaryPageHeader` of `parquet.thrift`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DictionaryPageHeader {
    /// Values in the dictionary.
    pub num_values: usize,
    /// PLAIN, or PLAIN_DICTIONARY, which means the same here.
    pub encoding: Encoding,
    /// Whether the file claims that the values rise.
    pub is_sorted: bool,
}

impl PageHeader {
    /// Parses the header at the start of `bytes`; gives it and how many bytes it takes. Statistics are left out, and
    /// nothing is allocated.
    ///
    /// # Errors
    /// [`EndOfData`](crate::ErrorKind::EndOfData) when `bytes` end before the header does: with more of the column
    /// chunk it may parse. Anything else is wrong for good: a required field that is missing, a negative size or
    /// count, level lengths that the page cannot hold, more nulls than values.
    pub fn parse(bytes: &[u8]) -> Result<(Self, usize)> {
        parse(bytes, false)
    }

    /// [`PageHeader::parse`], with the page's statistics.
    ///
    /// # Errors
    /// As [`PageHeader::parse`].
    pub fn parse_with_statistics(bytes: &[u8]) -> Result<(Self, usize)> {
        parse(bytes, true)
    }

    /// Appends the header's Thrift bytes to `out`.
    ///
    /// # Errors
    /// When a size or count is more than 2^31-1, which the format cannot say.
    pub fn write(&self, out: &mut Vec<u8>) -> Result<()> {
        let (uncompressed, compressed) = (int(self.uncompressed_size)?, int(self.compressed_size)?);
        let (id, numbers) = match &self.kind {
            PageKind::Data(h) => (5, [int(h.num_values)?, 0, 0, 0, 0]),
            PageKind::Dictionary(h) => (7, [int(h.num_values)?, 0, 0, 0, 0]),
            PageKind::DataV2(h) => {
                let lengths = [h.definition_levels_byte_length, h.repetition_levels_byte_length].map(int);
                let [definition, repetition] = lengths;
                (8, [int(h.num_values)?, int(h.num_nulls)?, int(h.num_rows)?, definition?, repetition?])
            }
            PageKind::Other(_) => (6, [0; 5]),
        };
        write_struct(out, |s| {
            s.i32(1, self.page_type().number());
            s.i32(2, uncompressed);
            s.i32(3, compressed);
            if let Some(crc) = self.crc {
                s.i32(4, crc.cast_signed());
            }
            s.structure(id, |s| self.kind.write(s, numbers));
        });
        Ok(())
    }

    /// The page's type.
    pub fn page_type(&self) -> PageType {
        match self.kind {
            PageKind::Data(_) => PageType::DataPage,
            PageKind::DataV2(_) => PageType::DataPageV2,
            PageKind::Dictionary(_) => PageType::DictionaryPage,
            PageKind::Other(page_type) => page_type,
        }
    }

    /// Values in the page, nulls included; 0 for a page that is to be skipped.
    pub fn num_values(&self) -> usize {
        match &self.kind {
            PageKind::Data(h) => h.num_values,
            PageKind::DataV2(h) => h.num_values,
            PageKind::Dictionary(h) => h.num_values,
            PageKind::Other(_) => 0,
        }
    }

    /// The statistics of a data page, where they were asked for and are there.
    pub fn statistics(&self) -> Option<&EncodedStatistics> {
        match &self.kind {
            PageKind::Data(h) => h.statistics.as_deref(),
            PageKind::DataV2(h) => h.statistics.as_deref(),
            _ => None,
        }
    }
}

impl PageKind {
    /// `numbers`: the counts and lengths of the header in the order of their ids.
    fn write(&self, s: &mut StructWriter<'_>, numbers: [i32; 5]) {
        let [num_values, num_nulls, num_rows, definition, repetition] = numbers;
        match self {
            PageKind::Data(h) => {
                s.i32(1, num_values);
                s.i32(2, h.encoding.number());
                s.i32(3, h.definition_level_encoding.number());
                s.i32(4, h.repetition_level_encoding.number());
                write_statistics(s, 5, h.statistics.as_deref());
            }
            PageKind::Dictionary(h) => {
                s.i32(1, num_values);
                s.i32(2, h.encoding.number());
                s.bool(3, h.is_sorted);
            }
            PageKind::DataV2(h) => {
                s.i32(1, num_values);
                s.i32(2, num_nulls);
                s.i32(3, num_rows);
                s.i32(4, h.encoding.number());
                s.i32(5, definition);
                s.i32(6, repetition);
                s.bool(7, h.is_compressed);
                write_statistics(s, 8, h.statistics.as_deref());
            }
            PageKind::Other(_) => {}
        }
    }
}

impl DataPageHeader {
    /// A page of `num_values` values in `encoding`, levels in RLE, no statistics.
    pub fn new(num_values: usize, encoding: Encoding) -> Self {
        let level = Encoding::Rle;
        DataPageHeader {
            num_values,
            encoding,
            definition_level_encoding: level,
            repetition_level_encoding: level,
            statistics: None,
        }
    }
}

impl DataPageHeaderV2 {
    /// A page of `num_values` values in `encoding`, `num_nulls` of them null, in `num_rows` rows: compressed where the
    /// chunk's codec does so, levels of 0 bytes, no statistics.
    pub fn new(num_values: usize, num_nulls: usize, num_rows: usize, encoding: Encoding) -> Self {
        DataPageHeaderV2 {
            num_values,
            num_nulls,
            num_rows,
            encoding,
            definition_levels_byte_length: 0,
            repetition_levels_byte_length: 0,
            is_compressed: true,
            statistics: None,
        }
    }
}

impl DictionaryPageHeader {
    /// A dictionary of `num_values` values, PLAIN, in no order.
    pub fn new(num_values: usize) -> Self {
        DictionaryPageHeader { num_values, encoding: Encoding::Plain, is_sorted: false }
    }
}

impl PageHeader {
    /// A header of a page of these sizes, without a CRC.
    pub fn new(kind: PageKind, uncompressed_size: usize, compressed_size: usize) -> Self {
        PageHeader { uncompressed_size, compressed_size, crc: None, kind }
    }
}

fn parse(bytes: &[u8], with_statistics: bool) -> Result<(PageHeader, usize)> {
    let mut reader = Reader::new(bytes);
    match read(&mut reader, with_statistics) {
        Ok(header) => Ok((header, reader.position())),
        Err(error) => Err(error.at_offset(reader.position() as u64)),
    }
}

fn read(reader: &mut Reader<'_>, with_statistics: bool) -> Result<PageHeader> {
    let (mut page_type, mut uncompressed, mut compressed, mut crc) = (None, None, None, None);
    let (mut data, mut dictionary, mut data_v2) = (None, None, None);
    reader.structure(|r, field| {
        match field.id {
            1 => page_type = r.i32(field)?,
            2 => uncompressed = r.i32(field)?,
            3 => compressed = r.i32(field)?,
            4 => crc = r.i32(field)?,
            5 => data = read_data(r, field, with_statistics)?,
            7 => dictionary = read_dictionary(r, field)?,
            8 => data_v2 = read_data_v2(r, field, with_statistics)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    let compressed_size = size(compressed, "PageHeader.compressed_page_size")?;
    let kind = match PageType::from_number(required(page_type, "PageHeader.type")?) {
        PageType::DataPage => PageKind::Data(required(data, "PageHeader.data_page_header")?.check()?),
        PageType::DictionaryPage => {
            PageKind::Dictionary(required(dictionary, "PageHeader.dictionary_page_header")?.check()?)
        }
        PageType::DataPageV2 => {
            let header = required(data_v2, "PageHeader.data_page_header_v2")?;
            PageKind::DataV2(header.check(compressed_size)?)
        }
        other => PageKind::Other(other),
    };
    Ok(PageHeader {
        uncompressed_size: size(uncompressed, "PageHeader.uncompressed_page_size")?,
        compressed_size,
        crc: crc.map(i32::cast_unsigned),
        kind,
    })
}

/// The fields as they come; only the header that the page's type names is then checked.
#[derive(Default)]
struct RawData {
    num_values: Option<i32>,
    encoding: Option<i32>,
    definition_level_encoding: Option<i32>,
    repetition_level_encoding: Option<i32>,
    statistics: Option<Box<EncodedStatistics>>,
}

#[derive(Default)]
struct RawDictionary {
    num_values: Option<i32>,
    encoding: Option<i32>,
    is_sorted: Option<bool>,
}

#[derive(Default)]
struct RawDataV2 {
    num_values: Option<i32>,
    num_nulls: Option<i32>,
    num_rows: Option<i32>,
    encoding: Option<i32>,
    definition_levels: Option<i32>,
    repetition_levels: Option<i32>,
    is_compressed: Option<bool>,
    statistics: Option<Box<EncodedStatistics>>,
}

fn read_data(reader: &mut Reader<'_>, field: Field, with_statistics: bool) -> Result<Option<RawData>> {
    let mut raw = RawData::default();
    let found = reader.struct_field(field, |r, field| {
        match field.id {
            1 => raw.num_values = r.i32(field)?,
            2 => raw.encoding = r.i32(field)?,
            3 => raw.definition_level_encoding = r.i32(field)?,
            4 => raw.repetition_level_encoding = r.i32(field)?,
            5 if with_statistics => raw.statistics = EncodedStatistics::read(r, field)?.map(Box::new),
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(found.then_some(raw))
}

fn read_dictionary(reader: &mut Reader<'_>, field: Field) -> Result<Option<RawDictionary>> {
    let mut raw = RawDictionary::default();
    let found = reader.struct_field(field, |r, field| {
        match field.id {
            1 => raw.num_values = r.i32(field)?,
            2 => raw.encoding = r.i32(field)?,
            3 => raw.is_sorted = r.bool(field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(found.then_some(raw))
}

fn read_data_v2(reader: &mut Reader<'_>, field: Field, with_statistics: bool) -> Result<Option<RawDataV2>> {
    let mut raw = RawDataV2::default();
    let found = reader.struct_field(field, |r, field| {
        match field.id {
            1 => raw.num_values = r.i32(field)?,
            2 => raw.num_nulls = r.i32(field)?,
            3 => raw.num_rows = r.i32(field)?,
            4 => raw.encoding = r.i32(field)?,
            5 => raw.definition_levels = r.i32(field)?,
            6 => raw.repetition_levels = r.i32(field)?,
            7 => raw.is_compressed = r.bool(field)?,
            8 if with_statistics => raw.statistics = EncodedStatistics::read(r, field)?.map(Box::new),
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(found.then_some(raw))
}

impl RawData {
    fn check(self) -> Result<DataPageHeader> {
        let encoding = |value, name| required(value, name).map(Encoding::from_number);
        Ok(DataPageHeader {
            num_values: size(self.num_values, "DataPageHeader.num_values")?,
            encoding: encoding(self.encoding, "DataPageHeader.encoding")?,
            definition_level_encoding: encoding(
                self.definition_level_encoding,
                "DataPageHeader.definition_level_encoding",
            )?,
            repetition_level_encoding: encoding(
                self.repetition_level_encoding,
                "DataPageHeader.repetition_level_encoding",
            )?,
            statistics: self.statistics,
        })
    }
}

impl RawDictionary {
    fn check(self) -> Result<DictionaryPageHeader> {
        Ok(DictionaryPageHeader {
            num_values: size(self.num_values, "DictionaryPageHeader.num_values")?,
            encoding: Encoding::from_number(required(self.encoding, "DictionaryPageHeader.encoding")?),
            is_sorted: self.is_sorted.unwrap_or(false),
        })
    }
}

impl RawDataV2 {
    fn check(self, compressed_size: usize) -> Result<DataPageHeaderV2> {
        let header = DataPageHeaderV2 {
            num_values: size(self.num_values, "DataPageHeaderV2.num_values")?,
            num_nulls: size(self.num_nulls, "DataPageHeaderV2.num_nulls")?,
            num_rows: size(self.num_rows, "DataPageHeaderV2.num_rows")?,
            encoding: Encoding::from_number(required(self.encoding, "DataPageHeaderV2.encoding")?),
            definition_levels_byte_length: size(
                self.definition_levels,
                "DataPageHeaderV2.definition_levels_byte_length",
            )?,
            repetition_levels_byte_length: size(
                self.repetition_levels,
                "DataPageHeaderV2.repetition_levels_byte_length",
            )?,
            is_compressed: self.is_compressed.unwrap_or(true),
            statistics: self.statistics,
        };
        let (nulls, values) = (header.num_nulls, header.num_values);
        if nulls > values {
            return Err(Error::malformed(format!("{nulls} nulls in a page of {values} values")));
        }
        // Both are below 2^31.
        let levels = header.definition_levels_byte_length + header.repetition_levels_byte_length;
        if levels > compressed_size {
            return Err(Error::malformed(format!(
                "{levels} bytes of levels in a page of {compressed_size} bytes"
            )));
        }
        Ok(header)
    }
}

fn write_statistics(s: &mut StructWriter<'_>, id: i16, statistics: Option<&EncodedStatistics>) {
    if let Some(statistics) = statistics {
        s.structure(id, |s| statistics.write(s));
    }
}

/// A size or count that the format requires and that cannot be negative.
fn size(value: Option<i32>, name: &'static str) -> Result<usize> {
    let value = required(value, name)?;
    usize::try_from(value).map_err(|_| Error::malformed(format!("{name} is {value}")))
}

fn int(value: usize) -> Result<i32> {
    i32::try_from(value)
        .map_err(|_| Error::invalid(format!("a page of {value} bytes or values: 2^31-1 at most")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    fn data(num_values: usize) -> PageHeader {
        PageHeader::new(PageKind::Data(DataPageHeader::new(num_values, Encoding::RleDictionary)), 100, 50)
    }

    fn v2() -> DataPageHeaderV2 {
        DataPageHeaderV2 {
            num_values: 9,
            num_nulls: 3,
            num_rows: 5,
            encoding: Encoding::DeltaBinaryPacked,
            definition_levels_byte_length: 20,
            repetition_levels_byte_length: 30,
            is_compressed: false,
            statistics: None,
        }
    }

    fn bytes(header: &PageHeader) -> Vec<u8> {
        let mut out = Vec::new();
        header.write(&mut out).unwrap();
        out
    }

    fn every_kind() -> Vec<PageHeader> {
        let mut headers = vec![
            data(7),
            PageHeader::new(PageKind::DataV2(v2()), 60, 50),
            PageHeader::new(PageKind::Dictionary(DictionaryPageHeader::new(4)), 16, 16),
            PageHeader::new(PageKind::Other(PageType::IndexPage), 3, 3),
            PageHeader::new(PageKind::Other(PageType::Unknown(77)), 3, 3),
        ];
        headers[0].crc = Some(0xdead_beef);
        headers
    }

    #[test]
    fn reads_what_it_writes() {
        for header in every_kind() {
            let mut out = bytes(&header);
            let len = out.len();
            out.extend([0xff; 5]);
            assert_eq!(PageHeader::parse(&out).unwrap(), (header, len));
        }
    }

    #[test]
    fn a_cut_header_is_the_end_of_data() {
        for header in every_kind() {
            let out = bytes(&header);
            for len in 0..out.len() {
                let error = PageHeader::parse(&out[..len]).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::EndOfData { .. }), "{error}");
            }
        }
    }

    #[test]
    fn statistics_come_when_asked_for() {
        let mut header = data(1);
        let PageKind::Data(inner) = &mut header.kind else { panic!() };
        inner.statistics =
            Some(Box::new(EncodedStatistics { min_value: Some(b"a".to_vec()), ..Default::default() }));
        let out = bytes(&header);
        let (with, len) = PageHeader::parse_with_statistics(&out).unwrap();
        assert_eq!((&with, len), (&header, out.len()));
        assert_eq!(PageHeader::parse(&out).unwrap(), (data(1), out.len()));
    }

    #[test]
    fn refuses_negative_and_impossible_numbers() {
        let negative = |id: i16| {
            let mut out = Vec::new();
            write_struct(&mut out, |s| {
                s.i32(1, 0);
                s.i32(2, if id == 2 { -1 } else { 1 });
                s.i32(3, if id == 3 { -1 } else { 1 });
                s.structure(5, |s| {
                    s.i32(1, if id == 5 { i32::MIN } else { 1 });
                    s.i32(2, 0);
                    s.i32(3, 3);
                    s.i32(4, 3);
                });
            });
            PageHeader::parse(&out)
        };
        assert!(negative(0).is_ok());
        for id in [2, 3, 5] {
            assert!(matches!(negative(id).unwrap_err().kind(), ErrorKind::Malformed(_)));
        }
        let too_many = DataPageHeaderV2 { num_nulls: 10, ..v2() };
        let too_long = DataPageHeaderV2 { definition_levels_byte_length: 21, ..v2() };
        for kind in [too_many, too_long].map(PageKind::DataV2) {
            let out = bytes(&PageHeader::new(kind, 60, 50));
            assert!(matches!(PageHeader::parse(&out).unwrap_err().kind(), ErrorKind::Malformed(_)));
        }
        assert!(data(1 << 31).write(&mut Vec::new()).is_err());
    }

    #[test]
    fn the_type_decides_which_header_counts() {
        let mut out = Vec::new();
        write_struct(&mut out, |s| {
            s.i32(1, PageType::DictionaryPage.number());
            s.i32(2, 8);
            s.i32(3, 8);
            s.structure(5, |s| s.i32(1, -5));
            s.i32(6, 1);
            s.structure(7, |s| {
                s.i32(1, 2);
                s.i32(2, 0);
            });
        });
        let (header, _) = PageHeader::parse(&out).unwrap();
        assert_eq!(header.kind, PageKind::Dictionary(DictionaryPageHeader::new(2)));
        let mut out = Vec::new();
        write_struct(&mut out, |s| [1, 2, 3].into_iter().for_each(|id| s.i32(id, 0)));
        assert!(PageHeader::parse(&out).unwrap_err().to_string().contains("data_page_header"));
    }
}
