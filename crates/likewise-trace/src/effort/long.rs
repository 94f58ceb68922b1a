//! A row for each number: `rank,step,region,effort`.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};
use std::path::Path;

use csv::ByteRecord;
use likewise::comm::{CommError, Communicator};
use likewise::ranks::{EffortCell, EffortPart, EffortRegion, EffortTable};

use super::{EffortOptions, Share, table_error};
use crate::bytes::{Input, Piece};
use crate::csv::{Rows, whole_number};
use crate::error::{Error, ErrorKind, Place, Result, found, printable};

pub(super) const NEEDED: [&str; 3] = ["rank", "step", "effort"];
const HINT: &str = "rank,step,region,effort";

fn name_of(cell: &[u8]) -> String {
    let cell = cell.trim_ascii();
    printable(cell.strip_prefix(b"\"").and_then(|c| c.strip_suffix(b"\"")).unwrap_or(cell), 200)
}

/// Whether a first line is that of a long table.
pub(super) fn is_header(line: &[u8]) -> bool {
    let names: Vec<String> = line.split(|&b| b == b',').map(name_of).collect();
    names.iter().any(|n| n == "step") && names.iter().any(|n| n == "rank" || n == "effort")
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

    /// What a process has of a table that others have cells of, too.
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
    mut input: Input,
    options: &EffortOptions<'_>,
    piece: Piece,
) -> Result<Option<Share>> {
    let (consumed, total) = (input.consumed(), input.size().unwrap_or(0));
    let reader: Box<dyn Read> = if piece.is_whole() {
        Box::new(input.into_reader())
    } else {
        let mut header = input.take_line()?;
        header.push(b'\n');
        // A line end in quotes ends no row.
        let quoted = |bytes: &[u8]| memchr::memchr(b'"', bytes).is_some();
        if !input.keep(piece) || quoted(&header) || quoted(input.peek(0)?) {
            return Ok(None);
        }
        Box::new(Cursor::new(header).chain(input.into_reader()))
    };
    let mut rows = Rows::new(reader, path);
    let names: Vec<String> = match rows.next()? {
        Some((header, _)) => header.iter().map(name_of).collect(),
        None => return Err(Error::whole(path, ErrorKind::Empty("a table of efforts"))),
    };
    let wrong = |line: u64, kind: ErrorKind| Error::at(path, Place::Line(line), kind);
    let columns = Columns::of(&names).map_err(|kind| wrong(1, kind))?;
    let mut cells = Cells::default();
    let mut n_rows = 0u64;
    while let Some((record, line)) = rows.next()? {
        let cell = columns.cell(record, &names, options, &mut cells).map_err(|kind| wrong(line, kind))?;
        cells.push(cell);
        n_rows += 1;
        if let Some(progress) = options.progress.filter(|_| n_rows.is_multiple_of(1 << 16)) {
            progress(consumed.load(std::sync::atomic::Ordering::Relaxed), total);
        }
    }
    if n_rows == 0 && piece.is_whole() {
        return Err(Error::whole(path, ErrorKind::OnlyHeader("rows")));
    }
    Ok(Some(Share::Cells(cells)))
}

struct Columns {
    rank: usize,
    step: usize,
    effort: usize,
    region: Option<usize>,
}

impl Columns {
    fn of(names: &[String]) -> std::result::Result<Self, ErrorKind> {
        let column = |name: &str| names.iter().position(|n| n == name);
        for name in NEEDED {
            if names.iter().filter(|n| *n == name).count() > 1 {
                return Err(ErrorKind::Table(format!("the column '{name}' stands twice")));
            }
        }
        let [rank, step, effort] =
            NEEDED.map(|name| column(name).ok_or_else(|| ErrorKind::MissingColumn(name.to_owned(), HINT)));
        Ok(Self { rank: rank?, step: step?, effort: effort?, region: column("region") })
    }

    fn cell(
        &self,
        record: &ByteRecord,
        names: &[String],
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
        let effort = fast_float2::parse::<f64, _>(text(self.effort)).ok().filter(|v| v.is_finite());
        let region = match self.region {
            Some(i) => cells.region(&printable(text(i), 200)),
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
