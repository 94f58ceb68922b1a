//! The directory of an analysis: all its files appear, or none.

mod manifest;
mod spread;

use crate::common::Common;
use anyhow::{Context, Result, bail};
use likewise_trace::{AtomicFile, DirLock, commit_all, unfinished_dir};
use manifest::{Manifest, Run};
use rayon::prelude::*;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

pub(crate) use spread::{SpreadRows, write_rows_spread};

/// Files that are being written into a directory. No other process writes there
/// until they are in their places. A manifest in the directory says which run
/// wrote which file; the files of an earlier run are removed if this run
/// replaces it.
#[derive(Debug)]
pub(crate) struct OutputDir {
    dir: PathBuf,
    /// What the result is of.
    inputs: Vec<PathBuf>,
    /// Files that are read, and must not be replaced.
    protected: Vec<PathBuf>,
    /// Whether what is left of an earlier run goes.
    replaces: bool,
    common: Common,
    // Rust drops fields in this order, and the order matters: first uncommitted
    // files are removed, then the lock, which is in the directory, and then the
    // directories that were made.
    written: Vec<AtomicFile>,
    _lock: DirLock,
    _made: Made,
}

/// Directories that were made for the files, outermost first; they go, as far
/// as they are empty, when this is dropped.
struct Made(Vec<(PathBuf, Box<dyn FnOnce() + Send>)>);

impl std::fmt::Debug for Made {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(dir, _)| dir)).finish()
    }
}

impl Drop for Made {
    fn drop(&mut self) {
        for (dir, finished) in self.0.drain(..).rev() {
            // This fails if something is in the directory, and then it must
            // stay.
            let _ = std::fs::remove_dir(dir);
            finished();
        }
    }
}

/// How often making the directory is tried again if another run removes one of those above
/// it at that moment. If it still fails, no other run is in the way (but `/proc`, or a
/// working directory that is gone).
const ATTEMPTS: usize = 100;

/// The right to write the directory, which is made where it is missing.
fn locked(dir: &Path, common: &Common) -> Result<(DirLock, Made)> {
    let at = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
    let missing = |dir: &&Path| !dir.as_os_str().is_empty() && !dir.exists();
    let mut attempts = 0;
    loop {
        let mut made: Vec<PathBuf> = dir.ancestors().take_while(missing).map(Path::to_owned).collect();
        made.reverse();
        let unfinished =
            |dir: PathBuf| (dir.clone(), Box::new(unfinished_dir(&dir)) as Box<dyn FnOnce() + Send>);
        // What was made goes again if not all can be.
        let made = Made(made.into_iter().map(unfinished).collect());
        match std::fs::create_dir_all(at) {
            // Another run has removed a directory above it, or this one just when it was found
            // to be there: try again.
            Err(e)
                if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::AlreadyExists)
                    && attempts < ATTEMPTS =>
            {
                attempts += 1;
                continue;
            }
            done => done.with_context(|| {
                format!("{}: this directory cannot be made; give another with -o", dir.display())
            })?,
        }
        let waiting =
            || common.say(format_args!("waiting for another likewise that writes {}", dir.display()));
        match DirLock::take(at, waiting) {
            Ok(lock) => return Ok((lock, made)),
            // Another run had made the directory, and has removed it again.
            Err(e) if e.kind() == ErrorKind::NotFound => {}
            Err(e) => {
                return Err(e).with_context(|| format!("{}: no file can be written here", dir.display()));
            }
        }
    }
}

impl OutputDir {
    /// Makes the directory where it is missing, and waits until no other
    /// process writes it. None of `inputs`, of which the result is, will be
    /// replaced.
    ///
    /// # Errors
    /// It cannot be made.
    pub(crate) fn create(dir: &Path, inputs: &[&Path], common: &Common) -> Result<Self> {
        let (lock, made) = locked(dir, common)?;
        let inputs: Vec<PathBuf> = inputs.iter().map(|path| manifest::input(path)).collect();
        Ok(Self {
            dir: dir.to_owned(),
            protected: inputs.clone(),
            inputs,
            replaces: true,
            common: common.clone(),
            written: Vec::new(),
            _lock: lock,
            _made: made,
        })
    }

    /// Nor will these, as far as they exist.
    #[must_use]
    pub(crate) fn protecting(mut self, others: impl Iterator<Item = PathBuf>) -> Self {
        self.protected.extend(others.filter_map(|path| path.canonicalize().ok()));
        self
    }

    /// What an earlier run has left stays beside these files.
    #[must_use]
    pub(crate) fn beside_others(mut self) -> Self {
        self.replaces = false;
        self
    }

