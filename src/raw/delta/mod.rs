//! Kernels of DELTA_BINARY_PACKED: packed deltas in, values out.
//!
//! Values come in groups of 32, because a miniblock holds a multiple of 32 and 32 values of any width fill whole
//! bytes. Within a group, bits counted from the least significant:
//!
//! ```text
//! delta[i] = (packed >> (i * width)) & (2^width - 1) + min_delta
//! value[i] = last + delta[0] + ... + delta[i]                      wrapping at the width of the type
//! ```
//!
//! The vector kernels take 4 to 16 deltas a step: bytes to their lanes, a shift a lane, a mask, then the running
//! sum by shifted additions. `last` comes in at the end: a step waits for the one before it by a single addition.
//!
//! Whole blocks are walked here too, so that a kernel is called directly and a call through a table costs nothing
//! against the blocks that it decodes. What is cut or damaged is left to the caller, who knows what to say.
#![allow(clippy::indexing_slicing)] // ranges that the line above each checks

mod encode;
#[cfg(target_arch = "x86_64")]
mod x86;

use std::fmt::Debug;

pub(crate) use self::encode::{BLOCK, MINIBLOCK, encode_blocks, encode_last_block};

use super::fixed::FixedWidth;
pub(crate) use super::groups::GROUP;
use super::groups::{SLACK, runs};
use super::isa::Isa;
use crate::cursor::Cursor;
use crate::raw::pack::{pack_u32, pack_u64};

/// The physical types of DELTA_BINARY_PACKED: `i32` and `i64`. Sealed by the kernels that it names.
pub trait DeltaInt: FixedWidth + Debug + Ord {
    /// Bits of the physical type: the widest that a miniblock may pack.
    const BITS: u8;
    /// The smallest value.
    const MIN: Self;
    /// The largest value.
    const MAX: Self;
    /// `None` where `value` does not fit.
    fn from_i64(value: i64) -> Option<Self>;
    /// The sum, wrapping.
    fn plus(self, other: Self) -> Self;
    /// The difference, wrapping.
    fn minus(self, other: Self) -> Self;
    /// The same number.
    fn to_i64(self) -> i64;
    /// The bits, those above the type's zero.
    fn to_bits(self) -> u64;
    /// Appends the values in `width` bits each; none has any above.
    #[doc(hidden)]
    fn pack(values: &[Self; GROUP], width: u8, out: &mut Vec<u8>);
    /// `n` times the value, wrapping.
    fn times(self, n: usize) -> Self;
    #[doc(hidden)]
    fn from_bits(bits: u64) -> Self;
    #[doc(hidden)]
    fn kernels(isa: Isa) -> Kernels<Self>;
}

/// The kernels of one instruction set for one type.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Kernels<T> {
    decode: Run<T>,
    skip: Run<T>,
    decode_blocks: RunBlocks<T>,
    skip_blocks: RunBlocks<T>,
}

/// See [`Kernel::run`] and [`decode_blocks`].
type Run<T> = unsafe fn(*const u8, u32, usize, T, T, *mut T) -> T;
type RunBlocks<T> = unsafe fn(&Blocks<'_>, &mut Place<T>, *mut T) -> usize;

/// Blocks to decode: all of one shape, and all of their values wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Blocks<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) miniblocks: usize,
    pub(crate) groups_per_miniblock: usize,
    pub(crate) max_blocks: usize,
}

impl Blocks<'_> {
    fn values_per_block(&self) -> usize {
        self.miniblocks * self.groups_per_miniblock * GROUP
    }
}

/// Where a block begins and which value comes before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<T> {
    pub(crate) at: usize,
    pub(crate) last: T,
}

impl<T: DeltaInt> Kernels<T> {
    /// The best that this machine runs.
    pub(crate) fn best() -> Self {
        T::kernels(Isa::best())
    }

    /// Appends whole blocks; gives how many. Stops before one that is damaged, and somewhat before the end of bytes.
    pub(crate) fn decode_blocks(&self, blocks: &Blocks<'_>, place: &mut Place<T>, out: &mut Vec<T>) -> usize {
        out.reserve(blocks.max_blocks * blocks.values_per_block());
        // SAFETY: the spare capacity is reserved, the values of as many blocks as are given are written, and `kernels`
        // names only what the machine runs.
        unsafe {
            let done = (self.decode_blocks)(blocks, place, out.as_mut_ptr().add(out.len()));
            out.set_len(out.len() + done * blocks.values_per_block());
            done
        }
    }

    /// As [`Kernels::decode_blocks`], without the values.
    pub(crate) fn skip_blocks(&self, blocks: &Blocks<'_>, place: &mut Place<T>) -> usize {
        // SAFETY: as above; nothing is written.
        unsafe { (self.skip_blocks)(blocks, place, std::ptr::null_mut()) }
    }

