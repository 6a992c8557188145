//! One run of an executable: its own session, a time limit, limited output, what the kernel says of
//! it.
//!
//! The end is noticed through a pidfd (Linux ≥ 5.3), polled together with both pipes by one thread,
//! so a sample costs no helper thread that could disturb it. Until `wait4` collects it, the
//! process's id cannot be reused, so its group can be killed without hitting anybody else: at the
//! time limit, and always at the end, in case it left children.

use super::{interrupt, strays};
use heddle_results::ProcessUsage;
use std::io::Read;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a lab program may print; more is garbage.
pub const STDOUT_LIMIT: usize = 1 << 20;
/// How much of its standard error is kept: the end.
const STDERR_LIMIT: usize = 1 << 16;
/// How long pipes are read after the end, if something that left the group still holds them.
const DRAIN: Duration = Duration::from_millis(300);

/// How often a directory is looked at that must not grow too large.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// Stopped at the time limit.
    TimedOut,
    /// Stopped because the user interrupted the comparison.
    Interrupted,
    /// Stopped because a directory that it writes had grown too large.
    TooLarge,
}

/// A finished process.
#[derive(Debug)]
pub struct Finished {
    /// How it ended.
    pub end: End,
    /// The beginning of its standard output, at most [`STDOUT_LIMIT`] bytes.
    pub stdout: Vec<u8>,
    /// It printed more than that.
    pub too_much: bool,
    /// The end of its standard error.
    pub stderr: Vec<u8>,
    /// What the kernel says.
    pub usage: ProcessUsage,
}

/// Runs `words` in `dir` with no terminal, no input, and the variables of [`environment`] and
/// `variables` only.
///
/// # Errors
/// If it cannot be started or watched.
pub fn run(
    words: &[String],
    dir: &Path,
    variables: &[(&str, String)],
    limit: Duration,
) -> std::io::Result<Finished> {
    run_within(words, dir, variables, limit, None)
}

/// The same, stopped when the files in a directory have more bytes than that.
///
/// # Errors
/// If it cannot be started or watched.
pub fn run_within(
    words: &[String],
    dir: &Path,
    variables: &[(&str, String)],
    limit: Duration,
    growing: Option<(&Path, u64)>,
) -> std::io::Result<Finished> {
    let (program, arguments) = words
        .split_first()
        .ok_or(std::io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .current_dir(dir)
        .env_clear()
        .envs(environment());
    command.envs(variables.iter().map(|(name, value)| (*name, value)));
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    // A session of its own, so that it has no terminal, by no name; its group has the process's id.
    // SAFETY: both calls are async-signal-safe and touch nothing of ours. If heddle is killed, its
    // sample goes with it.
    unsafe {
        command.pre_exec(|| {
            if libc::setsid() < 0 || libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0 {
                return Err(std::io::Error::last_os_error());
            }
            Ok(())
        });
    }
    let began = Instant::now();
    let mut child = command.spawn()?;
    let pid = child.id() as libc::pid_t;
    let mut pipes = [
        Pipe::new(
            child.stdout.take().map(OwnedFd::from),
            STDOUT_LIMIT,
            Keep::Beginning,
        ),
        Pipe::new(
            child.stderr.take().map(OwnedFd::from),
            STDERR_LIMIT,
            Keep::End,
        ),
    ];
    let watched = watch(pid, &mut pipes, began, limit, growing);
    let wall = began.elapsed();
    kill_group(pid);
    let (status, usage) = collect(pid)?;
    strays::end();
    drain(&mut pipes);
    let end = watched?.unwrap_or_else(|| match libc::WIFSIGNALED(status) {
        true => End::Signal(libc::WTERMSIG(status)),
        false => End::Exit(libc::WEXITSTATUS(status)),
    });
    let [stdout, stderr] = pipes;
    let nanos =
        |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
    Ok(Finished {
        end,
        too_much: stdout.dropped,
        stdout: stdout.bytes,
        stderr: stderr.bytes,
        usage: ProcessUsage {
            wall_ns: u64::try_from(wall.as_nanos()).unwrap_or(u64::MAX),
            user_ns: nanos(usage.ru_utime),
            sys_ns: nanos(usage.ru_stime),
            // Linux reports KiB.
            peak_rss_bytes: usage.ru_maxrss as u64 * 1024,
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
        },
    })
}

/// What a sample sees of our environment: where to find programs, libraries and a place for files,
/// and nothing that changes from one terminal to the next (its size moves the stack, which changes
/// timings). The language is C.
pub fn environment() -> Vec<(String, std::ffi::OsString)> {
    let kept = ["PATH", "HOME", "USER", "TMPDIR", "LD_LIBRARY_PATH"];
    let kept = kept
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), std::env::var_os(name)?)));
    kept.chain([("LC_ALL".to_owned(), "C".into())]).collect()
}

