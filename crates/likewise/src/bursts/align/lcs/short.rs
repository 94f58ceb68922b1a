//! Pairs of short sequences: a bit vector for each symbol, and rows of a known width.

use std::cell::RefCell;

use super::{advanced, below, trace};

/// How many words the vectors of all symbols have at most: 64 KiB, which take no longer to
/// clear than the rows to find.
const ALL_WORDS: usize = 1 << 13;

/// How long the second sequence is at most: its rows, which each thread keeps, take a MiB.
const LONGEST: usize = 1 << 13;

/// Memory that is used again and again.
#[derive(Default)]
struct Room {
    masks: Vec<u64>,
    rows: Vec<u64>,
}

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

/// As [`lcs_pairs`](super::lcs_pairs), pair by pair; `None` where one of the sequences is not
/// short, or the first has symbols so large that their vectors are not.
pub(super) fn pairs(a: &[u32], b: &[u32]) -> Option<Vec<(u32, u32)>> {
    let n_symbols = a.iter().max().map_or(0, |&top| top as usize + 1);
    let words = a.len().div_ceil(64);
    if n_symbols.saturating_mul(words) > ALL_WORDS || b.len() > LONGEST {
        return None;
    }
    let find = match words {
        0 => return Some(Vec::new()),
        1..=2 => find::<2>,
        3..=4 => find::<4>,
        5..=6 => find::<6>,
        7..=8 => find::<8>,
        9..=12 => find::<12>,
        13..=16 => find::<16>,
        _ => return None,
    };
    Some(ROOM.with_borrow_mut(|room| find(room, n_symbols, a, b)))
}

fn find<const W: usize>(room: &mut Room, n_symbols: usize, a: &[u32], b: &[u32]) -> Vec<(u32, u32)> {
    let Room { masks, rows } = room;
    masks.clear();
    masks.resize(n_symbols * W, 0);
    let masks = masks.as_chunks_mut::<W>().0;
    for (i, &symbol) in a.iter().enumerate() {
        masks[symbol as usize][i / 64] |= 1 << (i % 64);
    }
    // What both begin with is paired as it stands.
    let head = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let rest = &b[head..];
    if rows.len() < (rest.len() + 1) * W {
        rows.resize((rest.len() + 1) * W, 0);
    }
    let rows = rows.as_chunks_mut::<W>().0;
    let mut row: [u64; W] = std::array::from_fn(|w| !below(head.saturating_sub(w * 64)));
    rows[0] = row;
    for (&symbol, out) in rest.iter().zip(&mut rows[1..]) {
        // The row stays as it is where nothing matches.
        if let Some(mask) = masks.get(symbol as usize) {
            let mut carry = false;
            row.iter_mut().zip(mask).for_each(|(v, &m)| *v = advanced(*v, m, &mut carry));
        }
        *out = row;
    }
    let mut pairs = Vec::with_capacity(a.len().min(b.len()));
    let left = trace(rows[..=rest.len()].as_flattened(), W, head, a.len(), &mut pairs);
    pairs.extend((0..left.min(head) as u32).rev().map(|i| (i, i)));
    pairs.reverse();
    pairs
}
