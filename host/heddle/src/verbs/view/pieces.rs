//! Threads that run nothing but their own stack, read in pieces by all workers at once.
//!
//! A first read, which adds calls up by function, comes by what is open at many places of a thread
//! ([`Places`]). The calls between two such places can be read without those before: each worker
//! takes pieces, and has its own share of the sums.

use super::super::export::tables::record::{self, KINDS, Pause, Place, Record};
use super::super::export::tables::{Called, Part, Whole};
use crate::names::{Names, printable};
use crate::notes;
use crate::paths::Paths;
use crate::sched;
use crate::strand_list::Makers;
use crate::waits::is_no_wait;
use heddle_calls::{End, Frame, Functions, Key, Piece, SoFar, Span, Take, Workers};
use heddle_strands::{Analysis, PlacedPiece, Standing, Strand, StrandId};
use heddle_trace_file::{
    Addr, Callee, Error, Event, EventKind, Made, Modules, Nanos, OffCpu, Trace,
};
use heddle_view::{Builder, Call, Function, Limits, Share};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls that are open at the places of all threads together: some 80 bytes each.
const OPEN: usize = 1 << 20;

/// Where pieces of threads begin: filled by a first read.
#[derive(Default)]
pub struct Places(Mutex<Noted>);

#[derive(Default)]
struct Noted {
    /// By process and thread.
    pieces: BTreeMap<(usize, usize), Vec<Piece>>,
    open: usize,
}

impl Places {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes where reading of a thread is, if a piece can begin there and there is room.
    pub fn note(&self, at: (usize, usize), so_far: &SoFar<'_, '_>) {
        let Some(piece) = so_far.place() else { return };
        let mut noted = self.noted();
        // With many calls open, pieces are longer, and fewer.
        noted.open += piece.open().len();
        if noted.open > OPEN {
            noted.open -= piece.open().len();
            return;
        }
        noted.pieces.entry(at).or_default().push(piece);
    }

    /// These pieces, each of a whole thread, divided at the places.
    fn divide(self, whole: Vec<PlacedPiece>) -> Vec<PlacedPiece> {
        let mut noted = self.0.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut all = Vec::new();
        for (at, mut piece) in whole {
            for next in noted.pieces.remove(&at).unwrap_or_default() {
                piece.ends_before(&next);
                all.push((at, std::mem::replace(&mut piece, next)));
            }
            all.push((at, piece));
        }
        all
    }
}

/// The threads that stand apart, and what is to be found of them.
pub struct Apart<'a> {
    pub standing: &'a [Standing],
    pub places: Places,
    pub whole: &'a Whole<'a>,
}

/// What was found, beside the timeline.
pub struct Read<'a> {
    /// By index of the process.
    pub paths: Vec<(usize, Paths<'a>)>,
    pub makers: Makers,
}

/// The strands of the threads that stand apart.
pub fn strands(standing: &[Standing]) -> impl Iterator<Item = &Strand> {
    standing.iter().filter_map(|standing| match standing {
        Standing::Apart(strand, _) => Some(&**strand),
        _ => None,
    })
}

/// Functions' indices on the page, by process and key.
type Known = HashMap<(usize, Key), u32>;

