//! One table of processor time, ours against the rival's, on the same bytes.
//!
//! `ratios [--rows N] [--runs N] [--batch N] [FILTER ...]`: cases whose name has one of the filters in it, all
//! without. A row is the case, our milliseconds, the rival's, and how many times faster we are; medians of
//! interleaved runs on one thread.

use std::env;
use std::hint::black_box;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;

use marquetry_versus::cases::cases;
use marquetry_versus::compare::same_answer;
use marquetry_versus::engine::{Ask, Engine};

struct Options {
    rows: usize,
    runs: usize,
    batch: usize,
    filters: Vec<String>,
}

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(options) => options,
        Err(text) => {
            eprintln!("ratios: {text}");
            return ExitCode::FAILURE;
        }
    };
    println!("{:<52} {:>9} {:>9} {:>6}", "case", "ours ms", "rival ms", "ratio");
    let (mut logs, mut count, mut wrong) = (0.0, 0, 0);
    for case in cases() {
        if !options.wants(&case.name) {
            continue;
        }
        let bytes = case.bytes(options.rows);
        let ask = Ask::batches_of(options.batch);
        if let Err(difference) = same_answer(Engine::Buffer, &bytes, &ask) {
            println!("{:<52} {}", case.name, difference.to_string().chars().take(200).collect::<String>());
            wrong += 1;
            continue;
        }
        let [ours, rival] = measure(&bytes, &ask, options.runs);
        let ratio = rival / ours;
        println!("{:<52} {ours:>9.2} {rival:>9.2} {ratio:>6.2}", case.name);
        logs += ratio.ln();
        count += 1;
    }
    if count > 0 {
        println!("{:<52} {:>9} {:>9} {:>6.2}", "geometric mean", "", "", (logs / f64::from(count)).exp());
    }
    if wrong > 0 {
        eprintln!("ratios: {wrong} cases without an equal answer");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Median milliseconds of ours and the rival, whose runs alternate.
fn measure(bytes: &Bytes, ask: &Ask, runs: usize) -> [f64; 2] {
    let mut times = [Vec::new(), Vec::new()];
    for run in 0..=runs {
        for (engine, times) in [Engine::Buffer, Engine::Rival].into_iter().zip(&mut times) {
            let start = ThreadTime::now();
            black_box(engine.count_rows(bytes, ask).expect("read before"));
            // The first run warms the caches.
            if run > 0 {
                times.push(start.elapsed());
            }
        }
    }
    times.map(median)
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1000.0
}

impl Options {
    fn parse() -> Result<Self, String> {
        let mut options = Self { rows: 1 << 20, runs: 9, batch: 8192, filters: Vec::new() };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let number = match word.as_str() {
                "--rows" => &mut options.rows,
                "--runs" => &mut options.runs,
                "--batch" => &mut options.batch,
                _ if word.starts_with('-') => return Err(format!("unknown option {word}")),
                _ => {
                    options.filters.push(word);
                    continue;
                }
            };
            let value = words.next().and_then(|value| value.parse().ok()).filter(|value| *value > 0);
            *number = value.ok_or(format!("{word} takes a number above zero"))?;
        }
        Ok(options)
    }

    fn wants(&self, name: &str) -> bool {
        self.filters.is_empty() || self.filters.iter().any(|filter| name.contains(filter))
    }
}
