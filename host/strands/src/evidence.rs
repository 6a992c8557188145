//! Facts about call sites from the first look at a group's events, and from this one.

use crate::answers::Answers;
use crate::lost::GoneOnFiber;
use crate::offsets::Offsets;
use crate::stacks::LITTLE;
use crate::survey::{FirstCallSites, Near, Places, Survey, Votes};
use heddle_calls::End;
use std::borrow::Cow;

/// The facts of the first look, if this is the second, and those that are found now.
pub(crate) struct Evidence<'a> {
    known: Option<Cow<'a, Survey>>,
    survey: Survey,
    /// The function that was noted last as entered.
    latest_entered: Option<u32>,
    /// Places where stacks have been, during the first look.
    places: Places,
    /// What the decoder was answered during the first look.
    answers: Answers,
}

/// A call by uninstrumented code, outside the stacks of threads.
pub(crate) struct Start {
    pub site: u64,
    pub function: u64,
    pub sp: u64,
    /// See [`crate::sites::Sites::made_at`].
    pub made_at: u64,
    /// The function that the call site is in, where that is known.
    pub holder: Option<u32>,
    /// If it is next below the innermost call of the stack that runs: that call's function, and how
    /// far below.
    pub near: Option<(u32, u64)>,
    /// If whole stacks that rest lie between the two, and it is less than 4 KB below: the same.
    /// Whether their fibers were abandoned is not known.
    pub over: Option<(u32, u64)>,
    /// How far it is below the innermost call of another stack, if it is.
    pub behind: Option<u64>,
    /// It is where the stack that runs has had its outermost call, which has ended: so what rests
    /// right above may have made both.
    pub again: bool,
    /// Recording began within calls, as far as has been seen.
    pub within: bool,
}

impl Start {
    /// See [`Near`].
    fn near(&self) -> Near {
        let near = self.near.or(self.over).map(|(_, distance)| distance);
        Near::of(near.or(self.behind.filter(|_| self.again)), self.behind)
    }
}

impl<'a> Evidence<'a> {
    /// Fewer callbacks decide nothing.
    const MANY: u64 = 8;

    /// Nothing is seen yet; `known`: what a first look at the same events found.
    pub fn new(known: Option<&'a Survey>) -> Self {
        let offsets = known.map_or_else(Offsets::default, |known| known.offsets.clone());
        Evidence {
            known: known.map(Cow::Borrowed),
            survey: Survey {
                offsets,
                ..Survey::default()
            },
            latest_entered: None,
            places: Places::default(),
            answers: Answers::default(),
        }
    }

    /// Coroutines' frames are captured, and the decoder has been told so before all events.
    pub fn expect_captures(&mut self) {
        self.answers.expects_captures = true;
    }

    /// Whether the second look may begin without the events being taken anew, as far as is known.
    #[inline]
    pub fn may_settle(&self) -> bool {
        self.answers.can_be_compared()
    }

    /// The first look is over: the second begins, if that needs not take the events anew, because
    /// it would answer the decoder as the first has. Whether that is so.
    pub fn has_settled(&mut self) -> bool {
        let mut found = self.survey.clone();
        found.conclude();
        let settled = self.answers.are_those_of(&found);
        if settled {
            let known = Some(Cow::Owned(found));
            *self = Evidence {
                known,
                ..Evidence::new(None)
            };
        }
        settled
    }

    /// Whether this is the first look.
    pub fn is_first_look(&self) -> bool {
        self.known.is_none()
    }

    /// The facts that this look has found.
    #[inline]
    pub fn survey(&self) -> &Survey {
        &self.survey
    }

    /// The same, when all has been seen. `is_part`: the recording may lack calls.
    pub fn conclude(mut self, is_part: bool) -> Survey {
        self.survey.is_part = is_part;
        self.survey.conclude();
        self.survey
    }

    /// The facts of the first look, or, if this is that, those that it has found.
    fn facts(&self) -> &Survey {
        self.known.as_deref().unwrap_or(&self.survey)
    }

    /// A coroutine's frame was captured.
    pub fn note_capture(&mut self) {
        self.survey.captures = true;
        self.survey.begun = true;
    }

