//! The file `switches`: when threads left their processors and came back, as the kernel told
//! `heddle record --sched`.

use crate::clock::Stamp;
use crate::file::{Mapped, open_in, unborn};
use crate::layout::{HEADER_SIZE, SWITCHES_MAGIC, SwitchBytes, SwitchesHeader};
use crate::{Claim, Error, Lack, Nanos};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use zerocopy::{FromBytes, FromZeros, IntoBytes};

/// The file's name in a trace.
pub(crate) const SWITCHES: &str = "switches";

/// What happened to a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SwitchKind {
    /// A processor runs it from now on.
    Runs,
    /// It does not run from now on, as it waits for something.
    Blocks,
    /// It does not run from now on, though it could: another thread has its processor.
    Preempted,
    /// So many switches could not be told of, of whatever threads; the number is in the place of
    /// the thread's.
    Lost,
    /// It has ended.
    Ended,
}

impl SwitchKind {
    const ALL: [SwitchKind; 5] = [
        SwitchKind::Runs,
        SwitchKind::Blocks,
        SwitchKind::Preempted,
        SwitchKind::Lost,
        SwitchKind::Ended,
    ];

    fn from_number(number: u32) -> Option<Self> {
        let index = (number as usize).checked_sub(1)?;
        Self::ALL.get(index).copied()
    }
}

/// One record of the kernel's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Switch {
    /// By CLOCK_MONOTONIC_RAW.
    pub time: Nanos,
    /// The process of the thread.
    pub pid: u32,
    /// The kernel's number of the thread.
    pub tid: u32,
    /// The processor.
    pub cpu: u32,
    /// What happened.
    pub kind: SwitchKind,
}

/// Why the kernel told nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The error number of perf_event_open(2), or of the mapping of its ring.
    pub error: i32,
    /// `kernel.perf_event_paranoid` then; `None` if that could not be read.
    pub paranoid: Option<i32>,
}

/// Writes the file, while the program runs.
#[derive(Debug)]
pub struct SwitchWriter {
    file: File,
    header: SwitchesHeader,
    bytes: Vec<u8>,
}

impl SwitchWriter {
    /// Makes the file in a claimed trace: switches are told from now on, or not at all.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn begin(claim: &Claim, refused: Option<Refusal>) -> Result<Self, Error> {
        let mut header = SwitchesHeader::new_zeroed();
        header.magic = SWITCHES_MAGIC;
        header.version = crate::VERSION.into();
        let processors = std::thread::available_parallelism();
        let processors = processors.map_or(0, |number| number.get() as u32);
        header.processors = processors.into();
        header.begin = Stamp::monotonic_raw_now().0.into();
        if let Some(refused) = refused {
            header.error = (refused.error as u32).into();
            let shifted = refused
                .paranoid
                .map_or(0, |level| level.wrapping_add(KNOWN));
            header.paranoid = (shifted as u32).into();
        }
        let directory = claim.directory().map_err(Error::io(Path::new(SWITCHES)))?;
        let flags = libc::O_WRONLY | libc::O_CREAT | libc::O_TRUNC;
        let path = Path::new(SWITCHES);
        let mut file = open_in(&directory, path, path.as_os_str(), flags)?;
        file.write_all(header.as_bytes()).map_err(Error::io(path))?;
        Ok(SwitchWriter {
            file,
            header,
            bytes: Vec::new(),
        })
    }

    /// Appends records.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn add(&mut self, switches: &[Switch]) -> std::io::Result<()> {
        self.bytes.clear();
        for switch in switches {
            self.bytes.extend(SwitchBytes::from(*switch).as_bytes());
        }
        self.file.write_all(&self.bytes)?;
        let records = self.header.records.get() + switches.len() as u64;
        self.header.records = records.into();
        Ok(())
    }

    /// All switches up to now were added.
    ///
    /// # Errors
    /// What the system refuses.
    pub fn finish(mut self) -> std::io::Result<()> {
        self.header.until = Stamp::monotonic_raw_now().0.into();
        self.file.write_all_at(self.header.as_bytes(), 0)
    }

    /// Later switches could not be added: says so and why in the file, which has room for that.
    pub fn give_up(mut self, why: &std::io::Error) {
        let error = why.raw_os_error().unwrap_or(libc::EIO);
        self.header.trouble = (error as u32).into();
        // The reader takes it for a file that was not finished, which it is.
        let _ = self.file.write_all_at(self.header.as_bytes(), 0);
    }
}

/// A level of `kernel.perf_event_paranoid` is stored with this added, so that 0 is none.
const KNOWN: i32 = 1000;

