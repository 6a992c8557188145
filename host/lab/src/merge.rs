//! Finished runs, put together: parts of one run (`--shard`) are what the whole would have been,
//! and runs of different machines stand side by side.
//!
//! Nothing is computed from times of two machines. Parts belong together where they were dealt by
//! one seed from the same experiments, and were measured on processors of one name and number.

use crate::compare::{PART, builds, judged};
use crate::error::{Error, Result};
use crate::experiment::Experiment;
use crate::output::{Finished, Record};
use crate::run::{
    Earlier, Options, Plan, Shard, Share, all_cells, busy_note, partly, without_part,
};
use heddle_results::{Report, Sample, SkippedModel, Surroundings};
use std::collections::{BTreeMap, BTreeSet};

/// Missing parts that are named.
const NAMED: usize = 10;

/// One machine's samples and what they say.
#[derive(Debug)]
pub struct Column {
    /// What the machine is called; no two columns have one name.
    pub name: String,
    /// What was asked for, as of a whole run.
    pub record: Record,
    /// What was found.
    pub report: Report,
    /// The samples, numbered in the order in which they were taken.
    pub samples: Vec<Sample>,
    /// The parts that are missing.
    pub missing: Vec<Shard>,
}

/// Puts runs together, in the order given; `command` is the command line that does so.
///
/// # Errors
/// If there is no run, they do not belong together, or a part is there twice.
pub fn merge(runs: Vec<Finished>, command: &[String]) -> Result<Vec<Column>> {
    check(&runs)?;
    let mut columns = Vec::new();
    for parts in sort(runs)? {
        columns.push(Column::new(&parts, command)?);
    }
    for number in 1..columns.len() {
        let (before, rest) = columns.split_at_mut(number);
        let taken = |name: &String| before.iter().any(|other| other.name == *name);
        let (plain, mut count) = (rest[0].name.clone(), 1);
        while taken(&rest[0].name) {
            count += 1;
            rest[0].name = format!("{plain} ({count})");
        }
    }
    Ok(columns)
}

/// Runs are set side by side where they asked the same of the same experiments.
fn check(runs: &[Finished]) -> Result<()> {
    let Some(first) = runs.first() else {
        return Err(Error::Usage("there is no run to merge".into()));
    };
    let mut known: BTreeMap<&str, (&str, &Finished)> = BTreeMap::new();
    for run in runs {
        if run.record.full != first.record.full {
            let [one, other] = [first, run].map(|run| {
                let mode = if run.record.full { "full" } else { "quick" };
                format!("{} is {mode}", run.dir.display())
            });
            return Err(Error::Usage(format!(
                "{one}, {other}: their samples have other parameters, so merge them apart"
            )));
        }
        for own in &run.record.experiments {
            let (hash, other) = known.entry(&own.id).or_insert((&own.hash, run));
            if *hash != own.hash {
                return Err(Error::Usage(format!(
                    "the file of {} is not the same in {} and in {}: measure it by one version everywhere",
                    own.id,
                    other.dir.display(),
                    run.dir.display()
                )));
            }
        }
    }
    Ok(())
}

/// Sorts runs by machine: the parts of one run are together, a whole run is alone.
fn sort(runs: Vec<Finished>) -> Result<Vec<Vec<Finished>>> {
    let mut sorted: Vec<Vec<Finished>> = Vec::new();
    for run in runs {
        let of_same = |parts: &&mut Vec<Finished>| is_of_same_run(&parts[0], &run);
        match sorted.iter_mut().find(of_same) {
            Some(parts) => parts.push(run),
            None => sorted.push(vec![run]),
        }
    }
    let mut columns = Vec::new();
    for parts in sorted {
        columns.extend(by_host(parts));
    }
    for (number, parts) in columns.iter().enumerate() {
        check_once(parts)?;
        let is_whole = |parts: &[Finished]| parts[0].record.shard.is_none();
        let earlier = columns[..number].iter();
        let twice = earlier
            .filter(|other| is_whole(other) && is_whole(parts))
            .find(|other| other[0].record.machine == parts[0].record.machine);
        if let Some(other) = twice {
            return Err(Error::Usage(format!(
                "{} and {} are whole runs of one machine, {}: compare these by --save and --against",
                other[0].dir.display(),
                parts[0].dir.display(),
                parts[0].record.machine.host
            )));
        }
    }
    Ok(columns)
}

