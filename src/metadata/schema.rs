//! The schema tree: nodes in the order of the footer, with the levels that each adds.
//!
//! Takes the flat list of schema elements, gives a tree whose indices cannot be wrong. It knows nothing of Arrow.

use std::ops::Range;

use super::{PhysicalType, Repetition};

/// A file's schema: a tree of nodes, stored flat in depth-first order; node 0 is the root.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Schema {
    pub(crate) nodes: Vec<SchemaNode>,
    /// Node index of each leaf, in file order: leaf `i` is column `i` of every row group.
    pub(crate) leaves: Vec<usize>,
}

/// One node of the schema tree: the root, a group or a leaf.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SchemaNode {
    /// Its name; any text, also empty, also twice in one group.
    pub name: String,
    /// Required, optional or repeated. The root counts as required.
    pub repetition: Repetition,
    /// The id that table formats give it.
    pub field_id: Option<i32>,
    /// Its annotation, logical type or legacy converted type alike; `None` also where this crate does not know it.
    pub logical: Option<LogicalType>,
    /// Whether the file annotates it with what this crate does not know: its values then have no known order.
    pub(crate) has_unknown_annotation: bool,
    /// Definition level at which a value of this node is present (0 for required nodes at the top). At most 255.
    pub definition_level: u8,
    /// Repetition level of this node: how many repeated nodes lie on the path down to it, itself included.
    pub repetition_level: u8,
    /// Node index of its parent; the root's is 0.
    pub parent: usize,
    /// Index of the top-level field that it lies in (0 for the root).
    pub field: usize,
    /// Group or leaf.
    pub kind: NodeKind,
}

/// Group or leaf.
#[derive(Debug, Clone, PartialEq)]
pub enum NodeKind {
    /// A group.
    Group {
        /// Node indices of its children, in file order.
        children: Vec<usize>,
        /// The leaves below it.
        leaves: Range<usize>,
    },
    /// A leaf.
    Leaf {
        /// Which one: its column within each row group.
        leaf: usize,
        /// How its values are stored.
        physical: PhysicalType,
        /// Bytes a value, for [`PhysicalType::FixedLenByteArray`]; else 0.
        byte_width: usize,
    },
}

/// Annotations of `parquet.thrift`: `LogicalType`, and the `ConvertedType`s that stand for them in older files
/// (LogicalTypes.md).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum LogicalType {
    String,
    Enum,
    Json,
    Bson,
    Uuid,
    Float16,
    /// A legacy converted type: 12 bytes of months, days, milliseconds.
    Interval,
    /// A column of nulls.
    Unknown,
    Date,
    Integer {
        bit_width: u8,
        signed: bool,
    },
    Decimal {
        precision: i32,
        scale: i32,
    },
    Time {
        unit: TimeUnit,
        utc: bool,
    },
    Timestamp {
        unit: TimeUnit,
        utc: bool,
    },
    List,
    Map,
    Variant {
        specification_version: Option<i8>,
    },
    Geometry {
        crs: Option<String>,
    },
    Geography {
        crs: Option<String>,
        /// Edge interpolation; `None` stands for the default, spherical.
        algorithm: Option<EdgeInterpolation>,
    },
}

/// Unit of a time or timestamp.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum TimeUnit {
    Millis,
    Micros,
    Nanos,
}

/// How edges of a GEOGRAPHY run between points (Geospatial.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[allow(missing_docs)]
pub enum EdgeInterpolation {
    Spherical,
    Vincenty,
    Thomas,
    Andoyer,
    Karney,
}

impl Schema {
    /// The root; its children are the top-level fields.
    pub fn root(&self) -> &SchemaNode {
        self.node(0)
    }

    /// All nodes, depth first; the root comes first.
    pub fn nodes(&self) -> &[SchemaNode] {
        &self.nodes
    }

    /// How many leaves (columns of a row group) there are.
    pub fn num_leaves(&self) -> usize {
        self.leaves.len()
    }

    /// Node `index`, which must come from this schema.
    #[allow(clippy::indexing_slicing)] // the contract of this function
    pub fn node(&self, index: usize) -> &SchemaNode {
        &self.nodes[index]
    }

    /// The node of leaf `leaf`, if there is one.
    pub fn leaf(&self, leaf: usize) -> Option<&SchemaNode> {
        self.leaves.get(leaf).and_then(|&node| self.nodes.get(node))
    }

    /// The names on the way from the top-level field down to node `index`, both included.
    pub fn path(&self, index: usize) -> Vec<&str> {
        let mut names = Vec::new();
        let mut at = index;
        while at != 0 {
            let node = self.node(at);
            names.push(node.name.as_str());
            at = node.parent;
        }
        names.reverse();
        names
    }

    /// The dotted path of leaf `leaf`, as errors and listings show it.
    pub fn leaf_name(&self, leaf: usize) -> String {
        self.leaves.get(leaf).map_or_else(|| format!("#{leaf}"), |&node| self.path(node).join("."))
    }
}

impl SchemaNode {
    /// Node indices of its children; empty for a leaf.
    pub fn children(&self) -> &[usize] {
        match &self.kind {
            NodeKind::Group { children, .. } => children,
            NodeKind::Leaf { .. } => &[],
        }
    }

    /// The leaves at or below it.
    pub fn leaves(&self) -> Range<usize> {
        match &self.kind {
            NodeKind::Group { leaves, .. } => leaves.clone(),
            NodeKind::Leaf { leaf, .. } => *leaf..*leaf + 1,
        }
    }

    /// How its values are stored, for a leaf.
    pub fn physical_type(&self) -> Option<PhysicalType> {
        match self.kind {
            NodeKind::Leaf { physical, .. } => Some(physical),
            NodeKind::Group { .. } => None,
        }
    }

    /// Bytes a value of a FIXED_LEN_BYTE_ARRAY leaf; else 0.
    pub fn byte_width(&self) -> usize {
        match self.kind {
            NodeKind::Leaf { byte_width, .. } => byte_width,
            NodeKind::Group { .. } => 0,
        }
    }
}
