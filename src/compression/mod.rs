//! One file a codec, and the registry that picks one.
