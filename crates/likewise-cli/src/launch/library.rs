//! Where the library is that records.

use anyhow::{Result, bail};
use std::path::{Path, PathBuf};

/// Its file.
const NAME: &str = "liblikewise_preload.so";

/// The variable that names its file.
const VARIABLE: &str = "LIKEWISE_PRELOAD";

/// The library that records: the one that `LIKEWISE_PRELOAD` names, or one
/// beside this program or in a `lib` folder near it.
///
/// # Errors
/// It is nowhere.
pub(crate) fn find() -> Result<PathBuf> {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        let named = PathBuf::from(named);
        if !named.is_file() {
            bail!("{}: there is no such file, which {VARIABLE} names", named.display());
        }
        return absolute(&named);
    }
    let program = std::env::current_exe().and_then(|program| program.canonicalize())?;
    let folder = program.parent().unwrap_or(Path::new("/"));
    let places = candidates(folder);
    if let Some(found) = places.iter().find(|place| place.is_file()) {
        return absolute(found);
    }
    bail!(
        "{NAME}, which records, is neither beside this program nor in a lib folder near it ({}): \
         `cargo build --release` makes it, and {VARIABLE} may name it where it is",
        folder.display()
    )
}

fn candidates(folder: &Path) -> Vec<PathBuf> {
    // A test's program is one folder below the others.
    ["", "..", "../lib", "../lib/likewise"].iter().map(|place| folder.join(place).join(NAME)).collect()
}

/// The dynamic linker takes a list of files with colons or blanks between.
fn absolute(path: &Path) -> Result<PathBuf> {
    let path = path.canonicalize()?;
    if path.to_string_lossy().contains([':', ' ']) {
        bail!(
            "{}: the dynamic linker cannot preload a file whose path holds a blank or a colon; \
             copy it elsewhere, and name it with {VARIABLE}",
            path.display()
        );
    }
    Ok(path)
}
