//! Takes samples: a fresh process each, all cells of all experiments mixed in random order, round
//! after round.

mod agreement;
mod around;
mod earlier;
pub mod interrupt;
mod line;
mod load;
mod machine;
mod pairs;
mod plan;
mod process;
mod rounds;
mod scratch;
mod shard;
pub mod strays;
mod take;
mod tracing;

pub use earlier::{Checkpoint, Earlier, SecondLook};
pub use load::{Load, note as busy_note};
pub use machine::machine;
pub use plan::{Cell, Plan, lab_files, plan, unbuilt};
pub(crate) use plan::{all_cells, partly, without_part};
pub use rounds::{Runner, Step, Watcher};
pub use shard::{Shard, Share, check_shard};
pub use tracing::{Tracing, trace};

use crate::experiment::Mode;
use crate::models::selects;
use heddle_stats::FEWEST;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// Quick or full.
    pub mode: Mode,
    /// Only these models or families; empty: all.
    pub models: Vec<String>,
    /// So many samples a cell, no more and no fewer; unset: 20 in quick, 10 in full, then what
    /// inconclusive claims need.
    pub samples: Option<u32>,
    /// Time limit of a sample; unset: the experiment's.
    pub timeout: Option<Duration>,
    /// What a run may take: it takes fewer samples a cell than it would like, and no additional
    /// ones, where they do not fit.
    pub budget: Duration,
    /// Seed of the order and of the resampling.
    pub seed: u64,
    /// Only this part of the cells.
    pub shard: Option<Shard>,
    /// Record a sample of each cell after all others; unset: no.
    pub trace: Option<Tracing>,
    /// Where Heddle's own lab programs are.
    pub lab: PathBuf,
}

impl Options {
    /// Whether the user has not left this model out.
    pub fn wants(&self, model: &str) -> bool {
        let filters = &self.models;
        filters.is_empty() || filters.iter().any(|filter| selects(filter, model))
    }

    /// Samples that every cell gets however little time there is.
    pub fn fewest_samples(&self) -> u32 {
        self.samples.unwrap_or(match self.mode {
            Mode::Quick => 10,
            Mode::Full => FEWEST as u32,
        })
    }

    /// Samples that every cell gets if there is time.
    pub fn first_samples(&self) -> u32 {
        self.samples.unwrap_or(match self.mode {
            Mode::Quick => 20,
            Mode::Full => 10,
        })
    }
}

/// Now, ns since 1970.
pub(crate) fn now_ns() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    u64::try_from(now.unwrap_or_default().as_nanos()).unwrap_or(u64::MAX)
}