    /// Appends `groups` groups of `width`-bit deltas from the start of `packed`; gives the last value.
    ///
    /// # Panics
    /// Where `width` is over the type's, or `packed` is shorter than the groups.
    pub(crate) fn decode(
        &self,
        packed: &[u8],
        width: u8,
        groups: usize,
        min_delta: T,
        last: T,
        out: &mut Vec<T>,
    ) -> T {
        runs(packed, width, T::BITS, groups, last, |packed, groups, last| {
            out.reserve(groups * GROUP);
            // SAFETY: `runs` gives the width and bytes that a `Run` asks for, the spare capacity is reserved and
            // then filled, and `kernels` names only what the machine runs.
            unsafe {
                let to = out.as_mut_ptr().add(out.len());
                let last = (self.decode)(packed.as_ptr(), u32::from(width), groups, min_delta, last, to);
                out.set_len(out.len() + groups * GROUP);
                last
            }
        })
    }

    /// The last value that [`Kernels::decode`] would give.
    ///
    /// # Panics
    /// Where `width` is over the type's, or `packed` is shorter than the groups.
    pub(crate) fn skip(&self, packed: &[u8], width: u8, groups: usize, min_delta: T, last: T) -> T {
        runs(packed, width, T::BITS, groups, last, |packed, groups, last| {
            // SAFETY: as in `decode`; nothing is written.
            unsafe {
                (self.skip)(packed.as_ptr(), u32::from(width), groups, min_delta, last, std::ptr::null_mut())
            }
        })
    }
}

macro_rules! kernels {
    ($type:ty, $isa:expr) => {
        match $isa {
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Kernels {
                decode: x86::run_avx512::<$type, true>,
                skip: x86::run_avx512::<$type, false>,
                decode_blocks: x86::blocks_avx512::<$type, true>,
                skip_blocks: x86::blocks_avx512::<$type, false>,
            },
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Kernels {
                decode: x86::run_avx2::<$type, true>,
                skip: x86::run_avx2::<$type, false>,
                decode_blocks: x86::blocks_avx2::<$type, true>,
                skip_blocks: x86::blocks_avx2::<$type, false>,
            },
            Isa::Portable => Kernels {
                decode: <Portable as Kernel<$type>>::run::<true>,
                skip: <Portable as Kernel<$type>>::run::<false>,
                decode_blocks: decode_blocks::<$type, Portable, true>,
                skip_blocks: decode_blocks::<$type, Portable, false>,
            },
        }
    };
}

impl DeltaInt for i32 {
    const BITS: u8 = 32;
    const MIN: Self = Self::MIN;
    const MAX: Self = Self::MAX;

    fn from_i64(value: i64) -> Option<Self> {
        Self::try_from(value).ok()
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        i64::from(self)
    }

    #[inline(always)]
    fn to_bits(self) -> u64 {
        u64::from(self.cast_unsigned())
    }

