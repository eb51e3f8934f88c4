//! The schema tree as Arrow columns: lists, maps and structs out of groups and repeated nodes.
//!
//! Follows LogicalTypes.md, section Nested Types, with its backward-compatibility rules. A LIST or MAP group that is
//! not built as the section says is a struct: its annotation does not belong there.

use std::sync::Arc;

use super::hint::{Hints, list_kind, refine};
use super::leaf::Meaning;
use super::metadata::{field_id, file_metadata, merge, without_field_id};
use super::{Column, Shape, list_item, map_entries};
use crate::arrow::schema::{DataType, Field, Fields};
use crate::metadata::{LogicalType, NodeKind, Repetition, Schema, SchemaNode};

/// Groups nested deeper than this are not read. Arrow's own functions over types recurse.
const MAX_DEPTH: usize = 128;

/// The column of top-level node `index`; `None` where no leaf lies below. `hint` is the field that the writer had.
pub(super) fn column(schema: &Schema, index: usize, hint: Option<&Field>) -> Option<Column> {
    Tree { schema }.column(index, hint, 1)
}

struct Tree<'a> {
    schema: &'a Schema,
}

impl Tree<'_> {
    fn children(&self, group: &SchemaNode, hint: Option<&Fields>, depth: usize) -> Vec<Column> {
        let hints = Hints::new(hint);
        let nodes = group.children().iter().enumerate();
        nodes
            .filter_map(|(i, &node)| {
                self.column(node, hints.field(i, &self.schema.node(node).name), depth + 1)
            })
            .collect()
    }

    /// The column of a node as it stands, its repetition included; `None` where no leaf lies below.
    fn column(&self, index: usize, hint: Option<&Field>, depth: usize) -> Option<Column> {
        let node = self.schema.node(index);
        match node.repetition {
            Repetition::Repeated => self.repeated(index, hint, depth),
            _ => self.element(index, hint, node.repetition == Repetition::Optional, depth),
        }
    }

    /// A repeated node outside of LIST and MAP: a required list of required elements, both under its name.
    fn repeated(&self, index: usize, hint: Option<&Field>, depth: usize) -> Option<Column> {
        let node = self.schema.node(index);
        let hint = hint.filter(|hint| list_item(hint.data_type()).is_some());
        let item_hint = hint.and_then(|hint| list_item(hint.data_type()));
        let child = self.element(index, item_hint.map(AsRef::as_ref), false, depth)?;
        // The field id is the list's, of which the file has one; the extension type is the element's.
        let child = Column { field: Arc::new(without_field_id(&child.field)), ..child };
        let data_type = list_kind(hint, &child.field);
        let metadata = merge(field_id(node), hint, true);
        let field = Field::new(&node.name, data_type, false).with_metadata(metadata);
        let shape = Shape::List {
            child: Box::new(child),
            def: self.schema.node(node.parent).definition_level,
            element_def: node.definition_level,
            rep: node.repetition_level,
        };
        Some(Column { field: Arc::new(field), node: index, shape })
    }

    /// The column of one value of a node, its repetition left aside.
    fn element(&self, index: usize, hint: Option<&Field>, nullable: bool, depth: usize) -> Option<Column> {
        let node = self.schema.node(index);
        if depth > MAX_DEPTH {
            let why = format!("groups nested more than {MAX_DEPTH} deep");
            return unsupported(index, node, why);
        }
        match (&node.kind, &node.logical) {
            (NodeKind::Leaf { .. }, _) => self.leaf(index, hint, nullable),
            (NodeKind::Group { .. }, Some(LogicalType::List)) => match self.single_repeated(node) {
                Some(repeated) => self.list(index, repeated, hint, nullable, depth),
                None => self.group(index, hint, nullable, depth),
            },
            (NodeKind::Group { .. }, Some(LogicalType::Map)) => match self.single_repeated(node) {
                Some(repeated) => self.map(index, repeated, hint, nullable, depth),
                None => self.group(index, hint, nullable, depth),
            },
            (NodeKind::Group { .. }, _) => self.group(index, hint, nullable, depth),
        }
    }

    fn leaf(&self, index: usize, hint: Option<&Field>, nullable: bool) -> Option<Column> {
        let node = self.schema.node(index);
        let meaning = match Meaning::of(node) {
            Ok(meaning) => meaning,
            Err(error) => return unsupported(index, node, error.kind().to_string()),
        };
        let data_type =
            hint.map_or_else(|| meaning.data_type(), |hint| refine(node, meaning, hint.data_type()));
        let same = hint.is_some_and(|hint| *hint.data_type() == data_type);
        let metadata = merge(file_metadata(node), hint, same);
        // A column of nulls has nulls, whatever its repetition.
        let nullable = nullable || data_type == DataType::Null;
        let ordered = hint.and_then(Field::dict_is_ordered).unwrap_or(false);
        let field = Field::new(&node.name, data_type, nullable).with_metadata(metadata);
        // No effect but on dictionaries.
        let field = field.with_dict_is_ordered(ordered);
        let shape = Shape::Leaf { leaf: node.leaves().start };
        Some(Column { field: Arc::new(field), node: index, shape })
    }

    fn group(&self, index: usize, hint: Option<&Field>, nullable: bool, depth: usize) -> Option<Column> {
        let node = self.schema.node(index);
        let hinted = match hint.map(Field::data_type) {
            Some(DataType::Struct(fields)) => Some(fields),
            _ => None,
        };
        let children = self.children(node, hinted, depth);
        if children.is_empty() {
            return None;
        }
        let data_type = DataType::Struct(children.iter().map(|child| child.field.clone()).collect());
        let metadata = merge(file_metadata(node), hint, hinted.is_some());
        let field = Field::new(&node.name, data_type, nullable).with_metadata(metadata);
        let shape = Shape::Struct { children, def: node.definition_level };
        Some(Column { field: Arc::new(field), node: index, shape })
    }

    /// A LIST group over its one repeated child.
    fn list(
        &self,
        index: usize,
        repeated: usize,
        hint: Option<&Field>,
        nullable: bool,
        depth: usize,
    ) -> Option<Column> {
        let (node, repeated_node) = (self.schema.node(index), self.schema.node(repeated));
        let item_hint = hint.and_then(|hint| list_item(hint.data_type()));
        let item = item_hint.map(AsRef::as_ref);
        let child = match self.list_element(node, repeated_node) {
            Some(element) => self.column(element, item, depth + 2)?,
            None => self.element(repeated, item, false, depth + 1)?,
        };
        Some(list_column(node, repeated_node, index, nullable, hint, child))
    }

    /// The node below `repeated` that is the element of a three-level list (rule 5); `None` where `repeated` itself is
    /// the element (rules 1 to 4).
    fn list_element(&self, list: &SchemaNode, repeated: &SchemaNode) -> Option<usize> {
        let &[only] = repeated.children() else { return None };
        let is_element = self.schema.node(only).repetition == Repetition::Repeated
            || repeated.name == "array"
            || repeated.name.strip_suffix("_tuple") == Some(list.name.as_str());
        (!is_element).then_some(only)
    }

    /// A MAP group over its one repeated child. Without values it is a list of its keys.
    fn map(
        &self,
        index: usize,
        repeated: usize,
        hint: Option<&Field>,
        nullable: bool,
        depth: usize,
    ) -> Option<Column> {
        let (node, entries) = (self.schema.node(index), self.schema.node(repeated));
        let (key, value) = match *entries.children() {
            [_] => return self.list(index, repeated, hint, nullable, depth),
            [key, value] => (key, value),
            _ => return self.group(index, hint, nullable, depth),
        };
        let hinted = match hint.map(Field::data_type) {
            Some(DataType::Map(entries, sorted)) => map_entries(entries).map(|pair| (pair, *sorted)),
            _ => None,
        };
        let keys = self.column(key, hinted.map(|((key, _), _)| key.as_ref()), depth + 2);
        let values = self.column(value, hinted.map(|((_, value), _)| value.as_ref()), depth + 2);
        let (keys, values) = match (keys, values) {
            (Some(keys), Some(values)) => (keys, values),
            // The other one is a group without leaves: a list of what is left, as without values.
            (left, right) => return Some(list_column(node, entries, index, nullable, hint, left.or(right)?)),
        };
        // Arrow's keys are never null. A file may declare them optional; a null among them is an error then.
        let key_field = keys.field.as_ref().clone().with_nullable(false);
        let keys = Column { field: Arc::new(key_field), ..keys };
        let fields = Fields::from(vec![keys.field.clone(), values.field.clone()]);
        let entry_field = Field::new(&entries.name, DataType::Struct(fields), false);
        let data_type = DataType::Map(Arc::new(entry_field), hinted.is_some_and(|(_, sorted)| sorted));
        let metadata = merge(field_id(node), hint, hinted.is_some());
        let field = Field::new(&node.name, data_type, nullable).with_metadata(metadata);
        let shape = Shape::Map {
            keys: Box::new(keys),
            values: Box::new(values),
            def: node.definition_level,
            element_def: entries.definition_level,
            rep: entries.repetition_level,
        };
        Some(Column { field: Arc::new(field), node: index, shape })
    }

    /// The one child of `group`, if it is repeated.
    fn single_repeated(&self, group: &SchemaNode) -> Option<usize> {
        let &[only] = group.children() else { return None };
        (self.schema.node(only).repetition == Repetition::Repeated).then_some(only)
    }
}

