//! Pages of one column, in memory and decompressed, to arrays in batches of 8192: our `ColumnDecoder` beside the
//! array readers that the rival opens under its feature `experimental`.

use std::hint::black_box;
use std::sync::Arc;

use bytes::Bytes;
use fastrand::Rng;

use super::{Race, Row, Work};
use crate::arrays::Nulls;
use crate::arrow::array::{Array, ArrayRef};
use crate::arrow::buffer::Buffer;
use crate::arrow::schema::{DataType, Field};
use crate::arrow::select::concat::concat;
use crate::cases::Kind;
use crate::layout::{Encodings, Layout, table_of};
use crate::rival::arrow::array_reader::{
    ArrayReader, PrimitiveArrayReader, make_byte_array_dictionary_reader, make_byte_array_reader,
    make_byte_view_array_reader, make_fixed_len_byte_array_reader,
};
use crate::rival::basic::{Encoding, Type};
use crate::rival::column::page::{Page as RivalPage, PageIterator, PageMetadata, PageReader};
use crate::rival::data_type::{BoolType, DoubleType, FloatType, Int32Type, Int64Type};
use crate::rival::errors::ParquetError;
use crate::rival::file::reader::{FileReader, SerializedFileReader};
use crate::rival::schema::types::ColumnDescPtr;
use marquetry::page::Page;
use marquetry::{ColumnDecoder, ColumnDescriptor, ParquetFile};

const NUM_VALUES: usize = 1 << 20;
const BATCH: usize = 8192;

/// What a row's pages hold.
#[derive(Clone)]
struct Column {
    kind: Kind,
    nulls: Nulls,
    encoding: Option<Encoding>,
    /// Values a page.
    page: usize,
    /// How often the chunk's data pages are read, so that small ones last.
    times: usize,
    /// The array's type, where it is not the file's own.
    output: Option<DataType>,
}

pub(super) fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    plain_bytes(&mut rows);
    dictionary_bytes(&mut rows);
    deltas(&mut rows);
    optional(&mut rows);
    booleans(&mut rows);
    rows
}

impl Column {
    fn new(kind: Kind, encoding: Encoding) -> Self {
        Column { kind, nulls: Nulls::None, encoding: Some(encoding), page: 20_000, times: 1, output: None }
    }

    fn dictionary(kind: Kind) -> Self {
        Column { encoding: None, ..Self::new(kind, Encoding::PLAIN) }
    }

    fn page_of(self, page: usize) -> Self {
        Column { page, ..self }
    }

    /// One page, read again and again: it stays in the cache.
    fn one_page_of(self, page: usize) -> Self {
        Column { page, times: NUM_VALUES / page / 8, ..self }
    }

    fn as_type(self, output: DataType) -> Self {
        Column { output: Some(output), ..self }
    }

    fn with(self, nulls: Nulls) -> Self {
        Column { nulls, ..self }
    }

    fn row(self, name: impl std::fmt::Display, goal: f64) -> Row {
        Row::new(format!("pages/{name}"), goal, move || Sides::new(&self)?.race())
    }
}

fn plain_bytes(rows: &mut Vec<Row>) {
    let plain = |kind| Column::new(kind, Encoding::PLAIN);
    let million = |kind| plain(kind).page_of(NUM_VALUES);
    for (len, goal) in [(16, 4.5), (64, 2.4), (256, 1.2)] {
        let column = plain(Kind::Text(len)).one_page_of(8192);
        rows.push(column.as_type(DataType::Binary).row(format!("plain/binary/8192x{len}"), goal));
    }
    let binary = |kind, name: &str, goal| {
        million(kind).as_type(DataType::Binary).row(format!("plain/binary/{name}"), goal)
    };
    rows.push(binary(Kind::Text(16), "1Mx16", 2.7));
    rows.push(binary(Kind::Utf8, "1M-of-8-to-40", 3.0));
    rows.push(binary(Kind::Urls, "1M-urls", 2.2));
    for (len, goal) in [(16, 2.5), (64, 2.0), (256, 1.5)] {
        rows.push(plain(Kind::Text(len)).one_page_of(8192).row(format!("plain/utf8/8192x{len}"), goal));
    }
    rows.push(million(Kind::Utf8).row("plain/utf8/1M-of-8-to-40", 1.0));
    for len in [16, 64, 256] {
        let column = plain(Kind::Text(len)).one_page_of(8192);
        rows.push(column.as_type(DataType::BinaryView).row(format!("plain/binary_view/8192x{len}"), 1.5));
    }
    rows.push(million(Kind::Utf8).as_type(DataType::BinaryView).row("plain/binary_view/1M-of-8-to-40", 1.5));
    rows.push(million(Kind::Utf8).as_type(DataType::Utf8View).row("plain/utf8_view/1M-of-8-to-40", 1.0));
}

