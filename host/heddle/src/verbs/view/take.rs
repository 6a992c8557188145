//! From the rows of a trace to what its page shows.

use super::super::export::spill::{Extent, Stream};
use super::super::export::tables::record::{self, Place, Record};
use super::super::export::tables::{Part, Take};
use super::super::export::tracks::Ended;
use super::pieces::{Apart, Read};
use crate::names::{Names, printable, process_name};
use crate::notes::counted;
use crate::sched;
use crate::waits::process_ends;
use heddle_calls::{End, Workers};
use heddle_strands::Kind;
use heddle_trace_file::{Nanos, ObjectKind, Thread, Trace};
use heddle_view::{
    Builder, Call, Data, Event, Function, Head, Limits, Pause, Process, Run, Share, Strand,
    StrandKind, Why,
};
use rustc_hash::FxHashMap;
use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

/// Makes a page of rows.
pub struct ToPage<'a> {
    trace: &'a Trace,
    /// Until the first part comes.
    strands: Vec<Strand>,
    /// How many there are.
    count: usize,
    builder: Option<Builder>,
    /// By process: see [`process_ends`].
    ends: Vec<Option<Nanos>>,
    /// The time that is shown.
    range: Range<Nanos>,
    notes: Vec<String>,
}

/// A part's indices, as the page has them.
struct Known {
    functions: Vec<u32>,
    sites: Vec<u32>,
    /// By thread of the process: where its strand is, if it is shown.
    threads: Vec<Option<u32>>,
    /// When the process ended, if that was before the trace did.
    end: Option<u64>,
    /// When what is shown ends.
    until: Nanos,
    /// By the kernel's number.
    tids: HashMap<u32, u32>,
    /// Where strands are that do not run: where in `found`.
    places: FxHashMap<Place, usize>,
    found: Vec<Found>,
    /// The last of them that was looked up: the next one is often the same.
    latest: Option<(Place, usize)>,
}

/// Where a strand is that does not run.
struct Found {
    /// The index of the text that says where.
    place: u32,
    /// What it awaits.
    awaits: Option<String>,
    /// The index of the text that says what it awaits, once a pause has needed it.
    reason: Option<u32>,
}

/// Pieces of records, each some thousand, of which all workers take calls. It takes longer to put
/// together what they took of fewer.
const MANY: usize = 256;

/// Strands of a trace whose calls take longer to put where they belong than to read twice.
const SCATTERED: usize = 4096;

impl<'a> ToPage<'a> {
    /// Of nothing yet.
    pub fn new(trace: &'a Trace) -> Self {
        ToPage {
            trace,
            strands: Vec::new(),
            count: 0,
            builder: None,
            ends: process_ends(trace),
            range: Nanos(0)..Nanos(u64::MAX),
            notes: Vec::new(),
        }
    }

    /// The same, of a part of the time.
    pub fn within(mut self, range: Range<Nanos>) -> Self {
        for end in &mut self.ends {
            end.take_if(|end| *end >= range.end);
        }
        self.range = range;
        self
    }

    /// Has the page say this, a sentence, beside what is missing in the trace.
    pub fn note(&mut self, sentence: String) {
        self.notes.push(sentence);
    }

    /// The page.
    pub fn finish(mut self) -> Data {
        let mut data = self.builder().finish();
        data.begin = self.range.start.0.min(data.end);
        data.head.notes.append(&mut self.notes);
        data
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
        self.count += 1;
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
                .filter(|died| *died < self.range.end)
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
        let mut known = Known::of(
            &mut builder,
            (self.trace, end, self.range.end),
            names,
            &part,
        );
        let records = part.records.take();
        let trace = self.trace;
        let apart = records.pieces().len() >= MANY && self.count >= SCATTERED;
        if apart {
            known.calls_and_runs(&mut builder, part.process, &records)?;
        }
        records.read(|mut records| {
            while let Some(record) = Record::read(&mut records) {
                if !(apart && matches!(record, Record::Call(_) | Record::Run(_))) {
                    known.record(&mut builder, (trace, &mut *names), &part, &record);
                }
            }
            Ok(())
        })?;
        self.builder = Some(builder);
        Ok(())
    }
}

impl Known {
    /// `end`: see [`process_ends`]; `until`: when what is shown ends.
    fn of(
        builder: &mut Builder,
        (trace, end, until): (&Trace, Option<u64>, Nanos),
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
        let strand = |index: usize| builder.find(part.process, index as u64 + 1);
        let threads: Vec<Option<u32>> = (0..recorded.len()).map(strand).collect();
        let tids = recorded.iter().map(Thread::tid).zip(&threads);
        let tids = tids.filter_map(|(tid, strand)| Some((tid, (*strand)?)));
        Known {
            functions,
            sites,
            end,
            until,
            tids: tids.collect(),
            threads,
            places: FxHashMap::default(),
            found: Vec::new(),
            latest: None,
        }
    }

