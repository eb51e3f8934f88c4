//! Where bytes come from: memory (a map is memory too), a file read by position, or ranges that the caller fetched.
//!
//! The only module that does IO. It takes byte ranges of the file and gives buffers; what the bytes mean it does not
//! know.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::arrow::buffer::Buffer;
use crate::error::{Context, Error, Result};

/// A file's bytes, by position. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Source {
    /// All of it, in memory or mapped: ranges are lent.
    Memory(Buffer),
    /// An open file and its length when opened: ranges are read.
    File(Arc<File>, u64),
    /// Some ranges of it, sorted by offset, and its length.
    Ranges(Arc<[(u64, Buffer)]>, u64),
}

impl Source {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = File::open(path)?;
        let len = file.metadata()?.len();
        Ok(Source::File(Arc::new(file), len))
    }

    pub(crate) fn from_ranges(mut ranges: Vec<(u64, Buffer)>, len: u64) -> Self {
        ranges.sort_by_key(|(offset, _)| *offset);
        Source::Ranges(ranges.into(), len)
    }

    /// Length of the file, in bytes.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Source::Memory(buffer) => buffer.len() as u64,
            Source::File(_, len) | Source::Ranges(_, len) => *len,
        }
    }

    /// Bytes from `offset` on that [`Source::read`] can give at once. 0 does not mean that it could give none: the
    /// error says why.
    pub(crate) fn available(&self, offset: u64) -> u64 {
        match self {
            Source::Ranges(ranges, _) => range_of(ranges, offset)
                .map_or(0, |(start, buffer)| (start + buffer.len() as u64).saturating_sub(offset)),
            _ => self.len().saturating_sub(offset),
        }
    }

    /// Whether what [`Source::read`] gives is lent from memory that is there anyway.
    pub(crate) fn lends(&self) -> bool {
        !matches!(self, Source::File(..))
    }

    /// The bytes of `range`.
    ///
    /// # Errors
    /// When the range does not lie within the file, was not handed in, or cannot be read.
    pub(crate) fn read(&self, range: Range<u64>) -> Result<Buffer> {
        let len = range.end.checked_sub(range.start).filter(|_| range.end <= self.len());
        let Some(len) = len.and_then(|len| usize::try_from(len).ok()) else {
            return Err(Error::malformed(format!(
                "bytes {}..{} do not lie within the file of {} bytes",
                range.start,
                range.end,
                self.len()
            )));
        };
        match self {
            Source::Memory(buffer) => slice(buffer, range.start, len),
            Source::File(file, _) => read_at(file, range.start, len).at_offset(range.start),
            Source::Ranges(ranges, _) => find(ranges, &range, len),
        }
    }
}

/// `len` bytes from `offset` on; the caller has checked that they are there.
fn slice(buffer: &Buffer, offset: u64, len: usize) -> Result<Buffer> {
    match usize::try_from(offset) {
        Ok(offset) if offset.checked_add(len).is_some_and(|end| end <= buffer.len()) => {
            Ok(buffer.slice_with_length(offset, len))
        }
        _ => Err(Error::end_of_data("bytes of the file", len, buffer.len())),
    }
}

fn find(ranges: &[(u64, Buffer)], wanted: &Range<u64>, len: usize) -> Result<Buffer> {
    match range_of(ranges, wanted.start) {
        Some((offset, buffer)) if wanted.end - offset <= buffer.len() as u64 => {
            slice(buffer, wanted.start - offset, len)
        }
        _ if len == 0 => Ok(Buffer::default()),
        _ => Err(Error::invalid(format!(
            "bytes {}..{} are not among the ranges handed in",
            wanted.start, wanted.end
        ))),
    }
}

/// The last range that begins at `offset` or before.
fn range_of(ranges: &[(u64, Buffer)], offset: u64) -> Option<&(u64, Buffer)> {
    let after = ranges.partition_point(|(start, _)| *start <= offset);
    ranges.get(after.checked_sub(1)?)
}

fn read_at(file: &File, offset: u64, len: usize) -> Result<Buffer> {
    let mut bytes = vec![0u8; len];
    read_exact_at(file, &mut bytes, offset)?;
    Ok(Buffer::from_vec(bytes))
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> std::io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> std::io::Result<()> {
    use std::io::ErrorKind;
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        match file.seek_read(bytes, offset) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(n) => {
                bytes = bytes.get_mut(n..).unwrap_or_default();
                offset += n as u64;
            }
            Err(e) if e.kind() == ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_or_refused() {
        let ranges = vec![(100, Buffer::from(&[5u8; 10])), (10, Buffer::from(&[1u8, 2, 3, 4]))];
        let source = Source::from_ranges(ranges, 200);
        assert_eq!(source.read(11..13).unwrap().as_slice(), [2, 3]);
        assert_eq!(source.read(100..110).unwrap().len(), 10);
        assert!(source.read(13..15).is_err());
        assert_eq!([9, 10, 13, 14, 50, 100].map(|offset| source.available(offset)), [0, 4, 1, 0, 0, 10]);
        assert!(source.read(0..4).is_err());
        assert!(source.read(199..201).unwrap_err().to_string().contains("200 bytes"));
    }

    #[test]
    #[allow(clippy::reversed_empty_ranges)]
    fn a_reversed_range_is_refused() {
        let source = Source::Memory(Buffer::from(&[1u8, 2, 3, 4]));
        assert!(source.read(3..2).is_err());
        assert!(source.read(2..u64::MAX).is_err());
        assert_eq!(source.read(4..4).unwrap().len(), 0);
    }

    #[test]
    fn a_file_that_shrinks_is_an_error() {
        let path = std::env::temp_dir().join(format!("marquetry-shrink-{}", std::process::id()));
        std::fs::write(&path, [7u8; 100]).unwrap();
        let source = Source::open(&path).unwrap();
        assert_eq!(source.read(90..100).unwrap().as_slice(), [7u8; 10]);
        std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(50).unwrap();
        let error = source.read(40..60).unwrap_err();
        std::fs::remove_file(&path).unwrap();
        assert!(matches!(error.kind(), crate::ErrorKind::Io(_)), "{error}");
        assert_eq!(error.place().offset, Some(40));
    }
}
