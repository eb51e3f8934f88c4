//! What the tests share: files made byte by byte, naive encoders, ways to read them and to compare.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::single_range_in_vec_init,
    clippy::should_implement_trait
)]

pub mod arrays;
pub mod bounds;
pub mod codec;
pub mod counting;
pub mod digest;
pub mod encode;
pub mod random;
pub mod raw;
pub mod read;
pub mod show;
pub mod shred;
pub mod thrift;
