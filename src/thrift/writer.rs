//! Writes compact protocol: fields in rising order of their ids, each with the shortest header.

use super::Wire;

/// Appends one struct to `out`; `fields` writes what is in it.
pub(crate) fn write_struct(out: &mut Vec<u8>, fields: impl FnOnce(&mut StructWriter<'_>)) {
    let mut writer = StructWriter { out, last_id: 0 };
    fields(&mut writer);
    writer.out.push(0);
}

/// Writes the fields of one struct; ids are given in rising order.
pub(crate) struct StructWriter<'o> {
    out: &'o mut Vec<u8>,
    last_id: i16,
}

impl StructWriter<'_> {
    pub(crate) fn bool(&mut self, id: i16, value: bool) {
        self.field(id, if value { Wire::True } else { Wire::False });
    }

    pub(crate) fn i8(&mut self, id: i16, value: i8) {
        self.field(id, Wire::I8);
        self.out.push(value.cast_unsigned());
    }

    pub(crate) fn i16(&mut self, id: i16, value: i16) {
        self.field(id, Wire::I16);
        zigzag(self.out, i64::from(value));
    }

    pub(crate) fn i32(&mut self, id: i16, value: i32) {
        self.field(id, Wire::I32);
        zigzag(self.out, i64::from(value));
    }

    pub(crate) fn i64(&mut self, id: i16, value: i64) {
        self.field(id, Wire::I64);
        zigzag(self.out, value);
    }

    pub(crate) fn double(&mut self, id: i16, value: f64) {
        self.field(id, Wire::Double);
        self.out.extend(value.to_le_bytes());
    }

    pub(crate) fn binary(&mut self, id: i16, value: &[u8]) {
        self.field(id, Wire::Binary);
        binary(self.out, value);
    }

    pub(crate) fn structure(&mut self, id: i16, fields: impl FnOnce(&mut StructWriter<'_>)) {
        self.field(id, Wire::Struct);
        write_struct(self.out, fields);
    }

    /// A list of structs; `fields` writes what is in each.
    pub(crate) fn structs<I: ExactSizeIterator>(
        &mut self,
        id: i16,
        items: I,
        mut fields: impl FnMut(&mut StructWriter<'_>, I::Item),
    ) {
        self.list(id, Wire::Struct, items.len());
        for item in items {
            write_struct(self.out, |writer| fields(writer, item));
        }
    }

    #[allow(dead_code)] // the page index's writer needs it
    pub(crate) fn bools(&mut self, id: i16, items: impl ExactSizeIterator<Item = bool>) {
        // Element type 2 is what most writers say of a list of bools.
        self.list(id, Wire::False, items.len());
        self.out.extend(items.map(|item| if item { Wire::True as u8 } else { Wire::False as u8 }));
    }

    pub(crate) fn i32s(&mut self, id: i16, items: impl ExactSizeIterator<Item = i32>) {
        self.list(id, Wire::I32, items.len());
        items.for_each(|item| zigzag(self.out, i64::from(item)));
    }

    pub(crate) fn i64s(&mut self, id: i16, items: impl ExactSizeIterator<Item = i64>) {
        self.list(id, Wire::I64, items.len());
        items.for_each(|item| zigzag(self.out, item));
    }

    pub(crate) fn binaries<'i>(&mut self, id: i16, items: impl ExactSizeIterator<Item = &'i [u8]>) {
        self.list(id, Wire::Binary, items.len());
        items.for_each(|item| binary(self.out, item));
    }

    fn list(&mut self, id: i16, element: Wire, len: usize) {
        self.field(id, Wire::List);
        match u8::try_from(len) {
            Ok(short) if short < 15 => self.out.push((short << 4) | element as u8),
            _ => {
                self.out.push(0xf0 | element as u8);
                uleb128(self.out, len as u64);
            }
        }
    }

    fn field(&mut self, id: i16, wire: Wire) {
        debug_assert!(id > self.last_id, "field {id} after {}", self.last_id);
        match u8::try_from(i32::from(id) - i32::from(self.last_id)) {
            Ok(delta @ 1..=15) => self.out.push((delta << 4) | wire as u8),
            _ => {
                self.out.push(wire as u8);
                zigzag(self.out, i64::from(id));
            }
        }
        self.last_id = id;
    }
}

fn binary(out: &mut Vec<u8>, value: &[u8]) {
    uleb128(out, value.len() as u64);
    out.extend_from_slice(value);
}

fn zigzag(out: &mut Vec<u8>, value: i64) {
    uleb128(out, ((value << 1) ^ (value >> 63)).cast_unsigned());
}

fn uleb128(out: &mut Vec<u8>, mut value: u64) {
    loop {
        let [low, ..] = value.to_le_bytes();
        if value < 0x80 {
            return out.push(low);
        }
        out.push(low | 0x80);
        value >>= 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_the_shortest_form() {
        let mut out = Vec::new();
        write_struct(&mut out, |s| {
            s.i32(1, -1);
            s.bool(16, true);
            s.i64(32, 64);
            s.i32s(33, [1, 2].into_iter());
            s.binary(34, b"ab");
            s.bools(35, [false].into_iter());
        });
        let expected =
            [0x15, 1, 0xf1, 0x06, 64, 0x80, 1, 0x19, 0x25, 2, 4, 0x18, 2, b'a', b'b', 0x19, 0x12, 2, 0];
        assert_eq!(out, expected);
    }
}
