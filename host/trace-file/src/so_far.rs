//! How much of traces this process has read.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static READ: AtomicU64 = AtomicU64::new(0);

/// So many bytes of records are about to be read.
pub(crate) fn count_read(bytes: usize) {
    READ.fetch_add(bytes as u64, Relaxed);
}

/// Bytes of records that were read since the process began, of all traces, each time that they were
/// read: beside [`Thread::bytes`](crate::Thread::bytes), how far reading is.
pub fn bytes_read() -> u64 {
    READ.load(Relaxed)
}
