//! One trace, read by several processes: each reads a piece of the file, and
//! process 0 joins what they found.

use std::collections::BTreeMap;
use std::path::Path;

use likewise::comm::{CommError, Communicator, Reduction};
use serde::{Deserialize, Serialize};

use super::code::Site;
use super::header::Header;
use super::mpi::Calls;
use super::reader::{Gathered, Reading, opened, renumbered};
use super::reading::{Records, Sum};
use super::rules::{OpenMp, Rules};
use crate::bytes::{Input, Piece, is_rereadable};
use crate::error::SpreadError;
use crate::folding::openmp::Marks;
use crate::folding::pieces::Pieces;
use crate::trace::{ReadOptions, Trace, Who};

/// What one process found in its piece, as it travels, but for the bursts: these follow,
/// thread by thread.
#[derive(Serialize, Deserialize)]
struct Found {
    sum: Sum,
    marks: BTreeMap<Who, Marks>,
    sites: Vec<Site>,
    streams: BTreeMap<Who, u32>,
    mpi: BTreeMap<Who, Calls>,
}

/// Threads travel together until they are so many bytes: a whole piece, as bytes and again
/// as what is read of them, would take more of process 0's memory than the bursts. (A thread
/// is not cut. Parcels wait on their sender until process 0 comes to it.)
const PARCEL: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// How the reading of a piece went. The greatest of all processes counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Went {
    Well,
    /// A parallel region was looked for and found.
    OpenMp,
    /// The file has no pieces, or one process alone must say what is wrong.
    Not,
}

/// A piece that was read.
struct Own {
    header: Header,
    gathered: Gathered,
    sum: Sum,
    /// Bytes of the whole file, and of its records.
    size: u64,
    of: u64,
}

/// Reads a trace, a piece on each process. Collective.
///
/// `None`, on all processes, if it cannot be read by pieces: it is gzip or no
/// Paraver trace, or something in it is to be told with the number of its line.
/// The inner value is the trace, on process 0.
pub(crate) fn read<C: Communicator + ?Sized>(
    comm: &C,
    path: &Path,
    options: &ReadOptions<'_>,
    block: usize,
) -> Result<Option<Option<Trace>>, SpreadError> {
    let mut rules = Rules::new(options);
    if options.burst_events.is_empty() {
        rules.openmp = OpenMp::Sought;
    }
    loop {
        let piece = Piece { index: comm.rank(), count: comm.size() };
        let (went, own) = match own(path, &rules, options, (piece, block)) {
            Ok((went, own)) => (went, own),
            Err(_) => (Went::Not, None),
        };
        // All must see a file of the same size; its least and its greatest are
        // found in one reduction, by signs.
        let size = own.as_ref().map_or(0, |own| own.of as i64);
        let mut bounds = [went as i64, size, -size];
        comm.all_reduce(Reduction::Max, &mut bounds)?;
        let is_of_one_size = bounds[1] == -bounds[2];
        match own {
            _ if bounds[0] == Went::OpenMp as i64 => rules.openmp = OpenMp::Joined,
            Some(own) if bounds[0] == Went::Well as i64 && is_of_one_size => {
                let reading = Reading { path, header: &own.header, rules: &rules, options, block };
                let Own { gathered, sum, size, .. } = own;
                return joined(comm, &reading, gathered, (sum, size)).map(Some);
            }
            _ => return Ok(None),
        }
    }
}

/// What this process finds in its piece.
fn own(
    path: &Path,
    rules: &Rules,
    options: &ReadOptions<'_>,
    (piece, block): (Piece, usize),
) -> crate::error::Result<(Went, Option<Own>)> {
    if !is_rereadable(path) {
        return Ok((Went::Not, None));
    }
    let mut input = Input::open_text(path)?;
    if !input.peek(super::FORMAT.begins.len())?.starts_with(super::FORMAT.begins) {
        return Ok((Went::Not, None));
    }
    let size = input.size().unwrap_or(0);
    let header = opened(&mut input, options)?;
    // A file that is being written may be longer for some than for others.
    let of = input.peek(1)?.len() as u64;
    if !input.keep(piece) {
        return Ok((Went::Not, None));
    }
    // The header is the first line, and no block holds it.
    let mut records = Records::after(u64::from(piece.is_first()), path, options.lenient);
    let reading = Reading { path, header: &header, rules, options, block };
    let Some(gathered) = reading.gathered(input, &mut records)? else {
        return Ok((Went::OpenMp, None));
    };
    let Some(sum) = records.sum() else { return Ok((Went::Not, None)) };
    Ok((Went::Well, Some(Own { header, gathered, sum, size, of })))
}

/// The trace of all pieces, on process 0.
fn joined<C: Communicator + ?Sized>(
    comm: &C,
    reading: &Reading<'_>,
    mut gathered: Gathered,
    (sum, size): (Sum, u64),
) -> Result<Option<Trace>, SpreadError> {
    if comm.rank() > 0 {
        send(comm, gathered, sum)?;
        return Ok(None);
    }
    let mut records = Records::after(0, reading.path, reading.options.lenient);
    records.add_sum(&sum);
    for rank in 1..comm.size() {
        let found: Found = postcard::from_bytes(&comm.receive(rank)?).map_err(out_of_step)?;
        records.add_sum(&found.sum);
        append(comm, rank, &mut gathered, found, reading)?;
    }
    Ok(Some(reading.trace(gathered, records, size)?))
}

fn out_of_step(_: postcard::Error) -> CommError {
    CommError::out_of_step("read")
}

/// Sends process 0 what was found; an empty parcel is the last.
fn send<C: Communicator + ?Sized>(comm: &C, gathered: Gathered, sum: Sum) -> Result<(), CommError> {
    let Gathered { pieces, marks, sites, streams, mpi } = gathered;
    let found = Found { sum, marks, sites: sites.sites, streams, mpi };
    comm.send(0, &postcard::to_stdvec(&found).map_err(out_of_step)?)?;
    drop(found);
    let mut parcel = Vec::new();
    for thread in pieces {
        parcel = postcard::to_extend(&thread, parcel).map_err(out_of_step)?;
        if parcel.len() >= PARCEL {
            comm.send(0, &parcel)?;
            parcel.clear();
        }
    }
    if !parcel.is_empty() {
        comm.send(0, &parcel)?;
    }
    comm.send(0, &[])
}

/// Adds what the next process has found, of which the bursts are still to come.
fn append<C: Communicator + ?Sized>(
    comm: &C,
    rank: usize,
    gathered: &mut Gathered,
    next: Found,
    reading: &Reading<'_>,
) -> Result<(), CommError> {
    let numbers = gathered.sites.adopt(&next.sites);
    gathered.add_streams(next.streams);
    gathered.add_mpi(&next.mpi);
    for (who, marks) in next.marks {
        let marks = marks.into_iter().filter_map(|(time, mark)| Some((time, renumbered(mark, &numbers)?)));
        gathered.marks.entry(who).or_default().extend(marks);
    }
    loop {
        let parcel = comm.receive(rank)?;
        if parcel.is_empty() {
            return Ok(());
        }
        let mut rest = &parcel[..];
        while !rest.is_empty() {
            let ((who, mut pieces), after): ((Who, Pieces), &[u8]) =
                postcard::take_from_bytes(rest).map_err(out_of_step)?;
            rest = after;
            if !numbers.is_empty() {
                pieces.renumber(&numbers);
            }
            gathered.pieces.entry(who).or_default().append(pieces, reading.limits());
        }
    }
}
