//! The `.pcf` and `.row` beside a trace.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::header::Header;
use super::pcf::Pcf;
use super::row::Row;
use crate::bytes::Input;
use crate::error::Result;

/// A name file larger than this is none.
const MAX_BYTES: usize = 1 << 30;

/// `run.pcf` for `run.prv` and `run.prv.gz`; `None` for the standard input.
pub(crate) fn beside(trace: &Path, extension: &str) -> Option<PathBuf> {
    if trace == Path::new("-") {
        return None;
    }
    let is = |path: &Path, e: &str| path.extension().is_some_and(|x| x.eq_ignore_ascii_case(OsStr::new(e)));
    let stem = if is(trace, "gz") { trace.with_extension("") } else { trace.to_owned() };
    if is(&stem, "prv") {
        return Some(stem.with_extension(extension));
    }
    let mut name = stem.into_os_string();
    name.push(".");
    name.push(extension);
    Some(name.into())
}

/// Bytes of the file beside, if it is there.
pub(crate) fn bytes(trace: &Path, extension: &str) -> Result<Option<Vec<u8>>> {
    match beside(trace, extension).filter(|path| path.is_file()) {
        Some(path) => {
            let mut input = Input::open_text(&path)?;
            let bytes = input.peek(MAX_BYTES)?;
            Ok(Some(bytes[..bytes.len().min(MAX_BYTES)].to_vec()))
        }
        None => Ok(None),
    }
}

/// Names from the `.pcf`; what is missing or contradicts the trace becomes a
/// warning, since the numbers of the trace stand on their own.
pub(crate) fn read_pcf(trace: &Path, header: &Header, warnings: &mut Vec<String>) -> Pcf {
    let name = shown(trace, "pcf");
    match bytes(trace, "pcf") {
        Ok(Some(bytes)) => {
            let (pcf, problems) = Pcf::parse(&bytes);
            warnings.extend(problems.into_iter().map(|p| format!("{name}{p}")));
            if let Some(unit) = pcf.contradicts(header) {
                warnings.push(format!("{name}: UNITS {unit} contradicts the trace's header, which is used"));
            }
            pcf
        }
        Ok(None) => {
            warnings.push(format!("{name} is missing: counters and states are named by their numbers"));
            Pcf::default()
        }
        Err(error) => {
            warnings.push(format!("{error}; counters and states are named by their numbers"));
            Pcf::default()
        }
    }
}

/// Labels from the `.row`, if there is one.
pub(crate) fn read_row(trace: &Path, header: &Header, warnings: &mut Vec<String>) -> Option<Row> {
    let name = shown(trace, "row");
    match bytes(trace, "row") {
        Ok(bytes) => {
            let (row, problems) = Row::parse(&bytes?);
            warnings.extend(problems.into_iter().map(|p| format!("{name}{p}")));
            let (labels, threads) = (row.labels("THREAD").len() as u64, header.n_threads());
            if labels != 0 && labels != threads {
                warnings.push(format!("{name}: {labels} thread labels for {threads} threads"));
            }
            Some(row)
        }
        Err(error) => {
            warnings.push(error.to_string());
            None
        }
    }
}

fn shown(trace: &Path, extension: &str) -> String {
    beside(trace, extension).map_or_else(|| format!("the .{extension} file"), |p| p.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_companions() {
        for (trace, pcf) in
            [("a/x.prv", "a/x.pcf"), ("x.prv.gz", "x.pcf"), ("x.1.prv", "x.1.pcf"), ("x", "x.pcf")]
        {
            assert_eq!(beside(Path::new(trace), "pcf"), Some(pcf.into()));
        }
        assert_eq!(beside(Path::new("-"), "pcf"), None);
    }
}
