//! Ranks on two objectives, or on one that stands for both.

use super::objective::Objective;
use super::prepare::sort;

/// Records that are counted by one thread.
const BY_ONE: usize = 1 << 14;
/// Records that are sorted by insertion.
const FEW: usize = 24;

/// The records that lack nothing, by the first objective, then the second.
fn sorted(n: usize, first: &Objective<'_>, second: &Objective<'_>) -> Vec<(u64, u64, u32)> {
    let is_whole = |record: &usize| !first.is_missing(*record) && !second.is_missing(*record);
    let key = |record: usize| (first.key(record), second.key(record), record as u32);
    let mut records: Vec<(u64, u64, u32)> = (0..n).filter(is_whole).map(key).collect();
    sort(&mut records);
    records
}

/// Goes through the records by the first objective, then the second. Of each
/// front only the record that came last matters: it is the best so far on the
/// second objective. A record belongs to the first front whose last it is
/// better than, and these are in order.
pub(super) fn goldberg(n: usize, first: &Objective<'_>, second: &Objective<'_>) -> Vec<Option<u32>> {
    let mut ranks = vec![None; n];
    let mut lasts: Vec<u64> = Vec::new();
    let mut before = None;
    for &(one, other, record) in &sorted(n, first, second) {
        // The same as the record before: no domination, and the same rank.
        let rank = match before {
            Some((same, rank)) if same == (one, other) => rank,
            _ => lasts.partition_point(|&last| last <= other),
        };
        match lasts.get_mut(rank) {
            Some(last) => *last = other,
            None => lasts.push(other),
        }
        ranks[record as usize] = Some(rank as u32);
        before = Some(((one, other), rank));
    }
    ranks
}

/// How many records dominate each: of those that come before it by the first
/// objective, then the second, all that are at least as good on the second.
/// The first of several that are the same knows it for all.
pub(super) fn dominators(n: usize, first: &Objective<'_>, second: &Objective<'_>) -> Vec<Option<u32>> {
    let records = sorted(n, first, second);
    let mut places: Vec<Place> = records
        .iter()
        .enumerate()
        .map(|(at, record)| Place { key: record.1, at: at as u32, before: 0 })
        .collect();
    let mut room = vec![Place::default(); places.len()];
    count(&mut places, &mut room);
    let mut before = vec![0; records.len()];
    places.iter().for_each(|place| before[place.at as usize] = place.before);
    let mut counts = vec![None; n];
    let mut same = 0;
    for (at, &(one, other, record)) in records.iter().enumerate() {
        if (records[same].0, records[same].1) != (one, other) {
            same = at;
        }
        counts[record as usize] = Some(before[same]);
    }
    counts
}

/// A record by its second objective, where it was, and how many that came
/// before it are at least as good.
#[derive(Clone, Copy, Default)]
struct Place {
    key: u64,
    at: u32,
    before: u32,
}

/// Sorts by the key, what came first first, and counts for each those at least
/// as good that came before it: a merge sort, in which each half that comes
/// later learns of the other. `room` is as long.
fn count(places: &mut [Place], room: &mut [Place]) {
    if places.len() <= FEW {
        return few(places);
    }
    let middle = places.len() / 2;
    let (left, right) = places.split_at_mut(middle);
    let (left_room, right_room) = room.split_at_mut(middle);
    if left.len() > BY_ONE {
        rayon::join(|| count(left, left_room), || count(right, right_room));
    } else {
        count(left, left_room);
        count(right, right_room);
    }
    let (mut i, mut j) = (0, 0);
    for merged in room.iter_mut() {
        if j == right.len() || (i < left.len() && left[i].key <= right[j].key) {
            *merged = left[i];
            i += 1;
        } else {
            *merged = right[j];
            merged.before += i as u32;
            j += 1;
        }
    }
    places.copy_from_slice(room);
}

/// The same by insertion.
fn few(places: &mut [Place]) {
    for next in 1..places.len() {
        let mut place = places[next];
        let end = places[..next].partition_point(|earlier| earlier.key <= place.key);
        place.before = end as u32;
        places.copy_within(end..next, end + 1);
        places[end] = place;
    }
}
