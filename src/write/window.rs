//! A walk over the slots of a leaf, some rows at a time.

use std::ops::Range;

use super::levels::{LeafSlots, valid_runs};
use crate::bitmap::Bits;

/// How far a leaf's slots are written.
pub(super) struct Cursor<'a> {
    leaf: &'a LeafSlots,
    slot: usize,
    /// The range that the next present slot is in, and how many of its elements are done.
    range: usize,
    within: usize,
}

/// The slots of some rows.
#[derive(Debug, Default, Clone)]
pub(super) struct Window {
    pub(super) num_rows: usize,
    pub(super) slots: Range<usize>,
    /// The elements of the array that have values: not null, none of them empty.
    pub(super) runs: Vec<Range<usize>>,
    /// How many elements `runs` hold.
    pub(super) num_values: usize,
    /// Elements of the present slots, null ones too.
    elements: Vec<Range<usize>>,
}

impl<'a> Cursor<'a> {
    pub(super) fn new(leaf: &'a LeafSlots) -> Self {
        Cursor { leaf, slot: 0, range: 0, within: 0 }
    }

    /// Whether all slots are done.
    pub(super) fn is_done(&self) -> bool {
        self.slot >= self.leaf.slots.len
    }

    /// Fills `window` with the next rows, `max_rows` at most, and stays where it is.
    pub(super) fn peek(&self, max_rows: usize, window: &mut Window) {
        let slots = &self.leaf.slots;
        let left = slots.len - self.slot;
        (window.num_rows, window.slots) = match &slots.repetition {
            None => (max_rows.min(left), self.slot..self.slot + max_rows.min(left)),
            Some(levels) => rows_of(levels.get(self.slot..).unwrap_or_default(), max_rows, self.slot),
        };
        self.elements(self.num_present(window.slots.clone()), &mut window.elements);
        window.runs.clear();
        match &self.leaf.nulls {
            None => window.runs.extend(window.elements.iter().cloned()),
            Some(nulls) => {
                window.elements.iter().for_each(|range| window.runs.extend(valid_runs(nulls, range)));
            }
        }
        window.num_values = window.runs.iter().map(Range::len).sum();
    }

    /// Goes on behind a window that [`Cursor::peek`] gave.
    pub(super) fn advance(&mut self, window: &Window) {
        self.slot = window.slots.end;
        let mut left: usize = window.elements.iter().map(Range::len).sum();
        while let Some(range) = self.leaf.slots.ranges.get(self.range) {
            let step = left.min(range.len() - self.within);
            self.within += step;
            left -= step;
            if self.within < range.len() {
                break;
            }
            (self.range, self.within) = (self.range + 1, 0);
        }
    }

    fn num_present(&self, slots: Range<usize>) -> usize {
        let present = self.leaf.slots.present;
        match &self.leaf.slots.definition {
            None => slots.len(),
            Some(levels) => {
                levels.get(slots).unwrap_or_default().iter().filter(|&&level| level == present).count()
            }
        }
    }

    /// The next `n` elements.
    fn elements(&self, n: usize, elements: &mut Vec<Range<usize>>) {
        elements.clear();
        let (mut left, mut within) = (n, self.within);
        for range in self.leaf.slots.ranges.iter().skip(self.range) {
            if left == 0 {
                break;
            }
            let start = range.start + within;
            let len = left.min(range.end - start);
            elements.push(start..start + len);
            (left, within) = (left - len, 0);
        }
    }
}

impl Window {
    /// Hands the definition levels to `put`, in runs and slices, as they lie.
    pub(super) fn definition_levels(
        &self,
        leaf: &LeafSlots,
        scratch: &mut Vec<u8>,
        put: &mut dyn FnMut(Levels<'_>),
    ) {
        let present = leaf.slots.present;
        let levels =
            leaf.slots.definition.as_ref().map(|levels| levels.get(self.slots.clone()).unwrap_or_default());
        match (levels, leaf.nullable, &leaf.nulls) {
            (None, nullable, None) => put(Levels::Run(present + u8::from(nullable), self.slots.len())),
            (None, _, Some(nulls)) => {
                let buffer = nulls.inner();
                for range in &self.elements {
                    let bits = Bits::new(buffer.values(), buffer.offset() + range.start, range.len());
                    bits.into_iter().for_each(|bits| put(Levels::Bits(present, bits)));
                }
            }
            (Some(levels), false, _) => put(Levels::Bytes(levels)),
            (Some(levels), true, nulls) => {
                scratch.clear();
                let mut elements = self.elements.iter().cloned().flatten();
                scratch.extend(levels.iter().map(|&level| match (level == present, nulls) {
                    (false, _) => level,
                    (true, None) => present + 1,
                    (true, Some(nulls)) => {
                        present + u8::from(elements.next().is_some_and(|element| nulls.is_valid(element)))
                    }
                }));
                put(Levels::Bytes(scratch));
            }
        }
    }

    /// The repetition levels; none where there are no lists.
    pub(super) fn repetition_levels<'a>(&self, leaf: &'a LeafSlots) -> Option<&'a [u8]> {
        leaf.slots.repetition.as_ref().map(|levels| levels.get(self.slots.clone()).unwrap_or_default())
    }
}

/// Levels that come together.
#[derive(Debug, Clone, Copy)]
pub(super) enum Levels<'a> {
    /// So many times this one.
    Run(u8, usize),
    /// This one where a bit is not set, the next where it is.
    Bits(u8, Bits<'a>),
    Bytes(&'a [u8]),
}

/// The first rows of `levels`, which begin at `slot` with a row: how many, and their slots.
fn rows_of(levels: &[u8], max_rows: usize, slot: usize) -> (usize, Range<usize>) {
    let mut rows = 0;
    for (index, &level) in levels.iter().enumerate() {
        if level == 0 {
            if rows == max_rows {
                return (rows, slot..slot + index);
            }
            rows += 1;
        }
    }
    (rows, slot..slot + levels.len())
}
