//! The labelled trace, written by several processes: each copies a piece.

use std::ops::Range;
use std::path::Path;

use likewise::comm::wire::{self, Taker};
use likewise::comm::{CommError, Communicator, Reduction};
use likewise::ranks::part;
use likewise::table::BurstTable;
use memchr::memmem;

use super::{
    LabelValue, Mark, Marked, Marks, Unmerged, beside, end_line, push_marks, unmerged, with_cpus, with_names,
    write_labelled,
};
use crate::bytes::{BLOCK, Input, is_rereadable, lines, trim_end};
use crate::error::{Error, Place, Result, SpreadError};
use crate::output::{AtomicFile, PartFile, SharedFile};
use crate::paraver::copy::with_extension;
use crate::paraver::cut::is_paraver;
use crate::paraver::header::Header;
use crate::paraver::records::time_of;
use crate::trace::Who;

/// What process 0 has, and is to be written.
#[derive(Clone, Copy, Debug)]
pub struct ToLabel<'a> {
    /// Where the files are to stand, without their endings.
    pub stem: &'a Path,
    /// The bursts.
    pub table: &'a BurstTable,
    /// The value of each.
    pub values: &'a [u32],
    /// What values mean.
    pub legend: &'a [LabelValue],
}

/// So many marks are counted, or travel, at once.
const MARKS: usize = if cfg!(test) { 16 } else { 1 << 16 };
/// So many messages with marks are on their way to a process at most.
const ON_THEIR_WAY: usize = 4;

/// As [`write_labelled`], by several processes that see the same files.
/// Collective; process 0 passes in what is to be written, and gets the files.
///
/// Each process copies a piece of the trace (process 0 none where it `first_is_busy` with other
/// work, which all must pass in), with the labels that process 0
/// sends it, to its place in the new file. A trace that cannot be cut, or must be
/// changed in other ways (`lenient`, old labels), is written by process 0 alone.
///
/// # Errors
/// Those of [`write_labelled`], on the process that meets it; then all processes
/// must be told, for the file is not complete.
pub fn write_labelled_spread<C: Communicator + ?Sized>(
    comm: &C,
    input: &Path,
    to_label: Option<ToLabel<'_>>,
    (lenient, first_is_busy): (bool, bool),
    pcf: Option<&Path>,
) -> std::result::Result<Vec<AtomicFile>, SpreadError> {
    let own =
        if lenient { None } else { own(input, (comm.rank(), comm.size()), first_is_busy).ok().flatten() };
    let Some(max) = agreed(comm, own.as_ref())? else {
        let alone =
            to_label.map(|of| write_labelled(input, of.stem, of.table, of.values, of.legend, lenient, pcf));
        return Ok(alone.transpose()?.unwrap_or_default());
    };
    let Own { source, header, head, first, size, .. } = own.expect("all processes have a piece");
    let unit = header.unit.nanos();
    let (threads, marks) = match &to_label {
        Some(of) => share_out(comm, unmerged(of.table, of.values, unit), &max)?,
        None => received(comm)?,
    };
    let threads = with_cpus(&threads, &header, &head);
    let marked = Marked { marks: &marks, threads: &threads, checked: None };
    let size = size + size_of(&marks, &threads) + first.len() as u64;
    let before = comm.sum_before(size as i64)? as u64;
    let prv = to_label.map(|of| AtomicFile::create(&with_extension(of.stem, "prv")));
    let mut message = Vec::new();
    if let Some(Ok(prv)) = &prv {
        prv.shared().put(&mut message);
    }
    let prv = prv.transpose();
    comm.broadcast(0, &mut message)?;
    let mut prv = prv?;
    // Nothing is said where process 0 could make none.
    let shared = SharedFile::take(&mut Taker::new(&message)).ok_or(SpreadError::Elsewhere)?;
    let mut part = PartFile::open(&shared, before, size)?;
    let failed = |e| Error::write(shared.path(), e);
    std::io::Write::write_all(&mut part, &first).map_err(failed)?;
    marked.copy(source, &mut part, &failed)?;
    part.complete()?;
    let (Some(prv), Some(of)) = (prv.take(), to_label) else { return Ok(Vec::new()) };
    Ok(with_names(prv.filled_by_parts(), of.stem, beside(input, pcf), of.legend)?)
}

