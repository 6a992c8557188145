//! The strands of a trace, as a list and as a tree.

use crate::filter::{Filter, FilterArgs, Filterable, LeftOut, unwrap};
use crate::names::Names;
pub use crate::names::strand_label as label;
use heddle_strands::{Analysis, Brief, Decoded, Kind, Sink, Strand, StrandId, StrandList};
use heddle_trace_file::{Error, Event, EventKind, Made, Nanos, Process, Trace};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::rc::Rc;

/// Every strand, and what else is to be said.
pub struct Strands {
    /// In order of their numbers.
    pub all: StrandList,
    pub unresolved: Vec<heddle_strands::Unresolved>,
    pub loose: heddle_calls::Loose,
    pub remarks: heddle_trace_file::Remarks,
    /// The number of calls that a filter left out, if there is one.
    pub left_out: Option<LeftOut>,
}

/// The strands of a part of a process.
#[derive(Default)]
pub struct All {
    pub strands: StrandList,
    pub makers: Makers,
    /// Strands without calls that a filter keeps, with their makers.
    left_out: Vec<(StrandId, Option<StrandId>)>,
}

impl Sink for All {
    const LIVES: bool = false;

    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        self.makers.note(strand, thread, event);
    }

    fn ended(&mut self, strand: &Strand) {
        self.strands.push(strand);
    }

    fn ended_brief(&mut self, strand: &Brief<'_>) {
        self.strands.push_brief(strand);
    }
}

/// The strands that create threads: the decoder takes a thread and its creator apart.
#[derive(Default)]
pub struct Makers {
    /// By process and number of the making: the creator, and the index of the thread that ran it.
    by_making: HashMap<(usize, u32), (StrandId, usize)>,
}

impl Makers {
    /// Takes an event of a strand, which the thread with this index runs.
    pub fn note(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Making {
            made: Made::Thread,
            number,
            ..
        } = event.kind
        {
            let making = (strand.process(), number);
            self.by_making.insert(making, (strand, thread));
        }
    }

    /// Adds those of another part of the trace.
    pub fn append(&mut self, other: Makers) {
        self.by_making.extend(other.by_making);
    }

    /// The strand that created the thread with this index in its process.
    pub fn of(&self, trace: &Trace, process: usize, thread: usize) -> Option<StrandId> {
        let making = trace.processes()[process].threads()[thread].made_by()?;
        let &(maker, ran_by) = self.by_making.get(&(process, making))?;
        // Threads are in order of birth: so none is made by itself or a later one, whatever a
        // damaged trace says.
        let threads = trace.processes()[process].threads().len() as u64;
        let later = (thread as u64 + 1)..=threads;
        (ran_by < thread && !later.contains(&maker.number())).then_some(maker)
    }
}

impl Filterable for All {
    fn other_left_out(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        self.makers.note(strand, thread, event);
    }

    fn had_no_calls(&mut self, strand: &Strand) {
        let ran_by = strand.resumer.filter(|_| strand.kind == Kind::Coroutine);
        let above = strand.parent.or(ran_by);
        self.left_out.push((strand.id, above));
    }
}

/// The strands of which it is said where each was left last: for a coroutine, debug information is
/// read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    All,
    /// Those that have not ended.
    Living,
}

/// Reads the whole trace.
///
/// # Errors
/// What reading it gives.
pub fn read(trace: &Trace, names: &mut Names<'_>) -> Result<Strands, Error> {
    unfiltered(trace, names, Left::All)
}

fn unfiltered(trace: &Trace, names: &mut Names<'_>, left: Left) -> Result<Strands, Error> {
    let analysis = Analysis::new(trace, names.images());
    let decoded = analysis.decode(|_| All::default())?;
    Ok(listed(trace, names, decoded, None, left))
}

