//! The footer's flat list of schema elements, made a tree and back.
//!
//! The list lies where it likes: counts of children that are negative or more than there are, elements left over,
//! no repetition. What can be read one way only is read; the rest is an error.

use super::annotation::{from_converted, read_logical, to_converted, write_logical};
use super::{LogicalType, MetadataLimits, NodeKind, PhysicalType, Repetition, Schema, SchemaNode};
use crate::error::{Error, ErrorKind, Result};
use crate::thrift::{Reader, StructWriter, required};

/// Reads `num_elements` schema elements into a tree.
///
/// # Errors
/// When the counts of children do not add up to one tree, a leaf's width is negative or missing, a repetition is
/// unknown, or the tree passes `limits`.
pub(super) fn read_schema(
    reader: &mut Reader<'_>,
    num_elements: usize,
    limits: &MetadataLimits,
) -> Result<Schema> {
    if num_elements > limits.max_schema_nodes {
        return Err(limit("schema elements", limits.max_schema_nodes, num_elements));
    }
    let mut tree = Tree::default();
    for left in (0..num_elements).rev() {
        tree.push(read_element(reader)?, left, limits)?;
    }
    tree.finish()
}

/// The tree of `elements`, as [`read_schema`] makes it.
pub(super) fn build_schema(elements: Vec<Element>, limits: &MetadataLimits) -> Result<Schema> {
    let mut tree = Tree::default();
    for (left, element) in (0..elements.len()).rev().zip(elements) {
        tree.push(element, left, limits)?;
    }
    tree.finish()
}

/// Writes the elements of `schema`, root first.
pub(super) fn write_schema(s: &mut StructWriter<'_>, id: i16, schema: &Schema) {
    s.structs(id, schema.nodes.iter().enumerate(), |s, (index, node)| write_element(s, node, index == 0));
}

/// `SchemaElement` of `parquet.thrift`, as it comes.
#[derive(Debug, Default)]
pub(super) struct Element {
    pub(super) physical: Option<i32>,
    pub(super) type_length: Option<i32>,
    pub(super) repetition: Option<i32>,
    pub(super) name: Option<String>,
    pub(super) num_children: Option<i32>,
    pub(super) converted: Option<i32>,
    pub(super) scale: Option<i32>,
    pub(super) precision: Option<i32>,
    pub(super) field_id: Option<i32>,
    pub(super) logical: Option<LogicalType>,
    /// Whether there is a `logicalType`, of whatever kind.
    pub(super) is_annotated: bool,
}

fn read_element(reader: &mut Reader<'_>) -> Result<Element> {
    let mut element = Element::default();
    reader.structure(|r, field| {
        match field.id {
            1 => element.physical = r.i32(field)?,
            2 => element.type_length = r.i32(field)?,
            3 => element.repetition = r.i32(field)?,
            4 => element.name = r.string(field)?,
            5 => element.num_children = r.i32(field)?,
            6 => element.converted = r.i32(field)?,
            7 => element.scale = r.i32(field)?,
            8 => element.precision = r.i32(field)?,
            9 => element.field_id = r.i32(field)?,
            10 => {
                element.is_annotated = true;
                element.logical = read_logical(r, field)?;
            }
            _ => r.skip(field)?,
        }
        Ok(())
    })?;
    Ok(element)
}

/// The tree so far, and the groups on the way down to where it grows.
#[derive(Default)]
struct Tree {
    schema: Schema,
    open: Vec<OpenGroup>,
}

struct OpenGroup {
    node: usize,
    children_left: usize,
}

impl Tree {
    /// Adds the next element; `left` more come after it.
    fn push(&mut self, element: Element, left: usize, limits: &MetadataLimits) -> Result<()> {
        let index = self.schema.nodes.len();
        self.add(element, index, left, limits).map_err(|error| match error.kind() {
            ErrorKind::Malformed(what) => Error::malformed(format!("schema element {index}: {what}")),
            _ => error,
        })
    }

