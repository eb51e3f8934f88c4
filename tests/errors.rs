//! Broken and hostile files: what is given before the fault, what the error says, what it costs.
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

use marquetry::arrow::array::RecordBatch;
use marquetry::metadata::{
    Compression, Encoding, FileMetadata, LogicalType, MetadataLimits, PageKind, PhysicalType, Repetition,
};
use marquetry::{Error, ErrorKind, ParquetFile, ReadOptions, Result};
use support::counting::{Counting, peak};
use support::encode::*;
use support::raw::{Built, Chunk, File, Page, header_fields, with_footer};
use support::read::{TempFile, buffer, check, column, drain, fault, fault_bytes, memory, open, read};
use support::show::words;
use support::thrift::{self, T, WIRE_I32, WIRE_LIST, WIRE_STRUCT, structure};

#[global_allocator]
static COUNTING: Counting = Counting;

/// More than any of these small files can need.
const LITTLE: usize = 4 << 20;

/// [`fault`], which must not take memory.
fn cheap_fault(file: &Built) -> Error {
    cheap_fault_bytes(&file.bytes)
}

fn cheap_fault_bytes(bytes: &[u8]) -> Error {
    let (error, most) = peak(|| fault_bytes(bytes));
    assert!(most < LITTLE, "{most} bytes for an error: {error}");
    error
}

fn required(num_rows: u64, pages: impl IntoIterator<Item = Page>) -> Built {
    File::flat("x", Repetition::Required, PhysicalType::Int32).group(num_rows, [Chunk::new(pages)]).build()
}

