//! Text with a name over every column.

use super::marked::{Marked, marked};
use super::{Cells, Column, ColumnTable, LONGEST_TEXT, Names, TABLE};
use crate::bytes::{Input, Progress};
use crate::error::{Error, ErrorKind, Result, found, printable};
use crate::tables::dialect::{Dialect, is_missing};
use crate::tables::rows::Rows;
use crate::taken::Taken;

/// A column while it is read.
enum Growing {
    /// So many cells, all of them missing.
    Missing(usize),
    Numbers(Vec<f64>),
    /// Numbers with a unit behind each, and how they are written.
    Marked {
        numbers: Vec<f64>,
        texts: Vec<String>,
        unit: String,
    },
    Texts(Vec<String>),
    /// Texts, the first of which are numbers with a unit; and why the column is not one of numbers.
    Mixed(Vec<String>, String),
}

/// What is to be known of how the numbers of a column are written.
#[derive(Clone, Copy, Default)]
struct Seen {
    /// There are marks between thousands.
    is_grouped: bool,
    /// A whole number is too large to be exact.
    is_rounded: bool,
}

pub(super) fn read(
    path: &std::path::Path,
    input: Input,
    keys: &[String],
    progress: Option<Progress<'_>>,
) -> Result<(ColumnTable, Option<usize>)> {
    let mut rows = Rows::open(input, TABLE)?;
    let in_first = |kind| rows.wrong(rows.header_line, kind);
    let names = names(&rows.names, rows.dialect).map_err(in_first)?;
    let start = |is_key| if is_key { Growing::Texts(Vec::new()) } else { Growing::Missing(0) };
    let are_keys = names.are_keys(keys).map_err(in_first)?;
    let mut columns: Vec<Growing> = are_keys.iter().copied().map(start).collect();
    let Names { names, unnamed } = names;
    let (dialect, mut seen) = (rows.dialect, vec![Seen::default(); names.len()]);
    while let Some((record, line)) = rows.next()? {
        for (at, cell) in record.iter().enumerate() {
            let pushed = columns[at].push(cell.trim_ascii(), dialect, &mut seen[at]);
            pushed.map_err(|found| {
                let (name, what) = (names[at].clone(), "a number, as above it");
                let kind = ErrorKind::Cell { column: at + 1, name, what, found };
                Error::at(path, crate::error::Place::Line(line), kind)
            })?;
        }
        rows.report(progress);
    }
    let n_rows = rows.n_rows() as usize;
    if n_rows == 0 {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
    }
    let mut taken = Taken { notes: rows.notes(), ..Taken::default() };
    let with = |of: fn(&Seen) -> bool| {
        let some = names.iter().zip(&seen).filter(|(_, seen)| of(seen)).map(|(name, _)| name.as_str());
        Some(some.collect::<Vec<_>>().join(", ")).filter(|names| !names.is_empty())
    };
    if let Some(names) = with(|seen| seen.is_grouped) {
        let mark = if dialect.decimal_comma { "Points" } else { "Commas" };
        taken.notes.push(format!("{mark} between thousands are no part of the numbers in: {names}."));
    }
    if let Some(names) = with(|seen| seen.is_rounded) {
        taken.notes.push(format!(
            "Whole numbers beyond 2^53 (9.0e15) are known to 16 digits alone, and those that differ by less are equal \
             here: {names}."
        ));
    }
    let columns = names.into_iter().zip(columns).zip(are_keys).map(|((name, growing), is_key)| {
        let strange = if is_key { None } else { growing.strange_number(dialect) };
        taken.left_out.extend(strange.map(|why| (name.clone(), why)));
        let cells = growing.cells(&name, &mut taken);
        Column { name, cells }
    });
    let columns = columns.collect();
    Ok((ColumnTable { columns, n_rows, taken }, unnamed))
}

/// Numbers name columns only behind an empty cell, which stands over the names of the rows.
fn names(cells: &[String], dialect: Dialect) -> std::result::Result<Names, ErrorKind> {
    let mut names = Names::default();
    for cell in cells {
        names.push(cell.as_bytes())?;
        if names.unnamed != Some(0) && dialect.number(cell.as_bytes()).is_some() {
            let what = "the names of the columns".to_owned();
            return Err(ErrorKind::Expected { what, found: found(cell.as_bytes()) });
        }
    }
    Ok(names)
}

