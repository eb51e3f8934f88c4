//! One column chunk of one row group: what it holds and where its bytes lie.
//!
//! Decoded on demand from the footer. It says where things lie; it reads none of them.

use std::ops::Range;

use super::geospatial::GeospatialStatistics;
use super::key_value::{read_key_values, write_key_values};
use super::statistics::EncodedStatistics;
use super::{ColumnOrder, Compression, Encoding, KeyValue, PageType, PhysicalType, SchemaNode, Statistics};
use crate::error::{Error, ErrorKind, Result};
use crate::thrift::{Field, Reader, StructWriter, Wire, required};

/// `ColumnChunk` and `ColumnMetaData` of `parquet.thrift`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ColumnChunkMetadata {
    /// How values are stored; the same as the schema says of this column.
    pub physical: PhysicalType,
    /// Every encoding used, of values and levels. As the file says; pages decide.
    pub encodings: Vec<Encoding>,
    /// Codec of the pages.
    pub compression: Compression,
    /// Values, nulls and empty lists included: how many levels there are.
    pub num_values: u64,
    /// Bytes of all pages once decompressed, with their headers. As the file says (0 where it says less).
    pub total_uncompressed_size: u64,
    /// Bytes of all pages, with their headers.
    pub total_compressed_size: u64,
    /// Key-value metadata of this chunk.
    pub key_value_metadata: Vec<KeyValue>,
    /// Statistics as they are in the file.
    pub statistics: Option<EncodedStatistics>,
    /// How many pages of which type there are in which encoding.
    pub encoding_stats: Option<Vec<PageEncodingStats>>,
    /// What a reader needs to know to guess how much memory the values take.
    pub size_statistics: Option<SizeStatistics>,
    /// Bounding box and kinds of shapes of a GEOMETRY or GEOGRAPHY column.
    pub geospatial_statistics: Option<GeospatialStatistics>,
    /// The file that holds the data, relative to this one. Almost always `None`: this file.
    pub file_path: Option<String>,
    /// Whether the chunk is encrypted.
    pub is_encrypted: bool,
    /// The order of the bounds in `statistics` and in the column index.
    pub column_order: ColumnOrder,
    pub(crate) offsets: ChunkOffsets,
}

/// Where the parts of a chunk lie, as the file says; the ranges are checked when asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ChunkOffsets {
    pub(crate) data_page: i64,
    pub(crate) dictionary_page: Option<i64>,
    pub(crate) index_page: Option<i64>,
    pub(crate) bloom_filter: Option<i64>,
    pub(crate) bloom_filter_length: Option<i32>,
    pub(crate) offset_index: Option<i64>,
    pub(crate) offset_index_length: Option<i32>,
    pub(crate) column_index: Option<i64>,
    pub(crate) column_index_length: Option<i32>,
}

/// `PageEncodingStats` of `parquet.thrift`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct PageEncodingStats {
    /// Which pages.
    pub page_type: PageType,
    /// Encoding of their values.
    pub encoding: Encoding,
    /// How many of them.
    pub count: i32,
}

/// `SizeStatistics` of `parquet.thrift`, as they are in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SizeStatistics {
    /// Bytes of all BYTE_ARRAY values, without their lengths.
    pub unencoded_byte_array_data_bytes: Option<i64>,
    /// How often each repetition level occurs.
    pub repetition_level_histogram: Option<Vec<i64>>,
    /// How often each definition level occurs.
    pub definition_level_histogram: Option<Vec<i64>>,
}

impl ColumnChunkMetadata {
    /// A chunk without values, for a writer to fill in.
    pub fn new(physical: PhysicalType, compression: Compression) -> Self {
        ColumnChunkMetadata {
            physical,
            encodings: Vec::new(),
            compression,
            num_values: 0,
            total_uncompressed_size: 0,
            total_compressed_size: 0,
            key_value_metadata: Vec::new(),
            statistics: None,
            encoding_stats: None,
            size_statistics: None,
            geospatial_statistics: None,
            file_path: None,
            is_encrypted: false,
            column_order: ColumnOrder::Undefined,
            offsets: ChunkOffsets::default(),
        }
    }

