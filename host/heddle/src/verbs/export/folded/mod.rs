//! Stacks in a line each, with the time that was spent on top of them, and the flame graph that is
//! drawn of them: docs/export.md.

use crate::filter::FilterArgs;
use crate::names::Names;
use crate::paths::{self, DEEPEST, Graph, Node};
use crate::verbs::export::written::Written;
use heddle_strands::Decoded;
use heddle_trace_file::Trace;
use inferno::flamegraph::{self, Options};
use std::io::{self, Write};

/// What is drawn or written.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum As {
    Text,
    Svg,
}

/// Writes the stacks of the strands of `trace`, with the calls that the filter keeps.
pub fn write(
    trace: &Trace,
    mut names: Names<'_>,
    filter: &FilterArgs,
    what: As,
    out: &mut dyn Write,
) -> anyhow::Result<(Written, Decoded<()>)> {
    let graph = paths::read(trace, &mut names, filter, None)?;
    let mut lines = Vec::new();
    each_line(&graph.strands, &mut |line| {
        match what {
            As::Text => writeln!(out, "{line}")?,
            As::Svg => lines.push(line.to_owned()),
        }
        Ok(())
    })?;
    if what == As::Svg {
        draw(trace, &lines, out)?;
    }
    let Graph {
        strands,
        deep,
        loose,
        remarks,
        unresolved,
        left_out,
    } = graph;
    let written = Written {
        strands: strands.iter().map(|strand| strand.calls).sum(),
        calls: strands
            .iter()
            .flat_map(|strand| &strand.callees)
            .map(calls)
            .sum(),
        deep,
        left_out,
    };
    let decoded = Decoded {
        sinks: Vec::new(),
        unresolved,
        loose,
        remarks,
    };
    Ok((written, decoded))
}

/// Calls within so many others are their caller's time.
pub const DEEPEST_STACK: usize = DEEPEST;

fn calls(node: &Node) -> u64 {
    node.calls + node.callees.iter().map(calls).sum::<u64>()
}

/// Gives a line for each stack on top of which time was spent, in ns.
fn each_line(strands: &[Node], take: &mut impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
    let mut stack = String::new();
    strands
        .iter()
        .try_for_each(|strand| line(strand, &mut stack, take))
}

fn line(
    node: &Node,
    stack: &mut String,
    take: &mut impl FnMut(&str) -> io::Result<()>,
) -> io::Result<()> {
    let before = stack.len();
    if before > 0 {
        stack.push(';');
    }
    // A semicolon would be the end of the name.
    stack.extend(node.name.chars().map(|c| if c == ';' { ':' } else { c }));
    if node.own.0 > 0 {
        let name = stack.len();
        *stack += &format!(" {}", node.own.0);
        take(stack)?;
        stack.truncate(name);
    }
    for callee in &node.callees {
        line(callee, stack, take)?;
    }
    stack.truncate(before);
    Ok(())
}

fn draw(trace: &Trace, lines: &[String], out: &mut dyn Write) -> anyhow::Result<()> {
    if lines.is_empty() {
        anyhow::bail!(
            "{}: no call takes any time: there is nothing to draw",
            trace.path().display()
        );
    }
    let mut options = Options::default();
    options.title = format!("Time in calls: {}", trace.path().display());
    options.subtitle = Some("by strand; what a strand was suspended is left out".to_owned());
    options.count_name = "ns".to_owned();
    options.name_type = "Function:".to_owned();
    options.hash = true;
    flamegraph::from_lines(&mut options, lines.iter().map(String::as_str), out)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use heddle_trace_file::Nanos;

    #[test]
    fn a_line_has_the_stack_and_the_time_on_top_of_it() {
        let node = |name: &str, own, callees| Node {
            name: name.to_owned(),
            own: Nanos(own),
            callees,
            ..Node::default()
        };
        let inner = vec![
            node("c::operator;", 7, Vec::new()),
            node("idle", 0, Vec::new()),
        ];
        let strands = [node("thread app", 0, vec![node("main", 5, inner)])];
        let mut lines = Vec::new();
        each_line(&strands, &mut |line| {
            lines.push(line.to_owned());
            Ok(())
        })
        .unwrap();
        assert_eq!(
            lines,
            ["thread app;main 5", "thread app;main;c::operator: 7"]
        );
    }
}
