//! The smallest and the largest of byte strings, by their first 8 bytes before all else.

use crate::raw::byte_strings::ByteStrings;

/// Where they are; `None` of no values.
pub(crate) fn byte_extremes(values: impl ByteStrings) -> Option<(usize, usize)> {
    let last = values.len().checked_sub(1)?;
    let (mut min, mut max) = (0, 0);
    for index in 1..=last {
        let value = values.value(index);
        if value > values.value(max) {
            max = index;
        } else if value < values.value(min) {
            min = index;
        }
    }
    Some((min, max))
}
