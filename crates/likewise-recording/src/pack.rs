//! Bytes made fewer: parts are small, and each byte of one is well guessed
//! from those before it.
//!
//! Every bit is coded with a probability (a range coder), mixed from what bits
//! followed the last zero, one, two and three bytes. All in whole numbers, so
//! that every machine reads what another wrote.
//!
//! # Reference
//! Mahoney, "Adaptive weighing of context models for lossless data
//! compression", Florida Tech TR CS-2005-16 (mixing in the logistic domain).

use crate::broken::Broken;
use crate::bytes::{Reader, Write};

/// A quarter of a microsecond a byte is too much for more than this.
pub(crate) const MOST: usize = 1 << 18;

/// Contexts that are mixed.
const N: usize = 5;

/// One over the number of times a slot was seen and two, in 65,536ths.
const SHARES: [i32; 31] = {
    let mut shares = [0; 31];
    let mut seen = 0;
    while seen < 31 {
        shares[seen] = 65_536 / (seen as i32 + 2);
        seen += 1;
    }
    shares
};

/// The bytes as they are, after how they are to be read.
pub(crate) fn as_it_is(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    packed.number(bytes.len() as u64);
    packed.push(0);
    packed.extend(bytes);
    packed
}

/// As few bytes as may be. They begin with how they are to be read.
pub(crate) fn pack(bytes: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    packed.number(bytes.len() as u64);
    if bytes.len() <= MOST {
        let mut coder = Coder { low: 0, high: u32::MAX, out: Vec::new() };
        let mut model = Model::new(bytes.len());
        for byte in bytes {
            for shift in (0..8).rev() {
                let bit = byte >> shift & 1 == 1;
                coder.code(bit, model.probability());
                model.learn(bit);
            }
        }
        coder.finish();
        if coder.out.len() < bytes.len() {
            packed.push(1);
            packed.extend(coder.out);
            return packed;
        }
    }
    as_it_is(bytes)
}

/// The bytes again.
pub(crate) fn unpack(packed: &[u8]) -> Result<Vec<u8>, Broken> {
    let mut reader = Reader::new(packed);
    let length = reader.number()?;
    let method = reader.byte()?;
    let rest = reader.take(reader.rest())?;
    match method {
        0 if rest.len() as u64 == length => Ok(rest.to_vec()),
        1 if length <= MOST as u64 => {
            let mut bytes = Vec::new();
            let mut decoder = Decoder::new(rest);
            let mut model = Model::new(length as usize);
            for _ in 0..length {
                let mut byte = 0;
                for _ in 0..8 {
                    let bit = decoder.bit(model.probability());
                    model.learn(bit);
                    byte = byte << 1 | u8::from(bit);
                }
                bytes.push(byte);
            }
            Ok(bytes)
        }
        _ => Err(reader.broken("no such packing")),
    }
}

/// One over 1 + e^−x, both in 12 bits; x is in 256ths.
fn squash(x: i32) -> i32 {
    const POINTS: [i32; 33] = [
        1, 2, 3, 6, 10, 16, 27, 45, 73, 120, 194, 310, 488, 747, 1101, 1546, 2047, 2549, 2994, 3348, 3607,
        3785, 3901, 3975, 4022, 4050, 4068, 4079, 4085, 4089, 4092, 4093, 4094,
    ];
    if x > 2047 {
        return 4095;
    }
    if x < -2047 {
        return 0;
    }
    let (at, rest) = (((x >> 7) + 16) as usize, x & 127);
    (POINTS[at] * (128 - rest) + POINTS[at + 1] * rest + 64) >> 7
}

/// Probability of a one in 16 bits, and how often it was learned.
#[derive(Clone, Copy)]
struct Slot {
    probability: u16,
    seen: u8,
}

/// The slots of half a byte, by its bits so far after a one: a line of the cache.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Half([Slot; 16]);

struct Model {
    /// Each context has two to the power of this many halves.
    bits: u32,
    /// The inverse of `squash`.
    stretch: Vec<i16>,
    table: Vec<Half>,
    halves: [usize; N],
    inputs: [i32; N],
    weights: [i32; N],
    mixed: i32,
    history: u64,
    /// The bits of this byte so far, after a one; and those of its half.
    partial: u32,
    half: usize,
}

