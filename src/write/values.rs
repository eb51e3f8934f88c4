//! The values of one column chunk: from slots of Arrow arrays to the bytes of pages.
//!
//! Takes the runs of a leaf's array that have values; keeps the values of one page, encoded as far as can be, and their
//! bounds. It knows nothing of levels, rows or page headers.

use std::ops::Range;

use super::bloom::BloomBuilder;
use super::boolean_column::{BooleanColumn, NullColumn};
use super::bounds::Bounds;
use super::byte_column::ByteColumn;
use super::fixed_column;
use super::resolve::LeafOptions;
use crate::arrow::array::ArrayRef;
use crate::arrow::schema::DataType;
use crate::encoding::RleEncoder;
use crate::error::Result;
use crate::metadata::{Encoding, SchemaNode};

/// The values of one column chunk, page by page.
pub(super) trait ValueWriter: Send {
    /// Bytes that the values of `runs` take in PLAIN.
    fn plain_size(&mut self, array: &ArrayRef, runs: &[Range<usize>]) -> usize;

    /// Adds the values of `runs` to the page.
    ///
    /// # Errors
    /// When one does not fit the physical type.
    fn put(&mut self, array: &ArrayRef, runs: &[Range<usize>]) -> Result<()>;

    /// Bytes that the page's values take at about most.
    fn page_size(&self) -> usize;

    /// Appends the page's values to `out`, and begins another page. An empty `out` may change memory with the writer.
    fn flush(&mut self, out: &mut Vec<u8>) -> Encoding;

    /// Those of the page. Whoever flushes takes them and clears them.
    fn bounds(&mut self) -> &mut Bounds;

    /// Bytes of the page's BYTE_ARRAY values alone, and begins to count anew; `None` for other types.
    fn take_byte_len(&mut self) -> Option<u64> {
        None
    }

    /// Where values are in a dictionary: what it is like so far.
    fn dictionary(&self) -> Option<DictionaryState> {
        None
    }

    /// Values from here on are in no dictionary. Those of the page still are.
    fn end_dictionary(&mut self) {}

    /// There has been no dictionary at all: the page's values are encoded otherwise. For the first page of a chunk.
    fn undo_dictionary(&mut self) {}

    /// Ends the chunk, behind its last page: its dictionary, in PLAIN, where it has pages in one. Begins another chunk.
    fn finish(&mut self, dictionary: &mut Vec<u8>) -> Finished {
        let _ = dictionary;
        Finished::default()
    }

    /// Bytes that it holds on to beside the page.
    fn memory_size(&self) -> usize {
        0
    }
}

/// What a dictionary is like so far.
#[derive(Debug, Clone, Copy)]
pub(super) struct DictionaryState {
    /// Bytes of its page.
    pub(super) byte_len: usize,
    /// Bytes of the current page's ids, and of the same values in PLAIN.
    pub(super) ids_len: usize,
    pub(super) plain_len: usize,
}

/// The end of a chunk.
#[derive(Debug, Default)]
pub(super) struct Finished {
    /// Values in the dictionary; `None` where there is none.
    pub(super) num_dictionary_values: Option<usize>,
    pub(super) bloom_filter: Option<Vec<u8>>,
}

/// The writer of a leaf's values, which are `data_type` in Arrow.
pub(super) fn new_values(
    node: &SchemaNode,
    data_type: &DataType,
    options: &LeafOptions,
) -> Box<dyn ValueWriter> {
    use crate::metadata::PhysicalType as P;
    let physical = node.physical_type();
    match (physical, data_type) {
        (_, DataType::Null) => Box::new(NullColumn::new()),
        (Some(P::Boolean), _) => Box::new(BooleanColumn::new(node, options)),
        (Some(P::Int32), _) => fixed_column::int32(node, data_type, options),
        (Some(P::Int64), _) => fixed_column::int64(node, data_type, options),
        (Some(P::Float), _) => fixed_column::float(node, options),
        (Some(P::Double), _) => fixed_column::double(node, options),
        _ => Box::new(ByteColumn::new(node, data_type, options)),
    }
}

/// The dictionary ids of a page.
#[derive(Debug, Default)]
pub(super) struct Ids {
    pub(super) ids: Vec<u32>,
    /// Bytes of the same values in PLAIN.
    pub(super) plain_len: usize,
    encoder: Option<RleEncoder>,
}

impl Ids {
    /// Bytes that the ids of a dictionary of `num_values` take at about most.
    pub(super) fn encoded_size(&self, num_values: usize) -> usize {
        1 + (self.ids.len() * usize::from(id_width(num_values))).div_ceil(8)
    }

    /// Appends the ids of a dictionary of `num_values`: their width in a byte, then runs (Encodings.md, RLE_DICTIONARY).
    pub(super) fn flush(&mut self, num_values: usize, out: &mut Vec<u8>) -> Encoding {
        let width = id_width(num_values);
        let encoder = self.encoder.get_or_insert_with(|| RleEncoder::new(width));
        encoder.reset(width);
        encoder.put(&self.ids);
        out.push(width);
        encoder.flush(out);
        self.clear();
        Encoding::RleDictionary
    }

    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.plain_len = 0;
    }
}

/// Bits of the largest id.
fn id_width(num_values: usize) -> u8 {
    let largest = num_values.saturating_sub(1);
    // At most 64.
    u8::try_from(usize::BITS - largest.leading_zeros()).unwrap_or(u8::MAX)
}

/// The Bloom filter to be, where options ask for one.
pub(super) fn new_bloom(options: &LeafOptions) -> Option<BloomBuilder> {
    options.bloom_filter.map(BloomBuilder::new)
}
