//! Draws what a Parquet file is made of: row groups, column chunks, pages; sizes, encodings, checksums, statistics.
//!
//! ```text
//! cargo run --release --example layout -- trips.parquet --columns fare.amount --row-groups 0
//! ```
//!
//! Pages are listed by their headers, and no page is decompressed: what no reader can decode is listed all the same.

mod common;

use std::collections::BTreeSet;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::cli::{About, Failure, Program, chain, missing, unexpected};
use common::headers::{Found, Headers};
use common::plain::Bounds;
use common::progress::Progress;
use common::table::{Align, Table};
use common::value::cut;
use common::{human, leaf};
use lexopt::ValueExt;
use marquetry::metadata::{FOOTER_TAIL_LEN, FileMetadata, NodeKind, OffsetIndex, RowGroupMetadata, Schema};
use marquetry::{ColumnChunk, ParquetFile, Result, RowGroup};

fn main() -> ExitCode {
    PROGRAM.main()
}

pub(crate) const PROGRAM: Program = Program {
    name: "layout",
    help: "\
Draws what a Parquet file is made of: row groups, column chunks and pages.

usage: layout FILE [options]

  --columns a,b.c    only these columns: dotted paths, or numbers
  --row-groups 0,2   only these row groups
  --no-pages         chunks only; the pages are not looked at
  --no-crc           do not look at the checksums of pages
  -h, --help         this text

What is broken is told in its place, and the exit code is then 1.
",
    run: |args, out| {
        let (options, path) = Options::parse(args)?;
        let file = open(&path).about(path.display())?;
        let subject = path.display();
        let columns = options.columns(&file).about(&subject)?;
        let row_groups = options.row_groups(&file).about(&subject)?;
        header(&file, &path, out)?;
        schema(file.metadata().schema(), out)?;
        let mut layout = Layout::new(&file, options, out);
        for &index in &row_groups {
            layout.row_group(&file.row_group(index).about(&subject)?, &columns)?;
        }
        layout.totals(&columns)?;
        layout.verdict().about(&subject)
    },
};

struct Options {
    columns: Option<Vec<String>>,
    row_groups: Option<Vec<usize>>,
    pages: bool,
    verify_crc: bool,
}

impl Options {
    fn parse(mut args: lexopt::Parser) -> std::result::Result<(Self, PathBuf), Failure> {
        let mut path = None;
        let mut options = Options { columns: None, row_groups: None, pages: true, verify_crc: true };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Value(file) if path.is_none() => path = Some(PathBuf::from(file)),
                lexopt::Arg::Long("columns") => {
                    let names = args.value()?.string()?;
                    options.columns.get_or_insert_default().extend(names.split(',').map(str::to_owned));
                }
                lexopt::Arg::Long("row-groups") => {
                    options.row_groups = Some(args.value()?.parse_with(numbers)?);
                }
                lexopt::Arg::Long("no-pages") => options.pages = false,
                lexopt::Arg::Long("no-crc") => options.verify_crc = false,
                other => return Err(unexpected(other)),
            }
        }
        path.map(|path| (options, path)).ok_or_else(|| missing("FILE"))
    }

    fn columns(&self, file: &ParquetFile) -> Result<Vec<usize>> {
        let schema = file.metadata().schema();
        match &self.columns {
            Some(names) => names.iter().map(|name| leaf::find(schema, name)).collect(),
            None => Ok((0..schema.num_leaves()).collect()),
        }
    }

    fn row_groups(&self, file: &ParquetFile) -> Result<Vec<usize>> {
        let Some(row_groups) = &self.row_groups else { return Ok((0..file.num_row_groups()).collect()) };
        row_groups.iter().map(|&index| file.row_group(index).map(|row_group| row_group.index())).collect()
    }
}

fn numbers(text: &str) -> std::result::Result<Vec<usize>, std::num::ParseIntError> {
    text.split(',').map(str::parse).collect()
}

