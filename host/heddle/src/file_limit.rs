//! The limit on the size of files (`ulimit -f`). By default the kernel ends a process that would
//! exceed it, by SIGXFSZ, before it can say anything.

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether the signal was ignored when we were started.
static WAS_IGNORED: AtomicBool = AtomicBool::new(false);

/// Makes exceeding the limit an error like a full disk: EFBIG, "File too large".
pub fn is_an_error() {
    // SAFETY: ignoring a signal needs nothing.
    let before = unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    WAS_IGNORED.store(before == libc::SIG_IGN, Relaxed);
}

/// Has `command` begin as it would without us: an ignored signal is inherited through exec.
pub fn restored(command: &mut Command) {
    if WAS_IGNORED.load(Relaxed) {
        return;
    }
    // SAFETY: between fork and exec only `signal` is called, which is async-signal-safe.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGXFSZ, libc::SIG_DFL);
            Ok(())
        })
    };
}
