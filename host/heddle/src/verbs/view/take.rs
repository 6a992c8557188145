//! From the rows of a trace to what its page shows.

use super::super::export::tables::record::{self, Place, Record};
use super::super::export::tables::{Part, Take};
use super::super::export::tracks::Ended;
use super::pieces::{Apart, Read};
use crate::names::{Names, printable, process_name};
use crate::notes::counted;
use crate::sched;
use crate::waits::process_ends;
use heddle_calls::End;
use heddle_strands::Kind;
use heddle_trace_file::{Nanos, ObjectKind, Thread, Trace};
use heddle_view::{
    Builder, Call, Data, Event, Function, Head, Limits, Pause, Process, Run, Strand, StrandKind,
    Why,
};
use std::collections::HashMap;

/// Makes a page of rows.
pub struct ToPage<'a> {
    trace: &'a Trace,
    /// Until the first part comes.
    strands: Vec<Strand>,
    builder: Option<Builder>,
    /// By process: see [`process_ends`].
    ends: Vec<Option<Nanos>>,
}

/// A part's indices, as the page has them.
struct Known {
    functions: Vec<u32>,
    sites: Vec<u32>,
    /// By thread of the process: where its strand is.
    threads: Vec<u32>,
    /// When the process ended, if that was before the trace did.
    end: Option<u64>,
    /// By the kernel's number.
    tids: HashMap<u32, u32>,
    places: HashMap<Place, Found>,
}

/// Where a strand is that does not run, as a text's index, and what it awaits.
type Found = (u32, Option<String>);

impl<'a> ToPage<'a> {
    /// Of nothing yet.
    pub fn new(trace: &'a Trace) -> Self {
        ToPage {
            trace,
            strands: Vec::new(),
            builder: None,
            ends: process_ends(trace),
        }
    }

    /// The page.
    pub fn finish(mut self) -> Data {
        self.builder().finish()
    }

    /// Adds what is read in pieces of the threads that stand apart.
    ///
    /// # Errors
    /// What reading them gives.
    pub fn apart(&mut self, names: &mut Names<'_>, apart: Apart<'_>) -> anyhow::Result<Read<'a>> {
        let mut builder = self.builder();
        let read = apart.read(self.trace, names, &mut builder);
        self.builder = Some(builder);
        let (read, parts) = read?;
        for part in parts {
            self.part(names, part)?;
        }
        Ok(read)
    }

    /// With all strands, which come first.
    fn builder(&mut self) -> Builder {
        let (trace, strands) = (self.trace, &mut self.strands);
        let made = || {
            let strands = std::mem::take(strands);
            Builder::new(head(trace), processes(trace), strands, &Limits::default())
        };
        self.builder.take().unwrap_or_else(made)
    }
}

/// What is said of the whole trace.
pub fn head(trace: &Trace) -> Head {
    let first = trace.processes().first();
    let command = first.map_or(&[][..], |process| process.command());
    let command: Vec<String> = command.iter().map(|word| printable(word)).collect();
    let mut notes = Vec::new();
    for process in trace.processes() {
        let (name, id) = (process_name(process), process.id());
        if !process.ended() && !process.replaced() {
            notes.push(format!(
                "{name} ({id}) was killed, ended by _exit, or still ran: what had not ended is \
                 drawn up to its last event, and marked."
            ));
        }
        if process.dropped() > 0 {
            let dropped = counted(process.dropped(), "event");
            notes.push(format!("{dropped} of {name} ({id}) could not be recorded."));
        }
    }
    let title = trace.path().file_name();
    Head {
        title: title.map_or_else(String::new, |title| printable(&title.to_string_lossy())),
        command: command.join(" "),
        host: first.map_or_else(String::new, |process| printable(process.host())),
        since_1970: trace.epoch().0,
        notes,
    }
}

fn processes(trace: &Trace) -> Vec<Process> {
    let process = |process: &heddle_trace_file::Process| Process {
        id: process.id().to_string(),
        name: process_name(process),
    };
    trace.processes().iter().map(process).collect()
}

