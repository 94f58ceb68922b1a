//! What a comparison of runs says, in sentences.

use super::{Comparison, Phase, cause, cause_of, per, percent};
use crate::files::report_data::counted;
use likewise::bursts::scaling::{
    Change, Factor, FactorKind, IterationsFrom, Per, PhaseScaling, Scaling, SlowTasks, lengths_may_be_alike,
};
use likewise::table::Nanos;

/// Factors that cost at least this part of what the least one costs, in
/// logarithms, are named as well.
const ALSO: f64 = 0.5;
/// So many phases with bursts that took long once are told of each run.
const MOST_ONE_OFFS: usize = 3;
/// A serial phase is named if it holds this share of a run's wall time.
const SERIAL_SHARE: f64 = 0.01;

impl Comparison {
    /// What is compared; a sentence on each phase that stops scaling, of those
    /// worth looking at, or on each that is slower or faster, where nothing
    /// scales; and what is serial.
    pub(crate) fn findings(&self) -> Vec<String> {
        let mut findings: Vec<String> = self.work().into_iter().collect();
        findings.extend(if self.same_threads() { self.differences() } else { self.stops() });
        findings.extend(self.shown().iter().filter_map(|phase| self.serial(phase)));
        findings.extend((0..self.runs.len()).flat_map(|r| self.one_offs(r)));
        findings
    }

    /// Whether the runs do the same work, and what they are compared per if not.
    pub(crate) fn work(&self) -> Option<String> {
        let n: Option<Vec<u64>> = self.runs.iter().map(|run| run.iterations.map(|(n, _)| n)).collect();
        let unlike = n.as_ref().is_some_and(|n| n.windows(2).any(|two| two[0] != two[1]));
        if self.settings.total {
            let counts = n.filter(|_| unlike).map(|n| format!(", {}", self.against(&n))).unwrap_or_default();
            return Some(format!("Whole runs are compared, as asked{counts}."));
        }
        let has = |per| self.phases.iter().any(|phase| phase.per == per);
        match n {
            Some(n) if has(Per::Iteration) => {
                let whole = match self.per {
                    None => ", and all computation together is not: too much of it is not found in all runs",
                    Some(_) => "",
                };
                Some(format!("{}: what is in the loop is compared per iteration{whole}.", self.against(&n)))
            }
            _ if has(Per::Burst) => Some(self.unknown_work()),
            _ => None,
        }
    }

    /// `60 iterations against 30 (b, a)`, the most first.
    fn against(&self, n: &[u64]) -> String {
        let mut order: Vec<usize> = (0..n.len()).collect();
        order.sort_by_key(|&r| std::cmp::Reverse(n[r]));
        let counts: Vec<String> = order[1..].iter().map(|&r| n[r].to_string()).collect();
        let name = |&r: &usize| {
            let told = self.runs[r].iterations.is_some_and(|(_, from)| from == IterationsFrom::Bursts);
            format!("{}{}", self.runs[r].name, if told { ", by its bursts" } else { "" })
        };
        let names: Vec<String> = order.iter().map(name).collect();
        format!(
            "{} against {} ({})",
            counted(n[order[0]], "iteration"),
            counts.join(" and "),
            names.join("; ")
        )
    }

    fn unknown_work(&self) -> String {
        let without: Vec<&str> =
            self.runs.iter().filter(|run| run.iterations.is_none()).map(|run| run.name.as_str()).collect();
        let why = if without.is_empty() {
            "Iterations of the runs are not of the same thing".to_owned()
        } else {
            format!("How many iterations there are cannot be told ({})", without.join(", "))
        };
        let whole = match self.per {
            None => {
                ", and all computation together is not (--total does, where the work is known to be the same)"
            }
            Some(_) => "",
        };
        format!(
            "{why}: phases that the runs have in unlike numbers are compared per burst of each thread{whole}."
        )
    }

