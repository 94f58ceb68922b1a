//! Runs of which the order of steps does not tell which phase is which, and the code does.

use super::{Analysed, Comparison, Settings, run_bursts};
use crate::Stages;
use likewise::bursts::scaling::{RunBursts, RunMatch, match_by_code};
use likewise::table::{Code, Region};
use likewise::words::listed;

/// At most this many phases are named.
const MOST_NAMES: usize = 8;

impl Comparison {
    /// Compares runs by the code of their bursts; `None` where phases are then known in no more runs than
    /// by the `order` of steps. (A run of one thread may have no names of tasks, as it runs them in
    /// place: it is then known by neither.)
    pub(super) fn by_code(
        analysed: &[Analysed],
        settings: Settings,
        order: &Self,
        stages: &mut Stages,
    ) -> Option<Self> {
        let views: Vec<RunBursts<'_>> = analysed.iter().map(|run| run_bursts(run)).collect();
        let found = stages.time("match", || match_by_code(&views))?;
        let mut comparison = Self::of_matched(analysed, settings, &found, stages);
        if comparison.n_known() <= order.n_known() {
            return None;
        }
        let shown: Vec<u32> = comparison.shown().iter().map(|phase| phase.number).collect();
        let names = |&number: &u32| Some(format!("{number} is {}", code_of(&views, &found, number - 1)?));
        let named: Vec<String> = shown.iter().take(MOST_NAMES).filter_map(names).collect();
        comparison.notes.push(format!(
            "The order of steps does not tell which phases are the same, but their code does: what runs one function in \
             parallel is one phase, and so is what is outside of parallel regions between the same two. Phase {}.",
            listed(&named)
        ));
        Some(comparison)
    }
}

/// What a phase runs, in the first run that has it.
fn code_of(views: &[RunBursts<'_>], found: &RunMatch, p: u32) -> Option<String> {
    let of_run = |(view, phase_of): (&RunBursts<'_>, &Vec<Option<u32>>)| {
        let burst = phase_of.iter().position(|phase| *phase == Some(p))?;
        let code = view.table.code.as_ref()?;
        Some(words(code, &code.regions.get(view.complete.at(burst) as usize)))
    };
    views.iter().zip(&found.phase_of).find_map(of_run)
}

/// `f (a.c:7)`, `outside of regions, between f (a.c:7) and g (a.c:9)`.
fn words(code: &Code, region: &Region) -> String {
    let name = |place| code.name(place);
    match (region.function, region.before, region.after) {
        (Some(function), ..) => name(function).to_owned(),
        (None, Some(before), Some(after)) => {
            format!("outside of regions, between {} and {}", name(before), name(after))
        }
        (None, None, Some(after)) => format!("outside of regions, before {}", name(after)),
        (None, Some(before), None) => format!("outside of regions, after {}", name(before)),
        (None, None, None) => "outside of regions".to_owned(),
    }
}
