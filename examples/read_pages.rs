//! Lists the pages of a page dump, header by header, and decodes them.
//!
//! ```text
//! cargo run --release --example dump_pages -- trips.parquet fare.amount 0 fare.parquet
//! cargo run --release --example read_pages -- fare.parquet
//! cargo run --release --example read_pages -- chunk.bin --type BYTE_ARRAY --logical string --max-def 1 --codec SNAPPY
//! ```
//!
//! A dump is a Parquet file; any other will do. What has no footer, the bytes of a column chunk alone (out of a cache
//! or a shuffle block, say), is read with the type, levels and codec that its keeper must know anyway.

mod common;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use common::cli::{About, Failure, Program, chain, missing, unexpected};
use common::headers::{Found, Headers};
use common::plain::PlainValues;
use common::progress::Progress;
use common::table::{Align, Table};
use common::value::{cell, cut};
use common::{human, leaf};
use lexopt::ValueExt;
use marquetry::arrow::array::{Array, ArrayRef};
use marquetry::arrow::buffer::Buffer;
use marquetry::metadata::{
    Compression, LogicalType, PageHeader, PhysicalType, Repetition, Schema, SchemaBuilder, SchemaNode,
    TimeUnit,
};
use marquetry::page::{Page, Pages};
use marquetry::{ColumnDecoder, ColumnDescriptor, ParquetFile, Result};

fn main() -> ExitCode {
    PROGRAM.main()
}

pub(crate) const PROGRAM: Program = Program {
    name: "read_pages",
    help: "\
Lists the pages of a column chunk, header by header, and decodes them.

usage: read_pages DUMP [options]           a page dump, or any other Parquet file
       read_pages BYTES --type T [options]  the bytes of a column chunk, without a footer

Of a Parquet file:
  --column C         which column, where it has several: a dotted path or a number
  --row-group N      only this row group

Of bytes without a footer:
  --type T           physical type: BOOLEAN, INT32, INT64, INT96, FLOAT, DOUBLE, BYTE_ARRAY or
                     FIXED_LEN_BYTE_ARRAY
  --width N          bytes of each value of a FIXED_LEN_BYTE_ARRAY
  --max-def N        maximum definition level (0, or --max-rep)
  --max-rep N        maximum repetition level (0). Levels do not tell what is a list and what may be null; values
                     are shown as lists of what may be null, as far as the definition levels allow
  --codec C          UNCOMPRESSED, SNAPPY, GZIP, BROTLI, LZ4, ZSTD or LZ4_RAW (UNCOMPRESSED)
  --logical L        string, enum, json, bson, uuid, float16, date, interval, int:BITS, uint:BITS,
                     decimal:PRECISION:SCALE, time:UNIT or timestamp:UNIT, with millis, micros or nanos, and :utc
                     at the end for those that are UTC
  --num-values N     how many values there are, nulls included, if known

  --values N         values shown of each page (8)
  --cut N            characters of a value that are shown (32)
  -h, --help         this text

What is broken is told in its place, and the exit code is then 1.
",
    run: |args, out| {
        let (options, path) = Options::parse(args)?;
        let faults = match &options.raw {
            Some(raw) => read_raw(&path, raw, &options, out)?,
            None => read_file(&path, &options, out)?,
        };
        match faults {
            0 => Ok(()),
            n => Err(format!("{} in it, told above", human::plural(n, "fault"))).about(path.display()),
        }
    },
};

struct Options {
    column: Option<String>,
    row_group: Option<usize>,
    /// `None`: a Parquet file.
    raw: Option<Raw>,
    values: usize,
    cut: usize,
}

/// What is to be known of bytes without a footer.
struct Raw {
    physical: PhysicalType,
    byte_width: Option<u16>,
    max_def: u8,
    max_rep: u8,
    compression: Compression,
    logical: Option<LogicalType>,
    num_values: Option<u64>,
}

