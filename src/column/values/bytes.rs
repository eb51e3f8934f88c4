//! BYTE_ARRAY and FIXED_LEN_BYTE_ARRAY values: as byte strings, or converted to decimals, half floats, intervals.

use std::sync::Arc;

use super::{Values, cannot_hold, no_dictionary, no_page};
use crate::arrow::array::{ArrayRef, OffsetSizeTrait};
use crate::arrow::buffer::{ArrowNativeType, Buffer, NullBuffer};
use crate::arrow::schema::DataType;
use crate::bitmap::Bits;
use crate::encoding::{
    ByteStreamSplitBytesDecoder, DeltaByteArrayDecoder, DeltaLengthByteArrayDecoder, DictionaryDecoder,
    PlainBytesDecoder, PlainFixedBytesDecoder, plain_byte_dictionary, plain_fixed_byte_dictionary,
};
use crate::error::Result;
use crate::logical::{BytesConversion, BytesKernel, BytesTarget, primitive_array};
use crate::metadata::{Encoding, PhysicalType};
use crate::page::DictionaryPage;
use crate::sink::{
    ByteDictionary, ByteSink, BytesSink, FixedBytesSink, FixedWidth, PrimitiveSink, Sink, ViewSink,
    check_width,
};

/// The page that is being read.
#[allow(clippy::large_enum_variant)] // one a column, made once a page
enum BytesPage {
    None,
    Plain(PlainBytesDecoder<Buffer>),
    PlainFixed(PlainFixedBytesDecoder<Buffer>),
    Dictionary(DictionaryDecoder<Buffer>),
    DeltaLength(DeltaLengthByteArrayDecoder<Buffer>),
    Delta(DeltaByteArrayDecoder<Buffer>),
    Split(ByteStreamSplitBytesDecoder<Buffer>),
}

impl BytesPage {
    /// `width`: bytes a value of a FIXED_LEN_BYTE_ARRAY; `None` for BYTE_ARRAY.
    fn open(encoding: Encoding, bytes: Buffer, n: usize, width: Option<usize>) -> Result<Self> {
        Ok(match (encoding, width) {
            (Encoding::PlainDictionary | Encoding::RleDictionary, _) => {
                BytesPage::Dictionary(DictionaryDecoder::new(bytes, n)?)
            }
            (Encoding::Plain, None) => BytesPage::Plain(PlainBytesDecoder::new(bytes, n)?),
            (Encoding::Plain, Some(width)) => {
                BytesPage::PlainFixed(PlainFixedBytesDecoder::new(bytes, n, width)?)
            }
            (Encoding::DeltaLengthByteArray, None) => {
                BytesPage::DeltaLength(DeltaLengthByteArrayDecoder::new(bytes, n)?)
            }
            (Encoding::DeltaByteArray, width) => {
                BytesPage::Delta(DeltaByteArrayDecoder::new(bytes, n, width)?)
            }
            (Encoding::ByteStreamSplit, Some(width)) => {
                // Streams have no count of their own, and nulls are not in them.
                let in_streams = bytes.len().checked_div(width).unwrap_or(0);
                BytesPage::Split(ByteStreamSplitBytesDecoder::new(bytes, in_streams, width)?)
            }
            (other, None) => return Err(cannot_hold(other, "BYTE_ARRAY")),
            (other, Some(_)) => return Err(cannot_hold(other, "FIXED_LEN_BYTE_ARRAY")),
        })
    }

    /// Reads anything but dictionary indices.
    fn read<S: ByteSink>(&mut self, n: usize, sink: &mut S) -> Result<usize> {
        match self {
            BytesPage::None | BytesPage::Dictionary(_) => Err(no_page()),
            BytesPage::Plain(decoder) => decoder.read(n, sink),
            BytesPage::PlainFixed(decoder) => decoder.read(n, sink),
            BytesPage::DeltaLength(decoder) => decoder.read(n, sink),
            BytesPage::Delta(decoder) => decoder.read(n, sink),
            BytesPage::Split(decoder) => decoder.read(n, sink),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        match self {
            BytesPage::None => Err(no_page()),
            BytesPage::Plain(decoder) => decoder.skip(n),
            BytesPage::PlainFixed(decoder) => decoder.skip(n),
            BytesPage::Dictionary(decoder) => decoder.skip(n),
            BytesPage::DeltaLength(decoder) => decoder.skip(n),
            BytesPage::Delta(decoder) => decoder.skip(n),
            BytesPage::Split(decoder) => decoder.skip(n),
        }
    }
}

fn dictionary_of(page: &DictionaryPage, width: Option<usize>) -> Result<ByteDictionary> {
    match width {
        None => plain_byte_dictionary(&page.values, page.num_values),
        Some(width) => plain_fixed_byte_dictionary(&page.values, page.num_values, width),
    }
}

/// A sink whose memory becomes an array of byte strings.
trait LeafSink: ByteSink + Send + 'static {
    /// Checks what was appended since the last check to be UTF-8.
    fn check(&mut self) -> Result<()>;
    /// Bytes of values in memory of its own, where that grows with them.
    fn byte_len(&self) -> usize {
        0
    }
    fn finish(self, utf8: bool, nulls: Option<NullBuffer>) -> Result<ArrayRef>;
}

