//! Pages to one leaf: Arrow buffers, validity, and the answers that levels give.

mod leaf;
mod levels;
mod values;

pub(crate) use leaf::{LeafDecoder, LeafRows, Levels, Mode, Step};
pub(crate) use levels::{Masks, Test, bit_width};
pub(crate) use values::new_values;