/// A LIST (or MAP) group `list` over its repeated child, as a list of `child`.
fn list_column(
    list: &SchemaNode,
    repeated: &SchemaNode,
    index: usize,
    nullable: bool,
    hint: Option<&Field>,
    child: Column,
) -> Column {
    let hint = hint.filter(|hint| list_item(hint.data_type()).is_some());
    let metadata = merge(field_id(list), hint, true);
    let field = Field::new(&list.name, list_kind(hint, &child.field), nullable).with_metadata(metadata);
    let shape = Shape::List {
        child: Box::new(child),
        def: list.definition_level,
        element_def: repeated.definition_level,
        rep: repeated.repetition_level,
    };
    Column { field: Arc::new(field), node: index, shape }
}

/// A placeholder for what cannot be read; `None` where no leaf lies below.
fn unsupported(index: usize, node: &SchemaNode, why: String) -> Option<Column> {
    let leaves = node.leaves();
    if leaves.is_empty() {
        return None;
    }
    let field = Field::new(&node.name, DataType::Null, true).with_metadata(field_id(node));
    Some(Column { field: Arc::new(field), node: index, shape: Shape::Unsupported { leaves, why } })
}

#[cfg(test)]
mod tests {
    use super::super::FIELD_ID_KEY;
    use super::super::testing::{Element, fixed, group, leaf, schema};
    use super::*;
    use crate::metadata::PhysicalType::{ByteArray, Int32};
    use crate::metadata::Repetition::{Optional, Repeated, Required};

