//! A binomial tree: who passes what on to whom.

use likewise_comm::CommError;

/// The place of a member in a binomial tree of `size` members, rooted in
/// member 0. A member's subtree are the members right after it, so what is
/// merged in the order of the children is merged in the order of the members.
pub(crate) struct Tree {
    size: usize,
    number: usize,
}

impl Tree {
    pub(crate) fn new(size: usize, number: usize) -> Self {
        Self { size, number }
    }

    /// This number without its lowest bit.
    pub(crate) fn parent(&self) -> Option<usize> {
        (self.number > 0).then(|| self.number & (self.number - 1))
    }

    /// This number with one bit below its lowest, in order.
    pub(crate) fn children(&self) -> impl Iterator<Item = usize> {
        let n_bits = self.size.next_power_of_two().trailing_zeros().min(self.number.trailing_zeros());
        let (number, size) = (self.number, self.size);
        (0..n_bits).map(move |bit| number + (1 << bit)).filter(move |child| *child < size)
    }
}

/// The error where a message does not hold what it must.
pub(crate) fn out_of_step(call: &'static str) -> CommError {
    let reason = "a message is not what this call sends: the ranks do not make the same calls".into();
    CommError::Transport { call, reason }
}