/// Two row groups of two columns; each chunk has pages of ten rows and the dictionary of the strings before them.
fn sound() -> Built {
    let mut file = File::new(|schema| {
        schema.leaf("x", Repetition::Required, PhysicalType::Int32);
        schema.group("g", Repetition::Required, |group| {
            group.leaf("s", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
        });
    });
    for _ in 0..2 {
        let numbers = (0..4).map(|i| Page::v1(10, Encoding::Plain, i32s(&[i; 10])).crc(true));
        let strings = (0..4)
            .map(|_| Page::v2(10, Encoding::RleDictionary, indices(&[0; 10], 1)).def(&[1; 10], 1).crc(true));
        let dictionary = Page::dictionary(1, byte_arrays(&["s"])).crc(true);
        file = file.group(40, [Chunk::new(numbers), Chunk::new([dictionary].into_iter().chain(strings))]);
    }
    file.build()
}

#[test]
fn whole_batches_before_a_fault_are_given_then_one_error_then_nothing() {
    // Pages 2 of the second row group begin with row 60.
    for (leaf, page) in [(0, 2), (1, 3)] {
        for batch_size in [1, 7, 10, 25, 60, 61, 100] {
            let file = sound().ruin_body(1, leaf, page);
            let temp = TempFile::new(&file.bytes);
            for file in [open(&file), ParquetFile::open(temp.path()).unwrap()] {
                let (batches, error) = drain(file.scan().batch_size(batch_size).build().unwrap());
                let error = error.unwrap();
                assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
                assert_eq!(batches.len(), 60 / batch_size);
                assert!(batches.iter().all(|batch| batch.num_rows() == batch_size));
                let found: Vec<_> = batches.iter().flat_map(|batch| words(batch.column(0))).collect();
                let whole = column(open(&sound()).scan().columns(["x"]));
                assert!(whole.split(' ').zip(&found).all(|(a, b)| a == b));
            }
        }
    }
}

#[test]
fn the_iterator_ends_after_an_error() {
    let mut reader = open(&sound().ruin_body(0, 0, 1)).scan().batch_size(10).build().unwrap();
    assert!(reader.next().unwrap().is_ok());
    let error = reader.next().unwrap().unwrap_err();
    let marquetry::arrow::schema::ArrowError::ExternalError(inner) = error else { panic!("{error}") };
    assert_eq!(inner.downcast_ref::<Error>().unwrap().place().page, Some(1));
    assert!((0..3).all(|_| reader.next().is_none()));
}

#[test]
fn errors_name_row_group_column_page_and_byte() {
    let built = sound();
    for (row_group, leaf, page) in [(0, 0, 0), (0, 0, 3), (1, 0, 2), (0, 1, 0), (0, 1, 1), (1, 1, 4)] {
        let offset = built.page(row_group, leaf, page).header as u64;
        let column = ["x", "g.s"][leaf];
        let error = fault(&built.clone().ruin_body(row_group, leaf, page));
        let place = error.place();
        assert_eq!(place.row_group, Some(row_group));
        assert_eq!(place.column.as_deref(), Some(column));
        assert_eq!((place.page, place.offset), (Some(page), Some(offset)));
        let text = format!("(row group {row_group}, column {column}, page {page}, byte {offset})");
        assert!(error.to_string().ends_with(&text), "{error}");
        // A broken header: the byte is one of the header's.
        let error = fault(&built.clone().ruin(row_group, leaf, page));
        let place = error.place();
        assert_eq!(
            (place.row_group, place.column.as_deref(), place.page),
            (Some(row_group), Some(column), Some(page))
        );
        assert!((offset..offset + 20).contains(&place.offset.unwrap()), "{error}, the page is at {offset}");
    }
}

#[test]
fn the_place_of_a_page_is_named_when_it_was_jumped_to() {
    let rows = |i: i32| Page::v1(2, Encoding::RleDictionary, indices(&[0, i as u32 % 2], 2)).crc(true);
    let pages = [Page::dictionary(2, i32s(&[1, 2]))].into_iter().chain((0..6).map(rows));
    let chunk = Chunk::new(pages).indexed();
    let built = File::flat("x", Repetition::Required, PhysicalType::Int32).group(12, [chunk]).build();
    let offset = built.page(0, 0, 5).header as u64;
    let file = open(&built.ruin_body(0, 0, 5));
    assert_eq!(column(file.scan().rows([6..8, 10..12])), "1 2 1 2");
    let (_, error) = drain(file.scan().rows([0..1, 8..9]).build().unwrap());
    let error = error.unwrap();
    assert_eq!((error.place().page, error.place().offset), (Some(5), Some(offset)), "{error}");
}

#[test]
fn bytes_that_are_not_utf_8_are_an_error_that_says_how_to_read_them() {
    for pages in [
        vec![Page::v1(2, Encoding::Plain, byte_arrays(&[&b"ok"[..], b"\xff"]))],
        vec![
            Page::dictionary(2, byte_arrays(&[&b"ok"[..], b"\xff"])),
            Page::v1(2, Encoding::RleDictionary, indices(&[0, 1], 1)),
        ],
        // Halves of a character, which together would be one.
        vec![Page::v1(2, Encoding::Plain, byte_arrays(&[b"\xc3", b"\xa7"]))],
    ] {
        let file = File::new(|schema| {
            schema.leaf("s", Repetition::Required, PhysicalType::ByteArray).logical(LogicalType::String);
        })
        .group(2, [Chunk::new(pages)])
        .build();
        let error = fault(&file);
        assert!(
            matches!(error.kind(), ErrorKind::NotUtf8 { .. }) && error.to_string().contains("Binary"),
            "{error}"
        );
        assert_eq!(error.place().column.as_deref(), Some("s"));
        let binary = marquetry::arrow::schema::DataType::Binary;
        assert_eq!(read(open(&file).scan().output_type("s", binary))[0].num_rows(), 2);
        for views in
            [marquetry::arrow::schema::DataType::Utf8View, marquetry::arrow::schema::DataType::LargeUtf8]
        {
            let (_, error) = drain(open(&file).scan().output_type("s", views).build().unwrap());
            assert!(matches!(error.unwrap().kind(), ErrorKind::NotUtf8 { .. }));
        }
    }
}

#[test]
fn values_that_end_early_are_an_error() {
    type Case = (PhysicalType, Encoding, Vec<u8>);
    let cases: [Case; 12] = [
        (PhysicalType::Int32, Encoding::Plain, i32s(&[1, 2, 3])),
        (PhysicalType::Int64, Encoding::Plain, i64s(&[1, 2, 3])),
        (PhysicalType::Boolean, Encoding::Plain, bools(&[true, false, true])),
        (PhysicalType::Boolean, Encoding::Rle, sized(&packed_run(&[1, 0, 1], 1))),
        (PhysicalType::ByteArray, Encoding::Plain, byte_arrays(&["abc", "", "de"])),
        (PhysicalType::FixedLenByteArray, Encoding::Plain, vec![7; 9]),
        (PhysicalType::Int32, Encoding::DeltaBinaryPacked, delta(&[1, 200, 3], 32)),
        (PhysicalType::Int64, Encoding::DeltaBinaryPacked, delta(&[1, i64::MAX, 3], 64)),
        (PhysicalType::ByteArray, Encoding::DeltaLengthByteArray, delta_length(&["abc", "", "de"])),
        (PhysicalType::ByteArray, Encoding::DeltaByteArray, delta_byte_array(&["abc", "abd", "abde"])),
        (PhysicalType::Float, Encoding::ByteStreamSplit, vec![7; 12]),
        (PhysicalType::FixedLenByteArray, Encoding::ByteStreamSplit, vec![7; 9]),
    ];
    for (physical, encoding, values) in cases {
        let file = |values: &[u8]| {
            let schema = File::new(|schema| {
                schema.leaf("x", Repetition::Required, physical).byte_width(3);
            });
            schema.group(3, [Chunk::new([Page::v1(3, encoding, values.to_vec())])]).build()
        };
        assert_eq!(read(open(&file(&values)).scan())[0].num_rows(), 3, "{physical} {encoding}");
        let mut accepted = Vec::new();
        for len in 0..values.len() {
            if drain(open(&file(&values[..len])).scan().build().unwrap()).1.is_none() {
                accepted.push(len);
            } else {
                fault(&file(&values[..len]));
            }
        }
        // The padding of the last miniblock, or of the last group of eight, may be missing.
        let padded = matches!(encoding, Encoding::DeltaBinaryPacked | Encoding::Rle);
        assert!(accepted.is_empty() || padded, "{physical} {encoding}: {accepted:?} of {}", values.len());
    }
}

#[test]
fn lengths_of_byte_arrays_that_lie_are_an_error() {
    for length in [4u32, 1000, i32::MAX as u32, i32::MAX as u32 + 1, u32::MAX] {
        let mut values = byte_arrays(&["abc", "def"]);
        values[..4].copy_from_slice(&length.to_le_bytes());
        let file = |page| {
            File::flat("x", Repetition::Required, PhysicalType::ByteArray)
                .group(2, [Chunk::new(page)])
                .build()
        };
        let error = cheap_fault(&file(vec![Page::v1(2, Encoding::Plain, values.clone())]));
        assert_eq!(error.place().page, Some(0));
        cheap_fault(&file(vec![
            Page::dictionary(2, values),
            Page::v1(2, Encoding::RleDictionary, indices(&[0, 1], 1)),
        ]));
    }
    // DELTA encodings: negative lengths, prefixes longer than the value before, sums that overflow.
    let lengths = |lengths: &[i64], bytes: &[u8]| [delta(lengths, 32), bytes.to_vec()].concat();
    for (encoding, values) in [
        (Encoding::DeltaLengthByteArray, lengths(&[3, -3], b"abc")),
        (Encoding::DeltaLengthByteArray, lengths(&[i64::from(i32::MAX); 2], b"abc")),
        (Encoding::DeltaLengthByteArray, lengths(&[0, i64::from(i32::MIN)], b"abc")),
        (Encoding::DeltaByteArray, [delta(&[0, 4], 32), delta_length(&["abc", "d"])].concat()),
        (Encoding::DeltaByteArray, [delta(&[1, 0], 32), delta_length(&["abc", "d"])].concat()),
        (Encoding::DeltaByteArray, [delta(&[0, -1], 32), delta_length(&["abc", "d"])].concat()),
        (Encoding::DeltaByteArray, [delta(&[0, 1 << 30], 32), delta_length(&["abc", "d"])].concat()),
    ] {
        let page = Page::v1(2, encoding, values);
        cheap_fault(
            &File::flat("x", Repetition::Required, PhysicalType::ByteArray)
                .group(2, [Chunk::new([page])])
                .build(),
        );
    }
}

#[test]
fn a_front_coded_page_cannot_grow_without_end() {
    // Every value repeats the one before and adds a byte: n values of n bytes out of some n bytes. Held at once is no
    // more than what a batch asks for.
    let n = 20_000i64;
    let prefixes: Vec<i64> = (0..n).collect();
    let values = [delta(&prefixes, 32), delta(&vec![1; n as usize], 32), vec![b'x'; n as usize]].concat();
    let page = Page::v1(n as usize, Encoding::DeltaByteArray, values);
    let file = File::flat("x", Repetition::Required, PhysicalType::ByteArray)
        .group(n as u64, [Chunk::new([page])])
        .build();
    let (batches, most) = peak(|| {
        let mut reader = open(&file).scan().batch_size(10).build().unwrap();
        (0..10).map(|_| reader.next_batch().unwrap().unwrap().num_rows()).sum::<usize>()
    });
    assert_eq!(batches, 100);
    assert!(most < LITTLE, "{most}");
    let file = open(&file);
    let last = read(file.scan().rows([n as u64 - 1..n as u64]));
    assert_eq!(last[0].column(0).to_data().buffers()[1].len(), n as usize);
}

#[test]
fn sizes_that_only_a_header_claims_allocate_nothing() {
    let huge = i32::MAX as usize;
    for codec in [
        Compression::Uncompressed,
        Compression::Snappy,
        Compression::Gzip,
        Compression::Brotli,
        Compression::Lz4,
        Compression::Zstd,
        Compression::Lz4Raw,
    ] {
        let column = || File::flat("x", Repetition::Required, PhysicalType::Int32);
        for version in [1, 2] {
            let page = Page::data(version, 3, Encoding::Plain, i32s(&[1, 2, 3]));
            let page = page.header(move |header| header.uncompressed_size = huge);
            cheap_fault(&column().group(3, [Chunk::new([page]).codec(codec)]).build());
        }
        let dictionary =
            Page::dictionary(1, i32s(&[1])).header(move |header| header.uncompressed_size = huge);
        let ids = Page::v1(1, Encoding::RleDictionary, indices(&[0], 1));
        cheap_fault(&column().group(1, [Chunk::new([dictionary, ids]).codec(codec)]).build());
        let page = Page::v1(3, Encoding::Plain, i32s(&[1, 2, 3]))
            .header(move |header| header.compressed_size = huge);
        cheap_fault(&column().group(3, [Chunk::new([page]).codec(codec)]).build());
    }
}

#[test]
fn counts_that_only_a_header_claims_allocate_nothing() {
    let huge = i32::MAX as usize;
    let claims = |page: Page| {
        page.header(move |header| match &mut header.kind {
            PageKind::Data(data) => data.num_values = huge,
            PageKind::DataV2(data) => data.num_values = huge,
            PageKind::Dictionary(dictionary) => dictionary.num_values = huge,
            _ => {}
        })
    };
    for (physical, encoding, values) in [
        (PhysicalType::Int32, Encoding::Plain, i32s(&[1])),
        (PhysicalType::Boolean, Encoding::Plain, vec![1]),
        (PhysicalType::Boolean, Encoding::Rle, sized(&packed_run(&[1], 1))),
        (PhysicalType::ByteArray, Encoding::Plain, byte_arrays(&["a"])),
        (PhysicalType::FixedLenByteArray, Encoding::Plain, vec![1; 16]),
        (PhysicalType::Int32, Encoding::DeltaBinaryPacked, delta(&[1, 2], 32)),
        (PhysicalType::ByteArray, Encoding::DeltaLengthByteArray, delta_length(&["a"])),
        (PhysicalType::ByteArray, Encoding::DeltaByteArray, delta_byte_array(&["a"])),
        (PhysicalType::Int64, Encoding::ByteStreamSplit, vec![1; 16]),
        (PhysicalType::FixedLenByteArray, Encoding::ByteStreamSplit, vec![1; 16]),
    ] {
        for version in [1, 2] {
            let file = |repetition| {
                let schema = File::new(|schema| {
                    schema.leaf("x", repetition, physical).byte_width(16);
                });
                let page = claims(Page::data(version, huge, encoding, values.clone()));
                let page = if repetition == Repetition::Optional {
                    page.def_bytes(rle_run(huge, 1, 1))
                } else {
                    page
                };
                schema.group(huge as u64, [Chunk::new([page])]).build()
            };
            cheap_fault(&file(Repetition::Required));
            cheap_fault(&file(Repetition::Optional));
        }
    }
    for (physical, values) in [
        (PhysicalType::Int32, i32s(&[1])),
        (PhysicalType::Int96, vec![0; 12]),
        (PhysicalType::ByteArray, byte_arrays(&["a"])),
        (PhysicalType::FixedLenByteArray, vec![0; 3]),
    ] {
        let schema = File::new(|schema| {
            schema.leaf("x", Repetition::Required, physical).byte_width(3);
        });
        let pages =
            [claims(Page::dictionary(1, values)), Page::v1(1, Encoding::RleDictionary, indices(&[0], 1))];
        let error = cheap_fault(&schema.group(1, [Chunk::new(pages)]).build());
        assert_eq!(error.place().page, Some(0), "{error}");
    }
}

#[test]
fn a_page_of_many_million_values_costs_what_is_read_of_it() {
    let huge = 1 << 28;
    let nulls = Page::v2(huge, Encoding::Plain, vec![])
        .def_bytes(rle_run(huge, 0, 1))
        .v2_header(move |header| header.num_nulls = huge);
    let nulls_v1 = Page::v1(huge, Encoding::Plain, vec![]).def_bytes(rle_run(huge, 0, 1));
    let ids = || [&[1][..], &rle_run(huge, 1, 1)].concat();
    let same = Page::v1(huge, Encoding::RleDictionary, ids()).def_bytes(rle_run(huge, 1, 1));
    for (page, expected) in [(nulls, "null"), (nulls_v1, "null"), (same, "8")] {
        let chunk = Chunk::new([Page::dictionary(2, i32s(&[7, 8])), page]);
        let file =
            File::flat("x", Repetition::Optional, PhysicalType::Int32).group(huge as u64, [chunk]).build();
        let (first, most) = peak(|| open(&file).scan().build().unwrap().next_batch().unwrap().unwrap());
        assert_eq!(first.num_rows(), 8192);
        assert!(most < LITTLE, "{most}");
        let last = huge as u64 - 3;
        let (rows, most) = peak(|| read(open(&file).scan().rows([5..6, last..last + 2])));
        assert_eq!(rows.iter().flat_map(|batch| words(batch.column(0))).collect::<Vec<_>>(), [expected; 3]);
        assert!(most < LITTLE, "{most}");
    }
}

#[test]
fn values_of_no_bytes_cost_what_is_read_of_them() {
    let huge = i32::MAX as usize;
    let file = File::new(|schema| {
        schema.leaf("x", Repetition::Required, PhysicalType::FixedLenByteArray).byte_width(0);
    })
    .group(huge as u64, [Chunk::new([Page::v1(huge, Encoding::Plain, vec![])])])
    .build();
    let (result, most) =
        peak(|| -> Result<Option<RecordBatch>> { memory(&file.bytes)?.scan().build()?.next_batch() });
    assert!(most < LITTLE, "{most}");
    assert!(result.is_err() || result.unwrap().is_some_and(|batch| batch.num_rows() == 8192));
}

#[test]
fn nulls_of_a_wide_type_allocate_nothing_beyond_the_limit() {
    let file = File::new(|schema| {
        let leaf = schema.leaf("x", Repetition::Optional, PhysicalType::FixedLenByteArray);
        leaf.byte_width(u16::MAX);
    });
    // Three bytes of levels for 8,000 nulls, 500 MB of zeros as an array.
    let page = Page::v1(8000, Encoding::Plain, vec![]).def_bytes(rle_run(8000, 0, 1));
    let built = file.group(8000, [Chunk::new([page])]).build();
    let (error, most) = peak(|| drain(open(&built).scan().build().unwrap()).1.unwrap());
    assert!(most < LITTLE, "{most} bytes");
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let mut reader = open(&built).scan().batch_size(1000).build().unwrap();
    assert_eq!(reader.next_batch().unwrap().unwrap().num_rows(), 1000);
}

#[test]
fn a_huge_batch_size_allocates_no_more_than_the_file_has() {
    let file = required(3, [Page::v1(3, Encoding::Plain, i32s(&[1, 2, 3]))]);
    for size in [usize::MAX, usize::MAX / 2, 1 << 40] {
        let (batches, most) = peak(|| read(open(&file).scan().batch_size(size)));
        assert_eq!(batches[0].num_rows(), 3);
        assert!(most < LITTLE, "{most}");
    }
    // Rows that only the footer claims.
    for rows in [1 << 31, 1 << 40, i64::MAX as u64] {
        let file = required(rows, [Page::v1(3, Encoding::Plain, i32s(&[1, 2, 3]))]);
        cheap_fault(&file);
        let (_, most) = peak(|| drain(open(&file).scan().batch_size(usize::MAX).build().unwrap()));
        assert!(most < LITTLE, "{most}");
        let claimed = File::flat("x", Repetition::Required, PhysicalType::Int32).group(
            rows,
            [Chunk::new([Page::v1(3, Encoding::Plain, i32s(&[1, 2, 3]))])
                .edit(move |chunk| chunk.num_values = rows)],
        );
        cheap_fault(&claimed.build());
    }
}

#[test]
fn compression_bombs_are_held_to_the_promised_size() {
    // A gigabyte of zeros in a few bytes is legal Snappy and LZ4; a page that promises less gets an error.
    let mut lz4 = vec![0x1f, 0, 1, 0];
    lz4.extend([255; 4000]);
    lz4.extend([0, 0x50, 0, 0, 0, 0, 0]);
    let page = |promised: usize| {
        Page::v1(3, Encoding::Plain, vec![])
            .body(lz4.clone())
            .header(move |header| header.uncompressed_size = promised)
    };
    for promised in [0, 12, 4000] {
        let chunk = Chunk::new([page(promised)]).codec(Compression::Lz4Raw);
        cheap_fault(&File::flat("x", Repetition::Required, PhysicalType::Int32).group(3, [chunk]).build());
    }
}

#[test]
fn thrift_bombs_allocate_nothing_and_do_not_overflow_the_stack() {
    let list = |id: u8, element: u8, len: u64| {
        // A footer that begins with a field of a list.
        let mut out = vec![id << 4 | WIRE_LIST];
        thrift::list_header(&mut out, element, len);
        out
    };
    let schema = structure(&[(1, T::I32(2)), (2, T::List(WIRE_STRUCT, schema_elements(1)))]);
    let after_schema = &schema[..schema.len() - 1];
    let nested = |depth: usize, wire: u8| [&[(10 - 4) << 4 | wire][..], &vec![1 << 4 | wire; depth]].concat();
    let mut footers = vec![
        list(2, WIRE_STRUCT, 109_000_000),
        list(2, WIRE_STRUCT, u64::from(u32::MAX)),
        list(2, WIRE_STRUCT, u64::MAX),
        [after_schema, &[2 << 4 | WIRE_LIST, 0xf0 | WIRE_STRUCT, 0xff, 0xff, 0xff, 0xff, 0x07]].concat(),
        // created_by of two gigabytes
        [after_schema, &[4 << 4 | 8, 0xff, 0xff, 0xff, 0xff, 0x07]].concat(),
        [after_schema, &[4 << 4 | 8, 0xff, 0xff, 0xff, 0xff, 0x0f]].concat(),
        // Lists of lists of lists
        [after_schema, &[10 << 4 | WIRE_LIST][..], &vec![0x10 | WIRE_LIST; 100_000]].concat(),
        // A list of two thousand million elements of no bytes: booleans take one each, empty structs too
        [after_schema, &[10 << 4 | WIRE_LIST, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07]].concat(),
        [after_schema, &[10 << 4 | WIRE_LIST, 0xf0 | WIRE_STRUCT, 0xff, 0xff, 0xff, 0xff, 0x07]].concat(),
        // A map of as many
        [after_schema, &[10 << 4 | 11, 0xff, 0xff, 0xff, 0xff, 0x07, 0x11]].concat(),
        // An integer of more than ten bytes
        [after_schema, &[1 << 4 | 6][..], &[0xff; 20]].concat(),
    ];
    for wire in [WIRE_STRUCT, WIRE_LIST] {
        footers.push([after_schema, &nested(100_000, wire)].concat());
    }
    for footer in footers {
        let error = cheap_fault_bytes(&with_footer(&[0; 100], &footer));
        assert!(error.place().offset.is_none_or(|offset| offset >= 104), "{error}");
    }
}

fn schema_elements(children: i32) -> Vec<T> {
    let root = T::Struct(vec![(4, T::text("schema")), (5, T::I32(children))]);
    let leaf = T::Struct(vec![(1, T::I32(1)), (3, T::I32(0)), (4, T::text("x"))]);
    vec![root, leaf]
}

/// A footer with these schema elements and no row group.
fn footer(elements: Vec<T>) -> Vec<u8> {
    structure(&[
        (1, T::I32(2)),
        (2, T::List(WIRE_STRUCT, elements)),
        (3, T::I64(0)),
        (4, T::List(WIRE_STRUCT, vec![])),
    ])
}

#[test]
fn counts_of_children_that_lie_are_an_error() {
    assert_eq!(memory(&with_footer(&[], &footer(schema_elements(1)))).unwrap().num_rows(), 0);
    for children in [-1, i32::MIN, 0, 2, i32::MAX] {
        let error = cheap_fault_bytes(&with_footer(&[], &footer(schema_elements(children))));
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
    }
}

#[test]
fn schemas_nest_as_deep_as_the_limits_allow() {
    let deep = |depth: usize| {
        let group = || T::Struct(vec![(3, T::I32(2)), (4, T::text("g")), (5, T::I32(1))]);
        let mut elements = vec![T::Struct(vec![(4, T::text("schema")), (5, T::I32(1))])];
        elements.extend((0..depth).map(|_| group()));
        elements.push(schema_elements(1).remove(1));
        with_footer(&[], &footer(elements))
    };
    assert!(memory(&deep(50)).is_ok());
    for depth in [200, 1000, 100_000] {
        let error = cheap_fault_bytes(&deep(depth));
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    }
    let mut limits = MetadataLimits::default();
    limits.max_schema_depth = 10;
    let error = ReadOptions::new().metadata_limits(limits).from_buffer(buffer(&deep(11))).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { limit: 10, .. }), "{error}");
}

