//! Pages one by one: what their headers say, checksums, what is passed over.
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

use marquetry::metadata::{
    Compression, EncodedStatistics, Encoding, PageHeader, PageKind, PageType, PhysicalType, Repetition,
};
use marquetry::page::{CrcState, DataPage, Page as OpenPage};
use marquetry::{ErrorKind, ParquetFile, ReadOptions, Result};
use support::encode::*;
use support::raw::{Built, Chunk, File, Page, header_fields};
use support::read::{buffer, check, fault, open};
use support::shred::{Leaf, Node};
use support::thrift::T;

fn pages_of(file: &ParquetFile, row_group: usize, leaf: usize) -> Result<Vec<OpenPage>> {
    let mut pages = file.row_group(row_group)?.column(leaf)?.pages()?;
    let mut all = Vec::new();
    while let Some(page) = pages.next()? {
        all.push(page);
    }
    assert!(pages.next()?.is_none());
    Ok(all)
}

fn data(page: &OpenPage) -> &DataPage {
    match page {
        OpenPage::Data(page) => page,
        OpenPage::Dictionary(_) => panic!("a dictionary page"),
    }
}

fn required(num_rows: u64, pages: impl IntoIterator<Item = Page>) -> Built {
    File::flat("x", Repetition::Required, PhysicalType::Int32).group(num_rows, [Chunk::new(pages)]).build()
}

#[test]
fn data_pages_tell_what_they_hold() {
    let leaf =
        Leaf { max_rep: 1, max_def: 3, rep: vec![0, 1, 0, 0], def: vec![3, 2, 0, 3], values: vec![5, 6] };
    for codec in [Compression::Uncompressed, Compression::Snappy] {
        let statistics = EncodedStatistics {
            null_count: Some(2),
            min_value: Some(vec![5, 0, 0, 0]),
            ..Default::default()
        };
        let kept = statistics.clone();
        let with_statistics = move |header: &mut PageHeader| match &mut header.kind {
            PageKind::Data(data) => data.statistics = Some(Box::new(statistics.clone())),
            PageKind::DataV2(data) => data.statistics = Some(Box::new(statistics.clone())),
            _ => {}
        };
        let pages = [
            Page::dictionary(2, i32s(&[5, 6])),
            Page::leaf(1, &leaf).header(with_statistics.clone()),
            Page::leaf(2, &leaf).header(with_statistics),
            Page::v1(4, Encoding::RleDictionary, indices(&[0, 1], 1))
                .rep_bit_packed(&leaf.rep, 1)
                .def_bit_packed(&leaf.def, 2),
        ];
        let built = File::new(|schema| Node::list(true, Node::int(true)).add("x", schema))
            .group(9, [Chunk::new(pages).codec(codec)])
            .build();
        let opened = pages_of(&open(&built), 0, 0).unwrap();
        let [OpenPage::Dictionary(dictionary), v1, v2, packed] = opened.as_slice() else {
            panic!("{opened:?}")
        };
        assert_eq!((dictionary.index, dictionary.num_values, dictionary.is_sorted), (0, 2, false));
        assert_eq!(dictionary.values.as_slice(), i32s(&[5, 6]));
        let (v1, v2, packed) = (data(v1), data(v2), data(packed));
        assert_eq!((v1.version, v1.num_values, v1.num_nulls, v1.num_rows), (1, 4, None, None));
        assert_eq!((v2.version, v2.num_values, v2.num_nulls, v2.num_rows), (2, 4, Some(2), Some(3)));
        for page in [v1, v2] {
            assert_eq!(page.encoding, Encoding::Plain);
            assert_eq!((page.definition_encoding, page.repetition_encoding), (Encoding::Rle, Encoding::Rle));
            assert_eq!(page.repetition_levels.as_slice(), levels(&leaf.rep, 1));
            assert_eq!(page.definition_levels.as_slice(), levels(&leaf.def, 3));
            assert_eq!(page.values.as_slice(), i32s(&[5, 6]));
            assert_eq!(page.statistics.as_deref(), Some(&kept));
        }
        assert_eq!(packed.encoding, Encoding::RleDictionary);
        assert_eq!(
            (packed.definition_encoding, packed.repetition_encoding),
            (Encoding::BitPacked, Encoding::BitPacked)
        );
        assert_eq!(packed.repetition_levels.as_slice(), pack_msb(&leaf.rep, 1));
        assert_eq!(packed.definition_levels.as_slice(), pack_msb(&leaf.def, 2));
        assert_eq!(packed.values.as_slice(), indices(&[0, 1], 1));
        for (i, page) in opened.iter().enumerate() {
            let (at, storage) = (built.page(0, 0, i), page.storage());
            assert_eq!((page.index(), page.offset()), (i, at.header as u64));
            assert_eq!(
                (storage.header_size, storage.compressed_size),
                (at.body - at.header, at.end - at.body)
            );
            assert_eq!(storage.crc, CrcState::Absent);
            assert_eq!(storage.lent, codec == Compression::Uncompressed);
            match codec {
                Compression::Uncompressed => assert_eq!(storage.uncompressed_size, storage.compressed_size),
                _ => assert!(storage.uncompressed_size < storage.compressed_size),
            }
        }
    }
}

