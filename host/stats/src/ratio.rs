use super::{Resampled, interval_among};
use heddle_results::Estimate;

/// The ratio of two cells' medians with its interval; `None` unless every sample of both is above
/// zero.
pub fn ratio(numerator: &Resampled, denominator: &Resampled) -> Option<Estimate> {
    ratio_among(numerator, denominator, 1)
}

/// Does as [`ratio`], with an interval wide enough for one of `ratios` that are looked at together.
/// Otherwise a third of all sets of nine equal models would show a difference.
pub fn ratio_among(
    numerator: &Resampled,
    denominator: &Resampled,
    ratios: usize,
) -> Option<Estimate> {
    if !(numerator.positive && denominator.positive) {
        return None;
    }
    let value = numerator.median.value / denominator.median.value;
    let mut replicates: Vec<f64> = numerator
        .replicates
        .iter()
        .zip(&denominator.replicates)
        .map(|(over, under)| over / under)
        .collect();
    let (low, high) = interval_among(&mut replicates, ratios)?;
    Some(Estimate {
        value,
        low: low.min(value),
        high: high.max(value),
    })
}

/// A cell's median with an interval wide enough for one of `medians` that are looked at together.
pub fn median_among(cell: &Resampled, medians: usize) -> Option<Estimate> {
    let value = cell.median.value;
    let (low, high) = interval_among(&mut cell.replicates.clone(), medians)?;
    Some(Estimate {
        value,
        low: low.min(value),
        high: high.max(value),
    })
}
