//! The one place that knows which Arrow release the crate speaks.
//!
//! Everything else says `crate::arrow::…`. The crates are re-exported so that callers can use the very same
//! release (`marquetry::arrow::array::RecordBatch`) and cannot mismatch it.
//!
//! Feature `arrow-59` is the default; `arrow-60` wins where both are on.

#[cfg(feature = "arrow-60")]
pub use {
    arrow_array_60 as array, arrow_buffer_60 as buffer, arrow_data_60 as data, arrow_schema_60 as schema,
};

#[cfg(all(feature = "arrow-59", not(feature = "arrow-60")))]
pub use {
    arrow_array_59 as array, arrow_buffer_59 as buffer, arrow_data_59 as data, arrow_schema_59 as schema,
};

#[cfg(not(any(feature = "arrow-59", feature = "arrow-60")))]
compile_error!("marquetry speaks one Arrow release: switch on the feature `arrow-59` or `arrow-60`");
