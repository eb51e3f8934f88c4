//! Bodies that every instruction set shares: the compiler makes of each what the features around it allow.
//!
//! Byte strings are moved by a wide copy of [`WIDE`] bytes, whatever their length: what lands past a value's end is
//! overwritten by the next one, or lies in room that nobody reads. That spares a call and a branch a value.

/// Bytes that one wide copy moves. Readers have as many from a value's start, writers as much room.
pub(crate) const WIDE: usize = 64;

/// Bytes that one copy moves where all values are known to be so short: a quarter of the cache lines that a wide one
/// touches.
pub(crate) const NARROW: usize = 16;

/// An integer that offsets are made of.
pub(crate) trait End: Copy {
    fn end(position: usize) -> Self;
}

impl End for u32 {
    #[inline(always)]
    fn end(position: usize) -> Self {
        position as u32 // bounded by the room, and that by the type of the offsets
    }
}

impl End for u64 {
    #[inline(always)]
    fn end(position: usize) -> Self {
        position as u64
    }
}

/// A `PLAIN` page of byte arrays that is being read.
#[derive(Debug)]
pub(crate) struct Page {
    /// Where it begins.
    pub(crate) bytes: *const u8,
    pub(crate) byte_len: usize,
    /// Where the next length begins; at most `byte_len`.
    pub(crate) at: usize,
    /// Values that are wanted still.
    pub(crate) wanted: usize,
}

/// Where byte strings go.
#[derive(Debug)]
pub(crate) struct BytesOut {
    pub(crate) values: *mut u8,
    /// Bytes taken; at most `room`.
    pub(crate) position: usize,
    pub(crate) room: usize,
    /// Where the next end goes, of 4 or 8 bytes; there is room for as many as are wanted.
    pub(crate) ends: *mut u8,
    /// Ends written.
    pub(crate) taken: usize,
}

/// Where views go.
#[derive(Debug)]
pub(crate) struct ViewsOut {
    /// Where the next view goes; there is room for as many as are wanted.
    pub(crate) views: *mut u128,
    /// Views written.
    pub(crate) taken: usize,
    /// What a long value's view says of its place: the buffer's number, and the offset of the page within it in the
    /// upper half. `None` where long values cannot be pointed at.
    pub(crate) place: Option<u64>,
}

/// Takes byte strings one after the other.
trait Taker {
    /// Whether `n` values of `len` bytes can be taken.
    fn fits(&self, len: usize, n: usize) -> bool;

    /// Takes the value at `at` of `page`.
    ///
    /// # Safety
    /// It fits; from `at - 4` on `page` has the value's length, the value, and [`WIDE`] bytes at least.
    unsafe fn take(&mut self, page: *const u8, at: usize, len: usize);

    /// As [`Taker::take`], for a value of up to [`NARROW`] bytes.
    ///
    /// # Safety
    /// As [`Taker::take`].
    #[inline(always)]
    unsafe fn take_narrow(&mut self, page: *const u8, at: usize, len: usize) {
        // SAFETY: the caller's.
        unsafe { self.take(page, at, len) };
    }
}

