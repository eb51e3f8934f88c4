//! Lower and upper bounds: bytes of statistics and a column's type in, typed values that can be trusted out.
//!
//! A bound that cannot be trusted is no bound. The rules are those of `ColumnOrder` in `parquet.thrift`, and of
//! parquet-java for what older writers left.

use std::cmp::Ordering;

use super::{ColumnOrder, LogicalType, NodeKind, PhysicalType, SchemaNode};
use crate::arrow::array::types::{ArrowPrimitiveType, Float16Type};
use crate::arrow::buffer::i256;

/// The smallest or largest value, or a value beyond it. Never NaN.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Bound {
    /// BOOLEAN.
    Boolean(bool),
    /// INT32, also as date or time.
    Int32(i32),
    /// INT64, also as time or timestamp.
    Int64(i64),
    /// INT32 of an unsigned type.
    UInt32(u32),
    /// INT64 of an unsigned type.
    UInt64(u64),
    /// FLOAT, and FLOAT16, every value of which is a FLOAT.
    Float(f32),
    /// DOUBLE.
    Double(f64),
    /// A decimal of any physical type: its value without the scale.
    Decimal(i256),
    /// Anything else stored as bytes, in the order of unsigned bytes. Not always UTF-8 where the values are: it may
    /// be cut.
    Bytes(Vec<u8>),
}

impl PartialOrd for Bound {
    /// The column's order; `None` for bounds of different types.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Bound::Boolean(a), Bound::Boolean(b)) => a.partial_cmp(b),
            (Bound::Int32(a), Bound::Int32(b)) => a.partial_cmp(b),
            (Bound::Int64(a), Bound::Int64(b)) => a.partial_cmp(b),
            (Bound::UInt32(a), Bound::UInt32(b)) => a.partial_cmp(b),
            (Bound::UInt64(a), Bound::UInt64(b)) => a.partial_cmp(b),
            (Bound::Float(a), Bound::Float(b)) => a.partial_cmp(b),
            (Bound::Double(a), Bound::Double(b)) => a.partial_cmp(b),
            (Bound::Decimal(a), Bound::Decimal(b)) => a.partial_cmp(b),
            (Bound::Bytes(a), Bound::Bytes(b)) => a.partial_cmp(b),
            _ => None,
        }
    }
}

/// How to read the bounds of one column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct BoundType {
    values: Values,
    /// Bytes a value, for FIXED_LEN_BYTE_ARRAY.
    byte_width: Option<usize>,
    order: ColumnOrder,
}

/// What bounds are, once read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Values {
    Boolean,
    Int32,
    Int64,
    UInt32,
    UInt64,
    Float16,
    Float,
    Double,
    DecimalInt32,
    DecimalInt64,
    DecimalBytes,
    Bytes,
}

/// A lower and an upper bound, and whether each had to be moved outwards.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Pair {
    pub(super) min: Option<Bound>,
    pub(super) max: Option<Bound>,
    pub(super) min_moved: bool,
    pub(super) max_moved: bool,
}

impl BoundType {
    /// `None` where the column's values have no order that this crate knows: groups, INT96, INTERVAL, geometries, an
    /// annotation that it does not know (whose order may be another than the physical type's).
    pub(super) fn of(node: &SchemaNode, order: ColumnOrder) -> Option<Self> {
        let NodeKind::Leaf { physical, byte_width, .. } = node.kind else { return None };
        if node.has_unknown_annotation {
            return None;
        }
        let values = values(physical, node.logical.as_ref())?;
        let is_fixed = physical == PhysicalType::FixedLenByteArray;
        if values == Values::Float16 && byte_width != 2 {
            return None;
        }
        Some(BoundType { values, byte_width: is_fixed.then_some(byte_width), order })
    }

    fn is_float(self) -> bool {
        matches!(self.values, Values::Float16 | Values::Float | Values::Double)
    }

    /// Whether the order that the file says of the column is one that this crate knows, and fits its type.
    pub(super) fn has_order(self) -> bool {
        match self.order {
            ColumnOrder::TypeDefined => true,
            ColumnOrder::Ieee754Total => self.is_float(),
            _ => false,
        }
    }

    /// `min_value` and `max_value`, which are in the order that the file says of the column.
    pub(super) fn read(self, min: Option<&[u8]>, max: Option<&[u8]>) -> Pair {
        if self.has_order() { self.pair(min, max) } else { Pair::default() }
    }

