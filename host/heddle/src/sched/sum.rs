//! Stretches of time added up.

use crate::waits::Stat;
use heddle_strands::Kind;
use heddle_trace_file::{ImageId, Nanos};
use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

/// What a strand does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// A processor runs it.
    Running,
    /// It could run, and another thread has its processor.
    Ready,
    /// It waits for something; it may be ready for the last part of that time, which the kernel
    /// does not tell.
    Blocked,
    /// The kernel's records end before: see [`heddle_trace_file::Switches::told`].
    NotKnown,
}

impl State {
    /// For people and programs.
    pub fn name(self) -> &'static str {
        match self {
            State::Running => "running",
            State::Ready => "ready",
            State::Blocked => "blocked",
            State::NotKnown => "not known",
        }
    }
}

/// The stretches of one state, in one function.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cause {
    pub state: State,
    /// The innermost call of the program's own code; empty: not known.
    pub function: Rc<str>,
    /// What it was blocked on: `mutex ledger`, `read pipe`; empty: not known.
    pub on: Rc<str>,
}

/// `blocked on mutex ledger, in transfer(int)`.
impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.state, self.on.is_empty()) {
            (State::Running, _) => f.write_str("running")?,
            (State::Ready, _) => f.write_str("preempted")?,
            (State::NotKnown, _) => f.write_str("not known, after the last switch that is told")?,
            (State::Blocked, false) => write!(f, "blocked on {}", self.on)?,
            (State::Blocked, true) => f.write_str("blocked on what is not known")?,
        }
        match self.function.is_empty() {
            true => Ok(()),
            false => write!(f, ", in {}", self.function),
        }
    }
}

/// How a strand spent the time in which it had a thread.
#[derive(Clone, Debug, Default)]
pub struct Split {
    /// Of [`State::Running`] only the totals mean something.
    pub causes: BTreeMap<Cause, Stat>,
}

impl Split {
    pub fn add(&mut self, cause: Cause, took: Nanos) {
        self.causes.entry(cause).or_default().add(took);
    }

    pub fn merge(&mut self, other: Split) {
        for (cause, stat) in other.causes {
            self.causes.entry(cause).or_default().merge(&stat);
        }
    }

    /// All stretches of a state.
    pub fn of(&self, state: State) -> Stat {
        let mut all = Stat::default();
        let of_state = self.causes.iter().filter(|(cause, _)| cause.state == state);
        of_state.for_each(|(_, stat)| all.merge(stat));
        all
    }

    /// The causes of time off a processor, or of which that is not known, the most time first.
    pub fn off(&self) -> Vec<(&Cause, &Stat)> {
        let causes = self.causes.iter();
        let mut off: Vec<_> = causes
            .filter(|(cause, _)| cause.state != State::Running)
            .collect();
        off.sort_by_key(|(_, stat)| std::cmp::Reverse(stat.total));
        off
    }
}

/// Strands of one process, kind and name; or a thread.
#[derive(Clone, Debug)]
pub struct Group {
    pub process: ImageId,
    pub kind: Kind,
    /// Of a thread: its strand's number, as `heddle strands` has it.
    pub label: Option<String>,
    pub name: Rc<str>,
    /// The name for people: of a thread, with the kernel's number.
    pub shown: Rc<str>,
    pub strands: u64,
    pub split: Split,
}
