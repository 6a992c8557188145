use super::Case;
use super::text::place;
use crate::experiment::{Form, Mode};
use crate::judge::cells::{Judged, label};
use heddle_results::text::words;
use heddle_results::{NEEDS_FULL, Status, Values};

/// The cells of a claim's models at each of its points.
pub(super) type Columns<'a> = Vec<Vec<&'a Judged<'a>>>;

/// Why a claim, or a cell of a table, could not be judged.
pub(super) enum Unjudged {
    /// Nothing was measured there: only `--full` does, or the model does not run here.
    Absent(String),
    /// Samples went wrong, or say nothing.
    Failed(String),
}

impl Unjudged {
    pub fn text(&self) -> &str {
        match self {
            Self::Absent(reason) | Self::Failed(reason) => reason,
        }
    }
}

impl From<Unjudged> for String {
    fn from(reason: Unjudged) -> Self {
        match reason {
            Unjudged::Absent(reason) | Unjudged::Failed(reason) => reason,
        }
    }
}

impl<'a> Case<'a> {
    /// For each point that the claim covers, the cells of its models in the claim's order; all are
    /// sound.
    pub(super) fn columns(&self) -> Result<Columns<'a>, Unjudged> {
        let points: Vec<Values> = self
            .experiment
            .points(self.mode)
            .into_iter()
            .filter(|point| self.claim.covers(point))
            .collect();
        if points.is_empty() {
            let reason = match self.mode {
                Mode::Quick => format!("{NEEDS_FULL}: the quick sweep does not reach there"),
                Mode::Full => "only the quick sweep has such a point".into(),
            };
            return Err(Unjudged::Absent(reason));
        }
        let cell = |point: &Values, model: &str| {
            let found = self
                .cells
                .iter()
                .find(|cell| cell.cell.model == model && cell.cell.point == *point);
            let Some(found) = found else {
                let reason = self.skipped.iter().find(|skipped| skipped.model == model);
                let reason = reason.map_or("no such cell", |skipped| &skipped.reason);
                return Err(Unjudged::Absent(format!("{model} did not run: {reason}")));
            };
            let failures = found.cell.failures();
            let judged = match (failures.first(), &found.resampled) {
                (Some(status), _) => Err(format!(
                    "{model} {} at {}",
                    verb(*status),
                    place(&found.cell.point)
                )),
                (None, None) if self.claim.metric.is_some() => Err(match self.only_in_full() {
                    Some(setting) => format!(
                        "{NEEDS_FULL}: only there, by {setting}, {} of {model} is counted",
                        words(self.metric())
                    ),
                    None => format!(
                        "{} of {model} was not counted at {}",
                        words(self.metric()),
                        place(&found.cell.point)
                    ),
                }),
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
            };
            judged.map_err(Unjudged::Failed)
        };
        let sweep = self.experiment.points(self.mode);
        let column = |point: &Values| {
            let mut cells: Vec<_> = self
                .claim
                .form
                .models()
                .into_iter()
                .map(|model| cell(point, model))
                .collect::<Result<_, _>>()?;
            if let Form::Settings(settings) = &self.claim.form {
                let other = settings.partner(point, &sweep);
                let other = other.ok_or_else(|| {
                    Unjudged::Absent("there is no point to set against it".into())
                })?;
                cells.push(cell(&other, &settings.model)?);
            }
            Ok(cells)
        };
        points.iter().map(column).collect()
    }

    /// Parts the columns of which numerator and denominator ran the same code from those that can
    /// be judged. Only where there is none of these it is an error.
    pub(super) fn apart(&self, columns: Columns<'a>) -> Result<[Columns<'a>; 2], Unjudged> {
        let own = matches!(self.claim.form, Form::Settings(_));
        let (same, other): (Vec<_>, Vec<_>) = columns
            .into_iter()
            .partition(|cells| !own && same_code(cells).is_some());
        match same.iter().find_map(|cells| same_code(cells)) {
            Some(reason) if other.is_empty() => Err(Unjudged::Absent(reason)),
            _ => Ok([other, same]),
        }
    }

    /// The parameters that a full run sets and this one leaves at what the program takes by itself:
    /// what it does not count may depend on them.
    fn only_in_full(&self) -> Option<String> {
        let (quick, full) = (
            self.experiment.extent(Mode::Quick),
            self.experiment.extent(Mode::Full),
        );
        let more: Values = full
            .params
            .iter()
            .filter(|(name, _)| !quick.params.contains_key(*name))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        (self.mode == Mode::Quick && !more.is_empty()).then(|| label(&more))
    }
}

/// What is to be said where numerator and denominator ran the same code.
fn same_code(cells: &[&Judged]) -> Option<String> {
    let [above, below, ..] = cells else {
        return None;
    };
    let code = above.cell.ran();
    let same = code == below.cell.ran();
    same.then(|| format!("both ran {code}: that compares a program with itself"))
}

/// At which points nothing was judged because of that, and why.
pub(super) fn left_out(columns: &Columns) -> Option<String> {
    let places: Vec<String> = columns
        .iter()
        .filter_map(|cells| Some(place(&cells.first()?.cell.point)))
        .collect();
    let reason = columns.iter().find_map(|cells| same_code(cells))?;
    Some(format!("not judged at {}: {reason}", places.join("; ")))
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
