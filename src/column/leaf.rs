//! One leaf: pages in, rows out.
//!
//! Decides how far to read: which levels belong to the rows wanted, how many values they stand for, where a batch
//! ends. The values themselves are decoded behind [`Values`], which knows nothing of levels or rows.

use std::collections::VecDeque;

use super::levels::{LevelStream, Masks, Streams, Test, extend_compressed};
use super::values::Values;
use crate::arrow::array::ArrayRef;
use crate::arrow::buffer::{Buffer, NullBuffer};
use crate::bitmap::Bitmap;
use crate::error::{Context, Error, Result};
use crate::metadata::Encoding;
use crate::page::{DataPage, DictionaryPage, Page};

/// Decodes the pages of one leaf, of any number of column chunks one after another.
pub(crate) struct LeafDecoder {
    max_def: u8,
    max_rep: u8,
    /// Definition level from which on there is a slot in the innermost list (0 outside of lists).
    slot_def: u8,
    /// Whether the array gets a validity of its own.
    nullable: bool,
    values: Box<dyn Values>,
    queue: VecDeque<Item>,
    streams: Streams,
    /// The questions that the assembly of lists and structs asks, and our own.
    masks: Masks,
    /// The questions as registered, to begin the next batch with.
    tests: Vec<Test>,
    /// Of the levels in `masks`, those whose values are in the sink. The rest belong to the current page.
    filled: usize,
    /// A bit a slot, where slots are not levels and can be null.
    validity: Bitmap,
    page: PageState,
    /// Rows of the current chunk, to hold against its row group.
    rows_started: u64,
    /// Whether the last row is known to end where the levels end.
    row_ended: bool,
    /// Whether the chunk has had its dictionary page.
    has_dictionary: bool,
    /// Slots of the last array.
    last_num_slots: usize,
}

/// What waits to be decoded.
enum Item {
    Page(Page),
    /// The chunk ends; it must have had this many rows, where that is known.
    EndOfChunk(Option<u64>),
}

/// The page that is being read.
#[derive(Default)]
struct PageState {
    index: usize,
    offset: u64,
    /// Levels that are not in the masks yet.
    levels_left: usize,
    /// Its values, until the first of them is wanted: a page of nulls may lack even the header of its encoding.
    unopened: Option<PageValues>,
}

/// What [`Values::set_page`] takes.
struct PageValues {
    encoding: Encoding,
    bytes: Buffer,
    num_values: usize,
}

/// What to do with rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Read,
    Skip,
}

/// Why [`LeafDecoder::advance`] came back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// All rows asked for are done.
    Done,
    /// More pages are needed, or the end of the chunk.
    NeedPage,
    /// The rows so far must be taken first: an array cannot take more.
    Full,
}

/// Rows that [`LeafDecoder::take`] gave.
pub(crate) struct LeafRows {
    /// A value a slot.
    pub(crate) array: ArrayRef,
    /// Answers about the levels of these rows.
    pub(crate) masks: Masks,
}

impl LeafDecoder {
    /// A decoder for a leaf with these maximum levels. `tests` are the questions that the assembly will ask of the
    /// masks; `nullable` tells whether the array's nulls are wanted.
    pub(crate) fn new(levels: Levels, nullable: bool, tests: &[Test], values: Box<dyn Values>) -> Self {
        let Levels { max_def, max_rep, slot_def } = levels;
        let mut all = tests.to_vec();
        if max_def > slot_def {
            all.push(Test::DefAtLeast(max_def));
        }
        if slot_def > 0 {
            all.push(Test::DefAtLeast(slot_def));
        }
        if max_rep > 0 {
            all.push(Test::RepBelow(1));
        }
        // What every level passes need not be kept.
        all.retain(|test| !matches!(test, Test::DefAtLeast(0)) && *test != Test::RepBelow(max_rep + 1));
        LeafDecoder {
            max_def,
            max_rep,
            slot_def,
            nullable,
            values,
            queue: VecDeque::new(),
            streams: Streams::new(max_def, max_rep),
            masks: Masks::new(&all),
            tests: all,
            filled: 0,
            validity: Bitmap::new(),
            page: PageState::default(),
            rows_started: 0,
            row_ended: false,
            has_dictionary: false,
            last_num_slots: 0,
        }
    }