    /// Sets where the pages lie in the file: the dictionary page, where there is one, the first data page, and the
    /// end of the last page. Sets `total_compressed_size`.
    ///
    /// # Errors
    /// When they are not in that order, or past 2^63-1.
    pub fn set_pages(&mut self, dictionary: Option<u64>, data: u64, end: u64) -> Result<()> {
        let start = dictionary.unwrap_or(data);
        if start > data || data > end {
            return Err(Error::invalid(format!("pages at {start}, {data}, to {end}: not in that order")));
        }
        self.offsets.dictionary_page = dictionary.map(offset).transpose()?;
        self.offsets.data_page = offset(data)?;
        self.total_compressed_size = offset(end)?.unsigned_abs() - start;
        Ok(())
    }

    /// Sets where the column index lies.
    ///
    /// # Errors
    /// When it is more than 2^31-1 bytes, or past 2^63-1.
    pub fn set_column_index(&mut self, range: Range<u64>) -> Result<()> {
        (self.offsets.column_index, self.offsets.column_index_length) = extent(range)?;
        Ok(())
    }

    /// Sets where the offset index lies.
    ///
    /// # Errors
    /// When it is more than 2^31-1 bytes, or past 2^63-1.
    pub fn set_offset_index(&mut self, range: Range<u64>) -> Result<()> {
        (self.offsets.offset_index, self.offsets.offset_index_length) = extent(range)?;
        Ok(())
    }

    /// Sets where the Bloom filter lies, its header included.
    ///
    /// # Errors
    /// When it is more than 2^31-1 bytes, or past 2^63-1.
    pub fn set_bloom_filter(&mut self, range: Range<u64>) -> Result<()> {
        (self.offsets.bloom_filter, self.offsets.bloom_filter_length) = extent(range)?;
        Ok(())
    }

    /// What the statistics say, as far as it can be trusted; `node` is the column's leaf of the schema. Everything
    /// is unknown where there are none.
    pub fn typed_statistics(&self, node: &SchemaNode) -> Statistics {
        let encoded = self.statistics.as_ref();
        let nothing = EncodedStatistics::default();
        encoded.unwrap_or(&nothing).decode(node, self.column_order, self.num_values)
    }

    /// Where the chunk's pages lie in the file: from its dictionary page, or else its first data page, for
    /// `total_compressed_size` bytes. A dictionary offset that is 0, or not before the data, is no offset.
    ///
    /// # Errors
    /// When the chunk is encrypted or lies in another file, or the range is not one.
    pub fn byte_range(&self) -> Result<Range<u64>> {
        self.check_readable()?;
        let data = self.offsets.data_page;
        let start = match self.dictionary_page_offset() {
            Some(dictionary) => dictionary,
            // A chunk without pages may say anything of where they are.
            None if self.total_compressed_size == 0 => data.max(0).unsigned_abs(),
            None => u64::try_from(data)
                .map_err(|_| Error::malformed(format!("ColumnMetaData.data_page_offset is {data}")))?,
        };
        let end = start.checked_add(self.total_compressed_size);
        let end = end.filter(|&end| i64::try_from(end).is_ok()).ok_or_else(|| {
            Error::malformed(format!("{} bytes of pages at {start}", self.total_compressed_size))
        })?;
        Ok(start..end)
    }

    /// Whether the chunk can be read at all.
    ///
    /// # Errors
    /// When it is encrypted or lies in another file.
    pub fn check_readable(&self) -> Result<()> {
        if self.is_encrypted {
            return Err(ErrorKind::Encrypted("this column chunk".into()).into());
        }
        match &self.file_path {
            Some(path) => Err(Error::unsupported(format!("a column chunk in another file, {path:?}"))),
            None => Ok(()),
        }
    }

