//! Groups of ranks with like signatures, and which of them are kept.

use crate::ranklist::Ranklist;
use crate::signature::{Mean, Signature};
use likewise_comm::wire::{self, Taker};

/// How leads are chosen among the groups of a call path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The group of the lowest lead, then always the group farthest from those
    /// chosen.
    #[default]
    Farthest,
    /// Those that are least far from all ranks, in sum.
    Medoids,
    /// Any, by the seed.
    Random,
}

/// How leads are chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many leads; more, if there are more call paths.
    pub k: usize,
    /// How they are chosen among the ranks of a call path.
    pub method: Method,
    /// For [`Method::Random`]; the same on all ranks.
    pub seed: u64,
    /// Whether ranks whose parameters differ are told apart as if their call
    /// paths did. Then loop counts tell ranks apart, too.
    pub parameters: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self { k: 9, method: Method::Farthest, seed: 0, parameters: false }
    }
}

/// Ranks with like signatures, on their way up the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cluster {
    /// Of the lead; its parameters are 0 if they do not count.
    pub(crate) signature: Signature,
    /// The lowest rank of this signature, of those that chose it.
    pub(crate) lead: u32,
    pub(crate) ranks: Ranklist,
}

impl Cluster {
    /// What no two ranks of a cluster differ in.
    fn path(&self) -> (u128, u64) {
        (self.signature.path, self.signature.parameters)
    }

    fn distance(&self, other: &Self) -> f64 {
        let (own, other) = (&self.signature, &other.signature);
        own.source.distance(other.source) + own.dest.distance(other.dest)
    }
}

/// Clusters of all ranks of a subtree, by signature.
#[derive(Clone, Debug, Default)]
pub(crate) struct Clusters {
    pub(crate) all: Vec<Cluster>,
}

impl Clusters {
    /// Takes up the clusters of other ranks; those of one signature become one.
    pub(crate) fn merge(&mut self, others: Self) {
        let (mut own, mut others) =
            (std::mem::take(&mut self.all).into_iter().peekable(), others.all.into_iter().peekable());
        while let (Some(one), Some(other)) = (own.peek(), others.peek()) {
            let order = one.signature.cmp(&other.signature);
            let next = if order.is_le() { own.next() } else { others.next() };
            let Some(mut next) = next else { break };
            if order.is_eq()
                && let Some(other) = others.next()
            {
                next.lead = next.lead.min(other.lead);
                next.ranks.merge(&other.ranks);
            }
            self.all.push(next);
        }
        self.all.extend(own.chain(others));
    }

    pub(crate) fn n_paths(&self) -> usize {
        self.all.chunk_by(|a, b| a.path() == b.path()).count()
    }

    /// If there are more than `k` clusters, and more than call paths, keeps
    /// `k` / number of call paths for each call path, and at least one. The
    /// others join the nearest one.
    pub(crate) fn reduce(&mut self, options: &Options) {
        let n_paths = self.n_paths();
        if self.all.len() <= options.k.max(n_paths) {
            return;
        }
        let most = (options.k / n_paths).max(1);
        let all = std::mem::take(&mut self.all);
        for path in all.chunk_by(|a, b| a.path() == b.path()) {
            if path.len() <= most {
                self.all.extend_from_slice(path);
                continue;
            }
            let chosen = match options.method {
                Method::Farthest => farthest(path, most),
                Method::Medoids => medoids(path, most),
                Method::Random => random(path, most, options.seed),
            };
            self.all.extend(joined(path, &chosen));
        }
    }

    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for cluster in &self.all {
            let signature = &cluster.signature;
            put_wide(&mut bytes, signature.path);
            wire::put_number(&mut bytes, signature.parameters);
            for mean in [signature.source, signature.dest] {
                put_wide(&mut bytes, mean.sum as u128);
                wire::put_number(&mut bytes, mean.n);
            }
            wire::put_number(&mut bytes, u64::from(cluster.lead));
            let mut ranks = Vec::new();
            cluster.ranks.encode(&mut ranks);
            wire::put_block(&mut bytes, &ranks);
        }
        bytes
    }

    /// `None` if the bytes are nothing that [`Clusters::encode`] made.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let mut taker = Taker::new(bytes);
        let mut all: Vec<Cluster> = Vec::new();
        while !taker.is_done() {
            let (path, parameters) = (take_wide(&mut taker)?, taker.number()?);
            let (source, dest) = (take_mean(&mut taker)?, take_mean(&mut taker)?);
            let lead = u32::try_from(taker.number()?).ok()?;
            let mut block = taker.block()?;
            let ranks = Ranklist::decode(&mut block).ok().filter(|ranks| ranks.contains(lead))?;
            let signature = Signature { path, source, dest, parameters };
            if !block.is_empty() || all.last().is_some_and(|last| last.signature >= signature) {
                return None;
            }
            all.push(Cluster { signature, lead, ranks });
        }
        Some(Self { all })
    }
}

