//! Who looks for neighbours among all points: this process, or all processes of
//! an MPI program.

use super::wire::{dbscan_of, put_dbscan};
use anyhow::Result;
use likewise::cluster::kdist::{
    KDistError, KDistSpreadError, k_distances, k_distances_of, k_distances_spread, k_distances_spread_of,
};
use likewise::cluster::{
    Along, CoreRadii, Dbscan, DbscanParams, Points, dbscan, dbscan_knowing, dbscan_spread,
};
use likewise::comm::wire::{self, Taker};
use likewise::comm::{CommError, Communicator, broadcast_by_messages};
use likewise::ranks::part;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Looks for neighbours. All questions are about the same points.
pub trait Search: Sync {
    /// As [`dbscan`].
    fn dbscan(&self, points: Points<'_>, params: &DbscanParams) -> Dbscan;

    /// As [`dbscan_knowing`], if it helps.
    fn dbscan_knowing(&self, along: &Along<'_>, params: &DbscanParams, _cores: &CoreRadii) -> Dbscan {
        self.dbscan(along.points(), params)
    }

    /// Whether [`Search::dbscan_knowing`] makes use of what is known.
    fn uses_cores(&self) -> bool {
        false
    }

    /// As [`k_distances`], for each of one to three `k`.
    ///
    /// # Errors
    /// Those of [`k_distances`].
    fn k_distances(&self, points: Points<'_>, k: &[usize]) -> Result<Vec<Vec<f64>>, KDistError>;

    /// Says that [`Search::dbscan`] or [`Search::dbscan_knowing`] will be asked with these, in
    /// this order, while the caller does other work between.
    fn ahead(&self, _points: Points<'_>, _params: &[DbscanParams], _cores: Option<&CoreRadii>) {}
}

/// This process alone.
#[derive(Clone, Copy, Debug)]
pub struct Here;

impl Search for Here {
    fn dbscan(&self, points: Points<'_>, params: &DbscanParams) -> Dbscan {
        dbscan(points, params)
    }

    fn dbscan_knowing(&self, along: &Along<'_>, params: &DbscanParams, cores: &CoreRadii) -> Dbscan {
        dbscan_knowing(along, params, cores)
    }

    fn uses_cores(&self) -> bool {
        true
    }

    fn k_distances(&self, points: Points<'_>, k: &[usize]) -> Result<Vec<Vec<f64>>, KDistError> {
        match *k {
            // One search finds all.
            [a, b] => Ok(k_distances_of(points, [a, b])?.into()),
            [a, b, c] => Ok(k_distances_of(points, [a, b, c])?.into()),
            _ => k.iter().map(|&k| k_distances(points, k)).collect(),
        }
    }
}

/// What process 0 wants of all.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Wanted {
    /// Take points of so many dimensions, which follow.
    Points(usize),
    Dbscan(DbscanParams),
    /// Take what is known of the points, which follows, if anything; then the next come.
    Ahead,
    /// As `Dbscan`, by the others alone, who have all points.
    OthersDbscan(DbscanParams),
    /// For one to three `k`; 0 is none.
    KDistances([usize; 3]),
    /// Nothing more; whether process 0 has done its work.
    End(bool),
}

impl Wanted {
    fn bytes(self) -> Vec<u8> {
        let of_params = |params: DbscanParams| [params.eps().to_bits(), params.min_points() as u64, 0];
        let (kind, numbers) = match self {
            Self::Points(dims) => (0, [dims as u64, 0, 0]),
            Self::Dbscan(params) => (1, of_params(params)),
            Self::KDistances(k) => (2, k.map(|k| k as u64)),
            Self::End(well) => (3, [well.into(), 0, 0]),
            Self::Ahead => (4, [0; 3]),
            Self::OthersDbscan(params) => (5, of_params(params)),
        };
        let mut bytes = Vec::new();
        wire::put_numbers(&mut bytes, std::iter::once(kind).chain(numbers));
        bytes
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let mut taker = Taker::new(bytes);
        let [kind, a, b, c] = [taker.number()?, taker.number()?, taker.number()?, taker.number()?];
        let params = || DbscanParams::new(f64::from_bits(a), b as usize).ok();
        Some(match kind {
            0 => Self::Points(a as usize),
            1 => Self::Dbscan(params()?),
            2 => Self::KDistances([a, b, c].map(|k| k as usize)),
            3 => Self::End(a != 0),
            4 => Self::Ahead,
            5 => Self::OthersDbscan(params()?),
            _ => return None,
        })
    }
}

/// Does what process 0 wants, until it wants nothing more; returns whether it
/// has done its work. For the other processes.
///
/// # Errors
/// The processes could not work together.
pub(super) fn serve<C: Communicator + ?Sized>(comm: &C) -> Result<bool, CommError> {
    let mut own = Own::default();
    let mut next = wanted_by_first(comm)?;
    loop {
        next = match next {
            Wanted::End(well) => return Ok(well),
            Wanted::Points(dims) => {
                own = Own { data: reals(&comm.receive(0)?)?, dims };
                wanted_by_first(comm)?
            }
            Wanted::Ahead => own.answer_ahead(comm, &comm.receive(0)?)?,
            wanted => {
                comm.send(0, &own.answer(comm, wanted)?)?;
                wanted_by_first(comm)?
            }
        }
    }
}

fn wanted_by_first<C: Communicator + ?Sized>(comm: &C) -> Result<Wanted, CommError> {
    let mut wanted = Vec::new();
    broadcast_by_messages(comm, 0, &mut wanted)?;
    Wanted::of(&wanted).ok_or_else(out_of_step)
}

fn out_of_step() -> CommError {
    CommError::out_of_step("serve")
}

fn reals(bytes: &[u8]) -> Result<Vec<f64>, CommError> {
    Ok(wire::reals(bytes).ok_or_else(out_of_step)?.collect())
}

/// The points of this process.
#[derive(Default)]
struct Own {
    data: Vec<f64>,
    dims: usize,
}

impl Own {
    /// What is to be said of them, as it travels. Collective.
    fn answer<C: Communicator + ?Sized>(&self, comm: &C, wanted: Wanted) -> Result<Vec<u8>, CommError> {
        let points = Points::new(&self.data, self.dims).map_err(|_| out_of_step())?;
        let mut bytes = Vec::new();
        match wanted {
            Wanted::Dbscan(params) => put_dbscan(&mut bytes, &dbscan_spread(points, &params, comm)?),
            Wanted::KDistances(k) => match k_distances_of_all(points, k, comm) {
                Ok(distances) => wire::put_reals(&mut bytes, distances.iter().flatten()),
                Err(KDistSpreadError::Comm(error)) => return Err(error),
                // Process 0 asks for none that do not exist.
                Err(KDistSpreadError::KDist(_)) => return Err(out_of_step()),
            },
            // These are no questions to all.
            Wanted::Points(_) | Wanted::Ahead | Wanted::OthersDbscan(_) | Wanted::End(_) => {
                return Err(out_of_step());
            }
        }
        Ok(bytes)
    }

    /// Looks with what radius process 0 asks for, until it wants something else, which is
    /// returned. Collective over the others.
    fn answer_ahead<C: Communicator + ?Sized>(&self, comm: &C, cores: &[u8]) -> Result<Wanted, CommError> {
        let points = Points::new(&self.data, self.dims).map_err(|_| out_of_step())?;
        let cores = match cores {
            [] => None,
            bytes => Some(CoreRadii::take(&mut Taker::new(bytes)).ok_or_else(out_of_step)?),
        };
        let known = cores.as_ref().map(|cores| (Along::of(points), cores));
        loop {
            let params = match wanted_by_first(comm)? {
                Wanted::OthersDbscan(params) => params,
                other => return Ok(other),
            };
            let found = match &known {
                Some((along, cores)) => dbscan_knowing(along, &params, cores),
                None => dbscan_spread(points, &params, &Others(comm))?,
            };
            let mut bytes = Vec::new();
            put_dbscan(&mut bytes, &found);
            comm.send(0, &bytes)?;
        }
    }
}

/// By one search; the second and third `k` may be 0, for none.
fn k_distances_of_all<C: Communicator + ?Sized>(
    points: Points<'_>,
    k: [usize; 3],
    comm: &C,
) -> Result<Vec<Vec<f64>>, KDistSpreadError> {
    Ok(match k {
        [a, 0, _] => vec![k_distances_spread(points, a, comm)?],
        [a, b, 0] => k_distances_spread_of(points, [a, b], comm)?.into(),
        k => k_distances_spread_of(points, k, comm)?.into(),
    })
}

/// All processes but process 0, numbered anew from 0.
struct Others<'c, C: ?Sized>(&'c C);

impl<C: Communicator + ?Sized> Communicator for Others<'_, C> {
    fn rank(&self) -> usize {
        self.0.rank() - 1
    }

