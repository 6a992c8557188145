use super::Options;
use crate::command::{self, Fill};
use crate::experiment::{Experiment, Program};
use crate::models::selects;
use heddle_results::{Sample, SkippedModel, Status, Values};
use std::collections::BTreeMap;
use std::time::Duration;

/// One (experiment, model, point) with the samples taken of it.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Number of the experiment.
    pub experiment: usize,
    /// Number of its program.
    pub(super) program: usize,
    /// Model.
    pub model: String,
    /// The swept parameters.
    pub point: Values,
    /// All parameters.
    pub params: Values,
    /// The samples, in the order taken.
    pub samples: Vec<Sample>,
    /// How long they took, starting and collecting included.
    pub(super) spent: Duration,
    /// Why the program says that it cannot run here, if it does.
    pub(super) cannot_run: Option<String>,
}

/// All cells, and the models that cannot run, by experiment.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The cells.
    pub cells: Vec<Cell>,
    /// For each experiment, the models left out with the reason.
    pub skipped: Vec<Vec<SkippedModel>>,
    /// For each experiment, a command for each model that repeats a sample at its first point.
    pub commands: Vec<BTreeMap<String, String>>,
}

impl Plan {
    /// After the first round: the cells whose program cannot run here become skipped models. Changes the cells' numbers.
    pub fn set_aside(&mut self) {
        let of = |cell: &Cell| (cell.experiment, cell.model.clone());
        let mut all: BTreeMap<(usize, String), usize> = BTreeMap::new();
        for cell in &self.cells {
            *all.entry(of(cell)).or_default() += 1;
        }
        let (unable, able) = std::mem::take(&mut self.cells)
            .into_iter()
            .partition(|cell| cell.cannot_run.is_some());
        self.cells = able;
        let mut reasons: BTreeMap<(usize, String), (usize, String)> = BTreeMap::new();
        let unable: Vec<Cell> = unable;
        for cell in unable {
            let reason = reasons.entry(of(&cell)).or_default();
            reason.0 += 1;
            reason.1 = cell.cannot_run.unwrap_or_default();
        }
        for ((experiment, model), (count, reason)) in reasons {
            let total = all.get(&(experiment, model.clone())).copied();
            let reason = format!("{reason}{}", partly(count, total.unwrap_or(count)));
            self.skipped[experiment].push(SkippedModel { model, reason });
        }
    }
}

/// ` (at 2 of 5 points)`, or nothing where it is all of them.
fn partly(missing: usize, count: usize) -> String {
    if missing < count {
        format!(" (at {missing} of {count} points)")
    } else {
        String::new()
    }
}

impl Cell {
    /// The values of a metric, or of a counter, in the good samples.
    pub fn values(&self, metric: &str) -> Vec<f64> {
        let good = self
            .samples
            .iter()
            .filter(|sample| sample.status == Status::Ok);
        let value = |sample: &Sample| {
            let found = sample.metrics.get(metric);
            found.or_else(|| sample.counters.get(metric)).copied()
        };
        good.filter_map(value).collect()
    }

    /// How the samples that were not good ended.
    pub fn failures(&self) -> Vec<Status> {
        self.samples
            .iter()
            .map(|sample| sample.status)
            .filter(|status| *status != Status::Ok)
            .collect()
    }

    /// Whether no more samples are taken: what hung twice or failed three times will do so again, and a hang costs the
    /// whole time limit.
    pub fn given_up(&self) -> bool {
        let failures = self.failures();
        failures
            .iter()
            .filter(|status| **status == Status::Hung)
            .count()
            >= 2
            || failures.len() >= 3
    }

    /// The command of its next sample.
    pub(super) fn command(
        &self,
        experiment: &Experiment,
        program: &Program,
        options: &Options,
    ) -> Vec<String> {
        command::fill(program, &self.filling(experiment, options))
    }

    /// The first executable that is missing: the command's own, or one that it needs.
    fn absent(
        &self,
        experiment: &Experiment,
        program: &Program,
        options: &Options,
    ) -> Option<String> {
        let words = self.command(experiment, program, options);
        let filling = self.filling(experiment, options);
        let needs = program
            .needs
            .iter()
            .map(|word| command::executable(&command::fill_word(word, &filling), &filling));
        words
            .into_iter()
            .take(1)
            .chain(needs)
            .find_map(|word| command::locate(&word).err())
    }

    fn filling<'a>(&'a self, experiment: &'a Experiment, options: &'a Options) -> Fill<'a> {
        Fill {
            model: &self.model,
            params: &self.params,
            sample: self.samples.len() as u32,
            seed: options.seed,
            lab: &options.lab,
            dir: experiment.dir(),
        }
    }
}

/// Lays out every cell that can run.
pub fn plan(experiments: &[Experiment], options: &Options) -> Plan {
    let mut plan = Plan::default();
    for (number, experiment) in experiments.iter().enumerate() {
        let mut skipped = Vec::new();
        let mut commands = BTreeMap::new();
        for (program_number, program) in experiment.programs().enumerate() {
            for model in &program.models {
                if !options.models.is_empty()
                    && !options.models.iter().any(|filter| selects(filter, model))
                {
                    skipped.push(SkippedModel {
                        model: model.clone(),
                        reason: "left out by --model".into(),
                    });
                    continue;
                }
                let points = experiment.points(options.mode);
                let count = points.len();
                let mut missing = Vec::new();
                for point in points {
                    let mut params = experiment.plan(options.mode).params.clone();
                    params.extend(program.params(options.mode).clone());
                    params.extend(point.clone());
                    let (model, samples, spent) = (model.clone(), Vec::new(), Duration::ZERO);
                    let cell = Cell {
                        experiment: number,
                        program: program_number,
                        model,
                        point,
                        params,
                        samples,
                        spent,
                        cannot_run: None,
                    };
                    match cell.absent(experiment, program, options) {
                        None => {
                            commands.entry(cell.model.clone()).or_insert_with(|| {
                                command::quote(&cell.command(experiment, program, options))
                            });
                            plan.cells.push(cell);
                        }
                        Some(absent) => missing.push(absent),
                    }
                }
                if let Some(absent) = missing.first() {
                    let partly = partly(missing.len(), count);
                    let ours = program
                        .command
                        .first()
                        .is_some_and(|word| word.starts_with("{lab}/"));
                    let reason = match &program.missing {
                        Some(why) => format!("{why} ({absent}){partly}"),
                        None if ours => {
                            format!(
                                "{absent}{partly}: build it with `./dev build` or `./dev compare`"
                            )
                        }
                        None => format!("{absent}{partly}"),
                    };
                    skipped.push(SkippedModel {
                        model: model.clone(),
                        reason,
                    });
                }
            }
        }
        plan.skipped.push(skipped);
        plan.commands.push(commands);
    }
    plan
}
