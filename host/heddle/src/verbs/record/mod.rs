//! `heddle record`: docs/record.md.

mod collector;
mod directory;
mod filtering;
mod modes;
mod planning;
mod preview;
mod run;
mod switches;
mod valuing;

use crate::coroutine_calls::{ClangModules, Count};
use crate::names::printable;
use crate::notes::{counted, error, note, quoted, reasons, warning, were};
use crate::preparing::failure::Failure;
use crate::preparing::{library, program};
use crate::{cut_short, file_limit, inherited, notes, patience};
use directory::{Opened, Prepared, Whereabouts};
use heddle_calls::{Profile, Source, Workers};
use heddle_trace_file::{
    Collected, Damages, Error, Process, Thread, Trace, Unrecordable, unrecorded_in,
};
use planning::Planning;
use run::Ended;
use std::ffi::OsString;
use std::fmt::Display;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus};
use std::time::Duration;

/// Arguments of `heddle record`.
#[derive(clap::Args)]
#[command(override_usage = "heddle record [OPTIONS] [--] <PROGRAM> [ARGUMENT]...")]
pub struct Args {
    /// Directory to make; a trace that is there is kept as DIR.old, beside one that is being
    /// recorded ours is DIR.2
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
    #[command(flatten)]
    less: filtering::Options,
    /// Print the functions that -F, -N, --start-at and --stop-at mean, and run nothing
    #[arg(long, help_heading = "Recording less")]
    dry_run: bool,
    #[command(flatten)]
    values: valuing::ValueOptions,
    #[command(flatten)]
    modes: modes::Modes,
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
    let library = library::find(args.modes.library())?;
    program::verify(&program, &library)?;
    if args.dry_run {
        preview::print(&program, &args.less)?;
        return Ok(ExitCode::SUCCESS);
    }
    let preload = library::preload(&library)?;
    let Prepared {
        trace,
        shown,
        claim,
    } = directory::prepare(&args.output)?;
    // Looked up here and run by its path, but under the name that was typed, which it may show in
    // its messages.
    let mut command = Command::new(&program);
    std::os::unix::process::CommandExt::arg0(&mut command, name);
    command
        .args(arguments)
        .env("LD_PRELOAD", preload)
        .env("ASAN_OPTIONS", library::sanitizer_options())
        .env("HEDDLE_DIR", trace.resolved())
        .env("HEDDLE_TRACE", trace.identity()?);
    args.less.tell(&mut command);
    args.modes.tell(&mut command);
    args.values.tell(&mut command);
    directory::say_filters(&claim, &trace, &args.less.typed())?;
    file_limit::restored(&mut command);
    inherited::hand_on(&mut command);
    let watching = match args.modes.switches() {
        true => switches::start(&claim, &shown).inspect_err(|_| _ = trace.discard())?,
        false => None,
    };
    // A program's exit code is not withheld because nobody reads what we say.
    patience::ends(Duration::from_secs(1));
    let place = claim.place();
    let collecting = collector::start(&trace, &shown, claim, args.modes.keep_everything())?;
    let wanted = planning::Wanted {
        less: args.less.clone(),
        values: args.values.clone(),
        coroutines: args.modes.plans_coroutines(),
    };
    let planning = match planning::start(&place, &shown, wanted) {
        Ok(planning) => planning,
        Err(failure) => {
            // Its files are gone, and closed, before the trace is removed.
            drop(collecting.finish());
            trace.discard();
            return Err(failure);
        }
    };
    // We map files of the trace, and take memory for them.
    cut_short::ends_with(
        || {
            planning::give_up();
            run::code_at_end()
        },
        format!("heddle recover {}", quoted(&shown)),
    );
    let ended = run::run(&mut command);
    if let Some(watching) = watching {
        watching.finish();
    }
    let mut unmatched = planning.map_or_else(Vec::new, Planning::finish);
    // Functions of a program that could record nothing are not looked at: no pattern is blamed.
    if ended.as_ref().is_ok_and(|ended| ended.user.is_some()) {
        unmatched.clear();
    }
    let (collected, claim) = collecting.finish();
    let Ended {
        status,
        user,
        strict,
    } = ended.inspect_err(|_| _ = trace.discard())?;
    if let Some(signal) = status.signal() {
        note(format_args!(
            "{} was killed by {}",
            program.display(),
            run::signal_name(signal)
        ));
    }
    match status.signal() {
        Some(libc::SIGSYS) => blame(trace.path(), &program),
        Some(libc::SIGSEGV) if strict => warning(format_args!(
            "{}: seccomp's strict mode forbids reading the clock, which the recorder does at each call; record until it begins: --stop-at FUNCTION",
            program.display()
        )),
        _ => {}
    }
    let about = About {
        program: &program,
        user,
        killed: status.signal().is_some(),
    };
    conclude(&trace, &shown, about, collected, &unmatched);
    claim.release();
    Ok(exit_code(status))
}

