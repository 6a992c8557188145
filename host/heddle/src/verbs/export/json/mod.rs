//! Rows of tables as JSON, one a line, for programs that ask questions: docs/export.md.
//!
//! Each processor makes a piece of a part's rows into text; the pieces are written in order.

use super::json_text::{Line, number, string};
use super::tables::record::{Call, Event, Pause, Record};
use super::tables::{Part, Take};
use super::tracks::Ended;
use crate::names::{Names, printable};
use heddle_calls::{End, Workers};
use heddle_trace_file::{ImageId, Trace};
use std::io::Write;

/// Pieces of a part that a processor takes before any is written: so many that starting threads
/// costs little beside the work on them.
const PIECES: usize = 4;

/// Writes rows to a file.
pub struct Json<'a> {
    trace: &'a Trace,
    out: &'a mut dyn Write,
    workers: Workers,
}

impl<'a> Json<'a> {
    /// Begins the file, with the processes.
    pub fn new(trace: &'a Trace, out: &'a mut dyn Write) -> anyhow::Result<Self> {
        for process in trace.processes() {
            let command = process.command().iter().map(|word| printable(word));
            let row = serde_json::json!({
                "row": "process",
                "host": process.host(),
                "pid": process.pid(),
                "image": process.id().image,
                "parent_pid": process.parent(),
                "since_1970_ns": trace.epoch().0,
                "program": process.executable(),
                "command": command.collect::<Vec<_>>(),
            });
            writeln!(out, "{row}")?;
        }
        Ok(Json {
            trace,
            out,
            workers: Workers::all(),
        })
    }
}

impl Take for Json<'_> {
    fn strand(&mut self, process: usize, strand: &Ended, name: &str) -> anyhow::Result<()> {
        let process = &self.trace.processes()[process];
        let tid = process.threads().get(strand.thread);
        let row = serde_json::json!({
            "row": "strand",
            "pid": process.pid(),
            "image": process.id().image,
            "strand": strand.number,
            "kind": strand.kind.name(),
            "name": name,
            "sure": strand.is_sure,
            "parent": strand.parent,
            "resumer": strand.resumer,
            "tid": tid.map(heddle_trace_file::Thread::tid),
            "threads": strand.threads,
            "born_ns": strand.born.0,
            "died_ns": strand.died.map(|died| died.0),
            "activations": strand.activations,
            "elapsed_ns": strand.running.0,
            "children_ns": strand.children.0,
            "suspended_ns": strand.suspended.0,
            "calls": strand.calls,
        });
        Ok(writeln!(self.out, "{row}")?)
    }

    fn part(&mut self, names: &mut Names<'_>, part: Part<'_>) -> anyhow::Result<()> {
        let process = &self.trace.processes()[part.process];
        let functions = part.functions(self.trace, names);
        let functions = functions.iter().map(|location| {
            let mut bytes = Vec::new();
            field(&mut bytes, "function", Some(names.shown(location)));
            field(&mut bytes, "module", Some(&location.module));
            bytes
        });
        let functions = functions.collect();
        let sites = part.sites(self.trace, names);
        let sites = sites.iter().map(|(caller, line)| {
            let mut bytes = Vec::new();
            field(&mut bytes, "caller", Some(names.shown(caller)));
            field(&mut bytes, "line", line.as_deref());
            bytes
        });
        let pen = Pen {
            id: process.id(),
            tids: process
                .threads()
                .iter()
                .map(|thread| thread.tid())
                .collect(),
            functions,
            sites: sites.collect(),
        };
        let mut pieces = Vec::new();
        part.records.read(|records| {
            pieces.push(records.to_vec());
            match pieces.len() < PIECES * self.workers.count() {
                true => Ok(()),
                false => self.write(&pen, &mut pieces),
            }
        })?;
        self.write(&pen, &mut pieces)
    }
}

impl Json<'_> {
    fn write(&mut self, pen: &Pen, pieces: &mut Vec<Vec<u8>>) -> anyhow::Result<()> {
        for rows in self.workers.each(pieces, |records| pen.rows(records)) {
            self.out.write_all(&rows)?;
        }
        pieces.clear();
        Ok(())
    }
}

/// Writes rows of a part.
struct Pen {
    id: ImageId,
    /// By index.
    tids: Vec<u32>,
    /// Fields, by index.
    functions: Vec<Vec<u8>>,
    sites: Vec<Vec<u8>>,
}

