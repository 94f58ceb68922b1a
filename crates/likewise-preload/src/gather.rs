//! Parts of ranks are put together over a binomial tree.

use crate::job::guarded;
use crate::out::Out;
use likewise_comm::{Communicator, Tree};
use likewise_recording::{Part, file};
use std::path::Path;

/// Ranks that work together: the first is rank 0.
pub(crate) struct Ranks<'a> {
    /// None where they are all.
    some: Option<&'a [u32]>,
    n: usize,
    /// Of how many of them there should be parts.
    giving: usize,
}

impl<'a> Ranks<'a> {
    /// All ranks.
    pub(crate) fn all(size: u32) -> Self {
        Self { some: None, n: size as usize, giving: size as usize }
    }

    /// These, in order, of which the first is 0.
    pub(crate) fn these(ranks: &'a [u32]) -> Self {
        Self { some: Some(ranks), n: ranks.len(), giving: ranks.len() }
    }

    /// Of these, so many give something.
    pub(crate) fn giving(self, n: usize) -> Self {
        Self { giving: n, ..self }
    }

    fn rank(&self, place: usize) -> usize {
        self.some.map_or(place, |ranks| ranks[place] as usize)
    }

    /// Where a rank is in the tree of these.
    fn tree(&self, rank: u32) -> Option<Tree> {
        let place = match self.some {
            None => rank as usize,
            Some(ranks) => ranks.binary_search(&rank).ok()?,
        };
        Some(Tree::new(self.n, place))
    }
}

/// What becomes of the file when the parts are in it.
#[derive(Clone, Copy)]
pub(crate) enum End<'a> {
    /// It grows on, and is packed in the end.
    Open,
    /// A log follows.
    Log,
    /// It is ended, and gets this name.
    Foot(&'a Path),
}

/// Calls a function for each piece of a rank's sections, and whether it is the
/// last of one; none if they cannot be read.
type Sections<'a> = dyn Fn(&mut dyn FnMut(&[u8], bool)) -> Option<()> + 'a;

/// What a rank gives.
pub(crate) struct Give<'a> {
    pub(crate) rank: u32,
    /// The number of the parts that are put together.
    pub(crate) number: u32,
    pub(crate) end: End<'a>,
    /// The sections of this rank, where they are not put together.
    pub(crate) sections: &'a Sections<'a>,
}

/// What a subtree of ranks has gathered.
#[derive(Default)]
pub(crate) struct Gathered {
    /// How many ranks stopped recording before the end.
    pub(crate) n_cut: u32,
    pub(crate) part: Option<Part>,
    /// The ranks whose parts are too large to be gathered.
    pub(crate) large: Vec<u32>,
}

impl Gathered {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = self.n_cut.to_le_bytes().to_vec();
        bytes.extend((self.large.len() as u32).to_le_bytes());
        self.large.iter().for_each(|rank| bytes.extend(rank.to_le_bytes()));
        self.part.iter().for_each(|part| bytes.extend(part.encode()));
        bytes
    }

    fn take(&mut self, message: &[u8]) -> Option<()> {
        let (n_cut, rest) = message.split_first_chunk::<4>()?;
        let (n, rest) = rest.split_first_chunk::<4>()?;
        self.n_cut += u32::from_le_bytes(*n_cut);
        let (large, part) = rest.split_at_checked(4 * u32::from_le_bytes(*n) as usize)?;
        let (ranks, _) = large.as_chunks::<4>();
        self.large.extend(ranks.iter().map(|rank| u32::from_le_bytes(*rank)));
        if part.is_empty() {
            return Some(());
        }
        let part = Part::decode(part).ok()?;
        match &mut self.part {
            Some(own) => own.merge(&part),
            None => self.part = Some(part),
        }
        Some(())
    }
}

/// Gathers to rank 0, which writes. All are told whether that went well. On
/// rank 0 also what is missing.
pub(crate) fn gather(
    mut own: Gathered,
    give: &Give<'_>,
    ranks: &Ranks<'_>,
    link: &impl Communicator,
    out: Option<&mut Out>,
) -> Option<Result<Option<String>, String>> {
    let tree = ranks.tree(give.rank)?;
    let below = || tree.children().map(|child| ranks.rank(child));
    for child in below() {
        let message = link.receive(child).ok()?;
        // Who cannot be understood is missing.
        let _ = guarded(|| own.take(&message));
    }
    let result = match out {
        Some(out) => write(&own, give, link, out),
        None => {
            let parent = ranks.rank(tree.parent()?);
            let message = guarded(|| Some(own.encode())).unwrap_or_default();
            link.send(parent, &message).ok()?;
            if own.large.contains(&give.rank) {
                hand_over(give, link)?;
            }
            if link.receive(parent).ok()? == [1] { Ok(()) } else { Err(String::new()) }
        }
    };
    // Whoever was below is told, and what is whole elsewhere is removed.
    below().rev().try_for_each(|to| link.send(to, &[u8::from(result.is_ok())]).ok())?;
    let n_there = own.part.as_ref().map_or(0, |part| part.ranks().len()) + own.large.len();
    let missing = match ranks.giving.saturating_sub(n_there) {
        _ if give.rank > 0 => None,
        0 if own.n_cut == 0 => None,
        0 => Some(format!("what {} of {} ranks did after an error or a full disk", own.n_cut, ranks.giving)),
        missing => Some(format!("{missing} of {} ranks, where an error occurred", ranks.giving)),
    };
    Some(result.map(|()| missing))
}

/// On rank 0.
fn write(own: &Gathered, give: &Give<'_>, link: &impl Communicator, out: &mut Out) -> Result<(), String> {
    let write = if matches!(give.end, End::Open) { file::quick_section } else { file::section };
    let section = guarded(|| own.part.as_ref().map(|part| write(give.number, part)));
    if let Some(section) = &section {
        out.section(section);
    }
    let mut reached = own.part.is_none() || section.is_some();
    for rank in &own.large {
        let done = if *rank == give.rank {
            (give.sections)(&mut |bytes, ends| out.piece(bytes, ends))
        } else {
            take(*rank as usize, link, out)
        };
        reached &= done.is_some();
    }
    out.written()?;
    if let End::Foot(to) = give.end {
        out.close(to)?;
    }
    if reached { Ok(()) } else { Err("not all parts could be put together".to_owned()) }
}

/// Sends this rank's sections to rank 0 when it asks.
fn hand_over(give: &Give<'_>, link: &impl Communicator) -> Option<()> {
    link.receive(0).ok()?;
    let mut failed = false;
    let sent = (give.sections)(&mut |bytes, ends| {
        let message = [&[u8::from(ends)], bytes].concat();
        failed |= link.send(0, &message).is_err();
    });
    // An empty message ends it; a lone 2 says that something is missing.
    link.send(0, if sent.is_some() { &[] } else { &[2] }).ok()?;
    (!failed).then_some(())
}

/// Takes a rank's sections.
fn take(rank: usize, link: &impl Communicator, out: &mut Out) -> Option<()> {
    link.send(rank, &[]).ok()?;
    loop {
        let message = link.receive(rank).ok()?;
        match message.split_first() {
            None => return Some(()),
            Some((2, _)) => return None,
            Some((ends, bytes)) => out.piece(bytes, *ends == 1),
        }
    }
}
