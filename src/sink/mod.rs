//! Growing Arrow storage that decoders write to: what a decoder appends to, and what becomes an array without a copy.
//!
//! A sink takes dense values; [`Sink::spread`] moves them apart for nulls afterwards, in place. It knows nothing of
//! pages, encodings or levels. A sink for another kind of storage implements [`Sink`], and [`ByteSink`] when it
//! takes byte strings; the default bodies need `push` alone.

mod boolean;
mod bytes;
mod fixed_bytes;
mod primitive;
mod view;

pub use boolean::BooleanSink;
pub use bytes::BytesSink;
pub use fixed_bytes::FixedBytesSink;
pub use primitive::PrimitiveSink;
pub use view::ViewSink;

pub use crate::bitmap::{Bitmap, Bits, Runs};
pub use crate::raw::byte_dictionary::ByteDictionary;
pub use crate::raw::fixed::{FixedWidth, Int96};

use crate::arrow::buffer::Buffer;
use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// Growing storage of values.
pub trait Sink: Sized {
    /// Number of values, null slots counted.
    fn len(&self) -> usize;

    /// Whether there is no value.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room for `n` more values.
    fn reserve(&mut self, n: usize);

    /// Spreads the values from `start` on to `validity.len()` slots: each set bit takes the next value, each other
    /// slot holds a default (zero, or no bytes).
    ///
    /// # Errors
    /// When `validity` does not count as many set bits as there are values from `start` on.
    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()>;

    /// Appends `n` null slots.
    fn push_nulls(&mut self, n: usize);

    /// Keeps the values before `at` and gives those at and after it.
    #[must_use]
    fn split_off(&mut self, at: usize) -> Self;
}

/// Storage that takes byte strings.
///
/// Where a method gives a count smaller than asked for, the offsets of 32 bits are full: what was counted is
/// appended, the rest is untouched, and the caller goes on with a fresh sink. On an error, some of the values may
/// have been appended.
pub trait ByteSink: Sink {
    /// Appends one value. `false` when it does not fit.
    ///
    /// # Errors
    /// When the storage cannot hold such a value at all.
    fn push(&mut self, value: &[u8]) -> Result<bool>;

    /// Makes room for `n` more bytes of values. A hint.
    fn reserve_bytes(&mut self, _n: usize) {}

    /// Appends one value `n` times; gives how many fitted.
    ///
    /// # Errors
    /// As [`ByteSink::push`].
    fn push_n(&mut self, value: &[u8], n: usize) -> Result<usize> {
        for taken in 0..n {
            if !self.push(value)? {
                return Ok(taken);
            }
        }
        Ok(n)
    }

    /// Appends up to `n` values of a `PLAIN` page: a length in 4 bytes, little endian, then as many bytes.
    ///
    /// `bytes` begins with the first length and may go on after the last value. `source` is the buffer that
    /// `bytes` lies in, where there is one to point into. Gives how many values fitted and how many bytes they
    /// and their lengths took.
    ///
    /// # Errors
    /// When `bytes` ends before the `n`-th value does.
    fn append_plain(&mut self, bytes: &[u8], n: usize, _source: Option<&Buffer>) -> Result<(usize, usize)> {
        let mut cursor = Cursor::new(bytes);
        for taken in 0..n {
            let before = cursor.position();
            let len = cursor.u32_le("length of a byte array")?;
            if !self.push(cursor.take(len as usize, "byte array")?)? {
                return Ok((taken, before));
            }
        }
        Ok((n, cursor.position()))
    }

    /// Appends values that lie end to end in `data`, as long as `lengths` says; gives how many fitted.
    ///
    /// # Errors
    /// When a length is negative, or `data` ends early.
    fn append_lengths(&mut self, lengths: &[i32], data: &[u8], _source: Option<&Buffer>) -> Result<usize> {
        let mut cursor = Cursor::new(data);
        for (taken, &len) in lengths.iter().enumerate() {
            let len = usize::try_from(len).map_err(|_| negative_length(len))?;
            if !self.push(cursor.take(len, "byte array")?)? {
                return Ok(taken);
            }
        }
        Ok(lengths.len())
    }

    /// Appends values of which each is the first `prefixes[i]` bytes of the one before it, then `suffixes[i]` bytes
    /// of its own; those lie end to end in `data`. `previous` is the value before the first, and becomes the last one
    /// appended. Gives how many values fitted and how many bytes of `data` they took.
    ///
    /// # Errors
    /// When a prefix is negative or longer than the value before it, or a suffix is negative or longer than what is
    /// left of `data`.
    fn append_front_coded(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        data: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        let mut cursor = Cursor::new(data);
        let mut value = Vec::new();
        for (taken, (&prefix, &suffix)) in prefixes.iter().zip(suffixes).enumerate() {
            let before = cursor.position();
            let kept = usize::try_from(prefix).ok().and_then(|prefix| previous.get(..prefix));
            let kept = kept.ok_or_else(|| impossible_prefix(prefix, previous.len()))?;
            let suffix = usize::try_from(suffix).map_err(|_| negative_length(suffix))?;
            value.clear();
            value.extend_from_slice(kept);
            value.extend_from_slice(cursor.take(suffix, "suffix of a byte array")?);
            if !self.push(&value)? {
                return Ok((taken, before));
            }
            std::mem::swap(previous, &mut value);
        }
        Ok((prefixes.len().min(suffixes.len()), cursor.position()))
    }

    /// Appends `data.len() / width` values of `width` bytes each; gives how many fitted.
    ///
    /// # Errors
    /// When `width` is 0 or `data` is not a whole number of values.
    fn append_fixed(&mut self, data: &[u8], width: usize, _source: Option<&Buffer>) -> Result<usize> {
        check_width(data, width)?;
        let mut taken = 0;
        for value in data.chunks_exact(width) {
            if !self.push(value)? {
                break;
            }
            taken += 1;
        }
        Ok(taken)
    }

    /// Appends the dictionary's values that `ids` names, in that order; gives how many fitted.
    ///
    /// # Errors
    /// [`ErrorKind::DictionaryIndex`](crate::ErrorKind::DictionaryIndex) when an id is not within the dictionary.
    fn append_dictionary(&mut self, ids: &[u32], dictionary: &ByteDictionary) -> Result<usize> {
        for (taken, &id) in ids.iter().enumerate() {
            if !self.push(dictionary.value(id)?)? {
                return Ok(taken);
            }
        }
        Ok(ids.len())
    }

    /// Appends the dictionary's value `id` `n` times; gives how many fitted.
    ///
    /// # Errors
    /// As [`ByteSink::append_dictionary`].
    fn append_dictionary_run(&mut self, id: u32, n: usize, dictionary: &ByteDictionary) -> Result<usize> {
        self.push_n(dictionary.value(id)?, n)
    }
}

/// Refuses a width of 0 and bytes that are not a whole number of values.
pub(crate) fn check_width(data: &[u8], width: usize) -> Result<()> {
    match data.len().checked_rem(width) {
        Some(0) => Ok(()),
        _ => {
            Err(Error::malformed(format!("{} bytes are not a whole number of values of {width}", data.len())))
        }
    }
}

pub(crate) fn negative_length(len: i32) -> Error {
    Error::malformed(format!("a byte array of {len} bytes"))
}

pub(crate) fn impossible_prefix(prefix: i32, previous: usize) -> Error {
    Error::malformed(format!(
        "a value that begins with {prefix} bytes of the one before, which has {previous}"
    ))
}
