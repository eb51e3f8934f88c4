//! Statistics of a column chunk or page: as they are in the file, and as typed bounds that can be trusted.

use super::bounds::{BoundType, is_float};
use super::{Bound, ColumnOrder, SchemaNode};
use crate::error::Result;
use crate::thrift::{Field, Reader, StructWriter};

/// `Statistics` of `parquet.thrift`, as they are in the file: bytes whose meaning depends on the column, and counts
/// that nothing has checked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EncodedStatistics {
    /// Deprecated: the largest value by signed comparison.
    pub max: Option<Vec<u8>>,
    /// Deprecated: the smallest value by signed comparison.
    pub min: Option<Vec<u8>>,
    /// How many nulls. `None` is unknown, not 0.
    pub null_count: Option<i64>,
    /// How many distinct values.
    pub distinct_count: Option<i64>,
    /// Upper bound by the column's order.
    pub max_value: Option<Vec<u8>>,
    /// Lower bound by the column's order.
    pub min_value: Option<Vec<u8>>,
    /// Whether `max_value` is a value of the column.
    pub is_max_value_exact: Option<bool>,
    /// Whether `min_value` is a value of the column.
    pub is_min_value_exact: Option<bool>,
    /// How many NaNs, for floating-point columns. `None` is unknown, not 0.
    pub nan_count: Option<i64>,
}

/// Statistics of a column chunk or page, as far as they can be trusted.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// No value that is neither null nor NaN is smaller.
    pub min: Option<Bound>,
    /// No value that is neither null nor NaN is larger.
    pub max: Option<Bound>,
    /// Whether `min` is known to be a value of the column, not only a bound.
    pub is_min_exact: bool,
    /// Whether `max` is known to be a value of the column, not only a bound.
    pub is_max_exact: bool,
    /// How many nulls. `None` is unknown, not 0.
    pub null_count: Option<u64>,
    /// How many distinct values.
    pub distinct_count: Option<u64>,
    /// How many NaNs. `None` is unknown, not 0.
    pub nan_count: Option<u64>,
    /// Whether there may be NaNs, which no bound covers: always false but for floating-point columns.
    pub may_have_nan: bool,
}

impl EncodedStatistics {
    /// What the statistics say, for a column of `node`'s type whose bounds are in `order`. A bound is left out where
    /// its order or length is not right, where it is NaN, or where both stand the wrong way round; a count where it
    /// is negative or more than `num_values`.
    ///
    /// The deprecated `min` and `max` are used where the newer fields are absent or in no known order, and their own
    /// order, which is signed, is the column's.
    pub fn decode(&self, node: &SchemaNode, order: ColumnOrder, num_values: u64) -> Statistics {
        let count = |count: Option<i64>| {
            count.and_then(|count| u64::try_from(count).ok()).filter(|&count| count <= num_values)
        };
        let mut statistics = Statistics {
            null_count: count(self.null_count),
            distinct_count: count(self.distinct_count),
            nan_count: count(self.nan_count),
            ..Statistics::default()
        };
        statistics.may_have_nan = is_float(node) && statistics.nan_count != Some(0);
        let Some(bound_type) = BoundType::of(node, order) else { return statistics };
        if bound_type.has_order() && (self.min_value.is_some() || self.max_value.is_some()) {
            let pair = bound_type.read(self.min_value.as_deref(), self.max_value.as_deref());
            statistics.is_min_exact =
                pair.min.is_some() && self.is_min_value_exact == Some(true) && !pair.min_moved;
            statistics.is_max_exact =
                pair.max.is_some() && self.is_max_value_exact == Some(true) && !pair.max_moved;
            (statistics.min, statistics.max) = (pair.min, pair.max);
        } else {
            let pair = bound_type.read_deprecated(self.min.as_deref(), self.max.as_deref());
            (statistics.min, statistics.max) = (pair.min, pair.max);
        }
        statistics
    }

    pub(super) fn read(reader: &mut Reader<'_>, field: Field) -> Result<Option<Self>> {
        let mut statistics = EncodedStatistics::default();
        let found = reader.struct_field(field, |r, field| {
            match field.id {
                1 => statistics.max = r.binary(field)?.map(<[u8]>::to_vec),
                2 => statistics.min = r.binary(field)?.map(<[u8]>::to_vec),
                3 => statistics.null_count = r.i64(field)?,
                4 => statistics.distinct_count = r.i64(field)?,
                5 => statistics.max_value = r.binary(field)?.map(<[u8]>::to_vec),
                6 => statistics.min_value = r.binary(field)?.map(<[u8]>::to_vec),
                7 => statistics.is_max_value_exact = r.bool(field)?,
                8 => statistics.is_min_value_exact = r.bool(field)?,
                9 => statistics.nan_count = r.i64(field)?,
                _ => r.skip(field)?,
            }
            Ok(())
        })?;
        Ok(found.then_some(statistics))
    }