    /// The deprecated `min` and `max`, which are in signed order whatever the column. Unsigned columns can use them
    /// where they are equal. Strings cannot even then: before PARQUET-251 was mended both could be the last value.
    pub(super) fn read_deprecated(self, min: Option<&[u8]>, max: Option<&[u8]>) -> Pair {
        match self.values {
            Values::Boolean | Values::Int32 | Values::Int64 | Values::Float | Values::Double => {}
            Values::DecimalInt32 | Values::DecimalInt64 => {}
            Values::UInt32 | Values::UInt64 if min == max => {}
            _ => return Pair::default(),
        }
        BoundType { order: ColumnOrder::TypeDefined, ..self }.pair(min, max)
    }

    fn pair(self, min: Option<&[u8]>, max: Option<&[u8]>) -> Pair {
        let mut pair = Pair {
            min: min.and_then(|bytes| self.bound(bytes)),
            max: max.and_then(|bytes| self.bound(bytes)),
            ..Pair::default()
        };
        // NaN beside a number, or bounds the wrong way round: whoever wrote that compared in another way than we.
        let is_nan = |bound: &Option<Bound>| bound.as_ref().is_some_and(Bound::is_nan);
        if is_nan(&pair.min) || is_nan(&pair.max) {
            return Pair::default();
        }
        if let (Some(min), Some(max)) = (&pair.min, &pair.max)
            && min.partial_cmp(max) == Some(Ordering::Greater)
        {
            return Pair::default();
        }
        if self.order == ColumnOrder::TypeDefined {
            pair.min_moved = pair.min.as_mut().is_some_and(Bound::lower_zero);
            pair.max_moved = pair.max.as_mut().is_some_and(Bound::raise_zero);
        }
        pair
    }

    /// One bound; `None` where its length is not that of a value.
    fn bound(self, bytes: &[u8]) -> Option<Bound> {
        Some(match self.values {
            Values::Boolean => match bytes {
                [byte @ (0 | 1)] => Bound::Boolean(*byte == 1),
                _ => return None,
            },
            Values::Int32 => Bound::Int32(i32::from_le_bytes(array(bytes)?)),
            Values::Int64 => Bound::Int64(i64::from_le_bytes(array(bytes)?)),
            Values::UInt32 => Bound::UInt32(u32::from_le_bytes(array(bytes)?)),
            Values::UInt64 => Bound::UInt64(u64::from_le_bytes(array(bytes)?)),
            Values::Float16 => {
                let half = <Float16Type as ArrowPrimitiveType>::Native::from_le_bytes(array(bytes)?);
                Bound::Float(half.to_f32())
            }
            Values::Float => Bound::Float(f32::from_le_bytes(array(bytes)?)),
            Values::Double => Bound::Double(f64::from_le_bytes(array(bytes)?)),
            Values::DecimalInt32 => Bound::Decimal(i256::from(i32::from_le_bytes(array(bytes)?))),
            Values::DecimalInt64 => Bound::Decimal(i256::from(i64::from_le_bytes(array(bytes)?))),
            Values::DecimalBytes => match self.byte_width {
                Some(width) if width != bytes.len() => return None,
                _ => Bound::Decimal(decimal(bytes)?),
            },
            // A cut bound of a fixed width is shorter, and a bound all the same.
            Values::Bytes => match self.byte_width {
                Some(width) if width < bytes.len() => return None,
                _ => Bound::Bytes(bytes.to_vec()),
            },
        })
    }
}

impl Bound {
    fn is_nan(&self) -> bool {
        match self {
            Bound::Float(value) => value.is_nan(),
            Bound::Double(value) => value.is_nan(),
            _ => false,
        }
    }

    /// A minimum of +0 may stand for -0; gives whether it was one.
    fn lower_zero(&mut self) -> bool {
        match self {
            Bound::Float(value) if value.to_bits() == 0 => *value = -0.0,
            Bound::Double(value) if value.to_bits() == 0 => *value = -0.0,
            _ => return false,
        }
        true
    }

    /// A maximum of -0 may stand for +0; gives whether it was one.
    fn raise_zero(&mut self) -> bool {
        match self {
            Bound::Float(value) if *value == 0.0 && value.is_sign_negative() => *value = 0.0,
            Bound::Double(value) if *value == 0.0 && value.is_sign_negative() => *value = 0.0,
            _ => return false,
        }
        true
    }
}

/// Whether a column's values may be NaN.
pub(super) fn is_float(node: &SchemaNode) -> bool {
    match node.physical_type() {
        Some(PhysicalType::Float | PhysicalType::Double) => true,
        _ => node.logical == Some(LogicalType::Float16),
    }
}

