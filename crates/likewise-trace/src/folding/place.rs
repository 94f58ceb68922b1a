//! Where in the source a thread is, as far as a piece of its records knows.

use likewise::table::{PlaceId, Region};
use serde::{Deserialize, Serialize};

use super::steps::Move;

/// The innermost function, as far as a piece of a thread's records knows.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Function {
    /// So many levels outside of the function in which the piece began.
    Outer(u32),
    Inside(PlaceId),
}

impl Default for Function {
    fn default() -> Self {
        Self::Outer(0)
    }
}

/// The code of a burst, as far as a piece knows. A burst of no length has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) before: Option<PlaceId>,
    pub(crate) after: Option<PlaceId>,
    pub(crate) function: Function,
}

impl Place {
    /// Once the whole thread is known.
    pub(crate) fn region(self) -> Region {
        let function = match self.function {
            Function::Inside(id) => Some(id),
            Function::Outer(_) => None,
        };
        Region { before: self.before, after: self.after, function }
    }

    /// Gives the places the numbers in `map`.
    pub(crate) fn renumbered(self, map: &[Option<PlaceId>]) -> Self {
        let number = |id: Option<PlaceId>| id.and_then(|id| map[id.index()]);
        let function = renumbered(self.function, map);
        Self { before: number(self.before), after: number(self.after), function }
    }
}

pub(crate) fn renumber(id: &mut Option<PlaceId>, map: &[Option<PlaceId>]) {
    *id = id.and_then(|id| map[id.index()]);
}

fn renumbered(function: Function, map: &[Option<PlaceId>]) -> Function {
    match function {
        // Too many sites to number: as if there were none here.
        Function::Inside(id) => map[id.index()].map_or(Function::Outer(u32::MAX), Function::Inside),
        outer @ Function::Outer(_) => outer,
    }
}

/// Where a thread is after a piece of its records.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Trail {
    /// The last call.
    pub(crate) call: Option<PlaceId>,
    /// How many functions from before the piece were left in it.
    left: u32,
    /// Those entered and not yet left, outermost first.
    entered: Vec<PlaceId>,
    /// When a function was last entered or left, and where the thread was
    /// until then.
    moved: Option<u64>,
    until: Function,
}

impl Trail {
    pub(crate) fn step(&mut self, time: u64, step: Move<PlaceId>) {
        if let Move::Call(id) = step {
            self.call = Some(id);
            return;
        }
        if self.moved != Some(time) {
            self.until = self.function();
            self.moved = Some(time);
        }
        match step {
            Move::Enter(id) => self.entered.push(id),
            _ if self.entered.pop().is_none() => self.left = self.left.saturating_add(1),
            _ => {}
        }
    }

    fn function(&self) -> Function {
        self.entered.last().map_or(Function::Outer(self.left), |&id| Function::Inside(id))
    }

    /// The innermost function just before `time`, which is now or later.
    pub(crate) fn function_before(&self, time: u64) -> Function {
        if self.moved == Some(time) { self.until } else { self.function() }
    }

    /// Whether the piece says nothing about where the thread is.
    pub(crate) fn is_silent(&self) -> bool {
        self.call.is_none() && self.moved.is_none()
    }

    /// A place as the next piece knows it, seen from before this piece.
    pub(crate) fn resolve(&self, function: Function) -> Function {
        let Function::Outer(levels) = function else { return function };
        match self.entered.len().checked_sub(levels as usize + 1) {
            Some(at) => Function::Inside(self.entered[at]),
            None => Function::Outer(self.left.saturating_add(levels - self.entered.len() as u32)),
        }
    }

    /// After the next piece, too.
    pub(crate) fn append(&mut self, next: Trail) {
        if next.moved.is_some() && next.moved != self.moved {
            self.until = self.resolve(next.until);
            self.moved = next.moved;
        }
        let kept = self.entered.len().saturating_sub(next.left as usize);
        let left = next.left - (self.entered.len() - kept) as u32;
        self.left = self.left.saturating_add(left);
        self.entered.truncate(kept);
        self.entered.extend(next.entered);
        self.call = next.call.or(self.call);
    }

    pub(crate) fn renumber(&mut self, map: &[Option<PlaceId>]) {
        renumber(&mut self.call, map);
        self.entered = self.entered.iter().filter_map(|id| map[id.index()]).collect();
        self.until = renumbered(self.until, map);
    }
}