#[test]
fn checksums_are_verified_unless_switched_off() {
    let pages = |right| {
        [
            Page::dictionary(1, i32s(&[7])).crc(true),
            Page::v1(1, Encoding::RleDictionary, indices(&[0], 1)).crc(right),
        ]
    };
    for codec in [Compression::Uncompressed, Compression::Gzip] {
        let file = |right| {
            let chunk = Chunk::new(pages(right)).codec(codec);
            File::flat("x", Repetition::Required, PhysicalType::Int32).group(1, [chunk]).build()
        };
        let opened = pages_of(&open(&file(true)), 0, 0).unwrap();
        assert!(opened.iter().all(|page| matches!(page.storage().crc, CrcState::Verified(_))));
        check(&file(true), &[("x", "7")]);

        let wrong = file(false);
        let body = crc32fast::hash(&wrong.bytes[wrong.page(0, 0, 1).body..wrong.page(0, 0, 1).end]);
        let error = fault(&wrong);
        assert!(
            matches!(*error.kind(), ErrorKind::Checksum { stored, computed } if computed == body && stored == body ^ 1)
        );
        assert_eq!(error.place().page, Some(1));

        let unchecked = ReadOptions::new().verify_crc(false).from_buffer(buffer(&wrong.bytes)).unwrap();
        let opened = pages_of(&unchecked, 0, 0).unwrap();
        assert_eq!(opened[1].storage().crc, CrcState::Unchecked(body ^ 1));
        assert_eq!(support::read::column(unchecked.scan()), "7");
    }
}

#[test]
fn a_checksum_is_verified_over_levels_too() {
    let page = Page::v2(2, Encoding::Plain, i32s(&[7])).def(&[1, 0], 1).crc(true);
    let file =
        File::flat("x", Repetition::Optional, PhysicalType::Int32).group(2, [Chunk::new([page])]).build();
    check(&file, &[("x", "7 null")]);
    let at = file.page(0, 0, 0);
    for byte in at.body..at.end {
        let mut changed = file.clone();
        changed.bytes[byte] ^= 1;
        assert!(matches!(fault(&changed).kind(), ErrorKind::Checksum { .. }));
    }
}

#[test]
fn index_pages_and_pages_of_unknown_types_are_passed_over() {
    let junk = |page_type| Page::other(page_type, vec![0xff; 50]);
    let file = required(
        4,
        [
            junk(PageType::IndexPage),
            Page::v1(2, Encoding::Plain, i32s(&[1, 2])),
            junk(PageType::Unknown(9)),
            junk(PageType::IndexPage),
            Page::v2(2, Encoding::Plain, i32s(&[3, 4])),
            junk(PageType::Unknown(-1)),
        ],
    );
    check(&file, &[("x", "1 2 3 4")]);
    let opened = pages_of(&open(&file), 0, 0).unwrap();
    assert_eq!(opened.iter().map(OpenPage::index).collect::<Vec<_>>(), [1, 4]);
}

