//! The crate's one error: what went wrong, with the offending value, and where.
//!
//! A function deep down knows what is wrong; each caller that knows more of the place adds it with
//! [`Context`]. The place is a row group, a column, a page (counted from 0 within its column chunk) and a byte
//! offset within the file.

use std::borrow::Cow;
use std::fmt;

use crate::arrow::schema::ArrowError;

/// The result of every fallible function of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What is wrong with a file, a page or a request, and where.
///
/// One pointer wide. [`Error::kind`] says what, [`Error::place`] says where; [`std::error::Error::source`] leads
/// to the error of the operating system or of a codec, where one stands behind it.
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    place: Place,
}

/// What is wrong.
#[derive(Debug)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The operating system could not open, map or read.
    Io(std::io::Error),
    /// The file does not end (or begin) with a Parquet magic number.
    NotParquet(String),
    /// The bytes end before what they promise.
    EndOfData {
        /// What was being read.
        what: Cow<'static, str>,
        /// Bytes (or values) that it takes.
        needed: u64,
        /// Bytes (or values) that there are.
        available: u64,
    },
    /// The bytes break the format: the text names the rule and the offending value.
    Malformed(Cow<'static, str>),
    /// A value that the format allows and this crate cannot read or write.
    Unsupported(Cow<'static, str>),
    /// A codec that this build leaves out.
    MissingFeature {
        /// The codec, as the format names it.
        codec: &'static str,
        /// The feature of this crate that brings it.
        feature: &'static str,
    },
    /// The file, or the part of it that was asked for, is encrypted.
    Encrypted(Cow<'static, str>),
    /// A codec refused its input.
    Codec {
        /// The codec, as the format names it.
        codec: &'static str,
        /// What it said.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A page's CRC-32 is not what its header says.
    Checksum {
        /// From the page header.
        stored: u32,
        /// Of the page's bytes.
        computed: u32,
    },
    /// A dictionary index at or past the dictionary's end.
    DictionaryIndex {
        /// The index.
        index: u32,
        /// How many values the dictionary holds.
        len: usize,
    },
    /// A string column holds bytes that are not UTF-8. `output_type(column, Binary)` reads them.
    NotUtf8 {
        /// The value within the batch or dictionary, counted from 0.
        value: usize,
    },
    /// A value that the Arrow type asked for cannot hold.
    OutOfRange {
        /// The value, as text.
        value: String,
        /// The Arrow type.
        data_type: String,
    },
    /// A value or row that outgrows 32-bit offsets. The large types hold it.
    OffsetOverflow {
        /// The Arrow type to ask for instead.
        use_instead: &'static str,
    },
    /// A limit of the reader's options, reached.
    Limit {
        /// Which limit.
        what: &'static str,
        /// Its value.
        limit: u64,
        /// What the file wants.
        wanted: u64,
    },
    /// No such column.
    UnknownColumn(String),
    /// The caller asked for what makes no sense for this file.
    InvalidArgument(Cow<'static, str>),
    /// Arrow refused what it was given.
    Arrow(ArrowError),
}

/// Where it is wrong, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Row group, counted from 0.
    pub row_group: Option<usize>,
    /// Dotted path of the column.
    pub column: Option<String>,
    /// Page within its column chunk, counted from 0; a dictionary page counts.
    pub page: Option<usize>,
    /// Byte offset from the start of the file (or of the bytes handed in).
    pub offset: Option<u64>,
}

impl Error {
    /// What is wrong.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// Where it is wrong, as far as known.
    pub fn place(&self) -> &Place {
        &self.0.place
    }

    pub(crate) fn malformed(text: impl Into<Cow<'static, str>>) -> Self {
        ErrorKind::Malformed(text.into()).into()
    }

    pub(crate) fn unsupported(text: impl Into<Cow<'static, str>>) -> Self {
        ErrorKind::Unsupported(text.into()).into()
    }

    pub(crate) fn invalid(text: impl Into<Cow<'static, str>>) -> Self {
        ErrorKind::InvalidArgument(text.into()).into()
    }

    pub(crate) fn end_of_data(what: impl Into<Cow<'static, str>>, needed: usize, available: usize) -> Self {
        ErrorKind::EndOfData { what: what.into(), needed: needed as u64, available: available as u64 }.into()
    }

    pub(crate) fn out_of_range(value: impl fmt::Display, data_type: impl fmt::Display) -> Self {
        ErrorKind::OutOfRange { value: value.to_string(), data_type: data_type.to_string() }.into()
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Error(Box::new(Inner { kind, place: Place::default() }))
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        ErrorKind::Io(error).into()
    }
}

impl From<ArrowError> for Error {
    fn from(error: ArrowError) -> Self {
        ErrorKind::Arrow(error).into()
    }
}

impl From<Error> for ArrowError {
    fn from(error: Error) -> Self {
        ArrowError::ExternalError(Box::new(error))
    }
}

/// Adds a place to an error on its way up. What is known already stays: the innermost caller knows best.
pub(crate) trait Context: Sized {
    fn in_row_group(self, row_group: usize) -> Self;
    /// `column` is called only when there is an error that has no column yet.
    fn in_column(self, column: impl FnOnce() -> String) -> Self;
    fn in_page(self, page: usize) -> Self;
    fn at_offset(self, offset: u64) -> Self;
    /// The offset so far (0 where there is none) counts from `start` on.
    fn offset_from(self, start: u64) -> Self;
}

impl Context for Error {
    fn in_row_group(mut self, row_group: usize) -> Self {
        self.0.place.row_group.get_or_insert(row_group);
        self
    }

    fn in_column(mut self, column: impl FnOnce() -> String) -> Self {
        self.0.place.column.get_or_insert_with(column);
        self
    }

    fn in_page(mut self, page: usize) -> Self {
        self.0.place.page.get_or_insert(page);
        self
    }

    fn at_offset(mut self, offset: u64) -> Self {
        self.0.place.offset.get_or_insert(offset);
        self
    }

    fn offset_from(mut self, start: u64) -> Self {
        let offset = self.0.place.offset.get_or_insert(0);
        *offset = offset.saturating_add(start);
        self
    }
}

impl<T> Context for Result<T> {
    fn in_row_group(self, row_group: usize) -> Self {
        self.map_err(|e| e.in_row_group(row_group))
    }

    fn in_column(self, column: impl FnOnce() -> String) -> Self {
        self.map_err(|e| e.in_column(column))
    }

    fn in_page(self, page: usize) -> Self {
        self.map_err(|e| e.in_page(page))
    }

    fn at_offset(self, offset: u64) -> Self {
        self.map_err(|e| e.at_offset(offset))
    }

    fn offset_from(self, start: u64) -> Self {
        self.map_err(|e| e.offset_from(start))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.0.kind, self.0.place)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error").field("kind", &self.0.kind).field("place", &self.0.place).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.kind {
            ErrorKind::Io(e) => Some(e),
            ErrorKind::Codec { source, .. } => Some(source.as_ref()),
            ErrorKind::Arrow(e) => Some(e),
            _ => None,
        }
    }
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ErrorKind::Io(e) => write!(f, "input/output: {e}"),
            ErrorKind::NotParquet(why) => write!(f, "not a Parquet file: {why}"),
            ErrorKind::EndOfData { what, needed, available } => {
                write!(f, "{what}: {needed} needed, {available} left")
            }
            ErrorKind::Malformed(what) => write!(f, "malformed: {what}"),
            ErrorKind::Unsupported(what) => write!(f, "not supported: {what}"),
            ErrorKind::MissingFeature { codec, feature } => {
                write!(f, "{codec} needs the feature `{feature}` of marquetry, which this build leaves out")
            }
            ErrorKind::Encrypted(what) => write!(f, "encrypted: {what}"),
            ErrorKind::Codec { codec, source } => write!(f, "{codec} refuses the page: {source}"),
            ErrorKind::Checksum { stored, computed } => {
                write!(f, "page checksum is {computed:#010x}, its header says {stored:#010x}")
            }
            ErrorKind::DictionaryIndex { index, len } => {
                write!(f, "dictionary index {index} in a dictionary of {len} values")
            }
            ErrorKind::NotUtf8 { value } => {
                write!(
                    f,
                    "value {value} of a string column is not UTF-8 (Binary as its output type reads it)"
                )
            }
            ErrorKind::OutOfRange { value, data_type } => write!(f, "{value} does not fit {data_type}"),
            ErrorKind::OffsetOverflow { use_instead } => {
                write!(
                    f,
                    "more than 2^31-1 bytes in one row: 32-bit offsets cannot hold it, {use_instead} can"
                )
            }
            ErrorKind::Limit { what, limit, wanted } => {
                write!(f, "{what} of {wanted} is over the limit of {limit}")
            }
            ErrorKind::UnknownColumn(name) => write!(f, "no column is named {name:?}"),
            ErrorKind::InvalidArgument(what) => write!(f, "{what}"),
            ErrorKind::Arrow(e) => write!(f, "{e}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = " (";
        let mut part = |f: &mut fmt::Formatter<'_>, text: fmt::Arguments<'_>| {
            let written = write!(f, "{separator}{text}");
            separator = ", ";
            written
        };
        if let Some(n) = self.row_group {
            part(f, format_args!("row group {n}"))?;
        }
        if let Some(name) = &self.column {
            part(f, format_args!("column {name}"))?;
        }
        if let Some(n) = self.page {
            part(f, format_args!("page {n}"))?;
        }
        if let Some(n) = self.offset {
            part(f, format_args!("byte {n}"))?;
        }
        if *self == Place::default() { Ok(()) } else { f.write_str(")") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_and_where() {
        let error = Error::malformed("bit width 33 is more than 32")
            .at_offset(4)
            .in_page(2)
            .in_column(|| "a.b".into())
            .in_row_group(1)
            .at_offset(9);
        assert_eq!(
            error.to_string(),
            "malformed: bit width 33 is more than 32 (row group 1, column a.b, page 2, byte 4)"
        );
    }

    #[test]
    fn an_offset_within_a_part_becomes_one_within_the_file() {
        let error = Error::malformed("").at_offset(3).offset_from(100).at_offset(7);
        assert_eq!(error.place().offset, Some(103));
        assert_eq!(Error::malformed("").offset_from(100).place().offset, Some(100));
    }

    #[test]
    fn keeps_the_source() {
        let error = Error::from(std::io::Error::other("disk on fire"));
        assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "disk on fire");
        assert_eq!(size_of::<Error>(), size_of::<usize>());
    }
}