    pub(super) fn write(&self, s: &mut StructWriter<'_>) {
        self.max.iter().for_each(|bytes| s.binary(1, bytes));
        self.min.iter().for_each(|bytes| s.binary(2, bytes));
        self.null_count.iter().for_each(|&count| s.i64(3, count));
        self.distinct_count.iter().for_each(|&count| s.i64(4, count));
        self.max_value.iter().for_each(|bytes| s.binary(5, bytes));
        self.min_value.iter().for_each(|bytes| s.binary(6, bytes));
        self.is_max_value_exact.iter().for_each(|&exact| s.bool(7, exact));
        self.is_min_value_exact.iter().for_each(|&exact| s.bool(8, exact));
        self.nan_count.iter().for_each(|&count| s.i64(9, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{LogicalType, PhysicalType, Repetition, Schema, SchemaBuilder};

    fn schema(physical: PhysicalType, logical: Option<LogicalType>) -> Schema {
        let mut builder = SchemaBuilder::new("root");
        let node = builder.leaf("x", Repetition::Optional, physical);
        if let Some(logical) = logical {
            node.logical(logical);
        }
        builder.finish().unwrap()
    }

    fn ints(min: i32, max: i32) -> EncodedStatistics {
        let bytes = |value: i32| Some(value.to_le_bytes().to_vec());
        EncodedStatistics {
            min_value: bytes(min),
            max_value: bytes(max),
            min: bytes(min - 1),
            max: bytes(max + 1),
            ..EncodedStatistics::default()
        }
    }

    fn decode(encoded: &EncodedStatistics, physical: PhysicalType, order: ColumnOrder) -> Statistics {
        encoded.decode(schema(physical, None).leaf(0).unwrap(), order, 10)
    }

    #[test]
    fn the_newer_bounds_come_first_where_their_order_is_known() {
        let statistics = decode(&ints(3, 7), PhysicalType::Int32, ColumnOrder::TypeDefined);
        assert_eq!((statistics.min, statistics.max), (Some(Bound::Int32(3)), Some(Bound::Int32(7))));
        let statistics = decode(&ints(3, 7), PhysicalType::Int32, ColumnOrder::Undefined);
        assert_eq!((statistics.min, statistics.max), (Some(Bound::Int32(2)), Some(Bound::Int32(8))));
    }

    #[test]
    fn exactness_is_of_the_bounds_that_are_used() {
        let mut encoded = EncodedStatistics {
            is_min_value_exact: Some(true),
            is_max_value_exact: Some(false),
            ..ints(3, 7)
        };
        let exact = |encoded: &EncodedStatistics, order| {
            let statistics = decode(encoded, PhysicalType::Int32, order);
            (statistics.is_min_exact, statistics.is_max_exact)
        };
        assert_eq!(exact(&encoded, ColumnOrder::TypeDefined), (true, false));
        assert_eq!(exact(&encoded, ColumnOrder::Undefined), (false, false));
        encoded.min_value = None;
        assert_eq!(exact(&encoded, ColumnOrder::TypeDefined), (false, false));
        let zero = Some(0f64.to_le_bytes().to_vec());
        let zeros = EncodedStatistics { min_value: zero.clone(), max_value: zero, ..encoded };
        let statistics = decode(&zeros, PhysicalType::Double, ColumnOrder::TypeDefined);
        assert!(!statistics.is_min_exact);
    }

    #[test]
    fn counts_that_cannot_be_are_unknown() {
        let counts = |null_count, distinct_count| {
            let encoded = EncodedStatistics { null_count, distinct_count, ..EncodedStatistics::default() };
            let statistics = decode(&encoded, PhysicalType::Int32, ColumnOrder::TypeDefined);
            (statistics.null_count, statistics.distinct_count)
        };
        assert_eq!(counts(None, Some(10)), (None, Some(10)));
        assert_eq!(counts(Some(0), Some(-1)), (Some(0), None));
        assert_eq!(counts(Some(11), None), (None, None));
    }

    #[test]
    fn only_floating_point_columns_may_have_nans() {
        let may = |physical, nan_count| {
            let encoded = EncodedStatistics { nan_count, ..EncodedStatistics::default() };
            decode(&encoded, physical, ColumnOrder::TypeDefined).may_have_nan
        };
        assert!(may(PhysicalType::Double, None) && may(PhysicalType::Float, Some(1)));
        assert!(!may(PhysicalType::Double, Some(0)) && !may(PhysicalType::Int32, None));
    }
}
