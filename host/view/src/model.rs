//! What a page is made of. Times are nanoseconds since the trace began.

use serde::{Deserialize, Serialize};

/// Kinds of strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum StrandKind {
    /// A kernel thread.
    Thread,
    /// A fiber, on a stack of its own.
    Fiber,
    /// An instance of a C++20 coroutine.
    Coroutine,
}

/// What the page says of the whole trace.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Head {
    /// What the trace is called.
    pub title: String,
    /// The program and its arguments.
    pub command: String,
    /// The machine it ran on.
    pub host: String,
    /// When recording began: ns since 1970.
    pub since_1970: u64,
    /// What is missing in the trace, in sentences.
    pub notes: Vec<String>,
}

/// A program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Process {
    /// The kernel's number, and which program it is that had it: `4711`, `4711.1`.
    pub id: String,
    /// What it is called.
    pub name: String,
}

/// A strand.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Strand {
    /// Index of its process.
    pub process: usize,
    /// Its number in the process, from 1. What it does at once with something else is on a row of
    /// its own, whose number has more above the lowest 32 bits.
    pub number: u64,
    /// What it is.
    pub kind: StrandKind,
    /// Of a thread, the kernel's number.
    pub tid: Option<u32>,
    /// Index of the thread that it ran on first; of a thread, its own.
    pub thread: usize,
    /// For people.
    pub name: String,
    /// Numbers of who made it, and of who ran it first.
    pub parent: Option<u64>,
    /// See [`Strand::parent`].
    pub resumer: Option<u64>,
    /// When it was made.
    pub born: u64,
    /// When it ended, or its process did; `None`: it lived at the end of the trace.
    pub died: Option<u64>,
    /// Time that it ran, in all.
    pub running: u64,
    /// Time between its runs, in all.
    pub suspended: u64,
    /// How often it began or went on to run.
    pub activations: u64,
    /// The number of its calls.
    pub calls: u64,
}

impl Strand {
    /// The strand's own number, whichever of its rows this is.
    pub fn own_number(&self) -> u64 {
        self.number & u64::from(u32::MAX)
    }

    /// Whether this is not the strand's first row.
    pub fn is_further(&self) -> bool {
        self.number > u64::from(u32::MAX)
    }
}

/// A function, by what people read.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// The module that it is in.
    pub module: String,
}

/// A call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Index of its strand, as [`crate::Builder::find`] gives it.
    pub strand: u32,
    /// Index, among strands, of the thread that ran it last.
    pub thread: u32,
    /// As [`crate::Builder::function`] gives it.
    pub function: u32,
    /// Where it was called: as [`crate::Builder::text`] gives it; 0 = not known.
    pub site: u32,
    /// When it began and ended.
    pub enter: u64,
    /// See [`Call::enter`].
    pub exit: u64,
    /// Time that neither its callees took nor a suspension.
    pub own: u64,
    /// Calls around it on its strand.
    pub depth: u32,
    /// It had not ended when the trace did.
    pub open: bool,
    /// It returned: it was not left by `longjmp` or the like either.
    pub returned: bool,
}

/// Why a strand does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Why {
    /// A fiber or coroutine gave its thread away.
    Suspended,
    /// For a lock: mutex, rwlock, spin lock, once.
    Lock,
    /// For a condition: condition variable, semaphore, barrier, another thread's end.
    Condition,
    /// In the kernel: sleep, input, output.
    Kernel,
    /// It could run, and has no processor.
    Ready,
}

/// A time during which a strand does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// Index of its strand.
    pub strand: u32,
    /// When it began and ended; of one that had not ended when the trace did, the end of that or of
    /// its process.
    pub from: u64,
    /// See [`Pause::from`].
    pub to: u64,
    /// It had not ended when the trace, or its process, did.
    pub open: bool,
    /// Why.
    pub why: Why,
    /// For what, as [`crate::Builder::text`] gives it; 0 = not known.
    pub reason: u32,
    /// Where in the source, likewise.
    pub place: u32,
    /// The innermost call's function, as [`crate::Builder::function`] gives it, if a thread waits.
    pub function: Option<u32>,
    /// The strand that ran before it went on, if it is known.
    pub by: Option<u32>,
    /// It ended as the strand was destroyed, by that strand.
    pub destroyed: bool,
    /// Index, among strands, of the thread that held what it waits for, if it is known.
    pub holder: Option<u32>,
    /// Index, among strands, of the thread on which it went on, if that is shown.
    pub thread: Option<u32>,
}