fn values(physical: PhysicalType, logical: Option<&LogicalType>) -> Option<Values> {
    use LogicalType as L;
    use PhysicalType as P;
    Some(match (physical, logical) {
        (P::Boolean, None) => Values::Boolean,
        (P::Int32, Some(L::Integer { signed: false, .. })) => Values::UInt32,
        (P::Int32, None | Some(L::Integer { .. } | L::Date | L::Time { .. })) => Values::Int32,
        (P::Int64, Some(L::Integer { signed: false, .. })) => Values::UInt64,
        (P::Int64, None | Some(L::Integer { .. } | L::Time { .. } | L::Timestamp { .. })) => Values::Int64,
        (P::Float, None) => Values::Float,
        (P::Double, None) => Values::Double,
        (P::Int32, Some(L::Decimal { .. })) => Values::DecimalInt32,
        (P::Int64, Some(L::Decimal { .. })) => Values::DecimalInt64,
        (P::ByteArray | P::FixedLenByteArray, Some(L::Decimal { .. })) => Values::DecimalBytes,
        (P::FixedLenByteArray, Some(L::Float16)) => Values::Float16,
        (P::ByteArray, None | Some(L::String | L::Enum | L::Json | L::Bson)) => Values::Bytes,
        (P::FixedLenByteArray, None | Some(L::Uuid | L::String | L::Enum)) => Values::Bytes,
        _ => return None,
    })
}

fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