impl<'a> Apart<'a> {
    /// Reads them. `builder` has all strands and gets the calls; the parts that are given have what
    /// else happened.
    pub fn read<'t>(
        self,
        trace: &'t Trace,
        names: &mut Names<'_>,
        builder: &mut Builder,
    ) -> anyhow::Result<(Read<'t>, Vec<Part<'a>>)> {
        let known = functions(trace, names, self.standing, builder);
        let pieces = Analysis::apart(trace, names.images(), self.standing)?;
        let mut pieces = self.places.divide(pieces);
        // The longest first, so that no worker is left with it at the end.
        pieces.sort_by_cached_key(|((process, thread), piece)| {
            let thread = &trace.processes()[*process].threads()[*thread];
            std::cmp::Reverse(piece.bytes(thread))
        });
        let strands: HashMap<StrandId, &Strand> = strands(self.standing)
            .map(|strand| (strand.id, strand))
            .collect();
        let idle: Mutex<Vec<Worker<'_, '_>>> = Mutex::default();
        let idle_workers = || idle.lock().unwrap_or_else(PoisonError::into_inner);
        let shared: &Builder = builder;
        let read = |((process, thread), piece): &PlacedPiece| -> Result<(), Error> {
            let id = StrandId::of_thread(*process, *thread);
            let Some(&strand) = strands.get(&id) else {
                return Ok(());
            };
            let worker = idle_workers().pop();
            let mut worker = worker.unwrap_or_else(|| Worker::new(self.whole));
            let of = (shared, &known, strand);
            worker.read(trace, (*process, *thread), piece.clone(), of)?;
            idle_workers().push(worker);
            Ok(())
        };
        let done: Result<Vec<()>, Error> = Workers::all().each(&pieces, read).into_iter().collect();
        done?;
        let workers = idle.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(join(trace, names, builder, workers))
    }
}

/// Has the page know all functions of these threads.
fn functions(
    trace: &Trace,
    names: &mut Names<'_>,
    standing: &[Standing],
    builder: &mut Builder,
) -> Known {
    let mut known = Known::new();
    for standing in standing {
        let Standing::Apart(strand, keys) = standing else {
            continue;
        };
        let process = strand.id.process();
        let modules = trace.processes()[process].modules();
        for &key in keys {
            known.entry((process, key)).or_insert_with(|| {
                let time = modules.time_of(key.address, key.generation);
                let location = names.function(process, key.address, time);
                builder.function(Function {
                    name: names.shown(&location).to_owned(),
                    module: location.module.to_string(),
                })
            });
        }
    }
    known
}

/// Puts what the workers found together.
fn join<'t, 'a>(
    trace: &'t Trace,
    names: &mut Names<'_>,
    builder: &mut Builder,
    workers: Vec<Worker<'t, 'a>>,
) -> (Read<'t>, Vec<Part<'a>>) {
    // In an order of their own, whoever met them.
    let sites: BTreeSet<(usize, Key)> = workers
        .iter()
        .flat_map(|worker| worker.sites.iter().copied())
        .collect();
    let text = |(process, key): (usize, Key)| {
        let modules = trace.processes()[process].modules();
        let time = modules.time_of(key.address, key.generation);
        let text = match names.line(process, key.address, time) {
            Some(line) => line,
            None => {
                let caller = names.caller(process, key.address, time);
                format!("in {}", names.shown(&caller))
            }
        };
        ((process, key), builder.text(&text))
    };
    let sites: HashMap<(usize, Key), u32> = sites.into_iter().map(text).collect();
    let mut read = Read {
        paths: Vec::new(),
        makers: Makers::default(),
    };
    let mut parts = Vec::new();
    for worker in workers {
        let of = &worker.sites;
        builder.join(worker.share, |_, site| {
            let site = of.get(site as usize);
            site.and_then(|site| sites.get(site)).copied().unwrap_or(0)
        });
        read.makers.append(worker.makers);
        for (process, of) in worker.processes {
            read.paths.push((process, of.paths));
            parts.push(Part {
                process,
                functions: of.functions.keys().to_vec(),
                sites: of.places.keys().to_vec(),
                records: of.records,
                number: None,
            });
        }
    }
    read.paths.sort_by_key(|(process, _)| *process);
    parts.sort_by_key(|part| part.process);
    (read, parts)
}

/// What one worker has found.
struct Worker<'t, 'a> {
    whole: &'a Whole<'a>,
    share: Share,
    /// By the number that the share's calls have of their site.
    sites: Vec<(usize, Key)>,
    makers: Makers,
    processes: BTreeMap<usize, OfProcess<'t, 'a>>,
}

/// What one worker has found of a process.
struct OfProcess<'t, 'a> {
    modules: &'t Modules,
    paths: Paths<'t>,
    /// By the number that `paths` has of a function: its index on the page.
    known: Vec<u32>,
    /// Call sites, and the numbers that the share has of them.
    sites: Functions<'static>,
    numbers: Vec<u32>,
    /// Waits, marks and the like, their functions and call sites.
    records: super::super::export::spill::Stream<'a>,
    functions: Functions<'static>,
    places: Functions<'static>,
}

