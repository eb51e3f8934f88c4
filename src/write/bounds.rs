//! The smallest and largest values of a page or chunk, in the order of the column's type.
//!
//! Takes dense physical values; gives bounds in their PLAIN encoding, as statistics hold them. Which order a type has is
//! said under `ColumnOrder` in `parquet.thrift`.

use std::cmp::Ordering;

use crate::encoding::byte_strings::ByteStrings;
use crate::metadata::{ColumnOrder, LogicalType, NodeKind, PhysicalType, SchemaNode};
use crate::raw::fixed::same_width;
use crate::statistics::{ByteRange, DecimalBytesRange, FloatRange, FloatValue, IntegerRange};

/// Bounds of one column's values.
#[derive(Debug, Clone)]
pub(super) enum Bounds {
    /// The type has no order.
    None,
    Boolean(IntegerRange<bool>),
    Int32(IntegerRange<i32>),
    UInt32(IntegerRange<u32>),
    Int64(IntegerRange<i64>),
    UInt64(IntegerRange<u64>),
    Float(FloatRange<f32>),
    Double(FloatRange<f64>),
    Float16(FloatRange<u16>),
    Bytes(ByteRange),
    /// Signed big-endian numbers of one length.
    Decimal(DecimalBytesRange),
}

impl Bounds {
    /// Of no values of leaf `node`.
    pub(super) fn new(node: &SchemaNode) -> Self {
        use LogicalType as L;
        use PhysicalType as P;
        let NodeKind::Leaf { physical, .. } = node.kind else { return Bounds::None };
        match (physical, &node.logical) {
            (_, Some(L::Unknown | L::Interval | L::Geometry { .. } | L::Geography { .. })) => Bounds::None,
            (P::Boolean, _) => Bounds::Boolean(IntegerRange::new()),
            (P::Int32, Some(L::Integer { signed: false, .. })) => Bounds::UInt32(IntegerRange::new()),
            (P::Int32, _) => Bounds::Int32(IntegerRange::new()),
            (P::Int64, Some(L::Integer { signed: false, .. })) => Bounds::UInt64(IntegerRange::new()),
            (P::Int64, _) => Bounds::Int64(IntegerRange::new()),
            (P::Float, _) => Bounds::Float(FloatRange::new()),
            (P::Double, _) => Bounds::Double(FloatRange::new()),
            (P::FixedLenByteArray, Some(L::Float16)) => Bounds::Float16(FloatRange::new()),
            (P::FixedLenByteArray, Some(L::Decimal { .. })) => Bounds::Decimal(DecimalBytesRange::new()),
            (P::ByteArray | P::FixedLenByteArray, _) => Bounds::Bytes(ByteRange::new()),
            (P::Int96 | P::Unknown(_), _) => Bounds::None,
        }
    }

    pub(super) fn update_i32(&mut self, values: &[i32]) {
        match self {
            Bounds::Int32(range) => range.update(values),
            Bounds::UInt32(range) => range.update(same_width(values)),
            _ => {}
        }
    }

    pub(super) fn update_i64(&mut self, values: &[i64]) {
        match self {
            Bounds::Int64(range) => range.update(values),
            Bounds::UInt64(range) => range.update(same_width(values)),
            _ => {}
        }
    }

    pub(super) fn update_f32(&mut self, values: &[f32]) {
        if let Bounds::Float(range) = self {
            range.update(values);
        }
    }

    pub(super) fn update_f64(&mut self, values: &[f64]) {
        if let Bounds::Double(range) = self {
            range.update(values);
        }
    }

    pub(super) fn update_bytes(&mut self, values: impl ByteStrings) {
        match self {
            Bounds::Bytes(range) => range.update(values),
            Bounds::Decimal(range) => range.update(values),
            Bounds::Float16(range) => {
                let half =
                    |index| values.value(index).first_chunk().map_or(0, |bytes| u16::from_le_bytes(*bytes));
                let mut some = [0; 256];
                let mut done = 0;
                while done < values.len() {
                    let len = some.len().min(values.len() - done);
                    some.iter_mut().zip(done..values.len()).for_each(|(to, index)| *to = half(index));
                    range.update(some.get(..len).unwrap_or_default());
                    done += len;
                }
            }
            _ => {}
        }
    }

