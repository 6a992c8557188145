//! A claim against the samples.
//!
//! [`columns`] finds the cells that a claim speaks of, [`points`] judges ratios and values at each of them, [`along`] what goes
//! along a parameter (slopes, crossovers), [`lines`] a model of costs fitted to it, [`account`] one fitted to what was counted,
//! and [`text`] puts it into words.

mod account;
mod along;
mod columns;
mod lines;
mod points;
mod text;

use super::cells::Judged;
use super::why::why;
use crate::experiment::{Claim, Experiment, Form, Mode};
use crate::stats::FEWEST;
use heddle_results::{ClaimReport, Coefficient, Estimate, SkippedModel, Verdict};

/// A claim with everything that bears on it.
pub struct Case<'a> {
    pub experiment: &'a Experiment,
    pub claim: &'a Claim,
    pub cells: &'a [Judged<'a>],
    pub skipped: &'a [SkippedModel],
    pub mode: Mode,
}

/// What a form of claim comes to.
struct Answer<'a> {
    ours: String,
    estimate: Option<Estimate>,
    coefficients: Vec<Coefficient>,
    verdict: Verdict,
    note: String,
    /// The cells whose counters say why.
    why: Vec<&'a Judged<'a>>,
    /// Cells that would need more samples, and how many.
    wanted: Vec<(usize, u32)>,
}
impl Answer<'_> {
    fn skipped(reason: String) -> Self {
        Self {
            ours: String::new(),
            estimate: None,
            coefficients: Vec::new(),
            verdict: Verdict::Skipped,
            note: reason,
            why: Vec::new(),
            wanted: Vec::new(),
        }
    }
}

/// Judges; also says which cells want how many samples, if the claim is inconclusive and a number would do.
pub fn judge(case: &Case) -> (ClaimReport, Vec<(usize, u32)>) {
    let claim = case.claim;
    let answer = case.answer().unwrap_or_else(Answer::skipped);
    let report = ClaimReport {
        id: claim.id.clone(),
        words: claim.words.clone(),
        goal: case.experiment.is_goal(claim),
        figure: claim.figure.clone(),
        computed: case.computed(),
        bound: case.bound_text(),
        ours: answer.ours,
        estimate: answer.estimate,
        coefficients: answer.coefficients,
        verdict: answer.verdict,
        note: answer.note,
        why: why(&claim.why, &answer.why),
    };
    (report, answer.wanted)
}

impl<'a> Case<'a> {
    /// `Err`: why it could not be judged.
    fn answer(&self) -> Result<Answer<'a>, String> {
        let columns = self.columns()?;
        let few = columns
            .iter()
            .flatten()
            .filter_map(|cell| cell.sound())
            .find(|resampled| !resampled.enough());
        if let Some(few) = few {
            return Ok(Answer {
                verdict: Verdict::Inconclusive,
                note: format!(
                    "too few samples: {} in a cell, at least {FEWEST} are needed",
                    few.count
                ),
                ..Answer::skipped(String::new())
            });
        }
        match self.claim.form {
            Form::Ratio | Form::Value => self.points(&columns),
            Form::Slope => self.slope(&columns),
            Form::Crossover => self.crossover(&columns),
            Form::Lines => self.lines(&columns),
            Form::Account => self.account(&columns),
        }
    }

    fn metric(&self) -> &str {
        let own = &self.experiment.metric.name;
        self.claim.metric.as_ref().unwrap_or(own)
    }

    fn name(&self, index: usize) -> &str {
        self.claim.models().nth(index).unwrap_or_default()
    }
}

fn verdict(inside: Option<bool>) -> Verdict {
    match inside {
        Some(true) => Verdict::Reproduced,
        Some(false) => Verdict::NotReproduced,
        None => Verdict::Inconclusive,
    }
}

/// Good samples of the cell that has the fewest.
fn taken(cells: &[&Judged]) -> usize {
    cells
        .iter()
        .filter_map(|cell| cell.sound())
        .map(|resampled| resampled.count)
        .min()
        .unwrap_or(0)
}
