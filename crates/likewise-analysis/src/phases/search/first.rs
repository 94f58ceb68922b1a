//! What process 0 asks the others.

use super::Search;
use super::others::{Own, Wanted, reals};
use crate::phases::kept::{Deal, KeptCounters, dealt, gathered};
use crate::phases::wire::dbscan_of;
use anyhow::Result;
use likewise::cluster::kdist::KDistError;
use likewise::cluster::{Along, CoreRadii, Dbscan, DbscanParams, Points, dbscan, dbscan_knowing};
use likewise::comm::wire;
use likewise::comm::{CommError, Communicator, broadcast_by_messages};
use likewise::ranks::part;
use likewise::table::{BurstTable, Counter, CounterColumn, Prepared};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A question of the work to the thread that talks to the other processes.
pub(super) enum Question {
    /// Share out these parts of the points.
    Points(usize, Vec<Vec<u8>>),
    All(Wanted),
    /// Tell the others what is known of the points, ask them one after the other, and pass on
    /// what they find when it is wanted.
    Ahead(Vec<u8>, Vec<DbscanParams>, (Receiver<()>, Sender<Found>)),
    /// Send each of the others what follows: the same, or a part each.
    Send(Wanted, Vec<Vec<u8>>),
    /// Ask the others alone.
    Others(Wanted),
}

/// What the others have found ahead, as it came: a label takes four bytes.
pub(super) type Found = (DbscanParams, Vec<Vec<u8>>);

/// What the others find ahead. It stays with them until it is wanted.
struct Ahead {
    wanted: Sender<()>,
    found: Receiver<Found>,
}

impl Ahead {
    fn next(&self) -> Option<Found> {
        self.wanted.send(()).ok()?;
        next(&self.found)
    }
}

/// How the points are shared out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum SharedOut {
    Not,
    /// As many to each process.
    ToAll,
    /// As many to each but process 0, which has other work.
    ToOthers,
}

/// All processes, as the work on process 0 sees them.
pub(super) struct Ranks {
    pub(super) size: usize,
    pub(super) desk: Mutex<Desk>,
}

pub(super) struct Desk {
    questions: Sender<Question>,
    answers: Receiver<Vec<Vec<u8>>>,
    shared_out: SharedOut,
    /// What the others find ahead.
    ahead: Option<Ahead>,
    /// The first of what was announced, if this process finds it itself.
    before: Option<DbscanParams>,
    /// The counters that the others keep.
    kept: Vec<Counter>,
}

impl Desk {
    pub(super) fn new(questions: Sender<Question>, answers: Receiver<Vec<Vec<u8>>>) -> Self {
        Self { questions, answers, shared_out: SharedOut::Not, ahead: None, before: None, kept: Vec::new() }
    }

    /// `None` if nobody listens any more.
    fn share_out(&mut self, points: Points<'_>, size: usize, to: SharedOut) -> Option<()> {
        let (n, dims) = (points.len(), points.dims());
        let of_rank = |rank: usize| match to {
            SharedOut::ToOthers if rank == 0 => 0..0,
            SharedOut::ToOthers => part(n, rank - 1, size - 1),
            _ => part(n, rank, size),
        };
        let bytes = |rank| {
            let Range { start, end } = of_rank(rank);
            let mut bytes = Vec::with_capacity(8 * (end - start) * dims);
            wire::put_reals(&mut bytes, &points.data()[start * dims..end * dims]);
            bytes
        };
        let parts = (0..size).into_par_iter().map(bytes).collect();
        self.questions.send(Question::Points(dims, parts)).ok()?;
        self.shared_out = to;
        Some(())
    }
}

/// The next that arrives; `None` if nobody sends any more. The thread that sends
/// needs the threads of the pool, of which this may be the only one. (The desk is
/// taken meanwhile: nothing that runs beside a question may ask one.)
fn next<T>(from: &Receiver<T>) -> Option<T> {
    loop {
        match from.try_recv() {
            Ok(found) => return Some(found),
            Err(TryRecvError::Disconnected) => return None,
            Err(TryRecvError::Empty) => {
                if rayon::yield_now() != Some(rayon::Yield::Executed) {
                    std::thread::sleep(Duration::from_micros(200));
                }
            }
        }
    }
}

