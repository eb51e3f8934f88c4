//! RLE, written: the run length / bit-packing hybrid (Encodings.md, "RLE = 3").
//!
//! Values are looked at in groups of 8, for a bit-packed run holds a multiple of 8. Groups of one value that go on for
//! long enough to save bytes become a repeated run; all others are packed. Width 1 has an encoder of its own: there a
//! group is a byte of a bitmap.

use crate::bitmap::{Bitmap, Bits};
use crate::encoding::varint::write_uleb128;
use crate::raw::pack::pack_u32;

/// Encodes levels and dictionary ids. Neither a length nor the width is written before the runs.
#[derive(Debug, Clone)]
pub struct RleEncoder {
    bit_width: u8,
    runs: Vec<u8>,
    /// Whole groups that are to be packed, then a group that is not yet whole.
    packed: Vec<u32>,
    /// The open repeated run: so many times the value, after all of `packed`, which is whole groups then.
    value: u32,
    repeats: usize,
    num_values: usize,
}

impl RleEncoder {
    /// For integers of `bit_width` bits, 32 at most.
    pub fn new(bit_width: u8) -> Self {
        RleEncoder {
            bit_width: bit_width.min(32),
            runs: vec![],
            packed: vec![],
            value: 0,
            repeats: 0,
            num_values: 0,
        }
    }

    /// Bits of each integer.
    pub fn bit_width(&self) -> u8 {
        self.bit_width
    }

    /// Another width from the next page on. What is not flushed is dropped.
    pub fn reset(&mut self, bit_width: u8) {
        self.runs.clear();
        self.packed.clear();
        *self = RleEncoder {
            runs: std::mem::take(&mut self.runs),
            packed: std::mem::take(&mut self.packed),
            ..Self::new(bit_width)
        };
    }

    /// Appends values, none of more than the width's bits.
    pub fn put(&mut self, values: &[u32]) {
        self.num_values += values.len();
        let mut rest = self.continue_run(values);
        rest = self.complete_group(rest);
        while let Some((group, after)) = rest.split_first_chunk::<GROUP>() {
            let [first, ..] = *group;
            if group.iter().any(|&value| value != first) {
                self.pack_group(group);
                rest = after;
                continue;
            }
            (self.value, self.repeats) = (first, GROUP);
            rest = self.continue_run(after);
            rest = self.complete_group(rest);
        }
        if !rest.is_empty() && self.packed.len() >= MAX_PACKED {
            self.write_packed();
        }
        self.packed.extend_from_slice(rest);
    }

    /// Appends levels, one a byte.
    pub fn put_levels(&mut self, levels: &[u8]) {
        let mut wide = [0u32; 256];
        for some in levels.chunks(wide.len()) {
            wide.iter_mut().zip(some).for_each(|(to, &from)| *to = u32::from(from));
            self.put(wide.get(..some.len()).unwrap_or_default());
        }
    }

    /// Appends `n` times `value`.
    pub fn put_n(&mut self, value: u32, n: usize) {
        self.num_values += n;
        if self.repeats > 0 && self.value == value {
            self.repeats += n;
            return;
        }
        self.close_run();
        let filler = n.min(self.packed.len().next_multiple_of(GROUP) - self.packed.len());
        self.packed.resize(self.packed.len() + filler, value);
        if n > filler {
            (self.value, self.repeats) = (value, n - filler);
        }
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.num_values
    }

    /// Bytes that a flush would append, or a few more.
    pub fn estimated_size(&self) -> usize {
        let packed = (self.packed.len().div_ceil(GROUP)) * usize::from(self.bit_width);
        self.runs.len() + packed + 4 + if self.repeats > 0 { 10 } else { 0 }
    }

