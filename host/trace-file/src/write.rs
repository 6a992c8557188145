//! Writes traces for tests: one tick is one nanosecond, times are given from the first stamp.
//!
//! Enters and exits are short records where they can be, with a base before them where they need
//! one, as the recorder writes them; [`ThreadWriter::wide`] makes them wide. A thread is one run in
//! one block, in `events`; [`ThreadWriter::in_buffer`] leaves it in a buffer, and
//! [`ThreadWriter::next_run`] begins another run, in a block of its own.

use crate::layout::{
    ALLOCATION_MAGIC, AllocationHeader, BLOCK_HEADER, BLOCK_MAGIC, BLOCK_UNIT, BUFFER_MAGIC,
    BlockHeader, BufferHeader, ENDED, FUNCTION_BITS, FUNCTION_SHIFT, ForkBytes, HEADER_SIZE,
    MADE_BY_SHIFT, OBJECTS_MAGIC, ObjectsHeader, PROCESS_MAGIC, ProcessHeader, REPLACED, RUN_SIZE,
    RunRecord, SHORT, SHORT_ENTRY, SHORT_EXIT, SHORT_PREEMPTED, SHORT_UNTIMED, SLOT_SIZE, SP_BITS,
    SP_SHIFT, SWITCHES_MAGIC, StampBytes, SwitchBytes, SwitchesHeader, TICKS_BITS, TICKS_SHIFT,
    head, jump, kind, making, slot,
};
pub use crate::layout::{ASKED_ALLOCATION, ASKED_SWITCHES, ASKED_WAITS, TABLES_LEFT_OUT};
pub use crate::modules::ModuleLines;
use crate::waits::NUMBER_SHIFT;
use crate::{Made, Nanos, Of, Switch, Ticks, Way, Why};
use std::cell::Cell;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use zerocopy::{FromZeros, IntoBytes};

/// Ticks of the first stamp.
pub const START: u64 = 1_000_000;
/// Wall-clock time of the first stamp: that of the source document's log.
pub const EPOCH: u64 = 1_715_025_463_427_757_000;
/// Where a traced process would have its buffers mapped.
const ADDRESS: u64 = 0x7777_0000_0000;

/// A trace being written.
pub struct TraceWriter {
    path: PathBuf,
}

/// A process being written; [`ProcessWriter::finish`] writes it.
pub struct ProcessWriter {
    directory: PathBuf,
    header: ProcessHeader,
    modules: Vec<u8>,
    lines: ModuleLines,
    blocks: Rc<Blocks>,
}

/// The blocks of a process so far.
#[derive(Default)]
struct Blocks {
    /// How many there are.
    begun: Cell<u64>,
    /// Where the file `events` ends.
    end: Cell<u64>,
}

/// A thread being written; [`ThreadWriter::finish`] writes it.
pub struct ThreadWriter {
    directory: PathBuf,
    blocks: Rc<Blocks>,
    run: RunRecord,
    done: Vec<Vec<u8>>,
    records: Vec<u8>,
    base: (u64, u64),
    wide: bool,
    untimed: bool,
    preempted: bool,
    by: Option<u64>,
    dropped: u64,
    buffered: Option<Vec<u32>>,
}

fn put(field: &mut [u8], text: &str) {
    let length = text.len().min(field.len() - 1);
    field[..length].copy_from_slice(&text.as_bytes()[..length]);
}

impl TraceWriter {
    /// Makes the directory, marked with this crate's version.
    pub fn create(path: &Path) -> io::Result<Self> {
        std::fs::create_dir_all(path)?;
        std::fs::write(path.join("heddle"), crate::marker())?;
        Ok(TraceWriter {
            path: path.to_owned(),
        })
    }

