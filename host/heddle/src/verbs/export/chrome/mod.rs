//! Chrome's trace events as JSON, which chrome://tracing, Perfetto, speedscope and others read:
//! docs/export.md.
//!
//! A strand's track is a thread of the file: the format has no other tracks. Its number stands as
//! `tid`, since fibers and coroutines have none.

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
        let name = match process.id().image {
            0 => process_name(process),
            _ => format!("{} ({})", process_name(process), process.id()),
        };
        string(&mut bytes, &name);
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
    let name = strand.shown(names, index);
    let name = match process.threads().get(strand.thread) {
        Some(thread) if strand.kind == StrandKind::Thread => format!("{name} {}", thread.tid()),
        _ => format!("{} {name}", strand.kind.name()),
    };
    bytes.extend_from_slice(b",\n");
    let tid = strand.uuid & StrandId::NUMBER;
    metadata(bytes, "thread_name", pid, tid);
    bytes.extend_from_slice(b"\"name\":");
    string(bytes, &name);
    bytes.extend_from_slice(b",\"description\":");
    string(bytes, &strand.description());
    bytes.extend_from_slice(b"}},\n");
    metadata(bytes, "thread_sort_index", pid, tid);
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
        strand: u64::MAX,
        track: Line::default(),
        line: Line::default(),
        functions: functions.collect(),
        open: Vec::new(),
        others: FxHashMap::default(),
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
    /// The strand of the last event: mostly it is that of the next.
    strand: u64,
    /// The fields of its track.
    track: Line,
    /// The fields that an event begins with.
    line: Line,
    /// By number: fields with their names.
    functions: Vec<Vec<u8>>,
    /// The strand's slices that are open.
    open: Vec<Open>,
    /// Those of other strands.
    others: FxHashMap<u64, Vec<Open>>,
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
        if strand != self.strand {
            self.go_to(strand);
        }
        match event.kind {
            Kind::Begin => {
                let open = Open::new(event);
                self.write(b"B", event, &open);
                self.flows(event);
                self.open.push(open);
            }
            Kind::End => {
                if let Some(mut open) = self.open.pop() {
                    open.add(event);
                    self.write(b"E", event, &open);
                }
            }
            Kind::Instant => {
                let open = Open::new(event);
                // A flow needs a slice: that around the instant, or one without a duration.
                if !self.open.is_empty() || event.flows.len() + event.arriving.len() == 0 {
                    self.write(b"i\",\"s\":\"t", event, &open);
                    self.flows(event);
                } else {
                    self.write(b"B", event, &open);
                    self.flows(event);
                    self.write(b"E", event, &open);
                }
            }
        }
    }

    /// The events that follow are of this strand.
    #[cold]
    fn go_to(&mut self, strand: u64) {
        let open = self.others.remove(&strand).unwrap_or_default();
        let before = std::mem::replace(&mut self.open, open);
        if !before.is_empty() {
            self.others.insert(self.strand, before);
        }
        self.strand = strand;
        self.track.clear();
        self.track.push(b"\",\"pid\":");
        self.track.number(self.pid);
        self.track.push(b",\"tid\":");
        self.track.number(strand);
        self.track.push(b",\"ts\":");
    }

    fn write(&mut self, phase: &[u8], event: &Read<'_>, open: &Open) {
        self.head(phase, event.time);
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
    fn head(&mut self, phase: &[u8], time: u64) {
        self.line.clear();
        self.line.push(b",\n{\"ph\":\"");
        self.line.push(phase);
        self.line.push(self.track.text());
        self.line.in_units(time, 3);
        self.bytes.extend_from_slice(self.line.text());
    }

    /// Writes the ends of flows that lie at an event.
    fn flows(&mut self, event: &Read<'_>) {
        let away = event.flows.iter().map(|flow| (b"s".as_slice(), flow));
        let here = event.arriving.iter();
        let here = here.map(|flow| (b"f\",\"bp\":\"e".as_slice(), flow));
        for (phase, &flow) in away.chain(here) {
            self.head(phase, event.time);
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
