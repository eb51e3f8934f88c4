//! The simplest streams that each codec allows: what is not compressed at all, in the codec's framing (RFC 1952, 7932,
//! 8878; the Snappy and LZ4 format descriptions).

use super::thrift::uleb128;
use marquetry::metadata::Compression;

pub fn compress(codec: Compression, bytes: &[u8]) -> Vec<u8> {
    match codec {
        Compression::Uncompressed => bytes.to_vec(),
        Compression::Snappy => snappy(bytes),
        Compression::Gzip => gzip(bytes),
        Compression::Brotli => brotli(bytes),
        Compression::Lz4 => hadoop_lz4(&[bytes]),
        Compression::Zstd => zstd(bytes),
        Compression::Lz4Raw => lz4(bytes),
        other => panic!("no encoder for {other}"),
    }
}

fn snappy(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    uleb128(&mut out, bytes.len() as u64);
    for literal in bytes.chunks(1 << 16) {
        out.push(61 << 2);
        out.extend(((literal.len() - 1) as u16).to_le_bytes());
        out.extend(literal);
    }
    out
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
    let mut stored = |last: bool, bytes: &[u8]| {
        let len = bytes.len() as u16;
        out.push(u8::from(last));
        out.extend(len.to_le_bytes());
        out.extend((!len).to_le_bytes());
        out.extend(bytes);
    };
    bytes.chunks(0xffff).for_each(|block| stored(false, block));
    stored(true, &[]);
    out.extend(crc32fast::hash(bytes).to_le_bytes());
    out.extend((bytes.len() as u32).to_le_bytes());
    out
}

/// Uncompressed meta-blocks: ISLAST 0, four nibbles of MLEN - 1, ISUNCOMPRESSED 1, then whole bytes.
fn brotli(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        return vec![0b110]; // WBITS 16, ISLAST, ISLASTEMPTY
    }
    let mut out = Vec::new();
    for (i, block) in bytes.chunks(1 << 16).enumerate() {
        let header = (block.len() as u32 - 1) << 3 | 1 << 19;
        // The first one stands behind the stream's one bit of WBITS.
        let header = if i == 0 { header << 1 } else { header };
        out.extend(&header.to_le_bytes()[..3]);
        out.extend(block);
    }
    out.push(0b11);
    out
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    // One segment, a content size of four bytes, no checksum.
    let mut out = vec![0x28, 0xb5, 0x2f, 0xfd, 0xa0];
    out.extend((bytes.len() as u32).to_le_bytes());
    for block in bytes.chunks(1 << 16) {
        out.extend(&((block.len() as u32) << 3).to_le_bytes()[..3]);
        out.extend(block);
    }
    out.extend([1, 0, 0]);
    out
}

/// One LZ4 block of literals.
pub fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![(bytes.len().min(15) as u8) << 4];
    if let Some(mut rest) = bytes.len().checked_sub(15) {
        while rest >= 255 {
            out.push(255);
            rest -= 255;
        }
        out.push(rest as u8);
    }
    out.extend(bytes);
    out
}

/// LZ4 as Hadoop frames it: length of all blocks, then each block behind its own length, big endian.
pub fn hadoop_lz4(blocks: &[&[u8]]) -> Vec<u8> {
    let total: usize = blocks.iter().map(|block| block.len()).sum();
    let mut out = (total as u32).to_be_bytes().to_vec();
    if total == 0 {
        return out; // which ends the stream
    }
    for block in blocks.iter().map(|block| lz4(block)) {
        out.extend((block.len() as u32).to_be_bytes());
        out.extend(block);
    }
    out
}