    /// Writes the file of switches with these, whose times count from the beginning of the trace;
    /// all up to the time `until` are there.
    pub fn switches(&self, switches: &[Switch], until: Option<u64>) -> io::Result<()> {
        let mut header = SwitchesHeader::new_zeroed();
        header.magic = SWITCHES_MAGIC;
        header.version = crate::VERSION.into();
        header.until = until.map_or(0, |until| START + until).into();
        header.records = until.map_or(0, |_| switches.len() as u64).into();
        let mut bytes = header.as_bytes().to_vec();
        for switch in switches {
            let time = Nanos(START + switch.time.0);
            bytes.extend(SwitchBytes::from(Switch { time, ..*switch }).as_bytes());
        }
        std::fs::write(self.path.join(crate::switches::SWITCHES), bytes)
    }

    /// Begins a process that ran `executable` and ended as it should.
    pub fn process(&self, pid: u32, parent: u32, executable: &str) -> io::Result<ProcessWriter> {
        let mut header = ProcessHeader::new_zeroed();
        header.magic = PROCESS_MAGIC;
        header.version = crate::VERSION.into();
        header.flags = ENDED.into();
        header.pid = pid.into();
        header.parent = parent.into();
        header.clock = 2.into();
        header.first = StampBytes {
            ticks: START.into(),
            realtime: EPOCH.into(),
            monotonic_raw: START.into(),
        };
        put(&mut header.host, "loom");
        put(&mut header.executable, executable);
        put(&mut header.command, executable);
        let directory = self.path.join(pid.to_string());
        std::fs::create_dir_all(&directory)?;
        Ok(ProcessWriter {
            directory,
            header,
            modules: Vec::new(),
            lines: ModuleLines::of(Ticks(START)),
            blocks: Rc::default(),
        })
    }
}

impl ProcessWriter {
    /// Adds a module loaded at the first stamp, all of it text.
    pub fn module(
        &mut self,
        start: u64,
        end: u64,
        bias: u64,
        build_id: Option<&str>,
        path: &str,
    ) -> &mut Self {
        let id = build_id.unwrap_or("-");
        self.module_line(&format!(
            "load {START} {start:x} {end:x} {start:x} {end:x} {bias:x} {id} {path}"
        ))
    }

    /// Adds a line to `modules`.
    pub fn module_line(&mut self, line: &str) -> &mut Self {
        self.modules.extend(self.lines.line(line.as_bytes()));
        self
    }

    /// Begins a thread.
    pub fn thread(&mut self, tid: u32, name: &str) -> ThreadWriter {
        let number = self.header.threads.get() + 1;
        self.header.threads = number.into();
        self.header.buffers = number.into();
        let mut run = RunRecord::new_zeroed();
        run.head = (head(kind::RUN, RUN_SIZE as u64 / 8) as u32).into();
        run.thread = number.into();
        run.run = 1.into();
        run.base_ticks = START.into();
        run.tid = tid.into();
        run.flags = ENDED.into();
        run.first_ticks = START.into();
        put(&mut run.name, name);
        ThreadWriter {
            directory: self.directory.clone(),
            blocks: self.blocks.clone(),
            run,
            done: Vec::new(),
            records: Vec::new(),
            base: (START, 0),
            wide: false,
            untimed: false,
            preempted: false,
            by: None,
            dropped: 0,
            buffered: None,
        }
    }

    /// Writes the first file of objects that are waited for, with these, numbered from 1, each as
    /// its words.
    pub fn objects(&mut self, objects: &[[u64; 8]], uncounted: u64) -> io::Result<&mut Self> {
        let mut header = ObjectsHeader::new_zeroed();
        header.magic = OBJECTS_MAGIC;
        header.version = crate::VERSION.into();
        header.room = (objects.len() as u32).into();
        header.uncounted = uncounted.into();
        let bytes = [header.as_bytes(), objects.as_bytes()].concat();
        std::fs::write(self.directory.join("objects-1"), bytes)?;
        Ok(self)
    }

