//! How a table is written as text: what separates its cells, which lines
//! before it are comments, and whether a comma is a decimal point.

use std::borrow::Cow;
use std::ops::Range;

use crate::bytes::{Input, lines};
use crate::error::{Error, ErrorKind, Result, printable};

/// The dialect is guessed from this many bytes at the begin of a file. They are
/// held in memory, because a pipe can be read only once.
pub(crate) const HEAD: usize = 1 << 16;
/// At most this many of their lines are looked at.
const SAMPLE: usize = 200;
/// Characters of a name that are kept.
const LONGEST_NAME: usize = 200;

/// What stands between two cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Separator {
    Byte(u8),
    /// One blank or tab or more.
    Blanks,
}

/// How the lines of a table are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Dialect {
    pub(crate) separator: Separator,
    /// `1,5` is 1.5.
    pub(crate) decimal_comma: bool,
}

/// What the first lines of a table tell.
pub(crate) struct Head {
    pub(crate) dialect: Dialect,
    /// Lines before the table: comments and empty lines.
    pub(crate) n_before: u64,
    /// How many of them are comments.
    pub(crate) n_comments: u64,
    /// The bytes of those lines.
    before: usize,
    /// The names of the columns, where the last comment holds them.
    comment: Option<Vec<u8>>,
    /// The line of that comment.
    pub(crate) comment_line: u64,
    /// The first lines of the table that hold anything.
    first: Vec<Vec<u8>>,
    /// Whether the first line has one name less than the others have cells:
    /// R and pandas write no name over the names of rows.
    is_short: bool,
}

/// Cells that stand for a missing value: those that pandas takes for one.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    const WORDS: [&[u8]; 6] = [b"nan", b"-nan", b"na", b"n/a", b"null", b"none"];
    const MARKS: [&[u8]; 5] = [b"<NA>", b"#N/A", b"#NA", b"#N/A N/A", b"1.#QNAN"];
    cell.is_empty() || WORDS.iter().any(|word| cell.eq_ignore_ascii_case(word)) || MARKS.contains(&cell)
}

/// A cell without the quotes around it; two quotes inside mean one.
pub(crate) fn unquoted(cell: &[u8]) -> Cow<'_, [u8]> {
    match cell.strip_prefix(b"\"").and_then(|cell| cell.strip_suffix(b"\"")) {
        None => Cow::Borrowed(cell),
        Some(inner) if memchr::memchr(b'"', inner).is_none() => Cow::Borrowed(inner),
        Some(inner) => {
            let mut out = Vec::with_capacity(inner.len());
            let mut rest = inner;
            while let Some(at) = memchr::memchr(b'"', rest) {
                out.extend_from_slice(&rest[..=at]);
                rest = rest[at + 1..].strip_prefix(b"\"").unwrap_or(&rest[at + 1..]);
            }
            out.extend_from_slice(rest);
            Cow::Owned(out)
        }
    }
}

pub(crate) fn name_of(cell: &[u8]) -> String {
    printable(unquoted(cell).trim_ascii(), LONGEST_NAME)
}

impl Dialect {
    /// The cells of a line as they are, without the blanks around them.
    pub(crate) fn cells(self, line: &[u8]) -> impl Iterator<Item = &[u8]> {
        let line = line.trim_ascii_end();
        let line = if self.separator == Separator::Blanks { line.trim_ascii_start() } else { line };
        // A quote without a partner is an ordinary letter.
        let n_quotes = memchr::memchr_iter(b'"', line).count();
        let has_quotes = n_quotes > 0 && n_quotes.is_multiple_of(2);
        let separator = self.separator;
        let mut rest = Some(line);
        std::iter::from_fn(move || {
            let line = rest?;
            let end = if has_quotes { quoted_end(line, separator) } else { plain_end(line, separator) };
            let Some(end) = end else {
                rest = None;
                return Some(line.trim_ascii());
            };
            let mut next = &line[end + 1..];
            if separator == Separator::Blanks {
                next = next.trim_ascii_start();
            }
            rest = Some(next);
            Some(line[..end].trim_ascii())
        })
    }

