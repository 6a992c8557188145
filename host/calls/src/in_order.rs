//! Results that are made side by side and used in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, PoisonError};

/// Gives results to one user, in the order of their numbers from 0. The thread that brings the next
/// result uses it and all that wait behind it. No thread gets far ahead.
pub(crate) struct InOrder<T, U> {
    queue: Mutex<Queue<T, U>>,
    used: Condvar,
    /// Results that may wait.
    ahead: usize,
}

struct Queue<T, U> {
    next: usize,
    waiting: BTreeMap<usize, T>,
    user: U,
}

impl<T, U> InOrder<T, U> {
    /// So many results may wait.
    pub fn new(user: U, ahead: usize) -> Self {
        InOrder {
            queue: Mutex::new(Queue {
                next: 0,
                waiting: BTreeMap::new(),
                user,
            }),
            used: Condvar::new(),
            ahead,
        }
    }

    /// Brings a result; waits while too many wait already, or one is used. The results before it
    /// must be on their way, by others.
    pub fn bring(&self, number: usize, result: T, using: impl Fn(&mut U, T)) {
        let mut guard = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let queue = &mut *guard;
        queue.waiting.insert(number, result);
        while let Some(result) = queue.waiting.remove(&queue.next) {
            using(&mut queue.user, result);
            queue.next += 1;
        }
        self.used.notify_all();
        let too_far = |queue: &mut Queue<T, U>| {
            queue.waiting.len() > self.ahead && queue.waiting.contains_key(&number)
        };
        drop(self.used.wait_while(guard, too_far));
    }

    /// The user of the results.
    pub fn finish(self) -> U {
        let queue = self.queue.into_inner();
        queue.unwrap_or_else(PoisonError::into_inner).user
    }
}
