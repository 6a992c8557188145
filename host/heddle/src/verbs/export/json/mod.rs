//! Rows of tables as JSON, one a line, for programs that ask questions: docs/export.md.

use super::json_text::{number, string};
use super::tables::record::{Call, Event, Pause, Record};
use super::tables::{Part, Take};
use super::tracks::Ended;
use crate::names::{Names, printable};
use heddle_calls::End;
use heddle_trace_file::Trace;
use std::io::Write;

/// Writes rows to a file.
pub struct Json<'a> {
    trace: &'a Trace,
    out: &'a mut dyn Write,
    bytes: Vec<u8>,
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
            bytes: Vec::new(),
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
            "strand": strand.number,
            "kind": strand.kind.name(),
            "name": name,
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
        let mut pen = Pen {
            pid: process.pid().into(),
            tids: process
                .threads()
                .iter()
                .map(|thread| thread.tid())
                .collect(),
            functions,
            sites: sites.collect(),
            bytes: std::mem::take(&mut self.bytes),
        };
        part.records.read(|mut records| {
            pen.bytes.clear();
            while let Some(record) = Record::read(&mut records) {
                pen.row(&record);
            }
            Ok(self.out.write_all(&pen.bytes)?)
        })?;
        self.bytes = pen.bytes;
        Ok(())
    }
}

/// Writes rows of a part.
struct Pen {
    pid: u64,
    /// By index.
    tids: Vec<u32>,
    /// Fields, by index.
    functions: Vec<Vec<u8>>,
    sites: Vec<Vec<u8>>,
    bytes: Vec<u8>,
}

impl Pen {
    fn row(&mut self, record: &Record<'_>) {
        match record {
            Record::Call(call) => self.call(call),
            Record::Pause(pause) => self.pause(pause),
            Record::Event(event) => self.event(event),
            Record::Run(_) => return,
        }
        self.bytes.extend_from_slice(b"}\n");
    }

    fn head(&mut self, row: &[u8], strand: u64, thread: u32) {
        let bytes = &mut self.bytes;
        bytes.extend_from_slice(b"{\"row\":\"");
        bytes.extend_from_slice(row);
        bytes.extend_from_slice(b"\",\"pid\":");
        number(bytes, self.pid);
        bytes.extend_from_slice(b",\"strand\":");
        number(bytes, strand);
        bytes.extend_from_slice(b",\"tid\":");
        let tid = self.tids.get(thread as usize);
        number(bytes, tid.map_or(0, |&tid| tid.into()));
    }

    fn call(&mut self, call: &Call) {
        self.head(b"call", call.strand, call.thread);
        let some = |known: &[Vec<u8>], index: u32, bytes: &mut Vec<u8>| {
            bytes.extend_from_slice(known.get(index as usize).map_or(b"", |fields| fields));
        };
        let bytes = &mut self.bytes;
        some(&self.functions, call.function, bytes);
        some(&self.sites, call.site, bytes);
        for (name, value) in [
            (&b",\"enter_ns\":"[..], call.enter.0),
            (b",\"exit_ns\":", call.exit.0),
            (b",\"self_ns\":", call.own.0),
            (b",\"depth\":", call.depth.into()),
        ] {
            bytes.extend_from_slice(name);
            number(bytes, value);
        }
        bytes.extend_from_slice(match call.end {
            End::Returned => b",\"end\":\"returned\"",
            End::Unwound => b",\"end\":\"unwound\"",
            End::Open => b",\"end\":\"open\"",
        });
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

    fn pause(&mut self, pause: &Pause<'_>) {
        self.head(b"pause", pause.strand, pause.thread);
        let bytes = &mut self.bytes;
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

    fn event(&mut self, event: &Event<'_>) {
        self.head(b"event", event.strand, event.thread);
        let bytes = &mut self.bytes;
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
