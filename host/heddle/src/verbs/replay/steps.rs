//! What each event of a trace is to its strand: a call's beginning or end, or something else.

use super::line::{Line, OpenCall};
use crate::aside::{Activation, Aside};
use crate::filter::{Filter, Filterable, LeftOut, unwrap};
use crate::names::{NOT_KNOWN, Names, thread_label};
use crate::sched::{Between, Stretches};
use crate::strand_list::label;
use crate::strand_name::StrandName;
use crate::values::{Recorded, Waiting};
use heddle_calls::{End, Loose};
use heddle_strands::{Analysis, Call, Kind, Sink, Strand, StrandId, StrandSpan, Unresolved};
use heddle_trace_file::{Callee, Event, EventKind, Nanos, OffCpu, Place, Remarks, Shapes, Trace};
use rustc_hash::FxHashMap;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What the last event became.
#[derive(Clone, Debug)]
enum Became {
    Nothing,
    Enter(Call, Option<Recorded>),
    Exit(StrandSpan, Option<Recorded>),
    Unmatched(StrandId, Callee, Nanos),
    Other(StrandId),
    /// It is this strand's, and a filter left it out.
    LeftOut(StrandId),
}

/// How many calls of an activation are open.
#[derive(Clone, Copy, Default)]
struct Depth(usize);

impl Activation for Depth {
    fn runs(&self) -> bool {
        self.0 > 0
    }
}

/// Remembers what the last event became, and who is alive.
struct Latest {
    became: Became,
    /// Calls that the last event shows to be gone without an exit, innermost first.
    unwound: Vec<StrandSpan>,
    values: Waiting,
    /// How deep each strand's latest activation is, with its thread, and others are.
    depths: HashMap<StrandId, (u32, Depth)>,
    deep_aside: Aside<Depth, StrandId>,
    /// The open calls of each strand, outermost first, if they are wanted.
    open: Option<HashMap<StrandId, Vec<OpenCall>>>,
    /// The threads of the activations that these are of, and those of other activations.
    on: HashMap<StrandId, u32>,
    aside: Aside<Vec<OpenCall>, StrandId>,
    /// Those that live.
    strands: HashMap<StrandId, Strand>,
    /// Those whose label is another now, or is not needed any more.
    changed: Vec<StrandId>,
    /// Those that have ended since the last event.
    ended: Vec<StrandId>,
}

impl Latest {
    /// No event yet; `wants_open`: the open calls are wanted.
    fn new(wants_open: bool) -> Self {
        Latest {
            became: Became::Nothing,
            unwound: Vec::new(),
            values: Waiting::default(),
            depths: HashMap::new(),
            deep_aside: Aside::default(),
            open: wants_open.then(HashMap::new),
            on: HashMap::new(),
            aside: Aside::default(),
            strands: HashMap::new(),
            changed: Vec::new(),
            ended: Vec::new(),
        }
    }

    fn opened(&mut self, call: &Call) {
        *self.depth_on(call.strand, call.thread, call.depth == 0) = Depth(call.depth + 1);
        if let Some(open) = self.open_on(call.strand, call.thread, call.depth == 0) {
            open.push(call.into());
        }
    }

    /// How deep the strand's activation on this thread is, which `begins` or is open.
    fn depth_on(&mut self, strand: StrandId, thread: usize, begins: bool) -> &mut Depth {
        let (on, depth) = self.depths.entry(strand).or_default();
        let now = (on, &mut *depth);
        self.deep_aside.turn_to(strand, now, thread, begins);
        depth
    }

    /// The open calls of the strand's activation on this thread, which `begins` or is open.
    fn open_on(
        &mut self,
        strand: StrandId,
        thread: usize,
        begins: bool,
    ) -> Option<&mut Vec<OpenCall>> {
        let open = self.open.as_mut()?.entry(strand).or_default();
        let on = self.on.entry(strand).or_default();
        self.aside.turn_to(strand, (on, &mut *open), thread, begins);
        Some(open)
    }
}

