//! Parquet files byte by byte: any pages, headers and footers. Nothing is checked, everything can be overridden, so a
//! header can say what the bytes do not.
//!
//! ```text
//! File::flat("x", Repetition::Optional, PhysicalType::Int32)
//!     .group(3, [Chunk::new([Page::v1(3, Encoding::Plain, i32s(&[1, 2])).def(&[1, 0, 1], 1)])])
//!     .build()
//! ```

use std::ops::Range;
use std::rc::Rc;

use marquetry::metadata::{
    ColumnChunkMetadata, Compression, DataPageHeader, DataPageHeaderV2, DictionaryPageHeader, Encoding,
    FooterWriter, KeyValue, MAGIC, PageHeader, PageKind, PageType, PhysicalType, Repetition, Schema,
    SchemaBuilder,
};

use super::shred::Leaf;
use super::thrift::{self, T};
use super::{codec, encode};

type Edit<V> = Rc<dyn Fn(&mut V)>;

/// A page. Levels and values are as they stand in it, not compressed.
#[derive(Clone)]
pub struct Page {
    kind: PageKind,
    rep: Vec<u8>,
    def: Vec<u8>,
    values: Vec<u8>,
    /// Rows that begin in it, for the offset index.
    rows: u64,
    crc: Option<bool>,
    codec: Option<Compression>,
    header: Option<Edit<PageHeader>>,
    header_bytes: Option<Vec<u8>>,
    body: Option<Vec<u8>>,
}

impl Page {
    pub fn v1(num_values: usize, encoding: Encoding, values: Vec<u8>) -> Page {
        let kind = PageKind::Data(DataPageHeader::new(num_values, encoding));
        Page { rows: num_values as u64, ..Page::of(kind, values) }
    }

    /// A page of as many rows as values and without nulls; [`Page::def`] and [`Page::rep`] count them anew.
    pub fn v2(num_values: usize, encoding: Encoding, values: Vec<u8>) -> Page {
        let kind = PageKind::DataV2(DataPageHeaderV2::new(num_values, 0, num_values, encoding));
        Page { rows: num_values as u64, ..Page::of(kind, values) }
    }

    /// A data page of either version.
    pub fn data(version: u8, num_values: usize, encoding: Encoding, values: Vec<u8>) -> Page {
        match version {
            1 => Page::v1(num_values, encoding, values),
            _ => Page::v2(num_values, encoding, values),
        }
    }

    /// The page of a leaf's levels and values, PLAIN.
    pub fn leaf(version: u8, leaf: &Leaf) -> Page {
        let page = Page::data(version, leaf.def.len(), Encoding::Plain, encode::i32s(&leaf.values));
        let page = if leaf.max_def > 0 { page.def(&leaf.def, leaf.max_def) } else { page };
        if leaf.max_rep > 0 { page.rep(&leaf.rep, leaf.max_rep) } else { page }
    }

    pub fn dictionary(num_values: usize, values: Vec<u8>) -> Page {
        Page::of(PageKind::Dictionary(DictionaryPageHeader::new(num_values)), values)
    }

    /// A page of another type, with a body.
    pub fn other(page_type: PageType, body: Vec<u8>) -> Page {
        Page::of(PageKind::Other(page_type), body)
    }

    fn of(kind: PageKind, values: Vec<u8>) -> Page {
        let (rep, def) = Default::default();
        let (crc, codec, header, header_bytes, body) = Default::default();
        Page { kind, rep, def, values, rows: 0, crc, codec, header, header_bytes, body }
    }

    /// Definition levels, in RLE; V2 pages count nulls.
    pub fn def(self, levels: &[u8], max: u8) -> Page {
        let mut page = self.def_bytes(encode::levels(levels, max));
        if let PageKind::DataV2(header) = &mut page.kind {
            header.num_nulls = levels.iter().filter(|&&level| level < max).count();
        }
        page
    }

    /// Repetition levels, in RLE; rows are counted.
    pub fn rep(self, levels: &[u8], max: u8) -> Page {
        let mut page = self.rep_bytes(encode::levels(levels, max));
        let rows = levels.iter().filter(|&&level| level == 0).count();
        page.rows = rows as u64;
        if let PageKind::DataV2(header) = &mut page.kind {
            header.num_rows = rows;
        }
        page
    }

    /// Definition levels, encoded; V1 pages get the length in front.
    pub fn def_bytes(mut self, bytes: Vec<u8>) -> Page {
        self.def = match &mut self.kind {
            PageKind::DataV2(header) => {
                header.definition_levels_byte_length = bytes.len();
                bytes
            }
            _ => encode::sized(&bytes),
        };
        self
    }

