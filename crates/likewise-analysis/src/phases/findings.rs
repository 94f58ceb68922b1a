//! What to look at first, in words.

mod asleep;
mod length;
mod low_ipc;
mod names;
mod waits;

use self::asleep::{asleep, of_idle};
use self::length::{behind_the_last, computing, looked_at, told_done};
use self::low_ipc::low_ipc;
use self::names::{Names, Who, place};
use self::waits::{SPIN, in_locks, may_spin};
use super::{Analysis, DEFAULT_FILTER, Labelled, Traced, endless};
use likewise::bursts::{
    BurstLabel, Cause, FewCpus, Finding, FindingKind, Findings, FindingsInput, How, LEAST_SHARE, Scope,
    TaskBegins, findings, is_nearly_all, stand_ins,
};
use likewise::cluster::ClusterId;
use likewise::table::{BurstTable, DurationFilter, Moment, Nanos, Prepared};
use likewise::words::{FAR, capital, counted, factor, percent};
use std::ops::Range;

/// Bursts shorter than this are passed over: those that the preparation leaves out, but
/// no more than it does by default. A filter says what is grouped, and not when threads
/// compute.
fn shortest(table: &BurstTable, prepared: &Prepared, filter: DurationFilter) -> Nanos {
    if filter == DEFAULT_FILTER {
        return prepared.min_duration;
    }
    prepared.min_duration.min(DEFAULT_FILTER.shortest(table))
}

/// What is worth most in the part of the run that is looked at ([`Traced::part`]); `None` of several
/// applications, which do not wait for one another.
pub(super) fn found(
    table: &BurstTable,
    (prepared, filter): (&Prepared, DurationFilter),
    (labels, asleep): (&[BurstLabel], &[bool]),
    (traced, run): (&Traced, Range<Nanos>),
) -> Option<Findings> {
    if table.app.first() != table.app.last() {
        return None;
    }
    let table = &*traced.looked_at(table);
    // A table of bursts says no end.
    let last = (0..table.len()).map(|i| table.end(i)).fold(Nanos::ZERO, Nanos::max);
    let shortest = shortest(table, prepared, filter);
    let part = traced.part.clone().unwrap_or(run.start..run.end.max(last));
    let phase: Vec<Option<ClusterId>> = labels.iter().map(|label| label.phase()).collect();
    let is_uncounted = |i: usize| labels[i] == BurstLabel::Missing;
    let phase = stand_ins(table, &phase, is_uncounted, (prepared.min_duration, &part));
    let (grouped_from, most_at_once) = (prepared.min_duration, traced.cpus);
    let mut found =
        findings(&FindingsInput { table, phase: &phase, shortest, grouped_from, asleep, part, most_at_once });
    if is_too_little(traced, &run, &found) {
        found.list.clear();
    }
    Some(found)
}

/// Whether so little of a trace is looked at, and threads do so little there, that nothing can be said
/// of it: what each does once, as behind MPI_Init, is no habit of the program.
fn is_too_little(traced: &Traced, run: &Range<Nanos>, found: &Findings) -> bool {
    traced.is_short(run) && found.are_few
}

/// The sentence of each finding, worst first.
#[must_use]
pub fn sentences(analysis: &Analysis) -> Vec<String> {
    let names = Names::of(&analysis.table);
    let list = analysis.findings.iter().flat_map(|found| &found.list);
    list.map(|finding| sentence(finding, &names)).collect()
}

/// No thread computes for so much of the run that this is worth a line.
const MUCH_IDLE: f64 = 0.2;

/// Busiest threads that compute less than this longer than the mean are not worth a word.
const LITTLE: f64 = 2.0 * LEAST_SHARE;

/// From so much of the computing in a time on, it is said that it cannot be compared: less is hardly
/// worth a word beside what is in all phases.
const LEAST_UNTOLD: f64 = 0.1;

/// What is said of a little part of a trace in which threads do little.
const TOO_LITTLE: &str = "The mean thread has fewer than four bursts there that are long enough to count: too little \
                          to say what to look at first.";

