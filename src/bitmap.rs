//! Validity and boolean bits, least significant bit first, as Arrow lays them out.
