//! The options of each leaf, out of those for the file and for its columns.

use super::options::{ColumnOptions, PageVersion, StatisticsLevel, WriteOptions};
use crate::error::{Context, Error, ErrorKind, Result};
use crate::metadata::{ColumnOrder, Compression, Encoding, PhysicalType, Schema, SchemaNode};

/// How one leaf is written.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct LeafOptions {
    pub(super) compression: Compression,
    pub(super) compression_level: Option<i32>,
    pub(super) page_version: PageVersion,
    pub(super) crc: bool,
    /// Bytes of the largest dictionary; 0 is none.
    pub(super) dictionary_bytes: usize,
    /// Of what is not in a dictionary.
    pub(super) encoding: Encoding,
    pub(super) page_rows: usize,
    pub(super) page_bytes: usize,
    pub(super) statistics: StatisticsLevel,
    pub(super) bound_bytes: usize,
    /// The false positives of the Bloom filter to write.
    pub(super) bloom_filter: Option<f64>,
    pub(super) column_order: ColumnOrder,
}

/// The options of each leaf: `all` of every one, `columns` of those that their paths name.
pub(super) fn resolve(
    schema: &Schema,
    file: &WriteOptions,
    all: &ColumnOptions,
    columns: &[(String, ColumnOptions)],
) -> Result<Vec<LeafOptions>> {
    let names: Vec<String> = (0..schema.num_leaves()).map(|leaf| schema.leaf_name(leaf)).collect();
    for (path, _) in columns {
        if !names.iter().any(|name| is_at_or_below(name, path)) {
            return Err(ErrorKind::UnknownColumn(path.clone()).into());
        }
    }
    let leaves = (0..schema.num_leaves()).filter_map(|leaf| schema.leaf(leaf)).zip(&names);
    leaves
        .map(|(node, name)| {
            let of_leaf = columns.iter().rev().filter(|(path, _)| is_at_or_below(name, path));
            let options = of_leaf.fold(ColumnOptions::new(), |options, (_, less)| options.or(less)).or(all);
            leaf(node, file, &options).in_column(|| name.clone())
        })
        .collect()
}