    pub(crate) fn push(&mut self, page: Page) {
        self.queue.push_back(Item::Page(page));
    }

    /// The column chunk ends here, with `num_rows` rows in all, where that is known.
    pub(crate) fn finish_chunk(&mut self, num_rows: Option<u64>) {
        self.queue.push_back(Item::EndOfChunk(num_rows));
    }

    /// Forgets what is left of the column chunk: the rows wanted of it are read.
    pub(crate) fn abandon_chunk(&mut self) {
        self.queue.clear();
        self.masks.remove(self.filled..self.masks.len());
        self.page = PageState::default();
        self.rows_started = 0;
        self.has_dictionary = false;
        self.values.end_chunk();
    }

    /// Rows of the chunk that lie in pages which were passed over; the next page begins with a row.
    pub(crate) fn pass_over(&mut self, num_rows: u64) {
        self.rows_started += num_rows;
    }

    /// About `rows` rows will be read before they are taken.
    pub(crate) fn expect(&mut self, rows: usize) {
        if self.values.len() == 0 {
            // A list's elements: about as many as last time.
            let slots = if self.slot_def == 0 { rows } else { self.last_num_slots };
            self.values.expect(slots.min(ROOM_AT_MOST));
        }
    }

    /// Says that the row that ends the pages given so far goes on in no other: the next page begins with a row.
    pub(crate) fn end_row(&mut self) {
        self.row_ended = true;
    }

    /// How many rows begin in a page, by its repetition levels; `None` where it begins within a row.
    ///
    /// # Errors
    /// When the levels are broken.
    pub(crate) fn count_rows(&self, page: &DataPage) -> Result<Option<usize>> {
        if self.max_rep == 0 {
            return Ok(Some(page.num_values));
        }
        let (levels, encoding) = (page.repetition_levels.clone(), page.repetition_encoding);
        let levels = LevelStream::new(levels, encoding, page.num_values, self.max_rep)?;
        levels.count_rows(page.num_values, self.max_rep)
    }

    /// Rows of the chunk that have begun so far, those passed over included.
    pub(crate) fn rows_started(&self) -> u64 {
        self.rows_started
    }

    /// Whether every page given so far is used up, and the chunk is at its end.
    pub(crate) fn is_between_chunks(&self) -> bool {
        self.queue.is_empty() && self.page_is_done() && self.at_chunk_start()
    }

    /// Rows that wait in the queue: known for flat columns alone.
    pub(crate) fn queued_rows(&self) -> usize {
        let queued = self.queue.iter().map(|item| match item {
            Item::Page(Page::Data(page)) => page.num_values,
            _ => 0,
        });
        queued.sum::<usize>() + self.page.levels_left
    }

    /// Whether a row is one value.
    pub(crate) fn is_flat(&self) -> bool {
        self.max_rep == 0
    }

    /// Complete rows that can be taken.
    pub(crate) fn ready_rows(&self) -> usize {
        if self.max_rep == 0 {
            return self.filled;
        }
        let started = self.masks.count(Test::RepBelow(1), 0..self.filled);
        let next_is_start = self.masks.nth(Test::RepBelow(1), self.filled, 0) == Some(self.filled);
        let closed = next_is_start || self.page_is_done() && (self.at_chunk_start() || self.row_ended);
        if closed { started } else { started.saturating_sub(1) }
    }

    fn page_is_done(&self) -> bool {
        self.page.levels_left == 0 && self.filled == self.masks.len()
    }

    fn at_chunk_start(&self) -> bool {
        self.rows_started == 0
    }

