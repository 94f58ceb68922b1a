//! A row for each rank, a column for each step.

use std::collections::HashMap;
use std::path::Path;

use likewise::ranks::EffortCell;

use super::long::Cells;
use super::parts::{EffortOptions, Efforts, Share};
use crate::bytes::{BLOCK, Input, Piece};
use crate::error::{Error, ErrorKind, Result};
use crate::tables::dialect::is_rank_name;
use crate::tables::points;
use crate::taken::{Taken, count_rows};

pub(super) fn read(
    path: &Path,
    input: Input,
    options: &EffortOptions<'_>,
    piece: Piece,
    has_names: bool,
) -> Result<Option<Share>> {
    let table = points::text(path, input, options.progress, BLOCK, piece).map_err(of_text)?;
    let Some(table) = table else { return Ok(None) };
    let (mut names, mut taken) = (table.names().to_vec(), table.taken().clone());
    let mut numbers = table.into_numbers();
    if !has_names && names.len() > 1 {
        let first: Vec<f64> = numbers.iter().step_by(names.len()).copied().collect();
        // That it counts shows in all rows.
        if !piece.is_whole() && first.windows(2).all(|pair| pair[1] == pair[0] + 1.0) {
            return Ok(None);
        }
        let first_line = &numbers[..names.len().min(numbers.len())];
        if let Some(note) = note_on_first_line(first_line) {
            // Other processes do not see that line.
            if !piece.is_whole() {
                return Ok(None);
            }
            taken.notes.push(note);
        }
        if first.len() >= LEAST_COUNTED && count_rows(&first) {
            taken.notes.push(note_on_index(first[0] as usize, first.len()));
            taken.first_rank = first[0] as u64;
            let width = names.len();
            names.remove(0);
            let without = |row: &[f64]| row[1..].to_vec();
            numbers = numbers.chunks_exact(width).flat_map(without).collect();
        }
    }
    of_rows(path, numbers, &names, taken, options).map(Some)
}

/// Says what to do about a column that is no step.
fn of_text(mut error: Error) -> Error {
    if let ErrorKind::Cell { what, found, .. } = &mut *error.kind
        && let text = found.trim_matches('\'')
        && text.starts_with(|c: char| c.is_alphabetic())
        && text.parse::<f64>().is_err()
    {
        *what = "a finite number, for each column but the rank is a step (leave out columns of texts)";
    }
    error
}

/// The efforts of one step may be 0, 1, 2 by chance, but hardly of so many ranks.
const LEAST_COUNTED: usize = 4;

/// Of a first column without a name that counts from 0 or 1.
fn note_on_index(from: usize, n_rows: usize) -> String {
    let last = from + n_rows - 1;
    let here = if from == 0 { String::new() } else { format!(", which is 0 to {} here", n_rows - 1) };
    format!(
        "The first column has no name and counts the rows from {from} to {last}: it is taken as the rank{here}."
    )
}

/// Of a first line of numbers at even distances, such as 0, 10, 20, 30: these may be efforts,
/// and the names of steps as well.
fn note_on_first_line(first: &[f64]) -> Option<String> {
    let [a, b, .., last] = *first else { return None };
    let apart = b - a;
    let is_even = |pair: &[f64]| (pair[1] - pair[0] - apart).abs() <= 1e-6 * apart;
    (first.len() >= LEAST_COUNTED && apart > 0.0 && first.windows(2).all(is_even)).then(|| {
        format!(
            "The first line, {a}, {b}, …, {last}, is taken as the efforts of rank 0. If these are names of steps, begin \
             each with a letter (t{a})."
        )
    })
}

/// # Errors
/// Most columns are named after ranks: a row is then no rank.
pub(super) fn check_columns(names: &[String]) -> std::result::Result<(), ErrorKind> {
    let named: Vec<&String> = names.iter().filter(|name| is_of_rank(name)).collect();
    if 2 * named.len() <= names.len() || names.iter().any(|name| is_rank_name(name)) {
        return Ok(());
    }
    Err(ErrorKind::Table(format!(
        "its columns are named after ranks ('{}'), so its rows are steps; expected a row for each rank and a column for \
         each step: transpose the table. If each row is a rank, say so by a column 'rank'",
        named[0]
    )))
}

/// Whether a name is a word for a rank, or for where one runs, and a number: `rank0`,
/// `mpi_rank_3`, `PE 7`, `node2`.
fn is_of_rank(name: &str) -> bool {
    let word = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_word = |word: &str| is_rank_name(word) || word.eq_ignore_ascii_case("node");
    word.len() < name.len() && is_word(word.trim_end_matches([' ', '_', '-', '.', '#']))
}

