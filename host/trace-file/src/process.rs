//! One process image of a trace.

use crate::alive::alive;
use crate::clock::{ENOUGH, TimeLine};
use crate::error::renamed;
use crate::file::Mapped;
use crate::layout::{
    ASKED_ALLOCATION, ASKED_SWITCHES, ASKED_WAITS, ENDED, ForkBytes, PROCESS_MAGIC, ProcessHeader,
    REPLACED, TABLES_LEFT_OUT, WANTED_PATTERNS, WANTED_VALUES, text,
};
use crate::merge::in_order;
use crate::modules::{chain_start, whole_lines};
use crate::run;
use crate::store::Store;
use crate::thread::{Shared, Thread};
use crate::trace::text_or_lack;
use crate::{
    Allocation, ClockKind, Damages, Error, Event, Lack, Modules, Nanos, Objects, Rate, Remarks,
    Shapes, Stamp, allocation, objects,
};
use std::collections::HashMap;
use std::fmt;
use std::num::ParseIntError;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use zerocopy::little_endian::U32;

/// Which process, as its directory in the trace is named: `4711`, and after its second exec
/// `4711.2`.
///
/// ```
/// use heddle_trace_file::ImageId;
///
/// let id: ImageId = "4711.2".parse()?;
/// assert_eq!((id.pid, id.image), (4711, 2));
/// assert_eq!("4711".parse::<ImageId>()?.to_string(), "4711");
/// # Ok::<(), std::num::ParseIntError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ImageId {
    /// Process id.
    pub pid: u32,
    /// 0 for the first image of this pid, 1 after its first exec, and so on.
    pub image: u32,
}

impl fmt::Display for ImageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.image {
            0 => write!(f, "{}", self.pid),
            image => write!(f, "{}.{image}", self.pid),
        }
    }
}

impl FromStr for ImageId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let (pid, image) = text.split_once('.').unwrap_or((text, "0"));
        Ok(ImageId {
            pid: pid.parse()?,
            image: image.parse()?,
        })
    }
}

/// A process from its first event to its end or its exec.
#[derive(Debug)]
pub struct Process {
    lacks: Vec<Lack>,
    directory: PathBuf,
    pub(crate) head: Head,
    shared: Arc<Shared>,
    threads: Vec<Thread>,
    /// Events dropped that belong to no thread.
    dropped: u64,
    uncollected: usize,
    running: bool,
    replaced: bool,
    damages: Damages,
    objects: Option<Objects>,
    allocation: Option<Allocation>,
}

/// The fork that made a process.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fork {
    /// Ticks of the first stamp of the parent's image.
    pub image: u64,
    pub pid: u32,
    /// The number of the parent's thread that forked.
    pub thread: u32,
    /// The number of that thread's making.
    pub making: u32,
}

impl Fork {
    fn of(bytes: ForkBytes) -> Option<Self> {
        let fork = Fork {
            image: bytes.image.get(),
            pid: bytes.pid.get(),
            thread: bytes.thread.get(),
            making: bytes.making.get(),
        };
        (fork.making != 0).then_some(fork)
    }
}

/// What `heddle record`'s patterns were not applied to, as it could not say which functions they
/// mean: some or all of a process's, from some time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unplanned {
    /// Why, an error number.
    pub why: i32,
    /// The patterns of `--filter`, `--exclude`, `--start-at` or `--stop-at`.
    pub calls: bool,
    /// Those of `--args` or `--retval`.
    pub values: bool,
}

impl Unplanned {
    fn of(header: &ProcessHeader) -> Option<Self> {
        let wanted = header.wanted_of_plan.get();
        let unplanned = Unplanned {
            why: error_number(header.unplanned.get())?,
            calls: wanted & WANTED_PATTERNS != 0,
            values: wanted & WANTED_VALUES != 0,
        };
        (unplanned.calls || unplanned.values).then_some(unplanned)
    }
}

/// What was asked for beside calls, and what came of it. An older recorder does not say so.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Asked {
    pub waits: bool,
    pub allocation: bool,
    pub switches: bool,
    /// It is a snapshot, which has no files of objects and of allocation.
    pub tables_left_out: bool,
    /// How many of these files must be here.
    pub object_files: u32,
    pub allocation_files: u32,
    /// What could not be counted without such a file.
    pub uncounted_operations: u64,
    pub uncounted_allocations: u64,
    /// Why one could not be made, an error number.
    pub trouble: Option<i32>,
}

