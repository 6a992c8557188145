//! When more threads could run than there are processors.

use heddle_trace_file::{Nanos, Switches};
use rustc_hash::FxHashMap;

/// The time in which more threads of the program could run than it has processors.
pub(super) struct Crowded {
    /// In order, and how much of such time was before.
    times: Vec<(Nanos, Nanos, Nanos)>,
}

impl Crowded {
    pub(super) fn of(switches: &Switches, processors: usize) -> Self {
        let mut steps: Vec<(Nanos, i64)> = Vec::new();
        let mut ended: FxHashMap<u32, Nanos> = FxHashMap::default();
        for life in &switches.lives {
            steps.extend([(life.from, 1), (life.to, -1)]);
            let after = ended.insert(life.tid, life.to).unwrap_or(Nanos(0));
            let stretches = switches.of(life.tid, life.from.max(after)..life.to);
            let blocked = stretches
                .iter()
                .filter(|it| !it.preempted && it.from >= life.from);
            steps.extend(blocked.flat_map(|it| [(it.from, -1), (it.to, 1)]));
        }
        steps.sort_unstable();
        let (mut times, mut can_run, mut since) = (Vec::new(), 0, None);
        let mut before = Nanos(0);
        for (time, step) in steps {
            can_run += step;
            let crowded = can_run > processors as i64;
            match (since, crowded) {
                (None, true) => since = Some(time),
                (Some(from), false) => {
                    times.push((from, time, before));
                    before = Nanos(before.0 + (time - from).0);
                    since = None;
                }
                _ => {}
            }
        }
        Self { times }
    }

    /// How much of it lies in a stretch.
    pub(super) fn within(&self, from: Nanos, to: Nanos) -> Nanos {
        let until = |time: Nanos| {
            let next = self.times.partition_point(|times| times.0 < time);
            match self.times[..next].last() {
                None => Nanos(0),
                Some(&(begin, end, before)) => Nanos(before.0 + (end.min(time) - begin).0),
            }
        };
        until(to) - until(from)
    }
}