fn open(path: &Path) -> Result<ParquetFile> {
    // SAFETY: whoever runs this names a file to look at, and does not change it meanwhile. Mapped, only the parts of
    // it are read that are looked at: a few bytes of each page where no checksums are verified.
    #[allow(unsafe_code)]
    unsafe {
        ParquetFile::map(path)
    }
}

fn header(file: &ParquetFile, path: &Path, out: &mut dyn Write) -> io::Result<()> {
    let metadata = file.metadata();
    let (size, footer) = sizes(path).unwrap_or_default();
    writeln!(
        out,
        "{}: {}, of which {} footer; {} in {}; {}; format version {}",
        path.display(),
        human::bytes(size),
        human::bytes(footer),
        human::plural(file.num_rows(), "row"),
        human::plural(file.num_row_groups() as u64, "row group"),
        human::plural(metadata.schema().num_leaves() as u64, "column"),
        metadata.version(),
    )?;
    if let Some(writer) = metadata.created_by() {
        writeln!(out, "written by {}", cut(writer, 100))?;
    }
    for entry in metadata.key_value_metadata() {
        let value = entry.value.as_deref().unwrap_or("nothing");
        writeln!(out, "note {} = {}", cut(&entry.key, 40), cut(value, 80))?;
    }
    Ok(())
}

/// Bytes of the file and of its footer.
fn sizes(path: &Path) -> std::result::Result<(u64, u64), Box<dyn std::error::Error>> {
    let mut file = std::fs::File::open(path)?;
    let size = file.seek(SeekFrom::End(0))?;
    let mut tail = [0; FOOTER_TAIL_LEN];
    file.seek(SeekFrom::Start(size.saturating_sub(FOOTER_TAIL_LEN as u64)))?;
    file.read_exact(&mut tail)?;
    let footer = FileMetadata::footer_range(size, tail)?;
    Ok((size, footer.end - footer.start))
}

fn schema(schema: &Schema, out: &mut dyn Write) -> io::Result<()> {
    use Align::{Left, Right};
    writeln!(out, "\nschema")?;
    let headers =
        [("", Left), ("", Left), ("type", Left), ("column", Right), ("max def", Right), ("max rep", Right)];
    let mut table = Table::new("  ", headers.into_iter().chain([("field id", Right)])).leave_out_empty();
    for (index, node) in schema.nodes().iter().enumerate().skip(1) {
        let depth = schema.path(index).len() - 1;
        let leaf = match node.kind {
            NodeKind::Leaf { leaf, .. } => leaf.to_string(),
            NodeKind::Group { .. } => String::new(),
        };
        table.row([
            format!("{}{}", "  ".repeat(depth), cut(&node.name, 60)),
            node.repetition.to_string().to_lowercase(),
            leaf::types(node),
            leaf,
            node.definition_level.to_string(),
            node.repetition_level.to_string(),
            node.field_id.map_or(String::new(), |id| id.to_string()),
        ]);
    }
    table.print(out)
}

struct Layout<'a> {
    file: &'a ParquetFile,
    options: Options,
    out: &'a mut dyn Write,
    /// Per leaf of the schema.
    totals: Vec<Totals>,
    /// How many things are broken or cannot be read.
    faults: u64,
    progress: Progress,
}

#[derive(Default, Clone)]
struct Totals {
    chunks: u64,
    pages: u64,
    dictionaries: u64,
    values: u64,
    nulls: Option<u64>,
    stored: u64,
    whole: u64,
    encodings: BTreeSet<String>,
}

impl<'a> Layout<'a> {
    fn new(file: &'a ParquetFile, options: Options, out: &'a mut dyn Write) -> Self {
        let leaves = file.metadata().schema().num_leaves();
        let chunks = (leaves as u64).saturating_mul(file.num_row_groups() as u64);
        Layout {
            file,
            options,
            out,
            totals: vec![Totals::default(); leaves],
            faults: 0,
            progress: Progress::beside_output("column chunks", chunks),
        }
    }

