//! Ranks that did not record while others like them did.

use super::read::{OF_RANK, some};
use super::write::column_of;
use super::{Part, Room};
use crate::broken::Broken;
use crate::bytes::{Reader, Write};

/// Ranks whose events in a part are the first ones of another's, the lead's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stand {
    /// The lead, which is measured in the part.
    pub lead: u32,
    /// How many of its events.
    pub events: u64,
    /// The ranks without the lead, in order.
    pub ranks: Vec<u32>,
}

impl Part {
    /// Who stands behind whom in this part, in order of the leads.
    #[must_use]
    pub fn stands(&self) -> &[Stand] {
        &self.stands
    }

    /// Says who stands behind whom. Leads are ranks of this part, and no rank
    /// stands in it twice; a stand without ranks is none.
    pub fn stand(&mut self, mut stands: Vec<Stand>) {
        stands.retain(|stand| !stand.ranks.is_empty());
        stands.iter_mut().for_each(|stand| stand.ranks.sort_unstable());
        stands.sort_by_key(|stand| stand.lead);
        self.stands = stands;
    }
}

pub(super) fn write(stands: &[Stand], bytes: &mut Vec<u8>) {
    bytes.number(stands.len() as u64);
    for stand in stands {
        bytes.number(u64::from(stand.lead));
        bytes.number(stand.events);
        bytes.number(stand.ranks.len() as u64);
        column_of(stand.ranks.iter().map(|rank| i64::from(*rank))).write(bytes);
    }
}

pub(super) fn read(reader: &mut Reader<'_>, part: &Part, room: &mut Room) -> Result<Vec<Stand>, Broken> {
    let size = part.ranks.first().map_or(0, |meta| meta.size);
    // A rank stands once, so that few bytes cannot name more ranks than there are.
    let mut left = u64::from(size);
    let mut all: Vec<u32> = Vec::new();
    let mut stands: Vec<Stand> = Vec::new();
    for _ in 0..reader.count()? {
        let lead = reader.small()?;
        let events = reader.number()?;
        let known = part.ranks.binary_search_by_key(&lead, |meta| meta.rank);
        if known.map_or(true, |at| part.ranks[at].events < events) {
            return Err(reader.broken("a rank stands behind one that is not there, or has fewer events"));
        }
        let n = reader.number()?;
        left =
            left.checked_sub(n).filter(|_| n > 0).ok_or_else(|| reader.broken("no such number of ranks"))?;
        room.take(n as usize, OF_RANK, reader)?;
        let numbers = some(reader, n as usize)?;
        let rank = |number: &i64| u32::try_from(*number).ok().filter(|rank| *rank < size && *rank != lead);
        let ranks = numbers.iter().map(rank).collect::<Option<Vec<u32>>>();
        let ranks = ranks.filter(|ranks| ranks.windows(2).all(|two| two[0] < two[1]));
        let ranks = ranks.ok_or_else(|| reader.broken("no such rank"))?;
        all.extend(&ranks);
        if stands.last().is_some_and(|before| before.lead > lead) {
            return Err(reader.broken("leads that are not in order"));
        }
        stands.push(Stand { lead, events, ranks });
    }
    all.sort_unstable();
    if all.windows(2).any(|two| two[0] == two[1]) {
        return Err(reader.broken("a rank stands behind two"));
    }
    Ok(stands)
}
