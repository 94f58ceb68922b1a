//! A file of many rows, written by several processes.

use anyhow::{Context, Result};
use likewise_analysis::ToldElsewhere;
use likewise_analysis::phases::Deal;
use likewise_comm::wire::{self, Taker};
use likewise_comm::{CommError, Communicator, Reduction};
use likewise_trace::{AtomicFile, SharedFile};
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// What process 0 has of the rows of a file.
pub(crate) struct SpreadRows<'a> {
    pub(crate) path: &'a Path,
    pub(crate) header: Vec<u8>,
    /// How many rows there are.
    pub(crate) n: usize,
    /// What all must know of the rows.
    pub(crate) about: Vec<u8>,
    /// What who writes them must know of some rows.
    pub(crate) encode: Box<dyn Fn(Range<usize>) -> Vec<u8> + Sync + 'a>,
}

/// What all must know of the file.
struct Plan {
    file: File,
    /// Where it is to stand.
    path: PathBuf,
    begin: u64,
    n: usize,
}

/// Writes the rows by all processes but process 0, as they are dealt out: each in turn makes text
/// of what process 0 sends it, and puts it into its place. Collective over two processes or
/// more; process 0 passes in the rows, and gets the file. `format` is given what is said of all
/// rows, and what of those of a turn, and makes parts of the text. At most two turns are on
/// their way at a time.
///
/// # Errors
/// On the process that cannot write; then all must be told.
pub(crate) fn write_rows_spread<C: Communicator>(
    comm: &C,
    rows: Option<SpreadRows<'_>>,
    mut format: impl FnMut(&[u8], &[u8]) -> Option<Vec<Vec<u8>>>,
) -> Result<Option<AtomicFile>> {
    let made = rows.as_ref().map(made).transpose();
    let (mut message, made) = match made {
        Ok(Some((message, file))) => (message, Ok(Some(file))),
        Ok(None) => (Vec::new(), Ok(None)),
        Err(error) => (Vec::new(), Err(error)),
    };
    comm.broadcast(0, &mut message)?;
    let file = made?;
    let (plan, about) = planned(&message, comm.rank())?;
    let failed = [i64::from(plan.is_err())];
    if any(comm, failed)? {
        plan?;
        return Err(ToldElsewhere.into());
    }
    let Plan { file: part, path, mut begin, n } = plan?;
    let deal = Deal::among(comm.size());
    let at_once = deal.at_once();
    let take = |first: usize| match &rows {
        _ if first >= n => Ok(Vec::new()),
        Some(rows) => share_out(comm, rows, first, deal),
        None => comm.receive(0),
    };
    let mut own = take(0)?;
    for first in (0..n).step_by(at_once) {
        let blocks = match own.is_empty() {
            true => Some(Vec::new()),
            false => format(about, &own),
        };
        // Process 0 makes these while the others format those before.
        own = take(first + at_once)?;
        let blocks = blocks.ok_or(CommError::out_of_step("write_rows"))?;
        let length: usize = blocks.iter().map(Vec::len).sum();
        let before = comm.sum_before(length as i64)? as u64;
        let written = put(&part, begin + before, &blocks);
        let mut all = [length as i64, i64::from(written.is_err())];
        comm.all_reduce(Reduction::Sum, &mut all)?;
        if all[1] > 0 {
            written.map_err(|error| likewise_trace::Error::write(&path, error))?;
            return Err(ToldElsewhere.into());
        }
        begin += all[0] as u64;
    }
    Ok(file.map(AtomicFile::filled_by_parts))
}

/// The file with its header, and what all must know of it.
fn made(rows: &SpreadRows<'_>) -> Result<(Vec<u8>, AtomicFile)> {
    let mut file = AtomicFile::create(rows.path)?;
    file.write_all(&rows.header)?;
    let mut message = Vec::new();
    wire::put_numbers(&mut message, [rows.header.len() as u64, rows.n as u64]);
    wire::put_block(&mut message, &rows.about);
    file.shared().put(&mut message);
    Ok((message, file))
}

/// Also what is said of all rows. The inner error is that of opening the file.
fn planned(message: &[u8], rank: usize) -> Result<(Result<Plan>, &[u8])> {
    let mut taker = Taker::new(message);
    let mut take = || {
        let (begin, n) = (taker.number()?, taker.index()?);
        Some((begin, n, taker.block()?, SharedFile::take(&mut taker)?))
    };
    let (begin, n, about, shared) = take().context("process 0 cannot write it")?;
    let path = shared.path().to_owned();
    let dir = path.parent().unwrap_or(&path).display().to_string();
    let plan = shared.open().map(|file| Plan { file, path, begin, n });
    let plan = plan.with_context(|| {
        format!("{dir}: process {rank} cannot write the file that process 0 has made here; give a directory with -o that all processes see")
    });
    Ok((plan, about))
}

fn any<C: Communicator>(comm: &C, mut failed: [i64; 1]) -> Result<bool, CommError> {
    comm.all_reduce(Reduction::Max, &mut failed)?;
    Ok(failed[0] > 0)
}

/// Sends the others what they must know of their rows in the turn that begins with `first`.
fn share_out<C: Communicator>(
    comm: &C,
    rows: &SpreadRows<'_>,
    first: usize,
    deal: Deal,
) -> Result<Vec<u8>, CommError> {
    let of_other = |other: usize| {
        let own = deal.in_turn(other, first, rows.n);
        if own.is_empty() { Vec::new() } else { (rows.encode)(own) }
    };
    let all: Vec<Vec<u8>> = (0..deal.others).into_par_iter().map(of_other).collect();
    (1..).zip(&all).try_for_each(|(rank, bytes)| comm.send(rank, bytes))?;
    Ok(Vec::new())
}

fn put(file: &File, mut at: u64, blocks: &[Vec<u8>]) -> io::Result<()> {
    for block in blocks {
        file.write_all_at(block, at)?;
        at += block.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise_comm::run_on_threads;

    #[test]
    fn all_write_what_one_writes() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("rows");
        for (n, size) in [(0, 3), (1, 4), (70_000, 2), (200_001, 3), (300_000, 2)] {
            let files = run_on_threads(size, |comm| {
                let rows = (comm.rank() == 0).then(|| SpreadRows {
                    path: &path,
                    header: b"row\n".to_vec(),
                    n,
                    about: vec![7],
                    encode: Box::new(|rows| {
                        [rows.start as u64, rows.end as u64].map(u64::to_le_bytes).concat()
                    }),
                });
                let mut turns = 0;
                let written = write_rows_spread(comm, rows, |about, rows| {
                    let ends: Vec<usize> = wire::numbers(rows)?.map(|end| end as usize).collect();
                    let of = |row: usize| format!("{row} {}\n", about[0]).into_bytes();
                    turns += 1;
                    let middle = ends[0].midpoint(ends[1]);
                    Some([ends[0]..middle, middle..ends[1]].map(|rows| rows.flat_map(of).collect()).to_vec())
                });
                assert!(comm.rank() > 0 || turns == 0, "process 0 writes none");
                Ok::<_, CommError>(written.expect("it can be written"))
            });
            files.expect("it works").remove(0).expect("of process 0").commit().expect("in place");
            let expected: String = (0..n).map(|row| format!("{row} 7\n")).collect();
            let found = std::fs::read_to_string(&path).expect("it is there");
            assert!(found == format!("row\n{expected}"), "{n} rows by {size}");
        }
    }
}
