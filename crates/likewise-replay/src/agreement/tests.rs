use super::*;
use likewise_comm::run_on_threads;
use likewise_recording::{Frame, RankMeta, Recorder, RecorderOptions, Timing};

type Made = (CallId, Vec<i64>);

/// A recording of ranks that make these calls.
fn recording(ranks: &[Vec<Made>]) -> Recording {
    let part = |(rank, calls): (u32, &Vec<Made>)| {
        let mut recorder = Recorder::new(&RecorderOptions::default());
        let module = recorder.module(&[1], "/bin/program");
        recorder.datatype("MPI_BYTE", 1, 1);
        let path = recorder.path(&[Frame { module, offset: 16 }]);
        for (call, values) in calls {
            let symbol = recorder.symbol(*call, path);
            recorder.event(symbol, values, &Timing { gap: 10, length: 10, ..Timing::default() });
        }
        let meta = RankMeta { rank, size: ranks.len() as u32, ..RankMeta::default() };
        (0, recorder.take(&meta))
    };
    Recording::of_parts((0..).zip(ranks).map(part).collect(), None)
}

/// What each rank leaves out, by its events.
fn left_out(ranks: &[Vec<Made>]) -> Result<Vec<Vec<LeftOut>>, String> {
    let recording = recording(ranks);
    let one = |comm: &likewise_comm::ThreadComm| -> Result<Vec<LeftOut>, ReplayError> {
        let rank = comm.rank() as u32;
        let heard = crate::lookahead::Lookahead::of(&recording, rank)?.heard;
        let mut agreement = Agreement::of(&recording, comm, &recording.datatypes(rank), &heard)?;
        let mut events = recording.events(rank);
        let mut all = Vec::new();
        while let Some(event) = events.next().expect("whole") {
            let call = recording.symbols()[event.symbol as usize].call;
            all.push(agreement.next(call, event));
        }
        Ok(all)
    };
    run_on_threads(ranks.len(), one).map_err(|error| error.to_string())
}

/// Between `MPI_Init` and `MPI_Finalize`.
fn program(calls: &[(CallId, &[i64])]) -> Vec<Made> {
    let own = calls.iter().map(|(call, values)| (*call, values.to_vec()));
    let (init, finalize) = ((number::Init, Vec::new()), (number::Finalize, Vec::new()));
    std::iter::once(init).chain(own).chain([finalize]).collect()
}

/// Which events of each rank have something left out, counted from 1.
fn places(ranks: &[Vec<Made>]) -> Vec<Vec<usize>> {
    let of = |all: Vec<LeftOut>| {
        all.iter().enumerate().filter(|(_, one)| !one.is_nothing()).map(|(at, _)| at).collect()
    };
    left_out(ranks).expect("they agree").into_iter().map(of).collect()
}

// Count, type, peer (relative), tag, communicator (and request).
const SEND: (CallId, &[i64]) = (number::Send, &[8, 0, 1, 5, 0]);
const RECV: (CallId, &[i64]) = (number::Recv, &[8, 0, 1, 5, 0, NONE, NONE]);
const BARRIER: (CallId, &[i64]) = (number::Barrier, &[0]);
const BCAST: (CallId, &[i64]) = (number::Bcast, &[8, 0, 0, 0]);

#[test]
fn what_fits_is_left_alone() {
    let ring: Vec<Vec<Made>> = (0..4)
        .map(|_| {
            program(&[
                (number::Irecv, &[8, 0, 3, 5, 0, 0]),
                (number::Isend, &[8, 0, 1, 5, 0, 1]),
                (number::Waitall, &[2, 2, 0, 1, 0]),
                (number::Sendrecv, &[8, 0, 1, 2, 9, 0, 3, 2, 0, NONE, NONE]),
                BARRIER,
            ])
        })
        .collect();
    assert_eq!(places(&ring), vec![Vec::<usize>::new(); 4]);
}

#[test]
fn messages_without_another_side_are_left_out() {
    let more = [program(&[SEND, SEND, SEND]), program(&[RECV, RECV])];
    assert_eq!(places(&more), [vec![1, 2, 3], vec![1, 2]]);
    let other_tag = [program(&[SEND, (number::Send, &[8, 0, 1, 6, 0])]), program(&[RECV, RECV])];
    assert_eq!(places(&other_tag), [vec![1, 2], vec![1, 2]]);
    // One half of a call; and the same of who only looks.
    let half = [
        program(&[(number::Sendrecv, &[8, 0, 1, 5, 8, 0, 1, 5, 0, NONE, NONE])]),
        program(&[(number::Probe, &[1, 5, 0, NONE, NONE]), RECV, (number::Send, &[8, 0, 1, 9, 0])]),
    ];
    let all = left_out(&half).expect("they agree");
    assert_eq!((all[0][1].send, all[0][1].receive), (false, true));
    assert!(!all[1][1].receive && !all[1][2].receive && all[1][3].send);
}