    /// Writes the first file of calls of malloc and its like, of which each cost 1 ns, with these
    /// entries, each as its words; times count from the first stamp.
    pub fn allocation(&mut self, entries: &[[u64; 8]], flags: u32) -> io::Result<&mut Self> {
        let mut header = AllocationHeader::new_zeroed();
        header.magic = ALLOCATION_MAGIC;
        header.version = crate::VERSION.into();
        header.room = (entries.len() as u32).into();
        header.used = (entries.len() as u32).into();
        header.flags = flags.into();
        header.call_cost = 1.into();
        let mut entries = entries.to_vec();
        for entry in entries.iter_mut().filter(|entry| entry[6] != 0) {
            entry[0] += START;
            entry[1] += START;
        }
        let bytes = [header.as_bytes(), entries.as_bytes()].concat();
        std::fs::write(self.directory.join("allocation-1"), bytes)?;
        Ok(self)
    }

    /// States what was asked for beside calls ([`ASKED_WAITS`] …), and that so many files of
    /// objects and of allocation were made.
    pub fn asked(&mut self, asked: u32, objects: u32, allocation: u32) -> &mut Self {
        self.header.asked = (1 | asked).into();
        self.header.object_files = objects.into();
        self.header.allocation_files = allocation.into();
        self
    }

    /// States that so many operations on objects, and calls of malloc and its like, had no table,
    /// and why.
    pub fn uncounted(&mut self, operations: u64, allocations: u64, why: i32) -> &mut Self {
        self.header.uncounted_operations = operations.into();
        self.header.uncounted_allocations = allocations.into();
        self.header.table_trouble = (why as u32).into();
        self
    }

    /// States that a plan left functions out, why, and whether it was to tell which calls, and
    /// which values, are recorded.
    pub fn unplanned(&mut self, why: i32, calls: bool, values: bool) -> &mut Self {
        self.header.unplanned = (why as u32).into();
        self.header.wanted_of_plan = (u32::from(calls) | u32::from(values) << 1).into();
        self
    }

    /// States that the flight recorder got less room than it was to keep, and why.
    pub fn flight_trouble(&mut self, why: i32) -> &mut Self {
        self.header.flight_trouble = (why as u32).into();
        self
    }

    /// Marks the process as killed.
    pub fn killed(&mut self) -> &mut Self {
        self.header.flags = 0.into();
        self
    }

    /// Marks the process as one whose place another program took, by exec.
    pub fn replaced(&mut self) -> &mut Self {
        self.header.flags = REPLACED.into();
        self
    }

    /// Marks the process as one of this boot of this machine: what its clock says can be compared
    /// with now.
    pub fn here(&mut self) -> &mut Self {
        self.header.boot_id = crate::process::boot_id().unwrap_or_default();
        self
    }

    /// States that events of no thread were dropped.
    pub fn dropped(&mut self, events: u64) -> &mut Self {
        self.header.dropped = events.into();
        self
    }

    /// States that it was a flight recorder's, or that one reading of the clock serves for some
    /// bytes.
    pub fn mode(&mut self, flight: u64, sparse: u32) -> &mut Self {
        (self.header.flight, self.header.sparse) = (flight.into(), sparse.into());
        self
    }

    /// States that this thread of an earlier process, by its number from 1, forked it by the making
    /// of this number.
    pub fn forked_by(&mut self, pid: u32, thread: u32, making: u32) -> &mut Self {
        self.header.fork = ForkBytes {
            image: START.into(),
            pid: pid.into(),
            thread: thread.into(),
            making: making.into(),
        };
        self
    }

    /// Writes `process` and `modules`. After the threads', since it tells how many blocks
    /// there are.
    pub fn finish(&mut self) -> io::Result<()> {
        self.header.blocks = self.blocks.begun.get().into();
        self.header.module_bytes = (self.modules.len() as u32).into();
        std::fs::write(self.directory.join("process"), self.header.as_bytes())?;
        std::fs::write(self.directory.join("modules"), &self.modules)
    }
}

/// An enter's second word.
fn second(function: u64, caller: u64) -> u64 {
    u64::from(caller as u32) | function << 32
}

impl ThreadWriter {
    /// Adds an enter at `time` ns, by the first way in.
    pub fn enter(&mut self, time: u64, function: u64, caller: u64, sp: u64) -> &mut Self {
        self.call(Way::Instrumented, false, time, function, caller, sp)
    }

