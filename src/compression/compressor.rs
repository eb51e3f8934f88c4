//! The writing side of the registry.

#[cfg(feature = "brotli")]
use super::brotli;
#[cfg(feature = "gzip")]
use super::gzip;
#[cfg(feature = "lz4")]
use super::lz4;
#[cfg(feature = "snappy")]
use super::snappy;
#[cfg(feature = "zstd")]
use super::zstd;
use super::{Compression, is_available};
use crate::error::{Error, Result};

/// Compresses pages with one codec at one level, one after another; keeps what the codec needs between them.
pub struct Compressor {
    codec: Compression,
    context: Context,
}

/// What a codec keeps between pages.
enum Context {
    Uncompressed,
    #[cfg(feature = "snappy")]
    Snappy(Box<snap::raw::Encoder>),
    #[cfg(feature = "gzip")]
    Gzip(Box<gzip::Deflater>),
    #[cfg(feature = "zstd")]
    Zstd(Box<zstd::Compressor>),
    #[cfg(feature = "brotli")]
    Brotli(i32),
    #[cfg(feature = "lz4")]
    Lz4,
    #[cfg(feature = "lz4")]
    Lz4Raw,
}

impl Compressor {
    /// For pages of `codec`. Levels are those of GZIP (0 to 9, else 6), BROTLI (0 to 11, else 1) and ZSTD (1 to 22 or
    /// negative, else 1). UNCOMPRESSED is a codec here: it copies.
    ///
    /// # Errors
    /// As [`is_available`]; when the codec has no such level, or none at all; when it cannot get the memory it needs.
    pub fn new(codec: Compression, level: Option<i32>) -> Result<Self> {
        is_available(codec)?;
        check_level(codec, level)?;
        let context = match codec {
            #[cfg(feature = "snappy")]
            Compression::Snappy => Context::Snappy(Box::new(snap::raw::Encoder::new())),
            #[cfg(feature = "gzip")]
            Compression::Gzip => Context::Gzip(Box::new(gzip::Deflater::new(level.unwrap_or(6)))),
            #[cfg(feature = "zstd")]
            Compression::Zstd => Context::Zstd(Box::new(zstd::Compressor::new(level.unwrap_or(1))?)),
            #[cfg(feature = "brotli")]
            Compression::Brotli => Context::Brotli(level.unwrap_or(1)),
            #[cfg(feature = "lz4")]
            Compression::Lz4 => Context::Lz4,
            #[cfg(feature = "lz4")]
            Compression::Lz4Raw => Context::Lz4Raw,
            _ => Context::Uncompressed,
        };
        Ok(Compressor { codec, context })
    }

    /// Its codec.
    pub fn codec(&self) -> Compression {
        self.codec
    }

    /// Replaces what `out` holds by the compressed bytes. Its memory is used again.
    ///
    /// # Errors
    /// When the codec cannot take so much at once.
    pub fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) -> Result<()> {
        match &mut self.context {
            Context::Uncompressed => {
                out.clear();
                out.extend_from_slice(input);
                Ok(())
            }
            #[cfg(feature = "snappy")]
            Context::Snappy(encoder) => snappy::compress(encoder, input, out),
            #[cfg(feature = "gzip")]
            Context::Gzip(deflater) => deflater.compress(input, out),
            #[cfg(feature = "zstd")]
            Context::Zstd(compressor) => compressor.compress(input, out),
            #[cfg(feature = "brotli")]
            Context::Brotli(level) => brotli::compress(*level, input, out),
            #[cfg(feature = "lz4")]
            Context::Lz4 => lz4::compress_hadoop(input, out),
            #[cfg(feature = "lz4")]
            Context::Lz4Raw => {
                out.clear();
                lz4::compress_raw(input, out)
            }
        }
    }
}

fn check_level(codec: Compression, level: Option<i32>) -> Result<()> {
    let Some(level) = level else { return Ok(()) };
    let levels = match codec {
        Compression::Gzip => 0..=9,
        Compression::Brotli => 0..=11,
        Compression::Zstd => -(1 << 17)..=22,
        _ => return Err(Error::invalid(format!("{codec} has no levels, and none of {level}"))),
    };
    if !levels.contains(&level) {
        let (least, most) = levels.into_inner();
        return Err(Error::invalid(format!("level {level} of {codec}, which has {least} to {most}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compression::Decompressor;
    use crate::encoding::testing::random;

    const CODECS: [Compression; 7] = [
        Compression::Uncompressed,
        Compression::Snappy,
        Compression::Gzip,
        Compression::Brotli,
        Compression::Lz4,
        Compression::Lz4Raw,
        Compression::Zstd,
    ];

    fn samples() -> Vec<Vec<u8>> {
        let mut next = random(9);
        let noise: Vec<u8> = (0..300_000).map(|_| next().to_le_bytes()[0]).collect();
        let text = b"some text that comes again and again, ".repeat(9000);
        vec![vec![], vec![7], vec![0; 200_000], text[..100_001].to_vec(), noise, text]
    }

    #[test]
    fn every_codec_and_level_is_read_back() {
        for codec in CODECS {
            let levels: &[Option<i32>] = match codec {
                Compression::Gzip => &[None, Some(0), Some(1), Some(9)],
                Compression::Brotli => &[None, Some(0), Some(5), Some(11)],
                Compression::Zstd => &[None, Some(-5), Some(3), Some(19)],
                _ => &[None],
            };
            for &level in levels {
                let Ok(mut compressor) = Compressor::new(codec, level) else { continue };
                let mut decompressor = Decompressor::new(codec).unwrap();
                assert_eq!(compressor.codec(), codec);
                let (mut packed, mut back, mut again) = (vec![1, 2, 3], vec![], vec![]);
                for data in samples() {
                    compressor.compress(&data, &mut packed).unwrap();
                    decompressor.decompress(&packed, data.len(), &mut back).unwrap();
                    assert!(back == data, "{codec} {level:?} {}", data.len());
                    compressor.compress(&data, &mut again).unwrap();
                    assert!(packed == again, "{codec} {level:?}: other bytes the second time");
                }
            }
        }
    }

    #[test]
    fn levels_that_a_codec_has_not_are_refused() {
        for (codec, level) in [
            (Compression::Gzip, 10),
            (Compression::Gzip, -1),
            (Compression::Brotli, 12),
            (Compression::Zstd, 23),
            (Compression::Snappy, 1),
            (Compression::Uncompressed, 0),
        ] {
            assert!(Compressor::new(codec, Some(level)).is_err(), "{codec} {level}");
        }
        assert!(Compressor::new(Compression::Lzo, None).is_err());
    }
}