fn dictionary_bytes(rows: &mut Vec<Row>) {
    let keyed = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    for (distinct, goal) in [(256, 2.6), (4096, 1.6), (65536, 1.6)] {
        let column = || Column::dictionary(Kind::Distinct("text16", distinct));
        let mut add = |output: &DataType, name: &str, goal| {
            rows.push(
                column().as_type(output.clone()).row(format!("dictionary/{name}/16-bytes/{distinct}"), goal),
            );
        };
        add(&DataType::Binary, "binary", goal);
        add(&DataType::Utf8, "utf8", goal);
        add(&keyed, "dict", 3.0);
        add(&DataType::BinaryView, "binary_view", 2.0);
    }
}

fn deltas(rows: &mut Vec<Row>) {
    for (kind, name) in [(Kind::Urls, "urls"), (Kind::Utf8, "8-to-40")] {
        let front = Column::new(kind, Encoding::DELTA_BYTE_ARRAY).as_type(DataType::Binary);
        rows.push(front.row(format!("delta_byte_array/binary/{name}"), 3.0));
        let lengths = || Column::new(kind, Encoding::DELTA_LENGTH_BYTE_ARRAY);
        let name = |output: &str| format!("delta_length_byte_array/{output}/{name}");
        rows.push(lengths().as_type(DataType::Binary).row(name("binary"), 2.0));
        rows.push(lengths().row(name("utf8"), 1.0));
        rows.push(lengths().as_type(DataType::BinaryView).row(name("binary_view"), 1.0));
    }
    rows.push(Column::new(Kind::Fixed16, Encoding::BYTE_STREAM_SPLIT).row("byte_stream_split/fixed16", 4.0));
}

fn optional(rows: &mut Vec<Row>) {
    let shapes = [
        ("nulls10", Nulls::Percent(10)),
        ("nulls50", Nulls::Percent(50)),
        ("nulls90", Nulls::Percent(90)),
        ("runs", Nulls::Runs(300)),
    ];
    for (kind, name) in [(Kind::I32, "i32"), (Kind::F64, "f64"), (Kind::Utf8, "utf8")] {
        for (shape, nulls) in shapes {
            let plain = Column::new(kind, Encoding::PLAIN).with(nulls);
            rows.push(plain.row(format!("plain/{name}/{shape}"), 2.0));
        }
    }
    let few = Column::dictionary(Kind::Distinct("utf8", 1000)).with(Nulls::Percent(10));
    rows.push(few.row("dictionary/utf8-1000/nulls10", 2.0));
}

fn booleans(rows: &mut Vec<Row>) {
    for (encoding, name) in [(Encoding::PLAIN, "plain"), (Encoding::RLE, "rle")] {
        for (shape, nulls) in [("required", Nulls::None), ("nulls10", Nulls::Percent(10))] {
            let column = Column::new(Kind::Bool, encoding).with(nulls);
            rows.push(column.row(format!("{name}/bool/{shape}"), 3.0));
        }
    }
}

/// The same pages, as each side has them.
struct Sides {
    num_values: usize,
    descriptor: ColumnDescriptor,
    field: Field,
    pages: Vec<Page>,
    rival_descriptor: ColumnDescPtr,
    rival_pages: Vec<RivalPage>,
}

impl Sides {
    fn new(column: &Column) -> Result<Self, String> {
        let in_file = if column.times > 1 { column.page } else { NUM_VALUES };
        let bytes = file(column, in_file)?;
        let rival = SerializedFileReader::new(bytes.clone()).map_err(|e| e.to_string())?;
        let rival_descriptor = rival.metadata().file_metadata().schema_descr().column(0);
        let read = || rival.get_row_group(0)?.get_column_page_reader(0)?.collect::<Result<Vec<_>, _>>();
        let rival_pages = read().map_err(|e: ParquetError| e.to_string())?;
        let ours = || {
            let file = ParquetFile::from_buffer(Buffer::from(bytes))?;
            let chunk = file.row_group(0)?.column(0)?;
            let (descriptor, mut reader) = (chunk.descriptor()?, chunk.pages()?);
            let mut pages = Vec::new();
            while let Some(page) = reader.next()? {
                pages.push(page);
            }
            Ok((descriptor, pages))
        };
        let (descriptor, pages) = ours().map_err(|e: marquetry::Error| e.to_string())?;
        let output = column.output.clone().unwrap_or(descriptor.field().data_type().clone());
        Ok(Sides {
            num_values: in_file * column.times,
            field: descriptor.field().clone().with_data_type(output),
            descriptor,
            pages: repeated(pages, column.times),
            rival_descriptor,
            rival_pages: repeated(rival_pages, column.times),
        })
    }

