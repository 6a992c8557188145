//! `--trace`: after all samples, one of each cell is recorded, by `heddle record --sched --alloc`,
//! to say where the time of its threads went. The samples that are compared are never recorded.

use super::line;
use super::plan::Cell;
use super::process::{self, End, Finished};
use super::rounds::{Runner, Watcher};
use super::{Options, interrupt};
use crate::error::Result;
use crate::experiment::Experiment;
use heddle_results::{Status, ThreadTime, Traced};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How samples are recorded.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tracing {
    /// The command that records and reports.
    pub heddle: PathBuf,
    /// What a switch costs on this machine by model, ns; a thread's are those of the kernel.
    pub switch_ns: BTreeMap<String, f64>,
}

/// The most that a recorded run may take, and that reading its trace may.
const LONGEST: Duration = Duration::from_secs(20);
/// Bytes of a trace beyond which recording is given up.
const LARGEST: u64 = 512 << 20;
/// Metrics that programs of the lab have beside those of their own.
const PROCESSOR_TIME: &str = "cpu_ns";
const WALL: &str = "wall_ns";
/// The counter of hand-overs that a model's own code makes.
const STRAND_SWITCHES: &str = "strand_switches";

/// Records a sample of each cell that has a good one: first where experiments are read, then the
/// others, in half the time that the run may take. What to tell the reader, if it was asked for.
///
/// # Errors
/// Those of the watcher. What goes wrong with a recording is in its cell.
pub fn trace(
    runner: &mut Runner,
    options: &Options,
    watcher: &mut dyn Watcher,
) -> Result<Option<String>> {
    let Some(tracing) = &options.trace else {
        return Ok(None);
    };
    let began = Instant::now();
    let mut open = order(runner);
    let all = open.len();
    watcher.note(&format!("recording a sample of each of {all} cells"));
    open.reverse();
    let mut taken = false;
    while let Some(cell) = open.pop() {
        if interrupt::seen() || began.elapsed() > options.budget / 2 {
            open.push(cell);
            break;
        }
        let traced = record(runner, cell, tracing);
        runner.scratch.empty();
        if let Some(first) = runner.plan.cells[cell].samples.first_mut() {
            first.traced = traced;
            taken = true;
        }
    }
    if taken {
        runner.revise(watcher)?;
    }
    Ok(Some(said(runner, all)))
}

/// `12 of 14 cells recorded; 1 could not be, 1 did not fit into the time budget`.
fn said(runner: &Runner, all: usize) -> String {
    let traced = || runner.plan.cells.iter().filter_map(Cell::traced);
    let failed = traced().filter(|traced| traced.failed.is_some());
    let why = failed.clone().find_map(|traced| traced.failed.clone());
    let (failed, done) = (failed.count(), traced().count());
    let there = runner
        .plan
        .cells
        .iter()
        .filter(|cell| is_good(cell))
        .count();
    let there = there.max(all);
    let mut text = format!("Recorded: a sample of {} of {there} cells", done - failed);
    if let (1.., Some(why)) = (failed, why) {
        text += &format!("; {failed} could not be: {why}");
    }
    if there > done {
        text += &format!("; for {} there was no time (`--budget`)", there - done);
    }
    text + "."
}

fn is_good(cell: &Cell) -> bool {
    let mut samples = cell.samples.iter();
    samples.any(|sample| sample.status == Status::Ok)
}

/// The cells to be recorded, in this order.
fn order(runner: &Runner) -> Vec<usize> {
    let cells = &runner.plan.cells;
    let wanted = |cell: &usize| is_good(&cells[*cell]) && cells[*cell].traced().is_none();
    let mut order: Vec<usize> = (0..cells.len()).filter(wanted).collect();
    order.sort_by_key(|cell| {
        let cell = &cells[*cell];
        let experiment = &runner.experiments[cell.experiment];
        let mode = runner.options.mode;
        let mut answers = experiment.answers();
        !answers.any(|answer| answer.point(experiment, mode).as_ref() == Some(&cell.point))
    });
    order
}