impl Asked {
    fn of(header: &ProcessHeader) -> Self {
        let asked = header.asked.get();
        let is = |bit| asked & bit != 0;
        let files = |made: U32| match is(TABLES_LEFT_OUT) {
            true => 0,
            false => made.get(),
        };
        Asked {
            waits: is(ASKED_WAITS),
            allocation: is(ASKED_ALLOCATION),
            switches: is(ASKED_SWITCHES),
            tables_left_out: is(TABLES_LEFT_OUT),
            object_files: files(header.object_files),
            allocation_files: files(header.allocation_files),
            uncounted_operations: header.uncounted_operations.get(),
            uncounted_allocations: header.uncounted_allocations.get(),
            trouble: error_number(header.table_trouble.get()),
        }
    }
}

/// 0 is none.
fn error_number(number: u32) -> Option<i32> {
    i32::try_from(number).ok().filter(|&error| error != 0)
}

/// The header, decoded.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    /// Of the format that its files are in.
    pub version: u32,
    pub image: u32,
    pub ended: bool,
    pub replaced: bool,
    pub pid: u32,
    pub parent: u32,
    pub clock: ClockKind,
    pub ticks_per_second: u64,
    pub first: Stamp,
    pub latest: Stamp,
    pub boot_id: [u8; 16],
    pub threads: u32,
    pub dropped: u64,
    /// Blocks that were begun; 0: not known.
    pub blocks: u64,
    pub flight: u64,
    pub sparse: u32,
    pub fork: Option<Fork>,
    pub trouble: u32,
    pub at_work: u32,
    /// Bytes of whole lines of `modules`; 0: not known.
    pub module_bytes: u32,
    pub asked: Asked,
    pub unplanned: Option<Unplanned>,
    pub flight_trouble: Option<i32>,
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
        let latest = latest_stamp(header);
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
            version: header.version.get(),
            image,
            ended: header.flags.get() & ENDED != 0,
            replaced: header.flags.get() & REPLACED != 0,
            pid: header.pid.get(),
            parent: header.parent.get(),
            clock,
            ticks_per_second: header.ticks_per_second.get(),
            first,
            latest,
            boot_id: header.boot_id,
            threads: header.threads.get(),
            dropped: header.dropped.get(),
            blocks: header.blocks.get(),
            flight: header.flight.get(),
            sparse: header.sparse.get(),
            fork: Fork::of(header.fork),
            trouble: header.trouble.get(),
            at_work: header.at_work.get(),
            module_bytes: header.module_bytes.get(),
            asked: Asked::of(header),
            unplanned: Unplanned::of(header),
            flight_trouble: error_number(header.flight_trouble.get()),
            host: text(&header.host),
            executable,
            command,
        })
    }
}

