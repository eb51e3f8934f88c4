//! Byte strings to encode: see [`ByteStrings`].

use crate::raw::append::append_values;
pub use crate::raw::byte_strings::{ByteStrings, FixedBytes, OffsetBytes, SelectedBytes, ViewBytes};

/// Appends the bytes of all values.
pub(crate) fn append_bytes(values: impl ByteStrings, out: &mut Vec<u8>) {
    match values.contiguous() {
        Some(bytes) => out.extend_from_slice(bytes),
        None => append_values::<false, _>(values, out),
    }
}

/// Gives the lengths of all values, each shorter than 2 GiB, some at a time.
pub(crate) fn lengths(values: impl ByteStrings, mut give: impl FnMut(&[i32])) {
    let mut some = [0i32; AT_ONCE];
    let mut at = 0;
    while at < values.len() {
        let n = AT_ONCE.min(values.len() - at);
        let lengths = some.get_mut(..n).unwrap_or_default();
        values.lengths(at, lengths);
        give(lengths);
        at += n;
    }
}

/// Lengths within the first-level cache.
const AT_ONCE: usize = 512;
