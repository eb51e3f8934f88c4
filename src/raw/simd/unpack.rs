//! Unpacking without vector instructions: a loop a width, every shift known to the compiler.

/// # Safety
/// See [`super::Unpack`].
pub(super) unsafe fn unpack_u32(packed: *const u8, byte_len: usize, width: usize, out: *mut u32, n: usize) {
    const LOOPS: [unsafe fn(*const u8, *mut u32, usize); 33] = widths!(words);
    let groups = n / 32;
    // SAFETY: a group of 32 values is `4 * width` bytes, and `n` values are in `packed`.
    unsafe {
        LOOPS[width](packed, out, groups);
        rest(packed, byte_len, width, out, groups * 32, n, |value| value as u32);
    }
}

/// # Safety
/// See [`super::Unpack`].
pub(super) unsafe fn unpack_u8(packed: *const u8, byte_len: usize, width: usize, out: *mut u8, n: usize) {
    const LOOPS: [unsafe fn(*const u8, *mut u8, usize); 9] = [
        bytes::<0>, bytes::<1>, bytes::<2>, bytes::<3>, bytes::<4>, bytes::<5>, bytes::<6>, bytes::<7>,
        bytes::<8>,
    ];
    // Eight bytes are loaded for a group of eight values, which are `width` bytes.
    let groups = (n / 8).min(byte_len.saturating_sub(8 - width) / width);
    // SAFETY: as just bounded.
    unsafe {
        LOOPS[width](packed, out, groups);
        rest(packed, byte_len, width, out, groups * 8, n, |value| value as u8);
    }
}

/// The values from number `from` on, one at a time.
///
/// # Safety
/// As for the whole.
pub(super) unsafe fn rest<T>(
    packed: *const u8,
    byte_len: usize,
    width: usize,
    out: *mut T,
    from: usize,
    n: usize,
    narrow: impl Fn(u64) -> T,
) {
    for i in from..n {
        let bit = i * width;
        let mut bytes = [0u8; 8];
        let held = (byte_len - bit / 8).min(8);
        // SAFETY: value `i` begins within `packed`, of which `held` bytes are left; `out` has room for `n` values.
        unsafe {
            std::ptr::copy_nonoverlapping(packed.add(bit / 8), bytes.as_mut_ptr(), held);
            out.add(i).write(narrow(u64::from_le_bytes(bytes) >> (bit % 8) & ((1 << width) - 1)));
        }
    }
}

/// 32 values at a time: `W` words of 32 bits.
///
/// # Safety
/// `4 * W * groups` bytes can be read, `32 * groups` values written.
unsafe fn words<const W: usize>(packed: *const u8, out: *mut u32, groups: usize) {
    let mask = ((1u64 << W) - 1) as u32;
    for group in 0..groups {
        // SAFETY: the caller's; neither side needs alignment.
        unsafe {
            let words = packed.add(group * 4 * W).cast::<[u32; W]>().read_unaligned();
            let values = out.add(group * 32).cast::<[u32; 32]>();
            values.write_unaligned(std::array::from_fn(|i| value::<W>(&words, i) & mask));
        }
    }
}

#[inline(always)]
fn value<const W: usize>(words: &[u32; W], i: usize) -> u32 {
    let (word, shift) = (i * W / 32, i * W % 32);
    let low = words[word] >> shift;
    if shift + W > 32 { low | words[word + 1] << (32 - shift) } else { low }
}

/// Eight values at a time: `W` bytes.
///
/// # Safety
/// `W * groups + 8 - W` bytes can be read, `8 * groups` values written.
unsafe fn bytes<const W: usize>(packed: *const u8, out: *mut u8, groups: usize) {
    for group in 0..groups {
        // SAFETY: the caller's.
        unsafe {
            let bits = packed.add(group * W).cast::<u64>().read_unaligned();
            let values: [u8; 8] = std::array::from_fn(|i| (bits >> (i * W)) as u8 & ((1u16 << W) - 1) as u8);
            out.add(group * 8).cast::<[u8; 8]>().write_unaligned(values);
        }
    }
}

/// `$f::<0>` to `$f::<32>`.
macro_rules! widths {
    ($f:ident) => {
        [
            $f::<0>, $f::<1>, $f::<2>, $f::<3>, $f::<4>, $f::<5>, $f::<6>, $f::<7>, $f::<8>, $f::<9>,
            $f::<10>, $f::<11>, $f::<12>, $f::<13>, $f::<14>, $f::<15>, $f::<16>, $f::<17>, $f::<18>,
            $f::<19>, $f::<20>, $f::<21>, $f::<22>, $f::<23>, $f::<24>, $f::<25>, $f::<26>, $f::<27>,
            $f::<28>, $f::<29>, $f::<30>, $f::<31>, $f::<32>,
        ]
    };
}
use widths;
