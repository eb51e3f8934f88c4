//! Leaves to lists, structs and maps.
//!
//! Takes the arrays of a column's leaves and the answers that their levels give; gives the array of the column. It
//! knows nothing of pages or encodings. How levels stand for nesting: Dremel (Melnik et al., VLDB 2010).
//!
//! Every node asks the *first* leaf below it, so that the levels of a struct's other leaves are not looked at again
//! for its sake. A node that lies in a list of repetition level `r`, whose elements exist from definition level `e` on,
//! has a slot wherever a level says `repetition <= r` and `definition >= e`; what is asked of a slot is then a bitmap
//! over all levels, compressed by that of the slots.

use std::sync::Arc;

use crate::arrow::array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    StructArray, make_array,
};
use crate::arrow::buffer::{BooleanBuffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use crate::arrow::data::transform::MutableArrayData;
use crate::arrow::schema::{DataType, FieldRef, Fields};
use crate::bitmap::{Bitmap, Bits};
use crate::column::{LeafRows, Masks, Test};
use crate::error::{Error, ErrorKind, Result};
use crate::logical::{Column, Shape, defaults};

/// The innermost list around a node.
#[derive(Debug, Clone, Copy, Default)]
struct Within {
    /// Definition level from which on it has an element.
    element_def: u8,
    /// Its repetition level.
    rep: u8,
}

/// The questions that each leaf of `column` must answer, in the order of [`Column::leaves`].
pub(crate) fn tests(column: &Column) -> Vec<Vec<Test>> {
    let mut all = Vec::new();
    collect_tests(column, Within::default(), &mut Vec::new(), &mut all);
    all
}

/// `asked`: what the nodes above ask of the first leaf below.
fn collect_tests(column: &Column, within: Within, asked: &mut Vec<Test>, all: &mut Vec<Vec<Test>>) {
    match &column.shape {
        Shape::Leaf { .. } => all.push(std::mem::take(asked)),
        Shape::Unsupported { .. } => {}
        Shape::Struct { children, def } => {
            if column.field.is_nullable() {
                asked.extend(slot_tests(within));
                asked.push(Test::DefAtLeast(*def));
            }
            children.iter().for_each(|child| collect_tests(child, within, asked, all));
        }
        &Shape::List { ref child, def, element_def, rep } => {
            asked.extend(slot_tests(within));
            let within = Within { element_def, rep };
            asked.extend(slot_tests(within));
            asked.push(Test::DefAtLeast(def));
            collect_tests(child, within, asked, all);
        }
        &Shape::Map { ref keys, ref values, def, element_def, rep } => {
            asked.extend(slot_tests(within));
            let within = Within { element_def, rep };
            asked.extend(slot_tests(within));
            asked.push(Test::DefAtLeast(def));
            collect_tests(keys, within, asked, all);
            collect_tests(values, within, asked, all);
        }
    }
}

fn slot_tests(within: Within) -> [Test; 2] {
    [Test::DefAtLeast(within.element_def), Test::RepBelow(within.rep + 1)]
}

/// The definition level from which on each leaf of `column` has a slot, in the order of [`Column::leaves`].
pub(crate) fn slot_levels(column: &Column) -> Vec<u8> {
    fn walk(column: &Column, slot: u8, all: &mut Vec<u8>) {
        match &column.shape {
            Shape::Leaf { .. } => all.push(slot),
            Shape::Unsupported { .. } => {}
            Shape::Struct { children, .. } => children.iter().for_each(|child| walk(child, slot, all)),
            Shape::List { child, element_def, .. } => walk(child, *element_def, all),
            Shape::Map { keys, values, element_def, .. } => {
                walk(keys, *element_def, all);
                walk(values, *element_def, all);
            }
        }
    }
    let mut all = Vec::new();
    walk(column, 0, &mut all);
    all
}

/// The array of `column`, out of the same rows of all its leaves, in the order of [`Column::leaves`].
///
/// # Errors
/// When the leaves do not fit together: their levels contradict each other.
pub(crate) fn assemble(column: &Column, leaves: &mut dyn Iterator<Item = LeafRows>) -> Result<ArrayRef> {
    build(column, Within::default(), leaves).map(|(array, _)| array)
}

/// The array of `column`, and the masks of the first leaf below it.
fn build(
    column: &Column,
    within: Within,
    leaves: &mut dyn Iterator<Item = LeafRows>,
) -> Result<(ArrayRef, Masks)> {
    match &column.shape {
        Shape::Leaf { .. } => match leaves.next() {
            Some(rows) => Ok((rows.array, rows.masks)),
            None => Err(Error::invalid("a column is assembled from too few leaves")),
        },
        Shape::Unsupported { why, .. } => Err(Error::unsupported(why.clone())),
        Shape::Struct { children, def } => build_struct(column, children, *def, within, leaves),
        &Shape::List { ref child, def, element_def, rep } => {
            let inner = Within { element_def, rep };
            let (array, masks) = build(child, inner, leaves)?;
            let nulls = nulls(column, &masks, within, def);
            let array = match column.field.data_type() {
                DataType::FixedSizeList(item, len) => {
                    let offsets = offsets(&masks, within, inner)?;
                    // A list within a null struct is absent, whether or not it may be null.
                    let present = presence(&masks, within, def);
                    fixed_size_list(item, *len, &offsets, array, nulls, present)?
                }
                data_type => list_array(data_type, array, nulls, &masks, within, inner)?,
            };
            Ok((array, masks))
        }
        &Shape::Map { ref keys, ref values, def, element_def, rep } => {
            let inner = Within { element_def, rep };
            let (keys, masks) = build(keys, inner, leaves)?;
            let (values, _) = build(values, inner, leaves)?;
            let nulls = nulls(column, &masks, within, def);
            let DataType::Map(entries, sorted) = column.field.data_type() else {
                return Err(Error::invalid(format!("a map of type {}", column.field.data_type())));
            };
            let DataType::Struct(fields) = entries.data_type() else {
                return Err(Error::invalid(format!("map entries of type {}", entries.data_type())));
            };
            let pairs = struct_array(fields.clone(), vec![keys, values], None)?;
            let offsets = offsets::<i32>(&masks, within, inner)?;
            let array = MapArray::try_new(entries.clone(), offsets, pairs, nulls, *sorted)?;
            Ok((Arc::new(array), masks))
        }
    }
}

fn build_struct(
    column: &Column,
    children: &[Column],
    def: u8,
    within: Within,
    leaves: &mut dyn Iterator<Item = LeafRows>,
) -> Result<(ArrayRef, Masks)> {
    let mut arrays = Vec::with_capacity(children.len());
    let mut first = None;
    for child in children {
        let (array, masks) = build(child, within, leaves)?;
        arrays.push(array);
        first.get_or_insert(masks);
    }
    let masks = first.ok_or_else(|| Error::invalid("a struct without a leaf"))?;
    let DataType::Struct(fields) = column.field.data_type() else {
        return Err(Error::invalid(format!("a struct of type {}", column.field.data_type())));
    };
    let array = struct_array(fields.clone(), arrays, nulls(column, &masks, within, def))?;
    Ok((Arc::new(array), masks))
}

fn struct_array(fields: Fields, arrays: Vec<ArrayRef>, nulls: Option<NullBuffer>) -> Result<StructArray> {
    let len = arrays.first().map_or(0, |array| array.len());
    if let Some(other) = arrays.iter().find(|array| array.len() != len) {
        return Err(Error::malformed(format!(
            "the levels of a group's columns disagree: {len} and {} values of it",
            other.len()
        )));
    }
    Ok(StructArray::try_new(fields, arrays, nulls)?)
}

/// Which slots of `column` are null; `None` where none is or none can be.
fn nulls(column: &Column, masks: &Masks, within: Within, def: u8) -> Option<NullBuffer> {
    if column.field.is_nullable() { presence(masks, within, def) } else { None }
}

/// Which slots hold something: neither they nor a struct around them is null; `None` where all do.
fn presence(masks: &Masks, within: Within, def: u8) -> Option<NullBuffer> {
    let present = masks.get(Test::DefAtLeast(def))?;
    let slots = Slots::new(masks, within);
    let mut valid = Bitmap::with_capacity(masks.len());
    for (i, word) in present.bits(0..masks.len()).words().enumerate() {
        let keep = slots.word(i);
        match keep {
            0 => {}
            u64::MAX => valid.push_word(word, 64),
            _ => valid.push_word(crate::raw::bits::compress(word, keep), keep.count_ones() as usize),
        }
    }
    let nulls = NullBuffer::new(valid.into_boolean_buffer());
    (nulls.null_count() > 0).then_some(nulls)
}

/// Which levels make a slot within a list.
struct Slots<'a> {
    def: Option<Bits<'a>>,
    rep: Option<Bits<'a>>,
    len: usize,
}