    fn list(repetition: Repetition, name: &str, child: Element) -> Element {
        group(repetition, name, vec![child]).logical(LogicalType::List)
    }

    fn map(repetition: Repetition, name: &str, entries: Element) -> Element {
        group(repetition, name, vec![entries]).logical(LogicalType::Map)
    }

    fn text(repetition: Repetition, name: &str) -> Element {
        leaf(repetition, name, ByteArray).logical(LogicalType::String)
    }

    fn int(repetition: Repetition, name: &str) -> Element {
        leaf(repetition, name, Int32)
    }

    fn column(element: Element) -> Column {
        super::column(&schema(vec![element]), 1, None).unwrap()
    }

    fn columns(schema: &Schema) -> Vec<Column> {
        schema.root().children().iter().filter_map(|&node| super::column(schema, node, None)).collect()
    }

    /// A column as text: `name: type`, `?` where it may be null, and the levels `@def` or `@def/element_def/rep`.
    fn show(column: &Column) -> String {
        let inner = match &column.shape {
            Shape::Leaf { .. } => column.field.data_type().to_string(),
            Shape::Unsupported { leaves, .. } => format!("unsupported{leaves:?}"),
            Shape::Struct { children, def } => {
                let children: Vec<_> = children.iter().map(show).collect();
                format!("{{{}}}@{def}", children.join(", "))
            }
            Shape::List { child, def, element_def, rep } => {
                format!("[{}]@{def}/{element_def}/{rep}", show(child))
            }
            Shape::Map { keys, values, def, element_def, rep } => {
                format!("map[{}, {}]@{def}/{element_def}/{rep}", show(keys), show(values))
            }
        };
        format!("{}: {inner}{}", column.field.name(), if column.field.is_nullable() { "?" } else { "" })
    }

    #[test]
    fn three_level_lists() {
        let l = list(Optional, "l", group(Repeated, "list", vec![text(Optional, "element")]));
        assert_eq!(show(&column(l)), "l: [element: Utf8?]@1/2/1?");
        let l = list(Required, "l", group(Repeated, "list", vec![text(Required, "element")]));
        assert_eq!(show(&column(l)), "l: [element: Utf8]@0/1/1");
        let inner = list(Required, "element", group(Repeated, "list", vec![int(Required, "element")]));
        let l = list(Optional, "l", group(Repeated, "list", vec![inner]));
        assert_eq!(show(&column(l)), "l: [element: [element: Int32]@2/3/2]@1/2/1?");
    }

