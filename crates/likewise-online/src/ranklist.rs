//! Lists of ranks in little space: regular section descriptors.

use std::fmt;

/// How many dimensions a section has at most. Ranks of a box of nodes, of
/// sockets and cores in each, have so many.
const MOST_DIMENSIONS: usize = 6;

/// `count` times the same, `stride` ranks apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Dimension {
    count: u32,
    stride: u32,
}

/// Ranks `start + i₁·stride₁ + i₂·stride₂ + …` for all `i` below the counts,
/// the outermost dimension first. A stride is more than the extent of the
/// dimensions within, so that ranks come in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Section {
    start: u32,
    n_dimensions: u8,
    /// Those after `n_dimensions` are as by default, so that equal sections are
    /// equal.
    all: [Dimension; MOST_DIMENSIONS],
}

impl Section {
    fn one(rank: u32) -> Self {
        Self::new(rank, &[])
    }

    fn new(start: u32, dimensions: &[Dimension]) -> Self {
        let mut all = [Dimension::default(); MOST_DIMENSIONS];
        all[..dimensions.len()].copy_from_slice(dimensions);
        Self { start, n_dimensions: dimensions.len() as u8, all }
    }

    fn dimensions(&self) -> &[Dimension] {
        &self.all[..usize::from(self.n_dimensions)]
    }

    fn len(&self) -> u64 {
        self.dimensions().iter().map(|dimension| u64::from(dimension.count)).product()
    }

    /// From the first rank to the last.
    fn extent(dimensions: &[Dimension]) -> u64 {
        dimensions.iter().map(|d| u64::from(d.count - 1) * u64::from(d.stride)).sum()
    }

    fn last(&self) -> u32 {
        self.start + Self::extent(self.dimensions()) as u32
    }

    fn contains(&self, rank: u32) -> bool {
        let Some(mut left) = rank.checked_sub(self.start) else { return false };
        for dimension in self.dimensions() {
            left -= (left / dimension.stride).min(dimension.count - 1) * dimension.stride;
        }
        left == 0
    }

    /// How many steps [`Builder::section`] takes at most, if a builder made this:
    /// some repetitions of each dimension, until it can leap; twice that, and
    /// some more.
    fn most_steps(&self) -> u64 {
        64 + 2 * (0..u64::from(self.n_dimensions)).map(|at| at + 5).product::<u64>()
    }

    /// The n-th rank.
    fn nth(&self, mut n: u64) -> u32 {
        let mut rank = self.start;
        for dimension in self.dimensions().iter().rev() {
            let count = u64::from(dimension.count);
            rank += (n % count) as u32 * dimension.stride;
            n /= count;
        }
        rank
    }
}

/// Ranks, each once, in order.
///
/// The same ranks are always described by the same sections, however they were
/// put together: runs of ranks at even distances, then runs of like runs at
/// even distances, and so on, each as long as can be, from the lowest rank on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Ranklist {
    sections: Vec<Section>,
}

impl Ranklist {
    /// No ranks.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These ranks, in any order; one that is there twice counts once.
    #[must_use]
    pub fn of(ranks: &[u32]) -> Self {
        let mut sorted = ranks.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        let mut builder = Builder::default();
        sorted.into_iter().for_each(|rank| builder.rank(rank));
        builder.done()
    }

    /// How many ranks.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.sections.iter().map(Section::len).sum()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// How many sections describe the ranks.
    #[must_use]
    pub fn sections(&self) -> usize {
        self.sections.len()
    }

    /// The lowest rank.
    #[must_use]
    pub fn first(&self) -> Option<u32> {
        self.sections.first().map(|section| section.start)
    }

    /// The highest rank.
    #[must_use]
    pub fn last(&self) -> Option<u32> {
        self.sections.last().map(Section::last)
    }

    /// Whether a rank is in it.
    #[must_use]
    pub fn contains(&self, rank: u32) -> bool {
        let after = self.sections.partition_point(|section| section.start <= rank);
        after > 0 && self.sections[after - 1].contains(rank)
    }