impl From<Switch> for SwitchBytes {
    fn from(switch: Switch) -> Self {
        SwitchBytes {
            time: switch.time.0.into(),
            pid: switch.pid.into(),
            tid: switch.tid.into(),
            cpu: switch.cpu.into(),
            what: (switch.kind as u32 + 1).into(),
        }
    }
}

/// The file of the trace at `path`, if it is there; `asked`: it should be. One that is damaged is
/// as good as none. That is told of, and so is one that was cut.
pub(crate) fn open(
    path: &Path,
    asked: bool,
    lacks: &mut Vec<Lack>,
) -> Result<Option<Mapped>, Error> {
    let path = path.join(SWITCHES);
    let unknown = "when threads were off their processors is not known";
    let mut lacking = |what: String| {
        let path = path.clone();
        lacks.push(Lack { path, what });
    };
    // A link is there, wherever it leads.
    let there = path.exists() || path.is_symlink();
    let nothing = match there {
        true => unborn(&path),
        false => Ok(true),
    };
    if let Ok(true) = nothing {
        let what = match there {
            true => "is empty",
            false => "is missing",
        };
        if asked {
            lacking(format!("{what}: {unknown}"));
        }
        return Ok(None);
    }
    let mapped = nothing.and_then(|_| Mapped::open(&path)).and_then(|file| {
        let header: &SwitchesHeader = file.header()?;
        file.verify(header.magic, SWITCHES_MAGIC, header.version.get())?;
        Ok((is_cut(header, file.bytes()), file))
    });
    match mapped {
        Ok((cut, file)) => {
            if cut {
                lacking(format!("ends early: behind its last record, {unknown}"));
            }
            Ok(Some(file))
        }
        Err(error) => {
            error.of_one_file()?;
            lacking(format!("is damaged: {unknown}"));
            Ok(None)
        }
    }
}

/// Whether a finished file has lost its end. An older `heddle record` has not said how many records
/// there are: then it shows where the last one is not whole, or there is none.
fn is_cut(header: &SwitchesHeader, bytes: &[u8]) -> bool {
    let bytes = bytes.len().saturating_sub(HEADER_SIZE);
    let finished = header.until.get() != 0 && header.error.get() == 0;
    finished
        && match header.records.get() {
            0 => bytes % size_of::<SwitchBytes>() != 0,
            records => ((bytes / size_of::<SwitchBytes>()) as u64) < records,
        }
}

/// A stretch of time in which a thread ran on no processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffCpu {
    /// When it left its processor.
    pub from: Nanos,
    /// When it came back; where it had not, as long as switches are told ([`Switches::told`]).
    pub to: Nanos,
    /// It could have run all the time; else it was blocked, and may have been ready for the last
    /// part of it.
    pub preempted: bool,
    /// It had not come back then.
    pub open: bool,
}

impl OffCpu {
    /// How long it is.
    pub fn took(self) -> Nanos {
        self.to - self.from
    }
}

/// From the first to the last that the kernel told of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Life {
    /// The kernel's number of the thread.
    pub tid: u32,
    /// When it first came to a processor; of a thread that ran before, when it first left one.
    pub from: Nanos,
    /// When it ended; where it had not, as long as switches are told ([`Switches::told`]).
    pub to: Nanos,
}

/// When the threads of a trace were off their processors. Times are those of the trace.
#[derive(Clone, Debug, Default)]
pub struct Switches {
    threads: FxHashMap<u32, Vec<OffCpu>>,
    /// How many processors the program might use when it began, if that is known.
    pub processors: Option<u32>,
    /// The times in which threads of the trace ran on each processor.
    occupied: FxHashMap<u32, Vec<(Nanos, Nanos)>>,
    /// All threads, those without a stretch off a processor among them; by when they began.
    pub lives: Vec<Life>,
    /// Switches that the kernel had no room for.
    pub lost: u64,
    /// Ends of stretches without a beginning, and beginnings without an end.
    pub unpaired: u64,
    /// Why the kernel told nothing, if it did not.
    pub refused: Option<Refusal>,
    /// All switches up to then are there; `None`: see [`Switches::early`].
    pub until: Option<Nanos>,
    /// What threads did from then on is not known: `until`, or the time of the last switch.
    pub told: Nanos,
    /// Why the latest switches are not there, if they are not.
    pub early: Option<Early>,
}

/// Why the latest switches are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Early {
    /// `heddle record` was killed, or still records.
    Unfinished,
    /// They could not be written: an error number.
    Unwritten(i32),
    /// The file was cut.
    Cut,
}

