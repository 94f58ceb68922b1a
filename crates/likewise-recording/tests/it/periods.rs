//! Values of leads that go with several of a rank's: those before them, or the
//! place in what repeats, tell which.

use crate::programs::{Made, Numbers, meta, recorder_of};
use likewise_recording::calls::number;
use likewise_recording::{RecorderOptions, Recording, Stand};
use proptest::prelude::*;

/// A run of a lead and a rank behind it.
#[derive(Clone, Debug)]
struct Run {
    /// What comes again and again on the lead, and by how much the rank is
    /// behind with it, or what it has instead.
    of_lead: Vec<i64>,
    own: Result<usize, Vec<i64>>,
    /// Steps before it repeats, while both record, and while the lead does.
    steps: [usize; 3],
    seed: u64,
}

impl Run {
    /// The sites of a step. From `REGULAR` on, nothing depends on data.
    fn step(&self, rank: u32, step: usize, numbers: &mut Numbers) -> Vec<Made> {
        let n = self.of_lead.len();
        let value = match (&self.own, step.checked_sub(self.steps[0])) {
            (_, None) => numbers.below(2) as i64,
            (Ok(behind), Some(at)) if rank == 1 => self.of_lead[(at + behind) % n],
            (Err(own), Some(at)) if rank == 1 => own[at % own.len()],
            (_, Some(at)) => self.of_lead[at % n],
        };
        let (data, never_again) = (numbers.below(2) as i64, numbers.below(1 << 30) as i64);
        let made = |call, site, values: &[i64]| Made {
            call,
            site,
            values: values.to_vec(),
            thread: 0,
            pause: 0,
            gap: 9,
            length: 9,
        };
        vec![
            made(number::Bcast, 1, &[data, 0, 0, 0]),
            made(number::Bcast, 2, &[value, 0, never_again, 0]),
            made(number::Bcast, 3, &[value, 0, 1, 0]),
            made(number::Waitall, REGULAR + 1, &[2, 2, value, value + 1, 0]),
        ]
    }

    fn program(&self, rank: u32) -> [Vec<Made>; 2] {
        let [before, first, second] = self.steps;
        let mut numbers = Numbers(self.seed + u64::from(rank));
        let mut of = |steps: std::ops::Range<usize>| {
            steps.flat_map(|step| self.step(rank, step, &mut numbers)).collect::<Vec<_>>()
        };
        [of(0..before + first), of(before + first..before + first + second)]
    }

    /// What the rank did while the lead recorded, and what is said that it did.
    fn stood(&self) -> Vec<(Made, Vec<i64>, bool)> {
        let part =
            |rank, events: &[Made]| recorder_of(events, &RecorderOptions::default()).take(&meta(rank, 2));
        let [of_lead, own] = [0, 1].map(|rank| self.program(rank));
        let mut first = part(0, &of_lead[0]);
        first.merge(&part(1, &own[0]));
        let mut second = part(0, &of_lead[1]);
        second.stand(vec![Stand { lead: 0, events: of_lead[1].len() as u64, ranks: vec![1] }]);
        let recording = Recording::of_parts(vec![(0, first), (1, second)], None);
        let mut events = recording.events(1);
        for _ in &own[0] {
            events.next().unwrap().unwrap();
        }
        let mut stood = Vec::new();
        for made in own[1].clone() {
            let event = events.next().unwrap().unwrap();
            stood.push((made, event.values.clone(), event.lent));
        }
        assert!(events.next().unwrap().is_none());
        stood
    }
}

/// The first site at which nothing depends on data.
const REGULAR: u64 = 3;

#[test]
fn what_stops_to_repeat_is_said_to_be_the_leads() {
    // The lead has always the same, and then once not.
    let run = Run { of_lead: vec![5], own: Err(vec![6, 7]), steps: [0, 20, 9], seed: 1 };
    assert!(
        run.stood()
            .iter()
            .all(|(made, values, lent)| made.site < REGULAR || (&made.values, false) == (values, *lent))
    );
    let bcast = |value| Made {
        call: number::Bcast,
        site: 1,
        values: vec![value, 0, 0, 0],
        thread: 0,
        pause: 0,
        gap: 9,
        length: 9,
    };
    let part = |rank, values: &[i64]| {
        let events: Vec<Made> = values.iter().map(|value| bcast(*value)).collect();
        recorder_of(&events, &RecorderOptions::default()).take(&meta(rank, 2))
    };
    let seen = |between: bool| {
        let mut first = part(0, &[5; 20]);
        first.merge(&part(1, &[6, 7].repeat(10)));
        let mut second = part(0, &[5, 5, 9, 5, 5]);
        second.stand(vec![Stand { lead: 0, events: 5, ranks: vec![1] }]);
        // What the lead did alone meanwhile.
        let alone = between.then(|| (1, part(0, &[5])));
        let parts = [(0, first)].into_iter().chain(alone).chain([(2, second)]);
        let recording = Recording::of_parts(parts.collect(), None);
        let mut events = recording.events(1);
        let mut seen = Vec::new();
        while let Some(event) = events.next().unwrap() {
            seen.push((event.values[0], event.lent));
        }
        seen[20..].to_vec()
    };
    assert_eq!(seen(false), [(6, false), (7, false), (9, true), (5, true), (5, true)]);
    assert_eq!(seen(true), [(5, true), (5, true), (9, true), (5, true), (5, true)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn values_that_repeat_in_another_order_come_back(
        of_lead in prop::collection::vec(0..3_i64, 1..12),
        own in prop::collection::vec(0..3_i64, 1..9),
        behind in prop::option::of(0..12_usize),
        // Of both together, a period of 88 at most: it comes twice.
        steps in (0..4_usize, 200..240_usize, 1..60_usize),
        seed in any::<u32>(),
    ) {
        let own = behind.ok_or(own);
        let run = Run { of_lead, own, steps: [steps.0, steps.1, steps.2], seed: u64::from(seed) };
        for (made, values, lent) in run.stood() {
            match made.site {
                // Both depend on data.
                1 => prop_assert!(lent || values == made.values),
                // Beside data, what repeats is told all the same.
                2 => prop_assert_eq!((values[0], lent), (made.values[0], true)),
                _ => prop_assert_eq!((&values, lent), (&made.values, false), "site {}", made.site),
            }
        }
    }
}
