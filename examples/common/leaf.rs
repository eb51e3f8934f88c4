//! Leaves of a schema: found by name, described in words, and copied to a schema of their own.

use marquetry::metadata::{LogicalType, NodeKind, PhysicalType, Schema, SchemaBuilder, SchemaNode};
use marquetry::{Error, ErrorKind, Result};

/// The leaf that `name` means: its dotted path, the path of a group that holds no other leaf, or its number (with `#`
/// before it where a column is named like a number).
pub(crate) fn find(schema: &Schema, name: &str) -> Result<usize> {
    let leaves = 0..schema.num_leaves();
    let exact: Vec<usize> = leaves.clone().filter(|&leaf| schema.leaf_name(leaf) == name).collect();
    let below =
        |leaf: &usize| schema.leaf_name(*leaf).strip_prefix(name).is_some_and(|rest| rest.starts_with('.'));
    let found = if exact.is_empty() { leaves.filter(below).collect() } else { exact };
    match found.as_slice() {
        [leaf] => Ok(*leaf),
        [] => by_number(schema, name),
        many => {
            let first = many.iter().take(5).map(|&leaf| format!("#{leaf} {}", schema.leaf_name(leaf)));
            let first = first.collect::<Vec<_>>().join(", ");
            let more = if many.len() > 5 { ", ..." } else { "" };
            let what = format!("{name:?} means {} columns: {first}{more}", many.len());
            Err(ErrorKind::InvalidArgument(what.into()).into())
        }
    }
}

fn by_number(schema: &Schema, name: &str) -> Result<usize> {
    let number = name.strip_prefix('#').unwrap_or(name).parse::<usize>().ok();
    match number {
        Some(leaf) if leaf < schema.num_leaves() => Ok(leaf),
        Some(leaf) => {
            let what = format!("column {leaf} of a file of {} columns", schema.num_leaves());
            Err(ErrorKind::InvalidArgument(what.into()).into())
        }
        None => Err(Error::from(ErrorKind::UnknownColumn(name.into()))),
    }
}

/// A schema of leaf `leaf` alone, within the groups it lies in: its levels stay what they are. Half a MAP is no map, but
/// a LIST of its keys or values; and a part of a VARIANT is none.
pub(crate) fn alone(schema: &Schema, leaf: usize) -> Result<Schema> {
    let missing = || Error::from(ErrorKind::InvalidArgument(format!("column {leaf}").into()));
    let mut path = Vec::new();
    let mut at = schema.leaf(leaf).ok_or_else(missing)?;
    loop {
        path.push(at);
        if at.parent == 0 {
            break;
        }
        at = schema.node(at.parent);
    }
    path.reverse();
    let mut builder = SchemaBuilder::new(&schema.root().name);
    add(&mut builder, &path)?;
    builder.finish()
}

/// Adds the nodes of `path`, each within the one before it.
fn add(builder: &mut SchemaBuilder, path: &[&SchemaNode]) -> Result<()> {
    let Some((node, below)) = path.split_first() else { return Ok(()) };
    let mut result = Ok(());
    let mut added = match node.kind {
        NodeKind::Leaf { physical, byte_width, .. } => {
            let leaf = builder.leaf(&node.name, node.repetition, physical);
            if physical == PhysicalType::FixedLenByteArray {
                leaf.byte_width(narrow(byte_width)?)
            } else {
                leaf
            }
        }
        NodeKind::Group { .. } => {
            builder.group(&node.name, node.repetition, |children| result = add(children, below))
        }
    };
    match &node.logical {
        Some(LogicalType::Map) => added = added.logical(LogicalType::List),
        None | Some(LogicalType::Variant { .. }) => {}
        Some(other) => added = added.logical(other.clone()),
    }
    if let Some(id) = node.field_id {
        added.field_id(id);
    }
    result
}

/// A width as the schema builder takes it.
pub(crate) fn narrow(byte_width: usize) -> Result<u16> {
    u16::try_from(byte_width).map_err(|_| {
        let what = format!("a FIXED_LEN_BYTE_ARRAY of {byte_width} bytes");
        Error::from(ErrorKind::Unsupported(what.into()))
    })
}

/// A leaf's types in a few words: `BYTE_ARRAY String`.
pub(crate) fn types(node: &SchemaNode) -> String {
    let mut text = match &node.kind {
        NodeKind::Leaf { physical: PhysicalType::FixedLenByteArray, byte_width, .. } => {
            format!("FIXED_LEN_BYTE_ARRAY({byte_width})")
        }
        NodeKind::Leaf { physical, .. } => physical.to_string(),
        NodeKind::Group { .. } => "group".into(),
    };
    if let Some(logical) = &node.logical {
        text.push(' ');
        text.push_str(&logical_name(logical));
    }
    text
}

fn logical_name(logical: &LogicalType) -> String {
    let zone = |utc: &bool| if *utc { ", UTC" } else { "" };
    match logical {
        LogicalType::Integer { bit_width, signed } => {
            format!("{}{bit_width}", if *signed { "Int" } else { "UInt" })
        }
        LogicalType::Decimal { precision, scale } => format!("Decimal({precision}, {scale})"),
        LogicalType::Time { unit, utc } => format!("Time({unit:?}{})", zone(utc)),
        LogicalType::Timestamp { unit, utc } => format!("Timestamp({unit:?}{})", zone(utc)),
        LogicalType::Variant { .. } => "Variant".into(),
        LogicalType::Geometry { .. } => "Geometry".into(),
        LogicalType::Geography { .. } => "Geography".into(),
        other => format!("{other:?}"),
    }
}
