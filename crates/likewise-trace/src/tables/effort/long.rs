//! A row for each number: `rank,step,region,effort`.

use std::collections::BTreeMap;
use std::path::Path;

use csv::ByteRecord;
use likewise::comm::{CommError, Communicator};
use likewise::ranks::{EffortCell, EffortPart, EffortRegion, EffortTable};

use super::parts::{EffortOptions, Efforts, Share, table_error};
use crate::bytes::{Input, Piece};
use crate::error::{Error, ErrorKind, Place, Result, found, printable};
use crate::tables::dialect::whole_number;
use crate::tables::dialect::{Dialect, RANK_NAMES};
use crate::tables::rows::Rows;
use crate::taken::{Taken, is_unnamed, name_or_place};

/// The columns of a long table, for errors.
const HINT: &str = "rank,step,region,effort (or process, iteration, function, time)";
/// Runs of steps that a note shows.
const MOST_RUNS: usize = 4;
/// Names for a step, in small letters.
const STEP: [&str; 6] = ["step", "iteration", "iter", "timestep", "time_step", "cycle"];
/// Names for a region.
const REGION: [&str; 6] = ["region", "function", "phase", "routine", "section", "kernel"];
/// Names for an effort; a unit may follow.
const EFFORT: [&str; 6] = ["effort", "time", "duration", "seconds", "work", "value"];
/// Units that may follow a name.
const UNITS: [&str; 9] = ["_s", "_ms", "_us", "_ns", "_seconds", "(s)", "(ms)", "(us)", "(ns)"];

/// The columns with one of these names.
fn places(names: &[String], known: &[&str], with_unit: bool) -> Vec<usize> {
    let small: Vec<String> = names.iter().map(|name| name.to_ascii_lowercase()).collect();
    // The documented name goes before its other names.
    if let Some(at) = small.iter().position(|name| name == known[0]) {
        let twice = (at + 1..small.len()).filter(|&other| small[other] == known[0]);
        return std::iter::once(at).chain(twice).collect();
    }
    let of_name = |name: &str| {
        let unit = UNITS.iter().find_map(|unit| name.strip_suffix(unit)).filter(|_| with_unit);
        known.contains(&name) || unit.is_some_and(|name| known.contains(&name.trim_end()))
    };
    (0..small.len()).filter(|&at| of_name(&small[at])).collect()
}

/// Whether these are the names of a long table.
pub(super) fn is_header(names: &[String]) -> bool {
    let has = |known: &[&str], with_unit| !places(names, known, with_unit).is_empty();
    has(&STEP, false) && (has(&RANK_NAMES, false) || has(&EFFORT, true))
}

/// # Errors
/// Names that are no long table's, and say that neither is it a row for each rank.
pub(super) fn check_wide(names: &[String]) -> std::result::Result<(), ErrorKind> {
    if is_header(names) {
        return Ok(());
    }
    let first = |known: &[&str], with_unit| places(names, known, with_unit).first().map(|&at| &names[at]);
    if let Some(step) = first(&STEP, false).filter(|_| names.len() > 1) {
        return Err(ErrorKind::Table(format!(
            "it has a column '{step}' and none for the rank, so its rows are steps; expected a row for each rank and \
             a column for each step (transpose the table), or columns rank,step,region,effort"
        )));
    }
    let all = [first(&RANK_NAMES, false), first(&REGION, false), first(&EFFORT, true)];
    if let [Some(rank), Some(region), Some(effort)] = all {
        return Err(ErrorKind::Table(format!(
            "it has columns '{rank}', '{region}' and '{effort}' and none for the step; give it a column 'step', of \
             zeros if there is one step"
        )));
    }
    Ok(())
}

/// Regions by name, and the cells that name them in the order of reading.
#[derive(Default)]
pub(super) struct Cells {
    names: BTreeMap<String, usize>,
    cells: Vec<EffortCell>,
}

impl Cells {
    /// The number of a region's name.
    pub(super) fn region(&mut self, name: &str) -> usize {
        if let Some(&number) = self.names.get(name) {
            return number;
        }
        let number = self.names.len();
        self.names.insert(name.to_owned(), number);
        number
    }

