//! BROTLI (RFC 7932).

use super::{failed, read_all};
use crate::error::Result;

/// Bytes of input taken at once.
const BUFFER: usize = 1 << 14;

pub(super) fn decompress(input: &[u8], uncompressed_len: usize, out: &mut Vec<u8>) -> Result<()> {
    let reader = brotli::Decompressor::new(input, BUFFER.min(input.len().max(64)));
    read_all("BROTLI", reader, input.len(), uncompressed_len, out)
}

/// One stream, of quality `level`.
pub(super) fn compress(level: i32, mut input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    let params = brotli::enc::BrotliEncoderParams {
        quality: level,
        size_hint: input.len(),
        ..brotli::enc::BrotliEncoderParams::default()
    };
    out.clear();
    brotli::BrotliCompress(&mut input, out, &params).map_err(|error| failed("BROTLI", error))?;
    Ok(())
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
