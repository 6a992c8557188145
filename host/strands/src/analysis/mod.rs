//! A whole trace, by as many workers as the machine has processors.
//!
//! A thread that stays on its own stack and runs no coroutine needs nothing of the others: each is
//! decoded by itself, in the first round. The threads of a process that do not stay alone are a
//! *group*: their events are taken in order of time, twice where some of what is seen early is only
//! understood later ([`crate::answers`]).

mod decoded;
mod doubt;
mod events;
mod forks;
mod reader;

use crate::code::Code;
use crate::decoder::{Decoder, NotAlone};
use crate::one_stack::OneStack;
use crate::sink::{Ignore, Sink, Summing};
use crate::survey::{Convergence, Survey};
use crate::{Kind, Strand, StrandId};
pub use decoded::Decoded;
use decoded::Part;
use events::each_event;
pub use forks::Inherited;
use forks::Parents;
use heddle_calls::{Profile, Source, Wanted, Workers};
use heddle_symbols::Images;
use heddle_trace_file::{Error, Event, EventKind, Place, Process, Remarks, Trace};
use reader::Reader;
use std::cmp::Reverse;

/// How the events of a trace are put on strands: with the symbols of its processes, or each thread
/// taken for one stack.
#[derive(Debug)]
pub struct Analysis<'a> {
    trace: &'a Trace,
    codes: Vec<Code>,
    /// Each thread is taken for one stack.
    by_thread: bool,
    workers: Workers,
}

/// The threads of a process that are not alone.
struct Group {
    process: usize,
    threads: Vec<usize>,
}

impl<'a> Analysis<'a> {
    /// Reads the symbols of the trace's processes.
    pub fn new(trace: &'a Trace, images: &mut Images) -> Self {
        Self::for_some(trace, images, |_| true)
    }

    /// Takes each thread for one stack: its calls are those of one strand, whatever it runs. Reads
    /// the symbols of the trace's processes, too, by which calls are known that were left without
    /// an exit.
    pub fn by_thread(trace: &'a Trace, images: &mut Images) -> Self {
        Analysis {
            by_thread: true,
            ..Self::new(trace, images)
        }
    }

    /// Reads the symbols of the processes with these indices.
    fn for_some(trace: &'a Trace, images: &mut Images, apart: impl Fn(usize) -> bool) -> Self {
        let codes = trace.processes().iter().enumerate();
        let codes = codes.map(|(index, process)| match apart(index) {
            true => Code::read(process, images),
            false => Code::default(),
        });
        Analysis {
            trace,
            codes: codes.collect(),
            by_thread: false,
            workers: Workers::all(),
        }
    }

    /// Decodes with so many workers, instead of one for each processor.
    #[must_use]
    pub fn with_workers(self, workers: Workers) -> Self {
        Analysis { workers, ..self }
    }

