//! Validity and boolean bits, least significant bit first, as Arrow lays them out.
//!
//! [`Bitmap`] grows and owns, [`Bits`] borrows a range of any bytes. Both hand out 64 bits at a time. Neither
//! knows of pages or arrays.

use std::ops::Range;

use crate::arrow::buffer::{BooleanBuffer, Buffer};
use crate::error::{Error, Result};
use crate::raw::fixed::as_bytes;

/// A growing string of bits. Bits at and after its length are zero in the last word.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
}

/// A borrowed range of bits: `len` of them, the first at bit `offset` of `bytes`.
#[derive(Debug, Clone, Copy)]
pub struct Bits<'a> {
    bytes: &'a [u8],
    offset: usize,
    len: usize,
}

impl Bitmap {
    /// No bits.
    pub fn new() -> Self {
        Self::default()
    }

    /// No bits, with room for `bits` of them.
    pub fn with_capacity(bits: usize) -> Self {
        Bitmap { words: Vec::with_capacity(bits.div_ceil(64)), len: 0 }
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no bit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Makes room for `bits` more.
    pub fn reserve(&mut self, bits: usize) {
        let words = self.len.saturating_add(bits).div_ceil(64);
        self.words.reserve(words.saturating_sub(self.words.len()));
    }

    /// Appends one bit.
    #[inline]
    pub fn push(&mut self, bit: bool) {
        self.push_word(u64::from(bit), 1);
    }

    /// Appends `n` equal bits.
    pub fn push_n(&mut self, bit: bool, n: usize) {
        let word = if bit { u64::MAX } else { 0 };
        let first = n.min((64 - self.len % 64) % 64);
        self.push_word(mask(word, first), first);
        let rest = n - first;
        let words = self.words.len() + rest / 64;
        self.words.resize(words, word);
        self.len += rest - rest % 64;
        self.push_word(mask(word, rest % 64), rest % 64);
    }

    /// Appends all of `bits`.
    pub fn extend(&mut self, bits: Bits<'_>) {
        self.reserve(bits.len);
        if self.len.is_multiple_of(64) {
            self.words.extend(bits.words());
            self.len += bits.len;
        } else {
            let mut left = bits.len;
            for word in bits.words() {
                self.push_word(word, left.min(64));
                left = left.saturating_sub(64);
            }
        }
    }

    /// Appends the low `n <= 64` bits of `word`; those above are zero.
    #[inline]
    pub(crate) fn push_word(&mut self, word: u64, n: usize) {
        let used = self.len % 64;
        match self.words.last_mut() {
            Some(last) if used > 0 => {
                *last |= word << used;
                if used + n > 64 {
                    self.words.push(word >> (64 - used));
                }
            }
            _ if n > 0 => self.words.push(word),
            _ => {}
        }
        self.len += n;
    }

    /// The bit at `index`; false past the end.
    #[inline]
    pub fn get(&self, index: usize) -> bool {
        self.words.get(index / 64).is_some_and(|word| word >> (index % 64) & 1 == 1)
    }

    /// The bits of `range`, cut at the end.
    pub fn bits(&self, range: Range<usize>) -> Bits<'_> {
        let end = range.end.min(self.len);
        let offset = range.start.min(end);
        Bits { bytes: as_bytes(&self.words), offset, len: end - offset }
    }

    /// How many bits of `range` (cut at the end) are set.
    pub fn count_ones(&self, range: Range<usize>) -> usize {
        self.bits(range).count_ones()
    }

    /// Index of the `n`-th set bit (counted from 0) at or after `from`.
    pub fn nth_set(&self, from: usize, n: usize) -> Option<usize> {
        let mut left = n;
        let mut at = from;
        for word in self.bits(from..self.len).words() {
            let ones = word.count_ones() as usize;
            if left < ones {
                let below = (0..left).fold(word, |word, _| word & (word - 1));
                return Some(at + below.trailing_zeros() as usize);
            }
            left -= ones;
            at += 64;
        }
        None
    }

    /// Turns every bit from `from` on.
    pub(crate) fn invert(&mut self, from: usize) {
        let len = self.len;
        for (index, word) in self.words.iter_mut().enumerate().skip(from / 64) {
            let before = from.saturating_sub(64 * index).min(64);
            *word ^= mask(u64::MAX, len - 64 * index) & !mask(u64::MAX, before);
        }
    }

