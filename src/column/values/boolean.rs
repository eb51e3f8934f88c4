//! BOOLEAN values.

use std::sync::Arc;

use super::{Values, cannot_hold, no_page};
use crate::arrow::array::ArrayRef;
use crate::arrow::buffer::{Buffer, NullBuffer};
use crate::bitmap::Bits;
use crate::encoding::{PlainBooleanDecoder, RleDecoder};
use crate::error::{Error, Result};
use crate::metadata::Encoding;
use crate::page::DictionaryPage;
use crate::sink::{BooleanSink, Sink};

/// The page that is being read.
#[derive(Default)]
enum BooleanPage {
    #[default]
    None,
    Plain(PlainBooleanDecoder<Buffer>),
    Rle(RleDecoder<Buffer>),
}

#[derive(Default)]
pub(super) struct BooleanValues {
    page: BooleanPage,
    sink: BooleanSink,
}

impl Values for BooleanValues {
    fn expect(&mut self, num_slots: usize) {
        self.sink.reserve(num_slots);
    }

    fn set_dictionary(&mut self, _page: &DictionaryPage) -> Result<()> {
        Err(Error::malformed("a dictionary of booleans"))
    }

    fn end_page(&mut self) {
        self.page = BooleanPage::None;
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()> {
        self.page = match encoding {
            Encoding::Plain => BooleanPage::Plain(PlainBooleanDecoder::new(values, num_values)?),
            Encoding::Rle => BooleanPage::Rle(RleDecoder::new(without_length(&values)?, num_values, 1)?),
            other => return Err(cannot_hold(other, "BOOLEAN")),
        };
        Ok(())
    }

    fn read(&mut self, n: usize, _whole: bool) -> Result<usize> {
        match &mut self.page {
            BooleanPage::Plain(decoder) => decoder.read(n, &mut self.sink),
            BooleanPage::Rle(decoder) => decoder.read_bits(n, self.sink.bitmap_mut()),
            BooleanPage::None => Err(no_page()),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        match &mut self.page {
            BooleanPage::Plain(decoder) => decoder.skip(n),
            BooleanPage::Rle(decoder) => decoder.skip(n),
            BooleanPage::None => Err(no_page()),
        }
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        self.sink.spread(start, validity)
    }

    fn len(&self) -> usize {
        self.sink.len()
    }

    fn take(&mut self, num_slots: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        let rest = self.sink.split_off(num_slots);
        let taken = std::mem::replace(&mut self.sink, rest);
        Ok(Arc::new(taken.finish(nulls)?))
    }
}

/// RLE booleans stand behind a 4-byte length, in V2 pages too (Encodings.md, RLE). A page of nulls may have nothing.
fn without_length(values: &Buffer) -> Result<Buffer> {
    if values.is_empty() {
        return Ok(values.clone());
    }
    let mut cursor = crate::cursor::Cursor::new(values);
    let len = cursor.u32_le("length of RLE booleans")? as usize;
    cursor.take(len, "RLE booleans")?;
    Ok(values.slice_with_length(4, len))
}