    /// Appends the runs to `out` and begins again.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        if self.repeats > 0 {
            // Nothing follows: a run of any length is shorter than packing it.
            self.write_packed();
            self.write_run();
        }
        self.write_packed();
        out.extend_from_slice(&self.runs);
        self.runs.clear();
        self.num_values = 0;
    }

    /// Takes what continues the open run off the front; closes the run if anything is left.
    fn continue_run<'v>(&mut self, values: &'v [u32]) -> &'v [u32] {
        if self.repeats == 0 {
            return values;
        }
        let same = equal_prefix(values, self.value);
        self.repeats += same;
        let rest = values.get(same..).unwrap_or_default();
        if !rest.is_empty() {
            self.close_run();
        }
        rest
    }

    /// Fills up the group that is not whole; if all of it is one value, that is a run.
    fn complete_group<'v>(&mut self, values: &'v [u32]) -> &'v [u32] {
        let within = self.packed.len() % GROUP;
        if within == 0 {
            return values;
        }
        let (filler, rest) = values.split_at(values.len().min(GROUP - within));
        self.packed.extend_from_slice(filler);
        match self.packed.last_chunk::<GROUP>() {
            Some(&[first, ref others @ ..])
                if within + filler.len() == GROUP && *others == [first; GROUP - 1] =>
            {
                self.packed.truncate(self.packed.len() - GROUP);
                (self.value, self.repeats) = (first, GROUP);
                let rest = self.continue_run(rest);
                self.complete_group(rest)
            }
            _ => rest,
        }
    }

    #[inline]
    fn pack_group(&mut self, group: &[u32; GROUP]) {
        if self.packed.len() >= MAX_PACKED {
            self.write_packed();
        }
        self.packed.extend_from_slice(group);
    }

    /// Writes the open run, or adds its values to the packed ones where it is too short.
    fn close_run(&mut self) {
        if self.repeats == 0 {
            return;
        }
        if self.repeats / GROUP >= self.min_groups() {
            self.write_packed();
            self.write_run();
            return;
        }
        if self.packed.len() >= MAX_PACKED {
            self.write_packed();
        }
        self.packed.resize(self.packed.len() + self.repeats, self.value);
        self.repeats = 0;
    }

    /// Groups of one value that are worth a run: it costs its header, its value, and another header behind it.
    fn min_groups(&self) -> usize {
        let width = usize::from(self.bit_width);
        (3 + width.div_ceil(8)).checked_div(width).map_or(1, |groups| groups + 1)
    }

    fn write_run(&mut self) {
        write_uleb128(&mut self.runs, (self.repeats as u64) << 1);
        let bytes = self.value.to_le_bytes();
        self.runs.extend(bytes.iter().take(usize::from(self.bit_width).div_ceil(8)));
        self.repeats = 0;
    }

    /// Writes all packed values as one run, the last group filled up with zeros.
    fn write_packed(&mut self) {
        if self.packed.is_empty() {
            return;
        }
        let groups = self.packed.len().div_ceil(GROUP);
        self.packed.resize(groups * GROUP, 0);
        write_uleb128(&mut self.runs, (groups as u64) << 1 | 1);
        pack_u32(&self.packed, self.bit_width, &mut self.runs);
        self.packed.clear();
    }
}

/// How many of the first values are `value`.
fn equal_prefix(values: &[u32], value: u32) -> usize {
    let chunks = values.chunks_exact(32).take_while(|chunk| chunk.iter().all(|&v| v == value)).count();
    let rest = values.get(chunks * 32..).unwrap_or_default();
    chunks * 32 + rest.iter().take_while(|&&v| v == value).count()
}

/// Encodes booleans, and levels of one bit.
#[derive(Debug, Clone, Default)]
pub struct RleBooleanEncoder {
    page: Bitmap,
}

impl RleBooleanEncoder {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends bits.
    pub fn put(&mut self, bits: Bits<'_>) {
        self.page.extend(bits);
    }

    /// Appends `n` times `bit`.
    pub fn put_n(&mut self, bit: bool, n: usize) {
        self.page.push_n(bit, n);
    }

    /// Values since the last flush.
    pub fn num_values(&self) -> usize {
        self.page.len()
    }

    /// Bytes that a flush would append at most.
    pub fn estimated_size(&self) -> usize {
        self.page.len().div_ceil(8) + 16
    }

    /// Appends the runs to `out` and begins again. No length is written before them.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        let len = self.page.len();
        // The padding goes on as the last bit, so that a run may end within the last byte.
        let last = len.checked_sub(1).is_some_and(|last| self.page.get(last));
        self.page.push_n(last, len.next_multiple_of(8) - len);
        let bytes = self.page.as_bytes();
        let (mut packed_from, mut at) = (0, 0);
        while let Some(&byte) = bytes.get(at) {
            let groups = match byte {
                0 | 0xff => equal_bytes(bytes.get(at..).unwrap_or_default(), byte),
                _ => 1,
            };
            let ends = at + groups == bytes.len() && (groups > 2 || packed_from == at);
            if (byte == 0 || byte == 0xff) && (groups >= MIN_BYTES || ends) {
                write_packed_bytes(bytes.get(packed_from..at).unwrap_or_default(), out);
                write_uleb128(out, ((len - 8 * at).min(8 * groups) as u64) << 1);
                out.push(byte & 1);
                packed_from = at + groups;
            }
            at += groups;
        }
        write_packed_bytes(bytes.get(packed_from..).unwrap_or_default(), out);
        self.page.clear();
    }

    /// As [`RleBooleanEncoder::flush`], with the runs' length in 4 bytes before them, as values of a data page have it.
    pub fn flush_with_length(&mut self, out: &mut Vec<u8>) {
        let at = out.len();
        out.extend_from_slice(&[0; 4]);
        self.flush(out);
        patch_length(out, at);
    }
}

/// Writes the number of bytes behind the 4 at `at` into those.
#[allow(clippy::cast_possible_truncation)] // a page is shorter than 2 GiB
pub(crate) fn patch_length(out: &mut [u8], at: usize) {
    let len = (out.len() - at - 4) as u32;
    if let Some(place) = out.get_mut(at..at + 4) {
        place.copy_from_slice(&len.to_le_bytes());
    }
}

fn equal_bytes(bytes: &[u8], byte: u8) -> usize {
    let chunks = bytes.chunks_exact(32).take_while(|chunk| chunk.iter().all(|&b| b == byte)).count();
    let rest = bytes.get(chunks * 32..).unwrap_or_default();
    chunks * 32 + rest.iter().take_while(|&&b| b == byte).count()
}

