//! Runs in which, after some steps, leads record for all.

use crate::programs::{Made, Numbers, meta, recorder_of};
use crate::whole::check;
use likewise_recording::calls::number;
use likewise_recording::role::{NONE, PROC_NULL};
use likewise_recording::{
    CallId, Frame, Log, Mode, Nest, Part, Recorder, RecorderOptions, Recording, Stand, Timing, file,
    unfinished,
};
use proptest::prelude::*;

/// How the made-up programs of a run differ.
#[derive(Clone, Debug)]
struct Run {
    size: u32,
    /// Steps before leads are chosen, while leads record, and afterwards.
    steps: [u64; 3],
    leads: Vec<u32>,
    /// Calls in a step, each with a seed of its own.
    calls: Vec<u64>,
    times: likewise_recording::Times,
}

/// The datatypes of a rank: odd ones have made another one before.
const TYPES: [&str; 3] = ["MPI_DOUBLE", "MPI_INT", "vector(3, 2, 5) of MPI_INT"];

fn place_of(rank: u32, datatype: usize) -> i64 {
    if rank % 2 == 1 { [2, 0, 3][datatype] } else { datatype as i64 }
}

fn recorder(run: &Run, rank: u32) -> Recorder {
    let mut recorder = Recorder::new(&RecorderOptions { times: run.times, ..RecorderOptions::default() });
    recorder.module(&[1, 2, 3, 4], "/bin/program");
    let of = |datatype: usize| (TYPES[datatype], 8 - datatype as i64, 8);
    let order = if rank % 2 == 1 { vec![1, 9, 0, 2] } else { vec![0, 1, 2] };
    for datatype in order {
        let (name, size, extent) = if datatype == 9 { ("odd", 3, 3) } else { of(datatype) };
        recorder.datatype(name, size, extent);
    }
    recorder.string(&format!("/tmp/file-{rank}"));
    recorder
}

/// What a rank calls in a step. All ranks have the same call paths.
fn step(run: &Run, rank: u32, step: u64) -> Vec<Made> {
    let (me, size, turn) = (i64::from(rank), i64::from(run.size), step as i64);
    let mut all = Vec::new();
    for (site, seed) in (10..).zip(&run.calls) {
        let here = |n: u64| ((u64::from(rank) + 1) * (seed + 3) % n) as i64;
        let datatype = place_of(rank, (*seed % 3) as usize);
        let (call, values): (CallId, Vec<i64>) = match seed % 8 {
            // The last rank has no neighbour.
            0 => {
                let peer = if rank + 1 == run.size { PROC_NULL } else { 1 };
                (number::Isend, vec![here(50), datatype, peer, turn % 4, here(3), 0])
            }
            1 => (number::Irecv, vec![here(50), datatype, size - 1 - me, 7, 0, here(2)]),
            2 => (number::Waitall, vec![2, 2, here(2), 1 - here(2), 0]),
            // As many counts as there are ranks in its communicator.
            3 => {
                let n = 1 + here(4);
                let counts: Vec<i64> = (0..n).map(|at| me * 10 + at).collect();
                let list = |values: &[i64]| [&[n], values].concat();
                let (a, b) = (list(&counts), list(&vec![me; n as usize]));
                (number::Allgatherv, [vec![here(9), datatype], a, b, vec![datatype, here(3)]].concat())
            }
            // Where a rank writes goes on from step to step.
            4 => (number::File_write_at, vec![0, me * 1000 + turn * 1000 * size, here(20), datatype]),
            5 => (number::Recv, vec![here(5), datatype, here(4), turn, 0, NONE, NONE]),
            6 => (number::Bcast, vec![[here(5), 64][(turn % 2) as usize], datatype, me % 2, here(2)]),
            _ => (number::File_open, vec![0, 0, 2, -1, here(4)]),
        };
        let (gap, length) = (1000 * site + step, 100 + step % 7);
        // More calls at one place, some steps.
        let times = if seed % 5 == 0 { 1 + turn % 2 } else { 1 };
        for _ in 0..times {
            all.push(Made { call, site, values: values.clone(), thread: 0, pause: 0, gap, length });
        }
    }
    all
}

fn record(recorder: &mut Recorder, events: &[Made]) {
    for event in events {
        let frames = [event.site * 16, 4096].map(|offset| Frame { module: 0, offset });
        let path = recorder.path(&frames);
        let symbol = recorder.symbol(event.call, path);
        let Made { thread, gap, length, .. } = *event;
        let time = Timing { thread, gap, length, ..Timing::default() };
        recorder.event(symbol, &event.values, &time);
    }
}

