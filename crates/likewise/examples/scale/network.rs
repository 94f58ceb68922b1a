//! Ranks' clocks, moved on by their work and by messages of a modelled network.
//!
//! The collective functions send here what `comm::collective` sends. That they
//! do is tested: messages and bytes of every rank and phase are the ones that
//! `comm::Counted` counts.

use std::collections::BTreeMap;

/// Bytes of a number.
const NUMBER: usize = 8;

/// More bytes than these are cut up to be given to all, from so many ranks on.
const LONG: usize = 4 << 10;
const FEW: usize = 8;

/// What a message costs (after LogGP: Alexandrov et al., SPAA 1995).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Network {
    /// Seconds from the sender's begin to the first byte at the receiver.
    pub(crate) latency: f64,
    /// Seconds a byte, at the sender's port and at the receiver's. Messages to
    /// one rank come in one after the other: the congestion of a gather.
    pub(crate) per_byte: f64,
}

/// Messages of one rank.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Sent {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) received: u64,
}

/// What a phase took.
#[derive(Clone, Debug, Default)]
pub(crate) struct Phase {
    /// Until the last rank is through.
    pub(crate) seconds: f64,
    /// Work of the busiest rank, between any two steps.
    pub(crate) work: f64,
    /// By rank.
    pub(crate) sent: Vec<Sent>,
}

/// The clocks of all ranks.
pub(crate) struct Ranks {
    network: Network,
    clock: Vec<f64>,
    /// When the last rank was through with the phases before.
    begun: f64,
    name: String,
    present: Phase,
    /// The others.
    phases: BTreeMap<String, Phase>,
}

impl Ranks {
    pub(crate) fn new(n: usize, network: Network) -> Self {
        let present = Phase { sent: vec![Sent::default(); n], ..Phase::default() };
        let (name, phases) = (String::new(), BTreeMap::default());
        Self { network, clock: vec![0.0; n], begun: 0.0, name, present, phases }
    }

    /// All ranks' next work and messages belong to this phase.
    pub(crate) fn enter(&mut self, phase: &str) {
        let now = self.clock.iter().copied().fold(0.0, f64::max);
        self.present.seconds += now - self.begun;
        self.begun = now;
        let sent = vec![Sent::default(); self.clock.len()];
        let next = self.phases.remove(phase).unwrap_or(Phase { sent, ..Phase::default() });
        let last = std::mem::replace(&mut self.present, next);
        self.phases.insert(std::mem::replace(&mut self.name, phase.to_owned()), last);
    }

    /// The phases by name.
    pub(crate) fn end(mut self) -> BTreeMap<String, Phase> {
        self.enter("");
        self.phases
    }

    /// Each rank works for so many seconds.
    pub(crate) fn work(&mut self, seconds: impl Fn(usize) -> f64) {
        let mut busiest = 0.0f64;
        for (rank, clock) in self.clock.iter_mut().enumerate() {
            let seconds = seconds(rank);
            *clock += seconds;
            busiest = busiest.max(seconds);
        }
        self.present.work += busiest;
    }

    pub(crate) fn all_reduce(&mut self, bytes: usize) {
        self.up(|_| bytes, |_, own| own);
        self.broadcast(bytes);
    }

    /// `own` are the bytes that a rank contributes.
    pub(crate) fn concatenate(&mut self, own: impl Fn(usize) -> usize) {
        let all = self.up(own, |held, theirs| held + theirs);
        self.broadcast(all);
    }

    pub(crate) fn sum_before(&mut self) {
        let n = self.clock.len();
        for distance in doublings(n) {
            let begun: Vec<f64> = (0..n - distance).map(|rank| self.send(rank, NUMBER)).collect();
            begun
                .into_iter()
                .enumerate()
                .for_each(|(from, begun)| self.receive(from + distance, begun, NUMBER));
        }
    }

    /// Up a binomial tree to rank 0. A rank sends what `held` makes of its own
    /// and the children's bytes; what rank 0 then has is returned.
    fn up(&mut self, own: impl Fn(usize) -> usize, held: impl Fn(usize, usize) -> usize) -> usize {
        let n = self.clock.len();
        let mut bytes: Vec<usize> = (0..n).map(own).collect();
        let mut begun = vec![0.0; n];
        // A child's number is above its parent's.
        for rank in (0..n).rev() {
            for child in children(rank, n) {
                self.receive(rank, begun[child], bytes[child]);
                bytes[rank] = held(bytes[child], bytes[rank]);
            }
            if rank > 0 {
                begun[rank] = self.send(rank, bytes[rank]);
            }
        }
        bytes[0]
    }

    fn broadcast(&mut self, bytes: usize) {
        let n = self.clock.len();
        if bytes <= LONG || n < FEW {
            return self.down(|_| NUMBER + bytes);
        }
        self.down(|_| NUMBER);
        // A part for each rank of the child's subtree.
        let edge = |part: usize| (part as u128 * bytes as u128 / n as u128) as usize;
        self.down(|child| edge((child + (1 << child.trailing_zeros())).min(n)) - edge(child));
        let width = |from: usize, count: usize| {
            let to = from + count;
            if to <= n { edge(to) - edge(from) } else { bytes - edge(from) + edge(to - n) }
        };
        for distance in doublings(n) {
            let count = distance.min(n - distance);
            let begun: Vec<f64> = (0..n).map(|rank| self.send(rank, width(rank, count))).collect();
            for rank in 0..n {
                let from = (rank + distance) % n;
                self.receive(rank, begun[from], width(from, count));
            }
        }
    }

    /// Down a binomial tree from rank 0: `bytes` to each child.
    fn down(&mut self, bytes: impl Fn(usize) -> usize) {
        let n = self.clock.len();
        let mut begun = vec![0.0; n];
        for rank in 0..n {
            if rank > 0 {
                self.receive(rank, begun[rank], bytes(rank));
            }
            for child in children(rank, n).rev() {
                begun[child] = self.send(rank, bytes(child));
            }
        }
    }

    /// When the message begins to arrive.
    fn send(&mut self, from: usize, bytes: usize) -> f64 {
        let begun = self.clock[from] + self.network.latency;
        self.clock[from] += bytes as f64 * self.network.per_byte;
        let sent = &mut self.present.sent[from];
        (sent.messages, sent.bytes) = (sent.messages + 1, sent.bytes + bytes as u64);
        begun
    }

    fn receive(&mut self, at: usize, begun: f64, bytes: usize) {
        self.clock[at] = self.clock[at].max(begun) + bytes as f64 * self.network.per_byte;
        self.present.sent[at].received += 1;
    }
}

/// Of a binomial tree over the ranks: a number with one bit below its lowest.
fn children(rank: usize, n: usize) -> impl DoubleEndedIterator<Item = usize> {
    let bits = n.next_power_of_two().trailing_zeros().min(rank.trailing_zeros());
    (0..bits).map(move |bit| rank + (1 << bit)).filter(move |&child| child < n)
}

fn doublings(n: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |distance| Some(distance * 2)).take_while(move |&distance| distance < n)
}
