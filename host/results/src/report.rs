use crate::{ClaimReport, Machine, Status, Surroundings, Values};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A median, or a ratio of medians, with its 95 % bootstrap interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The point estimate.
    pub value: f64,
    /// Lower end of the interval.
    pub low: f64,
    /// Upper end of the interval.
    pub high: f64,
}

/// A whole comparison.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// Heddle's version.
    pub version: String,
    /// The command line that made it.
    pub command: Vec<String>,
    /// `quick` or `full`.
    pub mode: String,
    /// Seed of the run: order of samples and resampling.
    pub seed: u64,
    /// When it began, ns since 1970.
    pub started_ns: u64,
    /// How long it took, ns.
    pub took_ns: u64,
    /// Where it ran.
    pub machine: Machine,
    /// Every distinct (compiler, flags) that a lab program printed.
    pub builds: Vec<BTreeMap<String, String>>,
    /// What a reader must know of the run as a whole: that it was interrupted, that it took fewer
    /// samples than usual.
    #[serde(default)]
    pub notes: Vec<String>,
    /// The share of the processors that other programs used meanwhile, where it was worth telling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
    /// What the machine was like meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub around: Option<Surroundings>,
    /// The experiments, in the order in which they were asked for.
    pub experiments: Vec<ExperimentReport>,
}

/// What a metric is.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Metric {
    /// Its name in the lab program's line.
    pub name: String,
    /// What a reader calls it.
    pub label: String,
    /// `ns`, `bytes`, `per_s` or any word.
    pub unit: String,
    /// Which way is better.
    #[serde(default)]
    pub better: Better,
}

impl Metric {
    /// `1.30 ns a switch` where the label is `time per switch`, else `1.30 MB (memory)`.
    pub fn reading(&self, value: f64) -> String {
        let value = crate::text::quantity(value, &self.unit);
        match self.each() {
            Some(each) => format!("{value} {each}"),
            None if self.label.is_empty() => value,
            None => format!("{value} ({})", self.label),
        }
    }

    /// `a switch` where the label is `time per switch`.
    pub fn each(&self) -> Option<String> {
        self.label.strip_prefix("time per ").map(with_article)
    }

    /// `a switch` of `processor time per switch`; a label that says no such thing itself.
    pub fn short(&self) -> String {
        match self.label.split_once(" per ") {
            Some((_, thing)) => with_article(thing),
            None => self.label.clone(),
        }
    }
}

fn with_article(thing: &str) -> String {
    let article = match thing.starts_with(['a', 'e', 'i', 'o', 'u']) {
        true => "an",
        false => "a",
    };
    format!("{article} {thing}")
}

/// Which way a metric is better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Smaller wins.
    #[default]
    Lower,
    /// Larger wins.
    Higher,
}

/// What an experiment reproduces.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// The document's title.
    #[serde(default)]
    pub document: String,
    /// Section, figure or table.
    #[serde(default)]
    pub place: String,
    /// The source's words.
    #[serde(default)]
    pub words: String,
}

/// A number printed in the source, drawn as a line.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Text beside the line.
    pub label: String,
    /// In the metric's unit.
    pub value: f64,
}

/// One experiment's findings.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct ExperimentReport {
    /// Id, the file's name.
    pub id: String,
    /// Title.
    pub title: String,
    /// The question in one sentence.
    pub question: String,
    /// Workload.
    pub workload: String,
    /// What people build who ask that: `a server with a slow back end`. Empty: nothing is said.
    #[serde(default, rename = "use", skip_serializing_if = "String::is_empty")]
    pub usage: String,
    /// What it reproduces.
    pub source: Option<Source>,
    /// What was compared.
    pub metric: Metric,
    /// The swept parameter on the x axis, if there is one.
    pub axis: Option<String>,
    /// How its table is printed, if one is.
    #[serde(default)]
    pub table: Option<Table>,
    /// The rows that it has in the summary; none: the summary derives some.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// One sentence for each group: who won, by how much, how sure.
    pub verdicts: Vec<String>,
    /// One group for each combination of the swept parameters other than the axis.
    pub groups: Vec<Group>,
    /// Published numbers to draw.
    pub figures: Vec<Figure>,
    /// The claims and their verdicts.
    pub claims: Vec<ClaimReport>,
    /// Models that did not run, and why.
    pub skipped: Vec<SkippedModel>,
    /// What went wrong: one sentence for the cells whose samples failed in the same way.
    pub troubles: Vec<String>,
    /// One command that repeats a sample of each model, ready for a shell.
    pub commands: BTreeMap<String, String>,
}