#[test]
fn wildcards_and_persistent_requests_count_as_what_they_became() {
    let wild = [
        program(&[SEND]),
        program(&[
            (number::Irecv, &[8, 0, ANY, ANY, 0, 0]),
            (number::Wait, &[0, 2, 1, 5]),
            (number::Recv, &[8, 0, ANY, 5, 0, 1, NONE]),
        ]),
    ];
    assert_eq!(places(&wild), [vec![1], vec![1, 3]]);
    let start = (number::Start, &[0][..]);
    let persistent = [
        program(&[(number::Send_init, &[8, 0, 1, 5, 0, 0]), start, start, start]),
        program(&[(number::Recv_init, &[8, 0, 1, 5, 0, 0]), start, start]),
    ];
    assert_eq!(places(&persistent), [vec![2, 3, 4], vec![2, 3]]);
    assert_eq!(left_out(&persistent).expect("they agree")[0][4].starts, [0]);
}

#[test]
fn collectives_are_left_out_where_a_rank_lacks_them() {
    let more =
        [program(&[BARRIER, BARRIER, BARRIER]), program(&[BARRIER, BARRIER]), program(&[BARRIER, BARRIER])];
    assert_eq!(places(&more), [vec![1, 2, 3], vec![1, 2], vec![1, 2]]);
    // In another order they would wait for each other for ever.
    let order = [program(&[BARRIER, BCAST]), program(&[BCAST, BARRIER])];
    assert_eq!(places(&order), [vec![1, 2], vec![1, 2]]);
    let none = [program(&[BARRIER]), program(&[])];
    assert_eq!(places(&none), [vec![1], vec![]]);
    // Each rank has its own MPI_COMM_SELF.
    let own = [program(&[(number::Barrier, &[1])]), program(&[])];
    assert_eq!(places(&own), [Vec::<usize>::new(), vec![]]);
}

#[test]
fn who_makes_other_communicators_cannot_be_replayed() {
    // Parent, new one, its rank, size and members.
    let dup = (number::Comm_dup, &[0, 2, 2, 0, 3, 0, 1, 2, 0][..]);
    let error = left_out(&[program(&[dup]), program(&[])]).expect_err("one has it alone");
    assert!(error.contains("do not make the same communicators"), "{error}");
    assert!(places(&[program(&[dup]), program(&[dup])]).iter().all(Vec::is_empty));
}

/// After leaving out, every message of random programs has its other side.
#[test]
fn what_is_left_fits() {
    for seed in 0..50_u64 {
        let mut state = seed;
        let mut below = |n: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % n
        };
        let n = 3 + below(3);
        let mut ranks: Vec<Vec<Made>> = Vec::new();
        for _ in 0..n {
            let mut calls = vec![(number::Init, Vec::new())];
            for _ in 0..below(40) {
                let (peer, tag) = (1 + below(n - 1) as i64, below(2) as i64);
                calls.push(match below(3) {
                    0 => (number::Send, vec![8, 0, peer, tag, 0]),
                    1 => (number::Recv, vec![8, 0, peer, tag, 0, NONE, NONE]),
                    _ => (number::Barrier, vec![0]),
                });
            }
            calls.push((number::Finalize, Vec::new()));
            ranks.push(calls);
        }
        let all = left_out(&ranks).expect("they agree");
        let mut balance: BTreeMap<(u64, u64, i64), i64> = BTreeMap::new();
        let mut barriers: BTreeMap<u64, u64> = (0..n).map(|rank| (rank, 0)).collect();
        for (rank, (calls, left_out)) in (0..).zip(ranks.iter().zip(&all)) {
            for ((call, values), left_out) in calls.iter().zip(left_out) {
                let peer = values.get(2).map_or(0, |peer| (rank + *peer as u64) % n);
                match *call {
                    number::Send if !left_out.send => {
                        *balance.entry((rank, peer, values[3])).or_default() += 1
                    }
                    number::Recv if !left_out.receive => {
                        *balance.entry((peer, rank, values[3])).or_default() -= 1
                    }
                    number::Barrier if !left_out.collective => *barriers.entry(rank).or_default() += 1,
                    _ => {}
                }
            }
        }
        assert!(balance.values().all(|left| *left == 0), "seed {seed}: {balance:?}");
        assert!(barriers.values().all(|n| *n == barriers[&0]), "seed {seed}: {barriers:?}");
    }
}
