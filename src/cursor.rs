//! The only reader of untrusted integers: takes a slice, gives checked values, and knows how far it is.
//!
//! It knows nothing of Thrift, pages or encodings.

use crate::error::{Error, Result};

/// A checked position within bytes that nobody vouches for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    position: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Cursor { bytes, position: 0 }
    }

    /// Starts `position` bytes into `bytes`; past the end counts as at the end.
    pub(crate) fn at(bytes: &'a [u8], position: usize) -> Self {
        Cursor { bytes, position: position.min(bytes.len()) }
    }

    /// Bytes read so far.
    pub(crate) fn position(&self) -> usize {
        self.position
    }

    /// Bytes left.
    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// All bytes that are left, without moving.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.position..).unwrap_or_default()
    }

    /// The next `n` bytes.
    #[inline]
    pub(crate) fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8]> {
        let Some(slice) = self.rest().get(..n) else {
            return Err(Error::end_of_data(what, n, self.remaining()));
        };
        self.position += n;
        Ok(slice)
    }

    /// Moves on by `n` bytes.
    pub(crate) fn skip(&mut self, n: usize, what: &'static str) -> Result<()> {
        self.take(n, what).map(|_| ())
    }

    #[inline]
    pub(crate) fn array<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N]> {
        let Some(array) = self.rest().first_chunk::<N>() else {
            return Err(Error::end_of_data(what, N, self.remaining()));
        };
        self.position += N;
        Ok(*array)
    }

    #[inline]
    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8> {
        self.array::<1>(what).map(|[b]| b)
    }

    #[inline]
    pub(crate) fn u32_le(&mut self, what: &'static str) -> Result<u32> {
        self.array(what).map(u32::from_le_bytes)
    }

    #[inline]
    pub(crate) fn i32_le(&mut self, what: &'static str) -> Result<i32> {
        self.array(what).map(i32::from_le_bytes)
    }

    /// An unsigned LEB128 integer of at most 64 bits.
    ///
    /// # Errors
    /// When the bytes end, or the value needs more than 64 bits (ten bytes).
    #[inline]
    pub(crate) fn uleb128(&mut self, what: &'static str) -> Result<u64> {
        if let Some(&byte @ ..0x80) = self.rest().first() {
            self.position += 1;
            return Ok(byte.into());
        }
        self.long_uleb128(what)
    }

    fn long_uleb128(&mut self, what: &'static str) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.u8(what)?;
            let low = u64::from(byte & 0x7f);
            if shift == 63 && low > 1 {
                break;
            }
            value |= low << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::malformed(format!("{what}: a variable-length integer of more than 64 bits")))
    }

    /// A ULEB128 integer that must fit 32 bits.
    #[inline]
    pub(crate) fn uleb128_u32(&mut self, what: &'static str) -> Result<u32> {
        let value = self.uleb128(what)?;
        u32::try_from(value).map_err(|_| Error::malformed(format!("{what}: {value} does not fit 32 bits")))
    }

    /// A zigzag ULEB128 integer.
    #[inline]
    pub(crate) fn zigzag(&mut self, what: &'static str) -> Result<i64> {
        let value = self.uleb128(what)?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_leb128_up_to_its_limit() {
        let max = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01];
        assert_eq!(Cursor::new(&max).uleb128("x").unwrap(), u64::MAX);
        assert_eq!(Cursor::new(&max).zigzag("x").unwrap(), i64::MIN);
        let over = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02];
        assert!(Cursor::new(&over).uleb128("x").is_err());
        assert!(Cursor::new(&[0x80; 20]).uleb128("x").is_err());
        assert!(Cursor::new(&[0x80]).uleb128("x").is_err());
        assert!(Cursor::new(&max).uleb128_u32("x").is_err());
    }

    #[test]
    fn never_reads_past_the_end() {
        let mut cursor = Cursor::new(&[1, 2, 3]);
        assert_eq!(cursor.take(2, "x").unwrap(), [1, 2]);
        assert_eq!(cursor.take(2, "x").unwrap_err().to_string(), "x: 2 needed, 1 left");
        assert!(cursor.u32_le("x").is_err());
        assert_eq!(cursor.position(), 2);
        assert_eq!(cursor.u8("x").unwrap(), 3);
        assert!(cursor.u8("x").is_err());
        assert_eq!(Cursor::at(&[1], 9).remaining(), 0);
    }
}