fn merged(parts: Vec<Part>) -> Part {
    let mut parts = parts.into_iter().map(|part| Part::decode(&part.encode()).unwrap());
    let mut first = parts.next().unwrap();
    parts.for_each(|part| first.merge(&part));
    Part::decode(&first.encode()).unwrap()
}

/// What each rank calls, and the three parts that come of it: of all, of leads,
/// of all. Every third rank leaves before the leads' last step.
fn recorded(run: &Run) -> (Vec<Vec<Made>>, Vec<Part>) {
    let mut parts = [Vec::new(), Vec::new(), Vec::new()];
    let mut programs = Vec::new();
    let [first, second, third] = run.steps;
    let of_lead = |rank: u32| run.leads[rank as usize % run.leads.len()];
    for rank in 0..run.size {
        let mut recorder = recorder(run, rank);
        let of = |steps: std::ops::Range<u64>| steps.flat_map(|at| step(run, rank, at)).collect::<Vec<_>>();
        let leaves = first + second - u64::from(rank % 3 == 2 && !run.leads.contains(&rank));
        let phases = [of(0..first), of(first..first + second), of(first + second..first + second + third)];
        record(&mut recorder, &phases[0]);
        parts[0].push(recorder.take(&meta(rank, run.size)));
        if run.leads.contains(&rank) {
            record(&mut recorder, &phases[1]);
            let mut part = recorder.take(&meta(rank, run.size));
            let mut stands = Vec::new();
            for early in [0, 1] {
                let behind = |other: &u32| {
                    let is_early = u64::from(other % 3 == 2) == early;
                    !run.leads.contains(other) && of_lead(*other) == rank && is_early
                };
                let events = of(first..first + second - early).len() as u64;
                stands.push(Stand { lead: rank, events, ranks: (0..run.size).filter(behind).collect() });
            }
            part.stand(stands);
            parts[1].push(part);
        } else {
            record(&mut recorder, &of(leaves..first + second));
        }
        record(&mut recorder, &phases[2]);
        parts[2].push(recorder.take(&meta(rank, run.size)));
        programs.push(phases.concat());
    }
    (programs, parts.map(merged).to_vec())
}

fn regular() -> Run {
    Run {
        size: 9,
        steps: [8, 40, 3],
        leads: vec![3, 0, 8],
        calls: vec![0, 1, 2, 3, 4, 5, 6, 7, 16, 25],
        times: likewise_recording::Times::Histogram,
    }
}

fn all_there(recording: &Recording, programs: &[Vec<Made>]) {
    for (rank, program) in (0..).zip(programs) {
        check(recording, rank, program, false);
        let meta = recording.ranks().iter().find(|meta| meta.rank == rank).unwrap();
        assert_eq!(meta.events, program.len() as u64);
        let mut events = recording.events(rank);
        let mut stood = 0;
        while let Some(event) = events.next().unwrap() {
            assert!(!event.lent, "{event:?}");
            stood += u64::from(event.lead.is_some());
        }
        assert_eq!(recording.stood(rank), stood);
        assert_eq!(recording.is_measured(rank), stood == 0);
        assert_eq!(recording.lead_of(rank).is_some(), stood > 0);
        assert_eq!(called(&recording.nest(rank).unwrap()), program.len() as u64);
    }
}

fn called(nest: &[Nest]) -> u64 {
    nest.iter().map(|node| if let Nest::Loop(inner, ..) = node { called(inner) } else { n_of(node) }).sum()
}

fn n_of(node: &Nest) -> u64 {
    if let Nest::Call(_, n) = node { *n } else { 0 }
}

#[test]
fn events_of_all_ranks_come_back_from_those_of_leads() {
    let run = regular();
    let (programs, parts) = recorded(&run);
    let recording = Recording::of_parts((0..).zip(parts.clone()).collect(), None);
    all_there(&recording, &programs);
    assert!(recording.is_measured(3) && !recording.is_measured(4));
    assert_eq!(recording.lead_of(4), Some(0));
    // The leads' times are those of who stands behind them.
    assert_eq!(times(&recording, 0), times(&recording, 4));
    for rank in 0..run.size {
        let known = recording.datatypes(rank);
        (0..3).for_each(|of| assert_eq!(known[place_of(rank, of) as usize].name, TYPES[of]));
    }
}

