//! Figures of phases in terms that runs are compared in.

use std::collections::BTreeMap;

use super::code::{CodeOfPhase, regions};
use super::cpu::{Bounds, CpuTimes, in_cpu};
use super::factors::{Factor, RunFigures, Scaling, change, figures_of, phase_figures};
use super::lone::{self, Lone, alone_of};
use super::matched::{Evidence, RunBursts, RunMatch};
use super::measured::{Measured, Threads};
use super::repeats::{Per, PhaseRepeats, Repeats, is_same};
use super::spread::Evenness;
use super::steps::SAME_WORK;
use super::strays::Strays;
use super::times::{ByTask, OddTasks, Times, as_many_each, odd_tasks, threads_of};
use crate::bursts::clock::Clock;
use crate::bursts::findings::LEAST_SHARE;
use crate::cluster::ClusterId;
use crate::table::Nanos;

/// Whole iterations are compared only if phases hold at least this share of the
/// computing time of each run.
const COMMON: f64 = 0.95;

/// A phase that matches at least so well is in no doubt.
const SURE: f64 = 0.95;

/// Two amounts of work may be the same if they differ by at most this share: two steps in one
/// burst execute what they did apart. With a quarter, one in two steps that had more work
/// beside one that was gone was lost, because a part of that one was about as much.
const AS_MUCH: f64 = 0.1;

/// ln(work per burst) of two parts of one step differs by at most so much.
const ONE_STEP: f64 = 0.03;
/// That of two steps differs by more than this.
const TWO_STEPS: f64 = 0.1;

/// One run does a phase more often than another by more than this share.
const MORE_OFTEN: f64 = 0.1;

/// The applications and tasks of threads, and what each does of what threads do.
fn by_task(threads: &Threads, of_thread: impl Fn(usize) -> (f64, f64)) -> (Vec<(u32, u32)>, ByTask) {
    let (mut tasks, mut sums) = (Vec::new(), ByTask::default());
    for (t, &(app, task, _)) in threads.iter().enumerate() {
        if tasks.last() != Some(&(app, task)) {
            tasks.push((app, task));
            sums.time.push(0.0);
            sums.bursts.push(0.0);
        }
        let (time, bursts) = of_thread(t);
        *sums.time.last_mut().expect("a task was added") += time;
        *sums.bursts.last_mut().expect("a task was added") += bursts;
    }
    (tasks, sums)
}

/// Odd tasks of a phase, and why they take longer.
#[derive(Clone, Debug, PartialEq)]
pub struct SlowTasks {
    /// Which, and by how much.
    pub odd: OddTasks,
    /// The factors of these tasks alone, against the same ones in the other
    /// run; those below 1 cost time.
    pub factors: Vec<Factor>,
}

/// The thread and the time of each burst of a phase, in burst order.
type Members = Vec<(u32, f64)>;

/// The CPU time of a run.
#[derive(Clone, Debug)]
struct OfCpu<'a> {
    times: CpuTimes<'a>,
    /// What is known of each phase.
    bounds: Vec<Bounds>,
    /// Of each phase, the thread and the CPU time of its bursts.
    members: Vec<Members>,
    /// Of each phase: figures where times are CPU times.
    figures: Vec<RunFigures>,
}

/// Runs whose phases are known, and how often they are run.
#[derive(Clone, Debug)]
pub struct Measures<'a> {
    pub(super) runs: &'a [RunBursts<'a>],
    pub(super) found: &'a RunMatch,
    pub(super) repeats: &'a Repeats,
    /// Of each run and phase, then of the bursts that are in none.
    pub(super) figures: Vec<Vec<RunFigures>>,
    threads: Vec<Threads>,
    /// Of each run and phase: thread and duration of its bursts.
    members: Vec<Vec<Members>>,
    /// Of each run that has CPU times.
    cpu: Vec<Option<OfCpu<'a>>>,
    /// Likewise: how many of its bursts are in each cluster of the run.
    clusters: Vec<Vec<BTreeMap<ClusterId, u64>>>,
    strays: Vec<Strays>,
    /// Of each run and phase.
    code: Vec<Vec<CodeOfPhase>>,
    lone: Vec<Lone>,
    /// Of each run, the cycles per ns that most of its cycles are counted at.
    pub(super) clocks: Vec<Option<f64>>,
    /// Of each run and phase.
    pub(super) evenness: Vec<Vec<Evenness>>,
}