#[test]
fn what_does_not_end_as_a_parquet_file_is_refused() {
    let file = sound().bytes;
    for bytes in [&b""[..], b"P", b"PAR1", b"PAR1PAR1", b"hello world, this is text", &file[..file.len() - 1]]
    {
        let error = cheap_fault_bytes(bytes);
        assert!(matches!(error.kind(), ErrorKind::NotParquet(_) | ErrorKind::Malformed(_)), "{error}");
    }
    for len in [0u32, 1, file.len() as u32, u32::MAX] {
        let mut lying = file.clone();
        let at = lying.len() - 8;
        lying[at..at + 4].copy_from_slice(&len.to_le_bytes());
        cheap_fault_bytes(&lying);
    }
    let error = ParquetFile::open("/nowhere/at/all.parquet").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error}");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn encrypted_files_and_columns_say_so() {
    let mut bytes = sound().bytes;
    let len = bytes.len();
    bytes[len - 4..].copy_from_slice(b"PARE");
    let error = fault_bytes(&bytes);
    assert!(matches!(error.kind(), ErrorKind::Encrypted(_)), "{error}");
    // A column whose metadata is encrypted, or only its pages, beside one that is not.
    let plain = required(1, [Page::v1(1, Encoding::Plain, i32s(&[9]))]);
    let at = plain.page(0, 0, 0);
    let page = plain.bytes[at.header..at.end].to_vec();
    let metadata = || {
        T::Struct(vec![
            (1, T::I32(1)),
            (2, T::List(WIRE_I32, vec![T::I32(0)])),
            (3, T::List(thrift::WIRE_BINARY, vec![T::text("x")])),
            (4, T::I32(0)),
            (5, T::I64(1)),
            (6, T::I64(page.len() as i64)),
            (7, T::I64(page.len() as i64)),
            (9, T::I64(4)),
        ])
    };
    let crypto = || T::Struct(vec![(1, T::Struct(vec![]))]);
    for chunk in [
        vec![(2, T::I64(4)), (3, metadata()), (8, crypto())],
        vec![(2, T::I64(4)), (8, crypto()), (9, T::Binary(vec![1, 2, 3]))],
    ] {
        let mut elements = schema_elements(2);
        let leaf = elements[1].clone();
        elements.push(leaf);
        let clear = T::Struct(vec![(2, T::I64(4)), (3, metadata())]);
        let group = T::Struct(vec![
            (1, T::List(WIRE_STRUCT, vec![T::Struct(chunk), clear])),
            (2, T::I64(10)),
            (3, T::I64(1)),
        ]);
        let footer = structure(&[
            (1, T::I32(2)),
            (2, T::List(WIRE_STRUCT, elements)),
            (3, T::I64(1)),
            (4, T::List(WIRE_STRUCT, vec![group])),
        ]);
        let bytes = with_footer(&page, &footer);
        let error = fault_bytes(&bytes);
        assert!(matches!(error.kind(), ErrorKind::Encrypted(_)), "{error}");
        assert_eq!((error.place().row_group, error.place().column.as_deref()), (Some(0), Some("x")));
        let file = memory(&bytes).unwrap();
        assert_eq!(column(file.scan().leaves([1])), "9");
        let capabilities = file.capabilities();
        assert!(matches!(capabilities[0].readable.as_ref().unwrap_err().kind(), ErrorKind::Encrypted(_)));
        assert!(capabilities[1].readable.is_ok());
    }
}

