//! Whole files read, named `read/<encoding>/<type>/<shape>/<engine>`; the answers are equal before they are timed.
//!
//! `MARQUETRY_ROWS` sets the rows of a file.

use std::env;
use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};

use marquetry_versus::cases::cases;
use marquetry_versus::compare::same_answer;
use marquetry_versus::engine::{Ask, Engine};

fn read(criterion: &mut Criterion) {
    let rows = env::var("MARQUETRY_ROWS").ok().and_then(|rows| rows.parse().ok()).unwrap_or(1 << 18);
    // The harness filters what it times, not what is made for it: make only what the words on the line ask for.
    let filters: Vec<_> = env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    for case in cases() {
        let name = format!("read/{}", case.name);
        if !filters.is_empty() && !filters.iter().any(|filter| name.contains(filter.as_str())) {
            continue;
        }
        let bytes = case.bytes(rows);
        let ask = Ask::default();
        if let Err(difference) = same_answer(Engine::Buffer, &bytes, &ask) {
            panic!("{name}: {difference}");
        }
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(rows as u64));
        for (engine_name, engine) in [("marquetry", Engine::Buffer), ("parquet", Engine::Rival)] {
            group.bench_function(engine_name, |bencher| {
                bencher.iter(|| black_box(engine.count_rows(&bytes, &ask).expect("read before")));
            });
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    config = Criterion::default().warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1)).sample_size(20);
    targets = read
}
criterion_main!(benches);
