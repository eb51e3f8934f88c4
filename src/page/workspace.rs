//! What pages need only for a moment, kept and used again: decompression buffers and codec contexts.
//!
//! One workspace serves all columns of a reader: two thousand columns do not need two thousand Zstandard contexts.

use crate::arrow::buffer::Buffer;
use crate::compression::Decompressor;
use crate::error::Result;
use crate::metadata::Compression;

/// Codec contexts, and decompressed pages that come back when nobody holds them.
#[derive(Default)]
pub(crate) struct Workspace {
    decompressors: Vec<Decompressor>,
    /// Handed out earlier; those that nobody else holds any more can be taken again.
    lent: Vec<Buffer>,
}

impl Workspace {
    /// Decompresses `input` into memory that is used again.
    ///
    /// # Errors
    /// When the codec is missing or unknown, or refuses the input, or the output has another length than promised.
    pub(crate) fn decompress(
        &mut self,
        codec: Compression,
        input: &[u8],
        uncompressed_len: usize,
    ) -> Result<Buffer> {
        let mut out = self.take_free(uncompressed_len);
        self.decompressor(codec)?.decompress(input, uncompressed_len, &mut out)?;
        let buffer = Buffer::from_vec(out);
        if self.lent.len() >= KEPT {
            // Those that are free were of no use; else the one that was lent first.
            let free = self.lent.iter().position(|buffer| buffer.strong_count() == 1);
            self.lent.remove(free.unwrap_or(0));
        }
        self.lent.push(buffer.clone());
        Ok(buffer)
    }

    fn decompressor(&mut self, codec: Compression) -> Result<&mut Decompressor> {
        let at = match self.decompressors.iter().position(|d| d.codec() == codec) {
            Some(at) => at,
            None => {
                self.decompressors.push(Decompressor::new(codec)?);
                self.decompressors.len() - 1
            }
        };
        self.decompressors.get_mut(at).ok_or_else(|| crate::Error::unsupported(codec.to_string()))
    }

    /// Memory that came back: the least that is enough, if that is not far more than needed.
    fn take_free(&mut self, len: usize) -> Vec<u8> {
        let enough = len..=len.saturating_mul(4).max(1 << 16);
        let free = self.lent.iter().enumerate().filter(|(_, buffer)| buffer.strong_count() == 1);
        let fitting = free.filter(|(_, buffer)| enough.contains(&buffer.capacity()));
        let Some((at, _)) = fitting.min_by_key(|(_, buffer)| buffer.capacity()) else { return Vec::new() };
        self.lent.swap_remove(at).into_vec().unwrap_or_default()
    }
}

/// How many decompressed pages are watched for their return.
const KEPT: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_back_once_nobody_holds_it() {
        let mut workspace = Workspace::default();
        let input = [7u8; 1000];
        let first = workspace.decompress(Compression::Uncompressed, &input, 1000).unwrap();
        let second = workspace.decompress(Compression::Uncompressed, &input, 1000).unwrap();
        let (first_at, second_at) = (first.as_ptr(), second.as_ptr());
        assert_ne!(first_at, second_at);
        drop(first);
        let third = workspace.decompress(Compression::Uncompressed, &input[..900], 900).unwrap();
        assert_eq!(third.as_ptr(), first_at);
        assert_eq!(second.as_slice(), input);
    }
}
