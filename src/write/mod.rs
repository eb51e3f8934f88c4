//! Record batches to a file.
mod extension;
mod flatten;
mod keys;
mod levels;
mod options;
mod resolve;
mod schema;

pub use options::{ColumnOptions, PageVersion, StatisticsLevel, WriteOptions};