fn put_wide(bytes: &mut Vec<u8>, number: u128) {
    wire::put_numbers(bytes, [number as u64, (number >> 64) as u64]);
}

fn take_wide(taker: &mut Taker<'_>) -> Option<u128> {
    Some(u128::from(taker.number()?) | u128::from(taker.number()?) << 64)
}

fn take_mean(taker: &mut Taker<'_>) -> Option<Mean> {
    Some(Mean { sum: take_wide(taker)? as i128, n: taker.number()? })
}

/// Where the cluster of the lowest lead is, by `key`, then by lead.
fn best(clusters: &[Cluster], key: impl Fn(usize) -> f64) -> usize {
    let better =
        |a: &usize, b: &usize| key(*b).total_cmp(&key(*a)).then(clusters[*a].lead.cmp(&clusters[*b].lead));
    (0..clusters.len()).min_by(better).unwrap_or(0)
}

/// Farthest-first traversal (Gonzalez, 1985).
fn farthest(clusters: &[Cluster], most: usize) -> Vec<usize> {
    let mut chosen = vec![best(clusters, |_| 0.0)];
    let mut distances: Vec<f64> = clusters.iter().map(|one| one.distance(&clusters[chosen[0]])).collect();
    while chosen.len() < most {
        let next = best(clusters, |at| if chosen.contains(&at) { -1.0 } else { distances[at] });
        for (distance, one) in distances.iter_mut().zip(clusters) {
            *distance = distance.min(one.distance(&clusters[next]));
        }
        chosen.push(next);
    }
    chosen
}

/// PAM, where a cluster counts as many times as it has ranks: starts with
/// [`farthest`], then swaps as long as the sum of distances becomes less.
fn medoids(clusters: &[Cluster], most: usize) -> Vec<usize> {
    let mut chosen = farthest(clusters, most);
    let loss = |chosen: &[usize]| -> f64 {
        let nearest = |one: &Cluster| {
            chosen.iter().map(|at| one.distance(&clusters[*at])).fold(f64::INFINITY, f64::min)
        };
        clusters.iter().map(|one| one.ranks.len() as f64 * nearest(one)).sum()
    };
    let mut least = loss(&chosen);
    loop {
        let mut swap = None;
        for place in 0..chosen.len() {
            for other in (0..clusters.len()).filter(|other| !chosen.contains(other)) {
                let mut tried = chosen.clone();
                tried[place] = other;
                let loss = loss(&tried);
                if loss < least {
                    (least, swap) = (loss, Some(tried));
                }
            }
        }
        match swap {
            Some(better) => chosen = better,
            None => return chosen,
        }
    }
}