impl<'a> Measures<'a> {
    /// Sums the bursts of each phase of each run. `before` are the runs before they were
    /// [calmed](super::calm): who computes beside a burst that took long once is not alone.
    ///
    /// # Complexity
    /// O(n log n) for n bursts.
    #[must_use]
    pub fn of(
        runs: &'a [RunBursts<'a>],
        before: &[RunBursts<'_>],
        found: &'a RunMatch,
        repeats: &'a Repeats,
    ) -> Self {
        let n = found.phases.len();
        let alone: Vec<Vec<u64>> =
            runs.iter().zip(before).map(|(run, before)| alone_of(run, before)).collect();
        let keys: Vec<_> = runs.iter().map(threads_of).collect();
        let members_of = |r: usize, time: &mut dyn FnMut(usize, usize) -> f64| {
            let mut of_run: Vec<Members> = vec![Vec::new(); n];
            for (i, phase) in runs[r].complete.iter().zip(&found.phase_of[r]) {
                if let Some(p) = phase {
                    let (i, p) = (i as usize, *p as usize);
                    of_run[p].push((keys[r].1[i], time(i, p)));
                }
            }
            of_run
        };
        let by_clock = |r: usize| members_of(r, &mut |i, _| runs[r].table.duration[i].0 as f64);
        let members: Vec<Vec<Members>> = (0..runs.len()).map(by_clock).collect();
        let of_phases = |r: usize| phase_figures(&runs[r], &alone[r], &found.phase_of[r], n);
        let figures: Vec<Vec<RunFigures>> = (0..runs.len()).map(of_phases).collect();
        let of_cpu = |r: usize| {
            let times = CpuTimes::of(&runs[r], &found.phase_of[r], n)?;
            let mut bounds = vec![Bounds::default(); n];
            let members = members_of(r, &mut |i, p| bounds[p].add_one(times.of_burst(i)));
            let figures = members.iter().zip(&figures[r]).map(|(each, of)| in_cpu(of, each)).collect();
            Some(OfCpu { times, bounds, members, figures })
        };
        let cpu = (0..runs.len()).map(of_cpu).collect();
        let strays = runs.iter().zip(&found.phase_of).map(|(run, of)| Strays::of(run, of, n)).collect();
        let clusters = |(run, phase_of): (&RunBursts<'_>, &Vec<Option<u32>>)| {
            let mut counts = vec![BTreeMap::new(); n];
            for (id, phase) in run.clustering.labels.iter().zip(phase_of) {
                if let Some((id, p)) = id.zip(*phase) {
                    *counts[p as usize].entry(id).or_default() += 1;
                }
            }
            counts
        };
        let clusters = runs.iter().zip(&found.phase_of).map(clusters).collect();
        let of_run = |((run, regions), of): ((_, _), &Vec<_>)| CodeOfPhase::of_all(run, (regions, of), n);
        let code = runs.iter().zip(&regions(runs)).zip(&found.phase_of).map(of_run).collect();
        let threads = keys.into_iter().map(|(keys, _)| Threads::from(keys)).collect();
        let lone = |r: usize| Lone::of(&runs[r], &alone[r], &found.phase_of[r]);
        let lone = (0..runs.len()).map(lone).collect();
        let evenness =
            runs.iter().zip(&found.phase_of).map(|(run, of)| Evenness::of_all(run, of, n)).collect();
        let clocks = runs
            .iter()
            .map(|run| Some(Clock::of(run.table).filter(|clock| clock.misfit().is_none())?.rate()))
            .collect();
        Self {
            runs,
            found,
            repeats,
            figures,
            threads,
            members,
            cpu,
            clusters,
            strays,
            code,
            lone,
            clocks,
            evenness,
        }
    }

