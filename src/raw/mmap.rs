//! A memory map as an Arrow [`Buffer`].

use std::fs::File;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::arrow::buffer::Buffer;

/// Maps the whole of `file`. The map lives as long as any slice of the buffer does.
///
/// # Safety
/// Nobody may change or shorten the file while the buffer, or anything made from it, lives: its bytes are handed out
/// as shared slices.
///
/// # Errors
/// When the system refuses the map.
pub(crate) unsafe fn map(file: &File) -> std::io::Result<Buffer> {
    if file.metadata()?.len() == 0 {
        return Ok(Buffer::default());
    }
    // SAFETY: the caller guarantees that the file stays as it is.
    let map = unsafe { memmap2::Mmap::map(file)? };
    let start = NonNull::from(&*map).cast::<u8>();
    let len = map.len();
    // SAFETY: `start` is valid for `len` bytes while the map lives, and the buffer keeps the map.
    Ok(unsafe { Buffer::from_custom_allocation(start, len, Arc::new(map)) })
}