#[test]
fn data_pages_without_values_are_passed_over() {
    let none = || Page::v1(0, Encoding::Plain, vec![]);
    let file = required(2, [none(), Page::v1(2, Encoding::Plain, i32s(&[1, 2])), none()]);
    assert_eq!(pages_of(&open(&file), 0, 0).unwrap().len(), 1);
}

#[test]
fn headers_longer_than_a_guess_are_read() {
    let long = EncodedStatistics { max_value: Some(vec![7; 100_000]), ..Default::default() };
    let page = Page::v1(2, Encoding::Plain, i32s(&[1, 2])).header(move |header| {
        if let PageKind::Data(data) = &mut header.kind {
            data.statistics = Some(Box::new(long.clone()));
        }
    });
    let file = required(4, [page.clone(), page]);
    check(&file, &[("x", "1 2 1 2")]);
    let opened = pages_of(&open(&file), 0, 0).unwrap();
    assert_eq!(data(&opened[1]).statistics.as_ref().unwrap().max_value.as_ref().unwrap().len(), 100_000);
}

#[test]
fn decompressed_memory_is_used_again_only_when_nobody_holds_it() {
    let values: Vec<Vec<i32>> = (0..20).map(|i| vec![i; 1000]).collect();
    let pages = values.iter().map(|values| Page::v1(1000, Encoding::Plain, i32s(values)));
    let file = File::flat("x", Repetition::Required, PhysicalType::Int32)
        .group(20_000, [Chunk::new(pages).codec(Compression::Snappy)])
        .build();
    let held = pages_of(&open(&file), 0, 0).unwrap();
    for (page, values) in held.iter().zip(&values) {
        assert_eq!(page.values().as_slice(), i32s(values));
    }
}

#[test]
fn a_second_dictionary_page_is_an_error() {
    let dictionary = |value| Page::dictionary(1, i32s(&[value]));
    let ids = |n| Page::v1(n, Encoding::RleDictionary, indices(&vec![0; n], 1));
    fault(&required(4, [dictionary(1), ids(2), dictionary(2), ids(2)]));
}

#[test]
fn a_dictionary_in_another_encoding_is_an_error() {
    let dictionary = Page::dictionary(1, i32s(&[1])).header(|header| {
        if let PageKind::Dictionary(dictionary) = &mut header.kind {
            dictionary.encoding = Encoding::DeltaBinaryPacked;
        }
    });
    let error = fault(&required(1, [dictionary, Page::v1(1, Encoding::RleDictionary, indices(&[0], 1))]));
    assert!(error.to_string().contains("DELTA_BINARY_PACKED"), "{error}");
}

#[test]
fn encodings_that_cannot_hold_a_type_are_an_error() {
    for encoding in [
        Encoding::Rle,
        Encoding::BitPacked,
        Encoding::DeltaByteArray,
        Encoding::DeltaLengthByteArray,
        Encoding::Alp,
        Encoding::Unknown(77),
    ] {
        let error = fault(&required(1, [Page::v1(1, encoding, vec![0; 20])]));
        assert!(error.to_string().contains(&encoding.to_string()), "{error}");
    }
}

#[test]
fn a_page_larger_than_the_limit_is_refused() {
    let file = required(100, [Page::v1(100, Encoding::Plain, i32s(&[0; 100]))]);
    let limited = ReadOptions::new().max_page_size(399).from_buffer(buffer(&file.bytes)).unwrap();
    let error = pages_of(&limited, 0, 0).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { limit: 399, wanted: 400, .. }), "{error}");
    let allowed = ReadOptions::new().max_page_size(400).from_buffer(buffer(&file.bytes)).unwrap();
    assert_eq!(pages_of(&allowed, 0, 0).unwrap().len(), 1);
}

fn optional_page(page: Page) -> Built {
    File::flat("x", Repetition::Optional, PhysicalType::Int32).group(4, [Chunk::new([page])]).build()
}

