//! How a file is laid out, and the rival's writer that lays it out so.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;

use crate::arrow::array::RecordBatch;
use crate::rival::arrow::ArrowSchemaConverter;
use crate::rival::arrow::arrow_writer::{ArrowWriter, ArrowWriterOptions};
use crate::rival::basic::{BrotliLevel, Compression, Encoding, GzipLevel, Type, ZstdLevel};
use crate::rival::errors::ParquetError;
use crate::rival::file::properties::{EnabledStatistics, WriterProperties, WriterVersion};
use crate::rival::schema::types::SchemaDescriptor;
use crate::seeds::{Failure, caught};

/// What a file's pages, chunks and footer look like. `Default` is what the rival writes unasked.
#[derive(Debug, Clone)]
pub struct Layout {
    pub v2: bool,
    pub compression: Compression,
    pub encoding: Encodings,
    /// Limit of the dictionary page in bytes, past which the writer falls back; `None` for no dictionary.
    pub dictionary: Option<usize>,
    /// At most so many rows a data page.
    pub page_rows: usize,
    /// About so many bytes a data page.
    pub page_bytes: usize,
    pub row_group_rows: usize,
    pub statistics: EnabledStatistics,
    pub offset_index: bool,
    /// Whether the footer holds the Arrow schema (key `ARROW:schema`).
    pub arrow_schema: bool,
    /// Whether types that Parquet lacks are written as others that it has.
    pub coerce_types: bool,
}

/// Which encoding the values get where no dictionary holds them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Encodings {
    /// What the writer chooses.
    Chosen,
    /// This one, for every column.
    One(Encoding),
    /// For each leaf one that is legal for its physical type, drawn with this seed.
    Drawn(u64),
}

impl Default for Layout {
    fn default() -> Self {
        Self {
            v2: false,
            compression: Compression::UNCOMPRESSED,
            encoding: Encodings::Chosen,
            dictionary: Some(1 << 20),
            page_rows: 20_000,
            page_bytes: 1 << 20,
            row_group_rows: 1 << 20,
            statistics: EnabledStatistics::Page,
            offset_index: true,
            arrow_schema: true,
            coerce_types: false,
        }
    }
}

impl Layout {
    /// Any layout that suits a table of `num_rows`.
    pub fn random(rng: &mut Rng, num_rows: usize) -> Self {
        let codecs = codecs();
        Self {
            v2: rng.bool(),
            compression: codecs[rng.usize(..codecs.len())],
            encoding: if rng.bool() { Encodings::Drawn(rng.u64(..)) } else { Encodings::Chosen },
            dictionary: [None, Some(1 << 20), Some(64)][rng.usize(..3)],
            page_rows: any_size(rng, num_rows),
            page_bytes: [1 << 20, 100, 1000][rng.usize(..3)],
            row_group_rows: any_size(rng, num_rows).max(num_rows.div_ceil(20)),
            statistics: [EnabledStatistics::None, EnabledStatistics::Chunk, EnabledStatistics::Page]
                [rng.usize(..3)],
            offset_index: rng.bool(),
            arrow_schema: rng.u8(..4) > 0,
            coerce_types: rng.u8(..4) == 0,
        }
    }

    /// The bytes of a file that holds `table`.
    ///
    /// # Errors
    /// What the rival's writer refuses.
    pub fn write(&self, table: &RecordBatch) -> Result<Bytes, Failure> {
        let write = || -> Result<Bytes, ParquetError> {
            let options = ArrowWriterOptions::new()
                .with_properties(self.properties(&self.parquet_schema(table)?))
                .with_skip_arrow_metadata(!self.arrow_schema);
            let mut bytes = Vec::new();
            let mut writer = ArrowWriter::try_new_with_options(&mut bytes, table.schema(), options)?;
            writer.write(table)?;
            writer.close()?;
            Ok(Bytes::from(bytes))
        };
        written(write)
    }