/// The same kind, as the page has it.
pub fn kind(kind: Kind) -> StrandKind {
    match kind {
        Kind::Thread => StrandKind::Thread,
        Kind::Fiber => StrandKind::Fiber,
        Kind::Coroutine => StrandKind::Coroutine,
    }
}

impl Take for ToPage<'_> {
    fn strand(&mut self, process: usize, strand: &Ended, name: &str) -> anyhow::Result<()> {
        let thread = self.trace.processes()[process].threads().get(strand.thread);
        let tid = thread.map(Thread::tid);
        self.strands.push(Strand {
            process,
            number: strand.number,
            kind: kind(strand.kind),
            tid: tid.filter(|_| strand.kind == Kind::Thread),
            thread: strand.thread,
            name: name.to_owned(),
            parent: strand.parent,
            resumer: strand.resumer,
            born: strand.born.0,
            died: strand
                .died
                .or_else(|| self.ends.get(process).copied().flatten())
                .map(|died| died.0),
            running: strand.running.0,
            suspended: strand.suspended.0,
            activations: strand.activations,
            calls: strand.calls,
        });
        Ok(())
    }

    fn part(&mut self, names: &mut Names<'_>, mut part: Part<'_>) -> anyhow::Result<()> {
        let mut builder = self.builder();
        let end = self.ends.get(part.process).copied().flatten();
        let end = end.map(|end| end.0);
        let mut known = Known::of(&mut builder, (self.trace, end), names, &part);
        let records = part.records.take();
        let trace = self.trace;
        records.read(|mut records| {
            while let Some(record) = Record::read(&mut records) {
                known.record(&mut builder, (trace, &mut *names), &part, &record);
            }
            Ok(())
        })?;
        self.builder = Some(builder);
        Ok(())
    }
}

impl Known {
    /// `end`: see [`process_ends`].
    fn of(
        builder: &mut Builder,
        (trace, end): (&Trace, Option<u64>),
        names: &mut Names<'_>,
        part: &Part<'_>,
    ) -> Self {
        let functions = part.functions(trace, names);
        let functions = functions.iter().map(|location| {
            builder.function(Function {
                name: names.shown(location).to_owned(),
                module: location.module.to_string(),
            })
        });
        let functions = functions.collect();
        let sites = part.sites(trace, names);
        let sites = sites.iter().map(|(caller, line)| match line {
            Some(line) => builder.text(line),
            None => {
                let caller = names.shown(caller);
                builder.text(&format!("in {caller}"))
            }
        });
        let sites = sites.collect();
        let recorded = trace.processes()[part.process].threads();
        let strand = |index: usize| builder.find(part.process, index as u64 + 1).unwrap_or(0);
        let threads: Vec<u32> = (0..recorded.len()).map(strand).collect();
        let tids = recorded
            .iter()
            .map(Thread::tid)
            .zip(threads.iter().copied());
        Known {
            functions,
            sites,
            end,
            tids: tids.collect(),
            threads,
            places: HashMap::new(),
        }
    }

    fn thread(&self, index: u32) -> u32 {
        self.threads.get(index as usize).copied().unwrap_or(0)
    }

