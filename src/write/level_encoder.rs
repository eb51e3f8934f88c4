//! The levels of one page: encoded as RLE, and counted.

use super::window::Levels;
use crate::bitmap::Bitmap;
use crate::column::bit_width;
use crate::encoding::{RleBooleanEncoder, RleEncoder};

/// Encodes the levels of one kind.
#[derive(Debug)]
pub(super) struct LevelEncoder {
    encoder: Encoder,
    /// How often each level came since the last flush.
    histogram: Vec<u64>,
}

#[derive(Debug)]
enum Encoder {
    /// All levels are 0, and none is written.
    None,
    Bits(RleBooleanEncoder),
    Wide(RleEncoder),
}

impl LevelEncoder {
    pub(super) fn new(max_level: u8) -> Self {
        let encoder = match max_level {
            0 => Encoder::None,
            1 => Encoder::Bits(RleBooleanEncoder::new()),
            _ => Encoder::Wide(RleEncoder::new(bit_width(max_level))),
        };
        LevelEncoder { encoder, histogram: vec![0; usize::from(max_level) + 1] }
    }

    pub(super) fn put(&mut self, levels: Levels<'_>) {
        self.count(levels);
        match (&mut self.encoder, levels) {
            (Encoder::None, _) => {}
            (Encoder::Bits(encoder), Levels::Run(level, n)) => encoder.put_n(level > 0, n),
            (Encoder::Bits(encoder), Levels::Bits(_, bits)) => encoder.put(bits),
            (Encoder::Bits(encoder), Levels::Bytes(levels)) => {
                let bits: Bitmap = levels.iter().map(|&level| level > 0).collect();
                encoder.put(bits.bits(0..bits.len()));
            }
            (Encoder::Wide(encoder), Levels::Run(level, n)) => encoder.put_n(level.into(), n),
            (Encoder::Wide(encoder), Levels::Bytes(levels)) => encoder.put_levels(levels),
            (Encoder::Wide(encoder), Levels::Bits(level, bits)) => {
                let mut at = 0;
                for run in bits.runs() {
                    encoder.put_n(level.into(), run.start - at);
                    encoder.put_n(u32::from(level) + 1, run.len());
                    at = run.end;
                }
                encoder.put_n(level.into(), bits.len() - at);
            }
        }
    }

    /// Appends the levels to `out`, behind their length in 4 bytes where `with_length` asks for it; gives how often each
    /// came, and begins again.
    pub(super) fn flush(&mut self, with_length: bool, out: &mut Vec<u8>) -> Vec<u64> {
        let start = out.len();
        let length: &[u8] = if with_length { &[0; 4] } else { &[] };
        match &mut self.encoder {
            Encoder::None => {}
            Encoder::Bits(encoder) => {
                out.extend_from_slice(length);
                encoder.flush(out);
            }
            Encoder::Wide(encoder) => {
                out.extend_from_slice(length);
                encoder.flush(out);
            }
        }
        if let (true, Some((place, levels))) =
            (with_length, out.get_mut(start..).and_then(<[u8]>::split_first_chunk_mut))
        {
            // A page holds fewer bytes than that.
            *place = u32::try_from(levels.len()).unwrap_or(u32::MAX).to_le_bytes();
        }
        let zeros = vec![0; self.histogram.len()];
        std::mem::replace(&mut self.histogram, zeros)
    }

    /// Bytes that a flush would append, or a few more.
    pub(super) fn estimated_size(&self) -> usize {
        match &self.encoder {
            Encoder::None => 0,
            Encoder::Bits(encoder) => 4 + encoder.estimated_size(),
            Encoder::Wide(encoder) => 4 + encoder.estimated_size(),
        }
    }

    fn count(&mut self, levels: Levels<'_>) {
        let mut add = |level: u8, n: usize| {
            if let Some(count) = self.histogram.get_mut(usize::from(level)) {
                *count += n as u64;
            }
        };
        match levels {
            Levels::Run(level, n) => add(level, n),
            Levels::Bits(level, bits) => {
                let ones = bits.count_ones();
                add(level, bits.len() - ones);
                add(level + 1, ones);
            }
            Levels::Bytes(levels) => levels.iter().for_each(|&level| add(level, 1)),
        }
    }
}
