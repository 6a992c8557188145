//! The thread that moves full blocks out of the program's buffers, in time that nobody else wants.

use super::Failure;
use crate::notes::{quoted, warning};
use heddle_trace_file::{Collected, Collector, Error};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread::JoinHandle;
use std::time::Duration;

/// The running thread.
pub struct Collecting {
    stop: Arc<AtomicBool>,
    wake: Box<dyn Fn()>,
    thread: JoinHandle<(Collector, bool)>,
    shown: PathBuf,
}

/// A thread rings when a block is full; this finds a bell that was not heard, and new processes.
const AT_MOST: Duration = Duration::from_millis(100);

/// Starts to collect in the trace at `trace`, which the user calls `shown`. To be called before the program begins.
pub fn start(trace: &Path, shown: &Path) -> Result<Collecting, Failure> {
    let failed = |error: Error| Failure::ours(format!("cannot begin to record: {error}"));
    let mut collector = Collector::begin(trace).map_err(failed)?;
    let wake = collector.waker().map_err(failed)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, said) = (stop.clone(), shown.to_owned());
    let work = move || {
        idle();
        let mut told = false;
        while !stopped.load(SeqCst) {
            if collector.round() == 0 {
                collector.wait(AT_MOST);
            }
            if let Some(trouble) = collector.trouble().filter(|_| !told) {
                told = true;
                tell(&trouble, &said);
            }
        }
        (collector, told)
    };
    let thread = std::thread::Builder::new().name("collector".into());
    let thread = thread
        .spawn(work)
        .map_err(|error| Failure::ours(format!("cannot start a thread: {error}")))?;
    Ok(Collecting {
        stop,
        wake: Box::new(wake),
        thread,
        shown: shown.to_owned(),
    })
}

impl Collecting {
    /// Ends the thread, and collects what the program has left.
    pub fn finish(self) -> Result<Collected, Error> {
        self.stop.store(true, SeqCst);
        (self.wake)();
        let (collector, told) = self
            .thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let collected = collector.finish()?;
        if let Some(trouble) = collected.trouble.as_ref().filter(|_| !told) {
            tell(trouble, &self.shown);
        }
        Ok(collected)
    }
}

/// Says what stopped a copy.
pub fn tell(trouble: &Error, trace: &Path) {
    let limited = matches!(trouble, Error::Io { source, .. } if source.kind() == std::io::ErrorKind::FileTooLarge);
    let when = if limited {
        "without that limit (ulimit -f unlimited)"
    } else {
        "when there is room again"
    };
    warning(format_args!(
        "{trouble}: what could not be copied is still in the buffers, and every command reads it there; {when}: heddle recover {}",
        quoted(trace)
    ));
}

/// Makes the calling thread run only where a processor has nothing else to do.
fn idle() {
    let parameters = libc::sched_param { sched_priority: 0 };
    // Where it is refused, the thread competes with the program, and all else is the same.
    // SAFETY: a valid structure; 0 is the calling thread.
    unsafe { libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameters) };
}