/// A big-endian number in two's complement of 1 to 32 bytes.
fn decimal(bytes: &[u8]) -> Option<i256> {
    let sign = if bytes.first()? & 0x80 == 0 { 0 } else { 0xff };
    let mut wide = [sign; 32];
    let start = wide.len().checked_sub(bytes.len())?;
    wide.get_mut(start..)?.copy_from_slice(bytes);
    Some(i256::from_be_bytes(wide))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{Repetition, SchemaBuilder};

    fn bound_type(
        physical: PhysicalType,
        logical: Option<LogicalType>,
        order: ColumnOrder,
    ) -> Option<BoundType> {
        let mut builder = SchemaBuilder::new("root");
        let node = builder.leaf("x", Repetition::Optional, physical).byte_width(2);
        if let Some(logical) = logical {
            node.logical(logical);
        }
        BoundType::of(builder.finish().unwrap().leaf(0).unwrap(), order)
    }

    fn typed(physical: PhysicalType, logical: Option<LogicalType>) -> BoundType {
        bound_type(physical, logical, ColumnOrder::TypeDefined).unwrap()
    }

    fn unsigned(bit_width: u8) -> Option<LogicalType> {
        Some(LogicalType::Integer { bit_width, signed: false })
    }

    fn decimal_type() -> Option<LogicalType> {
        Some(LogicalType::Decimal { precision: 4, scale: 1 })
    }

    fn doubles(order: ColumnOrder, min: f64, max: f64) -> Pair {
        let bound_type = bound_type(PhysicalType::Double, None, order).unwrap();
        bound_type.read(Some(&min.to_le_bytes()), Some(&max.to_le_bytes()))
    }

    #[test]
    fn integers_compare_as_their_type_says() {
        let (small, large) = (1u32.to_le_bytes(), 4_000_000_000u32.to_le_bytes());
        let pair = typed(PhysicalType::Int32, unsigned(32)).read(Some(&small), Some(&large));
        assert_eq!((pair.min, pair.max), (Some(Bound::UInt32(1)), Some(Bound::UInt32(4_000_000_000))));
        // The same bytes the other way round are in signed order, and useless to an unsigned column.
        let deprecated = typed(PhysicalType::Int32, unsigned(32)).read_deprecated(Some(&large), Some(&small));
        assert_eq!(deprecated, Pair::default());
        let equal = typed(PhysicalType::Int32, unsigned(32)).read_deprecated(Some(&large), Some(&large));
        assert_eq!(equal.min, Some(Bound::UInt32(4_000_000_000)));
        let signed = typed(PhysicalType::Int32, None).read_deprecated(Some(&large), Some(&small));
        assert_eq!((signed.min, signed.max), (Some(Bound::Int32(-294_967_296)), Some(Bound::Int32(1))));
        let wide = typed(PhysicalType::Int64, unsigned(64)).read(Some(&[0; 8]), Some(&[0xff; 8]));
        assert_eq!(wide.max, Some(Bound::UInt64(u64::MAX)));
    }

    #[test]
    fn decimals_compare_by_value_whatever_their_bytes() {
        let ten = Some(Bound::Decimal(i256::from(10)));
        let minus_one = Some(Bound::Decimal(i256::from(-1)));
        let fixed = typed(PhysicalType::FixedLenByteArray, decimal_type());
        let pair = fixed.read(Some(&[0xff, 0xff]), Some(&[0, 10]));
        assert_eq!((pair.min, pair.max), (minus_one.clone(), ten.clone()));
        assert_eq!(fixed.read(Some(&[0xff]), Some(&[0, 0, 10])), Pair::default());
        let bytes = typed(PhysicalType::ByteArray, decimal_type());
        let pair = bytes.read(Some(&[0xff; 32]), Some(&[10]));
        assert_eq!((pair.min, pair.max), (minus_one.clone(), ten.clone()));
        assert_eq!(bytes.read(Some(&[]), Some(&[0; 33])), Pair::default());
        let ints = typed(PhysicalType::Int32, decimal_type());
        let pair = ints.read_deprecated(Some(&[0xff; 4]), Some(&[10, 0, 0, 0]));
        assert_eq!((pair.min, pair.max), (minus_one, ten));
        assert_eq!(bytes.read_deprecated(Some(&[1]), Some(&[1])), Pair::default());
    }

    #[test]
    fn nan_is_no_bound_and_takes_the_other_with_it() {
        for order in [ColumnOrder::TypeDefined, ColumnOrder::Ieee754Total] {
            assert_eq!(doubles(order, f64::NAN, 1.0), Pair::default());
            assert_eq!(doubles(order, 1.0, -f64::NAN), Pair::default());
            assert_eq!(doubles(order, 1.0, 2.0).max, Some(Bound::Double(2.0)));
        }
        let half =
            bound_type(PhysicalType::FixedLenByteArray, Some(LogicalType::Float16), ColumnOrder::TypeDefined);
        let half = half.unwrap();
        assert_eq!(half.read(Some(&[0, 0x7e]), Some(&[0, 0x3c])), Pair::default());
        assert_eq!(half.read(None, Some(&[0, 0x3c])).max, Some(Bound::Float(1.0)));
    }

    #[test]
    fn zeros_are_moved_outwards_unless_the_order_tells_them_apart() {
        let bits = |bound: &Option<Bound>| match bound {
            Some(Bound::Double(value)) => value.to_bits(),
            _ => panic!(),
        };
        let pair = doubles(ColumnOrder::TypeDefined, 0.0, -0.0);
        assert_eq!((bits(&pair.min), bits(&pair.max)), ((-0.0f64).to_bits(), 0));
        assert!(pair.min_moved && pair.max_moved);
        let pair = doubles(ColumnOrder::TypeDefined, -0.0, 0.0);
        assert!(!pair.min_moved && !pair.max_moved);
        let pair = doubles(ColumnOrder::Ieee754Total, 0.0, 0.0);
        assert_eq!((bits(&pair.min), pair.min_moved), (0, false));
    }

    #[test]
    fn an_order_that_is_not_known_gives_no_bounds() {
        let bytes = [1, 0, 0, 0];
        for order in [
            ColumnOrder::Undefined,
            ColumnOrder::Unknown,
            ColumnOrder::Int96Timestamp,
            ColumnOrder::Ieee754Total,
        ] {
            let int = bound_type(PhysicalType::Int32, None, order).unwrap();
            assert_eq!(int.read(Some(&bytes), Some(&bytes)), Pair::default(), "{order:?}");
        }
        let none = |physical, logical| bound_type(physical, logical, ColumnOrder::TypeDefined);
        assert_eq!(none(PhysicalType::Int96, None), None);
        assert_eq!(none(PhysicalType::FixedLenByteArray, Some(LogicalType::Interval)), None);
        assert_eq!(none(PhysicalType::ByteArray, Some(LogicalType::Geometry { crs: None })), None);
        assert_eq!(none(PhysicalType::Unknown(9), None), None);
        assert_eq!(none(PhysicalType::Int32, Some(LogicalType::Unknown)), None);
    }

    #[test]
    fn wrong_lengths_and_reversed_bounds_are_none() {
        let int = typed(PhysicalType::Int64, None);
        assert_eq!(int.read(Some(&[0; 4]), Some(&[])), Pair::default());
        assert_eq!(int.read(Some(&[1; 8]), Some(&[0; 8])), Pair::default());
        let boolean = typed(PhysicalType::Boolean, None);
        assert_eq!(boolean.read(Some(&[2]), None), Pair::default());
        let fixed = typed(PhysicalType::FixedLenByteArray, None);
        assert_eq!(fixed.read(Some(b"a"), Some(b"abc")).max, None);
        assert_eq!(fixed.read(Some(b"a"), Some(b"b")).min, Some(Bound::Bytes(b"a".to_vec())));
    }

    #[test]
    fn strings_compare_as_unsigned_bytes_and_never_by_deprecated_bounds() {
        let string = typed(PhysicalType::ByteArray, Some(LogicalType::String));
        let pair = string.read(Some(b"az"), Some("a\u{e9}".as_bytes()));
        assert!(pair.min < pair.max);
        assert_eq!(string.read_deprecated(Some(b"az"), Some(b"b")), Pair::default());
        assert_eq!(string.read_deprecated(Some(b"b"), Some(b"b")), Pair::default());
    }
}
