//! What strands wait for at the end, and whether they wait for one another.

use super::key::Key;
use super::wakeups::Woken;
use heddle_strands::StrandId;
use heddle_trace_file::{Addr, Holder, Nanos, ObjectKind, Place};
use std::collections::HashMap;
use std::rc::Rc;

/// A strand whose wait had not ended.
#[derive(Clone, Debug)]
pub struct Blocked {
    pub strand: StrandId,
    /// The thread that it blocks; `None`: its runtime runs others.
    pub thread: Option<usize>,
    /// `thread worker #2`.
    pub label: Rc<str>,
    pub since: Nanos,
    /// In which it waits.
    pub function: Rc<str>,
    /// What the object is; `None`: what the runtime says.
    pub kind: Option<ObjectKind>,
    pub key: Option<Key>,
    pub address: Addr,
    /// The kernel's number of the thread that had it when the wait began, as libc has it.
    pub owner: Option<u32>,
    /// Who had it then, and what was counted of that alone.
    pub holder: Option<Holder>,
    pub counted_holder: Option<Holder>,
    /// The object's name.
    pub object: String,
    pub timed: bool,
    pub writes: bool,
    /// Threads of other processes may have it.
    pub shared: bool,
    /// Who has it at the end; `None`: nobody can.
    pub has: Option<Has>,
    /// The mutex that the strand gave up to wait for a condition.
    pub mutex: Option<Key>,
    /// Whether a wake-up of the condition reached the strand.
    pub woken: Woken,
    /// What the strand does after that wake-up.
    pub again: Option<Again>,
    /// Of a condition, the operations that found nobody waiting.
    pub unmet: u64,
}

/// Who has an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Has {
    Thread(HoldingThread),
    /// Nobody is known to have it. This thread took the semaphore last, and no V operation tells
    /// whether the program uses that as a lock.
    Taker(HoldingThread),
    /// A thread that the fork has not copied had it then: its name in the process that forked.
    Uncopied(String),
    /// So many readers, of whom none is known.
    Readers(u32),
    /// The name of the thread that had it last.
    Nobody(String),
    /// Threads of several processes took the semaphore, and who did last is not recorded.
    SeveralProcesses,
    /// Why that is not known.
    NotKnown(String),
}

/// A thread that has an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldingThread {
    pub name: String,
    /// Where something of it is recorded.
    pub place: Option<Place>,
    pub by: By,
    /// Where it took the object.
    pub taken_in: Option<Rc<str>>,
    /// Its name in the process that it was forked from, where it took the object before that.
    pub forked_as: Option<String>,
    /// It had it when the wait began; whether it still has it is not known.
    pub at_begin: bool,
    /// It has ended; `false`: it has not, or that is not known.
    pub ended: bool,
    /// Readers that have the object beside it.
    pub beside: u32,
    /// The name of the only one of these, if it is known.
    pub other: Option<String>,
}

/// Which strand of a thread has an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// The thread's own: it has run no other.
    Own,
    Strand(HoldingStrand),
    /// One of the fibers or coroutines that the thread has run, or its own.
    NotKnown,
}

/// A strand that has an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HoldingStrand {
    pub id: StrandId,
    /// `coroutine order(int) #3`.
    pub label: Rc<str>,
    /// The thread that runs it, or that ran it last, and its name.
    pub place: Place,
    pub thread: String,
    pub suspended: bool,
}

/// A mutex that is taken again before a wait for a condition ends.
#[derive(Clone, Debug)]
pub struct MutexAgain {
    pub name: String,
    pub has: Has,
}

/// What a strand does that waited for a condition and was woken.
#[derive(Clone, Debug)]
pub enum Again {
    /// It waits for the mutex: what the wait is for, after this condition was signalled.
    Waits(String),
    /// Whether another process has woken it is not recorded. If one has, it waits for the mutex,
    /// if another thread has that.
    ByOthers(Option<MutexAgain>),
    /// It was woken at a time, and nobody has the mutex, or that is not known.
    GoesOn(Nanos),
    /// So many wake-ups came for some of so many strands. Those that were woken wait for the mutex,
    /// if another thread has it.
    Perhaps {
        wakes: usize,
        waiters: usize,
        mutex: Option<MutexAgain>,
    },
}

impl Blocked {
    /// The thread that has what is waited for, where that is sure and something of it is recorded.
    fn held_at(&self) -> Option<Place> {
        match &self.has {
            Some(Has::Thread(thread)) if !thread.at_begin => match &thread.by {
                By::Own => thread.place,
                By::Strand(strand) => Some(strand.place),
                By::NotKnown => None,
            },
            _ => None,
        }
    }

    /// The strand that has it, where its thread has run several and it is known which.
    pub fn held_by(&self) -> Option<&HoldingStrand> {
        match &self.has {
            Some(Has::Thread(thread)) => match &thread.by {
                By::Strand(strand) => Some(strand),
                By::Own | By::NotKnown => None,
            },
            _ => None,
        }
    }
}

/// Indices of strands each of which waits for what the next one has; the last for what the first
/// has.
pub type Cycle = Vec<usize>;

/// What might end a circle of waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// One of the waits ends at a certain time.
    pub timed: bool,
    /// One of the waits is for a semaphore: that it was used as a lock says nothing of who posts it
    /// next. Nor is it known that no other thread lives: code without hooks records nothing.
    pub posts: bool,
    /// One of the waits is for what a suspended strand has: which threads may go on with that is
    /// the scheduler's business.
    pub resumes: bool,
}

