use super::columns::{Columns, Unjudged};
use super::points::{Point, open};
use super::text::settle_note;
use super::{Case, Judgement, taken, too_few, verdict};
use crate::experiment::{Claim, Form, Pair, Range, TableCell};
use crate::judge::cells::label;
use heddle_results::text::{number, range};
use heddle_results::{CellReport, Estimate, Limits, Verdict};

/// A cell of the table with what was found there.
struct Found<'a> {
    cell: &'a TableCell,
    point: Result<Point<'a>, Unjudged>,
}

impl<'a> Case<'a> {
    /// The cells of a printed table, each against its own bound: all must be inside, and one that
    /// is outside, by an interval that is wide enough for one of several, decides. A cell that only
    /// `--full` measures is left out.
    pub(super) fn table(&self, cells: &'a [TableCell]) -> Judgement<'a> {
        let columns: Vec<Result<Columns, Unjudged>> = cells
            .iter()
            .map(|cell| {
                let case = self.of_cell(cell);
                let [columns, _] = case.apart(case.columns()?)?;
                Ok(columns)
            })
            .collect();
        let measured: Vec<_> = columns.iter().flatten().flatten().collect();
        let few = too_few(measured.iter().copied().flatten().copied());
        let count = measured.len();
        let found = cells.iter().zip(columns).map(|(cell, columns)| {
            let point = columns.and_then(|columns| {
                let column = columns.first();
                let point = column.and_then(|column| self.of_cell(cell).point(column, count));
                point.ok_or_else(|| Unjudged::Absent("it cannot be computed".into()))
            });
            Found { cell, point }
        });
        let found: Vec<Found> = found.collect();
        let mut judgement = few.unwrap_or_else(|| self.judged(&found));
        judgement.cells = found.iter().map(Found::report).collect();
        judgement
    }

    fn judged(&self, found: &[Found<'a>]) -> Judgement<'a> {
        let point = |found: &'_ Found<'a>| Some((found.cell, found.point.as_ref().ok()?.clone()));
        let mut points: Vec<(&TableCell, Point)> = found.iter().filter_map(point).collect();
        points.sort_by(|(_, a), (_, b)| a.order(b));
        let reason = |failed: bool| {
            let reasons = found.iter().filter_map(|found| found.point.as_ref().err());
            let mut reasons = reasons.filter(|it| !failed || matches!(it, Unjudged::Failed(_)));
            reasons.next().map(|reason| reason.text().to_owned())
        };
        let Some((cell, decisive)) = points.first() else {
            return Judgement::skipped(reason(false).unwrap_or_default());
        };
        let verdict = verdict(decisive.inside);
        if let (Some(reason), true) = (reason(true), verdict != Verdict::NotReproduced) {
            return Judgement::skipped(reason);
        }
        let inside = |(_, point): &&(&TableCell, Point)| point.inside == Some(true);
        let inside = points.iter().filter(inside).count();
        let (have, all) = (points.len(), found.len());
        let partly = match have < all {
            true => format!(", {have} of {all} measured"),
            false => String::new(),
        };
        let ours = format!(
            "{} where the source prints {}{}; {inside} of {have} cells inside{partly}",
            measured(&cell.claim, decisive.estimate, unit(&cell.claim)),
            figure(&cell.claim),
            unit(&cell.claim),
        );
        let mut notes = vec![format!("decided at {}", place(cell))];
        let (mut needed, mut wanted) = (None, Vec::new());
        match verdict {
            Verdict::Inconclusive => {
                let all: Vec<&Point> = points.iter().map(|(_, point)| point).collect();
                (needed, wanted) = open(&all);
                notes = vec![
                    format!("open at {}", place(cell)),
                    settle_note(taken(&decisive.cells), needed),
                ];
            }
            Verdict::Reproduced => notes = vec![format!("closest to its bound at {}", place(cell))],
            Verdict::NotReproduced | Verdict::Skipped => {}
        }
        if have < all {
            notes.push(format!("{have} of {all} cells measured"));
        }
        Judgement {
            ours,
            estimate: Some(decisive.estimate),
            within: Some(limits(cell.claim.bound)),
            verdict,
            needed: needed.map(|needed| needed as u64),
            note: notes.join("; "),
            why: decisive.cells.clone(),
            wanted,
            ..Judgement::skipped(String::new())
        }
    }

    /// The same case with the claim of one cell.
    fn of_cell(&self, cell: &'a TableCell) -> Self {
        Self {
            claim: &cell.claim,
            ..*self
        }
    }
}

impl Found<'_> {
    fn report(&self) -> CellReport {
        let claim = &self.cell.claim;
        let point = self.point.as_ref().ok();
        let computed = match &claim.form {
            Form::Ratio(Pair {
                numerator,
                denominator,
            }) => format!("{numerator} ÷ {denominator}"),
            _ => String::new(),
        };
        // Below the fewest samples nothing is judged.
        let enough = |point: &&Point| too_few(point.cells.iter().copied()).is_none();
        let verdict = match point {
            None => Verdict::Skipped,
            Some(point) if !enough(&point) => Verdict::Inconclusive,
            Some(point) => verdict(point.inside),
        };
        CellReport {
            place: label(&self.cell.at),
            at: self.cell.at.clone(),
            computed,
            figure: figure(claim),
            percent: claim.percent,
            bound: bound(claim),
            within: limits(claim.bound),
            ours: point.map_or_else(String::new, |point| measured(claim, point.estimate, "")),
            estimate: point.map(|point| point.estimate),
            verdict,
            note: match &self.point {
                Ok(_) => String::new(),
                Err(reason) => reason.text().to_owned(),
            },
        }
    }
}

fn limits(bound: Range) -> Limits {
    Limits {
        min: bound.min,
        max: bound.max,
    }
}

/// The unit of a cell's figure, for people.
fn unit(claim: &Claim) -> &'static str {
    if claim.percent { " %" } else { "×" }
}

/// A cell's figure without its unit.
fn figure(claim: &Claim) -> String {
    let figure = claim.figure.as_deref().unwrap_or_default();
    figure.trim_end_matches(['%', '×', ' ']).to_owned()
}

/// A ratio in the unit of the figure beside it.
fn scaled(claim: &Claim, ratio: f64) -> f64 {
    if claim.percent { ratio * 100.0 } else { ratio }
}

/// `31.2 (95 % 29.8–33.0)`, with the unit behind the value.
fn measured(claim: &Claim, estimate: Estimate, unit: &str) -> String {
    let [value, low, high] =
        [estimate.value, estimate.low, estimate.high].map(|ratio| number(scaled(claim, ratio)));
    format!("{value}{unit} (95 % {})", range(&low, &high))
}

/// `10.0–30.0`, in the figure's unit.
fn bound(claim: &Claim) -> String {
    let end = |end: f64| number(scaled(claim, end));
    match (claim.bound.min.map(end), claim.bound.max.map(end)) {
        (Some(min), Some(max)) => range(&min, &max),
        (Some(min), None) => format!("≥ {min}"),
        (None, Some(max)) => format!("≤ {max}"),
        (None, None) => String::new(),
    }
}

/// `work=100`; where rows differ in models alone, these.
fn place(cell: &TableCell) -> String {
    match label(&cell.at) {
        place if place.is_empty() => cell.claim.form.models().join(" ÷ "),
        place => place,
    }
}