    #[inline(always)]
    fn pack(values: &[Self; GROUP], width: u8, out: &mut Vec<u8>) {
        pack_u32(&values.map(i32::cast_unsigned), width, out);
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // modulo 2^32
    fn times(self, n: usize) -> Self {
        self.wrapping_mul(n as i32)
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // modulo 2^32
    fn from_bits(bits: u64) -> Self {
        bits as i32
    }

    fn kernels(isa: Isa) -> Kernels<Self> {
        kernels!(Self, isa)
    }
}

impl DeltaInt for i64 {
    const BITS: u8 = 64;
    const MIN: Self = Self::MIN;
    const MAX: Self = Self::MAX;

    fn from_i64(value: i64) -> Option<Self> {
        Some(value)
    }

    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn minus(self, other: Self) -> Self {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    fn to_i64(self) -> i64 {
        self
    }

    #[inline(always)]
    fn to_bits(self) -> u64 {
        self.cast_unsigned()
    }

    #[inline(always)]
    fn pack(values: &[Self; GROUP], width: u8, out: &mut Vec<u8>) {
        pack_u64(&values.map(i64::cast_unsigned), width, out);
    }

    #[inline(always)]
    #[allow(clippy::cast_possible_wrap)] // modulo 2^64
    fn times(self, n: usize) -> Self {
        self.wrapping_mul(n as i64)
    }

    #[inline(always)]
    fn from_bits(bits: u64) -> Self {
        bits.cast_signed()
    }

    fn kernels(isa: Isa) -> Kernels<Self> {
        kernels!(Self, isa)
    }
}

/// Walks blocks from `place` on and moves it; gives how many were done. See [`Kernels::decode_blocks`].
///
/// # Safety
/// The machine runs `K`, and `out` has room for all values of the blocks, unless `WRITE` is off.
#[inline(always)]
unsafe fn decode_blocks<T: DeltaInt, K: Kernel<T>, const WRITE: bool>(
    blocks: &Blocks<'_>,
    place: &mut Place<T>,
    mut out: *mut T,
) -> usize {
    for done in 0..blocks.max_blocks {
        let mut cursor = Cursor::at(blocks.bytes, place.at);
        let min_delta = cursor.zigzag("").ok().and_then(T::from_i64);
        let widths = cursor.take(blocks.miniblocks, "");
        let (Some(min_delta), Ok(widths)) = (min_delta, widths) else { return done };
        let mut packed = cursor.rest();
        let mut last = place.last;
        for &width in widths {
            let groups = blocks.groups_per_miniblock;
            let len = GROUP / 8 * usize::from(width) * groups;
            if width > T::BITS || packed.len() < len + SLACK {
                return done;
            }
            // SAFETY: the width is in order, its bytes and SLACK are there; the caller has room for the values.
            unsafe {
                last = K::run::<WRITE>(packed.as_ptr(), u32::from(width), groups, min_delta, last, out);
                if WRITE {
                    out = out.add(groups * GROUP);
                }
            }
            packed = &packed[len..];
        }
        *place = Place { at: blocks.bytes.len() - packed.len(), last };
    }
    blocks.max_blocks
}

/// Decodes groups of one width.
trait Kernel<T> {
    /// Gives the last value.
    ///
    /// # Safety
    /// The machine runs the instruction set, `width` is at most `T::BITS`, `packed` has `groups * 4 * width` bytes and,
    /// where these are not 0, [`SLACK`], and `out` has room for `groups * 32` values, unless `WRITE` is off.
    unsafe fn run<const WRITE: bool>(
        packed: *const u8,
        width: u32,
        groups: usize,
        min_delta: T,
        last: T,
        out: *mut T,
    ) -> T;
}

/// One unaligned load a value.
struct Portable;

impl<T: DeltaInt> Kernel<T> for Portable {
    #[inline(always)]
    unsafe fn run<const WRITE: bool>(
        packed: *const u8,
        width: u32,
        groups: usize,
        min_delta: T,
        mut last: T,
        out: *mut T,
    ) -> T {
        if width == 0 {
            for i in 0..if WRITE { groups * GROUP } else { 0 } {
                // SAFETY: the caller has room. No byte is loaded: there may be none.
                unsafe { out.add(i).write(last.plus(min_delta.times(i + 1))) };
            }
            return last.plus(min_delta.times(groups.wrapping_mul(GROUP)));
        }
        let mask = u64::MAX >> (64 - width);
        let group_len = GROUP / 8 * width as usize;
        for group in 0..groups {
            for i in 0..GROUP {
                let bit = i * width as usize;
                // SAFETY: value `i` starts within its group's bytes; the load's 8 or 16 bytes end within SLACK. `out`
                // has room for every value of the groups.
                unsafe {
                    let from = packed.add(group * group_len + bit / 8);
                    let mut bits = from.cast::<u64>().read_unaligned() >> (bit % 8);
                    if width > 57 {
                        bits |= from.add(8).cast::<u64>().read_unaligned() << 1 << (63 - bit % 8);
                    }
                    last = last.plus(T::from_bits(bits & mask)).plus(min_delta);
                    if WRITE {
                        out.add(group * GROUP + i).write(last);
                    }
                }
            }
        }
        last
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;

    /// Bit by bit.
    fn oracle<T: DeltaInt>(packed: &[u8], width: u8, groups: usize, min_delta: T, mut last: T) -> Vec<T> {
        let bit = |i: usize| u64::from(packed[i / 8] >> (i % 8) & 1);
        let width = usize::from(width);
        (0..groups * GROUP)
            .map(|i| {
                let bits = (0..width).fold(0, |bits, b| bits | bit(i * width + b) << b);
                last = last.plus(T::from_bits(bits)).plus(min_delta);
                last
            })
            .collect()
    }

    fn check<T: DeltaInt>(min_deltas: [T; 4]) {
        for isa in Isa::available() {
            let kernels = T::kernels(isa);
            for width in 0..=T::BITS {
                for seed in 0..4u64 {
                    let groups = [1, 2, 3, 9][seed as usize];
                    let mut state = seed * 1000 + u64::from(width) + 1;
                    // With and without bytes behind the groups.
                    let len = groups * 4 * usize::from(width) + [0, 1, 15, 100][seed as usize];
                    let packed: Vec<u8> = std::iter::repeat_with(|| {
                        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                        (state >> 56) as u8
                    })
                    .take(len)
                    .collect();
                    let (min, last) = (min_deltas[seed as usize], T::from_bits(state));
                    let mut expected = vec![T::default()];
                    expected.extend(oracle(&packed, width, groups, min, last));
                    let mut out = vec![T::default()];
                    let end = kernels.decode(&packed, width, groups, min, last, &mut out);
                    assert_eq!(out, expected, "{isa:?} width {width} seed {seed}");
                    assert_eq!(Some(&end), expected.last());
                    let skipped = kernels.skip(&packed, width, groups, min, last);
                    assert_eq!(skipped, end, "{isa:?} width {width} seed {seed}");
                }
            }
        }
    }

    #[test]
    fn equals_the_oracle_for_every_width_and_instruction_set() {
        check([0i32, -1, i32::MIN, 123_456]);
        check([0i64, -1, i64::MIN, 123_456_789_012]);
    }
}
