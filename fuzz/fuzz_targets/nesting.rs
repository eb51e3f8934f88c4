//! Files of a sound frame around any schema, levels and values.
#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use marquetry::metadata::*;
use marquetry_fuzz::{open, read};

#[derive(Arbitrary, Debug)]
enum Node {
    Leaf,
    List(Box<Node>),
    Map(Box<Node>),
    Struct(Box<Node>, Option<Box<Node>>),
}

#[derive(Arbitrary, Debug)]
struct Page<'a> {
    num_values: u8,
    num_rows: u8,
    rep: &'a [u8],
    def: &'a [u8],
    values: &'a [u8],
}

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    column: Node,
    optional: u32,
    num_rows: u8,
    batch_size: u8,
    skip: u8,
    pages: Vec<Page<'a>>,
}

fn add(node: &Node, name: &str, optional: &mut u32, schema: &mut SchemaBuilder, depth: usize) {
    let repetition = if *optional & 1 == 1 { Repetition::Optional } else { Repetition::Required };
    *optional = optional.rotate_right(1);
    match node {
        _ if depth > 6 => drop(schema.leaf(name, repetition, PhysicalType::Int32)),
        Node::Leaf => drop(schema.leaf(name, repetition, PhysicalType::Int32)),
        Node::Struct(a, b) => {
            schema.group(name, repetition, |group| {
                add(a, "a", optional, group, depth + 1);
                if let Some(b) = b {
                    add(b, "b", optional, group, depth + 1);
                }
            });
        }
        Node::List(item) => {
            let list = schema.group(name, repetition, |group| {
                group.group("list", Repetition::Repeated, |list| {
                    add(item, "element", optional, list, depth + 1)
                });
            });
            list.logical(LogicalType::List);
        }
        Node::Map(value) => {
            let map = schema.group(name, repetition, |group| {
                group.group("key_value", Repetition::Repeated, |entries| {
                    entries.leaf("key", Repetition::Required, PhysicalType::Int32);
                    add(value, "value", optional, entries, depth + 1);
                });
            });
            map.logical(LogicalType::Map);
        }
    }
}

fn file(input: &Input<'_>) -> marquetry::Result<Vec<u8>> {
    let mut schema = SchemaBuilder::new("schema");
    add(&input.column, "x", &mut input.optional.clone(), &mut schema, 0);
    let schema = schema.finish()?;
    let num_leaves = schema.num_leaves();
    let mut footer = FooterWriter::new(schema);
    let mut bytes = MAGIC.to_vec();
    let mut chunks = Vec::new();
    let share = input.pages.len().div_ceil(num_leaves).max(1);
    for leaf in 0..num_leaves {
        let start = bytes.len();
        let mut num_values = 0;
        for page in input.pages.iter().skip(leaf * share).take(share) {
            let mut header =
                DataPageHeaderV2::new(page.num_values.into(), 0, page.num_rows.into(), Encoding::Plain);
            header.repetition_levels_byte_length = page.rep.len();
            header.definition_levels_byte_length = page.def.len();
            num_values += u64::from(page.num_values);
            let len = page.rep.len() + page.def.len() + page.values.len();
            PageHeader::new(PageKind::DataV2(header), len, len).write(&mut bytes)?;
            bytes.extend([page.rep, page.def, page.values].concat());
        }
        let mut chunk = ColumnChunkMetadata::new(PhysicalType::Int32, Compression::Uncompressed);
        chunk.encodings = vec![Encoding::Plain];
        chunk.num_values = num_values;
        chunk.set_pages(None, start as u64, bytes.len() as u64)?;
        chunks.push(chunk);
    }
    footer.row_group(input.num_rows.into(), chunks)?;
    footer.finish(&mut bytes)?;
    Ok(bytes)
}

fuzz_target!(|input: Input<'_>| {
    let Ok(bytes) = file(&input) else { return };
    let Some(file) = open(&bytes) else { return };
    let whole = read(file.scan(), 300);
    let steps = read(file.scan().batch_size(usize::from(input.batch_size) + 1), 300);
    assert_eq!(whole, steps, "the same file in one batch and in many");
    read(file.scan().offset(input.skip.into()), 300);
});
