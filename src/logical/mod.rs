//! What a Parquet column is in Arrow.
//!
//! Takes the schema tree and the footer's `ARROW:schema` hint; gives the Arrow schema, for each top-level field the
//! [`Shape`] by which it is assembled from its leaves, and for each leaf the [`Recipe`] by which physical values
//! become Arrow values. It knows nothing of pages, levels in a file, or buffers that grow.

mod array;
mod convert;
mod decimal;
mod flatbuffer;
mod flatbuffer_writer;
mod hint;
mod leaf;
mod metadata;
mod recipe;
mod store;
mod stored;
#[cfg(test)]
mod testing;
mod time;
mod tree;

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use crate::arrow::schema::{DataType, Field, FieldRef, Fields, Schema as Arrow, SchemaRef};
use crate::error::{Context, Error, Result};
use crate::metadata::{Repetition, Schema};
use stored::Stored;

#[allow(unused_imports)] // the column layer names them
pub(crate) use array::primitive_array;
#[allow(unused_imports)]
pub(crate) use array::{defaults, dictionary_array};
pub(crate) use recipe::{BytesConversion, BytesKernel, BytesTarget, Conversion, Kernel, Recipe};
#[allow(unused_imports)]
pub(crate) use store::stored_schema;

/// The key of the footer's key-value metadata under which Arrow writers leave their schema.
pub(crate) const ARROW_SCHEMA_KEY: &str = "ARROW:schema";
/// The key of a field's metadata that holds the field id of the Parquet schema.
pub(crate) const FIELD_ID_KEY: &str = "PARQUET:field_id";

/// One Arrow field and how it is assembled from leaves.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Column {
    /// Name, Arrow type, nullability and metadata.
    pub field: FieldRef,
    /// The schema node that it stands for. A repeated node without annotation stands for two: the list and its
    /// element.
    pub node: usize,
    pub shape: Shape,
}

/// How a column is assembled. Levels are those of the leaves below.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Leaf {
        leaf: usize,
    },
    Struct {
        children: Vec<Column>,
        /// Definition level at which the struct is present.
        def: u8,
    },
    /// The field's type says which: List, LargeList, FixedSizeList, ListView or LargeListView.
    List {
        child: Box<Column>,
        /// Definition level at which the list itself is not null.
        def: u8,
        /// Definition level at which there is an element, null or not.
        element_def: u8,
        /// Repetition level that adds an element to the list.
        rep: u8,
    },
    /// Levels as for a list, whose elements are the entries. A MAP group without values is a list of its keys.
    Map {
        keys: Box<Column>,
        values: Box<Column>,
        def: u8,
        element_def: u8,
        rep: u8,
    },
    /// These leaves cannot be read; the field's type is a placeholder. Asking for it is the error.
    Unsupported {
        leaves: Range<usize>,
        why: String,
    },
}

/// The Arrow schema of a whole file: one column for each top-level field that has a leaf.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ArrowSchema {
    pub schema: SchemaRef,
    pub columns: Vec<Column>,
}

/// The Arrow schema of a file. `key_values` are the footer's; all but the hint become the schema's metadata.
///
/// Infallible: a column that cannot be read is [`Shape::Unsupported`], and what a hint gets wrong is ignored. Groups
/// without leaves are left out, as Arrow writers leave them out.
pub(crate) fn arrow_schema<'a>(
    schema: &Schema,
    key_values: impl IntoIterator<Item = (&'a str, Option<&'a str>)> + Clone,
) -> ArrowSchema {
    let mut metadata = HashMap::new();
    for (key, value) in key_values.clone() {
        if key != ARROW_SCHEMA_KEY {
            metadata.entry(key.to_owned()).or_insert_with(|| value.unwrap_or_default().to_owned());
        }
    }
    let hint = hint(key_values);
    for (key, value) in hint.as_ref().map(Stored::metadata).unwrap_or_default() {
        metadata.entry(key).or_insert(value);
    }
    let columns: Vec<Column> = columns(schema, hint.as_ref(), &|_| true).collect();
    let fields: Fields = columns.iter().map(|column| column.field.clone()).collect();
    ArrowSchema { schema: Arc::new(Arrow::new_with_metadata(fields, metadata)), columns }
}

