//! Names to columns.

use std::collections::HashMap;

use crate::arrow::schema::DataType;
use crate::error::{Error, ErrorKind, Result};
use crate::file::ParquetFile;
use crate::logical::{Column, replace, with_output_type};
use crate::metadata::{LogicalType, Repetition, Schema};

/// A column, as the caller names it.
#[derive(Debug, Clone)]
pub(crate) enum ColumnWish {
    Name(String),
    Path(Vec<String>),
    Leaf(usize),
}

/// The columns to read, with the types to give.
#[derive(Debug)]
pub(crate) struct Projection {
    pub(crate) columns: Vec<Column>,
}

impl Projection {
    /// # Errors
    /// When a column does not exist or cannot be read, or a type cannot be had.
    pub(crate) fn new(
        file: &ParquetFile,
        wishes: Option<&[ColumnWish]>,
        types: &[(String, DataType)],
    ) -> Result<Self> {
        let schema = file.metadata().schema();
        let mut columns = match wishes {
            None => file.columns().to_vec(),
            Some(wishes) => {
                let mut wanted = vec![false; schema.num_leaves()];
                for wish in wishes {
                    for leaf in find_leaves(schema, wish)? {
                        wanted.get_mut(leaf).into_iter().for_each(|wanted| *wanted = true);
                    }
                }
                let keep = |leaf: usize| wanted.get(leaf).copied().unwrap_or(false);
                file.columns_of(&keep)
            }
        };
        let top = if types.is_empty() { HashMap::new() } else { names_of(schema, &columns) };
        for (name, data_type) in types {
            let typed = |column: &Column| with_output_type(column, schema, data_type);
            if let Some(places) = top.get(name.as_str()) {
                for &place in places {
                    if let Some(column) = columns.get_mut(place) {
                        *column = typed(column)?;
                    }
                }
                continue;
            }
            for node in find_nodes(schema, &ColumnWish::Name(name.clone()))? {
                for column in &mut columns {
                    if let Some(replaced) = replace(column, node, &typed)? {
                        *column = replaced;
                    }
                }
            }
        }
        columns.iter().try_for_each(|column| column.check_supported(schema))?;
        Ok(Projection { columns })
    }

    /// The leaves to read.
    pub(crate) fn leaves(&self) -> Vec<usize> {
        self.columns.iter().flat_map(Column::leaves).collect()
    }
}

/// Where among `columns` the top-level names are: a file may have thousands, and a type for each.
fn names_of<'a>(schema: &'a Schema, columns: &[Column]) -> HashMap<&'a str, Vec<usize>> {
    let mut places: HashMap<_, Vec<_>> = HashMap::new();
    for (place, column) in columns.iter().enumerate() {
        places.entry(schema.node(column.node).name.as_str()).or_default().push(place);
    }
    places
}

fn find_leaves(schema: &Schema, wish: &ColumnWish) -> Result<Vec<usize>> {
    if let &ColumnWish::Leaf(leaf) = wish {
        return match leaf < schema.num_leaves() {
            true => Ok(vec![leaf]),
            false => Err(Error::invalid(format!("leaf {leaf} of a file of {} leaves", schema.num_leaves()))),
        };
    }
    let nodes = find_nodes(schema, wish)?;
    Ok(nodes.into_iter().flat_map(|node| schema.node(node).leaves()).collect())
}

/// The nodes that a name or path stands for: several only where the file gives one name to several.
fn find_nodes(schema: &Schema, wish: &ColumnWish) -> Result<Vec<usize>> {
    let top = schema.root().children();
    let (found, name) = match wish {
        ColumnWish::Name(name) => {
            let exact: Vec<usize> =
                top.iter().copied().filter(|&node| schema.node(node).name == *name).collect();
            if !exact.is_empty() {
                return Ok(exact);
            }
            (
                search(
                    schema,
                    &|node, rest: &str| after_name(&schema.node(node).name, rest),
                    name.as_str(),
                    "",
                ),
                name.clone(),
            )
        }
        ColumnWish::Path(path) => {
            let step = |node: usize, rest: &[String]| match rest {
                [first, ..] if *first == schema.node(node).name => rest.len() - 1,
                _ => usize::MAX,
            };
            let slices = |node: usize, rest: usize| {
                let from = path.len() - rest;
                match step(node, path.get(from..).unwrap_or_default()) {
                    usize::MAX => None,
                    left => Some(left),
                }
            };
            (search(schema, &slices, path.len(), 0), path.join("."))
        }
        ColumnWish::Leaf(leaf) => (Vec::new(), format!("#{leaf}")),
    };
    if found.is_empty() { Err(ErrorKind::UnknownColumn(name).into()) } else { Ok(found) }
}

/// What is left of a dotted path after `name`.
fn after_name<'a>(name: &str, path: &'a str) -> Option<&'a str> {
    let rest = path.strip_prefix(name)?;
    if rest.is_empty() { Some(rest) } else { rest.strip_prefix('.').filter(|rest| !rest.is_empty()) }
}

/// The nodes at which a path ends. `step` takes a node's name off the front of a path. The path as the file has it wins;
/// only if there is none may the repeated groups of lists and maps be left out.
fn search<P: Copy + PartialEq>(
    schema: &Schema,
    step: &dyn Fn(usize, P) -> Option<P>,
    path: P,
    end: P,
) -> Vec<usize> {
    for leave_out in [false, true] {
        let mut found = Vec::new();
        let mut stack: Vec<(usize, P)> =
            schema.root().children().iter().rev().map(|&node| (node, path)).collect();
        while let Some((node, rest)) = stack.pop() {
            if leave_out && is_between(schema, node) {
                stack.extend(schema.node(node).children().iter().rev().map(|&child| (child, rest)));
            }
            match step(node, rest) {
                Some(rest) if rest == end => found.push(node),
                Some(rest) => {
                    stack.extend(schema.node(node).children().iter().rev().map(|&child| (child, rest)))
                }
                None => {}
            }
        }
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Whether a node is the repeated group that a list or map puts between itself and its elements.
fn is_between(schema: &Schema, node: usize) -> bool {
    let (node, parent) = (schema.node(node), schema.node(schema.node(node).parent));
    node.repetition == Repetition::Repeated
        && !node.children().is_empty()
        && matches!(parent.logical, Some(LogicalType::List | LogicalType::Map))
}
