//! Experiment files: what they may say (`docs/workloads.md`), and nothing else.

mod answer;
mod check;
mod claim;
mod like;
mod printed;
mod range;
mod read;
mod sweep;

pub use answer::Answer;
pub use claim::{
    Account, Claim, Form, Pair, Says, Settings, Single, Slope, SplitLines, TableCell, Trend,
};
pub use like::Nature;
pub use range::Range;
pub use sweep::Sweep;
pub(crate) use sweep::has;

use crate::error::{Error, Result};
use heddle_results::{Figure, Metric, Source, Values};
use read::Located;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use toml::Spanned;
use toml::de::{DeTable, Deserializer};

/// How the id of an experiment ends that is measured as it was before a change.
pub const BEFORE: &str = "@before";

/// Quick or full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// Fewer cells, samples of at most 100 ms.
    #[default]
    Quick,
    /// The whole sweep.
    Full,
}

impl Mode {
    /// `quick` or `full`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Quick => "quick",
            Self::Full => "full",
        }
    }
}

/// One experiment.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// Id, the same as the file's name.
    pub id: String,
    /// Title.
    pub title: String,
    /// Workload.
    pub workload: String,
    /// The question that it answers, in one sentence.
    #[serde(default, rename = "asks")]
    pub question: String,
    /// What people build who ask that: a heading that experiments share.
    #[serde(default, rename = "use")]
    pub usage: String,
    /// What kind of work it is.
    pub like: Option<Spanned<Nature>>,
    /// The suite that it belongs to; unset: what `heddle compare` runs when it is asked for nothing
    /// else.
    pub suite: Option<String>,
    /// Models that are drawn for comparison and cannot win.
    #[serde(default)]
    pub reference: Vec<String>,
    /// The model that a printed table sets the others against; unset: no table is printed.
    pub base: Option<String>,
    /// Metrics and counters that are columns of that table.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The swept parameter on the x axis.
    pub axis: Option<String>,
    /// What it reproduces.
    pub source: Option<Source>,
    /// What is compared.
    pub metric: Metric,
    quick: Spanned<Extent>,
    full: Option<Spanned<Extent>>,
    #[serde(rename = "program")]
    programs: Vec<Spanned<Program>>,
    /// Published numbers.
    #[serde(default, rename = "figure")]
    pub figures: Vec<Figure>,
    /// The rows that it has in the summary.
    #[serde(default, rename = "answer")]
    answers: Vec<Spanned<Answer>>,
    /// The claims, then the questions, then the goals.
    #[serde(skip)]
    claims: Vec<Located>,
    // What the file may have, and [`read::claims`] reads.
    #[serde(default, rename = "claims")]
    _shared: IgnoredAny,
    #[serde(default, rename = "quote")]
    _quotes: IgnoredAny,
    #[serde(default, rename = "claim")]
    _claims: IgnoredAny,
    #[serde(default, rename = "question")]
    _questions: IgnoredAny,
    #[serde(default, rename = "goal")]
    _goals: IgnoredAny,
    /// Where it was read from, absolute.
    #[serde(skip)]
    pub path: PathBuf,
}

/// How much is run in one mode.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extent {
    /// A sample that takes longer is hung, s.
    #[serde(default = "default_timeout")]
    pub timeout_s: f64,
    /// What a run of all its models takes, s, about, on two processors.
    pub expected_s: Option<f64>,
    /// Parameters that are the same at every point.
    #[serde(default)]
    pub params: Values,
    /// The points.
    #[serde(default)]
    pub sweep: Vec<Sweep>,
}

fn default_timeout() -> f64 {
    10.0
}

/// One executable.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    /// Command with placeholders.
    pub command: Vec<String>,
    /// The models that it can run.
    pub models: Vec<String>,
    /// Other executables without which it cannot run, with placeholders.
    #[serde(default)]
    pub needs: Vec<String>,
    /// What to print where the command, or something that it needs, doesn't exist.
    pub missing: Option<String>,
    /// Other fixed parameters in quick mode.
    #[serde(default)]
    pub quick: Values,
    /// Other fixed parameters in full mode.
    #[serde(default)]
    pub full: Values,
}