/// Runs the cell's program without the recorder, with it, and without it again; none: interrupted.
fn record(runner: &Runner, cell: usize, tracing: &Tracing) -> Option<Traced> {
    let (options, cell) = (runner.options, &runner.plan.cells[cell]);
    let experiment = &runner.experiments[cell.experiment];
    let program = experiment.programs().nth(cell.program)?;
    let place = runner.scratch.path();
    let run = One {
        experiment,
        cell,
        options,
        place: &place,
    };
    let plain = cell.reduced_command(experiment, program, options);
    let trace = place.join("recorded.trace");
    let command = recording(tracing, &trace, &plain);
    let mut traced = Traced {
        command: command.clone(),
        ..Traced::default()
    };
    match run.all(&plain, &command, &trace, tracing, &mut traced) {
        Ok(()) => {}
        Err(Ended::Interrupted) => return None,
        Err(Ended::Failed(why)) => traced.failed = Some(why),
    }
    Some(traced)
}

/// Only the outermost calls of programs that have hooks: what functions do is not asked.
fn recording(tracing: &Tracing, trace: &Path, plain: &[String]) -> Vec<String> {
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let own = ["record", "--sched", "--alloc", "--depth", "1", "-o"].map(String::from);
    let mut command = vec![text(&tracing.heddle)];
    command.extend(own);
    command.extend([text(trace), "--".to_owned()]);
    command.extend_from_slice(plain);
    command
}

enum Ended {
    Failed(String),
    Interrupted,
}

struct One<'a> {
    experiment: &'a Experiment,
    cell: &'a Cell,
    options: &'a Options,
    place: &'a Path,
}

impl One<'_> {
    fn all(
        &self,
        plain: &[String],
        command: &[String],
        trace: &Path,
        tracing: &Tracing,
        traced: &mut Traced,
    ) -> std::result::Result<(), Ended> {
        let before = self.sample(plain, None)?;
        let recorded = self.sample(command, Some(trace))?;
        let after = self.sample(plain, None)?;
        (traced.cost, traced.cost_by) = self.cost(&before, &recorded, &after);
        let time = self.time(tracing, trace)?;
        traced.switching_ns = switching(tracing, &self.cell.model, &time, strands(&recorded));
        traced.time = Some(time);
        traced.told = traced.told();
        Ok(())
    }

    fn run(
        &self,
        words: &[String],
        growing: Option<&Path>,
    ) -> std::result::Result<Finished, Ended> {
        let mut variables = vec![
            ("HEDDLE_SCRATCH", self.place.to_string_lossy().into_owned()),
            ("HEDDLE_EXPERIMENT", self.experiment.id.clone()),
            ("HEDDLE_SAMPLE", "0".to_owned()),
            ("HEDDLE_SEED", self.options.seed.to_string()),
        ];
        let library = std::env::var("HEDDLE_LIB").ok();
        variables.extend(library.map(|library| ("HEDDLE_LIB", library)));
        let limit = self.options.timeout.unwrap_or(LONGEST).min(LONGEST);
        let full = growing.map(|path| (path, LARGEST));
        let finished = process::run_within(words, self.experiment.dir(), &variables, limit, full);
        let finished =
            finished.map_err(|error| Ended::Failed(format!("it could not be run: {error}")))?;
        match finished.end {
            End::Interrupted => Err(Ended::Interrupted),
            End::TooLarge => Err(Ended::Failed(format!(
                "its trace grew beyond {} MiB",
                LARGEST >> 20
            ))),
            _ => Ok(finished),
        }
    }

    /// A run that must be a good sample.
    fn sample(
        &self,
        words: &[String],
        growing: Option<&Path>,
    ) -> std::result::Result<(Finished, line::Outcome), Ended> {
        let finished = self.run(words, growing)?;
        // The recorder's own failures, which `heddle record` says on standard error.
        if growing.is_some() && matches!(finished.end, End::Exit(125..=127)) {
            return Err(Ended::Failed(line::reason(&finished)));
        }
        let outcome = line::read(&finished, &self.cell.model, &self.experiment.metric.name);
        match outcome.status {
            Status::Ok => Ok((finished, outcome)),
            _ => Err(Ended::Failed(
                outcome.detail.unwrap_or_else(|| "it failed".into()),
            )),
        }
    }

    /// How many times as long as the mean of the runs without the recorder, and by which metric:
    /// processor time where there is one, because other programs change it least.
    fn cost(&self, before: &Sampled, recorded: &Sampled, after: &Sampled) -> (Option<f64>, String) {
        let metric = &self.experiment.metric;
        let own = (metric.unit == "ns").then_some(metric.name.as_str());
        for name in [PROCESSOR_TIME].into_iter().chain(own).chain([WALL]) {
            let value = |sampled: &Sampled| sampled.1.metrics.get(name).copied();
            if let (Some(before), Some(with), Some(after)) =
                (value(before), value(recorded), value(after))
                && before + after > 0.0
            {
                return (Some(2.0 * with / (before + after)), name.to_owned());
            }
        }
        (None, String::new())
    }

    fn time(&self, tracing: &Tracing, trace: &Path) -> std::result::Result<ThreadTime, Ended> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let own = ["report", "--by", "time", "--format", "json"].map(String::from);
        let mut words = vec![text(&tracing.heddle)];
        words.extend(own);
        words.push(text(trace));
        let finished = self.run(&words, None)?;
        if finished.end != End::Exit(0) {
            let why = line::reason(&finished);
            return Err(Ended::Failed(format!("its trace cannot be read: {why}")));
        }
        let time: ThreadTime = serde_json::from_slice(&finished.stdout)
            .map_err(|error| Ended::Failed(format!("its trace cannot be read: {error}")))?;
        match time.total_ns {
            0 => Err(Ended::Failed(
                "no time of a thread is in its trace".to_owned(),
            )),
            _ => Ok(time),
        }
    }
}

