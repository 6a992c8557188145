//! Chrome's trace events as JSON, which chrome://tracing, Perfetto, speedscope and others read:
//! docs/export.md.
//!
//! A strand is a thread of the file: the format has no other tracks. Its number stands as `tid`,
//! since fibers and coroutines have none.

use super::json_text::{Line, address, number, string};
use super::tracks::{Ended, Part, Tracks, numbers};
use crate::names::{Names, process_name};
use heddle_perfetto::{Kind, Name, Read};
use heddle_strands::{Kind as StrandKind, StrandId};
use heddle_symbols::Location;
use heddle_trace_file::{Process, Trace};
use rustc_hash::FxHashMap;
use std::collections::HashSet;
use std::io::Write;
use std::rc::Rc;

/// Pids are smaller.
const PIDS: u64 = 1 << 22;

/// Writes the tracks to `out`.
pub fn write(
    trace: &Trace,
    names: &mut Names<'_>,
    tracks: Tracks<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let epoch = trace.epoch().0;
    let pids = pids(trace);
    let mut bytes = Vec::new();
    bytes.extend_from_slice(b"{\"displayTimeUnit\":\"ns\",\"otherData\":{\"heddle\":");
    string(&mut bytes, env!("CARGO_PKG_VERSION"));
    bytes.extend_from_slice(b",\"since_1970_ns\":\"");
    number(&mut bytes, epoch);
    bytes.extend_from_slice(b"\"},\"traceEvents\":[");
    let mut first = true;
    for (process, &pid) in trace.processes().iter().zip(&pids) {
        if !std::mem::take(&mut first) {
            bytes.push(b',');
        }
        bytes.extend_from_slice(b"\n");
        metadata(&mut bytes, "process_name", pid, 0);
        bytes.extend_from_slice(b"\"name\":");
        string(&mut bytes, &process_name(process));
        bytes.extend_from_slice(b"}}");
    }
    out.write_all(&bytes)?;
    let parts = tracks.strands(trace, |index, strand| {
        bytes.clear();
        let process = &trace.processes()[index];
        track(names, (index, process), pids[index], strand, &mut bytes);
        Ok(out.write_all(&bytes)?)
    })?;
    for part in parts {
        events(trace, names, pids[part.process], part, out)?;
    }
    Ok(out.write_all(b"\n]}\n")?)
}

/// By process: its pid, and of those that have the pid of one before, another number.
fn pids(trace: &Trace) -> Vec<u64> {
    let mut known = HashSet::new();
    let all = trace.processes().iter().enumerate();
    all.map(|(index, process)| match known.insert(process.pid()) {
        true => process.pid().into(),
        false => PIDS * index as u64 + u64::from(process.pid()),
    })
    .collect()
}

fn metadata(bytes: &mut Vec<u8>, what: &str, pid: u64, tid: u64) {
    bytes.extend_from_slice(b"{\"ph\":\"M\",\"name\":\"");
    bytes.extend_from_slice(what.as_bytes());
    bytes.extend_from_slice(b"\",\"pid\":");
    number(bytes, pid);
    bytes.extend_from_slice(b",\"tid\":");
    number(bytes, tid);
    bytes.extend_from_slice(b",\"args\":{");
}

fn track(
    names: &mut Names<'_>,
    (index, process): (usize, &Process),
    pid: u64,
    strand: &Ended,
    bytes: &mut Vec<u8>,
) {
    let name = names.strand_of(index, strand.name.as_deref(), strand.entry);
    let name = match process.threads().get(strand.thread) {
        Some(thread) if strand.kind == StrandKind::Thread => format!("{name} {}", thread.tid()),
        _ => format!("{} {name}", strand.kind.name()),
    };
    bytes.extend_from_slice(b",\n");
    metadata(bytes, "thread_name", pid, strand.number);
    bytes.extend_from_slice(b"\"name\":");
    string(bytes, &name);
    bytes.extend_from_slice(b",\"description\":");
    string(bytes, &strand.description());
    bytes.extend_from_slice(b"}},\n");
    metadata(bytes, "thread_sort_index", pid, strand.number);
    bytes.extend_from_slice(b"\"sort_index\":");
    number(bytes, strand.number);
    bytes.extend_from_slice(b"}}");
}

/// Writes what happens on the tracks of a part.
fn events(
    trace: &Trace,
    names: &mut Names<'_>,
    pid: u64,
    part: Part<'_>,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let functions: Vec<Rc<Location>> = part.functions(trace, names).collect();
    let functions = functions.iter().map(|location| {
        let mut bytes = b",\"name\":".to_vec();
        string(&mut bytes, names.shown(location));
        bytes
    });
    let mut pen = Pen {
        pid,
        track: (u64::MAX, Line::default()),
        functions: functions.collect(),
        open: FxHashMap::default(),
        bytes: Vec::new(),
    };
    let mut sequence = part.sequence;
    part.events.read(|mut packets| {
        let mut event = Read::default();
        pen.bytes.clear();
        while sequence.read(&mut packets, &mut event) {
            pen.event(&event);
        }
        Ok(out.write_all(&pen.bytes)?)
    })
}

struct Pen {
    pid: u64,
    /// The strand of the last event, and the fields of its track.
    track: (u64, Line),
    /// By number: fields with their names.
    functions: Vec<Vec<u8>>,
    /// By strand: its slices that are open.
    open: FxHashMap<u64, Vec<Open>>,
    bytes: Vec<u8>,
}

