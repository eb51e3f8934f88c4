//! One table of processor time: the bare encoders, ours against the rival's, on the same values.
//!
//! `encoders [--rows N] [--runs N] [--batch N] [FILTER ...]`, as `encode` has them. A row is the column, our million values
//! a second, the rival's, and how many times faster we are; medians of interleaved runs on one thread. Pages end at
//! 1 MiB, and the rival's own decoder reads what both wrote first. The rival is given values in its own form, made
//! before the clock runs; ours takes the Arrow array as it is.

use std::env;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;

use bytes::Bytes;
use cpu_time::ThreadTime;

use marquetry::encoding::byte_strings::{ByteStrings, OffsetBytes};
use marquetry::encoding::{
    ByteDictionaryEncoder, ByteStreamSplitEncoder, DeltaBinaryPackedEncoder, DeltaByteArrayEncoder, DeltaInt,
    DeltaLengthByteArrayEncoder, DictionaryEncoder, DictionaryValue, PlainBytesEncoder, PlainEncoder,
    RleEncoder,
};
use marquetry::metadata::Encoding;
use marquetry::sink::FixedWidth;
use marquetry_versus::arrow::array::cast::AsArray;
use marquetry_versus::arrow::array::types::{Float32Type, Float64Type, Int32Type, Int64Type};
use marquetry_versus::arrow::array::{Array, OffsetSizeTrait};
use marquetry_versus::arrow::schema::DataType as ArrowType;
use marquetry_versus::columns::{Column, columns};
use marquetry_versus::rival::basic::{Encoding as RivalEncoding, Type as Physical};
use marquetry_versus::rival::data_type::{self as rival, ByteArray, DataType};
use marquetry_versus::rival::encodings::decoding::get_decoder;
use marquetry_versus::rival::encodings::encoding::{DictEncoder, Encoder, get_encoder};
use marquetry_versus::rival::schema::types::{ColumnDescPtr, ColumnDescriptor, ColumnPath, Type};

type Failure = Box<dyn std::error::Error>;

/// Bytes of a page.
const PAGE: usize = 1 << 20;

struct Options {
    rows: usize,
    runs: usize,
    batch: usize,
    filters: Vec<String>,
}

/// Pages with the number of values of each.
#[derive(Default)]
struct Written {
    pages: Vec<(Vec<u8>, usize)>,
    num_pages: usize,
}

impl Written {
    fn clear(&mut self) {
        self.num_pages = 0;
    }

    /// The memory of the next page, which is used again.
    fn next(&mut self, num_values: usize) -> &mut Vec<u8> {
        if self.num_pages == self.pages.len() {
            self.pages.push((vec![], 0));
        }
        let (page, count) = &mut self.pages[self.num_pages];
        page.clear();
        *count = num_values;
        self.num_pages += 1;
        page
    }
}

/// An encoder of ours with the values that it is to take.
trait Ours {
    fn put(&mut self, start: usize, len: usize);
    fn num_values(&self) -> usize;
    fn estimated_size(&self) -> usize;
    fn flush(&mut self, out: &mut Vec<u8>);
}

struct Over<E, V>(E, V);

macro_rules! ours {
    ($($encoder:ident),* of slices) => {$(
        impl<T: FixedWidth> Ours for Over<$encoder, &[T]> {
            fn put(&mut self, start: usize, len: usize) {
                self.0.put(&self.1[start..self.1.len().min(start + len)]);
            }
            ours!(@rest);
        }
    )*};
    ($($encoder:ident),* of strings) => {$(
        impl<O: OffsetSizeTrait> Ours for Over<$encoder, OffsetBytes<'_, O>> {
            fn put(&mut self, start: usize, len: usize) {
                self.0.put(self.1.slice(start, len));
            }
            ours!(@rest);
        }
    )*};
    (@rest) => {
        fn num_values(&self) -> usize {
            self.0.num_values()
        }
        fn estimated_size(&self) -> usize {
            self.0.estimated_size()
        }
        fn flush(&mut self, out: &mut Vec<u8>) {
            self.0.flush(out);
        }
    };
}

