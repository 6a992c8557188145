//! Memory for the command: large tables are mapped by themselves, in huge pages where the kernel
//! has them for who asks.
//!
//! A table of all strands grows to some ten or hundred megabytes. By the C library's allocator each
//! growth copied it, and each of its pages of 4 KB was a page fault: together 40 of the 95 ms in
//! which a trace of 100 000 fibers is read. Here a large table grows by having its pages moved, and
//! a fault gives 2 MB. What is small stays with the C library, so that small traces take no more
//! memory; a machine without huge pages has the same in small ones.
//!
//! A virtual machine may have handed its free memory back to its host, which gives it anew page by
//! page: a huge page of such memory takes 6 ms instead of 0.2. Small pages are mostly of memory
//! that was used a moment ago, so tables grow in those once a huge page was seen to take so long.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

/// The size of a huge page.
const HUGE: usize = 2 << 20;
/// Memory from this size on is mapped by itself.
const LARGE: usize = 1 << 20;

/// The command's allocator.
pub struct Memory;

/// Processor time, in ns, from which on a huge page takes longer than 512 small ones do.
const SLOW: i64 = 2_000_000;

/// Whether the first write to a huge page has taken [`SLOW`] or longer.
static ARE_SLOW: AtomicBool = AtomicBool::new(false);

/// Bytes that could not be had, the latest time that was so.
static LACKED: AtomicUsize = AtomicUsize::new(0);

/// Bytes that could not be had, if any could not.
pub fn lacked() -> Option<usize> {
    Some(LACKED.load(Relaxed)).filter(|&size| size != 0)
}

/// Takes down that memory of this size could not be had, if it could not.
fn noted(memory: *mut u8, size: usize) -> *mut u8 {
    if memory.is_null() {
        LACKED.store(size, Relaxed);
    }
    memory
}

/// Whether memory of this layout is mapped by itself.
fn is_large(layout: Layout) -> bool {
    layout.size() >= LARGE && layout.align() <= HUGE
}

// SAFETY: memory of one layout is always had and given back in the same way: [`is_large`] asks
// nothing else. Mapped memory begins at a multiple of `HUGE`, is zero, and is as long as asked.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let memory = match is_large(layout) {
            true => mapped(layout.size(), false),
            // SAFETY: the caller's.
            false => unsafe { System.alloc(layout) },
        };
        noted(memory, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let memory = match is_large(layout) {
            true => mapped(layout.size(), false),
            // SAFETY: the caller's.
            false => unsafe { System.alloc_zeroed(layout) },
        };
        noted(memory, layout.size())
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        match is_large(layout) {
            // SAFETY: it was mapped in this size, and nobody has it any more.
            true => unsafe {
                libc::munmap(pointer.cast(), length(layout.size()));
            },
            // SAFETY: the caller's.
            false => unsafe { System.dealloc(pointer, layout) },
        }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller has seen to it that the size is one for this alignment.
        let new = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        let memory = match (is_large(layout), is_large(new)) {
            // SAFETY: the caller's.
            (false, false) => unsafe { System.realloc(pointer, layout, size) },
            // SAFETY: it was mapped in this size.
            (true, true) => unsafe { remapped(pointer, layout.size(), size) },
            // SAFETY: both are as long as what is copied; what is left belongs to nobody.
            (was_large, _) => unsafe {
                let there = match was_large {
                    true => System.alloc(new),
                    // What has grown will go on to.
                    false => mapped(size, true),
                };
                if !was_large && !there.is_null() {
                    try_page(there, 0, length(size));
                }
                if !there.is_null() {
                    pointer.copy_to_nonoverlapping(there, layout.size().min(size));
                    self.dealloc(pointer, layout);
                }
                there
            },
        };
        noted(memory, size)
    }
}

/// So much memory, from a multiple of [`HUGE`] on; null if there are no addresses for it. It is a
/// multiple of `HUGE` itself, so that it may grow; if it `is_growing`, in huge pages.
fn mapped(size: usize, is_growing: bool) -> *mut u8 {
    let end = length(size);
    let (access, flags) = (
        libc::PROT_READ | libc::PROT_WRITE,
        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
    );
    // SAFETY: new addresses, of which nobody else knows; what is before and behind the memory is
    // given back.
    unsafe {
        let all = libc::mmap(null_mut(), end + HUGE, access, flags, -1, 0);
        if all == libc::MAP_FAILED {
            return null_mut();
        }
        let before = all.align_offset(HUGE);
        if before > 0 {
            libc::munmap(all, before);
        }
        let memory = all.add(before);
        libc::munmap(memory.add(end), HUGE - before);
        // A buffer that does not grow must not take much memory that it never uses.
        if is_growing || end - size < HUGE / 16 {
            advise(memory.cast(), end);
        }
        memory.cast()
    }
}

