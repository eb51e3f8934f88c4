//! Bit gathering with BMI2 where the machine has it.

/// The bits of `value` whose bit in `keep` is set, packed together from bit 0 on.
#[inline]
pub(crate) fn compress(value: u64, keep: u64) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("bmi2") {
        // SAFETY: the machine has BMI2.
        return unsafe { std::arch::x86_64::_pext_u64(value, keep) };
    }
    compress_portable(value, keep)
}

fn compress_portable(value: u64, mut keep: u64) -> u64 {
    let mut packed = 0;
    let mut at = 0;
    while keep != 0 {
        packed |= (value >> keep.trailing_zeros() & 1) << at;
        at += 1;
        keep &= keep - 1;
    }
    packed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compresses_like_the_portable_way() {
        assert_eq!(compress_portable(0b1010_0110, 0b1111_0000), 0b1010);
        let mut x = 0x9e37_79b9_7f4a_7c15u64;
        for _ in 0..1000 {
            let value = x.wrapping_mul(0xbf58_476d_1ce4_e5b9);
            x = x.rotate_left(17).wrapping_mul(0x94d0_49bb_1331_11eb) ^ value >> 9;
            assert_eq!(compress(value, x), compress_portable(value, x));
        }
    }
}
