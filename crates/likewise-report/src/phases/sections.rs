//! The alignment and the tree as columns of integers and JSON.
//!
//! The sequences are three columns: symbols per row, label, and columns left
//! blank before each symbol. A level of the tree is one column with a code for
//! each kept burst. Most bursts of a node move to the same node of the next
//! level; a burst that does so has code 0. Any other code `c` means member
//! `c - 1` of the level, where the first member is "in no node". Most codes
//! are 0, which take no room.

use std::io;

use rayon::prelude::*;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::html::{Column, Make, MetaColumn};
use super::{AlignedRow, AlignmentView, PART, ReportData, TreeLevel, TreeView};
use crate::palette;
use likewise::bursts::{BurstLabel, NO_COHORT, NO_NODE};
use likewise::cluster::ClusterId;

/// Columns of the alignment, in the order in which [`alignment_meta`] wants
/// them.
pub(super) fn alignment_columns<'a>(view: &'a AlignmentView<'_>, labels: &[BurstLabel]) -> Vec<Make<'a>> {
    let n_phases =
        labels.iter().filter_map(|label| label.phase()).map(|id| id.index() + 1).max().unwrap_or(0);
    let mut index = vec![0; n_phases];
    for (label, at) in labels.iter().zip(0..) {
        label.phase().into_iter().for_each(|id| index[id.index()] = at);
    }
    let phases = || view.rows.iter().flat_map(|row| row.phases);
    let counts = || Column::plain(view.rows.iter().map(|row| row.phases.len() as u64));
    let symbols = move || Column::plain(phases().map(|&phase| index[phase as usize]));
    let blanks = || {
        let of_row = |row: &'a AlignedRow<'_>| {
            let before = std::iter::once(0).chain(row.columns.iter().map(|&c| u64::from(c) + 1));
            row.columns.iter().zip(before).map(|(&c, before)| u64::from(c) - before)
        };
        Column::plain(view.rows.iter().flat_map(of_row))
    };
    vec![Box::new(counts), Box::new(symbols), Box::new(blanks)]
}