    /// The share of a phase's time that may belong to another phase in one of
    /// two runs but not in the other. Two kinds of bursts count: those in the
    /// phase whose cluster is at home in another phase, and those elsewhere whose
    /// cluster is at home in this one. Runs with the same threads are compared
    /// thread by thread; of other runs, the one with more counts. Efficiency goes by the thread
    /// that takes longest, so where its time may be another one, by more than all together, the
    /// share of that counts.
    #[must_use]
    pub fn mixed(&self, p: usize, a: usize, b: usize) -> f64 {
        let apart = |of: fn(&Strays) -> &[Vec<f64>]| {
            let (in_a, in_b) = (&of(&self.strays[a])[p], &of(&self.strays[b])[p]);
            if self.threads[a] == self.threads[b] {
                in_a.iter().zip(in_b).map(|(x, y)| (x - y).abs()).sum()
            } else {
                in_a.iter().sum::<f64>().max(in_b.iter().sum())
            }
        };
        let [in_a, in_b] = [a, b].map(|r| self.strays[r].longest[p]);
        let of_longest = in_a.iter().zip(in_b).map(|(x, y)| 1.0 - (x / y).min(y / x)).fold(0.0, f64::max);
        of_longest.max(apart(|strays| &strays.inside)).max(apart(|strays| &strays.outside))
    }

    /// Whether two runs name other code for most of what they do in a phase. What one of them
    /// does there, the other may do in many bursts, between calls that the one does not make.
    #[must_use]
    pub fn is_of_other_code(&self, p: usize, (a, b): (usize, usize)) -> bool {
        self.code[a][p].is_other(&self.code[b][p])
    }

    /// Figures of the grouped bursts of a run that are in no phase.
    #[must_use]
    pub fn left(&self, run: usize) -> RunFigures {
        self.figures[run][self.found.phases.len()]
    }

    /// A phase in each run; `None` where it is not found.
    #[must_use]
    pub fn phase(&self, p: usize) -> Vec<Option<Measured>> {
        let PhaseRepeats { per, times: repetitions, .. } = &self.repeats.phases[p];
        let times: Vec<Option<Times>> =
            (0..self.runs.len()).map(|r| self.times(p, r, &self.members[r][p])).collect();
        let shortest = times.iter().flatten().map(Times::n).min().unwrap_or(1);
        let is_dealt_out = self.repeats.in_no_order || self.is_dealt_out(p);
        let of_run = |(r, times): (usize, &Option<Times>)| {
            let times = times.as_ref()?;
            let block = if *per == Per::Run { times.n() } else { shortest };
            let of = |figures, times: &Times| {
                let of = Measured::of(figures, repetitions[r], times, block, &self.threads[r]);
                match per {
                    _ if is_dealt_out => Measured { usual_balance: None, ..of.balanced(Some(1.0)) },
                    Per::Burst => of.balanced(times.balance(block)),
                    _ => of,
                }
            };
            let mut measured = of(self.figures[r][p], times);
            measured.cpu = self.cpu[r].as_ref().and_then(|cpu| {
                let times = self.times(p, r, &cpu.members[p])?;
                cpu.bounds[p].known(|| of(cpu.figures[p], &times))
            });
            Some(measured)
        };
        times.iter().enumerate().map(of_run).collect()
    }

    /// Whether a phase that is told by its code is dealt out: where several threads of a run have it, they
    /// have unlike numbers of its bursts. Who has how many then says nothing of load balance: who has
    /// fewer does something else meanwhile.
    fn is_dealt_out(&self, p: usize) -> bool {
        let is_uneven = |r: usize| {
            let counts = self.members[r][p].chunk_by(|a, b| a.0 == b.0).map(<[_]>::len);
            let (n, least, most) = counts
                .fold((0, usize::MAX, 0), |(n, least, most), own| (n + 1, own.min(least), own.max(most)));
            let least = if n == self.threads[r].len() { least } else { 0 };
            n > 1 && !is_same(least as f64, most as f64)
        };
        let is_by_code = |r: usize| self.is_told_by(Evidence::Code, p, (r, r));
        let mut runs = 0..self.runs.len();
        runs.clone().any(is_by_code) && runs.any(is_uneven)
    }

