//! Facts that a first look at the trace finds, and that a decoder must know from the beginning.

use crate::lost::WentOn;
use crate::offsets::Offsets;
use crate::stacks::{BASE, DOUBTFUL, LITTLE};
use rustc_hash::{FxHashMap, FxHashSet};

/// Facts about a group's events.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    /// Functions that were entered: the others have no hooks, or were not called.
    pub entered: FxHashSet<u32>,
    /// Call sites in uninstrumented code from which calls began outside the stacks of threads.
    pub sites: FxHashMap<u64, Votes>,
    /// From where fibers make the first of their outermost calls.
    pub first_call_sites: FirstCallSites,
    /// By call site, function, and function of the innermost call above: how far below that it
    /// began.
    pub distances: FxHashMap<(u64, u64, u32), Vec<u64>>,
    /// Coroutines' frames were captured.
    pub captures: bool,
    /// There was a call outside every thread's own stack, or of a coroutine.
    pub begun: bool,
    /// By how much stack pointers at exits differ from those at enters.
    pub offsets: Offsets,
    /// Call sites from which fibers begin on stacks that lie within a thread's own.
    pub inner_sites: FxHashSet<u64>,
    /// Stacks that fibers share, by where their outermost calls are: they are copied, or more than
    /// one fiber has open calls there.
    pub shared: Shared,
    /// Calls of fibers that went on after they were taken for gone.
    pub went_on: WentOn,
    /// The function that each of the call sites is in, where that is known.
    pub holders: FxHashMap<u64, u32>,
    /// By call site and function: how far above the call its caller was, at least.
    pub above: FxHashMap<(u64, u64), u64>,
    /// By call site, function, and function of the innermost call above: how often it was called
    /// back from there.
    pub called_back: FxHashMap<(u64, u64, u32), u64>,
    /// By call site and function: how far below the call above it the nearest such call began.
    pub nearest: FxHashMap<(u64, u64), u64>,
    /// By call site and function: the most of those that were called back from one function.
    pub most_called_back: FxHashMap<(u64, u64), u64>,
    /// By call site: how often a call from there turned out not to be the first of its stack,
    /// though it looked so.
    pub mistaken: FxHashMap<u64, u64>,
    /// The recording is a part of what the program did: it may lack calls, or parts of them.
    pub is_part: bool,
    /// The recording was filtered, and what was left out tells fibers apart.
    pub is_filtered: bool,
}

/// Call sites in uninstrumented code from which calls were the outermost of their stacks.
#[derive(Clone, Debug, Default)]
pub(crate) struct FirstCallSites {
    sites: FxHashMap<u64, Outermost>,
    /// Call sites from which no fiber begins, though many calls from them were seen.
    never: FxHashSet<u64>,
    /// Those of which that is certain.
    certainly_never: FxHashSet<u64>,
    /// Call sites and functions of calls that began where no stack had ever been.
    fresh: FxHashSet<(u64, u64)>,
}

/// How calls from one site began.
#[derive(Clone, Copy, Debug, Default)]
struct Outermost {
    /// Calls that began where no stack had ever been. A program that uses stacks again makes few of
    /// them, and they stand for all fibers: one call that is mistaken for one of them is one too
    /// many.
    fresh: u32,
    /// Calls that were a later outermost call of an existing fiber.
    further: u32,
    /// Calls that began where there had been a stack: a fiber's first outermost call, or a later
    /// one.
    either: u32,
}

/// Where stacks have begun so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct Places {
    used: FxHashSet<u64>,
    /// From which call site, and with which stack pointer.
    begun: FxHashSet<(u64, u64)>,
}

impl Places {
    /// Bytes that count as one place: outermost calls of one stack are closer.
    const SIZE: u64 = BASE;
    /// With so many places known, no further one counts as new: by then it has been seen what call
    /// sites do.
    const MOST: usize = 1 << 17;

