//! DELTA_BINARY_PACKED: integers from blocks of bit-packed differences (Encodings.md, "Delta Encoding").
//!
//! Takes the bytes of a page from the header on, gives values; also finds where the encoded stream ends, which the
//! two byte array encodings that begin with such streams need. It does not know what the values stand for.

pub use crate::raw::delta::DeltaInt;

use crate::cursor::Cursor;
use crate::encoding::PageBytes;
use crate::encoding::rle::check_count;
use crate::error::{Error, Result};
use crate::raw::delta::{Blocks, GROUP, Kernels, Place};
use crate::sink::PrimitiveSink;

/// Decodes `INT32` and `INT64`.
///
/// Block sizes are multiples of 128, miniblocks of 32 values; all sums wrap at the width of `T`. The bytes may end
/// within the last miniblock's padding, and a page of no values may have no header.
#[derive(Debug, Clone)]
pub struct DeltaBinaryPackedDecoder<B, T> {
    bytes: B,
    kernels: Kernels<T>,
    header: Header,
    num_values: usize,
    position: usize,
    /// The value that the next delta adds to.
    last: T,
    /// The open block and, within it, the open miniblock.
    min_delta: T,
    width: u8,
    groups_left: usize,
    miniblocks_left: usize,
    /// Byte offset of the next miniblock's width, and of the next group.
    width_at: usize,
    group_at: usize,
    /// A group of which only a part is read: the last `pending_left` of these.
    pending: Vec<T>,
    pending_left: usize,
}

/// The counts at the head of the stream.
#[derive(Debug, Clone, Copy, Default)]
struct Header {
    miniblocks: usize,
    groups_per_miniblock: usize,
    total: usize,
    /// Byte offset of the first block.
    blocks_at: usize,
}

impl<B: PageBytes, T: DeltaInt> DeltaBinaryPackedDecoder<B, T> {
    /// Starts at the header. `num_values` is the page's count of values that are not null; the header's own count may
    /// be larger.
    ///
    /// # Errors
    /// When the header is cut or breaks the format. With 0 values, nothing is looked at.
    pub fn new(bytes: B, num_values: usize) -> Result<Self> {
        Self::starting_at(bytes, 0, num_values)
    }

    /// [`DeltaBinaryPackedDecoder::new`] for a header at byte `start`. Byte offsets count from the start of `bytes`.
    pub(crate) fn starting_at(bytes: B, start: usize, num_values: usize) -> Result<Self> {
        let (header, last) = match num_values {
            0 => (Header { blocks_at: start, ..Header::default() }, T::default()),
            _ => Header::read(&bytes, start)?,
        };
        Ok(DeltaBinaryPackedDecoder {
            bytes,
            kernels: Kernels::best(),
            header,
            num_values,
            position: 0,
            last,
            min_delta: T::default(),
            width: 0,
            groups_left: 0,
            miniblocks_left: 0,
            width_at: 0,
            group_at: header.blocks_at,
            pending: Vec::new(),
            pending_left: 0,
        })
    }

    /// Values read or skipped so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Values left.
    pub fn remaining(&self) -> usize {
        self.num_values - self.position
    }

    /// Appends the next `n` values; gives `n`.
    ///
    /// # Errors
    /// When there are fewer, by either count, or the bytes are cut or break the format.
    pub fn read(&mut self, n: usize, sink: &mut PrimitiveSink<T>) -> Result<usize> {
        self.read_into(n, sink.as_mut_vec())?;
        Ok(n)
    }