ours!(PlainEncoder, ByteStreamSplitEncoder of slices);
ours!(PlainBytesEncoder, DeltaLengthByteArrayEncoder, DeltaByteArrayEncoder of strings);

impl<T: DeltaInt> Ours for Over<DeltaBinaryPackedEncoder<T>, &[T]> {
    fn put(&mut self, start: usize, len: usize) {
        self.0.put(&self.1[start..self.1.len().min(start + len)]);
    }
    ours!(@rest);
}

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(options) => options,
        Err(text) => {
            eprintln!("encoders: {text}");
            return ExitCode::FAILURE;
        }
    };
    println!("{:<40} {:>8} {:>8} {:>6}", "column", "ours M/s", "rival", "ratio");
    let mut wrong = 0;
    for column in columns(options.rows, |name| options.wants(name) && !name.starts_with("sequence")) {
        if let Err(failure) = options.row(&column) {
            println!("{:<40} {failure}", column.name);
            wrong += 1;
        }
    }
    if wrong > 0 {
        eprintln!("encoders: {wrong} columns not measured");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

impl Options {
    fn row(&self, column: &Column) -> Result<(), Failure> {
        let array = &column.array;
        match array.data_type() {
            ArrowType::Int32 => {
                let values: &[i32] = array.as_primitive::<Int32Type>().values();
                match column.encoding {
                    Some(encoding) => {
                        let ours = Over(DeltaBinaryPackedEncoder::new(), values);
                        self.pages::<rival::Int32Type>(column, encoding, ours, values)
                    }
                    None => self.numbers::<rival::Int32Type>(column, values),
                }
            }
            ArrowType::Int64 => {
                let values: &[i64] = array.as_primitive::<Int64Type>().values();
                match column.encoding {
                    Some(encoding) => {
                        let ours = Over(DeltaBinaryPackedEncoder::new(), values);
                        self.pages::<rival::Int64Type>(column, encoding, ours, values)
                    }
                    None => self.numbers::<rival::Int64Type>(column, values),
                }
            }
            ArrowType::Float32 => {
                let values: &[f32] = array.as_primitive::<Float32Type>().values();
                let ours = Over(ByteStreamSplitEncoder::new(4), values);
                self.pages::<rival::FloatType>(column, Encoding::ByteStreamSplit, ours, values)
            }
            ArrowType::Float64 => {
                let values: &[f64] = array.as_primitive::<Float64Type>().values();
                match column.encoding {
                    Some(Encoding::ByteStreamSplit) => {
                        let ours = Over(ByteStreamSplitEncoder::new(8), values);
                        self.pages::<rival::DoubleType>(column, Encoding::ByteStreamSplit, ours, values)
                    }
                    _ => {
                        let ours = Over(PlainEncoder::new(), values);
                        self.pages::<rival::DoubleType>(column, Encoding::Plain, ours, values)
                    }
                }
            }
            ArrowType::Binary => self.strings(column, OffsetBytes::of(array.as_binary::<i32>())),
            ArrowType::Utf8 => self.strings(column, OffsetBytes::of(array.as_string::<i32>())),
            other => Err(format!("no encoder is measured for {other}").into()),
        }
    }

    fn strings(&self, column: &Column, strings: OffsetBytes<'_, i32>) -> Result<(), Failure> {
        // As the rival's own readers give them: parts of one buffer.
        let all = Bytes::copy_from_slice(strings.contiguous().ok_or("contiguous")?);
        let ends = strings.offsets();
        let first = ends[0];
        let part = |pair: &[i32]| all.slice((pair[0] - first) as usize..(pair[1] - first) as usize);
        let values: Vec<ByteArray> = ends.windows(2).map(|pair| ByteArray::from(part(pair))).collect();
        match column.encoding {
            Some(encoding @ Encoding::DeltaByteArray) => {
                let ours = Over(DeltaByteArrayEncoder::new(), strings);
                self.pages::<rival::ByteArrayType>(column, encoding, ours, &values)
            }
            Some(encoding @ Encoding::DeltaLengthByteArray) => {
                let ours = Over(DeltaLengthByteArrayEncoder::new(), strings);
                self.pages::<rival::ByteArrayType>(column, encoding, ours, &values)
            }
            Some(encoding) => {
                let ours = Over(PlainBytesEncoder::new(), strings);
                self.pages::<rival::ByteArrayType>(column, encoding, ours, &values)
            }
            None => {
                let mut encoder = ByteDictionaryEncoder::new();
                let ours = |start, len, ids: &mut Vec<u32>| {
                    if start == 0 {
                        encoder.clear();
                    }
                    encoder.insert_all(strings.slice(start, len), ids);
                    encoder.num_values()
                };
                self.ids::<rival::ByteArrayType>(column, &values, ours)
            }
        }
    }

    fn numbers<T: DataType>(&self, column: &Column, values: &[T::T]) -> Result<(), Failure>
    where
        T::T: DictionaryValue,
    {
        let mut encoder = DictionaryEncoder::new();
        let ours = |start: usize, len: usize, ids: &mut Vec<u32>| {
            if start == 0 {
                encoder.clear();
            }
            encoder.insert_all(&values[start..values.len().min(start + len)], ids);
            encoder.num_values()
        };
        self.ids::<T>(column, values, ours)
    }

    /// Pages of one encoding.
    fn pages<T: DataType>(
        &self,
        column: &Column,
        encoding: Encoding,
        mut ours: impl Ours,
        values: &[T::T],
    ) -> Result<(), Failure> {
        let (descriptor, encoding) = (descriptor::<T>()?, name(encoding));
        let mut theirs = get_encoder::<T>(encoding, &descriptor)?;
        let (mut written, mut rival) = (Written::default(), vec![]);
        let mut our_run = || -> Result<(), Failure> {
            written.clear();
            for start in (0..values.len()).step_by(self.batch) {
                ours.put(start, self.batch);
                if ours.estimated_size() > PAGE {
                    let page = written.next(ours.num_values());
                    ours.flush(page);
                }
            }
            let page = written.next(ours.num_values());
            ours.flush(page);
            Ok(())
        };
        let mut their_run = || -> Result<(), Failure> {
            rival.clear();
            let mut num_values = 0;
            for some in values.chunks(self.batch) {
                theirs.put(some)?;
                num_values += some.len();
                if theirs.estimated_data_encoded_size() > PAGE {
                    rival.push((theirs.flush_buffer()?, num_values));
                    num_values = 0;
                }
            }
            rival.push((theirs.flush_buffer()?, num_values));
            Ok(())
        };
        let [a, b] = self.measure(&mut our_run, &mut their_run)?;
        let ours = written.pages.iter().take(written.num_pages);
        let ours = ours.map(|(page, n)| (Bytes::copy_from_slice(page), *n));
        check::<T>(ours, encoding, &descriptor, values).map_err(|e| format!("ours: {e}"))?;
        check::<T>(rival.into_iter(), encoding, &descriptor, values).map_err(|e| format!("theirs: {e}"))?;
        self.print(column, a, b);
        Ok(())
    }

    /// A dictionary, and ids of eight batches a page.
    fn ids<T: DataType>(
        &self,
        column: &Column,
        values: &[T::T],
        mut insert: impl FnMut(usize, usize, &mut Vec<u32>) -> usize,
    ) -> Result<(), Failure> {
        let descriptor = descriptor::<T>()?;
        let (mut rle, mut page, mut ids, mut all) = (RleEncoder::new(0), vec![], vec![], vec![]);
        let rows_a_page = 8 * self.batch;
        let mut our_run = || -> Result<(), Failure> {
            all.clear();
            for start in (0..values.len()).step_by(self.batch) {
                let num_distinct = insert(start, self.batch, &mut ids);
                let is_last = start + self.batch >= values.len();
                if ids.len() >= rows_a_page || is_last {
                    page.clear();
                    rle.reset((usize::BITS - (num_distinct - 1).leading_zeros()) as u8);
                    page.push(rle.bit_width());
                    rle.put(&ids);
                    rle.flush(&mut page);
                    black_box(&page);
                    all.append(&mut ids);
                }
            }
            Ok(())
        };
        let mut their_run = || -> Result<(), Failure> {
            let mut theirs = DictEncoder::<T>::new(descriptor.clone());
            for page in values.chunks(rows_a_page) {
                for some in page.chunks(self.batch) {
                    theirs.put(some)?;
                }
                black_box(theirs.write_indices()?);
            }
            Ok(())
        };
        let [a, b] = self.measure(&mut our_run, &mut their_run)?;
        // The first value of each id, by which all others of it are known.
        let mut firsts: Vec<&T::T> = vec![];
        for (id, value) in all.iter().zip(values) {
            if *id as usize == firsts.len() {
                firsts.push(value);
            }
            if firsts.get(*id as usize).is_none_or(|first| *first != value) {
                return Err(format!("id {id} stands for two values").into());
            }
        }
        self.print(column, a, b);
        Ok(())
    }

    /// Median seconds of both.
    fn measure(
        &self,
        ours: &mut dyn FnMut() -> Result<(), Failure>,
        theirs: &mut dyn FnMut() -> Result<(), Failure>,
    ) -> Result<[f64; 2], Failure> {
        let mut times = [const { Vec::new() }; 2];
        for run in 0..=self.runs {
            for (which, times) in times.iter_mut().enumerate() {
                let start = ThreadTime::now();
                if which == 0 {
                    ours()?
                } else {
                    theirs()?
                };
                // The first run warms the caches.
                if run > 0 {
                    times.push(start.elapsed());
                }
            }
        }
        Ok(times.map(|mut times| {
            times.sort();
            times[times.len() / 2].as_secs_f64()
        }))
    }

    fn print(&self, column: &Column, ours: f64, theirs: f64) {
        let rate = |seconds: f64| column.array.len() as f64 / seconds / 1e6;
        println!("{:<40} {:>8.1} {:>8.1} {:>6.2}", column.name, rate(ours), rate(theirs), theirs / ours);
    }

    fn parse() -> Result<Self, String> {
        let mut options = Self { rows: 1 << 20, runs: 9, batch: 8192, filters: Vec::new() };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let number = match word.as_str() {
                "--rows" => &mut options.rows,
                "--runs" => &mut options.runs,
                "--batch" => &mut options.batch,
                _ if word.starts_with('-') => return Err(format!("unknown option {word}")),
                _ => {
                    options.filters.push(word);
                    continue;
                }
            };
            let value = words.next().and_then(|value| value.parse().ok()).filter(|value| *value > 0);
            *number = value.ok_or(format!("{word} takes a number above zero"))?;
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter))
    }
}

