//! Kernels of ALP: packed integers in, floats out.
//!
//! ```text
//! value[i] = float(frame + ((packed >> (i * width)) & (2^width - 1))) * 10^factor * 10^-exponent
//! ```
//!
//! The sum wraps and is signed, its conversion rounds to nearest, and there are two multiplications in this order, each
//! rounded: every reader has to give the same bits.

use super::delta::DeltaInt;
use super::fixed::FixedWidth;
use super::groups::{GROUP, SLACK, runs};
use super::isa::Isa;

/// The physical types of ALP: `f32` and `f64`. Sealed by the kernels that it names.
pub trait AlpFloat: FixedWidth {
    /// Bits of the type, and so of the integers at most.
    const BITS: u8;
    /// `(10^factor, 10^-exponent)`, each the nearest float. `None` unless `factor <= exponent`, which is 10 or 18 at most.
    #[doc(hidden)]
    fn scale(exponent: u8, factor: u8) -> Option<Scale<Self>>;
    /// The value of an integer given by its low bits.
    #[doc(hidden)]
    fn scaled(bits: u64, scale: Scale<Self>) -> Self;
    /// Integers of as many bits.
    #[doc(hidden)]
    type Integer: DeltaInt;
    /// `(10^exponent, 10^-factor)`, for [`AlpFloat::integer`]; `None` as in [`AlpFloat::scale`].
    #[doc(hidden)]
    fn unscale(exponent: u8, factor: u8) -> Option<Scale<Self>>;
    /// The integer nearest to the scaled value, or any where there is none.
    #[doc(hidden)]
    fn integer(self, unscale: Scale<Self>) -> Self::Integer;
    /// Whether an integer gives back the very bits.
    #[doc(hidden)]
    fn is_given_by(self, integer: Self::Integer, scale: Scale<Self>) -> bool;
    /// The float with these bytes, little endian; `None` where they are not `BITS / 8`.
    #[doc(hidden)]
    fn from_le(bytes: &[u8]) -> Option<Self>;
    #[doc(hidden)]
    fn kernel(isa: Isa) -> Kernel<Self>;
}

/// Two powers of ten to multiply by, one after the other.
#[doc(hidden)]
#[derive(Debug, Clone, Copy)]
pub struct Scale<F>(F, F);

/// Decodes groups: `(packed, width, groups, frame, scale, out)`.
///
/// # Safety
/// The machine runs the instruction set, `width` is 1 to `F::BITS`, `packed` has `groups * 4 * width` bytes and
/// [`SLACK`], and `out` has room for `groups * 32` values.
pub(crate) type Kernel<F> = unsafe fn(*const u8, u32, usize, u64, Scale<F>, *mut F);

/// Integers packed in `width` bits each, from the start of `bytes`, less `frame`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Packed<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) width: u8,
    pub(crate) frame: u64,
}

impl Packed<'_> {
    /// Appends the first `n` values.
    ///
    /// # Panics
    /// Where the width is over the type's, or the bytes are shorter than `n` integers.
    pub(crate) fn decode<F: AlpFloat>(&self, n: usize, scale: Scale<F>, out: &mut Vec<F>) {
        self.decode_with(F::kernel(Isa::best()), n, scale, out);
    }

    fn decode_with<F: AlpFloat>(&self, kernel: Kernel<F>, n: usize, scale: Scale<F>, out: &mut Vec<F>) {
        if self.width == 0 {
            out.resize(out.len() + n, F::scaled(self.frame, scale));
            return;
        }
        let (groups, tail) = (n / GROUP, n % GROUP);
        out.reserve(n);
        runs(self.bytes, self.width, F::BITS, groups, (), |packed, groups, ()| {
            // SAFETY: `runs` gives the width and bytes that a kernel asks for, the spare capacity is reserved and then
            // filled, and `AlpFloat::kernel` names only what the machine runs.
            unsafe {
                let to = out.as_mut_ptr().add(out.len());
                kernel(packed.as_ptr(), u32::from(self.width), groups, self.frame, scale, to);
                out.set_len(out.len() + groups * GROUP);
            }
        });
        if tail > 0 {
            let packed = self.bytes.get(groups * GROUP / 8 * usize::from(self.width)..).unwrap_or_default();
            let packed = packed.get(..(tail * usize::from(self.width)).div_ceil(8));
            assert!(packed.is_some());
            let mut padded = [0; GROUP / 8 * 64 + SLACK];
            let mut values = [F::default(); GROUP];
            padded.iter_mut().zip(packed.unwrap_or_default()).for_each(|(to, from)| *to = *from);
            // SAFETY: the buffers hold a group of any width and SLACK.
            unsafe {
                kernel(padded.as_ptr(), u32::from(self.width), 1, self.frame, scale, values.as_mut_ptr());
            }
            out.extend(values.iter().take(tail));
        }
    }
}

