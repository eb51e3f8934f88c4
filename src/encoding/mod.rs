//! One file an encoding: bytes in, sink storage out. No decoder knows of nulls, schema or IO.

mod alp;
mod bit_packed;
mod byte_stream_split;
mod delta_binary_packed;
mod delta_byte_array;
mod delta_length_byte_array;
mod dictionary;
mod plain;
mod rle;

pub use alp::{AlpDecoder, AlpFloat};
pub use bit_packed::BitPackedDecoder;
pub use byte_stream_split::{ByteStreamSplitBytesDecoder, ByteStreamSplitDecoder};
pub use delta_binary_packed::{DeltaBinaryPackedDecoder, DeltaInt};
pub use delta_byte_array::DeltaByteArrayDecoder;
pub use delta_length_byte_array::DeltaLengthByteArrayDecoder;
pub use dictionary::{
    DictionaryDecoder, plain_byte_dictionary, plain_dictionary, plain_fixed_byte_dictionary,
};
pub use plain::{PlainBooleanDecoder, PlainBytesDecoder, PlainDecoder, PlainFixedBytesDecoder};
pub use rle::{LevelRun, RleDecoder};

use std::ops::Deref;

use crate::arrow::buffer::Buffer;

/// The bytes of a page, or a part of them: borrowed, or an Arrow buffer that sinks may point into.
pub trait PageBytes: Deref<Target = [u8]> + Clone {
    /// The buffer that holds the very bytes this dereferences to, if there is one.
    fn buffer(&self) -> Option<&Buffer>;
}

impl PageBytes for &[u8] {
    fn buffer(&self) -> Option<&Buffer> {
        None
    }
}

impl PageBytes for Buffer {
    fn buffer(&self) -> Option<&Buffer> {
        Some(self)
    }
}
