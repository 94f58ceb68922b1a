//! What is said of a low IPC.

use super::names::place;
use likewise::bursts::{Finding, FindingKind};
use likewise::words::percent;

pub(super) fn low_ipc(finding: &Finding) -> String {
    let FindingKind::LowIpc { ipc, others, among } = finding.kind else { return String::new() };
    let phases = Finding { noise: false, ..finding.clone() };
    let who = match (finding.phases.len(), finding.noise) {
        (0, _) => "Bursts of no phase, of one function, have".to_owned(),
        (_, true) => format!("{} and noise of the same function have", place(&phases)),
        (1, false) => format!("{} has", place(finding)),
        (_, false) => format!("{}, of one function, have", place(finding)),
    };
    let rest = if among { "all that is not low" } else { "all else" };
    let win = percent(finding.share);
    format!(
        "{who} an IPC of {ipc:.2}, {rest} {others:.2}. At an IPC of {others:.2}, the mean thread would compute \
         for {win} of the run less. (The run wins more if others wait for these bursts, and less if who has them waits anyway.)"
    )
}