/// The bursts of the leads' part.
fn times(recording: &Recording, rank: u32) -> Vec<u64> {
    let mut events = recording.events(rank);
    let mut all = Vec::new();
    while let Some(event) = events.next().unwrap() {
        all.push(event.gap);
    }
    let before: usize = (0..8).map(|at| step(&regular(), rank, at).len()).sum();
    all[before..before + 300].to_vec()
}

#[test]
fn what_is_not_known_of_a_rank_is_said_to_be_its_leads() {
    let of = |rank: u32, values: &[[i64; 4]]| {
        let event = |values: &[i64; 4]| Made {
            call: number::Bcast,
            site: 1,
            values: values.to_vec(),
            thread: 0,
            pause: 0,
            gap: 10,
            length: 10,
        };
        let events: Vec<Made> = values.iter().map(event).collect();
        let mut recorder = recorder_of(&events, &RecorderOptions::default());
        if rank == 0 {
            recorder.datatype("derived", 5, 6);
        }
        recorder.take(&meta(rank, 2))
    };
    // Of the same count one rank has two, and a root that is never the same.
    let told = |times: usize| {
        let mut first = of(0, &[[5, 0, 1, 0], [5, 0, 2, 0], [5, 0, 3, 0]].repeat(times));
        first.merge(&of(1, &[[6, 1, 4, 0], [7, 1, 9, 0], [6, 1, 2, 0]].repeat(times)));
        let mut second = of(0, &[[5, 0, 1, 0], [5, 0, 77, 0], [5, 2, 1, 0], [5, 0, 1, 0]]);
        second.stand(vec![Stand { lead: 0, events: 4, ranks: vec![1] }]);
        let recording = Recording::of_parts(vec![(0, first), (1, second)], None);
        assert_eq!(recording.datatypes(1)[2].name, "derived");
        let mut events = recording.events(1);
        let mut seen = Vec::new();
        while let Some(event) = events.next().unwrap() {
            seen.push((event.values.clone(), event.lent));
        }
        seen.split_off(3 * times)
    };
    let values = [vec![6, 1, 4, 0], vec![5, 1, 77, 0], vec![5, 2, 4, 0], vec![6, 1, 4, 0]];
    let with = |lent: [bool; 4]| values.clone().into_iter().zip(lent).collect::<Vec<_>>();
    // What was seen once shows nothing. After something new, nothing is sure.
    assert_eq!(told(1), with([true; 4]));
    assert_eq!(told(2), with([false, true, true, true]));
}

#[test]
fn a_file_that_is_cut_has_all_ranks_up_to_there() {
    let (programs, parts) = recorded(&regular());
    let log = |n: u64| Log { mode: Mode::Leads, bytes: vec![n; 9], ..Log::default() };
    let mut bytes = file::head();
    let mut ends = Vec::new();
    for (number, part) in (0..).zip(&parts) {
        bytes.extend(file::section(number * 10, part));
        ends.push((bytes.len(), number as usize + 1, u64::from(number)));
        bytes.extend(file::log_section(&log(u64::from(number) + 1)));
        ends.push((bytes.len(), number as usize + 1, u64::from(number) + 1));
    }
    for (end, n_parts, n_logs) in ends {
        let found = file::read(&bytes[..end]).unwrap();
        assert_eq!((found.parts.len(), found.log), (n_parts, (n_logs > 0).then(|| log(n_logs))));
        let recording = Recording::of_parts(found.parts, None);
        for (rank, program) in (0..).zip(&programs) {
            let n = recording.ranks()[rank as usize].events as usize;
            check(&recording, rank, &program[..n], false);
        }
        assert!(file::read(&bytes[..end - 1]).map_or(true, |found| found.broken.is_some()));
    }
}

#[test]
fn sampled_effort_comes_back() {
    let (_, parts) = recorded(&regular());
    let windows: Vec<Vec<u8>> = (1..4).map(|n| vec![n; 5_000]).collect();
    let strata = windows.iter().map(|window| file::strata_section(window));
    let bytes: Vec<_> = [file::head(), file::section(0, &parts[0])].into_iter().chain(strata).collect();
    let whole = [bytes.concat(), file::foot(&[0])].concat();
    for bytes in [&file::together(&bytes.concat()).unwrap(), &whole] {
        let found = file::read(bytes).unwrap();
        assert_eq!((found.parts.len(), &found.strata, found.broken), (1, &windows, None));
    }
    let path = std::env::temp_dir().join(format!("likewise-strata-{}", std::process::id()));
    std::fs::write(&path, bytes.concat()).unwrap();
    let told =
        (Recording::strata_of(&path), Recording::open(&path).map(|recording| recording.strata().to_vec()));
    std::fs::remove_file(path).unwrap();
    assert_eq!((told.0.unwrap(), told.1.unwrap()), (windows.clone(), windows.clone()));
    // Nothing but effort, cut in the last section.
    let bytes = [vec![file::head()], bytes[2..].to_vec()].concat().concat();
    let found = file::read(&bytes[..bytes.len() - 1]).unwrap();
    assert!(found.parts.is_empty() && found.strata == windows[..2] && found.broken.is_some());
}