impl<'a> Slots<'a> {
    fn new(masks: &'a Masks, within: Within) -> Self {
        let len = masks.len();
        let [def, rep] = slot_tests(within).map(|test| masks.get(test).map(|bits| bits.bits(0..len)));
        Slots { def, rep, len }
    }

    /// The answers for 64 levels from level `64 * index` on; none for levels past the end.
    #[inline]
    fn word(&self, index: usize) -> u64 {
        let of = |bits: &Option<Bits<'_>>| bits.as_ref().map_or(u64::MAX, |bits| bits.word(index));
        let left = self.len - 64 * index;
        of(&self.def) & of(&self.rep) & if left < 64 { (1 << left) - 1 } else { u64::MAX }
    }

    fn words(&self) -> usize {
        self.len.div_ceil(64)
    }

    fn count(&self) -> usize {
        (0..self.words()).map(|i| self.word(i).count_ones() as usize).sum()
    }
}

/// Where each list's elements begin among the elements, and where the last one's end.
fn offsets<O: OffsetSizeTrait>(masks: &Masks, within: Within, inner: Within) -> Result<OffsetBuffer<O>> {
    let (slots, elements) = (Slots::new(masks, within), Slots::new(masks, inner));
    let mut offsets: Vec<O> = Vec::with_capacity(slots.count() + 1);
    let mut before = 0usize;
    for i in 0..slots.words() {
        let (mut starts, elements) = (slots.word(i), elements.word(i));
        while starts != 0 {
            let below = (1u64 << starts.trailing_zeros()) - 1;
            offsets.push(O::usize_as(before + (elements & below).count_ones() as usize));
            starts &= starts - 1;
        }
        before += elements.count_ones() as usize;
    }
    if O::from_usize(before).is_none() {
        return Err(ErrorKind::OffsetOverflow { use_instead: "LargeList" }.into());
    }
    offsets.push(O::usize_as(before));
    Ok(OffsetBuffer::new(ScalarBuffer::from(offsets)))
}

