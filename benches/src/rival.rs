//! The one place that knows which release of the rival is built.

#[cfg(all(feature = "arrow-59", not(feature = "arrow-60")))]
pub use parquet_59::*;
#[cfg(feature = "arrow-60")]
pub use parquet_60::*;
