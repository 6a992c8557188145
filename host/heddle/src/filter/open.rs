//! Strands that live, with their open calls.

use super::verdict::Around;
use crate::aside::Activation;
use heddle_strands::{Call, Kind, Strand, StrandId};
use heddle_trace_file::Nanos;

/// Whether the sink behind the filter is told of a call.
#[derive(Clone, Debug)]
pub(super) enum Fate {
    Told,
    /// It began before the time range: it is told of when that begins, if it is open then.
    Waits(Box<Call>),
    LeftOut,
}

/// An open call.
#[derive(Clone, Debug)]
pub(super) struct Open {
    pub fate: Fate,
    /// Its number among the enters.
    pub number: u64,
    /// When it was told of, in the order of everything that a time range holds back.
    pub turn: u64,
    /// What is around it, and inside it.
    pub around: Around,
    pub inside: Around,
    /// The slot of the strand that an activation runs on, if this is its outermost call.
    pub under: Option<u32>,
    /// It is the outermost call of its activation.
    pub outermost: bool,
    /// Open calls around it in its activation that are told of.
    pub depth: usize,
    /// The own time of the calls inside it that were left out, which counts as its own, in ns.
    pub left_out: u64,
    /// The part of its own time, and of what is counted as such, that lies outside the time range.
    pub outside: u64,
    /// Another call that is kept, a mark or the like is inside it.
    pub holds: bool,
}

/// What a strand that lives stands on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Base {
    pub around: Around,
    /// The slot of the strand whose innermost call is around the outermost ones; a coroutine's
    /// resumer.
    pub under: Option<u32>,
}

impl Base {
    pub const NOTHING: Base = Base {
        around: Around::NOTHING,
        under: None,
    };
}

/// What a strand did last.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change {
    Resumed(Option<StrandId>, usize),
    Suspended(usize),
}

/// A strand that lives.
#[derive(Clone, Debug)]
pub(super) struct Life {
    pub id: StrandId,
    pub kind: Kind,
    /// The activation that is looked at, and its thread.
    pub active: Active,
    pub on: u32,
    /// The thread that runs it, or ran it last.
    pub latest: usize,
    /// Calls that were told of.
    pub calls: u64,
    /// What it did last before the time range, and its turn.
    pub change: Option<(u64, Change)>,
}

/// An activation of a strand: of a coroutine, there may be two at once.
#[derive(Clone, Debug)]
pub(super) struct Active {
    pub base: Base,
    /// The open calls, outermost first; of a coroutine that is destroyed from inside, those of
    /// both activations.
    pub open: Vec<Open>,
    /// Its innermost call spends time, since then.
    pub runs: bool,
    pub since: Nanos,
    /// Another stack runs instead of that on which it is.
    pub rests: bool,
}

impl Default for Active {
    fn default() -> Self {
        Active {
            base: Base::NOTHING,
            open: Vec::new(),
            runs: false,
            since: Nanos(0),
            rests: false,
        }
    }
}

impl Activation for Active {
    fn runs(&self) -> bool {
        !self.open.is_empty()
    }
}

impl Life {
    pub fn new(strand: &Strand) -> Self {
        Life {
            id: strand.id,
            kind: strand.kind,
            active: Active {
                runs: strand.kind == Kind::Thread,
                since: strand.born,
                ..Active::default()
            },
            on: strand.thread() as u32,
            latest: strand.thread(),
            calls: 0,
            change: None,
        }
    }
}

impl Active {
    /// What is around a call that begins now.
    pub fn around(&self) -> Around {
        self.open.last().map_or(self.base.around, |top| top.inside)
    }
}
