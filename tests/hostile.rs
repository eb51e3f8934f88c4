//! Every kind of file, damaged in every way: whatever the bytes, an error or valid arrays, soon, in bounded memory.
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

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use marquetry::arrow::array::Array;
use marquetry::metadata::{Compression, Encoding, LogicalType, PhysicalType, Repetition, TimeUnit};
use marquetry::{ErrorKind, ParquetFile, ReadOptions};
use support::counting::{Counting, peak};
use support::encode::*;
use support::random::Random;
use support::raw::{Built, Chunk, File, Page};
use support::read::{TempFile, buffer};
use support::shred::{Node, Value};
use support::thrift::{self, uleb128};

#[global_allocator]
static COUNTING: Counting = Counting;

const CODECS: [Compression; 7] = [
    Compression::Uncompressed,
    Compression::Snappy,
    Compression::Gzip,
    Compression::Brotli,
    Compression::Lz4,
    Compression::Zstd,
    Compression::Lz4Raw,
];

/// Small files, each of another kind.
fn kinds() -> Vec<(String, Built)> {
    let mut kinds =
        vec![("lists".into(), lists()), ("maps".into(), maps()), ("levels".into(), bit_packed_levels())];
    kinds.extend(CODECS.map(|codec| (format!("strings in {codec}"), strings(codec))));
    kinds.extend(fixed_width());
    kinds
}

fn lists() -> Built {
    let node = Node::list(true, Node::list(true, Node::int(true)));
    let int = Value::Int;
    let values = [
        Value::List(vec![Value::List(vec![int(1), int(2)]), Value::Null]),
        Value::Null,
        Value::List(vec![Value::List(vec![])]),
    ];
    let leaf = &node.shred(&values)[0];
    let pages = leaf.cut(&[3]).into_iter().map(|part| Page::leaf(1, &part));
    File::new(|schema| node.add("x", schema))
        .group(3, [Chunk::new(pages)])
        .group(3, [Chunk::new([Page::leaf(2, leaf)]).codec(Compression::Snappy).indexed()])
        .build()
}

fn maps() -> Built {
    let pair =
        Node { optional: true, kind: support::shred::Kind::Struct(vec![Node::int(true), Node::int(false)]) };
    let node = Node { optional: true, kind: support::shred::Kind::Map(Box::new(pair)) };
    let pair = |a, b| Value::Struct(vec![a, Value::Int(b)]);
    let values =
        [Value::Map(vec![(1, pair(Value::Int(2), 3)), (4, Value::Null)]), Value::Null, Value::Map(vec![])];
    let chunks = node.shred(&values).into_iter().map(|leaf| Chunk::new([Page::leaf(1, &leaf)]));
    File::new(|schema| node.add("x", schema)).group(3, chunks.collect::<Vec<_>>()).build()
}

fn bit_packed_levels() -> Built {
    let page = Page::v1(5, Encoding::Plain, i32s(&[1, 2, 3])).def_bit_packed(&[1, 0, 1, 0, 1], 1);
    File::flat("x", Repetition::Optional, PhysicalType::Int32).group(5, [Chunk::new([page])]).build()
}

