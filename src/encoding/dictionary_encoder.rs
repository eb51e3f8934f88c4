//! RLE_DICTIONARY, written: each distinct value once, in a PLAIN page, and ids (Encodings.md, "Dictionary Encoding").
//!
//! Values in, ids out, in the order in which values first come: what is written is the same whatever the hash. The
//! encoders know nothing of limits. The caller looks at [`DictionaryEncoder::encoded_size`] after each batch, and writes
//! the ids with an [`RleEncoder`](crate::encoding::RleEncoder).

use std::hash::BuildHasher;

use foldhash::fast::RandomState;

use crate::arrow::buffer::ArrowNativeType;
use crate::encoding::byte_strings::ByteStrings;
use crate::error::{ErrorKind, Result};
use crate::raw::byte_table::ByteTable;
use crate::raw::fixed::{FixedWidth, Int96, as_bytes};

/// A value that a dictionary holds once: alike means the same bits.
pub trait DictionaryValue: FixedWidth {
    /// All bits are the same.
    fn same(self, other: Self) -> bool;
    /// All bits, folded to 64.
    fn fold(self) -> u64;
}

/// Distinct values of a fixed width.
#[derive(Debug, Clone)]
pub struct DictionaryEncoder<T> {
    values: Vec<T>,
    /// One more than an id, or 0: where the hash of a value says, or behind it. A power of two of them.
    slots: Vec<u32>,
    /// What a value is multiplied by to be hashed: any odd number.
    multiplier: u64,
    /// Bits of a hash that do not name a slot.
    shift: u32,
}

impl<T: DictionaryValue> Default for DictionaryEncoder<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: DictionaryValue> DictionaryEncoder<T> {
    /// No values.
    pub fn new() -> Self {
        let multiplier = RandomState::default().hash_one(0u64) | 1;
        let shift = 64 - MIN_SLOTS.trailing_zeros();
        DictionaryEncoder { values: vec![], slots: vec![0; MIN_SLOTS], multiplier, shift }
    }

    /// Appends the id of each value to `ids`; a value not seen before becomes the next id.
    pub fn insert_all(&mut self, values: &[T], ids: &mut Vec<u32>) {
        ids.extend(values.iter().map(|&value| self.insert(value)));
    }

    /// Appends the ids of the values that an Arrow dictionary's `keys` name, looking each up once for each `map`.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryIndex`] where a key is past the end of `values`.
    pub fn insert_keys<K: ArrowNativeType>(
        &mut self,
        values: &[T],
        keys: &[K],
        map: &mut KeyMap,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        map.translate(values.len(), keys, ids, |key| {
            let value = values.get(key).copied().unwrap_or_default();
            self.insert(value)
        })
    }

    /// Number of distinct values.
    pub fn num_values(&self) -> usize {
        self.values.len()
    }

    /// Bytes of the dictionary page.
    pub fn encoded_size(&self) -> usize {
        size_of_val(self.values.as_slice())
    }

    /// The distinct values by their ids.
    pub fn values(&self) -> &[T] {
        &self.values
    }

    /// Appends the dictionary page.
    pub fn write_plain(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(as_bytes(&self.values));
    }

    /// Forgets all values, and keeps the memory.
    pub fn clear(&mut self) {
        self.values.clear();
        self.slots.fill(0);
    }

    #[inline]
    fn insert(&mut self, value: T) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = self.first_slot(value);
        while let Some(&slot) = self.slots.get(at & mask) {
            let id = slot.wrapping_sub(1);
            match self.values.get(id as usize) {
                Some(seen) if seen.same(value) => return id,
                None => break,
                _ => at += 1,
            }
        }
        self.append(value, at & mask)
    }

    /// Both halves of a long product: one alone would leave values of equal distance at equal distances.
    #[inline]
    #[allow(clippy::cast_possible_truncation)] // the halves
    fn first_slot(&self, value: T) -> usize {
        let product = u128::from(value.fold()) * u128::from(self.multiplier);
        (product as u64 ^ (product >> 64) as u64) as usize >> self.shift
    }

    #[cold]
    #[allow(clippy::cast_possible_truncation)] // 2^32 values would be seen first by their size
    fn append(&mut self, value: T, vacant: usize) -> u32 {
        self.values.push(value);
        let len = self.values.len() as u32;
        if let Some(slot) = self.slots.get_mut(vacant) {
            *slot = len;
        }
        if self.values.len() * SLOTS_A_VALUE > self.slots.len() {
            self.grow();
        }
        len - 1
    }

    fn grow(&mut self) {
        let len = self.slots.len() * 4;
        self.slots.clear();
        self.slots.resize(len, 0);
        self.shift = 64 - len.trailing_zeros();
        for (&value, number) in self.values.iter().zip(1..) {
            let mut at = self.first_slot(value);
            while self.slots.get(at & (len - 1)).is_some_and(|slot| *slot != 0) {
                at += 1;
            }
            if let Some(slot) = self.slots.get_mut(at & (len - 1)) {
                *slot = number;
            }
        }
    }
}

/// Slots at first, and for each value at least: few values are then found at another's place.
const MIN_SLOTS: usize = 256;
const SLOTS_A_VALUE: usize = 4;

