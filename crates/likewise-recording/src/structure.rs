//! What a sequence of symbols looks like when its loops are folded, whatever
//! their counts.

use crate::fold::{Fold, Token, loop_token, node_of};
use crate::hash::mixed;
use std::collections::BTreeMap;

/// Loops of up to half as many items are found.
const WINDOW: usize = 8192;

/// After so many symbols it is looked whether the folded sequence is long.
const LOOK: u32 = 4096;

/// A sequence of more items (or loops) than this is reduced.
const MOST_ITEMS: usize = 4096;

/// A fold that takes more bytes than this is reduced: counts of inner loops
/// that nobody asks for.
const MOST_BYTES: usize = 1 << 20;

/// How many of the last symbols stay, where the reduced sequence itself is too
/// long.
const KEPT: usize = 2048;

/// A sequence of symbols, folded into loops while it grows; of the loops only
/// the bodies count.
///
/// The *reduced* sequence has every loop once: whatever stands twice in a row
/// stands there once, again and again until nothing does. Sequences that differ
/// in loop counts alone have the same one, so (A B)⁵, A B and (A³ B)(A⁵ B) are
/// all A B.
///
/// # Where counts do matter
/// - A loop that did not run at all, or stopped in the middle of its body, left
///   other symbols: A C is not A B C.
/// - If the loops' bodies have no symbol in common (a symbol is a call with its
///   call path, so that is the rule), the reduced sequence is that of the nest,
///   whatever the counts. If a symbol stands at several places of a nest, as
///   with branches, what is folded first may depend on the counts:
///   (A B)(A C)(A B)(A C)… is A B A C, but choices that look random leave one of
///   several sequences.
/// - Loops whose reduced body is longer than 2,048 symbols are not always
///   found.
///
/// # Complexity
/// A symbol that is the next one of a loop's body costs two comparisons, every
/// other one bounded time. Memory is bounded, for any input: of a reduced
/// sequence of more than 4,096 symbols, the older ones are kept as one number
/// for each symbol.
#[derive(Clone, Debug)]
pub struct Structure {
    fold: Fold,
    /// Until the next look.
    left: u32,
    gone: Gone,
}

/// A loop that a sequence ends with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated {
    /// How often the symbols of `once` were pushed, at least (exactly, until the
    /// sequence is long, unless an outer loop has ended).
    pub iterations: u64,
    /// How many symbols the body has, each inner loop once.
    pub length: usize,
    /// The symbols that stand exactly once in the body and in no loop within
    /// it, in order.
    pub once: Vec<u32>,
    /// How many symbols came after the last whole iteration; less than
    /// `length`.
    pub after: usize,
}

impl Default for Structure {
    fn default() -> Self {
        Self::new()
    }
}

impl Structure {
    /// An empty sequence.
    #[must_use]
    pub fn new() -> Self {
        Self { fold: Fold::new(WINDOW), left: LOOK, gone: Gone::default() }
    }

    /// Adds a symbol.
    #[inline]
    pub fn push(&mut self, symbol: u32) {
        self.fold.push(Token::from(symbol));
        self.left -= 1;
        if self.left == 0 {
            self.look();
        }
    }

    /// Forgets all symbols.
    pub fn clear(&mut self) {
        if !self.is_empty() {
            *self = Self::new();
        }
    }