fn strings(codec: Compression) -> Built {
    let def = |levels: &'static [u8]| move |page: Page| page.def(levels, 1);
    let pages = [
        Page::dictionary(2, byte_arrays(&["a", "bc"])).crc(true),
        def(&[1, 0, 1, 1])(Page::v1(4, Encoding::RleDictionary, indices(&[0, 1, 1], 1))),
        def(&[0, 1])(Page::v2(2, Encoding::Plain, byte_arrays(&["a string that is longer than a view"]))),
        def(&[1, 1, 1])(Page::v1(3, Encoding::DeltaByteArray, delta_byte_array(&["xa", "xb", "xc"]))),
        def(&[1, 1, 1])(Page::v1(3, Encoding::DeltaLengthByteArray, delta_length(&["xa", "xb", "xc"]))),
    ];
    File::new(|schema| {
        schema.leaf("s", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
    })
    .key_value("a key", "a value")
    .group(12, [Chunk::new(pages).codec(codec).indexed()])
    .build()
}

/// A file of one column of each physical type of fixed width, in each of its encodings.
fn fixed_width() -> Vec<(String, Built)> {
    let ints: Vec<i32> = (0..40).map(|i| i * i % 17 - 8).collect();
    let longs: Vec<i64> = ints.iter().map(|&i| i64::from(i) << 33).collect();
    let small: Vec<i64> = ints.iter().map(|&i| i64::from(i)).collect();
    let bools: Vec<bool> = ints.iter().map(|&i| i > 0).collect();
    let bits: Vec<u64> = bools.iter().map(|&b| u64::from(b)).collect();
    let ids: Vec<u32> = ints.iter().map(|&i| (i + 8) as u32 % 3).collect();
    let bytes: Vec<u8> = (0..40 * 12).map(|i| (i * 7) as u8).collect();
    let fixed: Vec<&[u8]> = bytes.chunks(12).collect();
    // Nanoseconds within the day, and a Julian day of the year 1970.
    let days: Vec<Vec<u8>> = (0..40).map(|i| [&i64s(&[i])[..], &i32s(&[2_440_600])].concat()).collect();
    let time = LogicalType::Timestamp { unit: TimeUnit::Nanos, utc: true };
    let decimal = LogicalType::Decimal { precision: 20, scale: 3 };
    let kinds: Vec<(PhysicalType, u16, Option<LogicalType>, Encoding, Vec<u8>)> = vec![
        (PhysicalType::Boolean, 0, None, Encoding::Plain, support::encode::bools(&bools)),
        (PhysicalType::Boolean, 0, None, Encoding::Rle, sized(&hybrid(&bits, 1))),
        (PhysicalType::Int32, 0, None, Encoding::Plain, i32s(&ints)),
        (PhysicalType::Int32, 0, Some(LogicalType::Date), Encoding::DeltaBinaryPacked, delta(&small, 32)),
        (PhysicalType::Int32, 0, None, Encoding::ByteStreamSplit, byte_stream_split(&i32s(&ints), 4)),
        (PhysicalType::Int32, 0, None, Encoding::RleDictionary, indices(&ids, 2)),
        (PhysicalType::Int64, 0, Some(time), Encoding::Plain, i64s(&longs)),
        (PhysicalType::Int64, 0, None, Encoding::DeltaBinaryPacked, delta(&longs, 64)),
        (PhysicalType::Int96, 0, None, Encoding::Plain, days.concat()),
        (PhysicalType::Float, 0, None, Encoding::Plain, i32s(&ints)),
        (PhysicalType::Float, 0, None, Encoding::Alp, bytes[..100].to_vec()),
        (PhysicalType::Double, 0, None, Encoding::ByteStreamSplit, byte_stream_split(&i64s(&longs), 8)),
        (PhysicalType::FixedLenByteArray, 12, Some(decimal), Encoding::Plain, bytes.clone()),
        (PhysicalType::FixedLenByteArray, 12, None, Encoding::DeltaByteArray, delta_byte_array(&fixed)),
        (PhysicalType::FixedLenByteArray, 12, None, Encoding::ByteStreamSplit, byte_stream_split(&bytes, 12)),
    ];
    let file =
        |(physical, width, logical, encoding, values): (PhysicalType, u16, Option<LogicalType>, _, _)| {
            let name = format!("{physical} in {encoding}");
            let mut pages = vec![Page::v1(40, encoding, values)];
            if encoding == Encoding::RleDictionary {
                pages.insert(0, Page::dictionary(3, i32s(&[5, 6, 7])));
            }
            let file = File::new(|schema| {
                let leaf = schema.leaf("x", Repetition::Required, physical).byte_width(width);
                logical.clone().into_iter().fold(leaf, |leaf, logical| leaf.logical(logical));
            });
            (name, file.group(40, [Chunk::new(pages)]).build())
        };
    kinds.into_iter().map(file).collect()
}

/// Pages of the mutants are held to this size.
const MAX_PAGE_SIZE: usize = 1 << 20;

/// Reads all there is to read of a damaged file, and lets errors be errors: wrong are only a panic, arrays that are
/// not valid, and more memory or time than is promised (ARCHITECTURE.md, "How much memory").
fn read_whatever_comes(bytes: &[u8]) {
    let started = Instant::now();
    let (batch, most) = peak(|| {
        let options = ReadOptions::new().max_page_size(MAX_PAGE_SIZE);
        options.from_buffer(buffer(bytes)).map_or(0, |file| read_all(&file))
    });
    let bound = (16 << 20) + 8 * bytes.len() + 2 * MAX_PAGE_SIZE + 4 * batch;
    assert!(most <= bound, "{most} bytes held, {bound} allowed");
    assert!(started.elapsed() < Duration::from_secs(1), "{:?}", started.elapsed());
}

/// Gives the size of the largest batch.
fn read_all(file: &ParquetFile) -> usize {
    let _ = file.capabilities();
    let mut largest = 0;
    for scan in [file.scan(), file.scan().batch_size(2), file.scan().rows([1..2]), file.scan().offset(2)] {
        let Ok(mut reader) = scan.build() else { continue };
        // A footer may claim any number of rows of a file that has no column.
        for _ in 0..20 {
            let Ok(Some(batch)) = reader.next_batch() else { break };
            batch.columns().iter().for_each(|column| column.to_data().validate_full().unwrap());
            largest = largest.max(batch.get_array_memory_size());
        }
    }
    largest
}

/// Tries mutants, and counts them.
struct Trial {
    name: String,
    tried: usize,
}

impl Trial {
    fn new(name: &str) -> Trial {
        Trial { name: name.into(), tried: 0 }
    }

    fn read(&mut self, what: std::fmt::Arguments<'_>, bytes: &[u8]) {
        static MUTANTS: AtomicUsize = AtomicUsize::new(0);
        self.tried += 1;
        if catch_unwind(AssertUnwindSafe(|| read_whatever_comes(bytes))).is_err() {
            let number = MUTANTS.fetch_add(1, Ordering::Relaxed);
            let path = std::env::temp_dir().join(format!("marquetry-hostile-{number}.parquet"));
            std::fs::write(&path, bytes).unwrap();
            panic!("{}, {what}: {}", self.name, path.display());
        }
    }
}

/// Runs `mutate` on each kind; there must be at least so many mutants in all.
fn each_kind(least: usize, mutate: impl Fn(&mut Trial, &Built)) {
    let mut tried = 0;
    for (name, built) in kinds() {
        let mut trial = Trial::new(&name);
        trial.read(format_args!("as it is"), &built.bytes);
        mutate(&mut trial, &built);
        tried += trial.tried;
    }
    println!("{tried} mutants");
    assert!(tried >= least, "{tried} mutants");
}

/// Where the footer of a file begins.
fn footer_start(bytes: &[u8]) -> usize {
    let len = u32::from_le_bytes(bytes[bytes.len() - 8..bytes.len() - 4].try_into().unwrap());
    bytes.len() - 8 - len as usize
}

#[test]
fn kinds_are_sound_before_they_are_damaged() {
    for (name, built) in kinds() {
        let file = ReadOptions::new().from_buffer(buffer(&built.bytes)).unwrap();
        let mut reader = file.scan().build().unwrap();
        match reader.next_batch() {
            Ok(Some(batch)) => assert!(batch.num_rows() > 0, "{name}"),
            // Its values are made up.
            Err(_) if name.ends_with("ALP") => {}
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn bytes_that_are_changed() {
    each_kind(25_000, |trial, built| {
        for at in 0..built.bytes.len() {
            let byte = built.bytes[at];
            for value in [0, 0xff, byte ^ 1, byte ^ 0x80] {
                let mut bytes = built.bytes.clone();
                bytes[at] = value;
                trial.read(format_args!("byte {at} is {value}"), &bytes);
            }
        }
    });
}

#[test]
fn files_that_are_cut_or_miss_a_byte() {
    each_kind(15_000, |trial, built| {
        // The end of the file stays, so that what is cut is missed.
        let (pages, footer) = built.bytes.split_at(footer_start(&built.bytes));
        for cut in 0..pages.len() {
            trial.read(format_args!("cut at {cut}"), &[&pages[..cut], footer].concat());
            trial.read(
                format_args!("without byte {cut}"),
                &[&pages[..cut], &pages[cut + 1..], footer].concat(),
            );
        }
        for cut in 0..built.bytes.len() {
            trial.read(format_args!("of {cut} bytes"), &built.bytes[..cut]);
            assert!(ReadOptions::new().from_buffer(buffer(&built.bytes[..cut])).is_err());
        }
    });
}

/// What a hostile writer puts where a length, count, offset or kind belongs, as it stands in the varint.
fn hostile_numbers() -> Vec<u64> {
    let zigzag = |value: i64| (value << 1 ^ value >> 63) as u64;
    let signed = [0, 1, -1, 4, i64::from(i32::MAX), i64::from(i32::MIN), 1 << 31, i64::MAX, i64::MIN];
    signed.into_iter().map(zigzag).chain([1, 127, 1 << 31, u64::MAX]).collect()
}

/// `bytes` with another number in place of one.
fn with_number(bytes: &[u8], at: &std::ops::Range<usize>, number: u64) -> Vec<u8> {
    let mut varint = Vec::new();
    uleb128(&mut varint, number);
    [&bytes[..at.start], &varint, &bytes[at.end..]].concat()
}

#[test]
fn numbers_of_the_footer_that_lie() {
    each_kind(13_000, |trial, built| {
        let start = footer_start(&built.bytes);
        let footer = &built.bytes[start..built.bytes.len() - 8];
        let (places, end) = thrift::numbers(footer);
        assert_eq!(end, footer.len());
        // Offsets and lengths of other things are among the lies.
        let others: Vec<u64> = places.iter().map(|at| varint(&footer[at.clone()])).collect();
        for (i, at) in places.iter().enumerate() {
            let near = others.iter().skip(i.saturating_sub(3)).take(7);
            for number in hostile_numbers().iter().chain(near) {
                let footer = with_number(footer, at, *number);
                let bytes =
                    [&built.bytes[..start], &footer, &(footer.len() as u32).to_le_bytes(), b"PAR1"].concat();
                trial.read(format_args!("{number} at byte {} of the footer", at.start), &bytes);
            }
        }
    });
}

fn varint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, byte| value << 7 | u64::from(byte & 0x7f))
}

#[test]
fn numbers_of_page_headers_that_lie() {
    each_kind(5_000, |trial, built| {
        for page in 0..built.num_pages(0, 0) {
            let start = built.page(0, 0, page).header;
            let (places, _) = thrift::numbers(&built.bytes[start..]);
            for at in places {
                let at = start + at.start..start + at.end;
                for number in hostile_numbers() {
                    let bytes = with_number(&built.bytes, &at, number);
                    trial.read(format_args!("{number} at byte {}", at.start), &bytes);
                }
            }
        }
    });
}

#[test]
fn sections_that_stand_elsewhere() {
    let all = kinds();
    each_kind(800, |trial, built| {
        let pages: Vec<_> = (0..built.num_pages(0, 0)).map(|page| built.page(0, 0, page)).collect();
        for a in &pages {
            for b in &pages {
                let mut bytes = built.bytes.clone();
                let len = (a.end - a.header).min(b.end - b.header);
                bytes.copy_within(a.header..a.header + len, b.header);
                trial.read(format_args!("page at {} also at {}", a.header, b.header), &bytes);
            }
        }
        for (name, other) in &all {
            let pages = &built.bytes[..footer_start(&built.bytes)];
            let footer = &other.bytes[footer_start(&other.bytes)..];
            trial.read(format_args!("with the footer of {name}"), &[pages, footer].concat());
        }
    });
}

#[test]
fn a_file_that_shrinks_while_it_is_read_is_an_error() {
    let (_, built) = &kinds()[3];
    for len in 0..built.bytes.len() {
        let temp = TempFile::new(&built.bytes);
        let file = ParquetFile::open(temp.path()).unwrap();
        let shrunk = std::fs::OpenOptions::new().write(true).open(temp.path()).unwrap();
        shrunk.set_len(len as u64).unwrap();
        let last = built.page(0, 0, built.num_pages(0, 0) - 1).end;
        let (mut rows, mut fault) = (0, None);
        match file.scan().batch_size(1).build() {
            Ok(mut reader) => loop {
                match reader.next_batch() {
                    Ok(Some(batch)) => rows += batch.num_rows(),
                    Ok(None) => break,
                    Err(error) => {
                        fault = Some(error);
                        break;
                    }
                }
            },
            Err(error) => fault = Some(error),
        }
        match fault {
            Some(error) => {
                assert!(matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::EndOfData { .. }), "{error}")
            }
            None => assert!(rows == 12 && len >= last, "{rows} rows of a file of {len} bytes"),
        }
    }
}

/// Files that exist, where `MARQUETRY_TEST_DATA` names folders of them: the small ones.
fn small_files() -> Vec<(String, Vec<u8>)> {
    let mut files = Vec::new();
    let folders = std::env::var("MARQUETRY_TEST_DATA").unwrap_or_default();
    let mut open: Vec<std::path::PathBuf> =
        folders.split(':').filter(|f| !f.is_empty()).map(Into::into).collect();
    while let Some(path) = open.pop() {
        match std::fs::read_dir(&path) {
            Ok(entries) => open.extend(entries.map(|entry| entry.unwrap().path())),
            Err(_) => {
                let bytes = std::fs::read(&path).unwrap();
                let heavy = path.to_string_lossy().contains("large_string_map");
                if bytes.ends_with(b"PAR1") && bytes.len() < 100_000 && !heavy {
                    files.push((path.display().to_string(), bytes));
                }
            }
        }
    }
    files.sort();
    files
}

#[test]
#[ignore = "writes files to the folder that MARQUETRY_SEEDS names"]
fn seeds_for_the_fuzzers() {
    let folder = std::path::PathBuf::from(std::env::var("MARQUETRY_SEEDS").unwrap());
    let own = kinds().into_iter().map(|(name, built)| (name.replace(' ', "-"), built.bytes));
    let found = small_files().into_iter().map(|(path, bytes)| (path.replace('/', "-"), bytes));
    for (name, bytes) in own.chain(found.filter(|(_, bytes)| bytes.len() < 4096)) {
        std::fs::write(folder.join(name), bytes).unwrap();
    }
}

#[test]
#[ignore = "runs for as long as MARQUETRY_FUZZ_SECONDS says"]
fn no_damage_at_random_makes_a_reader_panic() {
    let number =
        |name: &str, default| std::env::var(name).map_or(default, |text| text.parse::<u64>().unwrap());
    let until =
        std::time::Instant::now() + std::time::Duration::from_secs(number("MARQUETRY_FUZZ_SECONDS", 60));
    let mut files = small_files();
    files.extend(kinds().into_iter().map(|(name, built)| (name, built.bytes)));
    let mut seed = number("MARQUETRY_FUZZ_SEED", 0);
    while std::time::Instant::now() < until {
        seed += 1;
        let mut random = Random::new(seed);
        let (name, bytes) = &files[random.below(files.len() as u64) as usize];
        let mut bytes = bytes.clone();
        for _ in 0..=random.below(4) {
            let at = random.below(bytes.len() as u64 - 8) as usize;
            match random.below(4) {
                0 => bytes[at] = random.next() as u8,
                1 => bytes[at] ^= 1 << random.below(8),
                2 => bytes[at] = bytes[at].wrapping_add(random.below(5) as u8).wrapping_sub(2),
                _ => bytes[at] = [0, 0x7f, 0x80, 0xff, 1][random.below(5) as usize],
            }
        }
        let started = std::time::Instant::now();
        let result = std::panic::catch_unwind(|| read_whatever_comes(&bytes));
        let elapsed = started.elapsed();
        if result.is_err() || elapsed.as_secs() > 5 {
            let path = std::env::temp_dir().join(format!("marquetry-damaged-{seed}.parquet"));
            std::fs::write(&path, &bytes).unwrap();
            panic!("seed {seed}, {name}, {elapsed:?}: {}", path.display());
        }
    }
    println!("up to seed {seed}");
}
