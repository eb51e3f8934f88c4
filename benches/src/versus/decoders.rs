//! Single encodings: our decoders beside those that the rival opens under its feature `experimental`.
//!
//! A million values a run, in batches of 8192 to the same memory, as a scan has them.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;

use super::{Race, Row, Work};
use crate::rival::basic::Encoding;
use crate::rival::data_type::{DataType, DoubleType, FloatType, Int32Type, Int64Type};
use crate::rival::decoding::{Decoder, get_decoder};
use crate::rival::encoding::get_encoder;
use crate::rival::encodings::rle::RleDecoder as RivalRle;
use crate::rival::schema::types::{ColumnDescPtr, ColumnDescriptor, ColumnPath, Type};
use marquetry::encoding::{
    AlpDecoder, ByteStreamSplitDecoder, DeltaBinaryPackedDecoder, DictionaryDecoder, RleDecoder,
};
use marquetry::sink::{FixedWidth, PrimitiveSink};

const NUM_VALUES: usize = 1 << 20;
const BATCH: usize = 8192;
/// Numbers a page: one that stays in the second-level cache, as a page does that was just decompressed.
const PAGE: usize = 1 << 16;

pub(super) fn rows() -> Vec<Row> {
    let mut rows: Vec<Row> = (1..=32).map(unpack).collect();
    rows.extend([4, 8, 12, 20].map(single));
    rows.extend([4, 8, 12, 20].map(skip));
    rows.extend(runs());
    rows.extend([(256, 2.5), (4096, 2.2), (65536, 1.5)].map(|(len, goal)| dictionary(len, goal)));
    rows.extend(numbers());
    rows
}

/// Ids, packed or in runs.
struct Ids {
    bytes: Vec<u8>,
    width: u8,
    len: usize,
}

impl Ids {
    /// Any numbers of `width` bits, in one packed run.
    fn packed(width: u8) -> Self {
        let mut rng = Rng::with_seed(width.into());
        let mut bytes = varint(NUM_VALUES / 8 << 1 | 1);
        bytes.extend(std::iter::repeat_with(|| rng.u8(..)).take(NUM_VALUES / 8 * usize::from(width)));
        Ids { bytes, width, len: NUM_VALUES }
    }

    /// Runs of equal ids of `run` each, and `packed` ids between two runs.
    fn mixed(width: u8, run: usize, packed: usize) -> Self {
        let mut rng = Rng::with_seed(3);
        let (mut bytes, mut len) = (Vec::new(), 0);
        while len < NUM_VALUES {
            bytes.extend(varint(run << 1));
            let id = rng.u32(..1 << width).to_le_bytes();
            bytes.extend_from_slice(&id[..usize::from(width).div_ceil(8)]);
            if packed > 0 {
                bytes.extend(varint(packed / 8 << 1 | 1));
                bytes.extend(std::iter::repeat_with(|| rng.u8(..)).take(packed / 8 * usize::from(width)));
            }
            len += run + packed;
        }
        Ids { bytes, width, len }
    }

    fn read_ours(&self, sink: &mut PrimitiveSink<i32>, batch: impl FnMut(&[i32])) {
        let mut decoder = RleDecoder::new(self.bytes.as_slice(), self.len, self.width).expect("a width");
        in_batches(self.len, sink, |n, sink| _ = decoder.read(n, sink).expect("as many ids"), batch);
    }

    /// All ids.
    fn race(self) -> Result<Race, String> {
        let bytes = Bytes::from(self.bytes.clone());
        let (width, len) = (self.width, self.len);
        let read_rival = move |out: &mut [i32], batch: &mut dyn FnMut(&[i32])| {
            let mut decoder = RivalRle::new(width);
            decoder.set_data(bytes.clone()).expect("a run");
            in_slices(len, out, |out| _ = decoder.get_batch(out).expect("as many ids"), batch);
        };
        let (mut sink, mut out) = (PrimitiveSink::new(), vec![0i32; BATCH]);
        let (mut ours, mut rival) = (Vec::new(), Vec::new());
        self.read_ours(&mut sink, |batch| ours.extend_from_slice(batch));
        read_rival(&mut out, &mut |batch| rival.extend_from_slice(batch));
        same(&ours, &rival)?;
        Ok(Race {
            ours: Box::new(move || self.read_ours(&mut sink, |batch| _ = black_box(batch))),
            rival: Box::new(move || read_rival(&mut out, &mut |batch| _ = black_box(batch))),
            per_run: Work::Values(len),
        })
    }
}

