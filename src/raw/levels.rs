//! Levels against a threshold, 64 of them to a word of bits.

use crate::raw::simd::Kernels;

/// Hands on a word for each whole 64 of `levels`, all below 128: bit `i` says whether level `i` is at least
/// `threshold`. The levels after the last 64 are the caller's.
pub(crate) fn at_least(levels: &[u8], threshold: u8, word: impl FnMut(u64)) {
    at_least_with(Kernels::best(), levels, threshold, word);
}

fn at_least_with(kernels: &Kernels, levels: &[u8], threshold: u8, mut word: impl FnMut(u64)) {
    let mut words = [0; AT_ONCE];
    for some in levels.chunks(64 * AT_ONCE) {
        let words = words.get_mut(..some.len() / 64).unwrap_or_default();
        // SAFETY: there are 64 levels a word.
        unsafe { (kernels.at_least)(some.as_ptr(), words.len(), threshold, words.as_mut_ptr()) };
        words.iter().for_each(|bits| word(*bits));
    }
}

const AT_ONCE: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::isa::Isa;

    #[test]
    fn every_instruction_set_compares_like_the_naive_way() {
        for isa in Isa::available() {
            for len in [0, 63, 64, 129, 1024, 1024 + 64, 3000] {
                let levels: Vec<u8> = (0..len).map(|i: usize| (i * 37 % 101).to_le_bytes()[0]).collect();
                for threshold in 0..=127 {
                    let mut words = vec![];
                    at_least_with(Kernels::of(isa), &levels, threshold, |word| words.push(word));
                    let bit = |(i, level): (usize, &u8)| u64::from(*level >= threshold) << i;
                    let naive = levels.chunks_exact(64).map(|some| some.iter().enumerate().map(bit).sum());
                    assert_eq!(words, naive.collect::<Vec<u64>>(), "{isa:?}, {len} levels, {threshold}");
                }
            }
        }
    }
}
