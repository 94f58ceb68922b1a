//! Classes that are found anew every few steps.

use super::report::RanksReport;
use super::verdict::Kind;
use likewise::cluster::ClusterId;
use likewise::quality::adjusted_rand;
use likewise::words::{counted, share_text, short};
use std::collections::BTreeMap;

/// Some steps, and the classes in them.
#[derive(Clone, Debug)]
pub struct Window {
    /// The step in which it begins, from 0.
    pub first_step: usize,
    /// How many steps it has.
    pub n_steps: usize,
    /// How many classes there are in it.
    pub n_classes: usize,
    /// Whether there are classes, and if not, what there is.
    pub kind: Kind,
    /// Share of the variance (0 to 1) that the classes explain.
    pub explained: Option<f64>,
    /// How many ranks its plan has traced.
    pub sample_size: u64,
    /// The class of each rank, and whether the plan has it traced.
    pub class_of: Vec<u32>,
    /// Of each rank, whether the plan has it traced.
    pub sampled: Vec<bool>,
    /// How alike its classes are to those of the window before.
    pub change: Option<Change>,
}

/// From the classes of one window to those of the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// The adjusted Rand index: 1 where no rank moved.
    pub adjusted_rand: f64,
    /// How many ranks are not in the class to which most ranks of their old
    /// class went.
    pub moved: u64,
}

/// The windows, from what was found in each.
pub(super) fn windows(found: Vec<(usize, RanksReport)>) -> Vec<Window> {
    let mut all: Vec<Window> = Vec::with_capacity(found.len());
    for (first_step, report) in found {
        let change = all.last().map(|before| Change::of(&before.class_of, &report.class_of));
        let taken = report.verdict.support.filter(|s| s.n_classes == report.classes.len());
        all.push(Window {
            first_step,
            n_steps: report.n_steps,
            n_classes: report.classes.len(),
            kind: report.verdict.kind,
            explained: taken.map(|s| s.explained),
            sample_size: report.plan.sample_size(),
            class_of: report.class_of,
            sampled: report.sampled,
            change,
        });
    }
    all
}

impl Change {
    fn of(before: &[u32], after: &[u32]) -> Self {
        let ids = |labels: &[u32]| -> Vec<Option<ClusterId>> {
            labels.iter().map(|&label| Some(ClusterId::from_index(label as usize))).collect()
        };
        let adjusted_rand = adjusted_rand(&ids(before), &ids(after)).map_or(1.0, |a| a.value);
        let mut common: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        for (&from, &to) in before.iter().zip(after) {
            *common.entry((from, to)).or_insert(0) += 1;
        }
        // The largest common parts first; each class has one counterpart.
        let mut parts: Vec<((u32, u32), u64)> = common.into_iter().collect();
        parts.sort_by_key(|&(classes, n)| (std::cmp::Reverse(n), classes));
        let (mut from_taken, mut to_taken, mut stayed) = (Vec::new(), Vec::new(), 0);
        for ((from, to), n) in parts {
            if !from_taken.contains(&from) && !to_taken.contains(&to) {
                from_taken.push(from);
                to_taken.push(to);
                stayed += n;
            }
        }
        Self { adjusted_rand, moved: before.len() as u64 - stayed }
    }
}

/// What is said of the windows.
pub(super) fn sentence(windows: &[Window], every: usize) -> Option<String> {
    let changes: Vec<(&Window, Change)> = windows.iter().filter_map(|w| Some((w, w.change?))).collect();
    let moves = changes.iter().filter(|(_, change)| change.moved > 0).count();
    let (most, change) = changes.iter().copied().reduce(|a, b| if b.1.moved > a.1.moved { b } else { a })?;
    let n_ranks = most.class_of.len() as u64;
    let first = format!("Clustered again every {}", counted(every as u64, "step"));
    Some(if moves == 0 {
        format!("{first}: in none of {} windows did a rank change its class.", windows.len())
    } else {
        format!(
            "{first}: ranks changed class in {moves} of {} changes of window, most at step {} ({} of {}, {}; adjusted \
             Rand {}).",
            changes.len(),
            most.first_step,
            change.moved,
            counted(n_ranks, "rank"),
            share_text(change.moved as f64 / n_ranks.max(1) as f64),
            short(change.adjusted_rand)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_that_leave_their_class_have_moved() {
        assert_eq!(Change::of(&[0, 0, 1, 1], &[1, 1, 0, 0]), Change { adjusted_rand: 1.0, moved: 0 });
        assert_eq!(Change::of(&[0, 0, 0, 1], &[0, 0, 1, 1]).moved, 1);
        assert_eq!(Change::of(&[0, 0, 0, 0], &[0, 0, 1, 2]).moved, 2);
    }
}
