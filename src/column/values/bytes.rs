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

/// Bytes that are made room for before the first value comes.
const ROOM_AT_MOST: usize = 1 << 20;

/// Front-coded values that are read before it is looked how large they are.
const DELTA_AT_ONCE: usize = 8192;

/// A sink whose memory becomes an array of byte strings.
trait LeafSink: ByteSink + Send + 'static {
    /// Checks what was appended since the last check to be UTF-8.
    fn check(&mut self) -> Result<()>;
    /// Bytes of values in memory of its own, where that grows with them.
    fn byte_len(&self) -> usize {
        0
    }
    /// Bytes that each slot takes, whatever is in it.
    fn slot_len(&self) -> usize {
        size_of::<u128>()
    }
    fn finish(self, utf8: bool, nulls: Option<NullBuffer>) -> Result<ArrayRef>;
}

impl<O: OffsetSizeTrait> LeafSink for BytesSink<O> {
    fn check(&mut self) -> Result<()> {
        self.check_utf8()
    }

    fn byte_len(&self) -> usize {
        self.owned_len()
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

    fn byte_len(&self) -> usize {
        self.as_bytes().len()
    }

    fn slot_len(&self) -> usize {
        self.width().max(1)
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
    /// The length of its longest value.
    longest: usize,
    sink: S,
    /// Where the array is cut, so that few bytes of a page cannot become any number.
    max_byte_len: usize,
    /// Bytes that the last array took: the next will take about as many.
    last_byte_len: usize,
}

/// The decoder for byte strings as such.
///
/// An array is cut where it would come to hold more than `max_byte_len` bytes, if its values are repeated from a dictionary
/// or from one another, and it holds one at least.
pub(super) fn new_values(
    target: BytesTarget,
    physical: PhysicalType,
    byte_width: usize,
    max_byte_len: usize,
) -> Box<dyn Values> {
    let most = max_byte_len;
    let width = (physical == PhysicalType::FixedLenByteArray).then_some(byte_width);
    match target {
        BytesTarget::Binary => ByteStrings::boxed(width, false, BytesSink::<i32>::new(), most),
        BytesTarget::Utf8 => ByteStrings::boxed(width, true, BytesSink::<i32>::new(), most),
        BytesTarget::LargeBinary => ByteStrings::boxed(width, false, BytesSink::<i64>::new(), most),
        BytesTarget::LargeUtf8 => ByteStrings::boxed(width, true, BytesSink::<i64>::new(), most),
        BytesTarget::BinaryView => ByteStrings::boxed(width, false, ViewSink::new(), most),
        BytesTarget::Utf8View => ByteStrings::boxed(width, true, ViewSink::new(), most),
        BytesTarget::FixedSizeBinary(n) => {
            ByteStrings::boxed(width, false, FixedBytesSink::new(usize::try_from(n).unwrap_or(0)), most)
        }
    }
}

impl<S: LeafSink> ByteStrings<S> {
    fn boxed(width: Option<usize>, utf8: bool, sink: S, max_byte_len: usize) -> Box<dyn Values> {
        let (page, dictionary) = (BytesPage::None, None);
        let values =
            ByteStrings { width, utf8, page, dictionary, longest: 0, sink, max_byte_len, last_byte_len: 0 };
        Box::new(values)
    }

    /// Reads values that may be much longer than the bytes they came from.
    fn read_delta(&mut self, n: usize) -> Result<usize> {
        let mut done = 0;
        while done < n && (self.sink.is_empty() || self.sink.byte_len() < self.max_byte_len) {
            let step = DELTA_AT_ONCE.min(n - done);
            let got = self.page.read(step, &mut self.sink)?;
            done += got;
            if got < step {
                break;
            }
        }
        Ok(done)
    }

    /// Reads values of the dictionary.
    fn read_dictionary(&mut self, n: usize) -> Result<usize> {
        let BytesPage::Dictionary(decoder) = &mut self.page else { return Err(no_page()) };
        let dictionary = self.dictionary.as_ref().ok_or_else(no_dictionary)?;
        let mut done = 0;
        while done < n {
            let room = self.max_byte_len.saturating_sub(self.sink.byte_len()) / self.longest.max(1);
            let step = room.max(usize::from(self.sink.is_empty())).min(n - done);
            let got = decoder.read_bytes(step, dictionary, &mut self.sink)?;
            done += got;
            if step == 0 || got < step {
                break;
            }
        }
        Ok(done)
    }
}

impl<S: LeafSink> Values for ByteStrings<S> {
    fn expect(&mut self, num_slots: usize) {
        self.sink.reserve(num_slots.min(ROOM_AT_MOST / self.sink.slot_len()));
        self.sink.reserve_bytes(self.last_byte_len + self.last_byte_len / 16);
    }

    fn set_dictionary(&mut self, page: &DictionaryPage) -> Result<()> {
        let mut dictionary = dictionary_of(page, self.width)?;
        if self.utf8 {
            dictionary.check_utf8()?;
        }
        self.longest = dictionary.max_len();
        self.dictionary = Some(dictionary);
        Ok(())
    }

    fn end_page(&mut self) {
        self.page = BytesPage::None;
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
            BytesPage::Dictionary(_) => self.read_dictionary(n)?,
            BytesPage::Delta(_) => self.read_delta(n)?,
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

    fn end_page(&mut self) {
        self.page = BytesPage::None;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{CrcState, PageStorage};

    #[test]
    fn arrays_of_dictionary_values_are_cut_before_they_grow_too_large() {
        let storage = PageStorage {
            header_size: 0,
            compressed_size: 0,
            uncompressed_size: 0,
            crc: CrcState::Absent,
            lent: false,
        };
        let page = |values: &[u8]| DictionaryPage {
            index: 0,
            offset: 0,
            num_values: 1,
            encoding: Encoding::Plain,
            is_sorted: false,
            values: Buffer::from_slice_ref(values),
            storage,
        };
        // Twenty times id 0: a bit width, a run's length, its value.
        let ids = || Buffer::from_slice_ref([1_u8, 40, 0]);
        let targets = [BytesTarget::Binary, BytesTarget::LargeUtf8, BytesTarget::FixedSizeBinary(4)];
        for target in targets {
            let (physical, dictionary) = match target {
                BytesTarget::FixedSizeBinary(_) => (PhysicalType::FixedLenByteArray, page(b"abcd")),
                _ => (PhysicalType::ByteArray, page(b"\x04\0\0\0abcd")),
            };
            for (most, fits) in [(3, 1), (4, 1), (10, 2), (79, 19), (80, 20), (1000, 20)] {
                let mut values = new_values(target, physical, 4, most);
                values.set_dictionary(&dictionary).unwrap();
                values.set_page(Encoding::RleDictionary, ids(), 20).unwrap();
                assert_eq!(values.read(20, false).unwrap(), fits, "{most} bytes");
                assert_eq!(values.take(fits, None).unwrap().len(), fits);
                assert_eq!(values.read(20 - fits, false).unwrap(), fits.min(20 - fits));
            }
        }
    }
}
