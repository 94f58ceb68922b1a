//! Made-up alignments and trees.

use likewise::table::Nanos;
use likewise_cli::report::{
    AlignedRow, AlignmentView, FILTERED_DURATION, NOISE, TreeLevel, TreeNode, TreeView,
};

use super::{PHASES, Random, Run};

/// Sequences of `n_rows` kinds of tasks: iterations of the twelve phases,
/// where every kind leaves out some of its own.
pub(crate) fn alignment(n_rows: u32, n_tasks: usize, n_columns: u32) -> AlignmentView {
    let mut random = Random(11);
    let mut next_task = 1;
    let mut rows = Vec::new();
    for r in 0..n_rows {
        let others = (n_rows - r - 1) as usize;
        let left = n_tasks + 1 - next_task - others;
        let n = if others == 0 { left } else { 1 + (left as f64 * 0.6 * random.next().powi(2)) as usize };
        let name = if n > 1 { format!("{next_task}–{}", next_task + n - 1) } else { next_task.to_string() };
        next_task += n;
        let (rarely, late) = (random.next() * 0.04, (random.next() * 24.0) as u32);
        let skipped = (random.next() * 12.0) as u32;
        let holds = |c: u32, chance: f64| {
            let odd = r % 3 == 2 && c % 12 == skipped && (c / 12) % 2 == 1;
            chance >= rarely && !odd && !(r % 4 == 3 && c < late)
        };
        let columns: Vec<u32> = (0..n_columns).filter(|&c| holds(c, random.next())).collect();
        let labels = columns.iter().map(|c| c % 12 + 1).collect();
        rows.push(AlignedRow { name, n_tasks: n, labels, columns });
    }
    AlignmentView { score: 0.9371, n_columns: n_columns as usize, rows }
}

/// A refinement in `n_levels` steps. A phase is in pieces by its IPC until it
/// is whole; noise is in `splinters` tiny clusters, half as many each level.
pub(crate) fn tree(run: &Run, n_levels: usize, splinters: u32) -> TreeView {
    let mut random = Random(13);
    let mut tree = TreeView::default();
    let splinter_of: Vec<f64> = run.label.iter().map(|_| random.next()).collect();
    for l in 0..n_levels {
        let keys: Vec<Option<(u32, u32)>> =
            (0..run.label.len()).map(|i| cluster(run, i, l, n_levels, splinters, splinter_of[i])).collect();
        let mut clusters: Vec<(u32, u32)> = keys.iter().flatten().copied().collect();
        clusters.sort_unstable();
        clusters.dedup();
        let before = tree.levels.last().map(|level: &TreeLevel| level.node_of_burst.clone());
        let first = tree.nodes.len() as u32;
        tree.nodes.extend(clusters.iter().map(|&(label, _)| {
            let whole = label != NOISE && is_whole(label, l, n_levels);
            TreeNode {
                level: l,
                score: if whole { 1.0 } else { 0.4 + 0.599 * random.next() },
                last: whole || l + 1 == n_levels,
                phase: (label != NOISE && (whole || l + 1 == n_levels)).then_some(label),
                ..TreeNode::default()
            }
        }));
        let node_of_burst: Vec<u32> = (0..keys.len())
            .map(|i| match before.as_ref().map(|before| before[i]) {
                // What is final keeps its bursts.
                Some(node) if node > 0 && tree.nodes[node as usize - 1].last => node,
                _ => keys[i].map_or(0, |key| first + 1 + clusters.partition_point(|&c| c < key) as u32),
            })
            .collect();
        count(run, &mut tree, first, &node_of_burst, before.as_deref());
        tree.levels.push(level(run, l, n_levels, node_of_burst));
    }
    drop_empty(tree)
}

/// The level at which a phase becomes whole; the last two never do.
fn is_whole(label: u32, level: usize, n_levels: usize) -> bool {
    label <= 10 && level >= (label as usize * 3 + 1) % n_levels
}

/// Which cluster of a level burst `i` is in: its label, and which piece.
fn cluster(
    run: &Run,
    i: usize,
    level: usize,
    n_levels: usize,
    splinters: u32,
    chance: f64,
) -> Option<(u32, u32)> {
    let label = run.label[i];
    let done = level as f64 / n_levels as f64;
    if label >= FILTERED_DURATION {
        return None;
    }
    // At first some of every phase are splinters, too.
    if label == NOISE || chance < 0.03 * (1.0 - done).powi(3) {
        let n = splinters >> level;
        return (n > 0).then(|| (NOISE, (chance * 1e7) as u32 % n));
    }
    let whole = (0..n_levels).find(|&l| is_whole(label, l, n_levels)).unwrap_or(n_levels - 1);
    let pieces = 1_u32 << whole.saturating_sub(level).min(3);
    let (_, ipc, spread) = PHASES[label as usize - 1];
    let z = (run.ipc[i] / ipc - 1.0) / spread;
    Some((label, (f64::from(pieces) / (1.0 + (-1.7 * z).exp())) as u32))
}

/// Fills the counts and parents of the nodes from `first` on.
fn count(run: &Run, tree: &mut TreeView, first: u32, node_of_burst: &[u32], before: Option<&[u32]>) {
    let mut pairs = Vec::new();
    for (i, &node) in node_of_burst.iter().enumerate().filter(|&(_, &node)| node > first) {
        let counted = &mut tree.nodes[node as usize - 1];
        counted.instances += 1;
        counted.total = Nanos(counted.total.0 + run.duration[i].0);
        pairs.extend(before.filter(|before| before[i] > 0).map(|before| (node - 1, before[i] - 1)));
    }
    pairs.sort_unstable();
    pairs.dedup();
    for (node, parent) in pairs {
        tree.nodes[node as usize].parents.push(parent);
    }
}

fn level(run: &Run, l: usize, n_levels: usize, node_of_burst: Vec<u32>) -> TreeLevel {
    let time = |only_noise: bool| -> f64 {
        let of = node_of_burst.iter().zip(&run.duration).filter(|&(&node, _)| !only_noise || node == 0);
        of.map(|(_, d)| d.0 as f64).sum()
    };
    let mut clusters = node_of_burst.clone();
    clusters.sort_unstable();
    clusters.dedup();
    TreeLevel {
        eps: 0.004 * 1.6_f64.powi(l as i32),
        score: 0.55 + 0.4 * (l + 1) as f64 / n_levels as f64,
        clusters: clusters.iter().filter(|&&node| node > 0).count(),
        noise_share: time(true) / time(false),
        node_of_burst,
    }
}

/// Clusters whose bursts were all final before are none.
fn drop_empty(mut tree: TreeView) -> TreeView {
    let mut place = vec![0; tree.nodes.len() + 1];
    let mut kept = 0;
    for (i, node) in tree.nodes.iter().enumerate().filter(|(_, node)| node.instances > 0) {
        debug_assert!(node.level < tree.levels.len());
        kept += 1;
        place[i + 1] = kept;
    }
    for node in tree.levels.iter_mut().flat_map(|level| &mut level.node_of_burst) {
        *node = place[*node as usize];
    }
    tree.nodes.retain(|node| node.instances > 0);
    for parent in tree.nodes.iter_mut().flat_map(|node| &mut node.parents) {
        *parent = place[*parent as usize + 1] - 1;
    }
    tree
}
