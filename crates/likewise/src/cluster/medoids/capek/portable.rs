//! Objects that travel.

use crate::comm::wire::{self, Taker, put_block, put_number};

/// An object that can be sent to another rank.
pub trait Portable: Sized {
    /// Appends the object to `bytes`.
    fn to_bytes(&self, bytes: &mut Vec<u8>);

    /// The object that those bytes are; nothing, if they are none.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
}

impl Portable for Vec<f64> {
    fn to_bytes(&self, bytes: &mut Vec<u8>) {
        wire::put_reals(bytes, self);
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(wire::reals(bytes)?.collect())
    }
}

impl<const N: usize> Portable for [f64; N] {
    fn to_bytes(&self, bytes: &mut Vec<u8>) {
        wire::put_reals(bytes, self);
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Vec::from_bytes(bytes)?.try_into().ok()
    }
}

impl Portable for String {
    fn to_bytes(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.as_bytes());
    }

    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        String::from_utf8(bytes.to_vec()).ok()
    }
}

/// An object with its number, as they are sent.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sent<T> {
    pub(super) index: u64,
    pub(super) object: T,
}

impl<T: Portable> Sent<T> {
    pub(super) fn pack(index: u64, object: &T, bytes: &mut Vec<u8>) {
        put_number(bytes, index);
        let mut block = Vec::new();
        object.to_bytes(&mut block);
        put_block(bytes, &block);
    }

    /// All objects that were packed one after the other.
    pub(super) fn unpack_all(bytes: &[u8]) -> Option<Vec<Self>> {
        let mut taker = Taker::new(bytes);
        let mut all = Vec::new();
        while !taker.is_done() {
            all.push(Self { index: taker.number()?, object: T::from_bytes(taker.block()?)? });
        }
        Some(all)
    }
}
