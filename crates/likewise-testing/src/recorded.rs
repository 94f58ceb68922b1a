//! Recordings of a made-up program: what `likewise record` would write of it,
//! without MPI.
//!
//! Every rank splits the world into even and odd ranks; `steps` times it
//! computes, shifts a message around a ring, computes and sums up within its
//! half. Every fifth step rank 0 hears from all others in any order. At the end
//! all gather messages of many lengths, and free what they made.

use likewise_recording::calls::number;
use likewise_recording::role::{ANY, NONE};
use likewise_recording::{CallId, Frame, Part, RankMeta, Recorder, RecorderOptions, Times, Timing, file};
use std::path::Path;

/// What to record.
#[derive(Clone, Debug)]
pub struct Program {
    /// How many ranks.
    pub ranks: u32,
    /// How many steps of its loop.
    pub steps: u32,
    /// How times are kept.
    pub times: Times,
    /// Whether there are counters.
    pub with_counters: bool,
    /// The executable that call paths name, and its build id.
    pub module: (String, Vec<u8>),
    /// Return addresses: in `main` three, in `step` four, in `report` one.
    pub addresses: [u64; 8],
}

impl Default for Program {
    fn default() -> Self {
        let addresses = [0x110, 0x120, 0x130, 0x210, 0x220, 0x230, 0x240, 0x310];
        let module = ("/no/such/app".to_owned(), vec![1, 2, 3]);
        Self { ranks: 4, steps: 20, times: Times::All, with_counters: true, module, addresses }
    }
}

/// An event as it was recorded.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    /// The call.
    pub call: CallId,
    /// The fields.
    pub values: Vec<i64>,
    /// The burst before.
    pub gap: u64,
    /// When it began and ended.
    pub time: (u64, u64),
}

impl Program {
    /// Records all ranks and writes `recording.likewise` into the folder.
    /// Returns the events of every rank.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write(&self, folder: &Path) -> Vec<Vec<Logged>> {
        let ranks: Vec<Rank> = (0..self.ranks).map(|rank| self.rank(rank)).collect();
        let mut whole: Option<Part> = None;
        let mut logs = Vec::new();
        for rank in ranks {
            let (part, log) = rank.done();
            logs.push(log);
            match &mut whole {
                Some(whole) => whole.merge(&part),
                None => whole = Some(part),
            }
        }
        let section = file::section(0, &whole.expect("a rank at least"));
        let bytes = [file::head(), section.clone(), file::foot(&[section.len()])].concat();
        std::fs::create_dir_all(folder).expect("a folder");
        std::fs::write(folder.join(likewise_recording::FILE), bytes).expect("it is written");
        logs
    }

    fn rank(&self, me: u32) -> Rank {
        let mut rank = Rank::new(self, me);
        let (n, own) = (i64::from(self.ranks), i64::from(me));
        let [init, split, gather, irecv, isend, wait, sum, any] = [0, 1, 2, 3, 4, 5, 6, 7];
        rank.call(number::Init, init, 50_000, 900, &[]);
        let half = (n + 1 - own % 2) / 2;
        rank.call(
            number::Comm_split,
            split,
            700,
            90,
            &[0, own % 2, own, 2, half, own / 2, 3, own % 2, 2, half, 0],
        );
        for step in 0..self.steps {
            // Steps differ by rank, so that ranks differ.
            rank.call(
                number::Irecv,
                irecv,
                100_000 + 10 * u64::from(me) + u64::from(step % 3),
                40,
                &[64, 0, n - 1, 5, 0, 0],
            );
            rank.call(number::Isend, isend, 0, 60, &[64, 0, 1, 5, 0, 1]);
            rank.call(number::Waitall, wait, 20, 300 + u64::from(step), &[2, 2, 0, 1, 0]);
            rank.call(number::Allreduce, sum, 30_000, 250, &[1, 0, 0, 2]);
            if step % 5 == 4 && me == 0 {
                for from in 1..n {
                    rank.call(number::Recv, any, 10, 100, &[8, 1, ANY, 7, 0, from, NONE]);
                }
            } else if step % 5 == 4 {
                rank.call(number::Send, any, 10, 100, &[8, 1, n - own, 7, 0]);
            }
        }
        let mut values = vec![n];
        values.extend(1..=n);
        values.push(n);
        values.extend(0..n);
        let all = [&values[..], &[1], &values[..], &[1, 0]].concat();
        rank.call(number::Alltoallv, gather, 500, 400, &all);
        rank.call(number::Comm_free, gather, 5, 6, &[2]);
        rank.call(number::Finalize, init, 7, 80, &[]);
        rank
    }
}

/// A rank that is recorded.
struct Rank {
    recorder: Recorder,
    paths: Vec<u32>,
    log: Vec<Logged>,
    clock: u64,
    with_counters: bool,
    meta: RankMeta,
}

impl Rank {
    fn new(program: &Program, rank: u32) -> Self {
        let names = ["instructions", "cycles"].map(str::to_owned);
        let counters = if program.with_counters { names.to_vec() } else { Vec::new() };
        let mut recorder = Recorder::new(&RecorderOptions { times: program.times, counters });
        let module = recorder.module(&program.module.1, &program.module.0);
        assert_eq!(recorder.datatype("MPI_DOUBLE", 8, 8), 0);
        assert_eq!(recorder.datatype("MPI_INT", 4, 4), 1);
        let [a, b, c, d, e, f, g, h] = program.addresses;
        // main calls step at `b` and report at `c`.
        let frames: [&[u64]; 8] = [&[a], &[b], &[c], &[d, b], &[e, b], &[f, b], &[g, b], &[h, c]];
        let frame = |offset: &u64| Frame { module, offset: *offset };
        let paths =
            frames.map(|frames| recorder.path(&frames.iter().map(frame).collect::<Vec<_>>())).to_vec();
        let node = format!("node{}", rank / 2);
        let meta = RankMeta { rank, size: program.ranks, start: 1_000, wall: 0, node, ..RankMeta::default() };
        Self { recorder, paths, log: Vec::new(), clock: 0, with_counters: program.with_counters, meta }
    }

    fn call(&mut self, call: CallId, path: usize, gap: u64, length: u64, values: &[i64]) {
        let symbol = self.recorder.symbol(call, self.paths[path]);
        let counts = [3 * gap, 2 * gap];
        let counters = self.with_counters.then_some(&counts[..]);
        self.recorder.event(symbol, values, &Timing { thread: 0, gap, length, counters });
        let begin = self.clock + gap;
        self.clock = begin + length;
        self.log.push(Logged { call, values: values.to_vec(), gap, time: (begin, self.clock) });
    }

    fn done(mut self) -> (Part, Vec<Logged>) {
        self.meta.wall = self.clock + 100;
        (self.recorder.take(&self.meta), self.log)
    }
}