impl Options {
    fn parse(mut args: lexopt::Parser) -> std::result::Result<(Self, PathBuf), Failure> {
        let mut path = None;
        let mut options = Options { column: None, row_group: None, raw: None, values: 8, cut: 32 };
        let (mut physical, mut max_def, mut only_raw) = (None, None, None);
        let mut raw = Raw {
            physical: PhysicalType::Unknown(-1),
            byte_width: None,
            max_def: 0,
            max_rep: 0,
            compression: Compression::Uncompressed,
            logical: None,
            num_values: None,
        };
        while let Some(arg) = args.next()? {
            if let lexopt::Arg::Long(
                name @ ("width" | "max-def" | "max-rep" | "codec" | "logical" | "num-values"),
            ) = arg
            {
                only_raw.get_or_insert_with(|| name.to_owned());
            }
            match arg {
                lexopt::Arg::Value(file) if path.is_none() => path = Some(PathBuf::from(file)),
                lexopt::Arg::Long("column") => options.column = Some(args.value()?.string()?),
                lexopt::Arg::Long("row-group") => options.row_group = Some(args.value()?.parse()?),
                lexopt::Arg::Long("type") => physical = Some(args.value()?.parse_with(physical_type)?),
                lexopt::Arg::Long("width") => raw.byte_width = Some(args.value()?.parse()?),
                lexopt::Arg::Long("max-def") => max_def = Some(args.value()?.parse()?),
                lexopt::Arg::Long("max-rep") => raw.max_rep = args.value()?.parse()?,
                lexopt::Arg::Long("codec") => raw.compression = args.value()?.parse_with(codec)?,
                lexopt::Arg::Long("logical") => raw.logical = Some(args.value()?.parse_with(logical_type)?),
                lexopt::Arg::Long("num-values") => raw.num_values = Some(args.value()?.parse()?),
                lexopt::Arg::Long("values") => options.values = args.value()?.parse()?,
                lexopt::Arg::Long("cut") => options.cut = args.value()?.parse()?,
                other => return Err(unexpected(other)),
            }
        }
        let path = path.ok_or_else(|| missing("DUMP"))?;
        raw.max_def = max_def.unwrap_or(raw.max_rep);
        options.raw = match (physical, only_raw) {
            (Some(physical), _) => Some(Raw { physical, ..raw }.check()?),
            (None, Some(name)) => {
                return Err(Failure::Usage(format!("--{name} is of no use without --type")));
            }
            (None, None) => None,
        };
        if options.raw.is_some() && (options.column.is_some() || options.row_group.is_some()) {
            return Err(Failure::Usage("--type is for bytes without a footer: one column chunk".into()));
        }
        Ok((options, path))
    }
}

impl Raw {
    fn check(self) -> std::result::Result<Self, Failure> {
        let fixed = self.physical == PhysicalType::FixedLenByteArray;
        let wrong = if fixed && self.byte_width.is_none() {
            "FIXED_LEN_BYTE_ARRAY needs --width"
        } else if !fixed && self.byte_width.is_some() {
            "--width is for FIXED_LEN_BYTE_ARRAY alone"
        } else if self.max_rep > self.max_def {
            "--max-def cannot be less than --max-rep: each list adds to both"
        } else {
            return Ok(self);
        };
        Err(Failure::Usage(wrong.into()))
    }

    /// A schema with these levels: the leaf may be null first, then lists from the inside to the outside, then groups.
    fn schema(&self) -> Result<Schema> {
        let optional = self.max_def - self.max_rep;
        let leaf = u8::from(optional > 0);
        let lists = (optional - leaf).min(self.max_rep);
        let mut schema = SchemaBuilder::new("schema");
        self.groups(&mut schema, optional - leaf - lists, self.max_rep, lists);
        schema.finish()
    }

    /// `groups` optional groups, in them `lists` lists, of which the `optional` inmost ones may be null, in them the
    /// leaf.
    fn groups(&self, schema: &mut SchemaBuilder, groups: u8, lists: u8, optional: u8) {
        if groups > 0 {
            schema.group("group", Repetition::Optional, |inner| {
                self.groups(inner, groups - 1, lists, optional)
            });
        } else if lists > 0 {
            let repetition = if lists <= optional { Repetition::Optional } else { Repetition::Required };
            let list = schema.group("values", repetition, |outer| {
                outer.group("list", Repetition::Repeated, |inner| self.groups(inner, 0, lists - 1, optional));
            });
            list.logical(LogicalType::List);
        } else {
            let optional = self.max_def > self.max_rep;
            let repetition = if optional { Repetition::Optional } else { Repetition::Required };
            let mut leaf = schema.leaf("value", repetition, self.physical);
            if let Some(width) = self.byte_width {
                leaf = leaf.byte_width(width);
            }
            if let Some(logical) = &self.logical {
                leaf.logical(logical.clone());
            }
        }
    }
}

