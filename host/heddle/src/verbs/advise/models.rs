//! What other models would cost a program, from how often its trace says that it synchronised and
//! from what that was measured to cost on this machine.
//!
//! CP is the program as it was recorded, CM the same on one cooperative scheduler, PCM the same in
//! groups on several processors (Euro-Par 2000). Only what synchronisation costs is predicted, in
//! processor time: the work is the same.

use super::lock::{Advice, Inside};
use heddle_compare::costs::{BETWEEN, Cost, Costs, LIFE};
use heddle_trace_file::ObjectKind;
use std::ops::{Add, Mul, Sub};

/// An operation costs a program at least and at most so many times what it costs in the loop that
/// measures it. Caches are cold there, other threads are woken, more than two wait. The bounds hold
/// for the medians of the lab's programs (docs/advise.md).
const LEAST: f64 = 1.0 / 3.0;
const MOST: f64 = 2.0;

/// A value in ns, and the limits between which it lies.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Range {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

impl From<Cost> for Range {
    fn from(cost: Cost) -> Self {
        Range {
            value: cost.value,
            low: cost.low,
            high: cost.high,
        }
    }
}

impl Range {
    /// What an operation costs that was measured in a loop: the same, with wider limits.
    fn in_program(self) -> Self {
        Range {
            value: self.value,
            low: self.low * LEAST,
            high: self.high * MOST,
        }
    }

    /// With its upper limit at this one.
    pub fn at_most(self, high: f64) -> Self {
        Range {
            high: self.high.min(high),
            ..self
        }
    }
}

impl Add for Range {
    type Output = Range;

    fn add(self, other: Range) -> Range {
        Range {
            value: self.value + other.value,
            low: self.low + other.low,
            high: self.high + other.high,
        }
    }
}

impl Sub for Range {
    type Output = Range;

    fn sub(self, other: Range) -> Range {
        Range {
            value: self.value - other.value,
            low: self.low - other.high,
            high: self.high - other.low,
        }
    }
}

impl Mul<Range> for u64 {
    type Output = Range;

    fn mul(self, each: Range) -> Range {
        let count = self as f64;
        Range {
            value: count * each.value,
            low: count * each.low,
            high: count * each.high,
        }
    }
}

/// P and V operations, those of mutexes and spin locks included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    /// P that took at once.
    pub free: u64,
    /// P that had to wait, each with the V that ended the wait.
    pub waits: u64,
    /// Further V.
    pub gives: u64,
}

impl Operations {
    fn new(taken: u64, blocked: u64, given: u64) -> Self {
        let waits = blocked.min(taken);
        Operations {
            free: taken - waits,
            waits,
            gives: given.saturating_sub(waits),
        }
    }

    fn add(&mut self, other: Self) {
        self.free += other.free;
        self.waits += other.waits;
        self.gives += other.gives;
    }

    fn all(self) -> u64 {
        self.free + self.waits
    }

    fn times(self, each: &Each) -> Range {
        self.free * each.p + self.waits * each.handoff + self.gives * each.v
    }
}

/// What operations cost one model.
struct Each {
    p: Range,
    v: Range,
    handoff: Range,
}

/// A cost that is not known, for people.
fn unknown(operation: &str, model: &str) -> String {
    let operation = match operation {
        "p" => "taking a lock or semaphore (P)",
        "v" => "giving back a lock or semaphore (V)",
        "handoff" => "waking a strand that waits for a lock or semaphore",
        "yield" => "a switch between runnable strands",
        _ if operation == BETWEEN => "a hand-over between groups",
        other => other,
    };
    format!("the cost of {operation} in the model `{model}`")
}

impl Each {
    /// Else the first operation that is not known.
    fn of(costs: &Costs, model: &str) -> Result<Self, String> {
        let of = |operation| {
            let cost = costs.of(model, operation).map(Range::from);
            cost.ok_or_else(|| unknown(operation, model))
        };
        Ok(Each {
            p: of("p")?,
            v: of("v")?,
            handoff: of("handoff")?,
        })
    }

    fn in_program(&self) -> Self {
        Each {
            p: self.p.in_program(),
            v: self.v.in_program(),
            handoff: self.handoff.in_program(),
        }
    }
}

