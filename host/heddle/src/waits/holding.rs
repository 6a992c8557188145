//! Who has what a strand waits for, when the records end.

use super::blocked::{Blocked, By, Has, HoldingThread};
use super::key::Key;
use super::names::Describe;
use super::sum::Use;
use crate::names::Names;
use heddle_trace_file::{Addr, Holder, Nanos, Object, ObjectKind, Objects, Place};

/// Why it is not known who has an object that no count is of.
const NOT_COUNTED: &str = "it was not counted: no room, or a snapshot";

const END: Nanos = Nanos(u64::MAX);

/// Looks who has objects at the end.
pub struct Holding<'a, 'b> {
    pub counted: &'b [Objects],
    pub describe: &'b Describe<'a>,
}

impl<'a> Holding<'a, '_> {
    /// The object with this key, as it was at the end.
    pub fn object(&self, key: Key) -> Option<&Object> {
        let Key::Number(process, number) = key else {
            return None;
        };
        self.counted[process].by_number(number)
    }

    /// The kernel's number of a thread.
    pub fn tid(&self, place: Place) -> u32 {
        self.describe.trace.processes()[place.process].threads()[place.thread].tid()
    }

    /// A thread by the kernel's number of it, of this process if there is one.
    fn thread(&self, process: usize, tid: u32) -> HoldingThread {
        let place = self.describe.place(process, tid, END);
        HoldingThread {
            name: self.describe.thread_name(process, tid, END),
            place,
            by: By::Own,
            taken_in: None,
            forked_as: None,
            at_begin: false,
            ended: place.is_some_and(|place| self.has_ended(process, place)),
            beside: 0,
            other: None,
        }
    }

    /// Whether a thread is known to have ended while a strand of `process` waited. That its records
    /// end says nothing: it may have been killed together with that strand.
    fn has_ended(&self, process: usize, place: Place) -> bool {
        let processes = self.describe.trace.processes();
        let own = &processes[place.process];
        let its_process = || {
            let waiter_runs = processes[process].running();
            own.ended() || own.replaced() || (waiter_runs && !own.running())
        };
        own.threads()[place.thread].ended() || (place.process != process && its_process())
    }

    /// The holder as the records say; with where it took the object, if that is known.
    pub fn holder(&self, names: &mut Names<'_>, process: usize, holder: &Holder) -> HoldingThread {
        let known = holder.sites[0] != 0;
        HoldingThread {
            taken_in: known.then(|| self.describe.holder(names, process, holder, END)),
            ..self.thread(process, holder.tid)
        }
    }

    /// Who has what is waited for; `None`: an object of this kind is nobody's.
    pub fn of(&self, names: &mut Names<'_>, wait: &Blocked) -> Option<Has> {
        let (Some(key), Some(kind)) = (wait.key, wait.kind) else {
            return None;
        };
        let process = wait.strand.process();
        let object = self.object(key);
        let at_end = object.and_then(|object| object.holder);
        match kind {
            ObjectKind::Condition | ObjectKind::Barrier => None,
            // Only a futex that is a lock of the kernel's has a holder.
            ObjectKind::Futex if wait.owner.is_none() => None,
            ObjectKind::Thread => wait
                .holder
                .map(|holder| Has::Thread(self.thread(process, holder.tid))),
            ObjectKind::Semaphore => self.of_semaphore(names, wait, object),
            ObjectKind::Once => {
                let holder = at_end.or(wait.holder).filter(|holder| !holder.released);
                holder.map(|holder| Has::Thread(self.holder(names, process, &holder)))
            }
            ObjectKind::Mutex | ObjectKind::RwLock | ObjectKind::SpinLock | ObjectKind::Futex => {
                Some(self.of_lock(names, wait, object))
            }
        }
    }

    /// Who took a semaphore last, and has it if it is used as a lock. Of one that processes share,
    /// that is known if all that took it are threads of one of them.
    fn of_semaphore(
        &self,
        names: &mut Names<'_>,
        wait: &Blocked,
        object: Option<&Object>,
    ) -> Option<Has> {
        let Some(object) = object else {
            return Some(Has::NotKnown(NOT_COUNTED.to_owned()));
        };
        let process = wait.strand.process();
        let others = match wait.shared {
            true => self.elsewhere(process, wait.address, ObjectKind::Semaphore),
            false => Vec::new(),
        };
        let counted = || others.iter().map(|&(_, it)| it).chain([object]);
        let taken = counted().map(|it| it.taken).sum();
        let given = counted().map(|it| it.given.unwrap_or(0)).sum();
        let returned = counted().map(|it| it.returned).sum();
        let used = Use::of(1, taken, given, returned);
        if used == Use::Signal {
            return None;
        }
        let own = object.holder.or(wait.holder);
        let own = own.map(|holder| (process, holder));
        let others = others.into_iter();
        let others = others.filter_map(|(other, object)| Some((other, object.holder?)));
        let mut takers = own.into_iter().chain(others);
        let (taker, holder) = takers.next()?;
        if takers.next().is_some() {
            return Some(Has::SeveralProcesses);
        }
        if holder.released {
            return None;
        }
        let thread = self.holder_elsewhere(names, process, taker, &holder);
        Some(match used {
            Use::Lock => Has::Thread(thread),
            _ => Has::Taker(thread),
        })
    }

    /// Who has the mutex of a condition that processes share, if it is a thread of another one.
    pub fn of_shared_mutex(
        &self,
        names: &mut Names<'_>,
        process: usize,
        mutex: &Object,
    ) -> Option<HoldingThread> {
        let others = self.elsewhere(process, mutex.address, ObjectKind::Mutex);
        let holder = others.into_iter().find_map(|(other, object)| {
            let holder = object.holder.filter(|holder| !holder.released)?;
            Some((other, holder))
        });
        holder.map(|(other, holder)| self.holder_elsewhere(names, process, other, &holder))
    }

    /// A holder as another process's records say, of what `process` waits for.
    fn holder_elsewhere(
        &self,
        names: &mut Names<'_>,
        process: usize,
        other: usize,
        holder: &Holder,
    ) -> HoldingThread {
        let mut thread = self.holder(names, other, holder);
        thread.ended = thread
            .place
            .is_some_and(|place| self.has_ended(process, place));
        thread
    }

    /// What other processes have counted of an object that they share with `process`: one that was
    /// initialised, at this address, before the processes were forked.
    fn elsewhere(&self, process: usize, address: Addr, kind: ObjectKind) -> Vec<(usize, &Object)> {
        let is_it = move |object: &&Object| object.address == address && object.kind == kind;
        let others = (0..self.counted.len()).filter(move |&other| other != process);
        let others = others.filter_map(move |other| {
            let object = self.counted[other].all.iter().find(is_it)?;
            let shared = self.made_before_forks(process, other, address, kind);
            shared.then_some((other, object))
        });
        others.collect()
    }

    /// Whether two processes have a common ancestor, or one of them is the other's, in which an
    /// object at this address was initialised before they were forked, and none was since.
    fn made_before_forks(&self, one: usize, other: usize, address: Addr, kind: ObjectKind) -> bool {
        let lines = [self.describe.line(one), self.describe.line(other)];
        let left = |process| {
            let times = lines.iter().map(|line| {
                let at = line.iter().find(|(at, _)| *at == process);
                at.map(|&(_, time)| time)
            });
            times.collect::<Option<Vec<_>>>()?.into_iter().min()
        };
        let made = |process| {
            let met = self.describe.made(process, (address, kind), END);
            met.map(|met| met.time)
        };
        // Nearest first.
        for &(process, _) in &lines[0] {
            match (left(process), made(process)) {
                (Some(left), Some(made)) => return made < left,
                (None, Some(_)) => return false,
                _ => {}
            }
        }
        false
    }

    /// Who has a lock. What its object says is later than what libc said when the wait began, if
    /// the object has changed since.
    fn of_lock(&self, names: &mut Names<'_>, wait: &Blocked, object: Option<&Object>) -> Has {
        let process = wait.strand.process();
        let at_end = object.and_then(|object| object.holder);
        let changed = object.is_some() && at_end != wait.counted_holder;
        let holder = if changed { at_end } else { wait.holder };
        let readers = object.and_then(|object| object.readers);
        let number = readers.map_or(0, |readers| readers.number);
        match holder {
            Some(holder) if !holder.released => {
                if changed || Some(holder) == at_end || !self.is_of_others(process, holder.tid) {
                    let other = readers.and_then(|readers| readers.other_than(holder.tid));
                    // A sum of which one was not seen to begin is no thread's number.
                    let other = other.filter(|&tid| !self.is_of_others(process, tid));
                    let reads_twice = other == Some(holder.tid);
                    let other = other.filter(|_| !reads_twice);
                    let name = |tid| self.describe.thread_name(process, tid, END);
                    return Has::Thread(HoldingThread {
                        beside: number.saturating_sub(1 + u32::from(reads_twice)),
                        other: other.map(name),
                        ..self.holder(names, process, &holder)
                    });
                }
                self.of_other_process(names, wait, holder.tid)
            }
            _ => match readers.and_then(|readers| readers.only()) {
                Some(tid) if self.describe.thread(process, tid, END).is_some() => {
                    Has::Thread(self.thread(process, tid))
                }
                _ if number > 1 => Has::Readers(number),
                _ => self.of_nobody_seen(wait, object, holder),
            },
        }
    }

    /// Whether a thread with this number is no recorded one of the process.
    fn is_of_others(&self, process: usize, tid: u32) -> bool {
        self.describe.thread(process, tid, END).is_none()
    }

    /// Why nobody is known to have a lock, of which `last` is the last known holder.
    fn of_nobody_seen(&self, wait: &Blocked, object: Option<&Object>, last: Option<Holder>) -> Has {
        let process = wait.strand.process();
        let last = last.map(|last| (last.tid, self.describe.thread_name(process, last.tid, END)));
        let readers = object.and_then(|object| object.readers);
        let is_rwlock = wait.kind == Some(ObjectKind::RwLock);
        let why = match last {
            _ if object.is_none() => NOT_COUNTED.to_owned(),
            _ if readers.is_some_and(|readers| !readers.are_none()) => {
                "not every reader was seen taking it".to_owned()
            }
            None if self.describe.trace.is_forked(process) => {
                "it may have been taken before this process was forked".to_owned()
            }
            None if wait.shared => "another process may hold it".to_owned(),
            None => "no thread was seen taking it".to_owned(),
            Some((_, name)) if wait.shared => {
                format!("another process may have taken it since {name} let go of it")
            }
            Some((_, name)) if is_rwlock && readers.is_none() => format!(
                "of several readers this trace has only the latest, {name}, which has let go"
            ),
            Some((tid, name)) if wait.owner == Some(tid) => {
                format!("{name} had it when the wait began, and was letting go of it")
            }
            Some((_, name)) => return Has::Nobody(name),
        };
        Has::NotKnown(why)
    }

    /// Who has a lock that a thread of another process had when the wait began: of one that is
    /// shared, or of the one that this process was forked from.
    fn of_other_process(&self, names: &mut Names<'_>, wait: &Blocked, tid: u32) -> Has {
        let process = wait.strand.process();
        if !wait.shared && self.describe.trace.is_forked(process) {
            return self.of_forker(process, tid);
        }
        let thread = self.thread(process, tid);
        let Some(place) = thread.place else {
            return Has::Thread(HoldingThread {
                at_begin: wait.shared,
                ..thread
            });
        };
        // A mapping that was there at a fork has the same address in both processes.
        let mut theirs = self.counted[place.process].all.iter();
        let is_it = |object: &&Object| {
            let same = object.address == wait.address && Some(object.kind) == wait.kind;
            same && object.holder.is_some_and(|holder| holder.tid == tid)
        };
        let holder = theirs.find(is_it).and_then(|object| object.holder);
        match holder {
            Some(holder) if holder.released => {
                let name = thread.name;
                let why = format!("{name}, which had it when the wait began, has let go of it");
                Has::NotKnown(why)
            }
            Some(holder) => {
                let other = place.process;
                Has::Thread(self.holder_elsewhere(names, process, other, &holder))
            }
            None => Has::Thread(HoldingThread {
                at_begin: true,
                ..thread
            }),
        }
    }

    /// Who has a process's own copy of a lock that this thread of an ancestor had at the fork. Only
    /// the thread that forks is copied.
    fn of_forker(&self, process: usize, tid: u32) -> Has {
        let trace = self.describe.trace;
        let mut at = process;
        let mut copied = true;
        while let Some((forker, _)) = trace.forked_by(at) {
            let parent = &trace.processes()[forker.process];
            if copied && self.tid(forker) == tid {
                let own = trace.processes()[process].pid();
                return Has::Thread(HoldingThread {
                    forked_as: Some(self.describe.name(forker)),
                    ..self.thread(process, own)
                });
            }
            if let Some(thread) = self.describe.thread(forker.process, tid, END) {
                let process = forker.process;
                return Has::Uncopied(self.describe.name(Place { process, thread }));
            }
            copied &= self.tid(forker) == parent.pid();
            at = forker.process;
        }
        Has::Uncopied(self.describe.thread_name(process, tid, END))
    }
}
