//! A sequence folded into loops of any depth, while it grows (RSD and PRSD).
//!
//! Tokens arrive one by one. What repeats right after itself becomes a loop;
//! a loop is a token too, so loops nest. Iteration counts are no part of a
//! loop's identity: of a loop within a loop they are a column of their own
//! (one for each place in a body), so that an inner loop may run as often as it
//! likes each time.
//!
//! After a fold, the next tokens are expected to be those of the next
//! iteration, and as long as they are, each costs a comparison. Otherwise the
//! search for a repetition looks at a bounded number of places, compares by
//! rolling hashes, and then token by token. So a token costs bounded time,
//! whatever the input; what leaves the window is kept as bytes.
//!
//! # Reference
//! Noeth et al., JPDC 2009 (RSD and PRSD, §3). Differs: no window of 5,000
//! events is searched; parameters and counts are columns beside the structure.

use crate::broken::Broken;
use crate::bytes::{Reader, Write};
use crate::column::Column;
use crate::hash::{Map, mixed};

/// A token: a leaf, below 2^63, or a loop.
pub(crate) type Token = u64;

const LOOP: Token = 1 << 63;

/// How many earlier places of the same token are tried.
const TRIED: usize = 8;

const NOWHERE: u64 = u64::MAX;
const BASE: u64 = 0x2545_f491_4f6c_dd1d;

pub(crate) fn loop_token(node: u32) -> Token {
    LOOP | Token::from(node)
}

/// The node of a loop; none of a leaf.
pub(crate) fn node_of(token: Token) -> Option<u32> {
    (token & LOOP != 0).then_some(token as u32)
}

/// A token, and how often it stands there: of a leaf once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Item {
    pub(crate) token: Token,
    pub(crate) count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Placed {
    item: Item,
    /// Of all tokens up to here.
    hash: u64,
    /// Where the same token stands before this.
    before: u64,
}

/// A loop's body, and the iteration counts of the loops in it.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) body: Box<[Token]>,
    /// The first leaf.
    first: Token,
    /// One column for each place that is a loop.
    pub(crate) counts: Vec<(u32, Column)>,
}

impl Node {
    fn count(&mut self, place: u32, count: u64) {
        let column = self.counts.iter_mut().find(|(known, _)| *known == place);
        column.expect("the place is a loop").1.push(count as i64);
    }
}

/// Where in a loop the sequence is expected to be.
#[derive(Clone, Debug)]
struct Step {
    node: u32,
    at: u32,
    /// Whole iterations; of the outermost loop they are in the tail.
    done: u64,
    /// Counts of the loops passed in this iteration.
    counts: Vec<(u32, u64)>,
}

/// A folded sequence.
#[derive(Clone, Debug)]
pub(crate) struct Fold {
    window: usize,
    frozen: Vec<u8>,
    n_frozen: u64,
    tail: Vec<Placed>,
    /// How many items were before the tail.
    gone: u64,
    /// The hash of all before the tail.
    hash: u64,
    powers: Vec<u64>,
    last: Map<Token, u64>,
    pub(crate) nodes: Vec<Node>,
    known: Map<u64, Vec<u32>>,
    walk: Vec<Step>,
}

impl Fold {
    /// An empty sequence; loops up to half of `window` items are found.
    pub(crate) fn new(window: usize) -> Self {
        Self {
            window,
            frozen: Vec::new(),
            n_frozen: 0,
            tail: Vec::new(),
            gone: 0,
            hash: 0,
            powers: vec![1],
            last: Map::default(),
            nodes: Vec::new(),
            known: Map::default(),
            walk: Vec::new(),
        }
    }

    /// Adds a leaf.
    #[inline]
    pub(crate) fn push(&mut self, leaf: Token) {
        if let [step] = &mut self.walk[..] {
            // The loop without loops in it, which is most of them.
            let node = &self.nodes[step.node as usize];
            if node.body[step.at as usize] == leaf {
                step.at += 1;
                if step.at as usize == node.body.len() {
                    self.complete();
                }
                return;
            }
        }
        self.push_slowly(leaf);
    }

    fn push_slowly(&mut self, leaf: Token) {
        if !self.walk.is_empty() {
            if self.advance(leaf) {
                return;
            }
            self.abandon();
        }
        self.append(Item { token: leaf, count: 1 });
        self.expect();
    }

    /// About how many bytes of memory this takes.
    pub(crate) fn memory(&self) -> usize {
        let node = |node: &Node| {
            80 + node.body.len() * 8 + node.counts.iter().map(|(_, c)| c.memory()).sum::<usize>()
        };
        self.frozen.capacity()
            + self.tail.capacity() * size_of::<Placed>()
            + self.last.capacity() * 17
            + self.nodes.iter().map(node).sum::<usize>()
    }

