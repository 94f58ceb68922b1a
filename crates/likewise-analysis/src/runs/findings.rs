//! What a comparison of runs says, in sentences.

use super::causes::{gains, losses, slow_tasks};
use super::wall::longest;
use super::words::times;
use super::{Comparison, MUCH, Phase, THRESHOLD_OF_SAME_THREADS, per};
use likewise::bursts::scaling::{
    Change, FactorKind, IterationsFrom, OneOff, Per, PhaseScaling, SERIAL_SHARE, Scaling,
};
use likewise::table::Moment;
use likewise::words::{counted, listed, percent};

/// At most this many phases of a run are named for bursts that took long once.
const MOST_ONE_OFFS: usize = 3;

impl Comparison {
    /// The findings: what is compared; a sentence on each noteworthy phase that
    /// stops scaling or, if the runs have the same threads, is slower or
    /// faster; and what is serial.
    pub fn findings(&self) -> Vec<String> {
        if self.is_on_few_cpus() {
            return [self.cpus()].into_iter().chain(self.by_clock()).collect();
        }
        let mut findings: Vec<String> = self.work().into_iter().collect();
        findings.extend(self.shared_cpus());
        findings.extend(self.unknown_scaling());
        findings.extend(self.by_clock().filter(|_| !self.same_threads()));
        findings.extend(if self.same_threads() { self.differences() } else { self.stops() });
        findings.extend((0..self.runs.len()).filter_map(|r| self.missing(r)));
        findings.extend((1..self.runs.len()).filter_map(|r| self.may_be_one(r)));
        findings.extend(self.phases.iter().filter_map(|phase| self.serial(phase)));
        findings.extend(self.serial_in_no_phase());
        findings.extend((0..self.runs.len()).flat_map(|r| self.one_offs(r)));
        findings
    }

