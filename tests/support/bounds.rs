//! Values as bounds, one by one, and whether statistics hold for them.

use std::ops::Range;

use marquetry::arrow::array::cast::AsArray;
use marquetry::arrow::array::types::*;
use marquetry::arrow::array::{Array, ArrayRef};
use marquetry::arrow::buffer::i256;
use marquetry::arrow::schema::DataType;
use marquetry::metadata::{Bound, Statistics};

/// What a slot of a column is to statistics.
#[derive(Debug, Clone, PartialEq)]
pub enum Slot {
    Null,
    NaN,
    Value(Bound),
}

/// The slots of a flat array; `None` for types whose values have no order.
pub fn slots(array: &ArrayRef) -> Option<Vec<Slot>> {
    macro_rules! numbers {
        ($type:ty, $variant:ident) => {
            all(array
                .as_primitive::<$type>()
                .iter()
                .map(|v| v.map(|v| Slot::Value(Bound::$variant(v.into())))))
        };
    }
    macro_rules! decimals {
        ($type:ty, $convert:expr) => {
            all(array
                .as_primitive::<$type>()
                .iter()
                .map(|v| v.map(|v| Slot::Value(Bound::Decimal($convert(v))))))
        };
    }
    fn all(slots: impl Iterator<Item = Option<Slot>>) -> Vec<Slot> {
        slots.map(|slot| slot.unwrap_or(Slot::Null)).collect()
    }
    fn bytes<'a>(values: impl Iterator<Item = Option<&'a [u8]>>) -> Vec<Slot> {
        all(values.map(|v| v.map(|v| Slot::Value(Bound::Bytes(v.to_vec())))))
    }
    fn double(v: f64) -> Slot {
        if v.is_nan() { Slot::NaN } else { Slot::Value(Bound::Double(v)) }
    }
    fn float(v: f32) -> Slot {
        if v.is_nan() { Slot::NaN } else { Slot::Value(Bound::Float(v)) }
    }
    Some(match array.data_type() {
        DataType::Boolean => {
            all(array.as_boolean().iter().map(|v| v.map(|v| Slot::Value(Bound::Boolean(v)))))
        }
        DataType::Int8 => numbers!(Int8Type, Int32),
        DataType::Int16 => numbers!(Int16Type, Int32),
        DataType::Int32 => numbers!(Int32Type, Int32),
        DataType::Int64 => numbers!(Int64Type, Int64),
        DataType::UInt8 => numbers!(UInt8Type, UInt32),
        DataType::UInt16 => numbers!(UInt16Type, UInt32),
        DataType::UInt32 => numbers!(UInt32Type, UInt32),
        DataType::UInt64 => numbers!(UInt64Type, UInt64),
        DataType::Date32 => numbers!(Date32Type, Int32),
        DataType::Float16 => {
            all(array.as_primitive::<Float16Type>().iter().map(|v| v.map(|v| float(v.to_f32()))))
        }
        DataType::Float32 => all(array.as_primitive::<Float32Type>().iter().map(|v| v.map(float))),
        DataType::Float64 => all(array.as_primitive::<Float64Type>().iter().map(|v| v.map(double))),
        DataType::Decimal32(..) => decimals!(Decimal32Type, i256::from),
        DataType::Decimal64(..) => decimals!(Decimal64Type, i256::from),
        DataType::Decimal128(..) => decimals!(Decimal128Type, i256::from_i128),
        DataType::Decimal256(..) => decimals!(Decimal256Type, |v| v),
        DataType::Utf8 => bytes(array.as_string::<i32>().iter().map(|v| v.map(str::as_bytes))),
        DataType::LargeUtf8 => bytes(array.as_string::<i64>().iter().map(|v| v.map(str::as_bytes))),
        DataType::Utf8View => bytes(array.as_string_view().iter().map(|v| v.map(str::as_bytes))),
        DataType::Binary => bytes(array.as_binary::<i32>().iter()),
        DataType::LargeBinary => bytes(array.as_binary::<i64>().iter()),
        DataType::BinaryView => bytes(array.as_binary_view().iter()),
        DataType::FixedSizeBinary(_) => bytes(array.as_fixed_size_binary().iter()),
        DataType::Dictionary(..) => return dictionary(array),
        _ => return None,
    })
}

fn dictionary(array: &ArrayRef) -> Option<Vec<Slot>> {
    let dictionary = array.as_any_dictionary();
    if dictionary.values().is_empty() {
        return Some(vec![Slot::Null; array.len()]);
    }
    let values = slots(dictionary.values())?;
    let keys = dictionary.normalized_keys();
    Some(
        (0..array.len())
            .map(|i| if array.is_null(i) { Slot::Null } else { values[keys[i]].clone() })
            .collect(),
    )
}

/// Whether a reader that looks for `wanted` must read what these statistics are of.
pub fn may_hold(statistics: &Statistics, wanted: &Slot, num_values: u64) -> bool {
    match wanted {
        Slot::Null => statistics.null_count != Some(0),
        Slot::NaN => statistics.may_have_nan,
        Slot::Value(value) => {
            statistics.null_count != Some(num_values)
                && statistics.min.as_ref().is_none_or(|min| min <= value)
                && statistics.max.as_ref().is_none_or(|max| value <= max)
        }
    }
}

/// Asserts that statistics are true of these slots, and as sharp as they say.
pub fn check(statistics: &Statistics, slots: &[Slot], place: &str) {
    for slot in slots {
        assert!(
            may_hold(statistics, slot, slots.len() as u64),
            "{place}: {slot:?} is lost by {statistics:?}"
        );
    }
    let count = |of: fn(&Slot) -> bool| slots.iter().filter(|slot| of(slot)).count() as u64;
    let nulls = count(|slot| matches!(slot, Slot::Null));
    assert!(statistics.null_count.is_none_or(|n| n == nulls), "{place}: {nulls} nulls, {statistics:?}");
    let nans = count(|slot| matches!(slot, Slot::NaN));
    assert!(statistics.nan_count.is_none_or(|n| n == nans), "{place}: {nans} NaNs, {statistics:?}");
    for (bound, exact) in
        [(&statistics.min, statistics.is_min_exact), (&statistics.max, statistics.is_max_exact)]
    {
        if let (Some(bound), true) = (bound, exact) {
            let same = |slot: &Slot| matches!(slot, Slot::Value(value) if value == bound);
            assert!(slots.iter().any(same), "{place}: {bound:?} is called exact and is no value");
        }
    }
}

/// The slots of `rows`.
pub fn of_rows(slots: &[Slot], rows: Range<u64>) -> &[Slot] {
    &slots[rows.start as usize..rows.end as usize]
}
