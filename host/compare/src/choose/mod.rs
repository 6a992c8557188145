//! The verb `heddle choose`: which model for work like this, by what was measured on this machine.
//!
//! It answers from the last finished report and measures nothing. Experiments say in `[like]` what
//! their work is like; the nearest measured cells are named with their intervals, and work beyond
//! what was measured gets no answer.

mod args;
#[cfg(test)]
mod tests;
mod text;

pub use args::Args;

use crate::hints::Hints;
use crate::layout;
use crate::print::print;
use crate::show::read;
use heddle_results::{Found, Near, Work, find_near};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Runs `heddle choose`: 0 there is a choice, 1 there is none, 2 usage.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    crate::or_usage(choose(args))
}

fn choose(args: &Args) -> anyhow::Result<ExitCode> {
    let hints = Hints::new(None, args.output.as_deref());
    let work = args.work()?;
    let directory = args.output.as_deref().unwrap_or(Path::new("report"));
    let report = read(directory, &hints, "")?;
    let found = find_near(&report, work);
    if args.json {
        let value = json(work, &found);
        print(&format!("{}\n", serde_json::to_string_pretty(&value)?))?;
    } else {
        let (width, _) = layout::width();
        print(&text::of(&report, work, &found, &hints, width))?;
    }
    Ok(ExitCode::from(u8::from(found.kinds.is_empty())))
}

fn json(work: Work, found: &Found) -> Value {
    json!({
        "asked": work,
        "kinds": found.kinds,
        "nearest": found.time.iter().map(cell).collect::<Vec<_>>(),
        "memory": found.memory.as_ref().map(cell),
        "beyond": found.beyond,
    })
}

fn cell(near: &Near) -> Value {
    json!({
        "experiment": near.experiment.id,
        "at": near.place.group.at,
        "x": near.place.winner.x,
        "like": near.like,
        "factor": near.factor,
        "kinds": near.front(),
        "winner": near.place.winner,
    })
}