impl Growing {
    /// # Errors
    /// A cell in a column of numbers that is no number.
    fn push(&mut self, cell: &[u8], dialect: Dialect, seen: &mut Seen) -> std::result::Result<(), String> {
        let text = || printable(cell, LONGEST_TEXT);
        if is_missing(cell) {
            match self {
                Growing::Missing(n) => *n += 1,
                Growing::Numbers(numbers) => numbers.push(f64::NAN),
                Growing::Marked { numbers, texts, .. } => {
                    numbers.push(f64::NAN);
                    texts.push(text());
                }
                Growing::Texts(texts) | Growing::Mixed(texts, _) => texts.push(text()),
            }
            return Ok(());
        }
        if let Growing::Texts(texts) | Growing::Mixed(texts, _) = self {
            texts.push(text());
            return Ok(());
        }
        let found_here = match dialect.number(cell) {
            Some(value) => Some(Marked { value, is_grouped: false, unit: "" }),
            None => marked(cell, dialect),
        };
        if let Growing::Missing(n) = *self {
            *self = match &found_here {
                None => Growing::Texts(vec![String::new(); n]),
                Some(Marked { unit: "", .. }) => Growing::Numbers(vec![f64::NAN; n]),
                Some(Marked { unit, .. }) => Growing::Marked {
                    numbers: vec![f64::NAN; n],
                    texts: vec![String::new(); n],
                    unit: (*unit).to_owned(),
                },
            };
        }
        seen.is_grouped |= found_here.as_ref().is_some_and(|marked| marked.is_grouped);
        seen.is_rounded |= found_here.as_ref().is_some_and(|marked| is_rounded(cell, marked.value));
        match (self, found_here) {
            (Growing::Numbers(numbers), Some(Marked { unit: "", value, .. })) => numbers.push(value),
            (Growing::Numbers(_), _) => return Err(found(cell)),
            (Growing::Marked { numbers, texts, unit }, Some(here)) if *unit == here.unit => {
                numbers.push(here.value);
                texts.push(text());
            }
            (growing @ Growing::Marked { .. }, _) => growing.give_up(cell),
            (Growing::Texts(texts), _) => texts.push(text()),
            (Growing::Missing(_) | Growing::Mixed(..), _) => unreachable!("they are something else by now"),
        }
        Ok(())
    }

    /// From now on, numbers with a unit are texts: `cell` has another unit, or none.
    fn give_up(&mut self, cell: &[u8]) {
        let Growing::Marked { texts, unit, .. } = self else { return };
        let why = format!("of texts: not every number has the unit '{unit}', such as {}", found(cell));
        let mut texts = std::mem::take(texts);
        texts.push(printable(cell, LONGEST_TEXT));
        *self = Growing::Mixed(texts, why);
    }

    /// Why texts are not read as numbers, if they are numbers in a way that is not known here.
    fn strange_number(&self, dialect: Dialect) -> Option<String> {
        let Growing::Texts(texts) = self else { return None };
        let mut cells = texts.iter().filter(|text| !is_missing(text.as_bytes())).peekable();
        let first = *cells.peek()?;
        let is_known = |text: &str| dialect.number(text.as_bytes()).is_some();
        let is_number = |text: &String| is_known(text) || is_strange(text, dialect);
        (!is_known(first) && cells.all(is_number))
            .then(|| format!("of texts: {} is not read as a number", found(first.as_bytes())))
    }

    fn cells(self, name: &str, taken: &mut Taken) -> Cells {
        match self {
            Growing::Missing(n) => Cells::Numbers(vec![f64::NAN; n]),
            Growing::Numbers(numbers) => Cells::Numbers(numbers),
            Growing::Marked { numbers, unit, .. } => {
                taken.units.push((name.to_owned(), unit));
                Cells::Numbers(numbers)
            }
            Growing::Texts(texts) => Cells::Texts(texts),
            Growing::Mixed(texts, why) => {
                taken.leave_out(name, why);
                Cells::Texts(texts)
            }
        }
    }
}

/// Whether a text is a number in a way that is not known here: hexadecimal, with blanks or the
/// like between thousands, with the exponent of Fortran (`1.5D+03`), or with the decimal mark
/// that the other columns do not have (`0,5` beside `0.5`).
fn is_strange(text: &str, dialect: Dialect) -> bool {
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let hex = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
    if hex.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_hexdigit())) {
        return true;
    }
    let joined: String = text.chars().filter(|c| !c.is_whitespace() && !['\'', '_'].contains(c)).collect();
    let is_number = |text: &str| dialect.number(text.as_bytes()).is_some();
    let unsigned = |text: &str| text.strip_prefix(['+', '-']).unwrap_or(text).to_owned();
    if let Some((mantissa, exponent)) = joined.split_once(['d', 'D'])
        && is_digits(&unsigned(exponent))
    {
        return is_number(mantissa);
    }
    let [point, mark] = if dialect.decimal_comma { ['.', ','] } else { [',', '.'] };
    let plain = unsigned(&joined);
    let (whole, fraction) = match plain.rsplit_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (plain.as_str(), None),
    };
    let groups: Vec<&str> = whole.split(mark).collect();
    let are_thousands = groups[1..].iter().all(|group| group.len() == 3 && is_digits(group));
    let fraction = fraction.map(|text| text.split_once(['e', 'E']).unwrap_or((text, "0")));
    let is_fraction = |(digits, exponent): (&str, &str)| is_digits(digits) && is_digits(&unsigned(exponent));
    is_number(&joined) || is_digits(groups[0]) && are_thousands && fraction.is_none_or(is_fraction)
}

/// Whether a whole number has so many digits that a double is another one.
fn is_rounded(cell: &[u8], value: f64) -> bool {
    // 2^53 has 16 digits.
    let digits = cell.strip_prefix(b"-").unwrap_or(cell);
    let whole = digits.len() > 15 && digits.iter().all(u8::is_ascii_digit);
    let exact = whole.then(|| std::str::from_utf8(cell).ok()?.parse::<i128>().ok()).flatten();
    exact.is_some_and(|exact| value as i128 != exact)
}