impl<'t, 'a> Worker<'t, 'a> {
    fn new(whole: &'a Whole<'a>) -> Self {
        Worker {
            whole,
            share: Share::new(&Limits::default()),
            sites: Vec::new(),
            makers: Makers::default(),
            processes: BTreeMap::new(),
        }
    }

    /// Reads a piece of a thread.
    fn read(
        &mut self,
        trace: &'t Trace,
        (process, thread): (usize, usize),
        piece: Piece,
        (builder, known, strand): (&Builder, &Known, &Strand),
    ) -> Result<(), Error> {
        let recorded = &trace.processes()[process];
        let whole = self.whole;
        let of = self.processes.entry(process).or_insert_with(|| OfProcess {
            modules: recorded.modules(),
            paths: Paths::new(recorded.modules()),
            known: Vec::new(),
            sites: Functions::default(),
            numbers: Vec::new(),
            records: whole.spill.stream(),
            functions: Functions::default(),
            places: Functions::default(),
        });
        let off = whole
            .off
            .as_ref()
            .map_or(&[][..], |off| off.of(process, thread));
        let begun = off.partition_point(|off| off.from < piece.begins());
        let last = piece.is_last();
        let mut reading = Reading {
            whole,
            share: &mut self.share,
            sites: &mut self.sites,
            makers: &mut self.makers,
            of,
            builder,
            functions: known,
            strand,
            place: builder.find(process, strand.id.number()).unwrap_or(0),
            process,
            thread,
            open: Vec::new(),
            off: &off[begun..],
            wait: None,
            waited: piece.begins() == Nanos(0),
            early: Vec::new(),
            cut: None,
            beyond: false,
        };
        reading.begin(piece.open());
        piece.read(&recorded.threads()[thread], &mut reading)?;
        reading.end(last);
        Ok(())
    }
}

/// A piece that is being read.
struct Reading<'w, 't, 'a> {
    whole: &'a Whole<'a>,
    share: &'w mut Share,
    sites: &'w mut Vec<(usize, Key)>,
    makers: &'w mut Makers,
    of: &'w mut OfProcess<'t, 'a>,
    builder: &'w Builder,
    functions: &'w Known,
    strand: &'w Strand,
    /// The strand's place on the page.
    place: u32,
    process: usize,
    thread: usize,
    /// The functions of the open calls, outermost first.
    open: Vec<u32>,
    /// Stretches off the processor that are still to come.
    off: &'w [OffCpu],
    /// What the thread waits for.
    wait: Option<Waiting>,
    /// Whether it has waited in this piece.
    waited: bool,
    /// Stretches off the processor before it did: with why, and the innermost call. They are within
    /// a wait of the piece before where the end of one comes first, between calls of a signal's
    /// handler.
    early: Vec<Early>,
    /// The innermost of the calls that the trace ends within.
    cut: Option<(Addr, Nanos)>,
    /// The piece has ended; only the end of the wait is looked for.
    beyond: bool,
}

/// A stretch off the processor, from and to when, why, and the innermost call.
type Early = (Nanos, Nanos, String, Option<(Addr, Nanos)>);

/// A wait that has not ended.
struct Waiting {
    from: Nanos,
    reason: std::sync::Arc<str>,
    holder: Option<u32>,
    site: Addr,
    /// Calls that were open then, and the innermost of them.
    depth: usize,
    inner: Option<(Addr, Nanos)>,
    /// The calls that the thread has made since.
    called: Called,
}

