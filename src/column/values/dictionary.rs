//! Columns that stay dictionaries: keys straight from the pages, over the chunk's dictionary as an array.

use super::distinct::Distinct;
use super::{Values, no_dictionary, no_page};
use crate::arrow::array::{Array, ArrayRef, new_empty_array};
use crate::arrow::buffer::{Buffer, NullBuffer};
use crate::arrow::schema::DataType;
use crate::bitmap::Bits;
use crate::encoding::DictionaryDecoder;
use crate::error::{Error, Result};
use crate::logical::{defaults, dictionary_array};
use crate::metadata::Encoding;
use crate::page::DictionaryPage;
use crate::sink::{PrimitiveSink, Sink};

/// The page that is being read.
enum Keys {
    None,
    /// Indices into the chunk's dictionary.
    Dictionary(DictionaryDecoder<Buffer>),
    /// Values in another encoding, since the writer's dictionary grew too large.
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
    /// What such pages hold, behind the dictionary.
    others: Option<Distinct>,
    /// Values of such a page that have no key yet, and how many of the array have one.
    pending: Option<(ArrayRef, usize)>,
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
            others: None,
            pending: None,
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

    /// Reads `n` values that are not dictionary-encoded; fewer where the keys run out.
    fn read_other(&mut self, n: usize) -> Result<usize> {
        let most = num_keys(&self.key_type);
        let mut others = self.others.take().unwrap_or_else(|| Distinct::new(self.dictionary.as_ref()));
        let mut done = 0;
        while done < n {
            let (values, from) = match self.pending.take() {
                Some(pending) => pending,
                None => {
                    let got = self.inner.read((n - done).min(VALUES_AT_ONCE), false)?;
                    (self.inner.take(got, None)?, 0)
                }
            };
            let end = values.len().min(from + n - done);
            let added = others.add(&values.slice(0, end), from, most, self.keys.as_mut_vec());
            done += added;
            let is_done = from + added < end || values.is_empty();
            if from + added < values.len() {
                self.pending = Some((values, from + added));
            }
            if is_done {
                break;
            }
        }
        self.others = Some(others);
        if done == 0 && self.keys.is_empty() {
            return Err(Error::out_of_range(format!("dictionary key {most}"), &self.key_type));
        }
        Ok(done)
    }

    /// The dictionary's values, and those of other pages.
    fn dictionary(&self) -> Result<ArrayRef> {
        match (&self.others, &self.dictionary) {
            (Some(others), _) if others.len() > self.dictionary_len() => others.to_array(),
            (_, Some(dictionary)) => Ok(dictionary.clone()),
            (_, None) => Ok(new_empty_array(&self.value_type)),
        }
    }
}

/// Values that are decoded before they get their keys.
const VALUES_AT_ONCE: usize = 4096;

/// How many keys there are of a type.
fn num_keys(key_type: &DataType) -> usize {
    match key_type {
        DataType::Int8 => 1 << 7,
        DataType::UInt8 => 1 << 8,
        DataType::Int16 => 1 << 15,
        DataType::UInt16 => 1 << 16,
        _ => i32::MAX as usize,
    }
}

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
        (self.others, self.pending) = (None, None);
        self.raw = Some(page.values.clone());
        Ok(())
    }

    fn end_page(&mut self) {
        self.page = Keys::None;
        self.inner.end_page();
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
            Keys::Other => {
                let pending = match &mut self.pending {
                    Some((values, from)) => {
                        let pending = n.min(values.len() - *from);
                        *from += pending;
                        pending
                    }
                    None => 0,
                };
                self.inner.skip(n - pending)
            }
            Keys::None => Err(no_page()),
        }
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        self.keys.spread(start, validity)
    }

    fn len(&self) -> usize {
        self.keys.len()
    }

    fn take(&mut self, num_slots: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let mut rest = self.keys.split_off(num_slots);
        std::mem::swap(&mut self.keys, &mut rest);
        let keys = rest.into_vec();
        let mut dictionary = self.dictionary()?;
        if dictionary.is_empty() && !keys.is_empty() && nulls.is_none() {
            // A required value of groups that are null, all of them: its keys need a value to point at.
            dictionary = defaults(&self.value_type, 1)?;
        }
        if let (Some(others), true) = (&mut self.others, self.keys.is_empty()) {
            others.forget_others();
        }
        dictionary_array(&self.key_type, keys, dictionary, nulls)
    }
}