    /// Goes one leaf on in the expected loops; false if the leaf is not what
    /// comes.
    fn advance(&mut self, leaf: Token) -> bool {
        loop {
            let depth = self.walk.len();
            let step = self.walk.last_mut().expect("only asked within a loop");
            let node = &self.nodes[step.node as usize];
            if depth > 1 && step.at == 0 && step.done > 0 && node.first != leaf {
                let done = step.done;
                self.walk.pop();
                self.pass(done);
                continue;
            }
            let expected = node.body[step.at as usize];
            let Some(inner) = node_of(expected) else {
                if expected != leaf {
                    return false;
                }
                step.at += 1;
                if step.at as usize == node.body.len() {
                    self.complete();
                }
                return true;
            };
            if self.nodes[inner as usize].first == leaf {
                self.walk.push(Step { node: inner, at: 0, done: 0, counts: Vec::new() });
            } else if node.body.get(step.at as usize + 1).is_some_and(|next| self.first(*next) == leaf) {
                self.pass(0);
            } else {
                return false;
            }
        }
    }

    fn first(&self, token: Token) -> Token {
        node_of(token).map_or(token, |node| self.nodes[node as usize].first)
    }

    /// The innermost step has passed a loop.
    fn pass(&mut self, count: u64) {
        let step = self.walk.last_mut().expect("a loop lies in a loop");
        step.counts.push((step.at, count));
        step.at += 1;
        if step.at as usize == self.nodes[step.node as usize].body.len() {
            self.complete();
        }
    }

    /// The innermost step has done an iteration.
    #[inline]
    fn complete(&mut self) {
        let outermost = self.walk.len() == 1;
        let step = self.walk.last_mut().expect("an iteration lies in a loop");
        step.at = 0;
        for (place, count) in step.counts.drain(..) {
            self.nodes[step.node as usize].count(place, count);
        }
        if outermost {
            self.tail.last_mut().expect("the loop stands there").item.count += 1;
        } else {
            step.done += 1;
        }
    }

    /// What the unfinished iterations hold, as items.
    fn unfinished(&self) -> Vec<Item> {
        let mut items = Vec::new();
        for (depth, step) in self.walk.iter().enumerate() {
            if depth > 0 && step.done > 0 {
                items.push(Item { token: loop_token(step.node), count: step.done });
            }
            let mut counts = step.counts.iter();
            for token in &self.nodes[step.node as usize].body[..step.at as usize] {
                let count = if node_of(*token).is_some() {
                    counts.next().expect("a passed loop has a count").1
                } else {
                    1
                };
                if count > 0 {
                    items.push(Item { token: *token, count });
                }
            }
        }
        items
    }

    /// The expectation was wrong: what was taken for the next iteration stands
    /// on its own.
    fn abandon(&mut self) {
        let items = self.unfinished();
        self.walk.clear();
        items.into_iter().for_each(|item| self.append(item));
    }

    /// Expects the next iteration, where a loop is last.
    fn expect(&mut self) {
        self.walk.clear();
        if let Some(node) = self.tail.last().and_then(|last| node_of(last.item.token)) {
            self.walk.push(Step { node, at: 0, done: 0, counts: Vec::new() });
        }
    }

    fn append(&mut self, item: Item) {
        self.place(item);
        while let Some(length) = self.repeats() {
            self.fold(length);
        }
        if self.tail.len() >= self.window {
            self.freeze();
        }
    }

    fn place(&mut self, item: Item) {
        if let Some(last) = self.tail.last_mut()
            && last.item.token == item.token
            && node_of(item.token).is_some()
        {
            last.item.count += item.count;
            return;
        }
        let at = self.gone + self.tail.len() as u64;
        let hash = self.hash_at(self.tail.len());
        let hash = hash.wrapping_mul(BASE).wrapping_add(mixed(item.token));
        let before = self.last.insert(item.token, at).unwrap_or(NOWHERE);
        self.tail.push(Placed { item, hash, before });
    }

    fn remove(&mut self, n: usize) {
        for placed in self.tail.drain(self.tail.len() - n..).rev() {
            if placed.before == NOWHERE {
                self.last.remove(&placed.item.token);
            } else {
                self.last.insert(placed.item.token, placed.before);
            }
        }
    }

    /// The hash of all tokens before that of the tail.
    fn hash_at(&self, at: usize) -> u64 {
        at.checked_sub(1).map_or(self.hash, |before| self.tail[before].hash)
    }

    fn hash_of(&mut self, from: usize, to: usize) -> u64 {
        while self.powers.len() <= to - from {
            let next = self.powers[self.powers.len() - 1].wrapping_mul(BASE);
            self.powers.push(next);
        }
        let before = self.hash_at(from).wrapping_mul(self.powers[to - from]);
        self.hash_at(to).wrapping_sub(before)
    }