/// Distinct byte strings; those of `FIXED_LEN_BYTE_ARRAY` as well.
#[derive(Debug, Clone)]
pub struct ByteDictionaryEncoder {
    table: ByteTable,
}

impl ByteDictionaryEncoder {
    /// For `BYTE_ARRAY`.
    pub fn new() -> Self {
        ByteDictionaryEncoder { table: ByteTable::new(4) }
    }

    /// For `FIXED_LEN_BYTE_ARRAY`.
    pub fn fixed() -> Self {
        ByteDictionaryEncoder { table: ByteTable::new(0) }
    }

    /// Appends the id of each value, shorter than 4 GiB, to `ids`; a value not seen before becomes the next id.
    pub fn insert_all(&mut self, values: impl ByteStrings, ids: &mut Vec<u32>) {
        self.table.insert_all(values, ids);
    }

    /// Appends the ids of the values that an Arrow dictionary's `keys` name, looking each up once for each `map`.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryIndex`] where a key is past the end of `values`.
    pub fn insert_keys<K: ArrowNativeType>(
        &mut self,
        values: impl ByteStrings,
        keys: &[K],
        map: &mut KeyMap,
        ids: &mut Vec<u32>,
    ) -> Result<()> {
        map.translate(values.len(), keys, ids, |key| self.table.insert(values.value(key)))
    }

    /// Number of distinct values.
    pub fn num_values(&self) -> usize {
        self.table.len()
    }

    /// Bytes of the dictionary page.
    pub fn encoded_size(&self) -> usize {
        self.table.plain().len()
    }

    /// The distinct value of `id`; empty where there is none.
    pub fn value(&self, id: u32) -> &[u8] {
        self.table.value(id)
    }

    /// Appends the dictionary page.
    pub fn write_plain(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.table.plain());
    }

    /// Forgets all values, and keeps the memory.
    pub fn clear(&mut self) {
        self.table.clear();
    }
}

impl Default for ByteDictionaryEncoder {
    fn default() -> Self {
        Self::new()
    }
}

/// The ids of one Arrow dictionary's keys. It belongs to one encoder and one dictionary array's values: cleared when
/// either begins anew.
#[derive(Debug, Clone, Default)]
pub struct KeyMap {
    ids: Vec<u32>,
}

impl KeyMap {
    /// No key is known.
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets all keys.
    pub fn clear(&mut self) {
        self.ids.clear();
    }

    fn translate<K: ArrowNativeType>(
        &mut self,
        num_values: usize,
        keys: &[K],
        ids: &mut Vec<u32>,
        mut insert: impl FnMut(usize) -> u32,
    ) -> Result<()> {
        self.ids.resize(num_values.max(self.ids.len()), UNKNOWN);
        ids.reserve(keys.len());
        for key in keys {
            let key = key.to_usize().unwrap_or(usize::MAX);
            match self.ids.get_mut(key).filter(|_| key < num_values) {
                Some(id) => {
                    if *id == UNKNOWN {
                        *id = insert(key);
                    }
                    ids.push(*id);
                }
                None => {
                    let index = u32::try_from(key).unwrap_or(u32::MAX);
                    return Err(ErrorKind::DictionaryIndex { index, len: num_values }.into());
                }
            }
        }
        Ok(())
    }
}

/// A key without an id so far.
const UNKNOWN: u32 = u32::MAX;

macro_rules! dictionary_value {
    ($($type:ty: $value:ident => $bits:expr;)*) => {$(
        impl DictionaryValue for $type {
            #[inline(always)]
            fn same(self, other: Self) -> bool {
                as_bytes(&[self]) == as_bytes(&[other])
            }

            #[inline(always)]
            fn fold(self) -> u64 {
                let $value = self;
                $bits
            }
        }
    )*};
}

dictionary_value! {
    i32: value => u64::from(value.cast_unsigned());
    i64: value => value.cast_unsigned();
    f32: value => u64::from(value.to_bits());
    f64: value => value.to_bits();
    i128: value => fold_halves(value.cast_unsigned());
    Int96: value => {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = value.0;
        let (low, high) = ([a, b, c, d, e, f, g, h], [i, j, k, l, 0, 0, 0, 0]);
        fold_halves(u128::from(u64::from_le_bytes(low)) | u128::from(u64::from_le_bytes(high)) << 64)
    };
}

