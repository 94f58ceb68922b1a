//! Hash tables of words, faster than those of the standard library.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A table that is never iterated over.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<Words>>;

/// Multiplies words into one. Keys are addresses and numbers of this process,
/// so nobody chooses them to collide.
#[derive(Clone, Copy, Default)]
pub(crate) struct Words(u64);

impl Hasher for Words {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 32
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.write_u64(value as u64);
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
