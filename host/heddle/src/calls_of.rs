//! A trace's calls in the form that expected trees are compared with.

use crate::filter::{Filter, FilterArgs, Filterable, LeftOut, unwrap};
use crate::names::{Names, printable, process_name};
use crate::notes;
use crate::values::{Waiting, argument_list, result_text};
use anyhow::anyhow;
use heddle_calls::{Growing, Loose, Node, TreeError};
use heddle_strands::{
    Analysis, Call as StrandCall, Decoded, Kind, Sink, Strand, StrandId, StrandSpan, Unresolved,
};
use heddle_symbols::without_parameters;
use heddle_trace_file::{Addr, Callee, Error, Event, EventKind, Nanos, Remarks, Shapes, Trace};
use heddle_tree::{Call, Foreign, Process, StrandKind};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A stack of 8 MB in the traced program makes calls to a depth of some 200 000; deeper than
/// [`heddle_calls::DEEPEST`] there is no tree.
const STACK: usize = 1 << 29;

/// Runs `walk` where there is room for walking a call tree recursively.
///
/// # Errors
/// Those of `walk`, and if there is no thread for it.
pub fn with_deep_stack<T: Send + 'static>(
    walk: impl FnOnce() -> anyhow::Result<T> + Send + 'static,
) -> anyhow::Result<T> {
    let walker = std::thread::Builder::new().stack_size(STACK).spawn(walk);
    walker
        .map_err(|error| anyhow!(notes::no_thread(&error)))?
        .join()
        .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Has `walk` run by a thread of its own, where there is such room.
///
/// # Errors
/// There is no thread for it.
pub fn on_deep_stack(walk: impl FnOnce() + Send + 'static) -> anyhow::Result<()> {
    let walker = std::thread::Builder::new().stack_size(STACK).spawn(walk);
    walker
        .map(drop)
        .map_err(|error| anyhow!(notes::no_thread(&error)))
}

/// What the calls of a trace are.
pub struct Calls {
    pub processes: Vec<Process>,
    pub loose: Loose,
    pub remarks: Remarks,
    pub unresolved: Vec<Unresolved>,
    /// The number of calls that a filter left out, if there is one.
    pub left_out: Option<LeftOut>,
}

impl Calls {
    /// By strand: the trees of threads, fibers and coroutines.
    ///
    /// # Errors
    /// What reading the trace gives, options that do not fit it, and calls that are nested too
    /// deeply.
    pub fn by_strand(trace: &Trace, filter: &FilterArgs) -> anyhow::Result<Self> {
        let mut names = Names::new(trace);
        let filter = Filter::new(filter, trace, &mut names)?;
        let analysis = Analysis::new(trace, names.images());
        read(trace, &analysis, names, filter)
    }

    /// By thread, each as if it had one stack.
    ///
    /// # Errors
    /// The same.
    pub fn by_thread(trace: &Trace, filter: &FilterArgs) -> anyhow::Result<Self> {
        let mut names = Names::new(trace);
        let filter = Filter::new(filter, trace, &mut names)?;
        let analysis = Analysis::by_thread(trace, names.images());
        read(trace, &analysis, names, filter)
    }
}

/// Reads the whole trace.
fn read(
    trace: &Trace,
    analysis: &Analysis<'_>,
    names: Names<'_>,
    filter: Option<Filter<'_>>,
) -> anyhow::Result<Calls> {
    let names = Rc::new(RefCell::new(names));
    let trees = |process| Trees {
        names: names.clone(),
        shapes: trace.shapes(),
        waiting: Waiting::default(),
        labels: Labels::new(process),
        open: FxHashMap::default(),
        known: FxHashMap::default(),
        latest: "".into(),
        done: Vec::new(),
        failed: None,
    };
    let (decoded, left_out) = match filter {
        None => {
            let decoded = analysis.stream(trees, |_, _, trees| trees.failed.is_none())?;
            (decoded, None)
        }
        Some(filter) => {
            let (decoded, left_out) = filtered(analysis, filter, trees)?;
            (decoded, Some(left_out))
        }
    };
    let mut result = Calls {
        processes: Vec::new(),
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
        left_out,
    };
    for (process, mut trees) in decoded.sinks {
        if let Some(failed) = trees.failed {
            return Err(failed.into());
        }
        trees.done.sort_by_key(|done| done.id);
        let strands = trees.done.into_iter().map(|done| heddle_tree::Strand {
            parent: done.parent.and_then(|id| trees.known.get(&id).cloned()),
            ..done.strand
        });
        result.processes.push(Process {
            name: process_name(&trace.processes()[process]),
            strands: strands.collect(),
        });
    }
    Ok(result)
}

/// The trees of the calls that the filter keeps.
fn filtered<'a>(
    analysis: &Analysis<'_>,
    mut filter: Filter<'_>,
    trees: impl Fn(usize) -> Trees<'a>,
) -> Result<(Decoded<Trees<'a>>, LeftOut), Error> {
    if filter.must_learn() {
        let learned = analysis.stream(|process| filter.learning(process), |_, _, _| true)?;
        let learned = learned.sinks.into_iter().collect();
        filter.learn(learned);
    }
    let over = |process| filter.over(process, trees(process));
    let decoded = analysis.stream(over, |_, _, filtered| filtered.inner().failed.is_none())?;
    Ok(unwrap(decoded))
}

