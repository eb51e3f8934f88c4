//! Columns taken apart into leaves: where records and lists begin, what is null, and which slots of the leaf's array
//! count (Dremel's levels; README.md, "Nested Encoding").
//!
//! Takes an Arrow array and its [`Node`]; gives [`LeafSlots`] for each leaf. No value is touched. A column without lists
//! and without nulls costs nothing for each row.
//!
//! ```text
//! slots      one for each row at first; a list gives each of its elements one, and keeps one where it is empty
//! present    the slots where all nodes so far are there: one after another they are the elements of `ranges`
//! a null     leaves its slot behind at the definition level of the node above
//! ```

use std::ops::Range;
use std::sync::Arc;

use super::flatten::flatten;
use super::schema::{Kind, Node};
use crate::arrow::array::cast::AsArray;
use crate::arrow::array::{Array, ArrayRef, OffsetSizeTrait};
use crate::arrow::buffer::NullBuffer;
use crate::arrow::schema::DataType;
use crate::bitmap::Bits;
use crate::error::{Context, Error, Result};

/// The slots of one leaf in a batch.
#[derive(Debug, Clone)]
pub(super) struct LeafSlots {
    /// The leaf's values; a dictionary's values are no dictionary.
    pub(super) array: ArrayRef,
    pub(super) slots: Slots,
    /// The nulls of `array`, where it may have some and does.
    pub(super) nulls: Option<NullBuffer>,
    /// Whether a present slot that is not null has a definition level of its own.
    pub(super) nullable: bool,
}

/// Slots, and which elements of an array they stand for.
#[derive(Debug, Clone)]
pub(super) struct Slots {
    /// How many.
    pub(super) len: usize,
    /// The definition level of each; all are present where there are none.
    pub(super) definition: Option<Arc<Vec<u8>>>,
    /// The repetition level of each; all are 0 where there are none.
    pub(super) repetition: Option<Arc<Vec<u8>>>,
    /// The definition level of slots that are present: no other slot has it.
    pub(super) present: u8,
    /// How many lists there are above.
    lists: u8,
    /// The elements of the present slots; none of these is empty, none begins where the one before ends.
    pub(super) ranges: Vec<Range<usize>>,
}

/// Appends the slots of each leaf of column `array`, which `node` describes, to `leaves`.
///
/// # Errors
/// When a column that is not nullable has nulls, or an array is not of the node's type.
pub(super) fn shred(node: &Node, array: &ArrayRef, leaves: &mut Vec<LeafSlots>) -> Result<()> {
    let rows = array.len();
    let mut ranges = Vec::new();
    if rows > 0 {
        ranges.push(0..rows);
    }
    let slots = Slots { len: rows, definition: None, repetition: None, present: 0, lists: 0, ranges };
    descend(node, array, slots, leaves).in_column(|| node.name().to_owned())
}

fn descend(node: &Node, array: &ArrayRef, slots: Slots, leaves: &mut Vec<LeafSlots>) -> Result<()> {
    match &node.kind {
        Kind::Leaf(..) => leaf(node, array, slots).map(|leaf| leaves.push(leaf)),
        Kind::Struct(children) => {
            let array = array.as_struct_opt().ok_or_else(|| wrong_type(array))?;
            let slots = slots.nullable(node, array.nulls())?;
            if children.len() != array.num_columns() {
                return Err(wrong_type(array));
            }
            let pairs = children.iter().zip(array.columns());
            pairs.into_iter().try_for_each(|(child, array)| descend(child, array, slots.clone(), leaves))
        }
        Kind::List(element) => {
            let slots = slots.nullable(node, array.nulls())?;
            let (slots, values) = list(array, slots)?;
            descend(element, &values, slots, leaves)
        }
        Kind::Map(pair) => {
            let map = array.as_map_opt().ok_or_else(|| wrong_type(array))?;
            let slots = slots.nullable(node, array.nulls())?.lists(by_offsets(map.value_offsets()));
            let [key, value] = &**pair;
            descend(key, map.keys(), slots.clone(), leaves)?;
            descend(value, map.values(), slots, leaves)
        }
    }
}

fn leaf(node: &Node, array: &ArrayRef, slots: Slots) -> Result<LeafSlots> {
    let array = flatten(array)?;
    let nulls = array.logical_nulls().filter(|nulls| nulls.null_count() > 0);
    if let (false, Some(nulls)) = (node.nullable, &nulls) {
        slots.check_no_null(node, nulls)?;
    }
    Ok(LeafSlots { array, slots, nulls: nulls.filter(|_| node.nullable), nullable: node.nullable })
}

/// The slots of a list's elements, and the array that these are in.
fn list(array: &ArrayRef, slots: Slots) -> Result<(Slots, ArrayRef)> {
    fn of<O: OffsetSizeTrait>(array: &ArrayRef, slots: Slots) -> Option<(Slots, ArrayRef)> {
        if let Some(list) = array.as_list_opt::<O>() {
            return Some((slots.lists(by_offsets(list.value_offsets())), list.values().clone()));
        }
        let list = array.as_list_view_opt::<O>()?;
        let (offsets, sizes) = (list.value_offsets(), list.value_sizes());
        let slots = slots.lists(|index| {
            let start = offsets.get(index).map_or(0, |offset| offset.as_usize());
            start..start + sizes.get(index).map_or(0, |size| size.as_usize())
        });
        Some((slots, list.values().clone()))
    }
    match array.data_type() {
        DataType::List(_) | DataType::ListView(_) => of::<i32>(array, slots),
        DataType::LargeList(_) | DataType::LargeListView(_) => of::<i64>(array, slots),
        _ => array.as_fixed_size_list_opt().map(|list| {
            let len = usize::try_from(list.value_length()).unwrap_or(0);
            (slots.lists(|index| index * len..(index + 1) * len), list.values().clone())
        }),
    }
    .ok_or_else(|| wrong_type(array))
}

