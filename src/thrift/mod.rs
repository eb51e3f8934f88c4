//! The Thrift compact protocol, both ways.
//!
//! Takes bytes and gives fields, or takes fields and gives bytes. It knows nothing of Parquet: what the fields mean
//! stands beside the structs that they fill, in `metadata`.
//!
//! What holds for hostile bytes: nothing nests deeper than [`MAX_DEPTH`]; no list or string is longer than the
//! bytes that are left (an element takes a byte at least), so a caller may allocate what a list header says.

mod reader;
mod skip;
mod writer;

pub(crate) use reader::{Field, Reader, Wire, required};
pub(crate) use writer::{StructWriter, write_struct};

/// How deep structs and lists may nest. Parquet's own structs stay under ten.
pub(crate) const MAX_DEPTH: u8 = 64;
