//! Definition and repetition levels, kept as one bitmap a question.
//!
//! Nobody above needs a level as a number. What they ask is 'is this level a new row?', 'is there an element here?',
//! 'is the value present?': one threshold each. So a level stream becomes one bitmap for each threshold, and a run of
//! equal levels costs a fill of each bitmap rather than work a level. Offsets and validity of any nesting follow
//! from these bitmaps by counting and compressing bits (see [`crate::nested`]).
//!
//! ```text
//! definition levels   3 3 1 0 2 3     (list<int32>, all optional)
//! >= 3  value there   1 1 0 0 0 1
//! >= 2  element there 1 1 0 0 1 1
//! >= 1  list there    1 1 1 0 1 1
//! ```

use std::ops::Range;

use crate::arrow::buffer::Buffer;
use crate::bitmap::{Bitmap, Bits};
use crate::encoding::{BitPackedDecoder, LevelRun, RleDecoder};
use crate::error::{Error, Result};
use crate::metadata::Encoding;
use crate::raw::levels::at_least;

/// A question about a level, answered by a bit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    /// Is the definition level at least this?
    DefAtLeast(u8),
    /// Is the repetition level below this?
    RepBelow(u8),
}

/// The answers to one question, a bit a level.
#[derive(Debug, Clone)]
pub(crate) struct Mask {
    test: Test,
    bits: Bitmap,
}

/// All questions about the levels of one leaf, and their answers so far.
#[derive(Debug, Clone, Default)]
pub(crate) struct Masks {
    masks: Vec<Mask>,
    len: usize,
}

/// A page's stream of levels of one kind.
#[derive(Debug, Clone)]
pub(crate) enum LevelStream {
    /// The maximum level is 0: nothing is stored.
    Zero,
    Rle(RleDecoder<Buffer>),
    BitPacked(BitPackedDecoder<Buffer>),
}

/// The streams of the current page.
#[derive(Debug, Clone)]
pub(crate) struct Streams {
    max_def: u8,
    max_rep: u8,
    def: LevelStream,
    rep: LevelStream,
    /// Levels of a packed run, decoded; used again.
    scratch: Vec<u8>,
}

impl Masks {
    pub(crate) fn new(tests: &[Test]) -> Self {
        let mut masks: Vec<Mask> = Vec::with_capacity(tests.len());
        for &test in tests {
            if !masks.iter().any(|m| m.test == test) {
                masks.push(Mask { test, bits: Bitmap::new() });
            }
        }
        Masks { masks, len: 0 }
    }

    /// Levels so far.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The answers to `test`; `None` stands for 'yes, always' (a question that was not registered is one that
    /// every level passes).
    pub(crate) fn get(&self, test: Test) -> Option<&Bitmap> {
        self.masks.iter().find(|m| m.test == test).map(|m| &m.bits)
    }

    fn get_mut(&mut self, test: Test) -> Option<&mut Bitmap> {
        self.masks.iter_mut().find(|m| m.test == test).map(|m| &mut m.bits)
    }

    /// How many levels of `range` pass `test`.
    pub(crate) fn count(&self, test: Test, range: Range<usize>) -> usize {
        self.get(test).map_or(range.len(), |bits| bits.count_ones(range))
    }

    /// The level that is the `n`-th (from 0), at or after `from`, to pass `test`.
    pub(crate) fn nth(&self, test: Test, from: usize, n: usize) -> Option<usize> {
        match self.get(test) {
            Some(bits) => bits.nth_set(from, n),
            None => from.checked_add(n).filter(|&at| at < self.len),
        }
    }

    /// Appends `n` levels of a column that has none: every question is answered by yes.
    pub(crate) fn push_trivial(&mut self, n: usize) {
        for mask in &mut self.masks {
            mask.bits.push_n(true, n);
        }
        self.len += n;
    }

    /// Takes out the levels from `at` on.
    pub(crate) fn split_off(&mut self, at: usize) -> Self {
        let masks =
            self.masks.iter_mut().map(|m| Mask { test: m.test, bits: m.bits.split_off(at) }).collect();
        let rest = Masks { masks, len: self.len - at };
        self.len = at;
        rest
    }

    /// Drops `range` of the levels.
    pub(crate) fn remove(&mut self, range: Range<usize>) {
        let rest = (range.end < self.len).then(|| self.split_off(range.end));
        self.masks.iter_mut().for_each(|m| m.bits.truncate(range.start));
        self.len = range.start;
        if let Some(rest) = rest {
            for (mask, rest) in self.masks.iter_mut().zip(&rest.masks) {
                mask.bits.extend(rest.bits.bits(0..rest.bits.len()));
            }
            self.len += rest.len;
        }
    }
}

