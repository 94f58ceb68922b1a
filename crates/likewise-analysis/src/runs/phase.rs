//! A phase in all runs, and whether it is known to be the same in each.

use super::{Comparison, InRun, LEAST_MATCH, Phase};
use likewise::bursts::scaling::{
    Calm, Change, Evidence, Measured, Measures, PhaseInRun, Repeats, RunMatch, Scaling, phase_scaling,
};
use likewise::words::listed;
use std::collections::BTreeMap;

/// Why a phase may be another one in two runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Doubt {
    /// Little tells that it is the same.
    Match,
    /// It is on other numbers of threads.
    Threads,
    /// Some of its bursts are of clusters that are at home in other phases.
    Mixed,
    /// Another phase may do its work in one of the runs.
    Moved,
    /// It may be two steps in one of the runs, or have bursts of another one.
    Split,
    /// Its bursts lie between other calls.
    Code,
    /// It is compared per burst, and a mean burst is not the same thing in both.
    Bursts,
    /// It is compared per burst, and more threads are to divide the work: into how many bursts is not
    /// known.
    Divided,
    /// It has single long bursts of which one run cannot tell whether they are usual.
    Calm,
}

impl Doubt {
    /// In JSON.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Match => "match",
            Self::Threads => "threads",
            Self::Mixed => "strays",
            Self::Moved => "moved",
            Self::Split => "split",
            Self::Code => "calls",
            Self::Calm => "long_bursts",
            Self::Bursts => "bursts",
            Self::Divided => "divided",
        }
    }

    /// What stands behind the numbers of the phases of which it is so.
    pub(super) fn words(self) -> String {
        match self {
            Self::Match => format!("a match below {LEAST_MATCH}"),
            Self::Threads => "on other numbers of threads".to_owned(),
            Self::Mixed => "bursts of other phases' clusters".to_owned(),
            Self::Moved => "work that another phase may have done".to_owned(),
            Self::Split => "bursts that may be of another step".to_owned(),
            Self::Code => "between other calls".to_owned(),
            Self::Bursts => {
                "per burst, and one run has more bursts that are small beside the others".to_owned()
            }
            Self::Divided => {
                "per burst, and into how many bursts the work is divided is not known".to_owned()
            }
            Self::Calm => "single long bursts, and one run cannot tell whether these are usual".to_owned(),
        }
    }
}

impl Comparison {
    /// Of which phases it cannot be told whether they are the same, and why.
    pub(super) fn doubtful(&self) -> Option<String> {
        let mut by_reason: BTreeMap<Doubt, Vec<u32>> = BTreeMap::new();
        for phase in self.looked_at() {
            let reason = phase.doubt().into_iter();
            reason.for_each(|doubt| by_reason.entry(doubt).or_default().push(phase.number));
        }
        let ((phases, are), them) = match by_reason.values().map(Vec::len).sum() {
            0 => return None,
            1 => (("phase", "is"), "it"),
            _ => (("phases", "are"), "them"),
        };
        let mut reasons: Vec<(Doubt, Vec<u32>)> = by_reason.into_iter().collect();
        reasons.sort_by(|a, b| a.1.cmp(&b.1));
        let of = |(doubt, phases): &(Doubt, Vec<u32>)| format!("{} ({})", listed(phases), doubt.words());
        let told: Vec<String> = reasons.iter().map(of).collect();
        Some(format!(
            "It cannot be told whether {phases} {} {are} the same in all runs. Nothing is said of {them} in the runs of \
             which this is so; “?” stands before the times, and in place of the efficiency.",
            told.join(", ")
        ))
    }
}