/// What a printed table shows beside the metric.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Table {
    /// The model that the others are set against.
    pub base: String,
    /// Metrics and counters.
    pub columns: Vec<String>,
}

/// A row of the summary: the place of the sweep that answers the experiment's question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// What the row is called.
    pub label: String,
    /// All swept parameters of the point at which it is read.
    pub at: Values,
    /// The counter or metric that explains it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Rows with a smaller number come first; those without one come last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<u32>,
}

/// A model that did not run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct SkippedModel {
    /// Model.
    pub model: String,
    /// Why, and what would mend it.
    pub reason: String,
}

/// The cells that share all swept parameters but the axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    /// Those parameters, for people: `opt=O0`; empty if there are none.
    pub label: String,
    /// Those parameters.
    pub at: Values,
    /// One series a model.
    pub series: Vec<Series>,
    /// The winners: one entry for each x (one entry, x = None, without an axis).
    pub winners: Vec<Winner>,
}

/// Who won at one point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Winner {
    /// Place on the axis.
    pub x: Option<f64>,
    /// What the work is like there, where the experiment says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub like: Option<Like>,
    /// The models that cannot be told apart at the front, the best median first; one entry: it won.
    pub models: Vec<String>,
    /// Runner-up over winner (how many times better the winner is, ≥ 1): the first model that
    /// differs from the best, if one does.
    pub lead: Option<Lead>,
    /// The models at the front but for the best: how many times better the best may be.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ties: Vec<Lead>,
    /// Every model that is significantly behind the best, the nearest first: how many times better
    /// the best is.
    #[serde(default)]
    pub behind: Vec<Lead>,
}

/// What strands wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WaitsOn {
    /// Devices, sockets, other machines.
    Io,
    /// Each other: locks, semaphores, messages.
    Locks,
    /// They compute.
    Nothing,
}

/// What the work is like at a place: what `heddle choose` compares by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Like {
    /// What strands wait for.
    pub waits_on: WaitsOn,
    /// How many are alive.
    pub alive: f64,
    /// Time between two waits of one, ns, as the best model has it, what the model costs included;
    /// none: the metric does not tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work_ns: Option<f64>,
}

/// How far the winner is ahead.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lead {
    /// The best of the models that are significantly behind.
    pub over: String,
    /// How many times better the best is.
    pub times: Estimate,
}

/// One model's cells in a group.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Series {
    /// Model.
    pub model: String,
    /// Drawn for comparison; cannot win.
    pub reference: bool,
    /// In order of x.
    pub cells: Vec<Cell>,
}

/// One (model, point).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Place on the axis.
    pub x: Option<f64>,
    /// All swept parameters.
    pub point: Values,
    /// The metric in each good sample, in the order taken.
    pub values: Vec<f64>,
    /// Median with its interval; none if no sample was good.
    pub median: Option<Estimate>,
    /// Median of every counter (the program's own and the kernel's).
    pub counters: BTreeMap<String, f64>,
    /// The parameters that are not swept.
    #[serde(default, skip_serializing_if = "Values::is_empty")]
    pub fixed: Values,
    /// Its median over that of the table's base at the same point.
    #[serde(default)]
    pub to_base: Option<Estimate>,
    /// Medians of the table's columns, in their order.
    #[serde(default)]
    pub columns: Vec<Option<f64>>,
    /// How the samples that were not good ended.
    pub failures: Vec<Status>,
    /// Where the time went in the sample that was recorded (`--trace`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traced: Option<crate::Traced>,
}
