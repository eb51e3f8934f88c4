//! Pages to one leaf: Arrow buffers, validity, levels.