/// Whether the rival's decoder finds the very values in pages.
fn check<T: DataType>(
    pages: impl Iterator<Item = (Bytes, usize)>,
    encoding: RivalEncoding,
    descriptor: &ColumnDescPtr,
    values: &[T::T],
) -> Result<(), Failure> {
    let mut rest = values;
    for (page, num_values) in pages {
        let mut decoder = get_decoder::<T>(descriptor.clone(), encoding)?;
        decoder.set_data(page, num_values)?;
        let mut read = vec![T::T::default(); num_values];
        let count = decoder.get(&mut read)?;
        let (expected, after) = rest.split_at_checked(num_values).ok_or("more values")?;
        if count != num_values || read != expected {
            return Err("other values".into());
        }
        rest = after;
    }
    if rest.is_empty() { Ok(()) } else { Err("fewer values".into()) }
}

fn descriptor<T: DataType>() -> Result<ColumnDescPtr, Failure> {
    let physical: Physical = T::get_physical_type();
    let leaf = Type::primitive_type_builder("x", physical).build()?;
    Ok(Arc::new(ColumnDescriptor::new(Arc::new(leaf), 0, 0, ColumnPath::new(vec![]))))
}

fn name(encoding: Encoding) -> RivalEncoding {
    match encoding {
        Encoding::DeltaByteArray => RivalEncoding::DELTA_BYTE_ARRAY,
        Encoding::DeltaLengthByteArray => RivalEncoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DeltaBinaryPacked => RivalEncoding::DELTA_BINARY_PACKED,
        Encoding::ByteStreamSplit => RivalEncoding::BYTE_STREAM_SPLIT,
        _ => RivalEncoding::PLAIN,
    }
}
