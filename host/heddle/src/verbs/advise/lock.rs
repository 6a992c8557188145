//! What a trace's waits say of one lock.

use crate::waits::{Lock, Sum, Waits};
use heddle_trace_file::{Nanos, ObjectKind, Process, Trace};
use std::cmp::Reverse;

/// With fewer looks without a find, the upper limit of 95 % would be above a quarter.
const ENOUGH: u64 = 11;

/// What is known of a lock.
pub struct Advice<'a> {
    pub lock: &'a Lock,
    /// From the first event of its process to the last, or to its threads' ends where these are
    /// known.
    pub span: Nanos,
    /// What the run can be shorter without the waits for it, at most: the time in which at least
    /// one thread waited. A chain of work in which each part waits for the one before leads from
    /// the begin of a run to its end, and without the lock it loses its waits for that and nothing
    /// else. `None`: no time was recorded, or not how long waits for it went on that had not ended.
    pub limit: Option<Nanos>,
    /// The part of it in which a thread waited for a condition: within that it takes a mutex again,
    /// and which one is not recorded.
    pub conditions: Nanos,
    pub inside: Inside,
}

/// Whether threads wait while they have it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inside {
    /// Of no wait is it known what the holder did all the time.
    NeverSeen,
    /// Several may have it.
    Several,
    /// The holder waited for something else, was suspended, was in a long call into the kernel, or
    /// was off its processor and blocked.
    Waits {
        nested: u64,
        suspended: u64,
        in_calls: u64,
        off: u64,
        looks: u64,
    },
    /// It did not, and that says little.
    TooFew { looks: u64 },
    /// It did not; `most`: the upper limit of the share in which it does, if looks are independent.
    NoneSeen { looks: u64, most: f64 },
}

impl Inside {
    fn of(sum: &Sum) -> Self {
        let Sum {
            nested,
            suspended,
            in_calls,
            off,
            looks,
            ..
        } = *sum;
        match (sum.kind, looks, nested + suspended + in_calls + off) {
            (ObjectKind::RwLock, ..) => Inside::Several,
            (_, 0, _) => Inside::NeverSeen,
            (_, looks, 1..) => Inside::Waits {
                nested,
                suspended,
                in_calls,
                off,
                looks,
            },
            (_, looks, 0) if looks < ENOUGH => Inside::TooFew { looks },
            // With a share of `most`, so many looks find nothing in one case of 20.
            (_, looks, 0) => Inside::NoneSeen {
                looks,
                most: 1.0 - 0.05_f64.powf(1.0 / looks as f64),
            },
        }
    }

    /// In JSON.
    pub fn word(self) -> &'static str {
        match self {
            Inside::NeverSeen | Inside::Several => "not known",
            Inside::Waits { .. } => "waits",
            Inside::TooFew { .. } => "too few looks",
            Inside::NoneSeen { .. } => "no wait seen",
        }
    }
}

impl Advice<'_> {
    /// The limit as a share of the run.
    pub fn share(&self) -> f64 {
        match (self.limit, self.span) {
            (None, _) | (_, Nanos(0)) => 0.0,
            (Some(limit), span) => limit.0 as f64 / span.0 as f64,
        }
    }
}

/// Advice of every lock. Locks whose limit is not known come first, then the one whose limit is the
/// highest.
pub fn of_all<'a>(trace: &Trace, found: &'a Waits) -> Vec<Advice<'a>> {
    let span = |pid: u32| {
        let all = trace.processes().iter().zip(&found.spans);
        let of_pid = all.filter(|(process, _): &(&Process, _)| process.pid() == pid);
        of_pid.map(|(_, &span)| span).max().unwrap_or_default()
    };
    let conditions = |pid: u32| {
        let all = found.locks.iter();
        let all = all.filter(|lock| lock.process.pid == pid && lock.kind == ObjectKind::Condition);
        let covered = all.map(|lock| lock.sum.covered.0);
        Nanos(covered.fold(0, u64::saturating_add))
    };
    let held = found.locks.iter().filter(|lock| lock.is_held());
    let mut all: Vec<_> = held
        .map(|lock| {
            let span = span(lock.process.pid);
            let again = match lock.kind {
                ObjectKind::Mutex => conditions(lock.process.pid),
                _ => Nanos(0),
            };
            let own = lock.sum.covered.0;
            let limit = Nanos(own.saturating_add(again.0).min(span.0));
            Advice {
                lock,
                span,
                limit: (span > Nanos(0) && lock.sum.endless == 0).then_some(limit),
                conditions: again.min(limit),
                inside: Inside::of(&lock.sum),
            }
        })
        .collect();
    // A wait that went on for a time that is not known may be the longest.
    all.sort_by_key(|advice| {
        let lock = advice.lock;
        let endless = lock.sum.endless;
        (Reverse(endless), Reverse(advice.limit), Reverse(lock.taken))
    });
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_trace_file::Addr;

    fn inside(kind: ObjectKind, looks: u64, with: impl FnOnce(&mut Sum)) -> Inside {
        let mut sum = Sum::new(kind, Addr(0));
        sum.looks = looks;
        with(&mut sum);
        Inside::of(&sum)
    }

    #[test]
    fn few_looks_say_nothing_and_one_find_says_that_it_waits() {
        let mutex = |looks, with: fn(&mut Sum)| inside(ObjectKind::Mutex, looks, with);
        assert_eq!(mutex(0, |_| {}), Inside::NeverSeen);
        assert_eq!(mutex(10, |_| {}), Inside::TooFew { looks: 10 });
        let finds: [fn(&mut Sum); 4] = [
            |sum| sum.nested = 1,
            |sum| sum.suspended = 1,
            |sum| sum.in_calls = 1,
            |sum| sum.off = 1,
        ];
        for find in finds {
            assert!(matches!(mutex(300, find), Inside::Waits { looks: 300, .. }));
        }
        assert_eq!(inside(ObjectKind::RwLock, 300, |_| {}), Inside::Several);
    }

    #[test]
    fn many_looks_without_a_find_limit_the_share() {
        let most = |looks| match inside(ObjectKind::Mutex, looks, |_| {}) {
            Inside::NoneSeen { most, .. } => most,
            other => panic!("{other:?}"),
        };
        assert!(most(ENOUGH) < 0.25);
        // The rule of three.
        assert!((most(1000) - 0.003).abs() < 0.0001);
    }
}
