//! Signals that wait for their turn while there is a directory to remove.

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI32, Ordering};

/// What a terminal, a shell, a service manager or a limit ends a program by, without a core.
const ENDING: [libc::c_int; 10] = [
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGALRM,
    libc::SIGVTALRM,
    libc::SIGPROF,
    libc::SIGPWR,
    libc::SIGIO,
];

/// Those, the one by which a limit on processor time begins to end it, and what has no name.
fn ending() -> impl Iterator<Item = libc::c_int> {
    let unnamed = libc::SIGRTMIN()..=libc::SIGRTMAX();
    ENDING.into_iter().chain([libc::SIGXCPU]).chain(unnamed)
}

/// The latest of them that came, 0 if none did.
static CAME: AtomicI32 = AtomicI32::new(0);

static HOLDERS: Mutex<u32> = Mutex::new(0);

/// While one is there, a signal that would end the process does so when the last of them goes.
#[derive(Debug)]
pub struct Held(());

extern "C" fn note(signal: libc::c_int) {
    CAME.store(signal, Ordering::Relaxed);
}

impl Held {
    /// Only signals that nobody else handles or ignores are held.
    pub fn begin() -> Self {
        let mut holders = HOLDERS
            .lock()
            .unwrap_or_else(|holders| holders.into_inner());
        if *holders == 0 {
            for signal in ending() {
                change(signal, libc::SIG_DFL, note as extern "C" fn(_) as usize);
            }
        }
        *holders += 1;
        Held(())
    }

    /// Whether one has come: what is begun need not be finished.
    pub fn came(&self) -> bool {
        CAME.load(Ordering::Relaxed) != 0
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let mut holders = HOLDERS
            .lock()
            .unwrap_or_else(|holders| holders.into_inner());
        *holders -= 1;
        if *holders > 0 {
            return;
        }
        for signal in ending() {
            change(signal, note as extern "C" fn(_) as usize, libc::SIG_DFL);
        }
        let signal = CAME.swap(0, Ordering::Relaxed);
        if signal != 0 {
            // SAFETY: a system call, which ends us.
            unsafe { libc::raise(signal) };
        }
    }
}

/// Gives `signal` the handler `to`, if it has the handler `from`.
fn change(signal: libc::c_int, from: libc::sighandler_t, to: libc::sighandler_t) {
    // SAFETY: sigaction fills the one and reads the other; all its bits may be zeros. The handler
    // stores into an atomic.
    unsafe {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        if libc::sigaction(signal, std::ptr::null(), &raw mut action) == 0
            && action.sa_sigaction == from
        {
            action.sa_sigaction = to;
            action.sa_flags = libc::SA_RESTART;
            libc::sigaction(signal, &raw const action, std::ptr::null_mut());
        }
    }
}
