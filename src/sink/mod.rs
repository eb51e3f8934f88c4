//! Growing Arrow storage that decoders write to: what a decoder appends to, and what becomes an array without a copy.
