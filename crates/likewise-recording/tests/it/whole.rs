use crate::programs::{Made, Numbers, meta, noise, record, recorder_of, ring};
use likewise_recording::{Part, RecorderOptions, Recording, Times, file, unfinished};
use proptest::prelude::*;

fn all_times() -> RecorderOptions {
    RecorderOptions { times: Times::All, ..RecorderOptions::default() }
}

pub(crate) fn check(recording: &Recording, rank: u32, made: &[Made], exact: bool) {
    let mut events = recording.events(rank);
    let first = recording.ranks()[0].start;
    let mut now = [recording.ranks()[rank as usize].start - first; 8];
    for (at, made) in made.iter().enumerate() {
        let event = events.next().unwrap().unwrap_or_else(|| panic!("event {at} is missing"));
        let symbol = recording.symbols()[event.symbol as usize];
        assert_eq!(symbol.call, made.call, "event {at}");
        assert_eq!(recording.frames(symbol.path)[0].offset, made.site * 16, "event {at}");
        assert_eq!(event.values, made.values, "event {at}");
        assert_eq!(event.thread, made.thread);
        if exact {
            assert_eq!((event.gap, event.end - event.begin), (made.gap, made.length), "event {at}");
            let now = &mut now[made.thread as usize];
            assert_eq!(event.begin, *now + made.pause + made.gap, "event {at}");
            *now = event.end;
        }
    }
    assert!(events.next().unwrap().is_none());
}

fn through_a_file(part: &Part) -> (Recording, usize) {
    let mut bytes = file::head();
    let section = file::section(0, part);
    bytes.extend(&section);
    bytes.extend(file::foot(&[section.len()]));
    let found = file::read(&bytes).unwrap();
    assert_eq!(found.broken, None);
    (Recording::of_parts(found.parts, None), bytes.len())
}

fn merged(programs: &[Vec<Made>], options: &RecorderOptions) -> Part {
    let size = programs.len() as u32;
    let part = |rank: usize| recorder_of(&programs[rank], options).take(&meta(rank as u32, size));
    // As a tree does it, with messages between.
    let mut parts: Vec<Part> = (0..programs.len()).map(part).collect();
    while parts.len() > 1 {
        let pairs = parts.chunks(2).map(|two| {
            let mut first = Part::decode(&two[0].encode()).unwrap();
            two.iter().skip(1).for_each(|second| first.merge(&Part::decode(&second.encode()).unwrap()));
            first
        });
        parts = pairs.collect();
    }
    parts.remove(0)
}

#[test]
fn every_event_of_every_rank_comes_back() {
    for options in [RecorderOptions::default(), all_times()] {
        let programs: Vec<_> = (0..7).map(|rank| ring(rank, 7, 200)).collect();
        let (recording, bytes) = through_a_file(&merged(&programs, &options));
        println!("{bytes} bytes for {} events", programs.iter().map(Vec::len).sum::<usize>());
        assert_eq!(recording.ranks().len(), 7);
        for (rank, program) in programs.iter().enumerate() {
            check(&recording, rank as u32, program, options.times == Times::All);
        }
    }
}

#[test]
fn a_regular_program_takes_the_same_for_any_number_of_steps_and_ranks() {
    let regular = |rank: u32, size: u32, steps: u64| -> Vec<Made> {
        let keep = |event: &Made| ![4, 6].contains(&event.site);
        ring(rank, size, steps).into_iter().filter(keep).map(|event| Made { gap: 1000, ..event }).collect()
    };
    let bytes = |size: u32, steps: u64| {
        let programs: Vec<_> = (0..size).map(|rank| regular(rank, size, steps)).collect();
        through_a_file(&merged(&programs, &RecorderOptions::default())).1
    };
    let (few, many) = (bytes(4, 100), bytes(4, 100_000));
    assert!(many < few + 80, "{few} bytes for 100 steps, {many} for 100,000");
    assert!(bytes(64, 100) < 2 * few);
}

