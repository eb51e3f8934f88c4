//! The variable-length integers that encodings begin with (Encodings.md: ULEB128, zigzag).

/// Appends `value`, seven bits a byte, the lowest first.
pub(crate) fn write_uleb128(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        let [low, ..] = value.to_le_bytes();
        out.push(low | 0x80);
        value >>= 7;
    }
    let [low, ..] = value.to_le_bytes();
    out.push(low);
}

/// Appends `value` with its sign in the lowest bit.
pub(crate) fn write_zigzag(out: &mut Vec<u8>, value: i64) {
    write_uleb128(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cursor::Cursor;

    #[test]
    fn the_cursor_reads_what_is_written() {
        for shift in 0..64 {
            for value in [1i64 << shift, -1 << shift, (1i64 << shift).wrapping_sub(1)] {
                let mut out = vec![];
                write_zigzag(&mut out, value);
                assert_eq!(Cursor::new(&out).zigzag("value").unwrap(), value);
            }
        }
        let mut out = vec![];
        write_uleb128(&mut out, 300);
        assert_eq!(out, [0xac, 0x02]);
    }
}