    /// Whether the runs do the same work, and what they are compared per if not.
    pub fn work(&self) -> Option<String> {
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
                    None => ", and all computation together is not: too much of it is in no phase",
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
        if self.in_no_order {
            return "Bursts come in no order: phases are compared per burst, whichever thread has it, and all computation \
                    together is not."
                .to_owned();
        }
        let why = if self.unlike_iterations || without.is_empty() {
            "Whether iterations of the runs are of the same thing cannot be told".to_owned()
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

    /// Whether every phase worth looking at is in all runs, and known to be the
    /// same.
    pub(super) fn all_known(&self) -> bool {
        self.looked_at().all(|phase| !phase.is_unsure() && phase.runs.iter().all(Option::is_some))
    }

    /// Whether the figures of all computation in a run are of the same work as in the run that it
    /// is compared with, which may be that run itself.
    pub fn is_sure_of_all(&self, r: usize) -> bool {
        r == self.whole.base || self.is_whole_known()
    }

    /// Whether all computation is known to be the same: whole runs are, and an
    /// iteration is where its phases are, but for a small part, and what took long once is
    /// told, or not, in all.
    pub fn is_whole_known(&self) -> bool {
        let share = |r: usize| -> f64 {
            let unsure = self.phases.iter().filter(|phase| phase.in_loop && phase.is_unsure());
            unsure.filter_map(|phase| phase.runs[r].as_ref()).map(|run| run.figures().share).sum()
        };
        let is_known = |r: usize| share(r) <= 1.0 - self.threshold;
        self.per != Some(Per::Iteration) || (!self.unlike_calm && (0..self.runs.len()).all(is_known))
    }

    /// The phases that are not found in a run.
    fn missing(&self, r: usize) -> Option<String> {
        let of_phase = |phase: &Phase| {
            let share = |run: usize| self.share_of(phase, run).unwrap_or(0.0);
            let most = (0..self.runs.len()).rev().max_by(|&a, &b| share(a).total_cmp(&share(b)))?;
            let of = match (self.is_shown(phase), self.same_threads()) {
                (true, true) => "of",
                (true, false) => "of the time on",
                (false, true) => "of the wall time of",
                (false, false) => "of the wall time on",
            };
            let told = format!("{} ({} {of} {})", phase.number, percent(share(most)), self.place(most));
            phase.runs[r].is_none().then_some(told)
        };
        let phases: Vec<String> = self.looked_at().filter_map(of_phase).collect();
        let (which, are, it) = match phases.len() {
            0 => return None,
            1 => ("Phase", "is", "it is not run there, or looks"),
            _ => ("Phases", "are", "they are not run there, or look"),
        };
        // What one run has in a cluster, another one may have in two, or with something else in one.
        let grouped = if self.in_no_order { ", or bursts are grouped otherwise" } else { "" };
        let place = if self.same_threads() {
            format!("in {}", self.place(r))
        } else {
            format!("on {}", self.place(r))
        };
        Some(format!("{which} {} {are} not found {place}: {it} otherwise{grouped}.", listed(&phases)))
    }

    /// Two phases that may be the same, though they look unlike: each is all that one of two runs
    /// lacks of the other, and they have as many instructions.
    fn may_be_one(&self, r: usize) -> Option<String> {
        let base = self.whole.base;
        if !self.same_threads() || r == base || [r, base].iter().any(|&r| self.runs[r].left.share > MUCH) {
            return None;
        }
        let only_in = |own: usize, other: usize| {
            let mut phases = self.looked_at().filter(|p| p.runs[own].is_some() && p.runs[other].is_none());
            let figures = |phase: &Phase| phase.runs[own].as_ref().map(|run| *run.figures());
            let found = phases.next().and_then(|phase| Some((phase.number, figures(phase)?)));
            found.filter(|_| phases.next().is_none())
        };
        let ((before, a), (now, b)) = (only_in(base, r)?, only_in(r, base)?);
        let more = b.instructions? / a.instructions.filter(|n| *n > 0.0)?;
        let is_as_much = more >= THRESHOLD_OF_SAME_THREADS && more * THRESHOLD_OF_SAME_THREADS <= 1.0;
        let longer = b.total.0 as f64 / a.total.0.max(1) as f64;
        is_as_much.then(|| {
            format!(
                "Phase {now} of {} and phase {before} of {} may be the same: nothing else is left, and they have as many \
                 instructions (× {}), in {} times the computing time.",
                self.runs[r].name,
                self.runs[base].name,
                times(more),
                times(longer)
            )
        })
    }

    /// How much of the run of which they have least the phases hold that are known to be the same,
    /// where these are not all.
    pub(super) fn known_part(&self) -> String {
        if self.all_known() {
            return String::new();
        }
        let shares = (0..self.runs.len()).map(|r| (self.known_share(r), r));
        let least = shares.min_by(|a, b| a.0.total_cmp(&b.0));
        least.map_or_else(String::new, |(share, r)| {
            format!("; they have {} of the computing time of {}", percent(share), self.runs[r].name)
        })
    }

    /// The share of a run's computing time that phases have which are known to be the same, and of
    /// which no other sentence tells.
    pub(super) fn known_share(&self, r: usize) -> f64 {
        let is_meant = |phase: &&Phase| phase.is_known() && phase.is_sure(r) && !self.is_off_core(phase);
        let phases = self.looked_at().filter(is_meant).filter_map(|phase| phase.runs[r].as_ref());
        phases.map(|run| run.figures().share).sum()
    }

    /// The iterations that the figures of a phase are of: `None` where they are
    /// of one already, or the phase is not of the loop.
    pub fn iterations_in(&self, phase: &Phase, r: usize) -> Option<u64> {
        self.runs[r].iterations.map(|(n, _)| n).filter(|_| phase.in_loop && phase.per == Per::Run)
    }

    pub(super) fn all(&self) -> &'static str {
        if self.per == Some(Per::Iteration) {
            "All computation of an iteration"
        } else {
            "All computation together"
        }
    }

    /// Where the table has a `~` beside a figure that a sentence would else deny: below the
    /// threshold, or, in runs of as many threads, above it.
    pub(super) fn but_for_chance(&self) -> &'static str {
        let is_denied = |change: &Change| {
            change.may_be_chance(self.threshold)
                && (self.same_threads() || change.efficiency < self.threshold)
        };
        let is_marked = |phase: &Phase| {
            let known = phase.scaling.changes.iter().zip(&phase.doubts).filter(|(_, doubt)| doubt.is_none());
            known.filter_map(|(change, _)| change.as_ref()).any(is_denied)
        };
        if self.looked_at().any(is_marked) { ", but for what may be chance" } else { "" }
    }