    /// A stack begins at `sp` with a call from `site`, and nothing suggests otherwise.
    pub fn begins(&mut self, site: u64, sp: u64) {
        if self.begun.len() < Self::MOST {
            self.begun.insert((site, sp));
        }
    }

    /// A stack begins at `sp`. Whether none had been there before.
    pub fn is_new(&mut self, sp: u64) -> bool {
        if self.used.len() >= Self::MOST {
            return false;
        }
        let place = sp / Self::SIZE;
        let near = [place.wrapping_sub(1), place.wrapping_add(1)]
            .iter()
            .any(|at| self.used.contains(at));
        self.used.insert(place) && !near
    }

    /// Whether a stack began just so before.
    pub fn has_begun(&self, site: u64, sp: u64) -> bool {
        self.begun.contains(&(site, sp))
    }
}

/// The stacks that fibers share, by place: how many fibers went on there after another had begun,
/// and the latest of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shared(FxHashMap<u64, (u32, u64)>);

impl Shared {
    /// Fewer fibers prove nothing: the first look makes mistakes.
    const ENOUGH: u32 = 3;

    /// The fiber with this number went on, on the stack with its outermost call at `base`.
    pub fn note(&mut self, base: u64, fiber: u64) {
        let (fibers, latest) = self.0.entry(base / Places::SIZE).or_default();
        *fibers += u32::from(*latest != fiber);
        *latest = fiber;
    }

    /// Whether fibers share the stack that has its outermost call at `sp`.
    pub fn holds(&self, sp: u64) -> bool {
        let place = sp / Places::SIZE;
        let mut near = place.saturating_sub(1)..=place + 1;
        near.any(|at| {
            let noted = self.0.get(&at);
            noted.is_some_and(|&(fibers, _)| fibers >= Self::ENOUGH)
        })
    }

    /// The fibers that were noted of each stack that is shared.
    fn known(&self) -> impl Iterator<Item = u32> {
        let fibers = self.0.values().map(|&(fibers, _)| fibers);
        fibers.filter(|&fibers| fibers >= Self::ENOUGH)
    }
}

impl FirstCallSites {
    /// A call from `site` to `function` began where no stack had ever been.
    pub fn note(&mut self, site: u64, function: u64) {
        self.sites.entry(site).or_default().fresh += 1;
        self.fresh.insert((site, function));
    }

    /// Whether one has.
    pub fn was_fresh(&self, site: u64, function: u64) -> bool {
        self.fresh.contains(&(site, function))
    }

    /// Whether a call from elsewhere than `site` has.
    pub fn others_begin(&self, site: u64) -> bool {
        self.fresh.iter().any(|&(other, _)| other != site)
    }

    /// A call from `site` was a further one of a fiber.
    pub fn note_further(&mut self, site: u64) {
        self.sites.entry(site).or_default().further += 1;
    }

    /// A call from `site` began where there had been a stack.
    pub fn note_either(&mut self, site: u64) {
        self.sites.entry(site).or_default().either += 1;
    }

    /// Whether calls from `site` are first ones. Some may be mistaken for that where threads run
    /// each other's fibers.
    pub fn holds(&self, site: u64) -> bool {
        self.sites.get(&site).is_some_and(Outermost::is_first)
    }

    /// Whether calls from `site` are never first ones.
    pub fn never_holds(&self, site: u64) -> bool {
        self.never.contains(&site)
    }

    /// Whether calls from `site` were outermost ones of stacks that were used before, and none of
    /// them looked like a further one of a fiber. So it is where recording began within the calls
    /// of all fibers, and no fiber has begun on another stack.
    pub fn is_never_further(&self, site: u64) -> bool {
        let calls = self.sites.get(&site);
        calls.is_some_and(|calls| calls.further == 0 && calls.either > 0) && !self.never_holds(site)
    }

