//! What the decoder was answered in the first look, when little was known.
//!
//! A second look takes the same events with what the first has found. If it gave the same answers,
//! it would do the same: then the first one's results are those of the second, and no event has to
//! be taken twice.

use crate::survey::{Near, Survey};
use rustc_hash::{FxHashMap, FxHashSet};

/// The answers of the first look.
#[derive(Clone, Debug, Default)]
pub(crate) struct Answers {
    /// Functions that were said not to have been entered.
    not_entered: FxHashSet<u32>,
    /// By call site, whether calls were said to be not the outermost of their stacks, and to be.
    outermost: FxHashMap<u64, [bool; 2]>,
    /// By call site and what the stack told, whether calls were said to be further ones of a fiber.
    further: FxHashSet<(u64, bool, bool)>,
    /// By call site and function of what was taken for callbacks: how far they were below what they
    /// were called from, at most.
    callbacks: FxHashMap<(u64, u64), u64>,
    /// Call sites from which fibers were taken to begin, and whether next below an open call.
    starts: FxHashSet<(u64, Near)>,
    /// Call sites of what was taken for further calls of fibers for certain, and whether the code
    /// that made the first call of the fiber makes it.
    told_further: FxHashSet<(u64, bool)>,
    /// An answer cannot be compared.
    may_differ: bool,
    /// The decoder has known from the beginning that coroutines' frames are captured.
    pub expects_captures: bool,
}

impl Answers {
    /// An answer cannot be compared with what the second look would give.
    pub fn may_differ(&mut self) {
        self.may_differ = true;
    }

    /// Whether all answers so far can be compared.
    #[inline]
    pub fn can_be_compared(&self) -> bool {
        !self.may_differ
    }

    /// The function had not been entered yet.
    pub fn not_entered(&mut self, function: u32) {
        self.not_entered.insert(function);
    }

    /// Whether a call from `site` was the outermost of its stack.
    pub fn outermost(&mut self, site: u64, is_outermost: bool) {
        let given = self.outermost.entry(site).or_default();
        given[usize::from(is_outermost)] = true;
    }

    /// Whether a call from `site` was a further one of a fiber, if that was `likely`.
    pub fn further(&mut self, site: u64, likely: bool, is_further: bool) {
        self.further.insert((site, likely, is_further));
    }

    /// A call from this site to this function, so far below another, was taken for a callback for
    /// certain.
    pub fn callback(&mut self, kind: (u64, u64), distance: u64) {
        let most = self.callbacks.entry(kind).or_default();
        *most = distance.max(*most);
    }

    /// A call from `site` was taken for a fiber's first for certain.
    pub fn start(&mut self, site: u64, near: Near) {
        self.starts.insert((site, near));
    }

    /// A call from `site` was taken for a further one of a fiber for certain.
    pub fn told_further(&mut self, site: u64, by_its_code: bool) {
        self.told_further.insert((site, by_its_code));
    }

    /// Whether that holds for certain which was taken to.
    fn are_certain(&self, found: &Survey) -> bool {
        let sites = &found.first_call_sites;
        let votes = |site: &u64| found.sites.get(site).copied().unwrap_or_default();
        let callback = |(kind, &most): (&(u64, u64), &u64)| {
            votes(&kind.0).tell_callback(most) && !found.is_further_than_others(*kind, most)
        };
        let start = |(site, near): &(u64, Near)| {
            votes(site).tell_outermost(*near) && sites.tell_start(*site)
        };
        let further = |&(site, by_its_code): &(u64, bool)| sites.tell_further(site, by_its_code);
        self.callbacks.iter().all(callback)
            && self.starts.iter().all(start)
            && self.told_further.iter().all(further)
    }

    /// Whether these are the answers of a look that knows what was `found`.
    pub fn are_those_of(&self, found: &Survey) -> bool {
        let sites = &found.first_call_sites;
        let outermost = |(site, given): (&u64, &[bool; 2])| {
            let votes = found.sites.get(site);
            votes.is_some_and(|votes| !given[usize::from(!votes.is_root())])
        };
        !self.may_differ
            && (self.expects_captures || !found.captures)
            && found.inner_sites.is_empty()
            && found.went_on.is_empty()
            && self.are_certain(found)
            && self.not_entered.is_disjoint(&found.entered)
            && self.outermost.iter().all(outermost)
            && self
                .further
                .iter()
                .all(|&(site, likely, is_further)| sites.may_be_further(site, likely) == is_further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::survey::Votes;

    const SITE: u64 = 0x10;

    /// A look that has found that fibers begin at [`SITE`], and that function 1 was entered.
    fn found() -> Survey {
        let mut found = Survey::default();
        let votes = Votes {
            far: 9,
            ..Votes::default()
        };
        found.sites.insert(SITE, votes);
        found.first_call_sites.note(SITE, 1);
        found.entered.insert(1);
        found.conclude();
        found
    }

    /// Whether a look may go on that has given some answers, if it has found that.
    fn settles(give: impl FnOnce(&mut Answers)) -> bool {
        let mut answers = Answers::default();
        give(&mut answers);
        answers.are_those_of(&found())
    }

    #[test]
    fn a_look_goes_on_if_all_its_answers_would_be_the_same() {
        assert!(settles(|_| ()));
        assert!(settles(|answers| answers.not_entered(2)));
        assert!(settles(|answers| answers.outermost(SITE, true)));
        assert!(settles(|answers| answers.further(SITE, true, false)));
    }

    #[test]
    fn a_look_does_not_go_on_if_one_would_be_another() {
        assert!(!settles(|answers| answers.not_entered(1)));
        assert!(!settles(|answers| answers.outermost(SITE, false)));
        assert!(!settles(|answers| answers.outermost(SITE + 1, true)));
        assert!(!settles(|answers| answers.further(SITE, true, true)));
        assert!(!settles(Answers::may_differ));
    }

    #[test]
    fn what_was_taken_for_certain_must_be_so_in_the_end() {
        assert!(settles(|answers| answers.start(SITE, Near::Far)));
        assert!(!settles(|answers| answers.start(SITE, Near::Close)));
        assert!(!settles(|answers| answers.start(SITE + 1, Near::No)));
        assert!(!settles(|answers| answers.told_further(SITE + 1, true)));
        assert!(settles(|answers| answers.callback((SITE + 1, 1), 0)));
        assert!(!settles(|answers| answers.callback((SITE, 1), 0)));
    }

    #[test]
    fn captures_must_be_known_before_all_events() {
        let mut captures = found();
        captures.captures = true;
        let mut answers = Answers::default();
        assert!(!answers.are_those_of(&captures));
        answers.expects_captures = true;
        assert!(answers.are_those_of(&captures));
    }
}
