//! How a file is written: for the whole file, and column by column.

use super::resolve::{LeafOptions, resolve};
use crate::error::Result;
use crate::metadata::{ColumnOrder, Compression, Encoding, KeyValue, Schema, SortingColumn};

/// How to write a file.
///
/// What a [`ColumnOptions`] can say is said of all columns through the methods of the same name here, and of some
/// through [`WriteOptions::column`].
///
/// ```
/// use marquetry::metadata::{Compression, Encoding};
/// use marquetry::{ColumnOptions, WriteOptions};
///
/// let options = WriteOptions::new()
///     .compression(Compression::Zstd)
///     .row_group_rows(500_000)
///     .column("url", ColumnOptions::new().dictionary(false).encoding(Encoding::DeltaByteArray))
///     .column("user.id", ColumnOptions::new().bloom_filter(0.01));
/// ```
#[derive(Debug, Clone)]
pub struct WriteOptions {
    pub(super) row_group_rows: usize,
    pub(super) row_group_bytes: usize,
    pub(super) page_version: PageVersion,
    pub(super) crc: bool,
    pub(super) arrow_schema: bool,
    pub(super) created_by: Option<String>,
    pub(super) float_order: ColumnOrder,
    pub(super) key_values: Vec<KeyValue>,
    pub(super) sorting_columns: Vec<SortingColumn>,
    all: ColumnOptions,
    columns: Vec<(String, ColumnOptions)>,
}

/// How to write one column, or all leaves below one. What is not said is as [`WriteOptions`] have it.
#[derive(Debug, Clone, Default)]
pub struct ColumnOptions {
    pub(super) compression: Option<Compression>,
    pub(super) compression_level: Option<i32>,
    pub(super) dictionary: Option<bool>,
    pub(super) dictionary_bytes: Option<usize>,
    pub(super) encoding: Option<Encoding>,
    pub(super) page_rows: Option<usize>,
    pub(super) page_bytes: Option<usize>,
    pub(super) statistics: Option<StatisticsLevel>,
    pub(super) bound_bytes: Option<usize>,
    pub(super) bloom_filter: Option<f64>,
}

/// How data pages are laid out (README.md, "Data Pages").
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(clippy::exhaustive_enums)] // the format has these
pub enum PageVersion {
    /// DATA_PAGE: levels and values are compressed together. Every reader knows it.
    #[default]
    V1,
    /// DATA_PAGE_V2: levels stand uncompressed before the values, and a page that does not shrink is left as it is.
    V2,
}

/// Which statistics are collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
#[non_exhaustive]
pub enum StatisticsLevel {
    /// None: only what a reader cannot do without.
    None,
    /// Bounds and counts of each column chunk.
    Chunk,
    /// Those of each page too, in the page index (PageIndex.md).
    #[default]
    Page,
}

impl Default for WriteOptions {
    fn default() -> Self {
        WriteOptions {
            row_group_rows: 1 << 20,
            row_group_bytes: usize::MAX,
            page_version: PageVersion::V1,
            crc: false,
            arrow_schema: true,
            created_by: None,
            float_order: ColumnOrder::TypeDefined,
            key_values: Vec::new(),
            sorting_columns: Vec::new(),
            all: ColumnOptions::default(),
            columns: Vec::new(),
        }
    }
}