/// A phase of the comparison; `None` if it takes no time.
pub(super) fn phase(
    measures: &Measures<'_>,
    (found, repeats): (&RunMatch, &Repeats),
    (p, calms): (usize, &[Calm]),
    (scaling, threshold): (Scaling, f64),
) -> Option<Phase> {
    let measured = measures.phase(p);
    let kind = scaling;
    let mut scaling = phase_scaling(&measured, scaling, threshold)?;
    let matches = |r: usize| matches(found, p, r);
    let doubt = |r: usize| {
        if !matches(r) || !matches(scaling.base) {
            return Some(Doubt::Match);
        }
        let of_steps = doubt(measures, (p, (scaling.base, r)), &measured, (kind, 1.0 - threshold));
        let is_unlike = || calms[r].is_unlike(&calms[scaling.base], p as u32);
        of_steps.or_else(|| is_unlike().then_some(Doubt::Calm))
    };
    let doubts: Vec<Option<Doubt>> = (0..measured.len()).map(doubt).collect();
    let hardly_runs = |r: usize| measures.hardly_runs(p, r);
    let base = measured[scaling.base].as_ref();
    for (r, change) in scaling.changes.iter_mut().enumerate() {
        *change = change.take().map(|change| measures.clocked(change, (scaling.base, r)));
        if hardly_runs(scaling.base) || hardly_runs(r) {
            *change = change.take().map(Change::hardly_running);
        }
        // Of what may be two things, one over the other is no efficiency.
        let is_undivided = base.zip(measured[r].as_ref()).is_some_and(|(base, now)| is_undivided(base, now));
        if doubts[r].is_some() || is_undivided {
            *change = None;
        }
    }
    scaling.stops_at = scaling.stops_at.filter(|&at| scaling.changes[at].is_some());
    let slow = |r: usize| {
        (r != scaling.base && doubts[r].is_none())
            .then(|| measures.slow_tasks(p, (scaling.base, r), &measured, threshold))?
    };
    let in_run = |(r, matched): (usize, &Option<PhaseInRun>)| {
        let one_offs = calms[r].one_offs.iter().filter(|o| o.phase as usize == p).cloned().collect();
        Some(InRun { measured: measured[r].clone()?, matched: matched.clone()?, slow: slow(r), one_offs })
    };
    let runs = found.phases[p].runs.iter().enumerate().map(in_run).collect();
    let of = &repeats.phases[p];
    Some(Phase { number: p as u32 + 1, per: of.per, in_loop: of.in_loop, doubts, runs, scaling })
}

/// Whether a phase matches well enough in a run that something is said of it there.
fn matches(found: &RunMatch, p: usize, r: usize) -> bool {
    found.phases[p].runs[r].as_ref().is_some_and(|run| run.confidence >= LEAST_MATCH)
}

/// The phase of each burst of a run, where that matches well: of what may be a mix of several
/// steps, the usual burst is not known.
pub(super) fn surely_matched(found: &RunMatch, r: usize) -> Vec<Option<u32>> {
    let is_sure: Vec<bool> = (0..found.phases.len()).map(|p| matches(found, p, r)).collect();
    found.phase_of[r].iter().map(|phase| phase.filter(|&p| is_sure[p as usize])).collect()
}

/// Why a phase that matches well in two runs (`a` and `b`) may have other steps in one of them.
/// Differences up to a share (`least`) are none.
fn doubt(
    measures: &Measures<'_>,
    (p, (a, b)): (usize, (usize, usize)),
    measured: &[Option<Measured>],
    (scaling, least): (Scaling, f64),
) -> Option<Doubt> {
    let (Some(before), Some(now)) = (&measured[a], &measured[b]) else { return Some(Doubt::Match) };
    let (runs, growth) = ((a, b), work_of(scaling, before, now));
    let moved =
        || measures.may_be_moved(p, runs, growth, least) || measures.may_be_other(p, runs, growth, least);
    let split = || measures.may_be_split(p, runs, least) || measures.may_be_joined(p, runs, least);
    // Where code tells the phase, neither who runs it nor how bursts are grouped does.
    let is_grouped = !measures.is_told_by(Evidence::Code, p, runs);
    if is_grouped && !same_part(now, before) {
        Some(Doubt::Threads)
    } else if is_grouped && measures.mixed(p, a, b) > least {
        Some(Doubt::Mixed)
    } else if moved() {
        Some(Doubt::Moved)
    } else if is_grouped && split() {
        Some(Doubt::Split)
    } else {
        let is_divided = scaling == Scaling::Strong && before.figures.run_threads != now.figures.run_threads;
        let bursts = || measures.has_unlike_bursts(p, runs, least).then_some(Doubt::Bursts);
        let divided = || (is_divided && measures.is_per_burst(p)).then_some(Doubt::Divided);
        let code = measures.is_of_other_code(p, runs).then_some(Doubt::Code);
        code.or_else(bursts).or_else(divided)
    }
}

