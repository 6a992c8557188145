//! `--show` and `--ledger`: what the last finished report found.

use super::args::Args;
use super::details::{self, Wide};
use super::hints::Hints;
use super::print::print;
use anyhow::Context;
use heddle_lab::output::REPORT;
use heddle_lab::{Error, models};
use heddle_results::Report;
use std::io::ErrorKind;
use std::path::Path;

/// Prints them.
pub fn run(args: &Args, hints: &Hints) -> anyhow::Result<()> {
    let report = read(&args.directory(), hints, &args.show.join(" "))?;
    let mut text = String::new();
    for name in &args.show {
        let found = report
            .experiments
            .iter()
            .find(|experiment| experiment.id == *name);
        let Some(experiment) = found else {
            return Err(unknown(name, &report).into());
        };
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&details::show(experiment, Wide::here()));
    }
    print(&text)
}

/// Prints the whole ledger as Markdown.
pub fn ledger(args: &Args, hints: &Hints) -> anyhow::Result<()> {
    let report = read(&args.directory(), hints, "")?;
    print(&details::markdown(&report))
}

/// The finished report in a directory; `arguments` are those of a comparison that makes one.
pub fn read(dir: &Path, hints: &Hints, arguments: &str) -> anyhow::Result<Report> {
    match read_any(dir, hints, arguments)? {
        Finished::One(report) => Ok(*report),
        Finished::Several(machines) => Err(Error::Usage(format!(
            "{} is a report of {} machines: name, by `-o DIR`, one of the runs that it was put together from",
            dir.display(),
            machines.len()
        ))
        .into()),
    }
}

/// A finished report.
pub enum Finished {
    /// The report of one machine.
    One(Box<Report>),
    /// The merged reports of several machines, each with its name.
    Several(Vec<OfMachine>),
}

/// What a report of several machines has of one.
#[derive(serde::Deserialize)]
pub struct OfMachine {
    pub name: String,
    pub report: Report,
}

/// What `--merge` writes for several machines.
#[derive(serde::Deserialize)]
struct Several<T> {
    machines: Vec<T>,
}

/// Reads a report as [`read`] does, and also one that `--merge` made of several machines.
pub fn read_any(dir: &Path, hints: &Hints, arguments: &str) -> anyhow::Result<Finished> {
    let path = dir.join(REPORT);
    let read = || std::io::read_to_string(heddle_lab::output::open(&path)?);
    let text = match read() {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(Error::Usage(format!(
                "there is no finished report in {}: `{}` makes one",
                dir.display(),
                hints.with(arguments)
            ))
            .into());
        }
        other => other.with_context(|| format!("cannot read {}", path.display()))?,
    };
    let several = serde_json::from_str::<Several<serde::de::IgnoredAny>>(&text).is_ok();
    let finished = if several {
        serde_json::from_str::<Several<OfMachine>>(&text).map(|it| Finished::Several(it.machines))
    } else {
        serde_json::from_str(&text).map(Finished::One)
    };
    let finished = finished.map_err(|cause| {
        Error::Usage(format!(
            "{} is not a report of this version: `{}` makes a new one: {cause}",
            path.display(),
            hints.with(arguments)
        ))
    })?;
    Ok(finished)
}

fn unknown(name: &str, report: &Report) -> Error {
    let ids = report
        .experiments
        .iter()
        .map(|experiment| experiment.id.as_str());
    let hint = models::nearest(name, ids.clone())
        .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    let list = ids.collect::<Vec<_>>().join(", ");
    Error::Usage(format!(
        "the last report has no experiment `{name}`{hint}\nexperiments: {list}"
    ))
}
