//! Every decoder, on any bytes, with any count, width and order of reads and skips.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use marquetry::arrow::buffer::Buffer;
use marquetry::encoding::*;
use marquetry::sink::*;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    decoder: u8,
    width: u8,
    num_values: u16,
    steps: [(bool, u8); 6],
    bytes: &'a [u8],
}

/// Reads and skips as `input` says, and whether a decoder counts right.
macro_rules! drive {
    ($input:ident, $decoder:expr, $read:expr) => {{
        let Ok(mut decoder) = $decoder else { return };
        let total = usize::from($input.num_values);
        let mut done = 0;
        for (skip, n) in $input.steps {
            let n = usize::from(n).min(total - done);
            let result = if skip { decoder.skip(n).map(|()| n) } else { $read(&mut decoder, n) };
            let Ok(got) = result else { return };
            assert!(got <= n);
            done += got;
            assert_eq!((decoder.position(), decoder.remaining()), (done, total - done));
        }
    }};
}

macro_rules! fixed {
    ($input:ident, $decoder:expr, $type:ty) => {{
        let mut sink = PrimitiveSink::<$type>::new();
        drive!($input, $decoder, |decoder: &mut _, n| read_fixed(decoder, n, &mut sink))
    }};
}

macro_rules! bytes {
    ($input:ident, $decoder:expr, $width:expr) => {{
        match $input.width % 4 {
            0 => {
                let mut sink = BytesSink::<i32>::new();
                drive!($input, $decoder, |decoder: &mut _, n| read_bytes(decoder, n, &mut sink));
                let _ = sink.finish_utf8(None).map(|array| valid(&array));
            }
            1 => {
                let mut sink = BytesSink::<i64>::new();
                drive!($input, $decoder, |decoder: &mut _, n| read_bytes(decoder, n, &mut sink));
                let _ = sink.finish_binary(None).map(|array| valid(&array));
            }
            2 => {
                let mut sink = ViewSink::new();
                drive!($input, $decoder, |decoder: &mut _, n| read_bytes(decoder, n, &mut sink));
                let _ = sink.finish_utf8(None).map(|array| valid(&array));
            }
            _ => {
                let mut sink = FixedBytesSink::new($width);
                drive!($input, $decoder, |decoder: &mut _, n| read_bytes(decoder, n, &mut sink));
                let _ = sink.finish(None).map(|array| valid(&array));
            }
        }
    }};
}

fn valid(array: &dyn marquetry::arrow::array::Array) {
    array.to_data().validate_full().expect("a valid array");
}

trait ReadFixed<T> {
    fn read_fixed(&mut self, n: usize, sink: &mut PrimitiveSink<T>) -> marquetry::Result<usize>;
}

trait ReadBytes {
    fn read_bytes<S: ByteSink>(&mut self, n: usize, sink: &mut S) -> marquetry::Result<usize>;
}

fn read_fixed<T, D: ReadFixed<T>>(
    d: &mut D,
    n: usize,
    sink: &mut PrimitiveSink<T>,
) -> marquetry::Result<usize> {
    d.read_fixed(n, sink)
}

fn read_bytes<S: ByteSink, D: ReadBytes>(d: &mut D, n: usize, sink: &mut S) -> marquetry::Result<usize> {
    d.read_bytes(n, sink)
}

macro_rules! impl_fixed {
    ($($decoder:ty => $type:ty),* $(,)?) => {$(
        impl ReadFixed<$type> for $decoder {
            fn read_fixed(&mut self, n: usize, sink: &mut PrimitiveSink<$type>) -> marquetry::Result<usize> {
                self.read(n, sink)
            }
        }
    )*};
}
impl_fixed!(
    PlainDecoder<Buffer, i32> => i32,
    PlainDecoder<Buffer, i64> => i64,
    PlainDecoder<Buffer, Int96> => Int96,
    RleDecoder<Buffer> => i32,
    DeltaBinaryPackedDecoder<Buffer, i32> => i32,
    DeltaBinaryPackedDecoder<Buffer, i64> => i64,
    ByteStreamSplitDecoder<Buffer, f32> => f32,
    ByteStreamSplitDecoder<Buffer, f64> => f64,
    AlpDecoder<Buffer, f32> => f32,
    AlpDecoder<Buffer, f64> => f64,
);

macro_rules! impl_bytes {
    ($($decoder:ty),* $(,)?) => {$(
        impl ReadBytes for $decoder {
            fn read_bytes<S: ByteSink>(&mut self, n: usize, sink: &mut S) -> marquetry::Result<usize> {
                self.read(n, sink)
            }
        }
    )*};
}
impl_bytes!(
    PlainBytesDecoder<Buffer>,
    PlainFixedBytesDecoder<Buffer>,
    DeltaLengthByteArrayDecoder<Buffer>,
    DeltaByteArrayDecoder<Buffer>,
    ByteStreamSplitBytesDecoder<Buffer>,
);

