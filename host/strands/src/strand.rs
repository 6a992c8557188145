//! Facts about a strand.

use crate::doubts::Doubts;
use heddle_trace_file::{Addr, Nanos, Thread};
use std::num::NonZeroU64;

/// A strand of a trace, by its process and its number there: first the threads, then the others in
/// order of birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrandId(NonZeroU64);

impl StrandId {
    const BITS: u32 = 40;
    /// The bits of [`StrandId::unique`] that are the strand's number in its process.
    pub const NUMBER: u64 = (1 << Self::BITS) - 1;

    pub(crate) fn new(process: usize, index: usize) -> Self {
        let number = (process as u64) << Self::BITS | (index as u64 + 1);
        StrandId(NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN))
    }

    /// The thread with this index in its process.
    pub fn of_thread(process: usize, index: usize) -> Self {
        Self::new(process, index)
    }

    /// The strand with this number in the process with this index.
    pub(crate) fn numbered(process: usize, number: u64) -> Self {
        Self::new(process, number.saturating_sub(1) as usize)
    }

    pub(crate) fn next(self) -> Self {
        StrandId(self.0.saturating_add(1))
    }

    /// The index of its process in the trace.
    pub fn process(self) -> usize {
        (self.0.get() >> Self::BITS) as usize
    }

    /// Its number in its process, from 1.
    pub fn number(self) -> u64 {
        self.0.get() & Self::NUMBER
    }

    /// One number for both, unique in the trace and never 0.
    pub fn unique(self) -> u64 {
        self.0.get()
    }
}

/// The kinds of strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A kernel thread, on its own stack.
    Thread,
    /// A fiber: it runs on a stack that is no thread's own. Fibers of all libraries are of this
    /// kind.
    Fiber,
    /// One instance of a C++20 coroutine.
    Coroutine,
}

impl Kind {
    /// Its name in one word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Thread => "thread",
            Kind::Fiber => "fiber",
            Kind::Coroutine => "coroutine",
        }
    }
}

/// A strand, as far as it has come. There may be millions: what is often not known is kept in few
/// bytes, behind methods.
#[derive(Clone, Debug)]
pub struct Strand {
    /// Its number.
    pub id: StrandId,
    /// The strand that made it; `None` if that was not seen.
    pub parent: Option<StrandId>,
    /// The strand that ran it first, or that its thread ran before: [`Strand::first_resumer`].
    pub resumer: Option<StrandId>,
    /// Where the frame of a coroutine is.
    pub frame: Option<Addr>,
    /// When it was made; where that was not seen, when it was first seen.
    pub born: Nanos,
    /// The time at which it was last seen to run.
    pub last: Nanos,
    /// How often it began or went on to run.
    pub activations: u64,
    /// Time that it ran itself, calls included, other strands that it resumed not included.
    pub running: Nanos,
    /// Time that coroutines took which it resumed, and which returned to it.
    pub children: Nanos,
    /// Time between its activations, and since the last one where it was suspended then and has
    /// not run since.
    pub suspended: Nanos,
    /// The part of that which was not ended by an activation.
    pub(crate) rests: Nanos,
    /// Calls that were entered on it.
    pub calls: u64,
    /// [`NEVER`] while it lives.
    pub(crate) died: u64,
    /// 0: none was seen.
    pub(crate) entry: Addr,
    /// 0: it was not seen to be suspended.
    pub(crate) left_at: Addr,
    pub(crate) words: Option<Box<Words>>,
    /// Index of the thread, among those of its process, that it ran on first.
    pub(crate) thread: u32,
    /// The number of threads that it ran on.
    pub threads: u32,
    /// Slot index, within its part of the process; reused after the strand ends.
    pub slot: u32,
    /// [`NO_INDEX`]: not known; with [`LEFT`], if it is suspended there.
    pub(crate) resume_index: u16,
    /// Whether it is a thread, a fiber or a coroutine.
    pub kind: Kind,
    pub(crate) doubts: Doubts,
}