    pub(super) fn push(&mut self, cell: EffortCell) {
        self.cells.push(cell);
    }

    /// If ranks count from 1 and none is missing, they count from 0 from now
    /// on. Returns a note about that.
    pub(super) fn count_from_0(&mut self) -> Option<String> {
        if self.cells.iter().map(|cell| cell.rank).min() != Some(1) {
            return None;
        }
        let mut keys: Vec<(u64, u64, usize)> =
            self.cells.iter().map(|cell| (cell.rank, cell.step, cell.region)).collect();
        keys.sort_unstable();
        // Any other gap is an error that is found with the numbers of the file.
        let is_twice = keys.windows(2).any(|pair| pair[0] == pair[1]);
        let n_ranks = keys.chunk_by(|a, b| a.0 == b.0).count() as u64;
        let last = keys.last()?.0;
        if is_twice || last != n_ranks {
            return None;
        }
        self.cells.iter_mut().for_each(|cell| cell.rank -= 1);
        Some(format!("Ranks 1 to {last} of the table are ranks 0 to {} here.", last - 1))
    }

    /// The steps by their numbers, each once.
    fn steps(&self) -> Vec<u64> {
        let mut steps: Vec<u64> = self.cells.iter().map(|cell| cell.step).collect();
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// -1 if there are none.
    pub(super) fn last_step(&self) -> i64 {
        let last = self.cells.iter().map(|cell| cell.step).max();
        last.map_or(-1, |step| i64::try_from(step).unwrap_or(i64::MAX))
    }

    /// A note where the steps of the table are not 0, 1, 2, …, as they are called here.
    pub(super) fn note_on_steps(&self) -> Option<String> {
        let steps = self.steps();
        let runs: Vec<&[u64]> = steps.chunk_by(|a, b| a + 1 == *b).collect();
        if let [[0, ..]] | [] = runs[..] {
            return None;
        }
        let range = |first: u64, last: u64| match last - first {
            0 => first.to_string(),
            _ => format!("{first} to {last}"),
        };
        let mut here = 0;
        let each = runs.iter().take(MOST_RUNS).map(|run| {
            let (first, last) = (here, here + run.len() as u64 - 1);
            here = last + 1;
            format!("{} of the table is {} here", range(run[0], run[run.len() - 1]), range(first, last))
        });
        let each: Vec<String> = each.collect();
        let more = if runs.len() > MOST_RUNS { ", and so on" } else { "" };
        Some(format!("Steps are numbered from 0: {}{more}.", each.join(", ")))
    }

    /// The table, regions by name.
    pub(super) fn table(mut self, path: &Path, unit: &str) -> Result<EffortTable> {
        let mut place = vec![0; self.names.len()];
        self.names.values().enumerate().for_each(|(to, &from)| place[from] = to);
        self.cells.iter_mut().for_each(|cell| cell.region = place[cell.region]);
        let regions =
            self.names.into_keys().map(|name| EffortRegion { name, unit: unit.to_owned() }).collect();
        EffortTable::from_cells(regions, self.cells).map_err(|e| table_error(path, &e))
    }

    /// The ranks that have cells, ascending, and the table of these alone.
    pub(super) fn some(mut self, path: &Path, unit: &str) -> Result<(Vec<u64>, EffortTable)> {
        let mut ranks: Vec<u64> = self.cells.iter().map(|cell| cell.rank).collect();
        ranks.sort_unstable();
        ranks.dedup();
        let place = |rank: u64| ranks.partition_point(|&r| r < rank) as u64;
        self.cells.iter_mut().for_each(|cell| cell.rank = place(cell.rank));
        let table = self.table(path, unit)?;
        Ok((ranks, table))
    }

    /// The part of this process, if others also have cells of the table.
    pub(super) fn part<C: Communicator>(
        self,
        comm: &C,
        unit: &str,
    ) -> std::result::Result<Option<EffortPart>, CommError> {
        let mut names = vec![String::new(); self.names.len()];
        self.names.into_iter().for_each(|(name, number)| names[number] = name);
        EffortPart::of_cells(comm, &names, unit, self.cells)
    }
}

pub(super) fn read(
    path: &Path,
    input: Input,
    options: &EffortOptions<'_>,
    piece: Piece,
) -> Result<Option<Share>> {
    let rows = if piece.is_whole() {
        Some(Rows::open(input, "a table of efforts")?)
    } else {
        Rows::piece(input, piece)?
    };
    let Some(mut rows) = rows else { return Ok(None) };
    let names = rows.names.clone();
    let columns = Columns::of(&names).map_err(|kind| Error::at(path, Place::Line(rows.header_line), kind))?;
    let mut cells = Cells::default();
    let dialect = rows.dialect;
    while let Some((record, line)) = rows.next()? {
        let cell = columns.cell(record, &names, dialect, options, &mut cells);
        cells.push(cell.map_err(|kind| Error::at(path, Place::Line(line), kind))?);
        rows.report(options.progress);
    }
    if rows.n_rows() == 0 && piece.is_whole() {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
    }
    let taken = Taken { notes: rows.notes(), ..columns.taken(&names) };
    Ok(Some(Share { efforts: Efforts::Cells(cells), taken }))
}

/// A sentence on a region must name it.
pub(super) fn name_of_region(name: &str) -> String {
    if name.is_empty() { "(no name)".to_owned() } else { name.to_owned() }
}

/// Where a long table has what.
pub(super) struct Columns {
    pub(super) rank: usize,
    pub(super) step: usize,
    pub(super) effort: usize,
    pub(super) region: Option<usize>,
}

impl Columns {
    pub(super) fn of(names: &[String]) -> std::result::Result<Self, ErrorKind> {
        let only = |known: &[&str], with_unit| match places(names, known, with_unit)[..] {
            [] => Ok(None),
            [at] => Ok(Some(at)),
            [a, b, ..] if names[a] == names[b] => {
                Err(ErrorKind::Table(format!("the column '{}' stands twice", names[a])))
            }
            [a, b, ..] => Err(ErrorKind::Table(format!(
                "'{}' and '{}' may both be the {}; call one of them '{}'",
                names[a], names[b], known[0], known[0]
            ))),
        };
        let needed = |known: &[&str], with_unit| {
            only(known, with_unit)?.ok_or_else(|| ErrorKind::MissingColumn(known[0].to_owned(), HINT))
        };
        Ok(Self {
            rank: needed(&RANK_NAMES, false)?,
            step: needed(&STEP, false)?,
            effort: needed(&EFFORT, true)?,
            region: only(&REGION, false)?,
        })
    }