    /// Reads or skips up to `*rows_left` rows, and takes them off the count as they begin. A row of a repeated column
    /// is done when the next one begins or the chunk ends.
    ///
    /// # Errors
    /// When a page is broken; the place of it is in the error.
    pub(crate) fn advance(&mut self, rows_left: &mut u64, mode: Mode) -> Result<Step> {
        loop {
            if self.max_rep == 0 && *rows_left == 0 && self.filled == self.masks.len() {
                return self.close_flat();
            }
            if self.filled < self.masks.len() {
                let (end, done) = self.boundary(*rows_left);
                let before = self.filled;
                let reached =
                    self.consume(end, done, mode).in_page(self.page.index).at_offset(self.page.offset)?;
                let started = self.count_starts(before, reached, mode, end);
                *rows_left = rows_left.saturating_sub(started);
                self.close_page();
                if reached < end {
                    return Ok(Step::Full);
                }
                if done {
                    return Ok(Step::Done);
                }
            } else if self.page.levels_left > 0 {
                self.decode_levels(*rows_left, mode).in_page(self.page.index).at_offset(self.page.offset)?;
            } else {
                match self.next_item(rows_left, mode)? {
                    Some(step) => return Ok(step),
                    None => continue,
                }
            }
        }
    }

    /// All rows of a flat column are read that were asked for: if nothing but the end of the chunk follows, it is
    /// checked.
    fn close_flat(&mut self) -> Result<Step> {
        if self.page.levels_left == 0
            && let Some(&Item::EndOfChunk(num_rows)) = self.queue.front()
        {
            self.queue.pop_front();
            self.end_chunk(num_rows, 0)?;
        }
        Ok(Step::Done)
    }

    /// Takes up the next page or chunk end. `Some`: the caller has to do something.
    fn next_item(&mut self, rows_left: &mut u64, mode: Mode) -> Result<Option<Step>> {
        match self.queue.front() {
            None => return Ok(Some(Step::NeedPage)),
            Some(Item::Page(Page::Dictionary(page))) if self.values.must_cut(page) => {
                return Ok(Some(Step::Full));
            }
            _ => {}
        }
        match self.queue.pop_front() {
            Some(Item::Page(Page::Dictionary(page))) => {
                self.set_dictionary(&page).in_page(page.index).at_offset(page.offset)?;
            }
            Some(Item::Page(Page::Data(page))) => {
                let (index, offset) = (page.index, page.offset);
                self.begin_page(page, rows_left, mode).in_page(index).at_offset(offset)?;
            }
            Some(Item::EndOfChunk(num_rows)) => return self.end_chunk(num_rows, *rows_left),
            None => {}
        }
        Ok(None)
    }

    fn set_dictionary(&mut self, page: &DictionaryPage) -> Result<()> {
        if std::mem::replace(&mut self.has_dictionary, true) {
            return Err(Error::malformed("two dictionary pages in a column chunk"));
        }
        self.values.set_dictionary(page)
    }

    fn begin_page(&mut self, page: DataPage, rows_left: &mut u64, mode: Mode) -> Result<()> {
        self.page = PageState { index: page.index, offset: page.offset, ..PageState::default() };
        self.row_ended = false;
        let num_levels = page.num_values;
        if self.max_rep == 0 && mode == Mode::Skip && num_levels as u64 <= *rows_left {
            *rows_left -= num_levels as u64;
            self.rows_started += num_levels as u64;
            return Ok(());
        }
        let def =
            LevelStream::new(page.definition_levels, page.definition_encoding, num_levels, self.max_def)?;
        let rep =
            LevelStream::new(page.repetition_levels, page.repetition_encoding, num_levels, self.max_rep)?;
        self.streams.set_page(def, rep);
        self.page.unopened =
            Some(PageValues { encoding: page.encoding, bytes: page.values, num_values: num_levels });
        self.page.levels_left = num_levels;
        Ok(())
    }

