//! Where the time of a program's threads went, as a recording says it.

use serde::{Deserialize, Serialize};

/// The time of all threads of a program, by what they did: what `heddle report --by time` finds.
///
/// The parts exclude each other, and their sum is `total_ns`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadTime {
    /// Threads that the kernel told of in this time.
    pub threads: u64,
    /// Only the stretch is looked at that the program has marked as measured; else the whole run.
    pub measured: bool,
    /// Time of all threads together, without `joining_ns`.
    pub total_ns: u64,
    /// On a processor.
    pub running_ns: u64,
    /// Preempted: ready, while others had the processors.
    pub processor_ns: u64,
    /// Within `processor_ns`: while more threads of the program could run than it had processors.
    #[serde(default)]
    pub processor_own_ns: u64,
    /// Blocked on other threads: locks, conditions, semaphores, barriers, futexes.
    pub locks_ns: u64,
    /// Blocked in another call into the kernel: input, output, sleep.
    pub io_ns: u64,
    /// Blocked on what is not known.
    pub not_known_ns: u64,
    /// Waiting for the end of other threads: no part of the total, as such a thread has no work.
    pub joining_ns: u64,
    /// How often the kernel took a thread off its processor.
    pub kernel_switches: u64,
    /// Within `running_ns`: in malloc and its like; none: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub allocation_ns: Option<u64>,
    /// Blocked within malloc and its like: for its locks, or for a page. A part of its own.
    #[serde(default)]
    pub allocation_blocked_ns: u64,
    /// What it cost to count and time the calls of malloc: no part of the total.
    #[serde(default)]
    pub allocation_cost_ns: u64,
    /// Calls of malloc and its like that give memory.
    #[serde(default)]
    pub allocations: u64,
    /// What is missing in the recording, each as a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
}

/// The parts of threads' time; their sum is 1. None: not told apart from work.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    /// On a processor, and nothing of what follows.
    pub work: f64,
    /// Blocked on other threads.
    pub locks: f64,
    /// Preempted: ready, without a processor.
    pub processor: f64,
    /// Blocked in other calls into the kernel.
    pub io: f64,
    /// Switching between strands, estimated: how often, times what a switch costs.
    pub switching: Option<f64>,
    /// In malloc and its like, on a processor or blocked.
    pub allocation: Option<f64>,
    /// Blocked on what is not known.
    pub not_known: f64,
}

impl Shares {
    /// What the parts are called, in the order of [`Shares::parts`].
    pub const NAMES: [&'static str; 7] = [
        "work",
        "locks",
        "processor",
        "I/O",
        "switching",
        "allocation",
        "not known",
    ];

    /// All parts in one order.
    pub fn parts(&self) -> [Option<f64>; 7] {
        [
            Some(self.work),
            Some(self.locks),
            Some(self.processor),
            Some(self.io),
            self.switching,
            self.allocation,
            Some(self.not_known),
        ]
    }
}

impl ThreadTime {
    /// The sum of the parts, ns.
    pub(crate) fn parts_ns(&self) -> f64 {
        let parts = [
            self.running_ns,
            self.processor_ns,
            self.locks_ns,
            self.io_ns,
            self.not_known_ns,
            self.allocation_blocked_ns,
        ];
        parts.iter().map(|part| *part as f64).sum()
    }

    /// The shares; none where no time was recorded. `switching_ns` is what switches cost; what is
    /// estimated beyond the time on a processor is cut off.
    pub fn shares(&self, switching_ns: Option<f64>) -> Option<Shares> {
        let total = self.parts_ns();
        if total <= 0.0 {
            return None;
        }
        let running = self.running_ns as f64;
        let allocation = self.allocation_ns.map(|ns| (ns as f64).min(running));
        let left = running - allocation.unwrap_or(0.0);
        let switching = switching_ns.map(|ns| ns.clamp(0.0, left));
        Some(Shares {
            work: (left - switching.unwrap_or(0.0)) / total,
            locks: self.locks_ns as f64 / total,
            processor: self.processor_ns as f64 / total,
            io: self.io_ns as f64 / total,
            switching: switching.map(|ns| ns / total),
            allocation: allocation.map(|ns| (ns + self.allocation_blocked_ns as f64) / total),
            not_known: self.not_known_ns as f64 / total,
        })
    }
}

/// The recorded sample of a cell: taken after the others, and no sample of the metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Traced {
    /// The command, as executed.
    pub command: Vec<String>,
    /// Why there is no recording, if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Where the time of its threads went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<ThreadTime>,
    /// What held its threads up, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told: Option<crate::Told>,
    /// What its switches cost, ns, estimated; none: what one costs here is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub switching_ns: Option<f64>,
    /// How many times as long as without the recorder the run took; none: not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The metric by which that is told.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cost_by: String,
}

impl Traced {
    /// The shares, if there are any.
    pub fn shares(&self) -> Option<Shares> {
        self.time.as_ref()?.shares(self.switching_ns)
    }
}

/// A share in percent for people: `<1` where there is some, but less than a hundredth.
pub fn percent(share: Option<f64>) -> String {
    match share {
        None => "–".to_owned(),
        Some(share) if share > 0.0 && share < 0.005 => "<1".to_owned(),
        Some(share) => format!("{:.0}", share * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(shares: &Shares) -> f64 {
        shares.parts().iter().flatten().sum()
    }

    #[test]
    fn shares_sum_to_one_and_none_is_negative() {
        let mut random = 1_u64;
        let mut next = |most: u64| {
            random = random
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (random >> 33) % most
        };
        for round in 0..2000 {
            let mut time = ThreadTime {
                running_ns: next(1000) * next(2),
                processor_ns: next(1000) * next(2),
                locks_ns: next(1000) * next(2),
                io_ns: next(1000) * next(2),
                not_known_ns: next(1000) * next(2),
                allocation_ns: (next(2) == 1).then(|| next(2000)),
                ..ThreadTime::default()
            };
            if time.allocation_ns.is_some() {
                time.allocation_blocked_ns = next(1000);
            }
            time.total_ns = time.running_ns
                + time.allocation_blocked_ns
                + time.processor_ns
                + time.locks_ns
                + time.io_ns
                + time.not_known_ns;
            let switching = (next(2) == 1).then(|| next(2000) as f64 - 500.0);
            match time.shares(switching) {
                None => assert_eq!(time.total_ns, 0),
                Some(shares) => {
                    assert!((sum(&shares) - 1.0).abs() < 1e-9, "{round}: {shares:?}");
                    let parts = shares.parts();
                    assert!(
                        parts.iter().flatten().all(|part| *part >= 0.0),
                        "{shares:?}"
                    );
                    assert_eq!(shares.switching.is_some(), switching.is_some());
                    assert_eq!(shares.allocation.is_some(), time.allocation_ns.is_some());
                }
            }
        }
    }

    #[test]
    fn what_is_little_is_not_nothing() {
        let all = [None, Some(0.0), Some(0.001), Some(0.126), Some(1.0)];
        assert_eq!(all.map(percent), ["–", "0", "<1", "13", "100"]);
    }
}
