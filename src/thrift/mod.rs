//! The Thrift compact protocol. It knows nothing of Parquet.