    /// A number, also infinite or NaN, in quotes or not.
    #[inline]
    pub(crate) fn number(self, cell: &[u8]) -> Option<f64> {
        // Where commas are decimal, a point stands between thousands: it must
        // not be read as a decimal point.
        if let Ok(number) = fast_float2::parse(cell)
            && !(self.decimal_comma && memchr::memchr(b'.', cell).is_some())
        {
            return Some(number);
        }
        let cell = match cell.first()? {
            b'"' => cell.strip_prefix(b"\"")?.strip_suffix(b"\"")?.trim_ascii(),
            _ if self.decimal_comma => cell,
            _ => return None,
        };
        if !self.decimal_comma {
            return fast_float2::parse(cell).ok();
        }
        if memchr::memchr(b'.', cell).is_some() {
            return None;
        }
        let mut point = cell.to_vec();
        if let Some(at) = memchr::memchr(b',', cell) {
            point[at] = b'.';
        }
        fast_float2::parse(&point).ok()
    }

    /// A time: a whole number, and a fraction of 1.
    pub(crate) fn time(self, cell: &[u8]) -> Option<(u64, f64)> {
        // Of many digits, a number in floating point would lose the last ones.
        let point = if self.decimal_comma { b',' } else { b'.' };
        let digits = |text: &[u8]| !text.is_empty() && text.iter().all(u8::is_ascii_digit);
        if let Some(at) = memchr::memchr(point, cell)
            && digits(&cell[..at])
            && digits(&cell[at + 1..])
        {
            let whole = std::str::from_utf8(&cell[..at]).ok()?.parse().ok()?;
            let fraction = [b"0.", &cell[at + 1..]].concat();
            return Some((whole, fast_float2::parse(fraction).ok()?));
        }
        if let Some(whole) = whole_number(cell) {
            return Some((whole, 0.0));
        }
        // 2^64 is 1.84e19: a larger number would not fit.
        let value = self.number(cell).filter(|value| (0.0..1.8e19).contains(value))?;
        Some((value as u64, value.fract()))
    }

    /// The names in a line, unquoted.
    pub(crate) fn names(self, line: &[u8]) -> Vec<String> {
        self.cells(line).map(name_of).collect()
    }

    /// The dialect in words, if it is not the usual one.
    pub(crate) fn note(self) -> Option<String> {
        let note = "Commas in numbers are decimal points (1,5 is 1.5).";
        self.decimal_comma.then(|| note.to_owned())
    }
}

fn plain_end(line: &[u8], separator: Separator) -> Option<usize> {
    match separator {
        Separator::Byte(byte) => memchr::memchr(byte, line),
        Separator::Blanks => line.iter().position(u8::is_ascii_whitespace),
    }
}

fn quoted_end(line: &[u8], separator: Separator) -> Option<usize> {
    let mut inside = false;
    line.iter().position(|&byte| {
        inside ^= byte == b'"';
        !inside
            && match separator {
                Separator::Byte(separator) => byte == separator,
                Separator::Blanks => byte.is_ascii_whitespace(),
            }
    })
}

impl Head {
    /// Looks at the first lines, and takes off those before the table.
    ///
    /// # Errors
    /// The lines cannot be read, or a comma in a number may have two meanings.
    pub(crate) fn take(input: &mut Input) -> Result<Self> {
        input.skip_mark()?;
        let path = input.path().to_owned();
        let bytes = input.peek(HEAD)?;
        let head = Self::of(bytes).map_err(|kind| Error::whole(&path, kind))?;
        input.advance(head.before);
        Ok(head)
    }

