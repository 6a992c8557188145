//! Work for all processors.

use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How many work on a trace at once, and how large pieces each takes. What they find is the same
/// however many they are.
///
/// ```
/// use heddle_trace_file::Workers;
///
/// let squares = Workers::all().each(&[1, 2, 3], |number| number * number);
/// assert_eq!(squares, [1, 4, 9]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workers {
    count: NonZeroUsize,
    chunk: u64,
}

/// A block is at most so long. Then the pieces are few enough that joining them costs nothing, and
/// many enough that no worker waits long for the last one.
const CHUNK: u64 = 1 << 20;

impl Workers {
    /// One for each processor that this process may use.
    pub fn all() -> Self {
        Self::new(std::thread::available_parallelism().unwrap_or(NonZeroUsize::MIN))
    }

    /// So many.
    pub fn new(count: NonZeroUsize) -> Self {
        Workers {
            count,
            chunk: CHUNK,
        }
    }

    /// Has threads' events divided into pieces of at least so many bytes of records.
    pub fn with_chunks_of(self, bytes: u64) -> Self {
        Workers {
            chunk: bytes,
            ..self
        }
    }

    /// How many.
    pub fn count(self) -> usize {
        self.count.get()
    }

    /// The least size of a piece of a thread's records, bytes.
    pub fn chunk(self) -> u64 {
        self.chunk
    }

    /// `work` for each item: the first ones first, results in order of the items.
    pub fn each<I: Sync, T: Send>(self, items: &[I], work: impl Fn(&I) -> T + Sync) -> Vec<T> {
        let next = AtomicUsize::new(0);
        let done: Mutex<Vec<Option<T>>> = Mutex::new(items.iter().map(|_| None).collect());
        let worker = || {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(item) = items.get(index) else { break };
                let result = work(item);
                done.lock().unwrap_or_else(PoisonError::into_inner)[index] = Some(result);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.count().min(items.len()) {
                scope.spawn(worker);
            }
            worker();
        });
        let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        done.into_iter().flatten().collect()
    }
}
