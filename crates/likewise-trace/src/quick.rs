//! A hasher for small ids that come from a file.

use std::hash::{BuildHasher, Hasher, RandomState};

/// Hashes three ids by multiplying and folding. The seed differs per process,
/// so that no file can be made to collide.
#[derive(Clone, Debug)]
pub(crate) struct QuickState(u64);

impl Default for QuickState {
    fn default() -> Self {
        use std::sync::OnceLock;
        static SEED: OnceLock<u64> = OnceLock::new();
        Self(*SEED.get_or_init(|| RandomState::new().hash_one(0) | 1))
    }
}

impl BuildHasher for QuickState {
    type Hasher = Quick;
    fn build_hasher(&self) -> Quick {
        Quick { state: self.0, seed: self.0 }
    }
}

pub(crate) struct Quick {
    state: u64,
    seed: u64,
}

impl Hasher for Quick {
    fn finish(&self) -> u64 {
        self.state
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u32(u32::from(byte));
        }
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        let wide = u128::from(self.state ^ u64::from(value)) * u128::from(self.seed);
        self.state = (wide as u64) ^ ((wide >> 64) as u64);
    }
}
