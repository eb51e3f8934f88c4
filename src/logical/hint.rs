//! What of the writer's Arrow schema is honoured: whatever agrees with the file.
//!
//! Takes the fields that the writer had, field by field, and the meaning of the file's leaves. Of a field that
//! disagrees only the type is left out. It knows nothing of how the hint is stored.
//!
//! | the file says | the hint may say |
//! | --- | --- |
//! | STRING, ENUM, JSON | LargeUtf8, Utf8View |
//! | BYTE_ARRAY | LargeBinary, BinaryView; without annotation also Utf8, LargeUtf8, Utf8View |
//! | INT32 without annotation | Time32 |
//! | INT64 without annotation | Timestamp, Time64, Duration, Date64 |
//! | DATE | Date64 |
//! | TIMESTAMP adjusted to UTC | another time zone (the unit stays the file's) |
//! | INT96 | Timestamp of any unit and time zone |
//! | DECIMAL | a decimal of another width, of the same precision and scale |
//! | INTERVAL | an interval of another unit |
//! | FIXED_LEN_BYTE_ARRAY(2) without annotation | Float16 |
//! | any of them but booleans and nulls | a dictionary of it |
//! | a list | a list of another kind; fixed-size ones from 1 element up |

use std::cell::OnceCell;
use std::collections::HashMap;

use super::leaf::Meaning;
use super::{Recipe, list_like};
use crate::arrow::schema::{DataType, Field, FieldRef, Fields, TimeUnit};
use crate::metadata::SchemaNode;

/// The hints for the children of one group.
pub(super) struct Hints<'a> {
    fields: Option<&'a Fields>,
    by_name: OnceCell<HashMap<&'a str, Option<&'a Field>>>,
}

impl<'a> Hints<'a> {
    pub(super) fn new(fields: Option<&'a Fields>) -> Self {
        Hints { fields, by_name: OnceCell::new() }
    }

    /// The hint for child `index`, which is called `name`: the field in its place, if that has its name; else the
    /// one field of that name (other tools drop and move columns, and keep the hint).
    pub(super) fn field(&self, index: usize, name: &str) -> Option<&'a Field> {
        let fields = self.fields?;
        match fields.get(index) {
            Some(field) if field.name() == name => Some(field),
            _ => *self.by_name.get_or_init(|| by_name(fields)).get(name)?,
        }
    }
}

/// Fields by name; `None` for a name that comes twice.
fn by_name(fields: &Fields) -> HashMap<&str, Option<&Field>> {
    let mut map = HashMap::with_capacity(fields.len());
    for field in fields {
        map.entry(field.name().as_str()).and_modify(|seen| *seen = None).or_insert(Some(field.as_ref()));
    }
    map
}

/// The type of a list of `item`, of the kind that the hint says.
pub(super) fn list_kind(hint: Option<&Field>, item: &FieldRef) -> DataType {
    match hint.map(Field::data_type) {
        // A list of fixed size 0 holds nothing, and there are files whose lists do: the levels say how long they are.
        Some(DataType::FixedSizeList(_, ..=0)) | None => DataType::List(item.clone()),
        Some(kind) => list_like(kind, item),
    }
}

/// The type of leaf `node`: `hint`, or as much of it as agrees with what the values mean.
pub(super) fn refine(node: &SchemaNode, meaning: Meaning, hint: &DataType) -> DataType {
    let plain = meaning.data_type();
    let hinted = match hint {
        DataType::Dictionary(key, value) => {
            let value_type = agreed(meaning, &plain, value);
            match value_type == **value {
                true => DataType::Dictionary(key.clone(), Box::new(value_type)),
                false => value_type,
            }
        }
        _ => agreed(meaning, &plain, hint),
    };
    // What the table allows and no conversion gives would be a fault of ours, and no reason to lose the column.
    if Recipe::new(node, &hinted).is_ok() { hinted } else { plain }
}

fn agreed(meaning: Meaning, plain: &DataType, hint: &DataType) -> DataType {
    use DataType::{
        BinaryView, Date64, Decimal32, Decimal64, Decimal128, Decimal256, Duration, Interval, LargeBinary,
        LargeUtf8, Time32, Time64, Timestamp, Utf8, Utf8View,
    };
    let agrees = match (meaning, hint) {
        (Meaning::Utf8, LargeUtf8 | Utf8View) => true,
        (Meaning::Binary { .. }, LargeBinary | BinaryView) => true,
        (Meaning::Binary { plain }, Utf8 | LargeUtf8 | Utf8View) => plain,
        (Meaning::Integer { bits: 32, plain, .. }, Time32(TimeUnit::Second | TimeUnit::Millisecond)) => plain,
        (
            Meaning::Integer { bits: 64, plain, .. },
            Timestamp(..) | Duration(_) | Date64 | Time64(TimeUnit::Microsecond | TimeUnit::Nanosecond),
        ) => plain,
        (Meaning::Date, Date64) => true,
        (Meaning::Timestamp { utc: true, .. }, Timestamp(_, Some(zone))) => {
            return match plain {
                Timestamp(unit, _) => Timestamp(*unit, Some(zone.clone())),
                other => other.clone(),
            };
        }
        (Meaning::Int96, Timestamp(..)) => true,
        (
            Meaning::Decimal { precision, scale },
            &(Decimal32(p, s) | Decimal64(p, s) | Decimal128(p, s) | Decimal256(p, s)),
        ) => (precision, scale) == (p, s),
        (Meaning::Interval, Interval(_)) => true,
        (Meaning::FixedSizeBinary { width: 2 }, DataType::Float16) => true,
        _ => false,
    };
    if agrees { hint.clone() } else { plain.clone() }
}
