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
    /// Two groups are separate steps, each with columns of its own, if at most
    /// this share of their expected pairs lies in the same column. A pair is one
    /// burst of each group; what is expected is their number by chance …
    pub mixed: f64,
    /// … and if at least so many pairs are expected: fewer say nothing.
    pub pairs: f64,
    /// Two such groups take turns if the columns change from one to the other at
    /// least so often. In a phase that drifts they change once.
    pub turns: f64,
    /// A group neither grows nor joins at a radius of more than this many times
    /// the distances within it: what such a radius connects is noise, or another
    /// mode.
    pub sparse: f64,
    /// A group is scattered noise, and no step of the program, if less than this
    /// share of its tasks are in the same column, in the mean over its columns (of
    /// both numbers one task is taken off, which is always there). Columns in which the
    /// task that has most of its bursts must be alone do not count.
    pub scattered: f64,
    /// A phase is reported as an alternative of another if it stands in for it at
    /// this share of its places. The phases themselves do not depend on it.
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