    /// [`DeltaBinaryPackedDecoder::read`], to a vector.
    pub(crate) fn read_into(&mut self, n: usize, out: &mut Vec<T>) -> Result<()> {
        self.check(n)?;
        let mut wanted = self.take_ready(n, |values| out.extend_from_slice(values));
        // A width of 0 promises any number of values: what is more than this grows as they come.
        out.reserve(wanted.min(RESERVE));
        while wanted >= GROUP {
            wanted -=
                self.whole_blocks(wanted, |kernels, blocks, place| kernels.decode_blocks(blocks, place, out));
            if wanted < GROUP {
                break;
            }
            let groups = self.open_groups(wanted / GROUP)?;
            let packed = self.packed(groups)?;
            self.last = self.kernels.decode(packed, self.width, groups, self.min_delta, self.last, out);
            wanted -= self.advance(groups);
        }
        if wanted > 0 {
            self.fill_pending()?;
            wanted = self.take_ready(wanted, |values| out.extend_from_slice(values));
        }
        debug_assert_eq!(wanted, 0);
        Ok(())
    }

    /// Passes over `n` values. Passing over all that are left costs nothing.
    ///
    /// # Errors
    /// As [`DeltaBinaryPackedDecoder::read`].
    pub fn skip(&mut self, n: usize) -> Result<()> {
        self.check(n)?;
        if n == self.remaining() {
            self.position = self.num_values;
            return Ok(());
        }
        let mut wanted = self.take_ready(n, |_| ());
        while wanted >= GROUP {
            wanted -= self.whole_blocks(wanted, |kernels, blocks, place| kernels.skip_blocks(blocks, place));
            if wanted < GROUP {
                break;
            }
            let groups = self.open_groups(wanted / GROUP)?;
            let packed = self.packed(groups)?;
            self.last = self.kernels.skip(packed, self.width, groups, self.min_delta, self.last);
            wanted -= self.advance(groups);
        }
        if wanted > 0 {
            self.fill_pending()?;
            self.take_ready(wanted, |_| ());
        }
        Ok(())
    }

    /// Where the encoded stream ends: the byte offset behind the last miniblock that holds a value, by the header's
    /// own count, padding included. Not past the end of the bytes. With 0 values, where it starts.
    ///
    /// # Errors
    /// When the blocks are cut before their last miniblock or break the format.
    pub fn end_of_bytes(&self) -> Result<usize> {
        let mut cursor = Cursor::at(&self.bytes, self.header.blocks_at);
        let group_counts = self.header.total.saturating_sub(1).div_ceil(GROUP);
        let mut groups_left = group_counts;
        while groups_left > 0 {
            cursor.zigzag("minimum delta")?;
            let widths = cursor.take(self.header.miniblocks, "bit widths of miniblocks")?;
            let mut body = 0usize;
            for &width in widths {
                if groups_left == 0 {
                    break;
                }
                check_width::<T>(width)?;
                let groups = self.header.groups_per_miniblock;
                body = body.saturating_add(groups * group_len(width));
                groups_left = groups_left.saturating_sub(groups);
            }
            let body = if groups_left == 0 { body.min(cursor.remaining()) } else { body };
            cursor.skip(body, "miniblocks")?;
        }
        Ok(cursor.position())
    }

    /// Refuses to go past the page's or the header's count.
    fn check(&self, n: usize) -> Result<()> {
        let available = self.num_values.min(self.header.total) - self.position.min(self.header.total);
        check_count(n, available)
    }

    /// Gives up to `n` values that need no unpacking, the first one included; what is still wanted then.
    fn take_ready(&mut self, n: usize, mut give: impl FnMut(&[T])) -> usize {
        let mut wanted = n;
        if self.position == 0 && wanted > 0 {
            give(&[self.last]);
            self.position = 1;
            wanted -= 1;
        }
        let from = self.pending.len() - self.pending_left;
        let taken = wanted.min(self.pending_left);
        give(self.pending.get(from..from + taken).unwrap_or_default());
        self.pending_left -= taken;
        self.position += taken;
        wanted - taken
    }