fn list_array(
    data_type: &DataType,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    masks: &Masks,
    within: Within,
    inner: Within,
) -> Result<ArrayRef> {
    Ok(match data_type {
        DataType::List(item) => Arc::new(GenericListArray::<i32>::try_new(
            item.clone(),
            offsets(masks, within, inner)?,
            values,
            nulls,
        )?),
        DataType::LargeList(item) => Arc::new(GenericListArray::<i64>::try_new(
            item.clone(),
            offsets(masks, within, inner)?,
            values,
            nulls,
        )?),
        DataType::ListView(item) => list_view::<i32>(item, &offsets(masks, within, inner)?, values, nulls)?,
        DataType::LargeListView(item) => {
            list_view::<i64>(item, &offsets(masks, within, inner)?, values, nulls)?
        }
        other => return Err(Error::invalid(format!("a list of type {other}"))),
    })
}

fn list_view<O: OffsetSizeTrait>(
    item: &FieldRef,
    offsets: &OffsetBuffer<O>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let starts = offsets.inner().slice(0, offsets.len() - 1);
    let sizes: Vec<O> = offsets.lengths().map(O::usize_as).collect();
    Ok(Arc::new(GenericListViewArray::<O>::try_new(
        item.clone(),
        starts,
        ScalarBuffer::from(sizes),
        values,
        nulls,
    )?))
}

