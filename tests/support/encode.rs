//! Naive encoders (Encodings.md), a value at a time: slow, short, and nothing like the code they test.

use super::thrift::{uleb128, zigzag};

pub fn i32s(values: &[i32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn i64s(values: &[i64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn f32s(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

pub fn f64s(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// PLAIN BYTE_ARRAY: each with its length in front.
pub fn byte_arrays<V: AsRef<[u8]>>(values: &[V]) -> Vec<u8> {
    let mut out = Vec::new();
    for value in values.iter().map(AsRef::as_ref) {
        out.extend((value.len() as u32).to_le_bytes());
        out.extend(value);
    }
    out
}

/// PLAIN BOOLEAN.
pub fn bools(values: &[bool]) -> Vec<u8> {
    pack(&values.iter().map(|&v| u64::from(v)).collect::<Vec<_>>(), 1)
}

/// Bits of each value, least significant first, up to a whole byte.
pub fn pack(values: &[u64], width: u32) -> Vec<u8> {
    let mut out = vec![0u8; (values.len() * width as usize).div_ceil(8)];
    for (i, value) in values.iter().enumerate() {
        for bit in 0..width as usize {
            let at = i * width as usize + bit;
            out[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
        }
    }
    out
}

/// BIT_PACKED levels: most significant bit first.
pub fn pack_msb(values: &[u8], width: u32) -> Vec<u8> {
    let mut out = vec![0u8; (values.len() * width as usize).div_ceil(8)];
    for (i, value) in values.iter().enumerate() {
        for bit in 0..width as usize {
            let at = i * width as usize + bit;
            out[at / 8] |= (value >> (width as usize - 1 - bit) & 1) << (7 - at % 8);
        }
    }
    out
}

pub fn rle_run(n: usize, value: u64, width: u32) -> Vec<u8> {
    let mut out = Vec::new();
    uleb128(&mut out, (n as u64) << 1);
    out.extend(&value.to_le_bytes()[..(width as usize).div_ceil(8)]);
    out
}

/// One bit-packed run; the last group is filled up with zeros.
pub fn packed_run(values: &[u64], width: u32) -> Vec<u8> {
    let mut out = Vec::new();
    let groups = values.len().div_ceil(8);
    uleb128(&mut out, (groups as u64) << 1 | 1);
    let mut values = values.to_vec();
    values.resize(groups * 8, 0);
    out.extend(pack(&values, width));
    out
}

/// RLE/bit-packed hybrid: eights of one value in RLE runs, the other eights packed.
pub fn hybrid(values: &[u64], width: u32) -> Vec<u8> {
    let mut out = Vec::new();
    for eight in values.chunks(8) {
        match eight.iter().all(|v| *v == eight[0]) {
            true => out.extend(rle_run(eight.len(), eight[0], width)),
            false => out.extend(packed_run(eight, width)),
        }
    }
    out
}

/// Levels, without a length in front.
pub fn levels(values: &[u8], max: u8) -> Vec<u8> {
    hybrid(&values.iter().map(|&v| u64::from(v)).collect::<Vec<_>>(), u8::BITS - max.leading_zeros())
}

/// `bytes` behind their length, as V1 pages have levels and all pages RLE booleans.
pub fn sized(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}

/// The values of a page of dictionary indices.
pub fn indices(ids: &[u32], width: u32) -> Vec<u8> {
    let mut out = vec![width as u8];
    out.extend(hybrid(&ids.iter().map(|&v| u64::from(v)).collect::<Vec<_>>(), width));
    out
}

/// DELTA_BINARY_PACKED in blocks of 128 and miniblocks of 32. Deltas wrap at `bits` (32 or 64) bits.
pub fn delta(values: &[i64], bits: u32) -> Vec<u8> {
    let mut out = Vec::new();
    uleb128(&mut out, 128);
    uleb128(&mut out, 4);
    uleb128(&mut out, values.len() as u64);
    zigzag(&mut out, values.first().copied().unwrap_or(0));
    let mask = u64::MAX >> (64 - bits);
    let wrap = |v: i64| v << (64 - bits) >> (64 - bits);
    let deltas: Vec<i64> = values.windows(2).map(|w| wrap(w[1].wrapping_sub(w[0]))).collect();
    for block in deltas.chunks(128) {
        let least = *block.iter().min().unwrap();
        zigzag(&mut out, least);
        let minis: Vec<Vec<u64>> = block
            .chunks(32)
            .map(|mini| mini.iter().map(|d| d.wrapping_sub(least) as u64 & mask).collect())
            .collect();
        let width = |mini: &[u64]| 64 - mini.iter().fold(0, |all, v| all | v).leading_zeros();
        let mut widths: Vec<u8> = minis.iter().map(|mini| width(mini) as u8).collect();
        widths.resize(4, 0);
        out.extend(&widths);
        for mini in &minis {
            let mut mini = mini.clone();
            mini.resize(32, 0);
            out.extend(pack(&mini, width(&mini)));
        }
    }
    out
}

pub fn delta_length<V: AsRef<[u8]>>(values: &[V]) -> Vec<u8> {
    let lengths: Vec<i64> = values.iter().map(|v| v.as_ref().len() as i64).collect();
    let mut out = delta(&lengths, 32);
    values.iter().for_each(|v| out.extend(v.as_ref()));
    out
}

/// DELTA_BYTE_ARRAY: each value shares with the one before as much as it can.
pub fn delta_byte_array<V: AsRef<[u8]>>(values: &[V]) -> Vec<u8> {
    let (mut prefixes, mut suffixes, mut last): (Vec<i64>, Vec<&[u8]>, &[u8]) = Default::default();
    for value in values.iter().map(AsRef::as_ref) {
        let shared = last.iter().zip(value).take_while(|(a, b)| a == b).count();
        prefixes.push(shared as i64);
        suffixes.push(&value[shared..]);
        last = value;
    }
    [delta(&prefixes, 32), delta_length(&suffixes)].concat()
}

/// BYTE_STREAM_SPLIT of PLAIN values of `width` bytes.
pub fn byte_stream_split(plain: &[u8], width: usize) -> Vec<u8> {
    (0..width).flat_map(|k| plain.iter().skip(k).step_by(width).copied()).collect()
}