impl Pen {
    /// The rows of these records.
    fn rows(&self, mut records: &[u8]) -> Vec<u8> {
        // A call's row is some three times as long as its record.
        let mut bytes = Vec::with_capacity(4 * records.len());
        while let Some(record) = Record::read(&mut records) {
            match record {
                Record::Call(call) => self.call(&mut bytes, &call),
                Record::Pause(pause) => self.pause(&mut bytes, &pause),
                Record::Event(event) => self.event(&mut bytes, &event),
                Record::Run(_) => continue,
            }
            bytes.extend_from_slice(b"}\n");
        }
        bytes
    }

    #[inline]
    fn head(&self, bytes: &mut Vec<u8>, row: &[u8], strand: u64, thread: u32) {
        let mut line = Line::default();
        line.push(b"{\"row\":\"");
        line.push(row);
        line.push(b"\",\"pid\":");
        line.number(self.id.pid.into());
        line.push(b",\"image\":");
        line.number(self.id.image.into());
        line.push(b",\"strand\":");
        line.number(strand);
        line.push(b",\"tid\":");
        let tid = self.tids.get(thread as usize);
        line.number(tid.map_or(0, |&tid| tid.into()));
        bytes.extend_from_slice(line.text());
    }

    fn call(&self, bytes: &mut Vec<u8>, call: &Call) {
        self.head(bytes, b"call", call.strand, call.thread);
        let some = |known: &[Vec<u8>], index: u32, bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(known.get(index as usize).map_or(b"", |fields| fields));
        };
        some(&self.functions, call.function, bytes);
        some(&self.sites, call.site, bytes);
        let mut line = Line::default();
        line.push(b",\"enter_ns\":");
        line.number(call.enter.0);
        line.push(b",\"exit_ns\":");
        line.number(call.exit.0);
        line.push(b",\"self_ns\":");
        line.number(call.own.0);
        line.push(b",\"depth\":");
        line.number(call.depth.into());
        match call.end {
            End::Returned => line.push(b",\"end\":\"returned\""),
            End::Unwound => line.push(b",\"end\":\"unwound\""),
            End::Open => line.push(b",\"end\":\"open\""),
        }
        bytes.extend_from_slice(line.text());
        if call.inlined {
            bytes.extend_from_slice(b",\"inlined\":true");
        }
        if !call.values.is_empty() {
            let mut before: &[u8] = b",\"values\":{";
            for (name, value) in &call.values {
                bytes.extend_from_slice(before);
                before = b",";
                string(bytes, name);
                bytes.push(b':');
                string(bytes, value);
            }
            bytes.push(b'}');
        }
    }

    fn pause(&self, bytes: &mut Vec<u8>, pause: &Pause<'_>) {
        self.head(bytes, b"pause", pause.strand, pause.thread);
        let why: &[u8] = match pause.blocked {
            true => b",\"why\":\"waits\"",
            false => b",\"why\":\"suspended\"",
        };
        bytes.extend_from_slice(why);
        field(
            bytes,
            "for",
            Some(pause.reason).filter(|reason| !reason.is_empty()),
        );
        bytes.extend_from_slice(b",\"from_ns\":");
        number(bytes, pause.from.0);
        bytes.extend_from_slice(b",\"to_ns\":");
        optional(bytes, pause.to.map(|to| to.0));
        bytes.extend_from_slice(b",\"by\":");
        optional(bytes, pause.by);
    }

    fn event(&self, bytes: &mut Vec<u8>, event: &Event<'_>) {
        self.head(bytes, b"event", event.strand, event.thread);
        bytes.extend_from_slice(b",\"time_ns\":");
        number(bytes, event.time.0);
        field(bytes, "kind", Some(event.kind));
        field(bytes, "text", Some(event.text));
    }
}

fn optional(bytes: &mut Vec<u8>, value: Option<u64>) {
    match value {
        Some(value) => number(bytes, value),
        None => bytes.extend_from_slice(b"null"),
    }
}

/// Appends a field behind others.
fn field(bytes: &mut Vec<u8>, name: &str, text: Option<&str>) {
    bytes.push(b',');
    string(bytes, name);
    bytes.push(b':');
    match text {
        Some(text) => string(bytes, text),
        None => bytes.extend_from_slice(b"null"),
    }
}