/// Calls `read` for each batch of `len` values, and hands the batch on.
fn in_batches<T: FixedWidth>(
    len: usize,
    sink: &mut PrimitiveSink<T>,
    mut read: impl FnMut(usize, &mut PrimitiveSink<T>),
    mut batch: impl FnMut(&[T]),
) {
    for first in (0..len).step_by(BATCH) {
        sink.as_mut_vec().clear();
        read(BATCH.min(len - first), sink);
        batch(sink.as_slice());
    }
}

/// As [`in_batches`], into a slice.
fn in_slices<T>(len: usize, out: &mut [T], mut read: impl FnMut(&mut [T]), batch: &mut dyn FnMut(&[T])) {
    for first in (0..len).step_by(BATCH) {
        let out = &mut out[..BATCH.min(len - first)];
        read(out);
        batch(out);
    }
}

fn unpack(width: u8) -> Row {
    let goal = match width {
        1 | 2 | 4 => 3.5,
        8 => 3.2,
        12 => 4.5,
        20 => 5.0,
        _ => 1.3,
    };
    Row::new(format!("decoder/rle/packed/width{width}"), goal, move || Ids::packed(width).race())
}

fn runs() -> Vec<Row> {
    vec![
        Row::new("decoder/rle/runs-of-16/width4", 3.0, || Ids::mixed(4, 16, 0).race()),
        Row::new("decoder/rle/runs-of-1000/width4", 1.0, || Ids::mixed(4, 1000, 0).race()),
        Row::new("decoder/rle/mixed/width4", 2.5, || Ids::mixed(4, 24, 48).race()),
    ]
}

fn single(width: u8) -> Row {
    Row::new(format!("decoder/rle/next/width{width}"), 2.0, move || {
        let ids = Ids::packed(width);
        let sum_ours = |ids: &Ids| {
            let mut decoder = RleDecoder::new(ids.bytes.as_slice(), ids.len, ids.width).expect("a width");
            let mut sum = 0u64;
            while let Some(id) = decoder.next_value().expect("as many ids") {
                sum += u64::from(id);
            }
            sum
        };
        let sum_rival = |bytes: &Bytes, width| {
            let mut decoder = RivalRle::new(width);
            decoder.set_data(bytes.clone()).expect("a run");
            let mut sum = 0u64;
            while let Some(id) = decoder.get::<i32>().expect("as many ids") {
                sum += u64::from(id.cast_unsigned());
            }
            sum
        };
        let bytes = Bytes::from(ids.bytes.clone());
        same(&[sum_ours(&ids)], &[sum_rival(&bytes, width)])?;
        Ok(Race {
            ours: Box::new(move || _ = black_box(sum_ours(black_box(&ids)))),
            rival: Box::new(move || _ = black_box(sum_rival(black_box(&bytes), width))),
            per_run: Work::Values(NUM_VALUES),
        })
    })
}

/// Skipping a packed run takes no time on either side: told a run, not a value.
fn skip(width: u8) -> Row {
    Row::new(format!("decoder/rle/skip/width{width}"), 1.0, move || {
        let ids = Ids::packed(width);
        let skip_ours = |ids: &Ids| {
            let mut decoder = RleDecoder::new(ids.bytes.as_slice(), ids.len, ids.width).expect("a width");
            decoder.skip(NUM_VALUES - 1).expect("as many ids");
            decoder.next_value().expect("one more")
        };
        let skip_rival = |bytes: &Bytes, width| {
            let mut decoder = RivalRle::new(width);
            decoder.set_data(bytes.clone()).expect("a run");
            decoder.skip(NUM_VALUES - 1).expect("as many ids");
            decoder.get::<i32>().expect("one more").map(i32::cast_unsigned)
        };
        let bytes = Bytes::from(ids.bytes.clone());
        same(&[skip_ours(&ids)], &[skip_rival(&bytes, width)])?;
        Ok(Race {
            ours: Box::new(move || _ = black_box(skip_ours(black_box(&ids)))),
            rival: Box::new(move || _ = black_box(skip_rival(black_box(&bytes), width))),
            per_run: Work::Whole,
        })
    })
}

