//! How long each stage took, and how much memory the process had at most.

use crate::cli::Common;
use serde_json::{Map, Value};
use std::time::Instant;

/// Seconds by stage, in the order in which the stages first ran.
#[derive(Debug, Default)]
pub(crate) struct Stages(Vec<(&'static str, f64)>);

impl Stages {
    /// Runs `work` and adds its time to the stage's.
    pub(crate) fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(stage, start.elapsed().as_secs_f64());
        result
    }

    /// Adds the stages that ran beside these: together they may have taken
    /// longer than the clock says.
    pub(crate) fn add_all(&mut self, others: Self) {
        others.0.into_iter().for_each(|(stage, seconds)| self.add(stage, seconds));
    }

    fn add(&mut self, stage: &'static str, seconds: f64) {
        match self.0.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, sum)) => *sum += seconds,
            None => self.0.push((stage, seconds)),
        }
    }

    /// The stages so far with their seconds, as people name them.
    #[must_use]
    pub(crate) fn for_people(&self) -> Vec<(String, f64)> {
        self.0.iter().map(|&(name, s)| (name.replace('_', "-"), s)).collect()
    }

    /// How long each stage took, if asked to say more.
    pub(crate) fn tell(&self, common: &Common) {
        self.for_people()
            .iter()
            .for_each(|(stage, seconds)| common.tell(format_args!("{stage}: {seconds:.3} s")));
    }

    /// `{"read": 0.01, …}`, rounded to microseconds.
    #[must_use]
    pub(crate) fn to_json(&self) -> Value {
        let rounded = |s: f64| Value::from((s * 1e6).round() / 1e6);
        self.0.iter().map(|&(name, s)| (name.to_owned(), rounded(s))).collect::<Map<_, _>>().into()
    }
}

/// The most memory that the process has held, in bytes; `None` where the
/// system does not tell (it is read from `/proc/self/status`).
#[must_use]
pub(crate) fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stage_that_runs_twice_is_one_stage() {
        let mut stages = Stages::default();
        stages.add("write", 1.0);
        stages.add("read", 0.25);
        stages.add("write", 0.5);
        let mut beside = Stages::default();
        beside.add("period", 0.125);
        beside.add("read", 0.25);
        stages.add_all(beside);
        assert_eq!(stages.to_json().to_string(), r#"{"write":1.5,"read":0.5,"period":0.125}"#);
    }

    #[test]
    fn peak_memory_is_at_least_what_was_touched() {
        let before = peak_memory();
        let block = vec![1u8; 64 << 20];
        assert!(block.iter().map(|&b| usize::from(b)).sum::<usize>() == 64 << 20);
        if let (Some(_), Some(after)) = (before, peak_memory()) {
            assert!(after >= 64 << 20);
        }
    }
}