/// Two halves to one, so that values which differ in both seldom fall together.
#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // the halves
fn fold_halves(value: u128) -> u64 {
    value as u64 ^ ((value >> 64) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::BinaryArray;
    use crate::encoding::byte_strings::{FixedBytes, OffsetBytes};
    use crate::encoding::testing::{byte_samples, random};
    use crate::encoding::{plain_byte_dictionary, plain_dictionary, plain_fixed_byte_dictionary};

    /// Ids as first come, by comparing with all before.
    fn oracle<V: PartialEq + Clone>(values: &[V]) -> (Vec<u32>, Vec<V>) {
        let mut distinct: Vec<V> = vec![];
        let ids = values.iter().map(|value| {
            let at = distinct.iter().position(|seen| seen == value).unwrap_or_else(|| {
                distinct.push(value.clone());
                distinct.len() - 1
            });
            u32::try_from(at).unwrap()
        });
        (ids.collect(), distinct)
    }

    fn check<T: DictionaryValue + PartialEq + std::fmt::Debug>(values: &[T]) {
        let mut encoder = DictionaryEncoder::new();
        for _ in 0..2 {
            let mut ids = vec![];
            values.chunks(300).for_each(|some| encoder.insert_all(some, &mut ids));
            let (expected, distinct) = oracle(values);
            assert_eq!(ids, expected);
            assert_eq!((encoder.values(), encoder.num_values()), (&distinct[..], distinct.len()));
            let mut page = vec![];
            encoder.write_plain(&mut page);
            assert_eq!(page.len(), encoder.encoded_size());
            assert_eq!(plain_dictionary::<T>(&page, distinct.len()).unwrap(), distinct);
            encoder.clear();
        }
    }

    #[test]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn ids_are_in_the_order_of_first_coming() {
        for distinct in [1, 2, 100, 3000] {
            let mut next = random(distinct);
            let values: Vec<i64> = (0..5000).map(|_| ((next() % distinct) << 40).cast_signed() - 7).collect();
            check(&values);
            check(&values.iter().map(|&v| (v >> 38) as i32).collect::<Vec<_>>());
            check(&values.iter().map(|&v| v as f64).collect::<Vec<_>>());
            check(&values.iter().map(|&v| i128::from(v) << 60).collect::<Vec<_>>());
            let int96 = |v: &i64| Int96(std::array::from_fn(|i| (v >> (i * 5)) as u8));
            check(&values.iter().map(int96).collect::<Vec<_>>());
        }
        check::<i32>(&[]);
    }

    #[test]
    fn floats_are_told_apart_by_their_bits() {
        let nan = f32::from_bits(0x7fc0_0001);
        let values = [0.0f32, -0.0, f32::NAN, nan, 0.0, f32::NAN, -0.0, nan];
        let (mut encoder, mut ids) = (DictionaryEncoder::new(), vec![]);
        encoder.insert_all(&values, &mut ids);
        assert_eq!(ids, [0, 1, 2, 3, 0, 2, 1, 3]);
    }

    #[test]
    fn byte_strings_get_ids() {
        let mut encoder = ByteDictionaryEncoder::new();
        for values in byte_samples() {
            let twice = [&values[..], &values].concat();
            let array = BinaryArray::from_iter_values(&twice);
            let mut ids = vec![];
            encoder.insert_all(OffsetBytes::of(&array), &mut ids);
            let (expected, distinct) = oracle(&twice);
            assert_eq!(ids, expected);
            let mut page = vec![];
            encoder.write_plain(&mut page);
            assert_eq!((page.len(), distinct.len()), (encoder.encoded_size(), encoder.num_values()));
            let read = plain_byte_dictionary(&page, distinct.len()).unwrap();
            for (id, value) in (0..).zip(&distinct) {
                assert_eq!((read.value(id).unwrap(), encoder.value(id)), (&value[..], &value[..]));
            }
            encoder.clear();
        }
        assert!(encoder.value(0).is_empty());
    }

    #[test]
    fn fixed_length_byte_arrays_have_no_lengths() {
        let bytes = b"abcdababefcd";
        let (mut encoder, mut ids, mut page) = (ByteDictionaryEncoder::fixed(), vec![], vec![]);
        encoder.insert_all(FixedBytes::new(bytes, 2, 6).unwrap(), &mut ids);
        assert_eq!(ids, [0, 1, 0, 0, 2, 1]);
        encoder.write_plain(&mut page);
        assert_eq!(page, b"abcdef");
        assert_eq!(plain_fixed_byte_dictionary(&page, 3, 2).unwrap().value(2).unwrap(), encoder.value(2));
    }

    #[test]
    fn keys_of_an_arrow_dictionary_are_looked_up_once() {
        let words: [&[u8]; 4] = [b"red", b"green", b"red", b"blue"];
        let (mut encoder, mut map, mut ids) = (ByteDictionaryEncoder::new(), KeyMap::new(), vec![]);
        encoder.insert_keys(&words[..], &[3i8, 2, 0, 3, 2], &mut map, &mut ids).unwrap();
        assert_eq!(ids, [0, 1, 1, 0, 1]);
        map.clear();
        encoder.insert_keys(&words[..2], &[1u16, 0], &mut map, &mut ids).unwrap();
        assert_eq!(ids[5..], [2, 1]);
        assert!(encoder.insert_keys(&words[..2], &[2u16], &mut map, &mut ids).is_err());
        assert!(encoder.insert_keys(&words[..], &[-1i32], &mut map, &mut ids).is_err());
        let (mut numbers, mut ids) = (DictionaryEncoder::new(), vec![]);
        numbers.insert_keys(&[5i64, 6, 5], &[2u8, 1, 0], &mut KeyMap::new(), &mut ids).unwrap();
        assert_eq!((ids, numbers.values()), (vec![0, 1, 0], &[5i64, 6][..]));
    }
}
