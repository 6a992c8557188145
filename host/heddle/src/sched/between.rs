//! The stretches off a processor of each thread, as its events come.

use crate::names::printable;
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

    /// What the kernel told.
    pub fn switches(&self) -> &Switches {
        &self.switches
    }

    /// Those of a thread.
    pub fn of(&self, process: usize, thread: usize) -> &[OffCpu] {
        let of = self.threads.get(process).and_then(|all| all.get(thread));
        of.map_or(&[], |(tid, life)| self.switches.of(*tid, life.clone()))
    }
}

impl Stretches {
    /// How many threads a process had; those that recorded nothing are known where the trace has no
    /// other process.
    pub fn lived(&self, process: usize) -> usize {
        let recorded = self.threads.get(process).map_or(0, Vec::len);
        match self.threads.len() {
            1 => recorded.max(self.switches.lives.len()),
            _ => recorded,
        }
    }

    /// How often the threads of a process lost a processor that they could have used on.
    pub fn preempted(&self, process: usize) -> u64 {
        let threads = self.threads.get(process).map_or(0, Vec::len);
        let all = (0..threads).flat_map(|thread| self.of(process, thread));
        all.filter(|off| off.preempted).count() as u64
    }

    /// How long the threads of a process were ready without a processor, after they were preempted:
    /// added up, and the time in which at least one of them was.
    pub fn ready(&self, process: usize) -> (Nanos, Nanos) {
        let threads = self.threads.get(process).map_or(0, Vec::len);
        let all = (0..threads).flat_map(|thread| self.of(process, thread));
        let mut ready: Vec<(Nanos, Nanos)> = all
            .filter(|off| off.preempted)
            .map(|off| (off.from, off.to))
            .collect();
        ready.sort_unstable();
        let (mut sum, mut covered, mut end) = (0u64, 0u64, Nanos(0));
        for (from, to) in ready {
            sum = sum.saturating_add((to - from).0);
            covered = covered.saturating_add((to - from.max(end)).0);
            end = end.max(to);
        }
        (Nanos(sum), Nanos(covered))
    }
}

/// What a viewer shows while others have the processor that a thread could use.
pub const READY: &str = "ready";
/// What a viewer shows while a thread waits in the kernel; the call follows it, if it is known.
pub const BLOCKED: &str = "blocked";

/// Says why a thread was off its processor. `call`: the call into the kernel that it made at this
/// time, which says why only if it had begun before.
pub fn why_off(stretch: &OffCpu, call: Option<(Nanos, &[u8])>) -> String {
    let call = call.filter(|(since, _)| *since <= stretch.from);
    match (stretch.preempted, call) {
        (true, _) => READY.to_owned(),
        (false, None) => BLOCKED.to_owned(),
        (false, Some((_, call))) => {
            let call = printable(&String::from_utf8_lossy(call));
            format!("{BLOCKED}: {call}")
        }
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
    /// Begins before the first stretch of the process with this index.
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

    /// What threads did from then on is not known.
    pub fn told(&self) -> Nanos {
        self.all.switches.told
    }

    /// All stretches of a thread.
    pub fn all(&self, thread: usize) -> &[OffCpu] {
        self.all.of(self.process, thread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_trace_file::write::TraceWriter;
    use heddle_trace_file::{Switch, SwitchKind};

    #[test]
    fn time_in_which_two_threads_are_ready_counts_once() {
        let directory = tempfile::tempdir().unwrap();
        let writer = TraceWriter::create(directory.path()).unwrap();
        let mut process = writer.process(42, 1, "/bin/app").unwrap();
        for tid in [42, 43] {
            process
                .thread(tid, "app")
                .mark(1, 0, "here")
                .finish()
                .unwrap();
        }
        process.finish().unwrap();
        let switch = |time, tid, kind| Switch {
            time: Nanos(time),
            pid: 42,
            tid,
            cpu: 0,
            kind,
        };
        use SwitchKind::{Blocks, Preempted, Runs};
        let all = [
            switch(10, 42, Preempted),
            switch(30, 42, Runs),
            switch(20, 43, Preempted),
            switch(35, 43, Runs),
            switch(40, 43, Blocks),
            switch(90, 43, Runs),
            switch(50, 42, Preempted),
            switch(51, 42, Runs),
        ];
        writer.switches(&all, Some(100)).unwrap();
        let trace = Trace::open(directory.path()).unwrap();
        let switches = trace.switches().unwrap().unwrap();
        let stretches = Stretches::new(&trace, switches);
        assert_eq!(stretches.ready(0), (Nanos(36), Nanos(26)));
    }
}
