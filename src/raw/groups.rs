//! Bit-packed integers in groups of 32, which fill whole bytes at any width.

/// Values in a group.
pub(crate) const GROUP: usize = 32;

/// Bytes past the packed ones that a kernel may load and throw away.
pub(crate) const SLACK: usize = 16;

/// Calls `run(packed, groups, last)` at once for the groups that have SLACK bytes behind them, then for each of the
/// rest on a padded copy.
///
/// # Panics
/// Where `width` is over `max_width`, or `packed` is shorter than the groups.
#[inline(always)]
#[allow(clippy::indexing_slicing)] // ranges that the assertion checks
pub(crate) fn runs<T>(
    packed: &[u8],
    width: u8,
    max_width: u8,
    groups: usize,
    mut last: T,
    mut run: impl FnMut(&[u8], usize, T) -> T,
) -> T {
    assert!(width <= max_width && max_width <= 64);
    let group_len = GROUP / 8 * usize::from(width);
    let groups_within = |len: usize| len.checked_div(group_len).unwrap_or(groups);
    assert!(groups_within(packed.len()) >= groups);
    let direct = groups.min(groups_within(packed.len().saturating_sub(SLACK)));
    if direct > 0 {
        last = run(packed, direct, last);
    }
    for group in direct..groups {
        let mut padded = [0u8; GROUP / 8 * 64 + SLACK];
        padded[..group_len].copy_from_slice(&packed[group * group_len..][..group_len]);
        last = run(&padded, 1, last);
    }
    last
}
