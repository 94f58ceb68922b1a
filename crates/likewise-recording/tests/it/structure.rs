//! Sequences that differ in loop counts alone have one structure.

use super::programs::Numbers;
use likewise_recording::{Repeated, Structure};
use proptest::prelude::*;

/// A nest of loops over symbols.
#[derive(Clone, Debug)]
enum Nest {
    Leaf(u32),
    Loop(Vec<Nest>),
}

impl Nest {
    fn flat(&self, symbols: &mut Vec<u32>) {
        match self {
            Self::Leaf(symbol) => symbols.push(*symbol),
            Self::Loop(body) => body.iter().for_each(|nest| nest.flat(symbols)),
        }
    }

    /// Runs, each loop as often as it likes at each entry.
    fn run(&self, most: u64, numbers: &mut Numbers, symbols: &mut Vec<u32>) {
        match self {
            Self::Leaf(symbol) => symbols.push(*symbol),
            Self::Loop(body) => {
                for _ in 0..=numbers.below(most) {
                    body.iter().for_each(|nest| nest.run(most, numbers, symbols));
                }
            }
        }
    }

    /// Gives each leaf a symbol of its own.
    fn distinct(&mut self, next: &mut u32) {
        match self {
            Self::Leaf(symbol) => {
                *symbol = *next;
                *next += 1;
            }
            Self::Loop(body) => body.iter_mut().for_each(|nest| nest.distinct(next)),
        }
    }
}

fn nests() -> impl Strategy<Value = Vec<Nest>> {
    let leaf = (0_u32..4).prop_map(Nest::Leaf);
    let nest = leaf.prop_recursive(4, 24, 4, |inner| prop::collection::vec(inner, 1..4).prop_map(Nest::Loop));
    prop::collection::vec(nest, 1..4)
}

fn structure(symbols: &[u32]) -> Structure {
    let mut structure = Structure::new();
    symbols.iter().for_each(|symbol| structure.push(*symbol));
    structure
}

/// Removes the first half of the first square that there is, again and again.
fn square_free(mut symbols: Vec<u32>) -> Vec<u32> {
    'again: loop {
        for length in 1..=symbols.len() / 2 {
            for at in 0..=symbols.len() - 2 * length {
                if symbols[at..at + length] == symbols[at + length..at + 2 * length] {
                    symbols.drain(at..at + length);
                    continue 'again;
                }
            }
        }
        return symbols;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn a_nest_of_different_symbols_is_what_counts(mut nests in nests(), seed: u64, most in 1_u64..7) {
        let mut next = 0;
        let (mut flat, mut run) = (Vec::new(), Vec::new());
        for nest in &mut nests {
            nest.distinct(&mut next);
            nest.flat(&mut flat);
            nest.run(most, &mut Numbers(seed), &mut run);
        }
        prop_assume!(run.len() < 3000);
        prop_assert_eq!(structure(&run).calls(), flat);
    }

    #[test]
    fn nothing_stands_twice_in_a_row(symbols in prop::collection::vec(0_u32..5, 0..120)) {
        let calls = structure(&symbols).calls();
        prop_assert_eq!(square_free(calls.clone()), calls);
    }

    #[test]
    fn runs_of_a_loop_alone_do_not_count(body in prop::collection::vec(0_u32..4, 1..9), n in 1_usize..40) {
        prop_assert_eq!(structure(&body.repeat(n)).calls(), structure(&body).calls());
    }
}

#[test]
fn counts_of_inner_loops_do_not_count() {
    let (a, b) = (7, 9);
    let five: Vec<u32> = [a, b].repeat(5);
    let uneven = [a, a, a, b, a, a, a, a, a, b];
    for symbols in [&five[..], &[a, b], &uneven, &[a, b, a, a, b], &[a, a, b, a, b]] {
        assert_eq!(structure(symbols).calls(), [a, b], "{symbols:?}");
    }
    assert_eq!(structure(&[a, b, a]).calls(), [a, b, a], "a partial iteration is something else");
}

