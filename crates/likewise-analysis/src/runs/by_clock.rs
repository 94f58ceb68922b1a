//! What whole runs take from begin to end, on more and more threads or CPUs.

use super::words::times;
use super::{Comparison, Run, THRESHOLD_OF_SAME_THREADS};
use likewise::bursts::scaling::Scaling;
use likewise::words::{counted, percent};

/// What runs take, by ascending size; of those of one size, the one that takes least.
struct Series {
    /// In ns.
    elapsed: Vec<f64>,
    /// `4 threads`.
    places: Vec<String>,
}

impl Series {
    /// Of runs of these sizes, ascending, which take so many ns.
    fn of(sizes: &[f64], elapsed: &[f64], place: impl Fn(&f64) -> String) -> Self {
        let (mut least, mut places): (Vec<f64>, Vec<String>) = (Vec::new(), Vec::new());
        for (r, (size, &time)) in sizes.iter().zip(elapsed).enumerate() {
            match least.last_mut() {
                Some(last) if sizes[r - 1] == *size => *last = time.min(*last),
                _ => {
                    least.push(time);
                    places.push(place(size));
                }
            }
        }
        Self { elapsed: least, places }
    }

    /// From which run on the time no more falls: none of the later ones is shorter by 5 % or more.
    fn falls_until(&self) -> usize {
        let shorter = |r: usize, later: &[f64]| {
            later.iter().any(|time| *time <= THRESHOLD_OF_SAME_THREADS * self.elapsed[r])
        };
        let n = self.elapsed.len();
        (0..n).find(|&r| !shorter(r, &self.elapsed[r + 1..])).unwrap_or(n - 1)
    }

    /// From which run on the time is longer than in the first one, by more than the threshold.
    fn longer_from(&self, threshold: f64) -> Option<usize> {
        let is_longer = |time: &f64| *time * threshold > self.elapsed[0];
        let last = self.elapsed.iter().rposition(|time| !is_longer(time))?;
        Some(last + 1).filter(|from| *from < self.elapsed.len())
    }

    /// Where it no more falls, in words; nothing where it falls to the last run.
    fn falls(&self) -> Option<String> {
        let least = self.falls_until();
        let later = &self.elapsed[least + 1..];
        let most = (0..later.len()).max_by(|&a, &b| later[a].total_cmp(&later[b]))?;
        let rises = match later[most] * THRESHOLD_OF_SAME_THREADS >= self.elapsed[least] {
            true => {
                let (place, more) = (&self.places[least + 1 + most], later[most] / self.elapsed[least]);
                format!("; on {place} it takes {} times as long as on {}", times(more), self.places[least])
            }
            false => String::new(),
        };
        Some(format!("With more than {} no run is shorter by 5% or more{rises}.", self.places[least]))
    }

    /// Where it is longer than at first, in words.
    fn rises(&self, threshold: f64) -> Option<String> {
        let from = self.longer_from(threshold)?;
        Some(format!(
            "From {} on they take longer than on {} by {} or more.",
            self.places[from],
            self.places[0],
            percent(1.0 / threshold - 1.0)
        ))
    }
}

impl Comparison {
    /// What whole runs take from begin to end, and from which run on more threads or CPUs do not
    /// make them shorter; of weak scaling, from which on they are longer.
    pub(super) fn by_clock(&self) -> Option<String> {
        let cpus = |run: &Run| run.cpus.filter(|_| self.is_on_few_cpus()).map(f64::from);
        let cpus: Option<Vec<f64>> = self.runs.iter().map(cpus).collect();
        let threads = || self.runs.iter().map(|run| run.whole.run_threads as f64).collect();
        let (sizes, unit): (Vec<f64>, &str) = match cpus {
            Some(cpus) => (cpus, "CPU"),
            None => (threads(), self.unit()),
        };
        let place = |size: &f64| counted(*size as u64, unit);
        let is_one = sizes.windows(2).all(|two| two[0] == two[1]);
        // Runs of one size are told apart by their names.
        let is_alone = |r: usize| sizes.iter().filter(|size| **size == sizes[r]).count() == 1;
        let named = |r: usize| match (is_one, is_alone(r)) {
            (true, _) => self.runs[r].name.clone(),
            (false, true) => place(&sizes[r]),
            (false, false) => format!("{} ({})", place(&sizes[r]), self.runs[r].name),
        };
        let elapsed: Vec<f64> = self.runs.iter().map(|run| run.elapsed.0.max(1) as f64).collect();
        let series = Series::of(&sizes, &elapsed, place);
        let is_same_work = self.more_work().is_some_and(|more| more.iter().all(|x| is_alike(*x)));
        let one = |r: usize| {
            let (speed, more) = (elapsed[0] / elapsed[r], sizes[r] / sizes[0].max(1.0));
            let each = match is_same_work && !is_one {
                true => format!(", {} per {unit}", percent(speed / more)),
                false => String::new(),
            };
            let told = if r == 0 { String::new() } else { format!(" (× {}{each})", times(speed)) };
            let before = if is_one { "in" } else { "on" };
            format!("{} {before} {}{told}", self.runs[r].elapsed, named(r))
        };
        let told: Vec<String> = (0..self.runs.len()).map(one).collect();
        let is_weak = self.scaling == Scaling::Weak && self.told_scaling.is_none_or(|told| told.is_sure());
        let then = match is_weak && !self.is_on_few_cpus() {
            _ if is_one => None,
            true => series.rises(self.threshold),
            false => series.falls(),
        };
        let then = then.map(|then| format!(" {then}")).unwrap_or_default();
        let work = if is_one { String::new() } else { self.other_work() };
        Some(format!("From begin to end the runs take {}.{then}{work}", told.join(", ")))
    }