/// A fixed-size list has elements also where it is absent; a file has none there.
fn fixed_size_list(
    item: &FieldRef,
    len: i32,
    offsets: &OffsetBuffer<i64>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    present: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let size = usize::try_from(len).map_err(|_| Error::invalid(format!("lists of {len} elements")))?;
    let num_lists = offsets.len() - 1;
    let is_present = |list: usize| present.as_ref().is_none_or(|present| present.is_valid(list));
    for (list, found) in offsets.lengths().enumerate() {
        if found != size && (is_present(list) || found > 0) {
            return Err(Error::malformed(format!(
                "a list of {found} elements in a column of lists of {size}"
            )));
        }
    }
    let num_slots = num_lists.saturating_mul(size);
    let padding = num_slots.saturating_sub(values.len());
    check_padding(padding, values.len(), item.data_type())?;
    let values = match padding {
        0 => values,
        _ if item.is_nullable() => pad_with_nulls(&values, size, offsets)?,
        _ => pad_with_defaults(&values, size, offsets)?,
    };
    let array = if size > 0 {
        FixedSizeListArray::try_new(item.clone(), len, values, nulls)?
    } else {
        let nulls = nulls.unwrap_or_else(|| NullBuffer::new(BooleanBuffer::new_set(num_lists)));
        FixedSizeListArray::try_new(item.clone(), len, values, Some(nulls))?
    };
    Ok(Arc::new(array))
}

/// A hint alone does not allocate; a smaller batch needs less.
fn check_padding(padding: usize, num_values: usize, data_type: &DataType) -> Result<()> {
    let width = slot_width(data_type);
    let (wanted, there) = (padding.saturating_mul(width), num_values.saturating_mul(width));
    let limit = PADDING_AT_MOST.max(there.saturating_mul(8)) as u64;
    if wanted as u64 > limit {
        let what = "padding of null fixed-size lists in a batch";
        return Err(ErrorKind::Limit { what, limit, wanted: wanted as u64 }.into());
    }
    Ok(())
}

/// Bytes that the elements of null fixed-size lists in one batch may take, or eight times those that are there.
const PADDING_AT_MOST: usize = 1 << 28;

/// About how many bytes a slot of this type takes, whatever is in it.
fn slot_width(data_type: &DataType) -> usize {
    match data_type {
        DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(0),
        DataType::FixedSizeList(item, len) => {
            usize::try_from(*len).unwrap_or(0).saturating_mul(slot_width(item.data_type()))
        }
        DataType::Struct(fields) => {
            fields.iter().fold(0, |sum: usize, field| sum.saturating_add(slot_width(field.data_type())))
        }
        other => other.primitive_width().unwrap_or(size_of::<u128>()),
    }
}

/// `values` with `size` nulls wherever a list has no element.
fn pad_with_nulls(values: &ArrayRef, size: usize, offsets: &OffsetBuffer<i64>) -> Result<ArrayRef> {
    let data = values.to_data();
    let mut padded = MutableArrayData::new(vec![&data], true, (offsets.len() - 1) * size);
    let mut start = 0;
    for found in offsets.lengths() {
        match found {
            0 => padded.try_extend_nulls(size)?,
            n => padded.try_extend(0, start, start + n)?,
        }
        start += found;
    }
    Ok(make_array(padded.freeze()))
}

/// `values` with `size` zeros, or what is as good as zero, wherever a list has no element.
fn pad_with_defaults(values: &ArrayRef, size: usize, offsets: &OffsetBuffer<i64>) -> Result<ArrayRef> {
    let (data, defaults) = (values.to_data(), defaults(values.data_type(), size)?.to_data());
    let mut padded = MutableArrayData::new(vec![&data, &defaults], false, (offsets.len() - 1) * size);
    let mut start = 0;
    for found in offsets.lengths() {
        match found {
            0 => padded.try_extend(1, 0, size)?,
            n => padded.try_extend(0, start, start + n)?,
        }
        start += found;
    }
    Ok(make_array(padded.freeze()))
}
