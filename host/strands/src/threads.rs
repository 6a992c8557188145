//! The threads of a group: what each runs, and where its own stack is.

use crate::StrandId;
use heddle_trace_file::Process;
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
    /// The recorder saw its end.
    pub ended: bool,
    /// The time of its latest event.
    pub latest: u64,
    pub gaps: u32,
    /// Its events so far.
    pub events: u64,
    /// The activation that ended with the event of this number, and the stack pointer and caller of
    /// its call. If another activation begins in its place next, this one resumed it.
    pub left: Option<(u64, StrandId, u64, u64)>,
    /// The stack and the strand that it ran until these were taken for another thread's, or gone:
    /// it was not heard of since.
    pub left_behind: Option<(u32, StrandId)>,
    /// The number of its latest event, as long as it has made no call since events of it are
    /// missing: it may run another strand by now.
    pub astray: Option<u64>,
    /// The outermost call of a stack that ended with the event of this number, the stack, and the
    /// call's function.
    pub emptied: Option<(u64, u32, u32)>,
}

/// The group's threads, by their index in the group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Threads {
    contexts: Vec<Context>,
    /// By index in the process.
    numbers: Vec<u32>,
    own_stacks: OwnStacks,
}

impl Index<usize> for Threads {
    type Output = Context;

    #[inline]
    fn index(&self, context: usize) -> &Context {
        &self.contexts[context]
    }
}

impl IndexMut<usize> for Threads {
    #[inline]
    fn index_mut(&mut self, context: usize) -> &mut Context {
        &mut self.contexts[context]
    }
}

impl Threads {
    /// Adds the thread with this index in its process, which runs its own stack: that of this
    /// number.
    pub fn add(&mut self, process: &Process, index: usize, own: u32) {
        let (thread, context) = (&process.threads()[index], self.contexts.len());
        self.numbers.resize(process.threads().len(), 0);
        self.numbers[index] = context as u32;
        self.contexts.push(Context {
            current: Some(own),
            own,
            thread: index,
            settled: thread.stack().is_some(),
            ended: thread.ended(),
            astray: thread
                .runs()
                .next()
                .filter(|run| run.begins_elsewhere())
                .map(|_| 0),
            latest: thread.first().0,
            ..Context::default()
        });
        if let Some(range) = thread.stack() {
            self.place(context, range.start.0..range.end.0);
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

    /// The threads that had their own stacks where `sp` is; several if stacks were used again.
    pub fn owners_at(&self, sp: u64) -> impl Iterator<Item = usize> + '_ {
        self.own_stacks.at(sp)
    }

    /// A thread whose stack's bounds were not recorded has it around its first call.
    pub fn settle(&mut self, context: usize, sp: u64) {
        const BELOW: u64 = 8 << 20;
        const ABOVE: u64 = 64 << 10;
        if !self[context].settled {
            self[context].settled = true;
            self.place(context, sp.saturating_sub(BELOW)..sp.saturating_add(ABOVE));
        }
    }

    /// The thread's own stack is there.
    fn place(&mut self, context: usize, range: Range<u64>) {
        self[context].place = range.clone();
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