fn out_of_step() -> CommError {
    CommError::out_of_step("write_labelled_spread")
}

/// The piece of this process.
struct Own {
    source: Input,
    header: Header,
    /// The begin of the records of the whole trace.
    head: Vec<u8>,
    /// The first line of the trace, on the process that has the first piece.
    first: Vec<u8>,
    /// Bytes of the piece, as they will be written.
    size: u64,
    /// Bytes of all records.
    of: u64,
    /// The largest time.
    max: Option<u64>,
}

/// The share of a process of `n` bytes; process 0 has none if it has other work.
fn share(n: usize, (rank, size): (usize, usize), first_is_busy: bool) -> Range<usize> {
    match (first_is_busy && size > 1, rank) {
        (false, _) => part(n, rank, size),
        (true, 0) => 0..0,
        (true, _) => part(n, rank - 1, size - 1),
    }
}

/// `None` where the piece cannot be copied as it is.
fn own(input: &Path, (rank, size): (usize, usize), first_is_busy: bool) -> Result<Option<Own>> {
    if !is_rereadable(input) {
        return Ok(None);
    }
    let mut head = Vec::new();
    let mut open = || -> Result<Option<(Input, Vec<u8>, u64)>> {
        let mut source = Input::open_text(input)?;
        if !is_paraver(&mut source)? {
            return Ok(None);
        }
        let mut first = source.take_whole_line()?;
        end_line(&mut first);
        let rest = source.peek(BLOCK)?;
        head = rest[..rest.len().min(BLOCK)].to_vec();
        let of = rest.len() as u64;
        Ok(source.keep_share(|n| share(n, (rank, size), first_is_busy)).then_some((source, first, of)))
    };
    let (Some((scanned, _, of)), Some((mut source, first, again))) = (open()?, open()?) else {
        return Ok(None);
    };
    if again != of {
        // It is being written.
        return Ok(None);
    }
    let header = Header::parse(trim_end(&first)).map_err(|kind| Error::at(input, Place::Line(1), kind))?;
    let text = source.peek(1)?;
    let size = text.len() as u64 + u64::from(!text.is_empty() && !text.ends_with(b"\n"));
    let (mut max, mut is_labelled) = (None, false);
    let scan = |bytes: &[u8]| {
        let is_labelled = memmem::find(bytes, b":90000001:").is_some();
        (lines(bytes).filter_map(time_of).max(), is_labelled)
    };
    scanned.for_each_block(BLOCK, None, scan, |(found, labelled)| {
        max = max.max(found);
        is_labelled |= labelled;
        Ok(())
    })?;
    let first = if rank == 0 { first } else { Vec::new() };
    Ok((!is_labelled).then_some(Own { source, header, head, first, size, of, max }))
}

