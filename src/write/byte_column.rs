//! Columns of BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY.

use std::ops::Range;
use std::sync::Arc;

use super::bloom::BloomBuilder;
use super::bounds::Bounds;
use super::byte_source::{ByteSource, Scratch, WithBytes};
use super::fixed_bytes::{self, conversion};
use super::gather::Pick;
use super::keys::Keys;
use super::options::StatisticsLevel;
use super::resolve::LeafOptions;
use super::values::{DictionaryState, Finished, Ids, ValueWriter, new_bloom};
use crate::arrow::array::{Array, ArrayRef};
use crate::arrow::schema::DataType;
use crate::encoding::byte_strings::{ByteStrings, FixedBytes};
use crate::encoding::{
    ByteDictionaryEncoder, ByteStreamSplitEncoder, DeltaByteArrayEncoder, DeltaLengthByteArrayEncoder,
    KeyMap, PlainBytesEncoder, PlainFixedBytesEncoder,
};
use crate::error::Result;
use crate::metadata::{Encoding, PhysicalType, SchemaNode};

/// A column of byte strings.
pub(super) struct ByteColumn {
    /// Bytes of each value and of its length in PLAIN.
    width: Option<usize>,
    prefix: usize,
    /// For values that are not bytes in Arrow.
    convert: Option<fixed_bytes::Bytes>,
    /// The keys of the step, where the array is a dictionary.
    keys: Vec<u32>,
    page: Page,
    converted: Vec<u8>,
    scratch: Scratch,
    wants_dictionary: bool,
    has_dictionary_pages: bool,
}

/// Where values go.
struct Page {
    encoder: Encoder,
    dictionary: ByteDictionaryEncoder,
    /// Of the page, while values go to the dictionary.
    ids: Option<Ids>,
    /// The ids of an Arrow dictionary's values, and these.
    map: KeyMap,
    mapped: Option<ArrayRef>,
    /// Which values of an Arrow dictionary a step names, and each once.
    is_named: Vec<bool>,
    named: Vec<u32>,
    bounds: Bounds,
    has_bounds: bool,
    bloom: Option<BloomBuilder>,
    byte_len: usize,
}

impl ByteColumn {
    pub(super) fn new(node: &SchemaNode, data_type: &DataType, options: &LeafOptions) -> Self {
        let width =
            (node.physical_type() == Some(PhysicalType::FixedLenByteArray)).then(|| node.byte_width());
        let wants_dictionary = options.dictionary_bytes > 0;
        ByteColumn {
            width,
            prefix: if width.is_some() { 0 } else { 4 },
            convert: conversion(data_type),
            keys: Vec::new(),
            page: Page {
                encoder: Encoder::new(options.encoding, width),
                dictionary: match width {
                    Some(_) => ByteDictionaryEncoder::fixed(),
                    None => ByteDictionaryEncoder::new(),
                },
                ids: wants_dictionary.then(Ids::default),
                map: KeyMap::new(),
                mapped: None,
                is_named: Vec::new(),
                named: Vec::new(),
                bounds: Bounds::new(node),
                has_bounds: options.statistics != StatisticsLevel::None,
                bloom: new_bloom(options),
                byte_len: 0,
            },
            converted: Vec::new(),
            scratch: Scratch::default(),
            wants_dictionary,
            has_dictionary_pages: false,
        }
    }

    fn put_converted(
        &mut self,
        array: &ArrayRef,
        pick: Option<&[Range<usize>]>,
        convert: fixed_bytes::Bytes,
    ) -> Result<()> {
        let width = self.width.unwrap_or(0);
        let pick = pick.map_or(Pick::Keys(&self.keys), Pick::Runs);
        self.converted.clear();
        convert(&array.to_data(), pick, width, &mut self.converted)?;
        let values = FixedBytes::new(&self.converted, width, pick.len())?;
        self.page.put(values);
        Ok(())
    }
}

impl ValueWriter for ByteColumn {
    fn plain_size(&mut self, array: &ArrayRef, runs: &[Range<usize>]) -> usize {
        let num_values: usize = runs.iter().map(Range::len).sum();
        if let Some(width) = self.width {
            return num_values * width;
        }
        let byte_len = match Keys::of(array) {
            None => ByteSource::of(array).map_or(0, |source| source.byte_len(runs)),
            Some((keys, values)) => {
                self.keys.clear();
                runs.iter().for_each(|run| keys.extend(run.clone(), &mut self.keys));
                let source = ByteSource::of(values);
                let len = |key: &u32| source.as_ref().map_or(0, |source| source.value_len(*key as usize));
                self.keys.iter().map(len).sum()
            }
        };
        byte_len + num_values * self.prefix
    }

