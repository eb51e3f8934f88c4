//! One file a codec, and the registry that picks one (Compression.md).
//!
//! [`Compressor`] packs. [`Decompressor`] takes a page's compressed bytes and the length its header promises; gives
//! exactly that many bytes, or an error. Neither knows anything of pages. A promise alone never makes an allocation: where it is larger than the input can plainly
//! give, the output grows as it appears.

#[cfg(feature = "brotli")]
mod brotli;
mod compressor;
#[cfg(feature = "gzip")]
mod gzip;
#[cfg(feature = "lz4")]
mod lz4;
#[cfg(feature = "snappy")]
mod snappy;
#[cfg(feature = "zstd")]
mod zstd;

#[cfg(any(feature = "brotli", feature = "gzip"))]
use std::io::Read;

pub use self::compressor::Compressor;
use crate::error::{Error, ErrorKind, Result};
use crate::metadata::Compression;

/// Decompresses pages of one codec, one after another; keeps what the codec needs between them.
pub struct Decompressor {
    codec: Compression,
    context: Context,
}

/// What a codec keeps between pages.
enum Context {
    None,
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::Context>),
}

impl Decompressor {
    /// For pages of `codec`. UNCOMPRESSED is a codec here: it copies.
    ///
    /// # Errors
    /// As [`is_available`], and when the codec cannot get the memory it needs.
    pub fn new(codec: Compression) -> Result<Self> {
        is_available(codec)?;
        let context = match codec {
            #[cfg(feature = "zstd")]
            Compression::Zstd => Context::Zstd(Box::new(zstd::Context::new()?)),
            _ => Context::None,
        };
        Ok(Decompressor { codec, context })
    }

    /// Its codec.
    pub fn codec(&self) -> Compression {
        self.codec
    }

    /// Replaces what `out` holds by the decompressed bytes, `uncompressed_len` of them. Its memory is used again.
    ///
    /// # Errors
    /// When the input is broken, or gives more or fewer bytes.
    pub fn decompress(&mut self, input: &[u8], uncompressed_len: usize, out: &mut Vec<u8>) -> Result<()> {
        if input.is_empty() && uncompressed_len == 0 {
            out.clear();
            return Ok(());
        }
        match (self.codec, &mut self.context) {
            (Compression::Uncompressed, _) => {
                out.clear();
                if input.len() == uncompressed_len {
                    out.extend_from_slice(input);
                }
            }
            #[cfg(feature = "snappy")]
            (Compression::Snappy, _) => snappy::decompress(input, uncompressed_len, out)?,
            #[cfg(feature = "gzip")]
            (Compression::Gzip, _) => gzip::decompress(input, uncompressed_len, out)?,
            #[cfg(feature = "brotli")]
            (Compression::Brotli, _) => brotli::decompress(input, uncompressed_len, out)?,
            #[cfg(feature = "lz4")]
            (Compression::Lz4, _) => lz4::decompress_hadoop(input, uncompressed_len, out)?,
            #[cfg(feature = "lz4")]
            (Compression::Lz4Raw, _) => lz4::decompress_raw(input, uncompressed_len, out)?,
            #[cfg(feature = "zstd")]
            (Compression::Zstd, Context::Zstd(context)) => {
                context.decompress(input, uncompressed_len, out)?
            }
            (codec, _) => is_available(codec)?,
        }
        if out.len() != uncompressed_len {
            return Err(Error::malformed(format!(
                "a page decompresses to {} bytes, its header promises {uncompressed_len}",
                out.len()
            )));
        }
        Ok(())
    }
}

