//! Sparse phases: what no radius of the curve has grouped, or has left in pieces.
//!
//! A phase of few and long bursts may lie farther apart than nearly all bursts. A radius that
//! reaches it would connect what is denser with noise, so only what is as sparse takes
//! part.

use rayon::prelude::*;

use crate::cluster::ClusterId;

use super::density::Density;
use super::levels::{Level, NO_NODE};
use super::partition::{Partition, Scored};
use super::range::FARTHEST;
use super::step::{Setting, join, level, regroup, scattered};

/// Groups, by radii that are far, the bursts that are in no group and the groups that are
/// sparse enough, as if there were no others; as long as what is in none, or in scattered ones,
/// takes more of the time than [`FARTHEST`], and there are tasks to tell what is scattered.
/// Where that takes less, but sparse groups that are not on all tasks take more, these join
/// where they are pieces of one step, and nothing comes in.
/// `scored` is how the partition is aligned; returns how it is then.
pub(super) fn group_the_rest(
    setting: &Setting<'_>,
    (partition, density): (&mut Partition, &mut Density),
    levels: &mut Vec<Level>,
    mut scored: Scored,
) -> Scored {
    let Setting { range, tasks, .. } = setting;
    for (radius, &eps) in (setting.first_far..).zip(&range.far) {
        if tasks.len() < 2 {
            break;
        }
        let reaches = density.reaches(partition, radius);
        let grow = share_left(setting, partition, &scored) > FARTHEST;
        if !grow && share_in_pieces(setting, partition, &scored, &reaches) <= FARTHEST {
            break;
        }
        let is_asked = |node: u32| if node == NO_NODE { grow } else { reaches[node as usize] };
        let found = found(setting, partition, eps, is_asked);
        if grow {
            scored = level(setting, (partition, density), levels, (radius, eps), &found, Some(&scored));
            continue;
        }
        let n = partition.nodes.len();
        join(setting, (partition, density), (levels.len(), radius), &found, Some(&scored));
        if partition.nodes.len() > n {
            scored = partition.score(tasks, Some(&scored));
            levels.push(partition.close(eps, &scored));
        }
    }
    scored
}

/// The share of the time that groups take which reach a radius, and are not on all tasks.
fn share_in_pieces(
    Setting { tasks, .. }: &Setting<'_>,
    partition: &Partition,
    scored: &Scored,
    reaches: &[bool],
) -> f64 {
    let counts = partition.counts_by_node(tasks);
    let is_piece = |node: u32| {
        scored.live.binary_search(&node).is_ok()
            && reaches[node as usize]
            && (counts[node as usize].tasks as usize) < tasks.len()
    };
    partition.share_of_time(|node| node != NO_NODE && is_piece(node))
}

/// The share of the time that bursts in no group, or in scattered ones, take.
fn share_left(Setting { rules, tasks, .. }: &Setting<'_>, partition: &Partition, scored: &Scored) -> f64 {
    let scattered = scattered(rules, tasks, partition, scored);
    partition.share_of_time(|node| node == NO_NODE || scattered.binary_search(&node).is_ok())
}

/// The cluster of each burst at a radius, by those alone whose nodes are asked for. A burst
/// that is in none has [`NO_NODE`].
fn found(
    Setting { input, range, .. }: &Setting<'_>,
    partition: &Partition,
    eps: f64,
    is_asked: impl Fn(u32) -> bool + Sync,
) -> Vec<Option<ClusterId>> {
    let n = input.points.len();
    let bursts: Vec<u32> =
        (0..n as u32).into_par_iter().filter(|&burst| is_asked(partition.node_of(burst))).collect();
    let mut found = vec![None; n];
    for (&burst, cluster) in bursts.iter().zip(regroup(input, &bursts, eps, range.min_points)) {
        found[burst as usize] = cluster;
    }
    found
}
