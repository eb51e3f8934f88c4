//! GZIP: one member (RFC 1952) or several, one after another.

use super::read_all;
use crate::error::Result;

pub(super) fn decompress(input: &[u8], uncompressed_len: usize, out: &mut Vec<u8>) -> Result<()> {
    read_all("GZIP", flate2::bufread::MultiGzDecoder::new(input), input.len(), uncompressed_len, out)
}

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