/// Says whose system call it was that a seccomp filter has killed the program for.
fn blame(trace: &Path, program: &Path) {
    let Ok(trace) = Trace::open(trace) else {
        return;
    };
    let ours = trace.processes().iter().any(Process::killed_at_work);
    warning(format_args!(
        "{}: a seccomp filter forbids a system call {}",
        program.display(),
        if ours {
            "of the recorder's; let it allow those that docs/record.md names, or record until it is installed: --stop-at FUNCTION"
        } else {
            "of the program's own, or one that the recorder makes without saying so first, rt_sigprocmask or process_vm_readv: not known which; let it allow those, or record until it is installed: --stop-at FUNCTION"
        }
    ));
}

fn exit_code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Traces up to this size are counted; of larger ones the number of events is told from their size.
const COUNTED: u64 = 1 << 30;

/// Bytes of an enter and an exit, by two.
const BYTES_AN_EVENT: u64 = 12;

/// The program, and how it ended.
#[derive(Clone, Copy)]
struct About<'a> {
    program: &'a Path,
    /// The user that it became.
    user: Option<u32>,
    /// By a signal.
    killed: bool,
}

/// One line that says where the trace is. Whatever is wrong with the trace, the program's exit code
/// stands.
fn conclude(
    trace: &Opened,
    shown: &Path,
    program: About<'_>,
    collected: Result<Collected, Error>,
    unmatched: &[String],
) {
    let (path, shown) = match trace.whereabouts() {
        Whereabouts::Here => (trace.path().to_owned(), shown.to_owned()),
        Whereabouts::Moved(path) => {
            warning(format_args!(
                "{} was moved while it was recorded; what threads and processes that began later recorded may be missing",
                shown.display()
            ));
            (path.clone(), path)
        }
        Whereabouts::Gone => {
            return error(format_args!(
                "{} was removed while it was recorded, with what was recorded",
                shown.display()
            ));
        }
    };
    let shown = shown.as_path();
    let mut said = String::new();
    let collected = match collected {
        Err(failure) if failure.lacks_memory() => return out_of_memory(&failure, shown),
        Err(failure) => {
            said = failure.to_string();
            error(failure);
            Collected::default()
        }
        Ok(collected) => collected,
    };
    notes::left(&collected.left, shown);
    let opened = Trace::open(&path);
    // What was not looked at may have matched.
    if !opened
        .as_ref()
        .is_ok_and(|trace| notes::unplanned(trace).is_some())
    {
        unmatched.iter().for_each(warning);
    }
    let told = match opened {
        Ok(opened) => {
            // Others may have cut or removed files meanwhile.
            notes::missing(&opened);
            tell(&opened, &collected, shown, program)
        }
        Err(Error::Empty(_)) => return nothing(trace, shown, program, &collected),
        Err(failure) => Err(failure),
    };
    match told {
        Ok(()) => {}
        Err(failure) if failure.lacks_memory() => out_of_memory(&failure, shown),
        // It was met when buffers were collected.
        Err(failure) if failure.to_string() == said => {}
        Err(failure) => error(failure),
    }
}

/// Says that the trace is not finished, and what to do.
fn out_of_memory(failure: &Error, shown: &Path) {
    error(format_args!(
        "out of memory: {failure}: nothing more is collected or counted, and what was recorded is there; raise the limit (ulimit -v unlimited, ulimit -d unlimited), and: heddle recover {}",
        quoted(shown)
    ));
}

fn nothing(trace: &Opened, shown: &Path, about: About<'_>, collected: &Collected) {
    let (program, user) = (about.program.display(), about.user);
    let mut unrecorded = unrecorded_in(trace.path());
    unrecorded.retain(|(why, _)| *why != Unrecordable::Namespace);
    let untried = trace.discard();
    if let Some(why) = collected.why_lost {
        return error(format_args!(
            "nothing of {program} is recorded: {} lost ({}); record elsewhere: heddle record -o OTHER-DIRECTORY …",
            were(collected.lost, "event"),
            reasons(std::iter::once(why))
        ));
    }
    if untried && let Some(user) = user {
        return became(program, user, shown);
    }
    if untried && let Some(barred) = notes::barred(&collected.counts) {
        return unopened(program, &barred);
    }
    if untried && let Some((why, started)) = unrecorded.first() {
        let others = match unrecorded.len() as u64 - 1 {
            0 => String::new(),
            others => format!(" and {}", counted(others, "other program")),
        };
        return error(format_args!(
            "{program} made no recorded call, and started {}{others}, which cannot be recorded: {}; what can be done about that: heddle record -- {}",
            printable(started),
            notes::unrecordable(*why),
            quoted(started.as_ref()),
        ));
    }
    if untried && about.killed {
        return error(format_args!(
            "{program} made no recorded call before that signal; if it had run for a while, was it compiled with -finstrument-functions? `heddle flags` prints the flags to use"
        ));
    }
    if untried {
        return error(format_args!(
            "{program} made no recorded call; unless a line above says why, was it compiled with -finstrument-functions? `heddle flags` prints the flags to use"
        ));
    }
    error(format_args!(
        "{program} could not store anything in {}: what it said stands above; make room there, or record elsewhere: heddle record -o OTHER-DIRECTORY …",
        shown.display()
    ));
}

