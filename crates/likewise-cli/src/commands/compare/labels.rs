//! How alike two groupings of the same objects are.

use crate::common::Common;
use anyhow::{Context, Result, bail};
use likewise::cluster::ClusterId;
use likewise::quality::{adjusted_rand, mirkin};
use likewise_trace::{BurstKey, LabelTable, RowLabel, read_labels};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

pub(super) fn run(a_path: &Path, b_path: &Path, noise: bool, common: &Common) -> Result<()> {
    let (a, b) = (read_labels(a_path)?, read_labels(b_path)?);
    check(&a, a_path)?;
    check(&b, b_path)?;
    let likeness =
        likeness(&a, &b, noise).with_context(|| format!("{} and {}", a_path.display(), b_path.display()))?;
    let mut result = likeness.to_json();
    result["a"] = a_path.display().to_string().into();
    result["b"] = b_path.display().to_string().into();
    common.print(&result, || {
        format!(
            "Objects              {} and {}\nObjects in both      {}\nLabelled in both     {}\nAdjusted Rand index  {:.6}   (1: the same)\n\
             Mirkin distance      {:.6}   (0: the same)\n",
            likeness.rows[0], likeness.rows[1], likeness.matched, likeness.compared, likeness.adjusted_rand, likeness.mirkin
        )
    })
}

/// How alike two groupings are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Likeness {
    /// Objects in each file.
    rows: [usize; 2],
    /// Objects in both files.
    matched: usize,
    /// Those with a label in both.
    compared: usize,
    pub(crate) adjusted_rand: f64,
    mirkin: f64,
    with_noise: bool,
}

impl Likeness {
    pub(crate) fn to_json(self) -> Value {
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "rows": self.rows,
            "matched": self.matched,
            "compared": self.compared,
            "noise_is_a_cluster": self.with_noise,
            "adjusted_rand": self.adjusted_rand,
            "mirkin": self.mirkin,
        })
    }
}

/// Compares what both label; noise is left out, or one more cluster.
pub(crate) fn likeness(a: &LabelTable, b: &LabelTable, with_noise: bool) -> Result<Likeness> {
    let rows = [a.labels.len(), b.labels.len()];
    let (a, b): (Vec<_>, Vec<_>) = matched(a, b)?.into_iter().unzip();
    let matched = a.len();
    let (a, b) = (cluster_ids(&a, with_noise), cluster_ids(&b, with_noise));
    match (adjusted_rand(&a, &b), mirkin(&a, &b)) {
        (Some(rand), Some(mirkin)) => Ok(Likeness {
            rows,
            matched,
            compared: rand.compared,
            adjusted_rand: rand.value,
            mirkin: mirkin.value,
            with_noise,
        }),
        _ => bail!("no object is labelled in both ({matched} are in both files)"),
    }
}

/// Clusters numbered without gaps, whatever the file calls them; noise is in
/// none, or in one of its own.
fn cluster_ids(labels: &[RowLabel], noise_is_a_cluster: bool) -> Vec<Option<ClusterId>> {
    // Noise sorts before every number.
    let name = |label: &RowLabel| match *label {
        RowLabel::Cluster(number) => Some(Some(number)),
        RowLabel::Noise if noise_is_a_cluster => Some(None),
        _ => None,
    };
    let mut names: Vec<Option<u32>> = labels.iter().filter_map(name).collect();
    names.sort_unstable();
    names.dedup();
    let id = |label| names.binary_search(&name(label)?).ok().map(ClusterId::from_index);
    labels.iter().map(id).collect()
}