    fn add(&mut self, element: Element, index: usize, left: usize, limits: &MetadataLimits) -> Result<()> {
        self.close_full_groups();
        let kind = self.kind(&element, index)?;
        let num_children = children(&element, left)?;
        let node = match self.open.last_mut() {
            Some(group) => {
                group.children_left -= 1;
                let parent = group.node;
                self.child(element, parent, index, kind)?
            }
            None if index == 0 => root(required(element.name, "SchemaElement.name")?, kind),
            None => return Err(Error::malformed("it comes after the tree is complete")),
        };
        match node.kind {
            NodeKind::Leaf { .. } => self.schema.leaves.push(index),
            NodeKind::Group { .. } => {
                let depth = usize::from(limits.max_schema_depth);
                if self.open.len() > depth {
                    return Err(limit("schema depth", depth, self.open.len()));
                }
                self.open.push(OpenGroup { node: index, children_left: num_children });
            }
        }
        self.schema.nodes.push(node);
        Ok(())
    }

    /// A group where it has children; else a leaf where it has a type; else a group without children. The root is a
    /// group whatever it says.
    fn kind(&self, element: &Element, index: usize) -> Result<NodeKind> {
        let leaf = self.schema.leaves.len();
        match element.physical.map(PhysicalType::from_number) {
            Some(physical) if index > 0 && element.num_children.unwrap_or(0) == 0 => {
                Ok(NodeKind::Leaf { leaf, physical, byte_width: byte_width(physical, element.type_length)? })
            }
            _ => Ok(NodeKind::Group { children: Vec::new(), leaves: leaf..leaf }),
        }
    }

    fn child(&mut self, element: Element, parent: usize, index: usize, kind: NodeKind) -> Result<SchemaNode> {
        let Some(above) = self.schema.nodes.get_mut(parent) else {
            return Err(Error::malformed("it has no parent"));
        };
        // Files without a repetition exist: readers take them as required.
        let repetition = element.repetition.map_or(Repetition::Required, Repetition::from_number);
        let (definition, repeated) = match repetition {
            Repetition::Required => (0, 0),
            Repetition::Optional => (1, 0),
            Repetition::Repeated => (1, 1),
            Repetition::Unknown(number) => {
                return Err(Error::malformed(format!("repetition {number} does not exist")));
            }
        };
        let level = |above: u8, step| {
            above.checked_add(step).ok_or_else(|| limit("definition level", usize::from(u8::MAX), 256))
        };
        let in_map = above.logical == Some(LogicalType::Map);
        let converted = element
            .converted
            .and_then(|number| from_converted(number, element.precision, element.scale, in_map));
        let logical = element.logical.or(converted);
        let mut field = above.field;
        if let NodeKind::Group { children, .. } = &mut above.kind {
            if parent == 0 {
                field = children.len();
            }
            children.push(index);
        }
        Ok(SchemaNode {
            name: required(element.name, "SchemaElement.name")?,
            repetition,
            field_id: element.field_id,
            has_unknown_annotation: logical.is_none()
                && (element.is_annotated || element.converted.is_some()),
            logical,
            definition_level: level(above.definition_level, definition)?,
            repetition_level: level(above.repetition_level, repeated)?,
            parent,
            field,
            kind,
        })
    }

    fn close_full_groups(&mut self) {
        while let Some(group) = self.open.pop_if(|group| group.children_left == 0) {
            let end = self.schema.leaves.len();
            if let Some(NodeKind::Group { leaves, .. }) =
                self.schema.nodes.get_mut(group.node).map(|node| &mut node.kind)
            {
                leaves.end = end;
            }
        }
    }

    fn finish(mut self) -> Result<Schema> {
        self.close_full_groups();
        if let Some(group) = self.open.last() {
            let (node, left) = (group.node, group.children_left);
            return Err(Error::malformed(format!("schema element {node} lacks {left} children")));
        }
        if self.schema.nodes.is_empty() {
            return Err(Error::malformed("a schema without a root"));
        }
        Ok(self.schema)
    }
}

