//! Copies one column chunk, its pages byte for byte, to a page dump: a Parquet file of that chunk alone.
//!
//! ```text
//! cargo run --release --example dump_pages -- trips.parquet fare.amount 0 fare.parquet
//! ```
//!
//! Pages are neither decompressed nor decoded, so a chunk that no reader can read is copied all the same: a small file
//! to send along with a bug report. Whatever reads Parquet reads the dump; `read_pages` lists its pages.

mod common;

use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::cli::{About, Failure, Program, missing, unexpected};
use common::progress::Progress;
use common::replace::replace;
use common::{human, leaf};
use lexopt::ValueExt;
use marquetry::metadata::{ColumnChunkMetadata, FooterWriter, KeyValue, MAGIC, SortingColumn};
use marquetry::{ColumnChunk, ParquetFile, Result};

fn main() -> ExitCode {
    PROGRAM.main()
}

pub(crate) const PROGRAM: Program = Program {
    name: "dump_pages",
    help: "\
Copies one column chunk, its pages byte for byte, to a Parquet file of its own.

usage: dump_pages FILE COLUMN ROWGROUP OUT

  FILE        a Parquet file
  COLUMN      dotted path of a column, or its number
  ROWGROUP    number of a row group, counted from 0
  OUT         the file to make; one that is there already is replaced
  -h, --help  this text

The new file has the column's part of the schema, its levels, rows, statistics and checksums, and the name of the
first file's writer, whose habits readers may have to know. It has no page index, no Bloom filter, and none of
the notes (as `ARROW:schema`) that speak of other columns, too.
",
    run: |mut args, out| {
        let mut values = Vec::new();
        while let Some(arg) = args.next()? {
            match arg {
                lexopt::Arg::Value(value) if values.len() < 4 => values.push(value),
                other => return Err(unexpected(other)),
            }
        }
        let [path, column, row_group, to] = <[_; 4]>::try_from(values).map_err(|values| {
            missing(["FILE", "COLUMN", "ROWGROUP", "OUT"].get(values.len()).unwrap_or(&"an argument"))
        })?;
        let (path, to) = (PathBuf::from(path), PathBuf::from(to));
        let (column, row_group) = (column.string()?, row_group.parse()?);
        let size = copy(&path, &column, row_group, &to)?;
        writeln!(out, "{}: {}", to.display(), human::bytes(size))?;
        Ok(())
    },
};

/// Gives how many bytes the dump has.
fn copy(path: &Path, column: &str, row_group: usize, to: &Path) -> std::result::Result<u64, Failure> {
    // SAFETY: whoever runs this names a file to copy from, and does not change it meanwhile; `to` is another file, and
    // is replaced rather than written over. Mapped, the pages go from the one file to the other without a copy.
    #[allow(unsafe_code)]
    let file = unsafe { ParquetFile::map(path) }.about(path.display())?;
    let leaf = leaf::find(file.metadata().schema(), column).about(path.display())?;
    let chunk = file.row_group(row_group).and_then(|row_group| row_group.column(leaf));
    let chunk = chunk.about(path.display())?;
    if let (Ok(from), Ok(to)) = (fs::canonicalize(path), fs::canonicalize(to))
        && from == to
    {
        return Err(Failure::Usage(format!("OUT is FILE: {} would be lost", path.display())));
    }
    replace(to, |out| dump(&file, row_group, &chunk, out)).about(to.display())
}

/// Writes the dump of a chunk; gives how many bytes that are.
pub(crate) fn dump(
    file: &ParquetFile,
    row_group: usize,
    chunk: &ColumnChunk,
    out: &mut dyn Write,
) -> std::result::Result<u64, Box<dyn Error>> {
    let pages = chunk.bytes()?;
    out.write_all(&MAGIC)?;
    write_pages(&pages, out)?;

    let source = file.metadata();
    let mut footer = FooterWriter::new(leaf::alone(source.schema(), chunk.leaf())?);
    footer.created_by = source.created_by().unwrap_or_default().to_owned();
    footer.column_orders = vec![source.column_order(chunk.leaf())];
    footer.key_value_metadata = vec![KeyValue {
        key: "marquetry.dump".into(),
        value: Some(format!("column {} of row group {row_group}", source.schema().leaf_name(chunk.leaf()))),
    }];
    let group = source.row_group(row_group)?;
    // Rows are sorted by this column where it is the first to sort by.
    let sorting = group.sorting_columns().first().copied();
    let sorting = sorting.filter(|by| usize::try_from(by.column_index) == Ok(chunk.leaf()));
    footer.sorting_columns = sorting.map(|by| SortingColumn { column_index: 0, ..by }).into_iter().collect();
    footer.row_group(group.num_rows(), vec![moved(chunk.metadata(), pages.len())?])?;
    let mut end = Vec::new();
    footer.finish(&mut end)?;
    out.write_all(&end)?;
    Ok((MAGIC.len() + pages.len() + end.len()) as u64)
}

fn write_pages(pages: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let mut progress = Progress::new("bytes", pages.len() as u64);
    for part in pages.chunks(1 << 20) {
        out.write_all(part)?;
        progress.add(part.len() as u64);
    }
    Ok(())
}

/// The chunk's metadata, its `byte_len` bytes of pages right behind the magic number. What lies outside of them is left
/// behind.
fn moved(from: &ColumnChunkMetadata, byte_len: usize) -> Result<ColumnChunkMetadata> {
    let start = from.byte_range()?.start;
    let end = (MAGIC.len() + byte_len) as u64;
    // Readers go by the dictionary page's offset where there is one, and some files then have nonsense for the other.
    let place = |offset: u64| offset.saturating_sub(start).saturating_add(MAGIC.len() as u64).min(end);
    let dictionary = from.dictionary_page_offset().map(place);
    let data = place(u64::try_from(from.data_page_offset()).unwrap_or(0));

    let mut to = ColumnChunkMetadata::new(from.physical, from.compression);
    to.encodings.clone_from(&from.encodings);
    to.num_values = from.num_values;
    to.total_uncompressed_size = from.total_uncompressed_size;
    to.key_value_metadata.clone_from(&from.key_value_metadata);
    to.statistics.clone_from(&from.statistics);
    to.encoding_stats.clone_from(&from.encoding_stats);
    to.size_statistics.clone_from(&from.size_statistics);
    to.geospatial_statistics.clone_from(&from.geospatial_statistics);
    to.set_pages(dictionary, data, end)?;
    Ok(to)
}