impl Process {
    /// Reads what belongs to `head` in `directory`, which the user knows as `called`, on the time
    /// line of the trace. `replaced`: a later image has its process id.
    pub(crate) fn read(
        (directory, called): (&Path, &Path),
        head: Head,
        replaced: bool,
        line: TimeLine,
        shapes: &Arc<Shapes>,
    ) -> Result<Self, Error> {
        let uncollected = crate::buffer::paths(directory)?.len();
        let running = uncollected > 0 && alive(directory, &head, replaced);
        let mut store = Store::read(directory, running.then_some(head.blocks))?;
        store.call(directory, called);
        let found = run::find(&store)?;
        let mut damages = store.damages.clone();
        damages += &found.damages;
        let mut lacks = Vec::new();
        let objects = objects::read(directory, &head.asked, &mut lacks)?;
        let allocation = allocation::read(directory, line, &head.asked, &mut lacks)?;
        // After the events, so that none is in a module that we have not heard of.
        let path = directory.join("modules");
        let mut unread = Vec::new();
        let unnamed = "functions of this process have no names";
        let text = text_or_lack(&path, unnamed, &mut unread)?;
        let lack = match &text {
            None if !unread.is_empty() => None,
            None => Some("is missing: functions of this process have no names"),
            Some(text) if text.is_empty() && (head.ended || head.module_bytes > 0) => {
                Some("is empty: functions of this process have no names")
            }
            // Of a program that was killed the last line may have been in writing.
            Some(text) if head.ended && !text.ends_with(b"\n") => {
                Some("ends inside a line: some functions of this process may have no names")
            }
            // The last line may have been in writing, but these were whole.
            Some(text) if whole_lines(text).len() < head.module_bytes as usize => {
                Some("ends early: some functions of this process may have no names")
            }
            Some(_) => None,
        };
        let text = text.unwrap_or_default();
        let start = chain_start(head.first.ticks);
        let (modules, wrong) = Modules::parse(&path, &text, line, head.version, start)?;
        let mut dropped = head.dropped;
        let mut of_threads: HashMap<u32, u64> = HashMap::new();
        for of_buffer in &store.dropped {
            let (said, events) = (of_buffer.thread, of_buffer.events);
            let known = found.places.binary_search_by_key(&said, |run| run.thread);
            let of_block = of_buffer.block.and_then(|block| found.last[block]);
            match of_block.or(known.is_ok().then_some(said)) {
                Some(thread) => {
                    let known = of_threads.entry(thread).or_default();
                    *known = events.max(*known);
                }
                None => dropped = dropped.saturating_add(events),
            }
        }
        let shared = Arc::new(Shared {
            store,
            modules,
            shapes: shapes.clone(),
            line,
        });
        let mut threads = Vec::new();
        for runs in found.places.chunk_by(|a, b| a.thread == b.thread) {
            let events = of_threads.get(&runs[0].thread).copied().unwrap_or(0);
            threads.extend(Thread::new(&shared, runs.to_vec(), events)?);
        }
        let wrong = wrong.first.map(|first| {
            let lines = match wrong.places {
                1 => "1 line".to_owned(),
                lines => format!("{lines} lines"),
            };
            format!(
                "is damaged in {lines}, first at offset {} ({}): some functions of this process \
                 may have no names, or wrong ones",
                first.offset, first.what
            )
        });
        let of_modules = lack.map(str::to_owned).into_iter().chain(wrong);
        let of_modules = of_modules.filter(|_| !threads.is_empty()).map(|what| Lack {
            path: path.clone(),
            what,
        });
        let of_modules = unread.into_iter().chain(of_modules);
        lacks.splice(0..0, of_modules.collect::<Vec<Lack>>());
        for lack in &mut lacks {
            lack.path = renamed(&lack.path, directory, called);
        }
        Ok(Process {
            lacks,
            directory: directory.to_owned(),
            replaced: replaced || head.replaced,
            head,
            shared,
            threads,
            dropped,
            uncollected,
            running,
            damages,
            objects,
            allocation,
        })
    }

