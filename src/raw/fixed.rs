//! Values of a fixed width as bytes and back. The trait says which types that is sound for.

use crate::arrow::buffer::ArrowNativeType;

/// A value of a fixed number of bytes that may hold any bits: every native type of Arrow, and [`Int96`].
///
/// # Safety
/// The type has no padding, every bit pattern is a value of it, and its default is all zero bytes.
pub unsafe trait FixedWidth: Copy + Default + Send + Sync + 'static {}

// SAFETY: Arrow's native types are integers, floats and `repr(C)` structs of integers without padding; Arrow
// itself casts any bytes to them (`Buffer::typed_data`).
unsafe impl<T: ArrowNativeType> FixedWidth for T {}

/// `INT96`: 8 bytes of nanoseconds within the day, then 4 bytes of Julian day number, little endian (deprecated).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[repr(transparent)]
pub struct Int96(pub [u8; 12]);

// SAFETY: an array of bytes.
unsafe impl FixedWidth for Int96 {}

/// The bytes of `values`.
#[inline]
pub(crate) fn as_bytes<T: FixedWidth>(values: &[T]) -> &[u8] {
    // SAFETY: `FixedWidth` has no padding, and bytes have no alignment.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), size_of_val(values)) }
}

/// The same bits as values of another type; none where the two differ in size or alignment.
#[inline]
pub(crate) fn same_width<T: FixedWidth, U: FixedWidth>(values: &[T]) -> &[U] {
    if size_of::<T>() != size_of::<U>() || align_of::<T>() != align_of::<U>() {
        return &[];
    }
    // SAFETY: as many values of the same size and alignment, and any bits are a value of either type.
    unsafe { std::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
}

/// Appends the values whose little-endian bytes are `bytes`; bytes that make no whole value are left out.
#[inline]
pub(crate) fn extend_from_bytes<T: FixedWidth>(values: &mut Vec<T>, bytes: &[u8]) {
    let n = bytes.len() / size_of::<T>().max(1);
    values.reserve(n);
    // SAFETY: the spare capacity holds `n` values, `bytes` holds as many bytes as they take, the two do not
    // overlap (one is borrowed mutably), and any bits are a value.
    unsafe {
        let to = values.as_mut_ptr().add(values.len());
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), to.cast(), n * size_of::<T>());
        values.set_len(values.len() + n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn goes_to_bytes_and_back() {
        let values = [1i64, -2, i64::MAX];
        assert_eq!(same_width::<_, u64>(&values), [1, 2u64.wrapping_neg(), i64::MAX as u64]);
        assert!(same_width::<i64, i32>(&values).is_empty());
        let mut back = vec![7i64];
        extend_from_bytes(&mut back, as_bytes(&values));
        assert_eq!(back, [7, 1, -2, i64::MAX]);
        extend_from_bytes(&mut back, &[1, 2, 3]);
        assert_eq!(back.len(), 4);
        let mut odd = vec![];
        extend_from_bytes::<Int96>(&mut odd, &[9; 25]);
        assert_eq!(odd, [Int96([9; 12]); 2]);
    }
}