/// Whether a phase is one burst in a run of more threads, beside which others compute: threads that
/// cannot divide it say nothing by not doing so. One that computes alone is serial.
fn is_undivided(base: &Measured, now: &Measured) -> bool {
    now.figures.run_threads > base.figures.run_threads
        && now.figures.instances == 1
        && !now.figures.is_serial()
}

/// How many times as much work a run is to do as the one before.
fn work_of(scaling: Scaling, before: &Measured, now: &Measured) -> f64 {
    match scaling {
        Scaling::Strong => 1.0,
        Scaling::Weak => now.figures.run_threads as f64 / before.figures.run_threads.max(1) as f64,
    }
}

/// Whether a phase is on as many threads in two runs, or on the same share of
/// them. Otherwise the runs' own analyses separate it from others in different
/// ways, or join it with another phase. The exception: in runs with the same
/// number of threads, work that several threads do in one run may be serial in
/// the other. Then it must be the same work, of one thread or of each: all of
/// it differs by no more than those numbers of threads.
fn same_part(a: &Measured, b: &Measured) -> bool {
    let of = |m: &Measured| (m.figures.threads as f64, m.figures.run_threads as f64);
    let ((a_threads, a_all), (b_threads, b_all)) = (of(a), of(b));
    let alike = |x: f64, y: f64| (x - y).abs() <= 0.1 * x.max(y);
    if alike(a_threads, b_threads) || alike(a_threads / a_all, b_threads / b_all) {
        return true;
    }
    let work = match (a.figures.instructions, b.figures.instructions) {
        (Some(of_a), Some(of_b)) => (of_a / a.times) / (of_b / b.times),
        _ => a.mean() / b.mean(),
    };
    let is_serial = a.figures.is_serial() || b.figures.is_serial();
    is_serial && a_all == b_all && work.ln().abs() <= (a_threads / b_threads).ln().abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use likewise::bursts::scaling::{Evidence, MatchedPhase, RunFigures};
    use likewise::table::Nanos;

    /// "2 bursts of phase 2 take far longer …: in the figures they are as they are otherwise" was
    /// told of the main work of a run, in a phase that matched by 0.18.
    #[test]
    fn bursts_of_phases_that_hardly_match_are_of_none() {
        let in_run = |confidence| {
            let (clusters, evidence) = (Vec::new(), Evidence::Figures);
            Some(PhaseInRun { clusters, noise: 0, confidence, evidence })
        };
        let of = |confidence| MatchedPhase { runs: vec![in_run(1.0), in_run(confidence), None] };
        let phase_of = vec![vec![Some(0), Some(1), None, Some(0)]; 3];
        let found = RunMatch { reference: 0, phases: vec![of(0.18), of(0.5)], phase_of };
        assert_eq!(surely_matched(&found, 0), [Some(0), Some(1), None, Some(0)]);
        assert_eq!(surely_matched(&found, 1), [None, Some(1), None, None]);
        assert_eq!(surely_matched(&found, 2), [None; 4]);
    }

    /// "Phase 3 stops scaling at 14 threads: load balance, × 0.71" was told of one burst on 10 and on 14.
    #[test]
    fn one_burst_is_not_divided() {
        let of = |run_threads, instances, alone| {
            let (total, alone) = (Nanos(1_000), Nanos(alone));
            Measured::once(RunFigures { run_threads, instances, total, alone, ..RunFigures::default() })
        };
        let base = of(10, 1, 0);
        assert!(is_undivided(&base, &of(14, 1, 0)));
        assert!(!is_undivided(&base, &of(14, 2, 0)), "two bursts may be on two threads");
        assert!(!is_undivided(&base, &of(10, 1, 0)), "nothing is to be divided");
        assert!(!is_undivided(&base, &of(14, 1, 1_000)), "all others wait");
    }
}
