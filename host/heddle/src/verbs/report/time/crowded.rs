//! When more threads could run than there are processors.

use heddle_trace_file::{Nanos, Switches};
use rustc_hash::FxHashMap;

/// How much of the time in which threads of the program were ready without a processor is its own
/// doing: of as many as could run beyond the number of processors. Those that were ready beside
/// them had none because other programs had it. Which is which is not known, so each has a share.
pub(super) struct Crowded {
    /// In order, without gaps.
    times: Vec<Stretch>,
}

/// A stretch of time in which as many threads could run, and as many were ready.
struct Stretch {
    from: Nanos,
    /// The share of each ready thread's time, 0 to 1.
    share: f64,
    /// Nanoseconds of such shares before it.
    before: f64,
}

impl Crowded {
    pub(super) fn of(switches: &Switches, processors: usize) -> Self {
        // Time, and by how many more can run, and are ready, from then on.
        let mut steps: Vec<(Nanos, i64, i64)> = Vec::new();
        let mut ended: FxHashMap<u32, Nanos> = FxHashMap::default();
        for life in &switches.lives {
            steps.extend([(life.from, 1, 0), (life.to, -1, 0)]);
            let after = ended.insert(life.tid, life.to).unwrap_or(Nanos(0));
            let stretches = switches.of(life.tid, life.from.max(after)..life.to);
            let there = stretches.iter().filter(|it| it.from >= life.from);
            steps.extend(there.flat_map(|it| match it.preempted {
                true => [(it.from, 0, 1), (it.to, 0, -1)],
                false => [(it.from, -1, 0), (it.to, 1, 0)],
            }));
        }
        steps.sort_unstable();
        let (mut times, mut can_run, mut ready) = (Vec::<Stretch>::new(), 0, 0);
        for (time, runs, waits) in steps {
            can_run += runs;
            ready += waits;
            let beyond = (can_run - processors as i64).clamp(0, ready.max(0));
            let share = match beyond {
                0 => 0.0,
                beyond => beyond as f64 / ready as f64,
            };
            let before = times.last().map_or(0.0, |last| last.until(time));
            times.push(Stretch {
                from: time,
                share,
                before,
            });
        }
        Self { times }
    }

    /// How much of a stretch in which a thread was ready is the program's own doing.
    pub(super) fn within(&self, from: Nanos, to: Nanos) -> Nanos {
        let until = |time: Nanos| {
            let next = self.times.partition_point(|stretch| stretch.from < time);
            self.times[..next]
                .last()
                .map_or(0.0, |stretch| stretch.until(time))
        };
        Nanos((until(to) - until(from)).max(0.0).round() as u64)
    }
}

impl Stretch {
    /// Nanoseconds of shares up to a time within it.
    fn until(&self, time: Nanos) -> f64 {
        self.before + self.share * (time - self.from).0 as f64
    }
}
