//! Replays by hand, and beside a fixed point of the definition.

use proptest::prelude::*;

use super::clock::{Place, place};
use super::*;

fn burst(begin: u64, end: u64, now: u64) -> Stretch {
    Stretch { begin, end, now }
}

fn found(run: &Run) -> Replayed {
    replay(run).expect("a run")
}

#[test]
fn a_receiver_waits_for_a_slower_sender() {
    // Thread 0 computes 0–10, sends at 11; thread 1 computes 0–10, waits until
    // 13 and computes until 20.
    let run = |now: u64, other: u64| Run {
        end: 20,
        lasts: Vec::new(),
        threads: vec![vec![burst(0, 10, now), burst(12, 20, 8)], vec![burst(0, 10, other), burst(13, 20, 7)]],
        messages: vec![Message { from: 0, sent: 11, to: 1, received: 13 }],
        collectives: Vec::new(),
    };
    let same = found(&run(10, 10));
    assert_eq!((same.end, same.clocks[1].until(13)), (20, 13));
    let slower = found(&run(30, 10));
    assert_eq!((slower.clocks[0].until(11), slower.clocks[1].until(13), slower.end), (31, 33, 40));
    assert_eq!(slower.clocks[1].until(10), 10, "it enters when it did, and waits");
    let faster = found(&run(2, 10));
    // The message is there when the receiver comes; the 2 of the transfer stay.
    assert_eq!((faster.clocks[0].until(11), faster.clocks[1].until(13), faster.end), (3, 12, 19));
    let late = found(&run(10, 25));
    assert_eq!((late.clocks[1].until(10), late.clocks[1].from(13)), (25, 27));
}

#[test]
fn both_ways_at_once_is_no_circle() {
    // Each sends at 11 and 12, and has the other's message at 14.
    let run = |now: u64| Run {
        end: 20,
        lasts: Vec::new(),
        threads: vec![vec![burst(0, 10, now), burst(14, 20, 6)], vec![burst(0, 10, 10), burst(14, 20, 6)]],
        messages: vec![
            Message { from: 0, sent: 11, to: 1, received: 14 },
            Message { from: 1, sent: 12, to: 0, received: 14 },
        ],
        collectives: Vec::new(),
    };
    assert_eq!(found(&run(10)).end, 20);
    let slower = found(&run(50));
    assert_eq!((slower.clocks[0].until(11), slower.clocks[1].until(12)), (51, 12), "sent before it waits");
    // What followed the last of both sends, 2, stays.
    assert_eq!((slower.clocks[0].until(14), slower.clocks[1].until(14)), (53, 53));
    assert_eq!(slower.n_unresolved, 0);
}

#[test]
fn collectives_wait_for_whom_they_must() {
    let run = |pattern, now: [u64; 3]| Run {
        end: 30,
        lasts: Vec::new(),
        threads: now.map(|now| vec![burst(0, 10, now), burst(15, 30, 15)]).to_vec(),
        messages: Vec::new(),
        collectives: vec![Collective {
            members: (0..3).map(|thread| Member { thread, enter: 10, exit: 15 }).collect(),
            pattern,
        }],
    };
    let ends = |pattern, now| -> Vec<u64> {
        let found = found(&run(pattern, now));
        found.clocks.iter().map(|clock| clock.until(30)).collect()
    };
    assert_eq!(ends(Pattern::All, [10, 10, 10]), [30, 30, 30]);
    assert_eq!(ends(Pattern::All, [10, 60, 10]), [80, 80, 80]);
    assert_eq!(ends(Pattern::FromRoot(1), [10, 60, 10]), [80, 80, 80]);
    assert_eq!(ends(Pattern::FromRoot(0), [10, 60, 10]), [30, 80, 30]);
    assert_eq!(ends(Pattern::ToRoot(0), [10, 60, 10]), [80, 80, 30]);
}

