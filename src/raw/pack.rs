//! Integers to packed bits, least significant bit first: what the encoders of RLE, DELTA_BINARY_PACKED and ALP end with.
//!
//! ```text
//! packed = value[0] | value[1] << width | value[2] << 2 * width | ...
//! ```
//!
//! A group of 32 values has a loop of its own for each width, in which every shift is known to the compiler.
#![allow(clippy::indexing_slicing)] // of groups and tables, by numbers known when compiled

use super::groups::GROUP;

/// Appends `values` in `width` bits each; the last byte is filled up with zero bits. Bits above the width are not
/// allowed: they would fall on the value after.
///
/// # Panics
/// Where the width is over 32.
pub(crate) fn pack_u32(values: &[u32], width: u8, out: &mut Vec<u8>) {
    pack(&NARROW, values, width, out);
}

/// As [`pack_u32`], for up to 64 bits.
///
/// # Panics
/// Where the width is over 64.
pub(crate) fn pack_u64(values: &[u64], width: u8, out: &mut Vec<u8>) {
    pack(&WIDE, values, width, out);
}

/// Writes the bytes of one group, `4 * width`, and up to 4 more.
///
/// # Safety
/// There is room for them.
type Group<T> = unsafe fn(&[T; GROUP], *mut u8);

fn pack<T: Copy + Into<u64>>(loops: &[Group<T>], values: &[T], width: u8, out: &mut Vec<u8>) {
    let group = loops[usize::from(width)];
    let (groups, rest) = values.as_chunks::<GROUP>();
    let group_len = GROUP / 8 * usize::from(width);
    out.reserve(groups.len() * group_len + SPARE);
    for values in groups {
        // SAFETY: room was reserved for all groups and SPARE; the bytes counted have been written.
        unsafe {
            group(values, out.as_mut_ptr().add(out.len()));
            out.set_len(out.len() + group_len);
        }
    }
    pack_rest(rest, width, out);
}

/// Bytes that a group may write too many.
const SPARE: usize = 8;

/// Fewer values than a group.
fn pack_rest<T: Copy + Into<u64>>(values: &[T], width: u8, out: &mut Vec<u8>) {
    let end = out.len() + (values.len() * usize::from(width)).div_ceil(8);
    let (mut word, mut used) = (0u64, 0u32);
    for &value in values {
        let value = value.into();
        word |= value << used;
        used += u32::from(width);
        if used >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            used -= 64;
            // What of the value did not fit; a shift by the whole width leaves nothing.
            word = value.checked_shr(u32::from(width) - used).unwrap_or(0);
        }
    }
    if out.len() < end {
        out.extend_from_slice(&word.to_le_bytes());
    }
    out.truncate(end);
}

/// # Safety
/// See [`Group`].
unsafe fn group<const W: usize, T: Copy + Into<u64>>(values: &[T; GROUP], out: *mut u8) {
    let mut word = 0u64;
    macro_rules! steps {
        ($($i:literal)*) => {$({
            let value: u64 = values[$i].into();
            let (at, used) = ($i * W / 64, $i * W % 64);
            word |= value << used;
            if used + W >= 64 {
                // SAFETY: the caller's.
                unsafe { out.cast::<u64>().add(at).write_unaligned(word.to_le()) };
                word = if used + W > 64 { value >> (64 - used) } else { 0 };
            }
        })*};
    }
    steps!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
    if !(GROUP * W).is_multiple_of(64) {
        // SAFETY: the caller's.
        unsafe { out.cast::<u64>().add(GROUP * W / 64).write_unaligned(word.to_le()) };
    }
}

macro_rules! widths {
    ($type:ty: $($width:literal)*) => {
        [$(group::<$width, $type>),*]
    };
}

static NARROW: [Group<u32>; 33] = widths!(u32: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26
    27 28 29 30 31 32);
static WIDE: [Group<u64>; 65] = widths!(u64: 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27
    28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64);

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::encoding::testing::random;

    #[test]
    fn every_width_equals_the_bits() {
        for width in 0..=64u8 {
            let mut next = random(u64::from(width));
            for n in [0, 1, 7, 8, 31, 32, 33, 40, 64, 100] {
                let cut = |value: u64| value.checked_shr(64 - u32::from(width)).unwrap_or(0);
                let values: Vec<u64> = (0..n).map(|_| cut(next())).collect();
                let bits: Vec<u8> =
                    values.iter().flat_map(|v| (0..width).map(move |b| (v >> b & 1) as u8)).collect();
                let expected: Vec<u8> = bits
                    .chunks(8)
                    .map(|bits| bits.iter().rev().fold(0, |byte, bit| byte << 1 | bit))
                    .collect();
                let mut out = b"before".to_vec();
                pack_u64(&values, width, &mut out);
                assert_eq!(out[6..], expected, "{n} of {width}");
                if width <= 32 {
                    let narrow: Vec<u32> = values.iter().map(|&value| value as u32).collect();
                    out.clear();
                    pack_u32(&narrow, width, &mut out);
                    assert_eq!(out, expected, "{n} of {width}");
                }
            }
        }
    }
}
