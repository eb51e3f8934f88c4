//! Booleans, one bit each.

use crate::arrow::array::BooleanArray;
use crate::arrow::buffer::{BooleanBuffer, NullBuffer};
use crate::bitmap::{Bitmap, Bits};
use crate::error::Result;
use crate::raw::byte_store::check_nulls;
use crate::raw::spread::{check_count, spread_bits};
use crate::sink::Sink;

/// Booleans, one bit each.
#[derive(Debug, Clone, Default)]
pub struct BooleanSink {
    bits: Bitmap,
}

impl BooleanSink {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// The values.
    pub fn bitmap(&self) -> &Bitmap {
        &self.bits
    }

    /// The values, to append to or change in any way.
    pub fn bitmap_mut(&mut self) -> &mut Bitmap {
        &mut self.bits
    }

    /// The same memory as an Arrow buffer.
    pub fn into_boolean_buffer(self) -> BooleanBuffer {
        self.bits.into_boolean_buffer()
    }

    /// The same memory as an Arrow array.
    ///
    /// # Errors
    /// When `nulls` has not one bit a value.
    pub fn finish(self, nulls: Option<NullBuffer>) -> Result<BooleanArray> {
        check_nulls(self.bits.len(), nulls.as_ref())?;
        Ok(BooleanArray::new(self.into_boolean_buffer(), nulls))
    }
}

impl From<Bitmap> for BooleanSink {
    fn from(bits: Bitmap) -> Self {
        BooleanSink { bits }
    }
}

impl Sink for BooleanSink {
    fn len(&self) -> usize {
        self.bits.len()
    }

    fn reserve(&mut self, n: usize) {
        self.bits.reserve(n);
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        check_count(self.bits.len(), start, validity)?;
        if self.bits.len() - start == validity.len() {
            return Ok(());
        }
        let dense = self.bits.split_off(start);
        spread_bits(&mut self.bits, dense.bits(0..dense.len()), validity);
        Ok(())
    }

    fn push_nulls(&mut self, n: usize) {
        self.bits.push_n(false, n);
    }

    fn split_off(&mut self, at: usize) -> Self {
        BooleanSink { bits: self.bits.split_off(at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spreads_and_finishes() {
        let valid: Vec<bool> = (0..300).map(|i| i % 3 != 1 || i / 64 == 2).collect();
        let validity: Bitmap = valid.iter().copied().collect();
        for start in [0, 1, 64, 77] {
            let mut sink = BooleanSink::new();
            let mut expected = vec![];
            (0..start).for_each(|i| expected.push(i % 5 == 0));
            expected.iter().for_each(|&bit| sink.bitmap_mut().push(bit));
            for (i, &valid) in valid.iter().enumerate() {
                expected.push(valid && i % 2 == 0);
                if valid {
                    sink.bitmap_mut().push(i % 2 == 0);
                }
            }
            sink.spread(start, validity.bits(0..300)).unwrap();
            assert!(sink.spread(start, validity.bits(0..300)).is_err());
            sink.push_nulls(2);
            let tail = sink.split_off(start + 300);
            assert_eq!(tail.len(), 2);
            let array = sink.finish(None).unwrap();
            assert_eq!(array.values().iter().collect::<Vec<_>>(), expected);
        }
        assert!(BooleanSink::new().finish(Some(NullBuffer::new_null(1))).is_err());
    }
}
