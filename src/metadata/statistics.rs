//! Statistics of a column chunk or page: as they are in the file, and as typed bounds that can be trusted.

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

impl EncodedStatistics {
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
