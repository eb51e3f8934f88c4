//! Runs the examples as their users do, each within this process.
#![allow(clippy::duplicate_mod)] // each example has its own copy of what they share
#![allow(clippy::unwrap_used)] // in functions that tests call

#[allow(dead_code)] // their `main`
#[path = "../examples/dump_pages.rs"]
mod dump_pages;
#[allow(dead_code)]
#[path = "../examples/layout.rs"]
mod layout;
#[allow(dead_code)]
#[path = "../examples/read.rs"]
mod read;
#[allow(dead_code)]
#[path = "../examples/read_pages.rs"]
mod read_pages;

#[allow(dead_code)]
#[path = "../examples/merge.rs"]
mod merge;
#[allow(dead_code)]
#[path = "../examples/write.rs"]
mod write;

#[path = "../examples/common/mod.rs"]
mod common;

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::sample;
use common::value::cell;
use marquetry::arrow::array::cast::AsArray;
use marquetry::arrow::array::types::{Int8Type, Int32Type};
use marquetry::arrow::array::{
    Array, ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float64Array,
    Int32Array, ListArray, RecordBatchReader, StringArray, StructArray, Time64MicrosecondArray,
    TimestampMillisecondArray, UInt64Array,
};
use marquetry::arrow::buffer::Buffer;
use marquetry::metadata::{
    ColumnChunkMetadata, Compression, DataPageHeader, Encoding, FooterWriter, LogicalType, MAGIC, PageKind,
    PhysicalType, Repetition, SchemaBuilder,
};
use marquetry::{ParquetFile, Scan};

/// What a program gave: exit code, output, error output.
struct Ran {
    code: u8,
    out: String,
    err: String,
}

macro_rules! run {
    ($example:ident, all $args:expr) => {{
        let args: Vec<OsString> = $args.iter().map(|arg| OsString::from(arg)).collect();
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = $example::PROGRAM.run_with(args, &mut out, &mut err);
        Ran { code, out: String::from_utf8(out).unwrap(), err: String::from_utf8(err).unwrap() }
    }};
    ($example:ident $(, $arg:expr)* $(,)?) => {{
        let args: Vec<OsString> = vec![$(AsRef::<OsStr>::as_ref(&$arg).to_owned()),*];
        run!($example, all args)
    }};
}

