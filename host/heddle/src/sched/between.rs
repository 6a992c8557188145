//! The stretches off a processor of each thread, as its events come.

use heddle_trace_file::{Nanos, OffCpu, Switches, Trace};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// The stretches of all threads of a trace.
pub struct Stretches {
    switches: Switches,
    /// By process and thread: the kernel's number, and while it is this thread's.
    threads: Vec<Vec<(u32, Range<Nanos>)>>,
}

impl Stretches {
    pub fn new(trace: &Trace, switches: Switches) -> Self {
        let processes = trace.processes().iter();
        let all = processes.clone().flat_map(|process| process.threads());
        let mut begun: Vec<(u32, Nanos)> = all.map(|it| (it.tid(), it.first())).collect();
        begun.sort_unstable();
        let life = |tid, first| {
            let next = begun.partition_point(|&other| other <= (tid, first));
            let next = begun.get(next).filter(|other| other.0 == tid);
            (tid, first..next.map_or(Nanos(u64::MAX), |next| next.1))
        };
        let threads = processes.map(|process| {
            let threads = process.threads().iter();
            threads.map(|it| life(it.tid(), it.first())).collect()
        });
        Stretches {
            threads: threads.collect(),
            switches,
        }
    }

    /// Those of a thread.
    pub fn of(&self, process: usize, thread: usize) -> &[OffCpu] {
        let of = self.threads.get(process).and_then(|all| all.get(thread));
        of.map_or(&[], |(tid, life)| self.switches.of(*tid, life.clone()))
    }
}

/// Gives the stretches of a process's threads, each once.
#[derive(Clone)]
pub struct Between {
    all: Arc<Stretches>,
    process: usize,
    /// How many were given of each thread.
    given: FxHashMap<usize, usize>,
}

impl Between {
    /// Of the process with this index.
    pub fn new(all: &Arc<Stretches>, process: usize) -> Self {
        Between {
            all: all.clone(),
            process,
            given: FxHashMap::default(),
        }
    }

    /// The thread's next stretch that begins before this time.
    pub fn next(&mut self, thread: usize, before: Nanos) -> Option<OffCpu> {
        let given = self.given.entry(thread).or_default();
        let all = self.all.of(self.process, thread);
        let next = all.get(*given).filter(|off| off.from < before)?;
        *given += 1;
        Some(*next)
    }

    /// All stretches of a thread.
    pub fn all(&self, thread: usize) -> &[OffCpu] {
        self.all.of(self.process, thread)
    }
}
