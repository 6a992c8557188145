//! Which strands each thread runs, which are suspended, and so whether a critical section runs: a
//! lock is held by a thread, which may meanwhile run another strand than the one that took it.

use heddle_strands::StrandId;
use heddle_trace_file::{Addr, Nanos};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Suspended strands that are looked at for one section.
const MOST: usize = 1000;

/// The strands of one process.
#[derive(Default)]
pub struct Stacks {
    /// The strand that each thread ran at its latest event.
    runs: FxHashMap<usize, StrandId>,
    /// The strand that each thread ran before it resumed another, until a call of that follows.
    before: FxHashMap<usize, StrandId>,
    /// The strand on whose stack a coroutine runs: the one that has resumed it.
    around: FxHashMap<StrandId, StrandId>,
    /// The thread that ran a suspended strand last, and since when the strand is suspended.
    suspended: FxHashMap<StrandId, (usize, Nanos)>,
    /// The same by thread, in order of time.
    of_thread: FxHashMap<usize, BTreeSet<(Nanos, StrandId)>>,
    /// Strands that a thread ran until that time, and that have gone on on another one, by thread.
    moved: FxHashMap<usize, BTreeSet<(Nanos, StrandId)>>,
    /// The threads and times at which a strand is in there.
    moves: FxHashMap<StrandId, Vec<(usize, Nanos)>>,
    /// The function that a coroutine ran last: none of its calls is open while it is suspended.
    bodies: FxHashMap<StrandId, (Addr, Nanos)>,
    /// Since when strands that have gone on were suspended last.
    rested: FxHashMap<StrandId, Rest>,
    /// The functions of coroutines.
    of_coroutines: FxHashSet<Addr>,
    /// Threads that have run strands other than their own.
    weave: FxHashSet<usize>,
}

/// Where the section is in which a lock was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// On a strand that its thread ran at its latest event.
    Running(StrandId),
    /// On one that is suspended since then, as far as events tell: its thread may have gone back to
    /// it after its latest event.
    Suspended(StrandId, Nanos),
}

/// A time in which a strand was suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rest {
    pub since: Nanos,
    pub until: Nanos,
}

/// The strand that has a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    pub strand: StrandId,
    /// The thread that runs it, or that ran it last.
    pub thread: usize,
    pub suspended: bool,
}

impl Stacks {
    /// A thread has an event of this strand.
    pub fn runs(&mut self, thread: usize, strand: StrandId) {
        self.runs.insert(thread, strand);
        if strand != StrandId::of_thread(strand.process(), thread) {
            self.weave.insert(thread);
        }
    }

    /// The strand and those on whose stack it runs.
    fn chain(&self, strand: StrandId) -> Vec<StrandId> {
        let mut chain = vec![strand];
        let mut at = strand;
        while let Some(&around) = self.around.get(&at).filter(|it| !chain.contains(it)) {
            chain.push(around);
            at = around;
        }
        chain
    }

    /// A strand goes on, and those on whose stack it runs.
    pub fn resumed(&mut self, strand: StrandId, thread: usize, time: Nanos) {
        if let Some(&before) = self.runs.get(&thread) {
            self.before.insert(thread, before);
        }
        for strand in self.chain(strand) {
            let rested = self.suspended.get(&strand).copied();
            self.forget_suspended(strand);
            if let Some((_, since)) = rested {
                self.rested.insert(strand, Rest { since, until: time });
            }
            if let Some((from, since)) = rested.filter(|&(from, _)| from != thread) {
                self.moved.entry(from).or_default().insert((since, strand));
                self.moves.entry(strand).or_default().push((from, since));
            }
        }
        self.runs(thread, strand);
    }

    /// A strand is suspended, and those on whose stack it runs: gives all of them. The call of a
    /// coroutine's function has ended before if that alone is suspended.
    pub fn suspended(&mut self, strand: StrandId, thread: usize, time: Nanos) -> Vec<StrandId> {
        let chain = self.chain(strand);
        for &strand in &chain {
            self.forget_suspended(strand);
            self.suspended.insert(strand, (thread, time));
            let of_thread = self.of_thread.entry(thread).or_default();
            of_thread.insert((time, strand));
        }
        chain
    }

    fn forget_suspended(&mut self, strand: StrandId) {
        if let Some((thread, since)) = self.suspended.remove(&strand)
            && let Some(of_thread) = self.of_thread.get_mut(&thread)
        {
            of_thread.remove(&(since, strand));
        }
    }

