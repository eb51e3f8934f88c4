//! The values of a step, dense and in their physical type, from wherever a leaf's array has them.
//!
//! Where they lie so already they are borrowed; else they go to a scratch vector, a few thousand at a time.

use std::fmt::Display;
use std::ops::Range;

use crate::arrow::buffer::{ArrowNativeType, i256};
use crate::arrow::data::ArrayData;
use crate::error::{Error, Result};

/// Which slots of an array to take. None of them is null.
#[derive(Debug, Clone, Copy)]
pub(super) enum Pick<'a> {
    Runs(&'a [Range<usize>]),
    /// The slots of a dictionary's values that its keys name.
    Keys(&'a [u32]),
}

/// The values of an array at a [`Pick`], as physical values.
pub(super) type Gather<T> = for<'a> fn(&'a ArrayData, Pick<'_>, &'a mut Vec<T>) -> Result<&'a [T]>;

impl Pick<'_> {
    /// How many slots.
    pub(super) fn len(self) -> usize {
        match self {
            Pick::Runs(runs) => runs.iter().map(Range::len).sum(),
            Pick::Keys(keys) => keys.len(),
        }
    }
}

/// Values whose bits are those of the physical type.
pub(super) fn same<'a, T: ArrowNativeType>(
    data: &'a ArrayData,
    pick: Pick<'_>,
    scratch: &'a mut Vec<T>,
) -> Result<&'a [T]> {
    let values = data.buffer::<T>(0);
    if let Pick::Runs([run]) = pick {
        return values.get(run.clone()).ok_or_else(|| past_end(data));
    }
    each(values, pick, scratch, |values, out| {
        out.extend_from_slice(values);
        Ok(())
    })
    .map_err(|()| past_end(data))
}

/// Values that the physical type all holds.
pub(super) fn widen<'a, N: ArrowNativeType, T: From<N>>(
    data: &'a ArrayData,
    pick: Pick<'_>,
    scratch: &'a mut Vec<T>,
) -> Result<&'a [T]> {
    each(data.buffer::<N>(0), pick, scratch, |values, out| {
        out.extend(values.iter().map(|&value| T::from(value)));
        Ok(())
    })
    .map_err(|()| past_end(data))
}

/// Values that must fit the physical type.
///
/// # Errors
/// When one does not.
pub(super) fn narrow<'a, N: ArrowNativeType + Display, T: TryFrom<N>>(
    data: &'a ArrayData,
    pick: Pick<'_>,
    scratch: &'a mut Vec<T>,
) -> Result<&'a [T]> {
    narrow_with(data, pick, scratch, |value| T::try_from(value).ok())
}

/// [`narrow`] from 256 bits.
///
/// # Errors
/// When one does not fit.
pub(super) fn narrow_256<'a, T: TryFrom<i128>>(
    data: &'a ArrayData,
    pick: Pick<'_>,
    scratch: &'a mut Vec<T>,
) -> Result<&'a [T]> {
    narrow_with(data, pick, scratch, |value: i256| value.to_i128()?.try_into().ok())
}

fn narrow_with<'a, N: ArrowNativeType + Display, T>(
    data: &'a ArrayData,
    pick: Pick<'_>,
    scratch: &'a mut Vec<T>,
    convert: impl Fn(N) -> Option<T>,
) -> Result<&'a [T]> {
    let mut misfit = None;
    let gathered = each(data.buffer::<N>(0), pick, scratch, |values, out| {
        out.extend(values.iter().map_while(|&value| {
            let converted = convert(value);
            if converted.is_none() {
                misfit = Some(value);
            }
            converted
        }));
        if misfit.is_some() { Err(()) } else { Ok(()) }
    });
    gathered.map_err(|()| match misfit {
        Some(value) => Error::out_of_range(value, data.data_type()),
        None => past_end(data),
    })
}

/// Hands the values at `pick` to `extend`, as many at a time as lie together.
fn each<'a, N: ArrowNativeType, T>(
    values: &[N],
    pick: Pick<'_>,
    scratch: &'a mut Vec<T>,
    mut extend: impl FnMut(&[N], &mut Vec<T>) -> Result<(), ()>,
) -> Result<&'a [T], ()> {
    scratch.clear();
    scratch.reserve(pick.len());
    match pick {
        Pick::Runs(runs) => {
            for run in runs {
                extend(values.get(run.clone()).ok_or(())?, scratch)?;
            }
        }
        Pick::Keys(keys) => {
            for &key in keys {
                let key = key as usize;
                extend(values.get(key..key + 1).ok_or(())?, scratch)?;
            }
        }
    }
    Ok(scratch)
}

/// Arrow's arrays hold all their slots; an array made without its checks may not.
pub(super) fn past_end(data: &ArrayData) -> Error {
    Error::invalid(format!("an array of {} that lacks some of its values", data.data_type()))
}
