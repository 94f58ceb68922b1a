//! Leads are chosen and keys gathered, on any number of ranks.

use likewise_comm::{CommError, Communicator, Counted, run_on_threads};
use likewise_online::{Group, Mean, Method, Options, Ranklist, Signature, choose, gather};
use std::collections::BTreeMap;

fn mean(value: i64) -> Mean {
    Mean { sum: value.into(), n: 1 }
}

/// Ranks in a square: nine kinds of places.
fn stencil(rank: u32, side: u32) -> Signature {
    let kind = |x: u32| {
        if x == 0 {
            1
        } else if x + 1 == side {
            -1
        } else {
            0
        }
    };
    let (x, y) = (kind(rank % side), kind(rank / side));
    Signature { path: 7, source: mean(x), dest: mean(x + 10 * y), parameters: 0 }
}

fn chosen(size: usize, options: Options, of: impl Fn(u32) -> Signature + Sync) -> Vec<Group> {
    let groups =
        run_on_threads::<_, CommError, _>(size, |comm| choose(comm, &of(comm.rank() as u32), &options));
    let groups = groups.unwrap();
    assert!(groups.iter().all(|one| *one == groups[0]), "all ranks know the same groups");
    groups.into_iter().next().unwrap()
}

/// What must hold, whatever the method.
fn check(groups: &[Group], size: usize, k: usize, of: impl Fn(u32) -> Signature) {
    let mut ranks: Vec<u32> = groups.iter().flat_map(|group| group.ranks.iter()).collect();
    ranks.sort_unstable();
    assert_eq!(ranks, (0..size as u32).collect::<Vec<_>>(), "each rank is in one group");
    let paths: BTreeMap<u128, u32> = groups.iter().map(|group| (group.path, group.call_path)).collect();
    assert!(groups.len() <= k.max(paths.len()));
    for group in groups {
        let lead = of(group.lead);
        assert_eq!((group.path, group.source, group.dest), (lead.path, lead.source, lead.dest));
        assert_eq!(paths[&group.path], group.call_path);
        assert!(group.ranks.contains(group.lead));
        assert!(group.ranks.iter().all(|rank| of(rank).path == group.path));
    }
    assert!((0..size as u32).all(|rank| paths.contains_key(&of(rank).path)));
    assert!(groups.is_sorted_by_key(|group| group.lead));
}

#[test]
fn with_enough_leads_every_signature_has_one() {
    for size in 1..=40 {
        let of = |rank| stencil(rank, 6);
        let groups = chosen(size, Options::default(), of);
        check(&groups, size, 9, of);
        let mut known: BTreeMap<Signature, Vec<u32>> = BTreeMap::new();
        (0..size as u32).for_each(|rank| known.entry(of(rank)).or_default().push(rank));
        let mut expected: Vec<Ranklist> = known.values().map(|ranks| Ranklist::of(ranks)).collect();
        expected.sort_by_key(Ranklist::first);
        assert_eq!(groups.into_iter().map(|group| group.ranks).collect::<Vec<_>>(), expected, "{size} ranks");
    }
}

#[test]
fn no_group_is_lost_where_there_are_too_many() {
    for method in [Method::Farthest, Method::Medoids, Method::Random] {
        for size in [1, 2, 3, 7, 12, 33, 64] {
            for k in [1, 2, 5, 100] {
                let of = |rank: u32| Signature {
                    path: u128::from(rank % 3),
                    source: mean(i64::from(rank * rank % 17)),
                    dest: Mean::default(),
                    parameters: 0,
                };
                let groups = chosen(size, Options { k, method, seed: 3, parameters: false }, of);
                check(&groups, size, k, of);
                if method == Method::Farthest {
                    assert_eq!(groups[0].lead, 0);
                }
            }
        }
    }
}

#[test]
fn parameters_tell_ranks_apart_if_asked() {
    let of = |rank: u32| Signature { parameters: u64::from(rank % 2), ..Signature::default() };
    assert_eq!(chosen(9, Options::default(), of).len(), 1);
    let groups = chosen(9, Options { parameters: true, k: 1, ..Options::default() }, of);
    assert_eq!(
        groups.iter().map(|group| (group.call_path, group.lead)).collect::<Vec<_>>(),
        [(0, 0), (1, 1)]
    );
}

#[test]
fn messages_are_logarithmic() {
    for size in [2, 16, 100, 256] {
        let traffic = run_on_threads::<_, CommError, _>(size, |comm| {
            let comm = Counted::new(comm);
            choose(&comm, &stencil(comm.rank() as u32, 16), &Options::default())?;
            Ok(comm.traffic())
        });
        let log = u64::from(size.next_power_of_two().trailing_zeros());
        for rank in traffic.unwrap().concat() {
            assert!(rank.messages <= 2 * log + 2 && rank.received <= 2 * log + 2, "{size} ranks: {rank:?}");
            assert!(rank.bytes < 3000 * (log + 1), "{size} ranks: {rank:?}");
        }
    }
}

#[test]
fn keys_come_with_their_ranks() {
    let keys = run_on_threads::<_, CommError, _>(50, |comm| {
        let key = ["even", "odd"][comm.rank() % 2];
        gather(comm, if comm.rank() == 13 { b"" } else { key.as_bytes() })
    });
    let keys = keys.unwrap();
    let ranks = |of: fn(&u32) -> bool| Ranklist::of(&(0..50).filter(of).collect::<Vec<_>>());
    let expected = [
        (Vec::new(), Ranklist::of(&[13])),
        (b"even".to_vec(), ranks(|rank| rank % 2 == 0)),
        (b"odd".to_vec(), ranks(|rank| rank % 2 == 1 && *rank != 13)),
    ];
    assert_eq!(keys[0], expected);
    assert!(keys[1..].iter().all(Vec::is_empty));
}
