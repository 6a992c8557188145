//! Calls added up by the calls that they are in.

use crate::aside::Aside;
use crate::filter::{Filter, FilterArgs, Filterable, LeftOut, Pattern, decode};
use crate::names::{Names, printable};
use heddle_calls::{Functions, Key, Loose, Span, Wanted};
use heddle_strands::{Call, Kind, Sink, Strand, StrandSpan, Unresolved};
use heddle_trace_file::{Addr, Modules, Nanos, Remarks, Trace};
use rustc_hash::FxHashMap;
use std::collections::HashMap;

/// Calls within so many others are not told apart: their time is that of the one around.
pub const DEEPEST: usize = 1000;

/// The calls of one function within the same calls; or strands of one kind and name, which hold
/// their outermost calls.
#[derive(Clone, Debug, Default)]
pub struct Node {
    pub name: String,
    /// Whether a pattern that was asked for means the function: two functions may be printed alike.
    pub meant: bool,
    /// Calls, or strands.
    pub calls: u64,
    pub total: Nanos,
    pub own: Nanos,
    /// By total time, the longest first.
    pub callees: Vec<Node>,
}

impl Node {
    /// Adds what has the same name.
    pub fn merge(&mut self, other: Node) {
        self.calls += other.calls;
        self.total.0 = self.total.0.saturating_add(other.total.0);
        self.own.0 = self.own.0.saturating_add(other.own.0);
        merge(&mut self.callees, other.callees);
    }

    /// The same whatever is meant: those below that are printed alike are one.
    pub fn printed(self) -> Node {
        let mut callees = Vec::new();
        let below = self.callees.into_iter().map(Node::printed);
        merge(&mut callees, below.collect());
        Node {
            meant: false,
            callees,
            ..self
        }
    }

    /// Puts those that took long first.
    pub fn sort(&mut self) {
        sort(&mut self.callees);
    }
}

/// Adds nodes to those of the same names, those that are meant to such.
pub fn merge(all: &mut Vec<Node>, more: Vec<Node>) {
    let at = all.iter().enumerate();
    let key = |node: &Node| (node.name.clone(), node.meant);
    let mut at: HashMap<(String, bool), usize> =
        at.map(|(index, node)| (key(node), index)).collect();
    for node in more {
        let key = key(&node);
        match at.get(&key) {
            Some(&index) => all[index].merge(node),
            None => {
                at.insert(key, all.len());
                all.push(node);
            }
        }
    }
}

/// Puts nodes that took long first, all the way down.
pub fn sort(nodes: &mut [Node]) {
    nodes.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.name.cmp(&b.name)));
    nodes.iter_mut().for_each(Node::sort);
}

/// The graph, and what else is to be said.
pub struct Graph {
    /// Strands by kind and name.
    pub strands: Vec<Node>,
    /// Calls that are deeper than [`DEEPEST`].
    pub deep: u64,
    pub loose: Loose,
    pub remarks: Remarks,
    pub unresolved: Vec<Unresolved>,
    pub left_out: Option<LeftOut>,
}

/// Reads the trace; what `pattern` means is marked.
///
/// # Errors
/// What reading the trace gives, and options that do not fit it.
pub fn read(
    trace: &Trace,
    names: &mut Names<'_>,
    filter: &FilterArgs,
    pattern: Option<&Pattern>,
) -> anyhow::Result<Graph> {
    let filter = Filter::new(filter, trace, names)?;
    let wanted = Wanted::OneStrand;
    let sink = |process: usize| Paths::new(trace.processes()[process].modules());
    let (decoded, left_out) = decode(trace, names.images(), wanted, filter, sink)?;
    let mut graph = Graph {
        strands: Vec::new(),
        deep: 0,
        loose: decoded.loose,
        remarks: decoded.remarks,
        unresolved: decoded.unresolved,
        left_out,
    };
    graph.deep = decoded.sinks.iter().map(|(_, paths)| paths.deep).sum();
    graph.strands = of_parts(trace, names, &decoded.sinks, pattern);
    Ok(graph)
}