    fn put(&mut self, array: &ArrayRef, runs: &[Range<usize>]) -> Result<()> {
        let Some((keys, values)) = Keys::of(array) else {
            return match self.convert {
                Some(convert) => self.put_converted(array, Some(runs), convert),
                None => ByteSource::of(array)?.with_runs(runs, &mut self.scratch, Put(&mut self.page)),
            };
        };
        self.keys.clear();
        runs.iter().for_each(|run| keys.extend(run.clone(), &mut self.keys));
        match self.convert {
            Some(convert) => self.put_converted(values, None, convert),
            None => self.page.put_keys(values, &self.keys),
        }
    }

    fn page_size(&self) -> usize {
        match &self.page.ids {
            Some(ids) => ids.encoded_size(self.page.dictionary.num_values()),
            None => self.page.encoder.estimated_size(),
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Encoding {
        match &mut self.page.ids {
            Some(ids) => {
                self.has_dictionary_pages = true;
                ids.flush(self.page.dictionary.num_values(), out)
            }
            None => self.page.encoder.flush(out),
        }
    }

    fn bounds(&mut self) -> &mut Bounds {
        &mut self.page.bounds
    }

    fn take_byte_len(&mut self) -> Option<u64> {
        let byte_len = std::mem::take(&mut self.page.byte_len) as u64;
        self.width.is_none().then_some(byte_len)
    }

    fn dictionary(&self) -> Option<DictionaryState> {
        let dictionary = &self.page.dictionary;
        self.page.ids.as_ref().map(|ids| DictionaryState {
            byte_len: dictionary.encoded_size(),
            ids_len: ids.encoded_size(dictionary.num_values()),
            plain_len: self.page.byte_len + self.prefix * ids.ids.len(),
        })
    }

    fn end_dictionary(&mut self) {
        self.page.ids = None;
    }

    fn undo_dictionary(&mut self) {
        let page = &mut self.page;
        let Some(ids) = page.ids.take() else { return };
        let values: Vec<&[u8]> = ids.ids.iter().map(|&id| page.dictionary.value(id)).collect();
        page.encoder.put(&values[..]);
        page.insert_dictionary_in_bloom();
        page.dictionary.clear();
        page.mapped = None;
    }

    fn finish(&mut self, dictionary: &mut Vec<u8>) -> Finished {
        let page = &mut self.page;
        let num_dictionary_values = self.has_dictionary_pages.then(|| {
            page.dictionary.write_plain(dictionary);
            page.dictionary.num_values()
        });
        page.insert_dictionary_in_bloom();
        page.dictionary.clear();
        page.mapped = None;
        page.ids = self.wants_dictionary.then(|| page.ids.take().unwrap_or_default());
        self.has_dictionary_pages = false;
        Finished { num_dictionary_values, bloom_filter: page.bloom.as_mut().map(BloomBuilder::finish) }
    }

    fn memory_size(&self) -> usize {
        let bloom = self.page.bloom.as_ref().map_or(0, BloomBuilder::memory_size);
        self.page.dictionary.encoded_size() + bloom
    }
}

/// Puts byte strings into the page.
struct Put<'a>(&'a mut Page);

impl WithBytes for Put<'_> {
    type Output = ();
    fn run(self, values: impl ByteStrings) {
        self.0.put(values);
    }
}

/// Widens the page's bounds.
struct Widen<'a>(&'a mut Bounds);

impl WithBytes for Widen<'_> {
    type Output = ();
    fn run(self, values: impl ByteStrings) {
        self.0.update_bytes(values);
    }
}

/// Appends ids of an Arrow dictionary's keys.
struct InsertKeys<'a> {
    dictionary: &'a mut ByteDictionaryEncoder,
    keys: &'a [u32],
    map: &'a mut KeyMap,
    ids: &'a mut Vec<u32>,
}

impl WithBytes for InsertKeys<'_> {
    type Output = Result<()>;
    fn run(self, values: impl ByteStrings) -> Result<()> {
        self.dictionary.insert_keys(values, self.keys, self.map, self.ids)
    }
}

/// Encodes values that go to no dictionary.
struct Encode<'a>(&'a mut Encoder, &'a mut Option<BloomBuilder>);

impl WithBytes for Encode<'_> {
    type Output = ();
    fn run(self, values: impl ByteStrings) {
        insert_each(self.1, values);
        self.0.put(values);
    }
}

impl Page {
    fn put(&mut self, values: impl ByteStrings) {
        if self.has_bounds {
            self.bounds.update_bytes(values);
        }
        self.byte_len += values.byte_len();
        match &mut self.ids {
            Some(ids) => self.dictionary.insert_all(values, &mut ids.ids),
            None => Encode(&mut self.encoder, &mut self.bloom).run(values),
        }
    }

