//! The terminal: taken, and given back as it was, whatever ends the program.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering::SeqCst};

/// Columns and rows that a terminal must have at least.
pub const LEAST: (u16, u16) = (40, 10);

/// The terminal is ours. What restores it is set before.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// The terminal itself, and the standard error that was there.
static TERMINAL: AtomicI32 = AtomicI32::new(-1);
static STDERR: AtomicI32 = AtomicI32::new(-1);
static mut BEFORE: MaybeUninit<libc::termios> = MaybeUninit::uninit();

/// Signals that end us while we have the terminal. SIGABRT is how a panic ends the command, and an
/// overflow of the stack.
const ENDS: [libc::c_int; 5] = [
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGABRT,
];

/// Gives the terminal back, if it is ours. Async-signal-safe.
pub fn restore() {
    if !TAKEN.swap(false, SeqCst) {
        return;
    }
    // Attributes off, the cursor shown, the other screen.
    let text = b"\x1b[0m\x1b[?25h\x1b[?1049l";
    let terminal = TERMINAL.load(SeqCst);
    // SAFETY: system calls alone; what they take was set before `TAKEN` was, and is not changed as
    // long as that is set.
    unsafe {
        libc::write(terminal, text.as_ptr().cast(), text.len());
        libc::tcsetattr(terminal, libc::TCSAFLUSH, (&raw const BEFORE).cast());
        libc::dup2(STDERR.load(SeqCst), 2);
    }
}

extern "C" fn on_end(signal: libc::c_int) {
    restore();
    // SAFETY: both are async-signal-safe. The signal comes again when this returns, and ends us.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}

/// The terminal, ours until this is dropped.
#[derive(Debug)]
pub struct Terminal {
    tty: File,
    stderr: OwnedFd,
    /// What is written to standard error meanwhile, which would tear the picture.
    said: File,
}

impl Terminal {
    /// Takes the terminal that standard output is.
    ///
    /// # Errors
    /// It cannot be set, or there is no room for a temporary file.
    pub fn take() -> io::Result<Self> {
        let tty = File::options().read(true).write(true).open("/dev/tty")?;
        // SAFETY: a descriptor that is ours from here on.
        let stderr = unsafe {
            let copy = libc::fcntl(2, libc::F_DUPFD_CLOEXEC, 3);
            match copy {
                -1 => return Err(io::Error::last_os_error()),
                copy => OwnedFd::from_raw_fd(copy),
            }
        };
        let terminal = Terminal {
            tty,
            stderr,
            said: tempfile::tempfile()?,
        };
        static HOOKS: Once = Once::new();
        HOOKS.call_once(|| {
            let before = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |about| {
                restore();
                before(about);
            }));
            for signal in ENDS {
                // SAFETY: the handler is async-signal-safe.
                unsafe { libc::signal(signal, on_end as *const () as libc::sighandler_t) };
            }
        });
        terminal.again()?;
        Ok(terminal)
    }

    /// Takes it again after [`restore`].
    ///
    /// # Errors
    /// It cannot be set.
    pub fn again(&self) -> io::Result<()> {
        let tty = self.tty.as_raw_fd();
        // SAFETY: `TAKEN` is not set, so nobody reads what is changed here.
        unsafe {
            let before = (&raw mut BEFORE).cast::<libc::termios>();
            if libc::tcgetattr(tty, before) != 0 {
                return Err(io::Error::last_os_error());
            }
            let mut raw = before.read();
            libc::cfmakeraw(&raw mut raw);
            TERMINAL.store(tty, SeqCst);
            STDERR.store(self.stderr.as_raw_fd(), SeqCst);
            TAKEN.store(true, SeqCst);
            if libc::tcsetattr(tty, libc::TCSAFLUSH, &raw const raw) != 0 {
                let error = io::Error::last_os_error();
                restore();
                return Err(error);
            }
            libc::dup2(self.said.as_raw_fd(), 2);
        }
        io::stdout().write_all(b"\x1b[?1049h\x1b[?25l\x1b[2J")?;
        io::stdout().flush()
    }

    /// Stops until the shell goes on.
    ///
    /// # Errors
    /// The terminal cannot be taken again.
    pub fn stop(&self) -> io::Result<()> {
        restore();
        // SAFETY: it stops this process and no other.
        unsafe { libc::raise(libc::SIGSTOP) };
        self.again()
    }

    /// Gives the terminal back, and says what would have been said on standard error meanwhile.
    pub fn leave(mut self) {
        restore();
        let mut said = String::new();
        let read = self
            .said
            .rewind()
            .and_then(|()| self.said.read_to_string(&mut said));
        // Each stage of reading says the same of a file that is not there.
        let mut before = HashSet::new();
        for line in said
            .lines()
            .filter(|line| read.is_ok() && before.insert(*line))
        {
            let _ = writeln!(io::stderr(), "{line}");
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore();
    }
}
