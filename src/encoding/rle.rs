//! RLE: the run length / bit-packing hybrid of levels, dictionary ids and booleans (Encodings.md, "RLE = 3").
//!
//! Takes the encoded data without the length that some pages put before it, gives integers, bits, or runs. It does
//! not know what the integers mean.
//!
//! Two laxities, as Arrow C++ has them: a run of no values is passed over, and the last bit-packed run may lack the
//! bytes of its padding. Values whose bits are not there are an error.

use crate::bitmap::{Bitmap, Bits, mask};
use crate::cursor::Cursor;
use crate::encoding::PageBytes;
use crate::error::{Error, Result};
use crate::raw::unpack::{unpack_i32, unpack_u8, unpack_u32};
use crate::sink::PrimitiveSink;

/// Decodes the run length / bit-packing hybrid.
#[derive(Debug, Clone)]
pub struct RleDecoder<B> {
    bytes: B,
    bit_width: u8,
    num_values: usize,
    state: State,
}

/// How far a decoder is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct State {
    position: usize,
    /// Where the next run's header begins.
    next_run: usize,
    run: Run,
    /// Values left of `run`.
    left: usize,
}

#[derive(Debug, Clone, Copy)]
enum Run {
    Constant(u32),
    /// Bit-packed from byte `start` on, `next` values of it read.
    Packed {
        start: usize,
        next: usize,
    },
}

/// Levels that come together: see [`RleDecoder::next_run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LevelRun {
    /// `len` times `value`.
    Constant {
        /// The level.
        value: u8,
        /// How many times.
        len: usize,
    },
    /// `len` levels, one a byte, in the vector given.
    Packed {
        /// How many.
        len: usize,
    },
}

impl LevelRun {
    /// How many levels.
    #[allow(clippy::len_without_is_empty)] // never empty, but at the end of the levels
    pub fn len(self) -> usize {
        match self {
            LevelRun::Constant { len, .. } | LevelRun::Packed { len } => len,
        }
    }
}

impl<B: PageBytes> RleDecoder<B> {
    /// For `num_values` integers of `bit_width` bits in `bytes`.
    ///
    /// # Errors
    /// When `bit_width` is more than 32.
    pub fn new(bytes: B, num_values: usize, bit_width: u8) -> Result<Self> {
        Self::at(bytes, 0, num_values, bit_width)
    }

    /// For data that begins `start` bytes into `bytes`.
    pub(crate) fn at(bytes: B, start: usize, num_values: usize, bit_width: u8) -> Result<Self> {
        if bit_width > 32 {
            return Err(Error::malformed(format!("a bit width of {bit_width} is more than 32")));
        }
        let state = State { position: 0, next_run: start, run: Run::Constant(0), left: 0 };
        Ok(RleDecoder { bytes, bit_width, num_values, state })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.state.position
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.num_values - self.state.position
    }

    /// Appends the next `n` values; gives `n`.
    ///
    /// # Errors
    /// When there are fewer, by count or by bytes, or a run is malformed.
    pub fn read(&mut self, n: usize, sink: &mut PrimitiveSink<i32>) -> Result<usize> {
        self.check_count(n)?;
        let values = sink.as_mut_vec();
        let mut left = n;
        values.reserve(n);
        while left > 0 {
            left -= self.short_runs(left, |value, len| match len {
                // One store of sixteen, whatever the length.
                ..=16 => {
                    let end = values.len() + len;
                    values.extend_from_slice(&[value.cast_signed(); 16]);
                    values.truncate(end);
                }
                _ => values.resize(values.len() + len, value.cast_signed()),
            });
            if left == 0 {
                break;
            }
            let len = self.peek(left)?;
            match self.state.run {
                Run::Constant(value) => values.resize(values.len() + len, value.cast_signed()),
                Run::Packed { start, next } => {
                    unpack_i32(self.packed(start), next, self.bit_width, len, values);
                }
            }
            self.advance(len);
            left -= len;
        }
        Ok(n)
    }

