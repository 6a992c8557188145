//! A row for each strand, state, function and object, for programs and for Markdown.

use super::shown::label;
use crate::cells::{escape, quote};
use crate::sched::{Cause, Group, State};
use crate::waits::Stat;
use serde_json::{Value, json};
use std::io::{self, Write};

fn rows(groups: &[Group]) -> impl Iterator<Item = (&Group, &Cause, &Stat)> {
    groups.iter().flat_map(|group| {
        let causes = group.split.causes.iter();
        causes.map(move |(cause, stat)| (group, cause, stat))
    })
}

/// How often, and the longest; of what runs, or may, nothing is counted.
fn counted(cause: &Cause, stat: &Stat) -> (Option<u64>, Option<u64>) {
    let off = matches!(cause.state, State::Ready | State::Blocked);
    (off.then_some(stat.waits), off.then_some(stat.worst.0))
}

fn known(text: &str) -> Option<&str> {
    Some(text).filter(|text| !text.is_empty())
}

/// A JSON array, one object a row; times in nanoseconds.
pub fn json(out: &mut dyn Write, groups: &[Group]) -> anyhow::Result<()> {
    let rows = rows(groups).map(|(group, cause, stat)| {
        let (times, worst) = counted(cause, stat);
        json!({
            "pid": group.process.pid,
            "image": group.process.image,
            "kind": group.kind.name(),
            "strand": group.label,
            "name": &*group.name,
            "strands": group.strands,
            "state": cause.state.name(),
            "on": known(&cause.on),
            "function": known(&cause.function),
            "times": times,
            "total_ns": stat.total.0,
            "max_ns": worst,
        })
    });
    serde_json::to_writer_pretty(&mut *out, &rows.collect::<Vec<Value>>())?;
    writeln!(out)?;
    Ok(())
}

/// Comma-separated values; times in nanoseconds, empty where something is not known.
pub fn csv(out: &mut dyn Write, groups: &[Group]) -> io::Result<()> {
    writeln!(
        out,
        "pid,image,kind,strand,name,strands,state,on,function,times,total_ns,max_ns"
    )?;
    for (group, cause, stat) in rows(groups) {
        let number = |number: Option<u64>| number.map_or(String::new(), |n| n.to_string());
        let (times, worst) = counted(cause, stat);
        writeln!(
            out,
            "{},{},{},{},{},{},{},{},{},{},{},{}",
            group.process.pid,
            group.process.image,
            group.kind.name(),
            group.label.as_deref().unwrap_or_default(),
            quote(&group.name),
            group.strands,
            cause.state.name(),
            quote(&cause.on),
            quote(&cause.function),
            number(times),
            stat.total.0,
            number(worst),
        )?;
    }
    Ok(())
}

/// A table in Markdown.
pub fn markdown(out: &mut dyn Write, groups: &[Group], several: bool) -> io::Result<()> {
    writeln!(out, "| strand | state | on | in | times | total | worst |")?;
    writeln!(out, "|---|---|---|---|--:|--:|--:|")?;
    for (group, cause, stat) in rows(groups) {
        let (times, worst) = match cause.state {
            State::Running | State::NotKnown => (String::new(), String::new()),
            _ => (stat.waits.to_string(), stat.worst.to_string()),
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {times} | {} | {worst} |",
            escape(&label(group, several)),
            cause.state.name(),
            escape(&cause.on),
            escape(&cause.function),
            stat.total
        )?;
    }
    Ok(())
}