    /// Repetition levels, encoded; V1 pages get the length in front.
    pub fn rep_bytes(mut self, bytes: Vec<u8>) -> Page {
        self.rep = match &mut self.kind {
            PageKind::DataV2(header) => {
                header.repetition_levels_byte_length = bytes.len();
                bytes
            }
            _ => encode::sized(&bytes),
        };
        self
    }

    /// Definition levels of a V1 page in BIT_PACKED.
    pub fn def_bit_packed(mut self, levels: &[u8], width: u32) -> Page {
        self.def = encode::pack_msb(levels, width);
        if let PageKind::Data(header) = &mut self.kind {
            header.definition_level_encoding = Encoding::BitPacked;
        }
        self
    }

    /// Repetition levels of a V1 page in BIT_PACKED.
    pub fn rep_bit_packed(mut self, levels: &[u8], width: u32) -> Page {
        self.rep = encode::pack_msb(levels, width);
        self.rows = levels.iter().filter(|&&level| level == 0).count() as u64;
        if let PageKind::Data(header) = &mut self.kind {
            header.repetition_level_encoding = Encoding::BitPacked;
        }
        self
    }

    /// A checksum: the right one, or a wrong one.
    pub fn crc(mut self, right: bool) -> Page {
        self.crc = Some(right);
        self
    }

    /// Compresses with this codec, whatever the chunk says.
    pub fn codec(mut self, codec: Compression) -> Page {
        self.codec = Some(codec);
        self
    }

    /// Changes the header last of all.
    pub fn header(mut self, edit: impl Fn(&mut PageHeader) + 'static) -> Page {
        self.header = Some(Rc::new(edit));
        self
    }

    /// Changes the part of the header that V2 data pages have.
    pub fn v2_header(self, edit: impl Fn(&mut DataPageHeaderV2) + 'static) -> Page {
        self.header(move |header| match &mut header.kind {
            PageKind::DataV2(v2) => edit(v2),
            _ => panic!("no V2 page"),
        })
    }

    /// Another header altogether.
    pub fn header_bytes(mut self, bytes: Vec<u8>) -> Page {
        self.header_bytes = Some(bytes);
        self
    }

    /// The body as it stands in the file.
    pub fn body(mut self, bytes: Vec<u8>) -> Page {
        self.body = Some(bytes);
        self
    }

    fn num_values(&self) -> usize {
        match &self.kind {
            PageKind::Data(header) => header.num_values,
            PageKind::DataV2(header) => header.num_values,
            _ => 0,
        }
    }

    fn encoding(&self) -> Option<Encoding> {
        match &self.kind {
            PageKind::Data(header) => Some(header.encoding),
            PageKind::DataV2(header) => Some(header.encoding),
            PageKind::Dictionary(header) => Some(header.encoding),
            _ => None,
        }
    }

    /// Header and body, as they stand in the file.
    fn write(&self, codec: Compression) -> (Vec<u8>, Vec<u8>) {
        let codec = self.codec.unwrap_or(codec);
        let compressed = |bytes: &[u8]| codec::compress(codec, bytes);
        let levels = [&self.rep[..], &self.def[..]].concat();
        let body = match (&self.body, &self.kind) {
            (Some(body), _) => body.clone(),
            (None, PageKind::DataV2(header)) if !header.is_compressed => {
                [&levels[..], &self.values[..]].concat()
            }
            (None, PageKind::DataV2(_)) => [levels.clone(), compressed(&self.values)].concat(),
            (None, PageKind::Other(_)) => self.values.clone(),
            (None, _) => compressed(&[&levels[..], &self.values[..]].concat()),
        };
        if let Some(header) = &self.header_bytes {
            return (header.clone(), body);
        }
        let mut header = PageHeader::new(self.kind.clone(), levels.len() + self.values.len(), body.len());
        header.crc = self.crc.map(|right| crc32fast::hash(&body) ^ u32::from(!right));
        if let Some(edit) = &self.header {
            edit(&mut header);
        }
        let mut bytes = Vec::new();
        header.write(&mut bytes).unwrap();
        (bytes, body)
    }
}

/// Where a page lies, as an offset index says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Location {
    pub offset: i64,
    pub compressed_page_size: i32,
    pub first_row_index: i64,
}

/// A column chunk.
#[derive(Clone)]
pub struct Chunk {
    pages: Vec<Page>,
    codec: Compression,
    edit: Option<Edit<ColumnChunkMetadata>>,
    offset_index: Option<Edit<Vec<Location>>>,
    align: usize,
    without_dictionary_offset: bool,
}

impl Chunk {
    pub fn new(pages: impl IntoIterator<Item = Page>) -> Chunk {
        Chunk {
            pages: pages.into_iter().collect(),
            codec: Compression::Uncompressed,
            edit: None,
            offset_index: None,
            align: 1,
            without_dictionary_offset: false,
        }
    }

    pub fn codec(mut self, codec: Compression) -> Chunk {
        self.codec = codec;
        self
    }