    /// The examples of LogicalTypes.md, Lists, Backward-compatibility rules.
    #[test]
    fn two_level_lists() {
        let table = [
            (list(Optional, "my_list", int(Repeated, "element")), "my_list: [element: Int32]@1/2/1?"),
            (
                list(
                    Optional,
                    "my_list",
                    group(Repeated, "element", vec![text(Required, "str"), int(Required, "num")]),
                ),
                "my_list: [element: {str: Utf8, num: Int32}@2]@1/2/1?",
            ),
            (
                list(Optional, "my_list", list(Repeated, "array", int(Repeated, "array"))),
                "my_list: [array: [array: Int32]@2/3/2]@1/2/1?",
            ),
            (
                list(Optional, "my_list", group(Repeated, "array", vec![text(Required, "str")])),
                "my_list: [array: {str: Utf8}@2]@1/2/1?",
            ),
            (
                list(Optional, "my_list", group(Repeated, "my_list_tuple", vec![text(Required, "str")])),
                "my_list: [my_list_tuple: {str: Utf8}@2]@1/2/1?",
            ),
            (
                list(Optional, "my_list", group(Repeated, "element", vec![text(Optional, "str")])),
                "my_list: [str: Utf8?]@1/2/1?",
            ),
            (
                list(Optional, "my_list", group(Repeated, "other_tuple", vec![text(Optional, "str")])),
                "my_list: [str: Utf8?]@1/2/1?",
            ),
            // Rule 3 without an annotation: the element is a struct of one list.
            (
                list(Optional, "my_list", group(Repeated, "element", vec![int(Repeated, "num")])),
                "my_list: [element: {num: [num: Int32]@2/3/2}@2]@1/2/1?",
            ),
            // Rule 3 with a map inside.
            (
                list(
                    Required,
                    "my_list",
                    map(
                        Repeated,
                        "array",
                        group(Repeated, "key_value", vec![int(Required, "k"), int(Optional, "v")]),
                    ),
                ),
                "my_list: [array: map[k: Int32, v: Int32?]@1/2/2]@0/1/1",
            ),
        ];
        for (element, expected) in table {
            assert_eq!(show(&column(element)), expected);
        }
    }

    #[test]
    fn repeated_nodes_without_annotation() {
        assert_eq!(show(&column(int(Repeated, "num"))), "num: [num: Int32]@0/1/1");
        let tuple = group(Repeated, "t", vec![int(Required, "num"), text(Optional, "str")]);
        assert_eq!(show(&column(tuple)), "t: [t: {num: Int32, str: Utf8?}@1]@0/1/1");
        let inside = group(Optional, "o", vec![group(Repeated, "t", vec![int(Repeated, "num")])]);
        assert_eq!(show(&column(inside)), "o: {t: [t: {num: [num: Int32]@2/3/2}@2]@1/2/1}@1?");
        // A repeated LIST group outside of another one.
        let twice = list(Repeated, "l", group(Repeated, "list", vec![int(Optional, "element")]));
        assert_eq!(show(&column(twice)), "l: [l: [element: Int32?]@1/2/2]@0/1/1");
    }

    #[test]
    fn maps_of_all_ages() {
        let entries = |name| group(Repeated, name, vec![text(Required, "key"), int(Optional, "value")]);
        let expected = "m: map[key: Utf8, value: Int32?]@1/2/1?";
        assert_eq!(show(&column(map(Optional, "m", entries("key_value")))), expected);
        // MAP_KEY_VALUE on the entries too.
        assert_eq!(show(&column(map(Optional, "m", entries("map").logical(LogicalType::Map)))), expected);
        let m = column(map(Required, "m", entries("map")));
        let DataType::Map(entries, false) = m.field.data_type() else { panic!() };
        assert_eq!((entries.name().as_str(), entries.is_nullable()), ("map", false));
        assert_eq!(show(&m), "m: map[key: Utf8, value: Int32?]@0/1/1");
    }

    #[test]
    fn keys_of_a_map_are_never_null_in_arrow() {
        let entries = group(Repeated, "map", vec![text(Optional, "key"), int(Required, "value")]);
        let m = column(map(Optional, "m", entries));
        assert_eq!(show(&m), "m: map[key: Utf8, value: Int32]@1/2/1?");
    }

    #[test]
    fn a_map_without_values_is_a_list_of_its_keys() {
        let m = map(Optional, "m", group(Repeated, "key_value", vec![text(Required, "key")]));
        assert_eq!(show(&column(m)), "m: [key: Utf8]@1/2/1?");
        let empty = group(Optional, "value", vec![]);
        let m = map(Optional, "m", group(Repeated, "key_value", vec![text(Required, "key"), empty]));
        assert_eq!(show(&column(m)), "m: [key: Utf8]@1/2/1?");
    }

