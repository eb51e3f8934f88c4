//! Integers to packed bits, least significant bit first: what the encoders of RLE, DELTA_BINARY_PACKED and ALP end with.
//!
//! ```text
//! packed = value[0] | value[1] << width | value[2] << 2 * width | ...
//! ```

/// Appends `values` in `width` bits each; the last byte is filled up with zero bits. Bits above the width are not
/// allowed: they would fall on the value after.
pub(crate) fn pack_u32(values: &[u32], width: u8, out: &mut Vec<u8>) {
    pack(values.iter().map(|&value| u64::from(value)), values.len(), width, out);
}

/// As [`pack_u32`], for up to 64 bits.
pub(crate) fn pack_u64(values: &[u64], width: u8, out: &mut Vec<u8>) {
    pack(values.iter().copied(), values.len(), width, out);
}

fn pack(values: impl Iterator<Item = u64>, n: usize, width: u8, out: &mut Vec<u8>) {
    if width == 0 {
        return;
    }
    let byte_len = (n * usize::from(width)).div_ceil(8);
    out.reserve(byte_len + 8);
    let end = out.len() + byte_len;
    let (mut word, mut used) = (0u64, 0u32);
    for value in values {
        word |= value << used;
        used += u32::from(width);
        if used >= 64 {
            out.extend_from_slice(&word.to_le_bytes());
            used -= 64;
            // What of the value did not fit; a shift by the whole width leaves nothing.
            word = value.checked_shr(u32::from(width) - used).unwrap_or(0);
        }
    }
    out.extend_from_slice(&word.to_le_bytes());
    out.truncate(end);
}
