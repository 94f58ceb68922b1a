//! Bursts that take far longer than their thread does otherwise.

use super::matched::RunBursts;
use super::steps::{cycles, instructions};
use super::strays::Strays;
use crate::bursts::findings::LEAST_SHARE;
use crate::bursts::on_core::cpu_time;
use crate::median;
use crate::table::{BurstTable, Nanos};

/// With fewer bursts in a phase than this, a thread has no usual time of a burst.
const LEAST_BURSTS: usize = 5;
/// A burst is odd from this many times the median distance on: that of the
/// phase's bursts from the usual time of their threads.
const FAR: f64 = 10.0;
/// At most one in this many bursts of a phase is odd; more are the way the phase
/// is.
const FEW: usize = 10;

/// A burst that took much longer than its thread's others in that phase.
#[derive(Clone, Debug, PartialEq)]
pub struct OneOff {
    /// The phase.
    pub phase: u32,
    /// Application, task and thread.
    pub thread: (u32, u32, u32),
    /// When it began.
    pub begin: Nanos,
    /// How long it took.
    pub duration: Nanos,
    /// What the thread takes otherwise: the median.
    pub usual: Nanos,
}

/// A run without what happened once.
#[derive(Clone, Debug, Default)]
pub struct Calm {
    /// By phase, thread and begin.
    pub one_offs: Vec<OneOff>,
    /// The run's bursts, as if these had been as a usual one of their thread;
    /// `None` where there are none.
    pub table: Option<BurstTable>,
}

/// Finds single bursts that took far longer than the others of their thread in
/// the same phase, and makes the run as if they had been usual ones. What is
/// compared is what the program does as a rule, and a thread that stood still
/// once would spoil every mean.
///
/// A burst is such a one-off if it is at least twice as long as the median of its
/// thread, longer by half a percent of the run (`end`), and longer by ten times
/// the usual distance of the phase's bursts from their threads' medians (itself a
/// median). At most a tenth of a phase's bursts are one-offs, and a thread with
/// fewer than five bursts in a phase has none. A burst whose cluster belongs to
/// another phase is none either: it may be here by mistake. `phase_of` is as in
/// [`RunMatch::phase_of`](super::RunMatch::phase_of).
///
/// # Complexity
/// O(n log n) for n bursts.
#[must_use]
pub fn calm(run: &RunBursts<'_>, phase_of: &[Option<u32>], end: Nanos) -> Calm {
    let n_phases = phase_of.iter().flatten().max().map_or(0, |&p| p as usize + 1);
    let mut members: Vec<Vec<u32>> = vec![Vec::new(); n_phases];
    let Strays { is_stray, .. } = Strays::of(run, phase_of, n_phases);
    for ((i, phase), _) in run.complete.iter().zip(phase_of).zip(&is_stray).filter(|(_, stray)| !**stray) {
        phase.iter().for_each(|&p| members[p as usize].push(i));
    }
    let odd: Vec<(u32, Odd)> = members
        .iter()
        .enumerate()
        .flat_map(|(p, bursts)| {
            odd(run.table, bursts, LEAST_SHARE * end.0 as f64).into_iter().map(move |o| (p as u32, o))
        })
        .collect();
    let table = run.table;
    let one_off = |(phase, odd): &(u32, Odd)| {
        let i = odd.burst;
        OneOff {
            phase: *phase,
            thread: table.thread_of(i),
            begin: table.begin[i],
            duration: table.duration[i],
            usual: table.duration[odd.usual],
        }
    };
    let one_offs: Vec<OneOff> = odd.iter().map(one_off).collect();
    Calm { table: (!odd.is_empty()).then(|| replaced(run, &odd)), one_offs }
}

/// A burst, and one that is as usual.
struct Odd {
    burst: usize,
    usual: usize,
}

