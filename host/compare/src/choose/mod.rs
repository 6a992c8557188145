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
use crate::show::{Finished, OfMachine, read_any};
use heddle_results::{Found, Near, Work, find_near};
use serde_json::{Value, json};
use std::path::Path;
use std::process::ExitCode;

/// Runs `heddle choose`: 0 there is a choice (on each machine), 1 there is none, 2 usage.
pub fn run(args: &Args) -> anyhow::Result<ExitCode> {
    crate::or_usage(choose(args))
}

fn choose(args: &Args) -> anyhow::Result<ExitCode> {
    let hints = Hints::new(None, args.output.as_deref());
    let work = args.work()?;
    let directory = args.output.as_deref().unwrap_or(Path::new("report"));
    let (width, _) = layout::width();
    let (value, text, chosen) = match read_any(directory, &hints, "")? {
        Finished::One(report) => {
            let found = find_near(&report, work);
            let text = text::of(&report, work, &found, &hints, width);
            (json(work, &found), text, !found.kinds.is_empty())
        }
        Finished::Several(machines) => of_machines(work, &machines, &hints, width),
    };
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&value)?))?;
    } else {
        print(&text)?;
    }
    Ok(ExitCode::from(u8::from(!chosen)))
}

/// The answer of each machine by itself: no time of one says anything of another.
fn of_machines(
    work: Work,
    machines: &[OfMachine],
    hints: &Hints,
    width: usize,
) -> (Value, String, bool) {
    let mut values = Vec::new();
    let mut texts = Vec::new();
    let mut chosen = true;
    for machine in machines {
        let found = find_near(&machine.report, work);
        chosen &= !found.kinds.is_empty();
        let mut value = json(work, &found);
        value["machine"] = json!(machine.name);
        values.push(value);
        let head = text::machine(&machine.name, &machine.report, width);
        texts.push(head + &text::of(&machine.report, work, &found, hints, width));
    }
    (json!({ "machines": values }), texts.join("\n"), chosen)
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