    #[test]
    fn annotations_of_groups_that_are_built_otherwise_are_ignored() {
        let table = [
            (list(Optional, "l", int(Optional, "x")), "l: {x: Int32?}@1?"),
            (
                group(Optional, "l", vec![int(Repeated, "x"), int(Repeated, "y")]).logical(LogicalType::List),
                "l: {x: [x: Int32]@1/2/1, y: [y: Int32]@1/2/1}@1?",
            ),
            (map(Optional, "m", int(Repeated, "x")), "m: {x: [x: Int32]@1/2/1}@1?"),
            (
                map(
                    Required,
                    "m",
                    group(Repeated, "e", vec![int(Required, "a"), int(Required, "b"), int(Required, "c")]),
                ),
                "m: {e: [e: {a: Int32, b: Int32, c: Int32}@1]@0/1/1}@0",
            ),
            (group(Optional, "g", vec![int(Required, "x")]).logical(LogicalType::String), "g: {x: Int32}@1?"),
        ];
        for (element, expected) in table {
            assert_eq!(show(&column(element)), expected);
        }
    }

    #[test]
    fn groups_without_leaves_are_left_out() {
        let empty = |name| group(Optional, name, vec![]);
        let fields = vec![
            empty("a"),
            group(Optional, "b", vec![empty("c"), int(Optional, "d")]),
            list(Optional, "e", group(Repeated, "list", vec![empty("element")])),
            list(Optional, "f", group(Repeated, "list", vec![])),
            map(Optional, "g", group(Repeated, "kv", vec![empty("key"), empty("value")])),
        ];
        let columns = columns(&schema(fields));
        assert_eq!(columns.iter().map(show).collect::<Vec<_>>(), ["b: {d: Int32?}@1?"]);
    }

    #[test]
    fn one_leaf_that_cannot_be_read_harms_no_other() {
        let decimal =
            leaf(Optional, "d", ByteArray).logical(LogicalType::Decimal { precision: 77, scale: 0 });
        let fields = vec![group(Optional, "g", vec![int(Required, "x"), decimal]), fixed(Required, "f", 0)];
        let columns = columns(&schema(fields));
        let shown: Vec<_> = columns.iter().map(show).collect();
        assert_eq!(shown, ["g: {x: Int32, d: unsupported1..2?}@1?", "f: unsupported2..3?"]);
    }

    #[test]
    fn nesting_has_a_limit_and_costs_no_more_than_its_nodes() {
        let mut deep = int(Required, "x");
        for _ in 0..1_000 {
            deep = group(Required, "g", vec![deep]);
        }
        let columns = columns(&schema(vec![int(Required, "y"), deep]));
        assert_eq!(show(&columns[0]), "y: Int32");
        assert!(show(&columns[1]).contains("unsupported1..2?"));

        // Maps of maps whose values are empty: each level is looked at once, not twice.
        let mut m = int(Required, "key");
        for _ in 0..60 {
            m = map(Required, "key", group(Repeated, "kv", vec![m, group(Required, "value", vec![])]));
        }
        assert!(show(&column(m)).starts_with("key: [key: [key: ["));
    }

    #[test]
    fn field_ids_and_extensions_are_metadata_of_the_field_they_belong_to() {
        let json = leaf(Repeated, "j", ByteArray).logical(LogicalType::Json).id(4);
        let l = column(json);
        assert_eq!(l.field.metadata().get(FIELD_ID_KEY).map(String::as_str), Some("4"));
        let item = list_item(l.field.data_type()).unwrap();
        assert_eq!(item.metadata().get(FIELD_ID_KEY), None);
        assert_eq!(item.extension_type_name(), Some("arrow.json"));
        let element = fixed(Optional, "element", 16).logical(LogicalType::Uuid).id(6);
        let l = column(list(Optional, "l", group(Repeated, "list", vec![element])).id(5));
        let item = list_item(l.field.data_type()).unwrap();
        assert_eq!(l.field.metadata().get(FIELD_ID_KEY).map(String::as_str), Some("5"));
        assert_eq!(item.metadata().get(FIELD_ID_KEY).map(String::as_str), Some("6"));
        assert_eq!(item.extension_type_name(), Some("arrow.uuid"));
        let variant = group(
            Optional,
            "v",
            vec![leaf(Required, "metadata", ByteArray), leaf(Required, "value", ByteArray)],
        )
        .logical(LogicalType::Variant { specification_version: Some(1) });
        assert_eq!(column(variant).field.extension_type_name(), Some("arrow.parquet.variant"));
    }

    #[test]
    fn columns_of_nulls_are_nullable() {
        let null = leaf(Required, "n", Int32).logical(LogicalType::Unknown);
        assert_eq!(show(&column(null)), "n: Null?");
    }
}
