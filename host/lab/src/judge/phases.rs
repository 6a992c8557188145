//! Which cells follow what waking another processor costs: a machine on which that changes cannot
//! settle what depends on it.

use crate::run::Cell;
use heddle_results::Status;
use heddle_stats::rank_correlation;

/// Samples below which nothing is said, how closely they must follow (20 that have nothing to do
/// with it do so once in 10 000 times), and by what factor the cost must have changed in nine
/// tenths of them.
const FEWEST: usize = 20;
const CLOSELY: f64 = 0.75;
const CHANGED: f64 = 1.3;

/// By what factor the cost of a wake changed among the samples of a cell, if its values follow it.
pub fn follows(cell: &Cell, metric: &str) -> Option<f64> {
    let good = cell
        .samples
        .iter()
        .filter(|sample| sample.status == Status::Ok);
    let pair = |sample: &heddle_results::Sample| {
        let value = sample.metrics.get(metric);
        let value = value.or_else(|| sample.counters.get(metric))?;
        Some((*value, sample.around?.wake_ns?))
    };
    let pairs: Vec<(f64, f64)> = good.filter_map(pair).collect();
    if pairs.len() < FEWEST || rank_correlation(&pairs)? < CLOSELY {
        return None;
    }
    let mut wakes: Vec<f64> = pairs.iter().map(|(_, wake)| *wake).collect();
    wakes.sort_unstable_by(f64::total_cmp);
    let cut = wakes.len() / 20;
    let factor = wakes[wakes.len() - 1 - cut] / wakes[cut];
    (factor >= CHANGED).then_some(factor)
}
