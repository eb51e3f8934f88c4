//! ZSTD (RFC 8878): one frame or several.

use super::{failed, read_all};
use crate::error::Result;

/// The context that Zstandard wants, kept from page to page.
pub(super) struct Context {
    bulk: zstd::bulk::Decompressor<'static>,
}

/// Up to this length, or ratio, a promise is taken at its word.
const TRUSTED_LEN: usize = 1 << 20;
const TRUSTED_RATIO: usize = 64;

impl Context {
    pub(super) fn new() -> Result<Self> {
        let bulk = zstd::bulk::Decompressor::new().map_err(|error| failed("ZSTD", error))?;
        Ok(Context { bulk })
    }

    pub(super) fn decompress(
        &mut self,
        input: &[u8],
        uncompressed_len: usize,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        out.clear();
        if uncompressed_len > TRUSTED_LEN.max(input.len().saturating_mul(TRUSTED_RATIO)) {
            let reader =
                zstd::stream::read::Decoder::with_buffer(input).map_err(|error| failed("ZSTD", error))?;
            return read_all("ZSTD", reader, input.len(), uncompressed_len, out);
        }
        out.reserve(uncompressed_len);
        self.bulk.decompress_to_buffer(input, out).map_err(|error| failed("ZSTD", error))?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_several_frames_and_high_ratios() {
        let mut context = Context::new().unwrap();
        let mut out = Vec::new();
        let frames =
            [zstd::bulk::compress(b"marque", 3).unwrap(), zstd::bulk::compress(b"try", 3).unwrap()].concat();
        context.decompress(&frames, 9, &mut out).unwrap();
        assert_eq!(out, b"marquetry");
        let zeros = vec![0u8; 40 << 20];
        let packed = zstd::bulk::compress(&zeros, 3).unwrap();
        assert!(packed.len() * TRUSTED_RATIO < zeros.len());
        context.decompress(&packed, zeros.len(), &mut out).unwrap();
        assert_eq!(out.len(), zeros.len());
        assert!(context.decompress(packed.get(..packed.len() / 2).unwrap(), zeros.len(), &mut out).is_err());
    }
}