/// Whether this build can read and write pages of `codec`.
///
/// # Errors
/// [`ErrorKind::MissingFeature`] names the feature that would bring it; LZO and codecs that nobody knows are not
/// supported at all.
pub fn is_available(codec: Compression) -> Result<()> {
    let (available, name, feature) = match codec {
        Compression::Uncompressed => return Ok(()),
        Compression::Snappy => (cfg!(feature = "snappy"), "SNAPPY", "snappy"),
        Compression::Gzip => (cfg!(feature = "gzip"), "GZIP", "gzip"),
        Compression::Brotli => (cfg!(feature = "brotli"), "BROTLI", "brotli"),
        Compression::Lz4 => (cfg!(feature = "lz4"), "LZ4", "lz4"),
        Compression::Lz4Raw => (cfg!(feature = "lz4"), "LZ4_RAW", "lz4"),
        Compression::Zstd => (cfg!(feature = "zstd"), "ZSTD", "zstd"),
        Compression::Lzo | Compression::Unknown(_) => {
            return Err(Error::unsupported(format!("compression codec {codec}")));
        }
    };
    if available { Ok(()) } else { Err(ErrorKind::MissingFeature { codec: name, feature }.into()) }
}

/// The error of a codec.
#[allow(dead_code)] // not in a build without codecs
fn failed(codec: &'static str, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    ErrorKind::Codec { codec, source: source.into() }.into()
}

/// Reads all that `reader` gives, but no more than a byte too many: its memory grows as the bytes appear.
#[cfg(any(feature = "brotli", feature = "gzip"))]
fn read_all(
    codec: &'static str,
    reader: impl Read,
    input_len: usize,
    uncompressed_len: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    out.clear();
    // A page seldom shrinks more than this; the byte more lets the end be seen without another growth.
    out.reserve(uncompressed_len.saturating_add(1).min(input_len.saturating_mul(32).max(1 << 12)));
    let limit = (uncompressed_len as u64).saturating_add(1);
    reader.take(limit).read_to_end(out).map_err(|error| failed(codec, error))?;
    Ok(())
}

/// Makes `out` as long as a block codec wants it, if `input_len` bytes can give that much: `most` bytes each.
#[cfg(any(feature = "snappy", feature = "lz4"))]
fn make_room(
    codec: &'static str,
    input_len: usize,
    most: usize,
    uncompressed_len: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    if uncompressed_len > input_len.saturating_mul(most).saturating_add(64) {
        return Err(failed(codec, format!("{input_len} bytes cannot become {uncompressed_len}")));
    }
    out.resize(uncompressed_len, 0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codecs_that_nobody_has_are_named() {
        for codec in [Compression::Lzo, Compression::Unknown(77)] {
            let error = Decompressor::new(codec).err().unwrap();
            assert!(error.to_string().contains(&codec.to_string()), "{error}");
        }
    }

    #[test]
    fn nothing_becomes_nothing() {
        use Compression::{Brotli, Gzip, Lz4, Lz4Raw, Snappy, Uncompressed, Zstd};
        for codec in [Uncompressed, Snappy, Gzip, Brotli, Lz4, Lz4Raw, Zstd] {
            let Ok(mut decompressor) = Decompressor::new(codec) else { continue };
            let mut out = vec![1, 2, 3];
            decompressor.decompress(&[], 0, &mut out).unwrap();
            assert!(out.is_empty());
        }
    }

    #[test]
    fn a_promise_alone_allocates_nothing() {
        use Compression::{Brotli, Gzip, Lz4, Lz4Raw, Snappy, Uncompressed, Zstd};
        for codec in [Uncompressed, Snappy, Gzip, Brotli, Lz4, Lz4Raw, Zstd] {
            let Ok(mut decompressor) = Decompressor::new(codec) else { continue };
            for input in [
                &[][..],
                &[0x28, 0xb5, 0x2f, 0xfd, 0, 0, 0, 0],
                &[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3],
                &[255; 40],
            ] {
                let mut out = Vec::new();
                decompressor.decompress(input, i32::MAX as usize, &mut out).unwrap_err();
                assert!(out.capacity() <= 1 << 20, "{codec}: {}", out.capacity());
            }
        }
    }
}
