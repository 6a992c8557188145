//! Which of the threads that wait for a condition have been woken: a wake-up leaves a record, but
//! not whom it wakes, and a wait for a condition ends only when it has its mutex again.

use super::key::Key;
use heddle_trace_file::Nanos;
use rustc_hash::FxHashMap;

/// What is known of a thread that waits for a condition.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Woken {
    /// No wake-up since it began to wait was for it.
    #[default]
    No,
    /// So many wake-ups came, for some of so many threads, of which it is one.
    Perhaps { wakes: usize, waiters: usize },
    /// By this time.
    Surely(Nanos),
}

/// A thread that waits, and since when: a signal handler of it may wait within.
type Waiter = (usize, Nanos);

/// The threads that wait for a condition.
#[derive(Default)]
struct Waiters {
    /// Those of which it is not sure that they have been woken, by their begin.
    asleep: Vec<Waiter>,
    woken: FxHashMap<Waiter, Nanos>,
    /// Wake-ups for some of `asleep`.
    wakes: usize,
    /// When the last one came.
    last: Nanos,
    /// Threads of other processes may wait, too, who are not among these.
    shared: bool,
}

/// The threads that wait for conditions.
#[derive(Default)]
pub struct Wakeups(FxHashMap<Key, Waiters>);

impl Wakeups {
    /// A thread begins to wait. `shared`: threads of other processes may do so, too.
    pub fn begin(&mut self, key: Key, thread: usize, time: Nanos, shared: bool) {
        let waiters = self.0.entry(key).or_default();
        waiters.shared |= shared;
        waiters.asleep.push((thread, time));
    }

    /// It goes on. `by_wake`: not because its time was over.
    pub fn end(&mut self, key: Key, thread: usize, begin: Nanos, by_wake: bool) {
        let Some(waiters) = self.0.get_mut(&key) else {
            return;
        };
        let waiter = (thread, begin);
        if waiters.woken.remove(&waiter).is_some() {
            return;
        }
        waiters.asleep.retain(|&other| other != waiter);
        if by_wake {
            waiters.wakes = waiters.wakes.saturating_sub(1);
        }
        waiters.wakes = waiters.wakes.min(waiters.asleep.len());
    }

    /// One of the waiters is woken, or all of them. As many wake-ups as waiters wake all: each is
    /// for one that no other has woken, unless it may be for one of another process. Gives whether
    /// it may have woken somebody: not if others have woken all, who have not gone on yet.
    pub fn wake(&mut self, key: Key, time: Nanos, all: bool) -> bool {
        let Some(waiters) = self.0.get_mut(&key) else {
            return true;
        };
        if !waiters.shared && waiters.asleep.is_empty() && !waiters.woken.is_empty() {
            return false;
        }
        waiters.wakes += 1;
        waiters.last = time;
        if all || (!waiters.shared && waiters.wakes >= waiters.asleep.len()) {
            waiters.wakes = 0;
            let asleep = waiters.asleep.drain(..);
            waiters.woken.extend(asleep.map(|waiter| (waiter, time)));
        }
        true
    }

    /// What is known of one that has begun to wait.
    pub fn of(&self, key: Key, thread: usize, begin: Nanos) -> Woken {
        let Some(waiters) = self.0.get(&key) else {
            return Woken::No;
        };
        if let Some(&time) = waiters.woken.get(&(thread, begin)) {
            return Woken::Surely(time);
        }
        let asleep = waiters.asleep.iter();
        let candidates = asleep.filter(|(_, begin)| *begin <= waiters.last).count();
        match waiters.wakes {
            wakes if wakes > 0 && begin <= waiters.last => Woken::Perhaps {
                wakes,
                waiters: candidates,
            },
            _ => Woken::No,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: Key = Key::Number(0, 1);

    fn waiting(threads: usize) -> Wakeups {
        let mut wakeups = Wakeups::default();
        for thread in 0..threads {
            wakeups.begin(KEY, thread, Nanos(thread as u64), false);
        }
        wakeups
    }

    fn of(wakeups: &Wakeups, thread: usize) -> Woken {
        wakeups.of(KEY, thread, Nanos(thread as u64))
    }

    #[test]
    fn as_many_wake_ups_as_waiters_wake_all_and_fewer_may_have_woken_any() {
        let mut wakeups = waiting(2);
        assert_eq!(of(&wakeups, 0), Woken::No);
        wakeups.wake(KEY, Nanos(10), false);
        let perhaps = Woken::Perhaps {
            wakes: 1,
            waiters: 2,
        };
        assert_eq!([of(&wakeups, 0), of(&wakeups, 1)], [perhaps; 2]);
        wakeups.wake(KEY, Nanos(11), false);
        let surely = Woken::Surely(Nanos(11));
        assert_eq!([of(&wakeups, 0), of(&wakeups, 1)], [surely; 2]);
    }

    #[test]
    fn a_wake_up_wakes_nobody_where_all_have_been_woken_until_one_waits_anew() {
        let mut wakeups = waiting(2);
        let mut wake = |time, all| wakeups.wake(KEY, Nanos(time), all);
        assert_eq!([wake(10, false), wake(11, false)], [true; 2]);
        assert_eq!([wake(12, false), wake(13, true)], [false; 2]);
        wakeups.begin(KEY, 2, Nanos(14), false);
        assert!(wakeups.wake(KEY, Nanos(15), false));
        assert!(!wakeups.wake(KEY, Nanos(16), false));
    }

    #[test]
    fn a_broadcast_wakes_all_that_wait_and_nobody_who_comes_later() {
        let mut wakeups = waiting(3);
        wakeups.wake(KEY, Nanos(10), true);
        wakeups.begin(KEY, 3, Nanos(11), false);
        assert_eq!(of(&wakeups, 2), Woken::Surely(Nanos(10)));
        assert_eq!(wakeups.of(KEY, 3, Nanos(11)), Woken::No);
    }

    #[test]
    fn a_wake_up_that_another_process_may_have_got_wakes_nobody_for_sure() {
        let mut wakeups = Wakeups::default();
        wakeups.begin(KEY, 0, Nanos(0), true);
        wakeups.wake(KEY, Nanos(10), false);
        let perhaps = Woken::Perhaps {
            wakes: 1,
            waiters: 1,
        };
        assert_eq!(of(&wakeups, 0), perhaps);
        wakeups.wake(KEY, Nanos(11), true);
        assert_eq!(of(&wakeups, 0), Woken::Surely(Nanos(11)));
        assert!(wakeups.wake(KEY, Nanos(12), false));
    }

    #[test]
    fn who_goes_on_has_taken_a_wake_up_unless_its_time_was_over() {
        let mut wakeups = waiting(3);
        wakeups.wake(KEY, Nanos(10), false);
        wakeups.end(KEY, 0, Nanos(0), true);
        assert_eq!([of(&wakeups, 1), of(&wakeups, 2)], [Woken::No; 2]);
        wakeups.wake(KEY, Nanos(11), false);
        wakeups.begin(KEY, 3, Nanos(12), false);
        wakeups.end(KEY, 1, Nanos(1), false);
        let perhaps = Woken::Perhaps {
            wakes: 1,
            waiters: 1,
        };
        assert_eq!(of(&wakeups, 2), perhaps);
        assert_eq!(wakeups.of(KEY, 3, Nanos(12)), Woken::No);
    }
}
