//! Made-up programs, as the events that their ranks would record.

use likewise_recording::calls::number;
use likewise_recording::role::{ANY, NONE};
use likewise_recording::{CallId, Cpus, Frame, RankMeta, Recorder, RecorderOptions, Timing};

/// An event before it is recorded.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Made {
    pub(crate) call: CallId,
    pub(crate) site: u64,
    pub(crate) values: Vec<i64>,
    pub(crate) thread: u32,
    pub(crate) pause: u64,
    pub(crate) gap: u64,
    pub(crate) length: u64,
}

/// Numbers that look random, always the same ones.
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

fn made(call: CallId, site: u64, values: &[i64], numbers: &mut Numbers) -> Made {
    let (gap, length) = (1000 * site + numbers.below(500), 100 + numbers.below(50));
    // The recorder is seldom at work itself.
    let pause = if numbers.below(8) == 0 { numbers.below(1 << 20) } else { 0 };
    Made { call, site, values: values.to_vec(), thread: 0, pause, gap, length }
}

/// A ring exchange with tests that take as long as they like, a wildcard
/// receive on a master, and a reduction each tenth step.
pub(crate) fn ring(rank: u32, size: u32, steps: u64) -> Vec<Made> {
    let mut numbers = Numbers(u64::from(rank) + 7);
    let mut all = vec![made(number::Init, 1, &[], &mut numbers)];
    let n = &mut numbers;
    for step in 0..steps {
        all.push(made(number::Irecv, 2, &[100, 0, i64::from(size) - 1, 5, 0, 0], n));
        all.push(made(number::Isend, 3, &[100, 0, 1, 5, 0, 1], n));
        for _ in 0..n.below(4) {
            all.push(made(number::Test, 4, &[0, 0, 0], n));
        }
        all.push(made(number::Waitall, 5, &[2, 2, 0, 1, 0], n));
        if rank == 0 {
            for _ in 1..size {
                let source = 1 + n.below(u64::from(size) - 1) as i64;
                all.push(made(number::Recv, 6, &[1, 1, ANY, step as i64, 0, source, NONE], n));
            }
        } else {
            let master = i64::from(size - rank);
            all.push(made(number::Send, 7, &[1, 1, master, step as i64, 0], n));
        }
        if step % 10 == 9 {
            all.push(made(number::Allreduce, 8, &[1, 1, 0, 0], n));
        }
    }
    all.push(made(number::Finalize, 9, &[], n));
    all
}

/// Calls in no order at all, with values of no order.
pub(crate) fn noise(seed: u64, n: u64) -> Vec<Made> {
    let mut numbers = Numbers(seed);
    let one = |numbers: &mut Numbers| {
        let site = numbers.below(7);
        let (count, root) = (numbers.below(1000) as i64, numbers.below(4) as i64);
        made(number::Bcast, site, &[count, 0, root, 0], numbers)
    };
    (0..n).map(|_| one(&mut numbers)).collect()
}

/// Records these events of a rank.
pub(crate) fn recorder_of(events: &[Made], options: &RecorderOptions) -> Recorder {
    let mut recorder = Recorder::new(options);
    let module = recorder.module(&[1, 2, 3, 4], "/bin/program");
    recorder.datatype("MPI_DOUBLE", 8, 8);
    recorder.datatype("MPI_INT", 4, 4);
    record(&mut recorder, module, events);
    recorder
}

/// Goes on recording.
pub(crate) fn record(recorder: &mut Recorder, module: u32, events: &[Made]) {
    let mut last: std::collections::BTreeMap<u32, Vec<i64>> = Default::default();
    for event in events {
        let frames = [event.site * 16, 4096].map(|offset| Frame { module, offset });
        let path = recorder.path(&frames);
        let symbol = recorder.symbol(event.call, path);
        let Made { thread, pause, gap, length, .. } = *event;
        let time = Timing { thread, pause, gap, length, counters: None };
        if last.get(&symbol) == Some(&event.values) {
            recorder.again(symbol, &time);
        } else {
            recorder.event(symbol, &event.values, &time);
            last.insert(symbol, event.values.clone());
        }
    }
}

pub(crate) fn meta(rank: u32, size: u32) -> RankMeta {
    let start = 1_700_000_000_000_000_000 + u64::from(rank) * 1_000_000;
    RankMeta {
        rank,
        size,
        start,
        wall: 5_000_000_000,
        node: format!("node{}", rank / 4),
        cpus: Cpus { first: rank % 4 * 2, last: rank % 4 * 2 + 1, n: 2 },
        ..RankMeta::default()
    }
}