    /// Times of the threads in as many repetitions as each has bursts, or as
    /// the run has iterations, if that is fewer; of single bursts, as if all had as many.
    fn times(&self, p: usize, r: usize, members: &Members) -> Option<Times> {
        let figures = &self.figures[r][p];
        let bursts = (figures.instances / figures.threads.max(1)).max(1);
        let n = self.repeats.iterations[r].map_or(bursts, |(n, _)| n.clamp(1, bursts)) as usize;
        let n_threads = self.threads[r].len();
        (!members.is_empty()).then(|| match self.repeats.phases[p].per {
            Per::Burst if self.repeats.in_no_order => Times::in_no_order(members, n_threads),
            Per::Burst => Times::of(&as_many_each(members), n_threads, n),
            _ => Times::of(members, n_threads, n),
        })
    }

    /// All computation of each run: the whole run, or an iteration, which is
    /// the sum of the loop's phases, whether other runs have them or not. `None`
    /// where iterations are not known, or phases hold less than 95% of a run.
    #[must_use]
    pub fn whole(&self) -> Option<Vec<Option<Measured>>> {
        let runs = 0..self.runs.len();
        match self.repeats.whole? {
            Per::Run => Some(runs.map(|r| Some(self.once(r, &|_| true))).collect()),
            Per::Iteration => {
                let n: Option<Vec<u64>> = self.repeats.iterations.iter().map(|n| n.map(|(n, _)| n)).collect();
                let n = n?;
                if !self.has_little_left() {
                    return None;
                }
                let least = n.iter().copied().min().unwrap_or(1);
                Some(runs.map(|r| Some(self.iteration(r, n[r], least))).collect())
            }
            Per::Burst => None,
        }
    }

    /// Whether phases hold nearly all that every run computes.
    fn has_little_left(&self) -> bool {
        let left = (0..self.runs.len()).map(|r| self.left(r).share);
        left.fold(0.0, f64::max) <= 1.0 - COMMON
    }

    /// Some bursts of a run.
    fn once(&self, r: usize, is_one: &dyn Fn(usize) -> bool) -> Measured {
        let mut measured = Measured::once(figures_of(&self.runs[r], is_one));
        measured.cpu = self.cpu[r].as_ref().and_then(|cpu| {
            let mut bounds = Bounds::default();
            let (_, thread_of) = threads_of(&self.runs[r]);
            let own = (0..).zip(thread_of).filter(|(i, _)| is_one(*i));
            let each: Members =
                own.map(|(i, thread)| (thread, bounds.add_one(cpu.times.of_burst(i)))).collect();
            bounds.known(|| Measured::once(in_cpu(&measured.figures, &each)))
        });
        measured
    }

    /// The phases of the loop of a run of `n` iterations, as if each
    /// were run in every one of them.
    fn iteration(&self, r: usize, n: u64, block: u64) -> Measured {
        let weights: Vec<(usize, f64)> = (self.repeats.phases.iter().enumerate())
            .filter(|(_, repeats)| repeats.in_loop)
            .map(|(p, repeats)| (p, n as f64 / repeats.times[r]))
            .collect();
        let of = |members: &[Members], figures: &[RunFigures]| {
            let mut sum = Times::of(&[], self.threads[r].len(), n as usize);
            for &(p, weight) in &weights {
                sum.add(&Times::of(&members[p], self.threads[r].len(), n as usize), weight);
            }
            let parts: Vec<(f64, &RunFigures)> = weights.iter().map(|&(p, w)| (w, &figures[p])).collect();
            let each = (0..self.threads[r].len()).map(|t| sum.row(t).iter().sum::<f64>());
            let figures = RunFigures::sum(&parts, self.runs[r].threads(), each.fold(0.0, f64::max));
            Measured::of(figures, n as f64, &sum, block as usize, &self.threads[r])
        };
        let mut measured = of(&self.members[r], &self.figures[r]);
        measured.cpu = self.cpu[r].as_ref().and_then(|cpu| {
            let mut bounds = Bounds::default();
            weights.iter().for_each(|&(p, weight)| bounds.add(weight, &cpu.bounds[p]));
            bounds.known(|| of(&cpu.members, &cpu.figures))
        });
        measured
    }

