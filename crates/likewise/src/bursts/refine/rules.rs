//! The numbers in the rules.

/// The numbers in the rules of the refinement.
///
/// `docs/refinement.md` says what happens at half and at double of each.
#[derive(Clone, Debug, PartialEq)]
pub struct RefineRules {
    /// The share of the bursts that evidence for a join must speak of.
    pub evidence: f64,
    /// The values of two groups overlap if Ashman's D, the distance of their means
    /// over their spreads, is this at most. Of two normal distributions of the
    /// same width, the sum has one peak up to 2 and two above.
    pub apart: f64,
    /// Two keep to columns of their own where at most this share of the pairs
    /// (one burst of each) that chance would put into one column are in one...
    pub mixed: f64,
    /// ...and chance would put so many.
    pub pairs: f64,
    /// Who takes turns changes so often at least,
    pub turns: f64,
    /// and in this share of the columns of the one that has fewer.
    pub turn_share: f64,
    /// Groups are no fragments of one phase where the radius that connects them is
    /// more than this many times the distances within both.
    pub far: f64,
    /// A phase does not grow at a radius more than this many times the distances
    /// within it: what is connected then is noise nearby.
    pub sparse: f64,
    /// A group is scattered, not a step of the program, if of the tasks that
    /// show it, beyond the first, less than this share do so in the same column.
    pub scattered: f64,
    /// The share of its places at which a phase stands in for another that it
    /// is the alternative of.
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
            turn_share: 0.25,
            far: 8.0,
            sparse: 12.0,
            scattered: 0.1,
            always: 0.9,
        }
    }
}