    /// Whether a call from `site` can be a further one of a fiber whose stack is there, and empty;
    /// `likely`: as far as that stack tells.
    pub fn may_be_further(&self, site: u64, likely: bool) -> bool {
        (likely || self.never_holds(site)) && !self.holds(site) && !self.is_never_further(site)
    }

    /// Whether enough was seen to say that an outermost call from `site` is a fiber's first.
    pub fn tell_start(&self, site: u64) -> bool {
        self.holds(site) || self.is_only(site)
    }

    /// Whether enough was seen to say that an outermost call from `site` is a further one of a
    /// fiber. `by_its_code`: the function that made its first one makes this, or may jump to it.
    /// Another one may make that of a fiber which begins later, on a stack that is used again.
    pub fn tell_further(&self, site: u64, by_its_code: bool) -> bool {
        by_its_code && self.certainly_never.contains(&site)
    }

    /// Whether all calls that were outermost ones came from `site`.
    pub fn is_only(&self, site: u64) -> bool {
        self.sites.len() == 1 && self.sites.contains_key(&site)
    }

    /// The first look is over: decides from which call sites no fiber begins.
    pub fn conclude(&mut self) {
        self.never = self.never(Self::ODDS).collect();
        self.certainly_never = self.never(Self::CERTAIN).collect();
    }

    /// How likely it is at most that fibers do begin from a site that is taken for one from which
    /// none does: mostly, and where that is said to be certain.
    const ODDS: f64 = 0.02;
    const CERTAIN: f64 = 0.005;

    /// Call sites from which no fiber begins: if fibers began with calls from a site as often as
    /// those calls suggest, one of the new places would have had one, by all odds.
    fn never(&self, odds: f64) -> impl Iterator<Item = u64> + '_ {
        let first = self.sites.values().filter(|site| site.is_first());
        let (fresh, all) = first.fold((0, 0), |(fresh, all), site| {
            (fresh + site.fresh, all + site.fresh + site.either)
        });
        let never = self.sites.iter().filter(move |(_, site)| {
            let calls = site.either + site.further;
            let share = f64::from(calls) / f64::from(calls + all);
            site.fresh == 0 && (1.0 - share).powf(f64::from(fresh)) < odds
        });
        never.map(|(&site, _)| site)
    }
}

impl Outermost {
    fn is_first(&self) -> bool {
        self.fresh > self.further
    }
}

impl Survey {
    /// The conclusions so far.
    fn conclusions(&self) -> Conclusions {
        let mut roots: Vec<(u64, bool)> = self
            .sites
            .iter()
            .map(|(&site, votes)| (site, votes.is_root()))
            .collect();
        let mut first_call_sites: Vec<u64> = self
            .first_call_sites
            .sites
            .keys()
            .copied()
            .filter(|&site| self.first_call_sites.holds(site))
            .collect();
        let mut never: Vec<u64> = self.first_call_sites.never(FirstCallSites::ODDS).collect();
        roots.sort_unstable();
        first_call_sites.sort_unstable();
        never.sort_unstable();
        Conclusions {
            captures: self.captures,
            entered: self.entered.len(),
            inner_sites: self.inner_sites.len(),
            shared: self.shared.known().count(),
            roots,
            first_call_sites,
            never,
        }
    }

    /// The first look is over. Where recording began within calls, some call sites were taken for
    /// uninstrumented code's, because the function that they are in had not been entered by then;
    /// and calls from some were taken for outermost ones, that were callbacks.
    pub fn conclude(&mut self) {
        for (site, holder) in &self.holders {
            if self.entered.contains(holder) {
                self.sites.remove(site);
                self.first_call_sites.sites.remove(site);
            }
        }
        for (site, votes) in &self.sites {
            if votes.is_clearly_callback() {
                self.first_call_sites.sites.remove(site);
            }
        }
        self.first_call_sites.conclude();
    }

    /// Whether fibers run on stacks that lie within a thread's own.
    pub fn has_inner_stacks(&self) -> bool {
        !self.inner_sites.is_empty()
    }

