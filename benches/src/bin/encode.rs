//! One table of processor time: columns written by ours and by the rival, to memory that is used again.
//!
//! `encode [--rows N] [--runs N] [--batch N] [FILTER ...]`: columns whose name has one of the filters in it, all without.
//! A row is the column, our million values a second, the rival's, how many times faster we are, and the share of our
//! time that statistics take; medians of interleaved runs on one thread. Both write uncompressed pages with statistics of
//! pages and chunks, and everything else as their defaults have it. What each wrote is read back by the other first.

use std::env;
use std::process::ExitCode;
use std::time::Duration;

use bytes::Bytes;
use cpu_time::ThreadTime;

use marquetry::metadata::Encoding;
use marquetry::{ParquetWriter, StatisticsLevel, WriteOptions};
use marquetry_versus::arrow::array::{Array, RecordBatch};
use marquetry_versus::columns::{Column, columns};
use marquetry_versus::engine::{Ask, Engine};
use marquetry_versus::rival::arrow::ArrowWriter;
use marquetry_versus::rival::basic as rival;
use marquetry_versus::rival::file::properties::WriterProperties;

type Failure = Box<dyn std::error::Error>;

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
            eprintln!("encode: {text}");
            return ExitCode::FAILURE;
        }
    };
    println!("{:<40} {:>8} {:>8} {:>6} {:>11}", "column", "ours M/s", "rival", "ratio", "statistics");
    let mut wrong = 0;
    for column in columns(options.rows, |name| options.wants(name)) {
        match options.row(&column) {
            Ok(()) => {}
            Err(failure) => {
                println!("{:<40} {failure}", column.name);
                wrong += 1;
            }
        }
    }
    if wrong > 0 {
        eprintln!("encode: {wrong} columns not measured");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

impl Options {
    /// Checks, measures and prints one column.
    fn row(&self, column: &Column) -> Result<(), Failure> {
        let batches = batches(column, self.batch)?;
        let (mut ours, mut theirs) = (vec![], vec![]);
        write_ours(&batches, column, StatisticsLevel::Page, &mut ours)?;
        write_theirs(&batches, column, &mut theirs)?;
        same(Engine::Rival, &ours, column).map_err(|e| format!("ours, read by the rival: {e}"))?;
        same(Engine::Buffer, &theirs, column).map_err(|e| format!("the rival's, read by ours: {e}"))?;

        let mut times = [const { Vec::new() }; 3];
        for run in 0..=self.runs {
            let measured = [
                timed(|| write_ours(&batches, column, StatisticsLevel::Page, &mut ours))?,
                timed(|| write_theirs(&batches, column, &mut theirs))?,
                timed(|| write_ours(&batches, column, StatisticsLevel::None, &mut ours))?,
            ];
            // The first run warms the caches.
            if run > 0 {
                times.iter_mut().zip(measured).for_each(|(times, time)| times.push(time));
            }
        }
        let [ours, theirs, bare] = times.map(median);
        let rate = |seconds: f64| column.array.len() as f64 / seconds / 1e6;
        let (ratio, share) = (theirs / ours, (ours - bare) / ours * 100.0);
        let name = &column.name;
        println!("{name:<40} {:>8.1} {:>8.1} {ratio:>6.2} {share:>9.1} %", rate(ours), rate(theirs));
        Ok(())
    }

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

fn batches(column: &Column, batch: usize) -> Result<Vec<RecordBatch>, Failure> {
    let starts = (0..column.array.len()).step_by(batch);
    let slice = |start| column.array.slice(start, batch.min(column.array.len() - start));
    starts.map(|start| Ok(RecordBatch::try_from_iter([("x", slice(start))])?)).collect()
}

fn write_ours(
    batches: &[RecordBatch],
    column: &Column,
    statistics: StatisticsLevel,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let mut options = WriteOptions::new().statistics(statistics);
    if let Some(encoding) = column.encoding {
        options = options.dictionary(false).encoding(encoding);
    }
    out.clear();
    let mut writer = ParquetWriter::new(out, batches[0].schema(), options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(())
}

fn write_theirs(batches: &[RecordBatch], column: &Column, out: &mut Vec<u8>) -> Result<(), Failure> {
    let mut properties = WriterProperties::builder().set_compression(rival::Compression::UNCOMPRESSED);
    if let Some(encoding) = column.encoding {
        properties = properties.set_dictionary_enabled(false).set_encoding(name(encoding));
    }
    out.clear();
    let mut writer = ArrowWriter::try_new(out, batches[0].schema(), Some(properties.build()))?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.close()?;
    Ok(())
}

/// The rival's name for an encoding.
fn name(encoding: Encoding) -> rival::Encoding {
    match encoding {
        Encoding::DeltaByteArray => rival::Encoding::DELTA_BYTE_ARRAY,
        Encoding::DeltaLengthByteArray => rival::Encoding::DELTA_LENGTH_BYTE_ARRAY,
        Encoding::DeltaBinaryPacked => rival::Encoding::DELTA_BINARY_PACKED,
        Encoding::ByteStreamSplit => rival::Encoding::BYTE_STREAM_SPLIT,
        _ => rival::Encoding::PLAIN,
    }
}

/// Whether a reader finds the very column in a file.
fn same(engine: Engine, file: &[u8], column: &Column) -> Result<(), Failure> {
    let ask = Ask::batches_of(column.array.len());
    let answer = engine.read(&Bytes::copy_from_slice(file), &ask).map_err(|e| e.to_string())?;
    let table = answer.table()?;
    if table.column(0).as_ref() != column.array.as_ref() {
        return Err("other values".into());
    }
    Ok(())
}

fn timed(run: impl FnOnce() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let start = ThreadTime::now();
    run()?;
    Ok(start.elapsed())
}

fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64()
}