/// A time during which a fiber or coroutine runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Index of its strand.
    pub strand: u32,
    /// Index, among strands, of the thread that runs it.
    pub thread: u32,
    /// When it begins and ends.
    pub from: u64,
    /// See [`Run::from`].
    pub to: u64,
    /// The strand that ran before, if it is known.
    pub by: Option<u32>,
}

/// What takes no time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// Index of its strand.
    pub strand: u32,
    /// When.
    pub time: u64,
    /// What, as [`crate::Builder::text`] gives it.
    pub text: u32,
}

/// Sums over all calls of a function, whether these are kept or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// Their number.
    pub calls: u64,
    /// From enter to exit. Of a function that calls itself, inner calls count again.
    pub time: u64,
    /// In neither callees nor suspensions.
    pub own: u64,
    /// The part of `own` in which its thread waited, as far as its calls last.
    pub waited: u64,
    /// The number of those that did not return: what was cut off has no duration of its own.
    pub cut: u64,
    /// The part of `time` that they took.
    pub cut_time: u64,
    /// The longest call that returned.
    pub longest: u64,
}

impl Total {
    /// Adds a call that took so long.
    #[inline]
    pub(crate) fn add(&mut self, duration: u64, own: u64, returned: bool) {
        self.calls += 1;
        self.time += duration;
        self.own += own;
        if returned {
            self.longest = self.longest.max(duration);
        } else {
            self.cut += 1;
            self.cut_time += duration;
        }
    }

    /// Adds the calls of another one.
    pub(crate) fn join(&mut self, other: &Total) {
        self.calls += other.calls;
        self.time += other.time;
        self.own += other.own;
        self.waited += other.waited;
        self.cut += other.cut;
        self.cut_time += other.cut_time;
        self.longest = self.longest.max(other.longest);
    }
}

/// What was kept of one kind, and what was summed up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Held<T> {
    /// The longest ones, in no order.
    pub kept: Vec<T>,
    /// Those of listed strands that are shorter are summed up; 0 = none.
    pub threshold: u64,
    /// How many are summed up, and their time.
    pub summed: Total,
    /// Sums, in order of their keys.
    pub cells: Vec<crate::cells::Cell>,
    /// Columns are `1 << shift` ns wide.
    pub shift: u32,
}

/// Everything that a page shows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Data {
    /// The whole trace.
    pub head: Head,
    /// By index.
    pub processes: Vec<Process>,
    /// Listed strands, in order of process and number, each with the index of its group.
    pub strands: Vec<(Strand, u32)>,
    /// Strands of one process, kind and name.
    pub groups: Vec<Group>,
    /// By index.
    pub functions: Vec<(Function, Total)>,
    /// By index; 0 is empty.
    pub texts: Vec<String>,
    /// Calls.
    pub calls: Held<Call>,
    /// Pauses.
    pub pauses: Held<Pause>,
    /// Runs.
    pub runs: Held<Run>,
    /// Marks, gaps.
    pub events: Vec<Event>,
    /// Events for which there was no room.
    pub more_events: u64,
    /// When what is shown begins: what was before is beside the point.
    pub begin: u64,
    /// The end of the trace.
    pub end: u64,
}

/// Strands of one process, kind and name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// Index of the process.
    pub process: usize,
    /// What they are.
    pub kind: StrandKind,
    /// What they are called.
    pub name: String,
    /// They are further rows of strands ([`Strand::is_further`]), whose sums are in others' groups.
    pub further: bool,
    /// Their number.
    pub strands: u64,
    /// How many of them are listed.
    pub listed: u64,
    /// Sums over all.
    pub running: u64,
    /// See [`Group::running`].
    pub suspended: u64,
    /// See [`Group::running`].
    pub calls: u64,
}

impl Data {
    /// The index of a listed strand, by its process and number. O(log strands).
    pub fn find(&self, process: usize, number: u64) -> Option<usize> {
        let key = |(strand, _): &(Strand, u32)| (strand.process, strand.number);
        self.strands
            .binary_search_by_key(&(process, number), key)
            .ok()
    }
}
