//! A comparison from beginning to end.

use crate::error::Result;
use crate::experiment::Experiment;
use crate::judge;
use crate::run::{
    Cell, Earlier, Load, Options, Plan, Runner, SecondLook, Share, Watcher, busy_note, interrupt,
    machine, now_ns, plan, trace,
};
use heddle_results::text::wait;
use heddle_results::{ExperimentReport, Report, Status, Surroundings, Values};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Takes the samples and judges them.
///
/// Where claims are inconclusive after the first samples, their cells get as many more as would
/// settle them, as far as the time budget goes, and are judged once more. There is one such second
/// look, not a series: an interval that is looked at until it says something says it too often. A
/// claim that the rest of the budget cannot settle gets none, and says how many it would take.
///
/// `earlier` is what an interrupted run has left: it goes on in the same rounds, in the order that
/// the seed gives them.
///
/// # Errors
/// Those of the watcher, and if there is no place for the samples' files. What goes wrong with
/// samples is in the report.
pub fn compare(
    experiments: &[Experiment],
    options: &Options,
    command: Vec<String>,
    earlier: &Earlier,
    watcher: &mut dyn Watcher,
) -> Result<Report> {
    let started_ns = earlier.started_ns.unwrap_or_else(now_ns);
    let machine = Arc::new(machine());
    let mut runner = Runner::new(
        experiments,
        options,
        plan(experiments, options),
        Arc::clone(&machine),
        earlier,
    )?;
    let share = Share::new(experiments, options);
    let mut notes = earlier.notes.clone();
    notes.extend(part_note(options, &share));
    let load = Load::now();
    runner.warm_up();
    let first = first_samples(&mut runner, options, watcher)?;
    if first < options.first_samples() {
        notes.push(format!(
            "{first} samples a cell instead of {}, to end within {} (`--budget`).",
            options.first_samples(),
            wait(options.budget)
        ));
    }
    // What a claim needs is known where all of its cells are.
    let may_look = options.samples.is_none() && options.shard.is_none();
    if may_look && !interrupt::seen() {
        notes.extend(second_look(
            &mut runner,
            experiments,
            options,
            first,
            watcher,
        )?);
    }
    notes.extend(trace(&mut runner, options, watcher)?);
    let busy = load.and_then(|before| Load::now()?.share_since(before));
    notes.extend(busy.map(busy_note));
    if interrupt::seen() {
        let taken = taken(&runner);
        let planned = u64::from(first) * runner.plan.cells.len() as u64;
        notes.insert(
            0,
            format!("Partial: interrupted after {taken} of at least {planned} samples."),
        );
    }
    // The last round may have ended with the time budget. After an interruption a resumed run has
    // the rest of the round, and so perhaps a majority.
    if !interrupt::seen() {
        runner.compare_results(watcher)?;
    }
    runner.note_down(watcher)?;
    let plan = &runner.plan;
    let mut reports = judged(experiments, plan, options);
    if options.shard.is_some() {
        leave_part(&mut reports, experiments, options, &share);
    }
    Ok(Report {
        version: env!("CARGO_PKG_VERSION").into(),
        command,
        mode: options.mode.name().into(),
        seed: options.seed,
        started_ns,
        took_ns: u64::try_from(runner.elapsed().as_nanos()).unwrap_or(u64::MAX),
        machine: (*machine).clone(),
        builds: builds(plan),
        notes,
        busy,
        around: Surroundings::of(plan.cells.iter().flat_map(|cell| &cell.samples)),
        experiments: reports,
    })
}

/// What all samples of a plan say.
pub(crate) fn judged(
    experiments: &[Experiment],
    plan: &Plan,
    options: &Options,
) -> Vec<ExperimentReport> {
    (experiments.iter().enumerate())
        .map(|(number, experiment)| {
            judge::report(number, experiment, plan, options.mode, options.seed)
        })
        .collect()
}

/// How the note begins that a report is one part of a run.
pub(crate) const PART: &str = "Shard ";

/// What to tell the reader of a part of a run.
fn part_note(options: &Options, share: &Share) -> Option<String> {
    let shard = options.shard?;
    Some(format!(
        "{PART}{shard}: {} of {} places of the sweeps. `heddle compare --merge` puts the parts together, and judges claims.",
        share.count(),
        share.all
    ))
}

/// Leaves what a part of a run can say: of the places that it measured, and nothing of claims,
/// which may speak of others.
fn leave_part(
    reports: &mut Vec<ExperimentReport>,
    experiments: &[Experiment],
    options: &Options,
    share: &Share,
) {
    for (number, (report, experiment)) in reports.iter_mut().zip(experiments).enumerate() {
        let points = experiment.points(options.mode);
        let is_own = |at: &Values| {
            let place = points.iter().position(|point| point == at);
            place.is_some_and(|place| share.has(number, place))
        };
        report.claims.clear();
        report.answers.retain(|answer| is_own(&answer.at));
    }
    let mut numbers = 0..;
    reports.retain(|_| {
        numbers
            .next()
            .is_some_and(|number| share.points(number) > 0)
    });
}

