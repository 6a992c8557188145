//! `heddle graph`: docs/graph.md.

mod around;

use crate::calls_of;
use crate::filter::{FilterArgs, LeftOut, Pattern};
use crate::incomplete;
use crate::names::{Length, Names, NamesArg};
use crate::number_arg::share;
use crate::paths::{self, DEEPEST, Graph, Node};
use crate::screen::{self, FAINT, HEADING, Look};
use crate::trace_arg::Unpacking;
use crate::usage::Usage;
use crate::{notes, output};
use heddle_trace_file::{Nanos, Trace};
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Arguments of `heddle graph`.
#[derive(clap::Args)]
pub struct Args {
    /// Only this function: who calls it, and what it calls; a name, a regular expression or
    /// glob:GLOB. What is the path of something, is the trace
    function: Option<String>,
    /// The trace directory: heddle.trace
    trace: Option<PathBuf>,
    #[command(flatten)]
    unpacking: Unpacking,
    /// table is for people; in json times are nanoseconds
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Calls that took less than this share of all time are added up in one line
    #[arg(long, value_name = "PERCENT", value_parser = share, default_value_t = 0.5)]
    #[arg(allow_negative_numbers = true)]
    least: f64,
    #[command(flatten)]
    names: NamesArg,
    #[command(flatten)]
    filter: FilterArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Table,
    Json,
}

/// Runs `heddle graph`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    calls_of::with_deep_stack(move || graph(&args))
}

fn graph(args: &Args) -> anyhow::Result<ExitCode> {
    let (function, path) = match (&args.function, &args.trace) {
        (Some(only), None) if Path::new(only).exists() => (None, Path::new(only)),
        (Some(first), Some(second)) if Path::new(first).exists() && !second.exists() => {
            (second.to_str(), Path::new(first))
        }
        (function, path) => {
            let path = path.as_deref().unwrap_or(Path::new("heddle.trace"));
            (function.as_deref(), path)
        }
    };
    let pattern = function
        .map(Pattern::parse)
        .transpose()
        .map_err(Usage::new)?;
    let trace = args.unpacking.open(path)?;
    let length = match args.format {
        Format::Table => args.names.names,
        Format::Json => Length::Full,
    };
    let mut names = Names::new(&trace).of_length(length);
    let found = paths::read(&trace, &mut names, &args.filter, pattern.as_ref())?;
    match pattern {
        None => whole(args, &found)?,
        Some(pattern) => one(args, &found, &pattern)?,
    }
    told(&trace, &found);
    Ok(ExitCode::SUCCESS)
}

fn whole(args: &Args, graph: &Graph) -> anyhow::Result<()> {
    if args.format == Format::Json {
        let all: Vec<Value> = graph.strands.iter().map(object).collect();
        return json(&all.into());
    }
    screen::show(|out, look| {
        let mut table = Table::new(out, look, args.least, &graph.strands);
        table.heading("call")?;
        Ok(table.nodes(&graph.strands, 0)?)
    })
}

fn one(args: &Args, graph: &Graph, pattern: &Pattern) -> anyhow::Result<()> {
    let Some(around) = around::around(&graph.strands, pattern.text()) else {
        return Err(Usage::new(format!(
            "no call of `{}` is in the trace; `heddle report -s function` lists the functions",
            pattern.text()
        ))
        .into());
    };
    if args.format == Format::Json {
        let callers: Vec<Value> = around.callers.iter().map(object).collect();
        return json(&json!({ "function": object(&around.calls), "callers": callers }));
    }
    let all = [around.calls];
    screen::show(|out, look| {
        let mut table = Table::new(out, look, args.least, &all);
        table.heading("called by")?;
        table.nodes(&around.callers, 0)?;
        writeln!(table.out)?;
        table.heading("call")?;
        Ok(table.nodes(&all, 0)?)
    })
}

fn json(value: &Value) -> anyhow::Result<()> {
    output::print(|out| {
        serde_json::to_writer_pretty(&mut *out, value)?;
        writeln!(out)?;
        Ok(())
    })
}

fn object(node: &Node) -> Value {
    let callees: Vec<Value> = node.callees.iter().map(object).collect();
    json!({
        "name": node.name,
        "calls": node.calls,
        "total_ns": node.total.0,
        "self_ns": node.own.0,
        "callees": callees,
    })
}

/// Aligned columns, and names indented by depth.
struct Table<'a> {
    out: &'a mut dyn Write,
    look: &'a Look,
    /// What takes less is added up.
    least: Nanos,
}

impl<'a> Table<'a> {
    fn new(out: &'a mut dyn Write, look: &'a Look, least: f64, all: &[Node]) -> Self {
        let sum: u64 = all.iter().map(|node| node.total.0).sum();
        Table {
            out,
            look,
            least: Nanos((sum as f64 * least / 100.0) as u64),
        }
    }

    fn heading(&mut self, what: &str) -> io::Result<()> {
        let heading = format!("{:>12}{:>12}{:>12}  {what}", "total", "self", "calls");
        writeln!(self.out, "{}", self.look.paint(HEADING, heading))
    }

    /// Prints these, which are in order of their times, and what is below each.
    fn nodes(&mut self, nodes: &[Node], depth: usize) -> io::Result<()> {
        let shown = nodes.partition_point(|node| node.total >= self.least);
        // One more line takes no more room than saying that it is not there.
        let shown = if shown + 1 == nodes.len() {
            nodes.len()
        } else {
            shown
        };
        let indent = 2 * depth;
        for node in &nodes[..shown] {
            let (total, own) = (node.total.to_string(), node.own.to_string());
            let calls = node.calls;
            let name = self.look.fit(&node.name, 38 + indent);
            writeln!(
                self.out,
                "{total:>12}{own:>12}{calls:>12}  {:indent$}{name}",
                ""
            )?;
            self.nodes(&node.callees, depth + 1)?;
        }
        let rest = &nodes[shown..];
        if rest.is_empty() {
            return Ok(());
        }
        let sum = |figure: fn(&Node) -> u64| rest.iter().map(figure).sum::<u64>();
        let total = Nanos(sum(|node| node.total.0)).to_string();
        let text = format!(
            "{total:>12}{:>12}{:>12}  {:indent$}… {} others",
            "",
            sum(|node| node.calls),
            "",
            rest.len()
        );
        writeln!(self.out, "{}", self.look.paint(FAINT, text))
    }
}

fn told(trace: &Trace, graph: &Graph) {
    if graph.deep > 0 {
        notes::note(format_args!(
            "{} within {DEEPEST} others: their time is that of the one around",
            notes::were(graph.deep, "call")
        ));
    }
    notes::unresolved(&graph.unresolved);
    incomplete::tell(trace, graph.loose, &graph.remarks);
    notes::unsure(&graph.unresolved);
    graph.left_out.iter().for_each(LeftOut::tell);
}