    /// Runs `kernel` on whole blocks, as long as these are in order; gives the number of values in them.
    fn whole_blocks(
        &mut self,
        wanted: usize,
        mut kernel: impl FnMut(&Kernels<T>, &Blocks<'_>, &mut Place<T>) -> usize,
    ) -> usize {
        let Header { miniblocks, groups_per_miniblock, .. } = self.header;
        let block_size = miniblocks * groups_per_miniblock * GROUP;
        let mut left = wanted;
        while self.groups_left + self.miniblocks_left == 0 && block_size <= left.min(RESERVE) {
            let max_blocks = left.min(RESERVE) / block_size;
            let blocks = Blocks { bytes: &self.bytes, miniblocks, groups_per_miniblock, max_blocks };
            let mut place = Place { at: self.group_at, last: self.last };
            let done = kernel(&self.kernels, &blocks, &mut place);
            (self.group_at, self.last) = (place.at, place.last);
            self.position += done * block_size;
            left -= done * block_size;
            if done < max_blocks {
                break;
            }
        }
        wanted - left
    }

    /// Opens the next miniblock when the open one is read to its end; up to `max` of the groups that are left in it.
    #[inline]
    fn open_groups(&mut self, max: usize) -> Result<usize> {
        if self.groups_left == 0 {
            self.next_miniblock()?;
        }
        Ok(self.groups_left.min(max))
    }

    /// All bytes from the next group on: those of `groups` groups at least. A kernel may load what lies behind.
    #[inline]
    fn packed(&self, groups: usize) -> Result<&[u8]> {
        let rest = self.bytes.get(self.group_at..).unwrap_or_default();
        let needed = groups * group_len(self.width);
        if rest.len() < needed {
            return Err(Error::end_of_data("miniblock", needed, rest.len()));
        }
        Ok(rest)
    }

    /// Steps over groups; gives the values in them.
    #[inline]
    fn advance(&mut self, groups: usize) -> usize {
        self.groups_left -= groups;
        self.group_at += groups * group_len(self.width);
        self.position += groups * GROUP;
        groups * GROUP
    }

    #[inline]
    fn next_miniblock(&mut self) -> Result<()> {
        if self.miniblocks_left == 0 {
            let mut cursor = Cursor::at(&self.bytes, self.group_at);
            let min_delta = cursor.zigzag("minimum delta")?;
            self.min_delta =
                T::from_i64(min_delta).ok_or_else(|| too_large::<T>("minimum delta", min_delta))?;
            self.width_at = cursor.position();
            cursor.skip(self.header.miniblocks, "bit widths of miniblocks")?;
            self.group_at = cursor.position();
            self.miniblocks_left = self.header.miniblocks;
        }
        self.width = Cursor::at(&self.bytes, self.width_at).u8("bit width of a miniblock")?;
        check_width::<T>(self.width)?;
        self.width_at += 1;
        self.miniblocks_left -= 1;
        self.groups_left = self.header.groups_per_miniblock;
        Ok(())
    }

    /// Unpacks one group that will be read in parts. The page's last one may lack its padding.
    fn fill_pending(&mut self) -> Result<()> {
        self.open_groups(1)?;
        let len = group_len(self.width);
        let needed = (self.header.total - self.position).min(GROUP) * usize::from(self.width);
        let rest = self.bytes.get(self.group_at..).unwrap_or_default();
        if rest.len() < needed.div_ceil(8) {
            return Err(Error::end_of_data("miniblock", needed.div_ceil(8), rest.len()));
        }
        self.pending.clear();
        let (min_delta, last, out) = (self.min_delta, self.last, &mut self.pending);
        self.last = if rest.len() < len {
            let mut padded = rest.to_vec();
            padded.resize(len, 0);
            self.kernels.decode(&padded, self.width, 1, min_delta, last, out)
        } else {
            self.kernels.decode(rest, self.width, 1, min_delta, last, out)
        };
        self.pending_left = GROUP;
        self.groups_left -= 1;
        self.group_at += len;
        Ok(())
    }
}

impl Header {
    /// The header and the first value.
    fn read<T: DeltaInt>(bytes: &[u8], start: usize) -> Result<(Header, T)> {
        let mut cursor = Cursor::at(bytes, start);
        let block_size = cursor.uleb128_u32("block size")? as usize;
        let miniblocks = cursor.uleb128_u32("number of miniblocks in a block")? as usize;
        let total = cursor.uleb128_u32("total value count")? as usize;
        let first = cursor.zigzag("first value")?;
        let miniblock_size = block_size.checked_div(miniblocks).unwrap_or(0);
        let whole = miniblock_size * miniblocks == block_size;
        let legal = block_size.is_multiple_of(128) && miniblock_size.is_multiple_of(GROUP);
        if !legal || !whole || miniblock_size == 0 {
            return Err(Error::malformed(format!(
                "DELTA_BINARY_PACKED blocks of {block_size} values in {miniblocks} miniblocks"
            )));
        }
        let first = T::from_i64(first).ok_or_else(|| too_large::<T>("first value", first))?;
        let groups_per_miniblock = miniblock_size / GROUP;
        Ok((Header { miniblocks, groups_per_miniblock, total, blocks_at: cursor.position() }, first))
    }
}

/// Values that room is made for at once.
const RESERVE: usize = 1 << 16;

/// Bytes of a group.
fn group_len(width: u8) -> usize {
    GROUP / 8 * usize::from(width)
}

fn check_width<T: DeltaInt>(width: u8) -> Result<()> {
    if width > T::BITS {
        return Err(Error::malformed(format!("a miniblock of {width} bits a value, in {} bits", T::BITS)));
    }
    Ok(())
}

fn too_large<T: DeltaInt>(what: &str, value: i64) -> Error {
    Error::malformed(format!("{what} {value} does not fit {} bits", T::BITS))
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]
pub(crate) mod tests {
    use super::*;