    /// What the first bytes of a table tell; a byte order mark is skipped.
    pub(crate) fn of(bytes: &[u8]) -> std::result::Result<Self, ErrorKind> {
        let marked = bytes.strip_prefix(crate::bytes::BYTE_ORDER_MARK);
        let mark = bytes.len() - marked.unwrap_or(bytes).len();
        let is_cut = bytes.len() >= HEAD;
        let bytes = &bytes[mark..bytes.len().min(HEAD)];
        // The last line may go on behind the head, so its cells cannot be counted.
        let whole =
            if is_cut { memchr::memrchr(b'\n', bytes).map_or(bytes.len(), |at| at + 1) } else { bytes.len() };
        let (mut n_before, mut n_comments, mut before, mut comment) = (0, 0, 0, None);
        let mut comment_line = 0;
        let mut first: Vec<&[u8]> = Vec::new();
        for line in lines(&bytes[..whole]) {
            let text = line.trim_ascii();
            let is_comment = text.starts_with(b"#");
            if first.is_empty() && (text.is_empty() || is_comment) {
                n_before += 1;
                n_comments += u64::from(is_comment);
                before += line.len() + 1;
                if is_comment {
                    (comment, comment_line) = (Some(text[1..].trim_ascii()), n_before);
                }
            } else if !text.is_empty() && !is_comment {
                first.push(line);
                if first.len() == SAMPLE {
                    break;
                }
            }
        }
        // One too many, if the last of these lines has no line end.
        let before = before.min(bytes.len());
        if first.is_empty() {
            // There are only comments: the last one may be a header.
            first.extend(comment);
        }
        let (separator, is_short) = separator_of(&first);
        let dialect = Dialect { separator, decimal_comma: false };
        let dialect = Dialect { decimal_comma: has_decimal_commas(&first, dialect)?, ..dialect };
        let is_names =
            |comment: &&[u8]| names_cells(comment, first.first().copied().unwrap_or_default(), dialect);
        let comment = comment.filter(is_names).map(<[u8]>::to_vec);
        let n_comments = n_comments - u64::from(comment.is_some());
        let first = first.into_iter().map(<[u8]>::to_vec).collect();
        Ok(Self {
            dialect,
            n_before,
            n_comments,
            before: mark + before,
            comment,
            comment_line,
            first,
            is_short,
        })
    }

    /// The names of the columns, if the first line (or the comment above it)
    /// holds names.
    pub(crate) fn names(&self) -> Vec<String> {
        let line = self.comment.as_deref().or(self.first.first().map(Vec::as_slice)).unwrap_or_default();
        let mut names = self.dialect.names(line);
        if self.is_short {
            names.insert(0, String::new());
        }
        names
    }

    /// The line of names that stands in a comment.
    pub(crate) fn comment(&self) -> Option<&[u8]> {
        self.comment.as_deref()
    }

    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// Whether the first line of a table of numbers names the columns.
    ///
    /// A line without a number does, unless its cells are numbers with
    /// something behind them. A line with names and numbers does only if the
    /// numbers count: 0, 1, 2, … or 1, 2, 3, … behind a first cell that is no
    /// number; behind a rank's name they need only ascend.
    pub(crate) fn has_names(&self) -> bool {
        if self.comment.is_some() {
            return true;
        }
        let Some((first, rest)) = self.first.split_first() else { return false };
        let cells: Vec<&[u8]> = self.dialect.cells(first).collect();
        let is_quoted = |line: &[u8]| memchr::memchr(b'"', line).is_some();
        // Numbers in quotes are names if no other numbers are in quotes.
        let quoted_names = cells.iter().all(|cell| cell.starts_with(b"\""))
            && !rest.first().is_some_and(|line| is_quoted(line));
        if quoted_names && !rest.is_empty() {
            return true;
        }
        let numbers: Vec<Option<f64>> = cells.iter().map(|cell| self.dialect.number(cell)).collect();
        let Some(start) = numbers.iter().position(Option::is_some) else {
            let texts: Vec<Cow<'_, [u8]>> = cells.iter().map(|cell| unquoted(cell)).collect();
            return texts.iter().any(|text| !is_missing(text) && !starts_as_number(text));
        };
        let counted: Vec<f64> = numbers[start..].iter().copied().flatten().collect();
        let is_run = counted.len() == numbers.len() - start
            && counted.windows(2).all(|pair| pair[1] == pair[0] + 1.0)
            && counted.iter().all(|x| x.fract() == 0.0);
        let ascend =
            counted.len() == numbers.len() - start && counted.windows(2).all(|pair| pair[1] > pair[0]);
        let before = &cells[..start];
        let name = before.last().map(|cell| name_of(cell)).unwrap_or_default();
        match before {
            [] => false,
            [cell] if cell.is_empty() || name.is_empty() => is_run && self.starts_with_index(),
            _ if before
                .iter()
                .any(|cell| starts_as_number(&unquoted(cell)) || is_missing(&unquoted(cell))) =>
            {
                false
            }
            // Nothing but names stands behind a rank's name: steps, or their times.
            [_] if is_rank_name(&name) => ascend,
            _ => is_run && (counted[0] == 0.0 || counted[0] == 1.0 || is_rank_name(&name)),
        }
    }