    fn forget_moved(&mut self, strand: StrandId) {
        for (thread, since) in self.moves.remove(&strand).into_iter().flatten() {
            if let Some(moved) = self.moved.get_mut(&thread) {
                moved.remove(&(since, strand));
            }
        }
    }

    /// A call begins; `body`: of a coroutine's function.
    pub fn enter(&mut self, strand: StrandId, thread: usize, function: Addr, body: bool) {
        if body {
            self.of_coroutines.insert(function);
        }
        let before = self.before.remove(&thread);
        if let Some(before) = before.filter(|&before| body && before != strand) {
            self.around.insert(strand, before);
        }
        self.runs(thread, strand);
    }

    /// A call of a coroutine's function ends: its thread goes on with the strand around it.
    pub fn leave_body(&mut self, strand: StrandId, thread: usize, function: (Addr, Nanos)) {
        self.bodies.insert(strand, function);
        if let Some(around) = self.around.remove(&strand) {
            self.runs(thread, around);
        }
    }

    /// A strand will not run again.
    pub fn ended(&mut self, strand: StrandId) {
        self.forget_suspended(strand);
        self.forget_moved(strand);
        self.around.remove(&strand);
        self.bodies.remove(&strand);
        self.rested.remove(&strand);
    }

    /// Whether a thread has run other strands than its own.
    pub fn weaves(&self, thread: usize) -> bool {
        self.weave.contains(&thread)
    }

    /// Those that have.
    pub fn weaving(&self) -> impl Iterator<Item = usize> {
        self.weave.iter().copied()
    }

    /// Since when a strand is suspended.
    pub fn since(&self, strand: StrandId) -> Option<Nanos> {
        self.suspended.get(&strand).map(|&(_, since)| since)
    }

    /// When a strand that runs was suspended last, if it has been.
    pub fn rested(&self, strand: StrandId) -> Option<Rest> {
        self.rested.get(&strand).copied()
    }

    /// Whether this is the function of coroutines.
    pub fn is_body(&self, function: Addr) -> bool {
        self.of_coroutines.contains(&function)
    }

    /// The function of a coroutine that is suspended.
    pub fn body(&self, strand: StrandId) -> Option<(Addr, Nanos)> {
        let body = self.bodies.get(&strand);
        body.filter(|_| self.suspended.contains_key(&strand))
            .copied()
    }

    /// Where the section is in which `thread` has taken a lock, at `held_since` or later; `None`:
    /// that is not known. `rank`: which of the call sites that lead there is the first one in a
    /// function that is open on a strand, if any is. `certain`: so many of these sites are certain
    /// to be callers of one another; further ones may be of callers that the function whose section
    /// it is has in common with others, so they cannot tell that it runs.
    pub fn section(
        &self,
        process: usize,
        thread: usize,
        held_since: Nanos,
        certain: usize,
        mut rank: impl FnMut(StrandId) -> Option<usize>,
    ) -> Option<Section> {
        let own = StrandId::of_thread(process, thread);
        if !self.weaves(thread) {
            return Some(Section::Running(own));
        }
        let current = self.runs.get(&thread).copied().unwrap_or(own);
        let mut ranked = |strand| Some((rank(strand)?, strand));
        let chain = match self.suspended.contains_key(&current) {
            true => Vec::new(),
            false => self.chain(current),
        };
        let running = chain.into_iter().filter_map(&mut ranked);
        let running = running.min_by_key(|&(rank, _)| rank);
        // A strand that has rested since before the lock was taken has not taken it.
        let all = self.of_thread.get(&thread).into_iter().flatten().rev();
        let mut all = all.take_while(|&&(since, _)| since >= held_since);
        let suspended = all.by_ref().take(MOST);
        let suspended = suspended.filter_map(|&(since, strand)| Some((ranked(strand)?, since)));
        // Of several strands, the one counts that was suspended last.
        let suspended = suspended.min_by_key(|&((rank, _), _)| rank);
        if all.next().is_some() {
            return None;
        }
        let least = running.map_or(usize::MAX, |(rank, _)| rank);
        // A strand that has gone on on another thread may have taken the lock with it.
        let moved = self.moved.get(&thread).into_iter().flatten().rev();
        let mut moved = moved.take_while(|&&(since, _)| since >= held_since);
        let mut looked = 0;
        if moved.any(|&(_, strand)| {
            looked += 1;
            looked > MOST || ranked(strand).is_some_and(|(rank, _)| rank <= least)
        }) {
            return None;
        }
        match suspended {
            Some(((rank, _), _)) if rank == least => None,
            Some(((rank, strand), since)) if rank < least => {
                Some(Section::Suspended(strand, since))
            }
            _ => running
                .filter(|&(rank, _)| rank < certain)
                .map(|(_, strand)| Section::Running(strand)),
        }
    }
}