fn write_packed_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    if !bytes.is_empty() {
        write_uleb128(out, (bytes.len() as u64) << 1 | 1);
        out.extend_from_slice(bytes);
    }
}

/// Values of the smallest bit-packed run.
const GROUP: usize = 8;
/// Packed values that are kept back at most: their run has a header of 2 bytes.
const MAX_PACKED: usize = 4096;
/// Bytes of equal bits that are worth a run.
const MIN_BYTES: usize = 6;

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use crate::encoding::RleDecoder;
    use crate::encoding::testing::{COUNTS, random};
    use crate::sink::PrimitiveSink;

    fn decode(bytes: &[u8], n: usize, width: u8) -> Vec<u32> {
        let mut decoder = RleDecoder::new(bytes, n, width).unwrap();
        let mut sink = PrimitiveSink::<i32>::new();
        decoder.read(n, &mut sink).unwrap();
        sink.as_slice().iter().map(|value| value.cast_unsigned()).collect()
    }

    /// Values of `width` bits in runs of up to `longest`.
    fn sample(n: usize, width: u8, longest: u64, seed: u64) -> Vec<u32> {
        let mut next = random(seed);
        let mut values = vec![];
        while values.len() < n {
            let value = if width == 0 { 0 } else { (next() >> (64 - width)) as u32 };
            values.extend((0..1 + next() % longest).map(|_| value));
        }
        values.truncate(n);
        values
    }

    #[test]
    fn every_width_and_length_of_runs_is_read_back() {
        for width in 0..=32 {
            for longest in [1, 3, 20, 90, 3000] {
                for n in COUNTS {
                    let values = sample(n, width, longest, u64::from(width) + longest);
                    let (mut encoder, mut first) = (RleEncoder::new(width), None);
                    for step in [n.max(1), 1, 5, 8, 100] {
                        if step < 8 && n > 1025 {
                            continue;
                        }
                        values.chunks(step).for_each(|some| encoder.put(some));
                        assert_eq!(encoder.num_values(), n);
                        let (size, mut page) = (encoder.estimated_size(), vec![]);
                        encoder.flush(&mut page);
                        assert!(page.len() <= size, "{} of {size}", page.len());
                        assert_eq!(decode(&page, n, width), values, "width {width} n {n} step {step}");
                        assert_eq!(first.get_or_insert(page.clone()), &page, "the same bytes however cut");
                        assert!(page.len() <= n.div_ceil(8) * usize::from(width) + 8 + n / 1000);
                    }
                }
            }
        }
    }

    #[test]
    fn single_bits_are_read_back() {
        for longest in [1, 3, 20, 90, 3000] {
            for n in COUNTS {
                let values = sample(n, 1, longest, longest);
                let bitmap: Bitmap = values.iter().map(|&bit| bit == 1).collect();
                let mut encoder = RleBooleanEncoder::new();
                encoder.put(bitmap.bits(0..n / 3));
                encoder.put(bitmap.bits(n / 3..n));
                assert_eq!(encoder.num_values(), n);
                let (size, mut page) = (encoder.estimated_size(), vec![]);
                encoder.flush(&mut page);
                assert!(page.len() <= size);
                assert_eq!(decode(&page, n, 1), values, "n {n} longest {longest}");
                encoder.put_n(true, n);
                encoder.put_n(false, n);
                page.clear();
                encoder.flush_with_length(&mut page);
                assert_eq!(page[..4], (page.len() as u32 - 4).to_le_bytes());
                assert_eq!(decode(&page[4..], 2 * n, 1), [vec![1; n], vec![0; n]].concat());
                assert!(n < 130 || page.len() < 16);
            }
        }
    }

    #[test]
    fn runs_may_be_given_as_such() {
        let mut next = random(3);
        let (mut encoder, mut values) = (RleEncoder::new(3), vec![]);
        for _ in 0..500 {
            let (value, n) = ((next() % 8) as u32, (next() % 60) as usize);
            match next() % 3 {
                0 => encoder.put(&vec![value; n]),
                1 => encoder.put_levels(&vec![value as u8; n]),
                _ => encoder.put_n(value, n),
            }
            values.extend(vec![value; n]);
        }
        let mut page = vec![];
        encoder.flush(&mut page);
        assert_eq!(decode(&page, values.len(), 3), values);
    }

    #[test]
    fn writes_the_examples_of_the_format() {
        let mut page = vec![];
        let mut encoder = RleEncoder::new(3);
        encoder.put(&[0, 1, 2, 3, 4, 5, 6, 7]);
        encoder.flush(&mut page);
        assert_eq!(page, [0b11, 0b1000_1000, 0b1100_0110, 0b1111_1010]);
        page.clear();
        encoder.reset(9);
        encoder.put_n(300, 50);
        encoder.flush(&mut page);
        assert_eq!(page, [100, 0x2c, 0x01]);
        page.clear();
        encoder.reset(0);
        encoder.put(&[0; 10]);
        encoder.flush(&mut page);
        assert_eq!(page, [20]);
    }
}