    /// Notes how far above a call its caller is.
    pub fn note_above(&mut self, site: u64, function: u64, above: u64) {
        let least = self.above.entry((site, function)).or_insert(above);
        *least = above.min(*least);
    }

    /// Notes that a call was called back from calls of the function `above`.
    pub fn note_called_back(&mut self, site: u64, function: u64, above: u32) {
        let count = self.called_back.entry((site, function, above)).or_default();
        *count += 1;
        let most = self.most_called_back.entry((site, function)).or_default();
        *most = (*count).max(*most);
    }

    /// Whether a call by uninstrumented code is far below the call above it, and another of the
    /// kind, by its call site and function, was much nearer to its own: a frame may be that large,
    /// or it is on another stack.
    pub fn is_further_than_others(&self, kind: (u64, u64), distance: u64) -> bool {
        let nearest = self.nearest.get(&kind);
        distance >= DOUBTFUL && nearest.is_none_or(|&nearest| distance > 4 * nearest)
    }

    /// Whether a call began as far below the call above it as another did: uninstrumented code
    /// takes the same room each time, or one of few.
    pub fn is_usual(&mut self, site: u64, function: u64, above: u32, distance: u64) -> bool {
        const FEW: usize = 8;
        let nearest = self.nearest.entry((site, function)).or_insert(distance);
        *nearest = distance.min(*nearest);
        let known = self.distances.entry((site, function, above)).or_default();
        let usual = known.contains(&distance);
        if !usual && known.len() < FEW {
            known.push(distance);
        }
        usual
    }
}

/// The facts that the second look would get if the first one ended now; sorted, to be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Conclusions {
    captures: bool,
    entered: usize,
    inner_sites: usize,
    shared: usize,
    roots: Vec<(u64, bool)>,
    first_call_sites: Vec<u64>,
    never: Vec<u64>,
}

/// Decides when the first look has seen enough: a call site shows early and often what it does.
#[derive(Clone, Debug)]
pub(crate) struct Convergence {
    events: u64,
    /// Event count of the next convergence check; `step` is the distance to the one after it.
    next: u64,
    step: u64,
    /// Conclusions of the last two checks: at a quarter and at half as many events.
    found: [Option<Conclusions>; 2],
}

impl Convergence {
    /// Event count of the first convergence check.
    const FIRST: u64 = 1 << 18;
    /// The first look ends here, whatever it has found.
    pub const LAST: u64 = 1 << 24;

    pub fn new() -> Self {
        Convergence {
            events: 0,
            next: Self::FIRST,
            step: Self::FIRST,
            found: [None, None],
        }
    }

    /// Counts an event; whether the first look has to be asked if it needs another, by
    /// [`Convergence::is_new`]. `begun`: a call of another strand than a thread was seen.
    #[inline]
    pub fn is_due(&mut self, begun: bool) -> bool {
        self.events += 1;
        // A program may do much before it begins its first fiber.
        self.next += u64::from(!begun);
        self.events >= self.next || self.events >= Self::LAST
    }

    /// Counts the events before the one after which the first look has to be asked, or so many if
    /// they are fewer; gives how many. `begun`: see [`Convergence::is_due`].
    pub fn pass(&mut self, most: usize, begun: bool) -> usize {
        let most = most as u64;
        let before = match begun {
            true => self.next.min(Self::LAST).saturating_sub(self.events + 1),
            false => most.min(Self::LAST.saturating_sub(self.events + 1)),
        };
        let passed = before.min(most);
        self.events += passed;
        self.next += if begun { 0 } else { passed };
        passed as usize
    }