    /// Changes what the footer says of it last of all.
    pub fn edit(mut self, edit: impl Fn(&mut ColumnChunkMetadata) + 'static) -> Chunk {
        self.edit = Some(Rc::new(edit));
        self
    }

    /// Writes an offset index.
    pub fn indexed(self) -> Chunk {
        self.offset_index(|_| {})
    }

    /// Writes an offset index, changed first.
    pub fn offset_index(mut self, edit: impl Fn(&mut Vec<Location>) + 'static) -> Chunk {
        self.offset_index = Some(Rc::new(edit));
        self
    }

    /// Lets the first page's body begin at a multiple of `align` bytes.
    pub fn align(mut self, align: usize) -> Chunk {
        self.align = align;
        self
    }

    /// Says only where the first page is, as some writers do.
    pub fn without_dictionary_offset(mut self) -> Chunk {
        self.without_dictionary_offset = true;
        self
    }
}

/// A file to be written.
pub struct File {
    schema: Schema,
    groups: Vec<(u64, Vec<Chunk>)>,
    created_by: Option<String>,
    key_values: Vec<KeyValue>,
}

/// Where a page stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    pub header: usize,
    pub body: usize,
    pub end: usize,
}

/// A file, written.
#[derive(Clone)]
pub struct Built {
    pub bytes: Vec<u8>,
    /// By row group, column and page.
    places: Vec<Vec<Vec<At>>>,
    offset_indexes: Vec<Vec<Option<Range<usize>>>>,
}

impl File {
    pub fn new(schema: impl FnOnce(&mut SchemaBuilder)) -> File {
        let mut builder = SchemaBuilder::new("schema");
        schema(&mut builder);
        let schema = builder.finish().unwrap();
        File { schema, groups: Vec::new(), created_by: None, key_values: Vec::new() }
    }

    /// A file of one column.
    pub fn flat(name: &str, repetition: Repetition, physical: PhysicalType) -> File {
        File::new(|schema| {
            schema.leaf(name, repetition, physical);
        })
    }

    /// Adds a row group.
    pub fn group(mut self, num_rows: u64, chunks: impl IntoIterator<Item = Chunk>) -> File {
        self.groups.push((num_rows, chunks.into_iter().collect()));
        self
    }

    pub fn created_by(mut self, created_by: &str) -> File {
        self.created_by = Some(created_by.into());
        self
    }

    pub fn key_value(mut self, key: &str, value: &str) -> File {
        self.key_values.push(KeyValue { key: key.into(), value: Some(value.into()) });
        self
    }

    pub fn build(self) -> Built {
        let mut out = Writer { bytes: MAGIC.to_vec(), ..Writer::default() };
        let mut written = Vec::new();
        for (_, chunks) in &self.groups {
            let row_group =
                chunks.iter().enumerate().map(|(leaf, chunk)| out.pages(chunk, &self.schema, leaf));
            written.push(row_group.collect::<Vec<_>>());
        }
        let mut footer = FooterWriter::new(self.schema);
        for ((num_rows, chunks), metadata) in self.groups.iter().zip(written) {
            let indexed = chunks.iter().zip(metadata).map(|(chunk, written)| out.index(chunk, written));
            footer.row_group(*num_rows, indexed.collect()).unwrap();
        }
        if let Some(created_by) = self.created_by {
            footer.created_by = created_by;
        }
        footer.key_value_metadata = self.key_values;
        footer.finish(&mut out.bytes).unwrap();
        let mut places = out.places.into_iter();
        let mut indexes = out.offset_indexes.into_iter();
        let by_group = |group: &(u64, Vec<Chunk>)| places.by_ref().take(group.1.len()).collect();
        let places = self.groups.iter().map(by_group).collect();
        let by_group = |group: &(u64, Vec<Chunk>)| indexes.by_ref().take(group.1.len()).collect();
        let offset_indexes = self.groups.iter().map(by_group).collect();
        Built { bytes: out.bytes, places, offset_indexes }
    }
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    places: Vec<Vec<At>>,
    offset_indexes: Vec<Option<Range<usize>>>,
}

