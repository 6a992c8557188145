//! One process image of a trace.

use crate::clock::{ENOUGH, TimeLine};
use crate::file::{Mapped, open, unborn};
use crate::layout::{ENDED, PROCESS_MAGIC, ProcessHeader, text};
use crate::thread::Thread;
use crate::{ClockKind, Error, Modules, Rate, Stamp};
use std::io::Read;
use std::path::Path;

/// A process from its first event to its end or its exec.
#[derive(Debug)]
pub struct Process {
    pub(crate) head: Head,
    pub(crate) modules: Modules,
    pub(crate) threads: Vec<Thread>,
    /// Thread files in the directory, with those that hold nothing.
    files: u32,
}

/// The header, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub image: u32,
    pub ended: bool,
    pub pid: u32,
    pub parent: u32,
    pub clock: ClockKind,
    pub ticks_per_second: u64,
    pub first: Stamp,
    pub latest: Stamp,
    pub boot_id: [u8; 16],
    pub thread_files: u32,
    pub dropped: u64,
    pub host: String,
    pub executable: String,
    pub command: Vec<String>,
}

impl Head {
    pub fn read(directory: &Path, image: u32) -> Result<Self, Error> {
        let file = Mapped::open(&directory.join("process"))?;
        let header: &ProcessHeader = file.header()?;
        file.verify(header.magic, PROCESS_MAGIC, header.version.get())?;
        let number = header.clock.get();
        let clock = ClockKind::from_number(number).ok_or_else(|| {
            Error::damaged(
                &file.path,
                24,
                format!("clock {number}; known are 1 (TSC) and 2 (CLOCK_MONOTONIC_RAW)"),
            )
        })?;
        let first = Stamp::from(header.first);
        let latest = match header.stamps.get() {
            0 => first,
            taken => Stamp::from(header.latest[(taken.wrapping_sub(1) % 2) as usize]),
        };
        let executable = text(&header.executable);
        let end = header
            .command
            .iter()
            .rposition(|&b| b != 0)
            .map_or(0, |last| last + 1);
        let command = if end == 0 {
            vec![executable.clone()]
        } else {
            header.command[..end].split(|&b| b == 0).map(text).collect()
        };
        Ok(Head {
            image,
            ended: header.flags.get() & ENDED != 0,
            pid: header.pid.get(),
            parent: header.parent.get(),
            clock,
            ticks_per_second: header.ticks_per_second.get(),
            first,
            latest,
            boot_id: header.boot_id,
            thread_files: header.threads.get(),
            dropped: header.dropped.get(),
            host: text(&header.host),
            executable,
            command,
        })
    }
}

impl Process {
    /// Reads what belongs to `head` in `directory`, on the trace's time line.
    pub(crate) fn read(directory: &Path, head: Head, line: TimeLine) -> Result<Self, Error> {
        let path = directory.join("modules");
        let modules = Modules::parse(&path, &modules_text(&path)?, line)?;
        let mut numbers = Vec::new();
        for entry in std::fs::read_dir(directory).map_err(Error::io(directory))? {
            let name = entry.map_err(Error::io(directory))?.file_name();
            let number = name
                .to_str()
                .and_then(|name| name.strip_prefix("thread-"))
                .and_then(|number| number.parse::<u32>().ok());
            numbers.extend(number);
        }
        numbers.sort_unstable();
        let files = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        let mut threads = Vec::with_capacity(numbers.len());
        for number in numbers {
            let path = directory.join(format!("thread-{number}"));
            if !unborn(&path)? {
                threads.push(Thread::open(&path, number, line)?);
            }
        }
        Ok(Process {
            head,
            modules,
            threads,
            files,
        })
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.head.pid
    }

    /// 0 for the first image of this pid, 1 after its first exec, and so on.
    pub fn image(&self) -> u32 {
        self.head.image
    }

    /// The parent's process id.
    pub fn parent(&self) -> u32 {
        self.head.parent
    }

    /// Path of the executable.
    pub fn executable(&self) -> &str {
        &self.head.executable
    }

    /// The command line; long ones are cut.
    pub fn command(&self) -> &[String] {
        &self.head.command
    }

    /// Name of the machine it ran on.
    pub fn host(&self) -> &str {
        &self.head.host
    }

    /// What its times were read from.
    pub fn clock(&self) -> ClockKind {
        self.head.clock
    }

    /// The stamp at its first event.
    pub fn first_stamp(&self) -> Stamp {
        self.head.first
    }

    /// The latest stamp; the first again if there was no other.
    pub fn latest_stamp(&self) -> Stamp {
        self.head.latest
    }

    /// Whether the recorder saw its end. `false`: it was killed, left by `_exit` or exec, or still runs.
    pub fn ended(&self) -> bool {
        self.head.ended
    }

    /// Events lost because no file could be made for their thread; see also [`Thread::dropped`].
    pub fn dropped(&self) -> u64 {
        self.head.dropped
    }

    /// What was mapped where.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// Its threads, in the order in which they recorded their first event.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// Thread files that the recorder made and that are gone from the directory.
    pub fn missing_threads(&self) -> u32 {
        self.head.thread_files.saturating_sub(self.files)
    }
}

/// Far beyond what any program loads and unloads (some 100 bytes a line, so two million lines): what is larger is no text of the recorder's, and is not read into memory.
const LONGEST_TEXT: u64 = 1 << 28;

fn modules_text(path: &Path) -> Result<Vec<u8>, Error> {
    let file = match open(path) {
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Vec::new());
        }
        other => other?,
    };
    let size = file.metadata().map_err(Error::io(path))?.len();
    if size > LONGEST_TEXT {
        let what = format!("expected at most {LONGEST_TEXT} bytes of text, found {size}");
        return Err(Error::damaged(path, LONGEST_TEXT, what));
    }
    let mut text = Vec::new();
    file.take(size)
        .read_to_end(&mut text)
        .map_err(Error::io(path))?;
    Ok(text)
}

/// How fast the clock of these processes ran; `None` if nothing in the trace or on this machine says so.
pub(crate) fn rate(heads: &[Head], first: &Head) -> Option<Rate> {
    if first.clock == ClockKind::MonotonicRaw {
        return Some(Rate::NANOSECOND);
    }
    let latest = heads
        .iter()
        .map(|head| head.latest)
        .max_by_key(|stamp| stamp.ticks)?;
    let apart = latest.monotonic_raw - first.first.monotonic_raw;
    if apart >= ENOUGH {
        return Rate::between(first.first, latest);
    }
    let here = boot_id()
        .is_some_and(|id| id == first.boot_id)
        .then(|| Stamp::now(first.clock))
        .flatten();
    here.filter(|now| now.monotonic_raw - first.first.monotonic_raw >= ENOUGH)
        .and_then(|now| Rate::between(first.first, now))
        .or_else(|| Rate::per_second(first.ticks_per_second))
        .or_else(|| Rate::between(first.first, latest))
}

/// This boot of this machine.
pub(crate) fn boot_id() -> Option<[u8; 16]> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16)
        .ok()
        .map(u128::to_be_bytes)
}
