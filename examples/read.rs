//! Prints a Parquet file's Arrow schema, its row groups, and its first rows.
//!
//! ```text
//! cargo run --release --example read -- trips.parquet --columns city,fare.amount --rows 20
//! ```

mod common;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use common::cli::{About, Failure, Program, unexpected};
use common::progress::Progress;
use common::table::{Align, Table, width};
use common::value::{cell, cut};
use common::{cli, human, sample};
use lexopt::ValueExt;
use marquetry::arrow::array::{RecordBatch, RecordBatchReader};
use marquetry::arrow::schema::{DataType, Field, Schema};
use marquetry::{Capability, ParquetFile, ReadOptions, Scan};

fn main() -> ExitCode {
    PROGRAM.main()
}

pub(crate) const PROGRAM: Program = Program {
    name: "read",
    help: "\
Prints a Parquet file's Arrow schema, its row groups, and its first rows.

usage: read [FILE] [options]

With no FILE it makes a small one in the folder for temporary files and reads that.

  --columns a,b.c    only these columns: names, or dotted paths of what lies within them
  --rows N|all       how many rows to print (10)
  --offset N         rows to pass over first (0)
  --row-groups 0,2   only these row groups, in this order
  --batch-size N     rows to read at once (8192)
  --cut N            characters of a value that are shown (32)
  --width N          print rows one below the other where the table is wider (COLUMNS, or else 160)
  --check            read all rows, print none, tell how long it took
  --open             read the file by position rather than map it into memory
  --no-crc           do not look at the checksums of pages
  -h, --help         this text
",
    run: |args, out| Options::parse(args)?.run(out),
};

struct Options {
    file: Option<PathBuf>,
    columns: Option<Vec<String>>,
    rows: u64,
    offset: u64,
    row_groups: Option<Vec<usize>>,
    batch_size: usize,
    cut: usize,
    width: usize,
    check: bool,
    open: bool,
    verify_crc: bool,
}

