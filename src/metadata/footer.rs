//! The footer: all that a file says of itself, parsed as far as every reader needs it.
//!
//! Takes the footer's Thrift bytes, which it keeps. Schema, key-value metadata and what belongs to a row group as a
//! whole are decoded at once; of each column chunk only the position within the footer is noted, so a footer of many
//! columns costs one pass of skipping, and a broken chunk fails when it is asked for.

use std::fmt;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::key_value::read_key_values;
use super::row_group::{RowGroup, read_row_group};
use super::schema_elements::read_schema;
use super::{KeyValue, MetadataLimits, RowGroupMetadata, Schema};
use crate::arrow::buffer::Buffer;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::logical::ArrowSchema;
use crate::thrift::{Field, Reader, Wire, required};

/// `FileMetaData` of `parquet.thrift`. `Send` and `Sync`; made to be kept in an [`Arc`](std::sync::Arc).
///
/// ```no_run
/// use marquetry::metadata::FileMetadata;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = std::fs::read("trips.parquet")?;
/// let tail = *file.last_chunk().ok_or("too short")?;
/// let range = FileMetadata::footer_range(file.len() as u64, tail)?;
/// let footer = &file[range.start as usize..range.end as usize];
/// let metadata = FileMetadata::parse(footer.into())?;
/// for row_group in metadata.row_groups() {
///     let chunk = row_group.column(0)?;
///     println!("{}: {:?}", metadata.schema().leaf_name(0), chunk.byte_range()?);
/// }
/// # Ok(())
/// # }
/// ```
pub struct FileMetadata {
    footer: Buffer,
    version: i32,
    schema: Schema,
    num_rows: u64,
    row_groups: Vec<RowGroup>,
    /// Position within `footer` of each column chunk, one row group after the other.
    chunk_positions: Vec<u32>,
    key_value_metadata: Vec<KeyValue>,
    created_by: Option<String>,
    column_orders: Vec<ColumnOrder>,
    has_encrypted_columns: bool,
    /// A place for the layer above to keep what it makes of the schema, so that it is made once a file.
    pub(crate) arrow_schema: OnceLock<Arc<ArrowSchema>>,
}

/// `ColumnOrder` of `parquet.thrift`: the order in which a column's bounds are its smallest and largest values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ColumnOrder {
    /// The file says nothing: bounds mean nothing, but for the deprecated ones.
    #[default]
    Undefined,
    /// `TYPE_ORDER`: the order of the logical type, or else of the physical type.
    TypeDefined,
    /// `IEEE_754_TOTAL_ORDER`, for floating-point columns.
    Ieee754Total,
    /// `INT96_TIMESTAMP_ORDER`, for INT96 columns.
    Int96Timestamp,
    /// An order that this crate does not know: bounds mean nothing.
    Unknown,
}

/// Bytes at the end of a file that say how long its footer is.
pub const FOOTER_TAIL_LEN: usize = 8;

/// The first and last four bytes of a file.
pub const MAGIC: [u8; 4] = *b"PAR1";

/// The last four bytes (and the first) of a file whose footer is encrypted.
pub const MAGIC_ENCRYPTED_FOOTER: [u8; 4] = *b"PARE";

impl FileMetadata {
    /// Where the footer's Thrift bytes lie within a file of `file_len` bytes that ends with `tail` (README.md, "File
    /// format"): what [`FileMetadata::parse`] takes.
    ///
    /// # Errors
    /// When the file does not end as Parquet files do, its footer is encrypted, or is longer than the file.
    pub fn footer_range(file_len: u64, tail: [u8; FOOTER_TAIL_LEN]) -> Result<Range<u64>> {
        let [l0, l1, l2, l3, magic @ ..] = tail;
        match magic {
            MAGIC => {}
            MAGIC_ENCRYPTED_FOOTER => return Err(ErrorKind::Encrypted("the footer".into()).into()),
            other => {
                let magic = other.escape_ascii();
                return Err(ErrorKind::NotParquet(format!("it ends with \"{magic}\", not \"PAR1\"")).into());
            }
        }
        let len = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        let end = file_len.saturating_sub(FOOTER_TAIL_LEN as u64);
        let start = end.checked_sub(len).filter(|&start| start >= MAGIC.len() as u64);
        match start {
            Some(start) => Ok(start..end),
            None => Err(Error::malformed(format!("a footer of {len} bytes in a file of {file_len}"))),
        }
    }

