//! A claim against the samples.
//!
//! [`columns`] finds the cells that a claim speaks of, [`points`] judges ratios and values at each
//! of them, [`along`] what goes along a parameter (slopes, crossovers), [`lines`] a model of costs
//! fitted to it, [`account`] one fitted to what was counted, [`table`] the cells that a source
//! prints, and [`text`] puts it into words.

mod account;
mod along;
mod columns;
mod lines;
mod points;
mod table;
mod text;

use super::cells::Judged;
use super::phases::follows;
use super::why::why;
use crate::experiment::{Claim, Experiment, Form, Mode, Slope, Trend};
use columns::left_out;
use heddle_results::text::times;
use heddle_results::{
    CellReport, ClaimReport, Coefficient, Compared, Estimate, Kind, Limits, SkippedModel, Verdict,
};
use heddle_stats::FEWEST;

/// A claim with everything that bears on it.
pub struct Case<'a> {
    pub experiment: &'a Experiment,
    pub claim: &'a Claim,
    pub cells: &'a [Judged<'a>],
    pub skipped: &'a [SkippedModel],
    pub mode: Mode,
}

/// What a form of claim comes to.
struct Judgement<'a> {
    ours: String,
    estimate: Option<Estimate>,
    coefficients: Vec<Coefficient>,
    /// The cells of a table.
    cells: Vec<CellReport>,
    /// The bound that counts, if it is not the claim's: that of a table's cell.
    within: Option<Limits>,
    verdict: Verdict,
    /// Samples a cell that would settle it, if it is inconclusive and a number would do.
    needed: Option<u64>,
    note: String,
    /// The cells that decide, whose counters say why.
    why: Vec<&'a Judged<'a>>,
    /// Cells that would need more samples, and how many.
    wanted: Vec<(usize, u32)>,
}
impl Judgement<'_> {
    fn skipped(reason: String) -> Self {
        Self {
            ours: String::new(),
            estimate: None,
            coefficients: Vec::new(),
            cells: Vec::new(),
            within: None,
            verdict: Verdict::Skipped,
            needed: None,
            note: reason,
            why: Vec::new(),
            wanted: Vec::new(),
        }
    }
}

/// Judges; also says which cells want how many samples, if the claim is inconclusive and a number
/// would do.
pub fn judge(case: &Case) -> (ClaimReport, Vec<(usize, u32)>) {
    let claim = case.claim;
    let judgement = case.judgement().unwrap_or_else(Judgement::skipped);
    let phases = match judgement.verdict {
        Verdict::Inconclusive => case.phases(&judgement.why),
        _ => String::new(),
    };
    let report = ClaimReport {
        id: claim.id.clone(),
        kind: claim.kind,
        words: claim.words.clone(),
        short: claim.short.clone().unwrap_or_default(),
        document: case.document(),
        part: claim.part.clone(),
        reading: claim.reading.clone(),
        figure: claim.figure.clone(),
        computed: case.computed(),
        bound: case.bound_text(judgement.estimate),
        within: judgement.within.unwrap_or(Limits {
            min: claim.bound.min,
            max: claim.bound.max,
        }),
        ours: judgement.ours,
        estimate: judgement.estimate,
        compared: compared(&judgement.why),
        coefficients: judgement.coefficients,
        cells: judgement.cells,
        verdict: judgement.verdict,
        needed: judgement.needed,
        unsteady: !phases.is_empty(),
        note: [judgement.note, phases]
            .into_iter()
            .filter(|note| !note.is_empty())
            .collect::<Vec<_>>()
            .join("; "),
        why: why(&claim.why, &judgement.why),
    };
    (report, judgement.wanted)
}

/// The cells by name.
fn compared(cells: &[&Judged]) -> Vec<Compared> {
    let name = |cell: &&Judged| Compared {
        model: cell.cell.model.clone(),
        point: cell.cell.point.clone(),
    };
    cells.iter().map(name).collect()
}

impl<'a> Case<'a> {
    /// Which of the cells that decide follow what waking another processor costs, where that has
    /// changed: this machine cannot settle what depends on it.
    fn phases(&self, cells: &[&Judged]) -> String {
        let mut models: Vec<&str> = Vec::new();
        let mut most = 1.0_f64;
        for cell in cells {
            if let Some(factor) = follows(cell.cell, self.metric()) {
                most = most.max(factor);
                if !models.contains(&cell.cell.model.as_str()) {
                    models.push(&cell.cell.model);
                }
            }
        }
        match &models[..] {
            [] => String::new(),
            models => format!(
                "{} with what waking another processor costs, which changed {} meanwhile: a machine where it is steady settles this, more samples here need not",
                match models {
                    [one] => format!("{one} goes"),
                    several => format!("{} go", several.join(", ")),
                },
                times(most)
            ),
        }
    }

    /// `Err`: why it could not be judged.
    fn judgement(&self) -> Result<Judgement<'a>, String> {
        // Each cell of a table has a column of its own, or none.
        if let Form::Table(cells) = &self.claim.form {
            return Ok(self.table(cells));
        }
        let [columns, same] = self.apart(self.columns()?)?;
        let mut judgement = match too_few(columns.iter().flatten().copied()) {
            Some(few) => few,
            None => self.by_form(&columns)?,
        };
        if let Some(note) = left_out(&same) {
            judgement.note = [judgement.note, note]
                .into_iter()
                .filter(|note| !note.is_empty())
                .collect::<Vec<_>>()
                .join("; ");
        }
        Ok(judgement)
    }

    fn by_form(&self, columns: &[Vec<&'a Judged<'a>>]) -> Result<Judgement<'a>, String> {
        match &self.claim.form {
            Form::Ratio(_) | Form::Settings(_) | Form::Value(_) => self.points(columns),
            Form::Slope(Slope { along, .. }) | Form::RatioSlope(Trend { along, .. }) => {
                self.slope(along, columns)
            }
            Form::Crossover(trend) => self.crossover(trend, columns),
            Form::Lines(trend) => self.lines(&trend.along, &[], columns),
            Form::SplitLines(lines) => {
                let terms = lines.terms.as_ref().map_or(&[][..], |terms| &terms[..]);
                self.lines(&lines.along, terms, columns)
            }
            Form::Account(form) => self.account(&form.terms, columns),
            Form::Table(cells) => Ok(self.table(cells)),
        }
    }

    /// The document of which it is a statement; empty for what is ours.
    fn document(&self) -> String {
        let source = self.experiment.source.as_ref();
        match (self.claim.kind, source) {
            (Kind::Claim, Some(source)) => source.document.clone(),
            _ => String::new(),
        }
    }

    fn metric(&self) -> &str {
        let own = &self.experiment.metric.name;
        self.claim.metric.as_ref().unwrap_or(own)
    }

    fn name(&self, index: usize) -> &'a str {
        self.claim
            .form
            .models()
            .get(index)
            .copied()
            .unwrap_or_default()
    }
}

/// What is to be said where a cell has fewer samples than an interval needs.
fn too_few<'a>(cells: impl IntoIterator<Item = &'a Judged<'a>>) -> Option<Judgement<'a>> {
    let mut sound = cells.into_iter().filter_map(|cell| cell.sound());
    let few = sound.find(|resampled| !resampled.enough())?;
    Some(Judgement {
        verdict: Verdict::Inconclusive,
        needed: Some(FEWEST as u64),
        note: format!(
            "too few samples: {} in a cell, at least {FEWEST} are needed",
            few.count
        ),
        ..Judgement::skipped(String::new())
    })
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
