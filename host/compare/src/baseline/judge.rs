//! What has changed between two runs.
//!
//! A change is told if it is significant and larger than the noise. Significant: the rank test of
//! the two runs' samples, by Holm's method over all cells, so that a pair of runs without a change
//! raises an alarm at most once in 100, as far as samples of one run are like those of another.
//! They are not quite on a machine that is shared, which is what the noise is for.

use super::saved::{Saved, SavedCell};
use super::steps::{Step, steps};
use heddle_results::{Better, Estimate};
use heddle_stats::{FEWEST, Resampled, holm, median, rank_test, ratio, signed_rank_test};

/// The noise where the user names none and the runs show no more.
pub const DEFAULT_NOISE: f64 = 0.05;
/// How often any change of a comparison may be told wrongly: half of the times it is one for the
/// worse, which is an alarm. With one alarm in 100 runs, more than 5 in 100 are next to impossible.
const ALPHA: f64 = 0.02;

/// What a run is compared with.
#[derive(Clone, Copy)]
pub enum Origin<'a> {
    /// The last of so many saved runs.
    Saved { last: &'a Saved, runs: usize },
    /// The same experiments as they are in this place, measured in turns: samples are pairs.
    Beside { place: &'a str },
}

/// A run beside an earlier one.
pub struct Comparison<'a> {
    /// What it is compared with.
    pub origin: Origin<'a>,
    /// Changes up to this share are not told.
    pub noise: f64,
    /// By how much two halves of one run differ, if that could be told of one of the runs.
    pub calibrated: Option<f64>,
    /// Cells that are in both runs and have enough samples.
    pub compared: usize,
    /// Those of which a change is told.
    pub changes: Vec<Change<'a>>,
    /// Steps in the series of all saved runs and this one.
    pub steps: Vec<Step<'a>>,
    /// Cells in both runs of which nothing can be said.
    pub incomparable: usize,
    /// Cells that were compared, though with so few samples that the clearest change alone would
    /// not be told among so many cells.
    pub blunt: usize,
    /// Cells in both runs that fix other parameters, and so do other work.
    pub other_work: usize,
    /// Cells that only the run has.
    pub new: usize,
    /// Cells that only the earlier run has, of the experiments that were run.
    pub gone: usize,
}

/// A significant change of a cell that is larger than the noise.
pub struct Change<'a> {
    /// The cell, as it is now.
    pub cell: &'a SavedCell,
    /// Medians of the metric.
    pub before: f64,
    pub now: f64,
    /// How many times worse it is: below 1 is better.
    pub worse: Estimate,
    pub verdict: Verdict,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Worse,
    Better,
}

impl<'a> Comparison<'a> {
    /// Compares a run with the last of `runs`, which are not empty.
    pub fn new(runs: &'a [Saved], now: &'a Saved, noise: Option<f64>) -> Self {
        let last = &runs[runs.len() - 1];
        let calibrated = [calibration(last), calibration(now)];
        let calibrated = calibrated.into_iter().flatten().reduce(f64::max);
        let count = runs.len();
        let origin = Origin::Saved { last, runs: count };
        let mut comparison = Self::judged(origin, last, now, calibrated, noise);
        comparison.steps = steps(runs, now, comparison.noise);
        comparison
    }

    /// Compares cells with those of `before`, which were measured in turns with them. Which sample
    /// of a pair came first was drawn, so the test holds on any machine: no noise need be measured.
    pub fn beside(place: &'a str, before: &'a Saved, now: &'a Saved, noise: Option<f64>) -> Self {
        let noise = noise.unwrap_or(DEFAULT_NOISE);
        Self::judged(Origin::Beside { place }, before, now, None, Some(noise))
    }

    fn judged(
        origin: Origin<'a>,
        before: &'a Saved,
        now: &'a Saved,
        calibrated: Option<f64>,
        noise: Option<f64>,
    ) -> Self {
        let paired = matches!(origin, Origin::Beside { .. });
        let noise = noise.unwrap_or_else(|| calibrated.unwrap_or(0.0).max(DEFAULT_NOISE));
        let mut pairs = Vec::new();
        let (mut incomparable, mut other_work, mut new) = (0, 0, 0);
        // Quick and full runs pass other parameters to the same cells.
        let earlier: &[SavedCell] = match before.mode == now.mode {
            true => &before.cells,
            false => &[],
        };
        for cell in &now.cells {
            match earlier.iter().find(|old| old.is_same(cell)) {
                None => new += 1,
                Some(old) if old.is_of_other_work(cell) => other_work += 1,
                Some(old) => match Pair::new(old, cell, paired) {
                    Some(pair) => pairs.push(pair),
                    None => incomparable += 1,
                },
            }
        }
        let level = ALPHA / pairs.len().max(1) as f64;
        let is_blunt = |pair: &&Pair| pair.least_probability() > level;
        let mut blunt = pairs.iter().filter(is_blunt).count();
        if blunt == pairs.len() {
            // A comparison that cannot tell anything has compared nothing.
            incomparable += blunt;
            blunt = 0;
            pairs.clear();
        }
        let probabilities: Vec<f64> = pairs.iter().map(|pair| pair.probability).collect();
        let changes = (pairs.iter().zip(holm(&probabilities, ALPHA)).enumerate())
            .filter(|(_, (_, significant))| *significant)
            .filter_map(|(number, (pair, _))| {
                pair.change(noise, now.seed.wrapping_add(number as u64))
            })
            .collect();
        let was_run =
            |old: &&SavedCell| (now.cells.iter()).any(|cell| cell.experiment == old.experiment);
        let is_gone = |old: &&SavedCell| !now.cells.iter().any(|cell| old.is_same(cell));
        let gone = earlier.iter().filter(was_run).filter(is_gone).count();
        Self {
            origin,
            noise,
            calibrated,
            compared: pairs.len(),
            changes,
            steps: Vec::new(),
            incomparable,
            blunt,
            other_work,
            new,
            gone,
        }
    }