    /// What its files lack, but for those of events.
    pub(crate) fn lacks(&self) -> &[Lack] {
        &self.lacks
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn store(&self) -> &Store {
        &self.shared.store
    }

    /// Process id.
    pub fn pid(&self) -> u32 {
        self.head.pid
    }

    /// Which process and image of it.
    pub fn id(&self) -> ImageId {
        ImageId {
            pid: self.head.pid,
            image: self.head.image,
        }
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

    /// The clock of its times.
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

    /// Whether the recorder saw its end. `false`: it was killed, left by `_exit` or exec, or still
    /// runs.
    pub fn ended(&self) -> bool {
        self.head.ended
    }

    /// Whether another program took its place, by exec: that ended its threads, whatever they did.
    /// Of what an older recorder wrote, it is known where that program is recorded, too.
    pub fn replaced(&self) -> bool {
        self.replaced
    }

    /// Events lost that belong to no thread of the trace, because no buffer could be made for
    /// theirs; see also [`Remarks::dropped`](crate::Remarks::dropped).
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Why events were dropped first, an error number, if any were and the recorder said why.
    pub fn trouble(&self) -> Option<i32> {
        error_number(self.head.trouble)
    }

    /// Whether the process was killed while a thread of it was in the recorder, and not in its own
    /// code.
    pub fn killed_at_work(&self) -> bool {
        !self.head.ended && !self.running && self.head.at_work > 0
    }

    /// What patterns were not applied to, if `heddle record` could not say which functions they
    /// mean.
    pub fn unplanned(&self) -> Option<Unplanned> {
        self.head.unplanned
    }

    /// Why the flight recorder got less room than it was to keep, an error number, if it did.
    pub fn flight_trouble(&self) -> Option<i32> {
        self.flight().and(self.head.flight_trouble)
    }

    /// Bytes that the flight recorder was to keep, if it was one: only the latest events are here.
    pub fn flight(&self) -> Option<u64> {
        Some(self.head.flight).filter(|&bytes| bytes != 0)
    }

    /// Bytes of records for which one reading of the clock served (`--clock sparse`), if not every
    /// event read it.
    pub fn sparse(&self) -> Option<u32> {
        Some(self.head.sparse).filter(|&bytes| bytes != 0)
    }

    /// Buffers that were not collected: their blocks are read where they are.
    pub fn uncollected(&self) -> usize {
        self.uncollected
    }

    /// Whether it still ran when the trace was opened, so that this is what it had recorded by
    /// then. Known only where it has buffers: who has none records nothing.
    pub fn running(&self) -> bool {
        self.running
    }

    /// The parts of its files of events that cannot be read at all. Damage that is found while
    /// events are read is in [`Remarks::damages`](crate::Remarks::damages).
    pub fn damages(&self) -> &Damages {
        &self.damages
    }

    /// In a packed trace, what could not be read when it was packed.
    pub(crate) fn add_damages(&mut self, damages: &Damages) {
        self.damages += damages;
    }

    /// What it lacks is told elsewhere.
    pub(crate) fn forget_lacks(&mut self) {
        self.lacks.clear();
    }

    /// Its modules, and where they were mapped.
    pub fn modules(&self) -> &Modules {
        &self.shared.modules
    }

    /// What its threads may have waited for; `None` if that was not asked for (`--sync`).
    pub fn objects(&self) -> Option<&Objects> {
        self.objects.as_ref()
    }

    /// What its threads allocated; `None` if that was not asked for (`--alloc`).
    pub fn allocation(&self) -> Option<&Allocation> {
        self.allocation.as_ref()
    }

    /// Its threads, in the order in which they recorded their first event.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// When its last event was recorded, as far as its threads' last runs can be read: reads those.
    pub fn last(&self) -> Option<Nanos> {
        self.threads.iter().flat_map(Thread::last).max()
    }

    /// Gives `each` the events of the threads with these indices, in order of time, until it has
    /// enough. Returns what is to be said of the events given, and of one more a thread.
    ///
    /// # Errors
    /// What reading the events gives, after those before it were given.
    pub fn in_order<'a>(
        &'a self,
        threads: &[usize],
        each: impl FnMut(usize, &Event<'a>) -> bool,
    ) -> Result<Remarks, Error> {
        let threads = threads.iter().map(|&index| (index, &self.threads[index]));
        in_order(threads, each)
    }

    /// The largest number of a block, also of those that cannot be read, as far as that is known.
    pub(crate) fn last_block_number(&self) -> u64 {
        let blocks = &self.shared.store.blocks;
        let read = blocks.iter().map(|block| block.number).max().unwrap_or(0);
        read.max(self.head.blocks)
    }

    /// Threads that began and of which nothing is here: their buffers are gone from the directory.
    /// A flight recorder forgets threads; there it is 0.
    pub fn missing_threads(&self) -> u32 {
        if self.flight().is_some() || self.running {
            return 0;
        }
        let found = u32::try_from(self.threads.len()).unwrap_or(u32::MAX);
        self.head.threads.saturating_sub(found)
    }

    /// Blocks of events that are missing, also at the ends of threads: a part of the trace is gone.
    /// Of a process that was killed, and of a flight recorder, it is 0: not all that were begun
    /// need be there.
    pub fn missing_blocks(&self) -> u64 {
        if self.flight().is_some() || !self.head.ended {
            return 0;
        }
        let found = self.store().blocks.len() as u64;
        self.head.blocks.saturating_sub(found)
    }

    /// Stretches of threads' events that are missing between others: a part of the trace is gone. A
    /// flight recorder overwrites stretches; there it is 0.
    pub fn missing_runs(&self) -> u64 {
        if self.flight().is_some() || self.running {
            return 0;
        }
        self.threads.iter().map(Thread::missing_runs).sum()
    }
}

/// How fast the clock of these processes ran; `None` if nothing in the trace or on this machine
/// says so.
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
        .then(|| first.first.later(first.clock))
        .flatten();
    here.filter(|now| now.monotonic_raw - first.first.monotonic_raw >= ENOUGH)
        .and_then(|now| Rate::between(first.first, now))
        .or_else(|| Rate::per_second(first.ticks_per_second))
        .or_else(|| Rate::between(first.first, latest))
}

/// The latest stamp in a process's header; the first again if there was no other.
pub(crate) fn latest_stamp(header: &ProcessHeader) -> Stamp {
    match header.stamps.get() {
        0 => header.first,
        taken => header.latest[(taken.wrapping_sub(1) % 2) as usize],
    }
    .into()
}

/// This boot of this machine.
pub(crate) fn boot_id() -> Option<[u8; 16]> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let digits: String = text.chars().filter(char::is_ascii_hexdigit).collect();
    u128::from_str_radix(&digits, 16)
        .ok()
        .map(u128::to_be_bytes)
}
