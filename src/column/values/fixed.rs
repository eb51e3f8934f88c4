//! Values of a fixed width that end up in primitive arrays.

use super::{Values, cannot_hold, no_dictionary, no_page};
use crate::arrow::array::ArrayRef;
use crate::arrow::buffer::{ArrowNativeType, Buffer, NullBuffer, ScalarBuffer};
use crate::arrow::schema::DataType;
use crate::bitmap::Bits;
use crate::encoding::{
    AlpDecoder, ByteStreamSplitDecoder, DeltaBinaryPackedDecoder, DictionaryDecoder, PlainDecoder,
    plain_dictionary,
};
use crate::error::{Error, Result};
use crate::logical::{Conversion, Kernel, primitive_array};
use crate::metadata::Encoding;
use crate::page::DictionaryPage;
use crate::sink::{FixedWidth, Int96, PrimitiveSink, Sink};

/// A physical type of fixed width, and the encodings that only some of these have.
pub(crate) trait Physical: FixedWidth {
    const NAME: &'static str;
    /// Decoder of the encodings other than PLAIN and dictionary.
    type Special: Decode<Self> + Send;

    /// A decoder for a page in such an encoding; `None` when this type does not have it.
    fn special(encoding: Encoding, bytes: Buffer, num_values: usize) -> Result<Option<Self::Special>>;
}

/// What all decoders of fixed-width values do.
pub(crate) trait Decode<P> {
    fn read(&mut self, n: usize, sink: &mut PrimitiveSink<P>) -> Result<usize>;
    fn skip(&mut self, n: usize) -> Result<()>;
}

macro_rules! decode {
    ($decoder:ident for $($physical:ty),*) => {
        $(impl Decode<$physical> for $decoder<Buffer, $physical> {
            fn read(&mut self, n: usize, sink: &mut PrimitiveSink<$physical>) -> Result<usize> {
                $decoder::read(self, n, sink)
            }
            fn skip(&mut self, n: usize) -> Result<()> {
                $decoder::skip(self, n)
            }
        })*
    };
}
decode!(ByteStreamSplitDecoder for i32, i64, f32, f64);
decode!(DeltaBinaryPackedDecoder for i32, i64);
decode!(AlpDecoder for f32, f64);

/// One of two encodings.
pub(crate) enum Either<A, B> {
    A(A),
    B(B),
}

impl<P, A: Decode<P>, B: Decode<P>> Decode<P> for Either<A, B> {
    fn read(&mut self, n: usize, sink: &mut PrimitiveSink<P>) -> Result<usize> {
        match self {
            Either::A(decoder) => decoder.read(n, sink),
            Either::B(decoder) => decoder.read(n, sink),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        match self {
            Either::A(decoder) => decoder.skip(n),
            Either::B(decoder) => decoder.skip(n),
        }
    }
}

macro_rules! physical {
    ($($physical:ty, $name:literal, $other:ident = $encoding:ident;)*) => {
        $(impl Physical for $physical {
            const NAME: &'static str = $name;
            type Special = Either<ByteStreamSplitDecoder<Buffer, $physical>, $other<Buffer, $physical>>;

            fn special(encoding: Encoding, bytes: Buffer, num_values: usize) -> Result<Option<Self::Special>> {
                Ok(match encoding {
                    Encoding::ByteStreamSplit => {
                        // Streams have no count of their own, and nulls are not in them.
                        let in_streams = bytes.len() / size_of::<$physical>();
                        Some(Either::A(ByteStreamSplitDecoder::new(bytes, in_streams)?))
                    }
                    Encoding::$encoding => Some(Either::B($other::new(bytes, num_values)?)),
                    _ => None,
                })
            }
        })*
    };
}
physical! {
    i32, "INT32", DeltaBinaryPackedDecoder = DeltaBinaryPacked;
    i64, "INT64", DeltaBinaryPackedDecoder = DeltaBinaryPacked;
    f32, "FLOAT", AlpDecoder = Alp;
    f64, "DOUBLE", AlpDecoder = Alp;
}

impl Physical for Int96 {
    const NAME: &'static str = "INT96";
    type Special = PlainDecoder<Buffer, Int96>;

    fn special(_: Encoding, _: Buffer, _: usize) -> Result<Option<Self::Special>> {
        Ok(None)
    }
}

impl<P: FixedWidth> Decode<P> for PlainDecoder<Buffer, P> {
    fn read(&mut self, n: usize, sink: &mut PrimitiveSink<P>) -> Result<usize> {
        PlainDecoder::read(self, n, sink)
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        PlainDecoder::skip(self, n)
    }
}

/// Values that are decoded already.
struct Ready<'a, P> {
    values: &'a [P],
    position: usize,
}

