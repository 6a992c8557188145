//! All processes of a trace at once, in order of time.

use super::boxed::{self, Shown};
use super::reader::Reader;
use super::{Analysis, Decoded};
use crate::decoder::{Decoder, NotAlone};
use crate::inherited::Inherited;
use crate::one_stack::OneStack;
use crate::sink::Sink;
use crate::survey::Convergence;
use crate::{Kind, Strand};
use heddle_trace_file::{Error, Event, Place};

impl Analysis<'_> {
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
        each: impl FnMut(Place, &Event<'_>, &mut S) -> bool,
    ) -> Result<Decoded<S>, Error> {
        boxed::streamed(make, each, |make| self.stream_to(make))
    }

    // What has no type parameter is compiled with this crate, once.
    fn stream_to<'b>(
        &self,
        make: &dyn Fn(usize) -> Shown<'b, true>,
    ) -> Result<Decoded<Shown<'b, true>>, Error> {
        let processes = self.trace.processes();
        let inherited = self.inherited()?;
        let mut surveys = Vec::new();
        for (process, recorded) in processes.iter().enumerate() {
            let all: Vec<usize> = (0..recorded.threads().len()).collect();
            let before = &inherited[process];
            let survey = (!self.by_thread).then(|| self.survey(process, &all, before));
            surveys.push((all, survey.transpose()?));
        }
        let mut readers: Vec<Reader<'_, Shown<'b, true>>> = Vec::new();
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
            sink.each(place, event)
        })?;
        let readers = readers.into_iter().enumerate();
        let parts = readers.map(|(process, reader)| (process, reader.finish(&processes[process])));
        Ok(Decoded::new(processes.len(), parts, remarks))
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
}

/// Whether something else than a thread was born.
struct Births(bool);

impl Sink for Births {
    fn born(&mut self, strand: &Strand) {
        self.0 |= strand.kind != Kind::Thread;
    }
}