#[test]
fn what_a_killed_run_has_left_is_read() {
    let folder = std::env::temp_dir().join(format!("likewise-online-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (programs, parts) = recorded(&regular());
    let log = Log { mode: Mode::Leads, ..Log::default() };
    let online =
        [file::head(), file::section(4, &parts[0]), file::log_section(&log), file::section(7, &parts[1])];
    std::fs::write(unfinished::online(&folder, 1), [&online.concat()[..], &[1, 9]].concat()).unwrap();
    // A lead's copy of what was appended meanwhile, and its own of what follows.
    let mut own = recorder(&regular(), 3);
    let tail = &programs[3][programs[3].len() - 5..];
    record(&mut own, tail);
    let part = own.take(&meta(3, 9));
    let of = |number| [file::head(), file::section(number, &part)].concat();
    std::fs::write(unfinished::sealed(&folder, 1, 3), of(6)).unwrap();
    std::fs::write(unfinished::open(&folder, 1, 3), of(8)).unwrap();
    std::fs::write(unfinished::open(&folder, 1, 4), of(7)).unwrap();
    let recording = Recording::open(&folder);
    std::fs::remove_dir_all(folder).unwrap();
    let recording = recording.unwrap();
    assert_eq!(recording.log(), Some(&log));
    assert!(recording.incomplete().is_some());
    let [first, second, _] = regular().steps;
    let up_to: usize = (0..first + second).map(|at| step(&regular(), 3, at).len()).sum();
    check(&recording, 3, &[&programs[3][..up_to], tail].concat(), false);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(30))]

    #[test]
    fn any_run_comes_back(
        size in 2..8_u32,
        steps in (4..9_u64, 1..30_u64, 0..4_u64),
        leads in prop::collection::btree_set(0..8_u32, 1..4),
        calls in prop::collection::vec(0..40_u64, 1..8),
        all in any::<bool>(),
    ) {
        let times = if all { likewise_recording::Times::All } else { likewise_recording::Times::Histogram };
        let leads: std::collections::BTreeSet<u32> = leads.into_iter().map(|lead| lead % size).collect();
        let steps = [steps.0, steps.1, steps.2];
        let run = Run { size, steps, leads: leads.into_iter().collect(), calls, times };
        let (programs, parts) = recorded(&run);
        let mut bytes = file::head();
        (0..).zip(&parts).for_each(|(number, part)| bytes.extend(file::section(number, part)));
        let recording = Recording::of_parts(file::read(&bytes).unwrap().parts, None);
        all_there(&recording, &programs);
    }

    #[test]
    fn changed_bytes_of_leads_never_panic(seed in any::<u64>(), which in 0..3_usize, n in 1..4_usize) {
        let run = Run { size: 4, steps: [4, 6, 1], leads: vec![1], ..regular() };
        let (_, parts) = recorded(&run);
        let mut bytes = parts[which].encode();
        let mut numbers = Numbers(seed);
        for _ in 0..n {
            let at = if numbers.below(2) == 0 { numbers.below(30) } else { numbers.below(1 << 20) };
            // Stands come last.
            let at = bytes.len() - 1 - at as usize % bytes.len();
            bytes[at] = numbers.below(256) as u8;
        }
        if let Ok(part) = Part::decode(&bytes) {
            let parts = (0..).zip(parts).map(|(number, known)| {
                (number, if number as usize == which { part.clone() } else { known })
            });
            let recording = Recording::of_parts(parts.collect(), None);
            for rank in 0..4 {
                let mut events = recording.events(rank);
                for _ in 0..2_000 {
                    if !matches!(events.next(), Ok(Some(_))) { break }
                }
                let _ = recording.nest(rank);
                let _ = recording.strings(rank);
            }
        }
    }
}