    /// The values that `keys` name in an Arrow dictionary. What can be is done once a value, not once a key.
    fn put_keys(&mut self, values: &ArrayRef, keys: &[u32]) -> Result<()> {
        let source = ByteSource::of(values)?;
        self.byte_len += keys.iter().map(|&key| source.value_len(key as usize)).sum::<usize>();
        if self.has_bounds {
            self.find_named(values.len(), keys);
            source.with_slots(&self.named, Widen(&mut self.bounds))?;
        }
        let Some(ids) = &mut self.ids else {
            return source.with_slots(keys, Encode(&mut self.encoder, &mut self.bloom));
        };
        if !self.mapped.as_ref().is_some_and(|mapped| Arc::ptr_eq(mapped, values)) {
            self.map.clear();
            self.mapped = Some(values.clone());
        }
        let (dictionary, map, ids) = (&mut self.dictionary, &mut self.map, &mut ids.ids);
        source.with_all(InsertKeys { dictionary, keys, map, ids })
    }

    /// Sets `named` to the keys, each once.
    fn find_named(&mut self, num_values: usize, keys: &[u32]) {
        self.is_named.resize(num_values.max(self.is_named.len()), false);
        self.named.clear();
        for &key in keys {
            if let Some(is_named @ false) = self.is_named.get_mut(key as usize) {
                *is_named = true;
                self.named.push(key);
            }
        }
        for &key in &self.named {
            self.is_named.get_mut(key as usize).into_iter().for_each(|is_named| *is_named = false);
        }
    }

    fn insert_dictionary_in_bloom(&mut self) {
        if let Some(bloom) = &mut self.bloom {
            let ids = (0..).take(self.dictionary.num_values());
            ids.for_each(|id| bloom.insert(self.dictionary.value(id)));
        }
    }
}

fn insert_each(bloom: &mut Option<BloomBuilder>, values: impl ByteStrings) {
    if let Some(bloom) = bloom {
        (0..values.len()).for_each(|index| bloom.insert(values.value(index)));
    }
}

/// Encodes pages of values that no dictionary holds.
enum Encoder {
    Plain(PlainBytesEncoder),
    PlainFixed(PlainFixedBytesEncoder),
    DeltaLength(DeltaLengthByteArrayEncoder),
    Delta(Box<DeltaByteArrayEncoder>),
    Split(ByteStreamSplitEncoder),
}

impl Encoder {
    /// PLAIN for an encoding that is for other types: options have been checked.
    fn new(encoding: Encoding, width: Option<usize>) -> Self {
        match (encoding, width) {
            (Encoding::DeltaByteArray, _) => Encoder::Delta(Box::default()),
            (Encoding::DeltaLengthByteArray, None) => {
                Encoder::DeltaLength(DeltaLengthByteArrayEncoder::new())
            }
            (Encoding::ByteStreamSplit, Some(width)) => Encoder::Split(ByteStreamSplitEncoder::new(width)),
            (_, Some(_)) => Encoder::PlainFixed(PlainFixedBytesEncoder::new()),
            (_, None) => Encoder::Plain(PlainBytesEncoder::new()),
        }
    }

    fn put(&mut self, values: impl ByteStrings) {
        match self {
            Encoder::Plain(encoder) => encoder.put(values),
            Encoder::PlainFixed(encoder) => encoder.put(values),
            Encoder::DeltaLength(encoder) => encoder.put(values),
            Encoder::Delta(encoder) => encoder.put(values),
            Encoder::Split(encoder) => encoder.put_bytes(values),
        }
    }

    fn estimated_size(&self) -> usize {
        match self {
            Encoder::Plain(encoder) => encoder.estimated_size(),
            Encoder::PlainFixed(encoder) => encoder.estimated_size(),
            Encoder::DeltaLength(encoder) => encoder.estimated_size(),
            Encoder::Delta(encoder) => encoder.estimated_size(),
            Encoder::Split(encoder) => encoder.estimated_size(),
        }
    }

    fn flush(&mut self, out: &mut Vec<u8>) -> Encoding {
        match self {
            Encoder::Plain(encoder) => encoder.flush(out),
            Encoder::PlainFixed(encoder) => encoder.flush(out),
            Encoder::DeltaLength(encoder) => encoder.flush(out),
            Encoder::Delta(encoder) => encoder.flush(out),
            Encoder::Split(encoder) => encoder.flush(out),
        }
        match self {
            Encoder::Plain(_) | Encoder::PlainFixed(_) => Encoding::Plain,
            Encoder::DeltaLength(_) => Encoding::DeltaLengthByteArray,
            Encoder::Delta(_) => Encoding::DeltaByteArray,
            Encoder::Split(_) => Encoding::ByteStreamSplit,
        }
    }
}
