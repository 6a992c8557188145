use super::least_squares::least_squares;
use super::{REPLICATES, Resampled, interval};
use heddle_results::Estimate;

/// The slope of log(y) over log(x).
#[derive(Clone, Copy, Debug)]
pub struct Slope {
    /// The slope: 1 is linear, 2 quadratic.
    pub slope: Estimate,
    /// How much of the variation of log(y) the line explains, 0 … 1.
    pub r_squared: f64,
}

/// Fits a line to log(y) over log(x) by least squares, y being a cell's median or the ratio of two
/// cells' medians.
///
/// `None` with fewer than two different x, or where an x or a sample is not above zero.
pub fn slope(points: &[(f64, &Resampled, Option<&Resampled>)]) -> Option<Slope> {
    let usable = |(x, over, under): &(f64, &Resampled, Option<&Resampled>)| {
        *x > 0.0 && x.is_finite() && over.positive && under.is_none_or(|under| under.positive)
    };
    if !points.iter().all(usable) {
        return None;
    }
    let xs: Vec<f64> = points.iter().map(|(x, ..)| x.ln()).collect();
    let medians: Vec<f64> = points
        .iter()
        .map(|(_, over, under)| {
            over.median.value.ln() - under.map_or(0.0, |under| under.median.value.ln())
        })
        .collect();
    let (value, r_squared) = fit(&xs, &medians)?;
    let mut ys = vec![0.0; points.len()];
    let mut replicates = Vec::with_capacity(REPLICATES);
    for index in 0..REPLICATES {
        for (y, (_, over, under)) in ys.iter_mut().zip(points) {
            *y = over.replicates[index].ln()
                - under.map_or(0.0, |under| under.replicates[index].ln());
        }
        replicates.push(fit(&xs, &ys)?.0);
    }
    let (low, high) = interval(&mut replicates)?;
    Some(Slope {
        slope: Estimate {
            value,
            low: low.min(value),
            high: high.max(value),
        },
        r_squared,
    })
}

/// Least squares: slope and R². `None` if all x are the same.
fn fit(xs: &[f64], ys: &[f64]) -> Option<(f64, f64)> {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let variation = |values: &[f64], mean: f64| -> f64 {
        values
            .iter()
            .map(|value| (value - mean) * (value - mean))
            .sum()
    };
    let (mean_x, mean_y) = (mean(xs), mean(ys));
    // From their mean, places that are near one another are told apart as well as others.
    let rows: Vec<Vec<f64>> = xs.iter().map(|x| vec![1.0, x - mean_x]).collect();
    let slope = least_squares(&rows, ys)?[1];
    let all = variation(ys, mean_y);
    // A flat line explains all of no variation.
    let r_squared = if all > 0.0 {
        (slope * slope * variation(xs, mean_x) / all).min(1.0)
    } else {
        1.0
    };
    Some((slope, r_squared))
}