/// A folder of one test's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("marquetry-examples-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn sample(&self) -> PathBuf {
        self.file("sample.parquet", &sample::file().unwrap())
    }

    fn names(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn sample_file() -> ParquetFile {
    ParquetFile::from_buffer(Buffer::from_vec(sample::file().unwrap())).unwrap()
}

/// All rows of a scan's only column.
fn only_column(scan: Scan) -> ArrayRef {
    let mut reader = scan.batch_size(1 << 20).build().unwrap();
    assert_eq!(reader.schema().fields().len(), 1);
    reader.next_batch().unwrap().unwrap().column(0).clone()
}

fn dump_of(file: &ParquetFile, row_group: usize, leaf: usize) -> ParquetFile {
    let chunk = file.row_group(row_group).unwrap().column(leaf).unwrap();
    let mut dump = Vec::new();
    let size = dump_pages::dump(file, row_group, &chunk, &mut dump).unwrap();
    assert_eq!(size, dump.len() as u64);
    ParquetFile::from_buffer(Buffer::from_vec(dump)).unwrap()
}

/// One row group of a map of strings to optional integers: `{a: 1, b: null}`, null, `{}`, `{c: 3}`.
fn map_file() -> ParquetFile {
    let mut schema = SchemaBuilder::new("schema");
    schema
        .group("m", Repetition::Optional, |m| {
            m.group("key_value", Repetition::Repeated, |pair| {
                pair.leaf("key", Repetition::Required, PhysicalType::ByteArray).logical(LogicalType::String);
                pair.leaf("value", Repetition::Optional, PhysicalType::Int32);
            });
        })
        .logical(LogicalType::Map);
    let mut footer = FooterWriter::new(schema.finish().unwrap());
    let repetition = sample::levels([0, 1, 0, 0, 0]);
    let mut keys = Vec::new();
    ["a", "b", "c"].iter().for_each(|key| sample::byte_array(key, &mut keys));
    let keys = [repetition.clone(), sample::levels([2, 2, 0, 1, 2]), keys].concat();
    let values = [1i32.to_le_bytes(), 3i32.to_le_bytes()].concat();
    let values = [repetition, sample::levels([3, 2, 0, 1, 3]), values].concat();
    let mut file = MAGIC.to_vec();
    let mut chunks = Vec::new();
    for (physical, body) in [(PhysicalType::ByteArray, keys), (PhysicalType::Int32, values)] {
        let start = file.len() as u64;
        let kind = PageKind::Data(DataPageHeader::new(5, Encoding::Plain));
        sample::write_page(&mut file, kind, &body).unwrap();
        let mut chunk = ColumnChunkMetadata::new(physical, Compression::Uncompressed);
        chunk.num_values = 5;
        chunk.encodings = vec![Encoding::Plain];
        chunk.set_pages(None, start, file.len() as u64).unwrap();
        chunks.push(chunk);
    }
    footer.row_group(4, chunks).unwrap();
    footer.finish(&mut file).unwrap();
    ParquetFile::from_buffer(Buffer::from_vec(file)).unwrap()
}

#[test]
fn the_sample_reads_back_as_what_it_was_made_of() {
    let file = sample_file();
    let mut reader = file.scan().batch_size(1000).build().unwrap();
    let batch = reader.next_batch().unwrap().unwrap();
    assert_eq!(batch.num_rows(), 400);
    for row in 0..400 {
        let shown = |column: usize| cell(batch.column(column).as_ref(), row, 100);
        assert_eq!(shown(0), row.to_string());
        assert_eq!(shown(1), format!("item {row}"));
        let price = (row % 7 != 0).then_some(row as f64 * 1.25);
        assert_eq!(shown(2), price.map_or("null".into(), |price| format!("{price:?}")));
        assert_eq!(shown(3), ["Lisbon", "Osaka", "Nairobi", "Quito", "Tromsø"][row / 12 % 5]);
    }
    let tags = |row| cell(batch.column(5).as_ref(), row, 100);
    assert_eq!([3, 4, 5].map(tags), [r#"["new", null, "last one"]"#, "[]", "null"]);
}

#[test]
fn a_dump_decodes_to_the_same_array_as_the_column_of_the_file() {
    let file = sample_file();
    for (row_group, &num_rows) in sample::ROW_GROUPS.iter().enumerate() {
        for leaf in 0..file.metadata().schema().num_leaves() {
            let dump = dump_of(&file, row_group, leaf);
            let expected = only_column(file.scan().leaves([leaf]).row_groups([row_group]));
            assert_eq!(expected.len(), num_rows);
            assert_eq!(&only_column(dump.scan()), &expected, "leaf {leaf} of row group {row_group}");

            let chunk = file.row_group(row_group).unwrap().column(leaf).unwrap();
            let dumped = dump.row_group(0).unwrap().column(0).unwrap();
            assert_eq!(*chunk.bytes().unwrap(), *dumped.bytes().unwrap());
            assert_eq!(chunk.metadata().statistics, dumped.metadata().statistics);
            let (node, of_dump) = (chunk.node().unwrap(), dumped.node().unwrap());
            assert_eq!(node.name, of_dump.name);
            assert_eq!(node.definition_level, of_dump.definition_level);
            assert_eq!(node.repetition_level, of_dump.repetition_level);
        }
    }
}

#[test]
fn dumps_of_a_map_are_lists_of_its_keys_and_of_its_values() {
    let file = map_file();
    let map = only_column(file.scan());
    let map = map.as_map();
    assert_eq!(cell(map, 0, 100), r#"{"a": 1, "b": null}"#);
    for (leaf, expected) in [(0, map.keys()), (1, map.values())] {
        let list = only_column(dump_of(&file, 0, leaf).scan());
        let list = list.as_list::<i32>();
        assert_eq!(list.values(), expected);
        assert_eq!((list.offsets(), list.nulls()), (map.offsets(), map.nulls()));
    }
}

#[test]
fn read_prints_schema_row_groups_and_rows() {
    let folder = Folder::new("read");
    let path = folder.sample();
    let ran = run!(read, path, "--columns", "tags.element,id", "--offset", "249", "--rows", "2");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines[0].ends_with("400 rows in 2 row groups, 6 columns"), "{}", lines[0]);
    assert!(lines.contains(&"    element  Utf8   nullable"), "{}", ran.out);
    let rows = ["        id  tags", "  249  249  [\"new\"]", "  250  250  null"];
    assert_eq!(lines[lines.len() - 3..], rows, "{}", ran.out);

    let ran = run!(read, path, "--rows", "1", "--width", "20");
    assert!(ran.out.contains("\n  row 0\n    id       0\n    name     item 0\n"), "{}", ran.out);
    let ran = run!(read, path, "--rows", "all", "--batch-size", "7", "--row-groups", "1");
    assert!(ran.out.contains("\n  149  399  item 399  "), "{}", ran.out);
    for how in ["--open", "--no-crc"] {
        let ran = run!(read, path, "--check", how);
        assert!(ran.out.contains("all is well: 400 rows of 6 columns"), "{}", ran.out);
    }
}

#[test]
fn read_with_no_file_makes_the_sample() {
    let ran = run!(read, "--rows", "0");
    assert_eq!(ran.code, 0, "{}", ran.err);
    let path = Path::new(ran.out.split(": ").next().unwrap());
    assert_eq!(std::fs::read(path).unwrap(), sample::file().unwrap());
}

#[test]
fn layout_draws_all_pages() {
    let folder = Folder::new("layout");
    let path = folder.sample();
    let ran = run!(layout, path);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    // Three and two data pages of each column, and two dictionaries.
    assert_eq!(ran.out.matches("  right\n").count(), 6 * (3 + 2) + 2, "{}", ran.out);
    assert!(ran.out.contains("statistics: min 250, max 399, nulls 0"), "{}", ran.out);
    assert!(ran.out.contains("\n  3  city "), "{}", ran.out);

    let ran = run!(layout, path, "--columns", "city,#0", "--row-groups", "1", "--no-pages");
    assert_eq!(ran.out.matches("─ column ").count(), 2, "{}", ran.out);
    assert!(!ran.out.contains("checksum"), "{}", ran.out);
}

#[test]
fn layout_tells_a_broken_chunk_in_its_place_and_goes_on() {
    let folder = Folder::new("broken");
    let file = sample_file();
    let range = |leaf| file.row_group(0).unwrap().column(leaf).unwrap().metadata().byte_range().unwrap();
    let mut broken = sample::file().unwrap();
    broken[usize::try_from(range(1).start).unwrap()] = 0xff;
    broken[usize::try_from(range(2).end).unwrap() - 1] ^= 1;
    let ran = run!(layout, folder.file("broken.parquet", &broken));
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("2 faults"), "{}", ran.err);
    let at = |text: &str| ran.out.find(text).unwrap_or_else(|| panic!("no {text} in {}", ran.out));
    let places =
        ["column 1 name", "BROKEN", "column 2 price", "WRONG", "column 3 city", "row group 1"].map(at);
    assert!(places.is_sorted(), "{}", ran.out);
}

#[test]
fn dump_pages_makes_a_file_that_read_pages_lists() {
    let folder = Folder::new("dump");
    let path = folder.sample();
    let out = folder.0.join("tags.parquet");
    for column in ["tags.list.element", "tags", "5", "#5"] {
        let ran = run!(dump_pages, path, column, "0", out);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""), "{column}");
    }
    assert_eq!(folder.names(), ["sample.parquet", "tags.parquet"]);
    let ran = run!(read_pages, out, "--values", "2");
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("rows 0..99: null, [\"sale\"], …\n"), "{}", ran.out);
    // The last row of a list ends where the chunk does.
    assert!(ran.out.contains("rows 249..250: [\"new\"]\n"), "{}", ran.out);
    assert!(ran.out.contains("3 pages, 400 values; 250 rows, 50 null rows"), "{}", ran.out);
}

