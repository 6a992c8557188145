use super::{Experiment, Mode, has};
use heddle_results::Values;
use serde::Deserialize;

/// Longest label of a row, in characters: a column of the summary.
pub(super) const LONGEST_LABEL: usize = 22;

/// A row of the summary: where in the sweep the experiment's question is answered.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// What the row is called.
    pub label: String,
    /// Values of swept parameters, as many as single out a point.
    #[serde(default)]
    pub at: Values,
    /// The counter, or metric, that explains it.
    pub why: Option<String>,
    /// Rows with a smaller number come first; those without one come last, in the order of their
    /// files.
    pub order: Option<u32>,
}

impl Answer {
    /// The point of a mode's sweep at which the row is read; none where that sweep does not have
    /// it.
    pub fn point(&self, experiment: &Experiment, mode: Mode) -> Option<Values> {
        let points = experiment.points(mode);
        points.into_iter().find(|point| has(point, &self.at))
    }
}
