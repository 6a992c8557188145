//! A claim against the samples.

use super::cells::{Judged, label};
use super::sentences::{plain_number, ratio as ratio_text};
use super::why::why;
use crate::experiment::{Claim, Experiment, Form, Mode};
use crate::stats::{
    Crossover, FEWEST, Resampled, Scale, crossover, median_among, ratio, ratio_among,
    samples_to_settle, slope,
};
use heddle_results::text::{counter, number, quantity, times, words};
use heddle_results::{ClaimReport, Estimate, SkippedModel, Status, Values, Verdict};

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
    verdict: Verdict,
    note: String,
    /// The cells whose counters say why.
    why: Vec<&'a Judged<'a>>,
    /// Cells that would need more samples, and how many.
    wanted: Vec<(usize, u32)>,
}

/// One estimate at one place, against the bound.
struct Point<'a> {
    place: String,
    cells: Vec<&'a Judged<'a>>,
    estimate: Estimate,
    inside: Option<bool>,
    /// Distance of the interval from the nearest end of the bound, negative outside, in log space.
    margin: f64,
    /// Samples a cell that would settle it.
    needed: Option<usize>,
    /// Outside by its own interval, not by one that is wide enough for one of several points.
    doubtful: bool,
}

/// Judges; also says which cells want how many samples, if the claim is inconclusive and a number would do.
pub fn judge(case: &Case) -> (ClaimReport, Vec<(usize, u32)>) {
    let claim = case.claim;
    let answer = case.answer().unwrap_or_else(|reason| Answer {
        ours: String::new(),
        estimate: None,
        verdict: Verdict::Skipped,
        note: reason,
        why: Vec::new(),
        wanted: Vec::new(),
    });
    let report = ClaimReport {
        id: claim.id.clone(),
        words: claim.words.clone(),
        goal: case.experiment.is_goal(claim),
        figure: claim.figure.clone(),
        computed: case.computed(),
        bound: claim.bound.to_string(),
        ours: answer.ours,
        estimate: answer.estimate,
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
                ours: String::new(),
                estimate: None,
                verdict: Verdict::Inconclusive,
                note: format!(
                    "too few samples: {} in a cell, at least {FEWEST} are needed",
                    few.count
                ),
                why: Vec::new(),
                wanted: Vec::new(),
            });
        }
        match self.claim.form {
            Form::Ratio | Form::Value => self.points(&columns),
            Form::Slope => self.slope(&columns),
            Form::Crossover => self.crossover(&columns),
        }
    }

    /// For each point that the claim covers, the cells of its models in the claim's order; all are sound.
    fn columns(&self) -> Result<Vec<Vec<&'a Judged<'a>>>, String> {
        let points: Vec<Values> = self
            .experiment
            .points(self.mode)
            .into_iter()
            .filter(|point| self.claim.covers(point))
            .collect();
        if points.is_empty() {
            return Err(match self.mode {
                Mode::Quick => "needs --full: the quick sweep does not reach there".into(),
                Mode::Full => "only the quick sweep has such a point".into(),
            });
        }
        let cell = |point: &Values, model: &str| {
            let found = self
                .cells
                .iter()
                .find(|cell| cell.cell.model == model && cell.cell.point == *point);
            let Some(found) = found else {
                let reason = self.skipped.iter().find(|skipped| skipped.model == model);
                return Err(format!(
                    "{model} did not run: {}",
                    reason.map_or("no such cell", |skipped| &skipped.reason)
                ));
            };
            let failures = found.cell.failures();
            match (failures.first(), &found.resampled) {
                (Some(status), _) => Err(format!(
                    "{model} {} at {}",
                    verb(*status),
                    place(&found.cell.point)
                )),
                (None, None) => Err(format!(
                    "no sample of {model} was taken at {}",
                    place(&found.cell.point)
                )),
                (None, Some(resampled)) if !resampled.positive => Err(format!(
                    "{} of {model} is not above 0 at {}",
                    self.metric(),
                    place(&found.cell.point)
                )),
                (None, Some(_)) => Ok(found),
            }
        };
        points
            .iter()
            .map(|point| {
                self.claim
                    .models()
                    .map(|model| cell(point, model))
                    .collect()
            })
            .collect()
    }

    fn metric(&self) -> &str {
        let own = &self.experiment.metric.name;
        self.claim.metric.as_ref().unwrap_or(own)
    }

    /// A number at a point, for people: a ratio as `1.30×`, a value with its unit.
    fn text(&self, value: f64) -> String {
        match self.claim.form {
            Form::Value if self.claim.metric.is_none() => {
                quantity(value, &self.experiment.metric.unit)
            }
            Form::Value => counter(self.metric(), value),
            _ => times(value),
        }
    }

    fn estimate_text(&self, estimate: Estimate) -> String {
        match self.claim.form {
            Form::Value => {
                let [value, low, high] =
                    [estimate.value, estimate.low, estimate.high].map(|value| self.text(value));
                format!("{value} (95 % {low}–{high})")
            }
            _ => ratio_text(estimate),
        }
    }

    /// A ratio or a value at each point, against the bound.
    fn points(&self, columns: &[Vec<&'a Judged<'a>>]) -> Result<Answer<'a>, String> {
        let points: Option<Vec<Point>> = columns
            .iter()
            .map(|cells| self.point(cells, columns.len()))
            .collect();
        let mut points = points.ok_or("it cannot be computed")?;
        // What decides comes first: wholly outside, then across an end, then inside; each by how far it is out.
        let rank = |point: &Point| match point.inside {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        };
        points.sort_by(|a, b| rank(a).cmp(&rank(b)).then(a.margin.total_cmp(&b.margin)));
        let several = points.len() > 1;
        let decisive = points.first().ok_or("the claim covers no point")?;
        let verdict = verdict(decisive.inside);
        let mut ours = self.estimate_text(decisive.estimate);
        if several {
            let (least, most) = points.iter().fold(
                (f64::INFINITY, f64::NEG_INFINITY),
                |(least, most), point| {
                    (
                        least.min(point.estimate.value),
                        most.max(point.estimate.value),
                    )
                },
            );
            ours += &format!(
                " at {}; {} to {} over {} points",
                decisive.place,
                self.text(least),
                self.text(most),
                points.len()
            );
        }
        let mut notes = Vec::new();
        let mut wanted = Vec::new();
        if verdict == Verdict::Inconclusive {
            if decisive.doubtful {
                notes.push(format!(
                    "outside at {}, but not surely enough for one of {} points",
                    decisive.place,
                    points.len()
                ));
            }
            let open = || points.iter().filter(|point| point.inside.is_none());
            let needed: Option<Vec<usize>> = open().map(|point| point.needed).collect();
            notes.push(settle_note(
                taken(&decisive.cells),
                needed
                    .as_ref()
                    .and_then(|needed| needed.iter().max().copied()),
            ));
            if needed.is_some() {
                wanted = open().flat_map(Point::wanted).collect();
            }
        } else if several {
            let reason = if verdict == Verdict::Reproduced {
                "closest to the bound"
            } else {
                "decided"
            };
            notes.push(format!("{reason} at {}", decisive.place));
        }
        notes.extend(self.partly(points.len()));
        let (estimate, why) = (Some(decisive.estimate), decisive.cells.clone());
        Ok(Answer {
            ours,
            estimate,
            verdict,
            note: notes.join("; "),
            why,
            wanted,
        })
    }

    /// One of `count` points. All must be inside, which errs more rarely than one; but one outside decides, which errs more
    /// often, so that one must be outside by a wider interval.
    fn point(&self, cells: &[&'a Judged<'a>], count: usize) -> Option<Point<'a>> {
        let over = cells.first()?;
        let (estimate, wide) = match cells {
            [one] => {
                let one = one.sound()?;
                (one.median, median_among(one, count)?)
            }
            [over, under] => {
                let (over, under) = (over.sound()?, under.sound()?);
                (ratio(over, under)?, ratio_among(over, under, count)?)
            }
            _ => return None,
        };
        let bound = self.claim.bound;
        let inside = bound.judge(estimate.low, estimate.high);
        let doubtful = inside == Some(false) && bound.judge(wide.low, wide.high) != inside;
        let judged = if doubtful { wide } else { estimate };
        let below = bound
            .min
            .map_or(f64::INFINITY, |min| (estimate.low / min).ln());
        let above = bound
            .max
            .map_or(f64::INFINITY, |max| (max / estimate.high).ln());
        Some(Point {
            place: place(&over.cell.point),
            cells: cells.to_vec(),
            estimate,
            inside: if doubtful { None } else { inside },
            doubtful,
            margin: below.min(above),
            needed: samples_to_settle(taken(cells), judged, bound.min, bound.max, Scale::Log),
        })
    }

    fn slope(&self, columns: &[Vec<&'a Judged<'a>>]) -> Result<Answer<'a>, String> {
        let points = self.along(columns)?;
        let usable: Vec<(f64, &Resampled, Option<&Resampled>)> = points
            .iter()
            .filter_map(|(x, cells)| {
                Some((
                    *x,
                    cells.first()?.sound()?,
                    cells.get(1).and_then(|cell| cell.sound()),
                ))
            })
            .collect();
        let along = self.claim.along.as_deref().unwrap_or_default();
        let found = slope(&usable)
            .ok_or_else(|| format!("a slope needs two values of {along}, all above 0"))?;
        let Estimate { value, low, high } = found.slope;
        let ours = format!(
            "slope {value:.3} (95 % {low:.3}–{high:.3}), R² {:.4}",
            found.r_squared
        );
        Ok(self.on_one_estimate(ours, found.slope, Scale::Linear, &points))
    }

    fn crossover(&self, columns: &[Vec<&'a Judged<'a>>]) -> Result<Answer<'a>, String> {
        let points = self.along(columns)?;
        let along = self.claim.along.as_deref().unwrap_or_default();
        let usable: Vec<(f64, &Resampled, &Resampled)> = points
            .iter()
            .filter_map(|(x, cells)| Some((*x, cells.first()?.sound()?, cells.get(1)?.sound()?)))
            .collect();
        let found = crossover(&usable)
            .ok_or_else(|| format!("a crossover needs two values of {along}, all above 0"))?;
        let (first, last) = (points[0].0, points[points.len() - 1].0);
        match found {
            Crossover::At { x, times } => {
                let ours = format!(
                    "{along}={} (95 % {}–{})",
                    number(x.value),
                    number(x.low),
                    number(x.high)
                );
                let mut answer = self.on_one_estimate(ours, x, Scale::Log, &points);
                if times > 1 {
                    let more = format!("they swap {times} times; this is the first");
                    answer.note = [answer.note, more]
                        .into_iter()
                        .filter(|note| !note.is_empty())
                        .collect::<Vec<_>>()
                        .join("; ");
                }
                Ok(answer)
            }
            Crossover::Never { above, sure } => {
                let (numerator, denominator) = (self.name(0), self.name(1));
                let side = if above { "above" } else { "below" };
                // Not in this sweep; a bound that reaches beyond the sweep stays open.
                let reaches = self.claim.bound.min.is_none_or(|min| min < first)
                    || self.claim.bound.max.is_none_or(|max| max > last);
                let verdict = if sure && !reaches {
                    Verdict::NotReproduced
                } else {
                    Verdict::Inconclusive
                };
                let note = match (sure, reaches) {
                    (false, _) => "not sure at every point",
                    (true, true) => "the bound reaches beyond the sweep",
                    (true, false) => "",
                };
                Ok(Answer {
                    ours: format!(
                        "{numerator} ÷ {denominator} stays {side} 1 from {along}={} to {}",
                        plain_number(first),
                        plain_number(last)
                    ),
                    estimate: None,
                    verdict,
                    note: note.into(),
                    why: points
                        .last()
                        .map(|(_, cells)| cells.clone())
                        .unwrap_or_default(),
                    wanted: Vec::new(),
                })
            }
        }
    }

    fn on_one_estimate(
        &self,
        ours: String,
        estimate: Estimate,
        scale: Scale,
        points: &[(f64, Vec<&'a Judged<'a>>)],
    ) -> Answer<'a> {
        let bound = self.claim.bound;
        let verdict = verdict(bound.judge(estimate.low, estimate.high));
        let (mut notes, mut wanted) = (Vec::new(), Vec::new());
        if verdict == Verdict::Inconclusive {
            let all: Vec<&Judged> = points
                .iter()
                .flat_map(|(_, cells)| cells.iter().copied())
                .collect();
            let needed = samples_to_settle(taken(&all), estimate, bound.min, bound.max, scale);
            notes.push(settle_note(taken(&all), needed));
            let needed = needed.and_then(|needed| u32::try_from(needed).ok());
            wanted = needed
                .map(|needed| all.iter().map(|cell| (cell.index, needed)).collect())
                .unwrap_or_default();
        }
        notes.extend(self.partly(points.len()));
        let why = points
            .last()
            .map(|(_, cells)| cells.clone())
            .unwrap_or_default();
        Answer {
            ours,
            estimate: Some(estimate),
            verdict,
            note: notes.join("; "),
            why,
            wanted,
        }
    }

    /// The columns with their place along the claim's parameter, in order.
    fn along(
        &self,
        columns: &[Vec<&'a Judged<'a>>],
    ) -> Result<Vec<(f64, Vec<&'a Judged<'a>>)>, String> {
        let along = self.claim.along.as_deref().unwrap_or_default();
        let at = |cells: &Vec<&'a Judged<'a>>| {
            Some((
                cells.first()?.cell.point.get(along)?.as_f64()?,
                cells.clone(),
            ))
        };
        let points: Option<Vec<_>> = columns.iter().map(at).collect();
        let mut points =
            points.ok_or_else(|| format!("{along} takes values that are not numbers"))?;
        points.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        Ok(points)
    }

    /// Where the full sweep has more of the claim's points than this one.
    fn partly(&self, have: usize) -> Option<String> {
        let all = self
            .experiment
            .points(Mode::Full)
            .iter()
            .filter(|point| self.claim.covers(point))
            .count();
        (self.mode == Mode::Quick && all > have)
            .then(|| format!("{have} of the {all} points that --full has"))
    }

    fn name(&self, index: usize) -> &str {
        self.claim.models().nth(index).unwrap_or_default()
    }

    /// `thread ÷ stackless at -O0, n ≥ 1000`.
    fn computed(&self) -> String {
        let claim = self.claim;
        let what = match (&claim.model, &claim.along) {
            (Some(model), Some(along)) => format!("slope of log({model}) over log({along})"),
            (Some(model), None) => format!("{} of {model}", words(self.metric())),
            (None, Some(along)) if claim.form == Form::Slope => {
                format!(
                    "slope of log({} ÷ {}) over log({along})",
                    self.name(0),
                    self.name(1)
                )
            }
            (None, Some(along)) => {
                format!("{along} where {} ÷ {} passes 1", self.name(0), self.name(1))
            }
            _ => format!("{} ÷ {}", self.name(0), self.name(1)),
        };
        let what = match (&claim.metric, claim.form) {
            (Some(metric), Form::Ratio | Form::Slope | Form::Crossover) => {
                format!("{what} ({})", words(metric))
            }
            _ => what,
        };
        let mut places: Vec<String> = Vec::new();
        if !claim.at.is_empty() {
            places.push(label(&claim.at));
        }
        for (name, range) in &claim.over {
            let (min, max) = (range.min.map(plain_number), range.max.map(plain_number));
            places.push(match (min, max) {
                (Some(min), Some(max)) => format!("{name} {min} to {max}"),
                (Some(min), None) => format!("{name} ≥ {min}"),
                (None, Some(max)) => format!("{name} ≤ {max}"),
                (None, None) => name.clone(),
            });
        }
        if places.is_empty() {
            what
        } else {
            format!("{what} at {}", places.join(", "))
        }
    }
}

impl Point<'_> {
    fn wanted(&self) -> impl Iterator<Item = (usize, u32)> {
        let needed = self.needed.and_then(|needed| u32::try_from(needed).ok());
        self.cells
            .iter()
            .filter_map(move |cell| Some((cell.index, needed?)))
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

fn settle_note(taken: usize, needed: Option<usize>) -> String {
    match needed {
        Some(needed) if needed <= 10_000 => {
            format!("about {needed} samples a cell would settle it, {taken} were taken")
        }
        Some(_) => format!(
            "more than 10 000 samples a cell would be needed to settle it, {taken} were taken"
        ),
        None => format!(
            "it lies on the bound: no number of samples would settle it, {taken} were taken"
        ),
    }
}

/// A point for people.
fn place(point: &Values) -> String {
    match label(point) {
        label if label.is_empty() => "its only point".into(),
        label => label,
    }
}

fn verb(status: Status) -> &'static str {
    match status {
        Status::Ok => "ran",
        Status::Wrong => "had a wrong result",
        Status::Hung => "hung",
        Status::Crashed => "crashed",
        Status::Garbage => "printed garbage",
    }
}