    /// The ranks, in order.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.sections.iter().flat_map(|section| (0..section.len()).map(|n| section.nth(n)))
    }

    /// Takes up the ranks of another list.
    ///
    /// # Complexity
    /// If one list ends before the other begins: by sections, not by ranks.
    /// Otherwise by ranks.
    pub fn merge(&mut self, other: &Self) {
        let (Some(end), Some(others_end)) = (self.last(), other.last()) else {
            self.sections.extend_from_slice(&other.sections);
            return;
        };
        let mut builder = Builder::default();
        if other.first() > Some(end) {
            self.sections.iter().chain(&other.sections).for_each(|section| builder.section(section));
        } else if self.first() > Some(others_end) {
            other.sections.iter().chain(&self.sections).for_each(|section| builder.section(section));
        } else {
            let (mut own, mut others) = (self.iter().peekable(), other.iter().peekable());
            loop {
                let next = match (own.peek(), others.peek()) {
                    (Some(a), Some(b)) => *a.min(b),
                    (Some(rank), None) | (None, Some(rank)) => *rank,
                    (None, None) => break,
                };
                own.next_if_eq(&next);
                others.next_if_eq(&next);
                builder.rank(next);
            }
        }
        *self = builder.done();
    }

    /// Appends the list as bytes.
    pub fn encode(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.sections.len() as u32);
        let mut before = 0;
        for section in &self.sections {
            put(bytes, section.start - before);
            put(bytes, section.dimensions().len() as u32);
            for dimension in section.dimensions() {
                put(bytes, dimension.count);
                put(bytes, dimension.stride);
            }
            before = section.last();
        }
    }

    /// Takes a list off the front of `bytes`.
    ///
    /// # Errors
    /// The bytes are not those of a list as [`Ranklist::encode`] makes it.
    pub fn decode(bytes: &mut &[u8]) -> Result<Self, NotRanks> {
        let n = take(bytes)?;
        let (mut list, mut before) = (Self::new(), 0_u32);
        for at in 0..n {
            let distance = take(bytes)?;
            let start = before.checked_add(distance).filter(|_| at == 0 || distance > 0).ok_or(NotRanks)?;
            let section = Section::new(start, &dimensions(bytes)?);
            let last = u64::from(start) + Section::extent(section.dimensions());
            before = u32::try_from(last).map_err(|_| NotRanks)?;
            list.sections.push(section);
        }
        // What was encoded is gone through in few steps; a few bytes of something
        // else can be a list of millions of sections.
        let mut builder =
            Builder { most_steps: list.sections.iter().map(Section::most_steps).sum(), ..Builder::default() };
        list.sections.iter().for_each(|section| builder.section(section));
        let is_list = builder.steps <= builder.most_steps && builder.done() == list;
        if is_list { Ok(list) } else { Err(NotRanks) }
    }
}

/// Dimensions in whose order the ranks grow.
fn dimensions(bytes: &mut &[u8]) -> Result<Vec<Dimension>, NotRanks> {
    let n = take(bytes)? as usize;
    if n > MOST_DIMENSIONS {
        return Err(NotRanks);
    }
    let mut dimensions = Vec::with_capacity(n);
    for _ in 0..n {
        let dimension = Dimension { count: take(bytes)?, stride: take(bytes)? };
        if dimension.count < 2 || dimension.stride == 0 {
            return Err(NotRanks);
        }
        dimensions.push(dimension);
    }
    let is_within = |at: usize| {
        let within = Section::extent(&dimensions[at + 1..]);
        u64::from(dimensions[at].stride) > within && within <= u64::from(u32::MAX)
    };
    if (0..n).all(is_within) { Ok(dimensions) } else { Err(NotRanks) }
}

fn put(bytes: &mut Vec<u8>, mut number: u32) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn take(bytes: &mut &[u8]) -> Result<u32, NotRanks> {
    let mut number = 0_u64;
    for shift in (0..35).step_by(7) {
        let (byte, rest) = bytes.split_first().ok_or(NotRanks)?;
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        if *byte < 0x80 {
            return u32::try_from(number).map_err(|_| NotRanks);
        }
    }
    Err(NotRanks)
}

/// The bytes are not those of a list of ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotRanks;

impl fmt::Display for NotRanks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("these bytes are no list of ranks")
    }
}

impl std::error::Error for NotRanks {}

/// A run of like sections at even distances that may still grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    first: Section,
    count: u32,
    /// Of no meaning while `count` is 1.
    stride: u32,
}

impl Open {
    fn close(self) -> Section {
        let mut section = self.first;
        if self.count > 1 {
            // A run of level n is of sections with no more than n dimensions.
            section.all.rotate_right(1);
            section.all[0] = Dimension { count: self.count, stride: self.stride };
            section.n_dimensions += 1;
        }
        section
    }

    fn takes(&self, section: &Section) -> bool {
        if self.first.all != section.all {
            return false;
        }
        let distance = section.start - self.first.start;
        // In 64 bits: the next place may be no rank.
        self.count == 1 || u64::from(distance) == u64::from(self.count) * u64::from(self.stride)
    }
}

