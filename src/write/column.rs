//! One column chunk at a time: slots of a leaf in, pages out.
//!
//! ```text
//! a step     some rows: their levels to the level encoders, their values to the value writer
//! a page     steps until rows or bytes are enough; a record is never in two
//! a chunk    pages until whoever holds the columns ends the row group
//! ```

use super::level_encoder::LevelEncoder;
use super::levels::LeafSlots;
use super::options::{PageVersion, StatisticsLevel};
use super::page::{DataPage, Pages, Workspace};
use super::page_index::{PageIndex, PageSummary, chunk_statistics, page_index, size_statistics};
use super::resolve::LeafOptions;
use super::values::{ValueWriter, new_values};
use super::window::{Cursor, Levels, Window};
use crate::arrow::schema::DataType;
use crate::error::{Context, Result};
use crate::metadata::{
    ColumnChunkMetadata, Encoding, PageEncodingStats, PageLocation, PageType, PhysicalType, SchemaNode,
};
use crate::write::bounds::Bounds;

/// Writes the chunks of one leaf, one after another.
pub(super) struct ColumnWriter {
    node: SchemaNode,
    options: LeafOptions,
    values: Box<dyn ValueWriter>,
    repetition: LevelEncoder,
    definition: LevelEncoder,
    window: Window,
    levels: Vec<u8>,
    page: OpenPage,
    /// The data pages of the chunk, and what is known of each.
    pages: Pages,
    summaries: Vec<PageSummary>,
    /// Of the chunk's ended pages.
    bounds: Bounds,
    encodings: Vec<PageEncodingStats>,
}

/// The page that is being filled.
#[derive(Debug, Default, Clone, Copy)]
struct OpenPage {
    num_rows: usize,
    num_slots: usize,
    num_values: usize,
    /// The row of the row group that it begins with.
    first_row: u64,
}

/// A column chunk that is ready to be written.
pub(super) struct Chunk {
    /// Dictionary page and data pages.
    pub(super) segments: Vec<Vec<u8>>,
    pub(super) dictionary_len: u64,
    pub(super) byte_len: u64,
    /// All but where things lie.
    pub(super) metadata: ColumnChunkMetadata,
    pub(super) page_index: PageIndex,
    pub(super) bloom_filter: Option<Vec<u8>>,
}

/// Rows of a step at most: what they have in a column should not leave the cache before all is done with it.
const STEP_ROWS: usize = 8192;

impl ColumnWriter {
    pub(super) fn new(node: &SchemaNode, data_type: &DataType, options: LeafOptions) -> Self {
        ColumnWriter {
            values: new_values(node, data_type, &options),
            repetition: LevelEncoder::new(node.repetition_level),
            definition: LevelEncoder::new(node.definition_level),
            window: Window::default(),
            levels: Vec::new(),
            page: OpenPage::default(),
            pages: Pages::default(),
            summaries: Vec::new(),
            bounds: Bounds::new(node),
            encodings: Vec::new(),
            node: node.clone(),
            options,
        }
    }

    /// Adds the slots of a batch.
    ///
    /// # Errors
    /// When a value does not fit, or a page cannot be made. The chunk is then of no use any more.
    pub(super) fn write(&mut self, leaf: &LeafSlots, workspace: &mut Workspace) -> Result<()> {
        let mut cursor = Cursor::new(leaf);
        while !cursor.is_done() {
            if self.is_page_full() {
                self.end_page(workspace)?;
            }
            self.choose_step(&cursor, leaf);
            self.put(leaf)?;
            cursor.advance(&self.window);
            if self.values.dictionary().is_some_and(|state| state.byte_len > self.options.dictionary_bytes) {
                self.end_page(workspace)?;
                self.values.end_dictionary();
            }
        }
        Ok(())
    }

