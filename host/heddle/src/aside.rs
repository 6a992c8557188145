//! Two activations of one coroutine at once.
//!
//! `await_suspend` may give its coroutine to another thread, which goes on with it before that call
//! has returned: then calls of one strand are open on two threads, on a stack each.

use rustc_hash::FxHashMap;
use std::hash::Hash;

/// What is kept of an activation.
pub trait Activation: Default {
    /// Whether calls of it are open, on a stack that runs.
    fn runs(&self) -> bool;

    /// Whether it must be kept while another activation is looked at.
    fn is_needed(&self) -> bool {
        self.runs()
    }
}

impl<T> Activation for Vec<T> {
    fn runs(&self) -> bool {
        !self.is_empty()
    }
}

/// What is kept of activations while one on another thread is looked at, by strand (its slot, if
/// nothing else is said) and thread.
pub struct Aside<T, K = u32> {
    others: FxHashMap<(K, u32), T>,
}

impl<T, K> Default for Aside<T, K> {
    fn default() -> Self {
        Aside {
            others: FxHashMap::default(),
        }
    }
}

impl<T: Activation, K: Copy + Eq + Hash> Aside<T, K> {
    /// Makes `now` what is kept of the strand's activation on `thread`, which `begins` or is open;
    /// it was that of the activation on the thread `on`. Whether it is another's then.
    #[inline]
    pub fn turn_to(
        &mut self,
        strand: K,
        (on, now): (&mut u32, &mut T),
        thread: usize,
        begins: bool,
    ) -> bool {
        *on != thread as u32
            && (begins || !self.others.is_empty())
            && self.turn(strand, (on, now), thread as u32, begins)
    }

    fn turn(&mut self, strand: K, (on, now): (&mut u32, &mut T), to: u32, begins: bool) -> bool {
        let other = match self.others.remove(&(strand, to)) {
            Some(open) => Some(open),
            // What has ended, or rests, goes on here.
            None if begins => now.runs().then(T::default),
            // Nothing tells of another one: a fiber that runs the coroutine has moved.
            None => return false,
        };
        let on = std::mem::replace(on, to);
        let Some(other) = other else { return false };
        let was = std::mem::replace(now, other);
        if was.is_needed() {
            self.others.insert((strand, on), was);
        }
        true
    }

    /// What is kept of the strand's activation on this thread, if another one is looked at.
    #[inline]
    pub fn get(&self, strand: K, thread: usize) -> Option<&T> {
        match self.others.is_empty() {
            true => None,
            false => self.others.get(&(strand, thread as u32)),
        }
    }

    /// What is kept of the strand's activations but that which is looked at, in no order.
    pub fn of(&self, strand: K) -> impl Iterator<Item = &T> {
        let others = self.others.iter().filter(move |((of, _), _)| *of == strand);
        others.map(|(_, kept)| kept)
    }

    /// What is kept of all activations but those that are looked at, in no order.
    pub fn each(&mut self) -> impl Iterator<Item = &mut T> {
        self.others.values_mut()
    }

    /// What is kept of the strand's activations but that which is looked at, by thread: it has
    /// ended.
    pub fn take(&mut self, strand: K) -> Vec<(usize, T)> {
        if self.others.is_empty() {
            return Vec::new();
        }
        let mut threads: Vec<u32> = self
            .others
            .keys()
            .filter(|(of, _)| *of == strand)
            .map(|(_, on)| *on)
            .collect();
        threads.sort_unstable();
        let mut taken = Vec::new();
        for on in threads {
            let kept = self.others.remove(&(strand, on));
            taken.extend(kept.map(|kept| (on as usize, kept)));
        }
        taken
    }

    /// The strand has ended.
    #[inline]
    pub fn forget(&mut self, strand: K) {
        if !self.others.is_empty() {
            self.others.retain(|&(other, _), _| other != strand);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The calls that are looked at after a turn to `thread`.
    fn turned(
        aside: &mut Aside<Vec<char>>,
        (on, now): (&mut u32, &mut Vec<char>),
        thread: usize,
        begins: bool,
    ) -> String {
        aside.turn_to(7, (on, &mut *now), thread, begins);
        now.iter().collect()
    }

    #[test]
    fn activations_on_two_threads_are_kept_apart() {
        let (mut aside, mut on, mut now) = (Aside::default(), 0, vec!['a', 'b']);
        // Another thread goes on with it before `b` has returned.
        assert_eq!(turned(&mut aside, (&mut on, &mut now), 1, true), "");
        now.push('c');
        assert_eq!(aside.get(7, 0), Some(&vec!['a', 'b']));
        assert_eq!(turned(&mut aside, (&mut on, &mut now), 0, false), "ab");
        assert_eq!(aside.get(7, 1), Some(&vec!['c']));
        now.clear();
        assert_eq!(turned(&mut aside, (&mut on, &mut now), 1, false), "c");
        assert_eq!(aside.get(7, 0), None, "it has ended");
        // Of another thread nothing is known: a fiber has moved there.
        assert_eq!(turned(&mut aside, (&mut on, &mut now), 2, false), "c");
        now.clear();
        // What has ended goes on elsewhere as the same.
        assert_eq!(turned(&mut aside, (&mut on, &mut now), 3, true), "");
        assert_eq!((on, aside.each().count()), (3, 0));
    }

    #[test]
    fn a_strand_that_has_ended_leaves_nothing() {
        let mut aside = Aside::<Vec<char>>::default();
        for slot in [7, 8] {
            let (mut on, mut now) = (0, vec!['a']);
            aside.turn_to(slot, (&mut on, &mut now), 1, true);
        }
        assert_eq!(aside.take(7), [(0, vec!['a'])]);
        aside.forget(8);
        assert_eq!(aside.each().count(), 0);
    }
}
