//! Writing each slot of a vector once, from many threads.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

/// Slots that threads fill in any order.
pub(super) struct Slots<'a, T> {
    first: *mut T,
    len: usize,
    borrow: PhantomData<&'a mut [MaybeUninit<T>]>,
}

// SAFETY: `put` moves a `T` to another thread and hands out no reference.
unsafe impl<T: Send> Sync for Slots<'_, T> {}

impl<T> Slots<'_, T> {
    /// Fills slot `i`.
    ///
    /// # Safety
    /// `i` is in bounds, and no other call names the same slot.
    #[inline]
    pub(super) unsafe fn put(&self, i: usize, value: T) {
        debug_assert!(i < self.len);
        // SAFETY: the caller keeps `i` in bounds.
        let slot = unsafe { self.first.add(i) };
        // SAFETY: the slot is ours to write, and nobody else writes it.
        unsafe { slot.write(value) };
    }
}

/// A vector of `len` that `fill` writes, every slot exactly once.
///
/// # Safety
/// `fill` fills every slot.
pub(super) unsafe fn filled<T: Copy>(len: usize, fill: impl FnOnce(&Slots<'_, T>)) -> Vec<T> {
    let mut vec = crate::pages::large(Vec::with_capacity(len));
    fill(&Slots { first: vec.as_mut_ptr(), len, borrow: PhantomData });
    // SAFETY: the capacity is there, and the caller promises that all is written.
    unsafe { vec.set_len(len) };
    vec
}