    /// How many times as much each run does in all as the first one: by instructions; where threads
    /// share CPUs, by computing time, if there are none.
    fn more_work(&self) -> Option<Vec<f64>> {
        let counted = self.runs.iter().all(|run| run.whole.instructions.is_some());
        let work = |run: &Run| match (counted, self.is_on_few_cpus()) {
            (true, _) => run.whole.instructions,
            (false, true) => Some(run.whole.total.0 as f64),
            (false, false) => None,
        };
        let work: Vec<f64> = self.runs.iter().map(work).collect::<Option<_>>()?;
        work.first().filter(|first| **first > 0.0)?;
        Some(work.iter().map(|x| x / work[0]).collect())
    }

    /// That runs have more or fewer instructions in all than the first one, if they have.
    fn other_work(&self) -> String {
        let Some(more) = self.more_work() else { return String::new() };
        let far = |x: f64| x.ln().abs();
        let most = (0..more.len()).rev().max_by(|&a, &b| far(more[a]).total_cmp(&far(more[b])));
        let Some(r) = most.filter(|&r| !is_alike(more[r])) else { return String::new() };
        let (does, of) = match self.runs[r].whole.instructions {
            Some(_) => ("executes", "instructions"),
            None => ("computes", "time"),
        };
        format!(
            " {} {does} {} times the {of} of {} in all.",
            self.runs[r].name,
            times(more[r]),
            self.runs[0].name
        )
    }
}

/// Whether two amounts differ by less than 5 %.
fn is_alike(ratio: f64) -> bool {
    ratio >= THRESHOLD_OF_SAME_THREADS && ratio * THRESHOLD_OF_SAME_THREADS <= 1.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ms: &[f64]) -> Series {
        let places = (0..ms.len()).map(|r| counted(1 << r, "thread")).collect();
        Series { elapsed: ms.iter().map(|ms| 1e6 * ms).collect(), places }
    }

    /// Of these nothing was told but that "no phase falls below an efficiency of 80.0%".
    #[test]
    fn a_run_that_no_more_falls_is_told() {
        let told = of(&[152.7, 90.8, 63.1, 65.9, 68.6]).falls().expect("it stops at 4 threads");
        assert_eq!(
            told,
            "With more than 4 threads no run is shorter by 5% or more; on 16 threads it takes 1.09 times as long as on 4 threads."
        );
        let slower = of(&[2.83, 4.05, 3.46]).falls().expect("it never falls");
        assert!(
            slower.starts_with("With more than 1 thread no run")
                && slower.contains("on 2 threads it takes 1.43")
        );
        assert_eq!(
            of(&[8.0, 4.1, 2.2, 2.1]).falls().map(|said| said.contains("; on")),
            Some(false),
            "by 4.5% alone"
        );
        assert_eq!(of(&[100.0, 97.0, 94.0, 91.0, 86.0]).falls(), None, "it falls slowly, but it falls");
        assert_eq!(of(&[8.0]).falls(), None);
    }

    /// "With more than 4 tasks no run is shorter; on 4 tasks it takes 1.51 times as long" was told.
    #[test]
    fn of_runs_of_one_size_the_shortest_counts() {
        let series = Series::of(&[1.0, 4.0, 4.0], &[40.0, 10.0, 15.0], |n| counted(*n as u64, "task"));
        assert_eq!((&series.elapsed[..], series.places.len()), (&[40.0, 10.0][..], 2));
        assert_eq!(series.falls(), None);
    }

    #[test]
    fn weak_scaling_is_longer_from_where_on_it_stays_longer() {
        let rises = |ms: &[f64]| of(ms).rises(0.8);
        assert_eq!(
            rises(&[10.0, 11.0, 13.0, 14.0]).map(|said| said.starts_with("From 4 threads on")),
            Some(true)
        );
        assert_eq!(rises(&[10.0, 13.0, 11.0, 12.0]), None);
        assert_eq!(
            rises(&[10.0, 13.0, 11.0, 13.0]).map(|said| said.starts_with("From 8 threads on")),
            Some(true)
        );
    }
}
