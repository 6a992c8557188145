//! A first walk over the trace finds which calls are long enough, and which strands have such
//! calls: only their ends tell. The engine gives the same calls in the same order both times.

use heddle_strands::StrandId;
use heddle_trace_file::Wait;
use rustc_hash::FxHashMap;
use std::collections::{HashMap, HashSet};

/// The threads of a process, by the kernel's number.
pub(super) type Tids = FxHashMap<u32, Vec<usize>>;

/// A bit for each call of a part of the trace, in the order of their enters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Bits(Vec<u64>);

impl Bits {
    pub fn set(&mut self, index: u64) {
        let word = (index / 64) as usize;
        if word >= self.0.len() {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (index % 64);
    }

    pub fn has(&self, index: u64) -> bool {
        let word = self.0.get((index / 64) as usize);
        word.is_some_and(|word| word >> (index % 64) & 1 == 1)
    }
}

/// What the first walk found.
#[derive(Clone, Debug, Default)]
pub(super) struct Learned {
    /// The calls that `--min-time` keeps, of each part, by the first strand of that.
    pub long: HashMap<StrandId, Bits>,
    /// Strands of which a call is kept.
    pub strands: HashSet<StrandId>,
    /// Threads that ran these, and threads that had what these waited for.
    pub beside: HashSet<StrandId>,
}

impl Learned {
    pub fn add(&mut self, part: Option<StrandId>, learning: Learning) {
        self.strands.extend(learning.strands);
        self.beside.extend(learning.beside);
        self.long.extend(part.map(|part| (part, learning.long)));
    }
}

/// The same of one part of the trace, while it is walked.
#[derive(Default)]
pub(super) struct Learning {
    pub long: Bits,
    pub strands: HashSet<StrandId>,
    pub beside: HashSet<StrandId>,
    /// By strand that lives: the threads that ran it, and those that had what it waited for.
    threads: FxHashMap<StrandId, Vec<usize>>,
}

impl Learning {
    /// The strand is shown with this thread.
    pub fn with(&mut self, strand: StrandId, thread: usize) {
        let threads = self.threads.entry(strand).or_default();
        if !threads.contains(&thread) {
            threads.push(thread);
        }
    }

    /// The strand is shown with whoever had what it waits for; `tids`: the process's threads.
    pub fn waits(&mut self, strand: StrandId, wait: Wait<'_>, tids: &Tids) {
        let holder = wait.holder().filter(|holder| !holder.released);
        let holders = holder.and_then(|holder| tids.get(&holder.tid));
        for &thread in holders.into_iter().flatten() {
            self.with(strand, thread);
        }
    }

    /// The strand has ended, and is shown or not.
    pub fn ended(&mut self, strand: StrandId, is_shown: bool) {
        let threads = self.threads.remove(&strand).unwrap_or_default();
        if is_shown {
            self.strands.insert(strand);
            let threads = threads.into_iter();
            let threads = threads.map(|thread| StrandId::of_thread(strand.process(), thread));
            self.beside.extend(threads);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;

    #[test]
    fn bits_are_set_one_by_one() {
        let mut bits = Bits::default();
        for index in [0, 63, 64, 1000] {
            bits.set(index);
        }
        let found: Vec<u64> = (0..2000).filter(|&index| bits.has(index)).collect();
        assert_eq!(found, [0, 63, 64, 1000]);
    }
}