    /// The next value, or `None` after the last.
    ///
    /// # Errors
    /// When the bytes end before, or a run is malformed.
    pub fn next_value(&mut self) -> Result<Option<u32>> {
        if self.remaining() == 0 {
            return Ok(None);
        }
        if self.state.left == 0 {
            self.peek(1)?;
        }
        let value = match &mut self.state.run {
            Run::Constant(value) => *value,
            Run::Packed { start, next } => {
                let bit = *next * usize::from(self.bit_width);
                *next += 1;
                packed_value(&self.bytes, *start + bit / 8, bit % 8, self.bit_width)
            }
        };
        self.state.position += 1;
        self.state.left -= 1;
        Ok(Some(value))
    }

    /// Appends the next `n` values of one bit each; gives `n`. Definition levels of a flat optional column are its
    /// validity, and booleans are themselves.
    ///
    /// # Errors
    /// As [`RleDecoder::read`], and when the bit width is more than 1.
    pub fn read_bits(&mut self, n: usize, bitmap: &mut Bitmap) -> Result<usize> {
        if self.bit_width > 1 {
            return Err(Error::invalid(format!("values of {} bits are not bits", self.bit_width)));
        }
        self.check_count(n)?;
        bitmap.reserve(n);
        let mut left = n;
        while left > 0 {
            if self.bit_width == 1 {
                left -= self.short_bit_runs(left, bitmap);
            }
            if left == 0 {
                break;
            }
            let len = self.peek(left)?;
            match self.state.run {
                Run::Packed { start, next } if self.bit_width == 1 => {
                    bitmap.extend(Bits::new(self.packed(start), next, len)?);
                }
                Run::Packed { .. } => bitmap.push_n(false, len),
                Run::Constant(value) => bitmap.push_n(value == 1, len),
            }
            self.advance(len);
            left -= len;
        }
        Ok(n)
    }

    /// Reads up to `max` levels that come together: a run of one value, which costs the same whatever its length, or
    /// bit-packed ones, which are put into `levels` (its old content is dropped). No level at the end.
    ///
    /// # Errors
    /// As [`RleDecoder::read`], and when the bit width is more than 8.
    pub fn next_run(&mut self, max: usize, levels: &mut Vec<u8>) -> Result<LevelRun> {
        if self.bit_width > 8 {
            return Err(Error::unsupported(format!("levels of {} bits", self.bit_width)));
        }
        levels.clear();
        let max = max.min(self.remaining());
        if max == 0 {
            return Ok(LevelRun::Constant { value: 0, len: 0 });
        }
        let len = self.peek(max)?;
        let run = match self.state.run {
            Run::Constant(value) => LevelRun::Constant { value: u8::try_from(value).unwrap_or(u8::MAX), len },
            Run::Packed { start, next } => {
                unpack_u8(self.packed(start), next, self.bit_width, len, levels);
                LevelRun::Packed { len }
            }
        };
        self.advance(len);
        Ok(run)
    }