impl Experiment {
    /// Reads and checks a file.
    ///
    /// # Errors
    /// If it cannot be read, or says something that isn't valid: with file, line, and what would be
    /// valid.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(Error::io(format!("cannot read {}", path.display())))?;
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::parse(&text, &path)
    }

    /// Checks the text of a file; `path` is used in messages and for `{dir}`.
    ///
    /// # Errors
    /// Those of [`Self::read`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let wrong = |at: usize, message: String| Error::Experiment {
            path: path.to_owned(),
            line: line_at(text, at),
            message,
        };
        let wrong_toml = |error: toml::de::Error| {
            wrong(error.span().map_or(0, |span| span.start), one_line(&error))
        };
        let root = DeTable::parse(text).map_err(wrong_toml)?;
        let deserializer = Deserializer::from(root.clone());
        let mut experiment = Self::deserialize(deserializer).map_err(wrong_toml)?;
        experiment.claims = read::claims(root.get_ref(), text)
            .map_err(|error| wrong(error.span.start, error.message))?;
        experiment.path = path.to_owned();
        check::check(&experiment, text)?;
        Ok(experiment)
    }

    /// The same as it was before a change, to be measured beside the changed one: another name, and
    /// nothing that is said of it.
    #[must_use = "the experiment is changed"]
    pub fn before(self) -> Self {
        Self {
            id: self.id + BEFORE,
            title: self.title + ", before",
            usage: String::new(),
            like: None,
            answers: Vec::new(),
            claims: Vec::new(),
            ..self
        }
    }

    /// The directory of the file.
    pub fn dir(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new("."))
    }

    /// How much to run; without a `[full]` of its own, full is quick.
    pub fn extent(&self, mode: Mode) -> &Extent {
        match (mode, &self.full) {
            (Mode::Full, Some(full)) => full.get_ref(),
            _ => self.quick.get_ref(),
        }
    }

    /// The programs.
    pub fn programs(&self) -> impl Iterator<Item = &Program> {
        self.programs.iter().map(Spanned::get_ref)
    }

    /// The rows that it has in the summary.
    pub fn answers(&self) -> impl Iterator<Item = &Answer> {
        self.answers.iter().map(Spanned::get_ref)
    }

    /// Whether it answers one of the main questions: those that are asked where the user names no
    /// experiment.
    pub fn is_main(&self) -> bool {
        self.suite.is_none() && !self.answers.is_empty()
    }

    /// The claims, then the questions, then the goals.
    pub fn claims(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().map(|located| &located.claim)
    }

    /// All models, in the order of the file.
    pub fn models(&self) -> impl Iterator<Item = &str> {
        self.programs()
            .flat_map(|program| program.models.iter().map(String::as_str))
    }

    /// Whether a model is drawn for comparison only.
    pub fn is_reference(&self, model: &str) -> bool {
        self.reference.iter().any(|filter| filter == model)
    }

    /// The points of a mode's sweep, in the order written, none twice; a single empty point if
    /// nothing is swept.
    pub fn points(&self, mode: Mode) -> Vec<Values> {
        sweep::points(&self.extent(mode).sweep)
    }

    /// The swept parameters of a mode with every value that they take.
    pub fn swept(&self, mode: Mode) -> BTreeMap<String, Vec<heddle_results::Value>> {
        let mut swept: BTreeMap<String, Vec<heddle_results::Value>> = BTreeMap::new();
        for (name, value) in self.points(mode).into_iter().flatten() {
            let values = swept.entry(name).or_default();
            if !values.contains(&value) {
                values.push(value);
            }
        }
        swept
    }
}

impl Program {
    /// Fixed parameters of these models that differ from the mode's.
    pub fn params(&self, mode: Mode) -> &Values {
        match mode {
            Mode::Quick => &self.quick,
            Mode::Full => &self.full,
        }
    }
}

/// An error's message on one line.
fn one_line(error: &toml::de::Error) -> String {
    error.message().trim_end().replace('\n', "; ")
}

/// Line of a byte, from 1.
fn line_at(text: &str, byte: usize) -> usize {
    1 + text
        .bytes()
        .take(byte)
        .filter(|byte| *byte == b'\n')
        .count()
}
