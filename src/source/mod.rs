//! Where bytes come from: a map, a file read by position, memory, or ranges that the caller fetched.