    /// Offset in the file of the first data page, as the file says.
    pub fn data_page_offset(&self) -> i64 {
        self.offsets.data_page
    }

    /// Offset in the file of the dictionary page. `None` does not mean that there is none: some writers leave it out
    /// (or write 0), and the chunk then begins with the dictionary page.
    pub fn dictionary_page_offset(&self) -> Option<u64> {
        let offset = self.offsets.dictionary_page.filter(|&offset| offset > 0)?;
        (offset < self.offsets.data_page).then_some(offset.unsigned_abs())
    }

    /// Offset in the file of the index page, a thing that never came to be.
    pub fn index_page_offset(&self) -> Option<i64> {
        self.offsets.index_page
    }

    /// Where the chunk's column index lies, if there is one (PageIndex.md).
    ///
    /// # Errors
    /// When the range is not one.
    pub fn column_index_range(&self) -> Result<Option<Range<u64>>> {
        range("column index", self.offsets.column_index, self.offsets.column_index_length)
    }

    /// Where the chunk's offset index lies, if there is one (PageIndex.md).
    ///
    /// # Errors
    /// When the range is not one.
    pub fn offset_index_range(&self) -> Result<Option<Range<u64>>> {
        range("offset index", self.offsets.offset_index, self.offsets.offset_index_length)
    }

    /// Where the chunk's Bloom filter begins, if there is one, and how long it is with its header, if the file says
    /// so (BloomFilter.md).
    ///
    /// # Errors
    /// When the offset is negative.
    pub fn bloom_filter_position(&self) -> Result<Option<(u64, Option<u64>)>> {
        let Some(offset) = self.offsets.bloom_filter.filter(|&offset| offset != 0) else {
            return Ok(None);
        };
        let length = self.offsets.bloom_filter_length.filter(|&length| length > 0);
        match u64::try_from(offset) {
            Ok(offset) => Ok(Some((offset, length.map(|length| u64::from(length.unsigned_abs()))))),
            Err(_) => Err(Error::malformed(format!("a Bloom filter at {offset}"))),
        }
    }

