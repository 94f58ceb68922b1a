//! What the other processes do for process 0.

use crate::phases::kept::KeptCounters;
use crate::phases::wire::put_dbscan;
use likewise::cluster::kdist::{KDistSpreadError, k_distances_spread, k_distances_spread_of};
use likewise::cluster::{Along, CoreRadii, DbscanParams, Points, dbscan_knowing, dbscan_spread};
use likewise::comm::wire::{self, Taker};
use likewise::comm::{CommError, Communicator, broadcast_by_messages};

/// What process 0 wants of all.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Wanted {
    /// Take points of so many dimensions, which follow.
    Points(usize),
    Dbscan(DbscanParams),
    /// Take what is known of the points, which follows, if anything; then the next come.
    Ahead,
    /// As `Dbscan`, by the others alone, who have all points.
    OthersDbscan(DbscanParams),
    /// For one to three `k`; 0 is none.
    KDistances([usize; 3]),
    /// Keep counters, of which a head follows.
    Keep,
    /// Take the values of that counter, which follow.
    Counter(usize),
    /// Tell the values of that counter.
    Tell(usize),
    /// Nothing more; whether process 0 has done its work.
    End(bool),
}

impl Wanted {
    pub(super) fn bytes(self) -> Vec<u8> {
        let of_params = |params: DbscanParams| [params.eps().to_bits(), params.min_points() as u64, 0];
        let (kind, numbers) = match self {
            Self::Points(dims) => (0, [dims as u64, 0, 0]),
            Self::Dbscan(params) => (1, of_params(params)),
            Self::KDistances(k) => (2, k.map(|k| k as u64)),
            Self::End(well) => (3, [well.into(), 0, 0]),
            Self::Ahead => (4, [0; 3]),
            Self::OthersDbscan(params) => (5, of_params(params)),
            Self::Keep => (6, [0; 3]),
            Self::Counter(counter) => (7, [counter as u64, 0, 0]),
            Self::Tell(counter) => (8, [counter as u64, 0, 0]),
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
            6 => Self::Keep,
            7 => Self::Counter(a as usize),
            8 => Self::Tell(a as usize),
            _ => return None,
        })
    }
}
/// Does what process 0 wants, until it wants nothing more; returns the counters that it keeps,
/// if process 0 has done its work. For the other processes.
///
/// # Errors
/// The processes could not work together.
pub(in crate::phases) fn serve<C: Communicator + ?Sized>(
    comm: &C,
) -> Result<Option<KeptCounters>, CommError> {
    let (mut own, mut kept) = (Own::default(), KeptCounters::default());
    let mut next = wanted_by_first(comm)?;
    loop {
        match next {
            Wanted::End(well) => return Ok(well.then_some(kept)),
            Wanted::Points(dims) => own = Own { data: reals(&comm.receive(0)?)?, dims },
            Wanted::Ahead => {
                let known = comm.receive(0)?;
                // Points and all have come.
                comm.send(0, &[])?;
                next = own.answer_ahead(comm, &known)?;
                continue;
            }
            Wanted::Keep => kept = KeptCounters::of_head(&comm.receive(0)?)?,
            Wanted::Counter(counter) => kept.take(counter, &comm.receive(0)?)?,
            Wanted::Tell(counter) => comm.send(0, &kept.tell(counter)?)?,
            wanted => comm.send(0, &own.answer(comm, wanted)?)?,
        }
        next = wanted_by_first(comm)?;
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

pub(super) fn reals(bytes: &[u8]) -> Result<Vec<f64>, CommError> {
    Ok(wire::reals(bytes).ok_or_else(out_of_step)?.collect())
}

/// The points of this process.
#[derive(Default)]
pub(super) struct Own {
    pub(super) data: Vec<f64>,
    pub(super) dims: usize,
}

impl Own {
    /// What is to be said of them, as it travels. Collective.
    pub(super) fn answer<C: Communicator + ?Sized>(
        &self,
        comm: &C,
        wanted: Wanted,
    ) -> Result<Vec<u8>, CommError> {
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
            _ => return Err(out_of_step()),
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
