//! Waits added up by object.

use super::key::Key;
use super::names::Describe;
use crate::names::Names;
use heddle_trace_file::{Addr, ImageId, Nanos, Object, ObjectKind, Objects};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Some waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stat {
    /// Those that have ended.
    pub waits: u64,
    /// Those that have not, of which no time is known.
    pub open: u64,
    pub total: Nanos,
    pub worst: Nanos,
    pub shortest: Option<Nanos>,
}

impl Stat {
    pub fn add(&mut self, time: Nanos) {
        self.merge(&Stat {
            waits: 1,
            total: time,
            worst: time,
            shortest: Some(time),
            ..Stat::default()
        });
    }

    /// All that have begun.
    pub fn begun(&self) -> u64 {
        self.waits + self.open
    }

    pub fn merge(&mut self, other: &Stat) {
        self.waits += other.waits;
        self.open += other.open;
        self.total = Nanos(self.total.0.saturating_add(other.total.0));
        self.worst = self.worst.max(other.worst);
        self.shortest = match (self.shortest, other.shortest) {
            (Some(mine), Some(others)) => Some(mine.min(others)),
            (mine, others) => mine.or(others),
        };
    }
}

/// By function.
pub type Functions = BTreeMap<Rc<str>, Stat>;

/// The waits for one object.
#[derive(Clone, Debug)]
pub struct Sum {
    pub kind: ObjectKind,
    pub address: Addr,
    /// Those that have ended.
    pub all: Stat,
    /// Those of them that ended by a time-out.
    pub timeouts: u64,
    /// Those that have not ended.
    pub open: u64,
    /// Those of them whose threads exec ended.
    pub by_exec: u64,
    /// Those of them of which it is not known how long they went on.
    pub endless: u64,
    pub waiters: Functions,
    /// Who had it when a wait began.
    pub holders: Functions,
    /// Who woke waiters, and how often.
    pub wakers: BTreeMap<Rc<str>, u64>,
    /// Wake-ups for which all who waited had been woken already.
    pub late: u64,
    /// Time in which at least one thread waited, as far as it is known.
    pub covered: Nanos,
    /// Waits that began while it was held, and that tell whether the holder waited, too.
    pub looks: u64,
    /// Those of them through which the holder waited for another object.
    pub nested: u64,
    /// Those of them through which the holder's strand was suspended.
    pub suspended: u64,
    /// Those of them at which the holder was in a long call into the kernel.
    pub in_calls: u64,
    /// Those of them at which the holder was blocked on something that is not known.
    pub off: u64,
}

impl Sum {
    pub fn new(kind: ObjectKind, address: Addr) -> Self {
        Sum {
            kind,
            address,
            all: Stat::default(),
            timeouts: 0,
            open: 0,
            by_exec: 0,
            endless: 0,
            waiters: BTreeMap::new(),
            holders: BTreeMap::new(),
            wakers: BTreeMap::new(),
            late: 0,
            covered: Nanos(0),
            looks: 0,
            nested: 0,
            suspended: 0,
            in_calls: 0,
            off: 0,
        }
    }
}

/// Addresses that are kept of objects of one name: there may be millions of these.
const MOST_ADDRESSES: usize = 64;

/// Objects of one process, kind and name.
#[derive(Clone, Debug)]
pub struct Lock {
    pub process: ImageId,
    pub kind: ObjectKind,
    pub name: String,
    pub objects: u64,
    /// Where they are, of the first [`MOST_ADDRESSES`].
    pub addresses: Vec<Addr>,
    /// Operations that got what they wanted; `None`: of an object of that name this is not known.
    pub taken: Option<u64>,
    /// Operations that had to wait; of an object of which they were not counted, those that are
    /// recorded.
    pub blocked: u64,
    /// Operations that wake somebody up, where they are counted.
    pub given: Option<u64>,
    /// Those of them that found nobody waiting who was not woken already, of a condition.
    pub unmet: u64,
    /// Of a semaphore: those of them by the thread that had taken it last.
    pub returned: u64,
    pub sum: Sum,
}

impl Lock {
    /// Whether it is used as a lock: a mutex and its like always are, a semaphore if its operations
    /// show it.
    pub fn is_held(&self) -> bool {
        let counts = || {
            Some(Use::of(
                self.objects,
                self.taken?,
                self.given?,
                self.returned,
            ))
        };
        self.kind.is_held() || counts() == Some(Use::Lock)
    }
}

