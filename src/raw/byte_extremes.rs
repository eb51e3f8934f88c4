//! The smallest and the largest of byte strings.
//!
//! Their first 8 bytes are numbers, whose smallest and largest are found a block at a time. Only values that have these
//! numbers, and only where a number is not already worse than what was found before, are looked at whole.

use std::cmp::Ordering;

use super::isa::Isa;
use crate::raw::byte_strings::{ByteStrings, key_of};
use crate::raw::extremes::extremes;

/// Where they are in the order of unsigned bytes; `None` of no values.
pub(crate) fn byte_extremes(values: impl ByteStrings) -> Option<(usize, usize)> {
    find(Isa::best(), values, 0, Ord::cmp)
}

/// Where they are in the order of signed big-endian numbers, all of one length; `None` of no values.
pub(crate) fn decimal_extremes(values: impl ByteStrings) -> Option<(usize, usize)> {
    find(Isa::best(), values, 1 << 63, compare_decimals)
}

/// Of one length, so that only the sign makes them other than unsigned bytes.
pub(crate) fn compare_decimals(a: &[u8], b: &[u8]) -> Ordering {
    let sign = |bytes: &[u8]| bytes.first().map_or(0, |first| first >> 7);
    sign(b).cmp(&sign(a)).then_with(|| a.cmp(b))
}

/// `flip` makes the order of the first keys, as numbers, that of `compare`.
fn find<S: ByteStrings>(
    isa: Isa,
    values: S,
    flip: u64,
    compare: impl Fn(&[u8], &[u8]) -> Ordering,
) -> Option<(usize, usize)> {
    if values.is_empty() {
        return None;
    }
    let (mut min, mut max) = (0, 0);
    let mut keys = [0u64; BLOCK];
    for start in (0..values.len()).step_by(BLOCK) {
        let keys = keys.get_mut(..BLOCK.min(values.len() - start)).unwrap_or_default();
        let (low, high) = match block_keys(isa, values, start, [min, max], flip, keys) {
            Block::Keys(low, high) => (low, high),
            Block::Found(found) => {
                [min, max] = found;
                continue;
            }
        };
        if let Some(low) = low {
            each_equal(isa, keys, low, |at| {
                let at = start + at;
                min = if compare(values.value(at), values.value(min)).is_lt() { at } else { min };
            });
        }
        if let Some(high) = high {
            each_equal(isa, keys, high, |at| {
                let at = start + at;
                max = if compare(values.value(at), values.value(max)).is_gt() { at } else { max };
            });
        }
    }
    Some((min, max))
}

/// Keys in the first-level cache.
const BLOCK: usize = 1024;
/// Bytes that all may share before they are compared in the usual way.
const DEEPEST: usize = 128;

/// What is known of a block of values.
enum Block {
    /// The smallest and the largest key, each where a value that has it may be better than the one found so far.
    Keys(Option<u64>, Option<u64>),
    /// The best, the block included.
    Found([usize; 2]),
}

/// Fills `keys` with the keys of a block.
///
/// Where all keys of the block and those found are the same, nothing is told apart by them. Values are compared 64 bytes at
/// once then, or, where the machine cannot, the keys are those of the 8 bytes behind.
fn block_keys<S: ByteStrings>(
    isa: Isa,
    values: S,
    start: usize,
    found: [usize; 2],
    mut flip: u64,
    keys: &mut [u64],
) -> Block {
    let mut depth = 0;
    loop {
        values.keys(start, depth, keys);
        if flip != 0 {
            keys.iter_mut().for_each(|key| *key ^= flip);
        }
        let Some((low, high)) = extremes(keys) else { return Block::Keys(None, None) };
        let [min, max] = found.map(|at| key_of(values.value(at).get(depth..).unwrap_or_default()) ^ flip);
        if low != high || [min, max] != [low, low] || depth >= DEEPEST {
            return Block::Keys((low <= min).then_some(low), (high >= max).then_some(high));
        }
        #[cfg(target_arch = "x86_64")]
        if isa == Isa::Avx512 {
            // SAFETY: the machine runs the instruction set.
            return Block::Found(unsafe { x86::wide_extremes(values, start, keys.len(), found) });
        }
        (depth, flip) = (depth + 8, 0);
    }
}

/// Calls `found` with the index of each key that is `wanted`.
fn each_equal(isa: Isa, keys: &[u64], wanted: u64, mut found: impl FnMut(usize)) {
    for (number, chunk) in keys.chunks(CHUNK).enumerate() {
        let mut equal = equal_mask(isa, chunk, wanted);
        while equal != 0 {
            found(number * CHUNK + equal.trailing_zeros() as usize);
            equal &= equal - 1;
        }
    }
}

