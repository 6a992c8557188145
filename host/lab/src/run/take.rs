use super::around::Before;
use super::line;
use super::plan::Cell;
use super::process::{self, End};
use super::{Options, Plan};
use crate::experiment::Experiment;
use heddle_results::{Machine, ProcessUsage, Sample, Status};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The exit code of a program that lacks something here; that of a skipped test in Automake.
const CANNOT_RUN: i32 = 77;

/// What became of a sample.
pub(super) enum Taken {
    /// It was taken, and took so long, starting and collecting included.
    Sample(Box<Sample>, Duration),
    /// Not taken: the program cannot run here, and says why.
    CannotRun(String),
    /// Not taken: the user interrupted it.
    Interrupted,
}

/// Takes one sample of a cell, which may leave files in `scratch`.
pub(super) fn take(
    plan: &Plan,
    cell: usize,
    order: u32,
    experiments: &[Experiment],
    options: &Options,
    machine: &Arc<Machine>,
    scratch: &Path,
) -> Taken {
    let began = Instant::now();
    let cell: &Cell = &plan.cells[cell];
    let experiment = &experiments[cell.experiment];
    let Some(program) = experiment.programs().nth(cell.program) else {
        return Taken::CannotRun("the experiment has no such program".into());
    };
    let command = cell.command(experiment, program, options);
    let number = cell.samples.len() as u32;
    let limit = options.timeout.unwrap_or(Duration::from_secs_f64(
        experiment.extent(options.mode).timeout_s.min(1e9),
    ));
    let variables = [
        ("HEDDLE_SCRATCH", scratch.to_string_lossy().into_owned()),
        ("HEDDLE_EXPERIMENT", experiment.id.clone()),
        ("HEDDLE_SAMPLE", number.to_string()),
        ("HEDDLE_SEED", options.seed.to_string()),
    ];
    let mut sample = Sample {
        experiment: experiment.id.clone(),
        workload: experiment.workload.clone(),
        model: cell.model.clone(),
        point: cell.point.clone(),
        params: cell.params.clone(),
        sample: number,
        order,
        seed: options.seed,
        started_ns: 0,
        status: Status::Crashed,
        detail: None,
        checked: None,
        ran: None,
        result: None,
        command,
        metrics: BTreeMap::new(),
        counters: BTreeMap::new(),
        process: ProcessUsage::default(),
        around: None,
        traced: None,
        build: BTreeMap::new(),
        machine: Arc::clone(machine),
    };
    let before = Before::now();
    sample.started_ns = super::now_ns();
    let finished = process::run(&sample.command, experiment.dir(), &variables, limit);
    sample.around = Some(before.after());
    match finished {
        Ok(finished) if finished.end == End::Interrupted => return Taken::Interrupted,
        // Only at first: what ran once can run.
        Ok(finished) if finished.end == End::Exit(CANNOT_RUN) && number == 0 => {
            return Taken::CannotRun(line::reason(&finished));
        }
        Ok(finished) => {
            let outcome = line::read(&finished, &sample.model, &experiment.metric.name);
            sample.status = outcome.status;
            sample.detail = outcome.detail;
            sample.checked = outcome.checked;
            sample.ran = outcome.ran;
            sample.result = outcome.result;
            sample.metrics = outcome.metrics;
            sample.counters = outcome.counters;
            sample.build = outcome.build;
            sample.process = finished.usage;
        }
        Err(error) => sample.detail = Some(format!("it could not be run: {error}")),
    }
    Taken::Sample(Box::new(sample), began.elapsed())
}
