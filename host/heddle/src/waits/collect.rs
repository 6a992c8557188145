//! Takes the events of one process in order of time, and puts each wait on the strand and in the
//! call in which it was.

use super::blocked::Blocked;
use super::carriers::Carriers;
use super::key::Key;
use super::lives::Lives;
use super::names::{Describe, Met, own_function, takes_locks};
use super::stacks::{Carrier, Section, Stacks};
use super::sum::Sum;
use super::waiters::{Latest, Waiters};
use super::wakeups::{Wakeups, Woken};
use crate::names::Names;
use crate::open_calls::OpenCalls;
use heddle_calls::End;
use heddle_strands::{Call, Kind, Sink, Strand, StrandId, StrandSpan};
use heddle_symbols::Location;
use heddle_trace_file::{
    Addr, Event, EventKind, Holder, Nanos, Object, ObjectKind, Place, Trace, Wait,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// Result of the last one to come to a barrier, which has not waited.
const LAST_TO_COME: i32 = -1;

/// Whether what ended so was no wait after all: the last one to come to a barrier goes on at once,
/// and an error is one of what was asked for.
pub fn is_no_wait(error: i32) -> bool {
    [LAST_TO_COME, libc::EAGAIN, libc::EDEADLK, libc::EINVAL].contains(&error)
}

/// Whether a wait that ended so did not get what it was for: its time was over, or its thread was
/// cancelled.
fn has_given_up(error: i32) -> bool {
    [libc::ETIMEDOUT, libc::ECANCELED].contains(&error)
}

/// What a process's strands waited for.
pub struct Collect<'a> {
    trace: &'a Trace,
    process: usize,
    names: Rc<RefCell<Names<'a>>>,
    describe: Describe<'a>,
    open: OpenCalls,
    /// The waits that have not ended, by thread, innermost last: a handler may wait within one.
    waiting: FxHashMap<usize, Vec<Open>>,
    /// Those of them that began while it was known what the holder did.
    watched: usize,
    stacks: Stacks,
    /// Threads of which no more events come: their open calls have been closed.
    over: FxHashSet<usize>,
    /// When the latest wait for each object ended with that taken.
    taken: FxHashMap<Key, Nanos>,
    sums: BTreeMap<Key, Sum>,
    waiters: Waiters,
    wakeups: Wakeups,
    /// The waits of each thread that began last.
    latest: FxHashMap<usize, Latest>,
    lives: &'a Lives,
    /// Of the process's first event and its last.
    first: Nanos,
    last: Nanos,
    /// Until when its threads lived, where that is known.
    until: Nanos,
    blocked: Vec<Open>,
    /// The strands that have what waits were for that had not ended, with the kernel's numbers of
    /// the threads that took it.
    carriers: FxHashMap<Key, (u32, Carrier)>,
    /// Strands whose labels are wanted: those of `blocked` and `carriers`.
    wanted: FxHashSet<StrandId>,
    /// Labels of these, and of threads.
    labels: FxHashMap<StrandId, Rc<str>>,
    /// Strands that the program announced to wait.
    announced: Vec<Blocked>,
}

/// Which of some call sites is in the function of a call, if any is.
type Rank<'r> = dyn FnMut((Addr, Nanos)) -> Option<usize> + 'r;

/// A wait that has not ended.
struct Open {
    key: Key,
    kind: ObjectKind,
    address: Addr,
    strand: StrandId,
    thread: usize,
    begin: Nanos,
    /// Open calls of the strand then.
    depth: usize,
    function: Rc<str>,
    owner: Option<u32>,
    is_for_lock: bool,
    /// The readers that had a rwlock when the wait began.
    readers: u32,
    holder: Option<Holder>,
    counted_holder: Option<Holder>,
    timed: bool,
    writes: bool,
    shared: bool,
    mutex: Option<Key>,
    /// It was counted in [`Collect::watched`].
    watched: bool,
    /// What the holder did when the wait began. It is not known where nobody held the object, and
    /// where the holder may have let go before it did what is recorded of it.
    holder_was: Option<HolderWas>,
    /// The holder has let go since, so what its strand does next says nothing of the section.
    let_go: Option<Nanos>,
    /// What the holder has called since, if it waited for nothing.
    holder_called: HolderCalled,
}