    fn uleb128(mut value: u64, out: &mut Vec<u8>) {
        while value >= 0x80 {
            out.push(value as u8 | 0x80);
            value >>= 7;
        }
        out.push(value as u8);
    }

    fn zigzag(value: i64, out: &mut Vec<u8>) {
        uleb128((value << 1 ^ value >> 63) as u64, out);
    }

    /// A plain encoder of `bits`-wide integers, given as `i64`.
    pub(crate) fn encode(values: &[i64], bits: u32, block_size: usize, miniblocks: usize) -> Vec<u8> {
        let wrap = |v: i64| v << (64 - bits) >> (64 - bits);
        let mask = u64::MAX >> (64 - bits);
        let mut out = vec![];
        uleb128(block_size as u64, &mut out);
        uleb128(miniblocks as u64, &mut out);
        uleb128(values.len() as u64, &mut out);
        zigzag(values.first().copied().unwrap_or(0), &mut out);
        let deltas: Vec<i64> = values.windows(2).map(|w| wrap(w[1].wrapping_sub(w[0]))).collect();
        for block in deltas.chunks(block_size) {
            let min = *block.iter().min().unwrap();
            zigzag(min, &mut out);
            let relative: Vec<u64> = block.iter().map(|d| d.wrapping_sub(min) as u64 & mask).collect();
            let minis: Vec<&[u64]> = relative.chunks(block_size / miniblocks).collect();
            let width = |mini: &[u64]| mini.iter().map(|d| 64 - d.leading_zeros()).max().unwrap();
            // Widths of miniblocks that hold nothing may be anything.
            out.extend((0..miniblocks).map(|i| minis.get(i).map_or(0xee, |mini| width(mini) as u8)));
            for mini in minis {
                let start = out.len();
                let width = width(mini) as usize;
                out.resize(start + block_size / miniblocks * width / 8, 0);
                for (i, delta) in mini.iter().enumerate() {
                    (0..width).filter(|b| delta >> b & 1 == 1).for_each(|b| {
                        out[start + (i * width + b) / 8] |= 1 << ((i * width + b) % 8);
                    });
                }
            }
        }
        out
    }

