//! A name for a call from a call path that holds in every run of a program.

use crate::calls::CallId;
use crate::hash::mixed;
use crate::recording::{Recording, Symbol};

/// A number for a call and its call path: the same on every rank, in every run
/// and on every machine with the same files. `frames` has for each frame the
/// build id of its module (empty if it has none), the module's file and the
/// offset in it. A build id names a module wherever it lies; without one its
/// file's name does, without the folders.
///
/// Different call paths have the same number with probability 2⁻¹²⁸, unless
/// somebody looks for two that do: it is no cryptographic hash. What is shown
/// to people is the first 32 bits, see [`short_identity`].
#[must_use]
pub fn identity<'a>(call: CallId, frames: impl IntoIterator<Item = (&'a [u8], &'a str, u64)>) -> u128 {
    let mut hash = Hash([0x6c69_6b65_7769_7365, 0x6361_6c6c_2070_6174]);
    hash.bytes(call.name().as_bytes());
    for (build_id, file, offset) in frames {
        let name = file.rsplit('/').next().unwrap_or(file).as_bytes();
        let (kind, module) = if build_id.is_empty() { (1, name) } else { (2, build_id) };
        hash.number(kind);
        hash.bytes(module);
        hash.number(offset);
    }
    hash.number(0);
    u128::from(hash.0[0]) << 64 | u128::from(hash.0[1])
}

/// The first 32 bits of an identity in eight hexadecimal digits, as
/// `likewise info` shows it.
#[must_use]
pub fn short_identity(identity: u128) -> String {
    format!("{:08x}", (identity >> 96) as u32)
}

/// Two hashes at once.
struct Hash([u64; 2]);

impl Hash {
    fn number(&mut self, value: u64) {
        let [high, low] = self.0;
        // Each step is a bijection of the old state for any one value, and of
        // the value for any one state.
        self.0 = [mixed(high.rotate_left(5) ^ value), mixed(low.rotate_left(29).wrapping_add(value))];
    }

    /// With their number, so that no two lists of texts are one.
    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        for piece in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..piece.len()].copy_from_slice(piece);
            self.number(u64::from_le_bytes(word));
        }
    }
}

impl Recording {
    /// The [`identity`] of a symbol.
    #[must_use]
    pub fn identity(&self, symbol: &Symbol) -> u128 {
        let frames = self.frames(symbol.path);
        let frame = |frame: &crate::Frame| match self.modules().get(frame.module as usize) {
            Some(module) => (module.build_id.as_slice(), module.path.as_str(), frame.offset),
            None => (&[][..], "", frame.offset),
        };
        identity(symbol.call, frames.iter().map(frame))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::number;
    use std::collections::BTreeSet;

    type Frames<'a> = &'a [(&'a [u8], &'a str, u64)];

    fn of(call: CallId, frames: Frames) -> u128 {
        identity(call, frames.iter().copied())
    }

    #[test]
    fn a_build_id_names_a_module_wherever_it_lies() {
        let here = of(number::Send, &[(b"id", "/home/a/app", 7)]);
        assert_eq!(here, of(number::Send, &[(b"id", "/scratch/copy", 7)]));
        let without = of(number::Send, &[(b"", "/home/a/app", 7)]);
        assert_eq!(without, of(number::Send, &[(b"", "/scratch/app", 7)]));
        assert_ne!(without, of(number::Send, &[(b"", "/scratch/copy", 7)]));
        assert_ne!(here, without);
    }

    #[test]
    fn what_differs_has_another_name() {
        let paths: [(CallId, Frames); 9] = [
            (number::Send, &[]),
            (number::Recv, &[]),
            (number::Send, &[(b"a", "", 1)]),
            (number::Send, &[(b"a", "", 2)]),
            (number::Send, &[(b"b", "", 1)]),
            (number::Send, &[(b"", "a", 1)]),
            (number::Send, &[(b"a", "", 1), (b"a", "", 2)]),
            (number::Send, &[(b"a", "", 2), (b"a", "", 1)]),
            (number::Send, &[(b"a", "", 1), (b"a", "", 1)]),
        ];
        let names: BTreeSet<u128> = paths.iter().map(|(call, frames)| of(*call, frames)).collect();
        let short: BTreeSet<String> = names.iter().map(|name| short_identity(*name)).collect();
        assert_eq!((names.len(), short.len()), (9, 9));
    }

    #[test]
    fn neighbouring_offsets_spread_over_all_bits() {
        // 2¹⁶ offsets: of 2³² values, half a pair is expected to meet.
        let short: BTreeSet<String> =
            (0..1 << 16).map(|offset| short_identity(of(number::Send, &[(b"id", "", offset)]))).collect();
        assert!(short.len() > (1 << 16) - 8, "{}", short.len());
    }

    #[test]
    fn it_stays_what_it_is() {
        // Users write it into scripts.
        assert_eq!(short_identity(of(number::Allreduce, &[(b"\x01\x02", "app", 0x1234)])), "886917d0");
    }
}
