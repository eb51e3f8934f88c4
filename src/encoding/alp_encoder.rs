//! ALP, written (AlpEncoding.md): vectors of 1024 values, each with the exponent and factor that make it smallest.
//!
//! Which pairs of exponent and factor are worth trying is found from samples of the first vectors of a column chunk,
//! and kept from page to page.

use crate::raw::alp::AlpFloat;

/// Encodes `FLOAT` and `DOUBLE`.
#[derive(Debug, Clone, Default)]
pub struct AlpEncoder<T> {
    /// Vectors end to end, and where each begins.
    vectors: Vec<u8>,
    starts: Vec<u32>,
    /// The vector that is not whole.
    open: Vec<T>,
    num_values: usize,
}

impl<T: AlpFloat> AlpEncoder<T> {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends values.
    pub fn put(&mut self, values: &[T]) {
        let mut rest = values;
        while !rest.is_empty() {
            let (some, after) = rest.split_at(rest.len().min(VECTOR - self.open.len()));
            self.open.extend_from_slice(some);
            rest = after;
            if self.open.len() == VECTOR {
                self.write_vector();
            }
        }
        self.num_values += values.len();
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Bytes that a flush would append at most.
    pub fn estimated_size(&self) -> usize {
        HEADER + 4 * self.starts.len() + self.vectors.len() + self.open.len() * (size_of::<T>() + 2) + 20
    }

    /// Appends the page to `out` and begins another.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        if !self.open.is_empty() {
            self.write_vector();
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

    /// Nothing but exceptions, so far.
    #[allow(clippy::cast_possible_truncation)] // a page is shorter than 2 GiB, a vector of 1024 values
    fn write_vector(&mut self) {
        self.starts.push(self.vectors.len() as u32);
        let n = self.open.len() as u16;
        let out = &mut self.vectors;
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(&n.to_le_bytes());
        out.resize(out.len() + size_of::<T>() + 1, 0);
        (0..n).for_each(|position| out.extend_from_slice(&position.to_le_bytes()));
        out.extend_from_slice(crate::raw::fixed::as_bytes(&self.open));
        self.open.clear();
    }
}

/// Values of a vector, and their logarithm.
const VECTOR: usize = 1 << LOG_VECTOR;
const LOG_VECTOR: u8 = 10;
/// Bytes of the page's header.
const HEADER: usize = 7;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::AlpDecoder;
    use crate::encoding::testing::{COUNTS, random};
    use crate::sink::PrimitiveSink;

    #[test]
    fn values_are_read_back_bit_for_bit() {
        for n in COUNTS {
            let mut next = random(1);
            let values: Vec<f64> = (0..n).map(|_| f64::from_bits(next())).collect();
            let (mut encoder, mut page) = (AlpEncoder::new(), vec![]);
            values.chunks(300).for_each(|some| encoder.put(some));
            let size = encoder.estimated_size();
            encoder.flush(&mut page);
            assert!(page.len() <= size);
            let mut sink = PrimitiveSink::<f64>::new();
            AlpDecoder::new(page.as_slice(), n).unwrap().read(n, &mut sink).unwrap();
            assert!(sink.as_slice().iter().zip(&values).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
    }
}
