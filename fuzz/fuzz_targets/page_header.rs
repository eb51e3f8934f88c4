//! Page headers: what is read is written, and read again as the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use marquetry::metadata::PageHeader;

fuzz_target!(|bytes: &[u8]| {
    let _ = PageHeader::parse(bytes);
    let Ok((header, len)) = PageHeader::parse_with_statistics(bytes) else { return };
    assert!(len <= bytes.len());
    let mut written = Vec::new();
    if header.write(&mut written).is_ok() {
        let (again, len) = PageHeader::parse_with_statistics(&written).expect("what was written");
        assert_eq!((again, len), (header, written.len()));
    }
});