/// Refuses a file that says two things of one burst. Bursts of no duration
/// begin with their successor, and are told apart by that.
fn check(table: &LabelTable, path: &Path) -> Result<()> {
    let Some(keys) = &table.keys else { return Ok(()) };
    let mut order: Vec<usize> = (0..keys.len()).collect();
    order.sort_unstable_by_key(|&row| (keys[row], row));
    for same in order.chunk_by(|&a, &b| keys[a] == keys[b]) {
        let takes_time = |row: &usize| table.durations.as_ref().is_none_or(|d| d[*row] > 0);
        let mut rows = same.iter().copied().filter(takes_time);
        let Some(first) = rows.next() else { continue };
        if let Some(other) = rows.find(|&row| table.labels[row] != table.labels[first]) {
            let BurstKey { app, task, thread, begin } = keys[first];
            bail!(
                "{}: rows {} and {} are the same burst (application {app}, task {task}, thread {thread}, begin {begin}) \
                 and in different clusters: {} and {}",
                path.display(),
                first + 1,
                other + 1,
                name(table.labels[first]),
                name(table.labels[other])
            );
        }
    }
    Ok(())
}

fn name(label: RowLabel) -> String {
    match label {
        RowLabel::Cluster(number) => number.to_string(),
        RowLabel::Noise => "noise".to_owned(),
        RowLabel::Unclassified => "not classified".to_owned(),
    }
}

/// The labels of each object that is in both.
fn matched(a: &LabelTable, b: &LabelTable) -> Result<Vec<(RowLabel, RowLabel)>> {
    let (Some(keys_a), Some(keys_b)) = (&a.keys, &b.keys) else {
        if a.labels.len() != b.labels.len() {
            bail!("{} and {} rows cannot be matched one by one", a.labels.len(), b.labels.len());
        }
        return Ok(a.labels.iter().copied().zip(b.labels.iter().copied()).collect());
    };
    let by_key: BTreeMap<_, _> = told_apart(keys_b).into_iter().zip(&b.labels).collect();
    let pair = |(key, label): (_, &RowLabel)| Some((*label, **by_key.get(&key)?));
    Ok(told_apart(keys_a).into_iter().zip(&a.labels).filter_map(pair).collect())
}

/// Each key with how many equal ones came before it: a burst of no duration
/// begins with its successor.
fn told_apart(keys: &[BurstKey]) -> Vec<(BurstKey, usize)> {
    let mut seen = HashMap::new();
    let ordinal = |key: &BurstKey| {
        let n = seen.entry(*key).or_insert(0);
        *n += 1;
        (*key, *n - 1)
    };
    keys.iter().map(ordinal).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_that_stands_twice_must_not_be_in_two_clusters() {
        let key = |begin| BurstKey { app: 1, task: 2, thread: 1, begin };
        let table = |labels: [u32; 3], durations: Option<Vec<u64>>| LabelTable {
            keys: Some(vec![key(5), key(9), key(5)]),
            labels: labels.map(RowLabel::Cluster).to_vec(),
            durations,
        };
        let check = |table| check(&table, Path::new("t.csv")).map_err(|error| error.to_string());
        assert_eq!(check(table([1, 2, 1], None)), Ok(()));
        assert_eq!(check(table([1, 2, 3], Some(vec![0, 3, 4]))), Ok(()), "one takes no time");
        let text = "t.csv: rows 1 and 3 are the same burst (application 1, task 2, thread 1, begin 5) and in different \
                    clusters: 1 and 3";
        assert_eq!(check(table([1, 2, 3], None)), Err(text.to_owned()));
        assert_eq!(check(table([1, 2, 3], Some(vec![1, 3, 4]))), Err(text.to_owned()));
    }

    #[test]
    fn bursts_of_one_begin_are_matched_one_to_one() {
        let key = |begin| BurstKey { app: 1, task: 1, thread: 1, begin };
        let labels = [1, 2, 1].map(RowLabel::Cluster).to_vec();
        let keys = Some(vec![key(5), key(5), key(9)]);
        let a = LabelTable { keys, labels: labels.clone(), durations: None };
        let pairs = matched(&a, &a).expect("both have keys");
        assert_eq!(pairs, labels.iter().map(|&l| (l, l)).collect::<Vec<_>>());
    }
}