/// Whether both are parts of one run, on machines of one kind.
fn is_of_same_run(one: &Finished, other: &Finished) -> bool {
    let parts = |run: &Finished| run.record.shard.map(|shard| shard.of);
    let asked = |run: &Finished| {
        let record = &run.record;
        let hashes = record.experiments.iter().map(|own| own.hash.clone());
        (
            (record.version.clone(), record.seed, record.full),
            (record.models.clone(), record.samples),
            hashes.collect::<Vec<_>>(),
        )
    };
    parts(one).is_some()
        && parts(one) == parts(other)
        && asked(one) == asked(other)
        && one.record.machine.is_like(&other.record.machine)
}

/// Where each host has all parts, each is a machine of its own; otherwise hosts of one kind have
/// shared the parts.
fn by_host(parts: Vec<Finished>) -> Vec<Vec<Finished>> {
    let mut hosts: BTreeMap<&str, BTreeSet<Shard>> = BTreeMap::new();
    for part in &parts {
        let shards = hosts.entry(&part.record.machine.host).or_default();
        shards.extend(part.record.shard);
    }
    let of = parts[0].record.shard.map_or(1, |shard| shard.of as usize);
    if hosts.len() == 1 || hosts.values().any(|shards| shards.len() < of) {
        return vec![parts];
    }
    let mut columns: Vec<Vec<Finished>> = Vec::new();
    for part in parts {
        let host = &part.record.machine.host;
        let same = |other: &&mut Vec<Finished>| other[0].record.machine.host == *host;
        match columns.iter_mut().find(same) {
            Some(column) => column.push(part),
            None => columns.push(vec![part]),
        }
    }
    columns
}

fn check_once(parts: &[Finished]) -> Result<()> {
    for (number, part) in parts.iter().enumerate() {
        let same = |other: &&Finished| other.record.shard == part.record.shard;
        if let (Some(other), Some(shard)) = (parts[..number].iter().find(same), part.record.shard) {
            return Err(Error::Usage(format!(
                "shard {shard} is there twice, in {} and in {}: name one of them",
                other.dir.display(),
                part.dir.display()
            )));
        }
    }
    Ok(())
}

impl Column {
    fn new(parts: &[Finished], command: &[String]) -> Result<Self> {
        let first = &parts[0];
        let experiments = first.experiments()?;
        let shards: Vec<Shard> = parts.iter().filter_map(|part| part.record.shard).collect();
        let missing: Vec<Shard> = shards
            .first()
            .into_iter()
            .flat_map(|shard| (1..=shard.of).map(|number| Shard { number, ..*shard }))
            .filter(|shard| !shards.contains(shard))
            .collect();
        let record = Record {
            shard: None,
            command: command.to_vec(),
            ..first.record.clone()
        };
        let options = record.options();
        let given = (!shards.is_empty()).then_some(&shards[..]);
        let share = Share::of(&experiments, options.mode, options.seed, given);
        let samples = in_order(parts);
        let plan = plan(parts, &experiments, &options, &share, &samples);
        Ok(Self {
            name: name(parts),
            report: Report {
                version: record.version.clone(),
                command: record.command.clone(),
                mode: options.mode.name().into(),
                seed: options.seed,
                started_ns: parts
                    .iter()
                    .map(|part| part.report.started_ns)
                    .min()
                    .unwrap_or(0),
                took_ns: parts.iter().map(|part| part.report.took_ns).sum(),
                machine: record.machine.clone(),
                builds: builds(&plan),
                notes: notes_of(parts, &missing, &share),
                busy: parts
                    .iter()
                    .filter_map(|part| part.report.busy)
                    .reduce(f64::max),
                around: Surroundings::of(&samples),
                experiments: judged(&experiments, &plan, &options),
            },
            record,
            samples,
            missing,
        })
    }
}

/// The host; of several, the first.
fn name(parts: &[Finished]) -> String {
    let hosts = hosts(parts);
    match &hosts[..] {
        [] => String::new(),
        [one] => one.clone(),
        [one, more @ ..] => format!("{one} +{}", more.len()),
    }
}

fn hosts(parts: &[Finished]) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    for part in parts {
        let host = &part.record.machine.host;
        if !hosts.contains(host) {
            hosts.push(host.clone());
        }
    }
    hosts
}

