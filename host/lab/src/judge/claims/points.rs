use super::text::{place, settle_note};
use super::{Case, Judgement, taken, verdict};
use crate::judge::cells::Judged;
use heddle_results::{Estimate, Verdict};
use heddle_stats::{Scale, median_among, ratio, ratio_among, samples_to_settle};
use std::cmp::Ordering;

/// One estimate at one place, against the bound.
#[derive(Clone)]
pub(super) struct Point<'a> {
    place: String,
    pub cells: Vec<&'a Judged<'a>>,
    pub estimate: Estimate,
    pub inside: Option<bool>,
    /// Distance of the interval from the nearest end of the bound, negative outside, in log space.
    margin: f64,
    /// Samples a cell that would settle it.
    needed: Option<usize>,
    /// Outside by its own interval, not by one that is wide enough for one of several points.
    doubtful: bool,
}

impl Point<'_> {
    /// What decides comes first: wholly outside, then across an end, then inside; each by how far
    /// it is out.
    pub fn order(&self, other: &Self) -> Ordering {
        let rank = |point: &Self| match point.inside {
            Some(false) => 0,
            None => 1,
            Some(true) => 2,
        };
        let margins = || self.margin.total_cmp(&other.margin);
        rank(self).cmp(&rank(other)).then_with(margins)
    }

    fn wanted(&self) -> impl Iterator<Item = (usize, u32)> {
        let needed = self.needed.and_then(|needed| u32::try_from(needed).ok());
        self.cells
            .iter()
            .filter_map(move |cell| Some((cell.index, needed?)))
    }
}

/// How many samples a cell would settle all points that are open, if a number would; and what cells
/// want how many.
pub(super) fn open(points: &[&Point]) -> (Option<usize>, Vec<(usize, u32)>) {
    let open = || points.iter().filter(|point| point.inside.is_none());
    let needed: Option<Vec<usize>> = open().map(|point| point.needed).collect();
    match needed.and_then(|needed| needed.into_iter().max()) {
        Some(most) => (
            Some(most),
            open().flat_map(|point| point.wanted()).collect(),
        ),
        None => (None, Vec::new()),
    }
}

impl<'a> Case<'a> {
    /// A ratio or a value at each point, against the bound.
    pub(super) fn points(&self, columns: &[Vec<&'a Judged<'a>>]) -> Result<Judgement<'a>, String> {
        let points: Option<Vec<Point>> = columns
            .iter()
            .map(|cells| self.point(cells, columns.len()))
            .collect();
        let mut points = points.ok_or("it cannot be computed")?;
        points.sort_by(Point::order);
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
                self.text(least, Some(decisive.estimate)),
                self.text(most, Some(decisive.estimate)),
                points.len()
            );
        }
        let mut notes = Vec::new();
        let mut wanted = Vec::new();
        let mut settles = None;
        if verdict == Verdict::Inconclusive {
            if decisive.doubtful {
                notes.push(format!(
                    "outside at {}, but not surely enough for one of {} points",
                    decisive.place,
                    points.len()
                ));
            }
            (settles, wanted) = open(&points.iter().collect::<Vec<_>>());
            notes.push(settle_note(taken(&decisive.cells), settles));
        } else if several {
            let reason = if verdict == Verdict::Reproduced {
                "closest to the bound"
            } else {
                "decided"
            };
            notes.push(format!("{reason} at {}", decisive.place));
        }
        notes.extend(self.partly());
        let (estimate, why) = (Some(decisive.estimate), decisive.cells.clone());
        Ok(Judgement {
            ours,
            estimate,
            verdict,
            needed: settles.map(|needed| needed as u64),
            note: notes.join("; "),
            why,
            wanted,
            ..Judgement::skipped(String::new())
        })
    }

    /// One of `count` points. All must be inside, which errs more rarely than one; but one outside
    /// decides, which errs more often, so that one must be outside by a wider interval.
    pub(super) fn point(&self, cells: &[&'a Judged<'a>], count: usize) -> Option<Point<'a>> {
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
}