    /// What stops scaling.
    fn stops(&self) -> Vec<String> {
        let phases = self.shown().iter().filter_map(|phase| {
            let why = self.why(&phase.scaling)?;
            Some(format!("{} stops scaling {why}.", who(phase)))
        });
        let whole = self.why(&self.whole).map(|why| {
            let loss = self.whole.stops_at.and_then(|at| self.largest_loss(at));
            let most = loss.map(|(phase, part)| format!(". Phase {phase} is {} of the loss", percent(part)));
            format!("{} stops scaling {why}{}.", self.all(), most.unwrap_or_default())
        });
        let mut findings: Vec<String> = whole.into_iter().chain(phases).collect();
        if findings.is_empty() {
            findings.push(format!("Every phase keeps an efficiency of {} or more.", percent(self.threshold)));
        }
        findings
    }

    /// The iterations that the figures of a phase are of: `None` where they are
    /// of one already, or the phase is not of the loop.
    pub(crate) fn iterations_in(&self, phase: &Phase, r: usize) -> Option<u64> {
        self.runs[r].iterations.map(|(n, _)| n).filter(|_| phase.in_loop && phase.per == Per::Run)
    }

    fn all(&self) -> &'static str {
        if self.per == Some(Per::Iteration) {
            "All computation of an iteration"
        } else {
            "All computation together"
        }
    }

    /// What is slower or faster than in the first run, run by run.
    fn differences(&self) -> Vec<String> {
        let (mut differences, mut of_phases) = (Vec::new(), 0);
        for r in 1..self.runs.len() {
            differences.extend(self.wall(r));
            let per = self.per.unwrap_or(Per::Run);
            differences.extend(self.difference(r, self.all(), (&self.whole, per), None));
            let before = differences.len();
            for phase in self.shown().iter().filter(|phase| phase.is_sure[r]) {
                let slow = phase.runs[r].as_ref().and_then(|run| run.slow.as_ref());
                let slow = slow.map(|slow| slow_tasks(slow, phase.per, self.iterations_in(phase, r)));
                differences.extend(self.difference(r, &who(phase), (&phase.scaling, phase.per), slow));
            }
            of_phases += differences.len() - before;
        }
        if of_phases == 0 {
            let most = percent(1.0 - self.threshold);
            differences.push(format!("No phase is slower or faster by {most} or more."));
        }
        differences
    }

    /// Whether something is slower or faster in a run than in its first, and
    /// the factors that have most to do with it, or the tasks.
    fn difference(
        &self,
        r: usize,
        who: &str,
        (scaling, of): (&PhaseScaling, Per),
        tasks: Option<String>,
    ) -> Option<String> {
        let change = scaling.changes[r].as_ref().filter(|_| r != scaling.base)?;
        let (run, base) = (&self.runs[r].name, &self.runs[scaling.base].name);
        let each = if of == Per::Run { String::new() } else { format!(" per {}", per(of)) };
        let (how, why) = if change.is_below(self.threshold) {
            ("slower", tasks.unwrap_or_else(|| losses(change)))
        } else if let Some(tasks) = tasks {
            let of_tasks = format!("{who} takes longer on some tasks in {run} than in {base}");
            return Some(format!("{of_tasks}: {tasks}."));
        } else if change.is_above(self.threshold) {
            ("faster", gains(change))
        } else {
            return None;
        };
        let why = if why.is_empty() { why } else { format!(": {why}") };
        Some(format!("{who} is {how} in {run} than in {base}, × {:.2}{each}{why}.", change.speedup))
    }

    /// Whether a run, or an iteration of it, takes longer or shorter by the
    /// clock, and not by chance, and whether that is for computing or for what
    /// is between.
    fn wall(&self, r: usize) -> Option<String> {
        let base = self.whole.base;
        let (before, now) = (self.runs[base].wall?, self.runs[r].wall?);
        let how = |speed: f64| match speed {
            _ if speed < self.threshold => Some("longer"),
            _ if speed * self.threshold > 1.0 => Some("shorter"),
            _ => None,
        };
        let speed = before / now;
        let how = how(speed).filter(|_| how(before / self.beyond_chance(base, r, now)).is_some())?;
        let computing = |r: usize| self.runs[r].all.as_ref().map(|all| all.longest);
        let of_computing = computing(base)? / computing(r)?;
        // Time is computing times what it is stretched by.
        let waits = (speed / of_computing).ln() * speed.ln().signum() >= 0.5 * speed.ln().abs();
        let share = |r: usize, wall: f64| Some(percent(1.0 - (computing(r)? / wall).min(1.0)));
        let why = if waits {
            let (now, before) = (share(r, now)?, share(base, before)?);
            format!(
                "waiting and communication of the thread that computes longest, {now} of the time against {before}"
            )
        } else {
            "computing".to_owned()
        };
        let what = if self.per == Some(Per::Iteration) { "An iteration" } else { "The run" };
        let sure = match self.chance(base, r) {
            None => " Whether by chance cannot be told: there are not five iterations of each.",
            Some(_) => "",
        };
        Some(format!(
            "{what} is {how} in {} than in {}, {} against {}: {why}.{sure}",
            self.runs[r].name,
            self.runs[base].name,
            Nanos(now as u64),
            Nanos(before as u64)
        ))
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
        let mean = |r: usize| {
            let lengths = &self.runs[r].iteration_lengths;
            lengths.iter().sum::<f64>() / lengths.len() as f64
        };
        let in_wall = match (self.per, self.runs[r].iterations) {
            (Some(Per::Run), Some((n, _))) => n as f64,
            _ => 1.0,
        };
        now + (mean(base) - mean(r)) * in_wall
    }

    /// Bursts of a run that took far longer than their threads do otherwise:
    /// of the phases that lost most by them.
    fn one_offs(&self, r: usize) -> Vec<String> {
        let lost = |phase: &Phase| -> u64 {
            let of_run = phase.runs[r].iter().flat_map(|run| &run.one_offs);
            of_run.map(|o| o.duration.saturating_sub(o.usual).0).sum()
        };
        let mut phases: Vec<(u64, &Phase)> = self.phases.iter().map(|phase| (lost(phase), phase)).collect();
        phases.retain(|(lost, _)| *lost > 0);
        phases.sort_by_key(|(lost, phase)| (std::cmp::Reverse(*lost), phase.number));
        phases.truncate(MOST_ONE_OFFS);
        phases.into_iter().filter_map(|(_, phase)| self.one_offs_of(phase, r)).collect()
    }

    fn one_offs_of(&self, phase: &Phase, r: usize) -> Option<String> {
        let found = &phase.runs[r].as_ref()?.one_offs;
        let longest = found.iter().max_by_key(|o| (o.duration, std::cmp::Reverse(o.begin)))?;
        let share =
            longest.duration.saturating_sub(longest.usual).0 as f64 / self.runs[r].elapsed.0.max(1) as f64;
        let (app, task, thread) = longest.thread;
        let tasks = self.runs[r].tasks < self.runs[r].whole.run_threads;
        let thread = if tasks { format!(", thread {thread}") } else { String::new() };
        let app = if self.runs[r].apps > 1 { format!("{app}.") } else { String::new() };
        let who = format!("of task {app}{task}{thread} at {}", longest.begin);
        let times = format!(
            "{} in {}, where that thread takes {} otherwise, {} of the run longer",
            longest.duration,
            self.runs[r].name,
            longest.usual,
            percent(share)
        );
        Some(match found.len() {
            1 => format!(
                "One burst of phase {} ({who}) takes {times}: in the figures it is as it is otherwise.",
                phase.number
            ),
            n => format!(
                "{n} bursts of phase {} take far longer than their threads' others, the longest ({who}) takes \
                 {times}: in the figures they are as they are otherwise.",
                phase.number
            ),
        })
    }

    /// The phase that loses most time in a run, and its part of all that is
    /// lost against the smallest run.
    fn largest_loss(&self, run: usize) -> Option<(u32, f64)> {
        let threads = |r: usize| self.runs[r].whole.run_threads.max(1) as f64;
        let base = self.whole.base;
        let work = if self.scaling == Scaling::Weak { threads(run) / threads(base) } else { 1.0 };
        let total = |r: usize| self.runs[r].all.as_ref().map(|all| all.mean() * threads(r));
        let all = total(run)? - work * total(base)?;
        let of_phase = |phase: &Phase, r: usize| {
            let counts = self.per != Some(Per::Iteration) || phase.in_loop;
            let run = phase.runs[r].as_ref().filter(|_| counts);
            run.map_or(0.0, |run| run.measured.mean() * threads(r))
        };
        let loss =
            |phase: &Phase| (phase.number, (of_phase(phase, run) - work * of_phase(phase, base)) / all);
        let largest = self.phases.iter().map(loss).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        largest.filter(|(_, part)| all > 0.0 && *part > 0.1)
    }

    /// Where and why something stops scaling, if it does.
    fn why(&self, scaling: &PhaseScaling) -> Option<String> {
        let at = scaling.stops_at?;
        let change = scaling.changes[at].as_ref()?;
        if self.runs[at].whole.run_threads == self.runs[scaling.base].whole.run_threads {
            return None;
        }
        let is_whole = std::ptr::eq(scaling, &self.whole);
        let cause = if is_whole && self.serial_explains(at) { self.serial_parts(at) } else { losses(change) };
        let (place, efficiency) = (self.threads_of(at), percent(change.efficiency));
        Some(format!("at {place}, with an efficiency of {efficiency}: {cause}"))
    }

    /// Whether load balance is what all computation loses most by, and is kept
    /// where serial phases are left out.
    fn serial_explains(&self, at: usize) -> bool {
        let change = self.whole.changes[at].as_ref();
        let worst = change.and_then(Change::worst).filter(|f| f.kind == FactorKind::LoadBalance);
        let balance = |r: usize| self.runs[r].without_serial.load_balance();
        let kept = balance(at).zip(balance(self.whole.base)).map(|(now, then)| now / then);
        // Half of it, in logarithms.
        worst.zip(kept).is_some_and(|(worst, kept)| kept.ln() > 0.5 * worst.value.ln())
    }

    fn serial_parts(&self, at: usize) -> String {
        let share = |phase: &Phase| {
            let figures = phase.runs[at].as_ref()?.figures();
            self.serial_share(at, figures).map(|share| (phase.number, share))
        };
        let serial: Vec<(u32, f64)> = self.phases.iter().filter_map(share).collect();
        let all: f64 = serial.iter().map(|(_, share)| share).sum();
        format!("{} serial, {} of the wall time", counted_phases(&serial), percent(all))
    }

    /// What is to be said of a serial phase: how its share of the wall time
    /// changes with the threads, or where it is serial in some of the runs only.
    fn serial(&self, phase: &Phase) -> Option<String> {
        let is_serial = |r: usize| phase.runs[r].as_ref().is_some_and(|run| run.figures().is_serial());
        let runs = 0..self.runs.len();
        let serial: Vec<usize> = runs.clone().filter(|&r| is_serial(r)).collect();
        let several = |&r: &usize| phase.runs[r].is_some() && self.runs[r].whole.run_threads > 1;
        let everywhere = runs.clone().filter(several).count() == serial.len();
        if serial.is_empty() || everywhere && self.same_threads() && phase.scaling.stops_at.is_none() {
            return None;
        }
        let share = |r: usize| {
            let share = self.serial_share(r, phase.runs[r].as_ref()?.figures())?;
            Some((
                share,
                format!(
                    "{} {} {}",
                    percent(share),
                    if self.same_threads() { "in" } else { "on" },
                    self.place(r)
                ),
            ))
        };
        let shares: Vec<(f64, String)> = runs.filter_map(share).collect();
        if shares.iter().all(|(share, _)| *share < SERIAL_SHARE) {
            return None;
        }
        let told: Vec<String> = shares.into_iter().map(|(_, told)| told).collect();
        let not = if everywhere { String::new() } else { " It is not in the other runs.".to_owned() };
        Some(format!(
            "Phase {} is serial, one {} computes while the others wait; of the wall time it has {}.{not}",
            phase.number,
            self.unit(),
            told.join(", ")
        ))
    }
}

