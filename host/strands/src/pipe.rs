//! What one processor reads while another works on it.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Items that go over together: so many that handing them over costs nothing, and so few that a few such batches stay in a cache.
const TOGETHER: usize = 4096;

/// The number of batches that may wait. A side that waits is woken when half of them are gone, or
/// have come, because waking takes longer than the work on a batch.
const WAITING: usize = 8;

/// Where the reader puts items.
pub(crate) struct Inlet<'p, T> {
    batch: Vec<T>,
    pipe: &'p Pipe<T>,
}

struct Pipe<T> {
    state: Mutex<State<T>>,
    /// There is room, or nothing more is wanted.
    room: Condvar,
    /// Batches wait, or nothing more comes.
    filled: Condvar,
}

struct State<T> {
    waiting: VecDeque<Vec<T>>,
    /// Empty ones, to be used again.
    empty: Vec<Vec<T>>,
    /// Nothing more comes.
    ended: bool,
    /// Nothing more is wanted.
    stopped: bool,
}

impl<T> Pipe<T> {
    fn new() -> Self {
        Pipe {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                empty: Vec::new(),
                ended: false,
                stopped: false,
            }),
            room: Condvar::new(),
            filled: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands a batch over, for an empty one; `None` if it is not wanted.
    fn put(&self, batch: Vec<T>) -> Option<Vec<T>> {
        let mut state = self.lock();
        if state.waiting.len() >= WAITING {
            let full = |state: &mut State<T>| state.waiting.len() > WAITING / 2 && !state.stopped;
            let woken = self.room.wait_while(state, full);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        if state.stopped {
            return None;
        }
        state.waiting.push_back(batch);
        if state.waiting.len() == WAITING / 2 {
            self.filled.notify_one();
        }
        let empty = state.empty.pop();
        Some(empty.unwrap_or_else(|| Vec::with_capacity(TOGETHER)))
    }

    /// The next batch, for one that is done with; `None` if there is no more.
    fn take(&self, mut used: Vec<T>) -> Option<Vec<T>> {
        used.clear();
        let mut state = self.lock();
        state.empty.push(used);
        if state.waiting.is_empty() {
            let dry = |state: &mut State<T>| state.waiting.len() < WAITING / 2 && !state.ended;
            let woken = self.filled.wait_while(state, dry);
            state = woken.unwrap_or_else(PoisonError::into_inner);
        }
        let batch = state.waiting.pop_front();
        if state.waiting.len() == WAITING / 2 {
            self.room.notify_one();
        }
        batch
    }
}

impl<T> Inlet<'_, T> {
    /// Puts the next item; whether more are wanted.
    #[inline]
    pub fn put(&mut self, item: T) -> bool {
        self.batch.push(item);
        self.batch.len() < TOGETHER || self.flush()
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self) -> bool {
        match self.pipe.put(std::mem::take(&mut self.batch)) {
            Some(empty) => {
                self.batch = empty;
                true
            }
            None => false,
        }
    }
}

/// Tells the other side that no more will come, however the reader's work ends.
struct NoMore<'p, T>(&'p Pipe<T>);

impl<T> Drop for NoMore<'_, T> {
    fn drop(&mut self) {
        self.0.lock().ended = true;
        self.0.filled.notify_one();
    }
}

/// Tells the reader not to wait for room any more, however the other side's work ends.
struct StopReader<'p, T>(&'p Pipe<T>);

impl<T> Drop for StopReader<'_, T> {
    fn drop(&mut self) {
        self.0.lock().stopped = true;
        self.0.room.notify_one();
    }
}

/// Gives `each` what `read` puts, in that order, until it has enough; gives what `read` returns. Memory: that of 12 batches.
pub(crate) fn piped<T: Send, R: Send>(
    read: impl FnOnce(&mut Inlet<'_, T>) -> R + Send,
    mut each: impl FnMut(&T) -> bool,
) -> R {
    let pipe = &Pipe::new();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let _no_more = NoMore(pipe);
            let mut inlet = Inlet {
                batch: Vec::with_capacity(TOGETHER),
                pipe,
            };
            let result = read(&mut inlet);
            inlet.flush();
            result
        });
        {
            let _stop_reader = StopReader(pipe);
            let mut batch = Vec::new();
            'all: while let Some(next) = pipe.take(batch) {
                batch = next;
                for item in &batch {
                    if !each(item) {
                        break 'all;
                    }
                }
            }
        }
        reader
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
