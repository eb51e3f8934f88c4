//! Bit-packed integers, least significant bit first, to one integer each.
//!
//! ```text
//! value[i] = (packed >> (i * width)) & (2^width - 1)          packed: one number, its first byte the lowest
//! ```

use crate::raw::simd::Kernels;

/// Values of `width <= 32` bits to 32 bits each: as many as `out` is long, from value `first` of `packed` on.
///
/// # Panics
/// When `packed` does not hold them.
pub(crate) fn unpack_u32(packed: &[u8], first: usize, width: u8, out: &mut [u32]) {
    // SAFETY: a slice has room for its length.
    unsafe { unpack_u32_with(Kernels::best(), packed, first, width, out.as_mut_ptr(), out.len()) };
}

/// Appends `n` values of `width <= 32` bits, from value `first` of `packed` on.
///
/// # Panics
/// When `packed` does not hold them.
pub(crate) fn unpack_i32(packed: &[u8], first: usize, width: u8, n: usize, out: &mut Vec<i32>) {
    out.reserve(n);
    // SAFETY: there is room for `n` values, which are written before the length covers them.
    unsafe {
        let to = out.as_mut_ptr().add(out.len()).cast();
        unpack_u32_with(Kernels::best(), packed, first, width, to, n);
        out.set_len(out.len() + n);
    }
}

/// Appends `n` values of `width <= 8` bits, from value `first` of `packed` on.
///
/// # Panics
/// When `packed` does not hold them.
pub(crate) fn unpack_u8(packed: &[u8], first: usize, width: u8, n: usize, out: &mut Vec<u8>) {
    unpack_u8_with(Kernels::best(), packed, first, width, n, out);
}

/// # Safety
/// `out` has room for `n` values; they are initialised after. The machine runs `kernels`.
unsafe fn unpack_u32_with(
    kernels: &Kernels,
    packed: &[u8],
    first: usize,
    width: u8,
    out: *mut u32,
    n: usize,
) {
    // SAFETY: `unpack` calls the kernel as it asks.
    unsafe { unpack(kernels.unpack_u32, packed, first, width, 32, out, n) };
}

fn unpack_u8_with(kernels: &Kernels, packed: &[u8], first: usize, width: u8, n: usize, out: &mut Vec<u8>) {
    out.reserve(n);
    // SAFETY: there is room for `n` values, which are written before the length covers them.
    unsafe {
        let to = out.as_mut_ptr().add(out.len());
        unpack(kernels.unpack_u8, packed, first, width, 8, to, n);
        out.set_len(out.len() + n);
    }
}

/// Calls `kernel` from a whole byte on: values before the next group of eight are unpacked with their group.
///
/// # Safety
/// `kernel` is of an instruction set that is there, and `out` has room for `n` values.
#[inline]
unsafe fn unpack<T: Copy + Default>(
    kernel: unsafe fn(*const u8, usize, usize, *mut T, usize),
    packed: &[u8],
    first: usize,
    width: u8,
    max_width: u8,
    out: *mut T,
    n: usize,
) {
    let width = usize::from(width);
    let bits = first.checked_add(n).and_then(|end| end.checked_mul(width));
    assert!(width <= usize::from(max_width));
    assert!(bits.is_some_and(|bits| bits.div_ceil(8) <= packed.len()));
    if width == 0 || n == 0 {
        // SAFETY: the caller's. Zero bytes are the number zero.
        unsafe { out.write_bytes(0, n) };
        return;
    }
    let group = packed.get(first / 8 * width..).unwrap_or_default();
    let before = first % 8;
    let head = if before == 0 { 0 } else { n.min(8 - before) };
    if head > 0 {
        let mut values = [T::default(); 8];
        // SAFETY: the values asked for, and those of their group before them, are in `packed`, as checked; `out` has
        // room for `n`, which is no less than `head`.
        unsafe {
            kernel(group.as_ptr(), group.len(), width, values.as_mut_ptr(), before + head);
            out.copy_from_nonoverlapping(values.as_ptr().add(before), head);
        }
    }
    if n > head {
        let rest = group.get(if before == 0 { 0 } else { width }..).unwrap_or_default();
        // SAFETY: as above; `rest` begins with a group, whose values are `head` after the first.
        unsafe { kernel(rest.as_ptr(), rest.len(), width, out.add(head), n - head) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raw::isa::Isa;

    /// Bit by bit.
    fn oracle(packed: &[u8], first: usize, width: usize, n: usize) -> Vec<u32> {
        let bit = |i: usize| u32::from(packed[i / 8] >> (i % 8) & 1);
        (first..first + n).map(|i| (0..width).fold(0, |v, b| v | bit(i * width + b) << b)).collect()
    }

    fn noise(n: usize, seed: u32) -> Vec<u8> {
        let mut state = seed.wrapping_mul(2_654_435_761) | 1;
        std::iter::repeat_with(|| {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            state.to_le_bytes()[1]
        })
        .take(n)
        .collect()
    }

    /// `(first value, number of values, bytes behind the last)`.
    const SHAPES: [(usize, usize, usize); 14] = [
        (0, 0, 0),
        (0, 1, 0),
        (1, 1, 3),
        (3, 2, 0),
        (7, 1, 0),
        (0, 8, 0),
        (5, 3, 0),
        (5, 4, 0),
        (0, 31, 1),
        (0, 64, 0),
        (2, 63, 70),
        (9, 257, 0),
        (0, 1000, 5),
        (13, 1000, 200),
    ];

    #[test]
    fn equals_the_oracle_for_every_width_offset_tail_and_instruction_set() {
        for isa in Isa::available() {
            let kernels = Kernels::of(isa);
            for width in 0..=32u8 {
                for (seed, (first, n, behind)) in (1..).zip(SHAPES) {
                    let wide = usize::from(width);
                    let packed = noise(((first + n) * wide).div_ceil(8) + behind, seed + u32::from(width));
                    let expected = oracle(&packed, first, wide, n);
                    let mut values = vec![0u32; n];
                    // SAFETY: room for `n`, and the machine runs what is available.
                    unsafe { unpack_u32_with(kernels, &packed, first, width, values.as_mut_ptr(), n) };
                    assert_eq!(values, expected, "{isa:?} width {width} first {first} n {n}");
                    if width <= 8 {
                        let mut values = vec![9];
                        unpack_u8_with(kernels, &packed, first, width, n, &mut values);
                        let narrow: Vec<u32> = values[1..].iter().map(|&v| u32::from(v)).collect();
                        assert_eq!(narrow, expected, "{isa:?} width {width} first {first} n {n}");
                    }
                }
            }
        }
    }

    #[test]
    fn refuses_what_the_bytes_do_not_hold() {
        for (len, first, width, n) in [(4, 0, 5, 7), (4, 6, 5, 1), (0, usize::MAX, 1, 2), (9, 0, 33, 1)] {
            let unpacked = std::panic::catch_unwind(|| {
                unpack_u32(&vec![0; len], first, width, &mut vec![0; n]);
            });
            assert!(unpacked.is_err());
        }
    }
}
