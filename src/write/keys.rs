//! The keys of dictionary arrays, whichever integers they are.

use std::ops::Range;

use crate::arrow::array::cast::AsArray;
use crate::arrow::array::types::ArrowDictionaryKeyType;
use crate::arrow::array::types::{
    Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use crate::arrow::array::{Array, ArrayRef};
use crate::arrow::buffer::ArrowNativeType;
use crate::arrow::schema::DataType;

/// The keys of a dictionary array; those of null slots may be any number.
#[derive(Debug, Clone, Copy)]
pub(super) enum Keys<'a> {
    Int8(&'a [i8]),
    Int16(&'a [i16]),
    Int32(&'a [i32]),
    Int64(&'a [i64]),
    UInt8(&'a [u8]),
    UInt16(&'a [u16]),
    UInt32(&'a [u32]),
    UInt64(&'a [u64]),
}

impl<'a> Keys<'a> {
    /// Keys and values of a dictionary array; `None` for any other array.
    pub(super) fn of(array: &'a ArrayRef) -> Option<(Self, &'a ArrayRef)> {
        fn parts<K: ArrowDictionaryKeyType>(array: &ArrayRef) -> Option<(&[K::Native], &ArrayRef)> {
            let array = array.as_dictionary_opt::<K>()?;
            Some((array.keys().values(), array.values()))
        }
        let DataType::Dictionary(key, _) = array.data_type() else { return None };
        match **key {
            DataType::Int8 => parts::<Int8Type>(array).map(|(keys, values)| (Keys::Int8(keys), values)),
            DataType::Int16 => parts::<Int16Type>(array).map(|(keys, values)| (Keys::Int16(keys), values)),
            DataType::Int32 => parts::<Int32Type>(array).map(|(keys, values)| (Keys::Int32(keys), values)),
            DataType::Int64 => parts::<Int64Type>(array).map(|(keys, values)| (Keys::Int64(keys), values)),
            DataType::UInt8 => parts::<UInt8Type>(array).map(|(keys, values)| (Keys::UInt8(keys), values)),
            DataType::UInt16 => parts::<UInt16Type>(array).map(|(keys, values)| (Keys::UInt16(keys), values)),
            DataType::UInt32 => parts::<UInt32Type>(array).map(|(keys, values)| (Keys::UInt32(keys), values)),
            DataType::UInt64 => parts::<UInt64Type>(array).map(|(keys, values)| (Keys::UInt64(keys), values)),
            _ => None,
        }
    }

    /// Appends the keys of `slots`. A key that no dictionary has becomes 2^32-1.
    pub(super) fn extend(self, slots: Range<usize>, out: &mut Vec<u32>) {
        fn all<K: ArrowNativeType>(keys: &[K], slots: Range<usize>, out: &mut Vec<u32>) {
            let keys = keys.get(slots).unwrap_or_default();
            out.extend(keys.iter().map(|key| u32::try_from(key.as_usize()).unwrap_or(u32::MAX)));
        }
        match self {
            Keys::Int8(keys) => all(keys, slots, out),
            Keys::Int16(keys) => all(keys, slots, out),
            Keys::Int32(keys) => all(keys, slots, out),
            Keys::Int64(keys) => all(keys, slots, out),
            Keys::UInt8(keys) => all(keys, slots, out),
            Keys::UInt16(keys) => all(keys, slots, out),
            Keys::UInt32(keys) => all(keys, slots, out),
            Keys::UInt64(keys) => all(keys, slots, out),
        }
    }

    /// The key of each slot.
    pub(super) fn to_vec(self, len: usize) -> Vec<u32> {
        let mut keys = Vec::with_capacity(len);
        self.extend(0..len, &mut keys);
        keys
    }
}
