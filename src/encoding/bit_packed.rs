//! BIT_PACKED: the deprecated encoding of levels, most significant bit first (Encodings.md, "BIT_PACKED = 4").
//!
//! Takes the levels' bytes, gives levels. Of the hybrid's methods it has those that levels need.

use crate::bitmap::Bitmap;
use crate::encoding::PageBytes;
use crate::encoding::rle::{LevelRun, check_count};
use crate::error::{Error, Result};

/// Decodes levels packed from the most significant bit on.
#[derive(Debug, Clone)]
pub struct BitPackedDecoder<B> {
    bytes: B,
    bit_width: u8,
    num_values: usize,
    position: usize,
}

impl<B: PageBytes> BitPackedDecoder<B> {
    /// For `num_values` levels of `bit_width` bits in `bytes`.
    ///
    /// # Errors
    /// When `bit_width` is more than 8, or `bytes` cannot hold the levels.
    pub fn new(bytes: B, num_values: usize, bit_width: u8) -> Result<Self> {
        if bit_width > 8 {
            return Err(Error::unsupported(format!("levels of {bit_width} bits")));
        }
        let needed = Self::byte_len(num_values, bit_width);
        if needed > bytes.len() {
            return Err(Error::end_of_data("bit-packed levels", needed, bytes.len()));
        }
        Ok(BitPackedDecoder { bytes, bit_width, num_values, position: 0 })
    }

    /// Bytes that `num_values` levels of `bit_width` bits take.
    pub fn byte_len(num_values: usize, bit_width: u8) -> usize {
        num_values.saturating_mul(usize::from(bit_width)).div_ceil(8)
    }

    /// Levels read or skipped so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Levels left.
    pub fn remaining(&self) -> usize {
        self.num_values - self.position
    }

    /// Appends the next `n` levels of one bit each; gives `n`.
    ///
    /// # Errors
    /// When there are fewer, or the bit width is more than 1.
    pub fn read_bits(&mut self, n: usize, bitmap: &mut Bitmap) -> Result<usize> {
        check_count(n, self.remaining())?;
        if self.bit_width > 1 {
            return Err(Error::invalid(format!("levels of {} bits are not bits", self.bit_width)));
        }
        bitmap.reserve(n);
        (0..n).for_each(|_| bitmap.push(self.take() == 1));
        Ok(n)
    }

    /// Reads up to `max` levels into `levels` (its old content is dropped). No level at the end.
    ///
    /// # Errors
    /// None; the signature is that of [`RleDecoder::next_run`](crate::encoding::RleDecoder::next_run).
    pub fn next_run(&mut self, max: usize, levels: &mut Vec<u8>) -> Result<LevelRun> {
        let len = max.min(self.remaining());
        levels.clear();
        levels.extend((0..len).map(|_| self.take()));
        Ok(LevelRun::Packed { len })
    }

    /// Passes over `n` levels.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn skip(&mut self, n: usize) -> Result<()> {
        check_count(n, self.remaining())?;
        self.position += n;
        Ok(())
    }

    /// Passes over `n` levels and gives how many of them are `value`.
    ///
    /// # Errors
    /// When there are fewer.
    pub fn count(&mut self, n: usize, value: u8) -> Result<usize> {
        check_count(n, self.remaining())?;
        Ok((0..n).filter(|_| self.take() == value).count())
    }

    /// The next level: `bit_width` bits of the two bytes where it begins, which the constructor has seen to be there.
    fn take(&mut self) -> u8 {
        let bit = self.position * usize::from(self.bit_width);
        let byte = |at: usize| self.bytes.get(at).copied().unwrap_or(0);
        let two = u16::from_be_bytes([byte(bit / 8), byte(bit / 8 + 1)]);
        self.position += 1;
        let [top, _] = (two << (bit % 8)).to_be_bytes();
        top.checked_shr(8 - u32::from(self.bit_width)).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the specification: 1 to 7 in 3 bits.
    const EXAMPLE: [u8; 3] = [0b0000_0101, 0b0011_1001, 0b0111_0111];

    #[test]
    fn reads_the_example_of_the_specification() {
        let mut decoder = BitPackedDecoder::new(EXAMPLE.as_slice(), 8, 3).unwrap();
        let mut levels = vec![9];
        assert_eq!(decoder.next_run(3, &mut levels).unwrap().len(), 3);
        assert_eq!(levels, [0, 1, 2]);
        decoder.skip(1).unwrap();
        assert_eq!(decoder.position(), 4);
        decoder.clone().next_run(100, &mut levels).unwrap();
        assert_eq!(levels, [4, 5, 6, 7]);
        assert_eq!(decoder.count(4, 5).unwrap(), 1);
        assert_eq!(decoder.next_run(1, &mut levels).unwrap().len(), 0);
        assert!(decoder.skip(1).is_err());
    }

    #[test]
    fn single_bits_become_validity() {
        for (width, expected) in [(1, [true, false, true, true, false, false]), (0, [false; 6])] {
            let mut decoder = BitPackedDecoder::new([0b1011_0010].as_slice(), 6, width).unwrap();
            let mut bitmap = Bitmap::new();
            decoder.read_bits(6, &mut bitmap).unwrap();
            assert_eq!(bitmap, expected.into_iter().collect());
            assert!(decoder.read_bits(1, &mut bitmap).is_err());
        }
    }

    #[test]
    fn refuses_what_the_bytes_cannot_hold() {
        assert!(BitPackedDecoder::new(EXAMPLE.as_slice(), 9, 3).is_err());
        assert!(BitPackedDecoder::new(EXAMPLE.as_slice(), usize::MAX, 8).is_err());
        assert!(BitPackedDecoder::new(EXAMPLE.as_slice(), 1, 9).is_err());
        assert!(
            BitPackedDecoder::new(EXAMPLE.as_slice(), 8, 3)
                .unwrap()
                .read_bits(1, &mut Bitmap::new())
                .is_err()
        );
        let mut whole = BitPackedDecoder::new(EXAMPLE.as_slice(), 3, 8).unwrap();
        let mut levels = vec![];
        whole.next_run(3, &mut levels).unwrap();
        assert_eq!(levels, EXAMPLE);
    }
}
