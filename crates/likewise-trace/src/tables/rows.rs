//! The rows of a table that is text, one after the other.

use std::cell::Cell;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use csv::ByteRecord;

use crate::bytes::{Input, Piece, Progress, stream_error};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::tables::dialect::{Dialect, Head, Separator};

/// Progress is reported after this many rows.
const REPORTED: u64 = 1 << 15;

/// Records of a table with the lines where they begin, below its names.
pub(crate) struct Rows {
    reader: csv::Reader<Box<dyn Read>>,
    pub(crate) path: PathBuf,
    pub(crate) dialect: Dialect,
    /// Of the columns, as they stand there.
    pub(crate) names: Vec<String>,
    /// The line of the names.
    pub(crate) header_line: u64,
    record: ByteRecord,
    /// Lines before the first that the reader sees.
    n_before: u64,
    n_comments: u64,
    n_rows: u64,
    /// The reader has seen the end of the text.
    ended: Rc<Cell<bool>>,
    consumed: Arc<AtomicU64>,
    total: u64,
}

impl Rows {
    /// Reads the names; `empty` says what a file without any should have held.
    pub(crate) fn open(mut input: Input, empty: &'static str) -> Result<Self> {
        if input.peek(1)?.is_empty() {
            return Err(Error::whole(input.path(), ErrorKind::Empty(empty)));
        }
        let head = Head::take(&mut input)?;
        let mut rows = Self::new(input, &head, Vec::new());
        if head.comment().is_some() {
            rows.names = head.names();
            rows.header_line = head.comment_line;
            return Ok(rows);
        }
        let header = match rows.read() {
            Ok(false) => return Err(Error::whole(&rows.path, ErrorKind::Empty(empty))),
            Ok(true) => rows.record.iter().map(crate::tables::dialect::name_of).collect(),
            Err(error) => return Err(error),
        };
        rows.names = header;
        if head.is_short() {
            rows.names.insert(0, String::new());
        }
        Ok(rows)
    }

    /// The rows of a piece of a table. `None` if a piece cannot be read by
    /// itself: a line end in quotes does not end a row, and an index of a data
    /// frame shows only in all rows.
    pub(crate) fn piece(mut input: Input, piece: Piece) -> Result<Option<Self>> {
        let head = Head::take(&mut input)?;
        let header = input.take_line()?;
        let quoted = |bytes: &[u8]| memchr::memchr(b'"', bytes).is_some();
        let names = head.names();
        let is_plain = head.comment().is_none()
            && !head.is_short()
            && !names.iter().any(|name| crate::taken::is_unnamed(name));
        if !is_plain || !input.keep(piece) || quoted(&header) || quoted(input.peek(0)?) {
            return Ok(None);
        }
        Ok(Some(Self::new(input, &head, names)))
    }

    fn new(input: Input, head: &Head, names: Vec<String>) -> Self {
        let (path, consumed, total) = (input.path().to_owned(), input.consumed(), input.size().unwrap_or(0));
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).flexible(true).buffer_capacity(1 << 18);
        let ended = Rc::default();
        let lines = Changed::new(input.into_reader(), Lines::new(Rc::clone(&ended)));
        let reader: Box<dyn Read> = match head.dialect.separator {
            Separator::Byte(byte) => {
                builder.delimiter(byte);
                Box::new(lines)
            }
            Separator::Blanks => {
                builder.delimiter(b'\t');
                Box::new(Changed::new(lines, Tabs::new()))
            }
        };
        Self {
            reader: builder.from_reader(reader),
            path,
            dialect: head.dialect,
            names,
            header_line: head.n_before + 1,
            record: ByteRecord::new(),
            n_before: head.n_before,
            n_comments: head.n_comments,
            n_rows: 0,
            ended,
            consumed,
            total,
        }
    }

    fn read(&mut self) -> Result<bool> {
        self.reader.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => stream_error(&self.path, error),
            other => Error::whole(&self.path, ErrorKind::Table(format!("not a CSV table: {other:?}"))),
        })
    }

    /// The next record and its line. A line that begins with `#` and is not a
    /// row is a comment.
    ///
    /// # Errors
    /// The record has more or fewer cells than there are names. Reading can go on.
    pub(crate) fn next(&mut self) -> Result<Option<(&ByteRecord, u64)>> {
        loop {
            if !self.read()? {
                return Ok(None);
            }
            let found = self.record.len();
            if found == self.names.len() {
                break;
            }
            match self.record.get(0).map(<[u8]>::trim_ascii) {
                Some(cell) if cell.starts_with(b"#") => self.n_comments += 1,
                // An empty line is no row.
                Some(b"") if found == 1 => {}
                _ => {
                    let what = format!("{} cells as in the first line", self.names.len());
                    let found = format!("{found}; where the file ends here, it may have been cut");
                    return Err(self.wrong(self.line(), ErrorKind::Expected { what, found }));
                }
            }
        }
        self.n_rows += 1;
        let line = self.line();
        Ok(Some((&self.record, line)))
    }

    /// The line where the record begins. (The reader's own number is that of the line after
    /// the record before, also where empty lines follow.)
    fn line(&self) -> u64 {
        let within = self.record.iter().flatten().filter(|byte| **byte == b'\n').count() as u64;
        // The reader stands behind the end of the record's last line, but if no quote ended it.
        let behind = within + u64::from(!self.ended.get());
        self.reader.position().line().saturating_sub(behind).max(1) + self.n_before
    }

    pub(crate) fn wrong(&self, line: u64, kind: ErrorKind) -> Error {
        Error::at(&self.path, Place::Line(line), kind)
    }

    /// Rows that were shown so far.
    pub(crate) fn n_rows(&self) -> u64 {
        self.n_rows
    }

    /// Bytes that were read so far, as stored.
    pub(crate) fn consumed(&self) -> u64 {
        self.consumed.load(Ordering::Relaxed)
    }

    /// Reports progress from time to time.
    pub(crate) fn report(&self, progress: Option<Progress<'_>>) {
        if let Some(progress) = progress.filter(|_| self.n_rows.is_multiple_of(REPORTED)) {
            progress(self.consumed(), self.total);
        }
    }

    /// Notes on what was skipped, or read in an unusual way.
    pub(crate) fn notes(&self) -> Vec<String> {
        notes(self.dialect, self.n_comments)
    }
}

