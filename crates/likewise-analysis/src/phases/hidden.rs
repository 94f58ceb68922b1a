//! How well counters that are hidden are found again.

use super::Analysis;
use super::figures::NOTEWORTHY;
use likewise::bursts::{HeldOut, hold_out};
use likewise::table::counters_of;
use likewise::words::{FAR, counted, percent};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// Counters that were hidden from bursts, and what was found in their place.
#[derive(Clone, Debug)]
pub struct ExtrapolationCheck {
    /// Seed by which bursts were chosen.
    pub seed: u64,
    /// Only phases with more than this share of the computing time are checked.
    pub phases_over: f64,
    /// By phase and counter.
    pub all: Vec<HeldOut>,
    /// Of each counter, the one that is farthest off.
    pub worst: Vec<HeldOut>,
}

impl ExtrapolationCheck {
    /// Hides half of the counters that no metric needs from half of the bursts
    /// of each phase, and the other half from the others.
    #[must_use]
    pub fn of(analysis: &Analysis, seed: u64) -> Self {
        let table = &analysis.table;
        let common = counters_of(&analysis.metrics, table);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let clustering = &analysis.grouped.clustering;
        let mut all = hold_out(table, &analysis.prepared, clustering, &common, &mut rng);
        let stats = &analysis.stats;
        all.retain(|held| held.cluster.is_some_and(|id| stats[id.index()].share > NOTEWORTHY));
        let worst_of = |counter: usize| {
            let of_counter = all.iter().filter(|held| held.counter == counter);
            of_counter.max_by(|a, b| a.error().total_cmp(&b.error())).cloned()
        };
        let worst = (0..table.counters.len()).filter_map(worst_of).collect();
        Self { seed, phases_over: NOTEWORTHY, all, worst }
    }

    /// What came of it, for people.
    #[must_use]
    pub fn sentence(&self, analysis: &Analysis) -> String {
        let Self { seed, all, worst, .. } = self;
        let mut errors: Vec<f64> = all.iter().map(|held| held.error()).collect();
        errors.sort_by(f64::total_cmp);
        let Some(median) = errors.get(errors.len() / 2) else {
            return "No counter's extrapolation can be checked: there is none beyond those of the metrics."
                .to_owned();
        };
        let within = errors.iter().filter(|&&error| error <= 0.05).count();
        let each = |held: &HeldOut| {
            let name = &analysis.table.counters[held.counter].counter.name;
            let phase = held.cluster.map_or(0, |id| id.number());
            let error = match held.error() {
                far if far >= FAR => percent(far),
                near => format!("{:.2}%", 100.0 * near),
            };
            format!("{name} {error} (phase {phase}, {})", counted(held.found.n, "burst"))
        };
        format!(
            "Extrapolation check, half of the counters hidden from each burst (seed {seed}): {within} of {} means \
         are within 5% in phases over 1% of the time, the median error is {:.2}%. Worst by counter: {}.",
            errors.len(),
            100.0 * median,
            worst.iter().map(each).collect::<Vec<_>>().join(", ")
        )
    }
}