    /// Passes over `n` values. A run costs the same whatever its length.
    ///
    /// # Errors
    /// As [`RleDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.check_count(n)?;
        let mut left = n;
        while left > 0 {
            let len = self.peek(left)?;
            self.advance(len);
            left -= len;
        }
        Ok(())
    }

    /// Passes over `n` levels and gives how many of them are `value`.
    ///
    /// # Errors
    /// As [`RleDecoder::next_run`].
    pub fn count(&mut self, n: usize, value: u8) -> Result<usize> {
        self.check_count(n)?;
        let (mut left, mut count, mut levels) = (n, 0, Vec::new());
        while left > 0 {
            let run = self.next_run(left.min(COUNT_AT_ONCE), &mut levels)?;
            count += match run {
                LevelRun::Constant { value: level, len } => usize::from(level == value) * len,
                LevelRun::Packed { .. } => levels.iter().filter(|&&level| level == value).count(),
            };
            left -= run.len();
        }
        Ok(count)
    }

    /// Puts the next values into `ids` until it is full, the values end, or a long run of one value is next; gives
    /// how many. Nothing where a long run is next.
    pub(crate) fn fill(&mut self, ids: &mut [u32]) -> Result<usize> {
        let mut filled = 0;
        while let Some(rest) = ids.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            if self.remaining() == 0 {
                break;
            }
            let mut rest = rest;
            let short = self.short_runs(rest.len().min(self.remaining()), |value, len| {
                let (slots, after) = std::mem::take(&mut rest).split_at_mut(len);
                slots.fill(value);
                rest = after;
            });
            filled += short;
            let len = self.peek(rest.len().min(self.remaining()))?;
            let Some(slots) = rest.get_mut(..len) else { break };
            match self.state.run {
                Run::Constant(_) if self.state.left >= LONG_RUN => break,
                Run::Constant(value) => slots.fill(value),
                Run::Packed { start, next } => unpack_u32(self.packed(start), next, self.bit_width, slots),
            }
            self.advance(len);
            filled += len;
        }
        Ok(filled)
    }

    /// The value of the run of one value that is next, and up to `max` of how often it comes. Does not move.
    pub(crate) fn constant(&mut self, max: usize) -> Result<Option<(u32, usize)>> {
        let len = self.peek(max.min(self.remaining()))?;
        match self.state.run {
            Run::Constant(value) if len > 0 => Ok(Some((value, len))),
            _ => Ok(None),
        }
    }

    /// Passes over `n` values of the run that [`RleDecoder::constant`] gave.
    pub(crate) fn advance_constant(&mut self, n: usize) {
        self.advance(n.min(self.state.left));
    }

    /// What [`RleDecoder::back_to`] takes.
    pub(crate) fn mark(&self) -> State {
        self.state
    }

    /// Goes back to where `mark` was taken.
    pub(crate) fn back_to(&mut self, mark: State) {
        self.state = mark;
    }

    pub(crate) fn check_count(&self, n: usize) -> Result<()> {
        check_count(n, self.remaining())
    }

    /// How many values, up to `max`, the current run still has; moves to the next run where it has none.
    fn peek(&mut self, max: usize) -> Result<usize> {
        while self.state.left == 0 && max > 0 {
            self.open_run()?;
        }
        Ok(self.state.left.min(max))
    }

    /// Moves within the current run.
    /// Hands on equal values run by run, as far as whole runs follow that are shorter than 64 and no longer than what is
    /// left of `max`; gives how many values that were. Any other run, and any fault, is left to [`RleDecoder::peek`].
    #[inline]
    fn short_runs(&mut self, max: usize, mut run: impl FnMut(u32, usize)) -> usize {
        let bytes = match self.state.left {
            0 => self.bytes.get(self.state.next_run..).unwrap_or_default(),
            _ => return 0,
        };
        let value_len = usize::from(self.bit_width).div_ceil(8);
        let value_mask = [0, 0xff, 0xffff, 0xff_ffff].get(value_len).copied().unwrap_or(u32::MAX);
        let (mut at, mut taken) = (0, 0);
        while let Some(&[header, a, b, c, d]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<5>()) {
            let len = usize::from(header >> 1);
            let value = u32::from_le_bytes([a, b, c, d]) & value_mask;
            if header & 0x81 != 0 || len > max - taken || u64::from(value) >> self.bit_width > 0 {
                break;
            }
            run(value, len);
            taken += len;
            at += 1 + value_len;
        }
        self.state.next_run += at;
        self.state.position += taken;
        taken
    }

    /// As [`RleDecoder::short_runs`], for bits, and for packed runs of up to 64 of them too.
    fn short_bit_runs(&mut self, max: usize, bitmap: &mut Bitmap) -> usize {
        let bytes = match self.state.left {
            0 => self.bytes.get(self.state.next_run..).unwrap_or_default(),
            _ => return 0,
        };
        let (mut at, mut taken) = (0, 0);
        while let Some(&[header, a, b, c, d, e, f, g, h]) =
            bytes.get(at..).and_then(|rest| rest.first_chunk::<9>())
        {
            let (len, byte_len, word) = match header & 1 {
                0 => (usize::from(header >> 1), 1, u64::from(a).wrapping_neg()),
                _ => {
                    let byte_len = usize::from(header >> 1);
                    (8 * byte_len, byte_len, u64::from_le_bytes([a, b, c, d, e, f, g, h]))
                }
            };
            // More than 64, or a value of more than a bit.
            if header >= 0x80 || len > (max - taken).min(64) || header & 1 == 0 && a > 1 {
                break;
            }
            bitmap.push_word(mask(word, len), len);
            taken += len;
            at += 1 + byte_len;
        }
        self.state.next_run += at;
        self.state.position += taken;
        taken
    }

    fn advance(&mut self, n: usize) {
        self.state.position += n;
        self.state.left -= n;
        if let Run::Packed { next, .. } = &mut self.state.run {
            *next += n;
        }
    }

    fn open_run(&mut self) -> Result<()> {
        let mut cursor = Cursor::at(&self.bytes, self.state.next_run);
        let header = cursor.uleb128_u32("header of a run")?;
        let len = (header >> 1) as usize;
        if header & 1 == 0 {
            let mut value = [0; 4];
            let bytes = cursor.take(usize::from(self.bit_width).div_ceil(8), "value of a run")?;
            value.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
            let value = u32::from_le_bytes(value);
            if u64::from(value) >> self.bit_width > 0 {
                let width = self.bit_width;
                return Err(Error::malformed(format!(
                    "a run of {value}, which takes more than {width} bits"
                )));
            }
            self.state.run = Run::Constant(value);
            self.state.left = len;
            self.state.next_run = cursor.position();
            return Ok(());
        }
        let start = cursor.position();
        let width = usize::from(self.bit_width);
        let byte_len = (len * width).min(cursor.remaining());
        let held = match byte_len == len * width {
            true => len * 8,
            false => (byte_len * 8).checked_div(width).unwrap_or(usize::MAX),
        };
        self.state.run = Run::Packed { start, next: 0 };
        self.state.left = (len * 8).min(held);
        self.state.next_run = start + byte_len;
        Ok(())
    }

    fn packed(&self, start: usize) -> &[u8] {
        self.bytes.get(start..).unwrap_or_default()
    }
}

