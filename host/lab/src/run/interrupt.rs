//! Ctrl-C, a terminal that is closed, SIGTERM: the first one asks the runner to stop what it is
//! doing, so that what there is can be written; the second one ends the process as soon as no
//! sample runs and their files are removed.

use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicI64, Ordering::SeqCst};

/// The first signal; 0: none yet.
static FIRST: AtomicI32 = AtomicI32::new(0);
/// When it came, ns.
static FIRST_AT: AtomicI64 = AtomicI64::new(0);
/// A second one came.
static AGAIN: AtomicBool = AtomicBool::new(false);
/// No sample runs any more.
static OVER: AtomicBool = AtomicBool::new(false);
/// An eventfd that can be read once a signal has come; -1: there is none.
static BELL: AtomicI32 = AtomicI32::new(-1);

/// Signals that come together are one request: `timeout` sends its own twice, to its child and to
/// the group.
const TOGETHER_NS: i64 = 300_000_000;

/// Whether the user has asked to stop.
pub fn seen() -> bool {
    FIRST.load(SeqCst) != 0
}

/// The exit code if the user has asked to stop. A shell gives the same one for a program that the
/// signal ended: 130 for Ctrl-C, 143 for SIGTERM.
pub fn exit_code() -> Option<u8> {
    let signal = u8::try_from(FIRST.load(SeqCst)).ok()?;
    (signal != 0).then(|| signal.saturating_add(128))
}

/// To be polled beside what is waited for: a signal between a look at [`seen`] and the wait would
/// else go unnoticed. poll ignores the -1 that it is where signals are not caught.
pub(super) fn bell() -> RawFd {
    BELL.load(SeqCst)
}

/// Catches SIGINT, SIGTERM and SIGHUP from now on; those that were ignored (`nohup`) stay ignored.
pub fn catch() {
    // SAFETY: plain system call. It stays open as long as the process.
    BELL.store(
        unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) },
        SeqCst,
    );
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: all-zero is a valid sigaction; the handler makes only async-signal-safe calls.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut action) == 0
                && action.sa_sigaction == libc::SIG_IGN
            {
                continue;
            }
            action = std::mem::zeroed();
            action.sa_sigaction = handler as extern "C" fn(libc::c_int) as usize;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// No sample runs any more, and their files are removed: from now on a second signal ends the
/// process at once. One that has come already does so here, after `told`.
pub fn over(told: impl FnOnce()) {
    OVER.store(true, SeqCst);
    if AGAIN.load(SeqCst) {
        told();
        std::process::exit(exit_code().unwrap_or(1).into());
    }
}

extern "C" fn handler(signal: libc::c_int) {
    // SAFETY: errno is this thread's; what was interrupted must find it as it was.
    let errno = unsafe { *libc::__errno_location() };
    if FIRST.compare_exchange(0, signal, SeqCst, SeqCst).is_ok() {
        FIRST_AT.store(now_ns(), SeqCst);
        let one = 1_u64;
        // SAFETY: eight bytes that live through the call; an invalid descriptor is an error that
        // has no consequence.
        unsafe { libc::write(BELL.load(SeqCst), (&raw const one).cast(), 8) };
    } else if now_ns() - FIRST_AT.load(SeqCst) > TOGETHER_NS {
        AGAIN.store(true, SeqCst);
        if OVER.load(SeqCst) {
            // SAFETY: async-signal-safe, and does not return.
            unsafe { libc::_exit(128 + FIRST.load(SeqCst)) };
        }
    }
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

fn now_ns() -> i64 {
    let mut now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: async-signal-safe, and the structure lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec * 1_000_000_000 + now.tv_nsec
}
