//! Whether two sets of samples differ, by ranks alone: no shape of their noise is assumed.

/// The two-sided probability that samples of one distribution lie as far apart as these
/// (Mann-Whitney's U, normal approximation with a correction for ties and for continuity).
///
/// `None` where a set is empty or holds a value that isn't finite. Sets that are equal throughout
/// have probability 1.
pub fn rank_test(these: &[f64], those: &[f64]) -> Option<f64> {
    let all = these.iter().chain(those);
    if these.is_empty() || those.is_empty() || all.clone().any(|value| !value.is_finite()) {
        return None;
    }
    let mut sorted: Vec<f64> = all.copied().collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let (n, m) = (these.len() as f64, those.len() as f64);
    let count = n + m;
    // Equal values share the mean of their ranks.
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let up_to = sorted.partition_point(|other| other <= value);
        (below + up_to + 1) as f64 / 2.0
    };
    let u = these.iter().map(rank).sum::<f64>() - n * (n + 1.0) / 2.0;
    let ties: f64 = sorted
        .chunk_by(|one, other| one == other)
        .map(|tied| (tied.len() as f64).powi(3) - tied.len() as f64)
        .sum();
    let variance = n * m / 12.0 * (count + 1.0 - ties / (count * (count - 1.0)));
    if variance <= 0.0 {
        return Some(1.0);
    }
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    Some(2.0 * upper_tail(distance / variance.sqrt()))
}

/// Which of several tests are significant at the level `alpha` when they are looked at together
/// (Holm's method): the probability that any of them errs is at most `alpha`.
pub fn holm(probabilities: &[f64], alpha: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|one, other| probabilities[*one].total_cmp(&probabilities[*other]));
    let mut significant = vec![false; probabilities.len()];
    for (done, index) in order.iter().enumerate() {
        if probabilities[*index] > alpha / (probabilities.len() - done) as f64 {
            break;
        }
        significant[*index] = true;
    }
    significant
}

/// The probability that a standard normal value lies above `z` ≥ 0: Abramowitz and Stegun, Handbook
/// of Mathematical Functions, 26.2.17, off by less than 7.5e-8. Beyond 5 the error would exceed the
/// value, so Mills's bound, which is never below the probability, stands in.
pub(super) fn upper_tail(z: f64) -> f64 {
    let density = (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
    if z > 5.0 {
        return density / z;
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let series = [
        1.330_274_429,
        -1.821_255_978,
        1.781_477_937,
        -0.356_563_782,
        0.319_381_530,
    ];
    let sum = series.iter().fold(0.0, |sum, factor| (sum + factor) * t);
    density * sum
}