/// The value of `width` bits at bit `shift` of byte `at`, as far as the bytes go.
#[inline]
#[allow(clippy::cast_possible_truncation)] // at most 32 bits
fn packed_value(bytes: &[u8], at: usize, shift: usize, width: u8) -> u32 {
    let rest = bytes.get(at..).unwrap_or_default();
    let word = match rest.first_chunk::<8>() {
        Some(eight) => u64::from_le_bytes(*eight),
        None => rest.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)),
    };
    (word >> shift & ((1 << width) - 1)) as u32
}

/// Refuses to go past the last value.
pub(crate) fn check_count(n: usize, remaining: usize) -> Result<()> {
    if n > remaining { Err(Error::end_of_data("values", n, remaining)) } else { Ok(()) }
}

/// Runs of one value at least this long are not unpacked to ids.
const LONG_RUN: usize = 64;
/// Bounds the scratch that counting takes.
const COUNT_AT_ONCE: usize = 4096;

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
pub(crate) mod tests {
    use super::*;

    /// Bit-packs `values`, padded with zeros to whole groups of 8, with the header of the run.
    pub(crate) fn packed_run(values: &[u32], width: u8) -> Vec<u8> {
        let groups = values.len().div_ceil(8);
        let mut bytes = varint((groups << 1 | 1) as u64);
        let start = bytes.len();
        bytes.resize(start + groups * usize::from(width), 0);
        for (i, &value) in values.iter().enumerate() {
            for bit in 0..usize::from(width) {
                let at = i * usize::from(width) + bit;
                bytes[start + at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
            }
        }
        bytes
    }

    pub(crate) fn constant_run(value: u32, len: usize, width: u8) -> Vec<u8> {
        let mut bytes = varint((len as u64) << 1);
        bytes.extend(&value.to_le_bytes()[..usize::from(width).div_ceil(8)]);
        bytes
    }

    pub(crate) fn varint(mut n: u64) -> Vec<u8> {
        let mut bytes = vec![];
        while n >= 0x80 {
            bytes.push(n as u8 | 0x80);
            n >>= 7;
        }
        bytes.push(n as u8);
        bytes
    }

    /// Runs of both kinds and many lengths, with the values that they hold. Packed runs are whole groups.
    pub(crate) fn mixed(width: u8, seed: u32) -> (Vec<u8>, Vec<u32>) {
        let mask = ((1u64 << width) - 1) as u32;
        let (mut bytes, mut values) = (vec![], vec![]);
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
            state.rotate_left(16)
        };
        for len in [8, 3, 64, 200, 1, 0, 504, 70, 8, 1, 32] {
            if len % 8 == 0 && len > 0 {
                let run: Vec<u32> = (0..len).map(|_| next() & mask).collect();
                bytes.extend(packed_run(&run, width));
                values.extend(run);
            } else {
                let value = next() & mask;
                bytes.extend(constant_run(value, len, width));
                values.extend(vec![value; len]);
            }
        }
        (bytes, values)
    }