    /// Adds an exit at `time` ns, by the first way in. It has no call site; `caller` is there so
    /// that it reads like its enter.
    pub fn exit(&mut self, time: u64, function: u64, caller: u64, sp: u64) -> &mut Self {
        self.call(Way::Instrumented, true, time, function, caller, sp)
    }

    /// Adds an enter by the second way in, which has an address within the function.
    pub fn entry(&mut self, time: u64, function: u64, caller: u64, sp: u64) -> &mut Self {
        self.call(Way::Entry, false, time, function, caller, sp)
    }

    /// Adds an exit by the second way in, which does not say of what.
    pub fn leave(&mut self, time: u64, sp: u64) -> &mut Self {
        self.call(Way::Entry, true, time, 0, 0, sp)
    }

    /// Makes the enters and exits that follow wide records, or again short ones.
    pub fn wide(&mut self, wide: bool) -> &mut Self {
        self.wide = wide;
        self
    }

    /// Makes the next enter or exit one for which the clock was not read.
    pub fn untimed(&mut self) -> &mut Self {
        self.untimed = true;
        self
    }

    /// Makes the next enter or exit one before which the thread was preempted.
    pub fn preempted(&mut self) -> &mut Self {
        self.preempted = true;
        self
    }

    fn call(
        &mut self,
        way: Way,
        exit: bool,
        time: u64,
        function: u64,
        caller: u64,
        sp: u64,
    ) -> &mut Self {
        let ticks = START + time;
        if self.wide {
            let kind = if exit {
                kind::WIDE_EXIT
            } else {
                kind::WIDE_ENTER
            };
            let mut words = vec![ticks, sp, function];
            if !exit {
                words.push(caller);
            }
            return self.long(kind, way as u32, &words);
        }
        let (high, low) = (!0 << TICKS_BITS, (1 << TICKS_BITS) - 1);
        let above = sp.wrapping_sub(self.base.1);
        if above % 8 != 0 || (above / 8) >> SP_BITS != 0 || self.base.0 & high != ticks & high {
            self.base = (ticks, sp.saturating_sub(1 << 23));
            let (ticks, sp) = self.base;
            self.long(kind::BASE, 0, &[ticks, sp]);
        }
        let above = (sp - self.base.1) / 8;
        let mut word = SHORT | above << SP_SHIFT;
        if std::mem::take(&mut self.untimed) {
            word |= SHORT_UNTIMED;
        } else {
            word |= (ticks & low) << TICKS_SHIFT;
        }
        if std::mem::take(&mut self.preempted) {
            word |= SHORT_PREEMPTED;
        }
        if way == Way::Entry {
            word |= SHORT_ENTRY;
        }
        if !exit {
            self.word(word);
            return self.word(second(function, caller));
        }
        word |= SHORT_EXIT;
        if way == Way::Instrumented {
            word |= (function >> 4 & ((1 << FUNCTION_BITS) - 1)) << FUNCTION_SHIFT;
        }
        self.word(word)
    }

    /// Adds a word as it is.
    pub fn word(&mut self, word: u64) -> &mut Self {
        self.records.extend_from_slice(&word.to_le_bytes());
        self
    }

    /// Adds a record that is not short: its type, bits 32–63 of its first word, and the other
    /// words.
    pub fn long(&mut self, kind: u64, high: u32, words: &[u64]) -> &mut Self {
        self.word(head(kind, words.len() as u64 + 1) | u64::from(high) << 32);
        for &word in words {
            self.word(word);
        }
        self
    }

    /// Adds the values of the call that begins or ends next, of a shape, in these words; `missing`:
    /// a bit for each part that could not be read.
    pub fn values(
        &mut self,
        of: Of,
        function: u64,
        (shape, missing): (u32, u32),
        words: &[u64],
    ) -> &mut Self {
        let kind = match of {
            Of::Arguments => kind::ARGUMENTS,
            Of::Result => kind::RESULT,
        };
        let function = function as u32;
        let first = head(kind, words.len() as u64 + 3) | u64::from(function) << 32;
        let what = u64::from(shape) | u64::from(missing) << 32;
        self.long(kind, function, &[&[what], words, &[first]].concat())
    }