    /// Whether there is no symbol.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.left == LOOK && self.gone.n == 0 && self.fold.n_items() == 0
    }

    /// The reduced sequence. Of one of more than 4,096 symbols, the last ones;
    /// see [`Structure::gone`].
    #[must_use]
    pub fn calls(&self) -> Vec<u32> {
        reduced(once(&self.fold))
    }

    /// How many symbols of the reduced sequence stand before
    /// [`Structure::calls`].
    #[must_use]
    pub fn gone(&self) -> u64 {
        self.gone.n
    }

    /// Whether a symbol was pushed that [`Structure::calls`] may have no more.
    #[must_use]
    pub fn had(&self, symbol: u32) -> bool {
        self.gone.weights.get(symbol as usize).is_some_and(|weight| weight.seen)
    }

    /// A hash of the reduced sequence, all of it, where symbol `s` stands for
    /// `identity[s]`; for 0 where there is none. Ranks that number the same
    /// calls differently have the same hash, if they give the same identities.
    #[must_use]
    pub fn hash(&self, identity: &[u128]) -> u128 {
        self.hash_with(&self.calls(), identity)
    }

    /// The same, for who has [`Structure::calls`] already.
    #[must_use]
    pub fn hash_with(&self, calls: &[u32], identity: &[u128]) -> u128 {
        self.gone.hash(calls, identity)
    }

    /// The outermost loop that is running or has just ended: the one of the
    /// longest body. `None` where nothing repeats.
    #[must_use]
    pub fn repeated(&self) -> Option<Repeated> {
        let mut search = Search::default();
        search.count(&self.fold);
        let mut symbols = search.pass(&self.fold);
        loop {
            let n = symbols.len();
            symbols = search.pass(&folded(&symbols));
            if symbols.len() == n {
                return search.found();
            }
        }
    }

    /// About how many bytes of memory this takes.
    #[must_use]
    pub fn memory(&self) -> usize {
        size_of::<Self>() + self.fold.memory() + self.gone.weights.capacity() * size_of::<Weight>()
    }

    #[cold]
    fn look(&mut self) {
        self.left = LOOK;
        let long = self.fold.n_items() > MOST_ITEMS as u64 || self.fold.nodes.len() > MOST_ITEMS;
        if !long && self.fold.memory() < MOST_BYTES {
            return;
        }
        let calls = self.calls();
        let n_gone = if calls.len() > MOST_ITEMS { calls.len() - KEPT } else { 0 };
        self.gone.take(&calls[..n_gone]);
        self.fold = Fold::new(WINDOW);
        calls[n_gone..].iter().for_each(|symbol| self.fold.push(Token::from(*symbol)));
    }
}

/// All symbols, those of each loop once.
fn once(fold: &Fold) -> Vec<u32> {
    let mut symbols = Vec::new();
    fold.items().iter().for_each(|item| unroll(fold, item.token, &mut symbols));
    symbols
}

fn unroll(fold: &Fold, token: Token, symbols: &mut Vec<u32>) {
    match node_of(token) {
        Some(node) => {
            fold.nodes[node as usize].body.iter().for_each(|token| unroll(fold, *token, symbols));
        }
        None => symbols.push(token as u32),
    }
}

fn folded(symbols: &[u32]) -> Fold {
    let mut fold = Fold::new(WINDOW);
    symbols.iter().for_each(|symbol| fold.push(Token::from(*symbol)));
    fold
}

/// Folds and unrolls until nothing is folded any more. What is folded becomes
/// shorter, so this ends.
fn reduced(mut symbols: Vec<u32>) -> Vec<u32> {
    loop {
        let next = once(&folded(&symbols));
        if next.len() >= symbols.len() {
            return symbols;
        }
        symbols = next;
    }
}

/// Looks for the outermost loop. A loop whose inner loops sometimes run once
/// only shows after these are unrolled, so every pass of the reduction is
/// looked at.
#[derive(Default)]
struct Search {
    /// The body and the iterations of the longest loop, and how many symbols
    /// come after it.
    best: Option<(Vec<u32>, u64, usize)>,
    /// How long the shortest loop is that a symbol is in.
    shortest: BTreeMap<u32, usize>,
    /// How often a symbol was pushed, by the counts of the outermost loops.
    pushed: BTreeMap<u32, u64>,
}

impl Search {
    fn count(&mut self, fold: &Fold) {
        for item in fold.items() {
            let mut symbols = Vec::new();
            unroll(fold, item.token, &mut symbols);
            symbols.iter().for_each(|symbol| *self.pushed.entry(*symbol).or_default() += item.count);
        }
    }

