//! GZIP: one member (RFC 1952) or several, one after another.

use flate2::{Compress, Compression, FlushCompress, Status};

use super::{failed, read_all};
use crate::error::Result;

pub(super) fn decompress(input: &[u8], uncompressed_len: usize, out: &mut Vec<u8>) -> Result<()> {
    read_all("GZIP", flate2::bufread::MultiGzDecoder::new(input), input.len(), uncompressed_len, out)
}

/// The state that deflating wants, kept from page to page.
pub(super) struct Deflater {
    stream: Compress,
}

impl Deflater {
    /// For a level of 0 to 9.
    pub(super) fn new(level: i32) -> Self {
        let level = Compression::new(level.unsigned_abs());
        Deflater { stream: Compress::new_gzip(level, WINDOW_BITS) }
    }

    /// One member.
    pub(super) fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        self.stream.reset();
        out.clear();
        let mut read = 0;
        loop {
            // Deflating seldom needs more; where it does, it goes on.
            out.reserve((input.len() - read) + (input.len() - read) / 1000 + 64);
            let rest = input.get(read..).unwrap_or_default();
            let before = self.stream.total_in();
            let status = self.stream.compress_vec(rest, out, FlushCompress::Finish);
            if status.map_err(|error| failed("GZIP", error))? == Status::StreamEnd {
                return Ok(());
            }
            read += usize::try_from(self.stream.total_in() - before).unwrap_or(usize::MAX);
        }
    }
}

/// The largest window of deflate.
const WINDOW_BITS: u8 = 15;

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn member(data: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(data).unwrap();
        encoder.finish().unwrap()
    }

    #[test]
    fn reads_several_members() {
        let both = [member(b"marque"), member(b""), member(b"try")].concat();
        let mut out = Vec::new();
        decompress(&both, 9, &mut out).unwrap();
        assert_eq!(out, b"marquetry");
    }

    #[test]
    fn a_wrong_checksum_is_an_error() {
        let mut packed = member(&[5; 1000]);
        let at = packed.len() - 8;
        packed[at] ^= 1;
        assert!(decompress(&packed, 1000, &mut Vec::new()).is_err());
    }
}
