//! How long a value is, found without decoding it: the pass that indexes a footer spends its time here.
//!
//! Structs, and lists of structs, are walked in one loop. Nine tenths of what it meets are fields of a number, a
//! bool or a short string, whose length comes without a branch on their type:
//! ```text
//! head | value ...     length = FIXED[type] + (end of the integer, or 0) + (first byte of the string, or 0)
//!  └ id delta, type
//! ```

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
    skipper.value(wire, depth)?;
    Ok(skipper.at)
}

/// Bytes that `count` structs (of a list, or on their own) at the start of `bytes` take. Calls `ended` with the
/// position after each.
///
/// # Errors
/// As [`value_len`].
pub(super) fn structs_len(bytes: &[u8], count: usize, depth: u8, ended: impl FnMut(usize)) -> Result<usize> {
    let mut skipper = Skipper { bytes, at: 0 };
    skipper.structs(count, depth, ended)?;
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
    /// At most one short field past the end, which the next read finds out.
    at: usize,
}

impl Skipper<'_> {
    /// `count` structs, one after the other, and all that nests in them.
    fn structs(&mut self, count: usize, depth: u8, mut ended: impl FnMut(usize)) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        if depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        // The lists of structs that are open (one struct alone is a list of one): how many have not ended.
        let mut open = Open { left: [0; MAX_DEPTH as usize], level: depth };
        open.set(count);
        loop {
            self.short_fields();
            let head = self.byte()?;
            let wire = head & 0x0f;
            if wire == STOP {
                if open.level == depth {
                    ended(self.at);
                }
                if open.end_struct() {
                    if open.level == depth {
                        return Ok(());
                    }
                    open.level -= 1;
                }
                continue;
            }
            if head < 0x10 {
                self.field_id()?;
            }
            let inner = match wire {
                STRUCT => 1,
                LIST | SET => self.list(open.level + 1)?,
                _ => {
                    self.value(wire, open.level + 1)?;
                    0
                }
            };
            if inner > 0 {
                open.level += 1;
                if open.level >= MAX_DEPTH {
                    return Err(too_deep());
                }
                open.set(inner);
            }
        }
    }

    /// Moves past all fields that are short and simple.
    #[inline(always)]
    fn short_fields(&mut self) {
        let mut at = self.at;
        while let Some(window) = self.bytes.get(at..).and_then(|rest| rest.first_chunk::<9>()) {
            let [head, value @ ..] = *window;
            let value = u64::from_le_bytes(value);
            // `head << 2` modulo 64 (as shifts go) is four times the type: the tables are nibbles of a word.
            let nibble = u32::from(head) << 2;
            let integer = low(VARINT.wrapping_shr(nibble)) & 0x0f;
            // Half of all fields. Guessing the branch frees the next field from waiting for this one's length.
            if (integer != 0) & (value & 0x80 == 0) & (head >= 0x10) {
                at += 2;
                continue;
            }
            // 8 where none of the eight bytes ends the integer.
            let varint = (ends(value).trailing_zeros() >> 3) & integer;
            let is_binary = low(0x100u64.wrapping_shr(u32::from(head & 0x0f))) & 1;
            let string = low(value) & 0xff & is_binary.wrapping_neg();
            let irregular = (head < 0x10) | (varint & 8 != 0) | (string >= 0x80);
            if irregular | (IRREGULAR.wrapping_shr(nibble) & 1 != 0) {
                break;
            }
            at += (low(FIXED.wrapping_shr(nibble)) & 0x0f) as usize + (varint + string) as usize;
        }
        self.at = at;
    }

    /// The value of a field (not of a list element) of any type.
    fn value(&mut self, wire: u8, depth: u8) -> Result<()> {
        match wire {
            1 | 2 => Ok(()),
            3 => self.fixed(1),
            4..=6 => self.varint(),
            7 => self.fixed(8),
            8 => self.binary(),
            LIST | SET => {
                let structs = self.list(depth)?;
                self.structs(structs, depth, |_| {})
            }
            11 => self.map(depth),
            STRUCT => self.structs(1, depth, |_| {}),
            13 => self.fixed(16),
            other => Err(Error::malformed(format!("Thrift type {other} does not exist"))),
        }
    }

    /// A list, unless it is one of structs: then only its header, and how many they are.
    fn list(&mut self, depth: u8) -> Result<usize> {
        if depth >= MAX_DEPTH {
            return Err(too_deep());
        }
        let mut cursor = Cursor::at(self.bytes, self.at);
        let (element, len) = list_header(&mut cursor)?;
        self.at = cursor.position();
        match element {
            STRUCT => return Ok(len),
            _ if len == 0 => {}
            1..=3 => self.fixed(len)?,
            4..=6 => self.varints(len)?,
            8 => (0..len).try_for_each(|_| self.binary())?,
            other => (0..len).try_for_each(|_| self.value(other, depth + 1))?,
        }
        Ok(0)
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
            for wire in [types >> 4, types & 0x0f] {
                match wire {
                    1 | 2 => self.fixed(1)?,
                    other => self.value(other, depth + 1)?,
                }
            }
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
            None => Err(ended()),
        }
    }

    #[inline(always)]
    fn fixed(&mut self, len: usize) -> Result<()> {
        if len > self.bytes.len().saturating_sub(self.at) {
            return Err(ended());
        }
        self.at += len;
        Ok(())
    }

    /// `len` integers; most lists are a few of one byte each.
    #[inline(always)]
    fn varints(&mut self, len: usize) -> Result<()> {
        if let Some(word) = self.word()
            && len <= 8
            && ends(word) & (u64::MAX >> (64 - 8 * len)) == HIGH_BITS & (u64::MAX >> (64 - 8 * len))
        {
            self.at += len;
            return Ok(());
        }
        (0..len).try_for_each(|_| self.varint())
    }

    #[inline(always)]
    fn varint(&mut self) -> Result<()> {
        if let Some(word) = self.word()
            && ends(word) != 0
        {
            self.at += (ends(word).trailing_zeros() / 8) as usize + 1;
            return Ok(());
        }
        self.long_varint()
    }

    #[inline(always)]
    fn word(&self) -> Option<u64> {
        self.bytes.get(self.at..)?.first_chunk().map(|word| u64::from_le_bytes(*word))
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
}

