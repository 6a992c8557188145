//! Compares each mark with the strand that it was put on, and with the calls that are open there.

use crate::mark::{Kind, Truth, made};
use crate::names::{Name, Names};
use crate::verdict::{Decoded, Verdict};
use heddle_strands::{Call, Sink, Strand, StrandId, StrandSpan};
use heddle_trace_file::{Addr, Event, EventKind, Nanos};
use std::collections::{HashMap, HashSet};

/// A mark, and what was decoded for it.
#[derive(Debug)]
pub struct Mark {
    time: Nanos,
    thread: usize,
    text: Vec<u8>,
    strand: StrandId,
    path: Vec<(Addr, Nanos)>,
}

/// Keeps the marks, each with the calls that are open on its strand.
#[derive(Debug, Default)]
pub struct Marks {
    open: HashMap<StrandId, Vec<(Addr, Nanos)>>,
    kinds: HashMap<StrandId, heddle_strands::Kind>,
    /// By number: of which number the maker is.
    parents: HashMap<u64, Option<u64>>,
    marks: Vec<Mark>,
    /// The maker of each strand, as the program says.
    made: Vec<(u64, u64)>,
}

impl Sink for Marks {
    fn born(&mut self, strand: &Strand) {
        self.kinds.insert(strand.id, strand.kind);
        let parent = strand.parent.map(StrandId::number);
        self.parents.insert(strand.id.number(), parent);
    }

    fn enter(&mut self, call: &Call) {
        let open = self.open.entry(call.strand).or_default();
        open.push((call.function, call.enter));
    }

    fn leave(&mut self, span: &StrandSpan) {
        if let Some(open) = self.open.get_mut(&span.strand) {
            open.pop();
        }
    }

    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Mark { text, .. } = event.kind {
            self.made.extend(made(text));
            self.marks.push(Mark {
                time: event.time,
                thread,
                text: text.to_owned(),
                strand,
                path: self.open.get(&strand).cloned().unwrap_or_default(),
            });
        }
    }

    fn ended(&mut self, strand: &Strand) {
        self.open.remove(&strand.id);
    }
}

/// What is compared, and how.
pub struct Rules {
    /// The functions that truth names; others count as not there.
    pub told: HashSet<Name>,
    /// Calls may have begun before the recording: then the outermost that truth names may be
    /// missing.
    pub open_at_start: bool,
}

impl Marks {
    /// Judges all marks.
    pub fn judge(&self, rules: &Rules, names: &mut Names, verdict: &mut Verdict) {
        for mark in &self.marks {
            let Some(truth) = Truth::parse(&mark.text) else {
                continue;
            };
            let kind = match self.kinds.get(&mark.strand) {
                Some(heddle_strands::Kind::Fiber) => Kind::Fiber,
                Some(heddle_strands::Kind::Coroutine) => Kind::Coroutine,
                _ => Kind::Thread,
            };
            let decoded = Decoded {
                strand: mark.strand.number(),
                kind,
            };
            let at = format!("{} ns, thread {}", mark.time.0, mark.thread + 1);
            let path = rules.compare(&truth, kind, &mark.path, names);
            verdict.mark(at, &truth, decoded, path);
        }
        for (&strand, &kind) in &self.kinds {
            let kind = match kind {
                heddle_strands::Kind::Thread => continue,
                heddle_strands::Kind::Fiber => Kind::Fiber,
                heddle_strands::Kind::Coroutine => Kind::Coroutine,
            };
            verdict.decoded(strand.number(), kind, self.parents[&strand.number()]);
        }
        verdict.made.extend(self.made.iter().copied());
    }
}

impl Rules {
    fn compare(
        &self,
        truth: &Truth,
        kind: Kind,
        path: &[(Addr, Nanos)],
        names: &mut Names,
    ) -> Result<(), String> {
        let truth: Vec<Name> = truth.path().map(|function| names.told(function)).collect();
        let mut path: Vec<Name> = path
            .iter()
            .map(|&(function, time)| names.function(function, time))
            .filter(|name| self.told.contains(name))
            .collect();
        // What destroys a coroutine calls what resumes it, by the same name; and without
        // optimisation a transfer is a call, so that an activation is still open when the next
        // begins.
        if kind == Kind::Coroutine {
            let again = path
                .iter()
                .skip(1)
                .take_while(|&name| *name == path[0])
                .count();
            path.drain(..again);
        }
        let equal = if self.open_at_start {
            !path.is_empty() && truth.ends_with(&path)
        } else {
            truth == path
        };
        if equal {
            return Ok(());
        }
        let words: Vec<&str> = path.iter().map(|&name| names.text(name)).collect();
        Err(words.join("/"))
    }
}
