//! How well the tasks run the same phases at the same places.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rayon::prelude::*;

use super::{AlignedSequence, Alignment};
use crate::table::Nanos;

/// How much a run is single program, multiple data.
#[derive(Clone, Debug, PartialEq)]
pub struct SpmdScore {
    /// The Cluster Sequence Score, from 0 to 1: the scores of the clusters,
    /// averaged by the time they take. 0 if they take none.
    pub score: f64,
    /// Columns of the alignment.
    pub n_columns: usize,
    /// Of each cluster, its score; `None` if no sequence holds it.
    pub per_cluster: Vec<Option<f64>>,
}

/// Scores an alignment whose symbols are places of clusters, `durations` the
/// time of each in all tasks together.
///
/// The score of a cluster is the mean, over the columns that hold it, of the
/// share of tasks that show it there: 1 if every task does, everywhere. It is
/// never more than the cluster's occurrences over tasks times the most of them in
/// one task, however good the alignment.
///
/// # Panics
/// If a symbol is not less than the number of `durations`.
///
/// # Complexity
/// O(n) for n symbols of distinct sequences, and O(m log m) for the m of them that
/// are not the first of their columns; 8 bytes for each column and each of these.
///
/// # Reference
/// *Applications structure detection using cluster analysis* (BSC), §2, in the
/// form ClusteringSuite computes. Tasks without any cluster count.
///
/// # Example
/// ```
/// use likewise::bursts::{align, spmd_score};
/// use likewise::table::Nanos;
///
/// let aligned = align(&[vec![0, 1, 0, 1], vec![0, 1, 0]]);
/// let scored = spmd_score(&aligned, &[Nanos(300), Nanos(100)]);
/// assert_eq!(scored.per_cluster, [Some(1.0), Some(0.75)]);
/// assert_eq!(scored.score, 0.9375);
/// ```
#[must_use]
pub fn spmd_score(alignment: &Alignment, durations: &[Nanos]) -> SpmdScore {
    let (shown, columns) = count(alignment, durations.len());
    let n_tasks = alignment.sequence_of.len();
    let score = |(&shown, &columns): (&usize, &usize)| {
        (columns > 0).then(|| shown as f64 / (columns as f64 * n_tasks as f64))
    };
    let per_cluster: Vec<Option<f64>> = shown.iter().zip(&columns).map(score).collect();
    let scored =
        || per_cluster.iter().zip(durations).filter_map(|(score, time)| Some(((*score)?, time.0 as f64)));
    let total: f64 = scored().map(|(_, time)| time).sum();
    let sum: f64 = scored().map(|(score, time)| score * time).sum();
    SpmdScore {
        score: if total > 0.0 { sum / total } else { 0.0 },
        n_columns: alignment.n_columns,
        per_cluster,
    }
}

/// Of each cluster, how often tasks show it, and in how many columns.
fn count(alignment: &Alignment, n_clusters: usize) -> (Vec<usize>, Vec<usize>) {
    // Most columns hold one symbol: one that is seen there. The others are in `more`,
    // whichever was seen first.
    let first: Vec<AtomicU32> = (0..alignment.n_columns).map(|_| AtomicU32::new(NONE)).collect();
    let none = || (vec![0; n_clusters], Vec::new());
    let with = |(mut shown, mut more): (Vec<usize>, Vec<(u32, u32)>), sequence: &AlignedSequence| {
        for (&symbol, &column) in sequence.symbols.iter().zip(&sequence.columns) {
            shown[symbol as usize] += sequence.n_tasks;
            let first = &first[column as usize];
            let known = match first.load(Relaxed) {
                NONE => first.compare_exchange(NONE, symbol, Relaxed, Relaxed).err().unwrap_or(symbol),
                known => known,
            };
            if known != symbol {
                more.push((column, symbol));
            }
        }
        (shown, more)
    };
    let both = |(mut shown, mut more): (Vec<usize>, Vec<(u32, u32)>),
                mut other: (Vec<usize>, Vec<(u32, u32)>)| {
        shown.iter_mut().zip(&other.0).for_each(|(sum, n)| *sum += n);
        more.append(&mut other.1);
        (shown, more)
    };
    let (shown, mut more) = alignment.sequences.par_iter().fold(none, with).reduce(none, both);
    more.par_sort_unstable();
    more.dedup();
    let mut columns = vec![0; n_clusters];
    let of_first = first.into_iter().map(AtomicU32::into_inner).filter(|&symbol| symbol != NONE);
    let of_more = more.into_iter().map(|(_, symbol)| symbol);
    of_first.chain(of_more).for_each(|symbol| columns[symbol as usize] += 1);
    (shown, columns)
}

/// No symbol.
const NONE: u32 = u32::MAX;
