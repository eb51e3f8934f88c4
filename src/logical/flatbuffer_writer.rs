//! Writes FlatBuffers tables front to back: as much of the format as an Arrow schema takes. `flatbuffer` draws it.
//!
//! A table is written with room for its offsets, which are filled in as what they lead to is appended. Every number is
//! aligned to its size, as other readers check. Vtables stand behind all tables, one for each layout: there are readers
//! that find nothing before the place that they come from.

/// Bytes that grow, from the root's offset on.
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// The vtables, and the tables that have each: their distance to it is still to be filled in.
    vtables: Vec<(Vec<u8>, Vec<usize>)>,
}

/// A field of a table.
#[derive(Clone, Copy)]
pub(super) enum Value {
    /// Not there: readers take the default.
    Absent,
    U8(u8),
    I16(i16),
    I32(i32),
    I64(i64),
    /// An offset, to be led somewhere by a method of [`Writer`].
    Offset,
}

/// An offset that leads nowhere yet.
#[must_use]
#[derive(Clone, Copy)]
pub(super) struct Pending(usize);

impl Writer {
    /// The root's offset, and the bytes it begins.
    pub(super) fn new() -> (Writer, Pending) {
        (Writer { bytes: vec![0; 4], vtables: Vec::new() }, Pending(0))
    }

    /// A whole number of 8 bytes.
    pub(super) fn finish(mut self) -> Vec<u8> {
        for (vtable, tables) in std::mem::take(&mut self.vtables) {
            self.align(2);
            let at = self.bytes.len();
            self.bytes.extend(vtable);
            for table in tables {
                // What is subtracted from the table's place.
                let distance = i32::try_from(at - table).map_or(0, i32::wrapping_neg);
                self.fill(table, distance.to_le_bytes());
            }
        }
        self.align(8);
        self.bytes
    }

    /// Leads `from` to a new table of these fields; gives its offsets, in their order.
    pub(super) fn table<const N: usize>(&mut self, from: Pending, fields: &[Value]) -> [Pending; N] {
        // Behind the distance to the vtable.
        let mut size = 4;
        let mut places = Vec::with_capacity(fields.len());
        for field in fields {
            let width = field.width();
            size = usize::next_multiple_of(size, width.max(1));
            places.push(if width > 0 { size } else { 0 });
            size += width;
        }
        self.align(fields.iter().map(|field| field.width()).fold(4, usize::max));
        self.lead_here(from);
        let start = self.bytes.len();
        self.note_vtable(start, size, &places);
        self.bytes.extend([0; 4]);
        let mut offsets = [Pending(0); N];
        let mut free = offsets.iter_mut();
        for (field, place) in fields.iter().zip(places) {
            self.bytes.resize(start + place.max(self.bytes.len() - start), 0);
            match field {
                Value::Absent => {}
                Value::U8(value) => self.bytes.push(*value),
                Value::I16(value) => self.bytes.extend(value.to_le_bytes()),
                Value::I32(value) => self.bytes.extend(value.to_le_bytes()),
                Value::I64(value) => self.bytes.extend(value.to_le_bytes()),
                Value::Offset => {
                    free.next().into_iter().for_each(|offset| *offset = Pending(self.bytes.len()));
                    self.bytes.extend([0; 4]);
                }
            }
        }
        offsets
    }

    /// Notes the vtable of a table of `size` bytes, whose fields lie at `places`, 0 where they are absent.
    fn note_vtable(&mut self, table: usize, size: usize, places: &[usize]) {
        let fields = places.iter().rposition(|&place| place > 0).map_or(0, |last| last + 1);
        // Tables of a schema have at most 7 fields.
        let numbers = [4 + 2 * fields, size].into_iter().chain(places.iter().copied().take(fields));
        let vtable: Vec<u8> =
            numbers.flat_map(|number| u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes()).collect();
        match self.vtables.iter_mut().find(|(known, _)| *known == vtable) {
            Some((_, tables)) => tables.push(table),
            None => self.vtables.push((vtable, vec![table])),
        }
    }

    /// Leads `from` to a string.
    pub(super) fn string(&mut self, from: Pending, text: &str) {
        self.vector_start(from, text.len());
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
    }

    /// Leads `from` to a vector of `len` tables; gives their offsets.
    pub(super) fn vector(&mut self, from: Pending, len: usize) -> Vec<Pending> {
        self.vector_start(from, len);
        let start = self.bytes.len();
        self.bytes.resize(start + 4 * len, 0);
        (0..len).map(|index| Pending(start + 4 * index)).collect()
    }

    fn vector_start(&mut self, from: Pending, len: usize) {
        self.align(4);
        self.lead_here(from);
        self.bytes.extend(u32::try_from(len).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn align(&mut self, alignment: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(alignment), 0);
    }

    fn lead_here(&mut self, from: Pending) {
        // A schema of 4 GiB does not fit a footer, which says so.
        let distance = u32::try_from(self.bytes.len() - from.0).unwrap_or(u32::MAX);
        self.fill(from.0, distance.to_le_bytes());
    }

    fn fill(&mut self, at: usize, number: [u8; 4]) {
        if let Some(place) = self.bytes.get_mut(at..at + 4) {
            place.copy_from_slice(&number);
        }
    }
}

impl Value {
    fn width(self) -> usize {
        match self {
            Value::Absent => 0,
            Value::U8(_) => 1,
            Value::I16(_) => 2,
            Value::I32(_) | Value::Offset => 4,
            Value::I64(_) => 8,
        }
    }
}