/// Facts that few strands have.
#[derive(Clone, Debug, Default)]
pub(crate) struct Words {
    name: Option<Box<str>>,
    waits: Option<Box<str>>,
    /// The threads that it ran on, if they were several.
    visited: Vec<u32>,
}

pub(crate) const NEVER: u64 = u64::MAX;
const LEFT: u16 = 1 << 15;
/// No coroutine has so many suspension points.
pub(crate) const NO_INDEX: u16 = LEFT - 1;

impl Words {
    /// The strand goes from a thread to another one; gives the number of those that it ran on.
    pub fn visit(&mut self, before: u32, thread: u32) -> u32 {
        // Most stay where they are.
        if self.visited.is_empty() {
            self.visited.push(before);
        }
        if !self.visited.contains(&thread) {
            self.visited.push(thread);
        }
        self.visited.len() as u32
    }
}

impl Strand {
    pub(crate) fn new(id: StrandId, kind: Kind, thread: usize, born: Nanos, slot: u32) -> Self {
        Strand {
            id,
            parent: None,
            resumer: None,
            frame: None,
            born,
            last: born,
            activations: 0,
            running: Nanos(0),
            children: Nanos(0),
            suspended: Nanos(0),
            rests: Nanos(0),
            calls: 0,
            died: NEVER,
            entry: Addr(0),
            left_at: Addr(0),
            words: None,
            thread: thread as u32,
            threads: 0,
            slot,
            resume_index: NO_INDEX,
            kind,
            doubts: Doubts::NONE,
        }
    }

    /// A thread, which is the one with this index in its process.
    pub(crate) fn of_thread(id: StrandId, index: usize, thread: &Thread, slot: u32) -> Self {
        let mut strand = Strand::new(id, Kind::Thread, index, thread.first(), slot);
        if !thread.name().is_empty() {
            strand.set_name(thread.name().into());
        }
        strand.activations = 1;
        strand.threads = 1;
        strand
    }

    /// Accounts for a thread that has run nothing but its own stack until its latest event.
    /// `ended`: the recorder saw the thread's end then.
    pub(crate) fn ran_alone(&mut self, until: Nanos, ended: bool) {
        self.last = until;
        self.running = Nanos(until.0.saturating_sub(self.born.0));
        if ended {
            self.dies(until);
        }
    }

    /// Whether all its calls and marks are its own, and none of its is another's, as far as the
    /// trace tells.
    pub fn is_sure(&self) -> bool {
        self.doubts.is_none()
    }

    /// Whether it is one strand, for certain. Where a thread is not sure, marks on it may be
    /// another's, or calls another call's, and nothing else.
    pub fn is_one(&self) -> bool {
        self.kind == Kind::Thread || self.is_sure()
    }

    /// The strand that made this one; `None` where that is not known, or not whether this is one.
    pub fn maker(&self) -> Option<StrandId> {
        self.parent.filter(|_| self.is_one())
    }

    /// The strand that ran it first; `None` where that is not known. A thread may have gone back to
    /// its own stack and on to a fiber without a call in between, so that nothing tells whether the
    /// other fiber or coroutine that it ran before has switched to this one.
    pub fn first_resumer(&self) -> Option<StrandId> {
        let thread = StrandId::of_thread(self.id.process(), self.thread());
        let is_known = |by: &StrandId| self.kind != Kind::Fiber || *by == thread;
        self.resumer.filter(is_known)
    }

    /// Why it is not sure, if it is not.
    pub fn doubts(&self) -> Doubts {
        self.doubts
    }

    /// There is one more reason to doubt, or more.
    pub(crate) fn doubt(&mut self, reasons: Doubts) {
        self.doubts |= reasons;
    }

    /// Name that the program gave it.
    pub fn name(&self) -> Option<&str> {
        self.words.as_ref()?.name.as_deref()
    }

    /// The reason of its last wait, in the program's words.
    pub fn waits(&self) -> Option<&str> {
        self.words.as_ref()?.waits.as_deref()
    }

