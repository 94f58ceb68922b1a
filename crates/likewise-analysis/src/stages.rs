//! How long each stage took.

use std::time::Instant;

/// Seconds by stage, in the order in which the stages first ran.
#[derive(Clone, Debug, Default)]
pub struct Stages(Vec<(&'static str, f64)>);

impl Stages {
    /// Runs `work` and adds its time to the stage's.
    pub fn time<T>(&mut self, stage: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = work();
        self.add(stage, start.elapsed().as_secs_f64());
        result
    }

    /// Adds the stages that ran beside these: together they may have taken
    /// longer than the clock says.
    pub fn add_all(&mut self, others: Self) {
        others.0.into_iter().for_each(|(stage, seconds)| self.add(stage, seconds));
    }

    fn add(&mut self, stage: &'static str, seconds: f64) {
        match self.0.iter_mut().find(|(name, _)| *name == stage) {
            Some((_, sum)) => *sum += seconds,
            None => self.0.push((stage, seconds)),
        }
    }

    /// The stages so far, each with its seconds.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, f64)> {
        self.0.iter().copied()
    }
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
        assert_eq!(stages.iter().collect::<Vec<_>>(), [("write", 1.5), ("read", 0.5), ("period", 0.125)]);
    }
}
