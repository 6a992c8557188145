//! Until when threads lived, and when they were blocked, as `heddle record --sched` has it: also
//! those that were killed, or left by `_exit`.

use heddle_trace_file::{Error, Life, Nanos, OffCpu, Switches, Thread, Trace};
use rustc_hash::FxHashMap;

/// The lives of the threads of a trace.
#[derive(Default)]
pub struct Lives {
    /// By the kernel's number, one after another.
    all: FxHashMap<u32, Vec<Life>>,
    /// Up to then they are known.
    told: Nanos,
    /// The latest switches are missing, so a thread may have lived on.
    early: bool,
    switches: Switches,
}

impl Lives {
    /// None, where switches were not recorded.
    ///
    /// # Errors
    /// The file of switches has changed since it was opened.
    pub fn of(trace: &Trace) -> Result<Self, Error> {
        let Some(switches) = trace.switches()? else {
            return Ok(Lives::default());
        };
        let mut all: FxHashMap<u32, Vec<Life>> = FxHashMap::default();
        for life in &switches.lives {
            all.entry(life.tid).or_default().push(*life);
        }
        Ok(Lives {
            all,
            told: switches.told,
            early: switches.early.is_some(),
            switches,
        })
    }

    /// Whether it is known when threads were blocked.
    pub fn have_stretches(&self) -> bool {
        self.switches.threads().next().is_some()
    }

    /// When the thread with this number of the kernel's was off its processor between these times
    /// or at one of them, and blocked: the first such stretch.
    pub fn blocked(&self, tid: u32, from: Nanos, to: Nanos) -> Option<OffCpu> {
        let all = self.switches.of(tid, from..Nanos(u64::MAX)).iter();
        let mut within = all.take_while(|stretch| stretch.from <= to);
        within.find(|stretch| !stretch.preempted).copied()
    }

    /// Until when a thread lived, or was recorded if it lived on.
    pub fn until(&self, thread: &Thread) -> Option<Nanos> {
        let lives = self.all.get(&thread.tid()).filter(|_| !self.early)?;
        let own = lives.iter().rfind(|life| life.from <= thread.first())?;
        Some(own.to)
    }

    /// When a thread ended, if it has.
    pub fn died(&self, thread: &Thread) -> Option<Nanos> {
        self.until(thread).filter(|&until| until < self.told)
    }

    /// When the latest thread with this number of the kernel's ended, if it has.
    pub fn end(&self, tid: u32) -> Option<Nanos> {
        let latest = self.all.get(&tid)?.last()?;
        (latest.to < self.told).then_some(latest.to)
    }
}