impl<O: OffsetSizeTrait> LeafSink for BytesSink<O> {
    fn check(&mut self) -> Result<()> {
        self.check_utf8()
    }

    fn byte_len(&self) -> usize {
        self.values().len()
    }

    fn finish(self, utf8: bool, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        Ok(if utf8 { Arc::new(self.finish_utf8(nulls)?) } else { Arc::new(self.finish_binary(nulls)?) })
    }
}

impl LeafSink for ViewSink {
    fn check(&mut self) -> Result<()> {
        self.check_utf8()
    }

    fn finish(self, utf8: bool, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        Ok(if utf8 { Arc::new(self.finish_utf8(nulls)?) } else { Arc::new(self.finish_binary(nulls)?) })
    }
}

impl LeafSink for FixedBytesSink {
    fn check(&mut self) -> Result<()> {
        Ok(())
    }

    fn finish(self, _utf8: bool, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        Ok(Arc::new(FixedBytesSink::finish(self, nulls)?))
    }
}

struct ByteStrings<S> {
    width: Option<usize>,
    utf8: bool,
    page: BytesPage,
    dictionary: Option<ByteDictionary>,
    sink: S,
    /// Bytes that the last array took: the next will take about as many.
    last_byte_len: usize,
}

/// The decoder for byte strings as such.
pub(super) fn new_values(target: BytesTarget, physical: PhysicalType, byte_width: usize) -> Box<dyn Values> {
    let width = (physical == PhysicalType::FixedLenByteArray).then_some(byte_width);
    match target {
        BytesTarget::Binary => ByteStrings::boxed(width, false, BytesSink::<i32>::new()),
        BytesTarget::Utf8 => ByteStrings::boxed(width, true, BytesSink::<i32>::new()),
        BytesTarget::LargeBinary => ByteStrings::boxed(width, false, BytesSink::<i64>::new()),
        BytesTarget::LargeUtf8 => ByteStrings::boxed(width, true, BytesSink::<i64>::new()),
        BytesTarget::BinaryView => ByteStrings::boxed(width, false, ViewSink::new()),
        BytesTarget::Utf8View => ByteStrings::boxed(width, true, ViewSink::new()),
        BytesTarget::FixedSizeBinary(n) => {
            ByteStrings::boxed(width, false, FixedBytesSink::new(usize::try_from(n).unwrap_or(0)))
        }
    }
}

impl<S: LeafSink> ByteStrings<S> {
    fn boxed(width: Option<usize>, utf8: bool, sink: S) -> Box<dyn Values> {
        Box::new(ByteStrings { width, utf8, page: BytesPage::None, dictionary: None, sink, last_byte_len: 0 })
    }
}

impl<S: LeafSink> Values for ByteStrings<S> {
    fn expect(&mut self, num_slots: usize) {
        self.sink.reserve(num_slots);
        self.sink.reserve_bytes(self.last_byte_len + self.last_byte_len / 16);
    }

    fn set_dictionary(&mut self, page: &DictionaryPage) -> Result<()> {
        let mut dictionary = dictionary_of(page, self.width)?;
        if self.utf8 {
            dictionary.check_utf8()?;
        }
        self.dictionary = Some(dictionary);
        Ok(())
    }