/// A holder's long calls into the kernel (`heddle record --sched`) that have returned since another
/// began to wait.
#[derive(Clone, Copy, PartialEq, Eq)]
enum HolderCalled {
    Nothing,
    /// It was in one when the wait began.
    Around,
    /// The first began later, maybe after the holder had let go.
    Later,
}

/// What the holder of an object did all through another's wait for that.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Look {
    /// It ran, as far as is recorded.
    Ran,
    /// It waited for another object.
    Waited,
    /// It was suspended: its thread ran another strand.
    Suspended,
    /// It was in a long call into the kernel when the wait began.
    Called,
    /// It was off its processor when the wait began, as it waited for something not recorded.
    Blocked,
}

/// What the holder of an object did when another began to wait for that.
#[derive(Clone, Copy)]
enum HolderWas {
    /// This strand of a thread ran, or waited for something that is not recorded.
    NotWaiting(usize, StrandId),
    /// Its thread waited for another object, since a time.
    Waiting(usize, Nanos),
    /// Events so far told that its strand was suspended.
    Suspended(Suspended),
}

/// The strand of a holder that was suspended when another began to wait.
#[derive(Clone, Copy)]
struct Suspended {
    thread: usize,
    strand: StrandId,
    since: Nanos,
    /// The thread has run another strand since the wait began, and not yet this one again.
    sure: bool,
}

impl<'a> Collect<'a> {
    pub fn new(
        trace: &'a Trace,
        process: usize,
        names: Rc<RefCell<Names<'a>>>,
        lives: &'a Lives,
    ) -> Self {
        Collect {
            trace,
            process,
            describe: Describe::new(trace),
            names,
            open: OpenCalls::default(),
            waiting: FxHashMap::default(),
            watched: 0,
            stacks: Stacks::default(),
            over: FxHashSet::default(),
            taken: FxHashMap::default(),
            sums: BTreeMap::new(),
            waiters: Waiters::default(),
            wakeups: Wakeups::default(),
            latest: FxHashMap::default(),
            first: Nanos(u64::MAX),
            last: Nanos(0),
            until: Nanos(0),
            lives,
            blocked: Vec::new(),
            carriers: FxHashMap::default(),
            wanted: FxHashSet::default(),
            labels: FxHashMap::default(),
            announced: Vec::new(),
        }
    }

    /// The function that waits, by where it calls libc's.
    fn function(&self, strand: StrandId, thread: usize, (site, time): (Addr, Nanos)) -> Rc<str> {
        let names = &mut *self.names.borrow_mut();
        let calls = self.open.on(strand, thread).iter().rev().copied();
        own_function(names, self.process, calls, Some((site, time)))
    }

    fn depth(&self, strand: StrandId, thread: usize) -> usize {
        self.open.on(strand, thread).len()
    }

    fn sum(&mut self, key: Key, kind: ObjectKind, address: Addr) -> &mut Sum {
        let sum = self.sums.entry(key);
        sum.or_insert_with(|| Sum::new(kind, address))
    }

    fn begin(&mut self, strand: StrandId, thread: usize, time: Nanos, wait: Wait<'_>) {
        // A wait within the same call: the one before was left by a jump or a cancellation.
        let depth = self.depth(strand, thread);
        let waiting = self.waiting.entry(thread).or_default();
        let left = pop_if(waiting, |open| open.strand == strand && open.depth >= depth);
        if let Some(left) = left {
            self.end(left, time, 0);
        }
        let process = self.process;
        let key = match wait.number() {
            Some(number) => Key::Number(process, number),
            None => Key::Address(process, wait.address().0),
        };
        let holder_was = self.holder_was(key, &wait, time);
        self.watched += usize::from(holder_was.is_some());
        self.waiters.begin(key, time);
        if wait.kind == ObjectKind::Condition {
            self.wakeups.begin(key, thread, time, wait.shared);
        }
        let latest = self.latest.entry(thread).or_default();
        latest.begin(key, time);
        let open = Open {
            key,
            kind: wait.kind,
            address: wait.address(),
            strand,
            thread,
            begin: time,
            depth,
            function: self.function(strand, thread, (wait.site(), time)),
            owner: wait.owner(),
            is_for_lock: wait.is_for_lock(),
            readers: wait.readers(),
            holder: wait.holder(),
            counted_holder: wait.counted_holder(),
            timed: wait.timed,
            writes: wait.writes,
            shared: wait.shared,
            mutex: wait.mutex().map(|number| Key::Number(process, number)),
            watched: holder_was.is_some(),
            holder_was,
            let_go: None,
            holder_called: HolderCalled::Nothing,
        };
        self.waiting.entry(thread).or_default().push(open);
    }