/// The strands of these parts of processes, which have these indices.
pub fn of_parts(
    trace: &Trace,
    names: &mut Names<'_>,
    parts: &[(usize, Paths<'_>)],
    pattern: Option<&Pattern>,
) -> Vec<Node> {
    let mut strands = Vec::new();
    for (process, paths) in parts {
        merge(&mut strands, paths.nodes(trace, *process, names, pattern));
    }
    sort(&mut strands);
    strands
}

/// What strands are named after.
#[derive(PartialEq, Eq, Hash)]
enum Named {
    Given(Box<str>),
    Entry(Option<Key>),
    Unsure,
}

/// A place in the graph; the first are strands.
struct Path {
    function: u32,
    calls: u64,
    total: u64,
    own: u64,
    /// In the order of first calls.
    callees: Vec<u32>,
    /// The function and the path of the callee that was called last.
    latest: (u32, u32),
}

/// The calls of a part of a process.
pub struct Paths<'a> {
    modules: &'a Modules,
    functions: Functions<'static>,
    /// By [`Call::number`].
    numbers: Vec<u32>,
    paths: Vec<Path>,
    below: FxHashMap<(u32, u32), u32>,
    roots: HashMap<(Kind, Named), u32>,
    /// One strand of each root.
    examples: Vec<(u32, Strand)>,
    /// The strands, by slot.
    lives: Vec<Live>,
    aside: Aside<Vec<u32>>,
    pub deep: u64,
}

const UNKNOWN: u32 = u32::MAX;

/// A strand.
#[derive(Default)]
struct Live {
    root: u32,
    open: Vec<u32>,
    /// The thread of the activation that `open` is of, of a coroutine.
    thread: u32,
}

impl<'a> Paths<'a> {
    /// Of no call yet.
    pub fn new(modules: &'a Modules) -> Self {
        Paths {
            modules,
            functions: Functions::default(),
            numbers: Vec::new(),
            paths: Vec::new(),
            below: FxHashMap::default(),
            roots: HashMap::new(),
            examples: Vec::new(),
            lives: Vec::new(),
            aside: Aside::default(),
            deep: 0,
        }
    }

    fn key(&self, address: Addr, time: Nanos) -> Key {
        Key {
            address,
            generation: self.modules.generation(time),
        }
    }

    fn path(&mut self, function: u32) -> u32 {
        self.paths.push(Path {
            function,
            calls: 0,
            total: 0,
            own: 0,
            callees: Vec::new(),
            latest: (UNKNOWN, UNKNOWN),
        });
        self.paths.len() as u32 - 1
    }

    fn function(&mut self, call: &Call) -> u32 {
        let index = call.number as usize;
        if let Some(&known) = self.numbers.get(index).filter(|&&known| known != UNKNOWN) {
            return known;
        }
        let id = self.functions.id(self.key(call.function, call.enter)).0;
        if index >= self.numbers.len() {
            self.numbers.resize(index + 1, UNKNOWN);
        }
        self.numbers[index] = id;
        id
    }

    /// The strand's calls are from now on below the root of its name.
    fn join(&mut self, strand: &Strand) {
        let named = match strand.name() {
            Some(name) => Named::Given(name.into()),
            None if !strand.is_one() => Named::Unsure,
            None => Named::Entry(
                strand
                    .entry()
                    .map(|(address, time)| self.key(address, time)),
            ),
        };
        let key = (strand.kind, named);
        let root = match self.roots.get(&key) {
            Some(&root) => root,
            None => {
                let root = self.path(UNKNOWN);
                self.roots.insert(key, root);
                self.examples.push((root, strand.clone()));
                root
            }
        };
        let slot = strand.slot as usize;
        if slot >= self.lives.len() {
            self.lives.resize_with(slot + 1, Default::default);
        }
        self.lives[slot].root = root;
    }

    fn add(&mut self, path: u32, span: &Span) {
        let path = &mut self.paths[path as usize];
        path.calls += 1;
        path.total = path.total.saturating_add(span.duration().0);
        path.own = path.own.saturating_add(span.own().0);
    }

    /// The number of the function at this address then.
    #[inline]
    pub fn number(&mut self, address: Addr, time: Nanos) -> u32 {
        self.functions.id(self.key(address, time)).0
    }

    /// The functions, in the order of their numbers.
    pub fn functions(&self) -> &[Key] {
        self.functions.keys()
    }

    /// The calls of the strand's slot are from now on those of this strand, inside calls of these
    /// functions, outermost first, that are counted elsewhere or when they end.
    pub fn begin(&mut self, strand: &Strand, open: &[u32]) {
        self.join(strand);
        self.had_no_calls(strand);
        let deep = self.deep;
        open.iter()
            .for_each(|&function| self.called(strand.slot, function));
        self.deep = deep;
    }

    /// The strand has ended.
    pub fn ends(&mut self, strand: &Strand) {
        let root = self.lives[strand.slot as usize].root;
        self.paths[root as usize].calls += 1;
        self.had_no_calls(strand);
    }

    /// A call of the function with this number begins.
    #[inline]
    pub fn called(&mut self, slot: u32, function: u32) {
        let Live { root, open, .. } = &self.lives[slot as usize];
        let around = open.last().copied().unwrap_or(*root);
        let path = match self.paths[around as usize].latest {
            (latest, path) if latest == function && open.len() < DEEPEST => path,
            _ => self.another(around, open.len(), function),
        };
        self.lives[slot as usize].open.push(path);
    }

    /// The calls that follow belong to the strand's activation on this thread, which `begins` now
    /// or is open.
    #[inline]
    fn turn_to(&mut self, slot: u32, thread: usize, begins: bool) {
        let live = &mut self.lives[slot as usize];
        let now = (&mut live.thread, &mut live.open);
        self.aside.turn_to(slot, now, thread, begins);
    }

    /// The path of a function's calls within those of `around`, of which there are so many.
    fn another(&mut self, around: u32, depth: usize, function: u32) -> u32 {
        if depth >= DEEPEST {
            self.deep += 1;
            return around;
        }
        let path = match self.below.get(&(around, function)) {
            Some(&known) => known,
            None => {
                let path = self.path(function);
                self.below.insert((around, function), path);
                self.paths[around as usize].callees.push(path);
                path
            }
        };
        self.paths[around as usize].latest = (function, path);
        path
    }

    /// The innermost call ends.
    #[inline]
    pub fn left(&mut self, slot: u32, span: &Span) {
        let open = &mut self.lives[slot as usize].open;
        let Some(path) = open.pop() else { return };
        if open.len() < DEEPEST {
            self.add(path, span);
        } else {
            // Its caller's time, which has it not.
            let own = span.own().0;
            let path = &mut self.paths[path as usize];
            path.own = path.own.saturating_add(own);
        }
    }

    /// The strands, with names.
    pub fn nodes(
        &self,
        trace: &Trace,
        process: usize,
        names: &mut Names<'_>,
        pattern: Option<&Pattern>,
    ) -> Vec<Node> {
        let several = trace.processes().len() > 1;
        let mut strands: Vec<Node> = Vec::new();
        for (root, example) in &self.examples {
            let callees = self.below(*root, process, names, pattern);
            let name = match example.kind {
                Kind::Thread => printable(example.name().unwrap_or("?")),
                _ => names.strand(example).to_string(),
            };
            let pid = match several {
                true => format!(" of {}", trace.processes()[process].id()),
                false => String::new(),
            };
            let sum = |time: fn(&Node) -> Nanos| callees.iter().map(|node| time(node).0).sum();
            let node = Node {
                name: format!("{} {name}{pid}", example.kind.name()),
                meant: false,
                calls: self.paths[*root as usize].calls,
                total: Nanos(sum(|node| node.total)),
                own: Nanos(0),
                callees,
            };
            merge(&mut strands, vec![node]);
        }
        strands.retain(|strand| !strand.callees.is_empty());
        strands
    }

    fn below(
        &self,
        path: u32,
        process: usize,
        names: &mut Names<'_>,
        pattern: Option<&Pattern>,
    ) -> Vec<Node> {
        let mut callees = Vec::new();
        for &callee in &self.paths[path as usize].callees {
            let path = &self.paths[callee as usize];
            let key = self.functions.keys()[path.function as usize];
            let time = self.modules.time_of(key.address, key.generation);
            let location = names.function(process, key.address, time);
            callees.push(Node {
                name: names.shown(&location).to_owned(),
                meant: pattern.is_some_and(|pattern| pattern.matches(&location.name)),
                calls: path.calls,
                total: Nanos(path.total),
                own: Nanos(path.own),
                callees: self.below(callee, process, names, pattern),
            });
        }
        // Two functions may have one name.
        let mut merged = Vec::new();
        merge(&mut merged, callees);
        merged
    }
}

impl Sink for Paths<'_> {
    fn born(&mut self, strand: &Strand) {
        self.join(strand);
    }

    fn named(&mut self, strand: &Strand) {
        self.join(strand);
    }

    fn enter(&mut self, call: &Call) {
        let function = self.function(call);
        self.turn_to(call.slot, call.thread, call.depth == 0);
        self.called(call.slot, function);
    }

    fn leave(&mut self, span: &StrandSpan) {
        self.turn_to(span.slot, span.thread, false);
        self.left(span.slot, &span.span);
    }

    fn ended(&mut self, strand: &Strand) {
        self.ends(strand);
    }
}

impl Filterable for Paths<'_> {
    fn had_no_calls(&mut self, strand: &Strand) {
        self.lives[strand.slot as usize].open.clear();
        self.aside.forget(strand.slot);
    }
}
