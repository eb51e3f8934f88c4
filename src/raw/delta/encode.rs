//! Values to blocks of deltas.

use super::super::isa::Isa;
use super::{DeltaInt, GROUP};
use crate::encoding::varint::write_zigzag;

/// Deltas in a miniblock: one group.
pub(crate) const MINIBLOCK: usize = GROUP;
/// Deltas in a block.
pub(crate) const BLOCK: usize = 4 * MINIBLOCK;

/// Appends a block for each 128 of `values`, the first of which follows `last`; gives the values that make no block.
pub(crate) fn encode_blocks<'v, T: DeltaInt>(last: T, values: &'v [T], out: &mut Vec<u8>) -> &'v [T] {
    encode_blocks_with(Isa::best(), last, values, out)
}

fn encode_blocks_with<'v, T: DeltaInt>(isa: Isa, last: T, values: &'v [T], out: &mut Vec<u8>) -> &'v [T] {
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    match isa {
        // SAFETY: the machine runs `isa`, whose features are those of the function.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { blocks_avx512(last, blocks, out) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { blocks_avx2(last, blocks, out) },
        Isa::Portable => blocks_portable(last, blocks, out),
    }
    rest
}

/// Appends a block of fewer deltas, one at least. The last miniblock that has any is filled up with the least one; those
/// after it have width 0 and no bytes.
pub(crate) fn encode_last_block<T: DeltaInt>(deltas: &[T], out: &mut Vec<u8>) {
    let Some(min) = deltas.iter().copied().min() else { return };
    let mut block = [min; BLOCK];
    block.iter_mut().zip(deltas).for_each(|(to, delta)| *to = *delta);
    write_block(&block, min, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,bmi1,bmi2,popcnt")]
fn blocks_avx512<T: DeltaInt>(last: T, blocks: &[[T; BLOCK]], out: &mut Vec<u8>) {
    blocks_portable(last, blocks, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn blocks_avx2<T: DeltaInt>(last: T, blocks: &[[T; BLOCK]], out: &mut Vec<u8>) {
    blocks_portable(last, blocks, out);
}

#[inline(always)]
fn blocks_portable<T: DeltaInt>(mut last: T, blocks: &[[T; BLOCK]], out: &mut Vec<u8>) {
    for block in blocks {
        let mut deltas = [last; BLOCK];
        if let Some(after_first) = deltas.get_mut(1..) {
            after_first.iter_mut().zip(block).for_each(|(to, value)| *to = *value);
        }
        deltas.iter_mut().zip(block).for_each(|(before, value)| *before = value.minus(*before));
        let [first, ..] = deltas;
        let min = deltas.iter().fold(first, |min, delta| min.min(*delta));
        write_block(&deltas, min, out);
        last = block.last().copied().unwrap_or(last);
    }
}

#[inline(always)]
fn write_block<T: DeltaInt>(deltas: &[T; BLOCK], min: T, out: &mut Vec<u8>) {
    write_zigzag(out, min.to_i64());
    let (miniblocks, _) = deltas.as_chunks::<MINIBLOCK>();
    let widths = out.len();
    out.extend_from_slice(&[0; BLOCK / MINIBLOCK]);
    for (number, miniblock) in miniblocks.iter().enumerate() {
        let relative = miniblock.map(|delta| delta.minus(min));
        let all = relative.iter().fold(0, |all, delta| all | delta.to_bits());
        #[allow(clippy::cast_possible_truncation)] // 64 at most
        let width = (64 - all.leading_zeros()) as u8;
        if let Some(place) = out.get_mut(widths + number) {
            *place = width;
        }
        T::pack(&relative, width, out);
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::encoding::testing::random;

    #[test]
    fn every_instruction_set_gives_the_same_bytes() {
        for width in 1..=64 {
            let mut next = random(width);
            let values: Vec<i64> = (0..300).map(|_| (next() >> (64 - width)).cast_signed()).collect();
            let narrow: Vec<i32> = values.iter().map(|&value| value as i32).collect();
            let (mut expected, mut expected_narrow) = (vec![], vec![]);
            encode_blocks_with(Isa::Portable, 7, &values, &mut expected);
            encode_blocks_with(Isa::Portable, 7, &narrow, &mut expected_narrow);
            for isa in Isa::available() {
                let (mut out, mut out_narrow) = (vec![], vec![]);
                assert_eq!(encode_blocks_with(isa, 7, &values, &mut out).len(), 300 - 256);
                encode_blocks_with(isa, 7, &narrow, &mut out_narrow);
                assert!(out == expected && out_narrow == expected_narrow, "{isa:?} {width}");
            }
        }
    }
}