    /// A condition's wait lets its mutex go, so it says nothing of that one; nor does a reader of
    /// several, of whom the latest alone is known.
    fn holder_was(&self, key: Key, wait: &Wait<'_>, time: Nanos) -> Option<HolderWas> {
        if !matches!(
            wait.kind,
            ObjectKind::Mutex | ObjectKind::SpinLock | ObjectKind::Semaphore
        ) {
            return None;
        }
        let holder = wait.holder().filter(|holder| !holder.released)?;
        let thread = self.describe.thread(self.process, holder.tid, time)?;
        match self.waiting.get(&thread).and_then(|waits| waits.last()) {
            None => match self.section(key, &holder, thread, time)? {
                Section::Running(strand) => Some(HolderWas::NotWaiting(thread, strand)),
                Section::Suspended(strand, since) => Some(HolderWas::Suspended(Suspended {
                    thread,
                    strand,
                    since,
                    sure: false,
                })),
            },
            Some(open) => {
                let lets_go = open.kind == ObjectKind::Condition
                    && open.mutex.is_none_or(|mutex| mutex == key);
                let waits = open.key != key && !lets_go;
                waits.then_some(HolderWas::Waiting(thread, open.begin))
            }
        }
    }

    /// On which strand of its thread the section is in which a holder has taken an object.
    /// `None`: that is not known, nor whether the strand has been suspended in the section before.
    fn section(&self, key: Key, holder: &Holder, thread: usize, time: Nanos) -> Option<Section> {
        let (process, held_since) = (self.process, self.held_since(key));
        let stacks = &self.stacks;
        self.ranked(holder, time, |certain, rank| {
            let first = |strand| self.first(strand, rank);
            let section = stacks.section(process, thread, held_since, certain, first)?;
            let Section::Running(strand) = section else {
                return Some(section);
            };
            // If somebody else took the lock while it was suspended, or later, it has taken the
            // lock since it went on.
            let rest = stacks.rested(strand).filter(|rest| rest.since > held_since);
            let Some(rest) = rest else {
                return Some(section);
            };
            // So it has in a call that began after that. A coroutine's own begins each time.
            let least = self.first(strand, rank);
            let mut takers = self.open.of(strand).filter(|&call| rank(call) == least);
            let runs_on =
                takers.all(|(function, enter)| enter >= rest.until && !stacks.is_body(function));
            runs_on.then_some(section)
        })
    }

    /// An object was taken then or later by who has it now.
    fn held_since(&self, key: Key) -> Nanos {
        self.taken.get(&key).copied().unwrap_or_default()
    }

    /// The lowest rank of a call that is open on a strand.
    fn first(&self, strand: StrandId, rank: &mut Rank<'_>) -> Option<usize> {
        let open = self.open.of(strand);
        let all = open.chain(self.stacks.body(strand));
        all.filter_map(rank).min()
    }

