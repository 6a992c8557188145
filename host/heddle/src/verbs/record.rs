//! `heddle record`: docs/record.md.

use crate::file_limit;
use crate::notes::{counted, error, note, quoted, warning};
use crate::recording::{Failure, directory, library, program, run};
use heddle_trace_file::{Error, Trace, stamp};
use std::ffi::OsString;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};

/// Arguments of `heddle record`.
#[derive(clap::Args)]
#[command(override_usage = "heddle record [OPTIONS] [--] <PROGRAM> [ARGUMENT]...")]
pub struct Args {
    /// Directory to make; a trace that is there is kept as DIR.old
    #[arg(short, long, value_name = "DIR", default_value = "heddle.trace")]
    output: PathBuf,
    /// The program and its arguments
    #[arg(
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "PROGRAM"
    )]
    command: Vec<OsString>,
}

/// Runs `heddle record`: the program's exit code, or 125–127 for a failure of ours.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    Ok(record(&args).unwrap_or_else(|Failure { code, message }| {
        error(message);
        ExitCode::from(code)
    }))
}

fn record(args: &Args) -> Result<ExitCode, Failure> {
    let [name, arguments @ ..] = args.command.as_slice() else {
        return Err(Failure::ours("no program given"));
    };
    let program = program::find(name)?;
    let library = library::find()?;
    program::verify(&program, &library)?;
    let preload = library::preload(&library)?;
    let trace = directory::prepare(&args.output)?;
    // Looked up here and run by its path, but under the name that was typed, which it may show in its messages.
    let mut command = Command::new(&program);
    std::os::unix::process::CommandExt::arg0(&mut command, name);
    command
        .args(arguments)
        .env("LD_PRELOAD", preload)
        .env("ASAN_OPTIONS", library::sanitizer_options())
        .env("HEDDLE_DIR", &trace);
    file_limit::restored(&mut command);
    let status = run::run(&mut command).inspect_err(|_| directory::discard(&trace))?;
    if let Some(signal) = status.signal() {
        note(format_args!(
            "{} was killed by {}",
            program.display(),
            run::signal_name(signal)
        ));
    }
    conclude(&trace, &args.output, &program);
    Ok(exit_code(status))
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// The last stamp, and one line that says where the trace is. Whatever is wrong with the trace, the program's exit code stands.
fn conclude(path: &Path, shown: &Path, program: &Path) {
    if let Err(failure) = stamp(path) {
        warning(failure);
    }
    let trace = match Trace::open(path) {
        Ok(trace) => trace,
        Err(Error::Empty(_)) => {
            directory::discard(path);
            return error(format_args!(
                "{} made no recorded call: was it compiled with -finstrument-functions? `heddle flags` prints the flags to use",
                program.display()
            ));
        }
        Err(failure) => return error(failure),
    };
    let threads = || {
        trace
            .processes()
            .iter()
            .flat_map(|process| process.threads())
    };
    let events: u64 = threads().map(|thread| thread.records() as u64).sum();
    let dropped = threads()
        .map(|thread| thread.dropped())
        .chain(trace.processes().iter().map(|process| process.dropped()))
        .sum::<u64>();
    let processes = match trace.processes().len() as u64 {
        1 => String::new(),
        several => format!(" of {}", counted(several, "process image")),
    };
    let dropped = if dropped == 0 {
        String::new()
    } else {
        format!(", {} dropped", counted(dropped, "event"))
    };
    let directory = if shown == Path::new("heddle.trace") {
        String::new()
    } else {
        format!(" {}", quoted(shown))
    };
    note(format_args!(
        "recorded {} on {}{processes}{dropped} in {}; next: heddle report{directory}",
        counted(events, "event"),
        counted(threads().count() as u64, "thread"),
        shown.display()
    ));
}
