//! Whether a run, or an iteration, takes longer by the clock, and what for.

use super::causes::ALSO;
use super::words::times;
use super::{Comparison, OfThread, Run, THRESHOLD_OF_SAME_THREADS};
use likewise::bursts::scaling::{OneOff, Per, lengths_may_be_alike};
use likewise::median;
use likewise::table::Nanos;
use likewise::words::{counted, percent};

/// A few iterations make the difference of the means if they hold this part of
/// it: more than the others do.
const MOST_OF_IT: f64 = 0.5;

/// The thread with the longest time, the first of equal ones.
pub(super) fn longest(threads: &[OfThread]) -> Option<OfThread> {
    // `max_by` takes the last of equal ones; reversed, the first.
    threads.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1)).copied()
}

impl Comparison {
    /// Whether a run, or an iteration of it, takes longer or shorter by the
    /// clock, and whether computing or the time between bursts is the cause.
    /// `None` if chance makes iterations differ as much, unless a few
    /// iterations hold the difference.
    pub(super) fn wall(&self, r: usize) -> Option<String> {
        let base = self.whole.base;
        let (before, now) = (self.runs[base].wall?, self.runs[r].wall?);
        let how = |speed: f64| match speed {
            _ if speed < self.threshold => Some("longer"),
            _ if speed * self.threshold > 1.0 => Some("shorter"),
            _ => None,
        };
        let told = how(before / now)?;
        let few = if told == "longer" { self.few_long(r, base) } else { self.few_long(base, r) };
        let by_chance = how(before / self.beyond_chance(base, r, now)).is_none();
        if by_chance && few.is_none() {
            return None;
        }
        let why = self.computes_or_waits(base, r, (before, now))?;
        let per_iteration = self.wall_per == Some(Per::Iteration);
        let what = if per_iteration { "An iteration" } else { "The run" };
        let average = if few.is_some() && per_iteration { ", on average" } else { "" };
        let sure = match self.chance(base, r) {
            None => self.too_few(base, r),
            Some(_) => few.unwrap_or_default(),
        };
        Some(format!(
            "{what} is {told} in {} than in {}, {} against {}{average}: {why}.{sure}",
            self.runs[r].name,
            self.runs[base].name,
            Nanos(now as u64),
            Nanos(before as u64)
        ))
    }

    /// Whether a run takes longer or shorter from begin to end, where it is not known what their
    /// times are to be compared per; and whether it does as much, as far as instructions tell.
    pub(super) fn elapsed(&self, r: usize) -> Option<String> {
        let runs = [self.whole.base, r].map(|r| &self.runs[r]);
        if self.wall_per.is_some() {
            return None;
        }
        let ratio = |of: &dyn Fn(&Run) -> f64| of(runs[1]) / of(runs[0]);
        let longer = ratio(&|run| run.elapsed.0.max(1) as f64);
        let is_alike = |ratio: f64, least: f64| ratio >= least && ratio * least <= 1.0;
        if is_alike(longer, self.threshold) {
            return None;
        }
        let work = match runs.map(|run| run.whole.instructions.filter(|n| *n > 0.0)) {
            [Some(before), Some(now)] if is_alike(now / before, THRESHOLD_OF_SAME_THREADS) => {
                format!("with as many instructions in all (× {})", times(now / before))
            }
            [Some(before), Some(now)] => {
                format!("with {} times the instructions in all", times(now / before))
            }
            _ => "and whether it does as much cannot be told".to_owned(),
        };
        Some(format!(
            "From begin to end {} takes {} times as long as {}, {} against {}, {work}{}.",
            runs[1].name,
            times(longer),
            runs[0].name,
            runs[1].elapsed,
            runs[0].elapsed,
            balance(runs, longer)
        ))
    }

    /// Why chance cannot be told.
    fn too_few(&self, base: usize, r: usize) -> String {
        let n = |r: usize| self.runs[r].iteration_lengths.len();
        let repetitions =
            |n: usize| if n == 0 { "no repetition".to_owned() } else { counted(n as u64, "repetition") };
        format!(
            " Whether by chance cannot be told: {} of {} and {} of {} can be timed, and five of each are needed.",
            repetitions(n(r)),
            self.runs[r].name,
            repetitions(n(base)),
            self.runs[base].name
        )
    }

