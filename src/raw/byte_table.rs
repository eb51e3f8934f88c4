//! Distinct byte strings and their ids: the hash table of dictionaries that are written.
//!
//! ```text
//! slots      32 bits of hash, one more than an id; 0 where vacant. Found where the hash says, or behind
//! places     by id, where the value begins in the page, and its length
//! page       the values as PLAIN has them
//! ```
//!
//! Strings of up to 64 bytes, whose lengths nobody can foretell, are hashed and compared without a branch where there is
//! AVX-512: a register holds the value, filled up with zeros, for both.
#![allow(clippy::indexing_slicing)] // of arrays, by numbers below their length

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;

use super::isa::Isa;
use crate::raw::byte_strings::ByteStrings;

#[derive(Debug, Clone)]
pub(crate) struct ByteTable {
    page: Vec<u8>,
    /// Each within the page.
    places: Vec<Place>,
    /// Bytes of each length in the page: 4, or none where all values are of one.
    prefix: usize,
    /// A power of two of them, a bucket at least.
    slots: Vec<u64>,
    isa: Isa,
    hash: RandomState,
    /// What the kernel adds to the 4-byte parts of a value before it multiplies them by pairs.
    #[cfg(target_arch = "x86_64")]
    keys: [u64; 9],
}

#[derive(Debug, Clone, Copy)]
struct Place {
    start: usize,
    len: usize,
}

impl ByteTable {
    /// `prefix` is the number of bytes of a length: 4 or 0.
    pub(crate) fn new(prefix: usize) -> Self {
        Self::with_isa(Isa::best(), prefix)
    }

    fn with_isa(isa: Isa, prefix: usize) -> Self {
        let hash = RandomState::default();
        ByteTable {
            page: vec![],
            places: vec![],
            prefix,
            slots: vec![0; MIN_SLOTS],
            isa,
            #[cfg(target_arch = "x86_64")]
            keys: std::array::from_fn(|i| hash.hash_one(i) | 1),
            hash,
        }
    }

    /// Appends the id of each value to `ids`.
    pub(crate) fn insert_all<S: ByteStrings>(&mut self, values: S, ids: &mut Vec<u32>) {
        ids.reserve(values.len());
        match self.isa {
            // SAFETY: the machine runs the table's instruction set.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { x86::insert_all(self, values, ids) },
            _ => ids.extend((0..values.len()).map(|index| self.insert(values.value(index)))),
        }
    }

