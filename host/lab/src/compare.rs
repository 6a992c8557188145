//! A comparison from beginning to end.

use crate::error::Result;
use crate::experiment::Experiment;
use crate::judge;
use crate::run::{Load, Options, Plan, Runner, Watcher, interrupt, machine, plan};
use heddle_results::text::wait;
use heddle_results::{Report, Status};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Takes the samples and judges them.
///
/// Where claims are inconclusive after the first samples, their cells get as many more as would settle them, as
/// far as the time budget goes, and are judged once more. There is one such second look, not a series: an interval that
/// is looked at until it says something says it too often. A claim that the rest of the budget cannot settle gets none,
/// and says how many it would take.
///
/// # Errors
/// Those of the watcher, and if there is no place for the samples' files. What goes wrong with samples is in the report.
pub fn compare(
    experiments: &[Experiment],
    options: &Options,
    command: Vec<String>,
    watcher: &mut dyn Watcher,
) -> Result<Report> {
    let started = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let machine = Arc::new(machine());
    let mut runner = Runner::new(
        experiments,
        options,
        plan(experiments, options),
        Arc::clone(&machine),
    )?;
    let mut notes = Vec::new();
    let load = Load::now();
    if let Some(expected) = expected(experiments, options) {
        watcher.note(&format!(
            "about {} are expected, {} are the limit",
            wait(expected),
            wait(options.budget())
        ));
    }
    runner.warm_up();
    let targets = vec![options.first_samples(); runner.plan.cells.len()];
    runner.round(&targets, false, watcher)?;
    runner.plan.set_aside();
    let cells = runner.plan.cells.len();
    let mut first = affordable(&runner, options);
    if !interrupt::seen() && options.samples.is_none() {
        let rest = runner.round_takes() * (first - 1);
        watcher.note(&format!(
            "{cells} cells, {first} samples each: about {} in all",
            wait(runner.elapsed() + rest)
        ));
    }
    // The machine may get busier than it was in the first round.
    let targets = vec![first; cells];
    for taken in 2..=first {
        let late = runner.elapsed() + runner.round_takes() > options.budget();
        if options.samples.is_none() && late && taken > options.fewest_samples() {
            first = taken - 1;
            break;
        }
        if !runner.round(&targets, false, watcher)? {
            break;
        }
    }
    if first < options.first_samples() {
        notes.push(format!(
            "{first} samples a cell instead of {}, so that the run takes {} if it can (`--budget`).",
            options.first_samples(),
            wait(options.budget())
        ));
    }
    if options.samples.is_none() && !interrupt::seen() {
        notes.extend(second_look(
            &mut runner,
            experiments,
            options,
            first,
            watcher,
        )?);
    }
    notes.extend(load.and_then(|before| Load::now()?.note_since(before)));
    if interrupt::seen() {
        let taken: usize = runner
            .plan
            .cells
            .iter()
            .map(|cell| cell.samples.len())
            .sum();
        let planned = first as usize * runner.plan.cells.len();
        notes.insert(
            0,
            format!("Partial: interrupted after {taken} of at least {planned} samples."),
        );
    }
    let plan = &runner.plan;
    Ok(Report {
        version: env!("CARGO_PKG_VERSION").into(),
        command,
        mode: options.mode.name().into(),
        seed: options.seed,
        started_ns: u64::try_from(started.as_nanos()).unwrap_or(u64::MAX),
        took_ns: u64::try_from(runner.elapsed().as_nanos()).unwrap_or(u64::MAX),
        machine: (*machine).clone(),
        builds: builds(plan),
        notes,
        experiments: experiments
            .iter()
            .enumerate()
            .map(|(number, experiment)| {
                judge::report(number, experiment, plan, options.mode, options.seed)
            })
            .collect(),
    })
}

/// What the experiments say that they take, if all of them say it.
fn expected(experiments: &[Experiment], options: &Options) -> Option<Duration> {
    if options.samples.is_some() || !options.models.is_empty() {
        return None;
    }
    let seconds = experiments
        .iter()
        .map(|experiment| experiment.plan(options.mode).expected_s);
    seconds.sum::<Option<f64>>().map(Duration::from_secs_f64)
}

