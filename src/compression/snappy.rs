//! SNAPPY: one raw block, no framing.

use super::{failed, make_room};
use crate::error::{Error, Result};

/// A copy element of three bytes stands for at most 64.
const MOST: usize = 22;

pub(super) fn decompress(input: &[u8], uncompressed_len: usize, out: &mut Vec<u8>) -> Result<()> {
    let len = snap::raw::decompress_len(input).map_err(|error| failed("SNAPPY", error))?;
    if len != uncompressed_len {
        return Err(Error::malformed(format!(
            "a SNAPPY block of {len} bytes in a page whose header promises {uncompressed_len}"
        )));
    }
    make_room("SNAPPY", input.len(), MOST, len, out)?;
    snap::raw::Decoder::new().decompress(input, out).map_err(|error| failed("SNAPPY", error))?;
    Ok(())
}

/// `encoder` keeps its table.
pub(super) fn compress(encoder: &mut snap::raw::Encoder, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.resize(snap::raw::max_compress_len(input.len()), 0);
    let len = encoder.compress(input, out).map_err(|error| failed("SNAPPY", error))?;
    out.truncate(len);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_was_written_and_no_other_length() {
        for data in [
            vec![],
            vec![7u8; 100_000],
            (0..50_000u32).map(|i| ((i * i) >> 7).to_le_bytes()[0]).collect::<Vec<_>>(),
        ] {
            let packed = snap::raw::Encoder::new().compress_vec(&data).unwrap();
            let mut out = vec![9; 3];
            decompress(&packed, data.len(), &mut out).unwrap();
            assert_eq!(out, data);
            assert!(decompress(&packed, data.len() + 1, &mut out).is_err());
            assert!(decompress(packed.get(..packed.len() - 1).unwrap(), data.len(), &mut out).is_err());
        }
    }
}
