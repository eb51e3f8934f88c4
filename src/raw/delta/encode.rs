//! Deltas to the bytes of a block.

use super::{DeltaInt, GROUP};
use crate::encoding::varint::write_zigzag;
use crate::raw::pack::pack_u64;

/// Deltas in a miniblock: one group.
pub(crate) const MINIBLOCK: usize = GROUP;
/// Miniblocks in a block.
const MINIBLOCKS: usize = 4;

/// Appends a block of up to 128 deltas. The last miniblock that has any is filled up with the least one; those after
/// it have width 0 and no bytes.
pub(crate) fn encode_block<T: DeltaInt>(deltas: &[T], out: &mut Vec<u8>) {
    let Some(min) = deltas.iter().copied().min() else { return };
    write_zigzag(out, min.to_i64());
    let widths_at = out.len();
    out.extend_from_slice(&[0; MINIBLOCKS]);
    for (number, miniblock) in deltas.chunks(MINIBLOCK).enumerate() {
        let mut relative = [0u64; MINIBLOCK];
        relative.iter_mut().zip(miniblock).for_each(|(to, delta)| *to = delta.minus(min).to_bits());
        let all = relative.iter().fold(0, |all, bits| all | bits);
        #[allow(clippy::cast_possible_truncation)] // 64 at most
        let width = (64 - all.leading_zeros()) as u8;
        if let Some(place) = out.get_mut(widths_at + number) {
            *place = width;
        }
        pack_u64(&relative, width, out);
    }
}