/// A slice that is open, or an instant. Its end repeats its name and its arguments: readers tell by
/// them which slice ends.
struct Open {
    label: Label,
    /// Fields, without braces around them.
    arguments: Vec<u8>,
}

/// A name.
enum Label {
    Function(usize),
    /// A field with the name.
    Text(Box<[u8]>),
}

impl Pen {
    fn event(&mut self, event: &Read<'_>) {
        let strand = event.track & StrandId::NUMBER;
        match event.kind {
            Kind::Begin => {
                let open = Open::new(event);
                self.write(b"B", strand, event, &open);
                self.flows(strand, event);
                self.open.entry(strand).or_default().push(open);
            }
            Kind::End => {
                let open = self.open.get_mut(&strand).and_then(Vec::pop);
                if let Some(mut open) = open {
                    open.add(event);
                    self.write(b"E", strand, event, &open);
                }
            }
            Kind::Instant => {
                let open = Open::new(event);
                let around = self.open.get(&strand).is_some_and(|open| !open.is_empty());
                // A flow needs a slice: that around the instant, or one without a duration.
                if around || event.flows.len() + event.arriving.len() == 0 {
                    self.write(b"i\",\"s\":\"t", strand, event, &open);
                    self.flows(strand, event);
                } else {
                    self.write(b"B", strand, event, &open);
                    self.flows(strand, event);
                    self.write(b"E", strand, event, &open);
                }
            }
        }
    }

    fn write(&mut self, phase: &[u8], strand: u64, event: &Read<'_>, open: &Open) {
        self.head(phase, strand, event.time);
        let bytes = &mut self.bytes;
        let unknown = b",\"name\":\"?\"";
        let name: &[u8] = match &open.label {
            Label::Function(number) => self.functions.get(*number).map_or(unknown, |name| name),
            Label::Text(text) => text,
        };
        bytes.extend_from_slice(name);
        if Some(event.category) == numbers::CALL {
            bytes.extend_from_slice(b",\"cat\":\"call\"");
        } else if event.category > 0 {
            bytes.extend_from_slice(b",\"cat\":\"");
            bytes.extend_from_slice(numbers::category(event.category).as_bytes());
            bytes.push(b'"');
        }
        if !open.arguments.is_empty() {
            bytes.extend_from_slice(b",\"args\":{");
            bytes.extend_from_slice(&open.arguments);
            bytes.push(b'}');
        }
        bytes.push(b'}');
    }

    /// Writes the fields that all events begin with.
    #[inline]
    fn head(&mut self, phase: &[u8], strand: u64, time: u64) {
        let (of, track) = &mut self.track;
        if *of != strand {
            *of = strand;
            track.clear();
            track.push(b"\",\"pid\":");
            track.number(self.pid);
            track.push(b",\"tid\":");
            track.number(strand);
            track.push(b",\"ts\":");
        }
        let mut line = Line::default();
        line.push(b",\n{\"ph\":\"");
        line.push(phase);
        line.push(track.text());
        line.in_units(time, 3);
        self.bytes.extend_from_slice(line.text());
    }

    /// Writes the ends of flows that lie at an event.
    fn flows(&mut self, strand: u64, event: &Read<'_>) {
        let away = event.flows.iter().map(|flow| (b"s".as_slice(), flow));
        let here = event.arriving.iter();
        let here = here.map(|flow| (b"f\",\"bp\":\"e".as_slice(), flow));
        for (phase, &flow) in away.chain(here) {
            self.head(phase, strand, event.time);
            let bytes = &mut self.bytes;
            let name: &[u8] = match numbers::is_birth(flow) {
                true => b",\"name\":\"made\"",
                false => b",\"name\":\"resumed\"",
            };
            bytes.extend_from_slice(name);
            bytes.extend_from_slice(b",\"cat\":\"flow\",\"id\":");
            address(bytes, flow);
            bytes.push(b'}');
        }
    }
}

impl Open {
    fn new(event: &Read<'_>) -> Self {
        let mut open = Open {
            label: label(event),
            arguments: Vec::new(),
        };
        open.add(event);
        open
    }

    /// Adds what else was said about an event.
    fn add(&mut self, event: &Read<'_>) {
        let bytes = &mut self.arguments;
        let name = |bytes: &mut Vec<u8>, name: &str| {
            if !bytes.is_empty() {
                bytes.push(b',');
            }
            string(bytes, name);
            bytes.push(b':');
        };
        for &(about, value) in &event.numbers {
            name(bytes, numbers::annotation(about));
            match about {
                numbers::FRAME => address(bytes, value),
                _ => number(bytes, value),
            }
        }
        for (about, text) in &event.texts {
            name(bytes, about);
            string(bytes, text);
        }
    }
}

fn label(event: &Read<'_>) -> Label {
    match event.name {
        Some(Name::Interned(number)) => match numbers::function_of(number) {
            Some(function) => Label::Function(function),
            None => text(numbers::name(number)),
        },
        Some(Name::Text(name)) => text(name),
        None => text("?"),
    }
}

fn text(text: &str) -> Label {
    let mut bytes = b",\"name\":".to_vec();
    string(&mut bytes, text);
    Label::Text(bytes.into())
}
