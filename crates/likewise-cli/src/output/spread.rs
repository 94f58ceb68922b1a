//! A file of many rows, written by several processes.

use anyhow::{Context, Result};
use likewise_analysis::ToldElsewhere;
use likewise_comm::wire::{self, Taker};
use likewise_comm::{CommError, Communicator, Reduction};
use likewise_trace::{AtomicFile, SharedFile};
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Rows of one process at a time, at most, and of all together. (Process 0 has none: it
/// sends the others theirs, and may have other work.)
const ROWS: usize = 1 << 13;
const ROWS_OF_ALL: usize = 1 << 17;

/// Rows formatted by one thread at a time.
const BLOCK: usize = 1 << 12;

/// Appends a row as it travels: eight bytes for each number.
pub(crate) type Encode<'a> = Box<dyn Fn(usize, &mut Vec<u8>) + Sync + 'a>;

/// The rows of a file, as process 0 has them.
pub(crate) struct SpreadRows<'a> {
    pub(crate) path: &'a Path,
    pub(crate) header: Vec<u8>,
    /// How many rows there are.
    pub(crate) n: usize,
    /// How many whole numbers and how many reals a row has, beside its label.
    pub(crate) shape: [usize; 2],
    pub(crate) encode: Encode<'a>,
}

/// What all must know of the file.
struct Plan {
    file: File,
    /// Where it is to stand.
    path: PathBuf,
    begin: u64,
    n: usize,
    shape: [usize; 2],
}

/// Writes the rows by all processes but process 0: each in turn formats some, which process 0
/// sends it, and puts them into their place. Collective; process 0 passes in the
/// rows, and gets the file. At most a quarter of a million rows are on their way at a time.
///
/// # Errors
/// On the process that cannot write; then all must be told.
pub(crate) fn write_rows_spread<C: Communicator>(
    comm: &C,
    rows: Option<SpreadRows<'_>>,
    format: impl Fn([usize; 2], &[u8], &mut Vec<u8>) + Sync,
) -> Result<Option<AtomicFile>> {
    let made = rows.as_ref().map(made).transpose();
    let (mut message, made) = match made {
        Ok(Some((message, file))) => (message, Ok(Some(file))),
        Ok(None) => (Vec::new(), Ok(None)),
        Err(error) => (Vec::new(), Err(error)),
    };
    comm.broadcast(0, &mut message)?;
    let file = made?;
    let plan = planned(&message, comm.rank())?;
    let failed = [i64::from(plan.is_err())];
    if any(comm, failed)? {
        plan?;
        return Err(ToldElsewhere.into());
    }
    let Plan { file: part, path, mut begin, n, shape } = plan?;
    let of_each = (ROWS.min(ROWS_OF_ALL / comm.size())).max(1);
    let stride = 8 * (shape[0] + shape[1] + 1);
    let at_once = of_each * (comm.size() - 1).max(1);
    let take = |first: usize| match &rows {
        _ if first >= n => Ok(Vec::new()),
        Some(rows) => share_out(comm, rows, first, of_each),
        None => comm.receive(0),
    };
    let mut own = take(0)?;
    for first in (0..n).step_by(at_once) {
        let blocks: Vec<Vec<u8>> = own
            .par_chunks(stride * BLOCK)
            .map(|block| {
                let mut text = Vec::new();
                block.chunks(stride).for_each(|row| format(shape, row, &mut text));
                text
            })
            .collect();
        // Process 0 makes these while the others format those before.
        own = take(first + at_once)?;
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
    let [whole, reals] = rows.shape.map(|n| n as u64);
    wire::put_numbers(&mut message, [rows.header.len() as u64, rows.n as u64, whole, reals]);
    file.shared().put(&mut message);
    Ok((message, file))
}

/// The inner error is that of opening the file.
fn planned(message: &[u8], rank: usize) -> Result<Result<Plan>> {
    let mut taker = Taker::new(message);
    let mut take = || {
        let [begin, n, whole, reals] = [taker.number()?, taker.number()?, taker.number()?, taker.number()?];
        Some((begin, n as usize, [whole as usize, reals as usize], SharedFile::take(&mut taker)?))
    };
    let (begin, n, shape, shared) = take().context("process 0 cannot write it")?;
    let path = shared.path().to_owned();
    let dir = path.parent().unwrap_or(&path).display().to_string();
    let plan = shared.open().map(|file| Plan { file, path, begin, n, shape });
    Ok(plan.with_context(|| {
        format!("{dir}: process {rank} cannot write the file that process 0 has made here; give a directory with -o that all processes see")
    }))
}

fn any<C: Communicator>(comm: &C, mut failed: [i64; 1]) -> Result<bool, CommError> {
    comm.all_reduce(Reduction::Max, &mut failed)?;
    Ok(failed[0] > 0)
}

/// Sends the others their rows, of those from `first` on; a process that is alone keeps them.
fn share_out<C: Communicator>(
    comm: &C,
    rows: &SpreadRows<'_>,
    first: usize,
    of_each: usize,
) -> Result<Vec<u8>, CommError> {
    let SpreadRows { n, encode, .. } = rows;
    let of_place = |place: usize| {
        let (from, to) = (first + place * of_each, first + (place + 1) * of_each);
        let mut bytes = Vec::new();
        (from.min(*n)..to.min(*n)).for_each(|row| encode(row, &mut bytes));
        bytes
    };
    let others = comm.size() - 1;
    if others == 0 {
        return Ok(of_place(0));
    }
    let all: Vec<Vec<u8>> = (0..others).into_par_iter().map(of_place).collect();
    for (place, bytes) in all.iter().enumerate() {
        comm.send(place + 1, bytes)?;
    }
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
        for (n, size) in [(0, 3), (1, 4), (70_000, 1), (200_001, 3), (300_000, 2)] {
            let files = run_on_threads(size, |comm| {
                let rows = (comm.rank() == 0).then(|| SpreadRows {
                    path: &path,
                    header: b"row\n".to_vec(),
                    n,
                    shape: [1, 0],
                    encode: Box::new(|row, bytes| wire::put_numbers(bytes, [row as u64, 7])),
                });
                let written = write_rows_spread(comm, rows, |_, row, text| {
                    let numbers: Vec<u64> = wire::numbers(row).expect("whole numbers").collect();
                    text.extend(format!("{} {}\n", numbers[0], numbers[1]).bytes());
                });
                Ok::<_, CommError>(written.expect("it can be written"))
            });
            files.expect("it works").remove(0).expect("of process 0").commit().expect("in place");
            let expected: String = (0..n).map(|row| format!("{row} 7\n")).collect();
            let found = std::fs::read_to_string(&path).expect("it is there");
            assert!(found == format!("row\n{expected}"), "{n} rows by {size}");
        }
    }
}