    /// Whether what a phase does more in one of two runs, by more than the share `least`,
    /// may be what other phases do less there. Either it is as much as the phases do that
    /// the run lacks, or one of them: two steps that one run does in one burst. Or this
    /// phase and others that do less match badly: bursts may have been taken for those of
    /// the step beside them. `growth` is how many times as much work run `b` is to do.
    #[must_use]
    pub fn may_be_moved(&self, p: usize, (a, b): (usize, usize), growth: f64, least: f64) -> bool {
        let n = self.found.phases.len();
        let counted = [a, b].into_iter().all(|r| {
            self.figures[r][..n]
                .iter()
                .all(|figures| figures.instances == 0 || figures.instructions.is_some())
        });
        let work = |r: usize, q: usize| {
            let figures = &self.figures[r][q];
            let work = figures.instructions.filter(|_| counted).unwrap_or(figures.total.0 as f64);
            work / self.repeats.phases[p].times[r] * if r == a { growth } else { 1.0 }
        };
        let is_sure = |q: usize| {
            let of =
                |r: usize| self.found.phases[q].runs[r].as_ref().is_some_and(|run| run.confidence >= SURE);
            of(a) && of(b)
        };
        let (more, less) = if work(b, p) > work(a, p) { (b, a) } else { (a, b) };
        let apart = work(more, p) - work(less, p);
        let (lacking, others): (Vec<usize>, Vec<usize>) =
            (0..n).filter(|&q| q != p).partition(|&q| self.figures[more][q].instances == 0);
        let lacking: Vec<f64> = lacking.into_iter().map(|q| work(less, q)).collect();
        let is_all = |moved: f64| (moved - apart).abs() <= AS_MUCH * apart;
        let unsure = others.into_iter().filter(|&q| !is_sure(p) && !is_sure(q));
        let moved: f64 = unsure.map(|q| (work(less, q) - work(more, q)).max(0.0)).sum();
        let in_all: f64 = lacking.iter().sum();
        let is_lacking = is_all(in_all) || is_all(in_all + moved) || lacking.into_iter().any(is_all);
        apart > least * work(more, p) && (is_lacking || 2.0 * moved >= apart)
    }

    /// Whether a phase may be another one in one of two runs: what stands in its place does other
    /// work, and a phase that the other run lacks does the same, and with about as many instructions
    /// per cycle. Differences up to the share `least` are none. `growth` is how many times as much
    /// work run `b` is to do. Where the calls around it tell the phase, it is no other.
    #[must_use]
    pub fn may_be_other(&self, p: usize, (a, b): (usize, usize), growth: f64, least: f64) -> bool {
        let of = |r: usize, q: usize| &self.figures[r][q];
        let apart = |in_a: usize, in_b: usize| {
            let (x, y) = (of(a, in_a), of(b, in_b));
            let (mut work, ipc) = match (x.instructions, y.instructions) {
                (Some(x_work), Some(y_work)) => (y_work / x_work, x.ipc().zip(y.ipc()).map(|(x, y)| y / x)),
                _ => (y.total.0 as f64 / x.total.0 as f64, None),
            };
            work *= self.repeats.phases[in_a].times[a] / self.repeats.phases[in_b].times[b] / growth;
            [work.ln().abs(), ipc.unwrap_or(1.0).ln().abs()]
        };
        let is_told =
            self.is_told_by(Evidence::Calls, p, (a, b)) || self.is_told_by(Evidence::Code, p, (a, b));
        if a == b || is_told || [a, b].into_iter().any(|r| of(r, p).instances == 0) {
            return false;
        }
        // What does the same work is the same phase, however slow it is.
        if apart(p, p)[0] <= least {
            return false;
        }
        let is_like = |[work, ipc]: [f64; 2]| work < SAME_WORK && ipc < SAME_WORK;
        (0..self.found.phases.len()).any(|q| match [a, b].map(|r| of(r, q).instances > 0) {
            [false, true] => is_like(apart(p, q)),
            [true, false] => is_like(apart(q, p)),
            _ => false,
        })
    }