macro_rules! alp_float {
    ($float:ty, $signed:ty, $bits:literal, $avx512:ident, $avx2:ident, $powers:expr, $inverses:expr) => {
        impl AlpFloat for $float {
            const BITS: u8 = $bits;

            fn scale(exponent: u8, factor: u8) -> Option<Scale<Self>> {
                let power = $powers.get(usize::from(factor)).filter(|_| factor <= exponent)?;
                Some(Scale(*power, *$inverses.get(usize::from(exponent))?))
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // the low bits are meant
            fn scaled(bits: u64, scale: Scale<Self>) -> Self {
                bits as $signed as $float * scale.0 * scale.1
            }

            type Integer = $signed;

            fn unscale(exponent: u8, factor: u8) -> Option<Scale<Self>> {
                let power = $powers.get(usize::from(exponent)).filter(|_| factor <= exponent)?;
                Some(Scale(*power, *$inverses.get(usize::from(factor))?))
            }

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation)] // what does not fit is not given back
            fn integer(self, unscale: Scale<Self>) -> $signed {
                (self * unscale.0 * unscale.1).round_ties_even() as $signed
            }

            #[inline(always)]
            fn is_given_by(self, integer: $signed, scale: Scale<Self>) -> bool {
                (integer as $float * scale.0 * scale.1).to_bits() == self.to_bits()
            }

            fn from_le(bytes: &[u8]) -> Option<Self> {
                bytes.try_into().ok().map(<$float>::from_le_bytes)
            }

            fn kernel(isa: Isa) -> Kernel<Self> {
                match isa {
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx512 => x86::$avx512,
                    #[cfg(target_arch = "x86_64")]
                    Isa::Avx2 => x86::$avx2,
                    Isa::Portable => portable::<$float>,
                }
            }
        }
    };
}

alp_float!(
    f32,
    i32,
    32,
    f32_avx512,
    f32_avx2,
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10f32],
    [1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10f32]
);
alp_float!(
    f64,
    i64,
    64,
    f64_avx512,
    f64_avx2,
    [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17,
        1e18f64
    ],
    [
        1e0, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15,
        1e-16, 1e-17, 1e-18f64
    ]
);

