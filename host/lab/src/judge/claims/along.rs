use super::text::settle_note;
use super::{Case, Judgement, taken, verdict};
use crate::experiment::{Range, Trend};
use crate::judge::cells::Judged;
use crate::judge::sentences::plain_number;
use heddle_results::text::{minus, number, range};
use heddle_results::{Estimate, Verdict};
use heddle_stats::{Crossover, Resampled, Scale, crossover, ratio, samples_to_settle, slope};

impl<'a> Case<'a> {
    pub(super) fn slope(
        &self,
        along: &str,
        columns: &[Vec<&'a Judged<'a>>],
    ) -> Result<Judgement<'a>, String> {
        let points = self.along(along, columns)?;
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
        let found = slope(&usable)
            .ok_or_else(|| format!("a slope needs two values of {along}, all above 0"))?;
        let Estimate { value, low, high } = found.slope;
        let [value, low, high] = [value, low, high].map(|slope| minus(&format!("{slope:.3}")));
        let ours = format!(
            "slope {value} (95 % {}), R² {:.4}",
            range(&low, &high),
            found.r_squared
        );
        Ok(self.on_one_estimate(ours, found.slope, Scale::Linear, &points))
    }

    pub(super) fn crossover(
        &self,
        trend: &Trend,
        columns: &[Vec<&'a Judged<'a>>],
    ) -> Result<Judgement<'a>, String> {
        let along = trend.along.as_str();
        let points = self.along(along, columns)?;
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
                    "{along}={} (95 % {})",
                    number(x.value),
                    range(&number(x.low), &number(x.high))
                );
                let mut judgement = self.on_one_estimate(ours, x, Scale::Log, &points);
                if times > 1 {
                    let more = format!("they swap {times} times; this is the first");
                    judgement.note = [judgement.note, more]
                        .into_iter()
                        .filter(|note| !note.is_empty())
                        .collect::<Vec<_>>()
                        .join("; ");
                }
                Ok(judgement)
            }
            Crossover::Never { above, sure } => {
                let Trend {
                    numerator,
                    denominator,
                    ..
                } = trend;
                let side = if above { "above" } else { "below" };
                // Not in this sweep; a bound that reaches beyond the sweep stays open.
                let reaches = self.claim.bound.min.is_none_or(|min| min < first)
                    || self.claim.bound.max.is_none_or(|max| max > last);
                let verdict = if sure && !reaches {
                    Verdict::NotReproduced
                } else {
                    Verdict::Inconclusive
                };
                let (note, needed, wanted) = match (sure, reaches) {
                    (false, _) => unsure(&points),
                    (true, true) => {
                        let note = "the bound reaches beyond the sweep: a longer sweep would settle it, more samples would not";
                        (note.into(), None, Vec::new())
                    }
                    (true, false) => (String::new(), None, Vec::new()),
                };
                Ok(Judgement {
                    ours: format!(
                        "{numerator} ÷ {denominator} stays {side} 1 from {along}={} to {}",
                        plain_number(first),
                        plain_number(last)
                    ),
                    verdict,
                    needed,
                    note,
                    why: telling(&points),
                    wanted,
                    ..Judgement::skipped(String::new())
                })
            }
        }
    }

    pub(super) fn on_one_estimate(
        &self,
        ours: String,
        estimate: Estimate,
        scale: Scale,
        points: &[(f64, Vec<&'a Judged<'a>>)],
    ) -> Judgement<'a> {
        let bound = self.claim.bound;
        let verdict = verdict(bound.judge(estimate.low, estimate.high));
        let (mut notes, mut wanted) = (Vec::new(), Vec::new());
        let mut settles = None;
        if verdict == Verdict::Inconclusive {
            let all: Vec<&Judged> = points
                .iter()
                .flat_map(|(_, cells)| cells.iter().copied())
                .collect();
            let needed = samples_to_settle(taken(&all), estimate, bound.min, bound.max, scale);
            notes.push(settle_note(taken(&all), needed));
            settles = needed.map(|needed| needed as u64);
            let needed = needed.and_then(|needed| u32::try_from(needed).ok());
            wanted = needed
                .map(|needed| all.iter().map(|cell| (cell.index, needed)).collect())
                .unwrap_or_default();
        }
        notes.extend(self.partly());
        Judgement {
            ours,
            estimate: Some(estimate),
            verdict,
            needed: settles,
            note: notes.join("; "),
            why: telling(points),
            wanted,
            ..Judgement::skipped(String::new())
        }
    }

    /// The columns with their place along a parameter, in order.
    pub(super) fn along(
        &self,
        along: &str,
        columns: &[Vec<&'a Judged<'a>>],
    ) -> Result<Vec<(f64, Vec<&'a Judged<'a>>)>, String> {
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
}

/// Whose counters say why: the models at the end of the sweep, or the only one at both of its ends.
fn telling<'a>(points: &[(f64, Vec<&'a Judged<'a>>)]) -> Vec<&'a Judged<'a>> {
    match (points.first(), points.last()) {
        (Some((_, first)), Some((_, last))) if last.len() == 1 && points.len() > 1 => {
            first.iter().chain(last).copied().collect()
        }
        (_, last) => last.map(|(_, cells)| cells.clone()).unwrap_or_default(),
    }
}

/// Where two models cannot be told apart at every point: what would, how many samples that are, and
/// the cells that want them.
fn unsure(points: &[(f64, Vec<&Judged>)]) -> (String, Option<u64>, Vec<(usize, u32)>) {
    let open = points.iter().filter_map(|(_, cells)| {
        let ratio = ratio(cells.first()?.sound()?, cells.get(1)?.sound()?)?;
        let one = Range {
            min: Some(1.0),
            max: None,
        };
        one.judge(ratio.low, ratio.high).is_none().then(|| {
            let needed = samples_to_settle(taken(cells), ratio, Some(1.0), None, Scale::Log);
            (cells, needed)
        })
    });
    let open: Vec<_> = open.collect();
    let all: Vec<&Judged> = points
        .iter()
        .flat_map(|(_, cells)| cells.iter().copied())
        .collect();
    let most: Option<Vec<usize>> = open.iter().map(|(_, needed)| *needed).collect();
    let most = most.and_then(|needed| needed.into_iter().max());
    let note = format!(
        "not sure at {} of {} points; {}",
        open.len(),
        points.len(),
        settle_note(taken(&all), most)
    );
    let wanted = open.iter().flat_map(|(cells, needed)| {
        let needed = needed.and_then(|needed| u32::try_from(needed).ok());
        cells
            .iter()
            .filter_map(move |cell| Some((cell.index, needed?)))
    });
    let wanted = if most.is_some() {
        wanted.collect()
    } else {
        Vec::new()
    };
    (note, most.map(|needed| needed as u64), wanted)
}