fn physical_type(text: &str) -> std::result::Result<PhysicalType, String> {
    let all = (0..8).map(PhysicalType::from_number);
    by_name(all, text).ok_or_else(|| format!("no physical type is named {text}"))
}

fn codec(text: &str) -> std::result::Result<Compression, String> {
    let all = (0..8).map(Compression::from_number);
    by_name(all, text).ok_or_else(|| format!("no codec is named {text}"))
}

fn by_name<T: ToString>(mut all: impl Iterator<Item = T>, text: &str) -> Option<T> {
    all.find(|one| one.to_string().eq_ignore_ascii_case(text))
}

fn logical_type(text: &str) -> std::result::Result<LogicalType, String> {
    let text = text.to_ascii_lowercase();
    let parts: Vec<&str> = text.split(':').collect();
    let parsed = match parts.as_slice() {
        ["string"] => Some(LogicalType::String),
        ["enum"] => Some(LogicalType::Enum),
        ["json"] => Some(LogicalType::Json),
        ["bson"] => Some(LogicalType::Bson),
        ["uuid"] => Some(LogicalType::Uuid),
        ["float16"] => Some(LogicalType::Float16),
        ["date"] => Some(LogicalType::Date),
        ["interval"] => Some(LogicalType::Interval),
        [sign @ ("int" | "uint"), bits] => {
            bits.parse().ok().map(|bit_width| LogicalType::Integer { bit_width, signed: *sign == "int" })
        }
        ["decimal", precision, scale] => match (precision.parse(), scale.parse()) {
            (Ok(precision), Ok(scale)) => Some(LogicalType::Decimal { precision, scale }),
            _ => None,
        },
        [kind @ ("time" | "timestamp"), unit, rest @ ..] if matches!(rest, [] | ["utc"]) => {
            let utc = !rest.is_empty();
            time_unit(unit).map(|unit| match *kind {
                "time" => LogicalType::Time { unit, utc },
                _ => LogicalType::Timestamp { unit, utc },
            })
        }
        _ => None,
    };
    parsed.ok_or_else(|| format!("no logical type is named {text}"))
}

fn time_unit(text: &str) -> Option<TimeUnit> {
    match text {
        "millis" => Some(TimeUnit::Millis),
        "micros" => Some(TimeUnit::Micros),
        "nanos" => Some(TimeUnit::Nanos),
        _ => None,
    }
}

/// A column chunk, whatever it came from.
struct Chunk {
    bytes: Buffer,
    compression: Compression,
    num_values: Option<u64>,
    node: SchemaNode,
    descriptor: Result<ColumnDescriptor>,
    pages: Result<Pages>,
}

fn read_raw(
    path: &Path,
    raw: &Raw,
    options: &Options,
    out: &mut dyn Write,
) -> std::result::Result<u64, Failure> {
    let subject = path.display();
    let bytes = Buffer::from_vec(std::fs::read(path).about(&subject)?);
    let schema = raw.schema().about("the options")?;
    let node = schema.leaf(0).cloned().ok_or("no leaf").about("the options")?;
    let descriptor = ColumnDescriptor::new(&schema, 0).about("the options")?;
    let pages = descriptor.pages(bytes.clone(), raw.compression, raw.num_values);
    let (compression, num_values) = (raw.compression, raw.num_values);
    let chunk = Chunk { bytes, compression, num_values, node, descriptor: Ok(descriptor), pages };
    chunk.show(&subject.to_string(), options, out)
}

