//! The loop nest of a rank.

use crate::broken::Broken;
use crate::column::{Unfold, Values};
use crate::fold::{Item, Token, node_of};
use crate::recording::{Piece, Recording};

/// Loops in which nothing is called may be gone through so often, in a cut nest.
const MOST_IDLE: u64 = 1 << 20;

/// Nodes of a nest. (Bodies that hold others twice make many of few bytes.)
const MOST_NODES: u64 = 1 << 20;

/// Loops within loops: the folding finds no more than its window has room for.
const DEEPEST: u32 = 500;

/// Iteration counts that are added up.
const MOST_COUNTS: u64 = 1 << 28;

fn too_much() -> Broken {
    Broken { at: 0, what: "more loops than a program has".to_owned() }
}

/// A node of the loop nest of a rank.
#[derive(Clone, Debug, PartialEq)]
pub enum Nest {
    /// A call: symbol, and how often it is executed in all.
    Call(u32, u64),
    /// A loop: its body, how often it is entered, how many iterations it has
    /// in all.
    Loop(Vec<Nest>, u64, u64),
}

impl Recording {
    /// The loop nest of a rank. Where it stands behind a lead, that of the lead;
    /// an iteration that is not all the rank's counts as one.
    ///
    /// # Errors
    /// The file holds nonsense.
    pub fn nest(&self, rank: u32) -> Result<Vec<Nest>, Broken> {
        let mut nest = Vec::new();
        for span in self.spans(rank) {
            let piece = self.piece(span.piece);
            match span.lead {
                Some((lead, events)) if events < piece.part.n_events(lead) => {
                    cut(piece, lead, events, &mut nest)?;
                }
                lead => whole(piece, lead.map_or(rank, |(lead, _)| lead), &mut nest)?,
            }
        }
        Ok(nest)
    }
}

/// All that a rank did in a piece.
pub(crate) fn whole(piece: &Piece, rank: u32, nest: &mut Vec<Nest>) -> Result<(), Broken> {
    let sequence = piece.part.sequence(rank)?;
    let mut walker = Nester { piece, sequence, nodes: MOST_NODES, counts: MOST_COUNTS };
    let items: Vec<Item> = walker.sequence.items.clone().collect();
    items.into_iter().try_for_each(|item| walker.place(item, 1, DEEPEST, nest))
}

/// The first events that a rank did in a piece.
fn cut(piece: &Piece, rank: u32, events: u64, nest: &mut Vec<Nest>) -> Result<(), Broken> {
    let sequence = piece.part.sequence(rank)?;
    let items: Vec<Item> = sequence.items.clone().collect();
    let mut cutter = Cutter { piece, sequence, left: events, idle: 0, nodes: MOST_NODES };
    for Item { token, count } in items {
        if cutter.left == 0 {
            break;
        }
        let mut place = cutter.empty(token, DEEPEST)?;
        cutter.go(token, count, &mut place)?;
        nest.push(place);
    }
    Ok(())
}

/// Counts calls one by one.
struct Cutter<'a> {
    piece: &'a Piece,
    sequence: Unfold,
    left: u64,
    idle: u64,
    nodes: u64,
}

impl Cutter<'_> {
    fn empty(&mut self, token: Token, depth: u32) -> Result<Nest, Broken> {
        self.nodes = self.nodes.checked_sub(1).ok_or_else(too_much)?;
        let Some(node) = node_of(token) else { return Ok(Nest::Call(self.piece.symbols[token as usize], 0)) };
        let depth = depth.checked_sub(1).ok_or_else(too_much)?;
        let body = self.sequence.nodes[node as usize].clone();
        let inner = body.into_iter().map(|token| self.empty(token, depth)).collect::<Result<_, _>>()?;
        Ok(Nest::Loop(inner, 0, 0))
    }

    fn go(&mut self, token: Token, count: u64, place: &mut Nest) -> Result<(), Broken> {
        let (inner, iterations) = match place {
            Nest::Call(_, n) => {
                *n += 1;
                self.left -= 1;
                self.idle = 0;
                return Ok(());
            }
            Nest::Loop(inner, entered, iterations) => {
                *entered += 1;
                (inner, iterations)
            }
        };
        let node = node_of(token).unwrap_or_default();
        let body = self.sequence.nodes[node as usize].clone();
        for _ in 0..count {
            if self.left == 0 {
                return Ok(());
            }
            self.idle += 1;
            if self.idle > MOST_IDLE {
                return Err(Broken { at: 0, what: "loops in which nothing is called".to_owned() });
            }
            *iterations += 1;
            for (at, (token, place)) in body.iter().zip(&mut *inner).enumerate() {
                if self.left == 0 {
                    return Ok(());
                }
                let count = if node_of(*token).is_some() { self.count(node, at as u32) } else { 1 };
                self.go(*token, count, place)?;
            }
        }
        Ok(())
    }

    fn count(&mut self, node: u32, place: u32) -> u64 {
        let columns = &mut self.sequence.counts[node as usize];
        let column = columns.iter_mut().find(|(known, _)| *known == place);
        column.and_then(|(_, values)| values.next()).unwrap_or(0) as u64
    }
}

/// Builds loop nests. Counts of inner loops are taken from their columns: as
/// many as the loop around them has iterations.
struct Nester<'a> {
    piece: &'a Piece,
    sequence: Unfold,
    /// What is left of the limits.
    nodes: u64,
    counts: u64,
}

impl Nester<'_> {
    /// Of a loop, `item.count` is the number of its iterations in all.
    fn place(&mut self, item: Item, entered: u64, depth: u32, nest: &mut Vec<Nest>) -> Result<(), Broken> {
        self.nodes = self.nodes.checked_sub(1).ok_or_else(too_much)?;
        let Some(node) = node_of(item.token) else {
            nest.push(Nest::Call(self.piece.symbols[item.token as usize], item.count));
            return Ok(());
        };
        let depth = depth.checked_sub(1).ok_or_else(too_much)?;
        let body = self.sequence.nodes[node as usize].clone();
        let mut inner = Vec::new();
        for (place, token) in body.into_iter().enumerate() {
            let count = self.times(node, place as u32, token, item.count)?;
            self.place(Item { token, count }, item.count, depth, &mut inner)?;
        }
        nest.push(Nest::Loop(inner, entered, item.count));
        Ok(())
    }

    fn times(&mut self, node: u32, place: u32, token: Token, iterations: u64) -> Result<u64, Broken> {
        if node_of(token).is_none() {
            return Ok(iterations);
        }
        let columns = &mut self.sequence.counts[node as usize];
        let Some((_, column)) = columns.iter_mut().find(|(known, _)| *known == place) else { return Ok(0) };
        if let Values::Even(value, 0) = column {
            return Ok((*value as u64).saturating_mul(iterations));
        }
        let mut sum = 0_u64;
        for _ in 0..iterations {
            self.counts = self.counts.checked_sub(1).ok_or_else(too_much)?;
            let Some(count) = column.next() else { break };
            sum = sum.saturating_add(count as u64);
        }
        Ok(sum)
    }
}
