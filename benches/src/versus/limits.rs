//! Our decoders against the machine itself: storing or copying as many bytes.

use std::hint::black_box;

use fastrand::Rng;

use super::{Race, Row, Work};
use marquetry::encoding::RleDecoder;
use marquetry::sink::PrimitiveSink;

/// Four megabytes of output.
const NUM_VALUES: usize = 1 << 20;

pub(super) fn rows() -> Vec<Row> {
    let goals = [(4, 0.6), (8, 0.6), (12, 0.6), (16, 0.5), (20, 0.5), (24, 0.5)];
    let mut rows: Vec<Row> = goals.map(|(width, goal)| unpack(width, goal, "store", store)).into();
    rows.push(unpack(32, 0.9, "memcpy", copy));
    rows
}

/// Packed ids of one width, against `limit` over a buffer of the same size.
fn unpack(width: u8, goal: f64, name: &str, limit: fn(&[i32], &mut [i32])) -> Row {
    Row::new(format!("limit/rle/packed/width{width}/of-{name}"), goal, move || {
        let mut rng = Rng::with_seed(1);
        let groups = NUM_VALUES / 8;
        let mut bytes =
            vec![(groups << 1 | 1) as u8 | 0x80, (groups >> 6) as u8 | 0x80, (groups >> 13) as u8];
        bytes.extend(std::iter::repeat_with(|| rng.u8(..)).take(groups * usize::from(width)));
        let mut sink = PrimitiveSink::<i32>::new();
        let (from, mut to) = (vec![1i32; NUM_VALUES], vec![0i32; NUM_VALUES]);
        Ok(Race {
            ours: Box::new(move || {
                sink.as_mut_vec().clear();
                let mut decoder = RleDecoder::new(bytes.as_slice(), NUM_VALUES, width).expect("a width");
                decoder.read(NUM_VALUES, black_box(&mut sink)).expect("as many ids");
            }),
            rival: Box::new(move || limit(black_box(&from), black_box(&mut to))),
            per_run: Work::Bytes(4 * NUM_VALUES),
        })
    })
}

fn store(_: &[i32], to: &mut [i32]) {
    to.fill(black_box(7));
}

fn copy(from: &[i32], to: &mut [i32]) {
    to.copy_from_slice(from);
}