    fn size(&self) -> usize {
        self.0.size() - 1
    }

    fn send(&self, to: usize, message: &[u8]) -> Result<(), CommError> {
        self.0.send(to + 1, message)
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, CommError> {
        self.0.receive(from + 1)
    }

    fn fail(&self, reason: &str) {
        self.0.fail(reason);
    }
}

/// A question of the work to the thread that talks to the other processes.
enum Question {
    /// Share out these parts of the points.
    Points(usize, Vec<Vec<u8>>),
    All(Wanted),
    /// Tell the others what is known of the points, ask them one after the other, and pass on
    /// what they find.
    Ahead(Vec<u8>, Vec<DbscanParams>, SyncSender<Ahead>),
}

/// What the others have found ahead, as it came: a label takes four bytes.
type Ahead = (DbscanParams, Vec<Vec<u8>>);

/// How the points are shared out.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SharedOut {
    Not,
    /// As many to each process.
    ToAll,
    /// As many to each but process 0, which has other work.
    ToOthers,
}

/// All processes, as the work on process 0 sees them.
struct Ranks {
    size: usize,
    desk: Mutex<Desk>,
}

struct Desk {
    questions: Sender<Question>,
    answers: Receiver<Vec<Vec<u8>>>,
    shared_out: SharedOut,
    /// What the others find ahead.
    ahead: Option<Receiver<Ahead>>,
    /// The first of what was announced, if this process finds it itself.
    before: Option<DbscanParams>,
}