/// The largest time of each piece and those before it, if all can copy theirs.
fn agreed<C: Communicator + ?Sized>(
    comm: &C,
    own: Option<&Own>,
) -> std::result::Result<Option<Vec<Option<u64>>>, CommError> {
    let of = own.map_or(0, |own| own.of as i64);
    let mut bounds = [i64::from(own.is_none()), of, -of];
    comm.all_reduce(Reduction::Max, &mut bounds)?;
    if bounds[0] != 0 || bounds[1] != -bounds[2] {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    let max = own.and_then(|own| own.max);
    wire::put_numbers(&mut bytes, [u64::from(max.is_some()), max.unwrap_or(0)]);
    let mut so_far = None;
    let of_piece = |bytes: Vec<u8>| {
        let mut taker = Taker::new(&bytes);
        let (is_there, max) = (taker.number()?, taker.number()?);
        so_far = so_far.max((is_there != 0).then_some(max));
        Some(so_far)
    };
    let all: Option<Vec<_>> = comm.all_gather(&bytes)?.into_iter().map(of_piece).collect();
    all.map(Some).ok_or_else(out_of_step)
}

/// Sends every other process the marks of its piece, and returns those of this one.
fn share_out<'a, C: Communicator + ?Sized>(
    comm: &C,
    (threads, marks): (Vec<Who>, Unmerged<'a>),
    max: &[Option<u64>],
) -> std::result::Result<(Vec<Who>, Marks<'a>), CommError> {
    let of_piece = |rank: usize| {
        let before = rank.checked_sub(1).and_then(|before| max[before]);
        match max[rank] {
            // What lies after all records stands at the end of the last piece.
            _ if rank + 1 == max.len() => marks.between(before, None),
            Some(max) => marks.between(before, Some(max)),
            None => Marks::Sent(Vec::new()),
        }
    };
    let of_threads =
        threads.iter().flat_map(|Who { app, task, thread }| [*app, *task, *thread].map(u64::from));
    let of_threads: Vec<u64> = of_threads.collect();
    for rank in 1..max.len() {
        let own = of_piece(rank);
        let mut bytes = Vec::new();
        wire::put_numbers(&mut bytes, [own.len() as u64, threads.len() as u64]);
        wire::put_numbers(&mut bytes, of_threads.iter().copied());
        comm.send(rank, &bytes)?;
        // Not all at once: they would take more memory here than where they come from.
        let mut waits = 0;
        for from in (0..own.len()).step_by(MARKS) {
            bytes.clear();
            for Mark { time, thread, value } in own.within(from..(from + MARKS).min(own.len())) {
                wire::put_numbers(&mut bytes, [time, u64::from(thread), u64::from(value)]);
            }
            comm.send(rank, &bytes)?;
            waits += 1;
            if waits == ON_THEIR_WAY {
                comm.receive(rank)?;
                waits -= 1;
            }
        }
        (0..waits).try_for_each(|_| comm.receive(rank).map(drop))?;
    }
    let own = of_piece(0);
    Ok((threads, own))
}

/// The threads, and the marks of this piece.
fn received<C: Communicator + ?Sized>(
    comm: &C,
) -> std::result::Result<(Vec<Who>, Marks<'static>), CommError> {
    let small = |taker: &mut Taker<'_>| taker.number().and_then(|number| u32::try_from(number).ok());
    let bytes = comm.receive(0)?;
    let head = || {
        let mut taker = Taker::new(&bytes);
        let (n_marks, n_threads) = (taker.index()?, taker.index()?);
        let mut who = || {
            let [app, task, thread] = [small(&mut taker)?, small(&mut taker)?, small(&mut taker)?];
            Some(Who { app, task, thread })
        };
        Some((n_marks, (0..n_threads).map(|_| who()).collect::<Option<Vec<Who>>>()?))
    };
    let (n_marks, threads) = head().ok_or_else(out_of_step)?;
    let mut marks = Vec::new();
    marks.try_reserve_exact(n_marks).map_err(|_| out_of_step())?;
    while marks.len() < n_marks {
        let bytes = comm.receive(0)?;
        if bytes.is_empty() || !bytes.len().is_multiple_of(24) || bytes.len() / 24 > n_marks - marks.len() {
            return Err(out_of_step());
        }
        let mut taker = Taker::new(&bytes);
        let mut mark = || {
            let (time, thread, value) = (taker.number()?, small(&mut taker)?, small(&mut taker)?);
            Some(Mark { time, thread, value })
        };
        let some: Option<Vec<Mark>> = (0..bytes.len() / 24).map(|_| mark()).collect();
        marks.extend(some.ok_or_else(out_of_step)?);
        // Taken.
        comm.send(0, &[])?;
    }
    Ok((threads, Marks::Sent(marks)))
}

/// Bytes of the lines of these marks.
fn size_of(marks: &Marks<'_>, threads: &[(u32, Who)]) -> u64 {
    let (mut text, mut size, mut from) = (Vec::new(), 0, 0);
    let key = |at: usize| marks.get(at).map(|mark| (mark.time, mark.thread));
    while from < marks.len() {
        let mut to = (from + MARKS).min(marks.len());
        // No line is cut.
        while to < marks.len() && key(to) == key(to - 1) {
            to += 1;
        }
        text.clear();
        push_marks(&mut text, marks.within(from..to), threads);
        size += text.len() as u64;
        from = to;
    }
    size
}
