//! A trace's calls by strand: the trees of its threads, fibers and coroutines.

use crate::calls_of::Labels;
use crate::names::{Names, printable, process_name};
use heddle_calls::{Growing, Loose, Node, TreeError};
use heddle_strands::{Call, Kind, Plan, Sink, Strand, StrandId, StrandSpan, Unresolved};
use heddle_trace_file::{Remarks, Trace};
use heddle_tree::{Process, StrandKind};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What the calls of a trace's strands are.
pub struct StrandCalls {
    pub processes: Vec<Process>,
    pub loose: Loose,
    pub remarks: Remarks,
    pub unresolved: Vec<Unresolved>,
}

/// Reads the whole trace; of one strand alone, or of all.
///
/// # Errors
/// What reading the trace gives, and calls that are nested too deeply.
pub fn read(trace: &Trace, only: Option<StrandId>) -> Result<StrandCalls, TreeError> {
    let names = Rc::new(RefCell::new(Names::new(trace)));
    let plan = Plan::new(trace, names.borrow_mut().images());
    let decoded = plan.stream(
        |process| Trees {
            names: names.clone(),
            labels: Labels::new(process),
            only,
            open: HashMap::new(),
            known: HashMap::new(),
            done: Vec::new(),
            failed: None,
        },
        |_, _, _| true,
    )?;
    let mut result = StrandCalls {
        processes: Vec::new(),
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
    };
    for (process, mut trees) in decoded.sinks {
        if let Some(failed) = trees.failed {
            return Err(failed);
        }
        trees.done.sort_by_key(|done| done.id);
        let strands = trees.done.into_iter().map(|done| heddle_tree::Strand {
            calls: trees.labels.calls(done.calls),
            parent: done.parent.and_then(|id| trees.known.get(&id).cloned()),
            ..done.described
        });
        result.processes.push(Process {
            name: process_name(&trace.processes()[process]),
            strands: strands.collect(),
        });
    }
    Ok(result)
}

/// A strand that has ended, and its calls.
struct Done {
    id: StrandId,
    parent: Option<StrandId>,
    described: heddle_tree::Strand,
    calls: Vec<Node>,
}

/// Grows the trees of one process's strands.
struct Trees<'a> {
    names: Rc<RefCell<Names<'a>>>,
    labels: Labels,
    only: Option<StrandId>,
    open: HashMap<StrandId, Growing>,
    /// Names of strands, for those that they made.
    known: HashMap<StrandId, String>,
    done: Vec<Done>,
    failed: Option<TreeError>,
}

impl Trees<'_> {
    fn takes(&self, strand: StrandId, body: bool) -> bool {
        // What runs a coroutine is no call of it, but the coroutine itself.
        !body && self.only.is_none_or(|only| only == strand)
    }
}

impl Sink for Trees<'_> {
    fn enter(&mut self, call: &Call) {
        if !self.takes(call.strand, call.body) {
            return;
        }
        let growing = self.open.entry(call.strand).or_default();
        let parent = call.around.filter(|_| call.depth > 0);
        let label = self
            .labels
            .of(&mut self.names.borrow_mut(), &call.into(), parent);
        if let Err(error) = growing.enter(label) {
            self.failed.get_or_insert(error);
        }
    }

    fn leave(&mut self, span: &StrandSpan) {
        if self.takes(span.strand, span.body)
            && let Some(growing) = self.open.get_mut(&span.strand)
        {
            growing.leave(&span.span);
        }
    }

    fn ended(&mut self, strand: &Strand) {
        let name = match strand.kind {
            Kind::Thread => printable(strand.name().unwrap_or_default()),
            _ => self.names.borrow_mut().strand(strand),
        };
        self.known.insert(strand.id, name.clone());
        if self.only.is_some_and(|only| only != strand.id) {
            return;
        }
        let growing = self.open.remove(&strand.id).unwrap_or_default();
        let described = heddle_tree::Strand {
            kind: match strand.kind {
                Kind::Thread => StrandKind::Thread,
                Kind::Fiber => StrandKind::Fiber,
                Kind::Coroutine => StrandKind::Coroutine,
            },
            name,
            parent: None,
            calls: Vec::new(),
        };
        self.done.push(Done {
            id: strand.id,
            parent: strand.parent,
            described,
            calls: growing.roots(),
        });
    }
}
