//! Lists, structs and maps, in any nesting, over pages cut anywhere.
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

use marquetry::metadata::{Encoding, LogicalType, PhysicalType, Repetition, SchemaBuilder};
use support::encode::*;
use support::random::Random;
use support::raw::{Built, Chunk, File, Page};
use support::read::{check, column, drain, fault, open};
use support::shred::{Leaf, Node, Value, word};

const INT: PhysicalType = PhysicalType::Int32;

/// How the chunks of a file are cut into pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// V1 pages, anywhere.
    Anywhere,
    /// Pages of this version that begin with rows; with an offset index if `true`.
    AtRows(u8, bool),
}

const CUTS: [Cut; 5] =
    [Cut::Anywhere, Cut::AtRows(1, false), Cut::AtRows(1, true), Cut::AtRows(2, false), Cut::AtRows(2, true)];

/// The chunk of a leaf, cut into pages of at most `longest` levels (or rows).
fn chunk(leaf: &Leaf, cut: Cut, longest: u64, random: &mut Random) -> Chunk {
    let (candidates, version, indexed): (Vec<usize>, _, _) = match cut {
        Cut::Anywhere if leaf.max_rep == 0 => ((1..leaf.def.len()).collect(), 1, false),
        Cut::Anywhere => ((1..leaf.rep.len()).collect(), 1, false),
        Cut::AtRows(version, indexed) => {
            ((1..leaf.rep.len()).filter(|&i| leaf.rep[i] == 0).collect(), version, indexed)
        }
    };
    let mut at = Vec::new();
    let mut next = random.below(longest) as usize;
    while let Some(&cut) = candidates.get(next) {
        at.push(cut);
        next += 1 + random.below(longest) as usize;
    }
    let pages = leaf.cut(&at).into_iter().map(|part| Page::leaf(version, &part)).collect::<Vec<_>>();
    if indexed { Chunk::new(pages).indexed() } else { Chunk::new(pages) }
}

/// A file of one column of these values, split into row groups of these many rows.
fn file(node: &Node, values: &[Value], groups: &[usize], cut: Cut, random: &mut Random) -> Built {
    let mut rest = values;
    let mut file = File::new(|schema| node.add("x", schema));
    for &rows in groups {
        let (group, after) = rest.split_at(rows);
        rest = after;
        let leaves = node.shred(group);
        let longest = 1 + random.below(20);
        let chunks = leaves.iter().map(|leaf| chunk(leaf, cut, longest, random)).collect::<Vec<_>>();
        file = file.group(rows as u64, chunks);
    }
    file.build()
}

