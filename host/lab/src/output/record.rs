//! `run.json`: what an interrupted run needs to go on.

use crate::error::{Error, Result};
use crate::experiment::{BEFORE, Experiment, Mode};
use crate::run::{Options, SecondLook, Shard, Tracing};
use heddle_results::Machine;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// What was asked for, and how far the run is beside its samples.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// Heddle's version.
    pub version: String,
    /// The command line.
    pub command: Vec<String>,
    /// The suite that was asked for.
    pub suite: Option<String>,
    /// Only the main questions were asked.
    pub main_only: bool,
    /// What was to be measured.
    pub experiments: Vec<Identity>,
    /// Whether the whole sweeps are run.
    pub full: bool,
    /// Only these models or families.
    pub models: Vec<String>,
    /// Exactly so many samples a cell.
    pub samples: Option<u32>,
    /// Time limit of a sample, s.
    pub timeout_s: Option<f64>,
    /// What the run may take, s.
    pub budget_s: f64,
    /// Seed of the order and of the resampling.
    pub seed: u64,
    /// Only this part of the cells.
    #[serde(default)]
    pub shard: Option<Shard>,
    /// A sample of each cell is recorded, and how.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Tracing>,
    /// Where Heddle's own lab programs are.
    pub lab: PathBuf,
    /// Where it began.
    pub machine: Machine,
    /// When it began, ns since 1970.
    pub started_ns: u64,
    /// Time spent so far, ns, without pauses.
    pub elapsed_ns: u64,
    /// Which cells get more samples, once that is known.
    pub second_look: Option<SecondLook>,
}

/// An experiment, and what its file says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Identity {
    /// Id.
    pub id: String,
    /// Its file.
    pub path: PathBuf,
    /// Hash of the file's text.
    pub hash: String,
    /// The file's text: a finished run is read where the file need not be.
    #[serde(default)]
    pub text: String,
}

impl Identity {
    /// An experiment of that file, as this one of the run: perhaps as it was before a change.
    pub(super) fn named(&self, experiment: Experiment) -> Experiment {
        match self.id.ends_with(BEFORE) && !experiment.id.ends_with(BEFORE) {
            true => experiment.before(),
            false => experiment,
        }
    }
}

impl Record {
    /// The record of a run that begins now.
    ///
    /// # Errors
    /// If an experiment's file cannot be read.
    pub fn new(
        experiments: &[Experiment],
        options: &Options,
        (suite, main_only): (Option<String>, bool),
        command: Vec<String>,
    ) -> Result<Self> {
        let identity = |experiment: &Experiment| {
            let text = read(&experiment.path)?;
            Ok(Identity {
                id: experiment.id.clone(),
                path: experiment.path.clone(),
                hash: hash(&text),
                text,
            })
        };
        Ok(Self {
            version: env!("CARGO_PKG_VERSION").into(),
            command,
            suite,
            main_only,
            experiments: experiments.iter().map(identity).collect::<Result<_>>()?,
            full: options.mode == Mode::Full,
            models: options.models.clone(),
            samples: options.samples,
            timeout_s: options.timeout.map(|time| time.as_secs_f64()),
            budget_s: options.budget.as_secs_f64(),
            seed: options.seed,
            shard: options.shard,
            trace: options.trace.clone(),
            lab: options.lab.clone(),
            machine: crate::run::machine(),
            started_ns: crate::run::now_ns(),
            elapsed_ns: 0,
            second_look: None,
        })
    }

    /// What the run was asked to do.
    pub fn options(&self) -> Options {
        let seconds = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
        Options {
            mode: if self.full { Mode::Full } else { Mode::Quick },
            models: self.models.clone(),
            samples: self.samples,
            timeout: self.timeout_s.map(seconds),
            budget: seconds(self.budget_s),
            seed: self.seed,
            shard: self.shard,
            trace: self.trace.clone(),
            lab: self.lab.clone(),
        }
    }

    /// The experiments, read again.
    ///
    /// # Errors
    /// If a file is gone, or says something else than when the run began.
    pub fn experiments(&self) -> Result<Vec<Experiment>> {
        let one = |identity: &Identity| {
            if hash(&read(&identity.path)?) != identity.hash {
                return Err(Error::Usage(format!(
                    "{} has changed since this run began, so its samples cannot be added to: begin anew, without --resume",
                    identity.path.display()
                )));
            }
            Ok(identity.named(Experiment::read(&identity.path)?))
        };
        self.experiments.iter().map(one).collect()
    }

    /// What is no longer as it was where the run began, if something that matters is.
    pub fn other_machine(&self, now: &Machine) -> Option<String> {
        let before = &self.machine;
        let processors = [before.cpus, now.cpus].map(|count| format!("{count} processors"));
        let pairs = [
            (&before.host, &now.host),
            (&before.cpu, &now.cpu),
            (&processors[0], &processors[1]),
            (&before.kernel, &now.kernel),
        ];
        let (was, is) = pairs.into_iter().find(|(was, is)| was != is)?;
        Some(format!(
            "Begun on {was}, resumed on {is}: samples of the two may differ for that alone."
        ))
    }
}

/// FNV-1a of a file's text, because the standard library's hash may change from release to release.
fn hash(text: &str) -> String {
    let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

fn read(path: &std::path::Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(Error::io(format!("cannot read {}", path.display())))
}