#[test]
fn the_outermost_loop_is_found_and_what_stands_in_it_once() {
    let mut numbers = Numbers(3);
    let mut symbols = vec![1, 2, 3];
    for _ in 0..40 {
        symbols.push(10);
        for _ in 0..=numbers.below(4) {
            symbols.extend([20, 21]);
        }
        symbols.extend([11, 30, 30, 12]);
        symbols.extend([22].repeat(1 + numbers.below(3) as usize));
    }
    let found = structure(&symbols).repeated().unwrap();
    // Where an iteration begins is not to be seen in the sequence.
    let mut once = found.once.clone();
    once.sort_unstable();
    assert_eq!(once, [10, 11, 12], "{found:?}");
    assert_eq!(found.iterations, 40);
    symbols.extend([40, 41, 42, 43, 44, 45, 46, 47, 48, 49]);
    assert_eq!(structure(&symbols).repeated(), None, "it has ended");
    assert_eq!(structure(&[1, 2, 3]).repeated(), None);
}

#[test]
fn a_loop_that_runs_is_seen() {
    let mut symbols = [4, 5, 6].repeat(9);
    symbols.push(4);
    let found = structure(&symbols).repeated();
    assert_eq!(found, Some(Repeated { iterations: 9, length: 3, once: vec![4, 5, 6], after: 1 }));
}

/// A long sequence in which hardly anything repeats right after itself.
fn never_repeating(n: u64) -> Vec<u32> {
    let mut numbers = Numbers(11);
    (0..n).map(|_| numbers.below(1000) as u32).collect()
}

#[test]
fn memory_is_bounded_and_what_is_gone_is_in_the_hash() {
    let identity: Vec<u128> = (0..1000_u128).map(|i| i * 0x1234_5678_9abc_def1_2345).collect();
    let symbols = never_repeating(60_000);
    let whole = structure(&symbols);
    assert!(whole.gone() > 50_000 && whole.calls().len() <= 8192 + 4096);
    assert!(whole.memory() < 4 << 20, "{} bytes", whole.memory());
    assert!(symbols[..100].iter().all(|symbol| whole.had(*symbol)));
    let hash = whole.hash(&identity);
    assert_eq!(hash, structure(&symbols).hash(&identity));
    for at in [0, 30_000, 59_999] {
        let mut other = symbols.clone();
        other[at] = (other[at] + 500) % 1000;
        assert_ne!(structure(&other).hash(&identity), hash, "symbol {at}");
    }
    let mut swapped = symbols.clone();
    swapped.swap(10, 20);
    assert_ne!(structure(&swapped).hash(&identity), hash);
    // With other numbers for the same calls.
    let renamed: Vec<u32> = symbols.iter().map(|symbol| 999 - symbol).collect();
    let identity: Vec<u128> = identity.into_iter().rev().collect();
    assert_eq!(structure(&renamed).hash(&identity), hash);
}

#[test]
fn where_it_is_cut_does_not_matter() {
    let identity: Vec<u128> = (0..1000).collect();
    let symbols = never_repeating(30_000);
    // A loop in front, gone or not, moves all places at which it is looked.
    let with = |n: usize| [[998, 999].repeat(n), symbols.clone()].concat();
    assert_eq!(structure(&with(1)).hash(&identity), structure(&with(700)).hash(&identity));
}

#[test]
fn many_counts_take_no_memory() {
    let (mut numbers, mut structure) = (Numbers(5), Structure::new());
    for _ in 0..200_000 {
        (0..=numbers.below(9)).for_each(|_| structure.push(1));
        structure.push(2);
    }
    assert_eq!(structure.calls(), [1, 2]);
    assert!(structure.memory() < 2 << 20, "{} bytes", structure.memory());
    structure.clear();
    assert!(structure.is_empty() && structure.calls().is_empty());
}
