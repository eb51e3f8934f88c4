//! Files that are there whole or not at all.

use std::error::Error;
use std::fs::{self, File};
use std::path::Path;

/// Writes the file beside its place and moves it there when it is complete: nobody ever sees half of it.
pub(crate) fn replace<T>(
    path: &Path,
    write: impl FnOnce(&mut File) -> Result<T, Box<dyn Error>>,
) -> Result<T, Box<dyn Error>> {
    let mut name = path.file_name().ok_or("not the name of a file")?.to_owned();
    name.push(format!(".{}.part", std::process::id()));
    let beside = path.with_file_name(name);
    let mut file = File::create_new(&beside)?;
    let written = write(&mut file).and_then(|done| {
        file.sync_all()?;
        fs::rename(&beside, path)?;
        Ok(done)
    });
    if written.is_err() {
        // The error that led here says more than one of cleaning up would.
        let _ = fs::remove_file(&beside);
    }
    written
}
