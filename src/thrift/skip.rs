//! How long a value is, found without decoding it: the pass that indexes a footer spends its time here.
//!
//! A variable-length integer's end is found eight bytes at a time. Nesting is a recursion of at most
//! [`MAX_DEPTH`].

use super::MAX_DEPTH;
use crate::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};

/// Bytes that the value of type `wire` (a field's, not a list element's) at the start of `bytes` takes, `depth`
/// levels of nesting being open already.
///
/// # Errors
/// When the bytes end, it nests too deep, or holds a type that does not exist.
pub(super) fn value_len(bytes: &[u8], wire: u8, depth: u8) -> Result<usize> {
    let mut skipper = Skipper { bytes, at: 0 };
    if wire == STRUCT {
        skipper.structure(depth)?;
    } else {
        skipper.value(wire, depth)?;
    }
    Ok(skipper.at)
}

/// Element type (a nibble, not checked) and length of a list; the length is at most what `cursor` has left.
pub(super) fn list_header(cursor: &mut Cursor<'_>) -> Result<(u8, usize)> {
    let head = cursor.u8("list header")?;
    let len = match head >> 4 {
        15 => length(cursor, "list size")?,
        short => usize::from(short),
    };
    if len > cursor.remaining() {
        return Err(Error::end_of_data("list elements", len, cursor.remaining()));
    }
    Ok((head & 0x0f, len))
}

/// Length of a binary or string; not compared with what is left.
#[inline]
pub(super) fn binary_len(cursor: &mut Cursor<'_>) -> Result<usize> {
    length(cursor, "binary length")
}

#[cold]
pub(super) fn too_deep() -> Error {
    let limit = u64::from(MAX_DEPTH);
    ErrorKind::Limit { what: "Thrift nesting", limit, wanted: limit + 1 }.into()
}

/// Lengths are `i32` to Thrift: above that they are negative.
#[inline]
fn length(cursor: &mut Cursor<'_>, what: &'static str) -> Result<usize> {
    let len = cursor.uleb128(what)?;
    match i32::try_from(len) {
        Ok(len) => Ok(len.unsigned_abs() as usize),
        Err(_) => Err(Error::malformed(format!("{what} of {len} is more than 2^31-1"))),
    }
}

struct Skipper<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Skipper<'_> {
    fn structure(&mut self, depth: u8) -> Result<()> {
        if depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        loop {
            let head = self.byte()?;
            let wire = head & 0x0f;
            if head < 0x10 {
                if wire == 0 {
                    return Ok(());
                }
                self.field_id()?;
            }
            match wire {
                // Not a bool, not an integer: rarer, and out of line.
                7.. | 0 | I8 => {
                    if wire == BINARY {
                        self.binary()?;
                    } else if wire == STRUCT {
                        self.structure(depth + 1)?;
                    } else if wire == 0 {
                        return Ok(());
                    } else {
                        self.value(wire, depth + 1)?;
                    }
                }
                4..=6 => self.varint()?,
                _ => {}
            }
        }
    }

    /// A field's value of any type, but structs, which [`Skipper::structure`] takes.
    fn value(&mut self, wire: u8, depth: u8) -> Result<()> {
        match wire {
            1 | 2 => Ok(()),
            I8 => self.fixed(1),
            4..=6 => self.varint(),
            7 => self.fixed(8),
            BINARY => self.binary(),
            9 | 10 => self.list(depth),
            11 => self.map(depth),
            STRUCT => self.structure(depth),
            13 => self.fixed(16),
            other => Err(Error::malformed(format!("Thrift type {other} does not exist"))),
        }
    }

    fn list(&mut self, depth: u8) -> Result<()> {
        if depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        let mut cursor = Cursor::at(self.bytes, self.at);
        let (element, len) = list_header(&mut cursor)?;
        self.at = cursor.position();
        self.elements(element, len, depth + 1)
    }

    fn elements(&mut self, wire: u8, len: usize, depth: u8) -> Result<()> {
        match wire {
            1 | 2 | I8 => self.fixed(len),
            4..=6 => (0..len).try_for_each(|_| self.varint()),
            BINARY => (0..len).try_for_each(|_| self.binary()),
            STRUCT => (0..len).try_for_each(|_| self.structure(depth)),
            other => (0..len).try_for_each(|_| self.element(other, depth)),
        }
    }

    fn element(&mut self, wire: u8, depth: u8) -> Result<()> {
        match wire {
            1 | 2 => self.fixed(1),
            other => self.value(other, depth),
        }
    }

    fn map(&mut self, depth: u8) -> Result<()> {
        if depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        let mut cursor = Cursor::at(self.bytes, self.at);
        let len = length(&mut cursor, "map size")?;
        if len == 0 {
            self.at = cursor.position();
            return Ok(());
        }
        let types = cursor.u8("map types")?;
        // A key and a value take a byte each at least.
        if len > cursor.remaining() / 2 {
            return Err(Error::end_of_data("map entries", len.saturating_mul(2), cursor.remaining()));
        }
        self.at = cursor.position();
        for _ in 0..len {
            self.element(types >> 4, depth + 1)?;
            self.element(types & 0x0f, depth + 1)?;
        }
        Ok(())
    }

    #[inline(always)]
    fn byte(&mut self) -> Result<u8> {
        match self.bytes.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => Err(self.ended()),
        }
    }

    #[inline(always)]
    fn fixed(&mut self, len: usize) -> Result<()> {
        if len > self.bytes.len().saturating_sub(self.at) {
            return Err(self.ended());
        }
        self.at += len;
        Ok(())
    }

    #[inline(always)]
    fn varint(&mut self) -> Result<()> {
        if let Some(word) = self.bytes.get(self.at..).and_then(|rest| rest.first_chunk()) {
            let stops = !u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
            if stops != 0 {
                self.at += (stops.trailing_zeros() >> 3) as usize + 1;
                return Ok(());
            }
        }
        self.long_varint()
    }

    /// One of nine or ten bytes, or one near the end.
    #[cold]
    fn long_varint(&mut self) -> Result<()> {
        let mut cursor = Cursor::at(self.bytes, self.at);
        cursor.uleb128("integer")?;
        self.at = cursor.position();
        Ok(())
    }

    #[cold]
    fn field_id(&mut self) -> Result<()> {
        let mut cursor = Cursor::at(self.bytes, self.at);
        let id = cursor.zigzag("field id")?;
        self.at = cursor.position();
        match i16::try_from(id) {
            Ok(_) => Ok(()),
            Err(_) => Err(Error::malformed(format!("field id {id} is more than 16 bits"))),
        }
    }

    #[inline(always)]
    fn binary(&mut self) -> Result<()> {
        if let Some(&len) = self.bytes.get(self.at)
            && len < 0x80
        {
            self.at += 1;
            return self.fixed(usize::from(len));
        }
        let mut cursor = Cursor::at(self.bytes, self.at);
        let len = binary_len(&mut cursor)?;
        self.at = cursor.position();
        self.fixed(len)
    }

    #[cold]
    fn ended(&self) -> Error {
        Error::end_of_data("Thrift value", 1, 0)
    }
}

const I8: u8 = 3;
const BINARY: u8 = 8;
const STRUCT: u8 = 12;