/// The lives of the threads that had one number after another.
fn lives(tid: u32, all: &[(Nanos, SwitchKind)], told: Nanos, zero: Nanos) -> Vec<Life> {
    let ends = |switch: &(Nanos, SwitchKind)| switch.1 == SwitchKind::Ended;
    let each = all.split_inclusive(ends).filter_map(|own| {
        let (first, last) = (own.first()?, own.last()?);
        let to = match ends(last) {
            true => last.0,
            false => told.max(last.0),
        };
        Some(Life {
            tid,
            from: first.0 - zero,
            to: to - zero,
        })
    });
    each.collect()
}

/// Ends threads that became their process's first by calling exec: that has that one's number from
/// then on, and the kernel tells of no end of the other's. On a processor that ran such a thread
/// the first thread leaves next, without having come, and it has ended before.
fn end_by_exec(records: &[SwitchBytes], by_thread: &mut FxHashMap<u32, Vec<(Nanos, SwitchKind)>>) {
    let mut ran: FxHashMap<u32, &SwitchBytes> = FxHashMap::default();
    for record in records {
        let kind = SwitchKind::from_number(record.what.get());
        let time = Nanos(record.time.get());
        if kind == Some(SwitchKind::Runs) {
            ran.insert(record.cpu.get(), record);
            continue;
        }
        let (pid, tid) = (record.pid.get(), record.tid.get());
        let before = ran.remove(&record.cpu.get());
        let other = before.filter(|ran| ran.pid.get() == pid && ran.tid.get() != tid && tid == pid);
        let Some(other) = other else { continue };
        let Some(first) = by_thread.get_mut(&tid) else {
            continue;
        };
        let ended = |&&(at, kind): &&(Nanos, SwitchKind)| kind == SwitchKind::Ended && at <= time;
        let Some(ended) = first.iter().filter(ended).map(|&(at, _)| at).max() else {
            continue;
        };
        // It is one thread, which must have an end and a beginning somewhere between.
        let at = ended.max(Nanos(other.time.get()));
        first.push((at, SwitchKind::Runs));
        let of_other = by_thread.entry(other.tid.get()).or_default();
        of_other.push((at, SwitchKind::Ended));
    }
}

/// The times on each processor in which threads of the trace ran there, in order.
fn occupied(records: &[SwitchBytes], zero: Nanos) -> FxHashMap<u32, Vec<(Nanos, Nanos)>> {
    let mut by_processor: FxHashMap<u32, Vec<(Nanos, SwitchKind)>> = FxHashMap::default();
    for record in records {
        let kind = SwitchKind::from_number(record.what.get());
        if let Some(kind) = kind.filter(|&kind| kind != SwitchKind::Lost) {
            let of_processor = by_processor.entry(record.cpu.get()).or_default();
            of_processor.push((Nanos(record.time.get()) - zero, kind));
        }
    }
    let occupied = by_processor.into_iter().map(|(cpu, mut all)| {
        // Who leaves at the time at which another comes was there before.
        all.sort_by_key(|&(time, kind)| (time, kind == SwitchKind::Runs));
        let mut since = None;
        let mut times = Vec::new();
        for (time, kind) in all {
            match kind {
                SwitchKind::Runs => since = Some(time),
                _ => times.extend(since.take().map(|since| (since, time))),
            }
        }
        (cpu, times)
    });
    occupied.collect()
}

/// Up to when all switches are among these, which have lost their end. They were taken in rounds,
/// from one processor after another: of the last round, those of some processors may be missing.
fn told(records: &[SwitchBytes]) -> Nanos {
    let time = |record: &SwitchBytes| Nanos(record.time.get());
    let rounds = records.windows(2);
    let last = rounds
        .map(|two| two[0].cpu.get() > two[1].cpu.get())
        .rposition(|begins| begins);
    if let Some(last) = last {
        return records[..=last].iter().map(time).max().unwrap_or_default();
    }
    let of_each = records.chunk_by(|one, other| one.cpu == other.cpu);
    let last_of_each = of_each.filter_map(|of_one| of_one.iter().map(time).max());
    last_of_each.min().unwrap_or_default()
}