fuzz_target!(|input: Input<'_>| {
    // At an odd place, so that nothing is aligned by chance.
    let bytes = Buffer::from_vec([&[0; 3], input.bytes].concat()).slice(3);
    let (n, width) = (usize::from(input.num_values), usize::from(input.width) % 40);
    match input.decoder % 19 {
        0 => fixed!(input, PlainDecoder::<_, i32>::new(bytes, n), i32),
        1 => fixed!(input, PlainDecoder::<_, i64>::new(bytes, n), i64),
        2 => fixed!(input, PlainDecoder::<_, Int96>::new(bytes, n), Int96),
        3 | 4 => fixed!(input, RleDecoder::new(bytes, n, width as u8), i32),
        5 => fixed!(input, DeltaBinaryPackedDecoder::<_, i32>::new(bytes, n), i32),
        6 => fixed!(input, DeltaBinaryPackedDecoder::<_, i64>::new(bytes, n), i64),
        7 => fixed!(input, ByteStreamSplitDecoder::<_, f32>::new(bytes, n), f32),
        8 => fixed!(input, ByteStreamSplitDecoder::<_, f64>::new(bytes, n), f64),
        9 => fixed!(input, AlpDecoder::<_, f32>::new(bytes, n), f32),
        10 => fixed!(input, AlpDecoder::<_, f64>::new(bytes, n), f64),
        11 => bytes!(input, PlainBytesDecoder::new(bytes.clone(), n), width),
        12 => bytes!(input, PlainFixedBytesDecoder::new(bytes.clone(), n, width), width),
        13 => bytes!(input, DeltaLengthByteArrayDecoder::new(bytes.clone(), n), width),
        14 => bytes!(input, DeltaByteArrayDecoder::new(bytes.clone(), n, None), width),
        15 => bytes!(input, DeltaByteArrayDecoder::new(bytes.clone(), n, Some(width)), width),
        16 => bytes!(input, ByteStreamSplitBytesDecoder::new(bytes.clone(), n, width), width),
        17 => dictionary(&input, bytes),
        _ => booleans(&input, bytes),
    }
});

fn dictionary(input: &Input<'_>, bytes: Buffer) {
    let len = usize::from(input.width);
    let numbers: Vec<i64> = (0..len as i64).collect();
    let texts: Vec<u8> =
        (0..len).flat_map(|i| [&[3, 0, 0, 0], &format!("{i:03}").into_bytes()[..]].concat()).collect();
    let texts = plain_byte_dictionary(&Buffer::from_vec(texts), len).expect("a dictionary");
    let (mut keys, mut values) = (PrimitiveSink::<i32>::new(), PrimitiveSink::<i64>::new());
    let (mut bytes_sink, mut views) = (BytesSink::<i32>::new(), ViewSink::new());
    for kind in 0..4 {
        drive!(
            input,
            DictionaryDecoder::new(bytes.clone(), input.num_values.into()),
            |d: &mut DictionaryDecoder<Buffer>, n| {
                match kind {
                    0 => d.read_keys(n, len, &mut keys),
                    1 => d.read_fixed(n, &numbers, &mut values),
                    2 => d.read_bytes(n, &texts, &mut bytes_sink),
                    _ => d.read_bytes(n, &texts, &mut views),
                }
            }
        );
    }
    assert!(keys.as_slice().iter().all(|&key| (key as usize) < len));
}

fn booleans(input: &Input<'_>, bytes: Buffer) {
    let mut sink = BooleanSink::new();
    let plain = PlainBooleanDecoder::new(bytes.clone(), input.num_values.into());
    drive!(input, plain, |d: &mut PlainBooleanDecoder<Buffer>, n| d.read(n, &mut sink));
    let (mut bits, mut levels) = (Bitmap::new(), Vec::new());
    let packed = RleDecoder::new(bytes.clone(), input.num_values.into(), 1);
    drive!(input, packed, |d: &mut RleDecoder<Buffer>, n| d.read_bits(n, &mut bits));
    let old = BitPackedDecoder::new(bytes, input.num_values.into(), input.width % 9);
    drive!(input, old, |d: &mut BitPackedDecoder<Buffer>, n| d.next_run(n, &mut levels).map(
        |run| match run {
            LevelRun::Constant { len, .. } | LevelRun::Packed { len } => len,
        }
    ));
}