/// All strands of these parts. Debug information is not asked where one was left that has ended.
pub fn of_parts(trace: &Trace, names: &mut Names<'_>, parts: Vec<(usize, All)>) -> Strands {
    let decoded = Decoded {
        sinks: parts,
        unresolved: Vec::new(),
        loose: heddle_calls::Loose::default(),
        remarks: heddle_trace_file::Remarks::default(),
    };
    listed(trace, names, decoded, None, Left::Living)
}

/// Reads the whole trace; of it, those strands have calls that the filter keeps. Who was made by
/// another strand seems to be made by that one's nearest maker that is kept. Debug information is
/// not asked where one was left that has ended.
///
/// # Errors
/// What reading it gives, and options that do not fit it.
pub fn read_filtered(
    trace: &Trace,
    names: &mut Names<'_>,
    filter: &FilterArgs,
) -> anyhow::Result<Strands> {
    let Some(mut filter) = Filter::new(filter, trace, names)? else {
        return Ok(unfiltered(trace, names, Left::Living)?);
    };
    let analysis = Analysis::new(trace, names.images());
    if filter.must_learn() {
        let learned = analysis.decode(|process| filter.learning(process))?;
        let learned = learned.sinks.into_iter().collect();
        filter.learn(learned);
    }
    let decoded = analysis.decode(|process| filter.over(process, All::default()))?;
    let (decoded, left_out) = unwrap(decoded);
    Ok(listed(trace, names, decoded, Some(left_out), Left::Living))
}

fn listed(
    trace: &Trace,
    names: &mut Names<'_>,
    decoded: Decoded<All>,
    left_out: Option<LeftOut>,
    left: Left,
) -> Strands {
    let mut all = StrandList::default();
    let mut makers = Makers::default();
    let mut gone = HashMap::new();
    for (_, part) in decoded.sinks {
        makers.append(part.makers);
        gone.extend(part.left_out);
        all.append(part.strands);
    }
    all.sort();
    let mut thread_makers = FxHashMap::default();
    for (process, recorded) in trace.processes().iter().enumerate() {
        for thread in 0..recorded.threads().len() {
            let maker = makers.of(trace, process, thread);
            if let Some(maker) = maker.filter(|&maker| is_before(&all, maker, (recorded, thread))) {
                thread_makers.insert(StrandId::of_thread(process, thread), maker);
            }
        }
    }
    // A fiber's entry changes only where a filter left something out.
    let changing = |kind: Kind| kind != Kind::Fiber || !gone.is_empty();
    all.change_each(changing, |strand| {
        let mut changes = false;
        if strand.kind == Kind::Thread {
            strand.parent = thread_makers.get(&strand.id).copied();
            changes = true;
        }
        while let Some(&maker) = strand.parent.and_then(|parent| gone.get(&parent)) {
            strand.parent = maker;
            changes = true;
        }
        if left == Left::Living && strand.died().is_some() {
            return changes;
        }
        let known = strand.suspended_at().map(|(address, _)| address);
        if let Some(address) = names.left_at(strand).filter(|&address| address != known) {
            strand.set_suspended_at(address);
            changes = true;
        }
        changes
    });
    Strands {
        all,
        unresolved: decoded.unresolved,
        loose: decoded.loose,
        remarks: decoded.remarks,
        left_out,
    }
}

/// Whether the thread with this index, the nearest one above the strand or itself, was there before
/// another: only then can the strand have made that.
fn is_before(all: &StrandList, strand: StrandId, (process, thread): (&Process, usize)) -> bool {
    let threads = process.threads().len() as u64;
    let mut above = Some(strand);
    while let Some(id) = above.filter(|id| id.number() > threads) {
        let maker = all.find(id).and_then(|index| all.get(index).parent);
        // What is no thread is made by an earlier strand.
        above = maker.filter(|&maker| maker < id);
    }
    above.is_none_or(|id| id.number() <= thread as u64)
}

/// Whether nobody made this strand: it is the thread that its process began with.
pub fn is_first(trace: &Trace, strand: &Strand) -> bool {
    let process = &trace.processes()[strand.id.process()];
    strand.kind == Kind::Thread && process.threads()[strand.thread()].tid() == process.pid()
}

