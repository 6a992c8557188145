use super::{Options, Share};
use crate::command::{self, Fill};
use crate::experiment::{Experiment, Mode, Program};
use heddle_results::{ExperimentReport, Report, Sample, SkippedModel, Status, Traced, Values};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
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
    /// After the first round: the cells whose program cannot run here become skipped models.
    /// Changes the cells' numbers.
    pub fn set_aside(&mut self) {
        let model_of = |cell: &Cell| (cell.experiment, cell.model.clone());
        let mut all: BTreeMap<(usize, String), usize> = BTreeMap::new();
        for cell in &self.cells {
            *all.entry(model_of(cell)).or_default() += 1;
        }
        let (unable, able) = std::mem::take(&mut self.cells)
            .into_iter()
            .partition(|cell| cell.cannot_run.is_some());
        self.cells = able;
        let mut reasons: BTreeMap<(usize, String), (usize, String)> = BTreeMap::new();
        let unable: Vec<Cell> = unable;
        for cell in unable {
            let reason = reasons.entry(model_of(&cell)).or_default();
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
pub(crate) fn partly(missing: usize, count: usize) -> String {
    if missing < count {
        format!(" (at {missing} of {count} points)")
    } else {
        String::new()
    }
}

/// A reason without what [`partly`] has added to it.
pub(crate) fn without_part(reason: &str) -> String {
    let begin = " (at ";
    let added = |at: usize| {
        let (missing, rest) = reason[at + begin.len()..].split_once(" of ")?;
        let (count, _) = rest.split_once(" points)")?;
        Some(partly(missing.parse().ok()?, count.parse().ok()?))
    };
    for (at, _) in reason.match_indices(begin) {
        if let Some(part) = added(at).filter(|part| !part.is_empty()) {
            return reason.replacen(&part, "", 1);
        }
    }
    reason.to_owned()
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

    /// The name of the code that its good samples ran: the model's, unless the program says that
    /// it fell back to another's.
    pub fn ran(&self) -> &str {
        let mut good = self
            .samples
            .iter()
            .filter(|sample| sample.status == Status::Ok);
        let said = good.find_map(|sample| sample.ran.as_deref());
        said.unwrap_or(&self.model)
    }

    /// What was recorded of it.
    pub fn traced(&self) -> Option<&Traced> {
        self.samples
            .iter()
            .find_map(|sample| sample.traced.as_ref())
    }

    /// How the samples that were not good ended.
    pub fn failures(&self) -> Vec<Status> {
        self.samples
            .iter()
            .map(|sample| sample.status)
            .filter(|status| *status != Status::Ok)
            .collect()
    }

    /// Whether no more samples are taken: what hung twice or failed three times will do so again,
    /// and a hang costs the whole time limit.
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

    /// The command of its smallest sample: the place in the sweep is its own, all else as in quick.
    pub(super) fn reduced_command(
        &self,
        experiment: &Experiment,
        program: &Program,
        options: &Options,
    ) -> Vec<String> {
        let point = &self.point;
        let params = params(experiment, program, Mode::Quick, point);
        let filling = Fill {
            params: &params,
            sample: 0,
            ..self.filling(experiment, options)
        };
        command::fill(program, &filling)
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

/// The files in the directory of Heddle's own lab programs that the experiments use, built or not,
/// seen from there.
pub fn lab_files(experiments: &[Experiment], options: &Options) -> BTreeSet<String> {
    let (mut files, share) = (BTreeSet::new(), Share::new(experiments, options));
    for (number, experiment) in experiments.iter().enumerate() {
        for (program_number, program) in experiment.programs().enumerate() {
            for cell in cells(
                (number, experiment),
                (program_number, program),
                options,
                &share,
            ) {
                let filling = cell.filling(experiment, options);
                let words = cell.command(experiment, program, options);
                let needs = program.needs.iter();
                let needs = needs.map(|word| command::fill_word(word, &filling));
                let own = words.into_iter().chain(needs).filter_map(|word| {
                    let path = Path::new(&word).strip_prefix(&options.lab).ok()?;
                    Some(path.to_string_lossy().into_owned())
                });
                files.extend(own);
            }
        }
    }
    files
}

/// The cells of one program's models at the places of a share, without those that the user has left
/// out.
fn cells<'a>(
    (number, experiment): (usize, &'a Experiment),
    (program_number, program): (usize, &'a Program),
    options: &'a Options,
    share: &Share,
) -> impl Iterator<Item = Cell> + 'a {
    let wanted = |model: &&String| options.wants(model);
    let mut points = experiment.points(options.mode);
    let mut place = 0..;
    points.retain(|_| place.next().is_some_and(|place| share.has(number, place)));
    program.models.iter().filter(wanted).flat_map(move |model| {
        let cell = |point: &Values| Cell {
            experiment: number,
            program: program_number,
            model: model.clone(),
            point: point.clone(),
            params: params(experiment, program, options.mode, point),
            samples: Vec::new(),
            spent: Duration::ZERO,
            cannot_run: None,
        };
        points.iter().map(cell).collect::<Vec<_>>()
    })
}

/// All parameters at a point.
fn params(experiment: &Experiment, program: &Program, mode: Mode, point: &Values) -> Values {
    let mut params = experiment.extent(mode).params.clone();
    params.extend(program.params(mode).clone());
    params.extend(point.clone());
    params
}

/// Lays out every cell of a run, whether it can run here or not.
pub(crate) fn all_cells(experiments: &[Experiment], options: &Options) -> Vec<Cell> {
    let share = Share::new(experiments, options);
    let of_experiment = |(number, experiment)| {
        let programs = Experiment::programs(experiment).enumerate();
        let of_program = |program| cells((number, experiment), program, options, &share);
        programs.flat_map(of_program).collect::<Vec<_>>()
    };
    experiments
        .iter()
        .enumerate()
        .flat_map(of_experiment)
        .collect()
}

/// Lays out every cell that can run.
pub fn plan(experiments: &[Experiment], options: &Options) -> Plan {
    let (mut plan, share) = (Plan::default(), Share::new(experiments, options));
    for (number, experiment) in experiments.iter().enumerate() {
        let mut skipped = Vec::new();
        let mut commands = BTreeMap::new();
        for (program_number, program) in experiment.programs().enumerate() {
            let left_out = program.models.iter().filter(|model| !options.wants(model));
            skipped.extend(left_out.map(|model| SkippedModel {
                model: model.clone(),
                reason: "left out by --model".into(),
            }));
            // How many points a model has, and what is missing first at how many of them.
            let mut missing: BTreeMap<String, (usize, usize, String)> = BTreeMap::new();
            for cell in cells(
                (number, experiment),
                (program_number, program),
                options,
                &share,
            ) {
                let of_model = missing.entry(cell.model.clone()).or_default();
                of_model.0 += 1;
                match cell.absent(experiment, program, options) {
                    None => {
                        commands.entry(cell.model.clone()).or_insert_with(|| {
                            command::quote(&cell.command(experiment, program, options))
                        });
                        plan.cells.push(cell);
                    }
                    Some(absent) => {
                        if of_model.1 == 0 {
                            of_model.2 = absent;
                        }
                        of_model.1 += 1;
                    }
                }
            }
            for model in program.models.iter() {
                if let Some((points, lacking @ 1.., absent)) = missing.remove(model) {
                    let reason = why_missing(
                        &as_word(experiment, &options.lab),
                        program,
                        &absent,
                        &partly(lacking, points),
                    );
                    let model = model.clone();
                    skipped.push(SkippedModel { model, reason });
                }
            }
        }
        plan.skipped.push(skipped);
        plan.commands.push(commands);
    }
    plan
}

/// How a reason ends that names the command which builds the executable.
const BUILDS: &str = " builds it";

/// The experiments some of whose programs a clone can build, and has not built.
pub fn unbuilt(report: &Report) -> Vec<&str> {
    let lacks = |experiment: &&ExperimentReport| {
        let mut skipped = experiment.skipped.iter();
        skipped.any(|skipped| skipped.reason.ends_with(BUILDS))
    };
    let lacking = report.experiments.iter().filter(lacks);
    lacking.map(|experiment| experiment.id.as_str()).collect()
}

/// An experiment on a command line: its id if it is of the lab, else its file.
fn as_word(experiment: &Experiment, lab: &Path) -> String {
    if experiment.path.starts_with(lab) {
        return experiment.id.clone();
    }
    let path = experiment.path.to_string_lossy();
    command::quote(&[command::from_here(&path).to_owned()])
}

/// What to say of a model whose executable is missing, and what to do about it.
fn why_missing(word: &str, program: &Program, absent: &str, partly: &str) -> String {
    let first = program.command.first();
    match &program.missing {
        Some(why) => format!("{why} ({absent}){partly}"),
        None if first.is_some_and(|word| word.starts_with("{lab}/")) => {
            format!("{absent}{partly}: `./dev compare {word}`{BUILDS}")
        }
        None => format!("{absent}{partly}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_of_points_can_be_taken_back() {
        for reason in [
            "no ring (in /lib)",
            "a (at 3 of 2 points) b",
            "at (at once)",
        ] {
            for (head, tail) in [(reason, ""), (reason, ": build it with `./dev build`")] {
                let said = format!("{head}{}{tail}", partly(1, 12));
                assert_eq!(without_part(&said), format!("{head}{tail}"));
                let whole = format!("{head}{}{tail}", partly(12, 12));
                assert_eq!(without_part(&whole), whole);
            }
        }
    }
}
