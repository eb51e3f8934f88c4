//! An Arrow schema as a Parquet schema: types, annotations, and the groups around lists and maps.
//!
//! Takes Arrow fields, gives a tree of [`Node`]s that says how each column is taken apart into leaves, and the
//! [`Schema`] of the file (LogicalTypes.md). It knows nothing of values.
//!
//! | Arrow | Parquet |
//! | --- | --- |
//! | integers, Date32, Time, Timestamp of milliseconds and finer | their annotations on INT32 and INT64 |
//! | Time32 and Timestamp of seconds, Date64, Duration | INT32 or INT64 without annotation: the format has none for them, the Arrow schema in the footer says what they are |
//! | decimals | INT32 up to 9 digits, INT64 up to 18, FIXED_LEN_BYTE_ARRAY beyond, of as few bytes as hold the precision |
//! | lists of any kind | LIST of three levels: `list`, `element` |
//! | Map | MAP of `key_value`: `key`, `value` |
//! | Dictionary, RunEndEncoded | what their values are |

use super::extension::annotation;
use crate::arrow::schema::{DataType, Field, FieldRef, Fields, IntervalUnit, TimeUnit as ArrowUnit};
use crate::error::{Context, Error, Result};
use crate::logical::FIELD_ID_KEY;
use crate::metadata::{LogicalType, PhysicalType, Repetition, Schema, SchemaBuilder, TimeUnit};

/// A column, or a part of one, and how it is taken apart.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Node {
    name: String,
    pub(super) nullable: bool,
    field_id: Option<i32>,
    logical: Option<LogicalType>,
    pub(super) kind: Kind,
}

/// What a [`Node`] is taken apart into.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Leaf(Leaf),
    Struct(Vec<Node>),
    /// A list of any kind: its element.
    List(Box<Node>),
    /// Key and value.
    Map(Box<[Node; 2]>),
}

/// A leaf: its Arrow type and how it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Leaf {
    pub(super) data_type: DataType,
    physical: PhysicalType,
    /// Bytes a value, for [`PhysicalType::FixedLenByteArray`]; else 0.
    byte_width: u16,
}

/// The tree of each top-level field.
///
/// # Errors
/// When a type cannot be written, or a field id is no number.
pub(super) fn nodes(fields: &Fields) -> Result<Vec<Node>> {
    fields.iter().map(|field| node(field, field.name(), 1)).collect()
}

/// The schema of the file.
///
/// # Errors
/// When it is deeper than [`MetadataLimits`](crate::metadata::MetadataLimits) allow.
pub(super) fn file_schema(nodes: &[Node]) -> Result<Schema> {
    // The name that arrow-rs and parquet-cpp give the root, too.
    let mut builder = SchemaBuilder::new("schema");
    nodes.iter().for_each(|node| node.build(&mut builder));
    builder.finish()
}

/// Types nested deeper than this are not written: the reader would not read them.
const MAX_DEPTH: usize = 60;

fn node(field: &Field, name: &str, depth: usize) -> Result<Node> {
    if depth > MAX_DEPTH {
        return Err(Error::unsupported(format!("types nested more than {MAX_DEPTH} deep")));
    }
    let kind = kind(field.data_type(), depth).in_column(|| field.name().clone())?;
    let logical = match &kind {
        Kind::Leaf(leaf) => {
            annotation(field, leaf.physical, leaf.byte_width).or_else(|| logical(field.data_type()))
        }
        Kind::Struct(_) => annotation(field, PhysicalType::Unknown(-1), 0),
        Kind::List(_) => Some(LogicalType::List),
        Kind::Map(_) => Some(LogicalType::Map),
    };
    Ok(Node {
        name: name.to_owned(),
        nullable: field.is_nullable() || *stored(field.data_type()) == DataType::Null,
        field_id: field_id(field)?,
        logical,
        kind,
    })
}

/// The type of the values themselves, where an Arrow type is only another way to lay them out.
pub(super) fn stored(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => stored(values),
        DataType::RunEndEncoded(_, values) => stored(values.data_type()),
        other => other,
    }
}

