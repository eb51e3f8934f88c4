//! What DELTA_BYTE_ARRAY keeps of each value: how many bytes it shares with the one before it, and the others.

use crate::raw::byte_strings::ByteStrings;

/// The bytes that values do not share, end to end, and the last value of the call before.
#[derive(Debug, Clone, Default)]
pub(crate) struct FrontCoder {
    data: Vec<u8>,
    last: Vec<u8>,
}

impl FrontCoder {
    /// Appends values; gives the lengths of what they share and of what they add, some at a time.
    ///
    /// The value before is borrowed, and copied only at the end of the call.
    pub(crate) fn put(&mut self, values: impl ByteStrings, mut give: impl FnMut(&[i32], &[i32])) {
        let Some(last) = values.len().checked_sub(1) else { return };
        let (mut shared, mut added) = ([0i32; AT_ONCE], [0i32; AT_ONCE]);
        let mut previous: &[u8] = &self.last;
        let mut at = 0;
        while at < values.len() {
            let n = AT_ONCE.min(values.len() - at);
            for (i, (shared, added)) in shared.iter_mut().zip(&mut added).take(n).enumerate() {
                let value = values.value(at + i);
                let prefix = shared_prefix(previous, value);
                self.data.extend_from_slice(value.get(prefix..).unwrap_or_default());
                #[allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)] // shorter than 2 GiB
                {
                    (*shared, *added) = (prefix as i32, (value.len() - prefix) as i32);
                }
                previous = value;
            }
            give(shared.get(..n).unwrap_or_default(), added.get(..n).unwrap_or_default());
            at += n;
        }
        self.last.clear();
        self.last.extend_from_slice(values.value(last));
    }

    /// All bytes added.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    /// Forgets all, and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.data.clear();
        self.last.clear();
    }
}

/// How many first bytes are the same.
fn shared_prefix(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take_while(|(a, b)| a == b).count()
}

/// Values whose lengths are in the first-level cache.
const AT_ONCE: usize = 512;
