use super::{REPLICATES, Resampled, interval};
use heddle_results::Estimate;

/// Where two models swap.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Crossover {
    /// The first x at which the ratio of the medians passes 1, interpolated between two points of
    /// the sweep.
    At {
        /// With its interval. Where more than 2.5 % of the resamples never cross, it is the whole
        /// sweep.
        x: Estimate,
        /// How often they swap; the first one is reported.
        times: usize,
    },
    /// They don't swap; the ratio lies on this side of 1 at every point.
    Never {
        /// The ratio is above 1 everywhere.
        above: bool,
        /// Its interval excludes 1 at every point.
        sure: bool,
    },
}

/// Finds where numerator ÷ denominator passes 1. The points must be in order of x.
///
/// Interpolates in log(x) and log(ratio). `None` with fewer than two points, or where an x or a
/// sample is not above zero.
pub fn crossover(points: &[(f64, &Resampled, &Resampled)]) -> Option<Crossover> {
    let usable = points
        .iter()
        .all(|(x, over, under)| *x > 0.0 && over.positive && under.positive);
    if points.len() < 2 || !usable {
        return None;
    }
    let xs: Vec<f64> = points.iter().map(|(x, ..)| x.ln()).collect();
    let logs: Vec<f64> = points
        .iter()
        .map(|(_, over, under)| (over.median.value / under.median.value).ln())
        .collect();
    let Some((value, times)) = crossings(&xs, &logs) else {
        let above = logs.iter().all(|log| *log >= 0.0);
        let sure = points.iter().all(|(_, over, under)| {
            super::ratio(over, under).is_some_and(|ratio| {
                if above {
                    ratio.low > 1.0
                } else {
                    ratio.high < 1.0
                }
            })
        });
        return Some(Crossover::Never { above, sure });
    };
    let mut found = Vec::with_capacity(REPLICATES);
    let mut replicate = vec![0.0; points.len()];
    for index in 0..REPLICATES {
        for (log, (_, over, under)) in replicate.iter_mut().zip(points) {
            *log = (over.replicates[index] / under.replicates[index]).ln();
        }
        found.extend(crossings(&xs, &replicate).map(|(x, _)| x));
    }
    let sweep = (xs[0], xs[xs.len() - 1]);
    let (low, high) = if (found.len() as f64) < 0.975 * REPLICATES as f64 {
        sweep
    } else {
        interval(&mut found)?
    };
    let x = Estimate {
        value: value.exp(),
        low: low.min(value).exp(),
        high: high.max(value).exp(),
    };
    Some(Crossover::At { x, times })
}

/// The first zero of a line through the points, and how many there are. Touching zero without
/// passing isn't a crossing.
fn crossings(xs: &[f64], ys: &[f64]) -> Option<(f64, usize)> {
    let mut first = None;
    let mut times = 0;
    let mut before: Option<(f64, f64)> = None;
    for (&x, &y) in xs.iter().zip(ys) {
        if y == 0.0 {
            continue;
        }
        if let Some((x0, y0)) = before.filter(|(_, y0)| y0.signum() != y.signum()) {
            times += 1;
            first = first.or(Some(x0 + (x - x0) * y0 / (y0 - y)));
        }
        before = Some((x, y));
    }
    first.map(|x| (x, times))
}
