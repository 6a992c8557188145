use super::{Resampled, interval};
use heddle_results::Estimate;

/// The ratio of two cells' medians with its interval; `None` unless every sample of both is above zero.
pub fn ratio(numerator: &Resampled, denominator: &Resampled) -> Option<Estimate> {
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
    let (low, high) = interval(&mut replicates)?;
    Some(Estimate {
        value,
        low: low.min(value),
        high: high.max(value),
    })
}