/// Reads values of `page` until no more are wanted, one does not fit, or the page's end is so near that a wide copy
/// could cross it. `page.at` and `page.wanted` say how far it came.
///
/// The length of a value tells where the next length is: a chain of loads that bounds short values. Where two lengths
/// in a row are equal, the next eight are guessed to be so too, which breaks the chain; a wrong guess puts the next one
/// off.
///
/// # Safety
/// `page` is as its fields say.
#[inline(always)]
unsafe fn walk<T: Taker>(page: &mut Page, taker: &mut T) {
    let Page { bytes, byte_len, mut at, mut wanted } = *page;
    let mut before = usize::MAX;
    let mut patience = 0u32;
    while wanted > 0 && byte_len - at >= 4 + WIDE {
        // SAFETY: four bytes from `at` on are within the page.
        let len = unsafe { length_at(bytes, at) };
        if len > WIDE && len > byte_len - at - 4 {
            break;
        }
        // Patience first: whether two lengths are equal is a branch that nobody can foresee.
        if patience > 0 {
            patience -= 1;
        } else if len == before && len <= WIDE {
            // Hides that this is `before`: the compiler would work the steps out anew after every single value.
            let len = std::hint::black_box(len);
            // The last of the eight lengths ends `7 * (4 + len) + 4` bytes on, its value is copied wide.
            let step = 4 + len;
            if wanted >= GUESS && byte_len - at >= 7 * step + 4 + WIDE && taker.fits(len, GUESS) {
                // SAFETY: as just checked.
                let equal = (1..GUESS).all(|i| unsafe { length_at(bytes, at + i * step) } == len);
                if equal {
                    for i in 0..GUESS {
                        let start = at + i * step + 4;
                        // SAFETY: as just checked.
                        unsafe {
                            match len <= NARROW {
                                true => taker.take_narrow(bytes, start, len),
                                false => taker.take(bytes, start, len),
                            }
                        }
                    }
                    at += GUESS * step;
                    wanted -= GUESS;
                    continue;
                }
                patience = WRONG_GUESS;
            }
        }
        before = len;
        if !taker.fits(len, 1) {
            break;
        }
        // SAFETY: the value is within the page (a short one by the loop's condition) and fits.
        unsafe { taker.take(bytes, at + 4, len) };
        at += 4 + len;
        wanted -= 1;
    }
    page.at = at;
    page.wanted = wanted;
}

/// Values whose lengths are guessed at once.
const GUESS: usize = 8;
/// Values that are read without guessing after a guess was wrong.
const WRONG_GUESS: u32 = 256;

/// # Safety
/// Four bytes from `at` on can be read.
#[inline(always)]
unsafe fn length_at(bytes: *const u8, at: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { bytes.add(at).cast::<u32>().read_unaligned() as usize }
}

/// # Safety
/// `N` bytes at `from` can be read, `N` at `to` written, and they do not overlap.
#[inline(always)]
unsafe fn copy<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the caller's; bytes have no alignment.
    unsafe { to.cast::<[u8; N]>().write_unaligned(from.cast::<[u8; N]>().read_unaligned()) };
}

/// Copies `len` bytes, and up to [`WIDE`] where it is less.
///
/// # Safety
/// `max(len, WIDE)` bytes can be read at `from` and written at `to`.
#[inline(always)]
unsafe fn copy_wide(from: *const u8, to: *mut u8, len: usize) {
    // SAFETY: the caller's; a long value begins and ends with WIDE bytes.
    unsafe {
        if len <= WIDE {
            copy::<WIDE>(from, to);
        } else if len <= 4 * WIDE {
            copy::<WIDE>(from, to);
            if len > 2 * WIDE {
                copy::<WIDE>(from.add(WIDE), to.add(WIDE));
                copy::<WIDE>(from.add(len - 2 * WIDE), to.add(len - 2 * WIDE));
            }
            copy::<WIDE>(from.add(len - WIDE), to.add(len - WIDE));
        } else {
            std::ptr::copy_nonoverlapping(from, to, len);
        }
    }
}

/// [`BytesOut`] with ends of one type.
struct Typed<E> {
    out: BytesOut,
    ends: *mut E,
}

impl<E: End> Typed<E> {
    #[inline(always)]
    fn new(out: &BytesOut) -> Self {
        Typed { out: BytesOut { ..*out }, ends: out.ends.cast() }
    }

    /// # Safety
    /// `max(len, WIDE)` bytes can be read, and there is room for them and for an end.
    #[inline(always)]
    unsafe fn put(&mut self, value: *const u8, len: usize) {
        // SAFETY: the caller's.
        unsafe {
            copy_wide(value, self.out.values.add(self.out.position), len);
            self.out.position += len;
            self.ends.add(self.out.taken).write_unaligned(E::end(self.out.position));
        }
        self.out.taken += 1;
    }
}

impl<E: End> Typed<E> {
    /// As [`Typed::put`], for a value of up to [`NARROW`] bytes.
    ///
    /// # Safety
    /// As [`Typed::put`].
    #[inline(always)]
    unsafe fn put_narrow(&mut self, value: *const u8, len: usize) {
        // SAFETY: the caller's.
        unsafe {
            copy::<NARROW>(value, self.out.values.add(self.out.position));
            self.out.position += len;
            self.ends.add(self.out.taken).write_unaligned(E::end(self.out.position));
        }
        self.out.taken += 1;
    }
}