impl Options {
    fn parse(mut args: lexopt::Parser) -> Result<Self, Failure> {
        let width = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let mut options = Options {
            file: None,
            columns: None,
            rows: 10,
            offset: 0,
            row_groups: None,
            batch_size: 8192,
            cut: 32,
            width: width.unwrap_or(160),
            check: false,
            open: false,
            verify_crc: true,
        };
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Value(file) if options.file.is_none() => options.file = Some(file.into()),
                lexopt::Arg::Long("columns") => {
                    let names = args.value()?.string()?;
                    options.columns.get_or_insert_default().extend(names.split(',').map(str::to_owned));
                }
                lexopt::Arg::Long("rows") => {
                    let rows = args.value()?;
                    options.rows = if rows == "all" { u64::MAX } else { rows.parse()? };
                }
                lexopt::Arg::Long("offset") => options.offset = args.value()?.parse()?,
                lexopt::Arg::Long("row-groups") => {
                    let text = args.value()?.string()?;
                    let numbers = text.split(',').map(str::parse).collect::<Result<Vec<usize>, _>>();
                    options.row_groups =
                        Some(numbers.map_err(|e| Failure::Usage(format!("row groups {text:?}: {e}")))?);
                }
                lexopt::Arg::Long("batch-size") => options.batch_size = args.value()?.parse()?,
                lexopt::Arg::Long("cut") => options.cut = args.value()?.parse()?,
                lexopt::Arg::Long("width") => options.width = args.value()?.parse()?,
                lexopt::Arg::Long("check") => options.check = true,
                lexopt::Arg::Long("open") => options.open = true,
                lexopt::Arg::Long("no-crc") => options.verify_crc = false,
                other => return Err(unexpected(other)),
            }
        }
        if options.batch_size == 0 {
            return Err(Failure::Usage("--batch-size 0 would never come to an end".into()));
        }
        Ok(options)
    }

    fn run(&self, out: &mut dyn Write) -> Result<(), Failure> {
        let path = match &self.file {
            Some(path) => path.clone(),
            None => sample::write_to_temp().about("cannot make a sample")?,
        };
        let subject = path.display();
        let file = self.open(&path).about(&subject)?;
        let capabilities = file.capabilities();
        let scan = self.scan(&file, &capabilities);
        let reader = scan.clone().build().about(&subject)?;
        self.overview(&file, &path, out)?;
        self.print_schema(&reader.schema(), &capabilities, out)?;
        row_groups(&file, out)?;
        if self.check {
            return check(&scan, file.num_rows(), out, &path);
        }
        self.print_rows(&file, scan, out, &path)
    }

    fn open(&self, path: &Path) -> marquetry::Result<ParquetFile> {
        let options = ReadOptions::new().verify_crc(self.verify_crc);
        if self.open {
            return options.open(path);
        }
        // SAFETY: whoever runs this names a file to look at, and does not change it meanwhile. Writers of Parquet make
        // a new file rather than change one that is there; for a file that is still growing there is `--open`.
        #[allow(unsafe_code)]
        unsafe {
            options.map(path)
        }
    }

    /// All columns that can be read, unless the caller chose some.
    fn scan(&self, file: &ParquetFile, capabilities: &[Capability]) -> Scan {
        let scan = file.scan().batch_size(self.batch_size);
        let scan = match &self.row_groups {
            Some(row_groups) => scan.row_groups(row_groups.iter().copied()),
            None => scan,
        };
        if let Some(columns) = &self.columns {
            return scan.columns(columns.iter().map(String::as_str));
        }
        if capabilities.iter().all(|column| column.readable.is_ok()) {
            return scan;
        }
        // Columns may share a name, so they are chosen by the leaves below them.
        let schema = file.metadata().schema();
        let fields = schema.root().children().iter().map(|&field| schema.node(field));
        let readable = fields.zip(capabilities).filter(|(_, column)| column.readable.is_ok());
        scan.leaves(readable.flat_map(|(field, _)| field.leaves()))
    }

    fn overview(&self, file: &ParquetFile, path: &Path, out: &mut dyn Write) -> io::Result<()> {
        let size = std::fs::metadata(path).map_or(0, |metadata| metadata.len());
        writeln!(
            out,
            "{}: {}, {} in {}, {}",
            path.display(),
            human::bytes(size),
            human::plural(file.num_rows(), "row"),
            human::plural(file.num_row_groups() as u64, "row group"),
            human::plural(file.schema().fields().len() as u64, "column"),
        )?;
        match file.metadata().created_by() {
            Some(writer) => writeln!(out, "written by {}", cut(writer, 100)),
            None => Ok(()),
        }
    }

    fn print_schema(
        &self,
        schema: &Schema,
        capabilities: &[Capability],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        writeln!(out, "\nschema")?;
        let mut table = Table::new("  ", ["", "", ""].map(|header| (header, Align::Left)));
        schema.fields().iter().for_each(|field| describe(field, 0, &mut table));
        table.print(out)?;
        if self.columns.is_none() {
            for column in capabilities {
                if let Err(error) = &column.readable {
                    writeln!(out, "  {} cannot be read: {}", cut(&column.column, 60), cli::chain(error))?;
                }
            }
        }
        Ok(())
    }

    fn print_rows(
        &self,
        file: &ParquetFile,
        scan: Scan,
        out: &mut dyn Write,
        path: &Path,
    ) -> Result<(), Failure> {
        if self.rows == 0 {
            return Ok(());
        }
        writeln!(out, "\nrows")?;
        let reader = scan.offset(self.offset).limit(self.rows).build();
        let mut reader = reader.about(path.display())?;
        let schema = reader.schema();
        let headers = schema.fields().iter().map(|field| (cut(field.name(), self.cut), align(field)));
        let mut table = Table::new("  ", [(String::new(), Align::Right)].into_iter().chain(headers));
        let mut progress = Progress::beside_output("rows", file.num_rows().min(self.rows));
        let mut row_number = self.offset;
        let mut is_wide = false;
        while let Some(batch) = reader.next_batch().about(path.display())? {
            // The table's columns are set by the first few rows, and widen later if they must.
            for start in (0..batch.num_rows()).step_by(BLOCK) {
                let block = batch.slice(start, BLOCK.min(batch.num_rows() - start));
                is_wide = is_wide || self.fill(&mut table, &block, row_number);
                match is_wide {
                    true => self.print_records(&block, row_number, out)?,
                    false => table.print(out)?,
                }
                row_number += block.num_rows() as u64;
                progress.add(block.num_rows() as u64);
            }
        }
        Ok(())
    }

    /// Adds the rows; tells whether the table got too wide for them.
    fn fill(&self, table: &mut Table, batch: &RecordBatch, first: u64) -> bool {
        for (row, number) in (0..batch.num_rows()).zip(first..) {
            let cells = batch.columns().iter().map(|column| cell(column.as_ref(), row, self.cut));
            table.row([human::count(number)].into_iter().chain(cells));
        }
        self.width > 0 && table.width() > self.width
    }

    /// Each column on a line of its own: for more of them than fit side by side.
    fn print_records(&self, batch: &RecordBatch, first: u64, out: &mut dyn Write) -> io::Result<()> {
        let schema = batch.schema();
        let names: Vec<String> = schema.fields().iter().map(|field| cut(field.name(), self.cut)).collect();
        let widest = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let room = self.width.saturating_sub(widest + 6).max(self.cut);
        for (row, number) in (0..batch.num_rows()).zip(first..) {
            writeln!(out, "  row {}", human::count(number))?;
            for (name, column) in names.iter().zip(batch.columns()) {
                let pad = " ".repeat(widest - width(name));
                writeln!(out, "    {name}{pad}  {}", cell(column.as_ref(), row, room))?;
            }
        }
        Ok(())
    }
}