/// What might end this circle.
pub fn ends(blocked: &[Blocked], cycle: &Cycle) -> Ends {
    let any = |holds: fn(&Blocked) -> bool| cycle.iter().any(|&index| holds(&blocked[index]));
    Ends {
        timed: any(|wait| wait.timed),
        posts: any(|wait| wait.kind == Some(ObjectKind::Semaphore)),
        resumes: any(|wait| wait.held_by().is_some_and(|strand| strand.suspended)),
    }
}

/// The circles among the waits. A thread waits for one thing at a time, so each is in one circle at
/// most.
pub fn cycles(blocked: &[Blocked]) -> Vec<Cycle> {
    let mut of_thread: HashMap<Place, usize> = HashMap::new();
    for (index, wait) in blocked.iter().enumerate() {
        if let Some(thread) = wait.thread {
            let process = wait.strand.process();
            // A handler's wait is the innermost, and the latest.
            of_thread.insert(Place { process, thread }, index);
        }
    }
    let next = |index: usize| {
        let place = blocked[index].held_at()?;
        of_thread.get(&place).copied()
    };
    let mut cycles = Vec::new();
    let mut seen = vec![0; blocked.len()];
    for begin in 0..blocked.len() {
        let mark = begin + 1;
        let mut at = Some(begin);
        while let Some(index) = at.filter(|&index| seen[index] == 0) {
            seen[index] = mark;
            at = next(index);
        }
        let Some(first) = at.filter(|&index| seen[index] == mark) else {
            continue;
        };
        let mut cycle = vec![first];
        let mut at = next(first);
        while let Some(index) = at.filter(|&index| index != first) {
            cycle.push(index);
            at = next(index);
        }
        cycles.push(cycle);
    }
    cycles
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held_by(thread: usize) -> Has {
        Has::Thread(HoldingThread {
            name: String::new(),
            place: Some(Place { process: 0, thread }),
            by: By::Own,
            taken_in: None,
            forked_as: None,
            at_begin: false,
            ended: false,
            beside: 0,
            other: None,
        })
    }

    fn waits(holders: &[Option<usize>]) -> Vec<Blocked> {
        let wait = |(thread, holder): (usize, &Option<usize>)| Blocked {
            strand: StrandId::of_thread(0, thread),
            thread: Some(thread),
            label: "".into(),
            since: Nanos(0),
            function: "".into(),
            kind: Some(ObjectKind::Mutex),
            key: None,
            address: Addr(0),
            owner: None,
            holder: None,
            counted_holder: None,
            object: String::new(),
            timed: false,
            writes: false,
            shared: false,
            has: holder.map(held_by),
            mutex: None,
            woken: Woken::No,
            again: None,
            unmet: 0,
        };
        holders.iter().enumerate().map(wait).collect()
    }

    #[test]
    fn a_circle_goes_through_the_thread_that_a_holder_runs_on_now() {
        let with = |by| {
            let mut all = waits(&[Some(0)]);
            if let Some(Has::Thread(thread)) = &mut all[0].has {
                thread.by = by;
            }
            cycles(&all)
        };
        let on = |thread| {
            By::Strand(HoldingStrand {
                id: StrandId::of_thread(0, 8),
                label: "".into(),
                place: Place { process: 0, thread },
                thread: String::new(),
                suspended: false,
            })
        };
        assert_eq!(with(on(0)), [vec![0]]);
        assert_eq!(with(on(1)), Vec::<Cycle>::new());
        assert_eq!(with(By::NotKnown), Vec::<Cycle>::new());
    }

    #[test]
    fn a_circle_is_certain_only_if_none_but_its_strands_can_end_it() {
        let of = |change: fn(&mut Blocked)| {
            let mut all = waits(&[Some(1), Some(0)]);
            change(&mut all[1]);
            ends(&all, &cycles(&all)[0])
        };
        let none = Ends::default();
        assert_eq!(of(|_| {}), none);
        let timed = Ends {
            timed: true,
            ..none
        };
        assert_eq!(of(|wait| wait.timed = true), timed);
        let posts = Ends {
            posts: true,
            ..none
        };
        assert_eq!(of(|wait| wait.kind = Some(ObjectKind::Semaphore)), posts);
        let resumes = Ends {
            resumes: true,
            ..none
        };
        let suspended = |wait: &mut Blocked| {
            if let Some(Has::Thread(thread)) = &mut wait.has {
                thread.by = By::Strand(HoldingStrand {
                    id: StrandId::of_thread(0, 8),
                    label: "".into(),
                    place: Place {
                        process: 0,
                        thread: 0,
                    },
                    thread: String::new(),
                    suspended: true,
                });
            }
        };
        assert_eq!(of(suspended), resumes);
    }

    #[test]
    fn circles_are_found_and_who_only_waits_for_one_is_in_none() {
        assert_eq!(cycles(&waits(&[])), Vec::<Cycle>::new());
        assert_eq!(cycles(&waits(&[Some(0)])), [vec![0]]);
        assert_eq!(
            cycles(&waits(&[Some(1), Some(2), Some(0)])),
            [vec![0, 1, 2]]
        );
        let tail = waits(&[Some(1), Some(2), Some(1), Some(7), None, Some(4)]);
        assert_eq!(cycles(&tail), [vec![1, 2]]);
    }
}
