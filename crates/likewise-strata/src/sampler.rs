//! What a rank does at the end of each window.

use crate::agree::{self, out_of_step};
use crate::alone::alone;
use crate::effort::Effort;
use crate::plan::{Promise, Sizes, Spread, decide, last_lots, lot, ranks, spread};
use crate::{Options, StrataError};
use likewise::cluster::euclidean;
use likewise::cluster::medoids::capek::{CapekParams, ClusterCount, Criterion, Mode, capek};
use likewise::ranks::{Moments, Wavelet, moments, signature};
use likewise_comm::{CommError, Communicator, Reduction, wire};
use likewise_recording::{Choice, EffortRegion, SampledRank, Window};
use std::collections::HashSet;

/// Regions that are compared each by itself when strata are made; the others are
/// compared together. It bounds what travels.
const COMPARED: usize = 8;

/// Numbers of the low band of a signature, at most.
const LOW: usize = 4;

/// What was adapted; the same on all ranks but for `window` and `is_sampled`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Adapted {
    /// On rank 0, what goes into the recording: the bytes of a [`Window`]. None
    /// on other ranks, and where there was no step.
    pub window: Option<Vec<u8>>,
    /// Whether the effort of this rank is in it.
    pub is_sampled: bool,
    /// Strata in the window.
    pub n_strata: usize,
    /// How many ranks were sampled in it.
    pub n_sampled: usize,
    /// Why there are strata, or none.
    pub choice: Choice,
    /// Whether strata and sample were drawn by the effort of the window itself.
    pub is_redrawn: bool,
}

/// A rank's part in the sampling of all.
///
/// [`step`](Self::step) is told what the rank computed, [`adapt`](Self::adapt)
/// ends a window on all ranks, [`finish`](Self::finish) the last one.
#[derive(Debug)]
pub struct Sampler {
    options: Options,
    promise: Promise,
    effort: Effort,
    /// Steps before this window.
    first_step: u64,
    plan: Option<Plan>,
    /// So many samples were drawn.
    draws: u64,
    /// Regions whose names were told; the same on all ranks.
    named: HashSet<u128>,
}

/// Strata and a sample of them, as this rank knows them.
#[derive(Clone, Debug)]
struct Plan {
    strata: Strata,
    is_sampled: bool,
    /// On rank 0, the ranks that are sampled.
    sampled: Vec<usize>,
}

/// Strata that were found.
#[derive(Clone, Debug)]
struct Strata {
    choice: Choice,
    equation2: (f64, f64),
    sizes: Sizes,
    /// That of this rank.
    stratum: u32,
    /// On rank 0, those of all.
    runs: Vec<(u32, u64)>,
}

/// A window as this rank knows it.
struct Own {
    n_steps: usize,
    /// Step by step, the effort in each region, then in all others.
    rows: Vec<u64>,
    width: usize,
    /// The effort in every step, then in all steps.
    totals: Vec<f64>,
}

impl Sampler {
    /// A sampler that knows nothing yet.
    ///
    /// # Errors
    /// What is asked for is impossible.
    pub fn new(options: Options) -> Result<Self, StrataError> {
        options.check()?;
        Ok(Self {
            promise: Promise::of(&options),
            options,
            effort: Effort::default(),
            first_step: 0,
            plan: None,
            draws: 0,
            named: HashSet::new(),
        })
    }

    /// A step of this rank has ended: what it computed in it, by region, in ns.
    /// A region may be there several times. Its number is the same on all ranks.
    ///
    /// # Returns
    /// Whether the window is full. Then all ranks call
    /// [`adapt`](Self::adapt); they may also do so earlier or later, as long as
    /// all do after the same step.
    pub fn step(&mut self, regions: &[(u128, u64)]) -> bool {
        self.effort.step(regions);
        self.effort.n_steps() >= self.options.every
    }

    /// Ends a window, on all ranks: rank 0 is given what the sampled ranks have
    /// measured in it, and strata and sample of the next one are chosen. `name`
    /// says what a region of this rank is called; it is asked once in a run for
    /// each region, on the first rank that has it.
    ///
    /// A window is of the sample that was drawn after the one before. The first
    /// one is of a sample that is drawn by its own effort, and so is one in which
    /// ranks differ so much from before that the sample does not keep the
    /// promise.
    ///
    /// # Errors
    /// [`StrataError`]. After [`StrataError::Steps`] one can go on.
    ///
    /// # Complexity
    /// O(log P) messages a rank, and those of CAPEK; rank 0 looks at every rank
    /// once.
    pub fn adapt<C: Communicator>(
        &mut self,
        comm: &C,
        name: impl Fn(u128) -> String,
    ) -> Result<Adapted, StrataError> {
        self.window(comm, name, false)
    }