    /// What is slower or faster than in the first run, run by run.
    fn differences(&self) -> Vec<String> {
        let (mut differences, mut of_phases) = (Vec::new(), 0);
        for r in 1..self.runs.len() {
            differences.extend(self.wall(r).or_else(|| self.elapsed(r)));
            let per = self.per.unwrap_or(Per::Run);
            if self.is_whole_known() {
                let below = |change: &&Change| change.is_below(self.threshold);
                let change = self.whole.changes[r].as_ref().filter(below);
                let serial = change.and_then(|_| self.serial_parts(r));
                differences.extend(self.difference(r, self.all(), (&self.whole, per), serial));
            }
            let before = differences.len();
            for phase in self.looked_at().filter(|phase| phase.is_sure(r)) {
                let slow = phase.runs[r].as_ref().and_then(|run| run.slow.as_ref());
                let slow = slow.map(|slow| slow_tasks(slow, phase.per, self.iterations_in(phase, r)));
                differences.extend(self.difference(r, &self.who(phase), (&phase.scaling, phase.per), slow));
            }
            of_phases += differences.len() - before;
            differences.extend(self.off_core(r));
        }
        if of_phases == 0 {
            let most = percent(1.0 - self.threshold);
            let others = self.looked_at().any(|phase| self.is_off_core(phase));
            let of = match (self.all_known(), others) {
                (true, false) => "No phase",
                (true, true) => "No other phase",
                (false, false) => "Of the phases known to be the same, none",
                (false, true) => "Of the other phases known to be the same, none",
            };
            let but = self.but_for_chance();
            differences.push(match self.looked_at().any(Phase::is_known) {
                true => format!("{of} is slower or faster by {most} or more{but}{}.", self.known_part()),
                false => "Which phases are slower or faster cannot be told: none is known to be the same in two runs."
                    .to_owned(),
            });
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
        Some(format!("{who} is {how} in {run} than in {base}, × {}{each}{why}.", times(change.speedup)))
    }

    /// `task 3`, `task 3, thread 2`, `task 1.3`.
    pub(super) fn thread_name(&self, r: usize, (app, task, thread): (u32, u32, u32)) -> String {
        let several = self.runs[r].tasks < self.runs[r].whole.run_threads;
        let thread = if several { format!(", thread {thread}") } else { String::new() };
        let app = if self.runs[r].apps > 1 { format!("{app}.") } else { String::new() };
        format!("task {app}{task}{thread}")
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
        let share_of =
            |o: &OneOff| o.duration.saturating_sub(o.usual).0 as f64 / self.runs[r].elapsed.0.max(1) as f64;
        let share = share_of(longest);
        // What several threads lose they may lose at once.
        let of_one = found.len() > 1 && found.iter().all(|o| o.thread == longest.thread);
        let together = match of_one {
            true => format!(
                " (together {}, all of that thread)",
                percent(found.iter().map(share_of).sum::<f64>())
            ),
            false => String::new(),
        };
        let who = format!("of {} at {}", self.thread_name(r, longest.thread), Moment(longest.begin));
        let times = format!(
            "{} in {}, where that thread takes {} otherwise, {} of the run longer{together}",
            longest.duration,
            self.runs[r].name,
            longest.usual,
            percent(share)
        );
        // Whole runs are compared as they are where not all of them tell such bursts.
        let of = if self.unlike_calm && self.per == Some(Per::Run) { " of the phase" } else { "" };
        Some(match found.len() {
            1 => format!(
                "One burst of phase {} ({who}) takes {times}: in the figures{of} it is as it is otherwise.",
                phase.number
            ),
            n => format!(
                "{n} bursts of phase {} take far longer than their threads' others, the longest ({who}) takes \
                 {times}: in the figures{of} they are as they are otherwise.",
                phase.number
            ),
        })
    }

    /// The phase in which the longest-computing thread of a run loses most, and
    /// its share of all that this thread loses against the longest thread of
    /// the smallest run. The efficiency is defined by these threads.
    pub(super) fn largest_loss(&self, run: usize) -> Option<(u32, f64)> {
        let threads = |r: usize| self.runs[r].whole.run_threads.max(1) as f64;
        let base = self.whole.base;
        let work = if self.scaling == Scaling::Weak { 1.0 } else { threads(base) / threads(run) };
        let all = longest(&self.runs[run].by_thread)?.1 - work * longest(&self.runs[base].by_thread)?.1;
        let of_phase = |phase: &Phase, r: usize| {
            let counts = self.per != Some(Per::Iteration) || phase.in_loop;
            let thread = longest(&self.runs[r].by_thread)?.0;
            let t = self.runs[r].by_thread.iter().position(|(of, _)| *of == thread)?;
            phase.runs[r].as_ref().filter(|_| counts)?.measured.each().get(t).copied()
        };
        let in_run = |phase: &Phase, r: usize| of_phase(phase, r).unwrap_or(0.0);
        let loss = |phase: &Phase| (phase.number, (in_run(phase, run) - work * in_run(phase, base)) / all);
        let largest = self.phases.iter().map(loss).max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        let is_compared = |phase: &Phase| phase.is_sure(run) && phase.change(run).is_some();
        let is_sure = |number: u32| self.phases.iter().any(|of| of.number == number && is_compared(of));
        largest.filter(|(number, part)| all > 0.0 && *part > 0.1 && is_sure(*number))
    }

    /// Where and why something stops scaling, if it does.
    pub(super) fn why(&self, scaling: &PhaseScaling) -> Option<String> {
        let at = scaling.stops_at?;
        let change = scaling.changes[at].as_ref()?;
        if self.runs[at].whole.run_threads == self.runs[scaling.base].whole.run_threads {
            // All runs that have it have as many.
            return None;
        }
        let is_whole = std::ptr::eq(scaling, &self.whole);
        let serial = if is_whole { self.serial_parts(at) } else { None };
        let cause = serial.unwrap_or_else(|| losses(change));
        let (place, efficiency) = (self.threads_of(at), percent(change.efficiency));
        Some(format!("at {place}, with an efficiency of {efficiency}: {cause}"))
    }

    /// Whether all computation loses most by load balance, and does not when
    /// the serial phases are left out.
    fn serial_explains(&self, at: usize) -> bool {
        let change = self.whole.changes[at].as_ref();
        let worst = change.and_then(Change::worst).filter(|f| f.kind == FactorKind::LoadBalance);
        let balance = |r: usize| self.runs[r].without_serial.load_balance();
        let kept = balance(at).zip(balance(self.whole.base)).map(|(now, then)| now / then);
        // Half of it, in logarithms.
        worst.zip(kept).is_some_and(|(worst, kept)| kept.ln() > 0.5 * worst.value.ln())
    }

    /// What is serial in a run, where this is why all computation loses most.
    fn serial_parts(&self, at: usize) -> Option<String> {
        if !self.serial_explains(at) {
            return None;
        }
        let share = |phase: &Phase| {
            let figures = phase.runs[at].as_ref()?.figures();
            self.serial_share(at, figures).map(|share| (phase.number, share))
        };
        let sure = self.phases.iter().filter(|phase| !phase.is_unsure());
        let serial: Vec<(u32, f64)> = sure.filter_map(share).collect();
        let of_phases: f64 = serial.iter().map(|(_, share)| share).sum();
        let phases = (!serial.is_empty()).then(|| format!("{} serial", counted_phases(&serial)));
        let beside = self.serial_beside_phases(at);
        let who = match (phases, beside) {
            (Some(phases), Some(_)) => format!("{phases}, and so are bursts of no phase"),
            (Some(phases), None) => phases,
            (None, Some(_)) => "bursts of no phase are serial".to_owned(),
            (None, None) => return None,
        };
        Some(format!("{who}, {} of the wall time", percent(of_phases + beside.unwrap_or(0.0))))
    }

    /// The sentence on a serial phase: how its share of the wall time changes
    /// with the threads, or in which runs it is serial. `None` for a phase that
    /// may be two, one of them serial.
    fn serial(&self, phase: &Phase) -> Option<String> {
        if phase.is_unsure() {
            return None;
        }
        let is_serial = |r: usize| phase.runs[r].as_ref().is_some_and(|run| run.figures().is_serial());
        let runs = 0..self.runs.len();
        let serial: Vec<usize> = runs.clone().filter(|&r| is_serial(r)).collect();
        let several = |&r: &usize| phase.runs[r].is_some() && self.runs[r].whole.run_threads > 1;
        let everywhere = runs.clone().filter(several).count() == serial.len();
        let in_all = phase.runs.iter().all(Option::is_some);
        let as_before = everywhere && in_all && self.same_threads() && phase.scaling.stops_at.is_none();
        if serial.is_empty() || as_before {
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
        let not = self.not_serial(phase);
        Some(format!(
            "Phase {} is serial, one {} computes while no other does; of the wall time it has {}.{not}",
            phase.number,
            self.unit(),
            told.join(", ")
        ))
    }
}

fn counted_phases(serial: &[(u32, f64)]) -> String {
    let numbers: Vec<String> = serial.iter().map(|(number, _)| number.to_string()).collect();
    match &numbers[..] {
        [one] => format!("phase {one} is"),
        more => format!("phases {} are", listed(more)),
    }
}
