//! Levels to offsets and validity of lists, structs and maps.