/// Why it is not said what to look at first.
fn not_said(analysis: &Analysis) -> &'static str {
    if analysis.drawn_times {
        return "What to look at first is not said: the recording has histograms, and not when what happened. Record \
                with --times all.";
    }
    if analysis.has_odd_times() {
        return "What to look at first cannot be told: states end before they begin, so their times are wrong, and when \
                each thread computes is not known. (Bursts of events do not depend on states: --burst-events TYPE; \
                `likewise info --events` lists the types.)";
    }
    if analysis.is_of_streams() {
        return "What to look at first is not said: bursts are on streams of accelerators, which do not wait for one \
                another as threads do.";
    }
    if analysis.endless {
        return endless::NOT_SAID;
    }
    "What to look at first is not said of several applications, which do not wait for one another: read one of them, \
     with --app N."
}

/// What is said beside the findings, or where there are none.
pub fn verdict(analysis: &Analysis) -> String {
    let Some(found) = &analysis.findings else { return not_said(analysis).to_owned() };
    if let Some(few) = found.few_cpus {
        return on_few_cpus(analysis, few);
    }
    let run = analysis.begin..analysis.end;
    let verdict = match found.list.is_empty() {
        _ if analysis.table.is_empty() => String::new(),
        _ if is_too_little(&analysis.traced, &run, found) => TOO_LITTLE.to_owned(),
        true => match &analysis.traced.without_bursts {
            Some(without) if analysis.alone.is_none() => {
                format!("{without} Of the others: {}", small(&nothing_found(analysis, found)))
            }
            _ => nothing_found(analysis, found),
        },
        false => idle(analysis, found),
    };
    let shared = "Ranks shared CPUs (see the notes): who waited for one counts as computing, so what would be won is \
                  not sure.";
    let shared = Some(shared).filter(|_| analysis.shared_cpus && !found.list.is_empty());
    let locks = in_locks(analysis.traced.runtime, analysis.rows.len(), &looked_at(analysis));
    let part = analysis.traced.told_part(&run);
    let part = part.as_deref();
    let (little, part) = if analysis.traced.is_short(&run) { (part, None) } else { (None, part) };
    let done = told_done(analysis);
    let streams = beside_streams(analysis, found);
    let apart = begin_apart(analysis, found);
    let verdict = Some(verdict).filter(|text| !text.is_empty());
    let names = Names::of(&analysis.table);
    let slept: Vec<String> = found.asleep.iter().map(|finding| asleep(finding, &names)).collect();
    let slept = Some(slept.join(" ")).filter(|text| !text.is_empty());
    let (slept, locks) = (slept.as_deref(), locks.as_deref());
    [little, apart.as_deref(), verdict.as_deref(), slept, locks, shared, streams, part, done.as_deref()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ")
}

/// What is said where threads may wait for a CPU.
fn on_few_cpus(analysis: &Analysis, FewCpus { cpus, at_once }: FewCpus) -> String {
    let why = if at_once == cpus {
        "never more than these compute at once. Who does not compute may wait for a CPU, and not for the others."
            .to_owned()
    } else {
        format!(
            "at most {at_once} compute at once: none of them waits for a CPU, but threads that are more than CPUs are \
             not those that share the work."
        )
    };
    format!(
        "What even work would win cannot be told: the trace names {} for {}, and {why}",
        counted(cpus.into(), "CPU"),
        counted(analysis.rows.len() as u64, "thread"),
    )
}

/// What is said where there is no finding.
fn nothing_found(analysis: &Analysis, found: &Findings) -> String {
    let (least, balance, none) = (percent(LEAST_SHARE), percent(found.balance), percent(found.idle));
    let computing = percent(computing(analysis));
    let unknown = if found.knows_slower {
        ""
    } else {
        " Whether all threads become slower with time cannot be told: it takes the instructions of most bursts, and a phase \
         that most threads do six times."
    };
    // Threads that take even turns have no uneven step.
    if analysis.figures.serial_note().is_some_and(|note| analysis.notes.contains(&note)) {
        return format!(
            "Look at the serial phases first, which the notes name: there one thread computes at a time. Nothing else \
             that is looked for is worth {least} of the run. (Threads compute for {computing} of the run.){unknown}"
        );
    }
    // A phase may be worth more by what no finding looks for, such as one that does the same faster.
    let slower = if found.knows_slower { " a time in which most threads are slower," } else { "" };
    let sought = format!(
        "nothing that is looked for (imbalance of a step, serial time, slow threads,{slower} single long bursts, an \
         IPC of at most half of the others')"
    );
    let compute = computes(analysis);
    let of_events = !analysis.settings.burst_events.is_empty();
    // Threads may do anything in the time of which events tell nothing, so much of it is said first.
    let much = Some(idle(analysis, found)).filter(|text| of_events && !text.is_empty());
    let until = match (of_events, &much) {
        (false, _) => format!("; until the last burst ends, none does in {none} of it"),
        (true, None) => format!("; none is in {} of it", percent(found.idle + behind_the_last(analysis))),
        (true, Some(_)) => String::new(),
    };
    let text = if let Some(of) = analysis.alone {
        alone(of, found)
    } else if found.balance < LITTLE {
        let nothing = if much.is_some() { "In them, nothing stands out" } else { "Nothing stands out" };
        format!(
            "{nothing}: {sought} is worth {least} of the run. (Between moments at which no \
             thread computes, the busiest one computes for {balance} of the run more than the mean; threads {compute} \
             for {computing} of the run{until}.){unknown}"
        )
    } else {
        let chance = if found.knows_chance {
            "more than chance makes, as the same bursts differ from time to time"
        } else {
            "more than chance may make (how far the same bursts differ is not known: no phase is done often)"
        };
        format!(
            "Between moments at which no thread computes, the busiest one computes for {balance} of the run more than \
             the mean, but which step makes it cannot be told: {sought} is worth {least} of the run and {chance}. \
             (Threads {compute} for {computing} of the run{until}.){unknown}"
        )
    };
    much.into_iter().chain([text]).collect::<Vec<_>>().join(" ")
}

/// What is said where there is no finding, and a single thread of several has bursts.
fn alone((what, all): (&str, u64), found: &Findings) -> String {
    let slower = if found.knows_slower { "a time in which it is slower, " } else { "" };
    format!(
        "Only 1 of {} has bursts, so whether work is even cannot be told. Of what is looked for in one thread ({slower}\
         single long bursts, an IPC of at most half of the others'), nothing is worth {} of the run.",
        counted(all, what),
        percent(LEAST_SHARE)
    )
}

/// What threads do in bursts: events may mark anything.
fn computes(analysis: &Analysis) -> &'static str {
    if analysis.settings.burst_events.is_empty() { "compute" } else { "are in a burst of the chosen events" }
}

