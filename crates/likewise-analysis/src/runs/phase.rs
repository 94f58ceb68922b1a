//! A phase in all runs, and whether it is known to be the same in each.

use super::{InRun, LEAST_MATCH, Phase};
use likewise::bursts::scaling::{
    Calm, Measured, Measures, PhaseInRun, Repeats, RunMatch, Scaling, phase_scaling,
};

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
    let matches =
        |r: usize| found.phases[p].runs[r].as_ref().is_some_and(|run| run.confidence >= LEAST_MATCH);
    let sure = |r: usize| {
        let both = measured[r].as_ref().zip(measured[scaling.base].as_ref());
        let alike = both.is_some_and(|(a, b)| same_part(a, b));
        let mixed = measures.mixed(p, scaling.base, r) > 1.0 - threshold;
        let growth = both.map_or(1.0, |(now, before)| work_of(kind, before, now));
        let moved = measures.may_be_moved(p, (scaling.base, r), growth, 1.0 - threshold);
        let other = measures.may_be_other(p, (scaling.base, r), growth, 1.0 - threshold);
        let split = measures.may_be_split(p, (scaling.base, r), 1.0 - threshold)
            || measures.may_be_joined(p, (scaling.base, r), 1.0 - threshold);
        let elsewhere = measures.is_of_other_code(p, (scaling.base, r));
        let calmed = calms[r].is_unlike(&calms[scaling.base], p as u32);
        matches(r)
            && matches(scaling.base)
            && alike
            && !mixed
            && !moved
            && !other
            && !split
            && !elsewhere
            && !calmed
    };
    let is_sure: Vec<bool> = (0..measured.len()).map(sure).collect();
    scaling.stops_at = scaling.stops_at.filter(|&at| is_sure[at]);
    let slow = |r: usize| {
        (r != scaling.base && is_sure[r])
            .then(|| measures.slow_tasks(p, (scaling.base, r), &measured, threshold))?
    };
    let in_run = |(r, matched): (usize, &Option<PhaseInRun>)| {
        let one_offs = calms[r].one_offs.iter().filter(|o| o.phase as usize == p).cloned().collect();
        Some(InRun { measured: measured[r].clone()?, matched: matched.clone()?, slow: slow(r), one_offs })
    };
    let runs = found.phases[p].runs.iter().enumerate().map(in_run).collect();
    let of = &repeats.phases[p];
    Some(Phase { number: p as u32 + 1, per: of.per, in_loop: of.in_loop, is_sure, runs, scaling })
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
