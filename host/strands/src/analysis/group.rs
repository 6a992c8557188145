//! The threads of a process that do not stay alone: decoded together, in order of time.
//!
//! The first look finds the facts by which the second places what was seen early
//! ([`crate::answers`]). A first look that would have placed all as the second goes on as that.

use super::decoded::Part;
use super::events::each_of_next;
use crate::code::Code;
use crate::decoder::{Decoder, NotAlone};
use crate::inherited::Inherited;
use crate::sink::{Ignore, Sink};
use crate::survey::{Convergence, Survey};
use heddle_trace_file::{Error, EventKind, Process};

/// A first look that turns out so early not to go on as the second begins anew without a sink.
const EARLY: usize = 1 << 16;

/// Events that are taken together before anything is asked: while no strand has begun on another
/// stack, and while a first look may turn out not to go on.
const TOGETHER: usize = 64;

/// Threads of a process that are decoded together.
pub(super) struct Group<'a> {
    pub process: &'a Process,
    /// The index of the process.
    pub index: usize,
    pub code: &'a Code,
    pub threads: &'a [usize],
    /// The calls that the process began inside.
    pub before: &'a Inherited,
    /// The options of `heddle record` by which calls were left out.
    pub filters: Option<&'a str>,
    /// Another processor reads the events.
    pub is_piped: bool,
}

impl Group<'_> {
    /// Decodes the threads, in one look or two; `make` makes a sink for each.
    pub fn decode<S: Sink>(&self, make: impl Fn() -> S) -> Result<Part<S>, Error> {
        let survey = match self.at_once(make())? {
            Ok(part) => return Ok(part),
            Err(survey) => survey,
        };
        Ok(self.together(Some(&survey), make())?.0)
    }

    /// The facts that a first look finds.
    pub fn survey(&self) -> Result<Survey, Error> {
        Ok(self.together(None, Ignore)?.1)
    }

    /// Decodes the threads in one look, which is the first, and goes on as the second where that
    /// would have done the same. Else gives what the first look has found.
    fn at_once<S: Sink>(&self, sink: S) -> Result<Result<Part<S>, Survey>, Error> {
        if self.filters.is_some() {
            return Ok(Err(self.survey()?));
        }
        let at = (self.process, self.index);
        let mut decoder = Decoder::new(at, self.code, self.threads, false, None, sink);
        if self.captures()? {
            decoder.expect_captures();
        }
        self.begin_within(&mut decoder);
        let (mut look, mut settled) = (Some(Convergence::new()), false);
        let (mut early, mut may_settle) = (EARLY, true);
        // So many events come before something is to be asked again.
        let mut quiet = 0;
        let remarks = each_of_next(self.process, self.threads, self.is_piped, |events| {
            let taken = events.len().min(quiet.max(1));
            // It may be anywhere now.
            let _: Result<(), NotAlone> = decoder.feed_all(&events[..taken]);
            if quiet > 0 {
                quiet -= taken;
                return taken;
            }
            if early > 0 {
                early = early.saturating_sub(TOGETHER);
                may_settle = decoder.may_settle();
                if !may_settle {
                    return 0;
                }
            }
            let Some(first) = look.as_mut() else {
                quiet = usize::MAX;
                return taken;
            };
            let begun = decoder.has_begun();
            if first.is_due(begun) && !first.is_new(decoder.survey()) {
                look = None;
                settled = decoder.has_settled();
                return if settled { taken } else { 0 };
            }
            let most = if begun && early == 0 {
                usize::MAX
            } else {
                TOGETHER
            };
            quiet = first.pass(most, begun);
            taken
        })?;
        if !may_settle {
            return Ok(Err(self.survey()?));
        }
        settled |= look.is_some() && decoder.has_settled();
        let mut found = decoder.finish();
        Ok(match settled {
            true => Ok(Part::found(found, remarks)),
            false => Err(std::mem::take(&mut found.survey)),
        })
    }

    /// One look: the first, if nothing is known.
    fn together<S: Sink>(
        &self,
        known: Option<&Survey>,
        sink: S,
    ) -> Result<(Part<S>, Survey), Error> {
        let at = (self.process, self.index);
        let mut decoder = Decoder::new(at, self.code, self.threads, false, known, sink);
        self.begin_within(&mut decoder);
        let mut look = known.is_none().then(Convergence::new);
        let mut quiet = if look.is_none() { usize::MAX } else { 0 };
        let remarks = each_of_next(self.process, self.threads, self.is_piped, |events| {
            let taken = events.len().min(quiet.max(1));
            // It may be anywhere now.
            let _: Result<(), NotAlone> = decoder.feed_all(&events[..taken]);
            let Some(look) = look.as_mut().filter(|_| quiet == 0) else {
                quiet -= taken;
                return taken;
            };
            let begun = decoder.has_begun();
            if look.is_due(begun) && !look.is_new(decoder.survey()) {
                return 0;
            }
            quiet = look.pass(if begun { usize::MAX } else { TOGETHER }, begun);
            taken
        })?;
        let mut found = decoder.finish();
        let mut survey = std::mem::take(&mut found.survey);
        if let Some(filters) = self.filters {
            survey.is_part = true;
            survey.is_filtered = hides_callers(filters) || found.unresolved.unplaced() > 0;
        }
        Ok((Part::found(found, remarks), survey))
    }

    /// The threads begin inside the calls that the process began inside.
    fn begin_within<S: Sink>(&self, decoder: &mut Decoder<'_, S>) {
        for &thread in self.threads {
            // It may be anywhere now.
            let _: Result<(), NotAlone> = decoder.begin_within(thread, self.before);
        }
    }

    /// Whether coroutines' frames are captured, as far as the first events of the threads tell.
    fn captures(&self) -> Result<bool, Error> {
        const FEW: usize = 1 << 14;
        if self.code.coroutines() == 0 {
            return Ok(false);
        }
        for &thread in self.threads {
            for event in self.process.threads()[thread].events().take(FEW) {
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
}

/// Whether what these options of `heddle record` leave out has calls around it that are recorded:
/// with fibers, nothing tells whose those are. The other options leave out calls with all that they
/// call, or all that is before a moment.
pub(super) fn hides_callers(filters: &str) -> bool {
    let mut words = filters.split_ascii_whitespace();
    words.any(|word| ["--filter", "--depth", "--start-at", "--stop-at"].contains(&word))
}
