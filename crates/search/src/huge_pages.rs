//! Huge memory pages.
//!
//! A search reads its tables at random. With usual pages of 4 KiB, the processor (its TLB) cannot hold the addresses of
//! all pages of a large table, and nearly every access takes longer. Huge pages have 2 MiB on most machines.

/// Asks the system to use huge pages for the memory that a vector has reserved, except for its beginning. Short
/// searches use only the beginning, and clearing one huge page takes longer than many short searches.
///
/// Without effect on systems other than Linux, or if Linux refuses. The memory can then be used as before.
pub(super) fn request<T>(reserved: &mut Vec<T>) {
    #[cfg(target_os = "linux")]
    {
        let memory = reserved.as_mut_ptr();
        let skipped = (memory.addr() + USUAL_BYTES).next_multiple_of(ALIGNMENT) - memory.addr();
        let bytes = (reserved.capacity() * size_of::<T>()).saturating_sub(skipped);
        let start = memory.wrapping_byte_add(skipped);
        let advice = rustix::mm::Advice::LinuxHugepage;
        // SAFETY: `start` and `bytes` are within the memory of the vector, or `bytes` is 0. The advice changes the
        // size of pages, not their contents.
        #[expect(
            unsafe_code,
            reason = "the safe function is only for memory maps, which are untyped"
        )]
        let _ = unsafe { rustix::mm::madvise(start.cast(), bytes, advice) };
    }
    #[cfg(not(target_os = "linux"))]
    let _ = reserved;
}

/// Size of the part with usual pages.
#[cfg(target_os = "linux")]
const USUAL_BYTES: usize = 4 << 20;

/// The request must begin at the border of a page. Usual pages have 4 to 64 KiB, depending on the machine.
#[cfg(target_os = "linux")]
const ALIGNMENT: usize = 1 << 16;