/// Samples a cell that fit into the time budget, after the first round; never fewer than an interval needs.
fn affordable(runner: &Runner, options: &Options) -> u32 {
    let left = options.budget().saturating_sub(runner.elapsed());
    let rounds = left.as_secs_f64() / runner.round_takes().as_secs_f64().max(1e-9);
    let samples = 1.0 + rounds.min(1e6);
    (samples as u32).clamp(options.fewest_samples(), options.first_samples())
}

/// Takes what inconclusive claims need; what to tell the reader.
fn second_look(
    runner: &mut Runner,
    experiments: &[Experiment],
    options: &Options,
    first: u32,
    watcher: &mut dyn Watcher,
) -> Result<Vec<String>> {
    let targets = second_targets(runner, experiments, options);
    let count = |runner: &Runner| {
        runner
            .plan
            .cells
            .iter()
            .map(|cell| cell.samples.len() as u32)
            .sum::<u32>()
    };
    let (before, wanted) = (count(runner), targets.iter().sum::<u32>());
    if wanted == before {
        return Ok(Vec::new());
    }
    watcher.note(&format!(
        "{} more samples for claims that are still inconclusive",
        wanted - before
    ));
    runner.rounds(&targets, true, watcher)?;
    let more = count(runner) - before;
    let ended = if before + more < wanted {
        format!(" of {}; the time budget ended", wanted - before)
    } else {
        String::new()
    };
    Ok(vec![format!(
        "Additional samples, for claims that the first {first} a cell left inconclusive: {more}{ended}."
    )])
}

/// How many samples each cell is to have for the second look: as the claims want them that the rest of the budget can
/// settle, the cheapest first.
fn second_targets(runner: &Runner, experiments: &[Experiment], options: &Options) -> Vec<u32> {
    let mut targets: Vec<u32> = runner
        .plan
        .cells
        .iter()
        .map(|cell| cell.samples.len() as u32)
        .collect();
    let rest = options.budget().saturating_sub(runner.elapsed());
    let with = |targets: &[u32], claim: &[(usize, u32)], times: u32| -> Vec<u32> {
        let mut more = targets.to_vec();
        for (cell, needed) in claim {
            more[*cell] = more[*cell].max(needed.saturating_mul(times));
        }
        more
    };
    let takes = |targets: &[u32]| runner.left(targets).unwrap_or(Duration::MAX);
    let mut open: Vec<Vec<(usize, u32)>> = (experiments.iter().enumerate())
        .flat_map(|(number, experiment)| {
            judge::claims(number, experiment, &runner.plan, options.mode, options.seed).wanted
        })
        .collect();
    open.sort_by_cached_key(|claim| takes(&with(&targets, claim, 1)));
    // How many are needed is an estimate: as many again make it likely that they do.
    for times in [1, 2] {
        for claim in &open {
            let more = with(&targets, claim, times);
            if takes(&more) <= rest {
                targets = more;
            }
        }
    }
    targets
}

/// Whether every model was skipped.
pub fn nothing_ran(report: &Report) -> bool {
    let mut groups = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.groups);
    groups.all(|group| group.series.iter().all(|series| series.cells.is_empty()))
}

/// Every distinct (compiler, flags), in order of appearance.
fn builds(plan: &Plan) -> Vec<BTreeMap<String, String>> {
    let mut builds: Vec<BTreeMap<String, String>> = Vec::new();
    for sample in plan.cells.iter().flat_map(|cell| &cell.samples) {
        if !sample.build.is_empty() && !builds.contains(&sample.build) {
            builds.push(sample.build.clone());
        }
    }
    builds
}

/// What a report means to the shell: 3 a wrong result, 1 a crash or garbage, or no program could be run at all, 0 else.
pub fn exit_code(report: &Report) -> u8 {
    if nothing_ran(report) {
        return 1;
    }
    let groups = report
        .experiments
        .iter()
        .flat_map(|experiment| &experiment.groups);
    let cells = groups
        .flat_map(|group| &group.series)
        .flat_map(|series| &series.cells);
    let code = |status: &Status| match status {
        Status::Wrong => 3,
        Status::Crashed | Status::Garbage => 1,
        Status::Ok | Status::Hung => 0,
    };
    cells
        .flat_map(|cell| &cell.failures)
        .map(code)
        .max()
        .unwrap_or(0)
}
