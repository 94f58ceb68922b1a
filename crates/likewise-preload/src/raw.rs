//! The raw log: every event as a line, for tests of what the recording gives
//! back.

use likewise_recording::CallId;
use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;

/// Text that is not written yet is no longer than about this.
const BUFFERED: usize = 1 << 16;

/// The raw log of a rank. Until the rank is known, its lines are kept.
#[derive(Debug, Default)]
pub(crate) struct RawLog {
    lines: String,
    file: Option<File>,
}

impl RawLog {
    /// `MPI_Name`, call path and values of an event.
    pub(crate) fn line(&mut self, call: CallId, path: u32, values: &[i64]) {
        // Writing to a String does not fail.
        let _ = write!(self.lines, "{}\t{path}\t", call.name());
        for (at, value) in values.iter().enumerate() {
            let _ = write!(self.lines, "{}{value}", if at == 0 { "" } else { " " });
        }
        self.lines.push('\n');
        if self.lines.len() > BUFFERED {
            self.flush();
        }
    }

    /// Begins to write into the folder.
    pub(crate) fn open(&mut self, folder: &Path, world: u32, rank: u32) {
        let name = if world == 1 { format!("raw-{rank}.log") } else { format!("raw-{world}-{rank}.log") };
        self.file = File::create(folder.join(name)).ok();
    }

    pub(crate) fn flush(&mut self) {
        // A log that cannot be written fails the test that reads it.
        if let Some(file) = &mut self.file {
            let _ = file.write_all(self.lines.as_bytes());
            self.lines.clear();
        }
    }
}
