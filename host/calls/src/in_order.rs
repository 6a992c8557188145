//! Results that are made side by side and used in order.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Gives results to one user, in the order of their numbers from 0. The thread that brings the next
/// result uses it and all that wait behind it. No thread gets far ahead.
pub(crate) struct InOrder<T, U> {
    queue: Mutex<Queue<T>>,
    used: Condvar,
    user: Mutex<U>,
    /// Results that may wait.
    ahead: usize,
}

struct Queue<T> {
    next: usize,
    waiting: BTreeMap<usize, T>,
    /// A thread uses results now.
    busy: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<T, U> InOrder<T, U> {
    /// So many results may wait.
    pub fn new(user: U, ahead: usize) -> Self {
        InOrder {
            queue: Mutex::new(Queue {
                next: 0,
                waiting: BTreeMap::new(),
                busy: false,
            }),
            used: Condvar::new(),
            user: Mutex::new(user),
            ahead,
        }
    }

    /// Brings a result; waits while too many wait already. The results before it must be on their way, by others.
    pub fn bring(&self, number: usize, result: T, using: impl Fn(&mut U, T)) {
        let mut queue = lock(&self.queue);
        queue.waiting.insert(number, result);
        if queue.busy || queue.next != number {
            // Invariant: the next one is being made or used by a thread that does not wait here.
            while queue.waiting.len() > self.ahead && queue.waiting.contains_key(&number) {
                let woken = self.used.wait(queue);
                queue = woken.unwrap_or_else(PoisonError::into_inner);
            }
            return;
        }
        queue.busy = true;
        let mut user = lock(&self.user);
        loop {
            let next = queue.next;
            let Some(result) = queue.waiting.remove(&next) else {
                break;
            };
            drop(queue);
            using(&mut user, result);
            queue = lock(&self.queue);
            queue.next += 1;
            self.used.notify_all();
        }
        queue.busy = false;
    }

    /// The user of the results.
    pub fn finish(self) -> U {
        let user = self.user.into_inner();
        user.unwrap_or_else(PoisonError::into_inner)
    }
}