    fn record(
        &mut self,
        builder: &mut Builder,
        (trace, names): (&Trace, &mut Names<'_>),
        part: &Part<'_>,
        record: &Record<'_>,
    ) {
        let process = part.process;
        match record {
            Record::Call(call) => self.call(builder, process, call),
            Record::Pause(pause) => {
                let (place, awaits) = self.place(builder, (trace, names), part, pause.place);
                self.pause(builder, process, pause, (place, awaits));
            }
            Record::Run(run) => {
                let Some(strand) = builder.find(process, run.strand) else {
                    return;
                };
                builder.run(Run {
                    strand,
                    thread: self.thread(run.thread),
                    from: run.from.0,
                    to: run.to.0,
                    by: run.by.and_then(|by| builder.find(process, by)),
                });
            }
            Record::Event(event) => {
                let text = match event.text {
                    "" => event.kind.to_owned(),
                    text => format!("{}: {text}", event.kind),
                };
                if let Some(strand) = builder.find(process, event.strand) {
                    let text = builder.text(&text);
                    builder.event(Event {
                        strand,
                        time: event.time.0,
                        text,
                    });
                }
            }
        }
    }

    #[inline]
    fn call(&self, builder: &mut Builder, process: usize, call: &record::Call) {
        let Some(strand) = builder.find(process, call.strand) else {
            return;
        };
        let of = |known: &[u32], index: u32| known.get(index as usize).copied().unwrap_or(0);
        builder.call(Call {
            strand,
            thread: self.thread(call.thread),
            function: of(&self.functions, call.function),
            site: of(&self.sites, call.site),
            enter: call.enter.0,
            exit: call.exit.0.max(call.enter.0),
            own: call.own.0,
            depth: call.depth,
            open: call.end == End::Open,
            returned: call.end == End::Returned,
        });
    }

    /// Where a strand is that does not run, and what it awaits.
    fn place(
        &mut self,
        builder: &mut Builder,
        (trace, names): (&Trace, &mut Names<'_>),
        part: &Part<'_>,
        place: Place,
    ) -> Found {
        if let Some(known) = self.places.get(&place) {
            return known.clone();
        }
        let (text, awaits) = part.place(trace, names, place);
        let text = builder.text(&text.unwrap_or_default());
        let found = (text, awaits.map(|awaits| awaits.to_string()));
        self.places.insert(place, found.clone());
        found
    }

    fn pause(
        &self,
        builder: &mut Builder,
        process: usize,
        pause: &record::Pause<'_>,
        (place, awaits): Found,
    ) {
        let Some(strand) = builder.find(process, pause.strand) else {
            return;
        };
        let of = |function: u32| self.functions.get(function as usize).copied();
        let innermost = pause.place.function.and_then(of).filter(|_| pause.blocked);
        let why = match pause.blocked {
            true => why(pause.reason),
            false => Why::Suspended,
        };
        let reason = match (pause.reason, awaits) {
            ("", Some(awaits)) => builder.text(&awaits),
            (reason, _) if pause.blocked => builder.text(kernel_s(reason)),
            // What the program said is shown as it is.
            (reason, _) => builder.text(reason),
        };
        let shown = Pause {
            strand,
            from: pause.from.0,
            to: match (pause.to, self.end.unwrap_or(u64::MAX)) {
                (None, end) => end,
                // The kernel tells of its end after the process's last event.
                (Some(to), end) => to.0.min(end.max(pause.from.0)),
            },
            open: pause.to.is_none(),
            why,
            reason,
            place,
            function: innermost,
            by: pause.by.and_then(|by| builder.find(process, by)),
            destroyed: pause.destroyed,
            holder: pause.holder.and_then(|tid| self.tids.get(&tid).copied()),
            thread: self.thread(pause.thread),
        };
        builder.pause(shown, pause.called.0);
    }
}

/// The reason without what its kind says.
fn kernel_s(reason: &str) -> &str {
    let blocked = reason.strip_prefix(sched::BLOCKED);
    match blocked.and_then(|rest| rest.strip_prefix(": ").or(rest.is_empty().then_some(""))) {
        Some(rest) => rest,
        None if reason == sched::READY => "",
        None => reason,
    }
}

/// Why a thread waits, by the name of the kind of what it waits for.
fn why(reason: &str) -> Why {
    if reason == sched::READY {
        return Why::Ready;
    }
    if reason.starts_with(sched::BLOCKED) {
        return Why::Kernel;
    }
    let held = [
        ObjectKind::Mutex,
        ObjectKind::RwLock,
        ObjectKind::SpinLock,
        ObjectKind::Once,
    ];
    match held.iter().any(|kind| reason.starts_with(kind.name())) {
        true => Why::Lock,
        false => Why::Condition,
    }
}