/// What is said beside findings where no thread computes for long.
fn idle(analysis: &Analysis, found: &Findings) -> String {
    let of_events = !analysis.settings.burst_events.is_empty();
    let share = found.idle + if of_events { behind_the_last(analysis) } else { 0.0 };
    if share < MUCH_IDLE {
        String::new()
    } else if of_events {
        format!(
            "No thread is in a burst of the chosen events in {} of the run; what it does there they do not tell.",
            percent(share)
        )
    } else {
        let (idle, done) = (percent(share), told_done(analysis).map_or("", |_| " are done,"));
        let asleep = of_idle(found);
        format!(
            "No thread computes in {idle} of the run: all wait, communicate,{done} or are not traced there.{asleep}"
        )
    }
}

/// That tasks begin one after the other, where it is worth a word. Before its first burst a task may
/// not exist yet, so no finding is of the time that others wait for it.
fn begin_apart(analysis: &Analysis, found: &Findings) -> Option<String> {
    let TaskBegins { first, last, task } = found.begun.filter(|_| analysis.traced.part.is_none())?;
    let share = last.saturating_sub(first).0 as f64 / analysis.length().0 as f64;
    (share >= LITTLE).then(|| {
        format!(
            "Tasks do not begin at once: the first burst of task {task} is at {}, {} of the run after that of the \
             first to begin. Until then others may wait for it, or it for others.",
            Moment(last),
            percent(share)
        )
    })
}

/// What streams of accelerators, which are left out, mean for what is said of threads.
fn beside_streams(analysis: &Analysis, found: &Findings) -> Option<&'static str> {
    analysis.streams.as_ref()?;
    Some(if found.list.is_empty() {
        "This is said of what threads compute, and not of kernels on accelerators (see the notes)."
    } else {
        "Threads may wait for kernels on accelerators and not for each other (see the notes), so what would be won is \
         not sure."
    })
}