pub(super) fn alignment_meta(view: &AlignmentView, columns: &[MetaColumn<'_>]) -> Value {
    let rows: Vec<Value> =
        view.rows.iter().map(|row| json!({"name": row.name, "n_tasks": row.n_tasks})).collect();
    let symbols: usize = view.rows.iter().map(|row| row.phases.len()).sum();
    json!({"score": view.score, "n_columns": view.n_columns, "rows": rows, "symbols": symbols,
           "columns": {"counts": columns[0], "labels": columns[1], "blanks": columns[2]}})
}

/// How the bursts of a level are written.
pub(super) struct LevelCodes {
    /// What a burst may be in: 0 for none, then nodes as index + 1.
    members: Vec<u32>,
    /// For each member of the level before, the member that most of its
    /// bursts are in; for the first level, only 0.
    expected: Vec<u32>,
}

/// A column per level for the kept bursts, and how to read it.
///
/// Bursts of one cohort are alike at every level, so what takes long is done for
/// cohorts.
pub(super) fn tree_columns(view: &TreeView<'_>, bursts: &[u32]) -> io::Result<Vec<(Column, LevelCodes)>> {
    let n = view.levels.iter().map(|level| level.nodes.len()).max().unwrap_or(0);
    // Of each kept burst its cohort, or `n` if it was not refined.
    let cohort =
        |&burst: &u32| view.bursts.place(burst).map_or(n as u32, |at| view.cohorts[at].min(n as u32));
    let cohorts: Vec<u32> = bursts.par_iter().map(cohort).collect();
    let mut sizes = vec![0; n + 1];
    cohorts.iter().for_each(|&cohort| sizes[cohort as usize] += 1);
    let levels: Vec<(Vec<u32>, Vec<u32>)> = view
        .levels
        .par_iter()
        .map(|level| {
            let (members, place) = members(level.nodes);
            let node = |cohort: usize| level.nodes.get(cohort).map_or(0, |&node| index(node));
            (members, (0..=n).map(|cohort| place[node(cohort)]).collect())
        })
        .collect();
    let coded = |(l, (members, places)): (usize, &(Vec<u32>, Vec<u32>))| {
        let none = (vec![0], vec![0; places.len()]);
        let (before, from) = if l > 0 { &levels[l - 1] } else { &none };
        let expected = most_frequent((from, places), &sizes, before.len());
        let code = |(&from, &to): (&u32, &u32)| {
            if expected[from as usize] == to { 0 } else { u64::from(to) + 1 }
        };
        let codes: Vec<u64> = from.iter().zip(places).map(code).collect();
        let column = Column::plain(cohorts.iter().map(|&cohort| codes[cohort as usize]))?;
        Ok((column, LevelCodes { members: members.clone(), expected }))
    };
    levels.par_iter().enumerate().map(coded).collect()
}

/// A node as it is written: its index + 1, or 0 for none.
fn index(node: u32) -> usize {
    // `NO_NODE` is the last number.
    node.wrapping_add(1) as usize
}

/// What `nodes` holds, as it is written, ascending, and 0 among it; and of each
/// its place there.
fn members(nodes: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let top = nodes.iter().map(|&node| index(node)).max().unwrap_or(0);
    let mut place = vec![0; top + 1];
    nodes.iter().for_each(|&node| place[index(node)] = 1);
    let members: Vec<u32> =
        (0..=top as u32).filter(|&value| value == 0 || place[value as usize] == 1).collect();
    members.iter().zip(0..).for_each(|(&member, at)| place[member as usize] = at);
    (members, place)
}

/// For each of the `n` values of `from`, the value of `to` that occurs with it
/// most often (the lower one of a tie), `sizes` times each; 0 if the value of
/// `from` never occurs.
fn most_frequent((from, to): (&[u32], &[u32]), sizes: &[usize], n: usize) -> Vec<u32> {
    let mut counts: FxHashMap<(u32, u32), usize> = FxHashMap::default();
    let pairs = from.iter().zip(to).zip(sizes).filter(|&(_, &size)| size > 0);
    pairs.for_each(|((&from, &to), size)| *counts.entry((from, to)).or_insert(0) += size);
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_unstable_by_key(|&((from, to), n)| (from, std::cmp::Reverse(n), to));
    counts.dedup_by_key(|&mut ((from, _), _)| from);
    let mut best = vec![0; n];
    counts.into_iter().for_each(|((from, to), _)| best[from as usize] = to);
    best
}

/// `main` is of [`main_labels`].
pub(super) fn tree_meta(
    data: &ReportData<'_>,
    view: &TreeView<'_>,
    main: &[Option<usize>],
    codes: &[LevelCodes],
    columns: &[MetaColumn<'_>],
) -> Value {
    let levels: Vec<Value> = view
        .levels
        .iter()
        .zip(codes)
        .zip(columns)
        .map(|((level, codes), column)| {
            json!({"eps": level.eps, "score": level.score, "clusters": level.clusters, "noise": level.noise_share,
                   "members": codes.members, "expected": codes.expected, "column": column})
        })
        .collect();
    let nodes: Vec<Value> = view
        .nodes
        .iter()
        .zip(main)
        .map(|(node, main)| {
            json!({"level": node.level, "parents": node.parents, "score": node.score, "instances": node.instances,
                   "total": node.total.0, "last": node.last, "phase": node.phase.map(ClusterId::number), "main": main})
        })
        .collect();
    let colours: Vec<Value> = (0..=palette::N_COLOURS)
        .map(palette::colours)
        .map(|(light, dark)| json!({"light": palette::hex(light), "dark": palette::hex(dark)}))
        .collect();
    let total: u128 = data.duration.iter().map(|d| u128::from(d.0)).sum();
    json!({"total": total as f64, "levels": levels, "nodes": nodes, "colours": colours})
}

/// For each node, the label in which most of its time ended, as an index: its
/// phase, if it has one.
pub(super) fn main_labels(
    data: &ReportData<'_>,
    view: &TreeView<'_>,
    labels: &[BurstLabel],
) -> Vec<Option<usize>> {
    let mut sorted: Vec<(BurstLabel, usize)> = labels.iter().copied().zip(0..).collect();
    sorted.sort_unstable();
    let index = |label: BurstLabel| {
        let at = sorted.binary_search_by_key(&label, |&(label, _)| label);
        at.ok().map(|at| sorted[at].1)
    };
    let mut main: Vec<Option<usize>> =
        view.nodes.iter().map(|node| node.phase.and_then(|id| index(BurstLabel::Phase(id)))).collect();
    let of_cohort: Vec<_> = times(data, view).into_iter().collect();
    let ended = |level: &TreeLevel<'_>| {
        let mut time: Times = Times::default();
        for &((cohort, label), own) in &of_cohort {
            let node = level.nodes[cohort as usize];
            if node != NO_NODE {
                *time.entry((node, label)).or_insert(0) += own;
            }
        }
        let mut time: Vec<_> = time.into_iter().collect();
        time.sort_unstable_by_key(|&((node, label), sum)| (node, std::cmp::Reverse(sum), label));
        time.dedup_by_key(|&mut ((node, _), _)| node);
        time.into_iter().filter_map(|((node, label), _)| Some((node as usize, index(label)?))).collect()
    };
    let ended: Vec<Vec<(usize, usize)>> = view.levels.par_iter().map(ended).collect();
    for (node, label) in ended.into_iter().flatten() {
        main[node].get_or_insert(label);
    }
    main
}

/// The time in ns of the bursts of each cohort, or node, that have a label.
type Times = FxHashMap<(u32, BurstLabel), u128>;

/// So many bursts are summed up by one thread.
const AT_ONCE: usize = 8 * PART;

fn times(data: &ReportData<'_>, view: &TreeView<'_>) -> Times {
    let of_part = |(part, cohorts): (usize, &[u32])| {
        let mut times = Times::default();
        for (at, &cohort) in (part * AT_ONCE..).zip(cohorts).filter(|(_, cohort)| **cohort != NO_COHORT) {
            let burst = view.bursts.at(at) as usize;
            *times.entry((cohort, data.label[burst])).or_insert(0) += u128::from(data.duration[burst].0);
        }
        times
    };
    let both = |a: Times, b: Times| {
        let (mut most, few) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        few.into_iter().for_each(|(key, time)| *most.entry(key).or_insert(0) += time);
        most
    };
    view.cohorts.par_chunks(AT_ONCE).enumerate().map(of_part).reduce(Times::default, both)
}

#[cfg(test)]
mod tests {
    use likewise::table::{Nanos, Rows};

    use super::super::{TreeNode, test_label as label};
    use super::*;
    use crate::encode::unblock;

    #[test]
    fn sequences_are_counts_labels_and_blanks() {
        let phases: [(&[u32], &[u32]); 3] = [(&[0, 2, 0], &[0, 1, 5]), (&[], &[]), (&[2], &[2])];
        let row = |(phases, columns)| AlignedRow { phases, columns, ..AlignedRow::default() };
        let view = AlignmentView { n_columns: 6, rows: phases.map(row).to_vec(), ..AlignmentView::default() };
        let columns = alignment_columns(&view, &[2, 1, 3, 0].map(label));
        let codes = |at: usize, n| unblock(&columns[at]().expect("it is written").block, n);
        assert_eq!(codes(0, 3), [3, 0, 1]);
        assert_eq!(codes(1, 4), [1, 2, 1, 2]);
        assert_eq!(codes(2, 4), [0, 0, 3, 2]);
    }

    /// Two nodes that become one, a burst that was in none, and one that is
    /// out of line.
    fn with_tree<T>(check: impl FnOnce(&ReportData<'_>, &TreeView<'_>) -> T) -> T {
        // The second burst of the report was not refined.
        let view = TreeView {
            bursts: &Rows::from(vec![0, 2, 3, 4, 5]),
            cohorts: &[0, 1, 1, 2, 3],
            levels: vec![
                TreeLevel { nodes: &[0, 1, 1, NO_NODE], ..TreeLevel::default() },
                TreeLevel { nodes: &[2, 2, NO_NODE, 2], ..TreeLevel::default() },
            ],
            nodes: vec![
                TreeNode::default(),
                TreeNode::default(),
                TreeNode { level: 1, parents: vec![0, 1], phase: label(2).phase(), ..TreeNode::default() },
            ],
        };
        let data = ReportData {
            duration: &[Nanos(1), Nanos(9), Nanos(1), Nanos(1), Nanos(5), Nanos(1)],
            label: &[2, 1, 2, 2, 1, 2].map(label),
            ..ReportData::default()
        };
        check(&data, &view)
    }

    #[test]
    fn levels_come_back() {
        with_tree(|_, view| {
            let bursts = [5, 0, 1, 2, 3, 4];
            let (columns, codes): (Vec<_>, Vec<_>) =
                tree_columns(view, &bursts).expect("a vector takes all").into_iter().unzip();
            let read: Vec<Vec<u64>> =
                columns.iter().map(|column| unblock(&column.block, bursts.len())).collect();
            // What `tree.js` does.
            let mut before = vec![0; bursts.len()];
            for ((column, codes), level) in read.iter().zip(&codes).zip(&view.levels) {
                for (k, &code) in column.iter().enumerate() {
                    before[k] = match code {
                        0 => codes.expected[before[k] as usize],
                        code => code as u32 - 1,
                    };
                    let refined = view.bursts.iter().position(|burst| burst == bursts[k]);
                    let node = refined.map_or(0, |at| index(level.nodes[view.cohorts[at] as usize]));
                    assert_eq!(codes.members[before[k] as usize] as usize, node);
                }
            }
            assert_eq!(read[1], [2, 0, 0, 0, 0, 1], "only what is out of line is written");
        });
    }

    #[test]
    fn a_node_is_named_after_what_most_of_its_time_became() {
        with_tree(|data, view| {
            assert_eq!(main_labels(data, view, &[1, 2, 0].map(label)), [Some(1), Some(0), Some(1)]);
        });
    }
}