    /// What has become worse, the worst first.
    pub fn worse(&self) -> impl Iterator<Item = &Change<'a>> {
        self.of(Verdict::Worse, |one, other| {
            other.worse.value.total_cmp(&one.worse.value)
        })
    }

    /// What has become better, the best first.
    pub fn better(&self) -> impl Iterator<Item = &Change<'a>> {
        self.of(Verdict::Better, |one, other| {
            one.worse.value.total_cmp(&other.worse.value)
        })
    }

    fn of(
        &self,
        verdict: Verdict,
        order: impl FnMut(&&Change<'a>, &&Change<'a>) -> std::cmp::Ordering,
    ) -> impl Iterator<Item = &Change<'a>> {
        let is = |change: &&Change<'a>| change.verdict == verdict;
        let mut changes: Vec<&Change<'a>> = self.changes.iter().filter(is).collect();
        changes.sort_by(order);
        changes.into_iter()
    }
}

/// A cell in two runs, with enough samples in both, all above zero.
struct Pair<'a> {
    old: &'a SavedCell,
    cell: &'a SavedCell,
    /// How many times larger each sample is than the one that was taken beside it, if one was.
    ratios: Option<Vec<f64>>,
    /// That samples of the same distribution lie as far apart.
    probability: f64,
}

/// How many times larger each sample of a cell is than the one that was taken beside it; `None` if
/// one is not above zero.
fn ratios(old: &SavedCell, cell: &SavedCell) -> Option<Vec<f64>> {
    let all = old.values.iter().chain(&cell.values);
    let pairs = old.values.iter().zip(&cell.values);
    (all.min_by(|a, b| a.total_cmp(b))
        .is_some_and(|least| *least > 0.0))
    .then(|| pairs.map(|(old, new)| new / old).collect())
}

fn logarithms(ratios: &[f64]) -> Vec<f64> {
    ratios.iter().map(|ratio| ratio.ln()).collect()
}

impl<'a> Pair<'a> {
    fn new(old: &'a SavedCell, cell: &'a SavedCell, paired: bool) -> Option<Self> {
        let fits =
            |values: &[f64]| values.len() >= FEWEST && values.iter().all(|value| *value > 0.0);
        // A sample that failed has none beside it, and so whose pair is whose is not known.
        let whole = old.failed == 0 && cell.failed == 0;
        let ratios = match paired && whole {
            true => Some(ratios(old, cell)?),
            false => None,
        };
        let probability = match &ratios {
            Some(ratios) => signed_rank_test(&logarithms(ratios))?,
            None => rank_test(&old.values, &cell.values)?,
        };
        (fits(&old.values) && fits(&cell.values)).then_some(Self {
            old,
            cell,
            ratios,
            probability,
        })
    }

    /// The least that the probability can be with so many samples: where none of one run lies
    /// among those of the other.
    fn least_probability(&self) -> f64 {
        if let Some(ratios) = &self.ratios {
            let all: Vec<f64> = (1..=ratios.len()).map(|rank| rank as f64).collect();
            return signed_rank_test(&all).unwrap_or(1.0);
        }
        let count = |from: usize, values: &[f64]| -> Vec<f64> {
            (from..from + values.len())
                .map(|rank| rank as f64)
                .collect()
        };
        let (old, new) = (&self.old.values, &self.cell.values);
        rank_test(&count(0, old), &count(old.len(), new)).unwrap_or(1.0)
    }

    /// What has changed, if it is more than the noise.
    fn change(&self, noise: f64, seed: u64) -> Option<Change<'a>> {
        let before = Resampled::new(&self.old.values, seed)?;
        let now = Resampled::new(&self.cell.values, !seed)?;
        let lower = self.cell.metric.better == Better::Lower;
        let worse = match &self.ratios {
            Some(ratios) => {
                let each = ratios.iter();
                let worse = each.map(|it| if lower { *it } else { 1.0 / it });
                Resampled::new(&worse.collect::<Vec<_>>(), seed)?.median
            }
            None if lower => ratio(&now, &before)?,
            None => ratio(&before, &now)?,
        };
        let verdict = match worse.value {
            value if value > 1.0 + noise => Verdict::Worse,
            value if 1.0 / value > 1.0 + noise => Verdict::Better,
            _ => return None,
        };
        Some(Change {
            cell: self.cell,
            before: before.median.value,
            now: now.median.value,
            worse,
            verdict,
        })
    }
}

/// By how much a run differs from itself: the first half of each cell's samples is compared with
/// the second, and 95 of 100 cells differ by at most this share. Medians of halves scatter √2 times
/// as far as medians of whole runs, which is taken off.
///
/// `None` if no cell has enough samples for two medians.
pub fn calibration(run: &Saved) -> Option<f64> {
    typical(
        (run.cells.iter())
            .filter_map(|cell| halves(&cell.values))
            .collect(),
    )
}

/// What 95 of 100 distances of halves are at most, as a share.
fn typical(mut all: Vec<f64>) -> Option<f64> {
    all.sort_unstable_by(f64::total_cmp);
    let last = all.len().checked_sub(1)?;
    let at = (last as f64 * 0.95).ceil() as usize;
    Some((all[at] / std::f64::consts::SQRT_2).exp() - 1.0)
}

/// The distance of the medians of two halves, on a logarithmic scale.
fn halves(values: &[f64]) -> Option<f64> {
    let half = values.len() / 2;
    if half < FEWEST || values.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let (first, second) = values.split_at(half);
    Some((median(first)? / median(second)?).ln().abs())
}
