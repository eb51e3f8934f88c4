//! Kernels of BYTE_STREAM_SPLIT, the other way: values in, streams of bytes out.

/// Appends byte 0 of every value, then byte 1 of every value, and so on. Bytes that make no whole value are left out.
///
/// # Panics
/// Where `width` is 0.
pub(crate) fn split(values: &[u8], width: usize, out: &mut Vec<u8>) {
    let n = values.len() / width;
    out.reserve(n * width);
    for k in 0..width {
        out.extend(values.chunks_exact(width).filter_map(|value| value.get(k)));
    }
}
