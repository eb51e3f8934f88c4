//! ALP, written (AlpEncoding.md): vectors of 1024 values, each with an exponent and a factor of its own.
//!
//! Which pairs of these are worth trying is searched for on a sample of a vector: of the first, of one in 16 from there on,
//! and of those that the pairs known do not suit. The best are kept, from page to page too, and the best of them by a
//! sample is a vector's.

use crate::raw::alp::AlpFloat;
use crate::raw::alp_encode::{Outcome, Pair};
use crate::raw::delta::{DeltaInt, MINIBLOCK};
use crate::raw::fixed::as_bytes;

/// Encodes `FLOAT` and `DOUBLE`.
#[derive(Debug, Clone)]
pub struct AlpEncoder<T: AlpFloat> {
    /// Vectors end to end, and where each begins.
    vectors: Vec<u8>,
    starts: Vec<u32>,
    /// The vector that is not whole.
    open: Vec<T>,
    num_values: usize,
    /// Pairs worth trying, the one last found first.
    pairs: Vec<Pair<T>>,
    integers: Vec<T::Integer>,
    exceptions: Vec<u8>,
}

impl<T: AlpFloat> Default for AlpEncoder<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: AlpFloat> AlpEncoder<T> {
    /// No values.
    pub fn new() -> Self {
        AlpEncoder {
            vectors: vec![],
            starts: vec![],
            open: vec![],
            num_values: 0,
            pairs: vec![],
            integers: vec![T::Integer::MIN; VECTOR],
            exceptions: vec![0; VECTOR],
        }
    }

    /// Appends values.
    pub fn put(&mut self, values: &[T]) {
        self.num_values += values.len();
        let mut rest = values;
        if !self.open.is_empty() {
            let (filler, after) = rest.split_at(rest.len().min(VECTOR - self.open.len()));
            self.open.extend_from_slice(filler);
            rest = after;
            if self.open.len() == VECTOR {
                self.write_open();
            }
        }
        let (vectors, rest) = rest.as_chunks::<VECTOR>();
        vectors.iter().for_each(|vector| self.write_vector(vector));
        self.open.extend_from_slice(rest);
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Bytes that a flush would append at most.
    pub fn estimated_size(&self) -> usize {
        let open = self.open.len() * (2 * size_of::<T>() + 2) + VECTOR_HEADER + 4;
        HEADER + 4 * self.starts.len() + self.vectors.len() + open
    }

    /// Appends the page to `out` and begins another.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        if !self.open.is_empty() {
            self.write_open();
        }
        #[allow(clippy::cast_possible_truncation)] // a page is shorter than 2 GiB
        let (count, offsets) = (self.num_values as u32, 4 * self.starts.len() as u32);
        out.extend_from_slice(&[0, 0, LOG_VECTOR]);
        out.extend_from_slice(&count.to_le_bytes());
        self.starts.iter().for_each(|start| out.extend_from_slice(&(offsets + start).to_le_bytes()));
        out.extend_from_slice(&self.vectors);
        self.vectors.clear();
        self.starts.clear();
        self.num_values = 0;
    }

    fn write_open(&mut self) {
        let open = std::mem::take(&mut self.open);
        self.write_vector(&open);
        self.open = open;
        self.open.clear();
    }

    #[allow(clippy::cast_possible_truncation)] // a page is shorter than 2 GiB, a vector of 1024 values
    fn write_vector(&mut self, values: &[T]) {
        let Some(pair) = self.pair_for(values) else { return };
        self.integers.resize(values.len(), T::Integer::MIN);
        self.exceptions.resize(values.len(), 0);
        let Outcome { exceptions, width } = pair.encode(values, &mut self.integers, &mut self.exceptions);
        self.fill_exceptions(exceptions);
        let frame = self.integers.iter().copied().min().unwrap_or(T::Integer::MIN);

        self.starts.push(self.vectors.len() as u32);
        let out = &mut self.vectors;
        out.extend_from_slice(&[pair.exponent, pair.factor]);
        out.extend_from_slice(&(exceptions as u16).to_le_bytes());
        out.extend_from_slice(as_bytes(&[frame]));
        out.push(width);
        let end = out.len() + (values.len() * usize::from(width)).div_ceil(8);
        for group in self.integers.chunks(MINIBLOCK) {
            let mut deltas = [frame; MINIBLOCK];
            deltas.iter_mut().zip(group).for_each(|(delta, integer)| *delta = *integer);
            T::Integer::pack(&deltas.map(|integer| integer.minus(frame)), width, out);
        }
        out.truncate(end);
        if exceptions > 0 {
            let found = || self.exceptions.iter().enumerate().filter(|(_, exception)| **exception != 0);
            found().for_each(|(position, _)| out.extend_from_slice(&(position as u16).to_le_bytes()));
            found().for_each(|(position, _)| {
                out.extend_from_slice(as_bytes(values.get(position..=position).unwrap_or_default()))
            });
        }
    }

    /// Gives each exception the integer of a value that is none, so that it takes no bits.
    fn fill_exceptions(&mut self, exceptions: usize) {
        if exceptions == 0 {
            return;
        }
        let both = self.integers.iter().zip(&self.exceptions);
        let filler = both.into_iter().find(|(_, exception)| **exception == 0);
        let filler = filler.map_or(T::Integer::default(), |(integer, _)| *integer);
        for (integer, exception) in self.integers.iter_mut().zip(&self.exceptions) {
            *integer = if *exception == 0 { *integer } else { filler };
        }
    }

    /// The pair that a vector is written with.
    fn pair_for(&mut self, values: &[T]) -> Option<Pair<T>> {
        let step = values.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<T> = values.iter().step_by(step).copied().collect();
        let best = cheapest(self.pairs.iter().copied(), &sample);
        let suits = best.is_some_and(|(_, exceptions)| exceptions * 8 <= sample.len());
        if suits && !self.starts.len().is_multiple_of(SEARCH_EACH) {
            return best.map(|(pair, _)| pair);
        }
        let (found, _) = cheapest(Pair::all(), &sample)?;
        self.pairs.retain(|pair| (pair.exponent, pair.factor) != (found.exponent, found.factor));
        self.pairs.truncate(MAX_PAIRS - 1);
        self.pairs.insert(0, found);
        Some(found)
    }
}

