//! What a file says of itself: footer, schema, row groups, column chunks, statistics, page index, Bloom filters.

mod enums;
mod schema;

pub use enums::{Compression, Encoding, PageType, PhysicalType, Repetition};
pub use schema::{EdgeInterpolation, LogicalType, NodeKind, Schema, SchemaNode, TimeUnit};