    /// Makes the page's values ready, before the first of them is read or skipped.
    fn open_values(&mut self) -> Result<()> {
        match self.page.unopened.take() {
            Some(page) => self.values.set_page(page.encoding, page.bytes, page.num_values),
            None => Ok(()),
        }
    }

    fn end_chunk(&mut self, num_rows: Option<u64>, rows_left: u64) -> Result<Option<Step>> {
        let found = std::mem::take(&mut self.rows_started);
        self.has_dictionary = false;
        self.values.end_chunk();
        if let Some(num_rows) = num_rows
            && found != num_rows
        {
            return Err(Error::malformed(format!(
                "the pages of the column chunk hold {found} rows, its row group {num_rows}"
            )));
        }
        Ok((rows_left == 0 || self.max_rep > 0).then_some(Step::Done))
    }

    /// Brings more levels of the page into the masks: about as many as the rows wanted will take.
    fn decode_levels(&mut self, rows_left: u64, mode: Mode) -> Result<()> {
        let wanted = usize::try_from(rows_left).unwrap_or(usize::MAX);
        let wanted = match mode {
            Mode::Read if self.max_rep == 0 => wanted,
            // A page may hold any number of levels in a few bytes: none is kept of those that are skipped.
            Mode::Skip if self.max_rep == 0 => wanted.min(LEVELS_AT_MOST),
            _ => wanted.clamp(LEVELS_AT_LEAST, LEVELS_AT_MOST),
        };
        let n = wanted.min(self.page.levels_left);
        if self.max_def == 0 {
            self.masks.push_trivial(n);
        } else {
            self.streams.read(n, &mut self.masks)?;
        }
        self.page.levels_left -= n;
        if self.max_rep > 0
            && self.at_chunk_start()
            && self.masks.nth(Test::RepBelow(1), self.filled, 0) != Some(self.filled)
        {
            return Err(Error::malformed("the first repetition level of a column chunk is not 0"));
        }
        Ok(())
    }

    /// Gives the page's memory back once all of it is read: it serves the next page while it is in the cache.
    fn close_page(&mut self) {
        if self.page_is_done() {
            self.page.unopened = None;
            self.streams.set_page(LevelStream::Zero, LevelStream::Zero);
            self.values.end_page();
        }
    }

    /// Gives back the chunk's dictionary too: all of its rows are read.
    pub(crate) fn release_chunk(&mut self) {
        self.close_page();
        self.values.end_chunk();
    }

    /// Where the levels end that belong to the next `rows_left` rows, and whether that is really their end.
    fn boundary(&self, rows_left: u64) -> (usize, bool) {
        let len = self.masks.len();
        let rows = usize::try_from(rows_left).unwrap_or(usize::MAX);
        if self.max_rep == 0 {
            let n = rows.min(len - self.filled);
            return (self.filled + n, n == rows);
        }
        match self.masks.nth(Test::RepBelow(1), self.filled, rows) {
            Some(end) => (end, true),
            None => (len, false),
        }
    }

    /// Reads or skips the values of the levels up to `end`. Gives the level it came to, which is before `end` when
    /// the sink is full.
    fn consume(&mut self, end: usize, done: bool, mode: Mode) -> Result<usize> {
        let range = self.filled..end;
        if range.is_empty() {
            return Ok(end);
        }
        let present = Test::DefAtLeast(self.max_def);
        let num_values = self.masks.count(present, range.clone());
        if num_values > 0 {
            self.open_values()?;
        }
        if mode == Mode::Skip {
            if num_values > 0 {
                self.values.skip(num_values)?;
            }
            return Ok(end);
        }
        let start = self.values.len();
        if self.max_rep > 0 && start + range.len() > i32::MAX as usize {
            return Ok(range.start); // lists of more elements need another batch
        }
        let got = match num_values {
            0 => 0,
            _ => self.values.read(num_values, done && start == 0 && self.max_def == 0)?,
        };
        let end =
            if got == num_values { end } else { self.masks.nth(present, range.start, got).unwrap_or(end) };
        self.spread(start, got, range.start..end)?;
        self.filled = end;
        Ok(end)
    }

