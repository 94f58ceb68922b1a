//! Who waits for what, and in which order to find out how long.

use super::clock::{Clock, Gap, Place, place};
use super::{Collective, Pattern, Run};

/// Something that others wait for: what a thread does at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Source {
    thread: usize,
    time: u64,
    place: Place,
}

/// What a gap waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Awaited {
    One(Source),
    /// The last of several.
    Last(usize),
}

/// The run as gaps that wait.
pub(super) struct Plan {
    clocks: Vec<Clock>,
    /// Of each thread the number of its first gap.
    first: Vec<usize>,
    /// Of each gap.
    awaited: Vec<Vec<Awaited>>,
    lasts: Vec<Vec<Source>>,
    pub(super) n_inside: u64,
    pub(super) n_skewed: u64,
}

impl Plan {
    pub(super) fn of(run: &Run) -> Self {
        let clock = |bursts: &Vec<_>| {
            let gaps = Vec::with_capacity(bursts.len() + 1);
            let mut clock = Clock { bursts: bursts.clone(), gaps, end: None };
            let mut begin = 0;
            for burst in bursts {
                clock.gaps.push(Gap { begin, end: burst.begin, ..Gap::default() });
                begin = burst.end;
            }
            clock.gaps.push(Gap { begin, end: run.end, ..Gap::default() });
            clock.gaps.iter_mut().for_each(|gap| (gap.own, gap.last) = (gap.begin, gap.begin));
            clock
        };
        let clocks: Vec<Clock> = run.threads.iter().map(clock).collect();
        let mut n_gaps = 0;
        let first = clocks.iter().map(|clock| {
            n_gaps += clock.gaps.len();
            n_gaps - clock.gaps.len()
        });
        let first = first.collect();
        let mut plan = Self {
            clocks,
            first,
            awaited: vec![Vec::new(); n_gaps],
            lasts: Vec::new(),
            n_inside: 0,
            n_skewed: 0,
        };
        for message in &run.messages {
            let source = plan.source(message.from, message.sent);
            plan.wait(message.to, message.received, source.time, Awaited::One(source));
        }
        for collective in &run.collectives {
            plan.collective(collective);
        }
        for message in &run.messages {
            plan.acts(message.from, message.sent);
        }
        for member in run.collectives.iter().flat_map(|collective| &collective.members) {
            plan.acts(member.thread, member.enter);
        }
        plan
    }

    fn source(&self, thread: usize, time: u64) -> Source {
        Source { thread, time, place: place(&self.clocks[thread].bursts, time) }
    }

    /// Lets `thread` wait, until it has something at `until`, for what happened
    /// at `time`.
    fn wait(&mut self, thread: usize, until: u64, time: u64, awaited: Awaited) {
        let clock = &mut self.clocks[thread];
        let gap = match place(&clock.bursts, until) {
            Place::Gap(gap) => gap,
            Place::Burst(burst) => {
                self.n_inside += 1;
                burst
            }
        };
        if time > until || time > clock.gaps[gap].end {
            self.n_skewed += u64::from(time > until);
            return;
        }
        clock.gaps[gap].last = clock.gaps[gap].last.max(time);
        self.awaited[self.first[thread] + gap].push(awaited);
    }

    fn collective(&mut self, collective: &Collective) {
        let Collective { members, pattern } = collective;
        match *pattern {
            Pattern::FromRoot(root) => {
                let source = self.source(members[root].thread, members[root].enter);
                for (_, member) in members.iter().enumerate().filter(|(at, _)| *at != root) {
                    self.wait(member.thread, member.exit, source.time, Awaited::One(source));
                }
            }
            Pattern::All | Pattern::ToRoot(_) => {
                let sources = members.iter().map(|member| self.source(member.thread, member.enter)).collect();
                let last = members.iter().map(|member| member.enter).max().unwrap_or(0);
                self.lasts.push(sources);
                let awaited = Awaited::Last(self.lasts.len() - 1);
                let waits = |at: usize| *pattern == Pattern::All || *pattern == Pattern::ToRoot(at);
                for (_, member) in members.iter().enumerate().filter(|(at, _)| waits(*at)) {
                    self.wait(member.thread, member.exit, last, awaited);
                }
            }
        }
    }