/// A strand that has ended.
struct Done {
    id: StrandId,
    parent: Option<StrandId>,
    strand: heddle_tree::Strand,
}

/// Grows the trees of one process's strands.
struct Trees<'a> {
    names: Rc<RefCell<Names<'a>>>,
    shapes: &'a Shapes,
    waiting: Waiting,
    labels: Labels,
    open: FxHashMap<StrandId, Growing>,
    /// Names of strands, for those that they made.
    known: FxHashMap<StrandId, Arc<str>>,
    /// The name of the strand that ended last: neighbours mostly share one.
    latest: Arc<str>,
    done: Vec<Done>,
    failed: Option<TreeError>,
}

impl Sink for Trees<'_> {
    fn enter(&mut self, call: &StrandCall) {
        let given = self.waiting.of_enter(call);
        let growing = self.open.entry(call.strand).or_default();
        growing.turn_to(call.thread, call.depth == 0);
        // What runs a coroutine is no call of it, but the coroutine itself.
        if call.body {
            return growing.enter_body();
        }
        let parent = call.around.filter(|_| call.depth > 0);
        let names = &mut self.names.borrow_mut();
        let mut label = self.labels.number(names, call, parent);
        if let Some(given) = given {
            let process = call.strand.process();
            let mut named = |address| names.function_at(process, Addr(address), call.enter);
            let given = argument_list(&given, self.shapes, &mut named);
            label = self.labels.with_values(label, &format!(" {{{given}}}"));
        }
        if let Err(error) = growing.enter(label) {
            self.failed.get_or_insert(error);
        }
    }

    fn leave(&mut self, span: &StrandSpan) {
        let result = self.waiting.of_leave(span);
        if let Some(growing) = self.open.get_mut(&span.strand) {
            growing.turn_to(span.thread, false);
            if span.body {
                return growing.leave_body();
            }
            let names = &mut self.names.borrow_mut();
            let process = span.strand.process();
            let time = span.span.exit;
            let mut named = |address| names.function_at(process, Addr(address), time);
            let result = result.and_then(|result| result_text(&result, self.shapes, &mut named));
            if let Some(result) = result {
                let label = self
                    .labels
                    .with_values(growing.label(), &format!(" = {result}"));
                growing.relabel(label);
            }
            growing.leave(&span.span);
        }
    }

    fn unmatched(&mut self, _: StrandId, thread: usize, _: Callee, _: Nanos) {
        self.waiting.clear(thread);
    }

    fn other(&mut self, _: StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Values(values) = event.kind {
            self.waiting.take(thread, values);
        }
    }

    fn ended(&mut self, strand: &Strand) {
        let name = match strand.kind {
            Kind::Thread => printable(strand.name().unwrap_or_default()),
            _ => self.names.borrow_mut().strand(strand).to_string(),
        };
        if *self.latest != *name {
            self.latest = name.into();
        }
        self.known.insert(strand.id, self.latest.clone());
        let growing = self.open.remove(&strand.id).unwrap_or_default();
        let strand_of_tree = heddle_tree::Strand {
            kind: match strand.kind {
                Kind::Thread => StrandKind::Thread,
                Kind::Fiber => StrandKind::Fiber,
                Kind::Coroutine => StrandKind::Coroutine,
            },
            name: self.latest.clone(),
            parent: None,
            calls: self.labels.calls(growing.roots()),
        };
        self.done.push(Done {
            id: strand.id,
            parent: strand.maker(),
            strand: strand_of_tree,
        });
    }
}

