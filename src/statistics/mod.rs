//! Smallest and largest values, for statistics and page indexes: dense values in, bounds out.
//!
//! One kind of bounds an order of `ColumnOrder` in `parquet.thrift`. Each gathers over batches and pages with `update`
//! and `merge`, which come to the same; none knows of columns, nulls or the bytes in a file.

mod bytes;
mod decimals;
mod floats;
mod integers;
mod truncate;

pub use bytes::ByteRange;
pub use decimals::DecimalBytesRange;
pub use floats::{FloatRange, FloatValue, IntegerKey};
pub use integers::{IntegerRange, IntegerValue};
pub use truncate::{TruncatedBound, lower_bound, upper_bound};