    /// Calls `ask` with the number of call sites where a holder took an object that are certain,
    /// and with what tells which of the sites is in the function of a call.
    fn ranked<T>(
        &self,
        holder: &Holder,
        time: Nanos,
        ask: impl FnOnce(usize, &mut Rank<'_>) -> T,
    ) -> T {
        let names = &mut *self.names.borrow_mut();
        let (sites, certain) = self.describe.sites(names, self.process, holder, time);
        ask(certain, &mut |(function, enter)| {
            let function = names.function(self.process, function, enter);
            let is_it = |site: &Rc<Location>| {
                (&site.module, &site.name) == (&function.module, &function.name)
            };
            // A call of std::mutex::lock that is open has not taken the lock: it waits.
            let at = sites.iter().position(is_it)?;
            (!takes_locks(&function)).then_some(at)
        })
    }

    /// What was counted of an object, as it was at the end.
    fn counted(&self, key: Key) -> Option<&Object> {
        let Key::Number(process, number) = key else {
            return None;
        };
        let objects = self.trace.processes()[process].objects()?;
        objects.by_number(number)
    }

    /// Finds the strand that has what a wait is for, now that no more events will come.
    fn find_carrier(&mut self, key: Key) {
        let holder = self.counted(key).and_then(|object| object.holder);
        let Some(holder) = holder.filter(|holder| !holder.released) else {
            return;
        };
        let Some(thread) = self.describe.thread(self.process, holder.tid, self.last) else {
            return;
        };
        let (process, held_since) = (self.process, self.held_since(key));
        let carrier = self.ranked(&holder, self.last, |certain, rank| {
            let first = |strand| self.first(strand, rank);
            let stacks = &self.stacks;
            stacks.carrier(process, thread, held_since, certain, first)
        });
        if let Some(carrier) = carrier {
            self.wanted.insert(carrier.strand);
            self.carriers.insert(key, (holder.tid, carrier));
        }
    }

    /// A thread has an event of a strand, so waiters know whether its suspended strands rest.
    fn runs(&mut self, thread: usize, strand: StrandId) {
        self.stacks.runs(thread, strand);
        if self.watched == 0 || !self.stacks.weaves(thread) {
            return;
        }
        let stacks = &self.stacks;
        for open in self.waiting.values_mut().flatten() {
            if let Some(HolderWas::Suspended(was)) = &mut open.holder_was
                && was.thread == thread
                && !was.sure
            {
                was.sure = stacks.since(was.strand) == Some(was.since);
                if !was.sure {
                    open.holder_was = None;
                }
            }
        }
    }

    /// What the holder did all through a wait that has ended; `None`: that is not known. A holder
    /// that still waits, or is suspended, has let go before that, unless the waiter has given up.
    /// One that began to wait meanwhile, called into the kernel, or was suspended, may have done so
    /// before it let go or after. One that has not let go may be in a call that has not returned.
    fn look(&self, open: &Open, time: Nanos, error: i32) -> Option<Look> {
        let (thread, begin) = match (open.holder_was?, open.holder_called) {
            (HolderWas::NotWaiting(..), HolderCalled::Around) => return Some(Look::Called),
            (HolderWas::NotWaiting(..), HolderCalled::Later) => return None,
            (HolderWas::NotWaiting(thread, _), HolderCalled::Nothing) => {
                let latest = self.latest.get(&thread);
                let begin = latest.and_then(|latest| latest.for_other_than(open.key));
                let ran = begin.is_none_or(|begin| begin < open.begin) && !has_given_up(error);
                return self.ran(open, thread, time).filter(|_| ran);
            }
            (HolderWas::Waiting(thread, begin), _) => (thread, begin),
            (HolderWas::Suspended(was), _) => {
                let rests = self.stacks.since(was.strand) == Some(was.since);
                let known = was.sure && (!rests || has_given_up(error));
                return known.then_some(Look::Suspended);
            }
        };
        let waits = self.waiting.get(&thread).into_iter().flatten();
        let still = waits.into_iter().any(|wait| wait.begin == begin);
        (!still || has_given_up(error)).then_some(Look::Waited)
    }

    /// Says what the holder did during a wait that ended at this time. No event of the holder says
    /// that it waited then, but the kernel may say that it was blocked.
    fn ran(&self, open: &Open, holder: usize, time: Nanos) -> Option<Look> {
        let tid = self.trace.processes()[self.process].threads()[holder].tid();
        let let_go = open.let_go.unwrap_or(time);
        match self.lives.blocked(tid, open.begin, let_go) {
            None => Some(Look::Ran),
            // It has let go after it came back.
            Some(off) if off.from <= open.begin && off.to <= time && !off.open => {
                Some(Look::Blocked)
            }
            // It may have let go before.
            Some(_) => None,
        }
    }

    /// A long call into the kernel has returned: those that wait for what its thread has know it.
    fn called(&mut self, thread: usize, since: Nanos) {
        let waits = self.waiting.values_mut().flatten();
        let for_it = |open: &&mut Open| {
            let holder =
                matches!(open.holder_was, Some(HolderWas::NotWaiting(at, _)) if at == thread);
            holder && open.holder_called == HolderCalled::Nothing
        };
        for open in waits.filter(for_it) {
            open.holder_called = match since <= open.begin {
                true => HolderCalled::Around,
                false => HolderCalled::Later,
            };
        }
    }

    /// A thread wakes those that wait for an object: if it had that, it has let go.
    fn lets_go(&mut self, key: Key, thread: usize, time: Nanos) {
        let matters = self.stacks.weaves(thread) || self.lives.have_stretches();
        if self.watched == 0 || !matters {
            return;
        }
        for open in self.waiting.values_mut().flatten() {
            let holder =
                matches!(open.holder_was, Some(HolderWas::NotWaiting(at, _)) if at == thread);
            if holder && open.key == key {
                open.let_go.get_or_insert(time);
            }
        }
    }

    /// From the first event to the last, or to the end of the threads where that is known.
    pub fn span(&self) -> Nanos {
        let end = self.last.max(self.until);
        Nanos(end.0.saturating_sub(self.first.0))
    }

    /// Until when a thread lived whose end it did not record; `None`: that is not known.
    fn until(&self, thread: usize) -> Option<Nanos> {
        let process = &self.trace.processes()[self.process];
        // Exec leaves one thread of its number, which has ended all the same.
        let until = self.lives.until(&process.threads()[thread]);
        let until = until.filter(|_| !process.replaced());
        until.or_else(|| process.ended().then_some(self.last))
    }

    /// Adds the time in which somebody waited, if this was the last one to do so.
    fn cover(&mut self, open: &Open, time: Nanos) {
        self.watched -= usize::from(open.watched);
        if let Some(took) = self.waiters.end(open.key, time) {
            let sum = self.sum(open.key, open.kind, open.address);
            sum.covered = Nanos(sum.covered.0.saturating_add(took.0));
        }
    }

    fn end(&mut self, open: Open, time: Nanos, error: i32) {
        self.cover(&open, time);
        let by_wake = !has_given_up(error);
        self.wakeups.end(open.key, open.thread, open.begin, by_wake);
        // Who comes last to a barrier lets the others go on.
        if (open.kind, error) == (ObjectKind::Barrier, LAST_TO_COME) {
            let sum = self.sum(open.key, open.kind, open.address);
            *sum.wakers.entry(open.function.clone()).or_default() += 1;
        }
        // Not a wait after all.
        if is_no_wait(error) {
            return;
        }
        if by_wake {
            self.taken.insert(open.key, time);
        }
        let took = time - open.begin;
        let look = self.look(&open, time, error);
        let holders = self.holders(&open);
        let sum = self.sums.entry(open.key);
        let sum = sum.or_insert_with(|| Sum::new(open.kind, open.address));
        sum.all.add(took);
        sum.timeouts += u64::from(error == libc::ETIMEDOUT);
        sum.looks += u64::from(look.is_some());
        sum.nested += u64::from(look == Some(Look::Waited));
        sum.suspended += u64::from(look == Some(Look::Suspended));
        sum.in_calls += u64::from(look == Some(Look::Called));
        sum.off += u64::from(look == Some(Look::Blocked));
        sum.waiters.entry(open.function).or_default().add(took);
        for holder in holders {
            sum.holders.entry(holder).or_default().add(took);
        }
    }

    /// The functions in which holders took what is waited for; where that is not known, the thread.
    /// Of several readers only the latest is known, and only if it has not let go; one that reads
    /// twice counts as two.
    fn holders(&self, open: &Open) -> impl Iterator<Item = Rc<str>> + use<> {
        let latest = self.holder(open);
        let others = (open.readers > 1).then(|| match latest {
            Some(_) => "perhaps others that are not known".into(),
            None => "readers that are not known".into(),
        });
        latest.into_iter().chain(others)
    }

    fn holder(&self, open: &Open) -> Option<Rc<str>> {
        let holder = open.holder.filter(|_| open.is_for_lock)?;
        if open.readers > 1 && holder.released {
            return None;
        }
        let (process, time) = (self.process, open.begin);
        let names = &mut *self.names.borrow_mut();
        let function = self.describe.holder(names, process, &holder, time);
        // The trace knows no call of a holder in another process, or from before a fork.
        Some(match &*function {
            "?" => self.describe.thread_name(process, holder.tid, time).into(),
            _ => function,
        })
    }

    /// Counts the waits that have not ended, up to the ends of their threads.
    fn count_blocked(&mut self) -> Vec<Open> {
        let blocked = std::mem::take(&mut self.blocked);
        let replaced = self.trace.processes()[self.process].replaced();
        for open in &blocked {
            let until = self.until(open.thread);
            let holders = self.holders(open);
            self.cover(open, until.unwrap_or(self.last));
            let sum = self.sum(open.key, open.kind, open.address);
            sum.open += 1;
            sum.by_exec += u64::from(replaced);
            sum.endless += u64::from(until.is_none());
            sum.waiters.entry(open.function.clone()).or_default().open += 1;
            for holder in holders {
                sum.holders.entry(holder).or_default().open += 1;
            }
        }
        blocked
    }

    /// Gives what was found to those that sum up.
    pub fn finish(
        mut self,
        describe: &mut Describe<'_>,
        sums: &mut BTreeMap<Key, Sum>,
        blocked: &mut Vec<Blocked>,
    ) -> Carriers {
        let left = self.count_blocked();
        describe.extend(self.describe.met);
        sums.extend(self.sums.into_iter().map(|(key, mut sum)| {
            // At a barrier for one thread nobody waits.
            if sum.kind == ObjectKind::Barrier && sum.all.waits == 0 {
                sum.wakers.clear();
            }
            (key, sum)
        }));
        let replaced = self.trace.processes()[self.process].replaced();
        for open in left {
            // Exec has ended its thread.
            if replaced {
                continue;
            }
            let late = sums.get(&open.key).map_or(0, |sum| sum.late);
            let label = self.labels.get(&open.strand);
            let place = Place {
                process: self.process,
                thread: open.thread,
            };
            let label = label.map(|label| {
                match open.strand == StrandId::of_thread(place.process, place.thread) {
                    true => label.clone(),
                    false => format!("{label} on {}", describe.name(place)).into(),
                }
            });
            blocked.push(Blocked {
                strand: open.strand,
                thread: Some(open.thread),
                label: label.unwrap_or_else(|| "?".into()),
                since: open.begin,
                function: open.function,
                kind: Some(open.kind),
                key: Some(open.key),
                address: open.address,
                owner: open.owner,
                holder: open.holder,
                counted_holder: open.counted_holder,
                object: String::new(),
                timed: open.timed,
                writes: open.writes,
                shared: open.shared,
                has: None,
                mutex: open.mutex,
                woken: self.wakeups.of(open.key, open.thread, open.begin),
                again: None,
                unmet: late,
            });
        }
        blocked.extend(self.announced);
        let process = self.process;
        let weave = self.stacks.weaving();
        Carriers {
            all: self.carriers,
            labels: self.labels,
            weave: weave.map(|thread| Place { process, thread }).collect(),
        }
    }
}

/// The innermost wait, if it is one of these.
fn pop_if(waiting: &mut Vec<Open>, is: impl FnOnce(&Open) -> bool) -> Option<Open> {
    let is = waiting.last().is_some_and(is);
    is.then(|| waiting.pop()).flatten()
}

impl Sink for Collect<'_> {
    fn resumed(&mut self, strand: StrandId, _: Option<StrandId>, thread: usize, time: Nanos) {
        self.stacks.resumed(strand, thread, time);
        self.runs(thread, strand);
    }

