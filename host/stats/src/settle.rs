use heddle_results::Estimate;

/// On which scale distances are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Slopes.
    Linear,
    /// Ratios and sizes.
    Log,
}

/// How many samples a cell would make the interval narrow enough to lie on one side of every end of
/// the bound, if the estimate stays where it is: the width of an interval goes with 1/√n.
///
/// `None` where no number would do: the estimate lies on an end of the bound.
pub fn samples_to_settle(
    taken: usize,
    estimate: Estimate,
    min: Option<f64>,
    max: Option<f64>,
    scale: Scale,
) -> Option<usize> {
    let on = |value: f64| {
        if scale == Scale::Log {
            value.ln()
        } else {
            value
        }
    };
    let (value, low, high) = (on(estimate.value), on(estimate.low), on(estimate.high));
    let mut factor: f64 = 1.0;
    for end in [min, max].into_iter().flatten().map(on) {
        if low <= end && end <= high {
            let (half, distance) = if end < value {
                (value - low, value - end)
            } else {
                (high - value, end - value)
            };
            factor = factor.max((half / distance).powi(2));
        }
    }
    let needed = (taken as f64 * factor).ceil();
    // The bootstrap's ends are rough; an end exactly at the bound asks for one more sample, not for
    // none.
    (needed.is_finite() && needed < 1e9).then(|| (needed as usize).max(taken + 1))
}
