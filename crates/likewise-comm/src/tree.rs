//! A binomial tree: who passes what on to whom.

/// The place of a member in a binomial tree of members that are numbered from 0,
/// the root, on. A member's subtree are the members right after it, so what is
/// put together in the order of the children is in the order of the members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tree {
    size: usize,
    number: usize,
}

impl Tree {
    /// The place of member `number` of `size`.
    pub fn new(size: usize, number: usize) -> Self {
        Self { size, number }
    }

    /// How many members there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// The number of this member.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The parent's number: this one without its lowest bit. The root has none.
    pub fn parent(&self) -> Option<usize> {
        (self.number > 0).then(|| self.number & (self.number - 1))
    }

    /// The children's numbers, at most log2(size): this one with one bit below
    /// its lowest. The subtree of the child at distance 2ᵏ has up to 2ᵏ members.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = usize> + use<> {
        let n_bits = self.size.next_power_of_two().trailing_zeros().min(self.number.trailing_zeros());
        let (number, size) = (self.number, self.size);
        (0..n_bits).map(move |bit| number + (1 << bit)).filter(move |child| *child < size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_member_is_reached_once() {
        for size in 1..40 {
            let mut order = Vec::new();
            let mut todo = vec![0];
            while let Some(number) = todo.pop() {
                order.push(number);
                let children: Vec<usize> = Tree::new(size, number).children().collect();
                assert!(children.iter().all(|&child| Tree::new(size, child).parent() == Some(number)));
                todo.extend(children.iter().rev());
            }
            assert!(order.iter().copied().eq(0..size), "{size}: {order:?}");
        }
    }
}
