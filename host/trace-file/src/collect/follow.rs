//! Collects while the program runs.

use super::control::{Claim, Control};
use super::dead::{self, Collected};
use super::events_file::{EventsFile, Refused};
use super::join::Apart;
use super::spare::Spare;
use crate::buffer::{self, offset};
use crate::error::renamed;
use crate::file::{Mapped, open_own, unborn};
use crate::layout::{BufferHeader, ENDED, HEADER_SIZE, MOST_SLOTS, ProcessHeader, Slot, slot};
use crate::store::Source;
use crate::trace::{BARRED, LOST, UNCOUNTED, UNRECORDED};
use crate::{Error, LostCounts, trace};
use memmap2::{MmapMut, MmapOptions};
use std::collections::HashMap;
use std::io::{ErrorKind, Write as _};
use std::mem::offset_of;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use zerocopy::FromBytes;

/// Takes full blocks from the buffers of the processes of a trace while they run.
///
/// A collector has the trace to itself: a second one, or [`recover`](super::recover), is refused.
#[derive(Debug)]
pub struct Collector {
    /// See [`Claim::place`].
    trace: PathBuf,
    /// What errors call it.
    called: PathBuf,
    /// In front of the claim, by which the place leads there.
    spare: Option<Spare>,
    control: Control,
    processes: HashMap<PathBuf, Process>,
    looked: Option<Instant>,
    /// What stopped a copy, once.
    trouble: Option<Error>,
    failed: Option<Instant>,
}

#[derive(Debug)]
struct Process {
    directory: PathBuf,
    header: Mapped,
    /// The number of buffers in the process's header when we last looked for their files.
    known: u32,
    buffers: HashMap<PathBuf, Buffer>,
    events: Option<EventsFile>,
}

#[derive(Debug)]
struct Buffer {
    path: PathBuf,
    header: MmapMut,
    /// The file up to its last slot in use, mapped when that slot was first copied.
    blocks: Option<Source>,
}

/// How often the directory is read: a new process need not ring.
const LOOK: Duration = Duration::from_millis(20);
/// And how soon again when a bell rang and there was no full block: the first block of a process
/// that we do not know yet may be full within a millisecond, and while two wait for us, their
/// thread writes one itself.
const LOOK_AT_A_BELL: Duration = Duration::from_millis(1);
/// Bytes of a process that are copied at the end to make one file of its events: who has recorded
/// more would wait for seconds, and can run [`recover`](super::recover).
const MOST_JOINED: u64 = 1 << 30;
/// How long to wait after an error before trying again.
const PAUSE: Duration = Duration::from_secs(1);

impl Collector {
    /// Makes the bell of the trace at `path`. To be called before the program begins.
    ///
    /// # Errors
    /// The file cannot be made, or another process collects.
    pub fn begin(path: &Path) -> Result<Self, Error> {
        Self::begin_in(path, Claim::of(path)?)
    }

    /// The same in a trace that was claimed before.
    ///
    /// # Errors
    /// There is no room for the file.
    pub fn begin_in(path: &Path, claim: Claim) -> Result<Self, Error> {
        Ok(Collector {
            trace: claim.place(),
            called: path.to_owned(),
            control: Control::of(claim)?,
            spare: None,
            processes: HashMap::new(),
            looked: None,
            trouble: None,
            failed: None,
        })
    }

    /// Makes a directory ready for the first process that records, and has the room to keep
    /// everything: not for flight recorders. To be called before the program begins.
    pub fn make_spare(&mut self) {
        self.spare = Spare::make(&self.trace);
    }

    /// Waits for a full block, at most this long.
    pub fn wait(&self, at_most: Duration) {
        self.control.wait(at_most);
    }