impl<E: End> Taker for Typed<E> {
    #[inline(always)]
    fn fits(&self, len: usize, n: usize) -> bool {
        self.out.room - self.out.position >= (n - 1) * len + len.max(WIDE)
    }

    #[inline(always)]
    unsafe fn take(&mut self, page: *const u8, at: usize, len: usize) {
        // SAFETY: the caller's.
        unsafe { self.put(page.add(at), len) };
    }

    #[inline(always)]
    unsafe fn take_narrow(&mut self, page: *const u8, at: usize, len: usize) {
        // SAFETY: the caller's.
        unsafe { self.put_narrow(page.add(at), len) };
    }
}

/// By a value's length up to 12: what of the length and twelve bytes is the view. Then for all longer ones: the length
/// and four bytes.
const KEPT: [u128; 14] = {
    let mut kept = [u64::MAX as u128; 14];
    let mut len = 0;
    while len <= 12 {
        kept[len] = u128::MAX >> (96 - 8 * len);
        len += 1;
    }
    kept
};

impl Taker for ViewsOut {
    #[inline(always)]
    fn fits(&self, len: usize, _n: usize) -> bool {
        len <= 12 || self.place.is_some()
    }

    /// A length and twelve bytes are what an inline view is, but for what comes after a shorter value.
    #[inline(always)]
    unsafe fn take(&mut self, page: *const u8, at: usize, len: usize) {
        // SAFETY: the length before the value and WIDE bytes of it can be read.
        let head = unsafe { page.add(at - 4).cast::<u128>().read_unaligned() };
        let long = if len > 12 { u64::MAX } else { 0 };
        let place = (self.place.unwrap_or(0) + ((at as u64) << 32)) & long;
        let view = head & KEPT[len.min(13)] | u128::from(place) << 64;
        // SAFETY: there is room for as many views as are wanted.
        unsafe { self.views.add(self.taken).write(view) };
        self.taken += 1;
    }
}

/// Reads `page` as [`walk`] says and copies the values to `out` while there is room.
///
/// # Safety
/// Both are as their fields say.
#[inline(always)]
pub(crate) unsafe fn plain_bytes<E: End>(page: &mut Page, out: &mut BytesOut) {
    let mut typed = Typed::<E>::new(out);
    // SAFETY: the caller's.
    unsafe { walk(page, &mut typed) };
    *out = typed.out;
}

/// Reads `page` as [`walk`] says and writes a view a value.
///
/// # Safety
/// Both are as their fields say; a page whose long values are pointed at is shorter than 2 GiB.
#[inline(always)]
pub(crate) unsafe fn plain_views(page: &mut Page, out: &mut ViewsOut) {
    let mut local = ViewsOut { ..*out };
    // SAFETY: the caller's.
    unsafe { walk(page, &mut local) };
    *out = local;
}

/// Copies the values that `n` ids name until one does not fit; `offsets` and `bytes` are those of the dictionary, whose
/// values are all of up to [`NARROW`] bytes where it says so.
///
/// # Safety
/// The ids can be read and have an offset and the one after it, offsets never fall, [`WIDE`] bytes from each on can be
/// read, and `out` is as its fields say.
#[inline(always)]
pub(crate) unsafe fn dictionary_bytes<E: End>(
    ids: *const u32,
    n: usize,
    offsets: *const u32,
    bytes: *const u8,
    narrow: bool,
    out: &mut BytesOut,
) {
    let mut typed = Typed::<E>::new(out);
    for i in 0..n {
        // SAFETY: the caller's; a value fits before it is put.
        unsafe {
            let pair = offsets.add(ids.add(i).read() as usize).cast::<[u32; 2]>().read_unaligned();
            let [start, end] = pair.map(|offset| offset as usize);
            if !typed.fits(end - start, 1) {
                break;
            }
            match narrow {
                true => typed.put_narrow(bytes.add(start), end - start),
                false => typed.put(bytes.add(start), end - start),
            }
        }
    }
    *out = typed.out;
}

