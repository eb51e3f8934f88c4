//! BROTLI (RFC 7932).

use super::read_all;
use crate::error::Result;

/// Bytes of input taken at once.
const BUFFER: usize = 1 << 14;

pub(super) fn decompress(input: &[u8], uncompressed_len: usize, out: &mut Vec<u8>) -> Result<()> {
    let reader = brotli::Decompressor::new(input, BUFFER.min(input.len().max(64)));
    read_all("BROTLI", reader, input.len(), uncompressed_len, out)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn reads_what_was_written() {
        let data: Vec<u8> = (0..100_000u32).map(|i| ((i % 251 * i) >> 5).to_le_bytes()[0]).collect();
        let mut packed = Vec::new();
        brotli::CompressorWriter::new(&mut packed, 4096, 4, 18).write_all(&data).unwrap();
        let mut out = Vec::new();
        decompress(&packed, data.len(), &mut out).unwrap();
        assert_eq!(out, data);
        assert!(decompress(packed.get(..packed.len() / 2).unwrap(), data.len(), &mut out).is_err());
    }
}
