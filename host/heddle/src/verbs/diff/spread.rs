//! How long the calls of a function took, each without its callees, and whether two runs differ by
//! more than their calls differ among one another.

use heddle_trace_file::Nanos;

/// Buckets for each doubling: times are known to a sixteenth.
const STEPS: u64 = 16;

/// Times of calls, as a histogram whose buckets grow with the time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spread {
    counts: Vec<u64>,
    calls: u64,
    sum: u128,
    /// The sum of the squares.
    squares: u128,
}

/// Calls that tell something of how much they spread.
const ENOUGH: u64 = 5;
/// Calls whose quartiles hardly move by chance.
const STEADY: u64 = 20;
/// Standard errors of the rank sum: 1 in 100 runs of the same program has more.
const RANKS_APART: f64 = 2.58;
/// A call of the slower run takes longer than one of the other in so many of all pairs at least.
const OFTEN: f64 = 0.6;
/// Standard errors of the mean, and its least change: what few calls make, which take very long.
const MEANS_APART: f64 = 3.3;
const LEAST_CHANGE: f64 = 0.1;

/// How the calls of one run compare with those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    Slower(By),
    Faster(By),
    /// No more than calls differ anyhow.
    Noise,
    /// Too few calls to tell.
    Few,
}

/// By what runs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum By {
    Ranks,
    Means,
}

impl Spread {
    /// Adds a call.
    pub fn add(&mut self, nanos: u64) {
        let bucket = bucket(nanos);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.calls += 1;
        self.sum += u128::from(nanos);
        self.squares = self.squares.saturating_add(u128::from(nanos).pow(2));
    }

    /// Adds the calls of another part of the run.
    pub fn merge(&mut self, other: &Spread) {
        if other.counts.len() > self.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, others) in self.counts.iter_mut().zip(&other.counts) {
            *mine += others;
        }
        self.calls += other.calls;
        self.sum += other.sum;
        self.squares = self.squares.saturating_add(other.squares);
    }

    /// The average, in ns.
    pub fn mean(&self) -> Option<f64> {
        (self.calls > 0).then(|| self.sum as f64 / self.calls as f64)
    }

    /// The same, cut to whole nanoseconds as `heddle report` cuts it.
    pub fn average(&self) -> Option<Nanos> {
        let average = self.sum.checked_div(self.calls.into())?;
        u64::try_from(average).ok().map(Nanos)
    }

    /// The time that half of the calls do not exceed: at most a sixteenth of it from the exact one,
    /// or a nanosecond.
    pub fn median(&self) -> Option<Nanos> {
        (self.calls > 0).then(|| Nanos(self.at(0.5) as u64))
    }

    fn variance(&self) -> f64 {
        let calls = self.calls as f64;
        let mean = self.sum as f64 / calls;
        let sum = self.squares as f64 - calls * mean * mean;
        (sum / (calls - 1.0)).max(0.0)
    }

    /// Whether there are so many calls that most of them would hardly move by chance.
    pub fn is_steady(&self) -> bool {
        self.calls >= STEADY
    }

    /// How many times as long calls of a later run take, as a logarithm: most calls, by what ranks
    /// tell (the quartiles), or the mean.
    pub fn moved_to(&self, later: &Spread, by: By) -> f64 {
        let ratio = |before: f64, after: f64| (after.max(1.0) / before.max(1.0)).ln();
        match by {
            By::Ranks => {
                let quartiles = [0.25, 0.5, 0.75].map(|part| (self.at(part), later.at(part)));
                let ratios = quartiles.map(|(before, after)| ratio(before, after));
                ratios.iter().sum::<f64>() / ratios.len() as f64
            }
            By::Means => ratio(self.mean().unwrap_or(0.0), later.mean().unwrap_or(0.0)),
        }
    }

    /// The time that this part of the calls does not exceed, as if those of a bucket were spread
    /// evenly in it.
    fn at(&self, part: f64) -> f64 {
        let mut left = part * self.calls as f64;
        for (bucket, &count) in self.counts.iter().enumerate() {
            let count = count as f64;
            if count > 0.0 && left <= count {
                let [from, to] = [bucket, bucket + 1].map(|bucket| begin(bucket) as f64);
                return from + (to - from) * left / count;
            }
            left -= count;
        }
        0.0
    }

    /// How the calls of a later run compare.
    ///
    /// They differ if by ranks (Mann and Whitney) they are apart, and in most pairs in the same
    /// direction; or if by their means (Welch), which the few that take very long decide.
    pub fn change_to(&self, later: &Spread) -> Change {
        if self.calls < ENOUGH || later.calls < ENOUGH {
            return Change::Few;
        }
        let (often, apart) = ranks(&self.counts, &later.counts);
        if apart >= RANKS_APART && often >= OFTEN {
            return Change::Slower(By::Ranks);
        }
        if apart <= -RANKS_APART && often <= 1.0 - OFTEN {
            return Change::Faster(By::Ranks);
        }
        let (Some(before), Some(after)) = (self.mean(), later.mean()) else {
            return Change::Few;
        };
        let error = self.variance() / self.calls as f64 + later.variance() / later.calls as f64;
        let apart = (after - before) / error.sqrt().max(f64::MIN_POSITIVE);
        let large = (after - before).abs() >= LEAST_CHANGE * before;
        match apart {
            apart if apart >= MEANS_APART && large => Change::Slower(By::Means),
            apart if apart <= -MEANS_APART && large => Change::Faster(By::Means),
            _ => Change::Noise,
        }
    }
}