#[test]
fn a_column_that_cannot_be_read_does_not_take_the_file_down() {
    let good = || Chunk::new([Page::v1(2, Encoding::Plain, i32s(&[1, 2]))]);
    let lzo = Chunk::new([Page::v1(2, Encoding::Plain, i32s(&[1, 2])).codec(Compression::Uncompressed)]);
    let unknown = Page::v1(2, Encoding::Unknown(42), vec![1, 2]);
    let elsewhere = good().edit(|chunk| chunk.file_path = Some("part-1.parquet".into()));
    let file = File::new(|schema| {
        schema.leaf("good", Repetition::Required, PhysicalType::Int32);
        schema.leaf("type", Repetition::Required, PhysicalType::Unknown(12));
        schema.leaf("codec", Repetition::Required, PhysicalType::Int32);
        schema.leaf("encoding", Repetition::Required, PhysicalType::Int32);
        schema.leaf("elsewhere", Repetition::Required, PhysicalType::Int32);
        schema
            .leaf("decimal", Repetition::Required, PhysicalType::FixedLenByteArray)
            .byte_width(0)
            .logical(LogicalType::Decimal { precision: 5, scale: 1 });
        schema.leaf("too", Repetition::Required, PhysicalType::Int32);
    })
    .group(2, [good(), good(), lzo.codec(Compression::Lzo), Chunk::new([unknown]), elsewhere, good(), good()])
    .build();
    let file = open(&file);
    let found: Vec<(String, bool)> =
        file.capabilities().into_iter().map(|found| (found.column, found.readable.is_ok())).collect();
    let names = ["good", "type", "codec", "encoding", "elsewhere", "decimal", "too"];
    let expected = names.map(|name| (name.to_string(), matches!(name, "good" | "too")));
    assert_eq!(found, expected);
    for capability in file.capabilities() {
        let scan = file.scan().columns([&capability.column]);
        let error = match scan.build() {
            Err(error) => Some(error),
            Ok(reader) => drain(reader).1,
        };
        match (capability.readable, error) {
            (Ok(()), None) => {}
            (Err(foretold), Some(error)) => {
                assert_eq!(
                    foretold.place().column.as_deref(),
                    Some(capability.column.as_str()),
                    "{foretold}"
                );
                assert_eq!(error.place().column.as_deref(), Some(capability.column.as_str()), "{error}");
            }
            (foretold, error) => panic!("{}: {foretold:?}, {error:?}", capability.column),
        }
    }
    assert_eq!(column(file.scan().columns(["good"])), "1 2");
    assert_eq!(support::read::columns(file.scan().columns(["too", "good"])).len(), 2);
    assert!(file.scan().build().is_err() || drain(file.scan().build().unwrap()).1.is_some());
}