#[test]
fn what_cannot_be_is_told() {
    let run = |bursts: Vec<Stretch>| Run { end: 10, threads: vec![bursts], ..Run::default() };
    let overlap = replay(&run(vec![burst(0, 5, 5), burst(4, 6, 2)]));
    assert_eq!(overlap, Err(ReplayError::Overlap { thread: 0, burst: 1 }));
    assert_eq!(replay(&run(vec![burst(0, 11, 5)])), Err(ReplayError::Overlap { thread: 0, burst: 0 }));
    assert_eq!(replay(&run(vec![burst(0, 5, u64::MAX / 2)])), Err(ReplayError::TooLong));
    assert_eq!(found(&Run { end: 7, ..Run::default() }).end, 7);
}

/// Gaps by the definition, again and again until nothing changes.
fn slow(run: &Run) -> Vec<Clock> {
    let plan = order::Plan::of(run);
    let (mut clocks, _) = plan.solve(&Run { end: run.end, threads: run.threads.clone(), ..Run::default() });
    for clock in &mut clocks {
        clock.gaps.iter_mut().for_each(|gap| (gap.new_begin, gap.new_last) = (0, 0));
    }
    // The gap in which somebody has something at `until`, if it could wait for
    // what happened at `time`.
    let gap_of = |thread: usize, until: u64, time: u64| {
        let bursts = &run.threads[thread];
        let (Place::Gap(gap) | Place::Burst(gap)) = place(bursts, until);
        let end = bursts.get(gap).map_or(run.end, |burst| burst.begin);
        (time <= until && time <= end).then_some(gap)
    };
    loop {
        let before = clocks.clone();
        let when = |thread: usize, time: u64| before[thread].until(time);
        for (thread, clock) in clocks.iter_mut().enumerate() {
            for gap in 0..clock.gaps.len() {
                let mut latest = 0;
                for m in run.messages.iter().filter(|m| m.to == thread) {
                    if gap_of(thread, m.received, m.sent) == Some(gap) {
                        latest = latest.max(when(m.from, m.sent));
                    }
                }
                for Collective { members, pattern } in &run.collectives {
                    for (at, me) in members.iter().enumerate().filter(|(_, me)| me.thread == thread) {
                        let of: Vec<&Member> = match *pattern {
                            Pattern::All => members.iter().collect(),
                            Pattern::FromRoot(root) if root != at => vec![&members[root]],
                            Pattern::ToRoot(root) if root == at => members.iter().collect(),
                            _ => continue,
                        };
                        let last = of.iter().map(|m| m.enter).max().unwrap();
                        if gap_of(thread, me.exit, last) == Some(gap) {
                            latest = latest.max(of.iter().map(|m| when(m.thread, m.enter)).max().unwrap());
                        }
                    }
                }
                let this = &mut clock.gaps[gap];
                this.new_last = latest.max(this.new_begin + this.own - this.begin);
                let end = this.new_end();
                if let Some(burst) = run.threads[thread].get(gap) {
                    clock.gaps[gap + 1].new_begin = end + burst.now;
                }
            }
        }
        if clocks == before {
            return clocks;
        }
    }
}

/// A run whose times are all different, so that nothing waits in a circle.
fn runs() -> impl Strategy<Value = Run> {
    let thread = prop::collection::vec((1u64..20, 1u64..20, 0u64..60), 1..6);
    let threads = prop::collection::vec(thread, 2..5);
    let message = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u64..300, 1u64..60);
    let messages = prop::collection::vec(message, 0..12);
    let collective = (0u64..250, prop::collection::vec((0u64..40, 1u64..40), 5), 0usize..5);
    (threads, messages, prop::collection::vec(collective, 0..4)).prop_map(
        |(threads, messages, collectives)| {
            let n = threads.len();
            // Sends stand at times ≡ 1 + thread of 16, all else at others.
            let threads: Vec<Vec<Stretch>> = threads
                .into_iter()
                .map(|steps| {
                    let mut time = 0;
                    steps
                        .into_iter()
                        .map(|(gap, length, now)| {
                            let begin = time + 16 * gap;
                            time = begin + 16 * length;
                            burst(begin, time, 16 * now)
                        })
                        .collect()
                })
                .collect();
            let end = 16 * 600;
            let messages: Vec<Message> = messages
                .into_iter()
                .map(|(from, to, sent, later)| {
                    let from = from.index(n);
                    let to = (from + 1 + to.index(n - 1)) % n;
                    Message { from, sent: 16 * sent + 1 + from as u64, to, received: 16 * (sent + later) }
                })
                .collect();
            let collectives: Vec<Collective> = collectives
                .into_iter()
                .map(|(at, times, root)| {
                    let member = |(thread, &(enter, more)): (usize, &(u64, u64))| {
                        let enter = 16 * (at + enter) + 6 + thread as u64;
                        Member { thread, enter, exit: 16 * (at + 40 + more) }
                    };
                    let members: Vec<Member> = times[..n].iter().enumerate().map(member).collect();
                    let pattern = match root % 3 {
                        0 => Pattern::All,
                        1 => Pattern::FromRoot(root % n),
                        _ => Pattern::ToRoot(root % n),
                    };
                    Collective { members, pattern }
                })
                .collect();
            let mut lasts: Vec<u64> =
                threads.iter().map(|bursts: &Vec<Stretch>| bursts.last().map_or(0, |b| b.end)).collect();
            for message in &messages {
                lasts[message.from] = lasts[message.from].max(message.sent);
                lasts[message.to] = lasts[message.to].max(message.received);
            }
            for member in collectives.iter().flat_map(|of| &of.members) {
                lasts[member.thread] = lasts[member.thread].max(member.exit);
            }
            Run { end, lasts, threads, messages, collectives }
        },
    )
}