fn sentence(finding: &Finding, names: &Names) -> String {
    let steps = place(finding);
    let Who { text: threads, plural } = names.who(&finding.threads);
    let win = percent(finding.share);
    let ending = if plural { "" } else { "s" };
    match finding.kind {
        FindingKind::Imbalance { .. } => imbalance(finding, names),
        FindingKind::Serial { .. } => serial(finding, names),
        FindingKind::SlowThreads { times, everywhere, how } => {
            let steps = if everywhere { "all phases".to_owned() } else { small(&steps) };
            let others = match finding.scope {
                Scope::Run => "the others",
                Scope::Task => others_of_task(finding, plural),
            };
            let when = when(finding);
            format!(
                "{} take{ending} {times:.2} times as long as {others} in {steps}{when}, for the same instructions{}. As fast \
                 as the others, {win} of the run would be won.",
                capital(&threads),
                by_what(how, plural),
            )
        }
        FindingKind::Slower { .. } => slower(finding, names),
        FindingKind::OneOff { .. } => one_off(finding, names),
        FindingKind::LowIpc { .. } => low_ipc(finding),
        FindingKind::Asleep { .. } => asleep(finding, names),
    }
}

/// What all threads, or most of them, take longer over in a time.
fn slower(finding: &Finding, names: &Names) -> String {
    let FindingKind::Slower { times, everywhere, by_degrees, compared, how } = finding.kind else {
        return String::new();
    };
    let steps = if everywhere { "all phases".to_owned() } else { small(&place(finding)) };
    let is_all = names.all.len() == finding.threads.len();
    let who = capital(&if is_all { names.everyone() } else { names.who(&finding.threads).text });
    let (win, how) = (percent(finding.share), by_what(how, true));
    if by_degrees {
        let since = finding.from.map_or_else(String::new, |from| format!(" from {} on", Moment(from)));
        return format!(
            "{who} become slower little by little, or in steps, in {steps}{since}: at the end they take {times:.2} times \
             as long as before, for the same instructions{how}. As fast as before, {win} of the run would be won."
        );
    }
    let as_when = match (finding.from, finding.until) {
        (Some(_), None) => "before",
        (None, Some(_)) => "after",
        _ => "in the rest of the run",
    };
    // What is done only then, or in no phase.
    let rest = match 1.0 - compared {
        much if much >= LEAST_UNTOLD => {
            format!(" (It is not known of {} of the computing in that time.)", percent(much))
        }
        _ => String::new(),
    };
    format!(
        "{who} take {times:.2} times as long in {steps}{} as {as_when}, for the same instructions{how}. As fast as \
         {as_when}, {win} of the run would be won.{rest}",
        when(finding),
    )
}

/// Behind "for the same instructions": what the cycles tell.
fn by_what(how: How, plural: bool) -> &'static str {
    match how {
        How::Clock => ", with fewer cycles per second",
        How::OffCore if plural => {
            " and cycles: they were not on a core all the time, or at far below the clock"
        }
        How::OffCore => " and cycles: it was not on a core all the time, or at far below the clock",
        How::Ipc => ", at a lower IPC",
        How::Unknown => "",
    }
}

/// Whether others have begun while a thread computes alone. Before its first burst a thread may
/// not exist yet: it is not known to wait.
enum Begun {
    /// In all of the time they have not.
    Before,
    /// In some of it.
    Partly,
    /// For nearly all of the time they have.
    Later,
}

fn not_begun(finding: &Finding, time: Nanos) -> Begun {
    let (before, time) = (finding.before.0 as f64, time.0 as f64);
    match () {
        () if before >= time => Begun::Before,
        () if is_nearly_all(time - before, time) => Begun::Later,
        () => Begun::Partly,
    }
}

/// Whether some other thread has no burst any more in a part of the time: it may have ended, and is not
/// known to wait.
fn may_be_over(finding: &Finding, time: Nanos) -> bool {
    !is_nearly_all(time.saturating_sub(finding.behind).0 as f64, time.0 as f64)
}