/// What should be known of how a text was read.
pub(crate) fn notes(dialect: Dialect, n_comments: u64) -> Vec<String> {
    let plural = if n_comments == 1 { "" } else { "s" };
    let comments = (n_comments > 0).then(|| format!("{n_comments} comment line{plural} (#) passed over."));
    dialect.note().into_iter().chain(comments).collect()
}

/// What changes a text on its way, piece by piece.
trait Step {
    /// Adds to `out` what becomes of a piece; an empty one is the end.
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>);
}

/// A text that is changed on its way.
struct Changed<R, S> {
    inner: R,
    step: S,
    input: Vec<u8>,
    output: Cursor<Vec<u8>>,
}

impl<R: Read, S: Step> Changed<R, S> {
    fn new(inner: R, step: S) -> Self {
        Self { inner, step, input: vec![0; 1 << 16], output: Cursor::default() }
    }
}

impl<R: Read, S: Step> Read for Changed<R, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let n = self.output.read(buffer)?;
            if n > 0 || buffer.is_empty() {
                return Ok(n);
            }
            let n = self.inner.read(&mut self.input)?;
            let mut out = std::mem::take(&mut self.output).into_inner();
            out.clear();
            self.step.push(&self.input[..n], &mut out);
            if n == 0 && out.is_empty() {
                return Ok(0);
            }
            self.output = Cursor::new(out);
        }
    }
}

/// Makes all lines end by `\n`, the last one too.
struct Lines {
    /// A `\r` was read, and what follows may be the rest of this line end.
    is_open: bool,
    /// The last byte of all so far.
    last: u8,
    /// Nothing is left.
    ended: Rc<Cell<bool>>,
}

impl Lines {
    fn new(ended: Rc<Cell<bool>>) -> Self {
        Self { is_open: false, last: b'\n', ended }
    }
}

impl Step for Lines {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        if piece.is_empty() {
            match std::mem::replace(&mut self.last, b'\n') {
                b'\n' => self.ended.set(true),
                _ => out.push(b'\n'),
            }
            return;
        }
        let is_rest = std::mem::take(&mut self.is_open) && piece[0] == b'\n';
        let mut from = usize::from(is_rest);
        for at in memchr::memchr_iter(b'\r', piece) {
            out.extend_from_slice(&piece[from..at]);
            out.push(b'\n');
            self.is_open = at + 1 == piece.len();
            from = at + 1 + usize::from(piece.get(at + 1) == Some(&b'\n'));
        }
        out.extend_from_slice(&piece[from..]);
        self.last = out.last().copied().unwrap_or(self.last);
    }
}

/// Replaces the blanks between two cells by one tab, and removes those before
/// the first cell and behind the last.
#[derive(Clone, Copy, Default)]
struct Tabs {
    /// A cell stands before, on this line.
    has_cell: bool,
    /// Blanks stand before, and they end a cell if another follows.
    is_between: bool,
    is_quoted: bool,
    /// The byte before closed a quote.
    has_closed: bool,
}

