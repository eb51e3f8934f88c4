//! Columns of one value a row: types, encodings, pages, nulls, dictionaries.
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

use marquetry::ErrorKind;
use marquetry::metadata::{Compression, Encoding, LogicalType, PhysicalType, Repetition};
use support::encode::*;
use support::raw::{Built, Chunk, File, Page};
use support::read::{check, column, fault, open};
use support::{codec, random::Random};

const VERSIONS: [u8; 2] = [1, 2];
const CODECS: [Compression; 6] = [
    Compression::Snappy,
    Compression::Gzip,
    Compression::Brotli,
    Compression::Lz4,
    Compression::Zstd,
    Compression::Lz4Raw,
];

/// A file of one column `x` in one row group.
fn one(
    repetition: Repetition,
    physical: PhysicalType,
    num_rows: u64,
    pages: impl IntoIterator<Item = Page>,
) -> Built {
    File::flat("x", repetition, physical).group(num_rows, [Chunk::new(pages)]).build()
}

fn required(num_rows: u64, pages: impl IntoIterator<Item = Page>) -> Built {
    one(Repetition::Required, PhysicalType::Int32, num_rows, pages)
}

fn optional(num_rows: u64, pages: impl IntoIterator<Item = Page>) -> Built {
    one(Repetition::Optional, PhysicalType::Int32, num_rows, pages)
}

