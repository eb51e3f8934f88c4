//! Columns of INT32, INT64, FLOAT and DOUBLE.

use std::ops::Range;

use super::bloom::BloomBuilder;
use super::bounds::Bounds;
use super::gather::{Gather, Pick, narrow, narrow_256, same, widen};
use super::keys::Keys;
use super::options::StatisticsLevel;
use super::resolve::LeafOptions;
use super::schema::stored;
use super::values::{DictionaryState, Finished, Ids, ValueWriter, new_bloom};
use crate::arrow::array::ArrayRef;
use crate::arrow::schema::DataType;
use crate::encoding::{
    AlpEncoder, AlpFloat, ByteStreamSplitEncoder, DeltaBinaryPackedEncoder, DeltaInt, DictionaryEncoder,
    DictionaryValue, PlainEncoder,
};
use crate::error::Result;
use crate::metadata::{Encoding, SchemaNode};
use crate::raw::fixed::as_bytes;

/// A column of INT32, whose values are `data_type` in Arrow.
pub(super) fn int32(node: &SchemaNode, data_type: &DataType, options: &LeafOptions) -> Box<dyn ValueWriter> {
    let gather: Gather<i32> = match stored(data_type) {
        DataType::Int8 => widen::<i8, i32>,
        DataType::Int16 => widen::<i16, i32>,
        DataType::UInt8 => widen::<u8, i32>,
        DataType::UInt16 => widen::<u16, i32>,
        DataType::Decimal64(..) => narrow::<i64, i32>,
        DataType::Decimal128(..) => narrow::<i128, i32>,
        DataType::Decimal256(..) => narrow_256,
        _ => same::<i32>,
    };
    let encoder = IntEncoder::<i32>::new(options.encoding);
    Box::new(FixedColumn::new(node, options, gather, Bounds::update_i32, encoder))
}

/// A column of INT64, whose values are `data_type` in Arrow.
pub(super) fn int64(node: &SchemaNode, data_type: &DataType, options: &LeafOptions) -> Box<dyn ValueWriter> {
    let gather: Gather<i64> = match stored(data_type) {
        DataType::Decimal32(..) => widen::<i32, i64>,
        DataType::Decimal128(..) => narrow::<i128, i64>,
        DataType::Decimal256(..) => narrow_256,
        _ => same::<i64>,
    };
    let encoder = IntEncoder::<i64>::new(options.encoding);
    Box::new(FixedColumn::new(node, options, gather, Bounds::update_i64, encoder))
}

/// A column of FLOAT.
pub(super) fn float(node: &SchemaNode, options: &LeafOptions) -> Box<dyn ValueWriter> {
    let encoder = FloatEncoder::<f32>::new(options.encoding);
    Box::new(FixedColumn::new(node, options, same::<f32>, Bounds::update_f32, encoder))
}

/// A column of DOUBLE.
pub(super) fn double(node: &SchemaNode, options: &LeafOptions) -> Box<dyn ValueWriter> {
    let encoder = FloatEncoder::<f64>::new(options.encoding);
    Box::new(FixedColumn::new(node, options, same::<f64>, Bounds::update_f64, encoder))
}

/// A column of values of type `T`.
struct FixedColumn<T, E> {
    gather: Gather<T>,
    update: fn(&mut Bounds, &[T]),
    encoder: E,
    dictionary: DictionaryEncoder<T>,
    /// Of the page, while values go to the dictionary.
    ids: Option<Ids>,
    /// Whether the chunk has pages of ids.
    has_dictionary_pages: bool,
    wants_dictionary: bool,
    bounds: Bounds,
    has_bounds: bool,
    bloom: Option<BloomBuilder>,
    keys: Vec<u32>,
    scratch: Vec<T>,
}

impl<T: DictionaryValue, E: PageEncoder<T>> FixedColumn<T, E> {
    fn new(
        node: &SchemaNode,
        options: &LeafOptions,
        gather: Gather<T>,
        update: fn(&mut Bounds, &[T]),
        encoder: E,
    ) -> Self {
        let wants_dictionary = options.dictionary_bytes > 0;
        FixedColumn {
            gather,
            update,
            encoder,
            dictionary: DictionaryEncoder::new(),
            ids: wants_dictionary.then(Ids::default),
            has_dictionary_pages: false,
            wants_dictionary,
            bounds: Bounds::new(node),
            has_bounds: options.statistics != StatisticsLevel::None,
            bloom: new_bloom(options),
            keys: Vec::new(),
            scratch: Vec::new(),
        }
    }
}

impl<T: DictionaryValue, E: PageEncoder<T>> ValueWriter for FixedColumn<T, E> {
    fn plain_size(&mut self, _array: &ArrayRef, runs: &[Range<usize>]) -> usize {
        size_of::<T>() * runs.iter().map(Range::len).sum::<usize>()
    }