    /// The function that it is named after where it has no name, and a time at which that address
    /// meant it: its outermost call; of a coroutine, what resumed or destroyed it first.
    pub fn entry(&self) -> Option<(Addr, Nanos)> {
        (self.entry != Addr(0)).then_some((self.entry, self.born))
    }

    /// When it ended; `None` if that was not seen.
    pub fn died(&self) -> Option<Nanos> {
        (self.died != NEVER).then_some(Nanos(self.died))
    }

    /// Where it was suspended last, and a time at which that address meant it: of a coroutine, the
    /// call site of the last call that its code made since it was resumed, other coroutines' bodies
    /// not included; of another strand, the function that was left.
    pub fn suspended_at(&self) -> Option<(Addr, Nanos)> {
        (self.left_at != Addr(0)).then_some((self.left_at, self.last))
    }

    /// Index of the thread, among those of its process, that it ran on first.
    pub fn thread(&self) -> usize {
        self.thread as usize
    }

    pub(crate) fn set_name(&mut self, name: Box<str>) {
        self.words().name = Some(name);
    }

    pub(crate) fn set_waits(&mut self, waits: Box<str>) {
        self.words().waits = Some(waits);
    }

    pub(crate) fn words(&mut self) -> &mut Words {
        self.words.get_or_insert_default()
    }

    /// It ended.
    pub(crate) fn dies(&mut self, time: Nanos) {
        self.died = time.0;
    }

    /// It was suspended since it ran last, up to this time.
    pub(crate) fn rests_until(&mut self, time: Nanos) {
        self.rests = Nanos(time.0.saturating_sub(self.last.0));
        self.suspended.0 = self.suspended.0.saturating_add(self.rests.0);
    }

    /// It ended, at this time unless another is known.
    pub(crate) fn is_gone(&mut self, time: Nanos) {
        if self.died == NEVER {
            self.died = time.0;
        }
    }

    #[inline]
    pub(crate) fn begins_with(&mut self, function: Addr) {
        if self.entry == Addr(0) {
            self.entry = function;
        }
    }

    #[inline]
    pub(crate) fn leaves_at(&mut self, address: Addr) {
        self.left_at = address;
    }

    /// The number of threads that it ran on, by its words, if these tell.
    pub(crate) fn threads_visited(&self) -> u32 {
        let visited = self.words.as_ref().map(|words| words.visited.len() as u32);
        visited.filter(|&count| count > 0).unwrap_or(self.threads)
    }

    /// GCC's number of the suspension point behind which a coroutine was last resumed.
    pub(crate) fn resume_index(&self) -> Option<u16> {
        Self::index_of(self.resume_index)
    }

    /// The same, of [`Strand::resume_index`].
    pub(crate) fn index_of(resume_index: u16) -> Option<u16> {
        Some(resume_index & !LEFT).filter(|&index| index != NO_INDEX)
    }

    pub(crate) fn goes_on_behind(&mut self, index: Option<u16>) {
        self.resume_index = Self::index_behind(self.resume_index, index);
    }

    /// [`Strand::resume_index`] after that, by what it was before.
    pub(crate) fn index_behind(before: u16, index: Option<u16>) -> u16 {
        let index = index.or(Self::index_of(before)).unwrap_or(NO_INDEX);
        index.min(NO_INDEX)
    }

    /// As the program exits, it is suspended at the point with this number.
    pub(crate) fn is_left_behind(&mut self, index: Option<u16>) {
        self.goes_on_behind(index);
        if index.is_some() {
            self.resume_index |= LEFT;
        }
    }

    /// GCC's number of the suspension point at which a coroutine is suspended as the program exits.
    pub fn left_behind(&self) -> Option<u16> {
        self.resume_index()
            .filter(|_| self.resume_index & LEFT != 0)
    }

    /// It was suspended at this instruction, or where is not known: see [`Strand::suspended_at`].
    pub fn set_suspended_at(&mut self, address: Option<Addr>) {
        self.left_at = address.unwrap_or(Addr(0));
    }
}
