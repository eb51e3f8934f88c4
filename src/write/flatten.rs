//! Arrays of runs and dictionaries of dictionaries as plain dictionaries: one key a slot, values that are neither.

use std::sync::Arc;

use super::keys::Keys;
use crate::arrow::array::cast::AsArray;
use crate::arrow::array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType, UInt32Type};
use crate::arrow::array::{Array, ArrayRef, DictionaryArray, PrimitiveArray, RunArray};
use crate::arrow::buffer::ArrowNativeType;
use crate::arrow::schema::DataType;
use crate::error::{Error, Result};

/// `array`, or where it is laid out in runs or its dictionary is no plain array, the dictionary of the same values.
///
/// # Errors
/// When Arrow refuses the dictionary: one of more than 2^32 values.
pub(super) fn flatten(array: &ArrayRef) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::RunEndEncoded(ends, _) => match ends.data_type() {
            DataType::Int16 => runs(array.as_run_opt::<Int16Type>()),
            DataType::Int32 => runs(array.as_run_opt::<Int32Type>()),
            _ => runs(array.as_run_opt::<Int64Type>()),
        },
        DataType::Dictionary(_, values) if is_layered(values) => {
            let Some((keys, values)) = Keys::of(array) else { return Ok(array.clone()) };
            let keys = keys.to_vec(array.len()).into_iter().enumerate();
            compose(keys.map(|(slot, key)| array.is_valid(slot).then_some(key)), &flatten(values)?)
        }
        _ => Ok(array.clone()),
    }
}

fn is_layered(data_type: &DataType) -> bool {
    matches!(data_type, DataType::Dictionary(..) | DataType::RunEndEncoded(..))
}

fn runs<E: RunEndIndexType>(array: Option<&RunArray<E>>) -> Result<ArrayRef> {
    let array = array.ok_or_else(|| Error::invalid("run ends of an unknown type"))?;
    let (ends, mut physical) = (array.run_ends(), array.get_start_physical_index());
    let run_ends = ends.values();
    let keys = (ends.offset()..ends.offset() + array.len()).map(|slot| {
        // A run ends before the slot whose index its end is.
        while run_ends.get(physical).is_some_and(|end| end.as_usize() <= slot) {
            physical += 1;
        }
        // More runs than that would be more than any dictionary has.
        Some(u32::try_from(physical).unwrap_or(u32::MAX))
    });
    compose(keys, &flatten(array.values())?)
}

/// The values at `keys`, as a dictionary whose values are plain.
fn compose(keys: impl Iterator<Item = Option<u32>>, values: &ArrayRef) -> Result<ArrayRef> {
    let (keys, values): (PrimitiveArray<UInt32Type>, _) = match Keys::of(values) {
        Some((inner_keys, inner_values)) => {
            let inner_keys = inner_keys.to_vec(values.len());
            let below =
                |key: u32| inner_keys.get(key as usize).copied().filter(|_| values.is_valid(key as usize));
            (keys.map(|key| key.and_then(below)).collect(), inner_values.clone())
        }
        None => (keys.collect(), values.clone()),
    };
    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::{Int32Array, StringArray};

    fn strings(array: &ArrayRef) -> Vec<Option<String>> {
        let dictionary = array.as_any_dictionary();
        let (keys, values) = (dictionary.normalized_keys(), dictionary.values().as_string::<i32>().clone());
        let nulls = array.logical_nulls();
        let valid = |slot| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(slot));
        (0..array.len()).map(|i| valid(i).then(|| values.value(keys[i]).to_owned())).collect()
    }

    #[test]
    fn runs_become_keys_wherever_they_are_cut() {
        let values = StringArray::from(vec![Some("a"), None, Some("b")]);
        let array = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![2, 3, 6]), &values).unwrap();
        let all: Vec<Option<String>> =
            [Some("a"), Some("a"), None, Some("b"), Some("b"), Some("b")].map(|v| v.map(String::from)).into();
        for start in 0..6 {
            for end in start..=6 {
                let slice: ArrayRef = Arc::new(array.slice(start, end - start));
                assert_eq!(strings(&flatten(&slice).unwrap()), all[start..end]);
            }
        }
    }

    #[test]
    fn layers_of_dictionaries_become_one() {
        let inner: DictionaryArray<Int32Type> = [Some("x"), None, Some("y")].into_iter().collect();
        let keys = Int32Array::from(vec![Some(2), Some(1), None, Some(0), Some(2)]);
        let outer: ArrayRef = Arc::new(DictionaryArray::try_new(keys, Arc::new(inner)).unwrap());
        let expected = [Some("y"), None, None, Some("x"), Some("y")].map(|v| v.map(String::from));
        assert_eq!(strings(&flatten(&outer).unwrap()), expected);
    }
}