/// The options of a column, for it alone and for all.
macro_rules! column_options {
    ($($(#[$doc:meta])* $name:ident($argument:ident: $type:ty) => $field:ident = $value:expr;)*) => {
        impl ColumnOptions {
            /// Nothing said.
            pub fn new() -> Self {
                Self::default()
            }

            $($(#[$doc])*
            pub fn $name(mut self, $argument: $type) -> Self {
                self.$field = Some($value);
                self
            })*

            /// It, and what `other` says where it says nothing.
            pub(super) fn or(&self, other: &ColumnOptions) -> ColumnOptions {
                ColumnOptions { $($field: self.$field.or(other.$field),)* }
            }
        }

        impl WriteOptions {
            $($(#[$doc])*
            pub fn $name(mut self, $argument: $type) -> Self {
                self.all = self.all.$name($argument);
                self
            })*
        }
    };
}

column_options! {
    /// The codec of the pages. Default: none.
    compression(codec: Compression) => compression = codec;
    /// How hard the codec tries, on its own scale. Default: the codec's.
    compression_level(level: i32) => compression_level = level;
    /// Whether values are stored once, in a dictionary, and then by number. A column chunk whose first page shows that
    /// this saves nothing, or whose dictionary grows past [`ColumnOptions::dictionary_bytes`], goes on without.
    /// Default: yes, but for booleans.
    dictionary(yes: bool) => dictionary = yes;
    /// The largest dictionary, in bytes. Default: 1 MiB.
    dictionary_bytes(bytes: usize) => dictionary_bytes = bytes;
    /// How values are encoded that no dictionary holds. Default: PLAIN; booleans in V2 pages RLE. An encoding other than
    /// a dictionary's, asked for a column of which [`ColumnOptions::dictionary`] says nothing, is used from the start.
    encoding(encoding: Encoding) => encoding = encoding;
    /// Rows of a page at most. Default: 20,000.
    page_rows(rows: usize) => page_rows = rows;
    /// Bytes of a page at about most, before compression; a page has a row at least. Default: 1 MiB.
    page_bytes(bytes: usize) => page_bytes = bytes;
    /// Which statistics are collected. Default: of pages and chunks.
    statistics(level: StatisticsLevel) => statistics = level;
    /// Bounds of strings and binary longer than this are cut, and stay bounds. Default: 64.
    bound_bytes(bytes: usize) => bound_bytes = bytes;
    /// Writes a Bloom filter (BloomFilter.md) that says "perhaps" of this fraction of the values that are not there: more
    /// than 0, and less than 1 but for 1 itself, which is no filter at all. Default: 1.
    bloom_filter(false_positives: f64) => bloom_filter = false_positives;
}

impl WriteOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// Options of the column of that dotted path, or of all leaves below it. Said again of the same leaf, the later
    /// counts where both say something.
    pub fn column(mut self, path: impl Into<String>, options: ColumnOptions) -> Self {
        self.columns.push((path.into(), options));
        self
    }

    /// Rows of a row group at most. Default: 1,048,576.
    pub fn row_group_rows(mut self, rows: usize) -> Self {
        self.row_group_rows = rows.max(1);
        self
    }

    /// A row group ends once it has this many encoded bytes. Default: no limit.
    pub fn row_group_bytes(mut self, bytes: usize) -> Self {
        self.row_group_bytes = bytes.max(1);
        self
    }

    /// The layout of data pages. Default: V1.
    pub fn page_version(mut self, version: PageVersion) -> Self {
        self.page_version = version;
        self
    }

    /// Whether pages have a CRC-32. Default: no.
    pub fn crc(mut self, yes: bool) -> Self {
        self.crc = yes;
        self
    }

    /// Whether the Arrow schema is kept in the footer, for types that the format has no word for. Default: yes.
    pub fn arrow_schema(mut self, yes: bool) -> Self {
        self.arrow_schema = yes;
        self
    }

    /// What the file says of who wrote it. Default: this crate and its version.
    pub fn created_by(mut self, name: impl Into<String>) -> Self {
        self.created_by = Some(name.into());
        self
    }

    /// The order of the bounds of floating-point columns: [`ColumnOrder::TypeDefined`], which every reader knows, or
    /// [`ColumnOrder::Ieee754Total`], which also bounds pages of nothing but NaN; anything else counts as the first.
    /// Default: the first.
    pub fn float_order(mut self, order: ColumnOrder) -> Self {
        self.float_order = match order {
            ColumnOrder::Ieee754Total => order,
            _ => ColumnOrder::TypeDefined,
        };
        self
    }

    /// Adds an entry to the file's key-value metadata.
    pub fn key_value(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.key_values.push(KeyValue { key: key.into(), value: Some(value.into()) });
        self
    }

    /// Says that the rows of each row group are sorted by these. Nothing checks or sorts them. Default: nothing said.
    pub fn sorting_columns(mut self, columns: impl IntoIterator<Item = SortingColumn>) -> Self {
        self.sorting_columns = columns.into_iter().collect();
        self
    }

    /// The options of each leaf.
    ///
    /// # Errors
    /// When a path names no column, an encoding does not fit a type, or a number makes no sense.
    pub(super) fn leaves(&self, schema: &Schema) -> Result<Vec<LeafOptions>> {
        resolve(schema, self, &self.all, &self.columns)
    }
}
