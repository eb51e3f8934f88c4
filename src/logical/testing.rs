//! Schema trees by hand, for tests.

use crate::metadata::{LogicalType, NodeKind, PhysicalType, Repetition, Schema, SchemaNode};

/// One element of a schema, with those below it.
#[derive(Clone)]
pub(crate) struct Element {
    pub(crate) repetition: Repetition,
    pub(crate) name: String,
    pub(crate) logical: Option<LogicalType>,
    pub(crate) field_id: Option<i32>,
    below: Below,
}

#[derive(Clone)]
enum Below {
    Leaf(PhysicalType, usize),
    Group(Vec<Element>),
}

impl Element {
    pub(crate) fn logical(mut self, logical: LogicalType) -> Element {
        self.logical = Some(logical);
        self
    }

    pub(crate) fn id(mut self, id: i32) -> Element {
        self.field_id = Some(id);
        self
    }
}

pub(crate) fn leaf(repetition: Repetition, name: &str, physical: PhysicalType) -> Element {
    let below = Below::Leaf(physical, 0);
    Element { repetition, name: name.into(), logical: None, field_id: None, below }
}

pub(crate) fn fixed(repetition: Repetition, name: &str, width: usize) -> Element {
    let below = Below::Leaf(PhysicalType::FixedLenByteArray, width);
    Element { repetition, name: name.into(), logical: None, field_id: None, below }
}

pub(crate) fn group(repetition: Repetition, name: &str, children: Vec<Element>) -> Element {
    Element { repetition, name: name.into(), logical: None, field_id: None, below: Below::Group(children) }
}

/// The schema whose top-level fields are `fields`.
pub(crate) fn schema(fields: Vec<Element>) -> Schema {
    let mut schema = Schema { nodes: Vec::new(), leaves: Vec::new() };
    add(&mut schema, group(Repetition::Required, "schema", fields), 0, (0, 0), 0);
    schema
}

fn add(schema: &mut Schema, element: Element, parent: usize, levels: (u8, u8), field: usize) -> usize {
    let index = schema.nodes.len();
    let (definition_level, repetition_level) = match element.repetition {
        Repetition::Optional => (levels.0 + 1, levels.1),
        Repetition::Repeated => (levels.0 + 1, levels.1 + 1),
        _ => levels,
    };
    let first = schema.leaves.len();
    schema.nodes.push(SchemaNode {
        name: element.name,
        repetition: element.repetition,
        field_id: element.field_id,
        logical: element.logical,
        has_unknown_annotation: false,
        definition_level,
        repetition_level,
        parent,
        field,
        kind: NodeKind::Group { children: Vec::new(), leaves: first..first },
    });
    schema.nodes[index].kind = match element.below {
        Below::Leaf(physical, byte_width) => {
            schema.leaves.push(index);
            NodeKind::Leaf { leaf: first, physical, byte_width }
        }
        Below::Group(elements) => {
            let mut children = Vec::new();
            for (i, child) in elements.into_iter().enumerate() {
                let field = if index == 0 { i } else { field };
                children.push(add(schema, child, index, (definition_level, repetition_level), field));
            }
            NodeKind::Group { children, leaves: first..schema.leaves.len() }
        }
    };
    index
}
