//! Byte strings to encode: see [`ByteStrings`].

pub use crate::raw::byte_strings::{ByteStrings, FixedBytes, OffsetBytes, SelectedBytes, ViewBytes};

/// Gives the lengths of all values, each shorter than 2 GiB, some at a time.
pub(crate) fn lengths(values: impl ByteStrings, mut give: impl FnMut(&[i32])) {
    let mut some = [0i32; AT_ONCE];
    let mut at = 0;
    while at < values.len() {
        let n = AT_ONCE.min(values.len() - at);
        for (i, length) in some.iter_mut().take(n).enumerate() {
            #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // as the caller says
            {
                *length = values.value(at + i).len() as i32;
            }
        }
        give(some.get(..n).unwrap_or_default());
        at += n;
    }
}

/// Lengths within the first-level cache.
const AT_ONCE: usize = 512;