/// Waits for the end, reading along. `None`: it ended by itself.
fn watch(
    pid: libc::pid_t,
    pipes: &mut [Pipe; 2],
    began: Instant,
    limit: Duration,
    growing: Option<(&Path, u64)>,
) -> std::io::Result<Option<End>> {
    // SAFETY: plain system call; a non-negative result is a descriptor that is ours alone.
    let pidfd = unsafe {
        match libc::syscall(libc::SYS_pidfd_open, pid, 0) {
            -1 => return Err(std::io::Error::last_os_error()),
            fd => OwnedFd::from_raw_fd(fd as i32),
        }
    };
    loop {
        if interrupt::seen() {
            return Ok(Some(End::Interrupted));
        }
        let Some(left) = limit
            .checked_sub(began.elapsed())
            .filter(|left| !left.is_zero())
        else {
            return Ok(Some(End::TimedOut));
        };
        let left = match growing {
            Some((directory, most)) if bytes_in(directory) > most => {
                return Ok(Some(End::TooLarge));
            }
            Some(_) => left.min(LOOK_EVERY),
            None => left,
        };
        if poll(Some(&pidfd), pipes, left)? {
            return Ok(None);
        }
    }
}

/// Bytes of a directory's files on the disk, and of those in its folders.
fn bytes_in(directory: &Path) -> u64 {
    use std::os::unix::fs::MetadataExt;
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let bytes = entries.map(|entry| match entry.metadata() {
        Ok(data) if data.is_dir() => bytes_in(&entry.path()),
        Ok(data) => data.blocks() * 512,
        Err(_) => 0,
    });
    bytes.sum()
}

/// Reads what is left in the pipes after the process has gone.
fn drain(pipes: &mut [Pipe; 2]) {
    let began = Instant::now();
    while pipes.iter().any(|pipe| pipe.file.is_some()) {
        let left = DRAIN.saturating_sub(began.elapsed());
        if left.is_zero() || poll(None, pipes, left).is_err() {
            return;
        }
    }
}

/// Waits for one of the descriptors, reads the pipes that have something; whether the process has
/// ended.
fn poll(pidfd: Option<&OwnedFd>, pipes: &mut [Pipe; 2], left: Duration) -> std::io::Result<bool> {
    let entry = |fd: i32| libc::pollfd {
        fd,
        events: libc::POLLIN,
        revents: 0,
    };
    // poll ignores descriptors below zero. After the end, the user's wish to stop is no news.
    let mut entries = [
        entry(pidfd.map_or(-1, |_| interrupt::bell())),
        entry(pidfd.map_or(-1, AsRawFd::as_raw_fd)),
        entry(pipes[0].file.as_ref().map_or(-1, AsRawFd::as_raw_fd)),
        entry(pipes[1].file.as_ref().map_or(-1, AsRawFd::as_raw_fd)),
    ];
    // Rounded up, so that the last millisecond isn't spun through.
    let timeout = i32::try_from(left.as_millis()).unwrap_or(i32::MAX - 1) + 1;
    // SAFETY: the array lives through the call, and its length is given.
    if unsafe { libc::poll(entries.as_mut_ptr(), entries.len() as libc::nfds_t, timeout) } < 0 {
        let error = std::io::Error::last_os_error();
        return if error.kind() == std::io::ErrorKind::Interrupted {
            Ok(false)
        } else {
            Err(error)
        };
    }
    for (pipe, entry) in pipes.iter_mut().zip(&entries[2..]) {
        if entry.revents != 0 {
            pipe.read()?;
        }
    }
    Ok(entries[1].revents != 0)
}

fn kill_group(pid: libc::pid_t) {
    // SAFETY: plain system call; the group is gone or the child's own.
    unsafe { libc::kill(-pid, libc::SIGKILL) };
}

/// Collects the process and what it used.
fn collect(pid: libc::pid_t) -> std::io::Result<(i32, libc::rusage)> {
    loop {
        let mut status = 0;
        // SAFETY: rusage is plain data, for which all-zero is valid; both pointers live through the
        // call.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        if unsafe { libc::wait4(pid, &mut status, 0, &mut usage) } == pid {
            return Ok((status, usage));
        }
        let error = std::io::Error::last_os_error();
        if error.kind() != std::io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

enum Keep {
    Beginning,
    End,
}

/// A pipe that is read along, of which only so much is kept.
struct Pipe {
    file: Option<std::fs::File>,
    bytes: Vec<u8>,
    limit: usize,
    keep: Keep,
    dropped: bool,
}

impl Pipe {
    fn new(fd: Option<OwnedFd>, limit: usize, keep: Keep) -> Self {
        Self {
            file: fd.map(Into::into),
            bytes: Vec::new(),
            limit,
            keep,
            dropped: false,
        }
    }

    /// Reads once; poll has said that this doesn't wait.
    fn read(&mut self) -> std::io::Result<()> {
        let mut buffer = [0; 1 << 14];
        let Some(file) = &mut self.file else {
            return Ok(());
        };
        let count = match file.read(&mut buffer) {
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => return Ok(()),
            other => other?,
        };
        if count == 0 {
            self.file = None;
        }
        self.bytes.extend_from_slice(&buffer[..count]);
        let surplus = self.bytes.len().saturating_sub(self.limit);
        if surplus > 0 {
            self.dropped = true;
            match self.keep {
                Keep::Beginning => self.bytes.truncate(self.limit),
                Keep::End => drop(self.bytes.drain(..surplus)),
            }
        }
        Ok(())
    }
}