/// One value of each physical type, PLAIN, and how it looks.
fn samples() -> Vec<(PhysicalType, Vec<Vec<u8>>, [&'static str; 3])> {
    let int96 = |nanos: i64, day: i32| [&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat();
    vec![
        (PhysicalType::Int32, [1, -2, i32::MAX].map(|v| i32s(&[v])).into(), ["1", "-2", "2147483647"]),
        (
            PhysicalType::Int64,
            [1, -2, i64::MIN].map(|v| i64s(&[v])).into(),
            ["1", "-2", "-9223372036854775808"],
        ),
        (
            PhysicalType::Int96,
            vec![int96(0, 2_440_588), int96(5, 2_440_588), int96(0, 2_440_587)],
            ["0", "5", "-86400000000000"],
        ),
        (PhysicalType::Float, [1.5, -0.0, f32::NAN].map(|v| f32s(&[v])).into(), ["1.5", "-0.0", "NaN"]),
        (
            PhysicalType::Double,
            [1.5, -0.0, f64::MAX].map(|v| f64s(&[v])).into(),
            ["1.5", "-0.0", "1.7976931348623157e308"],
        ),
        (
            PhysicalType::ByteArray,
            ["a", "", "long enough for a view of its own"].map(|v| byte_arrays(&[v])).into(),
            ["x61", "x", "x6c6f6e6720656e6f75676820666f7220612076696577206f6620697473206f776e"],
        ),
        (
            PhysicalType::FixedLenByteArray,
            vec![vec![1, 2, 3], vec![0; 3], vec![255; 3]],
            ["x010203", "x000000", "xffffff"],
        ),
    ]
}

fn typed(repetition: Repetition, physical: PhysicalType) -> File {
    File::new(|schema| {
        schema.leaf("x", repetition, physical).byte_width(3);
    })
}

#[test]
fn every_physical_type_is_read_from_plain_and_dictionary_pages() {
    for (physical, values, words) in samples() {
        for version in VERSIONS {
            let all = values.concat();
            let plain = Page::data(version, 3, Encoding::Plain, all.clone());
            let file = typed(Repetition::Required, physical).group(3, [Chunk::new([plain])]).build();
            check(&file, &[("x", &words.join(" "))]);

            let nulls = [0, 1, 0, 1, 1, 0];
            let plain = Page::data(version, 6, Encoding::Plain, all.clone()).def(&nulls, 1);
            let ids = Page::data(version, 6, Encoding::RleDictionary, indices(&[2, 0, 2], 2)).def(&nulls, 1);
            let pages = [Page::dictionary(3, all), plain, ids];
            let file = typed(Repetition::Optional, physical).group(12, [Chunk::new(pages)]).build();
            let [a, b, c] = words;
            let expected = format!("null {a} null {b} {c} null null {c} null {a} {c} null");
            check(&file, &[("x", &expected)]);
        }
    }
}

#[test]
fn booleans_are_read_from_plain_and_rle_pages_of_both_versions() {
    let values = [true, false, true, true, false, true, true, false];
    let rle = |values: &[bool]| {
        let bits: Vec<u64> = values.iter().map(|&v| u64::from(v)).collect();
        sized(&[packed_run(&bits, 1), rle_run(5, 1, 1)].concat())
    };
    let levels = [1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1];
    let expected = "true false true true false true null true false true true true true true";
    for version in VERSIONS {
        let many = [&values[..], &[true; 5]].concat();
        let plain = Page::data(version, 14, Encoding::Plain, bools(&many)).def(&levels, 1);
        check(&one(Repetition::Optional, PhysicalType::Boolean, 14, [plain]), &[("x", expected)]);
        let rle = Page::data(version, 14, Encoding::Rle, rle(&values)).def(&levels, 1);
        check(&one(Repetition::Optional, PhysicalType::Boolean, 14, [rle]), &[("x", expected)]);
    }
}

#[test]
fn rle_booleans_cut_short_are_an_error() {
    for bytes in [vec![], vec![9, 0, 0, 0, 16, 1], sized(&[8, 1]), vec![1, 2]] {
        let page = Page::v1(8, Encoding::Rle, bytes);
        fault(&one(Repetition::Required, PhysicalType::Boolean, 8, [page]));
    }
}

#[test]
fn a_dictionary_falls_back_to_plain_and_comes_back() {
    for name in [Encoding::RleDictionary, Encoding::PlainDictionary] {
        let file = required(
            10,
            [
                Page::dictionary(3, i32s(&[10, 20, 30])),
                Page::v1(5, name, indices(&[0, 1, 2, 1, 0], 2)),
                Page::v1(2, Encoding::Plain, i32s(&[-7, 5])),
                Page::v1(3, name, indices(&[2, 2, 0], 8)),
            ],
        );
        check(&file, &[("x", "10 20 30 20 10 -7 5 30 30 10")]);
    }
}

#[test]
fn a_dictionary_falls_back_to_delta() {
    let file = required(
        11,
        [
            Page::dictionary(3, i32s(&[10, 20, 30])),
            Page::v1(3, Encoding::RleDictionary, indices(&[0, 1, 2], 2)),
            Page::v1(2, Encoding::Plain, i32s(&[-7, 5])),
            Page::v2(6, Encoding::DeltaBinaryPacked, delta(&[7, 5, 3, 60, 60, -60], 32)),
        ],
    );
    check(&file, &[("x", "10 20 30 -7 5 7 5 3 60 60 -60")]);
}

#[test]
fn optional_strings_fall_back_within_version_2_pages() {
    let file = File::new(|schema| {
        schema.leaf("s", Repetition::Optional, PhysicalType::ByteArray).logical(LogicalType::String);
    })
    .group(
        8,
        [Chunk::new([
            Page::dictionary(2, byte_arrays(&["a", "b"])),
            Page::v2(5, Encoding::RleDictionary, indices(&[0, 1, 0], 1)).def(&[1, 0, 1, 1, 0], 1),
            Page::v2(3, Encoding::Plain, byte_arrays(&["plain", "ç"])).def(&[1, 0, 1], 1),
        ])],
    )
    .build();
    check(&file, &[("s", r#""a" null "b" "a" null "plain" null "ç""#)]);
}

#[test]
fn a_page_of_nulls_needs_no_value_bytes() {
    for version in VERSIONS {
        for encoding in [Encoding::RleDictionary, Encoding::Plain] {
            let file = optional(
                7,
                [
                    Page::dictionary(1, i32s(&[9])),
                    Page::data(version, 5, encoding, vec![]).def(&[0; 5], 1),
                    Page::data(version, 2, Encoding::RleDictionary, indices(&[0], 1)).def(&[1, 0], 1),
                ],
            );
            check(&file, &[("x", "null null null null null 9 null")]);
        }
    }
}

#[test]
fn a_chunk_of_nulls_alone_needs_no_dictionary() {
    let page = Page::v1(3, Encoding::RleDictionary, vec![]).def(&[0; 3], 1);
    check(&optional(3, [page]), &[("x", "null null null")]);
    let page = Page::v1(2, Encoding::Rle, vec![]).def(&[0; 2], 1);
    check(&one(Repetition::Optional, PhysicalType::Boolean, 2, [page]), &[("x", "null null")]);
}

#[test]
fn an_empty_dictionary_serves_a_page_of_nulls() {
    let file = optional(
        2,
        [Page::dictionary(0, vec![]), Page::v1(2, Encoding::RleDictionary, vec![0]).def(&[0, 0], 1)],
    );
    check(&file, &[("x", "null null")]);
}

#[test]
fn dictionary_indices_are_read_at_every_bit_width() {
    let ids = [7u32, 7, 7, 5, 6, 7, 6, 5, 7, 7, 6, 6];
    for width in 3..=32 {
        let file = required(
            12,
            [
                Page::dictionary(8, i32s(&[0, 1, 2, 3, 4, 5, 6, 7])),
                Page::v1(12, Encoding::RleDictionary, indices(&ids, width)),
            ],
        );
        check(&file, &[("x", "7 7 7 5 6 7 6 5 7 7 6 6")]);
    }
    let file = required(
        3,
        [Page::dictionary(1, i32s(&[4])), Page::v1(3, Encoding::RleDictionary, indices(&[0; 3], 0))],
    );
    check(&file, &[("x", "4 4 4")]);
}

#[test]
fn a_bit_width_over_32_is_an_error() {
    for width in [33, 64, 255] {
        let page = Page::v1(3, Encoding::RleDictionary, [&[width], &rle_run(3, 0, 64)[..]].concat());
        let error = fault(&required(3, [Page::dictionary(1, i32s(&[4])), page]));
        assert!(error.to_string().contains(&width.to_string()), "{error}");
        assert_eq!(error.place().page, Some(1));
    }
}

#[test]
fn required_dictionary_pages_without_bytes_are_an_error() {
    for bytes in [vec![], vec![1], vec![0], vec![1, 4, 1]] {
        let page = Page::v1(3, Encoding::RleDictionary, bytes.clone());
        let file = required(3, [Page::dictionary(2, i32s(&[4, 5])), page]);
        // A width of 0 bits could be read as three times index 0; it must not be anything else.
        if bytes == [0] {
            match open(&file).scan().build().unwrap().next_batch() {
                Ok(_) => check(&file, &[("x", "4 4 4")]),
                Err(_) => drop(fault(&file)),
            }
        } else {
            fault(&file);
        }
    }
}

#[test]
fn an_index_past_the_dictionary_is_an_error() {
    let cases: [(usize, Vec<u8>, u32); 5] = [
        (3, [&[2][..], &rle_run(3, 3, 2)].concat(), 3),
        (8, indices(&[0, 1, 2, 3, 0, 0, 1, 1], 2), 3),
        (3, [&[32][..], &rle_run(3, 0x8000_0001, 32)].concat(), 0x8000_0001),
        (8, indices(&[0, 1, u32::MAX, 0, 0, 0, 0, 0], 32), u32::MAX),
        (8, indices(&[0, 1, 2, 65_536, 0, 0, 0, 0], 17), 65_536),
    ];
    let dictionaries =
        [(PhysicalType::Int32, i32s(&[1, 2, 3])), (PhysicalType::ByteArray, byte_arrays(&["a", "b", "c"]))];
    for (n, bytes, index) in cases {
        for (physical, dictionary) in &dictionaries {
            let ids = Page::v1(n, Encoding::RleDictionary, bytes.clone());
            let pages = [Page::dictionary(3, dictionary.clone()), ids];
            let error = fault(&one(Repetition::Required, *physical, n as u64, pages));
            assert!(
                matches!(error.kind(), &ErrorKind::DictionaryIndex { index: found, len: 3 } if found == index),
                "{error}, not index {index}"
            );
            assert_eq!(error.place().page, Some(1), "{error}");
        }
    }
}

#[test]
fn indices_without_a_dictionary_are_an_error() {
    let page = Page::v1(3, Encoding::RleDictionary, indices(&[0, 0, 0], 1));
    let error = fault(&required(3, [page]));
    assert!(error.to_string().contains("dictionary"), "{error}");
}

#[test]
fn a_dictionary_does_not_outlive_its_chunk() {
    let file = File::flat("x", Repetition::Required, PhysicalType::Int32)
        .group(
            1,
            [Chunk::new([
                Page::dictionary(1, i32s(&[4])),
                Page::v1(1, Encoding::RleDictionary, indices(&[0], 1)),
            ])],
        )
        .group(1, [Chunk::new([Page::v1(1, Encoding::RleDictionary, indices(&[0], 1))])])
        .build();
    assert_eq!(fault(&file).place().row_group, Some(1));
}

#[test]
fn deltas_wrap_at_the_width_of_the_type() {
    let values = [863490391, -816295192, 1613070492, -1166045478, 1856530847, i32::MIN, i32::MAX];
    let page = Page::v1(7, Encoding::DeltaBinaryPacked, delta(&values.map(i64::from), 32));
    let words = values.map(|v| v.to_string()).join(" ");
    check(&required(7, [page]), &[("x", &words)]);

    let values = [i64::MAX, i64::MIN, i64::MAX, 0, i64::MIN, -1];
    let page = Page::v1(6, Encoding::DeltaBinaryPacked, delta(&values, 64));
    let words = values.map(|v| v.to_string()).join(" ");
    check(&one(Repetition::Required, PhysicalType::Int64, 6, [page]), &[("x", &words)]);
}

#[test]
fn deltas_wider_than_the_type_are_refused_or_exact() {
    // Deltas of a naive writer that does not wrap: 33 bits for INT32 values.
    let values = [863490391i64, -816295192, 1613070492, -1166045478, 1856530847];
    let file = required(5, [Page::v1(5, Encoding::DeltaBinaryPacked, delta(&values, 64))]);
    match open(&file).scan().build().unwrap().next_batch() {
        Ok(_) => check(&file, &[("x", &values.map(|v| v.to_string()).join(" "))]),
        Err(_) => drop(fault(&file)),
    }
}

#[test]
fn a_delta_header_may_count_more_values_than_the_page_has() {
    let mut values = delta(&[1, 1, 1], 32);
    // Its third number: 3, as two thousand million.
    values.splice(3..4, [0xff, 0xff, 0xff, 0xff, 0x07]);
    let file = required(3, [Page::v1(3, Encoding::DeltaBinaryPacked, values)]);
    match open(&file).scan().build().unwrap().next_batch() {
        Ok(_) => check(&file, &[("x", "1 1 1")]),
        Err(_) => drop(fault(&file)),
    }
}

#[test]
fn delta_pages_of_nulls_may_have_any_header_or_none() {
    for header in [delta(&[], 32), vec![0, 0, 0, 0], vec![]] {
        let file = optional(
            5,
            [
                Page::v1(3, Encoding::DeltaBinaryPacked, header.clone()).def(&[0; 3], 1),
                Page::v1(2, Encoding::DeltaBinaryPacked, delta(&[4, 6], 32)).def(&[1, 1], 1),
            ],
        );
        check(&file, &[("x", "null null null 4 6")]);
    }
    for encoding in [Encoding::DeltaByteArray, Encoding::DeltaLengthByteArray] {
        let values = match encoding {
            Encoding::DeltaByteArray => delta_byte_array(&["k", "kk"]),
            _ => delta_length(&["k", "kk"]),
        };
        let pages =
            [Page::v1(3, encoding, vec![]).def(&[0; 3], 1), Page::v1(2, encoding, values).def(&[1, 1], 1)];
        check(
            &one(Repetition::Optional, PhysicalType::ByteArray, 5, pages),
            &[("x", "null null null x6b x6b6b")],
        );
    }
}

#[test]
fn delta_encoded_strings_and_numbers_cross_blocks_and_pages() {
    let mut random = Random::new(7);
    let strings: Vec<String> =
        (0..700).map(|i| format!("{}{}", "prefix".repeat(i / 100), random.below(1 << (i % 20)))).collect();
    let words = strings.iter().map(|s| format!("{s:?}")).collect::<Vec<_>>().join(" ");
    for (encoding, encode) in [
        (Encoding::DeltaByteArray, delta_byte_array as fn(&[String]) -> Vec<u8>),
        (Encoding::DeltaLengthByteArray, delta_length as fn(&[String]) -> Vec<u8>),
    ] {
        let pages = strings.chunks(300).map(|part| Page::v1(part.len(), encoding, encode(part)));
        let file = File::new(|schema| {
            schema.leaf("s", Repetition::Required, PhysicalType::ByteArray).logical(LogicalType::String);
        })
        .group(700, [Chunk::new(pages)])
        .build();
        check(&file, &[("s", &words)]);
    }
    let numbers: Vec<i64> = (0..700).map(|i| (random.next() >> (i % 64)) as i64).collect();
    let words = numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(" ");
    let pages =
        numbers.chunks(300).map(|part| Page::v1(part.len(), Encoding::DeltaBinaryPacked, delta(part, 64)));
    check(&one(Repetition::Required, PhysicalType::Int64, 700, pages), &[("x", &words)]);
}

#[test]
fn byte_stream_split_pages_with_nulls_hold_only_what_is_there() {
    let levels = [0, 1, 1, 0, 1, 1, 0, 1, 1, 0];
    for version in VERSIONS {
        let page = |from: u8| {
            let plain: Vec<u8> = (from..from + 6).flat_map(|v| [v, v + 1, v + 2]).collect();
            Page::data(version, 10, Encoding::ByteStreamSplit, byte_stream_split(&plain, 3)).def(&levels, 1)
        };
        let file = typed(Repetition::Optional, PhysicalType::FixedLenByteArray)
            .group(20, [Chunk::new([page(1), page(0x11)])])
            .build();
        check(
            &file,
            &[(
                "x",
                "null x010203 x020304 null x030405 x040506 null x050607 x060708 null \
                 null x111213 x121314 null x131415 x141516 null x151617 x161718 null",
            )],
        );
        for (physical, values) in [
            (PhysicalType::Float, byte_stream_split(&f32s(&[1.5, -2.25, 3.0, 4.0, 5.0, 6.0]), 4)),
            (PhysicalType::Double, byte_stream_split(&f64s(&[1.5, -2.25, 3.0, 4.0, 5.0, 6.0]), 8)),
        ] {
            let page = Page::data(version, 10, Encoding::ByteStreamSplit, values).def(&levels, 1);
            let file = one(Repetition::Optional, physical, 10, [page]);
            check(&file, &[("x", "null 1.5 -2.25 null 3.0 4.0 null 5.0 6.0 null")]);
        }
        let page =
            Page::data(version, 3, Encoding::ByteStreamSplit, byte_stream_split(&i32s(&[1, -1, 256]), 4));
        check(&required(3, [page]), &[("x", "1 -1 256")]);
    }
}

#[test]
fn pages_are_read_under_every_codec() {
    for codec in CODECS {
        for version in VERSIONS {
            let file = File::flat("x", Repetition::Optional, PhysicalType::Int32)
                .group(
                    8,
                    [Chunk::new([
                        Page::dictionary(2, i32s(&[10, 20])),
                        Page::data(version, 4, Encoding::RleDictionary, indices(&[0, 1, 1], 1))
                            .def(&[1, 0, 1, 1], 1),
                        Page::data(version, 4, Encoding::Plain, i32s(&[1, 2]))
                            .def(&[0, 1, 0, 1], 1)
                            .crc(true),
                    ])
                    .codec(codec)],
                )
                .build();
            check(&file, &[("x", "10 null 20 20 null 1 null 2")]);
        }
    }
}

#[test]
fn version_2_pages_of_nulls_have_nothing_to_decompress() {
    for codec in CODECS {
        let nulls = |page: Page| page.def(&[0; 3], 1);
        // No value byte at all; and, as other writers do it, an empty stream of the codec.
        let def = levels(&[0; 3], 1);
        let streams = [def.clone(), [&def[..], &codec::compress(codec, &[])].concat()];
        for body in streams {
            let file = File::flat("x", Repetition::Optional, PhysicalType::Int32)
                .group(
                    4,
                    [Chunk::new([
                        nulls(Page::v2(3, Encoding::Plain, vec![])).body(body),
                        Page::v2(1, Encoding::Plain, i32s(&[8])).def(&[1], 1),
                    ])
                    .codec(codec)],
                )
                .build();
            check(&file, &[("x", "null null null 8")]);
        }
    }
}

#[test]
fn version_2_values_may_be_left_uncompressed() {
    for codec in CODECS {
        let page = Page::v2(3, Encoding::Plain, i32s(&[5, 6])).def(&[1, 0, 1], 1);
        let stored = [levels(&[1, 0, 1], 1), i32s(&[5, 6])].concat();
        let page = page.body(stored).v2_header(|header| header.is_compressed = false);
        let file = File::flat("x", Repetition::Optional, PhysicalType::Int32)
            .group(3, [Chunk::new([page]).codec(codec)]);
        check(&file.build(), &[("x", "5 null 6")]);
    }
}

#[test]
fn lz4_pages_are_read_in_every_framing_that_writers_have_used() {
    let values: Vec<i32> = (0..100).collect();
    let words = values.iter().map(i32::to_string).collect::<Vec<_>>().join(" ");
    let plain = i32s(&values);
    let framings = [
        codec::hadoop_lz4(&[&plain]),
        codec::hadoop_lz4(&[&plain[..120], &plain[120..]]),
        [codec::hadoop_lz4(&[&plain[..64]]), codec::hadoop_lz4(&[&plain[64..]])].concat(),
        codec::lz4(&plain),
    ];
    for body in framings {
        let page = Page::v1(100, Encoding::Plain, plain.clone()).body(body);
        let chunk = Chunk::new([page]).codec(Compression::Lz4);
        let file = File::flat("x", Repetition::Required, PhysicalType::Int32).group(100, [chunk]).build();
        check(&file, &[("x", &words)]);
    }
}

#[test]
fn a_chunk_whose_size_leaves_out_the_dictionary_header_is_read_from_old_writers_alone() {
    let file = |created_by: &str| {
        let pages = [
            Page::dictionary(3, i32s(&[10, 20, 30])),
            Page::v1(4, Encoding::PlainDictionary, indices(&[0, 1, 2, 0], 2)),
        ];
        let whole = required(4, pages.clone());
        let at = whole.page(0, 0, 0);
        let header = (at.body - at.header) as u64;
        let chunk = Chunk::new(pages).edit(move |chunk| chunk.total_compressed_size -= header);
        File::flat("x", Repetition::Required, PhysicalType::Int32)
            .created_by(created_by)
            .group(4, [chunk])
            .build()
    };
    for old in ["parquet-mr version 1.2.8 (build 123)", "parquet-mr", "impala version 1.2.4"] {
        check(&file(old), &[("x", "10 20 30 10")]);
    }
    let error = fault(&file("parquet-mr version 1.13.0"));
    assert!(matches!(error.kind(), ErrorKind::EndOfData { .. }), "{error}");
}

#[test]
fn the_dictionary_may_stand_where_only_the_data_page_offset_points() {
    let pages = [Page::dictionary(1, i32s(&[6])), Page::v1(2, Encoding::RleDictionary, indices(&[0, 0], 1))];
    let chunk = Chunk::new(pages).without_dictionary_offset();
    let file = File::flat("x", Repetition::Required, PhysicalType::Int32).group(2, [chunk]).build();
    check(&file, &[("x", "6 6")]);
}

#[test]
fn decimals_are_read_from_any_width() {
    let values = [-1i128, 0, 123_456, -123_456, 99_999_999, -99_999_999];
    let words = "-0.01 0.00 1234.56 -1234.56 999999.99 -999999.99";
    let decimal = LogicalType::Decimal { precision: 9, scale: 2 };
    let sign_extended = |value: i128, width: usize| {
        let fill = if value < 0 { 0xff } else { 0 };
        let bytes = [&[fill; 32][..], &value.to_be_bytes()].concat();
        bytes[bytes.len() - width..].to_vec()
    };
    for width in [4, 5, 8, 9, 12, 15, 16, 17, 31, 32] {
        let fixed: Vec<u8> = values.iter().flat_map(|&v| sign_extended(v, width)).collect();
        let file = File::new(|schema| {
            let leaf = schema.leaf("d", Repetition::Required, PhysicalType::FixedLenByteArray);
            leaf.byte_width(width as u16).logical(decimal.clone());
        })
        .group(
            12,
            [Chunk::new([
                Page::dictionary(6, fixed.clone()),
                Page::v1(6, Encoding::Plain, fixed),
                Page::v1(6, Encoding::RleDictionary, indices(&[0, 1, 2, 3, 4, 5], 3)),
            ])],
        )
        .build();
        check(&file, &[("d", &format!("{words} {words}"))]);
    }
    let arrays: Vec<Vec<u8>> =
        values.iter().zip([1, 1, 12, 4, 5, 20]).map(|(&v, n)| sign_extended(v, n)).collect();
    let file = File::new(|schema| {
        schema.leaf("d", Repetition::Required, PhysicalType::ByteArray).logical(decimal.clone());
    })
    .group(6, [Chunk::new([Page::v1(6, Encoding::Plain, byte_arrays(&arrays))])])
    .build();
    check(&file, &[("d", words)]);
    for physical in [PhysicalType::Int32, PhysicalType::Int64] {
        let plain = match physical {
            PhysicalType::Int32 => i32s(&values.map(|v| v as i32)),
            _ => i64s(&values.map(|v| v as i64)),
        };
        let file = File::new(|schema| {
            schema.leaf("d", Repetition::Required, physical).logical(decimal.clone());
        })
        .group(6, [Chunk::new([Page::v1(6, Encoding::Plain, plain)])])
        .build();
        check(&file, &[("d", words)]);
    }
}

#[test]
fn decimals_of_more_than_38_digits_are_256_bits_wide() {
    let values = [-(10i128.pow(30)), 5 * 10i128.pow(30)];
    let fixed: Vec<u8> = values
        .iter()
        .flat_map(|v| [&[if *v < 0 { 0xff } else { 0 }][..], &v.to_be_bytes()].concat())
        .collect();
    let file = File::new(|schema| {
        let leaf = schema.leaf("d", Repetition::Required, PhysicalType::FixedLenByteArray);
        leaf.byte_width(17).logical(LogicalType::Decimal { precision: 40, scale: 2 });
    })
    .group(2, [Chunk::new([Page::v1(2, Encoding::Plain, fixed)])])
    .build();
    check(&file, &[("d", "-10000000000000000000000000000.00 50000000000000000000000000000.00")]);
}

#[test]
fn decimals_of_no_byte_are_an_error() {
    let file = File::new(|schema| {
        let leaf = schema.leaf("d", Repetition::Required, PhysicalType::FixedLenByteArray);
        leaf.byte_width(0).logical(LogicalType::Decimal { precision: 9, scale: 2 });
    })
    .group(2, [Chunk::new([Page::v1(2, Encoding::Plain, vec![])])])
    .build();
    fault(&file);
}

#[test]
fn pages_without_a_value_are_passed_over() {
    for version in VERSIONS {
        let none = || Page::data(version, 0, Encoding::Plain, vec![]).def(&[], 1);
        let nothing_at_all = || Page::data(version, 0, Encoding::RleDictionary, vec![]);
        let some = |levels: &[u8], values: &[i32]| {
            Page::data(version, levels.len(), Encoding::Plain, i32s(values)).def(levels, 1)
        };
        let pages = [none(), some(&[1, 1], &[1, 2]), nothing_at_all(), none(), some(&[0, 1], &[3]), none()];
        check(&optional(4, pages), &[("x", "1 2 null 3")]);
    }
}

#[test]
fn row_groups_without_a_row_are_passed_over() {
    let column = || File::flat("x", Repetition::Optional, PhysicalType::Int32);
    let five = || Chunk::new([Page::v1(1, Encoding::Plain, i32s(&[5])).def(&[1], 1)]);
    let none = || Chunk::new([]);
    let empty_page = || Chunk::new([Page::v1(0, Encoding::Plain, vec![]).def(&[], 1)]);
    let dictionary = || Chunk::new([Page::dictionary(1, i32s(&[1]))]);
    let file =
        column().group(0, [none()]).group(1, [five()]).group(0, [empty_page()]).group(0, [dictionary()]);
    check(&file.group(1, [five()]).group(0, [none()]).build(), &[("x", "5 5")]);
    check(&column().group(0, [none()]).build(), &[("x", "")]);
    check(&column().build(), &[("x", "")]);
}

#[test]
fn columns_of_one_name_are_all_read() {
    let file = File::new(|schema| {
        schema.leaf("v", Repetition::Required, PhysicalType::Int32);
        schema.leaf("id", Repetition::Required, PhysicalType::Int32);
        schema.leaf("v", Repetition::Required, PhysicalType::Int32);
    })
    .group(2, [[10, 20], [1, 2], [100, 200]].map(|v| Chunk::new([Page::v1(2, Encoding::Plain, i32s(&v))])))
    .build();
    check(&file, &[("v", "10 20"), ("id", "1 2"), ("v", "100 200")]);
    let names = open(&file).scan().columns(["v"]);
    assert_eq!(support::read::columns(names).len(), 2);
    assert_eq!(column(open(&file).scan().leaves([2])), "100 200");
}

#[test]
fn more_row_groups_than_ordinals_are_read() {
    let groups = i32::from(i16::MAX) + 2;
    let file = (0..groups).fold(File::flat("x", Repetition::Required, PhysicalType::Int32), |file, i| {
        file.group(1, [Chunk::new([Page::v1(1, Encoding::Plain, i32s(&[i]))])])
    });
    let file = open(&file.build());
    assert_eq!(file.num_row_groups(), 32769);
    let words = column(file.scan());
    assert!(words.split(' ').map(|word| word.parse::<i32>().unwrap()).eq(0..groups));
    assert_eq!(column(file.scan().rows([32_767..32_769])), "32767 32768");
}

#[test]
fn levels_may_be_bit_packed_most_significant_bit_first() {
    let present = [1, 0, 0, 1, 1, 1, 0, 1, 0];
    let page = Page::v1(9, Encoding::Plain, i32s(&[1, 2, 3, 4, 5])).def_bit_packed(&present, 1);
    check(&optional(9, [page]), &[("x", "1 null null 2 3 4 null 5 null")]);
}

#[test]
fn levels_of_required_columns_may_be_missing_or_of_no_bits() {
    // Some writers put a run of levels of 0 bits into V2 pages of required columns.
    let page =
        Page::v2(2, Encoding::Plain, i32s(&[1, 2])).def_bytes(rle_run(2, 0, 0)).rep_bytes(rle_run(2, 0, 0));
    check(&required(2, [page]), &[("x", "1 2")]);
}

#[test]
fn version_2_row_counts_of_flat_pages_do_not_decide_which_rows_are_read() {
    for lie in [0, 1, 4, 100] {
        let pages = [[1, 2, 3], [4, 5, 6]].map(|values| {
            Page::v2(3, Encoding::Plain, i32s(&values)).v2_header(move |header| header.num_rows = lie)
        });
        let file = open(&required(6, pages));
        for row in 0..6u64 {
            let (batches, error) = support::read::drain(file.scan().rows([row..row + 1]).build().unwrap());
            let words: Vec<_> =
                batches.iter().flat_map(|batch| support::show::words(batch.column(0))).collect();
            assert!(
                error.is_some() || words == [(row + 1).to_string()],
                "row {row} is {words:?} ({lie} rows a page)"
            );
        }
    }
}

#[test]
fn long_columns_are_the_same_however_they_are_cut() {
    let mut random = Random::new(3);
    let dictionary: Vec<i32> = (0..300).map(|i| i * 1001).collect();
    let (mut pages, mut words) = (vec![Page::dictionary(300, i32s(&dictionary))], Vec::new());
    for page in 0..20 {
        let n = 1 + random.below(400) as usize;
        let nulls = [0, 100, 2, 30][page % 4];
        let mut run = 0;
        let (mut levels, mut ids) = (Vec::new(), Vec::new());
        for _ in 0..n {
            let present = random.below(100) >= nulls;
            levels.push(u8::from(present));
            if random.below(10) == 0 {
                run = random.below(300) as u32;
            }
            let id = if page % 3 == 0 { random.below(300) as u32 } else { run };
            if present {
                ids.push(id);
            }
            words.push(if present { dictionary[id as usize].to_string() } else { "null".into() });
        }
        pages.push(match page % 5 {
            4 => {
                let values: Vec<i32> = ids.iter().map(|&id| dictionary[id as usize]).collect();
                Page::v1(n, Encoding::Plain, i32s(&values)).def(&levels, 1)
            }
            p => Page::data(1 + (p % 2) as u8, n, Encoding::RleDictionary, indices(&ids, 9)).def(&levels, 1),
        });
    }
    let file = open(&optional(words.len() as u64, pages));
    for batch_size in [1, 7, 64, 100, 1000, 100_000] {
        assert_eq!(column(file.scan().batch_size(batch_size)), words.join(" "), "batches of {batch_size}");
    }
    for _ in 0..200 {
        let from = random.below(words.len() as u64) as usize;
        let to = from + random.below((words.len() - from) as u64 + 1) as usize;
        let next = to + random.below((words.len() - to) as u64 + 1) as usize;
        let rows = file.scan().rows([from as u64..to as u64, next as u64..words.len() as u64]).batch_size(97);
        assert_eq!(
            column(rows),
            [&words[from..to], &words[next..]].concat().join(" "),
            "{from}..{to}, {next}.."
        );
    }
}