    /// Parses the footer: Thrift bytes alone, without the length and magic number that follow it. Keeps them.
    ///
    /// # Errors
    /// When they are not a footer, or pass one of the default [`MetadataLimits`]. What is wrong with a single column
    /// chunk, but that it cannot be skipped, is found when that chunk is asked for.
    pub fn parse(footer: Buffer) -> Result<Self> {
        Self::parse_with(footer, &MetadataLimits::default())
    }

    /// [`FileMetadata::parse`] with limits of one's own.
    ///
    /// # Errors
    /// As [`FileMetadata::parse`].
    pub fn parse_with(footer: Buffer, limits: &MetadataLimits) -> Result<Self> {
        if footer.len() > limits.max_footer_len as usize {
            let (limit, wanted) = (u64::from(limits.max_footer_len), footer.len() as u64);
            return Err(ErrorKind::Limit { what: "footer length", limit, wanted }.into());
        }
        let mut reader = Reader::new(&footer);
        match RawFooter::read(&mut reader, limits).and_then(RawFooter::check) {
            Ok(raw) => Ok(FileMetadata { footer, ..raw }),
            Err(error) => Err(error.at_offset(reader.position() as u64)),
        }
    }

    /// The schema.
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// `FileMetaData.version`, which says nothing of the features used.
    pub fn version(&self) -> i32 {
        self.version
    }

    /// Rows of all row groups together. (What the file itself says of its rows is not looked at.)
    pub fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// How many row groups there are.
    pub fn num_row_groups(&self) -> usize {
        self.row_groups.len()
    }

    /// Row group `index`, counted from 0.
    ///
    /// # Errors
    /// When there is none.
    pub fn row_group(&self, index: usize) -> Result<RowGroupMetadata<'_>> {
        match self.row_groups.get(index) {
            Some(row_group) => Ok(RowGroupMetadata { file: self, row_group, index }),
            None => Err(Error::invalid(format!(
                "there is no row group {index}: the file has {}",
                self.num_row_groups()
            ))),
        }
    }

    /// All row groups, in file order.
    pub fn row_groups(&self) -> impl ExactSizeIterator<Item = RowGroupMetadata<'_>> {
        let with_index = self.row_groups.iter().enumerate();
        with_index.map(|(index, row_group)| RowGroupMetadata { file: self, row_group, index })
    }

    /// What writers noted, in file order.
    pub fn key_value_metadata(&self) -> &[KeyValue] {
        &self.key_value_metadata
    }

    /// The value of the first entry of that key, where it has one.
    pub fn key_value(&self, key: &str) -> Option<&str> {
        self.key_value_metadata.iter().find(|entry| entry.key == key)?.value.as_deref()
    }

    /// The application that wrote the file.
    pub fn created_by(&self) -> Option<&str> {
        self.created_by.as_deref()
    }

    /// The order of the bounds of leaf `leaf`.
    pub fn column_order(&self, leaf: usize) -> ColumnOrder {
        self.column_orders.get(leaf).copied().unwrap_or_default()
    }

    /// The footer's bytes.
    pub(super) fn footer(&self) -> &[u8] {
        &self.footer
    }

    /// Position within the footer of column chunk `index`, counted over all row groups.
    pub(super) fn chunk_position(&self, index: usize) -> Option<usize> {
        self.chunk_positions.get(index).map(|&position| position as usize)
    }

    /// Whether the file says that some of its columns are encrypted (its footer is not).
    pub fn has_encrypted_columns(&self) -> bool {
        self.has_encrypted_columns
    }
}