fn dictionary(len: usize, goal: f64) -> Row {
    Row::new(format!("decoder/dictionary/i64/{len}"), goal, move || {
        let ids = Ids::packed(len.ilog2() as u8);
        let values: Vec<i64> = (0..len as i64).map(|id| id * 7 - 3).collect();
        let page = [&[ids.width], ids.bytes.as_slice()].concat();
        let read_ours =
            |page: &[u8], values: &[i64], sink: &mut PrimitiveSink<i64>, batch: &mut dyn FnMut(&[i64])| {
                let mut decoder = DictionaryDecoder::new(page, NUM_VALUES).expect("a width");
                let read = |n, sink: &mut _| _ = decoder.read_fixed(n, values, sink).expect("as many ids");
                in_batches(NUM_VALUES, sink, read, batch);
            };
        let width = ids.width;
        let read_rival =
            move |ids: &Bytes, values: &[i64], out: &mut [i64], batch: &mut dyn FnMut(&[i64])| {
                let mut decoder = RivalRle::new(width);
                decoder.set_data(ids.clone()).expect("a run");
                let read = |out: &mut [i64]| {
                    decoder.get_batch_with_dict(values, out, out.len()).expect("as many ids");
                };
                in_slices(NUM_VALUES, out, read, batch);
            };
        let bytes = Bytes::from(ids.bytes);
        let (mut sink, mut out) = (PrimitiveSink::new(), vec![0i64; BATCH]);
        let (mut ours, mut rival) = (Vec::new(), Vec::new());
        read_ours(&page, &values, &mut sink, &mut |batch| ours.extend_from_slice(batch));
        read_rival(&bytes, &values, &mut out, &mut |batch| rival.extend_from_slice(batch));
        same(&ours, &rival)?;
        let of_rival = values.clone();
        Ok(Race {
            ours: Box::new(move || read_ours(&page, &values, &mut sink, &mut |batch| _ = black_box(batch))),
            rival: Box::new(move || {
                read_rival(&bytes, &of_rival, &mut out, &mut |batch| _ = black_box(batch));
            }),
            per_run: Work::Values(NUM_VALUES),
        })
    })
}

/// What is asked of a decoder of numbers.
trait Ours<T: FixedWidth> {
    fn read_all(bytes: &[u8], sink: &mut PrimitiveSink<T>, batch: &mut dyn FnMut(&[T]));
}

macro_rules! ours {
    ($($decoder:ident: $($of:ty),*;)*) => {
        $($(impl Ours<$of> for $decoder<Vec<u8>, $of> {
            fn read_all(bytes: &[u8], sink: &mut PrimitiveSink<$of>, batch: &mut dyn FnMut(&[$of])) {
                let mut decoder = $decoder::<_, $of>::new(bytes, PAGE).expect("a page");
                let read = |n, sink: &mut _| _ = decoder.read(n, sink).expect("as many values");
                in_batches(PAGE, sink, read, batch);
            }
        })*)*
    };
}
ours! {
    DeltaBinaryPackedDecoder: i32, i64;
    ByteStreamSplitDecoder: i32, i64, f32, f64;
    AlpDecoder: f32, f64;
}