    /// Takes those of another part of the column in.
    pub(super) fn merge(&mut self, other: &Bounds) {
        match (self, other) {
            (Bounds::Boolean(a), Bounds::Boolean(b)) => a.merge(b),
            (Bounds::Int32(a), Bounds::Int32(b)) => a.merge(b),
            (Bounds::UInt32(a), Bounds::UInt32(b)) => a.merge(b),
            (Bounds::Int64(a), Bounds::Int64(b)) => a.merge(b),
            (Bounds::UInt64(a), Bounds::UInt64(b)) => a.merge(b),
            (Bounds::Float(a), Bounds::Float(b)) => a.merge(b),
            (Bounds::Double(a), Bounds::Double(b)) => a.merge(b),
            (Bounds::Float16(a), Bounds::Float16(b)) => a.merge(b),
            (Bounds::Bytes(a), Bounds::Bytes(b)) => a.merge(b),
            (Bounds::Decimal(a), Bounds::Decimal(b)) => a.merge(b),
            _ => {}
        }
    }

    /// Forgets all values.
    pub(super) fn clear(&mut self) {
        match self {
            Bounds::None => {}
            Bounds::Boolean(range) => *range = IntegerRange::new(),
            Bounds::Int32(range) => *range = IntegerRange::new(),
            Bounds::UInt32(range) => *range = IntegerRange::new(),
            Bounds::Int64(range) => *range = IntegerRange::new(),
            Bounds::UInt64(range) => *range = IntegerRange::new(),
            Bounds::Float(range) => *range = FloatRange::new(),
            Bounds::Double(range) => *range = FloatRange::new(),
            Bounds::Float16(range) => *range = FloatRange::new(),
            Bounds::Bytes(range) => range.clear(),
            Bounds::Decimal(range) => range.clear(),
        }
    }

    /// The smallest and the largest value in their PLAIN encoding, strings without their length; `None` where no value
    /// has a place in the order.
    pub(super) fn encoded(&self, order: ColumnOrder) -> Option<(Vec<u8>, Vec<u8>)> {
        macro_rules! numbers {
            ($bounds:expr) => {
                $bounds.map(|(min, max)| (min.to_le_bytes().to_vec(), max.to_le_bytes().to_vec()))
            };
        }
        match self {
            Bounds::None => None,
            Bounds::Boolean(range) => range.bounds().map(|(min, max)| (vec![min.into()], vec![max.into()])),
            Bounds::Int32(range) => numbers!(range.bounds()),
            Bounds::UInt32(range) => numbers!(range.bounds()),
            Bounds::Int64(range) => numbers!(range.bounds()),
            Bounds::UInt64(range) => numbers!(range.bounds()),
            Bounds::Float(range) => numbers!(range.bounds(order)),
            Bounds::Double(range) => numbers!(range.bounds(order)),
            Bounds::Float16(range) => numbers!(range.bounds(order)),
            Bounds::Bytes(range) => range.bounds().map(|(min, max)| (min.to_vec(), max.to_vec())),
            Bounds::Decimal(range) => range.bounds().map(|(min, max)| (min.to_vec(), max.to_vec())),
        }
    }

    /// NaNs among the values, for types that have some.
    pub(super) fn nan_count(&self) -> Option<u64> {
        match self {
            Bounds::Float(range) => Some(range.nan_count()),
            Bounds::Double(range) => Some(range.nan_count()),
            Bounds::Float16(range) => Some(range.nan_count()),
            _ => None,
        }
    }

    /// Compares two encoded bounds.
    pub(super) fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        fn float<F: FloatValue>(a: F, b: F) -> Ordering {
            a.key().cmp(&b.key())
        }
        macro_rules! by {
            ($type:ty, $compare:expr) => {
                match (a.first_chunk(), b.first_chunk()) {
                    (Some(a), Some(b)) => $compare(<$type>::from_le_bytes(*a), <$type>::from_le_bytes(*b)),
                    _ => a.cmp(b),
                }
            };
        }
        match self {
            Bounds::Int32(_) => by!(i32, |a: i32, b| a.cmp(&b)),
            Bounds::UInt32(_) => by!(u32, |a: u32, b| a.cmp(&b)),
            Bounds::Int64(_) => by!(i64, |a: i64, b| a.cmp(&b)),
            Bounds::UInt64(_) => by!(u64, |a: u64, b| a.cmp(&b)),
            Bounds::Float(_) => by!(f32, float),
            Bounds::Double(_) => by!(f64, float),
            Bounds::Float16(_) => by!(u16, float),
            // The sign bit turned over, numbers of one length are in the order of their bytes.
            Bounds::Decimal(_) => {
                let sign = |bytes: &[u8]| bytes.first().is_none_or(|first| first >> 7 == 0);
                sign(a).cmp(&sign(b)).then_with(|| a.cmp(b))
            }
            Bounds::None | Bounds::Boolean(_) | Bounds::Bytes(_) => a.cmp(b),
        }
    }

    /// Whether long bounds may be cut.
    pub(super) fn can_be_cut(&self) -> bool {
        matches!(self, Bounds::Bytes(_))
    }
}
