//! (Physical, logical) type to Arrow type and back, and the `ARROW:schema` hint.
