//! The smallest and the largest of a slice of integers, under each instruction set.

use super::isa::Isa;
use crate::statistics::{FloatValue, IntegerKey};

/// Integers that fit a lane.
pub(crate) trait Integer: Copy + Ord {}

macro_rules! integers {
    ($($type:ty),*) => {$(
        impl Integer for $type {}
    )*};
}

integers!(i8, i16, i32, i64, u8, u16, u32, u64);

/// `None` of no values.
pub(crate) fn extremes<T: Integer>(values: &[T]) -> Option<(T, T)> {
    extremes_with(Isa::best(), values)
}

fn extremes_with<T: Integer>(isa: Isa, values: &[T]) -> Option<(T, T)> {
    let (&first, _) = values.split_first()?;
    Some(match isa {
        // SAFETY: the machine runs `isa`, whose features are those of the function.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { avx512(values, first) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { avx2(values, first) },
        Isa::Portable => generic(values, first),
    })
}

/// Lanes apart, so that the loop needs no order of its own.
const LANES: usize = 32;

#[inline(always)]
fn generic<T: Integer>(values: &[T], first: T) -> (T, T) {
    let (mut mins, mut maxes) = ([first; LANES], [first; LANES]);
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        for ((min, max), &value) in mins.iter_mut().zip(&mut maxes).zip(chunk) {
            *min = value.min(*min);
            *max = value.max(*max);
        }
    }
    let min = mins.iter().chain(rest).fold(first, |min, &value| min.min(value));
    let max = maxes.iter().chain(rest).fold(first, |max, &value| max.max(value));
    (min, max)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
fn avx512<T: Integer>(values: &[T], first: T) -> (T, T) {
    generic(values, first)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<T: Integer>(values: &[T], first: T) -> (T, T) {
    generic(values, first)
}

/// The smallest and the largest key of numbers, and how many these are; of none, the keys mean nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Numbers<K> {
    pub(crate) min: K,
    pub(crate) max: K,
    pub(crate) count: usize,
}

/// Of all values but NaNs.
pub(crate) fn number_extremes<F: FloatValue>(values: &[F]) -> Numbers<F::Key> {
    number_extremes_with(Isa::best(), values)
}

fn number_extremes_with<F: FloatValue>(isa: Isa, values: &[F]) -> Numbers<F::Key> {
    match isa {
        // SAFETY: the machine runs `isa`, whose features are those of the function.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx512 => unsafe { numbers_avx512(values) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Isa::Avx2 => unsafe { numbers_avx2(values) },
        Isa::Portable => numbers(values),
    }
}

#[inline(always)]
fn numbers<F: FloatValue>(values: &[F]) -> Numbers<F::Key> {
    let (mut mins, mut maxes) = ([F::Key::MAX; LANES], [F::Key::MIN; LANES]);
    let mut count = 0;
    let (chunks, rest) = values.as_chunks::<LANES>();
    for chunk in chunks {
        let mut inside = 0u32;
        for ((min, max), value) in mins.iter_mut().zip(&mut maxes).zip(chunk) {
            let key = value.key();
            let is_number = key >= F::Key::MINUS_INFINITY && key <= F::Key::INFINITY;
            inside += u32::from(is_number);
            *min = (if is_number { key } else { F::Key::MAX }).min(*min);
            *max = (if is_number { key } else { F::Key::MIN }).max(*max);
        }
        count += inside as usize;
    }
    let keys = rest.iter().map(|value| value.key());
    let rest = keys.filter(|&key| key >= F::Key::MINUS_INFINITY && key <= F::Key::INFINITY);
    let min = mins.into_iter().chain(rest.clone()).fold(F::Key::MAX, F::Key::min);
    let max = maxes.into_iter().chain(rest.clone()).fold(F::Key::MIN, F::Key::max);
    Numbers { min, max, count: count + rest.count() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi")]
fn numbers_avx512<F: FloatValue>(values: &[F]) -> Numbers<F::Key> {
    numbers(values)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn numbers_avx2<F: FloatValue>(values: &[F]) -> Numbers<F::Key> {
    numbers(values)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests {
    use super::*;

    #[test]
    fn every_instruction_set_equals_the_iterator() {
        let mut state = 7u64;
        let values: Vec<i64> = (0..3000)
            .map(|_| {
                state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(11);
                state.cast_signed() >> (state % 50)
            })
            .collect();
        let narrow: Vec<u16> = values.iter().map(|value| *value as u16).collect();
        for isa in Isa::available() {
            for n in [0, 1, 31, 32, 33, 100, 3000] {
                let expected = values[..n].iter().min().copied().zip(values[..n].iter().max().copied());
                assert_eq!(extremes_with(isa, &values[..n]), expected);
                let expected = narrow[..n].iter().min().copied().zip(narrow[..n].iter().max().copied());
                assert_eq!(extremes_with(isa, &narrow[..n]), expected);
                let floats: Vec<f32> =
                    values[..n].iter().map(|value| f32::from_bits(*value as u32)).collect();
                assert_eq!(number_extremes_with(isa, &floats), number_extremes_with(Isa::Portable, &floats));
            }
        }
    }
}