    fn row_group(&mut self, row_group: &RowGroup, columns: &[usize]) -> io::Result<()> {
        match row_group.metadata() {
            Ok(metadata) => self.row_group_header(&metadata)?,
            Err(error) => self.fault("\n", &error)?,
        }
        for (i, &leaf) in columns.iter().enumerate() {
            let [fork, branch] = if i + 1 < columns.len() { ["├─", "│ "] } else { ["└─", "  "] };
            let name = cut(&self.file.metadata().schema().leaf_name(leaf), 80);
            write!(self.out, "{fork} column {leaf} {name}: ")?;
            match row_group.column(leaf) {
                Ok(chunk) => self.chunk(&chunk, branch)?,
                Err(error) => self.fault("", &error)?,
            }
            self.progress.add(1);
        }
        Ok(())
    }

    fn row_group_header(&mut self, row_group: &RowGroupMetadata<'_>) -> io::Result<()> {
        let (stored, whole) = (row_group.total_compressed_size(), row_group.total_byte_size());
        write!(
            self.out,
            "\nrow group {}: {}",
            row_group.index(),
            human::plural(row_group.num_rows(), "row")
        )?;
        if let Some(stored) = stored.and_then(|size| u64::try_from(size).ok()) {
            write!(self.out, ", {} stored", human::bytes(stored))?;
        }
        write!(self.out, ", {} as values", human::bytes(whole))?;
        for (i, column) in row_group.sorting_columns().iter().enumerate() {
            let leaf = usize::try_from(column.column_index).unwrap_or(usize::MAX);
            let direction = if column.descending { "falling" } else { "rising" };
            let name = cut(&self.file.metadata().schema().leaf_name(leaf), 60);
            write!(self.out, "{} {name} {direction}", if i == 0 { "; sorted by" } else { "," })?;
        }
        writeln!(self.out)
    }

    fn chunk(&mut self, chunk: &ColumnChunk, branch: &str) -> io::Result<()> {
        let metadata = chunk.metadata();
        let node = chunk.node().ok().cloned();
        let bounds = node.as_ref().map(Bounds::new);
        let (stored, whole) = (metadata.total_compressed_size, metadata.total_uncompressed_size);
        writeln!(
            self.out,
            "{} {}, {}, {} of {} ({})",
            node.as_ref().map(leaf::types).unwrap_or_default(),
            metadata.compression,
            human::plural(metadata.num_values, "value"),
            human::bytes(stored),
            human::bytes(whole),
            human::ratio(whole, stored),
        )?;
        if let Some(totals) = self.totals.get_mut(chunk.leaf()) {
            totals.add_chunk(chunk);
        }
        self.extras(chunk, bounds.as_ref(), branch)?;
        match chunk.bytes() {
            Ok(bytes) if self.options.pages => self.pages(chunk, &bytes, bounds.as_ref(), branch),
            Ok(_) => Ok(()),
            Err(error) => self.fault(&format!("{branch}   "), &error),
        }
    }

    /// What the chunk has beside its pages.
    fn extras(&mut self, chunk: &ColumnChunk, bounds: Option<&Bounds>, branch: &str) -> io::Result<()> {
        let metadata = chunk.metadata();
        let encodings: Vec<String> = metadata.encodings.iter().map(ToString::to_string).collect();
        let place = match metadata.byte_range() {
            Ok(range) => format!("bytes {}..{}", range.start, range.end),
            Err(_) => "no sensible place".into(),
        };
        writeln!(self.out, "{branch}   {place}; encodings {}", encodings.join(", "))?;
        if let (Some(statistics), Some(bounds)) = (&metadata.statistics, bounds) {
            let mut parts = Vec::new();
            let deprecated = [("old min", &statistics.min), ("old max", &statistics.max)];
            let current = [("min", &statistics.min_value), ("max", &statistics.max_value)];
            let has_current = statistics.min_value.is_some() || statistics.max_value.is_some();
            for (name, bound) in if has_current { current } else { deprecated } {
                parts.extend(bound.as_ref().map(|bound| format!("{name} {}", bounds.show(bound, 48))));
            }
            parts.extend(statistics.null_count.map(|n| format!("nulls {n}")));
            parts.extend(statistics.distinct_count.map(|n| format!("distinct {n}")));
            parts.extend(statistics.nan_count.map(|n| format!("NaNs {n}")));
            writeln!(self.out, "{branch}   statistics: {}", parts.join(", "))?;
        }
        let mut parts = Vec::new();
        let mut faults = Vec::new();
        for (name, range) in
            [("column index", metadata.column_index_range()), ("offset index", metadata.offset_index_range())]
        {
            match range {
                Ok(Some(range)) => parts.push(format!("{name} {}", human::bytes(range.end - range.start))),
                Ok(None) => {}
                Err(error) => faults.push(error),
            }
        }
        match metadata.bloom_filter_position() {
            Ok(Some((_, Some(size)))) => parts.push(format!("Bloom filter {}", human::bytes(size))),
            Ok(Some((_, None))) => parts.push("Bloom filter".into()),
            Ok(None) => {}
            Err(error) => faults.push(error),
        }
        if !parts.is_empty() {
            writeln!(self.out, "{branch}   {}", parts.join(", "))?;
        }
        faults.iter().try_for_each(|error| self.fault(&format!("{branch}   "), error))
    }