/// One unaligned load a value.
///
/// # Safety
/// See [`Kernel`].
unsafe fn portable<F: AlpFloat>(
    packed: *const u8,
    width: u32,
    groups: usize,
    frame: u64,
    scale: Scale<F>,
    out: *mut F,
) {
    let width = width as usize;
    let mask = u64::MAX >> (64 - width);
    for i in 0..groups * GROUP {
        let bit = i * width;
        // SAFETY: the value starts within the bytes; the load of 8 or 16 bytes ends within SLACK. `out` has room.
        unsafe {
            let from = packed.add(bit / 8);
            let mut bits = from.cast::<u64>().read_unaligned() >> (bit % 8);
            if width > 57 {
                bits |= from.add(8).cast::<u64>().read_unaligned() << 1 << (63 - bit % 8);
            }
            out.add(i).write(F::scaled((bits & mask).wrapping_add(frame), scale));
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Scale, portable};
    use crate::raw::lanes::{Narrow256, Narrow512, Wide256, Wide512};

    /// # Safety
    /// See [`super::Kernel`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn f64_avx512(
        packed: *const u8,
        width: u32,
        groups: usize,
        frame: u64,
        scale: Scale<f64>,
        out: *mut f64,
    ) {
        let unpack = Wide512::new(width);
        let frame = _mm512_set1_epi64(frame.cast_signed());
        let (power, inverse) = (_mm512_set1_pd(scale.0), _mm512_set1_pd(scale.1));
        for step in 0..groups * 4 {
            // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
            unsafe {
                let integers = _mm512_add_epi64(unpack.step(packed.add(step * width as usize)), frame);
                let values = _mm512_mul_pd(_mm512_mul_pd(_mm512_cvtepi64_pd(integers), power), inverse);
                _mm512_storeu_pd(out.add(step * 8), values);
            }
        }
    }

    /// # Safety
    /// See [`super::Kernel`].
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
    pub(super) unsafe fn f32_avx512(
        packed: *const u8,
        width: u32,
        groups: usize,
        frame: u64,
        scale: Scale<f32>,
        out: *mut f32,
    ) {
        let unpack = Narrow512::new(width);
        let frame = low_32(frame);
        let frame = _mm512_set1_epi32(frame);
        let (power, inverse) = (_mm512_set1_ps(scale.0), _mm512_set1_ps(scale.1));
        for step in 0..groups * 2 {
            // SAFETY: a step is `2 * width` bytes and 16 values of what the caller guarantees.
            unsafe {
                let integers = _mm512_add_epi32(unpack.step(packed.add(step * 2 * width as usize)), frame);
                let values = _mm512_mul_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(integers), power), inverse);
                _mm512_storeu_ps(out.add(step * 16), values);
            }
        }
    }

    /// # Safety
    /// See [`super::Kernel`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn f64_avx2(
        packed: *const u8,
        width: u32,
        groups: usize,
        frame: u64,
        scale: Scale<f64>,
        out: *mut f64,
    ) {
        if width > 57 {
            // SAFETY: the caller's.
            return unsafe { portable(packed, width, groups, frame, scale, out) };
        }
        let unpack = Wide256::new(width);
        let frame = _mm256_set1_epi64x(frame.cast_signed());
        let (power, inverse) = (_mm256_set1_pd(scale.0), _mm256_set1_pd(scale.1));
        for step in 0..groups * 4 {
            // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
            let fours = unsafe { unpack.step(packed.add(step * width as usize)) };
            for (four, integers) in fours.into_iter().enumerate() {
                let floats = to_f64(_mm256_add_epi64(integers, frame));
                let values = _mm256_mul_pd(_mm256_mul_pd(floats, power), inverse);
                // SAFETY: as above.
                unsafe { _mm256_storeu_pd(out.add(step * 8 + four * 4), values) };
            }
        }
    }

    /// Signed 64-bit integers to the nearest floats, which AVX2 has no instruction for.
    ///
    /// The high 48 bits become the mantissa of a float of 3 * 2^67, the low 16 that of one of 2^52. Taking both constants
    /// off the first is exact, so that only the last addition rounds.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn to_f64(integers: __m256i) -> __m256d {
        let big = _mm256_set1_pd(442_721_857_769_029_238_784.0); // 3 * 2^67
        let both = _mm256_set1_pd(442_726_361_368_656_609_280.0); // 3 * 2^67 + 2^52
        let small = _mm256_set1_pd(4_503_599_627_370_496.0); // 2^52
        let high =
            _mm256_blend_epi16::<0b0011_0011>(_mm256_srai_epi32::<16>(integers), _mm256_setzero_si256());
        let high = _mm256_castsi256_pd(_mm256_add_epi64(high, _mm256_castpd_si256(big)));
        let low = _mm256_blend_epi16::<0b1000_1000>(integers, _mm256_castpd_si256(small));
        _mm256_add_pd(_mm256_sub_pd(high, both), _mm256_castsi256_pd(low))
    }

    /// # Safety
    /// See [`super::Kernel`].
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn f32_avx2(
        packed: *const u8,
        width: u32,
        groups: usize,
        frame: u64,
        scale: Scale<f32>,
        out: *mut f32,
    ) {
        let unpack = Narrow256::new(width);
        let frame = _mm256_set1_epi32(low_32(frame));
        let (power, inverse) = (_mm256_set1_ps(scale.0), _mm256_set1_ps(scale.1));
        for step in 0..groups * 4 {
            // SAFETY: a step is `width` bytes and 8 values of what the caller guarantees.
            unsafe {
                let integers = _mm256_add_epi32(unpack.step(packed.add(step * width as usize)), frame);
                let values = _mm256_mul_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(integers), power), inverse);
                _mm256_storeu_ps(out.add(step * 8), values);
            }
        }
    }

    #[allow(clippy::cast_possible_truncation)] // the low bits are meant
    fn low_32(bits: u64) -> i32 {
        bits as i32
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;

    fn check<F: AlpFloat + PartialEq + std::fmt::Debug>(widest: u8) {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            state ^ state >> 29
        };
        for isa in Isa::available() {
            for width in 0..=widest {
                for n in [0, 1, 7, 31, 32, 33, 64, 100, 1000] {
                    let exponent = (next() % if F::BITS == 32 { 11 } else { 19 }) as u8;
                    let scale = F::scale(exponent, (next() % u64::from(exponent + 1)) as u8).unwrap();
                    let len = (n * usize::from(width)).div_ceil(8) + (next() % 2 * 40) as usize;
                    let bytes: Vec<u8> = (0..len).map(|_| next() as u8).collect();
                    let frame = [next(), 0, 1 << 31, 1 << 63, u64::MAX][(next() % 5) as usize];
                    let bit = |i: usize| u64::from(bytes[i / 8] >> (i % 8) & 1);
                    let expected: Vec<F> = (0..n)
                        .map(|i| {
                            let width = usize::from(width);
                            let bits = (0..width).fold(0, |bits, b| bits | bit(i * width + b) << b);
                            F::scaled(bits.wrapping_add(frame), scale)
                        })
                        .collect();
                    let mut out = vec![];
                    Packed { bytes: &bytes, width, frame }.decode_with(F::kernel(isa), n, scale, &mut out);
                    assert_eq!(out, expected, "{isa:?} width {width} n {n}");
                }
            }
        }
    }

    #[test]
    fn equals_the_oracle_for_every_width_and_instruction_set() {
        check::<f32>(32);
        check::<f64>(64);
    }

    #[test]
    fn powers_of_ten_are_the_nearest_floats() {
        for exponent in 0..=18u8 {
            let Scale(power, inverse) = f64::scale(exponent, exponent).unwrap();
            assert_eq!(
                (power, inverse),
                (format!("1e{exponent}").parse().unwrap(), format!("1e-{exponent}").parse().unwrap())
            );
            let narrow = f32::scale(exponent, exponent).map(|Scale(power, inverse)| (power, inverse));
            let expected =
                (format!("1e{exponent}").parse().unwrap(), format!("1e-{exponent}").parse().unwrap());
            assert_eq!(narrow, (exponent <= 10).then_some(expected));
        }
        assert!(f64::scale(19, 0).is_none() && f64::scale(3, 4).is_none() && f32::scale(255, 255).is_none());
    }
}