impl LevelStream {
    /// The stream of a page's levels. `bytes` holds the levels alone, without the length that stands before them in
    /// V1 pages.
    ///
    /// # Errors
    /// When levels cannot be stored this way.
    pub(crate) fn new(bytes: Buffer, encoding: Encoding, num_values: usize, max_level: u8) -> Result<Self> {
        let width = bit_width(max_level);
        match encoding {
            _ if max_level == 0 => Ok(LevelStream::Zero),
            Encoding::Rle => Ok(LevelStream::Rle(RleDecoder::new(bytes, num_values, width)?)),
            Encoding::BitPacked => {
                Ok(LevelStream::BitPacked(BitPackedDecoder::new(bytes, num_values, width)?))
            }
            other => Err(Error::malformed(format!("levels in encoding {other}"))),
        }
    }

    /// How many of all its `n` levels are 0: the rows that begin, where these are repetition levels. `None` where the
    /// first level is another.
    pub(crate) fn count_rows(mut self, n: usize, max_level: u8) -> Result<Option<usize>> {
        let (mut rows, mut begins) = (0, None);
        self.read(n, max_level, &mut Vec::new(), |run| {
            let (first, zeros) = match run {
                RunOfLevels::Constant(level, len) => (level, if level == 0 { len } else { 0 }),
                RunOfLevels::Packed(levels) => {
                    (levels.first().copied().unwrap_or(0), levels.iter().filter(|&&level| level == 0).count())
                }
            };
            begins.get_or_insert(first == 0);
            rows += zeros;
        })?;
        Ok(Some(rows).filter(|_| begins != Some(false)))
    }

    /// Reads `n` levels; hands each run on as one level, or as a slice of levels.
    fn read(
        &mut self,
        mut n: usize,
        max_level: u8,
        scratch: &mut Vec<u8>,
        mut run: impl FnMut(RunOfLevels<'_>),
    ) -> Result<()> {
        while n > 0 {
            let next = match self {
                LevelStream::Zero => LevelRun::Constant { value: 0, len: n },
                LevelStream::Rle(decoder) => decoder.next_run(n, scratch)?,
                LevelStream::BitPacked(decoder) => decoder.next_run(n, scratch)?,
            };
            let len = next.len();
            if len == 0 {
                return Err(Error::end_of_data("levels of a page", n, 0));
            }
            let levels = match next {
                LevelRun::Constant { value, .. } => RunOfLevels::Constant(value, len),
                LevelRun::Packed { .. } => RunOfLevels::Packed(scratch.get(..len).unwrap_or_default()),
            };
            let highest = match levels {
                RunOfLevels::Constant(level, _) => level,
                RunOfLevels::Packed(levels) => levels.iter().copied().max().unwrap_or(0),
            };
            if highest > max_level {
                return Err(Error::malformed(format!(
                    "level {highest} in a column whose maximum is {max_level}"
                )));
            }
            run(levels);
            n = n.saturating_sub(len);
        }
        Ok(())
    }
}

/// Levels that come together.
#[derive(Clone, Copy)]
enum RunOfLevels<'a> {
    Constant(u8, usize),
    Packed(&'a [u8]),
}

impl Streams {
    pub(crate) fn new(max_def: u8, max_rep: u8) -> Self {
        Streams { max_def, max_rep, def: LevelStream::Zero, rep: LevelStream::Zero, scratch: Vec::new() }
    }

    /// Turns to the next page.
    pub(crate) fn set_page(&mut self, def: LevelStream, rep: LevelStream) {
        self.def = def;
        self.rep = rep;
    }

    /// Decodes the next `n` levels of the page into `masks`.
    ///
    /// # Errors
    /// When the streams end early or hold a level above the column's maximum.
    pub(crate) fn read(&mut self, n: usize, masks: &mut Masks) -> Result<()> {
        let Streams { max_def, max_rep, def, rep, scratch } = self;
        match (&mut *def, masks.masks.as_mut_slice()) {
            // A flat optional column: the stream's bits are the validity.
            (LevelStream::Rle(decoder), [Mask { test: Test::DefAtLeast(1), bits }])
                if *max_def == 1 && *max_rep == 0 =>
            {
                decoder.read_bits(n, bits)?;
            }
            _ => {
                def.read(n, *max_def, scratch, |run| {
                    masks.masks.iter_mut().for_each(|mask| mask.push_definition(run));
                })?;
                match (rep, masks.get_mut(Test::RepBelow(1))) {
                    // Lists that are in no list: the stream's bits say where a row does not begin.
                    (LevelStream::Rle(decoder), Some(bits)) if *max_rep == 1 => {
                        let from = bits.len();
                        decoder.read_bits(n, bits)?;
                        bits.invert(from);
                    }
                    (rep, _) => rep.read(n, *max_rep, scratch, |run| {
                        masks.masks.iter_mut().for_each(|mask| mask.push_repetition(run));
                    })?,
                }
            }
        }
        masks.len += n;
        Ok(())
    }
}

impl Mask {
    fn push_definition(&mut self, run: RunOfLevels<'_>) {
        let Test::DefAtLeast(threshold) = self.test else { return };
        match run {
            RunOfLevels::Constant(level, len) => self.bits.push_n(level >= threshold, len),
            RunOfLevels::Packed(levels) => push_at_least(&mut self.bits, levels, threshold),
        }
    }

