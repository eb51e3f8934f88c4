//! Nested values to levels, the textbook way: a value at a time, all columns of a record at once (Dremel).

use marquetry::metadata::{LogicalType, PhysicalType, Repetition, SchemaBuilder};

use super::random::Random;

/// A nested type whose leaves are INT32.
#[derive(Debug, Clone)]
pub struct Node {
    pub optional: bool,
    pub kind: Kind,
}

#[derive(Debug, Clone)]
pub enum Kind {
    Int,
    List(Box<Node>),
    Map(Box<Node>),
    Struct(Vec<Node>),
}

#[derive(Debug, Clone)]
pub enum Value {
    Null,
    Int(i32),
    List(Vec<Value>),
    Map(Vec<(i32, Value)>),
    Struct(Vec<Value>),
}

/// The levels and values of one leaf.
#[derive(Debug, Clone, Default)]
pub struct Leaf {
    pub max_rep: u8,
    pub max_def: u8,
    pub rep: Vec<u8>,
    pub def: Vec<u8>,
    pub values: Vec<i32>,
}

impl Node {
    pub fn int(optional: bool) -> Node {
        Node { optional, kind: Kind::Int }
    }

    pub fn list(optional: bool, element: Node) -> Node {
        Node { optional, kind: Kind::List(Box::new(element)) }
    }

    pub fn random(random: &mut Random, depth: u32) -> Node {
        let optional = random.below(2) == 0;
        let kind = match random.below(if depth == 0 { 1 } else { 5 }) {
            1 | 2 => Kind::List(Box::new(Node::random(random, depth - 1))),
            3 => Kind::Map(Box::new(Node::random(random, depth - 1))),
            4 => Kind::Struct((0..=random.below(3)).map(|_| Node::random(random, depth - 1)).collect()),
            _ => Kind::Int,
        };
        Node { optional, kind }
    }

    /// Adds the node to a schema, with the groups that LogicalTypes.md wants of lists and maps.
    pub fn add(&self, name: &str, schema: &mut SchemaBuilder) {
        self.add_with(name, schema, PhysicalType::Int32);
    }

    /// [`Node::add`], with leaves of INT32, or of BYTE_ARRAY that are strings.
    pub fn add_with(&self, name: &str, schema: &mut SchemaBuilder, physical: PhysicalType) {
        let repetition = if self.optional { Repetition::Optional } else { Repetition::Required };
        match &self.kind {
            Kind::Int => add_leaf(name, repetition, schema, physical),
            Kind::Struct(fields) => {
                schema.group(name, repetition, |group| {
                    for (i, field) in fields.iter().enumerate() {
                        field.add_with(field_name(i), group, physical);
                    }
                });
            }
            Kind::List(element) => {
                let list = schema.group(name, repetition, |group| {
                    group.group("list", Repetition::Repeated, |list| {
                        element.add_with("element", list, physical)
                    });
                });
                list.logical(LogicalType::List);
            }
            Kind::Map(value) => {
                let map = schema.group(name, repetition, |group| {
                    group.group("key_value", Repetition::Repeated, |entries| {
                        add_leaf("key", Repetition::Required, entries, physical);
                        value.add_with("value", entries, physical);
                    });
                });
                map.logical(LogicalType::Map);
            }
        }
    }

    /// A value of this type; `largest` is how long lists get.
    pub fn value(&self, random: &mut Random, largest: u64) -> Value {
        if self.optional && random.below(4) == 0 {
            return Value::Null;
        }
        let len = random.below(largest + 1);
        match &self.kind {
            Kind::Int => Value::Int(random.below(1000) as i32 - 500),
            Kind::List(element) => Value::List((0..len).map(|_| element.value(random, largest)).collect()),
            Kind::Map(value) => {
                Value::Map((0..len).map(|i| (i as i32, value.value(random, largest))).collect())
            }
            Kind::Struct(fields) => {
                Value::Struct(fields.iter().map(|field| field.value(random, largest)).collect())
            }
        }
    }

    /// The leaves of a column of these values.
    pub fn shred(&self, values: &[Value]) -> Vec<Leaf> {
        let mut leaves = Vec::new();
        self.leaves(0, 0, &mut leaves);
        for value in values {
            self.shred_one(value, Levels::default(), &mut leaves);
        }
        leaves
    }

    fn leaves(&self, rep: u8, def: u8, out: &mut Vec<Leaf>) {
        let def = def + u8::from(self.optional);
        match &self.kind {
            Kind::Int => out.push(Leaf { max_rep: rep, max_def: def, ..Leaf::default() }),
            Kind::List(element) => element.leaves(rep + 1, def + 1, out),
            Kind::Map(value) => {
                out.push(Leaf { max_rep: rep + 1, max_def: def + 1, ..Leaf::default() });
                value.leaves(rep + 1, def + 1, out);
            }
            Kind::Struct(fields) => fields.iter().for_each(|field| field.leaves(rep, def, out)),
        }
    }