    /// Decodes the `ColumnChunk` at `position` of the footer.
    pub(super) fn decode(footer: &[u8], position: usize, column_order: ColumnOrder) -> Result<Self> {
        let mut reader = Reader::at(footer, position);
        let mut raw = RawChunk::default();
        reader.structure(|r, field| {
            match field.id {
                1 => raw.file_path = r.string(field)?,
                3 => raw.metadata = read_metadata(r, field, &mut raw.offsets)?,
                4 => raw.offsets.offset_index = r.i64(field)?,
                5 => raw.offsets.offset_index_length = r.i32(field)?,
                6 => raw.offsets.column_index = r.i64(field)?,
                7 => raw.offsets.column_index_length = r.i32(field)?,
                8 | 9 => {
                    raw.is_encrypted = true;
                    r.skip(field)?;
                }
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        raw.check(column_order)
    }

    /// Writes the `ColumnChunk`; `path` is the column's path in the schema.
    pub(super) fn write(&self, s: &mut StructWriter<'_>, path: &[&str]) {
        let at = &self.offsets;
        self.file_path.iter().for_each(|path| s.binary(1, path.as_bytes()));
        s.i64(2, 0);
        s.structure(3, |s| self.write_metadata(s, path));
        at.offset_index.iter().for_each(|&offset| s.i64(4, offset));
        at.offset_index_length.iter().for_each(|&length| s.i32(5, length));
        at.column_index.iter().for_each(|&offset| s.i64(6, offset));
        at.column_index_length.iter().for_each(|&length| s.i32(7, length));
    }

    fn write_metadata(&self, s: &mut StructWriter<'_>, path: &[&str]) {
        let at = &self.offsets;
        s.i32(1, self.physical.number());
        s.i32s(2, self.encodings.iter().map(|encoding| encoding.number()));
        s.binaries(3, path.iter().map(|name| name.as_bytes()));
        s.i32(4, self.compression.number());
        s.i64(5, self.num_values.cast_signed());
        s.i64(6, self.total_uncompressed_size.cast_signed());
        s.i64(7, self.total_compressed_size.cast_signed());
        write_key_values(s, 8, &self.key_value_metadata);
        s.i64(9, at.data_page);
        at.index_page.iter().for_each(|&offset| s.i64(10, offset));
        at.dictionary_page.iter().for_each(|&offset| s.i64(11, offset));
        self.statistics.iter().for_each(|statistics| s.structure(12, |s| statistics.write(s)));
        if let Some(stats) = &self.encoding_stats {
            s.structs(13, stats.iter(), |s, stats| stats.write(s));
        }
        at.bloom_filter.iter().for_each(|&offset| s.i64(14, offset));
        at.bloom_filter_length.iter().for_each(|&length| s.i32(15, length));
        self.size_statistics.iter().for_each(|sizes| s.structure(16, |s| sizes.write(s)));
        self.geospatial_statistics.iter().for_each(|shapes| s.structure(17, |s| shapes.write(s)));
    }
}

/// `ColumnChunk` as it comes.
#[derive(Default)]
struct RawChunk {
    file_path: Option<String>,
    metadata: Option<RawMetadata>,
    offsets: ChunkOffsets,
    is_encrypted: bool,
}

/// `ColumnMetaData` as it comes; its offsets go to [`ChunkOffsets`].
#[derive(Default)]
struct RawMetadata {
    physical: Option<i32>,
    encodings: Vec<Encoding>,
    compression: Option<i32>,
    num_values: Option<i64>,
    total_uncompressed_size: Option<i64>,
    total_compressed_size: Option<i64>,
    key_value_metadata: Vec<KeyValue>,
    data_page_offset: Option<i64>,
    statistics: Option<EncodedStatistics>,
    encoding_stats: Option<Vec<PageEncodingStats>>,
    size_statistics: Option<SizeStatistics>,
    geospatial_statistics: Option<GeospatialStatistics>,
}

/// The path in the schema (field 3) is not read: a chunk belongs to the leaf of its own position.
fn read_metadata(
    reader: &mut Reader<'_>,
    field: Field,
    at: &mut ChunkOffsets,
) -> Result<Option<RawMetadata>> {
    let mut raw = RawMetadata::default();
    let found = reader.struct_field(field, |r, field| {
        match field.id {
            1 => raw.physical = r.i32(field)?,
            2 => raw.encodings = read_encodings(r, field)?,
            4 => raw.compression = r.i32(field)?,
            5 => raw.num_values = r.i64(field)?,
            6 => raw.total_uncompressed_size = r.i64(field)?,
            7 => raw.total_compressed_size = r.i64(field)?,
            8 => raw.key_value_metadata = read_key_values(r, field)?,
            9 => raw.data_page_offset = r.i64(field)?,
            10 => at.index_page = r.i64(field)?,
            11 => at.dictionary_page = r.i64(field)?,
            12 => raw.statistics = EncodedStatistics::read(r, field)?,
            13 => raw.encoding_stats = read_encoding_stats(r, field)?,
            14 => at.bloom_filter = r.i64(field)?,
            15 => at.bloom_filter_length = r.i32(field)?,
            16 => raw.size_statistics = SizeStatistics::read(r, field)?,
            17 => raw.geospatial_statistics = GeospatialStatistics::read(r, field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(found.then_some(raw))
}

impl RawChunk {
    fn check(self, column_order: ColumnOrder) -> Result<ColumnChunkMetadata> {
        let raw = match self.metadata {
            Some(raw) => raw,
            None if self.is_encrypted => {
                return Err(ErrorKind::Encrypted("the metadata of this column chunk".into()).into());
            }
            None => return Err(Error::malformed("ColumnChunk.meta_data is required and missing")),
        };
        let data_page = required(raw.data_page_offset, "ColumnMetaData.data_page_offset")?;
        Ok(ColumnChunkMetadata {
            physical: PhysicalType::from_number(required(raw.physical, "ColumnMetaData.type")?),
            encodings: raw.encodings,
            compression: Compression::from_number(required(raw.compression, "ColumnMetaData.codec")?),
            num_values: count(raw.num_values, "ColumnMetaData.num_values")?,
            total_uncompressed_size: raw.total_uncompressed_size.unwrap_or(0).max(0).unsigned_abs(),
            total_compressed_size: count(raw.total_compressed_size, "ColumnMetaData.total_compressed_size")?,
            key_value_metadata: raw.key_value_metadata,
            statistics: raw.statistics,
            encoding_stats: raw.encoding_stats,
            size_statistics: raw.size_statistics,
            geospatial_statistics: raw.geospatial_statistics,
            file_path: self.file_path.filter(|path| !path.is_empty()),
            is_encrypted: self.is_encrypted,
            column_order,
            offsets: ChunkOffsets { data_page, ..self.offsets },
        })
    }
}

fn read_encodings(r: &mut Reader<'_>, field: Field) -> Result<Vec<Encoding>> {
    let len = r.list(field, Wire::I32)?.unwrap_or(0);
    (0..len).map(|_| r.i32_value().map(Encoding::from_number)).collect()
}

fn read_encoding_stats(r: &mut Reader<'_>, field: Field) -> Result<Option<Vec<PageEncodingStats>>> {
    let Some(len) = r.list(field, Wire::Struct)? else { return Ok(None) };
    let mut all = Vec::new();
    for _ in 0..len {
        let (mut page_type, mut encoding, mut count) = (None, None, None);
        r.structure(|r, field| {
            match field.id {
                1 => page_type = r.i32(field)?,
                2 => encoding = r.i32(field)?,
                3 => count = r.i32(field)?,
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        all.push(PageEncodingStats {
            page_type: PageType::from_number(required(page_type, "PageEncodingStats.page_type")?),
            encoding: Encoding::from_number(required(encoding, "PageEncodingStats.encoding")?),
            count: required(count, "PageEncodingStats.count")?,
        });
    }
    Ok(Some(all))
}

impl PageEncodingStats {
    fn write(&self, s: &mut StructWriter<'_>) {
        s.i32(1, self.page_type.number());
        s.i32(2, self.encoding.number());
        s.i32(3, self.count);
    }
}

impl SizeStatistics {
    pub(super) fn read(reader: &mut Reader<'_>, field: Field) -> Result<Option<Self>> {
        let mut sizes = SizeStatistics::default();
        let found = reader.struct_field(field, |r, field| {
            match field.id {
                1 => sizes.unencoded_byte_array_data_bytes = r.i64(field)?,
                2 => sizes.repetition_level_histogram = read_i64s(r, field)?,
                3 => sizes.definition_level_histogram = read_i64s(r, field)?,
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        Ok(found.then_some(sizes))
    }

    fn write(&self, s: &mut StructWriter<'_>) {
        self.unencoded_byte_array_data_bytes.iter().for_each(|&bytes| s.i64(1, bytes));
        for (id, histogram) in [(2, &self.repetition_level_histogram), (3, &self.definition_level_histogram)]
        {
            histogram.iter().for_each(|counts| s.i64s(id, counts.iter().copied()));
        }
    }
}

pub(super) fn read_i64s(r: &mut Reader<'_>, field: Field) -> Result<Option<Vec<i64>>> {
    let Some(len) = r.list(field, Wire::I64)? else { return Ok(None) };
    (0..len).map(|_| r.i64_value()).collect::<Result<_>>().map(Some)
}

fn offset(value: u64) -> Result<i64> {
    i64::try_from(value).map_err(|_| Error::invalid(format!("{value} is no offset in a file")))
}

fn extent(range: Range<u64>) -> Result<(Option<i64>, Option<i32>)> {
    let length = range.end.checked_sub(range.start).and_then(|length| i32::try_from(length).ok());
    let length =
        length.ok_or_else(|| Error::invalid(format!("{range:?} is not a range of 2^31-1 bytes at most")))?;
    Ok((Some(offset(range.start)?), Some(length)))
}

fn count(value: Option<i64>, name: &'static str) -> Result<u64> {
    let value = required(value, name)?;
    u64::try_from(value).map_err(|_| Error::malformed(format!("{name} is {value}")))
}

/// An offset and a length, both of which must be there and positive to mean something.
fn range(what: &str, offset: Option<i64>, length: Option<i32>) -> Result<Option<Range<u64>>> {
    let Some((offset, length)) = offset.zip(length).filter(|&pair| pair != (0, 0)) else {
        return Ok(None);
    };
    match (u64::try_from(offset), u64::try_from(length)) {
        (Ok(start), Ok(len)) if len > 0 => Ok(Some(start..start.saturating_add(len))),
        _ => Err(Error::malformed(format!("a {what} of {length} bytes at {offset}"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::BoundingBox;
    use crate::thrift::write_struct;

    fn full() -> ColumnChunkMetadata {
        let mut chunk = ColumnChunkMetadata::new(PhysicalType::ByteArray, Compression::Lz4Raw);
        chunk.encodings = vec![Encoding::Plain, Encoding::Unknown(99)];
        chunk.num_values = 7;
        chunk.total_uncompressed_size = 100;
        chunk.key_value_metadata = vec![KeyValue { key: "a".into(), value: None }];
        chunk.statistics = Some(EncodedStatistics {
            max: Some(vec![1]),
            min: Some(vec![]),
            null_count: Some(0),
            distinct_count: Some(-1),
            max_value: Some(vec![2; 20]),
            min_value: Some(vec![3]),
            is_max_value_exact: Some(false),
            is_min_value_exact: Some(true),
            nan_count: Some(4),
        });
        chunk.encoding_stats = Some(vec![PageEncodingStats {
            page_type: PageType::DataPage,
            encoding: Encoding::Plain,
            count: 3,
        }]);
        chunk.size_statistics = Some(SizeStatistics {
            unencoded_byte_array_data_bytes: Some(55),
            repetition_level_histogram: None,
            definition_level_histogram: Some(vec![3, 4]),
        });
        let bounding_box = Some(BoundingBox { x: (-1.0, 1.0), y: (0.0, 2.5), z: None, m: Some((1.0, 2.0)) });
        chunk.geospatial_statistics = Some(GeospatialStatistics { bounding_box, geospatial_types: vec![1] });
        chunk.set_pages(Some(4), 20, 300).unwrap();
        chunk.set_bloom_filter(400..500).unwrap();
        chunk.set_column_index(500..510).unwrap();
        chunk.set_offset_index(510..520).unwrap();
        chunk
    }

    fn decode(fields: impl FnOnce(&mut StructWriter<'_>)) -> Result<ColumnChunkMetadata> {
        let mut bytes = Vec::new();
        write_struct(&mut bytes, fields);
        ColumnChunkMetadata::decode(&bytes, 0, ColumnOrder::Undefined)
    }

    /// A chunk whose offsets and size are these.
    fn at(dictionary: Option<i64>, data: i64, size: i64) -> Result<Range<u64>> {
        let mut chunk = full();
        chunk.offsets.dictionary_page = dictionary;
        chunk.offsets.data_page = data;
        chunk.total_compressed_size = size.cast_unsigned();
        decode(|s| chunk.write(s, &["a"]))?.byte_range()
    }

    #[test]
    fn reads_what_it_writes() {
        let chunk = full();
        assert_eq!(decode(|s| chunk.write(s, &["a", "b"])).unwrap(), chunk);
        assert_eq!(chunk.byte_range().unwrap(), 4..300);
        assert_eq!(chunk.bloom_filter_position().unwrap(), Some((400, Some(100))));
        assert_eq!(chunk.column_index_range().unwrap(), Some(500..510));
        assert_eq!(chunk.offset_index_range().unwrap(), Some(510..520));
    }

    #[test]
    fn begins_with_the_dictionary_page_where_there_is_one() {
        assert_eq!(at(Some(4), 20, 100).unwrap(), 4..104);
        assert_eq!(at(None, 20, 100).unwrap(), 20..120);
        assert_eq!(at(Some(0), 20, 100).unwrap(), 20..120);
        assert_eq!(at(Some(-5), 20, 100).unwrap(), 20..120);
        assert_eq!(at(Some(20), 20, 100).unwrap(), 20..120);
        assert_eq!(at(Some(50), 20, 100).unwrap(), 20..120);
    }

    #[test]
    fn refuses_ranges_that_are_none() {
        assert!(at(None, -1, 100).is_err());
        assert_eq!(at(None, -1, 0).unwrap(), 0..0);
        assert!(at(None, 4, -1).is_err());
        assert!(at(None, 4, i64::MAX).is_err());
        let mut chunk = full();
        chunk.offsets.column_index_length = Some(-1);
        assert!(chunk.column_index_range().is_err());
        chunk.offsets.column_index_length = None;
        assert_eq!(chunk.column_index_range().unwrap(), None);
        chunk.offsets.bloom_filter = Some(-4);
        assert!(chunk.bloom_filter_position().is_err());
        assert!(chunk.set_pages(Some(5), 4, 10).is_err());
        assert!(chunk.set_pages(None, 11, 10).is_err());
        assert!(chunk.set_offset_index(0..1 << 31).is_err());
    }

    #[test]
    fn encrypted_and_external_chunks_say_so() {
        let chunk = full();
        let encrypted = decode(|s| {
            chunk.write(s, &["a"]);
            s.structure(8, |s| s.structure(1, |_| {}));
        });
        let error = encrypted.unwrap().byte_range().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Encrypted(_)));
        let error = decode(|s| s.binary(9, b"secret")).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Encrypted(_)));
        let external = ColumnChunkMetadata { file_path: Some("other.parquet".into()), ..full() };
        let error = decode(|s| external.write(s, &["a"])).unwrap().byte_range().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
        let here = ColumnChunkMetadata { file_path: Some(String::new()), ..full() };
        assert!(decode(|s| here.write(s, &["a"])).unwrap().byte_range().is_ok());
    }

    #[test]
    fn lacks_nothing_that_matters() {
        assert!(decode(|_| {}).unwrap_err().to_string().contains("meta_data"));
        for missing in [1, 4, 5, 7, 9] {
            let chunk = decode(|s| {
                s.structure(3, |s| {
                    for id in [1, 4, 5, 7, 9] {
                        match id {
                            id if id == missing => {}
                            1 | 4 => s.i32(id, 1),
                            _ => s.i64(id, 1),
                        }
                    }
                });
            });
            assert!(matches!(chunk.unwrap_err().kind(), ErrorKind::Malformed(_)), "{missing}");
        }
    }

    #[test]
    fn a_field_of_another_type_is_as_good_as_absent() {
        let odd = decode(|s| {
            s.structure(3, |s| {
                s.i32(1, 6);
                s.i32(4, 0);
                [5, 7, 9].into_iter().for_each(|id| s.i64(id, 1));
                s.binary(12, b"no statistics");
                // An old extension wrote a list of structs here.
                s.structs(15, 0..2, |s, i| s.i32(1, i));
            });
        })
        .unwrap();
        assert_eq!((odd.statistics, odd.offsets.bloom_filter_length), (None, None));
    }
}
