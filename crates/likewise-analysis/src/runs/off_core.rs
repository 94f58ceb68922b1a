//! What differs by the clock alone, as threads wait for a core or sleep, and ranks that share
//! CPUs.

use super::{Comparison, Phase};
use likewise::bursts::scaling::{Change, Per, PhaseScaling};
use likewise::words::listed;

impl Comparison {
    /// What takes longer or shorter in a run than in the first one, but not in CPU time, as far
    /// as this is known.
    pub(super) fn off_core(&self, r: usize) -> Option<String> {
        let (mut slower, mut faster) = (Vec::new(), Vec::new());
        let mut tell = |name: String, (scaling, of): (&PhaseScaling, Per)| {
            let change = scaling.changes[r].as_ref().filter(|change| change.is_off_core(self.threshold));
            let Some(change) = change.filter(|_| r != scaling.base) else { return };
            let each = if of == Per::Run { String::new() } else { format!(" per {}", super::per(of)) };
            let told = format!("{name} (× {}{each})", super::words::times(change.speedup));
            if change.efficiency < 1.0 { slower.push(told) } else { faster.push(told) }
        };
        if self.is_whole_known() {
            tell(self.all().to_lowercase(), (&self.whole, self.per.unwrap_or(Per::Run)));
        }
        for phase in self.looked_at().filter(|phase| phase.is_sure(r)) {
            tell(format!("phase {}", phase.number), (&phase.scaling, phase.per));
        }
        let part = |names: &[String], how: &str| {
            let are = if names.len() == 1 { "is" } else { "are" };
            (!names.is_empty()).then(|| format!("{} {are} {how}", listed(names)))
        };
        let parts: Vec<String> =
            [part(&slower, "slower"), part(&faster, "faster")].into_iter().flatten().collect();
        let (run, base) = (&self.runs[r], &self.runs[self.whole.base]);
        let why = match run.shared_cpus || base.shared_cpus {
            true => "ranks shared CPUs, and waited for them or slept",
            false => "threads waited for a core, or slept, for another share of the time",
        };
        (!parts.is_empty()).then(|| {
            format!(
                "By the clock, {} in {} than in {}, but as far as is known not in CPU time: {why}.",
                parts.join(", and "),
                run.name,
                base.name
            )
        })
    }

    /// Whether a phase differs by the clock alone in any run.
    pub(super) fn is_off_core(&self, phase: &Phase) -> bool {
        let sure = phase.scaling.changes.iter().zip(&phase.doubts).filter(|(_, doubt)| doubt.is_none());
        sure.filter_map(|(change, _)| change.as_ref())
            .any(|change: &Change| change.is_off_core(self.threshold))
    }

    /// In which runs ranks shared CPUs, if in any.
    pub(super) fn shared_cpus(&self) -> Option<String> {
        let names: Vec<&str> =
            self.runs.iter().filter(|run| run.shared_cpus).map(|run| run.name.as_str()).collect();
        (!names.is_empty()).then(|| {
            format!(
                "Ranks shared CPUs in {} (see the notes): who waited for one counts as computing within a burst and as \
                 waiting in a call, so what is said there of times by the clock, of load balance and of serial phases \
                 is not sure.",
                listed(&names)
            )
        })
    }
}