impl Model {
    /// For that many bytes: what is never filled need not be cleared.
    fn new(length: usize) -> Self {
        let mut stretch = vec![0_i16; 4096];
        let mut from = 0;
        for x in -2047..=2047 {
            let value = squash(x);
            (from..=value).for_each(|at| stretch[at as usize] = x as i16);
            from = value + 1;
        }
        stretch[from as usize..].fill(2047);
        let bits = (2 * length).next_power_of_two().ilog2().clamp(6, 15);
        let unseen = Slot { probability: 1 << 15, seen: 0 };
        let mut model = Self {
            bits,
            stretch,
            table: vec![Half([unseen; 16]); N << bits],
            halves: [0; N],
            inputs: [0; N],
            weights: [(1 << 16) / 3; N],
            mixed: 0,
            history: 0,
            partial: 1,
            half: 1,
        };
        model.look();
        model
    }

    /// Finds the slots for the next half of a byte.
    fn look(&mut self) {
        for order in 0..N {
            let known = self.history & ((1 << (8 * order)) - 1);
            let hash = crate::hash::mixed(known << 12 ^ u64::from(self.partial) ^ (order as u64) << 60);
            self.halves[order] = order << self.bits | (hash >> (64 - self.bits)) as usize;
        }
    }

    fn slot(&mut self, order: usize) -> &mut Slot {
        &mut self.table[self.halves[order]].0[self.half]
    }

    /// Of a one, in 16 bits; never 0 nor all.
    fn probability(&mut self) -> u32 {
        let mut sum = 0_i64;
        for order in 0..N {
            let Slot { probability, seen } = *self.slot(order);
            // What was never seen says nothing.
            let input = if seen == 0 { 0 } else { i32::from(self.stretch[usize::from(probability >> 4)]) };
            self.inputs[order] = input;
            sum += i64::from(input) * i64::from(self.weights[order]);
        }
        self.mixed = squash((sum >> 16).clamp(-2047, 2047) as i32);
        ((self.mixed as u32) << 4 | 8).clamp(32, 65_535 - 32)
    }

    fn learn(&mut self, bit: bool) {
        let error = ((i32::from(bit) << 12) - self.mixed) * 10;
        let target = if bit { 65_535 } else { 0 };
        for order in 0..N {
            self.weights[order] += (self.inputs[order] * error + (1 << 9)) >> 10;
            let Slot { probability, seen } = self.slot(order);
            *probability = (i32::from(*probability)
                + (target - i32::from(*probability)) * SHARES[usize::from(*seen)] / (1 << 16))
                as u16;
            *seen = (*seen + 1).min(30);
        }
        self.partial = self.partial << 1 | u32::from(bit);
        self.half = self.half << 1 | usize::from(bit);
        if self.half >= 16 {
            if self.partial >= 256 {
                self.history = self.history << 8 | u64::from(self.partial & 255);
                self.partial = 1;
            }
            self.half = 1;
            self.look();
        }
    }
}

struct Coder {
    low: u32,
    high: u32,
    out: Vec<u8>,
}

fn split(low: u32, high: u32, probability: u32) -> u32 {
    low + ((u64::from(high - low) * u64::from(probability)) >> 16) as u32
}

impl Coder {
    fn code(&mut self, bit: bool, probability: u32) {
        let middle = split(self.low, self.high, probability);
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.out.push((self.high >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 255;
        }
    }

    /// Bytes that are missing are read as zeros, so the last ones can be few.
    fn finish(&mut self) {
        if self.low > 0 {
            self.out.push((self.low >> 24) as u8 + 1);
        }
        while self.out.last() == Some(&0) {
            self.out.pop();
        }
    }
}

struct Decoder<'a> {
    low: u32,
    high: u32,
    value: u32,
    bytes: std::slice::Iter<'a, u8>,
}

impl<'a> Decoder<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { low: 0, high: u32::MAX, value: 0, bytes: bytes.iter() };
        (0..4).for_each(|_| decoder.shift());
        decoder
    }

    fn shift(&mut self) {
        self.value = self.value << 8 | u32::from(self.bytes.next().copied().unwrap_or(0));
    }

    fn bit(&mut self, probability: u32) -> bool {
        let middle = split(self.low, self.high, probability);
        let bit = self.value <= middle;
        if bit {
            self.high = middle;
        } else {
            self.low = middle + 1;
        }
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 255;
            self.shift();
        }
        bit
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn text_gets_shorter() {
        let text = "the same, and the same again; ".repeat(30);
        let packed = pack(text.as_bytes());
        assert!(packed.len() < text.len() / 10, "{} of {}", packed.len(), text.len());
        assert_eq!(unpack(&packed).unwrap(), text.as_bytes());
    }

    proptest! {
        #[test]
        fn bytes_come_back(bytes in prop::collection::vec(prop_oneof![Just(0_u8), 0..4_u8, any::<u8>()], 0..400)) {
            prop_assert_eq!(unpack(&pack(&bytes)).unwrap(), bytes);
        }

        #[test]
        fn nonsense_is_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = unpack(&bytes);
        }
    }
}
