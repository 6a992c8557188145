//! How many threads wait for each object at a time.

use super::key::Key;
use heddle_trace_file::Nanos;
use rustc_hash::FxHashMap;

/// The objects that somebody waits for now.
#[derive(Default)]
pub struct Waiters(FxHashMap<Key, Now>);

struct Now {
    waiters: u64,
    since: Nanos,
    /// When one ended waiting that did so last of those that have.
    until: Nanos,
}

impl Waiters {
    /// One more waits.
    pub fn begin(&mut self, key: Key, time: Nanos) {
        let now = self.0.entry(key).or_insert(Now {
            waiters: 0,
            since: time,
            until: time,
        });
        now.waiters += 1;
    }

    /// One has ended waiting, maybe before others that were told of; if nobody waits any more, the
    /// time in which somebody did.
    pub fn end(&mut self, key: Key, time: Nanos) -> Option<Nanos> {
        let now = self.0.get_mut(&key)?;
        now.waiters -= 1;
        now.until = now.until.max(time);
        if now.waiters > 0 {
            return None;
        }
        let took = now.until - now.since;
        self.0.remove(&key);
        Some(took)
    }
}

/// When a thread has begun to wait last.
#[derive(Default)]
pub struct Latest {
    last: Option<(Key, Nanos)>,
    /// The last time for another object than `last` is for.
    before: Option<Nanos>,
}

impl Latest {
    /// It begins to wait.
    pub fn begin(&mut self, key: Key, time: Nanos) {
        if let Some((_, begin)) = self.last.filter(|&(last, _)| last != key) {
            self.before = Some(begin);
        }
        self.last = Some((key, time));
    }

    /// When it last began to wait for something else than this.
    pub fn for_other_than(&self, key: Key) -> Option<Nanos> {
        match self.last {
            Some((last, begin)) if last != key => Some(begin),
            _ => self.before,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_wait_for_another_object_is_known() {
        let (one, other) = (Key::Number(0, 1), Key::Number(0, 2));
        let mut latest = Latest::default();
        assert_eq!(latest.for_other_than(one), None);
        latest.begin(one, Nanos(1));
        assert_eq!(latest.for_other_than(one), None);
        assert_eq!(latest.for_other_than(other), Some(Nanos(1)));
        latest.begin(other, Nanos(2));
        latest.begin(one, Nanos(3));
        latest.begin(one, Nanos(4));
        assert_eq!(latest.for_other_than(one), Some(Nanos(2)));
        assert_eq!(latest.for_other_than(other), Some(Nanos(4)));
    }

    #[test]
    fn time_in_which_two_wait_counts_once() {
        let (one, other) = (Key::Number(0, 1), Key::Number(0, 2));
        let mut waiters = Waiters::default();
        waiters.begin(one, Nanos(10));
        waiters.begin(other, Nanos(15));
        waiters.begin(one, Nanos(20));
        assert_eq!(waiters.end(one, Nanos(30)), None);
        assert_eq!(waiters.end(other, Nanos(35)), Some(Nanos(20)));
        assert_eq!(waiters.end(one, Nanos(40)), Some(Nanos(30)));
        assert_eq!(waiters.end(one, Nanos(50)), None);
    }

    #[test]
    fn who_is_told_of_last_need_not_have_waited_longest() {
        let one = Key::Number(0, 1);
        let mut waiters = Waiters::default();
        waiters.begin(one, Nanos(10));
        waiters.begin(one, Nanos(20));
        assert_eq!(waiters.end(one, Nanos(50)), None);
        assert_eq!(waiters.end(one, Nanos(30)), Some(Nanos(40)));
    }
}