    /// Ends the last window, as [`adapt`](Self::adapt) does, and chooses nothing
    /// for a next one.
    ///
    /// # Errors
    /// [`StrataError`].
    pub fn finish<C: Communicator>(
        mut self,
        comm: &C,
        name: impl Fn(u128) -> String,
    ) -> Result<Adapted, StrataError> {
        self.window(comm, name, true)
    }

    fn window<C: Communicator>(
        &mut self,
        comm: &C,
        name: impl Fn(u128) -> String,
        is_last: bool,
    ) -> Result<Adapted, StrataError> {
        comm.phase("strata: regions");
        let effort = std::mem::take(&mut self.effort);
        let first_step = self.first_step;
        let n_steps = agree::steps(comm, effort.n_steps())?;
        if n_steps == 0 {
            return Ok(Adapted::default());
        }
        self.first_step += n_steps as u64;
        let ids = agree::regions(comm, &effort, self.options.regions)?;
        let regions = self.regions(comm, &ids, &effort, name)?;
        let own = Own::of(&effort, &ids);
        drop(effort);
        comm.phase("strata: plan");
        let last = self.plan.take();
        let fitting = match last {
            Some(plan) => self.still_fits(comm, &own, plan)?,
            None => None,
        };
        let (plan, spread, is_redrawn) = match fitting {
            Some((plan, spread)) => {
                if !is_last {
                    let strata = self.strata(comm, &own)?;
                    self.plan = Some(self.draw(comm, &strata)?);
                }
                (plan, spread, false)
            }
            None => {
                let strata = self.strata(comm, &own)?;
                let plan = self.draw(comm, &strata)?;
                if !is_last {
                    self.plan = Some(self.draw(comm, &strata)?);
                }
                (plan, strata.sizes.spread, true)
            }
        };
        comm.phase("strata: write");
        let window = Window {
            first_step,
            n_steps: n_steps as u64,
            regions,
            choice: plan.strata.choice,
            is_redrawn,
            error: self.options.error,
            confidence: self.options.confidence,
            expected_error: spread.error,
            deviations: spread.deviations,
            equation2: plan.strata.equation2,
            whole: own.whole(comm)?,
            sampled: own.gather(comm, &plan)?,
            strata: plan.strata.runs,
        };
        Ok(Adapted {
            window: (comm.rank() == 0).then(|| window.encode()),
            is_sampled: plan.is_sampled,
            n_strata: plan.strata.sizes.of_strata.len(),
            n_sampled: plan.strata.sizes.of_strata.iter().sum(),
            choice: plan.strata.choice,
            is_redrawn,
        })
    }

    /// On rank 0, the regions with the names of those that had none yet.
    fn regions<C: Communicator>(
        &mut self,
        comm: &C,
        ids: &[u128],
        effort: &Effort,
        name: impl Fn(u128) -> String,
    ) -> Result<Vec<EffortRegion>, CommError> {
        let new: Vec<u128> = ids.iter().copied().filter(|id| self.named.insert(*id)).collect();
        let names = if new.is_empty() { Vec::new() } else { agree::names(comm, &new, effort, name)? };
        let mut names = new.into_iter().zip(names).peekable();
        let region = |&id: &u128| {
            let name = names.next_if(|(new, _)| *new == id).map(|(_, name)| name);
            EffortRegion { id, name: name.unwrap_or_default() }
        };
        Ok(ids.iter().map(region).collect())
    }

    /// A plan with the spread in a window, if it keeps the promise there.
    fn still_fits<C: Communicator>(
        &self,
        comm: &C,
        own: &Own,
        plan: Plan,
    ) -> Result<Option<(Plan, Spread)>, CommError> {
        let sizes = &plan.strata.sizes.of_strata;
        let figures = own.figures(comm, plan.strata.stratum, sizes.len())?;
        let spread = spread(&figures, sizes, &self.promise);
        Ok(self.promise.holds(spread.error).then_some((plan, spread)))
    }

    /// The strata of a window.
    fn strata<C: Communicator>(&self, comm: &C, own: &Own) -> Result<Strata, StrataError> {
        let k = self.options.k_max.min(comm.size().div_ceil(2));
        let criterion = Criterion::Bic(|object: &Vec<f64>| object);
        let params = CapekParams {
            mode: Mode::Sampled,
            seed: self.options.seed,
            ..CapekParams::new(ClusterCount::UpTo(k), criterion)
        };
        let unlike = |a: &Vec<f64>, b: &Vec<f64>| euclidean(a, b);
        let found = alone(|| capek(comm, &[own.signature()], &unlike, &params))?;
        comm.phase("strata: plan");
        let figures = own.figures(comm, found.labels[0], found.medoids.len())?;
        let decision = decide(&figures, &self.promise);
        let stratum = decision.stratum[found.labels[0] as usize];
        Ok(Strata {
            choice: decision.choice,
            equation2: decision.equation2,
            sizes: decision.sizes,
            stratum,
            runs: agree::runs(comm, stratum)?,
        })
    }