    fn push_repetition(&mut self, run: RunOfLevels<'_>) {
        let Test::RepBelow(threshold) = self.test else { return };
        match run {
            RunOfLevels::Constant(level, len) => self.bits.push_n(level < threshold, len),
            RunOfLevels::Packed(levels) => push_below(&mut self.bits, levels, threshold),
        }
    }
}

/// Appends a bit for each level: is it at least `threshold`?
fn push_at_least(bits: &mut Bitmap, levels: &[u8], threshold: u8) {
    push_compared(bits, levels, threshold, 0);
}

/// Appends a bit for each level: is it below `threshold`?
fn push_below(bits: &mut Bitmap, levels: &[u8], threshold: u8) {
    push_compared(bits, levels, threshold, u64::MAX);
}

/// Compares 64 levels at a time. Levels and thresholds stay below 128: the schema's depth is limited.
fn push_compared(bits: &mut Bitmap, levels: &[u8], threshold: u8, flip: u64) {
    bits.reserve(levels.len());
    at_least(levels, threshold, |word| bits.push_word(word ^ flip, 64));
    let (_, rest) = levels.as_chunks::<64>();
    let mut word = 0u64;
    for (i, level) in rest.iter().enumerate() {
        word |= u64::from(*level >= threshold) << i;
    }
    if !rest.is_empty() {
        bits.push_word((word ^ flip) & (u64::MAX >> (64 - rest.len())), rest.len());
    }
}

/// Bits that a level of at most `max_level` takes.
pub(crate) fn bit_width(max_level: u8) -> u8 {
    u8::try_from(u8::BITS - max_level.leading_zeros()).unwrap_or(8)
}

/// Appends to `out` those bits of `values` whose bit in `keep` is set.
pub(crate) fn extend_compressed(out: &mut Bitmap, values: Bits<'_>, keep: Bits<'_>) {
    for (value, keep) in values.words().zip(keep.words()) {
        match keep {
            0 => {}
            u64::MAX => out.push_word(value, 64),
            _ => out.push_word(crate::raw::bits::compress(value, keep), keep.count_ones() as usize),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compares_like_the_naive_way() {
        for threshold in 0..=100u8 {
            for len in [0, 1, 7, 8, 63, 64, 65, 130] {
                let levels: Vec<u8> = (0..len).map(|i: usize| (i * 37 % 101).to_le_bytes()[0]).collect();
                let (mut at_least, mut below) = (Bitmap::new(), Bitmap::new());
                at_least.push(true);
                push_at_least(&mut at_least, &levels, threshold);
                push_below(&mut below, &levels, threshold);
                assert_eq!((at_least.len(), below.len()), (len + 1, len));
                for (i, &level) in levels.iter().enumerate() {
                    assert_eq!(at_least.get(i + 1), level >= threshold, "{level} >= {threshold}");
                    assert_eq!(below.get(i), level < threshold, "{level} < {threshold}");
                }
            }
        }
    }

    #[test]
    fn removes_the_middle() {
        let mut masks = Masks::new(&[Test::DefAtLeast(1), Test::DefAtLeast(1)]);
        assert_eq!(masks.masks.len(), 1);
        let mut streams = Streams::new(1, 0);
        // 10 levels of 1, 5 of 0, 10 of 1
        let bytes = Buffer::from(&[20u8, 1, 10, 0, 20, 1]);
        streams.set_page(LevelStream::new(bytes, Encoding::Rle, 25, 1).unwrap(), LevelStream::Zero);
        streams.read(25, &mut masks).unwrap();
        masks.remove(8..12);
        assert_eq!(masks.len(), 21);
        assert_eq!(masks.count(Test::DefAtLeast(1), 0..21), 18);
        assert_eq!(masks.nth(Test::DefAtLeast(1), 0, 8), Some(11));
        let rest = masks.split_off(11);
        assert_eq!((masks.len(), rest.len()), (11, 10));
        assert_eq!(rest.count(Test::DefAtLeast(1), 0..10), 10);
    }

    #[test]
    fn a_level_above_the_maximum_is_refused() {
        let bytes = Buffer::from(&[20u8, 3]);
        let mut streams = Streams::new(2, 0);
        streams.set_page(LevelStream::new(bytes, Encoding::Rle, 10, 2).unwrap(), LevelStream::Zero);
        let error = streams.read(10, &mut Masks::new(&[Test::DefAtLeast(2)])).unwrap_err();
        assert!(error.to_string().contains("level 3 in a column whose maximum is 2"), "{error}");
    }
}
