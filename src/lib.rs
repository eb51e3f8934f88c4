//! Marquetry reads Parquet into Arrow.
//!
//! Bytes of a memory-mapped file go in, Arrow arrays come out, and between the two a value is copied once at most.
//! `ARCHITECTURE.md` draws the rooms and the flow between them.

#[cfg(not(target_endian = "little"))]
compile_error!("marquetry is built and tested for little-endian machines only");
#[cfg(not(target_pointer_width = "64"))]
compile_error!("marquetry is built and tested for 64-bit machines only");

pub mod arrow;
mod bitmap;
mod column;
mod column_decoder;
pub mod compression;
mod cursor;
pub mod encoding;
mod error;
mod file;
mod logical;
pub mod metadata;
mod nested;
mod options;
pub mod page;
mod raw;
mod scan;
pub mod sink;
mod source;
pub mod statistics;
mod thrift;
mod write;

pub use column_decoder::{ColumnDecoder, ColumnDescriptor};
pub use error::{Error, ErrorKind, Place, Result};
pub use file::{Capability, ColumnChunk, ParquetFile, RowGroup};
pub use options::ReadOptions;
pub use scan::{Scan, ScanReader};
pub use write::{ColumnOptions, PageVersion, ParquetWriter, StatisticsLevel, WriteOptions};
