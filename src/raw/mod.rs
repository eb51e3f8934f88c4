//! The only place with `unsafe`: memory maps, uninitialised spare capacity, SIMD kernels. Each function outside checks first.
#![allow(unsafe_code)]

pub(crate) mod alp;
pub(crate) mod alp_encode;
pub(crate) mod append;
pub(crate) mod bits;
pub(crate) mod byte_dictionary;
pub(crate) mod byte_extremes;
pub(crate) mod byte_store;
pub(crate) mod byte_strings;
pub(crate) mod byte_table;
pub(crate) mod delta;
pub(crate) mod dictionary_array;
pub(crate) mod extremes;
pub(crate) mod fixed;
pub(crate) mod front_coding;
pub(crate) mod front_coding_encode;
pub(crate) mod gather;
mod groups;
pub(crate) mod isa;
#[cfg(target_arch = "x86_64")]
mod lanes;

pub(crate) mod levels;
pub(crate) mod mmap;
pub(crate) mod pack;
mod simd;
pub(crate) mod split;
pub(crate) mod spread;
pub(crate) mod transpose;
pub(crate) mod unpack;
pub(crate) mod view_store;
