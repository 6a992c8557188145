//! The threads of a group: what each runs, and where its own stack is.

use crate::StrandId;
use heddle_trace_file::Process;
use rustc_hash::FxHashSet;
use std::cell::OnceCell;
use std::ops::{Index, IndexMut, Range};

/// The state of a thread.
#[derive(Clone, Debug, Default)]
pub(crate) struct Context {
    /// The stack that it runs, where that is known.
    pub current: Option<u32>,
    /// Its own stack.
    pub own: u32,
    /// Its index in its process.
    pub thread: usize,
    /// Whether the place of its own stack is known.
    settled: bool,
    /// Where that is; empty if it is not known.
    place: Range<u64>,
    /// From when on its own stack is known to be its own: memory that was another stack's before.
    begins: u64,
    /// The recorder saw its creation and its first event.
    pub is_born: bool,
    /// The recorder saw its end.
    pub ended: bool,
    /// The time of its last event, once that was asked for: its own stack is its own until then.
    last: OnceCell<u64>,
    /// The time of its latest event.
    pub latest: u64,
    pub gaps: u32,
    /// Its events so far.
    pub events: u64,
    /// The activation that ended last.
    pub left: Option<Left>,
    /// The stack and the strand that it ran until these were taken for another thread's, or gone:
    /// it was not heard of since.
    pub left_behind: Option<(u32, StrandId)>,
    /// The number of its latest event, as long as it has made no call since events of it are
    /// missing: it may run another strand by now.
    pub astray: Option<u64>,
    /// The outermost call of a stack that ended with the event of this number, the stack, and the
    /// call's function.
    pub emptied: Option<(u64, u32, u32)>,
    /// The fiber that the thread runs has no call open since this time.
    pub idle_since: Option<u64>,
    /// The latest stack with open calls, and its strand, that the thread ran before the one that it
    /// runs.
    pub ran_before: Option<(u32, StrandId)>,
    /// See [`Context::has_left`].
    unmatched: Vec<u64>,
    /// It has made a call on its own stack since events of it were missing.
    pub has_called: bool,
    /// The coroutine that runs on its own stack, in an activation that was not seen to begin.
    pub unseen: Option<Unseen>,
}

/// An activation that was not seen to begin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unseen {
    /// The slot of the coroutine, which the thread's own stack has meanwhile, and that of the
    /// thread.
    pub slot: u32,
    pub thread: u32,
    /// The number of the function whose activation it is.
    pub function: u32,
    /// Since when it is known.
    pub since: u64,
}

/// An activation that has ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Left {
    /// The number of the event by which it did.
    pub event: u64,
    pub strand: StrandId,
    /// Who made that.
    pub maker: Option<StrandId>,
    /// The function's number.
    pub callee: u32,
    /// The stack pointer and the caller of its call.
    pub sp: u64,
    pub caller: u64,
}

/// The functions whose calls were innermost when a stack was left for another one: few functions of
/// a program switch.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftIn {
    all: FxHashSet<u64>,
    /// The latest two: those of a thread and a fiber mostly take turns.
    latest: [u64; 2],
}

impl LeftIn {
    /// A stack was left within a call of the function at this address.
    #[inline]
    pub fn note(&mut self, function: u64) {
        if !self.latest.contains(&function) {
            self.latest = [function, self.latest[0]];
            self.all.insert(function);
        }
    }

    /// Whether one was.
    pub fn holds(&self, function: u64) -> bool {
        self.all.contains(&function)
    }
}

impl Context {
    /// Exits that are remembered: as many calls are hardly ever open where recording begins.
    const UNMATCHED: usize = 1024;

    /// It had an exit with this stack pointer on its own stack that belongs to no open call and
    /// tells of no function.
    pub fn has_left(&mut self, sp: u64) {
        if self.unmatched.len() < Self::UNMATCHED {
            self.unmatched.push(sp);
        }
    }

    /// Whether it had one with this stack pointer.
    #[inline]
    pub fn has_left_at(&self, sp: u64) -> bool {
        self.unmatched.contains(&sp)
    }
}

/// The group's threads, by their index in the group.
#[derive(Clone, Debug)]
pub(crate) struct Threads<'a> {
    process: &'a Process,
    contexts: Vec<Context>,
    /// By index in the process.
    numbers: Vec<u32>,
    own_stacks: OwnStacks,
    /// Contains the own stacks of threads whose end was seen.
    mortal: Range<u64>,
}

impl Index<usize> for Threads<'_> {
    type Output = Context;

    #[inline]
    fn index(&self, context: usize) -> &Context {
        &self.contexts[context]
    }
}

impl IndexMut<usize> for Threads<'_> {
    #[inline]
    fn index_mut(&mut self, context: usize) -> &mut Context {
        &mut self.contexts[context]
    }
}

impl<'a> Threads<'a> {
    /// No thread of the process yet.
    pub fn new(process: &'a Process) -> Self {
        Threads {
            process,
            contexts: Vec::new(),
            numbers: vec![0; process.threads().len()],
            own_stacks: OwnStacks::default(),
            // No stack is in it yet; the first one that is added makes it that stack's range.
            mortal: Range {
                start: u64::MAX,
                end: 0,
            },
        }
    }

