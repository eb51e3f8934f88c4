//! Column chunk bytes to pages: header checked, CRC checked, body decompressed.
