//! Pairs of short sequences: a bit vector for each symbol, and rows of a known width.

use std::cell::RefCell;

use super::advanced;

/// How many words the vectors of all symbols have at most: 64 KiB, which take no longer to
/// clear than the rows to find.
const ALL_WORDS: usize = 1 << 13;

/// Memory that is used again and again.
#[derive(Default)]
struct Room {
    masks: Vec<u64>,
    rows: Vec<u64>,
}

thread_local! {
    static ROOM: RefCell<Room> = RefCell::default();
}

/// As [`lcs_pairs`](super::lcs_pairs), pair by pair; `None` where the first sequence is not
/// short, or has symbols so large that their vectors are not.
pub(super) fn pairs(a: &[u32], b: &[u32]) -> Option<Vec<(u32, u32)>> {
    let n_symbols = a.iter().max().map_or(0, |&top| top as usize + 1);
    let words = a.len().div_ceil(64);
    if n_symbols.saturating_mul(words) > ALL_WORDS {
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
    let mut row: [u64; W] = std::array::from_fn(|w| !super::below(head.saturating_sub(w * 64)));
    rows[0] = row;
    for (&symbol, out) in rest.iter().zip(&mut rows[1..]) {
        // The row stays as it is where nothing matches.
        if let Some(mask) = masks.get(symbol as usize) {
            let mut carry = false;
            row.iter_mut().zip(mask).for_each(|(v, &m)| *v = advanced(*v, m, &mut carry));
        }
        *out = row;
    }
    trace(&rows[..=rest.len()], head, a.len())
}

/// Follows rows from the last to the first, which is that of what both begin with, from the
/// end of the first `i` symbols.
fn trace<const W: usize>(rows: &[[u64; W]], head: usize, mut i: usize) -> Vec<(u32, u32)> {
    let grows = |j: usize, i: usize| rows[j][(i / 64).min(W - 1)] >> (i % 64) & 1 == 0;
    let mut j = rows.len() - 1;
    let mut pairs = Vec::with_capacity(i.min(head + j));
    // As the `trace` of long sequences.
    while i > 0 && j > 0 {
        if !grows(j, i - 1) {
            i -= 1;
        } else {
            j -= 1;
            if !grows(j, i - 1) {
                i -= 1;
                pairs.push((i as u32, (head + j) as u32));
            }
        }
    }
    pairs.extend((0..i.min(head) as u32).rev().map(|i| (i, i)));
    pairs.reverse();
    pairs
}
