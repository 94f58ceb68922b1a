//! Memory on large pages.

/// Asks for large pages where the system has them for who asks: touching a gigabyte
/// for the first time, page by page, takes as long as computing what goes there.
/// Helps a vector that nobody has written yet, as `vec![0; n]` is.
pub(crate) fn large<T>(mut data: Vec<T>) -> Vec<T> {
    #[cfg(target_os = "linux")]
    {
        const PAGE: usize = 1 << 21;
        let bytes = data.capacity() * size_of::<T>();
        let start = data.as_mut_ptr().cast::<u8>();
        let skip = start.align_offset(PAGE);
        if skip < bytes {
            let inside = start.wrapping_add(skip).cast();
            // SAFETY: the range is inside the vector's room, and the advice changes no
            // byte of it. If it is not taken, nothing is lost.
            unsafe { libc::madvise(inside, bytes - skip, libc::MADV_HUGEPAGE) };
        }
    }
    data
}
