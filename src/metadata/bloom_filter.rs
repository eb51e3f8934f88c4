//! Split-block Bloom filters (BloomFilter.md): header and bitset in, "certainly not" or "perhaps" out.

use twox_hash::XxHash64;

use crate::arrow::buffer::Buffer;
use crate::error::{Context, Error, ErrorKind, Result};
use crate::thrift::{Field, Reader, required, write_struct};

/// The Bloom filter of a column chunk.
///
/// ```text
/// hash (64 bits) = high 32 | low 32
/// block          = high 32 * blocks / 2^32
/// bit of word i  = (low 32 * SALT[i]) / 2^27        one bit of each of the block's eight words
/// ```
#[derive(Debug, Clone)]
pub struct BloomFilter {
    /// A multiple of [`BLOCK_LEN`], and at least one.
    bitset: Buffer,
}

impl BloomFilter {
    /// Parses header and bitset, which begin at
    /// [`bloom_filter_position`](super::ColumnChunkMetadata::bloom_filter_position). Keeps the bitset, without a
    /// copy; what follows it is not looked at.
    ///
    /// # Errors
    /// [`EndOfData`](crate::ErrorKind::EndOfData) when `bytes` end before the bitset does. Else when the header is
    /// malformed, the bitset is empty, not whole blocks or more than 128 MiB, or algorithm, hash or compression are
    /// not the ones that the format has.
    pub fn parse(bytes: Buffer) -> Result<Self> {
        let (header_len, bitset_len) = read_header(&bytes)?;
        let available = bytes.len() - header_len;
        if bitset_len > available {
            return Err(Error::end_of_data("Bloom filter", bitset_len, available));
        }
        Ok(BloomFilter { bitset: bytes.slice_with_length(header_len, bitset_len) })
    }

    /// Bytes of header and bitset together, from the header alone: for files that do not say how long the filter is.
    ///
    /// # Errors
    /// As [`BloomFilter::parse`], [`EndOfData`](crate::ErrorKind::EndOfData) when `bytes` end within the header.
    pub fn byte_len(bytes: &[u8]) -> Result<u64> {
        let (header_len, bitset_len) = read_header(bytes)?;
        Ok(header_len as u64 + bitset_len as u64)
    }

    /// Whether a value may be among those of the chunk; `false` is certain. `value` is the value's PLAIN encoding:
    /// little-endian bytes of a number, and of a BYTE_ARRAY the bytes without their length.
    pub fn might_contain(&self, value: &[u8]) -> bool {
        self.might_contain_hash(Self::hash(value))
    }

    /// [`BloomFilter::might_contain`] for a value whose [`BloomFilter::hash`] is known.
    pub fn might_contain_hash(&self, hash: u64) -> bool {
        let blocks = (self.bitset.len() / BLOCK_LEN) as u64;
        // Below `blocks`, as both factors are below 2^32.
        let block = (((hash >> 32) * blocks) >> 32) as usize * BLOCK_LEN;
        let Some(words) = self.bitset.get(block..block + BLOCK_LEN) else { return true };
        let (words, _) = words.as_chunks::<4>();
        let [low @ .., _, _, _, _] = hash.to_le_bytes();
        let low = u32::from_le_bytes(low);
        words.iter().zip(SALT).all(|(word, salt)| {
            let bit = low.wrapping_mul(salt) >> 27;
            u32::from_le_bytes(*word) >> bit & 1 == 1
        })
    }

    /// XXH64 with seed 0, which the format hashes values with.
    pub fn hash(value: &[u8]) -> u64 {
        XxHash64::oneshot(0, value)
    }

    /// The bitset, in blocks of 32 bytes.
    pub fn bitset(&self) -> &Buffer {
        &self.bitset
    }
}