    pub(crate) fn random(seed: u64) -> impl FnMut() -> u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
        move || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state.wrapping_mul(0x2545_f491_4f6c_dd1d)
        }
    }

    /// Sequences, small steps, extremes, and every number of bits.
    fn samples(n: usize, bits: u32) -> Vec<Vec<i64>> {
        let wrap = |v: i64| v << (64 - bits) >> (64 - bits);
        let mut samples = vec![(0..n as i64).map(|i| wrap(i * 1000 - 7)).collect::<Vec<_>>(), vec![5; n]];
        samples.push((0..n).map(|i| wrap([i64::MAX, i64::MIN, 0, -1][i % 4] >> (64 - bits))).collect());
        for width in 1..=bits {
            let mut next = random(u64::from(width));
            samples.push((0..n).map(|_| wrap((next() >> (64 - width)) as i64)).collect());
        }
        samples
    }

    fn decode<T: DeltaInt>(bytes: &[u8], n: usize, batch: usize) -> Result<Vec<T>> {
        let mut decoder = DeltaBinaryPackedDecoder::new(bytes, n)?;
        let mut out = vec![];
        while decoder.remaining() > 0 {
            decoder.read_into(batch.min(decoder.remaining()), &mut out)?;
            assert_eq!(decoder.position(), out.len());
        }
        Ok(out)
    }

    #[test]
    fn reads_every_shape_of_block_in_batches_of_any_size() {
        for (block_size, miniblocks) in [(128, 4), (128, 1), (256, 8), (1024, 4), (1152, 3)] {
            for n in [1, 2, 32, 33, 34, 129, 130, 1500] {
                for values in samples(n, 64).into_iter().step_by(5) {
                    let mut bytes = encode(&values, 64, block_size, miniblocks);
                    let end = bytes.len();
                    bytes.extend([0xff; 40]);
                    let decoder = DeltaBinaryPackedDecoder::<_, i64>::new(&bytes[..], n).unwrap();
                    assert_eq!(decoder.end_of_bytes().unwrap(), end);
                    for batch in [n, 1, 31, 32, 100] {
                        assert_eq!(decode::<i64>(&bytes, n, batch).unwrap(), values);
                    }
                }
            }
        }
    }

    #[test]
    fn wraps_at_the_width_of_the_type() {
        for n in [5, 300] {
            for values in samples(n, 32) {
                let bytes = encode(&values, 32, 128, 4);
                let expected: Vec<i32> = values.iter().map(|&v| v as i32).collect();
                assert_eq!(decode::<i32>(&bytes, n, n).unwrap(), expected);
                assert_eq!(decode::<i64>(&encode(&values, 64, 128, 4), n, n).unwrap(), values);
            }
        }
    }

    #[test]
    fn skips_to_what_reading_would_give() {
        for values in samples(1000, 64).into_iter().step_by(9) {
            let bytes = encode(&values, 64, 256, 4);
            let mut next = random(7);
            for _ in 0..20 {
                let mut decoder = DeltaBinaryPackedDecoder::<_, i64>::new(&bytes[..], 1000).unwrap();
                let mut out = vec![];
                while decoder.remaining() > 0 {
                    let at = decoder.position();
                    let n = (next() as usize % 150).min(decoder.remaining());
                    if next().is_multiple_of(2) {
                        decoder.skip(n).unwrap();
                    } else {
                        out.clear();
                        decoder.clone().read_into(n, &mut out).unwrap();
                        decoder.read_into(n, &mut vec![]).unwrap();
                        assert_eq!(out, values[at..at + n]);
                    }
                    assert_eq!(decoder.position(), at + n);
                }
                assert!(decoder.skip(1).is_err());
            }
        }
    }

    #[test]
    fn no_values_need_no_header() {
        for bytes in [&[][..], &[0, 0, 0, 0], &[128, 1, 4, 0, 0], &[0xff]] {
            let mut decoder = DeltaBinaryPackedDecoder::<_, i32>::new(bytes, 0).unwrap();
            decoder.read_into(0, &mut vec![]).unwrap();
            decoder.skip(0).unwrap();
            assert!(decoder.read_into(1, &mut vec![]).is_err());
            assert_eq!(decoder.end_of_bytes().unwrap(), 0);
        }
    }

    #[test]
    fn the_last_miniblock_may_be_cut_within_its_padding() {
        let values: Vec<i64> = (0..40).map(|i| i * i).collect();
        let bytes = encode(&values, 64, 128, 4);
        // 39 deltas: 32 in a miniblock, 7 in the next, of 7 bits each.
        let body = bytes.len() - 4 * 7;
        for cut in body + 7..bytes.len() {
            assert_eq!(decode::<i64>(&bytes[..cut], 40, 40).unwrap(), values);
            let decoder = DeltaBinaryPackedDecoder::<_, i64>::new(&bytes[..cut], 40).unwrap();
            assert_eq!(decoder.end_of_bytes().unwrap(), cut);
        }
        for cut in 0..body + 7 {
            assert!(decode::<i64>(&bytes[..cut], 40, 40).is_err(), "{cut}");
            assert!(decode::<i64>(&bytes[..cut], 40, 1).is_err(), "{cut}");
        }
    }

    #[test]
    fn refuses_what_breaks_the_format() {
        let header = |block: u64, minis: u64, total: u64, first: i64| {
            let mut out = vec![];
            for v in [block, minis, total] {
                uleb128(v, &mut out);
            }
            zigzag(first, &mut out);
            out
        };
        for (block, minis) in
            [(0, 0), (0, 1), (128, 0), (8, 1), (100, 1), (128, 3), (128, 8), (256, 16), (1 << 40, 4)]
        {
            let bytes = header(block, minis, 2, 0);
            assert!(DeltaBinaryPackedDecoder::<_, i64>::new(&bytes[..], 2).is_err(), "{block} {minis}");
        }
        assert!(DeltaBinaryPackedDecoder::<_, i32>::new(&header(128, 4, 1, 1 << 31)[..], 1).is_err());
        // Bit widths: 33 is too wide for INT32, 65 for INT64. A minimum delta has to fit as well.
        let mut wide = header(128, 4, 2, 0);
        zigzag(0, &mut wide);
        wide.extend([33, 0, 0, 0]);
        wide.resize(500, 0);
        assert!(decode::<i32>(&wide, 2, 2).is_err());
        assert_eq!(decode::<i64>(&wide, 2, 2).unwrap(), [0, 0]);
        wide[6] = 65;
        assert!(decode::<i64>(&wide, 2, 2).is_err());
        let mut min = header(128, 1, 2, 0);
        zigzag(i64::from(i32::MIN) - 1, &mut min);
        min.resize(100, 0);
        assert!(decode::<i32>(&min, 2, 2).is_err());
    }

    #[test]
    fn a_count_larger_than_the_bytes_hold_costs_nothing() {
        // 2^31 values of width 0 in one block: legal, and read as they are asked for.
        let mut bytes = vec![];
        for v in [1 << 31, 1, 1 << 31] {
            uleb128(v, &mut bytes);
        }
        bytes.extend([0, 2, 0]);
        let mut decoder = DeltaBinaryPackedDecoder::<_, i32>::new(&bytes[..], 1 << 31).unwrap();
        assert_eq!(decoder.end_of_bytes().unwrap(), bytes.len());
        decoder.skip((1 << 31) - 3).unwrap();
        let mut out = vec![];
        decoder.read_into(3, &mut out).unwrap();
        assert_eq!(out, [i32::MAX - 2, i32::MAX - 1, i32::MAX]);

        // The header counts fewer than the page: those are read, no more.
        let bytes = encode(&[1, 2, 3], 64, 128, 4);
        let mut decoder = DeltaBinaryPackedDecoder::<_, i64>::new(&bytes[..], 9).unwrap();
        decoder.read_into(3, &mut vec![]).unwrap();
        assert!(decoder.read_into(1, &mut vec![]).is_err());
        // And more than the page: the page's count is read.
        assert_eq!(decode::<i64>(&bytes, 2, 2).unwrap(), [1, 2]);
    }
}