    /// The first run, by threads, in which the thread that computes longest computes for a much
    /// smaller part of the time by the clock than in the smallest run: what is told of computing
    /// does not count that.
    pub(super) fn time_outside(&self) -> Option<String> {
        let threads = |r: usize| self.runs[r].whole.run_threads;
        let first = 0;
        let in_iterations = self.runs.iter().all(|run| run.wall.is_some() && !run.in_wall.is_empty());
        let computes = |r: usize| {
            let Run { wall, in_wall, whole, elapsed, .. } = &self.runs[r];
            let (time, of) = match (in_iterations, wall) {
                (true, Some(wall)) => (longest(in_wall).map_or(0.0, |(_, time)| time), *wall),
                _ => (whole.longest.0 as f64, elapsed.0 as f64),
            };
            (time / of.max(1.0)).min(1.0)
        };
        let falls =
            |&r: &usize| threads(r) > threads(first) && computes(r) < self.threshold * computes(first);
        let at = (0..self.runs.len()).find(falls)?;
        Some(format!(
            "By the clock, the {} that computes longest computes for {} of the time on {}, and for {} on {}: waiting, \
             communication and I/O take the rest, which efficiencies of computing do not count.",
            self.unit(),
            percent(computes(at)),
            self.threads_of(at),
            percent(computes(first)),
            self.threads_of(first)
        ))
    }

    /// The iterations of one run that are longer than any of the other, if they
    /// make most of the difference and a usual iteration is as long in both.
    /// Time of single long bursts does not count: these are reported by
    /// themselves.
    fn few_long(&self, long: usize, short: usize) -> Option<String> {
        let [of_long, of_short] = [long, short].map(|r| &self.runs[r].iteration_lengths);
        let usual_of = |x: &[f64]| median::lower(&median::sorted(x.iter().copied()));
        let (usual, of_other) = (usual_of(of_long)?, usual_of(of_short)?);
        if of_other < self.threshold * usual || usual < self.threshold * of_other {
            return None;
        }
        let most = of_short.iter().copied().fold(usual / self.threshold, f64::max);
        let odd: Vec<usize> = (0..of_long.len()).filter(|&k| of_long[k] > most).collect();
        let n = of_long.len() as f64;
        let told: u64 = self.one_offs_in(long).map(|o| o.duration.saturating_sub(o.usual).0).sum();
        let held = (odd.iter().map(|&k| of_long[k] - usual).sum::<f64>() - told as f64) / n;
        let apart = mean(of_long) - mean(of_short);
        let every = distances(&odd);
        let is_it = apart > 0.0 && held >= MOST_OF_IT * apart;
        is_it.then(|| {
            format!(
                " {} of {} iterations of {}{every} {} longer than any of {}; the median is {} against {}.",
                odd.len(),
                of_long.len(),
                self.runs[long].name,
                if odd.len() == 1 { "is" } else { "are" },
                self.runs[short].name,
                Nanos(usual as u64),
                Nanos(of_other as u64)
            )
        })
    }

    fn one_offs_in(&self, r: usize) -> impl Iterator<Item = &OneOff> {
        self.phases.iter().filter_map(move |phase| phase.runs[r].as_ref()).flat_map(|run| &run.one_offs)
    }