    fn pages(
        &mut self,
        chunk: &ColumnChunk,
        bytes: &[u8],
        bounds: Option<&Bounds>,
        branch: &str,
    ) -> io::Result<()> {
        let (start, metadata) =
            (chunk.metadata().byte_range().map_or(0, |range| range.start), chunk.metadata());
        let index = chunk.offset_index();
        let first_rows = FirstRows { index: index.as_ref().ok().and_then(Option::as_ref), data_pages: 0 };
        let mut table = PageTable::new(&format!("{branch}   "), first_rows);
        let mut headers = Headers::new(bytes, Some(metadata.num_values));
        let mut broken = None;
        for found in headers.by_ref() {
            let page = match found {
                Ok(page) => page,
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            };
            let crc = page.crc(self.options.verify_crc);
            self.faults += u64::from(matches!(crc, "WRONG" | "CUT"));
            table.add(&page, crc, start, bounds);
            if let Some(totals) = self.totals.get_mut(chunk.leaf()) {
                totals.add_page(&page);
            }
        }
        table.print(self.out)?;
        let indent = format!("{branch}   ");
        if let Err(error) = &index {
            self.fault(&indent, error)?;
        }
        match broken {
            Some(error) => self.fault(&indent, &error),
            None => match headers.position().checked_sub(bytes.len()) {
                Some(0) => Ok(()),
                Some(over) => writeln!(self.out, "{indent}the last page ends {over} bytes past the chunk"),
                None => {
                    let rest = bytes.len() - headers.position();
                    writeln!(self.out, "{indent}{} after the last page", human::bytes(rest as u64))
                }
            },
        }
    }

    fn fault(&mut self, indent: &str, error: &marquetry::Error) -> io::Result<()> {
        self.faults += 1;
        writeln!(self.out, "{indent}BROKEN: {}", chain(error))
    }

    fn totals(&mut self, columns: &[usize]) -> io::Result<()> {
        use Align::{Left, Right};
        writeln!(self.out, "\ncolumns, all row groups together")?;
        let headers =
            [("", Right), ("name", Left), ("chunks", Right), ("pages", Right), ("dictionaries", Right)];
        let sizes =
            [("values", Right), ("nulls", Right), ("stored", Right), ("whole", Right), ("ratio", Right)];
        let rest = [("share", Right), ("encodings", Left)];
        let mut table = Table::new("  ", headers.into_iter().chain(sizes).chain(rest)).leave_out_empty();
        let all: u64 = columns.iter().filter_map(|&leaf| self.totals.get(leaf)).map(|t| t.stored).sum();
        for &leaf in columns {
            let Some(totals) = self.totals.get(leaf) else { continue };
            let of_pages = |n: u64| if self.options.pages { human::count(n) } else { String::new() };
            table.row([
                leaf.to_string(),
                cut(&self.file.metadata().schema().leaf_name(leaf), 60),
                human::count(totals.chunks),
                of_pages(totals.pages),
                of_pages(totals.dictionaries),
                human::count(totals.values),
                totals.nulls.map(human::count).unwrap_or_default(),
                human::bytes(totals.stored),
                human::bytes(totals.whole),
                human::ratio(totals.whole, totals.stored),
                format!("{:.1} %", 100.0 * totals.stored as f64 / all.max(1) as f64),
                totals.encodings.iter().cloned().collect::<Vec<_>>().join(" "),
            ]);
        }
        table.print(self.out)
    }

