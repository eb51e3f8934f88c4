//! Columns without a dictionary: booleans, and those of nothing but nulls.

use std::ops::Range;

use super::bounds::Bounds;
use super::gather::past_end;
use super::keys::Keys;
use super::resolve::LeafOptions;
use super::values::{Finished, ValueWriter, new_bloom};
use crate::arrow::array::cast::AsArray;
use crate::arrow::array::{Array, ArrayRef};
use crate::bitmap::{Bitmap, Bits};
use crate::encoding::{PlainBooleanEncoder, RleBooleanEncoder};
use crate::error::Result;
use crate::metadata::{Encoding, SchemaNode};
use crate::write::bloom::BloomBuilder;
use crate::write::options::StatisticsLevel;

/// BOOLEAN.
pub(super) struct BooleanColumn {
    encoder: Encoder,
    bounds: Bounds,
    has_bounds: bool,
    bloom: Option<BloomBuilder>,
}

enum Encoder {
    Plain(PlainBooleanEncoder),
    Rle(RleBooleanEncoder),
}

impl BooleanColumn {
    pub(super) fn new(node: &SchemaNode, options: &LeafOptions) -> Self {
        let encoder = match options.encoding {
            Encoding::Rle => Encoder::Rle(RleBooleanEncoder::new()),
            _ => Encoder::Plain(PlainBooleanEncoder::new()),
        };
        BooleanColumn {
            encoder,
            bounds: Bounds::new(node),
            has_bounds: options.statistics != StatisticsLevel::None,
            bloom: new_bloom(options),
        }
    }

    fn put_bits(&mut self, bits: Bits<'_>) {
        let ones = bits.count_ones();
        let both = [(false, ones < bits.len()), (true, ones > 0)];
        for (value, _) in both.into_iter().filter(|(_, occurs)| *occurs) {
            if let (true, Bounds::Boolean(range)) = (self.has_bounds, &mut self.bounds) {
                range.update(&[value]);
            }
            self.bloom.iter_mut().for_each(|bloom| bloom.insert(&[value.into()]));
        }
        match &mut self.encoder {
            Encoder::Plain(encoder) => encoder.put(bits),
            Encoder::Rle(encoder) => encoder.put(bits),
        }
    }
}

impl ValueWriter for BooleanColumn {
    fn plain_size(&mut self, _array: &ArrayRef, runs: &[Range<usize>]) -> usize {
        runs.iter().map(Range::len).sum::<usize>().div_ceil(8)
    }

    fn put(&mut self, array: &ArrayRef, runs: &[Range<usize>]) -> Result<()> {
        if let Some((keys, values)) = Keys::of(array) {
            let (values, mut picked, mut bits) = (values.as_boolean(), Vec::new(), Bitmap::new());
            runs.iter().for_each(|run| keys.extend(run.clone(), &mut picked));
            for key in picked {
                let key = key as usize;
                bits.push(key < values.len() && values.value(key));
            }
            self.put_bits(bits.bits(0..bits.len()));
            return Ok(());
        }
        let Some(array) = array.as_boolean_opt() else { return Err(past_end(&array.to_data())) };
        let buffer = array.values();
        for run in runs {
            self.put_bits(Bits::new(buffer.values(), buffer.offset() + run.start, run.len())?);
        }
        Ok(())
    }

    fn page_size(&self) -> usize {
        match &self.encoder {
            Encoder::Plain(encoder) => encoder.estimated_size(),
            Encoder::Rle(encoder) => encoder.estimated_size(),
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Encoding {
        match &mut self.encoder {
            Encoder::Plain(encoder) => {
                encoder.flush(out);
                Encoding::Plain
            }
            Encoder::Rle(encoder) => {
                encoder.flush_with_length(out);
                Encoding::Rle
            }
        }
    }

    fn bounds(&mut self) -> &mut Bounds {
        &mut self.bounds
    }

    fn finish(&mut self, _dictionary: &mut Vec<u8>) -> Finished {
        let bloom_filter = self.bloom.as_mut().map(BloomBuilder::finish);
        Finished { num_dictionary_values: None, bloom_filter }
    }

    fn memory_size(&self) -> usize {
        self.bloom.as_ref().map_or(0, BloomBuilder::memory_size)
    }
}

/// Nothing but nulls.
pub(super) struct NullColumn {
    bounds: Bounds,
}

impl NullColumn {
    pub(super) fn new() -> Self {
        NullColumn { bounds: Bounds::None }
    }
}

impl ValueWriter for NullColumn {
    fn plain_size(&mut self, _array: &ArrayRef, _runs: &[Range<usize>]) -> usize {
        0
    }

    fn put(&mut self, _array: &ArrayRef, _runs: &[Range<usize>]) -> Result<()> {
        Ok(())
    }

    fn page_size(&self) -> usize {
        0
    }

    fn flush(&mut self, _out: &mut Vec<u8>) -> Encoding {
        Encoding::Plain
    }

    fn bounds(&mut self) -> &mut Bounds {
        &mut self.bounds
    }
}
