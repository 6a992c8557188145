//! Ctrl-C: the first one asks the runner to stop after what it is doing, the second one ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

static SEEN: AtomicBool = AtomicBool::new(false);

/// Whether the user has asked to stop.
pub fn seen() -> bool {
    SEEN.load(Ordering::Relaxed)
}

/// Catches SIGINT and SIGTERM from now on, once each.
pub fn catch() {
    extern "C" fn handler(_: libc::c_int) {
        SEEN.store(true, Ordering::Relaxed);
    }
    for signal in [libc::SIGINT, libc::SIGTERM] {
        // SAFETY: the handler only stores to an atomic. No SA_RESTART: poll must return. SA_RESETHAND: the second one is
        // the system's own.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
