//! Ctrl-C, a terminal that is closed, SIGTERM: the first one asks the runner to stop after what it is doing, the second one
//! ends the process.

use std::sync::atomic::{AtomicBool, Ordering};

static SEEN: AtomicBool = AtomicBool::new(false);

/// Whether the user has asked to stop.
pub fn seen() -> bool {
    SEEN.load(Ordering::Relaxed)
}

/// Catches SIGINT, SIGTERM and SIGHUP from now on, once each; those that were ignored (`nohup`) stay ignored.
pub fn catch() {
    extern "C" fn handler(_: libc::c_int) {
        SEEN.store(true, Ordering::Relaxed);
    }
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler only stores to an atomic. No SA_RESTART: poll must return. SA_RESETHAND: the second one is
        // the system's own.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
            {
                continue;
            }
            action = std::mem::zeroed();
            action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESETHAND;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}