fn who(phase: &Phase) -> String {
    format!("Phase {} (up to {} of the time)", phase.number, percent(phase.largest_share()))
}

fn counted_phases(serial: &[(u32, f64)]) -> String {
    let numbers: Vec<String> = serial.iter().map(|(number, _)| number.to_string()).collect();
    match &numbers[..] {
        [one] => format!("phase {one} is"),
        more => format!("phases {} are", more.join(", ")),
    }
}

/// The factors that cost most, with the others that cost much.
fn losses(change: &Change) -> String {
    if let Some(FactorKind::Time) = change.worst().map(|factor| factor.kind) {
        return "why cannot be told, as there are no instructions".to_owned();
    }
    let name = |factor: &Factor| match factor.kind {
        FactorKind::LoadBalance if change.is_serial => "serial",
        kind => cause(kind),
    };
    let mut told = change.factors.clone();
    told.sort_by(|a, b| a.value.total_cmp(&b.value));
    if told.first().is_none_or(|worst| worst.value >= 1.0) {
        return cause_of(change).to_owned();
    }
    named(&told, name)
}

fn gains(change: &Change) -> String {
    if let Some(FactorKind::Time) = change.best().map(|factor| factor.kind) {
        return "why cannot be told, as there are no instructions".to_owned();
    }
    let mut told = change.factors.clone();
    told.sort_by(|a, b| b.value.total_cmp(&a.value));
    named(&told, |factor| gain(factor.kind))
}