/// What these rows of numbers hold. One of `names` may say which rank a row is of.
pub(super) fn of_rows(
    path: &Path,
    numbers: Vec<f64>,
    names: &[String],
    mut taken: Taken,
    options: &EffortOptions<'_>,
) -> Result<Share> {
    let (width, rank) = (names.len(), names.iter().position(|name| is_rank_name(name)));
    let steps: Vec<&str> =
        names.iter().enumerate().filter(|(at, _)| Some(*at) != rank).map(|(_, name)| name.as_str()).collect();
    let (left_out, first_rank) = (taken.left_out, taken.first_rank);
    taken = Taken { left_out, first_rank, notes: taken.notes, ..Taken::new(steps.iter().copied()) };
    taken.notes.extend(note_on_steps(&steps));
    let Some(column) = rank else {
        return Ok(Share { efforts: Efforts::Rows { n_steps: width, values: numbers }, taken });
    };
    taken.names.push(names[column].clone());
    if width == 1 {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("steps")));
    }
    let mut cells = Cells::default();
    let region = cells.region(&options.region.name);
    let mut row_of: HashMap<u64, usize> = HashMap::new();
    for (i, row) in numbers.chunks_exact(width).enumerate() {
        let value = row[column];
        // From 2^53 on, an f64 cannot hold every whole number.
        if value < 0.0 || value.fract() != 0.0 || value >= 2f64.powi(53) {
            let problem = format!("row {} (from 1): the rank is {value}; expected a whole number", i + 1);
            return Err(Error::whole(path, ErrorKind::Table(problem)));
        }
        if let Some(before) = row_of.insert(value as u64, i) {
            let problem = format!(
                "rows {} and {} (from 1) are both of rank {value}, and a row is all of a rank; if each is a step of it, \
                 there must be a column 'step': rank,step,effort",
                before + 1,
                i + 1
            );
            return Err(Error::whole(path, ErrorKind::Table(problem)));
        }
        let steps = row.iter().enumerate().filter(|(j, _)| *j != column).map(|(_, x)| *x);
        for (step, effort) in (0..).zip(steps) {
            cells.push(EffortCell { rank: value as u64, step, region, effort });
        }
    }
    Ok(Share { efforts: Efforts::Cells(cells), taken })
}

/// A note for tables in which the names of columns do not count steps.
fn note_on_steps(names: &[&str]) -> Option<String> {
    let digits = |name: &&str| name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let prefix = names.first().map(|name| &name[..digits(name)])?;
    let number = |name: &&str| name.strip_prefix(prefix).and_then(|rest| rest.parse::<u64>().ok());
    let numbers: Option<Vec<u64>> = names.iter().map(number).collect();
    if let Some(numbers) = numbers.filter(|numbers| numbers.windows(2).all(|pair| pair[0] < pair[1])) {
        let is_counted = (0..).zip(&numbers).all(|(step, number)| *number == step);
        // The names that columns without any are given.
        let is_given = prefix == "x"
            && [1, 2].iter().any(|from| (*from..).zip(&numbers).all(|(step, number)| *number == step));
        let last = names.len() - 1;
        return (!is_counted && !is_given && last > 0).then(|| {
            format!(
                "Steps are numbered from 0: column {} is step 0 here, and {}, the last, step {last}.",
                names[0], names[last]
            )
        });
    }
    let odd = odd_names(names);
    if !odd.is_empty() {
        let shown = odd.iter().take(4).copied().collect::<Vec<_>>().join(", ");
        let more = if odd.len() > 4 { ", …" } else { "" };
        return Some(format!(
            "Each column is taken as a step, also those that are named otherwise than most: {shown}{more}. If one is no \
             step, such as a sum, leave it out."
        ));
    }
    let shown = names.iter().take(4).copied().collect::<Vec<_>>().join(", ");
    let more = if names.len() > 4 { ", …" } else { "" };
    Some(format!(
        "Each row is taken as a rank and each column as a step ({shown}{more}). If it is otherwise, name the columns \
         rank,step,region,effort."
    ))
}

/// The names that are unlike most others, which are one word and a number.
fn odd_names<'n>(names: &[&'n str]) -> Vec<&'n str> {
    let word = |name: &'n str| name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_numbered = |name: &&'n str| word(name).len() < name.len();
    let mut words: Vec<&str> = names.iter().copied().filter(|name| is_numbered(name)).map(word).collect();
    words.sort_unstable();
    let most = words.chunk_by(|a, b| a == b).max_by_key(|same| same.len());
    let Some(most) = most.filter(|same| 2 * same.len() > names.len()).map(|same| same[0]) else {
        return Vec::new();
    };
    let is_odd = |name: &&'n str| !(is_numbered(name) && word(name) == most);
    names.iter().copied().filter(is_odd).collect()
}
