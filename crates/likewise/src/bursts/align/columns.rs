//! From columns of one symbol to as few columns as hold them all.

use super::profile::Profile;

/// Of each column of one symbol, the final column it is part of, and how many
/// of those there are.
///
/// Columns that no sequence shows both of may stand at the same place. Each
/// goes as far to the front as its sequences let it, which needs as few final
/// columns as there can be: the length of the longest chain of columns of
/// which each shares a sequence with the next.
pub(super) fn share_columns(profile: &Profile) -> (Vec<u32>, usize) {
    let n = profile.symbols.len();
    let mut starts = vec![0usize; n + 1];
    for &column in profile.members.iter().flat_map(|m| &m.columns) {
        starts[column as usize + 1] += 1;
    }
    (0..n).for_each(|c| starts[c + 1] += starts[c]);
    let mut shown = vec![0u32; starts[n]];
    let mut next = starts.clone();
    for (number, member) in profile.members.iter().enumerate() {
        for &column in &member.columns {
            shown[next[column as usize]] = number as u32;
            next[column as usize] += 1;
        }
    }
    let mut ends = vec![0u32; profile.members.len()];
    let mut places = Vec::with_capacity(n);
    for column in starts.windows(2) {
        let members = &shown[column[0]..column[1]];
        let place = members.iter().map(|&m| ends[m as usize]).max().unwrap_or(0);
        members.iter().for_each(|&m| ends[m as usize] = place + 1);
        places.push(place);
    }
    (places, ends.into_iter().max().unwrap_or(0) as usize)
}