    fn suspended(&mut self, strand: StrandId, thread: usize, time: Nanos) {
        // No more events come: that is no suspension.
        if self.over.contains(&thread) {
            return;
        }
        let suspended = self.stacks.suspended(strand, thread, time);
        if self.watched == 0 {
            return;
        }
        for open in self.waiting.values_mut().flatten() {
            if let Some(HolderWas::NotWaiting(_, strand)) = open.holder_was
                && open.let_go.is_none()
                && suspended.contains(&strand)
            {
                open.holder_was = None;
            }
        }
    }

    fn enter(&mut self, call: &Call) {
        self.stacks
            .enter(call.strand, call.thread, call.function, call.body);
        self.runs(call.thread, call.strand);
        self.open.enter(call);
    }

    fn leave(&mut self, span: &StrandSpan) {
        if span.span.end == End::Open {
            self.over.insert(span.thread);
            return;
        }
        self.runs(span.thread, span.strand);
        self.open.leave(span);
        let depth = self.depth(span.strand, span.thread);
        if span.body {
            let call = (span.span.function, span.span.enter);
            self.stacks.leave_body(span.strand, span.thread, call);
        }
        // The call in which it waited has ended: it was cancelled, or left by a jump.
        let Some(waiting) = self.waiting.get_mut(&span.thread) else {
            return;
        };
        let left = pop_if(waiting, |open| {
            open.strand == span.strand && open.depth > depth
        });
        if let Some(left) = left {
            self.end(left, span.span.exit, 0);
        }
    }