    /// Whether a run takes longer or shorter by the clock for computing or for
    /// waiting: by the thread that computes longest in the longer run, if it
    /// does in the other, nearly; else by those of both runs, if they agree.
    fn computes_or_waits(&self, base: usize, r: usize, (before, now): (f64, f64)) -> Option<String> {
        let of = |r: usize, thread| {
            self.runs[r].in_wall.iter().find(|(of, _)| *of == thread).map(|(_, time)| *time)
        };
        let speed = before / now;
        // Time by the clock is the computing time, times how much it is
        // stretched.
        let waits = |thread| {
            let of_computing = of(base, thread)? / of(r, thread)?;
            Some((speed / of_computing).ln() * speed.ln().signum() >= 0.5 * speed.ln().abs())
        };
        let longest = |r: usize| longest(&self.runs[r].in_wall);
        let (first, second) = (longest(base)?, longest(r)?);
        // That of the longer run, if it computes as long as any in the other.
        let (of_longer, shorter, most) =
            if speed < 1.0 { (second.0, base, first.1) } else { (first.0, r, second.1) };
        let is_it = of(shorter, of_longer)? >= self.threshold * most;
        let (first, second) = if is_it { (of_longer, of_longer) } else { (first.0, second.0) };
        let told = |thread| {
            let time =
                |r: usize| of(r, thread).map_or_else(|| "none".to_owned(), |t| Nanos(t as u64).to_string());
            format!("{} computes {} against {}", self.thread_name(r, thread), time(r), time(base))
        };
        let share = |r: usize, wall: f64| Some(percent(1.0 - (longest(r)?.1 / wall).min(1.0)));
        Some(match (waits(first), waits(second)) {
            (Some(true), Some(true)) => format!(
                "waiting, communication and I/O of the thread that computes longest, {} of the time against {}",
                share(r, now)?,
                share(base, before)?
            ),
            (Some(false), Some(false)) => {
                let change = self.whole.changes[r].as_ref();
                let alone = match change.is_some_and(|change| change.is_off_core(self.threshold)) {
                    true => ", by the clock, and as far as is known not in CPU time",
                    false => "",
                };
                format!("computing{alone}; {}", told(second))
            }
            _ => format!(
                "whether for computing or for waiting cannot be told, as another thread computes longest: {}; {}",
                told(second),
                told(first)
            ),
        })
    }

    /// Whether iterations of two runs may be as long as one another; `None`
    /// where too few are known.
    fn chance(&self, base: usize, r: usize) -> Option<bool> {
        lengths_may_be_alike(&self.runs[base].iteration_lengths, &self.runs[r].iteration_lengths)
    }

    /// What a run, or an iteration, takes by the clock, where iterations that
    /// differ by chance from those of the base are as long as those.
    fn beyond_chance(&self, base: usize, r: usize, now: f64) -> f64 {
        if self.chance(base, r) != Some(true) {
            return now;
        }
        let of = |r: usize| mean(&self.runs[r].iteration_lengths);
        let in_wall = match (self.wall_per, self.runs[r].iterations) {
            (Some(Per::Run), Some((n, _))) => n as f64,
            _ => 1.0,
        };
        now + (of(base) - of(r)) * in_wall
    }
}

/// The load balance of two whole runs, if it makes half of the difference of their times.
fn balance([before, now]: [&Run; 2], longer: f64) -> String {
    let balances = before.whole.load_balance().zip(now.whole.load_balance());
    let is_much = |(a, b): &(f64, f64)| (a / b).ln() / longer.ln() >= ALSO;
    let told = balances.filter(is_much);
    told.map_or_else(String::new, |(a, b)| format!(": load balance, {} against {}", percent(b), percent(a)))
}

/// How far apart iterations with these numbers are, where all are as far.
fn distances(odd: &[usize]) -> String {
    let is_even = odd.len() > 2 && odd.windows(3).all(|w| w[1] - w[0] == w[2] - w[1]);
    match odd {
        [first, second, ..] if is_even && second - first == 1 => ", in a row,".to_owned(),
        [first, second, ..] if is_even => format!(", one in {},", second - first),
        _ => String::new(),
    }
}

fn mean(x: &[f64]) -> f64 {
    x.iter().sum::<f64>() / x.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_even_is_told() {
        assert_eq!(distances(&[10, 11, 12, 13]), ", in a row,");
        assert_eq!(distances(&[4, 9, 14]), ", one in 5,");
        assert_eq!(distances(&[4, 9]), "");
        assert_eq!(distances(&[4, 5, 9]), "");
    }
}