    /// Whether coroutines' frames are captured, as far as is known.
    pub fn captures(&self) -> bool {
        let known = self.known.as_deref();
        let known = known.is_some_and(|known| known.captures);
        known || self.answers.expects_captures || self.survey.captures
    }

    /// A call began outside the threads' own stacks.
    pub fn note_other_strand(&mut self) {
        self.survey.begun = true;
    }

    /// A fiber has begun with a call from this site on a stack that lies within a thread's own.
    pub fn note_inner(&mut self, site: u64) {
        self.survey.inner_sites.insert(site);
        self.survey.begun = true;
    }

    /// Whether fibers begin with calls from this site on stacks that lie within a thread's own.
    pub fn begins_inner(&self, site: u64) -> bool {
        let known = self.known.as_deref();
        known.is_some_and(|known| known.inner_sites.contains(&site))
    }

    /// Whether fibers begin with calls from this site elsewhere than within a thread's own stack.
    pub fn begins_fibers(&mut self, site: u64) -> bool {
        self.note_guess();
        let facts = self.facts();
        let is_root = facts.sites.get(&site).is_some_and(|votes| votes.is_root());
        is_root && facts.first_call_sites.holds(site)
    }

    /// This call of a fiber was taken for gone, because another fiber began on its stack, but went
    /// on at `time`. `alone`: none that was there before it did.
    pub fn note_went_on(&mut self, gone: &GoneOnFiber, alone: bool, time: u64) {
        self.survey.shared.note(gone.base, gone.fiber);
        if self.is_first_look() {
            self.survey.went_on.note(&gone.call, alone, time);
        }
    }

    /// Whether fibers share the stack that has an outermost call at `sp`.
    pub fn is_shared(&self, sp: u64) -> bool {
        let known = self.known.as_deref();
        known.is_some_and(|known| known.shared.holds(sp))
    }

    /// The function was entered.
    #[inline]
    pub fn note_entered(&mut self, function: u32) {
        if self.latest_entered != Some(function) && self.is_first_look() {
            self.survey.entered.insert(function);
            self.latest_entered = Some(function);
        }
    }

    /// Whether the first look has seen that function entered.
    pub fn was_entered(&mut self, function: u32) -> bool {
        match self.known.as_deref() {
            Some(known) => known.entered.contains(&function),
            None => {
                self.answers.not_entered(function);
                false
            }
        }
    }

    /// Whether the first look has seen how calls from that site begin.
    pub fn knows_site(&self, site: u64) -> bool {
        let known = self.known.as_deref();
        known.is_some_and(|known| known.sites.contains_key(&site))
    }

    /// The differences of stack pointers at exits from those at enters.
    pub fn offsets(&self) -> &Offsets {
        &self.survey.offsets
    }

    /// A call of this function was left so many bytes above where it was entered.
    pub fn note_offset(&mut self, function: u64, by: i64) {
        // An earlier exit might have been told by it.
        self.answers.may_differ();
        self.survey.offsets.note(function, by);
    }

    /// Where fibers make the first of their outermost calls from.
    pub fn first_call_sites(&self) -> &FirstCallSites {
        &self.facts().first_call_sites
    }

    /// Whether a call from `site` to `function` has begun where no stack had ever been.
    pub fn was_fresh(&mut self, site: u64, function: u64) -> bool {
        let was_fresh = self.first_call_sites().was_fresh(site, function);
        if !was_fresh {
            self.note_guess();
        }
        was_fresh
    }

    /// Whether a fiber has begun where no stack had ever been, with a call from elsewhere than from
    /// `site`.
    pub fn others_begin(&mut self, site: u64) -> bool {
        self.note_guess();
        self.first_call_sites().others_begin(site)
    }

    /// The decoder has decided something in the first look that it might not in the second.
    pub fn note_guess(&mut self) {
        if self.is_first_look() {
            self.answers.may_differ();
        }
    }