/// The odd bursts of one phase, in burst order.
fn odd(table: &BurstTable, bursts: &[u32], least: f64) -> Vec<Odd> {
    let thread = |&i: &u32| table.thread_of(i as usize);
    let duration = |i: usize| table.duration[i].0 as f64;
    let (mut all, mut off) = (Vec::with_capacity(bursts.len()), Vec::with_capacity(bursts.len()));
    for own in bursts.chunk_by(|a, b| thread(a) == thread(b)).filter(|own| own.len() >= LEAST_BURSTS) {
        let mut by_time = own.to_vec();
        by_time.sort_unstable_by_key(|&i| (table.duration[i as usize], i));
        let usual = median::lower(&by_time).expect("as many as are asked for") as usize;
        all.extend(own.iter().map(|&i| Odd { burst: i as usize, usual }));
        off.extend(own.iter().map(|&i| (duration(i as usize) - duration(usual)).abs()));
    }
    off.sort_unstable_by(f64::total_cmp);
    let Some(typical) = median::upper(&off) else { return Vec::new() };
    let limit = least.max(FAR * typical);
    let n = all.len();
    let is_odd = |odd: &Odd| {
        let longer = duration(odd.burst) - duration(odd.usual);
        longer >= limit && longer >= duration(odd.usual)
    };
    all.retain(is_odd);
    if all.len() <= n.div_ceil(FEW) { all } else { Vec::new() }
}

/// The table, where odd bursts have the time, CPU time, instructions and cycles of usual
/// ones.
fn replaced(run: &RunBursts<'_>, odd: &[(u32, Odd)]) -> BurstTable {
    let mut table = run.table.clone();
    let columns = [instructions(run), cycles(run), cpu_time(run.table)];
    let places: Vec<usize> = (0..table.counters.len())
        .filter(|&c| columns.into_iter().flatten().any(|column| std::ptr::eq(column, &run.table.counters[c])))
        .collect();
    for (_, Odd { burst, usual }) in odd {
        table.duration[*burst] = run.table.duration[*usual];
        for &c in &places {
            table.counters[c].values.set(*burst, run.table.counters[c].values.get(*usual));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster::{ClusterId, Clustering};
    use crate::table::Rows;

    /// Bursts of one phase: of each thread, the durations in order.
    fn one_offs(threads: &[&[u64]], end: u64) -> Vec<(u32, u64, u64)> {
        let mut table = BurstTable::default();
        for (t, durations) in threads.iter().enumerate() {
            for (k, &duration) in durations.iter().enumerate() {
                table.app.push(1);
                table.task.push(t as u32 + 1);
                table.thread.push(1);
                table.begin.push(Nanos(1_000 * k as u64));
                table.duration.push(Nanos(duration));
            }
        }
        let n = table.len();
        let complete = Rows::first(n);
        let clustering = Clustering { labels: vec![Some(ClusterId::from_index(0)); n], n_clusters: 1 };
        let run = RunBursts { table: &table, complete: &complete, clustering: &clustering };
        let calm = calm(&run, &vec![Some(0); n], Nanos(end));
        assert_eq!(calm.table.is_some(), !calm.one_offs.is_empty());
        if let Some(calm) = calm.table {
            assert!(calm.duration.iter().all(|d| d.0 < 130), "{:?}", calm.duration);
        }
        calm.one_offs.iter().map(|o| (o.thread.1, o.duration.0, o.usual.0)).collect()
    }

    #[test]
    fn a_burst_that_takes_long_once_is_found_and_what_is_always_so_is_not() {
        let steady: &[u64] = &[100, 102, 98, 101, 99, 100];
        let once: &[u64] = &[100, 102, 98, 900, 99, 100];
        let slow: &[u64] = &[250, 252, 248, 251, 249, 250];
        assert_eq!(one_offs(&[steady, once], 10_000), [(2, 900, 100)]);
        assert_eq!(one_offs(&[steady, steady, slow], 10_000), [], "a slow thread is so each time");
        assert_eq!(one_offs(&[steady, once], 1_000_000), [], "it costs less than half a percent");
        assert_eq!(one_offs(&[&[100, 900], &[100, 100]], 10_000), [], "of two, none is usual");
        let modes: &[u64] = &[100, 900, 100, 900, 100, 100];
        assert_eq!(one_offs(&[modes, modes], 10_000), [], "a third of the bursts");
    }
}