#[test]
fn a_dump_that_fails_leaves_nothing_behind() {
    let folder = Folder::new("fails");
    let path = folder.sample();
    let whole = std::fs::read(&path).unwrap();
    let out = folder.0.join("out.parquet");
    for (column, row_group, says) in
        [("nothing", "0", "nothing"), ("6", "0", "column 6 of a file of 6"), ("id", "2", "row group 2")]
    {
        let ran = run!(dump_pages, path, column, row_group, out);
        assert_eq!(ran.code, 1);
        assert!(ran.err.contains(says), "{}", ran.err);
    }
    assert_eq!(run!(dump_pages, path, "id", "0", folder.0.join("nowhere/out.parquet")).code, 1);
    // A folder cannot be replaced by a file: the part that was written goes.
    std::fs::create_dir(folder.0.join("folder")).unwrap();
    assert_eq!(run!(dump_pages, path, "id", "0", folder.0.join("folder")).code, 1);
    assert_eq!(run!(dump_pages, path, "id", "0", folder.0.join("./sample.parquet")).code, 2);
    assert_eq!(folder.names(), ["folder", "sample.parquet"]);
    assert_eq!(std::fs::read(&path).unwrap(), whole);
}

#[test]
fn read_pages_reads_bytes_without_a_footer() {
    let folder = Folder::new("raw");
    let path = folder.sample();
    let file = sample_file();
    // Titles and times differ, values do not.
    let values = |out: &str| -> Vec<String> {
        out.lines().filter(|line| line.trim_start().starts_with("rows ")).map(str::to_owned).collect()
    };
    for (leaf, options) in [
        (0, "--type INT32"),
        (2, "--type double --max-def 1 --num-values 250"),
        (3, "--type BYTE_ARRAY --logical string --codec uncompressed"),
        (4, "--type INT64 --logical timestamp:micros:utc"),
        (5, "--type BYTE_ARRAY --logical string --max-def 3 --max-rep 1"),
    ] {
        let bytes = file.row_group(0).unwrap().column(leaf).unwrap().bytes().unwrap();
        let raw = folder.file("chunk.bin", &bytes);
        let args: Vec<&str> = [raw.to_str().unwrap()].into_iter().chain(options.split(' ')).collect();
        let raw = run!(read_pages, all args);
        assert_eq!((raw.code, raw.err.as_str()), (0, ""), "{options}");
        let of_file = run!(read_pages, path, "--column", format!("#{leaf}"), "--row-group", "0");
        assert!(values(&raw.out).len() >= 3, "{}", raw.out);
        assert_eq!(values(&raw.out), values(&of_file.out), "{options}");
    }
}

