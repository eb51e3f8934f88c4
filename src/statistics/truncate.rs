//! Bounds cut short that stay bounds.
//!
//! A lower bound is cut: a beginning of a value is never after it. An upper bound is cut and its last byte or character
//! raised; where none can be raised, it stays whole. Both stay UTF-8 where the values are.

use std::borrow::Cow;

/// A bound, and whether it is the value itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TruncatedBound<'a> {
    /// The bytes of the bound.
    pub bytes: Cow<'a, [u8]>,
    /// Whether nothing was cut.
    pub is_exact: bool,
}

/// The smallest value, in `max_len` bytes at most.
pub fn lower_bound(value: &[u8], max_len: usize, is_utf8: bool) -> TruncatedBound<'_> {
    let bytes = beginning(value, max_len, is_utf8);
    TruncatedBound { bytes: Cow::Borrowed(bytes), is_exact: bytes.len() == value.len() }
}

/// The largest value, in `max_len` bytes at most, or whole where that cannot be: all bytes are 0xff, or all characters the
/// last one.
pub fn upper_bound(value: &[u8], max_len: usize, is_utf8: bool) -> TruncatedBound<'_> {
    let cut = beginning(value, max_len, is_utf8);
    let raised = match value.len() == cut.len() {
        true => None,
        false if is_utf8 => raise_character(cut, max_len),
        false => raise_byte(cut),
    };
    match raised {
        Some(bytes) => TruncatedBound { bytes: Cow::Owned(bytes), is_exact: false },
        None => TruncatedBound { bytes: Cow::Borrowed(value), is_exact: true },
    }
}

/// The first `max_len` bytes, or fewer so that no character is cut.
fn beginning(value: &[u8], max_len: usize, is_utf8: bool) -> &[u8] {
    if value.len() <= max_len {
        return value;
    }
    let continues = |at: usize| value.get(at).is_some_and(|byte| byte & 0xc0 == 0x80);
    let mut end = max_len;
    while is_utf8 && end > 0 && continues(end) {
        end -= 1;
    }
    value.get(..end).unwrap_or(value)
}

/// The least string of as many bytes or fewer that is after all that begin so.
fn raise_byte(bytes: &[u8]) -> Option<Vec<u8>> {
    let at = bytes.iter().rposition(|byte| *byte != 0xff)?;
    let mut raised = bytes.get(..=at)?.to_vec();
    raised.last_mut().into_iter().for_each(|last| *last += 1);
    Some(raised)
}

/// As [`raise_byte`], by characters. A raised character may be longer: those are left out that would go past `max_len`.
fn raise_character(bytes: &[u8], max_len: usize) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(bytes).ok()?;
    text.char_indices().rev().find_map(|(at, character)| {
        let next = next_character(character).filter(|next| at + next.len_utf8() <= max_len)?;
        let mut raised = text.get(..at)?.to_owned();
        raised.push(next);
        Some(raised.into_bytes())
    })
}

/// Surrogates are no characters.
fn next_character(character: char) -> Option<char> {
    match character {
        '\u{d7ff}' => Some('\u{e000}'),
        _ => char::from_u32(u32::from(character) + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoding::testing::{byte_samples, random};

    fn upper(value: &str, max_len: usize) -> (String, bool) {
        let bound = upper_bound(value.as_bytes(), max_len, true);
        (String::from_utf8(bound.bytes.into_owned()).unwrap(), bound.is_exact)
    }

    #[test]
    fn short_values_are_their_own_bounds() {
        for is_utf8 in [false, true] {
            assert!(lower_bound(b"abc", 3, is_utf8).is_exact && upper_bound(b"abc", 3, is_utf8).is_exact);
            assert_eq!(*lower_bound(b"abc", 2, is_utf8).bytes, *b"ab");
            assert_eq!(*upper_bound(b"abc", 2, is_utf8).bytes, *b"ac");
            assert!(!upper_bound(b"abc", 2, is_utf8).is_exact);
        }
    }

    #[test]
    fn what_cannot_be_raised_is_left_out_or_stays_whole() {
        assert_eq!(*upper_bound(&[1, 0xff, 0xff, 7], 3, false).bytes, [2]);
        let whole = upper_bound(&[0xff; 5], 3, false);
        assert!(whole.is_exact && *whole.bytes == [0xff; 5]);
        assert_eq!(upper("a\u{10ffff}x", 5), ("b".into(), false));
        assert_eq!(upper("\u{10ffff}x", 4), ("\u{10ffff}x".into(), true));
        assert_eq!(upper("a", 0), ("a".into(), true));
    }

    #[test]
    fn characters_stay_whole() {
        assert_eq!(*lower_bound("a\u{e9}b".as_bytes(), 2, true).bytes, *b"a");
        assert_eq!(upper("a\u{e9}b", 2), ("b".into(), false));
        assert_eq!(upper("a\u{d7ff}b", 4), ("a\u{e000}".into(), false));
        // The character after U+007F takes two bytes.
        assert_eq!(upper("a\u{7f}b", 2), ("b".into(), false));
        assert_eq!(upper("a\u{7f}bc", 3), ("a\u{7f}c".into(), false));
    }

    #[test]
    fn bounds_are_bounds() {
        let mut next = random(4);
        for value in byte_samples().into_iter().flatten() {
            let max_len = (next() % 70) as usize;
            let text: String = value.iter().map(|byte| char::from(*byte)).collect();
            for (value, is_utf8) in [(&value[..], false), (text.as_bytes(), true)] {
                let (low, high) =
                    (lower_bound(value, max_len, is_utf8), upper_bound(value, max_len, is_utf8));
                assert!(*low.bytes <= *value && *value <= *high.bytes);
                assert_eq!((low.is_exact, high.is_exact), (*low.bytes == *value, *high.bytes == *value));
                assert!(low.bytes.len() <= max_len && (high.is_exact || high.bytes.len() <= max_len));
            }
        }
    }
}