/// The pair that makes the sample smallest, the last of those that do, and how many exceptions it leaves.
fn cheapest<T: AlpFloat>(pairs: impl Iterator<Item = Pair<T>>, sample: &[T]) -> Option<(Pair<T>, usize)> {
    let (mut integers, mut flags) = ([T::Integer::MIN; SAMPLE], [0; SAMPLE]);
    let mut best: Option<(usize, Pair<T>, usize)> = None;
    for pair in pairs {
        let Outcome { exceptions, width } = pair.encode(sample, &mut integers, &mut flags);
        let bits = sample.len() * usize::from(width) + exceptions * usize::from(T::BITS + 16);
        if best.is_none_or(|(least, _, _)| bits <= least) {
            best = Some((bits, pair, exceptions));
        }
    }
    best.map(|(_, pair, exceptions)| (pair, exceptions))
}

/// Values of a vector, and their logarithm.
const VECTOR: usize = 1 << LOG_VECTOR;
const LOG_VECTOR: u8 = 10;
/// Bytes of the page's header, and of a vector's at most.
const HEADER: usize = 7;
const VECTOR_HEADER: usize = 13;
/// Values of a vector that a pair is tried on.
const SAMPLE: usize = 64;
/// Pairs kept, and vectors from one search to the next.
const MAX_PAIRS: usize = 5;
const SEARCH_EACH: usize = 16;

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_precision_loss)]
mod tests {
    use super::*;
    use crate::encoding::AlpDecoder;
    use crate::encoding::testing::{COUNTS, random};
    use crate::sink::PrimitiveSink;

    fn check<T: AlpFloat + PartialEq + std::fmt::Debug>(values: &[T]) -> usize {
        let mut encoder = AlpEncoder::new();
        let mut pages = vec![];
        for step in [values.len().max(1), 300] {
            encoder = AlpEncoder::new();
            values.chunks(step).for_each(|some| encoder.put(some));
            assert_eq!(encoder.num_values(), values.len());
            let (size, mut page) = (encoder.estimated_size(), vec![]);
            encoder.flush(&mut page);
            assert!(page.len() <= size, "{} of {size}", page.len());
            let mut sink = PrimitiveSink::<T>::new();
            AlpDecoder::new(page.as_slice(), values.len()).unwrap().read(values.len(), &mut sink).unwrap();
            assert_eq!(as_bytes(sink.as_slice()), as_bytes(values));
            pages.push(page);
        }
        assert_eq!((&pages[0], encoder.num_values()), (&pages[1], 0));
        pages[0].len()
    }

    #[test]
    fn values_are_read_back_bit_for_bit() {
        let special = [0.0, -0.0, f64::NAN, -f64::NAN, f64::INFINITY, f64::MIN, 5e-324, 1e17];
        for n in COUNTS {
            for one_in in [1, 2, 40, u64::MAX] {
                let mut next = random(one_in);
                let mut decimals = |power: u64| -> Vec<f64> {
                    let any = (0..n).map(|_| match next() % one_in {
                        0 if next().is_multiple_of(2) => special[(next() % 8) as usize],
                        0 => f64::from_bits(next()),
                        _ => (next() % 10_000_000) as f64 / power as f64 - 500.0,
                    });
                    any.collect()
                };
                for power in [1, 100, 100_000] {
                    let values = decimals(power);
                    check(&values);
                    check(&values.iter().map(|&value| value as f32).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn decimals_become_small() {
        let mut next = random(6);
        let prices: Vec<f64> = (0..50_000).map(|_| (next() % 100_000) as f64 / 100.0).collect();
        // 17 bits a value.
        assert!(check(&prices) < 50_000 * 18 / 8);
        let tenths: Vec<f32> = (0..50_000).map(|_| (next() % 4096) as f32 / 10.0).collect();
        assert!(check(&tenths) < 50_000 * 14 / 8);
        let constant = vec![2.5f64; 5000];
        assert!(check(&constant) < 120);
    }

    #[test]
    fn writes_the_example_of_the_format() {
        let values = [1500.0, f64::NAN, 2500.0, 333.5];
        let (mut encoder, mut page) = (AlpEncoder::new(), vec![]);
        encoder.put(&values);
        encoder.flush(&mut page);
        let mut expected = vec![0, 0, 10, 4, 0, 0, 0, 4, 0, 0, 0];
        // The example has the pair (4, 3), which makes the same integers.
        expected.extend([18, 17, 1, 0]);
        expected.extend(3335i64.to_le_bytes());
        expected.push(15);
        let packed = 11665u64 | 11665 << 15 | 21665 << 30;
        expected.extend(packed.to_le_bytes());
        expected.extend([1, 0]);
        expected.extend(f64::NAN.to_le_bytes());
        assert_eq!(page, expected);
    }
}