/// The columns of [`arrow_schema`], [`project`]ed: what nobody asked for costs next to nothing.
pub(crate) fn arrow_columns<'a>(
    schema: &Schema,
    key_values: impl IntoIterator<Item = (&'a str, Option<&'a str>)>,
    keep: &dyn Fn(usize) -> bool,
) -> Vec<Column> {
    columns(schema, hint(key_values).as_ref(), keep).filter_map(|column| project(&column, keep)).collect()
}

/// The writer's schema, where there is one that can be read.
fn hint<'a>(key_values: impl IntoIterator<Item = (&'a str, Option<&'a str>)>) -> Option<Stored> {
    let mut hints = key_values.into_iter().filter(|(key, _)| *key == ARROW_SCHEMA_KEY);
    hints.find_map(|(_, text)| Stored::new(text?).ok())
}

/// The columns of the top-level fields of which `keep` asks for a leaf.
fn columns<'a>(
    schema: &'a Schema,
    hint: Option<&'a Stored>,
    keep: &'a dyn Fn(usize) -> bool,
) -> impl Iterator<Item = Column> {
    schema.root().children().iter().enumerate().filter_map(move |(index, &node)| {
        let top = schema.node(node);
        if !top.leaves().any(keep) {
            return None;
        }
        let hint = hint.and_then(|hint| hint.field(index, &top.name));
        tree::column(schema, node, hint.as_ref())
    })
}

/// `column` with only the leaves that `keep` asks for; `None` where it asks for none of them.
///
/// A struct loses the children that nobody asked for. A map stays a map: its keys always come, and its values come
/// whole where only its keys were asked for. [`Column::leaves`] of the answer are the leaves to read.
pub(crate) fn project(column: &Column, keep: &dyn Fn(usize) -> bool) -> Option<Column> {
    let kept = match &column.shape {
        Shape::Leaf { leaf } => return keep(*leaf).then(|| column.clone()),
        Shape::Unsupported { leaves, .. } => {
            return leaves.clone().any(keep).then(|| column.clone());
        }
        Shape::Struct { children, def } => {
            let children: Vec<Column> = children.iter().filter_map(|child| project(child, keep)).collect();
            if children.is_empty() {
                return None;
            }
            Shape::Struct { children, def: *def }
        }
        &Shape::List { ref child, def, element_def, rep } => {
            Shape::List { child: Box::new(project(child, keep)?), def, element_def, rep }
        }
        &Shape::Map { ref keys, ref values, def, element_def, rep } => {
            let kept = project(values, keep);
            if kept.is_none() && project(keys, keep).is_none() {
                return None;
            }
            let values = kept.map_or_else(|| values.clone(), Box::new);
            Shape::Map { keys: keys.clone(), values, def, element_def, rep }
        }
    };
    Some(column.reshaped(kept))
}

/// `column` with the Arrow type that the user asked for, checked against what the file holds.
///
/// Leaves change as [`Recipe::new`] allows; lists change to lists of another kind, children one by one.
///
/// # Errors
/// When the type cannot be had from the column.
pub(crate) fn with_output_type(column: &Column, schema: &Schema, data_type: &DataType) -> Result<Column> {
    let refused = || {
        Error::invalid(format!(
            "{} cannot be read as {data_type} (it is {})",
            schema.path(column.node).join("."),
            column.field.data_type()
        ))
    };
    if column.field.data_type() == data_type {
        return Ok(column.clone());
    }
    let shape = match (&column.shape, data_type) {
        (Shape::Leaf { .. } | Shape::Unsupported { .. }, _) => return leaf_as(column, schema, data_type),
        (Shape::Struct { children, def }, DataType::Struct(fields)) if children.len() == fields.len() => {
            let children = children
                .iter()
                .zip(fields)
                .map(|(child, field)| match child.field.name() == field.name() {
                    true => with_output_type(child, schema, field.data_type()),
                    false => Err(refused()),
                })
                .collect::<Result<_>>()?;
            Shape::Struct { children, def: *def }
        }
        (&Shape::List { ref child, def, element_def, rep }, _) => {
            let item = list_item(data_type).ok_or_else(refused)?;
            let child = Box::new(with_output_type(child, schema, item.data_type())?);
            let data_type = list_like(data_type, &child.field);
            let field = column.field.as_ref().clone().with_data_type(data_type);
            let shape = Shape::List { child, def, element_def, rep };
            return Ok(Column { field: Arc::new(field), node: column.node, shape });
        }
        (&Shape::Map { ref keys, ref values, def, element_def, rep }, DataType::Map(entries, _)) => {
            let (key, value) = map_entries(entries).ok_or_else(refused)?;
            let keys = Box::new(with_output_type(keys, schema, key.data_type())?);
            let values = Box::new(with_output_type(values, schema, value.data_type())?);
            Shape::Map { keys, values, def, element_def, rep }
        }
        _ => return Err(refused()),
    };
    Ok(column.reshaped(shape))
}

