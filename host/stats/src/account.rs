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

/// Fits the costs to pairs of runs, by least squares of the *relative* errors, to the medians and again to each resample.
///
/// `None` where the runs do not tell the terms apart (counts that go together, or that are always 0), or where a sample is
/// not above zero.
pub fn account(pairs: &[[Run; 2]]) -> Option<Account> {
    let runs: Vec<&Run> = pairs.iter().flatten().collect();
    if runs.is_empty() || !runs.iter().all(|run| run.time.positive) {
        return None;
    }
    let counts: Vec<&[f64]> = runs.iter().map(|run| run.counts.as_slice()).collect();
    let medians: Vec<f64> = runs.iter().map(|run| run.time.median.value).collect();
    let costs = fit(&counts, &medians)?;
    let deviation = counts
        .iter()
        .zip(&medians)
        .map(|(counts, time)| (dot(&costs, counts) / time - 1.0).abs())
        .fold(0.0, f64::max);
    let mut account = Account {
        explained: vec![explained(&costs, &counts, &medians)],
        costs: costs.into_iter().map(|cost| vec![cost]).collect(),
        deviation,
    };
    let mut times = vec![0.0; runs.len()];
    for index in 0..REPLICATES {
        for (time, run) in times.iter_mut().zip(&runs) {
            *time = run.time.replicates[index];
        }
        let costs = fit(&counts, &times)?;
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

    /// How much of the differences within the pairs it explains: 1 is all, at 0 it is no better than to say that there are
    /// none. Differences are shares of the second run's time, so that long runs do not drown short ones.
    pub fn explained(&self) -> Derived {
        self.explained.clone().into()
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn explained(costs: &[f64], counts: &[&[f64]], times: &[f64]) -> f64 {
    let (mut missed, mut all) = (0.0, 0.0);
    for (counts, times) in counts.chunks_exact(2).zip(times.chunks_exact(2)) {
        let measured = (times[0] - times[1]) / times[1];
        let said = (dot(costs, counts[0]) - dot(costs, counts[1])) / times[1];
        missed += (measured - said).abs();
        all += measured.abs();
    }
    1.0 - missed / all
}

/// Weighted least squares with weights 1/time², by the normal equations; each term is scaled to its largest share first, as
/// counts differ by orders of magnitude.
fn fit(counts: &[&[f64]], times: &[f64]) -> Option<Vec<f64>> {
    let terms = counts.first()?.len();
    let share = |run: usize, term: usize| counts[run][term] / times[run];
    let scales: Vec<f64> = (0..terms)
        .map(|term| {
            (0..times.len())
                .map(|run| share(run, term).abs())
                .fold(0.0, f64::max)
        })
        .collect();
    if scales
        .iter()
        .any(|scale| !(scale.is_finite() && *scale > 0.0))
    {
        return None;
    }
    let mut rows: Vec<Vec<f64>> = (0..terms)
        .map(|a| {
            let scaled = |run: usize, term: usize| share(run, term) / scales[term];
            let product = |b: usize| {
                (0..times.len())
                    .map(|run| scaled(run, a) * scaled(run, b))
                    .sum()
            };
            let mut row: Vec<f64> = (0..terms).map(product).collect();
            row.push((0..times.len()).map(|run| scaled(run, a)).sum());
            row
        })
        .collect();
    let solved = solve(&mut rows)?;
    Some(
        solved
            .iter()
            .zip(&scales)
            .map(|(cost, scale)| cost / scale)
            .collect(),
    )
}

/// Gauss's elimination of a symmetric system whose last column is the right side. `None` if it has no single solution.
fn solve(rows: &mut [Vec<f64>]) -> Option<Vec<f64>> {
    let size = rows.len();
    for at in 0..size {
        let largest =
            (at..size).max_by(|a, b| rows[*a][at].abs().total_cmp(&rows[*b][at].abs()))?;
        rows.swap(at, largest);
        let (done, below) = rows.split_at_mut(at + 1);
        let pivot = &done[at];
        // Entries are sums of products of numbers up to 1.
        if pivot[at].is_nan() || pivot[at].abs() < 1e-9 {
            return None;
        }
        for row in below {
            let factor = row[at] / pivot[at];
            for (value, above) in row.iter_mut().zip(pivot).skip(at) {
                *value -= factor * above;
            }
        }
    }
    let mut solution = vec![0.0; size];
    for at in (0..size).rev() {
        let known = dot(&rows[at][at + 1..size], &solution[at + 1..]);
        solution[at] = (rows[at][size] - known) / rows[at][at];
    }
    Some(solution)
}