impl Latest {
    /// Labels that are others now, and strands that have ended.
    fn forget(&mut self, labels: &mut Labels<'_>) {
        for id in self.changed.drain(..) {
            labels.known.remove(&id);
        }
        for id in self.ended.drain(..) {
            labels.known.remove(&id);
            self.strands.remove(&id);
        }
    }
}

impl Sink for Latest {
    fn born(&mut self, strand: &Strand) {
        self.strands.insert(strand.id, strand.clone());
    }

    fn named(&mut self, strand: &Strand) {
        self.strands.insert(strand.id, strand.clone());
        self.changed.push(strand.id);
    }

    fn enter(&mut self, call: &Call) {
        let values = self.values.of_enter(call);
        self.became = Became::Enter(*call, values);
        self.opened(call);
    }

    fn leave(&mut self, span: &StrandSpan) {
        *self.depth_on(span.strand, span.thread, false) = Depth(span.span.depth);
        let values = self.values.of_leave(span);
        match span.span.end {
            End::Returned => self.became = Became::Exit(*span, values),
            End::Unwound => self.unwound.push(*span),
            End::Open => {}
        }
        if let Some(open) = self.open_on(span.strand, span.thread, false) {
            open.pop();
        }
    }

    fn unmatched(&mut self, strand: StrandId, thread: usize, function: Callee, time: Nanos) {
        self.values.clear(thread);
        self.became = Became::Unmatched(strand, function, time);
    }

    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        if let EventKind::Values(values) = event.kind {
            return self.values.take(thread, values);
        }
        self.became = Became::Other(strand);
    }

    fn ended(&mut self, strand: &Strand) {
        self.depths.remove(&strand.id);
        self.deep_aside.forget(strand.id);
        if let Some(open) = &mut self.open {
            open.remove(&strand.id);
            self.on.remove(&strand.id);
            self.aside.forget(strand.id);
        }
        self.ended.push(strand.id);
    }
}

/// A line is printed for an event alone: not for the beginning of a time range.
impl Filterable for Latest {
    fn was_open(&mut self, call: &Call) {
        self.opened(call);
    }

    fn left_late(&mut self, span: &StrandSpan) {
        self.leave(span);
    }

    fn left_out(&mut self, strand: StrandId) {
        self.became = Became::LeftOut(strand);
    }
}

/// Finds the strands that bear no name. A strand may be doubted long after its first line.
#[derive(Default)]
struct Nameless(Vec<StrandId>);

impl Sink for Nameless {
    const LIVES: bool = false;

    fn ended(&mut self, strand: &Strand) {
        if !strand.is_one() {
            self.0.push(strand.id);
        }
    }
}

/// What else is to be said.
pub struct Told {
    pub loose: Loose,
    pub remarks: Remarks,
    pub unresolved: Vec<Unresolved>,
    /// The number of calls that a filter left out, if there is one.
    pub left_out: Option<LeftOut>,
    /// The number of events that were shown.
    pub shown: u64,
}

/// One event of a strand.
pub enum Step<'a> {
    /// A call's line. Of an enter, the calls that are open then, outermost first, if they are
    /// wanted.
    Line(Line, &'a [OpenCall]),
    /// The line of a call that is gone, without an event of its own.
    Gone(Line),
    /// Another event, and the depth at which it was.
    Other(&'a Event<'a>, usize),
    /// Before the event that comes next, the thread was off its processor; with that event's time
    /// and depth.
    Off(OffCpu, Nanos, usize),
}

/// What each line says of whose event it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum By {
    Thread,
    Strand,
}

/// Which events are replayed, and how.
pub struct Replay<'a> {
    pub trace: &'a Trace,
    pub by: By,
    /// The open calls are wanted.
    pub wants_open: bool,
    /// Only the events of this strand.
    pub only: Option<StrandName>,
    pub filter: Option<Filter<'a>>,
    /// When threads were off their processors, if that is known.
    pub off: Option<Arc<Stretches>>,
}

