//! What the examples share.
#![allow(dead_code)] // each example uses its part of it

pub(crate) mod cli;
pub(crate) mod headers;
pub(crate) mod human;
pub(crate) mod k_way;
pub(crate) mod leaf;
pub(crate) mod plain;
pub(crate) mod progress;
pub(crate) mod replace;
pub(crate) mod sample;
pub(crate) mod table;
pub(crate) mod value;
pub(crate) mod write_options;
