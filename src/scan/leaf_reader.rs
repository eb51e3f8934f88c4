//! One leaf of a scan: walks the row groups of the plan, fetches pages, and tells the decoder what to read and skip.

use std::sync::Arc;

use super::plan::{GroupPlan, page_index};
use crate::column::{LeafDecoder, LeafRows, Mode, Step};
use crate::error::{Context, Error, Result};
use crate::file::{ColumnChunk, ParquetFile};
use crate::metadata::{OffsetIndex, PageKind};
use crate::page::{Page, PageReader, Workspace};

/// Reads one leaf through all row groups of a plan.
pub(crate) struct LeafReader {
    file: ParquetFile,
    leaf: usize,
    decoder: LeafDecoder,
    groups: Arc<[GroupPlan]>,
    /// Groups that are done.
    groups_done: usize,
    chunk: Option<OpenChunk>,
}

/// The column chunk that is being read.
struct OpenChunk {
    pages: PageReader,
    /// Where each data page begins, if pages may be jumped over.
    index: Option<OffsetIndex>,
    /// Ranges of the group's plan that are done.
    ranges_done: usize,
    /// Rows of the group that are read or skipped, those of the operation under way included.
    row: u64,
    operation: Operation,
    /// Whether the decoder was told of the chunk's end.
    ended: bool,
}

/// Rows that are being read or skipped.
struct Operation {
    mode: Mode,
    /// Rows that have not begun yet.
    rows_left: u64,
    /// Whether the last of its rows has ended.
    done: bool,
}

impl LeafReader {
    pub(crate) fn new(
        file: ParquetFile,
        leaf: usize,
        decoder: LeafDecoder,
        groups: Arc<[GroupPlan]>,
    ) -> Self {
        LeafReader { file, leaf, decoder, groups, groups_done: 0, chunk: None }
    }

    /// Decodes until `rows` rows are ready, or an array can hold no more, or the plan is at its end. Gives how many are.
    ///
    /// # Errors
    /// When a page is missing or broken.
    pub(crate) fn fill(&mut self, rows: usize, workspace: &mut Workspace) -> Result<usize> {
        self.decoder.expect(rows);
        loop {
            let ready = self.decoder.ready_rows();
            if ready >= rows {
                self.release();
                return Ok(ready);
            }
            let Some(chunk) = &mut self.chunk else {
                if !self.open_next()? {
                    return Ok(ready);
                }
                continue;
            };
            let Some(group) = self.groups.get(self.groups_done) else { return Ok(ready) };
            if chunk.operation.done && !chunk.next_operation(group, (rows - ready) as u64) {
                let result = chunk.close(group, &mut self.decoder, workspace);
                result.in_row_group(group.row_group).in_column(|| self.file.leaf_name(self.leaf))?;
                self.chunk = None;
                self.groups_done += 1;
                continue;
            }
            let step = chunk.step(group, &mut self.decoder, workspace);
            if step.in_row_group(group.row_group).in_column(|| self.file.leaf_name(self.leaf))? == Step::Full
            {
                return Ok(self.decoder.ready_rows());
            }
        }
    }

    /// Gives back what a chunk holds whose rows are all read, before the batch is asked for again: a file may have
    /// thousands of columns.
    fn release(&mut self) {
        if let (Some(chunk), Some(group)) = (&self.chunk, self.groups.get(self.groups_done))
            && chunk.operation.done
            && chunk.row == group.num_rows
        {
            self.decoder.release_chunk();
        }
    }

    /// The first `rows` rows, which are ready.
    ///
    /// # Errors
    /// When the values cannot become an array.
    pub(crate) fn take(&mut self, rows: usize) -> Result<LeafRows> {
        self.decoder.take(rows).in_column(|| self.file.leaf_name(self.leaf))
    }