#[test]
fn sums_of_times_are_kept() {
    let programs: Vec<_> = (0..3).map(|rank| ring(rank, 3, 300)).collect();
    let (recording, _) = through_a_file(&merged(&programs, &RecorderOptions::default()));
    for (rank, program) in programs.iter().enumerate() {
        let mut events = recording.events(rank as u32);
        let (mut gaps, mut lengths) = (0, 0);
        while let Some(event) = events.next().unwrap() {
            gaps += event.gap;
            lengths += event.end - event.begin;
        }
        let near = |drawn: u64, made: u64| (drawn as f64 / made as f64 - 1.0).abs() < 0.03;
        assert!(near(gaps, program.iter().map(|event| event.gap).sum()), "gaps of rank {rank}");
        assert!(near(lengths, program.iter().map(|event| event.length).sum()), "lengths of rank {rank}");
    }
}

#[test]
fn parts_that_were_sealed_are_read_one_after_the_other() {
    let (first, second) = (noise(1, 5000), ring(0, 2, 50));
    let mut recorder = recorder_of(&first, &all_times());
    let module = recorder.module(&[1, 2, 3, 4], "/bin/program");
    let folder = std::env::temp_dir().join(format!("likewise-recording-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file_of = |number, part: &Part| [file::head(), file::section(number, part)].concat();
    std::fs::write(unfinished::sealed(&folder, 1, 0), file_of(0, &recorder.take(&meta(0, 2)))).unwrap();
    record(&mut recorder, module, &second);
    std::fs::write(unfinished::open(&folder, 1, 0), file_of(1, &recorder.snapshot(&meta(0, 2)))).unwrap();
    let recording = Recording::open(&folder).unwrap();
    assert!(recording.incomplete().is_some());
    check(&recording, 0, &[first, second].concat(), true);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn memory_and_time_are_bounded_on_noise() {
    let mut recorder = recorder_of(&noise(3, 100_000), &RecorderOptions::default());
    assert!(recorder.memory() < 16 << 20, "{} bytes", recorder.memory());
    let part = recorder.take(&meta(0, 1));
    check(&through_a_file(&part).0, 0, &noise(3, 100_000), false);
}

#[test]
fn a_cut_file_gives_what_was_whole() {
    let part = |number: u32| {
        let made = ring(number, 4, 30);
        file::section(0, &recorder_of(&made, &all_times()).take(&meta(number, 4)))
    };
    let (first, second) = (part(0), part(1));
    let bytes = [file::head(), first.clone(), second].concat();
    for length in 0..bytes.len() {
        match file::read(&bytes[..length]) {
            Ok(found) => {
                assert!(length >= 8 + first.len() && found.broken.is_some());
                assert_eq!(found.parts.len(), 1);
            }
            Err(_) => assert!(length < 8 + first.len()),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_mixture_comes_back(
        pieces in prop::collection::vec((any::<bool>(), 0..5_u64, 1..60_u64), 1..6),
        ranks in 1..5_usize,
        threads in 1..4_u64,
    ) {
        let program = |rank: usize| {
            let mut all = Vec::new();
            for (noisy, seed, n) in &pieces {
                all.extend(if *noisy { noise(seed + rank as u64 % 2, *n) } else { ring(rank as u32, 6, *n) });
            }
            let mut numbers = Numbers(rank as u64);
            all.iter_mut().for_each(|event| event.thread = numbers.below(threads) as u32);
            all
        };
        let programs: Vec<_> = (0..ranks).map(program).collect();
        let (recording, _) = through_a_file(&merged(&programs, &all_times()));
        for (rank, program) in programs.iter().enumerate() {
            check(&recording, rank as u32, program, true);
        }
    }

    #[test]
    fn changed_bytes_never_panic(at in 0..100_000_usize, value in any::<u8>(), more in prop::collection::vec((0..100_000_usize, any::<u8>()), 0..3)) {
        let programs: Vec<_> = (0..3).map(|rank| ring(rank, 3, 20)).collect();
        let mut bytes = merged(&programs, &RecorderOptions::default()).encode();
        for (at, value) in more.into_iter().chain([(at, value)]) {
            let n = bytes.len();
            bytes[at % n] = value;
        }
        if let Ok(part) = Part::decode(&bytes) {
            let recording = Recording::of_parts(vec![(0, part)], None);
            for rank in 0..3 {
                let mut events = recording.events(rank);
                for _ in 0..10_000 {
                    if !matches!(events.next(), Ok(Some(_))) { break }
                }
                let _ = recording.nest(rank);
                let _ = recording.datatypes(rank);
            }
        }
    }
}
