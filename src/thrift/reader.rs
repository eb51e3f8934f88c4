//! Reads compact protocol: one field after another, each of a type the caller expects or else skipped.

use super::{MAX_DEPTH, skip};
use crate::cursor::Cursor;
use crate::error::{Error, Result};

/// A type on the wire. `True` and `False` are both the type bool: within a struct the type is the value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wire {
    True = 1,
    False = 2,
    I8 = 3,
    I16 = 4,
    I32 = 5,
    I64 = 6,
    Double = 7,
    Binary = 8,
    List = 9,
    Set = 10,
    Map = 11,
    Struct = 12,
    Uuid = 13,
}

impl Wire {
    #[inline]
    pub(super) fn from_nibble(nibble: u8) -> Result<Self> {
        Ok(match nibble {
            1 => Wire::True,
            2 => Wire::False,
            3 => Wire::I8,
            4 => Wire::I16,
            5 => Wire::I32,
            6 => Wire::I64,
            7 => Wire::Double,
            8 => Wire::Binary,
            9 => Wire::List,
            10 => Wire::Set,
            11 => Wire::Map,
            12 => Wire::Struct,
            13 => Wire::Uuid,
            _ => return Err(Error::malformed(format!("Thrift type {nibble} does not exist"))),
        })
    }

    fn is_bool(self) -> bool {
        matches!(self, Wire::True | Wire::False)
    }
}

/// The header of a field: its value comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) id: i16,
    pub(crate) wire: Wire,
}