    fn end_chunk(&mut self) {
        self.dictionary = None;
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()> {
        self.page = BytesPage::open(encoding, values, num_values, self.width)?;
        Ok(())
    }

    fn read(&mut self, n: usize, _whole: bool) -> Result<usize> {
        let got = match &mut self.page {
            BytesPage::Dictionary(decoder) => {
                let dictionary = self.dictionary.as_ref().ok_or_else(no_dictionary)?;
                decoder.read_bytes(n, dictionary, &mut self.sink)?
            }
            page => page.read(n, &mut self.sink)?,
        };
        if self.utf8 {
            // Now, while the bytes are in the cache and the page is known.
            self.sink.check()?;
        }
        Ok(got)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.page.skip(n)
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
        self.last_byte_len = taken.byte_len();
        taken.finish(self.utf8, nulls)
    }
}

/// A sink that converts each byte string.
struct ConvertSink<T> {
    convert: BytesKernel<T>,
    values: PrimitiveSink<T>,
}

impl<T: FixedWidth> Sink for ConvertSink<T> {
    fn len(&self) -> usize {
        self.values.len()
    }

    fn reserve(&mut self, n: usize) {
        self.values.reserve(n);
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        self.values.spread(start, validity)
    }

    fn push_nulls(&mut self, n: usize) {
        self.values.push_nulls(n);
    }

    fn split_off(&mut self, at: usize) -> Self {
        ConvertSink { convert: self.convert, values: self.values.split_off(at) }
    }
}

impl<T: FixedWidth> ByteSink for ConvertSink<T> {
    fn push(&mut self, value: &[u8]) -> Result<bool> {
        let value = (self.convert.one)(value)?;
        self.values.as_mut_vec().push(value);
        Ok(true)
    }

    fn append_fixed(&mut self, data: &[u8], width: usize, _source: Option<&Buffer>) -> Result<usize> {
        check_width(data, width)?;
        let before = self.values.len();
        (self.convert.bulk)(data, width, self.values.as_mut_vec())?;
        Ok(self.values.len() - before)
    }
}

struct ConvertedBytes<T> {
    data_type: DataType,
    width: Option<usize>,
    page: BytesPage,
    dictionary: Option<Vec<T>>,
    sink: ConvertSink<T>,
}

/// The decoder for byte strings that stand for values of a fixed width.
pub(super) fn new_converted(
    conversion: BytesConversion,
    physical: PhysicalType,
    byte_width: usize,
    data_type: &DataType,
) -> Box<dyn Values> {
    fn boxed<T: ArrowNativeType>(
        convert: BytesKernel<T>,
        width: Option<usize>,
        data_type: &DataType,
    ) -> Box<dyn Values> {
        Box::new(ConvertedBytes {
            data_type: data_type.clone(),
            width,
            page: BytesPage::None,
            dictionary: None,
            sink: ConvertSink { convert, values: PrimitiveSink::new() },
        })
    }
    let width = (physical == PhysicalType::FixedLenByteArray).then_some(byte_width);
    match conversion {
        BytesConversion::To16(f) => boxed(f, width, data_type),
        BytesConversion::To32(f) => boxed(f, width, data_type),
        BytesConversion::To64(f) => boxed(f, width, data_type),
        BytesConversion::To128(f) => boxed(f, width, data_type),
        BytesConversion::To256(f) => boxed(f, width, data_type),
    }
}

impl<T: ArrowNativeType> Values for ConvertedBytes<T> {
    fn expect(&mut self, num_slots: usize) {
        self.sink.reserve(num_slots);
    }

    fn set_dictionary(&mut self, page: &DictionaryPage) -> Result<()> {
        let bytes = dictionary_of(page, self.width)?;
        let len = u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        let values = (0..len).map(|id| (self.sink.convert.one)(bytes.value(id)?)).collect::<Result<_>>()?;
        self.dictionary = Some(values);
        Ok(())
    }

    fn end_chunk(&mut self) {
        self.dictionary = None;
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()> {
        self.page = BytesPage::open(encoding, values, num_values, self.width)?;
        Ok(())
    }

    fn read(&mut self, n: usize, _whole: bool) -> Result<usize> {
        match &mut self.page {
            BytesPage::Dictionary(decoder) => {
                let dictionary = self.dictionary.as_ref().ok_or_else(no_dictionary)?;
                decoder.read_fixed(n, dictionary, &mut self.sink.values)
            }
            page => page.read(n, &mut self.sink),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.page.skip(n)
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
        primitive_array(&self.data_type, taken.values.into_buffer(), num_slots, nulls)
    }
}