impl Reading<'_, '_, '_> {
    /// Begins inside these calls.
    fn begin(&mut self, open: &[Frame]) {
        for frame in open {
            let function = self.number(frame.function, frame.enter);
            self.open.push(function);
        }
        self.of.paths.begin(self.strand, &self.open);
    }

    /// The number of a function.
    #[inline]
    fn number(&mut self, address: Addr, time: Nanos) -> u32 {
        let number = self.of.paths.number(address, time);
        if number as usize >= self.of.known.len() {
            let new = &self.of.paths.functions()[self.of.known.len()..];
            let (functions, process) = (self.functions, self.process);
            let new = new
                .iter()
                .map(|key| functions.get(&(process, *key)).copied());
            self.of.known.extend(new.map(|known| known.unwrap_or(0)));
        }
        number
    }

    /// Writes when the thread was off its processor before `time`, unless it waits, which is
    /// written anyway.
    #[inline]
    fn processor(&mut self, time: Nanos, inner: Option<(Addr, Nanos)>) {
        if self.off.first().is_some_and(|off| off.from < time) {
            self.was_off(time, inner, None);
        }
    }

    fn was_off(&mut self, time: Nanos, inner: Option<(Addr, Nanos)>, call: Option<(Nanos, &[u8])>) {
        while let Some((off, rest)) = self.off.split_first().filter(|(off, _)| off.from < time) {
            self.off = rest;
            if self.wait.is_none() {
                let text = sched::why_off(off, call);
                let (from, to) = (off.from, off.to.min(time));
                match self.waited {
                    true => self.pause((from, Some(to)), &text, inner, None),
                    false => self.early.push((from, to, text.to_string(), inner)),
                }
            }
        }
    }

    /// What was told of the processor so far was within no wait.
    fn tell_early(&mut self) {
        for (from, to, text, inner) in std::mem::take(&mut self.early) {
            self.pause((from, Some(to)), &text, inner, None);
        }
    }

    /// What the thread was off its processor before `time` is told by others.
    fn skip(&mut self, time: Nanos) {
        if !self.waited {
            self.early.clear();
        }
        self.waited = true;
        let begun = self.off.partition_point(|off| off.from < time);
        self.off = &self.off[begun..];
    }

    fn pause(
        &mut self,
        (from, to): (Nanos, Option<Nanos>),
        reason: &str,
        inner: Option<(Addr, Nanos)>,
        wait: Option<&Waiting>,
    ) {
        let modules = self.of.modules;
        let key = |(address, time): (Addr, Nanos)| Key {
            address,
            generation: modules.generation(time),
        };
        let site = wait.map(|wait| wait.site).filter(|site| site.0 != 0);
        let place = Place {
            function: inner.map(|inner| self.of.functions.id(key(inner)).0),
            site: site.map(|site| self.of.places.id(key((site, from))).0),
            index: None,
        };
        let pause = Record::Pause(Pause {
            strand: self.strand.id.number(),
            thread: self.thread as u32,
            from,
            to,
            blocked: true,
            reason,
            by: None,
            holder: wait.and_then(|wait| wait.holder),
            place,
            called: wait.map_or(Nanos(0), |wait| wait.called.time),
            destroyed: false,
        });
        self.of.records.append(|bytes| pause.write_small(bytes));
    }

    fn event(&mut self, time: Nanos, kind: usize, text: &str) {
        let event = Record::Event(record::Event {
            strand: self.strand.id.number(),
            thread: self.thread as u32,
            time,
            kind: KINDS[kind],
            text,
        });
        self.of.records.append(|bytes| event.write(bytes));
    }

    /// The piece has ended; `last`: with its thread.
    fn end(&mut self, last: bool) {
        let cut = self.cut.take().filter(|_| self.strand.died().is_none());
        if last && let Some(call) = cut {
            // It was blocked in that until it was killed, or is still.
            self.processor(Nanos(u64::MAX), Some(call));
        }
        self.tell_early();
        if !last {
            return;
        }
        self.of.paths.ends(self.strand);
        if let Some(wait) = self.wait.take() {
            let to = self.strand.died();
            if to.is_none_or(|to| to > wait.from) {
                self.pause((wait.from, to), &wait.reason, None, Some(&wait));
            }
        }
    }
}

/// The innermost of these calls.
fn inner(open: &[Frame]) -> Option<(Addr, Nanos)> {
    open.last().map(|frame| (frame.function, frame.enter))
}

