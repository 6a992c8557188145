//! How far long work is: a line on a terminal's stderr, which is gone when the work is done.
//!
//! There is none where stderr is no terminal, and none where the result goes into a pipe, at whose
//! end may be what fills the terminal. It appears after a second, and not beside a result on the
//! terminal. `HEDDLE_PROGRESS`: `never`, or `now`, without waiting for a second.

use heddle_trace_file::{Process, Trace, bytes_read};
use std::env;
use std::fs::File;
use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileTypeExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

const AFTER: Duration = Duration::from_secs(1);
const EACH: Duration = Duration::from_millis(200);

/// Bytes that were written of the result's file.
static WRITTEN: AtomicU64 = AtomicU64::new(0);
/// The line is no longer wanted.
static ENDED: AtomicBool = AtomicBool::new(false);
/// What is being done; who has it may write to stderr.
static WORK: Mutex<Work> = Mutex::new(Work {
    of: String::new(),
    begun: 0,
    bytes: 0,
    since: None,
    drawn: false,
});

struct Work {
    /// The trace.
    of: String,
    /// What had been read before it, and how much it has.
    begun: u64,
    bytes: u64,
    since: Option<Instant>,
    /// The line is on the terminal.
    drawn: bool,
}

/// This trace is about to be read.
pub fn reads(trace: &Trace) {
    let wish = env::var("HEDDLE_PROGRESS").unwrap_or_default();
    if wish == "never" || !io::stderr().is_terminal() || into_pipe() {
        return;
    }
    let threads = trace.processes().iter().flat_map(Process::threads);
    let mut work = work();
    work.of = trace.path().display().to_string();
    work.begun = bytes_read();
    work.bytes = threads.map(heddle_trace_file::Thread::bytes).sum();
    let first = work.since.replace(Instant::now()).is_none();
    if wish == "now" {
        work.draw();
    }
    if first {
        // Without it there is no line, and that is all.
        let _ = thread::Builder::new().name("progress".into()).spawn(draw);
    }
}

/// So many bytes more are in the result's file.
pub fn wrote(bytes: usize) {
    WRITTEN.fetch_add(bytes as u64, Relaxed);
}

/// There is a result, or an end.
pub fn end() {
    ENDED.store(true, Relaxed);
    work().clear();
}

/// Takes the line away until the result is dropped, so that something else can be said.
pub fn aside() -> impl Drop {
    let mut work = work();
    work.clear();
    work
}

fn work() -> MutexGuard<'static, Work> {
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

fn into_pipe() -> bool {
    let stdout = io::stdout().as_fd().try_clone_to_owned().map(File::from);
    let kind = stdout.and_then(|stdout| stdout.metadata());
    kind.is_ok_and(|kind| kind.file_type().is_fifo() || kind.file_type().is_socket())
}

fn draw() {
    while !ENDED.load(Relaxed) {
        thread::sleep(EACH);
        let mut work = work();
        let long = work.since.is_some_and(|since| since.elapsed() >= AFTER);
        if long && !ENDED.load(Relaxed) {
            work.draw();
        }
    }
}

impl Work {
    fn draw(&mut self) {
        let read = bytes_read().saturating_sub(self.begun);
        let line = line(&self.of, read, self.bytes, WRITTEN.load(Relaxed));
        // A narrow terminal would keep what does not fit.
        let line: String = line.chars().take(79).collect();
        self.drawn = write!(io::stderr(), "\r\x1b[K{line}").is_ok();
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = write!(io::stderr(), "\r\x1b[K");
        }
    }
}

/// What is said: some traces are read several times.
fn line(of: &str, read: u64, bytes: u64, written: u64) -> String {
    if written > 0 {
        return format!("heddle: writing: {:.1} MB", written as f64 / 1e6);
    }
    let again = if read > bytes { " again" } else { "" };
    let part = match (read, bytes) {
        (_, 0) => 100,
        (read, bytes) if read > bytes => (read - 1) % bytes * 100 / bytes,
        (read, bytes) => read * 100 / bytes,
    };
    format!("heddle: reading {of}{again}: {part} %")
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn the_line_says_how_far_reading_or_writing_is() {
        assert_eq!(line("a", 0, 1000, 0), "heddle: reading a: 0 %");
        assert_eq!(line("a", 1000, 1000, 0), "heddle: reading a: 100 %");
        assert_eq!(line("a", 1500, 1000, 0), "heddle: reading a again: 49 %");
        assert_eq!(line("a", 0, 0, 0), "heddle: reading a: 100 %");
        assert_eq!(line("a", 1000, 1000, 2_340_000), "heddle: writing: 2.3 MB");
    }
}