    /// Bytes of the chunk so far, the open page included as far as can be told.
    pub(super) fn byte_len(&self) -> usize {
        let pages = usize::try_from(self.pages.byte_len).unwrap_or(usize::MAX);
        let page = if self.page.num_rows > 0 { self.page_size() } else { 0 };
        pages.saturating_add(page).saturating_add(self.values.memory_size())
    }

    fn page_size(&self) -> usize {
        self.values.page_size() + self.repetition.estimated_size() + self.definition.estimated_size()
    }

    /// A page that is nearly full is: filling it up to its last byte would take many small steps.
    fn is_page_full(&self) -> bool {
        let enough = self.options.page_bytes - self.options.page_bytes / 8;
        self.page.num_rows >= self.options.page_rows || (self.page.num_rows > 0 && self.page_size() >= enough)
    }

    /// Fills the window with as many rows as the page takes, one at least.
    fn choose_step(&mut self, cursor: &Cursor<'_>, leaf: &LeafSlots) {
        let page_left = self.options.page_bytes.saturating_sub(self.page_size()).max(1);
        let budget = match self.values.dictionary() {
            // In a dictionary, values take next to nothing.
            Some(_) => self.options.page_bytes,
            None => page_left,
        };
        let mut rows = (self.options.page_rows - self.page.num_rows).min(STEP_ROWS);
        loop {
            cursor.peek(rows, &mut self.window);
            let size = self.values.plain_size(&leaf.array, &self.window.runs);
            rows = self.window.num_rows;
            if rows <= 1 || size <= budget {
                return;
            }
            rows =
                usize::try_from(rows as u128 * budget as u128 / size as u128).unwrap_or(1).clamp(1, rows - 1);
        }
    }

    fn put(&mut self, leaf: &LeafSlots) -> Result<()> {
        let (definition, window) = (&mut self.definition, &self.window);
        window.definition_levels(leaf, &mut self.levels, &mut |levels| definition.put(levels));
        match window.repetition_levels(leaf) {
            Some(levels) => self.repetition.put(Levels::Bytes(levels)),
            None => self.repetition.put(Levels::Run(0, window.slots.len())),
        }
        self.values.put(&leaf.array, &window.runs)?;
        self.page.num_rows += window.num_rows;
        self.page.num_slots += window.slots.len();
        self.page.num_values += window.num_values;
        Ok(())
    }

    fn end_page(&mut self, workspace: &mut Workspace) -> Result<()> {
        if self.page.num_rows == 0 {
            return Ok(());
        }
        self.try_dictionary();
        let mut levels = std::mem::take(&mut workspace.levels);
        let result = self.flush_page(&mut levels, workspace);
        levels.clear();
        workspace.levels = levels;
        result.in_page(self.summaries.len())
    }

    /// Whether a dictionary is worth its while shows in the first page (as in parquet-java): there, dictionary and ids
    /// together must be shorter than the values.
    fn try_dictionary(&mut self) {
        if let (true, Some(state)) = (self.summaries.is_empty(), self.values.dictionary())
            && self.page.num_values > 0
            && state.byte_len + state.ids_len >= state.plain_len
        {
            self.values.undo_dictionary();
        }
    }

    fn flush_page(&mut self, levels: &mut Vec<u8>, workspace: &mut Workspace) -> Result<()> {
        let with_length = self.options.page_version == PageVersion::V1;
        let repetition_histogram = self.repetition.flush(with_length, levels);
        let repetition_len = levels.len();
        let definition_histogram = self.definition.flush(with_length, levels);
        // A page's memory goes to the chunk; the next page is likely to want as much.
        let mut values = Vec::with_capacity(self.values.page_size());
        let encoding = self.values.flush(&mut values);
        let page = DataPage {
            num_values: self.page.num_slots,
            num_nulls: self.page.num_slots - self.page.num_values,
            num_rows: self.page.num_rows,
            encoding,
            levels,
            repetition_len,
            values,
        };
        let (num_values, num_nulls) = (page.num_values as u64, page.num_nulls as u64);
        let offset = self.pages.byte_len;
        let byte_len = self.pages.data_page(page, &self.options, workspace)?;
        self.count_page(encoding);
        let bounds = self.values.bounds();
        self.summaries.push(PageSummary {
            location: PageLocation {
                offset,
                // Its header has said that it is less.
                compressed_size: u32::try_from(byte_len).unwrap_or(u32::MAX),
                first_row: self.page.first_row,
            },
            num_values,
            num_nulls,
            num_nans: bounds.nan_count(),
            bounds: bounds.encoded(self.options.column_order),
            repetition_histogram,
            definition_histogram,
            byte_len: None,
        });
        self.bounds.merge(bounds);
        bounds.clear();
        let byte_len = self.values.take_byte_len();
        self.summaries.last_mut().into_iter().for_each(|page| page.byte_len = byte_len);
        let first_row = self.page.first_row + self.page.num_rows as u64;
        self.page = OpenPage { first_row, ..OpenPage::default() };
        Ok(())
    }

