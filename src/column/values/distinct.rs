//! Values told apart by their bytes, so that each has one key.
//!
//! For columns that stay dictionaries where a page is not dictionary-encoded: its values are looked up among those of
//! the dictionary page, and those that are new get the keys behind them.

use std::hash::BuildHasher;

use foldhash::quality::RandomState;
use hashbrown::HashTable;

use crate::arrow::array::cast::AsArray;
use crate::arrow::array::types::{BinaryType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use crate::arrow::array::{Array, ArrayRef, GenericByteArray, make_array, types::ByteArrayType};
use crate::arrow::buffer::{ArrowNativeType, Buffer, ScalarBuffer};
use crate::arrow::data::transform::MutableArrayData;
use crate::arrow::schema::DataType;
use crate::error::Result;

/// Values in the order of their keys.
#[derive(Default)]
pub(super) struct Distinct {
    /// Where the values lie; those of the dictionary page in the first, if there is one.
    arrays: Vec<Values>,
    /// By key: which array, and which slot of it.
    places: Vec<(usize, usize)>,
    /// How many values the dictionary page has.
    own: usize,
    /// Keys, by the hashes of their values.
    keys: HashTable<(u64, usize)>,
    hasher: RandomState,
}

struct Values {
    array: ArrayRef,
    bytes: Bytes,
}

impl Distinct {
    /// The values of a dictionary page, which keep their keys, if some are equal too.
    pub(super) fn new(dictionary: Option<&ArrayRef>) -> Self {
        let mut distinct = Distinct::default();
        let Some(dictionary) = dictionary else { return distinct };
        distinct.arrays.push(Values::new(dictionary));
        distinct.own = dictionary.len();
        for slot in 0..dictionary.len() {
            let (hash, found) = distinct.find(0, slot);
            distinct.insert(hash, 0, slot, found.is_none());
        }
        distinct
    }

    /// Keys so far.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// Appends the keys of the values of `array` from slot `from` on, up to where a value would be one more than `most`
    /// (which is at most `i32::MAX`); gives how many keys were appended.
    pub(super) fn add(&mut self, array: &ArrayRef, from: usize, most: usize, keys: &mut Vec<i32>) -> usize {
        let at = self.arrays.len();
        self.arrays.push(Values::new(array));
        for slot in from..array.len() {
            let (hash, found) = self.find(at, slot);
            let key = match found {
                Some(key) => key,
                None if self.len() >= most => return slot - from,
                None => self.insert(hash, at, slot, true),
            };
            keys.push(i32::try_from(key).unwrap_or(i32::MAX));
        }
        array.len() - from
    }

    /// The values of all keys.
    ///
    /// # Errors
    /// When no array can hold them.
    pub(super) fn to_array(&self) -> Result<ArrayRef> {
        let data: Vec<_> = self.arrays.iter().map(|values| values.array.to_data()).collect();
        let mut all = MutableArrayData::new(data.iter().collect(), false, self.len());
        for run in self.places.chunk_by(|a, b| a.0 == b.0 && a.1 + 1 == b.1) {
            if let [(at, first), ..] = *run {
                all.try_extend(at, first, first + run.len())?;
            }
        }
        Ok(make_array(all.freeze()))
    }

    /// Forgets all values but those of the dictionary page.
    pub(super) fn forget_others(&mut self) {
        let own = self.own;
        if self.len() > own {
            self.keys.retain(|(_, key)| *key < own);
            self.places.truncate(own);
        }
        self.arrays.truncate(usize::from(own > 0));
    }

    /// The hash of a value, and its key if it has one.
    fn find(&self, at: usize, slot: usize) -> (u64, Option<usize>) {
        let Some(value) = self.value(at, slot) else { return (0, None) };
        let hash = self.hasher.hash_one(value);
        let same = |&(other, key): &(u64, usize)| {
            let place = self.places.get(key);
            other == hash && place.and_then(|&(at, slot)| self.value(at, slot)) == Some(value)
        };
        (hash, self.keys.find(hash, same).map(|(_, key)| *key))
    }

    /// Gives a value the next key; it can be found if `findable`.
    fn insert(&mut self, hash: u64, at: usize, slot: usize, findable: bool) -> usize {
        let key = self.places.len();
        self.places.push((at, slot));
        if findable {
            self.keys.insert_unique(hash, (hash, key), |(hash, _)| *hash);
        }
        key
    }

    fn value(&self, at: usize, slot: usize) -> Option<&[u8]> {
        self.arrays.get(at).and_then(|values| values.bytes.get(slot))
    }
}

impl Values {
    fn new(array: &ArrayRef) -> Self {
        Values { array: array.clone(), bytes: Bytes::of(array) }
    }
}

/// The bytes of an array's values, one after another.
enum Bytes {
    Fixed {
        values: Buffer,
        width: usize,
    },
    Offsets32(ScalarBuffer<i32>, Buffer),
    Offsets64(ScalarBuffer<i64>, Buffer),
    Views(ArrayRef),
    /// Of a type whose values are not told apart: each is its own.
    Opaque,
}

impl Bytes {
    fn of(array: &ArrayRef) -> Bytes {
        fn parts<T: ByteArrayType>(array: &GenericByteArray<T>) -> (ScalarBuffer<T::Offset>, Buffer) {
            (array.offsets().inner().clone(), array.values().clone())
        }
        match array.data_type() {
            DataType::Utf8 => {
                let (offsets, values) = parts(array.as_bytes::<Utf8Type>());
                Bytes::Offsets32(offsets, values)
            }
            DataType::Binary => {
                let (offsets, values) = parts(array.as_bytes::<BinaryType>());
                Bytes::Offsets32(offsets, values)
            }
            DataType::LargeUtf8 => {
                let (offsets, values) = parts(array.as_bytes::<LargeUtf8Type>());
                Bytes::Offsets64(offsets, values)
            }
            DataType::LargeBinary => {
                let (offsets, values) = parts(array.as_bytes::<LargeBinaryType>());
                Bytes::Offsets64(offsets, values)
            }
            DataType::Utf8View | DataType::BinaryView => Bytes::Views(array.clone()),
            other => {
                let width = match other {
                    DataType::FixedSizeBinary(width) => usize::try_from(*width).ok(),
                    other => other.primitive_width(),
                };
                let data = array.to_data();
                match (width, data.buffers()) {
                    (Some(width), [values]) => {
                        Bytes::Fixed { values: values.slice(data.offset() * width), width }
                    }
                    _ => Bytes::Opaque,
                }
            }
        }
    }

    #[inline]
    fn get(&self, slot: usize) -> Option<&[u8]> {
        match self {
            Bytes::Fixed { values, width } => values.get(slot * width..(slot + 1) * width),
            Bytes::Offsets32(offsets, values) => {
                values.get(offsets.get(slot)?.as_usize()..offsets.get(slot + 1)?.as_usize())
            }
            Bytes::Offsets64(offsets, values) => {
                values.get(offsets.get(slot)?.as_usize()..offsets.get(slot + 1)?.as_usize())
            }
            Bytes::Views(array) => match array.data_type() {
                DataType::Utf8View => Some(array.as_string_view().value(slot).as_bytes()),
                _ => Some(array.as_binary_view().value(slot)),
            },
            Bytes::Opaque => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::arrow::array::{
        BooleanArray, FixedSizeBinaryArray, Int64Array, LargeBinaryArray, StringArray, StringViewArray,
    };

    fn keys_of(distinct: &mut Distinct, array: ArrayRef, from: usize, most: usize) -> Vec<i32> {
        let mut keys = Vec::new();
        assert_eq!(distinct.add(&array, from, most, &mut keys), keys.len());
        keys
    }

    fn pairs(values: &[&[u8; 2]]) -> FixedSizeBinaryArray {
        FixedSizeBinaryArray::try_from_iter(values.iter()).unwrap()
    }

    #[test]
    fn values_of_the_dictionary_keep_their_keys_and_new_ones_come_behind() {
        let long = "a value that is too long to lie in a view";
        let arrays: [(ArrayRef, ArrayRef, ArrayRef); 5] = [
            (
                Arc::new(StringArray::from(vec!["a", "b", "a"])),
                Arc::new(StringArray::from(vec!["x", "c", "b", "c", "a"])),
                Arc::new(StringArray::from(vec!["a", "b", "a", "c"])),
            ),
            (
                Arc::new(StringViewArray::from(vec!["a", "b", "a"])),
                Arc::new(StringViewArray::from(vec!["x", long, "b", long, "a"])),
                Arc::new(StringViewArray::from(vec!["a", "b", "a", long])),
            ),
            (
                Arc::new(LargeBinaryArray::from(vec![b"a" as &[u8], b"b", b"a"])),
                Arc::new(LargeBinaryArray::from(vec![b"x" as &[u8], b"", b"b", b"", b"a"])),
                Arc::new(LargeBinaryArray::from(vec![b"a" as &[u8], b"b", b"a", b""])),
            ),
            (
                Arc::new(Int64Array::from(vec![5, 6, 5])),
                Arc::new(Int64Array::from(vec![9, -7, 6, -7, 5])),
                Arc::new(Int64Array::from(vec![5, 6, 5, -7])),
            ),
            (
                Arc::new(pairs(&[b"aa", b"bb", b"aa"])),
                Arc::new(pairs(&[b"xx", b"cc", b"bb", b"cc", b"aa"])),
                Arc::new(pairs(&[b"aa", b"bb", b"aa", b"cc"])),
            ),
        ];
        for (dictionary, values, all) in arrays {
            // A slice, whose values do not begin its buffers.
            let mut distinct = Distinct::new(Some(&dictionary));
            assert_eq!(keys_of(&mut distinct, values.slice(1, 4), 0, 100), [3, 1, 3, 0]);
            assert_eq!(&distinct.to_array().unwrap(), &all);
            distinct.forget_others();
            assert_eq!(&distinct.to_array().unwrap(), &dictionary);
            assert_eq!(keys_of(&mut distinct, values, 1, 100), [3, 1, 3, 0]);
            assert_eq!(&distinct.to_array().unwrap(), &all);
        }
    }

    #[test]
    fn stops_where_keys_run_out() {
        let mut distinct = Distinct::new(None);
        let array: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 1, 3, 1]));
        assert_eq!(keys_of(&mut distinct, array.clone(), 0, 2), [0, 1, 0]);
        distinct.forget_others();
        assert_eq!(keys_of(&mut distinct, array, 3, 2), [0, 1]);
    }

    #[test]
    fn values_that_cannot_be_told_apart_have_a_key_each() {
        let mut distinct = Distinct::new(None);
        let array: ArrayRef = Arc::new(BooleanArray::from(vec![true, true]));
        assert_eq!(keys_of(&mut distinct, array.clone(), 0, 100), [0, 1]);
        assert_eq!(&distinct.to_array().unwrap(), &array);
    }
}