    /// Whether this is why a phase of one run is taken for that of another: of one of the two, as the
    /// other may be what runs are compared with.
    #[must_use]
    pub fn is_told_by(&self, evidence: Evidence, p: usize, (a, b): (usize, usize)) -> bool {
        let of = |r: usize| self.found.phases[p].runs[r].as_ref().map(|run| run.evidence);
        [a, b].into_iter().any(|r| of(r) == Some(evidence))
    }

    /// Whether bursts of a phase may be in another phase in one of two runs: its run has both
    /// in one cluster, and they do the same work there, but not in the other run. Bursts of
    /// iterations that the other run has not may come to stand where it has a step of its
    /// own. Such bursts count from the share `least` of the phase's on.
    #[must_use]
    pub fn may_be_split(&self, p: usize, (a, b): (usize, usize), least: f64) -> bool {
        let cluster = |r: usize, q: usize| self.found.phases[q].runs[r].as_ref()?.clusters.first().copied();
        let apart = |r: usize, q: usize| {
            let [own, other] = [p, q].map(|of| &self.figures[r][of]);
            let work = match (own.instructions, other.instructions) {
                (Some(a), Some(b)) => b / a,
                _ => other.total.0 as f64 / own.total.0 as f64,
            };
            (work * own.instances as f64 / other.instances as f64).ln().abs()
        };
        let is_split = |q: usize, (r, other): (usize, usize)| {
            let [own, of_other] = [self.figures[r][q].instances, self.figures[other][q].instances];
            own > 0
                && of_other > 0
                && cluster(r, p).is_some_and(|id| cluster(r, q) == Some(id))
                && own as f64 > least * self.figures[r][p].instances as f64
                && apart(r, q) <= ONE_STEP
                && apart(other, q) > TWO_STEPS
        };
        let others = (0..self.found.phases.len()).filter(|&q| q != p);
        others.into_iter().any(|q| is_split(q, (a, b)) || is_split(q, (b, a)))
    }

    /// Whether a phase may be two steps in one of two runs: there it is done more often, and
    /// is in more of the run's own clusters, of those that hold the share `least` of it.
    #[must_use]
    pub fn may_be_joined(&self, p: usize, (a, b): (usize, usize), least: f64) -> bool {
        let repeats = &self.repeats.phases[p];
        let often = |r: usize| {
            let figures = &self.figures[r][p];
            figures.instances as f64 / figures.threads.max(1) as f64 / repeats.times[r]
        };
        let n_clusters = |r: usize| {
            let of_phase = &self.clusters[r][p];
            let all: u64 = of_phase.values().sum();
            of_phase.values().filter(|&&n| n as f64 > least * all as f64).count()
        };
        let (more, less) = if often(b) > often(a) { (b, a) } else { (a, b) };
        let is_more = often(more) > (1.0 + MORE_OFTEN) * often(less);
        repeats.per != Per::Burst && is_more && n_clusters(more) > n_clusters(less)
    }