/// The others of the tasks of who is named.
fn others_of_task(finding: &Finding, plural: bool) -> &'static str {
    let is_one_task = finding.threads.windows(2).all(|two| two[0].task == two[1].task);
    match (plural, is_one_task) {
        (false, _) => "the others of its task",
        (true, true) => "the others of their task",
        (true, false) => "the others of their tasks",
    }
}

fn serial(finding: &Finding, names: &Names) -> String {
    let FindingKind::Serial { time, alone } = finding.kind else { return String::new() };
    let Who { text: threads, plural } = names.who(&finding.threads);
    let (who, ending) = match finding.threads.is_empty() {
        true => ("one thread".to_owned(), "s"),
        false => (threads, if plural { "" } else { "s" }),
    };
    // Threads of one task are named together if they take turns.
    let is_of_task = finding.threads.windows(2).any(|two| two[0].task == two[1].task);
    let (others, all, turn) = match finding.scope {
        Scope::Run if plural => ("all others", "all", ", one at a time"),
        Scope::Run => ("all others", "all", ""),
        Scope::Task if is_of_task => {
            (others_of_task(finding, plural), "them", ", one thread of a task at a time")
        }
        Scope::Task => (others_of_task(finding, plural), "them", ""),
    };
    let is_alone = is_nearly_all(alone.0 as f64, time.0 as f64);
    let before = finding.before;
    let other = if plural { "but these" } else { "other" };
    let may_be_over = may_be_over(finding, time);
    let wait = match (is_alone, not_begun(finding, time)) {
        // There are no others than those that take turns.
        (true, _) if !turn.is_empty() && names.are_all(&finding.threads, finding.scope) => turn.to_owned(),
        (true, Begun::Before) => format!("{turn} before the first burst of any {other}"),
        (true, Begun::Partly) => {
            format!("{turn} while no other does, for {before} of that before the first burst of any {other}")
        }
        (true, Begun::Later) if may_be_over => format!("{turn} while no other does"),
        (false, Begun::Later) if may_be_over => format!("{turn}, and for {alone} of that no other does"),
        (true, Begun::Later) => format!(" while {others} wait{turn}"),
        (false, Begun::Later) => format!("{turn}, and for {alone} of that {others} wait"),
        (false, _) => format!(
            "{turn}, and for {alone} of that no other does, {before} of these before the first burst of any {other}"
        ),
    };
    let how = if finding.at_other_times {
        "Done at the same time, and evenly".to_owned()
    } else {
        format!("Spread over {all}")
    };
    format!(
        "{}: serial. {} compute{ending} for {time}{wait}. {how}, {} of the run would be won.",
        place(finding),
        capital(&who),
        percent(finding.share)
    )
}

/// ` from 210 ms on`, ` until 300 ms`; nothing where it is so in all of the run.
fn when(finding: &Finding) -> String {
    match (finding.from.map(Moment), finding.until.map(Moment)) {
        (Some(from), Some(until)) => format!(" from {from} to {until}"),
        (Some(from), None) => format!(" from {from} on"),
        (None, Some(until)) => format!(" until {until}"),
        (None, None) => String::new(),
    }
}

fn one_off(finding: &Finding, names: &Names) -> String {
    let (steps, win, begin) = (place(finding), percent(finding.share), Moment(finding.begin));
    let Who { text: threads, plural } = names.who(&finding.threads);
    let ending = if plural { "" } else { "s" };
    let beside = match finding.kind {
        FindingKind::OneOff { itself: true, .. } => "it usually takes",
        _ => "the others take",
    };
    match finding.kind {
        FindingKind::OneOff { bursts: 1, duration, others: Some(others), .. } => format!(
            "{} take{ending} {duration} once, at {begin}, where {beside} {others} ({}): {win} of the run.",
            capital(&threads),
            small(&steps),
        ),
        FindingKind::OneOff { bursts, same: true, duration, others: Some(others), .. } => format!(
            "{} take{ending} long {bursts} times, longest {duration} at {begin}, where {beside} {others} ({}): {win} \
             of the run in all.",
            capital(&threads),
            small(&steps),
        ),
        FindingKind::OneOff { bursts, duration, others: Some(others), .. } => format!(
            "{steps}: {bursts} times one takes long, longest {threads} with {duration} at {begin}, where the others take \
             {others}: {win} of the run in all."
        ),
        FindingKind::OneOff { bursts: 1, duration, others: None, alone, .. } => format!(
            "A burst of {duration} at {begin} on {threads} once, in no phase{}",
            while_others(
                alone,
                match not_begun(finding, duration) {
                    Begun::Later if may_be_over(finding, duration) => Begun::Partly,
                    begun => begun,
                },
                &win,
                ""
            ),
        ),
        FindingKind::OneOff { bursts, duration, others: None, alone, .. } => format!(
            "{bursts} long bursts of no phase, the longest {duration} at {begin} on {threads}{}",
            // How long all of them take is not told: of one that is before all others, nothing is.
            while_others(
                alone,
                if finding.before.max(finding.behind) == Nanos::ZERO { Begun::Later } else { Begun::Partly },
                &win,
                " in all"
            ),
        ),
        _ => String::new(),
    }
}

