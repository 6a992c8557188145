use super::{REPLICATES, Resampled, interval};
use heddle_results::Estimate;

/// A straight line through the medians of a sweep: what is paid once, and what is paid for each unit of x.
#[derive(Clone, Debug)]
pub struct Line {
    once: Vec<f64>,
    each: Vec<f64>,
    /// How far the farthest median lies from the line, as a share of the median.
    pub deviation: f64,
}

/// A number that follows from lines: the first value is of the medians, the others are of their resamples.
#[derive(Clone, Debug)]
pub struct Derived(Vec<f64>);

/// Fits y = once + each · x by least squares of the *relative* errors, to the medians and again to each resample: samples
/// of a time scatter by a share of it, so a plain fit would see the largest x alone.
///
/// `None` with fewer than three different x (two have no deviation to show), or where a sample is not above zero.
pub fn line(points: &[(f64, &Resampled)]) -> Option<Line> {
    let mut xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    let usable = |(x, cell): &(f64, &Resampled)| x.is_finite() && cell.positive;
    if !points.iter().all(usable) {
        return None;
    }
    let medians: Vec<f64> = points.iter().map(|(_, cell)| cell.median.value).collect();
    let (once, each) = fit(&xs, &medians)?;
    let deviation = xs
        .iter()
        .zip(&medians)
        .map(|(x, y)| ((once + each * x) / y - 1.0).abs())
        .fold(0.0, f64::max);
    let mut line = Line {
        once: vec![once],
        each: vec![each],
        deviation,
    };
    let mut ys = vec![0.0; points.len()];
    for index in 0..REPLICATES {
        for (y, (_, cell)) in ys.iter_mut().zip(points) {
            *y = cell.replicates[index];
        }
        let (once, each) = fit(&xs, &ys)?;
        line.once.push(once);
        line.each.push(each);
    }
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    (xs.len() >= 3).then_some(line)
}

/// Weighted least squares with weights 1/y².
fn fit(xs: &[f64], ys: &[f64]) -> Option<(f64, f64)> {
    let (mut w, mut wx, mut wy, mut wxx, mut wxy) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for (x, y) in xs.iter().zip(ys) {
        let weight = 1.0 / (y * y);
        w += weight;
        wx += weight * x;
        wy += weight * y;
        wxx += weight * x * x;
        wxy += weight * x * y;
    }
    let determinant = w * wxx - wx * wx;
    // Not above zero if all x are the same; NaN if there are none.
    if determinant.is_nan() || determinant <= f64::EPSILON * w * wxx {
        return None;
    }
    let each = (w * wxy - wx * wy) / determinant;
    Some(((wy - each * wx) / w, each))
}

impl Line {
    /// What is paid once.
    pub fn once(&self) -> Derived {
        Derived(self.once.clone())
    }

    /// What is paid for each unit of x.
    pub fn each(&self) -> Derived {
        Derived(self.each.clone())
    }

    /// The x from which on this line lies above `other`; infinite where it rises no faster, below 0 where it lies above
    /// from the beginning.
    pub fn passes(&self, other: &Self) -> Derived {
        let own = self.once.iter().zip(&self.each);
        let others = other.once.iter().zip(&other.each);
        let meeting = |((once, each), (other_once, other_each)): ((&f64, &f64), (&f64, &f64))| {
            if each > other_each {
                (other_once - once) / (each - other_each)
            } else {
                f64::INFINITY
            }
        };
        Derived(own.zip(others).map(meeting).collect())
    }
}

impl From<Vec<f64>> for Derived {
    /// The value, then its resamples.
    fn from(values: Vec<f64>) -> Self {
        Self(values)
    }
}

impl Derived {
    /// The difference, resample by resample.
    pub fn minus(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a - b).collect())
    }

    /// With its interval; `None` if it is not a number.
    pub fn estimate(&self) -> Option<Estimate> {
        let (&value, replicates) = self.0.split_first()?;
        let (low, high) = interval(&mut replicates.to_vec())?;
        Some(Estimate {
            value,
            low: low.min(value),
            high: high.max(value),
        })
    }
}
