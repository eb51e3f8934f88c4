//! One file a codec, and the registry that picks one.
use crate::error::{Error, Result};
use crate::metadata::Compression;
/// To come.
pub struct Decompressor(Compression);
impl Decompressor {
    /// To come.
    pub fn new(codec: Compression) -> Result<Self> {
        is_available(codec)?;
        Ok(Decompressor(codec))
    }
    /// To come.
    pub fn codec(&self) -> Compression {
        self.0
    }
    /// To come.
    pub fn decompress(&mut self, input: &[u8], _: usize, out: &mut Vec<u8>) -> Result<()> {
        out.clear();
        out.extend_from_slice(input);
        Ok(())
    }
}
/// To come.
pub fn is_available(codec: Compression) -> Result<()> {
    if codec == Compression::Uncompressed { Ok(()) } else { Err(Error::unsupported(codec.to_string())) }
}
