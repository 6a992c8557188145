//! Medians and how sure they are.
//!
//! Every interval here is a 95 % percentile bootstrap. A cell's samples are resampled once,
//! [`REPLICATES`] times, with a generator that is seeded from the run's seed and the cell's name;
//! what is computed from several cells (a ratio, a slope, a crossover) is computed replicate by
//! replicate. Cells of 20 samples and more have the same rounds of the run in each replicate, so
//! that what the machine was like in a round is in both sides of a ratio; others are drawn
//! independently of one another.

mod account;
mod change_point;
mod correlation;
mod crossover;
mod least_squares;
mod lines;
mod rank;
mod ratio;
mod resample;
mod settle;
mod signed_rank;
mod slope;

pub use account::{Account, Run, account};
pub use change_point::{ChangePoint, SHORTEST_SERIES, change_point};
pub use correlation::rank_correlation;
pub use crossover::{Crossover, crossover};
pub use lines::{Derived, Line, line};
pub use rank::{holm, rank_test};
pub use ratio::{median_among, ratio, ratio_among};
pub use resample::{Resampled, median};
pub use settle::{Scale, samples_to_settle};
pub use signed_rank::signed_rank_test;
pub use slope::{Slope, slope};

/// Resamples a cell.
pub const REPLICATES: usize = 4000;

/// Fewest good samples that an interval may be computed from. The interval of the median from n
/// samples can at best be their whole range, which holds the median with probability 1 − 2·0.5ⁿ:
/// 93.75 % for 5, 96.9 % for 6.
pub const FEWEST: usize = 6;

/// Fewest samples of cells that are resampled in rounds, as [`Resampled::in_rounds`] does. Chance
/// makes cells of fewer rounds go together or against each other: of nine the same with 10 samples,
/// some are then told apart in 14 of 100 places instead of 7, with 20 in 9 instead of 6.
pub const FEWEST_ROUNDS: usize = 20;

/// The 2.5 % and 97.5 % quantiles of what was resampled; infinite values are in order, there must
/// be no NaN.
pub(crate) fn interval(replicates: &mut [f64]) -> Option<(f64, f64)> {
    interval_among(replicates, 1)
}

/// One of several intervals that are to hold together 95 times in 100 (Bonferroni): each errs that
/// much more rarely.
///
/// Returns `None` for an empty slice or one with a NaN in it.
pub(crate) fn interval_among(replicates: &mut [f64], intervals: usize) -> Option<(f64, f64)> {
    if replicates.is_empty() || replicates.iter().any(|value| value.is_nan()) {
        return None;
    }
    replicates.sort_unstable_by(f64::total_cmp);
    let last = replicates.len() - 1;
    let at = |share: f64| replicates[((last as f64) * share).round() as usize];
    let tail = 0.025 / intervals.max(1) as f64;
    Some((at(tail), at(1.0 - tail)))
}