/// `FileMetaData` as it comes.
#[derive(Default)]
struct RawFooter {
    version: Option<i32>,
    schema: Option<Schema>,
    num_rows: Option<i64>,
    row_groups: Option<Vec<RowGroup>>,
    chunk_positions: Vec<u32>,
    key_value_metadata: Vec<KeyValue>,
    created_by: Option<String>,
    column_orders: Vec<ColumnOrder>,
    has_encrypted_columns: bool,
}

impl RawFooter {
    fn read(reader: &mut Reader<'_>, limits: &MetadataLimits) -> Result<Self> {
        let mut raw = RawFooter::default();
        reader.structure(|r, field| {
            match field.id {
                1 => raw.version = r.i32(field)?,
                2 => {
                    let len = r.list(field, Wire::Struct)?;
                    raw.schema = len.map(|len| read_schema(r, len, limits)).transpose()?;
                }
                3 => raw.num_rows = r.i64(field)?,
                4 => raw.read_row_groups(r, field)?,
                5 => raw.key_value_metadata = read_key_values(r, field)?,
                6 => raw.created_by = r.string(field)?,
                7 => raw.column_orders = read_column_orders(r, field)?,
                8 => {
                    raw.has_encrypted_columns = true;
                    r.skip(field)?;
                }
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        Ok(raw)
    }

    fn read_row_groups(&mut self, r: &mut Reader<'_>, field: Field) -> Result<()> {
        self.chunk_positions.clear();
        let Some(len) = r.list(field, Wire::Struct)? else { return Ok(()) };
        let mut row_groups = Vec::new();
        for index in 0..len {
            let row_group = read_row_group(r, &mut self.chunk_positions).in_row_group(index)?;
            row_groups.push(row_group);
        }
        self.row_groups = Some(row_groups);
        Ok(())
    }

    fn check(self) -> Result<FileMetadata> {
        // The row groups decide (real files have 0 here), but a footer without the field is none.
        required(self.num_rows, "FileMetaData.num_rows")?;
        let row_groups = required(self.row_groups, "FileMetaData.row_groups")?;
        let num_rows = row_groups.iter().try_fold(0u64, |sum, group| sum.checked_add(group.num_rows));
        Ok(FileMetadata {
            footer: Buffer::default(),
            version: required(self.version, "FileMetaData.version")?,
            schema: required(self.schema, "FileMetaData.schema")?,
            num_rows: num_rows.ok_or_else(|| Error::malformed("more than 2^64 rows"))?,
            row_groups,
            chunk_positions: self.chunk_positions,
            key_value_metadata: self.key_value_metadata,
            created_by: self.created_by,
            column_orders: self.column_orders,
            has_encrypted_columns: self.has_encrypted_columns,
            arrow_schema: OnceLock::new(),
        })
    }
}

fn read_column_orders(r: &mut Reader<'_>, field: Field) -> Result<Vec<ColumnOrder>> {
    let len = r.list(field, Wire::Struct)?.unwrap_or(0);
    let mut all = Vec::new();
    for _ in 0..len {
        let mut order = ColumnOrder::Unknown;
        r.structure(|r, member| {
            order = match member.id {
                1 => ColumnOrder::TypeDefined,
                2 => ColumnOrder::Ieee754Total,
                3 => ColumnOrder::Int96Timestamp,
                _ => ColumnOrder::Unknown,
            };
            r.skip(member)
        })?;
        all.push(order);
    }
    Ok(all)
}

impl fmt::Debug for FileMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileMetadata")
            .field("created_by", &self.created_by)
            .field("num_rows", &self.num_rows)
            .field("num_row_groups", &self.num_row_groups())
            .field("num_leaves", &self.schema.num_leaves())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{
        ColumnChunkMetadata, Compression, Encoding, FooterWriter, LogicalType, PhysicalType, Repetition,
        SchemaBuilder, SortingColumn,
    };
    use crate::thrift::{StructWriter, write_struct};

    fn schema() -> Schema {
        let mut builder = SchemaBuilder::new("root");
        builder.leaf("id", Repetition::Required, PhysicalType::Int64).field_id(7);
        builder
            .group("tags", Repetition::Optional, |tags| {
                tags.group("list", Repetition::Repeated, |list| {
                    list.leaf("element", Repetition::Optional, PhysicalType::ByteArray)
                        .logical(LogicalType::String);
                });
            })
            .logical(LogicalType::List);
        builder
            .leaf("amount", Repetition::Optional, PhysicalType::FixedLenByteArray)
            .byte_width(5)
            .logical(LogicalType::Decimal { precision: 9, scale: 2 });
        builder.finish().unwrap()
    }

    fn chunk(physical: PhysicalType, at: u64) -> ColumnChunkMetadata {
        let mut chunk = ColumnChunkMetadata::new(physical, Compression::Zstd);
        chunk.encodings = vec![Encoding::RleDictionary, Encoding::Rle];
        chunk.num_values = 10;
        chunk.total_uncompressed_size = 200;
        chunk.column_order = ColumnOrder::TypeDefined;
        chunk.set_pages(Some(at), at + 20, at + 100).unwrap();
        chunk.set_column_index(9000..9100).unwrap();
        chunk
    }

    fn chunks(at: u64) -> Vec<ColumnChunkMetadata> {
        let types = [PhysicalType::Int64, PhysicalType::ByteArray, PhysicalType::FixedLenByteArray];
        types.into_iter().zip([at, at + 100, at + 200]).map(|(physical, at)| chunk(physical, at)).collect()
    }

    fn written(change: impl FnOnce(&mut FooterWriter)) -> Vec<u8> {
        let mut writer = FooterWriter::new(schema());
        writer.row_group(10, chunks(4)).unwrap();
        writer.row_group(8, chunks(304)).unwrap();
        writer.key_value_metadata = vec![KeyValue { key: "k".into(), value: Some("v".into()) }];
        writer.sorting_columns =
            vec![SortingColumn { column_index: 2, descending: true, nulls_first: false }];
        change(&mut writer);
        let mut out = Vec::new();
        writer.finish(&mut out).unwrap();
        out.truncate(out.len() - FOOTER_TAIL_LEN);
        out
    }

    fn parse(bytes: &[u8]) -> Result<FileMetadata> {
        FileMetadata::parse(Buffer::from(bytes))
    }

    /// A footer field by field, for those that no writer would write.
    fn footer(fields: impl FnOnce(&mut StructWriter<'_>)) -> Vec<u8> {
        let mut out = Vec::new();
        write_struct(&mut out, fields);
        out
    }

    /// A schema of one required INT32 leaf `x`, as field 2.
    fn one_leaf(s: &mut StructWriter<'_>) {
        s.structs(2, 0..2, |s, index| {
            if index == 1 {
                s.i32(1, 1);
                s.i32(3, 0);
            }
            s.binary(4, b"x");
            if index == 0 {
                s.i32(5, 1);
            }
        });
    }

    #[test]
    fn reads_what_it_writes() {
        let metadata = parse(&written(|_| {})).unwrap();
        assert_eq!(metadata.schema(), &schema());
        assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (18, 2));
        assert_eq!((metadata.key_value("k"), metadata.key_value("l")), (Some("v"), None));
        assert!(metadata.created_by().unwrap().starts_with("marquetry version "));
        assert!(!metadata.has_encrypted_columns());
        for (row_group, at) in metadata.row_groups().zip([4, 304]) {
            assert_eq!(row_group.sorting_columns()[0].column_index, 2);
            assert_eq!((row_group.file_offset(), row_group.total_byte_size()), (Some(at), 600));
            for (leaf, expected) in chunks(at.unsigned_abs()).into_iter().enumerate() {
                assert_eq!(row_group.column(leaf).unwrap(), expected);
            }
            assert!(row_group.column(3).is_err());
        }
        assert!(metadata.row_group(2).is_err());
    }

    #[test]
    fn every_truncation_is_an_error() {
        let bytes = written(|_| {});
        for len in 0..bytes.len() {
            assert!(parse(&bytes[..len]).is_err(), "{len}");
        }
        // What follows the footer, as the signature of an encrypted file does, is not looked at.
        assert!(parse(&[&bytes[..], &[0xff; 28]].concat()).is_ok());
    }

    #[test]
    fn no_changed_byte_makes_it_panic() {
        let bytes = written(|_| {});
        for index in 0..bytes.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff, bytes[index] ^ 1, bytes[index] ^ 0x10] {
                let mut bytes = bytes.clone();
                bytes[index] = value;
                let Ok(metadata) = parse(&bytes) else { continue };
                for row_group in metadata.row_groups() {
                    for leaf in 0..metadata.schema().num_leaves() {
                        let _ = row_group.column(leaf).map(|chunk| chunk.byte_range());
                    }
                }
            }
        }
    }

