//! How long a line on stderr may be waited for: a pipe that nobody reads keeps writers for ever.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Milliseconds for which lines may still wait, all together; negative: as long as it takes.
static LEFT: AtomicI32 = AtomicI32::new(-1);

/// Bytes that a pipe takes without waiting when it can be written to.
pub const PIECE: usize = libc::PIPE_BUF;

/// From here on lines are lost where stderr cannot be written to: they wait for `at_most` together.
pub fn ends(at_most: Duration) {
    LEFT.store(i32::try_from(at_most.as_millis()).unwrap_or(-1), SeqCst);
}

/// Whether so many bytes, [`PIECE`], can be written to stderr, as soon as patience allows.
pub fn allows() -> bool {
    let left = LEFT.load(SeqCst);
    if left < 0 {
        return true;
    }
    let begun = Instant::now();
    let has_room = has_room(left);
    let waited = i32::try_from(begun.elapsed().as_millis()).unwrap_or(left);
    LEFT.store(left.saturating_sub(waited).max(0), SeqCst);
    has_room
}

/// Whether stderr takes [`PIECE`] bytes within so many ms. A file or a terminal always does. This
/// function is async-signal-safe.
pub fn has_room(milliseconds: i32) -> bool {
    let mut about = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: room for the answer, which is read where there is one.
    let mode = unsafe {
        match libc::fstat(libc::STDERR_FILENO, about.as_mut_ptr()) {
            0 => about.assume_init().st_mode & libc::S_IFMT,
            _ => return true,
        }
    };
    if !matches!(mode, libc::S_IFIFO | libc::S_IFSOCK) {
        return true;
    }
    let mut asked = libc::pollfd {
        fd: libc::STDERR_FILENO,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: one valid structure.
    unsafe { libc::poll(&raw mut asked, 1, milliseconds) > 0 }
}