impl Writer {
    /// Writes the pages of a chunk.
    fn pages(&mut self, chunk: &Chunk, schema: &Schema, leaf: usize) -> (ColumnChunkMetadata, Vec<Location>) {
        let pages: Vec<_> = chunk.pages.iter().map(|page| page.write(chunk.codec)).collect();
        let first_header = pages.first().map_or(0, |(header, _)| header.len());
        while !(self.bytes.len() + first_header).is_multiple_of(chunk.align) {
            self.bytes.push(0xee);
        }
        let start = self.bytes.len();
        let (mut places, mut locations, mut row) = (Vec::new(), Vec::new(), 0);
        let (mut dictionary, mut data) = (None, None);
        let mut metadata =
            ColumnChunkMetadata::new(schema.leaf(leaf).unwrap().physical_type().unwrap(), chunk.codec);
        for (page, (header, body)) in chunk.pages.iter().zip(&pages) {
            let at = self.bytes.len();
            self.bytes.extend(header);
            self.bytes.extend(body);
            let end = self.bytes.len();
            places.push(At { header: at, body: at + header.len(), end });
            metadata.encodings.extend(page.encoding().filter(|e| !metadata.encodings.contains(e)));
            metadata.num_values += page.num_values() as u64;
            metadata.total_uncompressed_size += (end - at) as u64;
            match page.kind {
                PageKind::Dictionary(_) => dictionary = dictionary.or(Some(at as u64)),
                PageKind::Other(_) => {}
                _ => {
                    data = data.or(Some(at as u64));
                    locations.push(Location {
                        offset: at as i64,
                        compressed_page_size: (end - at) as i32,
                        first_row_index: row,
                    });
                    row += page.rows as i64;
                }
            }
        }
        let end = self.bytes.len() as u64;
        match (dictionary, chunk.without_dictionary_offset) {
            (Some(_), true) => metadata.set_pages(None, start as u64, end).unwrap(),
            (dictionary, _) => metadata.set_pages(dictionary, data.unwrap_or(end), end).unwrap(),
        }
        if dictionary.is_none() && data.is_some_and(|data| data > start as u64) {
            // Pages that are to be skipped come first.
            metadata.set_pages(None, start as u64, end).unwrap();
        }
        self.places.push(places);
        (metadata, locations)
    }

    /// Writes the offset index of a chunk, if it is to have one.
    fn index(
        &mut self,
        chunk: &Chunk,
        (mut metadata, mut locations): (ColumnChunkMetadata, Vec<Location>),
    ) -> ColumnChunkMetadata {
        let mut range = None;
        if let Some(edit) = &chunk.offset_index {
            edit(&mut locations);
            let start = self.bytes.len();
            self.bytes.extend(offset_index(&locations));
            range = Some(start..self.bytes.len());
            metadata.set_offset_index(start as u64..self.bytes.len() as u64).unwrap();
        }
        self.offset_indexes.push(range);
        if let Some(edit) = &chunk.edit {
            edit(&mut metadata);
        }
        metadata
    }
}

/// An `OffsetIndex` of `parquet.thrift`.
pub fn offset_index(locations: &[Location]) -> Vec<u8> {
    let location = |at: &Location| {
        T::Struct(vec![
            (1, T::I64(at.offset)),
            (2, T::I32(at.compressed_page_size)),
            (3, T::I64(at.first_row_index)),
        ])
    };
    let locations = locations.iter().map(location).collect();
    thrift::structure(&[(1, T::List(thrift::WIRE_STRUCT, locations))])
}

/// A page header as a list of Thrift fields, for counts and sizes that no header can have.
pub fn header_fields(
    page_type: i32,
    uncompressed: i32,
    compressed: i32,
    id: i16,
    fields: Vec<(i16, T)>,
) -> Vec<u8> {
    thrift::structure(&[
        (1, T::I32(page_type)),
        (2, T::I32(uncompressed)),
        (3, T::I32(compressed)),
        (id, T::Struct(fields)),
    ])
}

/// A file of these bytes and this footer.
pub fn with_footer(data: &[u8], footer: &[u8]) -> Vec<u8> {
    let len = (footer.len() as u32).to_le_bytes();
    [&MAGIC[..], data, footer, &len, &MAGIC].concat()
}

impl Built {
    /// Where a page stands.
    pub fn page(&self, row_group: usize, leaf: usize, page: usize) -> At {
        self.places[row_group][leaf][page]
    }

    /// How many pages a chunk has.
    pub fn num_pages(&self, row_group: usize, leaf: usize) -> usize {
        self.places[row_group][leaf].len()
    }

    /// The pages of a chunk, one after another.
    pub fn chunk(&self, row_group: usize, leaf: usize) -> &[u8] {
        let pages = &self.places[row_group][leaf];
        &self.bytes[pages[0].header..pages[pages.len() - 1].end]
    }

    /// Where the offset index of a chunk lies.
    pub fn offset_index(&self, row_group: usize, leaf: usize) -> Range<usize> {
        self.offset_indexes[row_group][leaf].clone().unwrap()
    }

    /// Makes a page unreadable: header and body.
    pub fn ruin(mut self, row_group: usize, leaf: usize, page: usize) -> Built {
        let at = self.page(row_group, leaf, page);
        self.bytes[at.header..at.end].fill(0xff);
        self
    }

    /// Makes a page's body nonsense.
    pub fn ruin_body(mut self, row_group: usize, leaf: usize, page: usize) -> Built {
        let at = self.page(row_group, leaf, page);
        self.bytes[at.body..at.end].fill(0xff);
        self
    }
}
