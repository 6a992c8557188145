//! What an interrupted run has left for the one that goes on with it.

use super::Plan;
use crate::experiment::Experiment;
use heddle_results::Sample;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How far a run was when it was interrupted; by default it has not begun.
#[derive(Clone, Debug, Default)]
pub struct Earlier {
    /// Its samples, in the order taken.
    pub samples: Vec<Sample>,
    /// The time that it took.
    pub elapsed: Duration,
    /// When it began, ns since 1970.
    pub started_ns: Option<u64>,
    /// Which cells were to get more samples, if it was known.
    pub second_look: Option<SecondLook>,
    /// What the reader must know of it.
    pub notes: Vec<String>,
}

/// Which cells get more samples because a claim is inconclusive. It is decided once: a resumed run
/// keeps to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecondLook {
    /// Samples a cell before.
    pub first: u32,
    /// How many samples each cell is to have, in the order of the plan.
    pub targets: Vec<u32>,
}

/// How far a run is, to be noted down.
#[derive(Clone, Copy, Debug)]
pub struct Checkpoint<'a> {
    /// The time that it took, without pauses.
    pub elapsed: Duration,
    /// Which cells get more samples, if it is known.
    pub second_look: Option<&'a SecondLook>,
}

impl Earlier {
    /// Gives the plan's cells their samples; how many found their cell.
    pub(crate) fn fill(&self, experiments: &[Experiment], plan: &mut Plan) -> u64 {
        let mut found = 0;
        for sample in &self.samples {
            let own = |cell: &&mut super::Cell| {
                let id = experiments.get(cell.experiment).map(|it| &it.id);
                id == Some(&sample.experiment)
                    && cell.model == sample.model
                    && cell.point == sample.point
            };
            if let Some(cell) = plan.cells.iter_mut().find(own) {
                cell.spent += Duration::from_nanos(sample.process.wall_ns);
                cell.samples.push(sample.clone());
                found += 1;
            }
        }
        found
    }
}
