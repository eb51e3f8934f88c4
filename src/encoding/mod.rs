//! One file an encoding: bytes in, sink storage out. No decoder knows of nulls, schema or IO.
