//! Marquetry against the usual Rust reader of Parquet (the `parquet` crate), on the same bytes.
//!
//! Takes random arrays and layouts, has the rival write them, and reads the files with both: `tests/` asks for
//! equal answers, `read.rs` and the binary `versus` ask how fast. Knows nothing of marquetry but its public names.

pub mod arrays;
pub mod cases;
pub mod columns;
pub mod compare;
pub mod engine;
pub mod layout;
pub mod records;
pub mod rival;
pub mod seeds;
pub mod types;
#[cfg(all(feature = "arrow-60", feature = "encoders"))]
pub mod versus;

/// The Arrow release that both speak.
pub mod arrow {
    pub use marquetry::arrow::*;
    #[cfg(all(feature = "arrow-59", not(feature = "arrow-60")))]
    pub use {arrow_cast_59 as cast, arrow_select_59 as select};
    #[cfg(feature = "arrow-60")]
    pub use {arrow_cast_60 as cast, arrow_select_60 as select};
}
