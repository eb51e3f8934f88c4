//! One file an encoding: bytes in, sink storage out. No decoder knows of nulls, schema or IO.
//!
//! The encoders stand beside the decoders and know as little. They take dense values by the slice, gather a page, and
//! give it up whole: `put` appends values, `num_values` and `estimated_size` say how large the page is, `flush` appends
//! its bytes to the caller's and begins another with the same memory.

mod alp;
mod alp_encoder;
mod bit_packed;
mod byte_stream_split;
mod byte_stream_split_encoder;
pub mod byte_strings;
mod delta_binary_packed;
mod delta_binary_packed_encoder;
mod delta_byte_array;
mod delta_byte_array_encoder;
mod delta_length_byte_array;
mod delta_length_byte_array_encoder;
mod dictionary;
mod dictionary_encoder;
mod plain;
mod plain_encoder;
mod rle;
mod rle_encoder;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod varint;

pub use alp::{AlpDecoder, AlpFloat};
pub use alp_encoder::AlpEncoder;
pub use bit_packed::BitPackedDecoder;
pub use byte_stream_split::{ByteStreamSplitBytesDecoder, ByteStreamSplitDecoder};
pub use byte_stream_split_encoder::ByteStreamSplitEncoder;
pub use delta_binary_packed::{DeltaBinaryPackedDecoder, DeltaInt};
pub use delta_binary_packed_encoder::DeltaBinaryPackedEncoder;
pub use delta_byte_array::DeltaByteArrayDecoder;
pub use delta_byte_array_encoder::DeltaByteArrayEncoder;
pub use delta_length_byte_array::DeltaLengthByteArrayDecoder;
pub use delta_length_byte_array_encoder::DeltaLengthByteArrayEncoder;
pub use dictionary::{
    DictionaryDecoder, plain_byte_dictionary, plain_dictionary, plain_fixed_byte_dictionary,
};
pub use dictionary_encoder::{ByteDictionaryEncoder, DictionaryEncoder, DictionaryValue, KeyMap};
pub use plain::{PlainBooleanDecoder, PlainBytesDecoder, PlainDecoder, PlainFixedBytesDecoder};
pub use plain_encoder::{PlainBooleanEncoder, PlainBytesEncoder, PlainEncoder, PlainFixedBytesEncoder};
pub use rle::{LevelRun, RleDecoder};
pub use rle_encoder::{RleBooleanEncoder, RleEncoder};

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

/// Gives up a page that was built in place: an empty `out` changes memory with it.
fn take_page(page: &mut Vec<u8>, out: &mut Vec<u8>) {
    if out.is_empty() {
        std::mem::swap(page, out);
    } else {
        out.extend_from_slice(page);
        page.clear();
    }
}
