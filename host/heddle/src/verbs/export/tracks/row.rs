//! A strand's track while the strand lives.

use super::numbers;
use crate::aside::Activation;
use heddle_strands::{Kind, StrandId};

/// The strand, and what of its track is not written yet.
#[derive(Clone, Debug)]
pub struct Row {
    pub id: StrandId,
    pub kind: Kind,
    /// Whether it is exported.
    pub shown: bool,
    /// It has had calls.
    pub begun: bool,
    /// The activation that is looked at, and its thread.
    pub active: Active,
    pub on: u32,
    /// How many tracks it has, as far as something was shown on them.
    pub lanes: u64,
    /// Flows that lead to its next call: of its birth, and of its resumption.
    pub arriving: Vec<u64>,
    /// The thread that runs it, or ran it last.
    pub thread: usize,
    /// What runs it or ran it last, destroys it.
    pub destroyed: bool,
    /// The trace ends within its open calls.
    pub cut: bool,
}

/// An activation of a strand: of a coroutine, there may be two at once, on a track each.
#[derive(Clone, Debug, Default)]
pub struct Active {
    /// Calls that are open, and those of them whose slices have begun.
    pub open: u64,
    pub begun: u64,
    /// What goes on within them.
    pub leaf: Option<Leaf>,
    /// What it is about to wait for.
    pub waits: Option<Box<str>>,
    /// Its latest event was the end of the activation.
    pub returned: bool,
    /// On which of the strand's tracks it is.
    pub lane: u64,
}

impl Active {
    fn does(&self, what: impl FnOnce(Meanwhile) -> bool) -> bool {
        self.leaf.as_ref().is_some_and(|leaf| what(leaf.what))
    }
}

impl Activation for Active {
    fn runs(&self) -> bool {
        self.open > 0
    }

    fn is_needed(&self) -> bool {
        self.open > 0 || self.leaf.is_some()
    }
}

/// A slice within all open calls. Its beginning is written when a flow begins there, else when it
/// ends: it is often not known before what it is.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// When it began.
    pub since: u64,
    pub what: Meanwhile,
    /// Its beginning is written.
    pub written: bool,
}

/// Why a strand makes no calls itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meanwhile {
    /// It does not run.
    Suspended,
    /// Its thread waits.
    Blocked,
    /// A thread runs this strand instead of its own stack.
    Hosts(StrandId, Kind),
    /// It resumed this coroutine, which runs on its stack.
    Calls(StrandId, Kind),
}

impl Row {
    pub fn new(id: StrandId, kind: Kind, shown: bool, thread: usize) -> Self {
        Row {
            id,
            kind,
            shown,
            begun: false,
            active: Active::default(),
            on: thread as u32,
            lanes: 1,
            arriving: Vec::new(),
            thread,
            destroyed: false,
            cut: false,
        }
    }

    /// Whether it is in this state.
    pub fn does(&self, what: impl FnOnce(Meanwhile) -> bool) -> bool {
        self.active.does(what)
    }

    /// Puts what begins on the first of its tracks that is free.
    pub fn take_lane(&mut self, taken: impl Iterator<Item = u64>) {
        self.active.lane = numbers::free_lane(taken);
    }

    /// The number of the track that the activation is on, on which something is shown.
    pub fn track(&mut self) -> u64 {
        self.lanes = self.lanes.max(self.active.lane + 1);
        numbers::lane(self.id, self.active.lane)
    }
}

/// `fiber 12`, the number being that of `heddle strands`.
pub fn label(id: StrandId, kind: Kind) -> String {
    format!("{} {}", kind.name(), id.number())
}
