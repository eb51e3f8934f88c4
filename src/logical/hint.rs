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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::testing::{Element, fixed, group, leaf, schema};
    use super::super::{Column, FIELD_ID_KEY, Shape, tree};
    use super::*;
    use crate::metadata::LogicalType as L;
    use crate::metadata::PhysicalType::*;
    use crate::metadata::Repetition::{Optional, Repeated, Required};
    use crate::metadata::TimeUnit as Unit;
    use DataType as D;

    fn plain(physical: crate::metadata::PhysicalType) -> Element {
        leaf(Optional, "x", physical)
    }

    fn hinted(element: Element, hint: Field) -> Column {
        tree::column(&schema(vec![element]), 1, Some(&hint)).unwrap()
    }

    fn refined(element: Element, hint: DataType) -> DataType {
        hinted(element, Field::new("x", hint, true)).field.data_type().clone()
    }

    #[test]
    fn types_that_agree_are_taken() {
        let dictionary = |value| D::Dictionary(Box::new(D::Int8), Box::new(value));
        let seconds = D::Timestamp(TimeUnit::Second, Some("Asia/Tokyo".into()));
        let decimal = || L::Decimal { precision: 9, scale: 2 };
        let table = [
            (plain(ByteArray).logical(L::String), D::LargeUtf8),
            (plain(ByteArray).logical(L::Json), D::Utf8View),
            (plain(ByteArray), D::LargeBinary),
            (plain(ByteArray), D::BinaryView),
            (plain(ByteArray), D::Utf8),
            (plain(Int32), D::Time32(TimeUnit::Second)),
            (plain(Int64), seconds.clone()),
            (plain(Int64), D::Duration(TimeUnit::Microsecond)),
            (plain(Int64), D::Date64),
            (plain(Int32).logical(L::Date), D::Date64),
            (plain(Int96), D::Timestamp(TimeUnit::Microsecond, None)),
            (plain(Int96), seconds),
            (plain(Int32).logical(decimal()), D::Decimal32(9, 2)),
            (plain(Int64).logical(decimal()), D::Decimal64(9, 2)),
            (fixed(Optional, "x", 5).logical(decimal()), D::Decimal256(9, 2)),
            (
                fixed(Optional, "x", 12).logical(L::Interval),
                D::Interval(crate::arrow::schema::IntervalUnit::DayTime),
            ),
            (fixed(Optional, "x", 2), D::Float16),
            (plain(ByteArray).logical(L::String), dictionary(D::Utf8)),
            (plain(ByteArray).logical(L::String), dictionary(D::LargeUtf8)),
            (plain(Int64), dictionary(D::Duration(TimeUnit::Second))),
            (plain(Double), dictionary(D::Float64)),
        ];
        for (element, hint) in table {
            assert_eq!(refined(element, hint.clone()), hint);
        }
    }

    #[test]
    fn types_that_disagree_are_left_out() {
        let dictionary = |key, value| D::Dictionary(Box::new(key), Box::new(value));
        let millis = |utc| plain(Int64).logical(L::Timestamp { unit: Unit::Millis, utc });
        let zone = |unit, zone: &str| D::Timestamp(unit, Some(zone.into()));
        let table = [
            (plain(ByteArray).logical(L::String), D::Binary, D::Utf8),
            (plain(ByteArray).logical(L::Bson), D::Utf8, D::Binary),
            (plain(Int32), D::Int8, D::Int32),
            (plain(Int32), D::Utf8, D::Int32),
            (plain(Int32), D::Null, D::Int32),
            (
                plain(Int32).logical(L::Integer { bit_width: 32, signed: true }),
                D::Time32(TimeUnit::Second),
                D::Int32,
            ),
            // Of the unit and the zone, the unit is the file's.
            (
                millis(true),
                zone(TimeUnit::Second, "Europe/Paris"),
                zone(TimeUnit::Millisecond, "Europe/Paris"),
            ),
            (millis(true), D::Timestamp(TimeUnit::Millisecond, None), zone(TimeUnit::Millisecond, "UTC")),
            (
                millis(false),
                zone(TimeUnit::Millisecond, "Europe/Paris"),
                D::Timestamp(TimeUnit::Millisecond, None),
            ),
            (
                plain(Int32).logical(L::Decimal { precision: 9, scale: 2 }),
                D::Decimal32(9, 3),
                D::Decimal128(9, 2),
            ),
            (
                plain(Int32).logical(L::Decimal { precision: 9, scale: 2 }),
                D::Decimal32(8, 2),
                D::Decimal128(9, 2),
            ),
            (plain(Boolean), dictionary(D::Int8, D::Boolean), D::Boolean),
            (plain(Int32), dictionary(D::Int8, D::Utf8), D::Int32),
            (plain(ByteArray), dictionary(D::Utf8, D::Utf8), D::Binary),
            // What a dictionary's values would be is taken where the dictionary is not.
            (plain(ByteArray), dictionary(D::Int8, dictionary(D::Int8, D::Utf8)), D::Binary),
            (
                millis(true),
                dictionary(D::Int8, zone(TimeUnit::Second, "Z")),
                zone(TimeUnit::Millisecond, "Z"),
            ),
        ];
        for (element, hint, expected) in table {
            assert_eq!(refined(element, hint.clone()), expected, "{hint}");
        }
    }

    fn list_of(element: Element) -> Element {
        group(Optional, "x", vec![group(Repeated, "list", vec![element])]).logical(L::List)
    }

    #[test]
    fn lists_take_the_kind_and_their_items_the_type() {
        let text = || leaf(Optional, "element", ByteArray).logical(L::String);
        let item = Arc::new(Field::new("item", D::LargeUtf8, false));
        let named = Arc::new(Field::new("element", D::LargeUtf8, true));
        let table = [
            (D::List(item.clone()), D::List(named.clone())),
            (D::LargeList(item.clone()), D::LargeList(named.clone())),
            (D::ListView(item.clone()), D::ListView(named.clone())),
            (D::LargeListView(item.clone()), D::LargeListView(named.clone())),
            (D::FixedSizeList(item.clone(), 3), D::FixedSizeList(named.clone(), 3)),
            (D::FixedSizeList(item.clone(), 0), D::List(named.clone())),
            (D::FixedSizeList(item, -1), D::List(named)),
        ];
        for (hint, expected) in table {
            assert_eq!(refined(list_of(text()), hint), expected);
        }
        assert_eq!(
            refined(list_of(text()), D::Int32).to_string(),
            refined(list_of(text()), D::Null).to_string()
        );
        let repeated = leaf(Repeated, "x", Int32);
        let item = Arc::new(Field::new("x", D::Time32(TimeUnit::Second), false));
        assert_eq!(refined(repeated, D::LargeList(item.clone())), D::LargeList(item));
    }

    #[test]
    fn structs_and_maps_take_hints_child_by_child() {
        let entries = vec![leaf(Required, "key", ByteArray), leaf(Optional, "value", Int64)];
        let map = group(Optional, "x", vec![group(Repeated, "key_value", entries)]).logical(L::Map);
        let fields = Fields::from(vec![
            Field::new("k", D::Utf8View, true),
            Field::new("v", D::Duration(TimeUnit::Second), true),
        ]);
        let hint = D::Map(Arc::new(Field::new("entries", D::Struct(fields), false)), true);
        let fields = Fields::from(vec![
            Field::new("key", D::Utf8View, false),
            Field::new("value", D::Duration(TimeUnit::Second), true),
        ]);
        let expected = D::Map(Arc::new(Field::new("key_value", D::Struct(fields), false)), true);
        assert_eq!(refined(map, hint), expected);

        let children =
            vec![leaf(Required, "a", Int64), leaf(Optional, "b", Int64), leaf(Optional, "c", Int64)];
        let hint = D::Struct(Fields::from(vec![
            Field::new("c", D::Date64, true),
            Field::new("b", D::Duration(TimeUnit::Second), false),
        ]));
        let D::Struct(fields) = refined(group(Optional, "x", children), hint) else { panic!() };
        let types: Vec<_> =
            fields.iter().map(|field| (field.data_type().clone(), field.is_nullable())).collect();
        assert_eq!(types, [(D::Int64, false), (D::Duration(TimeUnit::Second), true), (D::Date64, true)]);
    }

    #[test]
    fn hints_find_columns_that_moved_by_their_names() {
        let fields = vec![leaf(Required, "a", Int64), leaf(Required, "b", Int64), leaf(Required, "c", Int64)];
        let hint = Fields::from(vec![
            Field::new("b", D::Date64, true),
            Field::new("c", D::Duration(TimeUnit::Second), true),
            Field::new("c", D::Date64, true),
            Field::new("a", D::Duration(TimeUnit::Second), true),
        ]);
        let D::Struct(fields) = refined(group(Required, "x", fields), D::Struct(hint)) else { panic!() };
        let types: Vec<_> = fields.iter().map(|field| field.data_type().clone()).collect();
        assert_eq!(types, [D::Duration(TimeUnit::Second), D::Date64, D::Date64]);
    }

    #[test]
    fn metadata_and_extensions_come_from_the_hint() {
        let metadata = HashMap::from([
            ("ARROW:extension:name".to_owned(), "my.type".to_owned()),
            ("unit".to_owned(), "m".to_owned()),
        ]);
        let hint = |data_type| Field::new("x", data_type, true).with_metadata(metadata.clone());
        let column = hinted(plain(Int64).id(3), hint(D::Int64));
        assert_eq!(column.field.extension_type_name(), Some("my.type"));
        assert_eq!(column.field.metadata().get("unit").map(String::as_str), Some("m"));
        assert_eq!(column.field.metadata().get(FIELD_ID_KEY).map(String::as_str), Some("3"));
        let column = hinted(plain(Int64), hint(D::Int32));
        assert_eq!(column.field.extension_type_name(), None);
        assert_eq!(column.field.metadata().get("unit").map(String::as_str), Some("m"));
        let item = Arc::new(Field::new("item", D::Int32, true));
        let column = hinted(list_of(leaf(Optional, "element", Int32)), hint(D::List(item)));
        assert_eq!(column.field.extension_type_name(), Some("my.type"));
        assert!(matches!(column.shape, Shape::List { .. }));
        let column = hinted(list_of(leaf(Optional, "element", Int32)), hint(D::Binary));
        assert_eq!(column.field.extension_type_name(), None);
    }

    #[test]
    fn ordered_dictionaries_stay_ordered() {
        let dictionary = D::Dictionary(Box::new(D::Int8), Box::new(D::Utf8));
        let hint = Field::new("x", dictionary, true).with_dict_is_ordered(true);
        let column = hinted(plain(ByteArray).logical(L::String), hint);
        assert_eq!(column.field.dict_is_ordered(), Some(true));
    }
}
