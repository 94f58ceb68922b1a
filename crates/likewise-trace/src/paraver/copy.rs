//! What copies of a trace have in common, labelled or cut.

use std::io::Write;
use std::path::{Path, PathBuf};

use crate::bytes::{is_rereadable, is_stdin};
use crate::error::{Error, ErrorKind, Result};
use crate::output::AtomicFile;

/// Refuses an input that was read before and cannot be read again. If nothing
/// is there, or a directory, the code that opens it reports that.
pub(super) fn check_rereadable(input: &Path) -> Result<()> {
    if !is_rereadable(input) && (is_stdin(input) || input.exists() && !input.is_dir()) {
        return Err(Error::whole(input, ErrorKind::NotRereadable));
    }
    Ok(())
}

/// `stem.extension`; dots in the stem stay as they are.
pub(super) fn with_extension(stem: &Path, extension: &str) -> PathBuf {
    let mut path = stem.as_os_str().to_owned();
    path.push(".");
    path.push(extension);
    path.into()
}

/// A file with these bytes, which the caller commits.
pub(super) fn filled(path: &Path, bytes: &[u8]) -> Result<AtomicFile> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::write(path, e))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stem_keeps_its_dots() {
        assert_eq!(with_extension(Path::new("a.b/run.1"), "prv"), Path::new("a.b/run.1.prv"));
    }

    #[test]
    fn only_what_can_be_read_again_is_copied() {
        let refused = check_rereadable(Path::new("-")).expect_err("a pipe");
        assert!(matches!(*refused.kind, ErrorKind::NotRereadable));
        // The calling program knows what its options are called.
        assert!(!refused.to_string().contains("--"), "{refused}");
        assert!(check_rereadable(Path::new("/no/such/trace.prv")).is_ok());
        assert!(check_rereadable(&std::env::temp_dir()).is_ok());
    }
}