    fn verdict(&self) -> std::result::Result<(), String> {
        match self.faults {
            0 => Ok(()),
            n => Err(format!("{} in it, told above", human::plural(n, "fault"))),
        }
    }
}

impl Totals {
    fn add_chunk(&mut self, chunk: &ColumnChunk) {
        let metadata = chunk.metadata();
        let nulls = metadata.statistics.as_ref().and_then(|statistics| statistics.null_count);
        let nulls = nulls.and_then(|nulls| u64::try_from(nulls).ok());
        let so_far = if self.chunks == 0 { Some(0) } else { self.nulls };
        self.nulls = so_far.zip(nulls).map(|(sum, nulls)| sum.saturating_add(nulls));
        self.chunks += 1;
        self.values = self.values.saturating_add(metadata.num_values);
        self.stored = self.stored.saturating_add(metadata.total_compressed_size);
        self.whole = self.whole.saturating_add(metadata.total_uncompressed_size);
    }

    fn add_page(&mut self, page: &Found<'_>) {
        if page.is_dictionary() {
            self.dictionaries += 1;
        } else {
            self.pages += 1;
            self.encodings.insert(page.encoding());
        }
    }
}

/// Which row each data page begins with, as the offset index has it.
struct FirstRows<'i> {
    index: Option<&'i OffsetIndex>,
    data_pages: usize,
}

impl FirstRows<'_> {
    fn next(&mut self) -> Option<u64> {
        let page = self.index?.pages().get(self.data_pages)?;
        self.data_pages += 1;
        Some(page.first_row)
    }
}

struct PageTable<'i> {
    table: Table,
    first_rows: FirstRows<'i>,
    index: usize,
}

impl<'i> PageTable<'i> {
    fn new(prefix: &str, first_rows: FirstRows<'i>) -> Self {
        use Align::{Left, Right};
        let headers = [
            ("page", Right),
            ("at", Right),
            ("kind", Left),
            ("encoding", Left),
            ("values", Right),
            ("nulls", Right),
            ("rows", Right),
            ("first row", Right),
            ("stored", Right),
            ("whole", Right),
            ("ratio", Right),
            ("checksum", Left),
            ("min", Left),
            ("max", Left),
        ];
        PageTable { table: Table::new(prefix, headers).leave_out_empty(), first_rows, index: 0 }
    }

    fn add(&mut self, page: &Found<'_>, crc: &str, chunk_start: u64, bounds: Option<&Bounds>) {
        let number = |n: Option<u64>| n.map(human::count).unwrap_or_default();
        let first_row = if page.is_dictionary() { None } else { self.first_rows.next() };
        let bound = |bytes: Option<&Vec<u8>>| match (bytes, bounds) {
            (Some(bytes), Some(bounds)) => bounds.show(bytes, 20),
            _ => String::new(),
        };
        let statistics = page.header.statistics();
        let (stored, whole) = (page.header.compressed_size as u64, page.header.uncompressed_size as u64);
        self.table.row([
            self.index.to_string(),
            (chunk_start + page.position as u64).to_string(),
            page.kind(),
            page.encoding(),
            human::count(page.header.num_values() as u64),
            number(page.num_nulls()),
            number(page.num_rows()),
            number(first_row),
            human::count(stored),
            human::count(whole),
            human::ratio(whole, stored),
            crc.to_owned(),
            bound(statistics.and_then(|statistics| statistics.min_value.as_ref())),
            bound(statistics.and_then(|statistics| statistics.max_value.as_ref())),
        ]);
        self.index += 1;
    }

    fn print(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if self.index > 0 { self.table.print(out) } else { Ok(()) }
    }
}