    fn race(self) -> Result<Race, String> {
        let (mut ours, mut rival) = (Vec::new(), Vec::new());
        self.read_ours(|array| ours.push(array));
        self.read_rival(|array| rival.push(array));
        let whole = |arrays: Vec<ArrayRef>| {
            concat(&arrays.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(|e| e.to_string())
        };
        let (ours, rival) = (whole(ours)?, whole(rival)?);
        if &ours != &rival {
            return Err(format!("arrays of {} and {} that differ", ours.data_type(), rival.data_type()));
        }
        let (num_values, ours) = (self.num_values, Arc::new(self));
        let rival = ours.clone();
        Ok(Race {
            ours: Box::new(move || ours.read_ours(|array| drop(black_box(array)))),
            rival: Box::new(move || rival.read_rival(|array| drop(black_box(array)))),
            per_run: Work::Values(num_values),
        })
    }

    fn read_ours(&self, mut batch: impl FnMut(ArrayRef)) {
        let mut decoder = ColumnDecoder::new(&self.descriptor, &self.field).expect("a type it has");
        self.pages.iter().for_each(|page| decoder.push(page.clone()));
        decoder.finish_chunk();
        loop {
            let array = decoder.take(BATCH).expect("a sound page");
            if array.is_empty() {
                return;
            }
            batch(array);
        }
    }

    fn read_rival(&self, mut batch: impl FnMut(ArrayRef)) {
        let mut reader = self.rival_reader().expect("a type it has");
        loop {
            let array = reader.next_batch(BATCH).expect("a sound page");
            if array.is_empty() {
                return;
            }
            batch(array);
        }
    }

    fn rival_reader(&self) -> Result<Box<dyn ArrayReader>, ParquetError> {
        let pages = Box::new(InMemory(Some(self.rival_pages.clone().into_iter())));
        let (descriptor, output) = (self.rival_descriptor.clone(), self.field.data_type().clone());
        macro_rules! primitive {
            ($of:ty) => {
                Box::new(PrimitiveArrayReader::<$of>::new(pages, descriptor, Some(output), BATCH, None)?)
            };
        }
        Ok(match (descriptor.physical_type(), &output) {
            (Type::BOOLEAN, _) => primitive!(BoolType),
            (Type::INT32, _) => primitive!(Int32Type),
            (Type::INT64, _) => primitive!(Int64Type),
            (Type::FLOAT, _) => primitive!(FloatType),
            (Type::DOUBLE, _) => primitive!(DoubleType),
            (Type::FIXED_LEN_BYTE_ARRAY, _) => {
                make_fixed_len_byte_array_reader(pages, descriptor, Some(output), BATCH, None)?
            }
            (_, DataType::Dictionary(..)) => {
                make_byte_array_dictionary_reader(pages, descriptor, Some(output), BATCH, None)?
            }
            (_, DataType::BinaryView | DataType::Utf8View) => {
                make_byte_view_array_reader(pages, descriptor, Some(output), BATCH, None)?
            }
            _ => make_byte_array_reader(pages, descriptor, Some(output), BATCH, None)?,
        })
    }
}

/// The dictionary page once, the data pages so many times.
fn repeated<P: Clone>(pages: Vec<P>, times: usize) -> Vec<P> {
    // Only columns without a dictionary are read again.
    pages.iter().cycle().take(pages.len() * times).cloned().collect()
}

fn file(column: &Column, num_values: usize) -> Result<Bytes, String> {
    let (field, array) = column.kind.column(&mut Rng::with_seed(7), column.nulls, num_values);
    let layout = Layout {
        dictionary: column.encoding.is_none().then_some(1 << 26),
        encoding: column.encoding.map_or(Encodings::Chosen, Encodings::One),
        page_rows: column.page,
        page_bytes: 1 << 30,
        arrow_schema: false,
        ..Layout::default()
    };
    layout.write(&table_of(array, field.is_nullable())).map_err(|failure| failure.to_string())
}

/// The rival's pages, from memory: one column chunk.
struct InMemory(Option<std::vec::IntoIter<RivalPage>>);

struct OnePageReader(std::iter::Peekable<std::vec::IntoIter<RivalPage>>);

impl Iterator for InMemory {
    type Item = Result<Box<dyn PageReader>, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.take().map(|pages| Ok(Box::new(OnePageReader(pages.peekable())) as Box<dyn PageReader>))
    }
}

impl PageIterator for InMemory {}

impl Iterator for OnePageReader {
    type Item = Result<RivalPage, ParquetError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(Ok)
    }
}

impl PageReader for OnePageReader {
    fn get_next_page(&mut self) -> Result<Option<RivalPage>, ParquetError> {
        Ok(self.0.next())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>, ParquetError> {
        let metadata = |page: &RivalPage| PageMetadata {
            num_rows: None,
            num_levels: Some(page.num_values() as usize),
            is_dict: matches!(page, RivalPage::DictionaryPage { .. }),
        };
        Ok(self.0.peek().map(metadata))
    }

    fn skip_next_page(&mut self) -> Result<(), ParquetError> {
        self.0.next();
        Ok(())
    }
}
