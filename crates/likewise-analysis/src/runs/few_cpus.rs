//! Runs of more threads than CPUs, of which it is not known what threads wait for.

use super::{Analysed, Comparison, Run, Settings, run_bursts};
use crate::Stages;
use crate::phases::Analysis;
use likewise::bursts::scaling::{RunMatch, repeats};
use likewise::words::{counted, listed};

/// The CPUs that a trace names, where there are more threads and never more than these compute at
/// once.
pub(super) fn of(analysis: &Analysis) -> Option<u32> {
    Some(analysis.findings.as_ref()?.few_cpus?.cpus)
}

impl Comparison {
    /// Compares runs of which one at least is of more threads than CPUs. Who does not compute may
    /// wait for a CPU, so there is nothing to be said of load balance or serial phases; and threads
    /// take the steps of the program as they come, so that these are no iterations.
    pub(super) fn on_few_cpus(
        analysed: &[Analysed],
        settings: Settings,
        found: &RunMatch,
        stages: &mut Stages,
    ) -> Self {
        let views: Vec<_> = analysed.iter().map(run_bursts).collect();
        let repeats = repeats(&views, found, &vec![None; views.len()], true);
        let mut comparison = Self::repeated(analysed, settings, (found, &repeats), stages);
        let n = comparison.runs.len();
        comparison.told_scaling = None;
        let of_phases = comparison.phases.iter_mut().map(|phase| &mut phase.scaling);
        for scaling in of_phases.chain([&mut comparison.whole]) {
            (scaling.changes, scaling.stops_at) = (vec![None; n], None);
        }
        comparison.phases.iter_mut().flat_map(|phase| phase.runs.iter_mut().flatten()).for_each(|run| {
            (run.slow, run.one_offs) = (None, Vec::new());
        });
        comparison
    }

    /// Whether a run is of more threads than CPUs: then runs are compared by the clock alone.
    pub fn is_on_few_cpus(&self) -> bool {
        self.runs.iter().any(|run| run.few_cpus.is_some())
    }

    /// On how many CPUs the runs are, and what that means.
    pub(super) fn cpus(&self) -> String {
        let threads = |run: &Run| counted(run.whole.run_threads, "thread");
        let is_one = self.runs.windows(2).all(|two| threads(&two[0]) == threads(&two[1]));
        let of = |run: &Run| if is_one { String::new() } else { format!(" for {}", threads(run)) };
        let few = self.runs.iter().filter_map(|run| Some((run, run.few_cpus?)));
        let told = few.map(|(run, n)| format!("{}{} ({})", counted(n.into(), "CPU"), of(run), run.name));
        let told: Vec<String> = told.collect();
        let all = if is_one { format!(" for {}", threads(&self.runs[0])) } else { String::new() };
        format!(
            "The traces name {}{all}, and never more than these compute at once. Who does not compute may wait for a CPU, so \
             what threads wait for is not known: runs are compared by the clock, and nothing is said of single phases, \
             iterations, load balance and serial time.",
            listed(&told)
        )
    }
}