    /// Looks at a sequence, and returns it with each loop once.
    fn pass(&mut self, fold: &Fold) -> Vec<u32> {
        let mut symbols = Vec::new();
        let mut last = None;
        for item in fold.items() {
            let from = symbols.len();
            unroll(fold, item.token, &mut symbols);
            if node_of(item.token).is_some() {
                last = Some((from..symbols.len(), item.count));
            }
        }
        for node in 0..fold.nodes.len() {
            let mut body = Vec::new();
            unroll(fold, loop_token(node as u32), &mut body);
            for symbol in &body {
                let shortest = self.shortest.entry(*symbol).or_insert(body.len());
                *shortest = body.len().min(*shortest);
            }
        }
        let longest = self.best.as_ref().map_or(0, |(body, ..)| body.len());
        if let Some((body, iterations)) = last {
            let after = symbols.len() - body.end;
            if body.len() > longest && after < body.len() {
                self.best = Some((symbols[body].to_vec(), iterations, after));
            }
        }
        symbols
    }

    fn found(self) -> Option<Repeated> {
        let (body, iterations, after) = self.best?;
        let alone = |symbol: &&u32| {
            body.iter().filter(|other| other == symbol).count() == 1
                && self.shortest.get(symbol).is_none_or(|shortest| *shortest >= body.len())
        };
        let once: Vec<u32> = body.iter().filter(alone).copied().collect();
        let pushed = once.iter().filter_map(|symbol| self.pushed.get(symbol)).min();
        let iterations = pushed.copied().unwrap_or(iterations);
        Some(Repeated { iterations, length: body.len(), once, after })
    }
}

/// The modulus of the hashes: a Mersenne prime.
const PRIME: u64 = (1 << 61) - 1;

/// Two hashes, so that collisions are out of the question.
const BASES: [u64; 2] = [0x0b4c_5f1e_93a7_d2c9, 0x1e37_79b9_7f4a_7c15];

/// What has left a sequence. Its hash is the value of a polynomial whose
/// coefficients are the symbols' identities, so it is a sum over the symbols,
/// of identity times weight. The weights need no identities, and do not depend
/// on where the sequence was cut.
#[derive(Clone, Debug)]
struct Gone {
    n: u64,
    /// The bases to the power of `n`.
    powers: [u64; 2],
    /// By symbol.
    weights: Vec<Weight>,
}

impl Default for Gone {
    fn default() -> Self {
        Self { n: 0, powers: [1; 2], weights: Vec::new() }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Weight {
    seen: bool,
    of: [u64; 2],
}

impl Gone {
    fn take(&mut self, symbols: &[u32]) {
        self.n += symbols.len() as u64;
        for symbol in symbols {
            let symbol = *symbol as usize;
            if symbol >= self.weights.len() {
                self.weights.resize(symbol + 1, Weight::default());
            }
            let weight = &mut self.weights[symbol];
            weight.seen = true;
            for (at, base) in BASES.into_iter().enumerate() {
                weight.of[at] = plus(weight.of[at], self.powers[at]);
                self.powers[at] = times(self.powers[at], base);
            }
        }
    }

    /// The hash with these symbols after what is gone.
    fn hash(&self, symbols: &[u32], identity: &[u128]) -> u128 {
        let mut hash = [0; 2];
        for (at, base) in BASES.into_iter().enumerate() {
            for (symbol, weight) in self.weights.iter().enumerate() {
                hash[at] = plus(hash[at], times(weight.of[at], value(identity, symbol, at)));
            }
            let mut power = self.powers[at];
            for symbol in symbols {
                hash[at] = plus(hash[at], times(power, value(identity, *symbol as usize, at)));
                power = times(power, base);
            }
        }
        let length = self.n + symbols.len() as u64;
        let [first, second] = hash.map(|half| mixed(half ^ mixed(length)));
        u128::from(first) << 64 | u128::from(second)
    }
}

/// What a symbol is in a hash: not zero, so that each symbol counts.
fn value(identity: &[u128], symbol: usize, at: usize) -> u64 {
    let identity = identity.get(symbol).copied().unwrap_or(0);
    let (low, high) = (identity as u64, (identity >> 64) as u64);
    let both = [mixed(low.wrapping_add(mixed(high))), mixed(high ^ mixed(!low))];
    1 + both[at] % (PRIME - 1)
}

fn plus(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

fn times(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}