impl Ranks {
    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether these are the first that were announced, which this process finds itself; once.
    fn finds_first(&self, params: &DbscanParams) -> bool {
        self.desk().before.take().is_some_and(|before| before == *params)
    }

    /// What each process answers; nothing if they cannot work together any more,
    /// which [`on_all`] tells.
    fn ask(&self, points: Points<'_>, wanted: Wanted) -> Option<Vec<Vec<u8>>> {
        let mut desk = self.desk();
        // What was looked for ahead is not wanted any more.
        desk.ahead = None;
        if desk.shared_out != SharedOut::ToAll {
            desk.share_out(points, self.size, SharedOut::ToAll)?;
        }
        desk.questions.send(Question::All(wanted)).ok()?;
        next(&desk.answers)
    }
}

impl Search for Ranks {
    fn dbscan(&self, points: Points<'_>, params: &DbscanParams) -> Dbscan {
        if self.finds_first(params) {
            return dbscan(points, params);
        }
        let ahead = self.desk().ahead.as_ref().and_then(Ahead::next);
        if let Some((_, answers)) = ahead.filter(|(of, _)| of == params) {
            return dbscan_of(answers, points.len());
        }
        let answers = self.ask(points, Wanted::Dbscan(*params)).unwrap_or_default();
        dbscan_of(answers, points.len())
    }

    fn dbscan_knowing(&self, along: &Along<'_>, params: &DbscanParams, cores: &CoreRadii) -> Dbscan {
        match self.finds_first(params) {
            true => dbscan_knowing(along, params, cores),
            false => self.dbscan(along.points(), params),
        }
    }

    /// Two processes: the other has all points, and is told.
    fn uses_cores(&self) -> bool {
        self.size == 2
    }

    fn ahead(&self, points: Points<'_>, params: &[DbscanParams], cores: Option<&CoreRadii>) {
        let ((wanted, is_wanted), (telling, found)) = (channel(), channel());
        let mut desk = self.desk();
        let shared_out = desk.share_out(points, self.size, SharedOut::ToOthers);
        // One other process finds the first no faster than this one, which would only wait
        // for it.
        let (before, others) = match params {
            [first, rest @ ..] if self.size == 2 => (Some(*first), rest),
            all => (None, all),
        };
        desk.before = before;
        let mut known = Vec::new();
        cores.filter(|_| self.uses_cores()).into_iter().for_each(|cores| cores.put(&mut known));
        let asked = desk.questions.send(Question::Ahead(known, others.to_vec(), (is_wanted, telling)));
        desk.ahead = (shared_out.is_some() && asked.is_ok()).then_some(Ahead { wanted, found });
        // What is on its way is here twice, and the work that follows takes most memory of all.
        if desk.ahead.is_some() {
            next(&desk.answers);
        }
    }

    fn keep_counters(&self, table: &mut BurstTable, prepared: &Prepared) {
        let (mut desk, deal) = (self.desk(), Deal::among(self.size));
        if deal.others == 0 {
            return;
        }
        let send = |wanted, parts| desk.questions.send(Question::Send(wanted, parts)).is_ok();
        send(Wanted::Keep, vec![KeptCounters::head(table, prepared); deal.others]);
        let mut kept = Vec::new();
        // One after the other: as bytes, all would take as much memory again.
        for (place, CounterColumn { counter, values }) in
            std::mem::take(&mut table.counters).into_iter().enumerate()
        {
            kept.push(counter);
            if !send(Wanted::Counter(place), dealt(&values, deal)) {
                break;
            }
        }
        desk.kept = kept;
    }

    fn counters_back(&self, table: &mut BurstTable) {
        let mut desk = self.desk();
        // What was looked for ahead is not wanted any more.
        desk.ahead = None;
        for (place, counter) in std::mem::take(&mut desk.kept).into_iter().enumerate() {
            let asked = desk.questions.send(Question::Others(Wanted::Tell(place))).is_ok();
            let told = asked.then(|| next(&desk.answers)).flatten().unwrap_or_default();
            let values = gathered(&told, table.len(), Deal::among(self.size));
            table.counters.push(CounterColumn { counter, values });
        }
    }