    /// Says at `time` ns that the object with this number and kind was met, by a call from `site`.
    pub fn object_met(
        &mut self,
        time: u64,
        (kind, address, number): (u32, u64, u32),
        site: u64,
    ) -> &mut Self {
        let high = kind | number << NUMBER_SHIFT;
        self.long(kind::OBJECT_MET, high, &[START + time, address, site])
    }

    /// Gives the waits, wake-ups and long calls that follow this stack pointer; before, they have
    /// none, as an older recorder's.
    pub fn by(&mut self, sp: u64) -> &mut Self {
        self.by = Some(sp);
        self
    }

    /// Adds a wait that begins at `time` ns, for the object with this number and kind: by a call
    /// from `site`, while this thread has it, which took it in a call from the low bits `taken`.
    pub fn wait(
        &mut self,
        time: u64,
        (kind, address, number): (u32, u64, u32),
        site: u64,
        (holder, taken): (u32, u32),
    ) -> &mut Self {
        let holder = u64::from(holder) | u64::from(taken) << 32;
        let words = [START + time, address, site, holder, 0, 0, number.into()];
        let newer = self.by.into_iter().flat_map(|by| [0, by]);
        let words: Vec<u64> = words.into_iter().chain(newer).collect();
        self.long(kind::WAIT, kind, &words)
    }

    /// The same for an object that nobody has as far as was counted, with what libc says of it: the
    /// thread that has it, or a condition's mutex; and readers.
    pub fn wait_told(
        &mut self,
        time: u64,
        (kind, address, number): (u32, u64, u32),
        site: u64,
        (owner, readers): (u32, u32),
    ) -> &mut Self {
        let beside = u64::from(owner) | u64::from(readers) << 32;
        let words = [START + time, address, site, 0, 0, 0, number.into(), beside];
        self.long(kind::WAIT, kind, &words)
    }

    /// Ends the latest wait at `time` ns, with this error number, or 0.
    pub fn wait_ended(&mut self, time: u64, error: u32, from: u32) -> &mut Self {
        self.long(kind::WAIT_ENDED, error, &[START + time, from.into()])
    }

    /// Wakes, at `time` ns, those that wait for the object with this number and kind.
    pub fn wake(&mut self, time: u64, kind: u32, number: u32, site: u64) -> &mut Self {
        let high = kind | number << NUMBER_SHIFT;
        let words = [START + time, site].into_iter().chain(self.by);
        self.long(kind::WAKE, high, &words.collect::<Vec<_>>())
    }

    /// Says at `time` ns that a call into the kernel has returned that began at `since` ns.
    pub fn long_call(&mut self, time: u64, since: u64, text: &str) -> &mut Self {
        let words = Self::words_of(time, START + since, text);
        let words = words.into_iter().chain(self.by);
        self.long(
            kind::LONG_CALL,
            text.len() as u32,
            &words.collect::<Vec<_>>(),
        )
    }

    /// Adds a gap at `time` ns.
    pub fn gap(&mut self, time: u64, why: Why, missing: Option<u64>) -> &mut Self {
        let why = match why {
            Why::Paused => 1,
            Why::Dropped => 2,
        };
        self.long(kind::GAP, why, &[START + time, missing.unwrap_or(u64::MAX)])
    }

    /// Adds a mark.
    pub fn mark(&mut self, time: u64, strand: u64, text: &str) -> &mut Self {
        self.text(kind::MARK, time, strand, text)
    }

    /// Adds a strand's name.
    pub fn strand_name(&mut self, time: u64, strand: u64, name: &str) -> &mut Self {
        self.text(kind::STRAND_NAME, time, strand, name)
    }

    fn text(&mut self, kind: u64, time: u64, strand: u64, text: &str) -> &mut Self {
        let words = Self::words_of(time, strand, text);
        self.long(kind, text.len() as u32, &words)
    }