    #[test]
    fn a_broken_chunk_fails_when_it_is_asked_for() {
        let bytes = written(|writer| {
            let mut broken = chunks(604);
            broken[1].physical = PhysicalType::Double;
            broken[2].num_values = u64::MAX;
            writer.row_group(1, broken).unwrap();
        });
        let metadata = parse(&bytes).unwrap();
        let row_group = metadata.row_group(2).unwrap();
        assert!(row_group.column(0).is_ok());
        let error = row_group.column(1).unwrap_err();
        assert_eq!(error.place().column.as_deref(), Some("tags.list.element"));
        assert_eq!(error.place().row_group, Some(2));
        assert!(row_group.column(2).unwrap_err().to_string().contains("num_values is -1"));
    }

    #[test]
    fn row_groups_must_have_a_chunk_for_each_leaf() {
        let bytes = footer(|s| {
            s.i32(1, 1);
            one_leaf(s);
            s.i64(3, 0);
            s.structs(4, 0..1, |s, _| {
                s.structs(1, 0..2, |_, _| {});
                s.i64(2, 0);
                s.i64(3, 5);
            });
        });
        let metadata = parse(&bytes).unwrap();
        // The row group decides, not what the file says.
        assert_eq!(metadata.num_rows(), 5);
        assert!(matches!(
            metadata.row_group(0).unwrap().column(0).unwrap_err().kind(),
            ErrorKind::Malformed(_)
        ));
    }