/// All samples, numbered by when they were begun.
fn in_order(parts: &[Finished]) -> Vec<Sample> {
    let all = parts.iter().flat_map(|part| &part.samples);
    let mut samples: Vec<Sample> = all.cloned().collect();
    samples.sort_by_key(|sample| (sample.started_ns, sample.order));
    for (number, sample) in samples.iter_mut().enumerate() {
        sample.order = number as u32;
    }
    samples
}

/// The cells that have samples, and the models that did not run.
fn plan(
    parts: &[Finished],
    experiments: &[Experiment],
    options: &Options,
    share: &Share,
    samples: &[Sample],
) -> Plan {
    let mut plan = Plan {
        cells: all_cells(experiments, options),
        ..Plan::default()
    };
    let earlier = Earlier {
        samples: samples.to_vec(),
        ..Earlier::default()
    };
    earlier.fill(experiments, &mut plan);
    plan.cells.retain(|cell| !cell.samples.is_empty());
    for (number, experiment) in experiments.iter().enumerate() {
        let reports = parts.iter().flat_map(|part| &part.report.experiments);
        let own: Vec<_> = reports.filter(|it| it.id == experiment.id).collect();
        let mut skipped: Vec<SkippedModel> = Vec::new();
        for known in own.iter().flat_map(|report| &report.skipped) {
            if skipped.iter().any(|other| other.model == known.model) {
                continue;
            }
            let cells = plan.cells.iter().filter(|cell| cell.experiment == number);
            let there = cells.filter(|cell| cell.model == known.model).count();
            let points = share.points(number);
            let part = partly(points.saturating_sub(there), points);
            skipped.push(SkippedModel {
                model: known.model.clone(),
                reason: without_part(&known.reason) + &part,
            });
        }
        plan.skipped.push(skipped);
        let mut commands = BTreeMap::new();
        for (model, command) in own.iter().flat_map(|report| &report.commands) {
            commands.entry(model.clone()).or_insert(command.clone());
        }
        plan.commands.push(commands);
    }
    plan
}

/// What the reader must know: how it was put together, and what each part says, once.
fn notes_of(parts: &[Finished], missing: &[Shard], share: &Share) -> Vec<String> {
    let mut notes = Vec::new();
    if !missing.is_empty() {
        let names: Vec<String> = missing.iter().take(NAMED).map(Shard::to_string).collect();
        let more = match missing.len() - names.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let is = if missing.len() == 1 { "is" } else { "are" };
        notes.push(format!(
            "Partial: shard {}{more} {is} missing, and with it {} of {} places of the sweeps.",
            names.join(", "),
            share.all - share.count(),
            share.all
        ));
    }
    if parts[0].record.shard.is_some() {
        let hosts = hosts(parts);
        let places = match &hosts[..] {
            [one] => format!("on {one}, one after another or at once"),
            all => format!(
                "on {} hosts of one kind ({}): claims along a sweep compare these with each other",
                all.len(),
                all.join(", ")
            ),
        };
        let count = match parts.len() {
            1 => "1 part".into(),
            count => format!("{count} parts"),
        };
        notes.push(format!(
            "Put together from {count} of a run, taken {places}."
        ));
    }
    let reports: Vec<&Report> = parts.iter().map(|part| &part.report).collect();
    notes.extend(said(&reports));
    notes
}

/// What the parts say, each note once. How busy the machine was is said of the busiest part.
fn said(reports: &[&Report]) -> Vec<String> {
    let busiest = reports
        .iter()
        .filter_map(|report| report.busy)
        .reduce(f64::max);
    let mut notes: Vec<String> = Vec::new();
    for report in reports {
        let less = report.busy.filter(|share| Some(*share) < busiest);
        let passed_over = less.map(busy_note);
        for note in &report.notes {
            let known = notes.contains(note) || passed_over.as_ref() == Some(note);
            if !note.starts_with(PART) && !known {
                notes.push(note.clone());
            }
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_busy_the_machine_was_is_said_once() {
        let part = |busy: Option<f64>, note: &str| Report {
            busy,
            notes: busy
                .map(busy_note)
                .into_iter()
                .chain([note.to_owned()])
                .collect(),
            ..Report::default()
        };
        let parts = [
            part(Some(0.78), "one"),
            part(Some(0.84), "one"),
            part(None, "two"),
        ];
        assert_eq!(
            said(&parts.iter().collect::<Vec<_>>()),
            ["one".to_owned(), busy_note(0.84), "two".to_owned()]
        );
    }
}