impl Replay<'_> {
    /// Gives `each` every event that the filter keeps, in order of time, with its place and the
    /// label of its thread or strand.
    ///
    /// # Errors
    /// What reading the trace gives, and what `each` gives.
    pub fn run(
        &mut self,
        names: &mut Names<'_>,
        each: impl FnMut(&mut Names<'_>, Place, &str, Step<'_>) -> anyhow::Result<()>,
    ) -> anyhow::Result<Told> {
        let analysis = match self.by {
            By::Thread => Analysis::by_thread(self.trace, names.images()),
            By::Strand => Analysis::new(self.trace, names.images()),
        };
        let nameless = match self.by {
            By::Thread => HashSet::new(),
            By::Strand => {
                let found = analysis.decode(|_| Nameless::default())?;
                let found = found.sinks.into_iter();
                found.flat_map(|(_, Nameless(all))| all).collect()
            }
        };
        let mut lines = Lines {
            names,
            labels: Labels::new(self.trace, self.by, nameless),
            only: self.only,
            shown: 0,
            shapes: self.trace.shapes(),
            off: self.off.as_ref().map_or_else(Vec::new, |all| {
                let processes = 0..self.trace.processes().len();
                processes.map(|index| Between::new(all, index)).collect()
            }),
            held: FxHashMap::default(),
            each,
            failed: None,
        };
        let latest = || Latest::new(self.wants_open);
        let (decoded, left_out) = match &mut self.filter {
            None => {
                let take = |place, event: &Event<'_>, latest: &mut Latest| {
                    lines.take(place, event, latest, true)
                };
                (analysis.stream(|_| latest(), take)?, None)
            }
            Some(filter) => {
                if filter.must_learn() {
                    let learning = |process| filter.learning(process);
                    let learned = analysis.stream(learning, |_, _, _| true)?;
                    let learned = learned.sinks.into_iter().collect();
                    filter.learn(learned);
                }
                let filter = &*filter;
                let filtered = |process| filter.over(process, latest());
                let decoded = analysis.stream(filtered, |place, event, filtered| {
                    let asked = filter.asks_for(place, event.time);
                    lines.take(place, event, filtered.inner(), asked)
                })?;
                let (decoded, left_out) = unwrap(decoded);
                (decoded, Some(left_out))
            }
        };
        let shown = lines.shown;
        lines.failed.map_or(Ok(()), Err)?;
        Ok(Told {
            loose: decoded.loose,
            remarks: decoded.remarks,
            unresolved: decoded.unresolved,
            left_out,
            shown,
        })
    }
}

/// Makes steps of what events became.
struct Lines<'a, 'b, 'n, F> {
    names: &'a mut Names<'n>,
    labels: Labels<'b>,
    only: Option<StrandName>,
    /// Events that were shown.
    shown: u64,
    shapes: &'b Shapes,
    /// By process; none if it is not known.
    off: Vec<Between>,
    /// When a thread was off its processor before events that are not shown, by process and
    /// thread: told before its next event that is.
    held: FxHashMap<(usize, usize), Vec<OffCpu>>,
    each: F,
    failed: Option<anyhow::Error>,
}

