//! Makes a schema node by node, for a writer.

use super::schema_elements::{Element, build_schema};
use super::{LogicalType, MetadataLimits, PhysicalType, Repetition, Schema};
use crate::error::Result;

/// Makes a [`Schema`], depth first.
///
/// ```
/// use marquetry::metadata::{LogicalType, PhysicalType, Repetition, SchemaBuilder};
///
/// # fn main() -> marquetry::Result<()> {
/// let mut builder = SchemaBuilder::new("schema");
/// builder.leaf("id", Repetition::Required, PhysicalType::Int64);
/// builder
///     .group("tags", Repetition::Optional, |tags| {
///         tags.group("list", Repetition::Repeated, |list| {
///             list.leaf("element", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
///         });
///     })
///     .logical(LogicalType::List);
/// let schema = builder.finish()?;
/// assert_eq!(schema.leaf_name(1), "tags.list.element");
/// assert_eq!(schema.leaf(1).unwrap().definition_level, 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SchemaBuilder {
    elements: Vec<Element>,
    /// Children of the group that is being filled.
    num_children: i32,
}

/// The node just added, for what few nodes have.
#[derive(Debug)]
pub struct NodeBuilder<'b>(&'b mut Element);

impl SchemaBuilder {
    /// A schema whose root has this name.
    pub fn new(name: &str) -> Self {
        let root = Element { name: Some(name.into()), ..Element::default() };
        SchemaBuilder { elements: vec![root], num_children: 0 }
    }

    /// Adds a leaf.
    pub fn leaf(&mut self, name: &str, repetition: Repetition, physical: PhysicalType) -> NodeBuilder<'_> {
        self.add(Element { physical: Some(physical.number()), ..named(name, repetition) })
    }

    /// Adds a group; `children` adds what is in it.
    pub fn group(
        &mut self,
        name: &str,
        repetition: Repetition,
        children: impl FnOnce(&mut SchemaBuilder),
    ) -> NodeBuilder<'_> {
        let mut inner = SchemaBuilder { elements: Vec::new(), num_children: 0 };
        children(&mut inner);
        let group = Element { num_children: Some(inner.num_children), ..named(name, repetition) };
        let index = self.elements.len();
        self.add(group);
        self.elements.append(&mut inner.elements);
        // `add` pushed it there.
        #[allow(clippy::indexing_slicing)]
        NodeBuilder(&mut self.elements[index])
    }

    /// The schema.
    ///
    /// # Errors
    /// When a FIXED_LEN_BYTE_ARRAY has no width, a repetition is unknown, or groups nest deeper than the default
    /// [`MetadataLimits`] allow.
    pub fn finish(mut self) -> Result<Schema> {
        if let Some(root) = self.elements.first_mut() {
            root.num_children = Some(self.num_children);
        }
        build_schema(self.elements, &MetadataLimits::default())
    }

    fn add(&mut self, element: Element) -> NodeBuilder<'_> {
        self.num_children = self.num_children.saturating_add(1);
        let index = self.elements.len();
        self.elements.push(element);
        #[allow(clippy::indexing_slicing)] // pushed just now
        NodeBuilder(&mut self.elements[index])
    }
}

impl NodeBuilder<'_> {
    /// Annotates the node.
    pub fn logical(self, logical: LogicalType) -> Self {
        self.0.logical = Some(logical);
        self
    }

    /// Bytes a value, for [`PhysicalType::FixedLenByteArray`].
    pub fn byte_width(self, byte_width: u16) -> Self {
        self.0.type_length = Some(byte_width.into());
        self
    }

    /// The id that a table format gives it.
    pub fn field_id(self, field_id: i32) -> Self {
        self.0.field_id = Some(field_id);
        self
    }
}

fn named(name: &str, repetition: Repetition) -> Element {
    Element { name: Some(name.into()), repetition: Some(repetition.number()), ..Element::default() }
}
