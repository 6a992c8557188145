//! Threads that are read by themselves where calls are added up: in pieces, by all workers at once.

use super::boxed::{self, Shared};
use super::decoded::Part;
use super::events::each_event;
use super::group::hides_callers;
use super::{Analysis, Decoded, Standing, Watch, doubt, forks};
use crate::StrandId;
use crate::decoder::Decoder;
use crate::inherited::Inherited;
use crate::one_stack::OneStack;
use crate::sink::{Ignore, Sink, Summing};
use heddle_calls::{Profile, SoFar, Source, Variants, Wanted, Workers};
use heddle_symbols::Images;
use heddle_trace_file::{Error, Trace};

impl<'a> Analysis<'a> {
    /// Adds calls up by function, and reads every event once, but for the first look at groups.
    /// Threads that are `wanted` are read by themselves, in pieces, by all workers at once; the
    /// others of a process are decoded together. A thread of the former whose calls were left
    /// without exits is read once more, because only symbols tell what followed them. `make` makes
    /// a sink for each part, as in [`Analysis::decode`].
    ///
    /// `variants`: by process, functions whose calls are those of one; there are none of processes
    /// behind its end.
    ///
    /// A `watch` is shown, now and then and from several workers, of which process and thread the
    /// calls are added up, and how far that is. Threads that turn out to be read with others may be
    /// among them. Also says of all threads, in order of processes, how they stand.
    ///
    /// # Errors
    /// What reading the trace gives.
    pub fn sum<S: Summing + Send>(
        trace: &'a Trace,
        images: &mut Images,
        wanted: Wanted,
        variants: &[Variants],
        make: impl Fn(usize) -> S + Sync,
        watch: Option<Watch<'_>>,
    ) -> Result<(Decoded<S>, Vec<Standing>), Error> {
        let inherited = Self::inherited_in(trace, images)?;
        let (places, profiles) = Self::profiles(trace, &inherited, wanted, variants, watch)?;
        let mut grouped = vec![false; trace.processes().len()];
        for (&(process, _), profile) in places.iter().zip(&profiles) {
            grouped[process] |= profile.is_none();
        }
        let mut standing = Standing::of_all(trace, &places, &profiles);
        // What is called from uninstrumented code may have been so behind a call without an exit.
        let hides = trace.filters().is_some_and(hides_callers);
        let mut in_doubt = Vec::new();
        for (&place, profile) in places.iter().zip(&profiles) {
            if let Some(profile) = profile
                && (hides && !profile.open.is_empty()
                    || doubt::has_lost_exits(trace.processes()[place.0].modules(), images, profile))
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
        for ((&(process, index), profile), stands) in places.iter().zip(profiles).zip(&mut standing)
        {
            let part = match again.next_if(|(doubt, _)| **doubt == (process, index)) {
                Some((_, part)) => {
                    stands.has_lost_exits(part.is_some());
                    part
                }
                None => profile.map(|profile| {
                    let thread = &trace.processes()[process].threads()[index];
                    let id = StrandId::new(process, index);
                    Part::summed(id, index, thread, profile, make(process))
                }),
            };
            alone.push((process, index, part));
        }
        let decoded = analysis.with_groups(alone, &inherited, make)?;
        Ok((decoded, standing))
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
        boxed::decoded(make, |make| Self::each_call_of(trace, images, wanted, make))
    }

    // What has no type parameter is compiled with this crate, once.
    fn each_call_of<'b>(
        trace: &'a Trace,
        images: &mut Images,
        wanted: Wanted,
        make: &(dyn Fn(usize) -> Shared<'b, true> + Sync),
    ) -> Result<Decoded<Shared<'b, true>>, Error> {
        let inherited = Self::inherited_in(trace, images)?;
        let (places, profiles) = Self::profiles(trace, &inherited, wanted, &[], None)?;
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

    /// The same as [`Analysis::inherited`], with the symbols of those processes alone that forked.
    pub(super) fn inherited_in(
        trace: &'a Trace,
        images: &mut Images,
    ) -> Result<Vec<Inherited>, Error> {
        let parents = forks::are_parents(trace);
        Self::for_some(trace, images, |process| parents[process]).inherited()
    }

    /// All threads, by process and index, with the profiles of those that are `wanted`.
    #[allow(clippy::type_complexity, reason = "two lists of one length")]
    fn profiles(
        trace: &Trace,
        inherited: &[Inherited],
        wanted: Wanted,
        variants: &[Variants],
        watch: Option<Watch<'_>>,
    ) -> Result<(Vec<(usize, usize)>, Vec<Option<Profile>>), Error> {
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut threads: Vec<Source<'_>> = Vec::new();
        for (index, process) in trace.processes().iter().enumerate() {
            for (number, thread) in process.threads().iter().enumerate() {
                places.push((index, number));
                threads.push(Source {
                    before: inherited[index].of(number),
                    variants: variants.get(index).unwrap_or(Variants::none()),
                    ..Source::new(thread, process.modules())
                });
            }
        }
        let process_of = |index: usize, so_far: &SoFar<'_, '_>| {
            if let (Some(watch), Some(&place)) = (watch, places.get(index)) {
                watch(place, so_far);
            }
        };
        let shown: Option<heddle_calls::Watch<'_>> = match watch {
            Some(_) => Some(&process_of),
            None => None,
        };
        let profiles = Profile::of_watched(&threads, Workers::all(), wanted, shown)?;
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
        if decoder.begin_within(thread, before).is_err() {
            return Ok(false);
        }
        each_event(recorded, &[thread], false, |thread, event| {
            decoder.feed(thread, event).is_ok()
        })?;
        Ok(decoder.survey().has_inner_stacks())
    }

    /// Reads this thread as one stack, with the symbols of its process.
    pub(super) fn on_one_stack<S: Sink>(
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
}