fn field_id(field: &Field) -> Result<Option<i32>> {
    let text = field.metadata().get(FIELD_ID_KEY);
    text.map(|text| {
        text.parse().map_err(|_| {
            Error::invalid(format!("{FIELD_ID_KEY} of {:?} is {text:?}, not a number", field.name()))
        })
    })
    .transpose()
}

fn kind(data_type: &DataType, depth: usize) -> Result<Kind> {
    use PhysicalType as P;
    let layout = data_type;
    let data_type = stored(data_type);
    if data_type.is_nested() && data_type != layout {
        return Err(unwritable(layout));
    }
    let leaf = |physical, byte_width| Kind::Leaf(Leaf { data_type: data_type.clone(), physical, byte_width });
    Ok(match data_type {
        DataType::Null => leaf(P::Int32, 0),
        DataType::Boolean => leaf(P::Boolean, 0),
        DataType::Int8 | DataType::Int16 | DataType::Int32 => leaf(P::Int32, 0),
        DataType::UInt8 | DataType::UInt16 | DataType::UInt32 => leaf(P::Int32, 0),
        DataType::Date32 | DataType::Time32(_) => leaf(P::Int32, 0),
        DataType::Int64 | DataType::UInt64 | DataType::Date64 => leaf(P::Int64, 0),
        DataType::Time64(_) | DataType::Timestamp(..) | DataType::Duration(_) => leaf(P::Int64, 0),
        DataType::Float16 => leaf(P::FixedLenByteArray, 2),
        DataType::Float32 => leaf(P::Float, 0),
        DataType::Float64 => leaf(P::Double, 0),
        DataType::Interval(_) => leaf(P::FixedLenByteArray, 12),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => leaf(P::ByteArray, 0),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => leaf(P::ByteArray, 0),
        &DataType::FixedSizeBinary(width) => match u16::try_from(width) {
            Ok(width @ 1..) => leaf(P::FixedLenByteArray, width),
            _ => return Err(unwritable(data_type)),
        },
        &(DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale)) => decimal(data_type, precision, scale)?,
        DataType::Struct(fields) if fields.is_empty() => return Err(unwritable(data_type)),
        DataType::Struct(fields) => {
            let children = fields.iter().map(|field| node(field, field.name(), depth + 1));
            Kind::Struct(children.collect::<Result<_>>()?)
        }
        DataType::List(item)
        | DataType::LargeList(item)
        | DataType::ListView(item)
        | DataType::LargeListView(item)
        | DataType::FixedSizeList(item, _) => Kind::List(Box::new(node(item, "element", depth + 2)?)),
        DataType::Map(entries, _) => map(data_type, entries, depth)?,
        _ => return Err(unwritable(data_type)),
    })
}

fn map(data_type: &DataType, entries: &FieldRef, depth: usize) -> Result<Kind> {
    match entries.data_type() {
        DataType::Struct(fields) => match &fields[..] {
            [key, value] => {
                let key = node(key, "key", depth + 2)?;
                let value = node(value, "value", depth + 2)?;
                Ok(Kind::Map(Box::new([Node { nullable: false, ..key }, value])))
            }
            _ => Err(unwritable(data_type)),
        },
        _ => Err(unwritable(data_type)),
    }
}

/// The physical type for that many digits (LogicalTypes.md, DECIMAL).
fn decimal(data_type: &DataType, precision: u8, scale: i8) -> Result<Kind> {
    match u8::try_from(scale) {
        Ok(scale) if (1..=76).contains(&precision) && scale <= precision => {}
        _ => return Err(unwritable(data_type)),
    }
    let leaf = |physical, byte_width| Kind::Leaf(Leaf { data_type: data_type.clone(), physical, byte_width });
    Ok(match precision {
        ..=9 => leaf(PhysicalType::Int32, 0),
        10..=18 => leaf(PhysicalType::Int64, 0),
        _ => leaf(PhysicalType::FixedLenByteArray, decimal_width(precision)),
    })
}

/// The fewest bytes that hold every number of `precision` digits and its sign.
pub(super) fn decimal_width(precision: u8) -> u16 {
    // log2(10) is 3.3219280…; rounded up, it is exact enough for 76 digits.
    let bits = u32::from(precision) * 33_219_281 / 10_000_000 + 2;
    u16::try_from(bits.div_ceil(8)).unwrap_or(u16::MAX)
}