fn read_file(path: &Path, options: &Options, out: &mut dyn Write) -> std::result::Result<u64, Failure> {
    let subject = path.display();
    // SAFETY: whoever runs this names a file to look at, and does not change it meanwhile. Mapped, pages that are not
    // compressed are decoded from where they lie.
    #[allow(unsafe_code)]
    let file = match unsafe { ParquetFile::map(path) } {
        Err(error) if matches!(error.kind(), marquetry::ErrorKind::NotParquet(_)) => {
            let what = format!("{error}\n  (bytes without a footer are read with --type: see --help)");
            return Err(what).about(&subject);
        }
        other => other.about(&subject)?,
    };
    let schema = file.metadata().schema();
    let leaf = match &options.column {
        Some(name) => leaf::find(schema, name).about(&subject)?,
        None if schema.num_leaves() == 1 => 0,
        None => {
            let what = format!("it has {} columns: choose one with --column", schema.num_leaves());
            return Err(what).about(&subject);
        }
    };
    let mut faults = 0;
    let row_groups = match options.row_group {
        Some(row_group) => row_group..row_group + 1,
        None => 0..file.num_row_groups(),
    };
    for index in row_groups {
        let row_group = file.row_group(index).about(&subject)?;
        let name = cut(&schema.leaf_name(leaf), 80);
        let title = format!("{name}, row group {index} of {}", human::plural(row_group.num_rows(), "row"));
        let chunk = row_group.column(leaf).and_then(|chunk| {
            Ok(Chunk {
                bytes: chunk.bytes()?,
                compression: chunk.metadata().compression,
                num_values: Some(chunk.metadata().num_values),
                node: chunk.node()?.clone(),
                descriptor: chunk.descriptor(),
                pages: chunk.pages(),
            })
        });
        faults += match chunk {
            Ok(chunk) => chunk.show(&title, options, out)?,
            Err(error) => {
                writeln!(out, "{title}\n  BROKEN: {}", chain(&error))?;
                1
            }
        };
    }
    Ok(faults)
}

impl Chunk {
    /// Lists and decodes all pages; gives how many faults there are.
    fn show(self, title: &str, options: &Options, out: &mut dyn Write) -> std::result::Result<u64, Failure> {
        let [max_def, max_rep] = [self.node.definition_level, self.node.repetition_level];
        writeln!(
            out,
            "{title}\n  {}, maximum levels {max_def} and {max_rep}, {}, {}",
            leaf::types(&self.node),
            self.compression,
            human::bytes(self.bytes.len() as u64),
        )?;
        let mut headers = Headers::new(&self.bytes, self.num_values);
        let mut listed = Vec::new();
        let mut broken = None;
        for found in headers.by_ref() {
            match found {
                Ok(found) => listed.push(found),
                Err(error) => broken = Some(error),
            }
        }
        let mut table = list(&listed);
        let mut decoding = Decoding::begin(&self.node, self.descriptor, self.pages);
        let mut progress = Progress::beside_output("pages", listed.len() as u64);
        for found in &listed {
            table.print_some(1, out)?;
            for line in decoding.page(&found.header, options) {
                writeln!(out, "        {line}")?;
            }
            progress.add(1);
        }
        drop(progress);
        let end = decoding.finish(broken.is_none(), options);
        end.iter().try_for_each(|line| writeln!(out, "        {line}"))?;
        if let Some(error) = &broken {
            writeln!(out, "  BROKEN: {}", chain(error))?;
        }
        let values = listed.iter().filter(|found| !found.is_dictionary()).map(|found| &found.header);
        writeln!(
            out,
            "  {}, {}; {}, {}; decoded in {}\n",
            human::plural(listed.len() as u64, "page"),
            human::plural(values.map(|header| header.num_values() as u64).sum(), "value"),
            human::plural(decoding.rows, "row"),
            human::plural(decoding.nulls, "null row"),
            human::duration(decoding.took),
        )?;
        let wrong = listed.iter().filter(|found| matches!(found.crc(true), "WRONG" | "CUT")).count() as u64;
        let decoding_failed = u64::from(decoding.failed);
        Ok(u64::from(broken.is_some()) + wrong.max(decoding_failed))
    }
}