    #[test]
    fn reads_every_width_in_any_steps() {
        for width in 0..=32 {
            let (bytes, values) = mixed(width, u32::from(width) + 7);
            for step in [1, 7, 8, 63, 1000] {
                let mut decoder = RleDecoder::new(bytes.as_slice(), values.len(), width).unwrap();
                let mut sink = PrimitiveSink::new();
                while decoder.remaining() > 0 {
                    let n = step.min(decoder.remaining());
                    assert_eq!(decoder.read(n, &mut sink).unwrap(), n);
                    assert_eq!(decoder.position(), sink.as_slice().len());
                }
                let read: Vec<u32> = sink.as_slice().iter().map(|v| v.cast_unsigned()).collect();
                assert_eq!(read, values);
                assert!(decoder.read(1, &mut sink).is_err());
            }
        }
    }

    #[test]
    fn single_values_skips_and_reads_agree() {
        let (bytes, values) = mixed(5, 99);
        let mut decoder = RleDecoder::new(bytes.as_slice(), values.len(), 5).unwrap();
        for at in (0..values.len() - 40).step_by(41) {
            assert_eq!(decoder.position(), at);
            assert_eq!(decoder.next_value().unwrap(), Some(values[at]));
            let mut ahead = decoder.clone();
            let mut sink = PrimitiveSink::new();
            ahead.read(40, &mut sink).unwrap();
            assert!(sink.as_slice().iter().zip(&values[at + 1..]).all(|(a, b)| a.cast_unsigned() == *b));
            decoder.skip(40).unwrap();
        }
        decoder.skip(decoder.remaining()).unwrap();
        assert_eq!(decoder.next_value().unwrap(), None);
        assert!(decoder.skip(1).is_err());
    }

    #[test]
    fn bits_are_copied_and_filled() {
        for width in [0, 1] {
            let (bytes, values) = mixed(width, 3);
            for step in [1, 9, 64, 100, 2000] {
                let mut decoder = RleDecoder::new(bytes.as_slice(), values.len(), width).unwrap();
                let mut bitmap = Bitmap::new();
                while decoder.remaining() > 0 {
                    decoder.read_bits(step.min(decoder.remaining()), &mut bitmap).unwrap();
                }
                assert_eq!(bitmap, values.iter().map(|&v| v == 1).collect());
            }
        }
        let mut wide = RleDecoder::new([3, 0].as_slice(), 8, 2).unwrap();
        assert!(wide.read_bits(1, &mut Bitmap::new()).is_err());
    }