    fn k_distances(&self, points: Points<'_>, k: &[usize]) -> Result<Vec<Vec<f64>>, KDistError> {
        if k.contains(&0) {
            return Err(KDistError::Zero);
        }
        if let Some(&k) = k.iter().find(|&&k| points.len() < k) {
            return Err(KDistError::TooFewPoints { points: points.len(), k });
        }
        let wanted = [0, 1, 2].map(|i| k.get(i).copied().unwrap_or(0));
        let answers = self.ask(points, Wanted::KDistances(wanted)).unwrap_or_default();
        let mut distances = vec![Vec::with_capacity(points.len()); k.len()];
        for bytes in &answers {
            // Those of each k, one after the other.
            let own = bytes.len() / 8 / k.len();
            let mut reals = wire::reals(bytes).into_iter().flatten();
            distances.iter_mut().for_each(|all| all.extend(reals.by_ref().take(own)));
        }
        distances.iter_mut().for_each(|all| all.resize(points.len(), 0.0));
        Ok(distances)
    }
}

/// Does `work` on process 0, which the others help: they look for neighbours
/// with it, in [`serve`]. The calling thread alone talks to them.
///
/// # Errors
/// The processes could not work together.
pub(in crate::phases) fn on_all<C: Communicator + ?Sized, T: Send>(
    comm: &C,
    work: impl FnOnce(&dyn Search) -> Result<T> + Send,
) -> Result<T> {
    let (questions, asked) = channel();
    let (answers, answered) = channel();
    let size = comm.size();
    std::thread::scope(|scope| {
        let worker =
            scope.spawn(move || work(&Ranks { size, desk: Mutex::new(Desk::new(questions, answered)) }));
        let helped = answer_all(comm, &asked, &answers);
        // A failure reaches the work as an answer that does not come.
        drop(asked);
        drop(answers);
        let done = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        helped?;
        broadcast_by_messages(comm, 0, &mut Wanted::End(done.is_ok()).bytes())?;
        done
    })
}

/// What each of the others answers.
fn asked_of_others<C: Communicator + ?Sized>(comm: &C, wanted: Wanted) -> Result<Vec<Vec<u8>>, CommError> {
    broadcast_by_messages(comm, 0, &mut wanted.bytes())?;
    told_by_others(comm)
}

fn told_by_others<C: Communicator + ?Sized>(comm: &C) -> Result<Vec<Vec<u8>>, CommError> {
    (1..comm.size()).map(|rank| comm.receive(rank)).collect()
}

fn answer_all<C: Communicator + ?Sized>(
    comm: &C,
    asked: &Receiver<Question>,
    answers: &Sender<Vec<Vec<u8>>>,
) -> Result<(), CommError> {
    let mut own = Own::default();
    for question in asked {
        let wanted = match question {
            Question::Points(dims, parts) => {
                broadcast_by_messages(comm, 0, &mut Wanted::Points(dims).bytes())?;
                for (rank, part) in parts.iter().enumerate().skip(1) {
                    comm.send(rank, part)?;
                }
                own = Own { data: reals(&parts[0])?, dims };
                continue;
            }
            Question::Ahead(known, all, (is_wanted, found)) => {
                broadcast_by_messages(comm, 0, &mut Wanted::Ahead.bytes())?;
                (1..comm.size()).try_for_each(|rank| comm.send(rank, &known))?;
                drop(known);
                (1..comm.size()).try_for_each(|rank| comm.receive(rank).map(drop))?;
                let _ = answers.send(Vec::new());
                for params in all {
                    broadcast_by_messages(comm, 0, &mut Wanted::OthersDbscan(params).bytes())?;
                    // Here it would be once more for each of the radii that are ahead.
                    let is_wanted = is_wanted.recv().is_ok();
                    let told = told_by_others(comm)?;
                    if !is_wanted || found.send((params, told)).is_err() {
                        break;
                    }
                }
                continue;
            }
            Question::Send(wanted, parts) => {
                broadcast_by_messages(comm, 0, &mut wanted.bytes())?;
                (1..).zip(&parts).try_for_each(|(rank, part)| comm.send(rank, part))?;
                continue;
            }
            Question::Others(wanted) => {
                let _ = answers.send(asked_of_others(comm, wanted)?);
                continue;
            }
            Question::All(wanted) => wanted,
        };
        broadcast_by_messages(comm, 0, &mut wanted.bytes())?;
        let mut all = vec![own.answer(comm, wanted)?];
        for rank in 1..comm.size() {
            all.push(comm.receive(rank)?);
        }
        // The work has ended where nobody listens.
        let _ = answers.send(all);
    }
    Ok(())
}