    #[test]
    fn an_empty_list_of_row_groups_may_have_elements_of_any_type() {
        let mut bytes = footer(|s| {
            s.i32(1, 1);
            one_leaf(s);
            s.i64(3, 0);
        });
        bytes.pop();
        bytes.extend([0x19, 0x03, 0]);
        assert_eq!(parse(&bytes).unwrap().num_row_groups(), 0);
        // With elements it must have the right ones.
        let len = bytes.len();
        bytes.truncate(len - 2);
        bytes.extend([0x13, 0, 0]);
        assert!(parse(&bytes).unwrap_err().to_string().contains("row_groups is required"));
    }

    #[test]
    fn key_values_are_never_worth_an_error() {
        let bytes = footer(|s| {
            s.i32(1, 1);
            one_leaf(s);
            s.i64(3, 0);
            s.structs(4, 0..0, |_, _: i32| {});
            s.structs(5, 0..4, |s, index| match index {
                0 => {
                    s.binary(1, b"a");
                    s.binary(2, b"\xff\xfe");
                }
                1 => {
                    s.binary(1, b"b");
                    s.i64(2, 5);
                }
                2 => {
                    s.binary(1, b"c");
                    s.bool(2, true);
                }
                _ => s.binary(2, b"no key"),
            });
            s.binary(6, b"\xff");
            s.structs(7, 0..3, |s, index| match index {
                0 => s.structure(2, |_| {}),
                1 => s.structure(9, |_| {}),
                _ => {}
            });
        });
        let metadata = parse(&bytes).unwrap();
        let entries = metadata.key_value_metadata();
        assert_eq!(entries.len(), 3);
        assert_eq!(entries[0].value.as_deref(), Some("\u{fffd}\u{fffd}"));
        assert_eq!((&entries[1].value, &entries[2].value), (&None, &None));
        assert_eq!(metadata.created_by(), Some("\u{fffd}"));
        let orders = [ColumnOrder::Ieee754Total, ColumnOrder::Unknown, ColumnOrder::Unknown];
        assert_eq!([0, 1, 2].map(|leaf| metadata.column_order(leaf)), orders);
        assert_eq!(metadata.column_order(3), ColumnOrder::Undefined);
    }