    /// Drops all bits at and after `len`.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.words.truncate(len.div_ceil(64));
        if let Some(last) = self.words.last_mut().filter(|_| !len.is_multiple_of(64)) {
            *last = mask(*last, len % 64);
        }
        self.len = len;
    }

    /// Keeps the bits before `at` and gives those at and after it.
    pub fn split_off(&mut self, at: usize) -> Bitmap {
        let mut tail = Bitmap::new();
        tail.extend(self.bits(at..self.len));
        self.truncate(at);
        tail
    }

    /// Drops all bits and keeps the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    /// The bytes that hold the bits; those of the last byte that are past the end are zero.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        as_bytes(&self.words).get(..self.len.div_ceil(8)).unwrap_or_default()
    }

    /// The words that hold the bits.
    pub(crate) fn into_words(self) -> Vec<u64> {
        self.words
    }

    /// The same memory as an Arrow buffer.
    pub fn into_boolean_buffer(self) -> BooleanBuffer {
        BooleanBuffer::new(Buffer::from_vec(self.words), 0, self.len)
    }
}

impl FromIterator<bool> for Bitmap {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let mut bitmap = Bitmap::new();
        bits.into_iter().for_each(|bit| bitmap.push(bit));
        bitmap
    }
}

impl<'a> Bits<'a> {
    /// `len` bits of `bytes`, the first at bit `offset`.
    ///
    /// # Errors
    /// When `bytes` holds fewer than `offset + len` bits.
    pub fn new(bytes: &'a [u8], offset: usize, len: usize) -> Result<Self> {
        let end = offset.checked_add(len).map(|bits| bits.div_ceil(8));
        if end.is_none_or(|end| end > bytes.len()) {
            return Err(Error::end_of_data("bits", len, (bytes.len() * 8).saturating_sub(offset)));
        }
        Ok(Bits { bytes, offset, len })
    }

    /// Number of bits.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no bit.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bit at `index`; false past the end.
    #[inline]
    pub fn get(&self, index: usize) -> bool {
        let at = self.offset + index.min(self.len);
        index < self.len && self.bytes.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
    }

    /// How many are set.
    pub fn count_ones(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// The bits of `range`, cut at the end.
    pub fn slice(&self, range: Range<usize>) -> Bits<'a> {
        let end = range.end.min(self.len);
        let start = range.start.min(end);
        Bits { bytes: self.bytes, offset: self.offset + start, len: end - start }
    }

    /// The 64 bits from bit `64 * index` on; those past the end are zero.
    #[inline]
    pub fn word(&self, index: usize) -> u64 {
        let start = index.saturating_mul(64).min(self.len);
        word_at(self.bytes, self.offset + start, self.len - start)
    }

    /// All bits, 64 at a time; those past the end are zero.
    pub fn words(self) -> impl DoubleEndedIterator<Item = u64> + ExactSizeIterator + 'a {
        (0..self.len.div_ceil(64)).map(move |index| self.word(index))
    }

    /// A copy.
    pub fn to_bitmap(self) -> Bitmap {
        let mut bitmap = Bitmap::new();
        bitmap.extend(self);
        bitmap
    }

    /// The runs of set bits, in order, none empty and none touching the next.
    pub fn runs(self) -> Runs<'a> {
        Runs { bits: self, at: 0 }
    }
}

/// The runs of set bits: see [`Bits::runs`].
#[derive(Debug, Clone)]
pub struct Runs<'a> {
    bits: Bits<'a>,
    at: usize,
}

impl Runs<'_> {
    /// Index of the first bit at or after `from` that is `!inverted`, or the number of bits.
    fn seek(&self, from: usize, inverted: bool) -> usize {
        let flip = if inverted { u64::MAX } else { 0 };
        let mut at = from;
        while at < self.bits.len {
            let left = self.bits.len - at;
            let word = mask(word_at(self.bits.bytes, self.bits.offset + at, left) ^ flip, left.min(64));
            if word != 0 {
                return at + word.trailing_zeros() as usize;
            }
            at += left.min(64);
        }
        self.bits.len
    }
}

impl Iterator for Runs<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let start = self.seek(self.at, false);
        let end = self.seek(start, true);
        self.at = end;
        (start < end).then_some(start..end)
    }
}