/// Makes sections of ranks that come in order: runs of ranks, runs of runs, ….
#[derive(Clone, Debug)]
struct Builder {
    levels: [Option<Open>; MOST_DIMENSIONS],
    sections: Vec<Section>,
    /// How many ranks were put in one by one, and after how many that ends.
    steps: u64,
    most_steps: u64,
}

impl Default for Builder {
    fn default() -> Self {
        Self { levels: Default::default(), sections: Vec::new(), steps: 0, most_steps: u64::MAX }
    }
}

impl Builder {
    fn rank(&mut self, rank: u32) {
        self.steps += 1;
        self.put(0, Section::one(rank));
    }

    fn put(&mut self, level: usize, section: Section) {
        let Some(open) = self.levels.get_mut(level) else {
            self.sections.push(section);
            return;
        };
        match open {
            Some(run) if run.takes(&section) => {
                run.stride = if run.count == 1 { section.start - run.first.start } else { run.stride };
                run.count += 1;
            }
            _ => {
                let closed = open.replace(Open { first: section, count: 1, stride: 0 });
                if let Some(closed) = closed {
                    self.put(level + 1, closed.close());
                }
            }
        }
    }

    fn done(mut self) -> Ranklist {
        for level in 0..MOST_DIMENSIONS {
            if let Some(open) = self.levels[level].take() {
                self.put(level + 1, open.close());
            }
        }
        Ranklist { sections: self.sections }
    }

    /// All ranks of a section. What one repetition of its outermost dimension
    /// did, the next one will do: so after a repetition that only made a run
    /// longer, the others are not gone through.
    fn section(&mut self, section: &Section) {
        let Some((outer, inner)) = section.dimensions().split_first() else {
            self.rank(section.start);
            return;
        };
        for at in 0..outer.count {
            if self.steps > self.most_steps {
                return;
            }
            let start = section.start + at * outer.stride;
            let before = (at > 1).then_some((self.levels, self.sections.len()));
            self.section(&Section::new(start, inner));
            let left = outer.count - 1 - at;
            if let Some((levels, n)) = before
                && left > 0
                && n == self.sections.len()
                && self.leap(&levels, outer.stride, left)
            {
                return;
            }
        }
    }