    /// Checks that files can be written into that directory, before there is
    /// anything to write, and leaves nothing behind. Reports which other result
    /// that of `inputs` will replace, and remembers what these are like.
    ///
    /// # Errors
    /// It cannot be made, or not be written.
    pub(crate) fn check(dir: &Path, inputs: &[&Path], common: &Common) -> Result<()> {
        let _locked = locked(dir, common)?;
        common.call.seen.note(inputs);
        let inputs: Vec<PathBuf> = inputs.iter().map(|path| manifest::input(path)).collect();
        let command = &common.call.command;
        for run in Manifest::read(dir).runs.iter().filter(|run| run.is_of_others(command, &inputs)) {
            common.say(format_args!(
                "note: {} holds the result of {}, which that of {} will replace; -o DIR keeps both",
                dir.display(),
                run.told(),
                manifest::told(command, inputs.iter().map(|path| path.display()))
            ));
        }
        Ok(())
    }

    /// Where a file of that name will stand.
    #[must_use]
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// Writes a file, which appears with [`OutputDir::commit`].
    ///
    /// # Errors
    /// The disk is full, or the directory cannot be written.
    pub(crate) fn write(
        &mut self,
        name: &str,
        fill: impl FnOnce(&mut AtomicFile) -> Result<()>,
    ) -> Result<()> {
        self.adopt(Self::filled(&self.path(name), fill)?)
    }

    /// A file that is to stand at `path`, for [`OutputDir::adopt`].
    ///
    /// # Errors
    /// Those of [`OutputDir::write`].
    pub(crate) fn filled(
        path: &Path,
        fill: impl FnOnce(&mut AtomicFile) -> Result<()>,
    ) -> Result<AtomicFile> {
        let mut file = AtomicFile::create(path)?.drained();
        fill(&mut file)?;
        Ok(file)
    }

    /// Takes a file that is already written.
    ///
    /// # Errors
    /// What is buffered cannot be written, or an input has its place.
    pub(crate) fn adopt(&mut self, mut file: AtomicFile) -> Result<()> {
        file.complete()?;
        self.hold(file)
    }

    /// Takes a file to which other processes may still write.
    ///
    /// # Errors
    /// An input has its place.
    pub(crate) fn hold(&mut self, file: AtomicFile) -> Result<()> {
        let replaced = file.path().canonicalize().ok();
        if let Some(input) = replaced.filter(|path| self.protected.contains(path)) {
            bail!("{} would be replaced by the result; give another directory with -o", input.display());
        }
        self.written.push(file);
        Ok(())
    }

    /// Puts all files in their places, one right after the other, once what
    /// they replace is gone.
    ///
    /// # Errors
    /// A place cannot be written, or an input is not what it was when the run began.
    pub(crate) fn commit(mut self) -> Result<()> {
        self.common.call.seen.check()?;
        let mut manifest = Manifest::read(&self.dir);
        let run = self.run()?;
        let stale = manifest.add(run, self.replaces, &self.dir, &self.protected);
        self.write(manifest::NAME, |file| Ok(manifest.write(file)?))?;
        let (mut removed, mut kept) = (Vec::new(), Vec::new());
        for file in stale {
            match file.remove_unchanged(&self.dir) {
                Ok(true) => removed.push(file.name),
                Ok(false) => kept.push(file.name),
                Err(_) => {}
            }
        }
        commit_all(std::mem::take(&mut self.written))?;
        let dir = self.dir.display();
        if !removed.is_empty() {
            let names = removed.join(", ");
            self.common.say(format_args!("note: {dir}: removed what an earlier run had left: {names}"));
        }
        if !kept.is_empty() {
            let names = kept.join(", ");
            self.common.say(format_args!(
                "note: {dir}: changed since an earlier run wrote them, and kept, though no part of this result: {names}"
            ));
        }
        Ok(())
    }

    /// What is written now, as the manifest has it.
    fn run(&mut self) -> Result<Run> {
        let mut files = Vec::new();
        for file in &mut self.written {
            let digest = file.complete()?;
            let is_here = file.path().parent() == Some(&self.dir);
            if let Some(name) = file.path().file_name().and_then(|name| name.to_str()).filter(|_| is_here) {
                files.push(manifest::Written::new(name, digest));
            }
        }
        // Several processes write them in another order than one.
        files.sort_by(|a, b| a.name.cmp(&b.name));
        let inputs = self.inputs.iter().map(|path| path.display().to_string()).collect();
        let call = self.common.call.clone();
        Ok(Run { command: call.command, arguments: call.arguments, inputs, files })
    }
}

