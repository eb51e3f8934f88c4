//! Primitive arrays of any Arrow type over a buffer of natives.

use std::sync::Arc;

use crate::arrow::array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use crate::arrow::array::{
    Array, ArrayRef, ArrowPrimitiveType, DictionaryArray, PrimitiveArray, downcast_primitive, make_array,
    new_null_array,
};
use crate::arrow::buffer::{Buffer, NullBuffer, ScalarBuffer};
use crate::arrow::data::ArrayData;
use crate::arrow::schema::DataType;
use crate::error::{Error, Result};

/// The array of `data_type` over the first `len` natives of `values`.
///
/// # Errors
/// When `data_type` is no primitive type, or the buffers do not hold `len` values.
pub(crate) fn primitive_array(
    data_type: &DataType,
    values: Buffer,
    len: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    macro_rules! build {
        ($type:ty) => {
            typed::<$type>(data_type, values, len, nulls)
        };
    }
    downcast_primitive! {
        data_type => (build),
        _ => Err(Error::invalid(format!("{data_type} is no primitive type")))
    }
}

fn typed<T: ArrowPrimitiveType>(
    data_type: &DataType,
    values: Buffer,
    len: usize,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let needed = len.saturating_mul(size_of::<T::Native>());
    if values.len() < needed {
        return Err(Error::end_of_data("values of an array", needed, values.len()));
    }
    // A copy, where a slice of something else does not begin where such values may.
    let aligned = values.as_ptr().align_offset(align_of::<T::Native>()) == 0;
    let values = if aligned { values } else { Buffer::from(values.as_slice()) };
    let array = PrimitiveArray::<T>::try_new(ScalarBuffer::new(values, 0, len), nulls)?;
    // Compatible, as `T` was chosen by `data_type`.
    Ok(Arc::new(array.with_data_type(data_type.clone())))
}

/// `len` values that are not null, and otherwise as near to nothing as `data_type` has: zeros, empty strings and lists.
///
/// # Errors
/// When arrays of that type cannot be made.
pub(crate) fn defaults(data_type: &DataType, len: usize) -> Result<ArrayRef> {
    fn present(data: ArrayData) -> Result<ArrayData> {
        if let DataType::Dictionary(key, value) = data.data_type() {
            return Ok(dictionary_array(key, vec![0; data.len()], defaults(value, 1)?, None)?.to_data());
        }
        let children = data.child_data().iter().cloned().map(present).collect::<Result<Vec<_>>>()?;
        Ok(data.into_builder().nulls(None).child_data(children).build()?)
    }
    Ok(make_array(present(new_null_array(data_type, len).to_data())?))
}

/// The dictionary array of these keys, stored as `key_type`. Keys of null slots mean nothing.
///
/// # Errors
/// When `key_type` is no integer type or cannot hold a key.
pub(crate) fn dictionary_array(
    key_type: &DataType,
    keys: Vec<i32>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    macro_rules! keyed {
        ($($variant:ident => $key:ty),*) => {
            match key_type {
                DataType::Int32 => {
                    let keys = PrimitiveArray::<Int32Type>::try_new(ScalarBuffer::from(keys), nulls)?;
                    // Without values the keys of null slots are no indices.
                    Ok(match values.is_empty() {
                        true => Arc::new(DictionaryArray::try_new(keys, values)?),
                        false => Arc::new(crate::raw::dictionary_array::dictionary_array(keys, values)?),
                    })
                }
                $(DataType::$variant => {
                    let keys = keys.into_iter().map(|key| {
                        key.try_into().map_err(|_| Error::out_of_range(format!("dictionary key {key}"), key_type))
                    });
                    let keys = keys.collect::<Result<Vec<<$key as ArrowPrimitiveType>::Native>>>()?;
                    let keys = PrimitiveArray::<$key>::try_new(ScalarBuffer::from(keys), nulls)?;
                    Ok(Arc::new(DictionaryArray::try_new(keys, values)?))
                })*
                _ => Err(Error::invalid(format!("dictionary keys of type {key_type}"))),
            }
        };
    }
    keyed!(Int8 => Int8Type, Int16 => Int16Type, Int64 => Int64Type,
        UInt8 => UInt8Type, UInt16 => UInt16Type, UInt32 => UInt32Type, UInt64 => UInt64Type)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::Array;
    use crate::arrow::array::cast::AsArray;
    use crate::arrow::array::types::{Decimal128Type, TimestampSecondType, UInt8Type};
    use crate::arrow::schema::TimeUnit;

    #[test]
    fn reinterprets_natives_of_the_same_width() {
        let array = primitive_array(&DataType::UInt8, Buffer::from_vec(vec![-1_i8, 2]), 2, None).unwrap();
        assert_eq!(array.as_primitive::<UInt8Type>().values().as_ref(), [255, 2]);
        let data_type = DataType::Timestamp(TimeUnit::Second, Some("Europe/Paris".into()));
        let nulls = NullBuffer::from(vec![true, false]);
        let array = primitive_array(&data_type, Buffer::from_vec(vec![5_i64, 0]), 2, Some(nulls)).unwrap();
        assert_eq!(array.data_type(), &data_type);
        assert_eq!(array.as_primitive::<TimestampSecondType>().iter().collect::<Vec<_>>(), [Some(5), None]);
        let data_type = DataType::Decimal128(20, 3);
        let array = primitive_array(&data_type, Buffer::from_vec(vec![-7_i128]), 1, None).unwrap();
        assert_eq!(array.as_primitive::<Decimal128Type>().value_as_string(0), "-0.007");
    }

    #[test]
    fn copies_a_slice_that_is_not_aligned() {
        let bytes: Vec<u8> = (0..33).collect();
        let slice = Buffer::from_vec(bytes).slice(1);
        let array = primitive_array(&DataType::Int64, slice, 4, None).unwrap();
        let first = i64::from_le_bytes([1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(array.as_primitive::<crate::arrow::array::types::Int64Type>().value(0), first);
    }

    #[test]
    fn refuses_what_the_buffers_do_not_hold() {
        let buffer = Buffer::from_vec(vec![0_i64; 2]);
        assert!(primitive_array(&DataType::Int64, buffer.clone(), 3, None).is_err());
        assert!(primitive_array(&DataType::Int64, buffer.clone(), usize::MAX, None).is_err());
        assert!(primitive_array(&DataType::Int64, buffer.clone(), 2, Some(NullBuffer::new_null(1))).is_err());
        assert!(primitive_array(&DataType::Utf8, buffer, 2, None).is_err());
    }
}