#[test]
fn wrong_usage_prints_help_and_exits_2() {
    let wrong = |ran: Ran| {
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains("usage: "), "{}", ran.err);
    };
    let helped = |ran: Ran| {
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(ran.out.contains("usage: "), "{}", ran.out);
    };
    macro_rules! each {
        ($($example:ident),*) => {$(
            wrong(run!($example, "--nonsense"));
            wrong(run!($example, "-x"));
            wrong(run!($example, "a", "b", "c", "d", "e"));
            helped(run!($example, "--help"));
            helped(run!($example, "-h"));
        )*};
    }
    each!(read, layout, dump_pages, read_pages);
    wrong(run!(layout));
    wrong(run!(layout, "a", "--row-groups", "first"));
    wrong(run!(dump_pages, "a", "b", "0"));
    wrong(run!(dump_pages, "a", "b", "first", "d"));
    wrong(run!(read, "a", "--rows", "many"));
    wrong(run!(read, "a", "--rows"));
    wrong(run!(read, "a", "--batch-size", "0"));
    wrong(run!(read, "a", "--row-groups", "1,,2"));
    wrong(run!(read_pages));
    wrong(run!(read_pages, "a", "--codec", "SNAPPY"));
    wrong(run!(read_pages, "a", "--type", "INT31"));
    wrong(run!(read_pages, "a", "--type", "INT32", "--codec", "zip"));
    wrong(run!(read_pages, "a", "--type", "INT32", "--logical", "decimal:many"));
    wrong(run!(read_pages, "a", "--type", "FIXED_LEN_BYTE_ARRAY"));
    wrong(run!(read_pages, "a", "--type", "INT32", "--width", "4"));
    wrong(run!(read_pages, "a", "--type", "INT32", "--max-rep", "2", "--max-def", "1"));
    wrong(run!(read_pages, "a", "--type", "INT32", "--column", "b"));
}

