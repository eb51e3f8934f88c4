//! The byte strings of a leaf's array, and those of them that a step takes.

use std::ops::Range;

use super::gather::past_end;
use crate::arrow::array::cast::AsArray;
use crate::arrow::array::{Array, ArrayRef, OffsetSizeTrait};
use crate::arrow::schema::DataType;
use crate::encoding::byte_strings::{ByteStrings, FixedBytes, OffsetBytes, SelectedBytes, ViewBytes};
use crate::error::Result;

/// All slots of an array of byte strings.
#[derive(Debug, Clone, Copy)]
pub(super) enum ByteSource<'a> {
    Small(OffsetBytes<'a, i32>),
    Large(OffsetBytes<'a, i64>),
    Views(ViewBytes<'a>),
    Fixed(FixedBytes<'a>),
}

/// What is done with byte strings, wherever they lie.
pub(super) trait WithBytes {
    type Output;
    fn run(self, values: impl ByteStrings) -> Self::Output;
}

/// Calls with what a [`ByteSource`] holds.
macro_rules! with_source {
    ($source:expr, $values:ident => $call:expr) => {
        match $source {
            ByteSource::Small($values) => $call,
            ByteSource::Large($values) => $call,
            ByteSource::Views($values) => $call,
            ByteSource::Fixed($values) => $call,
        }
    };
}

impl<'a> ByteSource<'a> {
    /// # Errors
    /// When the array is of another type.
    pub(super) fn of(array: &'a ArrayRef) -> Result<Self> {
        Ok(match array.data_type() {
            DataType::Utf8 => ByteSource::Small(OffsetBytes::of(array.as_string::<i32>())),
            DataType::Binary => ByteSource::Small(OffsetBytes::of(array.as_binary::<i32>())),
            DataType::LargeUtf8 => ByteSource::Large(OffsetBytes::of(array.as_string::<i64>())),
            DataType::LargeBinary => ByteSource::Large(OffsetBytes::of(array.as_binary::<i64>())),
            DataType::Utf8View => ByteSource::Views(ViewBytes::of(array.as_string_view())),
            DataType::BinaryView => ByteSource::Views(ViewBytes::of(array.as_binary_view())),
            DataType::FixedSizeBinary(_) => ByteSource::Fixed(FixedBytes::of(array.as_fixed_size_binary())?),
            _ => return Err(past_end(&array.to_data())),
        })
    }

    /// All values of `runs`, one after another.
    ///
    /// Slots between runs that hold no bytes, as null ones mostly do, are left out of the offsets; else each value is
    /// named.
    ///
    /// # Errors
    /// When a run is past the end.
    pub(super) fn with_runs<W: WithBytes>(
        self,
        runs: &[Range<usize>],
        scratch: &mut Scratch,
        with: W,
    ) -> Result<W::Output> {
        if let [run] = runs {
            return Ok(with_source!(self, values => with.run(values.slice(run.start, run.len()))));
        }
        match self {
            ByteSource::Small(values) if dense_offsets(values, runs, &mut scratch.small) => {
                Ok(with.run(OffsetBytes::new(&scratch.small, values.values())?))
            }
            ByteSource::Large(values) if dense_offsets(values, runs, &mut scratch.large) => {
                Ok(with.run(OffsetBytes::new(&scratch.large, values.values())?))
            }
            _ => {
                scratch.slots.clear();
                for run in runs {
                    scratch.slots.extend(run.clone().map(|slot| u32::try_from(slot).unwrap_or(u32::MAX)));
                }
                self.with_slots(&scratch.slots, with)
            }
        }
    }

    /// The values at `slots`.
    ///
    /// # Errors
    /// When one is past the end.
    pub(super) fn with_slots<W: WithBytes>(self, slots: &[u32], with: W) -> Result<W::Output> {
        Ok(with_source!(self, values => with.run(SelectedBytes::new(values, slots)?)))
    }

    /// All slots.
    pub(super) fn with_all<W: WithBytes>(self, with: W) -> W::Output {
        with_source!(self, values => with.run(values))
    }

    /// Bytes of the values of `runs`.
    pub(super) fn byte_len(self, runs: &[Range<usize>]) -> usize {
        with_source!(self, values => runs.iter().map(|run| values.slice(run.start, run.len()).byte_len()).sum())
    }

    /// Bytes of the value at `slot`.
    pub(super) fn value_len(self, slot: usize) -> usize {
        with_source!(self, values => values.value(slot).len())
    }
}

/// What steps need again and again.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    small: Vec<i32>,
    large: Vec<i64>,
    slots: Vec<u32>,
}

/// The offsets of the values of `runs`, if no bytes lie between them.
fn dense_offsets<O: OffsetSizeTrait>(
    values: OffsetBytes<'_, O>,
    runs: &[Range<usize>],
    dense: &mut Vec<O>,
) -> bool {
    let offsets = values.offsets();
    dense.clear();
    let Some(first) = runs.first().and_then(|run| offsets.get(run.start)) else { return false };
    dense.push(*first);
    for run in runs {
        let Some(run) = offsets.get(run.start..=run.end) else { return false };
        if run.first() != dense.last() {
            return false;
        }
        dense.extend_from_slice(run.get(1..).unwrap_or_default());
    }
    true
}
