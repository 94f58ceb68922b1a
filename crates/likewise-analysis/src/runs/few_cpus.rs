//! Runs of more threads than CPUs, of which it is not known what threads wait for.

use super::{Analysed, Comparison, Run, Settings, run_bursts};
use crate::Stages;
use crate::phases::Analysis;
use likewise::bursts::FewCpus;
use likewise::bursts::scaling::{RunMatch, repeats};
use likewise::words::{counted, listed};

/// The CPUs that a trace names, where there are more threads and never more than these compute at
/// once; and how many do.
pub(super) fn of(analysis: &Analysis) -> Option<FewCpus> {
    analysis.findings.as_ref()?.few_cpus
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
        let few: Vec<(&Run, FewCpus)> =
            self.runs.iter().filter_map(|run| Some((run, run.few_cpus?))).collect();
        let told = few
            .iter()
            .map(|(run, few)| format!("{}{} ({})", counted(few.cpus.into(), "CPU"), of(run), run.name));
        let told: Vec<String> = told.collect();
        let all = if is_one { format!(" for {}", threads(&self.runs[0])) } else { String::new() };
        format!(
            "The traces name {}{all}, and {}: runs are compared by the clock, and nothing is said of single phases, \
             iterations, load balance and serial time.",
            listed(&told),
            who_waits(&few.iter().map(|(run, few)| (run.name.as_str(), *few)).collect::<Vec<_>>())
        )
    }
}

/// Who may wait for a CPU: threads of runs in which as many compute at once as there are CPUs.
fn who_waits(few: &[(&str, FewCpus)]) -> String {
    let (full, free): (Vec<_>, Vec<_>) = few.iter().partition(|(_, few)| few.at_once == few.cpus);
    let at_most = |(name, few): &(&str, FewCpus)| format!("{} ({name})", few.at_once);
    let at_most: Vec<String> = free.into_iter().map(at_most).collect();
    let names: Vec<&str> = full.iter().map(|(name, _)| *name).collect();
    let no_shares = "threads that are more than CPUs are not those that share the work";
    match (full.is_empty(), at_most.is_empty()) {
        (_, true) => "never more than these compute at once. Who does not compute may wait for a CPU, so what threads wait \
                      for is not known"
            .to_owned(),
        (true, false) => {
            let at_most = listed(&at_most);
            format!("at most {at_most} compute at once. None of them waits for a CPU, but {no_shares}")
        }
        (false, false) => format!(
            "never more than these compute at once in {}. Who does not compute there may wait for a CPU. At most {} \
             compute at once elsewhere, where none waits for one, but {no_shares}",
            listed(&names),
            listed(&at_most)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Never more than these compute at once. Who does not compute may wait for a CPU" was told of 11
    /// threads on 16 CPUs.
    #[test]
    fn who_has_cpus_to_spare_waits_for_none() {
        let of = |cpus, at_once| FewCpus { cpus, at_once };
        let both = who_waits(&[("A", of(16, 11)), ("B", of(32, 11))]);
        assert!(both.starts_with("at most 11 (A) and 11 (B) compute at once. None of them waits"), "{both}");
        assert!(who_waits(&[("A", of(4, 4))]).contains("Who does not compute may wait for a CPU"));
        let one = who_waits(&[("A", of(4, 4)), ("B", of(16, 11))]);
        assert!(one.contains("at once in A. Who") && one.contains("At most 11 (B) compute"), "{one}");
    }
}