/// Writes `n` rows that `format` makes, many at a time but in order.
///
/// # Errors
/// What `out` says.
pub(crate) fn write_rows(
    out: &mut (impl Write + Send),
    n: usize,
    format: impl Fn(usize, &mut Vec<u8>) + Sync,
) -> io::Result<()> {
    // Few enough that their text is still in the cache when it is written.
    const ROWS: usize = 1 << 11;
    let at_once = 4 * rayon::current_num_threads();
    let fill = |first: usize, buffers: &mut Vec<Vec<u8>>| {
        buffers.par_iter_mut().enumerate().for_each(|(i, buffer)| {
            buffer.clear();
            let from = first + i * ROWS;
            (from..(from + ROWS).min(n)).for_each(|row| format(row, buffer));
        });
    };
    let (mut ready, mut next) = (vec![Vec::new(); at_once], vec![Vec::new(); at_once]);
    for first in (0..n).step_by(at_once * ROWS) {
        // Those before are written while these are made.
        let write = || ready.iter().try_for_each(|buffer| out.write_all(buffer));
        let (written, ()) = rayon::join(write, || fill(first, &mut next));
        written?;
        std::mem::swap(&mut ready, &mut next);
    }
    ready.iter().try_for_each(|buffer| out.write_all(buffer))
}