    /// Opens the chunk of the next row group. `false`: there is none.
    fn open_next(&mut self) -> Result<bool> {
        let Some(group) = self.groups.get(self.groups_done) else { return Ok(false) };
        let chunk = self.file.row_group(group.row_group)?.column(self.leaf)?;
        self.check_counts(&chunk, group)?;
        self.chunk = Some(OpenChunk {
            pages: chunk.page_reader(false)?,
            index: page_index(&chunk, group),
            ranges_done: 0,
            row: 0,
            operation: Operation { mode: Mode::Read, rows_left: 0, done: true },
            ended: false,
        });
        Ok(true)
    }

    /// A flat column has a value a row.
    fn check_counts(&self, chunk: &ColumnChunk, group: &GroupPlan) -> Result<()> {
        let num_values = chunk.metadata().num_values;
        if self.decoder.is_flat() && num_values != group.num_rows {
            return chunk.place(Err(Error::malformed(format!(
                "the column chunk says it has {num_values} values, its row group {} rows",
                group.num_rows
            ))));
        }
        Ok(())
    }
}

impl OpenChunk {
    /// Sets out for the next rows: to skip those before the next range, or to read some of it. `false`: no more.
    fn next_operation(&mut self, group: &GroupPlan, wanted: u64) -> bool {
        let Some(range) = group.ranges.get(self.ranges_done) else { return false };
        if self.row == range.end {
            self.ranges_done += 1;
            return self.next_operation(group, wanted);
        }
        self.operation = match range.start.checked_sub(self.row) {
            Some(gap) if gap > 0 => Operation { mode: Mode::Skip, rows_left: gap, done: false },
            _ => Operation { mode: Mode::Read, rows_left: wanted.min(range.end - self.row), done: false },
        };
        self.row += self.operation.rows_left;
        true
    }

    /// Goes on with the operation.
    fn step(
        &mut self,
        group: &GroupPlan,
        decoder: &mut LeafDecoder,
        workspace: &mut Workspace,
    ) -> Result<Step> {
        loop {
            let Operation { mode, rows_left, done } = &mut self.operation;
            match decoder.advance(rows_left, *mode)? {
                // A page that the index knows begins with a row, so the next one is not needed to end this row.
                Step::NeedPage if *rows_left == 0 && self.index.is_some() => {
                    decoder.end_row();
                    *done = true;
                    return Ok(Step::Done);
                }
                Step::NeedPage => self.feed(group, decoder, workspace)?,
                step => {
                    *done = step == Step::Done;
                    return Ok(step);
                }
            }
        }
    }

    /// Gives the decoder the next page it needs, or the end of the chunk.
    fn feed(
        &mut self,
        group: &GroupPlan,
        decoder: &mut LeafDecoder,
        workspace: &mut Workspace,
    ) -> Result<()> {
        if self.operation.mode == Mode::Skip && self.pass_over(decoder)? {
            return Ok(());
        }
        match self.pages.next(workspace)? {
            Some(page) => {
                self.check_index(&page, group, decoder).in_page(page.index()).at_offset(page.offset())?;
                decoder.push(page);
            }
            None if self.ended => {
                let missing = self.operation.rows_left;
                return Err(Error::malformed(format!("the column chunk ends {missing} rows early")));
            }
            None => {
                decoder.finish_chunk(Some(group.num_rows));
                self.ended = true;
            }
        }
        Ok(())
    }

    /// Where pages are found by the offset index, it must be right about each of them: a wrong one would give other rows.
    fn check_index(&self, page: &Page, group: &GroupPlan, decoder: &LeafDecoder) -> Result<()> {
        let (Some(index), Page::Data(page)) = (&self.index, page) else { return Ok(()) };
        let pages = index.pages();
        let Ok(at) = pages.binary_search_by_key(&page.offset, |page| page.offset) else {
            return Err(Error::malformed("the offset index does not know this page"));
        };
        let first_row = pages.get(at).map_or(0, |page| page.first_row);
        let begun = decoder.rows_started();
        if first_row != begun {
            return Err(Error::malformed(format!(
                "the offset index says that the page begins with row {first_row}, {begun} rows come before it"
            )));
        }
        let expected = pages.get(at + 1).map_or(group.num_rows, |next| next.first_row) - first_row;
        match decoder.count_rows(page)? {
            Some(found) if found as u64 == expected => Ok(()),
            Some(found) => Err(Error::malformed(format!(
                "the offset index says that the page has {expected} rows, it has {found}"
            ))),
            None => Err(Error::malformed("a page that the offset index knows begins within a row")),
        }
    }