    /// Notes what a thread does by itself in a gap.
    fn acts(&mut self, thread: usize, time: u64) {
        let clock = &mut self.clocks[thread];
        if let Place::Gap(gap) = place(&clock.bursts, time) {
            let gap = &mut clock.gaps[gap];
            gap.own = gap.own.max(time);
            gap.last = gap.last.max(time);
        }
    }

    /// The gap that must be known before a source is; none at the begin.
    fn before(&self, source: Source) -> Option<usize> {
        let first = self.first[source.thread];
        match source.place {
            Place::Burst(burst) => Some(first + burst),
            Place::Gap(gap) => gap.checked_sub(1).map(|gap| first + gap),
        }
    }

    /// Finds all gaps, each after those that it waits for, and how many had to
    /// do without.
    pub(super) fn solve(&self, run: &Run) -> (Vec<Clock>, u64) {
        let mut clocks = self.clocks.clone();
        let n_gaps = self.awaited.len();
        let n = n_gaps + self.lasts.len();
        let thread_of: Vec<usize> =
            clocks.iter().enumerate().flat_map(|(thread, clock)| vec![thread; clock.gaps.len()]).collect();
        // Who waits for a node, and for how many each waits; gaps, then lasts.
        let mut waiting: Vec<Vec<usize>> = vec![Vec::new(); n];
        let mut open = vec![0usize; n];
        let mut edge = |from: Option<usize>, to: usize| {
            if let Some(from) = from.filter(|&from| from != to) {
                waiting[from].push(to);
                open[to] += 1;
            }
        };
        for (gap, &thread) in thread_of.iter().enumerate() {
            let own = gap - self.first[thread];
            edge(own.checked_sub(1).map(|_| gap - 1), gap);
            for awaited in &self.awaited[gap] {
                match *awaited {
                    Awaited::One(source) => edge(self.before(source), gap),
                    Awaited::Last(last) => edge(Some(n_gaps + last), gap),
                }
            }
        }
        for (last, sources) in self.lasts.iter().enumerate() {
            sources.iter().for_each(|&source| edge(self.before(source), n_gaps + last));
        }
        let mut done = vec![false; n];
        let mut lasts = vec![0; self.lasts.len()];
        let mut ready: Vec<usize> = (0..n).filter(|&node| open[node] == 0).collect();
        let (mut n_unresolved, mut oldest) = (0, 0);
        loop {
            let Some(node) = ready.pop() else {
                while oldest < n && done[oldest] {
                    oldest += 1;
                }
                // All that is left waits for one another: the first that only
                // others keep, and not its own thread, goes without them.
                let is_free = |&node: &usize| {
                    !done[node] && (node >= n_gaps || node == self.first[thread_of[node]] || done[node - 1])
                };
                let Some(node) = (oldest..n).find(is_free) else { break };
                n_unresolved += 1;
                ready.push(node);
                continue;
            };
            if std::mem::replace(&mut done[node], true) {
                continue;
            }
            if node < n_gaps {
                self.find(node, thread_of[node], &lasts, &done, run, &mut clocks);
            } else {
                let sources = self.lasts[node - n_gaps].iter();
                let known = sources.filter(|&&source| self.before(source).is_none_or(|before| done[before]));
                let times = known.map(|source| clocks[source.thread].at(source.place, source.time));
                lasts[node - n_gaps] = times.max().unwrap_or(0);
            }
            for &next in &waiting[node] {
                open[next] -= 1;
                if open[next] == 0 {
                    ready.push(next);
                }
            }
        }
        (clocks, n_unresolved)
    }

    /// One gap, from those that are known; and the begin of the next.
    fn find(
        &self,
        node: usize,
        thread: usize,
        lasts: &[u64],
        done: &[bool],
        run: &Run,
        clocks: &mut [Clock],
    ) {
        let gap = node - self.first[thread];
        let latest = self.awaited[node].iter().filter_map(|awaited| match *awaited {
            Awaited::Last(last) => Some(lasts[last]),
            Awaited::One(source) => {
                let is_known = self.before(source).is_none_or(|before| done[before]);
                is_known.then(|| clocks[source.thread].at(source.place, source.time))
            }
        });
        let latest = latest.max().unwrap_or(0);
        let found = &mut clocks[thread].gaps[gap];
        found.new_last = latest.max(found.new_begin + (found.own - found.begin));
        let end = found.new_end();
        if let Some(burst) = run.threads[thread].get(gap) {
            clocks[thread].gaps[gap + 1].new_begin = end + burst.now;
        }
    }
}
