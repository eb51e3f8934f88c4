//! A small Parquet file, put together page by page: the examples read it where they are given no other.
//!
//! | column | stored as |
//! | --- | --- |
//! | `id` | required INT32, PLAIN |
//! | `name` | required BYTE_ARRAY, a string, PLAIN |
//! | `price` | optional DOUBLE, PLAIN |
//! | `city` | required BYTE_ARRAY, a string, from a dictionary |
//! | `sold_at` | required INT64, a timestamp, PLAIN |
//! | `tags` | optional list of optional strings, PLAIN |

use std::io::Write;
use std::path::PathBuf;

use marquetry::Result;
use marquetry::metadata::{
    ColumnChunkMetadata, Compression, DataPageHeader, DictionaryPageHeader, EncodedStatistics, Encoding,
    FooterWriter, LogicalType, MAGIC, PageHeader, PageKind, PhysicalType, Repetition, Schema, SchemaBuilder,
    TimeUnit,
};

/// Rows of each row group.
pub(crate) const ROW_GROUPS: [usize; 2] = [250, 150];

/// The bytes of the file.
pub(crate) fn file() -> Result<Vec<u8>> {
    let mut file = MAGIC.to_vec();
    let mut footer = FooterWriter::new(schema()?);
    let mut first_row = 0;
    for num_rows in ROW_GROUPS {
        let rows: Vec<Row> = (first_row..first_row + num_rows).map(row).collect();
        let chunks = chunks(&rows).into_iter().map(|chunk| chunk.write(&mut file));
        let chunks = chunks.collect::<Result<Vec<_>>>()?;
        footer.row_group(num_rows as u64, chunks)?;
        first_row += num_rows;
    }
    footer.finish(&mut file)?;
    Ok(file)
}

/// Writes the file to the folder for temporary files, and gives its path.
pub(crate) fn write_to_temp() -> std::result::Result<PathBuf, Box<dyn std::error::Error>> {
    let path = std::env::temp_dir().join("marquetry-sample.parquet");
    // Renamed when complete, as somebody else may be reading the one that is there.
    let mut beside = tempfile(&path)?;
    beside.1.write_all(&file()?)?;
    std::fs::rename(&beside.0, &path)?;
    Ok(path)
}

fn tempfile(path: &std::path::Path) -> std::io::Result<(PathBuf, std::fs::File)> {
    let beside = path.with_extension(format!("{}.tmp", std::process::id()));
    let file = std::fs::File::create(&beside)?;
    Ok((beside, file))
}

struct Row {
    id: i32,
    name: String,
    price: Option<f64>,
    city: usize,
    sold_at: i64,
    tags: Option<Vec<Option<&'static str>>>,
}

const CITIES: [&str; 5] = ["Lisbon", "Osaka", "Nairobi", "Quito", "Tromsø"];

fn row(n: usize) -> Row {
    let id = i32::try_from(n).unwrap_or(i32::MAX);
    let tag = |i: usize| if (n + i).is_multiple_of(4) { None } else { TAGS.get((n + i) % 3).copied() };
    Row {
        id,
        name: format!("item {n}"),
        price: (!n.is_multiple_of(7)).then(|| f64::from(id) * 1.25),
        // In runs, as cities of sorted sales are.
        city: n / 12 % CITIES.len(),
        sold_at: 1_700_000_000_000_000 + i64::from(id) * 61_000_001,
        tags: (!n.is_multiple_of(5)).then(|| (0..n % 4).map(tag).collect()),
    }
}

const TAGS: [&str; 3] = ["new", "sale", "last one"];

fn schema() -> Result<Schema> {
    let mut schema = SchemaBuilder::new("schema");
    schema.leaf("id", Repetition::Required, PhysicalType::Int32);
    schema.leaf("name", Repetition::Required, PhysicalType::ByteArray).logical(LogicalType::String);
    schema.leaf("price", Repetition::Optional, PhysicalType::Double);
    schema.leaf("city", Repetition::Required, PhysicalType::ByteArray).logical(LogicalType::String);
    schema
        .leaf("sold_at", Repetition::Required, PhysicalType::Int64)
        .logical(LogicalType::Timestamp { unit: TimeUnit::Micros, utc: true });
    schema
        .group("tags", Repetition::Optional, |tags| {
            tags.group("list", Repetition::Repeated, |list| {
                list.leaf("element", Repetition::Optional, PhysicalType::ByteArray)
                    .logical(LogicalType::String);
            });
        })
        .logical(LogicalType::List);
    schema.finish()
}

/// A column chunk to be: pages of at most [`PAGE_ROWS`] rows each.
struct Chunk {
    physical: PhysicalType,
    /// Number of values and their PLAIN bytes.
    dictionary: Option<(usize, Vec<u8>)>,
    pages: Vec<Page>,
    statistics: Option<EncodedStatistics>,
}

struct Page {
    num_values: usize,
    encoding: Encoding,
    /// Levels and values.
    body: Vec<u8>,
}

const PAGE_ROWS: usize = 100;

fn chunks(rows: &[Row]) -> Vec<Chunk> {
    let ids = rows.iter().map(|row| row.id);
    let bounds = EncodedStatistics {
        min_value: ids.clone().min().map(|id| id.to_le_bytes().to_vec()),
        max_value: ids.max().map(|id| id.to_le_bytes().to_vec()),
        null_count: Some(0),
        ..EncodedStatistics::default()
    };
    let id = plain(PhysicalType::Int32, rows, |row, body| body.extend(row.id.to_le_bytes()));
    vec![
        Chunk { statistics: Some(bounds), ..id },
        plain(PhysicalType::ByteArray, rows, |row, body| byte_array(&row.name, body)),
        pages(PhysicalType::Double, rows, Encoding::Plain, |rows| {
            let mut body = levels(rows.iter().map(|row| u8::from(row.price.is_some())));
            body.extend(rows.iter().filter_map(|row| row.price).flat_map(f64::to_le_bytes));
            (rows.len(), body)
        }),
        city(rows),
        plain(PhysicalType::Int64, rows, |row, body| body.extend(row.sold_at.to_le_bytes())),
        pages(PhysicalType::ByteArray, rows, Encoding::Plain, tags),
    ]
}

