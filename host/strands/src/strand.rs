//! What is known of a strand.

use heddle_trace_file::{Addr, CoroutineFrame, Nanos};
use std::num::NonZeroU64;

/// A strand of a trace, by its process and its number there: first the threads, then the others in order of birth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StrandId(NonZeroU64);

impl StrandId {
    const BITS: u32 = 40;

    pub(crate) fn new(process: usize, index: usize) -> Self {
        let number = (process as u64) << Self::BITS | (index as u64 + 1);
        StrandId(NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN))
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
        self.0.get() & ((1 << Self::BITS) - 1)
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
    /// What runs on a stack that no thread was given: a stackful coroutine, of whatever library.
    Fiber,
    /// One instance of a C++20 coroutine.
    Coroutine,
}

impl Kind {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Thread => "thread",
            Kind::Fiber => "fiber",
            Kind::Coroutine => "coroutine",
        }
    }
}

/// A strand, as far as it has come.
#[derive(Clone, Debug)]
pub struct Strand {
    /// Its number.
    pub id: StrandId,
    /// What it is.
    pub kind: Kind,
    /// The strand that made it; `None` if that was not seen.
    pub parent: Option<StrandId>,
    /// The strand that ran it first.
    pub resumer: Option<StrandId>,
    /// Name that the program gave it.
    pub name: Option<Box<str>>,
    /// The function that it is named after otherwise, and when that meant it: its outermost call; of a coroutine, what resumed or destroyed it first.
    pub entry: Option<(Addr, Nanos)>,
    /// Index of the thread, among those of its process, that it ran on first.
    pub thread: usize,
    /// How many threads it ran on.
    pub threads: u32,
    /// Of a coroutine: its frame, as it was first seen.
    pub frame: Option<CoroutineFrame>,
    /// When it was made; where that was not seen, when it was first seen.
    pub born: Nanos,
    /// When it ended; `None` if that was not seen.
    pub died: Option<Nanos>,
    /// When it was last seen to run.
    pub last: Nanos,
    /// How often it began or went on to run.
    pub activations: u64,
    /// Time that it ran itself, calls included, other strands that it resumed not included.
    pub running: Nanos,
    /// Time that coroutines took which it resumed, and which returned to it.
    pub children: Nanos,
    /// Time between its activations.
    pub suspended: Nanos,
    /// Calls that were entered on it.
    pub calls: u64,
    /// Where it was suspended last: the call site of the last call that it made before.
    pub suspended_at: Option<(Addr, Nanos)>,
    /// Of a coroutine: GCC's number of the suspension point that it went on behind last.
    pub resume_index: Option<u16>,
    /// What it waited for last, in the program's words.
    pub waits: Option<Box<str>>,
}

impl Strand {
    pub(crate) fn new(id: StrandId, kind: Kind, thread: usize, born: Nanos) -> Self {
        Strand {
            id,
            kind,
            parent: None,
            resumer: None,
            name: None,
            entry: None,
            thread,
            threads: 0,
            frame: None,
            born,
            died: None,
            last: born,
            activations: 0,
            running: Nanos(0),
            children: Nanos(0),
            suspended: Nanos(0),
            calls: 0,
            suspended_at: None,
            resume_index: None,
            waits: None,
        }
    }
}
