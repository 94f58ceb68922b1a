//! Inputs that are no plain file, and what stands beside one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use likewise_trace::{ErrorKind, ReadOptions, Trace, is_rereadable, read_bursts, write_labelled};

const TRACE: &str = "#Paraver (x):100_ns:1(1):1:1(1:1)\n1:1:1:1:1:0:10:1\n2:1:1:1:1:10:42000050:7\n";
const PCF: &str = "STATES\n0 Idle\n1 Running\n\nEVENT_TYPE\n7 42000050 PAPI_TOT_INS [x]\n";

fn read(path: &Path) -> Trace {
    read_bursts(path, &ReadOptions::default()).unwrap_or_else(|e| panic!("{e}"))
}

fn counter_names(trace: &Trace) -> Vec<&str> {
    trace.table.counters.iter().map(|c| c.counter.name.as_str()).collect()
}

/// A folder with `t.prv`, and its path.
fn trace_file() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.prv");
    fs::write(&path, TRACE).unwrap();
    (dir, path)
}

#[cfg(unix)]
#[test]
fn a_pipe_is_read_once_and_not_labelled() {
    use std::os::fd::AsRawFd;
    let gzip = {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(TRACE.as_bytes()).unwrap();
        encoder.finish().unwrap()
    };
    let csv = b"task,thread,begin_ns,duration_ns,42000050\n1,1,0,10,7\n".to_vec();
    for bytes in [TRACE.as_bytes().to_vec(), gzip, csv] {
        // As a shell makes one for `<(…)`.
        let (reader, mut writer) = std::io::pipe().unwrap();
        let path = PathBuf::from(format!("/dev/fd/{}", reader.as_raw_fd()));
        assert!(!is_rereadable(&path));
        let writing = std::thread::spawn(move || writer.write_all(&bytes).unwrap());
        let trace = read(&path);
        writing.join().unwrap();
        assert_eq!((trace.table.len(), trace.table.counters[0].values.get(0)), (1, 7.0));
        let dir = tempfile::tempdir().unwrap();
        let error =
            write_labelled(&path, &dir.path().join("out"), &trace.table, &[6], &[], false, None).unwrap_err();
        assert!(matches!(*error.kind, ErrorKind::NotRereadable), "{error}");
    }
}

#[test]
fn only_regular_files_can_be_read_again() {
    let (dir, path) = trace_file();
    assert!(is_rereadable(&path));
    for other in [Path::new("-"), dir.path(), &dir.path().join("missing"), Path::new("/dev/null")] {
        assert!(!is_rereadable(other), "{}", other.display());
    }
    let table = read(&path).table;
    let missing = dir.path().join("missing");
    let error =
        write_labelled(&missing, &dir.path().join("out"), &table, &[6], &[], false, None).unwrap_err();
    assert!(matches!(*error.kind, ErrorKind::Read(_)), "{error}");
}

#[test]
fn names_that_cannot_be_read_are_a_warning() {
    let (dir, path) = trace_file();
    let (pcf, row) = (dir.path().join("t.pcf"), dir.path().join("t.row"));
    let check = |said: &str| {
        let trace = read(&path);
        assert!(
            trace.report.warnings.iter().any(|w| w.contains(said)),
            "{said}: {:?}",
            trace.report.warnings
        );
        assert_eq!(counter_names(&trace), ["42000050"]);
        let out = dir.path().join("out");
        for file in write_labelled(&path, &out, &trace.table, &[6], &[], false, None).unwrap() {
            file.commit().unwrap();
        }
        assert!(fs::read_to_string(out.with_extension("pcf")).unwrap().starts_with("DEFAULT_OPTIONS"));
    };
    fs::create_dir(&row).unwrap();
    check("t.row: cannot be read");
    fs::create_dir(&pcf).unwrap();
    check("t.pcf: cannot be read");
    fs::remove_dir(&pcf).unwrap();
    fs::write(&pcf, [0xff, 0xd8, 0, b'\n', 1, 2, 0xfe]).unwrap();
    check("t.pcf is no .pcf");
    // A gzip that is cut.
    fs::write(&pcf, [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3, 1]).unwrap();
    check("t.pcf: the gzip data end early");
    fs::write(&pcf, PCF.replace("[x]", "[é]").chars().map(|c| c as u8).collect::<Vec<_>>()).unwrap();
    let trace = read(&path);
    assert_eq!(counter_names(&trace), ["PAPI_TOT_INS"]);
    assert!(trace.report.warnings.iter().any(|w| w.contains("t.pcf is not UTF-8")));
}

#[test]
fn a_pcf_that_was_asked_for_is_read_or_an_error() {
    let (dir, path) = trace_file();
    let with = |name: &str| ReadOptions { pcf: Some(dir.path().join(name)), ..ReadOptions::default() };
    fs::write(dir.path().join("t.pcf"), PCF.replace("PAPI_TOT_INS", "OTHER")).unwrap();
    fs::write(dir.path().join("names"), PCF).unwrap();
    assert_eq!(counter_names(&read(&path)), ["OTHER"]);
    assert_eq!(counter_names(&read_bursts(&path, &with("names")).unwrap()), ["PAPI_TOT_INS"]);
    let error = read_bursts(&path, &with("missing")).unwrap_err();
    assert!(error.path.ends_with("missing") && matches!(*error.kind, ErrorKind::Read(_)), "{error}");
}