    fn num_leaves(&self) -> usize {
        let mut leaves = Vec::new();
        self.leaves(0, 0, &mut leaves);
        leaves.len()
    }

    /// `out`: the leaves below this node.
    fn shred_one(&self, value: &Value, at: Levels, out: &mut [Leaf]) {
        if let Value::Null = value {
            return out.iter_mut().for_each(|leaf| leaf.push(at, None));
        }
        let at = Levels { def: at.def + u8::from(self.optional), ..at };
        match (&self.kind, value) {
            (Kind::Int, Value::Int(value)) => out[0].push(at, Some(*value)),
            (Kind::Struct(fields), Value::Struct(values)) => {
                let mut from = 0;
                for (field, value) in fields.iter().zip(values) {
                    let to = from + field.num_leaves();
                    field.shred_one(value, at, &mut out[from..to]);
                    from = to;
                }
            }
            (Kind::List(_), Value::List(items)) if items.is_empty() => {
                out.iter_mut().for_each(|leaf| leaf.push(at, None));
            }
            (Kind::Map(_), Value::Map(entries)) if entries.is_empty() => {
                out.iter_mut().for_each(|leaf| leaf.push(at, None));
            }
            (Kind::List(element), Value::List(items)) => {
                for (i, item) in items.iter().enumerate() {
                    element.shred_one(item, at.element(i), out);
                }
            }
            (Kind::Map(node), Value::Map(entries)) => {
                let (keys, values) = out.split_at_mut(1);
                for (i, (key, value)) in entries.iter().enumerate() {
                    keys[0].push(at.element(i), Some(*key));
                    node.shred_one(value, at.element(i), values);
                }
            }
            (kind, value) => panic!("{value:?} is no {kind:?}"),
        }
    }
}

fn add_leaf(name: &str, repetition: Repetition, schema: &mut SchemaBuilder, physical: PhysicalType) {
    let leaf = schema.leaf(name, repetition, physical);
    if physical == PhysicalType::ByteArray {
        leaf.logical(LogicalType::String);
    }
}

/// Levels on the way down.
#[derive(Debug, Clone, Copy, Default)]
struct Levels {
    rep: u8,
    def: u8,
    /// Lists around.
    depth: u8,
}

impl Levels {
    /// Those of the `i`-th element of a list.
    fn element(self, i: usize) -> Levels {
        let depth = self.depth + 1;
        Levels { rep: if i == 0 { self.rep } else { depth }, def: self.def + 1, depth }
    }
}

impl Leaf {
    fn push(&mut self, at: Levels, value: Option<i32>) {
        self.rep.push(at.rep);
        self.def.push(at.def);
        self.values.extend(value);
    }

    /// Cut at these levels: each part with its own values.
    pub fn cut(&self, at: &[usize]) -> Vec<Leaf> {
        let ends = at.iter().copied().chain([self.def.len()]);
        let (mut from, mut first_value, mut parts) = (0, 0, Vec::new());
        for end in ends {
            let (rep, def) = (self.rep[from..end].to_vec(), self.def[from..end].to_vec());
            let num_values = def.iter().filter(|&&def| def == self.max_def).count();
            let values = self.values[first_value..first_value + num_values].to_vec();
            parts.push(Leaf { rep, def, values, ..*self });
            (from, first_value) = (end, first_value + num_values);
        }
        parts
    }
}

/// The name of a struct's `i`-th field.
pub fn field_name(i: usize) -> &'static str {
    ["a", "b", "c", "d"][i]
}

/// A value as [`super::show`] shows it.
pub fn word(value: &Value) -> String {
    word_with(value, &|int| int.to_string())
}

/// [`word`], for leaves that stand for something else.
pub fn word_with(value: &Value, leaf: &dyn Fn(i32) -> String) -> String {
    let word = |value| word_with(value, leaf);
    let joined = |words: Vec<String>| words.join(",");
    match value {
        Value::Null => "null".into(),
        Value::Int(value) => leaf(*value),
        Value::List(items) => format!("[{}]", joined(items.iter().map(word).collect())),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| format!("{}:{}", leaf(*key), word(value)));
            format!("{{{}}}", joined(entries.collect()))
        }
        Value::Struct(fields) => {
            let fields = fields.iter().enumerate().map(|(i, v)| format!("{}:{}", field_name(i), word(v)));
            format!("{{{}}}", joined(fields.collect()))
        }
    }
}
