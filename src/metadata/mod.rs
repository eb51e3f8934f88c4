//! What a file says of itself: footer, schema, row groups, column chunks, statistics, page index, Bloom filters.

mod annotation;
mod bloom_filter;
mod bounds;
mod column_chunk;
mod column_index;
mod enums;
mod footer;
mod footer_writer;
mod geospatial;
mod key_value;
mod limits;
mod offset_index;
pub mod page_header;
mod row_group;
mod schema;
mod schema_builder;
mod schema_elements;
mod statistics;

pub use bloom_filter::BloomFilter;
pub use bounds::Bound;
pub use column_chunk::{ColumnChunkMetadata, PageEncodingStats, SizeStatistics};
pub use column_index::{BoundaryOrder, ColumnIndex};
pub use enums::{Compression, Encoding, PageType, PhysicalType, Repetition};
pub use footer::{ColumnOrder, FOOTER_TAIL_LEN, FileMetadata, MAGIC, MAGIC_ENCRYPTED_FOOTER};
pub use footer_writer::FooterWriter;
pub use geospatial::{BoundingBox, GeospatialStatistics};
pub use key_value::KeyValue;
pub use limits::MetadataLimits;
pub use offset_index::{OffsetIndex, PageLocation};
pub use page_header::{DataPageHeader, DataPageHeaderV2, DictionaryPageHeader, PageHeader, PageKind};
pub use row_group::{RowGroupMetadata, SortingColumn};
pub use schema::{EdgeInterpolation, LogicalType, NodeKind, Schema, SchemaNode, TimeUnit};
pub use schema_builder::{NodeBuilder, SchemaBuilder};
pub use statistics::{EncodedStatistics, Statistics};
