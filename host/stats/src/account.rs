use super::least_squares::{deviation, dot, relative_least_squares};
use super::{Derived, REPLICATES, Resampled};

/// How often each thing happened in a run, and how long it took.
#[derive(Clone, Debug)]
pub struct Run<'a> {
    /// Counts, in the order of the account's terms.
    pub counts: Vec<f64>,
    /// The time.
    pub time: &'a Resampled,
}

/// What each thing costs, by an account of several runs: time = Σ cost · count.
#[derive(Clone, Debug)]
pub struct Account {
    costs: Vec<Vec<f64>>,
    explained: Vec<f64>,
    /// How far the farthest median lies from the account, as a share of the median.
    pub deviation: f64,
}

/// Fits the costs to pairs of runs, by least squares of the *relative* errors, to the medians and
/// again to each resample.
///
/// `None` where the runs do not tell the terms apart (counts that go together, or that are always
/// 0), or where a sample is not above zero.
pub fn account(pairs: &[[Run; 2]]) -> Option<Account> {
    let runs: Vec<&Run> = pairs.iter().flatten().collect();
    if runs.is_empty() || !runs.iter().all(|run| run.time.positive) {
        return None;
    }
    let counts: Vec<Vec<f64>> = runs.iter().map(|run| run.counts.clone()).collect();
    let medians: Vec<f64> = runs.iter().map(|run| run.time.median.value).collect();
    let costs = relative_least_squares(&counts, &medians)?;
    let mut account = Account {
        explained: vec![explained(&costs, &counts, &medians)],
        deviation: deviation(&costs, &counts, &medians),
        costs: costs.into_iter().map(|cost| vec![cost]).collect(),
    };
    let mut times = vec![0.0; runs.len()];
    for index in 0..REPLICATES {
        for (time, run) in times.iter_mut().zip(&runs) {
            *time = run.time.replicates[index];
        }
        let costs = relative_least_squares(&counts, &times)?;
        account.explained.push(explained(&costs, &counts, &times));
        for (all, cost) in account.costs.iter_mut().zip(costs) {
            all.push(cost);
        }
    }
    Some(account)
}

impl Account {
    /// What each of a term costs.
    pub fn cost(&self, term: usize) -> Option<Derived> {
        self.costs.get(term).cloned().map(Derived::from)
    }

    /// How much of the differences within the pairs it explains: 1 is all, at 0 it is no better
    /// than to say that there are none. Differences are shares of the second run's time, so that
    /// long runs do not drown short ones.
    pub fn explained(&self) -> Derived {
        self.explained.clone().into()
    }
}

fn explained(costs: &[f64], counts: &[Vec<f64>], times: &[f64]) -> f64 {
    let (mut missed, mut all) = (0.0, 0.0);
    for (counts, times) in counts.chunks_exact(2).zip(times.chunks_exact(2)) {
        let measured = (times[0] - times[1]) / times[1];
        let said = (dot(costs, &counts[0]) - dot(costs, &counts[1])) / times[1];
        missed += (measured - said).abs();
        all += measured.abs();
    }
    1.0 - missed / all
}
