//! Still to come: goes when the page index lands.
#![allow(missing_docs)]
use crate::error::{Error, Result};
#[derive(Debug, Clone)]
pub struct OffsetIndex {
    pages: Vec<PageLocation>,
}
#[derive(Debug, Clone)]
pub struct PageLocation {
    pub offset: u64,
    pub first_row: u64,
}
impl OffsetIndex {
    pub fn parse(_: &[u8]) -> Result<Self> {
        Err(Error::unsupported("offset index"))
    }
    pub fn pages(&self) -> &[PageLocation] {
        &self.pages
    }
}