/// What others do meanwhile, and what would be won.
fn while_others(alone: bool, begun: Begun, win: &str, in_all: &str) -> String {
    let meanwhile = match begun {
        _ if !alone => return format!(": {win} of the run{in_all}."),
        Begun::Before => "before the first burst of any other",
        Begun::Partly => "while no other computes",
        Begun::Later => "while all others wait",
    };
    format!(", {meanwhile}. Spread over all, {win} of the run would be won.")
}

/// A thread that computes for less than this share of what the others do hardly
/// takes part, as if the others computed alone: its bursts may belong to
/// another phase.
const HARDLY: f64 = 0.1;

fn imbalance(finding: &Finding, names: &Names) -> String {
    let FindingKind::Imbalance { apart, cause, steady, times, only } = finding.kind else {
        return String::new();
    };
    let Who { text: threads, plural } = names.who(&finding.threads);
    let why = match cause {
        Cause::Work => " with more instructions",
        Cause::Speed => " for the same instructions",
        Cause::Both | Cause::Unknown => "",
    };
    let last = match &finding.gradient {
        _ if finding.at_other_times => {
            "another is last each time, as not all do it at the same time".to_owned()
        }
        _ if !steady => "another is last each time".to_owned(),
        Some(gradient) if !finding.threads.is_empty() => format!(
            "a gradient from {} on {} to {} on {threads}{why}",
            gradient.least_time,
            names.who(&gradient.least).text,
            gradient.most_time,
        ),
        _ if only && !names.is_hybrid => format!(
            "{threads} do{} it ({} of {}), the others hardly any of it",
            if plural { "" } else { "es" },
            finding.threads.len(),
            names.all.len()
        ),
        _ if times.is_some_and(|times| times < HARDLY) => {
            format!("{threads} hardly take{} part", if plural { "" } else { "s" })
        }
        _ if times.is_some() => format!(
            "{threads} take{} {:.2} times as long as the others{}",
            if plural { "" } else { "s" },
            times.unwrap_or_default(),
            why.replace("more", "fewer")
        ),
        _ if finding.threads.is_empty() => format!("not the same one in all tasks{why}"),
        _ => format!("{threads} take{} longest{why}", if plural { "" } else { "s" }),
    };
    let several = finding.phases.len() + usize::from(finding.noise) > 1;
    let at = match finding.stretches {
        // If some thread computes at every moment, the whole run is one
        // stretch.
        1 if finding.is_once && several => format!(" are one step at {},", Moment(finding.begin)),
        1 if finding.is_once => format!(" at {}:", Moment(finding.begin)),
        _ => format!("{}:", when(finding)),
    };
    let (slowest, mean) = match finding.scope {
        Scope::Task => ("the slowest thread of a task", "the mean of its task"),
        Scope::Run if names.is_hybrid => ("the slowest task", "the mean"),
        Scope::Run => ("the slowest", "the mean"),
    };
    let apart = match apart {
        far if far >= FAR => format!("takes {} times as long as", factor(1.0 + far)),
        near => format!("is {} above", percent(near)),
    };
    let how = if finding.at_other_times { "Done at the same time, and evenly" } else { "Even" };
    format!(
        "{}{at} {slowest} {apart} {mean}, {last}. {how}, {} of the run would be won{}.",
        place(finding),
        percent(finding.share),
        if may_spin(finding, names) { SPIN } else { "" }
    )
}

fn small(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests;