/// Says that nothing is recorded as a program could not open the trace, and what to do.
fn unopened(program: impl Display, barred: &str) {
    error(format_args!(
        "no call of {program} is recorded: {barred}; record it alone, as that user or with a higher limit: heddle record -- PROGRAM"
    ));
}

/// Says that the program has given up its rights, and what to do.
fn became(program: impl Display, user: u32, shown: &Path) {
    error(format_args!(
        "{program} became user {user}, who may not record in {}, which is another user's, and recorded no call before; let it run `heddle record -- PROGRAM` as that user",
        shown.display()
    ));
}

/// Warns of coroutines that were called and are not in the trace.
fn unseen_coroutines(trace: &Trace, process: &Process) -> Result<(), Error> {
    let clang = ClangModules::of(trace, process);
    if clang.is_empty() {
        return Ok(());
    }
    let threads = process.threads().iter();
    let threads: Vec<Source<'_>> = threads
        .map(|thread| Source::new(thread, process.modules()))
        .collect();
    let mut coroutines = Count::default();
    for profile in Profile::of_all(&threads, Workers::all())? {
        coroutines.add(&profile);
    }
    coroutines.unseen(&clang).iter().for_each(warning);
    Ok(())
}

fn tell(
    trace: &Trace,
    collected: &Collected,
    shown: &Path,
    About { program, user, .. }: About<'_>,
) -> Result<(), Error> {
    let processes = trace.processes();
    let threads = || processes.iter().flat_map(|process| process.threads());
    let bytes: u64 = threads().map(Thread::bytes).sum();
    // Threads count the drops of buffers that could not be collected.
    let uncollected: u64 = threads().map(Thread::dropped).sum();
    let (mut events, mut dropped) = (bytes / BYTES_AN_EVENT, collected.dropped + uncollected);
    let mut damages = Damages::default();
    for process in processes {
        damages += process.damages();
    }
    if bytes <= COUNTED {
        (events, dropped) = (0, 0);
        for thread in threads() {
            let (of_thread, remarks) = thread.count()?;
            (events, dropped) = (events + of_thread, dropped + remarks.dropped);
            damages += &remarks.damages;
        }
    }
    notes::damaged(&damages);
    let about = if bytes <= COUNTED { "" } else { "about " };
    let dropped = processes.iter().map(Process::dropped).sum::<u64>() + dropped + collected.lost;
    let why = processes.iter().filter_map(Process::trouble);
    let why = reasons(why.chain(collected.why_lost));
    for pid in &collected.running {
        note(format_args!(
            "process {pid} still runs and goes on recording; when it has ended: heddle recover {}",
            quoted(shown)
        ));
    }
    let barred = notes::barred(&collected.counts);
    // Recorded locks and memory do not matter here: the process used some before exec put another
    // program in its place.
    if events == 0
        && dropped == 0
        && processes.len() == 1
        && let Some(barred) = &barred
    {
        match user {
            Some(user) => became(program.display(), user, shown),
            None => unopened(program.display(), barred),
        }
        return Ok(());
    }
    if let Some(barred) = barred {
        warning(format_args!("{barred}: what it did is not known"));
    }
    let uncounted = [
        notes::uncounted_operations(trace),
        notes::uncounted_allocations(trace),
    ];
    let uncounted = uncounted.into_iter().flatten();
    let uncounted: String = uncounted.map(|text| format!(", {text}")).collect();
    if events == 0 && dropped > 0 {
        error(format_args!(
            "nothing is in {}: {} dropped ({why}){uncounted}; make room there, or record elsewhere: heddle record -o OTHER-DIRECTORY …",
            shown.display(),
            were(dropped, "event")
        ));
        return Ok(());
    }
    if events == 0 && trace.filters().is_some() && notes::unplanned(trace).is_none() {
        note(format_args!(
            "no call of {} was wanted by its options: see heddle info {}",
            printable(processes[0].executable()),
            quoted(shown)
        ));
    }
    let images = match processes.len() as u64 {
        1 => String::new(),
        several => format!(" of {}", counted(several, "process image")),
    };
    let dropped = match dropped {
        0 => String::new(),
        dropped => format!(", {} dropped ({why})", counted(dropped, "event")),
    };
    let directory = if shown == Path::new("heddle.trace") {
        String::new()
    } else {
        format!(" {}", quoted(shown))
    };
    if bytes <= COUNTED {
        for process in processes {
            unseen_coroutines(trace, process)?;
        }
    }
    note(format_args!(
        "recorded {about}{} on {}{images}{dropped}{uncounted} in {}; next: heddle report{directory}",
        counted(events, "event"),
        counted(threads().count() as u64, "thread"),
        shown.display()
    ));
    Ok(())
}