    /// Moves the `got` values that were read densely at `start` to their slots.
    fn spread(&mut self, start: usize, got: usize, levels: std::ops::Range<usize>) -> Result<()> {
        let slot = Test::DefAtLeast(self.slot_def);
        let num_slots = self.masks.count(slot, levels.clone());
        let Some(present) = self.masks.get(Test::DefAtLeast(self.max_def)) else { return Ok(()) };
        if self.max_def == self.slot_def {
            return Ok(());
        }
        if let Some(slots) = self.masks.get(slot) {
            let from = self.validity.len();
            if got == num_slots {
                self.validity.push_n(true, num_slots);
            } else {
                extend_compressed(&mut self.validity, present.bits(levels.clone()), slots.bits(levels));
                self.values.spread(start, self.validity.bits(from..from + num_slots))?;
            }
        } else if got < num_slots {
            self.values.spread(start, present.bits(levels))?;
        }
        Ok(())
    }

    /// Counts the rows that begin among the levels just consumed, and drops the levels that were skipped.
    fn count_starts(&mut self, from: usize, reached: usize, mode: Mode, end: usize) -> u64 {
        let started = if self.max_rep == 0 {
            (reached - from) as u64
        } else {
            self.masks.count(Test::RepBelow(1), from..reached) as u64
        };
        self.rows_started += started;
        if mode == Mode::Skip {
            self.masks.remove(from..end);
        }
        started
    }

    /// Takes the first `rows` rows, which must be ready.
    ///
    /// # Errors
    /// When the values cannot become the array (bytes that are not UTF-8, say).
    pub(crate) fn take(&mut self, rows: usize) -> Result<LeafRows> {
        let level_end = if self.max_rep == 0 {
            rows
        } else {
            self.masks.nth(Test::RepBelow(1), 0, rows).unwrap_or(self.filled).min(self.filled)
        };
        let num_slots = self.masks.count(Test::DefAtLeast(self.slot_def), 0..level_end);
        let rest = if level_end == self.masks.len() {
            Masks::new(&self.tests)
        } else {
            self.masks.split_off(level_end)
        };
        let masks = std::mem::replace(&mut self.masks, rest);
        self.filled -= level_end;
        let nulls = self.take_nulls(&masks, num_slots);
        let array = self.values.take(num_slots, nulls)?;
        self.last_num_slots = num_slots;
        Ok(LeafRows { array, masks })
    }

    fn take_nulls(&mut self, masks: &Masks, num_slots: usize) -> Option<NullBuffer> {
        if self.max_def == self.slot_def {
            return None;
        }
        let bits = if self.slot_def > 0 {
            let rest = self.validity.split_off(num_slots);
            Some(std::mem::replace(&mut self.validity, rest)).filter(|_| self.nullable)?
        } else if self.nullable {
            masks.get(Test::DefAtLeast(self.max_def)).cloned()?
        } else {
            return None;
        };
        Some(NullBuffer::new(bits.into_boolean_buffer())).filter(|nulls| nulls.null_count() > 0)
    }

    /// Forgets the rows that are ready; what comes next stays.
    pub(crate) fn discard(&mut self, rows: usize) -> Result<()> {
        self.take(rows).map(|_| ())
    }
}

/// The levels of a leaf, from its place in the schema.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Levels {
    pub(crate) max_def: u8,
    pub(crate) max_rep: u8,
    pub(crate) slot_def: u8,
}

/// Levels of a repeated column are brought in by steps of this size: enough to be fast, few enough to stay in the
/// first-level cache and to leave little behind at a batch's end.
const LEVELS_AT_LEAST: usize = 256;
const LEVELS_AT_MOST: usize = 8192;

/// Slots that room is made for on the strength of a row count alone.
const ROOM_AT_MOST: usize = 1 << 16;