impl Filterable for Trees<'_> {
    fn had_no_calls(&mut self, strand: &Strand) {
        // A recording with the same filter has its threads, and nothing of another strand.
        if strand.kind == Kind::Thread {
            self.ended(strand);
        } else {
            let name = self.names.borrow_mut().strand(strand).to_string();
            self.known.insert(strand.id, name.into());
        }
    }
}

/// A call's function, its caller where that is not the call above, and its values where they were
/// recorded. Calls with the same label are counted together.
type Label = (String, Option<Foreign>, String);

/// Numbers for labels.
struct Labels {
    process: usize,
    /// A call of each label, to be cloned: there may be millions of one.
    calls: Vec<Call>,
    numbers: HashMap<Label, u32>,
    /// Most calls have been seen before.
    seen: FxHashMap<Seen, u32>,
}

/// A call's label depends on these: the generation of the modules, the function, the call site,
/// whether the call is inlined, and the function above.
type Seen = (u32, Addr, Addr, bool, Option<Addr>);

impl Labels {
    fn new(process: usize) -> Self {
        Labels {
            process,
            calls: Vec::new(),
            numbers: HashMap::new(),
            seen: FxHashMap::default(),
        }
    }

    /// The number of the label of a call that a call of `parent` made on the same strand.
    fn number(&mut self, names: &mut Names, call: &StrandCall, parent: Option<Addr>) -> u32 {
        let generation = names.generation(self.process, call.enter);
        let key = (generation, call.function, call.caller, call.inlined, parent);
        if let Some(&number) = self.seen.get(&key) {
            return number;
        }
        let time = call.enter;
        let name = names
            .function(self.process, call.function, time)
            .name
            .clone();
        let label = (name, self.foreign(names, call, parent));
        // Places in a module that have no name are one caller: they differ from build to build.
        let key_of_label = match &label {
            (name, Some((foreign, false))) => (
                name.clone(),
                Some(Foreign {
                    name: String::new(),
                    module: foreign.module.clone(),
                }),
                String::new(),
            ),
            (name, foreign) => (
                name.clone(),
                foreign.as_ref().map(|(foreign, _)| foreign.clone()),
                String::new(),
            ),
        };
        let label = (label.0, label.1.map(|(foreign, _)| foreign), String::new());
        let next = self.calls.len() as u32;
        let number = *self.numbers.entry(key_of_label).or_insert(next);
        if number == next {
            self.push(label);
        }
        self.seen.insert(key, number);
        number
    }

    /// The number of a label with these values behind those that it has.
    fn with_values(&mut self, label: u32, values: &str) -> u32 {
        let call = &self.calls[label as usize];
        let foreign = call.foreign.as_deref().cloned();
        let label = (
            call.name.to_string(),
            foreign,
            format!("{}{values}", call.values),
        );
        let next = self.calls.len() as u32;
        let number = *self.numbers.entry(label.clone()).or_insert(next);
        if number == next {
            self.push(label);
        }
        number
    }

    /// The caller and whether it has a name, where it lies in another module than the call above:
    /// code that is not traced came between.
    fn foreign(
        &self,
        names: &mut Names,
        call: &StrandCall,
        parent: Option<Addr>,
    ) -> Option<(Foreign, bool)> {
        if call.inlined || call.caller == Addr(0) {
            return None;
        }
        let caller = names.caller(self.process, call.caller, call.enter);
        let above = parent.map(|parent| {
            names
                .function(self.process, parent, call.enter)
                .module
                .clone()
        });
        (above.as_ref() != Some(&caller.module)).then(|| {
            (
                Foreign {
                    name: caller.name.clone(),
                    module: caller.module.clone(),
                },
                caller.known,
            )
        })
    }

    /// Puts a label behind the others.
    fn push(&mut self, (name, foreign, values): Label) {
        self.calls.push(Call {
            foreign: foreign.map(Arc::new),
            values: values.into(),
            ..Call::new(&name, &without_parameters(&name))
        });
    }

    /// The calls that were counted by label.
    fn calls(&self, nodes: Vec<Node>) -> Vec<Call> {
        let call = |node: Node| Call {
            calls: node.calls,
            min: node.min.0,
            max: node.max.0,
            open: node.open.0,
            children: self.calls(node.children),
            ..self.calls[node.label as usize].clone()
        };
        nodes.into_iter().map(call).collect()
    }
}