    /// What becomes of each column.
    pub(super) fn taken(&self, names: &[String]) -> Taken {
        let mut taken = Taken::new([names[self.effort].as_str()]);
        for (at, name) in names.iter().enumerate() {
            if at == self.rank || at == self.step || Some(at) == self.region {
                taken.names.push(name.clone());
            } else if is_unnamed(name) {
                taken.leave_out(&name_or_place(name, at), "it has no name");
            } else if at != self.effort {
                taken.leave_out(name, "it is no rank, step, region or effort");
            }
        }
        taken
    }

    fn cell(
        &self,
        record: &ByteRecord,
        names: &[String],
        dialect: Dialect,
        options: &EffortOptions<'_>,
        cells: &mut Cells,
    ) -> std::result::Result<EffortCell, ErrorKind> {
        let text = |i: usize| record.get(i).unwrap_or_default().trim_ascii();
        let bad = |i: usize, what| ErrorKind::Cell {
            column: i + 1,
            name: names[i].clone(),
            what,
            found: found(text(i)),
        };
        let whole = |i: usize| whole_number(text(i)).ok_or_else(|| bad(i, "a whole number from 0"));
        let effort = dialect.number(text(self.effort)).filter(|v| v.is_finite());
        let region = match self.region {
            Some(i) => cells.region(&name_of_region(&printable(text(i), 200))),
            None => cells.region(&options.region.name),
        };
        Ok(EffortCell {
            rank: whole(self.rank)?,
            step: whole(self.step)?,
            region,
            effort: effort.ok_or_else(|| bad(self.effort, "a finite number"))?,
        })
    }
}