fn bucket(nanos: u64) -> usize {
    if nanos < STEPS {
        return nanos as usize;
    }
    let doubling = u64::from(nanos.ilog2());
    let within = (nanos >> (doubling - 4)) & (STEPS - 1);
    (STEPS + (doubling - 4) * STEPS + within) as usize
}

/// The shortest time of a bucket.
fn begin(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let (doubling, within) = ((bucket - STEPS) / STEPS, bucket % STEPS);
    (STEPS + within) << doubling
}

/// In which share of all pairs of calls that of the later run takes longer (a half of the ties
/// counts), and by how many standard errors that is more than a half.
fn ranks(before: &[u64], after: &[u64]) -> (f64, f64) {
    let count = |counts: &[u64], at: usize| counts.get(at).copied().unwrap_or(0) as f64;
    let sum = |counts: &[u64]| counts.iter().sum::<u64>() as f64;
    let (m, n) = (sum(before), sum(after));
    let (mut below, mut longer, mut ties) = (0.0, 0.0, 0.0);
    for at in 0..before.len().max(after.len()) {
        let (a, b) = (count(before, at), count(after, at));
        longer += b * (below + a / 2.0);
        below += a;
        ties += (a + b).powi(3) - (a + b);
    }
    let all = m + n;
    let variance = m * n / 12.0 * (all + 1.0 - ties / (all * (all - 1.0)));
    let apart = (longer - m * n / 2.0) / variance.max(f64::MIN_POSITIVE).sqrt();
    let same = variance <= 0.0;
    (longer / (m * n), if same { 0.0 } else { apart })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread(times: impl IntoIterator<Item = u64>) -> Spread {
        let mut spread = Spread::default();
        times.into_iter().for_each(|nanos| spread.add(nanos));
        spread
    }

    /// So many calls that take this time and up to a quarter more.
    fn around(time: u64, calls: u64) -> Spread {
        spread((0..calls).map(|call| time + time * (call * 7 % 25) / 100))
    }

    #[test]
    fn buckets_are_in_order_and_narrow() {
        let mut last = 0;
        for nanos in (0..5000).chain([1 << 40, u64::MAX]) {
            assert!(bucket(nanos) >= last && (nanos > 5000 || bucket(nanos) <= last + 1));
            last = bucket(nanos);
            assert!(begin(last) <= nanos && (last > 900 || nanos < begin(last + 1)));
        }
        assert!(bucket(1000) < bucket(1065));
        assert!(last < 1000);
    }

    #[test]
    fn a_median_is_off_by_a_sixteenth_or_a_nanosecond_at_most() {
        let mut times: Vec<u64> = (0..999)
            .map(|call: u64| call * call * call % 70_001)
            .collect();
        for shift in 0..20 {
            let found = spread(times.iter().map(|time| time << shift)).median();
            times.sort_unstable();
            let exact = (times[times.len() / 2]) << shift;
            let off = found.unwrap().0.abs_diff(exact);
            assert!(off <= (exact / 16).max(1), "{found:?}, and exactly {exact}");
        }
        for time in [0, 1, 15, 16, 1000, 1055] {
            let found = spread([time; 3]).median().unwrap().0;
            assert!(
                found.abs_diff(time) <= (time / 16).max(1),
                "{found}, {time}"
            );
        }
    }

    #[test]
    fn an_average_is_cut_as_that_of_a_report() {
        assert_eq!(spread([1, 2, 2]).average(), Some(Nanos(1)));
        assert_eq!(spread([]).average(), None);
    }

    #[test]
    fn a_change_is_more_than_calls_differ_anyhow() {
        let base = around(1000, 100);
        for (later, change) in [
            (around(1000, 100), Change::Noise),
            (around(1000, 100_000), Change::Noise),
            (around(1020, 100), Change::Noise),
            (around(1200, 100), Change::Slower(By::Ranks)),
            (around(800, 100), Change::Faster(By::Ranks)),
            (around(5000, 4), Change::Few),
            // One call that had to wait says nothing; one in ten does.
            (
                spread(
                    (0..100)
                        .map(|call| 1000 + call * 7 % 25 * 10 + 100_000 * u64::from(call == 50)),
                ),
                Change::Noise,
            ),
            (
                spread(
                    (0..1000).map(|call| 1000 + call % 250 + 100_000 * u64::from(call % 10 == 0)),
                ),
                Change::Slower(By::Means),
            ),
        ] {
            assert_eq!(base.change_to(&later), change, "{later:?}");
        }
        let one = spread(std::iter::repeat_n(100, 50));
        assert_eq!(one.change_to(&one), Change::Noise);
        assert_eq!(
            one.change_to(&spread(std::iter::repeat_n(200, 50))),
            Change::Slower(By::Ranks)
        );
    }

    #[test]
    fn most_calls_move_by_what_they_take_longer() {
        let base = around(1000, 100);
        for percent in [100_u64, 104, 110, 150, 300, 50] {
            let later = around(10 * percent, 100);
            let expected = (percent as f64 / 100.0).ln();
            for by in [By::Ranks, By::Means] {
                let moved = base.moved_to(&later, by);
                assert!((moved - expected).abs() < 0.02, "{percent} {by:?} {moved}");
            }
        }
        // One call in ten that had to wait moves the mean alone.
        let waits = |call: u64| 1000 + call * 7 % 25 * 10 + 100_000 * u64::from(call % 10 == 0);
        let later = spread((0..100).map(waits));
        assert!(base.moved_to(&later, By::Ranks) < 0.1);
        assert!(base.moved_to(&later, By::Means) > 1.0);
    }

    #[test]
    fn parts_add_up() {
        let whole = spread(0..1000);
        let mut parts = spread(0..300);
        parts.merge(&spread(300..1000));
        assert_eq!(parts, whole);
    }
}
