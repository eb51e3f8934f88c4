//! Every codec's framing: what is not its own, and what is.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use marquetry::compression::{Compressor, Decompressor};
use marquetry::metadata::Compression;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    codec: u8,
    len: u16,
    bytes: &'a [u8],
}

fuzz_target!(|input: Input<'_>| {
    let codecs = [
        Compression::Snappy,
        Compression::Gzip,
        Compression::Brotli,
        Compression::Lz4,
        Compression::Zstd,
        Compression::Lz4Raw,
    ];
    let codec = codecs[usize::from(input.codec) % codecs.len()];
    let mut decompressor = Decompressor::new(codec).expect("all codecs are on");
    let mut out = Vec::new();
    if decompressor.decompress(input.bytes, input.len.into(), &mut out).is_ok() {
        assert_eq!(out.len(), usize::from(input.len));
    }
    let (mut packed, mut back) = (Vec::new(), Vec::new());
    let mut compressor = Compressor::new(codec, None).expect("all codecs are on");
    compressor.compress(input.bytes, &mut packed).expect("bytes to compress");
    decompressor.decompress(&packed, input.bytes.len(), &mut back).expect("what was compressed");
    assert_eq!(back, input.bytes);
});