/// A required column: values and nothing else.
fn plain(physical: PhysicalType, rows: &[Row], value: impl Fn(&Row, &mut Vec<u8>)) -> Chunk {
    pages(physical, rows, Encoding::Plain, |rows| {
        let mut body = Vec::new();
        rows.iter().for_each(|row| value(row, &mut body));
        (rows.len(), body)
    })
}

/// Indices of two or three bits into a dictionary.
fn city(rows: &[Row]) -> Chunk {
    let mut dictionary = Vec::new();
    CITIES.iter().for_each(|city| byte_array(city, &mut dictionary));
    let chunk = pages(PhysicalType::ByteArray, rows, Encoding::RleDictionary, |rows| {
        let mut body = vec![3]; // the width of an index in bits
        body.extend(runs(rows.iter().map(|row| u8::try_from(row.city).unwrap_or(0))));
        (rows.len(), body)
    });
    Chunk { dictionary: Some((CITIES.len(), dictionary)), ..chunk }
}

/// Repetition levels (1: one more element of the same list), definition levels (0: no list, 1: an empty one, 2: a null
/// in it, 3: a string), then the strings.
fn tags(rows: &[Row]) -> (usize, Vec<u8>) {
    let (mut repetition, mut definition, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for row in rows {
        let elements = row.tags.as_deref().unwrap_or_default();
        if elements.is_empty() {
            repetition.push(0);
            definition.push(u8::from(row.tags.is_some()));
        }
        for (i, element) in elements.iter().enumerate() {
            repetition.push(u8::from(i > 0));
            definition.push(if element.is_some() { 3 } else { 2 });
            element.iter().for_each(|text| byte_array(text, &mut values));
        }
    }
    let num_values = repetition.len();
    let body = [levels(repetition), levels(definition), values].concat();
    (num_values, body)
}

/// `page` makes the number of values and the body of a page.
fn pages(
    physical: PhysicalType,
    rows: &[Row],
    encoding: Encoding,
    page: impl Fn(&[Row]) -> (usize, Vec<u8>),
) -> Chunk {
    let page = |rows: &[Row]| {
        let (num_values, body) = page(rows);
        Page { num_values, encoding, body }
    };
    let pages = rows.chunks(PAGE_ROWS).map(page).collect();
    Chunk { physical, dictionary: None, pages, statistics: None }
}

pub(crate) fn byte_array(text: &str, out: &mut Vec<u8>) {
    out.extend(u32::try_from(text.len()).unwrap_or(0).to_le_bytes());
    out.extend(text.as_bytes());
}

/// Levels of a V1 page: runs behind their length in bytes.
pub(crate) fn levels(levels: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let runs = runs(levels);
    let mut bytes = u32::try_from(runs.len()).unwrap_or(0).to_le_bytes().to_vec();
    bytes.extend(runs);
    bytes
}

/// The RLE half of the RLE/bit-packing hybrid, for values of at most 8 bits: each run is its length, shifted left by
/// one, as a varint, and its value.
fn runs(values: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let mut runs: Vec<(usize, u8)> = Vec::new();
    for value in values {
        match runs.last_mut() {
            Some((len, last)) if *last == value => *len += 1,
            _ => runs.push((1, value)),
        }
    }
    let mut bytes = Vec::new();
    for (len, value) in runs {
        let mut header = len << 1;
        while header >= 0x80 {
            bytes.push(u8::try_from(header & 0x7f).unwrap_or(0) | 0x80);
            header >>= 7;
        }
        bytes.push(u8::try_from(header).unwrap_or(0));
        bytes.push(value);
    }
    bytes
}

impl Chunk {
    /// Appends the pages to the file.
    fn write(self, file: &mut Vec<u8>) -> Result<ColumnChunkMetadata> {
        let start = file.len() as u64;
        let mut metadata = ColumnChunkMetadata::new(self.physical, Compression::Uncompressed);
        metadata.encodings = vec![Encoding::Plain, Encoding::Rle];
        metadata.statistics = self.statistics;
        if let Some((num_values, body)) = &self.dictionary {
            metadata.encodings.push(Encoding::RleDictionary);
            let kind = PageKind::Dictionary(DictionaryPageHeader::new(*num_values));
            write_page(file, kind, body)?;
        }
        let data = file.len() as u64;
        for page in &self.pages {
            metadata.num_values += page.num_values as u64;
            let kind = PageKind::Data(DataPageHeader::new(page.num_values, page.encoding));
            write_page(file, kind, &page.body)?;
        }
        let end = file.len() as u64;
        metadata.total_uncompressed_size = end - start;
        metadata.set_pages(self.dictionary.is_some().then_some(start), data, end)?;
        Ok(metadata)
    }
}

pub(crate) fn write_page(file: &mut Vec<u8>, kind: PageKind, body: &[u8]) -> Result<()> {
    let mut header = PageHeader::new(kind, body.len(), body.len());
    header.crc = Some(crc32fast::hash(body));
    header.write(file)?;
    file.extend(body);
    Ok(())
}
