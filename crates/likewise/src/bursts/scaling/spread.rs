//! Whether a mean burst is the same thing in two runs.

use super::matched::RunBursts;
use super::steps::instructions;

/// How alike the bursts of a phase are in one run: their mean over the mean that each burst counts
/// in by how much it is. 1 where all are as much; where half of the bursts are next to nothing, a
/// half.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Evenness {
    /// Of instructions, where all of its bursts have them.
    work: Option<f64>,
    /// Of times.
    time: Option<f64>,
}

/// A number of values, their sum, and that of their squares.
#[derive(Clone, Copy, Debug, Default)]
struct Sums(f64, f64, f64);

impl Sums {
    fn add(&mut self, x: f64) {
        *self = Self(self.0 + 1.0, self.1 + x, self.2 + x * x);
    }

    fn evenness(self) -> Option<f64> {
        Some(self.1 * self.1 / self.2 / self.0).filter(|x| x.is_finite() && *x > 0.0)
    }
}

impl Evenness {
    /// Of each of `n_phases` phases of a run.
    ///
    /// # Complexity
    /// O(n) for n bursts.
    pub(super) fn of_all(run: &RunBursts<'_>, phase_of: &[Option<u32>], n_phases: usize) -> Vec<Self> {
        let work = instructions(run);
        let mut sums = vec![[Sums::default(); 2]; n_phases];
        for (i, phase) in run.complete.iter().zip(phase_of) {
            let Some(p) = phase else { continue };
            let [of_work, of_time] = &mut sums[*p as usize];
            of_work.add(work.map_or(f64::NAN, |column| column.values.get(i as usize)));
            of_time.add(run.table.duration[i as usize].0 as f64);
        }
        sums.into_iter().map(|[work, time]| Self { work: work.evenness(), time: time.evenness() }).collect()
    }

    /// Whether the mean burst of one run is not what it is in the other: by bursts and by what they
    /// hold, the two differ by other factors, by more than the share `least`. One of the two then
    /// has more bursts that are small beside the others.
    pub(super) fn is_unlike(&self, other: &Self, least: f64) -> bool {
        let both = self.work.zip(other.work).or(self.time.zip(other.time));
        both.is_some_and(|(a, b)| (a / b).min(b / a) < 1.0 - least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(bursts: &[f64]) -> Evenness {
        let mut sums = Sums::default();
        bursts.iter().for_each(|&x| sums.add(x));
        Evenness { work: None, time: sums.evenness() }
    }

    /// A mean of 620 µs was called faster than one of 2.49 ms, where every second burst of the
    /// first run was of 2 µs.
    #[test]
    fn a_mean_with_tiny_bursts_is_no_mean_burst() {
        let whole = of(&[2400.0; 20]);
        let tiny: Vec<f64> = (0..30).map(|i| if i % 3 == 0 { 2.0 } else { 960.0 }).collect();
        assert!(of(&tiny).is_unlike(&whole, 0.2) && whole.is_unlike(&of(&tiny), 0.2));
        // Whatever the factor, bursts that are spread alike have the same mean burst.
        let half: Vec<f64> = tiny.iter().map(|x| x / 2.0).collect();
        assert!(!of(&tiny).is_unlike(&of(&half), 0.05));
        let noisy: Vec<f64> = (0..20).map(|i| 1000.0 + f64::from(i * 7 % 11) * 20.0).collect();
        assert!(!of(&noisy).is_unlike(&whole, 0.05));
        assert!(!of(&[]).is_unlike(&whole, 0.05), "nothing is known of it");
    }

    #[test]
    fn work_tells_rather_than_time() {
        let stalled = Evenness { work: Some(1.0), time: Some(0.4) };
        let even = Evenness { work: Some(0.98), time: Some(1.0) };
        assert!(!stalled.is_unlike(&even, 0.05));
        assert!(Evenness { work: None, ..stalled }.is_unlike(&even, 0.05));
    }
}