    /// Decodes everything. `make` makes a sink for a part of the process with this index: one for
    /// each thread that stays alone, and one for the others. What was told to a sink of a thread
    /// that turned out not to be alone is thrown away with it.
    ///
    /// Strands are numbered alike whatever the number of workers: threads first, in order of
    /// processes and of birth, then the others.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn decode<S: Sink + Send>(
        &self,
        make: impl Fn(usize) -> S + Sync,
    ) -> Result<Decoded<S>, Error> {
        let processes = self.trace.processes();
        let inherited = self.inherited()?;
        let mut tasks: Vec<(usize, usize)> = Vec::new();
        for (process, recorded) in processes.iter().enumerate() {
            tasks.extend((0..recorded.threads().len()).map(|thread| (process, thread)));
        }
        // The longest first, so that no worker is left with it at the end.
        let bytes = |&(process, thread): &(usize, usize)| {
            let recorded: &Process = &processes[process];
            recorded.threads()[thread].bytes()
        };
        let total: u64 = tasks.iter().map(bytes).sum();
        let alone = self.parallel(&tasks, bytes, |task @ &(process, thread)| {
            // Others have nothing to do as long as the longest takes.
            let piped = bytes(task) * self.workers.count() as u64 > total;
            self.alone(process, thread, piped, &inherited[process], make(process))
        })?;
        let alone = tasks.iter().zip(alone);
        let alone = alone.map(|(&(process, thread), part)| (process, thread, part));
        self.with_groups(alone.collect(), &inherited, make)
    }

    /// Adds calls up by function, and reads every event once, but for the first look at groups.
    /// Threads that are `wanted` are read by themselves, in pieces, by all workers at once; the
    /// others of a process are decoded together. A thread of the former whose calls were left
    /// without exits is read once more, because only symbols tell what followed them. `make` makes
    /// a sink for each part, as in [`Analysis::decode`].
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn sum<S: Summing + Send>(
        trace: &'a Trace,
        images: &mut Images,
        wanted: Wanted,
        make: impl Fn(usize) -> S + Sync,
    ) -> Result<Decoded<S>, Error> {
        let inherited = Self::inherited_in(trace, images)?;
        let (places, profiles) = Self::profiles(trace, &inherited, wanted)?;
        let mut grouped = vec![false; trace.processes().len()];
        for (&(process, _), profile) in places.iter().zip(&profiles) {
            grouped[process] |= profile.is_none();
        }
        let mut in_doubt = Vec::new();
        for (&place, profile) in places.iter().zip(&profiles) {
            if let Some(profile) = profile
                && doubt::has_lost_exits(trace.processes()[place.0].modules(), images, profile)
            {
                in_doubt.push(place);
            }
        }
        let read = |process| grouped[process] || in_doubt.iter().any(|doubt| doubt.0 == process);
        let analysis = Self::for_some(trace, images, read);
        let bytes = |&(process, thread): &(usize, usize)| {
            trace.processes()[process].threads()[thread].bytes()
        };
        let again = analysis.parallel(&in_doubt, bytes, |&(process, thread)| {
            let before = &inherited[process];
            if wanted != Wanted::All && analysis.has_inner_stacks(process, thread, before)? {
                return Ok(None);
            }
            let part = analysis.on_one_stack(process, thread, before, make(process))?;
            Ok(Some(part))
        })?;
        let mut again = in_doubt.iter().zip(again).peekable();
        let mut alone = Vec::new();
        for (&(process, index), profile) in places.iter().zip(profiles) {
            let part = match again.next_if(|(doubt, _)| **doubt == (process, index)) {
                Some((_, part)) => part,
                None => profile.map(|profile| {
                    let thread = &trace.processes()[process].threads()[index];
                    let id = StrandId::new(process, index);
                    Part::summed(id, index, thread, profile, make(process))
                }),
            };
            alone.push((process, index, part));
        }
        analysis.with_groups(alone, &inherited, make)
    }

    /// Gives single calls where [`Analysis::sum`] adds them up: threads that are `wanted` are each
    /// read as one stack, the others of a process together.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn each_call<S: Sink + Send>(
        trace: &'a Trace,
        images: &mut Images,
        wanted: Wanted,
        make: impl Fn(usize) -> S + Sync,
    ) -> Result<Decoded<S>, Error> {
        let inherited = Self::inherited_in(trace, images)?;
        let (places, profiles) = Self::profiles(trace, &inherited, wanted)?;
        let alone = places.iter().zip(profiles);
        let alone = alone.filter(|(_, profile)| profile.is_some());
        let alone: Vec<(usize, usize)> = alone.map(|(&place, _)| place).collect();
        let analysis = Self::new(trace, images);
        let bytes = |&(process, thread): &(usize, usize)| {
            trace.processes()[process].threads()[thread].bytes()
        };
        let parts = analysis.parallel(&alone, bytes, |&(process, thread)| {
            let before = &inherited[process];
            analysis.on_one_stack(process, thread, before, make(process))
        })?;
        let mut parts = alone.iter().zip(parts).peekable();
        let all = places.iter().map(|place| {
            let part = parts.next_if(|(read, _)| *read == place);
            (place.0, place.1, part.map(|(_, part)| part))
        });
        analysis.with_groups(all.collect(), &inherited, make)
    }

    /// For each process, the calls that it began inside. Those that its parent's records do not
    /// have are left out. Reads the threads that forked, up to their last fork.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn inherited(&self) -> Result<Vec<Inherited>, Error> {
        let parents = Parents {
            trace: self.trace,
            codes: &self.codes,
            by_thread: self.by_thread,
            survey: |process, threads: &[usize], before: &Inherited| {
                self.survey(process, threads, before)
            },
        };
        parents.inherited()
    }

    /// The same, with the symbols of those processes alone that forked.
    fn inherited_in(trace: &'a Trace, images: &mut Images) -> Result<Vec<Inherited>, Error> {
        let parents = forks::are_parents(trace);
        Self::for_some(trace, images, |process| parents[process]).inherited()
    }

    /// All threads, by process and index, with the profiles of those that are `wanted`, and that
    /// run no stack which may be another thread's.
    #[allow(clippy::type_complexity, reason = "two lists of one length")]
    fn profiles(
        trace: &Trace,
        inherited: &[Inherited],
        wanted: Wanted,
    ) -> Result<(Vec<(usize, usize)>, Vec<Option<Profile>>), Error> {
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut threads: Vec<Source<'_>> = Vec::new();
        for (index, process) in trace.processes().iter().enumerate() {
            for (number, thread) in process.threads().iter().enumerate() {
                places.push((index, number));
                threads.push(Source {
                    thread,
                    modules: process.modules(),
                    before: inherited[index].of(number),
                });
            }
        }
        let profiles = Profile::of_wanted(&threads, Workers::all(), wanted)?;
        let mut grouped = vec![false; trace.processes().len()];
        for (&(process, _), profile) in places.iter().zip(&profiles) {
            grouped[process] |= profile.is_none();
        }
        // A call on another stack may be a fiber's that other threads run, too.
        let profiles = places.iter().zip(profiles).map(|(&(process, _), profile)| {
            profile.filter(|profile| !(grouped[process] && profile.elsewhere))
        });
        let profiles = profiles.collect();
        Ok((places, profiles))
    }

    /// Whether this thread, whose calls were left without exits, runs fibers on stacks that lie
    /// within its own: then the exits come later.
    fn has_inner_stacks(
        &self,
        process: usize,
        thread: usize,
        before: &Inherited,
    ) -> Result<bool, Error> {
        let recorded = &self.trace.processes()[process];
        let code = &self.codes[process];
        let mut decoder = Decoder::new((recorded, process), code, &[thread], true, None, Ignore);
        if decoder.begin_within(thread, before.of(thread)).is_err() {
            return Ok(false);
        }
        each_event(recorded, &[thread], false, |thread, event| {
            decoder.feed(thread, event).is_ok()
        })?;
        Ok(decoder.survey().has_inner_stacks())
    }

    /// Reads this thread as one stack, with the symbols of its process.
    fn on_one_stack<S: Sink>(
        &self,
        process: usize,
        thread: usize,
        before: &Inherited,
        sink: S,
    ) -> Result<Part<S>, Error> {
        let recorded = &self.trace.processes()[process];
        let code = &self.codes[process];
        let mut stacks = OneStack::new((recorded, process), code, thread..thread + 1, sink);
        stacks.begin_within(thread, before.of(thread));
        let remarks = each_event(recorded, &[thread], false, |thread, event| {
            stacks.feed(thread, event);
            true
        })?;
        let events = (stacks.events, stacks.calls);
        let (sink, loose) = stacks.finish(recorded);
        Ok(Part::by_thread(sink, events, loose, remarks))
    }

    /// Decodes the threads of which there is no part yet together with the others of their process.
    /// The parts are those of all threads, in order.
    fn with_groups<S: Sink + Send>(
        &self,
        alone: Vec<(usize, usize, Option<Part<S>>)>,
        inherited: &[Inherited],
        make: impl Fn(usize) -> S + Sync,
    ) -> Result<Decoded<S>, Error> {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.codes.len()];
        for (process, thread, part) in &alone {
            if part.is_none() {
                members[*process].push(*thread);
            }
        }
        let groups = members.into_iter().enumerate();
        let groups = groups.filter(|(_, threads)| !threads.is_empty());
        let groups = groups.map(|(process, threads)| Group { process, threads });
        let groups: Vec<Group> = groups.collect();
        let together = self.parallel(
            &groups,
            |_| 0,
            |group| {
                let (process, threads) = (group.process, &group.threads);
                let before = &inherited[process];
                let survey = match self.at_once(group, before, make(process))? {
                    Ok(part) => return Ok((process, part)),
                    Err(survey) => survey,
                };
                let (known, sink) = (Some(&survey), make(process));
                let (part, _) = self.together(process, threads, before, known, sink)?;
                Ok((process, part))
            },
        )?;
        let alone = alone.into_iter();
        let mut parts: Vec<(usize, Part<S>)> = alone
            .filter_map(|(process, _, part)| Some((process, part?)))
            .collect();
        parts.extend(together);
        parts.sort_by_key(|(process, _)| *process);
        Ok(Decoded::new(self.codes.len(), parts, Remarks::default()))
    }

    /// A first look that turns out so early not to go on as the second begins anew without a sink.
    const EARLY: u32 = 1 << 16;

    /// Decodes a group in one look, which is the first, and goes on as the second where that would
    /// have done the same. Else gives what the first look has found.
    fn at_once<S: Sink>(
        &self,
        group: &Group,
        before: &Inherited,
        sink: S,
    ) -> Result<Result<Part<S>, Survey>, Error> {
        let recorded = &self.trace.processes()[group.process];
        let (code, threads) = (&self.codes[group.process], &group.threads);
        if self.trace.filters().is_some() {
            return Ok(Err(self.survey(group.process, threads, before)?));
        }
        let at = (recorded, group.process);
        let mut decoder = Decoder::new(at, code, threads, false, None, sink);
        if self.captures(group)? {
            decoder.expect_captures();
        }
        for &thread in threads {
            // It may be anywhere now.
            let _: Result<(), NotAlone> = decoder.begin_within(thread, before.of(thread));
        }
        let (mut look, mut settled) = (Some(Convergence::new()), false);
        let (mut early, mut may_settle) = (Self::EARLY, true);
        // Groups are few: mostly there is one.
        let piped = self.workers.count() > 1;
        let remarks = each_event(recorded, threads, piped, |thread, event| {
            let _: Result<(), NotAlone> = decoder.feed(thread, event);
            if early > 0 {
                early -= 1;
                may_settle = decoder.may_settle();
                if !may_settle {
                    return false;
                }
            }
            let first = look.as_mut();
            if !first.is_some_and(|look| look.is_due(decoder.has_begun())) {
                return true;
            }
            if look
                .as_mut()
                .is_some_and(|look| look.is_new(decoder.survey()))
            {
                return true;
            }
            look = None;
            settled = decoder.has_settled();
            settled
        })?;
        if !may_settle {
            return Ok(Err(self.survey(group.process, threads, before)?));
        }
        settled |= look.is_some() && decoder.has_settled();
        let mut found = decoder.finish();
        Ok(match settled {
            true => Ok(Part::found(found, remarks)),
            false => Err(std::mem::take(&mut found.survey)),
        })
    }

    /// Whether coroutines' frames are captured, as far as the first events of these threads tell.
    fn captures(&self, group: &Group) -> Result<bool, Error> {
        const FEW: usize = 1 << 14;
        if self.codes[group.process].coroutines() == 0 {
            return Ok(false);
        }
        let threads = self.trace.processes()[group.process].threads();
        for &thread in &group.threads {
            for event in threads[thread].events().take(FEW) {
                if let EventKind::FrameMade { .. }
                | EventKind::FrameFreed { .. }
                | EventKind::FrameLeft { .. }
                | EventKind::Enter { frame: Some(_), .. } = event?.kind
                {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The facts that a first look at these threads finds.
    fn survey(
        &self,
        process: usize,
        threads: &[usize],
        before: &Inherited,
    ) -> Result<Survey, Error> {
        Ok(self.together(process, threads, before, None, Ignore)?.1)
    }

    /// Whether there is a strand that is no thread, as far as the first events of each process
    /// tell.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn has_more_than_threads(&self) -> Result<bool, Error> {
        for (process, recorded) in self.trace.processes().iter().enumerate() {
            let threads: Vec<usize> = (0..recorded.threads().len()).collect();
            let survey = self.survey(process, &threads, &Inherited::default())?;
            let code = &self.codes[process];
            let (known, births) = (Some(&survey), Births(false));
            let mut decoder =
                Decoder::new((recorded, process), code, &threads, false, known, births);
            let mut left = Convergence::LAST;
            recorded.in_order(&threads, |thread, event| {
                let _: Result<(), NotAlone> = decoder.feed(thread, event);
                left -= 1;
                left > 0 && !decoder.sink().0
            })?;
            if decoder.sink().0 {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn alone<S: Sink>(
        &self,
        process: usize,
        thread: usize,
        piped: bool,
        before: &Inherited,
        sink: S,
    ) -> Result<Option<Part<S>>, Error> {
        let recorded = &self.trace.processes()[process];
        let code = &self.codes[process];
        let mut decoder = Decoder::new((recorded, process), code, &[thread], true, None, sink);
        let mut alone = decoder.begin_within(thread, before.of(thread)).is_ok();
        if !alone {
            return Ok(None);
        }
        let remarks = each_event(recorded, &[thread], piped, |thread, event| {
            alone = decoder.feed(thread, event).is_ok();
            alone
        })?;
        if !alone {
            return Ok(None);
        }
        Ok(Some(Part::found(decoder.finish(), remarks)))
    }

    fn together<S: Sink>(
        &self,
        process: usize,
        threads: &[usize],
        before: &Inherited,
        known: Option<&Survey>,
        sink: S,
    ) -> Result<(Part<S>, Survey), Error> {
        let recorded = &self.trace.processes()[process];
        let code = &self.codes[process];
        let mut decoder = Decoder::new((recorded, process), code, threads, false, known, sink);
        for &thread in threads {
            // It may be anywhere now.
            let _: Result<(), NotAlone> = decoder.begin_within(thread, before.of(thread));
        }
        let mut look = known.is_none().then(Convergence::new);
        // Groups are few: mostly there is one.
        let piped = self.workers.count() > 1;
        let remarks = each_event(recorded, threads, piped, |thread, event| {
            let _: Result<(), NotAlone> = decoder.feed(thread, event);
            let due = look.as_mut();
            let due = due.is_some_and(|look| look.is_due(decoder.has_begun()));
            let look = look.as_mut().filter(|_| due);
            look.is_none_or(|look| look.is_new(decoder.survey()))
        })?;
        let mut found = decoder.finish();
        let mut survey = std::mem::take(&mut found.survey);
        if let Some(filters) = self.trace.filters() {
            survey.is_part = true;
            survey.is_filtered = hides_callers(filters) || found.unresolved.unplaced() > 0;
        }
        Ok((Part::found(found, remarks), survey))
    }

    /// `work` for each item, by all workers, the items of the largest `size` first; results in
    /// order of the items.
    fn parallel<I: Sync, T: Send>(
        &self,
        items: &[I],
        size: impl Fn(&I) -> u64,
        work: impl Fn(&I) -> Result<T, Error> + Sync,
    ) -> Result<Vec<T>, Error> {
        let mut order: Vec<usize> = (0..items.len()).collect();
        order.sort_by_key(|&index| Reverse(size(&items[index])));
        let results = self.workers.each(&order, |&index| work(&items[index]));
        let mut results: Vec<(usize, Result<T, Error>)> = order.into_iter().zip(results).collect();
        results.sort_unstable_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, result)| result).collect()
    }

    /// Decodes all processes at once, in order of time, for what has to be told in that order:
    /// `each` gets every event of every thread, and the sink of its process, which was told of it;
    /// it says whether to go on. The sink of a forked process is told first of the calls in which
    /// that was made ([`Analysis::inherited`]).
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn stream<S: Sink>(
        &self,
        make: impl Fn(usize) -> S,
        mut each: impl FnMut(Place, &Event<'_>, &mut S) -> bool,
    ) -> Result<Decoded<S>, Error> {
        let processes = self.trace.processes();
        let inherited = self.inherited()?;
        let mut surveys = Vec::new();
        for (process, recorded) in processes.iter().enumerate() {
            let all: Vec<usize> = (0..recorded.threads().len()).collect();
            let before = &inherited[process];
            let survey = (!self.by_thread).then(|| self.survey(process, &all, before));
            surveys.push((all, survey.transpose()?));
        }
        let mut readers: Vec<Reader<'_, S>> = Vec::new();
        for (process, (all, survey)) in surveys.iter().enumerate() {
            let (recorded, sink) = (&processes[process], make(process));
            readers.push(match survey {
                Some(_) => {
                    let (code, known) = (&self.codes[process], survey.as_ref());
                    let decoder = Decoder::new((recorded, process), code, all, false, known, sink);
                    Reader::Strands(Box::new(decoder))
                }
                None => {
                    let (code, all) = (&self.codes[process], 0..all.len());
                    let stacks = OneStack::new((recorded, process), code, all, sink);
                    Reader::Threads(Box::new(stacks))
                }
            });
        }
        for (reader, before) in readers.iter_mut().zip(&inherited) {
            reader.begin_within(before);
        }
        let remarks = self.trace.in_order(|place, event| {
            let sink = readers[place.process].feed(place.thread, event);
            each(place, event, sink)
        })?;
        let readers = readers.into_iter().enumerate();
        let parts = readers.map(|(process, reader)| (process, reader.finish(&processes[process])));
        Ok(Decoded::new(processes.len(), parts, remarks))
    }
}

/// Whether something else than a thread was born.
struct Births(bool);

impl Sink for Births {
    fn born(&mut self, strand: &Strand) {
        self.0 |= strand.kind != Kind::Thread;
    }
}

/// Whether what these options of `heddle record` leave out has calls around it that are recorded:
/// with fibers, nothing tells whose those are. The other options leave out calls with all that they
/// call, or all that is before a moment.
fn hides_callers(filters: &str) -> bool {
    let mut words = filters.split_ascii_whitespace();
    words.any(|word| ["--filter", "--depth", "--start-at", "--stop-at"].contains(&word))
}
