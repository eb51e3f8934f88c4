//! The values of a leaf: pages in, arrays out.
//!
//! It knows physical types, encodings and Arrow types; of levels, rows and files it knows nothing. Which of the
//! concrete kinds decodes a leaf is decided once, by its [`Recipe`].

mod boolean;
mod bytes;
mod dictionary;
mod distinct;
mod fixed;

use crate::arrow::array::{ArrayRef, NullArray};
use crate::arrow::buffer::{Buffer, NullBuffer};
use crate::arrow::schema::DataType;
use crate::bitmap::Bits;
use crate::error::{Error, Result};
use crate::logical::Recipe;
use crate::metadata::{Encoding, PhysicalType};
use crate::page::DictionaryPage;

/// Decodes the values of one leaf and gathers them until they are taken.
///
/// Slots and values: a page holds values only where nothing is null. [`Values::read`] appends them densely;
/// [`Values::spread`] then moves them to their slots.
pub(crate) trait Values: Send {
    /// About how many slots will be read before they are taken: room for them is made at once, when the first comes.
    fn expect(&mut self, num_slots: usize);

    /// Whether what was read must be taken before this dictionary can be used.
    fn must_cut(&self, _page: &DictionaryPage) -> bool {
        false
    }

    /// Takes up the dictionary of the chunk that begins.
    fn set_dictionary(&mut self, page: &DictionaryPage) -> Result<()>;

    /// No more values will be asked of the page: its memory can serve another.
    fn end_page(&mut self) {}

    /// The chunk is done: its dictionary is not the next one's.
    fn end_chunk(&mut self) {}

    /// Turns to the next data page, which holds at most `num_values` values (fewer where some are null).
    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()>;

    /// Appends `n` values. Fewer are appended only when an array cannot hold more. `whole` tells that these are all
    /// the values of a batch, so that they may be lent rather than copied.
    fn read(&mut self, n: usize, whole: bool) -> Result<usize>;

    /// Passes over `n` values.
    fn skip(&mut self, n: usize) -> Result<()>;

    /// Moves the values from `start` on to the slots that `validity` gives them.
    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()>;

    /// Slots so far.
    fn len(&self) -> usize;

    /// Takes the first `num_slots` slots as an array.
    fn take(&mut self, num_slots: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef>;
}

/// The decoder that `recipe` asks for: from values of `physical` (of `byte_width` bytes each, for
/// FIXED_LEN_BYTE_ARRAY) to arrays of `data_type`, which are cut where repetition would make them hold
/// more than `max_byte_len` bytes.
///
/// # Errors
/// When this crate does not have it.
pub(crate) fn new_values(
    recipe: Recipe,
    physical: PhysicalType,
    byte_width: usize,
    data_type: &DataType,
    max_byte_len: usize,
) -> Result<Box<dyn Values>> {
    Ok(match recipe {
        Recipe::Null => Box::<NullValues>::default(),
        Recipe::Boolean => Box::<boolean::BooleanValues>::default(),
        Recipe::Int32(conversion) => fixed::new_values(conversion, data_type)?,
        Recipe::Int64(conversion) => fixed::new_values(conversion, data_type)?,
        Recipe::Int96(conversion) => fixed::new_converted(conversion, data_type)?,
        Recipe::Float(conversion) => fixed::new_values(conversion, data_type)?,
        Recipe::Double(conversion) => fixed::new_values(conversion, data_type)?,
        Recipe::Bytes(target) => bytes::new_values(target, physical, byte_width, max_byte_len),
        Recipe::BytesTo(conversion) => bytes::new_converted(conversion, physical, byte_width, data_type),
        Recipe::Dictionary { key, value, value_type } => {
            let inner = new_values(*value, physical, byte_width, &value_type, max_byte_len)?;
            Box::new(dictionary::DictionaryValues::new(key, inner, value_type))
        }
    })
}

/// A column of nulls: whatever its pages hold, no value is present.
#[derive(Debug, Default)]
struct NullValues {
    len: usize,
}

impl Values for NullValues {
    fn expect(&mut self, _num_slots: usize) {}

    fn set_dictionary(&mut self, _page: &DictionaryPage) -> Result<()> {
        Ok(())
    }

    fn set_page(&mut self, _: Encoding, _: Buffer, _: usize) -> Result<()> {
        Ok(())
    }

    fn read(&mut self, n: usize, _whole: bool) -> Result<usize> {
        self.len += n;
        Ok(n)
    }

    fn skip(&mut self, _n: usize) -> Result<()> {
        Ok(())
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        self.len = start + validity.len();
        Ok(())
    }

    fn len(&self) -> usize {
        self.len
    }

    fn take(&mut self, num_slots: usize, _nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        self.len -= num_slots.min(self.len);
        Ok(std::sync::Arc::new(NullArray::new(num_slots)))
    }
}

/// The error for an encoding that cannot hold values of a type.
fn cannot_hold(encoding: Encoding, what: impl std::fmt::Display) -> Error {
    match encoding {
        Encoding::Unknown(_) => Error::unsupported(format!("encoding {encoding}")),
        _ => Error::malformed(format!("encoding {encoding} cannot hold {what} values")),
    }
}

/// The error for a data page that comes before any other page of its chunk.
fn no_page() -> Error {
    Error::invalid("values are read before a data page was given")
}

/// The error for dictionary indices without a dictionary.
fn no_dictionary() -> Error {
    Error::malformed("a data page of dictionary indices in a column chunk without a dictionary page")
}
