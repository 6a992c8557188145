//! What a program should do.

use crate::glob::glob;
use crate::{Call, Process, Strand, StrandKind};
use std::borrow::Cow;

/// An expected tree: the processes of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// What each process should be.
    pub processes: Vec<ProcessPattern>,
}

/// `process NAME [COUNT]` and what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessPattern {
    /// Glob for the executable's file name.
    pub name: String,
    /// How many such processes.
    pub count: Count,
    /// Its strands.
    pub strands: Vec<StrandPattern>,
    /// The line as written, for the diff; empty for a process that the file leaves out.
    pub text: String,
}

/// `thread NAME [COUNT]`, `fiber NAME [COUNT] [<- PARENT]` or `coroutine NAME [COUNT] [<- PARENT]`,
/// and what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrandPattern {
    /// What it is.
    pub kind: StrandKind,
    /// Glob for its name.
    pub name: String,
    /// Glob for the name of the strand that made it.
    pub parent: Option<String>,
    /// How many such strands.
    pub count: Count,
    /// Its calls.
    pub calls: Vec<Item>,
    /// The line as written; empty for a thread that the file leaves out.
    pub text: String,
}

/// One line below a strand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Item {
    /// `...`: any calls, none too.
    Anything,
    /// A function.
    Call(CallPattern),
    /// Calls that follow each other, several times.
    Loop(LoopPattern),
}

/// `loop: [COUNT]` and what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopPattern {
    /// How many rounds follow each other.
    pub count: Count,
    /// What is called in each.
    pub body: Vec<Item>,
    /// The line as written, without indentation.
    pub text: String,
}

/// `NAME [COUNT] [TIMES] [<- CALLER]` and what is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallPattern {
    /// Glob for the name, with parameters or without.
    pub name: String,
    /// Glob for the caller's name or module.
    pub caller: Option<String>,
    /// How many such calls follow each other.
    pub count: Count,
    /// How long each may take.
    pub times: Times,
    /// What each calls.
    pub children: Vec<Item>,
    /// The line as written, without indentation.
    pub text: String,
}

/// How many: at least `low`, at most `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Count {
    /// At least.
    pub low: u64,
    /// At most; `u64::MAX`: without limit.
    pub high: u64,
}

/// How long, in ns: at least `low`, at most `high`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// At least.
    pub low: u64,
    /// At most.
    pub high: u64,
}

impl Count {
    /// Exactly one: what a line without a count means.
    pub const ONE: Count = Count { low: 1, high: 1 };

    /// Whether `number` is within.
    pub fn holds(self, number: u64) -> bool {
        self.low <= number && number <= self.high
    }
}

impl Times {
    /// What a line without times means.
    pub const ANY: Times = Times {
        low: 0,
        high: u64::MAX,
    };
}

/// What a strand's and a process's pattern have in common.
pub trait Pattern {
    /// What it is compared with.
    type Actual;
    /// Whether the name fits.
    fn names(&self, actual: &Self::Actual) -> bool;
    /// How many there may be.
    fn count(&self) -> Count;
}

impl Pattern for ProcessPattern {
    type Actual = Process;

    fn names(&self, actual: &Process) -> bool {
        glob(&self.name, &actual.name)
    }

    fn count(&self) -> Count {
        self.count
    }
}

impl Pattern for StrandPattern {
    type Actual = Strand;

    fn names(&self, actual: &Strand) -> bool {
        let parent = |pattern: &String| {
            let found = actual.parent.as_deref().unwrap_or_default();
            glob(pattern, found) || glob(pattern, short(found))
        };
        // A coroutine may be written without its parameters, as a function may.
        let named = glob(&self.name, &actual.name)
            || actual.kind != StrandKind::Thread && glob(&self.name, short(&actual.name));
        self.kind == actual.kind && named && self.parent.as_ref().is_none_or(parent)
    }

    fn count(&self) -> Count {
        self.count
    }
}

impl Expected {
    /// Whether it speaks of fibers or coroutines.
    pub fn tells_strands_apart(&self) -> bool {
        let strands = self.processes.iter().flat_map(|process| &process.strands);
        strands
            .into_iter()
            .any(|strand| strand.kind != StrandKind::Thread)
    }
}

/// A function's name without its parameters.
fn short(name: &str) -> &str {
    name.split_once('(').map_or(
        name,
        |(before, _)| {
            if before.is_empty() { name } else { before }
        },
    )
}

impl CallPattern {
    /// Whether function and caller fit; `parent` is the call above.
    pub fn names(&self, call: &Call, parent: Option<&Call>) -> bool {
        let named =
            |pattern: &str, name: &str, short: &str| glob(pattern, name) || glob(pattern, short);
        let caller = |pattern: &String| match (&call.foreign, parent) {
            (Some(foreign), _) => glob(pattern, &foreign.name) || glob(pattern, &foreign.module),
            (None, Some(parent)) => named(pattern, &parent.name, &parent.short),
            (None, None) => false,
        };
        let (name, short) = match crate::line::has_values(&self.name) {
            true => (
                format!("{}{}", call.name, call.values).into(),
                format!("{}{}", call.short, call.values).into(),
            ),
            false => (Cow::from(&*call.name), Cow::from(&*call.short)),
        };
        named(&self.name, &name, &short) && self.caller.as_ref().is_none_or(caller)
    }

    /// Whether every one of these calls took as long as it may. One that was still open at the end
    /// may have been too long already, but not too short; of one that was left without an exit
    /// nothing is known.
    pub fn in_time(&self, call: &Call) -> bool {
        self.times.low <= call.min && call.max.max(call.open) <= self.times.high
    }
}
