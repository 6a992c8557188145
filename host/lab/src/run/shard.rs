//! A part of a run: `--shard 2/5` takes the second of five parts of the cells, on this machine or
//! another.
//!
//! What is dealt are places, an experiment's point with all of its models: models are compared at a
//! place, and so their samples there stay in one part, where they are taken in turns.

use super::Options;
use super::rounds::random;
use crate::error::{Error, Result};
use crate::experiment::{Experiment, Mode};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// The most parts of a run.
const MOST: u32 = 100_000;

/// Which of how many parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    /// From 1.
    pub number: u32,
    /// How many there are.
    pub of: u32,
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once('/');
        let parts = parts.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match parts {
            Some((number, of)) if (1..=of).contains(&number) && of <= MOST => {
                Ok(Self { number, of })
            }
            _ => Err(format!(
                "expected I/N with I from 1 to N, such as 2/5, and N at most {MOST}"
            )),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> std::result::Result<Self, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> Self {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The places that are measured.
#[derive(Clone, Debug)]
pub struct Share {
    /// Numbers of experiments and of their points.
    own: BTreeSet<(usize, usize)>,
    /// All places of the experiments.
    pub all: usize,
}

impl Share {
    /// Those of the whole run, or of its part.
    ///
    /// Each experiment's points are shuffled by the seed and dealt in turns, one experiment after
    /// another: the large and slow ends of sweeps are spread, and two parts differ by one place.
    pub fn new(experiments: &[Experiment], options: &Options) -> Self {
        let shards = options.shard.as_ref().map(std::slice::from_ref);
        Self::of(experiments, options.mode, options.seed, shards)
    }

    /// Those of these parts of a run, which have one number of parts; none: of the whole.
    pub fn of(experiments: &[Experiment], mode: Mode, seed: u64, shards: Option<&[Shard]>) -> Self {
        let (mut own, mut dealt) = (BTreeSet::new(), 0_u32);
        for (number, experiment) in experiments.iter().enumerate() {
            let mut order: Vec<usize> = (0..experiment.points(mode).len()).collect();
            random(seed, number as u32).shuffle(&mut order);
            for point in order {
                let is_own = |shard: &Shard| dealt % shard.of == shard.number - 1;
                if shards.is_none_or(|shards| shards.iter().any(is_own)) {
                    own.insert((number, point));
                }
                dealt += 1;
            }
        }
        Self {
            own,
            all: dealt as usize,
        }
    }

    /// Whether an experiment's point, by their numbers, is measured.
    pub fn has(&self, experiment: usize, point: usize) -> bool {
        self.own.contains(&(experiment, point))
    }

    /// How many points of an experiment are measured.
    pub fn points(&self, experiment: usize) -> usize {
        self.own.range((experiment, 0)..(experiment + 1, 0)).count()
    }

    /// How many places are measured.
    pub fn count(&self) -> usize {
        self.own.len()
    }
}

/// # Errors
/// If a run has fewer places than parts: some of these would be empty.
pub fn check_shard(experiments: &[Experiment], options: &Options) -> Result<()> {
    let all = Share::new(experiments, options).all;
    match options.shard {
        Some(shard) if shard.of as usize > all => Err(Error::Usage(format!(
            "--shard {shard}: there are only {all} places (an experiment's point with all of its models) to share out, so `--shard {}/{all}` is the smallest part",
            shard.number.min(all as u32)
        ))),
        _ => Ok(()),
    }
}