impl<F> Lines<'_, '_, '_, F>
where
    F: FnMut(&mut Names<'_>, Place, &str, Step<'_>) -> anyhow::Result<()>,
{
    /// Takes an event, of which the sink was told before; whether to go on. `asked`: its thread and
    /// time are among those that are asked for.
    fn take(&mut self, place: Place, event: &Event<'_>, latest: &mut Latest, asked: bool) -> bool {
        let trace = self.labels.trace;
        let another = |id| self.only.is_some_and(|only| !only.means(trace, id));
        let mut off = Vec::new();
        if let Some(between) = self.off.get_mut(place.process) {
            off = self
                .held
                .remove(&(place.process, place.thread))
                .unwrap_or_default();
            off.extend(std::iter::from_fn(|| {
                between.next(place.thread, event.time)
            }));
        }
        let names = &mut *self.names;
        for span in latest.unwound.drain(..) {
            if another(span.strand) {
                continue;
            }
            let label = self
                .labels
                .of(names, span.strand, latest.strands.get(&span.strand));
            let step = Step::Gone(Line::exit(names, place, &span));
            self.failed = (self.each)(names, place, label, step).err();
            if self.failed.is_some() {
                return false;
            }
        }
        let step = match std::mem::replace(&mut latest.became, Became::Nothing) {
            Became::Nothing => None,
            Became::LeftOut(id) if another(id) => return true,
            Became::LeftOut(_) => None,
            Became::Enter(call, values) => {
                let open = latest.open.as_ref().and_then(|open| open.get(&call.strand));
                let open = open.map_or(&[][..], Vec::as_slice);
                let line = Line::enter(names, place, &call);
                let line = line.with(names, place, values, self.shapes);
                Some((call.strand, Step::Line(line, open)))
            }
            Became::Exit(span, values) => {
                let line = Line::exit(names, place, &span);
                let line = line.with(names, place, values, self.shapes);
                Some((span.strand, Step::Line(line, &[])))
            }
            Became::Unmatched(id, function, time) => {
                let Depth(depth) = *latest.depth_on(id, place.thread, false);
                let line = Line::unmatched(names, place, time, function, depth);
                Some((id, Step::Line(line, &[])))
            }
            Became::Other(id) => {
                let Depth(depth) = *latest.depth_on(id, place.thread, false);
                Some((id, Step::Other(event, depth)))
            }
        };
        let Some((id, step)) = step else {
            if asked && !off.is_empty() {
                self.held.insert((place.process, place.thread), off);
            }
            return true;
        };
        if another(id) {
            latest.forget(&mut self.labels);
            return true;
        }
        self.shown += 1;
        let label = self.labels.of(names, id, latest.strands.get(&id));
        let depth = match &step {
            Step::Line(line, _) | Step::Gone(line) => line.depth,
            Step::Other(_, depth) | Step::Off(.., depth) => *depth,
        };
        let mut give = |step| (self.each)(names, place, label, step);
        let mut off = off.into_iter();
        let given = off.try_for_each(|off| give(Step::Off(off, event.time, depth)));
        self.failed = given.and_then(|()| give(step)).err();
        latest.forget(&mut self.labels);
        self.failed.is_none()
    }
}

struct Labels<'a> {
    trace: &'a Trace,
    by: By,
    width: usize,
    /// The strands that are not sure: each may be several, so only the program can name it.
    nameless: HashSet<StrandId>,
    known: HashMap<StrandId, String>,
}

impl<'a> Labels<'a> {
    fn new(trace: &'a Trace, by: By, nameless: HashSet<StrandId>) -> Self {
        const WIDTH: usize = 20;
        let threads = trace.processes().iter().flat_map(|process| {
            let threads = process.threads().iter();
            threads.map(|thread| thread_label(trace, process, thread))
        });
        let longest = || threads.map(|label| label.chars().count()).max();
        Labels {
            trace,
            by,
            width: match by {
                By::Thread => longest().unwrap_or(0),
                By::Strand => WIDTH,
            },
            nameless,
            known: HashMap::new(),
        }
    }

    /// `3 body(int)`: number and name; by thread `body 4711`.
    fn of(&mut self, names: &mut Names<'_>, id: StrandId, strand: Option<&Strand>) -> &str {
        let (trace, by, width) = (self.trace, self.by, self.width);
        self.known.entry(id).or_insert_with(|| {
            let name = match strand {
                Some(strand) if by == By::Thread => {
                    let process = &trace.processes()[id.process()];
                    let thread = &process.threads()[strand.thread()];
                    let label = thread_label(trace, process, thread);
                    return format!("{label:width$}");
                }
                Some(strand) if strand.kind == Kind::Thread && strand.name().is_none() => {
                    "?".into()
                }
                Some(strand) if strand.name().is_none() && self.nameless.contains(&id) => {
                    NOT_KNOWN.into()
                }
                Some(strand) => names.strand(strand),
                None => "?".into(),
            };
            let text = format!("{} {name}", label(trace, id));
            format!("{text:width$}")
        })
    }
}
