//! Record batches to a file.
mod bloom;
mod boolean_column;
mod bounds;
mod byte_column;
mod byte_source;
mod column;
mod copy;
mod extension;
mod file;
mod fixed_bytes;
mod fixed_column;
mod flatten;
mod gather;
mod keys;
mod level_encoder;
mod levels;
mod options;
mod page;
mod page_index;
mod resolve;
mod schema;
mod sink;
mod values;
mod window;

pub use file::ParquetWriter;
pub use options::{ColumnOptions, PageVersion, StatisticsLevel, WriteOptions};