    /// Another sample of these strata: rank 0 draws, and tells each stratum the
    /// greatest lot that is drawn.
    fn draw<C: Communicator>(&mut self, comm: &C, strata: &Strata) -> Result<Plan, CommError> {
        let (seed, draw) = (self.options.seed, self.draws);
        self.draws += 1;
        let lot = |rank: usize| lot(seed, draw, rank);
        let mut bytes = Vec::new();
        if comm.rank() == 0 {
            wire::put_numbers(&mut bytes, last_lots(&strata.runs, &strata.sizes.of_strata, lot));
        }
        comm.broadcast(0, &mut bytes)?;
        let lots: Vec<u64> = wire::numbers(&bytes).ok_or_else(out_of_step)?.collect();
        let is_in =
            |rank: usize, stratum: u32| lots.get(stratum as usize).is_some_and(|last| lot(rank) <= *last);
        let all = ranks(&strata.runs).filter(|(rank, stratum)| is_in(*rank, *stratum));
        Ok(Plan {
            is_sampled: is_in(comm.rank(), strata.stratum),
            sampled: all.map(|(rank, _)| rank).collect(),
            strata: strata.clone(),
        })
    }
}

impl Own {
    fn of(effort: &Effort, regions: &[u128]) -> Self {
        let (rows, width) = (effort.rows(regions), regions.len() + 1);
        let step = |row: &[u64]| row.iter().map(|ns| *ns as f64).sum::<f64>();
        let mut totals: Vec<f64> = rows.chunks_exact(width).map(step).collect();
        totals.push(totals.iter().sum());
        Self { n_steps: effort.n_steps(), rows, width, totals }
    }

    /// What is compared: the wavelet signature of the effort in each of the
    /// greatest regions, and in all others together.
    fn signature(&self) -> Vec<f64> {
        let apart = COMPARED.min(self.width - 1);
        let levels = (0..).find(|level| self.n_steps.div_ceil(1 << level) <= LOW).unwrap_or(0);
        let of = |columns: std::ops::Range<usize>| {
            let rows = self.rows.chunks_exact(self.width);
            let series: Vec<f64> =
                rows.map(|row| row[columns.clone()].iter().map(|ns| *ns as f64).sum()).collect();
            signature(&series, levels, Wavelet::Haar)
        };
        let each = (0..apart).map(|column| column..column + 1);
        each.chain(std::iter::once(apart..self.width)).flat_map(of).collect()
    }

    /// The figures of strata in this window.
    fn figures<C: Communicator>(
        &self,
        comm: &C,
        stratum: u32,
        n_strata: usize,
    ) -> Result<Vec<Moments>, CommError> {
        moments(comm, &self.totals, self.totals.len(), &[stratum], n_strata)
    }

    /// The effort of all ranks in each step.
    fn whole<C: Communicator>(&self, comm: &C) -> Result<Vec<u64>, CommError> {
        // Centuries of a rank, if there are many: the sum never wraps.
        let most = i64::MAX as u64 / comm.size() as u64;
        let step = |row: &[u64]| row.iter().fold(0_u64, |sum, ns| sum.saturating_add(*ns)).min(most) as i64;
        let mut sums: Vec<i64> = self.rows.chunks_exact(self.width).map(step).collect();
        comm.all_reduce(Reduction::Sum, &mut sums)?;
        Ok(sums.into_iter().map(|sum| sum as u64).collect())
    }

    /// On rank 0, what the sampled ranks have measured. Nobody else sends.
    fn gather<C: Communicator>(&self, comm: &C, plan: &Plan) -> Result<Vec<SampledRank>, CommError> {
        if comm.rank() > 0 && plan.is_sampled {
            let mut bytes = Vec::with_capacity(8 * self.rows.len());
            wire::put_numbers(&mut bytes, self.rows.iter().copied());
            comm.send(0, &bytes)?;
        }
        let one = |&rank: &usize| {
            let effort = if rank == comm.rank() {
                self.rows.clone()
            } else {
                wire::numbers(&comm.receive(rank)?).ok_or_else(out_of_step)?.collect()
            };
            Ok(SampledRank { rank: rank as u32, effort })
        };
        plan.sampled.iter().map(one).collect()
    }
}