    /// Computing time of each thread of a run in what is compared as a whole,
    /// in ns, by thread; `whole` is that of the run.
    #[must_use]
    pub fn by_thread(&self, run: usize, whole: &Measured) -> Vec<((u32, u32, u32), f64)> {
        let mut each = whole.each.clone();
        if each.is_empty() {
            each = vec![0.0; self.threads[run].len()];
            let (_, thread_of) = threads_of(&self.runs[run]);
            for (&thread, duration) in thread_of.iter().zip(&self.runs[run].table.duration) {
                each[thread as usize] += duration.0 as f64;
            }
        }
        self.threads[run].iter().copied().zip(each).collect()
    }

    /// Figures of a run without the phases `but` and without what is serial in no phase.
    #[must_use]
    pub fn without(&self, run: usize, but: &[bool]) -> RunFigures {
        lone::without(&self.runs[run], &self.found.phase_of[run], but, &self.lone[run])
    }

    /// The time of a run in which one thread alone computes, in bursts that are in no phase.
    #[must_use]
    pub fn alone_in_no_phase(&self, run: usize) -> Nanos {
        self.lone[run].alone
    }

    /// The time of a run in which one thread alone computes, in whatever phase or in none.
    #[must_use]
    pub fn alone_in_all(&self, run: usize) -> Nanos {
        self.lone[run].of_all
    }

    /// The tasks that take longer in a phase in run `now` than in run `base`,
    /// while others do not, where both have the same tasks; `threshold` is a
    /// speed such as 0.95.
    #[must_use]
    pub fn slow_tasks(
        &self,
        p: usize,
        (base, now): (usize, usize),
        measured: &[Option<Measured>],
        threshold: f64,
    ) -> Option<SlowTasks> {
        let (of_base, of_now) = (measured[base].as_ref()?, measured[now].as_ref()?);
        if of_base.threads != of_now.threads {
            return None;
        }
        // Strays do not count. A task with many of them then has too few bursts
        // left, and is not compared.
        let by_task = |r: usize, of: &Measured| {
            let (mut bursts, mut times) = (vec![0.0; of.threads.len()], vec![0.0; of.threads.len()]);
            let is_stray = self.found.phase_of[r].iter().zip(&self.strays[r].is_stray);
            let own = is_stray.filter(|(phase, _)| **phase == Some(p as u32)).map(|(_, stray)| !stray);
            for (&(thread, time), _) in self.members[r][p].iter().zip(own).filter(|(_, own)| *own) {
                bursts[thread as usize] += 1.0;
                times[thread as usize] += time;
            }
            by_task(&of.threads, |t| (times[t] / of.times, bursts[t] / of.times))
        };
        let ((tasks, before), (_, after)) = (by_task(base, of_base), by_task(now, of_now));
        // Unknown is unknown in both: one repetition tells nothing of the other run.
        let variances = of_base.of_all.zip(of_now.of_all);
        let noise = variances.map(|(a, b)| (a.value + b.value).sqrt());
        let odd = odd_tasks(&tasks, (&before, &after), noise, -threshold.ln())?;
        // What is done once and costs less than a one-off has to is none either.
        let table = self.runs[now].table;
        let end = (0..table.len()).map(|i| table.end(i)).max().unwrap_or_default();
        if noise.is_none() && odd.most_lost * of_now.times < LEAST_SHARE * end.0 as f64 {
            return None;
        }
        let of_tasks = |r: usize| {
            let run = &self.runs[r];
            let mut kept = vec![false; run.table.len()];
            for (i, phase) in run.complete.iter().zip(&self.found.phase_of[r]) {
                let task = (run.table.app[i as usize], run.table.task[i as usize]);
                kept[i as usize] = *phase == Some(p as u32) && odd.tasks.binary_search(&task).is_ok();
            }
            let mut found = self.once(r, &|i| kept[i]);
            found.times = self.repeats.phases[p].times[r];
            found
        };
        let factors = change(&of_tasks(base), &of_tasks(now), Scaling::Strong).factors;
        let of_speed = |f: &Factor| f.kind != super::FactorKind::LoadBalance;
        Some(SlowTasks { odd, factors: factors.into_iter().filter(of_speed).collect() })
    }
}