/// Reads values from bytes that nobody vouches for.
///
/// The accessors that take a [`Field`] give `None`, and move past the value, where the field is of another type
/// than asked for: so do the readers that Thrift generates, and real files depend on it.
pub(crate) struct Reader<'a> {
    cursor: Cursor<'a>,
    depth: u8,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Reader::at(bytes, 0)
    }

    /// Starts `position` bytes into `bytes`.
    pub(crate) fn at(bytes: &'a [u8], position: usize) -> Self {
        Reader { cursor: Cursor::at(bytes, position), depth: 0 }
    }

    /// Bytes read so far, from the start of `bytes`.
    pub(crate) fn position(&self) -> usize {
        self.cursor.position()
    }

    /// Reads one struct: calls `read` with the header of each field; it has to read or skip the value.
    ///
    /// # Errors
    /// When structs nest too deep, the bytes end, or `read` fails.
    #[inline]
    pub(crate) fn structure(&mut self, mut read: impl FnMut(&mut Self, Field) -> Result<()>) -> Result<()> {
        if self.depth == MAX_DEPTH {
            return Err(skip::too_deep());
        }
        self.depth += 1;
        let mut id = 0;
        while let Some(field) = self.field(id)? {
            id = field.id;
            read(self, field)?;
        }
        self.depth -= 1;
        Ok(())
    }

    #[inline]
    fn field(&mut self, last_id: i16) -> Result<Option<Field>> {
        let head = self.cursor.u8("field header")?;
        if head & 0x0f == 0 {
            return Ok(None);
        }
        let wire = Wire::from_nibble(head & 0x0f)?;
        let id = match head >> 4 {
            0 => i16::try_from(self.cursor.zigzag("field id")?).ok(),
            delta => last_id.checked_add(i16::from(delta)),
        };
        let id = id.ok_or_else(|| Error::malformed("a field id of more than 16 bits"))?;
        Ok(Some(Field { id, wire }))
    }

    /// Moves past the value of `field`.
    pub(crate) fn skip(&mut self, field: Field) -> Result<()> {
        let len = skip::value_len(self.cursor.rest(), field.wire as u8, self.depth)?;
        self.cursor.skip(len, "field")
    }

    /// Moves past `count` structs; calls `ended` with the position after each.
    pub(crate) fn skip_structs(&mut self, count: usize, mut ended: impl FnMut(usize)) -> Result<()> {
        let start = self.cursor.position();
        let rest = self.cursor.rest();
        let len = skip::structs_len(rest, count, self.depth, |position| ended(start + position))?;
        self.cursor.skip(len, "structs")
    }

    /// Reads one struct field by field as [`Reader::structure`] does; gives whether `field` is a struct at all.
    pub(crate) fn struct_field(
        &mut self,
        field: Field,
        read: impl FnMut(&mut Self, Field) -> Result<()>,
    ) -> Result<bool> {
        if !self.expect(field, Wire::Struct)? {
            return Ok(false);
        }
        self.structure(read)?;
        Ok(true)
    }

    pub(crate) fn bool(&mut self, field: Field) -> Result<Option<bool>> {
        if field.wire.is_bool() {
            return Ok(Some(field.wire == Wire::True));
        }
        self.skip(field).map(|()| None)
    }

    pub(crate) fn i8(&mut self, field: Field) -> Result<Option<i8>> {
        if !self.expect(field, Wire::I8)? {
            return Ok(None);
        }
        self.cursor.u8("i8").map(|byte| Some(byte.cast_signed()))
    }

    pub(crate) fn i16(&mut self, field: Field) -> Result<Option<i16>> {
        if !self.expect(field, Wire::I16)? {
            return Ok(None);
        }
        let value = self.cursor.zigzag("i16")?;
        i16::try_from(value).map(Some).map_err(|_| Error::malformed(format!("{value} is not an i16")))
    }

    #[inline]
    pub(crate) fn i32(&mut self, field: Field) -> Result<Option<i32>> {
        if !self.expect(field, Wire::I32)? {
            return Ok(None);
        }
        self.i32_value().map(Some)
    }

    #[inline]
    pub(crate) fn i64(&mut self, field: Field) -> Result<Option<i64>> {
        if !self.expect(field, Wire::I64)? {
            return Ok(None);
        }
        self.i64_value().map(Some)
    }

    pub(crate) fn double(&mut self, field: Field) -> Result<Option<f64>> {
        if !self.expect(field, Wire::Double)? {
            return Ok(None);
        }
        self.cursor.array("double").map(|bytes| Some(f64::from_le_bytes(bytes)))
    }

    pub(crate) fn binary(&mut self, field: Field) -> Result<Option<&'a [u8]>> {
        if !self.expect(field, Wire::Binary)? {
            return Ok(None);
        }
        self.binary_value().map(Some)
    }

    /// A string; what is not UTF-8 in it becomes U+FFFD, since a bad name is no reason to refuse the data.
    pub(crate) fn string(&mut self, field: Field) -> Result<Option<String>> {
        let bytes = self.binary(field)?;
        Ok(bytes.map(|bytes| String::from_utf8_lossy(bytes).into_owned()))
    }

    /// The header of a list (or set) of `element`s: how many `..._value` or [`Reader::structure`] calls come next.
    /// Never more than there are bytes left. `None`, and past the list, where it is not a list of such elements;
    /// an empty one is, whatever its header says of the type of the elements that it does not have.
    pub(crate) fn list(&mut self, field: Field, element: Wire) -> Result<Option<usize>> {
        if !matches!(field.wire, Wire::List | Wire::Set) {
            return self.skip(field).map(|()| None);
        }
        let start = self.cursor;
        let (nibble, len) = skip::list_header(&mut self.cursor)?;
        if len == 0 {
            return Ok(Some(0));
        }
        let wire = Wire::from_nibble(nibble)?;
        if wire == element || (wire.is_bool() && element.is_bool()) {
            return Ok(Some(len));
        }
        self.cursor = start;
        self.skip(field).map(|()| None)
    }

    /// A bool within a list. 1 is true; writers differ on false, 0 or 2.
    pub(crate) fn bool_value(&mut self) -> Result<bool> {
        self.cursor.u8("bool").map(|byte| byte == Wire::True as u8)
    }

    #[inline]
    pub(crate) fn i32_value(&mut self) -> Result<i32> {
        let value = self.cursor.zigzag("i32")?;
        i32::try_from(value).map_err(|_| Error::malformed(format!("{value} is not an i32")))
    }

    #[inline]
    pub(crate) fn i64_value(&mut self) -> Result<i64> {
        self.cursor.zigzag("i64")
    }

    #[inline]
    pub(crate) fn binary_value(&mut self) -> Result<&'a [u8]> {
        let len = skip::binary_len(&mut self.cursor)?;
        self.cursor.take(len, "binary")
    }

    #[inline]
    fn expect(&mut self, field: Field, wire: Wire) -> Result<bool> {
        if field.wire == wire {
            return Ok(true);
        }
        self.skip(field).map(|()| false)
    }
}