#[test]
fn chunks_outside_the_file_are_an_error() {
    let page = || Page::v1(2, Encoding::Plain, i32s(&[1, 2]));
    for at in [1 << 20, 1 << 40, i64::MAX as u64 - 100] {
        let chunk = Chunk::new([page()]).edit(move |chunk| chunk.set_pages(None, at, at + 50).unwrap());
        let error = cheap_fault(
            &File::flat("x", Repetition::Required, PhysicalType::Int32).group(2, [chunk]).build(),
        );
        assert_eq!(
            (error.place().row_group, error.place().column.as_deref()),
            (Some(0), Some("x")),
            "{error}"
        );
    }
    let chunk = Chunk::new([page()]).edit(|chunk| chunk.total_compressed_size = i64::MAX as u64);
    cheap_fault(&File::flat("x", Repetition::Required, PhysicalType::Int32).group(2, [chunk]).build());
    let chunk = Chunk::new([page()]).edit(|chunk| chunk.total_compressed_size = 5);
    cheap_fault(&File::flat("x", Repetition::Required, PhysicalType::Int32).group(2, [chunk]).build());
}

#[test]
fn a_chunk_of_another_type_than_its_column_is_an_error() {
    let chunk = Chunk::new([Page::v1(2, Encoding::Plain, i32s(&[1, 2]))])
        .edit(|chunk| chunk.physical = PhysicalType::Int64);
    let error = fault(&File::flat("x", Repetition::Required, PhysicalType::Int32).group(2, [chunk]).build());
    assert!(error.to_string().contains("INT64"), "{error}");
}

#[test]
fn more_or_fewer_values_than_rows_are_an_error() {
    let page = |n: i32| Page::v1(n as usize, Encoding::Plain, i32s(&(0..n).collect::<Vec<_>>()));
    for rows in [0, 1, 5, 7, 100] {
        fault(&required(rows, [page(3), page(3)]));
    }
    for values in [0, 5, 7, 1 << 40] {
        let chunk = Chunk::new([page(3), page(3)]).edit(move |chunk| chunk.num_values = values);
        fault(&File::flat("x", Repetition::Required, PhysicalType::Int32).group(6, [chunk]).build());
    }
    check(&required(6, [page(3), page(3)]), &[("x", "0 1 2 0 1 2")]);
}

#[test]
fn a_footer_is_parsed_from_its_bytes_alone() {
    let built = sound();
    let len = built.bytes.len() as u64;
    let range = FileMetadata::footer_range(len, *built.bytes.last_chunk().unwrap()).unwrap();
    let footer = &built.bytes[range.start as usize..range.end as usize];
    assert_eq!(FileMetadata::parse(buffer(footer)).unwrap().num_rows(), 80);
    let header = header_fields(0, 0, 0, 5, vec![]);
    assert!(FileMetadata::parse(buffer(&header)).is_err());
}