fn list(pages: &[Found<'_>]) -> Table {
    use Align::{Left, Right};
    let headers = [
        ("page", Right),
        ("at", Right),
        ("kind", Left),
        ("encoding", Left),
        ("values", Right),
        ("nulls", Right),
        ("stored", Right),
        ("whole", Right),
        ("ratio", Right),
        ("checksum", Left),
    ];
    let mut table = Table::new("  ", headers).leave_out_empty();
    for (index, found) in pages.iter().enumerate() {
        let PageHeader { compressed_size, uncompressed_size, .. } = found.header;
        table.row([
            index.to_string(),
            found.position.to_string(),
            found.kind(),
            found.encoding(),
            human::count(found.header.num_values() as u64),
            found.num_nulls().map(human::count).unwrap_or_default(),
            human::count(compressed_size as u64),
            human::count(uncompressed_size as u64),
            human::ratio(uncompressed_size as u64, compressed_size as u64),
            found.crc(true).to_owned(),
        ]);
    }
    table
}

/// Decodes page after page, up to the first error.
struct Decoding {
    /// The way pages and values take; an error that is not told yet.
    way: Option<Result<(Pages, ColumnDecoder)>>,
    dictionary: Option<PlainValues>,
    rows: u64,
    nulls: u64,
    took: Duration,
    failed: bool,
}

impl Decoding {
    fn begin(node: &SchemaNode, descriptor: Result<ColumnDescriptor>, pages: Result<Pages>) -> Self {
        let way = descriptor.and_then(|descriptor| {
            let decoder = ColumnDecoder::new(&descriptor, descriptor.field())?;
            Ok((pages?, decoder))
        });
        Decoding {
            way: Some(way),
            dictionary: PlainValues::new(node).ok(),
            rows: 0,
            nulls: 0,
            took: Duration::ZERO,
            failed: false,
        }
    }

    /// What there is to say of the page of `header`, which comes next.
    fn page(&mut self, header: &PageHeader, options: &Options) -> Vec<String> {
        // `Pages` passes over such pages, too.
        if header.num_values() == 0 && !matches!(header.kind, marquetry::metadata::PageKind::Dictionary(_)) {
            return Vec::new();
        }
        self.attempt(options, |pages, column| match pages.next()? {
            Some(Page::Dictionary(page)) => {
                let shown = Shown::Dictionary(page.num_values, page.values.clone());
                column.push(Page::Dictionary(page));
                Ok(shown)
            }
            Some(page) => {
                column.push(page);
                Ok(Shown::Rows(take_ready(column)?))
            }
            None => Ok(Shown::Nothing),
        })
    }

    /// What there is to say at the end: the last row of a list ends only here.
    /// `ask`: whether to ask for one more page, which is an error where values are missing.
    fn finish(&mut self, ask: bool, options: &Options) -> Vec<String> {
        self.attempt(options, |pages, column| {
            if ask {
                pages.next()?;
            }
            column.finish_chunk();
            let rest = take_ready(column)?;
            Ok(if rest.is_empty() { Shown::Nothing } else { Shown::Rows(rest) })
        })
    }

    fn attempt(
        &mut self,
        options: &Options,
        step: impl FnOnce(&mut Pages, &mut ColumnDecoder) -> Result<Shown>,
    ) -> Vec<String> {
        let Some(way) = self.way.take() else { return Vec::new() };
        let start = Instant::now();
        let shown = way.and_then(|(mut pages, mut column)| {
            let shown = step(&mut pages, &mut column)?;
            self.way = Some(Ok((pages, column)));
            Ok(shown)
        });
        self.took += start.elapsed();
        match shown {
            Ok(Shown::Nothing) => Vec::new(),
            Ok(Shown::Dictionary(num_values, values)) => {
                let decoded =
                    self.dictionary.as_ref().and_then(|plain| plain.decode(num_values, &values).ok());
                decoded.iter().map(|array| first_values(array, options)).collect()
            }
            Ok(Shown::Rows(arrays)) => self.count(&arrays, options),
            Err(error) => {
                self.failed = true;
                vec![format!("BROKEN: {}", chain(&error)), "(the pages after it are listed only)".into()]
            }
        }
    }

    fn count(&mut self, arrays: &[ArrayRef], options: &Options) -> Vec<String> {
        let before = self.rows;
        for array in arrays {
            self.rows += array.len() as u64;
            self.nulls += array.logical_null_count() as u64;
        }
        let Some(first) = arrays.first() else { return vec!["no row ends here".into()] };
        let (from, to) = (human::count(before), human::count(self.rows));
        vec![format!("rows {from}..{to}: {}", first_values(first, options))]
    }
}

enum Shown {
    Nothing,
    Dictionary(usize, Buffer),
    Rows(Vec<ArrayRef>),
}

/// All rows that are ready. More than one array where one cannot hold them.
fn take_ready(column: &mut ColumnDecoder) -> Result<Vec<ArrayRef>> {
    let mut arrays = Vec::new();
    let mut left = column.ready_rows()?;
    while left > 0 {
        let array = column.take(left)?;
        if array.is_empty() {
            break;
        }
        left = left.saturating_sub(array.len());
        arrays.push(array);
    }
    Ok(arrays)
}

fn first_values(array: &ArrayRef, options: &Options) -> String {
    let shown = array.len().min(options.values);
    let values = (0..shown).map(|row| cell(array.as_ref(), row, options.cut));
    let more = if shown < array.len() { ", …" } else { "" };
    values.collect::<Vec<_>>().join(", ") + more
}