fn words(values: &[Value]) -> String {
    values.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn any_nesting_is_read_from_pages_cut_anywhere() {
    for seed in 0..40 {
        let mut random = Random::new(seed);
        let node = Node::random(&mut random, 1 + seed as u32 % 4);
        let values: Vec<Value> = (0..24).map(|_| node.value(&mut random, 3)).collect();
        let cut = CUTS[seed as usize % CUTS.len()];
        let file = file(&node, &values, &[10, 1, 13], cut, &mut random);
        println!("seed {seed}, {cut:?}, {node:?}");
        check(&file, &[("x", &words(&values))]);
    }
}

#[test]
fn rows_are_chosen_from_long_lists_in_small_and_large_pages() {
    for (seed, cut) in CUTS.into_iter().enumerate() {
        let mut random = Random::new(seed as u64);
        let node = Node::list(true, Node::list(seed % 2 == 0, Node::int(true)));
        let values: Vec<Value> = (0..300).map(|_| node.value(&mut random, 12)).collect();
        let file = open(&file(&node, &values, &[120, 180], cut, &mut random));
        for _ in 0..30 {
            let mut cuts: Vec<u64> = (0..4).map(|_| random.below(301)).collect();
            cuts.sort_unstable();
            let ranges = [cuts[0]..cuts[1], cuts[2]..cuts[3]];
            let part = |range: &std::ops::Range<u64>| &values[range.start as usize..range.end as usize];
            let expected = ranges.iter().map(part).filter(|part| !part.is_empty()).map(words);
            let expected = expected.collect::<Vec<_>>().join(" ");
            let size = 1 + random.below(70) as usize;
            let rows = file.scan().rows(ranges.clone()).batch_size(size);
            assert_eq!(column(rows), expected, "{cut:?} {ranges:?} batches of {size}");
        }
    }
}

#[test]
fn a_row_may_span_many_pages() {
    let long: Vec<i32> = (10..40).collect();
    let values = [
        Value::List([1, 2, 3].map(Value::Int).into()),
        Value::List(long.into_iter().map(Value::Int).collect()),
        Value::List(vec![]),
        Value::Null,
        Value::List(vec![Value::Int(4)]),
    ];
    let node = Node::list(true, Node::int(true));
    let leaf = &node.shred(&values)[0];
    // The middle of the second row alone; ends that are rows' ends, which none can know before the next page.
    for cuts in [vec![10, 20], vec![3, 33], vec![3, 10, 20, 33, 34, 35], (1..leaf.def.len()).collect()] {
        let pages = leaf.cut(&cuts).into_iter().map(|part| Page::leaf(1, &part)).collect::<Vec<_>>();
        let file = File::new(|schema| node.add("x", schema)).group(5, [Chunk::new(pages)]).build();
        check(&file, &[("x", &words(&values))]);
    }
}

#[test]
fn a_row_of_more_elements_than_are_decoded_at_once_is_one_row() {
    let node = Node::list(false, Node::int(false));
    let row = |from: i32, n: i32| Value::List((from..from + n).map(Value::Int).collect());
    let values = [row(0, 3), row(3, 30_000), row(0, 0), row(7, 9000)];
    let leaf = &node.shred(&values)[0];
    let pages = leaf.cut(&[20_000, 35_000]).into_iter().map(|part| Page::leaf(1, &part)).collect::<Vec<_>>();
    let file = File::new(|schema| node.add("x", schema)).group(4, [Chunk::new(pages)]).build();
    check(&file, &[("x", &words(&values))]);
}

#[test]
fn deep_lists_are_read() {
    let (mut node, mut value) = (Node::int(true), Value::Int(7));
    for _ in 0..30 {
        node = Node::list(true, node);
        value = Value::List(vec![value, Value::Null]);
    }
    let values = [value.clone(), Value::Null, value];
    let file = file(&node, &values, &[2, 1], Cut::Anywhere, &mut Random::new(1));
    check(&file, &[("x", &words(&values))]);
}

#[test]
fn levels_of_lists_may_be_bit_packed() {
    let node = Node::list(true, Node::int(true));
    let values = [
        Value::List(vec![Value::Int(1), Value::Null, Value::Int(2)]),
        Value::Null,
        Value::List(vec![]),
        Value::List(vec![Value::Int(3)]),
    ];
    let leaf = &node.shred(&values)[0];
    let page = Page::v1(leaf.def.len(), Encoding::Plain, i32s(&leaf.values));
    let page = page.rep_bit_packed(&leaf.rep, 1).def_bit_packed(&leaf.def, 2);
    let file = File::new(|schema| node.add("x", schema)).group(4, [Chunk::new([page])]).build();
    check(&file, &[("x", "[1,null,2] null [] [3]")]);
}

/// A file of one column `x` that `add` adds, of one leaf, in one V1 page.
fn legacy(num_rows: u64, leaf: Leaf, add: impl FnOnce(&mut SchemaBuilder)) -> Built {
    File::new(add).group(num_rows, [Chunk::new([Page::leaf(1, &leaf)])]).build()
}

fn leaf(max_rep: u8, max_def: u8, rep: &[u8], def: &[u8], values: &[i32]) -> Leaf {
    Leaf { max_rep, max_def, rep: rep.into(), def: def.into(), values: values.into() }
}

#[test]
fn lists_of_two_levels_are_lists() {
    // optional group x (LIST) { repeated int32 element; }
    let file = legacy(4, leaf(1, 2, &[0, 1, 0, 0, 0], &[2, 2, 0, 1, 2], &[1, 2, 3]), |schema| {
        let list = schema.group("x", Repetition::Optional, |x| {
            x.leaf("element", Repetition::Repeated, INT);
        });
        list.logical(LogicalType::List);
    });
    check(&file, &[("x", "[1,2] null [] [3]")]);
    // optional group x (LIST) { repeated group element (LIST) { repeated int32 array; } }
    let levels = leaf(2, 3, &[0, 2, 1, 2, 0, 0], &[3, 3, 3, 3, 0, 2], &[1, 2, 3, 4]);
    let file = legacy(3, levels, |schema| {
        let list = schema.group("x", Repetition::Optional, |x| {
            let inner = x.group("element", Repetition::Repeated, |element| {
                element.leaf("array", Repetition::Repeated, INT);
            });
            inner.logical(LogicalType::List);
        });
        list.logical(LogicalType::List);
    });
    check(&file, &[("x", "[[1,2],[3,4]] null [[]]")]);
}

#[test]
fn the_repeated_group_of_a_list_is_the_element_where_its_name_says_so() {
    // (name of the repeated group, whether it is the element itself)
    for (name, is_element) in
        [("x_tuple", true), ("array", true), ("list", false), ("bag", false), ("tuple", false)]
    {
        let levels = leaf(1, 2, &[0, 1, 0, 1], &[2, 1, 2, 1], &[5, 6]);
        let file = legacy(2, levels, |schema| {
            let list = schema.group("x", Repetition::Required, |x| {
                x.group(name, Repetition::Repeated, |element| {
                    element.leaf("v", Repetition::Optional, INT);
                });
            });
            list.logical(LogicalType::List);
        });
        let expected = if is_element { "[{v:5},{v:null}] [{v:6},{v:null}]" } else { "[5,null] [6,null]" };
        check(&file, &[("x", expected)]);
    }
    // A repeated group of two fields is the element whatever its name.
    let pages = [[1, 2], [3, 4]]
        .map(|values| Chunk::new([Page::leaf(1, &leaf(1, 1, &[0, 1, 0], &[1, 1, 0], &values))]));
    let file = File::new(|schema| {
        let list = schema.group("x", Repetition::Required, |x| {
            x.group("list", Repetition::Repeated, |element| {
                element.leaf("v", Repetition::Required, INT);
                element.leaf("w", Repetition::Required, INT);
            });
        });
        list.logical(LogicalType::List);
    })
    .group(2, pages)
    .build();
    check(&file, &[("x", "[{v:1,w:3},{v:2,w:4}] []")]);
}

#[test]
fn repeated_fields_without_annotation_are_lists() {
    let file = legacy(3, leaf(1, 1, &[0, 1, 0, 0], &[1, 1, 0, 1], &[42, 7, 9]), |schema| {
        schema.leaf("x", Repetition::Repeated, INT);
    });
    check(&file, &[("x", "[42,7] [] [9]")]);
    let file = legacy(3, leaf(1, 2, &[0, 1, 0, 0], &[2, 1, 0, 2], &[1, 2]), |schema| {
        schema.group("x", Repetition::Repeated, |x| {
            x.leaf("f", Repetition::Optional, INT);
        });
    });
    check(&file, &[("x", "[{f:1},{f:null}] [] [{f:2}]")]);
}

#[test]
fn maps_are_read_whatever_their_groups_are_called() {
    let keys = leaf(1, 2, &[0, 1, 0, 0], &[2, 2, 0, 1], &[1, 2]);
    let values = leaf(1, 3, &[0, 1, 0, 0], &[3, 2, 0, 1], &[10]);
    for (group, key, value) in [("key_value", "key", "value"), ("map", "k", "v"), ("entries", "a", "b")] {
        let file = File::new(|schema| {
            let map = schema.group("x", Repetition::Optional, |x| {
                x.group(group, Repetition::Repeated, |entry| {
                    entry.leaf(key, Repetition::Required, INT);
                    entry.leaf(value, Repetition::Optional, INT);
                });
            });
            map.logical(LogicalType::Map);
        })
        .group(3, [&keys, &values].map(|leaf| Chunk::new([Page::leaf(1, leaf)])))
        .build();
        check(&file, &[("x", "{1:10,2:null} null {}")]);
    }
}

#[test]
fn a_map_without_values_is_a_list_of_its_keys() {
    let file = legacy(2, leaf(1, 1, &[0, 1, 0], &[1, 1, 0], &[1, 2]), |schema| {
        let map = schema.group("x", Repetition::Required, |x| {
            x.group("key_value", Repetition::Repeated, |entry| {
                entry.leaf("key", Repetition::Required, INT);
            });
        });
        map.logical(LogicalType::Map);
    });
    let words = column(open(&file).scan());
    assert!(["[1,2] []", "[{key:1},{key:2}] []"].contains(&words.as_str()), "{words}");
}

#[test]
fn lists_of_nothing_need_no_value_bytes() {
    let empty = leaf(1, 3, &[0, 0, 0, 1], &[0, 1, 2, 2], &[]);
    for (version, encoding) in
        [(1, Encoding::RleDictionary), (2, Encoding::RleDictionary), (2, Encoding::DeltaBinaryPacked)]
    {
        let page = Page::data(version, 4, encoding, vec![]).rep(&empty.rep, 1).def(&empty.def, 3);
        let file = File::new(|schema| Node::list(true, Node::int(true)).add("x", schema));
        check(&file.group(3, [Chunk::new([page])]).build(), &[("x", "null [] [null,null]")]);
    }
}

fn list_of_ints(pages: impl IntoIterator<Item = Page>, num_rows: u64) -> Built {
    File::new(|schema| Node::list(true, Node::int(true)).add("x", schema))
        .group(num_rows, [Chunk::new(pages)])
        .build()
}

#[test]
fn a_chunk_that_does_not_begin_with_a_row_is_an_error() {
    for version in [1, 2] {
        let page = Page::leaf(version, &leaf(1, 3, &[1, 0, 1], &[3, 3, 3], &[1, 2, 3]));
        let error = fault(&list_of_ints([page], 1));
        assert!(error.to_string().contains("repetition level"), "{error}");
        assert_eq!(error.place().page, Some(0));
    }
}

#[test]
fn a_level_above_the_maximum_is_an_error() {
    // Two bits of definition level, of which 3 is one too many.
    let node = Node::list(false, Node::int(true));
    let page = Page::v1(3, Encoding::Plain, i32s(&[1, 2, 3])).rep(&[0, 1, 0], 1).def(&[2, 3, 2], 2);
    let file = File::new(|schema| node.add("x", schema)).group(2, [Chunk::new([page])]).build();
    let error = fault(&file);
    assert!(error.to_string().contains("level 3"), "{error}");
}

#[test]
fn more_or_fewer_rows_than_the_row_group_has_are_an_error() {
    let page = || Page::leaf(1, &leaf(1, 3, &[0, 1, 0], &[3, 3, 3], &[1, 2, 3]));
    for rows in [0, 1, 3, 5, u64::from(u32::MAX)] {
        let file = list_of_ints([page(), page()], rows);
        fault(&file);
    }
    check(&list_of_ints([page(), page()], 4), &[("x", "[1,2] [3] [1,2] [3]")]);
}

#[test]
fn levels_that_end_early_are_an_error() {
    let whole = leaf(1, 3, &[0, 1, 0, 1], &[3, 3, 3, 3], &[1, 2, 3, 4]);
    let rep = levels(&whole.rep, 1);
    let def = levels(&whole.def, 3);
    for version in [1, 2] {
        let page = |rep: &[u8], def: &[u8]| {
            Page::data(version, 4, Encoding::Plain, i32s(&whole.values))
                .rep_bytes(rep.to_vec())
                .def_bytes(def.to_vec())
        };
        for cut in 0..rep.len() {
            fault(&list_of_ints([page(&rep[..cut], &def)], 2));
        }
        for cut in 0..def.len() {
            fault(&list_of_ints([page(&rep, &def[..cut])], 2));
        }
        fault(&list_of_ints([page(&rle_run(3, 0, 1), &def)], 3));
    }
}

/// Two leaves under one parent, which contradict each other on what the parent is.
fn siblings(list: bool, a: Leaf, b: Leaf, num_rows: u64) -> Built {
    let element =
        Node { optional: true, kind: support::shred::Kind::Struct(vec![Node::int(true), Node::int(true)]) };
    let node = if list { Node::list(true, element) } else { element };
    File::new(|schema| node.add("x", schema))
        .group(num_rows, [a, b].map(|leaf| Chunk::new([Page::leaf(1, &leaf)])))
        .build()
}

#[test]
fn lists_of_structs_whose_fields_differ_in_length_are_an_error() {
    let a = leaf(1, 4, &[0, 1, 0], &[4, 4, 4], &[1, 2, 3]);
    let longer = leaf(1, 4, &[0, 1, 0, 1], &[4, 4, 4, 4], &[1, 2, 3, 4]);
    fault(&siblings(true, a.clone(), longer, 2));
    let null = leaf(1, 4, &[0, 0], &[0, 4], &[3]);
    fault(&siblings(true, a, null, 2));
}

#[test]
fn structs_whose_fields_disagree_on_nulls_are_refused_or_valid() {
    let a = leaf(0, 2, &[0, 0, 0], &[2, 0, 1], &[1]);
    let b = leaf(0, 2, &[0, 0, 0], &[0, 2, 2], &[1, 2]);
    // `drain` validates what comes.
    let (batches, error) = drain(open(&siblings(false, a, b, 3)).scan().build().unwrap());
    assert!(error.is_some() || batches.len() == 1);
}

#[test]
fn null_keys_of_a_map_are_refused_or_left_out_of_no_row() {
    let keys = leaf(1, 2, &[0, 1, 0], &[2, 1, 2], &[1, 3]);
    let values = leaf(1, 1, &[0, 1, 0], &[1, 1, 1], &[10, 20, 30]);
    let file = File::new(|schema| {
        let map = schema.group("x", Repetition::Required, |x| {
            x.group("key_value", Repetition::Repeated, |entry| {
                entry.leaf("key", Repetition::Optional, INT);
                entry.leaf("value", Repetition::Required, INT);
            });
        });
        map.logical(LogicalType::Map);
    })
    .group(2, [keys, values].map(|leaf| Chunk::new([Page::leaf(1, &leaf)])))
    .build();
    let (batches, error) = drain(open(&file).scan().build().unwrap());
    assert!(error.is_some() || batches[0].num_rows() == 2);
}
