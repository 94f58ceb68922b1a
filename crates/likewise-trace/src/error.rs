//! What can be wrong with a file, and where.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use likewise::comm::CommError;
use likewise::table::Nanos;

/// Where in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line, from 1.
    Line(u64),
    /// A byte, from 0.
    Byte(u64),
    /// The file as a whole.
    Whole,
}

/// What an empty file should have been.
pub(crate) const TRACE_OR_BURSTS: &str = "a Paraver trace (it begins with '#Paraver') or a table of bursts";

/// What an empty file should have been, where runs or groupings are compared.
pub(crate) const TRACE_OR_CLUSTERS: &str =
    "a Paraver trace (it begins with '#Paraver'), a CSV of bursts, or a table with a column 'cluster'";

/// What is wrong with a file. The text says all of it, so none of these has a
/// source: the source would be shown a second time.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Read(io::Error),
    /// The file cannot be written.
    #[error("cannot be written: {0}")]
    Write(io::Error),
    /// Something else stands where `what` should.
    #[error("expected {what}, found {found}")]
    Expected {
        /// What the format asks for.
        what: String,
        /// What stands there, safe to print.
        found: String,
    },
    /// A record names a thread that the header does not declare.
    #[error("thread {app}.{task}.{thread} (application.task.thread) is not in the header")]
    UnknownThread {
        /// Application, from 1.
        app: u32,
        /// Task, from 1.
        task: u32,
        /// Thread, from 1.
        thread: u32,
    },
    /// The file is empty.
    #[error("the file is empty; expected {0}")]
    Empty(&'static str),
    /// A table has its first line and no other.
    #[error("the table has a header but no {0}")]
    OnlyHeader(&'static str),
    /// The first bytes are those of no format that is known here.
    #[error(
        "not a format that is known here: it begins with {0}; expected a Paraver trace \
         ('#Paraver …', plain or gzip), a recording (a folder), or a table with columns \
         task,thread,begin_ns,duration_ns"
    )]
    UnknownFormat(String),
    /// A folder was given in which there is no recording.
    #[error(
        "a folder without a recording: expected 'recording.likewise' in it, as `likewise record` writes it, or what \
         the ranks of a run left that did not end"
    )]
    NoRecording,
    /// It is neither a trace nor a table of clusters.
    #[error("expected {TRACE_OR_CLUSTERS}, but the file begins with {0}")]
    NeitherTraceNorClusters(String),
    /// The Paraver header is wrong.
    #[error("wrong Paraver header: {0}")]
    Header(String),
    /// A line has no end within a sane length.
    #[error("a line is longer than {0} bytes; this is not a text trace")]
    LongLine(usize),
    /// The compressed data stops before its end.
    #[error("the gzip data end early, after {0} bytes of text: the file was cut; copy it again")]
    GzipEndsEarly(u64),
    /// Something that is not gzip follows the compressed data.
    #[error("the gzip data end at byte {0} of the file, and what follows is not gzip: cut it off")]
    GzipGarbage(u64),
    /// The compressed data are damaged.
    #[error("the gzip data are damaged after {0} bytes of text: {1}")]
    GzipDamaged(u64, String),
    /// The compressed data expand beyond what any trace does.
    #[error(
        "the gzip data expand more than {0} times; nothing that is read here does, so it is not read further"
    )]
    GzipBomb(u64),
    /// The last line is cut.
    #[error("the file ends in the middle of this line ({0}); copy it again")]
    Truncated(String),
    /// Times do not fit.
    #[error("times exceed 2^64 nanoseconds")]
    TimeOverflow,
    /// Records of a thread are in no order, and the input cannot be read twice.
    #[error(
        "the records of thread {app}.{task}.{thread} are out of order; sorting them takes a second \
         reading, which a pipe does not allow: write the trace to a file first"
    )]
    UnsortedPipe {
        /// Application, from 1.
        app: u32,
        /// Task, from 1.
        task: u32,
        /// Thread, from 1.
        thread: u32,
    },
    /// A labelled trace of a table of bursts would declare threads out of all
    /// proportion to the bursts.
    #[error("the ids of {bursts} bursts reach so far that a labelled trace would declare {threads} threads")]
    SparseIds {
        /// How many threads the trace's header would declare.
        threads: u64,
        /// How many bursts there are.
        bursts: usize,
    },
    /// A copy was asked for of an input that cannot be read again.
    #[error(
        "a copy is made by reading the trace again, which a pipe does not allow: write it to a file first"
    )]
    NotRereadable,
    /// A part was asked for that begins when all is over.
    #[error("the part would begin at {} ns ({from}), but the trace ends at {} ns ({end})", .from.0, .end.0)]
    BeyondEnd {
        /// When it would begin.
        from: Nanos,
        /// When the trace ends, as its header says.
        end: Nanos,
    },
    /// A part was asked for that is shorter than the times of the trace tell apart.
    #[error(
        "the part from {} ns to {} ns holds nothing: times of this trace are whole multiples of {unit} ns",
        .from.0, .to.0
    )]
    WithinUnit {
        /// When it would begin.
        from: Nanos,
        /// When it would end.
        to: Nanos,
        /// The unit of the trace, in nanoseconds.
        unit: u64,
    },
    /// An application was asked for that is not there.
    #[error("application {asked} is not in the trace; it has {there}")]
    NoSuchApplication {
        /// The number asked for.
        asked: u32,
        /// How many there are.
        there: usize,
    },
    /// A table lacks a column.
    #[error("the table has no column '{0}'; expected {1}")]
    MissingColumn(String, &'static str),
    /// A cell of a table is wrong.
    #[error("column {column} ({name}): expected {what}, found {found}")]
    Cell {
        /// Column, from 1.
        column: usize,
        /// The column's name, safe to print.
        name: String,
        /// What the format asks for.
        what: &'static str,
        /// What stands there, safe to print.
        found: String,
    },
    /// Bytes that may be numbers, of nobody knows how many columns.
    #[error(
        "neither text nor .npy; raw numbers (little-endian f64) can be read where the number of columns is given"
    )]
    RawNumbers,
    /// A table cannot be used as it is.
    #[error("{0}")]
    Table(String),
}

