//! `heddle view`: docs/view.md.

pub mod pieces;
pub mod take;

use super::export::destination;
use super::export::selection::Selection;
use super::export::spill::Spill;
use super::export::tables::{self, Wanted};
use crate::filter::{Filter, FilterArgs, LeftOut};
use crate::incomplete;
use crate::names::{Names, NamesArg};
use crate::notes::counted;
use crate::trace_arg::TraceArg;
use crate::{calls_of, notes};
use std::path::PathBuf;
use std::process::ExitCode;
use take::ToPage;

/// Arguments of `heddle view`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    /// File to write, - for standard output; without it, the trace's name with .html behind it
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    names: NamesArg,
    #[command(flatten)]
    filter: FilterArgs,
}

/// Runs `heddle view`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    calls_of::with_deep_stack(move || view(&args))
}

fn view(args: &Args) -> anyhow::Result<ExitCode> {
    let trace = args.trace.open()?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None => args.trace.beside(".html")?,
    };
    let mut names = Names::new(&trace).of_length(args.names.names);
    let filter = Filter::new(&args.filter, &trace, &mut names)?;
    let range = filter.as_ref().map(Filter::range);
    let wanted = Wanted {
        selection: Selection::new(&trace, &[]),
        filter,
        lives: true,
    };
    let written = destination::write(&output, args.output.is_some(), |beside, out| {
        let spill = Spill::new(beside)?;
        let mut page = ToPage::new(&trace);
        if let Some(range) = range {
            page = page.within(range);
        };
        let (written, decoded) = tables::read(&trace, &mut names, wanted, &spill, &mut page)?;
        if let Some(left_out) = &written.left_out {
            page.note(format!("heddle view {left_out}."));
        }
        heddle_view::page(&page.finish(), out)?;
        Ok((written, decoded))
    })?;
    let Some((written, decoded)) = written else {
        return Ok(ExitCode::SUCCESS);
    };
    notes::unresolved(&decoded.unresolved);
    incomplete::tell(&trace, decoded.loose, &decoded.remarks);
    written.left_out.iter().for_each(LeftOut::tell);
    if !destination::is_stdout(&output) {
        notes::note(format_args!(
            "wrote {} of {} to {}; next: open it in a browser",
            counted(written.calls, "call"),
            counted(written.strands, "strand"),
            output.display(),
        ));
    }
    Ok(ExitCode::SUCCESS)
}