/// Strands of one kind and name that strands of one node made.
pub struct Node {
    pub kind: Kind,
    pub name: Rc<str>,
    /// The first of them.
    pub first: StrandId,
    pub count: u64,
    /// The number of strands whose end was seen.
    pub died: u64,
    pub activations: u64,
    pub running: Nanos,
    pub nested: Nanos,
    pub suspended: Nanos,
    pub calls: u64,
    /// Where most of those are that have not ended: address and time, by number.
    pub suspended_at: FxHashMap<(usize, u64), (u64, Nanos)>,
    pub children: Vec<Node>,
    /// The number of strands below it that are no children, nor below such: the tree ends here.
    pub deeper: u64,
    /// Indices of all of them in the list.
    pub members: Vec<u32>,
}

/// The asynchronous call tree: each strand below its maker, siblings of one kind and name merged.
/// `strands` are in order of their numbers. O(strands × log strands).
pub fn tree(strands: &StrandList, names: &mut Names<'_>) -> Vec<Node> {
    let mut family = Family::new(strands, names);
    let roots = family.first_of(strands.len() as u32);
    family.merge(roots.into_iter().collect(), 0)
}

/// Merged level by level: a chain of strands may be as long as there are strands, and its depth is
/// that of the recursion.
const DEEPEST: usize = 2000;

/// The strands by their makers.
struct Family<'a, 'b> {
    strands: &'a StrandList,
    /// By index of a strand, the first that it made; last of all, the first of those whose maker is
    /// not among the strands. [`Family::NONE`], if there is none.
    first: Vec<u32>,
    /// By index of a strand, the next one that its maker made.
    next: Vec<u32>,
    names: &'a mut Names<'b>,
}

impl<'a, 'b> Family<'a, 'b> {
    fn new(strands: &'a StrandList, names: &'a mut Names<'b>) -> Self {
        let none = strands.len();
        let mut latest = (None, none);
        let mut find = |id: Option<StrandId>| {
            // Neighbours mostly have the same maker.
            if latest.0 != id {
                let found = id.and_then(|id| strands.find(id));
                latest = (id, found.unwrap_or(none));
            }
            latest.1
        };
        let mut made_by: Vec<u32> = Vec::with_capacity(none);
        for strand in strands.iter() {
            // One whose maker is unknown: a coroutine stands below the strand that ran it first, a
            // fiber below its thread. What that ran right before may be any other fiber, and fibers
            // that a scheduler runs one after another would stand each below the last.
            let ran_by = || match strand.kind {
                Kind::Thread => None,
                Kind::Fiber => Some(StrandId::of_thread(strand.id.process(), strand.thread())),
                Kind::Coroutine => strand.resumer,
            };
            made_by.push(find(strand.maker().or_else(ran_by)) as u32);
        }
        cut_circles(&mut made_by);
        let mut first = vec![Self::NONE; none + 1];
        // The place of a strand's maker is that of its next sibling from here on.
        for (index, place) in made_by.iter_mut().enumerate().rev() {
            let maker = *place as usize;
            *place = std::mem::replace(&mut first[maker], index as u32);
        }
        Family {
            strands,
            first,
            next: made_by,
            names,
        }
    }

    /// Stands for no strand.
    const NONE: u32 = u32::MAX;

    /// The first that the strand with this index made; for the number of all strands, of those
    /// whose maker is not among them.
    fn first_of(&self, maker: u32) -> Option<u32> {
        let first = self.first[maker as usize];
        (first != Self::NONE).then_some(first)
    }

