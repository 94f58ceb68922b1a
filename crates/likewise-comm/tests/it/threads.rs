//! Ranks as threads.

use crate::checks::{self, scattered};
use likewise_comm::{CommError, Communicator, Counted, Reduction, Traffic, run_on_threads};

#[test]
fn every_collective_is_what_its_definition_says() {
    for n_ranks in [1, 2, 3, 5, 8, 16, 100] {
        run_on_threads(n_ranks, checks::all).unwrap();
    }
}

#[test]
fn a_thousand_ranks() {
    run_on_threads::<_, CommError, _>(1000, |comm| {
        checks::sum_before(comm)?;
        checks::broadcast(comm, 1, 999)?;
        checks::gather(comm, 2, 3)?;
        let (mut sum, rank) = ([1, comm.rank() as i64], comm.rank());
        comm.all_reduce(Reduction::Sum, &mut sum)?;
        assert_eq!(sum, [1000, 999 * 500]);
        let delivered = comm.route(vec![((rank * 7) % 1000, vec![rank as u8]), (rank / 100, vec![])])?;
        let plain = (0..1000).flat_map(|from| [(from * 7 % 1000, from), (from / 100, from)]);
        assert!(delivered.iter().map(|(from, _)| *from).eq(plain.filter(|(to, _)| *to == rank).map(|p| p.1)));
        Ok(())
    })
    .unwrap();
}

#[test]
fn no_rank_sends_or_receives_more_than_the_logarithm() {
    for n_ranks in [1_usize, 2, 3, 5, 8, 16, 100, 129] {
        let traffic = run_on_threads::<_, CommError, _>(n_ranks, |comm| {
            let comm = Counted::new(comm);
            comm.phase("all_reduce");
            comm.all_reduce(Reduction::Max, &mut [comm.rank() as i64])?;
            comm.phase("broadcast");
            comm.broadcast(n_ranks / 2, &mut vec![1])?;
            comm.phase("sum_before");
            comm.sum_before(1)?;
            comm.phase("gather");
            comm.gather(0, &[1])?;
            comm.phase("all_gather");
            comm.all_gather(&[1])?;
            comm.phase("concatenate");
            comm.concatenate(&mut vec![1])?;
            comm.phase("route");
            comm.route(scattered(1, comm.rank(), n_ranks))?;
            comm.phase("all to one");
            comm.route(vec![(0, vec![7]); 50])?;
            Ok(comm.traffic())
        });
        let log = u64::from(n_ranks.next_power_of_two().trailing_zeros());
        for Traffic { phase, messages, received, .. } in traffic.unwrap().concat() {
            let (sent_bound, received_bound) = match phase.as_str() {
                "all_reduce" | "concatenate" => (log + 1, log + 1),
                "gather" => (1, log),
                "broadcast" => (log, 1),
                // With an odd number, one rank has two partners.
                "route" | "all to one" => (log, 2 * log),
                _ => (log, log),
            };
            assert!(messages <= sent_bound, "{phase} on {n_ranks} ranks: {messages} sent");
            assert!(received <= received_bound, "{phase} on {n_ranks} ranks: {received} received");
        }
    }
}

#[test]
fn what_nobody_contributes_costs_no_bytes() {
    let traffic = run_on_threads::<_, CommError, _>(100, |comm| {
        let comm = Counted::new(comm);
        let mut bytes = if comm.rank() % 40 == 7 { vec![1; 10] } else { Vec::new() };
        comm.concatenate(&mut bytes)?;
        Ok(comm.traffic())
    });
    // Three ranks have ten bytes each: all of them go down to 99 ranks, after
    // their length, and each goes up by the one-bits of 7, 47 and 87.
    let bytes: u64 = traffic.unwrap().concat().iter().map(|traffic| traffic.bytes).sum();
    assert_eq!(bytes, 99 * (8 + 30) + 10 * (3 + 5 + 5));
}

#[test]
fn long_broadcasts_are_cut_up() {
    for n_ranks in [2_usize, 7, 8, 9, 13, 64, 100] {
        for root in [0, n_ranks - 1, n_ranks / 2] {
            // Fewer bytes than ranks a part, too.
            let message: Vec<u8> = (0..(1 << 12) + 1 + root).map(|i| (i * 7 + i / 256) as u8).collect();
            let traffic = run_on_threads::<_, CommError, _>(n_ranks, |comm| {
                let comm = Counted::new(comm);
                let mut bytes = if comm.rank() == root { message.clone() } else { vec![1; 3] };
                comm.broadcast(root, &mut bytes)?;
                assert!(bytes == message, "rank {} of {n_ranks}", comm.rank());
                Ok(comm.traffic())
            });
            let traffic = traffic.unwrap().concat();
            let log = u64::from(n_ranks.next_power_of_two().trailing_zeros());
            let most = if n_ranks < 8 { log } else { 2 } * (message.len() as u64 + 100);
            assert!(traffic.iter().all(|rank| rank.bytes <= most), "{most} on {n_ranks} ranks: {traffic:?}");
            assert!(traffic.iter().all(|rank| rank.messages <= 3 * log && rank.received <= log + 2));
        }
    }
}

#[test]
fn a_failure_within_a_collective_ends_all() {
    let result = run_on_threads::<(), CommError, _>(16, |comm| {
        for round in 0.. {
            assert!(round < 3 || comm.rank() != 5, "round {round} is too much");
            comm.all_gather(&[1])?;
        }
        Ok(())
    });
    let error = result.unwrap_err();
    assert_eq!(error, CommError::Peer { rank: 5, reason: "round 3 is too much".into() });
    assert_eq!(error.to_string(), "rank 5 failed: round 3 is too much");
}

#[test]
fn traffic_is_counted_by_phase() {
    let traffic = run_on_threads::<_, CommError, _>(2, |comm| {
        let comm = Counted::new(comm);
        comm.broadcast(0, &mut vec![0; 10])?;
        comm.phase("back");
        comm.broadcast(1, &mut vec![0; 3])?;
        comm.phase("nothing");
        comm.phase("");
        comm.broadcast(0, &mut vec![0; 20])?;
        Ok(comm.traffic())
    });
    let phase = |phase: &str, messages, bytes, received, bytes_received| Traffic {
        phase: phase.into(),
        messages,
        bytes,
        received,
        bytes_received,
    };
    let traffic = traffic.unwrap();
    assert_eq!(traffic[0], [phase("back", 0, 0, 1, 11), phase("", 2, 46, 0, 0)]);
    assert_eq!(traffic[1], [phase("back", 1, 11, 0, 0), phase("", 0, 0, 2, 46)]);
}
