//! A checked reader of FlatBuffers tables: as much of the format as an Arrow schema takes.
//!
//! Every offset is looked up in the bytes before it is followed, and a budget, set by how many bytes there are, pays
//! for every table and string: tables may be shared, so that a few bytes could stand for a tree without end.
//!
//! ```text
//! table   i32 distance back to its vtable, then its fields
//! vtable  u16 bytes of the vtable, u16 bytes of the table, then for each field a u16: where it lies within the table,
//!         0 where it is absent
//! string  u32 length, then bytes; vector  u32 length, then elements; both, and tables, lie u32 bytes after the place
//!         that points to them
//! ```

use std::cell::Cell;

use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// Bytes that hold tables.
pub(super) struct FlatBuffer {
    bytes: Vec<u8>,
    /// What may still be spent on tables and strings.
    budget: Cell<usize>,
}

/// A table at some place within the bytes.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    buffer: &'a FlatBuffer,
    at: usize,
}

/// Where a vector of tables lies.
#[derive(Clone, Copy, Default)]
pub(super) struct Vector {
    start: usize,
    len: usize,
}

/// What a table costs: no table is smaller.
const TABLE_COST: usize = 8;

impl FlatBuffer {
    pub(super) fn new(bytes: Vec<u8>) -> Self {
        // Honest bytes are spent once or twice; a few shared strings are no fault.
        let budget = Cell::new(bytes.len().saturating_mul(4));
        FlatBuffer { bytes, budget }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The table that the offset at byte `pointer` leads to. The root's is where the message begins.
    pub(super) fn table(&self, pointer: usize) -> Result<Table<'_>> {
        self.spend(TABLE_COST)?;
        Ok(Table { buffer: self, at: self.follow(pointer)? })
    }

    /// Table `index` of a vector of this buffer; `None` past its end.
    pub(super) fn element(&self, vector: Vector, index: usize) -> Option<Result<Table<'_>>> {
        // In bounds, as the vector lies within the bytes.
        (index < vector.len).then(|| self.table(vector.start + 4 * index))
    }

    /// Where the offset at `pointer` leads.
    fn follow(&self, pointer: usize) -> Result<usize> {
        let offset = Cursor::at(&self.bytes, pointer).u32_le("FlatBuffers offset")?;
        usize::try_from(offset)
            .ok()
            .and_then(|offset| pointer.checked_add(offset))
            .filter(|&at| at < self.bytes.len())
            .ok_or_else(|| Error::malformed(format!("FlatBuffers offset {offset} at byte {pointer}")))
    }

    fn spend(&self, cost: usize) -> Result<()> {
        match self.budget.get().checked_sub(cost) {
            Some(left) => {
                self.budget.set(left);
                Ok(())
            }
            None => Err(Error::malformed("FlatBuffers tables that share more than they hold")),
        }
    }

    fn u16_at(&self, at: usize) -> Result<u16> {
        Cursor::at(&self.bytes, at).array("FlatBuffers vtable").map(u16::from_le_bytes)
    }
}

impl<'a> Table<'a> {
    /// Where field `slot` lies; `None` where it is absent.
    fn field(&self, slot: u16) -> Result<Option<usize>> {
        let back = Cursor::at(&self.buffer.bytes, self.at).i32_le("FlatBuffers table")?;
        let vtable = i64::try_from(self.at).ok().and_then(|at| usize::try_from(at - i64::from(back)).ok());
        let vtable =
            vtable.ok_or_else(|| Error::malformed(format!("FlatBuffers vtable {back} bytes back")))?;
        let entry = 4 + 2 * usize::from(slot);
        if entry + 2 > usize::from(self.buffer.u16_at(vtable)?) {
            return Ok(None);
        }
        match self.buffer.u16_at(vtable + entry)? {
            0 => Ok(None),
            offset => Ok(Some(self.at + usize::from(offset))),
        }
    }

    fn scalar<const N: usize>(&self, slot: u16) -> Result<Option<[u8; N]>> {
        let Some(at) = self.field(slot)? else { return Ok(None) };
        Cursor::at(&self.buffer.bytes, at).array("FlatBuffers scalar").map(Some)
    }

    pub(super) fn bool(&self, slot: u16) -> Result<bool> {
        Ok(self.u8(slot)? != 0)
    }

    pub(super) fn u8(&self, slot: u16) -> Result<u8> {
        Ok(self.scalar(slot)?.map_or(0, u8::from_le_bytes))
    }

    pub(super) fn i16(&self, slot: u16, default: i16) -> Result<i16> {
        Ok(self.scalar(slot)?.map_or(default, i16::from_le_bytes))
    }

    pub(super) fn i32(&self, slot: u16, default: i32) -> Result<i32> {
        Ok(self.scalar(slot)?.map_or(default, i32::from_le_bytes))
    }

    pub(super) fn table(&self, slot: u16) -> Result<Option<Table<'a>>> {
        self.field(slot)?.map(|pointer| self.buffer.table(pointer)).transpose()
    }

    /// What is not UTF-8 becomes U+FFFD.
    pub(super) fn string(&self, slot: u16) -> Result<Option<String>> {
        let Some(pointer) = self.field(slot)? else { return Ok(None) };
        let mut cursor = Cursor::at(&self.buffer.bytes, self.buffer.follow(pointer)?);
        let len = usize::try_from(cursor.u32_le("FlatBuffers string")?).unwrap_or(usize::MAX);
        let bytes = cursor.take(len, "FlatBuffers string")?;
        self.buffer.spend(len)?;
        Ok(Some(String::from_utf8_lossy(bytes).into_owned()))
    }

    /// Where a vector of tables lies; an empty one where it is absent.
    pub(super) fn vector(&self, slot: u16) -> Result<Vector> {
        let Some(pointer) = self.field(slot)? else { return Ok(Vector::default()) };
        let mut cursor = Cursor::at(&self.buffer.bytes, self.buffer.follow(pointer)?);
        let len = usize::try_from(cursor.u32_le("FlatBuffers vector")?).unwrap_or(usize::MAX);
        let start = cursor.position();
        cursor.skip(len.saturating_mul(4), "FlatBuffers vector")?;
        Ok(Vector { start, len })
    }

    /// The tables of a vector.
    pub(super) fn tables(&self, slot: u16) -> Result<impl Iterator<Item = Result<Table<'a>>> + use<'a>> {
        let (buffer, vector) = (self.buffer, self.vector(slot)?);
        Ok((0..vector.len).map_while(move |index| buffer.element(vector, index)))
    }
}
