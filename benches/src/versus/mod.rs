//! The table of `versus`: rows of work that both sides do, how each row is timed, and what counts as met.
//!
//! A row makes its input, has both sides do the work once, compares their answers, and only then gives the two pieces
//! of work to time. It knows nothing of how it is shown.

mod decoders;
mod files;
mod limits;
pub mod memory;
mod pages;

use std::path::PathBuf;
use std::time::Duration;

use cpu_time::ThreadTime;

use crate::cases::cases;
use crate::compare::same_answer;
use crate::engine::{Ask, Engine};

/// Work that both sides do, named `layer/...`: `decoder` (one encoding, no pages), `pages` (pages in memory to arrays),
/// `memory` (a file in memory to batches), `file` (a mapped file to batches), `limit` (against the machine itself).
pub struct Row {
    pub name: String,
    /// The ratio that is wanted.
    pub goal: f64,
    prepare: Box<dyn Fn() -> Result<Race, String>>,
}

/// The work of a row, its answers compared.
struct Race {
    ours: Box<dyn FnMut()>,
    rival: Box<dyn FnMut()>,
    per_run: Work,
}

/// How much one run does.
#[derive(Debug, Clone, Copy)]
enum Work {
    /// Values: told as millions of values a second.
    Values(usize),
    /// Bytes: told as gigabytes a second.
    Bytes(usize),
    /// One thing: told as milliseconds.
    Whole,
}

/// A row of the table.
#[derive(Debug, Clone)]
pub struct Measured {
    pub workload: String,
    pub ours: f64,
    pub rival: f64,
    pub unit: &'static str,
    /// How many times better we are.
    pub ratio: f64,
    pub goal: f64,
}

/// How to measure.
#[derive(Debug, Clone)]
pub struct Settings {
    pub runs: usize,
    pub num_rows: usize,
    pub batch_size: usize,
    /// Where the seven files are.
    pub files: Option<PathBuf>,
}

/// Every row.
pub fn rows(settings: &Settings) -> Vec<Row> {
    let mut rows = decoders::rows();
    rows.extend(pages::rows());
    rows.extend(limits::rows());
    rows.extend(memory_rows(settings));
    rows.extend(files::rows(settings.files.clone()));
    rows
}

impl Row {
    fn new(name: impl Into<String>, goal: f64, prepare: impl Fn() -> Result<Race, String> + 'static) -> Self {
        Row { name: name.into(), goal, prepare: Box::new(prepare) }
    }

    /// Times the row, in processor time: medians of `runs` runs of each side, which alternate.
    ///
    /// # Errors
    /// Where the two answers differ, or one side fails.
    pub fn measure(&self, runs: usize) -> Result<Vec<Measured>, String> {
        let mut race = (self.prepare)()?;
        let peaks = [&mut race.ours, &mut race.rival].map(|work| memory::peak_of(work));
        let repeat = repeats(&mut race.rival);
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..runs {
            for (work, times) in [&mut race.ours, &mut race.rival].into_iter().zip(&mut times) {
                times.push(time(work, repeat) / repeat);
            }
        }
        let [ours, rival] = times.map(median);
        let (unit, of) = race.per_run.rate();
        let mut measured = vec![Measured {
            workload: self.name.clone(),
            ours: of(ours),
            rival: of(rival),
            unit,
            ratio: rival / ours,
            goal: self.goal,
        }];
        if self.name.starts_with("file/") {
            let [ours, rival] = peaks.map(|bytes| bytes as f64 / 1e6);
            measured.push(Measured {
                workload: format!("{}/peak", self.name),
                ours,
                rival,
                unit: "MB of heap",
                ratio: rival / ours,
                goal: 1.0,
            });
        }
        Ok(measured)
    }
}

impl Work {
    /// The unit, and what a run of so many seconds is in it.
    fn rate(self) -> (&'static str, Box<dyn Fn(f64) -> f64>) {
        match self {
            Work::Values(n) => ("M values/s", Box::new(move |seconds| n as f64 / 1e6 / seconds)),
            Work::Bytes(n) => ("GB/s", Box::new(move |seconds| n as f64 / 1e9 / seconds)),
            Work::Whole => ("ms", Box::new(|seconds| seconds * 1000.0)),
        }
    }
}

/// Runs that a measurement takes together, so that it lasts.
fn repeats(work: &mut dyn FnMut()) -> u32 {
    const AT_LEAST: Duration = Duration::from_millis(2);
    let once = time(work, 1).max(Duration::from_nanos(10));
    (AT_LEAST.as_nanos() / once.as_nanos() + 1).min(1 << 20) as u32
}

fn time(work: &mut dyn FnMut(), repeat: u32) -> Duration {
    let start = ThreadTime::now();
    (0..repeat).for_each(|_| work());
    start.elapsed()
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}

/// Files of one column each, in memory. Nothing may be slower than the rival.
fn memory_rows(settings: &Settings) -> Vec<Row> {
    let (num_rows, ask) = (settings.num_rows, Ask::batches_of(settings.batch_size));
    let row = |case: crate::cases::Case| {
        let ask = ask.clone();
        Row::new(format!("memory/{}", case.name), 1.0, move || {
            let bytes = case.bytes(num_rows);
            same_answer(Engine::Buffer, &bytes, &ask).map_err(|failure| failure.to_string())?;
            let work = |engine: Engine| -> Box<dyn FnMut()> {
                let (bytes, ask) = (bytes.clone(), ask.clone());
                Box::new(move || {
                    std::hint::black_box(engine.count_rows(&bytes, &ask).expect("read before"));
                })
            };
            Ok(Race {
                ours: work(Engine::Buffer),
                rival: work(Engine::Rival),
                per_run: Work::Values(num_rows),
            })
        })
    };
    cases().into_iter().map(row).collect()
}