    fn count_page(&mut self, encoding: Encoding) {
        let page_type = match self.options.page_version {
            PageVersion::V1 => PageType::DataPage,
            PageVersion::V2 => PageType::DataPageV2,
        };
        let known = self.encodings.iter_mut().find(|stats| stats.encoding == encoding);
        match known {
            Some(stats) => stats.count = stats.count.saturating_add(1),
            None => self.encodings.push(PageEncodingStats { page_type, encoding, count: 1 }),
        }
    }

    /// Ends the chunk and begins another.
    ///
    /// # Errors
    /// When its last page or its dictionary cannot be made.
    pub(super) fn finish(&mut self, workspace: &mut Workspace) -> Result<Chunk> {
        self.end_page(workspace)?;
        let data = std::mem::take(&mut self.pages);
        let mut pages = Pages::default();
        let mut dictionary = Vec::new();
        let finished = self.values.finish(&mut dictionary);
        if let Some(num_values) = finished.num_dictionary_values {
            pages.dictionary_page(num_values, dictionary, &self.options, workspace)?;
            let (page_type, encoding) = (PageType::DictionaryPage, Encoding::Plain);
            self.encodings.insert(0, PageEncodingStats { page_type, encoding, count: 1 });
        }
        let dictionary_len = pages.byte_len;
        pages.segments.extend(data.segments);
        let byte_len = dictionary_len + data.byte_len;
        let mut metadata = self.metadata();
        metadata.total_uncompressed_size = pages.uncompressed_len + data.uncompressed_len;
        let chunk = Chunk {
            segments: pages.segments,
            dictionary_len,
            byte_len,
            metadata,
            page_index: page_index(&self.summaries, &self.node, &self.bounds, &self.options),
            bloom_filter: finished.bloom_filter,
        };
        self.summaries.clear();
        self.encodings.clear();
        self.bounds.clear();
        self.page = OpenPage::default();
        Ok(chunk)
    }

    fn metadata(&self) -> ColumnChunkMetadata {
        let physical = self.node.physical_type().unwrap_or(PhysicalType::Unknown(-1));
        let mut metadata = ColumnChunkMetadata::new(physical, self.options.compression);
        for stats in &self.encodings {
            if !metadata.encodings.contains(&stats.encoding) {
                metadata.encodings.push(stats.encoding);
            }
        }
        let has_levels = self.node.definition_level > 0 || self.node.repetition_level > 0;
        if has_levels && !metadata.encodings.contains(&Encoding::Rle) {
            metadata.encodings.push(Encoding::Rle);
        }
        metadata.num_values = self.summaries.iter().map(|page| page.num_values).sum();
        metadata.encoding_stats = Some(self.encodings.clone());
        metadata.column_order = self.options.column_order;
        if self.options.statistics > StatisticsLevel::None {
            let statistics = chunk_statistics(&self.summaries, &self.node, &self.bounds, &self.options);
            metadata.statistics = Some(statistics);
            metadata.size_statistics = size_statistics(&self.summaries);
        }
        metadata
    }
}