/// Keys that are compared at once: the bits of a mask.
const CHUNK: usize = 64;

/// Bit `i` where key `i` is `wanted`.
fn equal_mask(isa: Isa, keys: &[u64], wanted: u64) -> u64 {
    match (isa, <&[u64; CHUNK]>::try_from(keys).ok()) {
        // SAFETY: the machine runs the instruction set.
        #[cfg(target_arch = "x86_64")]
        (Isa::Avx512, Some(keys)) => unsafe { x86::equal_mask(keys, wanted) },
        _ => keys.iter().rev().fold(0, |mask, key| mask << 1 | u64::from(*key == wanted)),
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{ByteStrings, CHUNK};
    use crate::raw::append::x86::low_bits;

    /// # Safety
    /// The machine has the feature.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn equal_mask(keys: &[u64; CHUNK], wanted: u64) -> u64 {
        let wanted = _mm512_set1_epi64(wanted.cast_signed());
        let (eights, _) = keys.as_chunks::<8>();
        eights.iter().rev().fold(0, |mask, eight| {
            // SAFETY: 64 bytes are read.
            let keys = unsafe { _mm512_loadu_si512(eight.as_ptr().cast()) };
            mask << 8 | u64::from(_mm512_cmpeq_epi64_mask(keys, wanted))
        })
    }

    /// The smallest and the largest of `found` and of `n` values from `start` on, by their first 64 bytes at once.
    ///
    /// # Safety
    /// The machine has the features.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    pub(super) unsafe fn wide_extremes<S: ByteStrings>(
        values: S,
        start: usize,
        n: usize,
        found: [usize; 2],
    ) -> [usize; 2] {
        let [mut min, mut max] = found;
        let (mut low, mut high) = (load(values.value(min)), load(values.value(max)));
        for at in start..start + n {
            let bytes = load(values.value(at));
            if is_greater(bytes, high, || values.value(at) > values.value(max)) {
                (max, high) = (at, bytes);
            } else if is_greater(low, bytes, || values.value(at) < values.value(min)) {
                (min, low) = (at, bytes);
            }
        }
        [min, max]
    }

    /// The first byte that differs decides, be it one of the zeros that stand for what is not there; `otherwise`
    /// where none does.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn is_greater(a: __m512i, b: __m512i, otherwise: impl FnOnce() -> bool) -> bool {
        let differ = _mm512_cmpneq_epi8_mask(a, b);
        match differ {
            0 => otherwise(),
            _ => _mm512_cmpgt_epu8_mask(a, b) & differ & differ.wrapping_neg() != 0,
        }
    }

    /// The first 64 bytes, and zeros.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
    fn load(value: &[u8]) -> __m512i {
        // SAFETY: what the mask leaves out is not loaded.
        unsafe { _mm512_maskz_loadu_epi8(low_bits(value.len()), value.as_ptr().cast()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::BinaryArray;
    use crate::encoding::testing::random;
    use crate::raw::byte_strings::OffsetBytes;

    /// Whole blocks and more: rising, falling, all alike, of any length, alike for longer than the deepest key.
    fn samples() -> Vec<Vec<Vec<u8>>> {
        let mut next = random(8);
        let shared = "x".repeat(DEEPEST + 20);
        let numbers =
            |prefix: &str| (0..5000).map(|i| format!("{prefix}{i}").into_bytes()).collect::<Vec<_>>();
        let mut samples =
            vec![vec![b"alike".to_vec(); 3000], numbers(""), numbers("twelve bytes"), numbers(&shared)];
        let mut sorted = numbers("ab");
        sorted.sort();
        samples.extend([sorted.clone(), sorted.into_iter().rev().collect()]);
        samples.push((0..5000).map(|_| vec![0; (next() % 30) as usize]).collect());
        samples.push((0..5000).map(|_| next().to_le_bytes()[..(next() % 9) as usize].to_vec()).collect());
        samples
    }

    #[test]
    fn blocks_equal_brute_force() {
        for values in samples() {
            let array = BinaryArray::from_iter_values(&values);
            for isa in Isa::available() {
                let (min, max) = find(isa, OffsetBytes::of(&array), 0, Ord::cmp).unwrap();
                let expected = (values.iter().min(), values.iter().max());
                assert_eq!((Some(&values[min]), Some(&values[max])), expected, "{isa:?}");
            }
        }
        assert_eq!(byte_extremes(&[][..]), None);
    }
}
