//! Writes a footer: schema and row groups in, the bytes that end a file out.

use super::key_value::write_key_values;
use super::schema_elements::write_schema;
use super::{ColumnChunkMetadata, ColumnOrder, KeyValue, MAGIC, Schema, SortingColumn};
use crate::error::{Error, Result};
use crate::thrift::{StructWriter, write_struct};

/// Collects what a file has to say of itself, and writes the end of the file.
///
/// ```
/// use marquetry::metadata::*;
///
/// # fn main() -> marquetry::Result<()> {
/// let mut schema = SchemaBuilder::new("schema");
/// schema.leaf("x", Repetition::Required, PhysicalType::Int32);
/// let mut footer = FooterWriter::new(schema.finish()?);
///
/// // Page by page, after the magic number that every file begins with.
/// let mut file = MAGIC.to_vec();
/// let kind = PageKind::Data(DataPageHeader::new(2, Encoding::Plain));
/// PageHeader::new(kind, 8, 8).write(&mut file)?;
/// file.extend([7i32.to_le_bytes(), 8i32.to_le_bytes()].concat());
///
/// let mut chunk = ColumnChunkMetadata::new(PhysicalType::Int32, Compression::Uncompressed);
/// chunk.encodings = vec![Encoding::Plain];
/// chunk.num_values = 2;
/// chunk.set_pages(None, 4, file.len() as u64)?;
/// footer.row_group(2, vec![chunk])?;
/// footer.finish(&mut file)?;
/// # let tail = *file.last_chunk().unwrap();
/// # let range = FileMetadata::footer_range(file.len() as u64, tail)?;
/// # let metadata = FileMetadata::parse(file[range.start as usize..range.end as usize].into())?;
/// # assert_eq!(metadata.row_group(0)?.column(0)?.num_values, 2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct FooterWriter {
    schema: Schema,
    row_groups: Vec<RowGroup>,
    /// Key-value metadata of the file. Empty at first.
    pub key_value_metadata: Vec<KeyValue>,
    /// What to write as `created_by`. At first this crate and its version.
    pub created_by: String,
    /// The order of each leaf's bounds. At first [`ColumnOrder::TypeDefined`] throughout.
    pub column_orders: Vec<ColumnOrder>,
    /// How the rows of row groups are sorted, but of those that say otherwise. Empty at first.
    pub sorting_columns: Vec<SortingColumn>,
}

#[derive(Debug)]
struct RowGroup {
    num_rows: u64,
    columns: Vec<ColumnChunkMetadata>,
    /// `None` where it is sorted as all are.
    sorting_columns: Option<Vec<SortingColumn>>,
}

impl FooterWriter {
    /// A footer of a file with that schema and no rows.
    pub fn new(schema: Schema) -> Self {
        FooterWriter {
            column_orders: vec![ColumnOrder::TypeDefined; schema.num_leaves()],
            schema,
            row_groups: Vec::new(),
            key_value_metadata: Vec::new(),
            created_by: concat!("marquetry version ", env!("CARGO_PKG_VERSION")).into(),
            sorting_columns: Vec::new(),
        }
    }

    /// Adds a row group of `num_rows` rows: a column chunk for each leaf, in the schema's order.
    ///
    /// # Errors
    /// When there are more or fewer chunks than leaves.
    pub fn row_group(&mut self, num_rows: u64, columns: Vec<ColumnChunkMetadata>) -> Result<()> {
        let (chunks, leaves) = (columns.len(), self.schema.num_leaves());
        if chunks != leaves {
            return Err(Error::invalid(format!("{chunks} column chunks for a schema of {leaves} leaves")));
        }
        self.row_groups.push(RowGroup { num_rows, columns, sorting_columns: None });
        Ok(())
    }

    /// Says how the rows of the row group added last are sorted.
    pub fn sort_last(&mut self, sorting_columns: Vec<SortingColumn>) {
        if let Some(row_group) = self.row_groups.last_mut() {
            row_group.sorting_columns = Some(sorting_columns);
        }
    }

    /// Appends the footer, its length and the magic number to `out`: the end of the file.
    ///
    /// # Errors
    /// When the footer would be longer than 2^32-1 bytes.
    pub fn finish(self, out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        write_struct(out, |s| self.write(s));
        let len = u32::try_from(out.len() - start)
            .map_err(|_| Error::unsupported("a footer of more than 2^32-1 bytes"))?;
        out.extend(len.to_le_bytes());
        out.extend(MAGIC);
        Ok(())
    }

    fn write(&self, s: &mut StructWriter<'_>) {
        let num_rows = self.row_groups.iter().fold(0u64, |sum, group| sum.saturating_add(group.num_rows));
        let paths: Vec<Vec<&str>> = self.schema.leaves.iter().map(|&node| self.schema.path(node)).collect();
        s.i32(1, 2);
        write_schema(s, 2, &self.schema);
        s.i64(3, num_rows.cast_signed());
        s.structs(4, self.row_groups.iter().enumerate(), |s, (ordinal, row_group)| {
            let sorting = row_group.sorting_columns.as_ref().unwrap_or(&self.sorting_columns);
            row_group.write(s, &paths, sorting, ordinal);
        });
        write_key_values(s, 5, &self.key_value_metadata);
        s.binary(6, self.created_by.as_bytes());
        s.structs(7, self.column_orders.iter(), |s, order| match order {
            ColumnOrder::TypeDefined => s.structure(1, |_| {}),
            ColumnOrder::Ieee754Total => s.structure(2, |_| {}),
            ColumnOrder::Int96Timestamp => s.structure(3, |_| {}),
            // A union without a member: unknown to whoever reads it.
            ColumnOrder::Undefined | ColumnOrder::Unknown => {}
        });
    }
}

impl RowGroup {
    fn write(
        &self,
        s: &mut StructWriter<'_>,
        paths: &[Vec<&str>],
        sorting: &[SortingColumn],
        ordinal: usize,
    ) {
        let total = |size: fn(&ColumnChunkMetadata) -> u64| {
            self.columns.iter().map(size).fold(0u64, u64::saturating_add).cast_signed()
        };
        s.structs(1, self.columns.iter().zip(paths), |s, (chunk, path)| chunk.write(s, path));
        s.i64(2, total(|chunk| chunk.total_uncompressed_size));
        s.i64(3, self.num_rows.cast_signed());
        if !sorting.is_empty() {
            s.structs(4, sorting.iter(), |s, column| {
                s.i32(1, column.column_index);
                s.bool(2, column.descending);
                s.bool(3, column.nulls_first);
            });
        }
        if let Some(Ok(range)) = self.columns.first().map(ColumnChunkMetadata::byte_range) {
            s.i64(5, range.start.cast_signed());
        }
        s.i64(6, total(|chunk| chunk.total_compressed_size));
        // There are files of more row groups than ordinals.
        if let Ok(ordinal) = i16::try_from(ordinal) {
            s.i16(7, ordinal);
        }
    }
}
