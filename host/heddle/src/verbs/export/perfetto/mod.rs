//! Perfetto's protocol buffers, for <https://ui.perfetto.dev>: docs/export.md.
//!
//! Each part of the trace is a sequence of packets of its own, written behind names and tracks.

use super::tracks::{Ended, Tracks, numbers};
use crate::names::{Names, printable, process_name};
use heddle_perfetto::{Interned, Track, group};
use heddle_strands::Kind;
use heddle_symbols::Location;
use heddle_trace_file::{Process, Trace};
use std::collections::HashSet;
use std::io::Write;
use std::rc::Rc;

/// Functions whose names are in one packet.
const TOGETHER: usize = 1000;

/// Writes the tracks to `out`.
pub fn write(
    trace: &Trace,
    names: &mut Names<'_>,
    tracks: Tracks<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let processes = trace.processes();
    let mut bytes = Vec::new();
    tracks.clock.snapshot(&mut bytes);
    for (index, process) in processes.iter().enumerate() {
        process_tracks(index, process, &tracks.kinds[index], &mut bytes);
    }
    out.write_all(&bytes)?;
    let repeated = repeated(trace);
    let parts = tracks.strands(trace, |index, strand| {
        bytes.clear();
        let process = &processes[index];
        track(names, index, process, strand, &repeated, &mut bytes);
        Ok(out.write_all(&bytes)?)
    })?;
    for part in parts {
        bytes.clear();
        let sequence = &part.sequence;
        sequence.open(&mut bytes);
        sequence.intern(&mut bytes, numbers::INTERNED);
        let functions: Vec<Rc<Location>> = part.functions(trace, names).collect();
        let mut first = 0;
        for functions in functions.chunks(TOGETHER) {
            let interned = functions.iter().enumerate().flat_map(|(at, location)| {
                let number = numbers::function(first + at as u32);
                [
                    Interned::Name(number, names.shown(location)),
                    Interned::Location(number, &location.module, &location.symbol),
                ]
            });
            sequence.intern(&mut bytes, interned);
            first += functions.len() as u32;
        }
        out.write_all(&bytes)?;
        part.events.copy(out)?;
    }
    Ok(())
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
    let name = strand.shown(names, index);
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