/// A text as a CSV cell, quoted where it must be. What a spreadsheet would take
/// for a formula gets an apostrophe before it; numbers do not.
#[must_use]
pub(crate) fn csv_cell(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.parse::<f64>().is_err();
    let guarded = if is_formula { format!("'{text}") } else { text.to_owned() };
    let text = guarded.as_str();
    if text.contains(['"', ',', '\n', '\r']) || text.trim() != text {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_in_order() {
        let n = 50_001;
        let mut out = Vec::new();
        write_rows(&mut out, n, |i, buffer| buffer.extend(format!("{i}\n").bytes()))
            .expect("a vector takes all");
        let expected: String = (0..n).map(|i| format!("{i}\n")).collect();
        assert_eq!(String::from_utf8(out).expect("digits"), expected);
    }

    fn call(command: &str) -> Common {
        Common::of_call(command)
    }

    /// Writes these files, each with its name as its content.
    fn written(dir: &Path, inputs: &[&Path], command: &str, names: &[&str]) {
        let mut out = OutputDir::create(dir, inputs, &call(command)).expect("it can be made");
        for name in names {
            out.write(name, |file| Ok(file.write_all(name.as_bytes())?)).expect("it can be written");
        }
        out.commit().expect("it can be put in place");
    }

    fn names(dir: &Path) -> Vec<String> {
        let files = std::fs::read_dir(dir).expect("a directory");
        let mut names: Vec<String> =
            files.map(|file| file.expect("a file").file_name().into_string().expect("UTF-8")).collect();
        names.retain(|name| name != manifest::NAME);
        names.sort();
        names
    }

    #[test]
    fn a_failed_run_leaves_no_directory() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("a/b");
        let mut out = OutputDir::create(&dir, &[], &call("x")).expect("it can be made");
        out.write("x.csv", |file| Ok(file.write_all(b"1")?)).expect("it can be written");
        assert!(dir.exists());
        drop(out);
        assert!(!root.path().join("a").exists());

        written(&dir, &[], "x", &["x.csv"]);
        OutputDir::check(&root.path().join("c/d"), &[], &call("x")).expect("it could be made");
        assert!(!root.path().join("c").exists());
        let error =
            OutputDir::check(&dir.join("x.csv/d"), &[], &call("x")).expect_err("a file is in the way");
        assert!(error.to_string().contains("cannot be made"), "{error}");
        assert_eq!(std::fs::read(dir.join("x.csv")).expect("it is there"), b"x.csv");
    }

    #[test]
    fn what_changed_meanwhile_gives_no_result() {
        let root = tempfile::tempdir().expect("a directory");
        let (dir, input) = (root.path().join("out"), root.path().join("in.csv"));
        type Change = (&'static str, fn(&Path));
        let changes: [Change; 4] = [
            ("has 4 bytes now", |path| std::fs::write(path, "1234").expect("a file")),
            ("written to or replaced", |path| {
                std::fs::write(path.with_extension("new"), "12").expect("a file");
                std::fs::rename(path.with_extension("new"), path).expect("replaced");
            }),
            ("it is gone", |path| std::fs::remove_file(path).expect("removed")),
            ("", |_| {}),
        ];
        for (says, change) in changes {
            std::fs::write(&input, "12").expect("a file");
            let common = call("x");
            OutputDir::check(&dir, &[&input], &common).expect("it can be written");
            let mut out = OutputDir::create(&dir, &[&input], &common).expect("it can be made");
            out.write("x.csv", |file| Ok(file.write_all(b"1")?)).expect("it can be written");
            change(&input);
            match out.commit() {
                Ok(()) => assert!(says.is_empty()),
                Err(error) => assert!(!says.is_empty() && error.to_string().contains(says), "{error}"),
            }
            assert_eq!(dir.join("x.csv").exists(), says.is_empty(), "{says}");
        }
    }

    #[test]
    fn what_an_earlier_run_left_goes_and_nothing_else() {
        let root = tempfile::tempdir().expect("a directory");
        let (dir, input) = (root.path().join("out"), root.path().join("in.csv"));
        std::fs::write(&input, "1").expect("a file");
        written(&dir, &[&input], "bursts", &["a.csv", "b.csv", "c.csv", "summary.json"]);
        std::fs::write(dir.join("mine.txt"), "a user's").expect("a file");
        std::fs::write(dir.join("b.csv"), "changed by a user").expect("a file");
        written(&dir, &[&input], "bursts", &["a.csv", "summary.json"]);
        assert_eq!(names(&dir), ["a.csv", "b.csv", "mine.txt", "summary.json"]);
        // It shares no name with what is there.
        written(&dir, &[&input], "cut", &["d.csv"]);
        // It reads what is there.
        written(&dir, &[&dir.join("a.csv")], "align", &["summary.json", "e.csv"]);
        assert_eq!(names(&dir), ["a.csv", "b.csv", "d.csv", "e.csv", "mine.txt", "summary.json"]);
        // Files of others stay, whatever is written beside them.
        let out = OutputDir::create(&dir, &[], &call("synth")).expect("it can be made");
        let mut out = out.beside_others();
        out.write("e.csv", |file| Ok(file.write_all(b"2")?)).expect("it can be written");
        out.commit().expect("it can be put in place");
        written(&dir, &[&input], "bursts", &["a.csv", "summary.json"]);
        assert_eq!(names(&dir), ["a.csv", "b.csv", "d.csv", "e.csv", "mine.txt", "summary.json"]);
    }

    /// A manifest is a file like any other: it may come from anybody.
    #[test]
    fn a_manifest_names_no_file_elsewhere() {
        let root = tempfile::tempdir().expect("a directory");
        let (dir, victim) = (root.path().join("out"), root.path().join("victim"));
        std::fs::write(&victim, "abc").expect("a file");
        std::fs::create_dir(&dir).expect("a directory");
        for name in ["../victim", victim.to_str().expect("UTF-8"), "..", ""] {
            let file = serde_json::json!({ "name": name, "bytes": 3, "xxh64": "44bc2cf5ad770999" });
            let same = serde_json::json!({ "name": "a.csv", "bytes": 1, "xxh64": "0" });
            let run =
                serde_json::json!({ "command": "x", "arguments": [], "inputs": [], "files": [file, same] });
            let text = serde_json::json!({ "runs": [run] }).to_string();
            std::fs::write(dir.join(manifest::NAME), text).expect("a file");
            written(&dir, &[], "x", &["a.csv"]);
            assert!(victim.exists(), "{name}");
        }
        std::fs::write(dir.join(manifest::NAME), "{").expect("a file");
        written(&dir, &[], "x", &["b.csv"]);
        assert_eq!(names(&dir), ["a.csv", "b.csv"]);
    }

    #[test]
    fn no_result_mixes_with_another() {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("out");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let dir = &dir;
                scope.spawn(move || {
                    for _ in 0..25 {
                        let own = format!("{writer}.csv");
                        OutputDir::check(dir, &[], &call("x")).expect("it can be written");
                        written(dir, &[], "x", &[&own, "summary.json"]);
                    }
                });
            }
        });
        let names = names(&dir);
        assert!(names.len() == 2 && names[1] == "summary.json", "{names:?}");
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(csv_cell("PAPI_TOT_INS"), "PAPI_TOT_INS");
        assert_eq!(csv_cell("a,\"b\""), "\"a,\"\"b\"\"\"");
        for text in ["=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "-[A b]"] {
            assert_eq!(csv_cell(text), format!("'{text}"));
        }
        assert_eq!(csv_cell("=1,2"), "\"'=1,2\"");
        for text in ["-1.5", "+2e3", "-inf", "a=b", "MPI_Send - MPI_Recv", ""] {
            assert_eq!(csv_cell(text), text);
        }
    }
}
