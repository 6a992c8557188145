//! How the functions of a program moved together from one run to another.
//!
//! A busy machine moves most functions of a run: all by a like factor, or each by another. The
//! spread of a function's calls within one run does not show that. The distances that functions
//! moved from run to run show it, since most functions are the same in both. So a function that
//! changed moved further than they.

/// Functions that tell how much functions move.
const ENOUGH: usize = 5;

/// A function stands out that is so many times as far from the middle as functions are (standard
/// deviations, if they are spread as by chance).
const FAR: f64 = 3.0;

/// From a median deviation to a standard deviation.
const DEVIATION: f64 = 1.4826;

/// How functions moved: logarithms of how many times as long their calls took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crowd {
    middle: f64,
    /// How far functions are from the middle.
    apart: f64,
}

impl Crowd {
    /// The crowd of functions that moved by these logarithms; `None` if they are too few to tell.
    pub fn new(moves: impl IntoIterator<Item = f64>) -> Option<Self> {
        let moves: Vec<f64> = moves.into_iter().collect();
        if moves.len() < ENOUGH {
            return None;
        }
        let middle = median(moves.clone());
        let apart = moves.iter().map(|one| (one - middle).abs());
        Some(Crowd {
            middle,
            apart: DEVIATION * median(apart.collect()),
        })
    }

    /// Whether a function that moved so became slower (or faster), compared with the others.
    pub fn lets_stand_out(&self, moved: f64) -> bool {
        !self.holds(moved) && (moved - self.middle).signum() == moved.signum()
    }

    /// Whether what moved so is within the distances at which others are.
    pub fn holds(&self, moved: f64) -> bool {
        (moved - self.middle).abs() <= FAR * self.apart
    }

    /// How many times as long the calls of most functions took.
    pub fn factor(&self) -> f64 {
        self.middle.exp()
    }

    /// How many times as long the calls of a function may take without standing out, were the
    /// middle where it was.
    pub fn range(&self) -> f64 {
        (FAR * self.apart).exp()
    }
}

/// The median; of none, 0.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match (values.get(middle), values.len() % 2) {
        (Some(above), 0) => (values[middle - 1] + above) / 2.0,
        (Some(middle), _) => *middle,
        (None, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(factors: &[f64]) -> Crowd {
        Crowd::new(factors.iter().map(|factor| factor.ln())).unwrap()
    }

    #[test]
    fn a_function_stands_out_that_moved_by_more_than_the_others() {
        // On an idle machine, one in five and two in five changed.
        let idle = crowd(&[1.3, 1.0, 1.01, 0.99, 1.0]);
        assert!(idle.lets_stand_out(1.3_f64.ln()));
        assert!(crowd(&[1.3, 1.2, 1.01, 0.99, 1.0]).lets_stand_out(1.2_f64.ln()));
        // All of the run was slower by a half, and one function more than that.
        let slow = crowd(&[1.5, 1.48, 1.52, 1.47, 1.53, 2.0]);
        assert!(!slow.lets_stand_out(1.52_f64.ln()));
        assert!(slow.lets_stand_out(2.0_f64.ln()));
        assert!((slow.factor() - 1.51).abs() < 0.01, "{slow:?}");
        // What is as before beside a slow run became no faster: that is not what it was.
        assert!(!slow.lets_stand_out(1.0_f64.ln()));
        assert!(slow.lets_stand_out(0.9_f64.ln()));
        // A busy machine moves each by another factor.
        let busy = crowd(&[1.0, 1.02, 1.2, 0.9, 1.15, 1.3, 0.95]);
        assert!(!busy.lets_stand_out(1.3_f64.ln()));
        assert!(busy.lets_stand_out(3.0_f64.ln()));
    }

    #[test]
    fn few_functions_tell_nothing_of_the_others() {
        assert_eq!(Crowd::new([0.1; ENOUGH - 1]), None);
    }
}
