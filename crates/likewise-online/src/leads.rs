//! What all ranks do together: choose leads, and gather keys.

use crate::group::{Cluster, Clusters, Options};
use crate::ranklist::Ranklist;
use crate::signature::{Mean, Signature};
use likewise_comm::wire::{self, Taker};
use likewise_comm::{CommError, Communicator, Tree};
use std::collections::BTreeMap;

/// Ranks, and the one among them that records for all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The call path of all of them.
    pub path: u128,
    /// Its number: call paths are numbered in the order of their first leads.
    pub call_path: u32,
    /// The rank that records.
    pub lead: u32,
    /// All ranks of the group, with the lead.
    pub ranks: Ranklist,
    /// The lead's mean source.
    pub source: Mean,
    /// The lead's mean destination.
    pub dest: Mean,
}

/// Groups the ranks by their signatures and names a lead for each group. Every
/// rank gets the same groups, in the order of their leads.
///
/// Ranks of a group have one call path, and every call path has a lead. A lead
/// is the lowest rank that has its signature, but for ranks that had joined
/// another group before the two came together in the tree.
///
/// # Complexity
/// O(log P) messages on a rank, and no message has more than max(k, number of
/// call paths) groups. The time is O(log P), too, as long as lists of ranks are
/// regular; see [`Ranklist::merge`].
///
/// # Errors
/// See [`CommError`].
///
/// # Reference
/// Chameleon, Algorithms 2 and 3 (lines 7 to 26). Differs: the signatures of a
/// subtree, not only those of its leads' own nodes, are one sorted map; what
/// farthest-first begins with and how ties go is fixed, so results do not
/// depend on timing.
pub fn choose<C: Communicator + ?Sized>(
    comm: &C,
    signature: &Signature,
    options: &Options,
) -> Result<Vec<Group>, CommError> {
    let rank = comm.rank() as u32;
    let parameters = if options.parameters { signature.parameters } else { 0 };
    let signature = Signature { parameters, ..*signature };
    let mut clusters =
        Clusters { all: vec![Cluster { signature, lead: rank, ranks: Ranklist::of(&[rank]) }] };
    let tree = Tree::new(comm.size(), comm.rank());
    let decode = |bytes: &[u8]| Clusters::decode(bytes).ok_or_else(|| CommError::out_of_step("choose"));
    for child in tree.children() {
        clusters.merge(decode(&comm.receive(child)?)?);
        clusters.reduce(options);
    }
    let mut bytes = clusters.encode();
    if let Some(parent) = tree.parent() {
        comm.send(parent, &bytes)?;
    }
    comm.broadcast(0, &mut bytes)?;
    Ok(groups(decode(&bytes)?))
}

fn groups(clusters: Clusters) -> Vec<Group> {
    let mut all = clusters.all;
    all.sort_by_key(|cluster| cluster.lead);
    let mut paths = BTreeMap::new();
    let group = |cluster: Cluster| {
        let Signature { path, source, dest, parameters } = cluster.signature;
        let next = paths.len() as u32;
        let call_path = *paths.entry((path, parameters)).or_insert(next);
        Group { path, call_path, lead: cluster.lead, ranks: cluster.ranks, source, dest }
    };
    all.into_iter().map(group).collect()
}

/// Returns on rank 0 every key that any rank gave, in order, each with the
/// ranks that gave it; nothing on the other ranks. O(log P) messages.
///
/// # Errors
/// See [`CommError`].
pub fn gather<C: Communicator + ?Sized>(comm: &C, key: &[u8]) -> Result<Vec<(Vec<u8>, Ranklist)>, CommError> {
    let mut keys = BTreeMap::from([(key.to_vec(), Ranklist::of(&[comm.rank() as u32]))]);
    let tree = Tree::new(comm.size(), comm.rank());
    for child in tree.children() {
        let bytes = comm.receive(child)?;
        let mut taker = Taker::new(&bytes);
        while !taker.is_done() {
            let (key, ranks) = take_key(&mut taker).ok_or_else(|| CommError::out_of_step("gather"))?;
            keys.entry(key).or_default().merge(&ranks);
        }
    }
    let Some(parent) = tree.parent() else { return Ok(keys.into_iter().collect()) };
    let mut bytes = Vec::new();
    for (key, ranks) in &keys {
        let mut list = Vec::new();
        ranks.encode(&mut list);
        wire::put_block(&mut bytes, key);
        wire::put_block(&mut bytes, &list);
    }
    comm.send(parent, &bytes)?;
    Ok(Vec::new())
}

fn take_key(taker: &mut Taker<'_>) -> Option<(Vec<u8>, Ranklist)> {
    let key = taker.block()?.to_vec();
    let mut block = taker.block()?;
    let ranks = Ranklist::decode(&mut block).ok()?;
    block.is_empty().then_some((key, ranks))
}