    /// What ends a wait from another thread.
    ///
    /// # Errors
    /// The file cannot be mapped a second time.
    pub fn waker(&self) -> Result<impl Fn() + Send + 'static + use<>, Error> {
        self.control.waker()
    }

    /// Takes every full block there is; returns how many. What cannot be copied stays where it is,
    /// and is tried again a second later.
    pub fn round(&mut self) -> usize {
        let rang = self.control.answer();
        if self.failed.is_some_and(|failed| failed.elapsed() < PAUSE) {
            return 0;
        }
        self.failed = None;
        let mut copied = 0;
        let mut result = self.copy(&mut copied, LOOK);
        if rang && copied == 0 && result.is_ok() {
            result = self.copy(&mut copied, LOOK_AT_A_BELL);
        }
        self.control.set_stuck(result.is_err());
        if let Err(error) = result {
            let error = error.renamed(&self.trace, &self.called);
            self.trouble.get_or_insert(error);
            self.failed = Some(Instant::now());
        }
        copied
    }

    /// Takes full blocks, also those of processes that began since, where the directory was read
    /// this long ago.
    fn copy(&mut self, copied: &mut usize, looked_ago: Duration) -> Result<(), Error> {
        let is_old = |looked: Instant| looked.elapsed() >= looked_ago;
        if self.looked.is_none_or(is_old) {
            self.looked = Some(Instant::now());
            self.look()?;
        }
        for process in self.processes.values_mut() {
            if !process.keeps_everything()? {
                continue;
            }
            process.find_buffers()?;
            for buffer in process.buffers.values_mut() {
                *copied += buffer.take(&process.directory, &mut process.events)?;
            }
        }
        Ok(())
    }

    /// Finds new processes, and unmaps the buffers of those that ended: what is in them is
    /// collected at the end.
    fn look(&mut self) -> Result<(), Error> {
        if self.control.is_removed() {
            return Err(Error::io(&self.trace)(ErrorKind::NotFound.into()));
        }
        for process in self.processes.values_mut() {
            let header: &ProcessHeader = process.header.header()?;
            if header.flags.get() & ENDED != 0 {
                process.buffers.clear();
            }
        }
        for (directory, _) in trace::image_directories(&self.trace)? {
            let path = directory.join("process");
            if self.processes.contains_key(&directory) || !path.exists() || unborn(&path)? {
                continue;
            }
            let process = Process {
                header: Mapped::open(&path)?,
                known: 0,
                buffers: HashMap::new(),
                events: None,
                directory: directory.clone(),
            };
            self.processes.insert(directory, process);
        }
        Ok(())
    }

    /// Collects what is left of all processes that have ended. What stopped a copy before is told
    /// of if it does so again.
    ///
    /// # Errors
    /// A part of the trace is damaged, or the directory cannot be read. A full disk is no error:
    /// [`Collected::trouble`] tells.
    pub fn finish(self) -> Result<Collected, Error> {
        let (collected, claim) = self.finish_claimed();
        claim.release();
        collected
    }

    /// The same, and the trace is still ours, to be read before another process may move it.
    ///
    /// # Errors
    /// As [`Collector::finish`].
    pub fn finish_claimed(self) -> (Result<Collected, Error>, Claim) {
        let gone = self.processes.keys().find(|directory| !directory.exists());
        let gone = gone.map(|directory| Error::io(directory)(ErrorKind::NotFound.into()));
        drop(self.processes);
        drop(self.spare);
        let control = self.trace.join("control");
        let (overwritten, lost, why_lost, counts) = match self.control.is_intact() {
            true => {
                let (lost, why) = self.control.lost();
                (None, lost, why, self.control.lost_counts())
            }
            false => {
                let what = "another program has written there: which events were lost is not known";
                let error = Error::damaged(&control, 0, what);
                (Some(error), 0, None, LostCounts::default())
            }
        };
        // Where this cannot be written either, the caller says so all the same.
        let _ = note_lost(&self.trace, lost, &counts);
        let (place, called) = (&self.trace, &self.called);
        let name = |path: PathBuf| renamed(&path, place, called);
        let collected = dead::collect_all(place, MOST_JOINED).map(|collected| Collected {
            lost,
            why_lost,
            counts,
            apart: collected.apart.map(|(path, why)| match why {
                Apart::Error(error) => (name(path), Apart::Error(error.renamed(place, called))),
                why => (name(path), why),
            }),
            trouble: (collected.trouble.or(gone).or(overwritten))
                .map(|why| why.renamed(place, called)),
            ..collected
        });
        let collected = collected.map_err(|error| error.renamed(place, called));
        (collected, self.control.into_claim())
    }

    /// What stopped a copy, if anything did; told of once.
    pub fn trouble(&mut self) -> Option<Error> {
        self.trouble.take()
    }
}

