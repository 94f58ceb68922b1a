//! From columns of one symbol to as few columns as hold them all.

use super::profile::Profile;

/// Columns that are looked at together: what is noted of them stays in the cache.
const BLOCK: usize = 1 << 11;

/// Of each column of one symbol, the final column it is part of, and how many
/// of those there are.
///
/// Columns that no sequence shows both of may stand at the same place. Each
/// goes as far to the front as its sequences let it, which needs as few final
/// columns as there can be: the length of the longest chain of columns of
/// which each shares a sequence with the next.
pub(super) fn share_columns(profile: &Profile) -> (Vec<u32>, usize) {
    let n = profile.symbols.len();
    // Where each sequence goes on, and which final column it has reached.
    let mut rest: Vec<&[u32]> = profile.members.iter().map(|member| &member.columns[..]).collect();
    let mut ends = vec![0u32; rest.len()];
    let mut places = Vec::with_capacity(n);
    let (mut starts, mut shown) = (Vec::new(), Vec::new());
    for first in (0..n).step_by(BLOCK) {
        let last = (first + BLOCK).min(n);
        let own = |rest: &[u32]| rest.partition_point(|&column| (column as usize) < last);
        // The sequences of each column, column after column.
        starts.clear();
        starts.resize(last - first + 2, 0usize);
        for rest in &rest {
            rest[..own(rest)].iter().for_each(|&column| starts[column as usize - first + 2] += 1);
        }
        (2..starts.len()).for_each(|c| starts[c] += starts[c - 1]);
        shown.resize(starts[last - first + 1], 0u32);
        for (number, rest) in (0..).zip(&mut rest) {
            let (here, later) = rest.split_at(own(rest));
            for &column in here {
                let next = &mut starts[column as usize - first + 1];
                shown[*next] = number;
                *next += 1;
            }
            *rest = later;
        }
        for column in starts.windows(2).take(last - first) {
            let members = &shown[column[0]..column[1]];
            let place = members.iter().map(|&m| ends[m as usize]).max().unwrap_or(0);
            members.iter().for_each(|&m| ends[m as usize] = place + 1);
            places.push(place);
        }
    }
    (places, ends.into_iter().max().unwrap_or(0) as usize)
}