    /// Does so many repetitions at once, if the last one made one run longer and
    /// otherwise only moved what is open on by `stride`.
    fn leap(&mut self, before: &[Option<Open>], stride: u32, times: u32) -> bool {
        let mut longer = None;
        for (level, (before, now)) in before.iter().zip(&self.levels).enumerate() {
            let (Some(before), Some(now)) = (before, now) else {
                if before.is_some() || now.is_some() {
                    return false;
                }
                continue;
            };
            let same_run = before.first.start == now.first.start && before.first.all == now.first.all;
            let moved = before.first.start.checked_add(stride) == Some(now.first.start)
                && before.first.all == now.first.all
                && (before.count, before.stride) == (now.count, now.stride);
            if same_run && now == before || moved {
                continue;
            }
            if !same_run || now.stride != before.stride || before.count < 2 || longer.is_some() {
                return false;
            }
            longer = Some((level, now.count - before.count));
        }
        let Some((longer, by)) = longer else { return false };
        for (level, open) in self.levels.iter_mut().enumerate() {
            let Some(open) = open else { continue };
            let was = before[level].as_ref().map(|before| before.first.start);
            if level == longer {
                open.count += by * times;
            } else if was != Some(open.first.start) {
                open.first.start += stride * times;
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// All ranks of a box of `size` ranks for which `is_in` says so.
    fn square(side: u32, is_in: impl Fn(u32, u32) -> bool) -> Vec<u32> {
        (0..side * side).filter(|rank| is_in(rank % side, rank / side)).collect()
    }

    fn check(ranks: &BTreeSet<u32>, list: &Ranklist) {
        let all: Vec<u32> = ranks.iter().copied().collect();
        assert_eq!(list.iter().collect::<Vec<_>>(), all);
        assert_eq!(list.len(), all.len() as u64);
        assert_eq!((list.first(), list.last()), (all.first().copied(), all.last().copied()));
        assert_eq!(list.is_empty(), all.is_empty());
        assert_eq!(*list, Ranklist::of(&all), "the same ranks have the same sections");
        let mut bytes = Vec::new();
        list.encode(&mut bytes);
        bytes.push(7);
        let mut rest = &bytes[..];
        assert_eq!(Ranklist::decode(&mut rest).as_ref(), Ok(list));
        assert_eq!(rest, [7]);
    }

    /// Lists in which something is regular.
    fn some() -> impl Strategy<Value = BTreeSet<u32>> {
        let grid = (0_u32..50, 1_u32..6, 1_u32..40, 1_u32..6, 1_u32..9, 1_u32..5, 1_u32..4);
        let grid = grid.prop_map(|(start, a, i, b, j, c, k)| {
            let at = |x: u32| start + x % a * i + x / a % b * j + x / a / b * k;
            (0..a * b * c).map(at).collect::<BTreeSet<u32>>()
        });
        let odd = prop::collection::btree_set(0_u32..300, 0..40);
        (prop::collection::vec(grid, 0..4), odd)
            .prop_map(|(grids, odd)| grids.into_iter().flatten().chain(odd).collect())
    }

    proptest! {
        #[test]
        fn a_list_is_a_set(ranks in some(), asked in prop::collection::vec(0_u32..400, 20)) {
            let list = Ranklist::of(&ranks.iter().rev().copied().collect::<Vec<_>>());
            check(&ranks, &list);
            for rank in asked {
                prop_assert_eq!(list.contains(rank), ranks.contains(&rank));
            }
        }

        #[test]
        fn merged_is_as_if_made_at_once(one in some(), other in some(), apart in 0_u32..900) {
            let other: BTreeSet<u32> = other.into_iter().map(|rank| rank + apart).collect();
            let of = |ranks: &BTreeSet<u32>| Ranklist::of(&ranks.iter().copied().collect::<Vec<_>>());
            let both: BTreeSet<u32> = one.union(&other).copied().collect();
            let (mut forth, mut back) = (of(&one), of(&other));
            back.merge(&forth);
            forth.merge(&of(&other));
            check(&both, &forth);
            check(&both, &back);
        }

        #[test]
        fn halves_of_a_square_come_together(side in 1_u32..30, cut in 0.0..1.0_f64, kind in 0_u32..6) {
            let end = side - 1;
            let ranks = square(side, |x, y| match kind {
                0 => x > 0 && x < end && y > 0 && y < end,
                1 => x == 0,
                2 => x == 0 || x == end,
                3 => y == end,
                4 => (x + y) % 2 == 0,
                _ => x % 3 == 1 && y % 2 == 0,
            });
            let (low, high) = ranks.split_at((ranks.len() as f64 * cut) as usize);
            let mut list = Ranklist::of(low);
            list.merge(&Ranklist::of(high));
            check(&ranks.into_iter().collect(), &list);
        }

        #[test]
        fn any_bytes_are_refused_or_a_list(bytes in prop::collection::vec(0_u8..6, 0..40)) {
            if let Ok(list) = Ranklist::decode(&mut &bytes[..]) {
                let mut again = Vec::new();
                list.encode(&mut again);
                prop_assert!(bytes.starts_with(&again));
            }
        }
    }

    #[test]
    fn the_inside_of_a_box_is_one_section() {
        let side = 40;
        let inside = |rank: &u32| {
            [rank % side, rank / side % side, rank / side / side].iter().all(|x| (1..side - 1).contains(x))
        };
        let ranks: Vec<u32> = (0..side * side * side).filter(inside).collect();
        let list = Ranklist::of(&ranks);
        assert_eq!((list.sections(), list.len()), (1, 38 * 38 * 38));
        assert_eq!(list.sections[0].dimensions().len(), 3);
    }

    #[test]
    fn a_billion_ranks_are_merged_at_once() {
        let half = |start| Ranklist {
            sections: vec![Section::new(start, &[Dimension { count: 1 << 30, stride: 1 }])],
        };
        let mut list = half(0);
        list.merge(&half(1 << 30));
        assert_eq!((list.len(), list.sections()), (1 << 31, 1));
    }

    #[test]
    fn claims_are_checked() {
        // Sections, distance, dimensions, count and stride.
        let cases: [&[u8]; 8] = [
            &[],
            &[0xff, 0xff, 0xff, 0xff, 0x0f],
            &[1, 0, 9],
            &[1, 0, 1, 1, 1],
            &[1, 0, 1, 4, 0],
            &[1, 0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0xff, 0xff, 0xff, 0xff, 0x0f],
            // A hundred million sections: pairs that begin in the middle of one.
            &[3, 2, 0, 4, 2, 175, 2, 10, 4, 3, 4, 3, 154, 169, 223, 33, 26, 4, 6, 2, 4],
            // Two sections that are one.
            &[2, 0, 0, 1, 0],
        ];
        for bytes in cases {
            assert_eq!(Ranklist::decode(&mut &bytes[..]), Err(NotRanks), "{bytes:?}");
        }
    }
}
