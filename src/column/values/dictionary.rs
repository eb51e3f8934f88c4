//! Columns that stay dictionaries: keys straight from the pages, over the chunk's dictionary as an array.

use super::{Values, no_dictionary, no_page};
use crate::arrow::array::{Array, ArrayRef, make_array, new_empty_array, new_null_array};
use crate::arrow::buffer::{Buffer, NullBuffer};
use crate::arrow::schema::DataType;
use crate::bitmap::Bits;
use crate::encoding::DictionaryDecoder;
use crate::error::{Error, Result};
use crate::logical::{concat, dictionary_array};
use crate::metadata::Encoding;
use crate::page::DictionaryPage;
use crate::sink::{PrimitiveSink, Sink};

/// The page that is being read.
enum Keys {
    None,
    /// Indices into the chunk's dictionary.
    Dictionary(DictionaryDecoder<Buffer>),
    /// Values in another encoding, since the writer's dictionary grew too large: they are gathered behind the
    /// dictionary's own, and get keys of their own.
    Other,
}

pub(super) struct DictionaryValues {
    key_type: DataType,
    value_type: DataType,
    page: Keys,
    /// The bytes of the dictionary page, to know the same dictionary again in the next chunk.
    raw: Option<Buffer>,
    /// The chunk's dictionary, or the last chunk's.
    dictionary: Option<ArrayRef>,
    /// Whether it is this chunk's.
    in_chunk: bool,
    keys: PrimitiveSink<i32>,
    /// Decodes dictionary pages, and the values of pages that are not dictionary-encoded.
    inner: Box<dyn Values>,
}

impl DictionaryValues {
    pub(super) fn new(key_type: DataType, inner: Box<dyn Values>, value_type: DataType) -> Self {
        DictionaryValues {
            key_type,
            value_type,
            page: Keys::None,
            raw: None,
            dictionary: None,
            in_chunk: false,
            keys: PrimitiveSink::new(),
            inner,
        }
    }

    fn is_current(&self, page: &DictionaryPage) -> bool {
        self.raw
            .as_ref()
            .is_some_and(|raw| raw.ptr_eq(&page.values) || raw.as_slice() == page.values.as_slice())
            && self.dictionary.as_ref().is_some_and(|d| d.len() == page.num_values)
    }

    fn dictionary_len(&self) -> usize {
        self.dictionary.as_ref().map_or(0, |d| d.len())
    }

    /// Reads `n` values that are not in the dictionary. Each gets the next key.
    fn read_other(&mut self, n: usize) -> Result<usize> {
        let first = self.dictionary_len() + self.inner.len();
        let got = self.inner.read(n, false)?;
        let last = i32::try_from(first + got)
            .map_err(|_| Error::out_of_range(first + got, "Int32 dictionary keys"))?;
        self.keys.as_mut_vec().extend(last - i32::try_from(got).unwrap_or(0)..last);
        Ok(got)
    }
}

/// The key of a null slot, where there is no dictionary yet.
const NO_VALUE: i32 = -1;

impl Values for DictionaryValues {
    fn expect(&mut self, num_slots: usize) {
        self.keys.reserve(num_slots);
    }

    fn must_cut(&self, page: &DictionaryPage) -> bool {
        self.keys.len() > 0 && !self.is_current(page)
    }

    fn set_dictionary(&mut self, page: &DictionaryPage) -> Result<()> {
        self.in_chunk = true;
        if self.is_current(page) {
            return Ok(());
        }
        if self.keys.len() > 0 {
            return Err(Error::malformed("two dictionary pages in a column chunk"));
        }
        self.inner.set_page(Encoding::Plain, page.values.clone(), page.num_values)?;
        let got = self.inner.read(page.num_values, false)?;
        if got < page.num_values {
            return Err(Error::unsupported("a dictionary of more than 2 GiB"));
        }
        self.dictionary = Some(self.inner.take(got, None)?);
        self.raw = Some(page.values.clone());
        Ok(())
    }

    fn end_chunk(&mut self) {
        self.in_chunk = false;
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()> {
        self.page = match encoding {
            Encoding::PlainDictionary | Encoding::RleDictionary => {
                Keys::Dictionary(DictionaryDecoder::new(values, num_values)?)
            }
            other => {
                self.inner.set_page(other, values, num_values)?;
                Keys::Other
            }
        };
        Ok(())
    }

    fn read(&mut self, n: usize, _whole: bool) -> Result<usize> {
        match &mut self.page {
            Keys::Dictionary(decoder) => {
                let len = self.dictionary.as_ref().filter(|_| self.in_chunk).ok_or_else(no_dictionary)?.len();
                decoder.read_keys(n, len, &mut self.keys)
            }
            Keys::Other => self.read_other(n),
            Keys::None => Err(no_page()),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        match &mut self.page {
            Keys::Dictionary(decoder) => decoder.skip(n),
            Keys::Other => self.inner.skip(n),
            Keys::None => Err(no_page()),
        }
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        self.keys.spread(start, validity)?;
        if self.dictionary_len() == 0 {
            // Without a dictionary key 0 is that of a value.
            let slots = self.keys.as_mut_vec().iter_mut().skip(start);
            slots.enumerate().filter(|(slot, _)| !validity.get(*slot)).for_each(|(_, key)| *key = NO_VALUE);
        }
        Ok(())
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn take(&mut self, num_slots: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let mut rest = self.keys.split_off(num_slots);
        std::mem::swap(&mut self.keys, &mut rest);
        let mut keys = rest.into_vec();
        let own = i32::try_from(self.dictionary_len()).unwrap_or(i32::MAX);
        let others = self.inner.len();
        let dictionary = match (&self.dictionary, others) {
            (Some(dictionary), 0) => dictionary.clone(),
            (None, 0) => new_empty_array(&self.value_type),
            (dictionary, _) => {
                // Keys of other values rise by one each, so those taken now come first.
                let taken = keys.iter().filter(|key| **key >= own).count().min(others);
                let values = self.inner.take(taken, None)?;
                let shift = i32::try_from(taken).unwrap_or(0);
                self.keys.as_mut_vec().iter_mut().filter(|key| **key >= own).for_each(|key| *key -= shift);
                match dictionary {
                    Some(dictionary) => concat(dictionary, &values)?,
                    None => values,
                }
            }
        };
        if own == 0 {
            keys.iter_mut().for_each(|key| *key = (*key).max(0));
        }
        let dictionary = match dictionary.is_empty() && !keys.is_empty() && nulls.is_none() {
            // A required value of groups that are null, all of them: its keys need a value to point at.
            true => {
                let one = new_null_array(&self.value_type, 1).to_data();
                make_array(one.into_builder().nulls(None).build()?)
            }
            false => dictionary,
        };
        dictionary_array(&self.key_type, keys, dictionary, nulls)
    }
}