/// A leaf, or what was none because its default type cannot be had, as `data_type`.
fn leaf_as(column: &Column, schema: &Schema, data_type: &DataType) -> Result<Column> {
    let node = schema.node(column.node);
    Recipe::new(node, data_type).in_column(|| schema.path(column.node).join("."))?;
    let nullable = column.field.is_nullable()
        && (node.repetition == Repetition::Optional || *data_type == DataType::Null);
    let field = metadata::without_extension(&column.field).with_data_type(data_type.clone());
    let shape = Shape::Leaf { leaf: node.leaves().start };
    Ok(Column { field: Arc::new(field.with_nullable(nullable)), node: column.node, shape })
}

/// `column` with what stands for schema node `node` replaced by what `f` makes of it; `None` where nothing does.
///
/// # Errors
/// Those of `f`.
pub(crate) fn replace(
    column: &Column,
    node: usize,
    f: &dyn Fn(&Column) -> Result<Column>,
) -> Result<Option<Column>> {
    if column.node == node {
        return f(column).map(Some);
    }
    let shape = match &column.shape {
        Shape::Leaf { .. } | Shape::Unsupported { .. } => return Ok(None),
        Shape::Struct { children, def } => {
            let mut found = false;
            let children = children.iter().map(|child| {
                let replaced = replace(child, node, f)?;
                found |= replaced.is_some();
                Ok(replaced.unwrap_or_else(|| child.clone()))
            });
            let children = children.collect::<Result<_>>()?;
            if !found {
                return Ok(None);
            }
            Shape::Struct { children, def: *def }
        }
        &Shape::List { ref child, def, element_def, rep } => match replace(child, node, f)? {
            Some(child) => Shape::List { child: Box::new(child), def, element_def, rep },
            None => return Ok(None),
        },
        &Shape::Map { ref keys, ref values, def, element_def, rep } => {
            let (new_keys, new_values) = (replace(keys, node, f)?, replace(values, node, f)?);
            if new_keys.is_none() && new_values.is_none() {
                return Ok(None);
            }
            let or = |new: Option<Column>, old: &Column| Box::new(new.unwrap_or_else(|| old.clone()));
            Shape::Map { keys: or(new_keys, keys), values: or(new_values, values), def, element_def, rep }
        }
    };
    Ok(Some(column.reshaped(shape)))
}

impl Column {
    /// Which leaf it is, if it is one.
    pub(crate) fn as_leaf(&self) -> Option<usize> {
        match self.shape {
            Shape::Leaf { leaf } => Some(leaf),
            _ => None,
        }
    }

    /// The leaves below it, in file order.
    pub(crate) fn leaves(&self) -> Vec<usize> {
        let mut leaves = Vec::new();
        self.visit(&mut |column| match &column.shape {
            Shape::Leaf { leaf } => leaves.push(*leaf),
            Shape::Unsupported { leaves: range, .. } => leaves.extend(range.clone()),
            _ => {}
        });
        leaves
    }

    /// The error of asking for it, where a part of it cannot be read.
    pub(crate) fn check_supported(&self, schema: &Schema) -> Result<()> {
        let mut result = Ok(());
        self.visit(&mut |column| {
            if let (Shape::Unsupported { why, .. }, Ok(())) = (&column.shape, &result) {
                result =
                    Err(Error::unsupported(why.clone())).in_column(|| schema.path(column.node).join("."));
            }
        });
        result
    }

    /// Calls `f` with it and all that lies below, depth first.
    pub(crate) fn visit(&self, f: &mut dyn FnMut(&Column)) {
        f(self);
        match &self.shape {
            Shape::Leaf { .. } | Shape::Unsupported { .. } => {}
            Shape::Struct { children, .. } => children.iter().for_each(|child| child.visit(f)),
            Shape::List { child, .. } => child.visit(f),
            Shape::Map { keys, values, .. } => {
                keys.visit(f);
                values.visit(f);
            }
        }
    }

