//! Thrift compact protocol, written as told: for headers and footers that no writer would write.

use std::ops::Range;

/// A value of a field or list.
#[derive(Clone)]
pub enum T {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    Binary(Vec<u8>),
    /// Wire type of the elements, and the elements.
    List(u8, Vec<T>),
    Struct(Vec<(i16, T)>),
    /// A wire type and what stands behind the field header.
    Raw(u8, Vec<u8>),
}

pub const WIRE_I32: u8 = 5;
pub const WIRE_I64: u8 = 6;
pub const WIRE_BINARY: u8 = 8;
pub const WIRE_LIST: u8 = 9;
pub const WIRE_STRUCT: u8 = 12;

impl T {
    pub fn text(text: &str) -> T {
        T::Binary(text.as_bytes().to_vec())
    }

    fn wire(&self) -> u8 {
        match self {
            T::Bool(true) => 1,
            T::Bool(false) => 2,
            T::I8(_) => 3,
            T::I16(_) => 4,
            T::I32(_) => WIRE_I32,
            T::I64(_) => WIRE_I64,
            T::Binary(_) => WIRE_BINARY,
            T::List(..) => WIRE_LIST,
            T::Struct(_) => WIRE_STRUCT,
            T::Raw(wire, _) => *wire,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            T::Bool(_) => {}
            T::I8(value) => out.push(*value as u8),
            T::I16(value) => zigzag(out, i64::from(*value)),
            T::I32(value) => zigzag(out, i64::from(*value)),
            T::I64(value) => zigzag(out, *value),
            T::Binary(bytes) => {
                uleb128(out, bytes.len() as u64);
                out.extend(bytes);
            }
            T::List(element, items) => {
                list_header(out, *element, items.len() as u64);
                items.iter().for_each(|item| match item {
                    T::Bool(yes) => out.push(if *yes { 1 } else { 2 }),
                    other => other.write(out),
                });
            }
            T::Struct(fields) => out.extend(structure(fields)),
            T::Raw(_, bytes) => out.extend(bytes),
        }
    }
}

/// A struct of these fields, whose ids rise.
pub fn structure(fields: &[(i16, T)]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut last = 0;
    for (id, value) in fields {
        match id - last {
            delta @ 1..=15 => out.push((delta as u8) << 4 | value.wire()),
            _ => {
                out.push(value.wire());
                zigzag(&mut out, i64::from(*id));
            }
        }
        last = *id;
        value.write(&mut out);
    }
    out.push(0);
    out
}

pub fn list_header(out: &mut Vec<u8>, element: u8, len: u64) {
    if len < 15 {
        out.push((len as u8) << 4 | element);
    } else {
        out.push(0xf0 | element);
        uleb128(out, len);
    }
}

pub fn uleb128(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub fn zigzag(out: &mut Vec<u8>, value: i64) {
    uleb128(out, (value << 1 ^ value >> 63) as u64);
}

/// Where numbers stand in a struct of compact protocol that `bytes` begin with: values, lengths and counts, each as the
/// bytes of its varint; and where the struct ends.
pub fn numbers(bytes: &[u8]) -> (Vec<Range<usize>>, usize) {
    let mut walk = Walk { bytes, at: 0, numbers: Vec::new() };
    walk.structure();
    (walk.numbers, walk.at)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    numbers: Vec<Range<usize>>,
}

impl Walk<'_> {
    fn byte(&mut self) -> u8 {
        self.at += 1;
        self.bytes[self.at - 1]
    }

    fn number(&mut self) -> u64 {
        let start = self.at;
        let mut value = 0;
        loop {
            let byte = self.byte();
            value |= u64::from(byte & 0x7f) << (7 * (self.at - start - 1));
            if byte < 0x80 {
                break;
            }
        }
        self.numbers.push(start..self.at);
        value
    }

    fn structure(&mut self) {
        loop {
            match self.byte() {
                0 => return,
                header => {
                    if header >> 4 == 0 {
                        self.number();
                    }
                    self.value(header & 15);
                }
            }
        }
    }

    fn value(&mut self, wire: u8) {
        match wire {
            1 | 2 => {}
            3 => self.at += 1,
            4..=6 => drop(self.number()),
            7 => self.at += 8,
            WIRE_BINARY => self.at += self.number() as usize,
            WIRE_LIST | 10 => {
                let header = self.byte();
                let len = if header >> 4 == 15 { self.number() } else { u64::from(header >> 4) };
                for _ in 0..len {
                    match header & 15 {
                        1 | 2 => self.at += 1,
                        element => self.value(element),
                    }
                }
            }
            WIRE_STRUCT => self.structure(),
            other => panic!("wire type {other}"),
        }
    }
}