/// The first factor, and those that do half as much in the same direction.
fn named(factors: &[Factor], name: impl Fn(&Factor) -> &'static str) -> String {
    let Some(first) = factors.first() else { return String::new() };
    let most = first.value.ln();
    let much = |factor: &&Factor| factor.kind != FactorKind::Time && factor.value.ln() / most >= ALSO;
    let told: Vec<String> =
        factors.iter().filter(much).map(|f| format!("{}, × {:.2}", name(f), f.value)).collect();
    told.join("; ")
}

/// `tasks 4 and 9 take 2.00 times as long (lower IPC, × 0.50), …`.
///
/// Where times are of whole runs, `iterations` are those they are of.
fn slow_tasks(slow: &SlowTasks, of: Per, iterations: Option<u64>) -> String {
    let odd = &slow.odd;
    let several_apps = odd.tasks.windows(2).any(|two| two[0].0 != two[1].0);
    let name =
        |&(app, task): &(u32, u32)| if several_apps { format!("{app}.{task}") } else { task.to_string() };
    let names: Vec<String> = odd.tasks.iter().map(name).collect();
    let (who, take) = match &names[..] {
        [one] => (format!("task {one}"), "takes"),
        [first @ .., last] => (format!("tasks {} and {last}", first.join(", ")), "take"),
        [] => (String::new(), "take"),
    };
    let worst = slow.factors.iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let why = worst.filter(|f| f.value < 1.0 && f.kind != FactorKind::Time);
    let why = why.map(|f| format!(" ({}, × {:.2})", cause(f.kind), f.value)).unwrap_or_default();
    let each = match (of, iterations) {
        (Per::Run, None) => "in all".to_owned(),
        (Per::Run, Some(_)) => "per iteration".to_owned(),
        _ => format!("per {}", per(of)),
    };
    let lost = Nanos((odd.lost / iterations.unwrap_or(1) as f64) as u64);
    format!(
        "{who} {take} {:.2} times as long{why}, where the others take {:.2} times as long; {} {lost} {each}",
        odd.factor,
        odd.others,
        if names.len() == 1 { "it loses" } else { "they lose, on average," }
    )
}

/// A factor for people, as the cause of a gain.
fn gain(kind: FactorKind) -> &'static str {
    match kind {
        FactorKind::Instructions => "fewer instructions",
        FactorKind::Ipc => "higher IPC",
        FactorKind::Frequency => "more cycles per second",
        FactorKind::Rate => "more instructions per second",
        FactorKind::Time => "less computing time",
        FactorKind::LoadBalance => "load balance",
    }
}