    /// It with another shape of the same kind: the field's type follows the children.
    fn reshaped(&self, shape: Shape) -> Column {
        let data_type = match (&shape, self.field.data_type()) {
            (Shape::Struct { children, .. }, _) => {
                DataType::Struct(children.iter().map(|child| child.field.clone()).collect())
            }
            (Shape::List { child, .. }, list) => list_like(list, &child.field),
            (Shape::Map { keys, values, .. }, DataType::Map(entries, sorted)) => {
                let fields = Fields::from(vec![keys.field.clone(), values.field.clone()]);
                let entries = entries.as_ref().clone().with_data_type(DataType::Struct(fields));
                DataType::Map(Arc::new(entries), *sorted)
            }
            (_, other) => other.clone(),
        };
        let field = self.field.as_ref().clone().with_data_type(data_type);
        Column { field: Arc::new(field), node: self.node, shape }
    }
}

/// The field of a list's items, of any kind of list.
fn list_item(data_type: &DataType) -> Option<&FieldRef> {
    match data_type {
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::FixedSizeList(item, _)
        | DataType::ListView(item)
        | DataType::LargeListView(item) => Some(item),
        _ => None,
    }
}

/// A list of the same kind as `kind`, of other items.
fn list_like(kind: &DataType, item: &FieldRef) -> DataType {
    let item = item.clone();
    match kind {
        DataType::LargeList(_) => DataType::LargeList(item),
        DataType::FixedSizeList(_, len) => DataType::FixedSizeList(item, *len),
        DataType::ListView(_) => DataType::ListView(item),
        DataType::LargeListView(_) => DataType::LargeListView(item),
        _ => DataType::List(item),
    }
}