/// Writes the views that `n` ids name; those of long values get `buffer` added to the number of their buffer.
///
/// # Safety
/// The ids can be read and are within `views`; `out` has room for `n`.
#[inline(always)]
pub(crate) unsafe fn dictionary_views(
    views: *const u128,
    ids: *const u32,
    out: *mut u128,
    n: usize,
    buffer: u32,
) {
    if buffer == 0 {
        // SAFETY: the caller's.
        // As bytes: a number of 128 bits moves in halves.
        return unsafe { gather(views.cast::<[u8; 16]>(), ids, out.cast(), n) };
    }
    for i in 0..n {
        // SAFETY: the caller's.
        unsafe {
            let view = views.add(ids.add(i).read() as usize).read();
            let long = u128::from(u64::from(view as u32 > 12) * u64::from(buffer));
            out.add(i).write(view + (long << 64));
        }
    }
}

/// Whether each of `64 * words` levels, all below 128, is at least `threshold`: a bit a level.
///
/// Adding `128 - threshold` sets the top bit of just the bytes at or above the threshold, and no byte carries over; a
/// product gathers the top bits of eight.
///
/// # Safety
/// The levels can be read, as many words written.
#[inline(always)]
pub(crate) unsafe fn at_least(levels: *const u8, words: usize, threshold: u8, out: *mut u64) {
    const LOW: u64 = 0x0101_0101_0101_0101;
    let add = u64::from(128 - threshold.min(127)) * LOW;
    for word in 0..words {
        // SAFETY: the caller's.
        let chunks = unsafe { levels.add(64 * word).cast::<[u64; 8]>().read_unaligned() };
        let mut bits = 0;
        for (i, chunk) in chunks.into_iter().enumerate() {
            let tops = (chunk + add) >> 7 & LOW;
            bits |= (tops.wrapping_mul(0x0102_0408_1020_4080) >> 56) << (8 * i);
        }
        // SAFETY: the caller's.
        unsafe { out.add(word).write(bits) };
    }
}

/// # Safety
/// `n` numbers can be read.
#[inline(always)]
pub(crate) unsafe fn max(numbers: *const u32, n: usize) -> u32 {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(numbers, n) }.iter().copied().max().unwrap_or(0)
}

/// # Safety
/// See [`super::Gather`].
#[inline(always)]
pub(crate) unsafe fn gather<T: Copy>(table: *const T, ids: *const u32, out: *mut T, n: usize) {
    for i in 0..n {
        // SAFETY: the caller's.
        unsafe { out.add(i).write(table.add(ids.add(i).read() as usize).read()) };
    }
}

/// # Safety
/// See [`super::Spread`].
#[inline(always)]
pub(crate) unsafe fn spread<T: Copy + Default>(values: *mut T, mut from: usize, base: usize, word: u64) {
    for bit in (0..64).rev() {
        let valid = word >> bit & 1 == 1;
        from -= usize::from(valid);
        // SAFETY: the caller's; `from` is at most the slot's own index.
        unsafe {
            let value = values.add(from).read();
            values.add(base + bit).write(if valid { value } else { T::default() });
        }
    }
}

/// [`spread`] for 16 bytes: a mask, where a choice would become a branch that nobody can foresee.
///
/// # Safety
/// See [`super::Spread`].
#[inline(always)]
pub(crate) unsafe fn spread_16(values: *mut [u8; 16], mut from: usize, base: usize, word: u64) {
    for bit in (0..64).rev() {
        let valid = word >> bit & 1;
        from -= valid as usize;
        let keep = u128::from(valid).wrapping_neg();
        // SAFETY: the caller's; `from` is at most the slot's own index.
        unsafe {
            let value = u128::from_ne_bytes(values.add(from).read());
            values.add(base + bit).write((value & keep).to_ne_bytes());
        }
    }
}

/// # Safety
/// See [`super::Spread`].
#[inline(always)]
pub(crate) unsafe fn ends<T: Copy>(values: *mut T, mut from: usize, base: usize, word: u64) {
    for bit in (0..64).rev() {
        // SAFETY: the caller's; `from` is at most one more than the slot's own index.
        unsafe { values.add(base + bit + 1).write(values.add(from).read()) };
        from -= (word >> bit & 1) as usize;
    }
}