    fn words_of(time: u64, strand: u64, text: &str) -> Vec<u64> {
        let mut words = vec![START + time, strand];
        for bytes in text.as_bytes().chunks(8) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            words.push(u64::from_le_bytes(word));
        }
        words
    }

    /// Adds what a strand is about to wait for.
    pub fn strand_waits(&mut self, time: u64, strand: u64, reason: &str) -> &mut Self {
        self.text(kind::STRAND_WAITS, time, strand, reason)
    }

    /// Adds a switch to a strand; 0: to none.
    pub fn strand_switch(&mut self, time: u64, strand: u64) -> &mut Self {
        self.long(kind::STRAND, 1, &[START + time, strand])
    }

    /// Adds that the strand that runs makes another.
    pub fn strand_made(&mut self, time: u64, strand: u64) -> &mut Self {
        self.long(kind::STRAND_MADE, 0, &[START + time, strand])
    }

    /// Adds the end of a strand.
    pub fn strand_end(&mut self, time: u64, strand: u64) -> &mut Self {
        self.long(kind::STRAND, 2, &[START + time, strand])
    }

    /// Adds the capture of a coroutine's frame, for the next enter of `function`.
    pub fn capture(&mut self, function: u64, frame: u64, resume_index: Option<u16>) -> &mut Self {
        let index = u64::from(resume_index.unwrap_or(u16::MAX));
        self.long(kind::CAPTURE, function as u32, &[frame | index << 48])
    }

    /// Adds that it is about to make something, as an older recorder says it.
    pub fn makes(&mut self, time: u64, made: Made, number: u32) -> &mut Self {
        let what = what_makes(made);
        self.long(kind::MAKING, what, &[START + time, number.into()])
    }

    /// Adds that it is about to make something, with the stack pointer `by`.
    pub fn makes_by(&mut self, time: u64, made: Made, number: u32, by: u64) -> &mut Self {
        let what = what_makes(made);
        self.long(kind::MAKING, what, &[START + time, number.into(), by, 0])
    }

    /// States that it was created by the making of this number.
    pub fn made_by(&mut self, making: u32) -> &mut Self {
        self.run.flags = (ENDED | making << MADE_BY_SHIFT).into();
        self
    }

    /// States when its first event was recorded.
    pub fn first(&mut self, time: u64) -> &mut Self {
        self.run.first_ticks = (START + time).into();
        self
    }

    /// Adds the allocation of what may be a coroutine's frame.
    pub fn frame_made(&mut self, time: u64, frame: u64, sp: u64) -> &mut Self {
        self.long(kind::FRAME_MADE, sp as u32, &[START + time, frame])
    }

    /// Adds the end of a coroutine's frame; `destroyer` destroys it.
    pub fn frame_freed(&mut self, time: u64, frame: u64, destroyer: u64) -> &mut Self {
        self.long(kind::FRAME_FREED, destroyer as u32, &[START + time, frame])
    }

    /// Adds that a coroutine is suspended as the program exits; `destroyer` destroys it.
    pub fn frame_left(&mut self, time: u64, frame: u64, index: u16, destroyer: u64) -> &mut Self {
        let words = [START + time, frame | u64::from(index) << 48];
        self.long(kind::FRAME_LEFT, destroyer as u32, &words)
    }

    /// Adds that a stack is made for a fiber, by code with the stack pointer `by`.
    pub fn stack_made(&mut self, time: u64, stack: Range<u64>, by: u64) -> &mut Self {
        let words = [START + time, stack.start, by, stack.end];
        self.long(kind::STACK_MADE, 0, &words)
    }

    /// Adds a `longjmp` to where the stack pointer is `to`; `downwards`: it was higher before.
    pub fn jump(&mut self, time: u64, to: u64, downwards: bool) -> &mut Self {
        self.long(kind::JUMP, u32::from(downwards), &[START + time, to])
    }

    /// Adds that an exception goes on where the stack pointer is `to`, from where it is `from`.
    pub fn landing(&mut self, time: u64, from: u64, to: u64) -> &mut Self {
        let units = (to - 1 - from) / jump::UNIT;
        self.long(kind::JUMP, (units as u32) << 1, &[START + time, to - 1])
    }

    /// Goes on in another run, in a block of its own.
    pub fn next_run(&mut self) -> &mut Self {
        let block = self.block();
        self.done.push(block);
        self.run.run = (self.run.run.get() + 1).into();
        self.run.base_ticks = self.base.0.into();
        self.run.base_sp = self.base.1.into();
        self
    }

    /// The runs before this one are missing, as a flight recorder overwrites them.
    pub fn overwrite(&mut self) -> &mut Self {
        self.done.clear();
        self
    }

    /// States the stack's bounds.
    pub fn stack(&mut self, low: u64, high: u64) -> &mut Self {
        (self.run.stack_low, self.run.stack_high) = (low.into(), high.into());
        self
    }

    /// States that events were dropped, as a buffer's header does; implies
    /// [`ThreadWriter::in_buffer`].
    pub fn dropped(&mut self, events: u64) -> &mut Self {
        self.dropped = events;
        self.in_buffer(&[])
    }

    /// Leaves the blocks in a buffer, in slots of these states; the last one's, and what is not
    /// said, is 1, being filled.
    pub fn in_buffer(&mut self, states: &[u32]) -> &mut Self {
        self.buffered = Some(states.to_vec());
        self
    }

    /// A block of what was recorded since the last one.
    fn block(&mut self) -> Vec<u8> {
        let number = self.blocks.begun.get();
        self.blocks.begun.set(number + 1);
        let used = BLOCK_HEADER + RUN_SIZE + self.records.len();
        let block = BlockHeader {
            magic: BLOCK_MAGIC,
            room: (used.next_multiple_of(BLOCK_UNIT as usize) as u32).into(),
            used: (used as u32).into(),
            number: number.into(),
            unused: [0; 40],
        };
        let mut bytes = block.as_bytes().to_vec();
        bytes.extend_from_slice(self.run.as_bytes());
        bytes.append(&mut self.records);
        bytes
    }

    /// Where the block goes in `events`.
    fn place(&self, block: &[u8]) -> u64 {
        let room = (block.len() as u64).next_multiple_of(BLOCK_UNIT);
        self.blocks.end.replace(self.blocks.end.get() + room)
    }

    /// Writes the blocks.
    pub fn finish(&mut self) -> io::Result<()> {
        let last = self.block();
        self.done.push(last);
        let done = std::mem::take(&mut self.done);
        let Some(states) = self.buffered.take() else {
            let events = open(&self.directory.join("events"))?;
            return done
                .iter()
                .try_for_each(|block| events.write_all_at(block, self.place(block)));
        };
        let mut header = BufferHeader::new_zeroed();
        header.magic = BUFFER_MAGIC;
        header.version = crate::VERSION.into();
        header.slots = (done.len().max(states.len()) as u32).into();
        header.address = ADDRESS.into();
        header.dropped = self.dropped.into();
        let file = open(
            &self
                .directory
                .join(format!("buffer-{}", self.run.thread.get())),
        )?;
        for (index, mut block) in done.into_iter().enumerate() {
            let state = states.get(index).copied().unwrap_or(slot::FILLING);
            let (used, begin) = (block.len(), HEADER_SIZE as u64 + index as u64 * SLOT_SIZE);
            let entry = &mut header.table[index];
            entry.state = state.into();
            entry.number.as_mut_bytes().copy_from_slice(&block[16..24]);
            if state == slot::FILLING {
                block[12..16].fill(0);
                header.position = (ADDRESS + begin + used as u64).into();
            } else {
                entry.used = (used as u32).into();
            }
            file.write_all_at(&block, begin)?;
        }
        file.write_all_at(header.as_bytes(), 0)
    }
}

fn open(path: &Path) -> io::Result<File> {
    File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
}

/// A making's first word says so.
fn what_makes(made: Made) -> u32 {
    match made {
        Made::Process => making::PROCESS,
        Made::Thread => making::THREAD,
    }
}
