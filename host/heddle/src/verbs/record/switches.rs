//! Asks the kernel when the program's threads leave their processors and come back
//! (perf_event_open(2), PERF_RECORD_SWITCH), and writes what it tells into the trace.
//!
//! There is an event for each processor. The thread that starts the program opens them, switched
//! off; the program inherits them, and so do its threads and children, and exec switches them on.
//! A thread of ours takes the records out of the kernel's rings.

mod perf;

use super::directory;
use crate::notes;
use crate::preparing::failure::Failure;
use heddle_trace_file::{Claim, Error, Refusal, SwitchWriter, in_words};
use perf::Event;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::Path;
use std::thread::JoinHandle;

/// The running thread.
pub struct Watching {
    /// Tells it to end.
    stop: OwnedFd,
    thread: JoinHandle<()>,
}

/// Begins to watch what the calling thread starts from now on. Where the kernel refuses, why and
/// what would help is said here and in the trace, and all else is recorded.
pub fn start(claim: &Claim, shown: &Path) -> Result<Option<Watching>, Failure> {
    let begin = |refused| {
        SwitchWriter::begin(claim, refused).map_err(|error| match error {
            Error::Io { cause, .. } => directory::failed("write", &shown.join("switches"))(cause),
            other => Failure::ours(other.to_string()),
        })
    };
    let events = match perf::open_all() {
        Ok(events) => events,
        Err(error) => {
            let refusal = Refusal {
                error: error.raw_os_error().unwrap_or(libc::EIO),
                paranoid: perf::paranoid(),
            };
            notes::warning(format_args!(
                "--sched: when threads are off their processors is not recorded: {}",
                notes::refusal(refusal)
            ));
            begin(Some(refusal))?;
            return Ok(None);
        }
    };
    let writer = begin(None)?;
    let stop = stop_event().map_err(failed)?;
    let seen = stop.try_clone().map_err(failed)?;
    let thread = std::thread::Builder::new().name("switches".into());
    let thread = thread.spawn(move || watch(&events, writer, &seen));
    let thread = thread.map_err(directory::no_thread)?;
    Ok(Some(Watching { stop, thread }))
}

fn failed(error: io::Error) -> Failure {
    let remedy = directory::remedy(&error);
    Failure::ours(format!(
        "cannot begin to record switches: {}{remedy}",
        in_words(&error)
    ))
}

fn stop_event() -> io::Result<OwnedFd> {
    // SAFETY: eventfd takes no pointer, and what it opens is nobody else's.
    unsafe {
        match libc::eventfd(0, libc::EFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            file => Ok(OwnedFd::from_raw_fd(file)),
        }
    }
}

impl Watching {
    /// Takes what is left, and ends.
    pub fn finish(self) {
        let one = 1u64.to_ne_bytes();
        // SAFETY: eight bytes, as an eventfd takes them.
        unsafe { libc::write(self.stop.as_raw_fd(), one.as_ptr().cast(), one.len()) };
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Moves records from the rings to the file until it is told to stop.
fn watch(events: &[Event], mut writer: SwitchWriter, stop: &OwnedFd) {
    let poll = |file: i32| libc::pollfd {
        fd: file,
        events: libc::POLLIN,
        revents: 0,
    };
    let mut files: Vec<libc::pollfd> = events.iter().map(|event| poll(event.file())).collect();
    files.push(poll(stop.as_raw_fd()));
    let mut switches = Vec::new();
    let mut trouble = None;
    loop {
        // SAFETY: as many structures as are said.
        unsafe { libc::poll(files.as_mut_ptr(), files.len() as libc::nfds_t, AT_MOST) };
        let stopped = files.last().is_some_and(|stop| stop.revents != 0);
        for event in events {
            event.take(&mut switches);
        }
        // What cannot be written is taken nevertheless: a full ring costs the program no time.
        if trouble.is_none() && !switches.is_empty() {
            trouble = writer.add(&switches).err();
        }
        switches.clear();
        if stopped {
            break;
        }
        // A program that ends hangs up its events: the kernel would not let us wait any more.
        for file in &mut files[..events.len()] {
            if file.revents & (libc::POLLHUP | libc::POLLERR) != 0 {
                file.fd = -1;
            }
        }
    }
    let trouble = match trouble {
        Some(trouble) => {
            writer.give_up(&trouble);
            Some(trouble)
        }
        None => writer.finish().err(),
    };
    if let Some(trouble) = trouble {
        notes::warning(format_args!(
            "--sched: from some time on, when threads were off their processors could not be written: {trouble}"
        ));
    }
}

/// Milliseconds after which rings are looked at that are not half full: `heddle record` may be
/// killed, and what is in them is lost then.
const AT_MOST: i32 = 200;