    /// The writer's properties for a file of this schema.
    pub fn properties(&self, schema: &SchemaDescriptor) -> WriterProperties {
        let mut properties = WriterProperties::builder()
            .set_writer_version(if self.v2 { WriterVersion::PARQUET_2_0 } else { WriterVersion::PARQUET_1_0 })
            .set_compression(self.compression)
            .set_dictionary_enabled(self.dictionary.is_some())
            .set_dictionary_page_size_limit(self.dictionary.unwrap_or(1 << 20))
            .set_data_page_row_count_limit(self.page_rows)
            .set_data_page_size_limit(self.page_bytes)
            // The writer looks at the limits after each of its write batches.
            .set_write_batch_size(self.page_rows.clamp(1, if self.page_bytes < 1 << 20 { 8 } else { 1024 }))
            .set_max_row_group_row_count(Some(self.row_group_rows))
            .set_statistics_enabled(self.statistics)
            .set_offset_index_disabled(!self.offset_index && self.statistics != EnabledStatistics::Page)
            .set_coerce_types(self.coerce_types);
        match self.encoding {
            Encodings::Chosen => {}
            Encodings::One(encoding) => properties = properties.set_encoding(encoding),
            Encodings::Drawn(seed) => {
                let mut rng = Rng::with_seed(seed);
                for leaf in schema.columns() {
                    let legal = legal_encodings(leaf.physical_type());
                    let encoding = legal[rng.usize(..legal.len())];
                    properties = properties.set_column_encoding(leaf.path().clone(), encoding);
                }
            }
        }
        properties.build()
    }

    fn parquet_schema(&self, table: &RecordBatch) -> Result<SchemaDescriptor, ParquetError> {
        ArrowSchemaConverter::new().with_coerce_types(self.coerce_types).convert(&table.schema())
    }
}

/// What differs from the default.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let usual = Self::default();
        let mut list = f.debug_struct("Layout");
        macro_rules! show {
            ($($name:ident)*) => {
                $(if self.$name != usual.$name { list.field(stringify!($name), &self.$name); })*
            };
        }
        show!(v2 compression encoding dictionary page_rows page_bytes row_group_rows statistics offset_index);
        show!(arrow_schema coerce_types);
        list.finish()
    }
}

/// What a writer of the rival gives; its errors and panics are its own.
pub fn written(write: impl FnOnce() -> Result<Bytes, ParquetError>) -> Result<Bytes, Failure> {
    let outcome = caught(write).map_err(|panic| Failure::Rival(format!("writer: {panic}")))?;
    outcome.map_err(|e| Failure::Rival(format!("writer: {e}")))
}

/// Every codec that both can.
pub fn codecs() -> Vec<Compression> {
    vec![
        Compression::UNCOMPRESSED,
        Compression::SNAPPY,
        Compression::GZIP(GzipLevel::default()),
        Compression::ZSTD(ZstdLevel::default()),
        Compression::LZ4_RAW,
        Compression::LZ4,
        Compression::BROTLI(BrotliLevel::default()),
    ]
}

/// The encodings that values of a physical type may have without a dictionary, as far as the rival writes them.
pub fn legal_encodings(physical_type: Type) -> Vec<Encoding> {
    use Encoding as E;
    let mut legal = match physical_type {
        Type::BOOLEAN => vec![E::PLAIN, E::RLE],
        Type::INT32 | Type::INT64 => vec![E::PLAIN, E::DELTA_BINARY_PACKED, E::BYTE_STREAM_SPLIT],
        Type::INT96 => vec![E::PLAIN],
        Type::FLOAT | Type::DOUBLE => vec![E::PLAIN, E::BYTE_STREAM_SPLIT],
        Type::BYTE_ARRAY => vec![E::PLAIN, E::DELTA_LENGTH_BYTE_ARRAY, E::DELTA_BYTE_ARRAY],
        Type::FIXED_LEN_BYTE_ARRAY => vec![E::PLAIN, E::DELTA_BYTE_ARRAY, E::BYTE_STREAM_SPLIT],
    };
    if matches!(physical_type, Type::FLOAT | Type::DOUBLE) {
        // Not every release of the rival has it.
        legal.extend("ALP".parse::<Encoding>().ok());
    }
    legal
}

/// One row, a few, about all or more than there are.
fn any_size(rng: &mut Rng, num_rows: usize) -> usize {
    match rng.u8(..4) {
        0 => 1,
        1 => rng.usize(1..=num_rows.clamp(1, 20)),
        2 => rng.usize(1..=num_rows.max(1)),
        _ => 1 << 20,
    }
}

/// A table of one column named `column`.
pub fn table_of(column: crate::arrow::array::ArrayRef, nullable: bool) -> RecordBatch {
    use crate::arrow::schema::{Field, Schema};
    let field = Field::new("column", column.data_type().clone(), nullable);
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column])
        .expect("one column of its own type")
}
