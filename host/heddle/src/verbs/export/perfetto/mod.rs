//! Perfetto's protocol buffers, for <https://ui.perfetto.dev>: docs/export.md.
//!
//! The decoder takes a trace in parts, several at once, and each part's packets are a sequence of
//! their own. What it is called is known last: so events are put aside ([`Spill`]), and the file is
//! written part by part behind them, names and tracks first. It is the same file whatever the
//! number of workers.

mod ended;
mod numbers;
mod row;
mod rows;

use super::selection::Selection;
use super::spill::Spill;
use crate::filter::{Filter, LeftOut, unwrap};
use crate::names::{Names, printable, process_name};
use crate::sched;
use crate::strand_list::Makers;
use crate::waits::Labels;
use ended::Ended;
use heddle_perfetto::{Clock, Interned, Track, group};
use heddle_strands::{Analysis, Decoded, Kind, StrandId};
use heddle_trace_file::{Process, Trace};
pub use rows::DEEPEST;
use rows::{Rows, Whole};
use std::collections::{HashMap, HashSet};
use std::io::Write;
use std::rc::Rc;

/// What was written.
#[derive(Clone, Copy, Debug, Default)]
pub struct Written {
    pub strands: u64,
    pub calls: u64,
    /// Calls that were left out: see [`DEEPEST`].
    pub deep: u64,
    /// Calls that a filter left out, if there is one.
    pub left_out: Option<LeftOut>,
}

/// Functions whose names are in one packet.
const TOGETHER: usize = 1000;

/// Writes the strands of `trace` that are selected, with the calls that the filter keeps, to `out`.
/// The decoder's result is returned without its sinks.
pub fn write(
    (trace, mut names): (&Trace, Names<'_>),
    mut selection: Selection,
    mut filter: Option<Filter<'_>>,
    spill: &Spill,
    out: &mut dyn Write,
) -> anyhow::Result<(Written, Decoded<()>)> {
    let analysis = Analysis::new(trace, names.images());
    if let Some(filter) = &mut filter {
        // A strand without calls has no track, and its first call may come late.
        let learned = analysis.decode(|process| filter.learning(process))?;
        let learned = learned.sinks.into_iter().collect();
        filter.learn(learned);
        selection = selection.with_calls(filter.strands());
    }
    let whole = Whole {
        spill,
        clock: clock(trace),
        labels: Labels::of_all(trace, &mut names),
        created: created(trace, &selection),
        selection,
        sequences: sequences(trace),
        shapes: trace.shapes(),
        off: sched::stretches(trace)?,
    };
    let processes = trace.processes();
    let rows = |index: usize| Rows::new(&whole, &processes[index], index);
    let (decoded, left_out) = match &filter {
        None => (analysis.decode(rows)?, None),
        Some(filter) => {
            let decoded = analysis.decode(|index| filter.over(index, rows(index)))?;
            let (decoded, left_out) = unwrap(decoded);
            (decoded, Some(left_out))
        }
    };

    let mut bytes = Vec::new();
    whole.clock.snapshot(&mut bytes);
    for (index, process) in processes.iter().enumerate() {
        let rows = decoded
            .sinks
            .iter()
            .filter(|(process, _)| *process == index);
        let kinds: HashSet<Kind> = rows.flat_map(|(_, rows)| rows.kinds.clone()).collect();
        process_tracks(index, process, &kinds, &mut bytes);
    }
    out.write_all(&bytes)?;
    let repeated = repeated(trace);
    let mut written = Written {
        left_out,
        ..Written::default()
    };
    let mut sinks = decoded.sinks;
    let mut makers = Makers::default();
    for (_, rows) in &mut sinks {
        makers.append(std::mem::take(&mut rows.makers));
    }
    let mut parts = Vec::new();
    for (index, rows) in sinks {
        written.calls += rows.calls;
        written.deep += rows.deep;
        rows.ended.read(|mut records| {
            bytes.clear();
            while let Some(mut strand) = Ended::read(&mut records) {
                if strand.kind == Kind::Thread {
                    let maker = makers.of(trace, index, strand.thread);
                    strand.parent = maker.map(StrandId::number);
                }
                written.strands += 1;
                let process = &processes[index];
                track(&mut names, index, process, &strand, &repeated, &mut bytes);
            }
            Ok(out.write_all(&bytes)?)
        })?;
        parts.push((index, rows.keys, rows.pen));
    }
    for (index, keys, pen) in parts {
        bytes.clear();
        pen.sequence.open(&mut bytes);
        pen.sequence.intern(&mut bytes, numbers::INTERNED);
        let mut first = 0;
        for keys in keys.chunks(TOGETHER) {
            let locations: Vec<Rc<_>> = keys
                .iter()
                .map(|key| {
                    let modules = processes[index].modules();
                    let time = modules.time_of(key.address, key.generation);
                    names.function(index, key.address, time)
                })
                .collect();
            let interned = locations.iter().enumerate().flat_map(|(at, location)| {
                let number = numbers::function(first + at as u32);
                [
                    Interned::Name(number, &location.name),
                    Interned::Location(number, &location.module, &location.symbol),
                ]
            });
            pen.sequence.intern(&mut bytes, interned);
            first += keys.len() as u32;
        }
        out.write_all(&bytes)?;
        pen.events.copy(out)?;
    }
    let decoded = Decoded {
        sinks: Vec::new(),
        unresolved: decoded.unresolved,
        loose: decoded.loose,
        remarks: decoded.remarks,
    };
    Ok((written, decoded))
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

/// Pids and tids of more than one thread: of programs that one process ran one after the other, or
/// of threads that came when others had gone.
fn repeated(trace: &Trace) -> HashSet<(u32, u32)> {
    let mut known = HashSet::new();
    let all = trace.processes().iter().flat_map(|process| {
        let threads = process.threads().iter();
        threads.map(|thread| (process.pid(), thread.tid()))
    });
    all.filter(|&thread| !known.insert(thread)).collect()
}

/// A process's own track, and those that its fibers and coroutines are below, if it has such.
fn process_tracks(index: usize, process: &Process, kinds: &HashSet<Kind>, file: &mut Vec<u8>) {
    let uuid = numbers::process(index);
    let track = Track {
        uuid,
        parent: None,
        name: "",
        description: "",
    };
    let command: Vec<String> = process
        .command()
        .iter()
        .map(|word| printable(word))
        .collect();
    track.of_process(file, process.pid(), &process_name(process), &command);
    let groups = [(Kind::Fiber, "fibers"), (Kind::Coroutine, "coroutines")];
    for (kind, name) in groups.into_iter().filter(|(kind, _)| kinds.contains(kind)) {
        group(file, numbers::group(index, kind), uuid, name);
    }
}

fn track(
    names: &mut Names,
    index: usize,
    process: &Process,
    strand: &Ended,
    repeated: &HashSet<(u32, u32)>,
    file: &mut Vec<u8>,
) {
    let name = names.strand_of(index, strand.name.as_deref(), strand.entry);
    let description = strand.description();
    let track = Track {
        uuid: strand.uuid,
        parent: Some(numbers::group(index, strand.kind)),
        name: "",
        description: &description,
    };
    match process.threads().get(strand.thread) {
        Some(thread) if strand.kind == Kind::Thread => {
            let ids = (process.pid(), thread.tid());
            track.of_thread(file, ids, &name, repeated.contains(&ids));
        }
        _ => {
            let name = format!("{name} {}", strand.number);
            Track {
                name: &name,
                ..track
            }
            .of_its_own(file);
        }
    }
}
