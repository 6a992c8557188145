//! The one fit that slopes, lines and accounts share.

/// The factor of each term with which each row's terms add up to nearly the row's target: the sum
/// of the squared errors is least. By the normal equations; each term is scaled to its largest
/// value first, as counts differ by orders of magnitude.
///
/// `None` where the rows do not tell the terms apart: terms that go together, one that is 0
/// everywhere, or too few rows.
pub(crate) fn least_squares(rows: &[Vec<f64>], targets: &[f64]) -> Option<Vec<f64>> {
    let terms = rows.first()?.len();
    let scales: Vec<f64> = (0..terms)
        .map(|term| rows.iter().map(|row| row[term].abs()).fold(0.0, f64::max))
        .collect();
    if !scales.iter().all(|scale| scale.is_finite() && *scale > 0.0) {
        return None;
    }
    let scaled = |row: &[f64], term: usize| row[term] / scales[term];
    let equation = |a: usize| {
        let product = |b: usize| rows.iter().map(|row| scaled(row, a) * scaled(row, b)).sum();
        let mut equation: Vec<f64> = (0..terms).map(product).collect();
        let targets = rows.iter().zip(targets);
        equation.push(targets.map(|(row, target)| scaled(row, a) * target).sum());
        equation
    };
    let mut equations: Vec<Vec<f64>> = (0..terms).map(equation).collect();
    let solved = solve(&mut equations)?;
    Some(
        solved
            .iter()
            .zip(&scales)
            .map(|(factor, scale)| factor / scale)
            .collect(),
    )
}

/// Does as [`least_squares`], but with *relative* errors (weights 1/target²): samples of a time
/// scatter by a share of it, so in a plain fit the longest time alone would count.
pub(crate) fn relative_least_squares(rows: &[Vec<f64>], targets: &[f64]) -> Option<Vec<f64>> {
    let share = |(row, target): (&Vec<f64>, &f64)| row.iter().map(|term| term / target).collect();
    let shares: Vec<Vec<f64>> = rows.iter().zip(targets).map(share).collect();
    least_squares(&shares, &vec![1.0; targets.len()])
}

/// How far the farthest target lies from its row's sum, as a share of the target.
pub(crate) fn deviation(factors: &[f64], rows: &[Vec<f64>], targets: &[f64]) -> f64 {
    rows.iter()
        .zip(targets)
        .map(|(row, target)| (dot(factors, row) / target - 1.0).abs())
        .fold(0.0, f64::max)
}

pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Gauss's elimination of a symmetric system whose last column is the right side. `None` if it has
/// no single solution.
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
