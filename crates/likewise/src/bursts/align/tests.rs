//! Alignments against one that fills the whole table, and their properties.

use proptest::prelude::*;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

use super::{Alignment, align, align_by_duration, phase_sequences, spmd_score};
use crate::cluster::ClusterId;
use crate::table::{BurstTable, Nanos};

/// The length of the longest common subsequence, cell by cell.
pub(super) fn lcs_reference(a: &[u32], b: &[u32]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (j, y) in b.iter().enumerate() {
            let above = row[j + 1];
            row[j + 1] = if x == y { diagonal + 1 } else { above.max(row[j]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

/// Score(c) as it is defined: column by column, task by task.
fn score_reference(alignment: &Alignment, cluster: u32) -> Option<f64> {
    let mut shares = Vec::new();
    for column in 0..alignment.n_columns as u32 {
        let shows = |&&s: &&u32| {
            let sequence = &alignment.sequences[s as usize];
            sequence.columns.iter().zip(&sequence.symbols).any(|at| at == (&column, &cluster))
        };
        let tasks = alignment.sequence_of.iter().filter(shows).count();
        if tasks > 0 {
            shares.push(tasks as f64 / alignment.sequence_of.len() as f64);
        }
    }
    (!shares.is_empty()).then(|| shares.iter().sum::<f64>() / shares.len() as f64)
}

fn check(tasks: &[Vec<u32>], alignment: &Alignment) {
    assert_eq!(alignment.sequence_of.len(), tasks.len());
    for (task, &s) in tasks.iter().zip(&alignment.sequence_of) {
        assert_eq!(&alignment.sequences[s as usize].symbols, task);
    }
    let mut held = vec![false; alignment.n_columns];
    for (s, sequence) in alignment.sequences.iter().enumerate() {
        assert_eq!(sequence.symbols.len(), sequence.columns.len());
        assert!(sequence.columns.is_sorted_by(|a, b| a < b));
        sequence.columns.iter().for_each(|&c| held[c as usize] = true);
        let tasks = alignment.sequence_of.iter().filter(|&&of| of as usize == s).count();
        assert_eq!(sequence.n_tasks, tasks);
        assert!(alignment.sequences[..s].iter().all(|other| other.symbols != sequence.symbols));
    }
    assert!(held.iter().all(|&held| held), "a column is empty");
}

fn durations(n: usize) -> Vec<Nanos> {
    (0..n as u64).map(|i| Nanos(1 + i * i)).collect()
}

fn sequence() -> impl Strategy<Value = Vec<u32>> {
    prop_oneof![prop::collection::vec(0..3u32, 0..60), prop::collection::vec(0..30u32, 0..60)]
}

/// `iterations` of `phases` steps; each task leaves out exactly `deleted` in
/// 1000 of them, drawn at random.
fn spmd(tasks: usize, phases: u32, iterations: u32, deleted: usize, seed: u64) -> Vec<Vec<u32>> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut task = || {
        let mut steps: Vec<u32> = (0..iterations).flat_map(|_| 0..phases).collect();
        for _ in 0..steps.len() * deleted / 1000 {
            steps.remove((rng.next_u64() % steps.len() as u64) as usize);
        }
        steps
    };
    (0..tasks).map(|_| task()).collect()
}

fn on_threads<T: Send>(n: usize, run: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(n).build().expect("threads").install(run)
}

proptest! {
    #[test]
    fn matches_of_two_are_a_longest_common_subsequence(a in sequence(), b in sequence()) {
        let tasks = [a, b];
        let alignment = align(&tasks);
        check(&tasks, &alignment);
        let of = |task: usize| &alignment.sequences[alignment.sequence_of[task] as usize];
        let cells = |task: usize| of(task).columns.iter().zip(&of(task).symbols);
        let matches = cells(0).filter(|x| cells(1).any(|y| *x == y)).count();
        prop_assert_eq!(matches, lcs_reference(&tasks[0], &tasks[1]));
    }

    #[test]
    fn alignments_hold_their_sequences(tasks in prop::collection::vec(sequence(), 0..20)) {
        let times = durations(30);
        for alignment in [align(&tasks), align_by_duration(&tasks, &times)] {
            check(&tasks, &alignment);
            let scored = spmd_score(&alignment, &times);
            prop_assert!((0.0..=1.0).contains(&scored.score));
            for (cluster, score) in scored.per_cluster.iter().enumerate() {
                let expected = score_reference(&alignment, cluster as u32);
                prop_assert_eq!(score.is_some(), expected.is_some());
                prop_assert!((score.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn threads_change_nothing(seed in any::<u64>(), tasks in 1..90usize) {
        let tasks = spmd(tasks, 7, 9, 100, seed);
        let one = on_threads(1, || align(&tasks));
        prop_assert_eq!(on_threads(2, || align(&tasks)), one.clone());
        prop_assert_eq!(on_threads(5, || align(&tasks)), one);
    }

    #[test]
    fn names_of_symbols_do_not_matter(tasks in prop::collection::vec(sequence(), 1..8)) {
        let named: Vec<Vec<u32>> =
            tasks.iter().map(|task| task.iter().map(|s| s * 1_000_003 + 5).collect()).collect();
        let columns = |tasks: &[Vec<u32>]| {
            align(tasks).sequences.into_iter().map(|s| s.columns).collect::<Vec<_>>()
        };
        prop_assert_eq!(columns(&tasks), columns(&named));
    }
}

#[test]
fn perfect_runs_score_exactly_one() {
    for tasks in [1, 16, 64] {
        let alignment = align(&spmd(tasks, 20, 40, 0, 1));
        assert_eq!((alignment.n_columns, alignment.sequences.len()), (800, 1));
        let scored = spmd_score(&alignment, &durations(20));
        assert_eq!(scored.score, 1.0);
        assert_eq!(scored.per_cluster, vec![Some(1.0); 20]);
    }
}

#[test]
fn deletions_cost_no_more_than_they_must() {
    for (tasks, seed) in [(16, 1), (16, 2), (32, 3), (64, 4)] {
        let tasks = spmd(tasks, 20, 40, 50, seed);
        let alignment = align(&tasks);
        check(&tasks, &alignment);
        assert!(alignment.n_columns <= 808, "{} columns", alignment.n_columns);
        let scored = spmd_score(&alignment, &[Nanos(1); 20]);
        assert!(scored.score >= 0.94, "{}", scored.score);
    }
}

#[test]
fn alternatives_share_their_column() {
    let odd = [0, 1, 3, 0, 1, 3];
    let even = [0, 2, 3, 0, 2, 3];
    let alignment = align(&[odd, even, odd, even]);
    assert_eq!(alignment.n_columns, 6);
    let scored = spmd_score(&alignment, &[Nanos(1); 4]);
    assert_eq!(scored.per_cluster, [Some(1.0), Some(0.5), Some(0.5), Some(1.0)]);
}

#[test]
fn long_phases_come_first() {
    // Either the 0 or the three others can be matched.
    let tasks = [vec![0, 1, 2, 3], vec![1, 2, 3, 0]];
    let plain = spmd_score(&align(&tasks), &[Nanos(1); 4]);
    assert_eq!(plain.per_cluster, [Some(0.5), Some(1.0), Some(1.0), Some(1.0)]);
    let times = [Nanos(97), Nanos(1), Nanos(1), Nanos(1)];
    let timed = spmd_score(&align_by_duration(&tasks, &times), &times);
    assert_eq!(timed.per_cluster[0], Some(1.0));
}

#[test]
fn nothing_scores_nothing() {
    let alignment = align::<Vec<u32>>(&[]);
    assert_eq!(alignment, Alignment { n_windows: 1, ..Alignment::default() });
    assert_eq!(spmd_score(&alignment, &[]).score, 0.0);
    let empty = align(&[vec![], vec![]]);
    assert_eq!((empty.n_columns, empty.sequences.len()), (0, 1));
    assert_eq!(spmd_score(&empty, &[Nanos(1)]).per_cluster, [None]);
}

#[test]
fn tasks_without_a_cluster_count() {
    let scored = spmd_score(&align(&[vec![0], vec![], vec![0], vec![0]]), &[Nanos(5)]);
    assert_eq!(scored.score, 0.75);
}

#[test]
fn sequences_leave_noise_out_and_keep_threads_apart() {
    let table = BurstTable {
        app: vec![1, 1, 1, 1, 1, 2].into(),
        task: vec![1, 1, 1, 1, 2, 2].into(),
        thread: vec![1, 1, 1, 2, 1, 1].into(),
        begin: vec![Nanos(0); 6],
        duration: vec![Nanos(1); 6],
        counters: Vec::new(),
        code: None,
    };
    let labels = [Some(1), None, Some(0), Some(1), None, Some(2)].map(|c| c.map(ClusterId::from_index));
    assert_eq!(phase_sequences(&table, &labels), [vec![1, 0], vec![1], vec![], vec![2]]);
}

proptest! {
    #[test]
    fn what_is_left_of_an_alignment_stands_where_it_did(
        tasks in prop::collection::vec(sequence(), 0..6),
        gone in prop::collection::vec(any::<bool>(), 30),
    ) {
        let all = align(&tasks);
        let number_of = |symbol: u32| (!gone[symbol as usize]).then_some(symbol + 7);
        let some = all.of_some(number_of);
        let left: Vec<Vec<u32>> =
            tasks.iter().map(|task| task.iter().filter_map(|&symbol| number_of(symbol)).collect()).collect();
        check(&left, &some);
        // Columns of what is left, in the order of the new ones.
        let mut before = vec![None; some.n_columns];
        for (task, &s) in some.sequence_of.iter().enumerate() {
            let old = &all.sequences[all.sequence_of[task] as usize];
            let kept = old.symbols.iter().zip(&old.columns).filter(|(symbol, _)| !gone[**symbol as usize]);
            let is_first = some.sequence_of[..task].iter().all(|other| *other != s);
            for ((_, &column), &new) in kept.zip(&some.sequences[s as usize].columns).filter(|_| is_first) {
                let before = before[new as usize].get_or_insert(column);
                prop_assert_eq!(*before, column);
            }
        }
        prop_assert!(before.is_sorted_by(|a, b| a < b));
    }
}
