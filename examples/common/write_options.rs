//! Options of writing on a command line: the same for every example that writes.

use lexopt::prelude::*;
use marquetry::metadata::{ColumnOrder, Compression, Encoding};
use marquetry::{ColumnOptions, PageVersion, WriteOptions};

use super::cli::Failure;

/// What one option on the command line changes.
pub(crate) type Change = Box<dyn FnOnce(WriteOptions) -> WriteOptions>;

/// Zstandard, and what was asked for.
pub(crate) fn apply(options: WriteOptions, changes: Vec<Change>) -> WriteOptions {
    let options = options.compression(Compression::Zstd);
    changes.into_iter().fold(options, |options, change| change(options))
}

/// Takes an option of writing; `None` of an option that is none.
pub(crate) fn option(
    name: &str,
    mut value: impl FnMut() -> Result<std::ffi::OsString, lexopt::Error>,
) -> Result<Option<Change>, Failure> {
    Ok(Some(match name {
        "codec" => {
            let codec = codec(&value()?.string()?)?;
            Box::new(move |options: WriteOptions| options.compression(codec))
        }
        "level" => {
            let level = value()?.parse()?;
            Box::new(move |options: WriteOptions| options.compression_level(level))
        }
        "v1" => Box::new(|options: WriteOptions| options.page_version(PageVersion::V1)),
        "v2" => Box::new(|options: WriteOptions| options.page_version(PageVersion::V2)),
        "page-rows" => {
            let rows = value()?.parse()?;
            Box::new(move |options: WriteOptions| options.page_rows(rows))
        }
        "row-group-rows" => {
            let rows = value()?.parse()?;
            Box::new(move |options: WriteOptions| options.row_group_rows(rows))
        }
        "no-dictionary" => Box::new(|options: WriteOptions| options.dictionary(false)),
        "encoding" => {
            let text = value()?.string()?;
            let Some((column, name)) = text.rsplit_once('=') else {
                return Err(Failure::Usage(format!("{text:?} is not COLUMN=ENCODING")));
            };
            let (column, wish) = (column.to_owned(), ColumnOptions::new().encoding(encoding(name)?));
            Box::new(move |options: WriteOptions| options.column(column, wish))
        }
        "bloom" => {
            let column = value()?.string()?;
            let wish = ColumnOptions::new().bloom_filter(0.01);
            Box::new(move |options: WriteOptions| options.column(column, wish))
        }
        "total-order" => Box::new(|options: WriteOptions| options.float_order(ColumnOrder::Ieee754Total)),
        "crc" => Box::new(|options: WriteOptions| options.crc(true)),
        _ => return Ok(None),
    }))
}

fn codec(name: &str) -> Result<Compression, Failure> {
    let codecs = (0..8).map(Compression::from_number);
    let mut found = codecs.filter(|codec| codec.to_string().eq_ignore_ascii_case(name));
    found.next().ok_or_else(|| Failure::Usage(format!("no codec is named {name:?}")))
}

fn encoding(name: &str) -> Result<Encoding, Failure> {
    let encodings = (0..11).map(Encoding::from_number);
    let mut found = encodings.filter(|encoding| encoding.to_string().eq_ignore_ascii_case(name));
    found.next().ok_or_else(|| Failure::Usage(format!("no encoding is named {name:?}")))
}
