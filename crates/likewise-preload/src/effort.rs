//! What a rank computes where, for samples of efforts.

use crate::hash::Map;

/// Of more regions than this, new ones are told apart by the call after them
/// alone.
const MOST: usize = 4096;

/// No call.
const NONE: u32 = u32::MAX;

/// A region lies between a call from one call path and the next call from
/// another: these are its symbols.
#[derive(Debug)]
struct Region {
    symbols: [u32; 2],
    /// The same on all ranks; known once it was asked for.
    number: Option<u128>,
    /// What was computed there since the last time.
    ns: u64,
}

/// The efforts of a rank.
#[derive(Debug, Default)]
pub(crate) struct Effort {
    regions: Vec<Region>,
    places: Map<[u32; 2], usize>,
}

impl Effort {
    /// So long was computed between two calls.
    #[inline]
    pub(crate) fn add(&mut self, symbols: [u32; 2], ns: u64) {
        let place = match self.places.get(&symbols) {
            Some(place) => *place,
            None => self.place(symbols),
        };
        self.regions[place].ns += ns;
    }

    fn place(&mut self, mut symbols: [u32; 2]) -> usize {
        if self.regions.len() >= MOST {
            symbols[0] = NONE;
        }
        let next = self.regions.len();
        let place = *self.places.entry(symbols).or_insert(next);
        if place == next {
            self.regions.push(Region { symbols, number: None, ns: 0 });
        }
        place
    }

    /// What was computed since the last time, by the numbers of regions.
    pub(crate) fn take(&mut self, identity: impl Fn(u32) -> u128) -> Vec<(u128, u64)> {
        let taken = |region: &mut Region| {
            let number = *region.number.get_or_insert_with(|| number(region.symbols.map(&identity)));
            (number, std::mem::take(&mut region.ns))
        };
        self.regions.iter_mut().filter(|region| region.ns > 0).map(taken).collect()
    }

    /// The calls before and after a region.
    pub(crate) fn symbols(&self, number: u128) -> Option<[u32; 2]> {
        self.regions.iter().find(|region| region.number == Some(number)).map(|region| region.symbols)
    }
}

fn number([before, symbol]: [u128; 2]) -> u128 {
    before.rotate_left(43).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835) ^ symbol
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efforts_are_of_regions_and_bounded() {
        let mut effort = Effort::default();
        let identity = |symbol: u32| u128::from(symbol) + 1;
        effort.add([1, 2], 5);
        effort.add([2, 1], 7);
        effort.add([1, 2], 6);
        let [there, back] = [number([2, 3]), number([3, 2])];
        assert_eq!(effort.take(identity), [(there, 11), (back, 7)]);
        effort.add([2, 1], 1);
        assert_eq!(effort.take(identity), [(back, 1)]);
        assert_eq!((effort.symbols(there), effort.symbols(7)), (Some([1, 2]), None));
        for symbol in 0..2 * MOST as u32 {
            effort.add([symbol, symbol + 1], 1);
            effort.add([symbol, 1], 1);
        }
        let all = effort.take(|symbol| if symbol == NONE { 0 } else { identity(symbol) });
        assert_eq!(all.iter().map(|(_, ns)| ns).sum::<u64>(), 4 * MOST as u64);
        assert!(effort.regions.len() < 4 * MOST && effort.places.len() == effort.regions.len());
    }
}