    /// Whether the lines below the first begin with different whole numbers.
    fn starts_with_index(&self) -> bool {
        let first =
            |line: &Vec<u8>| self.dialect.cells(line).next().and_then(|cell| self.dialect.number(cell));
        let numbers: Option<Vec<f64>> = self.first[1..].iter().map(first).collect();
        numbers.is_some_and(|numbers| !numbers.is_empty() && crate::taken::are_different_wholes(&numbers))
    }
}

/// Names of a column that says which rank a row is of, in small letters.
pub(crate) const RANK_NAMES: [&str; 9] =
    ["rank", "mpi_rank", "rank_id", "process", "process_id", "proc", "processor", "pe", "task"];

/// Whether a column of that name says which rank a row is of.
pub(crate) fn is_rank_name(name: &str) -> bool {
    RANK_NAMES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Whether a text is a number with something short behind it, such as a unit:
/// `12.5x`, `3.3%`, `5 ms`. Such a cell is a mistake, not a name.
fn starts_as_number(text: &[u8]) -> bool {
    let Ok((_, n)) = fast_float2::parse_partial::<f64, _>(text) else { return false };
    let is_digit = text.iter().take(n).any(u8::is_ascii_digit);
    is_digit && text[n..].trim_ascii().len() <= 3
}

/// Whether a comment holds names, one for each cell of the line below it.
fn names_cells(comment: &[u8], line: &[u8], dialect: Dialect) -> bool {
    let of_numbers = dialect.cells(line).all(|cell| is_missing(cell) || dialect.number(cell).is_some());
    let names: Vec<&[u8]> = dialect.cells(comment).collect();
    let is_name = |cell: &&[u8]| !cell.is_empty() && dialect.number(cell).is_none();
    of_numbers && names.len() == dialect.cells(line).count() && names.iter().all(is_name)
}

/// The separator, and whether the first line has a cell less than the others.
fn separator_of(first: &[&[u8]]) -> (Separator, bool) {
    let usual = Separator::Byte(b',');
    let Some(line) = first.first() else { return (usual, false) };
    // A quote that goes on in the next line hides separators, so such lines
    // tell nothing.
    let even = |line: &&[u8]| memchr::memchr_iter(b'"', line).count().is_multiple_of(2);
    let sample: Vec<&[u8]> = first.iter().copied().filter(even).collect();
    let of = |separator| Dialect { separator, decimal_comma: false };
    let counts =
        |separator| -> Vec<usize> { sample.iter().map(|line| of(separator).cells(line).count()).collect() };
    // A comma may be a decimal point, and a blank may stand in a name. So these
    // two come last, but for a bar: it may stand between columns of blanks.
    let bytes = [b'\t', b';', b','].map(Separator::Byte);
    let bars = has_bars(&sample).then_some(BAR);
    for separator in bytes.into_iter().chain(bars).chain([Separator::Blanks]) {
        let counts = counts(separator);
        let Some((&named, rows)) = counts.split_first() else { break };
        if named > 1 && rows.iter().all(|&n| n == named) {
            return (separator, false);
        }
        let is_one_short = named > 1 && rows.len() > 1 && rows.iter().all(|&n| n == named + 1);
        if is_one_short && begin_with_names(&sample, of(separator)) {
            return (separator, true);
        }
    }
    // Rows have different lengths. Take a separator that the first line has, so
    // that the error can name the row.
    let has = |separator: &Separator| of(*separator).cells(line).nth(1).is_some();
    let bytes = [b',', b';', b'\t'].map(Separator::Byte);
    if let Some(byte) = bytes.into_iter().chain(bars).find(has) {
        return (byte, false);
    }
    let blanks = of(Separator::Blanks);
    let is_of_numbers = blanks.cells(line).any(|cell| blanks.number(cell).is_some());
    let below = first.get(1).is_some_and(|line| blanks.cells(line).nth(1).is_some());
    if has(&Separator::Blanks) && (is_of_numbers || below) {
        (Separator::Blanks, false)
    } else {
        (usual, false)
    }
}

const BAR: Separator = Separator::Byte(b'|');

/// Whether bars can be separators: below the first line, no cell between them holds a blank.
fn has_bars(sample: &[&[u8]]) -> bool {
    let of_bars = Dialect { separator: BAR, decimal_comma: false };
    let is_word = |cell: &[u8]| cell.starts_with(b"\"") || !cell.iter().any(u8::is_ascii_whitespace);
    sample.iter().skip(1).all(|line| of_bars.cells(line).all(is_word))
}

/// Whether the first line holds names, and each line below begins with a text
/// in quotes or counts the lines from 0 or 1, as data frames are written.
fn begin_with_names(sample: &[&[u8]], dialect: Dialect) -> bool {
    let cell = |line: &&[u8]| dialect.cells(line).next().map(<[u8]>::to_vec).unwrap_or_default();
    let begins: Vec<Vec<u8>> = sample[1..].iter().map(cell).collect();
    let counts =
        |from: usize| (from..).zip(&begins).all(|(n, cell)| *unquoted(cell) == *n.to_string().as_bytes());
    let are_texts = begins.iter().all(|cell| cell.starts_with(b"\""));
    let are_names = dialect.cells(sample[0]).all(|cell| !cell.is_empty() && dialect.number(cell).is_none());
    // With commas, a missing name is more likely damage than a data frame,
    // unless the rows begin with texts in quotes.
    let may_count = dialect.separator == Separator::Blanks;
    are_names && (are_texts || may_count && (counts(0) || counts(1)))
}

/// Whether commas in numbers are decimal points.
///
/// # Errors
/// The commas could also stand between thousands.
fn has_decimal_commas(first: &[&[u8]], dialect: Dialect) -> std::result::Result<bool, ErrorKind> {
    if dialect.separator == Separator::Byte(b',') {
        return Ok(false);
    }
    let (mut sure, mut maybe) = (false, None);
    for cell in first.iter().flat_map(|line| dialect.cells(line)) {
        let cell = unquoted(cell);
        if memchr::memchr(b'.', &cell).is_some() && fast_float2::parse::<f64, _>(&cell).is_ok() {
            return Ok(false);
        }
        let Some(parts) = comma(&cell) else { continue };
        let (whole, rest) = (&cell[parts.start..parts.end], &cell[parts.end + 1..]);
        let whole = whole.strip_prefix(b"-").or(whole.strip_prefix(b"+")).unwrap_or(whole);
        // 1,234 may be either. 0,234 and 12,5 cannot have thousands.
        let is_group = rest.len() == 3 && (1..=3).contains(&whole.len()) && whole[0] != b'0';
        match is_group {
            true => maybe = maybe.or_else(|| Some(printable(&cell, 40))),
            false => sure = true,
        }
    }
    match maybe {
        // Semicolons are used where the comma is the decimal point.
        Some(cell) if !sure && dialect.separator != Separator::Byte(b';') => Err(ErrorKind::Table(format!(
            "nobody can tell whether {cell} is {} or {}; write numbers with a point, or without commas",
            cell.replace(',', "."),
            cell.replace(',', "")
        ))),
        maybe => Ok(sure || maybe.is_some()),
    }
}

/// What stands before the comma of a number with one comma and no point.
fn comma(cell: &[u8]) -> Option<Range<usize>> {
    let at = memchr::memchr(b',', cell)?;
    let mut point = cell.to_vec();
    point[at] = b'.';
    let digit = |at: usize| cell.get(at).is_some_and(u8::is_ascii_digit);
    let is_number = fast_float2::parse::<f64, _>(&point).is_ok();
    (is_number && at > 0 && digit(at - 1) && digit(at + 1)).then_some(0..at)
}

/// A whole number, also written as `12.0` or `1.2e1`.
pub(crate) fn whole_number(cell: &[u8]) -> Option<u64> {
    let text = std::str::from_utf8(cell).ok()?;
    text.parse().ok().or_else(|| {
        let value: f64 = fast_float2::parse(cell).ok()?;
        // 2^64 is 1.84e19: a larger number would not fit.
        ((0.0..1.8e19).contains(&value) && value.fract() == 0.0).then_some(value as u64)
    })
}
