//! `heddle tui`: docs/tui.md.

mod graph;
mod kept;
mod look;
mod reader;
mod report;
mod strands;

use crate::filter::{Filter, FilterArgs};
use crate::names::{Names, NamesArg};
use crate::trace_arg::TraceArg;
use crate::{calls_of, cut_short, notes, progress};
use anyhow::Context;
use heddle_trace_file::Trace;
use heddle_tui::{LEAST, Life, LifeRow, Model, Part, Session, StrandKey};
use kept::Kept;
use reader::Reader;
use rustix::termios::tcgetwinsize;
use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::sync::{Arc, OnceLock};

/// Arguments of `heddle tui`.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    trace: TraceArg,
    #[command(flatten)]
    names: NamesArg,
    /// Read the whole trace: use no index, and write none
    #[arg(long)]
    no_index: bool,
    #[command(flatten)]
    filter: FilterArgs,
}

/// Runs `heddle tui`.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    if let Some(why) = no_terminal() {
        notes::error(format_args!(
            "{why}; `heddle report` prints the functions without one"
        ));
        return Ok(ExitCode::from(2));
    }
    // The index is of all calls.
    let kept = match args.no_index || !args.filter.is_empty() {
        true => None,
        false => Some(Kept::new(&args.trace.trace, args.names.names)?),
    };
    let (send, parts) = channel();
    let reader = Arc::new(Reader::new(
        send.clone(),
        args.names.names,
        args.filter.clone(),
    ));
    let mut model = Model {
        filter: args.filter.said(),
        ..Model::default()
    };
    let index = kept.as_ref().map(Kept::read);
    let trace: Arc<OnceLock<Arc<Trace>>> = Arc::default();
    match index {
        Some(Ok(whole)) => model = *whole,
        not_there => {
            if let Some(Err(Some(why))) = not_there {
                let _ = send.send(Part::Note(why));
            }
            let opened = Arc::new(args.trace.open()?);
            progress::end();
            // What matches nothing is said now, and not by views that stay empty.
            let mut names = Names::new(&opened).of_length(args.names.names);
            Filter::new(&args.filter, &opened, &mut names)?;
            reader.begin(&opened, &mut model);
            let (reader, trace_read) = (reader.clone(), opened.clone());
            calls_of::on_deep_stack(move || reader.read(&trace_read, kept.as_ref()))?;
            let _ = trace.set(opened);
        }
    }
    let args = Arc::new(args);
    let life = |key: StrandKey| {
        let (args, trace, reader, told) =
            (args.clone(), trace.clone(), reader.clone(), send.clone());
        let read = move || {
            let read = || -> anyhow::Result<Life> {
                if trace.get().is_none() {
                    let opened = Arc::new(args.trace.open()?);
                    progress::end();
                    // Two lives may open the trace at once: the first one stays.
                    let _ = trace.set(opened);
                }
                let opened = trace.get().context("the trace cannot be opened")?;
                reader.life(opened, key)
            };
            let life = read().unwrap_or_else(|error| failed(key, &error));
            let _ = told.send(Part::Life(life));
        };
        if let Err(error) = calls_of::on_deep_stack(read) {
            let _ = send.send(Part::Life(failed(key, &error)));
        }
    };
    cut_short::after(heddle_tui::restore);
    heddle_tui::run(Session {
        model,
        parts,
        percent: &|| reader.percent(),
        life: &life,
        color: anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        editor: editor(),
    })
    .context("the terminal cannot be used")?;
    // A thread that still reads ends with the process.
    Ok(ExitCode::SUCCESS)
}

/// What stands for a life that cannot be read.
fn failed(key: StrandKey, error: &anyhow::Error) -> Life {
    let row = LifeRow {
        text: format!("{error:#}"),
        waits: true,
        indent: 2,
    };
    Life {
        key,
        rows: Some(vec![row]),
        percent: 100,
    }
}

/// Why nothing can be shown.
fn no_terminal() -> Option<String> {
    let stdout = io::stdout();
    if !stdout.is_terminal() {
        return Some("standard output is no terminal".to_owned());
    }
    if env::var_os("TERM").is_none_or(|name| name == "dumb" || name.is_empty()) {
        return Some("this terminal cannot move its cursor (TERM)".to_owned());
    }
    let size = tcgetwinsize(&stdout).ok()?;
    let (columns, rows) = LEAST;
    // A terminal that does not know its size has 0 columns.
    let small = size.ws_col > 0 && (size.ws_col < columns || size.ws_row < rows);
    small.then(|| {
        format!(
            "the terminal is too small: {} columns, {} rows; it takes at least {columns} and {rows}",
            size.ws_col, size.ws_row
        )
    })
}

/// The user's editor, as a shell's words without quotes.
fn editor() -> Vec<OsString> {
    let set = ["VISUAL", "EDITOR"].iter().find_map(|name| {
        let text = env::var_os(name)?;
        (!text.is_empty()).then_some(text)
    });
    match set.as_deref().map(|text| (text.to_str(), text)) {
        Some((Some(text), _)) => text.split_whitespace().map(OsString::from).collect(),
        Some((None, text)) => vec![text.to_owned()],
        None => vec!["vi".into()],
    }
}
