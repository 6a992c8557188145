use super::least_squares::{deviation, relative_least_squares};
use super::{REPLICATES, Resampled, interval};
use heddle_results::Estimate;

/// A straight line through the medians of a sweep: what is paid once, and what is paid for each
/// unit of x.
#[derive(Clone, Debug)]
pub struct Line {
    once: Vec<f64>,
    each: Vec<f64>,
    /// How far the farthest median lies from the line, as a share of the median.
    pub deviation: f64,
}

/// A number that follows from lines: the first value is of the medians, the others are of their
/// resamples.
#[derive(Clone, Debug)]
pub struct Derived(Vec<f64>);

/// Fits y = once + each · x by least squares of the *relative* errors, to the medians and again to
/// each resample.
///
/// `None` with fewer than three different x (two have no deviation to show), or where a sample is
/// not above zero.
pub fn line(points: &[(f64, &Resampled)]) -> Option<Line> {
    let mut xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    let usable = |(x, cell): &(f64, &Resampled)| x.is_finite() && cell.positive;
    if !points.iter().all(usable) {
        return None;
    }
    let medians: Vec<f64> = points.iter().map(|(_, cell)| cell.median.value).collect();
    let rows: Vec<Vec<f64>> = xs.iter().map(|x| vec![1.0, *x]).collect();
    let fitted = relative_least_squares(&rows, &medians)?;
    let mut line = Line {
        deviation: deviation(&fitted, &rows, &medians),
        once: vec![fitted[0]],
        each: vec![fitted[1]],
    };
    let mut ys = vec![0.0; points.len()];
    for index in 0..REPLICATES {
        for (y, (_, cell)) in ys.iter_mut().zip(points) {
            *y = cell.replicates[index];
        }
        let fitted = relative_least_squares(&rows, &ys)?;
        line.once.push(fitted[0]);
        line.each.push(fitted[1]);
    }
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    (xs.len() >= 3).then_some(line)
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

    /// The x from which on this line lies above `other`; infinite where it rises no faster, below 0
    /// where it lies above from the beginning.
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
