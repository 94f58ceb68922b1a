//! The `.pcf` and `.row` beside a trace.

use std::ffi::OsStr;
use std::fs;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::header::Header;
use super::pcf::Pcf;
use super::row::Row;
use crate::bytes::{Input, is_stdin, stream_error};
use crate::error::{Error, Result};

/// A larger `.pcf` or `.row` is not read: names never need so much memory.
const MAX_BYTES: u64 = 1 << 30;

/// `run.pcf` for `run.prv` and `run.prv.gz`; `None` for the standard input.
pub(crate) fn beside(trace: &Path, extension: &str) -> Option<PathBuf> {
    if is_stdin(trace) {
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

/// The bytes of the file beside the trace, if it exists.
pub(crate) fn bytes(trace: &Path, extension: &str) -> Result<Option<Vec<u8>>> {
    let Some(path) = beside(trace, extension) else { return Ok(None) };
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        // Nothing may ever come out of a pipe with that name.
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => {
            Err(Error::read(&path, io::Error::other("not a regular file")))
        }
        _ => whole(&path).map(Some),
    }
}

pub(crate) fn whole(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let limit = Input::open_text(path)?.into_reader().take(MAX_BYTES);
    BufReader::new(limit).read_to_end(&mut bytes).map_err(|e| stream_error(path, e))?;
    Ok(bytes)
}

/// Names from the `.pcf`. If names are missing or contradict the trace, there
/// is only a warning, because the numbers of the trace are enough. But a
/// `.pcf` that was asked for must be readable.
pub(crate) fn read_pcf(
    trace: &Path,
    asked: Option<&Path>,
    header: &Header,
    warnings: &mut Vec<String>,
) -> Result<Pcf> {
    const BY_NUMBER: &str = "counters and states are named by their numbers";
    let name = asked.map_or_else(|| shown(trace, "pcf"), |path| path.display().to_string());
    let read = match asked {
        Some(path) => Ok(Some(whole(path)?)),
        None => bytes(trace, "pcf"),
    };
    match read {
        Ok(Some(bytes)) if !Pcf::is_one(&bytes) => {
            warnings.push(format!("{name} is no .pcf, having none of its sections: {BY_NUMBER}"));
            Ok(Pcf::default())
        }
        Ok(Some(bytes)) => {
            let (pcf, problems) = Pcf::parse(&bytes);
            warnings.extend(problems.into_iter().map(|p| format!("{name}{p}")));
            if std::str::from_utf8(&bytes).is_err() {
                warnings.push(format!(
                    "{name} is not UTF-8; what cannot be read of its names is shown as \u{fffd}"
                ));
            }
            if let Some(unit) = pcf.contradicts(header) {
                warnings.push(format!("{name}: UNITS {unit} contradicts the trace's header, which is used"));
            }
            Ok(pcf)
        }
        Ok(None) => {
            warnings.push(format!("{name} is missing: {BY_NUMBER}"));
            Ok(Pcf::default())
        }
        Err(error) => {
            warnings.push(format!("{error}; {BY_NUMBER}"));
            Ok(Pcf::default())
        }
    }
}

/// The labels of the `.row`, if there is one.
pub(crate) fn read_row(trace: &Path, header: &Header, warnings: &mut Vec<String>) -> Row {
    let name = shown(trace, "row");
    match bytes(trace, "row") {
        Ok(None) => Row::default(),
        Ok(Some(bytes)) => {
            let (row, problems) = Row::parse(&bytes);
            warnings.extend(problems.into_iter().map(|p| format!("{name}{p}")));
            let (labels, threads) = (row.labels("THREAD").len() as u64, header.topology.n_threads());
            if labels != 0 && labels != threads {
                warnings.push(format!("{name}: {labels} thread labels for {threads} threads"));
            }
            row
        }
        Err(error) => {
            warnings.push(error.to_string());
            Row::default()
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