    /// The id of one value.
    pub(crate) fn insert(&mut self, value: &[u8]) -> u32 {
        match self.isa {
            // SAFETY: the machine runs the table's instruction set.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { x86::insert(self, value) },
            _ => self.insert_any(value),
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// All values as PLAIN has them.
    pub(crate) fn plain(&self) -> &[u8] {
        &self.page
    }

    /// Empty where there is none.
    #[inline]
    pub(crate) fn value(&self, id: u32) -> &[u8] {
        let Some(&Place { start, len }) = self.places.get(id as usize) else { return &[] };
        // SAFETY: each place is within the page.
        unsafe { self.page.get_unchecked(start..start + len) }
    }

    pub(crate) fn clear(&mut self) {
        self.page.clear();
        self.places.clear();
        self.slots.fill(0);
    }

    /// A value of any length, by the slice.
    fn insert_any(&mut self, value: &[u8]) -> u32 {
        let hash = self.hash_any(value);
        match self.find(hash, |seen| seen == value) {
            Ok(id) => id,
            Err(vacant) => self.append(value, hash, vacant),
        }
    }

    fn hash_any(&self, value: &[u8]) -> u64 {
        let mut hasher = self.hash.build_hasher();
        hasher.write(value);
        hasher.finish() | OCCUPIED
    }

    /// Where to look first: a kernel, at the beginning of a bucket, which it sees at once.
    #[inline(always)]
    fn first_slot(&self, hash: u64) -> usize {
        let start = (hash >> 32) as usize & (self.slots.len() - 1);
        if self.isa == Isa::Portable { start } else { start & !(BUCKET - 1) }
    }

    /// The id of the value with this hash that `is_same` knows, or the slot where it would be.
    #[inline(always)]
    fn find(&self, hash: u64, is_same: impl Fn(&[u8]) -> bool) -> Result<u32, usize> {
        let mask = self.slots.len() - 1;
        let mut at = self.first_slot(hash);
        loop {
            let slot = self.slots.get(at).copied().unwrap_or(0);
            if slot == 0 {
                return Err(at);
            }
            if (slot ^ hash) >> 32 == 0 && is_same(self.value(id_of(slot))) {
                return Ok(id_of(slot));
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    #[inline(never)]
    #[allow(clippy::cast_possible_truncation)] // values are shorter than 4 GiB, and fewer than 2^32
    fn append(&mut self, value: &[u8], hash: u64, vacant: usize) -> u32 {
        let len = (value.len() as u32).to_le_bytes();
        self.page.extend(len.iter().take(self.prefix));
        let place = Place { start: self.page.len(), len: value.len() };
        self.page.extend_from_slice(value);
        self.places.push(place);
        let number = self.places.len();
        if let Some(slot) = self.slots.get_mut(vacant) {
            *slot = hash >> 32 << 32 | number as u64;
        }
        if number * SLOTS_A_VALUE > self.slots.len() {
            self.grow();
        }
        (number - 1) as u32
    }

    /// More slots. The upper half of the hash, which is kept, names them.
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.slots);
        self.slots.resize(old.len() * 4, 0);
        let mask = self.slots.len() - 1;
        for slot in old.into_iter().filter(|slot| *slot != 0) {
            let mut at = self.first_slot(slot);
            while self.slots.get(at).is_some_and(|taken| *taken != 0) {
                at = (at + 1) & mask;
            }
            if let Some(place) = self.slots.get_mut(at) {
                *place = slot;
            }
        }
    }
}

/// Slots at first, and for each value at least.
const MIN_SLOTS: usize = 256;
const SLOTS_A_VALUE: usize = 2;
/// Slots of a bucket: 64 bytes.
const BUCKET: usize = 8;
/// A bit of every hash, so that no vacant slot has the hash of a value.
const OCCUPIED: u64 = 1 << 63;

#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // the lower half
fn id_of(slot: u64) -> u32 {
    (slot as u32).wrapping_sub(1)
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{BUCKET, ByteStrings, ByteTable, OCCUPIED, Place, id_of};
    use crate::raw::append::x86::low_bits;

    /// Some values at a time, in three steps, so that none waits for another one's memory: their hashes, what the slots
    /// know of these, whether it is the same. What is new, or is not the first of its hash, goes the usual way.
    ///
    /// # Safety
    /// The machine has the features.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn insert_all<S: ByteStrings>(table: &mut ByteTable, values: S, ids: &mut Vec<u32>) {
        let (mut hashes, mut candidates, mut some) = ([0u64; AT_ONCE], [0u64; AT_ONCE], [0u32; AT_ONCE]);
        for start in (0..values.len()).step_by(AT_ONCE) {
            let n = AT_ONCE.min(values.len() - start);
            for (index, hash) in (start..start + n).zip(&mut hashes) {
                *hash = hash_of(table, values.value(index));
            }
            for (hash, candidate) in hashes.iter().take(n).zip(&mut candidates) {
                *candidate = candidate_of(table, *hash);
            }
            for (i, id) in some.iter_mut().enumerate().take(n) {
                let value = values.value(start + i);
                *id = id_of(candidates[i]);
                let is_known = match table.places.get(*id as usize) {
                    // SAFETY: each place is within the page.
                    Some(&Place { start, len }) => unsafe {
                        is_same(table.page.get_unchecked(start..start + len), value)
                    },
                    None => false,
                };
                if !is_known {
                    *id = insert_hashed(table, value, hashes[i]);
                }
            }
            ids.extend_from_slice(&some[..n]);
        }
    }

    /// Values on their way at once.
    const AT_ONCE: usize = 32;

    /// # Safety
    /// The machine has the features.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn insert(table: &mut ByteTable, value: &[u8]) -> u32 {
        let hash = hash_of(table, value);
        insert_hashed(table, value, hash)
    }

    #[cold]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn insert_hashed(table: &mut ByteTable, value: &[u8], hash: u64) -> u32 {
        match table.find(hash, |seen| is_same(seen, value)) {
            Ok(id) => id,
            Err(vacant) => table.append(value, hash, vacant),
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn hash_of(table: &ByteTable, value: &[u8]) -> u64 {
        match value.len() {
            0..=64 => hash(load(value), value.len(), &table.keys),
            _ => table.hash_any(value),
        }
    }

    /// The first slot of the hash's bucket that has the hash, or any of the bucket.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn candidate_of(table: &ByteTable, hash: u64) -> u64 {
        const UPPER: u64 = u64::MAX << 32;
        let at = (hash >> 32) as usize & (table.slots.len() - BUCKET);
        // SAFETY: of a power of two of slots, 8 at least, the lower bits of `at` are cut off and so it begins a bucket.
        unsafe {
            let bucket = table.slots.as_ptr().add(at);
            let hashes =
                _mm512_and_si512(_mm512_loadu_si512(bucket.cast()), _mm512_set1_epi64(UPPER.cast_signed()));
            let equal = _mm512_cmpeq_epi64_mask(hashes, _mm512_set1_epi64((hash & UPPER).cast_signed()));
            *bucket.add(equal.trailing_zeros() as usize % BUCKET)
        }
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn is_same(seen: &[u8], value: &[u8]) -> bool {
        match value.len() {
            len if len != seen.len() => false,
            0..=64 => _mm512_cmpneq_epi8_mask(load(seen), load(value)) == 0,
            _ => seen == value,
        }
    }

    /// Up to 64 bytes, and zeros.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn load(value: &[u8]) -> __m512i {
        // SAFETY: what the mask leaves out is not loaded.
        unsafe { _mm512_maskz_loadu_epi8(low_bits(value.len()), value.as_ptr().cast()) }
    }

    /// NH, the universal hash of UMAC: a key is added to each part of 4 bytes, the sums are multiplied by pairs, the
    /// products added. The length, which zeros at the end would hide, and a last product bring all to the upper bits.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn hash(bytes: __m512i, len: usize, keys: &[u64; 9]) -> u64 {
        let [.., last] = *keys;
        // SAFETY: 64 bytes of 72.
        let keys = unsafe { _mm512_loadu_si512(keys.as_ptr().cast()) };
        let sums = _mm512_add_epi32(bytes, keys);
        let products = _mm512_mul_epu32(sums, _mm512_srli_epi64::<32>(sums));
        let sum = _mm512_reduce_add_epi64(products).cast_unsigned();
        (sum ^ sum >> 32 ^ len as u64).wrapping_mul(last) | OCCUPIED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::BinaryArray;
    use crate::encoding::testing::byte_samples;
    use crate::raw::byte_strings::OffsetBytes;

    #[test]
    fn every_instruction_set_gives_the_same_ids() {
        for values in byte_samples() {
            let twice = [&values[..], &values].concat();
            let array = BinaryArray::from_iter_values(&twice);
            let (mut distinct, mut expected) = (vec![], vec![]);
            for value in &twice {
                let at = distinct.iter().position(|seen| *seen == value).unwrap_or_else(|| {
                    distinct.push(value);
                    distinct.len() - 1
                });
                expected.push(u32::try_from(at).unwrap());
            }
            for isa in Isa::available() {
                let (mut table, mut ids) = (ByteTable::with_isa(isa, 4), vec![]);
                table.insert_all(OffsetBytes::of(&array), &mut ids);
                assert_eq!(ids, expected, "{isa:?}");
                assert_eq!(table.len(), distinct.len());
                for (id, value) in (0..).zip(&distinct) {
                    assert_eq!(table.value(id), &value[..]);
                    assert_eq!(table.insert(value), id);
                }
            }
        }
    }
}