    #[test]
    fn finds_the_footer_from_the_end_of_the_file() {
        let tail = |len: u32, magic: &[u8; 4]| {
            let mut tail = [0; 8];
            tail[..4].copy_from_slice(&len.to_le_bytes());
            tail[4..].copy_from_slice(magic);
            tail
        };
        assert_eq!(FileMetadata::footer_range(1000, tail(88, b"PAR1")).unwrap(), 904..992);
        assert_eq!(FileMetadata::footer_range(100, tail(88, b"PAR1")).unwrap(), 4..92);
        let kind = |file_len, tail| FileMetadata::footer_range(file_len, tail).map(|_| ());
        for (file_len, len) in [(99, 88), (8, 0), (0, 0), (u64::from(u32::MAX), u32::MAX)] {
            let error = kind(file_len, tail(len, b"PAR1")).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
        }
        assert!(matches!(kind(100, tail(1, b"PARE")).unwrap_err().kind(), ErrorKind::Encrypted(_)));
        assert!(matches!(kind(100, tail(1, b"ORC\0")).unwrap_err().kind(), ErrorKind::NotParquet(_)));
    }

    #[test]
    fn limits_hold() {
        let bytes = written(|_| {});
        let with = |limits: MetadataLimits| FileMetadata::parse_with(Buffer::from(&bytes[..]), &limits);
        let default = MetadataLimits::default;
        for limits in [
            MetadataLimits { max_footer_len: 100, ..default() },
            MetadataLimits { max_schema_nodes: 5, ..default() },
            MetadataLimits { max_schema_depth: 1, ..default() },
        ] {
            assert!(matches!(with(limits).unwrap_err().kind(), ErrorKind::Limit { .. }));
        }
        let exact = MetadataLimits { max_schema_nodes: 6, max_schema_depth: 2, ..default() };
        assert!(with(exact).is_ok());
    }

    #[test]
    fn claims_that_the_bytes_cannot_hold_are_errors() {
        let size = |id: u8, size: &[u8]| [&[(id << 4) | 0x09, 0xfc][..], size, &[0]].concat();
        // Lists of schema elements and row groups: 109 million, 2^31-1, and 2^32-1, which is -1 to Thrift.
        for list in [
            size(2, &[0xbc, 0xff, 0xfc, 0x33]),
            size(2, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
            size(4, &[0xff, 0xff, 0xff, 0xff, 0x07]),
        ] {
            assert!(parse(&list).is_err());
        }
        // `created_by` of 2^31-1 bytes.
        assert!(parse(&[0x68, 0xff, 0xff, 0xff, 0xff, 0x07, b'x']).is_err());
        // Field 10, which nobody knows, holds structs 100,000 deep.
        let deep = [&[0xac][..], &[0x1c].repeat(100_000), &[0].repeat(100_000)].concat();
        assert!(matches!(parse(&deep).unwrap_err().kind(), ErrorKind::Limit { .. }));
        let children = |num_children| {
            footer(|s| {
                s.structs(2, 0..1, |s, _| {
                    s.binary(4, b"root");
                    s.i32(5, num_children);
                });
            })
        };
        for num_children in [-1, i32::MIN, i32::MAX] {
            assert!(parse(&children(num_children)).unwrap_err().to_string().contains("children"));
        }
    }

    #[test]
    fn is_shared_between_threads() {
        fn check<T: Send + Sync + 'static>() {}
        check::<FileMetadata>();
    }
}