/// Header and bitset of a filter of these hashes, which are distinct, that says "perhaps" of a `false_positives` part of
/// all others.
pub(crate) fn bloom_filter_bytes(hashes: &[u64], false_positives: f64) -> Vec<u8> {
    let bitset_len = bitset_len(hashes.len(), false_positives);
    let mut bytes = Vec::with_capacity(bitset_len + 32);
    write_struct(&mut bytes, |s| {
        // 128 MiB at most.
        s.i32(1, i32::try_from(bitset_len).unwrap_or(i32::MAX));
        (2..=4).for_each(|id| s.structure(id, |s| s.structure(1, |_| {})));
    });
    let header_len = bytes.len();
    bytes.resize(header_len + bitset_len, 0);
    let (words, _) = bytes.get_mut(header_len..).unwrap_or_default().as_chunks_mut::<4>();
    let blocks = (bitset_len / BLOCK_LEN) as u64;
    for hash in hashes {
        // Below `blocks`, as both factors are below 2^32.
        let block = (((hash >> 32) * blocks) >> 32) as usize * SALT.len();
        let [low @ .., _, _, _, _] = hash.to_le_bytes();
        let low = u32::from_le_bytes(low);
        for (word, salt) in words.iter_mut().skip(block).zip(SALT) {
            let bit = 1 << (low.wrapping_mul(salt) >> 27);
            *word = (u32::from_le_bytes(*word) | bit).to_le_bytes();
        }
    }
    bytes
}

/// Bytes that `num_values` distinct values want: BloomFilter.md's `-8 / ln(1 - p^(1/8))` bits each, rounded up to a power
/// of two of blocks, as other writers have it.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // not negative, and saturates
fn bitset_len(num_values: usize, false_positives: f64) -> usize {
    let bits = -8.0 / (1.0 - false_positives.powf(0.125)).ln() * num_values as f64;
    let blocks = (bits / 256.0).ceil().min((MAX_BITSET_LEN / BLOCK_LEN) as f64) as usize;
    blocks.max(1).next_power_of_two() * BLOCK_LEN
}

/// Length of the header and of the bitset, which is whole blocks.
fn read_header(bytes: &[u8]) -> Result<(usize, usize)> {
    let mut reader = Reader::new(bytes);
    let len = read_fields(&mut reader).at_offset(reader.position() as u64)?;
    Ok((reader.position(), len))
}