    /// Whether the first look needs another event, when that is due to be asked: it ends when four
    /// times as many events as it had seen at some check have not changed the conclusions.
    #[cold]
    #[inline(never)]
    pub fn is_new(&mut self, survey: &Survey) -> bool {
        if self.events >= Self::LAST {
            return false;
        }
        let now = Some(survey.conclusions());
        let is_new = now != self.found[0];
        self.next += self.step;
        self.step *= 2;
        self.found.rotate_left(1);
        self.found[1] = now;
        is_new
    }
}

/// Whether a call by uninstrumented code is next below an open one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Near {
    /// It is not, or is far below one of a stack that rests.
    No,
    /// It is far below that of the stack that runs, and may be on another one.
    Far,
    /// It is 1 to 4 KB below that of the stack that runs: a large frame may lie between the two, or
    /// the call is on another stack.
    Large,
    /// So close below that of the stack that runs that hardly anything was left of that, if it were
    /// on another one.
    Close,
    /// So close below one of a stack that rests: that is resumed, or gone.
    Behind,
}

impl Near {
    /// So many bytes below the innermost call of the stack that runs, and of one that rests.
    pub fn of(runs: Option<u64>, rests: Option<u64>) -> Self {
        match (runs, rests) {
            (Some(..LITTLE), _) => Near::Close,
            (_, Some(..LITTLE)) => Near::Behind,
            (Some(..DOUBTFUL), _) => Near::Large,
            (Some(_), _) => Near::Far,
            (None, _) => Near::No,
        }
    }
}

/// How the calls from a site began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Votes {
    /// Just below the innermost call of the stack that ran, and as far below as another call from
    /// there was: as a callback does.
    pub near: u64,
    /// With no call open above that could have made it: as the outermost call of another stack
    /// does. Below the innermost call of a stack that rested says nothing: stacks lie beside each
    /// other, and threads leave them and come back to them unseen.
    pub far: u64,
    /// Taken for callbacks, and returned as callbacks do: before what was called from.
    pub kept: u64,
    /// Taken for callbacks, and left open when what they were thought to be called from went on: a
    /// fiber that was suspended. An exception or longjmp looks the same, but seldom.
    pub broken: u64,
}

impl Votes {
    /// Fewer votes decide nothing: in the first look, some are mistaken.
    const ENOUGH: u64 = 8;

    /// Whether a call from this site is the outermost of its stack.
    pub fn is_root(self) -> bool {
        self.far > self.near || self.is_broken()
    }

    /// Whether there are too few to decide by.
    pub fn are_few(self) -> bool {
        self.near + self.far < 2 * Self::ENOUGH
    }

    fn is_broken(self) -> bool {
        self.broken >= Self::ENOUGH && self.broken * 4 > self.kept
    }

    /// Whether a call from this site is a callback by far.
    pub fn is_clearly_callback(self) -> bool {
        self.near > 4 * self.far && !self.is_broken()
    }

    /// Whether a call from this site is an outermost one, as most of not few were.
    pub fn is_mostly_root(self) -> bool {
        self.far >= 4 * Self::ENOUGH && self.far > 4 * self.near
    }

    /// Whether enough was seen to say that a call that was taken for a callback is one, so far
    /// below what it was called from.
    pub fn tell_callback(self, distance: u64) -> bool {
        let undisputed = self.far == 0 && (self.near > 0 || distance < 4 * LITTLE);
        undisputed || self.is_clearly_callback()
    }

    /// Whether enough was seen to say that a call that was taken for an outermost one is one.
    pub fn tell_outermost(self, near: Near) -> bool {
        match near {
            Near::No => true,
            Near::Far => self.near == 0 || self.is_clearly_root(),
            Near::Large => self.is_clearly_root(),
            Near::Close => false,
            Near::Behind => self.near == 0 || self.is_mostly_far(),
        }
    }

    /// Whether that is so by far, when not all calls have been seen.
    pub fn is_clearly_root(self) -> bool {
        self.is_mostly_far() || self.is_broken()
    }

