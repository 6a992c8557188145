//! Runs the program while signals go where they would go without us.
//!
//! Ctrl-C on the terminal reaches the whole foreground group, so the program gets it itself. We
//! only must not die of it, as we have to finish the trace. A signal sent to us alone (`kill PID`,
//! a job scheduler) is passed on.

use crate::preparing::failure::Failure;
use heddle_trace_file::in_words;
use libc::c_int;
use std::io;
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicI32, Ordering::SeqCst};

const PASSED_ON: [c_int; 6] = [
    libc::SIGINT,
    libc::SIGQUIT,
    libc::SIGTERM,
    libc::SIGHUP,
    libc::SIGUSR1,
    libc::SIGUSR2,
];

/// Process id of the program; 0 until it runs, −1 when it has ended.
static PROGRAM: AtomicI32 = AtomicI32::new(0);
/// What we exit with once the program has ended; −1 before.
static CODE: AtomicI32 = AtomicI32::new(-1);
/// A signal that came before the program ran.
static EARLY: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: c_int, info: *mut libc::siginfo_t, _context: *mut libc::c_void) {
    // SAFETY: the kernel hands a valid siginfo to a handler installed with SA_SIGINFO.
    let from_terminal = unsafe { (*info).si_code } == libc::SI_KERNEL;
    match PROGRAM.load(SeqCst) {
        0 => EARLY.store(signal, SeqCst),
        program if program > 0 && !from_terminal => {
            // SAFETY: kill is async-signal-safe; the program is our child and not yet waited for.
            unsafe { libc::kill(program, signal) };
        }
        _ => {}
    }
}

fn install() -> io::Result<()> {
    for signal in PASSED_ON {
        // SAFETY: plain structures that sigaction reads and writes; the handler is
        // async-signal-safe.
        unsafe {
            let mut old: libc::sigaction = std::mem::zeroed();
            if libc::sigaction(signal, std::ptr::null(), &mut old) != 0 {
                return Err(io::Error::last_os_error());
            }
            // Under nohup the program is to ignore the hang-up too; a handler would not be
            // inherited.
            if old.sa_sigaction == libc::SIG_IGN {
                continue;
            }
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction =
                pass_on as extern "C" fn(c_int, *mut libc::siginfo_t, *mut libc::c_void) as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            if libc::sigaction(signal, &action, std::ptr::null_mut()) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
    }
    Ok(())
}

/// How the program ended.
pub struct Ended {
    pub status: ExitStatus,
    /// Its real user then, if that was another than ours: it gave up its rights.
    pub user: Option<u32>,
    /// It was in seccomp's strict mode.
    pub strict: bool,
}

/// The exit code that tells how the program ended.
fn code_of(told: &libc::siginfo_t) -> i32 {
    // SAFETY: waitid has filled in the part that tells of a child.
    let status = unsafe { told.si_status() };
    match told.si_code {
        libc::CLD_EXITED => status,
        _ => 128 + status,
    }
}

/// Waits until the program has ended, without reaping it, so that the pid cannot be another
/// process's while a handler may still use it. `None`: our only child.
fn wait_for_end(pid: Option<i32>) -> io::Result<libc::siginfo_t> {
    // SAFETY: siginfo is plain data that waitid fills.
    let mut told: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let options = libc::WEXITED | libc::WNOWAIT;
    let (kind, id) = pid.map_or((libc::P_ALL, 0), |pid| (libc::P_PID, pid as libc::id_t));
    // SAFETY: as above.
    while unsafe { libc::waitid(kind, id, &mut told, options) } != 0 {
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    Ok(told)
}

/// Waits until the program has ended, if it has begun: its exit code. Async-signal-safe, and for
/// any thread.
pub fn code_at_end() -> Option<i32> {
    loop {
        match (CODE.load(SeqCst), PROGRAM.load(SeqCst)) {
            (code @ 0.., _) => return Some(code),
            // It may run already, though we have not been told its pid yet.
            (_, 0) => return wait_for_end(None).ok().map(|told| code_of(&told)),
            (_, pid) => {
                if let Ok(told) = wait_for_end(Some(pid)) {
                    return Some(code_of(&told));
                }
            }
        }
    }
}

/// Whether a process that has ended was in seccomp's strict mode.
fn was_strict(pid: i32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let mode = status
        .lines()
        .find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() == "1")
}

/// Runs `command` to its end.
pub fn run(command: &mut Command) -> Result<Ended, Failure> {
    let shown = command.get_program().to_string_lossy().into_owned();
    install()
        .map_err(|error| Failure::ours(format!("cannot handle signals: {}", in_words(&error))))?;
    let mut child = command.spawn().map_err(|error| match error.raw_os_error() {
        Some(libc::ENOENT) => Failure { code: 127, message: format!("{shown}: its interpreter (first line, or ELF loader) was not found") },
        Some(libc::ENOEXEC) => Failure { code: 126, message: format!("{shown}: not a program that this machine can run (a script needs a first line such as #!/bin/sh)") },
        Some(libc::EACCES) => Failure { code: 126, message: format!("{shown}: {}", in_words(&error)) },
        _ => Failure::ours(format!("cannot run {shown}: {}", in_words(&error))),
    })?;
    let pid = i32::try_from(child.id()).map_err(|_| Failure::ours("a process id beyond 2³¹"))?;
    PROGRAM.store(pid, SeqCst);
    let early = EARLY.swap(0, SeqCst);
    if early != 0 {
        // SAFETY: the child is ours and not yet waited for.
        unsafe { libc::kill(pid, early) };
    }
    let told = wait_for_end(Some(pid))
        .map_err(|error| Failure::ours(format!("cannot wait for {shown}: {}", in_words(&error))))?;
    CODE.store(code_of(&told), SeqCst);
    PROGRAM.store(-1, SeqCst);
    let strict = was_strict(pid);
    let status = child
        .wait()
        .map_err(|error| Failure::ours(format!("cannot wait for {shown}: {}", in_words(&error))))?;
    // SAFETY: waitid has filled in the part that tells of a child; getuid cannot fail.
    let (user, ours) = unsafe { (told.si_uid(), libc::getuid()) };
    Ok(Ended {
        status,
        user: Some(user).filter(|&user| user != ours),
        strict,
    })
}

/// `signal 11 (Segmentation fault)`.
pub fn signal_name(signal: c_int) -> String {
    // SAFETY: strsignal returns a valid string for any number; its buffer has no other user, as we
    // have one thread.
    let text = unsafe { std::ffi::CStr::from_ptr(libc::strsignal(signal)) };
    format!("signal {signal} ({})", text.to_string_lossy())
}