impl<P: FixedWidth> Decode<P> for Ready<'_, P> {
    fn read(&mut self, n: usize, sink: &mut PrimitiveSink<P>) -> Result<usize> {
        let values = self.values.get(self.position..).unwrap_or_default();
        let values = values.get(..n).unwrap_or(values);
        sink.as_mut_vec().extend_from_slice(values);
        self.position += values.len();
        Ok(values.len())
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        self.position = self.position.saturating_add(n);
        Ok(())
    }
}

/// The page that is being read.
enum FixedPage<P: Physical> {
    None,
    Plain(PlainDecoder<Buffer, P>),
    Dictionary(DictionaryDecoder<Buffer>),
    Special(P::Special),
}

/// How physical values become what the array holds.
pub(crate) trait Convert<P: Physical>: Send {
    type Out: ArrowNativeType;

    /// Reads `n` values through `decoder`, converted.
    fn read(
        &mut self,
        decoder: &mut impl Decode<P>,
        n: usize,
        sink: &mut PrimitiveSink<Self::Out>,
    ) -> Result<usize>;

    /// A page's next `n` values as they lie there, if they can be used so.
    fn lend(&self, _decoder: &mut PlainDecoder<Buffer, P>, _n: usize) -> Result<Option<Buffer>> {
        Ok(None)
    }
}

/// The bits stay as they are.
struct Same;

impl<P: Physical + ArrowNativeType> Convert<P> for Same {
    type Out = P;

    fn read(&mut self, decoder: &mut impl Decode<P>, n: usize, sink: &mut PrimitiveSink<P>) -> Result<usize> {
        decoder.read(n, sink)
    }

    fn lend(&self, decoder: &mut PlainDecoder<Buffer, P>, n: usize) -> Result<Option<Buffer>> {
        Ok(decoder.lend(n)?.map(ScalarBuffer::into_inner))
    }
}

/// Values pass through a function, a few at a time so that they stay in the first-level cache.
struct Through<P, T> {
    scratch: PrimitiveSink<P>,
    convert: Kernel<P, T>,
}

impl<P: Physical, T: ArrowNativeType> Convert<P> for Through<P, T> {
    type Out = T;

    fn read(&mut self, decoder: &mut impl Decode<P>, n: usize, sink: &mut PrimitiveSink<T>) -> Result<usize> {
        sink.reserve(n);
        let mut left = n;
        while left > 0 {
            let step = left.min(STEP);
            self.scratch.as_mut_vec().clear();
            decoder.read(step, &mut self.scratch)?;
            (self.convert)(self.scratch.as_slice(), sink.as_mut_vec())?;
            left -= step;
        }
        Ok(n)
    }
}

/// Values converted at once.
const STEP: usize = 1024;

struct FixedValues<P: Physical, C: Convert<P>> {
    data_type: DataType,
    convert: C,
    page: FixedPage<P>,
    dictionary: Option<ScalarBuffer<C::Out>>,
    sink: PrimitiveSink<C::Out>,
    /// A whole batch that a page lends; the sink is empty then.
    lent: Option<(Buffer, usize)>,
    /// Slots to make room for when the first value comes.
    expected: usize,
}

/// The decoder for `conversion`; its array is of `data_type`.
pub(super) fn new_values<P: Physical + ArrowNativeType>(
    conversion: Conversion<P>,
    data_type: &DataType,
) -> Result<Box<dyn Values>> {
    match conversion {
        Conversion::Same => Ok(Box::new(FixedValues::<P, Same>::new(Same, data_type))),
        other => new_converted(other, data_type),
    }
}

/// The decoder for a `conversion` that changes the bits.
pub(super) fn new_converted<P: Physical>(
    conversion: Conversion<P>,
    data_type: &DataType,
) -> Result<Box<dyn Values>> {
    fn through<P: Physical, T: ArrowNativeType>(
        convert: Kernel<P, T>,
        data_type: &DataType,
    ) -> Result<Box<dyn Values>> {
        Ok(Box::new(FixedValues::new(Through { scratch: PrimitiveSink::new(), convert }, data_type)))
    }
    match conversion {
        Conversion::Same => Err(Error::unsupported(format!("{} values as {data_type}", P::NAME))),
        Conversion::To8(kernel) => through(kernel, data_type),
        Conversion::To16(kernel) => through(kernel, data_type),
        Conversion::To32(kernel) => through(kernel, data_type),
        Conversion::To64(kernel) => through(kernel, data_type),
        Conversion::To128(kernel) => through(kernel, data_type),
        Conversion::To256(kernel) => through(kernel, data_type),
    }
}