    fn is_mostly_far(self) -> bool {
        self.far > 4 * self.near + 2 * Self::ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OPENS: u64 = 0x10;
    const CLOSES: u64 = 0x20;

    /// Fibers that make both calls, 100 of them, on so many stacks.
    fn sites_seen(stacks: u32) -> FirstCallSites {
        let mut first_call_sites = FirstCallSites::default();
        for fiber in 0..100 {
            match fiber < stacks {
                true => first_call_sites.note(OPENS, 1),
                false => first_call_sites.note_either(OPENS),
            }
            first_call_sites.note_either(CLOSES);
        }
        first_call_sites.conclude();
        first_call_sites
    }

    #[test]
    fn fibers_begin_where_one_began_on_a_new_stack() {
        let first_call_sites = sites_seen(8);
        assert!(first_call_sites.holds(OPENS) && !first_call_sites.holds(CLOSES));
        assert!(first_call_sites.never_holds(CLOSES) && !first_call_sites.never_holds(OPENS));
    }

    #[test]
    fn on_few_stacks_two_kinds_of_fibers_look_like_two_calls_of_one() {
        assert!(!sites_seen(2).never_holds(CLOSES));
    }

    /// Event count at which the first look ends, if there are only threads before event `begins`,
    /// and another function is entered at each of `news`.
    fn seen(begins: u64, news: &[u64]) -> u64 {
        let (mut survey, mut convergence) = (Survey::default(), Convergence::new());
        for event in 1.. {
            survey.begun |= event == begins;
            if let Some(function) = news.iter().position(|&at| at == event) {
                survey.entered.insert(function as u32);
            }
            if convergence.is_due(survey.begun) && !convergence.is_new(&survey) {
                return event;
            }
        }
        0
    }

    #[test]
    fn the_first_look_ends_when_four_times_as_much_has_told_nothing_else() {
        const FIRST: u64 = Convergence::FIRST;
        assert_eq!(seen(1, &[1, 1000]), 4 * FIRST);
        assert_eq!(seen(1, &[1, FIRST + 1]), 8 * FIRST);
        assert_eq!(seen(1, &[2 * FIRST + 1]), 16 * FIRST);
        let always: Vec<u64> = (0..64).map(|n| n * FIRST / 2).collect();
        assert_eq!(seen(1, &always), Convergence::LAST);
        assert_eq!(seen(9 * FIRST, &[]), 13 * FIRST - 1);
        assert_eq!(seen(u64::MAX, &[]), Convergence::LAST);
    }

    #[test]
    fn a_place_is_new_once() {
        let mut places = Places::default();
        assert!(places.is_new(0x10_0000));
        assert!(
            !places.is_new(0x10_0000 - BASE),
            "it may be the same stack's"
        );
        assert!(places.is_new(0x10_8000));
        assert!(!places.is_new(0x10_0040));
    }

    /// The numbers of the events after which the first look is to be asked, where another strand
    /// begins with the event of number `begins`, and so many may be passed at once.
    fn due(begins: u64, most: usize) -> Vec<u64> {
        let (mut look, mut due, mut events) = (Convergence::new(), Vec::new(), 0);
        let survey = Survey::default();
        while events < Convergence::LAST {
            events += 1;
            let begun = events >= begins;
            if look.is_due(begun) {
                look.is_new(&survey);
                due.push(events);
            }
            events += look.pass(most, begun) as u64;
        }
        due
    }

    #[test]
    fn passing_events_changes_little_when_the_first_look_is_asked() {
        for begins in [1, 100_000, 3_000_000] {
            let one_by_one = due(begins, 0);
            assert_eq!(one_by_one[0], Convergence::FIRST + begins - 1);
            for most in [1, 64, 1000] {
                let passing = due(begins, most);
                assert_eq!(passing.len(), one_by_one.len());
                for (event, before) in passing.iter().zip(&one_by_one) {
                    assert!(
                        event.abs_diff(*before) <= most as u64,
                        "{event} for {before}"
                    );
                }
            }
        }
    }
}
