use super::{FEWEST, REPLICATES, interval};
use heddle_results::Estimate;

/// One cell's samples and the medians of its resamples.
#[derive(Clone, Debug)]
pub struct Resampled {
    /// Median with its interval.
    pub median: Estimate,
    /// Samples taken.
    pub count: usize,
    /// Medians of [`REPLICATES`] resamples, in the order drawn.
    pub replicates: Vec<f64>,
    /// Every sample is above zero, so ratios and logarithms exist.
    pub positive: bool,
}

impl Resampled {
    /// Resamples `values`, whose order does not matter. `None` if there are none or if one isn't
    /// finite.
    pub fn new(values: &[f64], seed: u64) -> Option<Self> {
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        Self::in_rounds(&sorted, seed)
    }

    /// Resamples the rounds in which `values` were taken, one in each: cells of as many rounds that
    /// are resampled with one seed have the same rounds in each resample. What the machine was like
    /// in a round then is in both sides of a ratio, and like is compared with like.
    ///
    /// `None` if there are no values or if one isn't finite.
    pub fn in_rounds(values: &[f64], seed: u64) -> Option<Self> {
        if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
            return None;
        }
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let replicates = if sorted[0] == sorted[sorted.len() - 1] {
            vec![sorted[0]; REPLICATES]
        } else {
            let mut random = fastrand::Rng::with_seed(seed);
            let mut drawn = vec![0.0; sorted.len()];
            (0..REPLICATES)
                .map(|_| {
                    drawn.fill_with(|| values[random.usize(..values.len())]);
                    middle(&mut drawn)
                })
                .collect()
        };
        let (low, high) = if sorted.len() < FEWEST {
            (sorted[0], sorted[sorted.len() - 1])
        } else {
            interval(&mut replicates.clone())?
        };
        let value = middle(&mut sorted.clone());
        Some(Self {
            // The interval of a skewed sample can miss its own median by a hair.
            median: Estimate {
                value,
                low: low.min(value),
                high: high.max(value),
            },
            count: sorted.len(),
            replicates,
            positive: sorted[0] > 0.0,
        })
    }

    /// Whether there are enough samples to say anything about other cells.
    pub fn enough(&self) -> bool {
        self.count >= FEWEST
    }
}

/// The median; `None` if there are no values or if one isn't finite.
pub fn median(values: &[f64]) -> Option<f64> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    Some(middle(&mut values.to_vec()))
}

/// The median of at least one number; reorders them.
fn middle(values: &mut [f64]) -> f64 {
    let (odd, half) = (values.len() % 2 == 1, values.len() / 2);
    let (below, &mut upper, _) = values.select_nth_unstable_by(half, f64::total_cmp);
    if odd {
        return upper;
    }
    let lower = below.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    lower + (upper - lower) / 2.0
}
