//! The numbers in the rules.

/// The numbers in the rules of the refinement.
///
/// `docs/refinement.md` says what happens at half and at double of each, on
/// every trace at hand.
#[derive(Clone, Debug, PartialEq)]
pub struct RefineRules {
    /// Evidence for a join must speak of this share of the bursts of the rarer
    /// group. Lower, and steps of the program join; higher, and phases stay in
    /// pieces.
    pub evidence: f64,
    /// The values of two groups overlap if Ashman's D, the distance of their
    /// means over their spreads, is at most this. The sum of two normal
    /// distributions of the same width has one peak up to 2, and two above.
    pub apart: f64,
    /// Two groups keep to columns of their own if at most this share of their
    /// expected pairs (one burst of each, by chance) is in the same column...
    pub mixed: f64,
    /// ...and if so many pairs at least are expected: of fewer nothing can be said.
    pub pairs: f64,
    /// Two groups that keep to their own take turns if the columns change hands
    /// at least so often. A phase that drifts changes once.
    pub turns: f64,
    /// Nothing grows or joins at a radius more than this many times the
    /// distances within it: what is connected then is noise, or another mode.
    pub sparse: f64,
    /// A group is scattered noise, not a step of the program, if of the tasks that
    /// show it, beyond the first, less than this share do so in the same column.
    pub scattered: f64,
    /// A phase is told as the alternative of another if it stands in for it in
    /// this share of its places. No phase depends on it.
    pub always: f64,
}

impl Default for RefineRules {
    fn default() -> Self {
        Self {
            evidence: 0.5,
            apart: 2.0,
            mixed: 0.75,
            pairs: 100.0,
            turns: 8.0,
            sparse: 12.0,
            scattered: 0.1,
            always: 0.9,
        }
    }
}
