//! Kernels of ALP, the other way: floats in, integers and exceptions out.
//!
//! ```text
//! integer[i] = round(value[i] * 10^exponent * 10^-factor)
//! exception  where integer[i] * 10^factor * 10^-exponent has not the very bits of value[i]
//! ```

use super::alp::{AlpFloat, Scale};
use super::delta::DeltaInt;
use super::isa::Isa;

/// An exponent and a factor that the format allows, and what they multiply by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pair<F> {
    pub(crate) exponent: u8,
    pub(crate) factor: u8,
    scale: Scale<F>,
    unscale: Scale<F>,
}

/// What a pair makes of some values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Values that their integers do not give back.
    pub(crate) exceptions: usize,
    /// Bits of each integer less the least one, exceptions left out.
    pub(crate) width: u8,
}

impl<F: AlpFloat> Pair<F> {
    /// `None` where the format does not allow it.
    pub(crate) fn new(exponent: u8, factor: u8) -> Option<Self> {
        let (scale, unscale) = (F::scale(exponent, factor)?, F::unscale(exponent, factor)?);
        Some(Pair { exponent, factor, scale, unscale })
    }

    /// All that the format allows, in rising order.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        let exponents = (0..=u8::MAX).take_while(|&exponent| F::scale(exponent, 0).is_some());
        exponents.flat_map(|exponent| (0..=exponent).filter_map(move |factor| Self::new(exponent, factor)))
    }

    /// The integer of each value, and whether it is an exception (0 or 1). All slices are of one length.
    pub(crate) fn encode(&self, values: &[F], integers: &mut [F::Integer], exceptions: &mut [u8]) -> Outcome {
        self.encode_with(Isa::best(), values, integers, exceptions)
    }

    fn encode_with(
        &self,
        isa: Isa,
        values: &[F],
        integers: &mut [F::Integer],
        exceptions: &mut [u8],
    ) -> Outcome {
        match isa {
            // SAFETY: the machine runs `isa`, whose features are those of the function.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => unsafe { encode_avx512(self, values, integers, exceptions) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => unsafe { encode_avx2(self, values, integers, exceptions) },
            Isa::Portable => encode(self, values, integers, exceptions),
        }
    }
}

#[inline(always)]
fn encode<F: AlpFloat>(
    pair: &Pair<F>,
    values: &[F],
    integers: &mut [F::Integer],
    exceptions: &mut [u8],
) -> Outcome {
    let (mut count, mut min, mut max) = (0u32, F::Integer::MAX, F::Integer::MIN);
    for ((&value, integer), exception) in values.iter().zip(integers).zip(exceptions) {
        let nearest = value.integer(pair.unscale);
        let is_given = value.is_given_by(nearest, pair.scale);
        (*integer, *exception) = (nearest, u8::from(!is_given));
        count += u32::from(!is_given);
        min = min.min(if is_given { nearest } else { F::Integer::MAX });
        max = max.max(if is_given { nearest } else { F::Integer::MIN });
    }
    let width = if min > max { 0 } else { 64 - max.minus(min).to_bits().leading_zeros() };
    #[allow(clippy::cast_possible_truncation)] // 64 at most
    Outcome { exceptions: count as usize, width: width as u8 }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
fn encode_avx512<F: AlpFloat>(
    pair: &Pair<F>,
    values: &[F],
    integers: &mut [F::Integer],
    exceptions: &mut [u8],
) -> Outcome {
    encode(pair, values, integers, exceptions)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn encode_avx2<F: AlpFloat>(
    pair: &Pair<F>,
    values: &[F],
    integers: &mut [F::Integer],
    exceptions: &mut [u8],
) -> Outcome {
    encode(pair, values, integers, exceptions)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::testing::random;

    #[test]
    fn every_instruction_set_gives_the_same() {
        let mut next = random(2);
        let special = [0.0, -0.0, f64::NAN, f64::INFINITY, 1e300, -1e17, 9.3e18, 0.1 + 0.2];
        let values: Vec<f64> = (0..1000)
            .map(|i| match next() % 5 {
                0 => special[i % 8],
                1 => f64::from_bits(next()),
                #[allow(clippy::cast_precision_loss)]
                _ => (next() % 1_000_000) as f64 / 100.0,
            })
            .collect();
        for pair in Pair::<f64>::all() {
            let run = |isa| {
                let (mut integers, mut exceptions) = (vec![0i64; 1000], vec![0u8; 1000]);
                let outcome = pair.encode_with(isa, &values, &mut integers, &mut exceptions);
                (integers, exceptions, outcome)
            };
            let expected = run(Isa::Portable);
            for isa in Isa::available() {
                assert_eq!(run(isa), expected, "{isa:?} {} {}", pair.exponent, pair.factor);
            }
        }
        assert_eq!((Pair::<f64>::all().count(), Pair::<f32>::all().count()), (190, 66));
    }
}