/// How many structs of each open list have not ended; the innermost is at `level`, which is below [`MAX_DEPTH`].
struct Open {
    left: [usize; MAX_DEPTH as usize],
    level: u8,
}

#[allow(clippy::indexing_slicing)] // `% MAX_DEPTH` changes nothing and spares the check
impl Open {
    #[inline(always)]
    fn set(&mut self, count: usize) {
        self.left[usize::from(self.level % MAX_DEPTH)] = count;
    }

    /// Whether it was the last struct of the innermost list.
    #[inline(always)]
    fn end_struct(&mut self) -> bool {
        let left = &mut self.left[usize::from(self.level % MAX_DEPTH)];
        *left -= 1;
        *left == 0
    }
}

#[cold]
fn ended() -> Error {
    Error::end_of_data("Thrift value", 1, 0)
}

/// The high bit of each byte that ends an integer.
#[inline(always)]
fn ends(word: u64) -> u64 {
    !word & HIGH_BITS
}

const HIGH_BITS: u64 = 0x8080_8080_8080_8080;
const STOP: u8 = 0;
const LIST: u8 = 9;
const SET: u8 = 10;
const STRUCT: u8 = 12;

/// Tables by type, a nibble each, type 0 in the lowest. Bytes that a short field has at least, its head included.
const FIXED: u64 = 0x0000_0002_9222_2110;
/// All ones where the value is a variable-length integer.
const VARINT: u64 = 0x0000_0000_0fff_0000;
/// 1 where a field is not of the short kind.
const IRREGULAR: u64 = 0x1111_1110_0000_0001;

#[inline(always)]
#[allow(clippy::cast_possible_truncation)] // what it is for
fn low(word: u64) -> u32 {
    word as u32
}