fn by_offsets<O: OffsetSizeTrait>(offsets: &[O]) -> impl Fn(usize) -> Range<usize> {
    let offset = |index| offsets.get(index).map_or(0, |offset: &O| offset.as_usize());
    move |index| offset(index)..offset(index + 1)
}

impl Slots {
    /// Those of a node that may be null, whose nulls are `nulls` in the array of the present slots.
    fn nullable(self, node: &Node, nulls: Option<&NullBuffer>) -> Result<Slots> {
        let nulls = nulls.filter(|nulls| nulls.null_count() > 0);
        match (node.nullable, nulls) {
            (false, None) => Ok(self),
            (false, Some(nulls)) => self.check_no_null(node, nulls).map(|()| self),
            (true, None) => Ok(self.all_present()),
            (true, Some(nulls)) => Ok(self.some_present(nulls)),
        }
    }

    fn check_no_null(&self, node: &Node, nulls: &NullBuffer) -> Result<()> {
        let null_count = |range: &Range<usize>| nulls.slice(range.start, range.len()).null_count();
        match self.ranges.iter().all(|range| null_count(range) == 0) {
            true => Ok(()),
            false => Err(Error::invalid(format!("{:?} is not nullable and holds nulls", node.name()))),
        }
    }

    /// One definition level more for what is present.
    fn all_present(mut self) -> Slots {
        let present = self.present;
        if let Some(levels) = &mut self.definition {
            Arc::make_mut(levels).iter_mut().for_each(|level| *level += u8::from(*level == present));
        }
        self.present += 1;
        self
    }

    /// One definition level more for what is present and not null.
    fn some_present(mut self, nulls: &NullBuffer) -> Slots {
        let present = self.present;
        let mut levels = match self.definition.take() {
            Some(levels) => Arc::unwrap_or_clone(levels),
            None => vec![present; self.len],
        };
        let valid = self.indices().map(|index| nulls.is_valid(index));
        let present_levels = levels.iter_mut().filter(|level| **level == present);
        present_levels.zip(valid).for_each(|(level, valid)| *level += u8::from(valid));
        let mut ranges = Vec::new();
        for range in &self.ranges {
            valid_runs(nulls, range).for_each(|run| push_range(&mut ranges, run));
        }
        Slots { definition: Some(Arc::new(levels)), present: present + 1, ranges, ..self }
    }

    /// Those of the elements of lists; `elements` gives those of the list at an index of the array.
    fn lists(self, elements: impl Fn(usize) -> Range<usize>) -> Slots {
        let lists = self.lists + 1;
        let num_elements: usize = self.indices().map(|index| elements(index).len()).sum();
        let capacity = self.len + num_elements;
        let (mut definition, mut repetition) = (Vec::with_capacity(capacity), Vec::with_capacity(capacity));
        let mut ranges = Vec::new();
        let mut indices = self.indices();
        for slot in 0..self.len {
            let definition_level = self.definition.as_ref().and_then(|levels| levels.get(slot).copied());
            let repetition_level = self.repetition.as_ref().and_then(|levels| levels.get(slot).copied());
            let level = definition_level.unwrap_or(self.present);
            repetition.push(repetition_level.unwrap_or(0));
            let range = match level == self.present {
                true => indices.next().map_or(0..0, &elements),
                false => 0..0,
            };
            match range.len() {
                0 => definition.push(level),
                len => {
                    definition.resize(definition.len() + len, self.present + 1);
                    repetition.resize(repetition.len() + len - 1, lists);
                    push_range(&mut ranges, range);
                }
            }
        }
        Slots {
            len: definition.len(),
            definition: Some(Arc::new(definition)),
            repetition: Some(Arc::new(repetition)),
            present: self.present + 1,
            lists,
            ranges,
        }
    }

    /// The elements of the present slots, one by one.
    fn indices(&self) -> impl Iterator<Item = usize> {
        self.ranges.iter().cloned().flatten()
    }
}

/// The runs of `range` that are not null.
pub(super) fn valid_runs(nulls: &NullBuffer, range: &Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let buffer = nulls.inner();
    let bits = Bits::new(buffer.values(), buffer.offset() + range.start, range.len());
    let start = range.start;
    // The bits are there: a null buffer is as long as its array.
    bits.into_iter().flat_map(Bits::runs).map(move |run| start + run.start..start + run.end)
}

/// Appends a range, to the last one where it begins there.
fn push_range(ranges: &mut Vec<Range<usize>>, range: Range<usize>) {
    match ranges.last_mut() {
        Some(last) if last.end == range.start => last.end = range.end,
        _ => ranges.push(range),
    }
}

fn wrong_type(array: &dyn Array) -> Error {
    Error::invalid(format!("an array of {} where the schema has another type", array.data_type()))
}
