//! LZ4_RAW: one bare block. LZ4: blocks in the framing of Hadoop, or a bare block all the same.

use super::{failed, make_room};
use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// A byte of a match length stands for at most 255.
const MOST: usize = 255;

pub(super) fn decompress_raw(input: &[u8], uncompressed_len: usize, out: &mut Vec<u8>) -> Result<()> {
    make_room("LZ4_RAW", input.len(), MOST, uncompressed_len, out)?;
    let len = lz4_flex::block::decompress_into(input, out).map_err(|error| failed("LZ4_RAW", error))?;
    out.truncate(len);
    Ok(())
}

/// Hadoop's framing, which the format never described: a big-endian length of what follows once decompressed, then
/// inner blocks, each behind its compressed length, until that many bytes are there; and again. Arrow C++ before 0.15
/// wrote a bare block under this codec, so that is tried where the framing does not fit.
pub(super) fn decompress_hadoop(input: &[u8], uncompressed_len: usize, out: &mut Vec<u8>) -> Result<()> {
    make_room("LZ4", input.len(), MOST, uncompressed_len, out)?;
    match hadoop_frames(input, out) {
        Ok(()) => Ok(()),
        Err(error) => decompress_raw(input, uncompressed_len, out).map_err(|_| error),
    }
}

fn hadoop_frames(input: &[u8], mut out: &mut [u8]) -> Result<()> {
    let mut cursor = Cursor::new(input);
    let length = |cursor: &mut Cursor<'_>| {
        cursor.array("an LZ4 length").map(|bytes| u32::from_be_bytes(bytes) as usize)
    };
    while cursor.remaining() > 0 {
        let mut left = length(&mut cursor)?;
        // Of nothing there may be a block too, or none.
        while left > 0 || cursor.remaining() > 0 && out.is_empty() {
            let compressed = length(&mut cursor)?;
            let block = cursor.take(compressed, "an LZ4 block")?;
            let room = left.min(out.len());
            let (target, _) = out.split_at_mut_checked(room).unwrap_or_default();
            let written =
                lz4_flex::block::decompress_into(block, target).map_err(|error| failed("LZ4", error))?;
            if written == 0 && left > 0 {
                return Err(Error::malformed("an LZ4 block of nothing"));
            }
            left -= written;
            out = std::mem::take(&mut out).get_mut(written..).unwrap_or_default();
        }
    }
    if out.is_empty() { Ok(()) } else { Err(Error::end_of_data("LZ4 frames", out.len(), 0)) }
}

/// Appends one bare block to `out`.
pub(super) fn compress_raw(input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    out.resize(start + lz4_flex::block::get_maximum_output_size(input.len()), 0);
    let room = out.get_mut(start..).unwrap_or_default();
    let len = lz4_flex::block::compress_into(input, room).map_err(|error| failed("LZ4_RAW", error))?;
    out.truncate(start + len);
    Ok(())
}

/// One frame of one block, as Hadoop has it.
pub(super) fn compress_hadoop(input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let length = |len: usize| u32::try_from(len).map(u32::to_be_bytes).map_err(|error| failed("LZ4", error));
    out.clear();
    out.extend_from_slice(&length(input.len())?);
    out.extend_from_slice(&[0; 4]);
    compress_raw(input, out)?;
    let compressed = length(out.len() - 8)?;
    if let Some(place) = out.get_mut(4..8) {
        place.copy_from_slice(&compressed);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(len: usize, blocks: &[&[u8]]) -> Vec<u8> {
        let mut bytes = u32::try_from(len).unwrap().to_be_bytes().to_vec();
        for block in blocks {
            let packed = lz4_flex::block::compress(block);
            bytes.extend(u32::try_from(packed.len()).unwrap().to_be_bytes());
            bytes.extend(packed);
        }
        bytes
    }

    #[test]
    fn reads_every_framing() {
        let data: Vec<u8> = (0..1000u32).map(|i| (i / 9).to_le_bytes()[0]).collect();
        let (a, b) = data.split_at(300);
        let inner = frame(1000, &[a, b]);
        let outer = [frame(300, &[a]), frame(700, &[b])].concat();
        for packed in [frame(1000, &[&data]), inner, outer, lz4_flex::block::compress(&data)] {
            let mut out = Vec::new();
            decompress_hadoop(&packed, 1000, &mut out).unwrap();
            assert_eq!(out, data);
            for cut in 0..packed.len() {
                let result = decompress_hadoop(packed.get(..cut).unwrap(), 1000, &mut out);
                assert!(result.is_err() || out != data, "cut at {cut}");
            }
        }
        let mut out = vec![1];
        for nothing in [frame(0, &[b""]), frame(0, &[])] {
            decompress_hadoop(&nothing, 0, &mut out).unwrap();
            assert!(out.is_empty());
        }
        decompress_raw(&lz4_flex::block::compress(&data), 1000, &mut out).unwrap();
        assert_eq!(out, data);
    }
}
