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

/// Fits a line to log(y) over log(x) by least squares, y being a cell's median or the ratio of two cells' medians.
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
    let n = xs.len() as f64;
    let (mean_x, mean_y) = (xs.iter().sum::<f64>() / n, ys.iter().sum::<f64>() / n);
    let (mut sxx, mut sxy, mut syy) = (0.0, 0.0, 0.0);
    for (x, y) in xs.iter().zip(ys) {
        sxx += (x - mean_x) * (x - mean_x);
        sxy += (x - mean_x) * (y - mean_y);
        syy += (y - mean_y) * (y - mean_y);
    }
    if xs.len() < 2 || sxx <= 0.0 {
        return None;
    }
    // A flat line explains all of no variation.
    let r_squared = if syy > 0.0 {
        (sxy * sxy / (sxx * syy)).min(1.0)
    } else {
        1.0
    };
    Some((sxy / sxx, r_squared))
}