#[test]
fn what_is_no_file_or_no_parquet_file_exits_1() {
    let folder = Folder::new("garbage");
    let whole = sample::file().unwrap();
    let mut inputs: Vec<PathBuf> = vec![folder.0.join("missing"), folder.0.clone()];
    for len in [0, 3, 4, 11, 12, whole.len() / 2, whole.len() - 1] {
        inputs.push(folder.file(&format!("cut{len}"), &whole[..len]));
    }
    let mut long_footer = whole.clone();
    let at = long_footer.len() - 8;
    long_footer[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    inputs.push(folder.file("long_footer", &long_footer));
    let out = folder.0.join("out");
    for input in &inputs {
        for ran in [
            run!(read, input),
            run!(read, input, "--open"),
            run!(layout, input),
            run!(read_pages, input),
            run!(dump_pages, input, "id", "0", out),
        ] {
            assert_eq!(ran.code, 1, "{}: {}", input.display(), ran.err);
            assert!(ran.err.contains(&input.display().to_string()), "{}", ran.err);
        }
    }
    assert!(!out.exists());
}

#[test]
fn bytes_flipped_anywhere_never_panic() {
    let folder = Folder::new("flipped");
    let whole = sample::file().unwrap();
    let out = folder.0.join("out");
    for at in (0..whole.len()).step_by(whole.len() / 60) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x55;
        let input = folder.file("flipped.parquet", &flipped);
        assert!(run!(read, input, "--rows", "all", "--no-crc").code < 2);
        assert!(run!(layout, input).code < 2);
        assert!(run!(dump_pages, input, "#5", "0", out).code < 2);
        assert!(run!(read_pages, input, "--column", "#3").code < 2);
        assert!(run!(read_pages, input, "--type", "INT32", "--max-rep", "3", "--max-def", "9").code < 2);
    }
}

