//! Bloom filters, as they are filled (BloomFilter.md).
//!
//! How many distinct values a chunk has is known at its end alone. So their hashes are kept, and the filter is made as
//! large as they want.

use crate::metadata::{BloomFilter, bloom_filter_bytes};

/// Collects the hashes of a chunk's values.
#[derive(Debug, Clone)]
pub(super) struct BloomBuilder {
    false_positives: f64,
    /// Sorted and distinct up to `sorted`.
    hashes: Vec<u64>,
    sorted: usize,
}

/// How many hashes are added before duplicates are taken out.
const SLACK: usize = 1 << 16;

impl BloomBuilder {
    pub(super) fn new(false_positives: f64) -> Self {
        BloomBuilder { false_positives, hashes: Vec::new(), sorted: 0 }
    }

    /// Takes in a value: its PLAIN encoding, strings without their length.
    pub(super) fn insert(&mut self, value: &[u8]) {
        self.hashes.push(BloomFilter::hash(value));
        if self.hashes.len() >= self.sorted * 2 + SLACK {
            self.sort();
        }
    }

    /// Header and bitset; begins anew.
    pub(super) fn finish(&mut self) -> Vec<u8> {
        self.sort();
        let bytes = bloom_filter_bytes(&self.hashes, self.false_positives);
        self.hashes.clear();
        self.sorted = 0;
        bytes
    }

    pub(super) fn memory_size(&self) -> usize {
        size_of_val(self.hashes.as_slice())
    }

    fn sort(&mut self) {
        self.hashes.sort_unstable();
        self.hashes.dedup();
        self.sorted = self.hashes.len();
    }
}
