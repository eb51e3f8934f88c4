//! How large a footer may be.

/// Limits on what a footer may hold, set so that no real file meets them. Past one of them is
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MetadataLimits {
    /// Bytes of the footer. Default: 2^31-1, the most that Thrift can say.
    pub max_footer_len: u32,
    /// Elements of the schema, groups and root included; each takes memory of some hundred bytes. Default: 2^20.
    pub max_schema_nodes: usize,
    /// How deep groups nest, the root not counted. Default: 100.
    pub max_schema_depth: u8,
}

impl Default for MetadataLimits {
    fn default() -> Self {
        MetadataLimits {
            max_footer_len: i32::MAX.unsigned_abs(),
            max_schema_nodes: 1 << 20,
            max_schema_depth: 100,
        }
    }
}