proptest! {
    #[test]
    fn equals_the_fixed_point_of_the_definition(run in runs()) {
        let found = found(&run);
        prop_assert_eq!(found.n_unresolved, 0);
        let slow = slow(&run);
        // Each thread is done at its last; the run ends as long after the last of these.
        let new = run.lasts.iter().zip(&slow).map(|(&last, clock)| clock.until(last)).max();
        let of_all = run.lasts.iter().max();
        let end = new.zip(of_all).map_or(run.end, |(new, of_all)| new + run.end - of_all);
        prop_assert_eq!(found.end, end);
        let expected: Vec<Clock> = slow.into_iter().map(|clock| clock.ending((run.end, end))).collect();
        prop_assert_eq!(found.clocks, expected);
    }

    #[test]
    fn old_durations_give_the_old_run(mut run in runs()) {
        run.threads.iter_mut().flatten().for_each(|b| b.now = b.end - b.begin);
        let found = found(&run);
        prop_assert_eq!(found.end, run.end);
        for clock in &found.clocks {
            for time in (0..run.end).step_by(7) {
                prop_assert_eq!((clock.until(time), clock.from(time)), (time, time));
            }
        }
    }

    #[test]
    fn time_goes_on_and_who_waits_goes_on_after_the_send(run in runs()) {
        let found = found(&run);
        for clock in &found.clocks {
            let times: Vec<u64> = (0..=run.end).step_by(5).map(|time| clock.until(time)).collect();
            prop_assert!(times.is_sorted());
            for b in &clock.bursts {
                prop_assert_eq!(clock.until(b.end) - clock.from(b.begin), b.now);
            }
        }
        // Whoever waits for a message goes on after it left.
        for m in &run.messages {
            let clock = &found.clocks[m.to];
            if let Place::Gap(gap) = place(&clock.bursts, m.received) {
                prop_assert!(clock.gaps[gap].new_end() >= found.clocks[m.from].until(m.sent), "{:?}", m);
            }
        }
    }
}

#[test]
fn who_is_done_early_holds_up_nobody() {
    let burst = |end: u64, now: u64| vec![Stretch { begin: 0, end, now }];
    let run = |a: u64, b: u64| Run {
        end: 32,
        lasts: vec![10, 30],
        threads: vec![burst(10, a), burst(30, b)],
        ..Run::default()
    };
    for (a, b, end) in [(10, 30, 32), (20, 30, 32), (40, 30, 42), (10, 15, 17), (10, 5, 12)] {
        let replayed = found(&run(a, b));
        assert_eq!(replayed.end, end, "{a} and {b}");
        for clock in &replayed.clocks {
            assert_eq!((clock.until(32), clock.from(32)), (end, end));
        }
        // Both are idle from their last until the end, and in between.
        assert!(replayed.clocks[0].until(31) <= end);
    }
}
