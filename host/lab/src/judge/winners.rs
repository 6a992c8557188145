use super::cells::Judged;
use crate::experiment::Experiment;
use heddle_results::{Better, Estimate, Lead, Like, Winner};
use heddle_stats::{Resampled, ratio, ratio_among};

/// Who is ahead at one place on the axis.
pub struct Place {
    pub x: Option<f64>,
    pub front: Front,
    /// Models that would be compared if all their samples had been good.
    pub failed: Vec<String>,
}

/// The models at the front.
#[derive(Clone, Debug)]
pub enum Front {
    /// No model that can win gave a sound result.
    Nothing,
    /// Fewer samples than an interval needs.
    TooFew(usize),
    /// There is no other model to compare with.
    Only { model: String, median: f64 },
    /// The best, those that cannot be told from it, and how far it is ahead of those that can.
    Found {
        models: Vec<String>,
        median: f64,
        /// Those at the front but for the best.
        ties: Vec<Lead>,
        /// All that are behind, in the order of their medians.
        behind: Vec<Lead>,
    },
}

impl Front {
    /// The best model's median.
    pub fn median(&self) -> Option<f64> {
        match self {
            Self::Nothing | Self::TooFew(_) => None,
            Self::Only { median, .. } | Self::Found { median, .. } => Some(*median),
        }
    }

    /// The same models are ahead.
    pub fn same(&self, other: &Self) -> bool {
        let sorted = |models: &[String]| {
            let mut models = models.to_vec();
            models.sort();
            models
        };
        match (self, other) {
            (Self::Nothing, Self::Nothing) | (Self::TooFew(_), Self::TooFew(_)) => true,
            (Self::Only { model: a, .. }, Self::Only { model: b, .. }) => a == b,
            (Self::Found { models: a, .. }, Self::Found { models: b, .. }) => {
                sorted(a) == sorted(b)
            }
            _ => false,
        }
    }
}

impl Place {
    /// `like` is what the work is like there.
    pub fn into_winner(self, like: Option<Like>) -> Winner {
        let (models, ties, behind) = match self.front {
            Front::Nothing | Front::TooFew(_) => (Vec::new(), Vec::new(), Vec::new()),
            Front::Only { model, .. } => (vec![model], Vec::new(), Vec::new()),
            Front::Found {
                models,
                ties,
                behind,
                ..
            } => (models, ties, behind),
        };
        Winner {
            x: self.x,
            like,
            models,
            lead: behind.first().cloned(),
            ties,
            behind,
        }
    }
}

/// The places of a group in order of x.
pub fn places(experiment: &Experiment, members: &[&Judged]) -> Vec<Place> {
    let mut xs: Vec<Option<f64>> = members.iter().map(|cell| cell.x).collect();
    xs.sort_by(|a, b| a.unwrap_or(0.0).total_cmp(&b.unwrap_or(0.0)));
    xs.dedup();
    let at = |x: Option<f64>| {
        members
            .iter()
            .copied()
            .filter(|cell| cell.x == x)
            .collect::<Vec<_>>()
    };
    let place = |x| {
        let cells = at(x);
        let failed = cells.iter().filter(|cell| !cell.cell.failures().is_empty());
        let failed = failed.map(|cell| cell.cell.model.clone());
        let failed = failed
            .filter(|model| !experiment.is_reference(model))
            .collect();
        Place {
            x,
            front: front(experiment, &cells),
            failed,
        }
    };
    xs.into_iter().map(place).collect()
}

fn front(experiment: &Experiment, cells: &[&Judged]) -> Front {
    let can_win = |cell: &&&Judged| !experiment.is_reference(&cell.cell.model);
    let mut able: Vec<_> = cells
        .iter()
        .filter(can_win)
        .filter_map(|cell| {
            Some((
                cell.cell.model.clone(),
                cell.sound().filter(|resampled| resampled.positive)?,
            ))
        })
        .collect();
    let higher = experiment.metric.better == Better::Higher;
    able.sort_by(|(_, a), (_, b)| {
        let order = a.median.value.total_cmp(&b.median.value);
        if higher { order.reverse() } else { order }
    });
    let Some((best, best_cell)) = able.first() else {
        return Front::Nothing;
    };
    let median = best_cell.median.value;
    if able.len() == 1 {
        return Front::Only {
            model: best.clone(),
            median,
        };
    }
    if let Some((_, few)) = able.iter().find(|(_, resampled)| !resampled.enough()) {
        return Front::TooFew(few.count);
    }
    let mut models = vec![best.clone()];
    let (mut ties, mut behind) = (Vec::new(), Vec::new());
    for (model, other) in &able[1..] {
        // How many times better the best is.
        let (over, under): (&Resampled, &Resampled) = if higher {
            (best_cell, other)
        } else {
            (other, best_cell)
        };
        let told_apart = ratio_among(over, under, able.len() - 1).is_some_and(excludes_one);
        let lead = ratio(over, under).map(|times| Lead {
            over: model.clone(),
            times,
        });
        match lead {
            Some(lead) if told_apart => behind.push(lead),
            lead => {
                models.push(model.clone());
                ties.extend(lead);
            }
        }
    }
    Front::Found {
        models,
        median,
        ties,
        behind,
    }
}

fn excludes_one(ratio: Estimate) -> bool {
    ratio.low > 1.0 || ratio.high < 1.0
}