impl Switches {
    /// Reads them; `zero`: CLOCK_MONOTONIC_RAW at the beginning of the trace's time line.
    pub(crate) fn read(file: &Mapped, zero: Nanos) -> Result<Self, Error> {
        let header: &SwitchesHeader = file.header()?;
        let bytes = file.bytes().get(HEADER_SIZE..).unwrap_or_default();
        // The last record may be being written.
        let whole = bytes.len() / size_of::<SwitchBytes>() * size_of::<SwitchBytes>();
        let records = <[SwitchBytes]>::ref_from_bytes(&bytes[..whole]).unwrap_or_default();
        let mut switches = Switches::default();
        if let Some(error) = Some(header.error.get() as i32).filter(|&error| error != 0) {
            let paranoid = Some(header.paranoid.get() as i32).filter(|&level| level != 0);
            switches.refused = Some(Refusal {
                error,
                paranoid: paranoid.map(|level| level.wrapping_sub(KNOWN)),
            });
        }
        switches.processors = Some(header.processors.get()).filter(|&number| number != 0);
        let until = Some(Nanos(header.until.get())).filter(|until| until.0 != 0);
        let cut = is_cut(header, file.bytes());
        let until = until.filter(|_| !cut);
        switches.until = until.map(|until| until - zero);
        switches.early = match (Some(header.trouble.get() as i32), until) {
            _ if cut => Some(Early::Cut),
            (Some(trouble), _) if trouble != 0 => Some(Early::Unwritten(trouble)),
            (_, until) => until.is_none().then_some(Early::Unfinished),
        };
        let mut by_thread: FxHashMap<u32, Vec<(Nanos, SwitchKind)>> = FxHashMap::default();
        let told = until.unwrap_or_else(|| told(records));
        switches.told = told - zero;
        for record in records {
            let Some(kind) = SwitchKind::from_number(record.what.get()) else {
                continue;
            };
            if kind == SwitchKind::Lost {
                switches.lost = switches.lost.saturating_add(record.tid.get().into());
                continue;
            }
            let time = Nanos(record.time.get());
            if time > told {
                continue;
            }
            let of_thread = by_thread.entry(record.tid.get()).or_default();
            of_thread.push((time, kind));
        }
        switches.occupied = occupied(records, zero);
        if switches.lost == 0 {
            end_by_exec(records, &mut by_thread);
        }
        for (tid, mut all) in by_thread {
            // Each processor has its own order.
            all.sort_by_key(|&(time, _)| time);
            let stretches = switches.paired(&all, told, zero);
            switches.threads.insert(tid, stretches);
            switches.lives.extend(lives(tid, &all, told, zero));
        }
        switches.lives.sort_by_key(|life| (life.from, life.tid));
        Ok(switches)
    }

    fn paired(&mut self, all: &[(Nanos, SwitchKind)], told: Nanos, zero: Nanos) -> Vec<OffCpu> {
        let mut stretches = Vec::new();
        let mut left: Option<(Nanos, bool)> = None;
        let stretch = |(from, preempted): (Nanos, bool), to: Nanos, open| OffCpu {
            from: from - zero,
            to: to - zero,
            preempted,
            open,
        };
        let mut runs_at_first = true;
        for &(time, kind) in all {
            match kind {
                SwitchKind::Runs => match left.take() {
                    Some(left) => stretches.push(stretch(left, time, false)),
                    // It began.
                    None if runs_at_first => {}
                    None => self.unpaired += 1,
                },
                SwitchKind::Blocks | SwitchKind::Preempted => {
                    let since = (time, kind == SwitchKind::Preempted);
                    self.unpaired += u64::from(left.replace(since).is_some());
                }
                // The number may be another thread's later.
                SwitchKind::Ended => {
                    left = None;
                    runs_at_first = true;
                    continue;
                }
                SwitchKind::Lost => {}
            }
            runs_at_first = false;
        }
        if let Some(left) = left {
            stretches.push(stretch(left, told, true));
        }
        stretches.retain(|stretch| stretch.to > stretch.from);
        stretches
    }

    /// The stretches of the thread with this number of the kernel's that end within this time, in
    /// order; the first may have begun before.
    pub fn of(&self, tid: u32, within: Range<Nanos>) -> &[OffCpu] {
        let all = self.threads.get(&tid).map_or(&[][..], Vec::as_slice);
        let begin = all.partition_point(|stretch| stretch.to <= within.start);
        let end = all.partition_point(|stretch| stretch.to <= within.end);
        &all[begin..end.max(begin)]
    }

    /// How many processors ran threads of the trace in this stretch of time.
    pub fn processors_within(&self, from: Nanos, to: Nanos) -> usize {
        let ran = |times: &Vec<(Nanos, Nanos)>| {
            let begin = times.partition_point(|&(_, end)| end <= from);
            times[begin..].first().is_some_and(|&(begin, _)| begin < to)
        };
        self.occupied.values().filter(|times| ran(times)).count()
    }

    /// The numbers of all threads that were off a processor.
    pub fn threads(&self) -> impl Iterator<Item = u32> {
        self.threads.keys().copied()
    }
}