    fn put(&mut self, array: &ArrayRef, runs: &[Range<usize>]) -> Result<()> {
        // Numbers are looked up in a dictionary as fast as keys would be: only byte strings profit from Arrow's.
        let (data, pick) = match Keys::of(array) {
            Some((keys, values)) => {
                self.keys.clear();
                runs.iter().for_each(|run| keys.extend(run.clone(), &mut self.keys));
                (values.to_data(), Pick::Keys(&self.keys))
            }
            None => (array.to_data(), Pick::Runs(runs)),
        };
        let values = (self.gather)(&data, pick, &mut self.scratch)?;
        if self.has_bounds {
            (self.update)(&mut self.bounds, values);
        }
        match &mut self.ids {
            Some(ids) => {
                self.dictionary.insert_all(values, &mut ids.ids);
                ids.plain_len += size_of_val(values);
            }
            None => {
                insert_each(&mut self.bloom, values);
                self.encoder.put(values);
            }
        }
        Ok(())
    }

    fn page_size(&self) -> usize {
        match &self.ids {
            Some(ids) => ids.encoded_size(self.dictionary.num_values()),
            None => self.encoder.estimated_size(),
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Encoding {
        match &mut self.ids {
            Some(ids) => {
                self.has_dictionary_pages = true;
                ids.flush(self.dictionary.num_values(), out)
            }
            None => self.encoder.flush(out),
        }
    }

    fn bounds(&mut self) -> &mut Bounds {
        &mut self.bounds
    }

    fn dictionary(&self) -> Option<DictionaryState> {
        self.ids.as_ref().map(|ids| DictionaryState {
            byte_len: self.dictionary.encoded_size(),
            ids_len: ids.encoded_size(self.dictionary.num_values()),
            plain_len: ids.plain_len,
        })
    }

    fn end_dictionary(&mut self) {
        self.ids = None;
    }

    fn undo_dictionary(&mut self) {
        let Some(ids) = self.ids.take() else { return };
        let distinct = self.dictionary.values();
        self.scratch.clear();
        self.scratch.extend(ids.ids.iter().filter_map(|&id| distinct.get(id as usize)));
        insert_each(&mut self.bloom, distinct);
        self.encoder.put(&self.scratch);
        self.dictionary.clear();
    }

    fn finish(&mut self, dictionary: &mut Vec<u8>) -> Finished {
        let num_dictionary_values = self.has_dictionary_pages.then(|| {
            self.dictionary.write_plain(dictionary);
            self.dictionary.num_values()
        });
        insert_each(&mut self.bloom, self.dictionary.values());
        self.dictionary.clear();
        self.has_dictionary_pages = false;
        self.ids = self.wants_dictionary.then(|| self.ids.take().unwrap_or_default());
        Finished { num_dictionary_values, bloom_filter: self.bloom.as_mut().map(BloomBuilder::finish) }
    }

    fn memory_size(&self) -> usize {
        self.dictionary.encoded_size() + self.bloom.as_ref().map_or(0, BloomBuilder::memory_size)
    }
}

fn insert_each<T: DictionaryValue>(bloom: &mut Option<BloomBuilder>, values: &[T]) {
    if let Some(bloom) = bloom {
        values.chunks(1).for_each(|value| bloom.insert(as_bytes(value)));
    }
}

/// Encodes pages of values of type `T` that no dictionary holds.
trait PageEncoder<T>: Send {
    fn put(&mut self, values: &[T]);
    fn estimated_size(&self) -> usize;
    fn flush(&mut self, out: &mut Vec<u8>) -> Encoding;
}

/// An enumeration of encoders, each under its encoding.
macro_rules! page_encoder {
    ($name:ident<$bound:ident> { $($variant:ident($encoder:ty) = $new:expr;)* }) => {
        enum $name<T: $bound> {
            $($variant($encoder),)*
            Plain(PlainEncoder, std::marker::PhantomData<T>),
        }

        impl<T: $bound> $name<T> {
            /// PLAIN for an encoding that is none of these: options have been checked.
            fn new(encoding: Encoding) -> Self {
                match encoding {
                    $(Encoding::$variant => $name::$variant($new),)*
                    _ => $name::Plain(PlainEncoder::new(), std::marker::PhantomData),
                }
            }
        }

        impl<T: $bound + DictionaryValue> PageEncoder<T> for $name<T> {
            fn put(&mut self, values: &[T]) {
                match self {
                    $($name::$variant(encoder) => encoder.put(values),)*
                    $name::Plain(encoder, _) => encoder.put(values),
                }
            }

            fn estimated_size(&self) -> usize {
                match self {
                    $($name::$variant(encoder) => encoder.estimated_size(),)*
                    $name::Plain(encoder, _) => encoder.estimated_size(),
                }
            }

            fn flush(&mut self, out: &mut Vec<u8>) -> Encoding {
                match self {
                    $($name::$variant(encoder) => {
                        encoder.flush(out);
                        Encoding::$variant
                    })*
                    $name::Plain(encoder, _) => {
                        encoder.flush(out);
                        Encoding::Plain
                    }
                }
            }
        }
    };
}

page_encoder! {
    IntEncoder<DeltaInt> {
        DeltaBinaryPacked(DeltaBinaryPackedEncoder<T>) = DeltaBinaryPackedEncoder::new();
        ByteStreamSplit(ByteStreamSplitEncoder) = ByteStreamSplitEncoder::new(size_of::<T>());
    }
}

page_encoder! {
    FloatEncoder<AlpFloat> {
        Alp(AlpEncoder<T>) = AlpEncoder::new();
        ByteStreamSplit(ByteStreamSplitEncoder) = ByteStreamSplitEncoder::new(size_of::<T>());
    }
}