type Sampled = (Finished, line::Outcome);

/// How many hand-overs the program has counted.
fn strands(recorded: &Sampled) -> Option<f64> {
    recorded.1.counters.get(STRAND_SWITCHES).copied()
}

/// The estimated cost of all switches, the kernel's and those of the model's own code. None where
/// the number of some kind of switch is not known, or where some were made whose cost is not.
fn switching(
    tracing: &Tracing,
    model: &str,
    time: &ThreadTime,
    strands: Option<f64>,
) -> Option<f64> {
    let cost = |model: &str| tracing.switch_ns.get(model).copied();
    let of = |count: f64, model: &str| match count > 0.0 {
        true => Some(count * cost(model)?),
        false => Some(0.0),
    };
    let strands = match model.split('/').next() {
        // Hand-overs that threads count are the kernel's switches.
        Some("thread" | "process" | "serial") => 0.0,
        _ => strands?,
    };
    Some(of(time.kernel_switches as f64, "thread")? + of(strands, model)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_switches_cost_is_said_where_all_that_were_made_have_a_known_cost() {
        let costs = [("thread", 1000.0), ("cooperative/asm", 10.0)];
        let tracing = Tracing {
            heddle: "heddle".into(),
            switch_ns: costs.map(|(model, ns)| (model.to_owned(), ns)).into(),
        };
        let of = |kernel_switches, model, strands| {
            let time = ThreadTime {
                kernel_switches,
                ..ThreadTime::default()
            };
            switching(&tracing, model, &time, strands)
        };
        assert_eq!(of(3, "thread", Some(99.0)), Some(3000.0));
        assert_eq!(of(3, "cooperative/asm", Some(5.0)), Some(3050.0));
        assert_eq!(of(0, "stackless", Some(0.0)), Some(0.0));
        assert_eq!(of(0, "stackless", Some(1.0)), None);
        assert_eq!(of(0, "cooperative/asm", None), None);
        let none = Tracing::default();
        let time = ThreadTime {
            kernel_switches: 1,
            ..ThreadTime::default()
        };
        assert_eq!(switching(&none, "thread", &time, None), None);
    }
}
