//! `heddle recover`: docs/recover.md.

use crate::notes::{self, counted, note, quoted, uncopied, warning};
use heddle_trace_file::{Apart, Collected, Error, Trace, recover};
use std::path::PathBuf;
use std::process::ExitCode;

/// Arguments of `heddle recover`.
#[derive(clap::Args)]
pub struct Args {
    /// The trace directory
    #[arg(default_value = "heddle.trace")]
    trace: PathBuf,
}

/// Runs `heddle recover`: 0 if nothing is left in a buffer, 1 otherwise.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let collected = recover(&args.trace)?;
    let shown = args.trace.display();
    let Collected {
        blocks,
        bytes,
        processes,
        running,
        left,
        joined,
        apart,
        trouble,
        ..
    } = &collected;
    match *processes {
        // What is left, and why, is told below.
        0 if trouble.is_some() || apart.is_some() || !left.is_empty() || *joined > 0 => {}
        0 => note(format_args!(
            "{shown}: no buffer of an ended process was left"
        )),
        processes => note(format_args!(
            "{shown}: collected {} ({bytes} bytes) from the buffers of {}",
            counted(*blocks, "block"),
            counted_processes(processes.into())
        )),
    }
    if *joined > 0 {
        note(format_args!(
            "{shown}: joined the files of events of {}",
            counted_processes((*joined).into())
        ));
    }
    if let Some((process, why)) = apart {
        let read = "every command reads";
        let why = match why {
            Apart::Much => format!("which {read}: there is too much to copy"),
            Apart::NoRoom(bytes) => {
                format!("which {read}: the disk has no room for {} bytes", bytes * 2)
            }
            Apart::Error(error) => format!("of which {read} what can be read: {error}"),
        };
        warning(format_args!(
            "{}: its events stay in several files, {why}",
            process.display()
        ));
    }
    for pid in running {
        warning(format_args!(
            "process {pid} still runs, so its buffers stay (every command reads what is in them); when it has ended: heddle recover {}",
            quoted(&args.trace)
        ));
    }
    notes::left(left, &args.trace);
    if let Some(trouble) = trouble {
        uncopied(trouble, &args.trace);
    }
    // What no buffer has, and the trace had once.
    match Trace::open(&args.trace) {
        Ok(trace) => trace.lacking().for_each(warning),
        Err(Error::Empty(_)) => {}
        Err(error) => return Err(error.into()),
    }
    let all = running.is_empty() && left.is_empty() && trouble.is_none();
    Ok(ExitCode::from(u8::from(!all)))
}

fn counted_processes(number: u64) -> String {
    match number {
        1 => "1 process".to_owned(),
        more => format!("{more} processes"),
    }
}