    /// The nodes of these strands and of those that the makers of these made after them.
    fn merge(&mut self, firsts: Vec<u32>, depth: usize) -> Vec<Node> {
        let mut nodes: Vec<Node> = Vec::new();
        let mut below: Vec<Vec<u32>> = Vec::new();
        let mut at: HashMap<(usize, Kind, Rc<str>), usize> = HashMap::new();
        let mut latest = 0;
        let mut firsts = firsts.into_iter();
        let mut next = Self::NONE;
        while let Some(index) = Some(next)
            .filter(|&next| next != Self::NONE)
            .or_else(|| firsts.next())
        {
            next = self.next[index as usize];
            let strand = self.strands.get(index as usize);
            let (process, kind) = (strand.id.process(), strand.kind);
            let name = self.names.strand(&strand);
            let same = |node: &Node| {
                (node.first.process(), node.kind) == (process, kind) && node.name == name
            };
            if !nodes.get(latest).is_some_and(same) {
                latest = *at.entry((process, kind, name.clone())).or_insert_with(|| {
                    nodes.push(Node {
                        kind,
                        name,
                        first: strand.id,
                        count: 0,
                        died: 0,
                        activations: 0,
                        running: Nanos(0),
                        nested: Nanos(0),
                        suspended: Nanos(0),
                        calls: 0,
                        suspended_at: FxHashMap::default(),
                        children: Vec::new(),
                        deeper: 0,
                        members: Vec::new(),
                    });
                    below.push(Vec::new());
                    nodes.len() - 1
                });
            }
            nodes[latest].add(&strand);
            nodes[latest].members.push(index);
            // Most have made none.
            below[latest].extend(self.first_of(index));
        }
        for (node, below) in nodes.iter_mut().zip(below) {
            if depth < DEEPEST {
                node.children = self.merge(below, depth + 1);
            } else {
                node.deeper = self.count(below);
            }
        }
        nodes
    }

    /// The number of these strands, of those that the makers of these made after them, and of all
    /// below.
    fn count(&self, firsts: Vec<u32>) -> u64 {
        let (mut left, mut count) = (firsts, 0);
        while let Some(index) = left.pop() {
            count += 1;
            let next = Some(self.next[index as usize]).filter(|&next| next != Self::NONE);
            left.extend(next.into_iter().chain(self.first_of(index)));
        }
        count
    }
}

/// Has a strand that stands below itself stand below none: every strand is in the tree, whatever a
/// damaged trace says. `above`: by index, the strand above; for the number of all, none.
fn cut_circles(above: &mut [u32]) {
    let none = above.len();
    // By strand, the first of the ways up that came by.
    let mut ways = vec![Family::NONE; none];
    for start in 0..none {
        let mut at = start;
        while at < none && ways[at] == Family::NONE {
            ways[at] = start as u32;
            at = above[at] as usize;
        }
        if at < none && ways[at] == start as u32 {
            above[at] = none as u32;
        }
    }
}

impl Node {
    /// The number of strands below it.
    pub fn below(&self) -> u64 {
        let below = self
            .children
            .iter()
            .map(|child| child.count + child.below());
        self.deeper + below.sum::<u64>()
    }

    fn add(&mut self, strand: &Strand) {
        let sum = |sum: &mut Nanos, more: Nanos| sum.0 = sum.0.saturating_add(more.0);
        self.count += 1;
        self.died += u64::from(strand.died().is_some());
        self.activations += strand.activations;
        self.calls += strand.calls;
        sum(&mut self.running, strand.running);
        sum(&mut self.nested, strand.children);
        sum(&mut self.suspended, strand.suspended);
        if strand.died().is_none()
            && strand.kind != Kind::Thread
            && let Some((address, time)) = strand.suspended_at()
        {
            let key = (strand.id.process(), address.0);
            let (count, latest) = self.suspended_at.entry(key).or_insert((0, time));
            *count += 1;
            *latest = time;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::cut_circles;

    #[test]
    fn who_stands_below_itself_stands_below_none_with_all_that_are_below() {
        const NONE: u32 = 6;
        // Two by each other, with one below; one by itself; one below none, with one below.
        let mut above = [1, 0, 1, 3, NONE, 4];
        cut_circles(&mut above);
        assert_eq!(above, [NONE, 0, 1, NONE, NONE, 4]);
    }
}