fn read_fields(reader: &mut Reader<'_>) -> Result<usize> {
    let (mut num_bytes, mut algorithm, mut hash, mut compression) = (None, None, None, None);
    reader.structure(|r, field| {
        match field.id {
            1 => num_bytes = r.i32(field)?,
            2 => algorithm = read_member(r, field)?,
            3 => hash = read_member(r, field)?,
            4 => compression = read_member(r, field)?,
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    let members = [("algorithm", algorithm), ("hash", hash), ("compression", compression)];
    for (name, member) in members {
        match member {
            Some(1) => {}
            Some(other) => return Err(Error::unsupported(format!("Bloom filter {name} {other}"))),
            None => {
                return Err(Error::malformed(format!("BloomFilterHeader.{name} is required and missing")));
            }
        }
    }
    let num_bytes = required(num_bytes, "BloomFilterHeader.numBytes")?;
    match usize::try_from(num_bytes) {
        Ok(len) if len > MAX_BITSET_LEN => {
            let (limit, wanted) = (MAX_BITSET_LEN as u64, len as u64);
            Err(ErrorKind::Limit { what: "Bloom filter length", limit, wanted }.into())
        }
        Ok(len) if len > 0 && len % BLOCK_LEN == 0 => Ok(len),
        _ => Err(Error::malformed(format!("a Bloom filter of {num_bytes} bytes"))),
    }
}

/// Which member of a union there is; every one is an empty struct.
fn read_member(reader: &mut Reader<'_>, field: Field) -> Result<Option<i16>> {
    let mut found = None;
    reader.struct_field(field, |r, member| {
        found = Some(member.id);
        r.skip(member)
    })?;
    Ok(found)
}

/// Bytes of a block: eight words of 32 bits.
const BLOCK_LEN: usize = 32;

/// What parquet-java writes at most.
const MAX_BITSET_LEN: usize = 128 << 20;

const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thrift::write_struct;

    fn header(num_bytes: i32, members: [i16; 3]) -> Vec<u8> {
        let mut out = Vec::new();
        write_struct(&mut out, |s| {
            s.i32(1, num_bytes);
            for (id, member) in [2, 3, 4].into_iter().zip(members) {
                s.structure(id, |s| s.structure(member, |_| {}));
            }
        });
        out
    }

    /// `filter_insert` as BloomFilter.md has it, on words.
    fn insert(words: &mut [u32], value: &[u8]) {
        let hash = BloomFilter::hash(value);
        let blocks = words.len() as u64 / 8;
        let block = ((hash >> 32) * blocks) >> 32;
        for (i, salt) in SALT.into_iter().enumerate() {
            let y = (hash & 0xffff_ffff).wrapping_mul(salt.into()) & 0xffff_ffff;
            words[block as usize * 8 + i] |= 1 << (y >> 27);
        }
    }

    fn filter(blocks: usize, values: impl Iterator<Item = u64>) -> BloomFilter {
        let mut words = vec![0u32; blocks * 8];
        values.for_each(|value| insert(&mut words, &value.to_le_bytes()));
        let mut bytes = header(i32::try_from(blocks * BLOCK_LEN).unwrap(), [1, 1, 1]);
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        bytes.extend([0xff; 3]);
        BloomFilter::parse(bytes.into()).unwrap()
    }

    #[test]
    fn finds_what_was_inserted_and_little_else() {
        for blocks in [1, 3, 64, 1000] {
            let filter = filter(blocks, 0..blocks as u64 * 10);
            assert!((0..blocks as u64 * 10).all(|value| filter.might_contain(&value.to_le_bytes())));
            let false_positives =
                (1 << 40..(1 << 40) + 10_000u64).filter(|v| filter.might_contain(&v.to_le_bytes())).count();
            // 25.6 bits a value: some 0.015 %, more where there are few blocks.
            assert!(false_positives < 100, "{blocks}: {false_positives}");
        }
    }

    #[test]
    fn filters_that_are_written_hold_what_they_promise() {
        for (n, rate) in [(0, 0.5), (1, 0.01), (1000, 0.001), (20_000, 0.05)] {
            let mut hashes: Vec<u64> = (0..n).map(|v: u64| BloomFilter::hash(&v.to_le_bytes())).collect();
            hashes.sort_unstable();
            let bytes = bloom_filter_bytes(&hashes, rate);
            assert_eq!(BloomFilter::byte_len(&bytes).unwrap(), bytes.len() as u64);
            let filter = BloomFilter::parse(bytes.into()).unwrap();
            assert!((0..n).all(|value| filter.might_contain(&value.to_le_bytes())));
            let tries = 1 << 40..(1 << 40) + 100_000u64;
            let false_positives = tries.filter(|v| filter.might_contain(&v.to_le_bytes())).count();
            assert!(false_positives as f64 <= 1.2 * rate * 100_000.0, "{n} {rate}: {false_positives}");
        }
    }

    #[test]
    fn hashes_as_the_specification_of_xxhash() {
        assert_eq!(BloomFilter::hash(b""), 0xef46_db37_51d8_e999);
        assert_eq!(BloomFilter::hash(b"a"), 0xd24e_c4f1_a98c_6e5b);
        assert_eq!(BloomFilter::hash(b"abc"), 0x44bc_2cf5_ad77_0999);
    }

    #[test]
    fn refuses_sizes_that_are_none() {
        for num_bytes in [-32, -1, 0, 31, 33] {
            let error = BloomFilter::parse(header(num_bytes, [1; 3]).into()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{num_bytes}");
        }
        let error = BloomFilter::parse(header(i32::MAX - 31, [1; 3]).into()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }));
        let error = BloomFilter::parse(header(64, [1; 3]).into()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::EndOfData { needed: 64, available: 0, .. }));
    }

    #[test]
    fn refuses_what_the_format_does_not_have() {
        for members in [[2, 1, 1], [1, 2, 1], [1, 1, 2]] {
            let error = BloomFilter::parse(header(32, members).into()).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
        }
        let mut bare = Vec::new();
        write_struct(&mut bare, |s| s.i32(1, 32));
        assert!(BloomFilter::parse(bare.into()).unwrap_err().to_string().contains("algorithm"));
    }

    #[test]
    fn a_cut_header_is_the_end_of_data() {
        let bytes = header(32, [1; 3]);
        assert_eq!(BloomFilter::byte_len(&bytes).unwrap(), bytes.len() as u64 + 32);
        for len in 0..bytes.len() {
            let error = BloomFilter::byte_len(&bytes[..len]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::EndOfData { .. }));
        }
    }
}
