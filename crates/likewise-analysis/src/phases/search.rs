//! Who looks for neighbours among all points: this process, or all processes of
//! an MPI program.

use super::wire::{dbscan_of, put_dbscan};
use anyhow::Result;
use likewise::cluster::kdist::{
    KDistError, KDistSpreadError, k_distances, k_distances_of, k_distances_spread,
};
use likewise::cluster::{Dbscan, DbscanParams, Points, dbscan, dbscan_spread};
use likewise::comm::wire::{self, Taker};
use likewise::comm::{CommError, Communicator};
use std::ops::Range;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Looks for neighbours. All questions are about the same points.
pub trait Search: Sync {
    /// As [`dbscan`].
    fn dbscan(&self, points: Points<'_>, params: &DbscanParams) -> Dbscan;

    /// As [`k_distances`], for each of one or two `k`.
    ///
    /// # Errors
    /// Those of [`k_distances`].
    fn k_distances(&self, points: Points<'_>, k: &[usize]) -> Result<Vec<Vec<f64>>, KDistError>;
}

/// This process alone.
#[derive(Clone, Copy, Debug)]
pub struct Here;

impl Search for Here {
    fn dbscan(&self, points: Points<'_>, params: &DbscanParams) -> Dbscan {
        dbscan(points, params)
    }

    fn k_distances(&self, points: Points<'_>, k: &[usize]) -> Result<Vec<Vec<f64>>, KDistError> {
        match *k {
            // One search finds both.
            [a, b] => Ok(k_distances_of(points, [a, b])?.into()),
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
    KDistances(usize),
    /// Nothing more; whether process 0 has done its work.
    End(bool),
}

impl Wanted {
    fn bytes(self) -> Vec<u8> {
        let (kind, a, b) = match self {
            Self::Points(dims) => (0, dims as u64, 0),
            Self::Dbscan(params) => (1, params.eps().to_bits(), params.min_points() as u64),
            Self::KDistances(k) => (2, k as u64, 0),
            Self::End(well) => (3, well.into(), 0),
        };
        let mut bytes = Vec::new();
        wire::put_numbers(&mut bytes, [kind, a, b]);
        bytes
    }

    fn of(bytes: &[u8]) -> Option<Self> {
        let mut taker = Taker::new(bytes);
        let [kind, a, b] = [taker.number()?, taker.number()?, taker.number()?];
        Some(match kind {
            0 => Self::Points(a as usize),
            1 => Self::Dbscan(DbscanParams::new(f64::from_bits(a), b as usize).ok()?),
            2 => Self::KDistances(a as usize),
            3 => Self::End(a != 0),
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
    loop {
        let mut wanted = Vec::new();
        comm.broadcast(0, &mut wanted)?;
        match Wanted::of(&wanted).ok_or_else(out_of_step)? {
            Wanted::End(well) => return Ok(well),
            Wanted::Points(dims) => own = Own { data: reals(&comm.receive(0)?)?, dims },
            wanted => comm.send(0, &own.answer(comm, wanted)?)?,
        }
    }
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
            Wanted::KDistances(k) => match k_distances_spread(points, k, comm) {
                Ok(distances) => wire::put_reals(&mut bytes, &distances),
                Err(KDistSpreadError::Comm(error)) => return Err(error),
                // Process 0 asks for none that do not exist.
                Err(KDistSpreadError::KDist(_)) => return Err(out_of_step()),
            },
            Wanted::Points(_) | Wanted::End(_) => {}
        }
        Ok(bytes)
    }
}

/// A question of the work to the thread that talks to the other processes.
enum Question {
    /// Share out these parts of the points.
    Points(usize, Vec<Vec<u8>>),
    All(Wanted),
}

/// All processes, as the work on process 0 sees them.
struct Ranks {
    size: usize,
    desk: Mutex<Desk>,
}

struct Desk {
    questions: Sender<Question>,
    answers: Receiver<Vec<Vec<u8>>>,
    has_points: bool,
}

/// The points of each process: as many of each, in order.
fn part(n: usize, rank: usize, size: usize) -> Range<usize> {
    likewise::ranks::part(n, rank, size)
}

impl Ranks {
    /// What each process answers; nothing if they cannot work together any more,
    /// which [`on_all`] tells.
    fn ask(&self, points: Points<'_>, wanted: Wanted) -> Option<Vec<Vec<u8>>> {
        let mut desk = self.desk.lock().unwrap_or_else(PoisonError::into_inner);
        if !desk.has_points {
            let rows = points.data();
            let bytes = |rank| {
                let Range { start, end } = part(points.len(), rank, self.size);
                let mut bytes = Vec::with_capacity(8 * (end - start) * points.dims());
                wire::put_reals(&mut bytes, &rows[start * points.dims()..end * points.dims()]);
                bytes
            };
            let parts = (0..self.size).map(bytes).collect();
            desk.questions.send(Question::Points(points.dims(), parts)).ok()?;
            desk.has_points = true;
        }
        desk.questions.send(Question::All(wanted)).ok()?;
        loop {
            match desk.answers.try_recv() {
                Ok(answers) => return Some(answers),
                Err(TryRecvError::Disconnected) => return None,
                // The thread that answers needs the threads of the pool, of
                // which this may be the only one.
                Err(TryRecvError::Empty) => {
                    if rayon::yield_now() != Some(rayon::Yield::Executed) {
                        std::thread::sleep(Duration::from_micros(50));
                    }
                }
            }
        }
    }
}

impl Search for Ranks {
    fn dbscan(&self, points: Points<'_>, params: &DbscanParams) -> Dbscan {
        let answers = self.ask(points, Wanted::Dbscan(*params)).unwrap_or_default();
        dbscan_of(&answers, points.len())
    }

    fn k_distances(&self, points: Points<'_>, k: &[usize]) -> Result<Vec<Vec<f64>>, KDistError> {
        let one = |&k: &usize| {
            if k == 0 {
                return Err(KDistError::Zero);
            }
            if points.len() < k {
                return Err(KDistError::TooFewPoints { points: points.len(), k });
            }
            let answers = self.ask(points, Wanted::KDistances(k)).unwrap_or_default();
            let mut distances = Vec::with_capacity(points.len());
            answers.iter().filter_map(|bytes| wire::reals(bytes)).for_each(|part| distances.extend(part));
            distances.resize(points.len(), 0.0);
            Ok(distances)
        };
        k.iter().map(one).collect()
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
            let desk = Mutex::new(Desk { questions, answers: answered, has_points: false });
            work(&Ranks { size, desk })
        });
        let helped = answer_all(comm, &asked, &answers);
        // A failure reaches the work as an answer that does not come.
        drop(asked);
        drop(answers);
        let done = worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        helped?;
        comm.broadcast(0, &mut Wanted::End(done.is_ok()).bytes())?;
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
                comm.broadcast(0, &mut Wanted::Points(dims).bytes())?;
                for (rank, part) in parts.iter().enumerate().skip(1) {
                    comm.send(rank, part)?;
                }
                own = Own { data: reals(&parts[0])?, dims };
                continue;
            }
            Question::All(wanted) => wanted,
        };
        comm.broadcast(0, &mut wanted.bytes())?;
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
        let at = |i: usize| if i % 17 == 0 { 3.0 * noise(i) } else { (i % 3) as f64 + 0.01 * noise(i) };
        (0..n).flat_map(|i| [at(i), at(i + 51)]).collect()
    }

    #[test]
    fn all_find_what_one_finds() {
        for n in [0, 1, 3, 500] {
            let data = points(n);
            let points = Points::new(&data, 2).expect("finite");
            let params = DbscanParams::new(0.02, 4).expect("valid");
            for size in [1, 2, 5] {
                let found = run_on_threads(size, |comm| {
                    if comm.rank() > 0 {
                        return serve(comm).map(|well| {
                            assert!(well);
                            None
                        });
                    }
                    let found = on_all(comm, |search| {
                        Ok((search.dbscan(points, &params), search.k_distances(points, &[3, 2])))
                    });
                    Ok(Some(found.expect("it works")))
                });
                let (clusters, distances) = found.expect("it works").remove(0).expect("of process 0");
                assert_eq!(clusters, Here.dbscan(points, &params), "{n} points, {size} processes");
                assert_eq!(distances, Here.k_distances(points, &[3, 2]), "{n} points, {size} processes");
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
