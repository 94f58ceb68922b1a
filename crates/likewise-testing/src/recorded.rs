//! Recordings of a made-up program: what `likewise record` would write of it,
//! without MPI.
//!
//! Every rank splits the world into even and odd ranks; `steps` times it
//! computes, shifts a message around a ring, computes and sums up within its
//! half. Every fifth step rank 0 hears from all others in any order. At the end
//! all gather messages of many lengths, and free what they made.

use likewise_recording::calls::number;
use likewise_recording::role::{ANY, NONE};
use likewise_recording::{
    CallId, Frame, Log, Mode, Part, RankMeta, Recorder, RecorderOptions, Stand, Times, Timing, file,
};
use std::ops::Range;
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
    /// How long the longest burst of a step takes on each rank, in ns; 100,000 on the others.
    pub bursts: Vec<u64>,
    /// Return addresses: in `main` three, in `step` four, in `report` one.
    pub addresses: [u64; 8],
}

impl Default for Program {
    fn default() -> Self {
        let addresses = [0x110, 0x120, 0x130, 0x210, 0x220, 0x230, 0x240, 0x310];
        let module = ("/no/such/app".to_owned(), vec![1, 2, 3]);
        Self {
            ranks: 4,
            steps: 20,
            times: Times::All,
            with_counters: true,
            module,
            bursts: Vec::new(),
            addresses,
        }
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
        self.write_with_log(folder, None)
    }

    /// The same, with what happened on line.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write_with_log(&self, folder: &Path, log: Option<&Log>) -> Vec<Vec<Logged>> {
        let done = (0..self.ranks).map(|me| {
            let mut rank = Rank::new(self, me);
            self.begin(&mut rank, me);
            self.steps(&mut rank, me, 0..self.steps);
            self.end(&mut rank);
            (rank.part(), rank.log)
        });
        let (parts, logs): (Vec<Part>, _) = done.unzip();
        let part = file::section(0, &merged(parts));
        write(folder, &std::iter::once(part).chain(log.map(file::log_section)).collect::<Vec<_>>());
        logs
    }

    /// The same, where from step `from` on leads record for all: rank 0, which
    /// does what no other does, and rank 1, which all others stand behind. From
    /// step `to` on all record again. Returns what each rank did; what it did
    /// while it stood has the times of rank 1 in the recording.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write_led(&self, folder: &Path, from: u32, to: u32) -> Vec<Vec<Logged>> {
        self.write_behind(folder, from, to, 1)
    }

    /// The same, where all later ranks stand behind that one. Behind rank 0,
    /// they do what none of them did.
    ///
    /// # Panics
    /// If the file cannot be written.
    pub fn write_behind(&self, folder: &Path, from: u32, to: u32, lead: u32) -> Vec<Vec<Logged>> {
        let mut parts = [Vec::new(), Vec::new(), Vec::new()];
        let mut logs = Vec::new();
        for me in 0..self.ranks {
            let mut rank = Rank::new(self, me);
            self.begin(&mut rank, me);
            self.steps(&mut rank, me, 0..from);
            parts[0].push(rank.part());
            let before = rank.log.len();
            rank.is_idle = me > lead;
            self.steps(&mut rank, me, from..to);
            rank.is_idle = false;
            if me <= lead {
                let mut part = rank.part();
                if me == lead {
                    let events = (rank.log.len() - before) as u64;
                    part.stand(vec![Stand { lead, events, ranks: (lead + 1..self.ranks).collect() }]);
                }
                parts[1].push(part);
            }
            self.steps(&mut rank, me, to..self.steps);
            self.end(&mut rank);
            parts[2].push(rank.part());
            logs.push(rank.log);
        }
        let log = Log { mode: Mode::Leads, ..Log::default() };
        let numbered = (0..).zip(parts.map(merged));
        let mut sections: Vec<_> = numbered.map(|(number, part)| file::section(number, &part)).collect();
        sections.push(file::log_section(&log));
        write(folder, &sections);
        logs
    }

    fn begin(&self, rank: &mut Rank, me: u32) {
        let (n, own) = (i64::from(self.ranks), i64::from(me));
        let [init, split] = [0, 1];
        rank.call(number::Init, init, 50_000, 900, &[]);
        let half = (n + 1 - own % 2) / 2;
        rank.call(
            number::Comm_split,
            split,
            700,
            90,
            &[0, own % 2, own, 2, half, own / 2, 3, own % 2, 2, half, 0],
        );
    }

    fn steps(&self, rank: &mut Rank, me: u32, steps: Range<u32>) {
        let (n, own) = (i64::from(self.ranks), i64::from(me));
        let [irecv, isend, wait, sum, any] = [3, 4, 5, 6, 7];
        let burst = self.bursts.get(me as usize).copied().unwrap_or(100_000);
        for step in steps {
            // Steps differ by rank, so that ranks differ.
            rank.call(
                number::Irecv,
                irecv,
                burst + 10 * u64::from(me) + u64::from(step % 3),
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
    }

    fn end(&self, rank: &mut Rank) {
        let (n, own) = (i64::from(self.ranks), i64::from(rank.meta.rank));
        let [init, gather] = [0, 2];
        let mut values = vec![n];
        values.extend(1..=n);
        values.push(n);
        values.extend(0..n);
        // Of every rank it hears as much as that one tells it.
        let mut heard = vec![n];
        heard.extend(std::iter::repeat_n(own + 1, self.ranks as usize));
        heard.push(n);
        heard.extend((0..n).map(|from| from * (own + 1)));
        let all = [&values[..], &[1], &heard[..], &[1, 0]].concat();
        rank.call(number::Alltoallv, gather, 500, 400, &all);
        rank.call(number::Comm_free, gather, 5, 6, &[2]);
        rank.call(number::Finalize, init, 7, 80, &[]);
    }
}

fn merged(parts: Vec<Part>) -> Part {
    let mut parts = parts.into_iter();
    let mut whole = parts.next().expect("a rank at least");
    parts.for_each(|part| whole.merge(&part));
    whole
}

fn write(folder: &Path, sections: &[Vec<u8>]) {
    let sizes: Vec<usize> = sections.iter().map(Vec::len).collect();
    let bytes = [file::head(), sections.concat(), file::foot(&sizes)].concat();
    std::fs::create_dir_all(folder).expect("a folder");
    std::fs::write(folder.join(likewise_recording::FILE), bytes).expect("it is written");
}

/// A rank that is recorded.
struct Rank {
    recorder: Recorder,
    paths: Vec<u32>,
    log: Vec<Logged>,
    clock: u64,
    with_counters: bool,
    /// Whether a lead records for it.
    is_idle: bool,
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
        let with_counters = program.with_counters;
        Self { recorder, paths, log: Vec::new(), clock: 0, with_counters, is_idle: false, meta }
    }

    fn call(&mut self, call: CallId, path: usize, gap: u64, length: u64, values: &[i64]) {
        if !self.is_idle {
            let symbol = self.recorder.symbol(call, self.paths[path]);
            let counts = [3 * gap, 2 * gap];
            let counters = self.with_counters.then_some(&counts[..]);
            self.recorder.event(symbol, values, &Timing { gap, length, counters, ..Timing::default() });
        }
        let begin = self.clock + gap;
        self.clock = begin + length;
        self.log.push(Logged { call, values: values.to_vec(), gap, time: (begin, self.clock) });
    }

    /// What was recorded since the last one.
    fn part(&mut self) -> Part {
        self.meta.wall = self.clock + 100;
        self.recorder.take(&self.meta)
    }
}
