//! A strand's track while the strand lives.

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
    /// Those that are open.
    pub open: u64,
    /// What goes on within them.
    pub leaf: Option<Leaf>,
    /// What it is about to wait for.
    pub waits: Option<Box<str>>,
    /// Flows that lead to its next call: of its birth, and of its resumption.
    pub arriving: Vec<u64>,
    /// The thread that runs it, or ran it last.
    pub thread: usize,
    /// Its latest event was the end of an activation.
    pub returned: bool,
    /// What runs it or ran it last, destroys it.
    pub destroyed: bool,
    /// The trace ends within its open calls.
    pub cut: bool,
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
            open: 0,
            leaf: None,
            waits: None,
            arriving: Vec::new(),
            thread,
            returned: false,
            destroyed: false,
            cut: false,
        }
    }

    /// Whether it is in this state.
    pub fn does(&self, what: impl FnOnce(Meanwhile) -> bool) -> bool {
        self.leaf.as_ref().is_some_and(|leaf| what(leaf.what))
    }
}

/// `fiber 12`, the number being that of `heddle strands`.
pub fn label(id: StrandId, kind: Kind) -> String {
    format!("{} {}", kind.name(), id.number())
}
