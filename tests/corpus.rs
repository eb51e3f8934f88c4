//! Reads folders of files whose values are known, where `MARQUETRY_TEST_DATA` names some (several with ':' between).
//!
//! Each folder holds `expect.tsv` with the columns `path`, `verdict` (`read`, `reject`, or `either`), `rows`,
//! `digest` and `alt_digests`. Every file is read by position and mapped, in batches of 1000 and of 7 rows: the four
//! answers must agree, and be an error or have a digest as the verdict says.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::single_range_in_vec_init,
    clippy::type_complexity
)]

mod support;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Instant;

use marquetry::{ParquetFile, Result};
use support::digest::Digester;
use support::read;

const BATCH_SIZES: [usize; 2] = [1000, 7];
/// These hold gigabytes once decompressed: read where `MARQUETRY_HEAVY` is set, in one way only.
const HEAVY: [&str; 1] = ["large_string_map"];

/// Rows whose expected answer we believe wrong, and why: an error is given instead.
const DISAGREEMENTS: &str = include_str!("disagreements.tsv");

/// A row of `expect.tsv`.
struct Expected {
    path: PathBuf,
    verdict: String,
    digests: Vec<String>,
    expected: String,
}

#[test]
fn files_have_the_values_that_they_are_known_to_have() {
    let Ok(folders) = std::env::var("MARQUETRY_TEST_DATA") else {
        println!("skipped: MARQUETRY_TEST_DATA names no folder of files");
        return;
    };
    let rows: Vec<Expected> =
        folders.split(':').filter(|f| !f.is_empty()).flat_map(|f| table(f.as_ref())).collect();
    assert!(!rows.is_empty(), "no file in {folders}");
    let rows_left = Mutex::new(rows.iter());
    let faults = Mutex::new(Vec::new());
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                loop {
                    let Some(row) = rows_left.lock().unwrap().next() else { return };
                    if let Err(fault) = check(row) {
                        faults.lock().unwrap().push(format!("{}: {fault}", row.path.display()));
                    }
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{} of {} files\n{}", faults.len(), rows.len(), faults.join("\n"));
}

fn table(folder: &Path) -> Vec<Expected> {
    let text = std::fs::read_to_string(folder.join("expect.tsv")).unwrap();
    let mut lines = text.lines();
    let names: BTreeMap<&str, usize> =
        lines.next().unwrap().split('\t').enumerate().map(|(i, name)| (name, i)).collect();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split('\t').collect();
        let cell = |name| names.get(name).and_then(|&i| cells.get(i)).copied().unwrap_or("");
        let digests = [cell("digest"), cell("alt_digests")].into_iter().flat_map(|text| text.split(','));
        Expected {
            path: folder.join(cell("path")),
            verdict: cell("verdict").into(),
            digests: digests.filter(|digest| !digest.is_empty()).map(String::from).collect(),
            expected: cell("expected").into(),
        }
    };
    lines.map(row).filter(|row| row.path.exists()).collect()
}

fn check(row: &Expected) -> std::result::Result<(), String> {
    let name = row.path.to_string_lossy();
    let heavy = HEAVY.iter().any(|heavy| name.contains(heavy));
    if heavy && std::env::var_os("MARQUETRY_HEAVY").is_none() {
        println!("skipped, as MARQUETRY_HEAVY is not set: {name}");
        return Ok(());
    }
    let started = Instant::now();
    let ways = if heavy { vec![(true, BATCH_SIZES[0])] } else { ways() };
    let mut answers = Vec::new();
    for (mapped, batch_size) in ways {
        let answer = catch_unwind(AssertUnwindSafe(|| digest(&row.path, mapped, batch_size)));
        let answer = answer.map_err(|_| format!("panics (mapped: {mapped}, batches of {batch_size})"))?;
        answers.push(answer);
    }
    if started.elapsed().as_secs() > 20 && !heavy {
        return Err(format!("takes {:?}", started.elapsed()));
    }
    let first = answers[0].as_ref().ok();
    if let Some(other) = answers.iter().find(|answer| answer.as_ref().ok() != first) {
        return Err(format!("is read in two ways: {:?} and {other:?}", answers[0]));
    }
    if DISAGREEMENTS.lines().any(|line| line.split('\t').next().is_some_and(|path| name.ends_with(path))) {
        return answers[0]
            .as_ref()
            .map_or(Ok(()), |_| Err("is read: take it out of disagreements.tsv".into()));
    }
    match (row.verdict.as_str(), &answers[0]) {
        ("reject" | "either", Err(_)) => Ok(()),
        ("read" | "either", Ok(digest)) if row.digests.is_empty() || row.digests.contains(digest) => Ok(()),
        ("read" | "either", Ok(digest)) => Err(format!("has digest {digest}, expected {}", row.expected)),
        (_, Ok(_)) => Err("is read, and should be refused".into()),
        (_, Err(error)) => Err(format!("is refused: {error}")),
    }
}

fn ways() -> Vec<(bool, usize)> {
    [false, true].into_iter().flat_map(|mapped| BATCH_SIZES.map(|size| (mapped, size))).collect()
}

fn digest(path: &Path, mapped: bool, batch_size: usize) -> Result<String> {
    let file = if mapped { read::map(path)? } else { ParquetFile::open(path)? };
    let mut reader = file.scan().batch_size(batch_size).build()?;
    let mut digester = Digester::new(&marquetry::arrow::array::RecordBatchReader::schema(&reader));
    while let Some(batch) = reader.next_batch()? {
        assert!(batch.num_rows() <= batch_size && batch.num_rows() > 0);
        batch.columns().iter().for_each(|column| column.to_data().validate_full().unwrap());
        digester.update(&batch);
    }
    Ok(digester.finish())
}