/// Asks the kernel to give this memory in huge pages, or in small ones if huge pages are slow.
///
/// # Safety
/// It must be mapped by [`mapped`].
unsafe fn advise(memory: *mut u8, length: usize) {
    let advice = match ARE_SLOW.load(Relaxed) {
        true => libc::MADV_NOHUGEPAGE,
        false => libc::MADV_HUGEPAGE,
    };
    // SAFETY: it changes nothing that the memory holds.
    unsafe { libc::madvise(memory.cast(), length, advice) };
}

/// Writes to the first page of the part that a table has grown by, and takes the time. If that page
/// is slow, the kernel is asked to give the rest in small ones.
///
/// # Safety
/// `from` to `to` must be mapped behind `all`, and be nobody's yet.
unsafe fn try_page(all: *mut u8, from: usize, to: usize) {
    if ARE_SLOW.load(Relaxed) || from >= to {
        return;
    }
    let before = processor_time();
    // SAFETY: the caller's.
    unsafe { all.add(from).write_volatile(0) };
    if processor_time() - before >= SLOW {
        ARE_SLOW.store(true, Relaxed);
        // SAFETY: the caller's.
        unsafe { advise(all, to) };
    }
}

/// The thread's processor time in ns: what other programs do meanwhile is not in it.
// By the C library: where rustix looks for the kernel's page of functions, valgrind has none.
fn processor_time() -> i64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock's time is written to where it says.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

/// The bytes that are mapped for memory of this size, which is at most half of all there are.
fn length(size: usize) -> usize {
    size.next_multiple_of(HUGE)
}

/// The same memory, of another size; null if there are no addresses for it.
unsafe fn remapped(pointer: *mut u8, from: usize, to: usize) -> *mut u8 {
    let (from, to) = (length(from), length(to));
    if from == to {
        return pointer;
    }
    // SAFETY: the pages are the caller's. Where there is no room behind them, they move to
    // addresses that are theirs alone, a multiple of `HUGE` again: so huge pages stay whole. They
    // are always advised as one, because what is two to the kernel cannot move.
    unsafe {
        advise(pointer, from);
        if libc::mremap(pointer.cast(), from, to, 0) != libc::MAP_FAILED {
            try_page(pointer, from, to);
            return pointer;
        }
        let there = mapped(to, true);
        if there.is_null() {
            return there;
        }
        let flags = libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED;
        if libc::mremap(pointer.cast(), from, to, flags, there) == libc::MAP_FAILED {
            // The kernel may have taken `there` away already, and given it to another thread. To
            // leave its addresses unused costs no memory.
            return null_mut();
        }
        try_page(there, from, to);
        there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[global_allocator]
    static MEMORY: Memory = Memory;

    #[test]
    fn tables_keep_what_they_hold_however_large_they_become() {
        for from_small_pages_on in [u64::MAX, 1_500_000, 0] {
            ARE_SLOW.store(false, Relaxed);
            let (mut table, mut other) = (Vec::new(), Vec::new());
            for number in 0..3_000_000_u64 {
                if number == from_small_pages_on {
                    ARE_SLOW.store(true, Relaxed);
                }
                table.push(number);
                // What lies behind a table, so that it has to move.
                if number % 100_000 == 0 {
                    other.push(vec![number; 150_000]);
                }
            }
            assert!(table.iter().copied().eq(0..3_000_000));
            for (number, part) in other.iter().enumerate() {
                assert!(part.iter().all(|&at| at == number as u64 * 100_000));
            }
            for length in [1_000_000, 200_000, 100_000, 10] {
                table.truncate(length);
                table.shrink_to_fit();
                assert!(table.iter().copied().eq(0..length as u64));
            }
        }
        assert!(vec![0_u64; 500_000].iter().all(|&zero| zero == 0));
    }

    #[test]
    fn large_memory_begins_at_a_huge_page() {
        for size in [LARGE, HUGE - 1, HUGE, 5 * LARGE + 3] {
            let memory: Vec<u8> = Vec::with_capacity(size);
            assert_eq!(memory.as_ptr().align_offset(HUGE), 0);
        }
    }
}