/// The value of a field that the format requires.
///
/// # Errors
/// When it was absent (or of another type). `name` is `Struct.field` as `parquet.thrift` has it.
#[inline]
pub(crate) fn required<T>(value: Option<T>, name: &'static str) -> Result<T> {
    value.ok_or_else(|| Error::malformed(format!("{name} is required and missing")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;
    use crate::thrift::write_struct;

    /// Field ids and wire types of a struct, all skipped.
    fn skim(bytes: &[u8]) -> Result<(Vec<(i16, Wire)>, usize)> {
        let mut reader = Reader::new(bytes);
        let mut seen = Vec::new();
        reader.structure(|r, field| {
            seen.push((field.id, field.wire));
            r.skip(field)
        })?;
        Ok((seen, reader.position()))
    }

    fn every_type() -> Vec<u8> {
        let mut out = Vec::new();
        write_struct(&mut out, |s| {
            s.bool(1, true);
            s.bool(2, false);
            s.i8(3, -7);
            s.i16(4, -300);
            s.i32(5, i32::MIN);
            s.i64(6, i64::MAX);
            s.double(7, -0.5);
            s.binary(8, b"bytes");
            s.structs(40, 0..20, |inner, i| inner.i32(1, i));
            s.bools(41, [true, false, true].into_iter());
            s.i64s(42, [1, -1, i64::MIN].into_iter());
            s.binaries(43, [&b"a"[..], b""].into_iter());
            s.structure(1000, |inner| inner.structure(3, |_| {}));
        });
        out
    }

    #[test]
    fn reads_what_the_writer_wrote() {
        let bytes = every_type();
        let mut reader = Reader::new(&bytes);
        let mut count = 0;
        reader
            .structure(|r, field| {
                count += 1;
                match field.id {
                    1 => assert_eq!(r.bool(field)?, Some(true)),
                    2 => assert_eq!(r.bool(field)?, Some(false)),
                    3 => assert_eq!(r.i8(field)?, Some(-7)),
                    4 => assert_eq!(r.i16(field)?, Some(-300)),
                    5 => assert_eq!(r.i32(field)?, Some(i32::MIN)),
                    6 => assert_eq!(r.i64(field)?, Some(i64::MAX)),
                    7 => assert_eq!(r.double(field)?, Some(-0.5)),
                    8 => assert_eq!(r.string(field)?.as_deref(), Some("bytes")),
                    40 => {
                        assert_eq!(r.list(field, Wire::Struct)?, Some(20));
                        for i in 0..20 {
                            r.structure(|r, f| r.i32(f).map(|v| assert_eq!(v, Some(i))))?;
                        }
                    }
                    41 => {
                        assert_eq!(r.list(field, Wire::True)?, Some(3));
                        let bools = [r.bool_value()?, r.bool_value()?, r.bool_value()?];
                        assert_eq!(bools, [true, false, true]);
                    }
                    42 => {
                        assert_eq!(r.list(field, Wire::I64)?, Some(3));
                        let longs = [r.i64_value()?, r.i64_value()?, r.i64_value()?];
                        assert_eq!(longs, [1, -1, i64::MIN]);
                    }
                    43 => {
                        assert_eq!(r.list(field, Wire::Binary)?, Some(2));
                        assert_eq!((r.binary_value()?, r.binary_value()?), (&b"a"[..], &b""[..]));
                    }
                    1000 => assert!(r.struct_field(field, |r, f| r.skip(f))?),
                    other => panic!("field {other}"),
                }
                Ok(())
            })
            .unwrap();
        assert_eq!((count, reader.position()), (13, bytes.len()));
    }

    #[test]
    fn skips_what_it_does_not_know() {
        let bytes = every_type();
        let (seen, position) = skim(&bytes).unwrap();
        assert_eq!(seen.last(), Some(&(1000, Wire::Struct)));
        assert_eq!(position, bytes.len());
        // A map, and a set of UUIDs, which this writer does not write.
        let mut odd = vec![0x1b, 2, 0x83, 1, b'k', 5, 1, b'l', 6, 0x1a, 0x1d];
        odd.extend([0; 16]);
        odd.extend([0x1b, 0, 0]);
        assert_eq!(skim(&odd).unwrap().1, odd.len());
    }

    #[test]
    fn gives_nothing_for_a_field_of_another_type() {
        let bytes = every_type();
        let mut reader = Reader::new(&bytes);
        let mut ids = Vec::new();
        reader
            .structure(|r, field| {
                ids.push(field.id);
                let asked = if field.id == 5 { r.i64(field)?.is_some() } else { r.i32(field)?.is_some() };
                assert!(!asked);
                Ok(())
            })
            .unwrap();
        assert_eq!(ids.len(), 13);
        let mut reader = Reader::new(&bytes);
        reader.structure(|r, field| r.list(field, Wire::I32).map(|n| assert_eq!(n, None))).unwrap();
        assert_eq!(reader.position(), bytes.len());
    }

    #[test]
    fn an_empty_list_has_any_element_type() {
        for nibble in 0..16 {
            let bytes = [0x19, nibble, 0];
            let mut reader = Reader::new(&bytes);
            reader.structure(|r, field| r.list(field, Wire::Struct).map(|n| assert_eq!(n, Some(0)))).unwrap();
            assert_eq!(skim(&bytes).unwrap().1, 3);
        }
    }

    #[test]
    fn every_truncation_is_the_end_of_data() {
        let bytes = every_type();
        for len in 0..bytes.len() {
            let error = skim(&bytes[..len]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::EndOfData { .. }), "{len}: {error}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error() {
        for open in [&[0x1c][..], &[0x19, 0x19], &[0x1b, 1, 0xcc]] {
            let bytes = [&[0x1c][..], &open.repeat(100_000)].concat();
            let error = skim(&bytes).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
        }
        let mut reader = Reader::new(&[0x1c; 200]);
        fn dive(r: &mut Reader<'_>, field: Field) -> Result<()> {
            r.struct_field(field, dive).map(|_| ())
        }
        assert!(matches!(reader.structure(dive).unwrap_err().kind(), ErrorKind::Limit { .. }));
    }

    #[test]
    fn lengths_are_bounded_by_the_bytes() {
        let list = |size: &[u8], tail: usize| {
            let bytes = [&[0x19, 0xfc], size, &vec![0; tail]].concat();
            skim(&bytes).map(|_| ()).unwrap_err()
        };
        assert!(matches!(
            list(&[0xff, 0xff, 0xff, 0x7f], 10).kind(),
            ErrorKind::EndOfData { needed: 268_435_455, available: 10, .. }
        ));
        assert!(matches!(list(&[0xff, 0xff, 0xff, 0xff, 0x0f], 10).kind(), ErrorKind::Malformed(_)));
        let binary = [0x18, 0xff, 0xff, 0xff, 0xff, 0x07, b'a'];
        assert!(matches!(skim(&binary).unwrap_err().kind(), ErrorKind::EndOfData { .. }));
        let binary = [0x18, 0x80, 0x80, 0x80, 0x80, 0x08, b'a'];
        assert!(matches!(skim(&binary).unwrap_err().kind(), ErrorKind::Malformed(_)));
        let map = [0x1b, 0xff, 0xff, 0x03, 0x11, 1, 1];
        assert!(matches!(skim(&map).unwrap_err().kind(), ErrorKind::EndOfData { .. }));
    }

    #[test]
    fn refuses_types_and_numbers_that_do_not_exist() {
        for bytes in [&[0x1e, 0, 0][..], &[0x1f, 0, 0], &[0x19, 0x10, 1, 0], &[0x05, 0x80, 0x80, 0x08, 0, 0]]
        {
            assert!(matches!(skim(bytes).unwrap_err().kind(), ErrorKind::Malformed(_)), "{bytes:?}");
        }
        assert!(skim(&[&[0x16][..], &[0x80; 11], &[0, 0]].concat()).is_err());
        let mut reader = Reader::new(&[0x15, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01, 0]);
        assert!(reader.structure(|r, field| r.i32(field).map(|_| ())).is_err());
    }
}
