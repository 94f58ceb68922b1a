//! Numbers for the places that a trace names.

use std::collections::HashMap;
use std::hash::Hash;

use likewise::table::PlaceId;

use super::steps::{Mark, Move};
use crate::quick::QuickState;

/// Numbers sites, places as a format names them, in order of appearance.
#[derive(Debug)]
pub(crate) struct Sites<S> {
    ids: HashMap<S, PlaceId, QuickState>,
    pub(crate) sites: Vec<S>,
    last: Option<(S, PlaceId)>,
}

impl<S> Default for Sites<S> {
    fn default() -> Self {
        Self { ids: HashMap::default(), sites: Vec::new(), last: None }
    }
}

impl<S: Copy + Eq + Hash> Sites<S> {
    /// `None` if there are too many.
    fn id(&mut self, site: S) -> Option<PlaceId> {
        if let Some((last, id)) = self.last
            && last == site
        {
            return Some(id);
        }
        let id = match self.ids.get(&site) {
            Some(&id) => id,
            None => {
                let id = PlaceId::from_index(self.sites.len())?;
                self.sites.push(site);
                self.ids.insert(site, id);
                id
            }
        };
        self.last = Some((site, id));
        Some(id)
    }

    /// The mark with its site's number; one too many is left out.
    pub(crate) fn number_mark(&mut self, mark: Mark<S>) -> Option<Mark<PlaceId>> {
        Some(match mark {
            Mark::Enter(site) => Mark::Enter(self.id(site)?),
            Mark::Leave => Mark::Leave,
            Mark::Fork => Mark::Fork,
            Mark::Runtime => Mark::Runtime,
            Mark::Wait => Mark::Wait,
        })
    }

    /// The move with its site's number.
    pub(crate) fn number(&mut self, step: Move<S>) -> Option<Move<PlaceId>> {
        Some(match step {
            Move::Call(site) => Move::Call(self.id(site)?),
            Move::Enter(site) => Move::Enter(self.id(site)?),
            Move::Leave => Move::Leave,
        })
    }

    /// The numbers here of all that `others` have numbered.
    pub(crate) fn adopt(&mut self, others: &[S]) -> Vec<Option<PlaceId>> {
        others.iter().map(|&site| self.id(site)).collect()
    }
}
