//! Bit-packed integers, least significant bit first, to one integer each.
//!
//! ```text
//! value[i] = (packed >> (i * width)) & (2^width - 1)          packed: one number, its first byte the lowest
//! ```
#![allow(clippy::indexing_slicing)] // ranges that the line above each checks
#![allow(clippy::cast_possible_truncation)] // masked to the width before

/// Values of `width <= 32` bits to 32 bits each: as many as `out` is long, from value `first` of `packed` on.
///
/// # Panics
/// When `packed` does not hold them.
pub(crate) fn unpack_u32(packed: &[u8], first: usize, width: u8, out: &mut [u32]) {
    check(packed, first, width, 32, out.len());
    for (index, value) in out.iter_mut().enumerate() {
        *value = value_at(packed, (first + index) * usize::from(width), width) as u32;
    }
}

/// Appends `n` values of `width <= 32` bits, from value `first` of `packed` on.
///
/// # Panics
/// When `packed` does not hold them.
pub(crate) fn unpack_i32(packed: &[u8], first: usize, width: u8, n: usize, out: &mut Vec<i32>) {
    check(packed, first, width, 32, n);
    out.extend(
        (first..first + n).map(|i| (value_at(packed, i * usize::from(width), width) as u32).cast_signed()),
    );
}

/// Appends `n` values of `width <= 8` bits, from value `first` of `packed` on.
///
/// # Panics
/// When `packed` does not hold them.
pub(crate) fn unpack_u8(packed: &[u8], first: usize, width: u8, n: usize, out: &mut Vec<u8>) {
    check(packed, first, width, 8, n);
    out.extend((first..first + n).map(|i| value_at(packed, i * usize::from(width), width) as u8));
}

fn check(packed: &[u8], first: usize, width: u8, max_width: u8, n: usize) {
    assert!(width <= max_width);
    let bits = first.checked_add(n).and_then(|end| end.checked_mul(usize::from(width)));
    assert!(bits.is_some_and(|bits| bits.div_ceil(8) <= packed.len()));
}

fn value_at(packed: &[u8], bit: usize, width: u8) -> u64 {
    let rest = &packed[bit / 8..];
    let mut bytes = [0u8; 8];
    let n = rest.len().min(8);
    bytes[..n].copy_from_slice(&rest[..n]);
    u64::from_le_bytes(bytes) >> (bit % 8) & ((1 << width) - 1)
}