/// What the operations of one process amount to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Operations of locks within which no thread was seen to wait: CM does without these.
    pub goes: Operations,
    /// All others.
    pub stays: Operations,
    /// There are mutexes or spin locks among them.
    pub mutexes: bool,
    /// Operations of other kinds that had to wait: what these cost was not measured.
    pub unmeasured: u64,
    /// Switches from a thread that could have run on; `None`: they were not recorded. Under CM
    /// there are none.
    pub preempted: Option<u64>,
    /// Threads that the program made.
    pub made: u64,
}

impl Counted {
    /// Adds an object; `inside`: what is known of its sections, if it is a lock.
    pub fn add(&mut self, lock: &crate::waits::Lock, inside: Option<Inside>) {
        let given = match lock.kind {
            ObjectKind::Semaphore => lock.given.unwrap_or(0),
            ObjectKind::Mutex | ObjectKind::SpinLock => {
                self.mutexes = true;
                lock.taken.unwrap_or(0)
            }
            _ => {
                self.unmeasured += lock.blocked;
                return;
            }
        };
        let operations = Operations::new(lock.taken.unwrap_or(0), lock.blocked, given);
        match inside {
            Some(Inside::NoneSeen { .. }) => self.goes.add(operations),
            _ => self.stays.add(operations),
        }
    }
}

/// The operations of a process.
pub fn count(pid: u32, locks: &[crate::waits::Lock], advice: &[Advice<'_>], made: u64) -> Counted {
    let mut counted = Counted {
        made,
        ..Counted::default()
    };
    for lock in locks.iter().filter(|lock| lock.process.pid == pid) {
        let known = advice.iter().find(|known| std::ptr::eq(known.lock, lock));
        counted.add(lock, known.map(|known| known.inside));
    }
    counted
}

/// What is predicted: processor time, ns.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// What P, V, the threads' lives and the switches of those that could have run on cost the
    /// program as it is.
    pub now: Range,
    /// What the recorder added to them; `None`: that was not measured.
    pub recorder: Option<Range>,
    /// What CM saves; below 0: what it costs more.
    pub cm: Range,
    /// What PCM saves. Which strands are one group is not in a trace, so there is no value between
    /// its limits; or why nothing is said.
    pub pcm: Result<(f64, f64), String>,
    /// Whether what making and ending threads and strands costs is in these, because that was
    /// measured.
    pub lives: bool,
}

