//! A whole trace, by as many workers as the machine has processors.
//!
//! A thread that stays on its own stack and runs no coroutine needs nothing of the others: each is
//! decoded by itself, in the first round. The threads of a process that do not stay alone are a
//! *group*: their events are taken in order of time, twice where some of what is seen early is only
//! understood later ([`crate::answers`]).

mod boxed;
mod decoded;
mod doubt;
mod events;
mod forks;
mod group;
mod others;
mod reader;
mod standing;
mod stream;
mod summed;

use crate::code::Code;
use crate::decoder::Decoder;
use crate::inherited::Inherited;
use crate::sink::Sink;
use crate::survey::Survey;
use boxed::Shared;
pub use decoded::Decoded;
use decoded::Part;
use events::each_of_next;
use forks::Parents;
use group::Group;
use heddle_calls::{SoFar, Workers};
use heddle_symbols::Images;
use heddle_trace_file::{Error, Process, Remarks, Trace};
pub use standing::{PlacedPiece, Standing};
use std::cmp::Reverse;

/// Is shown the process and thread whose calls are being added up, and how far that is.
pub type Watch<'a> = &'a (dyn Fn((usize, usize), &SoFar<'_, '_>) + Sync);

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
        match S::LIVES {
            true => boxed::decoded(make, |make| self.decode_lives(make)),
            false => boxed::decoded(make, |make| self.decode_ends(make)),
        }
    }

    // What has no type parameter is compiled with this crate, once.
    fn decode_lives<'b>(
        &self,
        make: &(dyn Fn(usize) -> Shared<'b, true> + Sync),
    ) -> Result<Decoded<Shared<'b, true>>, Error> {
        self.decode_with(make)
    }

    fn decode_ends<'b>(
        &self,
        make: &(dyn Fn(usize) -> Shared<'b, false> + Sync),
    ) -> Result<Decoded<Shared<'b, false>>, Error> {
        self.decode_with(make)
    }

    fn decode_with<S: Sink + Send>(
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
        let groups: Vec<_> = groups.filter(|(_, group)| !group.is_empty()).collect();
        let together = self.parallel(
            &groups,
            |_| 0,
            |&(process, ref threads)| {
                let group = self.group(process, threads, &inherited[process]);
                Ok((process, group.decode(|| make(process))?))
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

    /// These threads of a process, to be decoded together.
    fn group<'g>(
        &'g self,
        process: usize,
        threads: &'g [usize],
        before: &'g Inherited,
    ) -> Group<'g> {
        Group {
            process: &self.trace.processes()[process],
            index: process,
            code: &self.codes[process],
            threads,
            before,
            filters: self.trace.filters(),
            // Groups are few: mostly there is one.
            is_piped: self.workers.count() > 1,
        }
    }

    /// The facts that a first look at these threads finds.
    fn survey(
        &self,
        process: usize,
        threads: &[usize],
        before: &Inherited,
    ) -> Result<Survey, Error> {
        self.group(process, threads, before).survey()
    }

    /// Decodes this thread by itself, if it stays alone.
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
        if self.trace.filters().is_some_and(group::hides_callers) {
            decoder.is_filtered();
        }
        let mut alone = decoder.begin_within(thread, before).is_ok();
        if !alone {
            return Ok(None);
        }
        let remarks = each_of_next(recorded, &[thread], piped, |events| {
            alone = decoder.feed_all(events).is_ok();
            if alone { events.len() } else { 0 }
        })?;
        if !alone {
            return Ok(None);
        }
        Ok(Some(Part::found(decoder.finish(), remarks)))
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
}
