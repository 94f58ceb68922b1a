//! What runs, causes and figures are called, for people and in files.

use likewise::bursts::scaling::{Change, Evidence, FactorKind, Per, PhaseInRun};
use likewise_trace::printable;
use std::path::PathBuf;

/// What a run is called: the file's name without endings, or all of its path
/// where two have the same.
pub(super) fn names(files: &[PathBuf]) -> Vec<String> {
    let short = |file: &PathBuf| {
        let name = file.file_name().unwrap_or(file.as_os_str()).to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let name = name.strip_suffix(".prv").or_else(|| name.strip_suffix(".csv")).unwrap_or(name);
        printable(name.as_bytes(), 80)
    };
    let names: Vec<String> = files.iter().map(short).collect();
    let is_one = |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    let long = |file: &PathBuf| printable(file.to_string_lossy().as_bytes(), 200);
    names.iter().zip(files).map(|(name, file)| if is_one(name) { name.clone() } else { long(file) }).collect()
}

/// Why a change is for the worse, in a word: its least factor.
pub fn cause_of(change: &Change) -> &'static str {
    match change.worst().map(|factor| factor.kind) {
        Some(FactorKind::LoadBalance) if change.is_serial => "serial",
        Some(FactorKind::Rate) if change.hardly_runs => "cannot tell",
        Some(FactorKind::Frequency) if change.clock.is_some() => "fewer cycles counted per second",
        Some(kind) => cause(kind),
        None => "cannot tell",
    }
}

/// A factor for people, as the cause of a loss.
pub fn cause(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Instructions => "more instructions",
        FactorKind::Ipc => "lower IPC",
        FactorKind::Frequency => "fewer cycles per second",
        FactorKind::Rate => "fewer instructions per second",
        FactorKind::Time => "cannot tell",
        FactorKind::LoadBalance => "load balance",
        FactorKind::OnCore => "less of the time on a core",
    }
}

/// A factor in files.
pub fn key(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Instructions => "instruction_scalability",
        FactorKind::Ipc => "ipc_scalability",
        FactorKind::Frequency => "frequency_scalability",
        FactorKind::Rate => "rate_scalability",
        FactorKind::Time => "time_scalability",
        FactorKind::LoadBalance => "load_balance_scalability",
        FactorKind::OnCore => "on_core_scalability",
    }
}

/// A ratio with two digits behind the point, or with two that are not 0: `12.58`, `0.0014`.
pub(super) fn times(ratio: f64) -> String {
    if ratio >= 0.095 || ratio <= 0.0 {
        return format!("{ratio:.2}");
    }
    let digits = (1.0 - ratio.log10().floor()) as usize;
    format!("{ratio:.*}", digits.min(12))
}

/// What figures are per, in files and for people.
pub fn per(per: Per) -> &'static str {
    match per {
        Per::Run => "run",
        Per::Iteration => "iteration",
        Per::Burst => "burst",
    }
}

/// What a match rests on, in files.
pub fn evidence(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Reference => "reference",
        Evidence::Sequence => "sequence",
        Evidence::Figures => "figures",
        Evidence::Calls => "calls",
        Evidence::Code => "code",
    }
}

/// Clusters of the run's own analysis that a phase is in: `1`, `2+5+noise`.
pub fn clusters(run: &PhaseInRun) -> String {
    let mut names: Vec<String> = run.clusters.iter().take(3).map(|id| id.number().to_string()).collect();
    if run.clusters.len() > 3 {
        names.push("…".to_owned());
    }
    if run.noise > 0 {
        names.push("noise".to_owned());
    }
    names.join("+")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_ratio_is_not_told_as_none() {
        let told = [12.583, 1.0, 0.349, 0.04, 0.0003241, 0.0].map(times);
        assert_eq!(told, ["12.58", "1.00", "0.35", "0.040", "0.00032", "0.00"]);
    }

    #[test]
    fn runs_are_named_by_what_tells_them_apart() {
        let files = ["a/run_1.prv.gz", "b/run_4.csv", "c/run_4.prv", "x\u{1b}.prv"].map(PathBuf::from);
        assert_eq!(names(&files)[..3], ["run_1", "b/run_4.csv", "c/run_4.prv"]);
        assert!(!names(&files)[3].contains('\u{1b}'));
    }
}