impl Take for Reading<'_, '_, '_> {
    #[inline]
    fn enter(&mut self, open: &[Frame]) {
        let [around @ .., frame] = open else { return };
        self.processor(frame.enter, inner(around));
        if let Some(wait) = &mut self.wait {
            wait.called.enter(frame.enter);
        }
        let number = self.number(frame.function, frame.enter);
        self.open.push(number);
        self.of.paths.called(self.strand.slot, number);
    }

    #[inline]
    fn leave(&mut self, span: &Span) {
        let call = (span.function, span.enter);
        match span.end {
            // Innermost first.
            End::Open => _ = self.cut.get_or_insert(call),
            _ => self.processor(span.exit, Some(call)),
        }
        if self
            .wait
            .as_ref()
            .is_some_and(|wait| span.depth < wait.depth)
            && span.end != End::Open
        {
            // The wait was left with the call in which it began: a handler has jumped.
            self.wait = None;
        }
        if let Some(wait) = &mut self.wait {
            wait.called.leave(span.exit);
        }
        self.of.paths.left(self.strand.slot, span);
        let number = self.open.pop();
        let known = number.and_then(|number| self.of.known.get(number as usize));
        let call = Call {
            strand: self.place,
            thread: self.place,
            function: known.copied().unwrap_or(0),
            site: 0,
            enter: span.enter.0,
            exit: span.exit.0.max(span.enter.0),
            own: span.own().0,
            depth: span.depth as u32,
            open: span.end == End::Open,
            returned: span.end == End::Returned,
        };
        let (sites, process, of) = (&mut *self.sites, self.process, &mut *self.of);
        self.share.call(self.builder, call, || {
            let key = Key {
                address: span.caller,
                generation: of.modules.generation(span.enter),
            };
            let site = of.sites.id(key).0 as usize;
            if site >= of.numbers.len() {
                of.numbers.push(sites.len() as u32);
                sites.push((process, key));
            }
            of.numbers[site]
        });
    }

    fn unmatched(&mut self, _: Callee, time: Nanos, _: &[Frame]) {
        self.event(time, 2, "");
    }

    fn other(&mut self, event: &Event<'_>, open: &[Frame]) {
        let time = event.time;
        if let EventKind::WaitEnded { error, .. } = event.kind {
            let Some(wait) = self.wait.take() else {
                return match self.waited {
                    true => self.was_off(time, inner(open), None),
                    // The wait began in the piece before, which tells of it.
                    false => self.skip(time),
                };
            };
            self.skip(time);
            if time > wait.from && !is_no_wait(error) {
                self.pause(
                    (wait.from, Some(time)),
                    &wait.reason,
                    wait.inner,
                    Some(&wait),
                );
            }
            return;
        }
        if self.beyond {
            return;
        }
        let call = match event.kind {
            EventKind::LongCall { since, text, .. } => Some((since, text)),
            _ => None,
        };
        self.was_off(time, inner(open), call);
        match event.kind {
            EventKind::Making {
                made: Made::Thread, ..
            } => self.makers.note(self.strand.id, self.thread, event),
            EventKind::Mark { text, .. } => {
                let text = printable(&String::from_utf8_lossy(text));
                self.event(time, 0, &text);
            }
            EventKind::Gap { why, missing } => self.event(time, 1, &notes::gap(why, missing)),
            EventKind::Wait(wait) => {
                let holder = wait.holder().filter(|holder| !holder.released);
                self.tell_early();
                self.waited = true;
                self.wait = Some(Waiting {
                    from: time,
                    reason: self.whole.labels.of_wait(self.process, wait),
                    holder: holder.map(|holder| holder.tid),
                    site: wait.site(),
                    depth: open.len(),
                    inner: inner(open),
                    called: Called::default(),
                });
            }
            _ => {}
        }
    }

    fn wants(&mut self, event: &Event<'_>) -> bool {
        self.beyond = true;
        let Some(wait) = &mut self.wait else {
            return false;
        };
        match event.kind {
            EventKind::Enter { .. } => wait.called.enter(event.time),
            EventKind::Exit { .. } => wait.called.leave(event.time),
            EventKind::Wait(_) => return false,
            _ => {}
        }
        true
    }
}
