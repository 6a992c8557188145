use super::{Case, Judgement};
use crate::experiment::Form;
use crate::judge::cells::Judged;
use heddle_results::text::{Scaled, number, range};
use heddle_results::{Coefficient, Estimate};
use heddle_stats::{Derived, Resampled, Scale, line};

impl<'a> Case<'a> {
    /// A line fitted to each model, and where the numerator's passes the denominator's. With
    /// `without`, the numerator's cost of each unit, beyond the denominator's, is split into what
    /// `without` has not and the rest. `names` are the source's for the coefficients.
    pub(super) fn lines(
        &self,
        along: &str,
        names: &[String],
        columns: &[Vec<&'a Judged<'a>>],
    ) -> Result<Judgement<'a>, String> {
        let points = self.along(along, columns)?;
        let fitted = |index: usize| {
            let cells: Option<Vec<(f64, &Resampled)>> = points
                .iter()
                .map(|(x, cells)| Some((*x, cells.get(index)?.sound()?)))
                .collect();
            cells
                .and_then(|cells| line(&cells))
                .ok_or_else(|| format!("a line needs three values of {along}, and samples above 0"))
        };
        let (many, large) = (fitted(0)?, fitted(1)?);
        let crossover = estimate(&many.passes(&large))?;

        let beyond = many.each().minus(&large.each());
        let mut terms = vec![self.term(names, 0, "once", &many.once())?];
        let mut deviation = many.deviation.max(large.deviation);
        if matches!(self.claim.form, Form::SplitLines(_)) {
            let bare = fitted(2)?;
            deviation = deviation.max(bare.deviation);
            let saved = many.each().minus(&bare.each());
            terms.push(self.term(names, 1, "saved of each", &saved)?);
            terms.push(self.term(names, 2, "left of each", &beyond.minus(&saved))?);
        } else {
            terms.push(self.term(names, 1, "of each", &beyond)?);
        }
        terms.push(self.term(names, 3, "once", &large.once())?);
        terms.push(self.coefficient(format!("each in {}", self.name(1)), &large.each())?);

        let ours = format!(
            "{along} {} (95 % {})",
            number(crossover.value),
            range(&number(crossover.low), &number(crossover.high))
        );
        let mut judgement = self.on_one_estimate(ours, crossover, Scale::Linear, &points);
        let fit = format!(
            "the lines miss no median by more than {:.0} %",
            deviation * 100.0
        );
        judgement.note = if judgement.note.is_empty() {
            fit
        } else {
            format!("{}; {fit}", judgement.note)
        };
        judgement.coefficients = terms;
        Ok(judgement)
    }

    /// A coefficient by the source's name, or by the model whose it is: the denominator's is the
    /// last.
    fn term(
        &self,
        names: &[String],
        index: usize,
        part: &str,
        value: &Derived,
    ) -> Result<Coefficient, String> {
        let own = || {
            let model = self.name(usize::from(index == 3));
            format!("{model} {part}")
        };
        let name = names.get(index).cloned().unwrap_or_else(own);
        self.coefficient(name, value)
    }

    pub(super) fn coefficient(&self, name: String, value: &Derived) -> Result<Coefficient, String> {
        let estimate = estimate(value)?;
        let unit = Scaled::of([estimate.value], &self.experiment.metric.unit);
        let text = format!(
            "{} (95 % {})",
            unit.text(estimate.value),
            unit.ends(estimate)
        );
        Ok(Coefficient {
            name,
            text,
            estimate,
        })
    }
}

pub(super) fn estimate(value: &Derived) -> Result<Estimate, String> {
    value
        .estimate()
        .ok_or_else(|| "the fit is not a number".into())
}
