//! What a program did. Names are shared: a million coroutines have few different ones.

use std::sync::Arc;

/// A process of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Process {
    /// File name of its executable.
    pub name: String,
    /// Its strands, in the order in which they began: its threads, or its fibers and coroutines
    /// beside them.
    pub strands: Vec<Strand>,
}

/// What kind of strand it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum StrandKind {
    /// A thread.
    #[default]
    Thread,
    /// A fiber.
    Fiber,
    /// One instance of a coroutine.
    Coroutine,
}

impl StrandKind {
    /// All kinds.
    pub const ALL: [StrandKind; 3] = [StrandKind::Thread, StrandKind::Fiber, StrandKind::Coroutine];

    /// The word that a line in the format begins with.
    pub fn word(self) -> &'static str {
        match self {
            StrandKind::Thread => "thread",
            StrandKind::Fiber => "fiber",
            StrandKind::Coroutine => "coroutine",
        }
    }

    /// The kind that a line is about, and what is behind the word.
    pub(crate) fn of_line(line: &str) -> Option<(Self, &str)> {
        StrandKind::ALL.into_iter().find_map(|kind| {
            let rest = line.strip_prefix(kind.word())?.strip_prefix(' ')?;
            Some((kind, rest))
        })
    }
}

/// One strand of a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strand {
    /// What it is.
    pub kind: StrandKind,
    /// Its name.
    pub name: Arc<str>,
    /// The name of the strand that made it, where that is known.
    pub parent: Option<Arc<str>>,
    /// The calls of this strand that no instrumented call on it made.
    pub calls: Vec<Call>,
}

/// One or more calls of a function that followed each other and made the same calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Readable name with parameters.
    pub name: Arc<str>,
    /// The same without parameters and return type.
    pub short: Arc<str>,
    /// Who called, where that was not the call above: code that is not traced, such as libc calling
    /// a comparator.
    pub foreign: Option<Arc<Foreign>>,
    /// What they were given and gave back, where that was recorded: ` {n = 5} = 8`; else empty.
    pub values: Arc<str>,
    /// How many.
    pub calls: u64,
    /// The shortest of those that returned, in ns; `u64::MAX` if none did.
    pub min: u64,
    /// The longest of those that returned, in ns; 0 if none did.
    pub max: u64,
    /// How long the longest of those had lasted that were still open at the end, in ns; 0 if none
    /// was.
    pub open: u64,
    /// What they called.
    pub children: Vec<Call>,
}

/// A caller in uninstrumented code.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Foreign {
    /// Its name, or `libc.so.6+0x29d68`.
    pub name: String,
    /// File name of its module, or empty.
    pub module: String,
}

impl Call {
    /// A single call that took no time and called nothing.
    pub fn new(name: &str, short: &str) -> Self {
        Call {
            name: name.into(),
            short: short.into(),
            values: "".into(),
            foreign: None,
            calls: 1,
            min: 0,
            max: 0,
            open: 0,
            children: Vec::new(),
        }
    }
}
