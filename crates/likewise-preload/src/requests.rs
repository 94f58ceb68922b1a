//! Requests: which number a handle stands for.
//!
//! Handles of requests are not unique: several small sends that are done at
//! once get the same handle of both MPIs. So each handle has a queue of slots,
//! and what is completed is the slot that waits the longest.

use crate::hash::Map;

const NONE: u32 = u32::MAX;

/// What is known of a request. Its number is its place.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Slot {
    /// Whether it lives until `MPI_Request_free`.
    pub(crate) persistent: bool,
    /// A persistent one: whether it was started.
    pub(crate) active: bool,
    /// Whether it receives from any source.
    pub(crate) any_source: bool,
    /// Whether it receives any tag.
    pub(crate) any_tag: bool,
    /// The own rank in its communicator, and how many peers there are.
    pub(crate) rank: i32,
    pub(crate) size: i32,
    pub(crate) handle: usize,
    /// Its neighbours in the queue of the handle.
    pub(crate) before: u32,
    pub(crate) after: u32,
}

/// The slots of a handle.
#[derive(Clone, Copy, Debug)]
struct Queue {
    first: u32,
    last: u32,
    /// The next that an event names, if it names the handle again.
    next: u32,
    /// Of which event `next` is.
    event: u64,
}

/// Numbers of which the least that is free is taken.
#[derive(Debug, Default)]
pub(crate) struct Numbers {
    taken: Vec<u64>,
    /// All words before it are full.
    first: usize,
}

impl Numbers {
    /// The least free number.
    pub(crate) fn take(&mut self) -> u32 {
        while self.taken.get(self.first) == Some(&u64::MAX) {
            self.first += 1;
        }
        if self.first == self.taken.len() {
            self.taken.push(0);
        }
        let word = &mut self.taken[self.first];
        let bit = word.trailing_ones();
        *word |= 1 << bit;
        (self.first as u32) << 6 | bit
    }

    /// The number is free again.
    pub(crate) fn release(&mut self, number: u32) {
        let at = (number >> 6) as usize;
        if let Some(word) = self.taken.get_mut(at) {
            *word &= !(1 << (number & 63));
            self.first = self.first.min(at);
        }
    }
}

/// All requests of a rank.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    slots: Vec<Slot>,
    numbers: Numbers,
    queues: Map<usize, Queue>,
    event: u64,
}

impl Requests {
    /// A new request with this handle; returns its number.
    pub(crate) fn add(&mut self, handle: usize, slot: Slot) -> u32 {
        let number = self.numbers.take();
        if self.slots.len() <= number as usize {
            self.slots.resize(number as usize + 1, Slot::default());
        }
        let queue =
            self.queues.entry(handle).or_insert(Queue { first: NONE, last: NONE, next: NONE, event: 0 });
        self.slots[number as usize] = Slot { handle, before: queue.last, after: NONE, ..slot };
        if queue.last == NONE {
            queue.first = number;
        } else {
            self.slots[queue.last as usize].after = number;
        }
        queue.last = number;
        number
    }

    /// A new event begins to name requests.
    pub(crate) fn begin(&mut self) {
        self.event += 1;
    }

    /// The number that a handle stands for. Where an event names a handle
    /// several times, it stands for one number after the other.
    pub(crate) fn name(&mut self, handle: usize) -> Option<u32> {
        let queue = self.queues.get_mut(&handle)?;
        if queue.event != self.event || queue.next == NONE {
            queue.event = self.event;
            queue.next = queue.first;
        }
        let number = queue.next;
        queue.next = self.slots[number as usize].after;
        Some(number)
    }

    pub(crate) fn slot(&mut self, number: u32) -> &mut Slot {
        &mut self.slots[number as usize]
    }

    /// The request is no more.
    pub(crate) fn remove(&mut self, number: u32) {
        let slot = self.slots[number as usize];
        let Some(queue) = self.queues.get_mut(&slot.handle) else { return };
        match slot.before {
            NONE => queue.first = slot.after,
            before => self.slots[before as usize].after = slot.after,
        }
        match slot.after {
            NONE => queue.last = slot.before,
            after => self.slots[after as usize].before = slot.before,
        }
        if queue.next == number {
            queue.next = slot.after;
        }
        if queue.first == NONE {
            self.queues.remove(&slot.handle);
        }
        self.numbers.release(number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_handle_stands_for_several_requests_in_turn() {
        let mut requests = Requests::default();
        let numbers: Vec<u32> = (0..3).map(|_| requests.add(7, Slot::default())).collect();
        assert_eq!(numbers, [0, 1, 2]);
        requests.begin();
        assert_eq!((requests.name(7), requests.name(7), requests.name(7)), (Some(0), Some(1), Some(2)));
        requests.remove(1);
        requests.begin();
        assert_eq!((requests.name(7), requests.name(7)), (Some(0), Some(2)));
        assert_eq!(requests.add(7, Slot::default()), 1);
        requests.begin();
        assert_eq!([(); 3].map(|()| requests.name(7)), [Some(0), Some(2), Some(1)]);
        [0, 2, 1].into_iter().for_each(|number| requests.remove(number));
        requests.begin();
        assert_eq!(requests.name(7), None);
    }

    #[test]
    fn the_least_number_that_is_free_is_taken() {
        let mut numbers = Numbers::default();
        assert!((0..200).all(|number| numbers.take() == number));
        numbers.release(130);
        numbers.release(5);
        assert_eq!((numbers.take(), numbers.take(), numbers.take()), (5, 130, 200));
    }
}