    /// Adds the thread with this index in its process, which runs its own stack: that of this
    /// number.
    pub fn add(&mut self, index: usize, own: u32) {
        let (thread, context) = (&self.process.threads()[index], self.contexts.len());
        self.numbers[index] = context as u32;
        // The stack of the thread that a process begins with is nobody else's.
        let is_first = thread.tid() == self.process.pid();
        let first_run = thread.runs().next();
        self.contexts.push(Context {
            current: Some(own),
            own,
            thread: index,
            settled: thread.stack().is_some(),
            begins: if is_first { 0 } else { thread.first().0 },
            is_born: thread.made_by().is_some() && first_run.is_some_and(|run| run.number() == 1),
            ended: thread.ended(),
            astray: first_run.filter(|run| run.begins_elsewhere()).map(|_| 0),
            latest: thread.first().0,
            ..Context::default()
        });
        if let Some(range) = thread.stack() {
            self.put(context, range.start.0..range.end.0);
        }
    }

    /// The thread's index in the group, by that in its process.
    #[inline]
    pub fn context(&self, thread: usize) -> usize {
        self.numbers[thread] as usize
    }

    /// The number of threads.
    pub fn len(&self) -> usize {
        self.contexts.len()
    }

    /// The stacks that threads run as far as was heard: another thread may have one of them by now.
    pub fn running(&self) -> impl Iterator<Item = u32> + '_ {
        self.contexts.iter().filter_map(|context| context.current)
    }

    /// Takes an event of the thread that is no call; `gap`: events are missing before it, in which
    /// it may have gone to another strand. Whether that may be so since.
    pub fn is_astray(&mut self, context: usize, gap: bool) -> bool {
        let state = &mut self[context];
        let astray = gap || state.astray.is_some_and(|last| last + 1 == state.events);
        state.astray = astray.then_some(state.events);
        astray
    }

    /// Whether the thread has its own stack where `sp` is.
    #[inline]
    pub fn owns(&self, context: usize, sp: u64) -> bool {
        self[context].place.contains(&sp)
    }

    /// Where the thread's own stack is; empty if it is not known.
    pub fn place(&self, context: usize) -> Range<u64> {
        self[context].place.clone()
    }

    /// The threads that have their own stacks where `sp` is at this time. Several may seem to,
    /// where the places of stacks were not recorded.
    pub fn owners_at(&self, sp: u64, time: u64) -> impl Iterator<Item = usize> + '_ {
        let owners = self.own_stacks.at(sp);
        owners.filter(move |&owner| self[owner].begins <= time && !self.is_over(owner, time))
    }

    /// Whether there may be such as [`Threads::over_at`] gives.
    #[inline]
    pub fn may_be_over_at(&self, sp: u64) -> bool {
        self.mortal.contains(&sp)
    }

    /// The threads that had their own stacks where `sp` is, and have ended by this time.
    pub fn over_at(&self, sp: u64, time: u64) -> impl Iterator<Item = usize> + '_ {
        let owners = self.own_stacks.at(sp);
        owners.filter(move |&owner| self.is_over(owner, time))
    }

    /// Whether the thread has ended by this time. One whose end was not seen may be idle.
    fn is_over(&self, context: usize, time: u64) -> bool {
        let state = &self[context];
        state.ended && state.latest < time && *state.last.get_or_init(|| self.last(context)) < time
    }

    /// The time of the thread's last event; the end of time if that cannot be read.
    #[cold]
    fn last(&self, context: usize) -> u64 {
        let thread = &self.process.threads()[self[context].thread];
        thread.last().map_or(u64::MAX, |last| last.0)
    }

    /// Nothing is on the thread's own stack any more: the thread has ended.
    pub fn retire(&mut self, context: usize) {
        let place = std::mem::take(&mut self[context].place);
        self.own_stacks.remove(&place, context);
        let state = &mut self[context];
        state.current = state.current.filter(|&stack| stack != state.own);
    }

    /// A thread whose stack's bounds were not recorded has it around its first call.
    pub fn settle(&mut self, context: usize, sp: u64) {
        const BELOW: u64 = 8 << 20;
        const ABOVE: u64 = 64 << 10;
        if !self[context].settled {
            self[context].settled = true;
            self.put(context, sp.saturating_sub(BELOW)..sp.saturating_add(ABOVE));
        }
    }

    /// The thread's own stack is there.
    fn put(&mut self, context: usize, range: Range<u64>) {
        self[context].place = range.clone();
        if self[context].ended {
            let Range { start, end } = self.mortal;
            self.mortal = start.min(range.start)..end.max(range.end);
        }
        self.own_stacks.add(range, context);
    }
}

/// The places of threads' own stacks.
#[derive(Clone, Debug, Default)]
struct OwnStacks {
    /// In order of their addresses.
    ranges: Vec<(Range<u64>, usize)>,
}

impl OwnStacks {
    fn add(&mut self, range: Range<u64>, thread: usize) {
        let key = (range.start, thread);
        let at = self.ranges.partition_point(|(r, t)| (r.start, *t) < key);
        self.ranges.insert(at, (range, thread));
    }

    fn remove(&mut self, range: &Range<u64>, thread: usize) {
        self.ranges.retain(|(r, t)| (r, *t) != (range, thread));
    }

    /// The threads that had their own stacks here; several if stacks were used again.
    fn at(&self, sp: u64) -> impl Iterator<Item = usize> + '_ {
        let after = self.ranges.partition_point(|(range, _)| range.start <= sp);
        // Stacks of threads that came one after another have the same bounds, or nearly so.
        self.ranges[..after]
            .iter()
            .rev()
            .take(4096)
            .take_while(move |(range, _)| range.end > sp || range.start + (64 << 20) > sp)
            .filter(move |(range, _)| range.contains(&sp))
            .map(|&(_, thread)| thread)
    }
}
