//! ZSTD (RFC 8878): one frame or several.

use super::failed;
use crate::error::Result;

/// The context that Zstandard wants, kept from page to page.
pub(super) struct Context {
    bulk: zstd::bulk::Decompressor<'static>,
}

/// Room made at once on the strength of a header: this much, or this many times the input.
const ROOM: usize = 1 << 20;
const RATIO: usize = 64;

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
        // Tried again with more room where the first did not do: streaming would allocate the window that a frame claims.
        let mut room = uncompressed_len.min(ROOM.max(input.len().saturating_mul(RATIO)));
        loop {
            out.clear();
            out.reserve(room);
            match self.bulk.decompress_to_buffer(input, out) {
                Ok(_) => return Ok(()),
                Err(error) if room < uncompressed_len && error.to_string().contains("too small") => {
                    room = room.saturating_mul(4).min(uncompressed_len);
                }
                Err(error) => return Err(failed("ZSTD", error)),
            }
        }
    }
}

/// The context that compressing wants, kept from page to page.
pub(super) struct Compressor {
    bulk: zstd::bulk::Compressor<'static>,
}

impl Compressor {
    pub(super) fn new(level: i32) -> Result<Self> {
        let bulk = zstd::bulk::Compressor::new(level).map_err(|error| failed("ZSTD", error))?;
        Ok(Compressor { bulk })
    }

    /// One frame, which says how long its content is.
    pub(super) fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.reserve(zstd::zstd_safe::compress_bound(input.len()));
        self.bulk.compress_to_buffer(input, out).map_err(|error| failed("ZSTD", error))?;
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
        assert!(packed.len() * RATIO < zeros.len());
        context.decompress(&packed, zeros.len(), &mut out).unwrap();
        assert_eq!(out.len(), zeros.len());
        assert!(context.decompress(packed.get(..packed.len() / 2).unwrap(), zeros.len(), &mut out).is_err());
    }
}