#[test]
fn version_2_sizes_that_disagree_are_an_error() {
    let page = || Page::v2(4, Encoding::Plain, i32s(&[1, 2, 3])).def(&[1, 1, 0, 1], 1);
    check(&optional_page(page()), &[("x", "1 2 null 3")]);
    // Stored uncompressed, yet of another size once decompressed.
    for size in [0, 5, 13, 15, 64, i32::MAX as usize] {
        fault(&optional_page(page().header(move |header| header.uncompressed_size = size)));
    }
    // Levels longer than the page, than its compressed part, than its decompressed part.
    for len in [15, 100, i32::MAX as usize] {
        fault(&optional_page(page().v2_header(move |header| header.definition_levels_byte_length = len)));
        fault(&optional_page(page().v2_header(move |header| header.repetition_levels_byte_length = len)));
    }
    // Levels that end elsewhere than they say.
    fault(&optional_page(page().v2_header(|header| header.definition_levels_byte_length -= 1)));
    // The levels decide on nulls, whatever their count says.
    for nulls in [0, 2, 4] {
        check(
            &optional_page(page().v2_header(move |header| header.num_nulls = nulls)),
            &[("x", "1 2 null 3")],
        );
    }
}

#[test]
fn negative_sizes_and_counts_are_an_error() {
    let v1 = |uncompressed, compressed, n| {
        let fields = vec![(1, T::I32(n)), (2, T::I32(0)), (3, T::I32(3)), (4, T::I32(3))];
        header_fields(0, uncompressed, compressed, 5, fields)
    };
    let v2 = |n, nulls, rows, def, rep| {
        let fields = [n, nulls, rows, 0, def, rep].iter().zip(1..).map(|(&v, id)| (id, T::I32(v))).collect();
        header_fields(3, 4, 4, 8, fields)
    };
    let dictionary = |n| header_fields(2, 4, 4, 7, vec![(1, T::I32(n)), (2, T::I32(0))]);
    let good = Page::v1(1, Encoding::Plain, i32s(&[9]));
    check(&required(1, [good.clone().header_bytes(v1(4, 4, 1))]), &[("x", "9")]);
    check(&required(1, [good.clone().header_bytes(v2(1, 0, 1, 0, 0))]), &[("x", "9")]);
    for header in [
        v1(-1, 4, 1),
        v1(4, -1, 1),
        v1(4, i32::MIN, 1),
        v1(4, 4, -1),
        v1(i32::MIN, i32::MIN, i32::MIN),
        v2(-1, 0, 1, 0, 0),
        v2(1, -1, 1, 0, 0),
        v2(1, 0, -1, 0, 0),
        v2(1, 0, 1, -1, 0),
        v2(1, 0, 1, 0, -1),
        v2(1, 0, 1, -5, 5),
        v2(1, 2, 1, 0, 0),
        dictionary(-1),
    ] {
        let error = fault(&required(1, [good.clone().header_bytes(header)]));
        let at = error.place();
        assert_eq!((at.row_group, at.column.as_deref(), at.page), (Some(0), Some("x"), Some(0)), "{error}");
        assert!(at.offset.is_some_and(|offset| offset >= 4), "{error}");
    }
}

#[test]
fn header_fields_that_are_missing_are_an_error() {
    let good = || Page::v1(1, Encoding::Plain, i32s(&[9]));
    let (type_, sizes) = ((1, T::I32(0)), [(2, T::I32(4)), (3, T::I32(4))]);
    let data = (5, T::Struct(vec![(1, T::I32(1)), (2, T::I32(0)), (3, T::I32(3)), (4, T::I32(3))]));
    let [uncompressed, compressed] = sizes;
    let all = [type_, uncompressed, compressed, data];
    for missing in 0..all.len() {
        let mut fields = all.to_vec();
        fields.remove(missing);
        fault(&required(1, [good().header_bytes(support::thrift::structure(&fields))]));
    }
    // The header of another page type does not stand in for it.
    let mut fields = all.to_vec();
    fields[3].0 = 8;
    fault(&required(1, [good().header_bytes(support::thrift::structure(&fields))]));
    // Fields that nobody knows yet are skipped.
    let mut fields = all.to_vec();
    fields.push((20, T::Struct(vec![(1, T::List(5, vec![T::I32(1), T::I32(2)])), (2, T::text("new"))])));
    check(&required(1, [good().header_bytes(support::thrift::structure(&fields))]), &[("x", "9")]);
}
