//! Runs that were saved under a name: one file, one line of JSON a run, the earliest first.

use heddle_lab::experiment::BEFORE;
use heddle_lab::{Error, models};
use heddle_results::{Machine, Metric, Report, Values};
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

/// What is kept of a run.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Saved {
    /// Heddle's version.
    pub version: String,
    /// When it began, ns since 1970.
    pub started_ns: u64,
    /// `quick` or `full`: the programs' parameters differ.
    pub mode: String,
    /// Seed of the run.
    pub seed: u64,
    /// Where it ran.
    pub machine: Machine,
    /// What was measured.
    pub cells: Vec<SavedCell>,
}

/// The samples of one model at one point.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SavedCell {
    /// Experiment id.
    pub experiment: String,
    /// Model.
    pub model: String,
    /// All swept parameters.
    pub point: Values,
    /// The other parameters; none: an earlier Heddle did not keep them.
    #[serde(default)]
    pub fixed: Option<Values>,
    /// What the values are of.
    pub metric: Metric,
    /// In the order taken.
    pub values: Vec<f64>,
    /// Samples that were not good.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failed: usize,
}

fn is_zero(number: &usize) -> bool {
    *number == 0
}

impl SavedCell {
    /// Whether both are of the same model at the same point, and of the same metric.
    pub fn is_same(&self, other: &Self) -> bool {
        self.experiment == other.experiment
            && self.model == other.model
            && self.point == other.point
            && self.metric.name == other.metric.name
            && self.metric.unit == other.metric.unit
    }

    /// Whether a parameter that is not swept is known to have been another.
    pub fn is_of_other_work(&self, other: &Self) -> bool {
        let known = self.fixed.as_ref().zip(other.fixed.as_ref());
        known.is_some_and(|(one, other)| one != other)
    }
}

impl Saved {
    /// What is kept of a report.
    pub fn of(report: &Report) -> Self {
        let mut cells = Vec::new();
        for experiment in &report.experiments {
            for series in experiment.groups.iter().flat_map(|group| &group.series) {
                cells.extend(series.cells.iter().map(|cell| SavedCell {
                    experiment: experiment.id.clone(),
                    model: series.model.clone(),
                    point: cell.point.clone(),
                    fixed: Some(cell.fixed.clone()),
                    metric: experiment.metric.clone(),
                    values: cell.values.clone(),
                    failed: cell.failures.len(),
                }));
            }
        }
        Self {
            version: report.version.clone(),
            started_ns: report.started_ns,
            mode: report.mode.clone(),
            seed: report.seed,
            machine: report.machine.clone(),
            cells,
        }
    }
}

/// A run's cells as they were before a change, and those of now.
pub fn before_and_now(report: &Report) -> (Saved, Saved) {
    let mut now = Saved::of(report);
    let all = std::mem::take(&mut now.cells);
    let mut before = now.clone();
    for mut cell in all {
        match cell.experiment.strip_suffix(BEFORE) {
            Some(id) => {
                cell.experiment = id.to_owned();
                before.cells.push(cell);
            }
            None => now.cells.push(cell),
        }
    }
    (before, now)
}

/// The file of a name.
pub struct Series {
    path: PathBuf,
}

impl Series {
    /// # Errors
    /// If the name cannot be a file's.
    pub fn new(directory: &Path, name: &str) -> heddle_lab::Result<Self> {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
        if name.is_empty() || name.starts_with('.') || !name.chars().all(fits) {
            return Err(Error::Usage(format!(
                "a baseline cannot be called `{name}`: expected letters, digits, `-`, `_` and `.`, such as `main`"
            )));
        }
        Ok(Self {
            path: directory.join(format!("{name}.jsonl")),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All runs; none if there is no file.
    ///
    /// # Errors
    /// If the file cannot be read, or a line of it is no run.
    pub fn read(&self) -> heddle_lab::Result<Vec<Saved>> {
        let text = match std::fs::read_to_string(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(self.failed("cannot read"))?,
        };
        let run = |(number, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|cause| {
                Error::Usage(format!(
                    "{}:{}: not a saved run ({cause}): remove that line, or save under another name",
                    self.path.display(),
                    number + 1
                ))
            })
        };
        text.lines().enumerate().map(run).collect()
    }

    /// The runs of machines with the processor and the number of processors of this one.
    ///
    /// # Errors
    /// If [`Self::read`] fails, or no saved run is of such a machine.
    pub fn read_like(&self, machine: &Machine) -> heddle_lab::Result<Vec<Saved>> {
        let all = self.read()?;
        let is_like = |run: &Saved| run.machine.is_like(machine);
        let (count, like): (usize, Vec<Saved>) =
            (all.len(), all.into_iter().filter(is_like).collect());
        if !like.is_empty() {
            return Ok(like);
        }
        let name = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let what = match count {
            0 => format!(
                "there is no saved run in {}{}",
                self.path.display(),
                self.others()
            ),
            _ => format!(
                "none of the {count} saved runs in {} is of {} processors `{}`, and times of different machines are not compared",
                self.path.display(),
                machine.cpus,
                machine.cpu
            ),
        };
        Err(Error::Usage(format!(
            "{what}: `--save {name}` instead of `--against {name}` saves one"
        )))
    }

    /// A sentence for a name that has no run: it tells the nearest of the other names in the
    /// directory, and all that there are.
    fn others(&self) -> String {
        let directory = self.path.parent().unwrap_or(Path::new("."));
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        let name = |entry: std::fs::DirEntry| {
            let name = entry.file_name().into_string().ok()?;
            Some(name.strip_suffix(".jsonl")?.to_owned())
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort();
        if names.is_empty() {
            return String::new();
        }
        let own = self.path.file_stem().unwrap_or_default().to_string_lossy();
        let near = models::nearest(&own, names.iter().map(String::as_str));
        let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        format!("{near} (saved here: {})", names.join(", "))
    }

    /// Adds a run; its number, from 1.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&self, run: &Saved) -> heddle_lab::Result<usize> {
        let number = self.read()?.len() + 1;
        let line = serde_json::to_string(run)
            .map_err(std::io::Error::from)
            .map_err(self.failed("cannot write"))?;
        let write = || {
            if let Some(directory) = self.path.parent() {
                std::fs::create_dir_all(directory)?;
            }
            let mut file = OpenOptions::new()
                .append(true)
                .create(true)
                .open(&self.path)?;
            file.write_all(format!("{line}\n").as_bytes())
        };
        write().map_err(self.failed("cannot write"))?;
        Ok(number)
    }

    fn failed(&self, what: &'static str) -> impl FnOnce(std::io::Error) -> Error {
        let what = format!("{what} {}", self.path.display());
        move |cause| Error::Io { what, cause }
    }
}