/// Says in the trace that events of processes without a directory are missing, and what else is.
fn note_lost(trace: &Path, events: u64, counts: &LostCounts) -> Result<(), Error> {
    let why = counts.why.unwrap_or(0);
    let mut lines = String::new();
    if events > 0 {
        lines += &format!("{LOST} {events} {why}\n");
    }
    let (operations, allocations) = (counts.operations, counts.allocations);
    if operations > 0 || allocations > 0 {
        lines += &format!("{UNCOUNTED} {operations} {allocations} {why}\n");
    }
    if counts.programs > 0 {
        let why = counts.why_barred.unwrap_or(0);
        lines += &format!("{BARRED} {} {why}\n", counts.programs);
    }
    if lines.is_empty() {
        return Ok(());
    }
    let path = trace.join(UNRECORDED);
    let mut file = open_own(&path, libc::O_WRONLY | libc::O_APPEND | libc::O_CREAT)?;
    file.write_all(lines.as_bytes()).map_err(Error::io(&path))
}

impl Process {
    /// A flight recorder's blocks stay in its buffers, where it overwrites them.
    fn keeps_everything(&self) -> Result<bool, Error> {
        let header: &ProcessHeader = self.header.header()?;
        Ok(header.flight.get() == 0)
    }

    fn find_buffers(&mut self) -> Result<(), Error> {
        let header: &ProcessHeader = self.header.header()?;
        let made = header.buffers.get();
        if made == self.known {
            return Ok(());
        }
        let mut all_born = true;
        for path in buffer::paths(&self.directory)? {
            if self.buffers.contains_key(&path) {
                continue;
            }
            match Buffer::open(&path)? {
                Some(buffer) => drop(self.buffers.insert(path, buffer)),
                None => all_born = false,
            }
        }
        if all_born {
            self.known = made;
        }
        Ok(())
    }
}

impl Buffer {
    fn open(path: &Path) -> Result<Option<Self>, Error> {
        if unborn(path)? {
            return Ok(None);
        }
        buffer::Head::read(&Mapped::open(path)?)?;
        let file = open_own(path, libc::O_RDWR)?;
        // SAFETY: the file only grows; it is shared with the traced process, and what both change
        // is atomic.
        let header = unsafe { MmapOptions::new().len(HEADER_SIZE).map_mut(&file) };
        Ok(Some(Buffer {
            path: path.to_owned(),
            header: header.map_err(Error::io(path))?,
            blocks: None,
        }))
    }

    fn atomic(&self, at: usize) -> &AtomicU32 {
        // SAFETY: the mapping is a header long and page-aligned, and `at` the offset of an aligned
        // word in it.
        unsafe { &*self.header.as_ptr().add(at).cast::<AtomicU32>() }
    }

    /// Copies every full block, if there are two slots or more: with one, the thread grows the
    /// buffer first.
    fn take(&mut self, directory: &Path, events: &mut Option<EventsFile>) -> Result<usize, Error> {
        let slots = self
            .atomic(offset_of!(BufferHeader, slots))
            .load(Ordering::Acquire);
        let mut taken = 0;
        if slots < 2 {
            return Ok(taken);
        }
        for index in 0..slots.min(MOST_SLOTS) {
            let entry = offset_of!(BufferHeader, table) + index as usize * size_of::<Slot>();
            if self.atomic(entry).load(Ordering::Relaxed) != slot::FULL {
                continue;
            }
            if events.is_none() {
                *events = Some(EventsFile::open(&directory.join("events"))?);
            }
            let Some(events) = events else { continue };
            let ours = self.atomic(entry).compare_exchange(
                slot::FULL,
                slot::COPIED_BY_US,
                Ordering::Acquire,
                Ordering::Relaxed,
            );
            if ours.is_err() {
                continue;
            }
            let copied = self.copy(index, entry, events);
            let then = if copied.is_ok() {
                slot::FREE
            } else {
                slot::FULL
            };
            self.atomic(entry).store(then, Ordering::Release);
            copied?;
            taken += 1;
        }
        Ok(taken)
    }
    /// Copies the block of slot `index`, which is ours.
    fn copy(&mut self, index: u32, entry: usize, events: &mut EventsFile) -> Result<(), Error> {
        let slot = Slot::read_from_bytes(&self.header[entry..entry + size_of::<Slot>()])
            .map_err(|_| Error::damaged(&self.path, entry as u64, "no room for a slot"))?;
        let begin = offset(index) as usize;
        let used = slot.used.get() as usize;
        let blocks = match self.blocks.take() {
            Some(blocks) if begin.saturating_add(used) <= blocks.bytes().len() => blocks,
            _ => Source::map(&self.path)?,
        };
        let written = events.write(&blocks, begin, used);
        self.blocks = Some(blocks);
        written.map_err(|(Refused::System(error) | Refused::Damaged(error))| error)
    }
}
