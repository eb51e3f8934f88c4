//! Values of a fixed width that Arrow has a native type for.

use crate::arrow::array::PrimitiveArray;
use crate::arrow::array::builder::PrimitiveBuilder;
use crate::arrow::array::types::ArrowPrimitiveType;
use crate::arrow::buffer::{ArrowNativeType, Buffer, MutableBuffer, NullBuffer, ScalarBuffer};
use crate::bitmap::{Bitmap, Bits};
use crate::error::Result;
use crate::raw::byte_store::validity_buffer;
use crate::raw::fixed::FixedWidth;
use crate::raw::spread::spread;
use crate::sink::Sink;

/// Values end to end: integers, floats, decimals, or [`Int96`](crate::sink::Int96).
#[derive(Debug, Clone, Default)]
pub struct PrimitiveSink<T> {
    values: Vec<T>,
}

impl<T: FixedWidth> PrimitiveSink<T> {
    /// No values.
    pub fn new() -> Self {
        PrimitiveSink { values: Vec::new() }
    }

    /// No values, with room for `n`.
    pub fn with_capacity(n: usize) -> Self {
        PrimitiveSink { values: Vec::with_capacity(n) }
    }

    /// The values.
    pub fn as_slice(&self) -> &[T] {
        &self.values
    }

    /// The values, to append to or change in any way.
    pub fn as_mut_vec(&mut self) -> &mut Vec<T> {
        &mut self.values
    }

    /// The values.
    pub fn into_vec(self) -> Vec<T> {
        self.values
    }
}

impl<T: ArrowNativeType> PrimitiveSink<T> {
    /// The same memory as an Arrow buffer.
    pub fn into_buffer(self) -> Buffer {
        Buffer::from_vec(self.values)
    }

    /// The same memory as an Arrow array.
    ///
    /// # Errors
    /// When `nulls` has not one bit a value.
    pub fn finish<A: ArrowPrimitiveType<Native = T>>(
        self,
        nulls: Option<NullBuffer>,
    ) -> Result<PrimitiveArray<A>> {
        Ok(PrimitiveArray::try_new(ScalarBuffer::from(self.values), nulls)?)
    }

    /// arrow-array's builder over the same memory. Without `validity` no value is null.
    ///
    /// # Errors
    /// When `validity` has not one bit a value.
    pub fn into_builder<A: ArrowPrimitiveType<Native = T>>(
        self,
        validity: Option<Bitmap>,
    ) -> Result<PrimitiveBuilder<A>> {
        let validity = validity_buffer(self.values.len(), validity)?;
        Ok(PrimitiveBuilder::new_from_buffer(MutableBuffer::from(self.values), validity))
    }
}

impl<T> From<Vec<T>> for PrimitiveSink<T> {
    fn from(values: Vec<T>) -> Self {
        PrimitiveSink { values }
    }
}

impl<T: FixedWidth> Sink for PrimitiveSink<T> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn reserve(&mut self, n: usize) {
        self.values.reserve(n);
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        spread(&mut self.values, start, validity)
    }

    fn push_nulls(&mut self, n: usize) {
        self.values.resize(self.values.len() + n, T::default());
    }

    fn split_off(&mut self, at: usize) -> Self {
        PrimitiveSink { values: self.values.split_off(at.min(self.values.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::types::{Float64Type, Int32Type};
    use crate::arrow::array::{Array, Int32Array};

    #[test]
    fn becomes_an_array_or_a_builder_over_the_same_memory() {
        let mut sink = PrimitiveSink::<i32>::with_capacity(8);
        sink.as_mut_vec().extend([1, 2, 3]);
        let validity: Bitmap = [true, false, true, true].into_iter().collect();
        sink.spread(0, validity.bits(0..4)).unwrap();
        sink.push_nulls(1);
        let tail = sink.split_off(3);
        assert_eq!(tail.as_slice(), [3, 0]);
        let memory = sink.as_slice().as_ptr();
        let nulls = NullBuffer::from(vec![true, false, true]);
        let array = sink.clone().finish::<Int32Type>(Some(nulls)).unwrap();
        assert_eq!(array, Int32Array::from(vec![Some(1), None, Some(2)]));
        let mut builder = sink.into_builder::<Int32Type>(Some(validity.bits(0..3).to_bitmap())).unwrap();
        builder.append_null();
        assert_eq!(builder.values_slice().as_ptr(), memory);
        assert_eq!(builder.finish(), Int32Array::from(vec![Some(1), None, Some(2), None]));
    }

    #[test]
    fn refuses_nulls_of_another_length() {
        let sink = PrimitiveSink::from(vec![1.0f64]);
        assert!(sink.clone().finish::<Float64Type>(Some(NullBuffer::new_null(2))).is_err());
        assert!(sink.clone().into_builder::<Float64Type>(Some(Bitmap::new())).is_err());
        assert_eq!(sink.clone().into_builder::<Float64Type>(None).unwrap().finish().null_count(), 0);
        assert_eq!(sink.into_buffer().len(), 8);
    }
}