fn numbers() -> Vec<Row> {
    use Encoding::{ALP, BYTE_STREAM_SPLIT as BSS, DELTA_BINARY_PACKED as DELTA};
    type Delta<T> = DeltaBinaryPackedDecoder<Vec<u8>, T>;
    type Split<T> = ByteStreamSplitDecoder<Vec<u8>, T>;
    let mut at = 1_700_000_000_000_000;
    let timestamps = move |rng: &mut Rng, _| {
        at += rng.i64(..500_000);
        at
    };
    let price = |rng: &mut Rng, _| f64::from(rng.u32(..100_000)) / 100.0;
    vec![
        number::<Int64Type, Delta<i64>>("delta_binary_packed/i64/sequence", DELTA, 2.0, |_, i| i as i64),
        number::<Int64Type, Delta<i64>>("delta_binary_packed/i64/timestamps", DELTA, 2.0, timestamps),
        number::<Int64Type, Delta<i64>>("delta_binary_packed/i64/40-bit", DELTA, 2.0, |rng, _| {
            rng.i64(..1 << 40)
        }),
        number::<Int32Type, Delta<i32>>("delta_binary_packed/i32/sequence", DELTA, 2.0, |_, i| i as i32),
        number::<Int32Type, Delta<i32>>("delta_binary_packed/i32/20-bit", DELTA, 2.0, |rng, _| {
            rng.i32(..1 << 20)
        }),
        number::<Int32Type, Delta<i32>>("delta_binary_packed/i32/7-bit", DELTA, 2.0, |rng, _| {
            rng.i32(..1 << 7)
        }),
        number::<DoubleType, Split<f64>>("byte_stream_split/f64", BSS, 6.0, |rng, _| rng.f64()),
        number::<FloatType, Split<f32>>("byte_stream_split/f32", BSS, 6.0, |rng, _| rng.f32()),
        number::<Int64Type, Split<i64>>("byte_stream_split/i64", BSS, 6.0, |rng, _| rng.i64(..)),
        number::<Int32Type, Split<i32>>("byte_stream_split/i32", BSS, 6.0, |rng, _| rng.i32(..)),
        number::<DoubleType, AlpDecoder<Vec<u8>, f64>>("alp/f64", ALP, 1.5, price),
        number::<FloatType, AlpDecoder<Vec<u8>, f32>>("alp/f32", ALP, 1.5, move |rng, i| {
            price(rng, i) as f32
        }),
    ]
}

/// Numbers that the rival encodes.
fn number<D: DataType, O: Ours<D::T> + 'static>(
    name: &str,
    encoding: Encoding,
    goal: f64,
    value: impl FnMut(&mut Rng, usize) -> D::T + Clone + 'static,
) -> Row
where
    D::T: FixedWidth,
{
    Row::new(format!("decoder/{name}"), goal, move || {
        let (mut rng, mut value) = (Rng::with_seed(5), value.clone());
        let values: Vec<D::T> = (0..PAGE).map(|i| value(&mut rng, i)).collect();
        let descriptor = descriptor::<D>();
        let mut encoder = get_encoder::<D>(encoding, &descriptor).map_err(|e| e.to_string())?;
        encoder.put(&values).map_err(|e| e.to_string())?;
        let bytes = encoder.flush_buffer().map_err(|e| e.to_string())?;
        let read_rival = move |bytes: &Bytes,
                               descriptor: &ColumnDescPtr,
                               out: &mut [D::T],
                               batch: &mut dyn FnMut(&[D::T])| {
            let mut decoder: Box<dyn Decoder<D>> = get_decoder(descriptor.clone(), encoding).expect("has it");
            decoder.set_data(bytes.clone(), PAGE).expect("a page");
            in_slices(PAGE, out, |out| _ = decoder.get(out).expect("as many values"), batch);
        };
        let (mut sink, mut out) = (PrimitiveSink::new(), vec![D::T::default(); BATCH]);
        let (mut ours, mut rival) = (Vec::new(), Vec::new());
        O::read_all(&bytes, &mut sink, &mut |batch| ours.extend_from_slice(batch));
        read_rival(&bytes, &descriptor, &mut out, &mut |batch| rival.extend_from_slice(batch));
        same(&ours, &values)?;
        same(&rival, &values)?;
        let of_rival = bytes.clone();
        Ok(Race {
            ours: Box::new(move || O::read_all(&bytes, &mut sink, &mut |batch| _ = black_box(batch))),
            rival: Box::new(move || {
                read_rival(&of_rival, &descriptor, &mut out, &mut |batch| _ = black_box(batch));
            }),
            per_run: Work::Values(PAGE),
        })
    })
}

fn descriptor<D: DataType>() -> ColumnDescPtr {
    let leaf = Type::primitive_type_builder("column", D::get_physical_type()).build().expect("a leaf");
    Arc::new(ColumnDescriptor::new(Arc::new(leaf), 0, 0, ColumnPath::new(vec![])))
}

fn same<T: PartialEq + std::fmt::Debug>(ours: &[T], rival: &[T]) -> Result<(), String> {
    if ours.len() != rival.len() {
        return Err(format!("{} values instead of {}", ours.len(), rival.len()));
    }
    match ours.iter().zip(rival).enumerate().find(|(_, (ours, rival))| ours != rival) {
        Some((i, (ours, rival))) => Err(format!("value {i} is {ours:?} instead of {rival:?}")),
        None => Ok(()),
    }
}

fn varint(mut n: usize) -> Vec<u8> {
    let mut bytes = vec![];
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}