fn root(name: String, kind: NodeKind) -> SchemaNode {
    SchemaNode {
        name,
        repetition: Repetition::Required,
        field_id: None,
        logical: None,
        has_unknown_annotation: false,
        definition_level: 0,
        repetition_level: 0,
        parent: 0,
        field: 0,
        kind,
    }
}

fn children(element: &Element, left: usize) -> Result<usize> {
    let claimed = element.num_children.unwrap_or(0);
    match usize::try_from(claimed) {
        Ok(children) if children <= left => Ok(children),
        _ => Err(Error::malformed(format!("{claimed} children, where {left} elements are left"))),
    }
}

/// 0 bytes are kept: whoever uses the column decides whether that makes sense.
fn byte_width(physical: PhysicalType, type_length: Option<i32>) -> Result<usize> {
    if physical != PhysicalType::FixedLenByteArray {
        return Ok(0);
    }
    let width = required(type_length, "SchemaElement.type_length")?;
    usize::try_from(width).map_err(|_| Error::malformed(format!("a FIXED_LEN_BYTE_ARRAY of {width} bytes")))
}

fn limit(what: &'static str, limit: usize, wanted: usize) -> Error {
    ErrorKind::Limit { what, limit: limit as u64, wanted: wanted as u64 }.into()
}

fn write_element(s: &mut StructWriter<'_>, node: &SchemaNode, is_root: bool) {
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    if let NodeKind::Leaf { physical, byte_width, .. } = node.kind {
        s.i32(1, physical.number());
        if physical == PhysicalType::FixedLenByteArray {
            s.i32(2, count(byte_width));
        }
    }
    if !is_root {
        s.i32(3, node.repetition.number());
    }
    s.binary(4, node.name.as_bytes());
    if let NodeKind::Group { children, .. } = &node.kind {
        s.i32(5, count(children.len()));
    }
    if let Some(converted) = node.logical.as_ref().and_then(to_converted) {
        s.i32(6, converted);
    }
    if let Some(LogicalType::Decimal { precision, scale }) = node.logical {
        s.i32(7, scale);
        s.i32(8, precision);
    }
    if let Some(field_id) = node.field_id {
        s.i32(9, field_id);
    }
    if let Some(logical) = &node.logical {
        write_logical(s, 10, logical);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaf(name: &str) -> Element {
        Element { name: Some(name.into()), physical: Some(1), repetition: Some(1), ..Element::default() }
    }

    fn group(name: &str, num_children: i32) -> Element {
        Element { num_children: Some(num_children), physical: None, ..leaf(name) }
    }

    fn build(elements: impl IntoIterator<Item = Element>) -> Result<Schema> {
        build_schema(elements.into_iter().collect(), &MetadataLimits::default())
    }

    #[test]
    fn makes_a_tree() {
        let repeated = Element { repetition: Some(2), ..group("b", 2) };
        let schema =
            build([group("root", 3), leaf("a"), repeated, leaf("c"), group("d", 0), leaf("e")]).unwrap();
        assert_eq!(schema.root().children(), [1, 2, 5]);
        assert_eq!(schema.root().leaves(), 0..3);
        assert_eq!(schema.node(2).children(), [3, 4]);
        assert_eq!(schema.node(2).leaves(), 1..2);
        assert_eq!(schema.node(4).leaves(), 2..2);
        assert_eq!(schema.leaf_name(1), "b.c");
        let levels = |node: usize| (schema.node(node).definition_level, schema.node(node).repetition_level);
        assert_eq!([0, 1, 2, 3, 4, 5].map(levels), [(0, 0), (1, 0), (1, 1), (2, 1), (2, 1), (1, 0)]);
        assert_eq!([0, 1, 2, 3, 4, 5].map(|n| schema.node(n).field), [0, 0, 1, 1, 1, 2]);
        assert_eq!(schema.leaves, [1, 3, 5]);
    }

    #[test]
    fn a_root_is_a_group_whatever_it_says() {
        let odd = Element { physical: Some(3), repetition: Some(2), num_children: None, ..leaf("root") };
        let schema = build([odd]).unwrap();
        assert_eq!((schema.num_leaves(), schema.root().repetition), (0, Repetition::Required));
        assert!(build([]).is_err());
    }

    #[test]
    fn lying_counts_of_children_are_errors() {
        for count in [-1, i32::MIN, 2, i32::MAX] {
            assert!(build([group("root", count), leaf("a")]).is_err(), "{count}");
            assert!(build([group("root", 1), group("g", count), leaf("a")]).is_err(), "{count}");
        }
        assert!(build([group("root", 1), leaf("a"), leaf("b")]).is_err());
        assert!(build([group("root", 0), leaf("a")]).is_err());
        assert!(build([group("root", 2), group("g", 2), leaf("a"), leaf("b")]).is_err());
    }

    #[test]
    fn deep_and_wide_schemas_meet_their_limits() {
        let deep = |depth: usize| {
            let groups = (0..depth).map(|_| Element { repetition: Some(2), ..group("g", 1) });
            build([group("root", 1)].into_iter().chain(groups).chain([leaf("x")]))
        };
        assert_eq!(deep(100).unwrap().leaf(0).unwrap().definition_level, 101);
        for depth in [101, 300, 100_000] {
            assert!(matches!(deep(depth).unwrap_err().kind(), ErrorKind::Limit { .. }));
        }
    }

    #[test]
    fn a_missing_repetition_is_required_and_an_unknown_one_an_error() {
        let schema = build([group("root", 1), Element { repetition: None, ..leaf("a") }]).unwrap();
        assert_eq!(schema.node(1).repetition, Repetition::Required);
        assert!(build([group("root", 1), Element { repetition: Some(3), ..leaf("a") }]).is_err());
    }

    #[test]
    fn widths_are_kept_unless_negative_or_missing() {
        let fixed = |type_length| {
            let element = Element { physical: Some(7), type_length, ..leaf("a") };
            build([group("root", 1), element]).map(|schema| schema.node(1).byte_width())
        };
        assert_eq!(fixed(Some(0)).unwrap(), 0);
        assert_eq!(fixed(Some(16)).unwrap(), 16);
        assert!(fixed(Some(-1)).is_err());
        assert!(fixed(None).is_err());
        let unknown = Element { physical: Some(12), type_length: Some(-9), ..leaf("a") };
        let schema = build([group("root", 1), unknown]).unwrap();
        assert_eq!(schema.node(1).physical_type(), Some(PhysicalType::Unknown(12)));
    }

    #[test]
    fn annotations_fold_into_one() {
        let annotated = |logical, converted| {
            let element = Element {
                logical,
                converted: Some(converted),
                precision: Some(9),
                scale: Some(2),
                ..leaf("a")
            };
            build([group("root", 1), element]).unwrap().node(1).logical.clone()
        };
        assert_eq!(annotated(Some(LogicalType::Json), 0), Some(LogicalType::Json));
        assert_eq!(annotated(None, 0), Some(LogicalType::String));
        assert_eq!(annotated(None, 5), Some(LogicalType::Decimal { precision: 9, scale: 2 }));
        assert_eq!(annotated(None, 24), None);
        let unknown = |converted, is_annotated| {
            let element = Element { converted, is_annotated, ..leaf("a") };
            build([group("root", 1), element]).unwrap().node(1).has_unknown_annotation
        };
        assert!(unknown(Some(24), false) && unknown(None, true));
        assert!(!unknown(Some(0), true) && !unknown(None, false));
    }

    #[test]
    fn map_key_value_is_a_map_only_outside_a_map() {
        let with = |outer| {
            let outer = Element { converted: Some(outer), ..group("m", 1) };
            let inner = Element { converted: Some(2), repetition: Some(2), ..group("kv", 1) };
            let schema = build([group("root", 1), outer, inner, leaf("key")]).unwrap();
            [1, 2].map(|node| schema.node(node).logical.clone())
        };
        assert_eq!(with(1), [Some(LogicalType::Map), None]);
        assert_eq!(with(2), [Some(LogicalType::Map), None]);
        assert_eq!(with(3), [Some(LogicalType::List), Some(LogicalType::Map)]);
    }
}