    /// Takes the calls and runs, by all workers: they say nothing that has to be looked up in an
    /// order, and are most of the records.
    fn calls_and_runs(
        &self,
        builder: &mut Builder,
        process: usize,
        records: &Stream<'_>,
    ) -> anyhow::Result<()> {
        let idle: Mutex<Vec<(Share, Vec<u8>)>> = Mutex::default();
        let idle_workers = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let of: &Builder = builder;
        let take = |mut records: &[u8], share: &mut Share| {
            while let Some(record) = Record::read(&mut records) {
                match record {
                    Record::Call(call) => {
                        if let Some(call) = self.shown_call(of, process, &call) {
                            share.call(of, call, || call.site);
                        }
                    }
                    Record::Run(run) => {
                        if let Some(run) = self.shown_run(of, process, &run) {
                            share.run(of, run);
                        }
                    }
                    Record::Pause(_) | Record::Event(_) => {}
                }
            }
        };
        let read = |piece: &Extent| -> anyhow::Result<()> {
            let worker = idle_workers().pop();
            let (mut share, mut bytes) =
                worker.unwrap_or_else(|| (Share::new(&Limits::default()), Vec::new()));
            records.piece(*piece, &mut bytes)?;
            take(&bytes, &mut share);
            idle_workers().push((share, bytes));
            Ok(())
        };
        let done = Workers::all().each(records.pieces(), read);
        done.into_iter().collect::<anyhow::Result<()>>()?;
        let mut workers = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((share, _)) = workers.first_mut() {
            take(records.pending(), share);
        }
        for (share, _) in workers {
            builder.join(share, |_, site| site);
        }
        Ok(())
    }

    fn thread(&self, index: u32) -> Option<u32> {
        self.threads.get(index as usize).copied().flatten()
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
                let found = self.place(builder, (trace, names), part, pause.place);
                self.pause(builder, process, pause, found);
            }
            Record::Run(run) => {
                if let Some(run) = self.shown_run(builder, process, run) {
                    builder.run(run);
                }
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
        if let Some(call) = self.shown_call(builder, process, call) {
            builder.call(call);
        }
    }

    /// A run as the page has it.
    #[inline]
    fn shown_run(&self, builder: &Builder, process: usize, run: &record::Run) -> Option<Run> {
        Some(Run {
            strand: builder.find(process, run.strand)?,
            thread: self.thread(run.thread)?,
            from: run.from.0,
            to: run.to.0,
            by: run.by.and_then(|by| builder.find(process, by)),
        })
    }

    /// A call as the page has it.
    #[inline]
    fn shown_call(&self, builder: &Builder, process: usize, call: &record::Call) -> Option<Call> {
        let strand = builder.find(process, call.strand)?;
        let of = |known: &[u32], index: u32| known.get(index as usize).copied().unwrap_or(0);
        Some(Call {
            strand,
            thread: self.thread(call.thread).unwrap_or(strand),
            function: of(&self.functions, call.function),
            site: of(&self.sites, call.site),
            enter: call.enter.0,
            exit: call.exit.0.max(call.enter.0),
            own: call.own.0,
            depth: call.depth,
            open: call.end == End::Open,
            returned: call.end == End::Returned,
        })
    }

    /// Where a strand is that does not run: where in `found`.
    fn place(
        &mut self,
        builder: &mut Builder,
        (trace, names): (&Trace, &mut Names<'_>),
        part: &Part<'_>,
        place: Place,
    ) -> usize {
        if let Some((_, found)) = self.latest.filter(|(latest, _)| *latest == place) {
            return found;
        }
        let all = &mut self.found;
        let found = *self.places.entry(place).or_insert_with(|| {
            let (text, awaits) = part.place(trace, names, place);
            all.push(Found {
                place: builder.text(&text.unwrap_or_default()),
                awaits: awaits.map(|awaits| awaits.to_string()),
                reason: None,
            });
            all.len() - 1
        });
        self.latest = Some((place, found));
        found
    }

    fn pause(
        &mut self,
        builder: &mut Builder,
        process: usize,
        pause: &record::Pause<'_>,
        found: usize,
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
        let found = &mut self.found[found];
        let reason = match (pause.reason, &found.awaits) {
            ("", Some(awaits)) => *found.reason.get_or_insert_with(|| builder.text(awaits)),
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
            // What a time range cuts goes on behind it.
            open: pause.to.is_none_or(|to| to == self.until),
            why,
            reason,
            place: found.place,
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
