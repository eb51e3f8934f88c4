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
    find(values, 0, Ord::cmp)
}

/// Where they are in the order of signed big-endian numbers, all of one length; `None` of no values.
pub(crate) fn decimal_extremes(values: impl ByteStrings) -> Option<(usize, usize)> {
    find(values, 1 << 63, compare_decimals)
}

/// Of one length, so that only the sign makes them other than unsigned bytes.
pub(crate) fn compare_decimals(a: &[u8], b: &[u8]) -> Ordering {
    let sign = |bytes: &[u8]| bytes.first().map_or(0, |first| first >> 7);
    sign(b).cmp(&sign(a)).then_with(|| a.cmp(b))
}

/// `flip` makes the order of the first keys, as numbers, that of `compare`.
fn find<S: ByteStrings>(
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
        let (low, high) = block_keys(values, start, [min, max], flip, keys);
        if let Some(low) = low {
            each_equal(keys, low, |at| {
                let at = start + at;
                min = if compare(values.value(at), values.value(min)).is_lt() { at } else { min };
            });
        }
        if let Some(high) = high {
            each_equal(keys, high, |at| {
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

/// Fills `keys` with the keys of a block; gives the smallest and the largest of them, each where a value that has it may be
/// better than the one found so far.
///
/// Where all keys of the block and those found are the same, nothing is told apart by them: the 8 bytes behind are taken.
fn block_keys<S: ByteStrings>(
    values: S,
    start: usize,
    found: [usize; 2],
    mut flip: u64,
    keys: &mut [u64],
) -> (Option<u64>, Option<u64>) {
    let mut depth = 0;
    loop {
        values.keys(start, depth, keys);
        if flip != 0 {
            keys.iter_mut().for_each(|key| *key ^= flip);
        }
        let Some((low, high)) = extremes(keys) else { return (None, None) };
        let [min, max] = found.map(|at| key_of(values.value(at).get(depth..).unwrap_or_default()) ^ flip);
        if low != high || [min, max] != [low, low] || depth >= DEEPEST {
            return ((low <= min).then_some(low), (high >= max).then_some(high));
        }
        (depth, flip) = (depth + 8, 0);
    }
}

/// Calls `found` with the index of each key that is `wanted`.
fn each_equal(keys: &[u64], wanted: u64, mut found: impl FnMut(usize)) {
    for (number, chunk) in keys.chunks(CHUNK).enumerate() {
        if contains(chunk, wanted) {
            let equal = chunk.iter().enumerate().filter(|(_, key)| **key == wanted);
            equal.for_each(|(at, _)| found(number * CHUNK + at));
        }
    }
}

/// Keys that are compared at once.
const CHUNK: usize = 32;

fn contains(keys: &[u64], wanted: u64) -> bool {
    match Isa::best() {
        // SAFETY: the machine runs the instruction set, whose features are those of the function.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { contains_avx512(keys, wanted) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { contains_avx2(keys, wanted) },
        Isa::Portable => contains_generic(keys, wanted),
    }
}

/// Without an early end, so that it becomes vector instructions.
#[inline(always)]
fn contains_generic(keys: &[u64], wanted: u64) -> bool {
    keys.iter().fold(false, |any, key| any | (*key == wanted))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
fn contains_avx512(keys: &[u64], wanted: u64) -> bool {
    contains_generic(keys, wanted)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn contains_avx2(keys: &[u64], wanted: u64) -> bool {
    contains_generic(keys, wanted)
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
            let (min, max) = byte_extremes(OffsetBytes::of(&array)).unwrap();
            assert_eq!((values.iter().min(), values.iter().max()), (Some(&values[min]), Some(&values[max])));
        }
        assert_eq!(byte_extremes(&[][..]), None);
    }
}