impl Tabs {
    fn new() -> Self {
        Self { is_between: true, ..Self::default() }
    }

    fn push_byte(&mut self, byte: u8, out: &mut Vec<u8>) {
        let closed = std::mem::take(&mut self.has_closed);
        if self.is_quoted {
            self.is_quoted = byte != b'"';
            self.has_closed = byte == b'"';
            return out.push(byte);
        }
        match byte {
            b'\n' => *self = Self { is_between: true, ..Self::default() },
            b' ' | b'\t' | b'\r' => {
                self.is_between = true;
                return;
            }
            _ => {
                if self.is_between && self.has_cell {
                    out.push(b'\t');
                }
                // A quote opens a text only where a cell begins. Right after a
                // closing quote it stands for a quote, so the text goes on.
                self.is_quoted = byte == b'"' && (self.is_between || closed);
                (self.has_cell, self.is_between) = (true, false);
            }
        }
        out.push(byte);
    }
}

impl Step for Tabs {
    fn push(&mut self, piece: &[u8], out: &mut Vec<u8>) {
        piece.iter().for_each(|&byte| self.push_byte(byte, out));
    }
}

/// The error for two columns with equal names.
pub(crate) fn check_different(names: &[String]) -> std::result::Result<(), ErrorKind> {
    let mut sorted: Vec<&String> = names.iter().filter(|name| !name.is_empty()).collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(twice) => Err(ErrorKind::Table(format!("the column '{}' stands twice", twice[0]))),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Gives out what it has in pieces of these lengths.
    struct Pieces<'a>(&'a [u8], std::iter::Cycle<std::slice::Iter<'a, usize>>);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let most = *self.1.next().expect("endless");
            let n = most.min(buffer.len()).min(self.0.len());
            buffer[..n].copy_from_slice(&self.0[..n]);
            self.0 = &self.0[n..];
            Ok(n)
        }
    }

    proptest! {
        #[test]
        fn lines_end_by_one_byte(
            text in prop::collection::vec(prop::sample::select(&b"ab\r\n"[..]), 0..60),
            lengths in prop::collection::vec(1usize..9, 1..5),
        ) {
            let text_of = String::from_utf8(text.clone()).expect("ASCII");
            let mut expected = text_of.replace("\r\n", "\n").replace('\r', "\n");
            if !expected.is_empty() && !expected.ends_with('\n') {
                expected.push('\n');
            }
            let mut found = String::new();
            Changed::new(Pieces(&text, lengths.iter().cycle()), Lines::new(Rc::default())).read_to_string(&mut found).expect("it reads");
            prop_assert_eq!(found, expected);
        }
    }

    /// Of names in a comment, the line is that of the comment, and not of what follows it.
    #[test]
    fn names_know_their_line() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("table.csv");
        for (text, line) in [
            ("a,b\n1,2\n", 1),
            ("# made by hand\n\na,b\n1,2\n", 3),
            ("# a,b\n1,2\n", 1),
            ("# made by hand\n# a,b\n\n\n1,2\n", 2),
        ] {
            std::fs::write(&path, text).expect("it is written");
            let table = Rows::open(Input::open(&path).expect("it opens"), "a table").expect("it has names");
            assert_eq!((&table.names[..], table.header_line), (&["a".to_owned(), "b".to_owned()][..], line));
        }
    }

    #[test]
    fn records_know_the_line_where_they_begin() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("table.csv");
        for end in ["\n", "\r\n"] {
            for (rows, expected) in [
                (&["a,b", "1,2", "3,4"][..], &[2, 3][..]),
                (&["a,b", "", "", "1,2", "", "3,4", ""], &[4, 6]),
                (&["a,b", "# one", "\"1\nx\",2", "3,4"], &[3, 5]),
                (&["# first", "a,b", "1,2"], &[3]),
                // The quote has no end.
                (&["a,b", "1,2", "3,\"4"], &[2, 3]),
                (&["a,b", "", "1,\"2", "", "3,4"], &[3]),
            ] {
                for tail in ["", end] {
                    std::fs::write(&path, rows.join(end) + tail).expect("it is written");
                    let input = Input::open(&path).expect("it opens");
                    let mut table = Rows::open(input, "a table").expect("it has names");
                    let mut found = Vec::new();
                    while let Some((_, line)) = table.next().expect("rows") {
                        found.push(line);
                    }
                    assert_eq!(found, expected, "{rows:?} {end:?} {tail:?}");
                }
            }
        }
    }
}