impl Desk {
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
        let ahead = self.desk().ahead.as_ref().and_then(next);
        if let Some((_, answers)) = ahead.filter(|(of, _)| of == params) {
            return dbscan_of(&answers, points.len());
        }
        let answers = self.ask(points, Wanted::Dbscan(*params)).unwrap_or_default();
        dbscan_of(&answers, points.len())
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
        let (found, ahead) = sync_channel(1);
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
        let asked = desk.questions.send(Question::Ahead(known, others.to_vec(), found));
        desk.ahead = (shared_out.is_some() && asked.is_ok()).then_some(ahead);
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
pub(super) fn on_all<C: Communicator + ?Sized, T: Send>(
    comm: &C,
    work: impl FnOnce(&dyn Search) -> Result<T> + Send,
) -> Result<T> {
    let (questions, asked) = channel();
    let (answers, answered) = channel();
    let size = comm.size();
    std::thread::scope(|scope| {
        let worker = scope.spawn(move || {
            let desk =
                Desk { questions, answers: answered, shared_out: SharedOut::Not, ahead: None, before: None };
            work(&Ranks { size, desk: Mutex::new(desk) })
        });
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
            Question::Ahead(known, all, found) => {
                broadcast_by_messages(comm, 0, &mut Wanted::Ahead.bytes())?;
                (1..comm.size()).try_for_each(|rank| comm.send(rank, &known))?;
                for params in all {
                    broadcast_by_messages(comm, 0, &mut Wanted::OthersDbscan(params).bytes())?;
                    let answers: Result<Vec<_>, _> =
                        (1..comm.size()).map(|rank| comm.receive(rank)).collect();
                    let answers = answers?;
                    if found.send((params, answers)).is_err() {
                        break;
                    }
                }
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

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::comm::run_on_threads;

    /// Points of three tight clouds and some noise.
    fn points(n: usize) -> Vec<f64> {
        let noise = |i: usize| ((i * 7919) % 1009) as f64 / 1009.0;
        let at =
            |i: usize| if i.is_multiple_of(17) { 3.0 * noise(i) } else { (i % 3) as f64 + 0.01 * noise(i) };
        (0..n).flat_map(|i| [at(i), at(i + 51)]).collect()
    }

    #[test]
    fn all_find_what_one_finds() {
        for n in [0, 1, 3, 500] {
            let data = points(n);
            let points = Points::new(&data, 2).expect("finite");
            let [params, wider] = [0.02, 0.4].map(|eps| DbscanParams::new(eps, 4).expect("valid"));
            for size in [1, 2, 5] {
                let found = run_on_threads(size, |comm| {
                    if comm.rank() > 0 {
                        return serve(comm).map(|well| {
                            assert!(well);
                            None
                        });
                    }
                    let found = on_all(comm, |search| {
                        let distances = search.k_distances(points, &[3, 2]);
                        let core = search.k_distances(points, &[4, 3, 5]);
                        let radii = vec![params.eps(), wider.eps()];
                        let cores = core.ok().map(|found| CoreRadii::of(&found[0], 4, radii));
                        if size > 1 {
                            search.ahead(points, &[params, wider], cores.as_ref());
                        }
                        let along = Along::of(points);
                        let found = [params, wider, params].map(|params| match &cores {
                            Some(cores) => search.dbscan_knowing(&along, &params, cores),
                            None => search.dbscan(points, &params),
                        });
                        // Nobody asks for what was announced.
                        search.ahead(points, &vec![wider; if size > 1 { 5 } else { 0 }], None);
                        assert_eq!(search.dbscan(points, &params), found[0]);
                        Ok((found, distances))
                    });
                    Ok(Some(found.expect("it works")))
                });
                let (clusters, distances) = found.expect("it works").remove(0).expect("of process 0");
                let expected = [params, wider, params].map(|params| Here.dbscan(points, &params));
                assert_eq!(clusters, expected, "{n} points, {size} processes");
                assert_eq!(distances, Here.k_distances(points, &[3, 2]), "{n} points, {size} processes");
            }
        }
    }

    /// What the others are asked of two radii that are announced, and what is asked of them when
    /// the first is wanted.
    #[test]
    fn of_two_processes_the_first_finds_the_first_radius_itself() {
        let data = points(60);
        let points = Points::new(&data, 2).expect("finite");
        let radii = [0.02, 0.4].map(|eps| DbscanParams::new(eps, 4).expect("valid"));
        for (size, of_others) in [(2, &radii[1..]), (3, &radii[..])] {
            let ((questions, asked), (_answers, answered)) = (channel(), channel());
            let desk =
                Desk { questions, answers: answered, shared_out: SharedOut::Not, ahead: None, before: None };
            let ranks = Ranks { size, desk: Mutex::new(desk) };
            ranks.ahead(points, &radii, None);
            assert!(matches!(asked.try_recv(), Ok(Question::Points(2, _))));
            let Ok(Question::Ahead(_, ahead, _found)) = asked.try_recv() else { panic!("asked ahead") };
            assert_eq!(ahead, of_others, "{size} processes");
            if size == 2 {
                assert_eq!(ranks.dbscan(points, &radii[0]), dbscan(points, &radii[0]));
                assert!(asked.try_recv().is_err(), "nothing is asked of the other");
            }
        }
    }

    #[test]
    fn the_others_know_that_the_work_failed() {
        let ended = run_on_threads(3, |comm| {
            if comm.rank() > 0 {
                return serve(comm);
            }
            let done: Result<()> = on_all(comm, |_| anyhow::bail!("no"));
            assert_eq!(done.expect_err("it fails").to_string(), "no");
            Ok(false)
        });
        assert_eq!(ended.expect("they work together"), [false; 3]);
    }
}
