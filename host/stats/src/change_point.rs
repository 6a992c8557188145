//! Where a series of values has changed its level.

/// Values below which a series says nothing: of 8 in perfect order, half below and half above, a
/// shuffle has a step as clear about 3 times in 100.
pub const SHORTEST_SERIES: usize = 8;

/// Shuffles at most, and those with a step as clear after which there is no need of more.
const SHUFFLES: u32 = 19_999;
const HITS: u32 = 20;

/// The clearest step of a series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// The first value after it.
    pub at: usize,
    /// That a series without a step has one as clear.
    pub probability: f64,
}

/// Finds the split of a series at which the ranks before and after differ most, and how often a
/// shuffle of the series has one that differs as much. At least two values are on either side.
///
/// `None` for a series that is shorter than [`SHORTEST_SERIES`], is equal throughout or has a value
/// that isn't finite.
pub fn change_point(values: &[f64], seed: u64) -> Option<ChangePoint> {
    let finite = values.iter().all(|value| value.is_finite());
    if values.len() < SHORTEST_SERIES || !finite {
        return None;
    }
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = (values.len() + 1) as f64;
    // Distances of mean ranks, twice, from the middle: whole numbers, so sums are exact.
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let up_to = sorted.partition_point(|other| other <= value);
        (below + up_to + 1) as f64 - middle
    };
    let mut ranks: Vec<f64> = values.iter().map(rank).collect();
    let (at, clear) = clearest(&ranks);
    if clear <= 0.0 {
        return None;
    }
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut hits, mut shuffles) = (0, 0);
    while shuffles < SHUFFLES && hits < HITS {
        random.shuffle(&mut ranks);
        shuffles += 1;
        hits += u32::from(clearest(&ranks).1 >= clear);
    }
    Some(ChangePoint {
        at,
        probability: f64::from(hits + 1) / f64::from(shuffles + 1),
    })
}

/// The clearest split, and how clear it is: the square of the sum of the ranks before it over their
/// number on either side, which is proportional to the variance of that sum.
fn clearest(ranks: &[f64]) -> (usize, f64) {
    let mut best = (0, 0.0);
    let mut sum = ranks[0];
    for at in 2..=ranks.len() - 2 {
        sum += ranks[at - 1];
        let clear = sum * sum / (at * (ranks.len() - at)) as f64;
        if clear > best.1 {
            best = (at, clear);
        }
    }
    best
}
