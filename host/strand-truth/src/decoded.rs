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
    /// The function that was entered last on its thread, since the mark before.
    entered: Option<(Addr, Nanos)>,
}

/// Keeps the marks, each with the calls that are open on its strand.
#[derive(Debug, Default)]
pub struct Marks {
    open: HashMap<StrandId, Vec<(Addr, Nanos)>>,
    kinds: HashMap<StrandId, heddle_strands::Kind>,
    /// Strands that are not sure.
    unsure: HashSet<StrandId>,
    /// By number: of which number the maker is.
    parents: HashMap<u64, Option<u64>>,
    marks: Vec<Mark>,
    /// The maker of each strand, as the program says.
    made: Vec<(u64, u64)>,
    /// By thread: the function that was entered last, until a mark.
    entered: HashMap<usize, (Addr, Nanos)>,
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
        self.entered
            .insert(call.thread, (call.function, call.enter));
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
                entered: self.entered.remove(&thread),
                path: self.open.get(&strand).cloned().unwrap_or_default(),
            });
        }
    }

    fn ended(&mut self, strand: &Strand) {
        self.open.remove(&strand.id);
        if !strand.is_sure() {
            self.unsure.insert(strand.id);
        }
    }
}

/// What is compared, and how.
pub struct Rules {
    /// The functions that truth names; others count as not there.
    pub told: HashSet<Name>,
    /// Calls may have begun before the recording: then the outermost that truth names may be
    /// missing.
    pub open_at_start: bool,
    /// Calls may be left out anywhere.
    pub filtered: bool,
}

impl Marks {
    /// Judges all marks.
    pub fn judge(&self, rules: &Rules, names: &mut Names, verdict: &mut Verdict) {
        for mark in &self.marks {
            let Some(truth) = Truth::parse(&mark.text) else {
                continue;
            };
            // A mark without the call that makes it tells nothing of calls.
            let is_part = rules.filtered || rules.open_at_start;
            let has_enter = !is_part || rules.has_enter(mark, &truth, names);
            if rules.filtered && !has_enter {
                continue;
            }
            let kind = match self.kinds.get(&mark.strand) {
                Some(heddle_strands::Kind::Fiber) => Kind::Fiber,
                Some(heddle_strands::Kind::Coroutine) => Kind::Coroutine,
                _ => Kind::Thread,
            };
            let decoded = Decoded {
                strand: mark.strand.number(),
                kind,
                sure: has_enter && !self.unsure.contains(&mark.strand),
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
    /// Whether the call that makes the mark was recorded.
    fn has_enter(&self, mark: &Mark, truth: &Truth, names: &mut Names) -> bool {
        let innermost = truth.path().next_back();
        let innermost = innermost.map(|function| names.told(function));
        let entered = mark.entered;
        entered.is_some_and(|(function, time)| Some(names.function(function, time)) == innermost)
    }

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
        let equal = if self.filtered {
            let mut rest = truth.iter();
            path.iter().all(|name| rest.any(|other| other == name))
        } else if self.open_at_start {
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
