//! A fast hash for numbers. No order of a hash map ever decides a result.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map with this hash.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Fast>>;

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Spreads the bits of a number over all 64.
pub(crate) fn mixed(value: u64) -> u64 {
    let folded = (value ^ (value >> 32)).wrapping_mul(ODD);
    (folded ^ (folded >> 29)).wrapping_mul(ODD)
}

#[derive(Default)]
pub(crate) struct Fast(u64);

impl Hasher for Fast {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u64(u64::from(value));
    }

    fn write_u16(&mut self, value: u16) {
        self.write_u64(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mixed(self.0.rotate_left(5) ^ value);
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }
}
