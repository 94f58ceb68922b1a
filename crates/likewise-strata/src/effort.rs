//! The effort of a rank in the steps of a window.

use std::collections::HashMap;

/// Regions of a rank that are told apart; what is computed in any others is
/// together. It bounds the memory of a program whose regions are never the same.
const MOST_REGIONS: usize = 1024;

/// The effort of a rank, step by step.
#[derive(Debug, Default)]
pub(crate) struct Effort {
    places: HashMap<u128, usize>,
    ids: Vec<u128>,
    /// By place; those that are not there are 0.
    steps: Vec<Vec<u64>>,
    /// In regions without a place.
    beyond: Vec<u64>,
}

impl Effort {
    pub(crate) fn step(&mut self, regions: &[(u128, u64)]) {
        let mut row = Vec::with_capacity(self.ids.len());
        let mut beyond = 0_u64;
        for &(id, ns) in regions {
            let place = self.places.get(&id).copied().or_else(|| self.place(id));
            let Some(place) = place else {
                beyond = beyond.saturating_add(ns);
                continue;
            };
            if row.len() <= place {
                row.resize(place + 1, 0);
            }
            row[place] = ns.saturating_add(row[place]);
        }
        self.steps.push(row);
        self.beyond.push(beyond);
    }

    /// A place for a new region.
    fn place(&mut self, id: u128) -> Option<usize> {
        let place = self.ids.len();
        if place == MOST_REGIONS {
            return None;
        }
        self.ids.push(id);
        self.places.insert(id, place);
        Some(place)
    }

    pub(crate) fn n_steps(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn has(&self, id: u128) -> bool {
        self.places.contains_key(&id)
    }

    /// Each region with its effort in all steps.
    pub(crate) fn totals(&self) -> Vec<(u128, u64)> {
        let total = |place: usize| {
            let of_steps = self.steps.iter().filter_map(|row| row.get(place));
            of_steps.fold(0_u64, |sum, ns| sum.saturating_add(*ns))
        };
        self.ids.iter().enumerate().map(|(place, id)| (*id, total(place))).collect()
    }

    /// Step by step, the effort in each of these regions, then that in all
    /// others together.
    pub(crate) fn rows(&self, regions: &[u128]) -> Vec<u64> {
        let places: Vec<Option<usize>> = regions.iter().map(|id| self.places.get(id).copied()).collect();
        let mut is_apart = vec![false; self.ids.len()];
        places.iter().flatten().for_each(|place| is_apart[*place] = true);
        let mut rows = Vec::with_capacity(self.steps.len() * (regions.len() + 1));
        for (row, beyond) in self.steps.iter().zip(&self.beyond) {
            rows.extend(places.iter().map(|place| place.and_then(|at| row.get(at)).copied().unwrap_or(0)));
            let others = row.iter().zip(&is_apart).filter(|(_, is_apart)| !**is_apart);
            rows.push(others.fold(*beyond, |sum, (ns, _)| sum.saturating_add(*ns)));
        }
        rows
    }
}