    #[test]
    fn levels_come_in_runs() {
        let (bytes, values) = mixed(3, 5);
        for max in [1, 8, 50, 10_000] {
            let mut decoder = RleDecoder::new(bytes.as_slice(), values.len(), 3).unwrap();
            let (mut levels, mut read) = (vec![], vec![]);
            loop {
                let run = decoder.next_run(max, &mut levels).unwrap();
                assert!(run.len() <= max);
                match run {
                    LevelRun::Constant { len: 0, .. } => break,
                    LevelRun::Constant { value, len } => read.extend(vec![u32::from(value); len]),
                    LevelRun::Packed { len } => {
                        assert_eq!(levels.len(), len);
                        read.extend(levels.iter().map(|&level| u32::from(level)));
                    }
                }
            }
            assert_eq!(read, values);
        }
        let mut decoder = RleDecoder::new(bytes.as_slice(), values.len(), 3).unwrap();
        let expected = values.iter().filter(|&&v| v == 2).count();
        assert_eq!(decoder.count(values.len(), 2).unwrap(), expected);
    }

    #[test]
    fn a_run_of_billions_costs_nothing_to_skip() {
        let bytes = constant_run(1, i32::MAX as usize, 1);
        let mut decoder = RleDecoder::new(bytes.as_slice(), i32::MAX as usize, 1).unwrap();
        decoder.skip(2_000_000_000).unwrap();
        assert_eq!(decoder.next_value().unwrap(), Some(1));
        let run = decoder.next_run(usize::MAX, &mut vec![]).unwrap();
        assert_eq!(run, LevelRun::Constant { value: 1, len: 147_483_646 });
    }

    #[test]
    fn the_last_packed_run_may_lack_its_padding_but_no_value() {
        let values: Vec<u32> = (0..11).collect();
        let mut bytes = packed_run(&values, 4);
        bytes.truncate(bytes.len() - 2); // 12 values are left
        let mut sink = PrimitiveSink::new();
        RleDecoder::new(bytes.as_slice(), 12, 4).unwrap().read(12, &mut sink).unwrap();
        assert_eq!(sink.as_slice(), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0]);
        assert!(RleDecoder::new(bytes.as_slice(), 13, 4).unwrap().read(13, &mut sink).is_err());
        assert!(RleDecoder::new(bytes.as_slice(), 13, 4).unwrap().skip(13).is_err());
    }

    #[test]
    fn refuses_malformed_runs() {
        let read = |bytes: &[u8], width| {
            let mut decoder = RleDecoder::new(bytes, 8, width)?;
            decoder.read(8, &mut PrimitiveSink::new())
        };
        assert!(RleDecoder::new([].as_slice(), 0, 33).is_err());
        assert!(read(&[], 1).is_err());
        assert!(read(&[], 0).is_err());
        assert!(read(&[0x10], 1).is_err(), "no value");
        assert!(read(&[0x10, 2], 1).is_err(), "value of two bits");
        assert!(read(&[0x10, 0, 0, 1], 17).is_ok());
        assert!(read(&[0x10, 0, 0, 2], 17).is_err());
        assert!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0], 1).is_err(), "header over 32 bits");
        assert!(read(&[0xff], 1).is_err(), "header cut");
        assert!(read(&vec![0; 100_000], 8).is_err(), "empty runs only");
        assert!(read(&vec![1; 100_000], 0).is_err(), "empty runs only");
    }

    #[test]
    fn passes_over_empty_runs() {
        let bytes = [0, 9, 1, 0x10, 7];
        let mut sink = PrimitiveSink::new();
        RleDecoder::new(bytes.as_slice(), 8, 4).unwrap().read(8, &mut sink).unwrap();
        assert_eq!(sink.as_slice(), [7; 8]);
    }
}