impl<P: Physical, C: Convert<P>> FixedValues<P, C> {
    fn new(convert: C, data_type: &DataType) -> Self {
        FixedValues {
            data_type: data_type.clone(),
            convert,
            page: FixedPage::None,
            dictionary: None,
            sink: PrimitiveSink::new(),
            lent: None,
            expected: 0,
        }
    }

    /// Copies what was lent after all, since more is to follow it.
    fn keep_lent(&mut self) {
        if let Some((bytes, _)) = self.lent.take() {
            self.sink.as_mut_vec().extend_from_slice(bytes.typed_data());
        }
    }
}

impl<P: Physical, C: Convert<P>> Values for FixedValues<P, C> {
    fn expect(&mut self, num_slots: usize) {
        self.expected = num_slots;
    }

    fn set_dictionary(&mut self, page: &DictionaryPage) -> Result<()> {
        let num_values = page.num_values;
        let mut lender = PlainDecoder::new(page.values.clone(), num_values)?;
        if let Some(bytes) = self.convert.lend(&mut lender, num_values)? {
            self.dictionary = Some(ScalarBuffer::new(bytes, 0, num_values));
            return Ok(());
        }
        // The values are known to be there before memory is made for them.
        let plain = plain_dictionary::<P>(&page.values, num_values)?;
        let mut values = PrimitiveSink::new();
        self.convert.read(&mut Ready { values: &plain, position: 0 }, num_values, &mut values)?;
        self.dictionary = Some(ScalarBuffer::from(values.into_vec()));
        Ok(())
    }

    fn end_page(&mut self) {
        self.page = FixedPage::None;
    }

    fn end_chunk(&mut self) {
        self.dictionary = None;
    }

    fn set_page(&mut self, encoding: Encoding, values: Buffer, num_values: usize) -> Result<()> {
        self.page = match encoding {
            Encoding::Plain => FixedPage::Plain(PlainDecoder::new(values, num_values)?),
            Encoding::PlainDictionary | Encoding::RleDictionary => {
                FixedPage::Dictionary(DictionaryDecoder::new(values, num_values)?)
            }
            other => match P::special(other, values, num_values)? {
                Some(decoder) => FixedPage::Special(decoder),
                None => return Err(cannot_hold(other, P::NAME)),
            },
        };
        Ok(())
    }

    fn read(&mut self, n: usize, whole: bool) -> Result<usize> {
        self.keep_lent();
        if !whole {
            self.sink.reserve(std::mem::take(&mut self.expected));
        }
        match &mut self.page {
            FixedPage::Plain(decoder) => {
                if whole
                    && self.sink.is_empty()
                    && let Some(bytes) = self.convert.lend(decoder, n)?
                {
                    self.lent = Some((bytes, n));
                    return Ok(n);
                }
                self.convert.read(decoder, n, &mut self.sink)
            }
            FixedPage::Dictionary(decoder) => {
                let dictionary = self.dictionary.as_ref().ok_or_else(no_dictionary)?;
                decoder.read_fixed(n, dictionary, &mut self.sink)
            }
            FixedPage::Special(decoder) => self.convert.read(decoder, n, &mut self.sink),
            FixedPage::None => Err(no_page()),
        }
    }

    fn skip(&mut self, n: usize) -> Result<()> {
        match &mut self.page {
            FixedPage::Plain(decoder) => decoder.skip(n),
            FixedPage::Dictionary(decoder) => decoder.skip(n),
            FixedPage::Special(decoder) => decoder.skip(n),
            FixedPage::None => Err(no_page()),
        }
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        self.keep_lent();
        self.sink.spread(start, validity)
    }

    fn len(&self) -> usize {
        self.lent.as_ref().map_or(self.sink.len(), |(_, len)| *len)
    }

    fn take(&mut self, num_slots: usize, nulls: Option<NullBuffer>) -> Result<ArrayRef> {
        if let Some((bytes, _)) = self.lent.take_if(|(_, len)| *len == num_slots) {
            return primitive_array(&self.data_type, bytes, num_slots, nulls);
        }
        self.keep_lent();
        let rest = self.sink.split_off(num_slots);
        let taken = std::mem::replace(&mut self.sink, rest);
        primitive_array(&self.data_type, taken.into_buffer(), num_slots, nulls)
    }
}
