//! The same answers as the rival: files that it wrote, read by both.
//!
//! `MARQUETRY_ROUNDS=10` runs ten times the random rounds, `MARQUETRY_SEED=…` one of them alone and
//! `MARQUETRY_SHOWN=…` shows so many failures of a test instead of the first dozen.

mod encodings;
mod nested;
mod output_types;
mod pages;
mod parquet_types;
mod random;
mod selection;
mod types;
mod write;
