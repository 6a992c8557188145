//! Reading on one processor while another works on what was read.

use std::sync::mpsc::{Receiver, SyncSender, channel, sync_channel};

/// Items that are handed over together at most: so many that waking the other side costs nothing
/// beside the work on them. On a virtual machine that takes 25 to 50 µs, as long as the work on a
/// thousand events or two.
const TOGETHER: usize = 8192;

/// Items that are handed over together first. Who takes few does not wait for many to be read.
const FIRST: usize = 256;

/// The number of batches that may wait: a batch is half a megabyte of events.
const WAITING: usize = 1;

/// Where the reader puts items.
pub(crate) struct Inlet<T> {
    batch: Vec<T>,
    /// Its items when it is handed over: each time twice as many, up to [`TOGETHER`].
    enough: usize,
    full: SyncSender<Vec<T>>,
    /// Batches that have been worked on, to be filled again.
    empty: Receiver<Vec<T>>,
}

impl<T> Inlet<T> {
    /// Puts the next item; whether more are wanted.
    #[inline]
    pub fn put(&mut self, item: T) -> bool {
        self.batch.push(item);
        self.batch.len() < self.enough || self.flush()
    }

    #[cold]
    #[inline(never)]
    fn flush(&mut self) -> bool {
        let empty = self.empty.try_recv();
        self.enough = (self.enough * 2).min(TOGETHER);
        let empty = empty.unwrap_or_else(|_| Vec::with_capacity(self.enough));
        self.full
            .send(std::mem::replace(&mut self.batch, empty))
            .is_ok()
    }
}

/// Gives `take` what `read` puts, in that order: the next items that are there, of which it takes
/// as many as it says, until that is none. Gives what `read` returns. Memory: that of four batches.
pub(crate) fn piped<T: Send, R: Send>(
    read: impl FnOnce(&mut Inlet<T>) -> R + Send,
    mut take: impl FnMut(&[T]) -> usize,
) -> R {
    let (full, batches) = sync_channel::<Vec<T>>(WAITING);
    let (used, empty) = channel();
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || {
            let mut inlet = Inlet {
                batch: Vec::with_capacity(FIRST),
                enough: FIRST,
                full,
                empty,
            };
            let result = read(&mut inlet);
            inlet.flush();
            result
        });
        // The reader learns that nothing more is wanted when `batches` is gone.
        'all: for mut batch in batches {
            let mut rest = batch.as_slice();
            while !rest.is_empty() {
                match take(rest) {
                    0 => break 'all,
                    taken => rest = rest.get(taken..).unwrap_or_default(),
                }
            }
            batch.clear();
            // A reader that has ended needs no more batches.
            let _ = used.send(batch);
        }
        reader
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}