/// How many rows set the widths of the table's columns.
const BLOCK: usize = 1024;

/// A line for the field, and for each field within it.
fn describe(field: &Field, depth: usize, table: &mut Table) {
    let name = format!("{}{}", "  ".repeat(depth), cut(field.name(), 60));
    let (kind, children): (String, Vec<&Field>) = match field.data_type() {
        DataType::List(child) => ("List".into(), vec![child]),
        DataType::LargeList(child) => ("LargeList".into(), vec![child]),
        DataType::ListView(child) => ("ListView".into(), vec![child]),
        DataType::LargeListView(child) => ("LargeListView".into(), vec![child]),
        DataType::FixedSizeList(child, len) => (format!("FixedSizeList of {len}"), vec![child]),
        DataType::Map(entries, _) => match entries.data_type() {
            DataType::Struct(pair) => ("Map".into(), pair.iter().map(AsRef::as_ref).collect()),
            _ => ("Map".into(), vec![entries]),
        },
        DataType::Struct(fields) => ("Struct".into(), fields.iter().map(AsRef::as_ref).collect()),
        other => (other.to_string(), Vec::new()),
    };
    let extension = field.metadata().get("ARROW:extension:name");
    let kind = extension.map_or(kind.clone(), |extension| format!("{kind}, {}", cut(extension, 40)));
    table.row([name, kind, if field.is_nullable() { "nullable" } else { "" }.into()]);
    children.into_iter().for_each(|child| describe(child, depth + 1, table));
}

fn row_groups(file: &ParquetFile, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nrow groups")?;
    let headers = ["", "rows", "stored", "as values"].map(|header| (header, Align::Right));
    let mut table = Table::new("  ", headers);
    for row_group in file.metadata().row_groups().take(MOST_ROW_GROUPS) {
        let stored = row_group.total_compressed_size().and_then(|size| u64::try_from(size).ok());
        table.row([
            row_group.index().to_string(),
            human::count(row_group.num_rows()),
            stored.map(human::bytes).unwrap_or_default(),
            human::bytes(row_group.total_byte_size()),
        ]);
    }
    table.print(out)?;
    match file.num_row_groups().saturating_sub(MOST_ROW_GROUPS) {
        0 => Ok(()),
        more => writeln!(out, "  and {more} more"),
    }
}

const MOST_ROW_GROUPS: usize = 20;

/// Reads everything, and shows nothing of it.
fn check(scan: &Scan, num_rows: u64, out: &mut dyn Write, path: &Path) -> Result<(), Failure> {
    out.flush()?;
    let start = Instant::now();
    let mut reader = scan.clone().build().about(path.display())?;
    let mut progress = Progress::new("rows", num_rows);
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().about(path.display())? {
        rows += batch.num_rows() as u64;
        progress.add(batch.num_rows() as u64);
    }
    drop(progress);
    let (took, columns) = (start.elapsed(), reader.schema().fields().len() as u64);
    writeln!(
        out,
        "\nall is well: {} of {} read in {}",
        human::plural(rows, "row"),
        human::plural(columns, "column"),
        human::duration(took)
    )?;
    Ok(())
}

/// Numbers stand to the right.
fn align(field: &Field) -> Align {
    if field.data_type().is_numeric() { Align::Right } else { Align::Left }
}
