//! Files that marquetry wrote: the rival reads what went in, and both read the same.

use bytes::Bytes;
use fastrand::Rng;

use marquetry::metadata::{ColumnOrder, Compression};
use marquetry::{PageVersion, ParquetWriter, StatisticsLevel, WriteOptions};
use marquetry_versus::arrays::{Filling, array};
use marquetry_versus::arrow::array::RecordBatch;
use marquetry_versus::arrow::cast::cast;
use marquetry_versus::arrow::schema::{DataType, Field};
use marquetry_versus::compare::{known, same_answer, same_arrays};
use marquetry_versus::engine::{Ask, Engine};
use marquetry_versus::layout::table_of;
use marquetry_versus::seeds::{Failure, Report, rounds};
use marquetry_versus::types::{dictionary_types, leaf_types, random_schema};

use crate::random::random_table;

#[test]
fn every_type_that_we_write() {
    let mut report = Report::new("types written");
    for data_type in leaf_types().into_iter().chain(dictionary_types()) {
        for nullable in [false, true] {
            let nullable = nullable || data_type == DataType::Null;
            for seed in 0..4 {
                report.check(format_args!("{data_type} {nullable} {seed}"), || {
                    let mut rng = Rng::with_seed(seed);
                    let field = Field::new("column", data_type.clone(), nullable);
                    let filling = Filling::random(&mut rng);
                    let column = array(&mut rng, &field, filling, 1500);
                    read_alike(&mut rng, &table_of(column, nullable))
                });
            }
        }
    }
    report.finish();
}

#[test]
fn random_files_that_we_write() {
    rounds("files written", 400, |rng| {
        let depth = rng.usize(..5);
        let schema = random_schema(rng, depth);
        let num_rows = [1, rng.usize(1..50), rng.usize(1..400), rng.usize(1..2000)][rng.usize(..4)];
        let table = random_table(rng, &schema, num_rows);
        read_alike(rng, &table)
    });
}

/// Writes the table, and has both read it.
fn read_alike(rng: &mut Rng, table: &RecordBatch) -> Result<(), Failure> {
    let options = random_options(rng);
    let place = format!("{options:?}, {:?}", table.schema().fields());
    let at = |failure: Failure| failure.at(&place);
    let bytes = written(table, options).map_err(|e| at(Failure::Wrong(e.to_string())))?;
    let ask = Ask::batches_of(1 << 20);
    let rival = known(&bytes, &ask).map_err(at)?;
    for ((ours, theirs), field) in table.columns().iter().zip(rival.columns()).zip(table.schema().fields()) {
        // Lists and maps have the names of the specification in a file.
        let ours = cast(ours, theirs.data_type()).map_err(|e| at(Failure::Wrong(e.to_string())))?;
        same_arrays(&ours, theirs).map_err(|e| at(Failure::Wrong(format!("column {field}: {e}"))))?;
    }
    same_answer(Engine::Buffer, &bytes, &ask).map_err(at)
}

fn written(table: &RecordBatch, options: WriteOptions) -> marquetry::Result<Bytes> {
    let mut bytes = Vec::new();
    let mut writer = ParquetWriter::new(&mut bytes, table.schema(), options)?;
    // In two batches, if there are rows for two.
    let first = table.num_rows() / 3;
    writer.write(&table.slice(0, first))?;
    writer.write(&table.slice(first, table.num_rows() - first))?;
    writer.close()?;
    Ok(bytes.into())
}

fn random_options(rng: &mut Rng) -> WriteOptions {
    use Compression::{Brotli, Gzip, Lz4, Lz4Raw, Snappy, Uncompressed, Zstd};
    let codecs = [Uncompressed, Snappy, Gzip, Zstd, Lz4Raw, Lz4, Brotli];
    let levels = [StatisticsLevel::None, StatisticsLevel::Chunk, StatisticsLevel::Page];
    let mut options = WriteOptions::new()
        .compression(codecs[rng.usize(..codecs.len())])
        .page_version([PageVersion::V1, PageVersion::V2][rng.usize(..2)])
        .crc(rng.bool())
        .statistics(levels[rng.usize(..3)])
        .page_rows([1, rng.usize(1..100), 20_000][rng.usize(..3)])
        .page_bytes([100, 5000, 1 << 20][rng.usize(..3)])
        .dictionary(rng.u8(..3) > 0)
        .dictionary_bytes([60, 1000, 1 << 20][rng.usize(..3)])
        .row_group_rows([rng.usize(100..1000), 1 << 20][rng.usize(..2)])
        .float_order([ColumnOrder::TypeDefined, ColumnOrder::Ieee754Total][rng.usize(..2)]);
    if rng.bool() {
        options = options.bloom_filter(0.01);
    }
    options
}
