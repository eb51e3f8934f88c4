//! `KeyValue` of `parquet.thrift`: what writers note for themselves and for each other.

use crate::error::Result;
use crate::thrift::{Field, Reader, StructWriter, Wire};

/// A key and its value. What is not UTF-8 in either became U+FFFD.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(clippy::exhaustive_structs)]
pub struct KeyValue {
    /// The key; the same one may come twice.
    pub key: String,
    /// The value. `None` also where the file has one that is not a string, as old fastparquet wrote.
    pub value: Option<String>,
}

/// None of it is worth refusing a file for: an entry without a key is left out.
pub(super) fn read_key_values(r: &mut Reader<'_>, field: Field) -> Result<Vec<KeyValue>> {
    let len = r.list(field, Wire::Struct)?.unwrap_or(0);
    let mut all = Vec::new();
    for _ in 0..len {
        let (mut key, mut value) = (None, None);
        r.structure(|r, field| {
            match field.id {
                1 => key = r.string(field)?,
                2 => value = r.string(field)?,
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        all.extend(key.map(|key| KeyValue { key, value }));
    }
    Ok(all)
}

pub(super) fn write_key_values(s: &mut StructWriter<'_>, id: i16, entries: &[KeyValue]) {
    if entries.is_empty() {
        return;
    }
    s.structs(id, entries.iter(), |s, entry| {
        s.binary(1, entry.key.as_bytes());
        entry.value.iter().for_each(|value| s.binary(2, value.as_bytes()));
    });
}