/// Predicts.
///
/// # Errors
/// Which cost is not known.
pub fn predict(counted: &Counted, costs: &Costs) -> Result<Prediction, String> {
    let measured = Each::of(costs, "thread")?;
    let strand = Each::of(costs, "cooperative/asm")?.in_program();
    let cost = |model, operation| {
        let cost = costs.of(model, operation).map(Range::from);
        cost.map(Range::in_program)
    };
    let (goes, stays) = (counted.goes, counted.stays);
    let mut every = goes;
    every.add(stays);
    let mut now = every.times(&measured.in_program());
    if let Some(switches @ 1..) = counted.preempted {
        now = now + switches * cost("thread", "yield").ok_or_else(|| unknown("yield", "thread"))?;
    }

    // What stays may be a shared variable under CM that is looked at for nothing; or each P waits.
    let mut kept = Range {
        value: stays.times(&strand).value,
        low: 0.0,
        high: stays.all() as f64 * strand.handoff.high.max(strand.p.high + strand.v.high),
    };
    let lives = cost("thread", LIFE).zip(cost("cooperative/asm", LIFE));
    if let Some((of_thread, of_strand)) = lives {
        now = now + counted.made * of_thread;
        kept = kept + counted.made * of_strand;
    }
    let cm = now - kept;
    let recorder = Each::of(costs, "thread/sync").ok();
    let recorder = recorder.map(|recorded| every.times(&recorded) - every.times(&measured));

    // At best all pairs are within groups: then it is CM in each. At worst each P waits for another
    // group, while both processors are busy.
    let between = costs.of("parallel/asm", BETWEEN);
    let pcm = between.map(|between| {
        let worst = every.all() as f64 * 2.0 * between.high;
        (cm.low.min(now.low - worst), cm.high)
    });
    let pcm = pcm.ok_or_else(|| unknown(BETWEEN, "parallel/asm"));
    Ok(Prediction {
        now,
        recorder,
        cm,
        pcm,
        lives: lives.is_some(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn costs(all: &[(&str, &str, f64)]) -> Costs {
        Costs::known(all.iter().map(|&(model, operation, value)| {
            let (low, high) = (value * 0.9, value * 1.1);
            (model, operation, Cost { value, low, high })
        }))
    }

    const ALL: [(&str, &str, f64); 7] = [
        ("thread", "p", 10.0),
        ("thread", "v", 20.0),
        ("thread", "handoff", 1000.0),
        ("cooperative/asm", "p", 1.0),
        ("cooperative/asm", "v", 2.0),
        ("cooperative/asm", "handoff", 50.0),
        ("parallel/asm", BETWEEN, 100.0),
    ];

    fn operations(taken: u64, blocked: u64) -> Operations {
        Operations::new(taken, blocked, taken)
    }

    #[test]
    fn pairs_that_can_go_save_all_they_cost_and_others_what_strands_pay_less() {
        let counted = Counted {
            goes: operations(100, 10),
            stays: operations(1000, 200),
            ..Counted::default()
        };
        let found = predict(&counted, &costs(&ALL)).unwrap();
        let (goes, stays) = (90.0 * 30.0 + 10.0 * 1000.0, 800.0 * 30.0 + 200.0 * 1000.0);
        assert_eq!(found.now.value, goes + stays);
        assert_eq!(found.cm.value, goes + stays - 800.0 * 3.0 - 200.0 * 50.0);
        // Measured within a tenth, and a program's costs a third to twice of that.
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1.0, "{a} is not {b}");
        close(found.now.low, (goes + stays) * 0.3);
        close(found.now.high, (goes + stays) * 2.2);
        // Nothing of it stays at best; at worst each P that stays waits.
        assert_eq!(found.cm.high, found.now.high);
        close(found.cm.low, found.now.low - 1000.0 * 110.0);
        // At worst each pair, of both kinds, lies between two groups.
        let (low, high) = found.pcm.unwrap();
        assert!(
            (low - (found.now.low - 1100.0 * 220.0)).abs() < 1.0,
            "{low}"
        );
        assert_eq!(high, found.cm.high);
        assert_eq!(found.recorder, None);
    }

    #[test]
    fn cm_has_no_switches_of_threads_that_could_run_on() {
        let mut counted = Counted {
            stays: operations(1000, 200),
            ..Counted::default()
        };
        let before = predict(&counted, &costs(&ALL)).unwrap();
        counted.preempted = Some(50);
        let missing = predict(&counted, &costs(&ALL));
        assert_eq!(
            missing,
            Err("the cost of a switch between runnable strands in the model `thread`".to_owned())
        );
        let mut all = ALL.to_vec();
        all.push(("thread", "yield", 800.0));
        let found = predict(&counted, &costs(&all)).unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1.0, "{a} is not {b}");
        close(found.cm.value - before.cm.value, 50.0 * 800.0);
        close(found.cm.low - before.cm.low, 50.0 * 800.0 * 0.3);
    }

    #[test]
    fn threads_cost_what_making_and_ending_them_does() {
        let counted = Counted {
            stays: operations(1000, 200),
            made: 16,
            ..Counted::default()
        };
        let before = predict(&counted, &costs(&ALL)).unwrap();
        assert!(!before.lives);
        let mut all = ALL.to_vec();
        all.extend([("thread", LIFE, 20_000.0), ("cooperative/asm", LIFE, 100.0)]);
        let found = predict(&counted, &costs(&all)).unwrap();
        assert!(found.lives);
        assert_eq!(found.now.value - before.now.value, 16.0 * 20_000.0);
        assert_eq!(found.cm.value - before.cm.value, 16.0 * 19_900.0);
    }

    #[test]
    fn what_was_not_measured_is_not_predicted() {
        let counted = Counted {
            stays: operations(1000, 200),
            ..Counted::default()
        };
        let found = predict(&counted, &costs(&ALL[1..]));
        assert_eq!(
            found,
            Err("the cost of taking a lock or semaphore (P) in the model `thread`".to_owned())
        );
        let found = predict(&counted, &costs(&ALL[..6])).unwrap();
        assert_eq!(
            found.pcm,
            Err("the cost of a hand-over between groups in the model `parallel/asm`".to_owned())
        );
    }

    #[test]
    fn a_wait_has_its_v_within_it() {
        let counts = Operations::new(10, 4, 10);
        assert_eq!((counts.free, counts.waits, counts.gives), (6, 4, 6));
        // A thread that still waits has taken nothing.
        let counts = Operations::new(0, 1, 0);
        assert_eq!((counts.free, counts.waits, counts.gives), (0, 0, 0));
    }
}