impl Stacks {
    /// The strand that has a lock which `thread` has taken, be it suspended or gone on on another
    /// thread; `None`: that is not known. The parameters are those of [`Stacks::section`].
    pub fn carrier(
        &self,
        process: usize,
        thread: usize,
        held_since: Nanos,
        certain: usize,
        mut rank: impl FnMut(StrandId) -> Option<usize>,
    ) -> Option<Carrier> {
        let own = StrandId::of_thread(process, thread);
        if !self.weaves(thread) {
            return Some(Carrier {
                strand: own,
                thread,
                suspended: false,
            });
        }
        let current = self.runs.get(&thread).copied().unwrap_or(own);
        let running = self.chain(current).into_iter();
        let gone = [&self.of_thread, &self.moved].into_iter();
        let gone = gone.flat_map(|sets| sets.get(&thread).into_iter());
        // A strand that has rested since before the lock was taken has not taken it.
        let gone = gone.flat_map(|set| set.iter().rev());
        let gone = gone.filter(|&&(since, _)| since >= held_since);
        let all: Vec<_> = running
            .chain(gone.map(|&(_, strand)| strand))
            .take(MOST + 1)
            .collect();
        let ranked = all
            .iter()
            .filter_map(|&strand| Some((rank(strand)?, strand)));
        let ranked: Vec<_> = ranked.collect();
        let &(least, strand) = ranked.iter().min_by_key(|&&(rank, _)| rank)?;
        let mut others = ranked.iter();
        let is_one = !others.any(|&(rank, other)| rank == least && other != strand);
        if all.len() > MOST || least >= certain || !is_one {
            return None;
        }
        let suspended = self.suspended.get(&strand).map(|&(thread, _)| thread);
        let mut running = self.runs.iter().filter(|(_, current)| {
            !self.suspended.contains_key(current) && self.chain(**current).contains(&strand)
        });
        let thread = match suspended {
            Some(thread) => thread,
            None => *running.next().filter(|_| running.next().is_none())?.0,
        };
        Some(Carrier {
            strand,
            thread,
            suspended: suspended.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREAD: usize = 0;

    fn strand(number: usize) -> StrandId {
        StrandId::of_thread(0, number)
    }

    fn section(stacks: &Stacks, held_since: u64, ranks: &[(usize, usize)]) -> Option<Section> {
        let rank = |at: StrandId| {
            let mut all = ranks.iter();
            let found = all.find(|(number, _)| strand(*number) == at);
            found.map(|&(_, rank)| rank)
        };
        stacks.section(0, THREAD, Nanos(held_since), 1, rank)
    }

    /// A thread that has gone from a fiber to another.
    fn woven() -> Stacks {
        let mut stacks = Stacks::default();
        stacks.resumed(strand(8), THREAD, Nanos(0));
        stacks.suspended(strand(8), THREAD, Nanos(10));
        stacks.resumed(strand(9), THREAD, Nanos(0));
        stacks
    }

    #[test]
    fn a_thread_with_no_other_strand_runs_its_own() {
        let mut stacks = Stacks::default();
        assert_eq!(
            section(&stacks, 0, &[]),
            Some(Section::Running(strand(THREAD)))
        );
        stacks.runs(THREAD, strand(8));
        assert_eq!(section(&stacks, 0, &[]), None);
    }

    #[test]
    fn a_section_is_where_its_function_is_open_if_that_is_one_strand() {
        let stacks = woven();
        let suspended = Some(Section::Suspended(strand(8), Nanos(10)));
        assert_eq!(
            section(&stacks, 0, &[(9, 0)]),
            Some(Section::Running(strand(9)))
        );
        assert_eq!(section(&stacks, 0, &[(8, 0)]), suspended);
        assert_eq!(section(&stacks, 0, &[(8, 1), (9, 2)]), suspended);
        assert_eq!(section(&stacks, 0, &[(8, 0), (9, 0)]), None);
        // A caller may be one that both have in common.
        assert_eq!(section(&stacks, 0, &[(9, 1)]), None);
    }

    #[test]
    fn it_is_known_when_a_strand_that_runs_was_suspended_last() {
        let mut stacks = woven();
        assert_eq!(stacks.rested(strand(8)), None);
        stacks.resumed(strand(8), THREAD, Nanos(20));
        let (since, until) = (Nanos(10), Nanos(20));
        assert_eq!(stacks.rested(strand(8)), Some(Rest { since, until }));
    }

    #[test]
    fn who_rests_since_before_a_lock_was_taken_has_not_taken_it() {
        let stacks = woven();
        assert_eq!(section(&stacks, 11, &[(8, 0)]), None);
        assert_eq!(
            section(&stacks, 11, &[(8, 0), (9, 0)]),
            Some(Section::Running(strand(9)))
        );
    }

    #[test]
    fn a_strand_that_has_gone_to_another_thread_may_have_the_lock_with_it() {
        let mut stacks = woven();
        stacks.resumed(strand(8), THREAD + 1, Nanos(0));
        let here = Some(Section::Running(strand(9)));
        assert_eq!(section(&stacks, 0, &[(8, 0), (9, 0)]), None);
        // It went before the lock was taken, or another function's section is within its own.
        assert_eq!(section(&stacks, 11, &[(8, 0), (9, 0)]), here);
        assert_eq!(section(&stacks, 0, &[(8, 1), (9, 0)]), here);
        stacks.ended(strand(8));
        assert_eq!(section(&stacks, 0, &[(8, 0), (9, 0)]), here);
    }

    #[test]
    fn a_lock_goes_with_the_strand_that_took_it_where_that_is_one() {
        let carrier = |stacks: &Stacks, ranks: &[(usize, usize)]| {
            let rank = |at: StrandId| {
                let mut all = ranks.iter();
                let found = all.find(|(number, _)| strand(*number) == at);
                found.map(|&(_, rank)| rank)
            };
            stacks.carrier(0, THREAD, Nanos(0), 1, rank)
        };
        let has = |number, thread, suspended| {
            Some(Carrier {
                strand: strand(number),
                thread,
                suspended,
            })
        };
        let mut stacks = woven();
        assert_eq!(carrier(&stacks, &[(8, 0)]), has(8, THREAD, true));
        assert_eq!(carrier(&stacks, &[(9, 0)]), has(9, THREAD, false));
        assert_eq!(carrier(&stacks, &[(8, 0), (9, 0)]), None);
        // A caller may be one that both have in common.
        assert_eq!(carrier(&stacks, &[(8, 1)]), None);
        stacks.resumed(strand(8), THREAD + 1, Nanos(0));
        assert_eq!(carrier(&stacks, &[(8, 0)]), has(8, THREAD + 1, false));
        stacks.suspended(strand(8), THREAD + 1, Nanos(20));
        assert_eq!(carrier(&stacks, &[(8, 0)]), has(8, THREAD + 1, true));
    }

    #[test]
    fn a_strand_runs_while_a_coroutine_runs_on_its_stack_and_rests_with_it() {
        let mut stacks = woven();
        stacks.resumed(strand(20), THREAD, Nanos(0));
        stacks.enter(strand(20), THREAD, Addr(1), true);
        assert_eq!(
            section(&stacks, 0, &[(9, 0)]),
            Some(Section::Running(strand(9)))
        );
        let both = [strand(20), strand(9)];
        assert_eq!(stacks.suspended(strand(20), THREAD, Nanos(30)), both);
        stacks.resumed(strand(8), THREAD, Nanos(0));
        assert_eq!(stacks.since(strand(9)), Some(Nanos(30)));
        stacks.suspended(strand(8), THREAD, Nanos(40));
        stacks.resumed(strand(20), THREAD, Nanos(0));
        assert_eq!(stacks.since(strand(9)), None);
        // Its own call ends first if it alone is suspended.
        stacks.leave_body(strand(20), THREAD, (Addr(1), Nanos(20)));
        assert_eq!(
            stacks.suspended(strand(20), THREAD, Nanos(50)),
            [strand(20)]
        );
        assert_eq!(stacks.body(strand(20)), Some((Addr(1), Nanos(20))));
        assert_eq!(
            section(&stacks, 0, &[(9, 0)]),
            Some(Section::Running(strand(9)))
        );
    }
}