/// Those whose leads have the least hashes: so which are chosen in a subtree
/// does not depend on the other ranks.
fn random(clusters: &[Cluster], most: usize, seed: u64) -> Vec<usize> {
    let hash = |at: usize| {
        // SplitMix64.
        let lead = u64::from(clusters[at].lead) + 1;
        let mixed = seed.wrapping_add(lead.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut order: Vec<usize> = (0..clusters.len()).collect();
    order.sort_by_key(|at| (hash(*at), clusters[*at].lead));
    order.truncate(most);
    order
}

/// The chosen clusters, in their order; each other one has joined the nearest,
/// of equally near ones that of the lowest lead.
fn joined(clusters: &[Cluster], chosen: &[usize]) -> Vec<Cluster> {
    let mut chosen = chosen.to_vec();
    chosen.sort_unstable();
    let mut kept: Vec<Cluster> = chosen.iter().map(|at| clusters[*at].clone()).collect();
    for (at, one) in clusters.iter().enumerate() {
        if chosen.binary_search(&at).is_err() {
            let nearest = best(&kept, |other| -one.distance(&kept[other]));
            kept[nearest].ranks.merge(&one.ranks);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cluster(path: u128, source: i64, lead: u32, ranks: &[u32]) -> Cluster {
        let source = Mean { sum: source.into(), n: 1 };
        let signature = Signature { path, source, ..Signature::default() };
        Cluster { signature, lead, ranks: Ranklist::of(ranks) }
    }

    /// Means 0, 1, 2, 10, 11 and 50; the cluster about 11 has most ranks.
    fn line() -> Clusters {
        let many: Vec<u32> = (10..30).collect();
        let ranks: [(i64, &[u32]); 6] =
            [(0, &[3]), (1, &[0]), (2, &[1]), (10, &[2]), (11, &many), (50, &[4, 5])];
        let all = ranks.iter().map(|(source, ranks)| cluster(1, *source, ranks[0], ranks)).collect();
        Clusters { all }
    }

    fn leads(mut clusters: Clusters, k: usize, method: Method) -> Vec<(u32, Vec<u32>)> {
        clusters.reduce(&Options { k, method, ..Options::default() });
        clusters
            .all
            .iter()
            .map(|one| (one.lead, one.ranks.iter().filter(|rank| *rank < 11).collect()))
            .collect()
    }

    #[test]
    fn the_farthest_lead_and_the_others_join_the_nearest() {
        let farthest = leads(line(), 3, Method::Farthest);
        assert_eq!(farthest, [(0, vec![0, 1, 3]), (10, vec![2, 10]), (4, vec![4, 5])]);
        assert_eq!(leads(line(), 1, Method::Farthest), [(0, vec![0, 1, 2, 3, 4, 5, 10])]);
        assert_eq!(leads(line(), 6, Method::Farthest).len(), 6);
    }

    #[test]
    fn medoids_are_in_the_middle() {
        let medoids = leads(line(), 3, Method::Medoids);
        assert_eq!(medoids, [(0, vec![0, 1, 3]), (10, vec![2, 10]), (4, vec![4, 5])]);
        // One lead stands where most ranks are.
        assert_eq!(leads(line(), 1, Method::Medoids), [(10, vec![0, 1, 2, 3, 4, 5, 10])]);
    }

    #[test]
    fn seeds_choose_other_leads() {
        let with = |seed| {
            let mut clusters = line();
            clusters.reduce(&Options { k: 2, method: Method::Random, seed, parameters: false });
            assert_eq!(clusters.all.iter().map(|one| one.ranks.len()).sum::<u64>(), 26);
            clusters.all.iter().map(|one| one.lead).collect::<Vec<_>>()
        };
        assert!((0..20).all(|seed| with(seed) == with(seed) && with(seed).len() == 2));
        assert!((1..20).any(|seed| with(seed) != with(0)));
    }

    #[test]
    fn no_call_path_is_without_a_lead() {
        let all = (0..12).map(|at| cluster(at / 2, at as i64, at as u32, &[at as u32])).collect();
        let mut clusters = Clusters { all };
        clusters.reduce(&Options { k: 3, ..Options::default() });
        let leads: Vec<u32> = clusters.all.iter().map(|one| one.lead).collect();
        assert_eq!(leads, [0, 2, 4, 6, 8, 10], "six call paths, so six leads");
    }

    #[test]
    fn clusters_come_back_from_bytes() {
        let clusters = line();
        let bytes = clusters.encode();
        assert_eq!(Clusters::decode(&bytes).unwrap().all, clusters.all);
        for length in 1..bytes.len() {
            let cut = Clusters::decode(&bytes[..length]);
            assert!(cut.is_none_or(|cut| cut.all.len() < clusters.all.len()));
        }
        let twice = [&bytes[..], &bytes].concat();
        assert!(Clusters::decode(&twice).is_none(), "not in order");
    }

    #[test]
    fn the_same_signature_is_one_cluster() {
        let mut one = Clusters { all: vec![cluster(1, 2, 5, &[5]), cluster(2, 0, 4, &[4])] };
        one.merge(Clusters { all: vec![cluster(1, 1, 6, &[6]), cluster(1, 2, 3, &[3, 7])] });
        let expected = [cluster(1, 1, 6, &[6]), cluster(1, 2, 3, &[3, 5, 7]), cluster(2, 0, 4, &[4])];
        assert_eq!(one.all, expected);
    }
}