/// Whether the leaf of that name is the column of that path, or lies below it.
fn is_at_or_below(leaf: &str, path: &str) -> bool {
    leaf.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn leaf(node: &SchemaNode, file: &WriteOptions, options: &ColumnOptions) -> Result<LeafOptions> {
    let physical = node.physical_type().unwrap_or(PhysicalType::Unknown(-1));
    let is_boolean = physical == PhysicalType::Boolean;
    let default = match (is_boolean, file.page_version) {
        (true, PageVersion::V2) => Encoding::Rle,
        _ => Encoding::Plain,
    };
    let (encoding, wants_dictionary) = match options.encoding {
        Some(Encoding::RleDictionary | Encoding::PlainDictionary) => (default, true),
        Some(encoding) => (encoding, false),
        None => (default, true),
    };
    check_encoding(encoding, physical, node)?;
    let has_dictionary = options.dictionary.unwrap_or(wants_dictionary) && !is_boolean;
    Ok(LeafOptions {
        compression: options.compression.unwrap_or(Compression::Uncompressed),
        compression_level: options.compression_level,
        page_version: file.page_version,
        crc: file.crc,
        dictionary_bytes: if has_dictionary { options.dictionary_bytes.unwrap_or(1 << 20) } else { 0 },
        encoding,
        page_rows: options.page_rows.unwrap_or(20_000).max(1),
        page_bytes: options.page_bytes.unwrap_or(1 << 20).clamp(1, MAX_PAGE_BYTES),
        statistics: options.statistics.unwrap_or_default(),
        bound_bytes: options.bound_bytes.unwrap_or(64).max(1),
        bloom_filter: bloom_filter(options.bloom_filter.unwrap_or(1.0))?,
        column_order: if is_float(node) { file.float_order } else { ColumnOrder::TypeDefined },
    })
}

/// A page past this would soon be past the 2^31-1 bytes of the format.
const MAX_PAGE_BYTES: usize = 1 << 30;

fn bloom_filter(false_positives: f64) -> Result<Option<f64>> {
    match false_positives {
        1.0 => Ok(None),
        rate if rate > 0.0 && rate < 1.0 => Ok(Some(rate)),
        rate => Err(Error::invalid(format!("a Bloom filter with {rate} of false positives"))),
    }
}

fn check_encoding(encoding: Encoding, physical: PhysicalType, node: &SchemaNode) -> Result<()> {
    use PhysicalType as P;
    let fits = match encoding {
        Encoding::Plain => true,
        Encoding::Rle => physical == P::Boolean,
        Encoding::DeltaBinaryPacked => matches!(physical, P::Int32 | P::Int64),
        Encoding::DeltaLengthByteArray => physical == P::ByteArray,
        Encoding::DeltaByteArray => matches!(physical, P::ByteArray | P::FixedLenByteArray),
        Encoding::ByteStreamSplit => {
            matches!(physical, P::Int32 | P::Int64 | P::Float | P::Double | P::FixedLenByteArray)
        }
        Encoding::Alp => matches!(physical, P::Float | P::Double),
        _ => false,
    };
    match fits {
        true => Ok(()),
        false => {
            Err(Error::invalid(format!("encoding {encoding} does not fit {physical} ({:?})", node.name)))
        }
    }
}

/// Whether a column's values may be NaN.
fn is_float(node: &SchemaNode) -> bool {
    match node.physical_type() {
        Some(PhysicalType::Float | PhysicalType::Double) => true,
        _ => node.logical == Some(crate::metadata::LogicalType::Float16),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metadata::{Repetition, SchemaBuilder};

    fn schema() -> Schema {
        let mut builder = SchemaBuilder::new("schema");
        builder.leaf("a", Repetition::Required, PhysicalType::Int32);
        builder.group("b", Repetition::Optional, |b| {
            b.leaf("c", Repetition::Required, PhysicalType::ByteArray);
            b.leaf("d", Repetition::Required, PhysicalType::Boolean);
        });
        builder.leaf("bc", Repetition::Required, PhysicalType::Double);
        builder.finish().unwrap()
    }

    #[test]
    fn what_is_said_of_a_column_counts_over_what_is_said_of_all() {
        let options = WriteOptions::new()
            .compression(Compression::Zstd)
            .page_rows(5)
            .column("b", ColumnOptions::new().compression(Compression::Snappy).page_rows(7))
            .column("b.c", ColumnOptions::new().page_rows(9).encoding(Encoding::DeltaByteArray));
        let leaves = options.leaves(&schema()).unwrap();
        let shown: Vec<_> =
            leaves.iter().map(|leaf| (leaf.compression, leaf.page_rows, leaf.dictionary_bytes)).collect();
        assert_eq!(
            shown,
            [
                (Compression::Zstd, 5, 1 << 20),
                (Compression::Snappy, 9, 0),
                (Compression::Snappy, 7, 0),
                (Compression::Zstd, 5, 1 << 20)
            ]
        );
    }

    #[test]
    fn says_what_makes_no_sense() {
        let error = |options: WriteOptions| options.leaves(&schema()).unwrap_err().to_string();
        let column = |path, options| error(WriteOptions::new().column(path, options));
        assert_eq!(column("x", ColumnOptions::new()), "no column is named \"x\"");
        let delta = ColumnOptions::new().encoding(Encoding::DeltaBinaryPacked);
        assert!(column("bc", delta).contains("DELTA_BINARY_PACKED does not fit DOUBLE"));
        assert!(error(WriteOptions::new().bloom_filter(0.0)).contains("0 of false positives"));
        assert!(error(WriteOptions::new().bloom_filter(f64::NAN)).contains("NaN"));
    }
}
