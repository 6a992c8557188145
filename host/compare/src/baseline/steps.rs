//! Steps in the series of a cell's medians over all saved runs: when something changed, though no
//! two neighbours need differ much.

use super::saved::{Saved, SavedCell};
use heddle_results::Better;
use heddle_stats::{change_point, holm, median};

/// How often any step of a comparison may be told wrongly.
const ALPHA: f64 = 0.02;

/// A cell whose level has changed.
pub struct Step<'a> {
    pub cell: &'a SavedCell,
    /// The first run after the step, and its number among those with this cell, from 1.
    pub run: &'a Saved,
    pub number: usize,
    /// Runs with this cell.
    pub runs: usize,
    /// How many times worse the median run after it is than the one before: below 1 is better.
    pub worse: f64,
}

/// The steps that are significant and larger than the noise, the largest first.
pub fn steps<'a>(runs: &'a [Saved], now: &'a Saved, noise: f64) -> Vec<Step<'a>> {
    let (mut steps, mut probabilities) = (Vec::new(), Vec::new());
    for (number, cell) in now.cells.iter().enumerate() {
        let at_run = |run: &'a Saved| {
            let mut same = run.cells.iter().filter(|old| old.is_same(cell));
            let same = same.find(|old| !old.is_of_other_work(cell))?;
            Some((run, median(&same.values)?))
        };
        let is_like = |run: &&Saved| run.mode == now.mode;
        let all = runs.iter().chain([now]).filter(is_like);
        let (runs, medians): (Vec<&Saved>, Vec<f64>) = all.filter_map(at_run).unzip();
        let seed = now.seed.wrapping_add(number as u64);
        let Some(point) = change_point(&medians, seed) else {
            continue;
        };
        let (before, after) = medians.split_at(point.at);
        let (Some(before), Some(after)) = (median(before), median(after)) else {
            continue;
        };
        if before <= 0.0 || after <= 0.0 {
            continue;
        }
        probabilities.push(point.probability);
        steps.push(Step {
            cell,
            run: runs[point.at],
            number: point.at + 1,
            runs: runs.len(),
            worse: match cell.metric.better {
                Better::Lower => after / before,
                Better::Higher => before / after,
            },
        });
    }
    let mut told: Vec<Step> = (steps.into_iter().zip(holm(&probabilities, ALPHA)))
        .filter(|(step, significant)| *significant && size(step) > 1.0 + noise)
        .map(|(step, _)| step)
        .collect();
    told.sort_by(|one, other| size(other).total_cmp(&size(one)));
    told
}

fn size(step: &Step) -> f64 {
    step.worse.max(1.0 / step.worse)
}
