//! Whether paired samples differ, by signed ranks: what both of a pair suffered does not count.

use super::rank::upper_tail;

/// Pairs up to which the probability is exact.
const EXACT: usize = 60;

/// The two-sided probability that pairs without a difference lie as far on one side as these do
/// (Wilcoxon's signed ranks); `differences` are those of each pair, such as the logarithms of
/// ratios. Pairs without a difference say nothing, and are left out.
///
/// `None` where there is no pair, or a difference isn't finite.
pub fn signed_rank_test(differences: &[f64]) -> Option<f64> {
    if differences.is_empty() || differences.iter().any(|it| !it.is_finite()) {
        return None;
    }
    let mut sizes: Vec<f64> = differences.iter().map(|it| it.abs()).collect();
    sizes.retain(|size| *size > 0.0);
    sizes.sort_unstable_by(f64::total_cmp);
    // Twice the rank, so that the mean rank of equal sizes is whole, too.
    let rank = |size: f64| {
        let below = sizes.partition_point(|other| *other < size);
        let up_to = sizes.partition_point(|other| *other <= size);
        below + up_to + 1
    };
    let all: usize = sizes.iter().map(|size| rank(*size)).sum();
    let above = differences.iter().filter(|it| **it > 0.0);
    let above: usize = above.map(|it| rank(*it)).sum();
    let less = above.min(all - above);
    if sizes.len() > EXACT {
        let squares: f64 = sizes.iter().map(|size| (rank(*size) as f64).powi(2)).sum();
        // Half a rank is one here.
        let distance = (all as f64 / 2.0 - less as f64 - 1.0).max(0.0);
        return Some((2.0 * upper_tail(distance / (squares / 4.0).sqrt())).min(1.0));
    }
    // How probable each sum of the ranks is if each has either sign: one rank after the other.
    let mut sums = vec![0.0; all + 1];
    sums[0] = 1.0;
    for rank in sizes.iter().map(|size| rank(*size)) {
        for sum in (0..=all).rev() {
            let with = if sum >= rank { sums[sum - rank] } else { 0.0 };
            sums[sum] = (sums[sum] + with) / 2.0;
        }
    }
    let as_far: f64 = sums[..=less].iter().sum();
    Some((2.0 * as_far).min(1.0))
}
