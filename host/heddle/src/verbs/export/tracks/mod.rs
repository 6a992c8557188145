//! What happens on the tracks of strands, for the formats that show it: a track a strand, its calls
//! as slices, flows from one to another.
//!
//! The decoder takes a trace in parts, several at once. What a part's functions and strands are
//! called is known last: so events are put aside ([`Spill`]), as Perfetto's packets, and a format
//! takes them part by part when names are known. The result is the same whatever the number of
//! workers.

mod ended;
pub mod numbers;
mod row;
mod rows;

use super::selection::{self, Selection};
use super::spill::{Spill, Stream};
use super::written::Written;
use crate::filter::{Filter, Shown};
use crate::names::Names;
use crate::sched;
use crate::strand_list::Makers;
use crate::waits::{Labels, process_ends};
pub use ended::Ended;
use heddle_calls::Key;
use heddle_perfetto::{Clock, Sequence};
use heddle_strands::{Analysis, Decoded, Kind, StrandId};
use heddle_symbols::Location;
use heddle_trace_file::{Process, Trace};
pub use rows::DEEPEST;
use rows::{Rows, Whole};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Everything that happens on the tracks of a trace.
pub struct Tracks<'a> {
    pub clock: Clock,
    /// By process: the kinds of its strands.
    pub kinds: Vec<HashSet<Kind>>,
    /// Strands that have ended, by process in parts.
    ended: Vec<(usize, Stream<'a>)>,
    makers: Makers,
    parts: Vec<Part<'a>>,
}

/// What happens on the tracks of a part of a process, in order of time.
pub struct Part<'a> {
    /// Index of the process.
    pub process: usize,
    keys: Vec<Key>,
    /// Where the events begin, for their reader.
    pub sequence: Sequence,
    pub events: Stream<'a>,
}

/// Which part of a trace is exported, and how.
pub struct Wanted<'a> {
    pub selection: Selection,
    pub filter: Option<Filter<'a>>,
    /// Calls within so many others on a track are left out.
    pub deepest: u64,
}

/// Has `write` make a file of the tracks of the strands that are wanted, with their calls. The
/// decoder's result is returned without its sinks.
pub fn with(
    trace: &Trace,
    names: &mut Names<'_>,
    wanted: Wanted<'_>,
    spill: &Spill,
    write: impl FnOnce(&mut Names<'_>, Tracks<'_>) -> anyhow::Result<()>,
) -> anyhow::Result<(Written, Decoded<()>)> {
    let Wanted {
        mut selection,
        mut filter,
        deepest,
    } = wanted;
    let analysis = Analysis::new(trace, names.images());
    selection = selection.with_calls(&analysis, filter.as_mut())?;
    let shown = |process| match &filter {
        Some(filter) => filter.shown(process),
        None => Shown::ALL,
    };
    let shown: Vec<Shown> = (0..trace.processes().len()).map(shown).collect();
    let ends = process_ends(trace).into_iter().zip(&shown);
    let ends = ends.map(|(end, shown)| end.filter(|&end| end < shown.range.end));
    let whole = Whole {
        spill,
        clock: clock(trace),
        labels: Labels::of_all(trace, names)?,
        created: created(trace, &selection),
        selection,
        sequences: sequences(trace),
        shapes: trace.shapes(),
        off: sched::stretches(trace)?,
        ends: ends.collect(),
        shown,
        deepest,
    };
    let processes = trace.processes();
    let rows = |index: usize| Rows::new(&whole, &processes[index], index);
    let (decoded, left_out) = selection::decode(&analysis, filter.as_ref(), rows)?;
    let mut written = Written {
        left_out,
        ..Written::default()
    };
    let mut tracks = Tracks {
        clock: whole.clock,
        kinds: vec![HashSet::new(); processes.len()],
        ended: Vec::new(),
        makers: Makers::default(),
        parts: Vec::new(),
    };
    for (process, rows) in decoded.sinks {
        written.calls += rows.calls;
        written.deep += rows.deep;
        written.strands += rows.strands;
        tracks.kinds[process].extend(rows.kinds);
        tracks.makers.append(rows.makers);
        tracks.ended.push((process, rows.ended));
        tracks.parts.push(Part {
            process,
            keys: rows.keys,
            sequence: rows.pen.sequence.from_start(),
            events: rows.pen.events,
        });
    }
    write(names, tracks)?;
    let decoded = Decoded {
        sinks: Vec::new(),
        unresolved: decoded.unresolved,
        loose: decoded.loose,
        remarks: decoded.remarks,
    };
    Ok((written, decoded))
}

impl<'a> Tracks<'a> {
    /// Gives each strand, with the index of its process, to `take`; then gives the parts.
    pub fn strands(
        self,
        trace: &Trace,
        mut take: impl FnMut(usize, &Ended) -> anyhow::Result<()>,
    ) -> anyhow::Result<Vec<Part<'a>>> {
        for (index, ended) in self.ended {
            ended.read(|mut records| {
                while let Some(mut strand) = Ended::read(&mut records) {
                    if strand.kind == Kind::Thread {
                        let maker = self.makers.of(trace, index, strand.thread);
                        strand.parent = maker.map(StrandId::number);
                    }
                    take(index, &strand)?;
                }
                Ok(())
            })?;
        }
        Ok(self.parts)
    }
}

impl Part<'_> {
    /// The part's functions, in the order of their numbers ([`numbers::function`]).
    pub fn functions<'n>(
        &'n self,
        trace: &'n Trace,
        names: &'n mut Names<'_>,
    ) -> impl Iterator<Item = Rc<Location>> + 'n {
        let modules = trace.processes()[self.process].modules();
        self.keys.iter().map(move |key| {
            let time = modules.time_of(key.address, key.generation);
            names.function(self.process, key.address, time)
        })
    }
}

/// The trace's times count from the first stamp of its first process.
fn clock(trace: &Trace) -> Clock {
    let first = trace.processes().first().map(Process::first_stamp);
    Clock {
        realtime: trace.epoch().0,
        monotonic_raw: first.map_or(0, |stamp| stamp.monotonic_raw.0),
    }
}

/// By process: its sequences, of which there are at most as many as it has threads, are numbered
/// from here, behind that of the tracks and those of the processes before.
fn sequences(trace: &Trace) -> Vec<u32> {
    let threads = trace
        .processes()
        .iter()
        .map(|process| process.threads().len() as u32);
    threads
        .scan(1u32, |before, threads| {
            let first = *before;
            *before = before.saturating_add(threads);
            Some(first)
        })
        .collect()
}

/// By process, the threads to which a flow leads from their creators: none where the export may
/// lack a creator.
fn created(trace: &Trace, selection: &Selection) -> Vec<HashMap<u32, usize>> {
    let whole = |process: &&Process| {
        let lacks = process.missing_runs() > 0 || process.damages().places > 0;
        selection.has_all() && process.flight().is_none() && !lacks
    };
    let threads = |process: &Process| {
        let threads = process.threads().iter().enumerate();
        threads
            .filter_map(|(index, thread)| Some((thread.made_by()?, index)))
            .collect()
    };
    let processes = trace.processes().iter();
    processes
        .map(|process| Some(process).filter(whole).map(threads).unwrap_or_default())
        .collect()
}
