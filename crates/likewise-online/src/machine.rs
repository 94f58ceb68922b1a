//! The states of a run, from the votes at its markers.

use likewise_recording::State;

/// What all ranks do at a marker, beside what the state says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing.
    None,
    /// Choose leads; what all ranks have recorded is merged and appended to
    /// the on-line recording.
    Cluster,
    /// Ranks that do not lead drop what they have recorded since the
    /// clustering, and record no more.
    Lead,
    /// What the leads have recorded since the clustering is merged and appended
    /// to the on-line recording; from here on all ranks record.
    Flush,
}

/// What follows from a marker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The state from here on.
    pub state: State,
    /// What is to be done now.
    pub action: Action,
}

/// The state machine. It is the same on all ranks, because all know the votes
/// of all.
///
/// | state | all as before | some rank not |
/// |---|---|---|
/// | (first marker) | AT | AT |
/// | AT | C: cluster | AT |
/// | C | L: only leads record | AT |
/// | L | L | AT: flush what the leads have |
///
/// # Reference
/// Chameleon, §III: the text and figure 2. Algorithm 1 differs: it returns AT
/// where the text is in L, it returns L where the text flushes, and after a
/// flush it needs a second mismatch before it clusters again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Machine {
    state: State,
    /// Whether there was a marker, so that there is an interval to compare
    /// with.
    has_interval: bool,
}

impl Machine {
    /// Before the first marker: all ranks record.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The state now.
    #[must_use]
    pub fn state(&self) -> State {
        self.state
    }

    /// A marker. `any_mismatch`: whether any rank had another call path in the
    /// interval that ends here than in the one before. The first interval has
    /// none before it, whatever the vote.
    pub fn marker(&mut self, any_mismatch: bool) -> Step {
        let same = self.has_interval && !any_mismatch;
        self.has_interval = true;
        let (state, action) = match (self.state, same) {
            (State::AllTracing, true) => (State::Clustering, Action::Cluster),
            (State::Clustering, true) => (State::Lead, Action::Lead),
            (State::Lead, true) => (State::Lead, Action::None),
            (State::Lead, false) => (State::AllTracing, Action::Flush),
            (State::AllTracing | State::Clustering, false) => (State::AllTracing, Action::None),
            (State::Final, _) => (State::Final, Action::None),
        };
        self.state = state;
        Step { state, action }
    }

    /// The end of the program: what is left is appended. In L, that is what the
    /// leads have; otherwise what all ranks have.
    pub fn finish(&mut self) -> State {
        self.state = State::Final;
        self.state
    }
}

#[cfg(test)]
mod tests {
    use super::Action::{Cluster, Flush, Lead, None};
    use super::State::{AllTracing as AT, Clustering as C, Final as F, Lead as L};
    use super::*;

    /// The same by the lengths of runs of equal intervals: the n-th equal one
    /// in a row decides.
    fn by_runs(votes: &[bool]) -> Vec<Step> {
        let mut equal = 0;
        let step = |(at, mismatch): (usize, &bool)| {
            let before = equal;
            equal = if at == 0 || *mismatch { 0 } else { equal + 1 };
            let (state, action) = match (before, equal) {
                (_, 1) => (C, Cluster),
                (_, 2) => (L, Lead),
                (_, 3..) => (L, None),
                (2.., 0) => (AT, Flush),
                _ => (AT, None),
            };
            Step { state, action }
        };
        votes.iter().enumerate().map(step).collect()
    }

    #[test]
    fn all_votes_up_to_twelve_markers() {
        for length in 0..=12 {
            for bits in 0..1_u32 << length {
                let votes: Vec<bool> = (0..length).map(|at| bits >> at & 1 == 1).collect();
                let mut machine = Machine::new();
                let steps: Vec<Step> = votes.iter().map(|vote| machine.marker(*vote)).collect();
                assert_eq!(steps, by_runs(&votes), "{votes:?}");
                let last = steps.last().map_or(AT, |step| step.state);
                assert_eq!(machine.state(), last);
                assert_eq!((machine.finish(), machine.state()), (F, F));
            }
        }
    }

    /// Figure 3: a loop, then a loop in which half of the ranks take another
    /// branch.
    #[test]
    fn two_loops_are_two_clusterings() {
        let mut machine = Machine::new();
        let votes = [true, false, false, false, true, true, false, false, false];
        let states: Vec<State> = votes.iter().map(|vote| machine.marker(*vote).state).collect();
        assert_eq!(states, [AT, C, L, L, AT, AT, C, L, L]);
        assert_eq!(machine.finish(), F);
    }

    #[test]
    fn the_first_marker_has_nothing_to_compare_with() {
        assert_eq!(Machine::new().marker(false), Step { state: AT, action: None });
    }

    #[test]
    fn nothing_is_flushed_that_was_not_led() {
        let mut machine = Machine::new();
        machine.marker(true);
        assert_eq!(machine.marker(false).action, Cluster);
        assert_eq!(machine.marker(true), Step { state: AT, action: None }, "all recorded in C");
    }
}
