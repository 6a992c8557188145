//! All that the views show of a trace, but for sums by function.

use super::{graph, strands};
use crate::filter::{Filter, FilterArgs};
use crate::names::Names;
use crate::paths::{self, Paths};
use crate::strand_list::{self, All};
use crate::verbs::export::selection::Selection;
use crate::verbs::export::spill::Spill;
use crate::verbs::export::tables::{self, Rows, Take as _, Wanted, Whole};
use crate::verbs::export::tracks::Ended;
use crate::verbs::view::pieces::{self, Apart, Places};
use crate::verbs::view::take::ToPage;
use heddle_strands::{Analysis, Call, Sink, Standing, Strand, StrandId, StrandList, StrandSpan};
use heddle_trace_file::{Callee, Event, Nanos, Trace};
use heddle_tui::{Model, Part};
use heddle_view::{Data, StrandKind};
use std::path::Path;

/// Reads the strands, the graph and the timeline, and gives each to `tell` as soon as it is known.
/// Threads that stand apart are read in pieces, the others together; each event once.
///
/// # Errors
/// What reading the trace gives.
pub fn read(
    trace: &Trace,
    names: &mut Names<'_>,
    standing: &[Standing],
    places: Places,
    model: &mut Model,
    tell: impl Fn(Part),
) -> anyhow::Result<()> {
    let spill = spill(trace.path())?;
    let selection = Selection::new(trace, &[]);
    let whole = tables::whole(trace, names, selection, true, &spill)?;
    let look = |process: usize| Look::new(trace, &whole, process);
    let decoded = Analysis::others(trace, names.images(), standing, look)?;
    let (mut lists, mut graphs, mut rows) = (Vec::new(), Vec::new(), Vec::new());
    for (process, look) in decoded.sinks {
        lists.push((process, look.all));
        graphs.push((process, look.paths));
        rows.push((process, look.rows));
    }
    let mut page = ToPage::new(trace);
    let mut apart = All::default();
    for strand in pieces::strands(standing) {
        let (process, ended) = (strand.id.process(), Ended::new(strand));
        let name = ended.shown(names, process);
        page.strand(process, &ended, &name)?;
        apart.strands.push(strand);
    }
    let (_, parts) = tables::strands(trace, names, rows, &mut page)?;
    let of = Apart {
        standing,
        places,
        whole: &whole,
    };
    let read = page.apart(names, of)?;
    apart.makers = read.makers;
    graphs.extend(read.paths);
    lists.push((0, apart));

    let found = strand_list::of_parts(trace, names, lists).all;
    let mut all = strands::rows(trace, &found, names);
    tell(Part::Strands(all.clone()));
    let calls = graph::rows(&paths::of_parts(trace, names, &graphs, None));
    drop(graphs);
    tell(Part::Graph(calls.clone()));
    model.graph = Some(calls);

    for part in parts {
        page.part(names, part)?;
    }
    let mut data = page.finish();
    makers(&mut data, &found);
    strands::waiting(&mut all, &data);
    tell(Part::Strands(all.clone()));
    model.strands = Some(all);
    tell(Part::Timeline(Box::new(data.clone())));
    model.timeline = Some(data);
    Ok(())
}

/// The same of the calls that a filter keeps, which is asked of each in order of time: a walk over
/// the trace for each view.
///
/// # Errors
/// What reading the trace gives, and options that do not fit it.
pub fn read_filtered(
    trace: &Trace,
    names: &mut Names<'_>,
    filter: &FilterArgs,
    model: &mut Model,
    tell: impl Fn(Part),
) -> anyhow::Result<()> {
    let found = strand_list::read_filtered(trace, names, filter)?;
    let mut all = strands::rows(trace, &found.all, names);
    tell(Part::Strands(all.clone()));
    let found = paths::read(trace, names, filter, None)?;
    let calls = graph::rows(&found.strands);
    tell(Part::Graph(calls.clone()));
    model.graph = Some(calls);
    let filter = Filter::new(filter, trace, names)?;
    let range = filter.as_ref().map(Filter::range);
    let wanted = Wanted {
        selection: Selection::new(trace, &[]),
        filter,
        lives: true,
    };
    let spill = spill(trace.path())?;
    let mut page = ToPage::new(trace);
    if let Some(range) = range {
        page = page.within(range);
    }
    tables::read(trace, names, wanted, &spill, &mut page)?;
    let data = page.finish();
    strands::waiting(&mut all, &data);
    tell(Part::Strands(all.clone()));
    model.strands = Some(all);
    tell(Part::Timeline(Box::new(data.clone())));
    model.timeline = Some(data);
    Ok(())
}

/// Says of threads who created them.
fn makers(data: &mut Data, all: &StrandList) {
    let threads = data.strands.iter_mut().map(|(strand, _)| strand);
    for thread in threads.filter(|strand| strand.kind == StrandKind::Thread) {
        let id = StrandId::of_thread(thread.process, thread.thread);
        let found = all.find(id).map(|index| all.get(index));
        thread.parent = found.and_then(|strand| strand.maker().map(StrandId::number));
    }
}

/// Room for calls until they are summed up: beside the trace, or where temporary files are.
fn spill(trace: &Path) -> anyhow::Result<Spill> {
    let beside = if trace.is_dir() {
        Some(trace)
    } else {
        trace.parent()
    };
    match beside.map(Spill::new) {
        Some(Ok(spill)) => Ok(spill),
        _ => Spill::new(&std::env::temp_dir()),
    }
}

/// What threads that are read together do.
struct Look<'a> {
    all: All,
    paths: Paths<'a>,
    rows: Rows<'a>,
}

impl<'a> Look<'a> {
    fn new(trace: &'a Trace, whole: &'a Whole<'a>, process: usize) -> Self {
        let recorded = &trace.processes()[process];
        Look {
            all: All::default(),
            paths: Paths::new(recorded.modules()),
            rows: Rows::new(whole, recorded, process),
        }
    }
}

impl Sink for Look<'_> {
    fn born(&mut self, strand: &Strand) {
        self.paths.born(strand);
        self.rows.born(strand);
    }

    fn rests(&mut self, id: StrandId, since: Nanos) {
        self.rows.rests(id, since);
    }

    fn named(&mut self, strand: &Strand) {
        self.paths.named(strand);
    }

    fn resumed(&mut self, id: StrandId, by: Option<StrandId>, thread: usize, time: Nanos) {
        self.rows.resumed(id, by, thread, time);
    }

    fn suspended(&mut self, id: StrandId, thread: usize, time: Nanos) {
        self.rows.suspended(id, thread, time);
    }

    #[inline]
    fn enter(&mut self, call: &Call) {
        self.paths.enter(call);
        self.rows.enter(call);
    }

    #[inline]
    fn leave(&mut self, span: &StrandSpan) {
        self.paths.leave(span);
        self.rows.leave(span);
    }

    fn unmatched(&mut self, id: StrandId, thread: usize, function: Callee, time: Nanos) {
        self.rows.unmatched(id, thread, function, time);
    }

    fn other(&mut self, id: StrandId, thread: usize, event: &Event<'_>) {
        self.all.other(id, thread, event);
        self.rows.other(id, thread, event);
    }

    fn ended(&mut self, strand: &Strand) {
        self.all.ended(strand);
        self.paths.ended(strand);
        self.rows.ended(strand);
    }
}

#[cfg(test)]
mod tests;