    fn other(&mut self, strand: StrandId, thread: usize, event: &Event<'_>) {
        let time = event.time;
        self.runs(thread, strand);
        match event.kind {
            EventKind::ObjectMet {
                address,
                number,
                kind,
                made,
                site,
            } => {
                let met = Met {
                    address,
                    kind,
                    made,
                    function: self.function(strand, thread, (site, time)),
                    time,
                };
                let key = Key::Number(self.process, number);
                self.describe.met.insert(key, met);
            }
            EventKind::Wait(wait) => self.begin(strand, thread, time, wait),
            EventKind::WaitEnded { error, .. } => {
                let open = self.waiting.get_mut(&thread).and_then(Vec::pop);
                if let Some(open) = open {
                    self.end(open, time, error);
                }
            }
            EventKind::LongCall { since, .. } => self.called(thread, since),
            EventKind::Wake {
                number, all, site, ..
            } => {
                let function = self.function(strand, thread, (site, time));
                let key = Key::Number(self.process, number);
                let wakes = self.wakeups.wake(key, time, all);
                self.lets_go(key, thread, time);
                let met = self.describe.met.get(&key);
                let met = met.map(|met| (met.kind, met.address));
                if let Some((kind, address)) = met {
                    let sum = self.sum(key, kind, address);
                    match wakes {
                        true => *sum.wakers.entry(function).or_default() += 1,
                        false => sum.late += 1,
                    }
                }
            }
            _ => {}
        }
    }