/// What a run takes by what the experiments say, if all of them say it. What they say is meant for
/// the samples a cell that a run takes unless it is asked for another number.
pub fn expected(experiments: &[Experiment], options: &Options) -> Option<Duration> {
    if !options.models.is_empty() {
        return None;
    }
    let usual = Options {
        samples: None,
        ..options.clone()
    };
    let share = f64::from(options.first_samples()) / f64::from(usual.first_samples());
    let part = Share::new(experiments, options);
    let share = share * part.count() as f64 / part.all.max(1) as f64;
    let seconds = experiments
        .iter()
        .map(|experiment| experiment.extent(options.mode).expected_s);
    seconds
        .sum::<Option<f64>>()
        .map(|seconds| Duration::from_secs_f64((seconds * share).min(1e9)))
}

/// Takes the samples that every cell gets; how many that are.
fn first_samples(runner: &mut Runner, options: &Options, watcher: &mut dyn Watcher) -> Result<u32> {
    let targets = vec![options.first_samples(); runner.plan.cells.len()];
    runner.round(1, &targets, false, watcher)?;
    runner.plan.set_aside();
    // A resumed run keeps to what was decided before.
    let decided = runner.second_look.as_ref().map(|look| look.first);
    let mut first = decided.unwrap_or_else(|| affordable(runner, options));
    if first < options.first_samples() && decided.is_none() && !interrupt::seen() {
        watcher.note(&format!(
            "{first} samples a cell instead of {}, to end within {}",
            options.first_samples(),
            wait(options.budget)
        ));
    }
    // The machine may get busier than it was in the first round.
    let targets = vec![first; runner.plan.cells.len()];
    for number in runner.fewest_taken() + 1..=first {
        let late = runner.elapsed() + runner.round_takes() > options.budget;
        if options.samples.is_none() && late && number > options.fewest_samples() {
            first = number - 1;
            break;
        }
        if !runner.round(number, &targets, false, watcher)? {
            break;
        }
    }
    Ok(first)
}

/// Samples a cell that fit into the time budget, after the first round; never fewer than an
/// interval needs.
fn affordable(runner: &Runner, options: &Options) -> u32 {
    let left = options.budget.saturating_sub(runner.elapsed());
    let rounds = left.as_secs_f64() / runner.round_takes().as_secs_f64().max(1e-9);
    let samples = f64::from(runner.fewest_taken()) + rounds.min(1e6);
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
    let decided = runner.second_look.take();
    let cells = runner.plan.cells.len();
    let targets = match decided {
        Some(look) if look.targets.len() == cells => look.targets,
        _ => second_targets(runner, experiments, options),
    };
    runner.second_look = Some(SecondLook {
        first,
        targets: targets.clone(),
    });
    runner.note_down(watcher)?;
    let first_ones = |cell: &Cell| (cell.samples.len() as u32).min(first);
    let before: u64 = runner
        .plan
        .cells
        .iter()
        .map(first_ones)
        .map(u64::from)
        .sum();
    let given_up = |cell: &Cell| cell.given_up().then_some(cell.samples.len() as u32);
    let wanted: u64 = (runner.plan.cells.iter().zip(&targets))
        .map(|(cell, target)| u64::from(given_up(cell).unwrap_or(*target)))
        .sum();
    let wanted = wanted.saturating_sub(before);
    if wanted == 0 {
        return Ok(Vec::new());
    }
    watcher.note(&format!(
        "{wanted} more samples for claims that are still inconclusive"
    ));
    runner.rounds(&targets, true, watcher)?;
    let more = taken(runner) - before;
    let ended = if more < wanted {
        format!(" of {wanted}; the time budget ended")
    } else {
        String::new()
    };
    Ok(vec![format!(
        "Additional samples, for claims that the first {first} a cell left inconclusive: {more}{ended}."
    )])
}

/// Samples that there are.
fn taken(runner: &Runner) -> u64 {
    let cells = runner.plan.cells.iter();
    cells.map(|cell| cell.samples.len() as u64).sum()
}

/// How many samples each cell is to have for the second look: as the claims want them that the rest
/// of the budget can settle, the cheapest first.
fn second_targets(runner: &Runner, experiments: &[Experiment], options: &Options) -> Vec<u32> {
    let mut targets: Vec<u32> = runner
        .plan
        .cells
        .iter()
        .map(|cell| cell.samples.len() as u32)
        .collect();
    let rest = options.budget.saturating_sub(runner.elapsed());
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
pub(crate) fn builds(plan: &Plan) -> Vec<BTreeMap<String, String>> {
    let mut builds: Vec<BTreeMap<String, String>> = Vec::new();
    for sample in plan.cells.iter().flat_map(|cell| &cell.samples) {
        if !sample.build.is_empty() && !builds.contains(&sample.build) {
            builds.push(sample.build.clone());
        }
    }
    builds
}

/// What a report means to the shell: 3 a wrong result, 1 a crash or garbage, or no program could be
/// run at all, 0 else.
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