    /// How many last items repeat those right before them.
    fn repeats(&mut self) -> Option<usize> {
        let n = self.tail.len();
        let mut before = self.tail[n - 1].before;
        for _ in 0..TRIED {
            if before == NOWHERE || before < self.gone {
                return None;
            }
            let at = (before - self.gone) as usize;
            let length = n - 1 - at;
            if 2 * length > n {
                return None;
            }
            let middle = n - length;
            if self.hash_of(middle - length, middle) == self.hash_of(middle, n) && self.equal(length) {
                return Some(length);
            }
            before = self.tail[at].before;
        }
        None
    }

    fn equal(&self, length: usize) -> bool {
        let n = self.tail.len();
        let (before, after) = self.tail[n - 2 * length..].split_at(length);
        before.iter().zip(after).all(|(a, b)| a.item.token == b.item.token)
    }

    /// Makes two iterations of a loop out of the last items.
    fn fold(&mut self, length: usize) {
        let n = self.tail.len();
        let body: Vec<Token> = self.tail[n - length..].iter().map(|placed| placed.item.token).collect();
        let node = self.node(body);
        for iteration in self.tail[n - 2 * length..].chunks(length) {
            for (place, placed) in iteration.iter().enumerate() {
                if node_of(placed.item.token).is_some() {
                    self.nodes[node as usize].count(place as u32, placed.item.count);
                }
            }
        }
        self.remove(2 * length);
        self.place(Item { token: loop_token(node), count: 2 });
    }

    fn node(&mut self, body: Vec<Token>) -> u32 {
        let hash = body.iter().fold(body.len() as u64, |hash, token| mixed(hash.rotate_left(5) ^ token));
        let nodes = self.known.entry(hash).or_default();
        if let Some(node) = nodes.iter().find(|node| *self.nodes[**node as usize].body == *body) {
            return *node;
        }
        let node = self.nodes.len() as u32;
        nodes.push(node);
        let loops = body.iter().enumerate().filter(|(_, token)| node_of(**token).is_some());
        let counts = loops.map(|(place, _)| (place as u32, Column::default())).collect();
        let first = self.first(body[0]);
        self.nodes.push(Node { body: body.into_boxed_slice(), first, counts });
        node
    }

    /// Turns the older half of the tail into bytes.
    fn freeze(&mut self) {
        let n = self.tail.len() / 2;
        self.hash = self.hash_at(n);
        for placed in self.tail.drain(..n) {
            write_item(&mut self.frozen, placed.item);
        }
        self.n_frozen += n as u64;
        self.gone += n as u64;
        // Tokens that are in the tail no more are forgotten.
        self.last.clear();
        for (at, placed) in self.tail.iter_mut().enumerate() {
            let at = self.gone + at as u64;
            placed.before = self.last.insert(placed.item.token, at).unwrap_or(NOWHERE);
        }
    }

    /// How many items there are, but for those of unfinished iterations.
    pub(crate) fn n_items(&self) -> u64 {
        self.n_frozen + self.tail.len() as u64
    }

    /// All items, in order.
    pub(crate) fn items(&self) -> Vec<Item> {
        let mut frozen = Reader::new(&self.frozen);
        let read = |_| read_item(&mut frozen).expect("written here");
        let mut items: Vec<Item> = (0..self.n_frozen).map(read).collect();
        items.extend(self.tail.iter().map(|placed| placed.item));
        items.extend(self.unfinished());
        items
    }

    /// Nodes, items, and the counts of loops in loops.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.number(self.nodes.len() as u64);
        for node in &self.nodes {
            bytes.number(node.body.len() as u64);
            node.body.iter().for_each(|token| write_token(bytes, *token));
        }
        let items = self.items();
        bytes.number(items.len() as u64);
        items.iter().for_each(|item| write_item(bytes, *item));
        for node in &self.nodes {
            node.counts.iter().for_each(|(_, column)| column.write(bytes));
        }
    }
}

/// A token in one number: leaves even, loops odd.
pub(crate) fn write_token(bytes: &mut Vec<u8>, token: Token) {
    bytes.number(token << 1 | u64::from(node_of(token).is_some()));
}

pub(crate) fn read_token(reader: &mut Reader<'_>) -> Result<Token, Broken> {
    let token = reader.number()?;
    if token & 1 == 0 {
        return Ok(token >> 1);
    }
    let node = u32::try_from(token >> 1).map_err(|_| reader.broken("no such loop"))?;
    Ok(loop_token(node))
}

pub(crate) fn write_item(bytes: &mut Vec<u8>, item: Item) {
    write_token(bytes, item.token);
    if node_of(item.token).is_some() {
        bytes.number(item.count);
    }
}

pub(crate) fn read_item(reader: &mut Reader<'_>) -> Result<Item, Broken> {
    let token = read_token(reader)?;
    let count = if node_of(token).is_some() { reader.number()? } else { 1 };
    Ok(Item { token, count })
}
