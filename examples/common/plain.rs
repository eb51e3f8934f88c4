//! PLAIN values that stand in no data page: bounds of statistics, dictionaries.

use marquetry::arrow::array::ArrayRef;
use marquetry::metadata::{
    Compression, DataPageHeader, Encoding, NodeKind, PageHeader, PageKind, PhysicalType, Repetition,
    SchemaBuilder, SchemaNode,
};
use marquetry::{ColumnDecoder, ColumnDescriptor, Result};

use super::leaf::narrow;
use super::value::{cell, cut};

/// Decodes PLAIN values of one column's type. It makes a page of them, of a column without levels.
pub(crate) struct PlainValues {
    descriptor: ColumnDescriptor,
}

impl PlainValues {
    /// For the column of `node`.
    ///
    /// # Errors
    /// When the column cannot be read.
    pub(crate) fn new(node: &SchemaNode) -> Result<Self> {
        let mut builder = SchemaBuilder::new("schema");
        if let NodeKind::Leaf { physical, byte_width, .. } = node.kind {
            let mut leaf = builder.leaf(&node.name, Repetition::Required, physical);
            if physical == PhysicalType::FixedLenByteArray {
                leaf = leaf.byte_width(narrow(byte_width)?);
            }
            if let Some(logical) = &node.logical {
                leaf.logical(logical.clone());
            }
        }
        Ok(PlainValues { descriptor: ColumnDescriptor::new(&builder.finish()?, 0)? })
    }

    /// `num_values` values.
    pub(crate) fn decode(&self, num_values: usize, values: &[u8]) -> Result<ArrayRef> {
        let kind = PageKind::Data(DataPageHeader::new(num_values, Encoding::Plain));
        let mut bytes = Vec::new();
        PageHeader::new(kind, values.len(), values.len()).write(&mut bytes)?;
        bytes.extend(values);

        let num_values_long = Some(num_values as u64);
        let mut pages = self.descriptor.pages(bytes.into(), Compression::Uncompressed, num_values_long)?;
        let mut column = ColumnDecoder::new(&self.descriptor, self.descriptor.field())?;
        while let Some(page) = pages.next()? {
            column.push(page);
        }
        column.finish_chunk();
        column.take(num_values)
    }
}

/// Shows the bounds of one column, as the file has them.
pub(crate) struct Bounds {
    values: Option<PlainValues>,
    is_byte_array: bool,
}

impl Bounds {
    /// For the column of `node`. Where it cannot be read, its bounds are shown as bytes.
    pub(crate) fn new(node: &SchemaNode) -> Self {
        let is_byte_array = node.physical_type() == Some(PhysicalType::ByteArray);
        Bounds { values: PlainValues::new(node).ok(), is_byte_array }
    }

    /// `bound` in at most `limit` characters.
    pub(crate) fn show(&self, bound: &[u8], limit: usize) -> String {
        // PLAIN but for the length before a BYTE_ARRAY.
        let len = u32::try_from(bound.len()).unwrap_or(0).to_le_bytes();
        let plain = if self.is_byte_array { [&len, bound].concat() } else { bound.to_vec() };
        let array = self.values.as_ref().and_then(|values| values.decode(1, &plain).ok());
        match array {
            Some(array) if array.len() == 1 => cell(array.as_ref(), 0, limit),
            _ => hexadecimal(bound, limit),
        }
    }
}

fn hexadecimal(bytes: &[u8], limit: usize) -> String {
    let digits = bytes.iter().take(limit).map(|byte| format!("{byte:02x}"));
    cut(&format!("0x{}", digits.collect::<String>()), limit)
}
