//! The descriptors and ignored signals that heddle was started with. Rust's runtime changes them
//! before `main`: it opens /dev/null where standard input, output or errors are closed, and ignores
//! SIGPIPE.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Which of the first three descriptors were closed (`>&-`).
static CLOSED: [AtomicBool; 3] = [const { AtomicBool::new(false) }; 3];
/// Signals that whoever started us may ignore, which a program then inherits.
const SIGNALS: [libc::c_int; 2] = [libc::SIGPIPE, libc::SIGCHLD];
/// Which of them were ignored.
static IGNORED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

extern "C" fn look() {
    for (descriptor, closed) in (0..).zip(&CLOSED) {
        // SAFETY: fcntl with F_GETFD takes no pointer.
        closed.store(
            unsafe { libc::fcntl(descriptor, libc::F_GETFD) } == -1,
            Relaxed,
        );
    }
    for (signal, ignored) in SIGNALS.into_iter().zip(&IGNORED) {
        // SAFETY: a plain structure that sigaction fills.
        let action = unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            (libc::sigaction(signal, std::ptr::null(), &mut action) == 0).then_some(action)
        };
        let is_ignored = action.is_some_and(|action| action.sa_sigaction == libc::SIG_IGN);
        ignored.store(is_ignored, Relaxed);
    }
    // Where it is ignored, the kernel keeps no child for us to wait for.
    // SAFETY: signal takes no pointer here.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
}

// SAFETY: `.init_array` holds functions that the loader calls before Rust's runtime begins; this
// one needs nothing of it.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Whether we were started without this descriptor, one of the first three.
pub fn is_closed(descriptor: usize) -> bool {
    CLOSED[descriptor].load(Relaxed)
}

/// Has the command start its program with what we were started with.
pub fn hand_on(command: &mut Command) {
    let restore = || {
        for (signal, ignored) in SIGNALS.into_iter().zip(&IGNORED) {
            if ignored.load(Relaxed) {
                // SAFETY: signal takes no pointer here.
                unsafe { libc::signal(signal, libc::SIG_IGN) };
            }
        }
        for (descriptor, closed) in (0..).zip(&CLOSED) {
            if closed.load(Relaxed) {
                // SAFETY: close takes no pointer; what is closed is Rust's /dev/null.
                unsafe { libc::close(descriptor) };
            }
        }
        io::Result::Ok(())
    };
    // SAFETY: what it does between fork and exec is async-signal-safe.
    unsafe { command.pre_exec(restore) };
}
