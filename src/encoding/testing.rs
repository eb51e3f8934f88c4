//! Inputs that every encoder's tests share.
#![allow(clippy::cast_possible_truncation)]

/// Numbers that are the same from run to run.
pub(crate) fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) + 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }
}

/// Counts around the edges of groups, miniblocks, blocks and vectors.
pub(crate) const COUNTS: [usize; 17] =
    [0, 1, 2, 7, 8, 9, 31, 32, 33, 34, 127, 128, 129, 130, 1023, 1025, 5000];

/// Byte strings: none, empty ones, short, long, one length, sorted with shared beginnings, all bytes.
pub(crate) fn byte_samples() -> Vec<Vec<Vec<u8>>> {
    let mut next = random(5);
    let mut samples = vec![vec![], vec![vec![]; 40], vec![b"one".to_vec()], vec![vec![0; 70_000]; 3]];
    for longest in [1u64, 5, 12, 16, 17, 33, 64, 65, 200, 1000] {
        samples.push((0..400).map(|_| (0..next() % (longest + 1)).map(|_| next() as u8).collect()).collect());
        samples.push((0..130).map(|_| vec![next() as u8 % 2; longest as usize]).collect());
    }
    let mut urls: Vec<Vec<u8>> = (0..1000)
        .map(|_| {
            let (a, b) = (next() % 7, next() % 100_000);
            format!("https://example.org/section-{a}/a-page-of-some-length/{b}").into_bytes()
        })
        .collect();
    urls.sort();
    samples.push(urls);
    // Each shares a beginning of any length with the one before.
    let mut value: Vec<u8> = (0..300).map(|_| next() as u8).collect();
    let sharing = (0..600).map(|_| {
        value.truncate(next() as usize % (value.len() + 1));
        value.extend((0..next() % 150).map(|i| i as u8));
        value.clone()
    });
    samples.push(sharing.collect());
    samples
}
