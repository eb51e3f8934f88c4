//! The table of everything that is timed beside the rival, and beside the machine's limits.
//!
//! `versus [--runs N] [--rows N] [--batch N] [--files DIR] [--tsv FILE] [FILTER ...]`: rows whose name has one of the
//! filters in it, all without. `DIR` (or the variable `MARQUETRY_BENCH_DATA`) holds the seven files of whole-file
//! rows. One thread, processor time, medians of interleaved runs; answers are compared before anything is timed.

use std::env;
use std::fmt::Write as _;
use std::fs;
use std::process::ExitCode;

use marquetry_versus::versus::memory::Counting;
use marquetry_versus::versus::{Measured, Settings, rows};

#[global_allocator]
static COUNTING: Counting = Counting;

struct Options {
    settings: Settings,
    tsv: Option<String>,
    filters: Vec<String>,
}

fn main() -> ExitCode {
    let options = match Options::parse() {
        Ok(options) => options,
        Err(text) => {
            eprintln!("versus: {text}");
            return ExitCode::FAILURE;
        }
    };
    if options.settings.files.is_none() {
        eprintln!("versus: without --files DIR or MARQUETRY_BENCH_DATA the whole files are skipped");
    }
    let mut tsv = String::from("workload\tours\trival\tunit\tratio\tgoal\tmet\n");
    println!(
        "{:<52} {:>10} {:>10} {:<11} {:>6} {:>5} met",
        "workload", "ours", "rival", "unit", "ratio", "goal"
    );
    let mut failed = 0;
    for row in rows(&options.settings).iter().filter(|row| options.wants(&row.name)) {
        match row.measure(options.settings.runs) {
            Ok(measured) => measured.iter().for_each(|measured| show(measured, &mut tsv)),
            Err(difference) => {
                let difference: String = difference.chars().take(300).collect();
                println!("{:<52} not timed: {difference}", row.name);
                failed += 1;
            }
        }
    }
    if let Some(path) = &options.tsv
        && let Err(e) = fs::write(path, tsv)
    {
        eprintln!("versus: {path}: {e}");
        return ExitCode::FAILURE;
    }
    if failed > 0 {
        eprintln!("versus: {failed} rows without an equal answer");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn show(measured: &Measured, tsv: &mut String) {
    let Measured { workload, ours, rival, unit, ratio, goal } = measured;
    let met = if ratio >= goal { "yes" } else { "no" };
    println!("{workload:<52} {ours:>10.3} {rival:>10.3} {unit:<11} {ratio:>6.2} {goal:>5} {met}");
    let _ = writeln!(tsv, "{workload}\t{ours:.3}\t{rival:.3}\t{unit}\t{ratio:.2}\t{goal}\t{met}");
}

impl Options {
    fn parse() -> Result<Self, String> {
        let files = env::var_os("MARQUETRY_BENCH_DATA").map(Into::into);
        let settings = Settings { runs: 9, num_rows: 1 << 20, batch_size: 8192, files };
        let mut options = Self { settings, tsv: None, filters: Vec::new() };
        let mut words = env::args().skip(1);
        while let Some(word) = words.next() {
            let settings = &mut options.settings;
            let number = match word.as_str() {
                "--rows" => &mut settings.num_rows,
                "--runs" => &mut settings.runs,
                "--batch" => &mut settings.batch_size,
                "--files" => {
                    settings.files = Some(words.next().ok_or("--files takes a folder")?.into());
                    continue;
                }
                "--tsv" => {
                    options.tsv = Some(words.next().ok_or("--tsv takes a path")?);
                    continue;
                }
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
