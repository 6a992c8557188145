use super::text::place;
use super::{Case, Judgement};
use crate::judge::cells::Judged;
use heddle_results::Estimate;
use heddle_results::text::words;
use heddle_stats::{Run, Scale, account};

impl<'a> Case<'a> {
    /// What each counted thing costs, fitted to both models at every point, and how much of the
    /// difference between the models that explains.
    pub(super) fn account(
        &self,
        counted: &[String],
        columns: &[Vec<&'a Judged<'a>>],
    ) -> Result<Judgement<'a>, String> {
        let run = |cell: &'a Judged<'a>| {
            let count = |term: &String| {
                cell.counters.get(term).copied().ok_or_else(|| {
                    let (model, at) = (&cell.cell.model, place(&cell.cell.point));
                    format!("{} of {model} were not counted at {at}", words(term))
                })
            };
            let counts: Result<Vec<f64>, String> = counted.iter().map(count).collect();
            let time = cell.sound().ok_or("a sample was not good")?;
            Ok::<Run, String>(Run {
                counts: counts?,
                time,
            })
        };
        let pairs: Result<Vec<[Run; 2]>, String> = columns
            .iter()
            .filter_map(|cells| Some((*cells.first()?, *cells.get(1)?)))
            .map(|(above, below)| Ok([run(above)?, run(below)?]))
            .collect();
        let terms = || {
            let terms: Vec<String> = counted.iter().map(|term| words(term)).collect();
            terms.join(", ")
        };
        let fitted = account(&pairs?)
            .ok_or_else(|| format!("these runs do not tell the costs of {} apart", terms()))?;
        let share = super::lines::estimate(&fitted.explained())?;
        let coefficients: Result<Vec<_>, String> = counted
            .iter()
            .enumerate()
            .filter_map(|(index, term)| Some((words(term), fitted.cost(index)?)))
            .map(|(term, cost)| self.coefficient(format!("each of {term}"), &cost))
            .collect();
        let Estimate { value, low, high } = share;
        let ours = format!("{value:.3} of the difference (95 % {low:.3}–{high:.3})");
        let points: Vec<(f64, Vec<&Judged>)> =
            columns.iter().map(|cells| (0.0, cells.clone())).collect();
        let mut judgement = self.on_one_estimate(ours, share, Scale::Linear, &points);
        let fit = format!(
            "the account misses no median by more than {:.0} %",
            fitted.deviation * 100.0
        );
        judgement.note = [judgement.note, fit]
            .into_iter()
            .filter(|note| !note.is_empty())
            .collect::<Vec<_>>()
            .join("; ");
        judgement.coefficients = coefficients?;
        Ok(judgement)
    }
}
