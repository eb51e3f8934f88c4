//! Byte strings that all have one width.

use crate::arrow::array::FixedSizeBinaryArray;
use crate::arrow::buffer::{Buffer, NullBuffer};
use crate::bitmap::Bits;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::front_coding::FrontCoded;
use crate::raw::spread::{check_count, spread_bytes_16};
use crate::sink::{ByteSink, Sink, check_width};

/// Byte strings of `width` bytes each, end to end.
#[derive(Debug, Clone)]
pub struct FixedBytesSink {
    width: usize,
    len: usize,
    values: Vec<u8>,
    /// Bytes of null slots among the values.
    padding: usize,
}

impl FixedBytesSink {
    /// No values; each will take `width` bytes.
    pub fn new(width: usize) -> Self {
        FixedBytesSink { width, len: 0, values: Vec::new(), padding: 0 }
    }

    /// Bytes a value.
    pub fn width(&self) -> usize {
        self.width
    }

    /// All values end to end.
    pub fn as_bytes(&self) -> &[u8] {
        &self.values
    }

    /// The same memory as an Arrow buffer.
    pub fn into_buffer(self) -> Buffer {
        Buffer::from_vec(self.values)
    }

    /// The same memory as an Arrow array.
    ///
    /// # Errors
    /// When `nulls` has not one bit a value, or the width is more than `i32::MAX`.
    pub fn finish(self, nulls: Option<NullBuffer>) -> Result<FixedSizeBinaryArray> {
        let width = i32::try_from(self.width)
            .map_err(|_| Error::unsupported(format!("values of {} bytes each", self.width)))?;
        let (len, values) = (self.len, Buffer::from_vec(self.values));
        Ok(FixedSizeBinaryArray::try_new_with_len(width, values, nulls, len)?)
    }

    /// Moves the value in slot `from` (counted from byte `start`) to slot `to`.
    fn move_value(&mut self, start: usize, from: usize, to: usize) {
        let source = start + from * self.width;
        self.values.copy_within(source..source + self.width, start + to * self.width);
    }

    /// Counts the bytes of null slots, which no file need have: a few levels may stand for any number of them.
    fn pad(&mut self, num_nulls: usize) -> Result<()> {
        let data = self.values.len().saturating_sub(self.padding);
        self.padding = self.padding.saturating_add(num_nulls.saturating_mul(self.width));
        let limit = PADDING_AT_MOST.max(data.saturating_mul(8));
        if self.padding > limit {
            let (limit, wanted) = (limit as u64, self.padding as u64);
            return Err(ErrorKind::Limit { what: "null slots of a batch", limit, wanted }.into());
        }
        Ok(())
    }

    fn take(&mut self, value: &[u8]) -> Result<()> {
        if value.len() != self.width {
            return Err(Error::malformed(format!("a value of {} bytes, not {}", value.len(), self.width)));
        }
        self.values.extend_from_slice(value);
        self.len += 1;
        Ok(())
    }
}

/// Bytes that null slots may take, or eight times those of values. A smaller batch needs less.
const PADDING_AT_MOST: usize = 1 << 28;

impl Sink for FixedBytesSink {
    fn len(&self) -> usize {
        self.len
    }

    fn reserve(&mut self, n: usize) {
        self.values.reserve(n.saturating_mul(self.width));
    }

    fn spread(&mut self, start: usize, validity: Bits<'_>) -> Result<()> {
        let mut from = check_count(self.len, start, validity)?;
        self.pad(validity.len() - from)?;
        self.len = start + validity.len();
        let first = start * self.width;
        if self.width == 16 {
            // A UUID's width.
            return spread_bytes_16(&mut self.values, first, validity);
        }
        self.values.resize(self.len * self.width, 0);
        for to in (0..validity.len()).rev() {
            if from == to + 1 {
                break;
            }
            if validity.get(to) {
                from -= 1;
                self.move_value(first, from, to);
            } else {
                let slot = first + to * self.width;
                self.values.get_mut(slot..slot + self.width).unwrap_or_default().fill(0);
            }
        }
        Ok(())
    }

    fn push_nulls(&mut self, n: usize) {
        self.len += n;
        self.values.resize(self.len * self.width, 0);
    }

    fn split_off(&mut self, at: usize) -> Self {
        let at = at.min(self.len);
        let tail = FixedBytesSink {
            width: self.width,
            len: self.len - at,
            values: self.values.split_off(at * self.width),
            padding: 0,
        };
        self.len = at;
        tail
    }
}

impl ByteSink for FixedBytesSink {
    fn push(&mut self, value: &[u8]) -> Result<bool> {
        self.take(value).map(|()| true)
    }

    fn append_front_coded(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        data: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<(usize, usize)> {
        let mut lens = prefixes.iter().zip(suffixes).map(|(&p, &s)| i64::from(p) + i64::from(s));
        if let Some(len) = lens.find(|&len| usize::try_from(len) != Ok(self.width)) {
            return Err(Error::malformed(format!("a value of {len} bytes, not {}", self.width)));
        }
        let mut ends = Vec::<i64>::new();
        let appended = FrontCoded { prefixes, suffixes, data }.append(&mut self.values, &mut ends, previous);
        self.len += ends.len();
        appended
    }

    fn append_fixed(&mut self, data: &[u8], width: usize, _source: Option<&Buffer>) -> Result<usize> {
        check_width(data, width)?;
        if width != self.width {
            return Err(Error::malformed(format!("values of {width} bytes, not {}", self.width)));
        }
        self.values.extend_from_slice(data);
        self.len += data.len() / width;
        Ok(data.len() / width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitmap::Bitmap;

    #[test]
    fn takes_spreads_and_cuts_values_of_one_width() {
        let mut sink = FixedBytesSink::new(3);
        assert!(sink.push(b"abc").unwrap());
        assert_eq!(sink.append_fixed(b"defghi", 3, None).unwrap(), 2);
        assert!(sink.append_fixed(b"defg", 3, None).is_err());
        assert!(sink.append_fixed(b"defg", 2, None).is_err());
        assert!(sink.push(b"ab").is_err());
        let validity: Bitmap = [true, false, true, false].into_iter().collect();
        sink.spread(1, validity.bits(0..4)).unwrap();
        sink.push_nulls(1);
        assert_eq!(sink.as_bytes(), b"abcdef\0\0\0ghi\0\0\0\0\0\0");
        let tail = sink.split_off(3);
        assert_eq!(tail.as_bytes(), b"ghi\0\0\0\0\0\0");
        let array = sink.finish(None).unwrap();
        assert_eq!(array.iter().flatten().collect::<Vec<_>>(), [b"abc", b"def", b"\0\0\0"]);
    }

    #[test]
    fn a_width_of_zero_still_counts() {
        let mut sink = FixedBytesSink::new(0);
        assert!(sink.push(b"").unwrap());
        sink.push_nulls(4);
        assert_eq!(sink.split_off(3).len(), 2);
        assert!(sink.append_fixed(b"", 0, None).is_err());
        assert_eq!(crate::arrow::array::Array::len(&sink.finish(None).unwrap()), 3);
    }
}