    /// The decoder has asked whether a call from `site` can be a further one of a fiber whose stack
    /// is there, and empty; `likely`: as far as that stack tells.
    pub fn note_asked_further(&mut self, site: u64, likely: bool) {
        if self.is_first_look() {
            let further = self.first_call_sites().may_be_further(site, likely);
            self.answers.further(site, likely, further);
        }
    }

    /// A call from this site to this function was made so far below its caller.
    pub fn note_above(&mut self, site: u64, function: u64, above: u64) {
        if self.is_first_look() {
            self.survey.note_above(site, function, above);
        }
    }

    /// Whether a call from this site to this function is hardly ever so far below its caller.
    pub fn is_far_below_caller(&self, site: u64, function: u64, above: u64) -> bool {
        let known = self.facts().above.get(&(site, function));
        above >= LITTLE && known.is_some_and(|&least| above > 2 * least)
    }

    /// Whether a call by uninstrumented code is hardly ever so far below what it was called from.
    pub fn is_far_below(&self, start: &Start, (above, distance): (u32, u64)) -> bool {
        let key = (start.site, start.function, above);
        let known = self.facts().distances.get(&key);
        let least = known.and_then(|known| known.iter().min());
        distance >= LITTLE && least.is_some_and(|&least| distance > 2 * least)
    }

    /// See [`Survey::is_further_than_others`].
    pub fn is_further_than_others(&self, start: &Start, distance: u64) -> bool {
        let kind = (start.site, start.function);
        self.facts().is_further_than_others(kind, distance)
    }

    /// Whether enough was seen to say that a call from this site, taken for a callback, is one. The
    /// first look takes it to be so, and is asked at its end. `distance`: how far it is below the
    /// frame that it was called back from.
    pub fn tells_callback(&mut self, start: &Start, votes: Votes, distance: u64) -> bool {
        if self.is_first_look() {
            let kind = (start.site, start.function);
            self.answers.callback(kind, distance);
            return true;
        }
        votes.tell_callback(distance) && !self.is_further_than_others(start, distance)
    }

    /// Whether enough was seen to say that a call from this site is the outermost of a stack, and
    /// a fiber's first. `is_part`: it may as well be a callback on a stack that was not seen to
    /// begin; else the first look takes it to be so, and is asked at its end.
    pub fn tells_start(&mut self, start: &Start, votes: Votes, is_part: bool) -> bool {
        if is_part {
            return votes.is_mostly_root()
                && self.is_seldom_mistaken(start.site, votes)
                && self.first_call_sites().tell_start(start.site);
        }
        let near = start.near();
        if self.is_first_look() {
            self.answers.start(start.site, near);
            return true;
        }
        votes.tell_outermost(near) && self.first_call_sites().tell_start(start.site)
    }

    /// Whether the call may be on another stack than the open call that it is next below.
    pub fn may_be_apart(&mut self, start: &Start, votes: Votes) -> bool {
        match start.near() {
            Near::No | Near::Far => true,
            near => {
                self.note_guess();
                votes.tell_outermost(near)
            }
        }
    }

    /// A call from this site was not the first of its stack, though it looked so.
    pub fn note_mistaken(&mut self, site: u64) {
        if self.is_first_look() {
            *self.survey.mistaken.entry(site).or_default() += 1;
        }
    }

    fn is_seldom_mistaken(&self, site: u64, votes: Votes) -> bool {
        let mistaken = self.facts().mistaken.get(&site).copied().unwrap_or(0);
        mistaken * 8 <= votes.far
    }

    /// Whether many of the calls from this site to this function were called back from where this
    /// one was, from calls of the function `above`.
    pub fn calls_back_often(&self, start: &Start, above: u32) -> bool {
        let (site, function) = (start.site, start.function);
        let facts = self.facts();
        let count = |above: u32| facts.called_back.get(&(site, function, above)).copied();
        let most = facts.most_called_back.get(&(site, function)).copied();
        count(above).unwrap_or(0) * 4 >= most.unwrap_or(0).max(Self::MANY)
    }

    /// Whether a call from this site to this function was called back from a call of the function
    /// `above`.
    pub fn calls_back(&self, start: &Start, above: u32) -> bool {
        let key = (start.site, start.function, above);
        self.facts().called_back.contains_key(&key)
    }

