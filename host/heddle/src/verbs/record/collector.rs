//! The thread that moves full blocks out of the program's buffers while processors are idle.

use super::directory::{self, Opened};
use crate::notes;
use crate::preparing::failure::Failure;
use heddle_trace_file::{Claim, Collected, Collector, Error};
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
    /// The thread's, for the kernel.
    id: libc::pid_t,
    shown: PathBuf,
}

/// A thread rings when a block is full; this finds a bell that was not heard, and new processes.
const AT_MOST: Duration = Duration::from_millis(100);

/// Starts to collect in the trace at `trace`, which the user calls `shown`, and which is ours by
/// this `claim`, everything or what flight recorders keep. To be called before the program begins.
/// Where it fails, the trace is removed.
pub fn start(
    trace: &Opened,
    shown: &Path,
    claim: Claim,
    everything: bool,
) -> Result<Collecting, Failure> {
    let failed = |error: Error| {
        trace.discard();
        directory::refused(&error)
    };
    let mut collector = Collector::begin_in(trace.path(), claim).map_err(failed)?;
    // The files of one that failed are closed before the trace is removed.
    let (collector, wake) = match collector.waker() {
        Ok(wake) => {
            if everything {
                collector.make_spare();
            }
            (collector, wake)
        }
        Err(error) => {
            drop(collector);
            return Err(failed(error));
        }
    };
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, said) = (stop.clone(), shown.to_owned());
    let (begun, kernel_id) = std::sync::mpsc::sync_channel(1);
    let mut collector = collector;
    let work = move || {
        // SAFETY: gettid takes nothing.
        let _ = begun.send(unsafe { libc::gettid() });
        policy(0, libc::SCHED_IDLE);
        let mut told = false;
        while !stopped.load(SeqCst) {
            if collector.round() == 0 {
                collector.wait(AT_MOST);
            }
            if let Some(trouble) = collector.trouble().filter(|_| !told) {
                told = true;
                notes::uncopied(&trouble, &said);
            }
        }
        (collector, told)
    };
    let thread = std::thread::Builder::new().name("collector".into());
    let thread = thread.spawn(work).map_err(|error| {
        trace.discard();
        directory::no_thread(error)
    })?;
    let id = kernel_id
        .recv()
        .map_err(|_| Failure::ours("the collecting thread ended at once"))?;
    Ok(Collecting {
        id,
        stop,
        wake: Box::new(wake),
        thread,
        shown: shown.to_owned(),
    })
}

impl Collecting {
    /// Ends the thread, and collects what the program has left. No other process may touch the
    /// trace until the claim is released.
    pub fn finish(self) -> (Result<Collected, Error>, Claim) {
        self.stop.store(true, SeqCst);
        (self.wake)();
        // A process that goes on and takes every processor would keep it from its end. Going back
        // needs a right (RLIMIT_NICE); without it, we wait for idle time.
        policy(self.id, libc::SCHED_OTHER);
        let (collector, told) = self
            .thread
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        let (collected, claim) = collector.finish_claimed();
        let trouble = collected.as_ref().ok().and_then(|it| it.trouble.as_ref());
        if let Some(trouble) = trouble.filter(|_| !told) {
            notes::uncopied(trouble, &self.shown);
        }
        (collected, claim)
    }
}

/// Gives a thread, 0 for the calling one, this place among others; with SCHED_IDLE it runs only
/// where a processor has nothing else to do.
fn policy(thread: libc::pid_t, policy: libc::c_int) {
    let parameters = libc::sched_param { sched_priority: 0 };
    // Where it is refused, all else is the same.
    // SAFETY: a valid structure.
    unsafe { libc::sched_setscheduler(thread, policy, &parameters) };
}
