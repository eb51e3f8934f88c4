//! Random flat schemas in random layouts.

use fastrand::Rng;

use marquetry_versus::arrays::{Filling, array};
use marquetry_versus::arrow::array::RecordBatch;
use marquetry_versus::arrow::schema::SchemaRef;
use marquetry_versus::compare::same_answer;
use marquetry_versus::engine::{Ask, Engine};
use marquetry_versus::layout::Layout;
use marquetry_versus::seeds::{Failure, rounds};
use marquetry_versus::types::random_schema;

#[test]
fn random_flat_files() {
    rounds("flat files", 400, |rng| {
        let schema = random_schema(rng, 0);
        same_in_any_layout(rng, &schema)
    });
}

/// Fills the schema at random, writes it in a random layout and asks random questions.
pub fn same_in_any_layout(rng: &mut Rng, schema: &SchemaRef) -> Result<(), Failure> {
    let num_rows = [0, 1, rng.usize(..50), rng.usize(..400), rng.usize(..2000)][rng.usize(..5)];
    let table = random_table(rng, schema, num_rows);
    let layout = Layout::random(rng, num_rows);
    let bytes = layout.write(&table)?;
    for engine in Engine::OURS {
        let ask = random_ask(rng, &table);
        same_answer(engine, &bytes, &ask)
            .map_err(|e| e.at(format_args!("{layout}, {:?}", schema.fields())))?;
    }
    Ok(())
}

pub fn random_table(rng: &mut Rng, schema: &SchemaRef, num_rows: usize) -> RecordBatch {
    let columns = schema.fields().iter().map(|field| {
        let filling = Filling::random(rng);
        array(rng, field, filling, num_rows)
    });
    RecordBatch::try_new(schema.clone(), columns.collect()).expect("arrays of their fields' types")
}

/// Any batch size; one time in two some rows, some columns, or a window of all.
pub fn random_ask(rng: &mut Rng, table: &RecordBatch) -> Ask {
    let num_rows = table.num_rows();
    let mut ask = Ask::batches_of([1, 7, rng.usize(1..=num_rows.max(1)), 1000, 1 << 20][rng.usize(..5)]);
    match rng.u8(..8) {
        0 => ask.rows = Some(random_ranges(rng, num_rows as u64)),
        1 => ask.offset = Some(rng.usize(..=num_rows)),
        2 => ask.limit = Some(rng.usize(..=num_rows)),
        3 => {
            let schema = table.schema();
            let names = schema.fields().iter().map(|field| field.name().clone());
            let some = names.filter(|_| rng.bool()).collect::<Vec<_>>();
            ask.columns = Some(some);
        }
        _ => {}
    }
    ask
}

/// Ascending ranges that do not touch, within `0..num_rows`.
pub fn random_ranges(rng: &mut Rng, num_rows: u64) -> Vec<std::ops::Range<u64>> {
    let mut ranges = Vec::new();
    let longest = [2, 20, 500][rng.usize(..3)];
    let mut at = rng.u64(..=longest.min(num_rows));
    while at < num_rows {
        let end = (at + rng.u64(1..=longest)).min(num_rows);
        ranges.push(at..end);
        at = end + rng.u64(1..=longest);
    }
    ranges
}