    /// Whether enough was seen to say that a call from `site` is a further one of a fiber; see
    /// [`FirstCallSites::tell_further`]. The first look takes it to be so, and is asked at its end.
    pub fn tells_further(&mut self, site: u64, by_its_code: bool) -> bool {
        if self.is_first_look() {
            self.answers.told_further(site, by_its_code);
            return true;
        }
        self.first_call_sites().tell_further(site, by_its_code)
    }

    /// A call from this site that was taken for a callback has ended.
    pub fn note_callback(&mut self, site: u64, end: End) {
        if let Some(votes) = self.survey.sites.get_mut(&site) {
            match end {
                End::Returned => votes.kept += 1,
                End::Unwound => votes.broken += 1,
                End::Open => {}
            }
        }
    }

    /// A call from this site was a further outermost one of a fiber.
    pub fn note_further(&mut self, site: u64) {
        if self.is_first_look() {
            self.survey.first_call_sites.note_further(site);
        }
    }

    /// A call from this site began on a stack that was seen to be made: the first on it; a further
    /// outermost one; or a callback, with others open.
    pub fn note_on_made_stack(
        &mut self,
        (site, function): (u64, u64),
        first: bool,
        callback: bool,
    ) {
        if !self.is_first_look() {
            return;
        }
        let votes = self.survey.sites.entry(site).or_default();
        votes.near += u64::from(callback);
        votes.far += u64::from(!callback);
        match first {
            true => self.survey.first_call_sites.note(site, function),
            false if callback => {}
            false => self.survey.first_call_sites.note_further(site),
        }
    }

    /// How calls from the site of this one begin, and whether they are the outermost of their
    /// stacks. `instrumented`: its caller may be open, but was not seen to begin, and the call says
    /// nothing of others.
    pub fn judge(&mut self, start: &Start, instrumented: bool) -> (Votes, bool) {
        let known = self.known.as_deref();
        let known = known.and_then(|known| known.sites.get(&start.site));
        let votes = match known {
            Some(&known) => known,
            None => self.vote(start, instrumented),
        };
        let first = self.is_first_look();
        // A recording that begins within calls has some far ones of callbacks at first: they must
        // not make all the others so.
        let few = first && votes.are_few();
        let root = match first {
            true if start.near.is_some() && start.within => votes.is_clearly_root(),
            true if few && self.survey.first_call_sites.holds(start.site) => true,
            _ => votes.is_root(),
        };
        if first {
            self.answers.outermost(start.site, root);
        }
        (votes, root)
    }

    /// Counts how a call from this site began.
    fn vote(&mut self, start: &Start, instrumented: bool) -> Votes {
        let survey = &mut self.survey;
        if let Some(holder) = start.holder {
            survey.holders.insert(start.site, holder);
        }
        let usual = start.near.is_some_and(|(above, distance)| {
            survey.note_called_back(start.site, start.function, above);
            survey.is_usual(start.site, start.function, above, distance)
        });
        if instrumented {
            return Votes::default();
        }
        // Stacks that lie beside each other are a usual distance apart, too.
        let again = !start.within && self.places.has_begun(start.site, start.sp);
        let votes = survey.sites.entry(start.site).or_default();
        votes.near += u64::from(usual && !again);
        votes.far += u64::from((start.near.is_none() && start.behind.is_none()) || again);
        *votes
    }

    /// A new stack begins with this call; `known_there`: something was where it is. That may have
    /// been lost: by calls that were taken for callbacks as long as little was known of their site.
    pub fn note_start(&mut self, start: &Start, known_there: bool, instrumented: bool) {
        if !self.is_first_look() {
            return;
        }
        let unused = self.places.is_new(start.sp);
        if start.near.is_none() {
            self.places.begins(start.site, start.sp);
        }
        // An instrumented caller that is not open was not seen to begin: that says nothing of
        // fibers.
        match unused && !known_there {
            _ if instrumented => {}
            true => self
                .survey
                .first_call_sites
                .note(start.site, start.function),
            false => self.survey.first_call_sites.note_either(start.site),
        }
    }
}