/// What is wrong, with the file and the place in it.
#[derive(Debug)]
pub struct Error {
    /// The file.
    pub path: PathBuf,
    /// Where in it.
    pub place: Place,
    /// What is wrong.
    pub kind: Box<ErrorKind>,
}

/// The result of reading or writing a file.
pub(crate) type Result<T> = std::result::Result<T, Error>;

impl ErrorKind {
    /// Whether a compressed file ends early, but is good up to there.
    pub(crate) fn ends_gzip(&self) -> bool {
        matches!(self, Self::GzipEndsEarly(_) | Self::GzipGarbage(_) | Self::GzipDamaged(..))
    }
}

impl Error {
    pub(crate) fn at(path: &Path, place: Place, kind: ErrorKind) -> Self {
        Self { path: path.to_owned(), place, kind: Box::new(kind) }
    }

    pub(crate) fn whole(path: &Path, kind: ErrorKind) -> Self {
        Self::at(path, Place::Whole, kind)
    }

    pub(crate) fn read(path: &Path, error: io::Error) -> Self {
        Self::whole(path, ErrorKind::Read(error))
    }

    /// A failure to write `path`, such as a full disk.
    #[must_use]
    pub fn write(path: &Path, error: io::Error) -> Self {
        // An `AtomicFile` puts the path into its error; do not add it twice.
        error.downcast().unwrap_or_else(|error| Self::whole(path, ErrorKind::Write(error)))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path == Path::new("-") { Path::new("<stdin>") } else { &self.path };
        match self.place {
            Place::Line(line) => write!(f, "{}:{line}: {}", path.display(), self.kind),
            Place::Byte(byte) => write!(f, "{}: at byte {byte}: {}", path.display(), self.kind),
            Place::Whole => write!(f, "{}: {}", path.display(), self.kind),
        }
    }
}

impl std::error::Error for Error {}

/// Whether a terminal or a page obeys this character instead of showing it:
/// control characters, invisible ones, and those that change the direction of
/// text.
#[must_use]
pub fn is_hidden(c: char) -> bool {
    let invisible =
        matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c.is_control() || invisible
}

/// Text of a file that is safe to show, at most `max` characters: control and
/// direction-changing characters are escaped, bytes that are not UTF-8 replaced.
#[must_use]
pub fn printable(bytes: &[u8], max: usize) -> String {
    // A character has at most four bytes, so later bytes need not be decoded.
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * max + 4)]);
    let mut shown = String::new();
    for (n, c) in text.chars().enumerate() {
        if n == max {
            shown.push('…');
            break;
        }
        if is_hidden(c) {
            shown.extend(c.escape_unicode());
        } else {
            shown.push(c);
        }
    }
    shown
}

/// `bytes` in quotes as an error shows what it found.
pub(crate) fn found(bytes: &[u8]) -> String {
    if bytes.is_empty() { "nothing".to_owned() } else { format!("'{}'", printable(bytes, 40)) }
}

/// Why several processes could not read a file.
#[derive(Debug, thiserror::Error)]
pub enum SpreadError {
    /// What is wrong with the file. Process 0 has it, for all.
    #[error(transparent)]
    File(#[from] Error),
    /// Process 0 has the error.
    #[error("process 0 cannot read the file")]
    Elsewhere,
    /// The processes could not work together.
    #[error(transparent)]
    Comm(#[from] CommError),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_file_line_and_what_was_expected() {
        let kind = ErrorKind::Expected { what: "a number".into(), found: found(b"ab\x1b[31mc") };
        let error = Error::at(Path::new("run.prv"), Place::Line(123), kind);
        assert_eq!(error.to_string(), "run.prv:123: expected a number, found 'ab\\u{1b}[31mc'");
    }

    #[test]
    fn the_text_is_all_there_is() {
        use std::error::Error as _;
        let error = Error::read(Path::new("run.prv"), io::ErrorKind::NotFound.into());
        assert_eq!(error.to_string(), "run.prv: cannot be read: entity not found");
        assert!(error.source().is_none() && error.kind.source().is_none());
        // As AtomicFile gives it to whoever writes.
        let wrapped = io::Error::other(Error::write(Path::new("a"), io::ErrorKind::StorageFull.into()));
        assert!(wrapped.source().is_none());
    }

    #[test]
    fn shows_a_little_of_a_long_or_hidden_text() {
        assert_eq!(printable(&[b'x'; 100], 3), "xxx…");
        assert_eq!(printable("a\u{202e}b".as_bytes(), 9), "a\\u{202e}b");
    }
}