    fn ended(&mut self, strand: &Strand) {
        // One that lives may have what another waits for.
        if strand.died().is_some() {
            self.open.ended(strand);
            self.stacks.ended(strand.id);
        }
        let label = |collect: &Self| {
            let name = collect.names.borrow_mut().single(collect.trace, strand);
            let label = crate::strand_list::label(collect.trace, strand.id);
            Rc::<str>::from(format!("{} {name} #{label}", strand.kind.name()))
        };
        if let (Some(waits), None) = (strand.waits(), strand.died()) {
            let words = crate::names::printable(waits);
            self.announced.push(Blocked {
                strand: strand.id,
                thread: None,
                label: label(self),
                since: strand.last,
                function: "".into(),
                kind: None,
                key: None,
                address: Addr(0),
                owner: None,
                holder: None,
                counted_holder: None,
                object: words,
                timed: false,
                writes: false,
                shared: false,
                has: None,
                mutex: None,
                woken: Woken::No,
                again: None,
                unmet: 0,
            });
        }
        if strand.kind == Kind::Thread || self.wanted.contains(&strand.id) {
            let label = label(self);
            self.labels.insert(strand.id, label);
        }
        if strand.kind != Kind::Thread {
            return;
        }
        let left = self.waiting.remove(&strand.thread());
        let thread = &self.trace.processes()[self.process].threads()[strand.thread()];
        self.first = self.first.min(thread.first());
        self.last = self.last.max(strand.last);
        if let Some(until) = self.until(strand.thread()) {
            self.until = self.until.max(until);
        }
        for open in left.into_iter().flatten() {
            if thread.ended() {
                self.end(open, strand.last, 0);
            } else {
                self.wanted.insert(open.strand);
                for key in [open.key].into_iter().chain(open.mutex) {
                    self.find_carrier(key);
                }
                self.blocked.push(open);
            }
        }
    }
}