/// Key and value of a map's entries.
fn map_entries(entries: &Field) -> Option<(&FieldRef, &FieldRef)> {
    match entries.data_type() {
        DataType::Struct(fields) => match fields.as_ref() {
            [key, value] => Some((key, value)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::testing::{Element, fixed, group, leaf};
    use super::*;
    use crate::metadata::LogicalType;
    use crate::metadata::PhysicalType::{ByteArray, Int32, Int64};
    use crate::metadata::Repetition::{Optional, Repeated, Required};

    /// id: int32, s: struct of a, b and a list c of ints, m: map of text to struct of d and e.
    fn example() -> Schema {
        let text = |repetition, name| leaf(repetition, name, ByteArray).logical(LogicalType::String);
        let list = |name, element: Element| {
            group(Optional, name, vec![group(Repeated, "list", vec![element])]).logical(LogicalType::List)
        };
        let value = group(Optional, "value", vec![leaf(Optional, "d", Int32), leaf(Optional, "e", Int64)]);
        let entries = group(Repeated, "key_value", vec![text(Required, "key"), value]);
        testing::schema(vec![
            leaf(Required, "id", Int32),
            group(
                Optional,
                "s",
                vec![
                    leaf(Optional, "a", Int32),
                    text(Optional, "b"),
                    list("c", leaf(Optional, "element", Int64)),
                ],
            ),
            group(Optional, "m", vec![entries]).logical(LogicalType::Map),
        ])
    }

    fn columns(schema: &Schema) -> Vec<Column> {
        arrow_schema(schema, []).columns
    }

    #[test]
    fn the_schema_has_a_field_a_column_and_the_metadata_of_the_footer() {
        let schema = example();
        let key_values =
            [("a", Some("1")), (ARROW_SCHEMA_KEY, Some("not base64!")), ("b", None), ("a", Some("2"))];
        let arrow = arrow_schema(&schema, key_values);
        assert_eq!(arrow.columns.len(), 3);
        for (field, column) in arrow.schema.fields().iter().zip(&arrow.columns) {
            assert_eq!(*field, column.field);
        }
        let metadata = arrow.schema.metadata();
        assert_eq!(metadata.get("a").map(String::as_str), Some("1"));
        assert_eq!(metadata.get("b").map(String::as_str), Some(""));
        assert_eq!(metadata.len(), 2);
        assert_eq!(arrow.columns[1].leaves(), [1, 2, 3]);
        assert_eq!(arrow.columns[2].leaves(), [4, 5, 6]);
    }

    #[test]
    fn projects_children_of_structs_and_drops_what_is_left_empty() {
        let columns = columns(&example());
        assert_eq!(project(&columns[0], &|leaf| leaf == 0), Some(columns[0].clone()));
        assert_eq!(project(&columns[0], &|leaf| leaf == 1), None);
        assert_eq!(project(&columns[1], &|_| true), Some(columns[1].clone()));
        assert_eq!(project(&columns[1], &|_| false), None);
        let kept = project(&columns[1], &|leaf| leaf == 3).unwrap();
        assert_eq!(kept.leaves(), [3]);
        let DataType::Struct(fields) = kept.field.data_type() else { panic!() };
        assert_eq!(fields.iter().map(|field| field.name().as_str()).collect::<Vec<_>>(), ["c"]);
        assert!(kept.field.is_nullable());
    }

    #[test]
    fn a_map_keeps_its_keys_and_some_of_its_values() {
        let columns = columns(&example());
        let kept = project(&columns[2], &|leaf| leaf == 6).unwrap();
        assert_eq!(kept.leaves(), [4, 6]);
        let kept = project(&columns[2], &|leaf| leaf == 4).unwrap();
        assert_eq!(kept, columns[2]);
        assert_eq!(project(&columns[2], &|leaf| leaf == 0), None);
    }

    #[test]
    fn output_types_are_checked() {
        let schema = example();
        let columns = columns(&schema);
        let wide = with_output_type(&columns[0], &schema, &DataType::Int64).unwrap();
        assert_eq!(*wide.field, Field::new("id", DataType::Int64, false));
        assert_eq!(wide.shape, columns[0].shape);
        let error = with_output_type(&columns[0], &schema, &DataType::Utf8).unwrap_err();
        assert_eq!(error.to_string(), "INT32 cannot be read as Utf8 (column id)");
        let error = with_output_type(&columns[1], &schema, &DataType::Int32).unwrap_err();
        assert!(error.to_string().starts_with("s cannot be read as Int32"));
    }

    #[test]
    fn output_types_reach_into_nested_columns() {
        let schema = example();
        let columns = columns(&schema);
        let item = Arc::new(Field::new("item", DataType::Int32, true));
        let wanted = DataType::Struct(Fields::from(vec![
            Field::new("a", DataType::Int64, true),
            Field::new("b", DataType::Utf8View, true),
            Field::new("c", DataType::LargeList(item), true),
        ]));
        let column = with_output_type(&columns[1], &schema, &wanted).unwrap();
        let DataType::Struct(fields) = column.field.data_type() else { panic!() };
        assert_eq!(fields[0].data_type(), &DataType::Int64);
        assert_eq!(fields[1].data_type(), &DataType::Utf8View);
        // The item's name and nullability stay the file's.
        let item = Arc::new(Field::new("element", DataType::Int32, true));
        assert_eq!(fields[2].data_type(), &DataType::LargeList(item));
        let Shape::Struct { children, .. } = &column.shape else { panic!() };
        assert_eq!(&children[2].field, &fields[2]);
        let entries = map_of(DataType::LargeUtf8, fields[0].data_type().clone());
        assert!(with_output_type(&columns[2], &schema, &entries).is_err());
    }

    fn map_of(key: DataType, value: DataType) -> DataType {
        let fields = Fields::from(vec![Field::new("k", key, false), Field::new("v", value, true)]);
        DataType::Map(Arc::new(Field::new("e", DataType::Struct(fields), false)), false)
    }

    #[test]
    fn an_output_type_can_save_a_column() {
        let decimal = fixed(Required, "d", 40).logical(LogicalType::Decimal { precision: 90, scale: 0 });
        let schema = testing::schema(vec![decimal, leaf(Required, "x", Int32)]);
        let columns = columns(&schema);
        let error = columns[0].check_supported(&schema).unwrap_err();
        assert!(error.to_string().contains("precision 90"), "{error}");
        assert_eq!(error.place().column.as_deref(), Some("d"));
        assert!(columns[1].check_supported(&schema).is_ok());
        let column = with_output_type(&columns[0], &schema, &DataType::FixedSizeBinary(40)).unwrap();
        assert_eq!(*column.field, Field::new("d", DataType::FixedSizeBinary(40), false));
        assert!(column.check_supported(&schema).is_ok());
        assert!(with_output_type(&columns[0], &schema, &DataType::Decimal256(76, 0)).is_err());
    }
}