#[test]
fn values_of_all_kinds_are_short_text() {
    let show = |array: &dyn Array| (0..array.len()).map(|row| cell(array, row, 24)).collect::<Vec<_>>();
    let texts = [Some("plain"), Some(""), Some("null"), None, Some("tab\t"), Some(" x")];
    let shown = ["plain", "\"\"", "\"null\"", "null", "tab\\t", "\" x\""];
    assert_eq!(show(&StringArray::from(texts.to_vec())), shown);
    let long = StringArray::from(vec!["ø".repeat(24), "ø".repeat(25)]);
    assert_eq!(show(&long), ["ø".repeat(24), "ø".repeat(23) + "…"]);
    let bytes = BinaryArray::from(vec![b"text".as_slice(), &[0, 255], b""]);
    assert_eq!(show(&bytes), ["b\"text\"", "0x00ff", "0x"]);
    assert_eq!(show(&BooleanArray::from(vec![Some(true), None])), ["true", "null"]);
    assert_eq!(show(&UInt64Array::from(vec![u64::MAX])), [u64::MAX.to_string()]);
    assert_eq!(show(&Float64Array::from(vec![1.0, 1e300, f64::NAN])), ["1.0", "1e300", "NaN"]);
    let decimals = Decimal128Array::from(vec![12345, -5]).with_precision_and_scale(9, 2).unwrap();
    assert_eq!(show(&decimals), ["123.45", "-0.05"]);
    let dates = Date32Array::from(vec![0, -1, i32::MAX]);
    assert_eq!(show(&dates), ["1970-01-01", "1969-12-31", "2147483647 (no date)"]);
    let times = Time64MicrosecondArray::from(vec![1_000_001, -1, i64::MAX]);
    assert_eq!(show(&times), ["00:00:01.000001", "-1 (no time)", "9223372036854775807 (no…"]);
    let instants = TimestampMillisecondArray::from(vec![1, i64::MIN]).with_timezone("Europe/Paris");
    assert_eq!(show(&instants), ["1970-01-01 00:00:00.001Z", "-9223372036854775808 (n…"]);

    let million = (0..1_000_000).map(Some).collect();
    let lists = [Some(vec![Some(1), None]), None, Some(million)];
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    assert_eq!(show(&lists), ["[1, null]", "null", "[0, 1, 2, 3, 4, 5, 6, 7…"]);
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(7), None]));
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["a \"b\"", "c"]));
    let structs = StructArray::try_from(vec![("n", numbers), ("t", texts)]).unwrap();
    assert_eq!(show(&structs), [r#"{n: 7, t: "a \"b\""}"#, r#"{n: null, t: "c"}"#]);
    let dictionary: DictionaryArray<Int8Type> = [Some("x"), None, Some("x")].into_iter().collect();
    assert_eq!(show(&dictionary), ["x", "null", "x"]);
}

#[test]
fn a_leaf_is_found_by_path_group_and_number() {
    let mut schema = SchemaBuilder::new("schema");
    schema.leaf("1", Repetition::Required, PhysicalType::Int32);
    schema.leaf("x.y", Repetition::Required, PhysicalType::Int32);
    schema.group("x", Repetition::Optional, |x| {
        x.leaf("z", Repetition::Required, PhysicalType::Int32);
        x.leaf("w", Repetition::Required, PhysicalType::Int32);
    });
    schema.leaf("twin", Repetition::Required, PhysicalType::Int32);
    schema.leaf("twin", Repetition::Required, PhysicalType::Int64);
    let schema = schema.finish().unwrap();
    let find = |name| common::leaf::find(&schema, name).map_err(|error| error.to_string());
    assert_eq!(find("1"), Ok(0), "a name wins over a number");
    assert_eq!(["#1", "0", "x.y", "x.z", "#4"].map(find), [Ok(1), Ok(0), Ok(1), Ok(2), Ok(4)]);
    assert_eq!(find("x").unwrap_err(), "\"x\" means 3 columns: #1 x.y, #2 x.z, #3 x.w");
    assert!(find("twin").unwrap_err().contains("#4 twin, #5 twin"));
    assert!(["6", "nothing", ""].map(find).iter().all(Result::is_err));
}

/// All rows, as lines of text.
fn rows_of(path: &Path) -> Vec<String> {
    let file = ParquetFile::open(path).unwrap();
    let batches: Vec<_> = file.scan().build().unwrap().map(Result::unwrap).collect();
    let row = |batch: &marquetry::arrow::array::RecordBatch, row: usize| {
        let cells = batch.columns().iter().map(|column| cell(column, row, 100));
        cells.collect::<Vec<_>>().join(" ")
    };
    batches
        .iter()
        .flat_map(|batch| (0..batch.num_rows()).map(|at| row(batch, at)).collect::<Vec<_>>())
        .collect()
}

#[test]
fn write_makes_a_file_of_csv() {
    let folder = Folder::new("write-csv");
    let csv = folder.file("a.csv", "id;name;price;ok\n1;\"a;b\";1.5;true\n2;;-2;false\n;c;;\n".as_bytes());
    let to = folder.0.join("a.parquet");
    let ran = run!(write, "--delimiter", ";", "--codec", "snappy", "--crc", "--bloom", "name", csv, to);
    assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    assert!(ran.out.contains("3 rows"), "{}", ran.out);
    assert_eq!(rows_of(&to), ["1 a;b 1.5 true", "2 null -2.0 false", "null c null null"]);
    assert_eq!(folder.names(), ["a.csv", "a.parquet"]);
}

#[test]
fn write_makes_up_rows_and_merge_puts_files_together() {
    let folder = Folder::new("merge");
    let parts: Vec<PathBuf> = (1..4).map(|n| folder.0.join(format!("{n}.parquet"))).collect();
    for (part, rows) in parts.iter().zip(["10", "30", "20"]) {
        let ran =
            run!(write, "--rows", rows, "--row-group-rows", "8", "--encoding", "url=DELTA_BYTE_ARRAY", part);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
    }
    let expected: Vec<String> = parts.iter().flat_map(|part| rows_of(part)).collect();
    let to = folder.0.join("all.parquet");
    for (flags, sorted) in [(vec![], false), (vec!["--encode"], false), (vec!["--sort", "id"], true)] {
        let args: Vec<OsString> = flags
            .into_iter()
            .map(OsString::from)
            .chain([&to].into_iter().chain(&parts).map(|path| path.clone().into_os_string()))
            .collect();
        let ran = run!(merge, all args);
        assert_eq!((ran.code, ran.err.as_str()), (0, ""));
        assert!(ran.out.contains("60 rows of 3 files"), "{}", ran.out);
        let mut expected = expected.clone();
        if sorted {
            // Keys that are the same in the order of the files: a stable sort.
            expected.sort_by_key(|row| row.split(' ').next().unwrap().parse::<i64>().unwrap());
        }
        assert_eq!(rows_of(&to), expected);
    }
    assert_eq!(folder.names(), ["1.parquet", "2.parquet", "3.parquet", "all.parquet"]);
    let ran = run!(merge, "--sort", "name", to, parts[0], parts[1]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("is not sorted by column name"), "{}", ran.err);
    assert_eq!(rows_of(&to).len(), 60);
}

#[test]
fn write_and_merge_help_where_they_are_called_wrongly() {
    let folder = Folder::new("write-usage");
    let sample = folder.sample();
    for ran in [
        run!(write),
        run!(write, "only.csv"),
        run!(write, "--codec", "rar", "a", "b"),
        run!(write, "--encoding", "nonsense", "a", "b"),
        run!(write, "--nonsense", "a", "b"),
        run!(merge),
        run!(merge, "only-out"),
        run!(merge, "--level", "high", "out", sample),
    ] {
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
        assert!(ran.err.contains("usage:"), "{}", ran.err);
    }
    let out = folder.0.join("out.parquet");
    let ran = run!(write, "--encoding", "price=DELTA_BYTE_ARRAY", "--rows", "3", out);
    assert!(ran.code == 1 && ran.err.contains("does not fit DOUBLE"), "{}", ran.err);
    let other = folder.0.join("other.parquet");
    assert_eq!(run!(write, "--rows", "3", other).code, 0);
    let ran = run!(merge, out, sample, other);
    assert!(ran.code == 1 && ran.err.contains("its schema is not that of"), "{}", ran.err);
    assert_eq!(folder.names(), ["other.parquet", "sample.parquet"]);
}