/// What semaphores are used for, as far as their operations show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Each V was by the thread whose P came before it, and no second P came before that V.
    Lock,
    /// No V came yet.
    NotKnown,
    /// Another thread did a V, or several may have a token at a time: nobody has such a semaphore.
    Signal,
}

impl Use {
    /// By the counts of so many semaphores: P that took, V, and V by the thread that took last.
    pub fn of(objects: u64, taken: u64, given: u64, returned: u64) -> Self {
        match (given == returned && taken <= given + objects, returned) {
            (false, _) => Use::Signal,
            (true, 0) => Use::NotKnown,
            (true, _) => Use::Lock,
        }
    }
}

/// The objects, in order of processes and names.
pub fn locks(
    mut sums: BTreeMap<Key, Sum>,
    counted: &[Objects],
    names: &mut Names<'_>,
    describe: &Describe<'_>,
) -> Vec<Lock> {
    let mut locks: BTreeMap<(usize, ObjectKind, String), Lock> = BTreeMap::new();
    let mut add = |process: usize, object: Option<&Object>, sum: Sum, name: String| {
        let id = describe.trace.processes()[process].id();
        let kind = sum.kind;
        let lock = locks.entry((process, kind, name.clone()));
        let lock = lock.or_insert_with(|| Lock {
            process: id,
            kind,
            name,
            objects: 0,
            addresses: Vec::new(),
            taken: Some(0),
            blocked: 0,
            given: None,
            unmet: 0,
            returned: 0,
            sum: Sum::new(kind, sum.address),
        });
        lock.objects += 1;
        if lock.addresses.len() < MOST_ADDRESSES {
            lock.addresses.push(sum.address);
        }
        if let Some(object) = object {
            lock.taken = lock.taken.map(|taken| taken + object.taken);
            lock.blocked += object.blocked;
            lock.given = object.given.map(|given| given + lock.given.unwrap_or(0));
            lock.unmet += object.unmet + sum.late;
            lock.returned += object.returned;
        } else {
            lock.taken = None;
            lock.blocked += sum.all.waits + sum.open;
        }
        lock.sum.merge(sum);
    };
    for (process, objects) in counted.iter().enumerate() {
        for object in &objects.all {
            let key = Key::Number(process, object.number);
            let sum = sums.remove(&key);
            let sum = sum.unwrap_or_else(|| Sum::new(object.kind, object.address));
            let fallback = (object.made, object.site);
            let name = describe.object(names, key, object.kind, object.address, fallback);
            add(process, Some(object), sum, name);
        }
    }
    for (key, sum) in sums {
        let (Key::Number(process, _) | Key::Address(process, _)) = key;
        let name = describe.object(names, key, sum.kind, sum.address, (false, 0));
        add(process, None, sum, name);
    }
    locks.into_values().collect()
}

impl Sum {
    fn merge(&mut self, other: Sum) {
        self.all.merge(&other.all);
        self.timeouts += other.timeouts;
        self.open += other.open;
        self.by_exec += other.by_exec;
        self.endless += other.endless;
        self.late += other.late;
        self.covered = Nanos(self.covered.0.saturating_add(other.covered.0));
        self.looks += other.looks;
        self.nested += other.nested;
        self.suspended += other.suspended;
        self.in_calls += other.in_calls;
        self.off += other.off;
        for (mine, others) in [
            (&mut self.waiters, other.waiters),
            (&mut self.holders, other.holders),
        ] {
            for (function, stat) in others {
                mine.entry(function).or_default().merge(&stat);
            }
        }
        for (function, wakes) in other.wakers {
            *self.wakers.entry(function).or_default() += wakes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_semaphore_is_a_lock_only_if_each_v_is_by_who_took_it_and_one_takes_it_at_a_time() {
        assert_eq!(Use::of(1, 5, 5, 5), Use::Lock);
        assert_eq!(Use::of(1, 6, 5, 5), Use::Lock);
        assert_eq!(Use::of(3, 8, 5, 5), Use::Lock);
        // A V by another thread, and two tokens that are out at a time.
        assert_eq!(Use::of(1, 5, 5, 4), Use::Signal);
        assert_eq!(Use::of(1, 0, 1, 0), Use::Signal);
        assert_eq!(Use::of(1, 7, 5, 5), Use::Signal);
        assert_eq!(Use::of(1, 2, 0, 0), Use::Signal);
        assert_eq!(Use::of(1, 1, 0, 0), Use::NotKnown);
    }
}
