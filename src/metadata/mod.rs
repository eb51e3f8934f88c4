//! What a file says of itself: footer, schema, row groups, column chunks, statistics, page index, Bloom filters.

mod enums;

pub use enums::{Compression, Encoding, PageType, PhysicalType, Repetition};
