//! How two quantities go together, by ranks alone.

/// Spearman's rank correlation: 1 where one grows whenever the other does, 0 where they have
/// nothing to do with each other. `None` for fewer than two pairs, or where one is equal throughout
/// or has a value that isn't finite.
pub fn rank_correlation(pairs: &[(f64, f64)]) -> Option<f64> {
    let finite = pairs.iter().all(|(a, b)| a.is_finite() && b.is_finite());
    if pairs.len() < 2 || !finite {
        return None;
    }
    let (a, b): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let (a, b) = (centred_ranks(&a), centred_ranks(&b));
    let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let (own, other) = (product(&a, &a), product(&b, &b));
    (own > 0.0 && other > 0.0).then(|| product(&a, &b) / (own * other).sqrt())
}

/// Distances of ranks from the middle; equal values share the mean of theirs.
fn centred_ranks(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let rank = |value: &f64| {
        let below = sorted.partition_point(|other| other < value);
        let up_to = sorted.partition_point(|other| other <= value);
        (below + up_to) as f64 / 2.0 - values.len() as f64 / 2.0
    };
    values.iter().map(rank).collect()
}