    /// Passes over pages that no row of the plan needs. `false`: the next page is needed.
    fn pass_over(&mut self, decoder: &mut LeafDecoder) -> Result<bool> {
        let left = self.operation.rows_left;
        if let Some(index) = &self.index {
            let passed = index.pages().partition_point(|page| page.offset < self.pages.position());
            return self.jump(page_of(index, self.row), passed, decoder);
        }
        let Some(header) = self.pages.peek()? else { return Ok(false) };
        let rows = match &header.kind {
            PageKind::Data(_) | PageKind::DataV2(_) if decoder.is_flat() => header.num_values() as u64,
            PageKind::DataV2(header) => header.num_rows as u64,
            // V1 pages of lists do not say. The dictionary is needed whatever comes.
            _ => 0,
        };
        if rows == 0 || rows > left {
            return Ok(false);
        }
        self.pages.skip()?;
        self.operation.rows_left -= rows;
        decoder.pass_over(rows);
        Ok(true)
    }

    /// Jumps to the page of the row that is wanted next, as the offset index has it. `false`: it is the next page, or
    /// the dictionary is, which is needed whatever comes.
    fn jump(
        &mut self,
        wanted: Option<(usize, u64, u64)>,
        passed: usize,
        decoder: &mut LeafDecoder,
    ) -> Result<bool> {
        let Some((page, first_row, offset)) = wanted else { return Ok(false) };
        let at = self.row - self.operation.rows_left;
        if first_row <= at || self.is_before_data() && self.next_is_dictionary()? {
            return Ok(false);
        }
        self.pages.jump(offset, page.saturating_sub(passed));
        self.operation.rows_left = self.row - first_row;
        decoder.pass_over(first_row - at);
        Ok(true)
    }

    /// Whether the next page stands before those that the offset index knows.
    fn is_before_data(&self) -> bool {
        let first = self.index.as_ref().and_then(|index| index.pages().first());
        first.is_some_and(|first| self.pages.position() < first.offset)
    }

    fn next_is_dictionary(&mut self) -> Result<bool> {
        let header = self.pages.peek()?;
        Ok(header.is_some_and(|header| matches!(header.kind, PageKind::Dictionary(_))))
    }

    /// Ends the row group: if it was read to its end, that must be the end of its pages too.
    fn close(
        &mut self,
        group: &GroupPlan,
        decoder: &mut LeafDecoder,
        workspace: &mut Workspace,
    ) -> Result<()> {
        if self.row < group.num_rows {
            decoder.abandon_chunk();
            return Ok(());
        }
        if !self.ended {
            while let Some(page) = self.pages.next(workspace)? {
                if let Page::Data(_) = page {
                    return Err(Error::malformed(format!(
                        "the pages of the column chunk hold more rows than its row group's {}",
                        group.num_rows
                    )))
                    .in_page(page.index())
                    .at_offset(page.offset());
                }
            }
            decoder.finish_chunk(Some(group.num_rows));
            self.ended = true;
        }
        decoder.advance(&mut 0, Mode::Read)?;
        if !decoder.is_between_chunks() {
            return Err(Error::malformed(format!(
                "the pages of the column chunk hold more rows than its row group's {}",
                group.num_rows
            )));
        }
        Ok(())
    }
}

/// The data page that row `row` lies in: its place among the data pages, its first row, its offset.
fn page_of(index: &OffsetIndex, row: u64) -> Option<(usize, u64, u64)> {
    let pages = index.pages();
    let page = pages.partition_point(|page| page.first_row <= row).checked_sub(1)?;
    pages.get(page).map(|found| (page, found.first_row, found.offset))
}