/// Up to 64 bits from bit `at` on, zero past `len`.
#[inline]
fn word_at(bytes: &[u8], at: usize, len: usize) -> u64 {
    let rest = bytes.get(at / 8..).unwrap_or_default();
    let shift = at % 8;
    let mut padded = [0u8; 9];
    let nine = rest.first_chunk::<9>().unwrap_or_else(|| {
        padded.iter_mut().zip(rest).for_each(|(to, from)| *to = *from);
        &padded
    });
    let [low @ .., high] = *nine;
    let word = u64::from_le_bytes(low) >> shift | (u64::from(high) << 1) << (63 - shift);
    mask(word, len.min(64))
}

/// The low `n <= 64` bits of `word`.
#[inline]
pub(crate) fn mask(word: u64, n: usize) -> u64 {
    if n >= 64 { word } else { word & ((1 << n) - 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverts_from_any_bit_on() {
        for n in [0, 1, 63, 64, 65, 200] {
            for from in [0, 1, 63, 64, 100, 199, 200] {
                let bits = noise(n);
                let mut bitmap: Bitmap = bits.iter().copied().collect();
                bitmap.invert(from);
                assert_eq!(bitmap, bits.iter().enumerate().map(|(i, bit)| bit ^ (i >= from)).collect());
            }
        }
    }

    /// Bits that look random and are the same each time.
    fn noise(n: usize) -> Vec<bool> {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 61 < 5
        };
        (0..n).map(|_| next()).collect()
    }

    fn all(bitmap: &Bitmap) -> Vec<bool> {
        (0..bitmap.len()).map(|i| bitmap.get(i)).collect()
    }

    #[test]
    fn appends_bits_runs_and_ranges_at_any_offset() {
        let source: Bitmap = noise(400).into_iter().collect();
        for start in [0, 1, 7, 8, 63, 64, 65, 127] {
            for n in [0, 1, 5, 64, 65, 128, 200] {
                let mut expected = noise(start);
                let mut bitmap: Bitmap = expected.iter().copied().collect();
                bitmap.push_n(true, n);
                bitmap.push_n(false, n / 2);
                bitmap.extend(source.bits(n..2 * n));
                expected.extend(vec![true; n]);
                expected.extend(vec![false; n / 2]);
                expected.extend(&all(&source)[n..2 * n]);
                assert_eq!(all(&bitmap), expected);
                assert_eq!(bitmap, expected.iter().copied().collect());
                let buffer = bitmap.clone().into_boolean_buffer();
                assert_eq!(buffer.iter().collect::<Vec<_>>(), expected);
            }
        }
    }

    #[test]
    fn counts_finds_and_cuts() {
        let expected = noise(300);
        let bitmap: Bitmap = expected.iter().copied().collect();
        for from in [0, 1, 63, 64, 130, 299, 300, 301] {
            let ones: Vec<usize> = (from..300).filter(|&i| expected[i]).collect();
            assert_eq!(bitmap.count_ones(from..300), ones.len());
            for n in 0..=ones.len() {
                assert_eq!(bitmap.nth_set(from, n), ones.get(n).copied());
            }
            let mut head = bitmap.clone();
            let tail = head.split_off(from);
            assert_eq!(all(&head), expected[..from.min(300)]);
            assert_eq!(all(&tail), expected[from.min(300)..]);
            head.extend(tail.bits(0..tail.len()));
            assert_eq!(head, bitmap);
        }
    }

    #[test]
    fn runs_cover_the_set_bits() {
        let mut bitmap: Bitmap = noise(150).into_iter().collect();
        bitmap.push_n(true, 200);
        bitmap.push_n(false, 100);
        bitmap.push(true);
        for start in [0, 3, 64, 149] {
            let bits = bitmap.bits(start..bitmap.len());
            let covered: Vec<usize> = bits.runs().flatten().collect();
            let ones: Vec<usize> = (0..bits.len()).filter(|&i| bits.get(i)).collect();
            assert_eq!(covered, ones);
        }
        assert_eq!(Bitmap::new().bits(0..9).runs().count(), 0);
    }

    #[test]
    fn refuses_bits_past_the_bytes() {
        assert!(Bits::new(&[0xff, 1], 3, 13).is_ok());
        assert!(Bits::new(&[0xff, 1], 3, 14).is_err());
        assert!(Bits::new(&[], usize::MAX, 2).is_err());
        let bits = Bits::new(&[0xff, 1], 3, 13).unwrap();
        assert_eq!(bits.count_ones(), 6);
        assert_eq!(bits.slice(4..9).count_ones(), 2);
        assert_eq!(bits.slice(20..30).len(), 0);
        assert!(!bits.get(13));
    }
}