/// The annotation of a leaf that its Arrow type brings.
fn logical(data_type: &DataType) -> Option<LogicalType> {
    let integer = |bit_width, signed| Some(LogicalType::Integer { bit_width, signed });
    match stored(data_type) {
        DataType::Null => Some(LogicalType::Unknown),
        DataType::Int8 => integer(8, true),
        DataType::Int16 => integer(16, true),
        DataType::UInt8 => integer(8, false),
        DataType::UInt16 => integer(16, false),
        DataType::UInt32 => integer(32, false),
        DataType::UInt64 => integer(64, false),
        DataType::Float16 => Some(LogicalType::Float16),
        DataType::Date32 => Some(LogicalType::Date),
        DataType::Time32(ArrowUnit::Millisecond) => time(TimeUnit::Millis),
        DataType::Time64(ArrowUnit::Microsecond) => time(TimeUnit::Micros),
        DataType::Time64(ArrowUnit::Nanosecond) => time(TimeUnit::Nanos),
        DataType::Timestamp(unit, zone) => {
            // A time zone, whichever, says that values are instants; without one they are local.
            let utc = zone.as_ref().is_some_and(|zone| !zone.is_empty());
            unit_of(unit).map(|unit| LogicalType::Timestamp { unit, utc })
        }
        DataType::Interval(IntervalUnit::YearMonth | IntervalUnit::DayTime | IntervalUnit::MonthDayNano) => {
            Some(LogicalType::Interval)
        }
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Some(LogicalType::String),
        &(DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale)) => {
            Some(LogicalType::Decimal { precision: precision.into(), scale: scale.into() })
        }
        _ => None,
    }
}

/// Arrow's times of day have no zone, so they are local.
fn time(unit: TimeUnit) -> Option<LogicalType> {
    Some(LogicalType::Time { unit, utc: false })
}

/// `None` for seconds, which the format does not have.
fn unit_of(unit: &ArrowUnit) -> Option<TimeUnit> {
    match unit {
        ArrowUnit::Second => None,
        ArrowUnit::Millisecond => Some(TimeUnit::Millis),
        ArrowUnit::Microsecond => Some(TimeUnit::Micros),
        ArrowUnit::Nanosecond => Some(TimeUnit::Nanos),
    }
}

fn unwritable(data_type: &DataType) -> Error {
    Error::unsupported(format!("Parquet has no place for {data_type}"))
}

impl Node {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Appends the leaves at and below it, in file order.
    pub(super) fn leaves<'a>(&'a self, leaves: &mut Vec<&'a Leaf>) {
        match &self.kind {
            Kind::Leaf(leaf) => leaves.push(leaf),
            Kind::Struct(children) => children.iter().for_each(|child| child.leaves(leaves)),
            Kind::List(element) => element.leaves(leaves),
            Kind::Map(pair) => pair.iter().for_each(|part| part.leaves(leaves)),
        }
    }

    /// Adds the schema elements of it and all below.
    fn build(&self, builder: &mut SchemaBuilder) {
        let repetition = if self.nullable { Repetition::Optional } else { Repetition::Required };
        let repeated = Repetition::Repeated;
        let mut node = match &self.kind {
            Kind::Leaf(leaf) => {
                let node = builder.leaf(&self.name, repetition, leaf.physical);
                if leaf.byte_width > 0 { node.byte_width(leaf.byte_width) } else { node }
            }
            Kind::Struct(children) => builder.group(&self.name, repetition, |group| {
                children.iter().for_each(|child| child.build(group));
            }),
            Kind::List(element) => builder.group(&self.name, repetition, |group| {
                group.group("list", repeated, |list| element.build(list));
            }),
            Kind::Map(pair) => builder.group(&self.name, repetition, |group| {
                group.group("key_value", repeated, |entries| {
                    pair.iter().for_each(|part| part.build(entries));
                });
            }),
        };
        if let Some(logical) = &self.logical {
            node = node.logical(logical.clone());
        }
        if let Some(id) = self.field_id {
            node.field_id(id);
        }
    }
}
